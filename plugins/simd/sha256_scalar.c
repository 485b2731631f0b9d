/*
 * sha256_scalar.c: SHA-256 for any machine, one message at a time.
 *
 * Also serves the other variants: a message that is alone in its lanes is finished here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernels.h"
#include "tasks.h"

typedef uint32_t word;
#define WORD_ROTR(a, n) ((a) >> (n) | (a) << (32 - (n)))
#define WORD_SHR(a, n)  ((a) >> (n))

static inline word word_add(word a, word b) { return a + b; }

static inline word word_all(uint32_t k) { return k; }

static inline word word_xor3(word a, word b, word c) { return a ^ b ^ c; }

static inline word word_ch(word a, word b, word c) { return c ^ (a & (b ^ c)); }

static inline word word_maj(word a, word b, word c) { return (a & b) ^ (c & (a ^ b)); }

#define SHA256_ROUNDS
#include "sha256.h"

#define HASH_LANES 1
#define HASH_BLOCK SHA256_BLOCK
#define HASH_TAIL  SHA256_TAIL
#include "hash_lanes.h"

struct hash_state {
    word words[8];
};

void simd_sha256_blocks_scalar(uint32_t state[8], const uint8_t *at, uint64_t blocks) {
    for (; blocks > 0; blocks--, at += SHA256_BLOCK) {
        word w[16];
        for (int i = 0; i < 16; i++) {
            memcpy(&w[i], at + 4 * i, 4);
            w[i] = __builtin_bswap32(w[i]);
        }
        sha256_compress(state, w);
    }
}

static void lanes_start(struct hash_state *state, uint32_t lanes) {
    (void)lanes;
    memcpy(state->words, sha256_start, sizeof state->words);
}

static void lanes_absorb(struct hash_state *state, const uint8_t *const at[1], uint64_t blocks, uint32_t busy) {
    (void)busy;
    simd_sha256_blocks_scalar(state->words, at[0], blocks);
}

static void lanes_digest(const struct hash_state *state, uint32_t lanes, uint8_t *const digest[1]) {
    (void)lanes;
    for (int i = 0; i < 8; i++) {
        const uint32_t swapped = __builtin_bswap32(state->words[i]);
        memcpy(digest[0] + 4 * i, &swapped, 4);
    }
}

static uint64_t tail_make(uint8_t tail[HASH_TAIL], const uint8_t *rest, size_t rest_bytes, uint64_t bytes) {
    return sha256_tail(tail, rest, rest_bytes, bytes);
}

void simd_sha256_pairs_scalar(uint8_t *digests, const uint8_t *pairs, uint64_t count) {
    struct hash_state state;
    for (uint64_t i = 0; i < count; i++) {
        memcpy(state.words, sha256_start, sizeof state.words);
        simd_sha256_blocks_scalar(state.words, pairs + 64 * i, 1);
        sha256_compress_known(state.words, sha256_pair_padding);
        uint8_t *const digest = digests + 32 * i;
        lanes_digest(&state, 1, &digest);
    }
}

void simd_sha256_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    struct hash_lanes lanes;
    struct hash_state state;
    lanes_init(&lanes, &state, sizeof state);
    lanes_run(&lanes, &state, d, first, end);
}
