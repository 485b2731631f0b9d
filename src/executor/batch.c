/*
 * batch.c: what a caller does with a batch before and after it travels: create, add tasks, reset, destroy.
 *
 * The checks of one task are here, so that a refused task leaves no trace; checks of the batch as a whole are in
 * submit.c. One thread at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/batch.h"
#include "executor/cut.h"

#include "base/alloc.h"
#include "executor/arena.h"
#include "executor/executor.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* No argument is larger: sums of a few of them cannot overflow. */
#define MAX_ARG_BYTES (UINT64_C(1) << 46)

enum svmx_status svmx_batch_create(svmx_executor_t *executor, svmx_batch_t **batch) {
    if (!executor || !batch) return SVMX_ERR_ARGUMENT;
    if (svmx__is_closed(executor)) return SVMX_ERR_CLOSED;
    struct svmx_batch *made = calloc(1, sizeof *made);
    if (!made) return SVMX_ERR_MEMORY;
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes)) goto free_batch;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int error = pthread_cond_init(&made->finished, &attributes);
    pthread_condattr_destroy(&attributes);
    if (error) goto free_batch;
    pthread_mutex_init(&made->lock, NULL); /* cannot fail with default attributes */
    made->executor = executor;
    made->eventfd = -1;
    made->verify = executor->verify;
    svmx__executor_retain(executor);
    *batch = made;
    return SVMX_OK;

free_batch:
    free(made);
    return SVMX_ERR_MEMORY;
}

void svmx_batch_destroy(svmx_batch_t *batch) {
    if (!batch || svmx__is_forked(batch->executor)) return; /* the parent's */
    (void)svmx_cancel(batch);
    (void)svmx_wait(batch, UINT64_MAX);
    /* Whoever completed it may still be leaving its lock. */
    pthread_mutex_lock(&batch->lock);
    pthread_mutex_unlock(&batch->lock);
    svmx__results_reset(batch);
    svmx__arena_reset(batch);
    pthread_cond_destroy(&batch->finished);
    pthread_mutex_destroy(&batch->lock);
    free(batch->tasks);
    svmx__cuts_free(batch); /* puts whole parts back: before these go */
    free(batch->slots);
    free(batch->first_unit);
    free(batch->parts);
    free(batch->sorted_slots);
    free(batch->sorted_units);
    free(batch->spans);
    if (!batch->commands_left) free(batch->chain_commands);
    free(batch->sources);
    svmx__buffers_release(batch);
    free(batch->uses);
    free(batch->by_level);
    free(batch->level_start);
    svmx__executor_release(batch->executor);
    free(batch);
}

/* The text says what to do if not. */
enum svmx_status svmx__batch_must_be_building(svmx_batch_t *batch) {
    uint32_t state = atomic_load_explicit(&batch->state, memory_order_acquire);
    if (svmx__is_closed(batch->executor))
        return svmx__fail(&batch->error, SVMX_ERR_CLOSED, "%s", svmx__closed_text(batch->executor));
    if (state == SVMX__BUILDING) return SVMX_OK;
    if (state == SVMX__DONE && batch->recorded)
        return svmx__fail(&batch->error, SVMX_ERR_STATE,
                          "this batch is recorded: svmx_batch_replay runs it again, svmx_batch_reset empties it");
    if (state == SVMX__DONE)
        return svmx__fail(&batch->error, SVMX_ERR_STATE,
                          "this batch has run: svmx_batch_reset empties it, svmx_batch_rearm runs it again");
    return SVMX_ERR_STATE; /* under way: the text belongs to the library now */
}

/* Is the batch the caller's, filled or done? */
static bool is_callers(const svmx_batch_t *batch) {
    uint32_t state = atomic_load_explicit(&batch->state, memory_order_acquire);
    return state == SVMX__BUILDING || state == SVMX__DONE;
}

/* OK if the caller may change what the batch is. */
static enum svmx_status must_be_callers(svmx_batch_t *batch) {
    if (!batch) return SVMX_ERR_ARGUMENT;
    if (!is_callers(batch)) return SVMX_ERR_STATE;
    if (!svmx__is_closed(batch->executor)) return SVMX_OK;
    return svmx__fail(&batch->error, SVMX_ERR_CLOSED, "%s", svmx__closed_text(batch->executor));
}

