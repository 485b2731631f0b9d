/*
 * test_op_merkle.c: trees against trees built from single hashes, both odd rules, and what is refused.
 *
 * Published: the tree over one leaf, which is the leaf, and Ethereum's table of zero hashes (the deposit contract's), which
 * is the tree over 2^k leaves of zeros. The bits of other small trees are known answers; test_op_table.c runs them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"
#include "ops/merkle.h"
#include "ops/messages.h"

#include <stdlib.h>
#ifdef HAVE_LIBCRYPTO
#include <openssl/evp.h>
#endif

enum { NODE = 32, MOST = 2100 };

static uint8_t leaves[MOST * NODE];

static void leaves_make(void) {
    uint64_t state = 3;
    random_bytes(&state, leaves, sizeof leaves);
}

TestSuite(op_merkle, .init = leaves_make);

static void root_of(uint32_t op, uint8_t root[NODE], const uint8_t *from, uint64_t n, uint32_t odd) {
    const struct svmx_slot slots[] = {slot(root, NODE), slot(from, NODE * n), scalar_u32(odd)};
    compute(op, slots);
}

/* One level after another in one array, the plain way. */
static void levels(uint8_t *nodes, uint64_t n, uint32_t odd, svmx__hash_fn hash) {
    memcpy(nodes, leaves, NODE * n);
    for (; n > 1; n = (n + 1) / 2) {
        uint8_t *above = nodes + NODE * n, pair[2 * NODE];
        for (uint64_t i = 0; i < n; i += 2) {
            const uint8_t *left = nodes + NODE * i, *right = i + 1 < n ? left + NODE : left;
            memcpy(pair, left, NODE);
            memcpy(pair + NODE, right, NODE);
            if (i + 1 == n && odd == SVMX_MERKLE_PROMOTE)
                memcpy(above + NODE * (i / 2), left, NODE);
            else
                hash(above + NODE * (i / 2), pair, sizeof pair);
        }
        nodes = above;
    }
}

static void compare(uint64_t n, uint32_t odd, uint32_t root_op, uint32_t tree_op, svmx__hash_fn hash) {
    const uint64_t count = svmx_merkle_nodes(n);
    uint8_t *want = malloc(NODE * (n + count)), *got = malloc(NODE * count + 1), root[NODE];
    cr_assert(want && got);
    levels(want, n, odd, hash);
    root_of(root_op, root, leaves, n, odd);
    cr_assert_arr_eq(root, want + NODE * (n + count - 1), NODE, "%s over %lu leaves, odd %u",
                     svmx__op_by_id(root_op)->name, (unsigned long)n, odd);
    const struct svmx_slot slots[] = {slot(got, NODE * count), slot(leaves, NODE * n), scalar_u32(odd)};
    compute(tree_op, slots);
    cr_assert(memcmp(got, want + NODE * n, NODE * count) == 0, "%s over %lu leaves, odd %u",
              svmx__op_by_id(tree_op)->name, (unsigned long)n, odd);
    free(want);
    free(got);
}

Test(op_merkle, every_count_to_130_and_some_more_is_as_single_hashes_say) {
    for (uint64_t n = 1; n <= MOST; n += n < 130 ? 1 : 197)
        for (uint32_t odd = 0; odd < 2; odd++) {
            compare(n, odd, SVMX_OP_MERKLE_ROOT_SHA256, SVMX_OP_MERKLE_TREE_SHA256, svmx__sha256);
            compare(n, odd, SVMX_OP_MERKLE_ROOT_KECCAK256, SVMX_OP_MERKLE_TREE_KECCAK256, svmx__keccak256);
        }
}

/* The counts in formulas: the header's loop, the levels of merkle.h, and n - 1 for powers of two. */
Test(op_merkle, nodes_are_counted_alike) {
    for (uint64_t n = 1; n < 5000; n++) {
        uint64_t sum = 0;
        for (unsigned level = 1; svmx__merkle_count(n, level - 1) > 1; level++) sum += svmx__merkle_count(n, level);
        cr_assert_eq(svmx_merkle_nodes(n), sum);
        if ((n & (n - 1)) == 0) cr_assert_eq(sum, n - 1);
    }
    cr_assert_eq(svmx_merkle_nodes(0), 0);
    cr_assert_eq(svmx_merkle_nodes(UINT64_C(1) << 58), (UINT64_C(1) << 58) - 1);
}

/* SHA-256 of 64 zeros and so on: zero_hashes[1] and zero_hashes[2] of Ethereum's deposit contract. */
Test(op_merkle, zero_hashes_of_ethereum) {
    static const uint8_t one[NODE] = {0xf5, 0xa5, 0xfd, 0x42, 0xd1, 0x6a, 0x20, 0x30, 0x27, 0x98, 0xef,
                                      0x6e, 0xd3, 0x09, 0x97, 0x9b, 0x43, 0x00, 0x3d, 0x23, 0x20, 0xd9,
                                      0xf0, 0xe8, 0xea, 0x98, 0x31, 0xa9, 0x27, 0x59, 0xfb, 0x4b};
    static const uint8_t two[NODE] = {0xdb, 0x56, 0x11, 0x4e, 0x00, 0xfd, 0xd4, 0xc1, 0xf8, 0x5c, 0x89,
                                      0x2b, 0xf3, 0x5a, 0xc9, 0xa8, 0x92, 0x89, 0xaa, 0xec, 0xb1, 0xeb,
                                      0xd0, 0xa9, 0x6c, 0xde, 0x60, 0x6a, 0x74, 0x8b, 0x5d, 0x71};
    uint8_t root[NODE];
    memset(leaves, 0, sizeof leaves);
    root_of(SVMX_OP_MERKLE_ROOT_SHA256, root, leaves, 2, 0);
    cr_assert_arr_eq(root, one, NODE);
    root_of(SVMX_OP_MERKLE_ROOT_SHA256, root, leaves, 4, 1);
    cr_assert_arr_eq(root, two, NODE);
    root_of(SVMX_OP_MERKLE_ROOT_SHA256, root, leaves, 3, 0);
    cr_assert_arr_eq(root, two, NODE, "a duplicated zero leaf is a zero leaf");
}

