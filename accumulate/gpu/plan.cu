/* Plans on the GPU: finding a device, memory, the shell pairs as the kernels want them, and the
 * list of survivors cut into passes that fit it. */
#include "accumulate/gpu/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/gpu/kernels/quartet.cuh"
#include "accumulate/rules/screen.h"

/* Survivor lists take at most this share of the free memory, and at most list_max quartets. */
#define LIST_SHARE 0.25
static const size_t list_max = (size_t)1 << 30;

static const struct {
    fmo_pair_class bra, ket;
} class_pairs[FMO_ERI_CLASS_COUNT] = {
#define ROW(e, name, li, lj, lk, ll, bra, ket) {bra, ket},
    FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
};

fmo_status fmo_gpu_error(cudaError_t code, const char *what, fmo_error *err)
{
    if (code == cudaErrorMemoryAllocation)
        return fmo_error_set(err, FMO_ERR_MEMORY, "out of GPU memory: %s", what);
    return fmo_error_set(err, FMO_ERR_DEVICE, "GPU fault: %s: %s (%s)", what,
                         cudaGetErrorString(code), cudaGetErrorName(code));
}

extern "C" fmo_status fmo_gpu_probe(fmo_error *err)
{
    int devices = 0;
    const cudaError_t code = cudaGetDeviceCount(&devices);
    if (code == cudaErrorInsufficientDriver)
        return fmo_error_set(err, FMO_ERR_NO_DEVICE, "no NVIDIA driver, or one too old for CUDA %d",
                             CUDART_VERSION / 1000);
    if (code == cudaErrorNoDevice || (code == cudaSuccess && devices == 0))
        return fmo_error_set(err, FMO_ERR_NO_DEVICE, "no NVIDIA GPU found");
    if (code != cudaSuccess) return fmo_gpu_error(code, "looking for GPUs", err);
    int device = 0, major = 0, minor = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (status != cudaSuccess) return fmo_gpu_error(status, "asking the GPU", err);
    if (10 * major + minor < 75)
        return fmo_error_set(err, FMO_ERR_NO_DEVICE,
                             "the GPU has compute capability %d.%d, 7.5 is needed", major, minor);
    return FMO_OK;
}

extern "C" int fmo_gpu_current_device(void)
{
    int device = -1;
    if (cudaGetDevice(&device) == cudaSuccess) return device;
    (void)cudaGetLastError();
    return -1;
}

extern "C" void fmo_gpu_use_device(int device)
{
    if (device >= 0) (void)cudaSetDevice(device);
}

fmo_status fmo_gpu_alloc(fmo_gpu_state *g, const char *what, size_t bytes, void **pointer,
                         fmo_error *err)
{
    if (g->buffers == FMO_GPU_BUFFERS_MAX)
        return fmo_error_set(err, FMO_ERR_MEMORY, "too many GPU buffers");
    const cudaError_t code = cudaMalloc(pointer, bytes ? bytes : 1);
    if (code != cudaSuccess) {
        size_t available = 0, total = 0;
        (void)cudaGetLastError(); /* not sticky: the next call must not see it */
        if (code != cudaErrorMemoryAllocation) return fmo_gpu_error(code, what, err);
        (void)cudaMemGetInfo(&available, &total);
        return fmo_error_set(err, FMO_ERR_MEMORY,
                             "out of GPU memory: %s needs %.3f GB, %.3f of %.3f GB are free", what,
                             1e-9 * (double)bytes, 1e-9 * (double)available, 1e-9 * (double)total);
    }
    g->buffer[g->buffers++] = *pointer;
    g->bytes += bytes;
    if (g->bytes > g->bytes_most) g->bytes_most = g->bytes;
    return FMO_OK;
}

void fmo_gpu_free(fmo_gpu_state *g, void *pointer, size_t bytes)
{
    int b = 0;
    while (b < g->buffers && g->buffer[b] != pointer) b++;
    if (b == g->buffers) return;
    (void)cudaFree(pointer);
    g->buffer[b] = g->buffer[--g->buffers];
    g->bytes -= bytes;
}

/* Device memory with a copy of host data, for what comes later on the plan's stream. cudaMemcpy
 * would not do: it may return before its data are there, and streams that do not block do not wait
 * for it. */
static fmo_status upload(fmo_gpu_state *g, const char *what, const void *from, size_t bytes,
                         const void **pointer, fmo_error *err)
{
    void *to = NULL;
    fmo_status status = fmo_gpu_alloc(g, what, bytes, &to, err);
    if (status != FMO_OK) return status;
    const cudaError_t code = cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, g->stream);
    if (code != cudaSuccess) return fmo_gpu_error(code, what, err);
    *pointer = to;
    return FMO_OK;
}

