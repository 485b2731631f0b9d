/*
 * ecdsa_ifma.c: ecdsa_verify_secp256k1 for AVX-512 with IFMA, eight signatures side by side and up to 128 in one go.
 *
 *   numbers and ranges             lane by lane (secp256k1_stage.h)
 *   1 / s                          one inversion for all
 *   y^2 = x^3 + 7 of the key       or it is no point
 *   (hash / s) G + (r / s) key     secp256k1_point_ifma.c
 *   x modulo n = r                 as x = r z^2 or x = (r + n) z^2, where r + n is below p: nothing is inverted
 *
 * An invalid signature is a lane whose result is not looked at; it computes with s = 1 so that the inversion finds no zero.
 * A result with z = 0, which may be infinity or not, is verified again by libsecp256k1, and so is a signature alone in its
 * group.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernels.h"
#include "secp256k1_stage.h"
#include "signatures.h"

enum { VALID, HASH, R, S, KEY };
enum { KEY_BYTES = 64 };

struct signature {
    const uint8_t *hash, *r, *s, *key;
    uint8_t *valid;
};

struct group {
    struct stage hash, r, s, x, y;
    __mmask8 good, wraps; /* still valid; r + n is below p */
    __mmask8 again;       /* z is 0 */
};

struct batch {
    struct group group[STAGE_GROUPS];
    struct scalar inverse[STAGE_GROUPS], spare[STAGE_GROUPS];
};

/* ---- steps, each for one group -------------------------------------------------------------------------------- */

/* s is 1 .. (n - 1) / 2, and the limit one more. */
static bool lane_load(struct group *g, int lane, const struct signature *one) {
    stage_number(&g->hash, lane, one->hash);
    stage_number(&g->r, lane, one->r);
    stage_number(&g->s, lane, one->s);
    stage_number(&g->x, lane, one->key);
    stage_number(&g->y, lane, one->key + STAGE_WORD);
    return stage_in_range(&g->r, lane) && !stage_zero(&g->s, lane) && stage_below(&g->s, lane, low_s_limit) &&
           stage_below(&g->x, lane, stage_prime) && stage_below(&g->y, lane, stage_prime);
}

static void group_load(struct group *g, const struct signature *list, unsigned count) {
    g->good = g->wraps = 0;
    for (int lane = 0; lane < SECP_LANES; lane++) {
        const bool here = (unsigned)lane < count;
        const bool good = lane_load(g, lane, &list[here ? (unsigned)lane : 0]) && here;
        if (!good) stage_one(&g->s, lane);
        g->good |= (__mmask8)(good << lane);
        g->wraps |= (__mmask8)(stage_below(&g->r, lane, prime_less_order) << lane);
    }
}

/* r z^2 = x, or (r + n) z^2 = x */
static __mmask8 group_compare(const struct group *g, const struct jacobian *sum) {
    struct fe r, square, x;
    stage_digits(r.d, &g->r);
    fe_sqr(&square, &sum->z);
    fe_mul(&x, &r, &square);
    __mmask8 same = fe_equal(&x, &sum->x);
    if (__builtin_expect(g->wraps == 0, 1)) return same;
    for (int i = 0; i < 5; i++) r.d[i] = word_add(r.d[i], word_all(secp_order[i]));
    fe_settle(&r);
    fe_mul(&x, &r, &square);
    return same | (fe_equal(&x, &sum->x) & g->wraps);
}

static void group_verify(struct group *g, const struct scalar *inverse) {
    struct scalar u1, u2;
    struct affine key;
    struct jacobian sum;
    struct fe square, curve;
    stage_digits(key.x.d, &g->x);
    stage_digits(key.y.d, &g->y);
    fe_sqr(&square, &key.y);
    fe_curve(&curve, &key.x);
    g->good &= fe_equal(&square, &curve);
    stage_digits(u1.d, &g->hash);
    stage_digits(u2.d, &g->r);
    simd_secp256k1_times(&u1, &u1, inverse);
    simd_secp256k1_times(&u2, &u2, inverse);
    simd_secp256k1_combine(&sum, &u1, &u2, &key);
    g->again = g->good & fe_is_zero(sum.z);
    g->good &= group_compare(g, &sum);
}

/* ---- a batch -------------------------------------------------------------------------------------------------- */

static void verify_batch(struct batch *b, const struct signature *list, unsigned count) {
    const unsigned groups = (count + SECP_LANES - 1) / SECP_LANES;
    for (unsigned i = 0; i < groups; i++) {
        group_load(&b->group[i], list + SECP_LANES * i, count - SECP_LANES * i);
        stage_digits(b->inverse[i].d, &b->group[i].s);
    }
    simd_secp256k1_scalar_inverse(b->inverse, b->spare, groups);
    for (unsigned i = 0; i < groups; i++) group_verify(&b->group[i], &b->inverse[i]);
    for (unsigned i = 0; i < count; i++) {
        const struct group *g = &b->group[i / SECP_LANES];
        const bool good = g->good >> i % SECP_LANES & 1, again = g->again >> i % SECP_LANES & 1;
        *list[i].valid = again ? simd_verify(list[i].hash, list[i].r, list[i].s, list[i].key) : good;
    }
}

static SIMD_ALIGNED_FRAME void verify_groups(const struct signature *list, unsigned count) {
    struct batch batch;
    verify_batch(&batch, list, count);
}

/* One that would be alone in a group goes to libsecp256k1, which takes 37 us; the group takes 39 more. Zen 4,
 * `make bench SUITE=signatures`, batches of 8, 9, 16, 17 on one thread. */
static bool last_alone(unsigned count) { return count % SECP_LANES == 1; }

static void verify_list(const struct signature *list, unsigned count) {
    if (last_alone(count)) {
        const struct signature *one = &list[--count];
        *one->valid = simd_verify(one->hash, one->r, one->s, one->key);
    }
    if (count > 0) verify_groups(list, count);
}

void simd_ecdsa_run_ifma(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    struct signature list[STAGE_ITEMS];
    unsigned count = 0;
    simd_secp256k1_rows_make();
    while (simd_walk_next(&walk, &piece))
        for (uint64_t i = piece.begin; i < piece.end; i++) {
            const struct svmx_slot *row = piece.row;
            list[count++] =
                (struct signature){simd_address(&row[HASH], STAGE_WORD * i), simd_address(&row[R], STAGE_WORD * i),
                                   simd_address(&row[S], STAGE_WORD * i), simd_address(&row[KEY], KEY_BYTES * i),
                                   simd_address(&row[VALID], i)};
            if (count < STAGE_ITEMS) continue;
            verify_list(list, count);
            count = 0;
        }
    verify_list(list, count);
}
