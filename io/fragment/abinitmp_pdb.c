/* Reads the PDB file named by an input of ABINIT-MP: all atoms in file order, whatever their
 * residues, since the list of fragments refers to their numbers. */
#include "io/fragment/abinitmp.h"
#include "io/fragment/pdb.h"
#include "io/molecule/molecule_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MIN = 54 };

#define INPUT(text, ...) fmo_text_fail(text, (text)->line, FMO_ERR_INPUT, __VA_ARGS__)

/* Returns the atomic number of an atom without an element in columns 77 and 78: from its name if
 * the residue is known, else from its letter in column 14; 0 if column 13 also has a letter, since
 * programs do not use that column consistently. */
static int element_of(fmo_word line, const char *residue, const char *name)
{
    fmo_pdb_kind kind = FMO_PDB_AMINO;
    const fmo_pdb_template *known = fmo_pdb_find_template(residue, &kind);
    if (known) return fmo_pdb_element(known, kind, name);
    const char first = line.at[12];
    if (first == 'H' && strlen(name) == 4) return 1;
    if (first != ' ' && (first < '0' || first > '9')) return 0;
    return line.at[13] == 'D' ? 1 : fmo_element_number(line.at + 13, 1);
}

/* Reads an ATOM or HETATM line. Atoms must be numbered without gaps and have no alternative
 * locations. */
static fmo_status read_atom(fmo_text *text, fmo_abinitmp *a, fmo_word line, int *residue)
{
    fmo_abinitmp_atom atom = {.residue = *residue};
    char field[9], name[5], head[5], place[6], element[3];
    long serial = 0;
    if (line.size < LINE_MIN)
        return INPUT(text, "has %zu columns; expected x, y and z in columns 31 to 54", line.size);
    if (line.at[16] != ' ' && line.at[16] != 'A')
        return INPUT(text, "an alternative place; keep one of each atom, and count them anew");
    fmo_pdb_columns(line, 7, 11, field, sizeof field);
    if (!fmo_text_count((fmo_word){field, strlen(field)}, FMO_MOLECULE_NUCLEI_MAX, &serial) ||
        serial != a->atoms + 1)
        return INPUT(text,
                     "atom number %s stands at place %d; number atoms 1, 2, 3, ... without gaps, "
                     "which is how the list of fragments counts them",
                     field, a->atoms + 1);
    fmo_pdb_columns(line, 13, 16, name, sizeof name);
    fmo_pdb_columns(line, 18, 21, head, sizeof head);
    fmo_pdb_columns(line, 23, 27, place, sizeof place);
    fmo_pdb_columns(line, 77, 78, element, sizeof element);
    for (int x = 0; x < 3; x++) {
        fmo_pdb_columns(line, 31 + 8 * (size_t)x, 38 + 8 * (size_t)x, field, sizeof field);
        if (!fmo_text_real(text, (fmo_word){field, strlen(field)}, &atom.angstrom[x]))
            return INPUT(text, "'%s' in columns %d to %d; expected angstroms", field, 31 + 8 * x,
                         38 + 8 * x);
    }
    atom.number = strcmp(element, "D") == 0 ? 1 : fmo_element_number(element, strlen(element));
    if (!*element) atom.number = element_of(line, head, name);
    if (!atom.number)
        return INPUT(text, "atom '%s': '%s' is no element; write it in columns 77 and 78", name,
                     element);
    snprintf(atom.label, sizeof atom.label, "%c:%s%s", line.at[21] == ' ' ? '?' : line.at[21], head,
             place);
    if (atom.label[0] < ' ' || atom.label[0] > '~') atom.label[0] = '?';
    memcpy(atom.names.name, name, sizeof name);
    memcpy(atom.names.residue, head, sizeof head);
    memcpy(atom.names.place, place, sizeof place);
    atom.names.chain = line.at[21] == ' ' ? ' ' : atom.label[0];
    atom.names.is_hetero = line.at[0] == 'H';
    const fmo_abinitmp_atom *last = a->atoms ? &a->atom[a->atoms - 1] : NULL;
    if (last && strcmp(last->label, atom.label) != 0) atom.residue = ++*residue;
    if (last && last->label[0] != atom.label[0]) a->chains = true;
    return fmo_abinitmp_add_atom(text, text->line, a, atom);
}

static fmo_status read_records(fmo_text *text, fmo_abinitmp *a)
{
    fmo_status status = FMO_OK;
    int residue = 0, models = 0;
    for (fmo_word line; status == FMO_OK && fmo_text_line(text, &line);) {
        if (fmo_pdb_is_record(line, "MODEL") && models++)
            return INPUT(text, "a second model; keep one");
        if (fmo_pdb_is_record(line, "ATOM") || fmo_pdb_is_record(line, "HETATM"))
            status = read_atom(text, a, line, &residue);
    }
    if (status == FMO_OK && !a->atoms)
        return fmo_text_fail(text, 0, FMO_ERR_INPUT,
                             "no ATOM or HETATM lines; expected a PDB file");
    return status;
}

/* Returns the path of a file relative to the folder of the input, to be freed; NULL if there is no
 * memory. */
static char *beside(const char *input, const char *name)
{
    const char *slash = *name == '/' ? NULL : strrchr(input, '/');
    const size_t folder = slash ? (size_t)(slash - input) + 1 : 0;
    char *path = malloc(folder + strlen(name) + 1);
    if (!path) return NULL;
    memcpy(path, input, folder);
    strcpy(path + folder, name);
    return path;
}

fmo_status fmo_abinitmp_read_pdb(fmo_abinitmp *a)
{
    fmo_error err = {FMO_OK, ""};
    fmo_text text;
    char *path = beside(a->path, a->geometry);
    if (!path) return fmo_fragment_no_memory(a->text);
    fmo_status status = fmo_text_read(&text, path, FMO_FRAGMENT_BYTES_MAX, "a PDB file", &err);
    if (status == FMO_OK) status = read_records(&text, a);
    fmo_text_close(&text);
    a->read = path;
    if (status == FMO_OK) return FMO_OK;
    return fmo_text_fail(a->text, a->geometry_line, status, "ReadGeom: %s", err.message);
}
