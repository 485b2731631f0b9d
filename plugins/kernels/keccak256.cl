/*
 * keccak256.cl: Keccak-256 of one message, or of LANES messages side by side. docs/OPERATIONS.md has the definition.
 *
 * In front of messages.cl and merkle.cl, which know a hash by what is defined here and in sha256.cl alike:
 *
 *   RAW, BLOCK, MARK     the type in which a block is read, little-endian; bytes of a block; the byte behind a message
 *   W                    one RAW of each lane: a vector, or a RAW where LANES is 1
 *   BLOCK_RAWS, NODE_RAWS    RAWs of a block and of a digest
 *   struct hash          what a hash carries from block to block
 *   hash_start, hash_absorb, hash_only, hash_digest, hash_pair, hash_blocks, hash_last_raw
 *
 * On GPUs (LANES is 1) a word of 64 bits is two halves of 32: their registers have no more, and a turn is two funnel
 * shifts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define BLOCK 136
#define MARK  0x01

#if LANES == 1
typedef uint RAW;
typedef uint W;
typedef uint2 K; /* a word of the state: low half, high half */
#define K_ALL(k)     ((K)((uint)(k), (uint)((ulong)(k) >> 32)))
#define K_TURN(a, n) (n < 32 ? k_turn(a, n) : k_turn(a.yx, (n) - 32))
SVMX_INLINE K k_turn(K a, uint n) { return a << n | a.yx >> (32 - n); }
#else
typedef ulong RAW;
typedef ulong8 W;
typedef W K;
#define K_ALL(k)     ((K)(ulong)(k))
#define K_TURN(a, n) rotate(a, (K)(n))
#endif

enum { BLOCK_RAWS = BLOCK / sizeof(RAW), NODE_RAWS = 32 / sizeof(RAW), STATE = 25 };
typedef ulong4 NODE;

struct hash {
    K s[STATE];
};

/* ---- the permutation ------------------------------------------------------------------------------------------ */

__constant ulong keccak_constants[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};

SVMX_INLINE void keccak_chi(K *e, K b0, K b1, K b2, K b3, K b4) {
    e[0] = b0 ^ (~b1 & b2);
    e[1] = b1 ^ (~b2 & b3);
    e[2] = b2 ^ (~b3 & b4);
    e[3] = b3 ^ (~b4 & b0);
    e[4] = b4 ^ (~b0 & b1);
}

/* One round from a to e; a[x + 5 y]. Rows in an order that frees registers soon. */
SVMX_INLINE void keccak_round(K *e, const K *a, ulong addend) {
    const K c0 = a[0] ^ a[5] ^ a[10] ^ a[15] ^ a[20];
    const K c1 = a[1] ^ a[6] ^ a[11] ^ a[16] ^ a[21];
    const K c2 = a[2] ^ a[7] ^ a[12] ^ a[17] ^ a[22];
    const K c3 = a[3] ^ a[8] ^ a[13] ^ a[18] ^ a[23];
    const K c4 = a[4] ^ a[9] ^ a[14] ^ a[19] ^ a[24];
    const K d0 = c4 ^ K_TURN(c1, 1), d1 = c0 ^ K_TURN(c2, 1), d2 = c1 ^ K_TURN(c3, 1);
    const K d3 = c2 ^ K_TURN(c4, 1), d4 = c3 ^ K_TURN(c0, 1);
#define MOVED(i, d, n) K_TURN((a[i] ^ d), n)
    keccak_chi(e, a[0] ^ d0, MOVED(6, d1, 44), MOVED(12, d2, 43), MOVED(18, d3, 21), MOVED(24, d4, 14));
    e[0] ^= K_ALL(addend);
    keccak_chi(e + 5, MOVED(3, d3, 28), MOVED(9, d4, 20), MOVED(10, d0, 3), MOVED(16, d1, 45), MOVED(22, d2, 61));
    keccak_chi(e + 10, MOVED(1, d1, 1), MOVED(7, d2, 6), MOVED(13, d3, 25), MOVED(19, d4, 8), MOVED(20, d0, 18));
    keccak_chi(e + 15, MOVED(4, d4, 27), MOVED(5, d0, 36), MOVED(11, d1, 10), MOVED(17, d2, 15), MOVED(23, d3, 56));
    keccak_chi(e + 20, MOVED(2, d2, 62), MOVED(8, d3, 55), MOVED(14, d4, 39), MOVED(15, d0, 41), MOVED(21, d1, 2));
#undef MOVED
}

/* Two rounds a turn: the state goes to and fro between two sets of names and is never moved. */
SVMX_INLINE void keccak_permute(K *a) {
    K e[STATE];
    for (uint round = 0; round < 24; round += 2) {
        keccak_round(e, a, keccak_constants[round]);
        keccak_round(a, e, keccak_constants[round + 1]);
    }
}

/* The same with its ends apart, where most of the state is known to be 0 before and four words of it are asked for after: the
 * compiler leaves the rest of the first and of the last round out, a twentieth of all. */
SVMX_INLINE void keccak_permute_once(K *a) {
    K e[STATE];
    keccak_round(e, a, keccak_constants[0]);
    keccak_round(a, e, keccak_constants[1]);
    for (uint round = 2; round < 22; round += 2) {
        keccak_round(e, a, keccak_constants[round]);
        keccak_round(a, e, keccak_constants[round + 1]);
    }
    keccak_round(e, a, keccak_constants[22]);
    keccak_round(a, e, keccak_constants[23]);
}

/* ---- what every hash has -------------------------------------------------------------------------------------- */

#if LANES == 1
#define K_OF(block, i) ((K)(block[2 * (i)], block[2 * (i) + 1]))
#define RAW_OF(s, i)   ((i) % 2 ? (s)[(i) / 2].y : (s)[(i) / 2].x)
#else
#define K_OF(block, i) (block[i])
#define RAW_OF(s, i)   ((s)[i])
#endif

SVMX_INLINE void hash_start(struct hash *h) {
#pragma unroll
    for (uint i = 0; i < STATE; i++) h->s[i] = K_ALL(0);
}

SVMX_INLINE void hash_absorb(struct hash *h, const W *block) {
#pragma unroll
    for (uint i = 0; i < BLOCK / 8; i++) h->s[i] ^= K_OF(block, i);
    keccak_permute(h->s);
}

/* Of a message that is one block. */
SVMX_INLINE void hash_only(struct hash *h, const W *block) {
    hash_start(h);
#pragma unroll
    for (uint i = 0; i < BLOCK / 8; i++) h->s[i] = K_OF(block, i);
    keccak_permute_once(h->s);
}

SVMX_INLINE void hash_digest(const struct hash *h, W *digest) {
#pragma unroll
    for (uint i = 0; i < NODE_RAWS; i++) digest[i] = RAW_OF(h->s, i);
}

/* The digest of 64 bytes. */
SVMX_INLINE void hash_pair(W *digest, const W *pair) {
    struct hash h;
    hash_start(&h);
#pragma unroll
    for (uint i = 0; i < 8; i++) h.s[i] = K_OF(pair, i);
    h.s[8] = K_ALL(MARK);
    h.s[16] = K_ALL(0x8000000000000000);
    keccak_permute(h.s);
    hash_digest(&h, digest);
}

SVMX_INLINE ulong hash_blocks(ulong bytes) { return bytes / BLOCK + 1; }

/* What padding adds to RAW i of the last block, the mark excepted. */
SVMX_INLINE RAW hash_last_raw(uint i, ulong bytes) {
    return i == BLOCK_RAWS - 1 ? (RAW)1 << (8 * sizeof(RAW) - 1) : 0;
}
