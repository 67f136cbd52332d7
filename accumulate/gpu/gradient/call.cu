/* Gradients in mode fused: groups of jobs that share launches, and the steps of a call. See
 * gradient.h. */
#include "accumulate/gpu/gradient/gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/gpu/pageable.h"
#include "accumulate/gpu/range.h"
#include "accumulate/plan/gradient.h"
#include "accumulate/rules/screen.h"
#include "integrals/operator_rules.h"

namespace {

enum { CLASSES = FMO_PAIR_GPU_COUNT };

/* Jobs whose terms are alike, computed together. */
typedef struct job_group {
    fmo_gradient_job *const *job;
    fmo_error *const *err;
    int num;
} job_group;

/* ---- densities and terms -------------------------------------------------------------------- */

/* What a call has in GPU memory: densities over internal functions, [terms][molecules], one term's
 * over the caller's, and the terms of all passes. */
typedef struct call_data {
    void *memory;
    size_t bytes;
    double *D, *given;
    fmo_gradient_density *term;
    size_t lacking_bytes; /* of shared memory, where a class needs more than a block may have */
} call_data;

/* Copies the densities to the GPU, term by term, and converts them to internal functions there. */
fmo_status copy_in(const job_group *group, const fmo_gpu_gradient *h, call_data *d, fmo_error *err)
{
    static const char what[] = "densities of a gradient";
    fmo_gpu_device *const device = &group->job[0]->plan->gpu->device;
    const size_t matrix = h->total.matrix, given = h->total.given;
    const size_t term_num = (size_t)group->job[0]->term_num;
    d->bytes = (term_num * matrix + given) * sizeof *d->D +
               2 * term_num * (size_t)group->num * sizeof *d->term;
    fmo_status status = fmo_gpu_alloc_temporary(device, what, d->bytes, &d->memory, err);
    if (status != FMO_OK) return status;
    d->D = (double *)d->memory;
    d->given = d->D + term_num * matrix;
    d->term = (fmo_gradient_density *)(d->given + given);
    double *const all = group->num > 1 ? (double *)malloc(given * sizeof *all) : NULL;
    if (group->num > 1 && !all) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %s", what);
    cudaError_t code = cudaSuccess;
    for (size_t t = 0; t < term_num && code == cudaSuccess; t++) {
        for (int m = 0; m < group->num && all; m++) {
            const size_t n = (size_t)h->host[m].caller_nao;
            memcpy(all + h->host[m].given, group->job[m]->terms[t].density, n * n * sizeof *all);
        }
        code = fmo_gpu_send(d->given, all ? all : group->job[0]->terms[t].density,
                            given * sizeof *d->given, device->stream);
        if (code == cudaSuccess)
            code = fmo_gradient_order_density(h, d->given, d->D + t * matrix, device->stream);
    }
    free(all);
    return code == cudaSuccess ? FMO_OK : fmo_gpu_error(code, what, err);
}

/* True if a term's K has this operator. */
bool has_operator(const fmo_gradient_term *term, fmo_operator op)
{
    return term->exchange_weight != 0.0 && fmo_operator_same(term->exchange_operator, op);
}

/* True if term t is the first one whose K has its operator. */
bool is_first(const fmo_gradient_term *terms, int t)
{
    const fmo_operator op = terms[t].exchange_operator;
    bool first = has_operator(&terms[t], op);
    for (int s = 0; s < t; s++) first = first && !has_operator(&terms[s], op);
    return first;
}

/* Sets the terms of all passes, of each molecule: those of K by operator, then J of each term. */
void set_terms(const job_group *group, const fmo_gpu_gradient *h, const call_data *d,
               fmo_gradient_density *to)
{
    const fmo_gradient_term *const alike = group->job[0]->terms;
    const int term_num = group->job[0]->term_num;
    for (int t = 0; t < term_num; t++)
        for (int m = 0; m < group->num && is_first(alike, t); m++)
            for (int s = t; s < term_num; s++)
                if (has_operator(&alike[s], alike[t].exchange_operator))
                    *to++ = {d->D + (size_t)s * h->total.matrix + h->host[m].matrix,
                             -group->job[m]->terms[s].exchange_weight};
    for (int t = 0; t < term_num; t++)
        for (int m = 0; m < group->num && alike[t].coulomb_weight != 0.0; m++)
            *to++ = {d->D + (size_t)t * h->total.matrix + h->host[m].matrix,
                     group->job[m]->terms[t].coulomb_weight};
}

/* Returns the power of two by which the largest product of density elements of a term becomes at
 * most 2^48, so that sums of 2^15 times that product fit. */
double scale_of(const fmo_gradient_job *job)
{
    const double D = job->plan->density_largest;
    double weight = 0.0;
    for (int t = 0; t < job->term_num; t++)
        weight =
            fmax(weight, fabs(job->terms[t].coulomb_weight) + fabs(job->terms[t].exchange_weight));
    const double largest = D * D * weight;
    return largest > 0.0 ? ldexp(1.0, (int)fmin(48 - ilogb(largest), 1000)) : 1.0;
}

/* ---- launches ------------------------------------------------------------------------------- */

/* Sets the operator of a pass, and its cutoffs. */
void set_operator(const fmo_fock_plan *plan, fmo_operator op, fmo_gradient_pass *pass)
{
    const double share = FMO_GRADIENT_CUTOFF_SHARE / fmo_operator_bound(op);
    pass->op = fmo_operator_given(op);
    pass->cutoff = (float)(share * plan->cutoff);
    pass->prim_cutoff = (float)(share * fmo_gpu_cutoff_share(plan, FMO_SCREEN_PRIM_SHARE));
}

/* Makes the stream of a pass wait for K. */
cudaError_t join_exchange(const fmo_gradient_pass *pass)
{
    const fmo_gpu_gradient *const h = pass->h;
    for (int s = 0; s < FMO_GRADIENT_STREAMS; s++) {
        FMO_GPU_TRY(cudaEventRecord(h->ended[s], h->stream[s]));
        FMO_GPU_TRY(cudaStreamWaitEvent(pass->stream, h->ended[s], 0));
    }
    return cudaSuccess;
}

/* Queues K, all terms with the same operator together, then J of each term that has it. */
cudaError_t queue_terms(const job_group *group, fmo_gradient_pass *pass)
{
    const fmo_gradient_job *const job = group->job[0];
    for (int t = 0; t < job->term_num; t++) {
        if (!is_first(job->terms, t)) continue;
        const fmo_operator op = job->terms[t].exchange_operator;
        pass->term_num = 0;
        for (int s = t; s < job->term_num; s++) pass->term_num += has_operator(&job->terms[s], op);
        set_operator(job->plan, op, pass);
        FMO_GPU_TRY(join_exchange(pass)); /* of another operator */
        FMO_GPU_TRY(cudaMemsetAsync(pass->h->item, 0, FMO_ERI_GPU_COUNT * sizeof *pass->h->item,
                                    pass->stream));
        FMO_GPU_TRY(fmo_gradient_exchange_maxima(pass));
        FMO_GPU_TRY(fmo_gradient_exchange_all(pass));
        pass->term += pass->term_num * group->num;
    }
    pass->term_num = 1;
    for (int t = 0; t < job->term_num; t++) {
        if (job->terms[t].coulomb_weight == 0.0) continue;
        set_operator(job->plan, job->terms[t].coulomb_operator, pass);
        FMO_GPU_TRY(fmo_gradient_densities(pass));
        FMO_GPU_TRY(fmo_gradient_coulomb(pass));
        pass->term += group->num;
    }
    return join_exchange(pass);
}

/* Queues all kernels of a call, and brings the sums back. scale: [molecules]; term: the terms of
 * all passes; both on the host. */
cudaError_t queue(const job_group *group, const fmo_gpu_gradient *h, call_data *d,
                  const double *scale, const fmo_gradient_density *term, void *sums, size_t bytes)
{
    const fmo_gpu_state *const g = group->job[0]->plan->gpu;
    const size_t terms = 2 * (size_t)group->job[0]->term_num * (size_t)group->num;
    fmo_gradient_pass pass = {};
    pass.h = h;
    pass.boys = g->boys->row[0][0];
    pass.term = d->term;
    pass.processors = g->device.processors;
    pass.shared_bytes = g->device.shared_bytes;
    pass.lacking_bytes = &d->lacking_bytes;
    pass.stream = g->device.stream;
    FMO_GPU_TRY(fmo_gpu_send(d->term, term, terms * sizeof *term, pass.stream));
    FMO_GPU_TRY(
        fmo_gpu_send(h->sums.scale, scale, (size_t)group->num * sizeof *scale, pass.stream));
    FMO_GPU_TRY(cudaMemsetAsync(h->sums.sum, 0, bytes, pass.stream));
    const cudaError_t code = queue_terms(group, &pass);
    if (code != cudaSuccess) {
        (void)join_exchange(&pass); /* kernels that run already read the caller's data */
        return code;
    }
    return fmo_gpu_bring(sums, h->sums.sum, bytes, pass.stream);
}

/* ---- a call --------------------------------------------------------------------------------- */

/* Gives the sums to the callers. */
void give(const job_group *group, const fmo_gpu_gradient *h, const double *scale,
          const long long *sums)
{
    const unsigned *const too_large = (const unsigned *)(sums + h->sums.components);
    for (int m = 0; m < group->num; m++) {
        const fmo_gradient_job *const job = group->job[m];
        const long long *const own = sums + 3 * (size_t)h->host[m].nucleus;
        if (too_large[m])
            (void)fmo_error_set(group->err[m], FMO_ERR_INPUT,
                                "fmo_fock_gradient: densities or weights are so large that the "
                                "derivatives are not finite; use smaller ones");
        else
            for (int x = 0; x < 3 * job->plan->basis->nucleus_num; x++)
                job->gradient[x] = (double)own[x] / scale[m];
    }
}

/* Runs the kernels of a group whose data are made. */
fmo_status run(const job_group *group, const fmo_gpu_gradient *h, fmo_error *err)
{
    fmo_gpu_device *const device = &group->job[0]->plan->gpu->device;
    const size_t components = (size_t)h->sums.components, num = (size_t)group->num;
    const size_t bytes = components * sizeof(long long) + num * sizeof(unsigned);
    const size_t terms = 2 * (size_t)group->job[0]->term_num * num;
    long long *const sums = (long long *)calloc(1, bytes);
    double *const scale = (double *)malloc(num * sizeof *scale);
    fmo_gradient_density *const term = (fmo_gradient_density *)calloc(terms, sizeof *term);
    call_data d = {};
    fmo_status status = sums && scale && term
                            ? copy_in(group, h, &d, err)
                            : fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a gradient");
    for (size_t m = 0; m < num && status == FMO_OK; m++) scale[m] = scale_of(group->job[m]);
    if (status == FMO_OK) {
        set_terms(group, h, &d, term);
        const cudaError_t code = queue(group, h, &d, scale, term, sums, bytes);
        if (d.lacking_bytes)
            status = fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                                   "gradient: its shells need %zu bytes of shared memory, a block "
                                   "of %s has %zu; use mode cpu",
                                   d.lacking_bytes, device->name, device->shared_bytes);
        else if (code != cudaSuccess)
            status = fmo_gpu_error(code, "gradient", err);
    }
    (void)cudaStreamSynchronize(device->stream);
    fmo_gpu_free_temporary(device, d.memory, d.bytes);
    if (status == FMO_OK) give(group, h, scale, sums);
    free(sums);
    free(scale);
    free(term);
    return status;
}

