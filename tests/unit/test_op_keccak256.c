/*
 * test_op_keccak256.c: Keccak-256 against an implementation that follows the definition of Keccak-f step by step.
 *
 * The one here has no tables: rotations from the triangular numbers, round constants from the shift register, the state
 * as a[x][y] with fresh copies after each step. OpenSSL has no Keccak-256 but SHA3-256, which differs in one byte of
 * padding: with that byte the implementation here is compared with OpenSSL, so the comparison stands on other people's
 * code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/op.h"

#include <criterion/criterion.h>
#include <string.h>
#include <svmx/ops.h>
#ifdef HAVE_LIBCRYPTO
#include <openssl/evp.h>
#endif

enum { RATE = 136 };

struct state {
    uint64_t a[5][5]; /* [x][y] */
};

static uint64_t turned(uint64_t x, unsigned by) { return by % 64 ? x << by % 64 | x >> (64 - by % 64) : x; }

/* Bit t of the register x^8 + x^6 + x^5 + x^4 + 1. */
static unsigned register_bit(unsigned t) {
    unsigned r = 1;
    for (t %= 255; t > 0; t--) r = (r << 1) ^ (r >> 7) * 0x171u;
    return r & 1;
}

static uint64_t round_constant(unsigned round) {
    uint64_t constant = 0;
    for (unsigned j = 0; j <= 6; j++) constant |= (uint64_t)register_bit(j + 7 * round) << ((1u << j) - 1);
    return constant;
}

static struct state theta(struct state s) {
    struct state next;
    for (unsigned x = 0; x < 5; x++)
        for (unsigned y = 0; y < 5; y++) {
            uint64_t left = 0, right = 0;
            for (unsigned k = 0; k < 5; k++) left ^= s.a[(x + 4) % 5][k], right ^= s.a[(x + 1) % 5][k];
            next.a[x][y] = s.a[x][y] ^ left ^ turned(right, 1);
        }
    return next;
}

static struct state rho(struct state s) {
    for (unsigned t = 0, x = 1, y = 0; t < 24; t++) {
        s.a[x][y] = turned(s.a[x][y], (t + 1) * (t + 2) / 2);
        const unsigned old_y = y;
        y = (2 * x + 3 * y) % 5;
        x = old_y;
    }
    return s;
}

static struct state pi_chi_iota(struct state s, unsigned round) {
    struct state moved, next;
    for (unsigned x = 0; x < 5; x++)
        for (unsigned y = 0; y < 5; y++) moved.a[x][y] = s.a[(x + 3 * y) % 5][x];
    for (unsigned x = 0; x < 5; x++)
        for (unsigned y = 0; y < 5; y++)
            next.a[x][y] = moved.a[x][y] ^ (~moved.a[(x + 1) % 5][y] & moved.a[(x + 2) % 5][y]);
    next.a[0][0] ^= round_constant(round);
    return next;
}

static void by_definition(uint8_t digest[32], const uint8_t *data, size_t bytes, uint8_t padding) {
    struct state s = {{{0}}};
    const size_t padded = (bytes / RATE + 1) * RATE;
    for (size_t i = 0; i < padded; i++) {
        unsigned byte = i < bytes ? data[i] : i == bytes ? padding : 0;
        if (i == padded - 1) byte ^= 0x80;
        const size_t at = i % RATE;
        s.a[at / 8 % 5][at / 40] ^= (uint64_t)byte << 8 * (at % 8);
        if (at != RATE - 1) continue;
        for (unsigned round = 0; round < 24; round++) s = pi_chi_iota(rho(theta(s)), round);
    }
    for (unsigned i = 0; i < 32; i++) digest[i] = (uint8_t)(s.a[i / 8][0] >> 8 * (i % 8));
}

static struct svmx_slot slot(const void *at, uint64_t bytes) {
    return (struct svmx_slot){(uint64_t)(uintptr_t)at, bytes};
}

static void hash_one(uint8_t digest[32], const void *data, uint64_t bytes) {
    const uint64_t offsets[] = {0, bytes};
    const struct svmx_slot slots[] = {slot(digest, 32), slot(data, bytes), slot(offsets, sizeof offsets)};
    svmx__reference_run(svmx__op_by_id(SVMX_OP_KECCAK256), slots);
}

enum { LONGEST = 5 * RATE + 3 };

static void fill(uint8_t data[LONGEST]) {
    for (size_t i = 0; i < LONGEST; i++) data[i] = (uint8_t)(i * 101 + (i >> 4) + 0x80);
}

Test(op_keccak256, the_definition_here_with_the_padding_of_sha3_is_as_openssl_has_it) {
#ifdef HAVE_LIBCRYPTO
    uint8_t data[LONGEST];
    fill(data);
    for (size_t bytes = 0; bytes <= LONGEST; bytes++) {
        uint8_t got[32], want[32];
        unsigned length = 0;
        by_definition(got, data, bytes, 0x06);
        cr_assert(EVP_Digest(data, bytes, want, &length, EVP_sha3_256(), NULL) == 1 && length == 32);
        cr_assert_arr_eq(got, want, 32, "%zu bytes", bytes);
    }
#else
    cr_skip_test("built without libcrypto");
#endif
}

Test(op_keccak256, every_length_over_five_blocks_is_as_defined) {
    uint8_t data[LONGEST];
    fill(data);
    for (size_t bytes = 0; bytes <= LONGEST; bytes++) {
        uint8_t got[32], want[32];
        const uint8_t *at = data + (LONGEST - bytes); /* another alignment each time */
        hash_one(got, at, bytes);
        by_definition(want, at, bytes, 0x01);
        cr_assert_arr_eq(got, want, 32, "%zu bytes", bytes);
    }
}

Test(op_keccak256, digests_of_a_task_are_those_of_its_messages_alone) {
    enum { N = 40 };
    uint8_t data[N * N], digests[32 * N + 1], alone[32];
    uint64_t offsets[N + 1] = {3};
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i ^ i >> 5);
    for (size_t i = 0; i < N; i++) offsets[i + 1] = offsets[i] + i * 7 % N;
    const struct svmx_slot slots[] = {slot(digests + 1, 32 * N), slot(data, sizeof data),
                                      slot(offsets, sizeof offsets)};
    svmx__reference_run(svmx__op_by_id(SVMX_OP_KECCAK256), slots);
    for (size_t i = 0; i < N; i++) {
        by_definition(alone, data + offsets[i], offsets[i + 1] - offsets[i], 0x01);
        cr_assert_arr_eq(digests + 1 + 32 * i, alone, 32, "message %zu", i);
    }
}
