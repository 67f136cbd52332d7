/* What the two parts of checkpoints share. Next: checkpoint.c (records), checkpoint_import.c
 * (results of a complete file). */
#ifndef FMO_IO_OUTPUT_CHECKPOINT_H
#define FMO_IO_OUTPUT_CHECKPOINT_H

#include <fmo/result.h>

/* Compares two lists of settings, lines "name=value". Returns FMO_OK, or FMO_ERR_INPUT with a
 * message that names the first difference. */
fmo_status fmo_settings_compare(const char *label, const char *there, const char *here,
                                fmo_error *err);

/* The settings with which a checkpoint was opened. */
const char *fmo_checkpoint_settings(const fmo_checkpoint *checkpoint);

/* Like fmo_checkpoint_add; fmo_checkpoint_find finds the result. */
fmo_status fmo_checkpoint_add_found(fmo_checkpoint *checkpoint, const fmo_molecule_result *molecule,
                                    fmo_error *err);

#endif
