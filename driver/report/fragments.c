/* The report of an FMO2 run, as text and as JSON. See fragments.h. */
#include "driver/report/fragments.h"
#include "driver/base/shown.h"
#include "driver/report/json.h"
#include "driver/report/report.h"

#include <math.h>
#include <fmo/version.h>

/* Number of pairs printed: those with the strongest energies, without a cut bond. Files and JSON
 * contain all pairs. */
enum { PAIRS_SHOWN = 20 };

/* Prints the system, the thresholds of the approximations, and the head of the table of
 * iterations. */
void driver_report_system(const driver_options *options, const fmo_fragment_system *s,
                          const char *basis, FILE *stream)
{
    fprintf(stream, "fmo-driver %s\n  system     %s%s%s\n", FMO_VERSION_STRING,
            driver_shown(s->path), s->name ? ", " : "", driver_shown(s->name ? s->name : ""));
    fprintf(stream, "  fragments  %d of %d atoms, %d cut bonds\n  basis      %s\n", s->fragment_num,
            s->atom_num, s->bond_num, driver_shown(basis));
    if (s->aoc_from > 1e20)
        fprintf(stream, "  field      exact; every pair has an SCF\n");
    else
        fprintf(stream,
                "  field      exact below %g, Mulliken populations of functions below %g, then of "
                "atoms; pairs electrostatic from %g (van der Waals distances)\n",
                s->aoc_from, s->ptc_from, s->es_dimers_from);
    fprintf(stream, "  cutoff     %g\n", driver_cutoff(options));
    if (s->notice) fprintf(stream, "  notice     %s\n", s->notice);
    fprintf(stream, "\n  %9s %20s %11s %10s %7s %9s %9s\n", "iteration", "sum of E'", "change",
            "residual", "cycles", "field s", "SCF s");
}

void driver_report_iteration(const fmo_fragment_iteration *i, FILE *stream)
{
    fprintf(stream, "  %9d %20.10f ", i->iteration, i->energy);
    if (isnan(i->energy_change))
        fprintf(stream, "%11s ", "-");
    else
        fprintf(stream, "%11.2e ", i->energy_change);
    if (isnan(i->residual))
        fprintf(stream, "%10s ", "-");
    else
        fprintf(stream, "%10.1e ", i->residual);
    fprintf(stream, "%7d %9.3f %9.3f\n", i->cycles, i->field_seconds, i->scf_seconds);
}

void driver_report_pairs(double fraction, double seconds, FILE *stream)
{
    fprintf(stream, "  pairs      %3.0f %% done after %.0f s\n", floor(100.0 * fraction), seconds);
}

/* Returns the name of a fragment, or NULL if it has none. */
static const char *name_of(const fmo_fragment_system *s, int fragment)
{
    return s->fragment_name ? s->fragment_name[fragment] : NULL;
}

/* Prints the name of a fragment, if any, at the end of a line. */
static void end_with_name(const fmo_fragment_system *s, int fragment, FILE *stream)
{
    const char *name = name_of(s, fragment);
    if (name) fprintf(stream, "  %s", driver_shown(name));
}

/* Prints a table of the monomers with their Mulliken charges. */
static void print_monomers(const driver_fragments *run, FILE *stream)
{
    const fmo_fragment_system *s = run->system;
    const fmo_fragment_result *r = run->result;
    fprintf(stream, "\n  %8s %6s %7s %9s %9s %18s %10s %10s%s\n", "fragment", "charge", "atoms",
            "electrons", "functions", "E' hartree", "HOMO", "Mulliken",
            s->fragment_name ? "  name" : "");
    for (int k = 0; k < r->fragment_num; k++) {
        double charge = 0.0;
        int atoms = 0;
        for (int a = 0; a < s->atom_num; a++)
            if (s->fragment[a] == k) charge += r->charge2[a], atoms++;
        fprintf(stream, "  %8d %6d %7d %9d %9d %18.8f %10.5f %10.5f", k + 1, s->charge[k], atoms,
                r->monomer[k].electron_num, r->monomer[k].nao, r->monomer[k].energy,
                r->monomer[k].homo, charge);
        end_with_name(s, k, stream);
        fputs("\n", stream);
    }
}

