/* The table of bad files. See bad_files.h. */
#include "tests/io/bad_files.h"

#include "tests/io/bad_changes.h"
#include "tests/support/folder.h"

#include <math.h>

enum { HDF5_CHANGE, BYTE_CHANGE };

typedef struct row {
    bad_file bad;
    int kind;
    bad_change *mutate;
    const char *what;
    double value;
    int index;
} row;

#define REFUSED(name, mutate, what, value, index, expect)          \
    {                                                              \
        {name, 3, expect}, HDF5_CHANGE, mutate, what, value, index \
    }
#define BYTES(name, mutate, value, expect)                     \
    {                                                          \
        {name, 3, expect}, BYTE_CHANGE, mutate, NULL, value, 0 \
    }
#define READ(name, mutate, what, value, index, expect)             \
    {                                                              \
        {name, 0, expect}, HDF5_CHANGE, mutate, what, value, index \
    }

static const row rows[] = {
    /* Not a data set at all. */
    BYTES("missing-file", make_missing, 0, "cannot open it: No such file or directory"),
    BYTES("empty-file", make_empty, 0, "the file is empty"),
    BYTES("directory", make_directory, 0, "is a directory"),
    BYTES("fifo", make_fifo, 0, "is not a regular file"),
    BYTES("not-hdf5", make_text, 0, "not an HDF5 file"),
    BYTES("truncated-half", make_short, 0.5, "truncated"),
    BYTES("truncated-end", make_short, 0.999, "truncated"),
    BYTES("truncated-header", make_short, 0.001, "damaged"),
    BYTES("not-trexio", make_other_hdf5, 0, "metadata/package_version: missing"),
    REFUSED("no-version", drop_attribute, "metadata/package_version", 0, 0,
            "metadata/package_version: missing"),
    REFUSED("version-long", version_long, "metadata/package_version", 0, 0,
            "metadata/package_version: expected a version"),
    REFUSED("version-nonsense", version_nonsense, "metadata/package_version", 0, 0,
            "metadata/package_version: expected a version"),
    REFUSED("version-variable", attribute_variable, "metadata/package_version", 0, 0,
            "metadata/package_version: expected a version"),
    REFUSED("version-number", set_number, "metadata/package_version", 2, 0,
            "metadata/package_version: expected a version"),

    /* Counts. */
    REFUSED("no-atoms", zero_atoms, NULL, 0, 0, "nucleus/num = 0: expected 1"),
    REFUSED("negative-atoms", set_number, "nucleus/num", -3, 0, "nucleus/num = -3"),
    REFUSED("absurd-atoms", set_number, "nucleus/num", 1e15, 0, "nucleus/num = 1000000000000000"),
    REFUSED("many-atoms", set_number, "nucleus/num", 46341, 0, "nucleus/num = 46341"),
    REFUSED("absurd-shells", set_number, "basis/shell_num", 1e9, 0, "basis/shell_num = 1000000000"),
    REFUSED("absurd-prims", set_number, "basis/prim_num", 1e12, 0, "basis/prim_num"),
    REFUSED("absurd-functions", attribute_huge, "ao/num", 0, 0, "ao/num = 9223372036854775807"),
    REFUSED("zero-functions", set_number, "ao/num", 0, 0, "ao/num = 0"),
    REFUSED("zero-orbitals", set_number, "mo/num", 0, 0, "mo/num = 0"),
    REFUSED("wrong-atoms", set_number, "nucleus/num", 4, 0,
            "nucleus/charge: expected the shape [4]"),
    REFUSED("no-nucleus-num", drop_attribute, "nucleus/num", 0, 0, "nucleus/num: missing"),
    REFUSED("no-shell-num", drop_attribute, "basis/shell_num", 0, 0, "basis/shell_num: missing"),
    REFUSED("no-prim-num", drop_attribute, "basis/prim_num", 0, 0, "basis/prim_num: missing"),
    REFUSED("no-ao-num", drop_attribute, "ao/num", 0, 0, "ao/num: missing"),
    REFUSED("no-mo-num", drop_attribute, "mo/num", 0, 0, "mo/num: missing"),
    REFUSED("real-ao-num", attribute_real, "ao/num", 7, 0, "ao/num: expected integers"),
    REFUSED("text-ao-num", attribute_text, "ao/num", 0, 0, "ao/num: expected integers"),
    REFUSED("array-ao-num", attribute_array, "ao/num", 0, 0, "ao/num: expected one value"),

    /* Missing fields. */
    REFUSED("no-charge", drop_dataset, "nucleus/charge", 0, 0, "nucleus/charge: missing"),
    REFUSED("no-coord", drop_dataset, "nucleus/coord", 0, 0, "nucleus/coord: missing"),
    REFUSED("no-nucleus-index", drop_dataset, "basis/nucleus_index", 0, 0,
            "basis/nucleus_index: missing"),
    REFUSED("no-ang-mom", drop_dataset, "basis/shell_ang_mom", 0, 0,
            "basis/shell_ang_mom: missing"),
    REFUSED("no-shell-factor", drop_dataset, "basis/shell_factor", 0, 0,
            "basis/shell_factor: missing"),
    REFUSED("no-shell-index", drop_dataset, "basis/shell_index", 0, 0,
            "basis/shell_index: missing"),
    REFUSED("no-exponent", drop_dataset, "basis/exponent", 0, 0, "basis/exponent: missing"),
    REFUSED("no-coefficient", drop_dataset, "basis/coefficient", 0, 0,
            "basis/coefficient: missing"),
    REFUSED("no-prim-factor", drop_dataset, "basis/prim_factor", 0, 0,
            "basis/prim_factor: missing"),
    REFUSED("no-ao-shell", drop_dataset, "ao/shell", 0, 0, "ao/shell: missing"),
    REFUSED("no-normalization", drop_dataset, "ao/normalization", 0, 0,
            "ao/normalization: missing"),
    REFUSED("no-cartesian", drop_attribute, "ao/cartesian", 0, 0, "ao/cartesian: missing"),
    REFUSED("no-basis-type", drop_attribute, "basis/type", 0, 0, "basis/type: missing"),
    REFUSED("no-mo-coefficient", drop_dataset_without_density, "mo/coefficient", 0, 0,
            "mo/coefficient: missing"),
    REFUSED("no-occupation", drop_dataset_without_density, "mo/occupation", 0, 0,
            "mo/occupation: missing"),

    /* Wrong shapes and types. */
    REFUSED("long-exponent", grow, "basis/exponent", 0, 0, "basis/exponent: expected the shape ["),
    REFUSED("long-density", grow, "fmo/density", 0, 0, "/fmo/density: expected the shape ["),
    REFUSED("flat-density", flatten, "fmo/density", 0, 0, "/fmo/density: expected the shape ["),
    REFUSED("flat-coord", flatten, "nucleus/coord", 0, 0, "nucleus/coord: expected the shape ["),
    REFUSED("long-orbitals", grow, "mo/coefficient", 0, 0, "mo/coefficient: expected the shape ["),
    REFUSED("long-coulomb", grow, "fmo/coulomb", 0, 0, "/fmo/coulomb: expected the shape ["),
    REFUSED("long-overlap", grow, "ao_1e_int/overlap", 0, 0,
            "ao_1e_int/overlap: expected the shape ["),
    REFUSED("null-density", null_space, "fmo/density", 0, 0, "/fmo/density: expected the shape ["),
    REFUSED("group-density", make_group, "fmo/density", 0, 0,
            "/fmo/density: expected a dataset, found a group"),
    REFUSED("integer-exponent", retype_int64, "basis/exponent", 0, 0,
            "basis/exponent: expected real numbers"),
    REFUSED("float32-coord", retype_float32, "nucleus/coord", 0, 0,
            "nucleus/coord: expected real numbers (float64)"),
    REFUSED("real-shell-index", retype_float64, "basis/shell_index", 0, 0,
            "basis/shell_index: expected integers"),
    REFUSED("text-occupation", make_strings, "mo/occupation", 0, 0,
            "mo/occupation: expected real numbers"),
    REFUSED("complex-density", make_compound, "fmo/density", 0, 0,
            "/fmo/density: expected real numbers"),
    REFUSED("integer-label", integer_labels, NULL, 0, 0, "nucleus/label: expected strings"),
    REFUSED("density-never-written", never_written, "fmo/density", 0, 0,
            "/fmo/density: declared but never written"),

    /* Values that are no numbers. */
    REFUSED("nan-charge", set_element, "nucleus/charge", NAN, 1, "nucleus/charge[1] = nan"),
    REFUSED("inf-coord", set_element, "nucleus/coord", INFINITY, 5, "nucleus/coord[1][2] = inf"),
    REFUSED("nan-shell-factor", set_element, "basis/shell_factor", NAN, 0,
            "basis/shell_factor[0] = nan"),
    REFUSED("nan-exponent", set_element, "basis/exponent", NAN, 3, "basis/exponent[3] = nan"),
    REFUSED("inf-coefficient", set_element, "basis/coefficient", -INFINITY, 2,
            "basis/coefficient[2] = -inf"),
    REFUSED("nan-prim-factor", set_element, "basis/prim_factor", NAN, 1,
            "basis/prim_factor[1] = nan"),
    REFUSED("nan-normalization", set_element, "ao/normalization", NAN, 6,
            "ao/normalization[6] = nan"),
    REFUSED("nan-overlap", set_element, "ao_1e_int/overlap", NAN, 8,
            "ao_1e_int/overlap[1][1] = nan"),
    REFUSED("nan-core", set_element, "ao_1e_int/core_hamiltonian", NAN, 8,
            "ao_1e_int/core_hamiltonian[1][1] = nan"),
    REFUSED("nan-density", set_element, "fmo/density", NAN, 9, "/fmo/density[1][2] = nan"),
    REFUSED("inf-coulomb", set_element, "fmo/coulomb", INFINITY, 9, "/fmo/coulomb[1][2] = inf"),
    REFUSED("nan-exchange", set_element, "fmo/exchange", NAN, 0, "/fmo/exchange[0][0] = nan"),
    REFUSED("nan-fock", set_element, "fmo/fock_2e", NAN, 0, "/fmo/fock_2e[0][0] = nan"),
    REFUSED("nan-energy", set_element, "fmo/energy", NAN, 0, "/fmo/energy = nan"),
    REFUSED("zero-energy", set_element, "fmo/energy", 0, 0, "/fmo/energy: 0 hartree"),
    REFUSED("nan-orbital", set_element_without_density, "mo/coefficient", NAN, 9,
            "mo/coefficient[1][2] = nan"),
    REFUSED("nan-occupation", set_element_without_density, "mo/occupation", NAN, 1,
            "mo/occupation[1] = nan"),
    REFUSED("nan-repulsion", attribute_real, "nucleus/repulsion", NAN, 0, "nucleus/repulsion: nan"),
    REFUSED("integer-repulsion", set_number, "nucleus/repulsion", 9, 0,
            "nucleus/repulsion: expected real numbers"),

    /* Values out of range. */
    REFUSED("nucleus-index-range", set_element, "basis/nucleus_index", 3, 1,
            "basis/nucleus_index[1] = 3"),
    REFUSED("nucleus-index-negative", set_element, "basis/nucleus_index", -1, 0,
            "basis/nucleus_index[0] = -1"),
    REFUSED("shell-index-range", set_element, "basis/shell_index", 500, 2,
            "basis/shell_index[2] = 500"),
    REFUSED("shell-index-huge", set_element, "basis/shell_index", 4294967296.0, 2,
            "basis/shell_index: element 2 = 4294967296"),
    REFUSED("ao-shell-range", set_element, "ao/shell", 99, 3, "ao/shell[3] = 99"),
    REFUSED("ao-shell-negative", set_element, "ao/shell", -7, 0, "ao/shell[0] = -7"),
    REFUSED("ao-shell-full", full_shell, NULL, 0, 0, "ao/shell[1] = 0: shell 0 is an s shell"),
    REFUSED("d-shell", set_element, "basis/shell_ang_mom", 2, 2, "ao/num = 7: the"),
    REFUSED("f-shell", set_element, "basis/shell_ang_mom", 3, 2, "ao/num = 7: the"),
    REFUSED("g-shell", set_element, "basis/shell_ang_mom", 4, 2, "ao/num = 7: the"),
    REFUSED("h-shell", set_element, "basis/shell_ang_mom", 5, 2,
            "basis/shell_ang_mom[2] = 5 (h): this build supports s, p, d, f and g"),
    REFUSED("negative-shell", set_element, "basis/shell_ang_mom", -1, 2,
            "basis/shell_ang_mom[2] = -1"),
    REFUSED("absurd-shell", set_element, "basis/shell_ang_mom", 1e9, 2,
            "basis/shell_ang_mom[2] = 1000000000"),
    REFUSED("p-to-s", set_element, "basis/shell_ang_mom", 0, 2, "ao/shell["),
    REFUSED("s-to-p", set_element, "basis/shell_ang_mom", 1, 0, "ao/num = 7"),
    REFUSED("zero-exponent", set_element, "basis/exponent", 0, 4, "basis/exponent[4] = 0"),
    REFUSED("negative-exponent", set_element, "basis/exponent", -1.5, 4,
            "basis/exponent[4] = -1.5"),
    REFUSED("huge-exponent", set_element, "basis/exponent", 1e300, 4, "basis/exponent[4] = 1e+300"),
    REFUSED("huge-coefficient", set_element, "basis/coefficient", 1e300, 4, "basis/coefficient[4]"),
    REFUSED("zero-normalization", set_element, "ao/normalization", 0, 4, "ao/normalization[4] = 0"),
    REFUSED("far-nucleus", set_element, "nucleus/coord", 1e30, 0, "nucleus/coord[0][0] = 1e+30"),
    REFUSED("empty-shell", empty_shells, NULL, 0, 0, "basis/shell_index: shell 1"),
    REFUSED("deep-shell", deep_shell, NULL, 0, 0, "basis/shell_index: shell 0 has more than 100"),
    REFUSED("cartesian-two", set_number, "ao/cartesian", 2, 0, "ao/cartesian: 2"),

    /* Conventions that only the overlap can reveal. */
    REFUSED("wrong-order", set_number, "ao/cartesian", 0, 0, "ao_1e_int/overlap["),
    REFUSED("wrong-normalization", scale_element, "ao/normalization", 1.001, 3,
            "ao_1e_int/overlap[3][3]"),
    REFUSED("wrong-factor", scale_element, "basis/prim_factor", 1.0001, 0, "ao_1e_int/overlap["),
    REFUSED("wrong-place", scale_element, "nucleus/coord", 1.01, 4, "ao_1e_int/overlap["),
    REFUSED("wrong-overlap", scale_element, "ao_1e_int/overlap", 1.001, 8,
            "ao_1e_int/overlap[1][1]"),

    /* Density. */
    REFUSED("asymmetric-density", asymmetric, "fmo/density", 1e-8, 0, "/fmo/density[1][0]"),
    REFUSED("asymmetric-core", asymmetric, "ao_1e_int/core_hamiltonian", 1e-6, 0,
            "ao_1e_int/core_hamiltonian[1][0]"),
    REFUSED("occupation-high", set_element_without_density, "mo/occupation", 2.5, 0,
            "mo/occupation[0] = 2.5"),
    REFUSED("occupation-negative", set_element_without_density, "mo/occupation", -0.5, 2,
            "mo/occupation[2] = -0.5"),

    /* What is not supported. */
    REFUSED("slater", slater, "basis/type", 0, 0, "basis/type: 'Slater'"),
    REFUSED("r-power", set_element, "basis/r_power", 1, 2, "basis/r_power[2] = 1"),
    REFUSED("imaginary-exponent", add_reals_prim, "basis/exponent_im", 0.5, 3,
            "basis/exponent_im[3] = 0.5"),
    REFUSED("imaginary-coefficient", add_reals_prim, "basis/coefficient_im", 0.5, 3,
            "basis/coefficient_im[3] = 0.5"),
    REFUSED("oscillating", add_reals_prim, "basis/oscillation_arg", 0.5, 1,
            "basis/oscillation_arg[1] = 0.5"),
    REFUSED("complex-orbitals", add_reals_orbitals, "mo/coefficient_im", 0.5, 8,
            "mo/coefficient_im[1][1] = 0.5"),
    REFUSED("third-spin", add_integers_mo, "mo/spin", 2, 4, "mo/spin[4] = 2: expected 0"),
    REFUSED("k-points", add_integers_mo, "mo/k_point", 2, 1, "mo/k_point[1] = 2"),
    REFUSED("periodic", set_number, "pbc/periodic", 1, 0, "pbc/periodic: periodic systems"),
    REFUSED("cell", add_cell, NULL, 0, 0, "cell/a: periodic systems"),
    REFUSED("ecp", add_ecp, NULL, 1, 0, "ao_1e_int/core_hamiltonian"),
    REFUSED("odd-electrons", set_number, "electron/num", 9, 0, "electron/num: 9, but"),
    REFUSED("triplet", set_number, "electron/up_num", 6, 0, "electron/num: 10, but"),
    REFUSED("spins-exchanged", set_number, "electron/up_num", 4, 0,
            "electron/up_num: 4, and electron/dn_num is 5"),
    REFUSED("electron-sum", set_number, "electron/num", 12, 0, "electron/num: 12"),
    REFUSED("no-electrons", set_number, "electron/num", 0, 0, "electron/num: 0"),
    REFUSED("negative-electrons", set_number, "electron/dn_num", -5, 0, "electron/dn_num: -5"),
    REFUSED("new-format", set_number, "fmo/format_version", 2, 0, "format_version"),
    REFUSED("units-ev", units_ev, "fmo/coulomb", 0, 0, "/fmo/coulomb: units are 'eV'"),

    /* Data in other files, and files that claim huge sizes. */
    REFUSED("soft-link", soft_link, "fmo/density", 0, 0, "/fmo/density: a soft or external link"),
    REFUSED("external-link", external_link, "fmo/density", 0, 0,
            "/fmo/density: a soft or external link"),
    REFUSED("external-group", external_group, "mo", 0, 0, "/mo: a soft or external link"),
    REFUSED("external-unused-group", external_group, "rdm", 0, 0, "/rdm: a soft or external link"),
    REFUSED("soft-group", soft_group, "elsewhere", 0, 0, "/elsewhere: a soft or external link"),
    REFUSED("root-dataset", root_dataset, "grid", 0, 0, "/grid: expected a group"),
    REFUSED("external-storage", external_storage, "fmo/density", 0, 0,
            "/fmo/density: its data are in another file (external storage)"),
    REFUSED("virtual-storage", virtual_storage, "fmo/density", 0, 0,
            "/fmo/density: its data are in another file (virtual storage)"),
    REFUSED("odd-filter", odd_filter, "fmo/density", 0, 0, "/fmo/density: filter"),
    REFUSED("bomb-counts", bomb_counts, NULL, 0, 0, "ao/num = 100000: not plausible"),
    REFUSED("bomb-density", bomb_density, NULL, 0, 0, "/fmo/density: 80000000000 bytes"),
    REFUSED("bomb-many-chunks", bomb_many_chunks, NULL, 0, 0, "/fmo/density: 156250000 chunks"),
    REFUSED("bomb-chunk", bomb_chunk, "fmo/density", 0, 0, "/fmo/density: 1 chunks of 134217728"),
    BYTES("names-size", swell_names, 0, "the names of a group do not fit the file"),
    BYTES("heap-signature", break_heap_signature, 0, "nucleus/label: string 0 cannot be read"),
    BYTES("heap-sizes", break_heap_sizes, 0, "nucleus/label: string 0 cannot be read"),

    /* Files that must be read, some with a notice. */
    READ("good", no_change, NULL, 0, 0, ""),
    READ("good-orbitals", orbitals_only, NULL, 0, 0, ""),
    READ("good-no-fmo", drop_fmo, NULL, 0, 0, ""),
    READ("good-no-integrals", no_one_electron, NULL, 0, 0, ""),
    READ("good-sum", drop_dataset, "ao_1e_int/core_hamiltonian", 0, 0, ""),
    READ("good-no-labels", drop_dataset, "nucleus/label", 0, 0, ""),
    READ("good-fixed-labels", fixed_labels, NULL, 0, 0, ""),
    READ("good-no-r-power", drop_dataset, "basis/r_power", 0, 0, ""),
    READ("good-no-electron-num", drop_attribute, "electron/num", 0, 0, ""),
    READ("good-no-repulsion", drop_attribute, "nucleus/repulsion", 0, 0, ""),
    READ("good-extra-group", extra_group, NULL, 0, 0, ""),
    READ("good-odd-attributes", odd_attributes, NULL, 0, 0, ""),
    READ("good-lower-case", lower_case, "basis/type", 0, 0, ""),
    READ("good-big-endian", retype_float64_big, "nucleus/coord", 0, 0, ""),
    READ("good-int16", retype_int16_big, "basis/shell_index", 0, 0, ""),
    READ("good-compressed", compressed, "fmo/density", 0, 0, ""),
    READ("good-zero-imaginary", add_reals_prim, "basis/exponent_im", 0, 0, ""),
    READ("good-one-spin", add_integers_mo, "mo/spin", 0, 0, ""),
    READ("good-box", add_cell, NULL, 1, 0, ""),
    READ("good-ecp", add_ecp, NULL, 0, 0, ""),
    READ("good-ecp-sum", add_ecp_sum, NULL, 1, 0, ""),
    READ("good-asymmetry", asymmetric, "fmo/density", 1e-12, 0, ""),
    READ("good-variable-name", attribute_variable, "fmo/basis_name", 0, 0, ""),
    READ("good-extra-attribute", set_number, "fmo/nao", 7, 0, ""),
    READ("notice-fractional", fractional, "mo/occupation", 1.5, 4,
         "mo/occupation: 1 orbitals are neither empty nor doubly occupied"),
    READ("notice-singly", all_occupied_once, NULL, 0, 0, "mo/occupation: 7 orbitals"),
    READ("doubt-trace", scale_element, "fmo/density", 1.001, 0, "and electron/num is 10"),
    READ("doubt-repulsion", attribute_real, "nucleus/repulsion", 9.0, 0, "nucleus/repulsion: 9"),
    READ("doubt-kinetic", scale_element, "ao_1e_int/kinetic", 1.001, 0,
         "ao_1e_int/kinetic: [0][0] (0 O s; 0 O s) is"),
    READ("doubt-core", scale_element, "ao_1e_int/core_hamiltonian", 1.00001, 8,
         "ao_1e_int/core_hamiltonian: [1][1] (0 O s; 0 O s) is"),
    READ("doubt-core-sum", scale_sum, "ao_1e_int/potential_n_e", 1.001, 0,
         "ao_1e_int/kinetic + potential_n_e: [0][0]"),
    READ("doubt-charge", charge_only, "nucleus/charge", 119, 0, "nucleus/charge[0] = 119"),
    READ("doubt-negative-charge", charge_only, "nucleus/charge", -1, 1, "nucleus/charge[1] = -1"),
    READ("good-zero-primitives", zero_primitives, NULL, 0, 0, ""),
    READ("notice-close", close_nuclei, NULL, 0, 0, "nuclei 0 (O) and 1 (H) are closer than 0.3"),
    READ("notice-coincident", coincident_nuclei, NULL, 0, 0, "two charged nuclei coincide"),
};

int bad_file_count(void)
{
    return (int)(sizeof rows / sizeof rows[0]);
}
const bad_file *bad_file_at(int i)
{
    return &rows[i].bad;
}

int bad_file_make(int i, const char *in, const char *out)
{
    const row *r = &rows[i];
    work w = {
        .file = -1, .in = in, .out = out, .what = r->what, .value = r->value, .index = r->index};
    if (file_copy(in, out) != 0) return 1;
    if (r->kind == HDF5_CHANGE) w.file = GET(H5Fopen(out, H5F_ACC_RDWR, H5P_DEFAULT));
    r->mutate(&w);
    if (w.file >= 0) MUST(H5Fclose(w.file));
    return 0;
}
