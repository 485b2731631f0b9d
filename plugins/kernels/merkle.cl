/*
 * merkle.cl: Merkle trees, for any hash (keccak256.cl says what a hash defines): the root, or with TREE all nodes.
 *
 * Slots: root or nodes, leaves, odd. A unit is a subtree of 1,024 leaves. Two passes:
 *
 *   merkle_units   leaves -> root of the subtree, in the unit's scratch; or all its nodes, in their places
 *   merkle_tasks   roots of the subtrees -> root of the task; or the levels from ten on
 *
 * In a task of several units each goes up ten levels, even from one leaf; in a task of one unit until one node is left.
 * GPUs (LANES is 1): a work-group has a unit or a task, and a work-item a pair. CPUs: the group is one work-item, which
 * hashes LANES pairs at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
enum { OUT, LEAVES, ODD, SLOTS };
enum { NODE_BYTES = 32, LEVELS = 10, SUBTREE = 1 << LEVELS, PROMOTE = 1 };

SVMX_INLINE ulong half_of(ulong count) { return count / 2 + count % 2; }

/* A unit: its leaves, and how far up it goes. */
struct subtree {
    ulong first, count; /* of the leaves, in the task */
    bool alone;         /* the task has no other */
};

SVMX_INLINE struct subtree subtree_of(ulong leaves, ulong unit) {
    struct subtree s;
    s.first = unit * SUBTREE;
    s.count = min(leaves - s.first, (ulong)SUBTREE);
    s.alone = leaves <= SUBTREE;
    return s;
}

SVMX_INLINE bool goes_up(const struct subtree *s, ulong count, uint level) {
    return s->alone ? count > 1 : level < LEVELS;
}

#if LANES == 1

/* ---- one level, by a work-group of many -------------------------------------------------------------------------- */

#define GROUP 128

SVMX_INLINE void wait_for_group(void) { barrier(CLK_LOCAL_MEM_FENCE); }

/* Nodes of a subtree in local memory, word by word: neighbours are in different banks. */
typedef uint SHARED;
#define SHARED_AT(j, i) ((SUBTREE / 2) * (j) + (i))

SVMX_INLINE void load_node(uint *words, __global const uchar *nodes, ulong i) {
#pragma unroll
    for (uint j = 0; j < 8; j++) words[j] = ((__global const uint *)nodes)[8 * i + j];
}

SVMX_INLINE void store_node(__global uchar *nodes, ulong i, const uint *words) {
#pragma unroll
    for (uint j = 0; j < 8; j++) ((__global uint *)nodes)[8 * i + j] = words[j];
}

SVMX_INLINE void load_shared(uint *words, __local const SHARED *nodes, ulong i) {
#pragma unroll
    for (uint j = 0; j < 8; j++) words[j] = nodes[SHARED_AT(j, i)];
}

SVMX_INLINE void store_shared(__local SHARED *nodes, ulong i, const uint *words) {
#pragma unroll
    for (uint j = 0; j < 8; j++) nodes[SHARED_AT(j, i)] = words[j];
}

/* The parent of two nodes, or a node that is promoted. */
SVMX_INLINE void parent_of(uint *node, const uint *pair, bool promoted) {
    uint hashed[8];
    if (!promoted) hash_pair(hashed, pair);
#pragma unroll
    for (uint j = 0; j < 8; j++) node[j] = promoted ? pair[j] : hashed[j];
}

/*
 * The nodes above `count` nodes. `to` may be `from`: all pairs of a turn are read before a parent is written, and what
 * later turns read lies behind.
 */
