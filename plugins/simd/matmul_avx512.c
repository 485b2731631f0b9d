/*
 * matmul_avx512.c: matrix products for AVX-512. A tile is up to 12 rows of two registers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "matmul.h"

#include <immintrin.h>

enum { ROWS = 12, VECTORS = 2, LANES = 16 };

static inline __m512 one_nan(__m512 x) {
    const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32((int)SIMD_MATMUL_NAN));
    return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), nan);
}

/* `rows`, `vectors` and `pack` are constants wherever this is called: only then do the sums stay in registers. */
SIMD_INLINE void tile_run(const struct simd_matmul_tile *t, uint32_t rows, uint32_t vectors, bool pack) {
    const uint32_t lanes = (uint32_t)((UINT64_C(1) << t->columns) - 1);
    const __mmask16 mask[VECTORS] = {(__mmask16)lanes, (__mmask16)(lanes >> LANES)};
    __m512 acc[ROWS][VECTORS], x, y[VECTORS];
    const float *a = t->a;
    const uint8_t *b = t->b;
    float *packed = t->packed;
    SIMD_MATMUL_UNROLL
    for (uint32_t i = 0; i < rows; i++) {
        SIMD_MATMUL_UNROLL
        for (uint32_t v = 0; v < vectors; v++)
            acc[i][v] =
                t->first ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(mask[v], t->out + i * t->out_stride + 64 * v);
    }
    for (uint32_t p = 0; p < t->depth; p++, a += rows, b += t->b_stride) {
        SIMD_MATMUL_UNROLL
        for (uint32_t v = 0; v < vectors; v++) y[v] = _mm512_loadu_ps(b + 64 * v);
        if (pack) {
            simd_matmul_ask(b, SIMD_MATMUL_AHEAD * t->b_stride, 4 * VECTORS * LANES);
            SIMD_MATMUL_UNROLL
            for (uint32_t v = 0; v < vectors; v++, packed += LANES) _mm512_store_ps(packed, y[v]);
        }
        SIMD_MATMUL_UNROLL
        for (uint32_t i = 0; i < rows; i++) {
            x = _mm512_set1_ps(a[i]);
            SIMD_MATMUL_UNROLL
            for (uint32_t v = 0; v < vectors; v++) acc[i][v] = _mm512_fmadd_ps(x, y[v], acc[i][v]);
        }
    }
    SIMD_MATMUL_UNROLL
    for (uint32_t i = 0; i < rows; i++) {
        SIMD_MATMUL_UNROLL
        for (uint32_t v = 0; v < vectors; v++)
            _mm512_mask_storeu_ps(t->out + i * t->out_stride + 64 * v, mask[v],
                                  t->last ? one_nan(acc[i][v]) : acc[i][v]);
    }
}

SIMD_INLINE void tile_of(const struct simd_matmul_tile *t, uint32_t vectors) {
    switch (t->rows) {
    case 1: tile_run(t, 1, vectors, false); break;
    case 2: tile_run(t, 2, vectors, false); break;
    case 3: tile_run(t, 3, vectors, false); break;
    case 4: tile_run(t, 4, vectors, false); break;
    case 5: tile_run(t, 5, vectors, false); break;
    case 6: tile_run(t, 6, vectors, false); break;
    case 7: tile_run(t, 7, vectors, false); break;
    case 8: tile_run(t, 8, vectors, false); break;
    case 9: tile_run(t, 9, vectors, false); break;
    case 10: tile_run(t, 10, vectors, false); break;
    case 11: tile_run(t, 11, vectors, false); break;
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

const struct simd_kernel simd_matmul_avx512[SIMD_MATMUL_KERNELS] = {
    {"matmul_f32", run, NULL, 1, 25, 0},
    {"matmul_batch_f32", run_batch, NULL, 1, 25, 0},
};
