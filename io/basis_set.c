/* Basis sets: finding the file of a name, choosing its reader, normalising its functions.
 * Read next: basis_set_json.c, basis_set_gaussian.c, dataset_create.c. */
#include "io/basis_set_internal.h"
#include "io/wavefunction_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { BYTES_MOST = 1 << 26, NAME_SIZE = 64, NAMES_MOST = 512 };

static const char *const suffixes[] = {".json", ".gbs", ".g94", ".bas"};
enum { SUFFIX_COUNT = sizeof suffixes / sizeof suffixes[0] };

/* --- shells ------------------------------------------------------------------------------------*/

static fmo_status no_memory(const fmo_text *text)
{
    return fmo_text_fail(text, 0, FMO_ERR_MEMORY, "no memory to read it");
}

/* Room for one more shell and n primitives. */
static fmo_status make_room(fmo_basis_set *set, const fmo_text *text, int n)
{
    if (set->shell_num == FMO_SET_SHELLS_MOST)
        return fmo_text_fail(text, 0, FMO_ERR_INPUT, "more than %d shells; split the file",
                             FMO_SET_SHELLS_MOST);
    if (set->shell_num == set->shell_room) {
        int room = 2 * set->shell_room + 64;
        fmo_set_shell *shell = realloc(set->shell, (size_t)room * sizeof *shell);
        if (!shell) return no_memory(text);
        set->shell = shell;
        set->shell_room = room;
    }
    if (set->prim_num + n > set->prim_room) {
        int room = 2 * set->prim_room + 256 + n;
        double *exponent = realloc(set->exponent, (size_t)room * sizeof *exponent);
        if (exponent) set->exponent = exponent;
        double *coefficient = realloc(set->coefficient, (size_t)room * sizeof *coefficient);
        if (coefficient) set->coefficient = coefficient;
        if (!exponent || !coefficient) return no_memory(text);
        set->prim_room = room;
    }
    return FMO_OK;
}

fmo_status fmo_basis_set_add_shell(fmo_basis_set *set, const fmo_text *text, const char *where,
                                   int number, int ang_mom, int n, const double *exponent,
                                   const double *coefficient)
{
    const char *symbol = fmo_element_symbol(number);
    const char letter = fmo_ang_mom_letter(ang_mom);
    double squares = 0.0;
    for (int k = 0; k < n; k++) {
        if (!(exponent[k] >= FMO_EXPONENT_LEAST && exponent[k] <= FMO_EXPONENT_MOST))
            return fmo_text_fail(text, 0, FMO_ERR_INPUT,
                                 "%s: exponent %d of a shell of %s (%c) is %g: expected %g to %g "
                                 "bohr^-2; correct it",
                                 where, k + 1, symbol, letter, exponent[k], FMO_EXPONENT_LEAST,
                                 FMO_EXPONENT_MOST);
        if (!(fabs(coefficient[k]) <= FMO_COEFFICIENT_MOST))
            return fmo_text_fail(text, 0, FMO_ERR_INPUT,
                                 "%s: coefficient %d of a shell of %s (%c) is %g: expected at most "
                                 "%g; correct it",
                                 where, k + 1, symbol, letter, coefficient[k],
                                 FMO_COEFFICIENT_MOST);
        squares += coefficient[k] * coefficient[k];
    }
    fmo_status status = make_room(set, text, n);
    if (status != FMO_OK) return status;
    fmo_set_shell shell = {number, ang_mom, set->prim_num, 0};
    double norm = ang_mom <= 1 ? fmo_contraction_overlap(ang_mom, n, exponent, coefficient) : 1.0;
    if (!(squares > 0.0 && norm > 1e-12 * squares))
        return fmo_text_fail(text, 0, FMO_ERR_INPUT,
                             "%s: the coefficients of a shell of %s (%c) are 0 or cancel; correct "
                             "them",
                             where, symbol, letter);
    for (int k = 0; ang_mom <= 1 && k < n; k++) {
        if (coefficient[k] == 0.0) continue;
        int at = shell.prim_begin + shell.prim_num++;
        set->exponent[at] = exponent[k];
        set->coefficient[at] =
            coefficient[k] * fmo_primitive_norm(ang_mom, exponent[k]) / sqrt(norm);
    }
    set->prim_num += shell.prim_num;
    set->shell[set->shell_num++] = shell;
    return FMO_OK;
}

fmo_status fmo_basis_set_repeat_shell(fmo_basis_set *set, const fmo_text *text, int s, int number)
{
    fmo_status status = make_room(set, text, 0);
    if (status != FMO_OK) return status;
    fmo_set_shell shell = set->shell[s];
    shell.number = number;
    set->shell[set->shell_num++] = shell;
    return FMO_OK;
}

/* --- names -------------------------------------------------------------------------------------*/

/* "STO-3G", "sto 3g" -> "sto3g" */
static void plain_name(const char *name, size_t size, char plain[NAME_SIZE])
{
    size_t n = 0;
    for (size_t i = 0; i < size && n + 1 < NAME_SIZE; i++)
        if (!strchr("-_ ", name[i])) plain[n++] = (char)tolower((unsigned char)name[i]);
    plain[n] = '\0';
}

