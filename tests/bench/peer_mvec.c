/*
 * peer_mvec.c: see peer_mvec.h. Without HAVE_LIBMVEC it only says that libmvec is missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer_mvec.h"

#if defined(HAVE_LIBMVEC) && defined(__x86_64__)

#include <immintrin.h>

/* Names by the vector function ABI: 16 lanes in AVX-512, 8 in AVX2. */
__attribute__((target("avx512f"))) __m512 _ZGVeN16v_expf(__m512 x);
__attribute__((target("avx2"))) __m256 _ZGVdN8v_expf(__m256 x);

__attribute__((target("avx512f"))) static void exp_avx512(float *out, const float *a, size_t n) {
    for (size_t i = 0; i + 16 <= n; i += 16) _mm512_storeu_ps(out + i, _ZGVeN16v_expf(_mm512_loadu_ps(a + i)));
}

__attribute__((target("avx2"))) static void exp_avx2(float *out, const float *a, size_t n) {
    for (size_t i = 0; i + 8 <= n; i += 8) _mm256_storeu_ps(out + i, _ZGVdN8v_expf(_mm256_loadu_ps(a + i)));
}

mvec_fn mvec_expf(bool avx512, const char **why) {
    *why = NULL;
    if (avx512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return exp_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return exp_avx2;
    *why = "the machine has no AVX2";
    return NULL;
}

#else

mvec_fn mvec_expf(bool avx512, const char **why) {
    (void)avx512;
    *why = "built without libmvec (libc6-dev of x86-64)";
    return NULL;
}

#endif
