/*
 * secp256k1_point_ifma.c: points of secp256k1 in eight lanes, and u1 G + u2 P.
 *
 * One pass from the highest bit to the lowest, doubling in between. The two halves of u2 are 26 windows of 5 bits each and
 * look up odd multiples of P; u1 is 22 windows of 12 bits and looks up multiples of G and of 2^132 G:
 *
 *   bit   125   120   115   110   105  ...   5     0
 *   P      x     x     x     x     x         x     x     digit times P, and times lambda P
 *   G            x 120          x 108  ...         x     digit times G, and times 2^132 G
 *
 * The multiples P, 3 P, .. 31 P are all given the same z, which is then left out: without it they are affine points of
 * another curve that differs in its constant only, and no formula here uses that. What comes from the other table is
 * taken there by z^2 and z^3, and the result's z is multiplied by it at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "secp256k1_lanes.h"
#include "transpose_avx512.h"

enum { P_BITS = SECP_P_BITS, P_ROWS = 1 << (P_BITS - 1), P_TOP = SECP_HALF_BITS - P_BITS };
enum { G_HALF = SECP_G_BITS * SECP_G_WINDOWS };

_Static_assert(SECP_HALF_BITS % P_BITS == 0, "windows of P fill the halves");
_Static_assert((P_TOP - 1) / SECP_G_BITS + 1 == SECP_G_WINDOWS, "the pass meets all windows of G, and no others");

/* The multiples 1, 3, .. 31: a row is one lane's x and y, words of 64. */
struct rows {
    word at[P_ROWS][SECP_LANES];
};

/* ---- formulas --------------------------------------------------------------------------------------------- */

/* a - b - b */
SIMD_INLINE struct fe fe_less_twice(const struct fe *a, const struct fe *b) {
    struct fe r;
    FE_UNROLL for (int i = 0; i < 5; i++) r.d[i] = word_sub(word_sub(a->d[i], b->d[i]), b->d[i]);
    fe_settle(&r);
    return r;
}

SIMD_INLINE struct fe fe_minus(const struct fe *a) {
    struct fe r;
    FE_UNROLL for (int i = 0; i < 5; i++) r.d[i] = word_sub(_mm512_setzero_si512(), a->d[i]);
    fe_settle(&r);
    return r;
}

/*
 * 2 (x, y), of which z is 2 y z; also x and y themselves with that z, if they had z = 1: s and c. Products that nothing waits
 * for, c and z, stand where others would wait for differences; the first needs no y, which comes last.
 */
SIMD_INLINE void double_any(struct fe *x, struct fe *y, struct fe *z, struct fe *s, struct fe *c) {
    struct fe e, b, t;
    fe_sqr_times(&e, x, 3);
    fe_sqr(&b, y);
    fe_mul_times(s, x, &b, 4);
    fe_sqr(&t, &e);
    if (z) fe_mul_times(z, y, z, 2);
    *x = fe_less_twice(&t, s);
    t = fe_less(s, x);
    fe_sqr_times(c, &b, 8);
    fe_mul(&t, &e, &t);
    *y = fe_less(&t, c);
}

void SIMD_ALIGNED_FRAME simd_secp256k1_double(struct jacobian *p) {
    struct fe s, c;
    double_any(&p->x, &p->y, &p->z, &s, &c);
}

/* Here, too, products are ordered by what waits for them. */
void SIMD_ALIGNED_FRAME simd_secp256k1_add(struct jacobian *p, const struct affine *q, __mmask8 minus) {
    struct fe zz, u, s, h, r, hh, hhh, v, t, minus_y;
    fe_sqr(&zz, &p->z);
    fe_mul(&s, &q->y, &p->z);
    fe_mul(&u, &q->x, &zz);
    fe_mul(&s, &s, &zz);
    h = fe_less(&u, &p->x);
    fe_sqr(&hh, &h);
    fe_turn(&s, minus);
    r = fe_less(&s, &p->y);
    fe_mul(&p->z, &p->z, &h);
    fe_mul(&v, &p->x, &hh);
    fe_mul(&hhh, &h, &hh);
    fe_sqr(&t, &r);
    minus_y = fe_minus(&p->y);
    FE_UNROLL for (int i = 0; i < 5; i++) t.d[i] = word_sub(t.d[i], hhh.d[i]);
    p->x = fe_less_twice(&t, &v);
    t = fe_less(&v, &p->x);
    fe_mul_mul(&p->y, &minus_y, &hhh, &r, &t);
}

/* sum = d + p, and d, with the same new z: that which both had, times h. */
static SIMD_ALIGNED_FRAME void add_same_z(struct affine *sum, struct affine *d, const struct affine *p, struct fe *h) {
    struct fe c, w1, w2, dy, t;
    *h = fe_less(&d->x, &p->x);
    dy = fe_less(&d->y, &p->y);
    fe_sqr(&c, h);
    fe_mul(&w1, &d->x, &c);
    fe_mul(&w2, &p->x, &c);
    fe_sqr(&sum->x, &dy);
    FE_UNROLL for (int i = 0; i < 5; i++) sum->x.d[i] = word_sub(sum->x.d[i], w1.d[i]);
    sum->x = fe_less(&sum->x, &w2);
    t = fe_less(&w1, &w2);
    fe_mul(&d->y, &d->y, &t);
    d->x = w1;
    t = fe_less(&w1, &sum->x);
    fe_mul(&t, &dy, &t);
    sum->y = fe_less(&t, &d->y);
}

/* ---- rows ------------------------------------------------------------------------------------------------- */

