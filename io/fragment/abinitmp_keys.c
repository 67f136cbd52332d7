/* Keys of the groups of an input of ABINIT-MP: what is taken, what must be as FMO2-RHF has it, what
 * is passed over; others are refused. Their names are those that ABINIT-MP prints when it has read
 * them. */
#include "io/fragment/abinitmp.h"
#include "io/molecule/molecule_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT(a, ...) fmo_text_fail((a)->text, (a)->text->line, FMO_ERR_INPUT, __VA_ARGS__)

/* Keys with the one value that they may have, or NULL: any. "*": any other key; "": the group has
 * none that could be left out of an energy. */
static const struct {
    const char *group, *key, *must;
} others[] = {{"CNTRL", "METHOD", "HF"},
              {"CNTRL", "ELECSTATE", "S1"},
              {"CNTRL", "MULT", "1"},
              {"CNTRL", "GRADIENT", "NO"},
              {"CNTRL", "DISPERSION", "OFF"},
              {"CNTRL", "GMSINP", "NO"},
              {"CNTRL", "ABINP", "NO"},
              {"CNTRL", "TITLE", NULL},
              {"CNTRL", "NPRINT", NULL},
              {"CNTRL", "MEMORY", NULL},
              {"CNTRL", "MPIMEMSIZE", NULL},
              {"CNTRL", "TEIBUF", NULL},
              {"CNTRL", "WRITEGEOM", NULL},
              {"CNTRL", "WRITEIFIE", NULL},
              {"CNTRL", "WRITEMLDATA", NULL},
              {"CNTRL", "MLFRAGLIMIT", NULL},
              {"CNTRL", "VECTOR", NULL},
              {"CNTRL", "VLENGTH", NULL},
              {"CNTRL", "FLUSH", NULL},
              {"CNTRL", "LOGFILE", NULL},
              {"CNTRL", "CPFVER", NULL},
              {"CNTRL", "CPFBIN", NULL},
              {"CNTRL", "DEBUG_MEMORY", NULL},
              {"CNTRL", "INITIALGUESS", NULL},
              {"CNTRL", "THOVL", NULL},
              {"CNTRL", "E_THSWZ", NULL},
              {"CNTRL", "G_THSWZ", NULL},
              {"FMOCNTRL", "FMO", "ON"},
              {"FMOCNTRL", "NBODY", "2"},
              {"FMOCNTRL", "FMO3", "OFF"},
              {"FMOCNTRL", "FMO3L", "NO"},
              {"FMOCNTRL", "FMO3SL", "NO"},
              {"FMOCNTRL", "FMO4", "NO"},
              {"FMOCNTRL", "HYBRIDNF", "0"},
              {"FMOCNTRL", "MAINPROJ", "SP3"},
              {"FMOCNTRL", "ESPSET", "AUTO"},
              {"FMOCNTRL", "ESPAOC", "ON"},
              {"FMOCNTRL", "ESPPTC", "ON"},
              {"FMOCNTRL", "LMOTYP", "ANO"},
              {"FMOCNTRL", "DIMER_ES_MULTIPOLE", "NO"},
              {"FMOCNTRL", "OPENFRAG", "0"},
              {"FMOCNTRL", "ESP_PTC_MULTIPOLE", "NO"},
              {"FMOCNTRL", "PSCC", "OFF"},
              {"FMOCNTRL", "MONOMER_SCC_MODE", "HF"},
              {"FMOCNTRL", "NOT_DIMER", "NO"},
              {"FMOCNTRL", "MONOMER_SCC_ALGORITHM", NULL},
              {"FMOCNTRL", "LDIMER_CMM", NULL},
              {"FMOCNTRL", "FRAGSIZERESIDUE", NULL},
              {"FMOCNTRL", "NP", NULL},
              {"FMOCNTRL", "FRAGSIZEAMINOACID", NULL},
              {"FMOCNTRL", "NP_MONOMER", NULL},
              {"FMOCNTRL", "FRAGSIZENUCLEOTIDE", NULL},
              {"FMOCNTRL", "NP_DIMER", NULL},
              {"FMOCNTRL", "LIGANDCHARGE", NULL},
              {"FMOCNTRL", "MAXSCCENERGY", NULL},
              {"FMOCNTRL", "MAXSCCCYC", NULL},
              {"FMOCNTRL", "SCFREPORT", NULL},
              {"FMOCNTRL", "SORTDIMER", NULL},
              {"SCF", "CDHF", "NO"},
              {"SCF", "IFCD", "NO"},
              {"SCF", "*", NULL},
              {"OPTCNTRL", "OPT", "OFF"},
              {"OPTCNTRL", "*", NULL},
              {"SOLVATION", "EFFECT", "OFF"},
              {"SOLVATION", "*", NULL},
              {"BSSE", "CP", "OFF"},
              {"BSSE", "*", NULL},
              {"MDCNTRL", "MD", "OFF"},
              {"MDCNTRL", "*", NULL},
              {"LRD", "DISP", "OFF"},
              {"LRD", "*", NULL},
              {"BASIS", "", NULL},
              {"MFMO", "", NULL},
              {"MLFMO", "", NULL},
              {"XUFF", "", NULL},
              {"DFT", "", NULL},
              {"MCP", "", NULL},
              {"COUPLING", "", NULL},
              {"FRAGPAIR", "", NULL},
              {"TYPEFRAG", "", NULL},
              {"TYPFRAG", "", NULL}};

