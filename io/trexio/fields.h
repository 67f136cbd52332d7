/* Names of all fields of a data set or result file in HDF5, as tables.
 *
 * TREXIO stores field `basis.exponent` as dataset /basis/basis_exponent, and numbers and strings as
 * attributes of the group; messages call it basis/exponent. Names and dimensions: the TREXIO
 * specification, https://trex-coe.github.io/trexio/trex.html. Next: reader.h, read.c. */
#ifndef FMO_IO_TREXIO_FIELDS_H
#define FMO_IO_TREXIO_FIELDS_H

#include <stddef.h>
#include <stdint.h>

/* Names of the dimensions of arrays, and the attributes that hold their values. DIM_3 is always
 * 3. */
/* X(enumerator, group, attribute, largest accepted value) */
#define FMO_COUNT_TABLE(X)                 \
    X(DIM_NUCLEUS, nucleus, num, 46340)    \
    X(DIM_SHELL, basis, shell_num, 46340)  \
    X(DIM_PRIM, basis, prim_num, 10000000) \
    X(DIM_AO, ao, num, 278040)             \
    X(DIM_MO, mo, num, 1000000)

typedef enum fmo_dim {
    DIM_NONE,
#define ROW(id, group, name, largest) id,
    FMO_COUNT_TABLE(ROW)
#undef ROW
        DIM_3,
    DIM_COUNT
} fmo_dim;

/* Arrays that are read. X(group, name, C type, dimension, dimension) */
#define FMO_TREXIO_ARRAY_TABLE(X)                          \
    X(nucleus, charge, double, DIM_NUCLEUS, DIM_NONE)      \
    X(nucleus, coord, double, DIM_NUCLEUS, DIM_3)          \
    X(basis, nucleus_index, int64_t, DIM_SHELL, DIM_NONE)  \
    X(basis, shell_ang_mom, int64_t, DIM_SHELL, DIM_NONE)  \
    X(basis, shell_factor, double, DIM_SHELL, DIM_NONE)    \
    X(basis, shell_index, int64_t, DIM_PRIM, DIM_NONE)     \
    X(basis, exponent, double, DIM_PRIM, DIM_NONE)         \
    X(basis, coefficient, double, DIM_PRIM, DIM_NONE)      \
    X(basis, prim_factor, double, DIM_PRIM, DIM_NONE)      \
    X(ao, shell, int64_t, DIM_AO, DIM_NONE)                \
    X(ao, normalization, double, DIM_AO, DIM_NONE)         \
    X(ao_1e_int, overlap, double, DIM_AO, DIM_AO)          \
    X(ao_1e_int, core_hamiltonian, double, DIM_AO, DIM_AO) \
    X(ao_1e_int, kinetic, double, DIM_AO, DIM_AO)          \
    X(ao_1e_int, potential_n_e, double, DIM_AO, DIM_AO)    \
    X(ao_1e_int, ecp, double, DIM_AO, DIM_AO)              \
    X(mo, coefficient, double, DIM_MO, DIM_AO)             \
    X(mo, occupation, double, DIM_MO, DIM_NONE)            \
    X(mo, energy, double, DIM_MO, DIM_NONE)                \
    X(mo, spin, int64_t, DIM_MO, DIM_NONE)

/* Arrays that must contain only zeros if they exist. X(group, name, C type, dimension, dimension,
 * meaning of a value other than 0, cure) */
#define FMO_ZERO_ARRAY_TABLE(X)                                                      \
    X(basis, r_power, int64_t, DIM_SHELL, DIM_NONE, "a radial power r^n",            \
      "only plain Gaussians are supported")                                          \
    X(basis, exponent_im, double, DIM_PRIM, DIM_NONE, "an imaginary exponent",       \
      "only real exponents are supported")                                           \
    X(basis, coefficient_im, double, DIM_PRIM, DIM_NONE, "an imaginary coefficient", \
      "only real coefficients are supported")                                        \
    X(basis, oscillation_arg, double, DIM_PRIM, DIM_NONE, "an oscillating function", \
      "only plain Gaussians are supported")                                          \
    X(mo, coefficient_im, double, DIM_MO, DIM_AO, "a complex orbital",               \
      "write real orbitals, or a real /fmo/density")                                 \
    X(mo, k_point, int64_t, DIM_MO, DIM_NONE, "more than one k-point",               \
      "write a molecule, or the Gamma point alone")

