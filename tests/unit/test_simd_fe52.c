/*
 * test_simd_fe52.c: plugins/simd/fe52.h against long arithmetic, where carries run: digits of zeros and ones, multiples of the
 * prime and their neighbours, the largest that is allowed. Random signatures never meet any of these.
 *
 * Also how scalars of secp256k1 become windows, at the edges.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#if defined(SVMX_HAVE_SECP256K1) && defined(SVMX_HAVE_SODIUM) && defined(__x86_64__)
#include "big_fixture.h"

static const struct fe52_calls *const primes[] = {&fe52_secp256k1, &fe52_ed25519};

/* ---- numbers in lanes ------------------------------------------------------------------------------------------ */

static uint64_t state = 3;

static uint64_t random_u64(void) { return (uint64_t)random_u32(&state) << 32 | random_u32(&state); }

/* Below 2^(bits + 2), of every kind: digits at their ends, or up to three primes and a little more or less. */
static void number_make(fe52_number a, const struct fe52_calls *f) {
    const uint64_t top = (UINT64_C(1) << (f->bits + 2 - 208)) - 1;
    for (int lane = 0; lane < FE52_LANES; lane++) {
        if (random_u32(&state) % 3 == 0) {
            struct big x = big_mul(prime_of(f), big_of(random_u32(&state) % 4));
            const struct big little = big_shift(big_of(random_u32(&state) % 3), random_u32(&state) % 60);
            x = big_below(&x, &little) || random_u32(&state) % 2 ? big_add(x, little) : big_less(x, little);
            number_set(a, lane, x);
            continue;
        }
        for (int i = 0; i < FE52_DIGITS; i++) {
            const uint64_t ends[] = {0, 1, MASK52, MASK52 - 1, MASK52 >> 1, random_u64() & MASK52, MASK52, 0};
            a[i][lane] = ends[random_u32(&state) % 8];
        }
        a[4][lane] = random_u32(&state) % 4 == 0 ? top : a[4][lane] & top;
    }
}

/* Settled, and modulo the prime what it should be. A product is below 2^bits and a little. */
static void check(const struct fe52_calls *f, fe52_number r, int lane, struct big want, bool product,
                  const char *what) {
    const struct big p = prime_of(f), got = number_of(r, lane);
    const struct big limit =
        product ? big_add(big_shift(big_of(1), f->bits), big_shift(big_of(1), 220)) : big_shift(big_of(1), f->bits + 2);
    for (int i = 0; i < FE52_DIGITS; i++) cr_assert_leq(r[i][lane], MASK52, "%s, %s: a digit", f->name, what);
    cr_assert(big_below(&got, &limit), "%s, %s: too large", f->name, what);
    const struct big a = big_mod(got, p), b = big_mod(want, p);
    cr_assert(big_equal(&a, &b), "%s, %s: wrong", f->name, what);
}

/* ---- field ----------------------------------------------------------------------------------------------------- */

enum { ROUNDS = 150 };

Test(simd_fe52, products_and_squares) {
    static const int times[] = {1, 2, 3, 4, 8};
    NEEDS_IFMA;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t k = 0; k < 2; k++) {
            const int by = times[random_u32(&state) % 5];
            fe52_number a, b, r, s;
            number_make(a, primes[k]);
            number_make(b, primes[k]);
            primes[k]->mul(r, a, b, by);
            primes[k]->sqr(s, a, by);
            for (int i = 0; i < FE52_LANES; i++) {
                const struct big x = number_of(a, i), y = number_of(b, i), n = big_of((uint64_t)by);
                check(primes[k], r, i, big_mul(big_mul(x, y), n), true, "product");
                check(primes[k], s, i, big_mul(big_mul(x, x), n), true, "square");
            }
        }
}

Test(simd_fe52, sums_of_products) {
    NEEDS_IFMA;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t k = 0; k < 2; k++) {
            fe52_number a, b, c, d, r;
            number_make(a, primes[k]);
            number_make(b, primes[k]);
            number_make(c, primes[k]);
            number_make(d, primes[k]);
            primes[k]->mul_mul(r, a, b, c, d);
            for (int i = 0; i < FE52_LANES; i++)
                check(primes[k], r, i,
                      big_add(big_mul(number_of(a, i), number_of(b, i)), big_mul(number_of(c, i), number_of(d, i))),
                      true, "sum of products");
        }
}

