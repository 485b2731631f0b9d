/*
 * peer_mulx.c: see peer_mulx.h.
 *
 *   product     rows a[i] x b: the low halves go into one chain of carries (CF), the high halves into the other (OF)
 *   secp256k1   p = 2^256 - c: what is above 2^256 comes back times c, twice; then one conditional subtraction
 *   BN254       Montgomery, a row of a product and a row of the reduction in turn; p < 2^254 leaves no carry to keep
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer_mulx.h"

/* p = 2^256 - 2^32 - 977, and the prime of the base field of BN254 (alt_bn128). */
const uint64_t mulx_secp256k1[4] = {UINT64_C(0xfffffffefffffc2f), UINT64_MAX, UINT64_MAX, UINT64_MAX};
const uint64_t mulx_bn254[4] = {UINT64_C(0x3c208c16d87cfd47), UINT64_C(0x97816a916871ca8d),
                                UINT64_C(0xb85045b68181585d), UINT64_C(0x30644e72e131a029)};

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdbool.h>

#define BN254_INVERSE UINT64_C(0x87d20782e4866389) /* -1 / p mod 2^64 */

/* One step of a row: lo, hi = rdx x word; sum += lo (CF), next += hi (OF). */
#define STEP(word, sum, next)                                                                                          \
    "mulxq " word ", %[lo], %[hi]\n\t"                                                                                 \
    "adcxq %[lo], " sum "\n\t"                                                                                         \
    "adoxq %[hi], " next "\n\t"

/* Row i of a x b into five words, of which the last is new. */
#define ROW(i, s0, s1, s2, s3, s4)                                                                                     \
    "movq 8*" i "(%[a]), %%rdx\n\t"                                                                                    \
    "xorl %k[" s4 "], %k[" s4 "]\n\t" STEP("0(%[b])", "%[" s0 "]", "%[" s1 "]")                                        \
        STEP("8(%[b])", "%[" s1 "]", "%[" s2 "]")                                                                      \
            STEP("16(%[b])", "%[" s2 "]", "%[" s3 "]") "mulxq 24(%[b]), %[lo], %[hi]\n\t"                              \
                                                       "adcxq %[lo], %[" s3 "]\n\t"                                    \
                                                       "movl $0, %k[lo]\n\t"                                           \
                                                       "adoxq %[hi], %[" s4 "]\n\t"                                    \
                                                       "adcxq %[lo], %[" s4 "]\n\t"

/* Row 0: nothing to add to. */
#define FIRST_ROW                                                                                                      \
    "movq 0(%[a]), %%rdx\n\t"                                                                                          \
    "mulxq 0(%[b]), %[t0], %[t1]\n\t"                                                                                  \
    "mulxq 8(%[b]), %[lo], %[t2]\n\t"                                                                                  \
    "addq %[lo], %[t1]\n\t"                                                                                            \
    "mulxq 16(%[b]), %[lo], %[t3]\n\t"                                                                                 \
    "adcq %[lo], %[t2]\n\t"                                                                                            \
    "mulxq 24(%[b]), %[lo], %[t4]\n\t"                                                                                 \
    "adcq %[lo], %[t3]\n\t"                                                                                            \
    "adcq $0, %[t4]\n\t"

static inline __attribute__((always_inline)) void mul_secp256k1(uint64_t out[4], const uint64_t a[4],
                                                                const uint64_t b[4]) {
    uint64_t t0, t1, t2, t3, t4, t5, t6, t7, lo, hi;
    __asm__(FIRST_ROW ROW("1", "t1", "t2", "t3", "t4", "t5") ROW("2", "t2", "t3", "t4", "t5", "t6")
                ROW("3", "t3", "t4", "t5", "t6", "t7")
            /* t0..t3 += c x t4..t7, the fifth word of that into t4 */
            "movabsq $0x1000003d1, %%rdx\n\t"
            "mulxq %[t4], %[lo], %[hi]\n\t"
            "xorl %k[t4], %k[t4]\n\t"
            "adcxq %[lo], %[t0]\n\t"
            "adoxq %[hi], %[t1]\n\t" STEP("%[t5]", "%[t1]", "%[t2]")
                STEP("%[t6]", "%[t2]",
                     "%[t3]") "mulxq %[t7], %[lo], %[hi]\n\t"
                              "adcxq %[lo], %[t3]\n\t"
                              "movl $0, %k[lo]\n\t"
                              "adoxq %[hi], %[t4]\n\t"
                              "adcxq %[lo], %[t4]\n\t"
                              /* and once more, which leaves at most a carry */
                              "mulxq %[t4], %[lo], %[hi]\n\t"
                              "addq %[lo], %[t0]\n\t"
                              "adcq %[hi], %[t1]\n\t"
                              "adcq $0, %[t2]\n\t"
                              "adcq $0, %[t3]\n\t"
                              "sbbq %[lo], %[lo]\n\t"
                              /* t + c, if that or the carry says that t was not below p */
                              "movq %[t0], %[t4]\n\t"
                              "movq %[t1], %[t5]\n\t"
                              "movq %[t2], %[t6]\n\t"
                              "movq %[t3], %[t7]\n\t"
                              "addq %%rdx, %[t4]\n\t"
                              "adcq $0, %[t5]\n\t"
                              "adcq $0, %[t6]\n\t"
                              "adcq $0, %[t7]\n\t"
                              "adcq $0, %[lo]\n\t" /* -1, or 1: subtract; 0: either nothing, or both, which cannot be */
                              "testq %[lo], %[lo]\n\t"
                              "cmovnzq %[t4], %[t0]\n\t"
                              "cmovnzq %[t5], %[t1]\n\t"
                              "cmovnzq %[t6], %[t2]\n\t"
                              "cmovnzq %[t7], %[t3]\n\t"
            : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5),
              [t6] "=&r"(t6), [t7] "=&r"(t7), [lo] "=&r"(lo), [hi] "=&r"(hi)
            : [a] "r"(a), [b] "r"(b), "m"(*(const uint64_t(*)[4])a), "m"(*(const uint64_t(*)[4])b)
            : "rdx", "cc");
    out[0] = t0;
    out[1] = t1;
    out[2] = t2;
    out[3] = t3;
}

