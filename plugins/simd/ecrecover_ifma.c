/*
 * ecrecover_ifma.c: ecrecover for AVX-512 with IFMA, eight signatures side by side and up to 128 in one go.
 *
 *   numbers and ranges      lane by lane (secp256k1_stage.h)
 *   1 / r                   one inversion for all
 *   y of the point of r     a square root, two groups at a time; the square tells whether r was an x
 *   (s R - hash G) / r      secp256k1_point_ifma.c
 *   x, y of the keys        one inversion for all
 *   their hashes            eight side by side
 *
 * An invalid signature is a lane whose result is not looked at; it computes with r = 1 so that inversions find no zero.
 * A result with z = 0, which may be infinity or not, is recovered again by libsecp256k1, and so is a signature that would be
 * alone in its group, where that takes less.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernels.h"
#include "secp256k1_stage.h"
#include "signatures.h"
#include "transpose_avx512.h"

enum { ADDRESS, VALID, HASH, V, R, S };
enum { KEY_BYTES = 64, ADDRESS_BYTES = 20, DIGEST_BYTES = 32 };

struct signature {
    const uint8_t *hash, *v, *r, *s;
    uint8_t *address, *valid;
};

struct group {
    struct stage hash, r, s;
    __mmask8 good, odd;     /* still valid; y is to be odd */
    __mmask8 again;         /* z is 0 */
    struct fe x, y, square; /* of the point of r; what y was the root of */
};

/* All of a batch. */
struct batch {
    struct group group[STAGE_GROUPS];
    struct scalar inverse[STAGE_GROUPS], spare_scalar[STAGE_GROUPS];
    struct jacobian key[STAGE_GROUPS];
    struct fe z[STAGE_GROUPS], spare[STAGE_GROUPS];
    alignas(64) uint8_t bytes[STAGE_ITEMS][KEY_BYTES], digest[STAGE_ITEMS][DIGEST_BYTES];
};

/* ---- steps, each for one group -------------------------------------------------------------------------------- */

static void group_load(struct group *g, const struct signature *list, unsigned count) {
    g->good = g->odd = 0;
    for (int lane = 0; lane < SECP_LANES; lane++) {
        const struct signature *one = &list[(unsigned)lane < count ? (unsigned)lane : 0];
        const int id = simd_recovery_id(one->v);
        stage_number(&g->hash, lane, one->hash);
        stage_number(&g->r, lane, one->r);
        stage_number(&g->s, lane, one->s);
        const bool good =
            (unsigned)lane < count && id >= 0 && stage_in_range(&g->r, lane) && stage_in_range(&g->s, lane);
        if (!good) stage_one(&g->r, lane);
        g->good |= (__mmask8)(good << lane);
        g->odd |= (__mmask8)((id > 0) << lane);
    }
}

/* y becomes x^3 + 7, the root of which is to be drawn. */
static void group_square(struct group *g) {
    stage_digits(g->x.d, &g->r);
    fe_curve(&g->square, &g->x);
    g->y = g->square;
}

/* y is a root if there is one; then the one that is odd or even as asked for. */
static void group_root(struct group *g) {
    struct fe square;
    fe_sqr(&square, &g->y);
    g->good &= fe_equal(&square, &g->square);
    fe_normal(&g->y);
    const __mmask8 minus = _mm512_test_epi64_mask(g->y.d[0], word_all(1)) ^ g->odd;
    fe_turn(&g->y, minus);
    fe_settle(&g->y);
}

/* 2 n - u */
static void scalar_minus(struct scalar *u) {
    for (int i = 0; i < 5; i++) u->d[i] = word_sub(word_all(twice_order[i]), u->d[i]);
    digits_carry(u->d, 5);
}

static void group_recover(struct group *g, struct jacobian *key, const struct scalar *inverse) {
    struct scalar u1, u2;
    const struct affine point = {g->x, g->y};
    stage_digits(u1.d, &g->hash);
    stage_digits(u2.d, &g->s);
    simd_secp256k1_times(&u1, &u1, inverse);
    simd_secp256k1_times(&u2, &u2, inverse);
    scalar_minus(&u1);
    simd_secp256k1_combine(key, &u1, &u2, &point);
    g->again = fe_is_zero(key->z);
}

static word big_endian(word w) {
    const __m128i turned = _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
    return _mm512_shuffle_epi8(w, _mm512_broadcast_i32x4(turned));
}

