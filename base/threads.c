/* Number of threads that the machine can use and the system allows. If a limit may be close, the
 * number is found by trial: threads are started, counted and ended. See threads.h. */
#include "base/threads.h"
#include "base/stack.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Reads a number from a file; returns `otherwise` if there is none. */
static long long number_in(const char *path, const char *format, long long otherwise)
{
    long long number;
    FILE *f = fopen(path, "r");
    if (!f) return otherwise;
    if (fscanf(f, format, &number) != 1) number = otherwise;
    fclose(f);
    return number;
}

/* Returns 1 if the control group of this path, or one above it, may not allow `capacity` more
 * threads. */
static int group_limit_is_near(const char *root, char *path, long long capacity)
{
    char file[600];
    for (;;) {
        snprintf(file, sizeof file, "%s%s/pids.max", root, path);
        const long long limit = number_in(file, "%lld", -1); /* -1 for "max": no limit */
        snprintf(file, sizeof file, "%s%s/pids.current", root, path);
        if (limit >= 0 && number_in(file, "%lld", limit) + capacity > limit) return 1;
        char *const slash = strrchr(path, '/');
        if (!slash) return 0;
        *slash = '\0';
    }
}

/* Returns 1 if a limit (address space, processes of the user, control groups) may stop this process
 * before it has started that many threads. */
static int limits_are_near(int threads)
{
    const long long capacity = 2LL * threads; /* OpenBLAS may start as many again */
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return 1;
    /* The user has at most as many threads as the whole system. */
    if (getrlimit(RLIMIT_NPROC, &limit) != 0) return 1;
    if (limit.rlim_cur != RLIM_INFINITY) {
        const long long all = number_in("/proc/loadavg", "%*f %*f %*f %*d/%lld", -1);
        if (all < 0 || limit.rlim_cur < (rlim_t)(all + capacity)) return 1;
    }
    char line[512];
    int near = 0;
    FILE *f = fopen("/proc/self/cgroup", "r");
    while (f && !near && fgets(line, sizeof line, f)) {
        char *const path = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (path && strncmp(line, "0::", 3) == 0)
            near = group_limit_is_near("/sys/fs/cgroup", path, capacity);
        if (path && strstr(line, ":pids:"))
            near = group_limit_is_near("/sys/fs/cgroup/pids", path, capacity);
    }
    if (f) fclose(f);
    return near;
}

static void *wait_for_lock(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

/* Returns how many threads can run at once, up to `threads`, this one included; found by starting
 * them. */
static int try_threads(int threads)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *const other = malloc((size_t)threads * sizeof *other);
    int started = 0;
    if (!other) return 1;
    pthread_mutex_lock(&lock);
    while (started + 1 < threads &&
           pthread_create(&other[started], NULL, wait_for_lock, &lock) == 0)
        started++;
    pthread_mutex_unlock(&lock);
    for (int t = 0; t < started; t++) pthread_join(other[t], NULL);
    free(other);
    return started + 1;
}

int fmo_threads(int requested)
{
    const int processors = omp_get_num_procs();
    const int limit = processors > FMO_THREADS_ALWAYS / FMO_THREADS_PER_PROCESSOR
                          ? FMO_THREADS_PER_PROCESSOR * processors
                          : FMO_THREADS_ALWAYS;
    int threads = requested > 0 ? requested : omp_get_max_threads();
    if (threads > limit) threads = limit;
    if (threads < 2 || !fmo_stack_is_enough_for_team()) return 1;
    if (!limits_are_near(threads)) return threads;
    const int possible = try_threads(threads);
    return possible < threads && possible > 1 ? possible / 2 : possible;
}

int fmo_threads_for(int threads, double shares)
{
    if (threads < 2 || shares >= threads || getenv("FMO_TEST_TEAMS")) return threads;
    return shares > 1.0 ? (int)shares : 1;
}

int fmo_threads_alone(int threads)
{
    return threads <= 1 && omp_get_level() == 0;
}
