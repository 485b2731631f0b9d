/*
 * field_ifma.c: products modulo an odd number for AVX-512 with IFMA and VBMI2, eight elements side by side.
 *
 * IFMA multiplies 52 bits by 52 and adds the low or the high 52 bits of the product to a word of 64: sums of many
 * products need no carry in between. So an element has digits of 52 bits here, 5 for 4 words and 8 for 6, and
 * Montgomery's R is 2^260 or 2^416. Bits of a factor above the 52nd are ignored, which saves most of the masks.
 *
 *   redc(a, b)   a b / R modulo m, as a sum of digits with carries still in them; less than 2 m if a < m or b < m
 *   mod_mul      redc(redc(a, b), R^2 modulo m); modulo the prime of secp256k1 the high half is folded down instead
 *   mont_mul     redc(a 2^4, b) or redc(a 2^32, b): the shift makes up for the larger R
 *
 * The last subtraction of m is decided by the highest digit. Where that cannot tell, or a result is not below m because
 * operands were not, the group is reduced once more and compared in full: a lane in 2^40 or less for random numbers
 * below m, but every one for a modulus whose highest digit is 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "field_lanes.h"

enum { DIGIT = 52, MAX_DIGITS = 8 };

#define DIGIT_MASK ((UINT64_C(1) << DIGIT) - 1)
#define SECP_TOP   ((UINT64_C(1) << 48) - 1) /* what the fifth digit of a number below 2^256 is at most */

SIMD_INLINE int digits_of(int limbs) { return limbs == 4 ? 5 : 8; }

/* R = 2^(64 limbs + extra) */
SIMD_INLINE int extra_bits(int limbs) { return DIGIT * digits_of(limbs) - 64 * limbs; }

SIMD_INLINE word low(word sum, word a, word b) { return _mm512_madd52lo_epu64(sum, a, b); }

SIMD_INLINE word high(word sum, word a, word b) { return _mm512_madd52hi_epu64(sum, a, b); }

SIMD_INLINE word add(word a, word b) { return _mm512_add_epi64(a, b); }

/* The low word of `above` and `below` side by side, moved down. */
SIMD_INLINE word funnel(word below, word above, int by) {
    return _mm512_shrdv_epi64(below, above, word_all((uint64_t)by));
}

/* ---- the modulus ------------------------------------------------------------------------------------------ */

/* In digits, for all lanes alike. */
struct constants {
    uint64_t m[MAX_DIGITS];
    uint64_t minus_inverse;      /* -1 / m modulo 2^52 */
    uint64_t one[MAX_DIGITS];    /* R modulo m */
    uint64_t square[MAX_DIGITS]; /* R^2 modulo m */
};

SIMD_INLINE uint64_t digit_of(const uint64_t *x, int i, int limbs) {
    const int bit = DIGIT * i, at = bit / 64, by = bit % 64;
    const uint64_t above = by > 64 - DIGIT && at + 1 < limbs ? x[at + 1] << (64 - by) : 0;
    return (x[at] >> by | above) & DIGIT_MASK;
}

SIMD_INLINE void constants_make(struct constants *k, struct field_modulus *m, int limbs) {
    uint64_t one[FIELD_MAX_LIMBS], square[FIELD_MAX_LIMBS];
    field_prepare(m, limbs);
    limbs_copy(one, m->one, limbs);
    limbs_copy(square, m->square, limbs);
    for (int i = 0; i < extra_bits(limbs); i++) {
        field_double(one, m->m, limbs);
        field_double(square, m->m, limbs);
        field_double(square, m->m, limbs);
    }
    for (int i = 0; i < digits_of(limbs); i++) {
        k->m[i] = digit_of(m->m, i, limbs);
        k->one[i] = digit_of(one, i, limbs);
        k->square[i] = digit_of(square, i, limbs);
    }
    k->minus_inverse = m->minus_inverse & DIGIT_MASK;
}

FIELD_RARE void constants_make_4(struct constants *k, struct field_modulus *m) { constants_make(k, m, 4); }

FIELD_RARE void constants_make_6(struct constants *k, struct field_modulus *m) { constants_make(k, m, 6); }

