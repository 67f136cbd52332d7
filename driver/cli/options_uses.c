/* Lists of the kinds of runs, modes and input files in which an option has an effect, for --help
 * (options.c) and for messages (options_check.c). */
#include "driver/cli/options_internal.h"

#include <stdio.h>

void driver_list_bits(unsigned set, const char *const *names, int num, const char *last, char *text,
                      size_t size)
{
    int left = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; k < num; k++) left += (int)(set >> k & 1u);
    for (int k = 0; k < num && used < size; k++) {
        if (!(set >> k & 1u)) continue;
        const char *const between = --left ? (left == 1 ? last : ", ") : "";
        used += (size_t)snprintf(text + used, size - used, "%s%s", names[k], between);
    }
}

void driver_list_modes(unsigned set, char *text, size_t size)
{
    const char *names[FMO_MODE_COUNT];
    for (int m = 0; m < FMO_MODE_COUNT; m++) names[m] = fmo_mode_name((fmo_mode)m);
    driver_list_bits(set, names, FMO_MODE_COUNT, " or ", text, size);
}

void driver_list_commands(unsigned commands, char *text, size_t size)
{
    static const char *const build[] = {NULL, "builds without --batch", "--batch without --scf",
                                        "builds"};
    static const char *const scf[] = {NULL, "--scf without --batch", "--scf --batch", "--scf"};
    const unsigned builds = commands & ANY_BUILD, scfs = (commands & ANY_SCF) / SCF;
    const char *const names[] = {build[builds], scf[scfs], "--fmo"};
    const unsigned set = (builds ? 1u : 0) | (scfs ? 2u : 0) | (commands & FRAGMENTS ? 4u : 0);
    driver_list_bits(set, names, 3, " or ", text, size);
}

void driver_list_inputs(unsigned inputs, char *text, size_t size)
{
    static const char *const names[] = {"data sets", ".xyz files", "systems of fragments",
                                        "PDB files"};
    if (inputs & SYSTEM) inputs &= ~(unsigned)PDB; /* PDB files are systems of fragments too */
    driver_list_bits(inputs, names, 4, " or ", text, size);
}

/* Joins the lists of commands, modes, inputs and needed options. */
void driver_list_uses(const cli_option *row, char *text, size_t size)
{
    char commands[96] = "", modes[64] = "", inputs[80] = "";
    if (row->commands) driver_list_commands(row->commands, commands, sizeof commands);
    if (row->modes) driver_list_modes(row->modes, modes, sizeof modes);
    if (row->inputs) driver_list_inputs(row->inputs, inputs, sizeof inputs);
    const char *const parts[][2] = {{"", commands},
                                    {"--mode ", modes},
                                    {"", inputs},
                                    {"with --", row->needs ? row->needs : ""}};
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; k < 4 && used < size; k++)
        if (*parts[k][1])
            used += (size_t)snprintf(text + used, size - used, "%s%s%s", used ? "; " : "",
                                     parts[k][0], parts[k][1]);
}
