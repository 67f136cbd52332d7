/* Attributes of an object. */
#ifndef FMO_IO_HDF5_ATTRIBUTE_H
#define FMO_IO_HDF5_ATTRIBUTE_H

#include "io/hdf5/object.h"

typedef struct fmo_h5_attribute {
    fmo_h5_type type;
    fmo_h5_space space;
    fmo_bytes value; /* space.values * type.size bytes */
} fmo_h5_attribute;

/* Attributes that are in a heap, since there are many, become messages of the object like others.
 */
fmo_h5_code fmo_h5_attributes_load(fmo_h5_file *file, fmo_h5_object *object);

/* Name of the attribute of a message; NULL if it is none, or damaged. */
const char *fmo_h5_attribute_name(const fmo_h5_message *message);

/* The attribute of a name. *found is false without. Lives as long as the object. */
fmo_h5_code fmo_h5_attribute_find(fmo_h5_file *file, const fmo_h5_object *object, const char *name,
                                  bool *found, fmo_h5_attribute *attribute);

#endif
