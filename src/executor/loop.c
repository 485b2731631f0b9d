/*
 * loop.c: see loop.h: runs windows of iterations, each as one batch.
 *
 *   window of 3    iteration 0            iteration 1                 iteration 2
 *                  a -> b -> flag         a' -> b' -> flag'           a" -> b" -> flag"
 *                  |    +--carried on-----^     +--carried on---------^     +--to the buffer, if nothing ended before
 *                  from the buffer
 *
 * A problem ends with the first iteration whose condition holds; what was computed of it behind that is dropped, so it makes no
 * difference how long windows are. Problems that are over are left out of the next window. In the caller's thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/loop.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "executor/executor.h"
#include "executor/stages.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How many iterations a window has that the caller does not give: at first on a device, and at most, in levels of the window:
 * more of them are several submissions. */
enum { WINDOW_ON_DEVICES = 8, MOST_LEVELS = 64 };
enum { MOST_WINDOW = 1024, NONE = INT32_MAX };

struct run {
    const struct svmx__loop_plan *plan;
    svmx_batch_t *window;
    uint32_t *number;           /* of task t of the body in iteration i: [i * tasks + t] */
    uint32_t length;            /* of the window at hand, in iterations */
    uint32_t capacity;          /* iterations that `number` has room for */
    uint32_t built, running;    /* iterations and problems of the window as it was built; 0: it must be built anew */
    struct svmx_loop_end *ends; /* of each problem; reason 0: it goes on */
    uint32_t *last;             /* iteration of the window that counted last, of each problem; NONE: it was over */
    struct svmx_loop_counts counts;
    /* Of the window that was run last. */
    uint64_t took_ns, compute_ns;
    uint64_t computed, dropped; /* iterations, over all problems; dropped: those behind the one that ended it */
    bool away;                  /* a device with memory of its own had some of it */
};

static const struct svmx__op *op_of(const struct svmx_batch *body, uint32_t task) {
    return body->parts[body->tasks[task].part].op;
}

/* How many iterations of the window a problem takes part in. */
static uint32_t share_of(const struct run *run, uint32_t problem) {
    const struct svmx_loop_end *end = &run->ends[problem];
    const uint32_t left = run->plan->loop->max_iterations - end->iterations;
    return end->reason ? 0 : left < run->length ? left : run->length;
}

/* ---- building ------------------------------------------------------------------------------------------------------ */

static struct svmx_arg result_of(const struct run *run, uint32_t iteration, uint32_t task, uint32_t output,
                                 uint32_t type) {
    return svmx_result_of((enum svmx_type)type, run->number[(size_t)iteration * run->plan->body->task_count + task],
                          output);
}

/* An input that is memory: the caller's, or a view. */
static struct svmx_arg memory_of(const struct svmx_batch *body, uint32_t slot, bool is_view, uint32_t type) {
    struct svmx_arg arg = {.kind = SVMX_ARG_HOST, .type = type, .bytes = body->slots[slot].bytes};
    arg.from.in = (const void *)(uintptr_t)body->slots[slot].at;
    if (!is_view) return arg;
    arg.kind = SVMX_ARG_BUFFER;
    arg.from.buffer = body->uses[body->sources[slot]].buffer;
    arg.offset = body->slots[slot].at - (uintptr_t)arg.from.buffer->host;
    return arg;
}

static struct svmx_arg input_of(const struct run *run, uint32_t iteration, uint32_t task, uint32_t at) {
    const struct svmx_batch *body = run->plan->body;
    const struct svmx__task *of = &body->tasks[task];
    const uint32_t slot = of->first_slot + at, type = op_of(body, task)->params[at].type;
    const uint32_t carried = run->plan->carry[slot];
    if (carried && iteration) {
        const struct svmx_carry *carry = &run->plan->loop->carries[carried - 1];
        return result_of(run, iteration - 1, carry->task, carry->output, type);
    }
    if (of->results >> at & 1)
        return result_of(run, iteration, (uint32_t)(body->sources[slot] >> 32), (uint32_t)body->sources[slot], type);
    return memory_of(body, slot, of->buffers >> at & 1, type);
}

