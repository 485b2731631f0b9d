/*
 * custom_fixture.h: an operation to register, for the suites of svmx_op_register: test_custom.c, test_custom_checks.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_CUSTOM_FIXTURE_H
#define TESTS_UNIT_CUSTOM_FIXTURE_H

#include "executor_fixture.h"

#include <stdio.h>
#include <string.h>

/* ---- an operation: out[i] = a[i] * k + b[i] ----------------------------------------------------------------- */

static inline void run_mix(const struct svmx_operand *args, void *user) {
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

static inline struct svmx_op_def mix_def(void) {
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

static inline uint32_t register_or_fail(const struct svmx_op_def *def) {
    uint32_t op = 0;
    struct svmx_error error = {SVMX_OK, ""};
    cr_assert_eq(svmx_op_register(executor, def, &op, &error), SVMX_OK, "%s", error.text);
    return op;
}

static inline void refuse(const struct svmx_op_def *def, enum svmx_status expected, const char *word) {
    uint32_t op = 77, count = svmx_op_count(executor);
    struct svmx_error error = {SVMX_OK, ""};
    cr_assert_eq(svmx_op_register(executor, def, &op, &error), expected, "'%s' expected, got: %s", word, error.text);
    cr_assert_eq(error.status, expected);
    cr_assert_not_null(strstr(error.text, word), "the text does not name '%s': %s", word, error.text);
    cr_assert_eq(op, 77u, "an output was set by a call that failed");
    cr_assert_eq(svmx_op_count(executor), count);
    cr_assert_eq(svmx_op_register(executor, def, &op, NULL), expected, "without an error to write to");
}

static inline enum svmx_status add_mix(uint32_t op, uint32_t n, uint32_t k) {
    static uint32_t out[16], a[16], b[16];
    const struct svmx_arg args[] = {svmx_out(SVMX_U32, out, n), svmx_in(SVMX_U32, a, n), svmx_in(SVMX_U32, b, n),
                                    svmx_u32(k)};
    return svmx_batch_add(batch, op, args, 4);
}

#endif
