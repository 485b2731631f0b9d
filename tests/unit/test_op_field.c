/*
 * test_op_field.c: arithmetic modulo a number, both sizes: small moduli exhaustively, large ones against OpenSSL's
 * numbers, published points of curves; and what is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#ifdef HAVE_LIBCRYPTO
#include <openssl/bn.h>
#endif

enum { MAX = 6, KINDS = 4 };
enum kind { ADD, SUB, MUL, MONT };

/* The operations of both sizes; a kind is a column. */
static const struct size {
    unsigned limbs;
    uint32_t op[KINDS];
} sizes[] = {{4, {SVMX_OP_MOD_ADD_U256, SVMX_OP_MOD_SUB_U256, SVMX_OP_MOD_MUL_U256, SVMX_OP_MONT_MUL_U256}},
             {6, {SVMX_OP_MOD_ADD_U384, SVMX_OP_MOD_SUB_U384, SVMX_OP_MOD_MUL_U384, SVMX_OP_MONT_MUL_U384}}};

static void one(const struct size *size, enum kind kind, uint64_t *out, const uint64_t *a, const uint64_t *b,
                const uint64_t *m) {
    const uint64_t bytes = 8 * size->limbs;
    const struct svmx_slot slots[] = {slot(out, bytes), slot(a, bytes), slot(b, bytes), slot(m, bytes)};
    compute(size->op[kind], slots);
}

/* ---- small moduli ----------------------------------------------------------------------------------------- */

/* 2^bits modulo m */
static uint64_t power_of_two(unsigned bits, uint64_t m) {
    uint64_t x = 1;
    while (bits-- > 0) x = 2 * x % m;
    return x;
}

/* What is expected, in numbers that fit into a word; of a Montgomery product what it is times R. */
static uint64_t small(enum kind kind, uint64_t a, uint64_t b, uint64_t m) {
    if (kind == ADD) return (a + b) % m;
    return kind == SUB ? (a % m + m - b % m) % m : a * b % m;
}

static void all_pairs(const struct size *size, uint64_t m) {
    const uint64_t r = power_of_two(64 * size->limbs, m), modulus[MAX] = {m};
    for (uint64_t a = 0; a <= 2 * m + 1; a++)
        for (uint64_t b = 0; b <= 2 * m + 1; b++)
            for (enum kind kind = ADD; kind <= MONT; kind++) {
                const uint64_t x[MAX] = {a}, y[MAX] = {b};
                uint64_t out[MAX] = {0}, above = 0;
                one(size, kind, out, x, y, modulus);
                for (unsigned i = 1; i < size->limbs; i++) above |= out[i];
                cr_assert(above == 0 && out[0] < m, "not below %lu", (unsigned long)m);
                const uint64_t got = kind == MONT ? out[0] * r % m : out[0];
                cr_assert_eq(got, small(kind, a, b, m), "kind %d, %lu and %lu modulo %lu", (int)kind, (unsigned long)a,
                             (unsigned long)b, (unsigned long)m);
            }
}

Test(op_field, all_residues_and_some_above_modulo_3_to_41) {
    for (uint64_t m = 3; m <= 41; m += 2)
        for (unsigned s = 0; s < 2; s++) all_pairs(&sizes[s], m);
}

/* ---- large moduli ----------------------------------------------------------------------------------------- */

#ifdef HAVE_LIBCRYPTO
static BIGNUM *number(const uint64_t *words, unsigned limbs) {
    BIGNUM *result = BN_lebin2bn((const unsigned char *)words, 8 * (int)limbs, NULL);
    cr_assert_not_null(result);
    return result;
}

