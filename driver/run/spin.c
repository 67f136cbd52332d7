/* Detects open-shell ground states with one table for atoms and one for small molecules. Everything
 * that is in neither table is assumed to be a closed shell. See spin.h. */
#include "driver/run/spin.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <fmo/molecule.h>

/* Atoms and monatomic ions with closed shells or subshells: number of electrons, and range of
 * atomic numbers (NIST Atomic Spectra Database, ground levels). All other atoms have unpaired
 * electrons, e.g. C, O and Si; and Ti2+, which has lost its 4s electrons, although the
 * isoelectronic Ca has a closed shell. */
static const struct {
    int electrons, from, to; /* range of atomic numbers */
} closed_atoms[] = {{0, 1, 118},   {2, 1, 118},   {4, 3, 118},   {10, 7, 118},  {12, 11, 118},
                    {18, 15, 118}, {20, 19, 20},  {28, 29, 118}, {30, 29, 118}, {36, 33, 118},
                    {38, 37, 39},  {46, 46, 118}, {48, 47, 118}, {54, 51, 118}, {56, 55, 56},
                    {68, 71, 118}, {70, 69, 70},  {78, 79, 118}, {80, 79, 118}, {86, 83, 118},
                    {88, 87, 89}};

/* Molecules, by Hill formula and charge, whose ground state is a triplet or higher (K. P. Huber and
 * G. Herzberg, Constants of Diatomic Molecules, 1979, and the NIST WebBook; CH2, NH2+ and BH2-:
 * bent, 3B1). */
static const struct {
    const char *formula;
    int charge;
} open_molecules[] = {
    /* 8 valence electrons or fewer */
    {"B2", 0},
    {"Al2", 0},
    {"BN", 0},
    {"AlN", 0},
    {"BP", 0},
    {"AlP", 0},
    {"GaN", 0},
    {"GaP", 0},
    {"AsGa", 0},
    {"CSi", 0},
    {"Si2", 0},
    {"Ge2", 0},
    {"GeSi", 0},
    {"CGe", 0},
    {"Ga2", 0},
    /* 12 valence electrons */
    {"O2", 0},
    {"S2", 0},
    {"Se2", 0},
    {"OS", 0},
    {"OSe", 0},
    {"SSe", 0},
    {"NO", -1},
    {"NS", -1},
    {"OP", -1},
    {"FN", 0},
    {"ClN", 0},
    {"BrN", 0},
    {"FP", 0},
    {"ClP", 0},
    {"FO", 1},
    {"ClO", 1},
    {"F2", 2},
    {"Cl2", 2},
    {"N2", -2},
    /* hydrides */
    {"HN", 0},
    {"HP", 0},
    {"AsH", 0},
    {"HO", 1},
    {"HS", 1},
    {"HSe", 1},
    {"CH", -1},
    {"HSi", -1},
    {"FH", 2},
    {"ClH", 2},
    {"CH2", 0},
    {"H2N", 1},
    {"BH2", -1},
    /* transition metals */
    {"OTi", 0},
    {"CrO", 0},
    {"FeO", 0},
    {"NiO", 0},
    {"HV", 0},
    {"HMn", 0},
    {"CoH", 0},
    {"FMn", 0},
    {"ClMn", 0},
    {"Cr2", 2}};

/* Whether a known ground state is open-shell. atomic_number: sum over all nuclei. */
static bool is_open(const char *formula, int nuclei, int atomic_number, int charge)
{
    const int electrons = atomic_number - charge;
    if (nuclei == 1) {
        for (size_t k = 0; k < sizeof closed_atoms / sizeof *closed_atoms; k++)
            if (electrons == closed_atoms[k].electrons && atomic_number >= closed_atoms[k].from &&
                atomic_number <= closed_atoms[k].to)
                return false;
        return true;
    }
    for (size_t k = 0; k < sizeof open_molecules / sizeof *open_molecules; k++)
        if (charge == open_molecules[k].charge && strcmp(formula, open_molecules[k].formula) == 0)
            return true;
    return false;
}

