/* Too little memory: every reader and writer returns FMO_ERR_MEMORY with one line, prints nothing,
 * does not crash and leaves an existing file. Limits of the address space from almost nothing
 * upwards, one process for each. Texts that are too long for an attribute are the caller's error,
 * not a lack of memory. */
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "tests/support/shipped.h"
#include <fmo/basis_set.h>
#include <fmo/fragment_system.h>
#include <fmo/molecule.h>
#include <fmo/result.h>
#include <fmo/wavefunction.h>

#include <fcntl.h>
#include <hdf5.h>
#include <omp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 }; /* they need more address space than any limit leaves */
#else
enum { SANITIZED = 0 };
#endif

static char folder[] = "/tmp/fmo-io-memory-XXXXXX", made[128], errors[128];
static fmo_dataset *dataset;
static int nao;
static const double *matrix;

/* --- readers and writers -----------------------------------------------------------------------*/

static fmo_status read_trexio(fmo_error *err)
{
    fmo_dataset *d = NULL;
    const fmo_status status = fmo_dataset_read(FMO_DATASET_DIR "/h2o8_6-31g.h5", &d, err);
    fmo_dataset_destroy(d);
    return status;
}

static fmo_status read_xyz(fmo_error *err)
{
    fmo_molecule *molecule = NULL;
    const fmo_status status =
        fmo_molecule_read_xyz(FMO_DATASET_DIR "/xyz/alkane_C60H122.xyz", &molecule, err);
    fmo_molecule_destroy(molecule);
    return status;
}

static fmo_status read_basis_set(fmo_error *err)
{
    fmo_basis_set *set = NULL;
    const fmo_status status = fmo_basis_set_read(FMO_DATASET_DIR "/basis/def2-svp.json", &set, err);
    fmo_basis_set_destroy(set);
    return status;
}

static fmo_status read_system(fmo_error *err)
{
    fmo_fragment_system *system = NULL;
    const fmo_status status =
        fmo_fragment_system_read(FMO_DATASET_DIR "/fmo2/gly4_sto-3g.json", &system, err);
    fmo_fragment_system_destroy(system);
    return status;
}

static fmo_status write_result(fmo_error *err)
{
    const fmo_result r = {.nao = nao, .coulomb = matrix, .exchange = matrix, .mode = "cpu"};
    return fmo_result_write(made, dataset, &r, err);
}

static fmo_status write_arrays(fmo_error *err)
{
    const fmo_result_array array = {
        .name = "x", .rank = 2, .size = {(size_t)nao, (size_t)nao}, .real = matrix};
    return fmo_result_write_arrays(made, "a", "b", "c", "d", &array, 1, err);
}

static fmo_wavefunction orbitals(void)
{
    static const double zeros[200];
    return (fmo_wavefunction){.mo_num = nao,
                              .coefficient = matrix,
                              .energy = zeros,
                              .occupation = zeros,
                              .method = "RHF",
                              .core_hamiltonian = matrix,
                              .overlap = matrix};
}

static fmo_status write_trexio(fmo_error *err)
{
    const fmo_wavefunction wf = orbitals();
    return fmo_wavefunction_write_trexio(made, dataset, &wf, err);
}

static fmo_status write_molden(fmo_error *err)
{
    const fmo_wavefunction wf = orbitals();
    return fmo_wavefunction_write_molden(made, dataset, &wf, err);
}

static fmo_status write_molecules(fmo_error *err)
{
    const fmo_molecule_result m = {
        .input = "a", .status = "fine", .nao = nao, .mo_num = nao, .density = matrix};
    fmo_molecules_file *file = NULL;
    fmo_status status = fmo_molecules_file_create("cpu", 1e-10, &file, err);
    for (int i = 0; status == FMO_OK && i < 5; i++)
        status = fmo_molecules_file_add(file, dataset, &m, err);
    if (status == FMO_OK) status = fmo_molecules_file_write(file, made, err);
    fmo_molecules_file_destroy(file);
    return status;
}

typedef fmo_status (*call)(fmo_error *err);
static const struct {
    const char *name;
    call run;
} calls[] = {
    {"read", read_trexio},           {"read .xyz", read_xyz},  {"read a basis set", read_basis_set},
    {"read fragments", read_system}, {"result", write_result}, {"arrays", write_arrays},
    {"trexio", write_trexio},        {"molden", write_molden}, {"molecules", write_molecules}};

/* --- limits ------------------------------------------------------------------------------------*/

/* Uses up all memory that malloc still has or can get. */
static void exhaust(void)
{
    for (size_t size = 1 << 20; size >= 16; size /= 2)
        for (void *volatile taken = malloc(size); taken;) taken = malloc(size);
}

/* In a child: the call with so much address space more than there is; nothing at all if kib is 0.
 * 0: read or written, 1: no memory, in one line; others are wrong. */
static int with_memory(call run, long kib)
{
    long pages = 0;
    fmo_error err = {FMO_OK, ""};
    FILE *file = fopen("/proc/self/statm", "r");
    const int out = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (!file || fscanf(file, "%ld", &pages) != 1 || out < 0 || dup2(out, 2) < 0) return 10;
    fclose(file);
    const rlim_t max_bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)kib * 1024;
    const struct rlimit memory = {max_bytes, max_bytes};
    if (setrlimit(RLIMIT_AS, &memory) != 0) return 11;
    if (kib == 0) exhaust();
    const fmo_status status = run(&err);
    if (status == FMO_OK) return 0;
    /* one line, in which no size is rounded to zero */
    const bool line = err.message[0] && !strchr(err.message, '\n') && !strstr(err.message, "its 0");
    return status == FMO_ERR_MEMORY && err.status == status && line ? 1 : 12;
}

