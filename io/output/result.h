/* Results in HDF5: group /fmo of a new file, [nao][nao] float64 in the input's AO order. */
#ifndef FMO_RESULT_H
#define FMO_RESULT_H

#include <fmo/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What to write; matrices are [nao][nao] float64 in hartree, NULL ones are left out. */
typedef struct fmo_result {
    int nao;                /**< functions */
    const double *coulomb;  /**< /fmo/coulomb */
    const double *exchange; /**< /fmo/exchange */
    const double *fock_2e;  /**< /fmo/fock_2e: G = J - K/2 */
    const double *fock;     /**< /fmo/fock: H_core + G */
    double energy;          /**< /fmo/energy, hartree; NaN: left out */
    const char *mode;       /**< attribute of /fmo */
    double cutoff;          /**< attribute of /fmo */
} fmo_result;

/** Write a result file: under a temporary name beside it, synced, then renamed, so that path holds
 *  the old or the new content whatever happens. Provenance (input path, its SHA-256, fmo version)
 *  goes into attributes of /fmo.
 *  @return FMO_OK, FMO_ERR_OUTPUT (cannot write; path is the data set itself), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_result_write(const char *path, const fmo_dataset *dataset,
                                    const fmo_result *result, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
