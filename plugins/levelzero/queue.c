/*
 * queue.c: a list of commands becomes one ticket: looked through, then appended to the immediate list of an engine.
 *
 *   in-order list     each command waits for the one before it; the last one's event ends the ticket
 *   any other list    a barrier where the core wants one and between the passes of a dispatch, and one at the end, whose
 *                     event ends the ticket, and which the next ticket finds before it: tickets of an engine keep their
 *                     order too
 *
 * On a device with memory of its own and an engine for copies, lists are three: uploads, kernels, readbacks. Then what one
 * ticket copies overlaps what another computes; within a ticket, who comes from another list waits for what is there:
 *
 *   in-order lists    for the event of the command before it
 *   any other lists   uploads  copy copy [barrier]------event--,
 *                     kernels                            [barrier] kernel ...      also where the core wants no barrier
 *
 * A ticket that is alone stays in the list of kernels, since to go from list to list takes time, and elsewhere copies go where
 * kernels go.
 *
 * Called in the device's submitter thread only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "levelzero.h"

static const uint64_t await_limit_ns = UINT64_C(10000000000);

/* The stride is the core's: a later minor version may have longer commands than we know. */
static const struct svmx_command *command_at(const struct svmx_command_list *list, size_t index) {
    return (const void *)((const char *)list->commands + index * list->command_size);
}

/* ---- looking through: a failed submit has started nothing --------------------------------------------------- */

static bool is_inside(const struct lz_device *device, const struct svmx_span *span) {
    const struct svmx_memory *memory = span->memory;
    return memory && memory->device == device && span->offset <= memory->bytes &&
           span->bytes <= memory->bytes - span->offset;
}

static bool is_inside_or_none(const struct lz_device *device, const struct svmx_span *span) {
    return !span->memory || is_inside(device, span);
}

static uint64_t units_of(const struct svmx_dispatch *dispatch) { return dispatch->first_unit[dispatch->task_count]; }

static uint64_t groups_of(const struct lz_pass *pass, const struct svmx_dispatch *dispatch) {
    return catalog_items(&pass->shape, pass->grain, units_of(dispatch), dispatch->task_count) / pass->shape.local;
}

static const char *dispatch_fault(const struct lz_device *device, const struct svmx_dispatch *dispatch) {
    const struct svmx_pipeline *pipeline = dispatch->pipeline;
    if (!pipeline || pipeline->program->device != device) return "a pipeline of another device";
    if (dispatch->task_count == 0) return NULL;
    if (!is_inside(device, &dispatch->table) || !is_inside_or_none(device, &dispatch->inputs) ||
        !is_inside_or_none(device, &dispatch->outputs) || !is_inside_or_none(device, &dispatch->scratch))
        return "a dispatch outside of its memory";
    for (uint32_t i = 0; i < pipeline->pass_count; i++)
        if (groups_of(&pipeline->passes[i], dispatch) > device->max_group_count)
            return "a dispatch of more work-groups than the device takes";
    return NULL;
}

static const char *copy_fault(const struct lz_device *device, const struct svmx_copy *copy) {
    if (!is_inside(device, &copy->source) || !is_inside(device, &copy->target)) return "a copy outside of its memory";
    return copy->source.bytes != copy->target.bytes ? "a copy of two sizes" : NULL;
}

static const char *command_fault(const struct lz_device *device, uint32_t engine, const struct svmx_command *command) {
    switch (command->kind) {
    case SVMX_COMMAND_DISPATCH:
        return engine ? "a dispatch on an engine for copies" : dispatch_fault(device, &command->as.dispatch);
    case SVMX_COMMAND_COPY_IN:
    case SVMX_COMMAND_COPY_OUT: return copy_fault(device, &command->as.copy);
    case SVMX_COMMAND_FILL: return is_inside(device, &command->as.fill.target) ? NULL : "a fill outside of its memory";
    case SVMX_COMMAND_BARRIER: return NULL;
    default: return "a command of a kind that is not known";
    }
}

