/*
 * proxy_submit.c: submit and wait of a backend in another process: commands go over with numbers for pointers.
 *
 *   dispatch  [kind][pipeline][tasks][slots of a task][work][arrays][passing] [4 spans] [slots] [first_unit]
 *   copy      [kind] [source] [target]
 *   fill      [kind] [target] [value]
 *   barrier   [kind]
 *
 *   a span    [memory][offset][bytes]
 *   an array  [memory][offset] where it lies in memory that both sides have, or [0][the array itself]
 *
 * The core puts arrays into staging memory, so that nothing of a batch's size goes through the socket. Called by the
 * submitter of a device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "isolate/proxy_state.h"

/* A process that is alive answers a wait when its time is over, or soon after: the machine may be busy. */
static const uint64_t grace_ns = UINT64_C(1000000000);

/* ---- commands --------------------------------------------------------------------------------------------------- */

static const struct svmx_command *command_at(const struct svmx_command_list *list, size_t index) {
    return (const void *)((const char *)list->commands + index * list->command_size);
}

static void put_span(struct svmx__wire *request, const struct svmx_span *span) {
    svmx__wire_put(request, span->memory ? span->memory->there : 0);
    svmx__wire_put(request, span->offset);
    svmx__wire_put(request, span->bytes);
}

static bool lies_in(const void *array, uint64_t bytes, const struct svmx_memory *memory) {
    if (!memory || !memory->shadow) return false;
    const uintptr_t at = (uintptr_t)array, start = (uintptr_t)memory->shadow;
    return at >= start && at - start <= memory->bytes && bytes <= memory->bytes - (at - start);
}

/* The memory of the list that an array lies in; NULL: none. */
static const struct svmx_memory *home_of(const struct svmx_command_list *list, const void *array, uint64_t bytes) {
    for (size_t i = 0; i < list->count; i++) {
        const struct svmx_command *command = command_at(list, i);
        const struct svmx_memory *memory = NULL;
        if (command->kind == SVMX_COMMAND_DISPATCH) memory = command->as.dispatch.table.memory;
        if (command->kind == SVMX_COMMAND_COPY_IN) memory = command->as.copy.source.memory;
        if (lies_in(array, bytes, memory)) return memory;
    }
    return NULL;
}

static void put_array(struct svmx__wire *request, const struct svmx_command_list *list, const void *array,
                      uint64_t bytes) {
    const struct svmx_memory *memory = home_of(list, array, bytes);
    svmx__wire_put(request, memory ? memory->there : 0);
    if (memory)
        svmx__wire_put(request, (uintptr_t)array - (uintptr_t)memory->shadow);
    else
        svmx__wire_put_bytes(request, array, (size_t)bytes);
}

static void put_dispatch(struct svmx__wire *request, const struct svmx_command_list *list,
                         const struct svmx_dispatch *dispatch) {
    const uint64_t tasks = dispatch->task_count;
    svmx__wire_put(request, (uintptr_t)dispatch->pipeline);
    svmx__wire_put(request, tasks);
    svmx__wire_put(request, dispatch->slot_count);
    svmx__wire_put(request, dispatch->work);
    svmx__wire_put(request, dispatch->arrays);
    svmx__wire_put(request, dispatch->passing);
    put_span(request, &dispatch->inputs);
    put_span(request, &dispatch->outputs);
    put_span(request, &dispatch->table);
    put_span(request, &dispatch->scratch);
    put_array(request, list, dispatch->slots, tasks * dispatch->slot_count * sizeof *dispatch->slots);
    put_array(request, list, dispatch->first_unit, (tasks + 1) * sizeof *dispatch->first_unit);
}

