/*
 * test_custom.c: svmx_op_register: every field that can be wrong, what is copied, numbers and names, limits, and that no
 * executor knows the operations of another. Checks, shapes and examples: test_custom_checks.c. What registered operations do on
 * devices: tests/integration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "custom_fixture.h"

#include "ops/custom.h"
#include <fenv.h>

TestSuite(custom, .init = set_up, .fini = tear_down);

/* ---- what is right ------------------------------------------------------------------------------------------- */

Test(custom, it_is_an_operation_like_any_other) {
    const struct svmx_op_def def = mix_def();
    const uint32_t count = svmx_op_count(executor), op = register_or_fail(&def);
    cr_assert_eq(op, (uint32_t)SVMX_OP_FIRST_REGISTERED);
    cr_assert_eq(svmx_op_count(executor), count + 1);
    uint32_t found = 0;
    cr_assert_eq(svmx_op_find(executor, "mix_u32", &found, NULL), SVMX_OK);
    cr_assert_eq(found, op);
    struct svmx_op described = {.size = sizeof described};
    cr_assert_eq(svmx_op_get(executor, count, &described), SVMX_OK);
    cr_assert_eq(described.id, op);
    cr_assert_str_eq(described.name, "mix_u32");
    cr_assert_str_eq(described.summary, "a product and a sum");
    cr_assert_str_eq(described.unit, "element");
    cr_assert_eq(described.param_count, 4u);
    cr_assert_str_eq(described.params[3].name, "k");
    cr_assert_eq(svmx_op_get(executor, count + 1, &described), SVMX_ERR_UNKNOWN);

    uint32_t out[3] = {0}, a[3] = {1, 2, 3}, b[3] = {10, 20, 30};
    const struct svmx_arg args[] = {svmx_out(SVMX_U32, out, 3), svmx_in(SVMX_U32, a, 3), svmx_in(SVMX_U32, b, 3),
                                    svmx_u32(100)};
    cr_assert_eq(svmx_batch_add(batch, op, args, 4), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert(out[0] == 110 && out[1] == 220 && out[2] == 330);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert(receipt.op == op && receipt.units == 3 && receipt.redone == 0);
}

Test(custom, its_description_for_plugins_has_the_device_code) {
    const struct svmx_op_def def = mix_def();
    const uint32_t op = register_or_fail(&def);
    const struct svmx_op_desc desc = svmx__op_desc(svmx__operations_by_id(executor->operations, op));
    cr_assert_str_eq(desc.opencl_c, def.opencl_c);
    cr_assert(desc.opencl_c != def.opencl_c && desc.spirv != def.spirv, "they are the library's own");
    cr_assert_eq(desc.spirv_bytes, sizeof spirv);
    cr_assert_eq(memcmp(desc.spirv, spirv, sizeof spirv), 0);
    cr_assert(desc.local == 64 && desc.grain == 16 && desc.scratch_bytes_per_unit == 0);
    const struct svmx_op_desc builtin = svmx__op_desc(svmx__op_by_id(SVMX_OP_SHA256));
    cr_assert(!builtin.opencl_c && !builtin.spirv && !builtin.spirv_bytes && !builtin.local && !builtin.grain);
}

/* All that is pointed at is overwritten after the call. */
Test(custom, everything_is_copied) {
    char name[] = "mix_u32", summary[] = "a sum", unit[] = "thing", out_name[] = "out", code[] = "text";
    uint32_t out[] = {31, 64}, a[] = {3, 6}, b[] = {1, 4}, k = 10, module[5];
    struct svmx_param params[MIX_PARAMS];
    struct svmx_known known[] = {{out, 8}, {a, 8}, {b, 8}, {&k, 4}};
    memcpy(params, mix_params, sizeof params);
    memcpy(module, spirv, sizeof module);
    params[0].name = out_name;
    struct svmx_op_def def = mix_def();
    def.name = name, def.summary = summary, def.unit = unit, def.params = params, def.known = known;
    def.opencl_c = code, def.spirv = module;
    const uint32_t id = register_or_fail(&def);
    memset(name, 'x', 7), memset(summary, 'x', 5), memset(unit, 'x', 5), memset(out_name, 'x', 3), memset(code, 'x', 4);
    memset(out, 0, 8), memset(a, 0, 8), memset(b, 0, 8), memset(module, 0, sizeof module), k = 0;
    memset(params, 0, sizeof params), memset(known, 0, sizeof known), memset(&def, 0, sizeof def);
    const struct svmx__op *op = svmx__operations_by_id(executor->operations, id);
    cr_assert_str_eq(op->name, "mix_u32");
    cr_assert_str_eq(op->summary, "a sum");
    cr_assert_str_eq(op->unit, "thing");
    cr_assert_str_eq(op->params[0].name, "out");
    cr_assert_str_eq(op->opencl_c, "text");
    cr_assert_eq(memcmp(op->spirv, spirv, sizeof spirv), 0);
    cr_assert_eq(op->params[3].shape, SVMX_SCALAR);
    cr_assert_eq(memcmp(op->known[0].data, known_out, 8), 0);
    cr_assert_eq(memcmp(op->known[3].data, &known_k, 4), 0);
}

Test(custom, what_may_be_left_out) {
    struct svmx_op_def def = mix_def();
    def.summary = def.unit = def.opencl_c = NULL, def.spirv = NULL, def.spirv_bytes = 0, def.local = def.grain = 0;
    def.known = NULL, def.known_count = 0;
    const struct svmx__op *op = svmx__operations_by_id(executor->operations, register_or_fail(&def));
    cr_assert_str_eq(op->unit, "item");
    cr_assert_str_eq(op->summary, "");
    cr_assert(!op->opencl_c && !op->spirv && !op->known);
}

/* ---- what is wrong ------------------------------------------------------------------------------------------- */

Test(custom, arguments_of_the_call) {
    const struct svmx_op_def def = mix_def();
    uint32_t op = 0;
    struct svmx_error error;
    cr_assert_eq(svmx_op_register(NULL, &def, &op, &error), SVMX_ERR_ARGUMENT);
    cr_assert_not_null(strstr(error.text, "NULL"));
    cr_assert_eq(svmx_op_register(executor, NULL, &op, &error), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_op_register(executor, &def, NULL, &error), SVMX_ERR_ARGUMENT);
}

Test(custom, a_closed_executor) {
    svmx_executor_t *other;
    svmx_batch_t *holds;
    uint32_t op = 0;
    struct svmx_error error;
    const struct svmx_op_def def = mix_def();
    cr_assert_eq(svmx_open(&other, &reference_only, NULL), SVMX_OK);
    cr_assert_eq(svmx_batch_create(other, &holds), SVMX_OK);
    svmx_close(other);
    cr_assert_eq(svmx_op_register(other, &def, &op, &error), SVMX_ERR_CLOSED);
    cr_assert_not_null(strstr(error.text, "closed"));
    svmx_batch_destroy(holds);
}

static uint64_t bucket_of(const struct svmx_op_def *def, uint32_t units) {
    static uint32_t out[200], a[200], b[200];
    const uint32_t op = register_or_fail(def);
    const struct svmx_arg args[] = {svmx_out(SVMX_U32, out, units), svmx_in(SVMX_U32, a, units),
                                    svmx_in(SVMX_U32, b, units), svmx_u32(3)};
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, op, args, MIX_PARAMS), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    return receipt.bucket;
}

