/*
 * submit.c: stage 1: check the batch as a whole and take it from the caller.
 *
 * A task's own arguments were checked when it was added; here it is what only the batch knows: that no output overlaps
 * other memory, that it is not under way already, that there is room in the queue. Called by pipeline.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/stages.h"

#include "base/alloc.h"
#include "executor/executor.h"
#include <inttypes.h>

/* ---- overlap ------------------------------------------------------------------------------------------------- */

static bool hulls_touch(const struct svmx__hull *a, const struct svmx__hull *b) {
    return a->low < b->high && b->low < a->high && a->low != a->high && b->low != b->high;
}

/* Do the hulls alone show that no output overlaps anything? So it is when every argument position has an array of its
 * own, which is what callers mostly do. */
static bool hulls_are_apart(const struct svmx_batch *batch) {
    for (uint32_t i = 0; i < batch->hull_count; i++) {
        const struct svmx__hull *out = &batch->out_hull[i];
        if (out->low == out->high) continue;
        if (!out->ascending) return false;
        for (uint32_t j = 0; j < batch->hull_count; j++) {
            if (j > i && hulls_touch(out, &batch->out_hull[j])) return false;
            if (hulls_touch(out, &batch->in_hull[j])) return false;
        }
    }
    return true;
}

/* Sorts spans by address: merge sort, bottom up, between `spans` and the same room behind it. qsort would allocate. */
static struct svmx_slot *sort_spans(struct svmx_slot *spans, size_t count) {
    struct svmx_slot *from = spans, *to = spans + count;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t low = 0; low < count; low += 2 * width) {
            size_t middle = low + width < count ? low + width : count;
            size_t high = low + 2 * width < count ? low + 2 * width : count;
            for (size_t i = low, j = middle, k = low; k < high; k++)
                to[k] = i < middle && (j >= high || from[i].at <= from[j].at) ? from[i++] : from[j++];
        }
        struct svmx_slot *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* Is outs[at] the first that ends behind an address? `at` may be count: none does. */
static bool is_first_behind(const struct svmx_slot *outs, size_t count, size_t at, uint64_t address) {
    return (at == 0 || outs[at - 1].at + outs[at - 1].bytes <= address) &&
           (at == count || outs[at].at + outs[at].bytes > address);
}

/* The first of the sorted, disjoint `outs` that ends behind an address, or count. `near` is where the last search ended:
 * arguments mostly lie in memory in the order of their tasks, and the answer is the same or the next. */
