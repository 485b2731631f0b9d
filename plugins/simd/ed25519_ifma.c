/*
 * ed25519_ifma.c: ed25519_verify for AVX-512 with IFMA, eight signatures side by side and up to 128 in one go.
 *
 *   S, R, key: what is refused     lane by lane, by their bytes
 *   k = SHA-512(R, key, message)   ed25519_hash_ifma.c
 *   x of the key                   a root, two groups at a time
 *   S B - k key                    ed25519_point_ifma.c
 *   its encoding is R              one inversion for all
 *
 * An invalid signature is a lane whose result is not looked at; it computes with the neutral point as its key. A signature
 * alone in its group goes to libsodium.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ed25519_lanes.h"
#include "kernels.h"
#include "transpose_avx512.h"

#include <sodium.h>
#include <stdalign.h>

enum { VALID, KEY, SIGNATURE, MESSAGE, OFFSETS };
enum { GROUPS = 16, ITEMS = GROUPS * ED_LANES, KEY_BYTES = 32, SIGNATURE_BYTES = 64 };

struct signature {
    const uint8_t *key, *signature, *message;
    uint64_t bytes;
    uint8_t *valid;
};

/* Eight numbers of four words, lowest first. */
struct stage {
    alignas(64) uint64_t words[4][ED_LANES];
};

struct group {
    struct stage key, r, s;
    word hash[8];
    __mmask8 good, odd;   /* still valid; the key's x is odd */
    struct fe y, u, v, x; /* of the key; x^2 = u / v */
    struct extended sum;
};

struct batch {
    struct group group[GROUPS];
    struct fe list[GROUPS], spare[GROUPS];
};

/* ---- what is refused by its bytes ----------------------------------------------------------------------------- */

static const uint64_t order[4] = {0x5812631a5cf5d3ed, 0x14def9dea2f79cd6, 0, 0x1000000000000000};
static const uint64_t prime[4] = {0xffffffffffffffed, 0xffffffffffffffff, 0xffffffffffffffff, 0x7fffffffffffffff};
#define SIGN (UINT64_C(1) << 63)

/* The y of all points whose order divides 8, and those of them that have a second encoding, at p and p + 1. */
static const uint64_t small_order[7][4] = {
    {0, 0, 0, 0},
    {1, 0, 0, 0},
    {0xb027b2c28f95e826, 0xf098eff289f4c345, 0x3933c6d305acdfd5, 0x05fc536d880238b1},
    {0x4fd84d3d706a17c7, 0x0f67100d760b3cba, 0xc6cc392cfa53202a, 0x7a03ac9277fdc74e},
    {0xffffffffffffffec, 0xffffffffffffffff, 0xffffffffffffffff, 0x7fffffffffffffff},
    {0xffffffffffffffed, 0xffffffffffffffff, 0xffffffffffffffff, 0x7fffffffffffffff},
    {0xffffffffffffffee, 0xffffffffffffffff, 0xffffffffffffffff, 0x7fffffffffffffff},
};

static bool below(const uint64_t a[4], const uint64_t limit[4]) {
    int i = 3;
    while (i > 0 && a[i] == limit[i]) i--;
    return a[i] < limit[i];
}

static bool has_small_order(const uint64_t y[4]) {
    for (int i = 0; i < 7; i++)
        if (y[0] == small_order[i][0] && y[1] == small_order[i][1] && y[2] == small_order[i][2] &&
            y[3] == small_order[i][3])
            return true;
    return false;
}

static void stage_write(struct stage *to, int lane, const uint64_t words[4]) {
    for (int i = 0; i < 4; i++) to->words[i][lane] = words[i];
}

/* ---- steps, each for one group -------------------------------------------------------------------------------- */

/* Whether it may be valid. The key's word of the sign goes without it. */
static bool lane_load(struct group *g, int lane, const struct signature *one) {
    uint64_t key[4], r[4], s[4];
    memcpy(key, one->key, sizeof key);
    memcpy(r, one->signature, sizeof r);
    memcpy(s, one->signature + 32, sizeof s);
    stage_write(&g->r, lane, r);
    g->odd |= (__mmask8)((key[3] >> 63) << lane);
    key[3] &= ~SIGN, r[3] &= ~SIGN;
    stage_write(&g->key, lane, key);
    stage_write(&g->s, lane, s);
    return below(s, order) && below(key, prime) && !has_small_order(key) && !has_small_order(r);
}

