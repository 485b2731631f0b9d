/*
 * width.cl: vectors, for operations that are written once for CPUs (16 elements at a time) and GPUs (1), and for floats
 * and doubles where they are the same.
 *
 *   E, B                     an element: float, or double where the operation has SVMX_F64; the integer of its size
 *   T, I                     WIDTH of them; AS_E, AS_B, AS_T, AS_I take bits as they are
 *   NOT_A_NUMBER, MAGNITUDE  bits of an element: the one NaN; all but the sign
 *
 * A comparison of T, cast to I, has all bits set where it holds (or is 1 if WIDTH is 1): made for select().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifdef SVMX_F64
typedef double E;
typedef long B;
typedef double16 E16;
typedef long16 B16;
#define AS_E         as_double
#define AS_B         as_long
#define AS_E16       as_double16
#define AS_B16       as_long16
#define SCALAR       svmx_scalar_f64
#define NOT_A_NUMBER 0x7ff8000000000000L
#define MAGNITUDE    0x7fffffffffffffffL
#else
typedef float E;
typedef int B;
typedef float16 E16;
typedef int16 B16;
#define AS_E         as_float
#define AS_B         as_int
#define AS_E16       as_float16
#define AS_B16       as_int16
#define SCALAR       svmx_scalar_f32
#define NOT_A_NUMBER 0x7fc00000
#define MAGNITUDE    0x7fffffff
#endif

#if WIDTH == 1
typedef E T;
typedef B I;
#define AS_T AS_E
#define AS_I AS_B
#else
typedef E16 T;
typedef B16 I;
#define AS_T   AS_E16
#define AS_I   AS_B16
#define VLOAD  vload16
#define VSTORE vstore16
#endif

/* What is written: any NaN as the one. */
static inline T settled(T x) { return select(x, (T)(AS_E(NOT_A_NUMBER)), (I)(x != x)); }
static inline E settled_one(E x) { return x != x ? AS_E(NOT_A_NUMBER) : x; }

#if WIDTH > 1
/* The first `count` elements, 0 to WIDTH, and `rest` after them; no other element is read, or written. */
static inline T load_some(__global const E *from, ulong count, E rest) {
    E x[WIDTH];
    for (uint i = 0; i < WIDTH; i++) x[i] = i < count ? from[i] : rest;
    return VLOAD(0, x);
}

static inline void store_some(T value, __global E *to, ulong count) {
    E x[WIDTH];
    VSTORE(value, 0, x);
    for (uint i = 0; i < count; i++) to[i] = x[i];
}
#endif
