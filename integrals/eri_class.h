/* The classes of electron repulsion integrals by name; their table is that of shells.h. */
#ifndef FMO_ERI_CLASS_H
#define FMO_ERI_CLASS_H

#include <fmo/shells.h>
#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

FMO_API const char *fmo_eri_class_name(fmo_eri_class eri_class); /**< "ppps"; NULL out of range */

#ifdef __cplusplus
}
#endif
#endif
