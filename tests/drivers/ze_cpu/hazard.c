/*
 * hazard.c: finds commands that touch the same bytes, at least one of them writing, with nothing that orders them: no
 * barrier between them, and no chain of events from one to the other. A real device may do them at the same time.
 *
 * Copies and fills are known to the byte. Of a kernel it is known where its pointers point, and which of them are never
 * written through: it is taken to touch the byte that it gets a pointer to. Two kernels are not compared: both may get the
 * same pointer and work on different parts. What is not found here ZE_CPU_SHUFFLE may show in the results.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <string.h>

enum { MOST_RANGES = ZECPU_MAX_ARGUMENTS, LOOK_BACK = 256, LONGEST_CHAIN = 32, MOST_WAITS = 16 };

struct range {
    const char *at;
    size_t bytes;
    bool written;
};

static size_t ranges_of_kernel(const struct zecpu_launch *launch, struct range *out) {
    size_t count = 0;
    for (uint32_t i = 0; i < launch->kernel->info->argument_count; i++) {
        const struct zecpu_argument *argument = &launch->kernel->info->arguments[i];
        const char *pointer = NULL;
        if (argument->kind == ZECPU_GLOBAL) memcpy(&pointer, launch->values[i].data, sizeof pointer);
        if (pointer) out[count++] = (struct range){pointer, 1, !argument->reads_only};
    }
    return count;
}

/* Of a region its first row. */
static size_t ranges_of(const struct zecpu_command *command, struct range *out) {
    size_t bytes = command->bytes, count = 0;
    if (command->op == ZECPU_OP_KERNEL) return ranges_of_kernel(&command->launch, out);
    if (command->op != ZECPU_OP_COPY && command->op != ZECPU_OP_FILL && command->op != ZECPU_OP_REGION) return 0;
    if (command->op == ZECPU_OP_REGION) bytes = command->to_region.width;
    out[count++] = (struct range){command->to, bytes, true};
    if (command->from) out[count++] = (struct range){command->from, bytes, false};
    return count;
}

static bool clash(const struct zecpu_command *a, const struct zecpu_command *b) {
    struct range of_a[MOST_RANGES], of_b[MOST_RANGES];
    if (a->op == ZECPU_OP_KERNEL && b->op == ZECPU_OP_KERNEL) return false;
    const size_t count_a = ranges_of(a, of_a), count_b = ranges_of(b, of_b);
    for (size_t i = 0; i < count_a; i++)
        for (size_t j = 0; j < count_b; j++)
            if ((of_a[i].written || of_b[j].written) && of_a[i].at < of_b[j].at + of_b[j].bytes &&
                of_b[j].at < of_a[i].at + of_a[i].bytes)
                return true;
    return false;
}

/* Who will signal the event, of those that are still to be done by this worker; NULL: nobody here. */
static const struct zecpu_command *signaller(const struct zecpu_worker *worker, const struct zecpu_event *event) {
    for (size_t i = worker->count; i-- > 0;)
        if (worker->pending[i]->signal == event) return worker->pending[i];
    return worker->running && worker->running->signal == event ? worker->running : NULL;
}

/* Does `later` wait, by way of events, for `earlier`? An event that another worker signals may do that: then yes. */
static bool ordered(const struct zecpu_worker *worker, const struct zecpu_command *earlier,
                    const struct zecpu_command *later, int links) {
    for (uint32_t i = 0; i < later->wait_count; i++) {
        const struct zecpu_event *event = later->waits[i].event;
        const struct zecpu_command *between = signaller(worker, event);
        if (!between && event->done < later->waits[i].value) return true;
        if (!between) continue;
        if (between == earlier || !links || ordered(worker, earlier, between, links - 1)) return true;
    }
    return false;
}

/* The waits that stand between the two hold `later` back as well. */
static bool held_back(const struct zecpu_worker *worker, const struct zecpu_command *earlier,
                      const struct zecpu_command *const *waits, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (ordered(worker, earlier, waits[i], LONGEST_CHAIN)) return true;
    return false;
}

static void tell(const struct zecpu_command *earlier, const struct zecpu_command *later) {
    static const char *const names[] = {"kernel", "copy", "copy of a region", "fill"};
    zecpu_misuse("a %s and a later %s touch the same bytes, and nothing orders them", names[earlier->op],
                 names[later->op]);
}

void zecpu_hazard_check(const struct zecpu_worker *worker, const struct zecpu_command *command) {
    const struct zecpu_command *waits[MOST_WAITS + 1] = {command};
    size_t wait_count = 1;
    if (command->op > ZECPU_OP_FILL) return;
    for (size_t back = 0; back <= worker->count && back < LOOK_BACK; back++) {
        const struct zecpu_command *earlier =
            back < worker->count ? worker->pending[worker->count - 1 - back] : worker->running;
        if (!earlier || zecpu_command_is_wall(earlier) || wait_count > MOST_WAITS) return;
        if (earlier->op == ZECPU_OP_WAIT)
            waits[wait_count++] = earlier;
        else if (clash(earlier, command) && !held_back(worker, earlier, waits, wait_count))
            tell(earlier, command);
    }
}
