/*
 * field_ifma.c: products modulo an odd number for AVX-512 with IFMA, eight elements side by side.
 *
 * IFMA multiplies 52 bits by 52 and adds the low or the high 52 bits of the product to a word of 64: sums of many products
 * need no carry in between. So an element has digits of 52 bits here, 5 for 4 words and 8 for 6, and Montgomery's R is
 * 2^260 or 2^416; bits of a factor above the 52nd are ignored, which saves most of the masks.
 *
 *   redc(a, b)      a b / R modulo m, as a sum of digits with carries still in them; less than 2 m if a < m or b < m
 *   mod_mul         redc(redc(a, b), R^2 modulo m); modulo the prime of secp256k1 the high half is folded down instead
 *   mont_mul        redc(a 2^4, b) or redc(a 2^32, b): the shift makes up for the larger R
 *
 * The last subtraction of m is decided by the highest digit. Where that cannot tell, or a result is not below m because
 * operands were not, a lane in some 2^45 for random numbers, the group is reduced once more and compared in full.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "field_lanes.h"

enum { DIGIT = 52, MAX_DIGITS = 8, MAX_SETS = 2 };

#define DIGIT_MASK ((UINT64_C(1) << DIGIT) - 1)
#define SECP_TOP   ((UINT64_C(1) << 48) - 1) /* of the fifth digit of a number below 2^256 */

SIMD_INLINE int digits_of(int limbs) { return limbs == 4 ? 5 : 8; }

/* R = 2^(64 limbs + extra) */
SIMD_INLINE int extra_bits(int limbs) { return DIGIT * digits_of(limbs) - 64 * limbs; }

SIMD_INLINE word low(word sum, word a, word b) { return _mm512_madd52lo_epu64(sum, a, b); }

SIMD_INLINE word high(word sum, word a, word b) { return _mm512_madd52hi_epu64(sum, a, b); }

SIMD_INLINE word add(word a, word b) { return _mm512_add_epi64(a, b); }

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

static __attribute__((noinline)) void constants_make_4(struct constants *k, struct field_modulus *m) {
    constants_make(k, m, 4);
}

static __attribute__((noinline)) void constants_make_6(struct constants *k, struct field_modulus *m) {
    constants_make(k, m, 6);
}

/* ---- digits ----------------------------------------------------------------------------------------------- */

/* Digits of x 2^shift; bits above the 52nd are any. */
SIMD_INLINE void digits_split(word *d, const word *x, int shift, int limbs) {
    FIELD_UNROLL for (int i = 0; i < digits_of(limbs); i++) {
        const int bit = DIGIT * i - shift, at = bit < 0 ? 0 : bit / 64, by = bit < 0 ? 0 : bit % 64;
        if (bit < 0) {
            d[i] = _mm512_slli_epi64(x[0], (unsigned)-bit);
            continue;
        }
        d[i] = by == 0 ? x[at] : _mm512_srli_epi64(x[at], (unsigned)by);
        if (by > 64 - DIGIT && at + 1 < limbs)
            d[i] = _mm512_or_si512(d[i], _mm512_slli_epi64(x[at + 1], (unsigned)(64 - by)));
    }
}

/* Words of a number whose carries are done; bits of digits above the 52nd are any. */
SIMD_INLINE void digits_join(word *x, const word *d, int limbs) {
    FIELD_UNROLL for (int i = 0; i < limbs; i++) {
        const int at = 64 * i / DIGIT, by = 64 * i % DIGIT;
        const word here = by == 0 ? d[at] : _mm512_srli_epi64(d[at], (unsigned)by);
        word above = _mm512_slli_epi64(d[at + 1], (unsigned)(DIGIT - by));
        if (2 * DIGIT - by < 64) {
            const word mask = word_all((UINT64_C(1) << (2 * DIGIT - by)) - 1), next = d[at + 2];
            above = _mm512_ternarylogic_epi64(above, mask, _mm512_slli_epi64(next, (unsigned)(2 * DIGIT - by)), 0xea);
        }
        x[i] = _mm512_ternarylogic_epi64(here, word_all(DIGIT_MASK >> by), above, 0xea); /* here & mask | above */
    }
}