static void expected(enum kind kind, uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m,
                     unsigned limbs) {
    BN_CTX *context = BN_CTX_new();
    BIGNUM *x = number(a, limbs), *y = number(b, limbs), *modulus = number(m, limbs), *r = BN_new();
    int good = 1;
    if (kind == ADD)
        good = BN_mod_add(r, x, y, modulus, context);
    else if (kind == SUB)
        good = BN_mod_sub(r, x, y, modulus, context);
    else
        good = BN_mod_mul(r, x, y, modulus, context);
    if (kind == MONT) { /* r / 2^(64 limbs), by the inverse of that power */
        BN_zero(x);
        good = good && BN_set_bit(x, 64 * (int)limbs) && BN_mod_inverse(y, x, modulus, context) &&
               BN_mod_mul(r, r, y, modulus, context);
    }
    cr_assert(good && BN_bn2lebinpad(r, (unsigned char *)out, 8 * (int)limbs) == 8 * (int)limbs);
    BN_free(x), BN_free(y), BN_free(modulus), BN_free(r), BN_CTX_free(context);
}

static uint64_t random_u64(uint64_t *state) { return (uint64_t)random_u32(state) << 32 | random_u32(state); }

/* Odd, of any length; half of them with words that are all ones or zeros. */
static void random_modulus(uint64_t *m, unsigned limbs, uint64_t *state) {
    const unsigned used = 1 + random_u32(state) % limbs, bits = 2 + random_u32(state) % 63;
    memset(m, 0, 8 * MAX);
    for (unsigned i = 0; i < used; i++) {
        const uint32_t kind = random_u32(state) % 8;
        m[i] = kind == 0 ? 0 : kind == 1 ? UINT64_MAX : random_u64(state);
    }
    if (random_u32(state) % 2) m[used - 1] >>= 64 - bits;
    uint64_t above = 0;
    for (unsigned i = 1; i < limbs; i++) above |= m[i];
    m[0] |= above ? 1 : 3; /* never 1 */
}

/* Near 0, near m, near the largest number, or any. */
static void random_operand(uint64_t *x, const uint64_t *m, unsigned limbs, uint64_t *state) {
    const uint32_t kind = random_u32(state) % 6, step = random_u32(state) % 3;
    for (unsigned i = 0; i < limbs; i++) x[i] = kind == 0 ? 0 : kind == 1 ? UINT64_MAX : random_u64(state);
    if (kind == 2 || kind == 3) memcpy(x, m, 8 * limbs);
    if (kind == 0) x[0] = step;
    if (kind == 1) x[0] -= step;
    if (kind == 2) x[0] -= step % 2; /* m is odd */
    if (kind == 3)
        for (unsigned i = 0; i < limbs && ++x[i] == 0; i++) {
        }
}
#endif

Test(op_field, random_moduli_and_edges_are_as_openssl_has_them) {
#ifdef HAVE_LIBCRYPTO
    uint64_t state = 3;
    for (unsigned s = 0; s < 2; s++)
        for (unsigned i = 0; i < 20000; i++) {
            uint64_t a[MAX], b[MAX], m[MAX], got[MAX], want[MAX];
            const enum kind kind = (enum kind)(i % KINDS);
            random_modulus(m, sizes[s].limbs, &state);
            random_operand(a, m, sizes[s].limbs, &state);
            random_operand(b, m, sizes[s].limbs, &state);
            one(&sizes[s], kind, got, a, b, m);
            expected(kind, want, a, b, m, sizes[s].limbs);
            cr_assert_arr_eq(got, want, 8 * sizes[s].limbs, "kind %d, %u words, number %u", (int)kind, sizes[s].limbs,
                             i);
        }
#else
    cr_skip_test("built without libcrypto");
#endif
}

/* y^2 = x^3 + c modulo p, all by the operations. */
static void on_curve(const struct size *size, const uint64_t *p, const uint64_t *x, const uint64_t *y, uint64_t c) {
    const uint64_t constant[MAX] = {c};
    uint64_t left[MAX], right[MAX], cube[MAX];
    one(size, MUL, left, y, y, p);
    one(size, MUL, right, x, x, p);
    one(size, MUL, cube, right, x, p);
    one(size, ADD, right, cube, constant, p);
    cr_assert_arr_eq(left, right, 8 * size->limbs);
    one(size, SUB, left, right, cube, p);
    cr_assert_arr_eq(left, constant, 8 * size->limbs);
}

