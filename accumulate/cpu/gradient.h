/* Derivatives of two-electron energies in mode cpu: what its driver (gradient.c) and its kernels
 * (gradient_kernel.c, once per instruction set) have in common. Equations:
 * docs/explanation/gradients.md. */
#ifndef FMO_CPU_GRADIENT_H
#define FMO_CPU_GRADIENT_H

#include "accumulate/cpu/kernel.h"
#include "accumulate/plan/gradient.h"
#include "integrals/eri/eri_md.h"

enum {
    /* Hermite terms of all products of a pair, at most */
    FMO_GRADIENT_TERMS_MAX = FMO_MD_TERMS(FMO_ANG_MOM_MAX, FMO_ANG_MOM_MAX)
};

/* A term of one pass, its density in internal order. A weight is 0 if the pass is not for that
 * part, because its operator is another. */
typedef struct fmo_cpu_gradient_term {
    const double *density;
    double coulomb, exchange;
} fmo_cpu_gradient_term;

/* What derivatives need of the pairs of a class beyond the list (cpu/pairs.h). */
typedef struct fmo_cpu_gradient_pairs {
    double *first, *share; /* [exponent_num] exponent a of the first shell; b/p */
    double *slope;         /* [pair] bound on the pair's derivatives, as list->bound is one on the
                            * pair */
    double *steepest;      /* [family] largest ratio of slope and bound */
    double *coulomb_max;   /* [pair] see fmo_cpu_gradient */
} fmo_cpu_gradient_pairs;

/* What all threads of a pass read: the parts of all terms with one operator. */
typedef struct fmo_cpu_gradient {
    const fmo_basis *basis;
    const fmo_cpu_pairs *pairs;
    fmo_cpu_gradient_pairs of_pairs[FMO_PAIR_CLASS_COUNT];
    fmo_operator op;
    int is_coulomb; /* 1: the operator is 1/r */
    double cutoff;
    const fmo_cpu_gradient_term *term;
    int term_num;
    /* Bounds of the densities: sqrt(sum over terms of |weight| max|D|^2) of each pair for J, with
     * the weight of J in screening (of_pairs[..].coulomb_max), and of each block of shells for K;
     * and the largest of all pairs, and of each row of blocks. */
    double coulomb_largest;
    double *exchange_max; /* [shell][shell] */
    double *row_max;      /* [shell] */
} fmo_cpu_gradient;

/* Terms of the Hermite expansion of all products of two shells, product by product: their Hermite
 * functions, as numbers by degree (fmo_hermite_index) and as places in the array of R_tuv. The same
 * terms once more by Hermite function. */
typedef struct fmo_cpu_terms {
    int la, lb, products, hermite, num;     /* products is 0 if there are none: la or lb is -1 */
    short begin[FMO_PAIR_PRODUCTS_MAX + 1]; /* [product] first term */
    short rank[FMO_GRADIENT_TERMS_MAX], place[FMO_GRADIENT_TERMS_MAX];
    short by_begin[FMO_HERMITE_COUNT(FMO_PAIR_ORDER_MAX) + 1]; /* [Hermite function] */
    short by_term[FMO_GRADIENT_TERMS_MAX], by_product[FMO_GRADIENT_TERMS_MAX];
} fmo_cpu_terms;

/* Tables of a class: the pair itself, and with l of its first or second shell lowered by 1. */
enum { FMO_CPU_AS_IS, FMO_CPU_FIRST_LOWER, FMO_CPU_SECOND_LOWER, FMO_CPU_LOWERED };
typedef struct fmo_cpu_gradient_class {
    int eri_class; /* -1: not made yet */
    int order, n;  /* of the derivatives R_tuv: L + 1; n = order + 1, the stride in u */
    fmo_cpu_terms terms[2][FMO_CPU_LOWERED]; /* [side] */
    /* places of R_tuv, by degree */
    short place[FMO_HERMITE_COUNT(FMO_ERI_ORDER_MAX)];
} fmo_cpu_gradient_class;

/* Working memory of one thread. Vectors have as many doubles as there are lanes. */
typedef struct fmo_cpu_gradient_worker {
    fmo_cpu_worker of_build; /* lists of kets, packed primitives, table of exponents */
    fmo_cpu_gradient_class *tables;
    int bra_stride;    /* terms of the bras of this basis, at most */
    double *bra_terms; /* [primitive][FMO_CPU_LOWERED][bra_stride] coefficients, times prefactors */
    double *vectors;   /* fmo_cpu_gradient_layout */
    double *sums;      /* [nucleus][3] of the running bras */
} fmo_cpu_gradient_worker;

/* Rows of Hermite functions are processed FMO_GRADIENT_BLOCK at a time; a single one alone. */
enum { FMO_GRADIENT_BLOCK = 4 };
static inline int fmo_gradient_width(int rows)
{
    return rows > 1 ? FMO_GRADIENT_BLOCK : 1;
}
static inline size_t fmo_gradient_rows(int rows)
{
    const int width = fmo_gradient_width(rows);
    return (size_t)((rows + width - 1) / width * width);
}

