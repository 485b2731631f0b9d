/*
 * worker.c: the thread behind a queue or an immediate list: runs its commands, one at a time, in any order that the
 * specification allows (ZE_CPU_SHUFFLE) or else as they come.
 *
 *     pending:  copy  copy  kernel | barrier | copy
 *               ^ any of these, if    ^ when those before it are over
 *                 its events are signalled
 *
 * A wait for events holds back what comes after it until they are signalled. It is no barrier: what comes before it may
 * take longer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GATHER_NS = 300000 }; /* an immediate list: so long may commands gather before one is drawn */

/* ---- commands ------------------------------------------------------------------------------------------------- */

void zecpu_command_free(struct zecpu_command *command) {
    if (!command->borrowed) {
        free(command->launch.values);
        free(command->events);
    }
    free(command->waits);
    free(command);
}

void zecpu_command_push(struct zecpu_command ***array, size_t *count, size_t *room, struct zecpu_command *command) {
    if (*count == *room) {
        *room = *room * 2 + 16;
        struct zecpu_command **more = realloc(*array, *room * sizeof *more);
        if (!more) abort();
        *array = more;
    }
    (*array)[(*count)++] = command;
}

/* Everything that the command refers to is in use from here on, or no longer (by = -1). With the lock. */
static void use_memory(const void *pointer, int by) {
    struct zecpu_memory *memory = pointer ? zecpu_memory_find(pointer) : NULL;
    if (memory) memory->users += (uint32_t)by;
}

static void use_arguments(const struct zecpu_launch *launch, int by) {
    launch->kernel->users += (uint32_t)by;
    for (uint32_t i = 0; i < launch->kernel->info->argument_count; i++) {
        const void *pointer;
        if (launch->kernel->info->arguments[i].kind != ZECPU_GLOBAL) continue;
        memcpy(&pointer, launch->values[i].data, sizeof pointer);
        use_memory(pointer, by);
    }
}

static void use(const struct zecpu_command *command, int by) {
    use_memory(command->to, by);
    use_memory(command->from, by);
    if (command->op == ZECPU_OP_KERNEL) use_arguments(&command->launch, by);
    if (command->signal) command->signal->users += (uint32_t)by;
    for (uint32_t i = 0; i < command->wait_count; i++) command->waits[i].event->users += (uint32_t)by;
    for (uint32_t i = 0; i < command->event_count; i++) command->events[i]->users += (uint32_t)by;
    if (command->fence) command->fence->users += (uint32_t)by;
    if (command->borrowed) command->borrowed->under_way += (uint32_t)by;
}

/* ---- the choice of the next one ------------------------------------------------------------------------------- */

bool zecpu_command_is_wall(const struct zecpu_command *command) {
    return command->in_order || command->op == ZECPU_OP_BARRIER || command->op == ZECPU_OP_LIST_END ||
           command->op == ZECPU_OP_FENCE;
}

static bool is_ready(const struct zecpu_command *command) {
    for (uint32_t i = 0; i < command->wait_count; i++)
        if (command->waits[i].event->done < command->waits[i].value) return false;
    return true;
}