/* ---- digits ----------------------------------------------------------------------------------------------- */

/* Digits of x 2^shift; bits above the 52nd are any. */
SIMD_INLINE void digits_split(word *d, const word *x, int shift, int limbs) {
    FIELD_UNROLL for (int i = 0; i < digits_of(limbs); i++) {
        const int bit = DIGIT * i - shift, at = bit < 0 ? 0 : bit / 64, by = bit < 0 ? 0 : bit % 64;
        if (bit < 0)
            d[i] = _mm512_slli_epi64(x[0], (unsigned)-bit);
        else if (by == 0)
            d[i] = x[at];
        else if (by > 64 - DIGIT && at + 1 < limbs)
            d[i] = funnel(x[at], x[at + 1], by);
        else
            d[i] = _mm512_srli_epi64(x[at], (unsigned)by);
    }
}

/* Words of a number whose carries are done; bits of digits above the 52nd are any. */
SIMD_INLINE void digits_join(word *x, const word *d, int limbs) {
    const int rest = 64 - DIGIT;
    FIELD_UNROLL for (int i = 0; i < limbs; i++) {
        const int at = 64 * i / DIGIT, by = 64 * i % DIGIT;
        word above = d[at + 1];
        if (2 * DIGIT - by < 64) above = funnel(_mm512_slli_epi64(above, (unsigned)rest), d[at + 2], rest);
        x[i] = funnel(_mm512_slli_epi64(d[at], (unsigned)rest), above, rest + by);
    }
}

/* Moves what is above the 52nd bit up by a digit, from the lowest on; it stays where it was as well. Digits may be
 * negative: then so is what moves. */
SIMD_INLINE void digits_carry(word *d, int digits) {
    FIELD_UNROLL for (int i = 0; i + 1 < digits; i++) d[i + 1] = add(d[i + 1], _mm512_srai_epi64(d[i], DIGIT));
}

SIMD_INLINE word digit_clear(word d) { return _mm512_and_si512(d, word_all(DIGIT_MASK)); }

/* ---- products --------------------------------------------------------------------------------------------- */

/*
 * Digit by digit of b: a b_i, then q m that makes the lowest digit 0, then all move down by one. High halves are
 * added after the move, to the digit that they belong to, and those with q last: it is what they wait for. A sum is
 * of at most 4 x 8 terms of 52 bits.
 */
SIMD_INLINE void redc(word *t, const word *a, const word *b, const struct constants *k, int digits) {
    const word zero = _mm512_setzero_si512();
    word carry = zero;
    FIELD_UNROLL for (int j = 0; j < digits; j++) t[j] = zero;
    FIELD_UNROLL for (int i = 0; i < digits; i++) {
        FIELD_UNROLL for (int j = 0; j < digits; j++) t[j] = low(t[j], a[j], b[i]);
        t[0] = add(t[0], carry);
        const word q = low(zero, t[0], word_all(k->minus_inverse));
        carry = _mm512_srli_epi64(low(t[0], q, word_all(k->m[0])), DIGIT);
        FIELD_UNROLL for (int j = 0; j + 1 < digits; j++) {
            t[j] = high(t[j + 1], a[j], b[i]);
            t[j] = low(t[j], q, word_all(k->m[j + 1]));
            t[j] = high(t[j], q, word_all(k->m[j]));
        }
        t[digits - 1] = high(high(zero, a[digits - 1], b[i]), q, word_all(k->m[digits - 1]));
    }
    t[0] = add(t[0], carry);
}

/* t modulo m in full, whatever t is: redc with R modulo m leaves less than 2 m. */
SIMD_INLINE void reduce_digits(word *t, const struct constants *k, int digits) {
    word one[MAX_DIGITS], x[MAX_DIGITS], less[MAX_DIGITS];
    FIELD_UNROLL for (int i = 0; i < digits; i++) one[i] = word_all(k->one[i]);
    digits_carry(t, digits);
    redc(x, t, one, k, digits);
    FIELD_UNROLL for (int i = 0; i < digits; i++) less[i] = _mm512_sub_epi64(x[i], word_all(k->m[i]));
    digits_carry(x, digits);
    digits_carry(less, digits);
    const __mmask8 negative = _mm512_movepi64_mask(less[digits - 1]);
    FIELD_UNROLL for (int i = 0; i < digits; i++) t[i] = _mm512_mask_mov_epi64(less[i], negative, x[i]);
}

