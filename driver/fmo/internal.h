/* Fragments under way, by file. Arrows go one way: run.c -> pairs.c -> scc.c -> field.c, mix.c,
 * solve.c -> each.c -> share.c -> subsystem.c -> hybrid.c; state.c keeps what scc.c and pairs.c
 * have reached. What is written of a result alone: table.c, map.c -> map_scale.c, text.c. */
#ifndef FMO_FRAGMENT_INTERNAL_H
#define FMO_FRAGMENT_INTERNAL_H

#include <fmo/fragment.h>

#include <stdint.h>
#include <fmo/potential.h>

#include "driver/scf/batch.h"

/* One or two fragments as a molecule. Matrices [nao][nao] in the order of its own functions: atom
 * by atom in the order of the system, ghosts where their atoms stand. */
typedef struct fmo_subsystem {
    int fragment[2], fragments;
    int atom_num;
    int *atom;      /* [atom_num] in the system, ascending */
    double *charge; /* [atom_num] of the nuclei: Z, or less or more at cut bonds */
    double *coord;  /* [atom_num][3] bohr */
    int *begin;     /* [atom_num + 1] first function of each atom */
    int nao, electron_num;
    double nuclear_repulsion;
    fmo_dataset *dataset;
    const fmo_basis *basis; /* its */
    fmo_products *products; /* for potentials of others; of a pair those between its monomers */
    double *core;           /* T, and V of the subsystem's own nuclei, of a pair with its field */
    double *overlap;
    double *projector; /* P; NULL without cut bonds */
    double *field;     /* U */
    double *density;
    double energy;           /* E': without Tr D U */
    double field_energy;     /* Tr D U */
    double projector_energy; /* Tr D P */
    double homo, lumo;
    int cycles;
} fmo_subsystem;

/* How a fragment is seen from a distance. */
typedef enum fmo_seen { FMO_SEEN_EXACT, FMO_SEEN_AOC, FMO_SEEN_CHARGES } fmo_seen;

typedef struct fmo_fragments {
    const fmo_fragment_system *system;
    const fmo_basis_set *set;
    fmo_functions functions;   /* of all subsystems, Cartesian or spherical */
    fmo_fragment_options o;    /* mode is not AUTO */
    int threads;               /* of the host */
    int threads_cpu;           /* for SCFs that it has in mode fused: all that there are */
    const fmo_ranks *ranks;    /* that share the work, or NULL; what all do is `collective` below */
    int threads_first;         /* those of rank 0 */
    int shares;                /* each rank has always the same monomers, whose plans it keeps */
    char *mine;                /* [most of fragment_num and pair_num] what this rank has done */
    int *order;                /* [fragment_num] the largest first */
    char *capacity;            /* for arrays of all monomers, on their way from rank 0 */
    fmo_scf_job *job;          /* [fragment_num] SCFs of the monomers */
    fmo_batch_cache *kept;     /* of them, from iteration to iteration; or NULL */
    double *distance;          /* [fragment_num][fragment_num] */
    fmo_hybrids *hybrids[119]; /* by element, where bonds are cut */
    fmo_subsystem *monomer;    /* [fragment_num] */
    fmo_distribution **exact;  /* [fragment_num] nuclei and electrons, as near ones see them, and */
    fmo_distribution **aoc;    /* [fragment_num] farther ones: (D S)_ss on the diagonal, and */
    fmo_distribution **point;  /* [fragment_num] far ones: Mulliken charges; */
    fmo_distribution *points;  /* those of all */
    double **mulliken;         /* [fragment_num][atoms] Z_A - pop_A */
    char *pair_done;           /* [pair_num] SCFs of pairs that are finished, in result->pair */
    double *pair_charge;       /* [atoms] what they change of the charges */
    fmo_fragment_result *result;
} fmo_fragments;

/* ---- hybrid.c ---- */

/* Hybrids of every element of which a bond was cut. */
fmo_status fmo_fragment_read_hybrids(fmo_fragments *f, fmo_error *err);
/* P of a subsystem into subsystem->projector, where it has cut bonds. */
fmo_status fmo_subsystem_project(const fmo_fragments *f, fmo_subsystem *subsystem, fmo_error *err);

/* ---- subsystem.c ---- */

