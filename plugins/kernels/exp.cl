/*
 * exp.cl: the exponential and what is made of it, on the type T of width.cl, for map.cl and softmax.cl.
 *
 * docs/OPERATIONS.md, "The exponential", is the definition, and src/ops/recipe_f32.h has the reasons; this is the same
 * text, with the same constants, operation for operation: the bits depend on each. No function of the compiler's but fma,
 * which has only one right answer.
 *
 * A NaN goes in and a NaN comes out: hence `limit > x` in at_least and not the other way round.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define MAGIC  0x1.8p23f /* numbers as large as this have no fraction: adding it rounds to an integer */
#define LN2_HI 0x1.62e430p-1f
#define LN2_LO -0x1.05c610p-29f

static inline T at_most(T x, E limit) { return select(x, (T)(limit), (I)((T)(limit) < x)); }
static inline T at_least(T x, E limit) { return select(x, (T)(limit), (I)((T)(limit) > x)); }
static inline T minus_abs(T x) { return AS_T(AS_I(x) | ~(I)(MAGNITUDE)); }

/* Vectors are for CPUs, which divide exactly. */
#if WIDTH == 1
static inline T divided(T a, T b) { return svmx_divide(a, b); }
#else
static inline T divided(T a, T b) { return a / b; }
#endif

/* ---- exp: x = n ln 2 + r, e^x = 2^n e^r --------------------------------------------------------------------- */

/* n = x / ln 2 to the nearest integer, as `magic` = MAGIC + n, and the rest r. */
static inline T exp_reduce(T x, T *magic) {
    *magic = fma(x, (T)(0x1.715476p+0f), (T)(MAGIC));
    const T n = *magic - (T)(MAGIC);
    return fma(n, (T)(-LN2_LO), fma(n, (T)(-LN2_HI), x));
}

static inline T exp_tail(T r) {
    T h = fma((T)(0x1.6e4f40p-10f), r, (T)(0x1.12342ap-7f));
    h = fma(h, r, (T)(0x1.555448p-5f));
    h = fma(h, r, (T)(0x1.5554a0p-3f));
    return fma(h, r, (T)(0x1p-1f));
}

static inline T exp_unscaled(T x, T *magic) {
    const T r = exp_reduce(x, magic);
    return fma(fma(exp_tail(r), r, (T)(1)), r, (T)(1));
}

/* 2^n; the bits above n leave at the top. */
static inline T exp_power(I n) { return AS_T((n << (I)(23)) + (I)(0x3f800000)); }

/* p 2^n with one rounding: the first product is exact. */
static inline T exp_scale(T p, T magic) {
    const I n = AS_I(magic), low = n >> (I)(1);
    return p * exp_power(low) * exp_power(n - low);
}

static inline T exp_of(T x) {
    T magic;
    const T p = exp_unscaled(at_least(at_most(x, 89), -104), &magic);
    return exp_scale(p, magic);
}

/* e^x - 1 for x <= 0. Of a denormal it is that number: the fma of some drivers (Mesa's) takes it for 0. */
static inline T expm1_of(T x) {
    T magic;
    const T r = exp_reduce(at_least(x, -20), &magic), power = exp_power(AS_I(magic));
    const I above = AS_I(x) & (I)(MAGNITUDE), tiny = (I)(above > (I)(0)) & (I)(above < (I)(0x00800000));
    return select(fma(power, fma(exp_tail(r), r * r, r), power - (T)(1)), x, tiny);
}

/* ---- logistic ------------------------------------------------------------------------------------------------ */

static inline T sigmoid_of(T x) {
    const T e = exp_of(minus_abs(x));
    return divided(select((T)(1), e, (I)(x < (T)(0))), (T)(1) + e);
}

/* x / (1 + e^y), y <= 126 */
static inline T gate_of(T x, T y) {
    T magic;
    const T p = exp_unscaled(at_least(y, -40), &magic);
    const I n = AS_I(magic), low = n >> (I)(1);
    const T down = exp_power((I)(0) - low);
    return divided(x, fma(p, exp_power(n - low), down)) * down;
}

/* ---- tanh ---------------------------------------------------------------------------------------------------- */

/* e^2a + 1, a <= 10 */
static inline T tanh_far(T a) {
    const T x = a + a, magic = fma(x, (T)(0x1.715476p+0f), (T)(MAGIC));
    const T r = fma(magic - (T)(MAGIC), (T)(-LN2_HI), x);
    const T p = fma(fma(exp_tail(r), r, (T)(1)), r, (T)(1));
    return fma(p, exp_power(AS_I(magic)), (T)(1));
}

/* One division serves both of its cases. */
static inline T tanh_of(T x) {
    const T a = AS_T(AS_I(x) & (I)(MAGNITUDE)), b = a * a;
    const I near = (I)(a < (T)(0.6875f));
    const T below = fma(fma((T)(-0x1.6af1e4p-8f), b, (T)(0x1.333160p+0f)), b, (T)(3));
    const T quotient =
        divided(select((T)(2), a * b, near), select(tanh_far(at_most(a, 10)), below, near));
    const T t = select((T)(1), a, near) - quotient;
    return AS_T(AS_I(t) | (AS_I(x) & ~(I)(MAGNITUDE)));
}

/* ---- log ----------------------------------------------------------------------------------------------------- */

/* One number, 1 <= x or a NaN: the sum of a row. */
static inline float log_of(float x) {
    const uint root = 0x3f3504f3, above = as_uint(x) - root;
    const float f = as_float((above & 0x7fffff) + root) - 1.0f;
    const float k = (float)((int)above >> 23), s = svmx_divide(f, 2.0f + f), z = s * s;
    const float rest = fma(-z, fma(fma(0x1.313d78p-2f, z, 0x1.996646p-2f), z, 0x1.555570p-1f), f);
    const float y = fma(k, LN2_HI, fma(k, LN2_LO, fma(-s, rest, f)));
    return x != x ? x : y;
}

/* ---- operations ---------------------------------------------------------------------------------------------- */

static inline T exponential(T a, T b, E p, E q) { return exp_of(a); }
static inline T sigmoid(T a, T b, E p, E q) { return sigmoid_of(a); }
static inline T hyperbolic(T a, T b, E p, E q) { return tanh_of(a); }
static inline T elu(T a, T b, E alpha, E q) { return select((T)(alpha)*expm1_of(a), a, (I)(a > (T)(0))); }

static inline T swish(T a, T b, E p, E q) {
    const T x = at_least(a, -120);
    return gate_of(x, -x);
}

static inline T gelu(T a, T b, E p, E q) {
    const T x = at_least(a, -11);
    return gate_of(x, x * fma(x * x, (T)(-0x1.2444f2p-4f), (T)(-0x1.988454p+0f)));
}
