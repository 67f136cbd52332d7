/* The sweeps of cpu/coulomb_kernel.c, one for each class and kind (coulomb_sweep.inc). Compiled
 * once per instruction set, with FMO_CPU_SWEEPS set by CMake. */
#include "accumulate/cpu/coulomb_sweep.inc"

/* Classes with f or g shells share one copy of each kind. */
#define SWEEP_ANY(what)                                                                      \
    __attribute__((noinline)) static void any_##what(int NB, int NK, const coulomb_sweep *s) \
    {                                                                                        \
        fmo_real r[FMO_ANY_R_MAX];                                                           \
        sweep(1, what, NB, NK, r, s);                                                        \
    }
SWEEP_ANY(TO_BRA)
SWEEP_ANY(TO_KET)
SWEEP_ANY(TO_BOTH)
SWEEP_ANY(SEVERAL)
#undef SWEEP_ANY

#define SWEEP(name, what, li, lj, lk, ll)                                                        \
    static void sweep_##name##_##what(const coulomb_sweep *s)                                    \
    {                                                                                            \
        fmo_real r[(li + lj + lk + ll + 1) * (li + lj + lk + ll + 1) * (li + lj + lk + ll + 1)]; \
        sweep(0, what, li + lj, lk + ll, r, s);                                                  \
    }
#define SWEEPS_OF_CLASS(e, name, li, lj, lk, ll, bra, ket) \
    SWEEP(name, TO_BRA, li, lj, lk, ll)                    \
    SWEEP(name, TO_KET, li, lj, lk, ll)                    \
    SWEEP(name, TO_BOTH, li, lj, lk, ll)                   \
    SWEEP(name, SEVERAL, li, lj, lk, ll)
FMO_ERI_LOW_L_TABLE(SWEEPS_OF_CLASS)
FMO_ERI_HIGH_L_TABLE(SWEEPS_OF_CLASS)
#undef SWEEP
#define SWEEP(name, what, li, lj, lk, ll)                     \
    static void sweep_##name##_##what(const coulomb_sweep *s) \
    {                                                         \
        any_##what(li + lj, lk + ll, s);                      \
    }
FMO_ERI_ANY_TABLE(SWEEPS_OF_CLASS)
#undef SWEEPS_OF_CLASS
#undef SWEEP

/* NULL for classes that use integrals. */
coulomb_sweep_function *const FMO_CPU_SWEEPS[FMO_ERI_CLASS_COUNT][SWEEPS] = {
#define ENTRY(e, name, order, what) \
    [what] = FMO_CPU_SWEEPS_CLASS(e, order) ? sweep_##name##_##what : NULL
#define ROW(e, name, li, lj, lk, ll, ...)                                                        \
    [e] = {ENTRY(e, name, li + lj + lk + ll, TO_BRA), ENTRY(e, name, li + lj + lk + ll, TO_KET), \
           ENTRY(e, name, li + lj + lk + ll, TO_BOTH),                                           \
           ENTRY(e, name, li + lj + lk + ll, SEVERAL)},
    FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
#undef ENTRY
};