/* splitmix64: good enough to draw lots, the same on every machine. */
static uint64_t draw(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The index of a command that may run; SIZE_MAX: none may yet. Every candidate has the same chance. */
static size_t choose(struct zecpu_worker *worker) {
    size_t chosen = SIZE_MAX, candidates = 0;
    for (size_t i = 0; i < worker->count; i++) {
        const struct zecpu_command *command = worker->pending[i];
        const bool wall = zecpu_command_is_wall(command), ready = is_ready(command);
        if (wall && i) break;
        if (ready && draw(&worker->random) % ++candidates == 0) chosen = i;
        if (wall || (command->op == ZECPU_OP_WAIT && !ready) || !zecpu_settings.shuffle) break;
    }
    return chosen;
}

/* ---- running -------------------------------------------------------------------------------------------------- */

static void sleep_ns(uint64_t ns) {
    const struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    nanosleep(&time, NULL);
}

/* That it is over and that its event is signalled is seen in one step. */
static void end_command(struct zecpu_command *command, uint64_t start, uint64_t end) {
    struct zecpu_event *event = command->signal;
    use(command, -1);
    if (command->fence) command->fence->signalled = true;
    if (event && event->done && !event->pool->counts)
        zecpu_misuse("event %u was signalled again before it was reset", (unsigned)event->index);
    if (event) zecpu_event_signal(event, command->signal_value, start, end);
    zecpu_command_free(command);
    zecpu_changed();
}

/* It is not done, and never will be. */
static void drop_command(struct zecpu_command *command) {
    use(command, -1);
    zecpu_command_free(command);
    zecpu_changed();
}

/* Without the lock while it runs. */
static void run_one(struct zecpu_worker *worker, size_t at) {
    struct zecpu_command *command = worker->pending[at];
    memmove(worker->pending + at, worker->pending + at + 1, (--worker->count - at) * sizeof *worker->pending);
    worker->running = command;
    zecpu_unlock();
    const bool timed = command->signal && command->signal->pool->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
    const uint64_t begun = zecpu_now_ns(), start = timed ? zecpu_clock_start() : zecpu_ticks();
    const bool alive = zecpu_call_command() == ZE_RESULT_SUCCESS && zecpu_run(worker, command);
    if (worker->device->slowness > 1 && command->op <= ZECPU_OP_FILL)
        sleep_ns((zecpu_now_ns() - begun) * (worker->device->slowness - 1));
    const uint64_t end = zecpu_ticks();
    zecpu_lock();
    worker->running = NULL;
    if (alive) {
        end_command(command, start, end);
    } else {
        zecpu_context_lose(worker->context, worker->device);
        drop_command(command);
    }
}

static void drop_all(struct zecpu_worker *worker) {
    for (size_t i = 0; i < worker->count; i++) drop_command(worker->pending[i]);
    worker->count = 0;
}

static void gather(void) {
    zecpu_unlock();
    sleep_ns(GATHER_NS);
    zecpu_lock();
}

static void *work(void *argument) {
    struct zecpu_worker *worker = argument;
    zecpu_lock();
    while (worker->count || !worker->stop) {
        if (worker->count && zecpu_context_is_lost(worker->context, worker->device)) drop_all(worker);
        if (worker->count && worker->immediate && zecpu_settings.shuffle) gather();
        const size_t next = choose(worker);
        if (next != SIZE_MAX)
            run_one(worker, next);
        else if (worker->stop)
            drop_all(worker); /* they wait for what nobody will signal */
        else
            (void)zecpu_wait(UINT64_MAX);
    }
    zecpu_unlock();
    return NULL;
}

/* ---- for lists and queues ------------------------------------------------------------------------------------- */

bool zecpu_worker_start(struct zecpu_worker *worker, struct zecpu_context *context, struct zecpu_device *device,
                        bool immediate) {
    *worker = (struct zecpu_worker){
        .context = context, .device = device, .immediate = immediate, .random = zecpu_settings.seed};
    worker->queue = zecpu_engine_queue();
    if (!worker->queue) return false;
    if (pthread_create(&worker->thread, NULL, work, worker) == 0) return true;
    zecpu_engine_queue_free(worker->queue);
    return false;
}

void zecpu_worker_stop(struct zecpu_worker *worker, const char *function) {
    zecpu_lock();
    const bool busy = worker->count || worker->running;
    const bool lost = zecpu_context_is_lost(worker->context, worker->device);
    worker->stop = true;
    zecpu_changed();
    zecpu_unlock();
    if (busy && !lost) zecpu_misuse("%s: commands are still under way", function);
    pthread_join(worker->thread, NULL);
    zecpu_engine_queue_free(worker->queue);
    free(worker->pending);
}

void zecpu_worker_submit(struct zecpu_worker *worker, struct zecpu_command *command) {
    for (uint32_t i = 0; i < command->wait_count; i++)
        command->waits[i].value = zecpu_event_wanted(command->waits[i].event);
    if (command->signal) {
        command->signal->object.device = worker->device;
        command->signal_value = command->signal->pool->counts ? ++command->signal->target : 1;
    }
    if (!command->in_order) zecpu_hazard_check(worker, command);
    use(command, 1);
    zecpu_command_push(&worker->pending, &worker->count, &worker->room, command);
    zecpu_changed();
}

ze_result_t zecpu_worker_finish(struct zecpu_worker *worker, uint64_t timeout_ns) {
    const uint64_t deadline = zecpu_deadline(timeout_ns);
    ze_result_t result = ZE_RESULT_SUCCESS;
    zecpu_lock();
    while (!result && (worker->count || worker->running)) {
        if (zecpu_context_is_lost(worker->context, worker->device))
            result = ZE_RESULT_ERROR_DEVICE_LOST;
        else if (!zecpu_wait(deadline))
            result = ZE_RESULT_NOT_READY;
    }
    if (zecpu_context_is_lost(worker->context, worker->device)) result = ZE_RESULT_ERROR_DEVICE_LOST;
    zecpu_unlock();
    return result;
}
