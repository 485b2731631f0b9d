/*
 * sha256_avx512.c: SHA-256 for AVX-512, sixteen messages side by side.
 *
 * Two kernels: one for machines without the SHA instructions, and one that has them serve whatever does not make a
 * group. Where both exist, a step of sixteen lanes takes about as long as fourteen blocks there, so that lanes pay
 * only when they are full and need no care.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <immintrin.h>

#include "kernels.h"
#include "tasks.h"

typedef __m512i word;
#define WORD_ROTR(a, n) _mm512_ror_epi32(a, n)
#define WORD_SHR(a, n)  _mm512_srli_epi32(a, n)

static inline word word_add(word a, word b) { return _mm512_add_epi32(a, b); }

static inline word word_all(uint32_t k) { return _mm512_set1_epi32((int)k); }

static inline word word_xor3(word a, word b, word c) { return _mm512_ternarylogic_epi32(a, b, c, 0x96); }

static inline word word_ch(word a, word b, word c) { return _mm512_ternarylogic_epi32(a, b, c, 0xca); }

static inline word word_maj(word a, word b, word c) { return _mm512_ternarylogic_epi32(a, b, c, 0xe8); }

#define SHA256_ROUNDS
#include "sha256.h"

#define HASH_LANES 16
#define HASH_BLOCK SHA256_BLOCK
#define HASH_TAIL  SHA256_TAIL
#include "hash_group.h"

struct hash_state {
    word words[8];
};

static inline word swap_bytes(word a) {
    const __m128i order = _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    return _mm512_shuffle_epi8(a, _mm512_broadcast_i32x4(order));
}

/* In each quarter of four rows: a 4 x 4 transpose. */
SIMD_INLINE void transpose_quarters(word r[4]) {
    const word a0 = _mm512_unpacklo_epi32(r[0], r[1]), a1 = _mm512_unpackhi_epi32(r[0], r[1]);
    const word a2 = _mm512_unpacklo_epi32(r[2], r[3]), a3 = _mm512_unpackhi_epi32(r[2], r[3]);
    r[0] = _mm512_unpacklo_epi64(a0, a2), r[1] = _mm512_unpackhi_epi64(a0, a2);
    r[2] = _mm512_unpacklo_epi64(a1, a3), r[3] = _mm512_unpackhi_epi64(a1, a3);
}

/* Sixteen rows of one message each become sixteen words of sixteen lanes. */
SIMD_INLINE void transpose(word r[16]) {
    transpose_quarters(r), transpose_quarters(r + 4), transpose_quarters(r + 8), transpose_quarters(r + 12);
    for (int i = 0; i < 4; i++) {
        const word a = _mm512_shuffle_i32x4(r[i], r[4 + i], 0x88), b = _mm512_shuffle_i32x4(r[i], r[4 + i], 0xdd);
        const word c = _mm512_shuffle_i32x4(r[8 + i], r[12 + i], 0x88);
        const word d = _mm512_shuffle_i32x4(r[8 + i], r[12 + i], 0xdd);
        r[i] = _mm512_shuffle_i32x4(a, c, 0x88), r[8 + i] = _mm512_shuffle_i32x4(a, c, 0xdd);
        r[4 + i] = _mm512_shuffle_i32x4(b, d, 0x88), r[12 + i] = _mm512_shuffle_i32x4(b, d, 0xdd);
    }
}

/* Of each message only the bytes in `mask` are read, the rest of the block being zero. */
SIMD_INLINE void load_block(word w[16], const uint8_t *const at[16], uint64_t skip, __mmask64 mask) {
    for (int i = 0; i < 16; i++) w[i] = swap_bytes(_mm512_maskz_loadu_epi8(mask, at[i] + skip));
    transpose(w);
}

static SIMD_ALIGNED_FRAME void compress(struct hash_state *state, const word w[16]) {
    sha256_compress(state->words, w);
}

static void absorb_blocks(struct hash_state *state, const uint8_t *const at[16], uint64_t blocks) {
    for (uint64_t skip = 0; blocks > 0; blocks--, skip += SHA256_BLOCK) {
        word w[16];
        load_block(w, at, skip, ~UINT64_C(0));
        compress(state, w);
    }
}

/* The last one or two blocks of a group. What is past the rest is not read: the mask keeps even faults away. */
static void absorb_rest(struct hash_state *state, const uint8_t *const at[16], uint64_t bytes) {
    const unsigned rest = (unsigned)(bytes % SHA256_BLOCK);
    word w[16];
    load_block(w, at, bytes - rest, (UINT64_C(1) << rest) - 1);
    w[rest / 4] = _mm512_or_si512(w[rest / 4], word_all(UINT32_C(0x80000000) >> 8 * (rest % 4)));
    if (rest >= SHA256_BLOCK - 8) {
        compress(state, w);
        for (int i = 0; i < 14; i++) w[i] = _mm512_setzero_si512();
    }
    w[14] = word_all((uint32_t)(bytes >> 29));
    w[15] = word_all((uint32_t)(bytes << 3));
    compress(state, w);
}

static void lanes_start(struct hash_state *state, uint32_t lanes) {
    for (int i = 0; i < 8; i++)
        state->words[i] = _mm512_mask_mov_epi32(state->words[i], (__mmask16)lanes, word_all(sha256_start[i]));
}

/* A message on its own: a scalar block takes half as long as sixteen side by side. */
static void absorb_alone(struct hash_state *state, unsigned lane, const uint8_t *at, uint64_t blocks) {
    uint32_t words[8];
    for (int i = 0; i < 8; i++) memcpy(&words[i], (const uint8_t *)&state->words[i] + 4 * lane, 4);
    simd_sha256_blocks_scalar(words, at, blocks);
    for (int i = 0; i < 8; i++) memcpy((uint8_t *)&state->words[i] + 4 * lane, &words[i], 4);
}

