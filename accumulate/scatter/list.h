/* What CMake asks the C preprocessor (cmake/FmoScatter.cmake): one string for each element
 * strategy, by its type, and one for each variant of the kernels. Compiled nowhere. */
#include "accumulate/scatter/variants.h"

#define LIST_TYPE(e, name, kind, type, ...) LIST_##kind(type)
#define LIST_FMO_SCATTER_ELEMENT(type)      "type:" #type
#define LIST_FMO_SCATTER_SCHEDULE(type)
#define LIST_FMO_SCATTER_CHOICE(type)
#define LIST_VARIANT(name, ...) "variant:" #name

FMO_SCATTER_TABLE(LIST_TYPE)
FMO_GPU_VARIANT_TABLE(LIST_VARIANT)
