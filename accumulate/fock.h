/* The two-electron part of the closed-shell Fock matrix, in plan/execute form: make a plan for a
 * basis once (shell pairs, Schwarz bounds, buffers), build J and K for as many densities as wanted.
 *
 *     J_ij = sum_kl D_kl (ij|kl)     K_ij = sum_kl D_kl (ik|jl)     G = J - K/2
 *
 * Plans hold no global state: two plans may run in two threads. */
#ifndef FMO_FOCK_H
#define FMO_FOCK_H

#include <stddef.h>
#include <stdint.h>
#include <fmo/basis.h>
#include <fmo/eri_class.h>
#include <fmo/ranks.h>
#include <fmo/scatter.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, name, what it does) */
#define FMO_MODE_TABLE(X)                                                                       \
    X(FMO_MODE_AUTO, "auto", "fused when a GPU answers, else cpu")                              \
    X(FMO_MODE_CPU, "cpu", "integrals and accumulation on the host, OpenMP")                    \
    X(FMO_MODE_REFERENCE, "reference", "full ERI tensor by an independent algorithm, OpenBLAS") \
    X(FMO_MODE_FUSED, "fused", "GPU computes and accumulates")                                  \
    X(FMO_MODE_SPLIT, "split", "GPU computes integrals, the CPU reduces them")

/* How several CPU threads add into one matrix. X(enumerator, name, what it does) */
#define FMO_REDUCE_TABLE(X)                                                               \
    X(FMO_REDUCE_TREE, "tree", "a private J and K per thread, added pairwise at the end") \
    X(FMO_REDUCE_ATOMIC, "atomic", "one shared J and K, every add atomic")                \
    X(FMO_REDUCE_SERIAL, "serial", "one thread adds (split only)")

/* Whether a plan keeps its integrals from one build to the next: all that can matter to a density
 * of elements up to 8 (of functions of norm 1), or up to twice the largest so far. Mode fused
 * computes them when the plan is made, mode cpu in the first build. X(enumerator, name, what it
 * does) */
#define FMO_INTEGRALS_TABLE(X)                                                               \
    X(FMO_INTEGRALS_DIRECT, "direct", "computed in every build, none kept")                  \
    X(FMO_INTEGRALS_STORED, "stored", "computed once and kept; an error if they do not fit") \
    X(FMO_INTEGRALS_AUTO, "auto", "stored where they fit the memory and repay it, else direct")

/* How J of pairs that are far from each other is made. X(enumerator, name, what it does) */
#define FMO_COULOMB_TABLE(X)                                               \
    X(FMO_COULOMB_AUTO, "auto", "boxes where they repay it, else direct")  \
    X(FMO_COULOMB_DIRECT, "direct", "from integrals, as all that is near") \
    X(FMO_COULOMB_BOXES, "boxes", "from multipoles, which meet box by box (cpu, fused)")

/** GPUs that may share a build. */
#define FMO_DEVICES_MAX 16

#define FMO_ENUM_ROW(e, name, text) e,
/** Where and how a build runs. */
typedef enum fmo_mode { FMO_MODE_TABLE(FMO_ENUM_ROW) FMO_MODE_COUNT } fmo_mode;
/** How CPU threads add up. */
typedef enum fmo_reduce { FMO_REDUCE_TABLE(FMO_ENUM_ROW) FMO_REDUCE_COUNT } fmo_reduce;
/** What becomes of integrals. */
typedef enum fmo_integrals { FMO_INTEGRALS_TABLE(FMO_ENUM_ROW) FMO_INTEGRALS_COUNT } fmo_integrals;
/** J of far pairs. */
typedef enum fmo_coulomb { FMO_COULOMB_TABLE(FMO_ENUM_ROW) FMO_COULOMB_COUNT } fmo_coulomb;
#undef FMO_ENUM_ROW

FMO_API const char *fmo_mode_name(fmo_mode mode);                /**< "cpu"; NULL if out of range */
FMO_API const char *fmo_mode_text(fmo_mode mode);                /**< one line for --help */
FMO_API const char *fmo_reduce_name(fmo_reduce reduce);          /**< as fmo_mode_name */
FMO_API const char *fmo_reduce_text(fmo_reduce reduce);          /**< as fmo_mode_text */
FMO_API const char *fmo_integrals_name(fmo_integrals integrals); /**< as fmo_mode_name */
FMO_API const char *fmo_integrals_text(fmo_integrals integrals); /**< as fmo_mode_text */
FMO_API const char *fmo_coulomb_name(fmo_coulomb coulomb);       /**< as fmo_mode_name */
FMO_API const char *fmo_coulomb_text(fmo_coulomb coulomb);       /**< as fmo_mode_text */

