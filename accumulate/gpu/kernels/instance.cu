/* The fused kernels of one variant. The file is compiled once for each row of
 * FMO_GPU_VARIANT_TABLE, with FMO_VARIANT set to the name of the row. The work is in near.cuh,
 * far.cuh and stored.cuh. */
#include "accumulate/gpu/kernels/kernels.h"

#include "accumulate/gpu/kernels/far.cuh"
#include "accumulate/gpu/kernels/stored.cuh"

#define CAT_(a, b) a##b
#define CAT(a, b)  CAT_(a, b)

#define VARIANT_TYPE(name, scatter, commit, ...)         \
    struct variant_##name {                              \
        typedef __VA_ARGS__ type;                        \
        static constexpr const char *label = #name;      \
        static constexpr fmo_scatter strategy = scatter; \
        static constexpr fmo_commit form = commit;       \
    };
FMO_GPU_VARIANT_TABLE(VARIANT_TYPE)
#undef VARIANT_TYPE

typedef CAT(variant_, FMO_VARIANT) variant;
typedef variant::type strategy;

static __host__ __device__ constexpr bool is_far_K(int list)
{
    return list == FMO_GPU_FAR_K || list == FMO_GPU_FAR_K_EXCHANGE_ONLY;
}
static __host__ __device__ constexpr bool is_exchange_only(int list)
{
    return list == FMO_GPU_NEAR_EXCHANGE_ONLY || list == FMO_GPU_FAR_K_EXCHANGE_ONLY;
}

/* Processes the quartets of one list, or with FMO_GPU_ALL of all lists in sequence, of N builds,
 * each with K of so many densities. */
template <class C, int LIST, int N, int DENSITIES = 1>
__global__ void __launch_bounds__(FMO_GPU_THREADS, LIST == FMO_GPU_FAR_J || is_far_K(LIST)
                                                       ? fmo_gpu_far_resident(C::order)
                                                       : C::resident)
    fmo_gpu_fused(const __grid_constant__ fmo_gpu_many<fmo_gpu_quartet_args, N> many)
{
    const fmo_gpu_class_view &view = many.own().view;
    const fmo_gpu_matrices &m = many.own().matrices;
    strategy scatter;
    fmo_gpu_prepare(scatter, m);
    const fmo_gpu_copy copy = fmo_gpu_copy_of_block(m);
    unsigned issued = 0;
    constexpr fmo_gpu_in_coulomb coulomb =
        is_exchange_only(LIST) ? FMO_GPU_COULOMB_SOME : FMO_GPU_COULOMB_ALL;
    if constexpr (LIST == FMO_GPU_NEAR || LIST == FMO_GPU_NEAR_EXCHANGE_ONLY || LIST == FMO_GPU_ALL)
        issued += fmo_gpu_build_near<C, coulomb, false, DENSITIES>(scatter, view, m, copy);
    if constexpr (LIST == FMO_GPU_NEAR_OPERATOR)
        issued +=
            fmo_gpu_build_near<C, FMO_GPU_COULOMB_NONE, true, DENSITIES>(scatter, view, m, copy);
    if constexpr (is_far_K(LIST) || (LIST == FMO_GPU_ALL && fmo_gpu_far_exchanges(C::id)))
        issued += fmo_gpu_build_far_K<C, coulomb, DENSITIES>(scatter, view, m, copy);
    if constexpr (LIST == FMO_GPU_FAR_J || LIST == FMO_GPU_ALL)
        issued += fmo_gpu_build_far_J<C>(scatter, view, copy);
    fmo_scatter_finish(scatter);
    fmo_gpu_count_issued(m, issued);
}

/* True if kernels of the class are compiled. If FMO_GPU_ONLY_CLASS is defined, only those of this
 * class are, to check within seconds that a strategy compiles. */
static constexpr bool is_compiled(int eri_class)
{
#ifdef FMO_GPU_ONLY_CLASS
    return eri_class == FMO_GPU_ONLY_CLASS;
#else
    return eri_class >= 0;
#endif
}

/* Return the kernel of a class for a single build, for one with K of two densities, for a group and
 * for stored integrals; NULL if there is none. */
template <class C, int LIST, int DENSITIES = 1> static constexpr fmo_gpu_kernel *kernel(void)
{
    if constexpr (!is_compiled(C::id) || (is_far_K(LIST) && !fmo_gpu_far_exchanges(C::id)) ||
                  (is_exchange_only(LIST) &&
                   !fmo_gpu_has_exchange_only(variant::strategy, variant::form)) ||
                  (LIST == FMO_GPU_NEAR_OPERATOR &&
                   !fmo_gpu_has_operators(variant::strategy, variant::form)) ||
                  (DENSITIES > 1 && !fmo_gpu_takes_two(variant::strategy, variant::form)))
        return NULL;
    else
        return fmo_gpu_fused<C, LIST, 1, DENSITIES>;
}