/* Computes the gradients of a group: of one job with the data that its plan keeps, of several with
 * data of their own. If there is too little memory, computes both halves one after the other. */
void run_group(const job_group *group)
{
    const fmo_gpu_range range("gradients");
    fmo_fock_plan *const first = group->job[0]->plan;
    fmo_gpu_device *const device = &first->gpu->device;
    const fmo_gpu_device_guard guard(device);
    fmo_fock_plan **const plan = (fmo_fock_plan **)malloc((size_t)group->num * sizeof *plan);
    fmo_gpu_gradient *h = group->num == 1 ? (fmo_gpu_gradient *)first->state : NULL;
    fmo_error err = {FMO_OK, ""};
    const cudaError_t code = fmo_gpu_follow(device, device->stream);
    if (code != cudaSuccess)
        (void)fmo_gpu_error(code, "gradient", &err);
    else if (!plan)
        (void)fmo_error_set(&err, FMO_ERR_MEMORY, "no memory for %d gradients", group->num);
    for (int m = 0; m < group->num && plan; m++) plan[m] = group->job[m]->plan;
    if (err.status == FMO_OK && !h) (void)fmo_gradient_make(plan, group->num, &h, &err);
    if (group->num == 1) first->state = h;
    if (err.status == FMO_OK) (void)run(group, h, &err);
    if (group->num > 1) fmo_gradient_free(device, h);
    free(plan);
    if (err.status == FMO_ERR_MEMORY && group->num > 1) {
        const int half = group->num / 2;
        const job_group parts[] = {{group->job, group->err, half},
                                   {group->job + half, group->err + half, group->num - half}};
        for (int k = 0; k < 2; k++) run_group(&parts[k]);
        return;
    }
    for (int m = 0; m < group->num && err.status != FMO_OK; m++) *group->err[m] = err;
}

