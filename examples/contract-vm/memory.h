/*
 * memory.h: the memory of a contract: bytes that are 0 until they are written, in whole words of 32, dearer the more there
 * are.
 *
 * Gas bounds it: `words` words cost 3 words + words^2 / 512 in all, and growing costs the difference.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_MEMORY_H
#define CONTRACT_VM_MEMORY_H

#include "bytes.h"
#include "u256.h"

struct memory {
    struct bytes bytes;
};

static inline uint64_t memory_words(uint64_t bytes) { return bytes / 32 + (bytes % 32 != 0); }

/* What so many words cost. Fits for up to 2^31 words, and no gas pays for half of that. */
static inline uint64_t memory_cost(uint64_t words) { return 3 * words + words * words / 512; }

/* What it costs to grow until [at, at + length) is inside; UINT64_MAX: more than any gas. */
static inline uint64_t memory_growth(const struct memory *memory, struct u256 at, struct u256 length) {
    const uint64_t limit = UINT64_C(1) << 35;
    if (u256_is_zero(length)) return 0;
    if (!u256_is_small(at) || !u256_is_small(length) || at.w[0] > limit || length.w[0] > limit) return UINT64_MAX;
    const uint64_t now = memory->bytes.length / 32, then = memory_words(at.w[0] + length.w[0]);
    return then > now ? memory_cost(then) - memory_cost(now) : 0;
}

/* Grows, after it was paid for. */
static inline void memory_grow(struct memory *memory, uint64_t at, uint64_t length) {
    const uint64_t wanted = length ? 32 * memory_words(at + length) : 0;
    if (wanted <= memory->bytes.length) return;
    const size_t more = (size_t)wanted - memory->bytes.length;
    memset(bytes_extend(&memory->bytes, more), 0, more);
}

/* Copies `length` bytes to `to` from byte `from` of a source, which is 0 behind its end (CALLDATACOPY and its like). */
static inline void memory_put(struct memory *memory, uint64_t to, uint64_t length, const uint8_t *source,
                              size_t source_length, struct u256 from) {
    if (length == 0) return;
    uint8_t *at = memory->bytes.data + to;
    uint64_t there = u256_is_small(from) && from.w[0] < source_length ? source_length - from.w[0] : 0;
    if (there > length) there = length;
    if (there) memcpy(at, source + from.w[0], there);
    memset(at + there, 0, length - there);
}

#endif
