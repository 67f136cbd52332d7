/* Calls of the library that tests make: one that must be refused, and a Fock build. */
#ifndef FMO_TESTS_CALLS_H
#define FMO_TESTS_CALLS_H

#include <fmo/fock.h>

#include "tests/support/check.h"

/* A refused call returns the expected status, stores it in err too, and its message is one
 * line that contains `words`. CHECK_REFUSED clears err before the call, because the library keeps
 * the first error. */
static inline int check_refused_at(const char *file, int line, const char *call, fmo_status got,
                                   const fmo_error *err, fmo_status expected, const char *words)
{
    const int good = got == expected && err->status == expected && strstr(err->message, words) &&
                     !strchr(err->message, '\n');
    check_count++;
    check_failures += !good;
    if (!good)
        fprintf(stderr, "%s:%d: %s: status %d, expected %d with \"%s\": \"%s\"\n", file, line, call,
                (int)got, (int)expected, words, err->message);
    return good;
}

static inline void check_clear(fmo_error *err)
{
    memset(err, 0, sizeof *err);
}
#define CHECK_REFUSED(call, err, expected, words) \
    (check_clear(err), check_refused_at(__FILE__, __LINE__, #call, (call), err, expected, words))

/* A plan with these options is refused, and none is handed out; the same without err. */
static inline void check_plan_refused_at(const char *file, int line, const fmo_basis *basis,
                                         const fmo_fock_options *o, fmo_status expected,
                                         const char *words)
{
    fmo_error err = {FMO_OK, ""};
    fmo_fock_plan *plan = (fmo_fock_plan *)&err; /* must become NULL */
    const fmo_status got = fmo_fock_plan_create(basis, o, &plan, &err);
    check_refused_at(file, line, "fmo_fock_plan_create", got, &err, expected, words);
    CHECK(!plan, "%s:%d: a plan in spite of \"%s\"", file, line, words);
    CHECK(fmo_fock_plan_create(basis, o, &plan, NULL) == expected, "%s:%d: without err", file,
          line);
}
#define check_plan_refused(basis, o, expected, words) \
    check_plan_refused_at(__FILE__, __LINE__, basis, o, expected, words)

static inline fmo_fock_options fock_options(fmo_mode mode, int threads, double cutoff)
{
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = mode;
    o.threads = threads;
    o.cutoff = cutoff;
    return o;
}

/* J and K of a plan of their own, and its profile; NULL for what is not requested. 0, and a check
 * that has failed, where the library refuses. */
static inline int fock_build_at(const char *file, int line, const fmo_basis *basis,
                                const fmo_fock_options *o, const double *D, double *J, double *K,
                                fmo_fock_profile *profile)
{
    fmo_error err = {FMO_OK, ""};
    fmo_fock_plan *plan = NULL;
    fmo_status status = fmo_fock_plan_create(basis, o, &plan, &err);
    if (status == FMO_OK) status = fmo_fock_build(plan, D, J, K, &err);
    if (status == FMO_OK && profile) status = fmo_fock_plan_profile(plan, profile, &err);
    CHECK(status == FMO_OK, "%s:%d: mode %s: %s", file, line, fmo_mode_name(o->mode), err.message);
    fmo_fock_plan_destroy(plan);
    return status == FMO_OK;
}
#define fock_build(basis, o, D, J, K, profile) \
    fock_build_at(__FILE__, __LINE__, basis, o, D, J, K, profile)

#endif