/* One row of the reduction: s0 becomes 0 and is the new top word, which is then the next row's s4. */
#define REDUCE(s0, s1, s2, s3, s4)                                                                                     \
    "movq %[inverse], %%rdx\n\t"                                                                                       \
    "imulq %[" s0 "], %%rdx\n\t"                                                                                       \
    "xorl %k[lo], %k[lo]\n\t" STEP("0(%[p])", "%[" s0 "]", "%[" s1 "]") STEP("8(%[p])", "%[" s1 "]", "%[" s2 "]")      \
        STEP("16(%[p])", "%[" s2 "]", "%[" s3 "]") STEP("24(%[p])", "%[" s3 "]", "%[" s4 "]") "adcxq %[" s0 "], %[" s4 \
                                                                                              "]\n\t" /* s0 is 0 */

static inline __attribute__((always_inline)) void mont_bn254(uint64_t out[4], const uint64_t a[4],
                                                             const uint64_t b[4]) {
    uint64_t t0, t1, t2, t3, t4, lo, hi;
    __asm__(
        FIRST_ROW REDUCE("t0", "t1", "t2", "t3", "t4") ROW("1", "t1", "t2", "t3", "t4", "t0")
            REDUCE("t1", "t2", "t3", "t4", "t0") ROW("2", "t2", "t3", "t4", "t0", "t1")
                REDUCE("t2", "t3", "t4", "t0", "t1") ROW("3", "t3", "t4", "t0", "t1", "t2")
                    REDUCE("t3", "t4", "t0", "t1", "t2")
        /* the result is t4, t0, t1, t2, below 2 p: subtract p unless that borrows */
        "movq %[t4], %[t3]\n\t"
        "movq %[t0], %[lo]\n\t"
        "movq %[t1], %[hi]\n\t"
        "movq %[t2], %%rdx\n\t"
        "subq 0(%[p]), %[t4]\n\t"
        "sbbq 8(%[p]), %[t0]\n\t"
        "sbbq 16(%[p]), %[t1]\n\t"
        "sbbq 24(%[p]), %[t2]\n\t"
        "cmovcq %[t3], %[t4]\n\t"
        "cmovcq %[lo], %[t0]\n\t"
        "cmovcq %[hi], %[t1]\n\t"
        "cmovcq %%rdx, %[t2]\n\t"
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [lo] "=&r"(lo), [hi] "=&r"(hi)
        : [a] "r"(a), [b] "r"(b), [p] "r"(mulx_bn254), [inverse] "r"(BN254_INVERSE), "m"(*(const uint64_t(*)[4])a),
          "m"(*(const uint64_t(*)[4])b), "m"(mulx_bn254)
        : "rdx", "cc");
    out[0] = t4;
    out[1] = t0;
    out[2] = t1;
    out[3] = t2;
}

static void mul_secp256k1_all(uint64_t (*out)[4], const uint64_t (*a)[4], const uint64_t (*b)[4], size_t n) {
    for (size_t i = 0; i < n; i++) mul_secp256k1(out[i], a[i], b[i]);
}

static void mont_bn254_all(uint64_t (*out)[4], const uint64_t (*a)[4], const uint64_t (*b)[4], size_t n) {
    for (size_t i = 0; i < n; i++) mont_bn254(out[i], a[i], b[i]);
}

static bool machine_has_them(const char **why) {
    enum { BMI2 = 1 << 8, ADX = 1 << 19 };
    unsigned a, b, c, d;
    bool has = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & BMI2) && (b & ADX);
    *why = has ? NULL : "the machine has no mulx, adcx and adox";
    return has;
}

mulx_fn mulx_mul_secp256k1(const char **why) { return machine_has_them(why) ? mul_secp256k1_all : NULL; }
mulx_fn mulx_mont_bn254(const char **why) { return machine_has_them(why) ? mont_bn254_all : NULL; }

#else

mulx_fn mulx_mul_secp256k1(const char **why) {
    *why = "mulx is an instruction of x86-64";
    return NULL;
}
mulx_fn mulx_mont_bn254(const char **why) {
    *why = "mulx is an instruction of x86-64";
    return NULL;
}

#endif
