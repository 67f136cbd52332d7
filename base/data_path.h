/* Finds the data that are installed with the code: basis sets, hybrid orbitals, geometries. */
#ifndef FMO_DATA_PATH_H
#define FMO_DATA_PATH_H

/* Returns the path of a file or directory of share/fmo, such as "basis". It is looked up relative
 * to the shared library or program that this function is linked into, so that an installation or a
 * build folder can be moved. Free the path; it is NULL if there is no such file, or no memory. */
char *fmo_data_path(const char *name);

#endif