/* A part of a shell pair: primitives [begin, begin + prims) of pair `index`, and their bound. */
typedef struct sort_key {
    int prims, octet, i, j, index, begin; /* octet: how small the bound is, in factors of 2^8 */
    double bound;
} sort_key;

static int by_depth(const void *x, const void *y)
{
    const sort_key *a = (const sort_key *)x, *b = (const sort_key *)y;
    if (a->prims != b->prims) return a->prims < b->prims ? 1 : -1;
    if (a->octet != b->octet) return a->octet > b->octet ? 1 : -1;
    if (a->i != b->i) return a->i < b->i ? -1 : 1;
    if (a->j != b->j) return a->j < b->j ? -1 : 1;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static int pair_prims(const fmo_pair_list *list, int p)
{
    return (int)(list->begin[p + 1] - list->begin[p]);
}

/* Host arrays of one class of pairs as the kernels want them. */
typedef struct staged_pairs {
    int4 *shell;
    fmo_gpu_rule *rule;
    unsigned *prim_at;
    float *tile_bound;
    double *center, *prim, *record;
    unsigned *record_at;
} staged_pairs;

/* Primitive n of a list as the kernels want it. In a pair of one shell with itself all products
 * meet themselves and count half; in a ps pair of one set only the ss product does. */
static void stage_primitive(const fmo_pair_list *list, int64_t n, bool one_shell, bool one_set,
                            double *to)
{
    const float bound = (float)list->prim_bound[n];
    memcpy(to, list->prim + n * FMO_PAIR_FIELDS, FMO_PAIR_FIELDS * sizeof *to);
    if (one_shell) to[FMO_PAIR_K] *= 0.5;
    to[FMO_GPU_PAIR_RATIO] = (one_set ? 0.5 : 1.0) * list->ratio[n];
    to[FMO_GPU_PAIR_BOUND] = 0.0;
    memcpy(to + FMO_GPU_PAIR_BOUND, &bound, sizeof bound); /* low half: little-endian hosts */
}

/* First function of a shell in the kernels' order. */
static int first_function(const fmo_gpu_state *g, int shell, const fmo_basis *basis)
{
    const int set = g->set_of_shell[shell], l = basis->shell[shell].ang_mom;
    const int width = g->sp ? 4 : 3, begin = fmo_gpu_set_begin(set, g->s_sets, width);
    return l ? begin + width - 3 : begin;
}

static void stage_pairs(const fmo_gpu_state *g, const fmo_basis *basis, fmo_pair_class pair_class,
                        const fmo_pair_list *list, const sort_key *key, size_t n,
                        const staged_pairs *to)
{
    /* the first shell of a ps pair is the whole set */
    const int shift = g->sp && pair_class == FMO_PAIR_PS;
    size_t records = 0;
    for (size_t first = 0, at = 0; first < n;) {
        size_t end = first;
        const int prims = key[first].prims;
        while (end < n && key[end].prims == prims) end++;
        const size_t stride = end - first;
        for (size_t p = first; p < end; p++) {
            const sort_key *k = &key[p];
            const int64_t prim = list->begin[k->index] + k->begin;
            const bool carries = list->ratio[prim] != 0.0;
            const bool one_shell = list->i[k->index] == list->j[k->index];
            to->shell[p] =
                make_int4(first_function(g, list->i[k->index], basis) - shift,
                          first_function(g, list->j[k->index], basis), prims, (int)stride);
            to->prim_at[p] = (unsigned)(at + p - first);
            unsigned counts = (unsigned)prims << FMO_GPU_TALLY_PRIMS;
            if (k->begin == 0)
                counts |= 1u << FMO_GPU_TALLY_PAIRS | (unsigned)carries << FMO_GPU_TALLY_CARRIED;
            to->rule[p] = {nextafterf((float)k->bound, INFINITY), 0.0f,
                           make_ushort2((unsigned short)k->i, (unsigned short)k->j), counts};
            float *tile = &to->tile_bound[p / FMO_GPU_TILE_PAIRS];
            *tile = fmaxf(*tile, to->rule[p].bound);
            for (int x = 0; x < 3; x++) {
                to->center[(size_t)x * n + p] = basis->shell[list->i[k->index]].center[x];
                to->center[(size_t)(3 + x) * n + p] = list->AB[3 * (size_t)k->index + x];
            }
            to->record_at[p] = (unsigned)records;
            for (int m = 0; m < prims; m++, records++) {
                double *const record = to->record + records * FMO_GPU_PAIR_FIELDS;
                stage_primitive(list, prim + m, one_shell, k->i == k->j, record);
                for (int f = 0; f < FMO_GPU_PAIR_TWOS; f++)
                    memcpy(to->prim +
                               2 * (at + (size_t)(m * FMO_GPU_PAIR_TWOS + f) * stride + p - first),
                           record + 2 * f, 2 * sizeof *record);
            }
        }
        at += stride * (size_t)prims * FMO_GPU_PAIR_TWOS;
        first = end;
    }
}

static int parts_of(int prims, int depth)
{
    return (prims + depth - 1) / depth;
}

/* Pairs of more than `depth` primitives are cut into parts of nearly equal size: integrals are
 * linear in the primitives of a pair, and no thread has to walk thousands of primitive quartets.
 * Primitives are in descending order, so the later parts are small and screened by bounds of their
 * own. */
static size_t cut_pairs(const fmo_gpu_state *g, const fmo_basis *basis, fmo_pair_class pair_class,
                        const fmo_pair_list *list, int depth, sort_key *key)
{
    size_t n = 0;
    for (int p = 0; p < list->num; p++) {
        const int prims = pair_prims(list, p), parts = parts_of(prims, depth);
        int begin = 0;
        for (int part = 0; part < parts; part++) {
            const int some = (prims - begin) / (parts - part);
            const double bound =
                parts == 1 ? list->bound[p]
                           : fmo_shell_pair_part_bound(basis, pair_class, list, p, begin, some);
            const int octet = bound > 0.0 ? -(ilogb(bound) >> 3) : INT16_MAX;
            key[n++] = {some,  octet, g->set_of_shell[list->i[p]], g->set_of_shell[list->j[p]], p,
                        begin, bound};
            begin += some;
        }
    }
    return n;
}

/* Products of functions in a sp pair. */
static size_t products(fmo_pair_class pair_class)
{
    return pair_class == FMO_PAIR_SS ? 1 : pair_class == FMO_PAIR_PS ? 4 : 9;
}

/* Arrays in one piece of device memory start where allocations of their own would. */
static size_t piece_bytes(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static fmo_status upload_pairs(const fmo_fock_plan *plan, fmo_pair_class pair_class, int depth,
                               fmo_gpu_state *g, fmo_error *err)
{
    const fmo_basis *basis = plan->basis;
    const fmo_pair_list *list = &plan->pairs.list[pair_class];
    fmo_gpu_pairs *pairs = &g->pairs[pair_class];
    fmo_pair_ao **host = &g->pair_ao[pair_class];
    /* kernels look one record ahead */
    const size_t values = ((size_t)list->prim_num + 1) * FMO_GPU_PAIR_FIELDS;
    fmo_status status = FMO_OK;
    cudaError_t code = cudaSuccess;
    size_t n = 0;
    for (int p = 0; p < list->num; p++) n += (size_t)parts_of(pair_prims(list, p), depth);
    const size_t tiles = n / FMO_GPU_TILE_PAIRS + 1;
    sort_key *key = (sort_key *)malloc((n + 1) * sizeof *key);
    staged_pairs staged;
    /* One piece of host and of device memory; what is not staged is made in every build. */
    const struct {
        size_t bytes;
        void **from;
        void **to;
    } arrays[] = {
        {n * sizeof(int4), (void **)&staged.shell, (void **)&pairs->shell},
        {n * sizeof(fmo_gpu_rule), (void **)&staged.rule, (void **)&pairs->rule},
        {n * sizeof(unsigned), (void **)&staged.prim_at, (void **)&pairs->prim_at},
        {tiles * sizeof(float), (void **)&staged.tile_bound, (void **)&pairs->tile_bound},
        {6 * n * sizeof(double), (void **)&staged.center, (void **)&pairs->center},
        {values * sizeof(double), (void **)&staged.prim, (void **)&pairs->prim},
        {values * sizeof(double), (void **)&staged.record, (void **)&pairs->record},
        {n * sizeof(unsigned), (void **)&staged.record_at, (void **)&pairs->record_at},
        {tiles * sizeof(float), NULL, (void **)&pairs->tile_coulomb},
        {g->sp ? n * products(pair_class) * sizeof(double) : 0, NULL, (void **)&pairs->density},
    };
    const size_t count = sizeof arrays / sizeof *arrays;
    size_t bytes = 0, staged_bytes = 0;
    for (size_t x = 0; x < count; x++) {
        bytes += piece_bytes(arrays[x].bytes);
        if (arrays[x].from) staged_bytes = bytes;
    }
    char *const host_memory = (char *)calloc(1, staged_bytes + 1);
    char *device_memory = NULL;
    *host = (fmo_pair_ao *)malloc((n + 1) * sizeof **host);
    if (!key || !host_memory || !*host) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu shell pairs", n);
        goto done;
    }
    if (values / 2 > UINT32_MAX || g->nao > UINT16_MAX || n > FMO_GPU_PAIRS_MAX) {
        status = fmo_error_set(err, FMO_ERR_MEMORY,
                               "%zu pairs of shells, %lld of primitives, %d functions are more "
                               "than the GPU's indices hold",
                               n, (long long)list->prim_num, g->nao);
        goto done;
    }
    status = fmo_gpu_alloc(g, "shell pairs", bytes, (void **)&device_memory, err);
    if (status != FMO_OK) goto done;
    for (size_t x = 0, at = 0; x < count; at += piece_bytes(arrays[x++].bytes)) {
        if (arrays[x].from) *arrays[x].from = host_memory + at;
        if (arrays[x].bytes) *arrays[x].to = device_memory + at;
    }
    n = cut_pairs(g, basis, pair_class, list, depth, key);
    qsort(key, n, sizeof *key, by_depth);
    stage_pairs(g, basis, pair_class, list, key, n, &staged);
    for (size_t p = 0; p < n; p++)
        (*host)[p] = {basis->shell[list->i[key[p].index]].ao_begin,
                      basis->shell[list->j[key[p].index]].ao_begin};
    pairs->num = (int)n;
    code = cudaMemcpyAsync(device_memory, host_memory, staged_bytes, cudaMemcpyHostToDevice,
                           g->stream);
    if (code != cudaSuccess) status = fmo_gpu_error(code, "copying shell pairs", err);
    g->sums_size += n * products(pair_class);
done:
    free(key);
    free(host_memory);
    return status;
}

/* Sets, and which functions of the caller they hold. */
static fmo_status make_sets(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err)
{
    const fmo_basis *b = plan->basis;
    const int s_shells = b->shell_num_l[0];
    int most_prims = 0;
    int *partner = (int *)malloc((size_t)b->shell_num * sizeof *partner);
    const size_t most = 4 * (size_t)b->shell_num + 2 * FMO_GPU_ALIGN;
    double *factor = (double *)calloc(most, sizeof *factor + sizeof(int));
    int *const caller = factor ? (int *)(factor + most) : NULL; /* one piece */
    fmo_status status = FMO_OK;
    g->sp = plan->pairs.sp;
    g->set_of_shell = (int *)malloc((size_t)b->shell_num * sizeof *g->set_of_shell);
    if (!partner || !factor || !g->set_of_shell) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d shells", b->shell_num);
        goto done;
    }
    fmo_sp_partners(b, partner);
    for (int s = 0; s < b->shell_num && !g->sp; s++) partner[s] = -1;
    /* By number of primitives, as the pairs are sorted: what neighbouring lanes meet is then
     * neighbouring. */
    for (int s = 0; s < b->shell_num; s++)
        if (b->shell[s].prim_num > most_prims) most_prims = b->shell[s].prim_num;
    g->s_sets = g->sets = 0;
    for (int prims = most_prims; prims > 0; prims--)
        for (int s = 0; s < s_shells; s++)
            if (partner[s] < 0 && b->shell[s].prim_num == prims) g->set_of_shell[s] = g->s_sets++;
    g->sets = g->s_sets;
    for (int prims = most_prims; prims > 0; prims--) {
        for (int p = s_shells; p < b->shell_num; p++) {
            if (b->shell[p].prim_num != prims) continue;
            g->set_of_shell[p] = g->sets++;
            if (partner[p] >= 0) g->set_of_shell[partner[p]] = g->set_of_shell[p];
        }
    }
    g->nao = fmo_gpu_aligned(fmo_gpu_set_begin(g->sets, g->s_sets, g->sp ? 4 : 3));
    for (int a = 0; a < g->nao; a++) caller[a] = -1;
    for (int s = 0; s < b->shell_num; s++) {
        const int l = b->shell[s].ang_mom;
        const int at = first_function(g, s, b);
        for (int x = 0; x < 2 * l + 1; x++) {
            caller[at + x] = b->ao_caller[b->shell[s].ao_begin + x];
            factor[at + x] = b->ao_factor[b->shell[s].ao_begin + x];
        }
    }
    status = upload(g, "AO order and factors", factor, most * (sizeof *factor + sizeof *caller),
                    (const void **)&g->ao_factor, err);
    if (status == FMO_OK) g->ao_caller = (const int *)(g->ao_factor + most);
done:
    free(partner);
    free(factor);
    return status;
}

