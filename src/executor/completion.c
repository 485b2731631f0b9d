/*
 * completion.c: the end of a batch, and the calls that ask for it: poll, wait, cancel.
 *
 * The change to DONE is the library's last touch of a batch: from then on it is the caller's, who may free it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "executor/batch.h"
#include "executor/executor.h"
#include "executor/post.h"

#include <unistd.h>

enum { SPIN_NS = 200000 };
#define NOT_SUBMITTED "this batch was not submitted: call svmx_run or svmx_submit first"

static void count(struct svmx_batch *batch, enum svmx_status status) {
    struct svmx_executor *executor = batch->executor;
    if (status == SVMX_CANCELLED) {
        atomic_fetch_add_explicit(&executor->cancelled, 1, memory_order_relaxed);
        return;
    }
    atomic_fetch_add_explicit(&executor->batches, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&executor->tasks, batch->task_count, memory_order_relaxed);
    if (status != SVMX_OK) atomic_fetch_add_explicit(&executor->failed, 1, memory_order_relaxed);
}

/* Gives its place in the queue to the next. The executor may be on its way to close: nothing of it is touched after. */
static void leave_queue(struct svmx_executor *executor) {
    pthread_mutex_lock(&executor->admission);
    executor->under_way--;
    pthread_cond_broadcast(&executor->room);
    pthread_mutex_unlock(&executor->admission);
}

/* Under batch->lock, after the change to DONE: who reads the eventfd finds the batch done, and who then destroys the
 * batch waits for the lock. A write that fails has no one to be told to. */
static void ring(const struct svmx_batch *batch) {
    if (batch->eventfd < 0) return;
    const uint64_t one = 1;
    ssize_t written = write(batch->eventfd, &one, sizeof one);
    (void)written;
}

/* The caller has it from now on. */
static void hand_over(struct svmx_batch *batch) {
    if (batch->counted) leave_queue(batch->executor);
    pthread_mutex_lock(&batch->lock);
    atomic_store_explicit(&batch->state, SVMX__DONE, memory_order_release);
    ring(batch);
    pthread_cond_broadcast(&batch->finished);
    pthread_mutex_unlock(&batch->lock);
}

static void forsake(struct svmx__work *work);

static void deliver(struct svmx_batch *batch) {
    const enum svmx_status status = batch->status;
    atomic_store_explicit(&batch->answered, status == SVMX_OK, memory_order_release);
    if (batch->done) {
        batch->delivery.forsake = forsake;
        svmx__post_hold(&batch->delivery); /* the callback may want memory, of a driver that never returns */
        batch->done(batch, status, batch->done_user);
        svmx__post_drop(&batch->delivery);
    }
    hand_over(batch);
}

/* ---- in order ------------------------------------------------------------------------------------------------------ */

void svmx__join_order(struct svmx_batch *batch) {
    struct svmx_executor *executor = batch->executor;
    batch->next_in_order = NULL;
    batch->is_over = false;
    pthread_mutex_lock(&executor->admission);
    if (executor->first_in_order)
        executor->last_in_order->next_in_order = batch;
    else
        executor->first_in_order = batch;
    executor->last_in_order = batch;
    pthread_mutex_unlock(&executor->admission);
}

/* Under admission. One thread delivers at a time, so that callbacks come in order too; whoever ends a batch meanwhile leaves it to that one.
 * Each batch holds its place in the queue until it is delivered, and the executor waits for its threads: it stays. */
static void deliver_those_over(struct svmx_executor *executor) {
    struct svmx_batch *first;
    while (!executor->delivers && (first = executor->first_in_order) && first->is_over) {
        executor->first_in_order = first->next_in_order;
        executor->delivers = true;
        pthread_mutex_unlock(&executor->admission);
        deliver(first);
        pthread_mutex_lock(&executor->admission);
        executor->delivers = false;
    }
}

static void deliver_in_order(struct svmx_batch *batch) {
    struct svmx_executor *executor = batch->executor;
    pthread_mutex_lock(&executor->admission);
    batch->is_over = true;
    deliver_those_over(executor);
    pthread_mutex_unlock(&executor->admission);
}

/* The thread that called back was given up within the callback, which does not return: this is the next one. */
static void forsake(struct svmx__work *work) {
    struct svmx_batch *batch = (struct svmx_batch *)(void *)work;
    struct svmx_executor *executor = batch->executor;
    const bool in_order = batch->in_order;
    svmx__post_drop(work);
    hand_over(batch);
    if (!in_order) return;
    pthread_mutex_lock(&executor->admission);
    executor->delivers = false; /* that was its word */
    deliver_those_over(executor);
    pthread_mutex_unlock(&executor->admission);
}

