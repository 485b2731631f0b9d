/*
 * variant.c: CPU features, the tables of kernels, and the choice an operation. variant.h says what it promises.
 *
 * A new operation is one line in each table. A kernel that needs more than its variant does stands in a table of its
 * own, under the variant's name and before it: the first table that has the operation and fits the machine wins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "variant.h"

#include "kernels.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* ---- tables ----------------------------------------------------------------------------------------------- */

/*
 * Grain: whole lanes, and for elements whole cache lines whatever the alignment, so that two threads seldom write
 * to one line; long enough to pay for streaming stores. Cost: measured on one core of a Zen 4; for elements from L2
 * (memory is two or three times slower), for hashes at 64 bytes a message.
 *
 *    operation       run                              finish                        grain   ps/work   range
 */
static const struct simd_kernel scalar_kernels[] = {
    {"keccak256", simd_keccak256_run_scalar, NULL, 1, 2700, 0},
    {"sha256", simd_sha256_run_scalar, NULL, 1, 2800, 0},
};

#if defined(__x86_64__)
static const struct simd_kernel avx2_kernels[] = {
    {"keccak256", simd_keccak256_run_avx2, NULL, 16, 950, 0},
    {"sha256", simd_sha256_run_avx2, NULL, 32, 620, 0},
};

/* Two messages at a time, and faster than eight side by side. */
static const struct simd_kernel avx2_shani_kernels[] = {
    {"sha256", simd_sha256_run_shani, NULL, 8, 390, 0},
};

static const struct simd_kernel avx512_kernels[] = {
    {"keccak256", simd_keccak256_run_avx512, NULL, 32, 420, 0},
    {"sha256", simd_sha256_run_avx512, NULL, 64, 270, 0},
};

/* Lanes for full groups, the SHA instructions for what would leave lanes empty. */
static const struct simd_kernel avx512_shani_kernels[] = {
    {"sha256", simd_sha256_run_avx512_shani, NULL, 64, 270, 0},
};
#endif

#define TABLE(name, kernels, needs)                                                                                    \
    { {name, kernels, sizeof(kernels) / sizeof(kernels)[0]}, needs }

/* Best first; tables of one variant side by side, the pickier first. */
static const struct table {
    struct simd_variant variant;
    uint32_t needs; /* bits of enum simd_feature */
} tables[] = {
#if defined(__x86_64__)
    TABLE("avx512", avx512_shani_kernels, SIMD_FEATURE_AVX512 | SIMD_FEATURE_SHANI),
    TABLE("avx512", simd_merkle_sha256_avx512_shani, SIMD_FEATURE_AVX512 | SIMD_FEATURE_SHANI),
    TABLE("avx512", simd_field_ifma, SIMD_FEATURE_AVX512 | SIMD_FEATURE_IFMA),
#ifdef SVMX_HAVE_SECP256K1
    TABLE("avx512", simd_secp256k1_ifma, SIMD_FEATURE_AVX512 | SIMD_FEATURE_IFMA),
#endif
#ifdef SVMX_HAVE_SODIUM
    TABLE("avx512", simd_ed25519_ifma, SIMD_FEATURE_AVX512 | SIMD_FEATURE_IFMA),
#endif
    TABLE("avx512", avx512_kernels, SIMD_FEATURE_AVX512),
    TABLE("avx512", simd_f32_avx512, SIMD_FEATURE_AVX512),
    TABLE("avx512", simd_f64_avx512, SIMD_FEATURE_AVX512),
    TABLE("avx512", simd_field_avx512, SIMD_FEATURE_AVX512),
    TABLE("avx512", simd_field_avx2, SIMD_FEATURE_AVX512), /* products without IFMA */
    TABLE("avx512", simd_goldilocks_avx512, SIMD_FEATURE_AVX512),
    TABLE("avx512", simd_merkle_sha256_avx512, SIMD_FEATURE_AVX512),
    TABLE("avx512", simd_merkle_keccak256_avx512, SIMD_FEATURE_AVX512),
    TABLE("avx512", simd_eigh_avx512, SIMD_FEATURE_AVX512),
    TABLE("avx512", simd_matmul_avx512, SIMD_FEATURE_AVX512),
    TABLE("avx512", simd_grid, SIMD_FEATURE_AVX512),
#ifdef SVMX_HAVE_SECP256K1
    TABLE("avx512", simd_secp256k1_avx512, SIMD_FEATURE_AVX512),
#endif
#ifdef SVMX_HAVE_SODIUM
    TABLE("avx512", simd_ed25519, SIMD_FEATURE_AVX512),
#endif
    TABLE("avx2", avx2_shani_kernels, SIMD_FEATURE_AVX2 | SIMD_FEATURE_SHANI),
    TABLE("avx2", simd_merkle_sha256_shani, SIMD_FEATURE_AVX2 | SIMD_FEATURE_SHANI),
    TABLE("avx2", avx2_kernels, SIMD_FEATURE_AVX2),
    TABLE("avx2", simd_f32_avx2, SIMD_FEATURE_AVX2),
    TABLE("avx2", simd_f64_avx2, SIMD_FEATURE_AVX2),
    TABLE("avx2", simd_field_avx2, SIMD_FEATURE_AVX2),
    TABLE("avx2", simd_goldilocks_avx2, SIMD_FEATURE_AVX2),
    TABLE("avx2", simd_merkle_sha256_avx2, SIMD_FEATURE_AVX2),
    TABLE("avx2", simd_merkle_keccak256_avx2, SIMD_FEATURE_AVX2),
    TABLE("avx2", simd_eigh_avx2, SIMD_FEATURE_AVX2),
    TABLE("avx2", simd_matmul_avx2, SIMD_FEATURE_AVX2),
    TABLE("avx2", simd_grid, SIMD_FEATURE_AVX2),
#ifdef SVMX_HAVE_SECP256K1
    TABLE("avx2", simd_secp256k1_avx2, SIMD_FEATURE_AVX2),
#endif
#ifdef SVMX_HAVE_SODIUM
    TABLE("avx2", simd_ed25519, SIMD_FEATURE_AVX2),
#endif
#endif
    TABLE("scalar", scalar_kernels, 0),
    TABLE("scalar", simd_f32_scalar, 0),
    TABLE("scalar", simd_f64_scalar, 0),
    TABLE("scalar", simd_field_scalar, 0),
    TABLE("scalar", simd_goldilocks_scalar, 0),
    TABLE("scalar", simd_merkle_sha256_scalar, 0),
    TABLE("scalar", simd_merkle_keccak256_scalar, 0),
    TABLE("scalar", simd_eigh_scalar, 0),
    TABLE("scalar", simd_matmul_scalar, 0),
    TABLE("scalar", simd_grid, 0),
#ifdef SVMX_HAVE_SECP256K1
    TABLE("scalar", simd_secp256k1_scalar, 0),
#endif
#ifdef SVMX_HAVE_SODIUM
    TABLE("scalar", simd_ed25519, 0),
#endif
};

