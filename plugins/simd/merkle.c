/*
 * merkle.c: Merkle trees, for every instruction set: the hashes come from its pairs function.
 *
 *   unit      a subtree of 1,024 leaves, hashed level by level: 512 pairs, 256, ... all but the last few in full lanes
 *   run       leaves -> root of the subtree, in the unit's scratch (root), or all its nodes in their places (tree)
 *   finish    roots of the subtrees -> root of the task
 *
 * The last subtree of a task may be short; then its odd nodes follow the task's rule at every level. In a task of several
 * units each goes up ten levels, even from one leaf; in a task of one unit until one node is left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernels.h"
#include "tasks.h"

#include <stdalign.h>

enum { OUT, LEAVES, ODD };
enum { NODE = 32, LEVELS = 10, SUBTREE = 1 << LEVELS, PROMOTE = 1 };

static uint64_t half(uint64_t count) { return count / 2 + count % 2; }

/* The nodes above `count` nodes. `to` may be `from`: a node is written where nothing is read any more. */
static void level_up(uint8_t *to, const uint8_t *from, uint64_t count, uint64_t odd, simd_pairs_fn pairs) {
    uint8_t last[2 * NODE];
    pairs(to, from, count / 2);
    if (count % 2 == 0) return;
    memcpy(last, from + NODE * (count - 1), NODE);
    memcpy(last + NODE, last, NODE);
    if (odd == PROMOTE)
        memcpy(to + NODE * (count / 2), last, NODE);
    else
        pairs(to + NODE * (count / 2), last, 1);
}

/* A unit: its leaves, and how far up it goes. */
struct subtree {
    const uint8_t *leaves;
    uint64_t first, count; /* of the leaves, in the task */
    _Bool alone;           /* the task has no other */
};

static struct subtree subtree_of(const struct svmx_slot *row, uint64_t unit) {
    const uint64_t n = row[LEAVES].bytes / NODE, first = unit * SUBTREE, left = n - first;
    return (struct subtree){simd_address(&row[LEAVES], NODE * first), first, left < SUBTREE ? left : SUBTREE,
                            n <= SUBTREE};
}

static _Bool goes_up(const struct subtree *tree, uint64_t count, int level) {
    return tree->alone ? count > 1 : level < LEVELS;
}

/* ---- roots ------------------------------------------------------------------------------------------------ */

static void root_run(const struct svmx_dispatch *d, uint64_t first, uint64_t end, simd_pairs_fn pairs) {
    alignas(64) uint8_t nodes[NODE * SUBTREE / 2];
    uint8_t *roots = (uint8_t *)d->host_scratch + NODE * first;
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    while (simd_walk_next(&walk, &piece))
        for (uint64_t unit = piece.begin; unit < piece.end; unit++, roots += NODE) {
            const struct subtree tree = subtree_of(piece.row, unit);
            const uint8_t *from = tree.leaves;
            uint64_t count = tree.count;
            for (int level = 0; goes_up(&tree, count, level); level++, from = nodes, count = half(count))
                level_up(nodes, from, count, piece.row[ODD].at, pairs);
            memcpy(roots, from, NODE);
        }
}

static void root_finish(const struct svmx_dispatch *d, uint32_t first, uint32_t end, simd_pairs_fn pairs) {
    for (uint32_t task = first; task < end; task++) {
        const struct svmx_slot *row = simd_row(d, task);
        uint8_t *roots = (uint8_t *)d->host_scratch + NODE * d->first_unit[task];
        for (uint64_t count = d->first_unit[task + 1] - d->first_unit[task]; count > 1; count = half(count))
            level_up(roots, roots, count, row[ODD].at, pairs);
        memcpy(simd_address(&row[OUT], 0), roots, NODE);
    }
}

/* ---- whole trees ------------------------------------------------------------------------------------------ */

