/* Checks that a fragmented molecule can be computed. Every error message names the field and the
 * cure. Declared in fragment_system.h. */
#include <fmo/fragment_system.h>
#include "io/molecule/molecule_internal.h"
#include "io/text/file.h"
#include "base/arguments.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Longest distance, in bohr, of two bonded atoms (3 angstrom). */
#define BOND_MAX 5.67

enum { CHARGE_MAX = 1000, BONDS_PER_ATOM = 8 };

#define INPUT(...) fmo_error_set(err, FMO_ERR_INPUT, __VA_ARGS__)

static double distance(const fmo_fragment_system *s, int a, int b)
{
    double r2 = 0.0;
    for (int x = 0; x < 3; x++) {
        const double d = s->coord[3 * a + x] - s->coord[3 * b + x];
        r2 += d * d;
    }
    return sqrt(r2);
}

/* Checks the numbers of atoms and fragments, the elements and coordinates, and that no two atoms
 * coincide. */
static fmo_status check_atoms(const fmo_fragment_system *s, const char *label, fmo_error *err)
{
    if (s->atom_num < 1 || s->atom_num > FMO_MOLECULE_NUCLEI_MAX)
        return INPUT("%s%d atoms: expected 1 to %d", label, s->atom_num, FMO_MOLECULE_NUCLEI_MAX);
    if (s->fragment_num < 1 || s->fragment_num > s->atom_num)
        return INPUT("%s%d fragments for %d atoms: each fragment has at least one atom", label,
                     s->fragment_num, s->atom_num);
    for (int a = 0; a < s->atom_num; a++) {
        if (s->number[a] < 1 || s->number[a] > FMO_ELEMENT_MAX)
            return INPUT("%satom %d: %d is no atomic number", label, a + 1, s->number[a]);
        if (s->fragment[a] < 0 || s->fragment[a] >= s->fragment_num)
            return INPUT("%sfragment of atom %d = %ld: expected 1 to %d", label, a + 1,
                         (long)s->fragment[a] + 1, s->fragment_num);
        for (int x = 0; x < 3; x++)
            if (!isfinite(s->coord[3 * a + x]))
                return INPUT("%satom %d: coordinates are not finite", label, a + 1);
    }
    bool close = false;
    int i = 0, j = 0;
    if (fmo_find_close(s->coord, s->atom_num, FMO_NUCLEUS_DISTANCE_MIN, &close, &i, &j) != FMO_OK)
        return fmo_error_set(err, FMO_ERR_MEMORY, "%sno memory to check it", label);
    if (close)
        return INPUT("%satoms %d (%s) and %d (%s) are closer than %g bohr; remove one of them",
                     label, i + 1, fmo_element_symbol(s->number[i]), j + 1,
                     fmo_element_symbol(s->number[j]), FMO_NUCLEUS_DISTANCE_MIN);
    return FMO_OK;
}

/* Checks that each cut bond joins two fragments, is short enough to be a bond, and occurs once. */
static fmo_status check_bonds(const fmo_fragment_system *s, const char *label, fmo_error *err)
{
    if (s->bond_num < 0 || s->bond_num > BONDS_PER_ATOM * s->atom_num)
        return INPUT("%sbond_num = %d: expected 0 to %d for %d atoms", label, s->bond_num,
                     BONDS_PER_ATOM * s->atom_num, s->atom_num);
    for (int b = 0; b < s->bond_num; b++) {
        const int bda = s->bond[2 * b], baa = s->bond[2 * b + 1];
        if (bda < 0 || bda >= s->atom_num || baa < 0 || baa >= s->atom_num)
            return INPUT("%sbonds[%d] = [%d, %d]: expected two atoms from 1 to %d", label, b,
                         bda + 1, baa + 1, s->atom_num);
        if (s->fragment[bda] == s->fragment[baa])
            return INPUT(
                "%sbonds[%d] = [%d, %d]: both atoms are in fragment %d; only bonds between "
                "fragments are cut",
                label, b, bda + 1, baa + 1, s->fragment[bda] + 1);
        if (distance(s, bda, baa) > BOND_MAX)
            return INPUT("%sbonds[%d] = [%d, %d]: the atoms are %.2f bohr apart; expected a bond, "
                         "%g at most",
                         label, b, bda + 1, baa + 1, distance(s, bda, baa), BOND_MAX);
        for (int c = 0; c < b; c++) {
            const int *other = s->bond + 2 * c;
            if ((other[0] == bda && other[1] == baa) || (other[0] == baa && other[1] == bda))
                return INPUT("%sbonds[%d] = [%d, %d] is given twice; remove one", label, b, bda + 1,
                             baa + 1);
        }
    }
    return FMO_OK;
}

/* Returns true if all arrays are present and all counts are in range, so that loops over them are
 * safe. */
