/* What a build has to do, as a list of tasks: somebody else's share of it, or less of it, is
 * another list. Who executes it - the host's kernels, or a schedule of a GPU - says how many bra
 * pairs its lists have, and goes through the tasks in order. */
#ifndef FMO_WORK_H
#define FMO_WORK_H

#include <fmo/eri_class.h>
#include <fmo/status.h>
#include "integrals/pairs/shell_pair.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Quartets of a class whose bras are numbers bra_begin, bra_begin + bra_step, ... below bra_end of
 * the executor's list of bra pairs, with all kets that come with them: those of the class's ket
 * pairs, up to the bra itself where both are of one list. Bras and kets may be of two molecules;
 * the executor knows of which, and what their integrals are for: J, K, or both. */
typedef struct fmo_task {
    fmo_eri_class eri_class;
    int bra_begin, bra_end;
    int bra_step;  /* 1 but of fmo_work_every */
    double weight; /* what it costs, in the units of the whole list */
} fmo_task;

typedef struct fmo_work {
    int num;
    fmo_task *task; /* the heaviest classes first */
} fmo_work;

/* Pairs of a class in the executor's lists, and primitive pairs in them. */
typedef struct fmo_work_size {
    int pairs;
    double prims;
} fmo_work_size;

/* All quartets, a task for each class that has any.
 * @param[in] size  [FMO_PAIR_CLASS_COUNT] */
fmo_status fmo_work_all(const fmo_work_size *size, fmo_work *work, fmo_error *err);

/* Quartets of pairs of two molecules: bras are those of one, kets those of the other. A class of
 * two pairs of a kind is left out on demand, as it is once in the list with the sides exchanged.
 * @param[in] bra, ket  [FMO_PAIR_CLASS_COUNT] */
fmo_status fmo_work_between(const fmo_work_size *bra, const fmo_work_size *ket, int unlike_only,
                            fmo_work *work, fmo_error *err);

/* Share number `share`, from 0, of `shares` of about equal weight, which together are the list;
 * each class is cut at bra pairs. */
fmo_status fmo_work_share(const fmo_work *from, const fmo_work_size *size, int share, int shares,
                          fmo_work *work, fmo_error *err);

/* Every bra whose number leaves `share` when divided by `shares`: shares that cost the same however
 * the bras are sorted, for executors that take a step between bras. */
fmo_status fmo_work_every(const fmo_work *from, const fmo_work_size *size, int share, int shares,
                          fmo_work *work, fmo_error *err);

/* The same list in pieces, as many as this or a few more, the heaviest first; each class is cut at
 * bra pairs. Equal for equal lists. */
fmo_status fmo_work_cut(const fmo_work *from, const fmo_work_size *size, int pieces, fmo_work *work,
                        fmo_error *err);

void fmo_work_free(fmo_work *work);

/* The sum of the weights. */
double fmo_work_weight(const fmo_work *work);

/* Bras begin, begin + step, ... below end. */
static inline size_t fmo_work_bras(size_t begin, size_t end, size_t step)
{
    return begin < end ? (end - begin + step - 1) / step : 0;
}

/* Pairs of pairs of so many bras of a class: begin, begin + step, ... */
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