static fmo_status upload_shell_bounds(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err)
{
    const size_t ns = (size_t)g->sets;
    double *bound = (double *)calloc(ns, sizeof *bound);
    if (!bound) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu shells", ns);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const fmo_pair_list *list = &plan->pairs.list[c];
        for (int n = 0; n < list->num; n++) {
            double *const i = &bound[g->set_of_shell[list->i[n]]];
            double *const j = &bound[g->set_of_shell[list->j[n]]];
            *i = fmax(*i, list->bound[n]);
            *j = fmax(*j, list->bound[n]);
        }
    }
    const fmo_status status =
        upload(g, "Schwarz bounds", bound, ns * sizeof *bound, (const void **)&g->shell_bound, err);
    free(bound);
    return status;
}

/* Candidates of bra pairs [begin, end) of a class. */
static size_t candidates(const fmo_gpu_state *g, int c, size_t begin, size_t end)
{
    const size_t kets = (size_t)g->pairs[class_pairs[c].ket].num;
    if (class_pairs[c].bra != class_pairs[c].ket) return (end - begin) * kets;
    return end * (end + 1) / 2 - begin * (begin + 1) / 2;
}

/* The largest end with candidates(c, begin, end) <= room; begin if not even one fits. */
static size_t fill(const fmo_gpu_state *g, int c, size_t begin, size_t bras, size_t room)
{
    size_t low = begin, high = bras + 1; /* low fits, high does not */
    while (low + 1 < high) {
        const size_t middle = (low + high) / 2;
        if (candidates(g, c, begin, middle) <= room)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Cuts the classes into passes whose candidates fit `size`, which holds at least those of one bra
 * pair; returns how many. With passes NULL it only counts. The heaviest kernels come first. */
static int cut_passes(const fmo_gpu_state *g, size_t size, fmo_gpu_pass *passes)
{
    int pass = 0, parts = 0;
    size_t used = 0;
    for (int c = FMO_ERI_CLASS_COUNT - 1; c >= 0; c--) {
        const size_t bras = (size_t)g->pairs[class_pairs[c].bra].num;
        if (g->pairs[class_pairs[c].ket].num == 0) continue;
        for (size_t begin = 0; begin < bras;) {
            const size_t end = fill(g, c, begin, bras, size - used);
            if (end == begin) {
                pass++;
                parts = 0;
                used = 0;
                continue;
            }
            if (passes) {
                passes[pass].part[parts] = {
                    (fmo_eri_class)c, (int)begin, (int)end, used, candidates(g, c, begin, end),
                    {NULL, NULL}};
                passes[pass].num = parts + 1;
            }
            parts++;
            used += candidates(g, c, begin, end);
            begin = end;
        }
    }
    return pass + 1;
}

static void destroy_passes(fmo_gpu_state *g)
{
    for (int p = 0; g->pass && p < g->passes; p++)
        for (int n = 0; n < 2 * FMO_GPU_PARTS; n++)
            if (g->pass[p].part[n / 2].event[n % 2])
                (void)cudaEventDestroy(g->pass[p].part[n / 2].event[n % 2]);
    free(g->pass);
}

void fmo_gpu_set_passes(fmo_gpu_state *g, fmo_gpu_pass *pass, int passes)
{
    destroy_passes(g);
    g->pass = pass;
    g->passes = passes;
}

static cudaError_t make_timer(cudaEvent_t *event)
{
    return *event ? cudaSuccess : cudaEventCreate(event);
}

cudaError_t fmo_gpu_make_timers(fmo_gpu_state *g)
{
    cudaError_t code = cudaSuccess;
    for (int e = 0; e < 2 * FMO_ERI_CLASS_COUNT && code == cudaSuccess; e++)
        code = make_timer(&g->class_event[e / 2][e % 2]);
    for (int p = 0; p < g->passes; p++)
        for (int n = 0; n < 2 * g->pass[p].num && code == cudaSuccess; n++)
            code = make_timer(&g->pass[p].part[n / 2].event[n % 2]);
    return code;
}

static fmo_status make_passes(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err)
{
    size_t all = 0, most = 1, available = 0, total = 0;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        all += candidates(g, c, 0, (size_t)g->pairs[class_pairs[c].bra].num);
        /* one bra pair must fit */
        if ((size_t)g->pairs[class_pairs[c].ket].num > most)
            most = (size_t)g->pairs[class_pairs[c].ket].num;
    }
    const cudaError_t code = cudaMemGetInfo(&available, &total);
    if (code != cudaSuccess) return fmo_gpu_error(code, "asking for free memory", err);
    size_t bytes = (size_t)(LIST_SHARE * (double)available);
    if (plan->options.memory && plan->options.memory < bytes) bytes = plan->options.memory;
    size_t size = bytes / (sizeof *g->list + (g->far ? sizeof *g->far_K : 0));
    if (size > list_max) size = list_max;
    if (size < most) size = most;
    if (size > all) size = all ? all : 1;
    g->list_size = size;
    const int passes = cut_passes(g, size, NULL);
    fmo_gpu_pass *pass = (fmo_gpu_pass *)calloc((size_t)passes, sizeof *pass);
    if (!pass) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d passes", passes);
    (void)cut_passes(g, size, pass);
    fmo_gpu_set_passes(g, pass, passes);
    if (g->far) {
        const fmo_status allocated =
            fmo_gpu_alloc(g, "list of quartets", size * sizeof *g->far_K, (void **)&g->far_K, err);
        if (allocated != FMO_OK) return allocated;
    }
    return fmo_gpu_alloc(g, "list of quartets", size * sizeof *g->list, (void **)&g->list, err);
}

/* Primitive quartets before screening. */
static double prim_quartets(const fmo_shell_pairs *pairs)
{
    double work = 0.0;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        const double bra = (double)pairs->list[class_pairs[c].bra].prim_num;
        const double ket = (double)pairs->list[class_pairs[c].ket].prim_num;
        work += class_pairs[c].bra == class_pairs[c].ket ? 0.5 * bra * ket : bra * ket;
    }
    return work;
}

