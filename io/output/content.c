/* Lists of all objects and attributes in the HDF5 files that fmo writes; declared in content.h.
 * When a writer gets a new object, add it to its list here; a test replaces a file of each kind by
 * another. */
#include "io/output/content.h"
#include "io/hdf5/attribute.h"
#include "io/trexio/fields.h"

#include <string.h>

enum { DEPTH_MAX = 3, PATH_SIZE = 160 };

/* Objects are written "/group/name", attributes "/group@name"; '#' stands for a number. The
 * attribute "units" of a dataset is always allowed. */
#define PROVENANCE "/fmo", "/fmo@format_version", "/fmo@fmo_version"
#define INPUT      "/fmo@input", "/fmo@input_sha256"

/* written by result.c */
static const char *const matrices[] = {
    PROVENANCE,      INPUT,          "/fmo@mode", "/fmo@cutoff", "/fmo/coulomb",
    "/fmo/exchange", "/fmo/fock_2e", "/fmo/fock", "/fmo/energy", NULL};

/* written by trexio.c */
static const char *const orbitals[] = {PROVENANCE,
                                       INPUT,
                                       "/fmo@method",
                                       "/fmo@basis_name",
                                       "/fmo@converged",
                                       "/fmo/energy",
                                       "/metadata",
                                       "/metadata@metadata_package_version",
                                       "/metadata@metadata_code_num",
                                       "/metadata/metadata_code",
                                       "/nucleus",
                                       "/nucleus@nucleus_num",
                                       "/nucleus@nucleus_repulsion",
                                       "/nucleus/nucleus_charge",
                                       "/nucleus/nucleus_coord",
                                       "/nucleus/nucleus_label",
                                       "/electron",
                                       "/electron@electron_num",
                                       "/electron@electron_up_num",
                                       "/electron@electron_dn_num",
                                       "/pbc",
                                       "/pbc@pbc_periodic",
                                       "/basis",
                                       "/basis@basis_type",
                                       "/basis@basis_shell_num",
                                       "/basis@basis_prim_num",
                                       "/basis/basis_nucleus_index",
                                       "/basis/basis_shell_ang_mom",
                                       "/basis/basis_shell_factor",
                                       "/basis/basis_r_power",
                                       "/basis/basis_shell_index",
                                       "/basis/basis_exponent",
                                       "/basis/basis_coefficient",
                                       "/basis/basis_prim_factor",
                                       "/ao",
                                       "/ao@ao_cartesian",
                                       "/ao@ao_num",
                                       "/ao/ao_shell",
                                       "/ao/ao_normalization",
                                       "/ao_1e_int",
                                       "/ao_1e_int/ao_1e_int_overlap",
                                       "/ao_1e_int/ao_1e_int_core_hamiltonian",
                                       "/mo",
                                       "/mo@mo_type",
                                       "/mo@mo_num",
                                       "/mo/mo_coefficient",
                                       "/mo/mo_occupation",
                                       "/mo/mo_energy",
                                       "/mo/mo_spin",
                                       "/fmo/gradient",
                                       "/fmo/mulliken_charge",
                                       "/fmo/loewdin_charge",
                                       "/fmo/mulliken_spin",
                                       "/fmo/loewdin_spin",
                                       "/fmo/dipole",
                                       "/fmo@point_charge_num",
                                       "/fmo/energy_with_charges",
                                       "/fmo/point_charge",
                                       "/fmo/point_charge_coord",
                                       "/fmo/point_charge_gradient",
                                       "/amplitude",
                                       "/ao_2e_int",
                                       "/cell",
                                       "/csf",
                                       "/determinant",
                                       "/ecp",
                                       "/grid",
                                       "/jastrow",
                                       "/mo_1e_int",
                                       "/mo_2e_int",
                                       "/qmc",
                                       "/rdm",
                                       "/state",
                                       NULL};

/* written by molecules.c */
static const char *const molecules[] = {PROVENANCE,
                                        "/fmo@mode",
                                        "/fmo@method",
                                        "/fmo@cutoff",
                                        "/fmo@molecule_num",
                                        "/fmo@settings",
                                        "/summary",
                                        "/summary/energy",
                                        "/summary/converged",
                                        "/summary/cycles",
                                        "/molecules",
                                        "/molecules/#",
                                        "/molecules/#@input",
                                        "/molecules/#@frame",
                                        "/molecules/#@mode",
                                        "/molecules/#@status",
                                        "/molecules/#@energy",
                                        "/molecules/#@converged",
                                        "/molecules/#@cycles",
                                        "/molecules/#@ao_num",
                                        "/molecules/#@mo_num",
                                        "/molecules/#@occupied_num",
                                        "/molecules/#@occupied_beta_num",
                                        "/molecules/#@method",
                                        "/molecules/#@multiplicity",
                                        "/molecules/#@spin_square",
                                        "/molecules/#@formula",
                                        "/molecules/#@basis",
                                        "/molecules/#@input_sha256",
                                        "/molecules/#@comment",
                                        "/molecules/#@charge",
                                        "/molecules/#@key",
                                        "/molecules/#@nuclear_repulsion",
                                        "/molecules/#/nucleus_charge",
                                        "/molecules/#/nucleus_coord",
                                        "/molecules/#/mo_energy",
                                        "/molecules/#/mo_coefficient",
                                        "/molecules/#/mo_energy_beta",
                                        "/molecules/#/mo_coefficient_beta",
                                        "/molecules/#/density",
                                        "/molecules/#/spin_density",
                                        "/molecules/#/gradient",
                                        "/molecules/#/mulliken_charge",
                                        "/molecules/#/mulliken_spin",
                                        NULL};

