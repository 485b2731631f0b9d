/*
 * test_simd_secp256k1.c: ecrecover and ecdsa_verify_secp256k1 in lanes against the reference code, on what is hard: numbers at
 * the edges of their ranges, sums that the formulas for points cannot add, results of infinity, an x above n, and valid
 * and invalid ones side by side in every pattern.
 *
 * tests/fuzz/fuzz_signatures.c compares many more of the ordinary kind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#ifdef SVMX_HAVE_SECP256K1
#include "signatures_fixture.h"

static struct signatures all;
static secp256k1_context *signer;
static uint64_t state;

static void start(void) {
    all.count = 0;
    state = 31;
    if (!signer) signer = secp256k1_context_create(SECP256K1_CONTEXT_SIGN);
}

static void stop(void) {
    secp256k1_context_destroy(signer);
    signer = NULL;
}

TestSuite(simd_secp256k1, .init = start, .fini = stop);

/* Said once, in the suite's own test: what the others then compare. */
static bool in_lanes(void) { return (machine_features() & SIMD_FEATURE_IFMA) != 0; }

Test(simd_secp256k1, machines_with_ifma_compute_in_lanes) {
    const uint32_t features = SIMD_FEATURE_AVX2 | SIMD_FEATURE_AVX512;
    for (int i = 0; i < 2; i++) {
        const char *op = i ? "ecrecover" : "ecdsa_verify_secp256k1";
        const struct simd_kernel *with = simd_kernel_find(features | SIMD_FEATURE_IFMA, "avx512", op);
        const struct simd_kernel *without = simd_kernel_find(features, "avx512", op);
        cr_assert_not_null(without);
        cr_assert_neq(with, without);
    }
    if (!in_lanes()) cr_skip_test("this machine has no IFMA: the other tests see libsecp256k1 only");
}

/* ---- signatures ------------------------------------------------------------------------------------------------ */

/* Appends one of a random key and hash. */
static void append(void) {
    const unsigned i = all.count++;
    uint8_t secret[32], compact[64], point[65];
    secp256k1_ecdsa_recoverable_signature signature;
    secp256k1_pubkey key;
    size_t bytes = sizeof point;
    int id;
    random_bytes(&state, secret, 32);
    random_bytes(&state, all.hash[i], 32);
    cr_assert(secp256k1_ecdsa_sign_recoverable(signer, &signature, all.hash[i], secret, NULL, NULL));
    cr_assert(secp256k1_ec_pubkey_create(signer, &key, secret));
    secp256k1_ecdsa_recoverable_signature_serialize_compact(signer, compact, &id, &signature);
    secp256k1_ec_pubkey_serialize(signer, point, &bytes, &key, SECP256K1_EC_UNCOMPRESSED);
    memcpy(all.r[i], compact, 32);
    memcpy(all.s[i], compact + 32, 32);
    memcpy(all.key[i], point + 1, 64);
    number(all.v[i], '0', 27 + id);
}

/* Eight ways to spoil one for both operations, all of them certain. */
static void spoil(unsigned i, uint32_t kind) {
    switch (kind % 8) {
    case 0: number(all.r[i], '0', 0); break;
    case 1: number(all.r[i], 'n', 0); break;
    case 2: number(all.s[i], '0', 0); break;
    case 3: number(all.s[i], 'n', 0); break;
    case 4: number(all.r[i], 'p', 1); break;
    case 5: number(all.s[i], 'n', 1); break;
    case 6: /* no x of a point: 5^3 + 7 has no root */ number(all.r[i], '0', 5); break;
    default: number(all.s[i], 'p', 0); break;
    }
}

Test(simd_secp256k1, every_pattern_of_good_and_bad_lanes) {
    for (unsigned pattern = 0; pattern < 256; pattern++)
        for (unsigned lane = 0; lane < 8; lane++) {
            append();
            if (pattern >> lane & 1) spoil(all.count - 1, random_u32(&state));
        }
    cr_assert_eq(recovered(&all), 1024);
    cr_assert_eq(verified(&all), 1024);
}

