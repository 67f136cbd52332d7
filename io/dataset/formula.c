/* Elements of nuclei and the formula in Hill order: carbon, hydrogen, then the other elements
 * alphabetically; without carbon all alphabetically (E. A. Hill, J. Am. Chem. Soc. 22, 478
 * (1900)). */
#include "io/dataset/dataset_internal.h"
#include "io/molecule/molecule_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = FMO_ELEMENT_MAX + 1 /* including 0, no element */ };

/* Returns the atomic number of a label such as "O", "c1", "CL_2"; 0 if it names no element
 * ("ghost", "X", ""). */
static int number_of_label(const char *label)
{
    size_t letters = 0;
    while (isalpha((unsigned char)label[letters])) letters++;
    return fmo_element_number(label, letters);
}

static int number_of_charge(double charge)
{
    double z = round(charge);
    return z >= 1 && z < ELEMENTS ? (int)z : 0;
}

static int compare_symbols(const void *a, const void *b)
{
    return strcmp(fmo_element_symbol(*(const int *)a), fmo_element_symbol(*(const int *)b));
}

/* Returns the formula of counts[z] atoms of each element z, or NULL. It needs at most 2 + 11
 * characters per element. */
static char *hill_formula(const int counts[ELEMENTS])
{
    int order[ELEMENTS], n = 0, first = 0;
    for (int z = 1; z < ELEMENTS; z++)
        if (counts[z]) order[n++] = z;
    qsort(order, (size_t)n, sizeof order[0], compare_symbols);
    if (counts[6]) { /* carbon first, then hydrogen */
        const int leaders[] = {6, 1};
        for (int e = 0; e < 2; e++) {
            if (!counts[leaders[e]]) continue;
            int at = first;
            while (order[at] != leaders[e]) at++;
            memmove(order + first + 1, order + first, (size_t)(at - first) * sizeof order[0]);
            order[first++] = leaders[e];
        }
    }
    size_t size = 13 * (size_t)n + 1, at = 0;
    char *formula = calloc(1, size);
    for (int i = 0; formula && i < n; i++) {
        at += (size_t)snprintf(formula + at, size - at, "%s", fmo_element_symbol(order[i]));
        if (counts[order[i]] > 1)
            at += (size_t)snprintf(formula + at, size - at, "%d", counts[order[i]]);
    }
    return formula;
}

/* Searches only the charged nuclei, since ghost centres may lie anywhere. */
fmo_status fmo_dataset_note_close(fmo_dataset *dataset)
{
    const fmo_basis_input *input = &dataset->input;
    size_t n = 0, nuclei = (size_t)dataset->nucleus_num;
    bool found = false;
    int i = 0, j = 0;
    double *coord = malloc(3 * nuclei * sizeof *coord);
    int *nucleus = malloc(nuclei * sizeof *nucleus);
    fmo_status status = coord && nucleus ? FMO_OK : FMO_ERR_MEMORY;
    for (size_t k = 0; status == FMO_OK && k < nuclei; k++) {
        if (input->nucleus_charge[k] == 0.0) continue;
        memcpy(coord + 3 * n, input->nucleus_coord + 3 * k, 3 * sizeof *coord);
        nucleus[n++] = (int)k;
    }
    if (status == FMO_OK && n)
        status = fmo_find_close(coord, (int)n, FMO_NUCLEUS_DISTANCE_NOTICE, &found, &i, &j);
    if (found && memcmp(coord + 3 * i, coord + 3 * j, 3 * sizeof *coord) != 0)
        fmo_dataset_note(dataset,
                         "nuclei %d (%s) and %d (%s) are closer than 0.3 angstrom, as no bond is: "
                         "are the coordinates in the right unit?",
                         nucleus[i], fmo_element_symbol(dataset->number[nucleus[i]]), nucleus[j],
                         fmo_element_symbol(dataset->number[nucleus[j]]));
    free(coord);
    free(nucleus);
    return status;
}

fmo_status fmo_dataset_name_nuclei(fmo_dataset *dataset, const double *charge, const char *labels,
                                   size_t slot)
{
    int counts[ELEMENTS] = {0};
    dataset->number = calloc((size_t)dataset->nucleus_num, sizeof *dataset->number);
    if (!dataset->number) return FMO_ERR_MEMORY;
    for (int i = 0; i < dataset->nucleus_num; i++) {
        int z = labels ? number_of_label(labels + (size_t)i * slot) : 0;
        if (!z) z = number_of_charge(charge[i]);
        dataset->number[i] = z;
        if (charge[i] != 0.0) counts[z]++; /* centres without charge only carry functions */
    }
    dataset->formula = hill_formula(counts);
    return dataset->formula ? FMO_OK : FMO_ERR_MEMORY;
}
