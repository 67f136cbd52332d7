/* The comment (second) line of a molecule in a .xyz file. Next: comment.c. */
#ifndef FMO_IO_MOLECULE_COMMENT_H
#define FMO_IO_MOLECULE_COMMENT_H

#include "io/molecule/molecule_internal.h"
#include "io/text/text.h"

/* Rejects an extended .xyz comment that declares other columns than element, x, y, z first, or a
 * periodic system. `comment` is the text of the line that was read last (text->line). */
fmo_status fmo_comment_check(const fmo_text *text, const char *comment);

/* Reads the unit of the coordinates, unit= or units=, from the comment: bohr or angstrom. *unit is
 * left alone if there is none, or if it is no unit of length. Returns FMO_OK, or FMO_ERR_INPUT for
 * a unit that may be meant otherwise (au, atomic, nm, pm). */
fmo_status fmo_comment_read_unit(const fmo_text *text, const char *comment, fmo_unit *unit);

/* Reads charge and multiplicity from the comment into a molecule whose atoms are known: from
 * charge= and multiplicity=, or from a comment of two whole numbers, as Psi4 writes it, if they are
 * consistent with the number of electrons. If they are not, molecule->notice says that the comment
 * was taken as a title. line: line number of the comment, for messages. */
fmo_status fmo_comment_read_state(const fmo_text *text, int line, const char *comment,
                                  fmo_molecule *molecule);

#endif
