/* Functions that return the names and descriptions in an X(enumerator, name, text) table. */
#ifndef FMO_NAMES_H
#define FMO_NAMES_H

#include <stddef.h>

#define FMO_NAMES_NAME(e, name, text) [e] = name,
#define FMO_NAMES_TEXT(e, name, text) [e] = text,

/* Defines prefix_name() and prefix_text() for an enum; both return NULL if out of range. */
#define FMO_NAMES(prefix, type, TABLE)                                          \
    const char *prefix##_name(type value)                                       \
    {                                                                           \
        static const char *const name[] = {TABLE(FMO_NAMES_NAME)};              \
        return (size_t)value < sizeof name / sizeof *name ? name[value] : NULL; \
    }                                                                           \
    const char *prefix##_text(type value)                                       \
    {                                                                           \
        static const char *const text[] = {TABLE(FMO_NAMES_TEXT)};              \
        return (size_t)value < sizeof text / sizeof *text ? text[value] : NULL; \
    }

#endif
