/* fmo-driver: two-electron Fock matrices, SCFs and FMO2 from the command line. Next: cli/options.c
 * (options), run/build.h (what is run), report/report.c and profile_json.c (output). Dependencies:
 * main.c -> report -> run -> cli -> base. Everything numerical is in the libraries, <fmo/fock.h>,
 * <fmo/scf.h> and <fmo/fragment.h>. */
#define _GNU_SOURCE
#include "driver/base/files.h"
#include "driver/base/interrupt.h"
#include "driver/base/shown.h"
#include "driver/cli/options.h"
#include "driver/report/fragments.h"
#include "driver/report/json.h"
#include "driver/report/profile_json.h"
#include "driver/report/report.h"
#include "driver/run/batch.h"
#include "driver/run/build.h"
#include "driver/run/ranks.h"
#include "driver/run/scf.h"
#include "driver/run/scf_batch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fmo/version.h>

#include "base/free_memory.h"

/* Prints one line, "fmo-driver: name: message". name: the data set, or NULL if the message contains
 * it. */
static void print_error_to(FILE *stream, const char *name, const char *message)
{
    fprintf(stream, "fmo-driver: %s%s%s\n", name ? driver_shown(name) : "", name ? ": " : "",
            message);
}

static void print_error(const char *name, const char *message)
{
    print_error_to(stderr, name, message);
}

/* Whether this process prints the reports. */
static bool is_first(const driver_options *options)
{
    return !options->fock.ranks || options->fock.ranks->rank == 0;
}

/* Aborts all ranks after an error that only this rank has, while the others wait for it. */
static int end_ranks(const driver_options *options, int code)
{
    if (options->fock.ranks) options->fock.ranks->abort(options->fock.ranks->user, code);
    return code;
}

/* True if the communicator failed. A GPU failure that all ranks know of is not a communicator
 * failure. */
static bool has_communicator_failed(const driver_options *options, fmo_status status)
{
    fmo_error err = {FMO_OK, ""};
    return status == FMO_ERR_DEVICE && options->fock.ranks &&
           fmo_ranks_agree(options->fock.ranks, FMO_OK, &err) != FMO_OK;
}

static int worse(int code, int than)
{
    return code > than ? code : than;
}

/* Returns 0 if everything printed so far was written to stdout, or else an exit code. */
static int flush_stdout(void)
{
    static bool reported;
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    if (!reported) print_error("standard output", errno ? strerror(errno) : "write error");
    reported = true;
    return fmo_status_exit_code(FMO_ERR_OUTPUT);
}

/* Where reports go; json is NULL without --profile=json. */
typedef struct sink {
    FILE *out, *err;
    driver_json *json;
    int reported; /* number of data sets with output on `out` */
} sink;

/* Reports one data set, or its error; returns its exit code. */
static int report_one(const driver_options *options, const char *path, fmo_status status,
                      fmo_error *err, const driver_result *result, sink *to)
{
    fmo_error json_err = {FMO_OK, ""};
    int code = 0;
    if (status != FMO_OK) {
        /* A status without a message would be a bug of the library; print at least its meaning. */
        fmo_error_set(err, status, "%s", fmo_status_text(status));
        print_error_to(to->err, result->named ? NULL : path, err->message);
        code = fmo_status_exit_code(status);
        if (to->json && driver_json_add_failure(to->json, path, 0, err, &json_err) != FMO_OK)
            print_error_to(to->err, path, json_err.message);
    } else {
        driver_check_status check = result->check.status;
        if (check == DRIVER_CHECK_FAIL || check == DRIVER_CHECK_IMPOSSIBLE)
            code = fmo_status_exit_code(FMO_ERR_CHECK);
        if (result->scf_verdict.status != FMO_OK) {
            print_error_to(to->err, path, result->scf_verdict.message);
            code = fmo_status_exit_code(result->scf_verdict.status);
        }
        to->reported++;
        for (int i = 0; options->quiet && !to->json && driver_result_notice(result, i); i++)
            fprintf(to->err, "fmo-driver: %s: notice: %s\n", driver_shown(path),
                    driver_result_notice(result, i));
        if (!to->json) {
            driver_report(options, result, to->out);
        } else {
            if (driver_json_add(to->json, options, result, &json_err) != FMO_OK) {
                print_error_to(to->err, path, json_err.message);
                code = worse(code, fmo_status_exit_code(json_err.status));
            }
            if (check == DRIVER_CHECK_FAIL || check == DRIVER_CHECK_IMPOSSIBLE) {
                fprintf(to->err,
                        "fmo-driver: %s: ", driver_shown(fmo_dataset_path(result->dataset)));
                driver_check_print(&result->check, result->dataset, to->err);
                fputc('\n', to->err);
            }
        }
    }
    return code;
}

