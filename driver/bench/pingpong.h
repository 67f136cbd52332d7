/* Shared by the parts of pingpong: processes, numbers of rounds, and storing of results. */
#ifndef FMO_BENCH_PINGPONG_H
#define FMO_BENCH_PINGPONG_H

#include "ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pingpong {
    bench_world world; /* both ranks in one process, or one of two processes */
    int repeats;
} pingpong;

/** Number of round trips that are timed together: 1000 as in the paper, fewer for long messages. */
int pingpong_rounds(int64_t bytes);

/** A cell of the result: messages of so many bytes by one method. */
typedef struct pingpong_cell {
    bench_place place;
    const char *table, *method;
    int64_t bytes;
    bool checked; /* the received bytes were compared */
} pingpong_cell;

/** Stores a cell with the result: `seconds` of `repeats` runs, each for one message one way or for
 *  one call. If seconds[0] is negative, the cell is left out, with the note as reason. */
void pingpong_keep(bench_run *run, const pingpong *p, pingpong_cell cell, const double *seconds,
                   const char *note);

#ifdef __cplusplus
}
#endif
#endif
