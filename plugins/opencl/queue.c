/*
 * queue.c: a list of commands becomes one ticket: looked through, enqueued, flushed.
 *
 * Queues are in order: one for kernels and, where the device has memory of its own, one for copies each way, so that a ticket
 * is uploaded while another computes and a third is read back; one that is alone stays in the queue of kernels, since to go
 * from queue to queue takes time. Within a ticket each command follows the one before it, by the
 * order of its queue or, where that is another queue, by its event: barriers are kept by that. Tickets of a device follow each
 * other on each queue, but not across them: what must wait for another ticket says so (after). Tickets of other devices are
 * waited for by the driver: an event of theirs wakes one of ours.
 *
 * Called in the device's submitter thread only: a driver may block in any of these calls (oclgrind's clFlush runs the
 * kernels).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opencl.h"

/* The stride is the core's: a later minor version may have longer commands than we know. */
static const struct svmx_command *command_at(const struct svmx_command_list *list, size_t index) {
    return (const void *)((const char *)list->commands + index * list->command_size);
}

/* ---- looking through: a failed submit has started nothing --------------------------------------------------- */

static bool is_inside(const struct ocl_device *device, const struct svmx_span *span) {
    const struct svmx_memory *memory = span->memory;
    return memory && memory->device == device && span->offset <= memory->bytes &&
           span->bytes <= memory->bytes - span->offset;
}

static bool is_inside_or_none(const struct ocl_device *device, const struct svmx_span *span) {
    return !span->memory || is_inside(device, span);
}

static uint64_t items_of(const struct ocl_pass *pass, const struct svmx_dispatch *dispatch) {
    return catalog_items(&pass->shape, pass->grain, dispatch->first_unit[dispatch->task_count], dispatch->task_count);
}

/* Drivers number work-items with 32 bits, whatever size_t is. */
static bool has_too_many_items(const struct svmx_command *command) {
    const struct svmx_dispatch *dispatch = &command->as.dispatch;
    if (command->kind != SVMX_COMMAND_DISPATCH || dispatch->task_count == 0) return false;
    for (uint32_t i = 0; i < dispatch->pipeline->pass_count; i++)
        if (items_of(&dispatch->pipeline->passes[i], dispatch) > UINT32_MAX) return true;
    return false;
}

static const char *dispatch_fault(const struct ocl_device *device, const struct svmx_dispatch *dispatch) {
    if (!dispatch->pipeline || dispatch->pipeline->program->device != device) return "a pipeline of another device";
    if (dispatch->task_count == 0) return NULL;
    if (!is_inside(device, &dispatch->table) || !is_inside_or_none(device, &dispatch->inputs) ||
        !is_inside_or_none(device, &dispatch->outputs) || !is_inside_or_none(device, &dispatch->scratch))
        return "a dispatch outside of its memory";
    const struct svmx_memory *scratch = dispatch->scratch.memory;
    return scratch && !scratch->shared && dispatch->scratch.offset ? "scratch that does not begin its memory" : NULL;
}

/* Whether copies go through its address. */
static bool is_host(const struct svmx_memory *memory) { return memory->shared || memory->mapped; }

static const char *copy_fault(const struct ocl_device *device, const struct svmx_copy *copy) {
    if (!is_inside(device, &copy->source) || !is_inside(device, &copy->target)) return "a copy outside of its memory";
    if (copy->source.bytes != copy->target.bytes) return "a copy of two sizes";
    const struct svmx_memory *from = copy->source.memory, *to = copy->target.memory;
    return is_host(from) && is_host(to) && !(from->shared && to->shared) ? "a copy from staging to staging" : NULL;
}

static const char *fill_fault(const struct ocl_device *device, const struct svmx_fill *fill) {
    if (!is_inside(device, &fill->target)) return "a fill outside of its memory";
    return fill->target.memory->mapped ? "a fill of staging memory" : NULL;
}

static const char *command_fault(const struct ocl_device *device, const struct svmx_command *command) {
    switch (command->kind) {
    case SVMX_COMMAND_DISPATCH: return dispatch_fault(device, &command->as.dispatch);
    case SVMX_COMMAND_COPY_IN:
    case SVMX_COMMAND_COPY_OUT: return copy_fault(device, &command->as.copy);
    case SVMX_COMMAND_FILL: return fill_fault(device, &command->as.fill);
    case SVMX_COMMAND_BARRIER: return NULL;
    default: return "a command of a kind that is not known";
    }
}

