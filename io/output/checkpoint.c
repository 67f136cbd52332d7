/* The checkpoint of a batch: a head with the settings, then one record for each result, appended by
 * one write. A record that a killed process left incomplete is recognised by its size or its hash,
 * and removed when the checkpoint is opened again. Next: checkpoint.h, checkpoint_import.c. */
#define _GNU_SOURCE
#include "io/output/checkpoint.h"
#include "base/arguments.h"
#include "io/output/extxyz.h"
#include "io/output/kind.h"
#include "io/text/file.h"
#include "io/text/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_SIZE = 65, TEXT_MAX = 60000, MATRIX_MAX = 1 << 20 };
enum { ARRAYS = 9, ARRAYS_WITH_FLAGS = 7 };

/* Begin of a record; texts and arrays follow, without gaps. */
typedef struct head {
    char mark[8];
    char hash[KEY_SIZE]; /* SHA-256 of the record, with this field filled with zeros */
    char key[KEY_SIZE];
    int status_size, mode_size, method_size, converged, cycles, nao, mo_num, occupied_num;
    int occupied_beta_num, multiplicity, nucleus_num; /* the last of arrays by nuclei; 0: none */
    int has[ARRAYS_WITH_FLAGS];                       /* in the order of list_arrays */
    int more; /* a bit for each array after those; checkpoints of 0.2.0 before charges have 0 */
    double energy, spin_square;
} head;

static bool has(const head *h, int k)
{
    return k < ARRAYS_WITH_FLAGS ? h->has[k] : h->more >> (k - ARRAYS_WITH_FLAGS) & 1;
}

/* An array of a record, and its number of elements. */
typedef struct array {
    const double **values;
    size_t count;
} array;

/* Lists the arrays of a result by the sizes in a head. */
static void list_arrays(const head *h, fmo_molecule_result *m, array list[ARRAYS])
{
    const size_t n = (size_t)h->nao, mo = (size_t)h->mo_num, nuclei = (size_t)h->nucleus_num;
    const array all[ARRAYS] = {
        {&m->orbital_energy, mo},      {&m->coefficient, mo * n},      {&m->density, n * n},
        {&m->orbital_energy_beta, mo}, {&m->coefficient_beta, mo * n}, {&m->spin_density, n * n},
        {&m->gradient, 3 * nuclei},    {&m->mulliken_charge, nuclei},  {&m->mulliken_spin, nuclei}};
    memcpy(list, all, sizeof all);
}

static const char mark[8] = "fmo-rec";

typedef struct entry {
    char key[KEY_SIZE];
    off_t at;
} entry;

struct fmo_checkpoint {
    int file;
    char *path, *settings;
    char label[256];
    off_t end;
    entry *entry; /* [num], sorted by key unless `unsorted` */
    size_t num, capacity;
    bool unsorted;
    char *record; /* the one found last */
};

static fmo_status fail(const fmo_checkpoint *c, fmo_error *err, fmo_status status, const char *what)
{
    return fmo_error_set(err, status, "%s: %s", c->label, what);
}

/* ---- keys ------------------------------------------------------------------------------------ */

typedef struct part {
    const void *at;
    size_t bytes;
} part;

/* Hashes all that determines the SCF of a molecule: nuclei, functions, electrons, their spin, and
 * the densities and core Hamiltonian of a file. */
