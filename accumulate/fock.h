/* The two-electron part of the closed-shell Fock matrix with separate planning and execution: a
 * plan is made once for a basis (shell pairs, Schwarz bounds, buffers) and then builds J and K of
 * any number of densities.
 *
 *    J_ij = sum_kl D_kl (ij|kl)     K_ij = sum_kl D_kl (ik|jl)     G = J - K/2
 *
 * There is no global state: two plans may be used in two threads. See docs/tutorials/c.md. */
#ifndef FMO_FOCK_H
#define FMO_FOCK_H

#include <stddef.h>
#include <stdint.h>
#include <fmo/basis.h>
#include <fmo/eri_class.h>
#include <fmo/operator.h>
#include <fmo/ranks.h>
#include <fmo/scatter.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, name, description) */
#define FMO_MODE_TABLE(X)                                                                       \
    X(FMO_MODE_AUTO, "auto", "fused if a GPU is available, else cpu")                           \
    X(FMO_MODE_CPU, "cpu", "integrals and accumulation on the host, OpenMP")                    \
    X(FMO_MODE_REFERENCE, "reference", "full ERI tensor by an independent algorithm, OpenBLAS") \
    X(FMO_MODE_FUSED, "fused", "GPU computes and accumulates")                                  \
    X(FMO_MODE_SPLIT, "split", "GPU computes integrals, the CPU reduces them")

/* How CPU threads sum into one matrix. X(enumerator, name, description) */
#define FMO_REDUCE_TABLE(X)                                                               \
    X(FMO_REDUCE_TREE, "tree", "a private J and K per thread, added pairwise at the end") \
    X(FMO_REDUCE_ATOMIC, "atomic", "one shared J and K, every add atomic")                \
    X(FMO_REDUCE_SERIAL, "serial", "one thread adds (split only)")

/* Whether a plan stores its integrals between builds. Stored are all integrals that screening could
 * keep for a density with elements up to 8 (for functions of norm 1), or up to twice the largest so
 * far. Mode fused computes them when the plan is made, mode cpu in the first build. X(enumerator,
 * name, description) */
#define FMO_INTEGRALS_TABLE(X)                                                               \
    X(FMO_INTEGRALS_DIRECT, "direct", "computed in every build, none kept")                  \
    X(FMO_INTEGRALS_STORED, "stored", "computed once and kept; an error if they do not fit") \
    X(FMO_INTEGRALS_AUTO, "auto", "stored if they fit in memory and save time, else direct")

/* How the contribution of well-separated (far) pairs to J is computed. X(enumerator, name,
 * description) */
#define FMO_COULOMB_TABLE(X)                                             \
    X(FMO_COULOMB_AUTO, "auto", "boxes if they save time, else direct")  \
    X(FMO_COULOMB_DIRECT, "direct", "from integrals, as for near pairs") \
    X(FMO_COULOMB_BOXES, "boxes", "from multipole expansions of cells of pairs (cpu, fused)")

/* Symmetry of a density. X(enumerator, name, description) */
#define FMO_SYMMETRY_TABLE(X)                                                   \
    X(FMO_SYMMETRIC, "symmetric", "D = D^T; checked, for matrices on the host") \
    X(FMO_ANTISYMMETRIC, "antisymmetric", "D = -D^T, checked; J of it is 0")    \
    X(FMO_GENERAL, "general", "any real matrix")

/** Largest number of GPUs that can share a build. */
#define FMO_DEVICES_MAX 16

#define FMO_ENUM_ROW(e, name, text) e,
/** Where a build runs and how it is organised. */
typedef enum fmo_mode { FMO_MODE_TABLE(FMO_ENUM_ROW) FMO_MODE_COUNT } fmo_mode;
/** How CPU threads sum into one matrix. */
typedef enum fmo_reduce { FMO_REDUCE_TABLE(FMO_ENUM_ROW) FMO_REDUCE_COUNT } fmo_reduce;
/** Whether integrals are stored between builds. */
typedef enum fmo_integrals { FMO_INTEGRALS_TABLE(FMO_ENUM_ROW) FMO_INTEGRALS_COUNT } fmo_integrals;
/** How J of well-separated pairs is computed. */
typedef enum fmo_coulomb { FMO_COULOMB_TABLE(FMO_ENUM_ROW) FMO_COULOMB_COUNT } fmo_coulomb;
/** Symmetry of a density. */
typedef enum fmo_symmetry { FMO_SYMMETRY_TABLE(FMO_ENUM_ROW) FMO_SYMMETRY_COUNT } fmo_symmetry;
#undef FMO_ENUM_ROW

