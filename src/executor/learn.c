/*
 * learn.c: stage 7: fold what was measured into the counters of the device and into the model that route reads.
 *
 * A launch is cut into what the model keeps apart: setup, transfer, compute. The device's own clock tells the last two,
 * where it can be believed: some say nothing, some 1 ns whatever they did, some more than passed. Then host time counts,
 * and the device is named in the counters.
 *
 * Called by pipeline.c once a part is over. Lock-free: any number of threads learn at once. Short launches in the caller's
 * thread are learned from now and then only: their time is known well, and learning would add to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "executor/executor.h"
#include "executor/stages.h"

/* Launches that take less are learned from once in SELDOM times, when they are on the CPU and their cost is known. */
enum { SHORT_NS = 20000, SELDOM = 4 };

/* A device that says less than a hundredth of what passed, for something that took a while, says nothing. Nor does one that
 * computed for less than any launch takes to begin: some drivers say 1 ns always, and most launches are short. */
enum { NEXT_TO_NOTHING = 100, A_WHILE_NS = 100000, LEAST_NS = 16 };

uint64_t svmx__device_time(const struct svmx_timing *timing, uint64_t run_ns) {
    const uint64_t parts[] = {timing->copy_in_ns, timing->compute_ns, timing->copy_out_ns};
    uint64_t sum = 0;
    for (int i = 0; i < 3; i++) {
        if (parts[i] > run_ns) return 0; /* negative times are large ones */
        sum += parts[i];
    }
    const bool nothing = timing->compute_ns < LEAST_NS || (run_ns > A_WHILE_NS && sum < run_ns / NEXT_TO_NOTHING);
    return nothing || sum > run_ns ? 0 : sum;
}

uint64_t svmx__device_clock(struct svmx__device *device, const struct svmx_timing *timing, uint64_t run_ns) {
    const uint64_t sum = svmx__device_time(timing, run_ns);
    /* relaxed: a word on its own; the last launch counts */
    atomic_store_explicit(&device->clock, sum ? SVMX_CLOCK_USED : SVMX_CLOCK_REFUSED, memory_order_relaxed);
    return sum;
}

/* What the device's clock says of a launch that took run_ns; 0: nothing to be believed. */
static uint64_t device_ns(const struct svmx__part *part, uint64_t run_ns) {
    if (part->device->host_memory || part->launches != 1 + part->cuts || part->status != SVMX_OK) return 0;
    if (part->joined) return 0; /* the first of its stretch has the times of all */
    return svmx__device_clock(part->device, &part->timing, run_ns);
}

static uint64_t bit_of(const struct svmx__part *part) {
    return UINT64_C(1) << svmx__cell_lanes(svmx__cell_of(part->units, part->work));
}

bool svmx__was_launched(const struct svmx__part *part) {
    return atomic_load_explicit(&part->device->launched[part->op->id], memory_order_relaxed) & bit_of(part);
}

/* The first launch of an operation of about that size on a device: where that has memory of its own it fills pools. */
static bool is_first(const struct svmx__part *part) {
    const uint64_t bit = bit_of(part);
    _Atomic uint64_t *launched = &part->device->launched[part->op->id];
    if (atomic_load_explicit(launched, memory_order_relaxed) & bit) return false;
    return !(atomic_fetch_or_explicit(launched, bit, memory_order_relaxed) & bit);
}

uint64_t svmx__own_ns(const struct svmx__part *part) {
    const uint64_t run_ns = svmx__clock_since(part->done_ns, part->dispatch_ns);
    const uint64_t waited_ns = svmx__clock_since(part->ahead_ns, part->dispatch_ns);
    return run_ns > waited_ns ? run_ns - waited_ns : 0;
}

