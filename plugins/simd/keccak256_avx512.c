/*
 * keccak256_avx512.c: Keccak-256 for AVX-512, eight messages side by side.
 *
 * Three-way logic and rotates are single instructions here: 95 a round, and their ports are the limit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <immintrin.h>

#include "kernels.h"
#include "tasks.h"
#include "transpose_avx512.h"

typedef __m512i word;
#define WORD_ROTL(a, n) _mm512_rol_epi64(a, n)
#define KECCAK_UNROLL   _Pragma("GCC unroll 12")

static inline word word_xor(word a, word b) { return _mm512_xor_si512(a, b); }

static inline word word_xor3(word a, word b, word c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }

static inline word word_chi(word a, word b, word c) { return _mm512_ternarylogic_epi64(a, b, c, 0xd2); }

static inline word word_all(uint64_t k) { return _mm512_set1_epi64((long long)k); }

#include "keccak256.h"

#define HASH_LANES 8
#define HASH_BLOCK KECCAK_BLOCK
#define HASH_TAIL  KECCAK_BLOCK
#include "hash_group.h"

struct hash_state {
    word words[KECCAK_WORDS];
};

enum { NO_REST = KECCAK_BLOCK }; /* a rest is shorter */

/* Eight words of each message, of which only the bytes in `mask` are read, the rest being zero. */
SIMD_INLINE void load_words(word r[8], const uint8_t *const at[8], uint64_t skip, __mmask64 mask) {
    for (int i = 0; i < 8; i++) r[i] = _mm512_maskz_loadu_epi8(mask, at[i] + skip);
    transpose(r);
}

static inline long long load_word(const uint8_t *at) { return (long long)simd_load_u64(at); }

/* A whole block as words of eight lanes. */
SIMD_INLINE void load_block(word block[KECCAK_BLOCK_WORDS], const uint8_t *const at[8], uint64_t skip) {
    load_words(block, at, skip, ~UINT64_C(0));
    load_words(block + 8, at, skip + 64, ~UINT64_C(0));
    const uint64_t last = skip + 128;
    block[16] = _mm512_setr_epi64(load_word(at[0] + last), load_word(at[1] + last), load_word(at[2] + last),
                                  load_word(at[3] + last), load_word(at[4] + last), load_word(at[5] + last),
                                  load_word(at[6] + last), load_word(at[7] + last));
}

/* The last block of a group. What is past the rest is not read: the mask keeps even faults away. */
SIMD_INLINE void load_rest(word block[KECCAK_BLOCK_WORDS], const uint8_t *const at[8], uint64_t skip, unsigned rest) {
    for (unsigned from = 0; from < KECCAK_BLOCK; from += 64) {
        const unsigned left = rest > from ? rest - from : 0;
        word r[8] = {0};
        if (left > 0) load_words(r, at, skip + from, left < 64 ? (UINT64_C(1) << left) - 1 : ~UINT64_C(0));
        for (unsigned i = 0; i < 8 && from / 8 + i < KECCAK_BLOCK_WORDS; i++) block[from / 8 + i] = r[i];
    }
    word *pad = &block[rest / 8], *last = &block[KECCAK_BLOCK_WORDS - 1];
    *pad = word_xor(*pad, word_all(UINT64_C(1) << 8 * (rest % 8)));
    *last = word_xor(*last, word_all(UINT64_C(1) << 63));
}

/*
 * Absorbs whole blocks and then, unless `rest` is NO_REST, the last bytes of all messages with their padding. The state
 * stays in registers from block to block: stores of 64 bytes are slow. One copy for all callers: unrolled it fills
 * half of the instruction cache.
 */
static SIMD_ALIGNED_FRAME void absorb_blocks(struct hash_state *state, const uint8_t *const at[8], uint64_t blocks,
                                             unsigned rest) {
    word a[KECCAK_WORDS], block[KECCAK_BLOCK_WORDS];
    const uint64_t whole = blocks * KECCAK_BLOCK, end = rest == NO_REST ? whole : whole + KECCAK_BLOCK;
    for (int i = 0; i < KECCAK_WORDS; i++) a[i] = state->words[i];
    for (uint64_t skip = 0; skip < end; skip += KECCAK_BLOCK) {
        if (skip < whole)
            load_block(block, at, skip);
        else
            load_rest(block, at, skip, rest);
        for (int i = 0; i < KECCAK_BLOCK_WORDS; i++) a[i] = word_xor(a[i], block[i]);
        keccak_rounds(a);
    }
    for (int i = 0; i < KECCAK_WORDS; i++) state->words[i] = a[i];
}

static void lanes_start(struct hash_state *state, uint32_t lanes) {
    const __mmask8 keep = (__mmask8)~lanes;
    for (int i = 0; i < KECCAK_WORDS; i++) state->words[i] = _mm512_maskz_mov_epi64(keep, state->words[i]);
}

/* A message on its own: the scalar permutation is shorter than one of eight lanes. */
static void absorb_alone(struct hash_state *state, unsigned lane, const uint8_t *at, uint64_t blocks) {
    uint64_t words[KECCAK_WORDS];
    for (int i = 0; i < KECCAK_WORDS; i++) memcpy(&words[i], (const uint8_t *)&state->words[i] + 8 * lane, 8);
    simd_keccak256_blocks_scalar(words, at, blocks);
    for (int i = 0; i < KECCAK_WORDS; i++) memcpy((uint8_t *)&state->words[i] + 8 * lane, &words[i], 8);
}

