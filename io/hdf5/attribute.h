/* Attributes of an HDF5 object: type, shape and value. Next: attribute.c. */
#ifndef FMO_IO_HDF5_ATTRIBUTE_H
#define FMO_IO_HDF5_ATTRIBUTE_H

#include "io/hdf5/object.h"

typedef struct fmo_h5_attribute {
    fmo_h5_type type;
    fmo_h5_space space;
    fmo_bytes value; /* space.values * type.size bytes, as in the file */
} fmo_h5_attribute;

/* Loads the attributes that are stored in a heap, because there are many, and adds them to the
 * messages of the object. */
fmo_h5_code fmo_h5_attributes_load(fmo_h5_file *file, fmo_h5_object *object);

/* Returns the name of the attribute in a message; NULL if the message is not an attribute or is
 * damaged. */
const char *fmo_h5_attribute_name(const fmo_h5_message *message);

/* Finds an attribute by name; *found is false if there is none. The result is valid as long as the
 * object. */
fmo_h5_code fmo_h5_attribute_find(fmo_h5_file *file, const fmo_h5_object *object, const char *name,
                                  bool *found, fmo_h5_attribute *attribute);

#endif