static enum svmx_status check(const struct lz_device *device, const struct svmx_submission *submission) {
    const struct lz_backend *backend = device->backend;
    if (submission->engine >= device->info.compute_engines + device->info.copy_engines)
        return lz_refuse(backend, SVMX_ERR_UNKNOWN, "submit: there is no engine %u", (unsigned)submission->engine);
    if (!submission->list) return lz_refuse(backend, SVMX_ERR_UNSUPPORTED, "submit: recorded lists are not offered");
    for (size_t i = 0; i < submission->list->count; i++) {
        const char *fault = command_fault(device, submission->engine, command_at(submission->list, i));
        if (fault) return lz_refuse(backend, SVMX_ERR_ARGUMENT, "submit: command %zu: %s", i, fault);
    }
    return SVMX_OK;
}

/* ---- appending -------------------------------------------------------------------------------------------- */

/* Where commands of a submission go to. */
struct target {
    struct lz_device *device;
    struct lz_slot *slot;
    struct lz_engine *engine;
    bool spreads;                  /* copies go elsewhere */
    ze_command_list_handle_t last; /* where the last command is; NULL: there is none */
};

/* Where a command goes, and what it has to wait for that the order of its list does not see to. */
struct place {
    ze_command_list_handle_t list;
    uint32_t waits;
    ze_event_handle_t before;
};

static ze_command_list_handle_t list_of(const struct target *to, uint32_t kind) {
    const struct lz_engine *engines = to->device->engines;
    if (!to->spreads || kind == SVMX_COMMAND_DISPATCH) return to->engine->list;
    return engines[kind == SVMX_COMMAND_COPY_OUT ? LZ_READBACKS : 1].list;
}

/* Where barriers go: what was appended last is there. */
static ze_command_list_handle_t last_list(const struct target *to) { return to->last ? to->last : to->engine->list; }

/* With an event of the slot's, so that whoever waits for the slot waits for the barrier too. */
static ze_result_t append_event(struct target *to, ze_command_list_handle_t list, uint32_t waits,
                                ze_event_handle_t *before) {
    struct lz_event *event;
    ze_result_t result = lz_slot_event(to->device, to->slot, SVMX_COMMAND_BARRIER, &event);
    if (result != ZE_RESULT_SUCCESS) return result;
    result = zeCommandListAppendBarrier(list, event->handle, waits, before);
    if (result != ZE_RESULT_SUCCESS) lz_slot_drop(to->device, to->slot);
    return result;
}

static ze_event_handle_t last_event(const struct target *to) {
    return to->slot->events[to->slot->event_count - 1]->handle;
}

/* From the last list to another one, where order does not see to it. */
static ze_result_t cross(struct target *to, ze_command_list_handle_t list) {
    ze_result_t result = append_event(to, to->last, 0, NULL);
    if (result != ZE_RESULT_SUCCESS) return result;
    ze_event_handle_t before = last_event(to);
    return append_event(to, list, 1, &before);
}

static ze_result_t find_place(struct target *to, uint32_t kind, struct place *place) {
    *place = (struct place){.list = list_of(to, kind)};
    if (!to->last || to->last == place->list) return ZE_RESULT_SUCCESS;
    if (!to->device->in_order) return cross(to, place->list);
    place->waits = 1;
    place->before = last_event(to);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t append_barrier(const struct target *to) {
    return to->device->in_order ? ZE_RESULT_SUCCESS : zeCommandListAppendBarrier(last_list(to), NULL, 0, NULL);
}

static const void *address(const struct svmx_span *span, bool with_offset) {
    return span->memory ? span->memory->at + (with_offset ? span->offset : 0) : NULL;
}

/* Slots count from the start of their memory; scratch begins where it is said to. */
static ze_result_t set_arguments(ze_kernel_handle_t kernel, const struct svmx_dispatch *dispatch) {
    const void *const pointers[] = {address(&dispatch->inputs, false), address(&dispatch->outputs, false),
                                    address(&dispatch->scratch, true), address(&dispatch->table, false)};
    const uint64_t units = units_of(dispatch);
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < 4 && result == ZE_RESULT_SUCCESS; i++)
        result = zeKernelSetArgumentValue(kernel, i, sizeof *pointers, &pointers[i]);
    if (result == ZE_RESULT_SUCCESS)
        result = zeKernelSetArgumentValue(kernel, 4, sizeof dispatch->table.offset, &dispatch->table.offset);
    if (result == ZE_RESULT_SUCCESS) result = zeKernelSetArgumentValue(kernel, 5, sizeof units, &units);
    if (result == ZE_RESULT_SUCCESS)
        result = zeKernelSetArgumentValue(kernel, 6, sizeof dispatch->task_count, &dispatch->task_count);
    return result;
}

