/* Basis sets (Basis Set Exchange JSON and Gaussian's format), and data sets made of them. */
#include "fuzz.h"
#include <fmo/basis_set.h>
#include <fmo/one_electron.h>

#include <math.h>

enum { SHELLS_MAX = 40 /* of an element; with more, only the reader runs */ };

/* Two atoms of an element. */
static void use(const fmo_basis_set *set, int z)
{
    int number[] = {z, z};
    double coord[] = {0, 0, 0, 0, 1.0, 2.0};
    const fmo_molecule mol = {.nucleus_num = 2, .number = number, .coord = coord};
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = NULL;
    fmo_status status = fmo_dataset_create(&mol, set, 0, &dataset, &err);
    fuzz_check_error(status, dataset, &err, "molecule");
    if (!dataset) return;
    size_t n = (size_t)fmo_basis_ao_num(fmo_dataset_basis(dataset));
    double *S = calloc(n * n, sizeof *S);
    if (S && fmo_overlap(fmo_dataset_basis(dataset), S, NULL) == FMO_OK)
        for (size_t i = 0; i < n; i++) /* contractions that cancel lose digits */
            PROMISE(fabs(S[i * n + i] - 1.0) < 1e-2, "<%zu|%zu> = %g", i, i, S[i * n + i]);
    free(S);
    fmo_dataset_destroy(dataset);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file(bytes, size, ".basis");
    if (!path) return 0;
    fmo_error err = {FMO_OK, ""};
    fmo_basis_set *set = NULL;
    fmo_status status = fmo_basis_set_read(path, &set, &err);
    fuzz_check_error(status, set, &err, path);
    for (int z = 1; set && z <= 118; z++) {
        int shells = fmo_basis_set_shell_num(set, z);
        if (shells && shells <= SHELLS_MAX) use(set, z);
    }
    fmo_basis_set_destroy(set);
    unlink(path);
    return 0;
}
