/* J of far pairs by the octree (cpu/far.h, tree/) against integrals: for some pairs of a molecule,
 * the sum over all pairs that are not near. Bits for any number of threads and shares; builds with
 * and without the far field; refused options. */
#include "tests/support/calls.h"
#include "tests/support/molecule.h"
#include "tests/support/system.h"

#include "accumulate/cpu/far.h"
#include "accumulate/cpu/kernel.h"
#include "integrals/basis_internal.h"
#include "integrals/eri/eri.h"

static unsigned long long seed = 20261123;

/* Pairs of a molecule, with a density of one sign, as charges have: errors add up. */
typedef struct far_case {
    const fmo_basis *basis;
    fmo_shell_pairs shell_pairs;
    fmo_cpu_pairs pairs;
    fmo_cpu_far far;
    double *density[FMO_PAIR_CLASS_COUNT], *largest[FMO_PAIR_CLASS_COUNT];
    fmo_cpu_far_build built;
} far_case;

/* Prepares the shell pairs and octree of a basis, and a random density that decays with the
 * distance between the two shells. */
static int begin_case(far_case *f, const fmo_basis *basis, double cutoff)
{
    fmo_error err = {FMO_OK, ""};
    memset(f, 0, sizeof *f);
    f->basis = basis;
    fmo_status status = fmo_shell_pairs_make(basis, 1e-3 * cutoff, 2, &f->shell_pairs, &err);
    if (status == FMO_OK) status = fmo_cpu_pairs_make(basis, &f->shell_pairs, &f->pairs, &err);
    if (status == FMO_OK) status = fmo_cpu_far_make(&f->pairs, cutoff, 2, &f->far, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    for (int c = 0; status == FMO_OK && c < FMO_PAIR_CLASS_COUNT; c++) {
        const fmo_cpu_pair_list *list = &f->pairs.list[c];
        const size_t num = (size_t)list->num, stride = (size_t)fmo_cpu_stride(c);
        f->density[c] = calloc(num * stride + 1, sizeof(double));
        f->largest[c] = calloc(num + 1, sizeof(double));
        for (size_t q = 0; q < num; q++) {
            const double *AB = list->AB + 4 * q;
            const double R = sqrt(AB[0] * AB[0] + AB[1] * AB[1] + AB[2] * AB[2]);
            for (int ab = 0; ab < fmo_pair_products(c, 0); ab++) {
                const double D = (0.2 + 0.8 * check_random(&seed)) * exp(-0.5 * R);
                f->density[c][q * stride + (size_t)ab] = D;
                f->largest[c][q] = fmax(f->largest[c][q], D);
            }
        }
    }
    return status == FMO_OK;
}

static void end_case(far_case *f)
{
    fmo_cpu_far_build_free(&f->far, &f->built);
    fmo_cpu_far_free(&f->far);
    fmo_cpu_pairs_free(&f->pairs);
    fmo_shell_pairs_free(&f->shell_pairs);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        free(f->density[c]);
        free(f->largest[c]);
    }
}

/* Builds one share of the far-field part of J. */
static fmo_status build(far_case *f, double cutoff, int threads, int share, int shares,
                        fmo_cpu_far_build *to)
{
    fmo_error err = {FMO_OK, ""};
    const double *density[FMO_PAIR_CLASS_COUNT], *largest[FMO_PAIR_CLASS_COUNT];
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        density[c] = f->density[c];
        largest[c] = f->largest[c];
    }
    const fmo_cpu_far_input input = {.pairs = &f->pairs,
                                     .density = density,
                                     .largest = largest,
                                     .densities = 1,
                                     .weight = 1.0,
                                     .cutoff = cutoff,
                                     .threads = threads,
                                     .share = share,
                                     .shares = shares};
    const fmo_status status = fmo_cpu_far_build_coulomb(&f->far, &input, to, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    return status;
}

/* A pair with all its primitives in the form that eri.h takes. */
typedef struct view {
    double AB[3], *prim;
    fmo_pair_view pair;
} view;

static void see(const far_case *f, int c, int q, view *to)
{
    const int i = f->pairs.list[c].i[q], j = f->pairs.list[c].j[q];
    const fmo_shell *A = &f->basis->shell[i], *B = &f->basis->shell[j];
    fmo_shell_pair_primitives(f->basis, i, j, to->prim, to->AB);
    to->pair = (fmo_pair_view){A->prim_num * B->prim_num, to->prim, to->AB, A->centre};
}

