/*
 * matmul_avx512.c: matrix products for AVX-512. A tile is up to 12 rows of two registers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "matmul.h"

#include <immintrin.h>

enum { ROWS = 12, LANES = 16, VECTORS = 2 };

static inline __m512 one_nan(__m512 x) {
    const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000));
    return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), nan);
}

/* `rows` and `vectors` are constants wherever this is called: only then do the sums stay in registers. */
SIMD_INLINE void tile_run(const struct simd_matmul_tile *t, const uint32_t rows, const uint32_t vectors) {
    const uint32_t all = t->columns == 32 ? UINT32_MAX : (UINT32_C(1) << t->columns) - 1;
    const __mmask16 mask[VECTORS] = {(__mmask16)all, (__mmask16)(all >> LANES)};
    __m512 acc[ROWS][VECTORS];
#pragma GCC unroll 12
    for (uint32_t i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (uint32_t v = 0; v < vectors; v++)
            acc[i][v] = t->first ? _mm512_setzero_ps()
                                 : _mm512_maskz_loadu_ps(mask[v], t->out + i * t->out_stride + 64 * v);
    const float *a = t->a;
    const uint8_t *b = t->b;
    for (uint32_t p = t->depth; p > 0; p--, a += rows, b += t->b_stride) {
        __m512 y[VECTORS];
#pragma GCC unroll 2
        for (uint32_t v = 0; v < vectors; v++) y[v] = _mm512_loadu_ps(b + 64 * v);
#pragma GCC unroll 12
        for (uint32_t i = 0; i < rows; i++) {
            const __m512 x = _mm512_set1_ps(a[i]);
#pragma GCC unroll 2
            for (uint32_t v = 0; v < vectors; v++) acc[i][v] = _mm512_fmadd_ps(x, y[v], acc[i][v]);
        }
    }
#pragma GCC unroll 12
    for (uint32_t i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (uint32_t v = 0; v < vectors; v++)
            _mm512_mask_storeu_ps(t->out + i * t->out_stride + 64 * v, mask[v],
                                  t->last ? one_nan(acc[i][v]) : acc[i][v]);
}

SIMD_INLINE void tile_rows(const struct simd_matmul_tile *t, const uint32_t vectors) {
    switch (t->rows) {
    case 1: tile_run(t, 1, vectors); break;
    case 2: tile_run(t, 2, vectors); break;
    case 3: tile_run(t, 3, vectors); break;
    case 4: tile_run(t, 4, vectors); break;
    case 5: tile_run(t, 5, vectors); break;
    case 6: tile_run(t, 6, vectors); break;
    case 7: tile_run(t, 7, vectors); break;
    case 8: tile_run(t, 8, vectors); break;
    case 9: tile_run(t, 9, vectors); break;
    case 10: tile_run(t, 10, vectors); break;
    case 11: tile_run(t, 11, vectors); break;
    default: tile_run(t, ROWS, vectors); break;
    }
}

static void tile(const struct simd_matmul_tile *t) {
    if (t->columns <= LANES)
        tile_rows(t, 1);
    else
        tile_rows(t, 2);
}

static const struct simd_matmul_isa isa = {.tile = tile, .rows = ROWS, .columns = VECTORS * LANES, .lanes = LANES};

void simd_matmul_f32_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    simd_matmul_run(d, first, end, 3, &isa);
}

void simd_matmul_batch_f32_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    simd_matmul_run(d, first, end, 4, &isa);
}