/* Primitives of a pair that one thread walks: few in small systems, to have enough threads and
 * short ones; more in large ones, where each part costs a density look-up and adds. Measured on an
 * H200, docs/performance.md. Depends on the system alone, so that `fixed` rounds the same numbers
 * in every launch. */
static int contraction_depth(double work)
{
    static const struct {
        double work;
        int depth;
    } table[] = {{1e6, 2}, {3e7, 6}};
    for (size_t row = 0; row < sizeof table / sizeof *table; row++)
        if (work < table[row].work) return table[row].depth;
    return FMO_GPU_DEPTH_MAX;
}

/* Small systems have too few far quartets to be worth lists of their own. Measured on an H200,
 * docs/performance.md. */
static const double far_work = 1e7;

/* Nodes take at most this share of the free memory; else far quartets are computed like others. */
#define FAR_SHARE 0.125

/* What far quartets need of the pairs of a class, in one piece of memory that begins with `far`. */
typedef struct far_arrays {
    struct {
        void **pointer;
        size_t bytes;
    } array[5];
    size_t bytes; /* of all */
} far_arrays;

static far_arrays find_far_arrays(fmo_gpu_state *g, int pair_class)
{
    fmo_gpu_pairs *const pairs = &g->pairs[pair_class];
    const size_t n = (size_t)pairs->num;
    far_arrays a = {
        {{(void **)&pairs->far,
          n * FMO_GPU_FAR_SLOTS * (size_t)fmo_gpu_far_twos(pair_class) * sizeof(double2)},
         {(void **)&pairs->far_line, pair_class == FMO_PAIR_PS ? n * sizeof(double) : 0},
         {(void **)&pairs->sphere, n * sizeof(float4)},
         {(void **)&pairs->fit, n * sizeof(fmo_far_fit)},
         {(void **)&pairs->reach, n * sizeof(float4)}},
        0};
    for (size_t x = 0; x < sizeof a.array / sizeof *a.array; x++)
        a.bytes += piece_bytes(a.array[x].bytes);
    return a;
}

