/* Damaged and hostile data sets (.h5). */
#include "fuzz.h"
#include <fmo/dataset.h>

#include <math.h>

/* HDF5 1.10 leaks memory on damaged files (docs/reference/dataset-format.md). Our own leaks are
 * still found. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5\nleak:libtrexio\n";
}

/* HDF5 sometimes requests absurd amounts of memory, and handles the failure. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void use(const fmo_dataset *dataset, int density_needed)
{
    int n = fmo_basis_ao_num(fmo_dataset_basis(dataset));
    const double *D = fmo_dataset_density(dataset);
    PROMISE(n >= 1 && n == fmo_dataset_basis_input(dataset)->ao_num, "nao = %d", n);
    PROMISE(D || !density_needed, "no density");
    for (size_t i = 0; D && i < (size_t)n * (size_t)n; i++)
        PROMISE(isfinite(D[i]), "density[%zu] = %g", i, D[i]);
    for (int i = -1; i <= n; i++) {
        char label[64];
        fmo_dataset_ao_label(dataset, i, label, sizeof label);
        PROMISE(*label, "function %d has no label", i);
    }
    for (int i = 0; fmo_dataset_notice(dataset, i); i++) PROMISE(i < 16, "notice %d", i);
    if (n <= 20) PROMISE(fmo_dataset_core_hamiltonian(dataset), "no core Hamiltonian");
    PROMISE(strlen(fmo_dataset_sha256(dataset)) == 64, "hash");
    PROMISE(fmo_dataset_formula(dataset) && fmo_dataset_basis_name(dataset), "names");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file(bytes, size, ".h5");
    if (!path) return 0;
    const int density_needed = size % 2; /* an input is read one way or the other */
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = NULL;
    fmo_status status = density_needed ? fmo_dataset_read(path, &dataset, &err)
                                       : fmo_dataset_read_basis(path, &dataset, &err);
    fuzz_check_error(status, dataset, &err, path);
    if (dataset) use(dataset, density_needed);
    fmo_dataset_destroy(dataset);
    unlink(path);
    return 0;
}

#ifdef FMO_LIBFUZZER
/* HDF5's structures consist of aligned words: overwriting one with a special value reaches more
 * code than moving bytes, which libFuzzer does in the other half of the cases. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static const uint64_t special[] = {0,         1,     2,          3,          7,
                                       8,         16,    255,        256,        4096,
                                       65535,     65536, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff,
                                       UINT64_MAX};
    uint64_t random = seed * 6364136223846793005u + 1442695040888963407u;
    if (size < 16 || (random >> 33) % 2) return LLVMFuzzerMutate(data, size, max_size);
    size_t width = (size_t)1 << (random >> 34) % 4, at = (random >> 36) % (size / width) * width;
    uint64_t value = special[(random >> 20) % 16];
    if ((random >> 24) % 4 == 0) value = size - value; /* near the end of the file */
    if ((random >> 26) % 4 == 0) {
        memcpy(&value, data + at, width);
        value += (random >> 28) % 2 ? 1 : UINT64_MAX;
    }
    memcpy(data + at, &value, width); /* little endian, as HDF5's metadata */
    return size;
}
#endif
