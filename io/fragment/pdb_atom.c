/* Of atoms and residues of a PDB file: names for messages, distances. */
#include "io/fragment/pdb.h"

#include <math.h>
#include <stdio.h>

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
