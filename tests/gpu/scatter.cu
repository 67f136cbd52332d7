/* Every element strategy, commit and type against a serial sum: sums, old values, numbers of
 * atomics, under whole and partial warps, random masks, divergent branches and loops; special
 * values; bit equality of fixed over launch shapes. FMO_TEST_SMALL=1: fewer cases, for
 * compute-sanitizer. The serial model (groups of lanes) is in count_groups(). */
#include "tests/gpu/scatter_cases.cuh"

#include <float.h>
#include <limits.h>
#include <algorithm>

/* Sums of the model: unsigned for int (mod 2^32), double with a tolerance else. */
template <typename T> struct model;
template <> struct model<int> {
    typedef unsigned sum;
    static bool same(sum a, sum b, double) { return a == b; }
    static double magnitude(int) { return 0.0; }
};
template <> struct model<float> {
    typedef double sum;
    static bool same(sum a, sum b, double m) { return fabs(a - b) <= 32.0 * FLT_EPSILON * m; }
    static double magnitude(float v) { return fabs((double)v); }
};
template <> struct model<double> {
    typedef double sum;
    static bool same(sum a, sum b, double m) { return fabs(a - b) <= 32.0 * DBL_EPSILON * m; }
    static double magnitude(double v) { return fabs(v); }
};

/* A working thread in a call, and a group of them. */
typedef struct {
    int call, address, thread, element;
} member;
template <typename T> struct link {
    int address;
    T base;
    typename model<T>::sum sum;
    double magnitude;
};

/* Groups of the last run, in the serial order: highest thread first. Returns how many there are.
 * With old values: inside a group each must be the one before plus that one's value, and the
 * groups of one address must chain up. */
template <typename T> static long count_groups(const test_case *c, form kind, bool fetch, long *bad)
{
    typedef typename model<T>::sum sum;
    static member members[ELEMENTS_MAX];
    static link<T> links[ELEMENTS_MAX];
    const buffers<T> *h = &host<T>;
    const int total = c->threads * c->blocks, warps = (c->threads + 31) / 32;
    int num = 0;
    for (int e = 0; e < ROUNDS * total; e++) {
        if (h->index[e] < 0) continue;
        const int round = e / total, block = e % total / c->threads,
                  thread = e % total % c->threads;
        int call = round * c->blocks + block;
        if (kind.span) {
            call = (call * warps + thread / 32) * 3;
            if (c->how == SHAPE_BRANCHES) call += branch_of(e);
            call = call * 32 + thread % 32 / kind.span;
        }
        members[num++] = member{call, h->index[e], thread, e};
    }
    std::sort(members, members + num, [kind](const member &a, const member &b) {
        if (a.call != b.call) return a.call < b.call;
        if (!kind.runs && a.address != b.address) return a.address < b.address;
        return a.thread > b.thread;
    });

    long groups = 0;
    *bad = 0;
    for (int first = 0, next; first < num; first = next) {
        const member *m = members + first;
        const T base = h->old[m->element];
        sum above = 0;
        double magnitude = model<T>::magnitude(base);
        for (next = first; next < num; next++) {
            const member *n = members + next;
            if (next > first && (n->call != m->call || n->address != m->address ||
                                 (kind.runs && n->thread != n[-1].thread - 1)))
                break;
            if (fetch && !model<T>::same((sum)h->old[n->element], (sum)base + above, magnitude))
                ++*bad;
            above += (sum)h->value[n->element];
            magnitude += model<T>::magnitude(h->value[n->element]);
        }
        links[groups++] = link<T>{m->address, base, above, magnitude};
    }
    if (!fetch || !c->positive) return groups;

    std::sort(links, links + groups, [](const link<T> &a, const link<T> &b) {
        return a.address != b.address ? a.address < b.address : a.base < b.base;
    });
    for (long g = 0; g < groups; g++) {
        const link<T> *l = links + g;
        const bool begins = !g || l[-1].address != l->address;
        const bool ends = g + 1 == groups || l[1].address != l->address;
        if (begins && l->base != (T)3) ++*bad;
        const T after = ends ? h->bins[l->address] : l[1].base;
        if (!model<T>::same((sum)after, (sum)l->base + l->sum, l->magnitude)) ++*bad;
    }
    return groups;
}

