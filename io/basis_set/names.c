/* Names of basis sets, and the directories that hold their files; the search order is in
 * basis_set.h. */
#define _GNU_SOURCE /* strcasestr */
#include "io/basis_set/names.h"
#include "base/data_path.h"
#include "base/harmless.h"
#include <fmo/basis_set.h>

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAME_SIZE = 64, NAMES_MAX = 512 };

static const char *const suffixes[] = {".json", ".gbs", ".g94", ".bas", ".nw", ".nwchem"};
enum { SUFFIX_COUNT = sizeof suffixes / sizeof suffixes[0] };

/* Normalises a name: "STO-3G" and "sto 3g" become "sto3g"; "6-31G*" and "6-31G**" become "631g(d)"
 * and "631g(d,p)". Truncates names that are too long. */
static void plain_name(const char *name, size_t size, char plain[NAME_SIZE])
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        const bool star = name[i] == '*', stars = star && i + 1 < size && name[i + 1] == '*';
        char letter[2] = {(char)tolower((unsigned char)name[i]), '\0'};
        const char *text = stars ? "(d,p)" : star ? "(d)" : letter;
        const size_t length = strchr("-_ ", name[i]) ? 0 : strlen(text);
        if (n + length >= NAME_SIZE) break;
        memcpy(plain + n, text, length);
        n += length;
        i += stars;
    }
    plain[n] = '\0';
}

size_t fmo_basis_file_stem(const char *file)
{
    size_t size = strlen(file);
    for (int i = 0; i < SUFFIX_COUNT; i++) {
        size_t suffix = strlen(suffixes[i]);
        if (size > suffix && strcasecmp(file + size - suffix, suffixes[i]) == 0)
            return size - suffix;
    }
    return 0;
}

/* Returns directory i of the search order, to be freed; NULL after the last. */
static char *directory_at(int i)
{
    const char *path = getenv("FMO_BASIS_PATH");
    while (path) {
        const size_t size = strcspn(path, ":");
        if (size && i-- == 0) return strndup(path, size);
        path = path[size] ? path + size + 1 : NULL;
    }
    return i == 0 ? fmo_data_path("basis") : NULL;
}

/* Calls visit for each file of a basis set, with its directory and the index of that directory. */
static void visit_sets(void (*visit)(int i, const char *directory, const char *file, void *data),
                       void *data)
{
    char *name;
    for (int i = 0; (name = directory_at(i)); i++) {
        DIR *directory = opendir(name);
        struct dirent *entry;
        while (directory && (entry = readdir(directory)))
            if (fmo_basis_file_stem(entry->d_name)) visit(i, name, entry->d_name, data);
        if (directory) closedir(directory);
        free(name);
    }
}

typedef struct search {
    char plain[NAME_SIZE];
    int directory; /* index of the directory of path */
    char *path;    /* best match so far: the alphabetically first file of the first directory */
    bool failed;   /* out of memory */
} search;

static void note_match(int i, const char *directory, const char *file, void *data)
{
    search *s = data;
    char plain[NAME_SIZE];
    plain_name(file, fmo_basis_file_stem(file), plain);
    if (strcmp(plain, s->plain) != 0 || (s->path && i > s->directory)) return;
    size_t size = strlen(directory) + strlen(file) + 2;
    char *path = malloc(size);
    if (!path) {
        s->failed = true;
        return;
    }
    snprintf(path, size, "%s/%s", directory, file);
    bool first = !s->path || strcmp(path, s->path) < 0;
    free(first ? s->path : path);
    if (first) s->path = path;
    s->directory = i;
}

typedef struct name_list {
    char name[NAMES_MAX][NAME_SIZE];
    int n;
} name_list;

static void note_name(int i, const char *directory, const char *file, void *data)
{
    name_list *list = data;
    size_t size = fmo_basis_file_stem(file);
    (void)i, (void)directory;
    if (size < NAME_SIZE && list->n < NAMES_MAX) {
        snprintf(list->name[list->n], NAME_SIZE, "%.*s", (int)size, file);
        fmo_text_harmless(list->name[list->n++]);
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcasecmp(a, b);
}

void fmo_basis_set_list(char *text, size_t size)
{
    size_t at = 0;
    if (!text || !size) return;
    text[0] = '\0';
    name_list *list = calloc(1, sizeof *list);
    if (!list) return;
    visit_sets(note_name, list);
    qsort(list->name, (size_t)list->n, NAME_SIZE, compare_names);
    for (int i = 0; i < list->n && at < size; i++)
        if (i == 0 || strcmp(list->name[i], list->name[i - 1]) != 0)
            at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", list->name[i]);
    free(list);
}

/* Returns true if a name has one of the usual marks of sets with h shells on first-row atoms. */
static bool has_h_shells(const char *name)
{
    static const char *const marks[] = {"5z", "6z", "pc-4", "pcseg-4"};
    bool found = false;
    for (size_t k = 0; k < sizeof marks / sizeof marks[0]; k++)
        found |= strcasestr(name, marks[k]) != NULL;
    return found;
}

/* Sets the error for a name that matches no file. */
static fmo_status unknown_name(const char *name, fmo_error *err)
{
    char known[320], shown[44];
    snprintf(shown, sizeof shown, "%.40s", name);
    fmo_text_harmless(shown);
    fmo_basis_set_list(known, sizeof known);
    if (!known[0])
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "basis set '%s': no directory with basis sets was found; set "
                             "FMO_BASIS_PATH to one, or give the path of a file",
                             shown);
    return fmo_error_set(err, FMO_ERR_INPUT,
                         "basis set '%s' %s; choose one of %s, or give the path of a .json or .gbs "
                         "file",
                         shown,
                         has_h_shells(name) ? "needs h shells for its polarisation functions: this "
                                              "build supports s, p, d, f and g"
                                            : "is not known",
                         known);
}

fmo_status fmo_basis_file_find(const char *name_or_path, char **path, fmo_error *err)
{
    search s = {.path = NULL};
    if (strchr(name_or_path, '/') || fmo_basis_file_stem(name_or_path)) {
        s.path = strdup(name_or_path);
        s.failed = !s.path;
    } else {
        plain_name(name_or_path, strlen(name_or_path), s.plain);
        if (s.plain[0]) visit_sets(note_match, &s);
    }
    *path = s.path;
    if (s.failed) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory to read a basis set");
    return s.path ? FMO_OK : unknown_name(name_or_path, err);
}
