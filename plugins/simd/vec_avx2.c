/*
 * vec_avx2.c: elementwise kernels for AVX2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vec.h"

#include <immintrin.h>

typedef __m256 (*op2_fn)(__m256, __m256);

static inline __m256 add(__m256 a, __m256 b) { return _mm256_add_ps(a, b); }

static inline __m256 mul(__m256 a, __m256 b) { return _mm256_mul_ps(a, b); }

static inline __m256 load(const uint8_t *at) { return _mm256_loadu_ps((const float *)(const void *)at); }

static inline __m256 one_nan(__m256 r) {
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32((int)SIMD_NAN_BITS));
    return _mm256_blendv_ps(r, nan, _mm256_cmp_ps(r, r, _CMP_UNORD_Q));
}

static inline __m256i first_lanes(size_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* `count` below 8: the head before an aligned store, or the rest. */
SIMD_INLINE void map2_some(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t count, op2_fn op) {
    const __m256i m = first_lanes(count);
    const __m256 x = _mm256_maskload_ps((const float *)(const void *)a, m);
    const __m256 y = _mm256_maskload_ps((const float *)(const void *)b, m);
    _mm256_maskstore_ps((float *)(void *)out, m, one_nan(op(x, y)));
}

SIMD_INLINE void map2(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t count, op2_fn op) {
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps((float *)(void *)(out + 4 * i), one_nan(op(load(a + 4 * i), load(b + 4 * i))));
    if (i < count) map2_some(out + 4 * i, a + 4 * i, b + 4 * i, count - i, op);
}

/* Past the caches. The fence makes the stores visible to whoever learns that the range is done. */
SIMD_INLINE void map2_stream(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t count, op2_fn op) {
    const size_t head = (32 - ((uintptr_t)out & 31)) / 4 % 8;
    if (((uintptr_t)out & 3) != 0 || count < head) {
        map2(out, a, b, count, op);
        return;
    }
    map2_some(out, a, b, head, op);
    size_t i = head;
    for (; i + 8 <= count; i += 8)
        _mm256_stream_ps((float *)(void *)(out + 4 * i), one_nan(op(load(a + 4 * i), load(b + 4 * i))));
    map2_some(out + 4 * i, a + 4 * i, b + 4 * i, count - i, op);
    _mm_sfence();
}

SIMD_INLINE void run2(const struct svmx_dispatch *d, uint64_t first, uint64_t end, op2_fn op) {
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_vec2 v;
    while (simd_vec2_next(&walk, &v)) {
        if (v.stream)
            map2_stream(v.out, v.a, v.b, v.count, op);
        else
            map2(v.out, v.a, v.b, v.count, op);
    }
}

void simd_vec_add_f32_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    run2(d, first, end, add);
}

void simd_vec_mul_f32_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    run2(d, first, end, mul);
}
