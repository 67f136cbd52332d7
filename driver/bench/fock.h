/* Timed Fock builds of molecules: the table of `fock`, with figures of other programs, and the
 * series of `growth`. Next: fock.c, fock.cu, growth.c. */
#ifndef FMO_BENCH_FOCK_H
#define FMO_BENCH_FOCK_H

#include "items.h"
#include "work.h"

#include <fmo/dataset.h>
#include <fmo/fock.h>
#include <fmo/molecule.h>

/* The systems of `fock`, from datasets/xyz, with the time of the fastest other program. That was
 * measured on an H200 (docs/results/2026-11-20-735bc3c/h200-other-programs.txt; for 6-31G*
 * docs/results/2026-11-23-22d7f4e/h200-other-programs-d.txt); for a batch it is the time of a
 * single build times the number of fragments. Target: the time aimed at, 0 for none. X(name,
 * geometry, basis set, other program, its time in ms, target in ms, fragments in one call) */
#define FOCK_SYSTEM_TABLE(X)                                                     \
    X("water001/STO-3G", "water001", "STO-3G", "JoltQC", 2.4, 0, 1)              \
    X("water001/6-31G", "water001", "6-31G", "OpenFMO", 1.6, 0.05, 1)            \
    X("water008/STO-3G", "water008", "STO-3G", "OpenFMO", 2.0, 0, 1)             \
    X("water008/6-31G", "water008", "6-31G", "OpenFMO", 5.9, 0.30, 1)            \
    X("alkane_C20H42/STO-3G", "alkane_C20H42", "STO-3G", "JoltQC", 6.2, 0, 1)    \
    X("water027/STO-3G", "water027", "STO-3G", "JoltQC", 11.2, 0, 1)             \
    X("alkane_C20H42/6-31G", "alkane_C20H42", "6-31G", "JoltQC", 17.5, 2.0, 1)   \
    X("water027/6-31G", "water027", "6-31G", "JoltQC", 19.1, 2.5, 1)             \
    X("alkane_C60H122/STO-3G", "alkane_C60H122", "STO-3G", "JoltQC", 26.1, 0, 1) \
    X("water064/STO-3G", "water064", "STO-3G", "JoltQC", 55.5, 6, 1)             \
    X("gly30/STO-3G", "gly30", "STO-3G", "JoltQC", 55.4, 7, 1)                   \
    X("alkane_C60H122/6-31G", "alkane_C60H122", "6-31G", "JoltQC", 69.6, 9, 1)   \
    X("water064/6-31G", "water064", "6-31G", "JoltQC", 76.1, 10, 1)              \
    X("water001/6-31G*", "water001", "6-31G*", "JoltQC", 14.9, 0, 1)             \
    X("water008/6-31G*", "water008", "6-31G*", "JoltQC", 18.1, 1.5, 1)           \
    X("alkane_C20H42/6-31G*", "alkane_C20H42", "6-31G*", "JoltQC", 32.7, 4.5, 1) \
    X("water027/6-31G*", "water027", "6-31G*", "JoltQC", 35.9, 5.5, 1)           \
    X("alkane_C60H122/6-31G*", "alkane_C60H122", "6-31G*", "JoltQC", 138, 23, 1) \
    X("batch/6-31G", "water008", "6-31G", "OpenFMO", 5900, 150, 1000)            \
    X("batch_monomers/6-31G", "water001", "6-31G", "OpenFMO", 1600, 0, 1000)     \
    X("batch/6-31G*", "water008", "6-31G*", "JoltQC", 18100, 0, 1000)            \
    X("batch_monomers/6-31G*", "water001", "6-31G*", "JoltQC", 14900, 0, 1000)

/* Maximum relative difference between the elements of a repeat's density and those of the
 * molecule's: no repeat can profit from the previous one, but all screen out almost the same
 * quartets. */
#define FOCK_DENSITY_CHANGE 1e-3

/* Element e of the symmetric density of a call: the molecule's, multiplied by a random factor. */
BENCH_HD double fock_density(const double *density, int nao, uint64_t call, int64_t e)
{
    const int64_t i = e / nao % nao, j = e % nao, matrix = e / nao / nao;
    const int64_t low = i < j ? i : j, high = i < j ? j : i;
    const double u = bench_uniform(bench_hash(call, (uint64_t)((matrix * nao + low) * nao + high)));
    return density[e] * (1.0 + FOCK_DENSITY_CHANGE * (2.0 * u - 1.0));
}

enum { FOCK_WALL_MAX = 1024 };

/* One row: `count` builds in a call, of molecules of the same size. Matrices are [count][nao][nao]
 * in host memory. */
typedef struct fock_case {
    bench_cell cell;
    fmo_fock_options options; /* of the plans */
    int count, nao;
    fmo_dataset **dataset; /* [count] */
    fmo_fock_plan **plan;  /* [count] */
    fmo_fock_job *job; /* [count]; densities and outputs are set by the function that measures */
    double *density;   /* of the molecules, before they are altered */
    double *current, *coulomb, *exchange; /* of the last call */
    bench_work work;                      /* of all `count` builds */
    double plan_seconds, first_seconds, accumulation_share;
    double error[3];     /* largest errors of J, K, G */
    double exact_cutoff; /* of the build that is used as reference */
    double
        unscreened_max; /* largest number of primitive quartets of a reference without screening */
    int waits;          /* number of wall times recorded */
    double wall[FOCK_WALL_MAX];
    uint64_t calls;
} fock_case;

/* The subject of a row. */
typedef struct fock_item {
    const char *name, *table, *column;
    const fmo_molecule *molecule;
    const char *basis;
    const char *peer; /* NULL if there is none */
    double peer_ms, target_ms;
    int fragments; /* 1: the molecule itself; more: displaced copies of it */
} fock_item;

#ifdef __cplusplus
extern "C" {
#endif

/** Builds one row in each requested mode, prints it and stores its cell, or the reason why it was
 *  left out.
 *  @param[in] small  leave out large systems on the CPU unless a mode was requested */
void fock_measure(bench_run *run, const fock_item *item, bool small);

/** Computes a density by some SCF cycles, 0: as the sum of atomic densities.
 *  @param[out] density [nao][nao] */
fmo_status fock_scf_density(const fmo_dataset *dataset, const fmo_fock_options *fock, int cycles,
                            double *density, fmo_error *err);

/** Makes the data set of a molecule with its charge.
 *  @param[in]  basis    name or file of a basis set
 *  @param[out] dataset  free with fmo_dataset_destroy */
fmo_status fock_make_dataset(const fmo_molecule *molecule, const char *basis, fmo_dataset **dataset,
                             fmo_error *err);

/** Prints the headings of the rows. */
void fock_print_head(const bench_run *run);

/** Records the wall time of a call in seconds. */
void fock_call_done(fock_case *c, double wall);

/** Computes the errors of the last call; its matrices are in c->current, c->coulomb and
 *  c->exchange. */
void fock_check(bench_run *run, fock_case *c, bench_check *check);

/** Creates a stream for the first plan of a case; returns NULL after an error. */
void *fock_stream_create(bench_run *run);
void fock_stream_destroy(void *stream); /**< stream may be NULL */

#ifdef __cplusplus
}
#endif
#endif
