/*
 * eigh.h: eigenvalues of small symmetric matrices by Jacobi's method, LANES matrices side by side.
 *
 * Included by eigh_<isa>.c after it has defined what stands side by side:
 *
 *   LANES                          how many
 *   real                           the type of LANES doubles
 *   lane_mask                      one bit or byte a lane
 *   real_all(x) real_add real_sub real_mul real_div real_sqrt real_abs
 *   real_negate_if_negative(x, y)  x with the sign flipped where y < 0
 *   mask_over(a, b)                lanes where !(a <= b)
 *   mask_or(m, n), mask_any(m), mask_none()
 *   real_select(m, a, b)           a in the lanes of m, else b
 *
 * The recipe is that of docs/OPERATIONS.md, step by step, and a lane that has no rotation to do keeps every bit: so the
 * results do not depend on who stands beside whom. Matrices of one order make a group, from whatever task they come.
 *
 *   loaded [matrix][row][column] -> a[element of the lower triangle][lane], v[row][column][lane] -> sorted and stored
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_EIGH_H
#define SVMX_SIMD_EIGH_H

#include "kernels.h"
#include "tasks.h"

#include <math.h>
#include <stdalign.h>

enum { VALUES, VECTORS, MATRICES, ORDER };
enum { MAX_ORDER = 32, MAX_SWEEPS = 30, TRIANGLE = MAX_ORDER * (MAX_ORDER + 1) / 2 };

/* Up to LANES matrices of one order. */
struct group {
    unsigned order, count;
    const uint8_t *matrix[LANES];
    uint8_t *values[LANES], *vectors[LANES];
    double back[LANES]; /* values times this are those of the matrix as it was given; NaN for one that has none */
    alignas(64) double a[TRIANGLE][LANES];
    alignas(64) double v[MAX_ORDER * MAX_ORDER][LANES];
};

static inline unsigned triangle(unsigned row, unsigned column) { return row * (row + 1) / 2 + column; }

/* ---- loading ---------------------------------------------------------------------------------------------- */

