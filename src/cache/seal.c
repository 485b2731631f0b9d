/*
 * seal.c: see seal.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/seal.h"

struct state {
    uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t value, int by) { return value << by | value >> (64 - by); }

static uint64_t read64(const uint8_t *at) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | at[i];
    return value;
}

static void write64(uint8_t *at, uint64_t value) {
    for (int i = 0; i < 8; i++) at[i] = (uint8_t)(value >> 8 * i);
}

static void mix(struct state *s, int rounds) {
    for (; rounds > 0; rounds--) {
        s->v0 += s->v1;
        s->v2 += s->v3;
        s->v1 = rotate(s->v1, 13) ^ s->v0;
        s->v3 = rotate(s->v3, 16) ^ s->v2;
        s->v0 = rotate(s->v0, 32);
        s->v2 += s->v1;
        s->v0 += s->v3;
        s->v1 = rotate(s->v1, 17) ^ s->v2;
        s->v3 = rotate(s->v3, 21) ^ s->v0;
        s->v2 = rotate(s->v2, 32);
    }
}

static void take(struct state *s, uint64_t word) {
    s->v3 ^= word;
    mix(s, 2);
    s->v0 ^= word;
}

static uint64_t give(struct state *s) {
    mix(s, 4);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

struct svmx__seal svmx__seal(const struct svmx__secret *secret, const void *bytes, size_t length) {
    const uint64_t k0 = read64(secret->bytes), k1 = read64(secret->bytes + 8);
    /* "somepseudorandomlygeneratedbytes", and 0xee for the long result */
    struct state s = {k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
                      k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
    const uint8_t *at = bytes;
    uint8_t last[8] = {0};
    for (size_t left = length; left >= 8; left -= 8, at += 8) take(&s, read64(at));
    for (size_t i = 0; i < length % 8; i++) last[i] = at[i];
    last[7] = (uint8_t)length;
    take(&s, read64(last));
    struct svmx__seal seal;
    s.v2 ^= 0xee;
    write64(seal.bytes, give(&s));
    s.v1 ^= 0xdd;
    write64(seal.bytes + 8, give(&s));
    return seal;
}

bool svmx__seal_equal(const struct svmx__seal *a, const struct svmx__seal *b) {
    uint8_t differing = 0;
    for (size_t i = 0; i < sizeof a->bytes; i++) differing |= a->bytes[i] ^ b->bytes[i];
    return differing == 0;
}
