/*
 * guard.c: bytes before and behind the outputs of a launch that nobody has any business with.
 *
 *   memory of its own   outputs on the device  [guard][output][output] ... [guard]    filled on the device before a launch
 *                       staging out            [other][.........................][other]   until all of it is read back
 *   shared memory       staging out            [guard][output][output] ... [guard]    written by the host; by the device if
 *                                              it is in another process, which may have a copy
 *                       staging in             [table][input][input] ... [guard]      by the host only
 *
 * A kernel that writes too far, or a readback that is cut short, shows in them: the launch is redone elsewhere, and the device
 * has a strike. On the device they stay where they are from launch to launch of the same size, since each readback sees that
 * they are whole: then they cost no command. A stretch has them around the results that are read back, in the one memory that all
 * of it is in. Called by stage.c, stretch_commands.c and collect.c; a device that computes in host memory has none, since there the
 * memory is the caller's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "executor/stages.h"
#include "executor/stretch_place.h"

#include <stdio.h>
#include <string.h>

enum { GUARD = 0xc5, OTHER = 0x3a };

static bool is_shared(const struct svmx__part *part) {
    return (part->device->info.flags & SVMX_DEVICE_SHARES_MEMORY) != 0;
}

/* Does the device see what the host writes? */
static bool is_by_host(const struct svmx__part *part) { return is_shared(part) && !part->life->backend->isolated; }

/* Where they are: [before][outputs][behind]. */
struct guards {
    struct svmx__staging *memory; /* that the device writes into; NULL: none are to be had */
    uint64_t at;                  /* where the first one begins there */
    unsigned char *host;          /* and where the host sees it */
    uint64_t before_bytes, bytes, behind_bytes;
};

static struct guards of_stretch(const struct svmx__part *head) {
    const struct svmx__stretch *stretch = &head->batch->stretch;
    const bool shared = is_shared(head);
    const struct svmx__staging *seen = shared ? head->staging_in : head->staging_out;
    if (!stretch->results_bytes || !seen) return (struct guards){.memory = NULL};
    const uint64_t seen_at = stretch->guard_at - (shared ? 0 : svmx__stretch_back_at(stretch));
    return (struct guards){.memory = svmx__stretch_work(head),
                           .at = stretch->base + stretch->guard_at,
                           .host = (unsigned char *)seen->host + seen_at,
                           .before_bytes = stretch->results_at - stretch->guard_at,
                           .bytes = stretch->results_bytes,
                           .behind_bytes = head->layout->guard_bytes};
}

/* Behind the inputs; NULL: they are on the device, and to look there would be a copy for each launch. */
static unsigned char *behind_inputs(const struct svmx__part *part) {
    const bool seen = is_by_host(part) && !part->stretched && part->staging_in;
    return seen ? (unsigned char *)part->staging_in->host + part->inputs_end : NULL;
}

static struct guards guards_of(const struct svmx__part *part) {
    if (part->stretched) return of_stretch(part);
    if (!part->staging_out) return (struct guards){.memory = NULL};
    const uint64_t bytes = part->layout->guard_bytes;
    return (struct guards){.memory = is_shared(part) ? part->staging_out : part->outputs,
                           .host = part->staging_out->host,
                           .before_bytes = bytes,
                           .bytes = part->outputs_bytes,
                           .behind_bytes = bytes};
}

static uint64_t behind(const struct guards *guards) { return guards->before_bytes + guards->bytes; }

static struct svmx_command fill_of(const struct guards *guards, uint64_t at, uint64_t bytes) {
    const struct svmx_fill fill = {{guards->memory->memory, guards->at + at, bytes}, GUARD};
    return (struct svmx_command){.kind = SVMX_COMMAND_FILL, .as.fill = fill};
}

static void write_both(const struct guards *guards, unsigned char value) {
    memset(guards->host, value, (size_t)guards->before_bytes);
    memset(guards->host + behind(guards), value, (size_t)guards->behind_bytes);
}

size_t svmx__guard_lay(struct svmx__part *part, struct svmx_command *commands) {
    const struct guards guards = guards_of(part);
    struct svmx__staging *memory = guards.memory;
    unsigned char *inputs = behind_inputs(part);
    size_t count = 0;
    if (inputs) memset(inputs, GUARD, part->layout->guard_bytes);
    if (!memory) {
        svmx__guard_forget(part); /* what is computed there now may write over older ones */
        return 0;
    }
    if (is_by_host(part)) {
        write_both(&guards, GUARD);
        return 0;
    }
    if (!is_shared(part)) write_both(&guards, OTHER);
    if (memory->guarded_from == guards.at && memory->guarded_bytes == guards.bytes) return 0;
    commands[count++] = fill_of(&guards, 0, guards.before_bytes);
    commands[count++] = fill_of(&guards, behind(&guards), guards.behind_bytes);
    if (is_shared(part)) /* no copy has one before the launch */
        commands[count++] = (struct svmx_command){.kind = SVMX_COMMAND_BARRIER};
    memory->guarded_from = guards.at;
    memory->guarded_bytes = guards.bytes;
    return count;
}

void svmx__guard_forget(struct svmx__part *part) {
    struct svmx__staging *const held[] = {part->outputs, part->staging_out,
                                          part->stretched ? svmx__stretch_work(part) : NULL};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        if (held[i]) held[i]->guarded_bytes = 0;
}

static bool is_all(const unsigned char *bytes, uint64_t count, unsigned char value) {
    return bytes[0] == value && memcmp(bytes, bytes + 1, (size_t)count - 1) == 0;
}

enum svmx_status svmx__guard_check(struct svmx__part *part) {
    const struct guards guards = guards_of(part);
    const unsigned char *inputs = behind_inputs(part);
    if (inputs && !is_all(inputs, part->layout->guard_bytes, GUARD)) {
        (void)snprintf(part->reason, sizeof part->reason, "guard bytes: something wrote behind the inputs");
        return SVMX_ERR_BACKEND;
    }
    if (!guards.memory) return SVMX_OK;
    const unsigned char *first = guards.host, *second = first + behind(&guards);
    const uint64_t firsts = guards.before_bytes, seconds = guards.behind_bytes;
    if (is_all(first, firsts, GUARD) && is_all(second, seconds, GUARD)) return SVMX_OK;
    const bool is_short = !is_shared(part) && (is_all(first, firsts, OTHER) || is_all(second, seconds, OTHER));
    (void)snprintf(part->reason, sizeof part->reason, "guard bytes: %s",
                   is_short                         ? "results were not read back as a whole"
                   : is_all(second, seconds, GUARD) ? "something wrote before the outputs"
                                                    : "something wrote behind the outputs");
    return SVMX_ERR_BACKEND;
}
