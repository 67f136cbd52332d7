/* Starts threads of the library that handle no signals; signals are left to the program's threads.
 */
#ifndef FMO_QUIET_THREAD_H
#define FMO_QUIET_THREAD_H

#include <pthread.h>
#include <signal.h>

/* As pthread_create, with all signals blocked in the new thread. Returns 1 if it was started. */
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
