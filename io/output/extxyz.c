/* Writes extended .xyz (docs/reference/results.md#extended-xyz). What the comment of the input says
 * is carried over: its keys, and its other words as the key "comment". */
#define _GNU_SOURCE /* open_memstream */
#include "io/output/extxyz.h"
#include "base/harmless.h"
#include "io/output/kind.h"
#include <fmo/molecule.h>
#include <fmo/version.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct fmo_extxyz {
    FILE *stream;
    char *bytes;
    size_t size;
};

const char *fmo_molecule_method(const fmo_molecule_result *molecule)
{
    return molecule->method ? molecule->method : "RHF";
}

fmo_extxyz *fmo_extxyz_create(void)
{
    fmo_extxyz *text = calloc(1, sizeof *text);
    if (text) text->stream = open_memstream(&text->bytes, &text->size);
    if (text && text->stream) return text;
    free(text);
    return NULL;
}

void fmo_extxyz_destroy(fmo_extxyz *text)
{
    if (!text) return;
    fclose(text->stream);
    free(text->bytes);
    free(text);
}

/* ---- the comment of the input ---------------------------------------------------------------- */

/* Keys of the input that the new comment has itself, or that are not true of it. */
static const char *const replaced[] = {
    "Properties",  "pbc",          "unit",         "units",
    "charge",      "total_charge", "multiplicity", "spin_multiplicity",
    "fmo_version", "spin_square",  "occupied_num", "occupied_beta_num"};
/* Keys that would be taken for results of this calculation, or for its description. */
static const char *const renamed[] = {"energy", "REF_energy", "free_energy", "stress",
                                      "virial", "dipole",     "magmom",      "method",
                                      "basis",  "input",      "frame",       "comment"};

static bool is_in(const char *const *list, size_t count, const char *key, size_t size)
{
    for (size_t k = 0; k < count; k++)
        if (strlen(list[k]) == size && strncasecmp(list[k], key, size) == 0) return true;
    return false;
}
#define IS_IN(list, key, size) is_in(list, sizeof list / sizeof *list, key, size)

/* Returns the end of a word of a comment: blanks in quotes and brackets belong to it. */
static const char *end_of(const char *at)
{
    char quote = '\0';
    int depth = 0;
    for (; *at; at++) {
        if (quote) {
            if (*at == '\\' && at[1])
                at++;
            else if (*at == quote)
                quote = '\0';
        } else if (*at == '"' || *at == '\'') {
            quote = *at;
        } else if (strchr("[{(", *at)) {
            depth++;
        } else if (strchr("]})", *at)) {
            depth -= depth > 0;
        } else if (*at == ' ' && !depth) {
            break;
        }
    }
    return at;
}

/* Returns the size of the key if a word is key=value; 0 if it is not, or a quote or bracket in it
 * does not end. */
static size_t key_size(const char *word, const char *end)
{
    size_t size = 0;
    if (!isalpha((unsigned char)*word) && *word != '_') return 0;
    while (isalnum((unsigned char)word[size]) || strchr("_-.", word[size])) {
        if (word + size == end) return 0;
        size++;
    }
    const char *value = word + size + 1;
    if (word[size] != '=' || value >= end) return 0;
    const char first = *value, last = end[-1];
    if (strchr("\"'", first)) return value + 1 < end && last == first ? size : 0;
    if (strchr("[{(", first)) return strchr("]})", last) ? size : 0;
    for (const char *at = value; at < end; at++)
        if (strchr("\"'[{(\\", *at)) return 0;
    return size;
}

