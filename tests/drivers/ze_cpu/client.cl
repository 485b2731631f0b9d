/*
 * client.cl: the kernel of the test driver's own suite. In a file of its own for doubles: client_fp64.cl.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
__kernel void vec_add(__global const float *a, __global const float *b, __global float *c, uint count) {
    const size_t i = get_global_id(0);
    if (i < count) c[i] = a[i] + b[i];
}

/* Every kind of argument: a pointer, a structure, local memory. */
struct line {
    int slope;
    float start;
};

__kernel void draw(__global float *out, struct line line, __local float *shared) {
    const size_t l = get_local_id(0);
    shared[l] = line.start + (float)line.slope * (float)get_global_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = shared[get_local_size(0) - 1 - l];
}