static void lane_leave_out(struct group *g, int lane) {
    static const uint64_t zero[4];
    stage_write(&g->key, lane, zero);
    stage_write(&g->r, lane, zero);
    stage_write(&g->s, lane, zero);
}

static void group_load(struct group *g, const struct signature *list, unsigned count) {
    static const uint8_t nothing[KEY_BYTES];
    struct ed_message messages[ED_LANES];
    g->good = g->odd = 0;
    for (int lane = 0; lane < ED_LANES; lane++) {
        const bool here = (unsigned)lane < count;
        const bool good = here && lane_load(g, lane, &list[lane]);
        if (!good) lane_leave_out(g, lane);
        messages[lane] =
            good ? (struct ed_message){list[lane].signature, list[lane].key, list[lane].message, list[lane].bytes}
                 : (struct ed_message){nothing, nothing, nothing, 0};
        g->good |= (__mmask8)(good << lane);
    }
    simd_ed25519_hash(g->hash, messages);
}

static void stage_read(word w[4], const struct stage *from) {
    for (int i = 0; i < 4; i++) w[i] = _mm512_load_si512(from->words[i]);
}

/* x^2 = u / v, with u = y^2 - 1 and v = d y^2 + 1; the power of u v^7 is what a root needs. */
static void group_square(struct group *g, struct fe *power) {
    static const uint64_t d[5] = {0xb4dca135978a3, 0x4d4141d8ab75e, 0x779e89800700a, 0xfe738cc740797, 0x52036cee2b6f};
    const struct fe one = fe_of(1), factor = fe_const(d);
    struct fe yy, v3;
    word w[4];
    stage_read(w, &g->key);
    digits_from_words(g->y.d, w);
    fe_sqr(&yy, &g->y);
    g->u = fe_less(&yy, &one);
    fe_mul(&g->v, &yy, &factor);
    g->v.d[0] = word_add(g->v.d[0], word_all(1));
    digits_carry(g->v.d, 5);
    fe_sqr(&v3, &g->v);
    fe_mul(&v3, &v3, &g->v);   /* v^3 */
    fe_mul(&g->x, &v3, &g->u); /* u v^3 */
    fe_sqr(&v3, &v3);
    fe_mul(&v3, &v3, &g->v); /* v^7 */
    fe_mul(power, &v3, &g->u);
}

/* The x whose sign is not the key's, which makes the key negative: the equation subtracts it. */
static void group_root(struct group *g, const struct fe *power) {
    static const uint64_t root_of_minus_1[5] = {0xe1b274a0ea0b0, 0x06ad2fe478c4e, 0xdfbd7a72f4318, 0xdf0b2b4d00993,
                                                0x2b8324804fc1};
    const struct fe zero = fe_of(0), one = fe_of(1), root = fe_const(root_of_minus_1);
    struct fe check, other, sum;
    fe_mul(&g->x, &g->x, power);
    fe_sqr(&check, &g->x);
    fe_mul(&check, &check, &g->v);
    FE_UNROLL for (int i = 0; i < 5; i++) sum.d[i] = word_add(check.d[i], g->u.d[i]);
    fe_settle(&sum);
    const __mmask8 right = fe_equal(&check, &g->u), turned = fe_is_zero(sum);
    fe_mul(&other, &g->x, &root);
    fe_blend(&g->x, turned, &other);
    g->good &= right | turned;
    fe_normal(&g->x);
    fe_turn(&g->x, (__mmask8) ~(_mm512_test_epi64_mask(g->x.d[0], word_all(1)) ^ g->odd));
    fe_settle(&g->x);
    fe_blend(&g->x, (__mmask8)~g->good, &zero);
    fe_blend(&g->y, (__mmask8)~g->good, &one);
}

