/* A very small test harness: checks that print what was wrong, go on, and make main fail.
 * Usage: CHECK(cond, "format", ...); check_close(name, got, expected, n, ncol, atol, rtol);
 * and `return check_summary();` at the end of main. Does not rely on assert. */
#ifndef FMO_TESTS_CHECK_H
#define FMO_TESTS_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK_SKIP_CODE 77

/* Processor time of this process, which does not depend on the load of the machine. */
static inline double check_cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static long check_count, check_failures;

#define CHECK(cond, ...)                                               \
    do {                                                               \
        check_count++;                                                 \
        if (!(cond)) {                                                 \
            check_failures++;                                          \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #cond); \
            fprintf(stderr, __VA_ARGS__);                              \
            fputc('\n', stderr);                                       \
        }                                                              \
    } while (0)

/* "FILE:LINE" of the caller. */
#define CHECK_TEXT_(x) #x
#define CHECK_TEXT(x)  CHECK_TEXT_(x)
#define CHECK_HERE     __FILE__ ":" CHECK_TEXT(__LINE__)

/* |got - expected| <= atol + rtol |expected| for n elements; prints the worst and its row and
 * column (ncol columns a row). NaN never passes. Returns the largest absolute error. */
static inline double check_close_at(const char *here, const char *name, const double *got,
                                    const double *expected, size_t n, size_t ncol, double atol,
                                    double rtol)
{
    size_t worst = 0, bad = 0;
    double worst_excess = -INFINITY, largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        double error = fabs(got[i] - expected[i]);
        double excess = error - (atol + rtol * fabs(expected[i]));
        if (!(excess <= 0.0)) bad++;
        if (!(excess <= worst_excess)) worst_excess = isnan(excess) ? INFINITY : excess, worst = i;
        if (!(error <= largest)) largest = error;
    }
    check_count++;
    if (bad) {
        check_failures++;
        fprintf(stderr,
                "%s: %s: %zu of %zu elements off, worst at (%zu,%zu): got %.17g, expected %.17g, "
                "difference %.3g\n",
                here, name, bad, n, worst / ncol, worst % ncol, got[worst], expected[worst],
                got[worst] - expected[worst]);
    }
    return largest;
}
#define check_close(name, got, expected, n, ncol, atol, rtol) \
    check_close_at(CHECK_HERE, name, got, expected, n, ncol, atol, rtol)

static inline int check_summary(void)
{
    printf("%ld checks, %ld failed\n", check_count, check_failures);
    return check_failures || !check_count ? 1 : 0;
}

/* A test that needs a GPU and has none: skipped, or failed when FMO_REQUIRE_GPU=1. */
static inline int check_skip(const char *why)
{
    const char *require = getenv("FMO_REQUIRE_GPU");
    printf("skipped: %s\n", why);
    return require && strcmp(require, "0") != 0 && *require ? 1 : CHECK_SKIP_CODE;
}

/* Deterministic random numbers, uniform in [0,1). */
static inline double check_random(unsigned long long *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    unsigned long long x = *state;
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    return (double)(x >> 11) * 0x1p-53;
}

/* The same in [a,b). */
static inline double random_between(unsigned long long *state, double a, double b)
{
    return a + (b - a) * check_random(state);
}

#endif
