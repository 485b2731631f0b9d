/*
 * test_custom_checks.c: svmx_op_register: checks and shapes of an operation's own, what says of itself that it is elementwise,
 * messages of any length, and examples. test_custom.c has the definition, names and limits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "custom_fixture.h"

#include "ops/custom.h"

TestSuite(custom_checks, .init = set_up, .fini = tear_down);

/* Of the elements behind it. */
static void run_backwards(const struct svmx_operand *args, void *user) {
    (void)user;
    const uint64_t count = args[0].bytes / 4;
    for (uint64_t i = 0; i < count; i++)
        memcpy((char *)args[0].data + 4 * i, (const char *)args[1].data + 4 * (count - 1 - i), 4);
}

/* ---- check and shape ----------------------------------------------------------------------------------------- */

/* k must be odd; a unit is four elements. */
static enum svmx_status check_odd(const struct svmx_operand *args, struct svmx_op_size *size, struct svmx_error *error,
                                  void *user) {
    uint32_t k;
    cr_assert_eq(args[3].bytes, 4u);
    cr_assert(!args[0].data && !args[1].data, "there may be nothing yet");
    cr_assert(args[2].data || !args[2].bytes, "b is promised");
    memcpy(&k, args[3].data, sizeof k);
    if (k == 666) return SVMX_ERR_OVERFLOW; /* and not a word */
    if (k == 777) return SVMX_BUSY;         /* no error at all */
    if (k % 2 == 0) {
        (void)snprintf(error->text, sizeof error->text, "k is %u, which is even", k);
        return SVMX_ERR_ARGUMENT;
    }
    for (int i = 1; i <= 2; i++)
        if (args[i].bytes != args[0].bytes) return SVMX_ERR_ARGUMENT;
    *size = (struct svmx_op_size){k == 999 ? UINT64_MAX : args[0].bytes / 16, args[0].bytes};
    (void)user;
    return SVMX_OK;
}

static enum svmx_status shape_fours(uint64_t size, uint64_t *bytes, void *user) {
    (void)user;
    if (size > UINT64_MAX / 16) return SVMX_ERR_OVERFLOW;
    bytes[0] = bytes[1] = bytes[2] = size * 16;
    bytes[3] = 7;
    return SVMX_OK;
}

static enum svmx_status shape_even(uint64_t size, uint64_t *bytes, void *user) {
    (void)shape_fours(size, bytes, user);
    bytes[3] = 8;
    return SVMX_OK;
}

static enum svmx_status shape_torn(uint64_t size, uint64_t *bytes, void *user) {
    (void)shape_fours(size, bytes, user);
    bytes[1] += 1;
    return SVMX_OK;
}

static enum svmx_status shape_never(uint64_t size, uint64_t *bytes, void *user) {
    (void)size, (void)bytes, (void)user;
    return SVMX_ERR_OVERFLOW;
}

Test(custom_checks, what_is_not_elementwise_and_says_so_is_refused) {
    struct svmx_op_def def = mix_def();
    def.known_count = 0;
    def.run = run_backwards;
    def.flags = SVMX_OP_ELEMENTWISE;
    refuse(&def, SVMX_ERR_WRONG_RESULT, "in pieces and as a whole");
    def.flags = 0;
    (void)register_or_fail(&def);
}

Test(custom_checks, only_elements_of_one_size_are_elementwise) {
    struct svmx_param params[4];
    struct svmx_op_def def = mix_def();
    memcpy(params, mix_params, sizeof params);
    def.params = params;
    def.known_count = 0;
    def.flags = SVMX_OP_ELEMENTWISE;
    params[2].record = 2;
    refuse(&def, SVMX_ERR_ARGUMENT, "flags");
    params[2].record = 1;
    params[2].type = SVMX_U64;
    refuse(&def, SVMX_ERR_ARGUMENT, "several sizes");
    params[2].type = SVMX_U32;
    params[1].direction = SVMX_OUT;
    refuse(&def, SVMX_ERR_ARGUMENT, "more than one output");
    params[1].direction = SVMX_IN;
    def.check = check_odd;
    refuse(&def, SVMX_ERR_ARGUMENT, "a check or a shape");
    def.check = NULL;
    def.shape = shape_even;
    refuse(&def, SVMX_ERR_ARGUMENT, "a check or a shape");
    def.shape = NULL;
    const uint32_t op = register_or_fail(&def);
    cr_assert(op >= SVMX_OP_FIRST_REGISTERED);
}