static struct svmx_arg arg_of(const struct run *run, uint32_t iteration, uint32_t task, uint32_t at) {
    const struct svmx_batch *body = run->plan->body;
    const struct svmx_param *param = &op_of(body, task)->params[at];
    const struct svmx_slot *slot = &body->slots[body->tasks[task].first_slot + at];
    struct svmx_arg arg = {.kind = SVMX_ARG_SCALAR, .type = param->type, .bytes = slot->bytes};
    if (param->shape == SVMX_SCALAR)
        arg.from.bits = slot->at;
    else if (param->direction == SVMX_OUT)
        arg.kind = run->plan->wanted[task] >> at & 1 ? SVMX_ARG_LIBRARY : SVMX_ARG_PASSING;
    else
        return input_of(run, iteration, task, at);
    return arg;
}

static enum svmx_status add_task(struct run *run, uint32_t iteration, uint32_t task) {
    const struct svmx_batch *body = run->plan->body;
    const struct svmx__op *op = op_of(body, task);
    struct svmx_arg args[SVMX__MAX_PARAMS];
    for (uint32_t i = 0; i < op->param_count; i++) args[i] = arg_of(run, iteration, task, i);
    run->number[(size_t)iteration * body->task_count + task] = svmx_batch_task_count(run->window);
    return svmx_batch_add(run->window, op->id, args, op->param_count);
}

/* How many problems take part in all of the window; 0: some only in its beginning. */
static uint32_t running(const struct run *run) {
    uint32_t count = 0;
    for (uint32_t p = 0; p < run->plan->loop->until_count; p++) {
        const uint32_t share = share_of(run, p);
        if (share && share < run->length) return 0;
        count += share > 0;
    }
    return count;
}

/* A window of the same problems and iterations as the last one has the same tasks. */
static enum svmx_status build_window(struct run *run) {
    const struct svmx__loop_plan *plan = run->plan;
    const uint32_t count = running(run);
    if (count && run->built == run->length && run->running == count) return SVMX_OK;
    enum svmx_status status = svmx_batch_reset(run->window);
    run->built = run->length;
    run->running = count;
    for (uint32_t i = 0; i < run->length; i++)
        for (uint32_t t = 0; status == SVMX_OK && t < plan->body->task_count; t++)
            if (i < share_of(run, plan->problem[t])) status = add_task(run, i, t);
    return status == SVMX_OK ? svmx_batch_record(run->window) : status;
}

/* ---- looking at results --------------------------------------------------------------------------------------------- */

/* A result of the window. It is there: the window went well. */
static const void *look(const struct run *run, uint32_t iteration, uint32_t task, uint32_t output) {
    void *data = NULL;
    (void)svmx_result(run->window, run->number[(size_t)iteration * run->plan->body->task_count + task], output, &data,
                      NULL);
    return data;
}

static bool holds(const struct run *run, uint32_t iteration, const struct svmx_until *until, double *value) {
    const void *data = look(run, iteration, until->task, until->output);
    float f;
    double d;
    uint64_t whole = 0;
    switch (op_of(run->plan->body, until->task)->params[until->output].type) {
    case SVMX_F32:
        memcpy(&f, data, sizeof f);
        *value = (double)f;
        return (double)f < until->limit;
    case SVMX_F64:
        memcpy(&d, data, sizeof d);
        *value = d;
        return d < until->limit;
    case SVMX_U8: memcpy(&whole, data, 1); break;
    case SVMX_U32: memcpy(&whole, data, 4); break;
    default: memcpy(&whole, data, 8);
    }
    *value = (double)whole;
    return whole != 0;
}

