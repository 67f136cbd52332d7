/* Data sets with bytes changed, cut short or spliced, read by workers under limits. A mutant may be
 * refused or read; it may not crash, use more than 5 s or 200 MB, or give a value whose bytes are
 * not there: where a value differs from the honest file's, every dataset must still be stored where
 * and as it was, so that what changed is data, or the mutant says by other names and types that it
 * is another file (counted apart). fuzz_mutants [CASES [SEED [FIRST]]]     FIRST: of the cases, to
 * look at one Four honest files: a small one and one of 8 waters, as they are and repacked; the
 * small one in the newest structures, whose checksums most mutants of theirs get corrected. */
#define _GNU_SOURCE
#include "tests/io/repack.h"
#include "io/hdf5/attribute.h"
#include "io/hdf5/tree.h"
#include <fmo/dataset.h>

#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

enum { FILES = 4, WORKERS_MAX = 64, SECONDS_MAX = 5, MEMORY_MAX = 200 << 20, NAME_SIZE = 160 };

typedef struct honest {
    char name[NAME_SIZE], path[NAME_SIZE];
    unsigned char *bytes;
    size_t size;
    fmo_h5_claim *claim; /* its structures */
    size_t claim_num;
    fmo_h5_tree tree;
    int descriptor;
    fmo_dataset *dataset;
} honest;

typedef struct counts {
    long refused, same, data, names, types, moved, memory, crashed, slow, dirty;
} counts;

typedef struct worker {
    pid_t pid;
    long at, end, step; /* the case in work */
    counts n;
    double slowest;
    long peak; /* bytes */
} worker;

static honest files[FILES];
static unsigned long long seed_given;

/* --- random numbers ----------------------------------------------------------------------------*/

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t n)
{
    return n ? (size_t)(next_random(state) % n) : 0;
}

/* --- mutations ---------------------------------------------------------------------------------*/

static int is_data(const fmo_h5_claim *claim)
{
    return strcmp(claim->what, "the values of a dataset") == 0 ||
           strcmp(claim->what, "a chunk") == 0;
}

/* A structure that is not data. */
static const fmo_h5_claim *pick(const honest *h, uint64_t *r)
{
    for (int i = 0; i < 100000; i++) {
        const fmo_h5_claim *claim = &h->claim[below(r, h->claim_num)];
        if (!is_data(claim)) return claim;
    }
    return &h->claim[0];
}

static void flip_bytes(unsigned char *bytes, size_t size, uint64_t *r)
{
    for (size_t n = 1 + below(r, 12); n > 0; n--) {
        size_t at = below(r, size), how = below(r, 4);
        unsigned char value = (unsigned char)next_random(r);
        bytes[at] = how == 0   ? bytes[at] ^ (unsigned char)(1 << value % 8)
                    : how == 1 ? 0
                    : how == 2 ? 255
                               : value;
    }
}

/* Changes one to three words of a structure; its checksum is corrected if it has one. */
static void change_structure(const honest *h, unsigned char *bytes, size_t size, uint64_t *r)
{
    static const uint64_t special[] = {
        0,          1,          2,    3,    4,        7,          8,         15,        16,
        32,         64,         255,  256,  512,      4096,       65535,     65536,     1 << 20,
        0x7fffffff, 0x80000000, 1e10, 1e15, 1u << 30, 0xffffffff, INT64_MAX, UINT64_MAX};
    const fmo_h5_claim *claim = pick(h, r);
    size_t length = (size_t)(claim->end - claim->begin);
    for (size_t n = 1 + below(r, 3); n > 0; n--) {
        size_t width = (size_t)1 << below(r, 4);
        size_t at = (size_t)claim->begin + below(r, length) / (below(r, 4) ? 8 : 1) * 1;
        if (below(r, 2)) at = at / width * width;
        if (at + width > size) continue;
        uint64_t value = 0;
        memcpy(&value, bytes + at, width);
        switch (below(r, 6)) {
        case 0:
            value ^= (uint64_t)1 << below(r, 8 * width);
            break;
        case 1:
            value += below(r, 2) ? 1 : UINT64_MAX;
            break;
        case 2:
            value = special[below(r, sizeof special / sizeof special[0])];
            break;
        case 3: /* near another structure, or the end */
            value = below(r, 4) ? h->claim[below(r, h->claim_num)].begin : size - below(r, 64);
            break;
        case 4:
            value += 8 * below(r, 64);
            break;
        default:
            value = next_random(r);
        }
        memcpy(bytes + at, &value, width);
    }
    if (strlen(claim->what) == 4 && length > 8 && below(r, 8)) {
        uint32_t sum = fmo_checksum(bytes + claim->begin, length - 4);
        memcpy(bytes + claim->end - 4, &sum, 4);
    }
}