enum { TABLES = sizeof tables / sizeof tables[0] };

/* ---- choice ----------------------------------------------------------------------------------------------- */

static bool table_fits(const struct table *table, uint32_t features) { return (table->needs & ~features) == 0; }

const char *simd_variant_best(uint32_t features) {
    size_t i = 0;
    while (!table_fits(&tables[i], features)) i++; /* ends at scalar, which needs nothing */
    return tables[i].variant.name;
}

const char *simd_variant_find(uint32_t features, const char *name) {
    for (size_t i = 0; i < TABLES; i++)
        if (table_fits(&tables[i], features) && strcmp(tables[i].variant.name, name) == 0)
            return tables[i].variant.name;
    return NULL;
}

void simd_variant_list(uint32_t features, char *text, size_t text_bytes) {
    const char *last = "";
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < TABLES && used < text_bytes; i++) {
        const char *name = tables[i].variant.name;
        if (!table_fits(&tables[i], features) || strcmp(name, last) == 0) continue;
        used += (size_t)snprintf(text + used, text_bytes - used, "%s%s", used == 0 ? "" : ", ", name);
        last = name;
    }
}

const struct simd_kernel *simd_kernel_find(uint32_t features, const char *variant, const char *op) {
    for (size_t i = 0; i < TABLES; i++) {
        const struct simd_variant *v = &tables[i].variant;
        if (!table_fits(&tables[i], features) || strcmp(v->name, variant) != 0) continue;
        for (uint32_t k = 0; k < v->kernel_count; k++)
            if (strcmp(v->kernels[k].op, op) == 0) return &v->kernels[k];
    }
    return NULL;
}

/* ---- the CPU ---------------------------------------------------------------------------------------------- */

/* Bits of CPUID, by the manuals of both vendors. */
#define LEAF1_ECX_SSSE3     (UINT32_C(1) << 9)
#define LEAF1_ECX_FMA       (UINT32_C(1) << 12)
#define LEAF1_ECX_SSE41     (UINT32_C(1) << 19)
#define LEAF1_ECX_OSXSAVE   (UINT32_C(1) << 27)
#define LEAF1_ECX_AVX       (UINT32_C(1) << 28)
#define LEAF7_EBX_BMI1      (UINT32_C(1) << 3)
#define LEAF7_EBX_AVX2      (UINT32_C(1) << 5)
#define LEAF7_EBX_BMI2      (UINT32_C(1) << 8)
#define LEAF7_EBX_AVX512F   (UINT32_C(1) << 16)
#define LEAF7_EBX_AVX512DQ  (UINT32_C(1) << 17)
#define LEAF7_EBX_IFMA      (UINT32_C(1) << 21)
#define LEAF7_EBX_SHA       (UINT32_C(1) << 29)
#define LEAF7_EBX_AVX512BW  (UINT32_C(1) << 30)
#define LEAF7_EBX_AVX512VL  (UINT32_C(1) << 31)
#define LEAF7_ECX_VBMI2     (UINT32_C(1) << 6)
#define EXTENDED1_ECX_LZCNT (UINT32_C(1) << 5)
#define XCR0_YMM            UINT64_C(0x06) /* xmm and ymm state */
#define XCR0_ZMM            UINT64_C(0xe6) /* and masks, the upper halves, and zmm16-31 */

