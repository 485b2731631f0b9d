/*
 * test_simd_torsion.c: s B + k P of plugins/simd/ed25519_point_ifma.c where formulas that are not complete would fail, against
 * plain arithmetic: P is every point of order 1, 2, 4 and 8, and every sum of such a one with a multiple of B.
 *
 * The formulas are said to add any two points. The eight points whose order divides 8, the multiples of E, are a small group on the
 * very curve, where every sum is one that other formulas could not do; each lane has one of them:
 *
 *   alone      k E i for every k below 4,096, every value of every window of k, and any k: the rows of P are neutral, equal and
 *              opposite points, and k counts modulo 8 as it is modulo L, and not otherwise
 *   with B     P = c B + i E, with c and k such that what is added is what is there already, or its opposite, but for i E
 *
 * What this proves: that no sum of such points goes wrong. What it does not: anything of points whose sums are unlike these;
 * test_simd_ed25519.c and tests/fuzz/fuzz_ed25519.c compare them with libsodium.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#if defined(SVMX_HAVE_SECP256K1) && defined(SVMX_HAVE_SODIUM) && defined(__x86_64__)
#include "big_fixture.h"

enum { EIGHT = FE52_LANES, HASH_WORDS = 8 };

static const struct fe52_calls plain_field = {.bits = 255, .c = 19}; /* its numbers alone */

struct point {
    struct big x, y;
};

static struct point eighth[EIGHT]; /* multiples of E */
static uint64_t state = 5;

/* ---- plain arithmetic ------------------------------------------------------------------------------------------- */

static struct big times(struct big a, struct big b) { return prime_mod(big_mul(a, b), &plain_field); }

static struct big plus(struct big a, struct big b) { return prime_mod(big_add(a, b), &plain_field); }

static struct big minus(struct big a, struct big b) {
    return prime_mod(big_less(big_add(a, prime_of(&plain_field)), b), &plain_field);
}

static struct big inverse(struct big a) {
    const struct big exponent = big_less(prime_of(&plain_field), big_of(2));
    struct big r = big_of(1);
    for (int bit = 254; bit >= 0; bit--) {
        r = times(r, r);
        if (exponent.w[bit / 64] >> bit % 64 & 1) r = times(r, a);
    }
    return r;
}

static bool same(const struct point *a, const struct point *b) {
    return big_equal(&a->x, &b->x) && big_equal(&a->y, &b->y);
}

/* Any two: -x^2 + y^2 = 1 + d x^2 y^2, where d is no square. */
static struct point add(struct point a, struct point b) {
    const struct big d = from_hex("52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3"), one = big_of(1);
    const struct big product = times(d, times(times(a.x, b.x), times(a.y, b.y)));
    const struct big x = plus(times(a.x, b.y), times(b.x, a.y)), y = plus(times(a.y, b.y), times(a.x, b.x));
    return (struct point){times(x, inverse(plus(one, product))), times(y, inverse(minus(one, product)))};
}

static struct point multiple(struct point p, int count) {
    struct point r = {big_of(0), big_of(1)};
    if (count < 0) p.x = minus(big_of(0), p.x), count = -count;
    for (; count > 0; count /= 2, p = add(p, p))
        if (count & 1) r = add(r, p);
    return r;
}

static struct point base(void) {
    return (struct point){from_hex("216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51a"),
                          from_hex("6666666666666666666666666666666666666666666666666666666666666658")};
}

static void start(void) {
    const struct point e = {from_hex("1fd5b9a006394a28e933993238de4abb5c193c7013e5e238dea14646c545d14a"),
                            from_hex("7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7")};
    eighth[0] = (struct point){big_of(0), big_of(1)};
    for (int i = 1; i < EIGHT; i++) eighth[i] = add(eighth[i - 1], e);
    const struct point all = add(eighth[EIGHT - 1], e);
    for (int i = 1; i < EIGHT; i++) cr_assert(!same(&eighth[i], &eighth[0]), "%d E is neutral", i);
    cr_assert(same(&all, &eighth[0]), "E is not of order 8");
}

TestSuite(simd_torsion, .init = start);

/* ---- lanes ------------------------------------------------------------------------------------------------------ */