Test(custom, it_may_have_a_smallest_bucket_of_its_own) {
    struct svmx_op_def def = mix_def();
    def.min_bucket = 64;
    cr_assert_eq(bucket_of(&def, 10), 64);
    def.name = "mix_larger";
    cr_assert_eq(bucket_of(&def, 100), 128);
    def.name = "mix_least";
    def.min_bucket = 1;
    cr_assert_eq(bucket_of(&def, 1), 1);
    def.name = "mix_as_all";
    def.min_bucket = 0;
    cr_assert_eq(bucket_of(&def, 10), 16384);
}

Test(custom, a_program_that_was_compiled_before_min_bucket_is_served) {
    struct svmx_op_def def = mix_def();
    def.size = offsetof(struct svmx_op_def, min_bucket);
    def.min_bucket = 3; /* is not looked at: for such a program it is not there */
    cr_assert_eq(bucket_of(&def, 10), 16384);
}

#define WRONG(word, change)                                                                                            \
    do {                                                                                                               \
        struct svmx_op_def def = mix_def();                                                                            \
        change;                                                                                                        \
        refuse(&def, SVMX_ERR_ARGUMENT, word);                                                                         \
    } while (0)

Test(custom, every_bad_field_is_named) {
    static const uint32_t no_spirv[5] = {0x03022307};
    WRONG("size", def.size = 0);
    WRONG("size", def.size = offsetof(struct svmx_op_def, min_bucket) - 1);
    WRONG("size", def.size = 5000);
    WRONG("name", def.name = NULL);
    WRONG("name", def.name = "");
    WRONG("name", def.name = "Upper");
    WRONG("name", def.name = "9lives");
    WRONG("name", def.name = "_x");
    WRONG("name", def.name = "with space");
    WRONG("name", def.name = "a12345678901234567890123456789012");
    WRONG("summary", def.summary = "two\nlines");
    WRONG("unit", def.unit = "two words");
    WRONG("run", def.run = NULL);
    WRONG("exactness", def.exactness = 0);
    WRONG("exactness", def.exactness = 2);
    WRONG("min_bucket", def.min_bucket = 3);
    WRONG("min_bucket", def.min_bucket = UINT64_C(1) << 41);
    WRONG("flags", def.flags = 2);
    WRONG("check_reads", def.check_reads = 1 << 0);
    WRONG("check_reads", def.check_reads = 1 << 4);
    WRONG("check_reads", def.check_reads = 1u << 31);
    WRONG("params", def.params = NULL);
    WRONG("param_count", def.param_count = 0);
    WRONG("param_count", def.param_count = 9);
    WRONG("spirv", def.spirv = NULL);
    WRONG("spirv", def.spirv_bytes = 0);
    WRONG("spirv", def.spirv_bytes = 16);
    WRONG("spirv", def.spirv_bytes = 18);
    WRONG("spirv", def.spirv = no_spirv);
    WRONG("opencl_c", def.opencl_c = "");
    WRONG("local", def.local = 0);
    WRONG("local", def.local = 1025);
    WRONG("grain", def.grain = 0);
    WRONG("grain", def.grain = 3);
    WRONG("known_count", def.known_count = 65);
    WRONG("known", def.known = NULL);
}

