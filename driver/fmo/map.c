/* Pair interaction energies as a heat map in SVG, fragment by fragment. The cell of a pair is one
 * path with two squares, [i][j] and [j][i]; numbers are written in the lower triangle if cells are
 * large enough. Colours: map_scale.c. */
#include "driver/fmo/map_scale.h"
#include "driver/fmo/text.h"
#include "base/arguments.h"
#include "base/harmless.h"
#include "io/output/kind.h"

#include <math.h>
#include <string.h>

/* Lengths in pixels. */
enum {
    SIDE = 640,      /* side of the map */
    SIDE_MAX = 1000, /* largest side, reached if cells would be smaller than CELL_MIN */
    CELL_MIN = 4,
    CELL_MAX = 72,
    CELL_LINES = 9,    /* smallest cell with lines between cells */
    CELL_HATCHES = 16, /* smallest cell in which hatching is visible */
    CELL_NUMBERS = 25, /* smallest cell with numbers, such as "-1.2" and "-12" */
    CELL_ROOMY = 40,   /* smallest cell for "-12.3" */
    WIDTH_MIN = 600,
    MARGIN = 24,
    HEAD = 88,   /* title and two lines */
    FOOT = 70,   /* legend */
    SWATCH = 18, /* colour sample in the legend */
    BAR = 16,
    BAR_MIN =
        250, /* smallest part of the map's height for the bar, including the words at its ends */
    BAR_MAX = 360,
    BAR_WIDTH = 134, /* bar, gap and numbers */
    FONT = 12,
    FONT_SMALL = 10 /* for names of small cells */
};

/* Average width of a character over the font size. */
static const double letter = 0.65;

/* In larger systems cells with energies below a hundredth of the range, which would have the
 * background colour, are omitted, because the file size grows with the square of the number of
 * fragments. */
enum { ALL_CELLS_MAX = 300 };

/* Largest number of characters of a name on an axis and in the title; tooltips have more. */
enum { AXIS_CHARACTERS = 16 };

typedef struct map {
    FILE *stream;
    const fmo_text_source *source;
    int n;
    double cell, left, top, side, width, height;
    int font;          /* font size of names */
    double name_width; /* width of the longest name */
    int step;          /* every step-th fragment has its name on the axes */
    bool turned;       /* names below the map are vertical */
    fmo_map_scale scale;
} map;

/* ---- texts ----------------------------------------------------------------------------------- */

static int characters(const char *text)
{
    int count = 0;
    for (; *text; text++) count += (*text & 0xc0) != 0x80;
    return count;
}

static const char *escape_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Writes a text without control characters, escaped and cut to `max_characters` characters. */
static void put_text(const map *m, const char *text, int max_characters)
{
    const bool cut = characters(text) > max_characters;
    for (int count = 0; *text; text++) {
        count += (*text & 0xc0) != 0x80;
        if (cut && count >= max_characters) break;
        const char *escape = escape_of(*text);
        if (escape)
            fputs(escape, m->stream);
        else
            putc(*text, m->stream);
    }
    if (cut) fputs("…", m->stream);
}

/* Writes a number with a typographic minus sign, and none before zero. */
static void put_number(const map *m, double value, int decimals)
{
    char digits[400];
    snprintf(digits, sizeof digits, "%.*f", decimals, fabs(value));
    if (value < 0.0 && strspn(digits, "0.") < strlen(digits)) fputs("−", m->stream);
    fputs(digits, m->stream);
}

/* Returns the name of a fragment, or its number. */
static const char *name_of(const map *m, int k, char name[FMO_FRAGMENT_NAME])
{
    if (!*fmo_fragment_name(m->source->system, k, name))
        snprintf(name, FMO_FRAGMENT_NAME, "%d", k + 1);
    return name;
}

