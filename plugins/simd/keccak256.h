/*
 * keccak256.h: Keccak-f[1600] and Keccak-256's padding, for words of any width.
 *
 * Included by keccak256_<isa>.c after it has defined what a word is (one lane of 64 bits, or several side by side):
 *
 *   word                    the type
 *   WORD_ROTL(a, n)         a rotated left by the constant n, 0 < n < 64 (a macro: vector rotates want immediates)
 *   word_xor(a, b)          a ^ b
 *   word_xor3(a, b, c)      a ^ b ^ c
 *   word_chi(a, b, c)       a ^ (~b & c)
 *   word_all(k)             k in every lane
 *   KECCAK_UNROLL           a pragma for the loop over the rounds, or nothing
 *
 * The padding is that of the Keccak submission, as Ethereum uses it (0x01), not SHA-3's (0x06).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_KECCAK256_H
#define SVMX_SIMD_KECCAK256_H

#include "tasks.h"

enum { KECCAK_WORDS = 25, KECCAK_BLOCK = 136, KECCAK_BLOCK_WORDS = KECCAK_BLOCK / 8 };

static const uint64_t keccak_round_constants[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};

/* Chi on one row, which replaces the five words that it was made of: so a round works nearly in place. */
SIMD_INLINE void keccak_chi(word out[5], word b0, word b1, word b2, word b3, word b4) {
    out[0] = word_chi(b0, b1, b2);
    out[1] = word_chi(b1, b2, b3);
    out[2] = word_chi(b2, b3, b4);
    out[3] = word_chi(b3, b4, b0);
    out[4] = word_chi(b4, b0, b1);
}

/* a[x + 5y]. The sums d are formed, though a three-way xor could do without: 25 words and 5 sums just fit into 32
 * registers, and three-way operations read more ports. c and d are in the order that frees registers soonest. */
SIMD_INLINE void keccak_round(word e[KECCAK_WORDS], const word a[KECCAK_WORDS], uint64_t constant) {
    const word c1 = word_xor3(word_xor3(a[1], a[6], a[11]), a[16], a[21]);
    const word c4 = word_xor3(word_xor3(a[4], a[9], a[14]), a[19], a[24]);
    const word d0 = word_xor(c4, WORD_ROTL(c1, 1));
    const word c3 = word_xor3(word_xor3(a[3], a[8], a[13]), a[18], a[23]);
    const word d2 = word_xor(c1, WORD_ROTL(c3, 1));
    const word c0 = word_xor3(word_xor3(a[0], a[5], a[10]), a[15], a[20]);
    const word d4 = word_xor(c3, WORD_ROTL(c0, 1));
    const word c2 = word_xor3(word_xor3(a[2], a[7], a[12]), a[17], a[22]);
    const word d1 = word_xor(c0, WORD_ROTL(c2, 1));
    const word d3 = word_xor(c2, WORD_ROTL(c4, 1));
#define MOVED(i, d, n) WORD_ROTL(word_xor(a[i], d), n)
    keccak_chi(e, word_xor(a[0], d0), MOVED(6, d1, 44), MOVED(12, d2, 43), MOVED(18, d3, 21), MOVED(24, d4, 14));
    e[0] = word_xor(e[0], word_all(constant));
    keccak_chi(e + 5, MOVED(3, d3, 28), MOVED(9, d4, 20), MOVED(10, d0, 3), MOVED(16, d1, 45), MOVED(22, d2, 61));
    keccak_chi(e + 10, MOVED(1, d1, 1), MOVED(7, d2, 6), MOVED(13, d3, 25), MOVED(19, d4, 8), MOVED(20, d0, 18));
    keccak_chi(e + 15, MOVED(4, d4, 27), MOVED(5, d0, 36), MOVED(11, d1, 10), MOVED(17, d2, 15), MOVED(23, d3, 56));
    keccak_chi(e + 20, MOVED(2, d2, 62), MOVED(8, d3, 55), MOVED(14, d4, 39), MOVED(15, d0, 41), MOVED(21, d1, 2));
#undef MOVED
}

/* Two rounds a turn: the state goes to and fro between two sets of names and is never moved. */
SIMD_INLINE void keccak_rounds(word a[KECCAK_WORDS]) {
    word e[KECCAK_WORDS];
    KECCAK_UNROLL
    for (int round = 0; round < 24; round += 2) {
        keccak_round(e, a, keccak_round_constants[round]);
        keccak_round(a, e, keccak_round_constants[round + 1]);
    }
}

/* Copied in and out, so that compilers see that nobody else looks and keep the words in registers. */
SIMD_INLINE void keccak_permute(word state[KECCAK_WORDS]) {
    word a[KECCAK_WORDS];
    for (int i = 0; i < KECCAK_WORDS; i++) a[i] = state[i];
    keccak_rounds(a);
    for (int i = 0; i < KECCAK_WORDS; i++) state[i] = a[i];
}

static inline uint64_t keccak_tail(uint8_t tail[KECCAK_BLOCK], const uint8_t *rest, size_t rest_bytes) {
    simd_tail_fill(tail, KECCAK_BLOCK, rest, rest_bytes, 0x01);
    tail[KECCAK_BLOCK - 1] |= 0x80;
    return 1;
}

#endif
