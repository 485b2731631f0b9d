/*
 * sha256.cl: SHA-256 of one message, or of LANES messages side by side. docs/OPERATIONS.md has the definition.
 *
 * In front of messages.cl and merkle.cl; keccak256.cl says what they expect of a hash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define BLOCK 64
#define MARK  0x80

typedef uint RAW;
#if LANES == 1
typedef uint W;
#else
typedef uint16 W;
#endif

enum { BLOCK_RAWS = 16, NODE_RAWS = 8 };
typedef uint8 NODE;

struct hash {
    W s[8];
};

__constant uint sha256_start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

__constant uint sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/* Schedule plus constants of the block of padding behind 64 bytes: two nodes of a tree are hashed often. */
__constant uint sha256_pair_padding[64] = {
    0xc28a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf374,
    0x649b69c1, 0xf0fe4786, 0x0fe1edc6, 0x240cf254, 0x4fe9346f, 0x6cc984be, 0x61b9411e, 0x16f988fa,
    0xf2c65152, 0xa88e5a6d, 0xb019fc65, 0xb9d99ec7, 0x9a1231c3, 0xe70eeaa0, 0xfdb1232b, 0xc7353eb0,
    0x3069bad5, 0xcb976d5f, 0x5a0f118f, 0xdc1eeefd, 0x0a35b689, 0xde0b7a04, 0x58f4ca9d, 0xe15d5b16,
    0x007f3e86, 0x37088980, 0xa507ea32, 0x6fab9537, 0x17406110, 0x0d8cd6f1, 0xcdaa3b6d, 0xc0bbbe37,
    0x83613bda, 0xdb48a363, 0x0b02e931, 0x6fd15ca7, 0x521afaca, 0x31338431, 0x6ed41a95, 0x6d437890,
    0xc39c91f2, 0x9eccabbd, 0xb5c9a0e6, 0x532fb63c, 0xd2c741c6, 0x07237ea3, 0xa4954b68, 0x4c191d76};

/* ---- the compression ------------------------------------------------------------------------------------------ */

#define TURN(a, n) rotate(a, (W)(32 - (n))) /* to the right */

/* Between the machine's byte order and the standard's. */
SVMX_INLINE W sha256_swap(W a) { return (TURN(a, 8) & 0xff00ff00) | (TURN(a, 24) & 0x00ff00ff); }

/* Round i of eight. The words stay where they are; which is called a, b, ... moves by one a round. */
SVMX_INLINE void sha256_round(W *s, uint i, W wk) {
    const W a = s[(8 - i) & 7], b = s[(9 - i) & 7], c = s[(10 - i) & 7];
    const W e = s[(12 - i) & 7], f = s[(13 - i) & 7], g = s[(14 - i) & 7];
    const W sum1 = TURN(e, 6) ^ TURN(e, 11) ^ TURN(e, 25), choice = g ^ (e & (f ^ g));
    const W sum0 = TURN(a, 2) ^ TURN(a, 13) ^ TURN(a, 22), majority = b ^ ((a ^ b) & (b ^ c));
    const W t = s[(15 - i) & 7] + wk + sum1 + choice;
    s[(11 - i) & 7] += t;
    s[(15 - i) & 7] = t + sum0 + majority;
}

/* The schedule's word 16 behind w[i]. */
SVMX_INLINE W sha256_next(const W *w, uint i) {
    const W x = w[(i + 1) & 15], y = w[(i + 14) & 15];
    return w[i] + (TURN(x, 7) ^ TURN(x, 18) ^ x >> 3) + w[(i + 9) & 15] + (TURN(y, 17) ^ TURN(y, 19) ^ y >> 10);
}

/* Absorbs sixteen words. */
SVMX_INLINE void sha256_compress(W *state, W *w) {
    W s[8];
#pragma unroll
    for (uint i = 0; i < 8; i++) s[i] = state[i];
    for (uint k = 0; k < 64; k += 16) {
#pragma unroll
        for (uint i = 0; i < 16; i++) sha256_round(s, i & 7, w[i] + sha256_constants[k + i]);
        if (k == 48) break;
#pragma unroll
        for (uint i = 0; i < 16; i++) w[i] = sha256_next(w, i);
    }
#pragma unroll
    for (uint i = 0; i < 8; i++) state[i] += s[i];
}

/* The same of a block whose schedule is known. */
SVMX_INLINE void sha256_compress_known(W *state, __constant const uint *wk) {
    W s[8];
#pragma unroll
    for (uint i = 0; i < 8; i++) s[i] = state[i];
    for (uint k = 0; k < 64; k += 8) {
#pragma unroll
        for (uint i = 0; i < 8; i++) sha256_round(s, i, (W)(wk[k + i]));
    }
#pragma unroll
    for (uint i = 0; i < 8; i++) state[i] += s[i];
}

/* ---- what every hash has -------------------------------------------------------------------------------------- */

SVMX_INLINE void hash_start(struct hash *h) {
#pragma unroll
    for (uint i = 0; i < 8; i++) h->s[i] = (W)(sha256_start[i]);
}

SVMX_INLINE void hash_absorb(struct hash *h, const W *block) {
    W w[16];
#pragma unroll
    for (uint i = 0; i < 16; i++) w[i] = sha256_swap(block[i]);
    sha256_compress(h->s, w);
}

/* Of a message that is one block. */
SVMX_INLINE void hash_only(struct hash *h, const W *block) {
    hash_start(h);
    hash_absorb(h, block);
}

SVMX_INLINE void hash_digest(const struct hash *h, W *digest) {
#pragma unroll
    for (uint i = 0; i < NODE_RAWS; i++) digest[i] = sha256_swap(h->s[i]);
}

/* The digest of 64 bytes. */
SVMX_INLINE void hash_pair(W *digest, const W *pair) {
    struct hash h;
    hash_start(&h);
    hash_absorb(&h, pair);
    sha256_compress_known(h.s, sha256_pair_padding);
    hash_digest(&h, digest);
}

SVMX_INLINE ulong hash_blocks(ulong bytes) { return (bytes + 8) / BLOCK + 1; }

/* What padding adds to RAW i of the last block, the mark excepted: the length in bits, big-endian. */
SVMX_INLINE RAW hash_last_raw(uint i, ulong bytes) {
    const uint low = (uint)(bytes << 3), high = (uint)(bytes >> 29);
    return i < 14 ? 0 : as_uint(as_uchar4(i == 15 ? low : high).wzyx);
}
