/*
 * tasks.h: walking the units of a dispatch, task by task.
 *
 * Every kernel starts here: it gets a range of unit numbers and needs addresses. Two walks exist:
 *
 *   simd_walk       pieces of tasks, for elementwise operations and reductions: one step a task
 *   simd_messages   single messages, for hashes: address, length and place of the digest of each
 *
 *   first_unit   0        5  5              12        range [3, 9) gives task 0 units 3..4, task 2 units 0..3
 *                | task 0 |1 |    task 2     |        task 1 has no units and is stepped over
 *
 * All static inline on purpose: a file built for one instruction set must not lend its code to another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_TASKS_H
#define SVMX_SIMD_TASKS_H

#include <stdint.h>
#include <string.h>
#include <svmx/plugin.h>

/* For the small functions that take another as an argument: only inlined do they become straight code. */
#define SIMD_INLINE static inline __attribute__((always_inline))

/* For functions that run out of vector registers: clang aligns what it spills only in a frame that is aligned anyway.
 * Unaligned spills across a cache line or a page cost up to a third, depending on where the stack happens to be. */
#if defined(__x86_64__)
#define SIMD_ALIGNED_FRAME __attribute__((noinline, force_align_arg_pointer))
#endif

/* The address `offset` bytes into a slot. Added as integers: an empty slot may be at 0. */
static inline uint8_t *simd_address(const struct svmx_slot *slot, uint64_t offset) {
    return (uint8_t *)(uintptr_t)(slot->at + offset);
}

static inline const struct svmx_slot *simd_row(const struct svmx_dispatch *d, uint32_t task) {
    return d->slots + (size_t)task * d->slot_count;
}

/* The task that owns a unit, never an empty one. `unit` is less than the count of all units. */
static inline uint32_t simd_task_of(const struct svmx_dispatch *d, uint64_t unit) {
    uint32_t low = 0, high = d->task_count - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (d->first_unit[middle + 1] > unit)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* ---- pieces of tasks -------------------------------------------------------------------------------------- */

struct simd_walk {
    const struct svmx_dispatch *d;
    uint64_t unit, end;
    uint32_t next_task;
};

/* The units [begin, end) of one task, counted from the task's own first. */
struct simd_piece {
    const struct svmx_slot *row;
    uint64_t begin, end;
};

static inline struct simd_walk simd_walk_start(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    return (struct simd_walk){d, first, end, first < end ? simd_task_of(d, first) : 0};
}

/* Gives the next piece, never an empty one; 0 when the range is done. */
static inline int simd_walk_next(struct simd_walk *walk, struct simd_piece *piece) {
    if (walk->unit >= walk->end) return 0;
    const uint64_t *first_unit = walk->d->first_unit;
    uint32_t task = walk->next_task;
    while (first_unit[task + 1] <= walk->unit) task++;
    const uint64_t stop = first_unit[task + 1] < walk->end ? first_unit[task + 1] : walk->end;
    piece->row = simd_row(walk->d, task);
    piece->begin = walk->unit - first_unit[task];
    piece->end = stop - first_unit[task];
    walk->unit = stop;
    walk->next_task = task + 1;
    return 1;
}

/* ---- messages --------------------------------------------------------------------------------------------- */

/* Slots of a hash: digests, data, offsets. */
struct simd_messages {
    struct simd_walk walk;
    uint64_t left; /* in the task at hand */
    const struct svmx_slot *data;
    const uint8_t *offsets; /* of the next message; any alignment */
    uint8_t *digest;
};

struct simd_message {
    const uint8_t *data;
    uint64_t bytes;
    uint8_t *digest;
};

static inline uint64_t simd_load_u64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline struct simd_messages simd_messages_start(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    return (struct simd_messages){.walk = simd_walk_start(d, first, end)};
}

/* Gives the next message; 0 when the range is done. */
static inline int simd_messages_next(struct simd_messages *m, struct simd_message *message) {
    if (m->left == 0) {
        struct simd_piece piece;
        if (!simd_walk_next(&m->walk, &piece)) return 0;
        m->left = piece.end - piece.begin;
        m->digest = simd_address(&piece.row[0], 32 * piece.begin);
        m->data = &piece.row[1];
        m->offsets = simd_address(&piece.row[2], 8 * piece.begin);
    }
    const uint64_t begin = simd_load_u64(m->offsets), end = simd_load_u64(m->offsets + 8);
    message->data = simd_address(m->data, begin);
    message->bytes = end - begin;
    message->digest = m->digest;
    m->offsets += 8;
    m->digest += 32;
    m->left--;
    return 1;
}

/* ---- ends of messages -------------------------------------------------------------------------------------- */

/* Less than eight bytes as a little-endian number; reads no other byte. */
static inline uint64_t simd_load_few(const uint8_t *at, size_t count) {
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/*
 * Copies the `count` bytes at the end of a message, puts `mark` after them and clears the rest of `tail_bytes`, a
 * multiple of eight and more than `count`. In words, since memset and memcpy of such lengths cost as much as a hash.
 */
static inline void simd_tail_fill(uint8_t *tail, size_t tail_bytes, const uint8_t *rest, size_t count, uint8_t mark) {
    const size_t few = count % 8, whole = count - few;
    uint64_t word = 0;
    for (size_t i = 0; i < whole; i += 8) memcpy(tail + i, rest + i, 8);
    if (few > 0 && whole > 0)
        word = simd_load_u64(rest + count - 8) >> 8 * (8 - few);
    else if (few > 0)
        word = simd_load_few(rest, few);
    word |= (uint64_t)mark << 8 * few;
    memcpy(tail + whole, &word, 8);
    word = 0;
    for (size_t i = whole + 8; i < tail_bytes; i += 8) memcpy(tail + i, &word, 8);
}

#endif
