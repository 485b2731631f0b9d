/*
 * secp256k1_table_ifma.c: the rows of multiples of the generator, 256 KiB, made when they are first needed.
 *
 * Each lane walks 256 of the 2,048 odd multiples of G, two G at a step, and then those of 2^132 G. Where it starts comes
 * from libsecp256k1; the inverses for sixteen steps are one inversion. Under a millisecond.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "secp256k1_lanes.h"
#include "transpose_avx512.h"

#include <assert.h>
#include <pthread.h>
#include <secp256k1.h>
#include <stdalign.h>

enum { STEPS = SECP_G_ROWS / SECP_LANES, TOGETHER = 16, BASE_BITS = SECP_G_BITS * SECP_G_WINDOWS };

alignas(64) uint64_t simd_secp256k1_rows[2 * SECP_G_ROWS][8];

static const uint8_t generator[33] = {0x02, 0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0,
                                      0x62, 0x95, 0xce, 0x87, 0x0b, 0x07, 0x02, 0x9b, 0xfc, 0xdb, 0x2d,
                                      0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16, 0xf8, 0x17, 0x98};

/* The point times 2^shift G as eight words: x and y, lowest first. Nothing here can fail: it is a point, and no multiple of
 * the order. */
static void start_point(uint64_t words[8], uint32_t times, int shift) {
    uint8_t tweak[32] = {0}, point[65];
    size_t bytes = sizeof point;
    secp256k1_pubkey key;
    const int byte = 31 - shift / 8; /* big-endian */
    times <<= shift % 8;
    for (int i = 0; i < 3; i++) tweak[byte - i] = (uint8_t)(times >> 8 * i);
    int good = secp256k1_ec_pubkey_parse(secp256k1_context_static, &key, generator, sizeof generator) &&
               secp256k1_ec_pubkey_tweak_mul(secp256k1_context_static, &key, tweak) &&
               secp256k1_ec_pubkey_serialize(secp256k1_context_static, point, &bytes, &key, SECP256K1_EC_UNCOMPRESSED);
    assert(good);
    (void)good;
    for (int i = 0; i < 8; i++) {
        memcpy(&words[i], point + 1 + 8 * (i < 4 ? 3 - i : 11 - i), 8);
        words[i] = __builtin_bswap64(words[i]);
    }
}

static void affine_read(struct affine *p, uint64_t words[SECP_LANES][8]) {
    word w[8];
    for (int i = 0; i < SECP_LANES; i++) w[i] = _mm512_loadu_si512(words[i]);
    transpose(w);
    digits_from_words(p->x.d, w);
    digits_from_words(p->y.d, w + 4);
}

/* Row `step` of every lane, STEPS rows apart. */
static void rows_write(uint64_t (*rows)[8], const struct jacobian *p, const struct fe *inverse) {
    struct fe x, y, power;
    word w[8];
    fe_sqr(&power, inverse);
    fe_mul(&x, &p->x, &power);
    fe_mul(&power, &power, inverse);
    fe_mul(&y, &p->y, &power);
    fe_normal(&x);
    fe_normal(&y);
    words_from_digits(w, x.d);
    words_from_digits(w + 4, y.d);
    transpose(w);
    for (int i = 0; i < SECP_LANES; i++) _mm512_store_si512(rows[STEPS * i], w[i]);
}

static void half_make(uint64_t (*rows)[8], int shift) {
    struct jacobian p, walk[TOGETHER];
    struct affine start, two;
    struct fe z[TOGETHER], spare[TOGETHER];
    uint64_t words[SECP_LANES][8];
    for (uint32_t i = 0; i < SECP_LANES; i++) start_point(words[i], 2 * STEPS * i + 1, shift);
    affine_read(&start, words);
    for (int i = 0; i < SECP_LANES; i++) start_point(words[i], 2, shift);
    affine_read(&two, words);
    p = (struct jacobian){start.x, start.y, fe_of(1)};
    for (int step = 0; step < STEPS; step += TOGETHER) {
        for (int i = 0; i < TOGETHER; i++) {
            walk[i] = p, z[i] = p.z;
            simd_secp256k1_add(&p, &two, 0);
        }
        simd_secp256k1_inverse(z, spare, TOGETHER);
        for (int i = 0; i < TOGETHER; i++) rows_write(rows + step + i, &walk[i], &z[i]);
    }
}

static void rows_make_all(void) {
    half_make(simd_secp256k1_rows, 0);
    half_make(simd_secp256k1_rows + SECP_G_ROWS, BASE_BITS);
}

void simd_secp256k1_rows_make(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, rows_make_all);
}
