/* Coefficients of past Fock matrices for DIIS and EDIIS. Used by cycle.c, sad.c and
 * ../fmo/mix.c. */
#ifndef FMO_SCF_DIIS_H
#define FMO_SCF_DIIS_H

#include <fmo/scf.h>

#include "driver/scf/inner.h"

enum { FMO_DIIS_MAX = FMO_SCF_DIIS_MAX };

/* Pulay's coefficients: the linear combination of m error vectors with the smallest norm and sum c
 * = 1. B[i][j] = <e_i|e_j>, row-major with rows of FMO_DIIS_MAX. While the system is too
 * ill-conditioned the oldest vectors (lowest index) are left out (c = 0). P. Pulay, J. Comput.
 * Chem. 3, 556 (1982). */
FMO_INNER void fmo_diis_coefficients(int m, const double B[][FMO_DIIS_MAX], double *c);

/* EDIIS: the combination with sum c = 1 and all c >= 0 that has the lowest energy. energy[i]
 * belongs to density i; T[i][j] = tr D_i F_j;
 *     E(c) = sum_i c_i E_i - 1/4 sum_ij c_i c_j tr (D_i - D_j)(F_i - F_j)
 * is exact for RHF. The minimum over the simplex is found by trying each of its faces, which is
 * exact also if E(c) is not convex; only the newest FMO_EDIIS_MAX matrices are used. K. N. Kudin,
 * G. E. Scuseria, E. Cances, J. Chem. Phys. 116, 8255 (2002). */
enum { FMO_EDIIS_MAX = 8 };
void fmo_ediis_coefficients(int m, const double *energy, const double T[][FMO_DIIS_MAX], double *c);

#endif
