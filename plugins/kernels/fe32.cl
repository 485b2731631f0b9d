/*
 * fe32.cl: numbers of 256 bits in eight limbs, and arithmetic modulo the prime of a curve.
 *
 *   FE_BITS   256 for secp256k1, 255 for ed25519: a macro of the compiler's options
 *
 * A number modulo the prime is any of its representatives below 2^256, and fe_normal gives the smallest. Products are calls:
 * inlined, those of a curve would fill the cache for instructions many times over, and compilers take minutes for them. A
 * vector of eight is passed in registers, as an array would not be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define FE_ONES 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff
#if FE_BITS == 256
#define FE_PRIME ((fe)(0xfffffc2f, 0xfffffffe, FE_ONES, 0xffffffff))
enum { FE_C = 977, FE_UP = 1 }; /* 2^256 is FE_C + FE_UP 2^32 */
#else
#define FE_PRIME ((fe)(0xffffffed, 0xffffffff, FE_ONES, 0x7fffffff))
enum { FE_C = 38, FE_UP = 0 };
#endif

typedef uint8 fe;
union limbs {
    fe all;
    uint at[8];
};

#define FE_CALL static __attribute__((noinline))

/* ---- limbs ------------------------------------------------------------------------------------------------------- */

/* a b + c + *carry: the low limb; the high one is the new carry. Never more than two limbs. */
SVMX_INLINE uint limb_mad(uint a, uint b, uint c, uint *carry) {
    const ulong sum = (ulong)a * b + c + *carry;
    *carry = (uint)(sum >> 32);
    return (uint)sum;
}

/* The low limb of (high, low) moved right, by less than 32 bits. As one number: oclgrind has none of the funnel shifts that
 * compilers make of two shifted limbs. */
SVMX_INLINE uint limb_shift(uint high, uint low, uint right) { return (uint)(((ulong)high << 32 | low) >> right); }

/* r = a + b + carry; returns the carry, 0 or 1. r may be a or b, here and below. */
SVMX_INLINE uint limbs_add(uint *r, const uint *a, const uint *b, uint carry) {
    ulong sum = carry;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        sum += (ulong)a[i] + b[i];
        r[i] = (uint)sum;
        sum >>= 32;
    }
    return (uint)sum;
}

/* r = a - b; returns the borrow. */
SVMX_INLINE uint limbs_sub(uint *r, const uint *a, const uint *b) {
    ulong borrow = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const ulong difference = (ulong)a[i] - b[i] - borrow;
        r[i] = (uint)difference;
        borrow = difference >> 63;
    }
    return (uint)borrow;
}

SVMX_INLINE bool limbs_below(fe a, fe limit) {
    union limbs x, y;
    x.all = a;
    y.all = limit;
    return limbs_sub(x.at, x.at, y.at) != 0;
}

SVMX_INLINE bool limbs_zero(fe a) {
    const uint4 any = a.lo | a.hi;
    return (any.x | any.y | any.z | any.w) == 0;
}

/* t = a b, row by row. */
SVMX_INLINE void product(uint *t, const uint *a, const uint *b) {
#pragma unroll
    for (int j = 0; j < 8; j++) t[j] = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        uint carry = 0;
#pragma unroll
        for (int j = 0; j < 8; j++) t[i + j] = limb_mad(a[i], b[j], t[i + j], &carry);
        t[i + 8] = carry;
    }
}

/* t = a a: products of two different limbs come twice. */
SVMX_INLINE void square(uint *t, const uint *a) {
#pragma unroll
    for (int j = 0; j < 16; j++) t[j] = 0;
#pragma unroll
    for (int i = 0; i < 7; i++) {
        uint carry = 0;
#pragma unroll
        for (int j = i + 1; j < 8; j++) t[i + j] = limb_mad(a[i], a[j], t[i + j], &carry);
        t[i + 8] = carry;
    }
#pragma unroll
    for (int j = 15; j > 0; j--) t[j] = limb_shift(t[j], t[j - 1], 31);
    ulong carry = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const ulong own = (ulong)a[i] * a[i];
        carry += (ulong)t[2 * i] + (uint)own;
        t[2 * i] = (uint)carry;
        carry = (carry >> 32) + t[2 * i + 1] + (own >> 32);
        t[2 * i + 1] = (uint)carry;
        carry >>= 32;
    }
}

/* ---- modulo the prime --------------------------------------------------------------------------------------------- */

/* r + top 2^256. After a carry out of that sum the number is small, and what the carry stands for stays in three limbs. */
SVMX_INLINE fe fe_fold_top(union limbs r, ulong top) {
    ulong sum = r.at[0] + top * FE_C;
    r.at[0] = (uint)sum;
    sum = (sum >> 32) + r.at[1] + FE_UP * top;
    r.at[1] = (uint)sum;
#pragma unroll
    for (int i = 2; i < 8; i++) {
        sum = (sum >> 32) + r.at[i];
        r.at[i] = (uint)sum;
    }
    const uint over = (uint)(sum >> 32);
    sum = (ulong)r.at[0] + over * FE_C;
    r.at[0] = (uint)sum;
    sum = (sum >> 32) + r.at[1] + FE_UP * over;
    r.at[1] = (uint)sum;
    r.at[2] += (uint)(sum >> 32);
    return r.all;
}

