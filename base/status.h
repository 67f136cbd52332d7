/* Status codes and the error message that every fmo call can return. The library never prints,
 * exits or keeps global state: a failing call returns a status and, if the caller passed an
 * fmo_error, one line that names the cause and the cure. */
#ifndef FMO_STATUS_H
#define FMO_STATUS_H

#if defined(_WIN32)
#define FMO_API
#else
#define FMO_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, exit code of fmo-driver, short text) */
#define FMO_STATUS_TABLE(X)                                  \
    X(FMO_OK, 0, "success")                                  \
    X(FMO_ERR_CHECK, 1, "a numerical self-check failed")     \
    X(FMO_ERR_ARGUMENT, 2, "invalid argument")               \
    X(FMO_ERR_UNSUPPORTED, 2, "not supported by this build") \
    X(FMO_ERR_INPUT, 3, "unusable input")                    \
    X(FMO_ERR_OUTPUT, 3, "output could not be written")      \
    X(FMO_ERR_NO_DEVICE, 4, "no usable GPU")                 \
    X(FMO_ERR_DEVICE, 4, "GPU fault")                        \
    X(FMO_ERR_MEMORY, 5, "out of memory")

/** Status of a call; FMO_OK is 0. */
typedef enum fmo_status {
#define FMO_STATUS_ENUM(name, code, text) name,
    FMO_STATUS_TABLE(FMO_STATUS_ENUM)
#undef FMO_STATUS_ENUM
        FMO_STATUS_COUNT
} fmo_status;

/** The first error of a call. Initialise it with `fmo_error err = {FMO_OK, ""};`. */
typedef struct fmo_error {
    fmo_status status; /**< FMO_OK: no error so far */
    char message[512]; /**< one line, no newline, UTF-8 */
} fmo_error;

/** Short text of a status ("out of memory"); never NULL. */
FMO_API const char *fmo_status_text(fmo_status status);

/** Process exit code that fmo-driver uses for a status: 0, 1, 2, 3, 4 or 5. */
FMO_API int fmo_status_exit_code(fmo_status status);

/** Records an error. The first error wins: an err that already has one is not changed.
 *  @param[in,out] err may be NULL
 *  @param[in] format printf-style; the result is truncated to fit, and characters that are not
 *          printable become '?'
 *  @return status, for use as `return fmo_error_set(err, FMO_ERR_INPUT, ...)` */
FMO_API fmo_status fmo_error_set(fmo_error *err, fmo_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

#ifdef __cplusplus
}
#endif
#endif