SIMD_INLINE void row_write(word row[SECP_LANES], struct fe x, struct fe y) {
    fe_normal(&x);
    fe_normal(&y);
    words_from_digits(row, x.d);
    words_from_digits(row + 4, y.d);
    transpose(row);
}

/* Each lane's row; a row is 64 bytes. */
SIMD_INLINE void row_read(struct affine *q, const void *rows, word row) {
    uint64_t at[SECP_LANES];
    word r[SECP_LANES];
    _mm512_storeu_si512(at, _mm512_slli_epi64(row, 6));
    for (int i = 0; i < SECP_LANES; i++) r[i] = _mm512_load_si512((const uint8_t *)rows + at[i]);
    transpose(r);
    factor_from_words(q->x.d, r);
    factor_from_words(q->y.d, r + 4);
}

/* All multiples, and the z that they have in common. */
static void rows_make(struct rows *rows, struct fe *z, const struct affine *p) {
    struct affine multiple[P_ROWS], d = *p;
    struct fe h[P_ROWS], s, ss;
    double_any(&d.x, &d.y, NULL, &multiple[0].x, &multiple[0].y);
    for (int i = 1; i < P_ROWS; i++) add_same_z(&multiple[i], &d, &multiple[i - 1], &h[i]);
    row_write(rows->at[P_ROWS - 1], multiple[P_ROWS - 1].x, multiple[P_ROWS - 1].y);
    s = h[P_ROWS - 1];
    for (int i = P_ROWS - 2; i >= 0; i--) {
        struct affine *m = &multiple[i];
        fe_sqr(&ss, &s);
        fe_mul(&m->x, &m->x, &ss);
        fe_mul(&ss, &ss, &s);
        fe_mul(&m->y, &m->y, &ss);
        row_write(rows->at[i], m->x, m->y);
        if (i > 0) fe_mul(&s, &s, &h[i]);
    }
    fe_mul_times(z, &s, &p->y, 2);
}

/* ---- windows ---------------------------------------------------------------------------------------------- */

struct pass {
    struct windows windows;
    struct rows rows;
    struct fe z, zz, zzz; /* of the rows */
    struct fe beta;
};

SIMD_INLINE __mmask8 p_digit(struct affine *q, const struct pass *pass, const word *words, int bit) {
    const word lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    __mmask8 minus;
    const word row = odd_digit(words, bit, P_BITS, &minus);
    row_read(q, pass->rows.at, word_add(_mm512_slli_epi64(row, 3), lane));
    return minus;
}

SIMD_INLINE void add_lambda_p(struct jacobian *sum, const struct pass *pass, int bit) {
    struct affine q;
    const __mmask8 minus = p_digit(&q, pass, pass->windows.second, bit);
    fe_mul(&q.x, &q.x, &pass->beta);
    simd_secp256k1_add(sum, &q, minus);
}

SIMD_INLINE void add_p(struct jacobian *sum, const struct pass *pass, int bit) {
    struct affine q;
    const __mmask8 minus = p_digit(&q, pass, pass->windows.first, bit);
    simd_secp256k1_add(sum, &q, minus);
}

SIMD_INLINE void add_g(struct jacobian *sum, const struct pass *pass, int bit, const void *rows) {
    struct affine q;
    __mmask8 minus;
    const word row = odd_digit(pass->windows.low, bit, SECP_G_BITS, &minus);
    row_read(&q, rows, row);
    fe_mul(&q.x, &q.x, &pass->zz);
    fe_mul(&q.y, &q.y, &pass->zzz);
    simd_secp256k1_add(sum, &q, minus);
}

/* The first digit is not added to anything. */
SIMD_INLINE void sum_start(struct jacobian *sum, const struct pass *pass) {
    struct affine q;
    const __mmask8 minus = p_digit(&q, pass, pass->windows.first, P_TOP);
    FE_UNROLL for (int i = 0; i < 5; i++) {
        sum->x.d[i] = _mm512_and_si512(q.x.d[i], word_all(FE_MASK));
        sum->y.d[i] = _mm512_and_si512(q.y.d[i], word_all(FE_MASK));
    }
    fe_turn(&sum->y, minus);
    fe_settle(&sum->y);
    sum->z = fe_of(1);
}

static const uint64_t beta_digits[5] = {0x96c28719501ee, 0x7512f58995c13, 0xc3434e99cf049, 0x7106e64479ea,
                                        0x7ae96a2b657c};

static void pass_start(struct pass *pass, const struct scalar *u1, const struct scalar *u2, const struct affine *p) {
    simd_secp256k1_windows(&pass->windows, u1, u2);
    rows_make(&pass->rows, &pass->z, p);
    fe_sqr(&pass->zz, &pass->z);
    fe_mul(&pass->zzz, &pass->zz, &pass->z);
    pass->beta = fe_const(beta_digits);
}

void simd_secp256k1_combine(struct jacobian *out, const struct scalar *u1, const struct scalar *u2,
                            const struct affine *p) {
    struct pass pass;
    pass_start(&pass, u1, u2, p);
    sum_start(out, &pass);
    add_lambda_p(out, &pass, P_TOP);
    for (int bit = P_TOP - 1; bit >= 0; bit--) {
        simd_secp256k1_double(out);
        if (bit % P_BITS == 0) {
            add_p(out, &pass, bit);
            add_lambda_p(out, &pass, bit);
        }
        if (bit % SECP_G_BITS == 0) {
            add_g(out, &pass, bit, simd_secp256k1_rows[0]);
            add_g(out, &pass, bit + G_HALF, simd_secp256k1_rows[SECP_G_ROWS]);
        }
    }
    fe_mul(&out->z, &out->z, &pass.z);
}
