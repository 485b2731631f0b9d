/*
 * tree.cl: 64 lanes become one, in the order that docs/OPERATIONS.md defines ("The tree of a reduction").
 *
 * Behind sums.cl or extremes.cl, which define A, WIDTH accumulators, and COMBINE, which joins two of them:
 *
 *   for w = 32, 16, 8, 4, 2, 1:  for j < w:  lane[j] = COMBINE(lane[j], lane[j + w])
 *
 * On CPUs the lanes are four vectors of a work-item, on GPUs a lane is a work-item of a work-group of 64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
enum { TREE_BLOCK = 4096, TREE_LANES = 64 };

#if WIDTH == 1

/* All of the work-group come here together and all get the result. `lanes` may be what an earlier call had. */
SVMX_INLINE A tree_fold(A x, __local A *lanes) {
    const uint lane = (uint)get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE); /* the result of the earlier call was read */
    lanes[lane] = x;
    for (uint w = TREE_LANES / 2; w > 0; w /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < w) lanes[lane] = x = COMBINE(x, lanes[lane + w]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return lanes[0];
}

#else

/* The result is the first of what is returned; the others mean nothing. */
static inline A tree_fold(A x0, A x1, A x2, A x3) {
    const A y0 = COMBINE(x0, x2), y1 = COMBINE(x1, x3);
    A x = COMBINE(y0, y1);
    x = COMBINE(x, x.s89abcdef01234567);
    x = COMBINE(x, x.s45670123cdef89ab);
    x = COMBINE(x, x.s23016745ab89efcd);
    return COMBINE(x, x.s1032547698badcfe);
}

#endif
