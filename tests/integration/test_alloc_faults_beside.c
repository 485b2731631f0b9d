/*
 * test_alloc_faults_beside.c: the n-th allocation of the library fails, for n = 1, 2, ... until none is left to fail, in what there
 * is beside batches: opening, examples, operations that are registered, counters, and what is kept on disk. Every call says MEMORY
 * or does its work; nothing crashes, leaks or is lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "alloc_faults.h"
#include "mix_op.h"

#include "cache/binary_store.h"
#include "executor/executor.h"
#include <unistd.h>

/* with_files: plugins are looked for in a folder. */
static void opening(bool and_after, bool with_files) {
    if (with_files && !has_simd()) cr_skip_test("there is no SIMD backend");
    for (int n = 1;; n++) {
        cr_assert_lt(n, 500, "allocations without end");
        struct svmx_options options = options_of(false);
        if (with_files) options.backends = "simd";
        if (with_files) options.backend_path = getenv("SVMX_TEST_BACKEND_PATH");
        svmx_executor_t *executor = NULL;
        struct svmx_error error = {0};
        fail_at(n, and_after);
        enum svmx_status status = svmx_open(&executor, &options, &error);
        bool failed = has_failed();
        expect_ok_or_memory(status, n, "svmx_open");
        cr_assert(failed || status == SVMX_OK);
        if (status != SVMX_OK) cr_assert_null(executor);
        if (status != SVMX_OK) cr_assert_str_neq(error.text, "");
        svmx_close(executor);
        if (!failed) return;
    }
}

Test(alloc_faults, opening_once) { opening(false, false); }
Test(alloc_faults, opening_from_then_on) { opening(true, false); }
Test(alloc_faults, opening_with_plugins_once) { opening(false, true); }
Test(alloc_faults, opening_with_plugins_from_then_on) { opening(true, true); }

Test(alloc_faults, examples) {
    struct svmx_options options = options_of(false);
    svmx_executor_t *executor;
    cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
    for (int n = 1;; n++) {
        struct svmx_example example = {0};
        fail_at(n, false);
        enum svmx_status status = svmx_example_create(executor, SVMX_OP_SHA256, 100, 1, &example);
        bool failed = has_failed();
        cr_assert_eq(status, failed ? SVMX_ERR_MEMORY : SVMX_OK);
        if (failed) cr_assert_null(example.owned);
        svmx_example_destroy(&example);
        if (!failed) break;
    }
    svmx_close(executor);
}

/* What failed left no trace: the name is free, and the next one gets the first number. */
Test(alloc_faults, registering) {
    static const uint32_t module[] = {0x07230203, 0x00010000, 0, 1, 0};
    struct svmx_options options = options_of(false);
    for (int n = 1;; n++) {
        cr_assert_lt(n, 500, "allocations without end");
        svmx_executor_t *executor;
        uint32_t op = 77;
        struct svmx_error error = {0};
        struct svmx_op_def def = mix_def("mix_u32", "text");
        def.known = mix_known;
        def.known_count = 1;
        def.spirv = module;
        def.spirv_bytes = sizeof module;
        cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
        fail_at(n, n % 2);
        enum svmx_status status = svmx_op_register(executor, &def, &op, &error);
        bool failed = has_failed();
        cr_assert_eq(status, failed ? SVMX_ERR_MEMORY : SVMX_OK, "allocation %d: %s", n, error.text);
        if (failed) {
            cr_assert(op == 77 && error.text[0]);
            cr_assert_eq(svmx_op_register(executor, &def, &op, NULL), SVMX_OK);
        }
        cr_assert_eq(op, (uint32_t)SVMX_OP_FIRST_REGISTERED);
        svmx_close(executor);
        if (!failed) return;
    }
}

static void count_text(void *user, const char *text, size_t length) {
    (void)text;
    *(size_t *)user += length;
}