/* What came of a command whose event is the last of its slot. */
static ze_result_t appended(struct target *to, const struct place *place, ze_result_t result) {
    if (result == ZE_RESULT_SUCCESS)
        to->last = place->list;
    else
        lz_slot_drop(to->device, to->slot);
    return result;
}

static ze_result_t append_pass(struct target *to, const struct lz_pass *pass, const struct svmx_dispatch *dispatch) {
    const ze_group_count_t groups = {(uint32_t)groups_of(pass, dispatch), 1, 1};
    struct place place;
    struct lz_event *event;
    ze_result_t result = find_place(to, SVMX_COMMAND_DISPATCH, &place);
    if (result == ZE_RESULT_SUCCESS) result = lz_slot_event(to->device, to->slot, SVMX_COMMAND_DISPATCH, &event);
    if (result != ZE_RESULT_SUCCESS) return result;
    result = set_arguments(pass->kernel, dispatch);
    if (result == ZE_RESULT_SUCCESS)
        result = zeCommandListAppendLaunchKernel(place.list, pass->kernel, &groups, event->handle, place.waits,
                                                 place.waits ? &place.before : NULL);
    return appended(to, &place, result);
}

/* Bits of a count: the class that its expected time is kept under. */
static unsigned size_class(uint64_t units) { return units ? 64 - (unsigned)__builtin_clzll(units) : 0; }

/* What the whole list is expected to take, and where to note what it took. */
static void expect(struct lz_slot *slot, struct svmx_pipeline *pipeline, uint64_t units) {
    slot->learn_ns = &pipeline->expected_ns[size_class(units)];
    slot->expected_ns += *slot->learn_ns;
    slot->dispatch_count++;
}

static ze_result_t append_dispatch(struct target *to, const struct svmx_dispatch *dispatch) {
    struct svmx_pipeline *pipeline = dispatch->pipeline;
    bool first = true;
    if (dispatch->task_count == 0) return ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < pipeline->pass_count; i++) {
        if (groups_of(&pipeline->passes[i], dispatch) == 0) continue;
        ze_result_t result = first ? ZE_RESULT_SUCCESS : append_barrier(to);
        if (result == ZE_RESULT_SUCCESS) result = append_pass(to, &pipeline->passes[i], dispatch);
        if (result != ZE_RESULT_SUCCESS) return result;
        first = false;
    }
    expect(to->slot, pipeline, units_of(dispatch));
    return ZE_RESULT_SUCCESS;
}

static ze_result_t append_move(struct place *place, const struct svmx_command *command, ze_event_handle_t event) {
    ze_event_handle_t *before = place->waits ? &place->before : NULL;
    const struct svmx_copy *copy = &command->as.copy;
    const struct svmx_fill *fill = &command->as.fill;
    if (command->kind == SVMX_COMMAND_FILL)
        return zeCommandListAppendMemoryFill(place->list, fill->target.memory->at + fill->target.offset, &fill->value,
                                             1, (size_t)fill->target.bytes, event, place->waits, before);
    return zeCommandListAppendMemoryCopy(place->list, copy->target.memory->at + copy->target.offset,
                                         copy->source.memory->at + copy->source.offset, (size_t)copy->source.bytes,
                                         event, place->waits, before);
}

static bool is_empty(const struct svmx_command *command) {
    return command->kind == SVMX_COMMAND_FILL ? command->as.fill.target.bytes == 0 : command->as.copy.source.bytes == 0;
}

static ze_result_t append(struct target *to, const struct svmx_command *command) {
    if (command->kind == SVMX_COMMAND_DISPATCH) return append_dispatch(to, &command->as.dispatch);
    if (command->kind == SVMX_COMMAND_BARRIER) return append_barrier(to);
    if (is_empty(command)) return ZE_RESULT_SUCCESS;
    struct place place;
    struct lz_event *event;
    ze_result_t result = find_place(to, command->kind, &place);
    if (result == ZE_RESULT_SUCCESS) result = lz_slot_event(to->device, to->slot, command->kind, &event);
    if (result != ZE_RESULT_SUCCESS) return result;
    return appended(to, &place, append_move(&place, command, event->handle));
}

