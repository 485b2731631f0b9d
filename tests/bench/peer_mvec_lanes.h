/*
 * peer_mvec_lanes.h: the functions of peer_mvec.c for one width of vectors, included once for each. Before it:
 *
 *   VECTOR, LANES       the type, and how many floats it has
 *   VECTOR_EXP(x)       libmvec's function
 *   VECTOR_MAX(x, y)    the greater of each two lanes
 *   VECTOR_IF(x, y)     x where it is above 0, else y
 *   TARGET              attribute of every function
 *   NAME(stem)          gives names
 *
 * SPDX-License-Identifier: Apache-2.0
 */

TARGET static inline VECTOR NAME(load)(const float *a) {
    VECTOR x;
    memcpy(&x, a, sizeof x);
    return x;
}

TARGET static inline void NAME(store)(float *out, VECTOR x) { memcpy(out, &x, sizeof x); }

TARGET static void NAME(exp)(float *out, const float *a, size_t n, size_t width) {
    (void)width;
    for (size_t i = 0; i < n; i += LANES) NAME(store)(out + i, VECTOR_EXP(NAME(load)(a + i)));
}

TARGET static void NAME(sigmoid)(float *out, const float *a, size_t n, size_t width) {
    (void)width;
    for (size_t i = 0; i < n; i += LANES) NAME(store)(out + i, 1 / (1 + VECTOR_EXP(-NAME(load)(a + i))));
}

TARGET static void NAME(tanh)(float *out, const float *a, size_t n, size_t width) {
    (void)width;
    for (size_t i = 0; i < n; i += LANES) NAME(store)(out + i, 1 - 2 / (1 + VECTOR_EXP(2 * NAME(load)(a + i))));
}

TARGET static void NAME(swish)(float *out, const float *a, size_t n, size_t width) {
    (void)width;
    for (size_t i = 0; i < n; i += LANES) {
        VECTOR x = NAME(load)(a + i);
        NAME(store)(out + i, x / (1 + VECTOR_EXP(-x)));
    }
}

/* x / 2 (1 + tanh u) = x / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3) */
TARGET static void NAME(gelu)(float *out, const float *a, size_t n, size_t width) {
    (void)width;
    for (size_t i = 0; i < n; i += LANES) {
        VECTOR x = NAME(load)(a + i);
        NAME(store)(out + i, x / (1 + VECTOR_EXP(x * (-1.59576912f - 0.0713548163f * (x * x)))));
    }
}

/* alpha is 1 */
TARGET static void NAME(elu)(float *out, const float *a, size_t n, size_t width) {
    (void)width;
    for (size_t i = 0; i < n; i += LANES) {
        VECTOR x = NAME(load)(a + i);
        NAME(store)(out + i, VECTOR_IF(x, VECTOR_EXP(x) - 1));
    }
}

TARGET static inline float NAME(row_max)(const float *a, size_t n) {
    VECTOR most = NAME(load)(a);
    for (size_t i = LANES; i < n; i += LANES) most = VECTOR_MAX(NAME(load)(a + i), most);
    float max = most[0];
    for (int i = 1; i < LANES; i++) max = most[i] > max ? most[i] : max;
    return max;
}

TARGET static void NAME(softmax_row)(float *out, const float *a, size_t n) {
    float max = NAME(row_max)(a, n), total = 0;
    VECTOR sum = {0};
    for (size_t i = 0; i < n; i += LANES) {
        VECTOR x = VECTOR_EXP(NAME(load)(a + i) - max);
        sum += x;
        NAME(store)(out + i, x);
    }
    for (int i = 0; i < LANES; i++) total += sum[i];
    const float part = 1 / total;
    for (size_t i = 0; i < n; i += LANES) NAME(store)(out + i, NAME(load)(out + i) * part);
}

TARGET static void NAME(softmax)(float *out, const float *a, size_t n, size_t width) {
    for (size_t i = 0; i < n; i += width) NAME(softmax_row)(out + i, a + i, width);
}

TARGET static void NAME(log_softmax_row)(float *out, const float *a, size_t n) {
    float max = NAME(row_max)(a, n), total = 0;
    VECTOR sum = {0};
    for (size_t i = 0; i < n; i += LANES) sum += VECTOR_EXP(NAME(load)(a + i) - max);
    for (int i = 0; i < LANES; i++) total += sum[i];
    const float less = max + logf(total);
    for (size_t i = 0; i < n; i += LANES) NAME(store)(out + i, NAME(load)(a + i) - less);
}

TARGET static void NAME(log_softmax)(float *out, const float *a, size_t n, size_t width) {
    for (size_t i = 0; i < n; i += width) NAME(log_softmax_row)(out + i, a + i, width);
}