static fmo_status take_other(const fmo_abinitmp *a, const char *group, const char *key,
                             fmo_word word)
{
    char value[FMO_ABINITMP_NAME], quote[FMO_QUOTE_SIZE];
    fmo_abinitmp_capitals(word, value);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const bool any = strcmp(others[i].key, "*") == 0;
        if (strcmp(others[i].group, group) != 0 || (!any && strcmp(others[i].key, key) != 0))
            continue;
        if (!others[i].must || strcmp(others[i].must, value) == 0) return FMO_OK;
        return INPUT(a, "&%s: %s='%s'; only '%s' is done here: energies of FMO2-RHF", group, key,
                     fmo_text_quote(word, quote), others[i].must);
    }
    return INPUT(a, "&%s: the key %s is not known; remove it if the energy does not need it", group,
                 key);
}

static fmo_status take_threshold(const fmo_abinitmp *a, const char *key, fmo_word word,
                                 double *value)
{
    char quote[FMO_QUOTE_SIZE];
    const bool may_be_0 = value == &a->laoc;
    if (fmo_text_real(a->text, word, value) && (may_be_0 ? *value >= 0.0 : *value > 0.0))
        return FMO_OK;
    return INPUT(a, "&FMOCNTRL: %s=%s: expected a number %s", key, fmo_text_quote(word, quote),
                 may_be_0 ? "from 0 on" : "above 0; what others mean is not documented");
}

static fmo_status take_geometry(fmo_abinitmp *a, fmo_word word)
{
    free(a->geometry);
    a->geometry_line = a->text->line;
    a->geometry = word.size ? strndup(word.at, word.size) : NULL;
    return a->geometry || !word.size ? FMO_OK : fmo_fragment_no_memory(a->text);
}

static fmo_status take_cntrl(fmo_abinitmp *a, const char *key, fmo_word word, bool *taken)
{
    char quote[FMO_QUOTE_SIZE];
    double version = 0.0;
    *taken = true;
    if (strcmp(key, "READGEOM") == 0) return take_geometry(a, word);
    if (strcmp(key, "NATOM") == 0) {
        if (fmo_text_count(word, FMO_NUCLEUS_MOST, &a->atom_num)) return FMO_OK;
        return INPUT(a, "&CNTRL: Natom=%s: expected 0 to %d", fmo_text_quote(word, quote),
                     FMO_NUCLEUS_MOST);
    }
    if (strcmp(key, "CHARGE") == 0) {
        a->charge_line = a->text->line;
        if (fmo_fragment_integer(word, FMO_NUCLEUS_MOST, &a->charge)) return FMO_OK;
        return INPUT(a, "&CNTRL: Charge=%s: expected an integer", fmo_text_quote(word, quote));
    }
    if (strcmp(key, "AJFVER") == 0) {
        if (fmo_text_real(a->text, word, &version) && version == 3.0) return FMO_OK;
        return INPUT(a, "&CNTRL: AJFVER=%s; only inputs of version 3 are read",
                     fmo_text_quote(word, quote));
    }
    *taken = false;
    return FMO_OK;
}

