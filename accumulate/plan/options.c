/* Options of a plan: defaults, names and ranges. Combinations that depend on the mode are checked
 * in mode.c. */
#include <string.h>

#include "accumulate/plan/plan.h"
#include "base/names.h"

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
    const fmo_status status = o->ranks ? fmo_ranks_check(o->ranks, err) : FMO_OK;
    return status == FMO_OK ? check_devices(o, err) : status;
}
