/*
 * ops_field.c: suite ops, products in prime fields: modulo the secp256k1 prime, and Montgomery products modulo
 * BN254's, against scalar code with mulx; products of both kinds modulo BLS12-381's, against OpenSSL's big numbers.
 *
 * What is asked for is asked of machines with AVX-512 IFMA: without, the figures are there and nothing is asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops.h"
#include "peer_bn.h"
#include "peer_mulx.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Both inputs and the output fit into L2. */
enum { PRODUCTS = 6144, BLS_PRODUCTS = 2048 };

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
static uint64_t *numbers(const uint64_t *modulus, size_t limbs, size_t count, uint64_t seed) {
    uint64_t *out = ops_memory(count * limbs * sizeof *out);
    ops_fill_bytes(out, count * limbs * sizeof *out, seed);
    for (size_t i = 0; i < count; i++) out[(i + 1) * limbs - 1] %= modulus[limbs - 1];
    return out;
}

static struct ops_call call_of(const char *op, const uint64_t *a, const uint64_t *b, const uint64_t *modulus,
                               size_t limbs, size_t count) {
    uint64_t *out = ops_memory(count * limbs * sizeof *out);
    return (struct ops_call){.op = op,
                             .args = {svmx_out(SVMX_U64, out, count * limbs), svmx_in(SVMX_U64, a, count * limbs),
                                      svmx_in(SVMX_U64, b, count * limbs), svmx_in(SVMX_U64, modulus, limbs)},
                             .count = 4,
                             .items = count};
}

/* ---- four limbs, by mulx ------------------------------------------------------------------------------------ */

static void multiply(struct ops *ops, const char *name, const char *op, const uint64_t modulus[4], mulx_fn fn,
                     const char *no_mulx) {
    const uint64_t *a = numbers(modulus, 4, PRODUCTS, 1), *b = numbers(modulus, 4, PRODUCTS, 2);
    struct work work = {fn, ops_memory(PRODUCTS * sizeof(uint64_t[4])), (const uint64_t(*)[4])a,
                        (const uint64_t(*)[4])b};
    const struct ops_ask three = {3, 0}, none = {0, 0}, ask = has_ifma(ops) ? three : none;
    ops_run(ops,
            &(struct ops_case){.name = name,
                               .call = {call_of(op, a, b, modulus, 4, PRODUCTS)},
                               .peer = {.name = "mulx", .missing = no_mulx, .run = run_mulx, .user = {&work, &work}},
                               .unit = "M/s",
                               .scale = 1000,
                               .ask = {ask, ask},
                               .remark = has_ifma(ops) ? NULL : "nothing asked for: no AVX-512 IFMA",
                               .peer_right = same});
}

/* ---- six limbs, by OpenSSL ---------------------------------------------------------------------------------- */

/* The prime of the base field of BLS12-381. */
static const uint64_t bls12_381[6] = {UINT64_C(0xb9feffffffffaaab), UINT64_C(0x1eabfffeb153ffff),
                                      UINT64_C(0x6730d2a0f6b0f624), UINT64_C(0x64774b84f38512bf),
                                      UINT64_C(0x4b1ba7b6434bacd7), UINT64_C(0x1a0111ea397fe69a)};

struct bn_work {
    struct bn_peer *peer;
    bool plain;
};

static void bn_part(void *user, uint32_t index, uint32_t count) {
    const struct bn_work *work = user;
    bn_peer_multiply(work->peer, index, work->plain, ops_share(BLS_PRODUCTS, index, count),
                     ops_share(BLS_PRODUCTS, index + 1, count));
}

static void run_bn(void *user, struct ops_team *team) { ops_team_run(team, bn_part, user); }

static bool same_as_bn(const struct ops_call *call, const void *user) {
    return bn_peer_same(((const struct bn_work *)user)->peer, call->args[0].from.out);
}

static void multiply_bls(struct ops *ops, const char *name, const char *op, bool plain) {
    const uint64_t *a = numbers(bls12_381, 6, BLS_PRODUCTS, 1), *b = numbers(bls12_381, 6, BLS_PRODUCTS, 2);
    const char *missing;
    struct bn_work work = {bn_peer_open(a, b, BLS_PRODUCTS, bls12_381, 6, ops->threads, &missing), plain};
    ops_run(ops,
            &(struct ops_case){.name = name,
                               .call = {call_of(op, a, b, bls12_381, 6, BLS_PRODUCTS)},
                               .peer = {.name = "OpenSSL", .missing = missing, .run = run_bn, .user = {&work, &work}},
                               .unit = "M/s",
                               .scale = 1000,
                               .peer_right = same_as_bn});
}

int main(void) {
    struct ops ops;
    if (!ops_open(&ops, "products in fields")) return ops_close(&ops);
    const char *why;
    mulx_fn fn = mulx_mul_secp256k1(&why);
    multiply(&ops, "mod_mul_u256, secp256k1", "mod_mul_u256", mulx_secp256k1, fn, why);
    fn = mulx_mont_bn254(&why);
    multiply(&ops, "mont_mul_u256, BN254", "mont_mul_u256", mulx_bn254, fn, why);
    multiply_bls(&ops, "mod_mul_u384, BLS12-381", "mod_mul_u384", true);
    multiply_bls(&ops, "mont_mul_u384, BLS12-381", "mont_mul_u384", false);
    return ops_close(&ops);
}
