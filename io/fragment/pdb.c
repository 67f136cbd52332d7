/* Reads PDB files, with the columns of version 3.3 of the format: the atoms of the first model, by
 * residue. Next: pdb_residue.c, pdb_cut.c. */
#include "io/fragment/pdb.h"
#include "io/molecule/molecule_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No known residue, and no ligand, has as many atoms. */
enum { RESIDUE_ATOMS_MAX = 64, LIGAND_ATOMS_MAX = 1000, LINE_MIN = 54 };

/* Atoms closer than this, in angstrom, are taken for one atom written twice. */
#define CLOSEST 0.3

#define INPUT(pdb, line, ...) fmo_text_fail((pdb)->text, (line), FMO_ERR_INPUT, __VA_ARGS__)

/* Begins a new residue unless the atom belongs to the last one; the residue must be known. */
static fmo_status add_residue(fmo_pdb *pdb, const fmo_pdb_residue *head, bool hetero)
{
    char label[FMO_PDB_LABEL];
    fmo_pdb_residue *last = pdb->residue_num ? &pdb->residue[pdb->residue_num - 1] : NULL;
    if (last && strcmp(last->name, head->name) == 0 && strcmp(last->place, head->place) == 0 &&
        last->chain == head->chain && last->segment == head->segment) {
        const int limit = last->ligand ? LIGAND_ATOMS_MAX : RESIDUE_ATOMS_MAX;
        if (last->count < limit) return FMO_OK;
        return INPUT(pdb, pdb->text->line, "%s has more than %d atoms; number residues anew",
                     fmo_pdb_label(last, label), limit);
    }
    if (!fmo_fragment_grow((void **)&pdb->residue, pdb->residue_num, &pdb->residue_capacity,
                           sizeof *pdb->residue))
        return fmo_fragment_no_memory(pdb->text);
    fmo_pdb_residue *r = &pdb->residue[pdb->residue_num++];
    *r = *head;
    r->template = fmo_pdb_find_template(r->name, &r->kind);
    r->ligand = r->template ? NULL : fmo_pdb_find_ligand(pdb, r->name);
    if (r->ligand) r->kind = FMO_PDB_LIGAND;
    if (!r->template && !r->ligand)
        return INPUT(pdb, r->line,
                     "residue %s is not known%s; waters, single ions, the 20 amino acids, ACE, NME "
                     "and NH2 are. Describe it in %s (--ligands, docs/reference/fmo.md), or remove "
                     "it",
                     fmo_pdb_label(r, label), hetero ? " (HETATM)" : "",
                     pdb->ligand_path ? pdb->ligand_path : "a file of ligands");
    r->first = pdb->atom_num;
    r->n = r->c = r->sg = r->previous = r->next = r->partner = -1;
    return FMO_OK;
}

/* Reads an ATOM or HETATM line. Alternative locations other than A are counted and left out. */
static fmo_status read_atom(fmo_pdb *pdb, fmo_word line)
{
    static const char *const axis[] = {"x", "y", "z"};
    fmo_text *text = pdb->text;
    const bool hetero = line.at[0] == 'H';
    fmo_pdb_residue head = {.segment = pdb->segment, .line = text->line};
    fmo_pdb_atom atom = {.line = text->line, .hetero = hetero};
    char element[3], field[9], label[FMO_PDB_LABEL];
    if (line.size < LINE_MIN)
        return INPUT(pdb, text->line, "has %zu columns; expected x, y and z in columns 31 to 54",
                     line.size);
    if (pdb->atom_num >= FMO_MOLECULE_NUCLEI_MAX)
        return INPUT(pdb, text->line, "more than %d atoms", FMO_MOLECULE_NUCLEI_MAX);
    if (line.at[16] != ' ' && line.at[16] != 'A') {
        pdb->alternatives++;
        return FMO_OK;
    }
    fmo_pdb_columns(line, 13, 16, atom.name, sizeof atom.name);
    fmo_pdb_columns(line, 18, 21, head.name, sizeof head.name);
    fmo_pdb_columns(line, 23, 27, head.place, sizeof head.place);
    fmo_pdb_columns(line, 77, 78, element, sizeof element);
    head.chain = line.at[21] < ' ' || line.at[21] > '~' ? '?' : line.at[21];
    for (int x = 0; x < 3; x++) {
        fmo_pdb_columns(line, 31 + 8 * (size_t)x, 38 + 8 * (size_t)x, field, sizeof field);
        if (!fmo_text_real(text, (fmo_word){field, strlen(field)}, &atom.angstrom[x]) ||
            atom.angstrom[x] > FMO_FRAGMENT_FARTHEST || atom.angstrom[x] < -FMO_FRAGMENT_FARTHEST)
            return INPUT(pdb, text->line, "%s in columns %d to %d is '%s'; expected angstroms",
                         axis[x], 31 + 8 * x, 38 + 8 * x, field);
    }
    const fmo_status status = add_residue(pdb, &head, hetero);
    if (status != FMO_OK) return status;
    fmo_pdb_residue *r = &pdb->residue[pdb->residue_num - 1];
    atom.residue = pdb->residue_num - 1;
    atom.number = strcmp(element, "D") == 0 ? 1 : fmo_element_number(element, strlen(element));
    if (!*element) atom.number = fmo_pdb_element(r->template, r->kind, atom.name);
    if (!atom.number)
        return INPUT(pdb, text->line,
                     "atom '%s' of %s: '%s' is no element; write it in columns 77 and 78",
                     atom.name, fmo_pdb_label(r, label), element);
    if (!fmo_fragment_grow((void **)&pdb->atom, pdb->atom_num, &pdb->atom_capacity,
                           sizeof *pdb->atom))
        return fmo_fragment_no_memory(text);
    pdb->atom[pdb->atom_num++] = atom;
    r->count++;
    return FMO_OK;
}

