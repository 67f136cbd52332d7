/* Prints what a reader of fragment files finds as JSON, one line for each file, for files.py.
 *     [FMO_LIGANDS=FILE.json] fragment_show RESIDUES FILE...
 *     fragment_show --keys gamess | abinitmp   the table of that reader's keys */
#include "io/fragment/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_integers(const char *name, const int *values, int count, int add)
{
    printf("\"%s\": [", name);
    for (int i = 0; i < count; i++) printf("%s%d", i ? ", " : "", values[i] + add);
    printf("], ");
}

static int print_keys(const fmo_key_table *table)
{
    static const char *const treatments[] = {
        [FMO_KEY_IGNORED] = "ignored", [FMO_KEY_CHECKED] = "checked", [FMO_KEY_READ] = "read"};
    for (size_t i = 0; i < table->num; i++) {
        const fmo_key_row *const row = &table->row[i];
        printf("%s{\"group\": \"%s\", \"keys\": \"%s\", \"treatment\": \"%s\", \"values\": \"%s\"}",
               i ? ",\n" : "[", row->group, row->keys, treatments[row->treatment],
               row->values ? row->values : "");
    }
    return printf("]\n") < 0;
}

/* Prints the system of each file, or the error that refuses it. */
int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--keys") == 0)
        return print_keys(strcmp(argv[2], "gamess") ? &fmo_abinitmp_keys_table
                                                    : &fmo_gamess_keys_table);
    for (int i = 2; i < argc; i++) {
        fmo_fragment_system *s = NULL;
        fmo_error err = {FMO_OK, ""};
        const fmo_status status = fmo_fragment_system_read_pieces(argv[i], atoi(argv[1]),
                                                                  getenv("FMO_LIGANDS"), &s, &err);
        if (status != FMO_OK) {
            printf("{\"status\": %d, \"error\": \"", (int)status);
            for (const char *c = err.message; *c; c++)
                printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
            printf("\"}\n");
            continue;
        }
        printf("{");
        print_integers("number", s->number, s->atom_num, 0);
        print_integers("fragment", s->fragment, s->atom_num, 1);
        print_integers("charge", s->charge, s->fragment_num, 0);
        print_integers("bonds", s->bond, 2 * s->bond_num, 1);
        printf("\"angstrom\": [");
        for (int k = 0; k < 3 * s->atom_num; k++)
            printf("%s%.12g", k ? ", " : "", s->coord[k] * s->bohr);
        printf("], \"esp\": [%.17g, %.17g, %.17g], ", s->aoc_from, s->ptc_from, s->es_dimers_from);
        printf("\"names\": [");
        for (int f = 0; s->fragment_name && f < s->fragment_num; f++)
            printf("%s\"%s\"", f ? ", " : "", s->fragment_name[f]);
        printf("], \"spherical\": %d, \"basis\": \"%s\", \"name\": \"%s\", \"notice\": \"%s\"}\n",
               s->spherical, s->basis ? s->basis : "", s->name ? s->name : "",
               s->notice ? s->notice : "");
        fmo_fragment_system_destroy(s);
    }
    return 0;
}
