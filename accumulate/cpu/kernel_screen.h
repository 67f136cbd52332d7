/* Which kets of a family a bra meets, and in which order; the first step of cpu/kernel.c. */
#ifndef FMO_CPU_KERNEL_SCREEN_H
#define FMO_CPU_KERNEL_SCREEN_H

#include "accumulate/cpu/kernel.h"
#include "accumulate/rules/screen.h"
#include "integrals/real.h"

/* worker->near for a leaf. */
static void find_near(const fmo_cpu_build *build, int leaf, fmo_cpu_worker *w)
{
    if (w->near_of == leaf) return;
    for (int n = 0; w->near_of >= 0 && n < build->near[w->near_of].num; n++)
        w->near[build->near[w->near_of].leaf[n]] = 0.0;
    for (int n = 0; n < build->near[leaf].num; n++) w->near[build->near[leaf].leaf[n]] = 1.0;
    w->near_of = leaf;
}

/* Pairs [begin, end) of the ket list that survive, in list order; returns how many. `most` bounds
 * the density factor. near: see fmo_cpu_worker; NULL: all are. */
static int screen_kets(const fmo_cpu_build *build, const fmo_cpu_pair_list *kets,
                       const double *pair_max, const double *shell_max, const double *near,
                       const int *leaf_of, double bra_bound, double bra_max, double most, int begin,
                       int end, int *ket)
{
    const double cutoff = build->cutoff;
    int num = 0;
    end = fmo_cpu_kets_end(kets, begin, end, bra_bound, most, cutoff);
    if (build->store) {
        for (int q = begin; q < end; q++) ket[num++] = q;
        return num;
    }
    int q = begin;
#if FMO_SIMD_WIDTH == 8 && defined(__AVX512F__)
    const __m512d Q = _mm512_set1_pd(bra_bound), D = _mm512_set1_pd(bra_max),
                  limit = _mm512_set1_pd(cutoff), four = _mm512_set1_pd(4.0);
    __m256i index =
        _mm256_add_epi32(_mm256_set1_epi32(begin), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    for (; q + 8 <= end; q += 8) {
        const __m256i i = _mm256_loadu_si256((const __m256i *)(kets->i + q));
        const __m256i j = _mm256_loadu_si256((const __m256i *)(kets->j + q));
        const __m512d rows = _mm512_max_pd(_mm512_i32gather_pd(i, shell_max, 8),
                                           _mm512_i32gather_pd(j, shell_max, 8));
        __m512d own = _mm512_max_pd(D, _mm512_loadu_pd(pair_max + q));
        if (near) {
            const __m256i leaf = _mm256_loadu_si256((const __m256i *)(leaf_of + q));
            own = _mm512_mul_pd(own, _mm512_i32gather_pd(leaf, near, 8));
        }
        const __m512d factor = _mm512_max_pd(_mm512_mul_pd(four, own), rows);
        const __m512d bound = _mm512_mul_pd(Q, _mm512_loadu_pd(kets->bound + q));
        const __mmask8 stay = _mm512_cmp_pd_mask(_mm512_mul_pd(bound, factor), limit, _CMP_GE_OQ);
        _mm256_storeu_si256((__m256i *)(ket + num), _mm256_maskz_compress_epi32(stay, index));
        num += __builtin_popcount(stay);
        index = _mm256_add_epi32(index, _mm256_set1_epi32(8));
    }
#endif
    for (; q < end; q++) {
        const double here = near ? near[leaf_of[q]] : 1.0;
        const double factor = fmo_screen_density_by_rows(
            here * bra_max, here * pair_max[q], shell_max[kets->i[q]], shell_max[kets->j[q]]);
        ket[num] = q;
        num += bra_bound * kets->bound[q] * factor >= cutoff;
    }
    return num;
}

/* Kets up to so many are put in order one by one: what counting begins with takes longer. */
enum { FEW_KETS = 16 };

/* worker->ket[0..num-1] -> worker->ordered, by number of primitives and then by distance from the
 * bra; equals keep their order. Returns the primitive pairs in them. */
static int64_t order_kets(const fmo_cpu_pair_list *bras, int bra, const fmo_cpu_pair_list *kets,
                          int count_max, int num, fmo_cpu_worker *worker)
{
    const double x = bras->middle[0][bra], y = bras->middle[1][bra], z = bras->middle[2][bra];
    const int keys = count_max * FMO_CPU_DISTANCES;
    int *count = worker->key_count, *key = worker->key;
    int64_t prims = 0;
    for (int n = 0; n < num; n++) {
        const int q = worker->ket[n];
        const double dx = kets->middle[0][q] - x, dy = kets->middle[1][q] - y,
                     dz = kets->middle[2][q] - z;
        const double r2 = 1.0 + dx * dx + dy * dy + dz * dz;
        int64_t bits;
        memcpy(&bits, &r2, sizeof bits);
        const int step = (int)(bits >> 51) - 2 * 1023; /* exponent and a bit: r2 in factors of 2 */
        key[n] = (kets->count[q] - 1) * FMO_CPU_DISTANCES +
                 (step < FMO_CPU_DISTANCES ? step : FMO_CPU_DISTANCES - 1);
        prims += kets->kept[q];
    }
    if (num <= FEW_KETS) {
        int sorted[FEW_KETS];
        for (int n = 0; n < num; n++) {
            int at = n;
            for (; at > 0 && sorted[at - 1] > key[n]; at--) {
                sorted[at] = sorted[at - 1];
                worker->ordered[at] = worker->ordered[at - 1];
            }
            sorted[at] = key[n];
            worker->ordered[at] = worker->ket[n];
        }
        return prims;
    }
    memset(count, 0, ((size_t)keys + 1) * sizeof *count);
    for (int n = 0; n < num; n++) count[key[n] + 1]++;
    for (int k = 1; k < keys; k++) count[k + 1] += count[k];
    for (int n = 0; n < num; n++) worker->ordered[count[key[n]]++] = worker->ket[n];
    return prims;
}

#endif
