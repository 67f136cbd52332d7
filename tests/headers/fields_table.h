/* Every field of every public struct, with what kind of thing it is; tests/headers/fields.py
 * compares this list with the headers, tests/headers/fields.c works from it. X(struct, field, kind,
 * length of the array that fields.c gives it, or 1) */
#ifndef FMO_TESTS_FIELDS_TABLE_H
#define FMO_TESTS_FIELDS_TABLE_H

typedef enum kind {
    WHOLE,   /* int or enum: a count, an index, a choice, a flag */
    SIZE,    /* size_t or int64_t */
    REAL,    /* double */
    WHOLES,  /* pointer to, or array of, int */
    REALS,   /* pointer to double */
    POINTER, /* to something else, or an array that the call writes: only NULL is tried */
    TEXT,    /* characters: tried as NULL if it is a pointer */
    LEFT,    /* handles, callbacks and inner structs, which have rows of their own */
    WRITTEN  /* by a call: filled with garbage before */
} kind;

#define FIELDS_OF_INPUT(X)                            \
    X(fmo_basis_input, nucleus_num, WHOLE, 1)         \
    X(fmo_basis_input, nucleus_charge, REALS, 2)      \
    X(fmo_basis_input, nucleus_coord, REALS, 6)       \
    X(fmo_basis_input, shell_num, WHOLE, 1)           \
    X(fmo_basis_input, shell_nucleus, WHOLES, 2)      \
    X(fmo_basis_input, shell_ang_mom, WHOLES, 2)      \
    X(fmo_basis_input, prim_num, WHOLE, 1)            \
    X(fmo_basis_input, prim_shell, WHOLES, 2)         \
    X(fmo_basis_input, prim_exponent, REALS, 2)       \
    X(fmo_basis_input, prim_coefficient, REALS, 2)    \
    X(fmo_basis_input, ao_num, WHOLE, 1)              \
    X(fmo_basis_input, ao_shell, WHOLES, 2)           \
    X(fmo_basis_input, ao_component, WHOLES, 2)       \
    X(fmo_basis_input, ao_factor, REALS, 2)           \
    X(fmo_basis_input, cartesian, WHOLE, 1)           \
    X(fmo_molecule, nucleus_num, WHOLE, 1)            \
    X(fmo_molecule, number, WHOLES, 2)                \
    X(fmo_molecule, coord, REALS, 6)                  \
    X(fmo_molecule, ghost, WHOLES, 2)                 \
    X(fmo_molecule, title, TEXT, 1)                   \
    X(fmo_molecule, comment, LEFT, 1)                 \
    X(fmo_molecule, path, TEXT, 1)                    \
    X(fmo_molecule, sha256, LEFT, 1)                  \
    X(fmo_molecule, frame, WHOLE, 1)                  \
    X(fmo_molecule, charge, WHOLE, 1)                 \
    X(fmo_molecule, multiplicity, WHOLE, 1)           \
    X(fmo_molecule, notice, TEXT, 1)                  \
    X(fmo_atom_label, name, TEXT, 1)                  \
    X(fmo_atom_label, residue, TEXT, 1)               \
    X(fmo_atom_label, place, TEXT, 1)                 \
    X(fmo_atom_label, chain, LEFT, 1)                 \
    X(fmo_atom_label, is_hetero, LEFT, 1)             \
    X(fmo_fragment_system, atom_num, WHOLE, 1)        \
    X(fmo_fragment_system, number, WHOLES, 4)         \
    X(fmo_fragment_system, coord, REALS, 12)          \
    X(fmo_fragment_system, fragment, WHOLES, 4)       \
    X(fmo_fragment_system, fragment_num, WHOLE, 1)    \
    X(fmo_fragment_system, charge, WHOLES, 2)         \
    X(fmo_fragment_system, bond_num, WHOLE, 1)        \
    X(fmo_fragment_system, bond, WHOLES, 2)           \
    X(fmo_fragment_system, aoc_from, REAL, 1)         \
    X(fmo_fragment_system, ptc_from, REAL, 1)         \
    X(fmo_fragment_system, es_dimers_from, REAL, 1)   \
    X(fmo_fragment_system, bohr, REAL, 1)             \
    X(fmo_fragment_system, reference, REAL, 1)        \
    X(fmo_fragment_system, spherical, WHOLE, 1)       \
    X(fmo_fragment_system, name, TEXT, 1)             \
    X(fmo_fragment_system, fragment_name, POINTER, 1) \
    X(fmo_fragment_system, basis, TEXT, 1)            \
    X(fmo_fragment_system, path, TEXT, 1)             \
    X(fmo_fragment_system, geometry, TEXT, 1)         \
    X(fmo_fragment_system, label, POINTER, 1)         \
    X(fmo_fragment_system, sha256, LEFT, 1)           \
    X(fmo_fragment_system, notice, TEXT, 1)