/* Returns the next pair without a cut bond, in the order of decreasing absolute energy: after pair
 * `after`, with absolute energy `below`. -1: none is left. */
static int strongest(const fmo_fragment_result *r, double below, int after)
{
    int found = -1;
    for (int k = 0; k < r->pair_num; k++) {
        const double size = fabs(r->pair[k].total);
        if (r->pair[k].is_bonded || size > below || (size == below && k <= after)) continue;
        if (found < 0 || size > fabs(r->pair[found].total)) found = k;
    }
    return found;
}

/* Prints the strongest pairs. */
static void print_pairs(const driver_fragments *run, FILE *stream)
{
    const fmo_fragment_system *s = run->system;
    const fmo_fragment_result *r = run->result;
    int bonded = 0;
    for (int k = 0; k < r->pair_num; k++) bonded += r->pair[k].is_bonded;
    if (!r->pair_num) return;
    fprintf(stream, "\n  %11s %9s %5s %16s %12s %16s %14s%s\n", "pair", "distance", "kind",
            "internal hartree", "Tr(dD U)", "energy hartree", "kcal/mol",
            s->fragment_name ? "  names" : "");
    double below = INFINITY;
    for (int shown = 0, k = -1; shown < PAIRS_SHOWN; shown++) {
        k = strongest(r, below, k);
        if (k < 0) break;
        const fmo_fragment_pair *p = &r->pair[k];
        below = fabs(p->total);
        fprintf(stream, "  %5d %5d %9.3f %5s %16.8f %12.8f %16.8f %14.4f", p->i + 1, p->j + 1,
                p->distance, p->is_scf ? "SCF" : "ES", p->internal, p->transfer, p->total,
                FMO_KCAL_PER_MOL * p->total);
        end_with_name(s, p->i, stream);
        end_with_name(s, p->j, stream);
        fputs("\n", stream);
    }
    if (r->pair_num - bonded > PAIRS_SHOWN || bonded)
        fprintf(stream,
                "  the strongest of %d pairs without a cut bond (%d have one); --pairs, "
                "--output and --profile=json have all\n",
                r->pair_num - bonded, bonded);
}

/* Prints an energy and the same in kcal/mol; "-" twice if it is not defined. */
static void print_energy(double energy, FILE *stream)
{
    if (isnan(energy))
        fprintf(stream, " %12s %10s", "-", "-");
    else
        fprintf(stream, " %12.8f %10.4f", energy, FMO_KCAL_PER_MOL * energy);
}

/* Prints all pairs of the fragment of --ligand, the strongest first, and the sum of those without a
 * cut bond. */
static void print_ligand(const driver_fragments *run, const int *pair, FILE *stream)
{
    const fmo_fragment_system *s = run->system;
    const fmo_fragment_result *r = run->result;
    double sum = 0.0;
    fprintf(stream, "\n  pairs of %d", run->ligand + 1);
    end_with_name(s, run->ligand, stream);
    fprintf(stream, "\n  %8s %9s %5s %12s %10s %12s %10s %12s %10s%s\n", "fragment", "distance",
            "kind", "ES hartree", "kcal/mol", "EX+CT+mix", "kcal/mol", "total", "kcal/mol",
            s->fragment_name ? "  name" : "");
    for (int k = 0; k < r->fragment_num - 1; k++) {
        const fmo_fragment_pair *p = &r->pair[pair[k]];
        const int other = p->i == run->ligand ? p->j : p->i;
        if (!p->is_bonded) sum += p->total;
        fprintf(stream, "  %8d %9.3f %5s", other + 1, p->distance,
                p->is_bonded ? "bond"
                : p->is_scf  ? "SCF"
                             : "ES");
        print_energy(p->electrostatic, stream);
        print_energy(p->total - p->electrostatic, stream);
        print_energy(p->total, stream);
        end_with_name(s, other, stream);
        fputs("\n", stream);
    }
    fprintf(stream, "  %8s %9s %5s %12s %10s %12s %10s", "sum", "", "", "", "", "", "");
    print_energy(sum, stream);
    fputs("  of pairs without a cut bond\n", stream);
}

