/*
 * profile.h: what `svmx profile` shows: the cells that the options leave, and the curves of one operation.
 *
 *   cmd_profile.c -> profile_view.c    cells and devices of a profile -> show, as a table or JSON
 *                 -> profile_curves.c  one operation: a curve for each device, and where they cross
 *                      -> plot_text.c, plot_svg.c   two ways to draw them
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_PROFILE_H
#define SVMX_CLI_PROFILE_H

#include "args.h"
#include "json.h"
#include "text.h"
#include <stdio.h>
#include <svmx/svmx.h>

enum { PROFILE_FILE, PROFILE_OP, PROFILE_DEVICE, PROFILE_WORK, PROFILE_SVG, PROFILE_OPTION_COUNT };

/* ---- profile_view.c ---- */

/* One cell, and which of the view's devices it is of. */
struct profile_cell {
    struct svmx_profile_entry entry;
    unsigned device;
};

/* The cells that --op and --device leave. Devices are numbered over the whole profile, as they come. */
struct profile_view {
    const svmx_profile_t *profile;
    struct svmx_profile_entry *devices; /* a cell of each: of it only what it says of the device counts */
    unsigned device_count;
    struct profile_cell *cells; /* in order of operation, device and size */
    size_t cell_count;
};

/* CLI_OK, or another code after a message. The view needs the profile; free it in any case. */
enum cli_exit profile_view_read(struct profile_view *view, const struct cli_args *args, const svmx_profile_t *profile);
void profile_view_free(struct profile_view *view);

/* "simd: AMD EPYC (avx512, 2 threads)" */
struct profile_label {
    char line[256];
};
struct profile_label profile_label(const struct svmx_profile_entry *device);

void profile_show(const struct profile_view *view);
void profile_show_json(const struct profile_view *view);
void profile_device_json(struct cli_json *json, const struct profile_view *view, unsigned device);

/* ---- profile_curves.c ---- */

enum { CURVE_POINTS = 64, CROSSINGS = 64 };

struct curve_point {
    unsigned units_log2;
    double ns, low_ns, high_ns;
};

struct curve {
    unsigned device; /* of the view */
    struct curve_point points[CURVE_POINTS];
    unsigned count; /* at least 1 */
};

/* From here on another device is the cheapest. */
struct crossing {
    double units_log2, ns;
    unsigned before, after; /* curves */
};

struct curves {
    const struct profile_view *view;
    const char *op;
    unsigned work_log2; /* for each unit: all points are of cells with this */
    struct curve *curves;
    unsigned count;
    struct crossing crossings[CROSSINGS];
    unsigned crossing_count;
    size_t left_out; /* cells of the operation with other work for each unit */
    /* What is to be seen, a little more than what there is. */
    double left, right; /* log2 of units */
    double low, high;   /* log10 of ns */
};

/* Of the one operation in the view. With `work` only cells with so much work for each unit, a power of two; 0: that of
 * which there are most cells. CLI_OK, or another code after a message. Free it in any case. */
enum cli_exit curves_make(struct curves *curves, const struct profile_view *view, uint64_t work);
void curves_free(struct curves *curves);

/* The curve at a place, in log10 of ns: straight between points. False: outside of what was measured. */
bool curve_at(const struct curve *curve, double units_log2, double *ns_log10);

/* "64", "16K", "4M": a power of two; "about 23,170" is for crossings. */
struct cli_text curve_units(unsigned log2);
struct cli_text crossing_units(const struct crossing *crossing);

/* Lines of the grid across: times that are 1, and in a small window 2 and 5, times a power of ten. */
enum { CURVE_TICKS = 64 };
struct curve_tick {
    double ns_log10;
    struct cli_text label;
};
unsigned curve_ticks(const struct curves *curves, struct curve_tick ticks[CURVE_TICKS]);

/* Sizes between two labels of the other axis, so that about `most` fit: a power of two of them. */
unsigned curve_units_step(const struct curves *curves, unsigned most);

void curves_json(const struct curves *curves);

/* ---- drawings ---- */

void plot_text(const struct curves *curves);
void plot_svg(const struct curves *curves, FILE *out);

#endif
