/*
 * queue.c: submit and wait. A list of commands becomes a ticket that knows how long the modelled device takes for it; the
 * device's worker computes it.
 *
 * submit is called by one thread a device and never waits for the device; wait may be called by that thread only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

#include <string.h>

/* The stride is the core's: a later minor version may have longer commands than we know. */
static const struct svmx_command *command_at(const struct svmx_command_list *list, size_t index) {
    return (const void *)((const char *)list->commands + index * list->command_size);
}

/* ---- looking through: a failed submit has started nothing --------------------------------------------------- */

static bool is_inside(const struct sim_gpu *gpu, const struct svmx_span *span) {
    const struct svmx_memory *memory = span->memory;
    return memory && memory->gpu == gpu && span->offset <= memory->bytes && span->bytes <= memory->bytes - span->offset;
}

/* Slots count from the start of their memory. */
static bool slot_fits(const struct svmx_dispatch *dispatch, const struct svmx_slot *slot, uint32_t param) {
    const struct svmx_pipeline *pipeline = dispatch->pipeline;
    if (pipeline->scalar[param] || slot->bytes == 0) return true;
    const struct svmx_memory *memory = pipeline->output[param] ? dispatch->outputs.memory : dispatch->inputs.memory;
    return memory && slot->at <= memory->bytes && slot->bytes <= memory->bytes - slot->at;
}

static const char *dispatch_fault(const struct sim_gpu *gpu, const struct svmx_dispatch *dispatch) {
    const struct svmx_pipeline *pipeline = dispatch->pipeline;
    if (!pipeline || pipeline->gpu != gpu) return "a pipeline of another device";
    if (dispatch->slot_count != pipeline->param_count) return "a dispatch with the slots of another operation";
    if (dispatch->task_count == 0) return NULL;
    if (!is_inside(gpu, &dispatch->table)) return "a table outside of its memory";
    if ((dispatch->inputs.memory && !is_inside(gpu, &dispatch->inputs)) ||
        (dispatch->outputs.memory && !is_inside(gpu, &dispatch->outputs)))
        return "a dispatch outside of its memory";
    for (uint32_t t = 0; t < dispatch->task_count; t++)
        for (uint32_t p = 0; p < dispatch->slot_count; p++)
            if (!slot_fits(dispatch, &dispatch->slots[(size_t)t * dispatch->slot_count + p], p))
                return "a slot outside of its memory";
    return NULL;
}

static const char *command_fault(const struct sim_gpu *gpu, const struct svmx_command *command) {
    const struct svmx_copy *copy = &command->as.copy;
    switch (command->kind) {
    case SVMX_COMMAND_DISPATCH: return dispatch_fault(gpu, &command->as.dispatch);
    case SVMX_COMMAND_COPY_IN:
    case SVMX_COMMAND_COPY_OUT:
        if (!is_inside(gpu, &copy->source) || !is_inside(gpu, &copy->target)) return "a copy outside of its memory";
        return copy->source.bytes == copy->target.bytes ? NULL : "a copy of two sizes";
    case SVMX_COMMAND_FILL: return is_inside(gpu, &command->as.fill.target) ? NULL : "a fill outside of its memory";
    case SVMX_COMMAND_BARRIER: return NULL;
    default: return "a command of a kind that is not known";
    }
}

static enum svmx_status check(const struct sim_gpu *gpu, const struct svmx_submission *submission) {
    const struct sim_instance *instance = gpu->instance;
    if (submission->engine != 0) return sim_fail(instance, SVMX_ERR_UNKNOWN, "submit: there is only engine 0");
    if (!submission->list) return sim_fail(instance, SVMX_ERR_UNSUPPORTED, "submit: recorded lists are not offered");
    for (size_t i = 0; i < submission->list->count; i++) {
        const char *fault = command_fault(gpu, command_at(submission->list, i));
        if (fault) return sim_fail(instance, SVMX_ERR_ARGUMENT, "submit: command %zu: %s", i, fault);
    }
    return SVMX_OK;
}

