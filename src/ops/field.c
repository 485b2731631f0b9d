/*
 * field.c: see field.h.
 *
 * Written for being right at a look, not for speed: sums and products in full, then the remainder by the division that
 * is taught in schools, with digits of 64 bits. Kernels of other backends do it in other ways.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/field.h"
#include "ops/access.h"
#include "ops/items.h"

__extension__ typedef unsigned __int128 u128;

enum { MAX = SVMX__FIELD_MAX_LIMBS };

/* ---- words ------------------------------------------------------------------------------------------------ */

/* r = a + b; returns the carry. */
static uint64_t add_words(uint64_t *r, const uint64_t *a, const uint64_t *b, unsigned n) {
    u128 sum = 0;
    for (unsigned i = 0; i < n; i++) {
        sum += (u128)a[i] + b[i];
        r[i] = (uint64_t)sum;
        sum >>= 64;
    }
    return (uint64_t)sum;
}

/* r += a * by; returns the carry, a whole word. */
static uint64_t add_multiple(uint64_t *r, const uint64_t *a, uint64_t by, unsigned n) {
    uint64_t carry = 0;
    for (unsigned i = 0; i < n; i++) {
        const u128 sum = (u128)a[i] * by + r[i] + carry;
        r[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
    return carry;
}

/* r -= a * by; returns the borrow, a whole word. */
static uint64_t subtract_multiple(uint64_t *r, const uint64_t *a, uint64_t by, unsigned n) {
    uint64_t borrow = 0;
    for (unsigned i = 0; i < n; i++) {
        const u128 product = (u128)a[i] * by + borrow;
        borrow = (uint64_t)(product >> 64) + (r[i] < (uint64_t)product);
        r[i] -= (uint64_t)product;
    }
    return borrow;
}

/* r = a << by for by < 64; returns what leaves at the top. r may be a. */
static uint64_t shift_left(uint64_t *r, const uint64_t *a, unsigned by, unsigned n) {
    uint64_t from_below = 0;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t word = a[i];
        r[i] = word << by | from_below;
        from_below = by ? word >> (64 - by) : 0;
    }
    return from_below;
}

static void shift_right(uint64_t *r, unsigned by, unsigned n) {
    for (unsigned i = 0; i < n && by; i++) r[i] = r[i] >> by | (i + 1 < n ? r[i + 1] << (64 - by) : 0);
}

/*
 * One digit of the quotient: x has n + 1 words and is less than d * 2^64; d has n and its top bit set. Leaves x
 * modulo d with a top word of 0. The guess from the top words is never too small and at most 2 too large (Knuth,
 * volume 2, 4.3.1).
 */
static void divide_step(uint64_t *x, const uint64_t *d, unsigned n) {
    const u128 top = (u128)x[n] << 64 | x[n - 1];
    const uint64_t guess = x[n] >= d[n - 1] ? UINT64_MAX : (uint64_t)(top / d[n - 1]);
    const uint64_t borrow = subtract_multiple(x, d, guess, n);
    uint64_t below_zero = borrow - x[n]; /* how many 2^(64 n) too much was taken: 0 or 1 */
    while (below_zero) below_zero -= add_words(x, x, d, n);
    x[n] = 0;
}

/* x modulo m in the low `limbs` words of x, which has `count` > limbs words, and room for one more. m is not 0. */
static void reduce(uint64_t *x, unsigned count, const uint64_t *m, unsigned limbs) {
    uint64_t d[MAX];
    unsigned n = limbs;
    while (m[n - 1] == 0) n--;
    const unsigned shift = (unsigned)__builtin_clzll(m[n - 1]);
    shift_left(d, m, shift, n);
    x[count] = shift_left(x, x, shift, count);
    for (unsigned i = count - n + 1; i-- > 0;) divide_step(x + i, d, n);
    shift_right(x, shift, n);
}

static void multiply(uint64_t *product, const uint64_t *a, const uint64_t *b, unsigned limbs) {
    memset(product, 0, 2 * limbs * sizeof *product);
    for (unsigned i = 0; i < limbs; i++) product[i + limbs] = add_multiple(product + i, a, b[i], limbs);
}

/* ---- elements --------------------------------------------------------------------------------------------- */

void svmx__field_add(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m, unsigned limbs) {
    uint64_t x[MAX + 2];
    x[limbs] = add_words(x, a, b, limbs);
    reduce(x, limbs + 1, m, limbs);
    memcpy(out, x, limbs * sizeof *out);
}

/* Both modulo m, then x - y, and m more where that is negative. */
void svmx__field_sub(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m, unsigned limbs) {
    uint64_t x[MAX + 2] = {0}, y[MAX + 2] = {0};
    memcpy(x, a, limbs * sizeof *x);
    memcpy(y, b, limbs * sizeof *y);
    reduce(x, limbs + 1, m, limbs);
    reduce(y, limbs + 1, m, limbs);
    if (subtract_multiple(x, y, 1, limbs)) add_words(x, x, m, limbs);
    memcpy(out, x, limbs * sizeof *out);
}

void svmx__field_mul(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m, unsigned limbs) {
    uint64_t x[2 * MAX + 1];
    multiply(x, a, b, limbs);
    reduce(x, 2 * limbs, m, limbs);
    memcpy(out, x, limbs * sizeof *out);
}

/* The inverse of an odd number modulo 2^64: each step doubles the bits that are right, and m itself has three. */
static uint64_t inverse_of(uint64_t m) {
    uint64_t x = m;
    for (int i = 0; i < 5; i++) x *= 2 - m * x;
    return x;
}

/* Multiples of m are added that make one word after another 0: then the division by R is a shift. */
void svmx__field_mont(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m, unsigned limbs) {
    uint64_t x[2 * MAX + 2];
    const uint64_t minus_inverse = -inverse_of(m[0]);
    multiply(x, a, b, limbs);
    x[2 * limbs] = 0;
    for (unsigned i = 0; i < limbs; i++) {
        uint64_t carry = add_multiple(x + i, m, x[i] * minus_inverse, limbs);
        for (unsigned j = i + limbs; carry; j++) carry = __builtin_add_overflow(x[j], carry, &x[j]);
    }
    reduce(x + limbs, limbs + 1, m, limbs);
    memcpy(out, x + limbs, limbs * sizeof *out);
}

/* ---- tasks ------------------------------------------------------------------------------------------------ */

static void load(uint64_t *number, const struct svmx_slot *slot, uint64_t index, unsigned limbs) {
    memcpy(number, svmx__at(slot, index * limbs * sizeof *number), limbs * sizeof *number);
}

static void store(const struct svmx_slot *slot, uint64_t index, const uint64_t *number, unsigned limbs) {
    memcpy(svmx__at(slot, index * limbs * sizeof *number), number, limbs * sizeof *number);
}

void svmx__field_run(const struct svmx_slot *slots, unsigned limbs, svmx__field_fn fn) {
    const uint64_t n = slots[SVMX__FIELD_OUT].bytes / (limbs * sizeof(uint64_t));
    uint64_t out[MAX], a[MAX], b[MAX], m[MAX];
    load(m, &slots[SVMX__FIELD_MODULUS], 0, limbs);
    for (uint64_t i = 0; i < n; i++) {
        load(a, &slots[SVMX__FIELD_A], i, limbs);
        load(b, &slots[SVMX__FIELD_B], i, limbs);
        fn(out, a, b, m, limbs);
        store(&slots[SVMX__FIELD_OUT], i, out, limbs);
    }
}

static enum svmx_status modulus_check(const struct svmx_param *param, const struct svmx_slot *slot,
                                      struct svmx__text *why) {
    uint64_t m[MAX], above = 0;
    load(m, slot, 0, param->record);
    for (unsigned i = 1; i < param->record; i++) above |= m[i];
    if ((m[0] & 1) && (above || m[0] > 1)) return SVMX_OK;
    const char *is = m[0] & 1 ? "1" : m[0] | above ? "even" : "0";
    return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s is %s: it must be odd and greater than 1", param->name, is);
}

enum svmx_status svmx__field_check(const struct svmx_param *params, const struct svmx_slot *slots,
                                   struct svmx__size *size, struct svmx__text *why) {
    const struct svmx_param *modulus = &params[SVMX__FIELD_MODULUS];
    uint64_t n;
    enum svmx_status status = svmx__items_equal(params, slots, SVMX__FIELD_MODULUS, &n, why);
    if (status == SVMX_OK) status = svmx__items_expect(modulus, &slots[SVMX__FIELD_MODULUS], 1, why);
    if (status == SVMX_OK) status = modulus_check(modulus, &slots[SVMX__FIELD_MODULUS], why);
    if (status == SVMX_OK) *size = (struct svmx__size){.units = n, .work = n};
    return status;
}

enum svmx_status svmx__field_shape(const struct svmx_param *params, uint64_t size, uint64_t *bytes) {
    bytes[SVMX__FIELD_MODULUS] = svmx__item_bytes(&params[SVMX__FIELD_MODULUS]);
    return svmx__items_shape(params, SVMX__FIELD_MODULUS, size, bytes);
}

/* ---- examples --------------------------------------------------------------------------------------------- */

/* The next output of splitmix64. */
static uint64_t random_word(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Odd, of any length from two bits on. */
static void random_modulus(uint64_t *m, uint64_t *state, unsigned limbs) {
    const unsigned bits = 2 + (unsigned)(random_word(state) % (64 * limbs - 1));
    for (unsigned i = 0; i < limbs; i++) {
        const unsigned here = bits <= 64 * i ? 0 : bits - 64 * i >= 64 ? 64 : bits - 64 * i;
        m[i] = here ? random_word(state) >> (64 - here) : 0;
        if (here && bits - 64 * i <= 64) m[i] |= UINT64_C(1) << (here - 1);
    }
    m[0] |= 1;
}

enum { EDGES = 6 };

/* 0, 1, m - 1, m, m + 1, the largest; m is odd and no word more or less changes when 1 is taken off. */
static void edge(uint64_t *x, unsigned which, const uint64_t *m, unsigned limbs) {
    const uint64_t one[MAX] = {1};
    memset(x, which == EDGES - 1 ? 0xff : 0, limbs * sizeof *x);
    if (which == 1) x[0] = 1;
    if (which >= 2 && which <= 4) memcpy(x, m, limbs * sizeof *x);
    if (which == 2) x[0] -= 1;
    if (which == 4) add_words(x, x, one, limbs);
}

static void random_element(uint64_t *x, const uint64_t *m, uint64_t *state, unsigned limbs) {
    for (unsigned i = 0; i < limbs; i++) x[i] = random_word(state);
    if (m[limbs - 1]) x[limbs - 1] %= m[limbs - 1];
}

void svmx__field_fill(const struct svmx_slot *slots, uint64_t seed, unsigned limbs, const uint64_t *const *moduli,
                      unsigned count) {
    const uint64_t n = slots[SVMX__FIELD_A].bytes / (limbs * sizeof(uint64_t));
    uint64_t state = seed, m[MAX], a[MAX], b[MAX];
    if (moduli[seed % count])
        memcpy(m, moduli[seed % count], limbs * sizeof *m);
    else
        random_modulus(m, &state, limbs);
    store(&slots[SVMX__FIELD_MODULUS], 0, m, limbs);
    for (uint64_t i = 0; i < n; i++) {
        random_element(a, m, &state, limbs);
        random_element(b, m, &state, limbs);
        if (i < EDGES * EDGES) {
            edge(a, (unsigned)i / EDGES, m, limbs);
            edge(b, (unsigned)i % EDGES, m, limbs);
        }
        store(&slots[SVMX__FIELD_A], i, a, limbs);
        store(&slots[SVMX__FIELD_B], i, b, limbs);
    }
}