/* Moves what is above the 52nd bit up by a digit, from the lowest on; it stays where it was as well. Digits may be
 * negative: then so is what moves. */
SIMD_INLINE void digits_carry(word *d, int digits) {
    FIELD_UNROLL for (int i = 0; i + 1 < digits; i++) d[i + 1] = add(d[i + 1], _mm512_srai_epi64(d[i], DIGIT));
}

SIMD_INLINE word digits_clear(word d) { return _mm512_and_si512(d, word_all(DIGIT_MASK)); }

/* Digits of eight elements; a product has twice as many before it is reduced. */
typedef word group[2 * MAX_DIGITS];

/* ---- products --------------------------------------------------------------------------------------------- */

/* All digits of a b, with carries still in them: a sum of at most 2 digits terms of 52 bits. */
SIMD_INLINE void multiply(group *t, group *a, group *b, int digits, int sets) {
    FIELD_UNROLL for (int s = 0; s < sets; s++) FIELD_UNROLL for (int i = 0; i < 2 * digits; i++) t[s][i] =
        _mm512_setzero_si512();
    FIELD_UNROLL for (int i = 0; i < digits; i++) FIELD_UNROLL for (int s = 0; s < sets; s++) {
        FIELD_UNROLL for (int j = 0; j < digits; j++) t[s][i + j] = low(t[s][i + j], a[s][j], b[s][i]);
        FIELD_UNROLL for (int j = 0; j < digits; j++) t[s][i + j + 1] = high(t[s][i + j + 1], a[s][j], b[s][i]);
    }
}

/*
 * Digit by digit of b: a b_i, then q m that makes the lowest digit 0, then all move down by one. High halves are added
 * after the move, to the digit that they belong to. The sums grow to 57 bits. `sets` of operands run side by side: one
 * alone would mostly wait for its q.
 */
SIMD_INLINE void redc(group *t, group *a, group *b, const struct constants *k, int digits, int sets) {
    const word zero = _mm512_setzero_si512(), minus_inverse = word_all(k->minus_inverse);
    word carry[MAX_SETS], q[MAX_SETS];
    FIELD_UNROLL for (int s = 0; s < sets; s++) carry[s] = zero;
    FIELD_UNROLL for (int s = 0; s < sets; s++) FIELD_UNROLL for (int j = 0; j < digits; j++) t[s][j] = zero;
    FIELD_UNROLL for (int i = 0; i < digits; i++) {
        FIELD_UNROLL for (int j = 0; j < digits; j++) FIELD_UNROLL for (int s = 0; s < sets; s++) t[s][j] =
            low(t[s][j], a[s][j], b[s][i]);
        FIELD_UNROLL for (int s = 0; s < sets; s++) t[s][0] = add(t[s][0], carry[s]);
        FIELD_UNROLL for (int s = 0; s < sets; s++) q[s] = low(zero, t[s][0], minus_inverse);
        FIELD_UNROLL for (int s = 0; s < sets; s++) carry[s] =
            _mm512_srli_epi64(low(t[s][0], q[s], word_all(k->m[0])), DIGIT);
        FIELD_UNROLL for (int j = 0; j + 1 < digits; j++) {
            FIELD_UNROLL for (int s = 0; s < sets; s++) t[s][j] = high(t[s][j + 1], a[s][j], b[s][i]);
            FIELD_UNROLL for (int s = 0; s < sets; s++) t[s][j] = low(t[s][j], q[s], word_all(k->m[j + 1]));
            FIELD_UNROLL for (int s = 0; s < sets; s++) t[s][j] = high(t[s][j], q[s], word_all(k->m[j]));
        }
        FIELD_UNROLL for (int s = 0; s < sets; s++) {
            t[s][digits - 1] = high(zero, a[s][digits - 1], b[s][i]);
            t[s][digits - 1] = high(t[s][digits - 1], q[s], word_all(k->m[digits - 1]));
        }
    }
    FIELD_UNROLL for (int s = 0; s < sets; s++) t[s][0] = add(t[s][0], carry[s]);
}

