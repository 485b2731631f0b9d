/*
 * sha256.h: SHA-256's rounds for words of any width, and its padding.
 *
 * The rounds are there for files that define, before the include, SHA256_ROUNDS and what a word is (one lane of 32
 * bits, or several side by side):
 *
 *   word                        the type
 *   word_add(a, b)              sums modulo 2^32
 *   word_all(k)                 k in every lane
 *   word_xor3(a, b, c)          a ^ b ^ c
 *   word_ch(a, b, c)            a ? b : c, bit by bit
 *   word_maj(a, b, c)           the majority, bit by bit
 *   WORD_ROTR(a, n)             rotated right by a constant (a macro: vector rotates want immediates)
 *   WORD_SHR(a, n)              shifted right by a constant
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_SHA256_H
#define SVMX_SIMD_SHA256_H

#include "tasks.h"

enum { SHA256_BLOCK = 64, SHA256_TAIL = 128 };

static const uint32_t sha256_start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t sha256_rotr(uint32_t a, int n) { return a >> n | a << (32 - n); }

/* Pads the rest of a message of `bytes`: one block where the length fits behind it, else two. */
static inline uint64_t sha256_tail(uint8_t tail[SHA256_TAIL], const uint8_t *rest, size_t rest_bytes, uint64_t bytes) {
    const uint64_t blocks = rest_bytes < SHA256_BLOCK - 8 ? 1 : 2;
    simd_tail_fill(tail, blocks * SHA256_BLOCK, rest, rest_bytes, 0x80);
    const uint64_t bits = __builtin_bswap64(bytes * 8);
    memcpy(tail + blocks * SHA256_BLOCK - 8, &bits, 8);
    return blocks;
}

/*
 * Schedule plus constants of the block that holds nothing but the padding of a message of `bytes`. It is the second of
 * every 64-byte message, and with it known the block costs half.
 */
