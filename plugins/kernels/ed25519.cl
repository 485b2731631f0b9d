/*
 * ed25519.cl: ed25519_verify, one signature a work-item. Behind fe32.cl, scalar32.cl, sha512.cl and ed25519_rows.cl.
 *
 * Slots: valid, key, signature, message, offsets. A unit is a signature. What is accepted is what plugins/simd/ed25519_ifma.c
 * accepts: the set of libsodium up to 1.0.18.
 *
 * S B - k key is one pass from the highest bit to the lowest: k is 64 windows of 4 bits, digits -8 .. 7, and looks up 0 .. 8
 * times the key; S is 43 windows of 6 bits, odd digits, and looks up odd multiples of B. The formulas add any two points.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
enum { VALID, KEY, SIGNATURE, MESSAGE, OFFSETS, SLOTS };
enum { P_BITS = 4, P_ROWS = 9, B_BITS = 6, TOP = 252 };

#define TWICE_D ((fe)(0x26b2f159, 0xebd69b94, 0x8283b156, 0x00e0149a, 0xeef3d130, 0x198e80f2, 0x56dffce7, 0x2406d9dc))

struct affine {
    fe x, y;
};

/* x / z, y / z, and t = x y / z */
struct extended {
    fe x, y, z, t;
};

/* What adding wants of a point: y + x, y - x, 2 d x y / z, and 2 z. To subtract, the first two change places and the third
 * its sign. */
struct row {
    fe sum, difference, t, z;
};

/* ---- powers --------------------------------------------------------------------------------------------------------- */

/* a^(250 ones), and a^11: see plugins/simd/ed25519_field_ifma.c. */
FE_CALL fe power_begin(fe a, fe *a11) {
    const fe a9 = fe_climb(a, 3, a);
    *a11 = fe_climb(a, 1, a9);
    fe r = fe_climb(*a11, 1, a9);
    const fe ones10 = fe_climb(r, 5, r);
    r = fe_climb(ones10, 10, ones10);
    r = fe_climb(r, 20, r);
    const fe ones50 = fe_climb(r, 10, ones10);
    r = fe_climb(ones50, 50, ones50);
    r = fe_climb(r, 100, r);
    return fe_climb(r, 50, ones50);
}

/* a^(p - 2) */
SVMX_INLINE fe fe_inverse(fe a) {
    fe a11;
    const fe r = power_begin(a, &a11);
    return fe_climb(r, 5, a11);
}

/* a^((p - 5) / 8) */
SVMX_INLINE fe fe_power(fe a) {
    fe a11;
    return fe_climb(power_begin(a, &a11), 2, a);
}

/* ---- points --------------------------------------------------------------------------------------------------------- */

/* t only where it is wanted: doubling does not look at it. */
FE_CALL void point_double(struct extended *p, bool with_t) {
    const fe xy = fe_mul(p->x, p->y), e = fe_add(xy, xy), a = fe_sqr(p->x), b = fe_sqr(p->y), zz = fe_sqr(p->z);
    const fe g = fe_sub(b, a), h = fe_add(a, b), f = fe_sub(fe_add(zz, zz), g);
    p->x = fe_mul(e, f);
    p->y = fe_mul(g, h);
    p->z = fe_mul(f, g);
    if (with_t) p->t = fe_mul(e, h);
}

FE_CALL void point_add(struct extended *p, const struct row *q, bool minus) {
    const fe a = fe_mul(fe_sub(p->y, p->x), minus ? q->sum : q->difference);
    const fe b = fe_mul(fe_add(p->y, p->x), minus ? q->difference : q->sum);
    const fe e = fe_sub(b, a), h = fe_add(b, a);
    const fe t = fe_mul(p->t, q->t), c = minus ? fe_minus(t) : t, d = fe_mul(p->z, q->z);
    const fe f = fe_sub(d, c), g = fe_add(d, c);
    p->x = fe_mul(e, f);
    p->y = fe_mul(g, h);
    p->z = fe_mul(f, g);
    p->t = fe_mul(e, h);
}

