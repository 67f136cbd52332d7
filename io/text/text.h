/* Small text files read whole, then line by line and word by word, whatever the locale: the ground
 * under the readers of molecules and basis sets. Every complaint is one line with file and line
 * number. */
#ifndef FMO_IO_TEXT_H
#define FMO_IO_TEXT_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <fmo/status.h>

/* Some characters of a text, not ended by a zero. */
typedef struct fmo_word {
    const char *at;
    size_t size;
} fmo_word;

typedef struct fmo_text {
    char label[256]; /* the path as messages show it */
    char *bytes;     /* [size], and a zero behind them */
    size_t size;
    char sha256[65];
    const char *next; /* the line to come */
    int line;         /* number of the line last taken, from 1 */
    int frame;        /* of several molecules in the file, from 1; 0: messages name none */
    locale_t plain;   /* the C locale: numbers have a point */
    fmo_error *err;
} fmo_text;

/* Read a regular file of 1 to `most` bytes that holds no zero byte; a UTF-8 byte order mark is
 * skipped. Close with fmo_text_close on error, too. what: "an .xyz file", for messages. */
fmo_status fmo_text_read(fmo_text *text, const char *path, size_t most, const char *what,
                         fmo_error *err);
void fmo_text_close(fmo_text *text);

/* Record "LABEL: line N: message" (line > 0) or "LABEL: message"; in a frame "LABEL: frame M: ...".
 * Returns status. */
fmo_status fmo_text_fail(const fmo_text *text, int line, fmo_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The next line without its end; false when there is none. */
bool fmo_text_line(fmo_text *text, fmo_word *line);

/* Take the next word (between blanks) off a line; false when there is none. */
bool fmo_text_word(fmo_word *line, fmo_word *word);

/* The text of a word for a message: cut to fit, characters beyond ASCII shown as '?'. */
enum { FMO_QUOTE_SIZE = 40 };
const char *fmo_text_quote(fmo_word word, char quote[FMO_QUOTE_SIZE]);

/* A decimal number such as 1, -.5, 1.5e-3, from Fortran 1.5D-03 or from Mathematica 1.5*^-3:
 * finite, nothing else beside it. Tiny ones become 0. */
bool fmo_text_real(const fmo_text *text, fmo_word word, double *value);

/* Digits alone, value at most `most`. */
bool fmo_text_count(fmo_word word, long most, long *value);

#endif