/* X^J of pair q of class c, from pairs in leaves that are not near, by integrals: out[products].
 * Returns how many pairs these are. */
static int64_t by_integrals(const far_case *f, int c, int q, double *out)
{
    const int leaf = f->far.boxes.leaf_of[f->far.first[c] + q];
    const fmo_cpu_near *near = &f->built.near[leaf];
    char *is_near = calloc((size_t)f->far.boxes.leaf_num, 1);
    double prims[2][10 * 10 * FMO_PAIR_FIELDS];
    double eri[FMO_PAIR_PRODUCTS_MAX * FMO_PAIR_PRODUCTS_MAX];
    view own = {.prim = prims[0]}, other = {.prim = prims[1]};
    const int products = fmo_pair_products(c, 0);
    int64_t num = 0;
    for (int n = 0; n < near->num; n++) is_near[near->leaf[n]] = 1;
    see(f, c, q, &own);
    for (int x = 0; x < products; x++) out[x] = 0.0;
    for (int k = 0; k < FMO_PAIR_CLASS_COUNT; k++) {
        const fmo_cpu_pair_list *list = &f->pairs.list[k];
        const fmo_eri_class e = (fmo_eri_class)fmo_eri_class_of(c, k);
        const int others = fmo_pair_products(k, 0), first = fmo_eri_class_bra(e) == c;
        for (int r = 0; r < list->num; r++) {
            if (is_near[f->far.boxes.leaf_of[f->far.first[k] + r]]) continue;
            see(f, k, r, &other);
            fmo_eri_quartet(e, first ? &own.pair : &other.pair, first ? &other.pair : &own.pair,
                            eri);
            const double half = (list->i[r] == list->j[r] ? 0.5 : 1.0) *
                                (f->pairs.list[c].i[q] == f->pairs.list[c].j[q] ? 0.5 : 1.0);
            const double *D = f->density[k] + (size_t)r * (size_t)fmo_cpu_stride(k);
            for (int x = 0; x < products; x++)
                for (int y = 0; y < others; y++)
                    out[x] += half * D[y] * (first ? eri[x * others + y] : eri[y * products + x]);
            num++;
        }
    }
    free(is_near);
    return num;
}

/* Far-field X^J of some pairs, half of them with large bounds, has an error, beside rounding, of at
 * most `allowed` cutoffs. */
static void compare(const char *name, const fmo_basis *basis, double cutoff, int samples,
                    double allowed)
{
    far_case f;
    double worst = 0.0, largest = 0.0, share = 0.0;
    if (begin_case(&f, basis, cutoff) && build(&f, cutoff, 2, 0, 1, &f.built) == FMO_OK) {
        for (int s = 0; s < samples; s++) {
            int c, q, tries = 0;
            do {
                c = (int)(check_random(&seed) * FMO_PAIR_CLASS_COUNT);
                q = (int)(check_random(&seed) * f.pairs.list[c].num);
            } while (q >= f.pairs.list[c].num ||
                     (s % 2 && tries++ < 1000 && f.pairs.list[c].bound[q] < 0.1));
            double expected[FMO_PAIR_PRODUCTS_MAX];
            const int64_t num = by_integrals(&f, c, q, expected);
            const double *got = f.built.coulomb[c] + (size_t)q * (size_t)fmo_cpu_stride(c);
            share += (double)num / f.far.boxes.item_num / samples;
            for (int x = 0; x < fmo_pair_products(c, 0); x++) {
                worst = fmax(worst, fabs(got[x] - expected[x]));
                largest = fmax(largest, fabs(expected[x]));
            }
        }
        printf("%-26s cutoff %.0e: %6d pairs, %4d leaves, near %.2f, %7lld interactions; far pairs "
               "%.2f, X^J up to %-8.3g off by %.4f cutoffs\n",
               name, cutoff, f.far.boxes.item_num, f.far.boxes.leaf_num,
               fmo_cpu_far_near_share(&f.far, 1.0, cutoff, 2), (long long)f.built.interactions,
               share, largest, worst / cutoff);
        CHECK(worst <= allowed * cutoff + 4e-15 * largest, "%s: off by %g, that is %g cutoffs",
              name, worst, worst / cutoff);
        CHECK(share > 0.02 && largest > 1e3 * cutoff, "%s: nothing is far", name);
    }
    end_case(&f);
}