FMO_API const char *fmo_mode_name(fmo_mode mode);                /**< "cpu"; NULL if out of range */
FMO_API const char *fmo_mode_text(fmo_mode mode);                /**< one line for --help */
FMO_API const char *fmo_reduce_name(fmo_reduce reduce);          /**< as fmo_mode_name */
FMO_API const char *fmo_reduce_text(fmo_reduce reduce);          /**< as fmo_mode_text */
FMO_API const char *fmo_integrals_name(fmo_integrals integrals); /**< as fmo_mode_name */
FMO_API const char *fmo_integrals_text(fmo_integrals integrals); /**< as fmo_mode_text */
FMO_API const char *fmo_coulomb_name(fmo_coulomb coulomb);       /**< as fmo_mode_name */
FMO_API const char *fmo_coulomb_text(fmo_coulomb coulomb);       /**< as fmo_mode_text */
FMO_API const char *fmo_symmetry_name(fmo_symmetry symmetry);    /**< as fmo_mode_name */

/** Options of a plan; fmo_fock_options_init sets the defaults. */
typedef struct fmo_fock_options {
    fmo_mode mode;     /**< default FMO_MODE_AUTO */
    fmo_reduce reduce; /**< default FMO_REDUCE_TREE */
    int threads;       /**< CPU threads, including those of OpenBLAS; 0: as many as OpenMP would
                            use. fmo_fock_threads may return fewer; the profile reports the number
                            used */
    double cutoff;     /**< screening threshold for functions of norm 1, default 1e-10; 0: no
                            screening */
    size_t memory;     /**< bytes that a build may use for work space (cpu, reference: host; split:
                            pinned host and GPU; fused: GPU), and the same amount again for stored
                            integrals; 0: based on free memory. If the private copies of X^J and X^K
                            do not fit, mode cpu shares them between threads, then uses fewer
                            threads; the profile reports this */
    fmo_integrals integrals; /**< modes cpu and fused, except with FMO_SCATTER_TILE; in other modes
                                  auto means direct; default FMO_INTEGRALS_DIRECT */
    fmo_coulomb coulomb; /**< modes cpu and fused: J of well-separated pairs; in other modes auto
                              means direct. Boxes need a cutoff above 0, exclude stored integrals,
                              and change J by about the cutoff. J of another molecule's density is
                              always direct. Default FMO_COULOMB_AUTO */
    fmo_scatter scatter; /**< fused: how contributions are added to the matrices; cpu:
                              FMO_SCATTER_FIXED makes sums independent of the number of threads;
                              default FMO_SCATTER_AUTO */
    fmo_commit commit;   /**< fused: how one atomic addition is done; default FMO_COMMIT_NATIVE */
    int no_overlap;      /**< split: the GPU waits for the CPU after each batch (as in the paper) */
    int measure_classes; /**< fused: run each build again, class by class with timers, to fill the
                              seconds of each class in the profile; the build itself runs classes
                              concurrently and is timed as a whole */
    int measure_accumulation; /**< fused: as measure_classes, and once more without the atomic
                                   updates, to fill compute_seconds of the profile */
    int device;   /**< fused and split: CUDA device number; -1, the default: the current device of
                       the thread that makes the plan. Later calls select this device themselves */
    void *stream; /**< cudaStream_t on that GPU to which work is submitted; NULL: the plan creates
                       its own */
    /** Fused and split: number of GPUs that share every build; 0 or 1: one GPU. Each GPU computes
     *  an equal share of the quartets. Fused: the first GPU sums X^J and X^K and forms the
     *  matrices, so `stream` and matrices in GPU memory belong to it; J with a source is built on
     *  it alone; with FMO_SCATTER_FIXED the results are bitwise the same for any number of GPUs;
     *  all GPUs must be of one model. Split: the CPU processes the batches of the GPUs in turn.
     *  Plans of fmo_fock_plan_create_batch are distributed over the GPUs, one GPU each. Cannot be
     *  combined with `ranks`. */
    int device_num;
    int devices[FMO_DEVICES_MAX]; /**< [device_num] CUDA device numbers; leave `device` at -1 */
    /** Called by the building thread with the completed fraction, 0 to 1; NULL: never. */
    void (*progress)(double fraction, void *user);
    void *progress_user; /**< passed to progress */
    /** Rank 0: builds of this plan are shared with the other ranks, which are in fmo_fock_serve;
     *  NULL: this process builds alone. Plans of fmo_fock_plan_create_batch and of mode reference
     *  are not shared. */
    fmo_ranks *ranks;
} fmo_fock_options;