void fmo_gpu_forget_far(fmo_gpu_state *g)
{
    if (!g->far_K) return;
    fmo_gpu_free(g, g->far_K, g->list_size * sizeof *g->far_K);
    g->far_K = NULL;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const far_arrays a = find_far_arrays(g, c);
        fmo_gpu_free(g, g->pairs[c].far, a.bytes);
        for (size_t x = 0; x < sizeof a.array / sizeof *a.array; x++) *a.array[x].pointer = NULL;
    }
    g->far = 0;
}

static fmo_status prepare_far(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    size_t all = 0, available = 0, total = 0;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) all += find_far_arrays(g, c).bytes;
    cudaError_t code = cudaMemGetInfo(&available, &total);
    if (code != cudaSuccess) return fmo_gpu_error(code, "asking for free memory", err);
    if ((double)all > FAR_SHARE * (double)available) return FMO_OK;
    g->far = 1;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const far_arrays a = find_far_arrays(g, c);
        char *memory = NULL;
        const fmo_status status =
            fmo_gpu_alloc(g, "nodes of pairs", a.bytes, (void **)&memory, err);
        if (status != FMO_OK) return status;
        for (size_t x = 0; x < sizeof a.array / sizeof *a.array; x++) {
            *a.array[x].pointer = memory;
            memory += piece_bytes(a.array[x].bytes);
        }
    }
    code = fmo_gpu_make_nodes(plan);
    return code == cudaSuccess ? FMO_OK : fmo_gpu_error(code, "making nodes of pairs", err);
}