static void compare_molecule(const char *xyz, const char *set, double cutoff, int samples,
                             double allowed)
{
    char name[64];
    fmo_dataset *dataset = molecule_dataset(xyz, set);
    snprintf(name, sizeof name, "%.40s %.16s", xyz, set);
    if (dataset) compare(name, fmo_dataset_basis(dataset), cutoff, samples, allowed);
    fmo_dataset_destroy(dataset);
}

/* A chain with all kinds of shells: diffuse and tight ones, contractions that cancel, pairs of
 * distant atoms. */
static void make_chain(test_system *s, int atoms, double step, int cancel)
{
    memset(s, 0, sizeof *s);
    s->cartesian = 1;
    for (int a = 0; a < atoms; a++) {
        system_add_atom(s, step * a, 4.0 * check_random(&seed), 4.0 * check_random(&seed));
        for (int l = 0; l < FMO_SHELL_KIND_COUNT; l++)
            system_add_shell(s, l, l > FMO_GPU_ANG_MOM_MAX ? 1 : 1 + a % 3, &seed);
        system_add_shell(s, a % 2, 1, &seed);
        const double alone = a % 3 ? 0.05 + 0.1 * check_random(&seed) : 1e4;
        s->exponent[s->prims - 1] = alone;
        s->coefficient[s->prims - 1] = pow(2 * alone / M_PI, 0.75) * pow(2 * sqrt(alone), a % 2);
        if (!cancel) continue;
        /* exponents in ratios of 1.1, coefficients +1 -2 +1 */
        system_add_shell(s, 1, 3, &seed);
        for (int k = 0; k < 3; k++) {
            s->exponent[s->prims - 3 + k] = 0.3 * pow(1.1, k);
            s->coefficient[s->prims - 3 + k] = k == 1 ? -2.0 : 1.0;
        }
    }
}

/* Nuclei so far apart that each leaf has one of them, with all pairs at one point. */
static void compare_lattice(void)
{
    static test_system s;
    memset(&s, 0, sizeof s);
    s.cartesian = 1;
    for (int a = 0; a < 27; a++) {
        system_add_atom(&s, 12.0 * (a / 9), 12.0 * (a / 3 % 3), 12.0 * (a % 3));
        for (int l = 0; l <= FMO_GPU_ANG_MOM_MAX; l++) /* all shells would take minutes */
            for (int k = 0; k < 2; k++) system_add_shell(&s, l, 2, &seed);
    }
    fmo_basis *basis = system_basis(&s);
    for (double cutoff = 1e-6; basis && cutoff > 1e-13; cutoff *= 1e-2)
        compare("nuclei far apart", basis, cutoff, 24, 0.1);
    fmo_basis_destroy(basis);
}

static void compare_chains(void)
{
    static test_system s;
    for (int cancel = 0; cancel < 2; cancel++) {
        make_chain(&s, cancel ? 8 : 11, 3.5, cancel);
        fmo_basis *basis = system_basis(&s);
        for (double cutoff = 1e-6; basis && cutoff > 1e-13; cutoff *= 1e-2)
            compare(cancel ? "chain that cancels" : "chain", basis, cutoff, 24, 0.05);
        fmo_basis_destroy(basis);
    }
}

/* The bits do not depend on the number of threads, and shares add up to the whole. */
static void check_bits(const fmo_basis *basis)
{
    far_case f;
    if (begin_case(&f, basis, 1e-10) && build(&f, 1e-10, 1, 0, 1, &f.built) == FMO_OK) {
        for (int threads = 2; threads <= 5; threads += 3)
            for (int shares = 1; shares <= 3; shares++) {
                int64_t differ = 0, interactions = 0;
                fmo_cpu_far_build part[3];
                for (int r = 0; r < shares; r++) {
                    if (build(&f, 1e-10, threads, r, shares, &part[r]) != FMO_OK) return;
                    interactions += part[r].interactions;
                    for (int l = 0; l < f.far.boxes.leaf_num; l++)
                        differ += part[r].near[l].num != f.built.near[l].num ||
                                  memcmp(part[r].near[l].leaf, f.built.near[l].leaf,
                                         (size_t)part[r].near[l].num * sizeof(int)) != 0;
                }
                for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
                    for (int x = 0; x < f.pairs.list[c].num * fmo_cpu_stride(c); x++) {
                        double sum = 0.0; /* all but one are 0 */
                        for (int r = 0; r < shares; r++) sum += part[r].coulomb[c][x];
                        differ += sum != f.built.coulomb[c][x];
                    }
                CHECK(differ == 0, "%d threads, %d shares: %lld numbers differ", threads, shares,
                      (long long)differ);
                CHECK(interactions >= f.built.interactions &&
                          interactions <= shares * f.built.interactions,
                      "%d shares: %lld interactions, %lld", shares, (long long)interactions,
                      (long long)f.built.interactions);
                for (int r = 0; r < shares; r++) fmo_cpu_far_build_free(&f.far, &part[r]);
            }
    }
    end_case(&f);
}

