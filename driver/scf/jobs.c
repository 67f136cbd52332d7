/* The jobs of a batch: their order and sizes, the work items that threads and ranks take, the
 * callbacks that prepare and release them, and their end. */
#include "driver/scf/jobs.h"

#include <stdlib.h>

size_t fmo_scf_job_functions(const fmo_scf_job *job)
{
    return job->input.basis ? (size_t)fmo_basis_ao_num(job->input.basis) : 0;
}

/* Restores the caller's input, and converts the result to the caller's functions. */
void fmo_scf_batch_give_back(const batch *b, size_t k)
{
    if (!b->normal || !b->normal[k].norm) return;
    fmo_scf_from_normal(&b->normal[k], b->jobs[k].result);
    b->jobs[k].input = b->normal[k].input;
    fmo_scf_normal_free(&b->normal[k]);
}

void fmo_scf_batch_note_end(batch *b, size_t k, int concurrent)
{
    fmo_scf_job *const job = &b->jobs[k];
    const fmo_scf_options *const o = concurrent ? &b->concurrent : b->options;
    if (job->status == FMO_OK)
        job->status = fmo_scf_add_forces(&job->input, o, &job->result, &job->err);
    if (!concurrent || job->status != FMO_ERR_MEMORY) fmo_scf_batch_give_back(b, k);
    pthread_mutex_lock(&b->lock);
    if (concurrent && job->status == FMO_ERR_MEMORY)
        b->rerun[k] = 1;
    else if (b->options->finished)
        b->options->finished(k, job, b->options->user);
    pthread_mutex_unlock(&b->lock);
}

fmo_status fmo_scf_batch_prepare(const batch *b, const size_t *job, size_t num,
                                 const fmo_fock_options *fock, fmo_error *err)
{
    return b->callbacks ? b->callbacks->prepare(job, num, fock, b->callbacks->user, err) : FMO_OK;
}

void fmo_scf_batch_release(const batch *b, size_t job)
{
    if (b->callbacks) b->callbacks->release(job, b->callbacks->user);
}

const double *fmo_scf_batch_overlap(const batch *b, size_t job)
{
    return b->callbacks && b->callbacks->overlap ? b->callbacks->overlap(job, b->callbacks->user)
                                                 : NULL;
}

/* Returns the index of the smallest returned work item. */
int fmo_scf_batch_first_returned(const batch *b)
{
    int first = 0;
    for (int k = 1; k < b->returned_num; k++)
        if (b->returned[k] < b->returned[first]) first = k;
    return first;
}

/* Takes a work item: one that was returned, the next of this process, or the next of the ranks'
 * counter. */
size_t fmo_scf_batch_take_item(batch *b)
{
    const fmo_ranks *ranks = b->options->deal;
    const size_t all = work_items_num(&b->deal);
    size_t at = all;
    pthread_mutex_lock(&b->lock);
    if (b->returned_num) {
        const int k = fmo_scf_batch_first_returned(b);
        at = b->returned[k];
        b->returned[k] = b->returned[--b->returned_num];
    } else if (!ranks) {
        at = b->next < all ? b->next++ : all;
    } else if (!b->fault) {
        int64_t work_item = 0;
        b->fault = ranks->next(ranks->user, &work_item);
        if (!b->fault && work_item < (int64_t)all) at = (size_t)work_item;
    }
    pthread_mutex_unlock(&b->lock);
    return at;
}

void fmo_scf_batch_return_item(batch *b, size_t work_item)
{
    pthread_mutex_lock(&b->lock);
    if (work_item < work_items_num(&b->deal)) b->returned[b->returned_num++] = work_item;
    pthread_mutex_unlock(&b->lock);
}

double fmo_scf_batch_bytes(const batch *b, size_t n)
{
    return 8.0 * (19.0 + 3.0 * b->options->diis_size) * (double)n * (double)n;
}

static int by_size(const void *left, const void *right)
{
    const fmo_scf_sized *a = left, *b = right;
    if (a->other_mode != b->other_mode) return b->other_mode - a->other_mode;
    if (a->functions != b->functions) return a->functions < b->functions ? 1 : -1;
    return a->job < b->job ? -1 : 1;
}

void fmo_scf_batch_sort(fmo_scf_sized *sized, size_t num)
{
    qsort(sized, num, sizeof *sized, by_size);
}
