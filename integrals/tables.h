/* Properties that follow from the tables of shells, pairs and classes (shells.h): constants for
 * array sizes, and functions of a pair or class that the compiler evaluates where the class is
 * known. For host and device. */
#ifndef FMO_TABLES_H
#define FMO_TABLES_H

#include <fmo/shells.h>

#if defined(__CUDACC__)
#define FMO_TABLE_FUNCTION static __host__ __device__ constexpr
#elif defined(__cplusplus)
#define FMO_TABLE_FUNCTION static constexpr
#else
#define FMO_TABLE_FUNCTION __attribute__((unused)) static inline
#endif

#if defined(__cplusplus)
#define FMO_STATIC_ASSERT(condition, text) static_assert(condition, text);
#else
#define FMO_STATIC_ASSERT(condition, text) _Static_assert(condition, text);
#endif

/* ---- shells --------------------------------------------------------------------------------- */

/* Number of Cartesian functions of a shell, over which integrals are computed. */
FMO_TABLE_FUNCTION int fmo_shell_functions(int ang_mom)
{
#define ROW(L, letter, l, cartesian, spherical) ang_mom == l ? cartesian:
    return FMO_SHELL_TABLE(ROW) 0;
#undef ROW
}

/* Number of spherical (pure) functions of a shell. */
FMO_TABLE_FUNCTION int fmo_shell_spherical(int ang_mom)
{
#define ROW(L, letter, l, cartesian, spherical) ang_mom == l ? spherical:
    return FMO_SHELL_TABLE(ROW) 0;
#undef ROW
}

/* Number of functions of a shell in either form. */
FMO_TABLE_FUNCTION int fmo_shell_functions_of(int ang_mom, int cartesian)
{
    return cartesian ? fmo_shell_functions(ang_mom) : fmo_shell_spherical(ang_mom);
}

/* 's', 'p', ...; 0 for a kind that is not in the table. */
FMO_TABLE_FUNCTION char fmo_shell_letter(int ang_mom)
{
#define ROW(L, letter, l, cartesian, spherical) ang_mom == l ? (#letter)[0]:
    return (char)(FMO_SHELL_TABLE(ROW) 0);
#undef ROW
}

/* Power of x (0), y (1) or z (2) in Cartesian function c: x y z, xx xy xz yy yz zz, ... */
FMO_TABLE_FUNCTION int fmo_shell_power(int ang_mom, int c, int axis)
{
    int rest = 0, before = 0; /* functions with `rest` factors y or z come after `before` others */
    while (rest < ang_mom && c > before + rest) before += ++rest;
    return axis == 0 ? ang_mom - rest : axis == 1 ? rest - (c - before) : c - before;
}

/* The number of Cartesian functions as an expression for the preprocessor; checked below. */
#define FMO_CARTESIAN(l) (((l) + 1) * ((l) + 2) / 2)
/* Number of monomials x^a y^b z^c, derivatives or Hermite functions up to a degree; 0 for -1. */
#define FMO_HERMITE_COUNT(degree) (((degree) + 1) * ((degree) + 2) * ((degree) + 3) / 6)

/* ---- pairs ---------------------------------------------------------------------------------- */

/* Angular momentum of shell 0 or 1 of a pair. */
FMO_TABLE_FUNCTION int fmo_pair_ang_mom(int pair_class, int shell)
{
#define ROW(P, name, li, lj, partner) pair_class == FMO_PAIR_##P ? (shell ? lj : li):
    return FMO_PAIR_TABLE(ROW) - 1;
#undef ROW
}

/* Sum of the angular momenta: the pair's contribution to the order of the Boys function. */
FMO_TABLE_FUNCTION int fmo_pair_order(int pair_class)
{
    return fmo_pair_ang_mom(pair_class, 0) + fmo_pair_ang_mom(pair_class, 1);
}

