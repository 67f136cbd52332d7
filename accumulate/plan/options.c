/* Options of a plan: defaults, names and ranges; the choice of its mode, and the options that the
 * mode supports. See plan.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accumulate/gpu/gpu.h"
#include "accumulate/plan/ranks.h"
#include "base/arguments.h"
#include "base/names.h"
#include "integrals/shell_from.h"

FMO_NAMES(fmo_mode, fmo_mode, FMO_MODE_TABLE)
FMO_NAMES(fmo_reduce, fmo_reduce, FMO_REDUCE_TABLE)
FMO_NAMES(fmo_integrals, fmo_integrals, FMO_INTEGRALS_TABLE)
FMO_NAMES(fmo_coulomb, fmo_coulomb, FMO_COULOMB_TABLE)

void fmo_fock_options_init(fmo_fock_options *options)
{
    if (!options) return;
    memset(options, 0, sizeof *options);
    options->mode = FMO_MODE_AUTO;
    options->reduce = FMO_REDUCE_TREE;
    options->cutoff = 1e-10;
    options->device = -1;
}

/* Checks the number and the list of GPUs. */
static fmo_status check_devices(const fmo_fock_options *o, fmo_error *err)
{
    if (o->device_num < 0 || o->device_num > FMO_DEVICES_MAX)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.device_num = %d: expected 0 to %d",
                             o->device_num, FMO_DEVICES_MAX);
    for (int k = 0; k < o->device_num; k++)
        if (o->devices[k] < 0)
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "options.devices[%d] = %d: expected the number of a GPU", k,
                                 o->devices[k]);
    if (o->device_num == 0) return FMO_OK;
    if (o->device >= 0 && o->device != o->devices[0])
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "options.device = %d and options.devices: give one of them",
                             o->device);
    if (o->device_num > 1 && o->ranks)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "options.device_num = %d with options.ranks: each rank has one GPU; "
                             "start as many ranks as there are GPUs",
                             o->device_num);
    return FMO_OK;
}

/* Checks the range of each option and combinations that no mode supports. */
fmo_status fmo_options_check(const fmo_fock_options *o, fmo_error *err)
{
    if ((unsigned)o->mode >= FMO_MODE_COUNT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.mode = %d: no such mode", o->mode);
    if ((unsigned)o->reduce >= FMO_REDUCE_COUNT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.reduce = %d: no such form", o->reduce);
    if ((unsigned)o->scatter >= FMO_SCATTER_COUNT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.scatter = %d: no such strategy",
                             o->scatter);
    if ((unsigned)o->commit >= FMO_COMMIT_COUNT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.commit = %d: no such form", o->commit);
    if ((unsigned)o->integrals >= FMO_INTEGRALS_COUNT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.integrals = %d: no such form",
                             o->integrals);
    if ((unsigned)o->coulomb >= FMO_COULOMB_COUNT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.coulomb = %d: no such form",
                             o->coulomb);
    if (o->coulomb == FMO_COULOMB_BOXES && o->cutoff == 0.0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "coulomb = boxes with cutoff 0: boxes are exact to about a cutoff; "
                             "give one, or use coulomb = direct");
    if (o->coulomb == FMO_COULOMB_BOXES && o->integrals == FMO_INTEGRALS_STORED)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "coulomb = boxes with integrals = stored: kept integrals are all of "
                             "J; use one of the two");
    if (o->threads < 0 || o->threads > 65536)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.threads = %d: expected 0 to 65536",
                             o->threads);
    if (!(o->cutoff >= 0.0 && o->cutoff <= 1.0))
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "options.cutoff = %g: expected 0 to 1",
                             o->cutoff);
    if (o->device < -1)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "options.device = %d: expected the number of a GPU, or -1", o->device);
    const fmo_status status = o->ranks ? fmo_ranks_check("options.ranks", o->ranks, err) : FMO_OK;
    return status == FMO_OK ? check_devices(o, err) : status;
}

/* ---- modes ----------------------------------------------------------------------------------- */

static const fmo_mode_implementation *const implementation[FMO_MODE_COUNT] = {
    [FMO_MODE_CPU] = &fmo_mode_cpu,
    [FMO_MODE_REFERENCE] = &fmo_mode_reference,
    [FMO_MODE_FUSED] = &fmo_mode_fused,
    [FMO_MODE_SPLIT] = &fmo_mode_split,
};

