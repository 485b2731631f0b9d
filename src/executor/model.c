/*
 * model.c: see model.h. Here: curves, learning and the profile; cell.c has what a cell makes of its samples, infer.c what is
 * answered for sizes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/curve.h"

#include <math.h>
#include <stdlib.h>

/* ---- sizes ------------------------------------------------------------------------------------------------------ */

struct svmx__load svmx__cell_load(uint32_t cell) {
    const uint64_t units = UINT64_C(1) << svmx__cell_lanes(cell);
    return (struct svmx__load){.units = units, .work = units << svmx__cell_depth(cell)};
}

/* ---- learning ---------------------------------------------------------------------------------------------------- */

/* NULL: no memory. Two threads may make it at once; one of them wins. */
static struct svmx__curve *make_curve(struct svmx__model *model, uint32_t op, uint32_t device) {
    struct svmx__curve *there = svmx__curve_of(model, op, device), *made;
    if (there || !(made = calloc(1, sizeof *made))) return there;
    atomic_flag_clear_explicit(&made->held, memory_order_relaxed);
    if (atomic_compare_exchange_strong_explicit(&model->curves[device][op], &there, made, memory_order_acq_rel,
                                                memory_order_acquire))
        return made;
    free(made);
    return there;
}

/* The curve is held. NULL: no memory. */
static struct svmx__cell *make_cell(struct svmx__curve *curve, uint32_t at) {
    if (curve->cells[at] || !(curve->cells[at] = calloc(1, sizeof *curve->cells[at]))) return curve->cells[at];
    curve->made[curve->made_count++] = (uint16_t)at;
    return curve->cells[at];
}

static void keep_less(_Atomic uint64_t *least, double value) {
    const uint64_t now = (uint64_t)value + 1, before = atomic_load_explicit(least, memory_order_relaxed);
    if (!before || now < before) atomic_store_explicit(least, now, memory_order_relaxed);
}

/* What of a cell is true of the device as a whole: what a launch takes beside computing, and how fast bytes go once they
 * go. A device that does not tell the parts of a launch says nothing of this. */
static void note_best(struct svmx__model *model, uint32_t device, const struct svmx__cell *cell) {
    struct svmx__cost cost;
    if (!svmx__cell_count(cell)) return;
    svmx__cell_cost(cell, &cost);
    if (cost.setup_ns <= 0) return;
    keep_less(&model->least_ns[device], cost.setup_ns + cost.transfer_ns);
    keep_less(&model->least_transfer_ns[device], cost.transfer_ns);
    const double first = (double)atomic_load_explicit(&model->least_transfer_ns[device], memory_order_relaxed);
    if (cost.transfer_ns < 2 * first) return; /* hardly more than latency */
    const uint64_t rate = (uint64_t)((double)cell->load.bytes * 1000 / (cost.transfer_ns - first + 1));
    if (rate > atomic_load_explicit(&model->most_bytes_per_us[device], memory_order_relaxed))
        atomic_store_explicit(&model->most_bytes_per_us[device], rate, memory_order_relaxed);
}

bool svmx__model_learn(struct svmx__model *model, uint32_t op, uint32_t device, const struct svmx__load *load,
                       const struct svmx__sample *sample) {
    struct svmx__curve *curve = device < model->device_count ? make_curve(model, op, device) : NULL;
    if (!curve || !svmx__curve_try_hold(curve)) return false;
    struct svmx__cell *cell = make_cell(curve, svmx__cell_of(load->units, load->work));
    bool changed = false;
    const bool taken = cell && svmx__cell_add(cell, load, sample, &changed);
    if (taken) cell->turn = ++curve->turn;
    if (taken) note_best(model, device, cell);
    svmx__curve_release(curve);
    if (changed) atomic_fetch_add_explicit(&model->changes, 1, memory_order_relaxed);
    return taken;
}

