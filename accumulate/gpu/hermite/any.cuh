/* Expansions of products whose angular momenta are known when the program runs: pairs with f shells
 * in density.cu and finish.cu. C++ only. */
#ifndef FMO_GPU_HERMITE_ANY_CUH
#define FMO_GPU_HERMITE_ANY_CUH

#include "accumulate/gpu/hermite/hermite.h"
#include "integrals/eri/eri_slice.h"

/* E[i][j][t] of one axis. */
typedef struct fmo_hermite_shape {
    double E[FMO_HERMITE_POWERS][FMO_HERMITE_POWERS][FMO_HERMITE_ORDERS];
} fmo_hermite_shape;

/* Calls each(number, degree, E^ab_number) for the Hermite functions of product ab. */
template <class Each>
static __device__ __forceinline__ void
fmo_hermite_terms_of(int la, int lb, int ab, const fmo_hermite_shape *shape, const Each &each)
{
    const int a = ab / FMO_CARTESIAN(lb), b = ab % FMO_CARTESIAN(lb);
    int i[3], j[3];
    for (int x = 0; x < 3; x++) {
        i[x] = fmo_md_power(la, a, x);
        j[x] = fmo_md_power(lb, b, x);
    }
    for (int v = 0; v <= i[2] + j[2]; v++)
        for (int u = 0; u <= i[1] + j[1]; u++) {
            const double uv = shape[1].E[i[1]][j[1]][u] * shape[2].E[i[2]][j[2]][v];
            for (int t = 0; t <= i[0] + j[0]; t++)
                each(fmo_slice_at(t, u, v), t + u + v, shape[0].E[i[0]][j[0]][t] * uv);
        }
}

#endif