/* Prints monomers, pairs, mode, times, energies, notices and files; with --quiet only the
 * energy. */
void driver_report_fragments(const driver_options *options, const driver_fragments *run,
                             FILE *stream)
{
    const fmo_fragment_result *r = run->result;
    if (options->quiet) {
        if (options->dataset_num > 1) fprintf(stream, "%s: ", driver_shown(run->system->path));
        fprintf(stream, "FMO2: %.10f hartree, %d iterations\n", r->energy2, r->iterations);
        return;
    }
    print_monomers(run, stream);
    print_pairs(run, stream);
    if (run->ligand_pair) print_ligand(run, run->ligand_pair, stream);
    fprintf(stream, "\n  size       %d functions, %d electrons, %d SCF pairs, %d electrostatic\n",
            r->nao, r->electron_num, r->scf_pairs, r->es_pairs);
    fprintf(stream, "  mode       %s%s%s%s", fmo_mode_name(r->mode), *r->mode_reason ? " (" : "",
            r->mode_reason, *r->mode_reason ? ")" : "");
    if (r->ranks > 1) fprintf(stream, ", %d ranks, rank 0 with", r->ranks);
    fprintf(stream, "%s %d thread%s\n", r->ranks > 1 ? "" : ",", r->threads,
            r->threads == 1 ? "" : "s");
    fprintf(stream, "  seconds    %.3f: setup %.3f, fields %.3f, monomers %.3f, pairs %.3f\n",
            r->seconds, r->setup_seconds, r->field_seconds, r->scf_seconds, r->pair_seconds);
    fprintf(stream, "  FMO1       %.10f hartree\n  FMO2       %.10f hartree\n", r->energy1,
            r->energy2);
    if (!isnan(run->system->reference))
        fprintf(stream, "  reference  %.10f hartree in the file, difference %.1e\n",
                run->system->reference, r->energy2 - run->system->reference);
    for (int i = run->system->notice ? 1 : 0; driver_fragments_notice(run, i);
         i++) /* number 0 was printed at the start */
        fprintf(stream, "  notice     %s\n", driver_fragments_notice(run, i));
    if (options->output) fprintf(stream, "  output     %s\n", driver_shown(options->output));
    if (options->pairs) fprintf(stream, "  pairs      %s\n", driver_shown(options->pairs));
    if (options->map) fprintf(stream, "  heat map   %s\n", driver_shown(options->map));
    if (options->page) fprintf(stream, "  page       %s\n", driver_shown(options->page));
    if (options->cpf) fprintf(stream, "  CPF        %s\n", driver_shown(options->cpf));
    if (options->fragment_options.state) {
        fprintf(stream, "  state      %s%s", driver_shown(options->fragment_options.state),
                r->resumed ? ", resumed" : "");
        if (r->resumed_pairs) fprintf(stream, " with %d SCF pairs", r->resumed_pairs);
        fprintf(stream, "\n");
    }
    if (options->profile == DRIVER_PROFILE_TABLE)
        driver_report_origin(NULL, run->system->sha256, stream);
}