/* Reads all records up to the end of the first model with atoms, and counts the models. */
static fmo_status read_records(fmo_pdb *pdb)
{
    fmo_status status = FMO_OK;
    bool done = false;
    for (fmo_word line; status == FMO_OK && fmo_text_line(pdb->text, &line);) {
        if (fmo_pdb_is_record(line, "MODEL")) {
            pdb->models++;
            done |= pdb->models > 1 && pdb->atom_num > 0; /* ENDMDL may be missing */
        } else if (fmo_pdb_is_record(line, "ENDMDL") || fmo_pdb_is_record(line, "END"))
            done = pdb->atom_num > 0;
        else if (fmo_pdb_is_record(line, "TER"))
            pdb->segment++;
        else if (!done && (fmo_pdb_is_record(line, "ATOM") || fmo_pdb_is_record(line, "HETATM")))
            status = read_atom(pdb, line);
    }
    if (status == FMO_OK && !pdb->atom_num)
        return INPUT(pdb, 0, "no ATOM or HETATM lines; expected a PDB file");
    return status;
}

/* Checks that no two atoms coincide. */
static fmo_status check_places(const fmo_pdb *pdb)
{
    bool close = false;
    int i = 0, j = 0;
    char one[FMO_PDB_LABEL], other[FMO_PDB_LABEL];
    double *angstrom = malloc(3 * (size_t)pdb->atom_num * sizeof *angstrom);
    if (!angstrom) return fmo_fragment_no_memory(pdb->text);
    for (int a = 0; a < pdb->atom_num; a++)
        memcpy(angstrom + 3 * (size_t)a, pdb->atom[a].angstrom, 3 * sizeof *angstrom);
    const fmo_status status = fmo_find_close(angstrom, pdb->atom_num, CLOSEST, &close, &i, &j);
    free(angstrom);
    if (status != FMO_OK) return fmo_fragment_no_memory(pdb->text);
    if (!close) return FMO_OK;
    const fmo_pdb_atom *a = &pdb->atom[i], *b = &pdb->atom[j];
    return INPUT(pdb, b->line,
                 "%s of %s is where %s of %s of line %d is (closer than %g angstrom); remove one",
                 b->name, fmo_pdb_label(&pdb->residue[b->residue], other), a->name,
                 fmo_pdb_label(&pdb->residue[a->residue], one), a->line, CLOSEST);
}

/* Sets a notice about the atoms and models that were left out, and a ligand that the file does not
 * have, if any. */
static fmo_status say(const fmo_pdb *pdb, fmo_fragment_system *s)
{
    char line[240] = "", *end = line;
    const char *const stop = line + sizeof line;
    if (pdb->alternatives)
        end += snprintf(end, (size_t)(stop - end),
                        "%d atoms at alternative places other than A left out", pdb->alternatives);
    if (pdb->models > 1)
        end += snprintf(end, (size_t)(stop - end), "%s%d models after the first left out",
                        end > line ? "; " : "", pdb->models - 1);
    for (int k = 0; k < pdb->ligand_num; k++)
        if (!pdb->ligand[k].found) {
            snprintf(end, (size_t)(stop - end), "%sno residue is named %s, as in --ligands",
                     end > line ? "; " : "", pdb->ligand[k].name);
            break;
        }
    if (!*line) return FMO_OK;
    s->notice = strdup(line);
    return s->notice ? FMO_OK : fmo_fragment_no_memory(pdb->text);
}

fmo_status fmo_fragment_read_pdb(fmo_text *text, const fmo_pdb_reading *how, fmo_fragment_system *s)
{
    fmo_pdb pdb = {.text = text, .ligand_path = how->ligands};
    fmo_status status = how->ligands ? fmo_pdb_read_ligands(&pdb) : FMO_OK;
    if (status == FMO_OK) status = read_records(&pdb);
    if (status == FMO_OK) status = check_places(&pdb);
    if (status == FMO_OK) status = fmo_pdb_link(&pdb);
    for (int r = 0; r < pdb.residue_num && status == FMO_OK; r++)
        status = fmo_pdb_find_charge(&pdb, &pdb.residue[r]);
    if (status == FMO_OK) status = fmo_pdb_cut(&pdb, how->residues, s);
    if (status == FMO_OK) status = say(&pdb, s);
    fmo_pdb_free_ligands(&pdb);
    free(pdb.atom);
    free(pdb.residue);
    return status;
}