static void lanes_absorb(struct hash_state *state, const uint8_t *const at[8], uint64_t blocks, uint32_t busy) {
    const unsigned lane = (unsigned)__builtin_ctz(busy);
    if ((busy & (busy - 1)) == 0)
        absorb_alone(state, lane, at[lane], blocks);
    else
        absorb_blocks(state, at, blocks, NO_REST);
}

/* Writes the digests, the first four words of each lane. */
SIMD_INLINE void write_digests(const word w[4], uint32_t lanes, uint8_t *const digest[8]) {
    const word low_pair = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const word high_pair = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const word even01 = _mm512_unpacklo_epi64(w[0], w[1]), odd01 = _mm512_unpackhi_epi64(w[0], w[1]);
    const word even23 = _mm512_unpacklo_epi64(w[2], w[3]), odd23 = _mm512_unpackhi_epi64(w[2], w[3]);
    const word d02 = _mm512_permutex2var_epi64(even01, low_pair, even23);
    const word d46 = _mm512_permutex2var_epi64(even01, high_pair, even23);
    const word d13 = _mm512_permutex2var_epi64(odd01, low_pair, odd23);
    const word d57 = _mm512_permutex2var_epi64(odd01, high_pair, odd23);
    const __m256i d[8] = {
        _mm512_castsi512_si256(d02),       _mm512_castsi512_si256(d13),       _mm512_extracti64x4_epi64(d02, 1),
        _mm512_extracti64x4_epi64(d13, 1), _mm512_castsi512_si256(d46),       _mm512_castsi512_si256(d57),
        _mm512_extracti64x4_epi64(d46, 1), _mm512_extracti64x4_epi64(d57, 1),
    };
    for (unsigned i = 0; i < 8; i++)
        if (lanes >> i & 1) _mm256_storeu_si256((__m256i *)(void *)digest[i], d[i]);
}

static void lanes_digest(const struct hash_state *state, uint32_t lanes, uint8_t *const digest[8]) {
    write_digests(state->words, lanes, digest);
}

static uint64_t tail_make(uint8_t tail[HASH_TAIL], const uint8_t *rest, size_t rest_bytes, uint64_t bytes) {
    (void)bytes;
    return keccak_tail(tail, rest, rest_bytes);
}

/* The bytes [from, from + 64) of short messages with their padding, the last bit of a block excepted. */
SIMD_INLINE void load_short(word r[8], const struct hash_group *g, uint64_t from) {
    for (int i = 0; i < 8; i++) {
        const uint64_t bytes = g->bytes[i] - from; /* wraps in a message that ends before */
        const __mmask64 mark = bytes < 64 ? UINT64_C(1) << bytes : 0;
        const __mmask64 mask = bytes < 64 ? mark - 1 : g->bytes[i] < from ? 0 : ~UINT64_C(0);
        const uintptr_t at = (uintptr_t)g->at[i] + from; /* may be past a message: then nothing is read */
        r[i] = _mm512_mask_set1_epi8(_mm512_maskz_loadu_epi8(mask, (const void *)at), mark, 1);
    }
    transpose(r);
}

/*
 * Messages of one block, their lengths as they are. The state is made and used up in registers: stores of 64 bytes are
 * slow, and the general way would need three times as many.
 */
static SIMD_ALIGNED_FRAME void group_hash_short(const struct hash_group *g) {
    word a[KECCAK_WORDS], r[8];
    for (int i = 0; i < KECCAK_WORDS; i++) a[i] = _mm512_setzero_si512();
    load_short(r, g, 0);
    for (int i = 0; i < 8; i++) a[i] = r[i];
    if (g->longest == 64) { /* nothing but the padding, for what may well be the most hashed length */
        a[8] = _mm512_maskz_set1_epi64(_mm512_cmpeq_epi64_mask(_mm512_loadu_si512(g->bytes), word_all(64)), 1);
    } else if (g->longest > 64) {
        load_short(r, g, 64);
        for (int i = 0; i < 8; i++) a[8 + i] = r[i];
    }
    if (g->longest >= 128) {
        load_short(r, g, 128);
        a[16] = r[0];
    }
    a[16] = word_xor(a[16], word_all(UINT64_C(1) << 63));
    keccak_rounds(a);
    write_digests(a, group_mask(g), g->digest);
}

static void group_hash(const struct hash_group *g) {
    struct hash_state state = {0};
    const uint64_t blocks = g->bytes[0] / KECCAK_BLOCK;
    absorb_blocks(&state, g->at, blocks, (unsigned)(g->bytes[0] - blocks * KECCAK_BLOCK));
    write_digests(state.words, group_mask(g), g->digest);
}

void simd_keccak256_pairs_avx512(uint8_t *digests, const uint8_t *pairs, uint64_t count) {
    struct hash_group group;
    while (count > 1) {
        group_take_pairs(&group, digests, pairs, count);
        group_hash_short(&group);
        count -= group.count, pairs += UINT64_C(64) * group.count, digests += UINT64_C(32) * group.count;
    }
    simd_keccak256_pairs_scalar(digests, pairs, count);
}

void simd_keccak256_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    if (end - first == 1) {
        simd_keccak256_run_scalar(d, first, end);
        return;
    }
    struct simd_messages messages = simd_messages_start(d, first, end);
    struct hash_lanes lanes;
    struct hash_state state;
    struct hash_group group;
    lanes_init(&lanes, &state, sizeof state);
    while (group_take(&group, &messages) > 0) {
        if (group.count > 1 && group.longest < KECCAK_BLOCK)
            group_hash_short(&group);
        else if (group.count > 1 && group.shortest == group.longest)
            group_hash(&group);
        else
            group_push(&group, &lanes, &state);
    }
    lanes_drain(&lanes, &state);
}