/* t modulo m in full, whatever t is: redc with R modulo m leaves less than 2 m. Out of the way, since it is rare. */
SIMD_INLINE void reduce_fully(word *t, const struct constants *k, int digits) {
    group one[1], wide[1], reduced[1];
    word less[MAX_DIGITS], *x = reduced[0];
    digits_carry(t, digits);
    FIELD_UNROLL for (int i = 0; i < digits; i++) one[0][i] = word_all(k->one[i]);
    FIELD_UNROLL for (int i = 0; i < digits; i++) wide[0][i] = t[i];
    redc(reduced, wide, one, k, digits, 1);
    FIELD_UNROLL for (int i = 0; i < digits; i++) less[i] = _mm512_sub_epi64(x[i], word_all(k->m[i]));
    digits_carry(x, digits);
    digits_carry(less, digits);
    const __mmask8 negative = _mm512_movepi64_mask(less[digits - 1]);
    FIELD_UNROLL for (int i = 0; i < digits; i++) t[i] = digits_clear(_mm512_mask_mov_epi64(less[i], negative, x[i]));
}

static SIMD_ALIGNED_FRAME void reduce_fully_5(word t[5], const struct constants *k) { reduce_fully(t, k, 5); }

static SIMD_ALIGNED_FRAME void reduce_fully_8(word t[8], const struct constants *k) { reduce_fully(t, k, 8); }

/* Leaves t in registers where it is not called. */
SIMD_INLINE void reduce_rarely(word *t, const word *from, const struct constants *k, int digits) {
    word copy[MAX_DIGITS];
    FIELD_UNROLL for (int i = 0; i < digits; i++) copy[i] = from[i];
    digits == 5 ? reduce_fully_5(copy, k) : reduce_fully_8(copy, k);
    FIELD_UNROLL for (int i = 0; i < digits; i++) t[i] = copy[i];
}

/*
 * t less m where that is due, carries done: the highest digit and what is carried into it from the one below it decide. It
 * may be one short, so the decision is safe unless it is equal to the modulus' or one less. Then, and when the
 * result is not below m by its highest digit, the long way.
 */
SIMD_INLINE void digits_below(word *t, const struct constants *k, int digits) {
    const int top = digits - 1;
    word before[MAX_DIGITS];
    const word m_top = word_all(k->m[top]), guess = add(t[top], _mm512_srli_epi64(t[top - 1], DIGIT));
    const __mmask8 due = _mm512_cmpgt_epu64_mask(guess, m_top);
    const word distance = _mm512_sub_epi64(m_top, guess); /* 0 and 1 do not tell */
    __mmask8 doubtful = _mm512_cmple_epu64_mask(distance, word_all(1));
    FIELD_UNROLL for (int i = 0; i < digits; i++) before[i] = t[i];
    FIELD_UNROLL for (int i = 0; i < digits; i++) t[i] = _mm512_mask_sub_epi64(t[i], due, t[i], word_all(k->m[i]));
    digits_carry(t, digits);
    doubtful |= _mm512_cmpge_epu64_mask(t[top], m_top);
    if (__builtin_expect(doubtful != 0, 0)) reduce_rarely(t, before, k, digits);
}

/* ---- the prime of secp256k1 ------------------------------------------------------------------------------- */

/*
 * p = 2^256 - FIELD_SECP, so 2^260 is 16 FIELD_SECP modulo p. The high five digits fold down to one, with what is above
 * 2^256 in the fifth it folds down again, and then the number is below p unless its highest 48 bits are all ones.
 */