/** How to build; fmo_fock_options_init fills it in. */
typedef struct fmo_fock_options {
    fmo_mode mode;     /**< default FMO_MODE_AUTO */
    fmo_reduce reduce; /**< default FMO_REDUCE_TREE */
    int threads;       /**< CPU threads, OpenBLAS's included; 0: as many as OpenMP would use. Fewer
                            are used where fmo_fock_threads says so, and the profile tells */
    double cutoff;     /**< screening threshold for functions of norm 1, default 1e-10; 0: no
                            screening at all */
    size_t memory;     /**< bytes a build may take for work space (cpu, reference: host; split:
                            pinned host and GPU; fused: GPU), and as many again for kept integrals;
                            0: what is free, within reason. Mode cpu shares X^J and X^K between
                            threads, then uses fewer threads, where not all fit, and the profile
                            tells */
    fmo_integrals integrals; /**< cpu and fused but for FMO_SCATTER_TILE; elsewhere auto is direct;
                                  default FMO_INTEGRALS_DIRECT */
    fmo_coulomb coulomb; /**< cpu: J of pairs far from each other; elsewhere auto is direct. Boxes
                              need a cutoff above 0, and with them no integrals are kept; they
                            change J by about a cutoff. J of another molecule's density is direct.
                            Default FMO_COULOMB_AUTO */
    fmo_scatter scatter; /**< fused: how values reach the matrices; cpu: FMO_SCATTER_FIXED adds in
                              an order that does not depend on threads; default FMO_SCATTER_AUTO */
    fmo_commit commit;   /**< fused: how one atomic is done; default FMO_COMMIT_NATIVE */
    int no_overlap; /**< split: the GPU waits for the CPU after each batch (the paper's form) */
    int measure_classes; /**< fused: after each build run it again class after class with timers,
                              to fill the profile's seconds by class; the build itself runs
                              classes side by side and is timed as a whole */
    int measure_accumulation; /**< fused: measure_classes, and once more without the commits, to
                                   fill the profile's compute_seconds */
    int device;   /**< fused and split: CUDA's number of the GPU; -1, the default: the one that the
                       thread that makes the plan has chosen. Later calls find it by themselves */
    void *stream; /**< cudaStream_t of that GPU that work goes to; NULL: one of the plan's own */
    /** Fused and split: how many GPUs share every build; 0 or 1: one. Each computes an equal part
     *  of the quartets. Fused: the first sums X^J and X^K and has the matrices: `stream`, and what
     *  is in GPU memory, are its; J alone with a source is built there; FMO_SCATTER_FIXED has the
     *  same bits for any number, and the GPUs are to be of one kind. Split: the CPU takes their
     *  batches in turns. Plans of fmo_fock_plan_create_batch are dealt out, each on one GPU. Not
     *  with `ranks`. */
    int device_num;
    int devices[FMO_DEVICES_MAX]; /**< [device_num] CUDA's numbers; `device` stays -1 */
    /** Called from the building thread with the finished share, 0..1; NULL: never. */
    void (*progress)(double fraction, void *user);
    void *progress_user; /**< handed to progress */
    /** Rank 0: builds of this plan are shared with the other ranks, which are in fmo_fock_serve;
     *  NULL: this process builds alone. Of plans of fmo_fock_plan_create_batch and of mode
     *  reference nothing is shared. */
    fmo_ranks *ranks;
} fmo_fock_options;

/** CPU threads that a plan with options.threads = asked would use now: at most 64, or 4 for each
 *  processor where that is more, and no more than this process may start (ulimit -u and -v, control
 *  groups; half of what is left where they are near). OpenMP ends the process where it cannot start
 *  a thread. @return at least 1 */
FMO_API int fmo_fock_threads(int asked);

/** Whether plans of mode cpu that this thread makes take over the memory in which plans that it has
 *  destroyed kept integrals: the system clears new memory first, 5 to 8 % of the time of SCFs of
 *  150 functions. fmo_scf_run_batch does it for its molecules.
 *  @param[in] on  0: no, as at first, and what is left is given back, which a thread has to do
 *                 before it ends
 *  @return what it was before */
FMO_API int fmo_fock_reuse_memory(int on);

/** Fill in the defaults; call it before setting fields, so that new fields get theirs. */
FMO_API void fmo_fock_options_init(fmo_fock_options *options);

