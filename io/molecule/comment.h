/* The second line of a molecule in a .xyz file. */
#ifndef FMO_IO_MOLECULE_COMMENT_H
#define FMO_IO_MOLECULE_COMMENT_H

#include "io/molecule/molecule_internal.h"
#include "io/text/text.h"

/* Extended .xyz: columns other than the usual ones, and crystals, are refused. The line is the one
 * that was taken last. */
fmo_status fmo_comment_check(const fmo_text *text, const char *comment);

/* Charge and multiplicity into a molecule whose atoms are known: from charge= and multiplicity=, or
 * from a line of two whole numbers, as Psi4 writes it, where they fit the electrons; where they do
 * not, molecule->notice says what was taken. line: the comment's number, for messages. */
fmo_status fmo_comment_read_state(const fmo_text *text, int line, const char *comment,
                                  fmo_molecule *molecule);

#endif
