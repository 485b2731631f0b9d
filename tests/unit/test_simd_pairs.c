/*
 * test_simd_pairs.c: hashes of pairs of nodes, every instruction set of this machine against the scalar code; and which
 * of them trees take.
 *
 * A machine with the SHA instructions never takes the kernels for those without: only here do they run on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/simd/kernels.h"
#include "../../plugins/simd/variant.h"

#include <criterion/criterion.h>
#include <string.h>

/* SHA-256 and Keccak-256 of 64 zeros, as published: the first of Ethereum's zero hashes with either hash. */
Test(simd_pairs, scalar_code_gives_the_zero_hashes_of_ethereum) {
    static const uint8_t zeros[64];
    static const uint8_t sha256[32] = {0xf5, 0xa5, 0xfd, 0x42, 0xd1, 0x6a, 0x20, 0x30, 0x27, 0x98, 0xef,
                                       0x6e, 0xd3, 0x09, 0x97, 0x9b, 0x43, 0x00, 0x3d, 0x23, 0x20, 0xd9,
                                       0xf0, 0xe8, 0xea, 0x98, 0x31, 0xa9, 0x27, 0x59, 0xfb, 0x4b};
    static const uint8_t keccak256[32] = {0xad, 0x32, 0x28, 0xb6, 0x76, 0xf7, 0xd3, 0xcd, 0x42, 0x84, 0xa5,
                                          0x44, 0x3f, 0x17, 0xf1, 0x96, 0x2b, 0x36, 0xe4, 0x91, 0xb3, 0x0a,
                                          0x40, 0xb2, 0x40, 0x58, 0x49, 0xe5, 0x97, 0xba, 0x5f, 0xb5};
    uint8_t digest[32];
    simd_sha256_pairs_scalar(digest, zeros, 1);
    cr_assert_arr_eq(digest, sha256, 32);
    simd_keccak256_pairs_scalar(digest, zeros, 1);
    cr_assert_arr_eq(digest, keccak256, 32);
}

#if defined(__x86_64__)
enum { MOST = 70, AVX512 = SIMD_FEATURE_AVX2 | SIMD_FEATURE_AVX512 };

static uint32_t machine(void) {
    const struct simd_cpuid cpuid = simd_cpuid_read();
    return simd_features(&cpuid);
}

/* All counts, at odd addresses, apart and in place; nothing may be written behind the last digest. */
static void compare(simd_pairs_fn pairs, simd_pairs_fn scalar, uint32_t needs, const char *name) {
    static uint8_t data[64 * MOST + 1], want[32 * MOST], apart[32 * MOST + 33], place[64 * MOST + 1];
    if ((machine() & needs) != needs) cr_skip_test("this machine has no %s", name);
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 131 + (i >> 5) * 7 + 3);
    for (uint64_t count = 0; count <= MOST; count++) {
        scalar(want, data + 1, count);
        memset(apart, 0xa5, sizeof apart);
        pairs(apart + 1, data + 1, count);
        cr_assert(memcmp(apart + 1, want, 32 * count) == 0, "%s of %u pairs", name, (unsigned)count);
        for (size_t i = 0; i < 32; i++) cr_assert_eq(apart[1 + 32 * count + i], 0xa5, "%s: wrote too far", name);
        memcpy(place, data, sizeof place);
        pairs(place + 1, place + 1, count);
        cr_assert(memcmp(place + 1, want, 32 * count) == 0, "%s of %u pairs in place", name, (unsigned)count);
        cr_assert(memcmp(place + 1 + 32 * count, data + 1 + 32 * count, 32 * (MOST - count)) == 0, "%s", name);
    }
}

Test(simd_pairs, sha256_shani) {
    compare(simd_sha256_pairs_shani, simd_sha256_pairs_scalar, SIMD_FEATURE_SHANI, "SHA");
}

Test(simd_pairs, sha256_avx2) { compare(simd_sha256_pairs_avx2, simd_sha256_pairs_scalar, SIMD_FEATURE_AVX2, "AVX2"); }

Test(simd_pairs, sha256_avx512) { compare(simd_sha256_pairs_avx512, simd_sha256_pairs_scalar, AVX512, "AVX-512"); }

Test(simd_pairs, sha256_avx512_shani) {
    compare(simd_sha256_pairs_avx512_shani, simd_sha256_pairs_scalar, AVX512 | SIMD_FEATURE_SHANI, "AVX-512 and SHA");
}

Test(simd_pairs, keccak256_avx2) {
    compare(simd_keccak256_pairs_avx2, simd_keccak256_pairs_scalar, SIMD_FEATURE_AVX2, "AVX2");
}

Test(simd_pairs, keccak256_avx512) {
    compare(simd_keccak256_pairs_avx512, simd_keccak256_pairs_scalar, AVX512, "AVX-512");
}

Test(simd_pairs, trees_take_the_sha_instructions_where_there_are_some) {
    static const struct {
        uint32_t features;
        const char *variant;
        const struct simd_kernel *want;
    } cases[] = {
        {AVX512 | SIMD_FEATURE_SHANI, "avx512", simd_merkle_sha256_avx512_shani},
        {AVX512, "avx512", simd_merkle_sha256_avx512},
        {SIMD_FEATURE_AVX2 | SIMD_FEATURE_SHANI, "avx2", simd_merkle_sha256_shani},
        {SIMD_FEATURE_AVX2, "avx2", simd_merkle_sha256_avx2},
        {AVX512 | SIMD_FEATURE_SHANI, "scalar", simd_merkle_sha256_scalar},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct simd_kernel *const root = &cases[i].want[0], *const tree = &cases[i].want[1];
        cr_assert_eq(simd_kernel_find(cases[i].features, cases[i].variant, "merkle_root_sha256"), root);
        cr_assert_eq(simd_kernel_find(cases[i].features, cases[i].variant, "merkle_tree_sha256"), tree);
    }
}
#endif