/** A basis and what builds need of it; for one thread at a time. */
typedef struct fmo_fock_plan fmo_fock_plan;

/** Make a plan. The basis may be destroyed afterwards.
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_UNSUPPORTED (mode not in this build),
 *          FMO_ERR_NO_DEVICE (fused or split without a GPU, or without that of options.device;
          auto without options.device falls back to cpu instead),
 *          FMO_ERR_MEMORY (the message says how much was needed) */
FMO_API fmo_status fmo_fock_plan_create(const fmo_basis *basis, const fmo_fock_options *options,
                                        fmo_fock_plan **plan, fmo_error *err);
/** Plans of many molecules, made side by side on options->threads threads; to be built together by
 *  fmo_fock_build_batch, or alone.
 *  @param[in]  basis   [count]
 *  @param[in]  options of all plans; NULL: the defaults
 *  @param[out] plans   [count], NULL where there was an error; the others are made all the same
 *  @param[out] errs    [count], or NULL
 *  @return as fmo_fock_plan_create, of the first that failed */
FMO_API fmo_status fmo_fock_plan_create_batch(const fmo_basis *const *basis, size_t count,
                                              const fmo_fock_options *options,
                                              fmo_fock_plan **plans, fmo_error *errs);
FMO_API void fmo_fock_plan_destroy(fmo_fock_plan *plan); /**< NULL is fine */

/** Builds from here on leave out what is below another cutoff than options.cutoff, a larger one:
 * for a density that need not be built so well yet, as in an SCF's first cycles. What was made with
 * the plan stays: its pairs, kept integrals (of which mode cpu adds those that count, under `fixed`
 * all), boxes. With ranks all of them follow.
 *  @param[in] cutoff  options.cutoff, which takes it back, or larger, to 1
 *  @return FMO_OK, FMO_ERR_ARGUMENT */
FMO_API fmo_status fmo_fock_plan_loosen(fmo_fock_plan *plan, double cutoff, fmo_error *err);

/** Gets a plan ready for densities in GPU memory whose elements are larger than 8, which is what
 *  plans are made for. Densities of the host need no such call: there a build looks at them itself.
 *  The plan keeps the limit; with kept integrals these are computed again.
 *  @param[in] largest  the largest |D_ij| norm_i norm_j, with the norms of fmo_basis_ao_norm
 *  @return FMO_OK, FMO_ERR_ARGUMENT, and what fmo_fock_plan_create returns */
FMO_API fmo_status fmo_fock_plan_expect(fmo_fock_plan *plan, double largest, fmo_error *err);

/** CUDA's number of the GPU that a plan works on, whose memory the matrices of
 *  fmo_fock_build_device and fmo_fock_build_batch_device are in: of several that share its builds
 *  the first, of plans that were dealt out the one it was given. @return -1 on the CPU, or of NULL
 */
FMO_API int fmo_fock_plan_device(const fmo_fock_plan *plan);

/** Ranks other than 0: take part in the plans and builds of rank 0, whose options.ranks are these,
 *  until it calls fmo_fock_dismiss. In mode cpu pieces of the work are taken from a counter, the
 *  largest first, or dealt out where integrals are to be kept; in modes fused and split each rank
 *  has a fixed share. J and K are summed on rank 0, under FMO_SCATTER_FIXED (mode cpu alone) as
 *  integers: the same bits for any number of ranks. fmo_fock_build is the one call that is shared.
 *  @param[in] own  of which `threads` and `device` are this rank's; NULL: the defaults
 *  @return FMO_OK; FMO_ERR_ARGUMENT; FMO_ERR_DEVICE after a fault of the network. Errors of a build
 *          are rank 0's to report */
FMO_API fmo_status fmo_fock_serve(fmo_ranks *ranks, const fmo_fock_options *own, fmo_error *err);
/** Rank 0, after its last shared plan is destroyed: the others return; NULL is fine. */
FMO_API void fmo_fock_dismiss(const fmo_ranks *ranks);

/** Coulomb and exchange matrices of one density. Nothing is kept from an earlier call. The three
 *  matrices must not share memory.
 *  @param[in]  density  [nao][nao] symmetric, row-major, caller's AO order; 2 C C^T for RHF
 *  @param[out] coulomb  [nao][nao] hartree, symmetric; untouched on error; NULL: not wanted
 *  @param[out] exchange the same; J alone, or K alone, costs less in modes cpu and fused
 *  @return FMO_OK, FMO_ERR_ARGUMENT (NULL, or matrices that overlap: the message names them),
 *          FMO_ERR_INPUT (density not finite or not symmetric to 1e-10 of its largest element),
 *          FMO_ERR_CHECK (reference: triangles disagree), FMO_ERR_MEMORY, FMO_ERR_DEVICE
 *  Source: OpenFMO's six s/p classes; Almlof, Faegri and Korsell, J. Comput. Chem. 3, 385 (1982) */