/* false: of a kind that is not known here. */
static bool put_command(struct svmx__wire *request, const struct svmx_command_list *list,
                        const struct svmx_command *command) {
    svmx__wire_put(request, command->kind);
    switch (command->kind) {
    case SVMX_COMMAND_DISPATCH: put_dispatch(request, list, &command->as.dispatch); return true;
    case SVMX_COMMAND_COPY_IN:
    case SVMX_COMMAND_COPY_OUT:
        put_span(request, &command->as.copy.source);
        put_span(request, &command->as.copy.target);
        return true;
    case SVMX_COMMAND_FILL:
        put_span(request, &command->as.fill.target);
        svmx__wire_put(request, command->as.fill.value);
        return true;
    case SVMX_COMMAND_BARRIER: return true;
    default: return false;
    }
}

static bool put_submission(struct svmx__wire *request, const struct svmx_submission *submission) {
    const struct svmx_command_list *list = submission->list;
    svmx__wire_put(request, SVMX__CALL_SUBMIT);
    svmx__wire_put(request, submission->device);
    svmx__wire_put(request, submission->engine);
    svmx__wire_put_bytes(request, submission->after, submission->after_count * sizeof *submission->after);
    svmx__wire_put(request, list->count);
    for (size_t i = 0; i < list->count; i++)
        if (!put_command(request, list, command_at(list, i))) return false;
    return true;
}

/* ---- the submitter's lane --------------------------------------------------------------------------------------- */

/* The lane of a device, under its lock, with an empty request; NULL: none to be had. */
static struct svmx__lane *lane_of(struct proxy *proxy, struct seat *seat) {
    if (!seat->lane) seat->lane = svmx__lane_take(&proxy->channel);
    if (seat->lane) svmx__wire_reset(&seat->lane->request);
    return seat->lane;
}

enum svmx_status svmx__proxy_submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    struct proxy *proxy = self;
    if (submission->device >= proxy->device_count)
        return svmx__proxy_fail(proxy, SVMX_ERR_UNKNOWN, "submit: no device %u", (unsigned)submission->device);
    if (!submission->list)
        return svmx__proxy_fail(proxy, SVMX_ERR_UNSUPPORTED, "submit: recorded lists are not offered");
    struct seat *seat = &proxy->seats[submission->device];
    enum svmx_status status;
    pthread_mutex_lock(&seat->lock);
    struct svmx__lane *lane = lane_of(proxy, seat);
    if (lane && !put_submission(&lane->request, submission))
        status = svmx__proxy_fail(proxy, SVMX_ERR_UNSUPPORTED, "submit: a command of a kind that is not known");
    else
        status = svmx__proxy_ask_for(proxy, lane, proxy->limit_ns, ticket, 1);
    pthread_mutex_unlock(&seat->lock);
    return status;
}

enum { TIMES = 3 };

static void set_timing(struct svmx_timing *timing, const uint64_t times[TIMES]) {
    uint64_t *const fields[TIMES] = {&timing->copy_in_ns, &timing->compute_ns, &timing->copy_out_ns};
    for (size_t i = 0; i < TIMES; i++)
        if (timing->size >= sizeof timing->size + (i + 1) * sizeof *times) *fields[i] = times[i];
}

enum svmx_status svmx__proxy_wait(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns,
                                  struct svmx_timing *timing) {
    struct proxy *proxy = self;
    if (device >= proxy->device_count)
        return svmx__proxy_fail(proxy, SVMX_ERR_UNKNOWN, "wait: no device %u", (unsigned)device);
    struct seat *seat = &proxy->seats[device];
    pthread_mutex_lock(&seat->lock);
    struct svmx__lane *lane = lane_of(proxy, seat);
    if (lane) {
        svmx__wire_put(&lane->request, SVMX__CALL_WAIT);
        svmx__wire_put(&lane->request, device);
        svmx__wire_put(&lane->request, ticket);
        svmx__wire_put(&lane->request, timeout_ns);
    }
    uint64_t times[TIMES] = {0};
    const uint64_t limit_ns = timeout_ns < UINT64_MAX - grace_ns ? timeout_ns + grace_ns : UINT64_MAX;
    const enum svmx_status status = svmx__proxy_ask_for(proxy, lane, limit_ns, times, TIMES);
    if (status == SVMX_OK) set_timing(timing, times);
    pthread_mutex_unlock(&seat->lock);
    return status;
}
