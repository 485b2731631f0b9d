/*
 * f64.h: the kernels of doubles, written once over a lanes header. As f32.h, of which it has four operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_F64_H
#define SVMX_SIMD_F64_H

#include "map.h"
#include "reduce.h"

#define UNUSED __attribute__((unused))

SIMD_INLINE vec add(vec a, vec b, vec s UNUSED, vec t UNUSED) { return v_add(a, b); }
SIMD_INLINE vec axpy(vec a, vec b, vec s, vec t UNUSED) { return v_add(v_mul(s, a), b); }

static void run_add(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_run(d, first, end, (struct map_kind){2, 0, add, 0});
}
static void run_axpy(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_run(d, first, end, (struct map_kind){2, 1, axpy, 0});
}

SIMD_INLINE vec term_itself(vec a, vec b UNUSED) { return a; }
SIMD_INLINE vec term_difference(vec a, vec b) { return v_andnot(v_set(-0.0), v_sub(a, b)); }

static double block_sum(const uint8_t *a, const uint8_t *b UNUSED, size_t count) {
    return reduce_block(a, NULL, count, v_set(0), v_set(0), term_itself, v_add);
}
static double block_diff(const uint8_t *a, const uint8_t *b, size_t count) {
    return reduce_block(a, b, count, v_set(0), v_set(0), term_difference, v_max_bits);
}
static double block_max_bits(const uint8_t *a, const uint8_t *b UNUSED, size_t count) {
    return reduce_block(a, NULL, count, v_set(0), v_set(0), term_itself, v_max_bits);
}

static void run_sum(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    reduce_run(d, first, end, 1, block_sum);
}
static void run_diff(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    reduce_run(d, first, end, 2, block_diff);
}
static void finish_sum(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    reduce_finish(d, first, end, block_sum);
}
static void finish_diff(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    reduce_finish(d, first, end, block_max_bits);
}

#endif
