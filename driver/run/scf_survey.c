/* A first reading of all geometries. Errors are left to the second reading, which reports them with
 * each molecule. See scf_survey.h. */
#include "driver/run/scf_survey.h"
#include "driver/base/shown.h"

#include <stdio.h>
#include <string.h>
#include <fmo/molecule.h>

/* A list such as "a.xyz frames 3, 5 to 9; b.xyz". */
typedef struct names {
    driver_scf_survey *survey;
    const char *path;  /* file of the run of frames so far; NULL: none */
    int first, last;   /* the run */
    int runs;          /* written for this file */
    long left_out;     /* molecules that had no space */
    const char *wrote; /* file written last */
} names;

/* Appends the run of frames so far to the list. */
static void end_run(names *n)
{
    driver_scf_survey *s = n->survey;
    char text[300], run[48] = "";
    const size_t used = strlen(s->names);
    if (!n->path) return;
    const bool same = n->wrote == n->path;
    if (n->first)
        snprintf(run, sizeof run, n->first == n->last ? "%d" : "%d to %d", n->first, n->last);
    if (same)
        snprintf(text, sizeof text, ", %s", run);
    else
        snprintf(text, sizeof text, "%s%.200s%s%s", used ? "; " : "", driver_shown(n->path),
                 n->first ? " frame " : "", run);
    if (n->left_out || used + strlen(text) + 40 > sizeof s->names) {
        n->left_out += n->last - n->first + 1;
    } else {
        strcpy(s->names + used, text);
        n->wrote = n->path;
    }
    n->path = NULL;
}

static void add(names *n, const char *path, int frame)
{
    n->survey->impossible++;
    if (n->path == path && frame == n->last + 1) {
        n->last = frame;
        return;
    }
    end_run(n);
    n->path = path;
    n->first = n->last = frame;
}

/* Whether the electrons cannot have the multiplicity, that of the command line or the comment. */
static bool is_impossible(const driver_options *options, const fmo_molecule *m)
{
    long electrons = -(long)(options->charge_given ? options->charge : m->charge);
    for (int i = 0; i < m->nucleus_num; i++)
        if (!m->ghost || !m->ghost[i]) electrons += m->number[i];
    const int given = options->multiplicity_given ? options->multiplicity : m->multiplicity;
    const long unpaired = given > 1 ? given - 1 : 0;
    return electrons > 0 && (unpaired > electrons || (electrons - unpaired) % 2 != 0);
}

/* Reads all frames of a file. */
static void survey_file(const driver_options *options, const char *path, names *n)
{
    fmo_xyz *xyz = NULL;
    fmo_error err = {FMO_OK, ""};
    if (fmo_xyz_open_in(path, options->unit, &xyz, &err) != FMO_OK) {
        n->survey->molecules++;
        return;
    }
    for (;;) {
        fmo_molecule *molecule = NULL;
        const fmo_status status = fmo_xyz_next(xyz, &molecule, &err);
        if ((status == FMO_OK && !molecule) || status == FMO_ERR_MEMORY) break;
        n->survey->molecules++;
        if (molecule && is_impossible(options, molecule)) add(n, path, molecule->frame);
        fmo_molecule_destroy(molecule);
    }
    fmo_xyz_close(xyz);
}

void driver_scf_survey_run(const driver_options *options, driver_scf_survey *survey)
{
    names n = {.survey = survey};
    memset(survey, 0, sizeof *survey);
    for (int k = 0; k < options->dataset_num; k++)
        if (driver_is_xyz(options->datasets[k])) survey_file(options, options->datasets[k], &n);
    end_run(&n);
    const size_t used = strlen(survey->names);
    if (n.left_out)
        snprintf(survey->names + used, sizeof survey->names - used, "; and %ld more", n.left_out);
}
