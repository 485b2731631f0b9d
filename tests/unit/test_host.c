/*
 * test_host.c: the upcalls that a backend gets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../integration/fake.h"
#include "executor/executor.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <stdio.h>

struct lines {
    unsigned count;
    char last[256];
};

static void keep(void *user, enum svmx_log_level level, const char *text) {
    struct lines *lines = user;
    (void)level;
    lines->count++;
    (void)snprintf(lines->last, sizeof lines->last, "%s", text);
}

static svmx_executor_t *executor;
static struct lines lines;

static const struct svmx_host *open_host(struct svmx_options options) {
    fake_start();
    options.log = keep;
    options.log_user = &lines;
    cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
    return fake.host;
}

Test(host, its_table_says_what_it_is) {
    const struct svmx_host *host = open_host(fake_options());
    cr_assert_eq(host->size, sizeof *host);
    cr_assert_eq(host->abi_major, SVMX_ABI_MAJOR);
    cr_assert_eq(host->abi_minor, SVMX_ABI_MINOR);
    svmx_close(executor);
}

Test(host, lines_carry_the_name_of_the_backend_and_the_last_error_is_kept) {
    const struct svmx_host *host = open_host(fake_options());
    host->log(host, SVMX_LOG_ERROR, "the fan is %s");
    cr_assert_str_eq(lines.last, "fake: the fan is %s", "text is no format");
    unsigned count = lines.count;
    host->log(host, SVMX_LOG_DEBUG, "too fine");
    cr_assert_eq(lines.count, count, "below the threshold");
    char line[32];
    svmx__host_take_error(executor->devices[0].backend, line, sizeof line);
    cr_assert_str_eq(line, "the fan is %s");
    svmx_close(executor);
}

Test(host, memory) {
    const struct svmx_host *host = open_host(fake_options());
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        void *memory = host->alloc(host, 100, alignment);
        cr_assert_not_null(memory);
        cr_assert_eq((uintptr_t)memory % alignment, 0);
        memset(memory, 1, 100);
        host->release(host, memory);
    }
    cr_assert_null(host->alloc(host, SIZE_MAX, 64));
    host->release(host, NULL);
    svmx_close(executor);
}

Test(host, options) {
    struct svmx_options options = fake_options();
    const struct svmx_host *host = open_host(options);
    cr_assert_null(host->option(host, "threads"));
    cr_assert_null(host->option(host, "variant"));
    cr_assert_null(host->option(host, "select"));
    cr_assert_null(host->option(host, "no such key"));
    svmx_close(executor);
    options.threads = 3;
    options.variant = "scalar";
    options.backends = "fake:0,stop";
    host = open_host(options);
    cr_assert_str_eq(host->option(host, "threads"), "3");
    cr_assert_str_eq(host->option(host, "variant"), "scalar");
    cr_assert_str_eq(host->option(host, "select"), "0");
    svmx_close(executor);
}

Test(host, the_clock_goes_on) {
    const struct svmx_host *host = open_host(fake_options());
    uint64_t first = host->now(host), second = host->now(host);
    cr_assert_gt(first, 0);
    cr_assert_geq(second, first);
    svmx_close(executor);
}

Test(host, reference_code_for_everybody) {
    const struct svmx_host *host = open_host(fake_options());
    float out[2] = {0}, a[2] = {1, 2}, b[2] = {10, 20};
    struct svmx_slot slots[] = {{(uintptr_t)out, 8}, {(uintptr_t)a, 8}, {(uintptr_t)b, 8}};
    cr_assert_eq(host->reference(host, "vec_add_f32", slots, 3), SVMX_OK);
    cr_assert(out[0] == 11 && out[1] == 22);
    cr_assert_eq(host->reference(host, "vec_add_f32", slots, 2), SVMX_ERR_ARGUMENT);
    cr_assert_eq(host->reference(host, "no_such_operation", slots, 3), SVMX_ERR_UNKNOWN);
    cr_assert_eq(host->reference(host, "vec_add_f32", NULL, 3), SVMX_OK, "a question whether it is known");
    svmx_close(executor);
}

/* "Always gives the right bytes": also in a thread of a driver that rounds otherwise. */
Test(host, reference_code_in_any_rounding_mode) {
    const struct svmx_host *host = open_host(fake_options());
    float nearest = 0, upward = 0, a = 1.0f, b = 1e-10f;
    struct svmx_slot slots[] = {{(uintptr_t)&nearest, 4}, {(uintptr_t)&a, 4}, {(uintptr_t)&b, 4}};
    cr_assert_eq(host->reference(host, "vec_add_f32", slots, 3), SVMX_OK);
    slots[0].at = (uintptr_t)&upward;
    cr_assert_eq(fesetround(FE_UPWARD), 0);
    enum svmx_status status = host->reference(host, "vec_add_f32", slots, 3);
    fesetround(FE_TONEAREST);
    cr_assert_eq(status, SVMX_OK);
    cr_assert_eq(memcmp(&nearest, &upward, 4), 0, "%a, not %a", (double)upward, (double)nearest);
    svmx_close(executor);
}