/* Sums of all bins against a serial sum. */
template <typename T> static long wrong_bins(const test_case *c, double eps)
{
    typedef typename model<T>::sum sum;
    static sum reference[BINS_MAX];
    static double magnitude[BINS_MAX];
    static int count[BINS_MAX];
    const buffers<T> *h = &host<T>;
    for (int i = 0; i < BINS_MAX; i++) reference[i] = 3, magnitude[i] = 3.0, count[i] = 2;
    for (int e = 0; e < ROUNDS * c->threads * c->blocks; e++) {
        if (h->index[e] < 0) continue;
        reference[h->index[e]] += (sum)h->value[e];
        magnitude[h->index[e]] += model<T>::magnitude(h->value[e]);
        count[h->index[e]]++;
    }
    long bad = 0;
    for (int i = 0; i < BINS_MAX; i++) {
        const sum got = (sum)h->bins[i];
        const sum off = got > reference[i] ? got - reference[i] : reference[i] - got;
        bad += !((double)off <= eps * count[i] * magnitude[i]);
    }
    return bad;
}

static double epsilon(int)
{
    return 0.0;
}
static double epsilon(float)
{
    return FLT_EPSILON;
}
static double epsilon(double)
{
    return DBL_EPSILON;
}

/* Runs one case and compares sums, old values and the number of atomics with serial code. */
template <bool Fetch, class S, typename T>
static void run_case(const char *name, form kind, const test_case *c)
{
    char label[160];
    snprintf(label, sizeof label, "%s%s, %zu bytes: %d x %d threads, %d bins, %s, %s, %s", name,
             Fetch ? " (old values)" : "", sizeof(T), c->blocks, c->threads, c->bins,
             shape_name[c->how], active_name[c->who], pattern_name[c->where]);
    fill<T>(c);
    upload<T>();
    add_kernel<Fetch><<<c->blocks, c->threads>>>(S(), device<T>, c->how);
    download<T>();
    long bad_old, issued = 0;
    const long bad = wrong_bins<T>(c, epsilon(T()));
    const long groups = count_groups<T>(c, kind, Fetch, &bad_old);
    CHECK(bad == 0, "%s: %ld wrong sums", label, bad);
    CHECK(bad_old == 0, "%s: %ld wrong old values", label, bad_old);
    if (!Fetch) {
        for (int e = 0; e < ROUNDS * c->threads * c->blocks; e++) issued += host<T>.issued[e];
        CHECK(issued == groups, "%s: %ld atomics, not %ld", label, issued, groups);
    }
}

static const int bins_list[] = {1, 2, 3, 31, 32, 33, 1000};
static const int launch_list[][2] = {{1, 1},   {31, 1},   {32, 1},   {33, 2},  {63, 2},  {64, 3},
                                     {127, 2}, {128, 3},  {129, 2},  {256, 3}, {257, 1}, {512, 2},
                                     {992, 1}, {1000, 2}, {1024, 1}, {1024, 2}};
enum { NUM_BINS = sizeof bins_list / sizeof *bins_list };
enum { NUM_LAUNCH = sizeof launch_list / sizeof *launch_list };

/* Runs a strategy with every shape, pattern and number of bins. */
template <class S, typename T> static void test_strategy(const char *name, form kind)
{
    int number = 0;
    for (int how = 0; how < SHAPES; how++) {
        for (int where = 0; where < PATTERNS; where++) {
            for (int b = 0; b < NUM_BINS; b++) {
                number++;
                if (small_run && number % 8) continue;
                if (S::block_wide && how != SHAPE_STRAIGHT) continue;
                const int *launch = launch_list[number * 5 % NUM_LAUNCH];
                const test_case c = {launch[0],
                                     launch[1],
                                     bins_list[b],
                                     (shape)how,
                                     (active)random_below(ACTIVES),
                                     (pattern)where,
                                     random_below(4) != 0};
                run_case<false, S, T>(name, kind, &c);
                run_case<true, S, T>(name, kind, &c);
            }
        }
    }
}

/* Not-a-number, infinities, minus zero, subnormal numbers: 32 lanes to one bin. */
template <class S, typename T> static T add_special(const T *value, int num, T begin)
{
    buffers<T> *h = &host<T>;
    for (int e = 0; e < ROUNDS * 32; e++) {
        h->index[e] = e < num ? 0 : -1;
        h->value[e] = e < num ? value[e % 32] : (T)0;
    }
    h->bins[0] = begin;
    upload<T>();
    add_kernel<false><<<1, 32>>>(S(), device<T>, SHAPE_STRAIGHT);
    download<T>();
    return h->bins[0];
}

