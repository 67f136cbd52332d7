/* fmo_fock_workspace against what is really allocated: malloc and related functions are replaced,
 * in the whole program, by versions that count. */
#include <malloc.h>
#include <stdatomic.h>

#include <fmo/dataset.h>

#include "tests/support/calls.h"
#include "tests/support/shipped.h"
#include "tests/support/system.h"

/* The estimate may be this much above what is counted, never below. */
static const double factor = 1.2;
enum { SLACK = 12288 }; /* bytes: what malloc rounds up to, small things of libgomp */

static _Atomic long in_use, peak;

static void count(void *memory)
{
    if (!memory) return;
    const long now = atomic_fetch_add(&in_use, (long)malloc_usable_size(memory)) +
                     (long)malloc_usable_size(memory);
    long seen = atomic_load(&peak);
    while (now > seen && !atomic_compare_exchange_weak(&peak, &seen, now)) continue;
}

static void discount(void *memory)
{
    if (memory) atomic_fetch_sub(&in_use, (long)malloc_usable_size(memory));
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t num, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

void *malloc(size_t size)
{
    void *memory = __libc_malloc(size);
    count(memory);
    return memory;
}

void *calloc(size_t num, size_t size)
{
    void *memory = __libc_calloc(num, size);
    count(memory);
    return memory;
}

void *realloc(void *memory, size_t size)
{
    discount(memory);
    void *moved = __libc_realloc(memory, size);
    count(moved ? moved : memory);
    return moved;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    void *memory = __libc_memalign(alignment, size);
    count(memory);
    return memory;
}

void free(void *memory)
{
    discount(memory);
    __libc_free(memory);
}

static unsigned long long seed = 99;

/* Most bytes in use at once for a plan and a build, beyond those in use before. */
static long counted(const fmo_basis *basis, const fmo_fock_options *o, const double *D, double *J,
                    double *K)
{
    const long before = atomic_load(&in_use);
    atomic_store(&peak, before);
    fock_build(basis, o, D, J, K, NULL);
    return atomic_load(&peak) - before;
}

/* The bytes that fmo_fock_workspace reports cover those that a plan and a build allocate, and are
 * not much more. */
static void compare(const char *name, const fmo_basis *basis, fmo_mode mode, fmo_reduce reduce,
                    fmo_coulomb coulomb, int threads, double cutoff)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    double *D = random_density((int)n, 1.0, &seed), *J = malloc(2 * n * n * sizeof *J);
    fmo_error err = {FMO_OK, ""};
    fmo_fock_memory memory = {1, 1};
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = mode;
    o.reduce = reduce;
    o.coulomb = coulomb;
    o.threads = threads;
    o.cutoff = cutoff;
    counted(basis, &o, D, J, J + n * n); /* creates the threads and buffers of other libraries */
    const long bytes = counted(basis, &o, D, J, J + n * n);
    CHECK(fmo_fock_workspace(basis, &o, &memory, &err) == FMO_OK, "%s", err.message);
    printf("%-14s %-9s %-6s %d threads, cutoff %-5g: %9zu bytes reported, %9ld counted\n", name,
           fmo_mode_name(mode), fmo_reduce_name(reduce), threads, cutoff, memory.host_bytes, bytes);
    CHECK((double)memory.host_bytes + SLACK >= (double)bytes &&
              (double)memory.host_bytes <= factor * (double)bytes + SLACK,
          "%s: %zu bytes reported, %ld counted", name, memory.host_bytes, bytes);
    CHECK(memory.device_bytes == 0, "%zu bytes on a GPU", memory.device_bytes);
    free(D);
    free(J);
}

static void compare_all(const char *name, const fmo_basis *basis, int uncut)
{
    for (int threads = 1; threads <= 4; threads += 3) {
        compare(name, basis, FMO_MODE_CPU, FMO_REDUCE_TREE, FMO_COULOMB_AUTO, threads, 1e-10);
        compare(name, basis, FMO_MODE_CPU, FMO_REDUCE_ATOMIC, FMO_COULOMB_AUTO, threads, 1e-10);
    }
    if (uncut) compare(name, basis, FMO_MODE_CPU, FMO_REDUCE_TREE, FMO_COULOMB_AUTO, 2, 0.0);
    if (fmo_basis_ao_num(basis) <= 20)
        compare(name, basis, FMO_MODE_REFERENCE, FMO_REDUCE_TREE, FMO_COULOMB_AUTO, 1, 1e-10);
}

/* options.memory in mode cpu: a build allocates less than the limit, J and K are unchanged, and the
 * profile reports what was given up; below what one thread needs a plan is refused. */
