/* J and K with libfmo alone, no file and no other library: H2 in STO-3G at 1.4 bohr and the density
 * of one of its functions. A. Szabo and N. S. Ostlund, Modern Quantum Chemistry, eq. (3.235), have
 * (11|11), (12|11) and (22|11), which are J, and (21|21), in K. */
#include <math.h>
#include <stdio.h>

#include <fmo/fock.h>

/* Compares elements of J and K with those of the book. */
int main(void)
{
    const double charge[] = {1, 1}, coord[] = {0, 0, 0, 0, 0, 1.4}, factor[] = {1, 1},
                 exponent[] = {3.42525091, 0.62391373, 0.16885540,
                               3.42525091, 0.62391373, 0.16885540},
                 coefficient[] = {0.27693436, 0.26783885, 0.08347367,
                                  0.27693436, 0.26783885, 0.08347367};
    const int shell[] = {0, 0, 0, 1, 1, 1}, nucleus[] = {0, 1}, s[] = {0, 0};
    const fmo_basis_input input = {2,        charge,      coord, 2,       nucleus, s,      6, shell,
                                   exponent, coefficient, 2,     nucleus, s,       factor, 1};
    const double D[] = {1, 0, 0, 0};
    double J[4], K[4];
    fmo_error err = {FMO_OK, ""};
    fmo_basis *basis = NULL;
    fmo_fock_plan *plan = NULL;
    fmo_status status = fmo_basis_create(&input, &basis, &err);
    if (status == FMO_OK) status = fmo_fock_plan_create(basis, NULL, &plan, &err);
    if (status == FMO_OK) status = fmo_fock_build(plan, D, J, K, &err);
    fmo_fock_plan_destroy(plan);
    fmo_basis_destroy(basis);
    if (status != FMO_OK) {
        fprintf(stderr, "%s\n", err.message);
        return fmo_status_exit_code(status);
    }
    printf("J: %.4f %.4f %.4f, K: %.4f\n", J[0], J[1], J[3], K[3]);
    return fabs(J[0] - 0.7746) + fabs(J[1] - 0.4441) + fabs(J[3] - 0.5697) + fabs(K[3] - 0.2970) >
           2e-4;
}