enum svmx_status svmx_batch_reset(svmx_batch_t *batch) {
    enum svmx_status status = must_be_callers(batch);
    if (status != SVMX_OK) return status;
    svmx__cuts_undo(batch);
    svmx__results_reset(batch);
    svmx__arena_reset(batch);
    svmx__buffers_release(batch);
    batch->has_library = batch->has_deferred = false;
    batch->task_count = batch->slot_count = batch->part_count = batch->level_count = 0;
    for (uint32_t i = 0; i < batch->hull_count; i++) batch->out_hull[i].high = batch->out_hull[i].low = 0;
    for (uint32_t i = 0; i < batch->hull_count; i++) batch->in_hull[i].high = batch->in_hull[i].low = 0;
    batch->hull_count = 0;
    batch->overlap_checked = batch->recorded = batch->laid_out = false;
    atomic_store_explicit(&batch->answered, false, memory_order_relaxed);
    batch->error.line[0] = '\0';
    atomic_store_explicit(&batch->state, SVMX__BUILDING, memory_order_release);
    return SVMX_OK;
}

enum svmx_status svmx_batch_rearm(svmx_batch_t *batch) {
    enum svmx_status status = must_be_callers(batch);
    if (status != SVMX_OK) return status;
    if (atomic_load_explicit(&batch->state, memory_order_acquire) != SVMX__DONE)
        return svmx__fail(&batch->error, SVMX_ERR_STATE, "this batch has not run yet: submit it first");
    svmx__cuts_undo(batch);
    svmx__results_reset(batch);
    atomic_store_explicit(&batch->answered, false, memory_order_relaxed);
    atomic_store_explicit(&batch->state, SVMX__BUILDING, memory_order_release);
    return SVMX_OK;
}

enum svmx_status svmx_batch_set_tag(svmx_batch_t *batch, uint64_t tag) {
    enum svmx_status status = must_be_callers(batch);
    if (status == SVMX_OK) batch->tag = tag;
    return status;
}

enum svmx_status svmx_batch_set_tenant(svmx_batch_t *batch, uint64_t tenant) {
    enum svmx_status status = must_be_callers(batch);
    if (status != SVMX_OK) return status;
    if (batch->task_count || batch->blocks)
        return svmx__fail(&batch->error, SVMX_ERR_STATE,
                          "the batch has tasks or memory already: set the tenant first, or reset the batch");
    batch->tenant = tenant;
    return SVMX_OK;
}

enum svmx_status svmx_batch_set_policy(svmx_batch_t *batch, uint32_t policy) {
    enum svmx_status status = must_be_callers(batch);
    if (status != SVMX_OK) return status;
    if (policy > SVMX_POLICY_ORDER)
        return svmx__fail(&batch->error, SVMX_ERR_ARGUMENT, "policy is %u: give one of enum svmx_policy, or 0", policy);
    batch->policy = policy;
    batch->decides = policy || batch->bounded;
    return SVMX_OK;
}

enum svmx_status svmx_batch_set_bounds(svmx_batch_t *batch, uint64_t low, uint64_t high) {
    enum svmx_status status = must_be_callers(batch);
    if (status != SVMX_OK) return status;
    if (low > high)
        return svmx__fail(&batch->error, SVMX_ERR_ARGUMENT, "low is more than high: give the smaller one first");
    batch->bounded = high != 0;
    batch->low = low;
    batch->high = high;
    batch->decides = batch->policy || batch->bounded;
    return SVMX_OK;
}

enum svmx_status svmx_batch_set_hint(svmx_batch_t *batch, uint64_t cpu_ns) {
    enum svmx_status status = must_be_callers(batch);
    if (status == SVMX_OK) batch->hint_ns = cpu_ns;
    return status;
}

enum svmx_status svmx_batch_set_timeout(svmx_batch_t *batch, uint64_t device_ns) {
    enum svmx_status status = must_be_callers(batch);
    if (status == SVMX_OK) batch->timeout_ns = device_ns;
    return status;
}

enum svmx_status svmx_batch_set_verify(svmx_batch_t *batch, const char *verify) {
    enum svmx_status status = must_be_callers(batch);
    if (status != SVMX_OK) return status;
    if (!verify)
        batch->verify = batch->executor->verify;
    else if (!svmx__verify_parse(verify, &batch->verify))
        return svmx__fail(&batch->error, SVMX_ERR_ARGUMENT,
                          "verify is '%.80s': give off, full, or sample:P with a share P from 0 to 1", verify);
    return SVMX_OK;
}

