/*
 * test_simd_points.c: the formulas of plugins/simd/secp256k1_point_ifma.c, all pairs of points of three small groups.
 *
 * Curves y^2 = x^3 + b with another b over the same field have groups of 7, 13 and 199 points, and no formula uses b. There every
 * special case is met: each pair is added and subtracted, must give the right point, or z = 0 where the two have the same x;
 * and z = 0 must stay whatever follows, since that is how such lanes are found at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#if defined(SVMX_HAVE_SECP256K1) && defined(SVMX_HAVE_SODIUM) && defined(__x86_64__)
#include "points_fixture.h"

static uint64_t state = 9;

/* The point with any z, not reduced where that is possible. */
static void jacobian_set(fe52_number p[3], int lane, const struct point *a) {
    const struct big z = big_of(2 + random_u32(&state)), zz = times(z, z), prime = prime_of(&plain_field);
    number_set(p[0], lane, big_add(times(a->x, zz), random_u32(&state) % 2 ? prime : big_of(0)));
    number_set(p[1], lane, big_add(times(a->y, times(z, zz)), random_u32(&state) % 2 ? prime : big_of(0)));
    number_set(p[2], lane, z);
}

static bool lane_is_zero(fe52_number a, int lane) {
    const struct big x = prime_mod(number_of(a, lane), &plain_field), zero = big_of(0);
    return big_equal(&x, &zero);
}

/* A lane is `number` times the generator, or marked by z = 0 if that is 0. */
static void check(fe52_number p[3], int lane, unsigned number, const char *what) {
    cr_assert_eq(lane_is_zero(p[2], lane), number == 0, "%s: z", what);
    if (number == 0) return;
    const struct big z = number_of(p[2], lane), zz = times(z, z);
    const struct big x = times(multiple[number].x, zz), y = times(multiple[number].y, times(z, zz));
    const struct big got_x = prime_mod(number_of(p[0], lane), &plain_field),
                     got_y = prime_mod(number_of(p[1], lane), &plain_field);
    cr_assert(big_equal(&x, &got_x) && big_equal(&y, &got_y), "%s: wrong", what);
}

/* Multiples a and b[lane]: their sums or differences, then twice those, then one more. A sum of equal ones is marked too. */
static void check_sums(unsigned order, unsigned a, const unsigned b[FE52_LANES], unsigned turned) {
    fe52_number p[3], x, y, one_x, one_y;
    unsigned sum[FE52_LANES];
    for (int i = 0; i < FE52_LANES; i++) {
        jacobian_set(p, i, &multiple[a]);
        number_set(x, i, multiple[b[i]].x);
        number_set(y, i, multiple[b[i]].y);
        number_set(one_x, i, multiple[1].x);
        number_set(one_y, i, multiple[1].y);
        sum[i] = b[i] == a || b[i] == order - a ? 0 : (turned >> i & 1 ? a + order - b[i] : a + b[i]) % order;
    }
    fe52_secp256k1_add(p, x, y, turned);
    for (int i = 0; i < FE52_LANES; i++) check(p, i, sum[i], "sum");
    fe52_secp256k1_double(p);
    for (int i = 0; i < FE52_LANES; i++) check(p, i, sum[i] = 2 * sum[i] % order, "twice the sum");
    fe52_secp256k1_add(p, one_x, one_y, 0);
    for (int i = 0; i < FE52_LANES; i++) check(p, i, sum[i] <= 1 || sum[i] == order - 1 ? 0 : sum[i] + 1, "one more");
}

static void check_group(unsigned order) {
    for (unsigned a = 1; a < order; a++)
        for (unsigned first = 1; first < order; first += FE52_LANES) {
            unsigned b[FE52_LANES];
            for (unsigned i = 0; i < FE52_LANES; i++) b[i] = 1 + (first - 1 + i) % (order - 1);
            const unsigned turned = random_u32(&state) & 0xff;
            check_sums(order, a, b, turned);
            check_sums(order, a, b, turned ^ 0xff);
        }
}

Test(simd_points, all_pairs_of_7_points) {
    NEEDS_IFMA;
    group_make_7();
    check_group(7);
}

Test(simd_points, all_pairs_of_13_points) {
    NEEDS_IFMA;
    group_make_13();
    check_group(13);
}

Test(simd_points, all_pairs_of_199_points) {
    NEEDS_IFMA;
    group_make_199();
    check_group(199);
}
#else
Test(simd_points, is_left_out) { cr_skip_test("built without libsecp256k1, libsodium or x86-64"); }
#endif
