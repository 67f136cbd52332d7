/* The report as text: system, settings, class table, results, check. See report.h. */
#include "driver/report/report.h"
#include "driver/base/shown.h"
#include "driver/report/host.h"
#include "driver/run/properties.h"
#include "driver/run/scf.h"
#include "integrals/tables.h"

#include <inttypes.h>
#include <math.h>
#include <fmo/molecule.h>
#include <fmo/version.h>

/* Prints e.g. "12 shells (7 s, 4 p, 1 d; Cartesian)". */
static void print_shells(const fmo_dataset *dataset, FILE *stream)
{
    const fmo_basis *basis = fmo_dataset_basis(dataset);
    const fmo_basis_input *input = fmo_dataset_basis_input(dataset);
    int last = FMO_ANG_MOM_MAX;
    while (last > 0 && !fmo_basis_shell_num(basis, last)) last--;
    fprintf(stream, "%d shells (", input->shell_num);
    for (int l = 0; l <= last; l++)
        fprintf(stream, "%s%d %c", l ? ", " : "", fmo_basis_shell_num(basis, l),
                fmo_shell_letter(l));
    if (fmo_shell_functions(last) != fmo_shell_spherical(last))
        fprintf(stream, "; %s", input->cartesian ? "Cartesian" : "spherical");
    fputc(')', stream);
}

/* Prints the head of a report: system, basis, guess or density, mode and notices. */
static void print_charges(const driver_options *options, const fmo_point_charges *charges,
                          FILE *stream)
{
    double sum = 0.0;
    for (size_t c = 0; c < charges->num; c++) sum += charges->charge[c];
    fprintf(stream, "  charges    %zu point charge%s, sum %.6g e, in %s: %s\n", charges->num,
            charges->num == 1 ? "" : "s", sum, fmo_unit_name(charges->unit),
            driver_shown(options->charges));
}

/* Prints the head of the report: molecule, basis, density or guess, mode and notices. */
static void print_system(const driver_options *options, const driver_result *result, FILE *stream)
{
    const fmo_dataset *dataset = result->dataset;
    const fmo_basis *basis = fmo_dataset_basis(dataset);
    const fmo_fock_profile *profile = &result->profile;

    fprintf(stream, "fmo-driver %s\n", FMO_VERSION_STRING);
    fprintf(stream, "  %-10s %s\n",
            driver_is_xyz(fmo_dataset_path(dataset)) ? "geometry" : "data set",
            driver_shown(fmo_dataset_path(dataset)));
    fprintf(stream, "  system     %s, %d atoms", fmo_dataset_formula(dataset),
            fmo_basis_nucleus_num(basis));
    if (result->electrons >= 0) {
        const double charge = driver_nuclear_charge(basis) - result->electrons;
        fprintf(stream, ", %d electrons", result->electrons);
        if (fabs(charge) > 0.5) fprintf(stream, ", charge %+.0f", charge);
    }
    const char *basis_name = fmo_dataset_basis_name(dataset);
    fprintf(stream, "\n  basis      %s%s%d functions, ", basis_name, *basis_name ? ": " : "",
            result->nao);
    print_shells(dataset, stream);
    fprintf(stream, ", %d primitives\n", fmo_basis_prim_num(basis));
    if (result->charges) print_charges(options, result->charges, stream);
    if (result->is_scf)
        fprintf(stream, "  guess      %s (%s)\n", fmo_scf_guess_name(options->scf_options.guess),
                fmo_scf_guess_text(options->scf_options.guess));
    else
        fprintf(stream, "  density    %s\n", fmo_dataset_density_source(dataset));
    fprintf(stream, "  mode       %s", fmo_mode_name(profile->mode));
    if (profile->mode_reason[0]) fprintf(stream, " (%s)", profile->mode_reason);
    if (profile->devices > 1) fprintf(stream, ", %d GPUs", profile->devices);
    if (profile->ranks > 1) fprintf(stream, ", %d ranks, rank 0 with", profile->ranks);
    fprintf(stream, "%s %d thread%s", profile->ranks > 1 ? "" : ",", profile->threads,
            profile->threads == 1 ? "" : "s");
    if (profile->mode == FMO_MODE_FUSED)
        fprintf(stream, ", scatter %s, commit %s",
                fmo_scatter_name(result->is_scf ? options->fock.scatter : profile->scatter),
                fmo_commit_name(result->is_scf ? options->fock.commit : profile->commit));
    if (profile->mode == FMO_MODE_CPU && options->fock.scatter == FMO_SCATTER_FIXED)
        fprintf(stream, ", scatter fixed");
    else if (driver_mode_reduces(profile->mode))
        fprintf(stream, ", reduce %s", fmo_reduce_name(options->fock.reduce));
    fprintf(stream, ", cutoff %g\n", driver_cutoff(options));
    for (int i = 0; driver_result_notice(result, i); i++)
        fprintf(stream, "  notice     %s\n", driver_result_notice(result, i));
}

