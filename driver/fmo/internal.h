/* Declarations shared by the files of an FMO calculation. Dependencies go one way: run.c -> pairs.c
 * -> scc.c -> field.c, mix.c, solve.c -> share.c -> subsystem.c -> hybrid.c; state.c
 * saves what scc.c and pairs.c have computed. Output of results: table.c, map.c, page.c, cpf.c ->
 * map_scale.c, text.c; ligand.c finds a fragment by its name. Method:
 * docs/explanation/fmo-method.md. */
#ifndef FMO_FRAGMENT_INTERNAL_H
#define FMO_FRAGMENT_INTERNAL_H

#include <fmo/fragment.h>

#include <stdint.h>
#include <fmo/potential.h>

#include "driver/scf/batch.h"

/* A subsystem: one or two fragments as a molecule. Matrices are [nao][nao] in the order of its own
 * functions: atom by atom in the order of the system; ghost atoms have the positions of their
 * atoms. */
typedef struct fmo_subsystem {
    int fragment[2], fragments;
    int atom_num;
    int *atom;      /* [atom_num] indices in the system, ascending */
    double *charge; /* [atom_num] of the nuclei: Z, less or more at cut bonds */
    double *coord;  /* [atom_num][3] bohr */
    int *begin;     /* [atom_num + 1] index of the first function of each atom */
    int nao, electron_num;
    double nuclear_repulsion;
    fmo_dataset *dataset;
    const fmo_basis *basis; /* belongs to dataset */
    fmo_products *products; /* for potentials; in a pair: those between its monomers */
    double *core; /* T, and V of the subsystem's own nuclei; in a pair V is added with its field */
    double *overlap;
    double *projector; /* P; NULL without cut bonds */
    double *field;     /* U */
    double *density;
    double energy;           /* E', without Tr D U */
    double field_energy;     /* Tr D U */
    double projector_energy; /* Tr D P */
    double homo, lumo;
    int cycles;
} fmo_subsystem;

/* How the density of a fragment is approximated, depending on the distance. */
typedef enum fmo_seen { FMO_SEEN_EXACT, FMO_SEEN_AOC, FMO_SEEN_CHARGES } fmo_seen;

typedef struct fmo_fragments {
    const fmo_fragment_system *system;
    const fmo_basis_set *set;
    fmo_functions functions; /* Cartesian or spherical, for all subsystems */
    fmo_fragment_options o;  /* its mode is never AUTO */
    int threads;             /* threads of the host */
    int threads_cpu; /* all threads of the host, for SCFs that run on the CPU in mode fused */
    const fmo_ranks *ranks; /* ranks that share the work, or NULL; functions that all must call are
                               marked `collective` */
    int threads_first;      /* threads of rank 0 */
    int shares;             /* 1: each rank always has the same monomers, whose plans it caches */
    char *mine;             /* [fragment_num + pair_num] by index: 1 if this rank computed it */
    int *order;             /* [fragment_num] fragments by size, the largest first */
    char *buffer;           /* buffer for broadcasting arrays of all monomers */
    fmo_scf_job *job;       /* [fragment_num] SCFs of the monomers */
    fmo_batch_cache *kept;  /* cache of their plans between iterations, or NULL */
    double *distance;       /* [fragment_num][fragment_num] relative distances */
    fmo_hybrids *hybrids[119]; /* by element, for those with cut bonds */
    fmo_subsystem *monomer;    /* [fragment_num] */
    fmo_distribution **exact;  /* [fragment_num] nuclei and electrons, as seen by near fragments */
    fmo_distribution **aoc;    /* [fragment_num] diagonal (D S)_ss, as seen by farther ones */
    fmo_distribution **point;  /* [fragment_num] Mulliken charges, as seen by far ones */
    fmo_distribution *points;  /* Mulliken charges of all fragments */
    double **mulliken;         /* [fragment_num][atoms] Z_A - pop_A */
    char *pair_done;           /* [pair_num] 1 if the SCF of the pair in result->pair is finished */
    double *pair_charge;       /* [atoms] corrections of charges by pairs, e */
    fmo_fragment_result *result;
} fmo_fragments;

/* ---- hybrid.c ---- */

/* Reads the hybrid orbitals of all elements at which a bond is cut. */
fmo_status fmo_fragment_read_hybrids(fmo_fragments *f, fmo_error *err);
/* Computes P of a subsystem in subsystem->projector, if it has cut bonds. */
fmo_status fmo_subsystem_project(const fmo_fragments *f, fmo_subsystem *subsystem, fmo_error *err);

/* ---- subsystem.c ---- */