/* Replaces bytes by others of this or another file, or moves them. */
static void splice_in(const honest *h, unsigned char *bytes, size_t size, uint64_t *r)
{
    const honest *from = below(r, 2) ? h : &files[below(r, FILES)];
    size_t n = (size_t)8 << below(r, 10), at, to;
    if (below(r, 2)) { /* from structure to structure */
        const fmo_h5_claim *a = pick(from, r), *b = pick(h, r);
        at = (size_t)a->begin;
        to = (size_t)b->begin;
        n = (size_t)((a->end - a->begin < b->end - b->begin ? a->end - a->begin
                                                            : b->end - b->begin));
    } else {
        at = below(r, from->size) / 8 * 8;
        to = below(r, size) / 8 * 8;
    }
    if (n > from->size - at) n = from->size - at;
    if (n > size - to) n = size - to;
    memcpy(bytes + to, from->bytes + at, n);
}

/* Makes case i in bytes (space for the largest file). Returns its size. */
static size_t mutate(long i, const honest **of, unsigned char *bytes)
{
    uint64_t state = seed_given * 0x100000001b3u + (uint64_t)i, *r = &state;
    next_random(r);
    const honest *h = *of = &files[(size_t)i % FILES];
    size_t size = h->size;
    memcpy(bytes, h->bytes, size);
    switch (below(r, 8)) {
    case 0:
    case 1:
        flip_bytes(bytes, size, r);
        break;
    case 2:
    case 3:
    case 4:
    case 5:
        change_structure(h, bytes, size, r);
        break;
    case 6:
        splice_in(h, bytes, size, r);
        break;
    default:
        size = below(r, 4) ? below(r, size) : size - 1 - below(r, 64);
        if (size > 48 && below(r, 2)) { /* and the superblock agrees */
            uint64_t end = size;
            memcpy(bytes + (bytes[8] < 2 ? 40 : 28), &end, 8);
            uint32_t sum = fmo_checksum(bytes, 44);
            if (bytes[8] >= 2) memcpy(bytes + 44, &sum, 4);
        }
    }
    return size;
}

/* --- results --------------------------------------------------------------------------------- */

static int equal(const void *a, const void *b, size_t size)
{
    return (!a && !b) || (a && b && memcmp(a, b, size) == 0);
}