/* The pair class of shells with l_i >= l_j, or FMO_PAIR_NONE. */
FMO_TABLE_FUNCTION int fmo_pair_class_of(int l_i, int l_j)
{
#define ROW(P, name, li, lj, partner) l_i == li &&l_j == lj ? FMO_PAIR_##P:
    return FMO_PAIR_TABLE(ROW) FMO_PAIR_NONE;
#undef ROW
}

/* The pair class that an sp pair of this class may include, or FMO_PAIR_NONE. */
FMO_TABLE_FUNCTION int fmo_pair_partner(int pair_class)
{
#define ROW(P, name, li, lj, partner) pair_class == FMO_PAIR_##P ? FMO_PAIR_##partner:
    return FMO_PAIR_TABLE(ROW) FMO_PAIR_NONE;
#undef ROW
}

/* The pair class that may include this one, or FMO_PAIR_NONE. */
FMO_TABLE_FUNCTION int fmo_pair_including(int pair_class)
{
#define ROW(P, name, li, lj, partner) pair_class == FMO_PAIR_##partner ? FMO_PAIR_##P:
    return pair_class == FMO_PAIR_NONE ? FMO_PAIR_NONE : FMO_PAIR_TABLE(ROW) FMO_PAIR_NONE;
#undef ROW
}

/* Number of functions of shell 0 or 1; with `sp` that of the padded SP (L) shell to which the shell
 * of higher angular momentum belongs, if the pair has a partner. */
FMO_TABLE_FUNCTION int fmo_pair_functions(int pair_class, int shell, int sp)
{
    return fmo_shell_functions(fmo_pair_ang_mom(pair_class, shell)) +
           (sp && fmo_pair_partner(pair_class) != FMO_PAIR_NONE &&
                    fmo_pair_ang_mom(fmo_pair_partner(pair_class), shell) !=
                        fmo_pair_ang_mom(pair_class, shell)
                ? fmo_shell_functions(fmo_pair_ang_mom(fmo_pair_partner(pair_class), shell))
                : 0);
}

/* Number of products of functions, with `sp` including those of the included pair. */
FMO_TABLE_FUNCTION int fmo_pair_products(int pair_class, int sp)
{
    return fmo_pair_functions(pair_class, 0, sp) * fmo_pair_functions(pair_class, 1, sp);
}

/* ---- classes -------------------------------------------------------------------------------- */

/* Pair classes of bra and ket of a class. */
FMO_TABLE_FUNCTION int fmo_eri_class_bra(int eri_class)
{
#define ROW(e, name, li, lj, lk, ll, bra, ket) eri_class == e ? bra:
    return FMO_ERI_CLASS_TABLE(ROW) 0;
#undef ROW
}
FMO_TABLE_FUNCTION int fmo_eri_class_ket(int eri_class)
{
#define ROW(e, name, li, lj, lk, ll, bra, ket) eri_class == e ? ket:
    return FMO_ERI_CLASS_TABLE(ROW) 0;
#undef ROW
}

/* Order of the Boys function: the sum of the four angular momenta. */
FMO_TABLE_FUNCTION int fmo_eri_class_order(int eri_class)
{
    return fmo_pair_order(fmo_eri_class_bra(eri_class)) +
           fmo_pair_order(fmo_eri_class_ket(eri_class));
}

/* The class of two pairs in either order; FMO_ERI_CLASS_COUNT if one is FMO_PAIR_NONE. */
FMO_TABLE_FUNCTION int fmo_eri_class_of(int pair, int other)
{
#define ROW(e, name, li, lj, lk, ll, bra, ket) \
    (pair == bra && other == ket) || (pair == ket && other == bra) ? e:
    return FMO_ERI_CLASS_TABLE(ROW) FMO_ERI_CLASS_COUNT;
#undef ROW
}