static void print_class(FILE *stream, const char *name, const fmo_class_profile *row, double total)
{
    fprintf(stream, "  %-6s %15" PRId64 " %15" PRId64 " %17" PRId64, name, row->quartets,
            row->quartets_skipped, row->prim_quartets);
    if (isnan(row->seconds))
        fprintf(stream, " %12s %8s\n", "-", "-");
    else
        fprintf(stream, " %12.6f %8.1f\n", row->seconds,
                total > 0.0 ? 100.0 * row->seconds / total : 0.0);
}

static fmo_class_profile sum_classes(const fmo_fock_profile *profile)
{
    fmo_class_profile sum = {.compute_seconds = NAN};
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        if (!driver_profile_has_class(profile, c)) continue;
        sum.quartets += profile->classes[c].quartets;
        sum.quartets_skipped += profile->classes[c].quartets_skipped;
        sum.prim_quartets += profile->classes[c].prim_quartets;
        sum.seconds += profile->classes[c].seconds;
    }
    return sum;
}

/* Prints the table of ERI classes. */
static void print_classes(const driver_result *result, FILE *stream)
{
    const fmo_fock_profile *profile = &result->profile;
    fmo_class_profile total = sum_classes(profile);
    fprintf(stream, "\n  %-6s %15s %15s %17s %12s %8s\n", "class", "quartets", "skipped",
            "primitive", "seconds", "share %");
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        if (driver_profile_has_class(profile, c))
            print_class(stream, fmo_eri_class_name((fmo_eri_class)c), &profile->classes[c],
                        profile->seconds);
    if (!isnan(total.seconds)) {
        /* time outside the classes: bounds, sums over threads, symmetrisation */
        double other = fmax(0.0, profile->seconds - total.seconds);
        fprintf(stream, "  %-6s %15s %15s %17s %12.6f %8.1f\n", "other", "", "", "", other,
                profile->seconds > 0.0 ? 100.0 * other / profile->seconds : 0.0);
    }
    total.seconds = profile->seconds;
    print_class(stream, "total", &total, profile->seconds);
}

/* Prints times, trace and norm of G, energy and output file. */
static void print_results(const driver_options *options, const driver_result *result, FILE *stream)
{
    int64_t quartets = sum_classes(&result->profile).quartets;
    fprintf(stream, "\n  build      %.6f s", result->seconds.median);
    if (options->repeat > 1)
        fprintf(stream, " median of %d (min %.6f, max %.6f)", options->repeat, result->seconds.min,
                result->seconds.max);
    if (result->seconds.median > 0.0 && quartets > 0)
        fprintf(stream, ", %.4g quartets/s", (double)quartets / result->seconds.median);
    fprintf(stream, "\n  G          trace %.10f, norm %.10f\n", result->trace_g, result->norm_g);
    fprintf(stream, "  energy     ");
    if (result->no_energy)
        fprintf(stream, "not known: %s; two-electron part %.10f hartree\n", result->no_energy,
                result->energy_2e);
    else
        fprintf(stream, "%.10f hartree (two-electron part %.10f)\n", result->energy,
                result->energy_2e);
    if (options->output && result->check.status != DRIVER_CHECK_FAIL)
        fprintf(stream, "  output     %s\n", driver_shown(options->output));
    else if (options->output)
        fprintf(stream, "  output     %s not written: the check failed\n",
                driver_shown(options->output));
}

static void print_phase(FILE *stream, const char *name, double seconds, double total)
{
    if (isnan(seconds))
        fprintf(stream, "  %-12s not measured separately\n", name);
    else
        fprintf(stream, "  %-12s %.6f s, %.1f %% of the build\n", name, seconds,
                total > 0.0 ? 100.0 * seconds / total : 0.0);
}