/* State of the callbacks of an SCF. */
typedef struct listener {
    const driver_options *options;
    bool begun;
} listener;

/* Callbacks that print an SCF and its cycles. What was printed before an error remains. */
static void print_begin(const driver_result *result, void *user)
{
    listener *l = user;
    driver_report_begin(l->options, result, stdout);
    fflush(stdout); /* write errors are checked after the data set */
    l->begun = true;
}
static void print_cycle(const driver_result *result, void *user)
{
    (void)user;
    driver_report_cycle(result, stdout);
    fflush(stdout);
}

/* Prints an empty line between the reports of two data sets. */
static void separate(const driver_options *options, const sink *to)
{
    if (to->reported > 0 && !to->json && !options->quiet) fputs("\n", to->out);
}

/* Runs all data sets in one call. */
static int run_batch(const driver_options *options, sink *to)
{
    driver_batch batch;
    fmo_error err = {FMO_OK, ""};
    int code = 0;
    const fmo_status status = driver_run_batch(options, &batch, &err);
    if (status != FMO_OK) {
        print_error(NULL, err.message);
        code = fmo_status_exit_code(status);
    }
    for (int i = 0; i < batch.count && status == FMO_OK; i++) {
        separate(options, to);
        code = worse(code, report_one(options, options->datasets[i], batch.err[i].status,
                                      &batch.err[i], &batch.result[i], to));
    }
    if (to->reported > 0 && to->json && driver_json_add_batch(to->json, &batch, &err) != FMO_OK) {
        print_error(NULL, err.message);
        code = worse(code, fmo_status_exit_code(err.status));
    }
    if (to->reported > 0 && !to->json && !options->quiet) driver_report_batch(&batch, to->out);
    driver_batch_free(&batch);
    return code;
}

/* ---- ranks ---------------------------------------------------------------------------------- */

/* Formats the report of a data set on the rank that has built it (driver_reporter). */
static fmo_status report(const driver_options *options, int index, const driver_result *result,
                         fmo_error *of_it, driver_output *output, fmo_error *err)
{
    size_t length[2] = {0, 0};
    sink to = {open_memstream(&output->text[DRIVER_OUTPUT_OUT], &length[0]),
               open_memstream(&output->text[DRIVER_OUTPUT_ERR], &length[1]), NULL, 0};
    const bool json = options->profile == DRIVER_PROFILE_JSON;
    fmo_status status = FMO_OK;
    if (json) to.json = driver_json_create();
    if (!to.out || !to.err || (json && !to.json))
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a report");
    if (status == FMO_OK)
        output->code =
            report_one(options, options->datasets[index], of_it->status, of_it, result, &to);
    output->reported = to.reported;
    if (status == FMO_OK && json) {
        output->text[DRIVER_OUTPUT_JSON] = driver_json_pack(to.json);
        if (!output->text[DRIVER_OUTPUT_JSON])
            status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a report");
    }
    if (to.out) fclose(to.out);
    if (to.err) fclose(to.err);
    driver_json_destroy(to.json);
    return status;
}

