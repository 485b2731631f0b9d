/*
 * matmul_avx2.c: matrix products for AVX2. A tile is up to 6 rows of two registers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "matmul.h"

#include <immintrin.h>

enum { ROWS = 6, VECTORS = 2, LANES = 8 };

static inline __m256 one_nan(__m256 x) {
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32((int)SIMD_MATMUL_NAN));
    return _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

static inline float *floats(uint8_t *at) { return (float *)(void *)at; }

/* Vector `v` of a row: all of it, or the lanes of `mask`. */
SIMD_INLINE __m256 load(uint8_t *row, uint32_t v, bool whole, const __m256i mask[VECTORS]) {
    return whole ? _mm256_loadu_ps(floats(row + 32 * v)) : _mm256_maskload_ps(floats(row + 32 * v), mask[v]);
}

SIMD_INLINE void store(uint8_t *row, uint32_t v, bool whole, const __m256i mask[VECTORS], __m256 x) {
    if (whole)
        _mm256_storeu_ps(floats(row + 32 * v), x);
    else
        _mm256_maskstore_ps(floats(row + 32 * v), mask[v], x);
}

/* `rows`, `vectors` and `pack` are constants wherever this is called: only then do the sums stay in registers. */
SIMD_INLINE void tile_run(const struct simd_matmul_tile *t, uint32_t rows, uint32_t vectors, bool pack) {
    const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), count = _mm256_set1_epi32((int)t->columns);
    const __m256i mask[VECTORS] = {_mm256_cmpgt_epi32(count, index),
                                   _mm256_cmpgt_epi32(count, _mm256_add_epi32(index, _mm256_set1_epi32(LANES)))};
    const bool whole = t->columns == LANES * vectors;
    __m256 acc[ROWS][VECTORS], x, y[VECTORS];
    const float *a = t->a;
    const uint8_t *b = t->b;
    float *packed = t->packed;
    SIMD_MATMUL_UNROLL
    for (uint32_t i = 0; i < rows; i++) {
        SIMD_MATMUL_UNROLL
        for (uint32_t v = 0; v < vectors; v++)
            acc[i][v] = t->first ? _mm256_setzero_ps() : load(t->out + i * t->out_stride, v, whole, mask);
    }
    for (uint32_t p = 0; p < t->depth; p++, a += rows, b += t->b_stride) {
        SIMD_MATMUL_UNROLL
        for (uint32_t v = 0; v < vectors; v++) y[v] = _mm256_loadu_ps((const float *)(const void *)(b + 32 * v));
        if (pack) {
            simd_matmul_ask(b, SIMD_MATMUL_AHEAD * t->b_stride, 4 * VECTORS * LANES);
            SIMD_MATMUL_UNROLL
            for (uint32_t v = 0; v < vectors; v++, packed += LANES) _mm256_store_ps(packed, y[v]);
        }
        SIMD_MATMUL_UNROLL
        for (uint32_t i = 0; i < rows; i++) {
            x = _mm256_broadcast_ss(a + i);
            SIMD_MATMUL_UNROLL
            for (uint32_t v = 0; v < vectors; v++) acc[i][v] = _mm256_fmadd_ps(x, y[v], acc[i][v]);
        }
    }
    SIMD_MATMUL_UNROLL
    for (uint32_t i = 0; i < rows; i++) {
        SIMD_MATMUL_UNROLL
        for (uint32_t v = 0; v < vectors; v++)
            store(t->out + i * t->out_stride, v, whole, mask, t->last ? one_nan(acc[i][v]) : acc[i][v]);
    }
}

SIMD_INLINE void tile_of(const struct simd_matmul_tile *t, uint32_t vectors) {
    switch (t->rows) {
    case 1: tile_run(t, 1, vectors, false); break;
    case 2: tile_run(t, 2, vectors, false); break;
    case 3: tile_run(t, 3, vectors, false); break;
    case 4: tile_run(t, 4, vectors, false); break;
    case 5: tile_run(t, 5, vectors, false); break;
    default: tile_run(t, ROWS, vectors, false); break;
    }
}

static void tile(const struct simd_matmul_tile *t) {
    if (t->packed)
        tile_run(t, ROWS, VECTORS, true);
    else if (t->columns <= LANES)
        tile_of(t, 1);
    else
        tile_of(t, VECTORS);
}

static const struct simd_matmul_isa isa = {.tile = tile, .rows = ROWS, .columns = VECTORS * LANES, .lanes = LANES};

static void run(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    simd_matmul_run(d, first, end, SIMD_MATMUL_SIZES, &isa);
}

static void run_batch(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    simd_matmul_run(d, first, end, SIMD_MATMUL_BATCH_SIZES, &isa);
}

const struct simd_kernel simd_matmul_avx2[SIMD_MATMUL_KERNELS] = {
    {"matmul_f32", run, NULL, 1, 25, 0},
    {"matmul_batch_f32", run_batch, NULL, 1, 25, 0},
};
