/*
 * host_submit.c: launches of the plugin that svmx-host runs: commands with pointers again, and copies between its
 * memory and that of the proxy.
 *
 *   shadow  --before submit-->  the plugin's memory     every span that a command may read, or leave as it was
 *   shadow  <--after wait-----  the plugin's memory     every span that a command may write, if all went well
 *
 * The proxy's side writes a shadow before it submits and reads it after it waited, never between. Memory that the
 * plugin imported is its own shadow: nothing is copied.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "isolate/host.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

/* A part of memory that the host may touch. */
struct touch {
    struct hosted_memory *memory;
    uint64_t offset, bytes;
};

struct touches {
    struct touch *all;
    size_t count, capacity;
};

/* One submission: kept while it has a ticket. */
struct launch {
    struct launch *next;
    uint64_t ticket;
    struct svmx__wire request; /* arrays of the dispatches lie in it */
    struct touches written;
};

/* While a submission is read. */
struct reading {
    struct svmx__wire *request;
    struct launch *launch;
    struct touches copied; /* from their shadows: a stretch names all of its memory in each of its launches */
    bool failed;           /* a span outside of its memory, or no memory */
};

static void launch_free(struct launch *launch) {
    svmx__wire_free(&launch->request);
    free(launch->written.all);
    free(launch);
}

/* ---- spans ------------------------------------------------------------------------------------------------------ */

static bool is_inside(const struct hosted_memory *memory, uint64_t offset, uint64_t bytes) {
    return offset <= memory->bytes && bytes <= memory->bytes - offset;
}

static struct hosted_memory *get_memory(struct svmx__wire *request) {
    return (struct hosted_memory *)(uintptr_t)svmx__wire_get(request);
}

/* BOUND: a kernel has it as its output, and may leave some of it as it was. */
enum use { READ, WRITTEN, BOUND, PRIVATE };

static bool covers(const struct touch *whole, const struct touch *part) {
    return whole->memory == part->memory && part->offset >= whole->offset &&
           part->offset - whole->offset <= whole->bytes && part->bytes <= whole->bytes - (part->offset - whole->offset);
}

/* false: it is among them already, or there is no memory. */
static bool note(struct reading *reading, struct touches *touches, const struct touch *touch) {
    for (size_t i = touches->count; i-- > 0;)
        if (covers(&touches->all[i], touch)) return false;
    void *array = touches->all;
    if (!svmx__grow(&array, &touches->capacity, touches->count + 1, sizeof *touches->all)) {
        reading->failed = true;
        return false;
    }
    touches->all = array;
    touches->all[touches->count++] = *touch;
    return true;
}

static struct svmx_span get_span(struct reading *reading, enum use use) {
    struct hosted_memory *memory = get_memory(reading->request);
    const uint64_t offset = svmx__wire_get(reading->request), bytes = svmx__wire_get(reading->request);
    const struct touch touch = {memory, offset, bytes};
    if (!memory) return (struct svmx_span){NULL, offset, bytes};
    if (!is_inside(memory, offset, bytes)) {
        reading->failed = true;
    } else if (memory->shadow && memory->shadow != memory->host && bytes) {
        if ((use == READ || use == BOUND) && note(reading, &reading->copied, &touch))
            memcpy(memory->host + offset, memory->shadow + offset, (size_t)bytes);
        if (use == WRITTEN || use == BOUND) (void)note(reading, &reading->launch->written, &touch);
    }
    return (struct svmx_span){memory->memory, offset, bytes};
}

/* An array of `bytes`, in memory of both sides or in the message. */
static const void *get_array(struct reading *reading, uint64_t bytes) {
    const struct hosted_memory *memory = get_memory(reading->request);
    if (memory) {
        const uint64_t offset = svmx__wire_get(reading->request);
        if (memory->shadow && is_inside(memory, offset, bytes)) return memory->shadow + offset;
    } else {
        size_t length;
        const void *array = svmx__wire_get_bytes(reading->request, &length);
        if (length == bytes) return array;
    }
    reading->failed = true;
    return NULL;
}

/* ---- commands --------------------------------------------------------------------------------------------------- */

static struct svmx_dispatch get_dispatch(struct reading *reading) {
    struct svmx__wire *request = reading->request;
    struct svmx_dispatch dispatch = {.pipeline = (struct svmx_pipeline *)(uintptr_t)svmx__wire_get(request)};
    dispatch.task_count = (uint32_t)svmx__wire_get(request);
    dispatch.slot_count = (uint32_t)svmx__wire_get(request);
    dispatch.work = svmx__wire_get(request);
    dispatch.arrays = (uint32_t)svmx__wire_get(request);
    dispatch.passing = (uint32_t)svmx__wire_get(request);
    dispatch.inputs = get_span(reading, READ);
    dispatch.outputs = get_span(reading, BOUND);
    dispatch.table = get_span(reading, READ);
    dispatch.scratch = get_span(reading, PRIVATE);
    const uint64_t tasks = dispatch.task_count;
    dispatch.slots = get_array(reading, tasks * dispatch.slot_count * sizeof *dispatch.slots);
    dispatch.first_unit = get_array(reading, (tasks + 1) * sizeof *dispatch.first_unit);
    return dispatch;
}

