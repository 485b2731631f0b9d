/*
 * secp256k1.cl: the curve y^2 = x^3 + 7, one signature a work-item: points, and u1 G + u2 P. Behind fe32.cl, scalar32.cl and
 * secp256k1_rows.cl; for ecrecover.cl and ecdsa.cl.
 *
 * One pass from the highest bit to the lowest, doubling in between, as in plugins/simd/secp256k1_point_ifma.c: the two halves of
 * u2 are 26 windows of 5 bits each and look up odd multiples of P; u1 is 44 windows of 6 bits and looks up multiples of G and of
 * 2^132 G. No digit is zero, so work-items that run in step have no reason to part.
 *
 * Nobody computes anything again here: what the general formulas cannot add (a point and itself, or its opposite) is found
 * where it happens. z is 0 for infinity, and then exactly 0: a product with such a z is 0 again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
/* All numbers that follow from the curve's constant and from n, the order of G. A test defines others before, and computes in
 * groups of 7, 13 and 199 points over the same field: tests/unit/test_opencl_small_group.c. */
#ifndef CURVE_B
#define CURVE_B        7
#define ORDER_MULTIPLE ORDER /* what u1 is subtracted from in recovery */
#define R_LIMIT        ORDER
#define LOW_S_LIMIT                                                                                                    \
    ((fe)(0x681b20a1, 0xdfe92f46, 0x57a4501d, 0x5d576e73, 0xffffffff, 0xffffffff, 0xffffffff, 0x7fffffff))
#define PRIME_LESS_ORDER ((fe)(0x2fc9baee, 0x402da172, 0x50b75fc4, 0x45512319, 1, 0, 0, 0))
/* A short basis, (A1, -B1) and (A2, A1), of which A2 alone is even; 2^384 A1 / n and 2^384 B1 / n, rounded. */
#define SPLIT_A1   0x9284eb15, 0xe86c90e4, 0xa7d46bcd, 0x3086d221, 0
#define SPLIT_B1   0x0abfe4c3, 0x6f547fa9, 0x010e8828, 0xe4437ed6, 0
#define SPLIT_A2   0x9d44cfd8, 0x57c1108d, 0xa8e2f3f6, 0x14ca50f7, 1
#define SPLIT_G1   0x45dbb031, 0xe893209a, 0x71e8ca7f, 0x3daa8a14, 0x9284eb15, 0xe86c90e4, 0xa7d46bcd, 0x3086d221
#define SPLIT_G2   0x8ac47f71, 0x1571b4ae, 0x9df506c6, 0x221208ac, 0x0abfe4c4, 0x6f547fa9, 0x010e8828, 0xe4437ed6
#define SPLIT_LIMB 12 /* 384 bits */
/* Bits of a half, which windows of P fill; of a window of P, and of G. */
#define HALF_BITS 130
#define P_BITS    5
#define G_BITS    6
#endif

/* 132 bits are whole windows of G, and the highest of them begins above that of P or with it. */
enum { P_ROWS = 1 << (P_BITS - 1), G_ROWS = 1 << (G_BITS - 1), G_HALF = 132, TOP = G_HALF - G_BITS };

struct affine {
    fe x, y;
};

/* x / z^2, y / z^3 */
struct jacobian {
    fe x, y, z;
};

/* ---- field -------------------------------------------------------------------------------------------------------- */

SVMX_INLINE fe fe_curve(fe x) { return fe_add(fe_mul(fe_sqr(x), x), fe_of(CURVE_B)); }

/* Powers: see plugins/simd/secp256k1_field_ifma.c. This is a^(223 ones, 0, 22 ones); `ones2` is a^3. */
FE_CALL fe power_begin(fe a, fe ones2) {
    const fe ones3 = fe_climb(ones2, 1, a);
    fe r = fe_climb(ones3, 3, ones3);
    r = fe_climb(r, 3, ones3);
    r = fe_climb(r, 2, ones2);
    const fe ones22 = fe_climb(r, 11, r), ones44 = fe_climb(ones22, 22, ones22), ones88 = fe_climb(ones44, 44, ones44);
    r = fe_climb(ones88, 88, ones88);
    r = fe_climb(r, 44, ones44);
    r = fe_climb(r, 3, ones3);
    return fe_climb(r, 23, ones22);
}

/* A root of a, or of -a. */
SVMX_INLINE fe fe_root(fe a) {
    const fe ones2 = fe_climb(a, 1, a), r = fe_climb(power_begin(a, ones2), 6, ones2);
    return fe_sqr(fe_sqr(r));
}

SVMX_INLINE fe fe_inverse(fe a) {
    const fe ones2 = fe_climb(a, 1, a), r = fe_climb(power_begin(a, ones2), 5, a);
    return fe_climb(fe_climb(r, 3, ones2), 2, a);
}

/* ---- windows ------------------------------------------------------------------------------------------------------ */

/* Odd numbers as bits of weight 1 and -1; a word more than they need. */
struct windows {
    uint low[10], first[6], second[6];
};