/* Prints the shortest and the longest time of the GPUs that shared the build. */
static void print_shares(const fmo_fock_profile *profile, FILE *stream)
{
    double shortest = profile->device_seconds[0], longest = shortest;
    if (isnan(shortest)) return;
    for (int k = 1; k < profile->devices; k++) {
        shortest = fmin(shortest, profile->device_seconds[k]);
        longest = fmax(longest, profile->device_seconds[k]);
    }
    fprintf(stream, "  shares       %.6f to %.6f s on %d GPUs\n", shortest, longest,
            profile->devices);
}

/* Prints the cost of accumulation for each class: the difference to the same kernels without their
 * atomic updates. */
static void print_accumulation(const fmo_fock_profile *profile, FILE *stream)
{
    fmo_class_profile total = sum_classes(profile);
    total.compute_seconds = 0.0;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        if (!driver_profile_has_class(profile, c)) continue;
        total.compute_seconds += profile->classes[c].compute_seconds;
        total.adds += profile->classes[c].adds;
        total.adds_issued += profile->classes[c].adds_issued;
    }
    if (isnan(total.compute_seconds)) return;
    fprintf(stream, "\n  %-6s %12s %12s %8s %15s %15s\n", "class", "compute s", "accumulate s",
            "share %", "adds", "issued");
    for (int c = 0; c <= FMO_ERI_CLASS_COUNT; c++) {
        if (c < FMO_ERI_CLASS_COUNT && !driver_profile_has_class(profile, c)) continue;
        const fmo_class_profile *row = c < FMO_ERI_CLASS_COUNT ? &profile->classes[c] : &total;
        const double accumulation = row->seconds - row->compute_seconds;
        fprintf(stream, "  %-6s %12.6f %12.6f %8.1f %15" PRId64 " %15" PRId64 "\n",
                c < FMO_ERI_CLASS_COUNT ? fmo_eri_class_name((fmo_eri_class)c) : "total",
                row->compute_seconds, accumulation,
                row->seconds > 0.0 ? 100.0 * accumulation / row->seconds : 0.0, row->adds,
                row->adds_issued);
    }
}

void driver_report_origin(const char *device, const char *sha256, FILE *stream)
{
    const char *revision = driver_host_revision();
    char cpu[128];
    driver_host_cpu(cpu, sizeof cpu);
    fprintf(stream, "\n  profile\n");
    fprintf(stream, "  host         %s, %d cores\n", cpu, driver_host_cores());
    if (device) fprintf(stream, "  device       %s\n", *device ? device : "none");
    fprintf(stream, "  revision     %s\n", revision ? revision : "not known");
    if (sha256) fprintf(stream, "  data set     sha256 %s\n", sha256);
}

/* Prints the times of the phases of a build, for --profile. */
static void print_profile(const driver_result *result, FILE *stream)
{
    const fmo_fock_profile *profile = &result->profile;
    driver_report_origin(profile->device, fmo_dataset_sha256(result->dataset), stream);
    fprintf(stream, "  plan         %.6f s, once for all builds\n", profile->plan_seconds);
    print_phase(stream, "screening", profile->screening_seconds, profile->seconds);
    print_phase(stream, "far J", profile->far_seconds, profile->seconds);
    print_phase(stream, "reduction", profile->reduce_seconds, profile->seconds);
    if (profile->device[0]) {
        print_phase(stream, "GPU", profile->gpu_seconds, profile->seconds);
        print_shares(profile, stream);
        print_phase(stream, "transfers", profile->transfer_seconds, profile->seconds);
    }
    print_accumulation(profile, stream);
    if (!isnan(result->repeat_difference))
        fprintf(stream, "  repeats      max |G - first G| %.1e%s\n", result->repeat_difference,
                result->repeat_difference == 0.0 ? " (equal bits)" : "");
}

void driver_report_begin(const driver_options *options, const driver_result *result, FILE *stream)
{
    print_system(options, result, stream);
}

/* Prints the last cycle, and before the first one the head of the table. */
void driver_report_cycle(const driver_result *result, FILE *stream)
{
    const fmo_scf_cycle *c = &result->cycles[result->cycle_num - 1];
    if (result->cycle_num == 1) {
        if (result->profile.notice[0]) /* of the first build */
            fprintf(stream, "  notice     %s\n", result->profile.notice);
        fprintf(stream, "\n  %5s %20s %11s %10s %6s %10s %10s %10s\n", "cycle", "energy", "change",
                "gradient", "build", "Fock s", "solve s", "other s");
    }
    fprintf(stream, "  %5d %20.10f ", c->cycle, c->energy);
    if (isnan(c->energy_change))
        fprintf(stream, "%11s", "-");
    else
        fprintf(stream, "%11.2e", c->energy_change);
    fprintf(stream, " %10.2e %6s %10.6f %10.6f %10.6f%s", c->gradient,
            c->full_build ? "full" : "change", c->fock_seconds, c->solve_seconds, c->other_seconds,
            c->energy_diis ? " EDIIS" : "");
    if (c->newton) fprintf(stream, " Newton, %d build%s", c->builds, c->builds == 1 ? "" : "s");
    fprintf(stream, "\n");
}

