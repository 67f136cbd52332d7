/* The progress bar, made of plain characters and carriage returns, so that it works on any
 * terminal. */
#define _GNU_SOURCE
#include "driver/cli/progress.h"
#include "driver/base/clock.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const double redraw_seconds = 0.1;
enum { BAR_MAX = 40, BAR_MIN = 5, LINE_MAX_COLUMNS = 120, COLUMNS_DEFAULT = 80 };

void driver_progress_init(driver_progress *progress, FILE *stream, bool requested)
{
    memset(progress, 0, sizeof *progress);
    progress->stream = stream;
    progress->requested = requested;
    progress->enabled = requested && isatty(fileno(stream));
    progress->delay = 1.0;
    pthread_mutex_init(&progress->lock, NULL);
    pthread_cond_init(&progress->ended, NULL);
}

void driver_progress_line(driver_progress *progress, const char *format, ...)
{
    if (!progress->requested) return;
    driver_progress_end(progress);
    va_list args;
    va_start(args, format);
    vfprintf(progress->stream, format, args);
    va_end(args);
    fflush(progress->stream);
}

/* Draws the bar, at the width of the terminal, unless it was drawn a moment ago. */
static void draw(driver_progress *progress)
{
    double fraction = progress->fraction;
    const double now = driver_seconds();
    if (now - progress->start < progress->delay || now - progress->drawn < redraw_seconds) return;
    progress->drawn = now;
    fraction = isnan(fraction) ? 0.0 : fmin(fmax(fraction, 0.0), 1.0);

    struct winsize window = {0};
    int window_columns = COLUMNS_DEFAULT;
    if (ioctl(fileno(progress->stream), TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
        window_columns = window.ws_col;
    if (window_columns > LINE_MAX_COLUMNS) window_columns = LINE_MAX_COLUMNS;
    char line[LINE_MAX_COLUMNS + 1], tail[32], bar[BAR_MAX + 1];
    snprintf(tail, sizeof tail, " %3d %%  %.0f s", (int)(100.0 * fraction), now - progress->start);
    /* The last column stays free, because writing there would wrap the line. */
    int width = window_columns - 4 - (int)strlen(progress->label) - (int)strlen(tail);
    if (width > BAR_MAX) width = BAR_MAX;
    if (width < BAR_MIN) return;
    int filled = (int)(fraction * width);
    memset(bar, '.', (size_t)width);
    memset(bar, '#', (size_t)filled);
    bar[width] = '\0';
    int columns = snprintf(line, sizeof line, "%s [%s]%s", progress->label, bar, tail);
    int rest = progress->columns - columns; /* characters left over from a longer line */
    fprintf(progress->stream, "\r%s%*s", line, rest > 0 ? rest : 0, "");
    fflush(progress->stream);
    if (columns > progress->columns) progress->columns = columns;
}

/* Body of the thread that redraws the bar at intervals of progress->heartbeat seconds. */
static void *beat(void *user)
{
    driver_progress *const progress = user;
    pthread_mutex_lock(&progress->lock);
    while (progress->beats) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        const double end = (double)until.tv_nsec * 1e-9 + progress->heartbeat;
        until.tv_sec += (time_t)end;
        until.tv_nsec = (long)((end - floor(end)) * 1e9);
        pthread_cond_timedwait(&progress->ended, &progress->lock, &until);
        if (progress->beats) draw(progress);
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

/* Ends the thread, if it runs. */
static void stop_beat(driver_progress *progress)
{
    pthread_mutex_lock(&progress->lock);
    const bool beats = progress->beats;
    progress->beats = false;
    pthread_cond_signal(&progress->ended);
    pthread_mutex_unlock(&progress->lock);
    if (beats) pthread_join(progress->thread, NULL);
}

void driver_progress_begin(driver_progress *progress, const char *format, ...)
{
    va_list args;
    stop_beat(progress);
    va_start(args, format);
    vsnprintf(progress->label, sizeof progress->label, format, args);
    va_end(args);
    progress->start = driver_seconds();
    progress->drawn = progress->fraction = 0.0;
    if (!progress->enabled || !(progress->heartbeat > 0.0)) return;
    progress->beats = true;
    if (pthread_create(&progress->thread, NULL, beat, progress) != 0) progress->beats = false;
}

void driver_progress_update(double fraction, void *user)
{
    driver_progress *progress = user;
    if (!progress->enabled) return;
    pthread_mutex_lock(&progress->lock);
    progress->fraction = fraction;
    draw(progress);
    pthread_mutex_unlock(&progress->lock);
}

void driver_progress_end(driver_progress *progress)
{
    stop_beat(progress);
    if (progress->columns > 0) {
        fprintf(progress->stream, "\r%*s\r", progress->columns, "");
        fflush(progress->stream);
    }
    progress->columns = 0;
}