/* The barrier that ends a ticket, where order does not. */
static ze_result_t append_end(struct target *to) {
    return to->device->in_order ? ZE_RESULT_SUCCESS : append_event(to, last_list(to), 0, NULL);
}

/* ---- submit ----------------------------------------------------------------------------------------------- */

/* Whether copies of a list for engine 0 go beside its kernels. */
static bool spreads(const struct lz_device *device, uint32_t engine) {
    return engine == 0 && device->info.copy_engines && !device->integrated && lz_slots_are_open(device);
}

/* The engines of a submission, in the order of their numbers: all, or its own. */
static void lock_engines(struct target *to) {
    for (uint32_t i = 0; i < LZ_ENGINES; i++)
        if (to->spreads || to->engine == &to->device->engines[i]) pthread_mutex_lock(&to->device->engines[i].lock);
}

static void unlock_engines(struct target *to) {
    for (uint32_t i = 0; i < LZ_ENGINES; i++)
        if (to->spreads || to->engine == &to->device->engines[i]) pthread_mutex_unlock(&to->device->engines[i].lock);
}

/* With their locks held. */
static ze_result_t append_all(struct target *to, const struct svmx_command_list *list) {
    ze_result_t result = lz_engine_open(to->device, to->engine);
    for (uint32_t i = 1; to->spreads && i < LZ_ENGINES && result == ZE_RESULT_SUCCESS; i++)
        result = lz_engine_open(to->device, &to->device->engines[i]);
    for (size_t i = 0; i < list->count && result == ZE_RESULT_SUCCESS; i++) result = append(to, command_at(list, i));
    return result == ZE_RESULT_SUCCESS ? append_end(to) : result;
}

/* What was begun must end before the caller hears that nothing was, and why. */
static ze_result_t take_back(struct target *to, ze_result_t why) {
    struct lz_device *device = to->device;
    lz_note(device, why);
    for (uint32_t i = 0; to->slot->event_count && device->in_order && i < LZ_ENGINES && !atomic_load(&device->lost);
         i++)
        if ((to->spreads || to->engine == &device->engines[i]) && device->engines[i].list) {
            const ze_result_t ended =
                device->backend->newer.list_synchronize(device->engines[i].list, device->patience_ns);
            lz_note(device, ended);
            if (ended == ZE_RESULT_NOT_READY) lz_note_stuck(device);
        }
    return lz_slot_drain(device, to->slot, why);
}

static enum svmx_status await_others(struct lz_backend *backend, const struct svmx_submission *submission) {
    for (size_t i = 0; i < submission->after_count; i++)
        if (!lz_ticket_await(backend, submission->after[i], await_limit_ns))
            return lz_refuse(backend, SVMX_ERR_BACKEND, "submit: a ticket that must be over first does not end");
    return SVMX_OK;
}

enum svmx_status lz_submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    struct lz_backend *backend = self;
    enum svmx_status status;
    struct lz_device *device = lz_device_ready(backend, submission->device, &status);
    if (!device) return status;
    status = check(device, submission);
    if (status == SVMX_OK) status = await_others(backend, submission);
    if (status != SVMX_OK) return status;
    struct lz_slot *slot = lz_slot_take(device);
    if (!slot) return lz_refuse(backend, SVMX_BUSY, "submit: %d tickets are open", LZ_SLOTS);
    struct target to = {.device = device,
                        .slot = slot,
                        .engine = &device->engines[submission->engine],
                        .spreads = spreads(device, submission->engine)};
    slot->expected_ns = slot->dispatch_count = 0;
    slot->learn_ns = NULL;
    slot->submitted_ns = kernels_now_ns();
    lock_engines(&to);
    ze_result_t result = append_all(&to, submission->list);
    if (result != ZE_RESULT_SUCCESS) result = take_back(&to, result);
    unlock_engines(&to);
    if (result != ZE_RESULT_SUCCESS) return lz_fail(device, result, "submit");
    *ticket = lz_slot_open(device, slot);
    return SVMX_OK;
}
