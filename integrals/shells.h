/* Kinds of shells, classes of shell pairs, and classes of electron repulsion integrals. Shells and
 * pairs are listed here only; integral classes are all pairs of pair classes. Enums, names,
 * kernels, reports and tests are generated from these tables, and no other file names a pair or a
 * class (tests/integrals/tables.py). Properties that follow from a row are in integrals/tables.h.
 * To add a row: docs/how-to/add-a-shell.md. */
#ifndef FMO_SHELLS_H
#define FMO_SHELLS_H

#ifdef __cplusplus
extern "C" {
#endif

/* X(letter in upper and in lower case, angular momentum, number of functions: Cartesian,
 * spherical), by angular momentum from 0. */
#define FMO_SHELL_TABLE(X) \
    X(S, s, 0, 1, 1)       \
    X(P, p, 1, 3, 3)       \
    X(D, d, 2, 6, 5)       \
    X(F, f, 3, 10, 7)      \
    X(G, g, 4, 15, 9)

/* Pairs: X(name in upper and in lower case, angular momenta of the two shells l_i >= l_j, partner),
 * by increasing angular momenta. A pair (ij) with a partner may include the pair with the same
 * exponents in which the shell of higher angular momentum is replaced by its sp partner
 * (pairs/shell_pair.h); NONE: it does not. */
#define FMO_PAIR_ROW_SS SS, ss, 0, 0, NONE
#define FMO_PAIR_ROW_PS PS, ps, 1, 0, SS
#define FMO_PAIR_ROW_PP PP, pp, 1, 1, NONE
#define FMO_PAIR_ROW_DS DS, ds, 2, 0, NONE
#define FMO_PAIR_ROW_DP DP, dp, 2, 1, NONE
#define FMO_PAIR_ROW_DD DD, dd, 2, 2, NONE
#define FMO_PAIR_ROW_FS FS, fs, 3, 0, NONE
#define FMO_PAIR_ROW_FP FP, fp, 3, 1, NONE
#define FMO_PAIR_ROW_FD FD, fd, 3, 2, NONE
#define FMO_PAIR_ROW_FF FF, ff, 3, 3, NONE
#define FMO_PAIR_ROW_GS GS, gs, 4, 0, NONE
#define FMO_PAIR_ROW_GP GP, gp, 4, 1, NONE
#define FMO_PAIR_ROW_GD GD, gd, 4, 2, NONE
#define FMO_PAIR_ROW_GF GF, gf, 4, 3, NONE
#define FMO_PAIR_ROW_GG GG, gg, 4, 4, NONE

/* Pairs of s and p shells (low l): their classes have their own arithmetic (eri/eri_psss.h and so
 * on) on the CPU, and their own kernels on the GPU. */
#define FMO_PAIR_LOW_L_TABLE(X)      \
    FMO_PAIR_ROW(X, FMO_PAIR_ROW_SS) \
    FMO_PAIR_ROW(X, FMO_PAIR_ROW_PS) \
    FMO_PAIR_ROW(X, FMO_PAIR_ROW_PP)
/* Pairs of d shells with shells up to d (high l): their classes use the McMurchie-Davidson
 * recursion, compiled for each class, on the CPU (eri/eri_md.h) and on the GPU (eri/eri_slice.h,
 * accumulate/gpu/hermite). */
#define FMO_PAIR_HIGH_L_TABLE(X)     \
    FMO_PAIR_ROW(X, FMO_PAIR_ROW_DS) \
    FMO_PAIR_ROW(X, FMO_PAIR_ROW_DP) \
    FMO_PAIR_ROW(X, FMO_PAIR_ROW_DD)
/* Pairs with an f shell: their classes share code whose angular momenta are known at run time on
 * the CPU (eri/eri_any.h), and on the GPU in J. */
#define FMO_PAIR_ANY_GPU_TABLE(X)    \
    FMO_PAIR_ROW(X, FMO_PAIR_ROW_FS) \
    FMO_PAIR_ROW(X, FMO_PAIR_ROW_FP) \
    FMO_PAIR_ROW(X, FMO_PAIR_ROW_FD) \
    FMO_PAIR_ROW(X, FMO_PAIR_ROW_FF)
/* Pairs with a g shell: the same on the CPU alone. */
#define FMO_PAIR_ANY_CPU_TABLE(X)    \
    FMO_PAIR_ROW(X, FMO_PAIR_ROW_GS) \
    FMO_PAIR_ROW(X, FMO_PAIR_ROW_GP) \
    FMO_PAIR_ROW(X, FMO_PAIR_ROW_GD) \
    FMO_PAIR_ROW(X, FMO_PAIR_ROW_GF) \
    FMO_PAIR_ROW(X, FMO_PAIR_ROW_GG)
/* Both. */
#define FMO_PAIR_ANY_TABLE(X) FMO_PAIR_ANY_GPU_TABLE(X) FMO_PAIR_ANY_CPU_TABLE(X)
/* The pairs whose code is compiled for each class. */
#define FMO_PAIR_UNROLLED_TABLE(X) FMO_PAIR_LOW_L_TABLE(X) FMO_PAIR_HIGH_L_TABLE(X)
/* The pairs of the GPU, which begin with them. */
#define FMO_PAIR_GPU_TABLE(X) FMO_PAIR_UNROLLED_TABLE(X) FMO_PAIR_ANY_GPU_TABLE(X)
/* All pairs, which begin with those. */
#define FMO_PAIR_TABLE(X)    FMO_PAIR_GPU_TABLE(X) FMO_PAIR_ANY_CPU_TABLE(X)
#define FMO_PAIR_ROW(X, ...) X(__VA_ARGS__)

/* The kets that are combined with a bra (the further arguments): all pairs up to the bra's class.
 */
#define FMO_PAIR_KETS_SS(X, ...) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_SS)
#define FMO_PAIR_KETS_PS(X, ...) \
    FMO_PAIR_KETS_SS(X, __VA_ARGS__) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_PS)
