/*
 * cell.c: see cell.h. docs/ROUTING.md has the reasons of the numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/cell.h"

/* A sample is suspicious that is so many times longer or shorter than the median, and beyond nine tenths of the window as
 * well: noise of any shape exceeds that one time in eight, and five times more often than not once in thousands of samples.
 * A window that is not half full does not know its tenths: there it takes more. */
static const double SUSPICIOUS = 2, SUSPICIOUS_OF_FEW = 4, NEARLY_ALL = 0.9;
enum { ENOUGH = 5, SAMPLES_TO_JUDGE = 3, HALF_FULL = (SVMX__SKETCH_WINDOW + 1) / 2 };

enum {
    CLEAN_ENOUGH = 5,        /* clean samples beside which contended ones count for nothing */
    CONTENDED_IN_A_ROW = 64, /* without a clean one between: then it is contended for good, and that is what counts */
    CLEAN_WEIGHS = 4,
    RESTORED = 3 /* samples that a cell of the profile counts for */
};

/* ---- what it takes ------------------------------------------------------------------------------------------------ */

/* Of one or two the smaller: nothing makes a launch shorter than it is. */
static double middle(const struct svmx__sketch *sketch) {
    return (double)svmx__sketch_quantile(sketch, sketch->count < 3 ? 0 : 0.5);
}

double svmx__cell_ns(const struct svmx__cell *cell) {
    if (cell->clean.count >= CLEAN_ENOUGH || !cell->contended.count) return middle(&cell->clean);
    if (!cell->clean.count) return middle(&cell->contended);
    const double weight = CLEAN_WEIGHS * (double)cell->clean.count, other = (double)cell->contended.count;
    return (middle(&cell->clean) * weight + middle(&cell->contended) * other) / (weight + other);
}

/* The samples that speak for the cell. */
static const struct svmx__sketch *window_of(const struct svmx__cell *cell) {
    return cell->clean.count >= cell->contended.count || cell->clean.count >= CLEAN_ENOUGH ? &cell->clean
                                                                                           : &cell->contended;
}

void svmx__cell_cost(const struct svmx__cell *cell, struct svmx__cost *cost) {
    const double tail = (double)svmx__sketch_quantile(window_of(cell), 0.99);
    *cost = (struct svmx__cost){.ns = svmx__cell_ns(cell),
                                .setup_ns = middle(&cell->setup),
                                .transfer_ns = middle(&cell->transfer),
                                .compute_ns = middle(&cell->compute),
                                .first_use_ns = cell->first_use_ns,
                                .kind = SVMX__MEASURED,
                                .samples = svmx__cell_count(cell),
                                .learned = cell->learned,
                                .changes = cell->changes,
                                .hoped_ns = cell->shorter ? cell->short_ns : 0};
    cost->p99_ns = tail > cost->ns ? tail : cost->ns;
}

/* ---- learning ----------------------------------------------------------------------------------------------------- */

/* Leaves only the last samples. */
static void forget_all_but(struct svmx__cell *cell, uint32_t count) {
    svmx__sketch_keep(&cell->clean, count);
    svmx__sketch_keep(&cell->setup, count);
    svmx__sketch_keep(&cell->transfer, count);
    svmx__sketch_keep(&cell->compute, count);
    svmx__sketch_keep(&cell->contended, 0);
}

/* What is beyond suspicion. Asked for outside of a row of suspicious samples only: they would move it themselves. */
static void set_bounds(struct svmx__cell *cell) {
    const double median = svmx__cell_ns(cell), times = cell->clean.count < HALF_FULL ? SUSPICIOUS_OF_FEW : SUSPICIOUS;
    const double most = (double)svmx__sketch_quantile(&cell->clean, NEARLY_ALL),
                 least = (double)svmx__sketch_quantile(&cell->clean, 1 - NEARLY_ALL);
    cell->high_ns = most > median * times ? most : median * times;
    cell->low_ns = least < median / times ? least : median / times;
}

static uint32_t count_if(bool suspicious, uint32_t count) { return suspicious ? count + 1 : count ? count - 1 : 0; }