static void group_bytes(uint8_t bytes[SECP_LANES][KEY_BYTES], const struct jacobian *key, const struct fe *inverse) {
    struct fe x, y, power;
    word w[8], row[8];
    fe_sqr(&power, inverse);
    fe_mul(&x, &key->x, &power);
    fe_mul(&power, &power, inverse);
    fe_mul(&y, &key->y, &power);
    fe_normal(&x);
    fe_normal(&y);
    words_from_digits(w, x.d);
    words_from_digits(w + 4, y.d);
    for (int i = 0; i < 8; i++) row[i] = big_endian(w[i < 4 ? 3 - i : 11 - i]);
    transpose(row);
    for (int i = 0; i < SECP_LANES; i++) _mm512_store_si512(bytes[i], row[i]);
}

/* ---- a batch -------------------------------------------------------------------------------------------------- */

static void keys_find(struct batch *b, const struct signature *list, unsigned count, unsigned groups) {
    const struct fe one = fe_of(1);
    for (unsigned i = 0; i < groups; i++) {
        group_load(&b->group[i], list + SECP_LANES * i, count - SECP_LANES * i);
        stage_digits(b->inverse[i].d, &b->group[i].r);
        group_square(&b->group[i]);
        b->z[i] = b->group[i].y;
    }
    simd_secp256k1_scalar_inverse(b->inverse, b->spare_scalar, groups);
    simd_secp256k1_root(b->z, groups);
    for (unsigned i = 0; i < groups; i++) {
        b->group[i].y = b->z[i];
        group_root(&b->group[i]);
        group_recover(&b->group[i], &b->key[i], &b->inverse[i]);
        b->z[i] = b->key[i].z;
        fe_blend(&b->z[i], b->group[i].again, &one);
    }
    simd_secp256k1_inverse(b->z, b->spare, groups);
    for (unsigned i = 0; i < groups; i++) group_bytes(b->bytes + SECP_LANES * i, &b->key[i], &b->z[i]);
}

static void signature_leave(const struct signature *one, bool valid, const uint8_t *digest) {
    *one->valid = valid;
    if (valid)
        memcpy(one->address, digest + (DIGEST_BYTES - ADDRESS_BYTES), ADDRESS_BYTES);
    else
        memset(one->address, 0, ADDRESS_BYTES);
}

static void recover_batch(struct batch *b, const struct signature *list, unsigned count) {
    keys_find(b, list, count, (count + SECP_LANES - 1) / SECP_LANES);
    for (unsigned i = 0; i < count; i++) {
        struct group *g = &b->group[i / SECP_LANES];
        const __mmask8 lane = (__mmask8)(1U << i % SECP_LANES);
        if ((g->good & g->again & lane) && !simd_recover(b->bytes[i], list[i].hash, list[i].v, list[i].r, list[i].s))
            g->good &= (__mmask8)~lane;
    }
    simd_keccak256_pairs_avx512(b->digest[0], b->bytes[0], count);
    for (unsigned i = 0; i < count; i++)
        signature_leave(&list[i], b->group[i / SECP_LANES].good >> i % SECP_LANES & 1, b->digest[i]);
}

static void recover_alone(const struct signature *one) {
    uint8_t key[KEY_BYTES], digest[DIGEST_BYTES];
    const bool valid = simd_recover(key, one->hash, one->v, one->r, one->s);
    if (valid) simd_keccak256_pairs_scalar(digest, key, 1);
    signature_leave(one, valid, digest);
}

static SIMD_ALIGNED_FRAME void recover_groups(const struct signature *list, unsigned count) {
    struct batch batch;
    recover_batch(&batch, list, count);
}

/*
 * Whether the last of so many goes to libsecp256k1: it would be alone in a group, and that group without another to draw its
 * root with. So it takes 47 us in lanes and 41 in the library; two, or one beside an odd number of groups, take 39 in lanes.
 * Zen 4, `make bench SUITE=signatures`, batches of 8, 9, 16, 17, 24 on one thread.
 */
static bool last_alone(unsigned count) { return count % (2 * SECP_LANES) == 1; }

static void recover_list(const struct signature *list, unsigned count) {
    if (last_alone(count)) recover_alone(&list[--count]);
    if (count > 0) recover_groups(list, count);
}

void simd_ecrecover_run_ifma(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    struct signature list[STAGE_ITEMS];
    unsigned count = 0;
    simd_secp256k1_rows_make();
    while (simd_walk_next(&walk, &piece))
        for (uint64_t i = piece.begin; i < piece.end; i++) {
            const struct svmx_slot *row = piece.row;
            list[count++] = (struct signature){
                simd_address(&row[HASH], STAGE_WORD * i),       simd_address(&row[V], STAGE_WORD * i),
                simd_address(&row[R], STAGE_WORD * i),          simd_address(&row[S], STAGE_WORD * i),
                simd_address(&row[ADDRESS], ADDRESS_BYTES * i), simd_address(&row[VALID], i)};
            if (count < STAGE_ITEMS) continue;
            recover_list(list, count);
            count = 0;
        }
    recover_list(list, count);
}
