/*
 * test_seal.c: seals are SipHash-2-4 with 128 bits: the vectors that its authors published.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/seal.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct svmx__secret secret = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};

/* Of the bytes 0, 1, 2 ... */
static struct svmx__seal seal_of(size_t length) {
    uint8_t bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)i;
    return svmx__seal(&secret, bytes, length);
}

Test(seal, published_vectors) {
    static const struct {
        size_t length;
        const char *hex;
    } known[] = {{0, "a3817f04ba25a8e66df67214c7550293"}, {1, "da87c1d86b99af44347659119b22fc45"},
                 {2, "8177228da4a45dc7fca38bdef60affe4"}, {3, "9c70b60c5267a94e5f33b6b02985ed51"},
                 {8, "3b62a9ba6258f5610f83e264f31497b4"}, {63, "5150d1772f50834a503e069a973fbd7c"}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const struct svmx__seal seal = seal_of(known[k].length);
        char hex[33];
        for (size_t i = 0; i < 16; i++) (void)snprintf(hex + 2 * i, 3, "%02x", seal.bytes[i]);
        cr_assert_str_eq(hex, known[k].hex, "of %zu bytes", known[k].length);
    }
}

Test(seal, another_secret_another_length_another_seal) {
    struct svmx__secret other = secret;
    const uint8_t zeros[9] = {0};
    other.bytes[15] ^= 0x80;
    const struct svmx__seal ours = svmx__seal(&secret, zeros, 8), theirs = svmx__seal(&other, zeros, 8),
                            longer = svmx__seal(&secret, zeros, 9);
    cr_assert(svmx__seal_equal(&ours, &ours));
    cr_assert(!svmx__seal_equal(&ours, &theirs));
    cr_assert(!svmx__seal_equal(&ours, &longer));
    struct svmx__seal almost = ours;
    almost.bytes[15] ^= 1;
    cr_assert(!svmx__seal_equal(&ours, &almost), "the last bit counts");
}
