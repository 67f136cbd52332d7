/* See text.h. */
#define _GNU_SOURCE /* uselocale, open_memstream */
#include "driver/fmo/text.h"
#include "base/harmless.h"
#include <fmo/result.h>

#include <locale.h>
#include <stdint.h>
#include <stdlib.h>

const char *fmo_fragment_name(const fmo_fragment_system *s, int k, char name[FMO_FRAGMENT_NAME])
{
    const char *text = s->fragment_name ? s->fragment_name[k] : NULL;
    snprintf(name, FMO_FRAGMENT_NAME, "%s", text ? text : "");
    fmo_text_harmless(name);
    return name;
}

/* Checks that a result belongs to the system. */
static fmo_status check(const fmo_text_source *source, const char *call, fmo_error *err)
{
    const fmo_fragment_result *r = source->result;
    const int64_t n = r->fragment_num;
    if (n < 1 || n != source->system->fragment_num)
        return fmo_error_set(
            err, FMO_ERR_ARGUMENT,
            "%s: the result does not belong to this system: fragment_num = %d, in the system %d",
            call, r->fragment_num, source->system->fragment_num);
    if (r->pair_num != n * (n - 1) / 2 || (r->pair_num && !r->pair))
        return fmo_error_set(
            err, FMO_ERR_ARGUMENT,
            "%s: the result does not belong to this system: pair_num = %d of %d fragments%s", call,
            r->pair_num, r->fragment_num, r->pair ? "" : ", pair is NULL");
    for (int k = 0; k < r->pair_num; k++)
        if (r->pair[k].i < 0 || r->pair[k].i >= r->pair[k].j || r->pair[k].j >= n)
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "%s: the result does not belong to this system: pair[%d] is of "
                                 "fragments %d and %d of %d",
                                 call, k, r->pair[k].i, r->pair[k].j, r->fragment_num);
    return FMO_OK;
}

fmo_status fmo_fragment_check_whole(const fmo_text_source *source, const char *call, fmo_error *err)
{
    const fmo_fragment_system *s = source->system;
    const fmo_fragment_result *r = source->result;
    const fmo_status status = fmo_fragment_system_check(s, err);
    if (status != FMO_OK) return status;
    bool whole = r->monomer && r->charge2 && r->atom_num == s->atom_num &&
                 r->fragment_num == s->fragment_num;
    for (int k = 0; whole && k < r->fragment_num; k++) {
        const fmo_fragment_monomer *const m = &r->monomer[k];
        whole = m->atom_num == 0 || (m->atom && m->charge);
        for (int a = 0; whole && a < m->atom_num; a++)
            whole = m->atom[a] >= 0 && m->atom[a] < s->atom_num;
    }
    return whole ? FMO_OK
                 : fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "%s: the result lacks monomers or charges of this system", call);
}

fmo_status fmo_fragment_write_text(const char *path, const fmo_text_source *source, fmo_put *put,
                                   const char *call, fmo_error *err)
{
    char *text = NULL;
    size_t size = 0;
    fmo_status status = check(source, call, err);
    if (status != FMO_OK) return status;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    FILE *stream = plain ? open_memstream(&text, &size) : NULL;
    bool good = stream && put(stream, source) && !ferror(stream);
    if (stream && fclose(stream) != 0) good = false;
    if (before) uselocale(before);
    if (plain) freelocale(plain);
    status = good ? fmo_file_write(path, text, size, err)
                  : fmo_error_set(err, FMO_ERR_MEMORY, "%s: no memory to write it", path);
    free(text);
    return status;
}
