/*
 * fe52_calls_body.h: the calls of fe52_calls.h, for the prime of the header that was included before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
static struct fe load(fe52_number a) {
    struct fe r;
    for (int i = 0; i < 5; i++) r.d[i] = _mm512_loadu_si512(a[i]);
    return r;
}

static void store(fe52_number r, const struct fe *a) {
    for (int i = 0; i < 5; i++) _mm512_storeu_si512(r[i], a->d[i]);
}

static void call_mul(fe52_number r, fe52_number a, fe52_number b, int times) {
    const struct fe x = load(a), y = load(b);
    struct fe z = x;
    if (times == 1) fe_mul_times(&z, &x, &y, 1);
    if (times == 2) fe_mul_times(&z, &x, &y, 2);
    if (times == 3) fe_mul_times(&z, &x, &y, 3);
    if (times == 4) fe_mul_times(&z, &x, &y, 4);
    if (times == 8) fe_mul_times(&z, &x, &y, 8);
    store(r, &z);
}

static void call_sqr(fe52_number r, fe52_number a, int times) {
    const struct fe x = load(a);
    struct fe z = x;
    if (times == 1) fe_sqr_times(&z, &x, 1);
    if (times == 2) fe_sqr_times(&z, &x, 2);
    if (times == 3) fe_sqr_times(&z, &x, 3);
    if (times == 4) fe_sqr_times(&z, &x, 4);
    if (times == 8) fe_sqr_times(&z, &x, 8);
    store(r, &z);
}

static void call_mul_mul(fe52_number r, fe52_number a, fe52_number b, fe52_number c, fe52_number d) {
    const struct fe w = load(a), x = load(b), y = load(c), z = load(d);
    struct fe sum;
    fe_mul_mul(&sum, &w, &x, &y, &z);
    store(r, &sum);
}

static void call_less(fe52_number r, fe52_number a, fe52_number b, int times) {
    struct fe x = load(a);
    const struct fe y = load(b);
    for (int k = 0; k < times; k++)
        for (int i = 0; i < 5; i++) x.d[i] = word_sub(x.d[i], y.d[i]);
    fe_settle(&x);
    store(r, &x);
}

static void call_normal(fe52_number r, fe52_number a) {
    struct fe x = load(a);
    fe_normal(&x);
    store(r, &x);
}

static unsigned call_is_zero(fe52_number a) { return fe_is_zero(load(a)); }