static void wrong_param(uint32_t at, struct svmx_param param, const char *word) {
    struct svmx_param params[MIX_PARAMS];
    struct svmx_op_def def = mix_def();
    memcpy(params, mix_params, sizeof params);
    params[at] = param;
    def.params = params;
    def.known_count = 0;
    refuse(&def, SVMX_ERR_ARGUMENT, word);
}

Test(custom, every_bad_parameter_is_named) {
    wrong_param(1, (struct svmx_param){NULL, SVMX_IN, SVMX_U32, SVMX_ARRAY, 0, 1}, "params[1].name");
    wrong_param(1, (struct svmx_param){"A", SVMX_IN, SVMX_U32, SVMX_ARRAY, 0, 1}, "params[1].name");
    wrong_param(1, (struct svmx_param){"out", SVMX_IN, SVMX_U32, SVMX_ARRAY, 0, 1}, "params[1].name");
    wrong_param(1, (struct svmx_param){"a", 0, SVMX_U32, SVMX_ARRAY, 0, 1}, "direction");
    wrong_param(1, (struct svmx_param){"a", 3, SVMX_U32, SVMX_ARRAY, 0, 1}, "direction");
    wrong_param(1, (struct svmx_param){"a", SVMX_IN, 0, SVMX_ARRAY, 0, 1}, "type");
    wrong_param(1, (struct svmx_param){"a", SVMX_IN, 6, SVMX_ARRAY, 0, 1}, "type");
    wrong_param(1, (struct svmx_param){"a", SVMX_IN, SVMX_U32, 0, 0, 1}, "shape");
    wrong_param(1, (struct svmx_param){"a", SVMX_IN, SVMX_U32, 5, 0, 1}, "shape");
    wrong_param(1, (struct svmx_param){"a", SVMX_IN, SVMX_U32, SVMX_ARRAY, 0, 0}, "record");
    wrong_param(1, (struct svmx_param){"a", SVMX_IN, SVMX_U32, SVMX_ARRAY, 0, UINT32_MAX}, "record");
    wrong_param(1, (struct svmx_param){"a", SVMX_IN, SVMX_U32, SVMX_SCALAR, 0, 2}, "record");
    wrong_param(1, (struct svmx_param){"a", SVMX_IN, SVMX_U32, SVMX_ARRAY, 1, 1}, "reserved");
    wrong_param(2, (struct svmx_param){"b", SVMX_OUT, SVMX_U32, SVMX_ARRAY, 0, 1}, "after an input");
    wrong_param(0, (struct svmx_param){"out", SVMX_IN, SVMX_U32, SVMX_ARRAY, 0, 1}, "first must be an output");
    wrong_param(0, (struct svmx_param){"out", SVMX_OUT, SVMX_U32, SVMX_SCALAR, 0, 1}, "output is an array");
    wrong_param(1, (struct svmx_param){"a", SVMX_IN, SVMX_U8, SVMX_SCALAR, 0, 1}, "scalar");
    wrong_param(1, (struct svmx_param){"a", SVMX_IN, SVMX_U32, SVMX_RAGGED, 0, 1}, "SVMX_U8");
    wrong_param(1, (struct svmx_param){"a", SVMX_IN, SVMX_U8, SVMX_RAGGED, 0, 1}, "offsets must stand here");
    wrong_param(3, (struct svmx_param){"a_z", SVMX_IN, SVMX_U8, SVMX_RAGGED, 0, 1}, "no offsets after it");
    wrong_param(1, (struct svmx_param){"a", SVMX_IN, SVMX_U64, SVMX_OFFSETS, 0, 1}, "after what is ragged");
    wrong_param(1, (struct svmx_param){"a", SVMX_IN, SVMX_U32, SVMX_OFFSETS, 0, 1}, "SVMX_U64");
}

