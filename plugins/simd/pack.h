/*
 * pack.h: several vectors side by side, for functions of many steps.
 *
 * Each step of an exponential waits for the one before. One vector at a time, a core fills the time between only as far
 * ahead as it can look, which is two or three vectors; here the steps of V_PACK vectors alternate in the code itself.
 *
 *   v_fma a0                p_fma a = fma a0, fma a1
 *   v_fma a0                p_fma a = fma a0, fma a1      twice the work in the time of one chain
 *
 * p_<name> is v_<name> of the lanes header on every vector. Included after that; whoever includes it names the steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_PACK_H
#define SVMX_SIMD_PACK_H

#define PACK_EACH _Pragma("GCC unroll 8") for (int k = 0; k < V_PACK; k++)

typedef struct {
    vec v[V_PACK];
} pack;

typedef struct {
    mask v[V_PACK];
} pack_mask;

/* The same vector everywhere: compilers then compute it once. */
SIMD_INLINE pack p_all(vec x) {
    pack r;
    PACK_EACH r.v[k] = x;
    return r;
}

SIMD_INLINE pack p_set(elem x) { return p_all(v_set(x)); }

SIMD_INLINE pack p_load(const uint8_t *at) {
    pack r;
    PACK_EACH r.v[k] = v_load(at + sizeof(vec) * (size_t)k);
    return r;
}

SIMD_INLINE pack p_add(pack a, pack b) {
    PACK_EACH a.v[k] = v_add(a.v[k], b.v[k]);
    return a;
}

SIMD_INLINE pack p_sub(pack a, pack b) {
    PACK_EACH a.v[k] = v_sub(a.v[k], b.v[k]);
    return a;
}

SIMD_INLINE pack p_mul(pack a, pack b) {
    PACK_EACH a.v[k] = v_mul(a.v[k], b.v[k]);
    return a;
}

SIMD_INLINE pack p_div(pack a, pack b) {
    PACK_EACH a.v[k] = v_div(a.v[k], b.v[k]);
    return a;
}

SIMD_INLINE pack p_fma(pack a, pack b, pack c) {
    PACK_EACH a.v[k] = v_fma(a.v[k], b.v[k], c.v[k]);
    return a;
}

SIMD_INLINE pack p_min(pack a, pack b) {
    PACK_EACH a.v[k] = v_min(a.v[k], b.v[k]);
    return a;
}

SIMD_INLINE pack p_max(pack a, pack b) {
    PACK_EACH a.v[k] = v_max(a.v[k], b.v[k]);
    return a;
}

SIMD_INLINE pack p_and(pack a, pack b) {
    PACK_EACH a.v[k] = v_and(a.v[k], b.v[k]);
    return a;
}

SIMD_INLINE pack p_or(pack a, pack b) {
    PACK_EACH a.v[k] = v_or(a.v[k], b.v[k]);
    return a;
}

SIMD_INLINE pack p_andnot(pack a, pack b) {
    PACK_EACH a.v[k] = v_andnot(a.v[k], b.v[k]);
    return a;
}

SIMD_INLINE pack_mask p_less(pack a, pack b) {
    pack_mask r;
    PACK_EACH r.v[k] = v_less(a.v[k], b.v[k]);
    return r;
}

SIMD_INLINE pack p_select(pack_mask m, pack yes, pack no) {
    PACK_EACH no.v[k] = v_select(m.v[k], yes.v[k], no.v[k]);
    return no;
}

SIMD_INLINE pack p_one_nan(pack a) {
    PACK_EACH a.v[k] = v_one_nan(a.v[k]);
    return a;
}

SIMD_INLINE int p_any_nan(pack a) {
    mask m = v_unordered(a.v[0], a.v[V_PACK / 2]);
    for (int k = 1; k < V_PACK / 2; k++) m = v_either(m, v_unordered(a.v[k], a.v[k + V_PACK / 2]));
    return v_any(m);
}

SIMD_INLINE pack p_power(pack magic) {
    PACK_EACH magic.v[k] = v_power(magic.v[k]);
    return magic;
}

SIMD_INLINE pack p_halves(pack magic, pack *half) {
    PACK_EACH magic.v[k] = v_halves(magic.v[k], &half->v[k]);
    return magic;
}

SIMD_INLINE pack p_minus(pack a) {
    PACK_EACH a.v[k] = v_minus(a.v[k]);
    return a;
}

SIMD_INLINE pack p_scale(pack p, pack magic) {
    PACK_EACH p.v[k] = v_scale(p.v[k], magic.v[k]);
    return p;
}

SIMD_INLINE pack p_scale_down(pack p, pack magic) {
    PACK_EACH p.v[k] = v_scale_down(p.v[k], magic.v[k]);
    return p;
}

#endif
