/*
 * schedule.c: who runs next.
 *
 *         +-- ready: run up to SLICE instructions --+
 *         |                                         |
 *   start +--> done                                 +--> parked: its request is in the batch
 *                                                              |
 *         the batch is full, late, or all are parked: run it --+--> all of them are ready
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedule.h"
#include "before.h"

#include <pthread.h>
#include <stdatomic.h>

/* Instructions before the next one has its turn: some 100 us, so that a long loop delays nobody beyond the deadline. */
enum { SLICE = 10000 };

static bool is_done(const struct vm *vm) { return vm->status != VM_RUNNING && vm->status != VM_PARKED; }

/* ---- batched -------------------------------------------------------------------------------------------------- */

struct flight {
    struct vm **active; /* under way, in the order of the block */
    size_t count, most;
    size_t next; /* transaction to start */
};

static void start_more(struct flight *flight, const struct vm_world *world, struct vm *vms) {
    for (; flight->count < flight->most && flight->next < world->block->transaction_count; flight->next++) {
        struct vm *vm = &vms[flight->next];
        if (world->prepared[flight->next].refusal) continue;
        vm_start(vm, world, flight->next);
        if (!is_done(vm)) flight->active[flight->count++] = vm;
    }
}

/* Gives everybody who is ready a turn. */
static enum svmx_status turn(struct batcher *batcher, struct flight *flight) {
    for (size_t i = 0; i < flight->count; i++) {
        struct vm *vm = flight->active[i];
        if (vm->status == VM_RUNNING && vm_run(vm, SLICE) == VM_PARKED) batcher_join(batcher, vm);
        if (!batcher_ready(batcher)) continue;
        const enum svmx_status status = batcher_run(batcher);
        if (status != SVMX_OK) return status;
    }
    return SVMX_OK;
}

/* Takes out who is done; is anybody left who is ready? */
static bool sweep(struct flight *flight) {
    size_t left = 0, ready = 0;
    for (size_t i = 0; i < flight->count; i++) {
        if (is_done(flight->active[i])) continue;
        ready += flight->active[i]->status == VM_RUNNING;
        flight->active[left++] = flight->active[i];
    }
    flight->count = left;
    return ready > 0;
}

enum svmx_status schedule_batched(struct batcher *batcher, const struct vm_world *world, struct vm *vms,
                                  size_t in_flight) {
    struct flight flight = {.most = in_flight, .active = memory_resize(NULL, in_flight, sizeof(struct vm *))};
    enum svmx_status status = SVMX_OK;
    for (start_more(&flight, world, vms); flight.count && status == SVMX_OK; start_more(&flight, world, vms)) {
        status = turn(batcher, &flight);
        const bool ready = sweep(&flight), more = flight.next < world->block->transaction_count;
        if (status == SVMX_OK && !ready && (!more || flight.count == flight.most))
            status = batcher_run(batcher); /* all are parked, and nobody is left to start */
    }
    free(flight.active);
    return status;
}

/* ---- a transaction a thread ----------------------------------------------------------------------------------- */

enum svmx_status schedule_alone(struct batcher *batcher, const struct vm_world *world, struct vm *vm, size_t number) {
    enum svmx_status status = SVMX_OK;
    vm_start(vm, world, number);
    while (!is_done(vm) && status == SVMX_OK) {
        if (vm_run(vm, UINT64_MAX) != VM_PARKED) continue;
        batcher_join(batcher, vm);
        status = batcher_run(batcher);
    }
    return status;
}

struct team {
    svmx_executor_t *executor;
    const struct vm_world *world;
    struct prepared *prepared;
    struct vm *vms;
    atomic_size_t next; /* relaxed: a number is all that is shared */
    pthread_mutex_t lock;
    struct batcher_counts *counts; /* under lock, as what follows */
    struct svmx_error *error;      /* of the first that failed */
};

static void note_failure(struct team *team, enum svmx_status status, const char *text) {
    (void)pthread_mutex_lock(&team->lock);
    if (team->error->status == SVMX_OK) {
        team->error->status = status;
        (void)snprintf(team->error->text, sizeof team->error->text, "%s", text);
    }
    (void)pthread_mutex_unlock(&team->lock);
}

static void add_counts(struct team *team, const struct batcher_counts *mine) {
    (void)pthread_mutex_lock(&team->lock);
    team->counts->batches += mine->batches;
    team->counts->requests += mine->requests;
    if (mine->largest > team->counts->largest) team->counts->largest = mine->largest;
    (void)pthread_mutex_unlock(&team->lock);
}

static void *work(void *user) {
    struct team *team = user;
    struct batcher batcher;
    enum svmx_status status = batcher_open(&batcher, team->executor, &(struct batcher_limits){.requests = 1});
    while (status == SVMX_OK) {
        const size_t number = atomic_fetch_add_explicit(&team->next, 1, memory_order_relaxed);
        if (number >= team->world->block->transaction_count) break;
        status = before_transactions(batcher.batch, team->world->block, number, number + 1, team->prepared);
        if (status == SVMX_OK && !team->prepared[number].refusal)
            status = schedule_alone(&batcher, team->world, &team->vms[number], number);
    }
    if (status != SVMX_OK)
        note_failure(team, status, batcher.batch ? svmx_batch_error(batcher.batch) : "no batch could be made");
    add_counts(team, &batcher.counts);
    batcher_close(&batcher);
    return NULL;
}

enum svmx_status schedule_threads(svmx_executor_t *executor, const struct vm_world *world, struct prepared *prepared,
                                  struct vm *vms, uint32_t threads, struct batcher_counts *counts,
                                  struct svmx_error *error) {
    struct team team = {
        .executor = executor, .world = world, .prepared = prepared, .vms = vms, .counts = counts, .error = error};
    pthread_t *ids = memory_resize(NULL, threads, sizeof *ids);
    uint32_t started = 0;
    error->status = SVMX_OK;
    (void)pthread_mutex_init(&team.lock, NULL);
    while (started < threads && pthread_create(&ids[started], NULL, work, &team) == 0) started++;
    if (started == 0) (void)work(&team); /* without threads: this one */
    while (started > 0) (void)pthread_join(ids[--started], NULL);
    (void)pthread_mutex_destroy(&team.lock);
    free(ids);
    return error->status;
}
