/*
 * field.h: arithmetic modulo an odd number, for numbers of 4 or 6 words: what the operations of both sizes share.
 *
 * A number is `limbs` words of 64 bits, the lowest first. The modulus is an argument of the task: an array with exactly
 * one item. Included by field_u256.c and field_u384.c, which bring signatures, known answers and the table entries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPS_FIELD_H
#define SVMX_OPS_FIELD_H

#include "ops/op.h"

enum { SVMX__FIELD_MAX_LIMBS = 6 };

/* The parameters of every operation here, in this order. */
enum { SVMX__FIELD_OUT, SVMX__FIELD_A, SVMX__FIELD_B, SVMX__FIELD_MODULUS, SVMX__FIELD_PARAMS };

/* One element: out = a (op) b modulo m, less than m. out is none of the others. */
typedef void (*svmx__field_fn)(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m, unsigned limbs);

void svmx__field_add(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m, unsigned limbs);
void svmx__field_sub(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m, unsigned limbs);
void svmx__field_mul(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m, unsigned limbs);
/* a b R^-1 modulo m, R = 2^(64 limbs) */
void svmx__field_mont(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m, unsigned limbs);

/* The reference code of a task. */
void svmx__field_run(const struct svmx_slot *slots, unsigned limbs, svmx__field_fn fn);

/* For an operation's check and shape: `params` is its signature. */
enum svmx_status svmx__field_check(const struct svmx_param *params, const struct svmx_slot *slots,
                                   struct svmx__size *size, struct svmx__text *why);
enum svmx_status svmx__field_shape(const struct svmx_param *params, uint64_t size, uint64_t *bytes);

/*
 * For an operation's fill. The modulus is moduli[seed % count]; where that is NULL, a random one of any length. The
 * first elements are all pairs of 0, 1, m - 1, m, m + 1 and the largest number; the others are random and below the
 * modulus unless its highest word is 0.
 */
void svmx__field_fill(const struct svmx_slot *slots, uint64_t seed, unsigned limbs, const uint64_t *const *moduli,
                      unsigned count);

#endif