enum svmx_status svmx_batch_set_hash(svmx_batch_t *batch, bool wanted) {
    enum svmx_status status = must_be_callers(batch);
    if (status == SVMX_OK) batch->hash = wanted;
    return status;
}

enum svmx_status svmx_batch_on_done(svmx_batch_t *batch, svmx_done_fn done, void *user) {
    enum svmx_status status = must_be_callers(batch);
    if (status != SVMX_OK) return status;
    batch->done = done;
    batch->done_user = user;
    return SVMX_OK;
}

enum svmx_status svmx_batch_set_eventfd(svmx_batch_t *batch, int fd) {
    enum svmx_status status = must_be_callers(batch);
    if (status != SVMX_OK) return status;
    pthread_mutex_lock(&batch->lock); /* the last completion may still be writing to the old one */
    batch->eventfd = fd;
    pthread_mutex_unlock(&batch->lock);
    return SVMX_OK;
}

uint32_t svmx_batch_task_count(const svmx_batch_t *batch) { return batch ? batch->task_count : 0; }

const char *svmx_batch_error(const svmx_batch_t *batch) {
    if (!batch) return "batch is NULL";
    /* the text of a batch that is under way is the library's to write */
    return is_callers(batch) ? batch->error.line : "this batch is under way: wait for it first";
}

/* ---- adding a task ------------------------------------------------------------------------------------------- */

/* Nearly all items are powers of two, and a division takes longer than all other checks of an argument. */
static bool is_multiple(uint64_t bytes, uint64_t item) {
    return (item & (item - 1)) == 0 ? (bytes & (item - 1)) == 0 : bytes % item == 0;
}

/* Checks the length of an argument against its parameter. */
static enum svmx_status check_size(const struct svmx__op *op, const struct svmx_param *param, uint64_t bytes,
                                   struct svmx__text *why) {
    if (bytes > MAX_ARG_BYTES)
        return svmx__fail(why, SVMX_ERR_OVERFLOW, "%s: argument '%s' is too large", op->name, param->name);
    uint64_t item = svmx_type_bytes((enum svmx_type)param->type) * param->record;
    if (item > 1 && !is_multiple(bytes, item))
        return svmx__fail(why, SVMX_ERR_ARGUMENT,
                          "%s: argument '%s' has %" PRIu64 " bytes, which is no multiple of %" PRIu64, op->name,
                          param->name, bytes, item);
    return SVMX_OK;
}

/* Checks an argument that is memory of the caller against its parameter. */
static enum svmx_status check_memory(const struct svmx__op *op, const struct svmx_param *param,
                                     const struct svmx_arg *arg, struct svmx__text *why) {
    enum svmx_status status = check_size(op, param, arg->bytes, why);
    if (status != SVMX_OK) return status;
    if (!arg->from.in && arg->bytes)
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s: argument '%s' is NULL but has %" PRIu64 " bytes", op->name,
                          param->name, arg->bytes);
    if ((uintptr_t)arg->from.in > UINTPTR_MAX - arg->bytes)
        return svmx__fail(why, SVMX_ERR_OVERFLOW, "%s: argument '%s' runs past the end of memory", op->name,
                          param->name);
    return SVMX_OK;
}

/* Turns a result reference into the slot of the output that it names, and raises the level of the new task. */
static enum svmx_status resolve_result(svmx_batch_t *batch, const struct svmx__op *op, uint32_t at,
                                       const struct svmx_arg *arg, struct svmx_slot *slot, uint32_t *level) {
    const struct svmx_param *param = &op->params[at];
    uint32_t task = arg->from.result.task, output = arg->from.result.output;
    if (task >= batch->task_count)
        return svmx__fail(&batch->error, SVMX_ERR_ARGUMENT,
                          "%s: argument '%s' takes a result of task %" PRIu32 ", but only %" PRIu32 " came before",
                          op->name, param->name, task, batch->task_count);
    const struct svmx__part *part = &batch->parts[batch->tasks[task].part];
    if (output >= part->op->param_count || part->op->params[output].direction != SVMX_OUT)
        return svmx__fail(&batch->error, SVMX_ERR_ARGUMENT,
                          "%s: argument '%s' takes output %" PRIu32 " of task %" PRIu32 ", but %s has no such output",
                          op->name, param->name, output, task, part->op->name);
    if (part->op->params[output].type != param->type)
        return svmx__fail(&batch->error, SVMX_ERR_ARGUMENT,
                          "%s: argument '%s' takes output %" PRIu32 " of task %" PRIu32 ", which is of another type",
                          op->name, param->name, output, task);
    if (op->check_reads >> at & 1)
        return svmx__fail(&batch->error, SVMX_ERR_UNSUPPORTED,
                          "%s: argument '%s' takes a result, but is checked before anything runs: give memory that is "
                          "filled",
                          op->name, param->name);
    *slot = svmx__task_slots(batch, task)[output];
    if (batch->tasks[task].library >> output & 1) slot->at = (uint64_t)task << 32 | output;
    if (*level <= part->level) *level = part->level + 1;
    return SVMX_OK;
}