static void tree_run(const struct svmx_dispatch *d, uint64_t first, uint64_t end, simd_pairs_fn pairs) {
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    while (simd_walk_next(&walk, &piece))
        for (uint64_t unit = piece.begin; unit < piece.end; unit++) {
            const struct subtree tree = subtree_of(piece.row, unit);
            uint64_t all = half(piece.row[LEAVES].bytes / NODE), place = 0; /* nodes of the level; those before it */
            const uint8_t *from = tree.leaves;
            uint64_t count = tree.count;
            for (int level = 0; goes_up(&tree, count, level); level++, count = half(count)) {
                uint8_t *to = simd_address(&piece.row[OUT], NODE * (place + (tree.first >> (level + 1))));
                level_up(to, from, count, piece.row[ODD].at, pairs);
                from = to;
                place += all;
                all = half(all);
            }
        }
}

/* Goes on from level ten, which the units left complete. */
static void tree_finish(const struct svmx_dispatch *d, uint32_t first, uint32_t end, simd_pairs_fn pairs) {
    for (uint32_t task = first; task < end; task++) {
        const struct svmx_slot *row = simd_row(d, task);
        uint64_t count = row[LEAVES].bytes / NODE, place = 0;
        if (count <= SUBTREE) continue;
        for (int level = 0; level < LEVELS; level++) {
            count = half(count);
            place += count;
        }
        for (; count > 1; count = half(count), place += count)
            level_up(simd_address(&row[OUT], NODE * place), simd_address(&row[OUT], NODE * (place - count)), count,
                     row[ODD].at, pairs);
    }
}

/* ---- a table for every pairs function; cost of a leaf as measured on one core of a Zen 4 ----------------------- */

static void root_sha256_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    root_run(d, first, end, simd_sha256_pairs_scalar);
}

static void root_sha256_finish_scalar(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    root_finish(d, first, end, simd_sha256_pairs_scalar);
}

static void tree_sha256_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    tree_run(d, first, end, simd_sha256_pairs_scalar);
}

static void tree_sha256_finish_scalar(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    tree_finish(d, first, end, simd_sha256_pairs_scalar);
}

const struct simd_kernel simd_merkle_sha256_scalar[SIMD_MERKLE_KERNELS] = {
    {"merkle_root_sha256", root_sha256_run_scalar, root_sha256_finish_scalar, 1, 300000, 0},
    {"merkle_tree_sha256", tree_sha256_run_scalar, tree_sha256_finish_scalar, 1, 300000, 0},
};

static void root_keccak256_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    root_run(d, first, end, simd_keccak256_pairs_scalar);
}

static void root_keccak256_finish_scalar(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    root_finish(d, first, end, simd_keccak256_pairs_scalar);
}

static void tree_keccak256_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    tree_run(d, first, end, simd_keccak256_pairs_scalar);
}

static void tree_keccak256_finish_scalar(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    tree_finish(d, first, end, simd_keccak256_pairs_scalar);
}

const struct simd_kernel simd_merkle_keccak256_scalar[SIMD_MERKLE_KERNELS] = {
    {"merkle_root_keccak256", root_keccak256_run_scalar, root_keccak256_finish_scalar, 1, 340000, 0},
    {"merkle_tree_keccak256", tree_keccak256_run_scalar, tree_keccak256_finish_scalar, 1, 340000, 0},
};

#if defined(__x86_64__)
static void root_sha256_run_shani(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    root_run(d, first, end, simd_sha256_pairs_shani);
}

static void root_sha256_finish_shani(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    root_finish(d, first, end, simd_sha256_pairs_shani);
}

static void tree_sha256_run_shani(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    tree_run(d, first, end, simd_sha256_pairs_shani);
}

static void tree_sha256_finish_shani(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    tree_finish(d, first, end, simd_sha256_pairs_shani);
}

const struct simd_kernel simd_merkle_sha256_shani[SIMD_MERKLE_KERNELS] = {
    {"merkle_root_sha256", root_sha256_run_shani, root_sha256_finish_shani, 1, 45000, 0},
    {"merkle_tree_sha256", tree_sha256_run_shani, tree_sha256_finish_shani, 1, 45000, 0},
};

static void root_sha256_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    root_run(d, first, end, simd_sha256_pairs_avx2);
}

static void root_sha256_finish_avx2(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    root_finish(d, first, end, simd_sha256_pairs_avx2);
}

