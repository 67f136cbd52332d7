/* Work items of a batch: every job has one, whatever the numbers of large ones, lockstep batches
 * and the rest.
 */
#include "tests/support/check.h"

#include "driver/scf/jobs.h"

static void check_all(const work_items *t)
{
    size_t at = 0;
    for (size_t k = 0; k < work_items_num(t); k++) {
        size_t num = 0;
        const size_t place = work_items_place(t, k, &num);
        CHECK(place == at && num > 0,
              "work item %zu of %zu, %zu, %zu, %zu: place %zu, not %zu, %zu jobs", k, t->count,
              t->other_mode, t->large, t->lockstep_batch, place, at, num);
        CHECK(work_items_place_of_one(t, k) == place, "work item %zu", k);
        const int lockstep_batch =
            t->lockstep_batch && k >= t->large && k < t->large + work_items_lockstep(t);
        CHECK(lockstep_batch ? num <= t->lockstep_batch && at + num <= t->other_mode : num == 1,
              "work item %zu: %zu jobs", k, num);
        at = place + num;
    }
    CHECK(at == t->count, "%zu of %zu jobs have work items", at, t->count);
}

int main(void)
{
    for (size_t count = 0; count <= 9; count++)
        for (size_t other_mode = 0; other_mode <= count; other_mode++)
            for (size_t large = 0; large <= other_mode; large++)
                for (size_t lockstep_batch = 0; lockstep_batch <= 4; lockstep_batch++) {
                    const work_items t = {count, other_mode, large, lockstep_batch};
                    check_all(&t);
                }
    return check_summary();
}
