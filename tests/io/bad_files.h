/* Files that must be refused, and some that must not: each made from a good data set by one change.
 * Used by refusals.c through the library, and by the driver's tests through make-bad-file. */
#ifndef FMO_TESTS_IO_BAD_FILES_H
#define FMO_TESTS_IO_BAD_FILES_H

/* One case. A file to be refused has exit code 3 and `expect` in the error message; one to be read
 * has exit code 0 and `expect` in a notice ("" if no notice is required); if its name begins with
 * "doubt-", fmo-driver refuses it all the same without --force. */
typedef struct bad_file {
    const char *name;
    int exit_code;
    const char *expect;
} bad_file;

int bad_file_count(void);
const bad_file *bad_file_at(int i);

/* Make the file of case i at path `out` from the good data set `in` (with /fmo, Cartesian, s and p
 * shells). Returns 0, or 1 after a line on stderr. */
int bad_file_make(int i, const char *in, const char *out);

#endif
