/* Sizes and offsets of the structs that the Python module mirrors, and the status codes in order:
 * one line each, compared by mirror.py. */
#include <stddef.h>
#include <stdio.h>

#include <fmo/fock.h>
#include <fmo/fragment.h>
#include <fmo/gradient.h>
#include <fmo/scf.h>

#define SIZE(type)               printf("%s %zu\n", #type, sizeof(type))
#define OFFSET(type, field)      printf("%s.%s %zu\n", #type, #field, offsetof(type, field))
#define STATUS(name, code, text) printf("%s %d\n", #name, name);

/* Prints sizes and offsets of the structs of Fock builds, and codes. */
static void print_builds(void)
{
    SIZE(fmo_error);
    OFFSET(fmo_error, status);
    OFFSET(fmo_error, message);
    SIZE(fmo_fock_job);
    OFFSET(fmo_fock_job, plan);
    OFFSET(fmo_fock_job, density);
    OFFSET(fmo_fock_job, coulomb);
    OFFSET(fmo_fock_job, exchange);
    OFFSET(fmo_fock_job, status);
    OFFSET(fmo_fock_job, err);
    OFFSET(fmo_fock_job, source);
    OFFSET(fmo_fock_job, symmetry);
    OFFSET(fmo_fock_job, coulomb_operator);
    OFFSET(fmo_fock_job, exchange_operator);
    SIZE(fmo_gradient_term);
    OFFSET(fmo_gradient_term, density);
    OFFSET(fmo_gradient_term, coulomb_weight);
    OFFSET(fmo_gradient_term, exchange_weight);
    OFFSET(fmo_gradient_term, coulomb_operator);
    OFFSET(fmo_gradient_term, exchange_operator);
    SIZE(fmo_operator);
    OFFSET(fmo_operator, full);
    OFFSET(fmo_operator, long_range);
    OFFSET(fmo_operator, omega);
    SIZE(fmo_basis_input);
    OFFSET(fmo_basis_input, nucleus_num);
    OFFSET(fmo_basis_input, nucleus_charge);
    OFFSET(fmo_basis_input, nucleus_coord);
    OFFSET(fmo_basis_input, shell_num);
    OFFSET(fmo_basis_input, shell_nucleus);
    OFFSET(fmo_basis_input, shell_ang_mom);
    OFFSET(fmo_basis_input, prim_num);
    OFFSET(fmo_basis_input, prim_shell);
    OFFSET(fmo_basis_input, prim_exponent);
    OFFSET(fmo_basis_input, prim_coefficient);
    OFFSET(fmo_basis_input, ao_num);
    OFFSET(fmo_basis_input, ao_shell);
    OFFSET(fmo_basis_input, ao_component);
    OFFSET(fmo_basis_input, ao_factor);
    OFFSET(fmo_basis_input, cartesian);
    SIZE(fmo_fock_options);
    OFFSET(fmo_fock_options, mode);
    OFFSET(fmo_fock_options, reduce);
    OFFSET(fmo_fock_options, threads);
    OFFSET(fmo_fock_options, cutoff);
    OFFSET(fmo_fock_options, memory);
    OFFSET(fmo_fock_options, integrals);
    OFFSET(fmo_fock_options, coulomb);
    OFFSET(fmo_fock_options, scatter);
    OFFSET(fmo_fock_options, commit);
    OFFSET(fmo_fock_options, no_overlap);
    OFFSET(fmo_fock_options, measure_classes);
    OFFSET(fmo_fock_options, measure_accumulation);
    OFFSET(fmo_fock_options, device);
    OFFSET(fmo_fock_options, stream);
    OFFSET(fmo_fock_options, device_num);
    OFFSET(fmo_fock_options, devices);
    OFFSET(fmo_fock_options, progress);
    OFFSET(fmo_fock_options, progress_user);
    OFFSET(fmo_fock_options, ranks);
}

