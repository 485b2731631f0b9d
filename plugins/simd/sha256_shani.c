/*
 * sha256_shani.c: SHA-256 on the SHA instructions of x86, two messages at once.
 *
 * One message leaves the unit idle for half of the time: each pair of rounds waits for the pair before. Two fill it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <immintrin.h>

#include "kernels.h"
#include "sha256.h"

#define HASH_LANES 2
#define HASH_BLOCK SHA256_BLOCK
#define HASH_TAIL  SHA256_TAIL
#include "hash_lanes.h"

/* Eight words of a message in the order that the instructions want. */
struct half_pair {
    __m128i abef, cdgh;
};

struct hash_state {
    struct half_pair lane[2];
};

static inline __m128i swap_bytes(__m128i a) {
    return _mm_shuffle_epi8(a, _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
}

SIMD_INLINE void load_block(__m128i w[4], const uint8_t *at) {
    for (int i = 0; i < 4; i++) w[i] = swap_bytes(_mm_loadu_si128((const __m128i *)(const void *)(at + 16 * i)));
}

/* Four rounds: with schedule and constants added up, and with the schedule alone. */
SIMD_INLINE void rounds_known(struct half_pair *s, __m128i wk) {
    s->cdgh = _mm_sha256rnds2_epu32(s->cdgh, s->abef, wk);
    s->abef = _mm_sha256rnds2_epu32(s->abef, s->cdgh, _mm_shuffle_epi32(wk, 0x0e));
}

SIMD_INLINE void rounds(struct half_pair *s, __m128i w, int k) {
    rounds_known(s, _mm_add_epi32(w, _mm_loadu_si128((const __m128i *)(const void *)(sha256_constants + k))));
}

/* The four words of the schedule that follow a, b, c, d. */
SIMD_INLINE __m128i next_words(__m128i a, __m128i b, __m128i c, __m128i d) {
    const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(a, b), _mm_alignr_epi8(d, c, 4));
    return _mm_sha256msg2_epu32(sum, d);
}

/* Sixteen rounds of `lanes` messages in step. */
SIMD_INLINE void rounds16(struct half_pair *s, __m128i (*w)[4], int lanes, int k) {
    for (int i = 0; i < lanes; i++) rounds(&s[i], w[i][0], k);
    for (int i = 0; i < lanes; i++) rounds(&s[i], w[i][1], k + 4);
    for (int i = 0; i < lanes; i++) rounds(&s[i], w[i][2], k + 8);
    for (int i = 0; i < lanes; i++) rounds(&s[i], w[i][3], k + 12);
}

SIMD_INLINE void schedule16(__m128i w[4]) {
    w[0] = next_words(w[0], w[1], w[2], w[3]);
    w[1] = next_words(w[1], w[2], w[3], w[0]);
    w[2] = next_words(w[2], w[3], w[0], w[1]);
    w[3] = next_words(w[3], w[0], w[1], w[2]);
}

SIMD_INLINE void absorb(struct half_pair *state, const uint8_t *const *at, int lanes, uint64_t blocks) {
    struct half_pair s[2];
    for (int i = 0; i < lanes; i++) s[i] = state[i];
    for (uint64_t skip = 0; blocks > 0; blocks--, skip += SHA256_BLOCK) {
        __m128i w[2][4];
        struct half_pair before[2];
        for (int i = 0; i < lanes; i++) {
            before[i] = s[i];
            load_block(w[i], at[i] + skip);
        }
        rounds16(s, w, lanes, 0);
        for (int k = 16; k < 64; k += 16) {
            for (int i = 0; i < lanes; i++) schedule16(w[i]);
            rounds16(s, w, lanes, k);
        }
        for (int i = 0; i < lanes; i++) {
            s[i].abef = _mm_add_epi32(s[i].abef, before[i].abef);
            s[i].cdgh = _mm_add_epi32(s[i].cdgh, before[i].cdgh);
        }
    }
    for (int i = 0; i < lanes; i++) state[i] = s[i];
}

static void lanes_start(struct hash_state *state, uint32_t lanes) {
    const uint32_t *h = sha256_start;
    for (unsigned i = 0; i < 2; i++) {
        if (!(lanes >> i & 1)) continue;
        state->lane[i].abef = _mm_setr_epi32((int)h[5], (int)h[4], (int)h[1], (int)h[0]);
        state->lane[i].cdgh = _mm_setr_epi32((int)h[7], (int)h[6], (int)h[3], (int)h[2]);
    }
}

static void lanes_absorb(struct hash_state *state, const uint8_t *const at[2], uint64_t blocks, uint32_t busy) {
    const unsigned lane = busy >> 1 & 1;
    if (busy == 3)
        absorb(state->lane, at, 2, blocks);
    else
        absorb(&state->lane[lane], &at[lane], 1, blocks);
}

static void lanes_digest(const struct hash_state *state, uint32_t lanes, uint8_t *const digest[2]) {
    for (unsigned i = 0; i < 2; i++) {
        if (!(lanes >> i & 1)) continue;
        const __m128i feba = _mm_shuffle_epi32(state->lane[i].abef, 0x1b); /* a b e f from low to high */
        const __m128i hgdc = _mm_shuffle_epi32(state->lane[i].cdgh, 0x1b);
        _mm_storeu_si128((__m128i *)(void *)digest[i], swap_bytes(_mm_unpacklo_epi64(feba, hgdc)));
        _mm_storeu_si128((__m128i *)(void *)(digest[i] + 16), swap_bytes(_mm_unpackhi_epi64(feba, hgdc)));
    }
}

static uint64_t tail_make(uint8_t tail[HASH_TAIL], const uint8_t *rest, size_t rest_bytes, uint64_t bytes) {
    return sha256_tail(tail, rest, rest_bytes, bytes);
}

/* One or two pairs: their block, then the padding block, whose schedule is known. */
SIMD_INLINE void hash_pairs(uint8_t *digests, const uint8_t *pairs, int lanes) {
    const uint8_t *const at[2] = {pairs, pairs + 64 * (lanes - 1)};
    uint8_t *const digest[2] = {digests, digests + 32};
    struct hash_state state;
    lanes_start(&state, 3);
    absorb(state.lane, at, lanes, 1);
    struct half_pair s[2];
    for (int i = 0; i < lanes; i++) s[i] = state.lane[i];
    for (int k = 0; k < 64; k += 4) {
        const __m128i wk = _mm_loadu_si128((const __m128i *)(const void *)(sha256_pair_padding + k));
        for (int i = 0; i < lanes; i++) rounds_known(&s[i], wk);
    }
    for (int i = 0; i < lanes; i++) {
        state.lane[i].abef = _mm_add_epi32(s[i].abef, state.lane[i].abef);
        state.lane[i].cdgh = _mm_add_epi32(s[i].cdgh, state.lane[i].cdgh);
    }
    lanes_digest(&state, lanes == 2 ? 3 : 1, digest);
}

void simd_sha256_pairs_shani(uint8_t *digests, const uint8_t *pairs, uint64_t count) {
    for (; count >= 2; count -= 2, digests += 64, pairs += 128) hash_pairs(digests, pairs, 2);
    if (count > 0) hash_pairs(digests, pairs, 1);
}

void simd_sha256_run_shani(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    struct hash_lanes lanes;
    struct hash_state state;
    lanes_init(&lanes, &state, sizeof state);
    lanes_run(&lanes, &state, d, first, end);
}