static size_t first_behind(const struct svmx_slot *outs, size_t count, size_t near, uint64_t address) {
    if (is_first_behind(outs, count, near, address)) return near;
    if (near < count && is_first_behind(outs, count, near + 1, address)) return near + 1;
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (outs[middle].at + outs[middle].bytes > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* How many outputs an operation has: they come first. */
static uint32_t output_count(const struct svmx__op *op) {
    uint32_t count = 0;
    while (count < op->param_count && op->params[count].direction == SVMX_OUT) count++;
    return count;
}

static enum svmx_status overlap_error(struct svmx_batch *batch, uint32_t task, uint32_t slot) {
    const struct svmx__op *op = batch->parts[batch->tasks[task].part].op;
    return svmx__fail(&batch->error, SVMX_ERR_ARGUMENT,
                      "task %" PRIu32 " (%s): argument '%s' overlaps an output of this batch; outputs need memory of "
                      "their own",
                      task, op->name, op->params[slot].name);
}

/* Collects the outputs of all tasks, sorts them and finds the first that runs into the next. */
static enum svmx_status check_outputs(struct svmx_batch *batch, struct svmx_slot **sorted, size_t *count) {
    if (!svmx__grow((void **)&batch->spans, &batch->span_capacity, 2 * (size_t)batch->slot_count, sizeof *batch->spans))
        return svmx__fail(&batch->error, SVMX_ERR_MEMORY, "no memory to check a batch of %" PRIu32 " tasks",
                          batch->task_count);
    size_t outs = 0;
    uint64_t last = 0;
    bool in_order = true;
    for (uint32_t t = 0; t < batch->task_count; t++) {
        const struct svmx_slot *slots = svmx__task_slots(batch, t);
        const uint32_t outputs = output_count(batch->parts[batch->tasks[t].part].op);
        for (uint32_t i = 0; i < outputs; i++) {
            if (!slots[i].bytes || !slots[i].at) continue; /* at 0: in the library's memory */
            in_order = in_order && last <= slots[i].at;
            last = slots[i].at;
            batch->spans[outs++] = slots[i];
        }
    }
    *sorted = in_order ? batch->spans : sort_spans(batch->spans, outs);
    *count = outs;
    for (size_t i = 1; i < outs; i++)
        if ((*sorted)[i - 1].at + (*sorted)[i - 1].bytes > (*sorted)[i].at)
            return svmx__fail(&batch->error, SVMX_ERR_ARGUMENT,
                              "two outputs of this batch overlap at address 0x%" PRIx64, (*sorted)[i].at);
    return SVMX_OK;
}

/* The slow way, exact: sort all outputs, then look every input up among them. */
enum svmx_status svmx__check_overlap(struct svmx_batch *batch) {
    if (batch->overlap_checked) return SVMX_OK;
    if (hulls_are_apart(batch)) {
        batch->overlap_checked = true;
        return SVMX_OK;
    }
    struct svmx_slot *outs;
    size_t count;
    enum svmx_status status = check_outputs(batch, &outs, &count);
    if (status != SVMX_OK) return status;
    size_t near[SVMX__MAX_PARAMS] = {0};
    for (uint32_t t = 0; t < batch->task_count; t++) {
        const struct svmx__op *op = batch->parts[batch->tasks[t].part].op;
        const struct svmx_slot *slots = svmx__task_slots(batch, t);
        for (uint32_t i = output_count(op); i < op->param_count; i++) {
            if (op->params[i].shape == SVMX_SCALAR || !slots[i].bytes || (batch->tasks[t].results >> i & 1)) continue;
            near[i] = first_behind(outs, count, near[i], slots[i].at);
            if (near[i] < count && outs[near[i]].at < slots[i].at + slots[i].bytes) return overlap_error(batch, t, i);
        }
    }
    batch->overlap_checked = true;
    return SVMX_OK;
}

/* ---- admission ----------------------------------------------------------------------------------------------- */

/* Takes a place among the batches under way; waits for one, or answers BUSY. */
static enum svmx_status enter_queue(struct svmx_batch *batch, bool nonblock) {
    struct svmx_executor *executor = batch->executor;
    uint64_t depth = executor->config.number[SVMX__QUEUE_DEPTH];
    enum svmx_status status = SVMX_OK;
    pthread_mutex_lock(&executor->admission);
    /* relaxed: svmx_close sets it under the same lock */
    while (executor->under_way >= depth && !nonblock && !atomic_load_explicit(&executor->closed, memory_order_relaxed))
        pthread_cond_wait(&executor->room, &executor->admission);
    if (atomic_load_explicit(&executor->closed, memory_order_relaxed))
        status = svmx__fail(&batch->error, SVMX_ERR_CLOSED, "%s", svmx__closed_text(batch->executor));
    else if (executor->under_way >= depth)
        status = svmx__fail(&batch->error, SVMX_BUSY, "%" PRIu64 " batches are under way (queue_depth)", depth);
    else
        executor->under_way++;
    pthread_mutex_unlock(&executor->admission);
    return status;
}

void svmx__submit_undo(struct svmx_batch *batch) {
    if (batch->counted) {
        pthread_mutex_lock(&batch->executor->admission);
        batch->executor->under_way--;
        pthread_cond_broadcast(&batch->executor->room);
        pthread_mutex_unlock(&batch->executor->admission);
        batch->counted = false;
    }
    pthread_mutex_lock(&batch->lock); /* another thread may be waiting for it already */
    atomic_store_explicit(&batch->state, SVMX__BUILDING, memory_order_release);
    pthread_cond_broadcast(&batch->finished);
    pthread_mutex_unlock(&batch->lock);
}

enum svmx_status svmx__submit(struct svmx_batch *batch, enum svmx__batch_state next, uint32_t flags) {
    uint32_t state = atomic_load_explicit(&batch->state, memory_order_acquire);
    if (state != SVMX__BUILDING && state != SVMX__DONE) return SVMX_ERR_STATE; /* even its text is the library's now */
    if (svmx__is_closed(batch->executor))
        return svmx__fail(&batch->error, SVMX_ERR_CLOSED, "%s", svmx__closed_text(batch->executor));
    if (state == SVMX__DONE)
        return svmx__fail(&batch->error, SVMX_ERR_STATE,
                          "this batch has run: svmx_batch_reset empties it, svmx_batch_rearm runs it again");
    enum svmx_status status = svmx__check_overlap(batch);
    if (status != SVMX_OK) return status;
    /* From here on one thread has it; a second submit of the same batch loses this race. */
    if (!atomic_compare_exchange_strong_explicit(&batch->state, &state, next, memory_order_acq_rel,
                                                 memory_order_acquire))
        return SVMX_ERR_STATE;
    batch->counted = false;
    atomic_store_explicit(&batch->answered, false, memory_order_relaxed);
    if (next != SVMX__QUEUED) return SVMX_OK;
    status = enter_queue(batch, (flags & SVMX_SUBMIT_NONBLOCK) != 0);
    if (status == SVMX_OK)
        batch->counted = true;
    else
        svmx__submit_undo(batch);
    return status;
}