/* NaN, infinities, negative zero and subnormal numbers are added as IEEE 754 says. */
template <class S, typename T> static void test_special(const char *name, T tiny, bool flushes)
{
    T v[32];
    for (int lanes = 1; lanes <= 32; lanes += 31) {
        for (int i = 0; i < 32; i++) v[i] = i == lanes - 1 ? (T)NAN : (T)1;
        CHECK(isnan(add_special<S>(v, lanes, (T)0)), "%s: NaN, %d lanes", name, lanes);
        for (int i = 0; i < 32; i++) v[i] = (T)1;
        CHECK(isnan(add_special<S>(v, lanes, (T)NAN)), "%s: to NaN, %d lanes", name, lanes);
        for (int i = 0; i < 32; i++) v[i] = i == lanes - 1 ? (T)-INFINITY : (T)1;
        T got = add_special<S>(v, lanes, (T)1);
        CHECK(isinf(got) && got < 0, "%s: -inf, %d lanes: %g", name, lanes, (double)got);
        CHECK(isnan(add_special<S>(v, lanes, (T)INFINITY)), "%s: inf - inf, %d lanes", name, lanes);
        for (int i = 0; i < 32; i++) v[i] = (T)-0.0;
        got = add_special<S>(v, lanes, (T)-0.0);
        CHECK(got == 0 && signbit(got), "%s: -0, %d lanes: %g", name, lanes, (double)got);
        for (int i = 0; i < 32; i++) v[i] = tiny * (T)(i + 1);
        got = add_special<S>(v, lanes, tiny);
        const T reference = tiny * (T)(1 + lanes * (lanes + 1) / 2);
        CHECK(got == reference || (flushes && got == 0), "%s: subnormal, %d lanes: %g, not %g",
              name, lanes, (double)got, (double)reference);
    }
}

/* Blocks of values: element e adds to block index[e]; values are small integers, exact in T. */
template <class S, typename T> __global__ void block_kernel(S s, buffers<T> *b, int num)
{
    const int element = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const bool works = element < num && b->index[element] >= 0;
    const unsigned mask = __ballot_sync(existing_lanes(), works);
    T value[BLOCK_SIZE];
    for (int n = 0; n < BLOCK_SIZE; n++) value[n] = works ? (T)(b->index[element] + n + 1) : (T)0;
    T *address = works ? b->bins + b->index[element] * BLOCK_SPAN : nullptr;
    if (works || S::block_wide)
        b->issued[element] =
            s.template add_block<BLOCK_ROWS, BLOCK_COLUMNS>(mask, address, BLOCK_STRIDE, value);
}

/* Sums of whole blocks have the right elements, and one atomic for each element of a block. */
template <class S, typename T> static void test_block(const char *name, form kind, S s, T unit)
{
    test_case c = {96, 2, 0, SHAPE_STRAIGHT, ACTIVE_RANDOM, PATTERN_RUNS, 1};
    buffers<T> *h = &host<T>;
    for (c.bins = 1; c.bins <= 33; c.bins += 16) {
        const int total = c.threads * c.blocks, num = total - 5;
        T reference[33 * BLOCK_SPAN] = {};
        fill<T>(&c);
        for (int i = 0; i < BINS_MAX; i++) h->bins[i] = 0;
        for (int e = 0; e < ROUNDS * total; e++) {
            if (e >= num) h->index[e] = -1;
            if (h->index[e] < 0) continue;
            for (int n = 0; n < BLOCK_SIZE; n++)
                reference[h->index[e] * BLOCK_SPAN + n / BLOCK_COLUMNS * BLOCK_STRIDE +
                          n % BLOCK_COLUMNS] += (T)(h->index[e] + n + 1);
        }
        upload<T>();
        block_kernel<<<c.blocks, c.threads>>>(s, device<T>, num);
        download<T>();
        long bad = 0, issued = 0, ignored;
        for (int i = 0; i < 33 * BLOCK_SPAN; i++) {
            T got = h->bins[i];
            if (unit != (T)1) { /* fixed: an integer stands there */
                long long bits;
                memcpy(&bits, &h->bins[i], sizeof(T));
                got = (T)bits / unit;
            }
            bad += got != reference[i];
        }
        for (int e = 0; e < total; e++) issued += h->issued[e];
        CHECK(bad == 0, "%s: %ld wrong sums of blocks, %d bins", name, bad, c.bins);
        if (unit == (T)1) {
            const long groups = count_groups<T>(&c, kind, false, &ignored);
            CHECK(issued == BLOCK_SIZE * groups, "%s: %ld atomics for %ld blocks", name, issued,
                  groups);
        }
    }
}