/* J and K of `num` densities with one plan, and its profile. */
static int build_plan(const fmo_basis *basis, fmo_fock_options o, const double *D, int num,
                      double *J, double *K, fmo_fock_profile *profile)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    fmo_error err = {FMO_OK, ""};
    fmo_fock_plan *plan = NULL;
    fmo_fock_job jobs[3];
    memset(jobs, 0, sizeof jobs);
    fmo_status status = fmo_fock_plan_create(basis, &o, &plan, &err);
    for (int d = 0; d < num; d++)
        jobs[d] = (fmo_fock_job){.plan = plan,
                                 .density = D + (size_t)d * n * n,
                                 .coulomb = J ? J + (size_t)d * n * n : NULL,
                                 .exchange = K ? K + (size_t)d * n * n : NULL};
    if (status == FMO_OK) status = fmo_fock_build_batch(jobs, (size_t)num, &err);
    if (status == FMO_OK) status = fmo_fock_plan_profile(plan, profile, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    fmo_fock_plan_destroy(plan);
    return status == FMO_OK;
}

/* Builds with the far field agree with builds without it: one density and three, J alone, bits with
 * `fixed`. */
static void check_builds(const char *name, const fmo_basis *basis)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis), size = n * n;
    double *const D = malloc(3 * size * sizeof *D), *const J = malloc(6 * size * sizeof *J);
    double *const K = malloc(6 * size * sizeof *K);
    fmo_fock_profile profile;
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    for (int d = 0; d < 3; d++) {
        double *one = random_density((int)n, 0.5, &seed);
        memcpy(D + (size_t)d * size, one, size * sizeof *one);
        for (size_t i = 0; i < n; i++) D[(size_t)d * size + i * n + i] += 1.0;
        free(one);
    }
    o.threads = 2;
    o.coulomb = FMO_COULOMB_DIRECT;
    o.cutoff = 1e-12;
    if (build_plan(basis, o, D, 3, J + 3 * size, K + 3 * size, &profile))
        CHECK(profile.coulomb == FMO_COULOMB_DIRECT && isnan(profile.far_seconds), "direct: %s",
              fmo_coulomb_name(profile.coulomb));
    o.coulomb = FMO_COULOMB_BOXES;
    o.cutoff = 1e-10;
    for (int num = 1; num <= 3; num += 2) {
        if (!build_plan(basis, o, D, num, J, K, &profile)) continue;
        CHECK(profile.coulomb == FMO_COULOMB_BOXES && profile.far_seconds > 0.0 &&
                  profile.far_seconds < profile.seconds,
              "boxes: %s, %g of %g s", fmo_coulomb_name(profile.coulomb), profile.far_seconds,
              profile.seconds);
        const double of_J = check_close(name, J, J + 3 * size, (size_t)num * size, n, 1e-8, 0.0);
        const double of_K = check_close(name, K, K + 3 * size, (size_t)num * size, n, 1e-8, 0.0);
        printf("%s: %d densities, J off by %.2g, K by %.2g\n", name, num, of_J, of_K);
        if (build_plan(basis, o, D, num, J, NULL, &profile))
            check_close(name, J, J + 3 * size, (size_t)num * size, n, 1e-8, 0.0);
    }
    o.integrals = FMO_INTEGRALS_AUTO;
    if (build_plan(basis, o, D, 1, J, K, &profile))
        CHECK(profile.coulomb == FMO_COULOMB_BOXES && profile.integrals == FMO_INTEGRALS_DIRECT,
              "boxes by name keep no integrals");
    o.integrals = FMO_INTEGRALS_DIRECT;
    if (build_plan(basis, o, D, 1, NULL, K, &profile))
        CHECK(profile.coulomb == FMO_COULOMB_DIRECT, "K alone has nothing far");
    o.scatter = FMO_SCATTER_FIXED;
    for (int threads = 1; threads <= 4; threads++) {
        double *const to = threads == 1 ? J : J + size, *const to_K = threads == 1 ? K : K + size;
        o.threads = threads;
        if (build_plan(basis, o, D, 1, to, to_K, &profile) && threads > 1)
            CHECK(memcmp(J, J + size, size * sizeof *J) == 0 &&
                      memcmp(K, K + size, size * sizeof *K) == 0,
                  "%s: other bits with %d threads", name, threads);
    }
    free(D);
    free(J);
    free(K);
}