/* Prints the reports of all ranks on rank 0, in the order of the data sets. */
static int print_deal(const driver_options *options, const driver_deal *deal, int ranks, sink *to)
{
    fmo_error err = {FMO_OK, ""};
    int code = 0;
    for (int i = 0; i < deal->count; i++) {
        const driver_output *output = &deal->output[i];
        separate(options, to);
        fputs(output->text[DRIVER_OUTPUT_OUT], to->out);
        fputs(output->text[DRIVER_OUTPUT_ERR], to->err);
        if (to->json) driver_json_unpack(to->json, output->text[DRIVER_OUTPUT_JSON], &err);
        to->reported += output->reported;
        code = worse(code, output->code);
    }
    if (to->reported > 0 && to->json) driver_json_add_deal(to->json, deal, ranks, &err);
    if (to->reported > 0 && !to->json && !options->quiet) driver_report_deal(deal, ranks, to->out);
    if (err.status == FMO_OK) return code;
    print_error(NULL, err.message);
    return worse(code, fmo_status_exit_code(err.status));
}

/* Distributes all data sets among the ranks; rank 0 prints. */
static int run_deal(const driver_options *options, const fmo_ranks *ranks, sink *to)
{
    driver_deal deal;
    fmo_error err = {FMO_OK, ""};
    int code;
    const fmo_status status = driver_run_deal(options, ranks, report, &deal, &err);
    if (status != FMO_OK) {
        code = fmo_status_exit_code(status);
        if (ranks->rank == 0 || deal.communicator_failed) print_error(NULL, err.message);
        if (deal.communicator_failed) ranks->abort(ranks->user, code);
    } else {
        code = ranks->rank == 0 ? print_deal(options, &deal, ranks->size, to) : 0;
    }
    driver_deal_free(&deal);
    return code;
}

/* ---- molecules ------------------------------------------------------------------------------ */

/* State of the callbacks of --scf --batch. */
typedef struct scf_listener {
    const driver_options *options;
    driver_json *json; /* or NULL */
    int code, reported;
    long loose, unused, open; /* numbers of molecules with such a notice */
    long restored;            /* number of molecules with the result of an earlier run */
} scf_listener;

/* Prints notices on stderr; those about the cutoff, unused options and spin only for the first
 * molecule. */
static void print_molecule_notices(scf_listener *l, const driver_scf_one *one, const char *name)
{
    const driver_result *result = &one->result;
    for (int i = 0; !l->json && driver_result_notice(result, i); i++) {
        const char *notice = driver_result_notice(result, i);
        if (notice == result->scf_notice && l->loose++ > 0) continue;
        if (notice == result->unused && l->unused++ > 0) continue;
        if (notice == result->spin_notice && l->open++ > 0) continue;
        fprintf(stderr, "fmo-driver: %s: notice: %s\n", name, notice);
    }
}

/* Callback before anything is computed: names the molecules that will not be. */
static void print_survey(const driver_scf_survey *survey, void *user)
{
    (void)user;
    if (survey->impossible)
        fprintf(stderr,
                "fmo-driver: notice: %ld of %ld molecules will not be computed, because their "
                "multiplicity does not fit their electrons: %s\n",
                survey->impossible, survey->molecules, survey->names);
}

/* Callback when a molecule ends: prints its line or its error. */
static void print_molecule(const driver_scf_one *one, void *user)
{
    scf_listener *l = user;
    char name[1024];
    driver_report_name(one, name, sizeof name);
    if (one->err.status != FMO_OK) {
        print_error(one->result.named ? NULL : one->path, one->err.message);
        l->code = worse(l->code, fmo_status_exit_code(one->err.status));
        return;
    }
    l->restored += one->restored;
    if (!one->restored) print_molecule_notices(l, one, name);
    if (one->result.scf_verdict.status != FMO_OK) {
        fprintf(stderr, "fmo-driver: %s: %s\n", name, one->result.scf_verdict.message);
        l->code = worse(l->code, fmo_status_exit_code(FMO_ERR_CHECK));
    }
    if (one->restored) return;
    if (!l->json) {
        if (l->reported == 0 && !l->options->quiet)
            driver_report_scf_batch_head(l->options, one, stdout);
        driver_report_scf_one(l->options, one, stdout);
        fflush(stdout);
    }
    l->reported++;
}