cudaError_t fmo_gpu_make_pinned(const fmo_fock_plan *plan)
{
    fmo_gpu_state *g = plan->gpu;
    const size_t size = (size_t)plan->basis->ao_num * (size_t)plan->basis->ao_num;
    if (g->host_in) return cudaSuccess;
    const cudaError_t code = cudaMallocHost((void **)&g->host_in, 3 * size * sizeof *g->host_in +
                                                                      sizeof *g->host_counters);
    if (code != cudaSuccess) return code;
    g->host_out = g->host_in + size;
    g->host_counters = (fmo_gpu_counters *)(g->host_out + 2 * size);
    return cudaSuccess;
}

fmo_status fmo_gpu_state_create(fmo_fock_plan *plan, unsigned copies, fmo_error *err)
{
    const fmo_basis *b = plan->basis;
    const size_t n = (size_t)b->ao_num, matrix = n * n * sizeof(double);
    cudaDeviceProp properties;
    cudaError_t code = cudaSuccess;
    fmo_status status = FMO_OK;
    fmo_gpu_state *g = (fmo_gpu_state *)calloc(1, sizeof *g);
    if (!g) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a GPU plan");
    plan->gpu = g;
    g->copies = copies;
    code = cudaGetDevice(&g->device);
    if (code == cudaSuccess) code = cudaGetDeviceProperties(&properties, g->device);
    if (code == cudaSuccess) {
        g->processors = properties.multiProcessorCount;
        snprintf(plan->profile.device, sizeof plan->profile.device, "%.90s", properties.name);
        g->stream = (cudaStream_t)plan->options.stream;
        if (!g->stream) {
            code = cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking);
            g->own_stream = code == cudaSuccess;
        }
        g->last = g->stream;
    }
    if (code == cudaSuccess) code = cudaEventCreate(&g->start);
    if (code == cudaSuccess) code = cudaEventCreate(&g->finished);
    if (code != cudaSuccess) return fmo_gpu_error(code, "preparing the GPU", err);

    status = make_sets(plan, g, err);
    if (status != FMO_OK) return status;
    g->work = prim_quartets(&plan->pairs);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT && status == FMO_OK; c++)
        status = upload_pairs(plan, (fmo_pair_class)c, contraction_depth(g->work), g, err);
    if (status != FMO_OK) return status;
    if (!g->sp) g->sums_size = 0;
    const size_t ns = (size_t)g->sets, inner = (size_t)g->nao * (size_t)g->nao;
    g->zeroed = piece_bytes((inner + copies * (inner + g->sums_size)) * sizeof(double) +
                            sizeof *g->counters + ns * sizeof *g->row_max);
    const struct {
        size_t bytes;
        void **pointer;
    } arrays[] = {
        {matrix, (void **)&g->density_in},
        {inner * sizeof(double), (void **)&g->density},
        {ns * ns * sizeof(float), (void **)&g->density_max},
        {g->zeroed, (void **)&g->coulomb},
        {2 * matrix, (void **)&g->out},
    };
    const size_t count = sizeof arrays / sizeof *arrays;
    size_t bytes = 0;
    char *memory = NULL;
    for (size_t x = 0; x < count; x++) bytes += piece_bytes(arrays[x].bytes);
    status = fmo_gpu_alloc(g, "density, J and K", bytes, (void **)&memory, err);
    for (size_t x = 0; x < count && status == FMO_OK; x++) {
        *arrays[x].pointer = memory;
        memory += piece_bytes(arrays[x].bytes);
    }
    if (status == FMO_OK) {
        g->exchange = g->coulomb + inner;
        g->sums = g->exchange + copies * inner;
        g->counters = (fmo_gpu_counters *)(g->sums + copies * g->sums_size);
        g->row_max = (float *)(g->counters + 1);
        double *sums = g->sums;
        for (int c = 0; c < FMO_PAIR_CLASS_COUNT && g->sp; c++) {
            g->pairs[c].sums = sums;
            sums += (size_t)g->pairs[c].num * products((fmo_pair_class)c);
        }
        code = fmo_gpu_boys(&g->boys);
        if (code != cudaSuccess) return fmo_gpu_error(code, "the table of the Boys function", err);
    }
    if (status == FMO_OK && plan->options.scatter == FMO_SCATTER_FIXED)
        status = upload_shell_bounds(plan, g, err);
    if (status == FMO_OK && g->sp && g->work >= far_work &&
        plan->options.scatter != FMO_SCATTER_TILE)
        status = prepare_far(plan, err);
    if (status == FMO_OK) status = make_passes(plan, g, err);
    if (status != FMO_OK) return status;
    code = cudaEventRecord(g->finished, g->stream); /* builds on other streams wait for it */
    return code == cudaSuccess ? FMO_OK : fmo_gpu_error(code, "preparing the GPU", err);
}

