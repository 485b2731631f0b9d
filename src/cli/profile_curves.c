/*
 * profile_curves.c: the cost of one operation against its size, a curve for each device, and where they cross.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile.h"
#include "text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static unsigned log2_of(uint64_t power) { return (unsigned)__builtin_ctzll(power); }

static unsigned work_of(const struct profile_cell *cell) {
    return log2_of(cell->entry.work) - log2_of(cell->entry.units);
}

/* ---- making ----------------------------------------------------------------------------------------------------- */

/* The work for each unit of which there are most cells; of two, the smaller. */
static unsigned usual_work(const struct profile_view *view) {
    unsigned counts[64] = {0}, best = 0;
    for (size_t i = 0; i < view->cell_count; i++) counts[work_of(&view->cells[i])]++;
    for (unsigned i = 1; i < 64; i++)
        if (counts[i] > counts[best]) best = i;
    return best;
}

static struct curve *curve_of(struct curves *curves, unsigned device) {
    for (unsigned i = 0; i < curves->count; i++)
        if (curves->curves[i].device == device) return &curves->curves[i];
    curves->curves = cli_grow(curves->curves, curves->count + 1, sizeof *curves->curves);
    struct curve *curve = &curves->curves[curves->count++];
    *curve = (struct curve){.device = device};
    return curve;
}

static void fill_curves(struct curves *curves) {
    for (size_t i = 0; i < curves->view->cell_count; i++) {
        const struct svmx_profile_entry *entry = &curves->view->cells[i].entry;
        if (work_of(&curves->view->cells[i]) != curves->work_log2) {
            curves->left_out++;
            continue;
        }
        struct curve *curve = curve_of(curves, curves->view->cells[i].device);
        if (curve->count < CURVE_POINTS)
            curve->points[curve->count++] =
                (struct curve_point){log2_of(entry->units), entry->ns, entry->low_ns, entry->high_ns};
    }
}

static double positive_log10(double ns) { return log10(ns > 0.001 ? ns : 0.001); }

/* The window: all points with their ranges, to whole decades if they span one. */
static void set_window(struct curves *curves) {
    double left = 64, right = 0, low = 1e9, high = -1e9;
    for (unsigned c = 0; c < curves->count; c++) {
        for (unsigned p = 0; p < curves->curves[c].count; p++) {
            const struct curve_point *point = &curves->curves[c].points[p];
            left = fmin(left, point->units_log2);
            right = fmax(right, point->units_log2);
            low = fmin(low, positive_log10(point->low_ns > 0 ? point->low_ns : point->ns));
            high = fmax(high, positive_log10(point->high_ns));
        }
    }
    const double margin = right > left ? (right - left) * 0.03 : 1;
    curves->left = left - margin;
    curves->right = right + margin;
    curves->low = floor(low * 2) / 2;
    curves->high = ceil(high * 2) / 2;
    if (curves->high - curves->low < 1) curves->high = curves->low + 1;
}

/* ---- crossings -------------------------------------------------------------------------------------------------- */

bool curve_at(const struct curve *curve, double units_log2, double *ns_log10) {
    const struct curve_point *points = curve->points;
    if (units_log2 < points[0].units_log2 || units_log2 > points[curve->count - 1].units_log2) return false;
    unsigned p = 0;
    while (p + 2 < curve->count && units_log2 > points[p + 1].units_log2) p++;
    *ns_log10 = positive_log10(points[p].ns);
    if (curve->count == 1) return true;
    const double share =
        (units_log2 - points[p].units_log2) / ((double)points[p + 1].units_log2 - points[p].units_log2);
    *ns_log10 += share * (positive_log10(points[p + 1].ns) - *ns_log10);
    return true;
}

/* The cheapest curve at a place; the number of curves if none was measured there. */
static unsigned cheapest(const struct curves *curves, double units_log2) {
    unsigned best = curves->count;
    double best_ns = 0, ns;
    for (unsigned i = 0; i < curves->count; i++) {
        if (!curve_at(&curves->curves[i], units_log2, &ns) || (best < curves->count && ns >= best_ns)) continue;
        best = i;
        best_ns = ns;
    }
    return best;
}

/* Where another curve becomes the cheapest between two places, if both were measured at both. */
static void note_crossing(struct curves *curves, double from, double to, unsigned before, unsigned after) {
    double a, b;
    if (!curve_at(&curves->curves[after], from, &a) || !curve_at(&curves->curves[before], to, &b)) return;
    if (curves->crossing_count == CROSSINGS) return;
    for (int i = 0; i < 40; i++) {
        const double middle = (from + to) / 2;
        if (cheapest(curves, middle) == before)
            from = middle;
        else
            to = middle;
    }
    (void)curve_at(&curves->curves[before], from, &a);
    curves->crossings[curves->crossing_count++] = (struct crossing){to, pow(10, a), before, after};
}