fmo_status fmo_molecule_key(const fmo_dataset *dataset, int electron_num, char *key, fmo_error *err)
{
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS("fmo_molecule_key", err, FMO_GIVEN(dataset), FMO_GIVEN(key));
    if (checked != FMO_OK) return checked;
    const fmo_basis_input *in = fmo_dataset_basis_input(dataset);
    const size_t n = (size_t)in->nucleus_num, s = (size_t)in->shell_num, a = (size_t)in->ao_num;
    const size_t p = (size_t)in->prim_num, real = sizeof(double), whole = sizeof(int);
    const double *const density = fmo_dataset_density(dataset);
    const bool from_file = strcmp(fmo_dataset_core_hamiltonian_source(dataset), "computed") != 0;
    const double *const core = from_file ? fmo_dataset_core_hamiltonian(dataset) : NULL;
    const double *const spin_density = fmo_dataset_spin_density(dataset);
    const int multiplicity = fmo_dataset_multiplicity(dataset); /* of closed shells not hashed */
    const int numbers[] = {electron_num, in->nucleus_num, in->shell_num,   in->prim_num,
                           in->ao_num,   in->cartesian,   density != NULL, core != NULL};
    const part parts[] = {{numbers, sizeof numbers},
                          {in->nucleus_charge, n * real},
                          {in->nucleus_coord, 3 * n * real},
                          {in->shell_nucleus, s * whole},
                          {in->shell_ang_mom, s * whole},
                          {in->prim_shell, p * whole},
                          {in->prim_exponent, p * real},
                          {in->prim_coefficient, p * real},
                          {in->ao_shell, a * whole},
                          {in->ao_component, a * whole},
                          {in->ao_factor, in->ao_factor ? a * real : 0},
                          {density, density ? a * a * real : 0},
                          {core, core ? a * a * real : 0},
                          {&multiplicity, multiplicity > 1 ? whole : 0},
                          {spin_density, spin_density ? a * a * real : 0}};
    size_t bytes = 0, at = 0;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) bytes += parts[k].bytes;
    char *whole_text = malloc(bytes);
    if (!whole_text) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a key");
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        if (parts[k].bytes) memcpy(whole_text + at, parts[k].at, parts[k].bytes);
        at += parts[k].bytes;
    }
    fmo_sha256_bytes(whole_text, bytes, key);
    free(whole_text);
    return FMO_OK;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Returns the size of a record by its head; 0 if the head is not that of a record. */
static size_t record_size(const head *h)
{
    if (memcmp(h->mark, mark, sizeof mark) != 0 || h->status_size < 1 || h->mode_size < 1 ||
        h->method_size < 1 || h->status_size > TEXT_MAX || h->mode_size > TEXT_MAX ||
        h->method_size > TEXT_MAX || h->nao < 0 || h->nao > MATRIX_MAX || h->mo_num < 0 ||
        h->mo_num > h->nao || h->nucleus_num < 0 || h->nucleus_num > MATRIX_MAX ||
        h->key[KEY_SIZE - 1])
        return 0;
    fmo_molecule_result any;
    array list[ARRAYS];
    size_t elements = 0;
    list_arrays(h, &any, list);
    for (int k = 0; k < ARRAYS; k++) elements += has(h, k) ? list[k].count : 0;
    return sizeof *h + (size_t)h->status_size + (size_t)h->mode_size + (size_t)h->method_size +
           sizeof(double) * elements;
}

static void hash_record(char *record, size_t size, char hash[KEY_SIZE])
{
    head *h = (head *)(void *)record;
    char before[KEY_SIZE];
    memcpy(before, h->hash, KEY_SIZE);
    memset(h->hash, 0, KEY_SIZE);
    fmo_sha256_bytes(record, size, hash);
    memcpy(h->hash, before, KEY_SIZE);
}

/* Reads the record at an offset; NULL if there is none, it is incomplete, or memory is short
 * (*no_memory is set). */
static char *read_record(const fmo_checkpoint *c, off_t at, off_t end, size_t *size,
                         bool *no_memory)
{
    head h;
    char hash[KEY_SIZE];
    *no_memory = false;
    if (end - at < (off_t)sizeof h || pread(c->file, &h, sizeof h, at) != (ssize_t)sizeof h)
        return NULL;
    *size = record_size(&h);
    if (!*size || (off_t)*size > end - at) return NULL;
    char *record = malloc(*size);
    *no_memory = !record;
    if (!record) return NULL;
    if (pread(c->file, record, *size, at) == (ssize_t)*size) {
        hash_record(record, *size, hash);
        if (memcmp(hash, ((head *)(void *)record)->hash, KEY_SIZE) == 0) return record;
    }
    free(record);
    return NULL;
}

