/* Random valid HDF5 files, written by libhdf5, for a comparison of our reader with it. */
#ifndef FMO_TESTS_IO_DRAW_H
#define FMO_TESTS_IO_DRAW_H

#include <stdbool.h>

/* Write file `number` of a seed: versions of all structures, layouts, chunk indexes, filters,
 * types, old and new groups, attributes, links, deleted objects. *odd: it has what our reader does
 * not read in any file and says so (shared messages, large attributes in heaps). Ends the program
 * if libhdf5 fails. */
void io_draw_file(const char *path, unsigned long long seed, long number, bool *odd);

#endif