/* Returns the symbol of an atom's element, X of a ghost atom. */
static const char *symbol_of(const driver_result *result, int atom)
{
    const bool ghost = fmo_basis_nucleus_charge(fmo_dataset_basis(result->dataset), atom) == 0.0;
    return fmo_element_symbol(ghost ? 0 : fmo_dataset_nucleus_number(result->dataset, atom));
}

/* Prints the force on each atom and point charge, or why there are none. */
static void print_forces(const driver_options *options, const driver_result *result, FILE *stream)
{
    const fmo_scf_result *scf = result->scf;
    if (!options->scf_options.forces) return;
    if (!scf->nuclear_gradient) {
        fprintf(stream, "  forces     none: the SCF has not converged\n");
        return;
    }
    fprintf(stream, "\n  %5s %-4s %16s %16s %16s   hartree/bohr\n", "atom", "", "force x",
            "force y", "force z");
    for (int i = 0; i < scf->nucleus_num; i++) {
        const double *const g = scf->nuclear_gradient + 3 * i;
        fprintf(stream, "  %5d %-4s %16.10f %16.10f %16.10f\n", i + 1, symbol_of(result, i), -g[0],
                -g[1], -g[2]);
    }
    if (result->charges)
        fprintf(stream, "\n  %5s %10s %16s %16s %16s   hartree/bohr\n", "point", "charge",
                "force x", "force y", "force z");
    for (size_t c = 0; result->charges && c < scf->charge_num; c++) {
        const double *const g = scf->charge_gradient + 3 * c;
        fprintf(stream, "  %5zu %10.6f %16.10f %16.10f %16.10f\n", c + 1,
                result->charges->charge[c], -g[0], -g[1], -g[2]);
    }
    if (scf->mode == FMO_MODE_FUSED)
        fprintf(stream, "  forces: two-electron part on the GPU, the rest on the CPU\n");
    else if (scf->mode != FMO_MODE_CPU)
        fprintf(stream, "  forces were computed on the CPU, which mode %s uses for them\n",
                fmo_mode_name(scf->mode));
}

/* Prints the dipole moment and a table of the atoms' charges and, of open shells, spin populations.
 */
static void print_properties(const driver_result *result, FILE *stream)
{
    static const char *const title[DRIVER_CHARGES] = {"Mulliken", "Loewdin", "Mulliken spin",
                                                      "Loewdin spin"};
    const double debye = 2.541746473; /* of 1 e bohr, CODATA 2018 */
    const double x = debye * result->dipole[0], y = debye * result->dipole[1],
                 z = debye * result->dipole[2];
    if (!isnan(x))
        fprintf(stream, "  dipole     %.6f %.6f %.6f debye, size %.6f\n", x, y, z,
                sqrt(x * x + y * y + z * z));
    if (!result->charge_num) return;
    fprintf(stream, "\n  %5s %-4s", "atom", "");
    for (int k = 0; k < DRIVER_CHARGES; k++)
        if (driver_charges_of(result, (driver_charges)k)) fprintf(stream, " %13s", title[k]);
    fprintf(stream, "   e\n");
    for (int i = 0; i < result->charge_num; i++) {
        fprintf(stream, "  %5d %-4s", i + 1, symbol_of(result, i));
        for (int k = 0; k < DRIVER_CHARGES; k++) {
            const double *const q = driver_charges_of(result, (driver_charges)k);
            if (q) fprintf(stream, " %13.6f", q[i]);
        }
        fputc('\n', stream);
    }
}