Test(simd_secp256k1, every_count) {
    for (unsigned count = 1; count <= 150; count += count < 20 ? 1 : 13) {
        start();
        for (unsigned i = 0; i < count; i++) append();
        cr_assert_eq(recovered(&all), count);
        cr_assert_eq(verified(&all), count);
        stop();
    }
    start();
}

/* Tasks of 0 to 3 signatures share lanes with their neighbours. */
Test(simd_secp256k1, many_short_tasks) {
    enum { TASKS = 150 };
    struct svmx_slot rows[TASKS][5];
    uint64_t first_unit[TASKS + 1] = {0};
    for (unsigned t = 0; t < TASKS; t++) {
        const unsigned at = all.count, n = t % 4;
        for (unsigned i = 0; i < n; i++) append();
        if (n > 1) spoil(at, t);
        first_unit[t + 1] = all.count;
        const struct svmx_slot row[5] = {slot(all.valid[1] + at, n), slot(all.hash[at], n * UINT64_C(32)),
                                         slot(all.r[at], n * UINT64_C(32)), slot(all.s[at], n * UINT64_C(32)),
                                         slot(all.key[at], n * UINT64_C(64))};
        memcpy(rows[t], row, sizeof row);
    }
    cr_assert_gt(verified(&all), all.count / 2);
    memset(all.valid[1], 0x55, sizeof all.valid[1]);
    const struct svmx_dispatch d = {.slots = rows[0], .first_unit = first_unit, .task_count = TASKS, .slot_count = 5};
    const uint32_t features = machine_features();
    simd_kernel_find(features, simd_variant_best(features), "ecdsa_verify_secp256k1")->run(&d, 0, all.count);
    cr_assert_gt(compare_valid(&all, "short tasks"), all.count / 2);
}

/* ---- edges ----------------------------------------------------------------------------------------------------- */

static const struct {
    char base;
    int change;
} edges[] = {{'0', 0}, {'0', 1}, {'0', 2}, {'0', 3},  {'0', 4},  {'0', 6},  {'0', 255}, {'n', -2}, {'n', -1},
             {'n', 0}, {'n', 1}, {'n', 2}, {'p', -4}, {'p', -2}, {'p', -1}, {'p', 0},   {'p', 1},  {'p', 976}};
enum { EDGES = sizeof edges / sizeof edges[0] };

static void edge(uint8_t out[32], unsigned i) { number(out, edges[i % EDGES].base, edges[i % EDGES].change); }

/* r, s and the hash at all edges together. */
Test(simd_secp256k1, edges_of_r_s_and_hash) {
    for (unsigned h = 0; h < EDGES; h += 3) {
        all.count = 0;
        for (unsigned r = 0; r < EDGES; r++)
            for (unsigned s = 0; s < EDGES; s++) {
                append();
                edge(all.r[all.count - 1], r);
                edge(all.s[all.count - 1], s);
                edge(all.hash[all.count - 1], h + s % 3);
            }
        cr_assert_gt(recovered(&all), 0);
        verified(&all);
    }
}

/* One of the three at an edge, the rest a signature. */
Test(simd_secp256k1, one_number_at_an_edge) {
    for (unsigned i = 0; i < 3 * EDGES; i++) {
        append();
        edge((i % 3 == 0 ? all.r : i % 3 == 1 ? all.s : all.hash)[i], i / 3);
    }
    cr_assert_gt(recovered(&all), EDGES);
    verified(&all);
}

/* s and n - s: the other key for recovery, refused by verification; (n - 1) / 2 and one more. */
Test(simd_secp256k1, high_s) {
    static const uint8_t half[32] = {0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                     0xff, 0xff, 0xff, 0xff, 0xff, 0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4,
                                     0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0};
    for (unsigned i = 0; i < 64; i++) {
        append();
        if (i % 2) cr_assert(secp256k1_ec_seckey_negate(secp256k1_context_static, all.s[i]));
        if (i >= 48) memcpy(all.s[i], half, 32), all.s[i][31] = (uint8_t)(half[31] + i % 2);
    }
    cr_assert_eq(recovered(&all), 64);
    cr_assert_eq(verified(&all), 24);
}