/* Prints sizes and offsets of the structs that describe SCFs. */
static void print_scfs(void)
{
    SIZE(fmo_scf_input);
    OFFSET(fmo_scf_input, basis);
    OFFSET(fmo_scf_input, electron_num);
    OFFSET(fmo_scf_input, core_hamiltonian);
    OFFSET(fmo_scf_input, nuclear_repulsion);
    OFFSET(fmo_scf_input, density);
    OFFSET(fmo_scf_input, field);
    OFFSET(fmo_scf_input, projector);
    OFFSET(fmo_scf_input, multiplicity);
    OFFSET(fmo_scf_input, spin_density);
    OFFSET(fmo_scf_input, charge_num);
    OFFSET(fmo_scf_input, charge);
    OFFSET(fmo_scf_input, charge_coord);
    SIZE(fmo_scf_options);
    OFFSET(fmo_scf_options, fock);
    OFFSET(fmo_scf_options, guess);
    OFFSET(fmo_scf_options, unrestricted);
    OFFSET(fmo_scf_options, restricted);
    OFFSET(fmo_scf_options, guess_mix);
    OFFSET(fmo_scf_options, guess_is_fixed);
    OFFSET(fmo_scf_options, max_cycles);
    OFFSET(fmo_scf_options, energy_convergence);
    OFFSET(fmo_scf_options, gradient_convergence);
    OFFSET(fmo_scf_options, gradient_aim);
    OFFSET(fmo_scf_options, level_shift);
    OFFSET(fmo_scf_options, diis_size);
    OFFSET(fmo_scf_options, rebuild_cycles);
    OFFSET(fmo_scf_options, linear_dependence);
    OFFSET(fmo_scf_options, solver);
    OFFSET(fmo_scf_options, stability);
    OFFSET(fmo_scf_options, orbitals);
    OFFSET(fmo_scf_options, auto_in_fused);
    OFFSET(fmo_scf_options, loose_fock);
    OFFSET(fmo_scf_options, forces);
    OFFSET(fmo_scf_options, callback);
    OFFSET(fmo_scf_options, user);
    OFFSET(fmo_scf_options, finished);
    OFFSET(fmo_scf_options, deal);
    OFFSET(fmo_scf_options, begun);
    OFFSET(fmo_scf_options, stop);
    SIZE(fmo_scf_job);
    OFFSET(fmo_scf_job, input);
    OFFSET(fmo_scf_job, result);
    OFFSET(fmo_scf_job, status);
    OFFSET(fmo_scf_job, err);
}

/* Prints offsets of the results of SCFs. */
static void print_scf_results(void)
{
    OFFSET(fmo_scf_result, nao);
    OFFSET(fmo_scf_result, mo_num);
    OFFSET(fmo_scf_result, occupied_num);
    OFFSET(fmo_scf_result, dropped);
    OFFSET(fmo_scf_result, overlap_smallest);
    OFFSET(fmo_scf_result, converged);
    OFFSET(fmo_scf_result, cycles);
    OFFSET(fmo_scf_result, full_builds);
    OFFSET(fmo_scf_result, energy);
    OFFSET(fmo_scf_result, field_energy);
    OFFSET(fmo_scf_result, projector_energy);
    OFFSET(fmo_scf_result, two_electron_energy);
    OFFSET(fmo_scf_result, energy_change);
    OFFSET(fmo_scf_result, gradient);
    OFFSET(fmo_scf_result, energy_error);
    OFFSET(fmo_scf_result, homo);
    OFFSET(fmo_scf_result, lumo);
    OFFSET(fmo_scf_result, coefficient);
    OFFSET(fmo_scf_result, orbital_energy);
    OFFSET(fmo_scf_result, occupation);
    OFFSET(fmo_scf_result, density);
    OFFSET(fmo_scf_result, fock);
    OFFSET(fmo_scf_result, overlap);
    OFFSET(fmo_scf_result, core_hamiltonian);
    OFFSET(fmo_scf_result, unrestricted);
    OFFSET(fmo_scf_result, restricted);
    OFFSET(fmo_scf_result, multiplicity);
    OFFSET(fmo_scf_result, occupied_beta_num);
    OFFSET(fmo_scf_result, spin_square);
    OFFSET(fmo_scf_result, coefficient_beta);
    OFFSET(fmo_scf_result, orbital_energy_beta);
    OFFSET(fmo_scf_result, occupation_beta);
    OFFSET(fmo_scf_result, spin_density);
    OFFSET(fmo_scf_result, fock_beta);
    OFFSET(fmo_scf_result, nucleus_num);
    OFFSET(fmo_scf_result, nuclear_gradient);
    OFFSET(fmo_scf_result, charge_num);
    OFFSET(fmo_scf_result, charge_gradient);
    OFFSET(fmo_scf_result, hessian_lowest);
    OFFSET(fmo_scf_result, notice);
    OFFSET(fmo_scf_cycle, job);
    OFFSET(fmo_scf_cycle, cycle);
    OFFSET(fmo_scf_cycle, energy);
    OFFSET(fmo_scf_cycle, energy_change);
    OFFSET(fmo_scf_cycle, gradient);
}