/* Arrays of the additional group /fmo. X(group, name, C type, dimension, dimension, units) */
#define FMO_OWN_ARRAY_TABLE(X)                          \
    X(fmo, density, double, DIM_AO, DIM_AO, "1")        \
    X(fmo, coulomb, double, DIM_AO, DIM_AO, "hartree")  \
    X(fmo, exchange, double, DIM_AO, DIM_AO, "hartree") \
    X(fmo, fock_2e, double, DIM_AO, DIM_AO, "hartree")  \
    X(fmo, fock, double, DIM_AO, DIM_AO, "hartree")     \
    X(fmo, energy, double, DIM_NONE, DIM_NONE, "hartree")

typedef enum fmo_field_id {
#define ROW(group, name, ...) FIELD_##group##_##name,
    FMO_TREXIO_ARRAY_TABLE(ROW) FMO_ZERO_ARRAY_TABLE(ROW) FMO_OWN_ARRAY_TABLE(ROW)
#undef ROW
        FIELD_nucleus_label,
    FIELD_COUNT
} fmo_field_id;

/* Attributes of TREXIO groups, whose names are prefixed with the group's name, and of /fmo, whose
 * names are not. X(group, name) */
#define FMO_TREXIO_ATTRIBUTE_TABLE(X) \
    X(metadata, package_version)      \
    X(metadata, code_num)             \
    X(nucleus, num)                   \
    X(nucleus, repulsion)             \
    X(electron, num)                  \
    X(electron, up_num)               \
    X(electron, dn_num)               \
    X(pbc, periodic)                  \
    X(ecp, num)                       \
    X(basis, type)                    \
    X(basis, shell_num)               \
    X(basis, prim_num)                \
    X(ao, num)                        \
    X(ao, cartesian)                  \
    X(mo, num)                        \
    X(mo, type)
#define FMO_OWN_ATTRIBUTE_TABLE(X) \
    X(fmo, format_version)         \
    X(fmo, basis_name)             \
    X(fmo, basis)                  \
    X(fmo, mode)                   \
    X(fmo, cutoff)                 \
    X(fmo, input)                  \
    X(fmo, input_sha256)           \
    X(fmo, fmo_version)            \
    X(fmo, method)                 \
    X(fmo, fragments)              \
    X(fmo, converged)              \
    X(fmo, point_charge_num)       \
    X(fmo, molecule_num)

typedef enum fmo_attribute_id {
#define ROW(group, name) ATTR_##group##_##name,
    FMO_TREXIO_ATTRIBUTE_TABLE(ROW) FMO_OWN_ATTRIBUTE_TABLE(ROW)
#undef ROW
        ATTR_COUNT
} fmo_attribute_id;

#define FMO_GROUP         "fmo"
#define FMO_UNITS         "units"         /* attribute of each dataset of /fmo */
#define FMO_METADATA_CODE "metadata_code" /* strings: names of programs */
#define FMO_CELL_GROUP    "cell"
#define FMO_CELL_A        "cell_a" /* first lattice vector */
enum { FMO_FORMAT_VERSION = 1 };

typedef enum fmo_kind { KIND_REAL, KIND_INTEGER, KIND_STRING } fmo_kind;

/* A dataset: its location and required type and shape. */
typedef struct fmo_field {
    const char *group, *name; /* HDF5 names */
    const char *title;        /* name in messages: basis/exponent, /fmo/density */
    fmo_kind kind;
    fmo_dim dim[2];
    const char *note, *cure; /* columns of FMO_ZERO_ARRAY_TABLE; in /fmo note holds the units */
} fmo_field;

/* An attribute of a group. */
typedef struct fmo_attribute {
    const char *group, *name, *title;
} fmo_attribute;

/* The attribute that holds a dimension, and the largest accepted value. */
typedef struct fmo_count {
    fmo_attribute_id attribute;
    int64_t largest;
} fmo_count;

extern const fmo_field fmo_fields[FIELD_COUNT];
extern const fmo_attribute fmo_attributes[ATTR_COUNT];
extern const fmo_count fmo_counts[DIM_COUNT]; /* indices DIM_NUCLEUS to DIM_MO */

#endif