Test(custom_checks, a_program_that_was_compiled_before_flags_is_served) {
    struct svmx_op_def def = mix_def();
    def.size = offsetof(struct svmx_op_def, flags);
    def.flags = 0xffff; /* is not looked at: for such a program it is not there */
    (void)register_or_fail(&def);
}

Test(custom_checks, its_own_check) {
    struct svmx_op_def def = mix_def();
    def.known_count = 0;
    def.check = check_odd;
    def.check_reads = 1 << 2;
    def.shape = shape_fours;
    const uint32_t op = register_or_fail(&def);
    cr_assert_eq(add_mix(op, 8, 3), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(add_mix(op, 8, 4), SVMX_ERR_ARGUMENT);
    cr_assert_str_eq(svmx_batch_error(batch), "task 1: mix_u32: k is 4, which is even");
    cr_assert_eq(add_mix(op, 8, 666), SVMX_ERR_OVERFLOW);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "does not say why"));
    cr_assert_eq(add_mix(op, 8, 777), SVMX_ERR_ARGUMENT, "what is no error is made one");
    cr_assert_eq(add_mix(op, 8, 999), SVMX_ERR_OVERFLOW, "%s", svmx_batch_error(batch));
    static uint32_t out[8], memory[8];
    struct svmx_arg args[] = {svmx_out(SVMX_U32, out, 8), svmx_result_of(SVMX_U32, 0, 0),
                              svmx_result_of(SVMX_U32, 0, 0), svmx_u32(3)};
    cr_assert_eq(svmx_batch_add(batch, op, args, 4), SVMX_ERR_UNSUPPORTED, "check looks into b");
    cr_assert_eq(svmx_batch_task_count(batch), 1u);
    args[2] = svmx_in(SVMX_U32, memory, 8);
    cr_assert_eq(svmx_batch_add(batch, op, args, 4), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.units, 2u);
}

Test(custom_checks, examples_that_its_check_refuses) {
    struct svmx_op_def def = mix_def();
    def.known_count = 0;
    def.check = check_odd;
    def.check_reads = 1 << 2;
    def.shape = shape_even;
    refuse(&def, SVMX_ERR_ARGUMENT, "refused by check: k is 8, which is even");
    def.shape = shape_torn;
    refuse(&def, SVMX_ERR_ARGUMENT, "shape");
    def.shape = shape_never;
    refuse(&def, SVMX_ERR_ARGUMENT, "SVMX_ERR_OVERFLOW");
}

Test(custom_checks, lengths_that_disagree_without_a_check) {
    const struct svmx_op_def def = mix_def();
    const uint32_t op = register_or_fail(&def);
    uint32_t out[3], a[3] = {0}, b[3] = {0};
    const struct svmx_arg args[] = {svmx_out(SVMX_U32, out, 3), svmx_in(SVMX_U32, a, 3), svmx_in(SVMX_U32, b, 2),
                                    svmx_u32(1)};
    cr_assert_eq(svmx_batch_add(batch, op, args, 4), SVMX_ERR_ARGUMENT);
    cr_assert_str_eq(svmx_batch_error(batch),
                     "task 0: mix_u32: b has 2 items but out has 3: give both the same length");
    cr_assert_eq(svmx_batch_add(batch, op, args, 3), SVMX_ERR_ARGUMENT);
}

/* ---- messages of any length ---------------------------------------------------------------------------------- */

/* out[i] = the sum of the bytes of message i, times a factor. */
static void run_sums(const struct svmx_operand *args, void *user) {
    (void)user;
    float factor;
    memcpy(&factor, args[3].data, sizeof factor);
    for (uint64_t i = 0; i < args[0].bytes / 4; i++) {
        uint64_t cut[2];
        memcpy(cut, (const char *)args[2].data + 8 * i, sizeof cut);
        uint32_t sum = 0;
        for (uint64_t at = cut[0]; at < cut[1]; at++) sum += ((const uint8_t *)args[1].data)[at];
        const float out = (float)sum * factor;
        memcpy((char *)args[0].data + 4 * i, &out, 4);
    }
}