static void wrong_known(uint32_t at, struct svmx_known entry, enum svmx_status status, const char *word) {
    struct svmx_known known[MIX_PARAMS];
    struct svmx_op_def def = mix_def();
    memcpy(known, mix_known, sizeof known);
    known[at] = entry;
    def.known = known;
    refuse(&def, status, word);
}

Test(custom, known_answers_that_are_none) {
    static const uint32_t other[] = {31, 65};
    wrong_known(0, (struct svmx_known){other, 8}, SVMX_ERR_WRONG_RESULT, "another 'out'");
    wrong_known(1, (struct svmx_known){known_a, 7}, SVMX_ERR_ARGUMENT, "whole items");
    wrong_known(1, (struct svmx_known){NULL, 8}, SVMX_ERR_ARGUMENT, "NULL");
    wrong_known(1, (struct svmx_known){known_a, 4}, SVMX_ERR_ARGUMENT, "refused by check: a has 1 item");
    wrong_known(3, (struct svmx_known){&known_k, 8}, SVMX_ERR_ARGUMENT, "'k'");
}

/* ---- functions that break their promise ---------------------------------------------------------------------- */

static void run_lazy(const struct svmx_operand *args, void *user) {
    struct svmx_operand fewer[MIX_PARAMS];
    memcpy(fewer, args, sizeof fewer);
    if (fewer[0].bytes >= 100) fewer[0].bytes -= 4; /* the last element is not written */
    run_mix(fewer, user);
}

static void run_counting(const struct svmx_operand *args, void *user) {
    run_mix(args, NULL);
    uint32_t *calls = user;
    ++*calls;
    if (args[0].bytes >= 100) memcpy(args[0].data, calls, 4);
}

static void run_rounding(const struct svmx_operand *args, void *user) {
    run_mix(args, user);
    fesetround(FE_UPWARD);
}

Test(custom, a_function_that_does_not_write_everything_is_refused) {
    struct svmx_op_def def = mix_def();
    def.run = run_lazy;
    refuse(&def, SVMX_ERR_WRONG_RESULT, "does not write all of 'out'");
}

