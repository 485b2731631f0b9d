/*
 * test_inspect.c: the questions that an executor answers about itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/versioned.h"
#include "executor_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TestSuite(inspect, .init = set_up, .fini = tear_down);

Test(inspect, devices) {
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_device_count(executor), 1);
    cr_assert_eq(svmx_device_get(executor, 0, &device), SVMX_OK);
    cr_assert_str_eq(device.backend, "reference");
    cr_assert_eq(device.kind, SVMX_DEVICE_CPU);
    cr_assert_eq(device.usable, 1);
    cr_assert_eq(device.tasks + device.launches + device.failures + device.bytes_in + device.busy_ns, 0);
    cr_assert_eq(svmx_device_get(executor, 1, &device), SVMX_ERR_UNKNOWN);
    cr_assert_eq(svmx_device_get(executor, UINT32_MAX, &device), SVMX_ERR_UNKNOWN);
}

Test(inspect, counters_count) {
    static float out[3][16], in[16];
    struct svmx_device device = {.size = sizeof device};
    struct svmx_stats before = {.size = sizeof before}, after = before;
    for (int round = 0; round < 4; round++) {
        if (round == 1) cr_assert_eq(svmx_stats_get(executor, &before), SVMX_OK);
        for (int t = 0; t < 3; t++) cr_assert_eq(svmx_vec_add_f32(batch, out[t], in, in, 16), SVMX_OK);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    }
    cr_assert_eq(svmx_stats_get(executor, &after), SVMX_OK);
    cr_assert_eq(after.batches, 4);
    cr_assert_eq(after.tasks, 12);
    cr_assert_eq(after.launches, 4);
    cr_assert_eq(after.fallbacks, 0);
    cr_assert_eq(after.pipeline_hits - before.pipeline_hits, 3, "once built it is found");
    cr_assert_eq(after.pipeline_misses, before.pipeline_misses);
    cr_assert_eq(after.layout_misses, before.layout_misses);
    cr_assert_eq(svmx_device_get(executor, 0, &device), SVMX_OK);
    cr_assert_eq(device.tasks, 12);
    cr_assert_eq(device.launches, 4);
    cr_assert_eq(device.bytes_in, 12 * 2 * 16 * 4);
    cr_assert_eq(device.bytes_out, 12 * 16 * 4);
    cr_assert_gt(device.busy_ns, 0);
}

static struct svmx_stats regret_of(const uint64_t *ppm, uint64_t count) {
    struct svmx_stats stats = {.size = sizeof stats};
    executor->choices.probes = count;
    executor->choices.regret_ppm = executor->choices.regret_ppm_squared = 0;
    for (uint64_t i = 0; i < count; i++) {
        executor->choices.regret_ppm += ppm[i];
        executor->choices.regret_ppm_squared += ppm[i] * ppm[i];
    }
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    return stats;
}

/* Of 0 and 200,000 the deviation is 141,421 with n - 1, the mean's 100,000, and t is 12.7: beyond both ends. Of ten that are
 * 90,000 and 110,000 by turns: 10,541, 3,333, 2.26. */
Test(inspect, regret_has_an_interval_from_two_probes_on) {
    const uint64_t some[] = {90000, 110000, 90000, 110000, 90000, 110000, 90000, 110000, 90000, 110000};
    struct svmx_stats stats = regret_of(some, 0);
    cr_expect_eq(stats.regret_ppm + stats.regret_low_ppm + stats.regret_high_ppm, 0, "nothing was tried");
    stats = regret_of(some, 1);
    cr_expect_eq(stats.regret_ppm, 90000);
    cr_expect(stats.regret_low_ppm == 0 && stats.regret_high_ppm == 1000000, "one probe has no interval");
    stats = regret_of((const uint64_t[]){0, 200000}, 2);
    cr_expect_eq(stats.regret_ppm, 100000);
    cr_expect(stats.regret_low_ppm == 0 && stats.regret_high_ppm == 1000000, "two that differ know next to nothing");
    stats = regret_of(some, 10);
    cr_expect_eq(stats.regret_ppm, 100000);
    cr_expect(stats.regret_low_ppm >= 92460 && stats.regret_low_ppm <= 92473, "%lu",
              (unsigned long)stats.regret_low_ppm);
    cr_expect(stats.regret_high_ppm >= 107527 && stats.regret_high_ppm <= 107540, "%lu",
              (unsigned long)stats.regret_high_ppm);
}