SIMD_INLINE void fold_secp(word *t) {
    const word fold = word_all(16 * FIELD_SECP);
    digits_carry(t + 5, 5);
    word above = high(_mm512_setzero_si512(), t[9], fold);
    FIELD_UNROLL for (int i = 0; i < 5; i++) t[i] = low(t[i], t[i + 5], fold);
    FIELD_UNROLL for (int i = 0; i < 4; i++) t[i + 1] = high(t[i + 1], t[i + 5], fold);
    t[4] = add(t[4], _mm512_srli_epi64(t[3], DIGIT));
    t[3] = digits_clear(t[3]);
    above = add(_mm512_slli_epi64(above, 4), _mm512_srli_epi64(t[4], 48));
    t[4] = _mm512_and_si512(t[4], word_all(SECP_TOP));
    t[0] = low(t[0], above, word_all(FIELD_SECP));
    t[1] = high(t[1], above, word_all(FIELD_SECP));
    digits_carry(t, 5);
}

/* t less p where t is not below it: where t + FIELD_SECP reaches 2^256. */
static SIMD_ALIGNED_FRAME void reduce_secp(word t[5]) {
    word less[5];
    FIELD_UNROLL for (int i = 0; i < 4; i++) less[i] = t[i] = digits_clear(t[i]);
    less[0] = add(t[0], word_all(FIELD_SECP)), less[4] = t[4];
    digits_carry(less, 5);
    const __mmask8 due = _mm512_cmpgt_epu64_mask(less[4], word_all(SECP_TOP));
    less[4] = _mm512_and_si512(less[4], word_all(SECP_TOP));
    FIELD_UNROLL for (int i = 0; i < 5; i++) t[i] = _mm512_mask_mov_epi64(t[i], due, less[i]);
}

/* ---- groups of eight elements ----------------------------------------------------------------------------- */

/*
 * An operation on `sets` groups at once, in two steps. Between them the next operands are loaded: shuffles and shifts that
 * need not wait for the products, and fill the time in which the second step, a chain of carries, waits for itself.
 */
struct operation {
    void (*multiply)(group *t, group *a, group *b, const struct constants *k, int limbs, int sets);
    void (*finish)(group *t, const struct constants *k, int limbs, int sets);
    bool shifted; /* a is multiplied by 2^extra_bits */
};

SIMD_INLINE void multiply_redc(group *t, group *a, group *b, const struct constants *k, int limbs, int sets) {
    redc(t, a, b, k, digits_of(limbs), sets);
}

SIMD_INLINE void multiply_twice(group *t, group *a, group *b, const struct constants *k, int limbs, int sets) {
    group x[MAX_SETS], y[MAX_SETS];
    redc(x, a, b, k, digits_of(limbs), sets);
    FIELD_UNROLL for (int s = 0; s < sets; s++) {
        digits_carry(x[s], digits_of(limbs));
        FIELD_UNROLL for (int i = 0; i < digits_of(limbs); i++) y[s][i] = word_all(k->square[i]);
    }
    redc(t, x, y, k, digits_of(limbs), sets);
}

SIMD_INLINE void finish_redc(group *t, const struct constants *k, int limbs, int sets) {
    FIELD_UNROLL for (int s = 0; s < sets; s++) digits_below(t[s], k, digits_of(limbs));
}

SIMD_INLINE void multiply_secp(group *t, group *a, group *b, const struct constants *k, int limbs, int sets) {
    (void)k;
    multiply(t, a, b, digits_of(limbs), sets);
}

SIMD_INLINE void finish_secp(group *t, const struct constants *k, int limbs, int sets) {
    (void)k, (void)limbs;
    FIELD_UNROLL for (int s = 0; s < sets; s++) {
        fold_secp(t[s]);
        if (__builtin_expect(_mm512_cmpge_epu64_mask(t[s][4], word_all(SECP_TOP)) != 0, 0)) {
            word copy[5]; /* leaves t in registers */
            FIELD_UNROLL for (int i = 0; i < 5; i++) copy[i] = t[s][i];
            reduce_secp(copy);
            FIELD_UNROLL for (int i = 0; i < 5; i++) t[s][i] = copy[i];
        }
    }
}

SIMD_INLINE void digits_load(group *d, const uint8_t *at, int shift, int limbs, int sets) {
    FIELD_UNROLL for (int s = 0; s < sets; s++) {
        word words[FIELD_MAX_LIMBS];
        lanes_load(words, at + FIELD_LANES * 8 * limbs * s, limbs);
        digits_split(d[s], words, shift, limbs);
    }
}

