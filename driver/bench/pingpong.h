/* What the parts of pingpong share: who takes part, how often, how results are kept and shown. */
#ifndef FMO_BENCH_PINGPONG_H
#define FMO_BENCH_PINGPONG_H

#include "ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pingpong {
    bench_world world; /* two ends in one process, or one of two processes */
    int repeats;
} pingpong;

/** Messages there and back that are timed together: the paper's 1000, fewer of long ones. */
int pingpong_rounds(int64_t bytes);

/** A cell in the table `table`, and the result: `seconds` of `repeats` runs, each for one message
 * one way (or one call). A negative number of seconds leaves it out, with a note;
 *  checked: the bytes that came were compared. */
void pingpong_keep(bench_run *run, const pingpong *p, bench_place place, const char *table,
                   const char *method, int64_t bytes, const double *seconds, bool checked,
                   const char *note);

#ifdef __cplusplus
}
#endif
#endif