template <class C, int LIST> static constexpr fmo_gpu_group_kernel *group_kernel(void)
{
    if constexpr (!is_compiled(C::id) || !fmo_gpu_builds_groups(variant::strategy, variant::form) ||
                  (LIST == FMO_GPU_FAR_K && !fmo_gpu_far_exchanges(C::id)))
        return NULL;
    else
        return fmo_gpu_fused<C, LIST, fmo_gpu_many_max<fmo_gpu_quartet_args>>;
}

template <class C> static constexpr fmo_gpu_stored_kernel *stored_kernel(void)
{
    if constexpr (!is_compiled(C::id))
        return NULL;
    else
        return fmo_gpu_stored<C, strategy>;
}

#define CLASS(name)                       fmo_sp_class_##name
#define NEAR(e, name, ...)                kernel<CLASS(name), FMO_GPU_NEAR>(),
#define FAR_J(e, name, ...)               kernel<CLASS(name), FMO_GPU_FAR_J>(),
#define FAR_K(e, name, ...)               kernel<CLASS(name), FMO_GPU_FAR_K>(),
#define ALL(e, name, ...)                 kernel<CLASS(name), FMO_GPU_ALL>(),
#define NEAR_EXCHANGE_ONLY(e, name, ...)  kernel<CLASS(name), FMO_GPU_NEAR_EXCHANGE_ONLY>(),
#define FAR_K_EXCHANGE_ONLY(e, name, ...) kernel<CLASS(name), FMO_GPU_FAR_K_EXCHANGE_ONLY>(),
#define NEAR_OPERATOR(e, name, ...)       kernel<CLASS(name), FMO_GPU_NEAR_OPERATOR>(),
#define NEAR_TWO(e, name, ...)            kernel<CLASS(name), FMO_GPU_NEAR, 2>(),
#define FAR_K_TWO(e, name, ...)           kernel<CLASS(name), FMO_GPU_FAR_K, 2>(),
#define ALL_TWO(e, name, ...)             kernel<CLASS(name), FMO_GPU_ALL, 2>(),
#define NEAR_ONLY_TWO(e, name, ...)       kernel<CLASS(name), FMO_GPU_NEAR_EXCHANGE_ONLY, 2>(),
#define FAR_K_ONLY_TWO(e, name, ...)      kernel<CLASS(name), FMO_GPU_FAR_K_EXCHANGE_ONLY, 2>(),
#define NEARS(e, name, ...)               group_kernel<CLASS(name), FMO_GPU_NEAR>(),
#define FARS_J(e, name, ...)              group_kernel<CLASS(name), FMO_GPU_FAR_J>(),
#define FARS_K(e, name, ...)              group_kernel<CLASS(name), FMO_GPU_FAR_K>(),
#define STORED(e, name, ...)              stored_kernel<CLASS(name)>(),

extern const fmo_gpu_variant CAT(fmo_gpu_variant_, FMO_VARIANT) = {
    variant::label,
    variant::strategy,
    variant::form,
    variant::strategy != FMO_SCATTER_COUNT,
    fmo_gpu_strategy_traits[variant::strategy].integers,
    {{FMO_ERI_LOW_L_TABLE(NEAR)},
     {FMO_ERI_LOW_L_TABLE(FAR_J)},
     {FMO_ERI_LOW_L_TABLE(FAR_K)},
     {FMO_ERI_LOW_L_TABLE(ALL)},
     {FMO_ERI_LOW_L_TABLE(NEAR_EXCHANGE_ONLY)},
     {FMO_ERI_LOW_L_TABLE(FAR_K_EXCHANGE_ONLY)},
     {FMO_ERI_LOW_L_TABLE(NEAR_OPERATOR)}},
    {{FMO_ERI_LOW_L_TABLE(NEAR_TWO)},
     {FMO_ERI_LOW_L_TABLE(FAR_J)},
     {FMO_ERI_LOW_L_TABLE(FAR_K_TWO)},
     {FMO_ERI_LOW_L_TABLE(ALL_TWO)},
     {FMO_ERI_LOW_L_TABLE(NEAR_ONLY_TWO)},
     {FMO_ERI_LOW_L_TABLE(FAR_K_ONLY_TWO)},
     {}},
    {{FMO_ERI_LOW_L_TABLE(NEARS)}, {FMO_ERI_LOW_L_TABLE(FARS_J)}, {FMO_ERI_LOW_L_TABLE(FARS_K)}},
    {FMO_ERI_LOW_L_TABLE(STORED)},
};