static inline void sha256_padding_schedule(uint32_t wk[64], uint64_t bytes) {
    uint32_t w[64] = {0};
    w[0] = UINT32_C(0x80000000);
    w[14] = (uint32_t)(bytes >> 29);
    w[15] = (uint32_t)(bytes << 3);
    for (int i = 16; i < 64; i++) {
        const uint32_t x = w[i - 15], y = w[i - 2];
        const uint32_t s0 = sha256_rotr(x, 7) ^ sha256_rotr(x, 18) ^ x >> 3;
        const uint32_t s1 = sha256_rotr(y, 17) ^ sha256_rotr(y, 19) ^ y >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    for (int i = 0; i < 64; i++) wk[i] = w[i] + sha256_constants[i];
}

/* The same for 64 bytes, ready-made: two nodes of a tree are hashed so often that it must cost nothing. */
static const uint32_t sha256_pair_padding[64] = {
    0xc28a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf374,
    0x649b69c1, 0xf0fe4786, 0x0fe1edc6, 0x240cf254, 0x4fe9346f, 0x6cc984be, 0x61b9411e, 0x16f988fa,
    0xf2c65152, 0xa88e5a6d, 0xb019fc65, 0xb9d99ec7, 0x9a1231c3, 0xe70eeaa0, 0xfdb1232b, 0xc7353eb0,
    0x3069bad5, 0xcb976d5f, 0x5a0f118f, 0xdc1eeefd, 0x0a35b689, 0xde0b7a04, 0x58f4ca9d, 0xe15d5b16,
    0x007f3e86, 0x37088980, 0xa507ea32, 0x6fab9537, 0x17406110, 0x0d8cd6f1, 0xcdaa3b6d, 0xc0bbbe37,
    0x83613bda, 0xdb48a363, 0x0b02e931, 0x6fd15ca7, 0x521afaca, 0x31338431, 0x6ed41a95, 0x6d437890,
    0xc39c91f2, 0x9eccabbd, 0xb5c9a0e6, 0x532fb63c, 0xd2c741c6, 0x07237ea3, 0xa4954b68, 0x4c191d76};

#ifdef SHA256_ROUNDS

/* Round `i` of eight. The eight words stay where they are; which is called a, b, ... moves by one a round. */
SIMD_INLINE void sha256_round(word s[8], int i, word wk) {
    const word a = s[(8 - i) & 7], b = s[(9 - i) & 7], c = s[(10 - i) & 7];
    const word e = s[(12 - i) & 7], f = s[(13 - i) & 7], g = s[(14 - i) & 7];
    word *d = &s[(11 - i) & 7], *h = &s[(15 - i) & 7];
    const word s1 = word_xor3(WORD_ROTR(e, 6), WORD_ROTR(e, 11), WORD_ROTR(e, 25));
    const word s0 = word_xor3(WORD_ROTR(a, 2), WORD_ROTR(a, 13), WORD_ROTR(a, 22));
    const word t = word_add(word_add(*h, wk), word_add(s1, word_ch(e, f, g)));
    *d = word_add(*d, t);
    *h = word_add(t, word_add(s0, word_maj(a, b, c)));
}

/* The schedule's word 16 after w[i], in its place. */
SIMD_INLINE word sha256_next(word w[16], int i) {
    const word x = w[(i + 1) & 15], y = w[(i + 14) & 15];
    const word s0 = word_xor3(WORD_ROTR(x, 7), WORD_ROTR(x, 18), WORD_SHR(x, 3));
    const word s1 = word_xor3(WORD_ROTR(y, 17), WORD_ROTR(y, 19), WORD_SHR(y, 10));
    w[i] = word_add(word_add(w[i], s0), word_add(w[(i + 9) & 15], s1));
    return w[i];
}

/* Sixteen rounds on sixteen words; `next` moves the schedule on first. Written out, for compilers keep an array in
 * registers only if they see constant indices from the start. */
SIMD_INLINE void sha256_rounds(word s[8], word w[16], const uint32_t *k, int next) {
#define ROUND(i) sha256_round(s, (i)&7, word_add(next ? sha256_next(w, i) : w[i], word_all(k[i])))
    ROUND(0), ROUND(1), ROUND(2), ROUND(3), ROUND(4), ROUND(5), ROUND(6), ROUND(7);
    ROUND(8), ROUND(9), ROUND(10), ROUND(11), ROUND(12), ROUND(13), ROUND(14), ROUND(15);
#undef ROUND
}

/* Compresses one block: `w` holds its words in the machine's byte order and is used up. */
SIMD_INLINE void sha256_compress(word state[8], const word block[16]) {
    word s[8], w[16];
    for (int i = 0; i < 8; i++) s[i] = state[i];
    for (int i = 0; i < 16; i++) w[i] = block[i];
    sha256_rounds(s, w, sha256_constants, 0);
    for (int k = 16; k < 64; k += 16) sha256_rounds(s, w, sha256_constants + k, 1);
    for (int i = 0; i < 8; i++) state[i] = word_add(state[i], s[i]);
}

/* The same for a block whose schedule is known, and one for all lanes. */
SIMD_INLINE void sha256_compress_known(word state[8], const uint32_t wk[64]) {
    word s[8];
    for (int i = 0; i < 8; i++) s[i] = state[i];
    for (int k = 0; k < 64; k += 8) {
        sha256_round(s, 0, word_all(wk[k])), sha256_round(s, 1, word_all(wk[k + 1]));
        sha256_round(s, 2, word_all(wk[k + 2])), sha256_round(s, 3, word_all(wk[k + 3]));
        sha256_round(s, 4, word_all(wk[k + 4])), sha256_round(s, 5, word_all(wk[k + 5]));
        sha256_round(s, 6, word_all(wk[k + 6])), sha256_round(s, 7, word_all(wk[k + 7]));
    }
    for (int i = 0; i < 8; i++) state[i] = word_add(state[i], s[i]);
}

#endif
#endif
