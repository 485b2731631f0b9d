/*
 * test_custom.c: svmx_op_register: every field that can be wrong, what is copied, numbers and names, limits, examples, and
 * that no executor knows the operations of another. What registered operations do on devices: tests/integration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor_fixture.h"

#include "ops/custom.h"
#include <fenv.h>
#include <stdio.h>
#include <string.h>

TestSuite(custom, .init = set_up, .fini = tear_down);

/* ---- an operation: out[i] = a[i] * k + b[i] ----------------------------------------------------------------- */

static void run_mix(const struct svmx_operand *args, void *user) {
    (void)user;
    uint32_t k;
    memcpy(&k, args[3].data, sizeof k);
    for (uint64_t at = 0; at < args[0].bytes; at += 4) {
        uint32_t a, b, out;
        memcpy(&a, (const char *)args[1].data + at, 4);
        memcpy(&b, (const char *)args[2].data + at, 4);
        out = a * k + b;
        memcpy((char *)args[0].data + at, &out, 4);
    }
}

static const struct svmx_param mix_params[] = {{"out", SVMX_OUT, SVMX_U32, SVMX_ARRAY, 0, 1},
                                               {"a", SVMX_IN, SVMX_U32, SVMX_ARRAY, 0, 1},
                                               {"b", SVMX_IN, SVMX_U32, SVMX_ARRAY, 0, 1},
                                               {"k", SVMX_IN, SVMX_U32, SVMX_SCALAR, 0, 1}};
enum { MIX_PARAMS = 4 };

static const uint32_t known_out[] = {31, 64}, known_a[] = {3, 6}, known_b[] = {1, 4}, known_k = 10;
static const struct svmx_known mix_known[] = {{known_out, 8}, {known_a, 8}, {known_b, 8}, {&known_k, 4}};
static const uint32_t spirv[] = {0x07230203, 0x00010000, 0, 1, 0};

static struct svmx_op_def mix_def(void) {
    return (struct svmx_op_def){.size = sizeof(struct svmx_op_def),
                                .name = "mix_u32",
                                .summary = "a product and a sum",
                                .unit = "element",
                                .params = mix_params,
                                .param_count = MIX_PARAMS,
                                .exactness = SVMX_EXACT,
                                .run = run_mix,
                                .known = mix_known,
                                .known_count = 1,
                                .opencl_c = "SVMX_KERNEL(mix_u32, 64) {}",
                                .spirv = spirv,
                                .spirv_bytes = sizeof spirv,
                                .local = 64,
                                .grain = 16};
}

static uint32_t register_or_fail(const struct svmx_op_def *def) {
    uint32_t op = 0;
    struct svmx_error error = {SVMX_OK, ""};
    cr_assert_eq(svmx_op_register(executor, def, &op, &error), SVMX_OK, "%s", error.text);
    return op;
}

static void refuse(const struct svmx_op_def *def, enum svmx_status expected, const char *word) {
    uint32_t op = 77, count = svmx_op_count(executor);
    struct svmx_error error = {SVMX_OK, ""};
    cr_assert_eq(svmx_op_register(executor, def, &op, &error), expected, "'%s' expected, got: %s", word, error.text);
    cr_assert_eq(error.status, expected);
    cr_assert_not_null(strstr(error.text, word), "the text does not name '%s': %s", word, error.text);
    cr_assert_eq(op, 77u, "an output was set by a call that failed");
    cr_assert_eq(svmx_op_count(executor), count);
    cr_assert_eq(svmx_op_register(executor, def, &op, NULL), expected, "without an error to write to");
}

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

/* Of the elements behind it. */
static void run_backwards(const struct svmx_operand *args, void *user) {
    (void)user;
    const uint64_t count = args[0].bytes / 4;
    for (uint64_t i = 0; i < count; i++)
        memcpy((char *)args[0].data + 4 * i, (const char *)args[1].data + 4 * (count - 1 - i), 4);
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

static enum svmx_status add_mix(uint32_t op, uint32_t n, uint32_t k) {
    static uint32_t out[16], a[16], b[16];
    const struct svmx_arg args[] = {svmx_out(SVMX_U32, out, n), svmx_in(SVMX_U32, a, n), svmx_in(SVMX_U32, b, n),
                                    svmx_u32(k)};
    return svmx_batch_add(batch, op, args, 4);
}

Test(custom, what_is_not_elementwise_and_says_so_is_refused) {
    struct svmx_op_def def = mix_def();
    def.known_count = 0;
    def.run = run_backwards;
    def.flags = SVMX_OP_ELEMENTWISE;
    refuse(&def, SVMX_ERR_WRONG_RESULT, "in pieces and as a whole");
    def.flags = 0;
    (void)register_or_fail(&def);
}

Test(custom, only_elements_of_one_size_are_elementwise) {
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

Test(custom, a_program_that_was_compiled_before_flags_is_served) {
    struct svmx_op_def def = mix_def();
    def.size = offsetof(struct svmx_op_def, flags);
    def.flags = 0xffff; /* is not looked at: for such a program it is not there */
    (void)register_or_fail(&def);
}

Test(custom, its_own_check) {
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

Test(custom, examples_that_its_check_refuses) {
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

Test(custom, lengths_that_disagree_without_a_check) {
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

Test(custom, ragged_inputs_and_their_offsets) {
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

Test(custom, examples_by_type) {
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
