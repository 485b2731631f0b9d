/*
 * op_fixture.h: slots, checks and runs of one operation, for suites of operations with several kinds of arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_OP_FIXTURE_H
#define SVMX_TESTS_OP_FIXTURE_H

#include "ops/op.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <svmx/ops.h>

static inline struct svmx_slot slot(const void *at, uint64_t bytes) {
    return (struct svmx_slot){(uint64_t)(uintptr_t)at, bytes};
}

static inline struct svmx_slot scalar_u32(uint32_t value) { return (struct svmx_slot){value, 4}; }

/* The check must refuse, say exactly `text`, and set nothing. */
static inline void refused(uint32_t op, const struct svmx_slot *slots, const char *text) {
    struct svmx__size size = {7, 8};
    struct svmx__text why = {""};
    cr_assert_eq(svmx__op_by_id(op)->check(slots, &size, &why), SVMX_ERR_ARGUMENT, "accepted: %s", text);
    cr_assert_str_eq(why.line, text);
    cr_assert(size.units == 7 && size.work == 8, "an output was set by a failing check");
    cr_assert_eq(svmx__op_by_id(op)->check(slots, &size, NULL), SVMX_ERR_ARGUMENT, "needs a text");
}

static inline void accepted(uint32_t op, const struct svmx_slot *slots, uint64_t units, uint64_t work) {
    struct svmx__size size = {~units, ~work};
    struct svmx__text why = {""};
    cr_assert_eq(svmx__op_by_id(op)->check(slots, &size, &why), SVMX_OK, "%s", why.line);
    cr_assert_eq(size.units, units);
    cr_assert_eq(size.work, work);
}

/* Checks, then computes by the reference code. */
static inline void compute(uint32_t op, const struct svmx_slot *slots) {
    struct svmx__size size;
    struct svmx__text why = {""};
    cr_assert_eq(svmx__op_by_id(op)->check(slots, &size, &why), SVMX_OK, "%s", why.line);
    svmx__reference_run(svmx__op_by_id(op), slots);
}

/* One step of a 64-bit congruential generator; its upper half is good. */
static inline uint32_t random_u32(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

static inline void random_bytes(uint64_t *state, uint8_t *out, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = (uint8_t)random_u32(state);
}

#endif
