/*
 * ticket.c: submissions under way: waiting for them, whether they went well, and the time that they took.
 *
 * A ticket holds the events of all its commands. The driver's own wait has no deadline, so no ticket is waited for with it;
 * only a submission that broke off half-way is (clFinish, queue.c), or one that failed, since nothing tells when its commands
 * end. Instead:
 *
 *   on devices that share the host's cores   the driver rings a bell (a futex) when the last command is over: polling
 *                                            would take a core from the very work that is waited for; where the last run
 *                                            of that size was so short that being woken would cost more than the work,
 *                                            the event is asked, and the core given away after each question
 *   on others                                the last event is asked, at first without a break, then in growing pauses;
 *                                            where the time of the last run of that size is known, asleep until
 *                                            shortly before it
 *
 * A bell that never rings costs a pause, not an answer: the event is asked in any case.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opencl.h"

#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    BELL_NS = 20000000,  /* without a ring */
    QUIET_NS = 200000000 /* for rings that are still owed at the end */
};

static struct timespec time_of(uint64_t ns) {
    return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

/* ---- the bell --------------------------------------------------------------------------------------------- */

static void CL_CALLBACK ring(cl_event event, cl_int state, void *user) {
    struct ocl_bell *bell = user;
    (void)event;
    (void)state;
    atomic_fetch_add_explicit(&bell->rung, 1, memory_order_release); /* with the load in bell_wait */
    (void)syscall(SYS_futex, &bell->rung, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    atomic_fetch_sub_explicit(&bell->awaited, 1, memory_order_release); /* the last touch: with ocl_slots_free */
}

void ocl_bell_ask(struct ocl_device *device, cl_event event) {
    if (!device->has_bell) return;
    atomic_fetch_add_explicit(&device->bell.awaited, 1, memory_order_relaxed);
    if (clSetEventCallback(event, CL_COMPLETE, ring, &device->bell) != CL_SUCCESS)
        atomic_fetch_sub_explicit(&device->bell.awaited, 1, memory_order_relaxed);
}

/* Until it has rung since `seen`, or the time is up. */
static void bell_wait(struct ocl_bell *bell, uint32_t seen, uint64_t ns) {
    const struct timespec time = time_of(ns < BELL_NS ? ns : BELL_NS);
    (void)syscall(SYS_futex, &bell->rung, FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0);
}

/* ---- slots ------------------------------------------------------------------------------------------------ */

/* A ticket: [device + 1 : 16][serial : 48]. */
enum { DEVICE_SHIFT = 48 };

static struct ocl_slot *slot_of(struct ocl_device *device, uint64_t ticket) {
    for (size_t i = 0; i < OCL_SLOTS; i++)
        if (device->slots[i].ticket == ticket) return &device->slots[i];
    return NULL;
}

struct ocl_slot *ocl_slot_take(struct ocl_device *device) {
    return slot_of(device, 0);
}

bool ocl_slots_are_open(const struct ocl_device *device) {
    for (size_t i = 0; i < OCL_SLOTS; i++)
        if (device->slots[i].ticket) return true;
    return false;
}

bool ocl_slot_reserve(const struct ocl_device *device, struct ocl_slot *slot) {
    if (slot->event_count < slot->event_capacity) return true;
    const struct svmx_host *host = device->backend->host;
    const size_t capacity = slot->event_capacity ? 2 * slot->event_capacity : 8;
    struct ocl_event *events = host->alloc(host, capacity * sizeof *events, _Alignof(struct ocl_event));
    if (!events) return false;
    if (slot->event_count) memcpy(events, slot->events, slot->event_count * sizeof *events);
    host->release(host, slot->events);
    slot->events = events;
    slot->event_capacity = capacity;
    return true;
}

void ocl_slot_push(struct ocl_slot *slot, cl_event event, uint32_t kind) {
    slot->events[slot->event_count++] = (struct ocl_event){event, kind};
}

void ocl_slot_clear(struct ocl_device *device, struct ocl_slot *slot) {
    pthread_mutex_lock(&device->lock);
    slot->ticket = 0;
    const size_t count = slot->event_count;
    slot->event_count = 0;
    pthread_mutex_unlock(&device->lock);
    for (size_t i = 0; i < count; i++) clReleaseEvent(slot->events[i].event);
}

uint64_t ocl_slot_open(struct ocl_device *device, struct ocl_slot *slot) {
    const uint64_t index = (uint64_t)(device - device->backend->devices);
    const uint64_t ticket = (index + 1) << DEVICE_SHIFT | device->next_ticket++;
    pthread_mutex_lock(&device->lock);
    slot->ticket = ticket;
    pthread_mutex_unlock(&device->lock);
    return ticket;
}

cl_event ocl_ticket_event(struct ocl_backend *backend, uint64_t ticket, const struct ocl_device **of) {
    const uint64_t index = (ticket >> DEVICE_SHIFT) - 1;
    if (ticket == 0 || index >= backend->device_count) return NULL;
    struct ocl_device *device = &backend->devices[index];
    cl_event event = NULL;
    pthread_mutex_lock(&device->lock);
    const struct ocl_slot *slot = slot_of(device, ticket);
    if (slot && slot->event_count) event = slot->events[slot->event_count - 1].event;
    if (event) (void)clRetainEvent(event);
    pthread_mutex_unlock(&device->lock);
    *of = device;
    return event;
}

bool ocl_slots_free(struct ocl_device *device) {
    const struct svmx_host *host = device->backend->host;
    const uint64_t end = kernels_now_ns() + QUIET_NS;
    while (atomic_load_explicit(&device->bell.awaited, memory_order_acquire) && kernels_now_ns() < end)
        kernels_sleep_ns(KERNELS_PAUSE_MIN_NS);
    const bool quiet = atomic_load_explicit(&device->bell.awaited, memory_order_acquire) == 0;
    for (size_t i = 0; i < OCL_SLOTS; i++) {
        ocl_slot_clear(device, &device->slots[i]);
        host->release(host, device->slots[i].events);
    }
    return quiet;
}

/* ---- waiting ---------------------------------------------------------------------------------------------- */

/* CL_COMPLETE (0), more while it runs, less if it failed. */
static cl_int state_of(cl_event event) {
    cl_int state = CL_QUEUED;
    const cl_int error = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return error == CL_SUCCESS ? state : error;
}

/* Whether being woken would cost more than the work. */
static bool is_brief(uint64_t expected_ns) { return expected_ns && expected_ns < KERNELS_ASLEEP_FROM_NS; }

void ocl_slot_order_bell(struct ocl_device *device, struct ocl_slot *slot) {
    if (slot->event_count == 0 || slot->rings || is_brief(slot->expected_ns)) return;
    ocl_bell_ask(device, slot->events[slot->event_count - 1].event);
    slot->rings = true;
}

/* What is waited for. */
struct wait {
    cl_event event;
    uint64_t since_ns, expected_ns;
    bool rings; /* the bell was asked for it */
};

/* One turn on a device that has a bell: looks away for a moment, asks for the bell, or waits for it. */
static void await_bell(struct ocl_device *device, struct wait *wait, uint64_t now, uint32_t seen, uint64_t left) {
    if (is_brief(wait->expected_ns) && now - wait->since_ns < wait->expected_ns + KERNELS_SPIN_NS) {
        (void)sched_yield();
    } else if (wait->rings) {
        bell_wait(&device->bell, seen, left);
    } else { /* the event is asked once more before it is waited for: it may have ended without a ring */
        ocl_bell_ask(device, wait->event);
        wait->rings = true;
    }
}

/* Returns by the end of the time: true if the event is over. */
static bool wait_for(struct ocl_device *device, struct wait *wait, uint64_t timeout_ns) {
    const uint64_t start = kernels_now_ns();
    for (uint64_t now = start;; now = kernels_now_ns()) {
        const uint32_t seen = atomic_load_explicit(&device->bell.rung, memory_order_acquire);
        if (state_of(wait->event) <= CL_COMPLETE) return true; /* after `seen`: a ring in between ends the wait below */
        if (now - start >= timeout_ns) return false;
        const uint64_t left = timeout_ns - (now - start);
        if (device->has_bell) {
            await_bell(device, wait, now, seen, left);
            continue;
        }
        const uint64_t pause = kernels_next_pause(now - wait->since_ns, wait->expected_ns);
        if (pause) kernels_sleep_ns(pause < left ? pause : left);
    }
}

static bool wait_for_slot(struct ocl_device *device, struct ocl_slot *slot, uint64_t timeout_ns) {
    struct wait wait = {slot->events[slot->event_count - 1].event, slot->submitted_ns, slot->expected_ns, slot->rings};
    const bool over = wait_for(device, &wait, timeout_ns);
    slot->rings = wait.rings;
    return over;
}

bool ocl_event_wait(struct ocl_device *device, cl_event event, uint64_t timeout_ns) {
    struct wait wait = {.event = event, .since_ns = kernels_now_ns(), .rings = true};
    return wait_for(device, &wait, timeout_ns);
}

/* ---- what came of it --------------------------------------------------------------------------------------- */

static uint64_t duration_ns(cl_event event) {
    cl_ulong start = 0, end = 0;
    if (clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) != CL_SUCCESS ||
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != CL_SUCCESS)
        return 0;
    return end > start ? end - start : 0;
}

static void take_timing(const struct ocl_slot *slot, struct svmx_timing *timing) {
    struct svmx_timing mine = {.size = timing->size};
    for (size_t i = 0; i < slot->event_count; i++) {
        switch (slot->events[i].kind) {
        case SVMX_COMMAND_BARRIER: break;
        case SVMX_COMMAND_DISPATCH: mine.compute_ns += duration_ns(slot->events[i].event); break;
        case SVMX_COMMAND_COPY_OUT: mine.copy_out_ns += duration_ns(slot->events[i].event); break;
        default: mine.copy_in_ns += duration_ns(slot->events[i].event); break;
        }
    }
    memcpy(timing, &mine, timing->size < sizeof mine ? timing->size : sizeof mine);
}

/* What became of the commands. */
struct outcome {
    cl_int failure; /* of the first that failed, or cannot be asked; CL_COMPLETE: none */
    bool over;      /* the last one is, and so are those before it, which it follows */
    bool all_over;  /* each of them says so: after a failure nothing else tells */
};

static struct outcome outcome_of(const struct ocl_slot *slot) {
    struct outcome outcome = {.failure = CL_COMPLETE, .over = true, .all_over = true};
    for (size_t i = 0; i < slot->event_count; i++) {
        cl_int state = CL_QUEUED;
        const cl_int error =
            clGetEventInfo(slot->events[i].event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
        const cl_int failure = error != CL_SUCCESS ? error : state;
        if (failure < CL_COMPLETE && outcome.failure == CL_COMPLETE) outcome.failure = failure;
        outcome.over = error == CL_SUCCESS && state <= CL_COMPLETE;
        outcome.all_over = outcome.all_over && outcome.over;
    }
    return outcome;
}

enum svmx_status ocl_wait(void *self, uint32_t index, uint64_t ticket, uint64_t timeout_ns,
                          struct svmx_timing *timing) {
    struct ocl_backend *backend = self;
    struct ocl_device *device = index < backend->device_count ? &backend->devices[index] : NULL;
    struct ocl_slot *slot = device && ticket ? slot_of(device, ticket) : NULL;
    if (!slot) return ocl_refuse(backend, SVMX_ERR_UNKNOWN, "wait: no such ticket");
    if (slot->event_count && !wait_for_slot(device, slot, timeout_ns)) return SVMX_TIMEOUT;
    const struct outcome outcome = outcome_of(slot);
    if (outcome.failure == CL_COMPLETE) {
        if (!outcome.over) return SVMX_TIMEOUT; /* it was the question that failed: once more */
        take_timing(slot, timing);
        if (slot->learn_ns && slot->dispatch_count == 1) *slot->learn_ns = kernels_now_ns() - slot->submitted_ns;
    } else if (!outcome.all_over) {
        ocl_finish(device); /* what is still under way must end before its memory is the core's again */
    }
    ocl_slot_clear(device, slot);
    if (outcome.failure == CL_COMPLETE) return SVMX_OK;
    return ocl_fail(backend, outcome.failure, "%s: a command failed", device->info.name);
}
