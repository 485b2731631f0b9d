/*
 * variant.h: which kernels this machine runs. CPU features, the tables of kernels, and the choice an operation.
 *
 *   features (CPUID and XGETBV)  +  variant ("avx2", or the best)  +  operation  ->  one line of a table
 *
 * Called by plugin.c at open and at pipeline_build, never while computing. Knows no threads and no commands. All of
 * it is constant data and functions of their arguments: the tests ask about machines that they do not run on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_VARIANT_H
#define SVMX_SIMD_VARIANT_H

#include "kernel.h"

#include <stddef.h>
#include <stdint.h>

/* What kernels may need. Each is a whole set, CPU and operating system together. */
enum simd_feature {
    SIMD_FEATURE_AVX2 = 1 << 0,   /* AVX, AVX2, FMA, BMI1, BMI2, LZCNT, and the OS keeps ymm registers */
    SIMD_FEATURE_AVX512 = 1 << 1, /* AVX2 as above, AVX-512 F DQ BW VL, and the OS keeps zmm and mask registers */
    SIMD_FEATURE_SHANI = 1 << 2,  /* SHA, SSSE3, SSE4.1 */
    SIMD_FEATURE_IFMA = 1 << 3    /* AVX512 as above, AVX-512 IFMA VBMI2 */
};

/* The words that features are read from; all zero on other architectures. */
struct simd_cpuid {
    uint32_t leaf1_ecx, leaf7_ebx, leaf7_ecx, extended1_ecx;
    uint64_t xcr0; /* 0 where XGETBV is not to be called */
};

/* Of the machine that this runs on. */
struct simd_cpuid simd_cpuid_read(void);

/* Bits of enum simd_feature. */
uint32_t simd_features(const struct simd_cpuid *cpuid);

/* Name of the best variant for these features; "scalar" always is one. */
const char *simd_variant_best(uint32_t features);

/* The table's own copy of `name` (it lives for ever), or NULL for a variant that is unknown or needs more. */
const char *simd_variant_find(uint32_t features, const char *name);

/* Writes those available, best first: "avx2, scalar". Cuts what does not fit. */
void simd_variant_list(uint32_t features, char *text, size_t text_bytes);

/* The kernel for an operation, NULL when this variant has none. `variant` is what best or find gave. */
const struct simd_kernel *simd_kernel_find(uint32_t features, const char *variant, const char *op);

/* The model of this CPU on one line, without the blanks that vendors pad with; never empty. */
void simd_cpu_name(char *text, size_t text_bytes);

#endif