Test(simd_secp256k1, every_v_and_its_high_bytes) {
    for (unsigned i = 0; i < 256; i++) {
        append();
        number(all.v[i], '0', (int)i);
    }
    for (unsigned i = 0; i < 31; i++) {
        append();
        all.v[256 + i][i] = (uint8_t)(1 + i);
    }
    cr_assert_eq(recovered(&all), 2);
}

Test(simd_secp256k1, keys_that_are_no_points) {
    for (unsigned i = 0; i < 160; i++) {
        append();
        if (i < 2 * EDGES) edge(all.key[i] + 32 * (i & 1), i / 2);
        if (i >= 2 * EDGES && i % 2) all.key[i][i % 64] ^= (uint8_t)(1 << i % 8);
    }
    cr_assert_eq(verified(&all), (160 - 2 * EDGES) / 2);
}

/* ---- sums that are hard ---------------------------------------------------------------------------------------- */

/* Small numbers, powers of two where windows begin, lambda, and all of them negative. */
static void multiplier(uint8_t out[32], unsigned kind) {
    static const uint8_t lambda[32] = {0x53, 0x63, 0xad, 0x4c, 0xc0, 0x5c, 0x30, 0xe0, 0xa5, 0x26, 0x1c,
                                       0x02, 0x88, 0x12, 0x64, 0x5a, 0x12, 0x2e, 0x22, 0xea, 0x20, 0x81,
                                       0x66, 0x78, 0xdf, 0x02, 0x96, 0x7c, 0x1b, 0x23, 0xbd, 0x72};
    const unsigned which = kind / 2 % 40;
    number(out, '0', (int)which + 1);
    if (which >= 33) {
        static const uint8_t powers[] = {5, 12, 120, 125, 132, 144, 252};
        number(out, '0', 0);
        out[31 - powers[which - 33] / 8] = (uint8_t)(1 << powers[which - 33] % 8);
    }
    if (which % 8 == 7) times(out, out, lambda);
    if (kind % 2) cr_assert(secp256k1_ec_seckey_negate(secp256k1_context_static, out));
}

/* x and y of k G, big-endian. */
static void point_of(uint8_t xy[64], const uint8_t k[32]) {
    secp256k1_pubkey key;
    uint8_t point[65];
    size_t bytes = sizeof point;
    cr_assert(secp256k1_ec_pubkey_create(signer, &key, k));
    secp256k1_ec_pubkey_serialize(signer, point, &bytes, &key, SECP256K1_EC_UNCOMPRESSED);
    memcpy(xy, point + 1, 64);
}

/*
 * Both compute u1 G + u2 k G, and here all three are chosen.
 *
 *   SUM_ANY        small ones of each kind
 *   SUM_INFINITY   u1 = -u2 k
 *   SUM_MEETS      the last two that are added are the same point. The last is a multiple of 2^132 G, by the digit in which the
 *                  upper half of u1 begins; that is -4095 if u1 is odd and below 2^132, so the sum is twice that
 */
enum sum { SUM_ANY, SUM_INFINITY, SUM_MEETS };

static void choose(uint8_t k[32], uint8_t u1[32], uint8_t u2[32], enum sum sum) {
    multiplier(k, random_u32(&state));
    multiplier(u1, random_u32(&state));
    multiplier(u2, random_u32(&state));
    if (sum == SUM_INFINITY) {
        times(u1, u2, k);
        cr_assert(secp256k1_ec_seckey_negate(secp256k1_context_static, u1));
    } else if (sum == SUM_MEETS) {
        number(u1, '0', 1 + 2 * (int)(random_u32(&state) % 100000));
        number(k, '0', 0);
        k[13] = 0x01, k[14] = 0xff, k[15] = 0xe0; /* 8190 2^132 */
        cr_assert(secp256k1_ec_seckey_tweak_add(secp256k1_context_static, k, u1));
        cr_assert(secp256k1_ec_seckey_negate(secp256k1_context_static, k));
        uint8_t inverted[32];
        inverse(inverted, u2);
        times(k, k, inverted);
    }
}

