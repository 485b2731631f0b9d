/*
 * test_scan_plan.c: sizes and operations of `svmx threshold-scan`, as the user writes them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/scan.h"
#include <criterion/criterion.h>
#include <string.h>

static void expect_sizes(const char *text, const uint64_t *want, unsigned count) {
    struct scan_sizes sizes;
    char why[SCAN_WHY_BYTES] = "";
    cr_assert(scan_sizes_parse(&sizes, text, why), "%s: %s", text, why);
    cr_assert_eq(sizes.count, count, "%s: %u sizes", text, sizes.count);
    for (unsigned i = 0; i < count; i++) cr_expect_eq(sizes.size[i], want[i], "%s: size %u", text, i);
}

static void expect_refused(const char *text, const char *reason) {
    struct scan_sizes sizes;
    char why[SCAN_WHY_BYTES] = "";
    cr_expect_not(scan_sizes_parse(&sizes, text, why), "%s", text);
    cr_expect(strstr(why, reason), "%s: %s", text, why);
}

Test(scan_plan, a_list_is_put_in_order) {
    expect_sizes("4K,1024,1,1024", (const uint64_t[]){1, 1024, 4096}, 3);
    expect_sizes("7", (const uint64_t[]){7}, 1);
}

Test(scan_plan, a_range_multiplies) {
    const uint64_t fours[] = {1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22};
    expect_sizes("1K:4M:x4", fours, 7);
    expect_sizes("1K:4M:2", fours, 7);
    expect_sizes("1K:4M", fours, 7);
    expect_sizes("1:8:1", (const uint64_t[]){1, 2, 4, 8}, 4);
    expect_sizes("100:1000:x10", (const uint64_t[]){100, 1000}, 2);
    expect_sizes("100:999:x10", (const uint64_t[]){100}, 1);
    expect_sizes("5:5", (const uint64_t[]){5}, 1);
}

Test(scan_plan, lists_and_ranges_mix) { expect_sizes("3,1:4:1,100", (const uint64_t[]){1, 2, 3, 4, 100}, 5); }

Test(scan_plan, the_largest_sizes_do_not_wrap) {
    expect_sizes("9223372036854775808:18446744073709551615:1", (const uint64_t[]){UINT64_C(1) << 63}, 1);
}

Test(scan_plan, what_is_no_size_is_refused) {
    expect_refused("", "a size is missing");
    expect_refused("1,,2", "a size is missing");
    expect_refused("1,", "a size is missing");
    expect_refused("0", "a size is 0");
    expect_refused("12x", "'12x' is no number");
    expect_refused("-1", "'-1' is no number");
    expect_refused("4K:1K", "FROM <= TO");
    expect_refused("0:8", "0 < FROM");
    expect_refused("1K:", "FROM:TO:STEP");
    expect_refused("1K::4M", "FROM:TO:STEP");
    expect_refused(":64:64", "FROM:TO:STEP");
    expect_refused(":64:64:", "FROM:TO:STEP");
    expect_refused(":", "FROM:TO:STEP");
    expect_refused("1:8:", "the step of a range");
    expect_refused("1:8:2:", "the step of a range");
    expect_refused("1:8:0", "the step of a range");
    expect_refused("1:8:x1", "the step of a range");
    expect_refused("1:8:33", "the step of a range");
    expect_refused("1:8:2:2", "the step of a range");
    expect_refused("1:1024:x2,2000:3000:x1", "the step of a range");
}

Test(scan_plan, there_is_room_for_64) {
    char text[512] = "1", one[16];
    for (int i = 2; i <= SCAN_MAX_SIZES + 1; i++) {
        snprintf(one, sizeof one, ",%d", i);
        strcat(text, one);
    }
    expect_refused(text, "more than 64 sizes");
}

/* ---- operations ------------------------------------------------------------------------------------------------- */

static struct cli_session reference;

static void session_open(void) { cr_assert_eq(cli_session_open_bare(&reference), CLI_OK); }
static void session_close(void) { cli_session_close(&reference); }

TestSuite(scan_ops, .init = session_open, .fini = session_close);

static const struct cli_command command = {.name = "threshold-scan"};

static enum cli_exit plan_of(struct scan_plan *plan, const char *ops, const char *sizes, const char *format) {
    struct cli_args args = {.command = &command};
    args.own[SCAN_OP].text = ops;
    args.own[SCAN_SIZES].text = sizes;
    args.own[SCAN_FORMAT].text = format;
    return scan_plan_make(plan, &reference, &args);
}

Test(scan_ops, by_default_what_a_newcomer_wants_to_see) {
    static const char *const names[] = {"vec_add_f32", "sigmoid_f32", "matmul_f32", "sha256", "keccak256"};
    static const enum scan_measure measures[] = {SCAN_ELEMENTS, SCAN_ELEMENTS, SCAN_SIDE, SCAN_BYTES, SCAN_BYTES};
    struct scan_plan plan;
    cr_assert_eq(plan_of(&plan, NULL, NULL, "csv"), CLI_OK);
    cr_assert_eq(plan.count, 5);
    for (unsigned i = 0; i < 5; i++) {
        cr_expect_str_eq(plan.ops[i].op.name, names[i]);
        cr_expect_eq(plan.ops[i].measure, measures[i]);
        cr_expect_eq(plan.ops[i].sizes.count, i == 2 ? 3 : 7);
        cr_expect_eq(plan.ops[i].sizes.size[0], i == 2 ? 100 : 1024);
    }
    cr_expect_eq(scan_work(&plan.ops[0], 10), 10);
    cr_expect_eq(scan_work(&plan.ops[2], 10), 1000, "a product of 10 x 10 is 1,000 multiplications");
    scan_plan_free(&plan);
}

Test(scan_ops, a_list_each_once_with_the_same_sizes) {
    struct scan_plan plan;
    cr_assert_eq(plan_of(&plan, "sha256,matmul_f32,sha256", "64", "csv"), CLI_OK);
    cr_assert_eq(plan.count, 2);
    cr_expect_eq(plan.ops[1].sizes.size[0], 64);
    scan_plan_free(&plan);
}

Test(scan_ops, all_of_them) {
    struct scan_plan plan;
    cr_assert_eq(plan_of(&plan, "all", "64", "csv"), CLI_OK);
    cr_expect_eq(plan.count, svmx_op_count(reference.executor));
    scan_plan_free(&plan);
}

Test(scan_ops, the_prototypes_format_has_one) {
    struct scan_plan plan;
    cr_assert_eq(plan_of(&plan, NULL, NULL, "prototype"), CLI_OK);
    cr_assert_eq(plan.count, 1);
    cr_expect_str_eq(plan.ops[0].op.name, "vec_add_f32");
    scan_plan_free(&plan);
    cr_expect_eq(plan_of(&plan, "sha256,keccak256", NULL, "prototype"), CLI_USAGE);
    scan_plan_free(&plan);
}

Test(scan_ops, a_name_that_is_none) {
    struct scan_plan plan;
    cr_expect_eq(plan_of(&plan, "sha265", NULL, "csv"), CLI_USAGE);
    scan_plan_free(&plan);
    cr_expect_eq(plan_of(&plan, "sha256,", NULL, "csv"), CLI_USAGE);
    scan_plan_free(&plan);
    cr_expect_eq(plan_of(&plan, "all,sha256", NULL, "csv"), CLI_USAGE);
    scan_plan_free(&plan);
}