/* a - times b, down to sixty times 2^bits. */
Test(simd_fe52, differences) {
    NEEDS_IFMA;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t k = 0; k < 2; k++) {
            const int times = (int)(random_u32(&state) % 15);
            fe52_number a, b, r;
            number_make(a, primes[k]);
            number_make(b, primes[k]);
            primes[k]->less(r, a, b, times);
            for (int i = 0; i < FE52_LANES; i++) {
                const struct big plus = big_mul(prime_of(primes[k]), big_of(64));
                const struct big minus = big_mul(number_of(b, i), big_of((uint64_t)times));
                check(primes[k], r, i, big_less(big_add(number_of(a, i), plus), minus), false, "difference");
            }
        }
}

Test(simd_fe52, numbers_below_the_prime_and_zero) {
    unsigned zeros = 0;
    NEEDS_IFMA;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t k = 0; k < 2; k++) {
            const struct big p = prime_of(primes[k]), zero = big_of(0);
            fe52_number a, r;
            number_make(a, primes[k]);
            primes[k]->normal(r, a);
            const unsigned lanes = primes[k]->is_zero(a);
            for (int i = 0; i < FE52_LANES; i++) {
                const struct big got = number_of(r, i), want = big_mod(number_of(a, i), p);
                cr_assert(big_equal(&got, &want), "%s: normal", primes[k]->name);
                cr_assert_eq(lanes >> i & 1, big_equal(&want, &zero), "%s: is zero", primes[k]->name);
                zeros += lanes >> i & 1;
            }
        }
    cr_assert_gt(zeros, 50);
}

Test(simd_fe52, inverses) {
    NEEDS_IFMA;
    for (int round = 0; round < 10; round++)
        for (size_t k = 0; k < 2; k++) {
            fe52_number a, r;
            number_make(a, primes[k]);
            primes[k]->inverse(r, a);
            for (int i = 0; i < FE52_LANES; i++) {
                const struct big p = prime_of(primes[k]), zero = big_of(0), x = big_mod(number_of(a, i), p);
                const struct big product = big_mul(x, big_mod(number_of(r, i), p));
                if (big_equal(&x, &zero)) continue; /* by rule never asked for */
                const struct big one = big_mod(product, p), want = big_of(1);
                cr_assert(big_equal(&one, &want), "%s: inverse", primes[k]->name);
            }
        }
}

/* ---- scalars of secp256k1 ---------------------------------------------------------------------------------------- */

/* Bits of weight 1 and -1: twice the number less 2^bits - 1; modulo n. */
static struct big value_of(uint64_t (*words)[FE52_LANES], int count, int lane, unsigned bits, struct big n) {
    struct big r = big_of(0);
    for (int i = count - 1; i >= 0; i--) r = big_add(big_shift(r, 64), big_of(words[i][lane]));
    const struct big limit = big_shift(big_of(1), bits);
    cr_assert(big_below(&r, &limit), "more than %u bits", bits);
    return big_mod(big_add(big_less(big_add(big_mul(r, big_of(2)), big_of(1)), limit), big_shift(n, 64)), n);
}

/* 0, n and 2 n, all that is near them, halves and thirds, and any. */
static struct big scalar_make(struct big n) {
    const struct big twice = big_mul(n, big_of(2));
    struct big r = big_mul(n, big_of(random_u32(&state) % 3));
    const struct big little = big_shift(big_of(random_u32(&state) % 5), random_u32(&state) % 200);
    if (random_u32(&state) % 3 == 0)
        for (int i = 0; i < 4; i++) r.w[i] = random_u64();
    else
        r = big_below(&r, &little) || random_u32(&state) % 2 ? big_add(r, little) : big_less(r, little);
    return big_below(&r, &twice) ? r : big_mod(r, n);
}

Test(simd_fe52, windows_of_scalars) {
    const struct big n = from_hex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
    const struct big lambda = from_hex("5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72");
    NEEDS_IFMA;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t low[5][FE52_LANES], first[3][FE52_LANES], second[3][FE52_LANES];
        fe52_number u1, u2;
        for (int i = 0; i < FE52_LANES; i++) {
            number_set(u1, i, scalar_make(n));
            number_set(u2, i, scalar_make(n));
        }
        fe52_secp256k1_windows(low, first, second, u1, u2);
        for (int i = 0; i < FE52_LANES; i++) {
            const struct big a = big_mod(number_of(u1, i), n), b = big_mod(number_of(u2, i), n);
            const struct big got = value_of(low, 5, i, 264, n);
            const struct big halves =
                big_add(value_of(first, 3, i, 130, n), big_mul(value_of(second, 3, i, 130, n), lambda));
            const struct big sum = big_mod(halves, n);
            cr_assert(big_equal(&got, &a), "u1");
            cr_assert(big_equal(&sum, &b), "u2");
        }
    }
}
#else
Test(simd_fe52, is_left_out) { cr_skip_test("built without libsecp256k1, libsodium or x86-64"); }
#endif
