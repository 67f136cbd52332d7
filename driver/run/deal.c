/* --batch on several ranks: dynamic distribution of the data sets, and collection of all reports on
 * rank 0. See deal.h. Next: batch.c, which runs one piece. */
#define _GNU_SOURCE
#include "driver/run/deal.h"
#include "driver/base/checkgoto.h"
#include "driver/base/clock.h"
#include "driver/base/tuning.h"
#include "driver/run/ranks.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXTS = 3, AT_ONCE_MIN = fmo_tuning_batch_piece };

/* The distribution: data sets in `order`, in pieces; piece k begins at begin[k]. */
typedef struct dealing {
    int count, pieces;
    int *order; /* [count] */
    int *begin; /* [pieces + 1]; both are in one array of 2 count + 2 numbers, whose last number is
                 * `pieces` */
} dealing;

typedef struct by_size {
    off_t bytes;
    int index;
} by_size;

static int compare_sizes(const void *x, const void *y)
{
    const by_size *a = x, *b = y;
    if (a->bytes != b->bytes) return a->bytes < b->bytes ? 1 : -1;
    return a->index - b->index;
}

static fmo_status no_memory(fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the data sets of a batch");
}

static fmo_status no_network(fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_DEVICE, "communication between the ranks failed");
}

/* Makes the distribution on rank 0: the largest files first. A piece is one data set on CPUs; with
 * GPUs, which build many small molecules together, it is half of a rank's share of the remaining
 * ones, but at least AT_ONCE_MIN. */
static void choose(const driver_options *options, int ranks, by_size *size, dealing *d)
{
    const fmo_mode mode = options->fock.mode;
    const bool together =
        mode != FMO_MODE_CPU && mode != FMO_MODE_REFERENCE && fmo_gpu_available(NULL) == FMO_OK;
    struct stat info;
    for (int i = 0; i < d->count; i++) {
        size[i].index = i;
        size[i].bytes = stat(options->datasets[i], &info) == 0 ? info.st_size : 0;
    }
    qsort(size, (size_t)d->count, sizeof *size, compare_sizes);
    d->pieces = 0;
    for (int at = 0; at < d->count;) {
        const int left = d->count - at, half = left / (2 * ranks);
        const int some = !together ? 1 : half > AT_ONCE_MIN ? half : AT_ONCE_MIN;
        d->begin[d->pieces++] = at;
        at += some < left ? some : left;
    }
    d->begin[d->pieces] = d->count;
    for (int i = 0; i < d->count; i++) d->order[i] = size[i].index;
}

/* Makes the distribution on rank 0 and broadcasts it to all ranks. */
static fmo_status make_dealing(const driver_options *options, const fmo_ranks *ranks, dealing *d,
                               fmo_error *err)
{
    const size_t count = (size_t)options->dataset_num, numbers = 2 * count + 2;
    by_size *size = calloc(count, sizeof *size);
    fmo_status status = FMO_OK;
    *d = (dealing){.count = options->dataset_num, .order = calloc(numbers, sizeof *d->order)};
    if (!size || !d->order) status = no_memory(err);
    CHECKGOTO(fmo_ranks_agree(ranks, status, err));
    d->begin = d->order + count;
    if (ranks->rank == 0) {
        choose(options, ranks->size, size, d);
        d->order[numbers - 1] = d->pieces;
        if (ranks->restart(ranks->user) != 0) status = no_network(err);
    }
    for (size_t at = 0; at < numbers && status == FMO_OK; at += 1 << 20) {
        const size_t some = numbers - at < 1 << 20 ? numbers - at : 1 << 20;
        if (ranks->broadcast(ranks->user, d->order + at, some * sizeof *d->order) != 0)
            status = no_network(err);
    }
    d->pieces = d->order[numbers - 1];
done:
    free(size);
    return status;
}

/* The results of this rank. */
typedef struct share {
    driver_output *output; /* [count] */
    char *has;             /* [count] 1: this rank has run the data set */
    int built;
    driver_spread seconds;
} share;

/* Runs one piece as a batch of its own. */
static fmo_status run_piece(const driver_options *options, const fmo_ranks *ranks, const dealing *d,
                            int piece, driver_reporter *report, share *s, fmo_error *err)
{
    const int begin = d->begin[piece], num = d->begin[piece + 1] - begin;
    driver_options some = *options;
    driver_batch batch;
    char **const paths = calloc((size_t)num, sizeof *paths);
    if (!paths) return no_memory(err);
    for (int k = 0; k < num; k++) paths[k] = options->datasets[d->order[begin + k]];
    some.datasets = paths;
    some.dataset_num = num;
    fmo_status status = driver_run_batch(&some, &batch, err);
    for (int k = 0; k < num && status == FMO_OK; k++) {
        const int index = d->order[begin + k];
        driver_ranks_name(ranks, &batch.err[k]);
        status = report(options, index, &batch.result[k], &batch.err[k], &s->output[index], err);
        s->has[index] = 1;
    }
    if (status == FMO_OK && batch.built > 0) {
        s->built += batch.built;
        s->seconds.min += batch.seconds.min;
        s->seconds.median += batch.seconds.median;
        s->seconds.max += batch.seconds.max;
    }
    driver_batch_free(&batch);
    free(paths);
    return status;
}