static void find_crossings(struct curves *curves) {
    enum { STEPS = 64 }; /* for each power of two; two that are nearer show as one */
    const int first = (int)floor(curves->left) * STEPS, last = (int)ceil(curves->right) * STEPS;
    unsigned before = curves->count;
    for (int step = first; step <= last; step++) {
        const double at = (double)step / STEPS;
        const unsigned after = cheapest(curves, at);
        if (before < curves->count && after < curves->count && before != after)
            note_crossing(curves, at - 1.0 / STEPS, at, before, after);
        before = after;
    }
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

enum cli_exit curves_make(struct curves *curves, const struct profile_view *view, uint64_t work) {
    *curves = (struct curves){.view = view};
    if (!view->cell_count) {
        cli_error("nothing was measured yet, so there is nothing to plot; svmx run and svmx stats measure");
        return CLI_BAD_INPUT;
    }
    curves->op = view->cells[0].entry.op;
    if (strcmp(curves->op, view->cells[view->cell_count - 1].entry.op) != 0) {
        cli_error("say which operation: --op NAME; svmx profile show lists them");
        return CLI_USAGE;
    }
    curves->work_log2 = work ? log2_of(work) : usual_work(view);
    fill_curves(curves);
    if (!curves->count) {
        cli_error("nothing was measured of %s with %s of work for each unit", curves->op, cli_count(work).line);
        return CLI_USAGE;
    }
    set_window(curves);
    find_crossings(curves);
    return CLI_OK;
}

void curves_free(struct curves *curves) {
    free(curves->curves);
    *curves = (struct curves){.view = NULL};
}

struct cli_text curve_units(unsigned log2) {
    static const char *const suffixes[] = {"", "K", "M", "G", "T", "P"};
    struct cli_text text;
    snprintf(text.line, sizeof text.line, "%u%s", 1u << log2 % 10, suffixes[log2 / 10]);
    return text;
}

/* Two digits: more would pretend to know what lies between two powers of two. */
struct cli_text crossing_units(const struct crossing *crossing) {
    const double units = exp2(crossing->units_log2), step = pow(10, floor(log10(units)) - 1);
    return cli_count((uint64_t)(step > 1 ? round(units / step) * step : units + 0.5));
}

/* ---- axes ------------------------------------------------------------------------------------------------------- */

static struct cli_text ns_label(int digit, int decade) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    const int unit = decade < 0 ? 0 : decade / 3 < 3 ? decade / 3 : 3;
    struct cli_text text;
    snprintf(text.line, sizeof text.line, "%g %s", digit * pow(10, decade - 3 * unit), units[unit]);
    return text;
}

unsigned curve_ticks(const struct curves *curves, struct curve_tick ticks[CURVE_TICKS]) {
    static const int digits[] = {1, 2, 5};
    const int each = curves->high - curves->low > 2.5 ? 1 : 3;
    unsigned count = 0;
    for (int decade = (int)floor(curves->low); decade <= (int)ceil(curves->high); decade++) {
        for (int i = 0; i < each; i++) {
            const double at = decade + log10(digits[i]);
            if (at < curves->low - 1e-9 || at > curves->high + 1e-9 || count == CURVE_TICKS) continue;
            ticks[count++] = (struct curve_tick){at, ns_label(digits[i], decade)};
        }
    }
    return count;
}

unsigned curve_units_step(const struct curves *curves, unsigned most) {
    unsigned step = 1;
    while ((curves->right - curves->left) / step > most) step++;
    return step;
}

/* ---- as JSON ---------------------------------------------------------------------------------------------------- */

static void curve_json(struct cli_json *json, const struct curves *curves, const struct curve *curve) {
    cli_json_open(json, NULL, '{');
    profile_device_json(json, curves->view, curve->device);
    cli_json_open(json, "points", '[');
    for (unsigned p = 0; p < curve->count; p++) {
        cli_json_open(json, NULL, '{');
        cli_json_number(json, "units", UINT64_C(1) << curve->points[p].units_log2);
        cli_json_number(json, "ns", (uint64_t)(curve->points[p].ns + 0.5));
        cli_json_number(json, "low_ns", (uint64_t)(curve->points[p].low_ns + 0.5));
        cli_json_number(json, "high_ns", (uint64_t)(curve->points[p].high_ns + 0.5));
        cli_json_close(json);
    }
    cli_json_close(json);
    cli_json_close(json);
}

void curves_json(const struct curves *curves) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "path", svmx_profile_path(curves->view->profile));
    cli_json_text(&json, "operation", curves->op);
    cli_json_number(&json, "work_each", UINT64_C(1) << curves->work_log2);
    cli_json_number(&json, "left_out", curves->left_out);
    cli_json_open(&json, "curves", '[');
    for (unsigned i = 0; i < curves->count; i++) curve_json(&json, curves, &curves->curves[i]);
    cli_json_close(&json);
    cli_json_open(&json, "crossings", '[');
    for (unsigned i = 0; i < curves->crossing_count; i++) {
        const struct crossing *crossing = &curves->crossings[i];
        cli_json_open(&json, NULL, '{');
        cli_json_number(&json, "units", (uint64_t)(exp2(crossing->units_log2) + 0.5));
        cli_json_number(&json, "ns", (uint64_t)(crossing->ns + 0.5));
        cli_json_number(&json, "before", curves->curves[crossing->before].device);
        cli_json_number(&json, "after", curves->curves[crossing->after].device);
        cli_json_close(&json);
    }
    cli_json_close(&json);
    cli_json_close(&json);
}