static SIMD_ALIGNED_FRAME void reduce_5(word t[5], const struct constants *k) { reduce_digits(t, k, 5); }

static SIMD_ALIGNED_FRAME void reduce_8(word t[8], const struct constants *k) { reduce_digits(t, k, 8); }

/*
 * t less m where that is due, carries done. It is where the highest digit, with the carry from the one below it, is
 * more than the modulus': that may be one too small, but never too large. What is not below m afterwards by its
 * highest digit goes the long way, on a copy: t stays in registers.
 */
SIMD_INLINE void digits_below(word *t, const struct constants *k, int digits) {
    const int top = digits - 1;
    word copy[MAX_DIGITS];
    const word m_top = word_all(k->m[top]), guess = add(t[top], _mm512_srli_epi64(t[top - 1], DIGIT));
    const __mmask8 due = _mm512_cmpgt_epu64_mask(guess, m_top);
    FIELD_UNROLL for (int i = 0; i < digits; i++) copy[i] = t[i];
    FIELD_UNROLL for (int i = 0; i < digits; i++) t[i] = _mm512_mask_sub_epi64(t[i], due, t[i], word_all(k->m[i]));
    digits_carry(t, digits);
    if (__builtin_expect(_mm512_cmpge_epu64_mask(t[top], m_top) != 0, 0)) {
        digits == 5 ? reduce_5(copy, k) : reduce_8(copy, k);
        FIELD_UNROLL for (int i = 0; i < digits; i++) t[i] = copy[i];
    }
}

/* ---- the prime of secp256k1 ------------------------------------------------------------------------------- */

/* Ten digits of a b, with carries still in them. */
SIMD_INLINE void multiply_5(word *t, const word *a, const word *b) {
    FIELD_UNROLL for (int i = 0; i < 10; i++) t[i] = _mm512_setzero_si512();
    FIELD_UNROLL for (int i = 0; i < 5; i++) {
        FIELD_UNROLL for (int j = 0; j < 5; j++) t[i + j] = low(t[i + j], a[j], b[i]);
        FIELD_UNROLL for (int j = 0; j < 5; j++) t[i + j + 1] = high(t[i + j + 1], a[j], b[i]);
    }
}

/* t less p where t is not below it, which is where t + FIELD_SECP reaches 2^256; t is less than 2 p, carries done. */
static SIMD_ALIGNED_FRAME void reduce_secp(word t[5]) {
    word less[5];
    FIELD_UNROLL for (int i = 0; i < 4; i++) less[i] = t[i] = digit_clear(t[i]);
    less[0] = add(t[0], word_all(FIELD_SECP)), less[4] = t[4];
    digits_carry(less, 5);
    const __mmask8 due = _mm512_cmpgt_epu64_mask(less[4], word_all(SECP_TOP));
    less[4] = _mm512_and_si512(less[4], word_all(SECP_TOP));
    FIELD_UNROLL for (int i = 0; i < 5; i++) t[i] = _mm512_mask_mov_epi64(t[i], due, less[i]);
}

/*
 * p = 2^256 - FIELD_SECP, so 2^260 is 16 FIELD_SECP modulo p. The high five digits fold down to one, and with what is
 * above 2^256 in the fifth that folds down again. What carries then still bring is little: the number is below p
 * unless its highest 48 bits are all ones, or more.
 */