/* Prints the results of an SCF. */
static void print_scf(const driver_options *options, const driver_result *result, FILE *stream)
{
    const fmo_scf_result *scf = result->scf;
    fprintf(stream, "\n  SCF        %s\n", scf->verdict);
    if (scf->dropped)
        fprintf(stream,
                "  basis      %d of %d functions dropped: eigenvalues of the overlap below %g, the "
                "smallest %.1e\n",
                scf->dropped, scf->nao, options->scf_options.linear_dependence,
                scf->overlap_smallest);
    if (!isnan(scf->hessian_lowest))
        fprintf(stream, "  stability  lowest eigenvalue of the orbital Hessian %.6f: %s\n",
                scf->hessian_lowest,
                scf->hessian_lowest < FMO_SCF_UNSTABLE ? "not a minimum" : "a minimum");
    if (scf->spin_density)
        fprintf(stream, "  spin       %s, multiplicity %d: <S^2> %.6f, exact %.6f\n",
                driver_scf_method(scf), scf->multiplicity, scf->spin_square,
                0.25 * (double)(scf->multiplicity * scf->multiplicity - 1));
    fprintf(stream, "  orbitals   %d, %d of them occupied", scf->mo_num, scf->occupied_num);
    if (scf->unrestricted)
        fprintf(stream, " by alpha and %d by beta electrons", scf->occupied_beta_num);
    if (scf->restricted) fprintf(stream, ", %d of those doubly", scf->occupied_beta_num);
    fprintf(stream, ", HOMO %.6f", scf->homo);
    if (!isnan(scf->lumo))
        fprintf(stream, ", LUMO %.6f, gap %.6f hartree", scf->lumo, scf->lumo - scf->homo);
    if (scf->converged && !isnan(scf->energy_error))
        fprintf(
            stream,
            "\n  accuracy   energy about %.0e hartree above its converged value, estimated from "
            "the gradient, %.1e",
            scf->energy_error, scf->gradient);
    fprintf(stream,
            "\n  seconds    %.6f: one-electron %.6f, plan %.6f, guess %.6f, Fock %.6f, solve %.6f",
            scf->seconds, scf->one_electron_seconds, scf->plan_seconds, scf->guess_seconds,
            scf->fock_seconds, scf->solve_seconds);
    if (!isnan(scf->hessian_lowest)) fprintf(stream, ", stability %.6f", scf->stability_seconds);
    if (scf->nuclear_gradient) fprintf(stream, ", forces %.6f", scf->forces_seconds);
    fprintf(stream, "\n  energy     %.10f hartree (two-electron part %.10f)%s\n", scf->energy,
            result->energy_2e, scf->converged ? "" : ", NOT CONVERGED");
    if (options->output)
        fprintf(stream, "  output     %s%s\n", driver_shown(options->output),
                scf->converged ? "" : " (last state, not converged)");
    if (options->molden)
        fprintf(stream, "  Molden     %s%s\n", driver_shown(options->molden),
                scf->converged ? "" : " (last state, not converged)");
    print_properties(result, stream);
    print_forces(options, result, stream);
}

/* With --quiet and several data sets, prints the path to which the line belongs. */
static void print_path(const driver_options *options, const driver_result *result, FILE *stream)
{
    if (options->dataset_num > 1)
        fprintf(stream, "%s: ", driver_shown(fmo_dataset_path(result->dataset)));
}

static void report_scf(const driver_options *options, const driver_result *result, FILE *stream)
{
    if (options->quiet) {
        print_path(options, result, stream);
        fprintf(stream, "SCF: %.10f hartree, %s\n", result->energy, result->scf->verdict);
        return;
    }
    print_scf(options, result, stream);
    if (options->profile == DRIVER_PROFILE_TABLE)
        driver_report_origin(result->profile.device, fmo_dataset_sha256(result->dataset), stream);
}

/* Prints a finished build or SCF. */
void driver_report(const driver_options *options, const driver_result *result, FILE *stream)
{
    if (result->is_scf) {
        report_scf(options, result, stream);
        return;
    }
    if (!options->quiet) {
        print_system(options, result, stream);
        if (driver_profile_has_classes(&result->profile)) print_classes(result, stream);
        print_results(options, result, stream);
        if (options->profile == DRIVER_PROFILE_TABLE) print_profile(result, stream);
    }
    if (options->quiet) print_path(options, result, stream);
    if (options->quiet && !options->check)
        fprintf(stream, "%s%.10f hartree\n",
                result->no_energy ? "two-electron energy: " : "energy: ",
                result->no_energy ? result->energy_2e : result->energy);
    if (options->check) {
        if (!options->quiet) fputc('\n', stream);
        driver_check_print(&result->check, result->dataset, stream);
        fputc('\n', stream);
    }
}

