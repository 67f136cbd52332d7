/* One bra pair against the ket pairs that survive: screen and order (kernel_screen.inc), compute
 * quartets lane by lane (kernel_contract.inc), digest (kernel_digest.inc), bra by bra
 * (kernel_bra.inc): included, so that all of it is inlined into a kernel for each class. Compiled
 * once per instruction set with FMO_SIMD_WIDTH and FMO_CPU_KERNELS (the name of the table below)
 * set by CMake; the arithmetic is that of integrals/eri/eri_*.h and digest.h.
 *
 * Where two charge distributions do not overlap, the Boys function is its asymptotic form and an
 * integral is that of point multipoles; four out of five primitive quartets of a molecule are such.
 * Ket pairs are therefore ordered by distance, so that whole vectors take the short way. */
#include "accumulate/cpu/kernel_bra.inc"

#define TASK(e, name, li, lj, lk, ll, bra_class_, ket_class_)                                \
    FMO_HD bra_task task_##name(const fmo_cpu_build *build, fmo_cpu_worker *worker, int bra) \
    {                                                                                        \
        return (bra_task){.eri_class = e,                                                    \
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

#define KERNEL(e, name, ...)                                                               \
    static void kernel_##name(const fmo_cpu_build *build, fmo_cpu_worker *worker, int bra) \
    {                                                                                      \
        const bra_task t = task_##name(build, worker, bra);                                \
        BUILD(&t);                                                                         \
    }                                                                                      \
    static void replay_##name(const fmo_cpu_build *build, fmo_cpu_worker *worker, int bra) \
    {                                                                                      \
        const bra_task t = task_##name(build, worker, bra);                                \
        REPLAY(&t);                                                                        \
    }
#define BUILD(t)  build_bra(t, 0)
#define REPLAY(t) replay_bra(t, 0)
FMO_ERI_LOW_L_TABLE(KERNEL)
#undef BUILD
#undef REPLAY

/* Not copied for each class by a compiler that means well. */
__attribute__((noipa)) static void build_md(const bra_task *t)
{
    build_bra(t, 1);
}
__attribute__((noipa)) static void replay_rule(const bra_task *t)
{
    replay_bra(t, 1);
}
#define BUILD(t)  build_md(t)
#define REPLAY(t) replay_rule(t)
FMO_ERI_HIGH_L_TABLE(KERNEL)
#undef BUILD
#undef REPLAY
#undef KERNEL

extern fmo_cpu_kernel *const FMO_CPU_COULOMBS[FMO_ERI_CLASS_COUNT]; /* cpu/coulomb_kernel.c */
extern fmo_cpu_digest *const FMO_CPU_DIGESTS[FMO_ERI_CLASS_COUNT];  /* cpu/split_digest.c */

const fmo_cpu_kernels FMO_CPU_KERNELS = {
    .name = FMO_VECTOR_NAME,
    .width = W,
    .kernel =
        {
#define ROW(e, name, ...) [e] = kernel_##name,
            FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
        },
    .replay =
        {
#define ROW(e, name, ...) [e] = replay_##name,
            FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
        },
    .coulomb = FMO_CPU_COULOMBS,
    .digest = FMO_CPU_DIGESTS,
};