#define FIELDS_OF_OPTIONS(X)                            \
    X(fmo_fock_options, mode, WHOLE, 1)                 \
    X(fmo_fock_options, reduce, WHOLE, 1)               \
    X(fmo_fock_options, threads, WHOLE, 1)              \
    X(fmo_fock_options, cutoff, REAL, 1)                \
    X(fmo_fock_options, memory, SIZE, 1)                \
    X(fmo_fock_options, integrals, WHOLE, 1)            \
    X(fmo_fock_options, coulomb, WHOLE, 1)              \
    X(fmo_fock_options, scatter, WHOLE, 1)              \
    X(fmo_fock_options, commit, WHOLE, 1)               \
    X(fmo_fock_options, no_overlap, WHOLE, 1)           \
    X(fmo_fock_options, measure_classes, WHOLE, 1)      \
    X(fmo_fock_options, measure_accumulation, WHOLE, 1) \
    X(fmo_fock_options, device, WHOLE, 1)               \
    X(fmo_fock_options, stream, LEFT, 1)                \
    X(fmo_fock_options, device_num, WHOLE, 1)           \
    X(fmo_fock_options, devices, WHOLE, 1)              \
    X(fmo_fock_options, progress, LEFT, 1)              \
    X(fmo_fock_options, progress_user, LEFT, 1)         \
    X(fmo_fock_options, ranks, LEFT, 1)                 \
    X(fmo_potential_options, mode, WHOLE, 1)            \
    X(fmo_potential_options, threads, WHOLE, 1)         \
    X(fmo_potential_options, device, WHOLE, 1)          \
    X(fmo_potential_options, cutoff, REAL, 1)           \
    X(fmo_potential_options, device_num, WHOLE, 1)      \
    X(fmo_potential_options, devices, WHOLE, 1)         \
    X(fmo_scf_options, fock, LEFT, 1)                   \
    X(fmo_scf_options, guess, WHOLE, 1)                 \
    X(fmo_scf_options, guess_is_fixed, WHOLE, 1)        \
    X(fmo_scf_options, unrestricted, WHOLE, 1)          \
    X(fmo_scf_options, restricted, WHOLE, 1)            \
    X(fmo_scf_options, guess_mix, WHOLE, 1)             \
    X(fmo_scf_options, stop, LEFT, 1)                   \
    X(fmo_scf_options, max_cycles, WHOLE, 1)            \
    X(fmo_scf_options, energy_convergence, REAL, 1)     \
    X(fmo_scf_options, gradient_convergence, REAL, 1)   \
    X(fmo_scf_options, gradient_aim, REAL, 1)           \
    X(fmo_scf_options, level_shift, REAL, 1)            \
    X(fmo_scf_options, diis_size, WHOLE, 1)             \
    X(fmo_scf_options, rebuild_cycles, WHOLE, 1)        \
    X(fmo_scf_options, linear_dependence, REAL, 1)      \
    X(fmo_scf_options, solver, WHOLE, 1)                \
    X(fmo_scf_options, stability, WHOLE, 1)             \
    X(fmo_scf_options, orbitals, WHOLE, 1)              \
    X(fmo_scf_options, auto_in_fused, WHOLE, 1)         \
    X(fmo_scf_options, loose_fock, WHOLE, 1)            \
    X(fmo_scf_options, forces, WHOLE, 1)                \
    X(fmo_scf_options, callback, LEFT, 1)               \
    X(fmo_scf_options, user, LEFT, 1)                   \
    X(fmo_scf_options, finished, LEFT, 1)               \
    X(fmo_scf_options, deal, LEFT, 1)                   \
    X(fmo_scf_options, begun, LEFT, 1)                  \
    X(fmo_fragment_options, scf, LEFT, 1)               \
    X(fmo_fragment_options, max_iterations, WHOLE, 1)   \
    X(fmo_fragment_options, convergence, REAL, 1)       \
    X(fmo_fragment_options, projector, REAL, 1)         \
    X(fmo_fragment_options, hybrids, TEXT, 1)           \
    X(fmo_fragment_options, state, TEXT, 1)             \
    X(fmo_fragment_options, resume, WHOLE, 1)           \
    X(fmo_fragment_options, iteration, LEFT, 1)         \
    X(fmo_fragment_options, progress, LEFT, 1)          \
    X(fmo_fragment_options, user, LEFT, 1)              \
    X(fmo_gmpi_options, transport, WHOLE, 1)            \
    X(fmo_gmpi_options, ranks, WHOLE, 1)                \
    X(fmo_gmpi_options, devices, POINTER, 1)            \
    X(fmo_gmpi_options, concurrent, WHOLE, 1)           \
    X(fmo_gmpi_options, heap_bytes, SIZE, 1)            \
    X(fmo_gmpi_options, timeout, REAL, 1)               \
    X(fmo_gmpi_options, cuda_aware, WHOLE, 1)           \
    X(fmo_gmpi_net, user, LEFT, 1)                      \
    X(fmo_gmpi_net, rank, WHOLE, 1)                     \
    X(fmo_gmpi_net, size, WHOLE, 1)                     \
    X(fmo_gmpi_net, node_rank, WHOLE, 1)                \
    X(fmo_gmpi_net, isend, LEFT, 1)                     \
    X(fmo_gmpi_net, irecv, LEFT, 1)                     \
    X(fmo_gmpi_net, iallreduce, LEFT, 1)                \
    X(fmo_gmpi_net, test, LEFT, 1)                      \
    X(fmo_gmpi_net, abort, LEFT, 1)                     \
    X(fmo_gmpi_net, aborted, LEFT, 1)                   \
    X(fmo_gmpi_net, exchange, LEFT, 1)                  \
    X(fmo_gmpi_net, destroy, LEFT, 1)                   \
    X(fmo_ranks, user, LEFT, 1)                         \
    X(fmo_ranks, rank, WHOLE, 1)                        \
    X(fmo_ranks, size, WHOLE, 1)                        \
    X(fmo_ranks, node_rank, WHOLE, 1)                   \
    X(fmo_ranks, node_size, WHOLE, 1)                   \
    X(fmo_ranks, cores, WHOLE, 1)                       \
    X(fmo_ranks, host, LEFT, 1)                         \
    X(fmo_ranks, broadcast, POINTER, 1)                 \
    X(fmo_ranks, first, POINTER, 1)                     \
    X(fmo_ranks, sum, POINTER, 1)                       \
    X(fmo_ranks, send, POINTER, 1)                      \
    X(fmo_ranks, receive, POINTER, 1)                   \
    X(fmo_ranks, restart, POINTER, 1)                   \
    X(fmo_ranks, next, POINTER, 1)                      \
    X(fmo_ranks, abort, LEFT, 1)                        \
    X(fmo_ranks, destroy, LEFT, 1)                      \
    X(fmo_ranks, plans, WRITTEN, 1)