void driver_report_batch(const driver_batch *batch, FILE *stream)
{
    fprintf(stream, "\n  batch      %d data sets in one call: %.6f s", batch->built,
            batch->seconds.median);
    if (batch->seconds.min < batch->seconds.max)
        fprintf(stream, ", %.6f to %.6f s", batch->seconds.min, batch->seconds.max);
    fputc('\n', stream);
}

void driver_report_deal(const driver_deal *deal, int ranks, FILE *stream)
{
    fprintf(stream,
            "\n  batch      %d data sets on %d ranks: %.6f s, builds %.6f s on the slowest rank\n",
            deal->built, ranks, deal->wall_seconds, deal->seconds.median);
}

void driver_report_name(const driver_scf_one *one, char *text, size_t size)
{
    if (one->result.frame)
        snprintf(text, size, "%s frame %d", driver_shown(one->path), one->result.frame);
    else
        snprintf(text, size, "%s", driver_shown(one->path));
}

/* Prints the settings and the head of the table of molecules. */
void driver_report_scf_batch_head(const driver_options *options, const driver_scf_one *one,
                                  FILE *stream)
{
    const fmo_fock_profile *profile = &one->result.profile;
    fprintf(stream, "fmo-driver %s\n", FMO_VERSION_STRING);
    if (options->basis) fprintf(stream, "  basis      %s\n", driver_shown(options->basis));
    fprintf(stream, "  guess      %s (%s)\n", fmo_scf_guess_name(options->scf_options.guess),
            fmo_scf_guess_text(options->scf_options.guess));
    fprintf(stream, "  mode       %s", fmo_mode_name(profile->mode));
    if (profile->mode_reason[0]) fprintf(stream, " (%s)", profile->mode_reason);
    if (options->fock.ranks) fprintf(stream, ", %d ranks, rank 0 with", options->fock.ranks->size);
    const int threads = fmo_fock_threads(options->fock.threads);
    fprintf(stream, "%s %d thread%s, cutoff %g\n", options->fock.ranks ? "" : ",", threads,
            threads == 1 ? "" : "s", driver_cutoff(options));
    if (options->profile == DRIVER_PROFILE_TABLE)
        driver_report_origin(profile->device, NULL, stream);
    fprintf(stream, "\n  %9s %7s %20s %10s  %s\n", "functions", "cycles", "energy", "seconds",
            "molecule");
}

void driver_report_scf_one(const driver_options *options, const driver_scf_one *one, FILE *stream)
{
    const fmo_scf_result *scf = one->result.scf;
    char name[1024];
    driver_report_name(one, name, sizeof name);
    if (options->quiet) {
        fprintf(stream, "%s: SCF: %.10f hartree, %s\n", name, scf->energy, scf->verdict);
        return;
    }
    fprintf(stream, "  %9d %7d %20.10f %10.6f  %s", scf->nao, scf->cycles, scf->energy,
            scf->seconds, name);
    if (scf->multiplicity > 1 || scf->unrestricted)
        fprintf(stream, ", %s, multiplicity %d, <S^2> %.6f", driver_scf_method(scf),
                scf->multiplicity, scf->spin_square);
    fprintf(stream, "%s\n", scf->converged ? "" : ", NOT CONVERGED");
    if (!options->output) print_forces(options, &one->result, stream);
}

/* Prints the totals: molecules, seconds, and failures. */
void driver_report_scf_batch(const driver_options *options, const driver_scf_totals *totals,
                             FILE *stream)
{
    const long done = totals->molecules - totals->failed - totals->restored;
    fprintf(stream, "\n  batch      %ld molecule%s", done, done == 1 ? "" : "s");
    if (totals->ranks > 1) fprintf(stream, " on %d ranks", totals->ranks);
    fprintf(stream, " in %.6f s: %.4g per second", totals->seconds,
            totals->seconds > 0.0 ? (double)done / totals->seconds : 0.0);
    if (totals->unconverged) fprintf(stream, "; %ld of them not converged", totals->unconverged);
    if (totals->failed) fprintf(stream, "; %ld failed", totals->failed);
    if (totals->restored) fprintf(stream, "; %ld more from an earlier run", totals->restored);
    fputc('\n', stream);
    if (totals->open)
        fprintf(stream, "  spin       %ld molecule%s computed as open shells\n", totals->open,
                totals->open == 1 ? "" : "s");
    if (options->output) fprintf(stream, "  output     %s\n", driver_shown(options->output));
}