static void check_limit(const char *name, const fmo_basis *basis, fmo_scatter scatter)
{
    enum { THREADS = 6 };
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    double *D = random_density((int)n, 1.0, &seed), *J = malloc(4 * n * n * sizeof *J);
    double *const expected = J + 2 * n * n;
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_fock_profile profile;
    fmo_error err = {FMO_OK, ""};
    int shared = 0, fewer = 0, refused = 0, unlimited = 0;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.threads = THREADS;
    o.scatter = scatter;
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK &&
              fmo_fock_build(plan, D, expected, expected + n * n, &err) == FMO_OK &&
              fmo_fock_plan_profile(plan, &profile, &err) == FMO_OK && !*profile.notice,
          "%s %s", err.message, profile.notice);
    fmo_fock_plan_destroy(plan);
    for (o.memory = 16384; o.memory < (size_t)1 << 28; o.memory += o.memory / 6) {
        err = (fmo_error){FMO_OK, ""};
        if (fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_ERR_MEMORY) {
            refused++;
            CHECK(strstr(err.message, "mode cpu needs") && strstr(err.message, "MB") && !shared &&
                      !fewer && !unlimited,
                  "%zu bytes: %s", o.memory, err.message);
            continue;
        }
        CHECK(err.status == FMO_OK, "%s", err.message);
        CHECK(fmo_fock_build(plan, D, J, J + n * n, &err) == FMO_OK, "%s", err.message);
        const long before =
            atomic_load(&in_use); /* the second build, after threads have been created */
        atomic_store(&peak, before);
        CHECK(fmo_fock_build(plan, D, J, J + n * n, &err) == FMO_OK &&
                  fmo_fock_plan_profile(plan, &profile, &err) == FMO_OK,
              "%s", err.message);
        const long bytes = atomic_load(&peak) - before;
        CHECK(bytes <= (long)o.memory + SLACK, "%s: a build took %ld bytes of %zu", name, bytes,
              o.memory);
        const int all = profile.threads == THREADS && !*profile.notice;
        unlimited += all;
        fewer += profile.threads < THREADS;
        shared += profile.threads == THREADS && !all;
        CHECK(all || strstr(profile.notice, "copies of the Fock matrix"), "notice: %s",
              profile.notice);
        if (scatter == FMO_SCATTER_FIXED)
            CHECK(memcmp(J, expected, 2 * n * n * sizeof *J) == 0,
                  "%s: fixed differs with %zu bytes", name, o.memory);
        check_close(name, J, expected, 2 * n * n, n, 1e-11, 1e-13);
        fmo_fock_plan_destroy(plan);
    }
    printf("%-14s limits: %d refused, %d with fewer threads, %d with shared matrices, %d as "
           "requested\n",
           name, refused, fewer, shared, unlimited);
    CHECK(refused && fewer && shared && unlimited, "%s: some case did not occur", name);
    free(D);
    free(J);
}

/* Wrong arguments are refused without a write; the workspace is reported even where the memory
 * limit refuses a plan. */
static void check_refusals(const fmo_basis *basis)
{
    fmo_fock_options o;
    fmo_fock_memory memory = {7, 8};
    fmo_error err = {FMO_OK, ""};
    CHECK_REFUSED(fmo_fock_workspace(NULL, NULL, &memory, &err), &err, FMO_ERR_ARGUMENT,
                  "fmo_fock_workspace");
    CHECK(fmo_fock_workspace(basis, NULL, NULL, NULL) == FMO_ERR_ARGUMENT, "no memory");
    fmo_fock_options_init(&o);
    o.cutoff = -1.0;
    CHECK_REFUSED(fmo_fock_workspace(basis, &o, &memory, &err), &err, FMO_ERR_ARGUMENT, "cutoff");
    CHECK(memory.host_bytes == 7 && memory.device_bytes == 8, "written on error");

    /* The workspace is reported although a plan would be refused for lack of memory. */
    fmo_fock_plan *plan = NULL;
    const double n = fmo_basis_ao_num(basis);
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_REFERENCE;
    o.memory = 1;
    CHECK(fmo_fock_plan_create(basis, &o, &plan, NULL) == FMO_ERR_MEMORY, "a plan in one byte");
    CHECK(fmo_fock_workspace(basis, &o, &memory, NULL) == FMO_OK &&
              (double)memory.host_bytes >= 8 * n * n * n * n,
          "%zu bytes for all integrals", memory.host_bytes);
}

/* Runs the checks on four data sets and on a molecule whose shells are far apart. */
int main(void)
{
    static const char *const names[] = {"he_sto-3g", "h2o_6-31g", "h2o8_sto-3g", "h2o8_6-31g"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        fmo_dataset *const dataset = read_shipped(names[k]);
        if (!dataset) continue;
        compare_all(names[k], fmo_dataset_basis(dataset), k < 3);
        if (k == 3) check_limit(names[k], fmo_dataset_basis(dataset), FMO_SCATTER_AUTO);
        if (k == 2) check_limit(names[k], fmo_dataset_basis(dataset), FMO_SCATTER_FIXED);
        if (k == 1) check_refusals(fmo_dataset_basis(dataset));
        fmo_dataset_destroy(dataset);
    }
    /* Far apart and of many primitives: most pairs are pruned away. */
    static test_system s;
    system_random(&s, 40, 50, 20, 4, 60.0, &seed);
    fmo_basis *wide = system_basis(&s);
    CHECK(wide, "no basis");
    if (wide) compare_all("wide", wide, 0);
    for (int threads = 1; wide && threads <= 4; threads += 3)
        compare("wide, boxes", wide, FMO_MODE_CPU, FMO_REDUCE_TREE, FMO_COULOMB_BOXES, threads,
                1e-10);
    fmo_basis_destroy(wide);
    return check_summary();
}