/* fixed: the same values spread over any launch shape give the same bits. */
__global__ static void fixed_kernel(fmo_scatter_fixed<fmo_commit_native> s, buffers<double> *b,
                                    int num)
{
    const int total = (int)(gridDim.x * blockDim.x);
    for (int first = (int)(blockIdx.x * blockDim.x); first < num; first += total) {
        const int element = first + (int)threadIdx.x;
        const bool works = element < num;
        const unsigned mask = __ballot_sync(~0u, works);
        if (works) b->issued[element] = s.add(mask, b->bins + b->index[element], b->value[element]);
    }
}
__global__ static void fixed_fetch_kernel(fmo_scatter_fixed<fmo_commit_native> s,
                                          buffers<double> *b)
{
    b->old[threadIdx.x] = s.fetch_add(__activemask(), b->bins, 0.25);
    __syncthreads();
    if (threadIdx.x == 0) b->old[blockDim.x] = fmo_fixed_value(b->bins, s.scale);
}

/* `fixed` gives the sums of the scaled integers bit by bit, for any numbers of threads and blocks,
 * and one atomic for each warp with one bin. */
static void test_fixed(void)
{
    const int num = 5000, threads_list[] = {32, 64, 128, 256, 1024};
    const double scale = 0x1p40;
    const fmo_scatter_fixed<fmo_commit_native> s = {scale};
    buffers<double> *h = &host<double>;
    for (int b = 0; b < NUM_BINS; b++) {
        for (int where = PATTERN_RANDOM; where <= PATTERN_RUNS; where++) {
            static long long reference[BINS_MAX];
            memset(reference, 0, sizeof reference);
            int bin = 0;
            for (int e = 0; e < num; e++) {
                if (where == PATTERN_RANDOM || e % 47 == 0) bin = random_below(bins_list[b]);
                h->index[e] = bin;
                /* Widely different magnitudes: as doubles, order would show. */
                h->value[e] = (2.0 * check_random(&random_state) - 1.0) * (e % 3 ? 1e-6 : 1e4);
                reference[bin] += llrint(h->value[e] * scale);
            }
            for (int shape = 0; shape < 10; shape++) {
                if (small_run && shape % 5 != b % 5) continue;
                const int threads = threads_list[shape % 5], blocks = shape < 5 ? 1 : shape;
                memset(h->bins, 0, sizeof h->bins);
                upload<double>();
                fixed_kernel<<<blocks, threads>>>(s, device<double>, num);
                download<double>();
                long atomics = 0, expected = 0;
                for (int e = 0; e < num; e++) atomics += h->issued[e];
                for (int e = 0; e < num; e += 32) {
                    const int end = e + 32 < num ? e + 32 : num;
                    bool uniform = true;
                    for (int o = e; o < end; o++) uniform = uniform && h->index[o] == h->index[e];
                    expected += uniform ? 1 : end - e;
                }
                CHECK(memcmp(reference, h->bins, sizeof reference) == 0,
                      "fixed: not bit-equal, %d bins, %d x %d threads", bins_list[b], blocks,
                      threads);
                CHECK(atomics == expected, "fixed: %ld atomics, not %ld", atomics, expected);
            }
        }
    }
    memset(h->bins, 0, sizeof h->bins);
    upload<double>();
    fixed_fetch_kernel<<<1, 96>>>(s, device<double>);
    download<double>();
    std::sort(h->old, h->old + 97);
    long bad = 0;
    for (int i = 0; i <= 96; i++) bad += h->old[i] != 0.25 * i;
    CHECK(bad == 0, "fixed: %ld wrong old values", bad);
}

