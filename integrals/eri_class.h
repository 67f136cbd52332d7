/* Names of the classes of electron repulsion integrals; the classes are defined in shells.h. */
#ifndef FMO_ERI_CLASS_H
#define FMO_ERI_CLASS_H

#include <fmo/shells.h>
#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** "ppps"; NULL if out of range */
FMO_API const char *fmo_eri_class_name(fmo_eri_class eri_class);

#ifdef __cplusplus
}
#endif
#endif
