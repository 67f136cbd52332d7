/* Sizes and offsets of the structs that the Python module mirrors, and the status codes in order:
 * one line each, compared by python_module.py. */
#include <stddef.h>
#include <stdio.h>

#include <fmo/fock.h>

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
    OFFSET(fmo_fock_options, scatter);
    OFFSET(fmo_fock_options, commit);
    OFFSET(fmo_fock_options, no_overlap);
    OFFSET(fmo_fock_options, measure_classes);
    OFFSET(fmo_fock_options, measure_accumulation);
    OFFSET(fmo_fock_options, device);
    OFFSET(fmo_fock_options, stream);
    OFFSET(fmo_fock_options, progress);
    OFFSET(fmo_fock_options, progress_user);
    OFFSET(fmo_fock_options, ranks);
    FMO_STATUS_TABLE(STATUS)
    return 0;
}