/* Callback in the order of the command line: adds a molecule to the profile. */
static void list_molecule(const driver_scf_one *one, void *user)
{
    scf_listener *l = user;
    fmo_error err = {FMO_OK, ""};
    if (!l->json) return;
    const fmo_status status =
        one->restored ? driver_json_add_restored(l->json, one, &err)
        : one->err.status == FMO_OK
            ? driver_json_add(l->json, l->options, &one->result, &err)
            : driver_json_add_failure(l->json, one->path, one->result.frame, &one->err, &err);
    if (status == FMO_OK) return;
    print_error(one->path, err.message);
    l->code = worse(l->code, fmo_status_exit_code(status));
}

/* Runs all molecules of all files. */
static int run_scf_batch(const driver_options *options, sink *to)
{
    driver_json *const json = to->json;
    scf_listener l = {options, json, 0, 0, 0, 0, 0, 0};
    const driver_scf_watch watch = {print_survey, print_molecule, list_molecule, &l};
    driver_scf_totals totals;
    fmo_error err = {FMO_OK, ""};
    const fmo_status status = driver_run_scf_batch(options, &watch, &totals, &err);
    if (l.loose > 1)
        fprintf(stderr,
                "fmo-driver: notice: the same cutoff is too loose for %ld more molecule%s\n",
                l.loose - 1, l.loose > 2 ? "s" : "");
    if (l.open > 1)
        fprintf(
            stderr,
            "fmo-driver: notice: %ld more molecule%s with unpaired electrons in the ground state "
            "computed as singlets\n",
            l.open - 1, l.open > 2 ? "s" : "");
    if (status == FMO_OK && l.reported + l.restored > 0 && !json && !options->quiet)
        driver_report_scf_batch(options, &totals, stdout);
    if (l.reported + l.restored > 0 && json &&
        driver_json_add_scf_batch(json, &totals, &err) != FMO_OK) {
        print_error(NULL, err.message);
        l.code = worse(l.code, fmo_status_exit_code(err.status));
    }
    if (status != FMO_OK) {
        const bool communicator_failed = has_communicator_failed(options, status);
        if (is_first(options) || communicator_failed) print_error(NULL, err.message);
        l.code = worse(l.code, fmo_status_exit_code(status));
        if (communicator_failed) end_ranks(options, l.code);
    }
    to->reported = l.reported + (int)(l.restored > 0);
    return l.code;
}

/* Runs all data sets, as a batch or one by one, and writes the JSON document. An SCF prints its
 * cycles as they end. */
static int run_all(const driver_options *options)
{
    const fmo_ranks *ranks = options->fock.ranks;
    const bool dealt = options->batch && ranks && options->dataset_num > 1;
    const bool prints = is_first(options);
    sink to = {stdout, stderr, NULL, 0};
    int code = 0, write_code = 0;
    if (options->profile == DRIVER_PROFILE_JSON && prints) {
        to.json = driver_json_create();
        if (!to.json) {
            print_error(NULL, "no memory for the profile");
            return end_ranks(options, fmo_status_exit_code(FMO_ERR_MEMORY));
        }
    }
    if (options->batch) {
        code = options->scf ? run_scf_batch(options, &to)
               : dealt      ? run_deal(options, ranks, &to)
                            : run_batch(options, &to);
        write_code = prints ? flush_stdout() : 0;
    }
    for (int i = 0; i < options->dataset_num && write_code == 0 && !options->batch; i++) {
        const char *const path = options->datasets[i];
        driver_result result;
        fmo_error err = {FMO_OK, ""};
        listener l = {options, false};
        const driver_watch watch = {print_begin, print_cycle, &l};
        const bool watched = !to.json && !options->quiet;
        separate(options, &to);
        const fmo_status status =
            options->scf ? driver_run_scf(options, path, watched ? &watch : NULL, &result, &err)
                         : driver_run_build(options, path, &result, &err);
        code = worse(code, report_one(options, path, status, &err, &result, &to));
        to.reported += status != FMO_OK && l.begun;
        driver_result_free(&result);
        write_code = flush_stdout();
    }
    /* With nothing to report, stdout remains empty here too. */
    if (to.json && to.reported > 0) {
        fmo_error err = {FMO_OK, ""};
        if (driver_json_write(to.json, stdout, &err) != FMO_OK) {
            print_error(NULL, err.message);
            code = worse(code, fmo_status_exit_code(err.status));
        }
        write_code = flush_stdout();
    }
    driver_json_destroy(to.json);
    return worse(code, write_code);
}

