/*
 * rectify.cl: floats with what is too small or too large cut, for map.cl. docs/OPERATIONS.md has the definitions.
 *
 * Where a comparison meets a NaN it fails: each line is written so that the NaN is what stays.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
static inline T relu(T a, T b, E p, E q) { return select(a, (T)(0), (I)(a <= (T)(0))); }
static inline T leaky_relu(T a, T b, E slope, E q) { return select((T)(slope)*a, a, (I)(a > (T)(0))); }

static inline T clip(T a, T b, E low, E high) {
    return select(select(a, (T)(high), (I)(a > (T)(high))), (T)(low), (I)(a < (T)(low)));
}