/* Makes a subsystem of one fragment (j < 0) or two: begin makes its atoms and functions; fill its
 * matrices and products. For a pair, fill makes only T of the core, and only the products that its
 * monomers lack, because the rest comes from the monomers (fmo_pairs_fields). */
fmo_status fmo_subsystem_begin(const fmo_fragments *f, int i, int j, fmo_subsystem *subsystem,
                               fmo_error *err);
fmo_status fmo_subsystem_fill(const fmo_fragments *f, fmo_subsystem *subsystem, fmo_error *err);
void fmo_subsystem_empty(fmo_subsystem *subsystem);         /* frees what fmo_subsystem_fill made */
void fmo_subsystem_free_products(fmo_subsystem *subsystem); /* frees what only the field needs */
void fmo_subsystem_destroy(fmo_subsystem *subsystem);
/* Y = kept Y + X in the blocks of atoms that `from` (X) and `to` (Y) have in common; atoms that
 * `to` lacks are ignored. */
void fmo_subsystem_add_matrix(const fmo_subsystem *from, const double *X, double kept,
                              const fmo_subsystem *to, double *Y);
/* Computes the Mulliken population of each atom of a subsystem, sum_i in A (D S)_ii. */
void fmo_subsystem_populations(const fmo_subsystem *subsystem, const double *density,
                               double *population);
double fmo_trace(size_t n, const double *A, const double *B); /* returns sum_ij A_ij B_ij */

/* ---- share.c: does nothing in a single process ---- */

/* Returns an error on all ranks if one has an error: collective. Needed after everything that can
 * fail on a single rank. */
fmo_status fmo_fragment_agree(const fmo_fragments *f, fmo_status status, fmo_error *err);
fmo_status fmo_fragment_no_network(fmo_error *err);
int fmo_fragment_is_first(const fmo_fragments *f); /* 1 on rank 0 or in a single process */
/* Resets the counter of work items to 0: collective. */
fmo_status fmo_fragment_restart(const fmo_fragments *f, fmo_error *err);
/* Broadcasts bytes from rank 0: collective. */
fmo_status fmo_fragment_broadcast(const fmo_fragments *f, void *data, size_t bytes, fmo_error *err);

/* Arrays that belong to index k, of equal size on all ranks; unused entries have 0 bytes. */
typedef struct fmo_block {
    void *data;
    size_t bytes;
} fmo_block;
enum { FMO_BLOCKS = 8 };
typedef void fmo_blocks(fmo_fragments *f, int k, void *user, fmo_block b[FMO_BLOCKS]);

/* Gathers on rank 0 the arrays of all indices in `mine` of each rank; if the status of a rank is an
 * error, all ranks return an error: collective. */
fmo_status fmo_fragment_gather(fmo_fragments *f, fmo_status status, int count, fmo_blocks *blocks,
                               void *user, fmo_error *err);
/* Spread broadcasts arrays of all monomers (user: f->monomer) from rank 0; share gathers and then
 * broadcasts them: collective. */
fmo_status fmo_fragment_spread(fmo_fragments *f, fmo_blocks *blocks, fmo_error *err);
fmo_status fmo_fragment_share(fmo_fragments *f, fmo_status status, fmo_blocks *blocks,
                              fmo_error *err);
/* Allocates the buffer for spread, after the monomers have been made. */
fmo_status fmo_fragment_allocate(fmo_fragments *f, fmo_error *err);

/* Arrays of subsystem k of an array of subsystems: results of its SCF; its field. */
void fmo_subsystem_blocks(fmo_fragments *f, int k, void *user, fmo_block b[FMO_BLOCKS]);
void fmo_subsystem_field_blocks(fmo_fragments *f, int k, void *user, fmo_block b[FMO_BLOCKS]);

/* ---- share.c: many fragments or pairs ---- */

/* Calls what() for k = 0 .. count-1. If there are enough indices, each thread calls it with one
 * thread of its own; otherwise the calls are made one after the other with all threads. `threads`
 * tells the callee how many it may use. Stops at the first error. */
typedef fmo_status fmo_each(fmo_fragments *f, int k, int threads, void *user, fmo_error *err);
fmo_status fmo_fragment_each(fmo_fragments *f, int count, int threads, fmo_each *what, void *user,
                             fmo_error *err);
/* Does the same with indices distributed over the ranks; each rank marks its own in `mine`.
 * Collective, except that the returned status is that of this rank only, so a gather must follow.
 * order: [count] in which indices are taken, or NULL. one_by_one: 1 makes calls one after the
 * other. */
fmo_status fmo_fragment_deal(fmo_fragments *f, int count, const int *order, int one_by_one,
                             fmo_each *what, void *user, fmo_error *err);

/* ---- field.c ---- */

