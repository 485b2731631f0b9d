/*
 * signatures_fixture.h: many signatures on secp256k1, and the kernels of this machine beside the reference code.
 *
 * A list is filled with signatures one by one; recovered and verified compute it by the kernel with all features of this
 * machine, in ranges of any length, or by what else a suite names, and by the reference, and compare every byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_SIGNATURES_FIXTURE_H
#define SVMX_TESTS_SIGNATURES_FIXTURE_H

#include "../../plugins/simd/variant.h"
#include "op_fixture.h"

#include <secp256k1_recovery.h>
#include <stdbool.h>

enum { MOST_SIGNATURES = 4096 };

struct signatures {
    uint8_t hash[MOST_SIGNATURES][32], v[MOST_SIGNATURES][32], r[MOST_SIGNATURES][32], s[MOST_SIGNATURES][32];
    uint8_t key[MOST_SIGNATURES][64];
    uint8_t address[2][MOST_SIGNATURES][20], valid[2][MOST_SIGNATURES]; /* of the reference, of the kernel */
    unsigned count;
};

static inline uint32_t machine_features(void) {
    const struct simd_cpuid cpuid = simd_cpuid_read();
    return simd_features(&cpuid);
}

/* Runs a kernel over ranges of 1, 2, 3 .. items and then of all that is left. */
static inline void run_ranges(const char *op, const struct svmx_slot *slots, uint32_t slot_count, unsigned count) {
    const uint64_t first_unit[] = {0, count};
    const struct svmx_dispatch d = {
        .slots = slots, .first_unit = first_unit, .task_count = 1, .slot_count = slot_count};
    const uint32_t features = machine_features();
    const struct simd_kernel *kernel = simd_kernel_find(features, simd_variant_best(features), op);
    cr_assert_not_null(kernel);
    uint64_t first = 0;
    for (uint64_t length = 1; first + length < count && length < 20; first += length++)
        kernel->run(&d, first, first + length);
    kernel->run(&d, first, count);
}

/* Who is compared with the reference. */
static void (*run_by)(const char *op, const struct svmx_slot *slots, uint32_t slot_count, unsigned count) = run_ranges;

/* How many are valid. */
static inline unsigned compare_valid(const struct signatures *all, const char *op) {
    unsigned good = 0;
    for (unsigned i = 0; i < all->count; i++) {
        cr_assert_eq(all->valid[1][i], all->valid[0][i], "%s of %u, number %u", op, all->count, i);
        good += all->valid[0][i];
    }
    return good;
}

static inline unsigned recovered(struct signatures *all) {
    struct svmx_slot slots[6] = {{0, 0},
                                 {0, 0},
                                 slot(all->hash, all->count * UINT64_C(32)),
                                 slot(all->v, all->count * UINT64_C(32)),
                                 slot(all->r, all->count * UINT64_C(32)),
                                 slot(all->s, all->count * UINT64_C(32))};
    memset(all->valid, 0x55, sizeof all->valid);
    memset(all->address, 0x55, sizeof all->address);
    for (int side = 0; side < 2; side++) {
        slots[0] = slot(all->address[side], all->count * UINT64_C(20));
        slots[1] = slot(all->valid[side], all->count);
        if (side == 0)
            compute(SVMX_OP_ECRECOVER, slots);
        else
            run_by("ecrecover", slots, 6, all->count);
    }
    for (unsigned i = 0; i < all->count; i++)
        cr_assert_arr_eq(all->address[1][i], all->address[0][i], 20, "number %u", i);
    return compare_valid(all, "ecrecover");
}

static inline unsigned verified(struct signatures *all) {
    struct svmx_slot slots[5] = {{0, 0},
                                 slot(all->hash, all->count * UINT64_C(32)),
                                 slot(all->r, all->count * UINT64_C(32)),
                                 slot(all->s, all->count * UINT64_C(32)),
                                 slot(all->key, all->count * UINT64_C(64))};
    memset(all->valid, 0x55, sizeof all->valid);
    slots[0] = slot(all->valid[0], all->count);
    compute(SVMX_OP_ECDSA_VERIFY_SECP256K1, slots);
    slots[0] = slot(all->valid[1], all->count);
    run_by("ecdsa_verify_secp256k1", slots, 5, all->count);
    return compare_valid(all, "ecdsa_verify_secp256k1");
}

/* ---- numbers, 32 bytes big-endian ------------------------------------------------------------------------------ */

/* n, p and 0, changed by a little. */
static inline void number(uint8_t out[32], char base, int change) {
    static const uint8_t low[2][20] = {{0xff, 0xff, 0xff, 0xfe, 0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48,
                                        0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41},
                                       {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                        0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xfc, 0x2f}};
    memset(out, base == '0' ? 0 : 0xff, 32);
    if (base != '0') memcpy(out + 12, low[base == 'p'], 20);
    for (int i = 31; i >= 0 && change != 0; i--) {
        change += out[i];
        out[i] = (uint8_t)(change & 0xff);
        change >>= 8;
    }
}

/* a b modulo n; neither is 0. */
static inline void times(uint8_t out[32], const uint8_t a[32], const uint8_t b[32]) {
    uint8_t product[32];
    memcpy(product, a, 32);
    cr_assert(secp256k1_ec_seckey_tweak_mul(secp256k1_context_static, product, b));
    memcpy(out, product, 32);
}

/* a^(n - 2) */
static inline void inverse(uint8_t out[32], const uint8_t a[32]) {
    uint8_t exponent[32], r[32], base[32];
    number(exponent, 'n', -2);
    number(r, '0', 1);
    memcpy(base, a, 32);
    for (int bit = 0; bit < 256; bit++) {
        if (exponent[31 - bit / 8] >> bit % 8 & 1) times(r, r, base);
        times(base, base, base);
    }
    memcpy(out, r, 32);
}

#endif