/* Checks a view of a buffer against its parameter. In the rows it is host memory: the buffer's own copy. */
static enum svmx_status take_view(svmx_batch_t *batch, const struct svmx__op *op, const struct svmx_param *param,
                                  const struct svmx_arg *arg, struct svmx_slot *slot) {
    const struct svmx_buffer *buffer = arg->from.buffer;
    struct svmx__text *why = &batch->error;
    if (!buffer) return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s: argument '%s' has no buffer", op->name, param->name);
    if (buffer->executor != batch->executor)
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s: argument '%s' is a buffer of another executor", op->name,
                          param->name);
    if (arg->offset > buffer->bytes || arg->bytes > buffer->bytes - arg->offset)
        return svmx__fail(why, SVMX_ERR_OVERFLOW,
                          "%s: argument '%s' ends behind its buffer, which has %" PRIu64 " bytes", op->name,
                          param->name, buffer->bytes);
    *slot = (struct svmx_slot){(uintptr_t)buffer->host + arg->offset, arg->bytes};
    return check_size(op, param, arg->bytes, why);
}

/* Checks one argument and writes its slot. */
static enum svmx_status take_arg(svmx_batch_t *batch, const struct svmx__op *op, uint32_t at,
                                 const struct svmx_arg *arg, struct svmx_slot *slot, uint32_t *level) {
    const struct svmx_param *param = &op->params[at];
    struct svmx__text *why = &batch->error;
    if (arg->type != param->type)
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s: argument '%s' is of the wrong type", op->name, param->name);
    if ((arg->kind == SVMX_ARG_SCALAR) != (param->shape == SVMX_SCALAR))
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s: argument '%s' must %sbe a scalar", op->name, param->name,
                          param->shape == SVMX_SCALAR ? "" : "not ");
    switch (arg->kind) {
    case SVMX_ARG_SCALAR: *slot = (struct svmx_slot){arg->from.bits, arg->bytes}; return SVMX_OK;
    case SVMX_ARG_HOST:
        *slot = (struct svmx_slot){(uintptr_t)arg->from.in, arg->bytes};
        return check_memory(op, param, arg, why);
    case SVMX_ARG_BUFFER: return take_view(batch, op, param, arg, slot);
    case SVMX_ARG_RESULT:
        if (param->direction == SVMX_OUT)
            return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s: argument '%s' is an output; a result is an input", op->name,
                              param->name);
        return resolve_result(batch, op, at, arg, slot, level);
    case SVMX_ARG_LIBRARY:
    case SVMX_ARG_PASSING:
        if (param->direction != SVMX_OUT)
            return svmx__fail(why, SVMX_ERR_ARGUMENT,
                              "%s: argument '%s' is an input; only an output may be left to the library", op->name,
                              param->name);
        *slot = (struct svmx_slot){0, arg->bytes};
        return check_size(op, param, arg->bytes, why);
    default: return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s: argument '%s' is of no known kind", op->name, param->name);
    }
}

/* Is an argument memory of the caller's that take_arg would find nothing wrong with? Nearly all are. */
static bool is_sound_memory(const struct svmx_param *param, const struct svmx_arg *arg) {
    return arg->kind == SVMX_ARG_HOST && arg->type == param->type && param->shape != SVMX_SCALAR && arg->from.in &&
           arg->bytes <= MAX_ARG_BYTES && (uintptr_t)arg->from.in <= UINTPTR_MAX - arg->bytes &&
           is_multiple(arg->bytes, svmx_type_bytes((enum svmx_type)param->type) * param->record);
}

/* The part for tasks of an operation at a level: the newest that fits, else a new one at part_count. */
static uint32_t find_part(const svmx_batch_t *batch, const struct svmx__op *op, uint32_t level) {
    for (uint32_t i = batch->part_count; i-- > 0;)
        if (batch->parts[i].op == op && batch->parts[i].level == level) return i;
    return batch->part_count;
}

