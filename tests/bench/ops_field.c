/*
 * ops_field.c: suite ops, products in prime fields: modulo the secp256k1 prime, and Montgomery products modulo
 * BN254's, against scalar code with mulx.
 *
 * What is asked for is asked of machines with AVX-512 IFMA: without, the figures are there and nothing is asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops.h"
#include "peer_mulx.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Both inputs and the output fit into L2. */
enum { PRODUCTS = 6144 };

struct work {
    mulx_fn fn;
    uint64_t (*out)[4];
    const uint64_t (*a)[4];
    const uint64_t (*b)[4];
};

static void mulx_part(void *user, uint32_t index, uint32_t count) {
    const struct work *work = user;
    uint64_t first = ops_share(PRODUCTS, index, count), end = ops_share(PRODUCTS, index + 1, count);
    work->fn(work->out + first, work->a + first, work->b + first, end - first);
}

static void run_mulx(void *user, struct ops_team *team) { ops_team_run(team, mulx_part, user); }

static bool same(const struct ops_call *call, const void *user) {
    return memcmp(call->args[0].from.out, ((const struct work *)user)->out, PRODUCTS * sizeof(uint64_t[4])) == 0;
}

static bool has_ifma(const struct ops *ops) {
#if defined(__x86_64__)
    enum { IFMA = 1 << 21 };
    unsigned a, b, c, d;
    return ops->class == OPS_AVX512 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & IFMA);
#else
    (void)ops;
    return false;
#endif
}

/* Numbers below the modulus: with a top limb below its own. */
static void fill(uint64_t (*out)[4], const uint64_t modulus[4], uint64_t seed) {
    ops_fill_bytes(out, PRODUCTS * sizeof(uint64_t[4]), seed);
    for (size_t i = 0; i < PRODUCTS; i++) out[i][3] %= modulus[3];
}

static void multiply(struct ops *ops, const char *name, const char *op, const uint64_t modulus[4], mulx_fn fn,
                     const char *no_mulx) {
    const size_t bytes = PRODUCTS * sizeof(uint64_t[4]);
    uint64_t(*a)[4] = ops_memory(bytes), (*b)[4] = ops_memory(bytes);
    fill(a, modulus, 1);
    fill(b, modulus, 2);
    struct work work = {fn, ops_memory(bytes), (const uint64_t(*)[4])a, (const uint64_t(*)[4])b};
    const struct ops_ask three = {3, 0}, none = {0, 0}, ask = has_ifma(ops) ? three : none;
    ops_run(ops,
            &(struct ops_case){.name = name,
                               .call = {{.op = op,
                                         .args = {svmx_out(SVMX_U64, ops_memory(bytes), PRODUCTS * 4),
                                                  svmx_in(SVMX_U64, a, PRODUCTS * 4),
                                                  svmx_in(SVMX_U64, b, PRODUCTS * 4), svmx_in(SVMX_U64, modulus, 4)},
                                         .count = 4,
                                         .items = PRODUCTS}},
                               .peer = {.name = "mulx", .missing = no_mulx, .run = run_mulx, .user = {&work, &work}},
                               .unit = "M/s",
                               .scale = 1000,
                               .ask = {ask, ask},
                               .remark = has_ifma(ops) ? NULL : "nothing asked for: no AVX-512 IFMA",
                               .peer_right = same});
}

int main(void) {
    struct ops ops;
    if (!ops_open(&ops, "products in fields")) return ops_close(&ops);
    const char *why;
    mulx_fn fn = mulx_mul_secp256k1(&why);
    multiply(&ops, "mod_mul_u256, secp256k1", "mod_mul_u256", mulx_secp256k1, fn, why);
    fn = mulx_mont_bn254(&why);
    multiply(&ops, "mont_mul_u256, BN254", "mont_mul_u256", mulx_bn254, fn, why);
    return ops_close(&ops);
}
