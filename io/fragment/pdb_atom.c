/* Columns of PDB lines, labels of residues for messages, and distances; declared in pdb.h. */
#include "io/fragment/pdb.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *fmo_pdb_label(const fmo_pdb_residue *r, char label[FMO_PDB_LABEL])
{
    if (r->chain == ' ')
        snprintf(label, FMO_PDB_LABEL, "%s %s", r->name, r->place);
    else
        snprintf(label, FMO_PDB_LABEL, "%s %s of chain %c", r->name, r->place, r->chain);
    return label;
}

double fmo_pdb_distance(const fmo_pdb *pdb, int a, int b)
{
    const double *p = pdb->atom[a].angstrom, *q = pdb->atom[b].angstrom;
    return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                (p[2] - q[2]) * (p[2] - q[2]));
}

void fmo_pdb_columns(fmo_word line, size_t from, size_t to, char *field, size_t size)
{
    size_t used = 0;
    for (size_t i = from - 1; i < to && i < line.size && used + 1 < size; i++) {
        const char c = line.at[i];
        if (c == ' ' && !used) continue;
        field[used++] = c < ' ' || c > '~' ? '?' : c;
    }
    while (used && field[used - 1] == ' ') used--;
    field[used] = '\0';
}

bool fmo_pdb_is_record(fmo_word line, const char *name)
{
    const size_t size = strlen(name);
    return line.size >= size && memcmp(line.at, name, size) == 0 &&
           (size == 6 || line.size == size || line.at[size] == ' ');
}