static bool make_room(svmx_batch_t *batch, uint32_t params, uint32_t part) {
    if (batch->task_count >= UINT32_MAX - 1 || batch->slot_count > UINT32_MAX - params) return false;
    return svmx__grow((void **)&batch->tasks, &batch->task_capacity, (size_t)batch->task_count + 1,
                      sizeof *batch->tasks) &&
           svmx__grow((void **)&batch->slots, &batch->slot_capacity, (size_t)batch->slot_count + params,
                      sizeof *batch->slots) &&
           svmx__grow((void **)&batch->sources, &batch->source_capacity, (size_t)batch->slot_count + params,
                      sizeof *batch->sources) &&
           svmx__grow((void **)&batch->uses, &batch->use_capacity, (size_t)batch->use_count + params,
                      sizeof *batch->uses) &&
           svmx__grow((void **)&batch->first_unit, &batch->unit_capacity, (size_t)batch->task_count + 2,
                      sizeof *batch->first_unit) &&
           svmx__grow((void **)&batch->parts, &batch->part_capacity, (size_t)part + 1, sizeof *batch->parts);
}

static void widen_hull(struct svmx__hull *hull, const struct svmx_slot *slot) {
    if (!slot->bytes) return;
    uintptr_t low = (uintptr_t)slot->at, high = low + slot->bytes;
    if (hull->low == hull->high) {
        *hull = (struct svmx__hull){low, high, true};
        return;
    }
    hull->ascending = hull->ascending && low >= hull->high;
    if (low < hull->low) hull->low = low;
    if (high > hull->high) hull->high = high;
}

/* Notes where the memory of a task lies. Results of earlier tasks are known to be outputs: not counted as inputs. */
static void note_memory(svmx_batch_t *batch, const struct svmx__op *op, const struct svmx_arg *args,
                        const struct svmx_slot *slots, struct svmx__part *part) {
    for (uint32_t i = 0; i < op->param_count; i++) {
        if (op->params[i].shape == SVMX_SCALAR) continue;
        if (op->params[i].direction == SVMX_OUT) {
            if (args[i].kind == SVMX_ARG_HOST || args[i].kind == SVMX_ARG_BUFFER) {
                widen_hull(&batch->out_hull[i], &slots[i]);
                part->callers_bytes_out += slots[i].bytes;
            } else {
                part->library_bytes += svmx__align(slots[i].bytes, SVMX__RESULT_ALIGNMENT);
            }
            part->bytes_out += slots[i].bytes;
            if (args[i].kind == SVMX_ARG_PASSING) part->passing_bytes += slots[i].bytes;
        } else {
            if (args[i].kind == SVMX_ARG_HOST || args[i].kind == SVMX_ARG_BUFFER)
                widen_hull(&batch->in_hull[i], &slots[i]);
            if (args[i].kind == SVMX_ARG_RESULT) part->taken_bytes += slots[i].bytes;
            part->bytes_in += slots[i].bytes;
        }
    }
    batch->overlap_checked = false;
}

/* The same of a task that has memory of the caller's and scalars only, as nearly all do: no argument is asked for its kind. */
static void note_callers_memory(svmx_batch_t *batch, const struct svmx__op *op, const struct svmx_slot *slots,
                                struct svmx__part *part) {
    uint64_t in_bytes = 0,
             out_bytes = 0; /* not an array: that lay in memory, and each addition waited for the one before */
    for (uint32_t i = 0; i < op->param_count; i++) {
        if (op->params[i].shape == SVMX_SCALAR) continue;
        const bool out = op->params[i].direction == SVMX_OUT;
        widen_hull(out ? &batch->out_hull[i] : &batch->in_hull[i], &slots[i]);
        in_bytes += out ? 0 : slots[i].bytes;
        out_bytes += out ? slots[i].bytes : 0;
    }
    part->callers_bytes_out += out_bytes;
    part->bytes_out += out_bytes;
    part->bytes_in += in_bytes;
    batch->overlap_checked = false;
}

/* What is counted up from here, and what a receipt of a cancelled batch shows. The stages set the rest: a part is a
 * kilobyte, and clearing all of it costs 14 ns. */
