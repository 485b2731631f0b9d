/*
 * test_simd_small_group.c: ecrecover_ifma.c and ecdsa_ifma.c in groups of 7, 13 and 199 points (small_group.h), against sums of
 * logarithms modulo the order: recovery of every R with every s and every hash; verification of every key with every r and every s,
 * each with a hash that makes it right, one that does by -R, and one that does not, and of every key with every r and every hash.
 * A program each: test_simd_small_group has 199, _7 and _13 the others, and SMALL_ORDER says which.
 *
 * There, what the formulas for points cannot add comes in two of three signatures, or more. Those are computed again by
 * small_recover and small_verify of this file, as by libsecp256k1 in the large group, and counted: both kinds must be among them.
 *
 * Of 199 one in STRIDE, in turn, which is 2 million signatures, and one in 198 under a sanitizer; all of them with
 * SVMX_TEST_LONG: 8, 12 and 4 million. Of 7 and 13 always all: 294 and 2,028 recoveries.
 *
 * What this proves: for these groups, that no signature is answered wrongly by the code for scalars, windows, tables and points, and
 * that what cannot be added is always found. What it does not: the numbers of secp256k1_group.h, which are others there, and the
 * table of G (secp256k1_table_ifma.c); libsecp256k1 is compared with for those.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#if defined(SVMX_HAVE_SECP256K1) && defined(SVMX_HAVE_SODIUM) && defined(__x86_64__)
#include "../../plugins/simd/signatures.h"
#include "group_logs.h"

#include <stdalign.h>
#include <stdlib.h>

enum { STRIDE = ORDER == 199 ? 13 : 1, BATCH = 3 * ORDER * ORDER / 2 };

/* SECP_G_ROWS, and the bits of half a number, of small_group.h. */
enum { ROWS = ORDER == 7 ? 2 : ORDER == 13 ? 4 : 32, BASE_BITS = ORDER == 7 ? 2 : ORDER == 13 ? 3 : 126 };

/* ---- what the lanes call --------------------------------------------------------------------------------------- */

