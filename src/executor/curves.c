/*
 * curves.c: svmx_curves_read: what was measured of operations on devices, for those who draw it. Asks the model, as the
 * profile does. Any thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/versioned.h"
#include "executor/executor.h"

enum { FIRST_POINT = SVMX__THROUGH(struct svmx_curve_point, high_ns) };

struct reader {
    struct svmx_curve_point *points;
    size_t capacity, count;
};

static bool read_cell(void *user, const struct svmx__cell_summary *cell) {
    struct reader *reader = user;
    const struct svmx__load load = svmx__cell_load(cell->cell);
    const struct svmx_curve_point point = {.op = cell->op,
                                           .device = cell->device,
                                           .units = load.units,
                                           .work = load.work,
                                           .bytes = cell->bytes,
                                           .samples = cell->samples,
                                           .ns = cell->ns,
                                           .low_ns = cell->low_ns,
                                           .high_ns = cell->high_ns};
    if (reader->count < reader->capacity) svmx__give_element(reader->points, reader->count, &point, sizeof point);
    reader->count++;
    return true;
}

enum svmx_status svmx_curves_read(const svmx_executor_t *executor, struct svmx_curve_point *points, size_t capacity,
                                  size_t *count) {
    if (!executor || !count || (capacity && !svmx__is_served(points, FIRST_POINT))) return SVMX_ERR_ARGUMENT;
    if (svmx__is_closed(executor)) return SVMX_ERR_CLOSED;
    struct reader reader = {.points = points, .capacity = capacity};
    svmx__model_visit(&executor->model, read_cell, &reader);
    *count = reader.count;
    return SVMX_OK;
}
