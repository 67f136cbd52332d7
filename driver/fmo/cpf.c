/* The result as a check point file of ABINIT-MP, format "CPF Open1.0 rev23", which BioStation
 * Viewer and ABMPTools read: atoms, fragments, distances, dipole moments, conditions, energies of
 * the whole, of monomers and of pairs. Lines 3 to 6 list the columns that the file has; those that
 * are not computed (other charges, correlation, EX, CT, DQ) are not listed. Format: manual of
 * ABINIT-MP, "Check Point File". Units: angstrom, debye, otherwise atomic units. */
#include "driver/fmo/text.h"
#include "base/arguments.h"
#include "base/harmless.h"
#include "io/output/kind.h"
#include <fmo/molecule.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One e bohr in debye, CODATA 2018. */
static const double debye = 2.541746473;

enum { PER_LINE = 10, TITLE = 200 };

static double distance(const fmo_fragment_system *s, int a, int b)
{
    double r2 = 0.0;
    for (int x = 0; x < 3; x++) r2 += pow(s->coord[3 * a + x] - s->coord[3 * b + x], 2);
    return sqrt(r2);
}

/* Nuclear repulsion between two monomers, or within one. An atom of both is a nucleus that they
 * share, at a cut bond, and has no repulsion with itself. */
static double repulsion(const fmo_fragment_system *s, const fmo_fragment_monomer *I,
                        const fmo_fragment_monomer *J)
{
    double sum = 0.0;
    for (int a = 0; a < I->atom_num; a++)
        for (int b = 0; b < (I == J ? a : J->atom_num); b++)
            if (I->atom[a] != J->atom[b])
                sum += I->charge[a] * J->charge[b] / distance(s, I->atom[a], J->atom[b]);
    return sum;
}

static double repulsion_of_all(const fmo_fragment_system *s)
{
    double sum = 0.0;
    for (int a = 0; a < s->atom_num; a++)
        for (int b = 0; b < a; b++) sum += s->number[a] * s->number[b] / distance(s, a, b);
    return sum;
}

/* Shortest distance of two atoms of two fragments, bohr; 0 across a cut bond, as in ABINIT-MP. */
static double shortest(const fmo_fragment_system *s, const fmo_fragment_result *r,
                       const fmo_fragment_pair *p)
{
    const fmo_fragment_monomer *const I = &r->monomer[p->i], *const J = &r->monomer[p->j];
    double least = INFINITY;
    if (p->is_bonded) return 0.0;
    for (int a = 0; a < I->atom_num; a++)
        for (int b = 0; b < J->atom_num; b++)
            if (s->fragment[I->atom[a]] == p->i && s->fragment[J->atom[b]] == p->j)
                least = fmin(least, distance(s, I->atom[a], J->atom[b]));
    return least;
}

/* Writes an atom name as a PDB file has it in columns 13 to 16: from column 14 on if the element
 * has one letter, unless the name has four characters or begins with a digit ("1HA"). */
static void put_atom_name(FILE *stream, const char *name, const char *element)
{
    const int space = strlen(name) < 4 && strlen(element) < 2 && !(*name >= '0' && *name <= '9');
    fprintf(stream, "%*s%-*.4s", space, "", 4 - space, name);
}

static void put_atoms(FILE *stream, const fmo_text_source *source)
{
    const fmo_fragment_system *s = source->system;
    const double bohr = s->bohr > 0.0 ? s->bohr : FMO_FRAGMENT_BOHR;
    for (int a = 0; a < s->atom_num; a++) {
        const fmo_atom_label *const l = s->label ? &s->label[a] : NULL;
        const char *const element = fmo_element_symbol(s->number[a]);
        fprintf(stream, "%10d %-2s ", a + 1, element);
        put_atom_name(stream, l ? l->name : element, element);
        fprintf(stream, " %3.3s %10d %10d ", l ? l->residue : "UNK",
                l ? atoi(l->place) : s->fragment[a] + 1, s->fragment[a] + 1);
        for (int x = 0; x < 3; x++) fprintf(stream, "%20.10f", s->coord[3 * a + x] * bohr);
        fprintf(stream, " %3c 1%20.10f\n", l ? l->chain : ' ', source->result->charge2[a]);
    }
}

/* Writes a number for each fragment, ten in a line. */
static void put_each(FILE *stream, const int *values, int count)
{
    for (int k = 0; k < count; k++)
        fprintf(stream, "%8d%s", values[k], (k + 1) % PER_LINE && k + 1 < count ? "" : "\n");
}

/* Writes the electrons of each fragment, the number of cut bonds whose electrons it has, and these
 * bonds, fragment by fragment: detached and attached atom. */
