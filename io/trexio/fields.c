/* The tables of fields.h as arrays, indexed by fmo_field_id, fmo_attribute_id and fmo_dim. */
#include "io/trexio/fields.h"

#define KIND_double  KIND_REAL
#define KIND_int64_t KIND_INTEGER

const fmo_field fmo_fields[FIELD_COUNT] = {
#define ROW(g, n, type, d0, d1) \
    [FIELD_##g##_##n] = {       \
        .group = #g, .name = #g "_" #n, .title = #g "/" #n, .kind = KIND_##type, .dim = {d0, d1}},
    FMO_TREXIO_ARRAY_TABLE(ROW)
#undef ROW
#define ROW(g, n, type, d0, d1, what, remedy) \
    [FIELD_##g##_##n] = {.group = #g,         \
                         .name = #g "_" #n,   \
                         .title = #g "/" #n,  \
                         .kind = KIND_##type, \
                         .dim = {d0, d1},     \
                         .note = what,        \
                         .cure = remedy},
        FMO_ZERO_ARRAY_TABLE(ROW)
#undef ROW
#define ROW(g, n, type, d0, d1, units)           \
    [FIELD_##g##_##n] = {.group = #g,            \
                         .name = #n,             \
                         .title = "/" #g "/" #n, \
                         .kind = KIND_##type,    \
                         .dim = {d0, d1},        \
                         .note = units},
            FMO_OWN_ARRAY_TABLE(ROW)
#undef ROW
                [FIELD_nucleus_label] = {.group = "nucleus",
                                         .name = "nucleus_label",
                                         .title = "nucleus/label",
                                         .kind = KIND_STRING,
                                         .dim = {DIM_NUCLEUS, DIM_NONE}},
};

const fmo_attribute fmo_attributes[ATTR_COUNT] = {
#define ROW(g, n) [ATTR_##g##_##n] = {#g, #g "_" #n, #g "/" #n},
    FMO_TREXIO_ATTRIBUTE_TABLE(ROW)
#undef ROW
#define ROW(g, n) [ATTR_##g##_##n] = {#g, #n, "/" #g " (attribute " #n ")"},
        FMO_OWN_ATTRIBUTE_TABLE(ROW)
#undef ROW
};

const fmo_count fmo_counts[DIM_COUNT] = {
#define ROW(id, g, n, limit) [id] = {ATTR_##g##_##n, limit},
    FMO_COUNT_TABLE(ROW)
#undef ROW
};