Test(op_merkle, a_pair_is_one_hash_of_openssl) {
#ifdef HAVE_LIBCRYPTO
    uint8_t root[NODE], want[NODE];
    unsigned length = 0;
    for (size_t at = 0; at < 50; at++) {
        root_of(SVMX_OP_MERKLE_ROOT_SHA256, root, leaves + at, 2, 0);
        cr_assert(EVP_Digest(leaves + at, 2 * NODE, want, &length, EVP_sha256(), NULL) == 1 && length == NODE);
        cr_assert_arr_eq(root, want, NODE);
    }
#else
    cr_skip_test("built without libcrypto");
#endif
}

/* Bitcoin's rule has this in it, and whoever uses it must know. */
Test(op_merkle, duplicated_leaves_have_the_root_of_the_list_without_them) {
    uint8_t three[NODE], four[NODE], promoted[NODE];
    memcpy(leaves + 3 * NODE, leaves + 2 * NODE, NODE);
    root_of(SVMX_OP_MERKLE_ROOT_KECCAK256, three, leaves, 3, SVMX_MERKLE_DUPLICATE);
    root_of(SVMX_OP_MERKLE_ROOT_KECCAK256, four, leaves, 4, SVMX_MERKLE_DUPLICATE);
    root_of(SVMX_OP_MERKLE_ROOT_KECCAK256, promoted, leaves, 3, SVMX_MERKLE_PROMOTE);
    cr_assert_arr_eq(three, four, NODE);
    cr_assert_neq(memcmp(three, promoted, NODE), 0);
}

Test(op_merkle, units_are_subtrees_and_work_is_leaves) {
    uint8_t root[NODE];
    static const uint64_t counts[][2] = {{1, 1}, {1023, 1}, {1024, 1}, {1025, 2}, {2048, 2}, {2049, 3}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const struct svmx_slot slots[] = {slot(root, NODE), slot(leaves, NODE * counts[i][0]), scalar_u32(0)};
        accepted(SVMX_OP_MERKLE_ROOT_SHA256, slots, counts[i][1], counts[i][0]);
    }
}

Test(op_merkle, no_leaf_a_wrong_rule_and_wrong_lengths_are_refused) {
    uint8_t out[NODE * 8];
    static const uint32_t roots[] = {SVMX_OP_MERKLE_ROOT_SHA256, SVMX_OP_MERKLE_ROOT_KECCAK256};
    static const uint32_t trees[] = {SVMX_OP_MERKLE_TREE_SHA256, SVMX_OP_MERKLE_TREE_KECCAK256};
    for (unsigned h = 0; h < 2; h++) {
        const struct svmx_slot no_leaf[] = {slot(out, NODE), slot(NULL, 0), scalar_u32(0)};
        const struct svmx_slot rule[] = {slot(out, NODE), slot(leaves, NODE), scalar_u32(2)};
        const struct svmx_slot two[] = {slot(out, 2 * NODE), slot(leaves, NODE), scalar_u32(0)};
        const struct svmx_slot none[] = {slot(NULL, 0), slot(leaves, NODE), scalar_u32(0)};
        refused(roots[h], no_leaf, "leaves is empty: a tree has one leaf at least");
        refused(roots[h], rule, "odd is 2 but must be 0 (duplicate) or 1 (promote)");
        refused(roots[h], two, "root has 2 items but must have 1");
        refused(roots[h], none, "root has 0 items but must have 1");
        const struct svmx_slot tree_no_leaf[] = {slot(NULL, 0), slot(NULL, 0), scalar_u32(0)};
        const struct svmx_slot tree_rule[] = {slot(NULL, 0), slot(leaves, NODE), scalar_u32(UINT32_MAX)};
        const struct svmx_slot short_tree[] = {slot(out, 4 * NODE), slot(leaves, 5 * NODE), scalar_u32(0)};
        const struct svmx_slot long_tree[] = {slot(out, 7 * NODE), slot(leaves, 5 * NODE), scalar_u32(1)};
        refused(trees[h], tree_no_leaf, "leaves is empty: a tree has one leaf at least");
        refused(trees[h], tree_rule, "odd is 4294967295 but must be 0 (duplicate) or 1 (promote)");
        refused(trees[h], short_tree, "nodes has 4 items but must have 6");
        refused(trees[h], long_tree, "nodes has 7 items but must have 6");
    }
}

Test(op_merkle, an_example_of_no_leaf_has_one) {
    uint64_t bytes[SVMX__MAX_PARAMS] = {0};
    cr_assert_eq(svmx__op_by_id(SVMX_OP_MERKLE_ROOT_SHA256)->shape(0, bytes), SVMX_OK);
    cr_assert(bytes[0] == NODE && bytes[1] == NODE);
    cr_assert_eq(svmx__op_by_id(SVMX_OP_MERKLE_TREE_SHA256)->shape(0, bytes), SVMX_OK);
    cr_assert(bytes[0] == 0 && bytes[1] == NODE);
    cr_assert_eq(svmx__op_by_id(SVMX_OP_MERKLE_TREE_SHA256)->shape(UINT64_MAX, bytes), SVMX_ERR_OVERFLOW);
}