/* Writes a text as a quoted value. */
static void put_quoted(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (; *text; text++) {
        if (strchr("\"\\", *text)) fputc('\\', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

/* Writes the keys of the input's comment, and as "comment" what is not a key. `comment` is
 * overwritten. */
static void put_comment(FILE *stream, char *comment)
{
    char *rest = comment; /* collects the other words; never ahead of `at` */
    for (char *c = comment; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    fmo_text_harmless(comment);
    for (const char *at = comment; *at;) {
        const char *word = at + strspn(at, " ");
        const char *end = end_of(word);
        const size_t key = key_size(word, end), size = (size_t)(end - word);
        at = end;
        if (!size || (key && IS_IN(replaced, word, key))) continue;
        if (key) {
            const char *const before = IS_IN(renamed, word, key) ? "input_" : "";
            fprintf(stream, " %s%.*s", before, (int)size, word);
            continue;
        }
        at += *at == ' ';
        if (rest != comment) *rest++ = ' ';
        memmove(rest, word, size);
        rest += size;
    }
    *rest = '\0';
    if (!*comment) return;
    fputs(" comment=", stream);
    put_quoted(stream, comment);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Writes the comment line and the atoms; a ghost atom is X. */
static void put_frame(FILE *stream, const fmo_dataset *dataset, const fmo_molecule_result *m,
                      char *comment)
{
    const fmo_basis_input *in = fmo_dataset_basis_input(dataset);
    const double energy = m->energy * FMO_HARTREE_IN_EV;
    const double force = -FMO_HARTREE_IN_EV / FMO_BOHR_IN_ANGSTROM; /* of a gradient of 1 */
    fprintf(stream,
            "%d\n" FMO_EXTXYZ_HEAD "%s%s" FMO_EXTXYZ_VERSION
            "%s energy=%.10f REF_energy=%.10f charge=%d "
            "multiplicity=%d pbc=\"F F F\" method=%s basis=",
            in->nucleus_num, m->gradient ? FMO_EXTXYZ_FORCES : "",
            m->mulliken_charge ? FMO_EXTXYZ_CHARGES : "", FMO_VERSION_STRING, energy, energy,
            m->charge, m->multiplicity > 0 ? m->multiplicity : 1, fmo_molecule_method(m));
    put_quoted(stream, fmo_dataset_basis_name(dataset));
    fputs(" input=", stream);
    put_quoted(stream, m->input);
    if (m->frame) fprintf(stream, " frame=%d", m->frame);
    if (strcmp(fmo_molecule_method(m), "RHF") != 0)
        fprintf(stream, " spin_square=%.6f occupied_num=%d occupied_beta_num=%d", m->spin_square,
                m->occupied_num, m->occupied_beta_num);
    if (comment) put_comment(stream, comment);
    fputc('\n', stream);
    for (int i = 0; i < in->nucleus_num; i++) {
        const int number =
            in->nucleus_charge[i] != 0.0 ? fmo_dataset_nucleus_number(dataset, i) : 0;
        fprintf(stream, "%-2s", fmo_element_symbol(number));
        for (int c = 0; c < 3; c++)
            fprintf(stream, " %16.10f", in->nucleus_coord[3 * i + c] * FMO_BOHR_IN_ANGSTROM);
        for (int c = 0; c < 6 && m->gradient; c++) /* two columns of the same, as energies */
            fprintf(stream, " %16.10f", force * m->gradient[3 * i + c % 3]);
        if (m->mulliken_charge) fprintf(stream, " %10.6f", m->mulliken_charge[i]);
        fputc('\n', stream);
    }
}

fmo_status fmo_extxyz_add(fmo_extxyz *text, const fmo_dataset *dataset,
                          const fmo_molecule_result *molecule, fmo_error *err)
{
    if (!dataset || !molecule->converged) return FMO_OK;
    char *comment = molecule->comment ? strdup(molecule->comment) : NULL;
    if (!molecule->comment || comment) put_frame(text->stream, dataset, molecule, comment);
    const bool failed = (molecule->comment && !comment) || ferror(text->stream);
    free(comment);
    return failed ? fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a frame") : FMO_OK;
}

fmo_status fmo_extxyz_write(fmo_extxyz *text, const char *path, fmo_error *err)
{
    if (fflush(text->stream) != 0)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the frames of %.200s", path);
    return fmo_file_write(path, text->bytes, text->size, err);
}