/* Callbacks that print the system, iterations and pairs of FMO2. */
static void print_system(const fmo_fragment_system *system, const char *basis, void *user)
{
    driver_report_system(user, system, basis, stdout);
    fflush(stdout);
}
static void print_iteration(const fmo_fragment_iteration *iteration, void *user)
{
    (void)user;
    driver_report_iteration(iteration, stdout);
    fflush(stdout);
}

static void print_pairs(double fraction, double seconds, void *user)
{
    (void)user;
    driver_report_pairs(fraction, seconds, stdout);
    fflush(stdout);
}

/* Runs FMO2 on one system; reports it, or appends it to the list of a JSON document. */
static int run_system(const driver_options *options, const char *path, json_t *systems)
{
    driver_fragments run;
    fmo_error err = {FMO_OK, ""};
    const driver_fragment_watch watch = {print_system, print_iteration, print_pairs,
                                         (void *)options};
    const int watched = !systems && !options->quiet && is_first(options);
    const fmo_status status =
        driver_run_fragments(options, path, watched ? &watch : NULL, &run, &err);
    json_t *entry = NULL;
    const bool communicator_failed = has_communicator_failed(options, status);
    if (status != FMO_OK && (is_first(options) || communicator_failed)) {
        fmo_error_set(&err, status, "%s", fmo_status_text(status));
        print_error(run.named ? NULL : path, err.message);
        if (*run.spin) /* the spin may be the reason */
            fprintf(stderr, "fmo-driver: %s: notice: %s\n", driver_shown(path), run.spin);
    }
    if (communicator_failed) end_ranks(options, fmo_status_exit_code(status));
    if (!is_first(options)) {
        driver_fragments_free(&run);
        return status == FMO_OK ? 0 : fmo_status_exit_code(status);
    }
    if (systems && status == FMO_OK) entry = driver_fragments_json(options, &run);
    if (systems && status != FMO_OK)
        entry =
            json_pack("{s:o, s:{s:o, s:i}}", "system", driver_json_text(path), "error", "message",
                      driver_json_text(err.message), "exit_code", fmo_status_exit_code(status));
    for (int i = 0;
         !systems && options->quiet && status == FMO_OK && driver_fragments_notice(&run, i); i++)
        fprintf(stderr, "fmo-driver: %s: notice: %s\n", driver_shown(path),
                driver_fragments_notice(&run, i));
    if (!systems && status == FMO_OK) driver_report_fragments(options, &run, stdout);
    driver_fragments_free(&run);
    if (systems && json_array_append_new(systems, entry) != 0) {
        print_error(path, "no memory for the profile");
        return end_ranks(options, fmo_status_exit_code(FMO_ERR_MEMORY));
    }
    return status == FMO_OK ? 0 : fmo_status_exit_code(status);
}