/* Runs pieces until none are left. */
static fmo_status run_pieces(const driver_options *options, const fmo_ranks *ranks,
                             const dealing *d, driver_reporter *report, share *s, fmo_error *err)
{
    for (;;) {
        int64_t piece;
        if (ranks->next(ranks->user, &piece) != 0) return no_network(err);
        if (piece >= d->pieces) return FMO_OK;
        const fmo_status status = run_piece(options, ranks, d, (int)piece, report, s, err);
        if (status != FMO_OK) return status;
    }
}

/* ---- to rank 0 ------------------------------------------------------------------------------ */

typedef struct summary {
    int num, built;
    driver_spread seconds;
} summary;

typedef struct line {
    int index, code, reported;
    int64_t length[TEXTS]; /* in bytes; -1 for NULL */
} line;

/* Sends all reports of this rank to rank 0; returns 0 on success. */
static int send_all(const fmo_ranks *ranks, const driver_deal *deal, const share *s)
{
    summary sum = {0, s->built, s->seconds};
    for (int i = 0; i < deal->count; i++) sum.num += s->has[i];
    int fault = ranks->send(ranks->user, &sum, sizeof sum);
    for (int i = 0; i < deal->count && !fault; i++) {
        if (!s->has[i]) continue;
        const driver_output *output = &s->output[i];
        line l = {i, output->code, output->reported, {-1, -1, -1}};
        for (int t = 0; t < TEXTS; t++)
            if (output->text[t]) l.length[t] = (int64_t)strlen(output->text[t]);
        fault = ranks->send(ranks->user, &l, sizeof l);
        for (int t = 0; t < TEXTS && !fault; t++)
            if (l.length[t] > 0)
                fault = ranks->send(ranks->user, output->text[t], (size_t)l.length[t]);
    }
    return fault;
}

/* Receives the report of one data set from a rank. */
static fmo_status take_line(const fmo_ranks *ranks, int rank, const line *l, driver_output *output,
                            fmo_error *err)
{
    output->code = l->code;
    output->reported = l->reported;
    for (int t = 0; t < TEXTS; t++) {
        if (l->length[t] < 0) continue;
        output->text[t] = calloc((size_t)l->length[t] + 1, 1);
        if (!output->text[t]) return no_memory(err);
        if (l->length[t] > 0 &&
            ranks->receive(ranks->user, rank, output->text[t], (size_t)l->length[t]) != 0)
            return no_network(err);
    }
    return FMO_OK;
}

/* Receives the reports of all other ranks on rank 0. */
static fmo_status receive_all(const fmo_ranks *ranks, driver_deal *deal, fmo_error *err)
{
    fmo_status status = FMO_OK;
    for (int r = 1; r < ranks->size && status == FMO_OK; r++) {
        summary sum;
        if (ranks->receive(ranks->user, r, &sum, sizeof sum) != 0) return no_network(err);
        deal->built += sum.built;
        if (sum.seconds.median > deal->seconds.median) deal->seconds = sum.seconds;
        for (int k = 0; k < sum.num && status == FMO_OK; k++) {
            line l;
            if (ranks->receive(ranks->user, r, &l, sizeof l) != 0) return no_network(err);
            status = take_line(ranks, r, &l, &deal->output[l.index], err);
        }
    }
    return status;
}

/* Distributes the data sets, runs this rank's share, and collects all reports on rank 0. */
fmo_status driver_run_deal(const driver_options *options, const fmo_ranks *ranks,
                           driver_reporter *report, driver_deal *deal, fmo_error *err)
{
    const size_t count = (size_t)options->dataset_num;
    const double begin = driver_seconds();
    dealing d = {.count = 0};
    share s = {.has = calloc(count, 1)};
    fmo_status status = FMO_OK;
    memset(deal, 0, sizeof *deal);
    deal->output = calloc(count, sizeof *deal->output);
    if (deal->output) deal->count = options->dataset_num;
    s.output = deal->output;
    if (!deal->output || !s.has) status = no_memory(err);
    CHECKGOTO(fmo_ranks_agree(ranks, status, err));
    CHECKGOTO(make_dealing(options, ranks, &d, err));
    status = run_pieces(options, ranks, &d, report, &s, err);
    CHECKGOTO(fmo_ranks_agree(ranks, status, err));
    deal->wall_seconds = driver_seconds() - begin;
    deal->built = s.built;
    deal->seconds = s.seconds;
    if (ranks->rank == 0)
        status = receive_all(ranks, deal, err);
    else if (send_all(ranks, deal, &s) != 0)
        status = no_network(err);
    deal->communicator_failed = status != FMO_OK;
done:
    free(d.order);
    free(s.has);
    return status;
}

void driver_deal_free(driver_deal *deal)
{
    for (int i = 0; i < deal->count; i++)
        for (int t = 0; t < TEXTS; t++) free(deal->output[i].text[t]);
    free(deal->output);
}
