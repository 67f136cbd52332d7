/* kmeans: one iteration of k-means. Published on a Tesla C1060: 29,696 samples, 1000 clusters,
 * centroids staged through shared memory in strips. The new centroids are sums over samples: a
 * scatter-add to clusters x dimensions addresses through the strategies. The published text does
 * not give the number of dimensions; the default is 32. Next: kmeans.cu. */
#define _GNU_SOURCE
#include "kmeans.h"
#include "driver/base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 255, NOISE = 32 };

void kmeans_check_nearest(const kmeans_case *c, int64_t n, bench_check *check)
{
    for (int64_t i = 0; i < n; i++) bench_check_exact(check, c->nearest_back[i] == c->nearest[i]);
}

static void add_samples(const kmeans_case *c, int64_t n, double *sum)
{
    const int64_t width = c->dimensions + 1;
    memset(sum, 0, (size_t)kmeans_sums(c) * sizeof *sum);
    for (int64_t i = 0; i < n; i++) {
        double *to = sum + c->nearest[i] * width;
        for (int d = 0; d < c->dimensions; d++) to[d] += c->sample[d * c->samples + i];
        to[c->dimensions] += 1.0;
    }
}

void kmeans_check_sum(const kmeans_case *c, int64_t n, bench_check *check)
{
    double *part = NULL;
    if (n != c->samples) {
        part = malloc((size_t)kmeans_sums(c) * sizeof *part + 1);
        if (!part) {
            bench_check_exact(check, false);
            return;
        }
        add_samples(c, n, part);
    }
    const double *expected = part ? part : c->sum;
    for (int64_t s = 0; s < kmeans_sums(c); s++)
        bench_check_exact(check, c->sum_back[s] == expected[s]);
    free(part);
}

void kmeans_cell_fill(const kmeans_case *c, int64_t strip, bench_cell *cell)
{
    snprintf(cell->table, sizeof cell->table, "%s, %lld samples, %d clusters, %d dimensions",
             strip >= 0 ? "nearest centroid, by strip" : "new centroids", (long long)c->samples,
             c->clusters, c->dimensions);
    if (strip > 0)
        snprintf(cell->column, sizeof cell->column, "%lld", (long long)strip);
    else
        snprintf(cell->column, sizeof cell->column, "%s", strip == 0 ? "none" : "update");
    bench_cell_number(cell, "clusters", c->clusters);
    bench_cell_number(cell, "dimensions", c->dimensions);
    if (strip > 0) bench_cell_number(cell, "strip", (double)strip);
}

/* ---- CPU ----------------------------------------------------------------------------------- */

typedef struct cpu_data {
    const kmeans_case *c;
    const float *rows; /* [samples][dimensions] */
    bool parallel;
} cpu_data;

/* Finds the nearest centroid of the first n samples; returns seconds. */
static double cpu_nearest(void *user, int64_t n)
{
    const cpu_data *data = user;
    const kmeans_case *c = data->c;
    const int dimensions = c->dimensions;
    const double begin = driver_seconds();
#pragma omp parallel for schedule(static) if (data->parallel)
    for (int64_t i = 0; i < n; i++) {
        const float *x = data->rows + i * dimensions;
        float least = INFINITY;
        int32_t nearest = 0;
        for (int k = 0; k < c->clusters; k++) {
            const float *y = c->centroid + (int64_t)k * dimensions;
            float distance = 0.0f;
            for (int d = 0; d < dimensions; d++) distance += (x[d] - y[d]) * (x[d] - y[d]);
            if (distance < least) least = distance, nearest = k;
        }
        c->nearest_back[i] = nearest;
    }
    return driver_seconds() - begin;
}

static void cpu_clear(void *user, int64_t n)
{
    const cpu_data *data = user;
    (void)n;
    memset(data->c->sum_back, 0, (size_t)kmeans_sums(data->c) * sizeof *data->c->sum_back);
}

/* Adds the first n samples to the sums of their clusters; returns seconds. */
static double cpu_update(void *user, int64_t n)
{
    const cpu_data *data = user;
    const kmeans_case *c = data->c;
    const int dimensions = c->dimensions;
    const double begin = driver_seconds();
    if (!data->parallel) {
        for (int64_t i = 0; i < n; i++) {
            double *to = c->sum_back + (int64_t)c->nearest[i] * (dimensions + 1);
            for (int d = 0; d < dimensions; d++) to[d] += data->rows[i * dimensions + d];
            to[dimensions] += 1.0;
        }
    } else {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++) {
            double *to = c->sum_back + (int64_t)c->nearest[i] * (dimensions + 1);
            for (int d = 0; d < dimensions; d++) {
#pragma omp atomic
                to[d] += data->rows[i * dimensions + d];
            }
#pragma omp atomic
            to[dimensions] += 1.0;
        }
    }
    return driver_seconds() - begin;
}

static void check_nearest(void *user, int64_t n, bench_check *check)
{
    kmeans_check_nearest(((const cpu_data *)user)->c, n, check);
}
static void check_sum(void *user, int64_t n, bench_check *check)
{
    kmeans_check_sum(((const cpu_data *)user)->c, n, check);
}