SIMD_INLINE void fold_secp(word *t) {
    const word fold = word_all(16 * FIELD_SECP);
    digits_carry(t + 5, 5);
    word above = high(_mm512_setzero_si512(), t[9], fold), copy[5];
    FIELD_UNROLL for (int i = 0; i < 5; i++) t[i] = low(t[i], t[i + 5], fold);
    FIELD_UNROLL for (int i = 0; i < 4; i++) t[i + 1] = high(t[i + 1], t[i + 5], fold);
    above = add(_mm512_slli_epi64(above, 4), _mm512_srli_epi64(t[4], 48));
    t[4] = _mm512_and_si512(t[4], word_all(SECP_TOP));
    t[0] = low(t[0], above, word_all(FIELD_SECP));
    t[1] = high(t[1], above, word_all(FIELD_SECP));
    digits_carry(t, 5);
    if (__builtin_expect(_mm512_cmpge_epu64_mask(t[4], word_all(SECP_TOP)) != 0, 0)) {
        FIELD_UNROLL for (int i = 0; i < 5; i++) copy[i] = t[i]; /* t stays in registers */
        reduce_secp(copy);
        FIELD_UNROLL for (int i = 0; i < 5; i++) t[i] = copy[i];
    }
}

/* ---- groups of eight elements ----------------------------------------------------------------------------- */

/* An operation in two steps; t has room for all digits of a product. */
struct operation {
    void (*multiply)(word *t, const word *a, const word *b, const struct constants *k, int limbs);
    void (*finish)(word *t, const struct constants *k, int limbs);
    bool shifted; /* a comes multiplied by 2^extra_bits */
};

SIMD_INLINE void multiply_once(word *t, const word *a, const word *b, const struct constants *k, int limbs) {
    redc(t, a, b, k, digits_of(limbs));
}

SIMD_INLINE void multiply_twice(word *t, const word *a, const word *b, const struct constants *k, int limbs) {
    word x[MAX_DIGITS], square[MAX_DIGITS];
    redc(x, a, b, k, digits_of(limbs));
    digits_carry(x, digits_of(limbs));
    FIELD_UNROLL for (int i = 0; i < digits_of(limbs); i++) square[i] = word_all(k->square[i]);
    redc(t, x, square, k, digits_of(limbs));
}

SIMD_INLINE void finish_redc(word *t, const struct constants *k, int limbs) { digits_below(t, k, digits_of(limbs)); }

SIMD_INLINE void multiply_secp(word *t, const word *a, const word *b, const struct constants *k, int limbs) {
    (void)k, (void)limbs;
    multiply_5(t, a, b);
}

SIMD_INLINE void finish_secp(word *t, const struct constants *k, int limbs) {
    (void)k, (void)limbs;
    fold_secp(t);
}

SIMD_INLINE void digits_load(word *d, const uint8_t *at, int shift, int limbs) {
    word words[FIELD_MAX_LIMBS];
    lanes_load(words, at, limbs);
    digits_split(d, words, shift, limbs);
}

SIMD_INLINE void digits_store(uint8_t *at, const word *d, int limbs) {
    word words[FIELD_MAX_LIMBS];
    digits_join(words, d, limbs);
    lanes_store(at, words, limbs);
}

/*
 * Many groups, one behind the other in memory. The next operands are loaded between the steps: shuffles and shifts
 * that wait for nothing, beside a step that is a chain of carries and mostly waits for itself. Behind the last group,
 * that one again.
 */
SIMD_INLINE void groups_run(const struct field_piece *p, size_t groups, const struct constants *k, int limbs,
                            struct operation operation) {
    const size_t bytes = FIELD_LANES * 8 * (size_t)limbs;
    const int shift = operation.shifted ? extra_bits(limbs) : 0;
    word a[MAX_DIGITS], b[MAX_DIGITS], t[2 * MAX_DIGITS];
    if (groups == 0) return;
    digits_load(a, p->a, shift, limbs);
    digits_load(b, p->b, 0, limbs);
    for (size_t i = 0; i < groups; i++) {
        const size_t next = bytes * (i + 1 < groups ? i + 1 : i);
        operation.multiply(t, a, b, k, limbs);
        digits_load(a, p->a + next, shift, limbs);
        digits_load(b, p->b + next, 0, limbs);
        operation.finish(t, k, limbs);
        digits_store(p->out + bytes * i, t, limbs);
    }
}

typedef void (*groups_fn)(const struct field_piece *piece, size_t groups, const struct constants *k);