/* ---- the modelled time of a list -------------------------------------------------------------------------- */

static struct sim_load load_of(const struct svmx_command *command, uint32_t submitters) {
    const struct svmx_dispatch *dispatch = &command->as.dispatch;
    struct sim_load load = {.submitters = submitters};
    if (command->kind == SVMX_COMMAND_COPY_IN) load.bytes_in = command->as.copy.source.bytes;
    if (command->kind == SVMX_COMMAND_COPY_OUT) load.bytes_out = command->as.copy.source.bytes;
    if (command->kind == SVMX_COMMAND_DISPATCH) {
        load.op = dispatch->pipeline->op;
        load.units = dispatch->first_unit[dispatch->task_count];
        load.work = dispatch->work;
        load.tasks = dispatch->task_count;
    }
    return load;
}

/* What waits on this device at the same time is what its contention comes from. Under the lock. */
static void model_time(struct sim_gpu *gpu, struct sim_ticket *ticket) {
    const uint64_t since = ticket->submitted_ns - gpu->start_ns;
    for (size_t i = 0; i < ticket->count; i++) {
        const struct sim_load load = load_of(&ticket->commands[i], gpu->open_tickets + 1);
        struct sim_cost cost;
        if (!load.op && !load.bytes_in && !load.bytes_out) continue; /* barriers and fills are for free */
        sim_model_cost(&gpu->model, SIM_GPU, &load, since, gpu->launches, &gpu->random, &cost);
        ticket->modelled.upload_ns += cost.upload_ns;
        ticket->modelled.compute_ns += cost.dispatch_ns + cost.compute_ns;
        ticket->modelled.readback_ns += cost.readback_ns;
    }
    gpu->launches++;
}

/* ---- submit ----------------------------------------------------------------------------------------------- */

/* The list and `after` may go when submit returns: they are copied. */
static struct sim_ticket *ticket_make(struct sim_gpu *gpu, const struct svmx_submission *submission) {
    const struct svmx_host *host = gpu->instance->host;
    const struct svmx_command_list *list = submission->list;
    const size_t commands = list->count * sizeof(struct svmx_command);
    const size_t bytes = sizeof(struct sim_ticket) + commands + submission->after_count * sizeof *submission->after;
    struct sim_ticket *ticket = host->alloc(host, bytes, 64);
    if (!ticket) return NULL;
    memset(ticket, 0, sizeof *ticket);
    ticket->gpu = gpu;
    ticket->count = list->count;
    ticket->after = (uint64_t *)(void *)((char *)ticket->commands + commands);
    ticket->after_count = submission->after_count;
    for (size_t i = 0; i < list->count; i++)
        memcpy(&ticket->commands[i], command_at(list, i), sizeof ticket->commands[i]);
    for (size_t i = 0; i < submission->after_count; i++) ticket->after[i] = submission->after[i];
    ticket->submitted_ns = host->now(host);
    return ticket;
}

/* Puts a ticket at the end of the queue. */
static enum svmx_status push(struct sim_gpu *gpu, struct sim_ticket *ticket) {
    struct sim_instance *instance = gpu->instance;
    pthread_mutex_lock(&instance->lock);
    enum svmx_status status = gpu->open_tickets < SIM_IN_FLIGHT ? sim_worker_start(gpu) : SVMX_ERR_STATE;
    if (status == SVMX_OK) {
        struct sim_ticket **end = &instance->tickets;
        while (*end) end = &(*end)->next;
        *end = ticket;
        ticket->id = ++instance->last_ticket;
        model_time(gpu, ticket);
        gpu->open_tickets++;
        pthread_cond_broadcast(&instance->changed);
    }
    pthread_mutex_unlock(&instance->lock);
    if (status == SVMX_ERR_STATE)
        return sim_fail(instance, status, "submit: more than %d tickets are open", SIM_IN_FLIGHT);
    return status == SVMX_OK ? status : sim_fail(instance, status, "submit: no thread for %s", gpu->model.name);
}