void fmo_gpu_state_destroy(fmo_fock_plan *plan)
{
    fmo_gpu_state *g = plan->gpu;
    if (!g) return;
    if (g->stream) (void)cudaStreamSynchronize(g->stream);
    if (g->finished) (void)cudaEventSynchronize(g->finished); /* perhaps on another stream */
    for (int b = 0; b < g->buffers; b++) (void)cudaFree(g->buffer[b]);
    destroy_passes(g);
    for (int e = 0; e < 2 * FMO_ERI_CLASS_COUNT; e++)
        if (g->class_event[e / 2][e % 2]) (void)cudaEventDestroy(g->class_event[e / 2][e % 2]);
    if (g->host_in) (void)cudaFreeHost(g->host_in);
    if (g->graph) (void)cudaGraphExecDestroy(g->graph);
    if (g->start) (void)cudaEventDestroy(g->start);
    if (g->finished) (void)cudaEventDestroy(g->finished);
    if (g->own_stream) (void)cudaStreamDestroy(g->stream);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) free(g->pair_ao[c]);
    free(g->set_of_shell);
    free(g);
    plan->gpu = NULL;
}

void fmo_gpu_workspace(const fmo_fock_plan *plan, fmo_fock_memory *memory)
{
    const fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    memory->device_bytes += g->bytes_most;
    memory->host_bytes += 3 * n * n * sizeof(double) + sizeof *g + sizeof *g->host_counters +
                          (size_t)g->passes * sizeof *g->pass +
                          (size_t)plan->basis->shell_num * sizeof *g->set_of_shell;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
        memory->host_bytes += (size_t)g->pairs[c].num * sizeof *g->pair_ao[c];
}