/* `auto` chooses direct sums where nearly all pairs are near, where integrals are stored, and at
 * cutoff 0. */
static void check_auto(const char *xyz, const char *set, fmo_coulomb expected)
{
    fmo_dataset *dataset = molecule_dataset(xyz, set);
    if (!dataset) return;
    const fmo_basis *basis = fmo_dataset_basis(dataset);
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    double *D = calloc(n * n, sizeof *D), *J = malloc(n * n * sizeof *J);
    fmo_fock_profile profile;
    fmo_fock_options o;
    for (size_t i = 0; i < n; i++) D[i * n + i] = 1.0;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.threads = 2;
    if (build_plan(basis, o, D, 1, J, NULL, &profile))
        CHECK(profile.coulomb == expected, "%s %s: auto is %s", xyz, set,
              fmo_coulomb_name(profile.coulomb));
    o.cutoff = 0.0;
    if (n < 40 && build_plan(basis, o, D, 1, J, NULL, &profile))
        CHECK(profile.coulomb == FMO_COULOMB_DIRECT, "boxes at cutoff 0");
    free(D);
    free(J);
    fmo_dataset_destroy(dataset);
}

/* Options with which the far field cannot be combined are refused. */
static void check_refusals(const fmo_basis *basis)
{
    fmo_fock_options boxes, o;
    fmo_fock_options_init(&boxes);
    boxes.mode = FMO_MODE_CPU;
    boxes.coulomb = FMO_COULOMB_BOXES;
    o = boxes;
    o.cutoff = 0.0;
    check_plan_refused(basis, &o, FMO_ERR_ARGUMENT, "coulomb = boxes with cutoff 0");
    o = boxes;
    o.integrals = FMO_INTEGRALS_STORED;
    check_plan_refused(basis, &o, FMO_ERR_ARGUMENT, "coulomb = boxes with integrals = stored");
    o = boxes;
    o.mode = FMO_MODE_REFERENCE;
    check_plan_refused(basis, &o, FMO_ERR_UNSUPPORTED,
                       "coulomb = boxes belongs to modes cpu and fused");
    o = boxes;
    o.coulomb = (fmo_coulomb)FMO_COULOMB_COUNT;
    check_plan_refused(basis, &o, FMO_ERR_ARGUMENT, "options.coulomb");
    CHECK(!fmo_coulomb_name((fmo_coulomb)-1) && !fmo_coulomb_text(FMO_COULOMB_COUNT) &&
              strcmp(fmo_coulomb_name(FMO_COULOMB_BOXES), "boxes") == 0,
          "names");
}

/* Without arguments runs all checks; with FILE.xyz SET CUTOFF PAIRS prints the errors of one
 * molecule. */
int main(int argc, char **argv)
{
    const int small = getenv("FMO_TEST_SMALL") != NULL; /* under sanitizers */
    if (argc == 5) { /* a molecule of one's own: FILE.xyz SET CUTOFF PAIRS */
        compare_molecule(argv[1], argv[2], atof(argv[3]), atoi(argv[4]), HUGE_VAL);
        return check_summary();
    }
    static test_system s;
    const int atoms = getenv("FMO_TEST_FULL") ? 12 : small ? 4 : 6;
    make_chain(&s, atoms, small ? 6.0 : 4.0, 1);
    fmo_basis *chain = system_basis(&s);
    if (chain) {
        check_bits(chain);
        check_builds("chain", chain);
        check_refusals(chain);
    }
    fmo_basis_destroy(chain);
    check_auto("water001", "sto-3g", FMO_COULOMB_DIRECT);
    if (small) return check_summary();
    check_auto("water008", "6-31g", FMO_COULOMB_DIRECT);
    check_auto("gly30", "sto-3g", FMO_COULOMB_BOXES);
    compare_chains();
    compare_lattice();
    for (double cutoff = 1e-6; cutoff > 1e-13; cutoff *= 1e-2)
        compare_molecule("alkane_C60H122", "sto-3g", cutoff, 20, 0.1);
    compare_molecule("gly30", "sto-3g", 1e-10, 20, 0.1);
    compare_molecule("water064", "sto-3g", 1e-10, 10, 0.1);
    compare_molecule("alkane_C20H42", "6-31g(d)", 1e-10, 10, 0.1);
    return check_summary();
}