fmo_status fmo_gpu_available(fmo_error *err)
{
    int device = -1;
    return fmo_gpu_probe(&device, err);
}

int fmo_gpu_num(void)
{
    return fmo_gpu_count();
}

int fmo_plan_high_l_shell(const fmo_basis *basis)
{
    return fmo_basis_shell_from(basis, FMO_SHELL_LOW_L_COUNT);
}

/* Lists the strategies that support all shells, such as "auto, native or fixed". */
static const char *high_l_strategies(char *text, size_t size)
{
    size_t at = 0;
    int left = 0;
    for (int s = 0; s < FMO_SCATTER_COUNT; s++)
        left += fmo_scatter_takes_all_shells((fmo_scatter)s, FMO_COMMIT_NATIVE);
    for (int s = 0; s < FMO_SCATTER_COUNT && at < size; s++) {
        if (!fmo_scatter_takes_all_shells((fmo_scatter)s, FMO_COMMIT_NATIVE)) continue;
        at += (size_t)snprintf(text + at, size - at, "%s%s",
                               at == 0     ? ""
                               : left == 1 ? " or "
                                           : ", ",
                               fmo_scatter_name((fmo_scatter)s));
        left--;
    }
    return text;
}

/* Checks that a GPU can do what the options request if the basis has shells above p. */
static fmo_status check_high_l(const fmo_basis *basis, const fmo_fock_options *o, fmo_error *err)
{
    const int high_l = fmo_plan_high_l_shell(basis);
    const int none = fmo_basis_shell_from(basis, FMO_GPU_ANG_MOM_MAX + 1); /* no kernels at all */
    if (high_l < 0) return FMO_OK;
    const char letter = fmo_shell_letter(high_l);
    char strategies[160];
    if (none >= 0)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "modes fused and split have no kernels for %c shells, which the basis "
                             "has%s",
                             fmo_shell_letter(none),
                             o->mode == FMO_MODE_AUTO ? "" : "; use mode cpu or auto");
    if (o->mode == FMO_MODE_SPLIT)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "mode split has no kernels for %c shells, which the basis has; use "
                             "mode fused or cpu",
                             letter);
    if (!fmo_scatter_takes_all_shells(o->scatter, o->commit))
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "scatter = %s, commit = %s: no kernels for %c shells, which the "
                             "basis has; use %s, commit = native",
                             fmo_scatter_name(o->scatter), fmo_commit_name(o->commit), letter,
                             high_l_strategies(strategies, sizeof strategies));
    if (o->integrals == FMO_INTEGRALS_STORED)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "integrals = stored: on a GPU those of %c shells, which the basis "
                             "has, are computed in every build; use direct or auto, or mode cpu",
                             letter);
    return FMO_OK;
}

/* Chooses the mode for FMO_MODE_AUTO and gives the reason. *device becomes the number of the GPU
 * found. */
static fmo_status auto_mode(const fmo_basis *basis, const fmo_fock_options *options, int *device,
                            fmo_mode *mode, char *reason, fmo_error *err)
{
    const size_t size = sizeof((fmo_fock_profile *)0)->mode_reason;
    const int requested = *device >= 0;
    fmo_error no_gpu = {FMO_OK, ""}, refused = {FMO_OK, ""};
    if (basis && check_high_l(basis, options, &refused) != FMO_OK) {
        *mode = FMO_MODE_CPU;
        snprintf(reason, size, "%.150s", refused.message);
        return FMO_OK;
    }
    const fmo_status status = fmo_gpu_probe(device, &no_gpu);
    if (status != FMO_OK && (status != FMO_ERR_NO_DEVICE || requested)) {
        if (err && err->status == FMO_OK) *err = no_gpu;
        return status;
    }
    *mode = status == FMO_OK ? FMO_MODE_FUSED : FMO_MODE_CPU;
    snprintf(reason, size, status == FMO_OK ? "a GPU answers" : "no GPU: %.140s", no_gpu.message);
    return FMO_OK;
}