/* Counters are told, or it is said that there is no memory for it. */
Test(alloc_faults, counters) {
    struct svmx_options options = options_of(false);
    svmx_executor_t *executor;
    struct trial trial;
    svmx_batch_t *batch;
    float sum;
    trial_fill(&trial, 1);
    cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(fill(batch, &trial, &sum), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    svmx_batch_destroy(batch);
    for (uint32_t format = SVMX_STATS_JSON; format <= SVMX_STATS_PROMETHEUS; format++)
        for (int n = 1, failed = 1; failed; n++) {
            size_t length = 0;
            cr_assert_lt(n, 500, "allocations without end");
            fail_at(n, false);
            const enum svmx_status status = svmx_stats_write(executor, format, count_text, &length);
            failed = has_failed();
            expect_ok_or_memory(status, n, "svmx_stats_write");
            cr_assert(status != SVMX_OK || length > 100);
        }
    svmx_close(executor);
}

/* ---- on disk ---------------------------------------------------------------------------------------------------- */

static const struct svmx__binary_key some_key = {
    .kind = SVMX__BINARY_PIPELINE, .backend = "b", .version = "v", .device = "d", .driver = "r", .op = "o"};

/* Want of memory says nothing of a file: it is a miss, and the record stays. */
Test(alloc_faults, a_cache_on_disk) {
    char folder[] = "/tmp/svmx-test-XXXXXX";
    const struct svmx__log log = {.level = SVMX_LOG_OFF};
    struct svmx__binary_store store;
    cr_assert(mkdtemp(folder));
    svmx__binary_store_init(&store, folder, 1 << 20, &log);
    cr_assert(svmx__binary_store_put(&store, &some_key, "payload", 7));
    for (int n = 1, failed = 1; failed; n++) {
        size_t bytes = 0;
        svmx_cache_t *cache = NULL;
        struct svmx_cache_entry entry = {.size = sizeof entry};
        fail_at(n, false);
        bool put = svmx__binary_store_put(&store, &some_key, "payload", 7);
        char *payload = svmx__binary_store_get(&store, &some_key, &bytes);
        enum svmx_status status = svmx_cache_open(&cache, folder, SVMX_CACHE_CHECK, NULL);
        failed = has_failed();
        cr_assert(!payload || (bytes == 7 && memcmp(payload, "payload", 7) == 0), "allocation %d", n);
        expect_ok_or_memory(status, n, "svmx_cache_open");
        cr_assert(failed || (put && payload && status == SVMX_OK));
        if (status == SVMX_OK) {
            cr_assert_eq(svmx_cache_get(cache, 0, &entry), SVMX_OK);
            cr_assert_str_eq(entry.defect, "", "allocation %d", n);
        }
        cr_assert_eq(store.removed, 0, "allocation %d: a good record is gone", n);
        free(payload);
        svmx_cache_close(cache);
    }
    svmx__binary_store_drop(&store, &some_key);
    svmx__binary_store_fini(&store);
    char secret[64];
    (void)snprintf(secret, sizeof secret, "%s/.secret", folder);
    cr_assert_eq(unlink(secret), 0);
    cr_assert_eq(rmdir(folder), 0, "nothing is left");
}

/* An executor with two devices, so that there is something to choose, and a profile. */
static svmx_executor_t *open_with_profile(const char *path) {
    static struct svmx_plugin other;
    static const struct svmx_plugin *plugins[2] = {&fake_plugin, &other};
    struct svmx_options options = options_of(true);
    svmx_executor_t *executor;
    other = fake_plugin;
    memcpy(other.name, "other", sizeof "other");
    options.backends = "fake,other,stop";
    options.static_plugins = plugins;
    options.static_plugin_count = 2;
    options.profile = path;
    cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
    return executor;
}

static uint32_t cells_in(const char *path, int n) {
    svmx_profile_t *profile;
    cr_assert_eq(svmx_profile_open(&profile, path, NULL), SVMX_OK);
    cr_assert_str_eq(svmx_profile_defect(profile), "", "allocation %d", n);
    const uint32_t count = svmx_profile_count(profile);
    svmx_profile_close(profile);
    return count;
}

/* Want of memory costs nothing of what is on the disk: the profile is written whole, or stays as it was. */
Test(alloc_faults, a_profile_on_disk) {
    char folder[] = "/tmp/svmx-test-XXXXXX", path[64];
    const struct svmx__sample sample = {.compute_ns = 1000};
    uint32_t known = 0;
    cr_assert(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/profile", folder);
    fake_start();
    for (int n = 1, failed = 1; failed; n++) {
        svmx_executor_t *executor = open_with_profile(path);
        svmx_profile_t *profile = NULL;
        const struct svmx__load load = {.units = UINT64_C(1) << (n % 40), .work = UINT64_C(1) << (n % 40)};
        cr_assert_lt(n, 500, "allocations without end");
        cr_assert(svmx__model_learn(&executor->model, SVMX_OP_SHA256, (uint32_t)n % 2, &load, &sample));
        fail_at(n, n % 2);
        svmx__profile_load(executor); /* once more; a cell that was just measured may be as the file has it */
        enum svmx_status saved = svmx_profile_save(executor, NULL), opened = svmx_profile_open(&profile, path, NULL);
        failed = has_failed();
        expect_ok_or_memory(saved, n, "svmx_profile_save");
        expect_ok_or_memory(opened, n, "svmx_profile_open");
        cr_assert(failed || (saved == SVMX_OK && opened == SVMX_OK));
        svmx_profile_close(profile);
        cr_assert_geq(cells_in(path, n), known, "allocation %d: cells are gone", n);
        svmx_close(executor);
        known = cells_in(path, n);
    }
    cr_assert_gt(known, 10u);
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(rmdir(folder), 0, "nothing is left");
}
