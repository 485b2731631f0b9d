/*
 * threads_ends.c: how batches end while several threads look: cancel against completion, freed the moment that they are done,
 * a full queue, callbacks and eventfds, close with batches in flight; on a made-up device, in the caller's thread, and on the
 * pool of SIMD. What they answer meanwhile is in threads.c.
 *
 * A plain program because Criterion does not run under the thread sanitizer. Links the archive of the core, for the device.
 * Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "threads_fixture.h"

#include <sys/eventfd.h>
#include <unistd.h>

/* ---- cancel against completion ---------------------------------------------------------------------------------- */

struct duel {
    svmx_batch_t *_Atomic batch;
    atomic_uint turn, cancelled;
    atomic_bool over;
};

/* Cancels whatever batch is there, as soon as it is there. */
static void *cancel_main(void *argument) {
    struct duel *duel = argument;
    for (unsigned seen = 0; !atomic_load(&duel->over);) {
        unsigned turn = atomic_load(&duel->turn);
        if (turn == seen) continue;
        enum svmx_status status = svmx_cancel(atomic_load(&duel->batch));
        check(status == SVMX_OK || status == SVMX_BUSY || status == SVMX_ERR_STATE, "what cancel may say");
        atomic_store(&duel->cancelled, status == SVMX_OK ? 1 : 2);
        seen = turn;
    }
    return NULL;
}

static void count_done(svmx_batch_t *batch, enum svmx_status status, void *user) {
    (void)batch, (void)status;
    atomic_fetch_add((atomic_uint *)user, 1);
}