static enum svmx_status check(const struct ocl_device *device, const struct svmx_submission *submission) {
    const struct ocl_backend *backend = device->backend;
    if (submission->engine != 0) return ocl_refuse(backend, SVMX_ERR_UNKNOWN, "submit: there is only engine 0");
    if (!submission->list) return ocl_refuse(backend, SVMX_ERR_UNSUPPORTED, "submit: recorded lists are not offered");
    for (size_t i = 0; i < submission->list->count; i++) {
        const char *fault = command_fault(device, command_at(submission->list, i));
        if (fault) return ocl_refuse(backend, SVMX_ERR_ARGUMENT, "submit: command %zu: %s", i, fault);
        if (has_too_many_items(command_at(submission->list, i))) /* MEMORY: the core cuts what does not fit */
            return ocl_refuse(backend, SVMX_ERR_MEMORY, "submit: command %zu: more work-items than 32 bits count", i);
    }
    return SVMX_OK;
}

/* ---- dispatches ------------------------------------------------------------------------------------------- */

static uint64_t id_of(const struct svmx_memory *memory) { return memory ? memory->id : 0; }

static cl_int set_memory(const struct ocl_device *device, cl_kernel kernel, cl_uint at,
                         const struct svmx_memory *memory, uint64_t offset) {
    if (memory && memory->shared) return ocl_shared_argument(device, kernel, at, (const char *)memory->host + offset);
    return clSetKernelArg(kernel, at, sizeof(cl_mem), memory ? &memory->buffer : NULL);
}

/* Sets what is not what it was. */
static cl_int set_arguments(const struct ocl_device *device, struct ocl_pass *pass,
                            const struct svmx_dispatch *dispatch, uint64_t units) {
    const struct svmx_memory *const memory[4] = {dispatch->inputs.memory, dispatch->outputs.memory,
                                                 dispatch->scratch.memory, dispatch->table.memory};
    const struct ocl_arguments now = {
        .memory = {id_of(memory[0]), id_of(memory[1]), id_of(memory[2]), id_of(memory[3])},
        .scratch_at = dispatch->scratch.offset,
        .table_at = dispatch->table.offset,
        .units = units,
        .tasks = dispatch->task_count,
        .set = true};
    struct ocl_arguments *last = &pass->last;
    const bool all = !last->set;
    cl_int error = CL_SUCCESS;
    last->set = false; /* until all are: a kernel that is half set starts anew */
    for (cl_uint i = 0; i < 4 && error == CL_SUCCESS; i++) {
        const uint64_t at = i == 2 ? now.scratch_at : 0; /* slots count from the start of their memory */
        if (all || now.memory[i] != last->memory[i] || (i == 2 && at != last->scratch_at))
            error = set_memory(device, pass->kernel, i, memory[i], at);
    }
    if (error == CL_SUCCESS && (all || now.table_at != last->table_at))
        error = clSetKernelArg(pass->kernel, 4, sizeof now.table_at, &now.table_at);
    if (error == CL_SUCCESS && (all || now.units != last->units))
        error = clSetKernelArg(pass->kernel, 5, sizeof now.units, &now.units);
    if (error == CL_SUCCESS && (all || now.tasks != last->tasks))
        error = clSetKernelArg(pass->kernel, 6, sizeof now.tasks, &now.tasks);
    if (error == CL_SUCCESS) *last = now;
    return error;
}

/* Bits of a count: the class that its expected time is kept under. */
static unsigned size_class(uint64_t units) { return units ? 64 - (unsigned)__builtin_clzll(units) : 0; }

/* What the whole list is expected to take, and where to note what it took. */
static void expect(struct ocl_slot *slot, struct svmx_pipeline *pipeline, uint64_t units) {
    slot->learn_ns = &pipeline->expected_ns[size_class(units)];
    slot->expected_ns += *slot->learn_ns;
    slot->dispatch_count++;
}

/* What a command of a ticket has to wait for that its queue does not see to: the one before it, in another queue. */
struct order {
    cl_uint count;
    const cl_event *events; /* NULL: nothing */
};

static struct order order_on(const struct ocl_slot *slot, cl_command_queue queue) {
    if (slot->event_count == 0 || slot->last == queue) return (struct order){0, NULL};
    return (struct order){1, &slot->events[slot->event_count - 1].event};
}

static void note(struct ocl_slot *slot, cl_command_queue queue, cl_event event, uint32_t kind) {
    slot->last = queue;
    ocl_slot_push(slot, event, kind);
}

