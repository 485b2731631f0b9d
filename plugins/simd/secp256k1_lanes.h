/*
 * secp256k1_lanes.h: the curve y^2 = x^3 + 7 modulo p = 2^256 - 2^32 - 977 in eight lanes: what its files share.
 *
 *   secp256k1_group.h         n, the order of the generator G, and numbers that follow from it
 *   secp256k1_field_ifma.c    inverses and square roots modulo p
 *   secp256k1_scalar_ifma.c   numbers modulo n: products, inverses, halves and windows
 *   secp256k1_table_ifma.c    multiples of G, made once
 *   secp256k1_point_ifma.c    points, and u1 G + u2 P
 *   ecrecover_ifma.c, ecdsa_ifma.c   the two operations; they call all others
 *
 * A lane never branches and never stops another. What the formulas for points cannot add (a point and itself or its
 * opposite) leaves z = 0 in that lane, for good: no later step makes it anything else. Callers compute such lanes, and
 * those whose result is infinity, once more with libsecp256k1. Signatures are public, and so is how long all this takes.
 *
 * Only for files that are built for AVX-512 with IFMA and VBMI2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_SECP256K1_LANES_H
#define SVMX_SIMD_SECP256K1_LANES_H

#define FE_BITS 256
#define FE_C    UINT64_C(0x1000003d1)
#include "fe52.h"
#include "scalar52.h"

#ifndef SECP_GROUP
#define SECP_GROUP "secp256k1_group.h"
#endif
#include SECP_GROUP

enum { SECP_LANES = 8 };

struct affine {
    struct fe x, y;
};

/* x / z^2, y / z^3 */
struct jacobian {
    struct fe x, y, z;
};

/* x^3 + B */
SIMD_INLINE void fe_curve(struct fe *r, const struct fe *x) {
    struct fe square;
    fe_sqr(&square, x);
    fe_mul(r, &square, x);
    r->d[0] = word_add(r->d[0], word_all(SECP_B));
    digits_carry(r->d, 5);
}

/* ---- field -------------------------------------------------------------------------------------------------- */

/* Inverts `count` numbers, lane by lane with one inversion for all. None may be zero: it would spoil its lane. `spare` has
 * room for `count`. */
void simd_secp256k1_inverse(struct fe *x, struct fe *spare, unsigned count);

/* A root of each of `count` numbers, or of its opposite where there is none: the caller squares it. */
void simd_secp256k1_root(struct fe *x, unsigned count);

/* ---- scalars ------------------------------------------------------------------------------------------------ */

/* As above, modulo n. The result is R times the inverse: what simd_secp256k1_times wants. */
void simd_secp256k1_scalar_inverse(struct scalar *x, struct scalar *spare, unsigned count);

/* r = a b, where `inverse` is from above; below 2 n. */
void simd_secp256k1_times(struct scalar *r, const struct scalar *a, const struct scalar *inverse);

/* Odd numbers as bits of weight 1 and -1: words of 64, of which a window of w bits is 2^w - 1 less than twice its value. */
struct windows {
    word low[5], first[3], second[3]; /* of u1; of both halves of u2 = first + second lambda */
};

void simd_secp256k1_windows(struct windows *out, const struct scalar *u1, const struct scalar *u2);

/* ---- points ------------------------------------------------------------------------------------------------- */

/* Multiples of the generator: 1, 3, 5, ... of G, then of 2^132 G. A row is x and y, words of 64, lowest first. */
enum { SECP_G_ROWS = 1 << (SECP_G_BITS - 1) };

extern uint64_t simd_secp256k1_rows[2 * SECP_G_ROWS][8];

/* Fills them when it is called for the first time, by whichever thread. */
void simd_secp256k1_rows_make(void);

void simd_secp256k1_double(struct jacobian *p);

/* p += q, or p -= q in lanes of `minus`. The digits of q are factors only: bits above their 52nd are ignored. */
void simd_secp256k1_add(struct jacobian *p, const struct affine *q, __mmask8 minus);

/* out = u1 G + u2 p. The rows must be there. */
void simd_secp256k1_combine(struct jacobian *out, const struct scalar *u1, const struct scalar *u2,
                            const struct affine *p);

#endif
