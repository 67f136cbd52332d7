/* Shell pairs for gradients on a GPU, made on the host. An SP shell is a shell, or a p shell with
 * the s shell of the same exponents on its nucleus, so that four classes of shell pairs become one.
 * Pairs of SP shells have the classes of their shells of higher angular momentum. */
#ifndef FMO_GPU_GRADIENT_LISTS_H
#define FMO_GPU_GRADIENT_LISTS_H

#include "integrals/basis_internal.h"
#include "integrals/eri/eri_gradient.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fmo_gradient_sp_shell {
    int ang_mom, nucleus;
    int shell, partner; /* partner: the s shell, or -1 */
    fmo_gradient_functions functions;
    double centre[3];
} fmo_gradient_sp_shell;

/* A pair of SP shells, or a segment of its primitive pairs that is treated as a pair of its own:
 * primitive pairs [begin, begin + num), which descend in bound. The bounds are sums over these
 * primitive pairs. */
typedef struct fmo_gradient_pair {
    int sp_shell[2], nucleus[2];
    fmo_gradient_functions functions[2];
    int begin, num;
    float bound, derivative_bound; /* rounded up */
    double A[3], AB[3];
    int molecule; /* on the GPU: number of the molecule in its group; in these lists 0 */
} fmo_gradient_pair;

/* The pairs of a class, by number of primitive pairs and bound in descending order
 * (rules/pair_order.h). Prefactors of a pair of one SP shell are halved, so that every pair stands
 * for both its orders. */
typedef struct fmo_gradient_list {
    int num, prim_num;
    fmo_gradient_pair *pair;
    fmo_gradient_prim *prim;
    int *pair_of; /* [prim_num] */
    int *point;   /* [prim_num] primitive pairs by descending bound */
} fmo_gradient_list;

typedef struct fmo_gradient_lists {
    int sp_shell_num;
    fmo_gradient_sp_shell *sp_shell; /* by angular momentum */
    fmo_gradient_list of[FMO_PAIR_GPU_COUNT];
} fmo_gradient_lists;

/* Makes the lists, with at most `depth` primitive pairs in a segment. Primitive pairs with bounds
 * below `threshold` are left out. */
fmo_status fmo_gradient_make_lists(const fmo_basis *basis, double threshold, int depth, int threads,
                                   fmo_gradient_lists *lists, fmo_error *err);
void fmo_gradient_free_lists(fmo_gradient_lists *lists);

#ifdef __cplusplus
}
#endif
#endif