static const struct svmx_param sums_params[] = {{"sums", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1},
                                                {"text", SVMX_IN, SVMX_U8, SVMX_RAGGED, 0, 1},
                                                {"cuts", SVMX_IN, SVMX_U64, SVMX_OFFSETS, 0, 1},
                                                {"factor", SVMX_IN, SVMX_F32, SVMX_SCALAR, 0, 1}};

static uint32_t register_sums(void) {
    const struct svmx_op_def def = {.size = sizeof def,
                                    .name = "sums",
                                    .params = sums_params,
                                    .param_count = 4,
                                    .exactness = SVMX_EXACT,
                                    .run = run_sums};
    return register_or_fail(&def);
}

static enum svmx_status add_sums(uint32_t op, float *out, uint64_t n, const uint64_t *cuts, uint64_t entries) {
    static const uint8_t text[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_U8, text, 10),
                                    svmx_in(SVMX_U64, cuts, entries), svmx_f32(0.5f)};
    return svmx_batch_add(batch, op, args, 4);
}

Test(custom_checks, ragged_inputs_and_their_offsets) {
    const uint32_t op = register_sums();
    static const uint64_t cuts[] = {0, 3, 10}; /* read when the task runs as well */
    float out[2] = {0, 0};
    cr_assert_eq(add_sums(op, out, 2, cuts, 3), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(add_sums(op, NULL, 0, NULL, 0), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert(out[0] == 3.0f && out[1] == 24.5f);
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    cr_assert_eq(add_sums(op, out, 2, (const uint64_t[]){0, 3, 11}, 3), SVMX_ERR_ARGUMENT, "past the end");
    cr_assert_eq(add_sums(op, out, 2, (const uint64_t[]){0, 4, 3}, 3), SVMX_ERR_ARGUMENT, "descending");
    cr_assert_eq(add_sums(op, out, 1, (const uint64_t[]){0, 3, 10}, 3), SVMX_ERR_ARGUMENT, "too many");
    cr_assert_not_null(strstr(svmx_batch_error(batch), "cuts has 3 entries"), "%s", svmx_batch_error(batch));
    cr_assert_eq(add_sums(op, out, 1, NULL, 0), SVMX_ERR_ARGUMENT, "none");
    /* offsets that do not exist yet cannot be checked */
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, 1), svmx_in(SVMX_U8, "ab", 2),
                                    svmx_result_of(SVMX_U64, 0, 0), svmx_f32(1)};
    uint64_t sums[2], a[2] = {0, 2}, b[2] = {0, 0};
    cr_assert_eq(svmx_goldilocks_add(batch, sums, a, b, 2), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, op, args, 4), SVMX_ERR_UNSUPPORTED);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "checked before anything runs"), "%s", svmx_batch_error(batch));
}

/* ---- examples ------------------------------------------------------------------------------------------------ */

Test(custom_checks, examples_by_type) {
    const uint32_t op = register_sums();
    struct svmx_example example, again;
    cr_assert_eq(svmx_example_create(executor, op, 9, 4, &example), SVMX_OK);
    cr_assert_eq(svmx_example_create(executor, op, 9, 4, &again), SVMX_OK);
    cr_assert(example.arg_count == 4 && example.args[0].bytes == 36 && example.args[1].bytes == 9 * 32);
    cr_assert_eq(example.args[2].bytes, 80u);
    cr_assert_eq(example.args[3].from.bits, 0x3f800000u, "a scalar is 1");
    cr_assert_eq(memcmp(example.args[1].from.in, again.args[1].from.in, 9 * 32), 0);
    cr_assert_eq(svmx_batch_add(batch, op, example.args, 4), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    svmx_example_destroy(&example);
    svmx_example_destroy(&again);
    cr_assert_eq(svmx_example_create(executor, op, UINT64_MAX / 2, 4, &example), SVMX_ERR_OVERFLOW);
    cr_assert_eq(svmx_example_create(executor, op, UINT64_MAX, 4, &example), SVMX_ERR_OVERFLOW);
    cr_assert_eq(svmx_example_create(executor, op + 1, 1, 4, &example), SVMX_ERR_UNKNOWN);
}