static struct svmx_command get_command(struct reading *reading) {
    struct svmx_command command = {.kind = (uint32_t)svmx__wire_get(reading->request)};
    switch (command.kind) {
    case SVMX_COMMAND_DISPATCH: command.as.dispatch = get_dispatch(reading); break;
    case SVMX_COMMAND_COPY_IN:
    case SVMX_COMMAND_COPY_OUT:
        command.as.copy.source = get_span(reading, READ);
        command.as.copy.target = get_span(reading, WRITTEN);
        break;
    case SVMX_COMMAND_FILL:
        command.as.fill.target = get_span(reading, WRITTEN);
        command.as.fill.value = (uint8_t)svmx__wire_get(reading->request);
        break;
    default: break; /* a barrier; no other is sent */
    }
    return command;
}

/* ---- submit ----------------------------------------------------------------------------------------------------- */

/* What a launch wrote becomes visible to the other side. */
static void publish(const struct launch *launch) {
    for (size_t i = 0; i < launch->written.count; i++) {
        const struct touch *touch = &launch->written.all[i];
        memcpy(touch->memory->shadow + touch->offset, touch->memory->host + touch->offset, (size_t)touch->bytes);
    }
}

static void keep(struct hosted *hosted, struct launch *launch, struct svmx__wire *request) {
    launch->request = *request;
    *request = (struct svmx__wire){.file = -1};
    pthread_mutex_lock(&hosted->lock);
    launch->next = hosted->launches;
    hosted->launches = launch;
    pthread_mutex_unlock(&hosted->lock);
}

static enum svmx_status hand_over(struct hosted *hosted, struct reading *reading, struct svmx_submission *submission,
                                  struct svmx_command *commands, uint64_t *ticket) {
    const struct svmx_backend *instance = &hosted->backend.instance;
    const size_t count = (size_t)svmx__wire_get(reading->request);
    for (size_t i = 0; i < count; i++) commands[i] = get_command(reading);
    if (reading->failed || reading->request->broken)
        return svmx__host_fail(hosted, SVMX_ERR_ARGUMENT, "submit: a list that is not as agreed, or no memory for it");
    const struct svmx_command_list list = {
        .size = sizeof list, .command_size = sizeof *commands, .commands = commands, .count = count};
    submission->list = &list;
    return instance->ops->submit(instance->self, submission, ticket);
}

/* A launch with the ticket that it got, kept or done. */
static enum svmx_status submit_launch(struct hosted *hosted, struct svmx__wire *request, struct launch *launch) {
    struct reading reading = {.request = request, .launch = launch};
    struct svmx_submission submission = {.size = sizeof submission};
    size_t after_bytes;
    submission.device = (uint32_t)svmx__wire_get(request);
    submission.engine = (uint32_t)svmx__wire_get(request);
    submission.after = svmx__wire_get_bytes(request, &after_bytes);
    submission.after_count = after_bytes / sizeof *submission.after;
    const size_t count = request->at < request->count ? (size_t)request->words[request->at] : 0;
    /* a command takes a word at least */
    struct svmx_command *commands = count <= request->count ? calloc(count + 1, sizeof *commands) : NULL;
    if (!commands) return svmx__host_fail(hosted, SVMX_ERR_MEMORY, "submit: no memory for a list");
    const enum svmx_status status = hand_over(hosted, &reading, &submission, commands, &launch->ticket);
    free(reading.copied.all);
    free(commands);
    return status;
}

enum svmx_status svmx__host_submit(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer) {
    struct launch *launch = calloc(1, sizeof *launch);
    if (!launch) return svmx__host_fail(hosted, SVMX_ERR_MEMORY, "submit: no memory");
    launch->request.file = -1;
    const enum svmx_status status = submit_launch(hosted, request, launch);
    if (status == SVMX_OK) svmx__wire_put(answer, launch->ticket);
    if (status == SVMX_OK && launch->ticket == 0) publish(launch);
    if (status == SVMX_OK && launch->ticket != 0)
        keep(hosted, launch, request);
    else
        launch_free(launch);
    return status;
}

/* ---- wait ------------------------------------------------------------------------------------------------------- */

/* Takes a launch out of the list; NULL: no such ticket. */
static struct launch *take(struct hosted *hosted, uint64_t ticket) {
    pthread_mutex_lock(&hosted->lock);
    struct launch **at = &hosted->launches;
    while (*at && (*at)->ticket != ticket) at = &(*at)->next;
    struct launch *launch = *at;
    if (launch) *at = launch->next;
    pthread_mutex_unlock(&hosted->lock);
    return launch;
}

enum svmx_status svmx__host_wait(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer) {
    const struct svmx_backend *instance = &hosted->backend.instance;
    const uint32_t device = (uint32_t)svmx__wire_get(request);
    const uint64_t ticket = svmx__wire_get(request), timeout_ns = svmx__wire_get(request);
    struct svmx_timing timing = {.size = sizeof timing};
    const enum svmx_status status = instance->ops->wait(instance->self, device, ticket, timeout_ns, &timing);
    struct launch *launch = status == SVMX_TIMEOUT ? NULL : take(hosted, ticket);
    if (launch && status == SVMX_OK) publish(launch);
    if (launch) launch_free(launch);
    svmx__wire_put(answer, timing.copy_in_ns);
    svmx__wire_put(answer, timing.compute_ns);
    svmx__wire_put(answer, timing.copy_out_ns);
    return status;
}
