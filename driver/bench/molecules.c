/* Generates molecules. See molecules.h. Next: fock.c, which builds their Fock matrices. */
#include "molecules.h"
#include "items.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HYDROGEN = 1, CARBON = 6, OXYGEN = 8 };

static const double degree = 3.14159265358979323846 / 180.0;

void bench_molecule_destroy(fmo_molecule *molecule)
{
    if (!molecule) return;
    free(molecule->number);
    free(molecule->coord);
    free(molecule);
}

/* Allocates a molecule for `nuclei_max` nuclei, which has none yet. */
static fmo_status start(int64_t nuclei_max, fmo_molecule **molecule, fmo_error *err)
{
    fmo_molecule *m = calloc(1, sizeof *m);
    if (m) {
        m->number = malloc((size_t)nuclei_max * sizeof *m->number);
        m->coord = malloc(3 * (size_t)nuclei_max * sizeof *m->coord);
    }
    if (!m || !m->number || !m->coord) {
        bench_molecule_destroy(m);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %lld nuclei",
                             (long long)nuclei_max);
    }
    *molecule = m;
    return FMO_OK;
}

/* Adds a nucleus. Coordinates are given in angstrom and stored in bohr. */
static void add(fmo_molecule *m, int number, double x, double y, double z)
{
    double *at = m->coord + 3 * (size_t)m->nucleus_num;
    at[0] = x / FMO_BOHR_IN_ANGSTROM;
    at[1] = y / FMO_BOHR_IN_ANGSTROM;
    at[2] = z / FMO_BOHR_IN_ANGSTROM;
    m->number[m->nucleus_num++] = number;
}

/* A uniformly random rotation from three uniform numbers, as a unit quaternion (Shoemake 1992). */
static void rotation(uint64_t seed, uint64_t which, double R[3][3])
{
    const double u = bench_uniform(bench_hash(seed, 3 * which));
    const double a = 360.0 * degree * bench_uniform(bench_hash(seed, 3 * which + 1));
    const double b = 360.0 * degree * bench_uniform(bench_hash(seed, 3 * which + 2));
    const double x = sqrt(1.0 - u) * sin(a), y = sqrt(1.0 - u) * cos(a);
    const double z = sqrt(u) * sin(b), w = sqrt(u) * cos(b);
    const double rows[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                               {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                               {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    memcpy(R, rows, sizeof rows);
}

/* Places randomly rotated waters on the grid. */
fmo_status bench_water_cluster(int edge, uint64_t seed, fmo_molecule **molecule, fmo_error *err)
{
    const double step = 3.1, bond = 0.9572, half = 0.5 * 104.52 * degree;
    const double hydrogen[2][3] = {{bond * sin(half), 0.0, bond * cos(half)},
                                   {-bond * sin(half), 0.0, bond * cos(half)}};
    const int64_t waters = (int64_t)edge * edge * edge;
    if (start(3 * waters, molecule, err) != FMO_OK) return FMO_ERR_MEMORY;
    for (int64_t k = 0; k < waters; k++) {
        const double at[3] = {step * (double)(k / edge / edge), step * (double)(k / edge % edge),
                              step * (double)(k % edge)};
        double R[3][3];
        rotation(seed, (uint64_t)k, R);
        add(*molecule, OXYGEN, at[0], at[1], at[2]);
        for (int h = 0; h < 2; h++) {
            double r[3];
            for (int i = 0; i < 3; i++)
                r[i] = at[i] + R[i][0] * hydrogen[h][0] + R[i][1] * hydrogen[h][1] +
                       R[i][2] * hydrogen[h][2];
            add(*molecule, HYDROGEN, r[0], r[1], r[2]);
        }
    }
    snprintf((*molecule)->comment, sizeof(*molecule)->comment, "(H2O)_%lld", (long long)waters);
    return FMO_OK;
}

/* Places the carbons as a zigzag in the xz plane, and then the hydrogens. */
fmo_status bench_alkane(int carbons, fmo_molecule **molecule, fmo_error *err)
{
    const double CC = 1.53, CH = 1.09, CCC = 112.0 * degree, HCH = 107.0 * degree;
    const double x = 0.5 * CC * cos(0.5 * CCC), step = CC * sin(0.5 * CCC);
    const double out = CH * cos(0.5 * HCH), aside = CH * sin(0.5 * HCH);
    /* components of the direction from one carbon to the next: across and along the chain */
    const double side_share = cos(0.5 * CCC), chain_share = sin(0.5 * CCC);
    if (start(3 * (int64_t)carbons + 2, molecule, err) != FMO_OK) return FMO_ERR_MEMORY;
    fmo_molecule *m = *molecule;
    for (int k = 0; k < carbons; k++) add(m, CARBON, k % 2 ? -x : x, 0.0, k * step);
    for (int k = 0; k < carbons; k++)
        for (int h = 0; h < 2; h++)
            add(m, HYDROGEN, k % 2 ? -x - out : x + out, h ? -aside : aside, k * step);
    const int last = carbons - 1;
    const double end = last % 2 ? -x : x; /* its neighbour is on the other side */
    add(m, HYDROGEN, x - CH * side_share, 0.0, -CH * chain_share);
    add(m, HYDROGEN, end - (end > 0.0 ? 1.0 : -1.0) * CH * side_share, 0.0,
        last * step + CH * chain_share);
    snprintf(m->comment, sizeof m->comment, "n-C%dH%d", carbons, 2 * carbons + 2);
    return FMO_OK;
}

fmo_status bench_displaced(const fmo_molecule *from, double max_displacement, uint64_t seed,
                           fmo_molecule **molecule, fmo_error *err)
{
    if (start(from->nucleus_num, molecule, err) != FMO_OK) return FMO_ERR_MEMORY;
    fmo_molecule *m = *molecule;
    m->nucleus_num = from->nucleus_num;
    memcpy(m->number, from->number, (size_t)m->nucleus_num * sizeof *m->number);
    for (int i = 0; i < 3 * m->nucleus_num; i++)
        m->coord[i] = from->coord[i] +
                      max_displacement * (2.0 * bench_uniform(bench_hash(seed, (uint64_t)i)) - 1.0);
    snprintf(m->comment, sizeof m->comment, "%.240s, displaced", from->comment);
    return FMO_OK;
}
