/*
 * test_pipeline_cache.c: pipelines by key. Races are in tests/integration/threads.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/pipeline_cache.h"

#include <criterion/criterion.h>
#include <string.h>

enum { MANY = 2000 };

static struct svmx_pipeline *compiled(uintptr_t number) { return (struct svmx_pipeline *)(number * 16); }

static struct svmx__key key_of(uint32_t i) { return (struct svmx__key){i % 3, i / 3, UINT64_C(1) << (i % 30), i % 2}; }

static void count_drops(void *user, const struct svmx__pipeline *entry) {
    unsigned *drops = user;
    drops[entry->key.op * 3 + entry->key.device]++;
}

Test(pipeline_cache, entries_are_found_never_move_and_are_dropped_once) {
    static const struct svmx__pipeline *entries[MANY];
    static unsigned drops[MANY + 3];
    struct svmx__pipeline_cache cache;
    cr_assert_eq(svmx__pipeline_cache_init(&cache), SVMX_OK);
    for (uint32_t i = 0; i < MANY; i++) {
        const struct svmx__key key = key_of(i);
        const struct svmx__pipeline value = {key, SVMX_OK, compiled(i + 1)};
        cr_assert_null(svmx__pipeline_cache_find(&cache, &key));
        cr_assert_eq(svmx__pipeline_cache_insert(&cache, &value, &entries[i]), SVMX_OK);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        const struct svmx__key key = key_of(i);
        cr_assert_eq(svmx__pipeline_cache_find(&cache, &key), entries[i], "entry %u moved", i);
        cr_assert_eq(entries[i]->compiled, compiled(i + 1));
    }
    cr_assert_eq(atomic_load(&cache.hits), MANY);
    cr_assert_eq(atomic_load(&cache.misses), MANY);
    svmx__pipeline_cache_fini(&cache, count_drops, drops);
    for (uint32_t i = 0; i < MANY; i++) cr_assert_eq(drops[i], 1, "entry %u: %u drops", i, drops[i]);
}

Test(pipeline_cache, who_comes_first_counts) {
    static unsigned drops[4];
    struct svmx__pipeline_cache cache;
    const struct svmx__pipeline *first, *second;
    const struct svmx__pipeline a = {{0, 0, 64, 0}, SVMX_OK, compiled(1)}, b = {{0, 0, 64, 0}, SVMX_OK, compiled(2)};
    cr_assert_eq(svmx__pipeline_cache_init(&cache), SVMX_OK);
    cr_assert_eq(svmx__pipeline_cache_insert(&cache, &a, &first), SVMX_OK);
    cr_assert_eq(svmx__pipeline_cache_insert(&cache, &b, &second), SVMX_OK);
    cr_assert_eq(first, second);
    cr_assert_eq(second->compiled, compiled(1), "the caller still owns its own");
    cr_assert_eq(cache.count, 1);
    svmx__pipeline_cache_fini(&cache, count_drops, drops);
    cr_assert_eq(drops[0], 1);
}

Test(pipeline_cache, refusals_are_kept_too) {
    static unsigned drops[4];
    struct svmx__pipeline_cache cache;
    const struct svmx__pipeline *entry;
    const struct svmx__pipeline refusal = {{0, 1, 64, 0}, SVMX_ERR_UNSUPPORTED, NULL};
    cr_assert_eq(svmx__pipeline_cache_init(&cache), SVMX_OK);
    cr_assert_eq(svmx__pipeline_cache_insert(&cache, &refusal, &entry), SVMX_OK);
    entry = svmx__pipeline_cache_find(&cache, &refusal.key);
    cr_assert_not_null(entry);
    cr_assert_eq(entry->verdict, SVMX_ERR_UNSUPPORTED);
    svmx__pipeline_cache_fini(&cache, count_drops, drops);
}

Test(pipeline_cache, knows_a_pipeline_by_its_device) {
    static unsigned drops[MANY];
    struct svmx__pipeline_cache cache;
    const struct svmx__pipeline *entry;
    const struct svmx__pipeline value = {{2, 5, 64, 0}, SVMX_OK, compiled(7)};
    cr_assert_eq(svmx__pipeline_cache_init(&cache), SVMX_OK);
    cr_assert_not(svmx__pipeline_cache_knows(&cache, 2, compiled(7)));
    cr_assert_eq(svmx__pipeline_cache_insert(&cache, &value, &entry), SVMX_OK);
    cr_assert(svmx__pipeline_cache_knows(&cache, 2, compiled(7)));
    cr_assert_not(svmx__pipeline_cache_knows(&cache, 1, compiled(7)));
    cr_assert_not(svmx__pipeline_cache_knows(&cache, 2, compiled(8)));
    svmx__pipeline_cache_fini(&cache, count_drops, drops);
}