SVMX_INLINE void row_of(struct row *row, const struct extended *p) {
    row->sum = fe_add(p->y, p->x);
    row->difference = fe_sub(p->y, p->x);
    row->t = fe_mul(p->t, TWICE_D);
    row->z = fe_add(p->z, p->z);
}

/* 0 .. 8 times a point. */
FE_CALL void rows_make(struct row *rows, const struct affine *of) {
    struct extended p = {of->x, of->y, fe_of(1), fe_mul(of->x, of->y)};
    row_of(&rows[1], &p);
    p.x = p.t = fe_of(0);
    p.y = fe_of(1);
    for (uint i = 0; i < P_ROWS; i++) {
        row_of(&rows[i], &p);
        point_add(&p, &rows[1], false);
    }
}

/* ---- windows -------------------------------------------------------------------------------------------------------- */

/* A word more than they need. */
struct windows {
    uint s[10]; /* odd digits */
    uint k[9];  /* the digit is the value less 8 */
};

/* The rest of low + high 2^256 modulo L, and no other number: the key may have an order that is not L. */
FE_CALL fe hash_reduce(fe low, fe high) {
    return scalar_add(scalar_mul(low, ORDER_ONE), scalar_mul(high, ORDER_SQUARE));
}

/* (s + 2^258 - 1) / 2, where s is odd: it may be s + L instead, since L B is neutral. */
SVMX_INLINE void windows_make(struct windows *out, fe s, fe k) {
    union limbs a, b;
    a.all = s;
    b.all = ORDER & (fe)((s.s0 & 1) - 1);
    (void)limbs_add(a.at, a.at, b.at, 0);
#pragma unroll
    for (int i = 0; i < 7; i++) out->s[i] = limb_shift(a.at[i + 1], a.at[i], 1);
    out->s[7] = a.at[7] >> 1;
    out->s[8] = 2;
    out->s[9] = 0;
    a.all = k;
    b.all = (fe)(0x88888888);
    (void)limbs_add(out->k, a.at, b.at, 0);
    out->k[8] = 0;
}

/* ---- s B + k P ------------------------------------------------------------------------------------------------------ */

SVMX_INLINE bool row_of_base(struct row *q, const uint *words, uint bit) {
    bool minus;
    const uint row = odd_digit(words, bit, B_BITS, &minus);
    union limbs sum, difference, t;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        sum.at[i] = ed25519_rows[row][0][i];
        difference.at[i] = ed25519_rows[row][1][i];
        t.at[i] = ed25519_rows[row][2][i];
    }
    q->sum = sum.all;
    q->difference = difference.all;
    q->t = t.all;
    q->z = fe_of(2);
    return minus;
}

/* out = s B + k p */
FE_CALL void combine(struct extended *out, fe s, fe k, const struct affine *p) {
    struct windows windows;
    struct row rows[P_ROWS], base;
    windows_make(&windows, s, k);
    rows_make(rows, p);
    out->x = out->t = fe_of(0);
    out->y = out->z = fe_of(1);
    for (int bit = TOP; bit >= 0; bit--) {
        point_double(out, bit % P_BITS == 0 || bit % B_BITS == 0);
        if (bit % P_BITS == 0) {
            const int digit = (int)window(windows.k, (uint)bit, P_BITS) - 8;
            point_add(out, &rows[abs(digit)], digit < 0);
        }
        if (bit % B_BITS == 0) {
            const bool minus = row_of_base(&base, windows.s, (uint)bit);
            point_add(out, &base, minus);
        }
    }
}

/* ---- signatures ------------------------------------------------------------------------------------------------------ */

/* y of all points whose order divides 8, and those of them that have a second encoding, at p and p + 1. */
SVMX_INLINE bool has_small_order(fe y) {
    const fe some = (fe)(0x8f95e826, 0xb027b2c2, 0x89f4c345, 0xf098eff2, 0x05acdfd5, 0x3933c6d3, 0x880238b1, 0x05fc536d);
    const fe other = (fe)(0x706a17c7, 0x4fd84d3d, 0x760b3cba, 0x0f67100d, 0xfa53202a, 0xc6cc392c, 0x77fdc74e, 0x7a03ac92);
    const fe prime = FE_PRIME, less = prime - fe_of(1), more = prime + fe_of(1); /* no limb carries */
    return limbs_zero(y) || limbs_zero(y ^ fe_of(1)) || limbs_zero(y ^ some) || limbs_zero(y ^ other) ||
           limbs_zero(y ^ less) || limbs_zero(y ^ prime) || limbs_zero(y ^ more);
}

