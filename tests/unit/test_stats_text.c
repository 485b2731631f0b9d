/*
 * test_stats_text.c: counters as JSON and in the text format of Prometheus. What promtool says of it: scripts/test_metrics.py.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../stats_taken.h"
#include "executor_fixture.h"

#include "base/json_read.h"
#include "base/out.h"
#include <stdio.h>

TestSuite(stats_text, .init = set_up, .fini = tear_down);

enum { ITEMS = 16 };
static float out[3][ITEMS], in[ITEMS];

static void run_batches(unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        for (int t = 0; t < 3; t++) cr_assert_eq(svmx_vec_add_f32(batch, out[t], in, in, ITEMS), SVMX_OK);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    }
}

/* A line of its own is in the text. */
static bool has_line(const char *line) {
    const size_t bytes = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at++)
        if ((at == text || at[-1] == '\n') && at[bytes] == '\n') return true;
    return false;
}

Test(stats_text, json_is_json_and_has_what_was_run) {
    struct svmx__json json;
    char key[32];
    unsigned keys = 0;
    run_batches(4);
    (void)text_of(executor, SVMX_STATS_JSON);
    svmx__json_start(&json, text, length);
    cr_assert(svmx__json_enter(&json, '{'));
    while (svmx__json_next(&json, key, sizeof key)) {
        keys++;
        cr_assert(svmx__json_skip(&json));
    }
    cr_assert(svmx__json_end(&json), "%s", json.error);
    cr_assert_eq(keys, 8);
    cr_assert(strstr(text, "\"work\":{\"batches\":4,\"failed\":0,\"cancelled\":0,\"tasks\":12,\"launches\":4,"));
    cr_assert(strstr(text, "\"memory_used\":0,"));
    cr_assert(strstr(text, "{\"name\":\"vec_add_f32\",\"op\":1,\"unit\":\"element\",\"sizes\":[[64,4]],"));
    cr_assert(
        strstr(text, "{\"device\":0,\"parts\":4,\"tasks\":12,\"launches\":4,\"bytes_in\":1536,\"bytes_out\":768,"));
    cr_assert(strstr(text, "\"decisions\":{\"only\":4},\"failures\":{}"));
    cr_assert(strstr(text, "\"caches\":{\"pipelines\":{\"hits\":"), "of the operation");
    cr_assert(strstr(text, "\"id\":\"reference:0\",\"backend\":\"reference\""));
    cr_assert(!strstr(text, "sum_f32"), "what was not used is left out");
}

Test(stats_text, prometheus_has_what_was_run) {
    run_batches(4);
    (void)text_of(executor, SVMX_STATS_PROMETHEUS);
    cr_assert(has_line("# TYPE svmx_batches_total counter"));
    cr_assert(has_line("svmx_batches_total 4"));
    cr_assert(has_line("svmx_tasks_total{operation=\"vec_add_f32\",device=\"reference:0\"} 12"));
    cr_assert(has_line("svmx_input_bytes_total{operation=\"vec_add_f32\",device=\"reference:0\"} 1536"));
    cr_assert(has_line("svmx_decisions_total{operation=\"vec_add_f32\",device=\"reference:0\",why=\"only\"} 4"));
    cr_assert(has_line("svmx_failures_total{operation=\"vec_add_f32\",device=\"reference:0\",reason=\"timeout\"} 0"));
    cr_assert(has_line("svmx_latency_seconds_count{operation=\"vec_add_f32\",device=\"reference:0\"} 4"));
    cr_assert(has_line(
        "svmx_latency_seconds_bucket{operation=\"vec_add_f32\",device=\"reference:0\",le=\"17.179869184\"} 4"));
    cr_assert(has_line("svmx_latency_seconds_bucket{operation=\"vec_add_f32\",device=\"reference:0\",le=\"+Inf\"} 4"));
    cr_assert(
        strstr(text, "\nsvmx_operation_cache_hits_total{operation=\"vec_add_f32\",device=\"reference:0\",cache="));
    cr_assert(has_line("svmx_sizes_total{operation=\"vec_add_f32\",units=\"64\"} 4"));
    cr_assert(has_line("svmx_device_usable{device=\"reference:0\"} 1"));
    cr_assert(has_line("svmx_device_health{device=\"reference:0\",state=\"healthy\"} 1"));
    cr_assert(has_line("svmx_device_health{device=\"reference:0\",state=\"lost\"} 0"));
    cr_assert(has_line("svmx_device_load{device=\"reference:0\",state=\"normal\"} 1"));
    cr_assert(has_line("svmx_device_memory_used_bytes{device=\"reference:0\"} 0"));
    cr_assert(has_line("svmx_overloads_total 0"));
    cr_assert(has_line("svmx_cache_evictions_total{cache=\"pool\"} 0"));
}

/* Families are whole: a name has one head, and no sample of another one between its own. */
Test(stats_text, prometheus_families_are_whole) {
    static char seen[128][64];
    unsigned count = 0;
    run_batches(1);
    (void)text_of(executor, SVMX_STATS_PROMETHEUS);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char name[64];
        if (sscanf(line, "# HELP %63s", name) == 1) {
            for (unsigned i = 0; i < count; i++) cr_assert_str_neq(seen[i], name, "%s has two heads", name);
            cr_assert_lt(count, 128);
            (void)snprintf(seen[count++], sizeof *seen, "%s", name);
        } else if (line[0] != '#') {
            cr_assert_eq(strncmp(line, seen[count - 1], strlen(seen[count - 1])), 0, "%s under %s", line,
                         seen[count - 1]);
        }
    }
    cr_assert_gt(count, 30);
}

Test(stats_text, arguments) {
    cr_assert_eq(svmx_stats_write(NULL, SVMX_STATS_JSON, take, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_stats_write(executor, SVMX_STATS_JSON, NULL, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_stats_write(executor, 0, take, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_stats_write(executor, 3, take, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(length, 0);
}

/* ---- out.c ------------------------------------------------------------------------------------------------------- */

Test(stats_text, names_stay_text) {
    struct svmx__out to = {.write = take};
    svmx__out_quoted(&to, "a \"quoted\" \\ name\n\x7f \xc3\xa9 \xff \xed\xa0\x80");
    svmx__out_end(&to);
    cr_assert_str_eq(text, "\"a \\\"quoted\\\" \\\\ name?? \xc3\xa9 ? ???\"");
}

Test(stats_text, long_texts_come_in_pieces) {
    struct svmx__out to = {.write = take};
    for (int i = 0; i < 1000; i++) svmx__out_add(&to, "%04d ", i);
    svmx__out_end(&to);
    cr_assert_eq(length, 5000);
    cr_assert_eq(memcmp(text + 4990, "0998 0999 ", 10), 0);
    char over[600];
    memset(over, 'x', sizeof over);
    over[sizeof over - 1] = '\0';
    svmx__out_add(&to, "%s", over);
    svmx__out_end(&to);
    cr_assert_eq(length, 5000 + 511, "what is longer than a piece is cut");
}
