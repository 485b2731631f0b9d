/*
 * ecdsa.cl: ecdsa_verify_secp256k1, one signature a work-item. Behind secp256k1.cl.
 *
 * Slots: valid, hash, r, s, key. A unit is a signature.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
enum { VALID, HASH, R, S, KEY, SLOTS };

/* Is x / z^2 modulo n r? Nothing is inverted: x = r z^2, or (r + n) z^2 where r + n is below p. */
FE_CALL bool is_x(const struct jacobian *p, fe r) {
    const fe square = fe_sqr(p->z);
    if (fe_equal(fe_mul(r, square), p->x)) return true;
    return limbs_below(r, PRIME_LESS_ORDER) && fe_equal(fe_mul(fe_add(r, ORDER), square), p->x);
}

/* x of (hash / s) G + (r / s) key is r. s is 1 .. (n - 1) / 2, and the limit one more. */
SVMX_INLINE bool verify(fe hash, fe r, fe s, struct affine key) {
    if (limbs_zero(r) || limbs_zero(s) || !limbs_below(r, R_LIMIT) || !limbs_below(s, LOW_S_LIMIT) ||
        !limbs_below(key.x, FE_PRIME) || !limbs_below(key.y, FE_PRIME) || !fe_equal(fe_sqr(key.y), fe_curve(key.x)))
        return false;
    const fe inverse = scalar_inverse(s);
    struct jacobian sum;
    combine(&sum, scalar_mul(hash, inverse), scalar_mul(r, inverse), &key);
    return !limbs_zero(sum.z) && is_x(&sum, r);
}

/* The grain is 1. */
SVMX_KERNEL(ecdsa_verify, 64) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, SLOTS);
    ulong unit = get_global_id(0);
    if (unit >= units) return;
    const uint task = svmx_task_of(&t, unit);
    unit -= t.first_unit[task];
    struct affine key;
    key.x = fe_load_big_endian(in + svmx_at(&t, task, KEY) + 64 * unit);
    key.y = fe_load_big_endian(in + svmx_at(&t, task, KEY) + 64 * unit + 32);
    const fe hash = fe_load_big_endian(in + svmx_at(&t, task, HASH) + 32 * unit);
    const fe r = fe_load_big_endian(in + svmx_at(&t, task, R) + 32 * unit);
    const fe s = fe_load_big_endian(in + svmx_at(&t, task, S) + 32 * unit);
    out[svmx_at(&t, task, VALID) + unit] = verify(hash, r, s, key);
}
