/*
 * worker.c: the thread of a device: takes tickets in order, computes them with the reference code, and lets each be over
 * when the modelled device would be done, which the model's engines tell:
 *
 *   submitted                                                          over
 *       |======= computing =======|....... the next is computed, or sleeping ......|
 *
 * Computing that takes longer than that makes the launch as long as it took, and its times real ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

void sim_sleep_until(const struct svmx_host *host, uint64_t until_ns) {
    for (uint64_t now; (now = host->now(host)) < until_ns;) {
        const uint64_t left = until_ns - now;
        const struct timespec time = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
    }
}

/* ---- computing -------------------------------------------------------------------------------------------- */

static enum svmx_status task_run(const struct svmx_host *host, const struct svmx_dispatch *dispatch, uint32_t task) {
    const struct svmx_pipeline *pipeline = dispatch->pipeline;
    struct svmx_slot slots[SIM_MAX_PARAMS];
    for (uint32_t p = 0; p < dispatch->slot_count; p++) {
        slots[p] = dispatch->slots[(size_t)task * dispatch->slot_count + p];
        const struct svmx_memory *memory = pipeline->output[p] ? dispatch->outputs.memory : dispatch->inputs.memory;
        if (!pipeline->scalar[p]) slots[p].at = slots[p].bytes ? (uintptr_t)memory->data + slots[p].at : 0;
    }
    return host->reference(host, pipeline->op, slots, dispatch->slot_count);
}

static void copy_run(const struct svmx_copy *copy) {
    if (copy->source.bytes)
        memmove(copy->target.memory->data + copy->target.offset, copy->source.memory->data + copy->source.offset,
                (size_t)copy->source.bytes);
}

static enum svmx_status command_run(const struct svmx_host *host, const struct svmx_command *command,
                                    struct svmx_timing *real) {
    const struct svmx_dispatch *dispatch = &command->as.dispatch;
    const struct svmx_fill *fill = &command->as.fill;
    enum svmx_status status = SVMX_OK;
    uint64_t *spent = &real->compute_ns;
    const uint64_t start = host->now(host);
    switch (command->kind) {
    case SVMX_COMMAND_DISPATCH:
        for (uint32_t t = 0; status == SVMX_OK && t < dispatch->task_count; t++) status = task_run(host, dispatch, t);
        break;
    case SVMX_COMMAND_FILL:
        memset(fill->target.memory->data + fill->target.offset, fill->value, (size_t)fill->target.bytes);
        break;
    case SVMX_COMMAND_COPY_IN:
    case SVMX_COMMAND_COPY_OUT:
        copy_run(&command->as.copy);
        spent = command->kind == SVMX_COMMAND_COPY_IN ? &real->copy_in_ns : &real->copy_out_ns;
    }
    *spent += host->now(host) - start;
    return status;
}

/* Says once that a device cannot keep up with its model. */
static void say_late(struct sim_gpu *gpu, uint64_t late_ns) {
    const struct svmx_host *host = gpu->instance->host;
    char line[200];
    pthread_mutex_lock(&gpu->instance->lock);
    const bool said = gpu->said_late;
    gpu->said_late = true;
    pthread_mutex_unlock(&gpu->instance->lock);
    if (said) return;
    (void)snprintf(line, sizeof line,
                   "%s: a launch was computed %llu us later than its model says: launches like this report real times",
                   gpu->model.name, (unsigned long long)(late_ns / 1000));
    host->log(host, SVMX_LOG_WARN, line);
}

/* A ticket that nothing holds back: computed, and over no earlier than modelled. */
static void ticket_run(struct sim_gpu *gpu, struct sim_ticket *ticket) {
    const struct svmx_host *host = gpu->instance->host;
    const struct sim_cost *modelled = &ticket->modelled;
    const uint64_t start = host->now(host);
    struct svmx_timing real = {0};
    enum svmx_status status = SVMX_OK;
    pthread_mutex_lock(&gpu->instance->lock); /* of the bus, which others may share */
    ticket->over_ns =
        sim_engines_take(&gpu->model, &gpu->engines, modelled, ticket->held_back ? start : ticket->submitted_ns);
    pthread_mutex_unlock(&gpu->instance->lock);
    for (size_t i = 0; status == SVMX_OK && i < ticket->count; i++)
        status = command_run(host, &ticket->commands[i], &real);
    if (status != SVMX_OK) (void)sim_fail(gpu->instance, status, "%s: the reference code failed", gpu->model.name);
    const uint64_t computed = host->now(host);
    const bool kept = computed <= ticket->over_ns;
    ticket->timing = kept ? (struct svmx_timing){.copy_in_ns = modelled->upload_ns,
                                                 .compute_ns = modelled->compute_ns,
                                                 .copy_out_ns = modelled->readback_ns}
                          : real;
    if (!kept) {
        say_late(gpu, computed - ticket->over_ns);
        ticket->over_ns = computed;
        gpu->engines = (struct sim_engines){computed, computed, computed, gpu->bus};
    }
    ticket->status = status;
}