#define FIELDS_OF_JOBS(X)                             \
    X(fmo_fock_job, plan, POINTER, 1)                 \
    X(fmo_fock_job, density, REALS, 4)                \
    X(fmo_fock_job, coulomb, POINTER, 1)              \
    X(fmo_fock_job, exchange, POINTER, 1)             \
    X(fmo_fock_job, status, WRITTEN, 1)               \
    X(fmo_fock_job, err, POINTER, 1)                  \
    X(fmo_fock_job, source, LEFT, 1)                  \
    X(fmo_fock_job, symmetry, WHOLE, 1)               \
    X(fmo_fock_job, coulomb_operator, LEFT, 1)        \
    X(fmo_fock_job, exchange_operator, LEFT, 1)       \
    X(fmo_gradient_term, density, REALS, 4)           \
    X(fmo_gradient_term, coulomb_weight, REAL, 1)     \
    X(fmo_gradient_term, exchange_weight, REAL, 1)    \
    X(fmo_gradient_term, coulomb_operator, LEFT, 1)   \
    X(fmo_gradient_term, exchange_operator, LEFT, 1)  \
    X(fmo_gradient_job, plan, POINTER, 1)             \
    X(fmo_gradient_job, terms, POINTER, 1)            \
    X(fmo_gradient_job, term_num, LEFT, 1)            \
    X(fmo_gradient_job, gradient, POINTER, 1)         \
    X(fmo_gradient_job, status, WRITTEN, 1)           \
    X(fmo_gradient_job, err, POINTER, 1)              \
    X(fmo_operator, full, REAL, 1)                    \
    X(fmo_operator, long_range, REAL, 1)              \
    X(fmo_operator, omega, REAL, 1)                   \
    X(fmo_distribution_job, products, POINTER, 1)     \
    X(fmo_distribution_job, density, REALS, 4)        \
    X(fmo_distribution_job, charge_num, SIZE, 1)      \
    X(fmo_distribution_job, charge, REALS, 2)         \
    X(fmo_distribution_job, coord, REALS, 6)          \
    X(fmo_distribution_job, distribution, WRITTEN, 1) \
    X(fmo_potential_job, products, POINTER, 1)        \
    X(fmo_potential_job, source, POINTER, 1)          \
    X(fmo_potential_job, weight, REALS, 1)            \
    X(fmo_potential_job, source_num, SIZE, 1)         \
    X(fmo_potential_job, charge, REALS, 2)            \
    X(fmo_potential_job, coord, REALS, 6)             \
    X(fmo_potential_job, charge_num, SIZE, 1)         \
    X(fmo_potential_job, potential, POINTER, 1)       \
    X(fmo_electrostatics_job, a, POINTER, 1)          \
    X(fmo_electrostatics_job, b, POINTER, 1)          \
    X(fmo_electrostatics_job, energy, WRITTEN, 1)     \
    X(fmo_scf_input, basis, POINTER, 1)               \
    X(fmo_scf_input, electron_num, WHOLE, 1)          \
    X(fmo_scf_input, core_hamiltonian, REALS, 4)      \
    X(fmo_scf_input, nuclear_repulsion, REAL, 1)      \
    X(fmo_scf_input, density, REALS, 4)               \
    X(fmo_scf_input, field, REALS, 4)                 \
    X(fmo_scf_input, projector, REALS, 4)             \
    X(fmo_scf_input, multiplicity, WHOLE, 1)          \
    X(fmo_scf_input, spin_density, REALS, 4)          \
    X(fmo_scf_input, charge_num, SIZE, 1)             \
    X(fmo_scf_input, charge, REALS, 1)                \
    X(fmo_scf_input, charge_coord, REALS, 3)          \
    X(fmo_scf_job, input, LEFT, 1)                    \
    X(fmo_scf_job, result, WRITTEN, 1)                \
    X(fmo_scf_job, status, WRITTEN, 1)                \
    X(fmo_scf_job, err, WRITTEN, 1)

