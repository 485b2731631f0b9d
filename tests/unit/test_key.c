/*
 * test_key.c: what a pipeline is filed under: every field counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/key.h"

#include <criterion/criterion.h>
#include <string.h>

Test(key, equal_keys_have_equal_hashes) {
    const struct svmx__key a = {1, 2, 4096, 9}, b = {1, 2, 4096, 9};
    cr_assert(svmx__key_equal(&a, &b));
    cr_assert_eq(svmx__key_hash(&a), svmx__key_hash(&b));
}

Test(key, every_field_counts) {
    const struct svmx__key base = {1, 2, 4096, 9};
    const struct svmx__key others[] = {
        {2, 2, 4096, 9}, {1, 3, 4096, 9}, {1, 2, 8192, 9}, {1, 2, 4096, 8}, {2, 1, 4096, 9}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        cr_assert_not(svmx__key_equal(&base, &others[i]), "key %zu", i);
        cr_assert_neq(svmx__key_hash(&base), svmx__key_hash(&others[i]), "key %zu", i);
    }
}

Test(key, hashes_of_neighbours_spread) {
    unsigned used[64] = {0}, most = 0;
    for (uint32_t device = 0; device < 4; device++)
        for (uint32_t op = 0; op < 16; op++)
            for (int bucket = 0; bucket < 16; bucket++) {
                const struct svmx__key key = {device, op, UINT64_C(1) << bucket, 0};
                unsigned *count = &used[svmx__key_hash(&key) & 63];
                if (++*count > most) most = *count;
            }
    cr_assert_lt(most, 40, "1024 keys over 64 places: 16 each on average, %u in one", most);
}

/* The values of xxHash's own specification: a file that one machine wrote, any machine reads. */
Test(key, the_wide_hash_is_xxh3_in_canonical_order) {
    static const uint8_t of_nothing[16] = {0x99, 0xaa, 0x06, 0xd3, 0x01, 0x47, 0x98, 0xd8,
                                           0x60, 0x01, 0xc3, 0x24, 0x46, 0x8d, 0x49, 0x7f};
    const struct svmx__hash128 nothing = svmx__hash128("", 0), some = svmx__hash128("a", 1);
    cr_assert_arr_eq(nothing.bytes, of_nothing, 16);
    cr_assert(memcmp(&nothing, &some, sizeof some) != 0);
}
