/* Digestion of integrals into Fock matrices: the elements to which an integral contributes. Each
 * quartet (ij|kl) of unordered pairs, with pair ij not after kl, is computed once and represents up
 * to eight permutations:
 *
 *    X^J_ij += D_kl v   X^J_kl += D_ij v
 *    X^K_ik += D_jl v   X^K_il += D_jk v   X^K_jk += D_il v   X^K_jl += D_ik v
 *
 * with v = (ij|kl) times 1/2 for each of i = j, k = l, ij = kl (exact, as powers of two). Each
 * shell block is added where its row shell is not before its column shell. At the end
 *
 *    J = 2 (X^J + X^J^T)     K = X^K + X^K^T
 *
 * Almlof, Faegri, Korsell, J. Comput. Chem. 3, 385 (1982). The table of terms below is used by the
 * CPU kernels, the kernels of s and p shells on the GPU, schedule tile, and the host's part of mode
 * split. Exceptions: J alone comes from Hermite potentials on the CPU (cpu/coulomb_kernel.c) and
 * for d shells on the GPU; gpu/hermite/exchange.cu writes out the four terms of K to share loads of
 * D and to keep sums over all slices; far quartets that contribute to J alone are sums over
 * quadrature points (gpu/kernels/far.cuh). */
#ifndef FMO_DIGEST_H
#define FMO_DIGEST_H

#include <stddef.h>

#include "integrals/real.h"

/* X(matrix, row, column, density row, density column); 0 1 2 3 are the shells i j k l of the
 * quartet. Tables of the terms of J, of K, and of both. */
#define FMO_DIGEST_J_TABLE(X) \
    X(J, 0, 1, 2, 3)          \
    X(J, 2, 3, 0, 1)
#define FMO_DIGEST_K_TABLE(X) \
    X(K, 0, 2, 1, 3)          \
    X(K, 0, 3, 1, 2)          \
    X(K, 1, 2, 0, 3)          \
    X(K, 1, 3, 0, 2)
#define FMO_DIGEST_TABLE(X) FMO_DIGEST_J_TABLE(X) FMO_DIGEST_K_TABLE(X)

/* Bits for the matrices that a build computes. */
enum { FMO_TERMS_J = 1, FMO_TERMS_K = 2, FMO_TERMS_ALL = FMO_TERMS_J | FMO_TERMS_K };

/* Factors at the end: J = FMO_DIGEST_FINAL_J (X + X^T), and likewise for K. */
#define FMO_DIGEST_FINAL_J 2.0
#define FMO_DIGEST_FINAL_K 1.0

/* block[row][column] = sum over the other two shells of density[..][..] eri. n0 .. n3 are the
 * numbers of functions of the shells. All arguments except the arrays are compile-time constants.
 */
FMO_HD void fmo_digest_contract_sizes(int n0, int n1, int n2, int n3, int row, int column,
                                      int den_row, int den_column, const fmo_real *eri,
                                      const fmo_real *density, fmo_real *block)
{
    const int n[4] = {n0, n1, n2, n3}, stride[4] = {n1 * n2 * n3, n2 * n3, n3, 1};
    FMO_UNROLL
    for (int x = 0; x < n[row]; x++) {
        FMO_UNROLL
        for (int y = 0; y < n[column]; y++) {
            fmo_real sum = fmo_set(0.0);
            FMO_UNROLL
            for (int u = 0; u < n[den_row]; u++) {
                FMO_UNROLL
                for (int v = 0; v < n[den_column]; v++)
                    sum += density[u * n[den_column] + v] *
                           eri[x * stride[row] + y * stride[column] + u * stride[den_row] +
                               v * stride[den_column]];
            }
            block[x * n[column] + y] = sum;
        }
    }
}

/* Location of block (row shell, column shell) in X: the shell with the higher index is the row. */
typedef struct fmo_block_place {
    size_t base;
    size_t row_stride, column_stride;
} fmo_block_place;

FMO_HD fmo_block_place fmo_digest_place(size_t nao, int row_ao, int column_ao)
{
    fmo_block_place p;
    const int swap = row_ao < column_ao;
    p.base = (size_t)(swap ? column_ao : row_ao) * nao + (size_t)(swap ? row_ao : column_ao);
    p.row_stride = swap ? 1 : nao;
    p.column_stride = swap ? nao : 1;
    return p;
}

#endif
