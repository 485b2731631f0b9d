/*
 * sha256_avx2.c: SHA-256 for AVX2, eight messages side by side, for machines without the SHA instructions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <immintrin.h>

#include "kernels.h"
#include "tasks.h"

typedef __m256i word;
#define WORD_ROTR(a, n) _mm256_or_si256(_mm256_srli_epi32(a, n), _mm256_slli_epi32(a, 32 - (n)))
#define WORD_SHR(a, n)  _mm256_srli_epi32(a, n)

static inline word word_add(word a, word b) { return _mm256_add_epi32(a, b); }

static inline word word_all(uint32_t k) { return _mm256_set1_epi32((int)k); }

static inline word word_xor3(word a, word b, word c) { return _mm256_xor_si256(a, _mm256_xor_si256(b, c)); }

static inline word word_ch(word a, word b, word c) {
    return _mm256_xor_si256(c, _mm256_and_si256(a, _mm256_xor_si256(b, c)));
}

static inline word word_maj(word a, word b, word c) {
    return _mm256_xor_si256(_mm256_and_si256(a, b), _mm256_and_si256(c, _mm256_xor_si256(a, b)));
}

#define SHA256_ROUNDS
#include "sha256.h"

#define HASH_LANES 8
#define HASH_BLOCK SHA256_BLOCK
#define HASH_TAIL  SHA256_TAIL
#include "hash_lanes.h"

struct hash_state {
    word words[8];
};

static inline word swap_bytes(word a) {
    const __m128i order = _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    return _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(order));
}

/* In each half of four rows: a 4 x 4 transpose. */
SIMD_INLINE void transpose_halves(word r[4]) {
    const word a0 = _mm256_unpacklo_epi32(r[0], r[1]), a1 = _mm256_unpackhi_epi32(r[0], r[1]);
    const word a2 = _mm256_unpacklo_epi32(r[2], r[3]), a3 = _mm256_unpackhi_epi32(r[2], r[3]);
    r[0] = _mm256_unpacklo_epi64(a0, a2), r[1] = _mm256_unpackhi_epi64(a0, a2);
    r[2] = _mm256_unpacklo_epi64(a1, a3), r[3] = _mm256_unpackhi_epi64(a1, a3);
}

/* Eight rows of one message each become eight words of eight lanes; and back. */
SIMD_INLINE void transpose(word r[8]) {
    transpose_halves(r), transpose_halves(r + 4);
    for (int i = 0; i < 4; i++) {
        const word low = _mm256_permute2x128_si256(r[i], r[4 + i], 0x20);
        r[4 + i] = _mm256_permute2x128_si256(r[i], r[4 + i], 0x31);
        r[i] = low;
    }
}

static SIMD_ALIGNED_FRAME void absorb_blocks(struct hash_state *state, const uint8_t *const at[8], uint64_t blocks) {
    for (uint64_t skip = 0; blocks > 0; blocks--, skip += SHA256_BLOCK) {
        word w[16];
        for (int i = 0; i < 8; i++) {
            const __m256i *row = (const __m256i *)(const void *)(at[i] + skip);
            w[i] = swap_bytes(_mm256_loadu_si256(row));
            w[8 + i] = swap_bytes(_mm256_loadu_si256(row + 1));
        }
        transpose(w), transpose(w + 8);
        sha256_compress(state->words, w);
    }
}

static void lanes_start(struct hash_state *state, uint32_t lanes) {
    const word bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const word start = _mm256_cmpeq_epi32(_mm256_and_si256(word_all(lanes), bit), bit);
    for (int i = 0; i < 8; i++) state->words[i] = _mm256_blendv_epi8(state->words[i], word_all(sha256_start[i]), start);
}

/* A message on its own: a scalar block is shorter than eight side by side. */
static void absorb_alone(struct hash_state *state, unsigned lane, const uint8_t *at, uint64_t blocks) {
    uint32_t words[8];
    for (int i = 0; i < 8; i++) memcpy(&words[i], (const uint8_t *)&state->words[i] + 4 * lane, 4);
    simd_sha256_blocks_scalar(words, at, blocks);
    for (int i = 0; i < 8; i++) memcpy((uint8_t *)&state->words[i] + 4 * lane, &words[i], 4);
}

static void lanes_absorb(struct hash_state *state, const uint8_t *const at[8], uint64_t blocks, uint32_t busy) {
    const unsigned lane = (unsigned)__builtin_ctz(busy);
    if ((busy & (busy - 1)) == 0)
        absorb_alone(state, lane, at[lane], blocks);
    else
        absorb_blocks(state, at, blocks);
}

static void lanes_digest(const struct hash_state *state, uint32_t lanes, uint8_t *const digest[8]) {
    word r[8];
    for (int i = 0; i < 8; i++) r[i] = swap_bytes(state->words[i]);
    transpose(r);
    for (unsigned i = 0; i < 8; i++)
        if (lanes >> i & 1) _mm256_storeu_si256((__m256i *)(void *)digest[i], r[i]);
}

static uint64_t tail_make(uint8_t tail[HASH_TAIL], const uint8_t *rest, size_t rest_bytes, uint64_t bytes) {
    return sha256_tail(tail, rest, rest_bytes, bytes);
}

static SIMD_ALIGNED_FRAME void compress_padding(struct hash_state *state) {
    sha256_compress_known(state->words, sha256_pair_padding);
}

/* Fewer than this are sooner done one by one. */
enum { PAIRS_MIN = 4 };

void simd_sha256_pairs_avx2(uint8_t *digests, const uint8_t *pairs, uint64_t count) {
    while (count >= PAIRS_MIN) {
        const uint64_t taken = count < HASH_LANES ? count : HASH_LANES;
        const uint8_t *at[HASH_LANES];
        uint8_t *digest[HASH_LANES];
        struct hash_state state;
        for (uint64_t i = 0; i < HASH_LANES; i++) {
            at[i] = pairs + 64 * (i < taken ? i : 0);
            digest[i] = digests + 32 * i;
        }
        for (int i = 0; i < 8; i++) state.words[i] = word_all(sha256_start[i]);
        absorb_blocks(&state, at, 1);
        compress_padding(&state);
        lanes_digest(&state, (UINT32_C(1) << taken) - 1, digest);
        count -= taken, pairs += 64 * taken, digests += 32 * taken;
    }
    simd_sha256_pairs_scalar(digests, pairs, count);
}

void simd_sha256_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    if (end - first == 1) {
        simd_sha256_run_scalar(d, first, end);
        return;
    }
    struct hash_lanes lanes;
    struct hash_state state;
    lanes_init(&lanes, &state, sizeof state);
    lanes_run(&lanes, &state, d, first, end);
}
