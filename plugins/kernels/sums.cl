/*
 * sums.cl: sums for tree.cl and reduce.cl, which say what each of these is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
typedef E A1;
typedef T A;
#define COMBINE(x, y) ((x) + (y))

static inline T sum_start(void) { return (T)(0); }
static inline A sum_term(T a, T b) { return a; }
static inline A sum_next(T a) { return a; }
static inline T sum_value(A x) { return x; }

static inline T product_start(void) { return (T)(0); }
static inline A product_term(T a, T b) { return a * b; }
static inline A product_next(T a) { return a; }
static inline T product_value(A x) { return x; }
