/* --check: are J, K, G and the energy right? Compared with the values the data set carries, else
 * with a second build by an independent algorithm without screening. */
#ifndef FMO_DRIVER_CHECK_H
#define FMO_DRIVER_CHECK_H

#include <stdbool.h>
#include <fmo/dataset.h>
#include <fmo/fock.h>
#include "driver/cli/progress.h"

/** Largest error of an element of J, K or G over normalised functions that passes: 100 cutoff, at
 * least 1e-10 and at most 1e-6 hartree, times the scale. 1e-10 at cutoff 0, 1e-8 at the default
 * cutoff 1e-10. */
double driver_check_tolerance(double cutoff, double scale);

/** The same for the energy: 1000 cutoff, from 1e-9 to 1e-5 hartree, times the square of the scale.
 */
double driver_check_energy_tolerance(double cutoff, double scale);

/** How much larger a density over normalised functions is than those of closed shells, whose
 *  elements stay below 8: at least 1. Sums are rounded relative to it.
 *  @param[in] density  [nao][nao]
 *  @param[in] norm     [nao] of the functions */
double driver_check_scale(const double *density, const double *norm, int nao);

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
    double error; /**< |got - want| over the norms of both functions, largest of the matrix; NaN if
                       any element is not a number */
    int row, column;
    double got, want;
} driver_deviation;

typedef struct driver_check {
    driver_check_status status;
    char reason[600];    /**< why it could not be checked */
    const char *against; /**< "the file's values", "--mode reference, cutoff 0" */
    double tolerance, energy_tolerance;
    bool loose;    /**< the cutoff allows larger errors than any check */
    double cutoff; /**< of the build */
    driver_deviation matrix[DRIVER_MATRIX_COUNT];
    driver_deviation energy; /**< row and column unused */
    driver_matrix worst;     /**< the matrix with the largest error */
} driver_check;

const char *driver_check_status_name(driver_check_status status);
const char *driver_matrix_symbol(driver_matrix matrix); /**< "J" */
const char *driver_matrix_name(driver_matrix matrix);   /**< "coulomb" */

/** Check one build.
 *  @param[in] options   of that build: cutoff and threads count
 *  @param[in] mode      what it ran as; a reference build is checked with --mode cpu
 *  @param[in] matrices  J, K, G, each [nao][nao]
 *  @param[in] energy    NaN when it could not be had
 *  @return FMO_OK with the verdict in check, FMO_ERR_MEMORY */
fmo_status driver_check_run(const fmo_dataset *dataset, const fmo_fock_options *options,
                            fmo_mode mode, double *const matrices[DRIVER_MATRIX_COUNT],
                            double energy, driver_progress *progress, driver_check *check,
                            fmo_error *err);

/** The line "check: ..." without newline. */
void driver_check_print(const driver_check *check, const fmo_dataset *dataset, FILE *stream);

#endif