/* The generators of SEC 2, EIP-196 and of the BLS12-381 specification (G1). */
Test(op_field, published_points_lie_on_their_curves) {
    static const uint64_t secp_p[] = {0xfffffffefffffc2f, 0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff};
    static const uint64_t secp_x[] = {0x59f2815b16f81798, 0x029bfcdb2dce28d9, 0x55a06295ce870b07, 0x79be667ef9dcbbac};
    static const uint64_t secp_y[] = {0x9c47d08ffb10d4b8, 0xfd17b448a6855419, 0x5da4fbfc0e1108a8, 0x483ada7726a3c465};
    static const uint64_t bn_p[] = {0x3c208c16d87cfd47, 0x97816a916871ca8d, 0xb85045b68181585d, 0x30644e72e131a029};
    static const uint64_t bn_x[4] = {1}, bn_y[4] = {2};
    static const uint64_t bls_p[] = {0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                                     0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a};
    static const uint64_t bls_x[] = {0xfb3af00adb22c6bb, 0x6c55e83ff97a1aef, 0xa14e3a3f171bac58,
                                     0xc3688c4f9774b905, 0x2695638c4fa9ac0f, 0x17f1d3a73197d794};
    static const uint64_t bls_y[] = {0x0caa232946c5e7e1, 0xd03cc744a2888ae4, 0x00db18cb2c04b3ed,
                                     0xfcf5e095d5d00af6, 0xa09e30ed741d8ae4, 0x08b3f481e3aaa0f1};
    on_curve(&sizes[0], secp_p, secp_x, secp_y, 7);
    on_curve(&sizes[0], bn_p, bn_x, bn_y, 3);
    on_curve(&sizes[1], bls_p, bls_x, bls_y, 4);
}

/* ---- tasks ------------------------------------------------------------------------------------------------ */

Test(op_field, a_task_is_its_elements_at_any_alignment) {
    enum { N = 9 };
    static uint8_t memory[4][8 * MAX * N + 8];
    uint64_t state = 8;
    for (unsigned s = 0; s < 2; s++)
        for (unsigned shift = 0; shift < 8; shift++) {
            const uint64_t bytes = 8 * sizes[s].limbs;
            struct svmx_slot slots[4];
            for (unsigned i = 0; i < 4; i++) {
                random_bytes(&state, memory[i], sizeof memory[i]);
                slots[i] = slot(memory[i] + shift, i < 3 ? bytes * N : bytes);
            }
            memory[3][shift] |= 1;
            compute(sizes[s].op[MUL], slots);
            for (unsigned i = 0; i < N; i++) {
                uint64_t a[MAX], b[MAX], m[MAX], want[MAX];
                memcpy(a, memory[1] + shift + bytes * i, bytes);
                memcpy(b, memory[2] + shift + bytes * i, bytes);
                memcpy(m, memory[3] + shift, bytes);
                one(&sizes[s], MUL, want, a, b, m);
                cr_assert_arr_eq(memory[0] + shift + bytes * i, want, bytes);
            }
        }
}

Test(op_field, size_is_the_number_of_elements) {
    const uint64_t x[5 * MAX] = {0}, m[MAX] = {3};
    for (unsigned s = 0; s < 2; s++)
        for (unsigned kind = 0; kind < KINDS; kind++) {
            const uint64_t bytes = 8 * sizes[s].limbs;
            const struct svmx_slot five[] = {slot(x, 5 * bytes), slot(x, 5 * bytes), slot(x, 5 * bytes),
                                             slot(m, bytes)};
            const struct svmx_slot none[] = {slot(NULL, 0), slot(NULL, 0), slot(NULL, 0), slot(m, bytes)};
            accepted(sizes[s].op[kind], five, 5, 5);
            accepted(sizes[s].op[kind], none, 0, 0);
        }
}

