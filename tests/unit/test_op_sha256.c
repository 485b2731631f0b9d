/*
 * test_op_sha256.c: SHA-256 against the standard's long message and against OpenSSL.
 *
 * The short answers of the standard are known answers of the operation; test_op_table.c runs them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/op.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>
#ifdef HAVE_LIBCRYPTO
#include <openssl/evp.h>
#endif

static struct svmx_slot slot(const void *at, uint64_t bytes) {
    return (struct svmx_slot){(uint64_t)(uintptr_t)at, bytes};
}

static void hash_one(uint8_t digest[32], const void *data, uint64_t bytes) {
    const uint64_t offsets[] = {0, bytes};
    const struct svmx_slot slots[] = {slot(digest, 32), slot(data, bytes), slot(offsets, sizeof offsets)};
    svmx__reference_run(svmx__op_by_id(SVMX_OP_SHA256), slots);
}

/* FIPS 180-2, appendix B.3. */
Test(op_sha256, one_million_times_a) {
    static const uint8_t want[32] = {0xcd, 0xc7, 0x6e, 0x5c, 0x99, 0x14, 0xfb, 0x92, 0x81, 0xa1, 0xc7,
                                     0xe2, 0x84, 0xd7, 0x3e, 0x67, 0xf1, 0x80, 0x9a, 0x48, 0xa4, 0x97,
                                     0x20, 0x0e, 0x04, 0x6d, 0x39, 0xcc, 0xc7, 0x11, 0x2c, 0xd0};
    enum { N = 1000000 };
    uint8_t digest[32];
    char *data = malloc(N);
    cr_assert_not_null(data);
    memset(data, 'a', N);
    hash_one(digest, data, N);
    cr_assert_arr_eq(digest, want, 32);
    free(data);
}

Test(op_sha256, every_length_up_to_600_is_as_openssl_has_it) {
#ifdef HAVE_LIBCRYPTO
    uint8_t data[600];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 167 + (i >> 3) + 255);
    for (size_t bytes = 0; bytes <= sizeof data; bytes++) {
        uint8_t got[32], want[32];
        unsigned length = 0;
        const uint8_t *at = data + (sizeof data - bytes); /* another alignment each time */
        hash_one(got, at, bytes);
        cr_assert(EVP_Digest(at, bytes, want, &length, EVP_sha256(), NULL) == 1 && length == 32);
        cr_assert_arr_eq(got, want, 32, "%zu bytes", bytes);
    }
#else
    cr_skip_test("built without libcrypto");
#endif
}

Test(op_sha256, digests_of_a_task_are_those_of_its_messages_alone) {
    enum { N = 40 };
    uint8_t data[N * N], digests[32 * N + 1], alone[32];
    uint64_t offsets[N + 1] = {3};
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i ^ i >> 5);
    for (size_t i = 0; i < N; i++) offsets[i + 1] = offsets[i] + i * 7 % N;
    const struct svmx_slot slots[] = {slot(digests + 1, 32 * N), slot(data, sizeof data),
                                      slot(offsets, sizeof offsets)};
    svmx__reference_run(svmx__op_by_id(SVMX_OP_SHA256), slots);
    for (size_t i = 0; i < N; i++) {
        hash_one(alone, data + offsets[i], offsets[i + 1] - offsets[i]);
        cr_assert_arr_eq(digests + 1 + 32 * i, alone, 32, "message %zu", i);
    }
}