/* Those that waited for its buffers go first: its callback may take its time. Each may be over and gone when it has begun. */
static void start_those_behind(struct svmx_batch *batch) {
    for (struct svmx_batch *other = svmx__order_leave(batch), *next; other; other = next) {
        next = other->next_to_start;
        svmx__pipeline_begin(other);
    }
}

void svmx__complete(struct svmx_batch *batch, enum svmx_status status) {
    count(batch, status);
    if (batch->use_count) start_those_behind(batch);
    batch->status = status;
    if (batch->in_order)
        deliver_in_order(batch);
    else
        deliver(batch);
}

/* ---- asking -------------------------------------------------------------------------------------------------------- */

/* Leaves the text alone: who waits may be another thread than the one whose batch it is. */
static enum svmx_status look(const struct svmx_batch *batch) {
    switch (atomic_load_explicit(&batch->state, memory_order_acquire)) {
    case SVMX__DONE: return batch->status;
    case SVMX__BUILDING: return SVMX_ERR_STATE;
    default: return svmx__is_forked(batch->executor) ? SVMX_ERR_CLOSED : SVMX_BUSY; /* the parent has it */
    }
}

/* Who asks for a batch that was not submitted is the one whose it is. */
enum svmx_status svmx_poll(svmx_batch_t *batch) {
    if (!batch) return SVMX_ERR_ARGUMENT;
    if (atomic_load_explicit(&batch->state, memory_order_acquire) == SVMX__BUILDING)
        return svmx__fail(&batch->error, SVMX_ERR_STATE, NOT_SUBMITTED);
    return look(batch);
}

static bool is_over(void *batch) { return look(batch) != SVMX_BUSY; }

/* The same of a batch that is waited for without a deadline: meanwhile the thread may as well copy. */
static bool is_over_or_lend(void *user) {
    svmx_batch_t *batch = user;
    if (is_over(batch)) return true;
    svmx__team_lend(&batch->executor->team);
    return is_over(batch);
}

/* Until it is over, for a short time; false: it may last, sleep. */
static bool look_on(struct svmx_batch *batch, uint64_t timeout_ns) {
    return svmx__spin_until(&batch->executor->waiting, timeout_ns == UINT64_MAX ? is_over_or_lend : is_over, batch,
                            timeout_ns < SPIN_NS ? timeout_ns : SPIN_NS);
}

/* Until it is over, for so long at most. */
static enum svmx_status sleep_on(struct svmx_batch *batch, uint64_t timeout_ns) {
    const struct timespec end = svmx__clock_deadline(timeout_ns);
    enum svmx_status status;
    int error = 0;
    pthread_mutex_lock(&batch->lock);
    while ((status = look(batch)) == SVMX_BUSY && error == 0)
        error = pthread_cond_timedwait(&batch->finished, &batch->lock, &end);
    pthread_mutex_unlock(&batch->lock);
    return status;
}

enum svmx_status svmx_wait(svmx_batch_t *batch, uint64_t timeout_ns) {
    enum svmx_status status = svmx_poll(batch);
    if (status != SVMX_BUSY) return status;
    if (timeout_ns == 0) return SVMX_TIMEOUT;
    if (look_on(batch, timeout_ns)) return look(batch);
    status = sleep_on(batch, timeout_ns);
    return status == SVMX_BUSY ? SVMX_TIMEOUT : status;
}

enum svmx_status svmx_cancel(svmx_batch_t *batch) {
    if (!batch) return SVMX_ERR_ARGUMENT;
    if (svmx__is_forked(batch->executor)) return SVMX_ERR_CLOSED;
    uint32_t state = SVMX__QUEUED;
    /* acq_rel: its partner is the change to RUNNING in svmx__pipeline_part; one of the two wins */
    if (atomic_compare_exchange_strong_explicit(&batch->state, &state, SVMX__CANCELLING, memory_order_acq_rel,
                                                memory_order_acquire))
        return SVMX_OK;
    if (state == SVMX__CANCELLING) return SVMX_OK;
    if (state == SVMX__BUILDING) return svmx__fail(&batch->error, SVMX_ERR_STATE, NOT_SUBMITTED);
    /* done: any thread may have asked, so the text is left as the batch ended */
    return state == SVMX__RUNNING ? SVMX_BUSY : SVMX_ERR_STATE;
}
