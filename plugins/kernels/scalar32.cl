/*
 * scalar32.cl: arithmetic modulo the order of a curve's base point, in eight limbs. Behind fe32.cl. R is 2^256. A test defines
 * ORDER_LOW and the rest before, and computes in a small group: tests/unit/test_opencl_small_group.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifdef ORDER_LOW
#elif FE_BITS == 256
#define ORDER_LOW 0xd0364141
#define ORDER_REST 0xbfd25e8c, 0xaf48a03b, 0xbaaedce6, 0xfffffffe, 0xffffffff, 0xffffffff, 0xffffffff
#define ORDER_MINUS_INVERSE 0x5588b13f /* modulo 2^32 */
#define ORDER_ONE ((fe)(0x2fc9bebf, 0x402da173, 0x50b75fc4, 0x45512319, 1, 0, 0, 0)) /* R */
#define ORDER_SQUARE                                                                                                   \
    ((fe)(0x67d7d140, 0x896cf214, 0x0e7cf878, 0x741496c2, 0x5bcd07c6, 0xe697f5e4, 0x81c69bc5, 0x9d671cd5)) /* R^2 */
#else
#define ORDER_LOW 0x5cf5d3ed
#define ORDER_REST 0x5812631a, 0xa2f79cd6, 0x14def9de, 0, 0, 0, 0x10000000
#define ORDER_MINUS_INVERSE 0x12547e1b
#define ORDER_ONE                                                                                                      \
    ((fe)(0x8d98951d, 0xd6ec3174, 0x737dcf70, 0xc6ef5bf4, 0xfffffffe, 0xffffffff, 0xffffffff, 0x0fffffff))
#define ORDER_SQUARE                                                                                                   \
    ((fe)(0x449c0f01, 0xa40611e3, 0x68859347, 0xd00e1ba7, 0x17f5be65, 0xceec73d2, 0x7c309a3d, 0x0399411b))
#endif
#define ORDER ((fe)(ORDER_LOW, ORDER_REST))

/* a b / R below the order, if one of the two is: Montgomery's product, row by row. */
FE_CALL fe scalar_mul(fe a, fe b) {
    union limbs x, y, n, t;
    uint top = 0;
    x.all = a;
    y.all = b;
    n.all = ORDER;
    t.all = fe_of(0);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        uint carry = 0;
#pragma unroll
        for (int j = 0; j < 8; j++) t.at[j] = limb_mad(x.at[i], y.at[j], t.at[j], &carry);
        const ulong high = (ulong)top + carry;
        const uint q = t.at[0] * ORDER_MINUS_INVERSE;
        carry = 0;
        (void)limb_mad(q, n.at[0], t.at[0], &carry);
#pragma unroll
        for (int j = 1; j < 8; j++) t.at[j - 1] = limb_mad(q, n.at[j], t.at[j], &carry);
        const ulong sum = high + carry;
        t.at[7] = (uint)sum;
        top = (uint)(sum >> 32);
    }
    const uint borrow = limbs_sub(x.at, t.at, n.at);
    return top >= borrow ? x.all : t.all;
}

/* a + b below the order; both are. */
SVMX_INLINE fe scalar_add(fe a, fe b) {
    union limbs x, y, n;
    x.all = a;
    y.all = b;
    n.all = ORDER;
    const uint carry = limbs_add(x.at, x.at, y.at, 0), borrow = limbs_sub(y.at, x.at, n.at);
    return carry >= borrow ? y.all : x.all;
}

/* R / a, of which scalar_mul makes b / a: R a^(order - 2), in windows of four bits. */
FE_CALL fe scalar_inverse(fe a) {
    const uint exponent[8] = {ORDER_LOW - 2, ORDER_REST};
    fe power[16], r;
    power[0] = ORDER_ONE;
    power[1] = scalar_mul(a, ORDER_SQUARE);
    for (uint i = 2; i < 16; i++) power[i] = scalar_mul(power[i - 1], power[1]);
    r = power[0];
    for (int bit = 252; bit >= 0; bit -= 4) {
        for (uint i = 0; i < 4; i++) r = scalar_mul(r, r);
        r = scalar_mul(r, power[exponent[bit / 32] >> bit % 32 & 15]);
    }
    return r;
}
