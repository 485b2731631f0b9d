/*
 * signatures.h: one signature with libsecp256k1, for kernels that compute most of theirs in lanes.
 *
 * Implemented by signatures_secp256k1.c, whose own kernels use nothing else. Numbers are 32 bytes, big-endian.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_SIGNATURES_H
#define SVMX_SIMD_SIGNATURES_H

#include <stdint.h>

/* 0 or 1, or -1 for a word that is neither 27 nor 28. */
int simd_recovery_id(const uint8_t v[32]);

/* The key that signed, as x, y; false if the signature is invalid. */
_Bool simd_recover(uint8_t xy[64], const uint8_t *hash, const uint8_t *v, const uint8_t *r, const uint8_t *s);

/* `key` is x, y. */
_Bool simd_verify(const uint8_t *hash, const uint8_t *r, const uint8_t *s, const uint8_t *key);

#endif
