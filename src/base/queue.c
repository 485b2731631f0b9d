/*
 * queue.c: see queue.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/queue.h"

#include "base/clock.h"

enum { SPIN_NS = 50000 };

int svmx__queue_init(struct svmx__queue *queue) {
    *queue = (struct svmx__queue){0};
    int error = pthread_mutex_init(&queue->lock, NULL);
    if (error) return error;
    error = pthread_cond_init(&queue->filled, NULL);
    if (error) pthread_mutex_destroy(&queue->lock);
    return error;
}

void svmx__queue_fini(struct svmx__queue *queue) {
    pthread_cond_destroy(&queue->filled);
    pthread_mutex_destroy(&queue->lock);
}

/* Under the lock. relaxed: what was pushed is handed over by the lock. */
static void stir(struct svmx__queue *queue) {
    atomic_store_explicit(&queue->stirred, queue->first || queue->closed, memory_order_relaxed);
}

void svmx__queue_push(struct svmx__queue *queue, struct svmx__link *link) {
    link->next = NULL;
    pthread_mutex_lock(&queue->lock);
    if (queue->last)
        queue->last->next = link;
    else
        queue->first = link;
    queue->last = link;
    atomic_fetch_add_explicit(&queue->count, 1, memory_order_relaxed);
    stir(queue);
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

void svmx__queue_push_first(struct svmx__queue *queue, struct svmx__link *link) {
    pthread_mutex_lock(&queue->lock);
    link->next = queue->first;
    queue->first = link;
    if (!queue->last) queue->last = link;
    atomic_fetch_add_explicit(&queue->count, 1, memory_order_relaxed);
    stir(queue);
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

static bool is_stirred(void *user) {
    const struct svmx__queue *queue = user;
    return atomic_load_explicit(&queue->stirred, memory_order_relaxed);
}

/* Under the lock. The oldest entry, or NULL. */
static struct svmx__link *take(struct svmx__queue *queue) {
    struct svmx__link *link = queue->first;
    if (link) {
        queue->first = link->next;
        if (!queue->first) queue->last = NULL;
        atomic_fetch_sub_explicit(&queue->count, 1, memory_order_relaxed);
        stir(queue);
    }
    return link;
}

struct svmx__link *svmx__queue_pop(struct svmx__queue *queue) {
    (void)svmx__spin_until(&queue->spin, is_stirred, queue, SPIN_NS);
    pthread_mutex_lock(&queue->lock);
    while (!queue->first && !queue->closed) pthread_cond_wait(&queue->filled, &queue->lock);
    struct svmx__link *link = take(queue);
    pthread_mutex_unlock(&queue->lock);
    return link;
}

struct svmx__link *svmx__queue_try(struct svmx__queue *queue) {
    if (!is_stirred(queue)) return NULL; /* what is pushed just now is found at the next look */
    pthread_mutex_lock(&queue->lock);
    struct svmx__link *link = take(queue);
    pthread_mutex_unlock(&queue->lock);
    return link;
}

/* Under the lock. false: that time has come. */
static bool sleep_until(struct svmx__queue *queue, uint64_t until_ns) {
    const uint64_t now_ns = svmx__clock_ns();
    if (now_ns >= until_ns) return false;
    const struct timespec end = svmx__clock_deadline(until_ns - now_ns);
    (void)pthread_cond_clockwait(&queue->filled, &queue->lock, CLOCK_MONOTONIC, &end);
    return true;
}

struct svmx__link *svmx__queue_take_if(struct svmx__queue *queue,
                                       bool (*fits)(const struct svmx__link *link, void *user), void *user,
                                       uint64_t until_ns) {
    pthread_mutex_lock(&queue->lock);
    while (!queue->first && !queue->closed && until_ns && sleep_until(queue, until_ns)) {
    }
    struct svmx__link *link = queue->first && fits(queue->first, user) ? take(queue) : NULL;
    pthread_mutex_unlock(&queue->lock);
    return link;
}

void svmx__queue_close(struct svmx__queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    stir(queue);
    pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}