static struct svmx__sample sample_of(struct svmx__part *part, uint64_t run_ns) {
    const uint64_t own = svmx__own_ns(part);
    const uint64_t by_device = device_ns(part, run_ns), copied = part->timing.copy_in_ns + part->timing.copy_out_ns;
    const uint64_t host = svmx__clock_since(part->dispatch_ns, part->start_ns) +
                          svmx__clock_since(part->end_ns, part->done_ns + part->compare_ns);
    part->device_ns = by_device;
    struct svmx__sample sample = {.compute_ns = own, .transfer_ns = host};
    if (by_device) /* copies that ran beside the launch ahead took none of its own time */
        sample = (struct svmx__sample){.setup_ns = own > by_device ? own - by_device : 0,
                                       .transfer_ns = host + copied,
                                       .compute_ns = part->timing.compute_ns};
    sample.contended = atomic_load_explicit(&part->device->executor->contention.now, memory_order_relaxed);
    return sample;
}

/* Whether a launch that went as it was chosen is learned from. Of one among others only the device's clock can tell. */
static bool is_worth_it(const struct svmx__part *part, uint64_t run_ns) {
    if (part->overlapped && !part->device_ns) return false;
    if (part->answer.why == SVMX__WHY_PROBE || !part->device->host_memory) return true;
    /* with one device nobody chooses, so nothing is expected */
    const bool unknown = part->device->executor->routed == 1 ? is_first(part) : part->answer.expected_ns <= 0;
    if (unknown || run_ns >= SHORT_NS) return true;
    return (part->done_ns >> 3) % SELDOM == 0; /* the clock's low digits are as good as dice */
}

void svmx__learn_whole(struct svmx__part *whole) {
    struct svmx__device *device = whole->device;
    struct svmx_executor *executor = device->executor;
    const uint64_t run_ns = svmx__clock_since(whole->done_ns, whole->dispatch_ns);
    struct svmx__sample sample = sample_of(whole, run_ns);
    const bool learned = device->id < executor->routed && !executor->choices.frozen && whole->launches == 1 &&
                         is_worth_it(whole, run_ns);
    sample.first_use = is_first(whole);
    svmx__health_good(&device->health, whole->compared);
    if (whole->chosen)
        svmx__told(&executor->choices, &whole->question, &whole->answer,
                   sample.setup_ns + sample.transfer_ns + sample.compute_ns, learned ? &sample : NULL);
    else if (learned)
        (void)svmx__model_learn(&executor->model, whole->op->id, device->id, &whole->question.load, &sample);
}

void svmx__learn(struct svmx__part *part) {
    struct svmx__device *device = part->device;
    struct svmx_executor *executor = device->executor;
    const uint64_t run_ns = svmx__clock_since(part->done_ns, part->dispatch_ns); /* it may have failed before */
    struct svmx__sample sample = sample_of(part, run_ns);
    if (part->status == SVMX_OK) {
        svmx__tally_part(part, &sample);
        /* a chain is one launch, and so are parts that were gathered */
        if (!part->joined && !part->gathered) svmx__health_good(&device->health, part->compared);
    }
    const uint64_t took_ns = sample.setup_ns + sample.transfer_ns + sample.compute_ns;
    const bool as_chosen = part->status == SVMX_OK && !part->redone && device->id == part->answer.device &&
                           !part->links && !part->stretched && !part->gathered;
    const bool learned = device->id < executor->routed && as_chosen && part->launches == 1 + part->cuts &&
                         !executor->choices.frozen && is_worth_it(part, run_ns);
    sample.first_use = part->status == SVMX_OK && !device->host_memory && !part->gathered && is_first(part);
    svmx__receipt_write(part, learned, &sample);
    if (executor->config.number[SVMX__DEBUG]) svmx__receipt_say(part);
    if (part->chosen && (part->links || part->stretched || part->gathered)) /* the time is that of all of them */
        svmx__uncharge(&executor->choices, &part->answer, 0);
    else if (part->chosen && !as_chosen)
        svmx__uncharge(&executor->choices, &part->answer, svmx__clock_since(part->end_ns, part->start_ns));
    else if (part->chosen)
        svmx__told(&executor->choices, &part->question, &part->answer, took_ns, learned ? &sample : NULL);
    else if (learned)
        (void)svmx__model_learn(&executor->model, part->op->id, device->id, &part->question.load, &sample);
}
