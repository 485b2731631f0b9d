/*
 * wild.c: see wild.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wild.h"
#include <string.h>
#include <svmx/svmx.h>

/* One step of a 64-bit congruential generator; its upper half is good. */
uint32_t cli_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

uint32_t cli_random_below(uint64_t *state, uint32_t limit) {
    return (uint32_t)((uint64_t)cli_random(state) * limit >> 32);
}

static uint32_t wild_f32(uint64_t *state, unsigned kind) {
    static const uint32_t edges[] = {0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x00800001, 0x3f800000,
                                     0x34000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc12345, 0x7fffffff};
    const uint32_t r = cli_random(state), sign = r & 0x80000000u;
    if (kind == 0) return r;
    if (kind == 1) return edges[(r >> 8) % 12] | sign;
    return sign | ((kind == 2 ? 107 + (r >> 8) % 41 : 126) << 23) | (cli_random(state) & 0x007fffff);
}

static uint64_t wild_f64(uint64_t *state, unsigned kind) {
    static const uint64_t edges[] = {0,
                                     1,
                                     UINT64_C(0x000fffffffffffff),
                                     UINT64_C(0x0010000000000000),
                                     UINT64_C(0x3ff0000000000000),
                                     UINT64_C(0x7fefffffffffffff),
                                     UINT64_C(0x7ff0000000000000),
                                     UINT64_C(0x7ff0000000000001),
                                     UINT64_C(0x7ff8123456789abc)};
    const uint64_t r = (uint64_t)cli_random(state) << 32 | cli_random(state), sign = r & UINT64_C(1) << 63;
    if (kind == 0) return r;
    if (kind == 1) return edges[(r >> 8) % 9] | sign;
    return sign | (kind == 2 ? 1003 + (r >> 56) % 41 : 1022) << 52 | (r & UINT64_C(0x000fffffffffffff));
}

void cli_wild_fill(void *at, uint64_t bytes, uint32_t type, uint64_t seed) {
    uint64_t state = seed;
    const unsigned kind = (unsigned)(seed % CLI_WILD_KINDS);
    const uint64_t size = svmx_type_bytes((enum svmx_type)type), count = bytes / size;
    const uint64_t odd_one = kind == 3 && count ? cli_random_below(&state, (uint32_t)count) : UINT64_MAX;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = cli_random(&state);
        if (type == SVMX_F32) bits = i == odd_one ? 0xffc54321u : wild_f32(&state, kind);
        if (type == SVMX_F64) bits = i == odd_one ? UINT64_C(0xfff8123400000000) : wild_f64(&state, kind);
        if (type == SVMX_U64) bits |= (uint64_t)cli_random(&state) << 32;
        memcpy((uint8_t *)at + i * size, &bits, (size_t)size);
    }
}

uint64_t cli_wild_cuts(void *offsets, uint64_t bytes, uint64_t seed) {
    uint64_t state = seed;
    const uint64_t entries = bytes / 8;
    const uint32_t longest = entries <= 1000 ? 600 : 40;
    uint64_t at = cli_random_below(&state, 9);
    for (uint64_t i = 0; i < entries; i++) {
        memcpy((uint8_t *)offsets + 8 * i, &at, 8);
        if (i + 1 < entries) at += cli_random_below(&state, longest + 1);
    }
    return at + cli_random_below(&state, 9);
}

uint64_t cli_wild_limit(const char *op) {
    static const struct {
        const char *prefix;
        uint64_t limit;
    } dear[] = {{"ec", 40},        {"ed25519", 40},  {"eigh", 40},     {"grid", 2050},
                {"matmul", 20000}, {"merkle", 4100}, {"sha256", 8200}, {"keccak256", 8200}};
    for (size_t i = 0; i < sizeof dear / sizeof *dear; i++)
        if (strncmp(op, dear[i].prefix, strlen(dear[i].prefix)) == 0) return dear[i].limit;
    return 66 * 4096 + 1; /* more blocks than a reduction has lanes */
}
