/*
 * extremes.cl: the greatest and the least for tree.cl and reduce.cl, which say what each of these is.
 *
 * Terms are integers in the order of the numbers, -0 below +0 and a NaN above all. The least is the greatest of what is
 * negated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
typedef B A1;
typedef I A;
#define COMBINE(x, y) max(x, y)

/* Bits of a number to an integer in its order, and back: of a negative number all but the sign turn over. */
static inline I turned(I bits) { return bits ^ ((bits >> (I)(8 * sizeof(B) - 1)) & (I)(MAGNITUDE)); }

static inline T greatest_start(void) { return (T)(-INFINITY); }
static inline A greatest_next(T a) { return select(turned(AS_I(a)), (I)(MAGNITUDE), (I)(a != a)); }
static inline A greatest_term(T a, T b) { return greatest_next(a); }
static inline T greatest_value(A x) { return AS_T(turned(x)); }

static inline T least_start(void) { return (T)(INFINITY); }
static inline A least_next(T a) { return greatest_next(-a); }
static inline A least_term(T a, T b) { return greatest_next(-a); }
static inline T least_value(A x) { return -greatest_value(x); }

/* Never negative: the bits are in order as they are. */
static inline T difference_start(void) { return (T)(0); }
static inline A difference_next(T a) { return AS_I(a) & (I)(MAGNITUDE); }
static inline A difference_term(T a, T b) { return difference_next(a - b); }
static inline T difference_value(A x) { return AS_T(x); }