static int equal_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Whether two data sets have the same values, bit by bit. */
static int same_values(const fmo_dataset *a, const fmo_dataset *b)
{
    const fmo_basis_input *p = fmo_dataset_basis_input(a), *q = fmo_dataset_basis_input(b);
    if (p->nucleus_num != q->nucleus_num || p->shell_num != q->shell_num ||
        p->prim_num != q->prim_num || p->ao_num != q->ao_num)
        return 0;
    size_t nuclei = (size_t)p->nucleus_num, shells = (size_t)p->shell_num;
    size_t prims = (size_t)p->prim_num, aos = (size_t)p->ao_num, square = 8 * aos * aos;
    double energy[2] = {fmo_dataset_reference_energy(a), fmo_dataset_reference_energy(b)};
    double repulsion[2] = {fmo_dataset_nuclear_repulsion(a), fmo_dataset_nuclear_repulsion(b)};
    const char *core = fmo_dataset_core_hamiltonian_source(a);
    for (size_t i = 0; i < nuclei; i++)
        if (fmo_dataset_nucleus_number(a, (int)i) != fmo_dataset_nucleus_number(b, (int)i))
            return 0;
    return equal(p->nucleus_charge, q->nucleus_charge, 8 * nuclei) &&
           equal(p->nucleus_coord, q->nucleus_coord, 24 * nuclei) &&
           equal(p->shell_nucleus, q->shell_nucleus, 4 * shells) &&
           equal(p->shell_ang_mom, q->shell_ang_mom, 4 * shells) &&
           equal(p->prim_shell, q->prim_shell, 4 * prims) &&
           equal(p->prim_exponent, q->prim_exponent, 8 * prims) &&
           equal(p->prim_coefficient, q->prim_coefficient, 8 * prims) &&
           equal(p->ao_shell, q->ao_shell, 4 * aos) &&
           equal(p->ao_component, q->ao_component, 4 * aos) &&
           equal(p->ao_factor, q->ao_factor, 8 * aos) &&
           equal(fmo_dataset_density(a), fmo_dataset_density(b), square) &&
           equal(fmo_dataset_reference_coulomb(a), fmo_dataset_reference_coulomb(b), square) &&
           equal(fmo_dataset_reference_exchange(a), fmo_dataset_reference_exchange(b), square) &&
           equal(fmo_dataset_reference_fock_2e(a), fmo_dataset_reference_fock_2e(b), square) &&
           equal(&energy[0], &energy[1], 8) && equal(&repulsion[0], &repulsion[1], 8) &&
           fmo_dataset_electron_num(a) == fmo_dataset_electron_num(b) &&
           equal_text(fmo_dataset_density_source(a), fmo_dataset_density_source(b)) &&
           equal_text(core, fmo_dataset_core_hamiltonian_source(b)) &&
           (equal_text(core, "computed") ||
            equal(fmo_dataset_core_hamiltonian(a), fmo_dataset_core_hamiltonian(b), square)) &&
           equal_text(fmo_dataset_basis_name(a), fmo_dataset_basis_name(b));
}

enum { DIFFERS_DATA, DIFFERS_NAMES = 1, DIFFERS_TYPES = 2, DIFFERS_STORAGE = 4 };

static const fmo_h5_node *node_of(const fmo_h5_tree *tree, const fmo_h5_link *link)
{
    return &tree->node[link->node];
}

static int compare_datasets(const fmo_h5_dataset *a, const fmo_h5_dataset *b)
{
    int found = 0;
    if (a->type.class != b->type.class || a->type.size != b->type.size ||
        a->type.big != b->type.big || a->type.is_signed != b->type.is_signed)
        found |= DIFFERS_TYPES;
    if (a->space.values != b->space.values || a->storage != b->storage || a->stored != b->stored ||
        a->chunk_num != b->chunk_num || a->chunks_there != b->chunks_there ||
        (a->storage == FMO_H5_CONTIGUOUS && a->address != b->address) ||
        a->filter_num != b->filter_num || memcmp(a->filter, b->filter, sizeof a->filter) != 0)
        found |= DIFFERS_STORAGE;
    else
        for (size_t i = 0; i < a->chunks_there; i++)
            if (a->chunk[i].at != b->chunk[i].at || a->chunk[i].address != b->chunk[i].address ||
                a->chunk[i].size != b->chunk[i].size || a->chunk[i].mask != b->chunk[i].mask)
                found |= DIFFERS_STORAGE;
    return found;
}

