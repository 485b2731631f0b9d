/*
 * test_pipeline_cache.c: pipelines by key. Races are in tests/integration/tsan_caches.c.
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
    bool filed = false;
    cr_assert_eq(svmx__pipeline_cache_init(&cache), SVMX_OK);
    for (uint32_t i = 0; i < MANY; i++) {
        const struct svmx__key key = key_of(i);
        const struct svmx__pipeline value = {.key = key, .compiled = compiled(i + 1)};
        cr_assert_null(svmx__pipeline_cache_find(&cache, &key));
        cr_assert_eq(svmx__pipeline_cache_insert(&cache, &value, &entries[i], &filed), SVMX_OK);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        const struct svmx__key key = key_of(i);
        cr_assert_eq(svmx__pipeline_cache_find(&cache, &key), entries[i], "entry %u moved", i);
        cr_assert_eq(entries[i]->compiled, compiled(i + 1));
    }
    svmx__pipeline_cache_fini(&cache, count_drops, drops);
    for (uint32_t i = 0; i < MANY; i++) cr_assert_eq(drops[i], 1, "entry %u: %u drops", i, drops[i]);
}

Test(pipeline_cache, who_comes_first_counts) {
    static unsigned drops[4];
    struct svmx__pipeline_cache cache;
    const struct svmx__pipeline *first, *second;
    bool filed = false;
    const struct svmx__pipeline a = {.key = {0, 0, 64, 0}, .compiled = compiled(1)},
                                b = {.key = {0, 0, 64, 0}, .compiled = compiled(2)};
    cr_assert_eq(svmx__pipeline_cache_init(&cache), SVMX_OK);
    cr_assert_eq(svmx__pipeline_cache_insert(&cache, &a, &first, &filed), SVMX_OK);
    cr_assert(filed);
    cr_assert_eq(svmx__pipeline_cache_insert(&cache, &b, &second, &filed), SVMX_OK);
    cr_assert_not(filed, "the caller still owns its own");
    cr_assert_eq(first, second);
    cr_assert_eq(second->compiled, compiled(1));
    filed = true;
    cr_assert_eq(svmx__pipeline_cache_insert(&cache, &a, &second, &filed), SVMX_OK);
    cr_assert_not(filed, "one pointer from two builds is to be freed twice");
    cr_assert_eq(cache.count, 1);
    svmx__pipeline_cache_fini(&cache, count_drops, drops);
    cr_assert_eq(drops[0], 1);
}

Test(pipeline_cache, refusals_are_kept_too) {
    static unsigned drops[4];
    struct svmx__pipeline_cache cache;
    const struct svmx__pipeline *entry;
    bool filed = false;
    const struct svmx__pipeline refusal = {.key = {0, 1, 64, 0}, .verdict = SVMX_ERR_UNSUPPORTED};
    cr_assert_eq(svmx__pipeline_cache_init(&cache), SVMX_OK);
    cr_assert_eq(svmx__pipeline_cache_insert(&cache, &refusal, &entry, &filed), SVMX_OK);
    entry = svmx__pipeline_cache_find(&cache, &refusal.key);
    cr_assert_not_null(entry);
    cr_assert_eq(entry->verdict, SVMX_ERR_UNSUPPORTED);
    svmx__pipeline_cache_fini(&cache, count_drops, drops);
}

Test(pipeline_cache, knows_a_pipeline_by_its_device_and_operation) {
    static unsigned drops[MANY];
    struct svmx__pipeline_cache cache;
    const struct svmx__pipeline *entry;
    bool filed = false;
    const struct svmx__pipeline value = {.key = {2, 5, 64, 0}, .compiled = compiled(7)};
    const struct svmx__key other_bucket = {2, 5, 128, 0}, other_device = {1, 5, 64, 0}, other_op = {2, 6, 64, 0};
    cr_assert_eq(svmx__pipeline_cache_init(&cache), SVMX_OK);
    cr_assert_not(svmx__pipeline_cache_knows(&cache, &value.key, compiled(7)));
    cr_assert_eq(svmx__pipeline_cache_insert(&cache, &value, &entry, &filed), SVMX_OK);
    cr_assert(svmx__pipeline_cache_knows(&cache, &value.key, compiled(7)));
    cr_assert(svmx__pipeline_cache_knows(&cache, &other_bucket, compiled(7)));
    cr_assert_not(svmx__pipeline_cache_knows(&cache, &other_device, compiled(7)));
    cr_assert_not(svmx__pipeline_cache_knows(&cache, &other_op, compiled(7)));
    cr_assert_not(svmx__pipeline_cache_knows(&cache, &value.key, compiled(8)));
    svmx__pipeline_cache_fini(&cache, count_drops, drops);
}

/* ---- bounded entries --------------------------------------------------------------------------------------------- */

