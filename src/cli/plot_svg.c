/*
 * plot_svg.c: curves as a drawing for documents: one file, no script, no font of its own, both axes by logarithm.
 *
 * A point has a bar from the tenth to the ninetieth percentile; a dashed line stands where another device becomes the
 * cheapest. Shapes differ as well as colours: it can be read in grey, and by those who see no red.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile.h"
#include <math.h>

enum { WIDTH = 960, LEFT = 92, RIGHT = 930, TOP = 72, BOTTOM = 472, LEGEND_LINE = 24, COLOURS = 8 };

static const char *const colours[COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                             "#b38600", "#56b4e9", "#5c5c5c", "#7b3fa0"};

struct drawing {
    const struct curves *curves;
    FILE *out;
};

static double x_of(const struct drawing *drawing, double units_log2) {
    const struct curves *curves = drawing->curves;
    return LEFT + (RIGHT - LEFT) * (units_log2 - curves->left) / (curves->right - curves->left);
}

static double y_of(const struct drawing *drawing, double ns_log10) {
    const struct curves *curves = drawing->curves;
    const double y = BOTTOM - (BOTTOM - TOP) * (ns_log10 - curves->low) / (curves->high - curves->low);
    return y > BOTTOM ? BOTTOM : y;
}

static double y_of_ns(const struct drawing *drawing, double ns) {
    return y_of(drawing, log10(ns > 0.001 ? ns : 0.001));
}

/* Text that an XML parser takes, whatever a driver calls its device. */
static void put_text(FILE *out, const char *text) {
    while (*text) {
        const char *start = text;
        const int32_t point = cli_utf8_next(&text);
        const bool plain = point >= 0x20 && (point < 0x7f || point > 0x9f) && point != 0xfffe && point != 0xffff;
        if (point == '&')
            fputs("&amp;", out);
        else if (point == '<')
            fputs("&lt;", out);
        else if (!plain)
            fputc('?', out);
        else
            fwrite(start, 1, (size_t)(text - start), out);
    }
}

/* ---- axes ------------------------------------------------------------------------------------------------------- */