/* Strategy none changes neither the bins nor the sink. */
static void test_none(void)
{
    const test_case c = {64, 2, 3, SHAPE_STRAIGHT, ACTIVE_RANDOM, PATTERN_RANDOM, 1};
    unsigned long long *sink, value = 1;
    CUDA_CHECK(cudaMalloc((void **)&sink, sizeof *sink));
    CUDA_CHECK(cudaMemcpy(sink, &value, sizeof value, cudaMemcpyHostToDevice));
    const fmo_scatter_none<fmo_commit_native> s = {sink, 0};
    fill<double>(&c);
    upload<double>();
    add_kernel<false><<<c.blocks, c.threads>>>(s, device<double>, c.how);
    download<double>();
    CUDA_CHECK(cudaMemcpy(&value, sink, sizeof value, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(sink));
    long changed = 0, issued = 0;
    for (int i = 0; i < BINS_MAX; i++) changed += host<double>.bins[i] != 3.0;
    for (int e = 0; e < ROUNDS * 128; e++) issued += host<double>.issued[e];
    CHECK(!changed && !issued && value == 1, "none: %ld bins changed, %ld atomics, sink %llu",
          changed, issued, value);
}

/* The plain functions, from a loop that lanes leave at different times and from two branches.
 * Values are small integers, exact in T: the old values of a bin must chain up. */
template <typename T> __device__ static T plain(int which, T *address, T value)
{
    switch (which) {
    case 0:
        return fmo_atomic_add_warp_shared(address, value);
    case 1:
        return fmo_atomic_add_warp_shuffle(address, value);
    case 2:
        return fmo_atomic_add_warp_match(address, value);
    default:
        return fmo_atomic_add_segmented(address, value);
    }
}
template <typename T> __global__ void plain_kernel(int which, buffers<T> *b)
{
    const int total = (int)(gridDim.x * blockDim.x);
    const int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    for (int t = 0; t < ROUNDS; t++) {
        const int element = t * total + thread, index = b->index[element];
        if (index < 0) break;
        if (branch_of(element))
            b->old[element] = plain(which, b->bins + index, b->value[element]);
        else
            b->old[element] = plain(which, b->bins + index, b->value[element]);
    }
}
/* The public functions fmo_atomic_add_* give the right sums and old values. */
template <typename T> static void test_plain(void)
{
    static const char *const names[] = {"warp_shared", "warp_shuffle", "warp_match", "segmented"};
    buffers<T> *h = &host<T>;
    for (int which = 0; which < 4; which++) {
        for (int b = 0; b < NUM_BINS; b++) {
            const int *launch = launch_list[(which * NUM_BINS + b) % NUM_LAUNCH];
            const test_case c = {launch[0],    launch[1], bins_list[b], SHAPE_LOOPS, ACTIVE_RANDOM,
                                 PATTERN_RUNS, 1};
            fill<T>(&c);
            for (int e = 0; e < ELEMENTS_MAX; e++) h->value[e] = (T)(1 + e % 5);
            upload<T>();
            plain_kernel<<<c.blocks, c.threads>>>(which, device<T>);
            download<T>();
            long bad_old;
            const long bad = wrong_bins<T>(&c, 0.0);
            (void)count_groups<T>(&c, form_single, true, &bad_old);
            CHECK(!bad && !bad_old, "fmo_atomic_add_%s, %zu bytes: %ld wrong sums, %ld old values",
                  names[which], sizeof(T), bad, bad_old);
        }
    }
}

static bool covered[FMO_SCATTER_COUNT];

template <template <class, int> class S, class Commit>
static void test_commit(fmo_scatter scatter, fmo_commit commit, form kind)
{
    char name[64];
    snprintf(name, sizeof name, "%s, %s", fmo_scatter_name(scatter), fmo_commit_name(commit));
    typedef S<Commit, 1024> strategy;
    test_strategy<strategy, int>(name, kind);
    test_strategy<strategy, float>(name, kind);
    test_strategy<strategy, double>(name, kind);
    /* The hardware's float atomics on global memory may flush subnormal numbers. */
    test_special<strategy, float>(name, 0x1p-149f, commit == FMO_COMMIT_NATIVE);
    test_special<strategy, double>(name, 0x1p-1074, false);
    covered[scatter] = true;
}
template <template <class, int> class S, bool Commits> static void test_floats(fmo_scatter scatter)
{
    const char *name = fmo_scatter_name(scatter);
    const form kind = form_of<S<fmo_commit_native, 128>>();
    test_commit<S, fmo_commit_native>(scatter, FMO_COMMIT_NATIVE, kind);
    if constexpr (Commits) test_commit<S, fmo_commit_cas>(scatter, FMO_COMMIT_CAS, kind);
    test_block(name, kind, S<fmo_commit_native, 128>(), 1);
    test_block(name, kind, S<fmo_commit_native, 128>(), 1.0);
    printf("%s: %ld checks so far, %ld failed\n", name, check_count, check_failures);
    fflush(stdout);
}
/* A row of the table. Integers have tests of their own: test_fixed(). */
template <template <class, int> class S, bool Commits, bool Integers>
static void test_row(fmo_scatter scatter)
{
    if constexpr (!Integers) test_floats<S, Commits>(scatter);
}

/* Strategies and updates have different names, texts and kinds, and numbers outside the tables have
 * none. */
static void test_names(void)
{
    for (int i = 0; i < FMO_SCATTER_COUNT; i++) {
        const fmo_scatter s = (fmo_scatter)i;
        CHECK(fmo_scatter_name(s) && *fmo_scatter_name(s), "strategy %d has no name", i);
        CHECK(fmo_scatter_text(s) && *fmo_scatter_text(s), "strategy %d has no text", i);
        CHECK(fmo_scatter_determinism(s) != NULL, "strategy %d has no determinism", i);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(fmo_scatter_name(s), fmo_scatter_name((fmo_scatter)j)) != 0,
                  "strategies %d and %d have one name", i, j);
    }
    for (int i = 0; i < FMO_COMMIT_COUNT; i++)
        CHECK(fmo_commit_name((fmo_commit)i) && fmo_commit_text((fmo_commit)i), "commit %d", i);
    CHECK(!fmo_scatter_name(FMO_SCATTER_COUNT) && !fmo_scatter_text(FMO_SCATTER_COUNT) &&
              !fmo_scatter_determinism(FMO_SCATTER_COUNT) && !fmo_commit_name(FMO_COMMIT_COUNT) &&
              !fmo_commit_text(FMO_COMMIT_COUNT),
          "names beyond the tables");
    CHECK(!fmo_scatter_takes_commit(FMO_SCATTER_FIXED) &&
              fmo_scatter_takes_commit(FMO_SCATTER_NATIVE) &&
              !fmo_scatter_takes_commit(FMO_SCATTER_COUNT),
          "takes_commit");
    CHECK(fmo_scatter_kind(FMO_SCATTER_NATIVE) == FMO_SCATTER_ELEMENT &&
              fmo_scatter_kind(FMO_SCATTER_TILE) == FMO_SCATTER_SCHEDULE &&
              fmo_scatter_kind(FMO_SCATTER_AUTO) == FMO_SCATTER_CHOICE,
          "kinds");
    CHECK(fmo_scatter_kernels(FMO_SCATTER_WARP_MATCH) == FMO_SCATTER_WARP_MATCH &&
              fmo_scatter_kernels(FMO_SCATTER_REPLICATED) == FMO_SCATTER_NATIVE &&
              fmo_scatter_kernels(FMO_SCATTER_TILE) == FMO_SCATTER_NATIVE &&
              fmo_scatter_kernels(FMO_SCATTER_COUNT) == FMO_SCATTER_COUNT,
          "whose kernels");
    CHECK(fmo_scatter_sums_integers(FMO_SCATTER_FIXED) &&
              !fmo_scatter_sums_integers(FMO_SCATTER_NATIVE) &&
              !fmo_scatter_sums_integers(FMO_SCATTER_COUNT),
          "sums of integers");
}

