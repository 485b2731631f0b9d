/*
 * test_op_eigh_f64.c: eigenvalues: published ones, residuals and orthogonality, signs and order, and what is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#include <math.h>

enum { MAX = 32 };

static double a[MAX * MAX], values[MAX], vectors[MAX * MAX];

static void solve(unsigned n) {
    const struct svmx_slot slots[] = {slot(values, 8 * n), slot(vectors, 8 * n * n), slot(a, 8 * n * n), scalar_u32(n)};
    compute(SVMX_OP_EIGH_F64, slots);
}

static double at(unsigned n, unsigned i, unsigned j) { return i >= j ? a[i * n + j] : a[j * n + i]; }

static double largest(unsigned n) {
    double most = 0;
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j <= i; j++) most = fmax(most, fabs(at(n, i, j)));
    return most;
}

/* A v = lambda v, V V' = 1, ascending, signs by the rule. Tolerances in units of the last place of the largest element. */
static void proper(unsigned n, const char *what) {
    const double unit = 0x1p-53 * n;
    for (unsigned k = 0; k < n; k++) {
        const double *v = &vectors[k * n];
        unsigned big = 0;
        cr_assert(k == 0 || values[k - 1] <= values[k], "%s of order %u: not ascending", what, n);
        for (unsigned i = 0; i < n; i++) {
            double sum = 0;
            for (unsigned j = 0; j < n; j++) sum += at(n, i, j) * v[j];
            cr_assert_leq(fabs(sum - values[k] * v[i]), 16 * unit * largest(n), "%s of order %u: residual %g", what, n,
                          sum - values[k] * v[i]);
            if (fabs(v[i]) > fabs(v[big])) big = i;
        }
        cr_assert(v[big] > 0, "%s of order %u: sign of vector %u", what, n, k);
        for (unsigned other = 0; other <= k; other++) {
            double dot = 0;
            for (unsigned i = 0; i < n; i++) dot += v[i] * vectors[other * n + i];
            cr_assert_leq(fabs(dot - (other == k)), 16 * unit, "%s of order %u: %u . %u = %g", what, n, k, other, dot);
        }
    }
}

static void near(double got, double want, double scale) {
    cr_assert_leq(fabs(got - want), 0x1p-49 * scale, "%.17g is not %.17g", got, want);
}

Test(op_eigh_f64, two_by_two_by_hand) {
    memcpy(a, (double[]){2, 99, 1, 2}, 32);
    solve(2);
    near(values[0], 1, 1);
    near(values[1], 3, 1);
    near(vectors[0], M_SQRT1_2, 1);
    near(vectors[1], -M_SQRT1_2, 1);
    near(vectors[2], M_SQRT1_2, 1);
    near(vectors[3], M_SQRT1_2, 1);
}

/* 2 - 2 cos(k pi / (n + 1)): the second difference, in every textbook. */
Test(op_eigh_f64, second_differences) {
    for (unsigned n = 2; n <= MAX; n++) {
        memset(a, 0, sizeof a);
        for (unsigned i = 0; i < n; i++) {
            a[i * n + i] = 2;
            if (i > 0) a[i * n + i - 1] = -1;
        }
        solve(n);
        for (unsigned k = 0; k < n; k++) near(values[k], 2 - 2 * cos((k + 1) * M_PI / (n + 1)), 4);
        proper(n, "second difference");
    }
}

/* Hilbert's matrix of order 4: badly conditioned, and in many textbooks with these values. */
Test(op_eigh_f64, hilbert_of_order_4) {
    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < 4; j++) a[4 * i + j] = 1.0 / (i + j + 1);
    solve(4);
    near(values[0], 9.670230402258689e-05, 1);
    near(values[1], 6.738273605760747e-03, 1);
    near(values[2], 1.691412202214500e-01, 1);
    near(values[3], 1.500214280059243e+00, 1);
    proper(4, "Hilbert");
}

Test(op_eigh_f64, random_matrices_of_every_order) {
    uint64_t state = 9;
    for (unsigned n = 2; n <= MAX; n++)
        for (unsigned kind = 0; kind < 5; kind++) {
            double u[MAX];
            for (unsigned i = 0; i < n; i++) u[i] = (int32_t)random_u32(&state) * 0x1p-31;
            for (unsigned i = 0; i < n * n; i++) {
                a[i] = (int32_t)random_u32(&state) * 0x1p-31;
                if (kind == 1) a[i] = u[i / n] * u[i % n];                          /* rank one: n - 1 zeros */
                if (kind == 2) a[i] = ldexp(a[i], -(int)(random_u32(&state) % 60)); /* many magnitudes */
                if (kind == 3) a[i] = 1;
                if (kind == 4) a[i] = i % (n + 1) == 0 ? 5 : 0; /* all equal */
            }
            solve(n);
            proper(n, "random");
        }
}

/* Scaled by a power of two the same vectors to the bit, and values that are scaled as well: up to the ends of the range. */
Test(op_eigh_f64, scale_does_not_matter) {
    static double plain[MAX * MAX], plain_values[MAX], plain_vectors[MAX * MAX];
    const unsigned n = 9;
    uint64_t state = 4;
    for (unsigned i = 0; i < n * n; i++) plain[i] = (int32_t)random_u32(&state) * 0x1p-31;
    memcpy(a, plain, sizeof a);
    solve(n);
    memcpy(plain_values, values, sizeof values);
    memcpy(plain_vectors, vectors, sizeof vectors);
    for (int by = -990; by <= 1018; by += 251) {
        for (unsigned i = 0; i < n * n; i++) a[i] = ldexp(plain[i], by);
        solve(n);
        cr_assert_arr_eq(vectors, plain_vectors, 8 * n * n, "2^%d", by);
        for (unsigned k = 0; k < n; k++) cr_assert_eq(values[k], ldexp(plain_values[k], by), "2^%d", by);
    }
}