static void draw_grid(const struct drawing *drawing) {
    FILE *out = drawing->out;
    struct curve_tick ticks[CURVE_TICKS];
    const unsigned count = curve_ticks(drawing->curves, ticks), step = curve_units_step(drawing->curves, 14);
    fputs("<g class=\"grid\">\n", out);
    for (unsigned i = 0; i < count; i++) {
        const double y = y_of(drawing, ticks[i].ns_log10);
        fprintf(out, "<path d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" class=\"right\">%s</text>\n", LEFT, y, RIGHT,
                LEFT - 10, y + 5, ticks[i].label.line);
    }
    for (unsigned log2 = 0; log2 < 64; log2 += step) {
        if (log2 < drawing->curves->left || log2 > drawing->curves->right) continue;
        const double x = x_of(drawing, log2);
        fprintf(out, "<path d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" class=\"middle\">%s</text>\n", x, TOP, BOTTOM,
                x, BOTTOM + 22, curve_units(log2).line);
    }
    fprintf(out, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
    fprintf(out, "<text x=\"%d\" y=\"%d\" class=\"middle\">units in a launch</text>\n", (LEFT + RIGHT) / 2,
            BOTTOM + 46);
    fprintf(out, "<text transform=\"translate(24 %d) rotate(-90)\" class=\"middle\">time of a launch</text>\n</g>\n",
            (TOP + BOTTOM) / 2);
}

/* ---- curves ----------------------------------------------------------------------------------------------------- */

/* A shape of the curve around a place. */
static void draw_mark(FILE *out, unsigned index, double x, double y) {
    static const char *const shapes[] = {"m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z", "m-6 5h12l-6 -11z",
                                         "m-4.5 -4.5h9v9h-9z", "m0 -6.5l6 6.5l-6 6.5l-6 -6.5z"};
    fprintf(out, "<path class=\"mark\" d=\"M%.1f %.1f%s\"/>", x, y, shapes[index % 4]);
}

static void draw_curve(const struct drawing *drawing, unsigned index) {
    const struct curve *curve = &drawing->curves->curves[index];
    const char *colour = colours[index % COLOURS];
    FILE *out = drawing->out;
    fprintf(out, "<g stroke=\"%s\" fill=\"%s\">\n", colour, colour);
    for (unsigned p = 0; p < curve->count; p++) {
        const struct curve_point *point = &curve->points[p];
        const double x = x_of(drawing, point->units_log2), low = y_of_ns(drawing, point->low_ns),
                     high = y_of_ns(drawing, point->high_ns);
        if (low - high > 12) /* else the mark hides it */
            fprintf(out, "<path class=\"range\" d=\"M%.1f %.1fV%.1fm-4 0h8M%.1f %.1fh8\"/>\n", x, low, high, x - 4,
                    low);
    }
    fputs("<path class=\"curve\" d=\"", out);
    for (unsigned p = 0; p < curve->count; p++)
        fprintf(out, "%c%.1f %.1f", p ? 'L' : 'M', x_of(drawing, curve->points[p].units_log2),
                y_of_ns(drawing, curve->points[p].ns));
    fputs("\"/>\n", out);
    for (unsigned p = 0; p < curve->count; p++)
        draw_mark(out, index, x_of(drawing, curve->points[p].units_log2), y_of_ns(drawing, curve->points[p].ns));
    fputs("\n</g>\n", out);
}

/* The label stands beside its line, on the side with more room; neighbours stand at different heights. */
static void draw_crossing(const struct drawing *drawing, unsigned index) {
    const struct crossing *crossing = &drawing->curves->crossings[index];
    const double x = x_of(drawing, crossing->units_log2), y = y_of_ns(drawing, crossing->ns);
    const bool left = x > (LEFT + RIGHT) / 2.0;
    FILE *out = drawing->out;
    fprintf(out, "<g class=\"cross\"><path d=\"M%.1f %dV%d\"/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"9\"/>", x, TOP,
            BOTTOM, x, y);
    fprintf(out, "<text x=\"%.1f\" y=\"%u\" class=\"%s\">crossover at about %s units</text></g>\n",
            left ? x - 8 : x + 8, TOP + 16 + 18 * (index % 6), left ? "right" : "left", crossing_units(crossing).line);
}

static void draw_legend(const struct drawing *drawing) {
    const struct curves *curves = drawing->curves;
    FILE *out = drawing->out;
    for (unsigned i = 0; i < curves->count; i++) {
        const char *colour = colours[i % COLOURS];
        const double y = BOTTOM + 78 + LEGEND_LINE * i;
        fprintf(out, "<g stroke=\"%s\" fill=\"%s\"><path class=\"curve\" d=\"M%d %.1fh36\"/>", colour, colour, LEFT, y);
        draw_mark(out, i, LEFT + 18, y);
        fprintf(out, "</g><text x=\"%d\" y=\"%.1f\">", LEFT + 48, y + 5);
        put_text(out, profile_label(&curves->view->devices[curves->curves[i].device]).line);
        fputs("</text>\n", out);
    }
}

void plot_svg(const struct curves *curves, FILE *out) {
    const struct drawing drawing = {curves, out};
    const unsigned height = BOTTOM + 78 + LEGEND_LINE * curves->count;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" width=\"%d\" height=\"%u\" role=\"img\">\n"
            "<title>Time of a launch of %s by its size</title>\n",
            WIDTH, height, WIDTH, height, curves->op);
    fputs("<style>\n"
          "text { font: 14px sans-serif; fill: #333; stroke: none }\n"
          ".head { font-size: 20px; fill: #111 } .right { text-anchor: end } .middle { text-anchor: middle }\n"
          ".grid path { stroke: #e4e4e4; fill: none } .grid .axis { stroke: #555; stroke-width: 1.5 }\n"
          ".curve { fill: none; stroke-width: 2.2; stroke-linejoin: round } .mark { stroke: #fff; stroke-width: 1 }\n"
          ".range { fill: none; stroke-width: 1.2; opacity: .55 }\n"
          ".cross path { stroke: #777; stroke-dasharray: 5 4; fill: none } .cross circle { stroke: #111; fill: none }\n"
          ".cross text { fill: #111; paint-order: stroke; stroke: #fff; stroke-width: 4px }\n"
          "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
          out);
    fprintf(out, "<text x=\"%d\" y=\"34\" class=\"head\">%s</text>\n", LEFT, curves->op);
    fprintf(
        out,
        "<text x=\"%d\" y=\"56\">time of a launch by its size, %s of work for each unit; medians, bars from 10 %% to "
        "90 %%</text>\n",
        LEFT, cli_count(UINT64_C(1) << curves->work_log2).line);
    draw_grid(&drawing);
    for (unsigned i = 0; i < curves->count; i++) draw_curve(&drawing, i);
    for (unsigned i = 0; i < curves->crossing_count; i++) draw_crossing(&drawing, i);
    draw_legend(&drawing);
    fputs("</svg>\n", out);
}