SVMX_INLINE void level_up(__global uchar *to, __global const uchar *from, ulong count, ulong odd) {
    const ulong parents = half_of(count);
    for (ulong first = 0; first < parents; first += GROUP) {
        const ulong i = first + get_local_id(0), right = min(2 * i + 1, count - 1);
        uint pair[16], node[8];
        if (i < parents) {
            load_node(pair, from, 2 * i);
            load_node(pair + 8, from, right);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (i < parents) {
            parent_of(node, pair, right == 2 * i && odd == PROMOTE);
            store_node(to, i, node);
        }
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
}

/* The same in local memory; from the leaves where they are given. */
SVMX_INLINE void level_up_shared(__local SHARED *nodes, __global const uchar *leaves, ulong count, ulong odd) {
    const ulong parents = half_of(count);
    for (ulong first = 0; first < parents; first += GROUP) {
        const ulong i = first + get_local_id(0), right = min(2 * i + 1, count - 1);
        uint pair[16], node[8];
        if (i < parents && leaves) {
            load_node(pair, leaves, 2 * i);
            load_node(pair + 8, leaves, right);
        } else if (i < parents) {
            load_shared(pair, nodes, 2 * i);
            load_shared(pair + 8, nodes, right);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < parents) {
            parent_of(node, pair, right == 2 * i && odd == PROMOTE);
            store_shared(nodes, i, node);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

SVMX_INLINE void copy_node(__global uchar *to, __global const uchar *from) {
    uint node[8];
    load_node(node, from, 0);
    store_node(to, 0, node);
}

SVMX_INLINE void copy_shared(__global uchar *to, __local const SHARED *nodes) {
    uint node[8];
    load_shared(node, nodes, 0);
    store_node(to, 0, node);
}

#else

/* ---- one level, by a work-group of one --------------------------------------------------------------------------- */

#define GROUP 1

SVMX_INLINE void wait_for_group(void) {}

typedef NODE SHARED;
#define SHARED_AT(j, i) (i)

/* Hashes the pairs left[l], right[l]. */
SVMX_INLINE void hash_nodes(NODE *nodes, const NODE *left, const NODE *right) {
    W pair[LANES], digest[NODE_RAWS];
#pragma unroll
    for (uint l = 0; l < LANES; l++) pair[l] = (W)(left[l], right[l]);
    transpose(pair);
    hash_pair(digest, pair);
    lanes_to_nodes(nodes, digest);
}

SVMX_INLINE ulong pairs_of(ulong count, ulong odd) { return odd == PROMOTE ? count / 2 : half_of(count); }

/* The nodes above `count` nodes. `to` may be `from`: what later turns read lies behind what was written. */
SVMX_INLINE void level_up(__global uchar *to_bytes, __global const uchar *from_bytes, ulong count, ulong odd) {
    __global NODE *to = (__global NODE *)to_bytes;
    __global const NODE *from = (__global const NODE *)from_bytes;
    const ulong pairs = pairs_of(count, odd);
    const NODE last = from[count - 1];
    for (ulong first = 0; first < pairs; first += LANES) {
        NODE left[LANES], right[LANES], nodes[LANES];
        for (uint l = 0; l < LANES; l++) {
            const ulong i = min(first + l, pairs - 1);
            left[l] = from[2 * i];
            right[l] = from[min(2 * i + 1, count - 1)];
        }
        hash_nodes(nodes, left, right);
        for (uint l = 0; l < LANES && first + l < pairs; l++) to[first + l] = nodes[l];
    }
    if (pairs < half_of(count)) to[pairs] = last;
}

/* The same in local memory; from the leaves where they are given. */
SVMX_INLINE void level_up_shared(__local SHARED *shared, __global const uchar *leaf_bytes, ulong count, ulong odd) {
    __global const NODE *leaves = (__global const NODE *)leaf_bytes;
    const ulong pairs = pairs_of(count, odd);
    const NODE last = leaves ? leaves[count - 1] : shared[count - 1];
    for (ulong first = 0; first < pairs; first += LANES) {
        NODE left[LANES], right[LANES], nodes[LANES];
        for (uint l = 0; l < LANES; l++) {
            const ulong i = min(first + l, pairs - 1), next = min(2 * i + 1, count - 1);
            left[l] = leaves ? leaves[2 * i] : shared[2 * i];
            right[l] = leaves ? leaves[next] : shared[next];
        }
        hash_nodes(nodes, left, right);
        for (uint l = 0; l < LANES && first + l < pairs; l++) shared[first + l] = nodes[l];
    }
    if (pairs < half_of(count)) shared[pairs] = last;
}

SVMX_INLINE void copy_node(__global uchar *to, __global const uchar *from) {
    *(__global NODE *)to = *(__global const NODE *)from;
}

SVMX_INLINE void copy_shared(__global uchar *to, __local const SHARED *nodes) { *(__global NODE *)to = nodes[0]; }

#endif

#ifndef TREE

/* ---- roots --------------------------------------------------------------------------------------------------------- */

SVMX_KERNEL(merkle_units, GROUP) {
    __local SHARED nodes[NODE_BYTES / sizeof(SHARED) * SUBTREE / 2];
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, SLOTS);
    struct svmx_walk walk = svmx_walk_start(&t, get_group_id(0), grain, units);
    struct svmx_piece piece;
    while (svmx_walk_next(&t, &walk, &piece))
        for (ulong unit = piece.begin; unit < piece.end; unit++) {
            const struct subtree s = subtree_of(svmx_bytes(&t, piece.task, LEAVES) / NODE_BYTES, unit);
            __global const uchar *leaves = in + svmx_at(&t, piece.task, LEAVES) + NODE_BYTES * s.first;
            __global uchar *root = scratch + NODE_BYTES * (t.first_unit[piece.task] + unit);
            ulong count = s.count;
            uint level = 0;
            for (; goes_up(&s, count, level); level++, count = half_of(count))
                level_up_shared(nodes, level == 0 ? leaves : 0, count, svmx_at(&t, piece.task, ODD));
            if (get_local_id(0) == 0 && level == 0) copy_node(root, leaves);
            if (get_local_id(0) == 0 && level > 0) copy_shared(root, nodes);
            wait_for_group(); /* the next unit writes over the nodes */
        }
}

SVMX_KERNEL(merkle_tasks, GROUP) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, SLOTS);
    const ulong begin = (ulong)get_group_id(0) * grain, end = min(begin + grain, (ulong)tasks);
    for (uint task = (uint)begin; task < end; task++) {
        __global uchar *roots = scratch + NODE_BYTES * t.first_unit[task];
        for (ulong count = t.first_unit[task + 1] - t.first_unit[task]; count > 1; count = half_of(count))
            level_up(roots, roots, count, svmx_at(&t, task, ODD));
        if (get_local_id(0) == 0) copy_node(out + svmx_at(&t, task, OUT), roots);
    }
}

#else

/* ---- whole trees --------------------------------------------------------------------------------------------------- */

SVMX_KERNEL(merkle_units, GROUP) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, SLOTS);
    struct svmx_walk walk = svmx_walk_start(&t, get_group_id(0), grain, units);
    struct svmx_piece piece;
    while (svmx_walk_next(&t, &walk, &piece))
        for (ulong unit = piece.begin; unit < piece.end; unit++) {
            const ulong leaves = svmx_bytes(&t, piece.task, LEAVES) / NODE_BYTES;
            const struct subtree s = subtree_of(leaves, unit);
            __global const uchar *from = in + svmx_at(&t, piece.task, LEAVES) + NODE_BYTES * s.first;
            ulong all = half_of(leaves), place = 0, count = s.count; /* nodes of the level; those before it */
            for (uint level = 0; goes_up(&s, count, level); level++, count = half_of(count)) {
                __global uchar *to = out + svmx_at(&t, piece.task, OUT) + NODE_BYTES * (place + (s.first >> (level + 1)));
                level_up(to, from, count, svmx_at(&t, piece.task, ODD));
                from = to;
                place += all;
                all = half_of(all);
            }
        }
}

/* Goes on from level ten, which the units left complete. */
SVMX_KERNEL(merkle_tasks, GROUP) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, SLOTS);
    const ulong begin = (ulong)get_group_id(0) * grain, end = min(begin + grain, (ulong)tasks);
    for (uint task = (uint)begin; task < end; task++) {
        __global uchar *nodes = out + svmx_at(&t, task, OUT);
        ulong count = svmx_bytes(&t, task, LEAVES) / NODE_BYTES, place = 0;
        for (uint level = 0; level < LEVELS && count > 1; level++) {
            count = half_of(count);
            place += count;
        }
        for (; count > 1; count = half_of(count), place += count)
            level_up(nodes + NODE_BYTES * place, nodes + NODE_BYTES * (place - count), count, svmx_at(&t, task, ODD));
    }
}

#endif
