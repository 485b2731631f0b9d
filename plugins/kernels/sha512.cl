/*
 * sha512.cl: SHA-512 of R, key and message, one after another: the k of Ed25519. Behind fe32.cl; for ed25519.cl.
 *
 *   stream   R 32 | key 32 | message | 0x80 | zeros | length in bits, 16 bytes      blocks of 128
 *
 * Bytes are read one by one: a message begins anywhere, and beside the curve that is little.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
enum { SHA_BLOCK = 128, SHA_HEAD = 64, SHA_LENGTH = 16 };

__constant ulong sha512_constants[80] = {
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

struct stream {
    __global const uchar *signature, *key, *data; /* R is the first half of the signature */
    ulong bytes;                                  /* of the message */
};

SVMX_INLINE uint stream_byte(const struct stream *s, ulong at) {
    const ulong total = SHA_HEAD + s->bytes;
    if (at < 32) return s->signature[at];
    if (at < SHA_HEAD) return s->key[at - 32];
    return at < total ? s->data[at - SHA_HEAD] : at == total ? 0x80 : 0;
}

/* Word `number` of the stream; of the last block the last two are the length. A call: inlined, the loads of sixteen words stand
 * side by side, and there are not so many registers on AMD. */
FE_CALL ulong stream_word(const struct stream *s, ulong number, ulong words) {
    ulong word = 0;
    if (number == words - 1) return (SHA_HEAD + s->bytes) << 3;
    if (number == words - 2) return (SHA_HEAD + s->bytes) >> 61;
    for (uint i = 0; i < 8; i++) word = word << 8 | stream_byte(s, 8 * number + i);
    return word;
}

SVMX_INLINE ulong turned(ulong a, uint right) { return rotate(a, (ulong)(64 - right)); }

/* w[i % 16], when it has been used, becomes the one of 16 rounds later. */
SVMX_INLINE void sha512_rounds(ulong *s, ulong *w, uint from) {
    for (uint i = 0; i < 16; i++) {
        const ulong e = s[4], a = s[0];
        const ulong t = s[7] + (turned(e, 14) ^ turned(e, 18) ^ turned(e, 41)) + (s[6] ^ (e & (s[5] ^ s[6]))) +
                        sha512_constants[from + i] + w[i];
        const ulong u = (turned(a, 28) ^ turned(a, 34) ^ turned(a, 39)) + ((a & s[1]) | (s[2] & (a | s[1])));
#pragma unroll
        for (int k = 7; k > 0; k--) s[k] = s[k - 1];
        s[4] += t;
        s[0] = t + u;
        const ulong x = w[(i + 1) % 16], y = w[(i + 14) % 16];
        w[i] += (turned(x, 1) ^ turned(x, 8) ^ x >> 7) + w[(i + 9) % 16] + (turned(y, 19) ^ turned(y, 61) ^ y >> 6);
    }
}

/* The digest as a number of 512 bits, whose first byte is the lowest: `low` and `high` of it. */
FE_CALL void sha512(fe *low, fe *high, const struct stream *stream) {
    ulong h[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                  0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179}, s[8], w[16];
    const ulong words = 16 * ((SHA_HEAD + stream->bytes + SHA_LENGTH) / SHA_BLOCK + 1);
    for (ulong from = 0; from < words; from += 16) {
        for (uint i = 0; i < 16; i++) w[i] = stream_word(stream, from + i, words);
#pragma unroll
        for (uint i = 0; i < 8; i++) s[i] = h[i];
        for (uint round = 0; round < 80; round += 16) sha512_rounds(s, w, round);
#pragma unroll
        for (uint i = 0; i < 8; i++) h[i] += s[i];
    }
    union limbs a, b;
#pragma unroll
    for (uint i = 0; i < 4; i++) {
        a.at[2 * i] = swapped((uint)(h[i] >> 32));
        a.at[2 * i + 1] = swapped((uint)h[i]);
        b.at[2 * i] = swapped((uint)(h[i + 4] >> 32));
        b.at[2 * i + 1] = swapped((uint)h[i + 4]);
    }
    *low = a.all;
    *high = b.all;
}