/* Prints sizes and offsets of the structs of molecules and basis sets. */
static void print_molecules(void)
{
    SIZE(fmo_molecule);
    OFFSET(fmo_molecule, nucleus_num);
    OFFSET(fmo_molecule, number);
    OFFSET(fmo_molecule, coord);
    OFFSET(fmo_molecule, ghost);
    OFFSET(fmo_molecule, title);
    OFFSET(fmo_molecule, comment);
    OFFSET(fmo_molecule, path);
    OFFSET(fmo_molecule, sha256);
    OFFSET(fmo_molecule, frame);
    OFFSET(fmo_molecule, charge);
    OFFSET(fmo_molecule, multiplicity);
    OFFSET(fmo_molecule, notice);
    OFFSET(fmo_fragment_system, atom_num);
    OFFSET(fmo_fragment_system, number);
    OFFSET(fmo_fragment_system, coord);
    OFFSET(fmo_fragment_system, fragment);
    OFFSET(fmo_fragment_system, fragment_num);
    OFFSET(fmo_fragment_system, charge);
    OFFSET(fmo_fragment_system, bond_num);
    OFFSET(fmo_fragment_system, bond);
    OFFSET(fmo_fragment_system, aoc_from);
    OFFSET(fmo_fragment_system, ptc_from);
    OFFSET(fmo_fragment_system, es_dimers_from);
    OFFSET(fmo_fragment_system, bohr);
    OFFSET(fmo_fragment_system, reference);
    OFFSET(fmo_fragment_system, name);
    OFFSET(fmo_fragment_system, fragment_name);
    OFFSET(fmo_fragment_system, basis);
}

/* Prints sizes and offsets of the structs of fragments. */
static void print_fragments(void)
{
    SIZE(fmo_fragment_options);
    OFFSET(fmo_fragment_options, scf);
    OFFSET(fmo_fragment_options, max_iterations);
    OFFSET(fmo_fragment_options, convergence);
    OFFSET(fmo_fragment_options, projector);
    OFFSET(fmo_fragment_options, hybrids);
    OFFSET(fmo_fragment_options, state);
    OFFSET(fmo_fragment_options, resume);
    OFFSET(fmo_fragment_options, iteration);
    OFFSET(fmo_fragment_options, progress);
    OFFSET(fmo_fragment_options, user);
    OFFSET(fmo_fragment_iteration, iteration);
    OFFSET(fmo_fragment_iteration, energy);
    OFFSET(fmo_fragment_iteration, energy_change);
    OFFSET(fmo_fragment_iteration, residual);
    SIZE(fmo_fragment_pair);
    OFFSET(fmo_fragment_pair, i);
    OFFSET(fmo_fragment_pair, j);
    OFFSET(fmo_fragment_pair, is_scf);
    OFFSET(fmo_fragment_pair, cycles);
    OFFSET(fmo_fragment_pair, is_bonded);
    OFFSET(fmo_fragment_pair, distance);
    OFFSET(fmo_fragment_pair, internal);
    OFFSET(fmo_fragment_pair, transfer);
    OFFSET(fmo_fragment_pair, total);
    OFFSET(fmo_fragment_pair, electrostatic);
    OFFSET(fmo_fragment_result, fragment_num);
    OFFSET(fmo_fragment_result, atom_num);
    OFFSET(fmo_fragment_result, nao);
    OFFSET(fmo_fragment_result, electron_num);
    OFFSET(fmo_fragment_result, monomer);
    OFFSET(fmo_fragment_result, pair_num);
    OFFSET(fmo_fragment_result, pair);
    OFFSET(fmo_fragment_result, scf_pairs);
    OFFSET(fmo_fragment_result, es_pairs);
    OFFSET(fmo_fragment_result, iterations);
    OFFSET(fmo_fragment_result, resumed);
    OFFSET(fmo_fragment_result, resumed_pairs);
    OFFSET(fmo_fragment_result, energy_change);
    OFFSET(fmo_fragment_result, energy1);
    OFFSET(fmo_fragment_result, energy2);
    OFFSET(fmo_fragment_result, charge1);
    OFFSET(fmo_fragment_result, charge2);
    OFFSET(fmo_fragment_result, mode);
    OFFSET(fmo_fragment_result, mode_reason);
    OFFSET(fmo_fragment_result, threads);
    OFFSET(fmo_fragment_result, ranks);
    OFFSET(fmo_fragment_result, notice);
}

int main(void)
{
    print_builds();
    print_scfs();
    print_scf_results();
    print_molecules();
    print_fragments();
    FMO_STATUS_TABLE(STATUS)
    return 0;
}