static void tree_sha256_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    tree_run(d, first, end, simd_sha256_pairs_avx2);
}

static void tree_sha256_finish_avx2(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    tree_finish(d, first, end, simd_sha256_pairs_avx2);
}

const struct simd_kernel simd_merkle_sha256_avx2[SIMD_MERKLE_KERNELS] = {
    {"merkle_root_sha256", root_sha256_run_avx2, root_sha256_finish_avx2, 1, 75000, 0},
    {"merkle_tree_sha256", tree_sha256_run_avx2, tree_sha256_finish_avx2, 1, 75000, 0},
};

static void root_sha256_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    root_run(d, first, end, simd_sha256_pairs_avx512);
}

static void root_sha256_finish_avx512(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    root_finish(d, first, end, simd_sha256_pairs_avx512);
}

static void tree_sha256_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    tree_run(d, first, end, simd_sha256_pairs_avx512);
}

static void tree_sha256_finish_avx512(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    tree_finish(d, first, end, simd_sha256_pairs_avx512);
}

const struct simd_kernel simd_merkle_sha256_avx512[SIMD_MERKLE_KERNELS] = {
    {"merkle_root_sha256", root_sha256_run_avx512, root_sha256_finish_avx512, 1, 33000, 0},
    {"merkle_tree_sha256", tree_sha256_run_avx512, tree_sha256_finish_avx512, 1, 33000, 0},
};

static void root_sha256_run_avx512_shani(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    root_run(d, first, end, simd_sha256_pairs_avx512_shani);
}

static void root_sha256_finish_avx512_shani(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    root_finish(d, first, end, simd_sha256_pairs_avx512_shani);
}

static void tree_sha256_run_avx512_shani(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    tree_run(d, first, end, simd_sha256_pairs_avx512_shani);
}

static void tree_sha256_finish_avx512_shani(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    tree_finish(d, first, end, simd_sha256_pairs_avx512_shani);
}

const struct simd_kernel simd_merkle_sha256_avx512_shani[SIMD_MERKLE_KERNELS] = {
    {"merkle_root_sha256", root_sha256_run_avx512_shani, root_sha256_finish_avx512_shani, 1, 33000, 0},
    {"merkle_tree_sha256", tree_sha256_run_avx512_shani, tree_sha256_finish_avx512_shani, 1, 33000, 0},
};

static void root_keccak256_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    root_run(d, first, end, simd_keccak256_pairs_avx2);
}

static void root_keccak256_finish_avx2(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    root_finish(d, first, end, simd_keccak256_pairs_avx2);
}

static void tree_keccak256_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    tree_run(d, first, end, simd_keccak256_pairs_avx2);
}

static void tree_keccak256_finish_avx2(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    tree_finish(d, first, end, simd_keccak256_pairs_avx2);
}

const struct simd_kernel simd_merkle_keccak256_avx2[SIMD_MERKLE_KERNELS] = {
    {"merkle_root_keccak256", root_keccak256_run_avx2, root_keccak256_finish_avx2, 1, 120000, 0},
    {"merkle_tree_keccak256", tree_keccak256_run_avx2, tree_keccak256_finish_avx2, 1, 120000, 0},
};

static void root_keccak256_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    root_run(d, first, end, simd_keccak256_pairs_avx512);
}

static void root_keccak256_finish_avx512(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    root_finish(d, first, end, simd_keccak256_pairs_avx512);
}

static void tree_keccak256_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    tree_run(d, first, end, simd_keccak256_pairs_avx512);
}

static void tree_keccak256_finish_avx512(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    tree_finish(d, first, end, simd_keccak256_pairs_avx512);
}

const struct simd_kernel simd_merkle_keccak256_avx512[SIMD_MERKLE_KERNELS] = {
    {"merkle_root_keccak256", root_keccak256_run_avx512, root_keccak256_finish_avx512, 1, 52000, 0},
    {"merkle_tree_keccak256", tree_keccak256_run_avx512, tree_keccak256_finish_avx512, 1, 52000, 0},
};
#endif
