/*
 * deadline.c: how long a device may take for a launch.
 *
 *   the batch says (svmx_batch_set_timeout)        that
 *   such launches were measured                    8 times what 99 % of them took, from timeout_min_ms to the most
 *   else                                           the most: timeout_ms, or that for each 100 ms
 *   a stretch                                      the sum of what its launches may take
 *
 * timeout_ms is meant for a submission of 100 ms at most. What is expected to take longer and is a submission all the same, since
 * it cannot be cut (slices.c), has it for each 100 ms: else a device would be lost for being given long work.
 *
 * The clock starts when the work is handed to the device: it has reached the head of the queue by then, so that a batch
 * does not pay for those before it. A driver that computes on the host's cores, and any device while something else wants
 * these cores, has the most: there it is the scheduler that decides when a launch ends. Called by collect.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "executor/executor.h"
#include "executor/stages.h"

#include <math.h>

enum { TIMES_P99 = 8, SAMPLES = 3 }; /* fewer samples tell of no spread */
static const double LONGEST_NS = 1e18;

static bool is_on_busy_cores(const struct svmx__device *device) {
    return (device->info.flags & SVMX_DEVICE_SHARES_CORES) ||
           atomic_load_explicit(&device->executor->contention.now, memory_order_relaxed);
}

/* What is known of such a launch. false: nothing. */
static bool look_up(const struct svmx__part *part, struct svmx__cost *cost) {
    const struct svmx_executor *executor = part->device->executor;
    if (!part->batch || part->device->id >= executor->routed) return false;
    svmx__model_cost(&executor->model, part->op->id, part->device->id, &part->question.load, cost);
    return cost->kind != SVMX__GUESSED;
}

/* What 99 % of such launches took, ns; 0: not known. */
static double learned_ns(const struct svmx__part *part, const struct svmx__cost *cost) {
    const bool counts = cost->kind == SVMX__MEASURED && cost->samples >= SAMPLES && !is_on_busy_cores(part->device);
    return counts ? cost->p99_ns : 0;
}

/* The most that a launch may take: for each 100 ms that are expected. */
static double most_ns(uint64_t timeout_ns, const struct svmx__cost *cost) {
    const double submissions = ceil((cost->transfer_ns + cost->compute_ns) / SVMX__SUBMISSION_NS);
    const double ns = (double)timeout_ns * (submissions > 1 ? submissions : 1);
    return ns < LONGEST_NS ? ns : LONGEST_NS;
}

static struct svmx__deadline deadline_of_one(const struct svmx__part *part) {
    const uint64_t *setting = part->device->executor->config.number;
    const uint64_t timeout = setting[SVMX__TIMEOUT_MS] * SVMX__NS_PER_MS,
                   least = setting[SVMX__TIMEOUT_MIN_MS] * SVMX__NS_PER_MS;
    struct svmx__cost cost;
    if (part->timeout_ns) return (struct svmx__deadline){part->timeout_ns, "of a self-test"};
    if (part->batch && part->batch->timeout_ns)
        return (struct svmx__deadline){part->batch->timeout_ns, "svmx_batch_set_timeout"};
    if (!look_up(part, &cost)) return (struct svmx__deadline){timeout, "timeout_ms"};
    const double learned = TIMES_P99 * learned_ns(part, &cost), most = most_ns(timeout, &cost);
    if (learned <= 0 || learned >= most || least >= timeout)
        return (struct svmx__deadline){(uint64_t)most, most > (double)timeout
                                                           ? "timeout_ms for each 100 ms that it was "
                                                             "expected to take"
                                                           : "timeout_ms"};
    if (learned <= (double)least) return (struct svmx__deadline){least, "timeout_min_ms"};
    return (struct svmx__deadline){(uint64_t)learned, "8 times what 99 % of such launches took"};
}

struct svmx__deadline svmx__deadline_of(const struct svmx__part *part) {
    const struct svmx__deadline first = deadline_of_one(part);
    if (!part->stretched) return first;
    const struct svmx_batch *batch = part->batch;
    struct svmx__deadline all = {0, first.origin};
    for (uint32_t i = batch->level_start[batch->stretch.from]; i < batch->level_start[batch->stretch.to]; i++) {
        const uint64_t ns = deadline_of_one(&batch->parts[batch->by_level[i]]).ns;
        all.ns = ns < UINT64_MAX - all.ns ? all.ns + ns : UINT64_MAX;
    }
    return all;
}
