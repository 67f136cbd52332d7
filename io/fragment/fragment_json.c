/* Helpers for reading JSON documents; declared in fragment_json.h. */
#include "io/fragment/fragment_json.h"
#include "base/harmless.h"

#include <math.h>
#include <string.h>

#define INPUT(text, ...) fmo_text_fail((text), 0, FMO_ERR_INPUT, __VA_ARGS__)

const char *fmo_json_unknown(const json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        int k = 0;
        while (known[k] && strcmp(known[k], key) != 0) k++;
        if (!known[k]) return key;
    }
    return NULL;
}

const char *fmo_json_quote(const char *text, char quote[FMO_QUOTE_SIZE])
{
    return fmo_text_quote((fmo_word){text ? text : "", text ? strlen(text) : 0}, quote);
}

fmo_status fmo_json_integers(const fmo_text *text, const char *name, const json_t *array, int count,
                             int low, int high, int *values)
{
    if (!json_is_array(array) || json_array_size(array) != (size_t)count)
        return INPUT(text, "%s: expected an array of %d integers", name, count);
    for (int i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, (size_t)i);
        const json_int_t integer = json_integer_value(value);
        if (!json_is_integer(value)) return INPUT(text, "%s[%d]: expected an integer", name, i);
        if (integer < low || integer > high)
            return INPUT(text, "%s[%d] = %lld: expected %d to %d", name, i, (long long)integer, low,
                         high);
        values[i] = (int)integer;
    }
    return FMO_OK;
}

fmo_status fmo_json_reals(const fmo_text *text, const char *name, const json_t *array, int count,
                          double limit, double *values)
{
    if (!json_is_array(array) || json_array_size(array) != (size_t)count)
        return INPUT(text, "%s: expected an array of %d numbers", name, count);
    for (int i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, (size_t)i);
        values[i] = json_number_value(value);
        if (!json_is_number(value)) return INPUT(text, "%s[%d]: expected a number", name, i);
        if (!isfinite(values[i]) || fabs(values[i]) > limit)
            return INPUT(text, "%s[%d] = %g: expected a number from %g to %g", name, i, values[i],
                         -limit, limit);
    }
    return FMO_OK;
}