/* From no memory to enough, in steps: the first fail, and the last succeeds. */
static void check_call(const char *name, call run)
{
    const char old[] = "what was there";
    int refused = 0, code = -1;
    for (long kib = 0; kib < 120000 && code != 0; kib += kib < 2048 ? 128 : kib / 4) {
        fmo_error err = {FMO_OK, ""};
        CHECK(fmo_file_write(made, old, sizeof old, &err) == FMO_OK, "%s", err.message);
        fflush(stdout);
        const pid_t pid = fork();
        if (pid == 0) { /* handlers that run at the end of the process may print, too */
            code = with_memory(run, kib);
            exit(code);
        }
        int status = 0;
        CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status), "%s, %ld KiB: status %d", name,
              kib, status);
        code = WIFEXITED(status) ? WEXITSTATUS(status) : 20;
        CHECK(code <= 1, "%s, %ld KiB: %d", name, kib, code);
        content printed = content_load(errors), there = content_load(made);
        CHECK(printed.size == 0, "%s, %ld KiB: prints '%.300s'", name, kib, printed.bytes);
        if (code == 1)
            CHECK(there.size == sizeof old && memcmp(there.bytes, old, sizeof old) == 0,
                  "%s, %ld KiB: the old file", name, kib);
        refused += code == 1;
        free(printed.bytes);
        free(there.bytes);
    }
    CHECK(refused > 0 && code == 0, "%s: %d refused, at last %d", name, refused, code);
}

/* --- error printing, long texts ----------------------------------------------------------------*/

static herr_t old_printer(void *data)
{
    (void)data;
    return 0;
}

/* The caller's way of printing errors, of either version, is what it was. */
static void check_restored(void)
{
    fmo_error err = {FMO_OK, ""};
    H5E_auto2_t printer = NULL, expected = NULL;
    H5E_auto1_t printer_1 = NULL;
    void *data = NULL;
    unsigned is_2 = 0;
    H5Eget_auto2(H5E_DEFAULT, &expected, &data);
    CHECK(write_result(&err) == FMO_OK, "%s", err.message);
    H5Eget_auto2(H5E_DEFAULT, &printer, &data);
    CHECK(printer == expected && expected != NULL, "printing of errors");
    H5Eset_auto1(old_printer, &nao);
    CHECK(write_result(&err) == FMO_OK, "%s", err.message);
    H5Eauto_is_v2(H5E_DEFAULT, &is_2);
    CHECK(is_2 == 0, "version of the printing");
    if (!is_2) H5Eget_auto1(&printer_1, &data);
    CHECK(printer_1 == old_printer && data == &nao, "printing of errors, version 1");
    H5Eset_auto2(H5E_DEFAULT, expected, NULL);
}

static void check_long_text(const char *field, fmo_status status, fmo_error *err)
{
    char expected[128];
    snprintf(expected, sizeof expected, "%s has 100000 bytes; at most 60000 are stored", field);
    CHECK(status == FMO_ERR_ARGUMENT && strstr(err->message, expected), "%s: %d: %s", field,
          (int)status, err->message);
    *err = (fmo_error){FMO_OK, ""};
}

/* Texts that are too long for an attribute are refused by every writer; the longest that fits is
 * written. */
static void long_texts(void)
{
    enum { SIZE = 100000 };
    fmo_error err = {FMO_OK, ""};
    char *text = malloc(SIZE + 1);
    memset(text, 'x', SIZE);
    text[SIZE] = '\0';
    fmo_wavefunction wf = orbitals();
    wf.method = text;
    check_long_text("method", fmo_wavefunction_write_trexio(made, dataset, &wf, &err), &err);
    check_long_text("method", fmo_wavefunction_write_molden(made, dataset, &wf, &err), &err);
    const fmo_result r = {.nao = nao, .coulomb = matrix, .mode = text};
    check_long_text("mode", fmo_result_write(made, dataset, &r, &err), &err);
    const double one = 1.0;
    fmo_result_array array = {.name = "x", .real = &one};
    check_long_text("basis", fmo_result_write_arrays(made, NULL, NULL, text, NULL, &array, 1, &err),
                    &err);
    array.units = text;
    check_long_text("units", fmo_result_write_arrays(made, NULL, NULL, NULL, NULL, &array, 1, &err),
                    &err);
    fmo_molecules_file *file = NULL;
    const fmo_molecule_result m = {.input = "a", .status = text};
    CHECK(fmo_molecules_file_create("cpu", 0.0, &file, &err) == FMO_OK, "%s", err.message);
    check_long_text("molecule->status", fmo_molecules_file_add(file, NULL, &m, &err), &err);
    fmo_molecules_file_destroy(file);
    text[60000] = '\0'; /* the longest that is stored */
    CHECK(fmo_wavefunction_write_trexio(made, dataset, &wf, &err) == FMO_OK, "%s", err.message);
    free(text);
}

/* Runs every reader and writer with little memory, and then the checks of long texts. */
int main(void)
{
    omp_set_num_threads(1); /* a child of a process with threads would wait for them */
    if (!mkdtemp(folder)) return 1;
    snprintf(made, sizeof made, "%s/made.h5", folder);
    snprintf(errors, sizeof errors, "%s/errors", folder);
    dataset = read_shipped("h2o8_6-31g");
    if (dataset) {
        nao = fmo_basis_ao_num(fmo_dataset_basis(dataset));
        matrix = fmo_dataset_density(dataset);
        CHECK(nao <= 200, "space for the orbital energies");
        for (size_t i = 0; !SANITIZED && i < sizeof calls / sizeof calls[0]; i++)
            check_call(calls[i].name, calls[i].run);
        check_restored();
        long_texts();
    }
    fmo_dataset_destroy(dataset);
    folder_remove(folder);
    return check_summary();
}