/* Counts suspicious samples; one that is not takes one of them back. Enough, and only the last ones are left. */
static bool notice_change(struct svmx__cell *cell, double ns) {
    if (cell->clean.count < SAMPLES_TO_JUDGE) return false;
    if (!cell->longer && !cell->shorter) set_bounds(cell);
    cell->longer = count_if(ns > cell->high_ns, cell->longer);
    cell->shorter = count_if(ns < cell->low_ns, cell->shorter);
    if (ns < cell->low_ns) cell->short_ns = ns;
    if (cell->longer < ENOUGH && cell->shorter < ENOUGH) return false;
    forget_all_but(cell, ENOUGH - 1); /* the present one is still to come */
    cell->longer = cell->shorter = 0;
    cell->changes++;
    return true;
}

/* false: it counts for nothing. */
static bool add_contended(struct svmx__cell *cell, double ns) {
    if (cell->clean.count >= CLEAN_ENOUGH && ++cell->unclean < CONTENDED_IN_A_ROW) return false;
    if (cell->unclean >= CONTENDED_IN_A_ROW) {
        svmx__sketch_keep(&cell->clean, 0);
        cell->unclean = 0;
    }
    svmx__sketch_add(&cell->contended, (float)ns);
    return true;
}

static void add_clean(struct svmx__cell *cell, double ns, bool *changed) {
    cell->unclean = 0;
    *changed = notice_change(cell, ns);
    svmx__sketch_add(&cell->clean, (float)ns);
}

bool svmx__cell_add(struct svmx__cell *cell, const struct svmx__load *load, const struct svmx__sample *sample,
                    bool *changed) {
    const double ns = (double)sample->setup_ns + (double)sample->transfer_ns + (double)sample->compute_ns;
    *changed = false;
    if (sample->first_use) {
        cell->first_use_ns = ns;
        return true;
    }
    if (sample->contended && !add_contended(cell, ns)) return false;
    if (!sample->contended) add_clean(cell, ns, changed);
    svmx__sketch_add(&cell->setup, (float)sample->setup_ns);
    svmx__sketch_add(&cell->transfer, (float)sample->transfer_ns);
    svmx__sketch_add(&cell->compute, (float)sample->compute_ns);
    cell->load = *load;
    cell->learned++;
    return true;
}

/* ---- for the profile ---------------------------------------------------------------------------------------------- */

void svmx__cell_summarize(const struct svmx__cell *cell, struct svmx__cell_summary *summary) {
    const struct svmx__sketch *window = window_of(cell);
    const double ns = svmx__cell_ns(cell), low = (double)svmx__sketch_quantile(window, 0.1),
                 high = (double)svmx__sketch_quantile(window, 0.9);
    *summary = (struct svmx__cell_summary){.samples = svmx__cell_count(cell),
                                           .ns = ns,
                                           .low_ns = low < ns ? low : ns,
                                           .high_ns = high > ns ? high : ns,
                                           .setup_ns = middle(&cell->setup),
                                           .transfer_ns = middle(&cell->transfer),
                                           .compute_ns = middle(&cell->compute),
                                           .first_use_ns = cell->first_use_ns,
                                           .bytes = cell->load.bytes,
                                           .learned = cell->learned - cell->restored};
}

void svmx__cell_restore(struct svmx__cell *cell, const struct svmx__cell_summary *summary) {
    const double spread[RESTORED] = {summary->low_ns, summary->ns, summary->high_ns};
    *cell = (struct svmx__cell){.load = svmx__cell_load(summary->cell),
                                .first_use_ns = summary->first_use_ns,
                                .learned = summary->samples,
                                .restored = summary->samples};
    cell->load.bytes = summary->bytes;
    for (uint32_t i = 0; i < RESTORED; i++) {
        svmx__sketch_add(&cell->clean, (float)spread[i]);
        svmx__sketch_add(&cell->setup, (float)summary->setup_ns);
        svmx__sketch_add(&cell->transfer, (float)summary->transfer_ns);
        svmx__sketch_add(&cell->compute, (float)summary->compute_ns);
    }
}
