/* One bra pair with the ket pairs that pass screening: they are screened and sorted
 * (kernel_screen.inc), quartets are computed, one per lane (kernel_contract.inc), and digested
 * (kernel_digest.inc); kernel_bra.inc combines these steps. The files are included here so that
 * all of it is inlined into one kernel for each class. Compiled once per instruction set with
 * FMO_SIMD_WIDTH and FMO_CPU_KERNELS (the name of the table below) set by CMake. The arithmetic
 * is that of integrals/eri/eri_*.h and digest.h.
 *
 * Where two charge distributions do not overlap, the Boys function has its asymptotic form, and
 * an integral is that of point multipoles; this applies to four out of five primitive quartets of
 * a molecule. Ket pairs are therefore sorted by distance, so that whole vectors take the short
 * path. */
#include "accumulate/cpu/kernel_bra.inc"

#define TASK(e, name, li, lj, lk, ll, bra_class_, ket_class_)                                \
    FMO_HD bra_task task_##name(const fmo_cpu_build *build, fmo_cpu_worker *worker, int bra, \
                                int other)                                                   \
    {                                                                                        \
        return (bra_task){.eri_class = e,                                                    \
                          .other = other,                                                    \
                          .bra_class = bra_class_,                                           \
                          .ket_class = ket_class_,                                           \
                          .accumulators = eri_##name##_acc,                                  \
                          .M = li + lj + lk + ll,                                            \
                          .ni = FMO_CARTESIAN(li),                                           \
                          .nj = FMO_CARTESIAN(lj),                                           \
                          .nk = FMO_CARTESIAN(lk),                                           \
                          .nl = FMO_CARTESIAN(ll),                                           \
                          .bra = bra,                                                        \
                          .build = build,                                                    \
                          .worker = worker};                                                 \
    }
FMO_ERI_CLASS_TABLE(TASK)
#undef TASK

/* Classes with d to g shells share one copy of the code, which GCC would clone; Clang does not.
 * Those of s and p shells share one for operators other than 1/r, which would otherwise take as
 * long to compile as all others. */
#ifdef __clang__
#define ONE_COPY __attribute__((noinline))
#else
#define ONE_COPY __attribute__((noipa))
#endif
ONE_COPY static void build_other(const bra_task *task)
{
    bra_task t = *task;
    t.other = 1; /* a constant */
    build_bra(&t, 0);
}

#define KERNEL(e, name, ...)                                                               \
    static void kernel_##name(const fmo_cpu_build *build, fmo_cpu_worker *worker, int bra) \
    {                                                                                      \
        const bra_task t = task_##name(build, worker, bra, 0);                             \
        BUILD(&t);                                                                         \
    }                                                                                      \
    static void other_##name(const fmo_cpu_build *build, fmo_cpu_worker *worker, int bra)  \
    {                                                                                      \
        const bra_task t = task_##name(build, worker, bra, 1);                             \
        OTHER(&t);                                                                         \
    }                                                                                      \
    static void replay_##name(const fmo_cpu_build *build, fmo_cpu_worker *worker, int bra) \
    {                                                                                      \
        const bra_task t = task_##name(build, worker, bra, 0);                             \
        REPLAY(&t);                                                                        \
    }
#define BUILD(t)  build_bra(t, 0)
#define OTHER(t)  build_other(t)
#define REPLAY(t) replay_bra(t, 0)
FMO_ERI_LOW_L_TABLE(KERNEL)
#undef BUILD
#undef OTHER
#undef REPLAY

ONE_COPY static void build_md(const bra_task *t)
{
    build_bra(t, 1);
}
ONE_COPY static void replay_rule(const bra_task *t)
{
    replay_bra(t, 1);
}
#define BUILD(t)  build_md(t)
#define OTHER(t)  build_md(t)
#define REPLAY(t) replay_rule(t)
FMO_ERI_HIGH_L_TABLE(KERNEL)
FMO_ERI_ANY_TABLE(KERNEL)
#undef BUILD
#undef OTHER
#undef REPLAY
#undef KERNEL

/* cpu/coulomb_kernel.c, cpu/split_digest.c */
void FMO_CPU_COULOMB(int eri_class, const fmo_cpu_build *build, fmo_cpu_worker *worker, int bra);
extern fmo_cpu_digest *const FMO_CPU_DIGESTS[FMO_ERI_CLASS_COUNT];

/* J alone; classes that are faster with integrals use them. */
#define COULOMB(e, name, li, lj, lk, ll, ...)                                               \
    static void coulomb_##name(const fmo_cpu_build *build, fmo_cpu_worker *worker, int bra) \
    {                                                                                       \
        if (FMO_CPU_SWEEPS_CLASS(e, li + lj + lk + ll))                                     \
            FMO_CPU_COULOMB(e, build, worker, bra);                                         \
        else                                                                                \
            kernel_##name(build, worker, bra);                                              \
    }
FMO_ERI_CLASS_TABLE(COULOMB)
#undef COULOMB

const fmo_cpu_kernels FMO_CPU_KERNELS = {
    .name = FMO_VECTOR_NAME,
    .width = W,
    .kernel =
        {
#define ROW(e, name, ...) [e] = kernel_##name,
            FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
        },
    .other =
        {
#define ROW(e, name, ...) [e] = other_##name,
            FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
        },
    .replay =
        {
#define ROW(e, name, ...) [e] = replay_##name,
            FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
        },
    .coulomb =
        {
#define ROW(e, name, ...) [e] = coulomb_##name,
            FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
        },
    .digest = FMO_CPU_DIGESTS,
};
