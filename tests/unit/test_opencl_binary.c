/*
 * test_opencl_binary.c: plugins/opencl/binary.c: a binary that is not exactly ours is doubted. Needs no driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/opencl/opencl.h"

#include <criterion/criterion.h>
#include <string.h>

enum { PAYLOAD = 100, BYTES = sizeof(struct ocl_head) + PAYLOAD };
static const uint64_t key = 42;

static void make(unsigned char *binary) {
    for (size_t i = 0; i < PAYLOAD; i++) binary[sizeof(struct ocl_head) + i] = (unsigned char)(3 * i);
    ocl_binary_seal(binary, PAYLOAD, key);
}

Test(opencl_binary, what_was_sealed_is_taken) {
    unsigned char binary[BYTES];
    make(binary);
    cr_expect_null(ocl_binary_doubt(binary, BYTES, key));
}

Test(opencl_binary, any_other_byte_or_length_is_doubted) {
    unsigned char binary[BYTES + 1] = {0};
    make(binary);
    for (size_t i = 0; i < BYTES; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            binary[i] ^= (unsigned char)(1 << bit);
            cr_expect_not_null(ocl_binary_doubt(binary, BYTES, key), "bit %u of byte %zu", bit, i);
            binary[i] ^= (unsigned char)(1 << bit);
        }
    for (size_t bytes = 0; bytes < BYTES; bytes++)
        cr_expect_not_null(ocl_binary_doubt(binary, bytes, key), "%zu bytes", bytes);
    cr_expect_not_null(ocl_binary_doubt(binary, BYTES + 1, key));
}

Test(opencl_binary, another_key_is_doubted) {
    unsigned char binary[BYTES];
    make(binary);
    cr_expect_not_null(ocl_binary_doubt(binary, BYTES, key + 1));
}

Test(opencl_binary, texts_are_hashed_with_their_ends) {
    const uint64_t start = ocl_hash_start();
    cr_expect_neq(ocl_hash_text(ocl_hash_text(start, "ab"), "c"), ocl_hash_text(ocl_hash_text(start, "a"), "bc"));
    cr_expect_neq(ocl_hash_text(start, ""), start);
    cr_expect_eq(ocl_hash_bytes(start, "abc", 4), ocl_hash_text(start, "abc"));
}