static bool note(fmo_checkpoint *c, const char *key, off_t at)
{
    if (c->num == c->capacity) {
        const size_t capacity = 2 * c->capacity + 64;
        entry *more = realloc(c->entry, capacity * sizeof *more);
        if (!more) return false;
        c->entry = more;
        c->capacity = capacity;
    }
    memcpy(c->entry[c->num].key, key, KEY_SIZE);
    c->entry[c->num++].at = at;
    c->unsorted = true;
    return true;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Compares two lists of settings; the message names the first that differs. */
fmo_status fmo_settings_compare(const char *label, const char *there, const char *here,
                                fmo_error *err)
{
    const char *a = there, *b = here;
    while (*a && *a == *b) a++, b++;
    if (!*a && !*b) return FMO_OK;
    while (b > here && b[-1] != '\n') b--, a--;
    const char *name = *b ? b : a;
    return fmo_error_set(
        err, FMO_ERR_INPUT,
        "%s: its results have another %.*s; give the options of that run, or leave "
        "out --resume to start again",
        label, (int)strcspn(name, "=\n"), name);
}

/* Writes the head of an empty file, or checks that of an existing one. */
static fmo_status begin(fmo_checkpoint *c, off_t size, fmo_error *err)
{
    const size_t mark_size = strlen(FMO_CHECKPOINT_HEAD), texts = strlen(c->settings) + 1;
    char *text = calloc(1, mark_size + texts + TEXT_MAX + 1);
    fmo_status status = FMO_OK;
    if (!text) return fail(c, err, FMO_ERR_MEMORY, "no memory for a checkpoint");
    if (size == 0) {
        memcpy(text, FMO_CHECKPOINT_HEAD, mark_size);
        memcpy(text + mark_size, c->settings, texts);
        if (write(c->file, text, mark_size + texts) != (ssize_t)(mark_size + texts))
            status = fmo_error_set(err, FMO_ERR_OUTPUT, "%s: cannot be written: %s", c->label,
                                   strerror(errno));
        c->end = (off_t)(mark_size + texts);
    } else {
        const ssize_t got = pread(c->file, text, mark_size + TEXT_MAX, 0);
        const char *there = text + mark_size;
        const size_t compared = (size_t)size < mark_size ? (size_t)size : mark_size;
        c->end = (off_t)(mark_size + strlen(there) + 1);
        if (got < (ssize_t)compared || memcmp(text, FMO_CHECKPOINT_HEAD, compared) != 0)
            status = fail(c, err, FMO_ERR_INPUT, "is not a checkpoint of this version; remove it");
        else if (c->end <= size) /* else the head is incomplete */
            status = fmo_settings_compare(c->label, there, c->settings, err);
    }
    free(text);
    return status;
}

/* Lists all complete records and removes what follows the last one. */
static fmo_status load(fmo_checkpoint *c, off_t size, fmo_error *err)
{
    size_t bytes = 0;
    bool no_memory = false;
    char *record;
    while ((record = read_record(c, c->end, size, &bytes, &no_memory))) {
        no_memory = !note(c, ((head *)(void *)record)->key, c->end);
        free(record);
        if (no_memory) break;
        c->end += (off_t)bytes;
    }
    if (no_memory) return fail(c, err, FMO_ERR_MEMORY, "no memory to read it");
    if (c->end < size && ftruncate(c->file, c->end) != 0)
        return fail(c, err, FMO_ERR_OUTPUT, strerror(errno));
    return FMO_OK;
}

/* Opens and locks the file, reads its head and lists its records. */
static fmo_status open_file(fmo_checkpoint *c, int resume, fmo_error *err)
{
    struct stat info;
    c->file = open(c->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (c->file < 0 || fstat(c->file, &info) != 0)
        return fmo_error_set(err, FMO_ERR_OUTPUT, "%s: cannot be opened: %s", c->label,
                             strerror(errno));
    if (!S_ISREG(info.st_mode))
        return fail(c, err, FMO_ERR_OUTPUT, "is not a regular file; remove it");
    if (flock(c->file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail(c, err, FMO_ERR_INPUT,
                    "another process is writing it; wait for its end, or choose another output");
    if (!resume && ftruncate(c->file, 0) != 0) return fail(c, err, FMO_ERR_OUTPUT, strerror(errno));
    const off_t size = resume ? info.st_size : 0;
    fmo_status status = begin(c, size, err);
    if (status == FMO_OK && c->end > size && size > 0) { /* an incomplete head: begin again */
        if (ftruncate(c->file, 0) != 0) return fail(c, err, FMO_ERR_OUTPUT, strerror(errno));
        return begin(c, 0, err);
    }
    return status == FMO_OK && size > 0 ? load(c, size, err) : status;
}

/* Checks the arguments and allocates the object. */
fmo_status fmo_checkpoint_open(const char *path, const char *settings, int resume,
                               fmo_checkpoint **checkpoint, fmo_error *err)
{
    if (checkpoint) *checkpoint = NULL;
    fmo_status status = FMO_CHECK_ARGUMENTS("fmo_checkpoint_open", err, FMO_GIVEN(path),
                                            FMO_GIVEN(settings), FMO_GIVEN(checkpoint));
    if (status == FMO_OK && strlen(settings) >= TEXT_MAX)
        status =
            fmo_error_set(err, FMO_ERR_ARGUMENT,
                          "fmo_checkpoint_open: settings has %zu bytes: expected fewer than %d",
                          strlen(settings), TEXT_MAX);
    if (status != FMO_OK) return status;
    fmo_checkpoint *c = calloc(1, sizeof *c);
    if (!c) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a checkpoint");
    c->file = -1;
    c->path = strdup(path);
    c->settings = strdup(settings);
    fmo_path_label(path, c->label, sizeof c->label);
    status = c->path && c->settings ? open_file(c, resume, err)
                                    : fail(c, err, FMO_ERR_MEMORY, "no memory for a checkpoint");
    if (status == FMO_OK)
        *checkpoint = c;
    else
        fmo_checkpoint_close(c, 0);
    return status;
}

const char *fmo_checkpoint_settings(const fmo_checkpoint *checkpoint)
{
    return checkpoint->settings;
}

void fmo_checkpoint_close(fmo_checkpoint *c, int remove)
{
    if (!c) return;
    if (remove) unlink(c->path);
    if (c->file >= 0) close(c->file);
    free(c->path);
    free(c->settings);
    free(c->entry);
    free(c->record);
    free(c);
}

size_t fmo_checkpoint_num(const fmo_checkpoint *checkpoint)
{
    return checkpoint ? checkpoint->num : 0;
}

/* ---- adding and finding ---------------------------------------------------------------------- */

/* Checks the texts and counts of a result, which determine the size of its record. */
static fmo_status check_result(const fmo_molecule_result *molecule, fmo_error *err)
{
    static const char call[] = "fmo_checkpoint_add";
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(molecule->status), FMO_GIVEN(molecule->key));
    if (checked != FMO_OK) return checked;
    if (strlen(molecule->key) != KEY_SIZE - 1)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: key: expected one of fmo_molecule_key",
                             call);
    const char *const texts[] = {molecule->status, molecule->mode, molecule->method};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (texts[k] && strlen(texts[k]) >= TEXT_MAX)
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "%s: a text has %zu bytes; at most %d are stored", call,
                                 strlen(texts[k]), TEXT_MAX - 1);
    if (fmo_molecule_has_nuclei(molecule) &&
        (molecule->nucleus_num < 1 || molecule->nucleus_num > MATRIX_MAX))
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: nucleus_num = %d: expected 1 to %d", call,
                             molecule->nucleus_num, MATRIX_MAX);
    const bool arrays = molecule->orbital_energy || molecule->coefficient || molecule->density ||
                        molecule->orbital_energy_beta || molecule->coefficient_beta ||
                        molecule->spin_density;
    if (molecule->nao < 0 || molecule->nao > MATRIX_MAX || molecule->mo_num < 0 ||
        molecule->mo_num > molecule->nao || (arrays && molecule->nao < 1))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%s: nao = %d, mo_num = %d: expected 0 <= mo_num <= nao <= %d", call,
                             molecule->nao, molecule->mo_num, MATRIX_MAX);
    return FMO_OK;
}

