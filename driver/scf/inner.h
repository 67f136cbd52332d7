/* Marks functions that libfmo_scf exports for libfmo_fragment only: they are in no installed header
 * and may change in any version. */
#ifndef FMO_SCF_INNER_H
#define FMO_SCF_INNER_H

#include <fmo/status.h>

#define FMO_INNER FMO_API

#endif
