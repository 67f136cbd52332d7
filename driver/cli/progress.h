/* A progress bar on a terminal for long builds. Nothing is drawn if the stream is not a terminal,
 * nor before `delay` seconds have passed; the bar is erased at the end. With a heartbeat a thread
 * redraws it while nothing is reported, so that its seconds do not stand still. */
#ifndef FMO_DRIVER_PROGRESS_H
#define FMO_DRIVER_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct driver_progress {
    FILE *stream;
    bool requested;   /**< false with --quiet */
    bool enabled;     /**< requested, and the stream is a terminal */
    double delay;     /**< seconds before the bar appears, default 1 */
    double heartbeat; /**< seconds between redraws without an update; 0, the default: none. Set it
                         before driver_progress_begin, and call driver_progress_end on every path */
    double fraction;  /**< of the last update */
    char label[48];
    double start; /**< start of the current task, seconds */
    double drawn; /**< when the bar was last drawn, seconds */
    int columns;  /**< number of characters on the line now; 0: none */
    bool beats;   /**< the thread of the heartbeat runs */
    pthread_t thread;
    pthread_mutex_t lock; /**< held while the bar is drawn or erased */
    pthread_cond_t ended; /**< signals the thread that `beats` is false */
} driver_progress;

/** @param[in] requested  false: never draw (--quiet) */
void driver_progress_init(driver_progress *progress, FILE *stream, bool requested);

/** Prints a line that is not part of the bar, also if the stream is not a terminal, unless
 *  --quiet. */
void driver_progress_line(driver_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Begins a new bar with a printf-style label. */
void driver_progress_begin(driver_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Redraws the bar; passed as fmo_fock_options.progress, with the driver_progress as user. */
void driver_progress_update(double fraction, void *user);

/** Erases the bar. */
void driver_progress_end(driver_progress *progress);

#endif