/* One fragment (j < 0) or two as a molecule: its atoms and functions; then its matrices, and what
 * potentials want: of a pair T alone of the core, and products that its monomers lack, as they have
 * the rest of it (fmo_pairs_fields). */
fmo_status fmo_subsystem_begin(const fmo_fragments *f, int i, int j, fmo_subsystem *subsystem,
                               fmo_error *err);
fmo_status fmo_subsystem_fill(const fmo_fragments *f, fmo_subsystem *subsystem, fmo_error *err);
void fmo_subsystem_empty(fmo_subsystem *subsystem);           /* of what fmo_subsystem_fill made */
void fmo_subsystem_forget_products(fmo_subsystem *subsystem); /* which only its field needs */
void fmo_subsystem_destroy(fmo_subsystem *subsystem);
/* Adds a matrix of `from` to one of `to`, of which that leaves `kept` times what it has there, atom
 * by atom; atoms that `to` lacks are left out. */
void fmo_subsystem_add_matrix(const fmo_subsystem *from, const double *X, double kept,
                              const fmo_subsystem *to, double *Y);
/* Electrons of each atom of a subsystem after Mulliken, sum_i in A (D S)_ii. */
void fmo_subsystem_populations(const fmo_subsystem *subsystem, const double *density,
                               double *population);
double fmo_trace(size_t n, const double *A, const double *B); /* sum_ij A_ij B_ij */

/* ---- share.c: alone there is nothing to be done ---- */

/* All ranks fail if one does: collective. After whatever can fail on one rank alone. */
fmo_status fmo_fragment_agree(const fmo_fragments *f, fmo_status status, fmo_error *err);
fmo_status fmo_fragment_no_network(fmo_error *err);
int fmo_fragment_is_first(const fmo_fragments *f); /* rank 0, or alone */
/* Numbers are taken from 0 on again: collective. */
fmo_status fmo_fragment_restart(const fmo_fragments *f, fmo_error *err);
/* Bytes of rank 0 to all: collective. */
fmo_status fmo_fragment_tell(const fmo_fragments *f, void *data, size_t bytes, fmo_error *err);

/* Arrays that number k is made of, of one size on all ranks; those left as they are have none. */
typedef struct fmo_block {
    void *data;
    size_t bytes;
} fmo_block;
enum { FMO_BLOCKS = 8 };
typedef void fmo_blocks(fmo_fragments *f, int k, void *user, fmo_block b[FMO_BLOCKS]);

/* From whoever has a number in `mine` to rank 0, unless a rank's status is an error, which is then
 * that of all: collective. */
fmo_status fmo_fragment_gather(fmo_fragments *f, fmo_status status, int count, fmo_blocks *blocks,
                               void *user, fmo_error *err);
/* Arrays of all monomers (user: f->monomer) from rank 0 to all; and both: collective. */
fmo_status fmo_fragment_spread(fmo_fragments *f, fmo_blocks *blocks, fmo_error *err);
fmo_status fmo_fragment_share(fmo_fragments *f, fmo_status status, fmo_blocks *blocks,
                              fmo_error *err);
/* Memory for that, once there are monomers. */
fmo_status fmo_fragment_allocate(fmo_fragments *f, fmo_error *err);

/* Of an array of subsystems: what solving leaves in one; its field. */
void fmo_subsystem_blocks(fmo_fragments *f, int k, void *user, fmo_block b[FMO_BLOCKS]);
void fmo_subsystem_field_blocks(fmo_fragments *f, int k, void *user, fmo_block b[FMO_BLOCKS]);

/* ---- each.c ---- */

/* Calls what() for 0 .. count-1 on so many threads: side by side where there is one for each
 * thread, else one by one; and says how many threads each may use. The first error ends it. */
typedef fmo_status fmo_each(fmo_fragments *f, int k, int threads, void *user, fmo_error *err);
fmo_status fmo_fragment_each(fmo_fragments *f, int count, int threads, fmo_each *what, void *user,
                             fmo_error *err);
/* The same with numbers dealt out to the ranks, whose own are then in `mine`: collective, but for
 * the status, which is this rank's, so that a gather has to follow.
 * order: NULL, or [count] in which they are taken. */
fmo_status fmo_fragment_deal(fmo_fragments *f, int count, const int *order, int one_by_one,
                             fmo_each *what, void *user, fmo_error *err);

