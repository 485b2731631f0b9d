/*
 * dispatch.c: stage 5: hand the commands of a part to its device: one call for any number of tasks.
 *
 * Called by pipeline.c, in the device's submitter thread or, for an inline device, in any. No lock is held.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "executor/executor.h"
#include "executor/stages.h"

#include <stdio.h>

enum svmx_status svmx__dispatch_list(struct svmx__part *part, const struct svmx_command *commands, size_t count) {
    struct svmx__device *device = part->device;
    const struct svmx_backend *instance = &part->life->backend->instance;
    const struct svmx_command_list list = {
        .size = sizeof list, .command_size = sizeof(struct svmx_command), .commands = commands, .count = count};
    const struct svmx_submission submission = {.size = sizeof submission, .device = device->index, .list = &list};
    part->ticket = 0;
    part->timing = (struct svmx_timing){.size = sizeof part->timing};
    part->dispatch_ns = svmx__clock_ns();
    enum svmx_status status = instance->ops->submit(instance->self, &submission, &part->ticket);
    if (status != SVMX_OK) {
        char line[96];
        svmx__host_take_error(part->life->backend, line, sizeof line);
        (void)snprintf(part->reason, sizeof part->reason, "submit: %s: %s", svmx_status_name(status), line);
    }
    return status;
}

enum svmx_status svmx__dispatch(struct svmx__part *part) {
    return svmx__dispatch_list(part, part->commands, part->command_count);
}
