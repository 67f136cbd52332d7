/* Makes text from files and command lines safe to print on a terminal. */
#ifndef FMO_HARMLESS_H
#define FMO_HARMLESS_H

/* Replaces, in place, every character that is not printable by '?': control characters (a line end
 * could imitate a line of our output, an escape sequence could do anything), bytes that are not
 * UTF-8, and characters that change the direction of writing or end a line. */
void fmo_text_harmless(char *text);

#endif