/* Runs the checks of every element strategy in the table. */
int main(void)
{
    const char *reduced = getenv("FMO_TEST_SMALL");
    small_run = reduced && *reduced && strcmp(reduced, "0") != 0;
    test_names();
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice)
        return check_failures ? 1 : check_skip(cudaGetErrorString(error));
    CUDA_CHECK(error);

#define ROW(e, name, kind, type, commits, sums, ...) ROW_##kind(e, type, commits, sums)
#define ROW_FMO_SCATTER_ELEMENT(e, type, commits, sums) \
    test_row<fmo_scatter_##type, commits, sums>(e);
#define ROW_FMO_SCATTER_SCHEDULE(e, type, commits, sums)
#define ROW_FMO_SCATTER_CHOICE(e, type, commits, sums)
    FMO_SCATTER_TABLE(ROW)
#undef ROW

    test_fixed();
    test_block("fixed", form_single, fmo_scatter_fixed<fmo_commit_native>{0x1p20}, 0x1p20);
    covered[FMO_SCATTER_FIXED] = true;
    test_none();
    test_plain<int>();
    test_plain<float>();
    test_plain<double>();

    for (int i = 0; i < FMO_SCATTER_COUNT; i++)
        CHECK(covered[i] || fmo_scatter_kind((fmo_scatter)i) != FMO_SCATTER_ELEMENT,
              "%s is not tested", fmo_scatter_name((fmo_scatter)i));
    CUDA_CHECK(cudaFree(device<int>));
    CUDA_CHECK(cudaFree(device<float>));
    CUDA_CHECK(cudaFree(device<double>));
    return check_summary();
}
