/*
 * ed25519_point_ifma.c: points of Edwards' curve in eight lanes, and s B + k P.
 *
 * One pass from the highest bit to the lowest, doubling in between: k is 51 windows of 5 bits, digits -16 .. 15, and looks
 * up 0 .. 16 times P; s is 26 windows of 10 bits, odd digits, and looks up odd multiples of B.
 *
 * A row is what adding wants of a point: y + x, y - x, 2 d x y, and 2 z, each 32 bytes; those of B have z = 1 and none. To
 * subtract, the first two change places and the third its sign.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ed25519_lanes.h"
#include "transpose_avx512.h"

#include <pthread.h>
#include <stdalign.h>

enum { P_BITS = 5, P_ROWS = 17, TOP = 250, B_BITS = 10, B_ROWS = 1 << (B_BITS - 1), ROW_WORDS = 16 };

struct row {
    struct fe sum, difference, t, z; /* t is 2 d x y / z; z is twice what it was */
};

struct rows {
    word at[P_ROWS][ED_LANES][2];
};

alignas(64) static uint64_t base_rows[B_ROWS][ROW_WORDS];

static const uint64_t twice_d[5] = {0x69b9426b2f159, 0x9a8283b156ebd, 0xef3d13000e014, 0xfce7198e80f2e, 0x2406d9dc56df};
static const uint64_t base_x[5] = {0x62d608f25d51a, 0x609525a7b2c95, 0xdd6dc5c692cc7, 0x53fec0a4e231f, 0x216936d3cd6e};
static const uint64_t base_y[5] = {0x6666666666658, 0x6666666666666, 0x6666666666666, 0x6666666666666, 0x666666666666};

/* ---- formulas --------------------------------------------------------------------------------------------- */

/* A sum of two that are barely above 2^255. */
SIMD_INLINE struct fe fe_sum(const struct fe *a, const struct fe *b) {
    struct fe r;
    FE_UNROLL for (int i = 0; i < 5; i++) r.d[i] = word_add(a->d[i], b->d[i]);
    digits_carry(r.d, 5);
    return r;
}

/* t is left as it was where nobody wants it: doubling does not look at it. */
SIMD_INLINE void double_any(struct extended *p, bool with_t) {
    struct fe a, b, c, e, f, g, h;
    fe_mul_times(&e, &p->x, &p->y, 2);
    fe_sqr(&a, &p->x);
    fe_sqr(&b, &p->y);
    fe_sqr_times(&c, &p->z, 2);
    g = fe_less(&b, &a);
    h = fe_sum(&a, &b);
    f = fe_less(&c, &g);
    fe_mul(&p->x, &e, &f);
    fe_mul(&p->y, &g, &h);
    fe_mul(&p->z, &f, &g);
    if (with_t) fe_mul(&p->t, &e, &h);
}

static SIMD_ALIGNED_FRAME void double_xyz(struct extended *p) { double_any(p, false); }

static SIMD_ALIGNED_FRAME void double_xyzt(struct extended *p) { double_any(p, true); }

SIMD_INLINE void add_any(struct extended *p, const struct row *q, __mmask8 minus, bool with_z, bool with_t) {
    struct fe a, b, c, d, e, f, g, h, sum = q->sum, difference = q->difference;
    fe_blend(&sum, minus, &q->difference);
    fe_blend(&difference, minus, &q->sum);
    a = fe_less(&p->y, &p->x);
    b = fe_sum(&p->y, &p->x);
    fe_mul(&a, &a, &difference);
    fe_mul(&b, &b, &sum);
    fe_mul(&c, &p->t, &q->t);
    fe_turn(&c, minus);
    if (with_z)
        fe_mul(&d, &p->z, &q->z);
    else
        d = fe_sum(&p->z, &p->z);
    e = fe_less(&b, &a);
    f = fe_less(&d, &c);
    FE_UNROLL for (int i = 0; i < 5; i++) g.d[i] = word_add(d.d[i], c.d[i]);
    fe_settle(&g);
    h = fe_sum(&b, &a);
    fe_mul(&p->x, &e, &f);
    fe_mul(&p->y, &g, &h);
    fe_mul(&p->z, &f, &g);
    if (with_t) fe_mul(&p->t, &e, &h);
}

static SIMD_ALIGNED_FRAME void add_xyzt(struct extended *p, const struct row *q, __mmask8 minus) {
    add_any(p, q, minus, true, true);
}

static SIMD_ALIGNED_FRAME void add_xyz(struct extended *p, const struct row *q, __mmask8 minus) {
    add_any(p, q, minus, true, false);
}

static SIMD_ALIGNED_FRAME void add_base(struct extended *p, const struct row *q, __mmask8 minus) {
    add_any(p, q, minus, false, false);
}

SIMD_INLINE struct extended extended_of(const struct fe *x, const struct fe *y) {
    struct extended p = {*x, *y, fe_of(1), *x};
    fe_mul(&p.t, x, y);
    return p;
}

/* ---- rows ------------------------------------------------------------------------------------------------- */

/* All settled; x and y barely above 2^255. */
static void row_of(struct row *row, const struct extended *p) {
    const struct fe d = fe_const(twice_d);
    row->sum = fe_sum(&p->y, &p->x);
    row->difference = fe_less(&p->y, &p->x);
    fe_mul(&row->t, &p->t, &d);
    row->z = fe_sum(&p->z, &p->z);
}

