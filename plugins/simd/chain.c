/*
 * chain.c: see chain.h.
 *
 *   units    [ piece 0 ][ piece 1 ][ piece 2 ] ...        each thread takes pieces
 *   piece    link 0, link 1, link 2                       from the inputs through two places of a thread to the output
 *
 * Where no cache holds the data, memory would be idle while the links behind the first compute in theirs: so before each link a
 * share of what the next piece will read is fetched.
 *
 * A link of a piece is a dispatch of one task with the kernel that it would have by itself, so the bits are the same; where that
 * is the host's code (hosted.h), a task of that length.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "chain.h"

#include "hosted.h"
#include "tasks.h"
#include <stdalign.h>

/* Two places lie in a first-level cache, on the stack of the thread, beside a piece of each input. Larger ones drive one another
 * out: with 16 KiB a chain of four sums takes half as long again. LANES is the most elements that a kernel takes at once. */
enum { PLACE_BYTES = 4096, MAX_SLOTS = 8, LANES = 16, GRAIN = 1024 };

/* More inputs than these are not fetched ahead: a first-level cache would not hold them. */
enum { MAX_AHEAD = 4, LINE_BYTES = 64 };

struct places {
    alignas(64) uint8_t bytes[2][PLACE_BYTES];
};

static const struct svmx_dispatch *link_at(const struct simd_chain *chain, uint32_t number) {
    const struct svmx_command *command = (const void *)((const char *)chain->first + (size_t)number * chain->stride);
    return &command->as.dispatch;
}

static const struct simd_kernel *kernel_of(const struct svmx_dispatch *link) {
    return (const struct simd_kernel *)(const void *)link->pipeline;
}

bool simd_chain_is_sound(const struct simd_chain *chain) {
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct svmx_dispatch *link = link_at(chain, i);
        const struct simd_kernel *kernel = kernel_of(link);
        if (link->slot_count == 0 || link->slot_count > MAX_SLOTS || kernel->finish != NULL) return false;
    }
    return chain->count > 0;
}

/* Bytes of an element; a task without units is never asked. */
static uint64_t element_bytes(const struct svmx_slot *slot, uint64_t units) { return slot->bytes / units; }

/* The units [begin, end) of a task in one link. */
static void run_link(const struct svmx_dispatch *link, uint32_t task, uint64_t begin, uint64_t end,
                     struct places *places) {
    const struct svmx_slot *row = simd_row(link, task);
    const uint64_t units = link->first_unit[task + 1] - link->first_unit[task];
    struct svmx_slot slots[MAX_SLOTS];
    for (uint32_t i = 0; i < link->slot_count; i++) {
        slots[i] = row[i];
        if (link->passing >> i & 1)
            slots[i].at = (uintptr_t)places->bytes[row[i].at & 1];
        else if (link->arrays >> i & 1)
            slots[i].at += begin * element_bytes(&row[i], units);
    }
    if (kernel_of(link)->run == NULL) {
        for (uint32_t i = 0; i < link->slot_count; i++)
            if (link->arrays >> i & 1) slots[i].bytes = (end - begin) * element_bytes(&row[i], units);
        simd_hosted_run_task(kernel_of(link), slots, link->slot_count);
        return;
    }
    /* The kernel asks it whether outputs go past the caches: those that pass do not, and others as they would alone. */
    const uint64_t all = link->first_unit[link->task_count], first_unit[2] = {0, link->passing & 1 ? end - begin : all};
    struct svmx_dispatch piece = *link;
    piece.slots = slots;
    piece.first_unit = first_unit;
    piece.task_count = 1;
    kernel_of(link)->run(&piece, 0, end - begin);
}

/* What the links of a task read of memory, each once. */
struct ahead {
    uint32_t count;
    struct svmx_slot inputs[MAX_AHEAD];
};

static void ahead_add(struct ahead *ahead, const struct svmx_slot *input) {
    for (uint32_t i = 0; i < ahead->count; i++)
        if (ahead->inputs[i].at == input->at) return;
    if (ahead->count < MAX_AHEAD) ahead->inputs[ahead->count++] = *input;
}