static void group_combine(struct group *g) {
    struct ed_windows windows;
    word s[4];
    stage_read(s, &g->s);
    simd_ed25519_windows(&windows, s, g->hash);
    simd_ed25519_combine(&g->sum, &windows, &g->x, &g->y);
}

/* The encoding: y, and above it whether x is odd. */
static void group_compare(struct group *g, const struct fe *inverse) {
    struct fe x, y;
    word w[4], r[4];
    fe_mul(&x, &g->sum.x, inverse);
    fe_mul(&y, &g->sum.y, inverse);
    fe_normal(&x);
    fe_normal(&y);
    words_from_digits(w, y.d);
    w[3] = _mm512_or_si512(w[3], _mm512_slli_epi64(x.d[0], 63));
    stage_read(r, &g->r);
    FE_UNROLL for (int i = 0; i < 4; i++) g->good &= _mm512_cmpeq_epi64_mask(w[i], r[i]);
}

/* ---- a batch -------------------------------------------------------------------------------------------------- */

/* Libraries after 1.0.18 may also take what is right but for a point of small order: they are asked about what fails. */
static bool answer(const struct signature *one, bool good) {
    if (good || sodium_library_version_major() <= 10) return good;
    return crypto_sign_verify_detached(one->signature, one->message, one->bytes, one->key) == 0;
}

static void verify_batch(struct batch *b, const struct signature *list, unsigned count) {
    const unsigned groups = (count + ED_LANES - 1) / ED_LANES;
    for (unsigned i = 0; i < groups; i++) {
        group_load(&b->group[i], list + ED_LANES * i, count - ED_LANES * i);
        group_square(&b->group[i], &b->list[i]);
    }
    simd_ed25519_power(b->list, groups);
    for (unsigned i = 0; i < groups; i++) {
        group_root(&b->group[i], &b->list[i]);
        group_combine(&b->group[i]);
        b->list[i] = b->group[i].sum.z;
    }
    simd_ed25519_inverse(b->list, b->spare, groups);
    for (unsigned i = 0; i < groups; i++) group_compare(&b->group[i], &b->list[i]);
    for (unsigned i = 0; i < count; i++)
        *list[i].valid = answer(&list[i], b->group[i / ED_LANES].good >> i % ED_LANES & 1);
}

static SIMD_ALIGNED_FRAME void verify_groups(const struct signature *list, unsigned count) {
    struct batch batch;
    verify_batch(&batch, list, count);
}

/* One that would be alone in a group goes to libsodium, which takes 47 us; the group takes 52 more, or 58 where it has no other
 * to draw its root with. Zen 4, `make bench SUITE=signatures`, batches of 8, 9, 16, 17, 24 on one thread. */
static bool last_alone(unsigned count) { return count % ED_LANES == 1; }

static void verify_list(const struct signature *list, unsigned count) {
    if (last_alone(count)) {
        const struct signature *one = &list[--count];
        *one->valid = crypto_sign_verify_detached(one->signature, one->message, one->bytes, one->key) == 0;
    }
    if (count > 0) verify_groups(list, count);
}

/* An empty message may be at NULL, which the library is not given. */
static struct signature signature_at(const struct svmx_slot *row, uint64_t i) {
    static const uint8_t nothing[1];
    const uint8_t *offset = simd_address(&row[OFFSETS], 8 * i);
    const uint64_t begin = simd_load_u64(offset), bytes = simd_load_u64(offset + 8) - begin;
    return (struct signature){
        simd_address(&row[KEY], KEY_BYTES * i), simd_address(&row[SIGNATURE], SIGNATURE_BYTES * i),
        bytes > 0 ? simd_address(&row[MESSAGE], begin) : nothing, bytes, simd_address(&row[VALID], i)};
}

void simd_ed25519_run_ifma(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    struct signature list[ITEMS];
    unsigned count = 0;
    simd_ed25519_rows_make();
    while (simd_walk_next(&walk, &piece))
        for (uint64_t i = piece.begin; i < piece.end; i++) {
            list[count++] = signature_at(piece.row, i);
            if (count < ITEMS) continue;
            verify_list(list, count);
            count = 0;
        }
    verify_list(list, count);
}