/* Names and types of attributes, in the order of the messages. */
static int compare_attributes(const fmo_h5_object *a, const fmo_h5_object *b)
{
    int found = 0;
    if (a->message_num != b->message_num) return DIFFERS_NAMES;
    for (size_t i = 0; i < a->message_num; i++) {
        const fmo_h5_message *m = &a->message[i], *k = &b->message[i];
        if (m->type != k->type) return DIFFERS_NAMES;
        if (m->type != FMO_H5_ATTRIBUTE) continue;
        if (m->size < 8 || k->size < 8) return DIFFERS_NAMES;
        size_t pad = m->bytes[0] == 1 ? 8 : 1, head = m->bytes[0] == 3 ? 9 : 8;
        size_t name = (fmo_little_endian(m->bytes + 2, 2) + pad - 1) / pad * pad;
        size_t type = (fmo_little_endian(m->bytes + 4, 2) + pad - 1) / pad * pad;
        size_t space = (fmo_little_endian(m->bytes + 6, 2) + pad - 1) / pad * pad;
        if (m->size != k->size || m->size < head + name + type + space ||
            memcmp(m->bytes, k->bytes, head + name) != 0)
            found |= DIFFERS_NAMES;
        else if (memcmp(m->bytes + head + name, k->bytes + head + name, type + space) != 0)
            found |= DIFFERS_TYPES;
    }
    return found;
}

/* How two groups differ, besides data. */
static int compare_groups(const fmo_h5_tree *a, const fmo_h5_node *p, const fmo_h5_tree *b,
                          const fmo_h5_node *q, int depth)
{
    int found = compare_attributes(&p->object, &q->object);
    if (p->link_num != q->link_num) found |= DIFFERS_NAMES;
    for (size_t i = 0; i < p->link_num && depth < 8; i++) {
        const fmo_h5_link *link = &p->link[i], *other = fmo_h5_tree_link(q, link->name);
        if (!other || other->hard != link->hard) {
            found |= DIFFERS_NAMES;
            continue;
        }
        if (!link->hard) continue;
        const fmo_h5_node *c = node_of(a, link), *d = node_of(b, other);
        if (c->kind != d->kind)
            found |= DIFFERS_STORAGE;
        else if (c->kind == FMO_H5_GROUP)
            found |= compare_groups(a, c, b, d, depth + 1);
        else if (c->kind == FMO_H5_DATASET)
            found |= compare_datasets(&c->dataset, &d->dataset) |
                     compare_attributes(&c->object, &d->object);
    }
    return found;
}

/* Classifies a mutant that was read: the same values, other data in the same places, other names or
 * types, or values from elsewhere in the file, which is a failure. */
static void judge(worker *w, const honest *h, const char *path, size_t size,
                  const fmo_dataset *dataset)
{
    if (same_values(h->dataset, dataset)) {
        w->n.same++;
        return;
    }
    fmo_h5_tree tree;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC), found = DIFFERS_STORAGE;
    if (fmo_h5_tree_read(&tree, descriptor, size) == FMO_H5_OK)
        found = compare_groups(&h->tree, &h->tree.node[0], &tree, &tree.node[0], 0);
    fmo_h5_tree_free(&tree);
    close(descriptor);
    w->n.data += found == DIFFERS_DATA;
    w->n.types += found == DIFFERS_TYPES;
    w->n.names += (found & DIFFERS_NAMES) && !(found & DIFFERS_STORAGE);
    if (found & DIFFERS_STORAGE) {
        w->n.moved++;
        printf("case %ld (%s): read, with values from elsewhere\n", w->at, h->name);
    } else if (found != DIFFERS_DATA && getenv("FMO_TEST_VERBOSE"))
        printf("case %ld (%s): read, with other %s\n", w->at, h->name,
               found & DIFFERS_NAMES ? "names" : "types");
}

