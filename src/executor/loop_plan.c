/*
 * loop_plan.c: see loop.h.
 *
 * Tasks belong together if one takes a result of the other, or a view that the other's result is carried on to. Each such
 * group has one condition: that is a problem.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/loop.h"

#include "base/alloc.h"
#include "executor/executor.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = UINT32_MAX };

/* ---- what the caller says ----------------------------------------------------------------------------------------- */

static bool is_output(const struct svmx_batch *body, uint32_t task, uint32_t output) {
    if (task >= body->task_count) return false;
    const struct svmx__op *op = body->parts[body->tasks[task].part].op;
    return output < op->param_count && op->params[output].direction == SVMX_OUT;
}

static const struct svmx_param *param_of(const struct svmx_batch *body, uint32_t task, uint32_t at) {
    return &body->parts[body->tasks[task].part].op->params[at];
}

static enum svmx_status check_carries(struct svmx_batch *body, const struct svmx_loop *loop) {
    for (uint32_t c = 0; c < loop->carry_count; c++) {
        const struct svmx_carry *carry = &loop->carries[c];
        if (!is_output(body, carry->task, carry->output))
            return svmx__fail(&body->error, SVMX_ERR_ARGUMENT, "carry %" PRIu32 ": the body has no such output", c);
        const uint64_t bytes = svmx__task_slots(body, carry->task)[carry->output].bytes;
        if (!carry->buffer || carry->buffer->executor != body->executor)
            return svmx__fail(&body->error, SVMX_ERR_ARGUMENT, "carry %" PRIu32 ": give a buffer of this executor", c);
        if (carry->offset > carry->buffer->bytes || bytes > carry->buffer->bytes - carry->offset)
            return svmx__fail(&body->error, SVMX_ERR_ARGUMENT,
                              "carry %" PRIu32 ": its %" PRIu64 " bytes end behind the buffer", c, bytes);
    }
    return SVMX_OK;
}

static bool is_condition(const struct svmx_batch *body, const struct svmx_until *until) {
    if (!is_output(body, until->task, until->output)) return false;
    const uint32_t type = param_of(body, until->task, until->output)->type;
    const bool is_float = type == SVMX_F32 || type == SVMX_F64;
    if (body->slots[body->tasks[until->task].first_slot + until->output].bytes != svmx_type_bytes((enum svmx_type)type))
        return false;
    return until->kind == SVMX_UNTIL_BELOW ? is_float : until->kind == SVMX_UNTIL_NOT_ZERO && !is_float;
}

static enum svmx_status check_untils(struct svmx_batch *body, const struct svmx_loop *loop) {
    for (uint32_t u = 0; u < loop->until_count; u++)
        if (!is_condition(body, &loop->untils[u]))
            return svmx__fail(&body->error, SVMX_ERR_ARGUMENT,
                              "condition %" PRIu32 ": give an output of one element, a float for BELOW, else a whole "
                              "number for NOT_ZERO",
                              u);
    return SVMX_OK;
}

static enum svmx_status check(struct svmx_batch *body, const struct svmx_loop *loop) {
    if (!body->task_count || !loop->until_count || !loop->untils || !loop->max_iterations ||
        (loop->carry_count && !loop->carries))
        return svmx__fail(&body->error, SVMX_ERR_ARGUMENT,
                          "a loop has a body, one condition or more, and one iteration or more");
    for (uint32_t t = 0; t < body->task_count; t++)
        if (body->tasks[t].library & ~body->tasks[t].passing)
            return svmx__fail(&body->error, SVMX_ERR_ARGUMENT,
                              "task %" PRIu32 " leaves an output to the library: in a loop give memory, a buffer, or "
                              "svmx_out_passing",
                              t);
    const enum svmx_status status = check_carries(body, loop);
    return status == SVMX_OK ? check_untils(body, loop) : status;
}

/* ---- what is carried on ------------------------------------------------------------------------------------------- */

static int by_address(const void *left, const void *right) {
    const struct svmx__carried *a = left, *b = right;
    return a->at < b->at ? -1 : a->at > b->at;
}

