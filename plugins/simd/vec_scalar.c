/*
 * vec_scalar.c: elementwise kernels for any machine.
 *
 * Written so that compilers vectorise it with what the architecture always has. The reference for the other files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vec.h"

typedef float (*op2_fn)(float, float);

static inline float add(float a, float b) { return a + b; }

static inline float mul(float a, float b) { return a * b; }

SIMD_INLINE void map2(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t count, op2_fn op) {
    for (size_t i = 0; i < count; i++) {
        float x, y;
        memcpy(&x, a + 4 * i, 4);
        memcpy(&y, b + 4 * i, 4);
        const float r = op(x, y);
        uint32_t bits;
        memcpy(&bits, &r, 4);
        bits = (bits & UINT32_C(0x7fffffff)) > UINT32_C(0x7f800000) ? SIMD_NAN_BITS : bits;
        memcpy(out + 4 * i, &bits, 4);
    }
}

SIMD_INLINE void run2(const struct svmx_dispatch *d, uint64_t first, uint64_t end, op2_fn op) {
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_vec2 v;
    while (simd_vec2_next(&walk, &v)) map2(v.out, v.a, v.b, v.count, op);
}

void simd_vec_add_f32_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    run2(d, first, end, add);
}

void simd_vec_mul_f32_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    run2(d, first, end, mul);
}
