/* Makes and frees results of SCFs. */
#include "driver/scf/scf_internal.h"

#include <math.h>
#include <stdlib.h>

/* Frees a result and its arrays; NULL is allowed. */
void fmo_scf_result_destroy(fmo_scf_result *r)
{
    if (!r) return;
    free(r->coefficient);
    free(r->orbital_energy);
    free(r->occupation);
    free(r->density);
    free(r->fock);
    free(r->overlap);
    free(r->core_hamiltonian);
    free(r->coefficient_beta);
    free(r->orbital_energy_beta);
    free(r->occupation_beta);
    free(r->spin_density);
    free(r->fock_beta);
    free(r->nuclear_gradient);
    free(r->charge_gradient);
    free(r);
}

/* Allocates a result with zeros in its arrays and NaN in its energies. */
fmo_scf_result *fmo_scf_new_result(int nao, int channels, int restricted)
{
    const size_t n = (size_t)nao;
    fmo_scf_result *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->nao = nao;
    r->unrestricted = channels > 1 && !restricted;
    r->restricted = channels > 1 && restricted;
    r->energy = r->two_electron_energy = r->energy_change = r->gradient = r->energy_error =
        r->homo = r->lumo = r->hessian_lowest = NAN;
    const struct {
        double **array;
        size_t size;
        int needed;
    } all[] = {{&r->coefficient, n * n, 1},
               {&r->orbital_energy, n, 1},
               {&r->occupation, n, 1},
               {&r->density, n * n, 1},
               {&r->fock, n * n, 1},
               {&r->overlap, n * n, 1},
               {&r->core_hamiltonian, n * n, 1},
               {&r->coefficient_beta, n * n, r->unrestricted},
               {&r->orbital_energy_beta, n, r->unrestricted},
               {&r->occupation_beta, n, r->unrestricted},
               {&r->spin_density, n * n, channels > 1},
               {&r->fock_beta, n * n, channels > 1}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (!all[k].needed) continue;
        *all[k].array = calloc(all[k].size, sizeof(double));
        if (*all[k].array) continue;
        fmo_scf_result_destroy(r);
        return NULL;
    }
    return r;
}