/* --- workers -----------------------------------------------------------------------------------*/

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static long memory_now(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Writes one mutant and reads it under a time limit; a refusal must be one clean line that names
 * the file. */
static void try_case(worker *w, const char *path, int file, unsigned char *bytes)
{
    const honest *h;
    size_t size = mutate(w->at, &h, bytes);
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = NULL;
    if (pwrite(file, bytes, size, 0) != (ssize_t)size || ftruncate(file, (off_t)size) != 0)
        _exit(9);
    struct itimerval limit = {{0, 0}, {SANITIZED ? 60 : SECONDS_MAX, 0}}, none = {{0, 0}, {0, 0}};
    double start = cpu_seconds();
    setitimer(ITIMER_PROF, &limit, NULL); /* SIGPROF ends the process */
    fmo_status status = fmo_dataset_read(path, &dataset, &err);
    setitimer(ITIMER_PROF, &none, NULL);
    double seconds = cpu_seconds() - start;
    if (seconds > w->slowest) w->slowest = seconds;
    int dirty = (status == FMO_OK) != (dataset != NULL);
    if (status != FMO_OK) {
        dirty |= strncmp(err.message, path, strlen(path)) != 0;
        for (const char *c = err.message; *c; c++) dirty |= (unsigned char)*c < ' ';
        w->n.refused++;
        w->n.memory += status == FMO_ERR_MEMORY;
    }
    if (dirty || status == FMO_ERR_MEMORY)
        printf("case %ld (%s): status %d, '%s'\n", w->at, h->name, (int)status, err.message);
    w->n.dirty += dirty;
    if (dataset) judge(w, h, path, size, dataset);
    fmo_dataset_destroy(dataset);
}

/* Runs the cases of one worker process under a memory limit. */
static void work(worker *w, int number)
{
    char path[64];
    size_t capacity = 0;
    snprintf(path, sizeof path, "%s/fmo-mutants-%d-%ld.h5",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", number, (long)getppid());
    for (int i = 0; i < FILES; i++)
        if (files[i].size > capacity) capacity = files[i].size;
    unsigned char *bytes = malloc(capacity + 64);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || !bytes) _exit(9);
    long before = memory_now();
    struct rlimit memory = {(rlim_t)(before + MEMORY_MAX), (rlim_t)(before + MEMORY_MAX)};
    if (!SANITIZED) setrlimit(RLIMIT_AS, &memory);
    for (; w->at < w->end; w->at += w->step) try_case(w, path, file, bytes);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    w->peak = usage.ru_maxrss * 1024;
    free(bytes);
    unlink(path);
    exit(0); /* with the checks of a sanitizer */
}

static void start(worker *w, int number)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) work(w, number);
    if (pid < 0) exit(1);
    w->pid = pid; /* w is shared with the child: the parent alone writes this */
}

/* Waits until every worker has finished, and restarts those that crashed. */
static void run(worker *workers, int n)
{
    int running = n;
    for (int i = 0; i < n; i++) start(&workers[i], i);
    while (running > 0) {
        int status;
        pid_t pid = wait(&status);
        if (pid < 0) exit(1);
        for (int i = 0; i < n; i++) {
            worker *w = &workers[i];
            if (w->pid != pid) continue;
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
                running--;
                continue;
            }
            int slow = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
            printf("case %ld: %s %d\n", w->at, WIFSIGNALED(status) ? "signal" : "exit",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            w->n.slow += slow;
            w->n.crashed += !slow;
            w->at += w->step;
            if (WIFEXITED(status) && w->at >= w->end)
                running--;
            else
                start(w, i);
        }
    }
}

/* --- valid files ----------------------------------------------------------------------------- */