#define FMO_PAIR_KETS_PP(X, ...) \
    FMO_PAIR_KETS_PS(X, __VA_ARGS__) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_PP)
#define FMO_PAIR_KETS_DS(X, ...) \
    FMO_PAIR_KETS_PP(X, __VA_ARGS__) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_DS)
#define FMO_PAIR_KETS_DP(X, ...) \
    FMO_PAIR_KETS_DS(X, __VA_ARGS__) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_DP)
#define FMO_PAIR_KETS_DD(X, ...) \
    FMO_PAIR_KETS_DP(X, __VA_ARGS__) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_DD)
#define FMO_PAIR_KETS_FS(X, ...) \
    FMO_PAIR_KETS_DD(X, __VA_ARGS__) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_FS)
#define FMO_PAIR_KETS_FP(X, ...) \
    FMO_PAIR_KETS_FS(X, __VA_ARGS__) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_FP)
#define FMO_PAIR_KETS_FD(X, ...) \
    FMO_PAIR_KETS_FP(X, __VA_ARGS__) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_FD)
#define FMO_PAIR_KETS_FF(X, ...) \
    FMO_PAIR_KETS_FD(X, __VA_ARGS__) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_FF)
#define FMO_PAIR_KETS_GS(X, ...) \
    FMO_PAIR_KETS_FF(X, __VA_ARGS__) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_GS)
#define FMO_PAIR_KETS_GP(X, ...) \
    FMO_PAIR_KETS_GS(X, __VA_ARGS__) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_GP)
#define FMO_PAIR_KETS_GD(X, ...) \
    FMO_PAIR_KETS_GP(X, __VA_ARGS__) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_GD)
#define FMO_PAIR_KETS_GF(X, ...) \
    FMO_PAIR_KETS_GD(X, __VA_ARGS__) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_GF)
#define FMO_PAIR_KETS_GG(X, ...) \
    FMO_PAIR_KETS_GF(X, __VA_ARGS__) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_GG)

/* X(enumerator, name, l_i, l_j, l_k, l_l, bra pair class, ket pair class) for every class, by bra
 * in the order of the pairs; the names are OpenFMO's. First the classes of s and p shells only. */
#define FMO_ERI_LOW_L_TABLE(X)           \
    FMO_PAIR_KETS_SS(X, FMO_PAIR_ROW_SS) \
    FMO_PAIR_KETS_PS(X, FMO_PAIR_ROW_PS) \
    FMO_PAIR_KETS_PP(X, FMO_PAIR_ROW_PP)