enum { FEW = 8 };

/* A cache of FEW bounded entries, pinned and unpinned in their order. */
static void fill(struct svmx__pipeline_cache *cache, const struct svmx__pipeline *entries[FEW]) {
    cr_assert_eq(svmx__pipeline_cache_init(cache), SVMX_OK);
    for (uint32_t i = 0; i < FEW; i++) {
        const struct svmx__pipeline value = {.key = key_of(i), .compiled = compiled(i + 1), .bounded = true};
        bool filed;
        cr_assert_eq(svmx__pipeline_cache_insert(cache, &value, &entries[i], &filed), SVMX_OK);
        cr_assert(svmx__pipeline_pin(cache, entries[i]));
        svmx__pipeline_unpin(entries[i]);
    }
}

static bool is_there(struct svmx__pipeline_cache *cache, uint32_t i) {
    const struct svmx__key key = key_of(i);
    return svmx__pipeline_cache_find(cache, &key) != NULL;
}

Test(pipeline_cache, the_least_recently_used_go_first) {
    static unsigned drops[FEW + 3];
    struct svmx__pipeline_cache cache;
    const struct svmx__pipeline *entries[FEW];
    fill(&cache, entries);
    cr_assert(svmx__pipeline_pin(&cache, entries[0])); /* the oldest is used again */
    svmx__pipeline_unpin(entries[0]);
    svmx__pipeline_cache_trim(&cache, FEW, count_drops, drops);
    cr_assert_eq(atomic_load(&cache.evictions), 0, "there is room");
    svmx__pipeline_cache_trim(&cache, FEW - 2, count_drops, drops);
    cr_assert_eq(atomic_load(&cache.evictions), 2);
    cr_assert(is_there(&cache, 0) && !is_there(&cache, 1) && !is_there(&cache, 2) && is_there(&cache, 3));
    cr_assert(drops[1] == 1 && drops[2] == 1);
    cr_assert_not(svmx__pipeline_pin(&cache, entries[1]), "an empty entry");
    svmx__pipeline_cache_fini(&cache, count_drops, drops);
    for (uint32_t i = 0; i < FEW; i++) cr_assert_eq(drops[i], 1, "entry %u: %u drops", i, drops[i]);
}

Test(pipeline_cache, what_is_pinned_stays_and_what_went_can_come_back) {
    static unsigned drops[FEW + 3];
    struct svmx__pipeline_cache cache;
    const struct svmx__pipeline *entries[FEW], *entry;
    bool filed = false;
    fill(&cache, entries);
    cr_assert(svmx__pipeline_pin(&cache, entries[3]));
    svmx__pipeline_cache_trim(&cache, 0, count_drops, drops);
    cr_assert_eq(atomic_load(&cache.evictions), FEW - 1);
    cr_assert(is_there(&cache, 3) && !is_there(&cache, 7));
    svmx__pipeline_unpin(entries[3]);
    const struct svmx__pipeline value = {.key = key_of(7), .compiled = compiled(8), .bounded = true};
    cr_assert_eq(svmx__pipeline_cache_insert(&cache, &value, &entry, &filed), SVMX_OK);
    cr_assert(filed && entry == entries[7] && entry->compiled == compiled(8));
    cr_assert(is_there(&cache, 7) && svmx__pipeline_pin(&cache, entry));
    svmx__pipeline_unpin(entry);
    svmx__pipeline_cache_fini(&cache, count_drops, drops);
    cr_assert_eq(drops[7], 2, "once emptied, once at the end");
}

Test(pipeline_cache, what_is_not_bounded_is_never_emptied) {
    static unsigned drops[FEW + 3];
    struct svmx__pipeline_cache cache;
    const struct svmx__pipeline value = {.key = key_of(0), .compiled = compiled(1)}, *entry;
    bool filed;
    cr_assert_eq(svmx__pipeline_cache_init(&cache), SVMX_OK);
    cr_assert_eq(svmx__pipeline_cache_insert(&cache, &value, &entry, &filed), SVMX_OK);
    svmx__pipeline_cache_trim(&cache, 0, count_drops, drops);
    cr_assert(is_there(&cache, 0));
    svmx__pipeline_cache_fini(&cache, count_drops, drops);
}