static json_t *reals(const double *values, int count)
{
    json_t *array = json_array();
    for (int i = 0; array && i < count; i++)
        if (json_array_append_new(array, driver_json_number(values[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* Returns the array of monomers. */
static json_t *monomers_json(const driver_fragments *run)
{
    const fmo_fragment_result *r = run->result;
    json_t *array = json_array();
    for (int k = 0; array && k < r->fragment_num; k++) {
        const fmo_fragment_monomer *m = &r->monomer[k];
        json_t *entry =
            json_pack("{s:i, s:o, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "fragment", k + 1,
                      "name", driver_json_text(name_of(run->system, k)), "charge",
                      run->system->charge[k], "electrons", m->electron_num, "functions", m->nao,
                      "energy", driver_json_number(m->energy), "field_energy",
                      driver_json_number(m->field_energy), "homo", driver_json_number(m->homo),
                      "lumo", driver_json_number(m->lumo), "dipole", reals(m->dipole, 3));
        if (json_array_append_new(array, entry) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* Returns the array of pairs. */
static json_t *pairs_json(const fmo_fragment_result *r)
{
    json_t *array = json_array();
    for (int k = 0; array && k < r->pair_num; k++) {
        const fmo_fragment_pair *p = &r->pair[k];
        json_t *entry = json_pack(
            "{s:[i, i], s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "pair", p->i + 1, p->j + 1, "kind",
            p->is_scf ? "scf" : "es", "bonded", p->is_bonded, "distance",
            driver_json_number(p->distance), "internal", driver_json_number(p->internal),
            "transfer", driver_json_number(p->transfer), "energy", driver_json_number(p->total),
            "electrostatic", driver_json_number(p->electrostatic));
        if (json_array_append_new(array, entry) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *notices_json(const driver_fragments *run)
{
    json_t *array = json_array();
    for (int i = 0; array && driver_fragments_notice(run, i); i++)
        json_array_append_new(array, driver_json_text(driver_fragments_notice(run, i)));
    return array;
}

/* Returns the fragment of --ligand and its partners, the strongest pair first; null without. */
static json_t *ligand_json(const driver_fragments *run)
{
    if (!run->ligand_pair) return json_null();
    const fmo_fragment_result *r = run->result;
    json_t *partners = json_array();
    for (int k = 0; partners && k < r->fragment_num - 1; k++) {
        const fmo_fragment_pair *p = &r->pair[run->ligand_pair[k]];
        json_array_append_new(partners, json_integer(1 + (p->i == run->ligand ? p->j : p->i)));
    }
    return json_pack("{s:i, s:o, s:o}", "fragment", run->ligand + 1, "name",
                     driver_json_text(name_of(run->system, run->ligand)), "partners", partners);
}

/* Packs an entry of "systems" as described in docs/reference/fmo.md. */
json_t *driver_fragments_json(const driver_options *options, const driver_fragments *run)
{
    const fmo_fragment_system *s = run->system;
    const fmo_fragment_result *r = run->result;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:s, s:i, s:i, s:o, s:{s:o, s:o, s:o}, s:i, s:i, "
        "s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o, s:o, s:o}, s:o}",
        "system", driver_json_text(s->path), "sha256", driver_json_text(s->sha256), "name",
        driver_json_text(s->name), "basis", driver_json_text(run->basis), "atoms", s->atom_num,
        "fragments", s->fragment_num, "functions", r->nao, "electrons", r->electron_num, "mode",
        fmo_mode_name(r->mode), "threads", r->threads, "ranks", r->ranks, "cutoff",
        driver_json_number(driver_cutoff(options)), "thresholds", "aoc_from",
        driver_json_number(s->aoc_from), "ptc_from", driver_json_number(s->ptc_from),
        "es_dimers_from", driver_json_number(s->es_dimers_from), "iterations", r->iterations,
        "resumed_iterations", r->resumed, "energy_change", driver_json_number(r->energy_change),
        "energy_fmo1", driver_json_number(r->energy1), "energy_fmo2",
        driver_json_number(r->energy2), "charges_fmo1", reals(r->charge1, r->atom_num),
        "charges_fmo2", reals(r->charge2, r->atom_num), "monomers", monomers_json(run), "pairs",
        pairs_json(r), "ligand", ligand_json(run), "seconds", "all", driver_json_number(r->seconds),
        "setup", driver_json_number(r->setup_seconds), "fields",
        driver_json_number(r->field_seconds), "monomers", driver_json_number(r->scf_seconds),
        "pairs", driver_json_number(r->pair_seconds), "notices", notices_json(run));
}
