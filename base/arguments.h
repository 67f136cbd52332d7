/* Checks of the arguments of public calls: NULL pointers and arrays that overlap. Header only,
 * because libfmo_scf, which sees only the exported functions of libfmo, uses it too. */
#ifndef FMO_ARGUMENTS_H
#define FMO_ARGUMENTS_H

#include <stddef.h>
#include <stdint.h>
#include <fmo/status.h>

/* A pointer argument with its name in the public header. bytes is the size of an array, and 0 for
 * other objects; written is 1 for output arrays, and 2 for those that may be NULL. */
typedef struct fmo_argument {
    const char *name;
    const void *at;
    size_t bytes;
    int written;
} fmo_argument;

#define FMO_GIVEN(pointer)                      \
    {                                           \
#pointer, (const void *)(pointer), 0, 0 \
    }
#define FMO_READ(pointer, bytes)                      \
    {                                                 \
#pointer, (const void *)(pointer), (bytes), 0 \
    }
#define FMO_WRITTEN(pointer, bytes)                   \
    {                                                 \
#pointer, (const void *)(pointer), (bytes), 1 \
    }
#define FMO_MAY_WRITE(pointer, bytes)                                 \
    {                                                                 \
#pointer, (const void *)(pointer), (pointer) ? (bytes) : 0, 2 \
    }

/* Returns 1 if two arrays share bytes and at least one of them is written. */
static inline int fmo_arguments_overlap(const fmo_argument *a, const fmo_argument *b)
{
    const uintptr_t p = (uintptr_t)a->at, q = (uintptr_t)b->at;
    return (a->written || b->written) && (p < q ? q - p < a->bytes : p - q < b->bytes) &&
           a->bytes && b->bytes;
}

/* Returns FMO_OK, or FMO_ERR_ARGUMENT with a message such as "CALL: density is NULL" or "CALL:
 * coulomb and exchange overlap: ...". */
static inline fmo_status fmo_arguments_check(const char *call, const fmo_argument *a, size_t count,
                                             fmo_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!a[i].at && a[i].written != 2)
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: %s is NULL", call, a[i].name);
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (fmo_arguments_overlap(&a[i], &a[j]))
                return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                     "%s: %s and %s overlap: give each an array of its own", call,
                                     a[i].name, a[j].name);
    return FMO_OK;
}

/* Usage: FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(plan), FMO_READ(density, bytes), ...) */
#define FMO_CHECK_ARGUMENTS(call, err, ...)                          \
    fmo_arguments_check((call), (const fmo_argument[]){__VA_ARGS__}, \
                        sizeof((const fmo_argument[]){__VA_ARGS__}) / sizeof(fmo_argument), (err))

#endif
