/* The molecules of tests/scf/energies.json, energies_d.json, energies_f.json, energies_uhf.json,
 * energies_rohf.json, energies_hard.json and gradients.json. */
#ifndef FMO_TESTS_SCF_LIST_H
#define FMO_TESTS_SCF_LIST_H

#include <fmo/basis_set.h>
#include <jansson.h>

#include "tests/support/check.h"

enum { SCF_CHARGES_MAX = 3 };

typedef struct scf_entry {
    const char *name, *basis;
    int charge, large, multiplicity; /* 0: RHF */
    int restricted;                  /* 1: ROHF */
    double energy, spin_square;
    double charges[4 * SCF_CHARGES_MAX]; /* e, and place in bohr */
    int charge_num;
    fmo_dataset *dataset;
} scf_entry;

/* The mode of this name; FMO_MODE_COUNT: there is none. */
static inline fmo_mode scf_mode_of(const char *name)
{
    int m = 0;
    while (m < FMO_MODE_COUNT && strcmp(name, fmo_mode_name((fmo_mode)m)) != 0) m++;
    return (fmo_mode)m;
}

/* Returns 0, with the reason in err, if the mode needs a GPU and there is none. */
static inline int scf_mode_runs(fmo_mode mode, fmo_error *err)
{
    return (mode != FMO_MODE_FUSED && mode != FMO_MODE_SPLIT) || fmo_gpu_available(err) == FMO_OK;
}

/* The file, or NULL with a failed check. */
static inline json_t *scf_list_read(const char *path)
{
    json_error_t why;
    json_t *root = json_load_file(path, 0, &why);
    CHECK(root != NULL, "%s:%d: %s", path, why.line, why.text);
    return root;
}

/* Copies the first numbers of an array. */
static inline void scf_list_numbers(const json_t *array, size_t count, double *to)
{
    for (size_t k = 0; k < count; k++) to[k] = json_number_value(json_array_get(array, k));
}

/* Entry k of the list; free entry->dataset. @return 0 behind the last one */
static inline int scf_list_entry(const json_t *root, size_t k, scf_entry *entry)
{
    const json_t *item = json_array_get(json_object_get(root, "molecules"), k);
    if (!item) return 0;
    const json_t *symbols = json_object_get(item, "symbols"), *bohr = json_object_get(item, "bohr");
    const size_t nuclei = json_array_size(symbols);
    fmo_error err = {FMO_OK, ""};
    fmo_basis_set *set = NULL;
    fmo_molecule molecule = {.nucleus_num = (int)nuclei,
                             .number = calloc(nuclei, sizeof(int)),
                             .coord = calloc(3 * nuclei, sizeof(double))};
    *entry =
        (scf_entry){.name = json_string_value(json_object_get(item, "name")),
                    .basis = json_string_value(json_object_get(item, "basis")),
                    .charge = (int)json_integer_value(json_object_get(item, "charge")),
                    .large = json_is_true(json_object_get(item, "large")),
                    .multiplicity = (int)json_integer_value(json_object_get(item, "multiplicity")),
                    .spin_square = json_real_value(json_object_get(item, "spin_square")),
                    .energy = json_real_value(json_object_get(item, "energy"))};
    const json_t *method = json_object_get(item, "method"),
                 *charges = json_object_get(item, "charges");
    if (!method) method = json_object_get(root, "method");
    entry->restricted = strcmp(json_string_value(method), "ROHF") == 0;
    entry->charge_num = (int)json_array_size(charges);
    for (int c = 0; c < entry->charge_num && c < SCF_CHARGES_MAX; c++)
        scf_list_numbers(json_array_get(charges, (size_t)c), 4, entry->charges + 4 * c);
    molecule.multiplicity = entry->multiplicity;
    for (size_t i = 0; i < nuclei; i++) {
        const char *symbol = json_string_value(json_array_get(symbols, i));
        for (int z = 1; z <= 118; z++)
            if (strcmp(symbol, fmo_element_symbol(z)) == 0) molecule.number[i] = z;
        scf_list_numbers(json_array_get(bohr, i), 3, molecule.coord + 3 * i);
    }
    const char *functions = json_string_value(json_object_get(item, "functions"));
    fmo_status status = fmo_basis_set_read(entry->basis, &set, &err);
    for (int f = 0; functions && f < FMO_FUNCTIONS_COUNT; f++)
        if (strcmp(functions, fmo_functions_name((fmo_functions)f)) == 0)
            fmo_basis_set_choose_functions(set, (fmo_functions)f);
    if (status == FMO_OK)
        status = fmo_dataset_create(&molecule, set, entry->charge, &entry->dataset, &err);
    CHECK(status == FMO_OK, "%s: %s", entry->name, err.message);
    fmo_basis_set_destroy(set);
    free(molecule.number);
    free(molecule.coord);
    return 1;
}

#endif