extern uint64_t small_rows[2 * ROWS][8];
alignas(64) uint64_t small_rows[2 * ROWS][8];
void small_rows_make(void);
_Bool small_recover(uint8_t xy[64], const uint8_t *hash, const uint8_t *v, const uint8_t *r, const uint8_t *s);
_Bool small_verify(const uint8_t *hash, const uint8_t *r, const uint8_t *s, const uint8_t *key);
void small_ecrecover_run(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void small_ecdsa_run(const struct svmx_dispatch *d, uint64_t first, uint64_t end);

static unsigned again; /* signatures that the lanes gave back */

_Bool small_recover(uint8_t xy[64], const uint8_t *hash, const uint8_t *v, const uint8_t *r, const uint8_t *s) {
    const unsigned key = key_log(hash, log_of(r, v[31] == 28), s);
    again++;
    memcpy(xy, key_of[key], 64);
    return key != 0;
}

_Bool small_verify(const uint8_t *hash, const uint8_t *r, const uint8_t *s, const uint8_t *key) {
    again++;
    return is_signature(hash, r, s, log_of(key, key[63] & 1));
}

void small_rows_make(void) {
    unsigned base = 1;
    for (unsigned half = 0; half < 2; half++) {
        for (unsigned i = 0; i < ROWS; i++) {
            const struct point *p = &multiple[modulo((2 * i + 1) * base)];
            memcpy(small_rows[ROWS * half + i], p->x.w, 32);
            memcpy(small_rows[ROWS * half + i] + 4, p->y.w, 32);
        }
        for (unsigned i = 0; i < BASE_BITS; i++) base = modulo(2 * base);
    }
}

static void start(void) {
    if (!has_ifma()) return;
    logs_make();
    again = 0;
}

TestSuite(simd_small_group, .init = start);

/* A sanitizer looks at memory, not at sums, and takes ten times as long. */
static unsigned stride(void) {
    if (STRIDE == 1 || getenv("SVMX_TEST_LONG")) return 1;
    const char *sanitizer = getenv("SVMX_TEST_SANITIZER");
    return sanitizer && *sanitizer ? ORDER - 1 : STRIDE;
}

/* ---- every point, every s, every hash -------------------------------------------------------------------------- */

static uint8_t hash[BATCH][32], v[BATCH][32], r[BATCH][32], s[BATCH][32], key[BATCH][64];
static uint8_t address[BATCH][20], valid[BATCH];
static unsigned expected[BATCH]; /* logarithm of the key, or whether it is a signature */

static void run(void (*kernel)(const struct svmx_dispatch *, uint64_t, uint64_t), const struct svmx_slot *slots,
                uint32_t slot_count, uint64_t count) {
    const uint64_t first_unit[] = {0, count};
    const struct svmx_dispatch d = {
        .slots = slots, .first_unit = first_unit, .task_count = 1, .slot_count = slot_count};
    kernel(&d, 0, count);
}

/* Some were answered by the lanes and some again, neither of them few. */
static void check_again(unsigned count) {
    const unsigned least = count / (ORDER == 199 ? 8 : 20), most = ORDER == 199 ? count / 4 * 3 : count - count / 20;
    cr_assert(again > least && again < most, "%u of %u", again, count);
}

/* Signatures whose R is `point`; s of 199, or 13, or 7, is no more than 0, but in range. */
static unsigned recover_all(unsigned point) {
    static const uint8_t none[20];
    unsigned count = 0;
    for (unsigned k = 1; k <= ORDER; k++)
        for (unsigned h = (point + k) % stride(); h < ORDER; h += stride(), count++) {
            small_number(hash[count], h);
            small_number(v[count], 27 + (key_of[point][63] & 1));
            small_number(s[count], k);
            memcpy(r[count], key_of[point], 32);
            expected[count] = key_log(hash[count], point, s[count]);
        }
    const struct svmx_slot slots[] = {slot(address, 20 * count), slot(valid, count),  slot(hash, 32 * count),
                                      slot(v, 32 * count),       slot(r, 32 * count), slot(s, 32 * count)};
    run(small_ecrecover_run, slots, 6, count);
    for (unsigned i = 0; i < count; i++) {
        const unsigned log = expected[i];
        cr_assert_eq(valid[i], log != 0, "R %u, s %u, hash %u", point, s[i][31], hash[i][31]);
        cr_assert_arr_eq(address[i], log ? address_of[log] : none, 20, "R %u, s %u, hash %u", point, s[i][31],
                         hash[i][31]);
    }
    return count;
}

Test(simd_small_group, recovery) {
    NEEDS_IFMA;
    unsigned count = 0;
    for (unsigned point = 1; point < ORDER; point++) count += recover_all(point);
    printf("%u recovered, %u of them again\n", count, again);
    check_again(count);
}

/* A hash that makes it a signature, by R or by -R, and one that is any. */
static void verification_make(unsigned i, unsigned log, unsigned point, unsigned k) {
    const unsigned sum = i % 3 == 1 ? ORDER - point : point;
    const unsigned right = modulo(k * sum + ORDER * ORDER - r_of[point] * log);
    small_number(hash[i], i % 3 < 2 ? right : modulo(right + 1 + i));
    small_number(s[i], k);
    memcpy(r[i], key_of[point], 32);
    memcpy(key[i], key_of[log], 64);
    expected[i] = 2 * k < ORDER && is_signature(hash[i], r[i], s[i], log);
}

static void verify_batch(unsigned log, unsigned count) {
    const struct svmx_slot slots[] = {slot(valid, count), slot(hash, 32 * count), slot(r, 32 * count),
                                      slot(s, 32 * count), slot(key, 64 * count)};
    run(small_ecdsa_run, slots, 5, count);
    for (unsigned i = 0; i < count; i++)
        cr_assert_eq(valid[i], expected[i], "key %u, r %u, s %u, hash %u", log, remainder_of(r[i]), s[i][31],
                     hash[i][31]);
}

static unsigned verify_all(unsigned log, unsigned *good) {
    unsigned count = 0;
    for (unsigned point = 1; point <= ORDER / 2; point++)
        for (unsigned k = 1 + (log + point) % stride(); k < ORDER; k += stride())
            for (unsigned i = 0; i < 3; i++) {
                verification_make(count, log, point, k);
                *good += expected[count++];
            }
    verify_batch(log, count);
    return count;
}

Test(simd_small_group, verification) {
    NEEDS_IFMA;
    unsigned count = 0, good = 0;
    for (unsigned log = 1; log < ORDER; log++) count += verify_all(log, &good);
    printf("%u verified, %u are right, %u again\n", count, good, again);
    cr_assert(good > count / 4 && good < count / 2, "%u of %u", good, count);
    check_again(count);
}

/* Every hash, with an s that is another one for each key and r, of those that are low. */
static unsigned verify_hashes(unsigned log, unsigned *good) {
    unsigned count = 0;
    for (unsigned point = 1; point <= ORDER / 2; point++)
        for (unsigned h = (log + point) % stride(); h < ORDER; h += stride(), count++) {
            small_number(hash[count], h);
            small_number(s[count], 1 + (7 * log + point) % (ORDER / 2));
            memcpy(r[count], key_of[point], 32);
            memcpy(key[count], key_of[log], 64);
            expected[count] = is_signature(hash[count], r[count], s[count], log);
            *good += expected[count];
        }
    verify_batch(log, count);
    return count;
}

Test(simd_small_group, verification_of_every_hash) {
    NEEDS_IFMA;
    unsigned count = 0, good = 0;
    for (unsigned log = 1; log < ORDER; log++) count += verify_hashes(log, &good);
    printf("%u verified, %u are right, %u again\n", count, good, again);
    cr_assert(good > count / ORDER && good < 3 * (count / ORDER), "two hashes are right of each: %u of %u", good,
              count);
}
#else
Test(simd_small_group, is_left_out) { cr_skip_test("built without libsecp256k1, libsodium or x86-64"); }
#endif