static SIMD_ALIGNED_FRAME void mul_4(const struct field_piece *piece, size_t groups, const struct constants *k) {
    groups_run(piece, groups, k, 4, (struct operation){multiply_twice, finish_redc, false});
}

static SIMD_ALIGNED_FRAME void mul_secp(const struct field_piece *piece, size_t groups, const struct constants *k) {
    groups_run(piece, groups, k, 4, (struct operation){multiply_secp, finish_secp, false});
}

static SIMD_ALIGNED_FRAME void mont_4(const struct field_piece *piece, size_t groups, const struct constants *k) {
    groups_run(piece, groups, k, 4, (struct operation){multiply_once, finish_redc, true});
}

static SIMD_ALIGNED_FRAME void mul_6(const struct field_piece *piece, size_t groups, const struct constants *k) {
    groups_run(piece, groups, k, 6, (struct operation){multiply_twice, finish_redc, false});
}

static SIMD_ALIGNED_FRAME void mont_6(const struct field_piece *piece, size_t groups, const struct constants *k) {
    groups_run(piece, groups, k, 6, (struct operation){multiply_once, finish_redc, true});
}

/* ---- tasks ------------------------------------------------------------------------------------------------ */

/* What a run keeps from piece to piece. */
struct state {
    struct field_modulus modulus;
    struct constants k;
    struct field_waiting waiting;
};

SIMD_INLINE void waiting_flush(struct state *s, int limbs, groups_fn groups) {
    uint8_t results[FIELD_LANES * 8 * FIELD_MAX_LIMBS];
    if (s->waiting.count == 0) return;
    groups(&(struct field_piece){results, s->waiting.a, s->waiting.b, FIELD_LANES}, 1, &s->k);
    waiting_leave(&s->waiting, results, limbs);
}

/* Full groups from where they are; what is left over waits for the next piece. */
SIMD_INLINE void piece_run(const struct field_piece *piece, struct state *s, int limbs, groups_fn groups) {
    groups(piece, piece->count / FIELD_LANES, &s->k);
    for (size_t i = piece->count / FIELD_LANES * FIELD_LANES; i < piece->count; i++) {
        waiting_push(&s->waiting, piece, i, limbs);
        if (s->waiting.count == FIELD_LANES) waiting_flush(s, limbs, groups);
    }
}

/* `secp` is for its prime and needs no constants, NULL: none such; `other` is for all the rest. */
SIMD_INLINE void run(const struct svmx_dispatch *d, uint64_t first, uint64_t end, int limbs, groups_fn other,
                     groups_fn secp) {
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct field_piece piece;
    struct state s;
    groups_fn groups = other;
    memset(&s, 0, sizeof s);
    enum field_step step = field_next(&walk, &piece, &s.modulus, limbs);
    while (step != FIELD_DONE) {
        if (step == FIELD_NEW_MODULUS) {
            groups = secp && field_is_secp(&s.modulus, limbs) ? secp : other;
            if (groups == other) limbs == 4 ? constants_make_4(&s.k, &s.modulus) : constants_make_6(&s.k, &s.modulus);
        }
        piece_run(&piece, &s, limbs, groups);
        step = field_next(&walk, &piece, &s.modulus, limbs);
        /* Before the constants of another modulus are made: these are still those of the elements that wait. */
        if (step != FIELD_SAME_MODULUS) waiting_flush(&s, limbs, groups);
    }
}

static void mul_u256(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    run(d, first, end, 4, mul_4, mul_secp);
}

static void mont_u256(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    run(d, first, end, 4, mont_4, NULL);
}

static void mul_u384(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    run(d, first, end, 6, mul_6, NULL);
}

static void mont_u384(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    run(d, first, end, 6, mont_6, NULL);
}

const struct simd_kernel simd_field_ifma[SIMD_FIELD_PRODUCTS] = {
    {"mod_mul_u256", mul_u256, NULL, 64, 4000, 0},
    {"mont_mul_u256", mont_u256, NULL, 64, 4600, 0},
    {"mod_mul_u384", mul_u384, NULL, 64, 21000, 0},
    {"mont_mul_u384", mont_u384, NULL, 64, 11500, 0},
};
