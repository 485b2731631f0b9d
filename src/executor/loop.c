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
 * Where state is large and a device has it, a window is *lean*: the flags of all iterations come back, and the state of the last
 * only, which is the checkpoint. A problem that ended before the last is computed once more from the checkpoint before, up to
 * the iteration that it ended with: the same bytes, once for each problem at most.
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

/* State of the iterations before the last that is rather computed again than read each time: it takes about as long to read as
 * one submission more. */
static const uint64_t LEAN_BYTES = 256 * 1024;

struct run {
    const struct svmx__loop_plan *plan;
    svmx_batch_t *window;
    uint32_t *number;           /* of task t of the body in iteration i: [i * tasks + t] */
    uint32_t length;            /* of the window at hand, in iterations */
    uint32_t capacity;          /* iterations that `number` has room for */
    uint32_t built, running;    /* iterations and problems of the window as it was built; 0: it must be built anew */
    struct svmx_loop_end *ends; /* of each problem; reason 0: it goes on */
    uint32_t *share;            /* iterations of the window that each problem takes part in; 0: it is over */
    uint32_t *last;             /* iteration of the window that counted last, of each problem; NONE: it was over */
    uint64_t state_bytes;       /* of an iteration, of all problems: what it gives beside conditions */
    bool lean;                  /* of the window at hand: only the last iteration of each problem gives it */
    struct svmx_loop_counts counts;
    /* Of the window that was run last. */
    uint64_t took_ns, compute_ns;
    uint64_t computed, dropped; /* iterations, over all problems; dropped: those behind the one that ended it */
    uint32_t levels;            /* of an iteration */
    bool away;                  /* a device had some of it, and not the host */
    bool reads_back;            /* and some of its results had to be copied from there */
};

static const struct svmx__op *op_of(const struct svmx_batch *body, uint32_t task) {
    return body->parts[body->tasks[task].part].op;
}

/* How many iterations of the next window each problem takes part in. */
static void share_out(struct run *run) {
    for (uint32_t p = 0; p < run->plan->loop->until_count; p++) {
        const struct svmx_loop_end *end = &run->ends[p];
        const uint32_t left = run->plan->loop->max_iterations - end->iterations;
        run->share[p] = end->reason ? 0 : left < run->length ? left : run->length;
    }
}