Test(inspect, the_pool_is_counted) {
    static float sum, in[16];
    struct svmx_stats stats = {.size = sizeof stats};
    for (int round = 0; round < 5; round++) { /* a sum needs scratch */
        cr_assert_eq(svmx_sum_f32(batch, &sum, in, 16), SVMX_OK);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    }
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_geq(stats.pool_hits, 4);
    cr_assert_leq(stats.pool_misses, 2);
    cr_assert_geq(stats.pool_bytes_peak, stats.pool_bytes);
    cr_assert_gt(stats.pool_bytes, 0);
}

/* An executor has the store that its options name, and makes nothing on disk by itself. */
Test(inspect, the_cache_on_disk_is_counted) {
    char base[] = "/tmp/svmx-test-XXXXXX", path[64], secret[80];
    const struct svmx__binary_key key = {
        .kind = SVMX__BINARY_PIPELINE, .backend = "b", .version = "1", .device = "d", .driver = "r", .op = "o"};
    struct svmx_stats stats = {.size = sizeof stats};
    struct svmx_options options = reference_only;
    svmx_executor_t *other;
    size_t bytes;
    cr_assert(mkdtemp(base));
    (void)snprintf(path, sizeof path, "%s/svmx", base);
    options.cache_dir = path;
    options.cache_bytes = 200;
    cr_assert_eq(svmx_open(&other, &options, NULL), SVMX_OK);
    cr_assert_neq(access(path, F_OK), 0, "nothing before the first put");
    cr_assert_null(svmx__binary_store_get(&other->binaries, &key, &bytes));
    cr_assert(svmx__binary_store_put(&other->binaries, &key, "payload", 7));
    free(svmx__binary_store_get(&other->binaries, &key, &bytes));
    free(svmx__binary_store_get(&other->binaries, &key, &bytes));
    const struct svmx__binary_key next = {
        .kind = SVMX__BINARY_PIPELINE, .backend = "b", .version = "2", .device = "d", .driver = "r", .op = "o"};
    static const char large[100];
    cr_assert(svmx__binary_store_put(&other->binaries, &next, large, sizeof large), "and the first must go");
    svmx__binary_store_drop(&other->binaries, &next);
    cr_assert_eq(svmx_stats_get(other, &stats), SVMX_OK);
    cr_assert_eq(stats.cache_hits, 2);
    cr_assert_eq(stats.cache_misses, 1);
    cr_assert_eq(stats.cache_stored, 2);
    cr_assert_eq(stats.cache_evicted, 1);
    cr_assert_eq(stats.cache_removed, 1);
    svmx_close(other);
    (void)snprintf(secret, sizeof secret, "%s/.secret", path);
    cr_assert_eq(unlink(secret) + rmdir(path) + rmdir(base), 0, "nothing else is left in it");
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_eq(stats.cache_hits + stats.cache_misses + stats.cache_stored, 0, "two executors share nothing");
}

Test(inspect, operations) {
    for (uint32_t i = 0; i < svmx_op_count(executor); i++) {
        struct svmx_op op = {.size = sizeof op};
        uint32_t number = 0;
        cr_assert_eq(svmx_op_get(executor, i, &op), SVMX_OK);
        cr_assert_eq(svmx_op_find(executor, op.name, &number, NULL), SVMX_OK);
        cr_assert_eq(number, op.id);
        cr_assert(*op.summary && *op.unit && op.param_count > 0);
        cr_assert_eq(op.params[0].direction, SVMX_OUT, "outputs first");
    }
    struct svmx_op op = {.size = sizeof op};
    cr_assert_eq(svmx_op_get(executor, svmx_op_count(executor), &op), SVMX_ERR_UNKNOWN);
}

