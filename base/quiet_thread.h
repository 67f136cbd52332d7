/* A thread of the library's own, in which no signal is handled: signals are for the program's. */
#ifndef FMO_QUIET_THREAD_H
#define FMO_QUIET_THREAD_H

#include <pthread.h>
#include <signal.h>

/* As pthread_create. @return whether it was started */
static inline int fmo_start_quiet_thread(pthread_t *thread, void *(*run)(void *), void *user)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int started = pthread_create(thread, NULL, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

#endif