/* The x whose sign is not the key's: the equation subtracts the key. False if there is none. */
FE_CALL bool minus_x(fe *x, fe y, uint odd) {
    const fe root = (fe)(0x4a0ea0b0, 0xc4ee1b27, 0xad2fe478, 0x2f431806, 0x3dfbd7a7, 0x2b4d0099, 0x4fc1df0b, 0x2b832480);
    const fe d = (fe)(0x135978a3, 0x75eb4dca, 0x4141d8ab, 0x00700a4d, 0x7779e898, 0x8cc74079, 0x2b6ffe73, 0x52036cee);
    const fe yy = fe_sqr(y), u = fe_sub(yy, fe_of(1)), v = fe_add(fe_mul(yy, d), fe_of(1));
    const fe v3 = fe_mul(fe_sqr(v), v), uv3 = fe_mul(u, v3);
    fe r = fe_mul(uv3, fe_power(fe_mul(uv3, fe_sqr(fe_sqr(v)))));
    const fe check = fe_mul(fe_sqr(r), v);
    if (!fe_equal(check, u)) {
        if (!fe_is_zero(fe_add(check, u))) return false;
        r = fe_mul(r, root);
    }
    r = fe_normal(r);
    *x = (r.s0 & 1) == odd ? fe_minus(r) : r;
    return true;
}

/* The encoding: y, and above it whether x is odd. */
FE_CALL bool is_encoded(const struct extended *p, fe r) {
    const fe inverse = fe_inverse(p->z), x = fe_normal(fe_mul(p->x, inverse));
    fe y = fe_normal(fe_mul(p->y, inverse));
    y.s7 |= x.s0 << 31;
    return limbs_zero(y ^ r);
}

/* By its bytes: S is below L, and R is no point of small order. */
FE_CALL bool signature_may_be(__global const uchar *signature) {
    fe r = fe_load(signature);
    r.s7 &= 0x7fffffff;
    return limbs_below(fe_load(signature + 32), ORDER) && !has_small_order(r);
}

/* The key's opposite. */
FE_CALL bool key_load(struct affine *minus, __global const uchar *key) {
    fe r = fe_load(key);
    const uint odd = r.s7 >> 31;
    r.s7 &= 0x7fffffff;
    minus->y = r;
    return limbs_below(r, FE_PRIME) && !has_small_order(r) && minus_x(&minus->x, r, odd);
}

FE_CALL bool verify(const struct stream *stream) {
    struct extended sum;
    struct affine key;
    fe low, high;
    if (!signature_may_be(stream->signature) || !key_load(&key, stream->key)) return false;
    sha512(&low, &high, stream);
    combine(&sum, fe_load(stream->signature + 32), hash_reduce(low, high), &key);
    return is_encoded(&sum, fe_load(stream->signature));
}

struct job {
    struct stream stream;
    __global uchar *valid;
};

/* In memory, and so no register of the kernel's outlives its one call. */
FE_CALL void job_do(const struct job *job) { *job->valid = verify(&job->stream); }

/* The grain is 1. */
SVMX_KERNEL(ed25519_verify, 64) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, SLOTS);
    ulong unit = get_global_id(0);
    if (unit >= units) return;
    const uint task = svmx_task_of(&t, unit);
    unit -= t.first_unit[task];
    __global const ulong *offsets = (__global const ulong *)(in + svmx_at(&t, task, OFFSETS)) + unit;
    struct job job;
    job.stream.signature = in + svmx_at(&t, task, SIGNATURE) + 64 * unit;
    job.stream.key = in + svmx_at(&t, task, KEY) + 32 * unit;
    job.stream.data = in + svmx_at(&t, task, MESSAGE) + offsets[0];
    job.stream.bytes = offsets[1] - offsets[0];
    job.valid = out + svmx_at(&t, task, VALID) + unit;
    job_do(&job);
}