static void start_part(struct svmx__part *part, svmx_batch_t *batch, const struct svmx__op *op, uint32_t level) {
    part->batch = batch;
    part->op = op;
    part->level = level;
    part->task_count = 0;
    part->first_task = batch->task_count;
    part->units = part->work = part->bytes_in = part->bytes_out = 0;
    part->callers_bytes_out = part->library_bytes = part->taken_bytes = part->passing_bytes = 0;
    part->library = NULL;
    part->device = NULL;
    part->taker = SVMX__NO_PART;
    part->passing = true;
    part->queued_ns = part->start_ns = part->dispatch_ns = part->done_ns = part->end_ns = 0;
}

/* The use of a buffer in the batch; a new one holds a reference. There is room. */
static uint32_t use_of(svmx_batch_t *batch, struct svmx_buffer *buffer) {
    for (uint32_t i = batch->use_count; i-- > 0;)
        if (batch->uses[i].buffer == buffer) return i;
    /* relaxed: the caller has a reference */
    atomic_fetch_add_explicit(&buffer->references, 1, memory_order_relaxed);
    batch->uses[batch->use_count] = (struct svmx__use){.buffer = buffer};
    return batch->use_count++;
}

static void note_view(svmx_batch_t *batch, struct svmx__task *task, uint32_t at, const struct svmx_arg *arg,
                      bool is_output) {
    const uint32_t number = use_of(batch, arg->from.buffer);
    struct svmx__use *use = &batch->uses[number];
    task->buffers |= UINT32_C(1) << at;
    batch->sources[task->first_slot + at] = number;
    use->offsets |= arg->offset;
    use->read_bytes += is_output ? 0 : arg->bytes;
    use->writes += is_output;
}

/* Notes of an argument what its slot does not tell. */
static void note_origin(svmx_batch_t *batch, struct svmx__task *task, uint32_t at, const struct svmx_arg *arg,
                        bool is_output) {
    if (arg->kind == SVMX_ARG_BUFFER) {
        note_view(batch, task, at, arg, is_output);
    } else if (arg->kind == SVMX_ARG_RESULT) {
        task->results |= UINT32_C(1) << at;
        batch->sources[task->first_slot + at] = (uint64_t)arg->from.result.task << 32 | arg->from.result.output;
        if (batch->tasks[arg->from.result.task].library >> arg->from.result.output & 1) {
            task->deferred |= UINT32_C(1) << at;
            batch->has_deferred = true;
        }
    } else if (arg->kind == SVMX_ARG_LIBRARY || arg->kind == SVMX_ARG_PASSING) {
        task->library |= UINT32_C(1) << at;
        if (arg->kind == SVMX_ARG_PASSING) task->passing |= UINT32_C(1) << at;
        batch->has_library = true;
    }
}

/* The part of which the task of the same row, and as many units, feeds this one; NO_PART if none does, or several do. Tells
 * each that it is taken from. */
static uint32_t feeder_of(svmx_batch_t *batch, const struct svmx__task *task, const struct svmx_arg *args) {
    uint32_t feeder = SVMX__NO_PART;
    bool only = true;
    for (uint32_t i = 0; task->results >> i; i++) {
        if (!(task->results >> i & 1)) continue;
        const struct svmx__task *source = &batch->tasks[args[i].from.result.task];
        uint32_t *taker = &batch->parts[source->part].taker;
        *taker = *taker == SVMX__NO_PART || *taker == task->part ? task->part : SVMX__MANY_PARTS;
        only = only && source->row == task->row && source->units == task->units &&
               (feeder == SVMX__NO_PART || feeder == source->part);
        feeder = source->part;
    }
    return only ? feeder : SVMX__NO_PART;
}

/* What the tasks of a part have in common. */
static void note_feeder(svmx_batch_t *batch, const struct svmx__task *task, const struct svmx_arg *args) {
    struct svmx__part *part = &batch->parts[task->part];
    const uint32_t feeder = task->results ? feeder_of(batch, task, args) : SVMX__NO_PART;
    part->passing = part->passing && (task->passing & 1);
    if (task->row == 0) {
        part->feeder = feeder;
        part->taken = task->results;
    } else if (part->feeder != feeder || part->taken != task->results) {
        part->feeder = SVMX__NO_PART;
    }
}

/* Everything is checked and there is room: the task joins the batch. Its slots are written already. `plain`: all arguments
 * are memory of the caller's or scalars. */