SIMD_INLINE void digits_store(uint8_t *at, group *d, int limbs, int sets) {
    FIELD_UNROLL for (int s = 0; s < sets; s++) {
        word words[FIELD_MAX_LIMBS];
        digits_join(words, d[s], limbs);
        lanes_store(at + FIELD_LANES * 8 * limbs * s, words, limbs);
    }
}

/* Many groups, one behind the other in memory; at least `sets`, and a multiple of it. */
SIMD_INLINE void sets_run(const struct field_piece *p, size_t groups, const struct constants *k, int limbs,
                          struct operation operation, int sets) {
    const size_t bytes = FIELD_LANES * 8 * (size_t)limbs;
    const int shift = operation.shifted ? extra_bits(limbs) : 0;
    group a[MAX_SETS], b[MAX_SETS], t[MAX_SETS];
    digits_load(a, p->a, shift, limbs, sets);
    digits_load(b, p->b, 0, limbs, sets);
    for (size_t i = 0; i < groups; i += (size_t)sets) {
        const size_t next = bytes * (i + (size_t)sets < groups ? i + (size_t)sets : i);
        operation.multiply(t, a, b, k, limbs, sets);
        digits_load(a, p->a + next, shift, limbs, sets);
        digits_load(b, p->b + next, 0, limbs, sets);
        operation.finish(t, k, limbs, sets);
        digits_store(p->out + bytes * i, t, limbs, sets);
    }
}

typedef void (*groups_fn)(const struct field_piece *piece, size_t groups, const struct constants *k);

SIMD_INLINE void groups_run(const struct field_piece *p, size_t groups, const struct constants *k, int limbs,
                            struct operation operation, int sets) {
    const size_t whole = groups / (size_t)sets * (size_t)sets, bytes = FIELD_LANES * 8 * (size_t)limbs * whole;
    if (whole > 0) sets_run(p, whole, k, limbs, operation, sets);
    const struct field_piece rest = {p->out + bytes, p->a + bytes, p->b + bytes, FIELD_LANES};
    if (groups > whole) sets_run(&rest, 1, k, limbs, operation, 1);
}

static SIMD_ALIGNED_FRAME void mul_4(const struct field_piece *piece, size_t groups, const struct constants *k) {
    groups_run(piece, groups, k, 4, (struct operation){multiply_twice, finish_redc, false}, S4);
}

static SIMD_ALIGNED_FRAME void mul_4_secp(const struct field_piece *piece, size_t groups, const struct constants *k) {
    groups_run(piece, groups, k, 4, (struct operation){multiply_secp, finish_secp, false}, SS);
}

static SIMD_ALIGNED_FRAME void mont_4(const struct field_piece *piece, size_t groups, const struct constants *k) {
    groups_run(piece, groups, k, 4, (struct operation){multiply_redc, finish_redc, true}, S4);
}

static SIMD_ALIGNED_FRAME void mul_6(const struct field_piece *piece, size_t groups, const struct constants *k) {
    groups_run(piece, groups, k, 6, (struct operation){multiply_twice, finish_redc, false}, S6);
}

static SIMD_ALIGNED_FRAME void mont_6(const struct field_piece *piece, size_t groups, const struct constants *k) {
    groups_run(piece, groups, k, 6, (struct operation){multiply_redc, finish_redc, true}, S6);
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

/* `secp` is for its prime and needs no constants; `other` is for all the rest. */
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
        /* Before another modulus is made ready: the constants are still those of the elements that wait. */
        if (step != FIELD_SAME_MODULUS) waiting_flush(&s, limbs, groups);
    }
}

static void mul_u256(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    run(d, first, end, 4, mul_4, mul_4_secp);
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
    {"mod_mul_u256", mul_u256, NULL, 64, 4000},
    {"mont_mul_u256", mont_u256, NULL, 64, 5000},
    {"mod_mul_u384", mul_u384, NULL, 64, 22000},
    {"mont_mul_u384", mont_u384, NULL, 64, 13000},
};
