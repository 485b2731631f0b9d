/*
 * keccak256_avx2.c: Keccak-256 for AVX2, four messages side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <immintrin.h>

#include "kernels.h"
#include "tasks.h"

typedef __m256i word;
#define WORD_ROTL(a, n) _mm256_or_si256(_mm256_slli_epi64(a, n), _mm256_srli_epi64(a, 64 - (n)))
#define KECCAK_UNROLL

static inline word word_xor(word a, word b) { return _mm256_xor_si256(a, b); }

static inline word word_xor3(word a, word b, word c) { return _mm256_xor_si256(a, _mm256_xor_si256(b, c)); }

static inline word word_chi(word a, word b, word c) { return _mm256_xor_si256(a, _mm256_andnot_si256(b, c)); }

static inline word word_all(uint64_t k) { return _mm256_set1_epi64x((long long)k); }

#include "keccak256.h"

#define HASH_LANES 4
#define HASH_BLOCK KECCAK_BLOCK
#define HASH_TAIL  KECCAK_BLOCK
#include "hash_lanes.h"

struct hash_state {
    word words[KECCAK_WORDS];
};

/* Four rows of four words, one a message, become four words of four lanes; and back. */
SIMD_INLINE void transpose(word r[4]) {
    const word a0 = _mm256_unpacklo_epi64(r[0], r[1]), a1 = _mm256_unpackhi_epi64(r[0], r[1]);
    const word a2 = _mm256_unpacklo_epi64(r[2], r[3]), a3 = _mm256_unpackhi_epi64(r[2], r[3]);
    r[0] = _mm256_permute2x128_si256(a0, a2, 0x20), r[2] = _mm256_permute2x128_si256(a0, a2, 0x31);
    r[1] = _mm256_permute2x128_si256(a1, a3, 0x20), r[3] = _mm256_permute2x128_si256(a1, a3, 0x31);
}

static inline long long load_word(const uint8_t *at) { return (long long)simd_load_u64(at); }

static inline void absorb_block(word words[KECCAK_WORDS], const uint8_t *const at[4], uint64_t skip) {
    for (int k = 0; k < 16; k += 4) {
        word r[4];
        for (int i = 0; i < 4; i++) r[i] = _mm256_loadu_si256((const __m256i *)(const void *)(at[i] + skip + 8 * k));
        transpose(r);
        for (int i = 0; i < 4; i++) words[k + i] = _mm256_xor_si256(words[k + i], r[i]);
    }
    const uint64_t last = skip + 128;
    const word w16 = _mm256_setr_epi64x(load_word(at[0] + last), load_word(at[1] + last), load_word(at[2] + last),
                                        load_word(at[3] + last));
    words[16] = _mm256_xor_si256(words[16], w16);
}

static SIMD_ALIGNED_FRAME void absorb_blocks(struct hash_state *state, const uint8_t *const at[4], uint64_t blocks) {
    for (uint64_t skip = 0; blocks > 0; blocks--, skip += KECCAK_BLOCK) {
        absorb_block(state->words, at, skip);
        keccak_permute(state->words);
    }
}

static void lanes_start(struct hash_state *state, uint32_t lanes) {
    const word bit = _mm256_setr_epi64x(1, 2, 4, 8);
    const word start = _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(lanes), bit), bit);
    for (int i = 0; i < KECCAK_WORDS; i++) state->words[i] = _mm256_andnot_si256(start, state->words[i]);
}

/* A message on its own: the scalar permutation is shorter than one of four lanes. */
static void absorb_alone(struct hash_state *state, unsigned lane, const uint8_t *at, uint64_t blocks) {
    uint64_t words[KECCAK_WORDS];
    for (int i = 0; i < KECCAK_WORDS; i++) memcpy(&words[i], (const uint8_t *)&state->words[i] + 8 * lane, 8);
    simd_keccak256_blocks_scalar(words, at, blocks);
    for (int i = 0; i < KECCAK_WORDS; i++) memcpy((uint8_t *)&state->words[i] + 8 * lane, &words[i], 8);
}

static void lanes_absorb(struct hash_state *state, const uint8_t *const at[4], uint64_t blocks, uint32_t busy) {
    const unsigned lane = (unsigned)__builtin_ctz(busy);
    if ((busy & (busy - 1)) == 0)
        absorb_alone(state, lane, at[lane], blocks);
    else
        absorb_blocks(state, at, blocks);
}

static void lanes_digest(const struct hash_state *state, uint32_t lanes, uint8_t *const digest[4]) {
    const word *w = state->words;
    word r[4] = {w[0], w[1], w[2], w[3]};
    transpose(r);
    for (unsigned i = 0; i < 4; i++)
        if (lanes >> i & 1) _mm256_storeu_si256((__m256i *)(void *)digest[i], r[i]);
}

static uint64_t tail_make(uint8_t tail[HASH_TAIL], const uint8_t *rest, size_t rest_bytes, uint64_t bytes) {
    (void)bytes;
    return keccak_tail(tail, rest, rest_bytes);
}

/* Up to four pairs, fewer in the lanes of `mask` only: eight words, the mark, and the last bit of the block. */
static SIMD_ALIGNED_FRAME void hash_pairs(const uint8_t *const at[4], uint32_t mask, uint8_t *const digest[4]) {
    struct hash_state state;
    memset(&state, 0, sizeof state);
    for (int k = 0; k < 8; k += 4) {
        for (int i = 0; i < 4; i++)
            state.words[k + i] = _mm256_loadu_si256((const __m256i *)(const void *)(at[i] + 8 * k));
        transpose(state.words + k);
    }
    state.words[8] = word_all(1);
    state.words[16] = word_all(UINT64_C(1) << 63);
    keccak_permute(state.words);
    lanes_digest(&state, mask, digest);
}

void simd_keccak256_pairs_avx2(uint8_t *digests, const uint8_t *pairs, uint64_t count) {
    while (count > 1) {
        const uint64_t taken = count < HASH_LANES ? count : HASH_LANES;
        const uint8_t *at[HASH_LANES];
        uint8_t *digest[HASH_LANES];
        for (uint64_t i = 0; i < HASH_LANES; i++) {
            at[i] = pairs + 64 * (i < taken ? i : 0);
            digest[i] = digests + 32 * i;
        }
        hash_pairs(at, (UINT32_C(1) << taken) - 1, digest);
        count -= taken, pairs += 64 * taken, digests += 32 * taken;
    }
    simd_keccak256_pairs_scalar(digests, pairs, count);
}

void simd_keccak256_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    if (end - first == 1) {
        simd_keccak256_run_scalar(d, first, end);
        return;
    }
    struct hash_lanes lanes;
    struct hash_state state;
    lanes_init(&lanes, &state, sizeof state);
    lanes_run(&lanes, &state, d, first, end);
}