/* Checks the options and resolves FMO_MODE_AUTO without making a plan. */
fmo_status fmo_fock_choose_mode(const fmo_basis *basis, const fmo_fock_options *options,
                                fmo_mode *mode, char *reason, fmo_error *err)
{
    char why[sizeof((fmo_fock_profile *)0)->mode_reason] = "";
    fmo_fock_options o;
    fmo_status status = FMO_CHECK_ARGUMENTS("fmo_fock_choose_mode", err, FMO_GIVEN(mode));
    if (status != FMO_OK) return status;
    if (options)
        o = *options;
    else
        fmo_fock_options_init(&o);
    status = fmo_options_check(&o, err);
    if (o.device_num > 0) o.device = o.devices[0];
    if (status == FMO_OK && o.mode == FMO_MODE_AUTO)
        status = auto_mode(basis, &o, &o.device, &o.mode, why, err);
    if (status != FMO_OK) return status;
    *mode = o.mode;
    if (reason) memcpy(reason, why, sizeof why);
    return FMO_OK;
}

/* Checks that all GPUs of options.devices can be used. Modes that cannot share builds get
 * device_num = 0. */
static fmo_status check_gpus(fmo_fock_options *o, fmo_error *err)
{
    const fmo_mode_implementation *const mode = implementation[o->mode];
    if (o->device_num < 2 || !mode->join) {
        o->device_num = 0;
        return FMO_OK;
    }
    for (int k = 1; k < o->device_num; k++) {
        fmo_error refused = {FMO_OK, ""};
        const fmo_status status = fmo_gpu_probe(&o->devices[k], &refused);
        if (status != FMO_OK) return fmo_error_set(err, status, "%s", refused.message);
    }
    return FMO_OK;
}

/* Selects the mode, checks its GPUs, and rejects options that the mode does not support. */
fmo_status fmo_plan_choose_mode(fmo_fock_plan *plan, const fmo_basis *basis, fmo_error *err)
{
    fmo_fock_options *o = &plan->options;
    fmo_error no_gpu = {FMO_OK, ""};
    fmo_status status = FMO_OK;
    if (o->device_num > 0) o->device = o->devices[0];
    if (o->mode == FMO_MODE_FUSED || o->mode == FMO_MODE_SPLIT) {
        status = check_high_l(basis, o, err);
        if (status != FMO_OK) return status;
        status = fmo_gpu_probe(&o->device, &no_gpu);
        if (status != FMO_OK)
            return fmo_error_set(err, status, "mode %s needs a GPU: %s; use mode cpu",
                                 fmo_mode_name(o->mode), no_gpu.message);
    }
    if (o->mode == FMO_MODE_AUTO)
        status = auto_mode(basis, o, &o->device, &o->mode, plan->profile.mode_reason, err);
    if (status == FMO_OK) status = check_gpus(o, err);
    if (status != FMO_OK) return status;
    if (o->reduce == FMO_REDUCE_SERIAL && o->mode != FMO_MODE_SPLIT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "reduce = serial belongs to mode split; for mode %s use tree or "
                             "atomic (or 1 thread)",
                             fmo_mode_name(o->mode));
    if (o->mode == FMO_MODE_FUSED && o->commit != FMO_COMMIT_NATIVE &&
        !fmo_scatter_takes_commit(o->scatter))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "commit = %s: scatter = %s has a commit of its own; leave commit out",
                             fmo_commit_name(o->commit), fmo_scatter_name(o->scatter));
    if (o->integrals == FMO_INTEGRALS_STORED && o->mode != FMO_MODE_CPU &&
        o->mode != FMO_MODE_FUSED)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "integrals = stored belongs to modes cpu and fused; mode %s computes "
                             "them in every build: use direct or auto",
                             fmo_mode_name(o->mode));
    if (o->coulomb == FMO_COULOMB_BOXES && o->mode != FMO_MODE_CPU && o->mode != FMO_MODE_FUSED)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "coulomb = boxes belongs to modes cpu and fused; in mode %s use "
                             "direct or auto",
                             fmo_mode_name(o->mode));
    plan->profile.coulomb = FMO_COULOMB_DIRECT;
    plan->profile.far_seconds = NAN;
    plan->mode = implementation[o->mode];
    if (!plan->mode->prepare && !plan->mode->build)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "mode %s is not in this build; use cpu or reference",
                             fmo_mode_name(o->mode));
    return FMO_OK;
}
