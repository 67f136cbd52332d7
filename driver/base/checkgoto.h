/* A single exit per function: the first call that fails jumps to `done` and leaves its status in
 * `status`. */
#ifndef FMO_BASE_CHECKGOTO_H
#define FMO_BASE_CHECKGOTO_H

#define CHECKGOTO(call)                  \
    do {                                 \
        status = (call);                 \
        if (status != FMO_OK) goto done; \
    } while (0)

#endif
