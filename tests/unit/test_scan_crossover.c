/*
 * test_scan_crossover.c: from rows of `svmx threshold-scan` to crossovers, by operation and GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/scan.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct scan_side a = {.shown = "a"}, b = {.shown = "b"};
static struct scan_op add = {.op.name = "add", .op.unit = "element"}, hash = {.op.name = "hash", .measure = SCAN_BYTES};

/* The CPU takes 100. */
static struct scan_row row_of(struct scan_op *op, struct scan_side *gpu, uint64_t size, double gpu_ns) {
    return (struct scan_row){.op = op,
                             .gpu = gpu,
                             .size = size,
                             .cpu_ns.median = 100,
                             .gpu_ns.median = gpu_ns,
                             .first_ns = size * 10,
                             .verified = true,
                             .decided = true};
}

/* In the order of a scan: sizes, and in each all GPUs. */
static const struct scan_rows *some_rows(void) {
    static struct scan_row rows[9];
    static struct scan_rows all = {.rows = rows};
    unsigned n = 0;
    rows[n++] = row_of(&add, &a, 1, 50); /* wins, but not at 2 */
    rows[n++] = row_of(&add, &b, 1, 500);
    rows[n++] = row_of(&add, &a, 2, 95);
    rows[n++] = row_of(&add, &b, 2, 91);
    rows[n++] = row_of(&add, &a, 4, 80);
    rows[n++] = row_of(&add, &b, 4, 90);
    rows[n++] = row_of(&add, &a, 8, 25);
    rows[n++] = row_of(&hash, &a, 64, 10);
    rows[n] = row_of(&hash, NULL, 64, 0);
    rows[3].decided = false;
    rows[1].samples = rows[3].samples = rows[5].samples = 5; /* the others have one, and so no spread */
    rows[1].gpu_ns.low = 450, rows[1].gpu_ns.high = 550;     /* +-10 % */
    rows[3].gpu_ns.low = 81.9, rows[3].gpu_ns.high = 118.3;  /* +-20 % */
    rows[5].gpu_ns.low = rows[5].gpu_ns.high = 90;
    all.count = n + 1;
    return &all;
}

static void expect_next(size_t *at, const struct scan_op *op, const struct scan_side *gpu, bool found, uint64_t size,
                        uint64_t largest) {
    struct scan_crossing crossing;
    cr_assert(scan_crossing_next(some_rows(), at, &crossing));
    cr_expect_eq(crossing.op, op);
    cr_expect_eq(crossing.gpu, gpu);
    cr_expect_eq(crossing.found, found);
    cr_expect_eq(crossing.size, size);
    cr_expect_eq(crossing.largest, largest);
}

Test(scan_crossover, each_operation_and_gpu_once) {
    struct scan_crossing crossing;
    size_t at = 0;
    expect_next(&at, &add, &a, true, 4, 8);
    expect_next(&at, &add, &b, false, 0, 4);
    expect_next(&at, &hash, &a, true, 64, 64);
    cr_expect_not(scan_crossing_next(some_rows(), &at, &crossing));
}

Test(scan_crossover, the_best_and_the_coldest) {
    struct scan_crossing crossing;
    size_t at = 0;
    cr_assert(scan_crossing_next(some_rows(), &at, &crossing));
    cr_expect_eq(crossing.best, 4);
    cr_expect_eq(crossing.first_ns, 80);
    cr_expect_eq(crossing.later_ns, 25);
    cr_expect_eq(crossing.undecided, 0);
    cr_assert(scan_crossing_next(some_rows(), &at, &crossing));
    cr_expect_eq(crossing.undecided, 1);
}

Test(scan_crossover, in_words) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    cr_assert(out);
    scan_crossings_text(some_rows(), out);
    fclose(out);
    cr_expect(strstr(text, " a          wins from 4 elements on          at best 4.00 x; cold 80 ns, warm 25 ns\n"),
              "%s", text);
    cr_expect(strstr(text, " b          never up to 4                    at best 1.11 x; cold 40 ns, warm 90 ns; "
                           "spread up to +-20 %; TOO"),
              "%s", text);
    cr_expect(strstr(text, " a          wins from 64 bytes on "), "%s", text);
    cr_expect(strstr(text, "TOO NOISY TO DECIDE at 1 size\n"), "%s", text);
    free(text);
}
