/* Nuclear gradients of the molecules of gradients.json against PySCF's, to 1e-7 hartree/bohr, and
 * the derivatives by the places of point charges: RHF, UHF and ROHF with s, p and d shells,
 * Cartesian and spherical, as single runs and in one batch. Arguments: the file, [words that names
 * must contain]. */
#include <fmo/scf.h>

#include "tests/scf/list.h"

enum { ENTRIES_MAX = 64 };

static const double energy_tolerance = 1e-8, tolerance = 1e-7;

static fmo_scf_options options_of(const scf_entry *entry)
{
    fmo_scf_options o;
    fmo_scf_options_init(&o);
    o.fock.mode = FMO_MODE_CPU;
    o.energy_convergence = 1e-11;
    o.gradient_convergence = 1e-8;
    o.unrestricted = entry && entry->multiplicity > 0 && !entry->restricted;
    o.restricted = entry && entry->restricted;
    o.forces = 1;
    return o;
}

static fmo_scf_input input_of(const scf_entry *entry, double *charge, double *place)
{
    for (int c = 0; c < entry->charge_num; c++) {
        charge[c] = entry->charges[4 * c];
        memcpy(place + 3 * c, entry->charges + 4 * c + 1, 3 * sizeof *place);
    }
    return (fmo_scf_input){.basis = fmo_dataset_basis(entry->dataset),
                           .electron_num = fmo_dataset_electron_num(entry->dataset),
                           .nuclear_repulsion = fmo_dataset_nuclear_repulsion(entry->dataset),
                           .multiplicity = entry->multiplicity,
                           .charge_num = (size_t)entry->charge_num,
                           .charge = charge,
                           .charge_coord = place};
}

/* Compares rows of three numbers with those of the file; returns the largest deviation. */
static double compare(const scf_entry *entry, const char *what, const json_t *expected, size_t num,
                      const double *got)
{
    double worst = 0.0, row[3];
    CHECK(json_array_size(expected) == num, "%s: %zu rows of %s", entry->name, num, what);
    for (size_t k = 0; got && k < num; k++) {
        scf_list_numbers(json_array_get(expected, k), 3, row);
        for (size_t x = 0; x < 3; x++) {
            worst = fmax(worst, fabs(got[3 * k + x] - row[x]));
            CHECK(fabs(got[3 * k + x] - row[x]) <= tolerance,
                  "%s %s: %s[%zu][%zu] = %.10f, expected %.10f", entry->name, entry->basis, what, k,
                  x, got[3 * k + x], row[x]);
        }
    }
    return worst;
}

/* A result agrees with the file. */
static void check_result(const scf_entry *entry, const json_t *item, const char *how,
                         const fmo_scf_result *r)
{
    CHECK(r && r->nuclear_gradient && !r->charge_gradient == !entry->charge_num, "%s: no forces",
          entry->name);
    if (!r || !r->nuclear_gradient) return;
    CHECK(fabs(r->energy - entry->energy) < energy_tolerance,
          "%s %s: %s: got %.10f, expected %.10f", entry->name, entry->basis, how, r->energy,
          entry->energy);
    const double worst = compare(entry, "gradient", json_object_get(item, "gradient"),
                                 (size_t)r->nucleus_num, r->nuclear_gradient);
    const double of_charges =
        compare(entry, "charge_gradient", json_object_get(item, "charge_gradient"), r->charge_num,
                r->charge_gradient);
    printf("%-20s %-12s %-6s energy %+.1e, gradient %.1e, of charges %.1e\n", entry->name,
           entry->basis, how, r->energy - entry->energy, worst, of_charges);
}

/* Single runs, and all molecules whose options agree in a batch. */
int main(int argc, char **argv)
{
    static scf_entry entry[ENTRIES_MAX];
    static double charge[ENTRIES_MAX][SCF_CHARGES_MAX], place[ENTRIES_MAX][3 * SCF_CHARGES_MAX];
    static fmo_scf_job job[ENTRIES_MAX];
    static size_t number[ENTRIES_MAX];
    size_t count = 0;
    fmo_error err = {FMO_OK, ""};
    if (argc < 2) return 2;
    json_t *root = scf_list_read(argv[1]);
    const json_t *list = json_object_get(root, "molecules");
    for (size_t k = 0; root && k < ENTRIES_MAX && scf_list_entry(root, k, &entry[k]); k++) {
        int selected = argc < 3;
        for (int word = 2; word < argc; word++)
            if (strstr(entry[k].name, argv[word])) selected = 1;
        if (!selected || !entry[k].dataset) continue;
        const fmo_scf_input input = input_of(&entry[k], charge[k], place[k]);
        const fmo_scf_options o = options_of(&entry[k]);
        fmo_scf_result *result = NULL;
        CHECK(fmo_scf_run(&input, &o, &result, &err) == FMO_OK, "%s: %s", entry[k].name,
              err.message);
        check_result(&entry[k], json_array_get(list, k), "single", result);
        fmo_scf_result_destroy(result);
        if (entry[k].restricted) continue;
        number[count] = k;
        job[count++] = (fmo_scf_job){.input = input};
    }
    const fmo_scf_options o = options_of(NULL);
    CHECK(fmo_scf_run_batch(job, count, &o, &err) == FMO_OK, "%s", err.message);
    for (size_t j = 0; j < count; j++) {
        check_result(&entry[number[j]], json_array_get(list, number[j]), "batch", job[j].result);
        fmo_scf_result_destroy(job[j].result);
    }
    for (size_t k = 0; k < ENTRIES_MAX; k++) fmo_dataset_destroy(entry[k].dataset);
    json_decref(root);
    return check_summary();
}
