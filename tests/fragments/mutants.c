/* Fragment files with bytes changed, lines dropped or doubled, or cut short are read or refused in
 * one clean line, soon. An input of ABINIT-MP has its PDB file beside it, which is changed in every
 * second case. fragment_mutants CASES FILE...; sanitizers watch memory. */
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include <fmo/fragment_system.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_MAX = 20, CHANGES_MAX = 4 };

static size_t at_random(size_t size, unsigned long long *state)
{
    return (size_t)(check_random(state) * (double)size);
}

/* One change to a text of *size bytes, which has space for twice as many. */
static void change(char *bytes, size_t *size, unsigned long long *state)
{
    static const char likely[] = "0123456789-+.eE $!=,()\n\t*ACHNOSZ\"{}[]";
    const size_t at = at_random(*size, state);
    const char *end = memchr(bytes + at, '\n', *size - at);
    const size_t length = end ? (size_t)(end - bytes) + 1 - at : *size - at;
    switch (at_random(6, state)) {
    case 0:
        bytes[at] = (char)at_random(256, state);
        break;
    case 1:
    case 2:
        bytes[at] = likely[at_random(sizeof likely - 1, state)];
        break;
    case 3: /* the rest of a line, dropped */
        memmove(bytes + at, bytes + at + length, *size - at - length);
        *size -= length;
        break;
    case 4: /* and doubled */
        memmove(bytes + at + length, bytes + at, *size - at);
        *size += length;
        break;
    default:
        if (at_random(8, state) == 0) *size = at + 1;
    }
    if (!*size) *size = 1;
}

/* Reads a changed file: soon, with a system that is valid or with one clean line that names the
 * file. */
static void try_case(const char *path, const char *honest, long number)
{
    fmo_error err = {FMO_OK, ""};
    fmo_fragment_system *s = NULL;
    const clock_t start = clock();
    const fmo_status status = fmo_fragment_system_read(path, &s, &err);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    CHECK(seconds < SECONDS_MAX, "case %ld of %s: %g s", number, honest, seconds);
    CHECK((status == FMO_OK) == (s != NULL), "case %ld of %s: status %d", number, honest,
          (int)status);
    CHECK(status == FMO_OK || status == FMO_ERR_INPUT, "case %ld of %s: %s", number, honest,
          err.message);
    if (s) {
        CHECK(fmo_fragment_system_check(s, &err) == FMO_OK, "case %ld of %s: %s", number, honest,
              err.message);
        for (int f = 0; f < s->fragment_num; f++)
            CHECK(fmo_fragment_electron_num(s, f) % 2 == 0, "case %ld of %s", number, honest);
    } else {
        CHECK(strncmp(err.message, path, strlen(path)) == 0, "case %ld of %s: %s", number, honest,
              err.message);
        for (const char *c = err.message; *c; c++)
            CHECK((unsigned char)*c >= ' ' && (unsigned char)*c <= '~', "case %ld of %s: '%s'",
                  number, honest, err.message);
    }
    fmo_fragment_system_destroy(s);
}

/* A file in memory, and where its mutants are written. */
typedef struct honest {
    content text;
    char path[512];
} honest;

static void write_changed(const honest *h, bool changed, unsigned long long *state)
{
    size_t now = h->text.size;
    char *bytes = malloc(((size_t)2 << CHANGES_MAX) * h->text.size + 1);
    FILE *file = fopen(h->path, "wb");
    if (bytes) memcpy(bytes, h->text.bytes, h->text.size);
    if (bytes && changed)
        for (size_t k = 1 + at_random(CHANGES_MAX, state); k > 0; k--) change(bytes, &now, state);
    CHECK(bytes && file && fwrite(bytes, 1, now, file) == now, "cannot write %s", h->path);
    if (file) fclose(file);
    free(bytes);
}

/* Makes CASES random changes to each of the files and reads the result. */
int main(int argc, char **argv)
{
    const long cases = argc > 1 ? atol(argv[1]) : 100;
    char folder[] = "/tmp/fmo-fragment-mutants-XXXXXX";
    if (!mkdtemp(folder)) return 1;
    for (int f = 2; f < argc; f++) {
        honest file = {0}, beside = {0};
        unsigned long long state = 20261123;
        const char *slash = strrchr(argv[f], '/'), *name = slash ? slash + 1 : argv[f];
        const char *dot = strrchr(name, '.');
        char other[512];
        file.text = content_load(argv[f]);
        CHECK(file.text.bytes && dot, "cannot read %s", argv[f]);
        if (!file.text.bytes || !dot) continue;
        snprintf(file.path, sizeof file.path, "%s/%s", folder, name);
        snprintf(beside.path, sizeof beside.path, "%s/%.*s.pdb", folder, (int)(dot - name), name);
        snprintf(other, sizeof other, "%.*s.pdb", (int)(dot - argv[f]), argv[f]);
        if (strcmp(dot, ".ajf") == 0) beside.text = content_load(other);
        for (long i = 0; i < cases; i++) {
            const bool second = beside.text.bytes && i % 2;
            write_changed(&file, !second, &state);
            if (beside.text.bytes) write_changed(&beside, second, &state);
            try_case(file.path, argv[f], i);
        }
        unlink(file.path);
        if (beside.text.bytes) unlink(beside.path);
        free(file.text.bytes);
        free(beside.text.bytes);
    }
    rmdir(folder);
    return check_summary();
}