/** Returns the number of CPU threads that a plan with options.threads = requested would use now: at
 *  most the larger of 64 and 4 for each processor, and no more than this process may start (ulimit
 *  -u and -v, control groups; half of what these allow if they allow fewer than requested). The
 *  limit matters because OpenMP ends the process if it cannot start a thread.
 *  @return at least 1 */
FMO_API int fmo_fock_threads(int requested);

/** Sets whether plans of mode cpu made by this thread reuse the memory of stored integrals of plans
 *  that it has destroyed. New memory is cleared by the system first, which takes 5 to 8 % of the
 *  time of SCFs with 150 functions. fmo_scf_run_batch turns this on for its molecules.
 *  @param[in] on 0 (the initial state): no reuse; frees the unused memory, which a thread must do
 *          before it ends
 *  @return the previous setting */
FMO_API int fmo_fock_reuse_memory(int on);

/** Sets the defaults. Call it before setting fields, so that fields added later get theirs. */
FMO_API void fmo_fock_options_init(fmo_fock_options *options);

/** A basis with all that builds need of it. Only one thread at a time may use a plan. */
typedef struct fmo_fock_plan fmo_fock_plan;

/** Makes a plan. The basis may be destroyed afterwards.
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_UNSUPPORTED (mode not in this build),
 *          FMO_ERR_NO_DEVICE (fused or split without a GPU, or without that of options.device; auto
 *          without options.device uses mode cpu instead), FMO_ERR_MEMORY (the message says how much
 *          was needed) */
FMO_API fmo_status fmo_fock_plan_create(const fmo_basis *basis, const fmo_fock_options *options,
                                        fmo_fock_plan **plan, fmo_error *err);
/** Makes plans of many molecules in parallel on options->threads threads. They can be built
 *  together by fmo_fock_build_batch, or alone.
 *  @param[in] basis [count]
 *  @param[in] options for all plans; NULL: the defaults
 *  @param[out] plans [count], NULL where making the plan failed; the others are made nevertheless
 *  @param[out] errs [count], or NULL
 *  @return as fmo_fock_plan_create, for the first plan that failed */
FMO_API fmo_status fmo_fock_plan_create_batch(const fmo_basis *const *basis, size_t count,
                                              const fmo_fock_options *options,
                                              fmo_fock_plan **plans, fmo_error *errs);
FMO_API void fmo_fock_plan_destroy(fmo_fock_plan *plan); /**< Destroys a plan; NULL is allowed. */

/** Sets a cutoff larger than options.cutoff for later builds, for densities that do not need full
 *  accuracy, as in the first cycles of an SCF. The plan's pairs, boxes and stored integrals stay as
 *  they are (mode cpu skips stored integrals below the new cutoff, except with FMO_SCATTER_FIXED).
 *  The other ranks of a shared plan follow.
 *  @param[in] cutoff from options.cutoff, which restores it, to 1
 *  @return FMO_OK, FMO_ERR_ARGUMENT */
FMO_API fmo_status fmo_fock_plan_loosen(fmo_fock_plan *plan, double cutoff, fmo_error *err);

/** Prepares a plan for densities in GPU memory with elements larger than 8, the limit for which
 *  plans are made. Not needed for densities in host memory, which each build inspects. The plan
 *  keeps the new limit; stored integrals are computed again.
 *  @param[in] largest the largest |D_ij| norm_i norm_j, with the norms of fmo_basis_ao_norm
 *  @return FMO_OK, FMO_ERR_ARGUMENT, and the errors of fmo_fock_plan_create */
