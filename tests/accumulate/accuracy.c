/* How right mode cpu is on real molecules: J, K, G and the energy of every data set against the
 * values of the file (PySCF), or of mode reference where the file has none, at cutoff 0, 1e-12 and
 * 1e-10. Prints the table of docs/explanation/accuracy.md.
 *
 *   accumulate_accuracy              the committed data sets, with the tolerances as checks
 *   accumulate_accuracy --prune F..  what primitive pruning (FMO_PRUNE_SHARE) costs and saves on F
 */
#include <fmo/dataset.h>
#include "accumulate/plan/plan.h"

#include "tests/support/shipped.h"

typedef struct result {
    double *J, *K, *G;
    fmo_fock_profile profile;
} result;

static void result_free(result *r)
{
    free(r->J);
    memset(r, 0, sizeof *r);
}

static void count(const result *r, int64_t *quartets, int64_t *all, int64_t *prims)
{
    *quartets = *all = *prims = 0;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        *quartets += r->profile.classes[c].quartets;
        *all += r->profile.classes[c].quartets + r->profile.classes[c].quartets_skipped;
        *prims += r->profile.classes[c].prim_quartets;
    }
}

/* share < 0: as the library does it; otherwise primitives are pruned at cutoff * share. */
static int build(const fmo_basis *basis, fmo_mode mode, double cutoff, double share,
                 const double *D, result *r)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options_init(&o);
    o.mode = mode;
    o.cutoff = cutoff;
    r->J = malloc(3 * n * n * sizeof *r->J);
    r->K = r->J + n * n;
    r->G = r->K + n * n;
    fmo_status status = fmo_fock_plan_create(basis, &o, &plan, &err);
    if (status == FMO_OK && share >= 0.0) {
        fmo_shell_pairs_free(&plan->pairs);
        status = fmo_shell_pairs_make(plan->basis, cutoff * share, plan->options.threads,
                                      &plan->pairs, &err);
    }
    if (status == FMO_OK) status = fmo_fock_build(plan, D, r->J, r->K, &err);
    if (status == FMO_OK) status = fmo_fock_plan_profile(plan, &r->profile, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    fmo_fock_plan_destroy(plan);
    for (size_t x = 0; status == FMO_OK && x < n * n; x++) r->G[x] = r->J[x] - 0.5 * r->K[x];
    return status == FMO_OK;
}

static double largest(const double *a, const double *b, size_t size)
{
    double worst = 0.0;
    for (size_t x = 0; x < size; x++)
        if (!(fabs(a[x] - b[x]) <= worst)) worst = fabs(a[x] - b[x]);
    return worst;
}

/* E = sum D (H + G/2) + E_nuc */
static double energy(const fmo_dataset *data, const double *G, size_t size)
{
    const double *D = fmo_dataset_density(data), *H = fmo_dataset_core_hamiltonian(data);
    long double sum = fmo_dataset_nuclear_repulsion(data);
    if (!H) return NAN;
    for (size_t x = 0; x < size; x++) sum += (long double)D[x] * (H[x] + 0.5 * G[x]);
    return (double)sum;
}

static const struct {
    double cutoff, tolerance, tolerance_energy;
} run[] = {{0.0, 1e-10, 1e-9}, {1e-12, 1e-9, 1e-9}, {1e-10, 1e-8, 1e-7}};

/* Compares J, K, G and the energy of a data set at each cutoff of `run` with the values of the
 * file, or with mode reference where the file has none, and prints a row of the table. */