static void refuse_modulus(const struct size *size, const uint64_t *m, const char *text) {
    const uint64_t x[MAX] = {0}, bytes = 8 * size->limbs;
    const struct svmx_slot slots[] = {slot(x, bytes), slot(x, bytes), slot(x, bytes), slot(m, bytes)};
    const struct svmx_slot none[] = {slot(NULL, 0), slot(NULL, 0), slot(NULL, 0), slot(m, bytes)};
    for (unsigned kind = 0; kind < KINDS; kind++) {
        refused(size->op[kind], slots, text);
        refused(size->op[kind], none, text); /* whether it is needed or not */
    }
}

Test(op_field, moduli_of_0_and_1_and_even_ones_are_refused) {
    for (unsigned s = 0; s < 2; s++) {
        const unsigned top = sizes[s].limbs - 1;
        uint64_t m[MAX] = {0};
        refuse_modulus(&sizes[s], m, "modulus is 0: it must be odd and greater than 1");
        m[0] = 1;
        refuse_modulus(&sizes[s], m, "modulus is 1: it must be odd and greater than 1");
        m[0] = 2;
        refuse_modulus(&sizes[s], m, "modulus is even: it must be odd and greater than 1");
        m[0] = 0, m[top] = 1;
        refuse_modulus(&sizes[s], m, "modulus is even: it must be odd and greater than 1");
        m[0] = UINT64_MAX - 1, m[top] = UINT64_MAX;
        refuse_modulus(&sizes[s], m, "modulus is even: it must be odd and greater than 1");
    }
}

Test(op_field, lengths_that_do_not_fit_are_refused_by_name) {
    const uint64_t x[5 * MAX] = {1, 1};
    for (unsigned s = 0; s < 2; s++) {
        const uint64_t bytes = 8 * sizes[s].limbs;
        struct svmx_slot slots[] = {slot(x, 2 * bytes), slot(x, bytes), slot(x, 2 * bytes), slot(x, bytes)};
        refused(sizes[s].op[ADD], slots, "a has 1 item but out has 2: give both the same length");
        slots[1] = slot(x, 2 * bytes), slots[2] = slot(x, 3 * bytes);
        refused(sizes[s].op[SUB], slots, "b has 3 items but out has 2: give both the same length");
        slots[2] = slot(x, 2 * bytes), slots[3] = slot(x, 2 * bytes);
        refused(sizes[s].op[MUL], slots, "modulus has 2 items but must have 1");
        slots[3] = slot(NULL, 0);
        refused(sizes[s].op[MONT], slots, "modulus has 0 items but must have 1");
    }
}

/* Benchmarks and the self-test rely on which modulus a seed brings. */
Test(op_field, examples_have_the_modulus_of_their_seed) {
    static const uint64_t secp[] = {0xfffffffefffffc2f, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    uint64_t bytes[SVMX__MAX_PARAMS] = {0}, memory[4][50 * MAX], largest[MAX];
    const struct svmx__op *op = svmx__op_by_id(SVMX_OP_MOD_MUL_U256);
    memset(largest, 0xff, sizeof largest);
    cr_assert_eq(op->shape(50, bytes), SVMX_OK);
    cr_assert(bytes[0] == 50 * 32 && bytes[1] == 50 * 32 && bytes[2] == 50 * 32 && bytes[3] == 32);
    cr_assert_eq(op->shape(UINT64_MAX / 32 + 1, bytes), SVMX_ERR_OVERFLOW);
    const struct svmx_slot slots[] = {slot(memory[0], 1600), slot(memory[1], 1600), slot(memory[2], 1600),
                                      slot(memory[3], 32)};
    op->fill(slots, 5);
    cr_assert_arr_eq(memory[3], secp, 32);
    cr_assert_arr_eq(memory[1] + 4 * 35, largest, 32, "the last of the pairs of edges");
    cr_assert_arr_eq(memory[2] + 4 * 35, largest, 32);
    cr_assert(memory[1][0] == 0 && memory[2][4] == 1);
    accepted(SVMX_OP_MOD_MUL_U256, slots, 50, 50);
}