FMO_API fmo_status fmo_fock_plan_expect(fmo_fock_plan *plan, double largest, fmo_error *err);

/** Returns the CUDA device number of a plan's GPU, in whose memory the matrices of
 *  fmo_fock_build_device and fmo_fock_build_batch_device must be. For several GPUs that share
 *  builds it is the first, for plans of a batch the one assigned. Returns -1 in CPU modes or for
 *  NULL. */
FMO_API int fmo_fock_plan_device(const fmo_fock_plan *plan);

/** Ranks other than 0: takes part in the plans and builds of rank 0 whose options.ranks is this
 *  network, until rank 0 calls fmo_fock_dismiss. In mode cpu, ranks take pieces of the work from a
 *  shared counter, the largest first; if integrals are stored the pieces are assigned in advance.
 *  In modes fused and split each rank has a fixed share. J and K are summed on rank 0, with
 *  FMO_SCATTER_FIXED (mode cpu only) as integers, so that results are bitwise the same for any
 *  number of ranks. Only fmo_fock_build is shared.
 *  @param[in] own this rank's `threads` and `device`, other fields are ignored; NULL: the defaults
 *  @return FMO_OK; FMO_ERR_ARGUMENT; FMO_ERR_DEVICE after a failure of the network. Errors of a
 *          build are reported by rank 0 */
FMO_API fmo_status fmo_fock_serve(fmo_ranks *ranks, const fmo_fock_options *own, fmo_error *err);
/** Rank 0, after its last shared plan is destroyed: makes fmo_fock_serve of the other ranks return;
 *  NULL is allowed. */
FMO_API void fmo_fock_dismiss(const fmo_ranks *ranks);

/** Computes the Coulomb and exchange matrices of one density, independently of earlier calls. The
 *  three matrices must not share memory.
 *  @param[in] density [nao][nao] symmetric, row-major, in the caller's AO order; 2 C C^T for RHF
 *  @param[out] coulomb [nao][nao] hartree, symmetric; untouched on error; NULL: not computed
 *  @param[out] exchange the same; J alone or K alone costs less in modes cpu and fused
 *  @return FMO_OK, FMO_ERR_ARGUMENT (NULL, or matrices that overlap: the message names them),
 *          FMO_ERR_INPUT (density not finite or not symmetric to 1e-10 of its largest element),
 *          FMO_ERR_CHECK (reference: triangles disagree), FMO_ERR_MEMORY, FMO_ERR_DEVICE
 *
 *  Source: OpenFMO's six s/p classes; Almlof, Faegri and Korsell, J. Comput. Chem. 3, 385 (1982) */
FMO_API fmo_status fmo_fock_build(fmo_fock_plan *plan, const double *density, double *coulomb,
                                  double *exchange, fmo_error *err);

/** fmo_fock_build with all three matrices in GPU memory, without host copies; mode fused only. The
 *  work is queued on the plan's stream and the call returns; synchronise with that stream before
 *  reading the results. Uses the symmetric part of the density. If an element is larger than 8 (for
 *  functions of norm 1, see fmo_fock_plan_expect) or NaN, all of J and K become NaN. Fills no
 *  profile.
 *  @param[in] density device pointer, [nao][nao]
 *  @param[out] coulomb device pointer, [nao][nao] hartree; NULL: not computed
 *  @param[out] exchange the same
 *  @return FMO_OK, FMO_ERR_ARGUMENT (not a fused plan), FMO_ERR_DEVICE */
FMO_API fmo_status fmo_fock_build_device(fmo_fock_plan *plan, const double *density,
                                         double *coulomb, double *exchange, fmo_error *err);

/** One build of a batch: what is requested, and its result. Set it to zero before setting fields,
 *  so that fields added later get their defaults; zero means J and K of 1/r and of a symmetric
 *  density. What the plan's mode cannot do is refused by name (FMO_ERR_UNSUPPORTED). */