static void lanes_absorb(struct hash_state *state, const uint8_t *const at[16], uint64_t blocks, uint32_t busy) {
    const unsigned lane = (unsigned)__builtin_ctz(busy);
    if ((busy & (busy - 1)) == 0)
        absorb_alone(state, lane, at[lane], blocks);
    else
        absorb_blocks(state, at, blocks);
}

static void lanes_digest(const struct hash_state *state, uint32_t lanes, uint8_t *const digest[16]) {
    const word low_pair = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const word high_pair = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    alignas(64) uint8_t bytes[16][32];
    word r[8];
    for (int i = 0; i < 8; i++) r[i] = swap_bytes(state->words[i]);
    transpose_quarters(r), transpose_quarters(r + 4);
    for (int i = 0; i < 4; i++) {
        const word low = _mm512_permutex2var_epi64(r[i], low_pair, r[4 + i]);
        const word high = _mm512_permutex2var_epi64(r[i], high_pair, r[4 + i]);
        _mm256_store_si256((__m256i *)(void *)bytes[i], _mm512_castsi512_si256(low));
        _mm256_store_si256((__m256i *)(void *)bytes[4 + i], _mm512_extracti64x4_epi64(low, 1));
        _mm256_store_si256((__m256i *)(void *)bytes[8 + i], _mm512_castsi512_si256(high));
        _mm256_store_si256((__m256i *)(void *)bytes[12 + i], _mm512_extracti64x4_epi64(high, 1));
    }
    for (unsigned i = 0; i < 16; i++)
        if (lanes >> i & 1) memcpy(digest[i], bytes[i], 32);
}

static uint64_t tail_make(uint8_t tail[HASH_TAIL], const uint8_t *rest, size_t rest_bytes, uint64_t bytes) {
    return sha256_tail(tail, rest, rest_bytes, bytes);
}

/* The schedule of the last padding block, kept for the next group: lengths rarely change. */
struct padding {
    uint64_t bytes;
    uint32_t wk[64];
};

static void group_hash(const struct hash_group *g, struct padding *padding) {
    struct hash_state state;
    const uint64_t bytes = g->bytes[0];
    for (int i = 0; i < 8; i++) state.words[i] = word_all(sha256_start[i]);
    absorb_blocks(&state, g->at, bytes / SHA256_BLOCK);
    if (bytes % SHA256_BLOCK != 0) {
        absorb_rest(&state, g->at, bytes);
    } else {
        if (padding->bytes != bytes) sha256_padding_schedule(padding->wk, bytes);
        padding->bytes = bytes;
        sha256_compress_known(state.words, padding->wk);
    }
    lanes_digest(&state, group_mask(g), g->digest);
}

void simd_sha256_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    if (end - first == 1) {
        simd_sha256_run_scalar(d, first, end);
        return;
    }
    struct simd_messages messages = simd_messages_start(d, first, end);
    struct padding padding = {.bytes = 1}; /* no length that needs one */
    struct hash_lanes lanes;
    struct hash_state state;
    struct hash_group group;
    lanes_init(&lanes, &state, sizeof state);
    while (group_take(&group, &messages) > 0) {
        if (group.count > 1 && group.shortest == group.longest)
            group_hash(&group, &padding);
        else
            group_push(&group, &lanes, &state);
    }
    lanes_drain(&lanes, &state);
}

/* From so many messages of one length on, lanes are faster than the SHA instructions. */
enum { GROUP_MIN = 13 };

/* Pairs in lanes while there are at least `least` of them. Returns how many are left, the last ones. */
static uint64_t pairs_in_lanes(uint8_t *digests, const uint8_t *pairs, uint64_t count, uint64_t least) {
    struct hash_group group;
    while (count >= least) {
        struct hash_state state;
        group_take_pairs(&group, digests, pairs, count);
        for (int i = 0; i < 8; i++) state.words[i] = word_all(sha256_start[i]);
        absorb_blocks(&state, group.at, 1);
        sha256_compress_known(state.words, sha256_pair_padding);
        lanes_digest(&state, group_mask(&group), group.digest);
        count -= group.count, pairs += UINT64_C(64) * group.count, digests += UINT64_C(32) * group.count;
    }
    return count;
}

void simd_sha256_pairs_avx512(uint8_t *digests, const uint8_t *pairs, uint64_t count) {
    const uint64_t left = pairs_in_lanes(digests, pairs, count, 3), done = count - left;
    simd_sha256_pairs_scalar(digests + 32 * done, pairs + 64 * done, left);
}

void simd_sha256_pairs_avx512_shani(uint8_t *digests, const uint8_t *pairs, uint64_t count) {
    const uint64_t left = pairs_in_lanes(digests, pairs, count, GROUP_MIN), done = count - left;
    simd_sha256_pairs_shani(digests + 32 * done, pairs + 64 * done, left);
}

void simd_sha256_run_avx512_shani(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    if (end - first < GROUP_MIN) {
        simd_sha256_run_shani(d, first, end);
        return;
    }
    struct simd_messages messages = simd_messages_start(d, first, end);
    struct padding padding = {.bytes = 1}; /* no length that needs one */
    struct hash_group group;
    uint64_t odd = first, unit = first; /* units [odd, unit) wait for the SHA instructions */
    while (group_take(&group, &messages) > 0) {
        if (group.count >= GROUP_MIN && group.shortest == group.longest) {
            if (odd < unit) simd_sha256_run_shani(d, odd, unit);
            group_hash(&group, &padding);
            odd = unit + group.count;
        }
        unit += group.count;
    }
    if (odd < end) simd_sha256_run_shani(d, odd, end);
}