/* A row of each lane, `apart` bytes from the next lane's. */
static void row_write(uint8_t *to, size_t apart, struct row row) {
    word w[16];
    fe_normal(&row.sum);
    fe_normal(&row.difference);
    fe_normal(&row.t);
    fe_normal(&row.z);
    words_from_digits(w, row.sum.d);
    words_from_digits(w + 4, row.difference.d);
    words_from_digits(w + 8, row.t.d);
    words_from_digits(w + 12, row.z.d);
    transpose(w);
    transpose(w + 8);
    for (size_t i = 0; i < ED_LANES; i++) {
        _mm512_store_si512(to + apart * i, w[i]);
        _mm512_store_si512(to + apart * i + 64, w[8 + i]);
    }
}

/* Each lane's row, of 128 bytes, as factors. */
SIMD_INLINE void row_read(struct row *row, const void *rows, word number) {
    uint64_t at[ED_LANES];
    word w[16];
    _mm512_storeu_si512(at, _mm512_slli_epi64(number, 7));
    for (int i = 0; i < ED_LANES; i++) {
        w[i] = _mm512_load_si512((const uint8_t *)rows + at[i]);
        w[8 + i] = _mm512_load_si512((const uint8_t *)rows + at[i] + 64);
    }
    transpose(w);
    transpose(w + 8);
    factor_from_words(row->sum.d, w);
    factor_from_words(row->difference.d, w + 4);
    factor_from_words(row->t.d, w + 8);
    factor_from_words(row->z.d, w + 12);
}

/* 0 .. 16 times the point. */
static void rows_make(struct rows *rows, const struct fe *x, const struct fe *y) {
    const struct fe zero = fe_of(0), one = fe_of(1);
    struct extended p = extended_of(&zero, &one);
    struct row row, first;
    row_of(&row, &p);
    row_write((uint8_t *)rows->at[0], 128, row);
    p = extended_of(x, y);
    row_of(&first, &p);
    for (int i = 1; i < P_ROWS; i++) {
        row_of(&row, &p);
        row_write((uint8_t *)rows->at[i], 128, row);
        add_xyzt(&p, &first, 0);
    }
}

/* ---- rows of the base point --------------------------------------------------------------------------------- */

enum { STEPS = B_ROWS / ED_LANES, TOGETHER = 16 };

/* Each lane's own multiple of the base point, below 2^bits. */
static void base_times(struct extended *p, word multiple, int bits, const struct row *base) {
    const struct fe zero = fe_of(0), one = fe_of(1);
    *p = extended_of(&zero, &one);
    for (int bit = bits - 1; bit >= 0; bit--) {
        double_xyzt(p);
        struct extended more = *p;
        add_xyzt(&more, base, 0);
        const __mmask8 lanes = _mm512_test_epi64_mask(multiple, word_all(UINT64_C(1) << bit));
        fe_blend(&p->x, lanes, &more.x);
        fe_blend(&p->y, lanes, &more.y);
        fe_blend(&p->z, lanes, &more.z);
        fe_blend(&p->t, lanes, &more.t);
    }
}

static void base_write(uint64_t (*rows)[ROW_WORDS], const struct extended *p, const struct fe *inverse) {
    struct fe x, y;
    struct row row;
    fe_mul(&x, &p->x, inverse);
    fe_mul(&y, &p->y, inverse);
    const struct extended affine = extended_of(&x, &y);
    row_of(&row, &affine);
    row_write((uint8_t *)rows, sizeof *rows * STEPS, row);
}

/* Each lane walks 64 of the 512 odd multiples, two B at a step; the inverses for sixteen steps are one inversion. */
static void base_rows_make(void) {
    const struct fe x = fe_const(base_x), y = fe_const(base_y);
    struct extended p = extended_of(&x, &y), walk[TOGETHER];
    struct row base, two;
    struct fe z[TOGETHER], spare[TOGETHER];
    row_of(&base, &p);
    double_xyzt(&p);
    row_of(&two, &p);
    const word lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    base_times(&p, word_add(_mm512_slli_epi64(lane, 7), word_all(1)), B_BITS, &base);
    for (int step = 0; step < STEPS; step += TOGETHER) {
        for (int i = 0; i < TOGETHER; i++) {
            walk[i] = p, z[i] = p.z;
            add_xyzt(&p, &two, 0);
        }
        simd_ed25519_inverse(z, spare, TOGETHER);
        for (int i = 0; i < TOGETHER; i++) base_write(base_rows + step + i, &walk[i], &z[i]);
    }
}

void simd_ed25519_rows_make(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, base_rows_make);
}

/* ---- s B + k P ------------------------------------------------------------------------------------------------ */

SIMD_INLINE __mmask8 p_row(struct row *row, const struct rows *rows, const word *words, int bit) {
    const word lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), sixteen = word_all(16);
    const word value = _mm512_and_si512(window(words, bit, P_BITS), word_all(31));
    const word number = _mm512_abs_epi64(word_sub(value, sixteen));
    row_read(row, rows->at, word_add(_mm512_slli_epi64(number, 3), lane));
    return _mm512_cmplt_epu64_mask(value, sixteen);
}

void simd_ed25519_combine(struct extended *out, const struct ed_windows *windows, const struct fe *x,
                          const struct fe *y) {
    const struct fe zero = fe_of(0), one = fe_of(1);
    struct rows rows;
    struct row row;
    rows_make(&rows, x, y);
    *out = extended_of(&zero, &one);
    for (int bit = TOP; bit >= 0; bit -= P_BITS) {
        if (bit < TOP) {
            for (int i = 1; i < P_BITS; i++) double_xyz(out);
            double_xyzt(out);
        }
        __mmask8 minus = p_row(&row, &rows, windows->k, bit);
        if (bit % B_BITS != 0) {
            add_xyz(out, &row, minus);
        } else {
            add_xyzt(out, &row, minus);
            const word number = odd_digit(windows->s, bit, B_BITS, &minus);
            row_read(&row, base_rows, number);
            add_base(out, &row, minus);
        }
    }
}
