/* --scf --batch: reads, runs and frees molecules in portions, so that memory is bounded for any
 * number of molecules. All ranks read the same files and share the SCFs of a portion; rank 0
 * reports and writes. Next: scf.c, scf_results.c, scf_share.c. */
#include "driver/run/scf_batch.h"
#include "driver/base/agree.h"
#include "driver/base/clock.h"
#include "base/harmless.h"
#include "driver/base/tuning.h"
#include "driver/run/files.h"
#include "driver/run/ranks.h"
#include "driver/run/scf_results.h"
#include "driver/run/scf_share.h"
#include "driver/scf/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/basis_set.h>
#include <fmo/molecule.h>

/* A portion ends after PORTION molecules, or after about fmo_tuning_batch_portion_bytes of results.
 * Under mpirun results of other ranks arrive at the end of a portion, so one that is to be kept is
 * shorter. */
enum { PORTION = fmo_tuning_batch_portion, PORTION_OF_RANK = 256 };

typedef struct batch {
    const driver_options *options;
    const driver_scf_watch *watch;
    const fmo_ranks *ranks; /* NULL: one process */
    fmo_scf_options scf;
    /* state of reading */
    int dataset; /* index of the next one in options->datasets */
    fmo_xyz *xyz;
    int frame; /* number of the last frame read from xyz */
    fmo_basis_set *set;
    /* the current portion */
    int num;
    driver_scf_one *one;         /* [PORTION] */
    fmo_scf_job *job;            /* [PORTION] of the molecules that could be read */
    int *number;                 /* [PORTION] index in `one` of each job */
    char *mine;                  /* [PORTION] 1: this rank ran the molecule */
    int out_of_memory;           /* set in a callback */
    driver_scf_results *results; /* of rank 0, or NULL */
    driver_scf_totals *totals;
} batch;

static int is_first(const batch *b)
{
    return !b->ranks || b->ranks->rank == 0;
}

