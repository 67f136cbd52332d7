/* The work of a build as a list of tasks; a share of the work, or a smaller build, is another list.
 * The executor (the host's kernels, or a schedule of a GPU) passes the sizes of its lists of pairs
 * and executes the tasks in order. */
#ifndef FMO_WORK_H
#define FMO_WORK_H

#include <fmo/eri_class.h>
#include <fmo/status.h>
#include "integrals/pairs/shell_pair.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Quartets of a class with bras bra_begin, bra_begin + bra_step, ... below bra_end of the
 * executor's list of bra pairs and all their kets: all pairs of the ket list, or, if bra and ket
 * use the same list, those up to the bra itself. Bras and kets may belong to two molecules; the
 * executor knows the molecules and whether to compute J, K or both. */
typedef struct fmo_task {
    fmo_eri_class eri_class;
    int bra_begin, bra_end;
    int bra_step;  /* 1, except in lists of fmo_work_every */
    double weight; /* cost, in the same units for the whole list */
} fmo_task;

typedef struct fmo_work {
    int num;
    fmo_task *task; /* the classes of highest order first */
} fmo_work;

/* Number of pairs of a class in the executor's lists, and of their primitive pairs. */
typedef struct fmo_work_size {
    int pairs;
    double prims;
} fmo_work_size;

/* Makes the list of all quartets, with a task for each class that has any.
 * @param[in] size [FMO_PAIR_CLASS_COUNT] */
fmo_status fmo_work_all(const fmo_work_size *size, fmo_work *work, fmo_error *err);

/* Makes the list of quartets between two molecules, with bras of one and kets of the other.
 * unlike_only: leave out classes whose bra and ket are of the same pair class; they occur once more
 * in the list with the molecules exchanged.
 * @param[in] bra, ket [FMO_PAIR_CLASS_COUNT] */
fmo_status fmo_work_between(const fmo_work_size *bra, const fmo_work_size *ket, int unlike_only,
                            fmo_work *work, fmo_error *err);

/* Makes share number `share`, from 0, of `shares` of about equal weight; together they are the list
 * `from`. Each task is cut between bra pairs. */
fmo_status fmo_work_share(const fmo_work *from, const fmo_work_size *size, int share, int shares,
                          fmo_work *work, fmo_error *err);

/* As fmo_work_share, but share s has the bras whose number modulo `shares` is s, so that all shares
 * cost the same in whichever order the bras are sorted. For executors that support bra_step. */
fmo_status fmo_work_every(const fmo_work *from, const fmo_work_size *size, int share, int shares,
                          fmo_work *work, fmo_error *err);

/* Cuts a list into `pieces` pieces or a few more, in order of descending weight. Each task is cut
 * between bra pairs. Equal lists give equal pieces. */
fmo_status fmo_work_cut(const fmo_work *from, const fmo_work_size *size, int pieces, fmo_work *work,
                        fmo_error *err);

void fmo_work_free(fmo_work *work);

/* Returns the sum of the weights. */
double fmo_work_weight(const fmo_work *work);

/* Returns the number of bras begin, begin + step, ... below end. */
static inline size_t fmo_work_bras(size_t begin, size_t end, size_t step)
{
    return begin < end ? (end - begin + step - 1) / step : 0;
}

/* Returns the number of pairs of pairs of a class with these bras: begin, begin + step, ... */
static inline size_t fmo_work_candidates(int eri_class, const fmo_work_size *size, size_t begin,
                                         size_t bras, size_t step)
{
    if (fmo_eri_class_bra(eri_class) != fmo_eri_class_ket(eri_class))
        return bras * (size_t)size[fmo_eri_class_ket(eri_class)].pairs;
    return bras ? bras * (begin + 1) + bras * (bras - 1) / 2 * step : 0;
}

#ifdef __cplusplus
}
#endif
#endif
