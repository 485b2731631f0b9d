/*
 * lay.c: see lay.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/lay.h"

#include <string.h>

enum { GRAIN = 64 }; /* units that elementwise tasks are cut at multiples of */

/* ---- where to cut ------------------------------------------------------------------------------------------------- */

uint64_t svmx__cuts_within(const struct svmx__part *part) {
    if (part->op->elementwise) return part->units / GRAIN;
    return part->op->itemwise ? part->units : 0;
}

/* Groups of rows in a task. */
static uint64_t groups_of(const struct svmx__op *op, const struct svmx_slot *row) {
    const uint64_t rows = row[op->rows->count].at, grain = op->rows->grain;
    return rows / grain + (rows % grain != 0);
}

uint64_t svmx__cuts_by_rows(const struct svmx__part *part) {
    return part->op->rows && part->task_count == 1 && part->units ? groups_of(part->op, part->slots) : 0;
}

/* The last task that begins at a unit or before it. */
static uint32_t task_at(const struct svmx__part *part, uint64_t unit) {
    uint32_t low = 0, high = part->task_count - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (part->first_unit[middle] <= unit)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

uint64_t svmx__cut_begin(const struct svmx__part *part, uint32_t count, uint32_t at, bool within_tasks) {
    if (at == 0) return 0;
    if (at == count) return within_tasks ? part->units : part->task_count;
    const uint64_t unit = (uint64_t)((double)part->units * at / count);
    if (within_tasks && part->op->rows) {
        const uint64_t groups = groups_of(part->op, part->slots), each = part->units / groups;
        return (uint64_t)((double)groups * at / count) * each;
    }
    if (within_tasks) return part->op->elementwise ? unit / GRAIN * GRAIN : unit;
    const uint32_t task = task_at(part, unit);
    return unit - part->first_unit[task] < part->first_unit[task + 1] - unit ? task : task + 1;
}

/* ---- what is between ---------------------------------------------------------------------------------------------- */

/* The tasks [from, to) of the whole, which the piece is a copy of so far. Returns their units. */
static uint64_t lay_tasks(struct svmx__part *piece, uint32_t from, uint32_t to, struct svmx__room *room) {
    const uint64_t *units = room->units, *first_unit = piece->first_unit;
    for (uint32_t t = from; t <= to; t++) *room->units++ = first_unit[t] - first_unit[from];
    piece->first_unit = units;
    piece->slots += (size_t)from * piece->op->param_count;
    piece->task_count = to - from;
    return units[to - from];
}

/* The row of a task that has only its units [from, to) in a piece. */
static void trim_row(const struct svmx__op *op, struct svmx_slot *row, uint64_t units, uint64_t from, uint64_t to) {
    for (uint32_t i = 0; i < op->param_count; i++) {
        if (op->params[i].shape == SVMX_SCALAR) continue;
        const uint64_t bytes = row[i].bytes / units; /* of a unit */
        row[i] = (struct svmx_slot){row[i].at + from * bytes, (to - from) * bytes};
    }
}

/* The same of a task that is cut by rows. */
static void trim_rows(const struct svmx__op *op, struct svmx_slot *row, uint64_t units, uint64_t from, uint64_t to) {
    const uint64_t rows = row[op->rows->count].at, each = units / groups_of(op, row), grain = op->rows->grain;
    const uint64_t first = from / each * grain, behind = to / each * grain, end = behind < rows ? behind : rows;
    for (uint32_t i = 0; i < op->param_count; i++) {
        if (!(op->rows->arrays >> i & 1)) continue;
        const uint64_t bytes = row[i].bytes / rows;
        row[i] = (struct svmx_slot){row[i].at + first * bytes, (end - first) * bytes};
    }
    row[op->rows->count].at = end - first;
}

/* The units [begin, end) of the whole likewise: of tasks that begin or end outside, what is inside. */
static uint64_t lay_units(struct svmx__part *piece, uint64_t begin, uint64_t end, struct svmx__room *room) {
    const uint32_t params = piece->op->param_count, first = task_at(piece, begin);
    const uint64_t *units = room->units, *first_unit = piece->first_unit;
    const struct svmx_slot *rows = piece->slots;
    uint32_t t = first;
    piece->slots = room->slots;
    *room->units++ = 0;
    for (; t < piece->task_count && first_unit[t] < end; t++, room->slots += params) {
        const uint64_t at = first_unit[t], from = at > begin ? at : begin,
                       to = first_unit[t + 1] < end ? first_unit[t + 1] : end;
        memcpy(room->slots, rows + (size_t)t * params, params * sizeof *rows);
        if (to > from)
            (piece->op->rows ? trim_rows : trim_row)(piece->op, room->slots, first_unit[t + 1] - at, from - at,
                                                     to - at);
        *room->units++ = to - begin;
    }
    piece->first_unit = units;
    piece->task_count = t - first;
    return end - begin;
}

static void count_bytes(struct svmx__part *part) {
    part->bytes_in = part->bytes_out = 0;
    for (size_t i = 0; i < (size_t)part->task_count * part->op->param_count; i++) {
        const struct svmx_param *param = &part->op->params[i % part->op->param_count];
        if (param->shape == SVMX_SCALAR) continue;
        *(param->direction == SVMX_OUT ? &part->bytes_out : &part->bytes_in) += part->slots[i].bytes;
    }
    part->callers_bytes_out = part->bytes_out;
}

void svmx__lay(struct svmx__part *piece, uint64_t begin, uint64_t end, bool within_tasks, struct svmx__room *room) {
    const uint64_t units =
        within_tasks ? lay_units(piece, begin, end, room) : lay_tasks(piece, (uint32_t)begin, (uint32_t)end, room);
    piece->work = piece->units ? (uint64_t)((double)piece->work * ((double)units / (double)piece->units)) : 0;
    piece->units = units;
    count_bytes(piece);
}
