/* A progress bar on a terminal, for builds that last. Nothing is drawn on anything that is not a
 * terminal, nor before `delay` seconds; the bar is wiped away at the end. */
#ifndef FMO_DRIVER_PROGRESS_H
#define FMO_DRIVER_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

typedef struct driver_progress {
    FILE *stream;
    bool wanted;  /**< not --quiet */
    bool enabled; /**< and on a terminal */
    double delay; /**< seconds before the bar appears, default 1 */
    char label[48];
    double start; /**< of this build */
    double drawn; /**< when the bar was last drawn */
    int columns;  /**< characters on the line now, 0: none */
} driver_progress;

/** @param[in] wanted  false: never draw (--quiet) */
void driver_progress_init(driver_progress *progress, FILE *stream, bool wanted);

/** A line that is no bar, on a terminal or not: what is about to be done and will take long. */
void driver_progress_say(driver_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** A new bar, printf-style label in front of it. */
void driver_progress_begin(driver_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** fmo_fock_options.progress; user is the driver_progress. */
void driver_progress_update(double fraction, void *user);

/** Wipe the bar away. */
void driver_progress_end(driver_progress *progress);

#endif
