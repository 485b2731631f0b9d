/*
 * model.c: what a launch costs on a modelled device.
 *
 *   upload    latency + bytes / bandwidth       none on a device that shares memory, nor without bytes
 *   dispatch  latency + tasks x task + contention(submitters)
 *   compute   curve(work), longer when there are fewer units than lanes
 *   readback  as upload
 *   all of it x slow(now, launch) x noise
 *
 * See model.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model.h"

#include <math.h>
#include <string.h>

/* ---- noise ------------------------------------------------------------------------------------------------ */

uint64_t sim_random_next(struct sim_random *random) {
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* In [0, 1). */
static double uniform(struct sim_random *random) { return (double)(sim_random_next(random) >> 11) * 0x1p-53; }

/* Mean 0, sigma 1, never beyond 6: a sum of twelve, in which no function of libm has a say. */
static double normal(struct sim_random *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += uniform(random);
    return sum;
}

/* Draws the same number of times whatever it finds, so that a model's noise does not shift when a line of it changes. */
static double noise(const struct sim_device *device, struct sim_random *random) {
    if (!random) return 1;
    const double factor = 1 + device->jitter * normal(random);
    const bool outlier = uniform(random) < device->outlier_chance;
    return (factor < 0.05 ? 0.05 : factor) * (outlier ? device->outlier_factor : 1);
}

/* ---- curves ----------------------------------------------------------------------------------------------- */

/* Log-log between two points: a straight line where cost is a power of size. */
static double between(const struct sim_point *low, const struct sim_point *high, double at) {
    if (at == low->at) return low->ns; /* exactly what was measured */
    if (at == high->at) return high->ns;
    return exp(log(low->ns) + log(at / low->at) / log(high->at / low->at) * log(high->ns / low->ns));
}

/* Outside of the points in proportion to the nearest of them. */
static double table_ns(const struct sim_op *op, double work) {
    const struct sim_point *points = op->points, *last = &points[op->point_count - 1];
    if (work < points->at) return points->ns * (work / points->at);
    if (work >= last->at) return last->ns * (work / last->at);
    while (points[1].at < work) points++;
    return between(&points[0], &points[1], work);
}

/* Straight lines, from nothing with one submitter; past the last point the last line goes on. */
static double contention_ns(const struct sim_device *device, uint32_t submitters) {
    struct sim_point low = {1, 0}, high = {1, 0};
    for (uint32_t i = 0; i < device->contention_count; i++) {
        low = i ? device->contention[i - 1] : low;
        high = device->contention[i];
        if (submitters <= high.at) break;
    }
    if (submitters <= 1 || high.at <= low.at) return 0;
    const double ns = low.ns + (high.ns - low.ns) * (submitters - low.at) / (high.at - low.at);
    return ns > 0 ? ns : 0;
}

/* The operation's own line, or the one for all others, which parse.c has seen to. */
static const struct sim_op *op_find(const struct sim_device *device, const char *name) {
    const struct sim_op *other = NULL;
    for (uint32_t i = 0; i < device->op_count; i++) {
        if (strcmp(device->ops[i].name, name) == 0) return &device->ops[i];
        if (strcmp(device->ops[i].name, "*") == 0) other = &device->ops[i];
    }
    return other;
}

static double compute_ns(const struct sim_device *device, const struct sim_load *load) {
    const struct sim_op *op = op_find(device, load->op);
    if (!op) return 0;
    const double work = (double)load->work, units = (double)load->units;
    double ns = op->point_count ? table_ns(op, work) : work / op->work_per_ns;
    if (units > 0 && units < op->lanes) ns *= op->lanes / units;
    return op->fixed_ns + ns;
}

/* ---- changes ---------------------------------------------------------------------------------------------- */

static double slow_at(const struct sim_changes *changes, uint64_t now) {
    double slow = 1;
    for (uint32_t i = 0; i < changes->count && changes->list[i].from <= now; i++) slow = changes->list[i].slow;
    return slow;
}

/* ---- cost ------------------------------------------------------------------------------------------------- */

static double copy_ns(double latency_ns, double bytes_per_ns, uint64_t bytes) {
    if (bytes == 0) return 0;
    return latency_ns + (bytes_per_ns > 0 ? (double)bytes / bytes_per_ns : 0);
}

static uint64_t rounded(double ns) { return ns >= 0x1p60 ? UINT64_C(1) << 60 : (uint64_t)(ns + 0.5); }

void sim_model_cost(const struct sim_model *model, enum sim_side side, const struct sim_load *load, uint64_t now_ns,
                    uint64_t launch, struct sim_random *random, struct sim_cost *cost) {
    const struct sim_device *device = &model->sides[side];
    const bool copies = side == SIM_GPU && !model->shares_memory;
    const double factor = slow_at(&device->at_ns, now_ns) * slow_at(&device->at_launch, launch) * noise(device, random);
    *cost = (struct sim_cost){.create_ns = rounded(factor * device->create_ns)};
    if (copies) {
        cost->upload_ns = rounded(factor * copy_ns(device->upload_ns, device->upload_bytes_per_ns, load->bytes_in));
        cost->readback_ns =
            rounded(factor * copy_ns(device->readback_ns, device->readback_bytes_per_ns, load->bytes_out));
    }
    if (!load->op) return;
    cost->dispatch_ns = rounded(
        factor * (device->dispatch_ns + load->tasks * device->task_ns + contention_ns(device, load->submitters)));
    cost->compute_ns = rounded(factor * compute_ns(device, load));
}

/* ---- engines ---------------------------------------------------------------------------------------------- */

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

uint64_t sim_engines_take(const struct sim_model *model, struct sim_engines *engines, const struct sim_cost *cost,
                          uint64_t at_ns) {
    if (!model->copy_engines) at_ns = later(at_ns, engines->readback_ns); /* where the one before was over */
    if (cost->upload_ns) engines->upload_ns = at_ns = later(at_ns, engines->upload_ns) + cost->upload_ns;
    engines->compute_ns = at_ns = later(at_ns, engines->compute_ns) + cost->dispatch_ns + cost->compute_ns;
    engines->readback_ns = at_ns = later(at_ns, engines->readback_ns) + cost->readback_ns;
    return at_ns;
}

uint64_t sim_cost_total(const struct sim_cost *cost, bool first_use) {
    return (first_use ? cost->create_ns : 0) + cost->upload_ns + cost->dispatch_ns + cost->compute_ns +
           cost->readback_ns;
}