static enum svmx_status sort_carried(struct svmx__loop_plan *plan) {
    const struct svmx_loop *loop = plan->loop;
    for (uint32_t c = 0; c < loop->carry_count; c++) {
        const struct svmx_carry *carry = &loop->carries[c];
        plan->carried[c] =
            (struct svmx__carried){.at = (uintptr_t)carry->buffer->host + carry->offset,
                                   .bytes = svmx__task_slots(plan->body, carry->task)[carry->output].bytes,
                                   .carry = c};
    }
    qsort(plan->carried, loop->carry_count, sizeof *plan->carried, by_address);
    for (uint32_t c = 1; c < loop->carry_count; c++)
        if (plan->carried[c - 1].at + plan->carried[c - 1].bytes > plan->carried[c].at)
            return svmx__fail(&plan->body->error, SVMX_ERR_ARGUMENT, "carries %" PRIu32 " and %" PRIu32 " overlap",
                              plan->carried[c - 1].carry, plan->carried[c].carry);
    return SVMX_OK;
}

/* The first that ends behind an address; NULL: none does. */
static const struct svmx__carried *carried_behind(const struct svmx__loop_plan *plan, uintptr_t at) {
    uint32_t low = 0, high = plan->loop->carry_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (plan->carried[middle].at + plan->carried[middle].bytes > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low < plan->loop->carry_count ? &plan->carried[low] : NULL;
}

/* What an argument of the body has to do with what is carried on: an input may be one of these views, and nothing else may
 * touch them. */
static enum svmx_status match(struct svmx__loop_plan *plan, uint32_t task, uint32_t at) {
    struct svmx_batch *body = plan->body;
    const struct svmx_slot *slot = &svmx__task_slots(body, task)[at];
    const bool is_memory = param_of(body, task, at)->shape != SVMX_SCALAR && slot->bytes && slot->at &&
                           !(body->tasks[task].results >> at & 1);
    const struct svmx__carried *carried = is_memory ? carried_behind(plan, (uintptr_t)slot->at) : NULL;
    if (!carried || carried->at >= slot->at + slot->bytes) return SVMX_OK;
    const struct svmx_carry *carry = &plan->loop->carries[carried->carry];
    if (param_of(body, task, at)->direction == SVMX_IN && carried->at == slot->at && carried->bytes == slot->bytes &&
        param_of(body, task, at)->type == param_of(body, carry->task, carry->output)->type) {
        plan->carry[body->tasks[task].first_slot + at] = 1 + carried->carry;
        return SVMX_OK;
    }
    return svmx__fail(&body->error, SVMX_ERR_ARGUMENT,
                      "task %" PRIu32 ": argument '%s' overlaps what carry %" PRIu32
                      " writes: an input may be all of it, of the same type, and nothing else",
                      task, param_of(body, task, at)->name, carried->carry);
}

/* ---- problems ------------------------------------------------------------------------------------------------------ */

/* `problem` is a forest while groups are found: each task has another of its group, or itself. */
static uint32_t root_of(uint32_t *group, uint32_t task) {
    while (group[task] != task) task = group[task] = group[group[task]];
    return task;
}

static void unite(uint32_t *group, uint32_t a, uint32_t b) { group[root_of(group, a)] = root_of(group, b); }

static void find_groups(struct svmx__loop_plan *plan) {
    const struct svmx_batch *body = plan->body;
    for (uint32_t t = 0; t < body->task_count; t++) plan->problem[t] = t;
    for (uint32_t t = 0; t < body->task_count; t++)
        for (uint32_t i = 0; i < body->parts[body->tasks[t].part].op->param_count; i++) {
            const uint32_t slot = body->tasks[t].first_slot + i, carry = plan->carry[slot];
            if (body->tasks[t].results >> i & 1) unite(plan->problem, t, (uint32_t)(body->sources[slot] >> 32));
            if (carry) unite(plan->problem, t, plan->loop->carries[carry - 1].task);
        }
}

/* From groups to numbers of conditions. `of` has room for each task. */
static enum svmx_status number_problems(struct svmx__loop_plan *plan, uint32_t *of) {
    struct svmx_batch *body = plan->body;
    for (uint32_t t = 0; t < body->task_count; t++) of[t] = NOBODY;
    for (uint32_t u = 0; u < plan->loop->until_count; u++) {
        uint32_t *owner = &of[root_of(plan->problem, plan->loop->untils[u].task)];
        if (*owner != NOBODY)
            return svmx__fail(&body->error, SVMX_ERR_ARGUMENT,
                              "conditions %" PRIu32 " and %" PRIu32 " are of tasks that take of one another: one is "
                              "enough",
                              *owner, u);
        *owner = u;
    }
    for (uint32_t t = 0; t < body->task_count; t++)
        if (of[root_of(plan->problem, t)] == NOBODY)
            return svmx__fail(&body->error, SVMX_ERR_ARGUMENT,
                              "task %" PRIu32 " has nothing to do with any condition: it would never end", t);
    for (uint32_t t = body->task_count; t-- > 0;) of[t] = of[root_of(plan->problem, t)];
    return SVMX_OK;
}

static enum svmx_status find_problems(struct svmx__loop_plan *plan) {
    const uint32_t count = plan->body->task_count;
    uint32_t *of = calloc(count, sizeof *of);
    if (!of) return svmx__fail(&plan->body->error, SVMX_ERR_MEMORY, "no memory for a loop");
    find_groups(plan);
    const enum svmx_status status = number_problems(plan, of);
    if (status == SVMX_OK) memcpy(plan->problem, of, count * sizeof *of);
    free(of);
    return status;
}

static void find_wanted(struct svmx__loop_plan *plan) {
    const struct svmx_batch *body = plan->body;
    const struct svmx_loop *loop = plan->loop;
    for (uint32_t t = 0; t < body->task_count; t++)
        for (uint32_t i = 0; i < body->parts[body->tasks[t].part].op->param_count; i++)
            if (is_output(body, t, i) && !(body->tasks[t].passing >> i & 1)) plan->wanted[t] |= UINT32_C(1) << i;
    for (uint32_t c = 0; c < loop->carry_count; c++)
        plan->wanted[loop->carries[c].task] |= UINT32_C(1) << loop->carries[c].output;
    for (uint32_t u = 0; u < loop->until_count; u++)
        plan->looked_at[loop->untils[u].task] |= UINT32_C(1) << loop->untils[u].output;
    for (uint32_t t = 0; t < body->task_count; t++) plan->wanted[t] |= plan->looked_at[t];
}

/* ---- all of it ----------------------------------------------------------------------------------------------------- */

static enum svmx_status look_through(struct svmx__loop_plan *plan) {
    const struct svmx_batch *body = plan->body;
    enum svmx_status status = sort_carried(plan);
    for (uint32_t t = 0; status == SVMX_OK && t < body->task_count; t++)
        for (uint32_t i = 0; status == SVMX_OK && i < body->parts[body->tasks[t].part].op->param_count; i++)
            status = match(plan, t, i);
    if (status == SVMX_OK) status = find_problems(plan);
    if (status == SVMX_OK) find_wanted(plan);
    return status;
}

enum svmx_status svmx__loop_plan_make(struct svmx__loop_plan *plan, struct svmx_batch *body,
                                      const struct svmx_loop *loop) {
    enum svmx_status status = check(body, loop);
    if (status != SVMX_OK) return status;
    *plan = (struct svmx__loop_plan){.body = body, .loop = loop};
    plan->carried = calloc((size_t)loop->carry_count + 1, sizeof *plan->carried);
    plan->problem = calloc(body->task_count, sizeof *plan->problem);
    plan->carry = calloc((size_t)body->slot_count + 1, sizeof *plan->carry);
    plan->wanted = calloc(body->task_count, sizeof *plan->wanted);
    plan->looked_at = calloc(body->task_count, sizeof *plan->looked_at);
    if (!plan->carried || !plan->problem || !plan->carry || !plan->wanted || !plan->looked_at)
        status = svmx__fail(&body->error, SVMX_ERR_MEMORY, "no memory for a loop");
    else
        status = look_through(plan);
    if (status != SVMX_OK) svmx__loop_plan_free(plan);
    return status;
}

void svmx__loop_plan_free(struct svmx__loop_plan *plan) {
    free(plan->carried);
    free(plan->problem);
    free(plan->carry);
    free(plan->wanted);
    free(plan->looked_at);
}
