/*
 * ed25519_lanes.h: the curve -x^2 + y^2 = 1 + d x^2 y^2 modulo p = 2^255 - 19 in eight lanes: what its files share.
 *
 *   ed25519_field_ifma.c    inverses and roots modulo p
 *   ed25519_hash_ifma.c     SHA-512
 *   ed25519_scalar_ifma.c   numbers modulo L, the order of the base point B; windows
 *   ed25519_point_ifma.c    points, rows of multiples of B, and s B + k P
 *   ed25519_ifma.c          the operation; it calls all others
 *
 * The formulas add any two points of the curve, equal, opposite or neutral: no lane is special. Signatures are public, and
 * so is how long all this takes.
 *
 * Only for files that are built for AVX-512 with IFMA and VBMI2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_ED25519_LANES_H
#define SVMX_SIMD_ED25519_LANES_H

#define FE_BITS 255
#define FE_C    UINT64_C(19)
#include "fe52.h"
#include "scalar52.h"

enum { ED_LANES = 8 };

/* x / z, y / z, and t = x y / z */
struct extended {
    struct fe x, y, z, t;
};

/* ---- field -------------------------------------------------------------------------------------------------- */

/* Inverts `count` numbers, lane by lane with one inversion for all. None may be zero: it would spoil its lane. `spare` has
 * room for `count`. */
void simd_ed25519_inverse(struct fe *x, struct fe *spare, unsigned count);

/* x^((p - 5) / 8) of each of `count` numbers. */
void simd_ed25519_power(struct fe *x, unsigned count);

/* ---- hashes -------------------------------------------------------------------------------------------------- */

struct ed_message {
    const uint8_t *r, *key, *data; /* 32 bytes, 32 bytes, `bytes` */
    uint64_t bytes;
};

/* SHA-512 of R, key and data, as words of which the lowest is the first. */
void simd_ed25519_hash(word hash[8], const struct ed_message messages[ED_LANES]);

/* ---- scalars ------------------------------------------------------------------------------------------------ */

struct ed_windows {
    word s[5]; /* odd digits of ten bits: see odd_digit */
    word k[4]; /* windows of five bits, of which the digit is the value less 16 */
};

/* `s` is below L; `hash` is 512 bits as words, lowest first, of which k is the rest modulo L: no other number will do, since
 * P may have an order that is not L. */
void simd_ed25519_windows(struct ed_windows *out, const word s[4], const word hash[8]);

/* ---- points ------------------------------------------------------------------------------------------------- */

/* Makes the rows of B when it is called for the first time, by whichever thread. */
void simd_ed25519_rows_make(void);

/* out = s B + k (x, y). The rows must be there. */
void simd_ed25519_combine(struct extended *out, const struct ed_windows *windows, const struct fe *x,
                          const struct fe *y);

#endif
