/*
 * trial.c: which variant of a kernel is the fastest on a device: a short race of those that were proved.
 *
 *   round 1   variant 0   variant 1   variant 2      The machine may be busy with something else at any moment. By turns
 *   round 2   variant 0   variant 1   variant 2      that meets all of them, and the shortest run of each is what counts:
 *   ...                                              nothing makes a kernel faster than it is.
 *
 * All run the same example, through the same stages as real work; a small one first, and a device that is slow at that (one
 * that is simulated) is spared the large one. The device's clock counts where it tells of every variant and can be believed,
 * for the host's has all the rest in it. Called by builder.c, in the device's submitter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "executor/building.h"
#include "executor/stages.h"

#include <stdlib.h>

enum { SIZE = 65536, TIMES_SMALLER = 64, ROUNDS = 5 };

/* A first round with the small example that takes longer is that of a simulated device. */
#define SLOW_NS UINT64_C(10000000)

/* A round is not begun after so long; a second one is, unless the first took so long that it would keep the device from its
 * work: a single round cannot tell a slow variant from an unlucky one. */
#define ENOUGH_NS   UINT64_C(100000000)
#define TOO_LONG_NS UINT64_C(500000000)

/* The plugin's order is its best guess: a later one must take less than 9/10 of the time. */
enum { CLEARLY_OF = 10, CLEARLY = 9 };

static void note(uint64_t *shortest, uint64_t ns) {
    if (ns < *shortest) *shortest = ns;
}

/* One run; its times are the racer's if they are its best. */
static void run(struct svmx__racer *racer, struct svmx__part part, struct svmx__text *why) {
    part.pipeline = &racer->pipeline;
    part.life = racer->pipeline.life;
    part.bucket = racer->pipeline.key.bucket;
    racer->status = svmx__selftest_launch(&part);
    if (racer->status != SVMX_OK) {
        (void)svmx__fail(why, racer->status, "trial of %s failed: %s", part.op->name, part.reason);
        return;
    }
    const uint64_t host_ns = svmx__clock_since(part.done_ns, part.dispatch_ns);
    note(&racer->host_ns, host_ns);
    if (svmx__device_clock(part.device, &part.timing, host_ns)) note(&racer->device_ns, part.timing.compute_ns);
}

/* false: the race is over, since the device is gone, or too small for the example. */
static bool run_round(const struct svmx__part *part, struct svmx__racer *racers, uint32_t count,
                      struct svmx__text *why) {
    for (uint32_t i = 0; i < count; i++) {
        if (racers[i].status != SVMX_OK) continue;
        run(&racers[i], *part, why);
        if (racers[i].status != SVMX_OK && !svmx__verdict_counts(racers[i].status)) return false;
    }
    return true;
}

static bool run_rounds(const struct svmx__part *part, int rounds, struct svmx__racer *racers, uint32_t count,
                       struct svmx__text *why) {
    const uint64_t start = svmx__clock_ns();
    for (uint32_t i = 0; i < count; i++) racers[i].host_ns = racers[i].device_ns = UINT64_MAX;
    for (int round = 0; round < rounds; round++) {
        const uint64_t spent = svmx__clock_since(svmx__clock_ns(), start);
        if (spent > (round < 2 ? TOO_LONG_NS : ENOUGH_NS)) break;
        if (!run_round(part, racers, count, why)) return false;
    }
    return true;
}

/* Rounds with an example of that size; false as above. */
static bool race(struct svmx__device *device, const struct svmx__op *op, uint64_t units, int rounds,
                 struct svmx__racer *racers, uint32_t count, struct svmx__text *why) {
    struct svmx_slot slots[SVMX__MAX_PARAMS];
    struct svmx__size size = {0, 0};
    void *block;
    bool goes_on = false;
    if (svmx__example_make(op, units, 1, slots, &block) != SVMX_OK) return false;
    if (svmx__op_check(op, slots, &size, why) == SVMX_OK) {
        const uint64_t first_unit[2] = {0, size.units};
        const struct svmx__part part = {.op = op,
                                        .task_count = 1,
                                        .units = size.units,
                                        .work = size.work,
                                        .slots = slots,
                                        .first_unit = first_unit,
                                        .device = device};
        goes_on = run_rounds(&part, rounds, racers, count, why);
    }
    free(block);
    return goes_on;
}

void svmx__trial(struct svmx__device *device, const struct svmx__op *op, struct svmx__racer *racers, uint32_t count,
                 struct svmx__text *why) {
    const uint64_t size = op->trial_size ? op->trial_size : SIZE;
    const uint64_t small = (size + TIMES_SMALLER - 1) / TIMES_SMALLER, start = svmx__clock_ns();
    for (uint32_t i = 0; i < count; i++) racers[i].host_ns = racers[i].device_ns = UINT64_MAX;
    if (race(device, op, small, 1, racers, count, why)) {
        const bool slow = svmx__clock_since(svmx__clock_ns(), start) > SLOW_NS;
        (void)race(device, op, slow ? small : size, ROUNDS, racers, count, why);
    }
    /* Too large for this device: it is proved, only not compared. */
    for (uint32_t i = 0; i < count; i++)
        if (racers[i].status == SVMX_ERR_MEMORY) racers[i].status = SVMX_OK;
}

struct svmx__racer *svmx__trial_winner(struct svmx__racer *racers, uint32_t count) {
    struct svmx__racer *best = NULL;
    bool by_device = true;
    for (uint32_t i = 0; i < count; i++)
        if (racers[i].status == SVMX_OK && racers[i].device_ns == UINT64_MAX) by_device = false;
    for (uint32_t i = 0; i < count; i++) {
        if (racers[i].status != SVMX_OK) continue;
        const uint64_t ns = by_device ? racers[i].device_ns : racers[i].host_ns;
        const uint64_t best_ns = !best ? 0 : by_device ? best->device_ns : best->host_ns;
        if (!best || ns < best_ns / CLEARLY_OF * CLEARLY) best = &racers[i];
    }
    return best;
}
