/*
 * plain.h: the work itself, as a programmer would write it without us: plain loops, vectorised by the compiler for the
 * instruction set of the machine that it runs on.
 *
 * They are the floor that "over the plain loop" is counted from, and what a peer's tasks compute. They do less than our
 * kernels, which also see to it that every NaN is the same one: the floor is not raised in our favour.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_PLAIN_H
#define SVMX_TESTS_BENCH_PLAIN_H

#include <stddef.h>

/* `rows` vectors of n elements, `stride` elements from one to the next in each array: out = a + b. */
struct plain_work {
    float *out;
    const float *a, *b;
    size_t n, rows, stride;
};

typedef void (*plain_fn)(const struct plain_work *work);

/* The loop over vec_add_f32 for this machine. */
plain_fn plain_vec_add_f32(void);

#endif