static cl_int enqueue_dispatch(struct ocl_device *device, struct ocl_slot *slot, const struct svmx_dispatch *dispatch) {
    struct svmx_pipeline *pipeline = dispatch->pipeline;
    if (dispatch->task_count == 0) return CL_SUCCESS;
    const uint64_t units = dispatch->first_unit[dispatch->task_count];
    for (uint32_t i = 0; i < pipeline->pass_count; i++) {
        struct ocl_pass *pass = &pipeline->passes[i];
        const size_t items = (size_t)items_of(pass, dispatch);
        const size_t local = pass->shape.local;
        if (items == 0) continue;
        if (!ocl_slot_reserve(device, slot)) return CL_OUT_OF_HOST_MEMORY;
        const struct order after = order_on(slot, device->queue);
        cl_event event;
        cl_int error = set_arguments(device, pass, dispatch, units);
        if (error == CL_SUCCESS)
            error = clEnqueueNDRangeKernel(device->queue, pass->kernel, 1, NULL, &items, &local, after.count,
                                           after.events, &event);
        if (error != CL_SUCCESS) return error;
        note(slot, device->queue, event, SVMX_COMMAND_DISPATCH);
    }
    expect(slot, pipeline, units);
    return CL_SUCCESS;
}

/* ---- copies ----------------------------------------------------------------------------------------------- */

static cl_int enqueue_copy(const struct ocl_device *device, cl_command_queue queue, struct order after,
                           const struct svmx_copy *copy, cl_event *event) {
    const struct svmx_memory *from = copy->source.memory, *to = copy->target.memory;
    const size_t bytes = (size_t)copy->source.bytes;
    const size_t from_at = (size_t)copy->source.offset, to_at = (size_t)copy->target.offset;
    if (from->shared && to->shared)
        return ocl_shared_copy(device, (char *)to->host + to_at, (const char *)from->host + from_at, bytes, event);
    if (is_host(from)) /* copying between buffers one of which is mapped is not defined: by address it is */
        return clEnqueueWriteBuffer(queue, to->buffer, CL_FALSE, to_at, bytes, (const char *)from->host + from_at,
                                    after.count, after.events, event);
    if (is_host(to))
        return clEnqueueReadBuffer(queue, from->buffer, CL_FALSE, from_at, bytes, (char *)to->host + to_at, after.count,
                                   after.events, event);
    return clEnqueueCopyBuffer(queue, from->buffer, to->buffer, from_at, to_at, bytes, after.count, after.events,
                               event);
}

static cl_int enqueue_fill(const struct ocl_device *device, cl_command_queue queue, struct order after,
                           const struct svmx_fill *fill, cl_event *event) {
    const struct svmx_memory *to = fill->target.memory;
    const size_t at = (size_t)fill->target.offset, bytes = (size_t)fill->target.bytes;
    if (to->shared) return ocl_shared_fill(device, (char *)to->host + at, fill->value, bytes, event);
    return clEnqueueFillBuffer(queue, to->buffer, &fill->value, 1, at, bytes, after.count, after.events, event);
}

static bool is_empty(const struct svmx_command *command) {
    if (command->kind == SVMX_COMMAND_BARRIER) return true; /* a ticket is in order */
    if (command->kind == SVMX_COMMAND_FILL) return command->as.fill.target.bytes == 0;
    return command->as.copy.source.bytes == 0;
}

/* Of a copy or a fill. */
static cl_command_queue queue_of(const struct ocl_device *device, const struct ocl_slot *slot, uint32_t kind) {
    if (!slot->spreads) return device->queue;
    return kind == SVMX_COMMAND_COPY_OUT ? device->readback : device->upload;
}

static cl_int enqueue(struct ocl_device *device, struct ocl_slot *slot, const struct svmx_command *command) {
    if (command->kind == SVMX_COMMAND_DISPATCH) return enqueue_dispatch(device, slot, &command->as.dispatch);
    if (is_empty(command)) return CL_SUCCESS;
    if (!ocl_slot_reserve(device, slot)) return CL_OUT_OF_HOST_MEMORY;
    const cl_command_queue queue = queue_of(device, slot, command->kind);
    const struct order after = order_on(slot, queue);
    cl_event event;
    const cl_int error = command->kind == SVMX_COMMAND_FILL
                             ? enqueue_fill(device, queue, after, &command->as.fill, &event)
                             : enqueue_copy(device, queue, after, &command->as.copy, &event);
    if (error == CL_SUCCESS) note(slot, queue, event, command->kind);
    return error;
}

/* ---- other tickets ----------------------------------------------------------------------------------------- */

/* In a thread of the other driver's. An error of theirs becomes one of ours. */
static void CL_CALLBACK pass_on(cl_event theirs, cl_int state, void *ours) {
    (void)theirs;
    (void)clSetUserEventStatus(ours, state < CL_COMPLETE ? state : CL_COMPLETE);
    clReleaseEvent(ours);
}

