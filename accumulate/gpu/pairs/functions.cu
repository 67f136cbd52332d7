/* The kernels' order of functions (docs/explanation/gpu/pairs.md, "Order of functions"): padded SP
 * shells (types.cuh). */
#include "accumulate/gpu/pairs/pairs.h"

#include <stdlib.h>

/* fmo_gpu_sp_shell_width has one width for all SP shells except single s shells, and
 * fmo_gpu_first_function puts a shell at the end of its SP shell. */
static_assert(FMO_SHELL_LOW_L_COUNT == 2,
              "SP shells of the GPU hold s, or s and p: types.cuh, here, "
              "density.cu and near.cuh");

int fmo_gpu_first_function(const fmo_gpu_functions *f, const fmo_basis *basis, int shell)
{
    const int sp_shell = f->sp_shell_of[shell], l = basis->shell[shell].ang_mom;
    const int begin = fmo_gpu_sp_shell_begin(sp_shell, f->single_s, f->width);
    return l ? begin + f->width - fmo_shell_functions(l) : begin;
}

/* Number of s and p shells, which belong to SP shells; shells of other kinds follow them
 * (hermite/). */
static int known_shells(const fmo_basis *b)
{
    int num = 0;
    for (int l = 0; l < FMO_SHELL_LOW_L_COUNT; l++) num += b->shell_num_l[l];
    return num;
}

/* Numbers the SP shells by descending number of primitives, in which pairs are sorted, too:
 * neighbouring lanes then access neighbouring elements of the matrices. */
static void number_sp_shells(const fmo_basis *b, const int *partner, fmo_gpu_functions *f)
{
    const int s_shells = b->shell_num_l[0];
    int max_prims = 0;
    for (int s = 0; s < known_shells(b); s++)
        if (b->shell[s].prim_num > max_prims) max_prims = b->shell[s].prim_num;
    f->single_s = 0;
    for (int prims = max_prims; prims > 0; prims--)
        for (int s = 0; s < s_shells; s++)
            if (partner[s] < 0 && b->shell[s].prim_num == prims) f->sp_shell_of[s] = f->single_s++;
    f->sp_shells = f->single_s;
    for (int prims = max_prims; prims > 0; prims--) {
        for (int p = s_shells; p < known_shells(b); p++) {
            if (b->shell[p].prim_num != prims) continue;
            f->sp_shell_of[p] = f->sp_shells++;
            if (partner[p] >= 0) f->sp_shell_of[partner[p]] = f->sp_shell_of[p];
        }
    }
}

/* Without SP pairs each shell is numbered by itself. */
fmo_status fmo_gpu_number_functions(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err)
{
    const fmo_basis *b = plan->basis;
    fmo_gpu_functions *const f = &g->functions;
    const size_t shells = (size_t)b->shell_num;
    int *const partner = (int *)malloc(shells * sizeof *partner);
    f->sp = plan->pairs.sp;
    f->width = fmo_gpu_sp_shell_width(f->sp);
    f->sp_shell_of = (int *)malloc(shells * sizeof *f->sp_shell_of);
    if (!partner || !f->sp_shell_of) {
        free(partner);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d shells", b->shell_num);
    }
    fmo_sp_partners(b, partner);
    for (int s = 0; s < b->shell_num && !f->sp; s++) partner[s] = -1;
    number_sp_shells(b, partner, f);
    f->nao = fmo_gpu_aligned(fmo_gpu_sp_shell_begin(f->sp_shells, f->single_s, f->width));
    free(partner);
    return FMO_OK;
}

/* The arrays of the order of functions, in one piece of memory. */
enum { FUNCTION_ARRAYS = 2 };
typedef struct function_arrays {
    fmo_gpu_array array[FUNCTION_ARRAYS];
} function_arrays;

static function_arrays find_arrays(fmo_gpu_functions *f, double **factor, int **caller)
{
    const size_t n = (size_t)f->nao;
    const function_arrays a = {{{n * sizeof **factor, (void **)&f->ao_factor, (void **)factor},
                                {n * sizeof **caller, (void **)&f->ao_caller, (void **)caller}}};
    return a;
}

size_t fmo_gpu_functions_bytes(const fmo_gpu_state *g)
{
    fmo_gpu_functions f = g->functions;
    return fmo_gpu_arrays_bytes(find_arrays(&f, NULL, NULL).array, FUNCTION_ARRAYS);
}

/* Makes the caller's number and the factor of each function and copies them to the GPU; padding has
 * the number -1. */
fmo_status fmo_gpu_make_functions(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err)
{
    const fmo_basis *b = plan->basis;
    fmo_gpu_functions *const f = &g->functions;
    double *factor = NULL;
    int *caller = NULL;
    const function_arrays arrays = find_arrays(f, &factor, &caller);
    void *const staged = fmo_gpu_stage(arrays.array, FUNCTION_ARRAYS);
    if (!staged) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d functions", f->nao);
    for (int a = 0; a < f->nao; a++) caller[a] = -1;
    for (int s = 0; s < known_shells(b); s++) {
        const int at = fmo_gpu_first_function(f, b, s), ao = b->shell[s].ao_begin;
        for (int x = 0; x < fmo_shell_functions(b->shell[s].ang_mom); x++) {
            caller[at + x] = b->ao_caller[ao + x];
            factor[at + x] = b->ao_factor[ao + x];
        }
    }
    fmo_status status = fmo_gpu_place_arrays(&g->device, "AO order and factors", arrays.array,
                                             FUNCTION_ARRAYS, err);
    if (status == FMO_OK)
        status = fmo_gpu_upload(&g->device, "AO order and factors", staged, arrays.array,
                                FUNCTION_ARRAYS, err);
    free(staged);
    return status;
}
