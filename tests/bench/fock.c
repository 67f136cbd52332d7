/* What fmo-bench fock and growth use: generated molecules against the committed geometries, and the
 * count of screened-in quartets against a direct count. */
#include "driver/bench/molecules.h"
#include "driver/bench/work.h"
#include "accumulate/rules/screen.h"
#include "integrals/basis_internal.h"
#include "integrals/pairs/shell_pair.h"
#include "tests/support/system.h"

static unsigned long long seed = 6;

static double distance(const double *a, const double *b)
{
    return FMO_BOHR_IN_ANGSTROM *
           sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

/* The committed alkanes follow the same recipe, atom by atom. */
static void check_alkane(int carbons)
{
    fmo_molecule *made = NULL, *file = NULL;
    fmo_error err = {FMO_OK, ""};
    char path[512];
    snprintf(path, sizeof path, "%s/xyz/alkane_C%dH%d.xyz", FMO_DATASET_DIR, carbons,
             2 * carbons + 2);
    CHECK(bench_alkane(carbons, &made, &err) == FMO_OK &&
              fmo_molecule_read_xyz(path, &file, &err) == FMO_OK,
          "%s", err.message);
    if (made && file) {
        CHECK(made->nucleus_num == file->nucleus_num && made->nucleus_num == 3 * carbons + 2,
              "%d nuclei, expected %d", made->nucleus_num, file->nucleus_num);
        CHECK(!memcmp(made->number, file->number, (size_t)file->nucleus_num * sizeof(int)),
              "other elements");
        check_close(path, made->coord, file->coord, 3 * (size_t)file->nucleus_num, 3, 3e-8, 0.0);
    }
    bench_molecule_destroy(made);
    fmo_molecule_destroy(file);
}

/* Odd and short chains: every bond and angle is as stated. */
static void check_short_alkane(int carbons)
{
    fmo_molecule *m = NULL;
    fmo_error err = {FMO_OK, ""};
    CHECK(bench_alkane(carbons, &m, &err) == FMO_OK, "%s", err.message);
    if (!m) return;
    int bonds[3] = {0, 0, 0}; /* CC, CH, HH closer than 1.6 angstrom: none */
    for (int i = 0; i < m->nucleus_num; i++)
        for (int j = 0; j < i; j++) {
            const double d = distance(m->coord + 3 * i, m->coord + 3 * j);
            const int hydrogens = (m->number[i] == 1) + (m->number[j] == 1);
            CHECK(d > 1.0, "C%d: nuclei %d and %d are %g apart", carbons, i, j, d);
            if (d > 1.6) continue;
            bonds[hydrogens]++;
            CHECK(fabs(d - (hydrogens ? 1.09 : 1.53)) < 1e-9, "C%d: bond of %g", carbons, d);
        }
    CHECK(bonds[0] == carbons - 1 && bonds[1] == 2 * carbons + 2 && bonds[2] == 0,
          "C%d: %d CC, %d CH and %d HH bonds", carbons, bonds[0], bonds[1], bonds[2]);
    bench_molecule_destroy(m);
}

/* Same grid, order and monomers as the committed clusters; the orientations are our own. */
static void check_water(int edge)
{
    fmo_molecule *made = NULL, *file = NULL, *other = NULL, *moved = NULL;
    fmo_error err = {FMO_OK, ""};
    char path[512];
    snprintf(path, sizeof path, "%s/xyz/water%03d.xyz", FMO_DATASET_DIR, edge * edge * edge);
    CHECK(bench_water_cluster(edge, 5, &made, &err) == FMO_OK &&
              bench_water_cluster(edge, 6, &other, &err) == FMO_OK &&
              bench_displaced(made, 0.05, 7, &moved, &err) == FMO_OK &&
              fmo_molecule_read_xyz(path, &file, &err) == FMO_OK,
          "%s", err.message);
    if (made && file && other && moved) {
        CHECK(made->nucleus_num == file->nucleus_num, "%d nuclei", made->nucleus_num);
        for (int w = 0; w < made->nucleus_num; w += 3) {
            const double *a = made->coord + 3 * w, *b = file->coord + 3 * w;
            CHECK(made->number[w] == 8 && file->number[w] == 8 && distance(a, b) < 1e-7,
                  "oxygen %d", w);
            for (int p = 0; p < 3; p++) {
                const int q = (p + 1) % 3;
                CHECK(fabs(distance(a + 3 * p, a + 3 * q) - distance(b + 3 * p, b + 3 * q)) < 3e-8,
                      "water %d: distance %g, expected %g", w / 3, distance(a + 3 * p, a + 3 * q),
                      distance(b + 3 * p, b + 3 * q));
            }
            CHECK(distance(a + 3, other->coord + 3 * w + 3) > 1e-3, "seed makes no difference");
        }
        double largest = 0.0, smallest = INFINITY;
        for (int i = 0; i < 3 * made->nucleus_num; i++) {
            largest = fmax(largest, fabs(moved->coord[i] - made->coord[i]));
            smallest = fmin(smallest, fabs(moved->coord[i] - made->coord[i]));
        }
        CHECK(largest <= 0.05 && largest > 0.02 && smallest > 0.0, "displaced by %g to %g",
              smallest, largest);
    }
    bench_molecule_destroy(made);
    bench_molecule_destroy(other);
    bench_molecule_destroy(moved);
    fmo_molecule_destroy(file);
}

/* The same count by a loop over all quartets of shells and their primitives. */
typedef struct pair {
    int i, j, kind, prim_num;
    double bound, *prim_bound;
} pair;

/* The numbers of quartets and primitive quartets that fmo-bench counts are those of a loop over all
 * pairs of pairs. */
static void check_work(double cutoff)
{
    enum { CAPACITY = 4096 };
    static pair pairs[CAPACITY];
    static test_system s;
    fmo_error err = {FMO_OK, ""};
    fmo_shell_pairs made;
    bench_work work;
    int num = 0;
    system_random(&s, 6, 9, 5, 3, 14.0, &seed);
    system_shuffle_functions(&s, &seed);
    fmo_basis *basis = system_basis(&s);
    if (!basis) return;
    const int n = s.aos, shells = basis->shell_num;
    double *D = random_density(n, 1.0, &seed);
    double *dmax = (double *)calloc((size_t)shells * (size_t)shells, sizeof *dmax);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            int A = 0, B = 0; /* the shells of internal functions a and b */
            while (A + 1 < shells && basis->shell[A + 1].ao_begin <= a) A++;
            while (B + 1 < shells && basis->shell[B + 1].ao_begin <= b) B++;
            double *block = &dmax[A * shells + B];
            *block = fmax(*block, fabs(D[basis->ao_caller[a] * n + basis->ao_caller[b]] *
                                       basis->ao_factor[a] * basis->ao_factor[b]));
        }
    CHECK(fmo_shell_pairs_make(basis, 0.0, 1, &made, &err) == FMO_OK, "%s", err.message);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
        for (int k = 0; k < made.list[c].num && num < CAPACITY; k++, num++) {
            const fmo_pair_list *list = &made.list[c];
            pairs[num].i = list->i[k];
            pairs[num].j = list->j[k];
            pairs[num].kind = c;
            pairs[num].bound = list->bound[k];
            pairs[num].prim_num = (int)(list->begin[k + 1] - list->begin[k]);
            pairs[num].prim_bound = list->prim_bound + list->begin[k];
        }
    double quartets = 0.0, prims = 0.0;
    for (int a = 0; a < num; a++)
        for (int b = 0; b <= a; b++) {
            const pair *p = &pairs[a], *q = &pairs[b];
            const double d = fmo_screen_density(dmax, shells, 1.0, p->i, p->j, q->i, q->j);
            if (p->bound * q->bound * d < cutoff) continue;
            quartets++;
            for (int x = 0; x < p->prim_num; x++)
                for (int y = 0; y < q->prim_num; y++)
                    prims += p->prim_bound[x] * q->prim_bound[y] * d >= cutoff;
        }
    CHECK(bench_work_count(basis, D, cutoff, 2, &work, &err) == FMO_OK, "%s", err.message);
    CHECK(work.quartet_sum == quartets, "cutoff %g: %g quartets, expected %g of %g", cutoff,
          work.quartet_sum, quartets, 0.5 * num * (num + 1.0));
    CHECK(fabs(work.prim_quartet_sum - prims) <= 1e-3 * prims, /* those of pruned pairs */
          "cutoff %g: %g primitive quartets, expected %g", cutoff, work.prim_quartet_sum, prims);
    CHECK(cutoff == 0.0 ? quartets == 0.5 * num * (num + 1.0) : quartets < 0.5 * num * (num + 1.0),
          "cutoff %g: %g quartets", cutoff, quartets);
    CHECK(work.flop > 36.0 * work.prim_quartet_sum, "%g operations", work.flop);
    fmo_shell_pairs_free(&made);
    free(dmax);
    free(D);
    fmo_basis_destroy(basis);
}

int main(void)
{
    check_alkane(20);
    check_alkane(60);
    for (int carbons = 1; carbons <= 5; carbons++) check_short_alkane(carbons);
    for (int edge = 1; edge <= 4; edge++) check_water(edge);
    check_work(0.0);
    check_work(1e-10);
    check_work(1e-6);
    check_work(1e-3);
    return check_summary();
}
