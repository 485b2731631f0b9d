/*
 * ed25519_hash_ifma.c: SHA-512 of R, key and message, eight side by side: the k of Ed25519.
 *
 * Messages have any lengths: a lane whose message is done keeps its state while others go on. Blocks that lie in a message are
 * read where they are; the first, which begins with R and the key, and those with padding are put together first.
 *
 *   stream   R 32 | key 32 | message | 0x80 | zeros | length in bits, 16 bytes      blocks of 128
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ed25519_lanes.h"
#include "transpose_avx512.h"

#include <stdalign.h>

enum { BLOCK = 128, HEAD = 64, PART = 32, LENGTH_BYTES = 16, ROUNDS = 80 };

static const uint64_t constants[ROUNDS] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
    0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
    0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
    0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
    0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
    0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
    0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
    0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
    0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
    0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
    0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
    0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817};

static const uint64_t start[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                  0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

/* ---- blocks ----------------------------------------------------------------------------------------------- */

static uint64_t blocks_of(uint64_t bytes) { return (HEAD + bytes + LENGTH_BYTES) / BLOCK + 1; }

/* The part of a stretch of the stream, `bytes` from `at` on, that falls into the block that begins at `from`. */
static void put(uint8_t block[BLOCK], uint64_t from, const uint8_t *data, uint64_t at, uint64_t bytes) {
    const uint64_t begin = at > from ? at : from, end = at + bytes < from + BLOCK ? at + bytes : from + BLOCK;
    if (begin < end) memcpy(block + (begin - from), data + (begin - at), end - begin);
}

static void block_make(uint8_t block[BLOCK], const struct ed_message *m, uint64_t number) {
    const uint64_t from = number * BLOCK, total = HEAD + m->bytes;
    memset(block, 0, BLOCK);
    put(block, from, m->r, 0, PART);
    put(block, from, m->key, PART, PART);
    put(block, from, m->data, HEAD, m->bytes);
    if (total >= from && total < from + BLOCK) block[total - from] = 0x80;
    if (number + 1 < blocks_of(m->bytes)) return;
    const uint64_t bits = __builtin_bswap64(total << 3);
    memcpy(block + BLOCK - 8, &bits, 8);
    block[BLOCK - 9] = (uint8_t)(total >> 61);
}

/* Where a lane's block is to be read: in its message, or in `room`. A lane that is done reads anything. */
static const uint8_t *block_at(uint8_t room[BLOCK], const struct ed_message *m, uint64_t number) {
    if (number >= blocks_of(m->bytes)) return room;
    if (number > 0 && (number + 1) * BLOCK <= HEAD + m->bytes) return m->data + (number * BLOCK - HEAD);
    block_make(room, m, number);
    return room;
}

/* ---- rounds ----------------------------------------------------------------------------------------------- */

SIMD_INLINE word big_endian(word w) {
    const __m128i order = _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
    return _mm512_shuffle_epi8(w, _mm512_broadcast_i32x4(order));
}

SIMD_INLINE word xor3(word a, word b, word c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }

SIMD_INLINE void schedule(word w[16], int i) {
    const word a = w[(i + 1) % 16], b = w[(i + 14) % 16];
    const word s0 = xor3(_mm512_ror_epi64(a, 1), _mm512_ror_epi64(a, 8), _mm512_srli_epi64(a, 7));
    const word s1 = xor3(_mm512_ror_epi64(b, 19), _mm512_ror_epi64(b, 61), _mm512_srli_epi64(b, 6));
    w[i] = word_add(word_add(w[i], s0), word_add(w[(i + 9) % 16], s1));
}

/* s[7 - i], counted round, is the h of round i: nothing moves but names. */
SIMD_INLINE void sha_round(word s[8], int i, word w, uint64_t constant) {
#define AT(k) s[((k) + 80 - i) % 8]
    const word e = AT(4), a = AT(0);
    const word s1 = xor3(_mm512_ror_epi64(e, 14), _mm512_ror_epi64(e, 18), _mm512_ror_epi64(e, 41));
    const word s0 = xor3(_mm512_ror_epi64(a, 28), _mm512_ror_epi64(a, 34), _mm512_ror_epi64(a, 39));
    const word choice = _mm512_ternarylogic_epi64(e, AT(5), AT(6), 0xca);
    const word majority = _mm512_ternarylogic_epi64(a, AT(1), AT(2), 0xe8);
    const word t = word_add(word_add(AT(7), word_add(w, word_all(constant))), word_add(s1, choice));
    AT(3) = word_add(AT(3), t);
    AT(7) = word_add(t, word_add(s0, majority));
#undef AT
}

static SIMD_ALIGNED_FRAME void absorb(word state[8], const uint8_t *const at[ED_LANES], __mmask8 busy) {
    word w[16], s[8];
    for (int i = 0; i < ED_LANES; i++) {
        w[i] = _mm512_loadu_si512(at[i]);
        w[8 + i] = _mm512_loadu_si512(at[i] + 64);
    }
    transpose(w);
    transpose(w + 8);
    FE_UNROLL for (int i = 0; i < 16; i++) w[i] = big_endian(w[i]);
    FE_UNROLL for (int i = 0; i < 8; i++) s[i] = state[i];
    for (int from = 0; from < ROUNDS; from += 16) {
        FE_UNROLL for (int i = 0; i < 16; i++) {
            if (from > 0) schedule(w, i);
            sha_round(s, i, w[i], constants[from + i]);
        }
    }
    FE_UNROLL for (int i = 0; i < 8; i++) state[i] = _mm512_mask_add_epi64(state[i], busy, state[i], s[i]);
}

void simd_ed25519_hash(word hash[8], const struct ed_message messages[ED_LANES]) {
    alignas(64) uint8_t room[ED_LANES][BLOCK] = {{0}};
    const uint8_t *at[ED_LANES];
    uint64_t most = 0;
    for (int i = 0; i < ED_LANES; i++) {
        const uint64_t blocks = blocks_of(messages[i].bytes);
        most = blocks > most ? blocks : most;
        hash[i] = word_all(start[i]); /* a word each, and as many as lanes */
    }
    for (uint64_t number = 0; number < most; number++) {
        __mmask8 busy = 0;
        for (int i = 0; i < ED_LANES; i++) {
            at[i] = block_at(room[i], &messages[i], number);
            busy |= (__mmask8)((number < blocks_of(messages[i].bytes)) << i);
        }
        absorb(hash, at, busy);
    }
    for (int i = 0; i < 8; i++) hash[i] = big_endian(hash[i]);
}
