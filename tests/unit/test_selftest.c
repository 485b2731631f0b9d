/*
 * test_selftest.c: the proof that a pipeline needs: it passes right ones and catches one wrong bit, whatever the
 * floating-point environment of the thread that runs it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/building.h"
#include "executor_fixture.h"

#include <fenv.h>
#include <stdlib.h>

TestSuite(selftest, .init = set_up, .fini = tear_down);

/* The pipeline of an operation on the reference device, which is the operation itself. */
static struct svmx__pipeline pipeline_of(const struct svmx__op *op) {
    return (struct svmx__pipeline){.key = {0, op->id, 16384, 0},
                                   .life = svmx__life_of(&executor->devices[0]),
                                   .verdict = SVMX_OK,
                                   .compiled = (struct svmx_pipeline *)(uintptr_t)op};
}

static enum svmx_status prove(const struct svmx__op *tested, const struct svmx__op *computed, struct svmx__text *why) {
    struct svmx__pipeline pipeline = pipeline_of(computed);
    return svmx__selftest(&executor->devices[0], tested, &pipeline, why);
}

Test(selftest, the_reference_passes_its_own_test) {
    for (uint32_t i = 0; i < svmx__op_count(); i++) {
        struct svmx__text why = {""};
        cr_assert_eq(prove(svmx__op_at(i), svmx__op_at(i), &why), SVMX_OK, "%s: %s", svmx__op_at(i)->name, why.line);
    }
}

Test(selftest, another_operations_kernel_is_caught) {
    static const uint32_t pairs[][2] = {{SVMX_OP_VEC_ADD_F32, SVMX_OP_VEC_MUL_F32},
                                        {SVMX_OP_VEC_MUL_F32, SVMX_OP_VEC_ADD_F32},
                                        {SVMX_OP_SHA256, SVMX_OP_KECCAK256},
                                        {SVMX_OP_KECCAK256, SVMX_OP_SHA256}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct svmx__text why = {""};
        const struct svmx__op *tested = svmx__op_by_id(pairs[i][0]);
        cr_assert_eq(prove(tested, svmx__op_by_id(pairs[i][1]), &why), SVMX_ERR_WRONG_RESULT);
        cr_assert_not_null(strstr(why.line, tested->name), "%s", why.line);
    }
}

/* Kernels that are right up to a point. */
static const struct svmx__op *broken;
static uint64_t broken_from; /* items: from here on one bit is wrong */

static void break_late(const struct svmx_slot *slots) {
    broken->reference(slots);
    uint64_t items = slots[0].bytes / 4;
    if (items <= broken_from) return;
    unsigned char *out = (unsigned char *)(uintptr_t)slots[0].at;
    out[4 * (items - 1)] ^= 1;
}

Test(selftest, one_wrong_bit_at_the_end_of_a_large_task_is_caught) {
    broken = svmx__op_by_id(SVMX_OP_VEC_ADD_F32);
    struct svmx__op worse = *broken;
    worse.reference = break_late;
    static const uint64_t from[] = {0, 10, 36, 64, 1000, 4095};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        struct svmx__text why = {""};
        broken_from = from[i];
        cr_assert_eq(prove(broken, &worse, &why), SVMX_ERR_WRONG_RESULT, "right up to %u items", (unsigned)from[i]);
    }
}

/* The expected answers are computed in the caller's thread: its rounding must not make a right device look wrong. */
Test(selftest, any_rounding_mode_of_the_caller) {
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        cr_assert_eq(fesetround(modes[m]), 0);
        for (uint32_t i = 0; i < svmx__op_count(); i++) {
            struct svmx__text why = {""};
            enum svmx_status status = prove(svmx__op_at(i), svmx__op_at(i), &why);
            int after = fegetround();
            fesetround(FE_TONEAREST);
            cr_assert_eq(status, SVMX_OK, "rounding mode %d: %s", modes[m], why.line);
            cr_assert_eq(after, modes[m], "the caller's mode was changed");
            fesetround(modes[m]);
        }
    }
    fesetround(FE_TONEAREST);
}