/* (k + 2^264 - 1) / 2, where k is u1 or u1 + n: an odd one */
SVMX_INLINE void whole_windows(uint *w, fe u1) {
    union limbs k, n;
    k.all = u1;
    n.all = ORDER & (fe)((u1.s0 & 1) - 1);
    const uint top = limbs_add(k.at, k.at, n.at, 0) + 256;
#pragma unroll
    for (int i = 0; i < 7; i++) w[i] = limb_shift(k.at[i + 1], k.at[i], 1);
    w[7] = limb_shift(top, k.at[7], 1);
    w[8] = top >> 1;
    w[9] = 0;
}

enum { HALF = 5 }; /* limbs of half a number, signed */

/* (k + 2^130 - 1) / 2; k is odd */
SVMX_INLINE void half_windows(uint *w, const uint *k) {
    const uint top = k[4] + (1 << (HALF_BITS - 128));
#pragma unroll
    for (int i = 0; i < 3; i++) w[i] = limb_shift(k[i + 1], k[i], 1);
    w[3] = limb_shift(top, k[3], 1);
    w[4] = top >> 1;
    w[5] = 0;
}

/* t += a b, or t -= a b, of which nothing above HALF limbs is wanted; a has four. */
SVMX_INLINE void half_product(uint *t, const uint *a, const uint *b, bool minus) {
    uint s[HALF] = {0, 0, 0, 0, 0};
    ulong sum = minus;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint carry = 0;
#pragma unroll
        for (int j = 0; i + j < HALF; j++) s[i + j] = limb_mad(a[i], b[j], s[i + j], &carry);
    }
#pragma unroll
    for (int i = 0; i < HALF; i++) {
        sum += (ulong)t[i] + (minus ? ~s[i] : s[i]);
        t[i] = (uint)sum;
        sum >>= 32;
    }
}

/* u2 = first + second lambda: see plugins/simd/secp256k1_scalar_ifma.c, also for these numbers. */
SVMX_INLINE void split(struct windows *out, fe u2) {
    const uint A1[HALF] = {SPLIT_A1}, B1[HALF] = {SPLIT_B1}, A2[HALF] = {SPLIT_A2};
    const uint G1[8] = {SPLIT_G1}, G2[8] = {SPLIT_G2};
    union limbs k;
    uint t1[16], t2[16], second[HALF] = {0, 0, 0, 0, 0};
    k.all = u2;
    product(t1, k.at, G1);
    product(t2, k.at, G2);
    half_product(k.at, t1 + SPLIT_LIMB, A1, true);
    half_product(k.at, t2 + SPLIT_LIMB, A2, true);
    half_product(second, t1 + SPLIT_LIMB, B1, false);
    half_product(second, t2 + SPLIT_LIMB, A1, true);
    const uint by_first[4] = {1 - (k.at[0] & 1), 0, 0, 0};
    half_product(k.at, by_first, A1, true);
    half_product(second, by_first, B1, false);
    const uint by_second[4] = {1 - (second[0] & 1), 0, 0, 0};
    half_product(k.at, by_second, A2, true);
    half_product(second, by_second, A1, true);
    half_windows(out->first, k.at);
    half_windows(out->second, second);
}

/* ---- points ------------------------------------------------------------------------------------------------------- */

/* Calls, with points in memory: what a formula does not need just now need not lie in a register. */

FE_CALL void point_double(struct jacobian *p) {
    p->z = fe_mul(p->y, p->z);
    const fe s = fe_sqr(p->y), t = fe_mul(p->x, s);
    fe l = fe_sqr(p->x);
    l = fe_half(fe_add(fe_add(l, l), l));
    const fe x = fe_sub(fe_sub(fe_sqr(l), t), t);
    p->x = x;
    p->y = fe_sub(fe_mul(l, fe_sub(t, x)), fe_sqr(s));
}

/* p += q, whatever they are; q is not infinity. */
FE_CALL void point_add(struct jacobian *p, const struct affine *q) {
    if (limbs_zero(p->z)) {
        p->x = q->x;
        p->y = q->y;
        p->z = fe_of(1);
        return;
    }
    const fe zz = fe_sqr(p->z);
    const fe h = fe_sub(fe_mul(q->x, zz), p->x), r = fe_sub(fe_mul(fe_mul(q->y, p->z), zz), p->y);
    if (fe_is_zero(h)) {
        if (fe_is_zero(r))
            point_double(p);
        else
            p->z = fe_of(0);
        return;
    }
    p->z = fe_mul(p->z, h);
    const fe hh = fe_sqr(h), v = fe_mul(p->x, hh), hhh = fe_mul(hh, h);
    p->y = fe_mul(p->y, hhh);
    const fe x = fe_sub(fe_sub(fe_sub(fe_sqr(r), hhh), v), v);
    p->x = x;
    p->y = fe_sub(fe_mul(r, fe_sub(v, x)), p->y);
}

