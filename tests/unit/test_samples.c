/*
 * test_samples.c: metrics as `svmx top` reads them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/samples.h"

#include <criterion/criterion.h>
#include <string.h>

static struct cli_samples samples;

static bool reads(const char *text) { return cli_samples_read(&samples, strdup(text)); }

Test(samples, names_labels_values) {
    cr_assert(reads("# HELP a b\n# TYPE a counter\na 1\nb{x=\"y\"} 2.5\nb{x=\"z\",le=\"+Inf\"} 1e3\n"));
    cr_assert_eq(samples.count, 3);
    cr_assert_str_eq(samples.list[0].name, "a");
    cr_assert_str_eq(samples.list[0].labels, "");
    cr_assert_eq(samples.list[0].value, 1);
    cr_assert_str_eq(cli_sample_label(&samples.list[1], "x").text, "y");
    cr_assert_str_eq(cli_sample_label(&samples.list[2], "le").text, "+Inf");
    cr_assert_str_eq(cli_sample_label(&samples.list[2], "e").text, "", "no part of a name");
    cr_assert_eq(samples.list[2].value, 1000);
    cli_samples_free(&samples);
}

Test(samples, names_of_drivers_hold_anything) {
    cr_assert(reads("a{name=\"a } \\\"b\\\", device=\\\\ c\",device=\"d\"} 7\n"));
    cr_assert_str_eq(cli_sample_label(&samples.list[0], "name").text, "a } \"b\", device=\\ c");
    cr_assert_str_eq(cli_sample_label(&samples.list[0], "device").text, "d");
    cr_assert_eq(samples.list[0].value, 7);
    cli_samples_free(&samples);
}

Test(samples, sums) {
    cr_assert(reads("a{o=\"p\",d=\"x\"} 1\na{o=\"p\",d=\"y\"} 2\na{o=\"q\",d=\"x\"} 4\nab{o=\"p\"} 8\n"));
    cr_assert_eq(cli_samples_sum(&samples, "a", NULL), 7);
    cr_assert_eq(cli_samples_sum(&samples, "a", "o", "p", NULL), 3);
    cr_assert_eq(cli_samples_sum(&samples, "a", "d", "x", NULL), 5);
    cr_assert_eq(cli_samples_sum(&samples, "a", "o", "p", "d", "y", NULL), 2);
    cr_assert_eq(cli_samples_sum(&samples, "a", "o", "r", NULL), 0);
    cr_assert_eq(cli_samples_sum(&samples, "c", NULL), 0);
    cli_samples_free(&samples);
}

Test(samples, what_is_none) {
    static const char *const bad[] = {"a", "a x", "a 1 2", "{x=\"y\"} 1", "a{x=\"y\" 1", "a{x=\"y} 1", "<html>"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) cr_assert_not(reads(bad[i]), "%s", bad[i]);
    cr_assert(reads(""));
    cr_assert_eq(samples.count, 0);
    cli_samples_free(&samples);
}