/* Writes the number and the name of a fragment, at most `max_characters` characters of the name. */
static void put_fragment(const map *m, int k, int max_characters)
{
    char name[FMO_FRAGMENT_NAME];
    fprintf(m->stream, "%d", k + 1);
    if (!*fmo_fragment_name(m->source->system, k, name)) return;
    putc(' ', m->stream);
    put_text(m, name, max_characters);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static const char bonded_hatch[] = "url(#bonded)", bonded_grey[] = "#b0b0b0", nothing[] = "#ffffff";
static const char diagonal[] = "#d9d9d9";

static const char *bonded_fill(const map *m)
{
    return m->cell < CELL_HATCHES ? bonded_grey : bonded_hatch;
}

/* ---- parts of the picture -------------------------------------------------------------------- */

/* Returns the smallest of 1, 2, 5, 10, ... at which the names of every step-th fragment fit. */
static int step_of(const map *m)
{
    static const int steps[] = {1, 2, 5};
    for (int power = 1;; power *= 10)
        for (int i = 0; i < 3; i++)
            if (steps[i] * power * m->cell >= m->font + 2) return steps[i] * power;
}

/* Computes all sizes from the number of fragments and the lengths of their names. */
static void lay_out(map *m)
{
    char name[FMO_FRAGMENT_NAME];
    m->cell = floor(fmin(CELL_MAX, fmax(SIDE / (double)m->n, CELL_MIN)));
    if (m->cell * m->n > SIDE_MAX) m->cell = SIDE_MAX / (double)m->n;
    m->side = m->n * m->cell;
    m->font = m->cell < FONT + 2 ? FONT_SMALL : FONT;
    m->step = step_of(m);
    int longest = 1;
    for (int k = 0; k < m->n; k++) {
        const int count = characters(name_of(m, k, name));
        if (count > longest) longest = count;
    }
    if (longest > AXIS_CHARACTERS) longest = AXIS_CHARACTERS;
    m->name_width = letter * m->font * longest;
    m->turned = m->name_width > m->step * m->cell - 6;
    m->left = MARGIN + m->name_width + 10;
    m->top = HEAD;
    m->width = fmax(WIDTH_MIN, m->left + m->side + BAR_WIDTH + MARGIN);
    m->height = m->top + fmax(m->side, BAR_MIN) + 12 + (m->turned ? m->name_width : m->font) + FOOT;
}

/* Writes the start of the file and the title. */
static void put_head(const map *m)
{
    const fmo_fragment_system *s = m->source->system;
    const fmo_fragment_result *r = m->source->result;
    const char *slash = s->path ? strrchr(s->path, '/') : NULL;
    const char *of = s->name ? s->name : slash ? slash + 1 : s->path ? s->path : "";
    char name[200], basis[64];
    const int title_width = (int)((m->width - 2 * MARGIN) / (letter * 17));
    snprintf(name, sizeof name, "%s", of);
    fmo_text_harmless(name);
    snprintf(basis, sizeof basis, "%s", m->source->basis ? m->source->basis : "");
    fmo_text_harmless(basis);
    fprintf(m->stream,
            FMO_MAP_HEAD "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
                         "width=\"%.0f\" height=\"%.0f\" font-family=\"Helvetica, Arial, "
                         "sans-serif\" role=\"img\" aria-label=\"Pair interaction energies\">\n"
                         "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
                         "<text x=\"%d\" y=\"36\" font-size=\"17\" font-weight=\"bold\">",
            m->width, m->height, m->width, m->height, MARGIN);
    fputs(*name ? "Pair interactions: " : "Pair interactions", m->stream);
    put_text(m, name, title_width - 19);
    fprintf(m->stream,
            "</text>\n<g font-size=\"%d\" fill=\"#555555\">\n<text x=\"%d\" y=\"57\">FMO2-RHF",
            FONT, MARGIN);
    if (*basis) putc('/', m->stream);
    put_text(m, basis, 24);
    fprintf(m->stream, ", %d fragment%s, ", m->n, m->n == 1 ? "" : "s");
    put_number(m, r->energy2, 6);
    fprintf(m->stream, " hartree</text>\n<text x=\"%d\" y=\"75\">", MARGIN);
    if (m->scale.strongest >= 0) {
        const fmo_fragment_pair *p = &r->pair[m->scale.strongest];
        fputs("strongest: ", m->stream);
        put_fragment(m, p->i, AXIS_CHARACTERS);
        fputs(" – ", m->stream);
        put_fragment(m, p->j, AXIS_CHARACTERS);
        fputs(", ", m->stream);
        put_number(m, fmo_pair_kcal(p), 2);
        fputs(" kcal/mol", m->stream);
    }
    fputs("</text>\n</g>\n", m->stream);
}

/* Writes the names left of the map and below it. */
static void put_axes(const map *m)
{
    char name[FMO_FRAGMENT_NAME];
    const double end = m->top + m->side;
    fprintf(m->stream, "<g id=\"names\" font-size=\"%d\" fill=\"#222222\">\n", m->font);
    for (int k = 0; k < m->n; k++) {
        /* 1 and multiples of the step; 1 only if the next name leaves space for it */
        if ((k + 1) % m->step != 0 && (k > 0 || (m->step - 1) * m->cell < m->font + 2)) continue;
        const double at = (k + 0.5) * m->cell;
        name_of(m, k, name);
        fprintf(m->stream, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", m->left - 8,
                m->top + at + 0.35 * m->font);
        put_text(m, name, AXIS_CHARACTERS);
        if (m->turned)
            fprintf(m->stream,
                    "</text>\n<text transform=\"translate(%.1f %.1f) rotate(-90)\" "
                    "text-anchor=\"end\">",
                    m->left + at + 0.35 * m->font, end + 8);
        else
            fprintf(m->stream, "</text>\n<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                    m->left + at, end + 8 + 0.8 * m->font);
        put_text(m, name, AXIS_CHARACTERS);
        fputs("</text>\n", m->stream);
        if (m->step > 1)
            fprintf(m->stream,
                    "<path d=\"M%.1f %.1fh-4M%.1f %.1fv4\" stroke=\"#888888\" fill=\"none\"/>\n",
                    m->left, m->top + at, m->left + at, end);
    }
    fputs("</g>\n", m->stream);
}

/* Writes the cell of a pair with its tooltip; weak pairs of large systems are omitted. */
static void put_cell(const map *m, const fmo_fragment_pair *p)
{
    const double t = fmo_pair_kcal(p) / m->scale.range;
    if (m->n > ALL_CELLS_MAX && fmo_pair_is_shown(p) && fabs(t) < 0.01) return;
    fprintf(m->stream, "<path d=\"M%d %dh1v1h-1zM%d %dh1v1h-1z\" fill=\"", p->i, p->j, p->j, p->i);
    if (fmo_pair_is_shown(p))
        fmo_map_put_colour(m->stream, t);
    else
        fputs(p->is_bonded ? bonded_fill(m) : nothing, m->stream);
    fputs("\"><title>", m->stream);
    put_fragment(m, p->i, FMO_FRAGMENT_NAME);
    fputs(" – ", m->stream);
    put_fragment(m, p->j, FMO_FRAGMENT_NAME);
    fputs(p->is_bonded ? "\ncut bond between them, not comparable: " : "\n", m->stream);
    if (isfinite(p->total)) {
        put_number(m, fmo_pair_kcal(p), 3);
        fputs(" kcal/mol", m->stream);
    } else
        fputs("energy not finite", m->stream);
    fprintf(m->stream, "\n%s, distance %.2f</title></path>\n", p->is_scf ? "SCF" : "electrostatic",
            p->distance);
}

/* Writes the background, the diagonal, all cells and the lines between them. */
static void put_cells(const map *m)
{
    const fmo_fragment_result *r = m->source->result;
    fprintf(m->stream,
            "<g transform=\"translate(%.1f %.1f) scale(%.6g)\" shape-rendering=\"crispEdges\">\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"",
            m->left, m->top, m->cell, m->n, m->n);
    fmo_map_put_colour(m->stream, 0.0);
    fputs("\"/>\n<path id=\"diagonal\" fill=\"", m->stream);
    fprintf(m->stream, "%s\" d=\"", diagonal);
    for (int k = 0; k < m->n; k++) fprintf(m->stream, "M%d %dh1v1h-1z", k, k);
    fputs("\"/>\n<g id=\"pairs\">\n", m->stream);
    for (int k = 0; k < r->pair_num; k++) put_cell(m, &r->pair[k]);
    fputs("</g>\n", m->stream);
    if (m->cell >= CELL_LINES) {
        fprintf(m->stream,
                "<path stroke=\"#ffffff\" stroke-width=\"%.4f\" fill=\"none\" "
                "pointer-events=\"none\" d=\"",
                1.0 / m->cell);
        for (int k = 1; k < m->n; k++) fprintf(m->stream, "M%d 0v%dM0 %dh%d", k, m->n, k, m->n);
        fputs("\"/>\n", m->stream);
    }
    fprintf(m->stream,
            "<rect width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888888\" "
            "stroke-width=\"%.4f\"/>\n</g>\n",
            m->n, m->n, 1.0 / m->cell);
}

/* Returns the number of decimals with which an energy fits into its cell. */
static int decimals_of(const map *m, double energy)
{
    const double size = fabs(energy);
    if (m->cell < CELL_ROOMY) return size < 9.95 ? 1 : 0;
    return size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
}

/* Writes energies into the cells [j][i] below the diagonal. */
static void put_numbers(const map *m)
{
    const fmo_fragment_result *r = m->source->result;
    if (m->cell < CELL_NUMBERS) return;
    const int font = m->cell < CELL_ROOMY ? FONT_SMALL : FONT;
    fprintf(m->stream,
            "<g id=\"numbers\" font-size=\"%d\" text-anchor=\"middle\" "
            "pointer-events=\"none\">\n",
            font);
    for (int k = 0; k < r->pair_num; k++) {
        const fmo_fragment_pair *p = &r->pair[k];
        const double energy = fmo_pair_kcal(p);
        if (!fmo_pair_is_shown(p)) continue;
        fprintf(m->stream, "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">",
                m->left + (p->i + 0.5) * m->cell, m->top + (p->j + 0.5) * m->cell + 0.35 * font,
                fabs(energy) > 0.6 * m->scale.range ? "#ffffff" : "#222222");
        put_number(m, energy, decimals_of(m, energy));
        fputs("</text>\n", m->stream);
    }
    fputs("</g>\n", m->stream);
}

/* Writes the colour bar, with a triangle at each end that energies exceed. */
static void put_bar(const map *m)
{
    const double x = m->left + m->side + 24, top = m->top + 34;
    const double height = fmin(BAR_MAX, fmax(m->side, BAR_MIN) - 68), end = top + height;
    const bool above = m->scale.highest > m->scale.range, below = m->scale.lowest < -m->scale.range;
    if (m->scale.strongest < 0) return;
    fputs("<linearGradient id=\"colours\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">", m->stream);
    for (int k = 0; k < FMO_MAP_COLOURS; k++) {
        fprintf(m->stream, "<stop offset=\"%.1f\" stop-color=\"", k / (FMO_MAP_COLOURS - 1.0));
        fmo_map_put_colour(m->stream, 2.0 * k / (FMO_MAP_COLOURS - 1.0) - 1.0);
        fputs("\"/>", m->stream);
    }
    fprintf(m->stream,
            "</linearGradient>\n<g id=\"bar\" font-size=\"%d\" fill=\"#222222\">\n"
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"url(#colours)\"/>\n",
            FONT, x, top, BAR, height);
    if (above) {
        fprintf(m->stream, "<path d=\"M%.1f %.1fh%dl-%d -10z\" fill=\"", x, top, BAR, BAR / 2);
        fmo_map_put_colour(m->stream, 1.0);
        fputs("\"/>\n", m->stream);
    }
    if (below) {
        fprintf(m->stream, "<path d=\"M%.1f %.1fh%dl-%d 10z\" fill=\"", x, end, BAR, BAR / 2);
        fmo_map_put_colour(m->stream, -1.0);
        fputs("\"/>\n", m->stream);
    }
    for (int k = -2; k <= 2; k++) {
        const double y = top + height * (2 - k) / 4.0;
        fprintf(m->stream,
                "<path d=\"M%.1f %.1fh4\" stroke=\"#888888\"/><text x=\"%.1f\" y=\"%.1f\">",
                x + BAR, y, x + BAR + 8, y + 4);
        put_number(m, m->scale.range * k / 2.0,
                   m->scale.range < 0.2    ? 2
                   : m->scale.range < 10.0 ? 1
                                           : 0);
        fputs("</text>\n", m->stream);
    }
    fprintf(m->stream,
            "<text x=\"%.1f\" y=\"%.1f\">repulsive, kcal/mol</text>\n"
            "<text x=\"%.1f\" y=\"%.1f\">attractive</text>\n</g>\n",
            x, top - 18, x, end + 24);
}

/* Writes below the map what hatched fields are, and which energies exceed the scale of colours. */
static void put_legend(const map *m)
{
    const double y = m->height - FOOT + 22;
    bool bonded = false;
    for (int k = 0; k < m->source->result->pair_num; k++)
        bonded = bonded || m->source->result->pair[k].is_bonded;
    fprintf(m->stream, "<g font-size=\"%d\" fill=\"#555555\">\n", FONT);
    if (bonded)
        fprintf(m->stream,
                "<rect transform=\"translate(%d %.1f) scale(%.6g)\" width=\"%.4f\" "
                "height=\"%.4f\" fill=\"%s\"/>\n<text x=\"%d\" y=\"%.1f\">a cut bond between "
                "them: not comparable</text>\n",
                MARGIN, y - 2.0, m->cell, SWATCH / m->cell, SWATCH / m->cell, bonded_fill(m),
                MARGIN + SWATCH + 8, y + 11.5);
    if (m->scale.strongest >= 0 &&
        (m->scale.highest > m->scale.range || m->scale.lowest < -m->scale.range)) {
        fprintf(m->stream,
                "<text x=\"%d\" y=\"%.1f\">Colours end at ±%g kcal/mol; energies go from ", MARGIN,
                y + (bonded ? 33.5 : 11.5), m->scale.range);
        put_number(m, m->scale.lowest, 1);
        fputs(" to ", m->stream);
        put_number(m, m->scale.highest, 1);
        fputs(".</text>\n", m->stream);
    }
    fputs("</g>\n", m->stream);
}

/* Writes the whole picture. */
static bool put_map(FILE *stream, const fmo_text_source *source)
{
    map m = {.stream = stream, .source = source, .n = source->result->fragment_num};
    if (!fmo_map_scale_find(source->result, &m.scale)) return false;
    lay_out(&m);
    put_head(&m);
    if (m.cell >= CELL_HATCHES)
        fprintf(stream,
                "<pattern id=\"bonded\" patternUnits=\"userSpaceOnUse\" width=\"6\" height=\"6\" "
                "patternTransform=\"scale(%.6g) rotate(45)\"><rect width=\"6\" height=\"6\" "
                "fill=\"#e4e4e4\"/><rect width=\"2\" height=\"6\" fill=\"#a0a0a0\"/></pattern>\n",
                1.0 / m.cell);
    put_cells(&m);
    put_numbers(&m);
    put_axes(&m);
    put_bar(&m);
    put_legend(&m);
    fputs("</svg>\n", stream);
    return true;
}

fmo_status fmo_fragment_write_map(const char *path, const fmo_fragment_system *system,
                                  const fmo_fragment_result *result, const char *basis,
                                  fmo_error *err)
{
    static const char call[] = "fmo_fragment_write_map";
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(path), FMO_GIVEN(system), FMO_GIVEN(result));
    const fmo_text_source source = {system, result, basis, -1};
    return checked == FMO_OK ? fmo_fragment_write_text(path, &source, put_map, call, err) : checked;
}