/* The caller's stream of a plan; NULL: the plan has its own. */
cudaStream_t stream_of(const fmo_fock_plan *plan)
{
    return plan->gpu->device.own_stream ? NULL : plan->gpu->device.stream;
}

/* True if two jobs may be in one group: the same GPU, caller's stream, cutoffs, kinds of terms. */
bool are_alike(const fmo_gradient_job *a, const fmo_gradient_job *b)
{
    const fmo_fock_plan *const p = a->plan, *const q = b->plan;
    bool alike = p->gpu->device.number == q->gpu->device.number && stream_of(p) == stream_of(q) &&
                 p->cutoff == q->cutoff &&
                 fmo_gpu_cutoff_share(p, 1.0) == fmo_gpu_cutoff_share(q, 1.0) &&
                 a->term_num == b->term_num;
    for (int t = 0; t < a->term_num && alike; t++) {
        const fmo_gradient_term *const x = &a->terms[t], *const y = &b->terms[t];
        alike = (x->coulomb_weight == 0.0) == (y->coulomb_weight == 0.0) &&
                (x->exchange_weight == 0.0) == (y->exchange_weight == 0.0) &&
                fmo_operator_same(x->coulomb_operator, y->coulomb_operator) &&
                fmo_operator_same(x->exchange_operator, y->exchange_operator);
    }
    return alike;
}

} // namespace

