/* Signal handlers of the programs. See interrupt.h. */
#define _GNU_SOURCE
#include "driver/base/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static atomic_int held, arrived; /* lock-free, so a signal handler may access them */
static _Atomic(const char *) advice;

void driver_interrupt_advise(const char *line)
{
    atomic_store(&advice, line);
}

static void end_by(int signal_number)
{
    const char *const line = atomic_load(&advice);
    if (line && write(STDERR_FILENO, line, strlen(line)) < 0) atomic_store(&advice, NULL);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Postpones the first signal that arrives while signals are held; otherwise ends the program. */
static void handle(int signal_number)
{
    int none = 0;
    if (atomic_load(&held) && atomic_compare_exchange_strong(&arrived, &none, signal_number))
        return;
    end_by(signal_number);
}

/* Installs the handler for SIGINT, SIGTERM and SIGHUP where the default action is in effect. */
void driver_interrupt_init(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction before, ours = {.sa_handler = handle, .sa_flags = SA_RESTART};
        sigemptyset(&ours.sa_mask);
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
    }
}

void driver_interrupt_hold(void)
{
    atomic_store(&held, 1);
}

void driver_interrupt_release(void)
{
    atomic_store(&held, 0);
    const int signal_number = atomic_exchange(&arrived, 0);
    if (signal_number) end_by(signal_number);
}