Test(custom, a_function_with_a_memory_is_refused) {
    uint32_t calls = 0;
    struct svmx_op_def def = mix_def();
    def.run = run_counting;
    def.user = &calls;
    refuse(&def, SVMX_ERR_WRONG_RESULT, "same bytes every time");
    cr_assert_gt(calls, 0u, "user was not handed over");
}

Test(custom, a_function_that_changes_the_rounding_harms_nobody) {
    struct svmx_op_def def = mix_def();
    def.run = run_rounding;
    const uint32_t op = register_or_fail(&def);
    cr_assert_eq(fegetround(), FE_TONEAREST, "registering changed it");
    uint32_t out[1], a[1] = {1};
    float sum, one = 1.0f, little = 1e-10f;
    const struct svmx_arg args[] = {svmx_out(SVMX_U32, out, 1), svmx_in(SVMX_U32, a, 1), svmx_in(SVMX_U32, a, 1),
                                    svmx_u32(100)};
    cr_assert_eq(svmx_batch_add(batch, op, args, 4), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, &sum, &one, &little, 1), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert(sum == 1.0f && out[0] == 101);
    cr_assert_eq(fegetround(), FE_TONEAREST, "running changed it");
}

/* ---- names, numbers, limits ---------------------------------------------------------------------------------- */

Test(custom, a_name_is_used_once) {
    struct svmx_op_def def = mix_def();
    const uint32_t op = register_or_fail(&def);
    refuse(&def, SVMX_ERR_STATE, "'mix_u32', which is in use: operation 128");
    def.name = "sha256";
    refuse(&def, SVMX_ERR_STATE, "'sha256', which is in use: operation 5");
    def.name = "mix_u33";
    cr_assert_eq(register_or_fail(&def), op + 1, "what was refused took no number");
}

Test(custom, two_executors_share_nothing) {
    svmx_executor_t *other;
    struct svmx_op_def def = mix_def();
    const uint32_t op = register_or_fail(&def);
    uint32_t found;
    cr_assert_eq(svmx_open(&other, &reference_only, NULL), SVMX_OK);
    cr_assert_eq(svmx_op_find(other, "mix_u32", &found, NULL), SVMX_ERR_UNKNOWN);
    cr_assert_eq(svmx_op_count(other) + 1, svmx_op_count(executor));
    svmx_batch_t *theirs;
    cr_assert_eq(svmx_batch_create(other, &theirs), SVMX_OK);
    cr_assert_eq(svmx_batch_add(theirs, op, NULL, 0), SVMX_ERR_UNKNOWN);
    def.name = "another";
    cr_assert_eq(svmx_op_register(other, &def, &found, NULL), SVMX_OK);
    cr_assert_eq(found, op, "numbers are an executor's own");
    svmx_batch_destroy(theirs);
    svmx_close(other);
}

Test(custom, as_many_as_fit_and_one_more) {
    enum { LIMIT = SVMX__OP_LIMIT - SVMX_OP_FIRST_REGISTERED };
    char name[32];
    struct svmx_op_def def = mix_def();
    def.name = name;
    def.trial_size = 2;
    for (uint32_t i = 0; i < LIMIT; i++) {
        (void)snprintf(name, sizeof name, "op_%u", i);
        cr_assert_eq(register_or_fail(&def), SVMX_OP_FIRST_REGISTERED + i);
    }
    (void)snprintf(name, sizeof name, "one_too_many");
    refuse(&def, SVMX_ERR_OVERFLOW, "128 operations are registered");
    for (uint32_t i = 0; i < LIMIT; i++) {
        uint32_t found = 0;
        (void)snprintf(name, sizeof name, "op_%u", i);
        cr_assert_eq(svmx_op_find(executor, name, &found, NULL), SVMX_OK);
        cr_assert_eq(found, SVMX_OP_FIRST_REGISTERED + i);
        cr_assert_eq(svmx__operations_at(executor->operations, svmx__op_count() + i)->id, found);
    }
    cr_assert_eq(add_mix(SVMX__OP_LIMIT - 1, 8, 3), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    struct svmx_error error;
    uint32_t found;
    cr_assert_eq(svmx_op_find(executor, "no_such", &found, &error), SVMX_ERR_UNKNOWN);
    cr_assert_not_null(strstr(error.text, "'no_such'; svmx ops lists them"), "%s", error.text);
}
