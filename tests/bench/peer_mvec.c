/*
 * peer_mvec.c: see peer_mvec.h. Without HAVE_LIBMVEC it only says that libmvec is missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer_mvec.h"

#if defined(HAVE_LIBMVEC) && defined(__x86_64__)

#include <immintrin.h>
#include <math.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are handed to inlined functions only, and to libmvec's */
#endif

/* Names by the vector function ABI: 16 lanes in AVX-512, 8 in AVX2. */
__attribute__((target("avx512f"))) __m512 _ZGVeN16v_expf(__m512 x);
__attribute__((target("avx2"))) __m256 _ZGVdN8v_expf(__m256 x);

#define VECTOR           __m512
#define LANES            16
#define VECTOR_EXP(x)    _ZGVeN16v_expf(x)
#define VECTOR_MAX(x, y) _mm512_max_ps(x, y)
#define VECTOR_IF(x, y)  _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_GT_OQ), y, x)
#define TARGET           __attribute__((target("avx512f,avx512dq")))
#define NAME(stem)       stem##_avx512
#include "peer_mvec_lanes.h"
#undef VECTOR
#undef LANES
#undef VECTOR_EXP
#undef VECTOR_MAX
#undef VECTOR_IF
#undef TARGET
#undef NAME

#define VECTOR           __m256
#define LANES            8
#define VECTOR_EXP(x)    _ZGVdN8v_expf(x)
#define VECTOR_MAX(x, y) _mm256_max_ps(x, y)
#define VECTOR_IF(x, y)  _mm256_blendv_ps(y, x, _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_GT_OQ))
#define TARGET           __attribute__((target("avx2,fma")))
#define NAME(stem)       stem##_avx2
#include "peer_mvec_lanes.h"

static const struct {
    const char *op;
    mvec_fn avx512, avx2;
} family[] = {{"exp_f32", exp_avx512, exp_avx2},    {"sigmoid_f32", sigmoid_avx512, sigmoid_avx2},
              {"tanh_f32", tanh_avx512, tanh_avx2}, {"swish_f32", swish_avx512, swish_avx2},
              {"gelu_f32", gelu_avx512, gelu_avx2}, {"softmax_f32", softmax_avx512, softmax_avx2},
              {"elu_f32", elu_avx512, elu_avx2},    {"log_softmax_f32", log_softmax_avx512, log_softmax_avx2}};

mvec_fn mvec_find(const char *op, bool avx512, const char **why) {
    avx512 = avx512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
    *why = "the machine has no AVX2";
    if (!avx512 && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) return NULL;
    *why = "nothing made of libmvec for it";
    for (size_t i = 0; i < sizeof family / sizeof family[0]; i++) {
        if (strcmp(family[i].op, op) != 0) continue;
        *why = NULL;
        return avx512 ? family[i].avx512 : family[i].avx2;
    }
    return NULL;
}

#else

mvec_fn mvec_find(const char *op, bool avx512, const char **why) {
    (void)op;
    (void)avx512;
    *why = "built without libmvec (libc6-dev of x86-64)";
    return NULL;
}

#endif