/* Offsets, in vectors, of the arrays of a vector of kets with up to `count` primitives. */
typedef struct fmo_cpu_gradient_layout {
    size_t density;     /* [ab][cd] of the quartet */
    size_t blocks;      /* blocks of D from which it is made */
    size_t folded;      /* [block of p][cd][p in the block] */
    size_t r, product;  /* R_tuv, and the density of the product of both Hermite expansions */
    size_t low_bra;     /* [block of p][cd][p in the block], p of order l_i + l_j - 1 */
    size_t low_kets;    /* the same of each primitive of the kets with ab */
    size_t lowered[4];  /* integrals with l_i, l_j, l_k or l_l lowered by 1, times ab or cd */
    size_t ket_terms;   /* [primitive] coefficients: as is by product and by Hermite function,
                         * first and second lowered */
    size_t term_stride; /* between primitives */
    size_t exponents;   /* [primitive][2] first exponent and share (cpu/pairs.h) */
    size_t all;
} fmo_cpu_gradient_layout;

/* Returns the layout for a class of quartets, with kets of up to `count` primitives; `all` is the
 * number of vectors that it takes. */
static inline fmo_cpu_gradient_layout fmo_cpu_gradient_layout_of(int eri_class, int count)
{
    const int bra = fmo_eri_class_bra(eri_class), ket = fmo_eri_class_ket(eri_class);
    const int l[4] = {fmo_pair_ang_mom(bra, 0), fmo_pair_ang_mom(bra, 1), fmo_pair_ang_mom(ket, 0),
                      fmo_pair_ang_mom(ket, 1)};
    const size_t f[4] = {(size_t)FMO_CARTESIAN(l[0]), (size_t)FMO_CARTESIAN(l[1]),
                         (size_t)FMO_CARTESIAN(l[2]), (size_t)FMO_CARTESIAN(l[3])};
    const size_t ab = f[0] * f[1], cd = f[2] * f[3], kets = (size_t)count;
    const size_t n = (size_t)(l[0] + l[1] + l[2] + l[3] + 2);
    fmo_cpu_gradient_layout at = {.density = 0};
    at.blocks = at.density + ab * cd;
    at.folded = at.blocks + (f[0] + f[1]) * (f[2] + f[3]) + cd;
    at.r = at.folded + fmo_gradient_rows(FMO_HERMITE_COUNT(l[0] + l[1])) * cd;
    at.product = at.r + n * n * n;
    at.low_bra = at.product + n * n * n;
    at.low_kets = at.low_bra + fmo_gradient_rows(FMO_HERMITE_COUNT(l[0] + l[1] - 1)) * cd;
    at.lowered[0] = at.low_kets + kets * fmo_gradient_rows(FMO_HERMITE_COUNT(l[2] + l[3] - 1)) * ab;
    at.lowered[1] = at.lowered[0] + (size_t)FMO_CARTESIAN(l[0] - 1) * f[1] * cd;
    at.lowered[2] = at.lowered[1] + f[0] * (size_t)FMO_CARTESIAN(l[1] - 1) * cd;
    at.lowered[3] = at.lowered[2] + (size_t)FMO_CARTESIAN(l[2] - 1) * f[3] * ab;
    at.ket_terms = at.lowered[3] + f[2] * (size_t)FMO_CARTESIAN(l[3] - 1) * ab;
    at.term_stride = (size_t)(2 * FMO_MD_TERMS(l[2], l[3]) + FMO_MD_TERMS(l[2] - 1, l[3]) +
                              FMO_MD_TERMS(l[2], l[3] - 1));
    at.exponents = at.ket_terms + kets * at.term_stride;
    at.all = at.exponents + 2 * kets;
    return at;
}

/* Adds the derivatives of the quartets of a bra pair to worker->sums. */
typedef void fmo_cpu_gradient_kernel(int eri_class, const fmo_cpu_gradient *g,
                                     fmo_cpu_gradient_worker *worker, int bra);
/* Each is compiled from cpu/gradient_kernel.c. */
fmo_cpu_gradient_kernel fmo_cpu_gradient_bra_baseline;
fmo_cpu_gradient_kernel fmo_cpu_gradient_bra_avx2;   /* x86-64 */
fmo_cpu_gradient_kernel fmo_cpu_gradient_bra_avx512; /* x86-64 */

#ifdef __cplusplus
extern "C" {
#endif
/* fmo_cpu_build_gradient with a kernel that is not the best of this processor. */
fmo_status fmo_cpu_build_gradient_by(fmo_cpu_gradient_kernel *kernel, fmo_fock_plan *plan,
                                     const fmo_gradient_term *terms, int term_num, double *gradient,
                                     fmo_error *err);
#ifdef __cplusplus
}
#endif

#endif