/* relaxed: each number stands for itself; with svmx__model_number */
void svmx__model_set_bus(struct svmx__model *model, uint32_t device, double latency_ns, double bytes_per_ns) {
    __atomic_store(&model->devices[device].latency_ns, &latency_ns, __ATOMIC_RELAXED);
    __atomic_store(&model->devices[device].bytes_per_ns, &bytes_per_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&model->devices[device].measured, true, __ATOMIC_RELEASE); /* with svmx__profile_save */
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

void svmx__model_init(struct svmx__model *model, const struct svmx__model_device *devices, uint32_t device_count) {
    if (device_count > SVMX__ROUTED) device_count = SVMX__ROUTED;
    model->device_count = device_count;
    for (uint32_t d = 0; d < SVMX__ROUTED; d++) {
        if (d < device_count) model->devices[d] = devices[d];
        atomic_init(&model->least_ns[d], 0);
        atomic_init(&model->least_transfer_ns[d], 0);
        atomic_init(&model->most_bytes_per_us[d], 0);
        for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++) atomic_init(&model->curves[d][op], NULL);
    }
    atomic_init(&model->changes, 0);
}

static void free_cells(struct svmx__curve *curve) {
    for (uint32_t i = 0; i < SVMX__CELLS; i++) {
        free(curve->cells[i]);
        curve->cells[i] = NULL;
    }
    curve->made_count = 0;
}

void svmx__model_forget(struct svmx__model *model, uint32_t device) {
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++) {
        struct svmx__curve *curve = svmx__curve_of(model, op, device);
        if (!curve) continue;
        svmx__curve_hold(curve);
        free_cells(curve);
        svmx__curve_release(curve);
    }
    atomic_store_explicit(&model->least_ns[device], 0, memory_order_relaxed);
    atomic_store_explicit(&model->least_transfer_ns[device], 0, memory_order_relaxed);
    atomic_store_explicit(&model->most_bytes_per_us[device], 0, memory_order_relaxed);
}

void svmx__model_fini(struct svmx__model *model) {
    for (uint32_t d = 0; d < model->device_count; d++) {
        svmx__model_forget(model, d);
        for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++) free(svmx__curve_of(model, op, d));
    }
    model->device_count = 0;
}

/* ---- for the profile --------------------------------------------------------------------------------------------- */

static bool visit_curve(struct svmx__curve *curve, uint32_t op, uint32_t device,
                        bool (*visit)(void *, const struct svmx__cell_summary *), void *user) {
    for (uint32_t i = 0; i < SVMX__CELLS; i++) {
        struct svmx__cell_summary summary = {.samples = 0};
        svmx__curve_hold(curve);
        if (svmx__cell_count(curve->cells[i])) svmx__cell_summarize(curve->cells[i], &summary);
        svmx__curve_release(curve);
        if (!summary.samples) continue;
        summary.op = op;
        summary.device = device;
        summary.cell = i;
        if (!visit(user, &summary)) return false;
    }
    return true;
}

void svmx__model_visit(const struct svmx__model *model,
                       bool (*visit)(void *user, const struct svmx__cell_summary *summary), void *user) {
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++)
        for (uint32_t d = 0; d < model->device_count; d++) {
            struct svmx__curve *curve = svmx__curve_of(model, op, d);
            if (curve && !visit_curve(curve, op, d, visit, user)) return;
        }
}

static bool is_sound(const struct svmx__model *model, const struct svmx__cell_summary *summary) {
    const double all[] = {summary->ns,          summary->low_ns,     summary->high_ns,     summary->setup_ns,
                          summary->transfer_ns, summary->compute_ns, summary->first_use_ns};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!isfinite(all[i]) || all[i] < 0 || all[i] > 1e18) return false;
    return summary->op < SVMX__OP_LIMIT && summary->device < model->device_count && summary->cell < SVMX__CELLS &&
           summary->samples > 0 && summary->ns > 0 && summary->low_ns <= summary->ns && summary->ns <= summary->high_ns;
}

bool svmx__model_restore(struct svmx__model *model, const struct svmx__cell_summary *summary) {
    struct svmx__curve *curve = is_sound(model, summary) ? make_curve(model, summary->op, summary->device) : NULL;
    if (!curve) return false;
    svmx__curve_hold(curve);
    struct svmx__cell *cell = make_cell(curve, summary->cell);
    if (cell) {
        svmx__cell_restore(cell, summary);
        cell->turn = ++curve->turn;
        note_best(model, summary->device, cell);
    }
    svmx__curve_release(curve);
    return cell != NULL;
}
