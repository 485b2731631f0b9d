/*
 * guard.c: bytes before and behind the outputs of a launch that nobody has any business with.
 *
 *   memory of its own   outputs on the device  [guard][output][output] ... [guard]    filled on the device before a launch
 *                       staging out            [other][.........................][other]   until all of it is read back
 *   shared memory       staging out            [guard][output][output] ... [guard]    written by the host; by the device if
 *                                              it is in another process, which may have a copy
 *
 * A kernel that writes too far, or a readback that is cut short, shows in them: the launch is redone elsewhere, and the device
 * has a strike. On the device they stay where they are from launch to launch of the same size, since each readback sees that
 * they are whole: then they cost no command. Called by stage.c and collect.c; a device that computes in host memory has none,
 * since there the memory is the caller's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "executor/stages.h"

#include <stdio.h>
#include <string.h>

enum { GUARD = 0xc5, OTHER = 0x3a };

static bool is_shared(const struct svmx__part *part) {
    return (part->device->info.flags & SVMX_DEVICE_SHARES_MEMORY) != 0;
}

/* Does the device see what the host writes? */
static bool is_by_host(const struct svmx__part *part) { return is_shared(part) && !part->life->backend->isolated; }

/* That the device writes into. */
static struct svmx__staging *guarded(const struct svmx__part *part) {
    return is_shared(part) ? part->staging_out : part->outputs;
}

/* Where the second one begins. */
static uint64_t behind(const struct svmx__part *part) { return part->layout->guard_bytes + part->outputs_bytes; }

static void push_fill(struct svmx__part *part, uint64_t at) {
    const struct svmx_fill fill = {{guarded(part)->memory, at, part->layout->guard_bytes}, GUARD};
    part->commands[part->command_count++] = (struct svmx_command){.kind = SVMX_COMMAND_FILL, .as.fill = fill};
}

static void write_both(const struct svmx__part *part, unsigned char value) {
    unsigned char *host = part->staging_out->host;
    memset(host, value, part->layout->guard_bytes);
    memset(host + behind(part), value, part->layout->guard_bytes);
}

void svmx__guard_lay(struct svmx__part *part) {
    if (!part->staging_out) return;
    if (is_by_host(part)) {
        write_both(part, GUARD);
        return;
    }
    if (!is_shared(part)) write_both(part, OTHER);
    if (guarded(part)->guarded_bytes == part->outputs_bytes) return;
    push_fill(part, 0);
    push_fill(part, behind(part));
    if (is_shared(part)) /* no copy has one before the launch */
        part->commands[part->command_count++] = (struct svmx_command){.kind = SVMX_COMMAND_BARRIER};
    guarded(part)->guarded_bytes = part->outputs_bytes;
}

void svmx__guard_forget(struct svmx__part *part) {
    if (part->outputs) part->outputs->guarded_bytes = 0;
    if (part->staging_out) part->staging_out->guarded_bytes = 0;
}

static bool is_all(const unsigned char *bytes, uint64_t count, unsigned char value) {
    return bytes[0] == value && memcmp(bytes, bytes + 1, (size_t)count - 1) == 0;
}

enum svmx_status svmx__guard_check(struct svmx__part *part) {
    if (!part->staging_out) return SVMX_OK;
    const uint64_t bytes = part->layout->guard_bytes;
    const unsigned char *first = part->staging_out->host, *second = first + behind(part);
    if (is_all(first, bytes, GUARD) && is_all(second, bytes, GUARD)) return SVMX_OK;
    const bool is_short = !is_shared(part) && (is_all(first, bytes, OTHER) || is_all(second, bytes, OTHER));
    (void)snprintf(part->reason, sizeof part->reason, "guard bytes: %s",
                   is_short                       ? "results were not read back as a whole"
                   : is_all(second, bytes, GUARD) ? "something wrote before the outputs"
                                                  : "something wrote behind the outputs");
    return SVMX_ERR_BACKEND;
}
