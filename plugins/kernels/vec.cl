/*
 * vec.cl: sums, differences and products of vectors, for map.cl. docs/OPERATIONS.md has the definitions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
static inline T vec_add(T a, T b, E p, E q) { return a + b; }
static inline T vec_sub(T a, T b, E p, E q) { return a - b; }
static inline T vec_mul(T a, T b, E p, E q) { return a * b; }
/* Slots of axpy are out, x, y, alpha: the product is rounded before the sum. */
static inline T axpy(T x, T y, E alpha, E q) { return (T)(alpha)*x + y; }
