/* The orbitals that a data set's file holds, read plainly with HDF5, for tests of the writers. */
#ifndef FMO_TESTS_IO_ORBITALS_H
#define FMO_TESTS_IO_ORBITALS_H

#include <math.h>
#include <stdlib.h>
#include <hdf5.h>
#include <fmo/wavefunction.h>

typedef struct test_orbitals {
    double *coefficient, *energy, *occupation;
    fmo_wavefunction wf;
} test_orbitals;

static inline double *orbitals_array(hid_t file, const char *name, size_t n)
{
    double *values = calloc(n, sizeof *values);
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    if (!values || dataset < 0 ||
        H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        exit(1);
    H5Dclose(dataset);
    return values;
}

/* All nao orbitals of a file, as many as functions. */
static inline test_orbitals orbitals_read(const fmo_dataset *dataset)
{
    size_t nao = (size_t)fmo_basis_ao_num(fmo_dataset_basis(dataset));
    hid_t file = H5Fopen(fmo_dataset_path(dataset), H5F_ACC_RDONLY, H5P_DEFAULT);
    test_orbitals o = {orbitals_array(file, "/mo/mo_coefficient", nao * nao),
                       orbitals_array(file, "/mo/mo_energy", nao),
                       orbitals_array(file, "/mo/mo_occupation", nao),
                       {0}};
    H5Fclose(file);
    o.wf = (fmo_wavefunction){.mo_num = (int)nao,
                              .coefficient = o.coefficient,
                              .energy = o.energy,
                              .occupation = o.occupation,
                              .total_energy = fmo_dataset_reference_energy(dataset),
                              .converged = 1,
                              .method = "RHF"};
    return o;
}

/* The unit matrix, all empty: for a data set without orbitals. */
static inline test_orbitals orbitals_unit(const fmo_dataset *dataset)
{
    size_t nao = (size_t)fmo_basis_ao_num(fmo_dataset_basis(dataset));
    test_orbitals o = {calloc(nao * nao, sizeof(double)),
                       calloc(nao, sizeof(double)),
                       calloc(nao, sizeof(double)),
                       {0}};
    for (size_t i = 0; i < nao; i++) o.coefficient[i * nao + i] = 1.0;
    o.wf = (fmo_wavefunction){.mo_num = (int)nao,
                              .coefficient = o.coefficient,
                              .energy = o.energy,
                              .occupation = o.occupation,
                              .total_energy = NAN};
    return o;
}

static inline void orbitals_free(test_orbitals *o)
{
    free(o->coefficient);
    free(o->energy);
    free(o->occupation);
}

#endif