static bool put_fragments(FILE *stream, const fmo_text_source *source)
{
    const fmo_fragment_system *s = source->system;
    const int n = s->fragment_num;
    int *const values = calloc((size_t)n, sizeof *values);
    if (!values) return false;
    for (int k = 0; k < n; k++) values[k] = source->result->monomer[k].electron_num;
    put_each(stream, values, n);
    memset(values, 0, (size_t)n * sizeof *values);
    for (int b = 0; b < s->bond_num; b++) values[s->fragment[s->bond[2 * b + 1]]]++;
    put_each(stream, values, n);
    for (int k = 0; k < n; k++)
        for (int b = 0; values[k] && b < s->bond_num; b++)
            if (s->fragment[s->bond[2 * b + 1]] == k)
                fprintf(stream, "%10d%10d\n", s->bond[2 * b] + 1, s->bond[2 * b + 1] + 1);
    free(values);
    return true;
}

/* Writes the basis, the state, the method, the thresholds and the energies of the whole. */
static void put_conditions(FILE *stream, const fmo_text_source *source)
{
    const fmo_fragment_system *s = source->system;
    const double all = repulsion_of_all(s), energy = source->result->energy2;
    char basis[64];
    snprintf(basis, sizeof basis, "%s", source->basis ? source->basis : "");
    fmo_text_harmless(basis);
    fprintf(stream, "%-20.20s\n%-4s\n%-20s\n%24.15E%24.15E%24.15E\n", basis, "S1", "HF",
            s->aoc_from, s->ptc_from, s->es_dimers_from);
    fprintf(stream, "%24.15E\n%24.15E\n%24.15E\n", all, energy - all, energy);
}

static void put_energies(FILE *stream, const fmo_text_source *source)
{
    const fmo_fragment_system *s = source->system;
    const fmo_fragment_result *r = source->result;
    fprintf(stream, "%10d\n", r->fragment_num);
    for (int k = 0; k < r->fragment_num; k++) {
        const fmo_fragment_monomer *m = &r->monomer[k];
        const double own = repulsion(s, m, m);
        fprintf(stream, "%10d%24.15E%24.15E\n", k + 1, own, m->energy - own);
    }
    fprintf(stream, "%10d\n", r->pair_num);
    for (int k = 0; k < r->pair_num; k++) {
        const fmo_fragment_pair *p = &r->pair[k];
        const double between = repulsion(s, &r->monomer[p->i], &r->monomer[p->j]);
        fprintf(stream, "%10d%10d%24.15E%24.15E%24.15E\n", p->j + 1, p->i + 1, between,
                p->total - between, isnan(p->electrostatic) ? 0.0 : p->electrostatic);
    }
}

/* Writes the whole file. */
static bool put_cpf(FILE *stream, const fmo_text_source *source)
{
    const fmo_fragment_system *s = source->system;
    const fmo_fragment_result *r = source->result;
    char title[TITLE];
    snprintf(title, sizeof title, "%s", s->name ? s->name : s->path ? s->path : "");
    fmo_text_harmless(title);
    fprintf(stream,
            FMO_CPF_HEAD "%s\n%10d%10d\nMUL-HF\nDPM-HF-X DPM-HF-Y DPM-HF-Z\nNR HF\nNR HF ES\n",
            title, s->atom_num, s->fragment_num);
    put_atoms(stream, source);
    if (!put_fragments(stream, source)) return false;
    for (int k = 0; k < r->pair_num; k++)
        fprintf(stream, "%12d%12d%24.15E\n", r->pair[k].j + 1, r->pair[k].i + 1,
                shortest(s, r, &r->pair[k]));
    for (int k = 0; k < r->fragment_num; k++) {
        const double *const d = r->monomer[k].dipole;
        fprintf(stream, "%24.15E%24.15E%24.15E\n", debye * d[0], debye * d[1], debye * d[2]);
    }
    put_conditions(stream, source);
    put_energies(stream, source);
    fprintf(stream, "%10d\n%10d\nEND\n", 0, 0); /* no trimers, no tetramers */
    return true;
}

fmo_status fmo_fragment_write_cpf(const char *path, const fmo_fragment_system *system,
                                  const fmo_fragment_result *result, const char *basis,
                                  fmo_error *err)
{
    static const char call[] = "fmo_fragment_write_cpf";
    const fmo_text_source source = {system, result, basis, -1};
    fmo_status status =
        FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(path), FMO_GIVEN(system), FMO_GIVEN(result));
    if (status == FMO_OK) status = fmo_fragment_check_whole(&source, call, err);
    return status == FMO_OK ? fmo_fragment_write_text(path, &source, put_cpf, call, err) : status;
}
