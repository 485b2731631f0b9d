/*
 * test_prewarm.c: svmx_prewarm builds what it is asked for, and what was measured before, each once and nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fake_fixture.h"

TestSuite(prewarm, .init = set_up, .fini = tear_down);

/* As a profile would. */
static void remember(uint32_t op, uint64_t units) {
    const struct svmx__cell_summary summary = {.op = op,
                                               .cell = svmx__cell_of(units, units),
                                               .samples = 5,
                                               .ns = 2000,
                                               .low_ns = 1000,
                                               .high_ns = 3000,
                                               .compute_ns = 2000,
                                               .bytes = 12 * units};
    cr_assert(svmx__model_restore(&executor->model, &summary));
}

static unsigned built_by(uint32_t op, uint64_t units) {
    const unsigned before = fake.calls[FAKE_BUILD];
    cr_assert_eq(svmx_prewarm(executor, op, units), SVMX_OK);
    return fake.calls[FAKE_BUILD] - before;
}

Test(prewarm, a_size_that_is_given) {
    cr_assert_eq(built_by(SVMX_OP_VEC_ADD_F32, 100000), 1);
    cr_assert_eq(built_by(SVMX_OP_VEC_ADD_F32, 120000), 0, "the same bucket was built again");
    cr_assert_eq(built_by(SVMX_OP_VEC_ADD_F32, 0), 1);
    cr_assert_eq(built_by(SVMX_OP_VEC_MUL_F32, 100000), 1);
}

Test(prewarm, sizes_that_were_measured) {
    cr_assert_eq(built_by(SVMX_OP_VEC_ADD_F32, SVMX_PREWARM_PROFILED), 0, "nothing was measured");
    remember(SVMX_OP_VEC_ADD_F32, 100);
    remember(SVMX_OP_VEC_ADD_F32, 5000); /* the smallest bucket as well */
    remember(SVMX_OP_VEC_ADD_F32, 1 << 20);
    remember(SVMX_OP_VEC_ADD_F32, 1 << 16);
    remember(SVMX_OP_VEC_MUL_F32, 1 << 18);
    cr_assert_eq(built_by(SVMX_OP_VEC_ADD_F32, SVMX_PREWARM_PROFILED), 3);
    cr_assert_eq(built_by(SVMX_OP_VEC_ADD_F32, SVMX_PREWARM_PROFILED), 0);
    cr_assert_eq(built_by(SVMX_OP_VEC_ADD_F32, 1 << 20), 0);
    cr_assert_eq(built_by(SVMX_OP_VEC_MUL_F32, SVMX_PREWARM_PROFILED), 1);
}

Test(prewarm, what_is_wrong_is_refused) {
    cr_assert_eq(svmx_prewarm(NULL, SVMX_OP_VEC_ADD_F32, 1), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_prewarm(executor, 0xffff, 1), SVMX_ERR_UNKNOWN);
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, UINT64_MAX - 1), SVMX_ERR_OVERFLOW);
    cr_assert_eq(fake.calls[FAKE_BUILD], 0);
}
