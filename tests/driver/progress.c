/* The progress bar: nothing off a terminal, nothing too early, gone at the end. The terminal is a
 * pseudo-terminal that this test reads back. */
#define _GNU_SOURCE
#include "tests/support/check.h"
#include "driver/cli/progress.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* What has arrived at the other end, control characters included. */
static void read_back(int master, char *text, size_t size)
{
    ssize_t got = read(master, text, size - 1);
    text[got > 0 ? got : 0] = '\0';
}

static FILE *open_terminal(int *master, unsigned short columns)
{
    *master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (*master < 0 || grantpt(*master) != 0 || unlockpt(*master) != 0) return NULL;
    struct winsize window = {.ws_row = 24, .ws_col = columns};
    ioctl(*master, TIOCSWINSZ, &window);
    int slave = open(ptsname(*master), O_RDWR | O_NOCTTY);
    return slave < 0 ? NULL : fdopen(slave, "w");
}

static void test_terminal(unsigned short columns, int drawn)
{
    int master;
    char text[4096];
    size_t longest;
    FILE *terminal = open_terminal(&master, columns);
    CHECK(terminal != NULL, "no pseudo-terminal");
    if (!terminal) return;
    driver_progress progress;
    driver_progress_init(&progress, terminal, true);
    driver_progress_begin(&progress, "build %d/%d", 1, 3);
    CHECK(progress.delay >= 0.5, "a delay of %g s", progress.delay);
    progress.delay = 3600.0; /* however slow this machine is */
    driver_progress_update(0.25, &progress);
    read_back(master, text, sizeof text);
    CHECK(text[0] == '\0', "drawn before the delay: '%s'", text);

    progress.delay = 0.0;
    driver_progress_update(0.5, &progress);
    read_back(master, text, sizeof text);
    CHECK((strstr(text, "50 %") != NULL) == drawn, "%d columns: '%s'", columns, text);
    CHECK((strstr(text, "build 1/3 [#") != NULL) == drawn, "%d columns: '%s'", columns, text);
    CHECK(strlen(text) <= columns, "%zu characters on %d columns", strlen(text), columns);
    CHECK(strchr(text, '\033') == NULL, "an escape sequence");

    progress.drawn = 0.0; /* as if the time to redraw had come */
    driver_progress_update(NAN, &progress);
    read_back(master, text, sizeof text);
    CHECK((strstr(text, " 0 %") != NULL) == drawn, "'%s'", text);
    progress.drawn = 0.0;
    driver_progress_update(7.0, &progress);
    read_back(master, text, sizeof text);
    CHECK((strstr(text, "100 %") != NULL) == drawn, "'%s'", text);
    longest = strlen(text);

    driver_progress_end(&progress);
    read_back(master, text, sizeof text);
    size_t length = strlen(text);
    if (drawn) {
        CHECK(length >= longest, "wiped %zu of %zu characters", length, longest);
        CHECK(text[0] == '\r' && text[length - 1] == '\r', "'%s'", text);
        CHECK(strspn(text, " \r") == length, "not wiped: '%s'", text);
    } else {
        CHECK(length == 0, "'%s'", text);
    }
    driver_progress_end(&progress);
    read_back(master, text, sizeof text);
    CHECK(text[0] == '\0', "wiped twice: '%s'", text);
    fclose(terminal);
    close(master);
}

/* With a heartbeat the bar is drawn, and its seconds go on, without an update; not after the end.
 */
static void test_heartbeat(void)
{
    int master;
    char text[4096] = "", after[64];
    size_t used = 0;
    driver_progress progress;
    FILE *terminal = open_terminal(&master, 80);
    CHECK(terminal != NULL, "no pseudo-terminal");
    if (!terminal) return;
    driver_progress_init(&progress, terminal, true);
    progress.delay = 0.0;
    progress.heartbeat = 0.2;
    driver_progress_begin(&progress, "pairs");
    for (int k = 0; k < 600 && !strstr(text, "0 %  2 s") && used + 256 < sizeof text; k++) {
        usleep(50000);
        read_back(master, text + used, sizeof text - used);
        used += strlen(text + used);
    }
    CHECK(strstr(text, "pairs [") && strstr(text, "0 %  2 s"), "seconds stand still: '%s'", text);
    driver_progress_begin(&progress, "more"); /* a new bar in place of the old one */
    driver_progress_end(&progress);
    read_back(master, text, sizeof text);
    usleep(500000);
    read_back(master, after, sizeof after);
    CHECK(after[0] == '\0', "drawn after the end: '%s'", after);
    fclose(terminal);
    close(master);
}

static void test_quiet(void)
{
    int master;
    char text[64];
    driver_progress progress;
    FILE *terminal = open_terminal(&master, 80);
    CHECK(terminal != NULL, "no pseudo-terminal");
    if (!terminal) return;
    driver_progress_init(&progress, terminal, false);
    progress.delay = 0.0;
    driver_progress_begin(&progress, "build");
    driver_progress_update(0.5, &progress);
    driver_progress_end(&progress);
    read_back(master, text, sizeof text);
    CHECK(text[0] == '\0', "'%s'", text);
    fclose(terminal);
    close(master);
}

static void test_file(void)
{
    driver_progress progress;
    FILE *file = tmpfile();
    CHECK(file != NULL, "no temporary file");
    if (!file) return;
    driver_progress_init(&progress, file, true);
    progress.delay = 0.0;
    driver_progress_begin(&progress, "build");
    driver_progress_update(0.5, &progress);
    driver_progress_end(&progress);
    CHECK(ftell(file) == 0, "%ld bytes in a file", ftell(file));
    fclose(file);
}

int main(void)
{
    int master;
    FILE *terminal = open_terminal(&master, 80);
    if (!terminal) { /* a container without /dev/pts */
        printf("skipped: no pseudo-terminal here\n");
        return CHECK_SKIP_CODE;
    }
    fclose(terminal);
    close(master);
    test_terminal(80, 1);
    test_terminal(120, 1);
    test_terminal(500, 1);
    test_terminal(40, 1);
    test_terminal(20, 0); /* too narrow for a bar */
    test_heartbeat();
    test_quiet();
    test_file();
    return check_summary();
}