void fmo_gpu_gradient_free(fmo_fock_plan *plan)
{
    fmo_gradient_free(&plan->gpu->device, (fmo_gpu_gradient *)plan->state);
    plan->state = NULL;
}

typedef cudaError_t exchange_part(const fmo_gradient_pass *pass, cudaStream_t stream);
exchange_part fmo_gradient_exchange_0, fmo_gradient_exchange_1, fmo_gradient_exchange_2,
    fmo_gradient_exchange_3, fmo_gradient_exchange_4, fmo_gradient_exchange_5,
    fmo_gradient_exchange_6, fmo_gradient_exchange_7, fmo_gradient_exchange_8,
    fmo_gradient_exchange_9;

/* Launches the kernels of each class of bras on one of the side streams, which wait for what was
 * queued before. */
cudaError_t fmo_gradient_exchange_all(const fmo_gradient_pass *pass)
{
    static exchange_part *const part[] = {fmo_gradient_exchange_1, fmo_gradient_exchange_0,
                                          fmo_gradient_exchange_2, fmo_gradient_exchange_3,
                                          fmo_gradient_exchange_4, fmo_gradient_exchange_5,
                                          fmo_gradient_exchange_6, fmo_gradient_exchange_7,
                                          fmo_gradient_exchange_8, fmo_gradient_exchange_9};
    static_assert(CLASSES == sizeof part / sizeof *part,
                  "a part of exchange.cu for each bra class");
    const fmo_gpu_range range("gradient of K");
    const fmo_gpu_gradient *const h = pass->h;
    FMO_GPU_TRY(cudaEventRecord(h->begun, pass->stream));
    for (int s = 0; s < FMO_GRADIENT_STREAMS; s++)
        FMO_GPU_TRY(cudaStreamWaitEvent(h->stream[s], h->begun, 0));
    for (int c = 0; c < CLASSES; c++)
        FMO_GPU_TRY(part[c](pass, h->stream[c % FMO_GRADIENT_STREAMS]));
    return cudaSuccess;
}

/* Forms groups of jobs that are alike, whose densities have at most so many elements together, and
 * computes them one after the other. */
extern "C" void fmo_fused_gradients(fmo_gradient_job *const *jobs, size_t num,
                                    fmo_error *const *errs)
{
    fmo_gradient_job **const job = (fmo_gradient_job **)malloc(num * sizeof *job);
    fmo_error **const err = (fmo_error **)malloc(num * sizeof *err);
    char *const taken = (char *)calloc(num, 1);
    for (size_t first = 0; first < num; first++) {
        if (!job || !err || !taken) {
            (void)fmo_error_set(errs[first], FMO_ERR_MEMORY, "no memory for %zu gradients", num);
            continue;
        }
        if (taken[first]) continue;
        job_group group = {job, err, 0};
        double elements = 0.0;
        for (size_t k = first; k < num; k++) {
            const double n = jobs[k]->plan->basis->function_num;
            if (taken[k] || !are_alike(jobs[first], jobs[k]) ||
                (group.num && elements + n * n > fmo_tuning_gpu_gradient_group_elements) ||
                group.num == fmo_tuning_gpu_gradient_group_max)
                continue;
            elements += n * n;
            taken[k] = 1;
            err[group.num] = errs[k];
            job[group.num++] = jobs[k];
        }
        run_group(&group);
    }
    free(job);
    free(err);
    free(taken);
}