/* Loads a valid file, stored again as `how` describes if it is given, and finds its structures. */
static void load(honest *h, const char *name, const char *source, const char *folder,
                 const io_storage *how)
{
    fmo_error err = {FMO_OK, ""};
    struct stat info;
    snprintf(h->name, sizeof h->name, "%s", name);
    if (how) {
        snprintf(h->path, sizeof h->path, "%s/%s.h5", folder, name);
        io_repack(source, h->path, how);
    } else
        snprintf(h->path, sizeof h->path, "%s", source);
    h->descriptor = open(h->path, O_RDONLY | O_CLOEXEC);
    if (h->descriptor < 0 || fstat(h->descriptor, &info) != 0) exit(1);
    h->size = (size_t)info.st_size;
    h->bytes = malloc(h->size);
    if (!h->bytes || pread(h->descriptor, h->bytes, h->size, 0) != (ssize_t)h->size) exit(1);
    if (fmo_h5_tree_read(&h->tree, h->descriptor, h->size) != FMO_H5_OK ||
        fmo_dataset_read(h->path, &h->dataset, &err) != FMO_OK) {
        fprintf(stderr, "%s: %s%s\n", h->name, err.message, h->tree.file.why);
        exit(1);
    }
    h->claim = h->tree.file.claim;
    h->claim_num = h->tree.file.claim_num;
    if (how) unlink(h->path);
    printf("%-24s %8zu bytes, %zu structures\n", h->name, h->size, h->claim_num);
}

static void load_all(void)
{
    static const io_storage newest = {.latest = 1,
                                      .chunk = 4,
                                      .deflate = 6,
                                      .shuffle = 1,
                                      .fletcher = 1,
                                      .grow = 1,
                                      .attributes = 12};
    static const io_storage packed = {.chunk = 20, .deflate = 6, .shuffle = 1};
    char folder[] = "/tmp/fmo-mutants-XXXXXX";
    if (!mkdtemp(folder)) exit(1);
    load(&files[0], "h2o_sto-3g", FMO_DATASET_DIR "/h2o_sto-3g.h5", folder, NULL);
    load(&files[1], "h2o8_sto-3g", FMO_DATASET_DIR "/h2o8_sto-3g.h5", folder, NULL);
    load(&files[2], "h2o_sto-3g_newest", FMO_DATASET_DIR "/h2o_sto-3g.h5", folder, &newest);
    load(&files[3], "h2o8_sto-3g_packed", FMO_DATASET_DIR "/h2o8_sto-3g.h5", folder, &packed);
    rmdir(folder);
}

/* Divides the cases among worker processes and adds up their results: [CASES [SEED [FIRST]]]. */
int main(int argc, char **argv)
{
    long cases = argc > 1 ? atol(argv[1]) : 2000, first = argc > 3 ? atol(argv[3]) : 0;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    int n = cpus < 1 ? 1 : cpus > WORKERS_MAX ? WORKERS_MAX : (int)cpus;
    omp_set_num_threads(1); /* a child of a process with threads would wait for them */
    seed_given = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    load_all();
    worker *workers = mmap(NULL, sizeof *workers * WORKERS_MAX, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (workers == MAP_FAILED) return 1;
    for (int i = 0; i < n; i++)
        workers[i] = (worker){.at = first + i, .end = first + cases, .step = n};
    run(workers, n);
    counts all = {0};
    double slowest = 0.0;
    long peak = 0;
    for (int i = 0; i < n; i++) {
        const counts *c = &workers[i].n;
        all.refused += c->refused, all.same += c->same, all.data += c->data;
        all.names += c->names, all.types += c->types, all.moved += c->moved;
        all.memory += c->memory, all.crashed += c->crashed, all.slow += c->slow;
        all.dirty += c->dirty;
        if (workers[i].slowest > slowest) slowest = workers[i].slowest;
        if (workers[i].peak > peak) peak = workers[i].peak;
    }
    printf("%ld mutants, seed %llu: %ld refused, %ld read with the honest file's values, %ld with "
           "other data in the same places,\n%ld with other names, %ld with other types; slowest "
           "%.3f s, peak %.1f MB\n",
           cases, seed_given, all.refused, all.same, all.data, all.names, all.types, slowest,
           (double)peak / 1e6);
    long failed = all.crashed + all.slow + all.memory + all.moved + all.dirty;
    printf("%ld signals, %ld beyond %d s, %ld beyond %d MB, %ld with data that are not there, %ld "
           "bad messages\n",
           all.crashed, all.slow, SECONDS_MAX, all.memory, MEMORY_MAX >> 20, all.moved, all.dirty);
    return failed ? 1 : 0;
}
