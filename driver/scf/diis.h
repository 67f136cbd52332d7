/* The small problems of convergence acceleration: coefficients of past Fock matrices. */
#ifndef FMO_SCF_DIIS_H
#define FMO_SCF_DIIS_H

#include <fmo/scf.h>

#include "driver/scf/inner.h"

enum { FMO_DIIS_MAX = FMO_SCF_DIIS_MAX };

/* Pulay's coefficients: the combination of m error vectors of least norm, sum c = 1.
 * B[i][j] = <e_i|e_j>, row-major with rows of FMO_DIIS_MAX. The oldest vectors (lowest index) are
 * left out (c = 0) while the system is too ill-conditioned.
 * P. Pulay, J. Comput. Chem. 3, 556 (1982). */
FMO_INNER void fmo_diis_coefficients(int m, const double B[][FMO_DIIS_MAX], double *c);

/* EDIIS: the combination with sum c = 1 and all c >= 0 whose energy is lowest. energy[i] of density
 * i; T[i][j] = tr D_i F_j, so that
 *     E(c) = sum_i c_i E_i - 1/4 sum_ij c_i c_j tr (D_i - D_j)(F_i - F_j)
 * is exact for RHF. The minimum over the simplex is found by trying every face of it, which is
 * exact too, also where E(c) is not convex; only the newest FMO_EDIIS_MAX take part.
 * K. N. Kudin, G. E. Scuseria, E. Cances, J. Chem. Phys. 116, 8255 (2002). */
enum { FMO_EDIIS_MAX = 8 };
void fmo_ediis_coefficients(int m, const double *energy, const double T[][FMO_DIIS_MAX], double *c);

#endif
