/*
 * plot_text.c: curves in the terminal: both axes by logarithm, a mark for each device, a line of what crosses where.
 *
 *     100 us |                              ....B
 *            |             .......B.........  ..A
 *      10 us |B....B.......          ....A....
 *            |        ...A...........
 *       1 us |A.......
 *            +-----------------------^---------------
 *             1K     4K      16K     64K     256K
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile.h"
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 20, COLUMNS = 66, LABEL = 8, MARKS = 8 };

/* How things look on this terminal. */
struct style {
    const char *marks[MARKS], *line, *side, *corner, *floor, *cross;
    bool colour;
};

static const struct style ascii = {{"A", "B", "C", "D", "E", "F", "G", "H"}, ".", "|", "+", "-", "^", false};
static const struct style unicode = {{"●", "▲", "■", "◆", "▼", "★", "○", "△"}, "·", "│", "└", "─", "↑", false};
static const char *const colours[MARKS] = {"34", "31", "32", "35", "33", "36", "94", "91"};

/* By character: 0, or 1 + the curve, and whether it is a point of it. */
struct canvas {
    unsigned char curve[ROWS][COLUMNS];
    bool point[ROWS][COLUMNS];
    const struct curves *curves;
};

static struct style style_here(void) {
    (void)setlocale(LC_CTYPE, "");
    struct style style = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? unicode : ascii;
    const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
    style.colour = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 && !(no_colour && *no_colour);
    return style;
}

/* ---- drawing ---------------------------------------------------------------------------------------------------- */

static double column_units(const struct curves *curves, int column) {
    return curves->left + (curves->right - curves->left) * (column + 0.5) / COLUMNS;
}

static int column_of(const struct curves *curves, double units_log2) {
    const int column = (int)((units_log2 - curves->left) / (curves->right - curves->left) * COLUMNS);
    return column < 0 ? 0 : column >= COLUMNS ? COLUMNS - 1 : column;
}

/* Row 0 is at the top. */
static int row_of(const struct curves *curves, double ns_log10) {
    const int row = ROWS - 1 - (int)((ns_log10 - curves->low) / (curves->high - curves->low) * (ROWS - 1) + 0.5);
    return row < 0 ? 0 : row >= ROWS ? ROWS - 1 : row;
}

static void draw_curve(struct canvas *canvas, unsigned index) {
    const struct curve *curve = &canvas->curves->curves[index];
    double ns;
    for (int column = 0; column < COLUMNS; column++) {
        if (!curve_at(curve, column_units(canvas->curves, column), &ns)) continue;
        const int row = row_of(canvas->curves, ns);
        if (!canvas->curve[row][column]) canvas->curve[row][column] = (unsigned char)(index + 1);
    }
}

static void draw_points(struct canvas *canvas, unsigned index) {
    const struct curve *curve = &canvas->curves->curves[index];
    for (unsigned p = 0; p < curve->count; p++) {
        const int row = row_of(canvas->curves, log10(curve->points[p].ns));
        const int column = column_of(canvas->curves, curve->points[p].units_log2);
        canvas->curve[row][column] = (unsigned char)(index + 1);
        canvas->point[row][column] = true;
    }
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

static void put(const struct style *style, unsigned curve, const char *text) {
    if (style->colour)
        printf("\033[%sm%s\033[0m", colours[curve % MARKS], text);
    else
        fputs(text, stdout);
}

static const char *label_of(const struct canvas *canvas, const struct curve_tick *ticks, unsigned count, int row) {
    for (unsigned i = 0; i < count; i++)
        if (row_of(canvas->curves, ticks[i].ns_log10) == row) return ticks[i].label.line;
    return "";
}

static void print_row(const struct canvas *canvas, const struct style *style, int row, const char *label) {
    int last = COLUMNS - 1;
    while (last >= 0 && !canvas->curve[row][last]) last--; /* no line ends in blanks */
    printf("%*s %s", LABEL, label, style->side);
    for (int column = 0; column <= last; column++) {
        const unsigned char curve = canvas->curve[row][column];
        if (!curve)
            putchar(' ');
        else
            put(style, curve - 1u, canvas->point[row][column] ? style->marks[(curve - 1u) % MARKS] : style->line);
    }
    putchar('\n');
}

static void print_floor(const struct canvas *canvas, const struct style *style) {
    const struct curves *curves = canvas->curves;
    bool crossing[COLUMNS] = {false};
    for (unsigned i = 0; i < curves->crossing_count; i++)
        crossing[column_of(curves, curves->crossings[i].units_log2)] = true;
    printf("%*s %s", LABEL, "", style->corner);
    for (int column = 0; column < COLUMNS; column++) fputs(crossing[column] ? style->cross : style->floor, stdout);
    char labels[COLUMNS + 16] = "";
    const unsigned step = curve_units_step(curves, 8);
    int used = 0;
    for (unsigned log2 = 0; log2 < 64; log2 += step) {
        if (log2 < curves->left || log2 > curves->right) continue;
        struct cli_text units = curve_units(log2);
        const int at = column_of(curves, log2);
        if (at < used) continue;
        used += snprintf(labels + used, sizeof labels - (size_t)used, "%*s%s", at - used, "", units.line);
    }
    printf("\n%*s  %s   units\n", LABEL, "", labels);
}

static void print_legend(const struct curves *curves, const struct style *style) {
    for (unsigned i = 0; i < curves->count; i++) {
        fputs("  ", stdout);
        put(style, i, style->marks[i % MARKS]);
        printf(" %u %s\n", curves->curves[i].device,
               profile_label(&curves->view->devices[curves->curves[i].device]).line);
    }
    for (unsigned i = 0; i < curves->crossing_count; i++) {
        const struct crossing *crossing = &curves->crossings[i];
        printf("  %s from about %s units on device %u takes less than device %u\n", style->cross,
               crossing_units(crossing).line, curves->curves[crossing->after].device,
               curves->curves[crossing->before].device);
    }
    if (!curves->crossing_count && curves->count > 1) puts("  no crossover in what was measured");
    if (curves->left_out)
        printf("  %s with other work for each unit not shown; see --work\n",
               cli_counted(curves->left_out, "cell").line);
}

void plot_text(const struct curves *curves) {
    const struct style style = style_here();
    struct canvas canvas = {.curves = curves};
    struct curve_tick ticks[CURVE_TICKS];
    const unsigned tick_count = curve_ticks(curves, ticks);
    for (unsigned i = 0; i < curves->count; i++) draw_curve(&canvas, i);
    for (unsigned i = 0; i < curves->count; i++) draw_points(&canvas, i);
    printf("%s, %s of work for each unit: time of a launch\n\n", curves->op,
           cli_count(UINT64_C(1) << curves->work_log2).line);
    for (int row = 0; row < ROWS; row++) print_row(&canvas, &style, row, label_of(&canvas, ticks, tick_count, row));
    print_floor(&canvas, &style);
    putchar('\n');
    print_legend(curves, &style);
}
