/* The tables of functions of the GPU modes, as declared in gpu.h. */
#include "accumulate/gpu/gpu.h"
#include "accumulate/gpu/modes.h"

const fmo_mode_implementation fmo_mode_fused = {.prepare = fmo_fused_prepare,
                                                .prepare_some = fmo_fused_prepare_some,
                                                .new_pairs = fmo_fused_new_pairs,
                                                .release = fmo_gpu_state_destroy,
                                                .workspace = fmo_gpu_workspace,
                                                .join = fmo_fused_join,
                                                .start = fmo_fused_start,
                                                .finish = fmo_fused_finish,
                                                .copy_result = fmo_fused_copy_result,
                                                .shares_pass = fmo_fused_shares_pass,
                                                .measure = fmo_fused_measure,
                                                .needs_pairs = 1,
                                                .takes_symmetries = 1,
                                                .takes_operators = FMO_TERMS_ALL,
                                                .takes_source = 1,
                                                .makes_pairs = 1};

const fmo_mode_implementation fmo_mode_split = {.prepare = fmo_split_prepare,
                                                .new_pairs = fmo_split_new_pairs,
                                                .release = fmo_split_release,
                                                .workspace = fmo_split_workspace,
                                                .join = fmo_split_join,
                                                .build = fmo_split_build,
                                                .needs_pairs = 1};