FMO_API fmo_status fmo_fock_build(fmo_fock_plan *plan, const double *density, double *coulomb,
                                  double *exchange, fmo_error *err);

/** fmo_fock_build with all three matrices in GPU memory: fused mode only, no host copies. Work is
 *  queued on the plan's stream and the call returns; the results are there when the stream has
 *  come so far. The symmetric part of the density is used. Elements larger than 8 (for functions of
 *  norm 1, see fmo_fock_plan_expect) give NaN in all of J and K, and NaN gives NaN. No profile is
 *  kept.
 *  @param[in]  density  device pointer, [nao][nao]
 *  @param[out] coulomb  device pointer, [nao][nao] hartree; NULL: not wanted
 *  @param[out] exchange the same
 *  @return FMO_OK, FMO_ERR_ARGUMENT (not a fused plan), FMO_ERR_DEVICE */
FMO_API fmo_status fmo_fock_build_device(fmo_fock_plan *plan, const double *density,
                                         double *coulomb, double *exchange, fmo_error *err);

/** One build of a batch: what fmo_fock_build takes, and what came of it. Zero it before setting
 *  fields, so that new fields get their defaults. */
typedef struct fmo_fock_job {
    fmo_fock_plan *plan;   /**< may be that of other jobs too */
    const double *density; /**< [nao][nao], of `source` if there is one */
    double *coulomb;   /**< [nao][nao] hartree; untouched if this job failed; NULL: not wanted */
    double *exchange;  /**< the same; not both NULL, and NULL with a source */
    fmo_status status; /**< of this job alone, written by the call, as fmo_fock_build's */
    fmo_error *err;    /**< its details; NULL: not wanted */
    fmo_fock_plan *source; /**< NULL; or the plan of another molecule, whose density this is: J of
                                it in the functions of `plan`, coulomb_ij = sum_kl D_kl (ij|kl) */
} fmo_fock_job;

/** Many builds in one call, any mix of molecules, modes and GPUs; a plan that occurs several times
 *  builds several densities of one molecule: mode cpu up to eight at a time, computing integrals
 *  once for all of them. Jobs with a source (modes cpu and fused; both plans of the same mode and
 *  GPU, with one cutoff) build one by one. A job that fails leaves the others alone. Builds of
 *  fused plans run side by side on the GPU, those of small molecules in groups that share their
 *  launches: profile.gpu_seconds is then the group's.
 *  @param[in,out] jobs [count]; no output may overlap another matrix of any job. A fault of a GPU
 *                 is that of every job that was on its way there
 *  @return FMO_OK, or the status of the first job (lowest number) that failed; err names the job,
 *          counted from 0 */
FMO_API fmo_status fmo_fock_build_batch(fmo_fock_job *jobs, size_t count, fmo_error *err);

/** fmo_fock_build_batch with all matrices in GPU memory, as fmo_fock_build_device: fused plans
 *  only. Work is ordered after what was queued on the first plan's stream, and that stream is the
 *  one to wait for. A job's status says whether it was queued. */
FMO_API fmo_status fmo_fock_build_batch_device(fmo_fock_job *jobs, size_t count, fmo_error *err);

/** Memory in bytes. */
typedef struct fmo_fock_memory {
    size_t host_bytes;   /**< of the host */
    size_t device_bytes; /**< of the GPU, of several that share builds each; CUDA rounds up, in all
                              by some MB */
} fmo_fock_memory;

/** What a plan and a build on it take at most, the caller's matrices and malloc's rounding left
 *  out. The plan is made to find out, and destroyed again. A density with elements larger than 8
 *  takes more for a moment, since the shell pairs are made again. options.memory does not matter in
 *  mode reference.
 *  @param[in]  options  NULL: the defaults
 *  @param[out] memory   untouched on error
 *  @return as fmo_fock_plan_create; FMO_ERR_UNSUPPORTED for a mode that cannot tell
 *  Source: the allocations themselves; tests/accumulate_workspace.c counts them. */
FMO_API fmo_status fmo_fock_workspace(const fmo_basis *basis, const fmo_fock_options *options,
                                      fmo_fock_memory *memory, fmo_error *err);