static void commit_task(svmx_batch_t *batch, const struct svmx__op *op, const struct svmx_arg *args, uint32_t at,
                        uint32_t level, const struct svmx__size *size, bool plain) {
    struct svmx__part *part = &batch->parts[at];
    if (at == batch->part_count) {
        start_part(part, batch, op, level);
        batch->part_count++;
        if (level >= batch->level_count) batch->level_count = level + 1;
        if (op->param_count > batch->hull_count) batch->hull_count = op->param_count;
    }
    if (plain)
        note_callers_memory(batch, op, batch->slots + batch->slot_count, part);
    else
        note_memory(batch, op, args, batch->slots + batch->slot_count, part);
    uint32_t row = part->task_count++;
    part->units += size->units;
    part->work += size->work;
    uint32_t task = batch->task_count++;
    part->last_task = task;
    if (task == 0) batch->first_unit[0] = 0;
    struct svmx__task *added = &batch->tasks[task];
    *added = (struct svmx__task){.part = at, .first_slot = batch->slot_count, .row = row, .units = size->units};
    for (uint32_t i = 0; i < op->param_count && !plain; i++)
        note_origin(batch, added, i, &args[i], op->params[i].direction == SVMX_OUT);
    note_feeder(batch, added, args);
    batch->first_unit[task + 1] = batch->first_unit[task] + size->units;
    batch->slot_count += op->param_count;
}

/* Checks a task and adds it. */
static enum svmx_status take_task(svmx_batch_t *batch, uint32_t op_id, const struct svmx_arg *args, size_t arg_count) {
    enum svmx_status status;
    struct svmx__text *why = &batch->error;
    const struct svmx__op *op = svmx__operations_by_id(batch->executor->operations, op_id);
    if (!op) return svmx__fail(why, SVMX_ERR_UNKNOWN, "no operation has the number %" PRIu32, op_id);
    if (!args) return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s: args is NULL", op->name);
    if (arg_count != op->param_count)
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s: takes %" PRIu32 " arguments, got %zu", op->name, op->param_count,
                          arg_count);

    /* Behind the last row, where there is room, they stand already where they go if all is well. */
    const bool has_room = (size_t)batch->slot_count + op->param_count <= batch->slot_capacity;
    struct svmx_slot aside[SVMX__MAX_PARAMS], *slots = has_room ? batch->slots + batch->slot_count : aside;
    struct svmx__size size = {0, 0};
    uint32_t level = 0;
    bool plain = true;
    for (uint32_t i = 0; i < op->param_count; i++) {
        if (is_sound_memory(&op->params[i], &args[i])) {
            slots[i] = (struct svmx_slot){(uintptr_t)args[i].from.in, args[i].bytes};
            continue;
        }
        status = take_arg(batch, op, i, &args[i], &slots[i], &level);
        if (status != SVMX_OK) return status;
        plain = plain && args[i].kind <= SVMX_ARG_SCALAR;
    }
    struct svmx__text detail; /* not cleared as a whole: that costs as much as the rest of the checks */
    detail.line[0] = '\0';
    status = svmx__op_check(op, slots, &size, &detail);
    if (status != SVMX_OK) return svmx__fail(why, status, "%s: %s", op->name, detail.line);

    uint32_t part = find_part(batch, op, level);
    if (!make_room(batch, op->param_count, part))
        return svmx__fail(why, SVMX_ERR_MEMORY, "%s: no memory for another task", op->name);
    if (!has_room) memcpy(batch->slots + batch->slot_count, aside, op->param_count * sizeof *aside);
    commit_task(batch, op, args, part, level, &size, plain);
    return SVMX_OK;
}

/* Why a task was refused, with the number that it would have had. */
static enum svmx_status refuse(svmx_batch_t *batch, enum svmx_status status) {
    const struct svmx__text why = batch->error;
    return svmx__fail(&batch->error, status, "task %" PRIu32 ": %s", batch->task_count, why.line);
}

enum svmx_status svmx_batch_add(svmx_batch_t *batch, uint32_t op_id, const struct svmx_arg *args, size_t arg_count) {
    if (!batch) return SVMX_ERR_ARGUMENT;
    enum svmx_status status = svmx__batch_must_be_building(batch);
    if (status != SVMX_OK) return status;
    if (batch->recorded)
        return svmx__fail(&batch->error, SVMX_ERR_STATE,
                          "this batch is recorded: svmx_batch_reset empties it for other tasks");
    status = take_task(batch, op_id, args, arg_count);
    return status == SVMX_OK ? SVMX_OK : refuse(batch, status);
}