/* A block far smaller than the rest keeps its digits: nothing is measured by the largest element. */
Test(op_eigh_f64, small_blocks_keep_their_digits) {
    memcpy(a, (double[]){1, 0, 0, 0, 1e-20, 0, 0, 1e-21, 1e-20}, 72);
    solve(3);
    cr_assert_float_eq(values[0], 0.9e-20, 1e-35);
    cr_assert_float_eq(values[1], 1.1e-20, 1e-35);
    cr_assert_eq(values[2], 1);
}

Test(op_eigh_f64, equal_values_stay_in_their_order) {
    memcpy(a, (double[]){3, 0, 0, 0, 1, 0, 0, 0, 1}, 72);
    solve(3);
    cr_assert(values[0] == 1 && values[1] == 1 && values[2] == 3);
    cr_assert_arr_eq(vectors, ((double[]){0, 1, 0, 0, 0, 1, 1, 0, 0}), 72);
}

/* Defined: the matrix with it gives NaNs of one pattern, its neighbours are not touched, the upper triangle is not read. */
Test(op_eigh_f64, nan_and_infinity_give_nan) {
    static const double bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    enum { N = 3, COUNT = 3 };
    double in[COUNT * N * N], val[COUNT * N], vec[COUNT * N * N], good_val[N], good_vec[N * N];
    const struct svmx_slot slots[] = {slot(val, sizeof val), slot(vec, sizeof vec), slot(in, sizeof in), scalar_u32(N)};
    for (unsigned place = 0; place < N * N; place++)
        for (unsigned b = 0; b < 4; b++) {
            for (unsigned i = 0; i < COUNT * N * N; i++) in[i] = 1.0 / (1 + i % (N * N));
            compute(SVMX_OP_EIGH_F64, slots);
            memcpy(good_val, val, sizeof good_val);
            memcpy(good_vec, vec, sizeof good_vec);
            in[N * N + place] = bad[b];
            compute(SVMX_OP_EIGH_F64, slots);
            cr_assert_arr_eq(val, good_val, sizeof good_val);
            cr_assert_arr_eq(val + 2 * N, good_val, sizeof good_val);
            cr_assert_arr_eq(vec + 2 * N * N, good_vec, sizeof good_vec);
            const bool read = place % N <= place / N;
            for (unsigned i = 0; i < N * N; i++) {
                uint64_t bits, value_bits;
                memcpy(&bits, &vec[N * N + i], 8);
                memcpy(&value_bits, &val[N + i % N], 8);
                if (read)
                    cr_assert(bits == UINT64_C(0x7ff8000000000000) && value_bits == bits);
                else
                    cr_assert(vec[N * N + i] == good_vec[i] && val[N + i % N] == good_val[i % N]);
            }
        }
}

Test(op_eigh_f64, a_value_that_does_not_fit_is_infinite) {
    for (unsigned i = 0; i < 9; i++) a[i] = 0x1p1023;
    solve(3);
    cr_assert(isinf(values[2]) && values[2] > 0 && fabs(values[0]) < 0x1p980 && fabs(values[1]) < 0x1p980);
    for (unsigned i = 0; i < 9; i++) cr_assert(isfinite(vectors[i]));
}

Test(op_eigh_f64, units_are_matrices_and_work_their_cubes) {
    const struct svmx_slot slots[] = {slot(values, 8 * 6), slot(vectors, 8 * 18), slot(a, 8 * 18), scalar_u32(3)};
    const struct svmx_slot none[] = {slot(NULL, 0), slot(NULL, 0), slot(NULL, 0), scalar_u32(32)};
    accepted(SVMX_OP_EIGH_F64, slots, 2, 54);
    accepted(SVMX_OP_EIGH_F64, none, 0, 0);
}

Test(op_eigh_f64, orders_and_lengths_out_of_range_are_refused) {
    struct svmx_slot slots[] = {slot(values, 8 * 4), slot(vectors, 8 * 8), slot(a, 8 * 8), scalar_u32(0)};
    refused(SVMX_OP_EIGH_F64, slots, "order is 0 but must be 2 to 32");
    slots[3] = scalar_u32(1);
    refused(SVMX_OP_EIGH_F64, slots, "order is 1 but must be 2 to 32");
    slots[3] = scalar_u32(33);
    refused(SVMX_OP_EIGH_F64, slots, "order is 33 but must be 2 to 32");
    slots[3] = scalar_u32(UINT32_MAX);
    refused(SVMX_OP_EIGH_F64, slots, "order is 4294967295 but must be 2 to 32");
    slots[3] = scalar_u32(3);
    refused(SVMX_OP_EIGH_F64, slots, "matrices has 8 elements, which is no whole number of matrices of order 3");
    slots[3] = scalar_u32(2), slots[0] = slot(values, 8 * 3);
    refused(SVMX_OP_EIGH_F64, slots, "values has 3 items but must have 4");
    slots[0] = slot(values, 8 * 4), slots[1] = slot(vectors, 8 * 9);
    refused(SVMX_OP_EIGH_F64, slots, "vectors has 9 items but must have 8");
}
