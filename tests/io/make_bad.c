/* make-bad-file: make a damaged data set for tests at the command line.
 *   make-bad-file --list            one case a line: name, exit code, expected text, tab-separated
 *   make-bad-file CASE IN OUT       make OUT of that case from the good data set IN */
#include "tests/io/bad_files.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (int i = 0; i < bad_file_count(); i++) {
            const bad_file *bad = bad_file_at(i);
            printf("%s\t%d\t%s\n", bad->name, bad->exit_code, bad->expect);
        }
        return 0;
    }
    for (int i = 0; argc == 4 && i < bad_file_count(); i++)
        if (strcmp(argv[1], bad_file_at(i)->name) == 0) return bad_file_make(i, argv[2], argv[3]);
    fprintf(stderr, "usage: make-bad-file --list | make-bad-file CASE IN OUT\n");
    return 2;
}