static inline double double_at(const uint8_t *at) {
    double value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline double power_of_two(uint64_t biased) {
    const uint64_t bits = biased << 52;
    return double_at((const uint8_t *)&bits);
}

/* Scales so that the largest element is near 1. One that is not finite leaves zeros, which are done at once. */
static void lane_load(struct group *g, unsigned lane) {
    const uint8_t *matrix = g->matrix[lane];
    uint64_t largest = 0; /* bits of magnitudes order as the magnitudes do */
    for (unsigned i = 0; i < g->order; i++)
        for (unsigned j = 0; j <= i; j++) {
            const uint64_t bits = simd_load_u64(matrix + 8 * (i * g->order + j)) & INT64_MAX;
            largest = bits > largest ? bits : largest;
        }
    const uint64_t exponent = largest >> 52;
    const uint64_t up = exponent == 0 ? 2045 : exponent >= 2046 ? 1 : 2046 - exponent;
    const double factor = power_of_two(up);
    for (unsigned i = 0; i < g->order; i++)
        for (unsigned j = 0; j <= i; j++) {
            const double x = exponent == 2047 ? 0 : double_at(matrix + 8 * (i * g->order + j)) * factor;
            g->a[triangle(i, j)][lane] = x;
        }
    g->back[lane] = exponent == 2047 ? NAN : power_of_two(2046 - up);
}

/* Lanes without a matrix hold zeros. */
static void group_load(struct group *g) {
    for (unsigned i = 0; i < g->order; i++)
        for (unsigned j = 0; j < g->order; j++)
            for (unsigned lane = 0; lane < LANES; lane++) g->v[i * g->order + j][lane] = i == j;
    if (g->count < LANES) memset(g->a, 0, sizeof *g->a * triangle(g->order, 0));
    for (unsigned lane = 0; lane < g->count; lane++) lane_load(g, lane);
}

/* ---- rotating --------------------------------------------------------------------------------------------- */

SIMD_INLINE real real_load(const double at[LANES]) {
    real value;
    memcpy(&value, at, sizeof value);
    return value;
}

SIMD_INLINE void real_store(double at[LANES], real value) { memcpy(at, &value, sizeof value); }

/* One rotation: which lanes do it, and their cosine and sine. */
struct rotation {
    lane_mask lanes;
    real c, s;
};

SIMD_INLINE void turn(double x[LANES], double y[LANES], const struct rotation *by) {
    const real g = real_load(x), h = real_load(y);
    const real new_x = real_sub(real_mul(by->c, g), real_mul(by->s, h));
    const real new_y = real_add(real_mul(by->s, g), real_mul(by->c, h));
    real_store(x, real_select(by->lanes, new_x, g));
    real_store(y, real_select(by->lanes, new_y, h));
}

SIMD_INLINE void rotate(struct group *g, unsigned i, unsigned j, lane_mask lanes) {
    double *at_ii = g->a[triangle(i, i)], *at_jj = g->a[triangle(j, j)], *at_ji = g->a[triangle(j, i)];
    const real ii = real_load(at_ii), jj = real_load(at_jj), x = real_load(at_ji), one = real_all(1);
    const real theta = real_div(real_sub(jj, ii), real_mul(real_all(2), x));
    const real root = real_sqrt(real_add(real_mul(theta, theta), one));
    const real t = real_negate_if_negative(real_div(one, real_add(real_abs(theta), root)), theta);
    const real c = real_div(one, real_sqrt(real_add(real_mul(t, t), one)));
    const struct rotation by = {lanes, c, real_mul(t, c)};
    const unsigned n = g->order;
    real_store(at_ii, real_select(lanes, real_sub(ii, real_mul(t, x)), ii));
    real_store(at_jj, real_select(lanes, real_add(jj, real_mul(t, x)), jj));
    real_store(at_ji, real_select(lanes, real_all(0), x));
    for (unsigned r = 0; r < i; r++) turn(g->a[triangle(i, r)], g->a[triangle(j, r)], &by);
    for (unsigned r = i + 1; r < j; r++) turn(g->a[triangle(r, i)], g->a[triangle(j, r)], &by);
    for (unsigned r = j + 1; r < n; r++) turn(g->a[triangle(r, i)], g->a[triangle(r, j)], &by);
    for (unsigned r = 0; r < n; r++) turn(g->v[i * n + r], g->v[j * n + r], &by);
}

/* Lanes in which a[j][i] is not negligible. */
SIMD_INLINE lane_mask worth(const struct group *g, unsigned i, unsigned j) {
    const real tiny = real_all(0x1p-53), x = real_abs(real_load(g->a[triangle(j, i)]));
    const real by_i = real_mul(real_abs(real_load(g->a[triangle(i, i)])), tiny);
    const real by_j = real_mul(real_abs(real_load(g->a[triangle(j, j)])), tiny);
    return mask_or(mask_over(x, by_i), mask_over(x, by_j));
}

/* A lane whose sweep had no rotation would have none in the next either: only all lanes together need an end. */
static void group_solve(struct group *g) {
    for (unsigned sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        lane_mask turned = mask_none();
        for (unsigned i = 0; i + 1 < g->order; i++)
            for (unsigned j = i + 1; j < g->order; j++) {
                const lane_mask lanes = worth(g, i, j);
                if (!mask_any(lanes)) continue;
                rotate(g, i, j, lanes);
                turned = mask_or(turned, lanes);
            }
        if (!mask_any(turned)) break;
    }
}

/* ---- storing ---------------------------------------------------------------------------------------------- */

static void store_nan(uint8_t *at, unsigned count) {
    const uint64_t bits = UINT64_C(0x7ff8000000000000);
    for (unsigned i = 0; i < count; i++) memcpy(at + 8 * i, &bits, 8);
}

/* Row `k` of lane's vectors, its first component of largest magnitude made positive. */
static void vector_store(const struct group *g, unsigned lane, unsigned k, uint8_t *at) {
    const unsigned n = g->order;
    unsigned largest = 0;
    double x[MAX_ORDER];
    for (unsigned r = 0; r < n; r++) x[r] = g->v[k * n + r][lane];
    for (unsigned r = 1; r < n; r++)
        if (fabs(x[r]) > fabs(x[largest])) largest = r;
    if (x[largest] < 0)
        for (unsigned r = 0; r < n; r++) x[r] = -x[r];
    memcpy(at, x, sizeof *x * n);
}

static void lane_store(const struct group *g, unsigned lane) {
    const unsigned n = g->order;
    unsigned at[MAX_ORDER];
    double value[MAX_ORDER];
    for (unsigned k = 0; k < n; k++) { /* inserted in ascending order, equal ones behind one another */
        unsigned place = k;
        value[k] = g->a[triangle(k, k)][lane] * g->back[lane];
        for (; place > 0 && value[at[place - 1]] > value[k]; place--) at[place] = at[place - 1];
        at[place] = k;
    }
    for (unsigned k = 0; k < n; k++) {
        memcpy(g->values[lane] + 8 * k, &value[at[k]], 8);
        vector_store(g, lane, at[k], g->vectors[lane] + 8 * k * n);
    }
}

static void group_run(struct group *g) {
    if (g->count == 0) return;
    group_load(g);
    group_solve(g);
    for (unsigned lane = 0; lane < g->count; lane++) {
        if (!isnan(g->back[lane])) {
            lane_store(g, lane);
        } else {
            store_nan(g->values[lane], g->order);
            store_nan(g->vectors[lane], g->order * g->order);
        }
    }
    g->count = 0;
}

/* ---- gathering -------------------------------------------------------------------------------------------- */

static void group_add(struct group *g, const struct svmx_slot *row, uint64_t unit) {
    const uint64_t n = g->order;
    g->matrix[g->count] = simd_address(&row[MATRICES], 8 * n * n * unit);
    g->values[g->count] = simd_address(&row[VALUES], 8 * n * unit);
    g->vectors[g->count++] = simd_address(&row[VECTORS], 8 * n * n * unit);
    if (g->count == LANES) group_run(g);
}

static void eigh_run(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    struct group g;
    g.order = g.count = 0;
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    while (simd_walk_next(&walk, &piece)) {
        if (g.order != piece.row[ORDER].at) group_run(&g);
        g.order = (unsigned)piece.row[ORDER].at;
        for (uint64_t unit = piece.begin; unit < piece.end; unit++) group_add(&g, piece.row, unit);
    }
    group_run(&g);
}

#endif