/** Is there a GPU that this build of the library can use?
 *  @return FMO_OK, FMO_ERR_NO_DEVICE (err says why), FMO_ERR_DEVICE */
FMO_API fmo_status fmo_gpu_available(fmo_error *err);

/** GPUs that CUDA sees; 0 without one, without a driver, or in a build without CUDA. */
FMO_API int fmo_gpu_num(void);

/** The mode that a plan of a basis has with these options: theirs, or what FMO_MODE_AUTO becomes.
 *  Nothing is made to find out.
 *  @param[in]  basis   NULL: one of s and p shells
 *  @param[in]  options NULL: the defaults
 *  @param[out] mode    untouched on error
 *  @param[out] reason  NULL, or [160]: why, as mode_reason of fmo_fock_profile
 *  @return FMO_OK; FMO_ERR_ARGUMENT; for auto with a device that was asked for, FMO_ERR_NO_DEVICE
 * or FMO_ERR_DEVICE where it cannot be used */
FMO_API fmo_status fmo_fock_choose_mode(const fmo_basis *basis, const fmo_fock_options *options,
                                        fmo_mode *mode, char *reason, fmo_error *err);

/** What one class of the last build did. Counts are of shell quartets with i >= j, k >= l,
 *  ij >= kl, each counted once. */
typedef struct fmo_class_profile {
    int64_t quartets;         /**< contracted shell quartets that screened in num screening */
    int64_t quartets_skipped; /**< ... that screening removed */
    int64_t
        prim_quartets;      /**< primitive quartets of the screened-in quartets, pruned pairs left
                               out; of a    pair with itself the GPU computes, and counts, about half */
    double seconds;         /**< wall time; NaN where the mode does not go class by class */
    double compute_seconds; /**< fused, s and p: the same kernel without commits; else NaN */
    int64_t adds;           /**< fused: adds to matrix elements, before any aggregation */
    int64_t adds_issued;    /**< fused: atomics issued after aggregation, with those of segmented
                                 that were too small to be made */
} fmo_class_profile;

/** What the last build of a plan did. */
typedef struct fmo_fock_profile {
    fmo_mode mode;         /**< what auto became */
    char mode_reason[160]; /**< why, e.g. "no GPU: no CUDA driver found"; "" if it was asked for */
    int threads;           /**< CPU threads used */
    int ranks;             /**< that shared the build; counts are of all, times of rank 0 */
    int devices;           /**< GPUs that shared it, 0 on the CPU; counts are of all, seconds by
                                class of the first */
    int densities;         /**< that the build took together; its counts and times are of all */
    char notice[240];      /**< what is not as it was asked for, and why, in one line: fewer
                                threads, shared matrices; "" if nothing */
    double plan_seconds;   /**< fmo_fock_plan_create. In mode fused kernels are loaded in it, which
                                takes longest for the first plan of a process, and the page-locked
                                memory of the first fmo_fock_build is counted here */
    double seconds;        /**< last fmo_fock_build, density in to J and K out, the first one as the
                                later ones. Plans of fmo_fock_plan_create_batch alone load kernels
                                in their first build */
    double screening_seconds; /**< of it: density bounds, screened-in quartets where counted apart,
                                 else NaN */
    double reduce_seconds;    /**< of it: adding thread-private matrices (cpu), or the CPU's work on
                                   batches (split) */
    double transfer_seconds;  /**< of it: copies to and from the GPU; NaN on the CPU */
    double gpu_seconds;       /**< of it: kernels, first to last; NaN on the CPU */
    double far_seconds;       /**< of it: J of far pairs by boxes; NaN where it was direct */
    double device_seconds[FMO_DEVICES_MAX]; /**< of it, where GPUs share it: the part of each, in
                                                 mode fused from its density to its sums, in mode
                                                 split its kernels; else, and beyond them, NaN */
    fmo_integrals integrals;                /**< direct or stored, whichever auto became */
    fmo_coulomb coulomb;                    /**< direct or boxes, whichever auto became */
    fmo_scatter scatter;                    /**< fused: what auto became */
    fmo_commit commit;                      /**< fused */
    char device[96];                        /**< GPU model; "" on the CPU */
    fmo_class_profile classes[FMO_ERI_CLASS_COUNT]; /**< by fmo_eri_class */
} fmo_fock_profile;

/** Profile of the last build. @return FMO_OK, FMO_ERR_ARGUMENT (NULL, or nothing built yet) */
FMO_API fmo_status fmo_fock_plan_profile(const fmo_fock_plan *plan, fmo_fock_profile *profile,
                                         fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
