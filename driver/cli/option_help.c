/* Prints the options for --help: sections, arguments, and values in columns. See option.h. */
#include "driver/cli/option.h"

#include <string.h>

enum { WIDTH = 100, TEXT_AT = 26 };

/* Prints words from column `at` on, with line breaks between words and the given indentation;
 * returns the column after the last word. */
static int print_words(const char *text, int indent, int at, FILE *stream)
{
    bool first = at <= indent;
    for (const char *word = text; *word;) {
        const int length = (int)strcspn(word, " ");
        if (!first && at + 1 + length > WIDTH) {
            fprintf(stream, "\n%*s", indent, "");
            at = indent;
            first = true;
        }
        if (!first) {
            fputc(' ', stream);
            at++;
        }
        fprintf(stream, "%.*s", length, word);
        at += length;
        first = false;
        word += length + strspn(word + length, " ");
    }
    return at;
}

/* Prints the names of choices on one line, or each with its text on a line of its own. */
static void print_choices(const cli_choices *choices, FILE *stream)
{
    int width = 0;
    for (int k = 0; k < choices->count; k++) {
        const char *name = choices->name(k);
        if (name && (int)strlen(name) > width) width = (int)strlen(name);
    }
    if (!choices->text) fprintf(stream, "%*svalues:", TEXT_AT, "");
    for (int k = 0; k < choices->count; k++) {
        const char *name = choices->name(k);
        if (!name) continue;
        if (!choices->text) {
            fprintf(stream, " %s", name);
            continue;
        }
        const int indent = TEXT_AT + width + 2;
        fprintf(stream, "%*s%-*s  ", TEXT_AT, "", width, name);
        print_words(choices->text(k), indent, indent, stream);
        fputc('\n', stream);
    }
    if (!choices->text) fputc('\n', stream);
}

/* Prints numbers and names of choices. */
void cli_show_field(const cli_option *row, const void *defaults, FILE *stream)
{
    const char *field = (const char *)defaults + row->at;
    int count;
    double real;
    switch (row->kind) {
    case CLI_COUNT:
    case CLI_SIGNED:
        memcpy(&count, field, sizeof count);
        fprintf(stream, "%d", count);
        break;
    case CLI_REAL:
        memcpy(&real, field, sizeof real);
        fprintf(stream, "%g", real);
        break;
    case CLI_CHOICE:
        memcpy(&count, field, sizeof count);
        fputs(row->choices->name(count), stream);
        break;
    default: /* the defaults of other kinds are texts of the table */
        break;
    }
}

/* Prints " [default]"; returns the column after it. */
static int print_default(const cli_option *row, const void *defaults, int at, FILE *stream)
{
    char text[512] = "";
    FILE *memory = NULL;
    if (row->show) memory = fmemopen(text, sizeof text - 1, "w");
    if (memory) {
        row->show(row, defaults, memory);
        fclose(memory);
    } else if (row->value) {
        snprintf(text, sizeof text, "%s", row->value);
    }
    if (!*text) return at;
    char bracketed[516];
    snprintf(bracketed, sizeof bracketed, "[%s]", text);
    return print_words(bracketed, TEXT_AT, at, stream);
}

/* Prints " (a, b)", or " (not a, b)" if that is shorter. */
static void print_commands(const cli_program *program, const cli_option *row, int at, FILE *stream)
{
    int takers = 0;
    if (program->list_uses) {
        char list[256] = "(";
        program->list_uses(row, list + 1, sizeof list - 2);
        strcat(list, ")");
        if (list[1] != ')') print_words(list, TEXT_AT, at, stream);
        return;
    }
    for (int c = 0; c < program->command_num; c++) takers += row->commands >> c & 1u;
    if (!row->commands || takers == program->command_num) return;
    const bool inverted = 2 * takers > program->command_num;
    char text[256];
    size_t used = (size_t)snprintf(text, sizeof text, "(%s", inverted ? "not " : "");
    const char *between = "";
    for (int c = 0; c < program->command_num && used < sizeof text; c++) {
        if ((bool)(row->commands >> c & 1u) == inverted) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", between,
                                 program->command_name(c));
        between = ", ";
    }
    if (used < sizeof text) snprintf(text + used, sizeof text - used, ")");
    print_words(text, TEXT_AT, at, stream);
}

/* Prints one option: names and argument, help text, default, uses and choices. */
static void print_option(const cli_program *program, const cli_option *row, bool named,
                         const void *defaults, FILE *stream)
{
    char left[64], letter[8] = "    ";
    const bool optional = row->without != NULL;
    if (row->letter) snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s%s", letter, row->name,
             row->metavar ? (optional ? "[=" : " ") : "", row->metavar ? row->metavar : "",
             optional ? "]" : "");
    if ((int)strlen(left) < TEXT_AT)
        fprintf(stream, "%-*s", TEXT_AT, left);
    else
        fprintf(stream, "%s\n%*s", left, TEXT_AT, "");
    int at = print_words(row->help, TEXT_AT, TEXT_AT, stream);
    at = print_default(row, defaults, at, stream);
    if (named) print_commands(program, row, at, stream);
    fputc('\n', stream);
    if (row->choices) print_choices(row->choices, stream);
}

void cli_print_options(const cli_program *program, unsigned commands, bool named,
                       const void *defaults, FILE *stream)
{
    const char *section = NULL;
    for (int i = 0; i < program->option_num; i++) {
        const cli_option *row = &program->option[i];
        if (row->section) section = row->section; /* printed before its first shown row */
        if (row->commands && !(row->commands & commands)) continue;
        if (section) fprintf(stream, "\n%s:\n", section);
        section = NULL;
        print_option(program, row, named, defaults, stream);
    }
}