/* Number of integrals of a quartet of a class. */
FMO_TABLE_FUNCTION int fmo_eri_class_integrals(int eri_class, int sp)
{
    return fmo_pair_products(fmo_eri_class_bra(eri_class), sp) *
           fmo_pair_products(fmo_eri_class_ket(eri_class), sp);
}

/* ---- largest values, for the sizes of arrays ------------------------------------------------ */

/* A union is as large as its largest member. */
union fmo_shell_sizes {
#define ROW(L, letter, l, cartesian, spherical) char letter[cartesian];
    FMO_SHELL_TABLE(ROW)
#undef ROW
};
union fmo_pair_orders {
#define ROW(P, name, li, lj, partner) char name[(li) + (lj) + 1];
    FMO_PAIR_TABLE(ROW)
#undef ROW
};
union fmo_pair_sizes {
#define ROW(P, name, li, lj, partner) char name[FMO_CARTESIAN(li) * FMO_CARTESIAN(lj)];
    FMO_PAIR_TABLE(ROW)
#undef ROW
};
enum {
    FMO_ANG_MOM_MAX = FMO_SHELL_KIND_COUNT - 1,
    FMO_SHELL_FUNCTIONS_MAX = sizeof(union fmo_shell_sizes),
    FMO_PAIR_ORDER_MAX = sizeof(union fmo_pair_orders) - 1,
    FMO_PAIR_PRODUCTS_MAX = sizeof(union fmo_pair_sizes), /* plain pairs; sp pairs have no more */
    FMO_ERI_ORDER_MAX = 2 * FMO_PAIR_ORDER_MAX,
    FMO_ERI_INTEGRALS_MAX = FMO_PAIR_PRODUCTS_MAX * FMO_PAIR_PRODUCTS_MAX
};

/* Pairs and classes of s and p shells come first in the tables; their GPU kernels use these sizes.
 * Those with d shells follow; code that is compiled for each class uses the sizes of both
 * ("unrolled"). Those with f shells, whose code takes angular momenta at run time, come next, and
 * end the pairs and classes of the GPU; those with g shells come last. */
#define ROW(...) +1
enum {
    FMO_PAIR_LOW_L_COUNT = 0 FMO_PAIR_LOW_L_TABLE(ROW),
    FMO_ERI_LOW_L_COUNT = 0 FMO_ERI_LOW_L_TABLE(ROW),
    FMO_PAIR_UNROLLED_COUNT = 0 FMO_PAIR_UNROLLED_TABLE(ROW),
    FMO_ERI_UNROLLED_COUNT = 0 FMO_ERI_UNROLLED_TABLE(ROW),
    FMO_PAIR_GPU_COUNT = 0 FMO_PAIR_GPU_TABLE(ROW),
    FMO_ERI_GPU_COUNT = 0 FMO_ERI_GPU_TABLE(ROW)
};
#undef ROW
#define ROW(P, name, li, lj, partner) char name[(li) + (lj) + 1];
union fmo_low_l_orders {
    FMO_PAIR_LOW_L_TABLE(ROW)
};
union fmo_unrolled_orders {
    FMO_PAIR_UNROLLED_TABLE(ROW)
};
union fmo_gpu_orders {
    FMO_PAIR_GPU_TABLE(ROW)
};
#undef ROW
union fmo_low_l_sizes {
#define ROW(P, name, li, lj, partner) char name[FMO_CARTESIAN(li) * FMO_CARTESIAN(lj)];
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
};
enum {
    FMO_PAIR_LOW_L_ORDER_MAX = sizeof(union fmo_low_l_orders) - 1,
    FMO_PAIR_LOW_L_PRODUCTS_MAX = sizeof(union fmo_low_l_sizes),
    FMO_ERI_LOW_L_ORDER_MAX = 2 * FMO_PAIR_LOW_L_ORDER_MAX,
    /* kinds of shells with low l: s and p */
    FMO_SHELL_LOW_L_COUNT = FMO_PAIR_LOW_L_ORDER_MAX / 2 + 1,
    FMO_PAIR_UNROLLED_ORDER_MAX = sizeof(union fmo_unrolled_orders) - 1,
    FMO_ERI_UNROLLED_ORDER_MAX = 2 * FMO_PAIR_UNROLLED_ORDER_MAX,
    FMO_UNROLLED_ANG_MOM_MAX = FMO_PAIR_UNROLLED_ORDER_MAX / 2,
    FMO_UNROLLED_FUNCTIONS_MAX = FMO_CARTESIAN(FMO_UNROLLED_ANG_MOM_MAX),
    /* of the GPU's pairs and classes */
    FMO_PAIR_GPU_ORDER_MAX = sizeof(union fmo_gpu_orders) - 1,
    FMO_ERI_GPU_ORDER_MAX = 2 * FMO_PAIR_GPU_ORDER_MAX,
    FMO_GPU_ANG_MOM_MAX = FMO_PAIR_GPU_ORDER_MAX / 2,
    FMO_GPU_FUNCTIONS_MAX = FMO_CARTESIAN(FMO_GPU_ANG_MOM_MAX),
    FMO_PAIR_GPU_PRODUCTS_MAX = FMO_GPU_FUNCTIONS_MAX * FMO_GPU_FUNCTIONS_MAX,
    FMO_SLICE_ANG_MOM_LIMIT = 3 /* up to which eri_slice.h computes quartets in slices */
};