bool sim_ticket_is_over(const struct sim_instance *instance, const struct sim_ticket *ticket) {
    const uint64_t now = instance->host->now(instance->host);
    return ticket->computed && (now >= ticket->over_ns || now >= ticket->gpu->lost_ns);
}

struct timespec sim_moment_in(uint64_t ns) {
    const uint64_t day = UINT64_C(86400000000000), second = 1000000000;
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    const uint64_t sum = (uint64_t)at.tv_nsec + (ns < day ? ns : day);
    at.tv_sec += (time_t)(sum / second);
    at.tv_nsec = (long)(sum % second);
    return at;
}

/* ---- the thread ------------------------------------------------------------------------------------------- */

/* Is one of the tickets that have to be over first still under way? Under the lock. */
static bool is_held_back(const struct sim_instance *instance, const struct sim_ticket *ticket) {
    for (size_t i = 0; i < ticket->after_count; i++)
        for (const struct sim_ticket *other = instance->tickets; other; other = other->next)
            if (other->id == ticket->after[i] && !sim_ticket_is_over(instance, other)) return true;
    return false;
}

/* The oldest ticket of a device that was not taken. Under the lock. */
static struct sim_ticket *next_of(const struct sim_gpu *gpu) {
    struct sim_ticket *ticket = gpu->instance->tickets;
    while (ticket && (ticket->gpu != gpu || ticket->taken)) ticket = ticket->next;
    return ticket;
}

/* The first that will be over, of all devices: one of another may hold back one of ours. NULL: none. Under the lock. */
static const struct sim_ticket *running_of(const struct sim_instance *instance) {
    const struct sim_ticket *first = NULL;
    for (const struct sim_ticket *ticket = instance->tickets; ticket; ticket = ticket->next)
        if (ticket->computed && !sim_ticket_is_over(instance, ticket) && (!first || ticket->over_ns < first->over_ns))
            first = ticket;
    return first;
}

/* Sleeps until something changes: a ticket that is over is told to those who wait. Under the lock. */
static void rest(struct sim_instance *instance) {
    const struct sim_ticket *running = running_of(instance);
    if (!running) {
        pthread_cond_wait(&instance->changed, &instance->lock);
        return;
    }
    const uint64_t now = instance->host->now(instance->host), over = running->over_ns;
    const struct timespec moment = sim_moment_in(over > now ? over - now : 0);
    (void)pthread_cond_timedwait(&instance->changed, &instance->lock, &moment);
    if (instance->host->now(instance->host) >= over) pthread_cond_broadcast(&instance->changed);
}

static void *work(void *argument) {
    struct sim_gpu *gpu = argument;
    struct sim_instance *instance = gpu->instance;
    (void)prctl(PR_SET_TIMERSLACK, 1000UL); /* 50 us by default: longer than some launches that are modelled */
    pthread_mutex_lock(&instance->lock);
    while (!instance->closing) {
        struct sim_ticket *ticket = next_of(gpu);
        if (!ticket || is_held_back(instance, ticket)) {
            if (ticket) ticket->held_back = true;
            rest(instance);
            continue;
        }
        ticket->taken = true;
        pthread_mutex_unlock(&instance->lock);
        ticket_run(gpu, ticket);
        pthread_mutex_lock(&instance->lock);
        ticket->computed = true;
        pthread_cond_broadcast(&instance->changed);
    }
    pthread_mutex_unlock(&instance->lock);
    return NULL;
}

enum svmx_status sim_worker_start(struct sim_gpu *gpu) {
    sigset_t all, before;
    if (gpu->working) return SVMX_OK;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the program's */
    gpu->working = pthread_create(&gpu->worker, NULL, work, gpu) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return gpu->working ? SVMX_OK : SVMX_ERR_SYSTEM;
}

void sim_workers_end(struct sim_instance *instance) {
    pthread_mutex_lock(&instance->lock);
    instance->closing = true;
    pthread_cond_broadcast(&instance->changed);
    pthread_mutex_unlock(&instance->lock);
    for (uint32_t i = 0; i < instance->device_count; i++)
        if (instance->devices[i]->working) (void)pthread_join(instance->devices[i]->worker, NULL);
}