typedef struct fmo_fock_job {
    fmo_fock_plan *plan;   /**< several jobs may have the same plan */
    const double *density; /**< [nao][nao], in the functions of `source` if that is set */
    double *coulomb;   /**< [nao][nao] hartree; untouched if this job failed; NULL: not computed */
    double *exchange;  /**< the same; not both may be NULL; must be NULL with a source */
    fmo_status status; /**< output: status of this job, as returned by fmo_fock_build */
    fmo_error *err;    /**< details of its error; may be NULL */
    fmo_fock_plan *source; /**< NULL; or the plan of another molecule to which the density belongs:
                                J of it in the functions of `plan`, coulomb_ij = sum_kl D_kl (ij|kl)
                                */
    fmo_symmetry symmetry; /**< of the density; others than symmetric not in mode split.
                                exchange_ij = sum_kl D_kl (ik|jl) then is not symmetric, coulomb
                                is */
    fmo_operator coulomb_operator;  /**< operator of J; others than 1/r not in mode split, direct,
                                         without boxes and stored integrals */
    fmo_operator exchange_operator; /**< operator of K. Where it is not that of J, the two are
                                         computed one after the other, J by its faster method */
} fmo_fock_job;

/** Runs many builds in one call, with any mix of molecules, modes and GPUs. Jobs with the same plan
 *  are several densities of one molecule: modes cpu (up to eight) and fused (K of two) compute the
 *  integrals once. Jobs with a source (modes cpu and fused; both plans with the same mode, GPU and
 *  cutoff) are built one by one. A failing job does not affect the others. Builds of fused plans
 *  run concurrently on the GPU; those of small molecules share kernel launches in groups, and then
 *  profile.gpu_seconds is the time of the group.
 *  @param[in,out] jobs [count]; no output may overlap another matrix of any job. A GPU fault fails
 *          every job that was in progress on it
 *  @return FMO_OK, or the status of the first job (lowest number) that failed; err names the job,
 *          counted from 0 */
FMO_API fmo_status fmo_fock_build_batch(fmo_fock_job *jobs, size_t count, fmo_error *err);

/** fmo_fock_build_batch with all matrices in GPU memory, as in fmo_fock_build_device; fused plans
 *  only. The work starts after all work queued earlier on the stream of the first job's plan; wait
 *  for that stream. A job's status says whether the job was queued. */
FMO_API fmo_status fmo_fock_build_batch_device(fmo_fock_job *jobs, size_t count, fmo_error *err);

/** Memory in bytes. */
typedef struct fmo_fock_memory {
    size_t host_bytes;   /**< host memory */
    size_t device_bytes; /**< GPU memory, of each GPU if several share builds; CUDA rounds up by
                              some MB in all */
} fmo_fock_memory;

/** Returns an upper limit of the memory of a plan and a build on it, not counting the caller's
 *  matrices and malloc's rounding. Makes and destroys a plan to find out. A density with elements
 *  larger than 8 temporarily takes more, because the shell pairs are made again. options.memory has
 *  no effect in mode reference.
 *  @param[in] options NULL: the defaults
 *  @param[out] memory untouched on error
 *  @return as fmo_fock_plan_create; FMO_ERR_UNSUPPORTED for a mode without an estimate
 *
 *  Source: the sizes of the allocations; tests/accumulate/workspace.c compares them with counted
 *  ones. */
FMO_API fmo_status fmo_fock_workspace(const fmo_basis *basis, const fmo_fock_options *options,
                                      fmo_fock_memory *memory, fmo_error *err);

/** Checks whether there is a GPU that this build of the library can use.
 *  @return FMO_OK, FMO_ERR_NO_DEVICE (err says why), FMO_ERR_DEVICE */
FMO_API fmo_status fmo_gpu_available(fmo_error *err);

/** Returns the number of GPUs that CUDA sees; 0 without a GPU or driver, or in a build without
 *  CUDA. */
FMO_API int fmo_gpu_num(void);

/** Determines the mode of a plan with this basis and these options: the specified mode, or what
 *  FMO_MODE_AUTO becomes. Makes no plan.
 *  @param[in] basis NULL: assume only s and p shells
 *  @param[in] options NULL: the defaults
 *  @param[out] mode untouched on error
 *  @param[out] reason NULL, or [160]: the reason, as mode_reason of fmo_fock_profile
 *  @return FMO_OK; FMO_ERR_ARGUMENT; for auto with a specified device also FMO_ERR_NO_DEVICE or
 *          FMO_ERR_DEVICE if it cannot be used */