Test(inspect, the_load_report_says_what_became_of_everybody) {
    struct svmx_load_entry entry = {.size = sizeof entry};
    bool found = false;
    cr_assert_geq(svmx_load_report_count(executor), 1);
    for (uint32_t i = 0; i < svmx_load_report_count(executor); i++) {
        cr_assert_eq(svmx_load_report_get(executor, i, &entry), SVMX_OK);
        cr_assert(entry.name && entry.path && entry.reason && entry.version && entry.licence);
        if (strcmp(entry.name, "reference") != 0) continue;
        found = true;
        cr_assert_eq(entry.verdict, SVMX_LOADED);
        cr_assert_str_eq(entry.path, "");
        cr_assert_eq(entry.noted, 0, "it is ready, and that is all");
    }
    cr_assert(found);
    cr_assert_eq(svmx_load_report_get(executor, svmx_load_report_count(executor), &entry), SVMX_ERR_UNKNOWN);
}

Test(inspect, settings) {
    struct svmx_config_entry entry = {.size = sizeof entry};
    cr_assert_eq(svmx_config_count(executor), SVMX__SETTING_COUNT);
    cr_assert_eq(svmx_config_get(executor, SVMX__BACKENDS, &entry), SVMX_OK);
    cr_assert_str_eq(entry.value, "none");
    cr_assert_eq(entry.source, SVMX_FROM_OPTIONS);
    cr_assert_eq(svmx_config_get(executor, SVMX__SETTING_COUNT, &entry), SVMX_ERR_UNKNOWN);
}

Test(inspect, structs_of_a_later_version_are_served) {
    struct {
        struct svmx_device device;
        uint64_t more;
    } device = {.device.size = sizeof device, .more = 42};
    struct {
        struct svmx_stats stats;
        uint64_t more;
    } stats = {.stats.size = sizeof stats, .more = 42};
    cr_assert_eq(svmx_device_get(executor, 0, &device.device), SVMX_OK);
    cr_assert_eq(svmx_stats_get(executor, &stats.stats), SVMX_OK);
    cr_assert_eq(device.more, 42);
    cr_assert_eq(stats.more, 42);
    cr_assert_eq(device.device.size, sizeof device);
}

/* A caller of 0.1.0: structures that end with the last field of then, with something else behind. */
#define AS_FIRST_SHIPPED(type, last, call)                                                                             \
    do {                                                                                                               \
        enum { FIRST = SVMX__THROUGH(struct type, last) };                                                             \
        union {                                                                                                        \
            struct type given;                                                                                         \
            unsigned char bytes[sizeof(struct type) + 1];                                                              \
        } u;                                                                                                           \
        struct type *it = &u.given;                                                                                    \
        memset(&u, 0xa5, sizeof u);                                                                                    \
        it->size = FIRST - 1;                                                                                          \
        cr_assert_eq(call, SVMX_ERR_ARGUMENT, #type " below what was shipped");                                        \
        it->size = FIRST;                                                                                              \
        cr_assert_eq(call, SVMX_OK, #type);                                                                            \
        cr_assert_eq(it->size, FIRST);                                                                                 \
        cr_assert_neq(u.bytes[FIRST - sizeof it->last], 0xa5, #type " was not filled in");                             \
        for (size_t i = FIRST; i < sizeof u.bytes; i++) cr_assert_eq(u.bytes[i], 0xa5, #type ": byte %zu written", i); \
    } while (0)

Test(inspect, callers_of_the_first_version_are_served) {
    AS_FIRST_SHIPPED(svmx_device, failures, svmx_device_get(executor, 0, it));
    AS_FIRST_SHIPPED(svmx_load_entry, status, svmx_load_report_get(executor, 0, it));
    AS_FIRST_SHIPPED(svmx_op, params, svmx_op_get(executor, 0, it));
    AS_FIRST_SHIPPED(svmx_config_entry, reserved, svmx_config_get(executor, 0, it));
    AS_FIRST_SHIPPED(svmx_stats, pool_bytes_peak, svmx_stats_get(executor, it));
}
