/*
 * reduce_scalar.c: reductions for any machine.
 *
 * The definition of reduce.h written down; compilers vectorise its loops over lanes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce.h"

enum { LANES = SIMD_REDUCE_LANES };

static inline float fold(float lane[LANES]) {
    for (int w = LANES / 2; w > 0; w /= 2)
        for (int j = 0; j < w; j++) lane[j] += lane[j + w];
    return lane[0];
}

static float sum_block(const uint8_t *a, const uint8_t *b, size_t count) {
    float lane[LANES] = {0}, x[LANES];
    (void)b;
    for (; count >= LANES; count -= LANES, a += sizeof x) {
        memcpy(x, a, sizeof x);
        for (int j = 0; j < LANES; j++) lane[j] += x[j];
    }
    for (size_t j = 0; j < count; j++) {
        memcpy(x, a + sizeof *x * j, sizeof *x);
        lane[j] += x[0];
    }
    return fold(lane);
}

static float dot_block(const uint8_t *a, const uint8_t *b, size_t count) {
    float lane[LANES] = {0}, x[LANES], y[LANES];
    for (; count >= LANES; count -= LANES, a += sizeof x, b += sizeof y) {
        memcpy(x, a, sizeof x);
        memcpy(y, b, sizeof y);
        for (int j = 0; j < LANES; j++) lane[j] += x[j] * y[j];
    }
    for (size_t j = 0; j < count; j++) {
        memcpy(x, a + sizeof *x * j, sizeof *x);
        memcpy(y, b + sizeof *y * j, sizeof *y);
        lane[j] += x[0] * y[0];
    }
    return fold(lane);
}

void simd_sum_f32_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    simd_reduce_run(d, first, end, 1, sum_block);
}

void simd_sum_f32_finish_scalar(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    simd_reduce_finish(d, first, end, sum_block);
}

void simd_dot_f32_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    simd_reduce_run(d, first, end, 2, dot_block);
}

void simd_dot_f32_finish_scalar(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    simd_reduce_finish(d, first, end, sum_block);
}