FMO_API fmo_status fmo_fock_choose_mode(const fmo_basis *basis, const fmo_fock_options *options,
                                        fmo_mode *mode, char *reason, fmo_error *err);

/** Counts and times of one integral class in the last build. Counts refer to unique shell quartets,
 *  i >= j, k >= l, ij >= kl. */
typedef struct fmo_class_profile {
    int64_t quartets;         /**< contracted shell quartets that passed screening */
    int64_t quartets_skipped; /**< contracted shell quartets removed by screening */
    int64_t prim_quartets;  /**< primitive quartets of the computed shell quartets, without those of
                                 pruned primitive pairs; for a pair with itself the GPU computes,
                                 and counts, about half */
    double seconds;         /**< wall time; NaN if the mode does not process class by class */
    double compute_seconds; /**< fused, s and p: time of the same kernels without atomic updates;
                                 else NaN */
    int64_t adds;           /**< fused: additions to matrix elements, before any aggregation */
    int64_t adds_issued;    /**< fused: atomics issued after aggregation, including those that
                                 segmented skips because the value is below a share of the cutoff */
} fmo_class_profile;

/** Description, counts and times of the last build of a plan. */
typedef struct fmo_fock_profile {
    fmo_mode mode;         /**< the mode used, never auto */
    char mode_reason[160]; /**< why auto chose it, e.g. "no GPU: no CUDA driver found"; "" if it was
                                specified */
    int threads;           /**< CPU threads used */
    int ranks;             /**< ranks that shared the build; counts are sums over all ranks, times
                                are those of rank 0 */
    int devices;           /**< GPUs that shared the build, 0 on the CPU; counts are sums over all
                                GPUs, the seconds of a class are those of the first */
    int densities;         /**< densities built together; counts and times are those of all of them
                            */
    char notice[240];      /**< one line on deviations from the options and their reasons: fewer
                                threads, shared matrices; "" if none */
    double plan_seconds;   /**< time of fmo_fock_plan_create. In mode fused it includes loading the
                                kernels, which takes longest for the first plan of a process, and
                                allocating the page-locked memory of fmo_fock_build */
    double seconds;        /**< time of the last fmo_fock_build, from density to J and K. The first
                                build takes as long as later ones, except that plans of
                                fmo_fock_plan_create_batch load kernels in their first build */
    double screening_seconds; /**< part of seconds: block maxima of the density, and listing of
                                   screened-in quartets if that is a separate step; else NaN */
    double reduce_seconds;    /**< part of seconds: summing thread-private matrices (cpu), or the
                                   CPU's work on batches (split) */
    double transfer_seconds;  /**< part of seconds: copies to and from the GPU; NaN on the CPU */
    double gpu_seconds;       /**< part of seconds: from the start of the first kernel to the end of
                                   the last; NaN on the CPU */
    double far_seconds;       /**< part of seconds: J of well-separated pairs by boxes; NaN if
                                   direct */
    double device_seconds[FMO_DEVICES_MAX]; /**< part of seconds, if several GPUs share the build:
                                                 time of each GPU, in mode fused from its density to
                                                 its sums, in mode split of its kernels; otherwise
                                                 NaN */
    fmo_integrals integrals;                /**< direct or stored, never auto */
    fmo_coulomb coulomb;                    /**< direct or boxes, never auto */
    fmo_scatter scatter;                    /**< fused: the strategy used, never auto */
    fmo_commit commit;                      /**< fused: kind of atomic update */
    char device[96];                        /**< GPU model; "" on the CPU */
    fmo_class_profile classes[FMO_ERI_CLASS_COUNT]; /**< indexed by fmo_eri_class */
} fmo_fock_profile;

/** Copies the profile of the last build.
 *  @return FMO_OK, FMO_ERR_ARGUMENT (NULL, or nothing built yet) */
FMO_API fmo_status fmo_fock_plan_profile(const fmo_fock_plan *plan, fmo_fock_profile *profile,
                                         fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