/* Whether a window of that length is to be lean: not where results are in the host's memory anyhow. */
static bool is_to_be_lean(const struct run *run) {
    return run->reads_back && run->length > 1 && run->state_bytes > LEAN_BYTES / (run->length - 1);
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

/* The outputs of a task that come back from an iteration. */
static uint32_t wanted_of(const struct run *run, uint32_t iteration, uint32_t task) {
    const struct svmx__loop_plan *plan = run->plan;
    const bool gives_all = !run->lean || iteration + 1 == run->share[plan->problem[task]];
    return gives_all ? plan->wanted[task] : plan->looked_at[task];
}

static struct svmx_arg arg_of(const struct run *run, uint32_t iteration, uint32_t task, uint32_t at) {
    const struct svmx_batch *body = run->plan->body;
    const struct svmx_param *param = &op_of(body, task)->params[at];
    const struct svmx_slot *slot = &body->slots[body->tasks[task].first_slot + at];
    struct svmx_arg arg = {.kind = SVMX_ARG_SCALAR, .type = param->type, .bytes = slot->bytes};
    if (param->shape == SVMX_SCALAR)
        arg.from.bits = slot->at;
    else if (param->direction == SVMX_OUT)
        arg.kind = wanted_of(run, iteration, task) >> at & 1 ? SVMX_ARG_LIBRARY : SVMX_ARG_PASSING;
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
        if (run->share[p] && run->share[p] < run->length) return 0;
        count += run->share[p] > 0;
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
            if (i < run->share[plan->problem[t]]) status = add_task(run, i, t);
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

/* Whether the window has what the last iteration that counted gave. */
static bool has_state(const struct run *run, uint32_t problem) {
    const uint32_t last = run->last[problem];
    return last != NONE && (!run->lean || last + 1 == run->share[problem]);
}

/* What problems carry on from their last iteration of the window goes to their buffers. */
static void keep_carried(const struct run *run) {
    const struct svmx__loop_plan *plan = run->plan;
    for (uint32_t c = 0; c < plan->loop->carry_count; c++) {
        const struct svmx_carry *carry = &plan->loop->carries[c];
        const uint32_t problem = plan->problem[carry->task], last = run->last[problem];
        if (!has_state(run, problem)) continue;
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

/* What the window has of the problems' last iterations goes where it belongs. */
static void give(const struct run *run) {
    for (uint32_t p = 0; p < run->plan->loop->until_count; p++)
        if (run->ends[p].reason && has_state(run, p)) give_outputs(run, p, run->last[p]);
    keep_carried(run);
}

/* Where a problem stands after the window. */
static void settle(struct run *run, uint32_t problem) {
    const struct svmx_loop *loop = run->plan->loop;
    struct svmx_loop_end *end = &run->ends[problem];
    const uint32_t share = run->share[problem];
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
}

/* ---- windows --------------------------------------------------------------------------------------------------------- */

/* Adds up what a window took. */
static void count(struct run *run) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    run->away = run->reads_back = false;
    run->compute_ns = 0;
    run->counts.windows++;
    for (uint32_t i = 0; svmx_receipt_get(run->window, i, &receipt) == SVMX_OK; i++) {
        run->counts.launches += receipt.launches;
        run->counts.readbacks += receipt.readbacks;
        run->compute_ns += receipt.compute_ns;
        run->away = run->away || svmx__is_in(run->plan->body->executor->owners, receipt.device);
        run->reads_back = run->reads_back || receipt.readbacks;
    }
}

/* How long the next window is to be, where the caller leaves it open. One after another where nothing is to be saved. On a
 * device twice as long while what comes with a window is more than a quarter of computing it, and half as long when more than
 * a quarter of its iterations were computed for nothing. Changes no result. */
static uint32_t next_length(const struct run *run) {
    const uint32_t length = run->length, levels = run->levels;
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

/* Runs the window as problems share in it. */
static enum svmx_status replay_window(struct run *run) {
    struct svmx_batch *body = run->plan->body;
    enum svmx_status status = build_window(run);
    run->window->hint_ns = body->hint_ns < UINT64_MAX / MOST_WINDOW ? body->hint_ns * run->length : UINT64_MAX;
    if (status == SVMX_OK) status = svmx_batch_replay(run->window);
    if (status != SVMX_OK) return svmx__fail(&body->error, status, "a window of the loop: %s", run->window->error.line);
    count(run);
    return SVMX_OK;
}

/* After a lean window: problems that ended before its last iteration are computed up to where they ended, from what their
 * buffers hold, which is the state before the window. */
static enum svmx_status look_back(struct run *run) {
    bool any = false;
    for (uint32_t p = 0; p < run->plan->loop->until_count; p++) {
        const bool is_missing = run->last[p] != NONE && !has_state(run, p);
        run->share[p] = is_missing ? run->last[p] + 1 : 0;
        run->last[p] = is_missing ? run->last[p] : NONE;
        any = any || is_missing;
    }
    if (!any) return SVMX_OK;
    run->built = 0;
    const uint64_t compute_ns = run->compute_ns;
    const bool away = run->away;
    const enum svmx_status status = replay_window(run);
    run->built = 0;
    run->compute_ns = compute_ns;
    run->away = away;
    if (status == SVMX_OK) give(run);
    return status;
}

static enum svmx_status run_window(struct run *run) {
    if (!make_room(run)) return svmx__fail(&run->plan->body->error, SVMX_ERR_MEMORY, "no memory for a loop");
    const uint64_t start_ns = svmx__clock_ns();
    const bool lean = is_to_be_lean(run);
    if (lean != run->lean) run->built = 0;
    run->lean = lean;
    share_out(run);
    const enum svmx_status status = replay_window(run);
    if (status != SVMX_OK) return status;
    run->levels = run->window->level_count / run->length;
    run->computed = run->dropped = 0;
    for (uint32_t p = 0; p < run->plan->loop->until_count; p++) settle(run, p);
    give(run);
    run->took_ns = svmx__clock_since(svmx__clock_ns(), start_ns);
    return look_back(run);
}

/* Does some device have memory that the host does not see? */
static bool some_reads_back(const struct svmx_executor *executor) {
    for (uint32_t mask = executor->owners; mask; mask &= mask - 1)
        if (!(executor->devices[__builtin_ctz(mask)].info.flags & SVMX_DEVICE_SHARES_MEMORY)) return true;
    return false;
}

static enum svmx_status run_windows(struct run *run) {
    const struct svmx_executor *executor = run->plan->body->executor;
    const struct svmx_loop *loop = run->plan->loop;
    const uint32_t wanted = loop->check_every < MOST_WINDOW ? loop->check_every : MOST_WINDOW;
    enum svmx_status status = SVMX_OK;
    run->length = wanted ? wanted : 1;
    run->away = executor->owners != 0; /* as it may be, until the first window tells */
    run->reads_back = some_reads_back(executor);
    while (status == SVMX_OK && is_running(run)) {
        status = run_window(run);
        if (status == SVMX_OK && !wanted) run->length = next_length(run);
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

static uint64_t state_bytes(const struct svmx__loop_plan *plan) {
    const struct svmx_batch *body = plan->body;
    uint64_t sum = 0;
    for (uint32_t t = 0; t < body->task_count; t++)
        for (uint32_t i = 0; i < op_of(body, t)->param_count; i++)
            if ((plan->wanted[t] & ~plan->looked_at[t]) >> i & 1)
                sum += body->slots[body->tasks[t].first_slot + i].bytes;
    return sum;
}

static enum svmx_status run_loop(const struct svmx__loop_plan *plan, struct svmx_loop_end *ends,
                                 struct svmx_loop_counts *counts) {
    struct run run = {.plan = plan,
                      .ends = calloc(plan->loop->until_count, sizeof *run.ends),
                      .share = calloc(plan->loop->until_count, sizeof *run.share),
                      .last = calloc(plan->loop->until_count, sizeof *run.last),
                      .state_bytes = state_bytes(plan)};
    enum svmx_status status = SVMX_ERR_MEMORY;
    if (run.ends && run.share && run.last) status = svmx_batch_create(plan->body->executor, &run.window);
    if (status == SVMX_OK) {
        take_wishes(run.window, plan->body);
        status = run_windows(&run);
    }
    if (status == SVMX_OK) memcpy(ends, run.ends, plan->loop->until_count * sizeof *ends);
    if (status == SVMX_OK && counts) *counts = run.counts;
    svmx_batch_destroy(run.window);
    free(run.number);
    free(run.ends);
    free(run.share);
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
