/* Fock builds of molecules, timed: the table of `fock` beside other programs' figures, and the
 * series of `growth`. */
#ifndef FMO_BENCH_FOCK_H
#define FMO_BENCH_FOCK_H

#include "items.h"
#include "work.h"

#include <fmo/dataset.h>
#include <fmo/fock.h>
#include <fmo/molecule.h>

/* The systems of `fock`: files of datasets/xyz; the fastest other program on an H200 and its time,
 * measured by the same team on the same GPU (raw:
 * docs/results/2026-11-20-735bc3c/h200-other-programs.txt; of the batch, as many times the single
 * build; of 6-31G*: docs/results/2026-11-23-22d7f4e/h200-other-programs-d.txt); the time aimed at,
 * 0 without; fragments in one call. X(name, geometry, basis set, other program, its ms, target ms,
 * fragments) */
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

/* Elements of each repeat's density differ from the first one's by up to this share, so that a
 * repeat cannot profit from the one before and screens as much as it did. */
#define FOCK_DENSITY_CHANGE 1e-3

/* Element e of the symmetric density of a call: that of the molecule, altered. */
BENCH_HD double fock_density(const double *density, int nao, uint64_t call, int64_t e)
{
    const int64_t i = e / nao % nao, j = e % nao, matrix = e / nao / nao;
    const int64_t low = i < j ? i : j, high = i < j ? j : i;
    const double u = bench_uniform(bench_hash(call, (uint64_t)((matrix * nao + low) * nao + high)));
    return density[e] * (1.0 + FOCK_DENSITY_CHANGE * (2.0 * u - 1.0));
}

enum { FOCK_WALL_MAX = 1024 };

/* One row: `count` builds in a call, of molecules of the same size. Matrices are
 * [count][nao][nao], in host memory. */
typedef struct fock_case {
    bench_cell cell;
    fmo_fock_options options; /* of the plans */
    int count, nao;
    fmo_dataset **dataset; /* [count] */
    fmo_fock_plan **plan;  /* [count] */
    fmo_fock_job *job;     /* [count], outputs and densities filled in by who measures */
    double *density;       /* of the molecules */
    double *current, *coulomb, *exchange; /* of the last call */
    bench_work work;                      /* of all `count` builds */
    double plan_seconds, first_seconds, accumulation_share;
    double error[3];        /* largest of J, K, G */
    double exact_cutoff;    /* of the build that they are taken against */
    double unscreened_most; /* primitive quartets that may be built without screening */
    int waits;              /* wall times kept */
    double wall[FOCK_WALL_MAX];
    uint64_t calls;
} fock_case;

/* What a row is of. */
typedef struct fock_item {
    const char *name, *table, *column;
    const fmo_molecule *molecule;
    const char *basis;
    const char *peer; /* NULL without */
    double peer_ms, target_ms;
    int fragments; /* 1: the molecule itself; else displaced copies */
} fock_item;

#ifdef __cplusplus
extern "C" {
#endif

/** Build one row in each mode that was asked for (or say why not), print it, keep its cell.
 *  @param[in] small  leave it out on the CPU if it is large and the mode was not asked for */
void fock_measure(bench_run *run, const fock_item *item, bool small);

/** The heading of the rows. */
void fock_print_head(const bench_run *run);

/** A call of the plans from and to host memory or, in fock.cu, GPU memory; used by fock_measure. */
void fock_call_done(fock_case *c, double wall);

/** Errors of the last call, whose matrices are in c->current, c->coulomb and c->exchange. */
void fock_check(bench_run *run, fock_case *c, bench_check *check);

/** A stream for the first plan of a case, NULL after a fault. */
void *fock_stream_create(bench_run *run);
void fock_stream_destroy(void *stream); /**< NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
