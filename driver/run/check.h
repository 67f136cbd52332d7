/* --check: compares J, K, G and the energy with the reference values in the data set or, if it has
 * none, with a second build by an independent algorithm without screening. */
#ifndef FMO_DRIVER_CHECK_H
#define FMO_DRIVER_CHECK_H

#include <stdbool.h>
#include <fmo/dataset.h>
#include <fmo/fock.h>
#include "driver/cli/progress.h"

/** Tolerance for the largest error of an element of J, K or G, in terms of functions of norm 1, in
 *  hartree: the larger of 100 cutoff and 1e-10, times the scale, but never more than 1e-6. With a
 *  scale of 1 this is 1e-10 at cutoff 0 and 1e-8 at the default cutoff 1e-10. */
double driver_check_tolerance(double cutoff, double scale);

/** Tolerance for the energy in hartree: the larger of 1000 cutoff and 1e-9, times the square of the
 *  scale, but never more than 1e-6. */
double driver_check_energy_tolerance(double cutoff, double scale);

/** Ratio, at least 1, of the largest density element to 8; the elements of most closed-shell
 *  densities stay below 8 for functions of norm 1. Rounding errors of sums grow with it.
 *  @param[in] density  [nao][nao]
 *  @param[in] norm     [nao] norms of the functions */
double driver_check_scale(const double *density, const double *norm, size_t nao);

/* X(enumerator, name in the report and in JSON) */
#define DRIVER_CHECK_TABLE(X)    \
    X(DRIVER_CHECK_NONE, "none") \
    X(DRIVER_CHECK_PASS, "pass") \
    X(DRIVER_CHECK_FAIL, "FAIL") \
    X(DRIVER_CHECK_IMPOSSIBLE, "not checked")

#define DRIVER_CHECK_ROW(e, name) e,
typedef enum driver_check_status { DRIVER_CHECK_TABLE(DRIVER_CHECK_ROW) } driver_check_status;
#undef DRIVER_CHECK_ROW

/* The matrices compared. X(enumerator, symbol in the report, name in JSON) */
#define DRIVER_MATRIX_TABLE(X)          \
    X(DRIVER_COULOMB, "J", "coulomb")   \
    X(DRIVER_EXCHANGE, "K", "exchange") \
    X(DRIVER_FOCK_2E, "G", "fock_2e")

#define DRIVER_MATRIX_ROW(e, symbol, name) e,
typedef enum driver_matrix {
    DRIVER_MATRIX_TABLE(DRIVER_MATRIX_ROW) DRIVER_MATRIX_COUNT
} driver_matrix;
#undef DRIVER_MATRIX_ROW

typedef struct driver_deviation {
    bool compared;
    double error; /**< largest |got - want| for functions of norm 1; NaN if any is NaN */
    int row, column;
    double got, want;
} driver_deviation;

typedef struct driver_check {
    driver_check_status status;
    char reason[600];    /**< why the check could not be made */
    const char *against; /**< "the file's values", "--mode reference, cutoff 0" */
    double tolerance, energy_tolerance;
    bool loose;    /**< the cutoff allows errors above the largest tolerance */
    double cutoff; /**< of the build */
    driver_deviation matrix[DRIVER_MATRIX_COUNT];
    driver_deviation energy; /**< row and column unused */
    driver_matrix worst;     /**< the matrix with the largest error */
} driver_check;

const char *driver_check_status_name(driver_check_status status);
const char *driver_matrix_symbol(driver_matrix matrix); /**< e.g. "J" */
const char *driver_matrix_name(driver_matrix matrix);   /**< e.g. "coulomb" */

/** Checks one build.
 *  @param[in] options   options of that build, of which cutoff and threads are used
 *  @param[in] mode      mode of that build; a build in mode reference is checked with mode cpu
 *  @param[in] matrices  J, K, G, each [nao][nao]
 *  @param[in] energy    total energy in hartree, NaN if it is not known
 *  @return FMO_OK with the result in check, FMO_ERR_MEMORY */
fmo_status driver_check_run(const fmo_dataset *dataset, const fmo_fock_options *options,
                            fmo_mode mode, double *const matrices[DRIVER_MATRIX_COUNT],
                            double energy, driver_progress *progress, driver_check *check,
                            fmo_error *err);

/** Prints the line "check: ..." without a newline. */
void driver_check_print(const driver_check *check, const fmo_dataset *dataset, FILE *stream);

#endif