static fmo_status take_fmocntrl(fmo_abinitmp *a, const char *key, fmo_word word, bool *taken)
{
    char value[FMO_ABINITMP_NAME], quote[FMO_QUOTE_SIZE];
    const struct {
        const char *key;
        double *real;
    } thresholds[] = {{"LAOC", &a->laoc}, {"LPTC", &a->lptc}, {"LDIMER", &a->ldimer}};
    *taken = true;
    for (size_t i = 0; i < sizeof thresholds / sizeof thresholds[0]; i++)
        if (strcmp(key, thresholds[i].key) == 0)
            return take_threshold(a, key, word, thresholds[i].real);
    if (strcmp(key, "NF") == 0) {
        a->fragment_num_line = a->text->line;
        if (fmo_text_count(word, FMO_NUCLEUS_MOST, &a->fragment_num)) return FMO_OK;
        return INPUT(a, "&FMOCNTRL: NF=%s: expected 1 to %d", fmo_text_quote(word, quote),
                     FMO_NUCLEUS_MOST);
    }
    if (strcmp(key, "AUTOFRAG") == 0) {
        fmo_abinitmp_capitals(word, value);
        a->automatic_line = a->text->line;
        a->by_hand = strcmp(value, "OFF") == 0;
        a->automatic = strcmp(value, "ON") == 0;
        return a->by_hand || a->automatic ? FMO_OK
                                          : INPUT(a, "&FMOCNTRL: AutoFrag='%s': expected 'OFF'",
                                                  fmo_text_quote(word, quote));
    }
    *taken = false;
    return FMO_OK;
}

static fmo_status take_basis(fmo_abinitmp *a, const char *key, fmo_word word, bool *taken)
{
    char value[FMO_ABINITMP_NAME], quote[FMO_QUOTE_SIZE];
    *taken = true;
    if (strcmp(key, "BASISSET") == 0) {
        fmo_text_quote(word, quote);
        if (word.size >= sizeof a->basis)
            return INPUT(a, "&BASIS: BasisSet='%s' is too long for a name", quote);
        memcpy(a->basis, quote, word.size);
        a->basis[word.size] = '\0';
        return FMO_OK;
    }
    if (strcmp(key, "DIFFUSEON") == 0) {
        fmo_abinitmp_capitals(word, value);
        a->diffuse = strcmp(value, "NO") != 0;
        return FMO_OK;
    }
    *taken = false;
    return FMO_OK;
}

static fmo_status take_value(fmo_abinitmp *a, const char *group, const char *key, fmo_word word)
{
    bool taken = false;
    fmo_status status = FMO_OK;
    if (strcmp(group, "CNTRL") == 0) status = take_cntrl(a, key, word, &taken);
    if (strcmp(group, "FMOCNTRL") == 0) status = take_fmocntrl(a, key, word, &taken);
    if (strcmp(group, "BASIS") == 0) status = take_basis(a, key, word, &taken);
    return taken ? status : take_other(a, group, key, word);
}

fmo_status fmo_abinitmp_keys(fmo_abinitmp *a, const char *group, bool *known)
{
    char key[FMO_ABINITMP_NAME];
    fmo_word word = {"", 0};
    for (size_t i = 0; i < sizeof others / sizeof others[0] && !*known; i++)
        *known = strcmp(others[i].group, group) == 0;
    for (fmo_status status = FMO_OK; *known && status == FMO_OK;) {
        fmo_abinitmp_token token = fmo_abinitmp_next(a, &word);
        if (token == FMO_ABINITMP_END) return FMO_OK;
        if (token == FMO_ABINITMP_FILE_END) return INPUT(a, "&%s has no /", group);
        fmo_abinitmp_capitals(word, key);
        if (token != FMO_ABINITMP_WORD || fmo_abinitmp_next(a, &word) != FMO_ABINITMP_EQUALS)
            return INPUT(a, "&%s: '%s' where a key and = should stand", group, key);
        token = fmo_abinitmp_next(a, &word);
        fmo_word behind = a->rest;
        while (behind.size && (*behind.at == ' ' || *behind.at == '\t')) behind.at++, behind.size--;
        const bool is_key = token == FMO_ABINITMP_WORD && behind.size && *behind.at == '=';
        if (is_key || (token != FMO_ABINITMP_WORD && token != FMO_ABINITMP_QUOTED))
            return INPUT(a, "&%s: %s has no value; write one, or remove it", group, key);
        status = take_value(a, group, key, word);
        if (status != FMO_OK) return status;
    }
    return FMO_OK;
}
