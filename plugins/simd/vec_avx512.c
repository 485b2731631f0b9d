/*
 * vec_avx512.c: elementwise kernels for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vec.h"

#include <immintrin.h>

typedef __m512 (*op2_fn)(__m512, __m512);

static inline __m512 add(__m512 a, __m512 b) { return _mm512_add_ps(a, b); }

static inline __m512 mul(__m512 a, __m512 b) { return _mm512_mul_ps(a, b); }

static inline __m512 one_nan(__m512 r) {
    const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32((int)SIMD_NAN_BITS));
    return _mm512_mask_mov_ps(r, _mm512_cmp_ps_mask(r, r, _CMP_UNORD_Q), nan);
}

static inline __mmask16 first_lanes(size_t count) { return (__mmask16)((1u << count) - 1); }

/* `count` below 16: the head before an aligned store, or the rest. */
SIMD_INLINE void map2_some(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t count, op2_fn op) {
    const __mmask16 m = first_lanes(count);
    const __m512 r = op(_mm512_maskz_loadu_ps(m, a), _mm512_maskz_loadu_ps(m, b));
    _mm512_mask_storeu_ps(out, m, one_nan(r));
}

SIMD_INLINE void map2(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t count, op2_fn op) {
    size_t i = 0;
    for (; i + 16 <= count; i += 16)
        _mm512_storeu_ps(out + 4 * i, one_nan(op(_mm512_loadu_ps(a + 4 * i), _mm512_loadu_ps(b + 4 * i))));
    if (i < count) map2_some(out + 4 * i, a + 4 * i, b + 4 * i, count - i, op);
}

/* Past the caches. The fence makes the stores visible to whoever learns that the range is done. */
SIMD_INLINE void map2_stream(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t count, op2_fn op) {
    const size_t head = (64 - ((uintptr_t)out & 63)) / 4 % 16;
    if (((uintptr_t)out & 3) != 0 || count < head) {
        map2(out, a, b, count, op);
        return;
    }
    map2_some(out, a, b, head, op);
    size_t i = head;
    for (; i + 16 <= count; i += 16) {
        const __m512 r = op(_mm512_loadu_ps(a + 4 * i), _mm512_loadu_ps(b + 4 * i));
        _mm512_stream_ps((float *)(void *)(out + 4 * i), one_nan(r));
    }
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

void simd_vec_add_f32_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    run2(d, first, end, add);
}

void simd_vec_mul_f32_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    run2(d, first, end, mul);
}