enum svmx_status sim_submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    struct sim_instance *instance = self;
    struct sim_gpu *gpu = sim_device_at(instance, submission->device);
    if (!gpu) return SVMX_ERR_UNKNOWN;
    enum svmx_status status = check(gpu, submission);
    if (status != SVMX_OK) return status;
    struct sim_ticket *made = ticket_make(gpu, submission);
    if (!made) return sim_fail(instance, SVMX_ERR_MEMORY, "submit: no memory for a ticket");
    status = push(gpu, made);
    if (status == SVMX_OK)
        *ticket = made->id; /* it is ours until wait, which the same thread calls */
    else
        instance->host->release(instance->host, made);
    return status;
}

/* ---- wait ------------------------------------------------------------------------------------------------- */

/* Where an open ticket of a device stands; NULL: nowhere. Under the lock. */
static struct sim_ticket **place_of(struct sim_instance *instance, const struct sim_gpu *gpu, uint64_t id) {
    for (struct sim_ticket **at = &instance->tickets; *at; at = &(*at)->next)
        if ((*at)->id == id && (*at)->gpu == gpu) return at;
    return NULL;
}

/* Until it may be over, or the deadline. The worker tells if it is not at another ticket. Under the lock. */
static void look_on(struct sim_instance *instance, const struct sim_ticket *ticket, uint64_t until) {
    const uint64_t now = instance->host->now(instance->host);
    const uint64_t end = ticket->computed && ticket->over_ns < until ? ticket->over_ns : until;
    const struct timespec moment = sim_moment_in(end > now ? end - now : 0);
    (void)pthread_cond_timedwait(&instance->changed, &instance->lock, &moment);
}

/* Waits until it is over and takes it out: it is the caller's. NULL with a status. */
static struct sim_ticket *ticket_take(struct sim_instance *instance, struct sim_gpu *gpu, uint64_t id,
                                      uint64_t timeout_ns, enum svmx_status *status) {
    const struct svmx_host *host = instance->host;
    const uint64_t start = host->now(host), until = timeout_ns < UINT64_MAX - start ? start + timeout_ns : UINT64_MAX;
    struct sim_ticket *taken = NULL;
    pthread_mutex_lock(&instance->lock);
    struct sim_ticket **at = place_of(instance, gpu, id);
    while (at && !sim_ticket_is_over(instance, *at) && host->now(host) < until) {
        look_on(instance, *at, until);
        at = place_of(instance, gpu, id); /* others may have gone from before it */
    }
    *status = at ? SVMX_TIMEOUT : SVMX_ERR_UNKNOWN;
    if (at && sim_ticket_is_over(instance, *at)) {
        taken = *at;
        *at = taken->next;
        gpu->open_tickets--;
    }
    pthread_mutex_unlock(&instance->lock);
    return taken;
}

enum svmx_status sim_wait(void *self, uint32_t device, uint64_t id, uint64_t timeout_ns, struct svmx_timing *timing) {
    struct sim_instance *instance = self;
    struct sim_gpu *gpu = sim_device_at(instance, device);
    enum svmx_status status;
    if (!gpu) return SVMX_ERR_UNKNOWN;
    struct sim_ticket *ticket = ticket_take(instance, gpu, id, timeout_ns, &status);
    if (!ticket && status == SVMX_TIMEOUT) return status;
    if (!ticket) return sim_fail(instance, status, "wait: ticket %llu is not open", (unsigned long long)id);
    status = ticket->status;
    ticket->timing.size = timing->size;
    if (status == SVMX_OK)
        memcpy(timing, &ticket->timing, timing->size < sizeof *timing ? timing->size : sizeof *timing);
    instance->host->release(instance->host, ticket);
    return status;
}