SVMX_INLINE fe fe_fold(const uint *t) {
    union limbs r;
    ulong sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        sum += (ulong)t[8 + i] * FE_C + t[i];
        if (i > 0) sum += FE_UP * t[7 + i];
        r.at[i] = (uint)sum;
        sum >>= 32;
    }
    return fe_fold_top(r, sum + FE_UP * (ulong)t[15]);
}

FE_CALL fe fe_mul(fe a, fe b) {
    union limbs x, y;
    uint t[16];
    x.all = a;
    y.all = b;
    product(t, x.at, y.at);
    return fe_fold(t);
}

FE_CALL fe fe_sqr(fe a) {
    union limbs x;
    uint t[16];
    x.all = a;
    square(t, x.at);
    return fe_fold(t);
}

SVMX_INLINE fe fe_add(fe a, fe b) {
    union limbs x, y;
    x.all = a;
    y.all = b;
    const uint carry = limbs_add(x.at, x.at, y.at, 0);
    return fe_fold_top(x, carry);
}

/* Each borrow is 2^256 too much; after a second one the number is close to 2^256, and what is taken stays in two limbs. */
SVMX_INLINE fe fe_sub(fe a, fe b) {
    union limbs x, y;
    x.all = a;
    y.all = b;
    uint borrow = limbs_sub(x.at, x.at, y.at);
    y.all = (fe)(borrow * FE_C, FE_UP * borrow, 0, 0, 0, 0, 0, 0);
    borrow = limbs_sub(x.at, x.at, y.at);
    const ulong low = ((ulong)x.at[1] << 32 | x.at[0]) - (borrow * (ulong)FE_C + ((ulong)(FE_UP * borrow) << 32));
    x.at[0] = (uint)low;
    x.at[1] = (uint)(low >> 32);
    return x.all;
}

SVMX_INLINE fe fe_of(uint small) { return (fe)(small, 0, 0, 0, 0, 0, 0, 0); }

SVMX_INLINE fe fe_minus(fe a) { return fe_sub(fe_of(0), a); }

/* The representative below the prime. */
SVMX_INLINE fe fe_normal(fe a) {
    union limbs x, less, prime;
    prime.all = FE_PRIME;
#pragma unroll
    for (int again = 0; again < (FE_UP ? 1 : 2); again++) { /* 2^256 is more than two primes of 255 bits */
        x.all = a;
        if (!limbs_sub(less.at, x.at, prime.at)) a = less.all;
    }
    return a;
}

SVMX_INLINE bool fe_is_zero(fe a) { return limbs_zero(fe_normal(a)); }

SVMX_INLINE bool fe_equal(fe a, fe b) { return fe_is_zero(fe_sub(a, b)); }

/* a / 2: of an odd one and the prime the sum is even. */
SVMX_INLINE fe fe_half(fe a) {
    union limbs x, prime;
    x.all = a;
    prime.all = FE_PRIME & (fe)(0 - (a.s0 & 1));
    const uint carry = limbs_add(x.at, x.at, prime.at, 0);
#pragma unroll
    for (int i = 0; i < 7; i++) x.at[i] = limb_shift(x.at[i + 1], x.at[i], 1);
    x.at[7] = limb_shift(carry, x.at[7], 1);
    return x.all;
}

/* a^(2^times) b */
FE_CALL fe fe_climb(fe a, uint times, fe b) {
    for (uint i = 0; i < times; i++) a = fe_sqr(a);
    return fe_mul(a, b);
}

/* ---- bytes and windows -------------------------------------------------------------------------------------------- */

/* Numbers in memory, at multiples of four bytes. */
SVMX_INLINE fe fe_load(__global const uchar *at) {
    union limbs r;
#pragma unroll
    for (int i = 0; i < 8; i++) r.at[i] = ((__global const uint *)at)[i];
    return r.all;
}

SVMX_INLINE uint swapped(uint a) { return as_uint(as_uchar4(a).wzyx); }

SVMX_INLINE fe fe_load_big_endian(__global const uchar *at) {
    union limbs r;
#pragma unroll
    for (int i = 0; i < 8; i++) r.at[7 - i] = swapped(((__global const uint *)at)[i]);
    return r.all;
}

/* `bits` bits from `bit` on; there is a word more than they need. */
SVMX_INLINE uint window(const uint *words, uint bit, uint bits) {
    const uint at = bit / 32;
    return limb_shift(words[at + 1], words[at], bit % 32) & ((1u << bits) - 1);
}

/* The digit of a window of an odd number is twice its value less 2^bits - 1, odd itself. Gives the row of its size, and
 * whether it is negative. */
SVMX_INLINE uint odd_digit(const uint *words, uint bit, uint bits, bool *minus) {
    const uint value = window(words, bit, bits), sign = 1u << (bits - 1);
    *minus = !(value & sign);
    return (*minus ? ~value : value) & (sign - 1);
}