/* u1 = -hash / r and u2 = s / r, where r is the x of k G */
static void append_recovery(enum sum sum) {
    const unsigned i = all.count++;
    uint8_t k[32], u1[32], u2[32], xy[64];
    choose(k, u1, u2, sum);
    point_of(xy, k);
    memcpy(all.r[i], xy, 32); /* below n: the chance of another is 2^-128 */
    number(all.v[i], '0', 27 + (xy[63] & 1));
    times(all.s[i], u2, all.r[i]);
    times(all.hash[i], u1, all.r[i]);
    cr_assert(secp256k1_ec_seckey_negate(secp256k1_context_static, all.hash[i]));
}

Test(simd_secp256k1, recovery_where_points_meet) {
    for (unsigned i = 0; i < 1600; i++) append_recovery(i % 2 ? SUM_ANY : SUM_MEETS);
    const unsigned good = recovered(&all);
    cr_assert(good > 1500, "few are infinity: %u", good);
}

Test(simd_secp256k1, recovery_of_infinity_is_invalid_among_others) {
    for (unsigned i = 0; i < 400; i++) append_recovery(i % 3 ? SUM_INFINITY : SUM_MEETS);
    cr_assert_eq(recovered(&all), 134);
}

/* u1 = hash / s and u2 = r / s; the key is k G, and r the x of the sum, or any. */
static void append_verification(enum sum sum, bool wrong) {
    const unsigned i = all.count++;
    uint8_t k[32], u1[32], u2[32], total[32], xy[64];
    choose(k, u1, u2, sum);
    point_of(all.key[i], k);
    times(total, u2, k);
    if (!secp256k1_ec_seckey_tweak_add(secp256k1_context_static, total, u1)) number(total, '0', 1);
    point_of(xy, total);
    memcpy(all.r[i], xy, 32);
    if (wrong) number(all.r[i], '0', 1 + (int)(random_u32(&state) % 1000));
    inverse(u2, u2);
    times(all.s[i], all.r[i], u2);
    times(all.hash[i], all.s[i], u1);
}

Test(simd_secp256k1, verification_where_points_meet) {
    for (unsigned i = 0; i < 900; i++) append_verification((enum sum)(i % 3), false);
    const unsigned good = verified(&all);
    cr_assert(good > 200 && good < 400, "half of two thirds have a low s: %u", good);
}

/* What cannot be added leaves zeros, and zeros satisfy every comparison with r z^2. */
Test(simd_secp256k1, verification_where_points_meet_and_r_is_wrong) {
    for (unsigned i = 0; i < 600; i++) append_verification((enum sum)(i % 3), true);
    cr_assert_eq(verified(&all), 0);
}

/* The x of the sum is n + t: r is t, and t itself is the x of another point or of none. */
Test(simd_secp256k1, an_x_above_n) {
    for (int t = 1; all.count < 64; t++) {
        const unsigned i = all.count;
        uint8_t compressed[33] = {2}, compact[64], point[65];
        secp256k1_pubkey key;
        secp256k1_ecdsa_recoverable_signature signature;
        size_t bytes = sizeof point;
        number(compressed + 1, 'n', t);
        if (!secp256k1_ec_pubkey_parse(secp256k1_context_static, &key, compressed, 33)) continue;
        append();
        number(all.r[i], '0', t);
        memcpy(compact, all.r[i], 32);
        memcpy(compact + 32, all.s[i], 32);
        cr_assert(secp256k1_ecdsa_recoverable_signature_parse_compact(secp256k1_context_static, &signature, compact,
                                                                      2 + t % 2));
        cr_assert(secp256k1_ecdsa_recover(secp256k1_context_static, &key, &signature, all.hash[i]));
        secp256k1_ec_pubkey_serialize(secp256k1_context_static, point, &bytes, &key, SECP256K1_EC_UNCOMPRESSED);
        memcpy(all.key[i], point + 1, 64);
        if (i % 4 == 3) all.hash[i][0] ^= 1;
    }
    cr_assert_eq(verified(&all), 48);
    recovered(&all);
}
#else
Test(simd_secp256k1, is_left_out) { cr_skip_test("built without libsecp256k1"); }
#endif
