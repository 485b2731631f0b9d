/*
 * test_quarantine.c: what is known of an operation on a device, and why it does not get it (svmx_device_op_get). That the
 * quarantine is kept on disk is test_profile.c's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fake_fixture.h"

enum { FAKE_DEVICE = 0, REFERENCE = 1 };

TestSuite(quarantine, .init = set_up, .fini = tear_down);

static struct svmx_device_op known_of(uint32_t device, uint32_t op) {
    struct svmx_device_op known = {.size = sizeof known};
    cr_assert_eq(svmx_device_op_get(executor, device, op, &known), SVMX_OK);
    return known;
}

static struct svmx_device device_of(uint32_t index) {
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_device_get(executor, index, &device), SVMX_OK);
    return device;
}

static void try_op(uint32_t op) { cr_assert_eq(svmx_prewarm(executor, op, 100), SVMX_OK); }

static void fail_builds(enum svmx_status status) {
    fake.fail[FAKE_BUILD].from = fake.calls[FAKE_BUILD] + 1;
    fake.fail[FAKE_BUILD].count = FAKE_ALL;
    fake.fail[FAKE_BUILD].status = status;
}

Test(quarantine, nothing_is_known_before_it_is_tried) {
    const struct svmx_device_op known = known_of(FAKE_DEVICE, SVMX_OP_VEC_ADD_F32);
    cr_expect_eq(known.fitness, SVMX_FITNESS_UNTRIED);
    cr_expect_str_empty(known.reason);
    cr_expect_eq(device_of(FAKE_DEVICE).proved + device_of(FAKE_DEVICE).refused, 0);
    cr_expect_eq(known_of(REFERENCE, SVMX_OP_VEC_ADD_F32).fitness, SVMX_FITNESS_PROVED, "it is the definition");
    cr_expect_eq(device_of(REFERENCE).proved, svmx_op_count(executor));
}

Test(quarantine, what_passed_its_known_answers_is_proved) {
    try_op(SVMX_OP_VEC_ADD_F32);
    cr_expect_eq(known_of(FAKE_DEVICE, SVMX_OP_VEC_ADD_F32).fitness, SVMX_FITNESS_PROVED);
    cr_expect_eq(known_of(FAKE_DEVICE, SVMX_OP_VEC_MUL_F32).fitness, SVMX_FITNESS_UNTRIED);
    cr_expect_eq(device_of(FAKE_DEVICE).proved, 1);
}

Test(quarantine, what_the_backend_does_not_have_says_why) {
    fail_builds(SVMX_ERR_UNSUPPORTED);
    try_op(SVMX_OP_VEC_ADD_F32);
    const struct svmx_device_op known = known_of(FAKE_DEVICE, SVMX_OP_VEC_ADD_F32);
    cr_expect_eq(known.fitness, SVMX_FITNESS_UNSUPPORTED);
    cr_expect_str_eq(known.reason, "build told to fail");
    fake.silent = true;
    try_op(SVMX_OP_VEC_MUL_F32);
    cr_expect_str_eq(known_of(FAKE_DEVICE, SVMX_OP_VEC_MUL_F32).reason, "the backend does not have it");
    cr_expect_eq(device_of(FAKE_DEVICE).refused, 2);
    cr_expect_eq(device_of(FAKE_DEVICE).quarantined, 0);
}

Test(quarantine, what_cannot_be_built_says_why) {
    fail_builds(SVMX_ERR_BACKEND);
    try_op(SVMX_OP_VEC_ADD_F32);
    const struct svmx_device_op known = known_of(FAKE_DEVICE, SVMX_OP_VEC_ADD_F32);
    cr_expect_eq(known.fitness, SVMX_FITNESS_FAILED);
    cr_expect_not_null(strstr(known.reason, "build told to fail"), "%s", known.reason);
}

Test(quarantine, wrong_bytes_are_refused_and_say_why) {
    fake.wrong_op = "vec_add_f32";
    try_op(SVMX_OP_VEC_ADD_F32);
    try_op(SVMX_OP_VEC_MUL_F32);
    const struct svmx_device_op known = known_of(FAKE_DEVICE, SVMX_OP_VEC_ADD_F32);
    cr_expect_eq(known.fitness, SVMX_FITNESS_QUARANTINED);
    cr_expect_not_null(strstr(known.reason, "vec_add_f32"), "%s", known.reason);
    cr_expect_eq(known_of(FAKE_DEVICE, SVMX_OP_VEC_MUL_F32).fitness, SVMX_FITNESS_PROVED);
    cr_expect_eq(device_of(FAKE_DEVICE).refused, 1);
    cr_expect_eq(device_of(FAKE_DEVICE).quarantined, 1);
}

/* A device that fails over and over and is rebuilt each time would else have a list without end. */
Test(quarantine, the_same_reason_is_kept_once) {
    struct svmx__device *device = &executor->devices[FAKE_DEVICE];
    const struct svmx__op *op = svmx__op_by_id(SVMX_OP_VEC_ADD_F32);
    for (int i = 0; i < 5; i++) svmx__refusal_note(device, op, SVMX_ERR_BACKEND, "it does not compile");
    const struct svmx__quarantined *first = atomic_load(&device->refused);
    cr_assert_not_null(first);
    cr_expect_null(first->next);
    svmx__refusal_note(device, op, SVMX_ERR_BACKEND, "it does not link");
    cr_expect_str_eq(atomic_load(&device->refused)->reason, "it does not link");
    cr_expect_eq(known_of(FAKE_DEVICE, SVMX_OP_VEC_ADD_F32).fitness, SVMX_FITNESS_UNTRIED, "it was only noted");
}

Test(quarantine, what_a_driver_says_is_passed_on) {
    const struct svmx_device device = device_of(FAKE_DEVICE), reference = device_of(REFERENCE);
    cr_expect_eq(device.max_group, 128);
    cr_expect_eq(device.timer_ns, 40);
    cr_expect_eq(device.fp32, SVMX_FP_DENORMALS | SVMX_FP_FMA);
    cr_expect_eq(device.fp64, SVMX_FP_INF_NAN);
    cr_expect_eq(device.local_bytes, 4096);
    cr_expect_eq(reference.max_group + reference.timer_ns + reference.fp32 + reference.local_bytes, 0);
}

Test(quarantine, bad_questions) {
    struct svmx_device_op known = {.size = sizeof known};
    cr_expect_eq(svmx_device_op_get(NULL, 0, SVMX_OP_SHA256, &known), SVMX_ERR_ARGUMENT);
    cr_expect_eq(svmx_device_op_get(executor, 0, SVMX_OP_SHA256, NULL), SVMX_ERR_ARGUMENT);
    cr_expect_eq(svmx_device_op_get(executor, 2, SVMX_OP_SHA256, &known), SVMX_ERR_UNKNOWN);
    cr_expect_eq(svmx_device_op_get(executor, 0, UINT32_MAX, &known), SVMX_ERR_UNKNOWN);
    known.size = 8;
    cr_expect_eq(svmx_device_op_get(executor, 0, SVMX_OP_SHA256, &known), SVMX_ERR_ARGUMENT);
}
