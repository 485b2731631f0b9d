/*
 * ecrecover.cl: ecrecover, one signature a work-item. Behind keccak256.cl and secp256k1.cl.
 *
 * Slots: address, valid, hash, v, r, s. A unit is a signature.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
enum { ADDRESS, VALID, HASH, V, R, S, SLOTS };

/* 0 or 1, or -1 for a word that is neither 27 nor 28. */
SVMX_INLINE int recovery_id(__global const uchar *v) {
    const fe word = fe_load_big_endian(v);
    const int id = (int)word.s0 - 27;
    return limbs_zero((fe)(0, word.s1, word.s2, word.s3, word.s4, word.s5, word.s6, word.s7)) && (id == 0 || id == 1)
               ? id
               : -1;
}

/* The point with x = r; false if there is none. */
FE_CALL bool point_of(struct affine *p, fe r, bool odd) {
    const fe square = fe_curve(r);
    p->x = r;
    p->y = fe_root(square);
    if (!fe_equal(fe_sqr(p->y), square)) return false;
    p->y = fe_normal(p->y);
    if ((p->y.s0 & 1) != odd) p->y = fe_minus(p->y);
    return true;
}

FE_CALL void key_hash(uint *digest, const struct jacobian *key) {
    const fe inverse = fe_inverse(key->z), square = fe_sqr(inverse);
    union limbs x, y;
    uint pair[16];
    x.all = fe_normal(fe_mul(key->x, square));
    y.all = fe_normal(fe_mul(key->y, fe_mul(square, inverse)));
#pragma unroll
    for (int i = 0; i < 8; i++) {
        pair[i] = swapped(x.at[7 - i]);
        pair[8 + i] = swapped(y.at[7 - i]);
    }
    hash_pair(digest, pair);
}

/* Q = (s R - hash G) / r */
SVMX_INLINE bool recover(uint *digest, fe hash, int id, fe r, fe s) {
    struct affine point;
    if (id < 0 || limbs_zero(r) || limbs_zero(s) || !limbs_below(r, R_LIMIT) || !limbs_below(s, R_LIMIT)) return false;
    if (!point_of(&point, r, id == 1)) return false;
    const fe inverse = scalar_inverse(r);
    union limbs u1, n;
    u1.all = scalar_mul(hash, inverse);
    n.all = ORDER_MULTIPLE;
    (void)limbs_sub(u1.at, n.at, u1.at);
    struct jacobian key;
    combine(&key, u1.all, scalar_mul(s, inverse), &point);
    if (limbs_zero(key.z)) return false;
    key_hash(digest, &key);
    return true;
}

/* The grain is 1. The address is the last 20 bytes of the digest. */
SVMX_KERNEL(ecrecover, 64) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, SLOTS);
    ulong unit = get_global_id(0);
    uint digest[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (unit >= units) return;
    const uint task = svmx_task_of(&t, unit);
    unit -= t.first_unit[task];
    const fe hash = fe_load_big_endian(in + svmx_at(&t, task, HASH) + 32 * unit);
    const fe r = fe_load_big_endian(in + svmx_at(&t, task, R) + 32 * unit);
    const fe s = fe_load_big_endian(in + svmx_at(&t, task, S) + 32 * unit);
    const int id = recovery_id(in + svmx_at(&t, task, V) + 32 * unit);
    out[svmx_at(&t, task, VALID) + unit] = recover(digest, hash, id, r, s);
    __global uint *address = (__global uint *)(out + svmx_at(&t, task, ADDRESS) + 20 * unit);
#pragma unroll
    for (int i = 0; i < 5; i++) address[i] = digest[3 + i];
}
