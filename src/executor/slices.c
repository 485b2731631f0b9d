/*
 * slices.c: long work goes to a device in several submissions: a driver's watchdog does not end it, what waits behind it is not
 * held up by one command, and a device that hangs is noticed sooner.
 *
 *   what the model expects of the launch, on the device      > 100 ms: as many submissions as there are 100 ms in it
 *   where                                                    between tasks; within them, if there are fewer tasks than
 *                                                            submissions and items of the operation are independent; by
 *                                                            rows, if it is a single product of matrices (lay.h)
 *
 * Results that are left to the library are copied to one piece of memory then. Not cut: what is not known yet; a single task of
 * any other operation, whose launch is whole and has more time for that (deadline.c); stretches, which end before they are as
 * long (weigh.c); and what computes in host memory, where a launch holds up nobody. Called by pipeline.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "executor/lay.h"
#include "executor/stages.h"

enum { MOST = 1 << 20 }; /* submissions: a model that expects a day for a launch is wrong */

/* Inputs in the library's memory would be copied as a whole for each piece. */
static uint64_t most_of(const struct svmx__part *part) {
    const uint64_t by_units = svmx__cuts_within(part), by_rows = svmx__cuts_by_rows(part),
                   within = by_units > by_rows ? by_units : by_rows;
    return within > part->task_count && !part->batch->blocks ? within : part->task_count;
}

uint32_t svmx__slice_count(const struct svmx__part *part) {
    const struct svmx_executor *executor = part->device->executor;
    struct svmx__cost cost;
    if (part->device->host_memory || part->links || part->stretched) return 1;
    if (!part->batch || part->device->id >= executor->routed) return 1;
    const uint64_t most = most_of(part);
    if (most < 2) return 1;
    svmx__model_cost(&executor->model, part->op->id, part->device->id, &part->question.load, &cost);
    const double pieces = (cost.transfer_ns + cost.compute_ns) / SVMX__SUBMISSION_NS;
    if (cost.kind == SVMX__GUESSED || pieces <= 1) return 1;
    const uint64_t wanted = pieces < MOST ? (uint64_t)pieces + 1 : MOST;
    return (uint32_t)(wanted < most ? wanted : most);
}

bool svmx__slices_within(const struct svmx__part *part, uint32_t count) { return count > part->task_count; }

uint64_t svmx__slice_at(const struct svmx__part *part, uint32_t piece, uint32_t count) {
    if (svmx__slices_within(part, count)) return svmx__cut_begin(part, count, piece, true);
    if (piece == count) return part->task_count;
    const double units = (double)part->units * piece / count;
    uint32_t low = piece, high = part->task_count - (count - piece); /* each has a task at least */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if ((double)part->first_unit[middle] < units)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