/* Updates the densities and charges that other fragments see; called after every iteration. */
fmo_status fmo_field_update(fmo_fragments *f, fmo_error *err);
/* Computes U of all other fragments for some monomers, in their `field`. fock: mode, GPUs and
 * cutoff. */
fmo_status fmo_monomers_fields(fmo_fragments *f, fmo_subsystem *monomers, int count,
                               const fmo_fock_options *fock, int threads, fmo_error *err);
/* Computes U of the pairs with indices `which` from the fields of their monomers, and completes
 * their core Hamiltonian, T so far, by V of their nuclei. */
fmo_status fmo_pairs_fields(fmo_fragments *f, fmo_subsystem *pairs, const size_t *which, int count,
                            const fmo_fock_options *fock, int threads, fmo_error *err);
/* Returns 1 if two subsystems contain nuclei of the same atom. */
int fmo_subsystems_share_atom(const fmo_subsystem *I, const fmo_subsystem *J);
/* Computes the electrostatic energy of some pairs; NaN for those that share an atom. */
fmo_status fmo_field_electrostatics(fmo_fragments *f, fmo_fragment_pair *pairs, int count,
                                    int threads, fmo_error *err);

/* ---- solve.c ---- */

/* Convergence thresholds: energy_convergence, gradient_convergence and gradient_aim of
 * fmo_scf_options. */
typedef struct fmo_thresholds {
    double energy, gradient, aim;
} fmo_thresholds;

/* Callbacks for subsystems that have only atoms and functions at first: prepare and release the
 * rest of some of them (driver/scf/batch.h); solved is called for each converged one, and advanced
 * after it and after cycles of SCFs, one call at a time. */
typedef struct fmo_subsystem_callbacks {
    fmo_status (*prepare)(fmo_fragments *f, const size_t *subsystem, size_t num,
                          const fmo_fock_options *fock, void *user, fmo_error *err);
    void (*solved)(fmo_fragments *f, size_t subsystem, void *user);
    /* running: cubed numbers of functions of running subsystems, each times the share of its SCF
     * that is done */
    void (*advanced)(fmo_fragments *f, double running, void *user);
    void (*release)(size_t subsystem, void *user);
    void *user;
    double elements;
} fmo_subsystem_callbacks;

/* Returns 1 if the SCFs of these subsystems run on the CPU. */
int fmo_subsystems_go_to_cpu(const fmo_fragments *f, const fmo_subsystem *subsystems, int count);
/* Runs RHF of subsystems in their fields, starting from their densities, as one batch; sets
 * densities, energies and cycles. For the monomers (subsystems = f->monomer) all ranks share the
 * work: collective. Without `orbitals` homo and lumo are NaN. callbacks: NULL if all subsystems are
 * complete. */
fmo_status fmo_subsystems_solve(fmo_fragments *f, fmo_subsystem *subsystems, int count,
                                const fmo_thresholds *thresholds, int orbitals,
                                const fmo_subsystem_callbacks *callbacks, fmo_error *err);

/* ---- mix.c ---- */

typedef struct fmo_mixer fmo_mixer;
fmo_mixer *fmo_mixer_create(const fmo_fragments *f); /* NULL if there is no memory */
void fmo_mixer_destroy(fmo_mixer *mixer);            /* NULL is allowed */
/* Replaces the fields of the monomers' densities by the extrapolated fields for the next iteration.
 * first: 1 in the first iteration. Returns the norm of the difference between the fields of the
 * densities and those in which they were computed, hartree per fragment; NaN in the first
 * iteration. */
double fmo_mixer_next(fmo_mixer *mixer, fmo_fragments *f, int first);

/* ---- scc.c ---- */

/* Iterates the monomers to self-consistency: collective. */
fmo_status fmo_fragment_converge(fmo_fragments *f, fmo_error *err);
/* Computes the fields of the monomers' present densities on all ranks: collective. */
fmo_status fmo_fragment_last_fields(fmo_fragments *f, fmo_error *err);

/* ---- pairs.c ---- */

/* Computes all pairs: collective. */
fmo_status fmo_fragment_pairs(fmo_fragments *f, fmo_error *err);

/* ---- state.c ---- */

/* Returns a hash of everything that the densities depend on. */
uint64_t fmo_fragments_identity(const fmo_fragments *f);

/* Write and read the state of a run: number of iterations, whether the monomers have converged,
 * energies and densities; and finished pairs once the monomers have converged. Pairs computed with
 * other thresholds are ignored. */
fmo_status fmo_state_write(const fmo_fragments *f, int iteration, int converged, fmo_error *err);
fmo_status fmo_state_read(fmo_fragments *f, int *iteration, int *converged, fmo_error *err);

#endif