/* Runs FMO2 on all systems, and writes the JSON document. */
static int run_systems(const driver_options *options)
{
    json_t *root = NULL, *systems = NULL;
    int code = 0;
    if (options->profile == DRIVER_PROFILE_JSON && is_first(options)) {
        root = driver_json_head("fmo-fragments", 1);
        systems = json_array();
        if (!root || json_object_set(root, "systems", systems) != 0) {
            print_error(NULL, "no memory for the profile");
            code = end_ranks(options, fmo_status_exit_code(FMO_ERR_MEMORY));
            json_decref(systems);
            systems = NULL;
        }
    }
    for (int i = 0; i < options->dataset_num && code != fmo_status_exit_code(FMO_ERR_MEMORY); i++) {
        if (i > 0 && !systems && !options->quiet && is_first(options)) fputs("\n", stdout);
        code = worse(code, run_system(options, options->datasets[i], systems));
        code = worse(code, flush_stdout());
    }
    char *document =
        systems ? driver_json_document(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    if (document) puts(document);
    if (systems && !document) {
        print_error(NULL, "no memory for the profile");
        code = worse(code, fmo_status_exit_code(FMO_ERR_MEMORY));
    }
    free(document);
    json_decref(systems);
    json_decref(root);
    return worse(code, flush_stdout());
}

/* Runs on several ranks. A batch and fragments are distributed among the ranks; everything else is
 * run by rank 0, and the others take part in its builds. */
static int run_ranks(driver_options *options, driver_ranks *ranks)
{
    const fmo_ranks *net = &ranks->net;
    fmo_error err = {FMO_OK, ""};
    int code = 0;
    if (driver_ranks_divide(ranks, options, &err) != FMO_OK) {
        code = fmo_status_exit_code(err.status);
        if (net->rank == 0) print_error(NULL, err.message);
    } else if (options->fragments) {
        code = run_systems(options);
    } else if (options->batch && (options->scf || options->dataset_num > 1)) {
        code = run_all(options);
    } else if (net->rank == 0) {
        code = run_all(options);
        fmo_fock_dismiss(net);
    } else if (fmo_fock_serve(&ranks->net, &options->fock, &err) != FMO_OK) {
        code = fmo_status_exit_code(err.status);
        net->abort(net->user, code); /* rank 0 has the same error and prints it */
    }
    driver_ranks_close(ranks);
    return code;
}

/* CUDA starts every visible GPU, which takes 0.2 s or more each. Makes only the requested GPUs
 * visible, unless the environment sets CUDA_VISIBLE_DEVICES. For several ranks see run/ranks.c. */
static void show_gpus(const driver_options *options)
{
    char list[4 * FMO_DEVICES_MAX] = "0";
    size_t used = strlen(list);
    if (options->gpus && strcmp(options->gpus, "all") == 0) return;
    for (int k = 1; k < options->fock.device_num; k++)
        used += (size_t)snprintf(list + used, sizeof list - used, ",%d", k);
    (void)setenv("CUDA_VISIBLE_DEVICES", list, 0);
}

/* At exit OpenBLAS waits for its threads, and threads without address space for a buffer
 * (fmo_memory_for_blas) retry forever; in that case leaves without OpenBLAS's exit handlers. */
static int leave(int code)
{
    if (fmo_memory_for_blas(1)) return code;
    (void)fflush(NULL);
    _exit(code);
}

/* Prints --help or --version. */
static void print_action(const driver_options *options)
{
    if (options->action == DRIVER_HELP)
        driver_options_help(stdout);
    else
        printf("fmo-driver %s\n", FMO_VERSION_STRING);
}

/* Parses the options, opens the communicator, agrees on errors, and starts the run. */
int main(int argc, char **argv)
{
    driver_options options;
    driver_ranks ranks;
    fmo_error err = {FMO_OK, ""}, why = {FMO_OK, ""};
    const bool first = driver_ranks_number() == 0; /* prints what concerns all ranks */

    driver_reserve_standard_streams();
    /* Output is fully buffered, and flush_stdout() detects a full disk. */
    static char out[1 << 16];
    if (!isatty(STDOUT_FILENO)) setvbuf(stdout, out, _IOFBF, sizeof out);
    driver_interrupt_init();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe becomes a write error */
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit becomes a write error */

    fmo_status status = driver_options_parse(argc, argv, &options, &err);
    if (status == FMO_OK && options.action == DRIVER_RUN && driver_ranks_size() > 1)
        status = driver_options_check_ranks(&options, &err);
    /* Before printing anything about a command line that only one rank may have. */
    const fmo_status opened = driver_ranks_open(&ranks, &why);
    if (opened == FMO_OK)
        status = driver_ranks_agree(&ranks, &options, status, &err);
    else if (status == FMO_OK && options.action == DRIVER_RUN)
        status = fmo_error_set(&err, opened, "%s", why.message);
    if (status != FMO_OK || options.action != DRIVER_RUN) {
        if (first && status != FMO_OK) print_error(NULL, err.message);
        if (first && status == FMO_OK) print_action(&options);
        driver_ranks_close(&ranks);
        return status == FMO_OK ? flush_stdout() : fmo_status_exit_code(status);
    }
    if (ranks.net.size < 2) show_gpus(&options);
    return leave(ranks.net.size > 1  ? run_ranks(&options, &ranks)
                 : options.fragments ? run_systems(&options)
                                     : run_all(&options));
}
