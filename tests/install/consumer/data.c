/* Data of an installation: prints the file of a basis set, and reads hybrid orbitals. */
#include <stdio.h>

#include <fmo/basis_set.h>
#include <fmo/fragment_system.h>

int main(void)
{
    fmo_error err = {FMO_OK, ""};
    fmo_basis_set *set = NULL;
    fmo_hybrids *hybrids = NULL;
    fmo_status status = fmo_basis_set_read("sto-3g", &set, &err);
    if (status == FMO_OK) status = fmo_hybrids_read(NULL, "sto-3g", 6, &hybrids, &err);
    if (status == FMO_OK)
        printf("%s\n", fmo_basis_set_path(set));
    else
        fprintf(stderr, "data: %s\n", err.message);
    fmo_hybrids_destroy(hybrids);
    fmo_basis_set_destroy(set);
    return status != FMO_OK;
}