/* Keeps the queue waiting for an event of another device: contexts do not share events, so one of ours stands for it. */
static cl_int enqueue_after(struct ocl_device *device, struct ocl_slot *slot, cl_event theirs) {
    cl_int error;
    if (!ocl_slot_reserve(device, slot)) return CL_OUT_OF_HOST_MEMORY;
    cl_event ours = clCreateUserEvent(device->context, &error), barrier;
    if (!ours) return error;
    error = clEnqueueBarrierWithWaitList(device->upload, 1, &ours, &barrier);
    if (error == CL_SUCCESS) {
        note(slot, device->upload, barrier, SVMX_COMMAND_BARRIER);
        (void)clRetainEvent(ours); /* the call back's */
        error = clSetEventCallback(theirs, CL_COMPLETE, pass_on, ours);
        if (error != CL_SUCCESS) {
            (void)clSetUserEventStatus(ours, error); /* nobody else will: the queue would stand still */
            clReleaseEvent(ours);
        }
    }
    clReleaseEvent(ours);
    return error;
}

/* The same for a ticket of this device, where it is not in the same queue. */
static cl_int enqueue_behind(struct ocl_device *device, struct ocl_slot *slot, cl_event ours) {
    cl_event barrier;
    if (device->upload == device->queue) return CL_SUCCESS;
    if (!ocl_slot_reserve(device, slot)) return CL_OUT_OF_HOST_MEMORY;
    const cl_int error = clEnqueueBarrierWithWaitList(device->upload, 1, &ours, &barrier);
    if (error == CL_SUCCESS) note(slot, device->upload, barrier, SVMX_COMMAND_BARRIER);
    return error;
}

static cl_int enqueue_order(struct ocl_device *device, struct ocl_slot *slot,
                            const struct svmx_submission *submission) {
    cl_int error = CL_SUCCESS;
    for (size_t i = 0; i < submission->after_count && error == CL_SUCCESS; i++) {
        const struct ocl_device *other;
        cl_event event = ocl_ticket_event(device->backend, submission->after[i], &other);
        if (!event) continue;
        error = other == device ? enqueue_behind(device, slot, event) : enqueue_after(device, slot, event);
        clReleaseEvent(event);
    }
    return error;
}

/* ---- submit ----------------------------------------------------------------------------------------------- */

/* In the order in which they wait for each other. */
static cl_int flush_all(const struct ocl_device *device) {
    cl_int error = CL_SUCCESS;
    if (device->upload != device->queue) error = clFlush(device->upload);
    if (error == CL_SUCCESS) error = clFlush(device->queue);
    return error == CL_SUCCESS && device->readback != device->queue ? clFlush(device->readback) : error;
}

void ocl_finish(const struct ocl_device *device) {
    if (device->upload != device->queue) (void)clFinish(device->upload);
    (void)clFinish(device->queue);
    if (device->readback != device->queue) (void)clFinish(device->readback);
}

static cl_int enqueue_all(struct ocl_device *device, struct ocl_slot *slot, const struct svmx_submission *submission) {
    const struct svmx_command_list *list = submission->list;
    cl_int error = enqueue_order(device, slot, submission);
    for (size_t i = 0; i < list->count && error == CL_SUCCESS; i++) error = enqueue(device, slot, command_at(list, i));
    if (error == CL_SUCCESS) ocl_slot_order_bell(device, slot);
    return error == CL_SUCCESS ? flush_all(device) : error;
}

enum svmx_status ocl_submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    struct ocl_backend *backend = self;
    enum svmx_status status;
    struct ocl_device *device = ocl_device_ready(backend, submission->device, &status);
    if (!device) return status;
    status = check(device, submission);
    if (status != SVMX_OK) return status;
    struct ocl_slot *slot = ocl_slot_take(device);
    if (!slot) return ocl_refuse(backend, SVMX_BUSY, "submit: %d tickets are open", OCL_SLOTS);
    slot->expected_ns = slot->dispatch_count = 0;
    slot->rings = false;
    slot->spreads = ocl_slots_are_open(device);
    slot->learn_ns = NULL;
    slot->submitted_ns = kernels_now_ns();
    const cl_int error = enqueue_all(device, slot, submission);
    if (error == CL_SUCCESS) {
        *ticket = ocl_slot_open(device, slot);
        return SVMX_OK;
    }
    ocl_finish(device); /* what was begun must end before the caller hears that nothing was */
    ocl_slot_clear(device, slot);
    return ocl_fail(backend, error, "%s: submit", device->info.name);
}
