/* Texts from files and command lines, made fit for a terminal. */
#ifndef FMO_HARMLESS_H
#define FMO_HARMLESS_H

/* Replace, in place, what is no printable character by '?': control characters (a line end could
 * forge a line of ours, an escape sequence anything), bytes that are not UTF-8, and characters that
 * change the direction or the line. */
void fmo_text_harmless(char *text);

#endif