static int is_whole(const fmo_fragment_system *s)
{
    return s && s->number && s->coord && s->fragment && s->charge && s->atom_num >= 1 &&
           s->atom_num <= FMO_MOLECULE_NUCLEI_MAX && s->fragment_num >= 1 &&
           s->fragment_num <= s->atom_num && s->bond_num >= 0 &&
           s->bond_num <= BONDS_PER_ATOM * s->atom_num && (s->bond || s->bond_num == 0);
}

/* Returns the fragment of an atom of a bond; -1 if there is no such atom. */
static int fragment_of(const fmo_fragment_system *s, int atom)
{
    return atom >= 0 && atom < s->atom_num ? s->fragment[atom] : -1;
}

int fmo_fragment_electron_num(const fmo_fragment_system *s, int fragment)
{
    if (!is_whole(s) || fragment < 0 || fragment >= s->fragment_num) return -1;
    int64_t electrons = -(int64_t)s->charge[fragment];
    for (int a = 0; a < s->atom_num; a++)
        if (s->fragment[a] == fragment) electrons += s->number[a];
    for (int b = 0; b < s->bond_num; b++) {
        electrons -= fragment_of(s, s->bond[2 * b]) == fragment;
        electrons += fragment_of(s, s->bond[2 * b + 1]) == fragment;
    }
    return electrons >= INT_MIN && electrons <= INT_MAX ? (int)electrons : -1;
}

/* Checks that each fragment has atoms, a plausible charge and an even number of at least 2
 * electrons. */
static fmo_status check_fragments(const fmo_fragment_system *s, const char *label, fmo_error *err)
{
    for (int f = 0; f < s->fragment_num; f++) {
        int atoms = 0;
        for (int a = 0; a < s->atom_num; a++) atoms += s->fragment[a] == f;
        if (!atoms)
            return INPUT("%sfragment %d has no atoms; number the fragments without gaps", label,
                         f + 1);
        if (s->charge[f] < -CHARGE_MAX || s->charge[f] > CHARGE_MAX)
            return INPUT("%scharge[%d] = %d: expected -%d to %d", label, f, s->charge[f],
                         CHARGE_MAX, CHARGE_MAX);
        const int electrons = fmo_fragment_electron_num(s, f);
        if (electrons < 2)
            return INPUT("%sfragment %d has %d electrons with charge %d; expected 2 or more", label,
                         f + 1, electrons, s->charge[f]);
        if (electrons % 2)
            return INPUT("%sfragment %d has %d electrons with charge %d, which is odd: only closed "
                         "shells are supported; check charge[%d], its atoms and its cut bonds",
                         label, f + 1, electrons, s->charge[f], f);
    }
    return FMO_OK;
}

static fmo_status check_thresholds(const fmo_fragment_system *s, const char *label, fmo_error *err)
{
    const struct {
        const char *name;
        double value;
    } t[] = {{"aoc_from", s->aoc_from},
             {"ptc_from", s->ptc_from},
             {"es_dimers_from", s->es_dimers_from}};
    for (int k = 0; k < 3; k++)
        if (!isfinite(t[k].value) || t[k].value < 0.0)
            return INPUT("%sesp/%s = %g: expected 0 or more, in sums of van der Waals radii", label,
                         t[k].name, t[k].value);
    if (s->aoc_from > s->ptc_from)
        return INPUT("%sesp/aoc_from = %g is beyond ptc_from = %g, where point charges begin; give "
                     "both the same value to leave out the range between",
                     label, s->aoc_from, s->ptc_from);
    return FMO_OK;
}

/* Checks the arguments, atoms, bonds, fragments and thresholds, in this order. */
fmo_status fmo_fragment_system_check(const fmo_fragment_system *system, fmo_error *err)
{
    char label[260] = "";
    fmo_status status = FMO_CHECK_ARGUMENTS("fmo_fragment_system_check", err, FMO_GIVEN(system));
    if (status == FMO_OK)
        status = FMO_CHECK_ARGUMENTS("fmo_fragment_system_check", err, FMO_GIVEN(system->number),
                                     FMO_GIVEN(system->coord), FMO_GIVEN(system->fragment),
                                     FMO_GIVEN(system->charge));
    if (status == FMO_OK && system->bond_num > 0)
        status = FMO_CHECK_ARGUMENTS("fmo_fragment_system_check", err, FMO_GIVEN(system->bond));
    if (status != FMO_OK) return status;
    if (system->path) {
        fmo_path_label(system->path, label, 256);
        strcat(label, ": ");
    }
    status = check_atoms(system, label, err);
    if (status == FMO_OK) status = check_bonds(system, label, err);
    if (status == FMO_OK) status = check_fragments(system, label, err);
    return status == FMO_OK ? check_thresholds(system, label, err) : status;
}