#define FIELDS_OF_RESULTS(X)                              \
    X(fmo_result, nao, WHOLE, 1)                          \
    X(fmo_result, coulomb, REALS, 4)                      \
    X(fmo_result, exchange, REALS, 4)                     \
    X(fmo_result, fock_2e, REALS, 4)                      \
    X(fmo_result, fock, REALS, 4)                         \
    X(fmo_result, energy, REAL, 1)                        \
    X(fmo_result, mode, TEXT, 1)                          \
    X(fmo_result, cutoff, REAL, 1)                        \
    X(fmo_result_array, name, TEXT, 1)                    \
    X(fmo_result_array, units, TEXT, 1)                   \
    X(fmo_result_array, rank, WHOLE, 1)                   \
    X(fmo_result_array, size, SIZE, 2)                    \
    X(fmo_result_array, real, REALS, 4)                   \
    X(fmo_result_array, integer, POINTER, 1)              \
    X(fmo_result_array, text, POINTER, 1)                 \
    X(fmo_molecule_result, input, TEXT, 1)                \
    X(fmo_molecule_result, frame, WHOLE, 1)               \
    X(fmo_molecule_result, mode, TEXT, 1)                 \
    X(fmo_molecule_result, status, TEXT, 1)               \
    X(fmo_molecule_result, converged, WHOLE, 1)           \
    X(fmo_molecule_result, cycles, WHOLE, 1)              \
    X(fmo_molecule_result, energy, REAL, 1)               \
    X(fmo_molecule_result, nao, WHOLE, 1)                 \
    X(fmo_molecule_result, mo_num, WHOLE, 1)              \
    X(fmo_molecule_result, occupied_num, WHOLE, 1)        \
    X(fmo_molecule_result, orbital_energy, REALS, 2)      \
    X(fmo_molecule_result, coefficient, REALS, 4)         \
    X(fmo_molecule_result, density, REALS, 4)             \
    X(fmo_molecule_result, nucleus_num, WHOLE, 1)         \
    X(fmo_molecule_result, gradient, REALS, 6)            \
    X(fmo_molecule_result, comment, TEXT, 1)              \
    X(fmo_molecule_result, charge, WHOLE, 1)              \
    X(fmo_molecule_result, key, TEXT, 1)                  \
    X(fmo_molecule_result, method, TEXT, 1)               \
    X(fmo_molecule_result, multiplicity, WHOLE, 1)        \
    X(fmo_molecule_result, occupied_beta_num, WHOLE, 1)   \
    X(fmo_molecule_result, spin_square, REAL, 1)          \
    X(fmo_molecule_result, orbital_energy_beta, REALS, 2) \
    X(fmo_molecule_result, coefficient_beta, REALS, 4)    \
    X(fmo_molecule_result, spin_density, REALS, 4)        \
    X(fmo_molecule_result, mulliken_charge, REALS, 2)     \
    X(fmo_molecule_result, mulliken_spin, REALS, 2)       \
    X(fmo_wavefunction, mo_num, WHOLE, 1)                 \
    X(fmo_wavefunction, coefficient, REALS, 4)            \
    X(fmo_wavefunction, energy, REALS, 2)                 \
    X(fmo_wavefunction, occupation, REALS, 2)             \
    X(fmo_wavefunction, overlap, REALS, 4)                \
    X(fmo_wavefunction, core_hamiltonian, REALS, 4)       \
    X(fmo_wavefunction, total_energy, REAL, 1)            \
    X(fmo_wavefunction, converged, WHOLE, 1)              \
    X(fmo_wavefunction, method, TEXT, 1)                  \
    X(fmo_wavefunction, gradient, REALS, 6)               \
    X(fmo_wavefunction, mulliken_charge, REALS, 2)        \
    X(fmo_wavefunction, loewdin_charge, REALS, 2)         \
    X(fmo_wavefunction, mulliken_spin, REALS, 2)          \
    X(fmo_wavefunction, loewdin_spin, REALS, 2)           \
    X(fmo_wavefunction, dipole, REALS, 3)                 \
    X(fmo_wavefunction, coefficient_beta, REALS, 4)       \
    X(fmo_wavefunction, energy_beta, REALS, 2)            \
    X(fmo_wavefunction, occupation_beta, REALS, 2)        \
    X(fmo_wavefunction, point_charge_num, SIZE, 1)        \
    X(fmo_wavefunction, point_charge, REALS, 2)           \
    X(fmo_wavefunction, point_charge_coord, REALS, 6)     \
    X(fmo_wavefunction, point_charge_gradient, REALS, 6)  \
    X(fmo_fragment_result, fragment_num, WHOLE, 1)        \
    X(fmo_fragment_result, atom_num, WHOLE, 1)            \
    X(fmo_fragment_result, nao, WHOLE, 1)                 \
    X(fmo_fragment_result, electron_num, WHOLE, 1)        \
    X(fmo_fragment_result, monomer, POINTER, 1)           \
    X(fmo_fragment_result, pair_num, WHOLE, 1)            \
    X(fmo_fragment_result, pair, POINTER, 1)              \
    X(fmo_fragment_result, scf_pairs, WHOLE, 1)           \
    X(fmo_fragment_result, es_pairs, WHOLE, 1)            \
    X(fmo_fragment_result, iterations, WHOLE, 1)          \
    X(fmo_fragment_result, resumed, WHOLE, 1)             \
    X(fmo_fragment_result, resumed_pairs, WHOLE, 1)       \
    X(fmo_fragment_result, energy_change, REAL, 1)        \
    X(fmo_fragment_result, energy1, REAL, 1)              \
    X(fmo_fragment_result, energy2, REAL, 1)              \
    X(fmo_fragment_result, charge1, REALS, 4)             \
    X(fmo_fragment_result, charge2, REALS, 4)             \
    X(fmo_fragment_result, mode, WHOLE, 1)                \
    X(fmo_fragment_result, mode_reason, LEFT, 1)          \
    X(fmo_fragment_result, threads, WHOLE, 1)             \
    X(fmo_fragment_result, ranks, WHOLE, 1)               \
    X(fmo_fragment_result, notice, LEFT, 1)               \
    X(fmo_fragment_result, seconds, REAL, 1)              \
    X(fmo_fragment_result, setup_seconds, REAL, 1)        \
    X(fmo_fragment_result, field_seconds, REAL, 1)        \
    X(fmo_fragment_result, scf_seconds, REAL, 1)          \
    X(fmo_fragment_result, pair_seconds, REAL, 1)         \
    X(fmo_fragment_pair, i, WHOLE, 1)                     \
    X(fmo_fragment_pair, j, WHOLE, 1)                     \
    X(fmo_fragment_pair, is_scf, WHOLE, 1)                \
    X(fmo_fragment_pair, cycles, WHOLE, 1)                \
    X(fmo_fragment_pair, is_bonded, WHOLE, 1)             \
    X(fmo_fragment_pair, distance, REAL, 1)               \
    X(fmo_fragment_pair, internal, REAL, 1)               \
    X(fmo_fragment_pair, transfer, REAL, 1)               \
    X(fmo_fragment_pair, total, REAL, 1)                  \
    X(fmo_fragment_pair, electrostatic, REAL, 1)

#define FIELDS(X)        \
    FIELDS_OF_INPUT(X)   \
    FIELDS_OF_OPTIONS(X) \
    FIELDS_OF_JOBS(X)    \
    FIELDS_OF_RESULTS(X)

/* Structs that no call reads: what the library fills in; details of errors; memory that kernels and
 * the host share. */
/* clang-format off */
#define FIELDS_NOT_READ(X)                                                                \
    X(fmo_error)                                                                          \
    X(fmo_fock_memory) X(fmo_class_profile) X(fmo_fock_profile) X(fmo_fragment_iteration) \
        X(fmo_fragment_monomer) X(fmo_hybrids) X(fmo_scf_cycle) X(fmo_scf_result)         \
            X(fmo_gmpi_entry) X(fmo_gmpi_flag) X(fmo_gmpi_command) X(fmo_gmpi_done)       \
                X(fmo_gmpi_page) X(fmo_point_charges)
/* clang-format on */

#endif
