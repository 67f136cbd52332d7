/* See cutoff.h. */
#include "driver/scf/cutoff.h"

#include <math.h>
#include <stdio.h>

void fmo_scf_note_cutoff(double cutoff, double error_share, double beyond, int nao, double wanted,
                         char *notice, size_t size)
{
    const double share = error_share * nao, error = share * cutoff;
    char off[48] = "any size";
    notice[0] = '\0';
    if (!(error > wanted)) return;
    if (cutoff <= beyond) snprintf(off, sizeof off, "%.0e hartree", error);
    snprintf(notice, size,
             "cutoff %g: the energy may have an error of %s (threshold %.0e); choose a cutoff of "
             "at most %.0e",
             cutoff, off, wanted, pow(10.0, floor(log10(wanted / share))));
}