fmo_gpu_class_view fmo_gpu_view(const fmo_fock_plan *plan, const fmo_gpu_state *g,
                                const fmo_gpu_part *part)
{
    const int c = part->eri_class;
    /* The factor of a survivor's code holds for densities up to FMO_PRUNE_DENSITY. */
    const double prim_cutoff =
        plan->options.cutoff * FMO_SCREEN_PRIM_SHARE * (FMO_PRUNE_DENSITY / plan->density_limit);
    fmo_gpu_class_view view = {g->pairs[class_pairs[c].bra],
                               g->pairs[class_pairs[c].ket],
                               class_pairs[c].bra == class_pairs[c].ket,
                               (float)prim_cutoff,
                               g->list + part->list_at,
                               g->list + part->list_at + part->candidates,
                               g->far ? g->far_K + part->list_at : NULL,
                               {&g->counters->survivors[FMO_GPU_NEAR][c],
                                &g->counters->survivors[FMO_GPU_FAR_J][c],
                                &g->counters->survivors[FMO_GPU_FAR_K][c]}};
    return view;
}

fmo_gpu_matrices fmo_gpu_matrix_view(const fmo_fock_plan *plan, const fmo_gpu_state *g,
                                     fmo_eri_class eri_class)
{
    fmo_gpu_matrices m = {g->density,
                          g->coulomb,
                          g->exchange,
                          g->sums_size,
                          (size_t)g->nao * (size_t)g->nao,
                          g->copies,
                          g->nao,
                          FMO_SCREEN_ADD_SHARE * plan->options.cutoff,
                          g->boys,
                          &g->counters->fixed_scale,
                          &g->counters->sink,
                          &g->counters->issued[eri_class]};
    return m;
}

fmo_gpu_adds fmo_gpu_adds_per_quartet(const fmo_gpu_state *g, fmo_eri_class eri_class)
{
    static const int sizes[2][FMO_ERI_CLASS_COUNT][4] = {
#define SIZES(C)            {C::N0, C::N1, C::N2, C::N3},
#define PLAIN(e, name, ...) SIZES(fmo_class_##name)
#define SP(e, name, ...)    SIZES(fmo_sp_class_##name)
        {FMO_ERI_CLASS_TABLE(PLAIN)}, {FMO_ERI_CLASS_TABLE(SP)}
#undef SP
#undef PLAIN
#undef SIZES
    };
    const int *n = sizes[g->sp != 0][eri_class];
    fmo_gpu_adds adds = {0, 0};
#define TERM(matrix, row, column, den_row, den_column) adds.matrix += n[row] * n[column];
    FMO_DIGEST_TABLE(TERM)
#undef TERM
    return adds;
}