static void cancel_races(struct svmx_options options) {
    fake_start();
    svmx_executor_t *executor = open_or_die(options);
    svmx_batch_t *batch = batch_or_die(executor);
    struct duel duel = {.over = false};
    atomic_uint calls = 0;
    pthread_t thread;
    unsigned taken_back = 0;
    struct trial trial;
    check(trial_add(&trial, batch) == SVMX_OK && svmx_batch_on_done(batch, count_done, &calls) == SVMX_OK, "a batch");
    if (pthread_create(&thread, NULL, cancel_main, &duel) != 0) exit(2);
    for (unsigned round = 1; round <= 2000; round++) {
        trial_fill(&trial, round);
        atomic_store(&duel.cancelled, 0);
        check(svmx_submit(batch, 0) == SVMX_OK, "submit");
        atomic_store(&duel.batch, batch);
        atomic_store(&duel.turn, round);
        enum svmx_status status = svmx_wait(batch, UINT64_MAX);
        while (atomic_load(&duel.cancelled) == 0) continue;
        bool cancelled = atomic_load(&duel.cancelled) == 1;
        taken_back += cancelled;
        check(status == (cancelled ? SVMX_CANCELLED : SVMX_OK), "cancel and wait agree");
        check(cancelled ? trial_is_untouched(&trial) : trial_is_right(&trial), "all or nothing");
        check(atomic_load(&calls) == round, "one callback each");
        check(svmx_batch_rearm(batch) == SVMX_OK, "rearm");
    }
    atomic_store(&duel.over, true);
    pthread_join(thread, NULL);
    struct svmx_stats stats = {.size = sizeof stats};
    check(svmx_stats_get(executor, &stats) == SVMX_OK && stats.cancelled == taken_back,
          "cancelled batches are counted");
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

/* ---- a batch is freed the moment that it is done ---------------------------------------------------------------- */

static void *free_at_once(void *argument) {
    const struct actor *actor = argument;
    struct trial trial;
    for (unsigned round = 0; round < 300; round++) {
        svmx_batch_t *batch = batch_or_die(actor->shared);
        trial_fill(&trial, round);
        check(trial_add(&trial, batch) == SVMX_OK && svmx_submit(batch, 0) == SVMX_OK, "submit");
        enum svmx_status status = SVMX_OK;
        if (round % 3 == 0)
            while ((status = svmx_poll(batch)) == SVMX_BUSY) continue;
        else if (round % 3 == 1)
            status = svmx_wait(batch, UINT64_MAX);
        svmx_batch_destroy(batch); /* round % 3 == 2: cancelled, or waited for */
        check(status == SVMX_OK && (trial_is_right(&trial) || (round % 3 == 2 && trial_is_untouched(&trial))),
              "a batch that is freed at once");
    }
    return NULL;
}

static void frees(struct svmx_options options) {
    fake_start();
    svmx_executor_t *executor = open_or_die(options);
    act(4, free_at_once, executor);
    svmx_close(executor);
}

/* ---- a full queue ----------------------------------------------------------------------------------------------- */

static void *press(void *argument) {
    const struct actor *actor = argument;
    enum { BATCHES = 4 };
    svmx_batch_t *batches[BATCHES];
    struct trial trials[BATCHES];
    for (unsigned i = 0; i < BATCHES; i++) batches[i] = batch_or_die(actor->shared);
    for (unsigned round = 0; round < 60; round++) {
        for (unsigned i = 0; i < BATCHES; i++) {
            trial_fill(&trials[i], round + i);
            check(svmx_batch_reset(batches[i]) == SVMX_OK && trial_add(&trials[i], batches[i]) == SVMX_OK, "filling");
            enum svmx_status status;
            const uint32_t flags = (actor->number % 2 ? SVMX_SUBMIT_NONBLOCK : 0) | (i % 2 ? SVMX_SUBMIT_IN_ORDER : 0);
            do status = svmx_submit(batches[i], flags);
            while (status == SVMX_BUSY && actor->number % 2);
            check(status == SVMX_OK, "a full queue lets one in after the other");
        }
        for (unsigned i = 0; i < BATCHES; i++)
            check(svmx_wait(batches[i], UINT64_MAX) == SVMX_OK && trial_is_right(&trials[i]), "nothing is dropped");
    }
    for (unsigned i = 0; i < BATCHES; i++) svmx_batch_destroy(batches[i]);
    return NULL;
}

static void full_queue(uint32_t depth) {
    fake_start();
    struct svmx_options options = fake_options();
    options.queue_depth = depth;
    svmx_executor_t *executor = open_or_die(options);
    act(4, press, executor);
    svmx_close(executor);
}

/* ---- callbacks that submit, one eventfd for all ----------------------------------------------------------------- */

struct relay {
    svmx_batch_t *batches[16];
    atomic_uint next;
};

static void pass_on(svmx_batch_t *batch, enum svmx_status status, void *user) {
    struct relay *relay = user;
    (void)batch;
    check(status == SVMX_OK, "status in a callback");
    unsigned next = atomic_fetch_add(&relay->next, 1);
    if (next < 16) check(svmx_submit(relay->batches[next], SVMX_SUBMIT_NONBLOCK) == SVMX_OK, "submit in a callback");
}

static void callbacks(struct svmx_options options) {
    static struct trial trials[16];
    fake_start();
    svmx_executor_t *executor = open_or_die(options);
    for (unsigned round = 0; round < 50; round++) {
        struct relay relay = {.next = 1};
        int fd = eventfd(0, EFD_SEMAPHORE);
        for (unsigned i = 0; i < 16; i++) {
            relay.batches[i] = batch_or_die(executor);
            trial_fill(&trials[i], round + i);
            check(trial_add(&trials[i], relay.batches[i]) == SVMX_OK &&
                      svmx_batch_on_done(relay.batches[i], pass_on, &relay) == SVMX_OK &&
                      svmx_batch_set_eventfd(relay.batches[i], fd) == SVMX_OK,
                  "a batch with wishes");
        }
        check(svmx_submit(relay.batches[0], 0) == SVMX_OK, "the first of the relay");
        uint64_t one;
        for (unsigned i = 0; i < 16; i++) check(read(fd, &one, sizeof one) == (ssize_t)sizeof one, "an event");
        for (unsigned i = 0; i < 16; i++) {
            check(svmx_wait(relay.batches[i], UINT64_MAX) == SVMX_OK && trial_is_right(&trials[i]), "a relay");
            svmx_batch_destroy(relay.batches[i]);
        }
        close(fd);
    }
    svmx_close(executor);
}

/* ---- close with batches in flight, waited for elsewhere --------------------------------------------------------- */

struct waiter {
    svmx_batch_t *batch;
    enum svmx_status status;
};

static void *wait_main(void *argument) {
    struct waiter *waiter = argument;
    waiter->status = svmx_wait(waiter->batch, UINT64_MAX);
    return NULL;
}

static void close_in_flight(struct svmx_options options) {
    for (unsigned round = 0; round < 40; round++) {
        struct waiter waiters[THREADS];
        struct trial trials[THREADS];
        pthread_t threads[THREADS];
        fake_start();
        svmx_executor_t *executor = open_or_die(options);
        for (unsigned i = 0; i < THREADS; i++) {
            waiters[i] = (struct waiter){batch_or_die(executor), SVMX_BUSY};
            trial_fill(&trials[i], round + i);
            check(trial_add(&trials[i], waiters[i].batch) == SVMX_OK && svmx_submit(waiters[i].batch, 0) == SVMX_OK,
                  "submit before close");
            if (pthread_create(&threads[i], NULL, wait_main, &waiters[i]) != 0) exit(2);
        }
        svmx_close(executor);
        for (unsigned i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            check(waiters[i].status == SVMX_OK && trial_is_right(&trials[i]), "close completes what was submitted");
            svmx_batch_destroy(waiters[i].batch);
        }
        check(fake.memories == 0 && fake.pipelines == 0 && fake.closes == fake.opens, "close gives everything back");
    }
}

int main(void) {
    struct svmx_options inline_device = fake_options(), together = fake_options();
    inline_device.backends = "none";
    together.gather_us = 200;
    together.window = 1;
    cancel_races(together);
    callbacks(together);
    close_in_flight(together);
    cancel_races(fake_options());
    cancel_races(inline_device);
    frees(fake_options());
    frees(inline_device);
    full_queue(1);
    full_queue(3);
    callbacks(fake_options());
    callbacks(inline_device);
    close_in_flight(fake_options());
    close_in_flight(inline_device);
    const bool has_pool = simd_is_built();
    if (has_pool) cancel_races(simd_options());
    return threads_end(has_pool ? 0 : 1);
}
