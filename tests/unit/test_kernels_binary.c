/*
 * test_kernels_binary.c: plugins/kernels/binary.c: a binary that is not exactly ours is doubted. Needs no driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/kernels/binary.h"

#include <criterion/criterion.h>
#include <string.h>

enum { PAYLOAD = 100, BYTES = sizeof(struct kernels_head) + PAYLOAD };
static const uint64_t key = 42;

static void make(unsigned char *binary) {
    for (size_t i = 0; i < PAYLOAD; i++) binary[sizeof(struct kernels_head) + i] = (unsigned char)(3 * i);
    kernels_binary_seal(binary, PAYLOAD, key);
}

Test(kernels_binary, what_was_sealed_is_taken) {
    unsigned char binary[BYTES];
    make(binary);
    cr_expect_null(kernels_binary_doubt(binary, BYTES, key));
}

Test(kernels_binary, any_other_byte_or_length_is_doubted) {
    unsigned char binary[BYTES + 1] = {0};
    make(binary);
    for (size_t i = 0; i < BYTES; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            binary[i] ^= (unsigned char)(1 << bit);
            cr_expect_not_null(kernels_binary_doubt(binary, BYTES, key), "bit %u of byte %zu", bit, i);
            binary[i] ^= (unsigned char)(1 << bit);
        }
    for (size_t bytes = 0; bytes < BYTES; bytes++)
        cr_expect_not_null(kernels_binary_doubt(binary, bytes, key), "%zu bytes", bytes);
    cr_expect_not_null(kernels_binary_doubt(binary, BYTES + 1, key));
}

Test(kernels_binary, another_key_is_doubted) {
    unsigned char binary[BYTES];
    make(binary);
    cr_expect_not_null(kernels_binary_doubt(binary, BYTES, key + 1));
}

Test(kernels_binary, texts_are_hashed_with_their_ends) {
    const uint64_t start = kernels_hash_start();
    cr_expect_neq(kernels_hash_text(kernels_hash_text(start, "ab"), "c"),
                  kernels_hash_text(kernels_hash_text(start, "a"), "bc"));
    cr_expect_neq(kernels_hash_text(start, ""), start);
    cr_expect_eq(kernels_hash_bytes(start, "abc", 4), kernels_hash_text(start, "abc"));
}