/* The other classes up to d shells, whose bra has a d shell. */
#define FMO_ERI_HIGH_L_TABLE(X)          \
    FMO_PAIR_KETS_DS(X, FMO_PAIR_ROW_DS) \
    FMO_PAIR_KETS_DP(X, FMO_PAIR_ROW_DP) \
    FMO_PAIR_KETS_DD(X, FMO_PAIR_ROW_DD)
/* The classes with an f shell, which then the bra contains, and none above. */
#define FMO_ERI_ANY_GPU_TABLE(X)         \
    FMO_PAIR_KETS_FS(X, FMO_PAIR_ROW_FS) \
    FMO_PAIR_KETS_FP(X, FMO_PAIR_ROW_FP) \
    FMO_PAIR_KETS_FD(X, FMO_PAIR_ROW_FD) \
    FMO_PAIR_KETS_FF(X, FMO_PAIR_ROW_FF)
/* The classes with a g shell, which then the bra contains. */
#define FMO_ERI_ANY_CPU_TABLE(X)         \
    FMO_PAIR_KETS_GS(X, FMO_PAIR_ROW_GS) \
    FMO_PAIR_KETS_GP(X, FMO_PAIR_ROW_GP) \
    FMO_PAIR_KETS_GD(X, FMO_PAIR_ROW_GD) \
    FMO_PAIR_KETS_GF(X, FMO_PAIR_ROW_GF) \
    FMO_PAIR_KETS_GG(X, FMO_PAIR_ROW_GG)
/* Both. */
#define FMO_ERI_ANY_TABLE(X) FMO_ERI_ANY_GPU_TABLE(X) FMO_ERI_ANY_CPU_TABLE(X)
/* The classes whose code is compiled for each. */
#define FMO_ERI_UNROLLED_TABLE(X) FMO_ERI_LOW_L_TABLE(X) FMO_ERI_HIGH_L_TABLE(X)
/* The classes of the GPU, which begin with them. */
#define FMO_ERI_GPU_TABLE(X) FMO_ERI_UNROLLED_TABLE(X) FMO_ERI_ANY_GPU_TABLE(X)
/* All classes, which begin with those. */
#define FMO_ERI_CLASS_TABLE(X) FMO_ERI_GPU_TABLE(X) FMO_ERI_ANY_CPU_TABLE(X)
#define FMO_ERI_ROW(X, ...)    FMO_ERI_FIELDS(X, __VA_ARGS__)
#define FMO_ERI_FIELDS(X, B, b, li, lj, bp, K, k, lk, ll, kp) \
    X(FMO_ERI_##B##K, b##k, li, lj, lk, ll, FMO_PAIR_##B, FMO_PAIR_##K)

#define FMO_SHELL_ENUM(L, letter, l, cartesian, spherical) FMO_SHELL_##L,
/** Kinds of shells; the number is the angular momentum. */
typedef enum fmo_shell_kind { FMO_SHELL_TABLE(FMO_SHELL_ENUM) FMO_SHELL_KIND_COUNT } fmo_shell_kind;
#undef FMO_SHELL_ENUM

#define FMO_PAIR_ENUM(P, name, li, lj, partner) FMO_PAIR_##P,
/** Classes of shell pairs. FMO_PAIR_NONE: no pair. */
typedef enum fmo_pair_class {
    FMO_PAIR_TABLE(FMO_PAIR_ENUM) FMO_PAIR_CLASS_COUNT,
    FMO_PAIR_NONE = FMO_PAIR_CLASS_COUNT
} fmo_pair_class;
#undef FMO_PAIR_ENUM

#define FMO_ERI_CLASS_ENUM(e, name, li, lj, lk, ll, bra, ket) e,
/** Classes of electron repulsion integrals. */
typedef enum fmo_eri_class {
    FMO_ERI_CLASS_TABLE(FMO_ERI_CLASS_ENUM) FMO_ERI_CLASS_COUNT
} fmo_eri_class;
#undef FMO_ERI_CLASS_ENUM

#ifdef __cplusplus
}
#endif
#endif
