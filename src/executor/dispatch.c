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
#include <string.h>

/* The call itself, noted for the watch where somebody watches (post.h): computing in host memory is no driver. */
static enum svmx_status submit(const struct svmx__part *part, const struct svmx_submission *submission,
                               uint64_t *ticket) {
    const struct svmx_backend *instance = &part->life->backend->instance;
    if (part->device->host_memory) return instance->ops->submit(instance->self, submission, ticket);
    const uint64_t allowed_ns = part->timeout_ns ? part->timeout_ns
                                : part->batch    ? part->batch->timeout_ns
                                                 : 0,
                   first_ns = svmx__launch_ns(part);
    svmx__call_begin(part->life, svmx__call_of(part, "submit"), allowed_ns > first_ns ? allowed_ns : first_ns);
    const enum svmx_status status = instance->ops->submit(instance->self, submission, ticket);
    svmx__call_end();
    return status;
}

enum svmx_status svmx__dispatch_list(struct svmx__part *part, const struct svmx_command *commands, size_t count) {
    const struct svmx_command_list list = {
        .size = sizeof list, .command_size = sizeof(struct svmx_command), .commands = commands, .count = count};
    const struct svmx_submission submission = {.size = sizeof submission, .device = part->device->index, .list = &list};
    uint64_t ticket = 0; /* not the part's: who never comes back does not answer into it */
    part->timing = (struct svmx_timing){.size = sizeof part->timing};
    part->dispatch_ns = svmx__clock_ns();
    const enum svmx_status status = submit(part, &submission, &ticket);
    part->ticket = ticket;
    if (status != SVMX_OK) {
        char line[96];
        svmx__host_take_error(part->life->backend, line, sizeof line);
        (void)snprintf(part->reason, sizeof part->reason, "submit: %s: %s", svmx_status_name(status), line);
    }
    return status;
}

enum svmx_status svmx__dispatch(struct svmx__part *part) {
    struct svmx_command commands[SVMX__PART_COMMANDS];
    if (part->device->host_memory) return svmx__dispatch_list(part, part->commands, part->command_count);
    /* on this stack they stay as they are, also if the part is taken from a thread that never comes back */
    memcpy(commands, part->commands, part->command_count * sizeof *commands);
    return svmx__dispatch_list(part, commands, part->command_count);
}