/* What problems carry on from their last iteration of the window goes to their buffers. */
static void keep_carried(const struct run *run) {
    const struct svmx__loop_plan *plan = run->plan;
    for (uint32_t c = 0; c < plan->loop->carry_count; c++) {
        const struct svmx_carry *carry = &plan->loop->carries[c];
        const uint32_t last = run->last[plan->problem[carry->task]];
        if (last == NONE) continue;
        const uint64_t bytes = svmx__task_slots(plan->body, carry->task)[carry->output].bytes;
        (void)svmx_buffer_write(carry->buffer, carry->offset, look(run, last, carry->task, carry->output), bytes);
    }
}

/* What the body gives goes where it says. */
static void give_outputs(const struct run *run, uint32_t problem, uint32_t iteration) {
    const struct svmx_batch *body = run->plan->body;
    for (uint32_t t = 0; t < body->task_count; t++) {
        const struct svmx__task *task = &body->tasks[t];
        for (uint32_t i = 0; run->plan->problem[t] == problem && i < op_of(body, t)->param_count; i++) {
            const uint32_t slot = task->first_slot + i;
            const bool is_asked = op_of(body, t)->params[i].direction == SVMX_OUT && body->slots[slot].at;
            if (!is_asked || !body->slots[slot].bytes) continue;
            memcpy((void *)(uintptr_t)body->slots[slot].at, look(run, iteration, t, i),
                   (size_t)body->slots[slot].bytes);
            if (!(task->buffers >> i & 1)) continue;
            atomic_fetch_add_explicit(&body->uses[body->sources[slot]].buffer->version, 1, memory_order_release);
        }
    }
}

/* Where a problem stands after the window. */
static void settle(struct run *run, uint32_t problem) {
    const struct svmx_loop *loop = run->plan->loop;
    struct svmx_loop_end *end = &run->ends[problem];
    const uint32_t share = share_of(run, problem);
    uint32_t last = 0;
    bool over = false;
    run->last[problem] = NONE;
    if (!share) return;
    run->computed += share;
    for (; last < share && !over; last++) over = holds(run, last, &loop->untils[problem], &end->value);
    end->iterations += last--;
    if (over)
        end->reason = SVMX_LOOP_CONDITION;
    else if (end->iterations == loop->max_iterations)
        end->reason = SVMX_LOOP_LIMIT;
    run->last[problem] = last;
    run->dropped += share - 1 - last;
    if (end->reason) give_outputs(run, problem, last);
}

/* ---- windows --------------------------------------------------------------------------------------------------------- */

/* Adds up what a window took. */
static void count(struct run *run) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    run->away = false;
    run->compute_ns = 0;
    run->counts.windows++;
    for (uint32_t i = 0; svmx_receipt_get(run->window, i, &receipt) == SVMX_OK; i++) {
        run->counts.launches += receipt.launches;
        run->counts.readbacks += receipt.readbacks;
        run->compute_ns += receipt.compute_ns;
        run->away = run->away || svmx__is_in(run->plan->body->executor->owners, receipt.device);
    }
}

/* How long the next window is to be, where the caller leaves it open. One after another where nothing is to be saved. On a
 * device twice as long while what comes with a window is more than a quarter of computing it, and half as long when more than
 * a quarter of its iterations were computed for nothing. Changes no result. */
static uint32_t next_length(const struct run *run) {
    const uint32_t length = run->length, levels = run->window->level_count / length;
    const uint32_t most = levels < MOST_LEVELS ? MOST_LEVELS / (levels ? levels : 1) : 1;
    if (!run->away) return 1;
    if (length == 1) return WINDOW_ON_DEVICES;
    if (4 * run->dropped > run->computed) return length / 2;
    const uint64_t beside_ns = svmx__clock_since(run->took_ns, run->compute_ns);
    return 4 * beside_ns > run->compute_ns && 2 * length <= most ? 2 * length : length;
}

static bool is_running(const struct run *run) {
    for (uint32_t p = 0; p < run->plan->loop->until_count; p++)
        if (!run->ends[p].reason) return true;
    return false;
}

