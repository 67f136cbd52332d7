/* Reads small text files as a whole, then line by line and word by word, independently of the
 * locale. Used by the readers of molecules and basis sets. Every error is one line with file and
 * line number. Next: text.c. */
#ifndef FMO_IO_TEXT_H
#define FMO_IO_TEXT_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <fmo/status.h>

/* Some characters of a text, without a terminating zero. */
typedef struct fmo_word {
    const char *at;
    size_t size;
} fmo_word;

typedef struct fmo_text {
    char label[256]; /* path for messages */
    char *bytes;     /* [size], followed by a zero */
    size_t size;
    char sha256[65];
    const char *next; /* start of the next line */
    int line;         /* number of the line read last, from 1 */
    int frame; /* number of the molecule in a file of several, from 1, for messages; 0: not shown */
    locale_t plain; /* the C locale, in which numbers have a decimal point */
    fmo_error *err;
} fmo_text;

/* Reads a regular file of 1 to `max_bytes` bytes without zero bytes; a UTF-8 byte order mark is
 * skipped. Call fmo_text_close afterwards, also on error. what: "an .xyz file", for messages. */
fmo_status fmo_text_read(fmo_text *text, const char *path, size_t max_bytes, const char *what,
                         fmo_error *err);
void fmo_text_close(fmo_text *text);

/* Sets the error message "LABEL: line N: message" (line > 0) or "LABEL: message"; in a frame
 * "LABEL: frame M: ...". Returns status. */
fmo_status fmo_text_fail(const fmo_text *text, int line, fmo_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads the next line, without its line end and trailing blanks; returns false at the end of the
 * text. */
bool fmo_text_line(fmo_text *text, fmo_word *line);

/* Removes the next word (delimited by blanks) from the front of a line; returns false if there is
 * none. */
bool fmo_text_word(fmo_word *line, fmo_word *word);

/* Copies a word for a message: truncated to fit, with '?' for characters beyond ASCII. Returns
 * quote. */
enum { FMO_QUOTE_SIZE = 40 };
const char *fmo_text_quote(fmo_word word, char quote[FMO_QUOTE_SIZE]);

/* Parses a finite decimal number that is the whole word: 1, -.5, 1.5e-3, Fortran's 1.5D-03 or
 * Mathematica's 1.5*^-3. Numbers too small for a double become 0 or denormal. Returns false if it
 * is not such a number. */
bool fmo_text_real(const fmo_text *text, fmo_word word, double *value);

/* Parses a word of digits only with a value of at most `limit`; returns false otherwise. */
bool fmo_text_count(fmo_word word, long limit, long *value);

#endif