/* sum = d + p, and d, with the same new z: that which both had, times h. */
FE_CALL void add_same_z(struct affine *sum, struct affine *d, const struct affine *p, fe *h) {
    const fe dx = fe_sub(d->x, p->x), c = fe_sqr(dx), w1 = fe_mul(d->x, c), w2 = fe_mul(p->x, c);
    const fe dy = fe_sub(d->y, p->y), x = fe_sub(fe_sub(fe_sqr(dy), w1), w2);
    *h = dx;
    d->x = w1;
    d->y = fe_mul(d->y, fe_sub(w1, w2));
    sum->x = x;
    sum->y = fe_sub(fe_mul(dy, fe_sub(w1, x)), d->y);
}

/* d = 2 p; and p once more, with the z of that, which is y. */
FE_CALL void double_same_z(struct affine *d, struct affine *p) {
    const fe s = fe_sqr(p->y);
    fe l = fe_sqr(p->x);
    l = fe_half(fe_add(fe_add(l, l), l));
    p->x = fe_mul(p->x, s);
    p->y = fe_sqr(s);
    d->x = fe_sub(fe_sub(fe_sqr(l), p->x), p->x);
    d->y = fe_sub(fe_mul(l, fe_sub(p->x, d->x)), p->y);
}

/* The multiples 1, 3, .. 31 of rows[0], all with the same z, which is returned and left out of them: without it they are affine
 * points of another curve that differs in its constant only, and no formula here uses that. */
FE_CALL fe rows_make(struct affine *rows) {
    struct affine d;
    fe h[P_ROWS];
    h[0] = rows[0].y;
    double_same_z(&d, &rows[0]);
    for (uint i = 1; i < P_ROWS; i++) add_same_z(&rows[i], &d, &rows[i - 1], &h[i]);
    fe z = h[P_ROWS - 1];
    for (uint i = P_ROWS - 1; i-- > 0;) {
        const fe zz = fe_sqr(z);
        rows[i].x = fe_mul(rows[i].x, zz);
        rows[i].y = fe_mul(rows[i].y, fe_mul(zz, z));
        z = fe_mul(z, h[i]);
    }
    return z;
}

/* ---- u1 G + u2 P -------------------------------------------------------------------------------------------------- */

/* The rows are looked up by a variable, so that they lie in memory; what else is not needed in every step lies behind them:
 * z^2 and z^3 of the rows. */
enum { Z_POWERS = P_ROWS, PASS_ROWS };

struct pass {
    struct windows windows;
    struct affine rows[PASS_ROWS];
};

SVMX_INLINE void row_of_p(struct affine *q, const struct pass *pass, bool lambda, uint bit) {
    const fe beta = (fe)(0x719501ee, 0xc1396c28, 0x12f58995, 0x9cf04975, 0xac3434e9, 0x6e64479e, 0x657c0710, 0x7ae96a2b);
    bool minus;
    *q = pass->rows[odd_digit(lambda ? pass->windows.second : pass->windows.first, bit, P_BITS, &minus)];
    if (lambda) q->x = fe_mul(q->x, beta);
    if (minus) q->y = fe_minus(q->y);
}

SVMX_INLINE void row_of_g(struct affine *q, const struct pass *pass, bool upper, uint bit) {
    bool minus;
    const uint row = odd_digit(pass->windows.low, upper ? bit + G_HALF : bit, G_BITS, &minus) + (upper ? G_ROWS : 0);
    union limbs x, y;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        x.at[i] = secp256k1_rows[row][0][i];
        y.at[i] = secp256k1_rows[row][1][i];
    }
    q->x = fe_mul(x.all, pass->rows[Z_POWERS].x);
    q->y = fe_mul(minus ? fe_minus(y.all) : y.all, pass->rows[Z_POWERS].y);
}

/* Which of four: P, lambda P, G, 2^132 G. Whether they are added follows from the bit alone. */
SVMX_INLINE bool row_of(struct affine *q, const struct pass *pass, uint which, uint bit) {
    if (bit % (which < 2 ? P_BITS : G_BITS) != 0) return false;
    if (which < 2)
        row_of_p(q, pass, which & 1, bit);
    else
        row_of_g(q, pass, which & 1, bit);
    return true;
}

/* out = u1 G + u2 P */
FE_CALL void combine(struct jacobian *out, fe u1, fe u2, const struct affine *p) {
    struct pass pass;
    struct affine q;
    whole_windows(pass.windows.low, u1);
    split(&pass.windows, u2);
    pass.rows[0] = *p;
    const fe z = rows_make(pass.rows);
    pass.rows[Z_POWERS].x = fe_sqr(z);
    pass.rows[Z_POWERS].y = fe_mul(pass.rows[Z_POWERS].x, z);
    out->x = out->y = fe_of(1);
    out->z = fe_of(0);
    for (int bit = TOP; bit >= 0; bit--) {
        point_double(out);
        for (uint which = 0; which < 4; which++)
            if (row_of(&q, &pass, which, (uint)bit)) point_add(out, &q);
    }
    out->z = fe_mul(out->z, z);
}
