/* Lists of point charges in the order and with the padding that sums over charges need. */
#ifndef FMO_CHARGE_LIST_H
#define FMO_CHARGE_LIST_H

#include <stddef.h>
#include <fmo/status.h>

/* Charges in an order in which neighbours in the list are close in space, so that the charges of a
 * vector are usually all near a product or all far from it. */
typedef struct fmo_charge_list {
    size_t num;     /* a multiple of FMO_CHARGE_GROUP */
    double *memory; /* holds the four columns */
    size_t used;    /* charges that are not padding */
    size_t *index;  /* [used] number of each charge in the caller's list */
    const double *charge, *coord[3];
} fmo_charge_list;

/* Lists the nonzero charges of coord[num][3] along a space-filling curve, padded to whole groups
 * with charges of 0. Call fmo_charge_list_free in any case. */
fmo_status fmo_charge_list_make(size_t num, const double *charge, const double *coord,
                                fmo_charge_list *list, fmo_error *err);
void fmo_charge_list_free(fmo_charge_list *list);

/* Checks that charges are finite and coordinates at most 1e6 bohr; messages name the function. */
fmo_status fmo_charges_check(const char *call, size_t num, const double *charge,
                             const double *coord, fmo_error *err);

#endif
