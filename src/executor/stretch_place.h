/*
 * stretch_place.h: where everything of a stretch lies: what stretch.c, stretch_place.c and stretch_commands.c share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_STRETCH_PLACE_H
#define SVMX_EXECUTOR_STRETCH_PLACE_H

#include "executor/executor.h"
#include "executor/stretch.h"
#include "ops/chain_f32.h"

static inline bool svmx__stretch_shares(const struct svmx__part *part) {
    return (part->device->info.flags & SVMX_DEVICE_SHARES_MEMORY) != 0;
}

static inline bool svmx__stretch_has(const struct svmx_batch *batch, const struct svmx__part *part) {
    return part->level >= batch->stretch.from && part->level < batch->stretch.to;
}

/* The part of number `position` in the stretch, in order of levels; NULL behind the last. */
static inline struct svmx__part *svmx__stretch_part(struct svmx_batch *batch, uint32_t position) {
    const uint32_t at = batch->level_start[batch->stretch.from] + position;
    return at < batch->level_start[batch->stretch.to] ? &batch->parts[batch->by_level[at]] : NULL;
}

static inline struct svmx_slot *svmx__part_row(const struct svmx__part *part, uint32_t row) {
    return part->slots + (size_t)row * part->op->param_count;
}

/* Is it computed in the launch of another? Then it has no table of its own. */
static inline bool svmx__is_behind_in_run(const struct svmx__part *part) {
    return part->run != SVMX__NO_PART && part->run_number > 0;
}

/* Of the table of a launch: rows, and slots of each. */
static inline uint64_t svmx__row_count(const struct svmx__part *part) {
    return part->run == SVMX__NO_PART ? part->task_count : (uint64_t)part->task_count * part->run_links;
}

static inline uint32_t svmx__row_slots(const struct svmx__part *part) {
    return part->run == SVMX__NO_PART ? part->op->param_count : (uint32_t)SVMX__CHAIN_PARAMS;
}

static inline uint64_t svmx__rows_bytes(const struct svmx__part *part) {
    return svmx__row_count(part) * svmx__row_slots(part) * sizeof(struct svmx_slot);
}

static inline uint64_t svmx__table_bytes(const struct svmx__part *part) {
    return svmx__rows_bytes(part) + (svmx__row_count(part) + 1) * sizeof(uint64_t);
}

/* The use behind a view. */
static inline struct svmx__use *svmx__view_use(const struct svmx_batch *batch, const struct svmx__task *task,
                                               uint32_t at) {
    return &batch->uses[batch->sources[task->first_slot + at]];
}

/* That kernels work in. */
static inline struct svmx__staging *svmx__stretch_work(const struct svmx__part *head) {
    return svmx__stretch_shares(head) ? head->staging_in : head->inputs ? head->inputs : head->life->heap.memory;
}

/* The first byte that is read back. Copies begin at aligned places, guards where what passes ends. */
static inline uint64_t svmx__stretch_back_at(const struct svmx__stretch *stretch) {
    return stretch->guard_at / stretch->alignment * stretch->alignment;
}

/* So many are, from there on; rounded up, what is written in buffers comes behind them in staging_out. */
static inline uint64_t svmx__stretch_back_bytes(const struct svmx__stretch *stretch) {
    return stretch->arena_bytes - (stretch->results_bytes ? svmx__stretch_back_at(stretch) : stretch->arena_bytes);
}

/* What an argument of a task is to the stretch. */
enum svmx__lot {
    SVMX__LOT_VALUE,       /* a scalar */
    SVMX__LOT_OUTSIDE,     /* an input that is copied in */
    SVMX__LOT_INSIDE,      /* a result of the stretch as an input */
    SVMX__LOT_FROM_BUFFER, /* an input in a buffer on the device */
    SVMX__LOT_READ_BACK,   /* a result that is copied out */
    SVMX__LOT_PASSING,     /* one that is not */
    SVMX__LOT_TO_BUFFER    /* a result in a buffer on the device; it is copied out too */
};

/* Called for each argument of each task of the stretch, in order. */
typedef bool (*svmx__visit_fn)(void *user, struct svmx__part *part, uint32_t task, uint32_t at, enum svmx__lot place);

bool svmx__stretch_visit(struct svmx_batch *batch, svmx__visit_fn function, void *user);

/* Of everything in its memory. */
uint64_t svmx__stretch_alignment(const struct svmx__part *head);
/* Decides where everything goes: batch->stretch, part->table_at. false: sizes do not fit in 64 bits. */
bool svmx__stretch_measure(struct svmx__part *head);
/* Writes tables, inputs and buffers that are to be uploaded to head->staging_in. */
void svmx__stretch_fill(struct svmx__part *head);

/* ---- stretch_runs.c ---- */

/* Which links of the stretch are one launch. Its parts have their pipelines. */
void svmx__runs_find(struct svmx__part *head);
/* `at` of a part's task in the table of its launch, which begins at `table`. */
struct svmx_slot *svmx__run_slot(unsigned char *table, const struct svmx__part *part, uint32_t row, uint32_t at);
/* Writes what a row has beside the arrays of its task. */
void svmx__run_row_fill(unsigned char *table, const struct svmx__part *part, uint32_t row);
/* Writes first_unit of a run, whose first part it is. */
void svmx__run_units_fill(const struct svmx__part *first, uint64_t *first_unit);
/* Of all its links. */
uint64_t svmx__run_work(const struct svmx__part *first);

/* ---- stretch_commands.c ---- */

struct svmx__commands {
    struct svmx_command *commands;
    size_t count;
};
/* Writes all commands. MEMORY. */
enum svmx_status svmx__stretch_commands(struct svmx__part *head, struct svmx__commands *list);

#endif