static void tell_end(const driver_scf_one *one, void *user)
{
    const batch *b = user;
    if (b->results) driver_scf_results_keep(b->results, one);
    if (is_first(b)) b->watch->ended(one, b->watch->user);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Sets the error of a molecule that could be read; the message names the frame in its file. */
static void name_frame(driver_scf_one *one, const fmo_error *why)
{
    const int frame = one->result.frame;
    one->result.named = frame != 0;
    if (frame)
        fmo_error_set(&one->err, why->status, "%.200s: frame %d: %s", one->path, frame,
                      why->message);
    else
        one->err = *why;
}

/* Copies a comment, without control characters; NULL if memory is short or there is none. */
static char *comment_of(const fmo_molecule *molecule)
{
    char *comment = molecule->title ? strdup(molecule->title) : NULL;
    for (char *c = comment; c && *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    if (comment) fmo_text_harmless(comment);
    return comment;
}

/* Reads the next frame of the open file; returns 0 at its end. */
static int read_frame(batch *b, driver_scf_one *one)
{
    fmo_molecule *molecule = NULL;
    one->result.frame = ++b->frame;
    if (fmo_xyz_next(b->xyz, &molecule, &one->err) != FMO_OK) return 1;
    if (!molecule) return 0;
    one->result.frame = molecule->frame;
    if (b->options->output) one->comment = comment_of(molecule);
    (void)driver_scf_dataset(b->options, molecule, b->set, &one->result, &one->err);
    fmo_molecule_destroy(molecule);
    return 1;
}

/* Reads the next molecule, or sets its error; returns 0 after the last molecule. */
static int read_one(batch *b, driver_scf_one *one)
{
    memset(one, 0, sizeof *one);
    one->result.is_scf = true;
    for (;;) {
        if (b->xyz) {
            one->path = b->options->datasets[b->dataset - 1];
            if (read_frame(b, one)) return 1;
            fmo_xyz_close(b->xyz);
            b->xyz = NULL;
            one->result.frame = 0;
        }
        if (b->dataset == b->options->dataset_num) return 0;
        one->path = b->options->datasets[b->dataset++];
        if (driver_is_xyz(one->path)) {
            b->frame = 0;
            if (fmo_xyz_open_in(one->path, b->options->unit, &b->xyz, &one->err) != FMO_OK)
                return 1;
            continue;
        }
        (void)driver_scf_read(b->options, one->path, &one->result, &one->err);
        return 1;
    }
}

/* Makes the job of a molecule; one with an error is reported at once. */
static void take_one(batch *b, driver_scf_one *one, int *jobs)
{
    fmo_scf_job *job = &b->job[*jobs];
    driver_result *r = &one->result;
    fmo_error why = {FMO_OK, ""};
    memset(job, 0, sizeof *job);
    r->named = one->err.status != FMO_OK; /* the reader's messages name the file */
    if (!r->named) (void)driver_check_doubts(b->options, r->dataset, &why);
    if (!r->named && why.status == FMO_OK) (void)driver_scf_input(b->options, r, &job->input, &why);
    if (why.status != FMO_OK) name_frame(one, &why);
    if (one->err.status == FMO_OK)
        b->number[(*jobs)++] = (int)(one - b->one);
    else
        tell_end(one, b);
}

/* Finds the molecules of a portion that have the result of an earlier run, on rank 0, and removes
 * their jobs on all ranks. */
static fmo_status restore(batch *b, int *jobs, fmo_error *err)
{
    fmo_status status = FMO_OK;
    memset(b->mine, 0, (size_t)b->num); /* here: 1: restored */
    for (int k = 0; k < *jobs && b->results && status == FMO_OK; k++) {
        driver_scf_one *one = &b->one[b->number[k]];
        status = driver_scf_results_restore(b->results, one, err);
        b->mine[b->number[k]] = one->restored;
    }
    status = driver_agree(b->ranks, status, err);
    if (status == FMO_OK && b->ranks && b->options->resume)
        status = fmo_ranks_broadcast(b->ranks, b->mine, (size_t)b->num, err);
    int left = 0;
    for (int k = 0; k < *jobs && status == FMO_OK; k++) {
        driver_scf_one *one = &b->one[b->number[k]];
        one->restored = b->mine[b->number[k]];
        if (one->restored) {
            tell_end(one, b);
            continue;
        }
        b->job[left] = b->job[k];
        b->number[left++] = b->number[k];
    }
    *jobs = left;
    return status;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Callback after a cycle of one molecule: appends it to the list of cycles. */
static void take_cycle(const fmo_scf_cycle *cycle, void *user)
{
    batch *b = user;
    driver_result *result = &b->one[b->number[cycle->job]].result;
    const size_t size = (size_t)(result->cycle_num + 1) * sizeof *result->cycles;
    fmo_scf_cycle *more = realloc(result->cycles, size);
    if (!more) {
        b->out_of_memory = 1;
        return;
    }
    result->cycles = more;
    result->cycles[result->cycle_num] = *cycle;
    result->cycles[result->cycle_num++].so_far = NULL;
}

/* Callback after an SCF: stores its result or its error. */
static void take_result(size_t index, fmo_scf_job *job, void *user)
{
    batch *b = user;
    driver_scf_one *one = &b->one[b->number[index]];
    driver_result *r = &one->result;
    r->scf = job->result;
    job->result = NULL;
    if (!r->scf)
        name_frame(one, &job->err);
    else if (driver_scf_evaluate(b->options, r, &one->err) == FMO_OK)
        r->scf_verdict = job->err;
    if (b->ranks) driver_ranks_name(b->ranks, &one->err);
    b->mine[b->number[index]] = 1;
    tell_end(one, b);
}

/* Sets the error of the molecules that no rank could run. */
static void name_left(batch *b, int jobs, fmo_error *why)
{
    fmo_error_set(why, FMO_ERR_DEVICE,
                  "no rank computed this molecule"); /* keeps an earlier reason */
    for (int k = 0; k < jobs; k++) {
        driver_scf_one *one = &b->one[b->number[k]];
        if (one->result.scf || one->err.status != FMO_OK) continue;
        name_frame(one, why);
        tell_end(one, b);
    }
}

/* Runs all jobs of a portion, on all ranks if there are several; rank 0 then has all results. */
static fmo_status run_jobs(batch *b, int jobs, fmo_error *err)
{
    fmo_status status = FMO_OK;
    fmo_error why = {FMO_OK, ""};
    memset(b->mine, 0, (size_t)b->num);
    /* errors of single molecules are in their jobs */
    (void)fmo_scf_run_batch(b->job, (size_t)jobs, &b->scf, &why);
    if (b->out_of_memory)
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the list of cycles");
    const driver_scf_shared shared = {
        b->one, b->mine, b->num, b->options->output ? b->options->keep : 0, tell_end, b};
    if (b->ranks) status = driver_scf_share_results(b->ranks, status, &shared, err);
    if (status == FMO_OK) name_left(b, jobs, &why);
    return status;
}

/* ---- results --------------------------------------------------------------------------------- */

static void count(driver_scf_totals *totals, const driver_scf_one *one)
{
    totals->molecules++;
    if (one->err.status != FMO_OK)
        totals->failed++;
    else if (one->restored ? one->result.scf_verdict.status != FMO_OK : !one->result.scf->converged)
        totals->unconverged++;
    totals->restored += one->restored;
    if (!one->result.scf) return;
    totals->open += one->result.scf->multiplicity > 1 || one->result.scf->unrestricted;
}

/* Reads, runs and reports a portion. *more: set to 0 after the last portion. */
static fmo_status run_portion(batch *b, int *more, fmo_error *err)
{
    fmo_status status = FMO_OK;
    double bytes = 0.0;
    int jobs = 0;
    const int max_jobs =
        b->ranks && b->options->output && PORTION_OF_RANK * b->ranks->size < PORTION
            ? PORTION_OF_RANK * b->ranks->size
            : PORTION;
    for (b->num = 0; b->num < max_jobs && bytes < fmo_tuning_batch_portion_bytes; b->num++) {
        driver_scf_one *one = &b->one[b->num];
        if (!read_one(b, one)) {
            *more = 0;
            break;
        }
        take_one(b, one, &jobs);
        bytes += 40.0 * one->result.nao * one->result.nao;
    }
    if (b->ranks) status = driver_scf_share_check(b->ranks, b->one, b->num, err);
    if (status == FMO_OK) status = restore(b, &jobs, err);
    if (status == FMO_OK) status = run_jobs(b, jobs, err);
    const int complete = status == FMO_OK && is_first(b);
    for (int k = 0; k < b->num; k++) {
        driver_scf_one *one = &b->one[k];
        if (complete) {
            count(b->totals, one);
            b->watch->listed(one, b->watch->user);
            if (b->results && status == FMO_OK)
                status = driver_scf_results_add(b->results, one, err);
        }
        free(one->comment);
        driver_result_free(&one->result);
    }
    return driver_agree(b->ranks, status, err);
}

/* Sets the options, reads the basis set, and allocates the arrays of a portion. */
static fmo_status prepare(batch *b, fmo_error *err)
{
    const driver_options *options = b->options;
    fmo_status status = FMO_OK;
    driver_scf_settings(options, &b->scf);
    if (is_first(b)) status = driver_check_all_run_files(options, err);
    if (status == FMO_OK && options->basis)
        status = fmo_basis_set_read(options->basis, &b->set, err);
    if (status != FMO_OK) return status;
    fmo_basis_set_choose_functions(b->set, options->functions);
    if (is_first(b)) status = driver_scf_results_open(options, &b->results, err);
    if (status != FMO_OK) return status;
    b->one = calloc(PORTION, sizeof *b->one);
    b->job = calloc(PORTION, sizeof *b->job);
    b->number = calloc(PORTION, sizeof *b->number);
    b->mine = calloc(PORTION, sizeof *b->mine);
    if (!b->one || !b->job || !b->number || !b->mine)
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a batch");
    if (options->profile == DRIVER_PROFILE_JSON) b->scf.callback = take_cycle;
    b->scf.orbitals = options->profile == DRIVER_PROFILE_JSON ||
                      (options->output && options->keep >> DRIVER_KEEP_ORBITALS & 1);
    b->scf.finished = take_result;
    b->scf.user = b;
    b->scf.deal = options->fock.ranks;
    b->scf.fock.ranks = NULL;
    return status;
}

/* Runs portions until no molecules are left, and writes the output file on rank 0. */
fmo_status driver_run_scf_batch(const driver_options *options, const driver_scf_watch *watch,
                                driver_scf_totals *totals, fmo_error *err)
{
    const double begin = driver_seconds();
    fmo_ranks *const ranks = options->fock.ranks;
    batch b = {.options = options, .watch = watch, .totals = totals, .ranks = ranks};
    driver_scf_survey survey;
    int more = 1;
    memset(totals, 0, sizeof *totals);
    totals->ranks = ranks ? ranks->size : 1;
    fmo_status status = driver_agree(ranks, prepare(&b, err), err);
    if (status == FMO_OK && is_first(&b)) {
        driver_scf_survey_run(options, &survey);
        if (survey.molecules > 1) watch->surveyed(&survey, watch->user);
    }
    while (more && status == FMO_OK) status = run_portion(&b, &more, err);
    totals->seconds = driver_seconds() - begin;
    if (status == FMO_OK) { /* the same on all ranks up to here */
        if (b.results && totals->failed < totals->molecules)
            status = driver_scf_results_write(b.results, err);
        status = driver_agree(ranks, status, err);
    }
    driver_scf_results_close(b.results);
    fmo_basis_set_destroy(b.set);
    fmo_xyz_close(b.xyz);
    free(b.one);
    free(b.job);
    free(b.number);
    free(b.mine);
    return status;
}
