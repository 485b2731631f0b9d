/*
 * keccak256_scalar.c: Keccak-256 for any machine, one message at a time.
 *
 * Also serves the other variants: a message that is alone in its lanes is finished here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernels.h"
#include "tasks.h"

typedef uint64_t word;
#define WORD_ROTL(a, n) ((a) << (n) | (a) >> (64 - (n)))
#define KECCAK_UNROLL

static inline word word_xor(word a, word b) { return a ^ b; }

static inline word word_xor3(word a, word b, word c) { return a ^ b ^ c; }

static inline word word_chi(word a, word b, word c) { return a ^ (~b & c); }

static inline word word_all(uint64_t k) { return k; }

#include "keccak256.h"

#define HASH_LANES 1
#define HASH_BLOCK KECCAK_BLOCK
#define HASH_TAIL  KECCAK_BLOCK
#include "hash_lanes.h"

struct hash_state {
    word words[KECCAK_WORDS];
};

void simd_keccak256_blocks_scalar(uint64_t state[25], const uint8_t *at, uint64_t blocks) {
    for (; blocks > 0; blocks--, at += KECCAK_BLOCK) {
        for (int i = 0; i < KECCAK_BLOCK_WORDS; i++) state[i] ^= simd_load_u64(at + 8 * i);
        keccak_permute(state);
    }
}

static void lanes_start(struct hash_state *state, uint32_t lanes) {
    (void)lanes;
    memset(state, 0, sizeof *state);
}

static void lanes_absorb(struct hash_state *state, const uint8_t *const at[1], uint64_t blocks, uint32_t busy) {
    (void)busy;
    simd_keccak256_blocks_scalar(state->words, at[0], blocks);
}

static void lanes_digest(const struct hash_state *state, uint32_t lanes, uint8_t *const digest[1]) {
    (void)lanes;
    memcpy(digest[0], state->words, 32);
}

static uint64_t tail_make(uint8_t tail[HASH_TAIL], const uint8_t *rest, size_t rest_bytes, uint64_t bytes) {
    (void)bytes;
    return keccak_tail(tail, rest, rest_bytes);
}

void simd_keccak256_pairs_scalar(uint8_t *digests, const uint8_t *pairs, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        uint64_t state[KECCAK_WORDS] = {0};
        for (int k = 0; k < 8; k++) state[k] = simd_load_u64(pairs + 64 * i + 8 * k);
        state[8] = 1;
        state[16] = UINT64_C(1) << 63;
        keccak_permute(state);
        memcpy(digests + 32 * i, state, 32);
    }
}

void simd_keccak256_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    struct hash_lanes lanes;
    struct hash_state state;
    lanes_init(&lanes, &state, sizeof state);
    lanes_run(&lanes, &state, d, first, end);
}