static char *put(char *to, const void *from, size_t bytes)
{
    if (bytes && from) memcpy(to, from, bytes);
    return to + bytes;
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

/* Fills the head of a record, except for its hash. */
static void describe_record(const fmo_molecule_result *m, head *h)
{
    fmo_molecule_result copy = *m;
    array list[ARRAYS];
    memset(h, 0, sizeof *h); /* padding bytes too */
    memcpy(h->mark, mark, sizeof mark);
    memcpy(h->key, m->key, KEY_SIZE);
    h->status_size = (int)strlen(m->status) + 1;
    h->mode_size = (int)strlen(text_of(m->mode)) + 1;
    h->method_size = (int)strlen(text_of(m->method)) + 1;
    h->converged = m->converged;
    h->cycles = m->cycles;
    h->nao = m->nao;
    h->mo_num = m->mo_num;
    h->occupied_num = m->occupied_num;
    h->occupied_beta_num = m->occupied_beta_num;
    h->multiplicity = m->multiplicity;
    h->nucleus_num = fmo_molecule_has_nuclei(m) ? m->nucleus_num : 0;
    h->energy = m->energy;
    h->spin_square = m->spin_square;
    list_arrays(h, &copy, list);
    for (int k = 0; k < ARRAYS; k++) {
        const int present = *list[k].values != NULL;
        if (k < ARRAYS_WITH_FLAGS)
            h->has[k] = present;
        else
            h->more |= present << (k - ARRAYS_WITH_FLAGS);
    }
}

/* Appends a record by one write, so that it is complete or will be recognised as incomplete. */
static fmo_status append(fmo_checkpoint *c, const fmo_molecule_result *m, off_t *at, fmo_error *err)
{
    fmo_molecule_result copy = *m;
    array list[ARRAYS];
    head h;
    describe_record(m, &h);
    const size_t size = record_size(&h);
    char *const record = size ? malloc(size) : NULL;
    if (!record) return fail(c, err, FMO_ERR_MEMORY, "no memory for a result");
    char *to = put(record, &h, sizeof h);
    list_arrays(&h, &copy, list);
    for (int k = 0; k < ARRAYS; k++)
        to = put(to, *list[k].values, has(&h, k) ? list[k].count * sizeof(double) : 0);
    to = put(to, m->status, (size_t)h.status_size);
    to = put(to, text_of(m->mode), (size_t)h.mode_size);
    (void)put(to, text_of(m->method), (size_t)h.method_size);
    hash_record(record, size, h.hash);
    memcpy(record, &h, sizeof h);
    const ssize_t done = pwrite(c->file, record, size, c->end);
    const int error = errno;
    free(record);
    if (done != (ssize_t)size) {
        if (ftruncate(c->file, c->end) != 0) return fail(c, err, FMO_ERR_OUTPUT, strerror(errno));
        return fmo_error_set(err, FMO_ERR_OUTPUT, "%s: cannot be written: %s", c->label,
                             done < 0 ? strerror(error) : "no space left");
    }
    *at = c->end;
    c->end += (off_t)size;
    return FMO_OK;
}

fmo_status fmo_checkpoint_add(fmo_checkpoint *checkpoint, const fmo_molecule_result *molecule,
                              fmo_error *err)
{
    off_t at;
    fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_checkpoint_add", err, FMO_GIVEN(checkpoint), FMO_GIVEN(molecule));
    if (status == FMO_OK) status = check_result(molecule, err);
    return status == FMO_OK ? append(checkpoint, molecule, &at, err) : status;
}

fmo_status fmo_checkpoint_add_found(fmo_checkpoint *c, const fmo_molecule_result *molecule,
                                    fmo_error *err)
{
    off_t at = 0;
    fmo_status status = check_result(molecule, err);
    if (status == FMO_OK) status = append(c, molecule, &at, err);
    if (status == FMO_OK && !note(c, molecule->key, at))
        status = fail(c, err, FMO_ERR_MEMORY, "no memory to read it");
    return status;
}

/* By key; of one key by age. */
static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const int order = strcmp(x->key, y->key);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Returns the last entry that was added with a key, or NULL. */
static const entry *newest(const fmo_checkpoint *c, const entry *sought)
{
    size_t low = 0, high = c->num; /* entries before `low` do not follow those of the key */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(c->entry[middle].key, sought->key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && strcmp(c->entry[low - 1].key, sought->key) == 0 ? &c->entry[low - 1] : NULL;
}

/* Points a result to the texts and arrays of the record read last. */
static void describe(const fmo_checkpoint *c, fmo_molecule_result *m)
{
    const head *h = (const head *)(const void *)c->record;
    const double *at = (const double *)(const void *)(c->record + sizeof *h);
    array list[ARRAYS];
    *m = (fmo_molecule_result){.key = h->key,
                               .converged = h->converged,
                               .cycles = h->cycles,
                               .energy = h->energy,
                               .nao = h->nao,
                               .mo_num = h->mo_num,
                               .occupied_num = h->occupied_num,
                               .nucleus_num = h->nucleus_num,
                               .occupied_beta_num = h->occupied_beta_num,
                               .multiplicity = h->multiplicity,
                               .spin_square = h->spin_square};
    list_arrays(h, m, list);
    for (int k = 0; k < ARRAYS; k++)
        if (has(h, k)) {
            *list[k].values = at;
            at += list[k].count;
        }
    m->status = (const char *)at;
    m->mode = m->status + h->status_size;
    m->method = m->mode + h->mode_size;
    if (!*m->mode) m->mode = NULL;
    if (!*m->method) m->method = NULL;
}

/* Searches the sorted list and reads the record again. */
fmo_status fmo_checkpoint_find(fmo_checkpoint *checkpoint, const char *key,
                               fmo_molecule_result *molecule, fmo_error *err)
{
    const fmo_status checked = FMO_CHECK_ARGUMENTS(
        "fmo_checkpoint_find", err, FMO_GIVEN(checkpoint), FMO_GIVEN(key), FMO_GIVEN(molecule));
    if (checked != FMO_OK) return checked;
    fmo_checkpoint *const c = checkpoint;
    *molecule = (fmo_molecule_result){.key = NULL};
    if (c->unsorted) qsort(c->entry, c->num, sizeof *c->entry, compare);
    c->unsorted = false;
    entry sought = {.at = 0};
    if (strlen(key) != KEY_SIZE - 1) return FMO_OK;
    memcpy(sought.key, key, KEY_SIZE);
    const entry *const found = newest(c, &sought);
    if (!found) return FMO_OK;
    size_t size;
    bool no_memory;
    free(c->record);
    c->record = read_record(c, found->at, c->end, &size, &no_memory);
    if (no_memory) return fail(c, err, FMO_ERR_MEMORY, "no memory to read it");
    if (!c->record)
        return fail(c, err, FMO_ERR_INPUT, "has changed while it was in use; remove it");
    describe(c, molecule);
    return FMO_OK;
}