/* The limits of the code that is being compiled: of the GPU in CUDA files, so that local arrays of
 * code that host and device share have no elements for shells that the GPU does not compute. Not
 * for structs that both see. */
#if defined(__CUDACC__)
enum { FMO_TARGET_ANG_MOM_MAX = FMO_GPU_ANG_MOM_MAX };
#else
enum { FMO_TARGET_ANG_MOM_MAX = FMO_ANG_MOM_MAX };
#endif
enum {
    FMO_TARGET_PAIR_ORDER_MAX = 2 * FMO_TARGET_ANG_MOM_MAX,
    FMO_TARGET_ERI_ORDER_MAX = 2 * FMO_TARGET_PAIR_ORDER_MAX
};

/* y and z powers, together, of Cartesian function c of a shell, without a loop. */
#if defined(__CUDACC__)
#define FMO_SHELL_REST(c) (((c) > 0) + ((c) > 2) + ((c) > 5))
#else
#define FMO_SHELL_REST(c) (((c) > 0) + ((c) > 2) + ((c) > 5) + ((c) > 9))
#endif
FMO_STATIC_ASSERT(FMO_ANG_MOM_MAX <= 4 && FMO_GPU_ANG_MOM_MAX <= 3,
                  "tables.h: FMO_SHELL_REST counts to g shells, on the GPU to f shells")

/* ---- what a row has to be ------------------------------------------------------------------- */

#define ROW(L, letter, l, cartesian, spherical)                                                  \
    FMO_STATIC_ASSERT(FMO_SHELL_##L == (l), "FMO_SHELL_TABLE: rows by angular momentum, from 0") \
    FMO_STATIC_ASSERT((cartesian) == FMO_CARTESIAN(l) && (spherical) == 2 * (l) + 1,             \
                      "FMO_SHELL_TABLE: functions of a shell")
FMO_SHELL_TABLE(ROW)
#undef ROW
#define ROW(P, name, li, lj, partner)                                                             \
    FMO_STATIC_ASSERT((li) >= (lj) && (li) <= FMO_ANG_MOM_MAX, "FMO_PAIR_TABLE: angular momenta") \
    FMO_STATIC_ASSERT(FMO_PAIR_##partner == FMO_PAIR_NONE || FMO_PAIR_##partner < FMO_PAIR_##P,   \
                      "FMO_PAIR_TABLE: a pair includes one that stands before it")
FMO_PAIR_TABLE(ROW)
#undef ROW

#endif