/* Measures both steps, serial and with OpenMP. */
static void run_cpu(bench_run *run, const kmeans_case *c, const float *rows)
{
    for (int parallel = 0; parallel < 2; parallel++) {
        const char *method = parallel ? "openmp" : "serial";
        cpu_data data = {c, rows, parallel};
        bench_cell cell = bench_cell_make(run, BENCH_ON_CPU, method, NULL, "distances");
        kmeans_cell_fill(c, 0, &cell);
        bench_cell_number(&cell, "threads", parallel ? run->threads : 1);
        bench_task task = {.user = &data,
                           .units = c->samples,
                           .weight = c->clusters,
                           .representative = 64,
                           .run = cpu_nearest,
                           .check = check_nearest};
        bench_measure(run, &cell, &task);
    }
    for (int parallel = 0; parallel < 2; parallel++) {
        const char *method = parallel ? "openmp atomic" : "serial";
        cpu_data data = {c, rows, parallel};
        bench_cell cell = bench_cell_make(run, BENCH_ON_CPU, method, NULL, "updates");
        kmeans_cell_fill(c, -1, &cell);
        bench_cell_number(&cell, "threads", parallel ? run->threads : 1);
        snprintf(cell.against, sizeof cell.against, "gpu native/native");
        bench_task task = {.user = &data,
                           .units = c->samples,
                           .weight = c->dimensions + 1,
                           .representative = 1024,
                           .prepare = cpu_clear,
                           .run = cpu_update,
                           .check = check_sum};
        bench_measure(run, &cell, &task);
    }
}

/* ---- both ---------------------------------------------------------------------------------- */

/* Coordinate d of sample i; samples are scattered around as many centres as there are clusters. */
static float sample_value(uint64_t seed, int64_t i, int d, int clusters)
{
    const int64_t centre = bench_below(bench_hash(seed, (uint64_t)i), clusters);
    const uint64_t at = (uint64_t)(centre * 256 + d), own = (uint64_t)(i * 256 + d);
    int64_t value = bench_below(bench_hash(seed + 1, at), VALUE_MAX + 1);
    value += bench_below(bench_hash(seed + 2, own), NOISE) - NOISE / 2;
    return (float)(value < 0 ? 0 : value > VALUE_MAX ? VALUE_MAX : value);
}

/* Does the iterations before the timed one; leaves the reference of the timed one in nearest and
 * sum. */
static void iterate(bench_run *run, kmeans_case *c, const float *rows, float *centroid,
                    int32_t *nearest, double *sum)
{
    cpu_data data = {c, rows, true};
    const int64_t width = c->dimensions + 1;
    int32_t *const back = c->nearest_back;
    c->nearest_back = nearest;
    for (int64_t s = 0; s <= run->options->sweeps; s++) {
        cpu_nearest(&data, c->samples);
        add_samples(c, c->samples, sum);
        if (s == run->options->sweeps) break;
        for (int k = 0; k < c->clusters; k++) {
            const double count = sum[k * width + c->dimensions];
            for (int d = 0; d < c->dimensions && count > 0.0; d++)
                centroid[(int64_t)k * c->dimensions + d] =
                    rintf((float)(sum[k * width + d] / count));
        }
    }
    c->nearest_back = back;
}

/* Generates the samples, does the iterations before the timed one, and measures. */
void bench_kmeans(bench_run *run)
{
    const bench_options *o = run->options;
    kmeans_case c = {
        .samples = o->samples, .clusters = (int)o->clusters, .dimensions = (int)o->dimensions};
    const size_t samples = (size_t)c.samples, values = samples * (size_t)c.dimensions;
    const size_t centres = (size_t)c.clusters * (size_t)c.dimensions;
    float *sample = bench_alloc(run, values, sizeof *sample, "samples");
    float *rows = bench_alloc(run, values, sizeof *rows, "samples");
    float *centroid = bench_alloc(run, centres, sizeof *centroid, "centroids");
    int32_t *nearest = bench_alloc(run, samples, sizeof *nearest, "nearest centroids");
    double *sum = bench_alloc(run, (size_t)kmeans_sums(&c), sizeof *sum, "sums");
    c.nearest_back = bench_alloc(run, samples, sizeof *c.nearest_back, "nearest centroids");
    c.sum_back = bench_alloc(run, (size_t)kmeans_sums(&c), sizeof *c.sum_back, "sums");
    if (run->err.status == FMO_OK) {
        const uint64_t seed = (uint64_t)o->seed;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < c.samples; i++)
            for (int d = 0; d < c.dimensions; d++)
                sample[d * c.samples + i] = rows[i * c.dimensions + d] =
                    sample_value(seed, i, d, c.clusters);
        for (int k = 0; k < c.clusters; k++) /* the first samples, or further values like them */
            for (int d = 0; d < c.dimensions; d++)
                centroid[(int64_t)k * c.dimensions + d] = sample_value(seed, k, d, c.clusters);
        c.sample = sample;
        c.centroid = centroid;
        c.nearest = nearest;
        c.sum = sum;
        iterate(run, &c, rows, centroid, nearest, sum);
        if (run->cpu) run_cpu(run, &c, rows);
        if (run->gpu) bench_kmeans_gpu(run, &c);
    }
    free(sample);
    free(rows);
    free(centroid);
    free(nearest);
    free(sum);
    free(c.nearest_back);
    free(c.sum_back);
}