/* arrays that fmo-driver --fmo passes to fmo_result_write_arrays: driver/run/fragments.c */
static const char *const fragments[] = {PROVENANCE,
                                        INPUT,
                                        "/fmo@basis_name",
                                        "/fmo@mode",
                                        "/fmo@fragments",
                                        "/fmo/energy_fmo1",
                                        "/fmo/energy_fmo2",
                                        "/fmo/atom_number",
                                        "/fmo/atom_coord",
                                        "/fmo/atom_fragment",
                                        "/fmo/atom_charge_fmo1",
                                        "/fmo/atom_charge_fmo2",
                                        "/fmo/bond",
                                        "/fmo/monomer_name",
                                        "/fmo/monomer_atoms",
                                        "/fmo/monomer_charge",
                                        "/fmo/monomer_electrons",
                                        "/fmo/monomer_energy",
                                        "/fmo/monomer_field_energy",
                                        "/fmo/monomer_density_#",
                                        "/fmo/pair",
                                        "/fmo/pair_is_scf",
                                        "/fmo/pair_distance",
                                        "/fmo/pair_internal",
                                        "/fmo/pair_transfer",
                                        "/fmo/pair_energy",
                                        "/fmo/pair_electrostatic",
                                        NULL};

static const char *const *const content[FMO_FILE_KIND_COUNT] = {[FMO_FILE_MATRICES] = matrices,
                                                                [FMO_FILE_ORBITALS] = orbitals,
                                                                [FMO_FILE_MOLECULES] = molecules,
                                                                [FMO_FILE_FRAGMENTS] = fragments};

/* Returns true if a path has the form of a pattern, in which # stands for one or more digits. */
static bool matches(const char *path, const char *pattern)
{
    for (; *pattern; pattern++) {
        if (*pattern != '#' && *path++ != *pattern) return false;
        if (*pattern != '#') continue;
        const size_t digits = strspn(path, "0123456789");
        if (!digits) return false;
        path += digits;
    }
    return !*path;
}

/* Joins path, sign and name. Returns false if the result is longer than any path in the lists. */
static bool join(char whole[PATH_SIZE], const char *path, char sign, const char *name)
{
    const size_t before = strlen(path), length = strlen(name);
    if (before + length + 2 > PATH_SIZE) return false;
    memcpy(whole, path, before);
    whole[before] = sign;
    memcpy(whole + before + 1, name, length + 1);
    return true;
}

/* Returns true if the list contains the name below this path. */
static bool is_listed(const char *const *list, const char *path, char sign, const char *name)
{
    char whole[PATH_SIZE];
    if (!join(whole, path, sign, name)) return false;
    for (; *list; list++)
        if (matches(whole, *list)) return true;
    return false;
}

static bool attributes_are_listed(const char *const *list, const char *path,
                                  const fmo_h5_node *node)
{
    for (size_t k = 0; k < node->object.message_num; k++) {
        if (node->object.message[k].type != FMO_H5_ATTRIBUTE) continue;
        const char *name = fmo_h5_attribute_name(&node->object.message[k]);
        if (!name) return false;
        const bool units = node->kind == FMO_H5_DATASET && strcmp(name, FMO_UNITS) == 0;
        if (!units && !is_listed(list, path, '@', name)) return false;
    }
    return true;
}

/* Checks an object and everything below it. */
static bool all_listed(const fmo_h5_tree *tree, const char *const *list, const char *path,
                       const fmo_h5_node *node, int depth)
{
    if (depth > DEPTH_MAX || !attributes_are_listed(list, path, node)) return false;
    for (size_t k = 0; k < node->link_num; k++) {
        const fmo_h5_link *link = &node->link[k];
        char below[PATH_SIZE];
        if (!link->hard || !is_listed(list, path, '/', link->name)) return false;
        (void)join(below, path, '/', link->name);
        if (!all_listed(tree, list, below, &tree->node[link->node], depth + 1)) return false;
    }
    return true;
}

bool fmo_content_is_ours(const fmo_h5_tree *tree, fmo_file_kind kind)
{
    return content[kind] && all_listed(tree, content[kind], "", &tree->node[0], 0);
}
