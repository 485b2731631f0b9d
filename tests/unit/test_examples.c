/*
 * test_examples.c: made-up arguments: the same for the same seed, sound, in memory of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor_fixture.h"

#include <stdlib.h>

/* An address sanitizer would end the program instead of refusing what is too large. */
SVMX_EXPORT const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

TestSuite(examples, .init = set_up, .fini = tear_down);

static struct svmx_op op_at(uint32_t index) {
    struct svmx_op op = {.size = sizeof op};
    cr_assert_eq(svmx_op_get(executor, index, &op), SVMX_OK);
    return op;
}

Test(examples, every_operation_takes_its_examples) {
    static const uint64_t sizes[] = {0, 1, 2, 63, 1000};
    for (uint32_t i = 0; i < svmx_op_count(executor); i++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct svmx_op op = op_at(i);
            struct svmx_example example = {0};
            cr_assert_eq(svmx_example_create(executor, op.id, sizes[s], 1, &example), SVMX_OK, "%s", op.name);
            cr_assert_eq(example.arg_count, op.param_count);
            cr_assert_eq(svmx_batch_add(batch, op.id, example.args, example.arg_count), SVMX_OK, "%s of %u: %s",
                         op.name, (unsigned)sizes[s], svmx_batch_error(batch));
            cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
            cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
            svmx_example_destroy(&example);
            cr_assert_null(example.args);
            svmx_example_destroy(&example); /* again is fine */
        }
}

Test(examples, one_seed_one_example) {
    for (uint32_t i = 0; i < svmx_op_count(executor); i++) {
        struct svmx_op op = op_at(i);
        struct svmx_example a = {0}, b = {0}, other = {0};
        bool differs = false;
        cr_assert_eq(svmx_example_create(executor, op.id, 100, 7, &a), SVMX_OK);
        cr_assert_eq(svmx_example_create(executor, op.id, 100, 7, &b), SVMX_OK);
        cr_assert_eq(svmx_example_create(executor, op.id, 100, 8, &other), SVMX_OK);
        for (uint32_t p = 0; p < op.param_count; p++) {
            if (a.args[p].kind != SVMX_ARG_HOST) continue;
            cr_assert_eq(a.args[p].bytes, b.args[p].bytes);
            cr_assert_eq(memcmp(a.args[p].from.in, b.args[p].from.in, a.args[p].bytes), 0, "%s: %s", op.name,
                         op.params[p].name);
            differs = differs || a.args[p].bytes != other.args[p].bytes ||
                      memcmp(a.args[p].from.in, other.args[p].from.in, a.args[p].bytes) != 0;
            cr_assert_eq((uintptr_t)a.args[p].from.in % 64, 0, "aligned to a line");
        }
        cr_assert(differs, "%s: another seed, the same example", op.name);
        svmx_example_destroy(&a);
        svmx_example_destroy(&b);
        svmx_example_destroy(&other);
    }
}

Test(examples, sizes_that_do_not_fit) {
    static const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX / 2, UINT64_MAX / 4, UINT64_MAX / 8, UINT64_MAX / 32 + 1};
    for (uint32_t i = 0; i < svmx_op_count(executor); i++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct svmx_op op = op_at(i);
            struct svmx_example example = {0};
            enum svmx_status status = svmx_example_create(executor, op.id, sizes[s], 1, &example);
            cr_assert(status == SVMX_ERR_OVERFLOW || status == SVMX_ERR_MEMORY, "%s of %llx: %s", op.name,
                      (unsigned long long)sizes[s], svmx_status_name(status));
            cr_assert_null(example.owned);
        }
}
