/* A progress bar on a terminal for long builds. Nothing is drawn if the stream is not a terminal,
 * nor before `delay` seconds have passed; the bar is erased at the end. */
#ifndef FMO_DRIVER_PROGRESS_H
#define FMO_DRIVER_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

typedef struct driver_progress {
    FILE *stream;
    bool wanted;  /**< false with --quiet */
    bool enabled; /**< wanted, and the stream is a terminal */
    double delay; /**< seconds before the bar appears, default 1 */
    char label[48];
    double start; /**< start of the current task, seconds */
    double drawn; /**< when the bar was last drawn, seconds */
    int columns;  /**< number of characters on the line now; 0: none */
} driver_progress;

/** @param[in] wanted  false: never draw (--quiet) */
void driver_progress_init(driver_progress *progress, FILE *stream, bool wanted);

/** Prints a line that is not part of the bar, also if the stream is not a terminal, unless
 *  --quiet. */
void driver_progress_say(driver_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Begins a new bar with a printf-style label. */
void driver_progress_begin(driver_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Redraws the bar; passed as fmo_fock_options.progress, with the driver_progress as user. */
void driver_progress_update(double fraction, void *user);

/** Erases the bar. */
void driver_progress_end(driver_progress *progress);

#endif