/* Length of a file name without its suffix; 0 if it is not the name of a basis set. */
static size_t stem_size(const char *file)
{
    size_t size = strlen(file);
    for (int i = 0; i < SUFFIX_COUNT; i++) {
        size_t suffix = strlen(suffixes[i]);
        if (size > suffix && strcasecmp(file + size - suffix, suffixes[i]) == 0)
            return size - suffix;
    }
    return 0;
}

/* Directory i of those to look in, in *size characters; NULL after the last. */
static const char *directory_at(int i, size_t *size)
{
    static const char *const built_in[] = {FMO_BASIS_SOURCE_DIR, FMO_BASIS_INSTALL_DIR};
    const char *path = getenv("FMO_BASIS_PATH");
    while (path) {
        *size = strcspn(path, ":");
        if (*size && i-- == 0) return path;
        path = path[*size] ? path + *size + 1 : NULL;
    }
    if (i >= (int)(sizeof built_in / sizeof built_in[0])) return NULL;
    *size = strlen(built_in[i]);
    return built_in[i];
}

/* Calls visit with each file of a basis set, its directory, and the number of that. */
static void visit_sets(void (*visit)(int i, const char *directory, const char *file, void *data),
                       void *data)
{
    size_t size = 0;
    const char *at;
    for (int i = 0; (at = directory_at(i, &size)); i++) {
        char *name = strndup(at, size);
        DIR *directory = name ? opendir(name) : NULL;
        struct dirent *entry;
        while (directory && (entry = readdir(directory)))
            if (stem_size(entry->d_name)) visit(i, name, entry->d_name, data);
        if (directory) closedir(directory);
        free(name);
    }
}

typedef struct search {
    char plain[NAME_SIZE];
    int directory; /* that path is in */
    char *path;    /* found so far; the first in alphabetical order of the first directory */
    bool failed;   /* no memory */
} search;

static void note_match(int i, const char *directory, const char *file, void *data)
{
    search *s = data;
    char plain[NAME_SIZE];
    plain_name(file, stem_size(file), plain);
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
    char name[NAMES_MOST][NAME_SIZE];
    int n;
} name_list;

static void note_name(int i, const char *directory, const char *file, void *data)
{
    name_list *list = data;
    size_t size = stem_size(file);
    (void)i, (void)directory;
    if (size < NAME_SIZE && list->n < NAMES_MOST)
        snprintf(list->name[list->n++], NAME_SIZE, "%.*s", (int)size, file);
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

/* --- reading -----------------------------------------------------------------------------------*/

static fmo_status unknown_name(const char *name, fmo_error *err)
{
    char known[320];
    fmo_basis_set_list(known, sizeof known);
    if (!known[0])
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "basis set '%.40s': no directory with basis sets was found; set "
                             "FMO_BASIS_PATH to one, or give the path of a file",
                             name);
    return fmo_error_set(err, FMO_ERR_INPUT,
                         "basis set '%.40s' is not known; choose one of %s, or give the path of a "
                         ".json or .gbs file",
                         name, known);
}

/* The path of a name, or a copy of a path. */
static fmo_status find_file(const char *name_or_path, char **path, fmo_error *err)
{
    search s = {.path = NULL};
    if (strchr(name_or_path, '/') || stem_size(name_or_path)) {
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

static fmo_status parse(fmo_basis_set *set, fmo_text *text)
{
    const char *at = text->next + strspn(text->next, " \t\r\n");
    const char *file = strrchr(set->path, '/');
    file = file ? file + 1 : set->path;
    size_t stem = stem_size(file);
    snprintf(set->name, sizeof set->name, "%.*s", (int)(stem ? stem : strlen(file)), file);
    fmo_status status =
        *at == '{' ? fmo_basis_set_parse_json(set, text) : fmo_basis_set_parse_gaussian(set, text);
    if (status == FMO_OK && !set->shell_num)
        status =
            fmo_text_fail(text, 0, FMO_ERR_INPUT,
                          "holds no shells; expected a basis set as Basis Set Exchange JSON or "
                          "in Gaussian's format");
    return status;
}

fmo_status fmo_basis_set_read(const char *name_or_path, fmo_basis_set **set, fmo_error *err)
{
    if (set) *set = NULL;
    if (!name_or_path || !set)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_basis_set_read: NULL");
    fmo_basis_set *made = calloc(1, sizeof *made);
    if (!made) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory to read a basis set");
    fmo_status status = find_file(name_or_path, &made->path, err);
    if (status == FMO_OK) {
        fmo_text text;
        status = fmo_text_read(&text, made->path, BYTES_MOST, "a basis set", err);
        if (status == FMO_OK) status = parse(made, &text);
        fmo_text_close(&text);
    }
    if (status == FMO_OK)
        *set = made;
    else
        fmo_basis_set_destroy(made);
    return status;
}

void fmo_basis_set_destroy(fmo_basis_set *set)
{
    if (!set) return;
    free(set->path);
    free(set->shell);
    free(set->exponent);
    free(set->coefficient);
    free(set);
}

const char *fmo_basis_set_name(const fmo_basis_set *set)
{
    return set->name;
}
const char *fmo_basis_set_path(const fmo_basis_set *set)
{
    return set->path;
}

int fmo_basis_set_shell_num(const fmo_basis_set *set, int number)
{
    int n = 0;
    for (int s = 0; s < set->shell_num; s++) n += set->shell[s].number == number;
    return n;
}
