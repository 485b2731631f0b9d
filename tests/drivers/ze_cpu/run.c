/*
 * run.c: what one command does, now, in the thread of its worker. When it may be run is the worker's affair.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <string.h>

static bool run_kernel(struct zecpu_worker *worker, const struct zecpu_command *command) {
    struct zecpu_launch launch = command->launch;
    if (launch.indirect_count)
        memcpy(launch.group_count, zecpu_memory_cpu(launch.indirect_count), sizeof launch.group_count);
    if (!launch.group_count[0] || !launch.group_count[1] || !launch.group_count[2]) return true;
    return zecpu_engine_launch(worker->queue, &launch);
}

static void run_fill(const struct zecpu_command *command) {
    unsigned char *to = zecpu_memory_cpu(command->to);
    for (size_t i = 0; i < command->bytes; i++) to[i] = command->pattern[i % command->pattern_bytes];
}

static void run_region(const struct zecpu_command *command) {
    const ze_copy_region_t *to = &command->to_region, *from = &command->from_region;
    char *to_base = zecpu_memory_cpu(command->to);
    const char *from_base = zecpu_memory_cpu(command->from);
    for (uint32_t z = 0; z < (to->depth ? to->depth : 1); z++)
        for (uint32_t y = 0; y < to->height; y++)
            memmove(to_base + (size_t)(to->originZ + z) * command->to_slice +
                        (size_t)(to->originY + y) * command->to_pitch + to->originX,
                    from_base + (size_t)(from->originZ + z) * command->from_slice +
                        (size_t)(from->originY + y) * command->from_pitch + from->originX,
                    to->width);
}

static void run_stamps(const struct zecpu_command *command) {
    char *to = zecpu_memory_cpu(command->to);
    for (uint32_t i = 0; i < command->event_count; i++) {
        ze_kernel_timestamp_result_t stamps;
        zecpu_lock();
        zecpu_event_stamps(command->events[i], &stamps);
        zecpu_unlock();
        memcpy(to + (command->offsets ? command->offsets[i] : i * sizeof stamps), &stamps, sizeof stamps);
    }
}

static void run_stamp(const struct zecpu_command *command) {
    const uint64_t now = zecpu_ticks();
    memcpy(zecpu_memory_cpu(command->to), &now, sizeof now);
}

/* Signals and ends are the worker's: they are told in the same step as that the command is over. */
static void run_reset(const struct zecpu_command *command) {
    zecpu_lock();
    command->events[0]->done = 0;
    zecpu_unlock();
}

bool zecpu_run(struct zecpu_worker *worker, const struct zecpu_command *command) {
    switch (command->op) {
    case ZECPU_OP_KERNEL: return run_kernel(worker, command);
    case ZECPU_OP_COPY:
        memmove(zecpu_memory_cpu(command->to), zecpu_memory_cpu(command->from), command->bytes);
        return true;
    case ZECPU_OP_REGION: run_region(command); return true;
    case ZECPU_OP_FILL: run_fill(command); return true;
    case ZECPU_OP_RESET: run_reset(command); return true;
    case ZECPU_OP_STAMP: run_stamp(command); return true;
    case ZECPU_OP_STAMPS: run_stamps(command); return true;
    default: return true; /* those that only wait and signal */
    }
}