static bool has_all(uint64_t word, uint64_t bits) { return (word & bits) == bits; }

uint32_t simd_features(const struct simd_cpuid *cpuid) {
    uint32_t features = 0;
    if (has_all(cpuid->leaf1_ecx, LEAF1_ECX_SSSE3 | LEAF1_ECX_SSE41) && has_all(cpuid->leaf7_ebx, LEAF7_EBX_SHA))
        features |= SIMD_FEATURE_SHANI;
    if (has_all(cpuid->leaf1_ecx, LEAF1_ECX_OSXSAVE | LEAF1_ECX_AVX | LEAF1_ECX_FMA) &&
        has_all(cpuid->leaf7_ebx, LEAF7_EBX_BMI1 | LEAF7_EBX_AVX2 | LEAF7_EBX_BMI2) &&
        has_all(cpuid->extended1_ecx, EXTENDED1_ECX_LZCNT) && has_all(cpuid->xcr0, XCR0_YMM))
        features |= SIMD_FEATURE_AVX2;
    if ((features & SIMD_FEATURE_AVX2) && has_all(cpuid->xcr0, XCR0_ZMM) &&
        has_all(cpuid->leaf7_ebx, LEAF7_EBX_AVX512F | LEAF7_EBX_AVX512DQ | LEAF7_EBX_AVX512BW | LEAF7_EBX_AVX512VL))
        features |= SIMD_FEATURE_AVX512;
    if ((features & SIMD_FEATURE_AVX512) && has_all(cpuid->leaf7_ebx, LEAF7_EBX_IFMA) &&
        has_all(cpuid->leaf7_ecx, LEAF7_ECX_VBMI2))
        features |= SIMD_FEATURE_IFMA;
    return features;
}

#if defined(__x86_64__)
struct simd_cpuid simd_cpuid_read(void) {
    struct simd_cpuid cpuid = {0};
    uint32_t a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d)) cpuid.leaf1_ecx = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) cpuid.leaf7_ebx = b, cpuid.leaf7_ecx = c;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d)) cpuid.extended1_ecx = c;
    if (cpuid.leaf1_ecx & LEAF1_ECX_OSXSAVE) { /* else XGETBV is an illegal instruction */
        __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
        cpuid.xcr0 = (uint64_t)d << 32 | a;
    }
    return cpuid;
}

/* 48 bytes over three leaves; all zero where there is none. */
static void brand_read(char brand[static 49]) {
    uint32_t words[12] = {0};
    for (uint32_t i = 0; i < 3; i++)
        __get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]);
    memcpy(brand, words, 48);
    brand[48] = '\0';
}
#else
struct simd_cpuid simd_cpuid_read(void) {
    return (struct simd_cpuid){0};
}

static void brand_read(char brand[static 49]) { brand[0] = '\0'; }
#endif

/* Copies words with one blank between them: vendors pad in front, at the end and in the middle. */
static void words_copy(char *text, size_t text_bytes, const char *from) {
    size_t used = 0;
    for (; *from != '\0' && used + 1 < text_bytes; from++) {
        bool blank = *from == ' ' || *from == '\t' || *from == '\n';
        if (!blank)
            text[used++] = *from;
        else if (used > 0 && text[used - 1] != ' ')
            text[used++] = ' ';
    }
    if (used > 0 && text[used - 1] == ' ') used--;
    text[used] = '\0';
}

/* The first "model name" of /proc/cpuinfo, where there is one (x86, some ARM kernels). */
static void cpuinfo_read(char *text, size_t text_bytes) {
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file == NULL) return;
    while (text[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon != NULL && strncmp(line, "model name", 10) == 0) words_copy(text, text_bytes, colon + 1);
    }
    fclose(file);
}

void simd_cpu_name(char *text, size_t text_bytes) {
    char brand[49];
    brand_read(brand);
    words_copy(text, text_bytes, brand);
    if (text[0] == '\0') cpuinfo_read(text, text_bytes);
    if (text[0] == '\0') snprintf(text, text_bytes, "%s", "CPU");
}
