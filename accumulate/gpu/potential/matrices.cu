/* Converts potentials at the points of products to matrices over functions on a GPU, one warp for
 * each pair of centres (potential/expand.h). Next: potentials.cu, which computes the potentials. */
#include "accumulate/gpu/potential/lists.h"

namespace {

enum { LANES = 32 };

/* Number of doubles from one product's blocks to the next's: odd, so that lanes write to different
 * banks. */
__host__ __device__ int blocks_stride(int la, int lb)
{
    return fmo_blocks_size(la, lb) | 1;
}

/* A function of a centre as a user of a primitive: its shell's angular momentum, its component, and
 * the primitive's coefficient. */
struct user {
    int ang_mom, component;
    double coefficient; /* 0: it does not contain the primitive */
};

/* Finds a function of a centre among the users of a primitive. */
__device__ user user_of(const fmo_gpu_products &p, const fmo_centre_prim &prim, int function)
{
    for (int u = prim.use_begin; u < prim.use_end; u++) {
        const int m = function - p.use[u].function;
        if (m >= 0 && m < FMO_CARTESIAN(p.use[u].ang_mom))
            return {p.use[u].ang_mom, m, p.use[u].coefficient};
    }
    return {0, 0, 0.0};
}

/* Computes the blocks of product k from the potential at its point. */
__device__ void find_blocks(const fmo_gpu_potential_matrix &m, int k, double *blocks)
{
    const fmo_gpu_products &p = *m.products;
    const fmo_product made = fmo_gpu_product_of(p, k), *const z = &made;
    const int N = z->la + z->lb, count = FMO_HERMITE_COUNT(N);
    const double *const from =
        m.V + m.value_begin[N] + (size_t)(p.product[k].point - p.begin[N]) * (size_t)count;
    double R[FMO_HERMITE_MAX];
#define CALL(la, lb)                                                             \
    {                                                                            \
        FMO_UNROLL                                                               \
        for (int t = 0; t < FMO_HERMITE_COUNT((la) + (lb)); t++) R[t] = from[t]; \
        fmo_blocks_potential(la, lb, z, R, blocks);                              \
    }
    FMO_PAIR_UNROLLED_TABLE(FMO_WITH_ANG_MOM) {}
#undef CALL
}

/* Returns the contribution of `num` products, from `begin` on, to element (f, g) of the centres'
 * block. */
__device__ double add_products(const fmo_gpu_products &p, int begin, int num, int stride,
                               const double *blocks, int f, int g)
{
    double sum = 0.0;
    for (int k = 0; k < num; k++) {
        const fmo_gpu_product own = p.product[begin + k];
        const user a = user_of(p, p.prim[own.prim_a], f), b = user_of(p, p.prim[own.prim_b], g);
        const double c = a.coefficient * b.coefficient;
        if (c == 0.0) continue;
        const int lb = p.prim[own.prim_b].ang_mom;
        sum += c * blocks[k * stride + fmo_blocks_place(a.ang_mom, b.ang_mom, lb) +
                          a.component * FMO_CARTESIAN(b.ang_mom) + b.component];
    }
    return sum;
}

/* Transforms the block to the caller's order and normalisation and stores it in both triangles; for
 * a centre with itself both are copies of the lower one. */
__device__ void write_block(const fmo_gpu_potential_matrix &m, const fmo_point_pair &pair,
                            const double *elements)
{
    const fmo_gpu_products &p = *m.products;
    const fmo_centre &A = p.centre[pair.A], &B = p.centre[pair.B];
    const int rows = A.caller_end - A.caller_begin, columns = B.caller_end - B.caller_begin;
    const size_t n = (size_t)p.ao_num;
    for (int e = (int)threadIdx.x; e < rows * columns; e += LANES) {
        const int i = e / columns, j = e % columns;
        if (pair.A == pair.B && j > i) continue;
        const fmo_centre_caller row = p.caller[A.caller_begin + i];
        const fmo_centre_caller column = p.caller[B.caller_begin + j];
        double sum = 0.0;
        for (int r = row.term_begin; r < row.term_end; r++)
            for (int s = column.term_begin; s < column.term_end; s++)
                sum += p.term[r].factor * p.term[s].factor *
                       elements[p.term[r].function * B.functions + p.term[s].function];
        m.potential[(size_t)row.index * n + (size_t)column.index] = sum;
        m.potential[(size_t)column.index * n + (size_t)row.index] = sum;
    }
}

/* Computes the matrix block of a pair of centres: each lane expands one product at a time into
 * shared memory, then the lanes sum the elements of the block. */
__global__ void __launch_bounds__(LANES) write_matrices(const fmo_gpu_potential_matrix *matrix)
{
    extern __shared__ double shared[];
    const fmo_gpu_potential_matrix &m = matrix[blockIdx.y];
    const fmo_gpu_products &p = *m.products;
    if ((int)blockIdx.x >= p.pair_num) return;
    const fmo_point_pair pair = p.pair[blockIdx.x];
    const fmo_centre &A = p.centre[pair.A], &B = p.centre[pair.B];
    const int size = A.functions * B.functions, stride = blocks_stride(A.ang_mom, B.ang_mom);
    double *const blocks = shared, *const elements = shared + LANES * stride;
    const int lane = (int)threadIdx.x, end = p.pair[blockIdx.x + 1].begin;
    for (int e = lane; e < size; e += LANES) elements[e] = 0.0;
    for (int begin = pair.begin; begin < end; begin += LANES) {
        const int num = end - begin < LANES ? end - begin : LANES;
        __syncwarp();
        if (lane < num) find_blocks(m, begin + lane, blocks + lane * stride);
        __syncwarp();
        for (int e = lane; e < size; e += LANES)
            elements[e] +=
                add_products(p, begin, num, stride, blocks, e / B.functions, e % B.functions);
    }
    __syncwarp();
    write_block(m, pair, elements);
}

} // namespace

size_t fmo_gpu_matrix_shared(const fmo_products *products)
{
    const fmo_centres *const cs = &products->centres;
    const int largest = fmo_centres_largest(cs);
    int ang_mom = 0;
    for (int c = 0; c < cs->num; c++)
        if (cs->centre[c].ang_mom > ang_mom) ang_mom = cs->centre[c].ang_mom;
    return (size_t)(LANES * blocks_stride(ang_mom, ang_mom) + largest * largest) * sizeof(double);
}

cudaError_t fmo_gpu_write_matrices(const fmo_gpu_potential_matrix *matrix, size_t num, int pairs,
                                   size_t shared, cudaStream_t stream)
{
    if (!num || !pairs) return cudaSuccess;
    write_matrices<<<dim3((unsigned)pairs, (unsigned)num), LANES, shared, stream>>>(matrix);
    return cudaGetLastError();
}
