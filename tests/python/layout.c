/* Sizes and offsets of the structs that the Python module mirrors, and the status codes in order:
 * one line each, compared by mirror.py. */
#include <stddef.h>
#include <stdio.h>

#include <fmo/fock.h>
#include <fmo/scf.h>

#define SIZE(type)               printf("%s %zu\n", #type, sizeof(type))
#define OFFSET(type, field)      printf("%s.%s %zu\n", #type, #field, offsetof(type, field))
#define STATUS(name, code, text) printf("%s %d\n", #name, name);

int main(void)
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
    SIZE(fmo_scf_input);
    OFFSET(fmo_scf_input, basis);
    OFFSET(fmo_scf_input, electron_num);
    OFFSET(fmo_scf_input, core_hamiltonian);
    OFFSET(fmo_scf_input, nuclear_repulsion);
    OFFSET(fmo_scf_input, density);
    OFFSET(fmo_scf_input, field);
    OFFSET(fmo_scf_input, projector);
    SIZE(fmo_scf_options);
    OFFSET(fmo_scf_options, fock);
    OFFSET(fmo_scf_options, guess);
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
    OFFSET(fmo_scf_result, hessian_lowest);
    OFFSET(fmo_scf_result, notice);
    FMO_STATUS_TABLE(STATUS)
    return 0;
}
