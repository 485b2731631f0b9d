/*
 * order.c: see order.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/order.h"

#include "executor/executor.h"

void svmx__order_init(struct svmx__order *order) {
    pthread_mutex_init(&order->lock, NULL); /* neither can fail with default attributes */
    pthread_cond_init(&order->moved, NULL);
    order->first = order->last = NULL;
}

void svmx__order_fini(struct svmx__order *order) {
    pthread_cond_destroy(&order->moved);
    pthread_mutex_destroy(&order->lock);
}

/* A bit for a buffer, and maybe for others. */
static uint64_t mark_of(const struct svmx_buffer *buffer) { return UINT64_C(1) << ((uintptr_t)buffer >> 6 & 63); }

static void mark(struct svmx_batch *batch) {
    batch->named = batch->written = 0;
    for (uint32_t i = 0; i < batch->use_count; i++) {
        batch->named |= mark_of(batch->uses[i].buffer);
        if (batch->uses[i].writes) batch->written |= mark_of(batch->uses[i].buffer);
    }
}

/* Do two batches name a buffer that one of them writes? Mostly the marks tell that they do not. */
static bool are_ordered(const struct svmx_batch *one, const struct svmx_batch *other) {
    if (!(one->written & other->named) && !(one->named & other->written)) return false;
    for (uint32_t i = 0; i < one->use_count; i++)
        for (uint32_t k = 0; k < other->use_count; k++)
            if (one->uses[i].buffer == other->uses[k].buffer && (one->uses[i].writes || other->uses[k].writes))
                return true;
    return false;
}

/* Under the lock. */
static uint32_t count_before(const struct svmx__order *order, const struct svmx_batch *batch) {
    uint32_t count = 0;
    for (const struct svmx_batch *other = order->first; other; other = other->next_in_list)
        count += are_ordered(other, batch);
    return count;
}

static void append(struct svmx__order *order, struct svmx_batch *batch) {
    batch->next_in_list = NULL;
    if (order->last)
        order->last->next_in_list = batch;
    else
        order->first = batch;
    order->last = batch;
}

enum svmx__turn svmx__order_join(struct svmx_batch *batch, bool here) {
    struct svmx__order *order = &batch->executor->order;
    mark(batch);
    pthread_mutex_lock(&order->lock);
    batch->waits_for = count_before(order, batch);
    batch->waits_here = here;
    if (batch->waits_for && here && svmx__post_mine()) {
        pthread_mutex_unlock(&order->lock);
        return SVMX__TURN_HANGS;
    }
    append(order, batch);
    while (here && batch->waits_for) pthread_cond_wait(&order->moved, &order->lock);
    const bool starts = batch->waits_for == 0;
    pthread_mutex_unlock(&order->lock);
    return starts ? SVMX__TURN_STARTS : SVMX__TURN_WAITS;
}

/* Takes it out of the list. Returns the one behind it. Under the lock. */
static struct svmx_batch *take_out(struct svmx__order *order, const struct svmx_batch *batch) {
    struct svmx_batch **link = &order->first, *before = NULL;
    for (; *link != batch; link = &before->next_in_list) before = *link;
    *link = batch->next_in_list;
    if (order->last == batch) order->last = before;
    return batch->next_in_list;
}

struct svmx_batch *svmx__order_leave(struct svmx_batch *batch) {
    struct svmx__order *order = &batch->executor->order;
    struct svmx_batch *starting = NULL, **end = &starting;
    bool wakes = false;
    pthread_mutex_lock(&order->lock);
    for (struct svmx_batch *other = take_out(order, batch); other; other = other->next_in_list) {
        if (!are_ordered(batch, other) || --other->waits_for) continue;
        if (other->waits_here) {
            wakes = true;
            continue;
        }
        other->next_to_start = NULL;
        *end = other;
        end = &other->next_to_start;
    }
    if (wakes) pthread_cond_broadcast(&order->moved);
    pthread_mutex_unlock(&order->lock);
    return starting;
}
