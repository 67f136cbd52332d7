/* Finds the s and p shells of a basis that have the same exponents, so that one pair of shells can
 * include the pairs of both. See shell_pair.h. */
#include "integrals/pairs/shell_pair.h"

#include <string.h>

static int same_exponents(const fmo_basis *basis, const fmo_shell *a, const fmo_shell *b)
{
    return a->nucleus == b->nucleus && a->prim_num == b->prim_num &&
           memcmp(basis->exponent + a->prim_begin, basis->exponent + b->prim_begin,
                  (size_t)a->prim_num * sizeof *basis->exponent) == 0;
}

/* For each pair class with a partner class, finds for every p shell an s shell with the same
 * exponents; the search resumes where the last one ended if shells are sorted by nucleus. */
void fmo_sp_partners(const fmo_basis *basis, int *partner)
{
    for (int i = 0; i < basis->shell_num; i++) partner[i] = -1;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        if (fmo_pair_partner(c) == FMO_PAIR_NONE) continue;
        /* these are p and s in the present table */
        const int high_l = fmo_pair_ang_mom(c, 0), low_l = fmo_pair_ang_mom(fmo_pair_partner(c), 0);
        const int p_begin = fmo_basis_shell_begin(basis, high_l);
        const int s_begin = fmo_basis_shell_begin(basis, low_l);
        const int s_end = s_begin + basis->shell_num_l[low_l];
        int hint = s_begin; /* -1 if the shells of a kind are not sorted by nucleus */
        for (int s = s_begin + 1; s < s_end && hint >= 0; s++)
            if (basis->shell[s].nucleus < basis->shell[s - 1].nucleus) hint = -1;
        for (int p = p_begin; p < p_begin + basis->shell_num_l[high_l]; p++) {
            const int nucleus = basis->shell[p].nucleus;
            if (hint > s_begin && basis->shell[hint - 1].nucleus >= nucleus) hint = s_begin;
            while (hint >= 0 && hint < s_end && basis->shell[hint].nucleus < nucleus) hint++;
            for (int s = hint >= 0 ? hint : s_begin; s < s_end && partner[p] < 0; s++) {
                if (hint >= 0 && basis->shell[s].nucleus > nucleus) break;
                if (partner[s] >= 0 || !same_exponents(basis, &basis->shell[p], &basis->shell[s]))
                    continue;
                partner[p] = s;
                partner[s] = p;
            }
        }
    }
}
