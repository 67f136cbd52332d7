/* Selects the reader of a fragmented molecule by the extension of the file name, and calls it.
 * Next: reader.h, check.c. */
#include "io/fragment/reader.h"
#include "base/arguments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef enum format { JSON, PDB, GAMESS, ABINITMP, MMCIF } format;

static format format_of(const char *path)
{
    static const struct {
        const char *end;
        format format;
    } table[] = {{".pdb", PDB},      {".ent", PDB},   {".inp", GAMESS},
                 {".ajf", ABINITMP}, {".cif", MMCIF}, {".mmcif", MMCIF}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof table / sizeof table[0]; i++)
        if (strcasecmp(dot, table[i].end) == 0) return table[i].format;
    return JSON;
}

static fmo_status read_text(fmo_text *text, format kind, const fmo_pdb_reading *how,
                            fmo_fragment_system *s)
{
    switch (kind) {
    case JSON:
        return fmo_fragment_read_json(text, s);
    case PDB:
        return fmo_fragment_read_pdb(text, how, s);
    case GAMESS:
        return fmo_fragment_read_gamess(text, s);
    case ABINITMP:
        return fmo_fragment_read_abinitmp(text, s);
    case MMCIF:
        break;
    }
    return fmo_text_fail(text, 0, FMO_ERR_INPUT,
                         "mmCIF is not read; save the structure as a PDB file");
}

/* Reads the file with the reader of its format, after setting the default unit and thresholds, and
 * checks the result. */
static fmo_status read_file(const char *path, const fmo_pdb_reading *how,
                            fmo_fragment_system **system, fmo_error *err)
{
    static const char *const what[] = {[JSON] = "a system of fragments in JSON",
                                       [PDB] = "a PDB file",
                                       [GAMESS] = "an input of GAMESS or OpenFMO",
                                       [ABINITMP] = "an input of ABINIT-MP",
                                       [MMCIF] = "a structure"};
    fmo_error own = {FMO_OK, ""};
    if (!err) err = &own; /* the readers report errors through it */
    fmo_text text;
    const format kind = format_of(path);
    fmo_fragment_system *s = calloc(1, sizeof *s);
    if (s) s->path = strdup(path);
    if (!s || !s->path) {
        free(s);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory to read fragments");
    }
    s->reference = NAN;
    s->bohr = FMO_FRAGMENT_BOHR;
    s->aoc_from = 1.0; /* defaults of OpenFMO */
    s->ptc_from = s->es_dimers_from = 2.0;
    fmo_status status = fmo_text_read(&text, path, FMO_FRAGMENT_BYTES_MAX, what[kind], err);
    if (status == FMO_OK) status = read_text(&text, kind, how, s);
    memcpy(s->sha256, text.sha256, sizeof s->sha256);
    fmo_text_close(&text);
    if (status == FMO_OK) status = fmo_fragment_system_check(s, err);
    if (status == FMO_OK)
        *system = s;
    else
        fmo_fragment_system_destroy(s);
    return status;
}

fmo_status fmo_fragment_system_read(const char *path, fmo_fragment_system **system, fmo_error *err)
{
    if (system) *system = NULL;
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS("fmo_fragment_system_read", err, FMO_GIVEN(path), FMO_GIVEN(system));
    return checked == FMO_OK ? read_file(path, &(fmo_pdb_reading){1, NULL}, system, err) : checked;
}

fmo_status fmo_fragment_system_read_pieces(const char *path, int residues, const char *ligands,
                                           fmo_fragment_system **system, fmo_error *err)
{
    if (system) *system = NULL;
    const fmo_status checked = FMO_CHECK_ARGUMENTS("fmo_fragment_system_read_pieces", err,
                                                   FMO_GIVEN(path), FMO_GIVEN(system));
    if (checked != FMO_OK) return checked;
    if (residues < 1)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fragment_system_read_pieces: residues = %d: expected 1 or more",
                             residues);
    return read_file(path, &(fmo_pdb_reading){residues, ligands}, system, err);
}