static void check_data_set(const char *path, const char *name)
{
    char label[400];
    fmo_dataset *data = read_dataset(path);
    if (!data) return;
    const fmo_basis *basis = fmo_dataset_basis(data);
    const double *D = fmo_dataset_density(data);
    const int n = fmo_basis_ao_num(basis);
    const size_t size = (size_t)n * (size_t)n;
    result own = {0};
    const double *J = fmo_dataset_reference_coulomb(data);
    const double *K = fmo_dataset_reference_exchange(data);
    const double *G = fmo_dataset_reference_fock_2e(data);
    double E = fmo_dataset_reference_energy(data);
    const int from_file = J && K && G;
    if (!from_file) {
        if (!build(basis, FMO_MODE_REFERENCE, 0.0, -1.0, D, &own)) goto done;
        J = own.J, K = own.K, G = own.G;
        E = energy(data, G, size);
    }
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        result r = {0};
        if (build(basis, FMO_MODE_CPU, run[i].cutoff, -1.0, D, &r)) {
            int64_t quartets, all, prims;
            count(&r, &quartets, &all, &prims);
            const double dE = fabs(energy(data, r.G, size) - E);
            snprintf(label, sizeof label, "%s at cutoff %g", name, run[i].cutoff);
            check_close(label, r.J, J, size, (size_t)n, 2 * run[i].tolerance, 0.0);
            check_close(label, r.K, K, size, (size_t)n, 2 * run[i].tolerance, 0.0);
            check_close(label, r.G, G, size, (size_t)n, run[i].tolerance, 0.0);
            CHECK(isnan(E) || dE <= run[i].tolerance_energy, "%s: energy off by %.3g", label, dE);
            CHECK(run[i].cutoff > 0 || quartets == all, "%s: %lld quartets skipped", label,
                  (long long)(all - quartets));
            printf("%-34s %4d %-9s %5.0e  %7.1e  %7.1e  %7.1e  %7.1e  %8lld  %5.1f  %10lld\n", name,
                   n, from_file ? "file" : "reference", run[i].cutoff, largest(r.J, J, size),
                   largest(r.K, K, size), largest(r.G, G, size), dE, (long long)quartets,
                   100.0 * (double)(all - quartets) / (double)all, (long long)prims);
        }
        result_free(&r);
    }
done:
    result_free(&own);
    fmo_dataset_destroy(data);
}

/* Prints, for several cutoffs and pruning thresholds, the errors that primitive pruning causes in G
 * and in the energy, and the work that it saves. */
static void study_pruning(const char *path)
{
    static const double cutoffs[] = {1e-10, 1e-12}, shares[] = {0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0};
    fmo_dataset *data = read_dataset(path);
    if (!data) return;
    const fmo_basis *basis = fmo_dataset_basis(data);
    const double *D = fmo_dataset_density(data);
    const size_t n = (size_t)fmo_basis_ao_num(basis), size = n * n;
    result exact = {0}, unpruned = {0}, r = {0};
    printf("%s, %zu functions; share as compiled in: %g\n", strrchr(path, '/') + 1, n,
           FMO_PRUNE_SHARE);
    printf("cutoff   share   |dG| pruning  |dE| pruning  |dG| in all  |dE| in all  "
           "primitive quartets   seconds\n");
    if (build(basis, FMO_MODE_CPU, 0.0, -1.0, D, &exact)) {
        const double E = energy(data, exact.G, size);
        for (size_t c = 0; c < sizeof cutoffs / sizeof *cutoffs; c++) {
            for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
                int64_t quartets, all, prims, prims_all;
                if (!build(basis, FMO_MODE_CPU, cutoffs[c], shares[s], D, &r)) continue;
                if (s == 0) {
                    result_free(&unpruned);
                    unpruned = r;
                    r = (result){0};
                }
                const result *now = s ? &r : &unpruned;
                count(&unpruned, &quartets, &all, &prims_all);
                count(now, &quartets, &all, &prims);
                printf("%6.0e  %6.0e      %8.1e      %8.1e     %8.1e     %8.1e  %12lld %5.1f%%  "
                       "%8.3f\n",
                       cutoffs[c], shares[s], largest(now->G, unpruned.G, size),
                       fabs(energy(data, now->G, size) - energy(data, unpruned.G, size)),
                       largest(now->G, exact.G, size), fabs(energy(data, now->G, size) - E),
                       (long long)prims, 100.0 * (double)prims / (double)prims_all,
                       now->profile.seconds);
                result_free(&r);
            }
        }
    }
    result_free(&exact);
    result_free(&unpruned);
    fmo_dataset_destroy(data);
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "--prune")) {
        for (int i = 2; i < argc; i++) study_pruning(argv[i]);
        return check_failures ? 1 : 0;
    }
    printf("%-34s %4s %-9s %5s  %7s  %7s  %7s  %7s  %8s  %5s  %10s\n", "data set", "nao", "against",
           "cut", "|dJ|", "|dK|", "|dG|", "|dE|", "quartets", "skip%", "primitive");
    const int num = shipped_each(check_data_set);
    CHECK(num >= 10, "%d data sets in %s", num, shipped_folder());
    return check_summary();
}