/* s B + k points[lane], where k is a hash of up to 512 bits modulo L, must be want[lane]. */
static void check(const struct point points[EIGHT], unsigned s, struct big k, const struct point want[EIGHT]) {
    fe52_number x, y, sum[3];
    uint64_t low[4][FE52_LANES] = {{0}}, hash[HASH_WORDS][FE52_LANES];
    for (int i = 0; i < EIGHT; i++) {
        number_set(x, i, points[i].x);
        number_set(y, i, points[i].y);
        low[0][i] = s;
        for (int w = 0; w < HASH_WORDS; w++) hash[w][i] = k.w[w];
    }
    fe52_ed25519_combine(sum, low, hash, x, y);
    for (int i = 0; i < EIGHT; i++) {
        const struct big z = prime_mod(number_of(sum[2], i), &plain_field), zero = big_of(0);
        const struct point got = {prime_mod(number_of(sum[0], i), &plain_field),
                                  prime_mod(number_of(sum[1], i), &plain_field)};
        const struct point wanted = {times(want[i].x, z), times(want[i].y, z)};
        cr_assert(!big_equal(&z, &zero), "lane %d: z is 0", i);
        cr_assert(same(&got, &wanted), "lane %d, s %u, k %016llx..%016llx", i, s, (unsigned long long)k.w[3],
                  (unsigned long long)k.w[0]);
    }
}

static struct big order(void) { return from_hex("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed"); }

/* S is 0. */
static void check_alone(struct big hash) {
    struct point want[EIGHT];
    const struct big k = big_mod(hash, order());
    for (unsigned i = 0; i < EIGHT; i++) want[i] = eighth[k.w[0] * i % EIGHT];
    check(eighth, 0, hash, want);
}

Test(simd_torsion, every_small_k) {
    NEEDS_IFMA;
    for (unsigned k = 0; k < 4096; k++) check_alone(big_of(k));
}

Test(simd_torsion, every_value_of_every_window) {
    NEEDS_IFMA;
    for (unsigned bit = 0; bit < 250; bit += 5)
        for (unsigned value = 0; value < 32; value++)
            for (unsigned low = 0; low < EIGHT; low += 3)
                check_alone(big_add(big_shift(big_of(value), bit), big_of(low)));
}

/* Above L a hash is another number modulo 8 than its rest is; around multiples of L above all. */
Test(simd_torsion, any_hash) {
    NEEDS_IFMA;
    for (unsigned i = 0; i < 2000; i++) {
        struct big hash = big_of(0);
        random_bytes(&state, (uint8_t *)hash.w, 8 * HASH_WORDS);
        check_alone(hash);
    }
    for (unsigned factor = 1; factor < 200; factor++) {
        const struct big near = big_mul(order(), big_of(factor));
        check_alone(big_less(near, big_of(1 + factor % 9)));
        check_alone(near);
        check_alone(big_add(near, big_of(factor % 9)));
    }
}

/* ---- sums with multiples of B ----------------------------------------------------------------------------------- */

/* Before the last digits are added the sum is 1,024 B, s being below 1,024; and the last of s is s - 1,024 or so. */
Test(simd_torsion, points_that_differ_by_an_eighth) {
    NEEDS_IFMA;
    static const int c[] = {1024, -1024, 512, -512, 256, -256, 2, -2, 1, -1};
    static const unsigned s[] = {0, 1, 2, 3, 5, 511, 1023, 1024, 1025, 2047};
    for (unsigned i = 0; i < sizeof c / sizeof c[0]; i++) {
        struct point points[EIGHT], want[EIGHT];
        const struct point part = multiple(base(), c[i]);
        for (unsigned lane = 0; lane < EIGHT; lane++) points[lane] = add(part, eighth[lane]);
        for (unsigned k = 0; k < 5; k++)
            for (unsigned j = 0; j < sizeof s / sizeof s[0]; j++) {
                const struct point sum = multiple(base(), (int)s[j] + (int)k * c[i]);
                for (unsigned lane = 0; lane < EIGHT; lane++) want[lane] = add(sum, eighth[k * lane % EIGHT]);
                check(points, s[j], big_of(k), want);
            }
    }
}
#else
Test(simd_torsion, is_left_out) { cr_skip_test("built without libsecp256k1, libsodium or x86-64"); }
#endif