/* Inputs of a link from outside of the chain: not what the link before passes on, or writes to its output, which is slot 0. */
static void ahead_add_link(struct ahead *ahead, const struct simd_chain *chain, uint32_t number, uint32_t task) {
    const struct svmx_dispatch *link = link_at(chain, number);
    const struct svmx_slot *row = simd_row(link, task);
    const uint64_t made = number ? simd_row(link_at(chain, number - 1), task)[0].at : 0;
    for (uint32_t i = 1; i < link->slot_count; i++)
        if ((link->arrays & ~link->passing) >> i & 1 && row[i].at != made) ahead_add(ahead, &row[i]);
}

/* Nothing where all of it is so little that caches may hold it. `bytes` are those of a unit. */
static void ahead_find(struct ahead *ahead, const struct simd_chain *chain, uint32_t task, uint64_t bytes) {
    const struct svmx_dispatch *head = link_at(chain, 0);
    ahead->count = 0;
    if (2 * bytes * head->first_unit[head->task_count] < SIMD_FAR_BYTES) return;
    for (uint32_t i = 0; i < chain->count; i++) ahead_add_link(ahead, chain, i, task);
}

/* Fetches share `share` of `shares` of the units [begin, end) of a task. */
static void ahead_fetch(const struct ahead *ahead, uint64_t units, uint64_t begin, uint64_t end, uint32_t share,
                        uint32_t shares) {
    for (uint32_t i = 0; i < ahead->count; i++) {
        const uint64_t bytes = element_bytes(&ahead->inputs[i], units), lines = (end - begin) * bytes / LINE_BYTES;
        const uint8_t *from = simd_address(&ahead->inputs[i], begin * bytes);
        for (uint64_t line = lines * share / shares; line < lines * (share + 1) / shares; line++)
            __builtin_prefetch(from + line * LINE_BYTES);
    }
}

/* The units [begin, end) of a task in all links; `next` of those behind them are fetched. */
static void run_piece(const struct simd_chain *chain, uint32_t task, uint64_t begin, uint64_t end, uint64_t next,
                      const struct ahead *ahead, struct places *places) {
    const struct svmx_dispatch *head = link_at(chain, 0);
    const uint64_t units = head->first_unit[task + 1] - head->first_unit[task];
    for (uint32_t i = 0; i < chain->count; i++) {
        ahead_fetch(ahead, units, end, end + next, i, chain->count);
        run_link(link_at(chain, i), task, begin, end, places);
    }
}

static void run_range(const void *context, uint64_t first, uint64_t end) {
    const struct simd_chain *chain = context;
    const struct svmx_dispatch *head = link_at(chain, 0);
    struct simd_walk walk = simd_walk_start(head, first, end);
    struct simd_piece part;
    struct places places;
    struct ahead ahead;
    while (simd_walk_next(&walk, &part)) {
        const uint32_t task = walk.next_task - 1;
        const uint64_t units = head->first_unit[task + 1] - head->first_unit[task];
        const uint64_t bytes = element_bytes(part.row, units), most = PLACE_BYTES / bytes,
                       step = most - (most > LANES ? most % LANES : 0);
        ahead_find(&ahead, chain, task, bytes);
        for (uint64_t at = part.begin, stop; at < part.end; at = stop) {
            stop = part.end - at < step ? part.end : at + step;
            run_piece(chain, task, at, stop, part.end - stop < step ? part.end - stop : step, &ahead, &places);
        }
    }
}

/* Rough, in picoseconds, as of single dispatches. */
static uint64_t cost_of(const struct simd_chain *chain, uint64_t units) {
    uint64_t ps_per_unit = 0, cost;
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct simd_kernel *kernel = kernel_of(link_at(chain, i));
        ps_per_unit += kernel->run ? kernel->ps_per_work : simd_hosted_ps_per_work(kernel);
    }
    return __builtin_mul_overflow(units, ps_per_unit, &cost) ? UINT64_MAX : cost;
}

void simd_chain_run(struct simd_pool *pool, const struct simd_chain *chain) {
    const struct svmx_dispatch *head = link_at(chain, 0);
    const uint64_t units = head->task_count ? head->first_unit[head->task_count] : 0;
    const uint32_t grain = kernel_of(head)->run ? kernel_of(head)->units_per_grain : GRAIN;
    if (units) simd_pool_run(pool, &(struct simd_job){run_range, chain, units, grain, cost_of(chain, units), 0});
}