enum { NUCLEI_MAX = 3, FORMULA_SIZE = 32 };

static const char *name_of(const char *formula, int charge, char text[FORMULA_SIZE + 32])
{
    char ion[32] = "";
    if (charge) snprintf(ion, sizeof ion, " with charge %+d", charge);
    snprintf(text, FORMULA_SIZE + 32, "%.*s%s", FORMULA_SIZE - 1, formula, ion);
    return text;
}

/* Looks up a molecule of up to NUCLEI_MAX nuclei in the tables. */
void driver_note_spin(const fmo_dataset *dataset, int electrons, char *text, size_t size)
{
    const fmo_basis *basis = fmo_dataset_basis(dataset);
    const int nuclei = fmo_basis_nucleus_num(basis);
    double charge = 0.0;
    for (int i = 0; i < nuclei; i++) charge += fmo_basis_nucleus_charge(basis, i);
    text[0] = '\0';
    const int number = (int)lround(charge), q = number - electrons;
    const char *const formula = fmo_dataset_formula(dataset);
    if (nuclei > NUCLEI_MAX || fabs(charge - number) > 1e-6 || !is_open(formula, nuclei, number, q))
        return;
    char name[FORMULA_SIZE + 32];
    snprintf(
        text, size,
        "computed as a singlet, a closed shell, but the ground state of %s has unpaired electrons, "
        "which --multiplicity 3, or another one, would compute; --multiplicity 1 states that the "
        "singlet is intended",
        name_of(formula, q, name));
}

/* Writes the Hill formula of a few nuclei. */
static void write_formula(const int *number, int count, char text[FORMULA_SIZE])
{
    bool carbon = false, taken[NUCLEI_MAX] = {false};
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; k < count; k++) carbon = carbon || number[k] == 6;
    for (int left = count; left > 0;) {
        int next = -1, same = 0;
        const char *first = NULL;
        for (int k = 0; k < count; k++) {
            const char *symbol = fmo_element_symbol(number[k]);
            if (carbon && number[k] == 6) symbol = "";     /* carbon sorts before all others */
            if (carbon && number[k] == 1) symbol = "\x01"; /* and hydrogen after carbon */
            if (taken[k] || (first && strcmp(symbol, first) >= 0)) continue;
            first = symbol;
            next = number[k];
        }
        for (int k = 0; k < count; k++)
            if (number[k] == next) taken[k] = true, same++;
        left -= same;
        char times[12] = "";
        if (same > 1) snprintf(times, sizeof times, "%d", same);
        used += (size_t)snprintf(text + used, FORMULA_SIZE - used, "%s%s", fmo_element_symbol(next),
                                 times);
    }
}

/* Looks up all small fragments without cut bonds in the tables. */
void driver_note_fragment_spins(const fmo_fragment_system *s, char *text, size_t size)
{
    int open = 0;
    text[0] = '\0';
    for (int f = 0; f < s->fragment_num; f++) {
        int number[NUCLEI_MAX], count = 0, sum = 0;
        bool cut = false;
        for (int a = 0; a < s->atom_num; a++)
            if (s->fragment[a] == f && count++ < NUCLEI_MAX)
                sum += number[count - 1] = s->number[a];
        for (int b = 0; b < 2 * s->bond_num; b++) cut = cut || s->fragment[s->bond[b]] == f;
        if (cut || count > NUCLEI_MAX) continue;
        char formula[FORMULA_SIZE], name[FORMULA_SIZE + 32];
        write_formula(number, count, formula);
        if (!is_open(formula, count, sum, s->charge[f]) || open++) continue;
        snprintf(
            text, size,
            "fragment %d computed as a singlet, a closed shell, but the ground state of %s has "
            "unpaired electrons, which cannot be computed here",
            f + 1, name_of(formula, s->charge[f], name));
    }
    const size_t used = strlen(text);
    if (open > 1)
        snprintf(text + used, size - used, "; the same holds for %d more fragment%s", open - 1,
                 open > 2 ? "s" : "");
}