static bool make_room(struct run *run) {
    if (run->length <= run->capacity) return true;
    uint32_t *number = realloc(run->number, (size_t)run->length * run->plan->body->task_count * sizeof *number);
    if (!number) return false;
    run->number = number;
    run->capacity = run->length;
    return true;
}

static enum svmx_status run_window(struct run *run) {
    struct svmx_batch *body = run->plan->body;
    if (!make_room(run)) return svmx__fail(&body->error, SVMX_ERR_MEMORY, "no memory for a loop");
    enum svmx_status status = build_window(run);
    const uint64_t start_ns = svmx__clock_ns();
    run->window->hint_ns = body->hint_ns < UINT64_MAX / MOST_WINDOW ? body->hint_ns * run->length : UINT64_MAX;
    if (status == SVMX_OK) status = svmx_batch_replay(run->window);
    if (status != SVMX_OK) return svmx__fail(&body->error, status, "a window of the loop: %s", run->window->error.line);
    run->computed = run->dropped = 0;
    for (uint32_t p = 0; p < run->plan->loop->until_count; p++) settle(run, p);
    keep_carried(run);
    run->took_ns = svmx__clock_since(svmx__clock_ns(), start_ns);
    return SVMX_OK;
}

static enum svmx_status run_windows(struct run *run) {
    const struct svmx_loop *loop = run->plan->loop;
    const uint32_t wanted = loop->check_every < MOST_WINDOW ? loop->check_every : MOST_WINDOW;
    enum svmx_status status = SVMX_OK;
    run->length = wanted ? wanted : 1;
    while (status == SVMX_OK && is_running(run)) {
        status = run_window(run);
        if (status != SVMX_OK) break;
        count(run);
        if (!wanted) run->length = next_length(run);
    }
    return status;
}

/* What the caller wished for the body holds for its windows. Whose data it is comes first: nothing of a tenant is computed as
 * another's. */
static void take_wishes(svmx_batch_t *window, const struct svmx_batch *body) {
    window->tenant = body->tenant;
    window->tag = body->tag;
    window->policy = body->policy;
    window->decides = body->decides;
    window->bounded = body->bounded;
    window->low = body->low;
    window->high = body->high;
    window->timeout_ns = body->timeout_ns;
    window->verify = body->verify;
    window->hash = body->hash;
}

static enum svmx_status run_loop(const struct svmx__loop_plan *plan, struct svmx_loop_end *ends,
                                 struct svmx_loop_counts *counts) {
    struct run run = {.plan = plan,
                      .ends = calloc(plan->loop->until_count, sizeof *run.ends),
                      .last = calloc(plan->loop->until_count, sizeof *run.last)};
    enum svmx_status status = SVMX_ERR_MEMORY;
    if (run.ends && run.last) status = svmx_batch_create(plan->body->executor, &run.window);
    if (status == SVMX_OK) {
        take_wishes(run.window, plan->body);
        status = run_windows(&run);
    }
    if (status == SVMX_OK) memcpy(ends, run.ends, plan->loop->until_count * sizeof *ends);
    if (status == SVMX_OK && counts) *counts = run.counts;
    svmx_batch_destroy(run.window);
    free(run.number);
    free(run.ends);
    free(run.last);
    return status;
}

enum svmx_status svmx_loop_run(svmx_batch_t *body, const struct svmx_loop *loop, struct svmx_loop_end *ends,
                               struct svmx_loop_counts *counts) {
    struct svmx__loop_plan plan;
    if (!body) return SVMX_ERR_ARGUMENT;
    enum svmx_status status = svmx__batch_must_be_building(body);
    if (status != SVMX_OK) return status;
    if (!loop || !ends || loop->size < sizeof *loop)
        return svmx__fail(&body->error, SVMX_ERR_ARGUMENT, "loop or ends is NULL, or loop->size is not set");
    status = svmx__check_overlap(body);
    if (status == SVMX_OK) status = svmx__loop_plan_make(&plan, body, loop);
    if (status != SVMX_OK) return status;
    status = run_loop(&plan, ends, counts);
    svmx__loop_plan_free(&plan);
    return status;
}