/* ---- field.c ---- */

/* The monomers as others see them: after every iteration. */
fmo_status fmo_field_update(fmo_fragments *f, fmo_error *err);
/* U of all other fragments into the fields of some monomers. fock: its mode, GPU and cutoff. */
fmo_status fmo_monomers_fields(fmo_fragments *f, fmo_subsystem *monomers, int count,
                               const fmo_fock_options *fock, int threads, fmo_error *err);
/* The same of pairs, those of numbers `which`, whose monomers have their fields; and V of their
 * nuclei, and with it what is T so far becomes the core. */
fmo_status fmo_pairs_fields(fmo_fragments *f, fmo_subsystem *pairs, const size_t *which, int count,
                            const fmo_fock_options *fock, int threads, fmo_error *err);
/* Whether two subsystems have nuclei of one atom. */
int fmo_subsystems_share_atom(const fmo_subsystem *I, const fmo_subsystem *J);
/* Electrostatics of some pairs, of those that share no atom; of the others NaN. */
fmo_status fmo_field_electrostatics(fmo_fragments *f, fmo_fragment_pair *pairs, int count,
                                    int threads, fmo_error *err);

/* ---- solve.c ---- */

/* When an SCF has converged: fmo_scf_options' energy_convergence, gradient_convergence and
 * gradient_aim. */
typedef struct fmo_thresholds {
    double energy, gradient, aim;
} fmo_thresholds;

/* Parts that have atoms and functions alone before their turn: what makes the rest of some of them,
 * and lets go of it (driver/scf/batch.h); and what hears of each that is solved, one at a time. */
typedef struct fmo_subsystem_callbacks {
    fmo_status (*prepare)(fmo_fragments *f, const size_t *subsystem, size_t num,
                          const fmo_fock_options *fock, void *user, fmo_error *err);
    void (*solved)(fmo_fragments *f, size_t subsystem, void *user);
    void (*release)(size_t subsystem, void *user);
    void *user;
    double elements;
} fmo_subsystem_callbacks;

/* Whether SCFs of subsystems run on the CPU. */
int fmo_subsystems_go_to_cpu(const fmo_fragments *f, const fmo_subsystem *subsystems, int count);
/* RHF of subsystems in their fields from their densities, as one batch: densities, energies,
 * cycles. Of the monomers, f->monomer, by all ranks: collective. Without `orbitals` homo and lumo
 * are NaN. callbacks: NULL, if subsystems are complete. */
fmo_status fmo_subsystems_solve(fmo_fragments *f, fmo_subsystem *subsystems, int count,
                                const fmo_thresholds *thresholds, int orbitals,
                                const fmo_subsystem_callbacks *callbacks, fmo_error *err);

/* ---- mix.c ---- */

typedef struct fmo_mixer fmo_mixer;
fmo_mixer *fmo_mixer_create(const fmo_fragments *f); /* NULL without memory */
void fmo_mixer_destroy(fmo_mixer *mixer);            /* NULL is fine */
/* From the fields of the monomers' densities to those that the next iteration takes. Returns how
 * far they were from those that the densities came of: the norm of the difference, hartree, of a
 * fragment; NaN the first time. */
double fmo_mixer_next(fmo_mixer *mixer, fmo_fragments *f, int first);

/* ---- scc.c ---- */

fmo_status fmo_fragment_converge(fmo_fragments *f, fmo_error *err);
/* Fields of the densities that the monomers have, on all ranks: collective. */
fmo_status fmo_fragment_last_fields(fmo_fragments *f, fmo_error *err);

/* ---- pairs.c ---- */

fmo_status fmo_fragment_pairs(fmo_fragments *f, fmo_error *err);

/* ---- state.c ---- */

/* A sum of everything that the densities depend on. */
uint64_t fmo_fragments_identity(const fmo_fragments *f);

/* What a run has reached: iterations done, whether that was the last, energies, densities; and,
 * once monomers are converged, finished pairs. Pairs of a run with other thresholds are left out.
 */
fmo_status fmo_state_write(const fmo_fragments *f, int iteration, int converged, fmo_error *err);
fmo_status fmo_state_read(fmo_fragments *f, int *iteration, int *converged, fmo_error *err);

#endif
