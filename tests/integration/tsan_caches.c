/*
 * tsan_caches.c: the pipeline cache, the layout cache and the staging pool under eight threads at once.
 *
 * A plain program because Criterion does not run under the thread sanitizer. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/layout_cache.h"
#include "cache/pipeline_cache.h"
#include "cache/staging_pool.h"
#include "threads.h"

#include <string.h>

enum { KEYS = 3000 };

/* Everybody files every key, in another order each; all must see one entry a key, whole, from then on. */
static void *file_keys(void *argument) {
    const struct actor *actor = argument;
    struct svmx__pipeline_cache *cache = actor->shared;
    static const struct svmx__pipeline *_Atomic first[KEYS];
    for (unsigned i = 0; i < KEYS; i++) {
        unsigned k = (i * 7 + actor->number * 377) % KEYS;
        const struct svmx__key key = {k % 5, k, UINT64_C(1) << (k % 40), 0};
        const struct svmx__pipeline value = {.key = key, .compiled = (struct svmx_pipeline *)(uintptr_t)(k + 1)};
        const struct svmx__pipeline *entry = svmx__pipeline_cache_find(cache, &key), *expected = NULL;
        bool filed;
        if (!entry) check(svmx__pipeline_cache_insert(cache, &value, &entry, &filed) == SVMX_OK, "insert");
        if (!atomic_compare_exchange_strong(&first[k], &expected, entry))
            check(expected == entry, "two threads have two entries of one key");
        check(svmx__key_equal(&entry->key, &key) && entry->compiled == value.compiled, "an entry that is not whole");
        check(svmx__pipeline_cache_find(cache, &key) == entry, "an entry got lost");
        if (i % 100 == 0) check(svmx__pipeline_cache_knows(cache, &key, value.compiled), "knows");
    }
    return NULL;
}

static void count_drop(void *user, const struct svmx__pipeline *entry) {
    (void)entry;
    ++*(unsigned *)user;
}

static void pipeline_cache_race(void) {
    struct svmx__pipeline_cache cache;
    unsigned dropped = 0;
    if (svmx__pipeline_cache_init(&cache) != SVMX_OK) exit(2);
    act(THREADS, file_keys, &cache);
    check(cache.count == KEYS, "one entry a key");
    svmx__pipeline_cache_fini(&cache, count_drop, &dropped);
    check(dropped == KEYS, "each entry is dropped once");
}

static void *get_layouts(void *argument) {
    const struct actor *actor = argument;
    static const struct svmx_param params[] = {{"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1},
                                               {"a", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1}};
    const struct svmx_op_desc desc = {
        .size = sizeof desc, .name = "x", .params = params, .param_count = 2, .scratch_bytes_per_unit = 4};
    const struct svmx_device_info info = {.size = sizeof info, .alignment = 128};
    static const struct svmx__layout *_Atomic first[4 * 16];
    for (uint32_t i = 0; i < 4 * 16; i++) {
        const struct svmx__layout *layout = svmx__layout_cache_get(actor->shared, i / 16, i % 16, &desc, &info);
        const struct svmx__layout *expected = NULL;
        check(layout && layout->alignment == 128 && layout->place[1] == SVMX__PLACE_INPUT, "a layout");
        if (!atomic_compare_exchange_strong(&first[i], &expected, layout))
            check(expected == layout, "two threads have two layouts");
    }
    return NULL;
}

static void layout_cache_race(void) {
    struct svmx__layout_cache cache;
    if (svmx__layout_cache_init(&cache, 4, 16) != SVMX_OK) exit(2);
    act(THREADS, get_layouts, &cache);
    svmx__layout_cache_fini(&cache);
}

static atomic_int pool_alive;

static enum svmx_status pool_alloc(void *user, const struct svmx_memory_desc *desc, struct svmx_memory **memory,
                                   void **host) {
    (void)user;
    *memory = NULL;
    *host = malloc((size_t)desc->bytes);
    if (!*host) return SVMX_ERR_MEMORY;
    atomic_fetch_add(&pool_alive, 1);
    return SVMX_OK;
}

static void pool_release(void *user, struct svmx_memory *memory, void *host) {
    (void)user, (void)memory;
    atomic_fetch_sub(&pool_alive, 1);
    free(host);
}

static void *use_pool(void *argument) {
    const struct actor *actor = argument;
    struct svmx__staging_pool *pool = actor->shared;
    struct svmx__staging *held[5];
    for (unsigned round = 0; round < 400; round++) {
        for (unsigned i = 0; i < 5; i++) {
            uint64_t bytes = UINT64_C(1) << (10 + (round * 5 + i * 3 + actor->number) % 7);
            uint32_t usage = 1u + (round + i) % 3;
            if (!check(svmx__staging_acquire(pool, SVMX_MEMORY_STAGING, usage, bytes, &held[i]) == SVMX_OK, "acquire"))
                exit(1);
            check(held[i]->bytes >= bytes && (held[i]->usage & usage) == usage, "memory as it was asked for");
            memset(held[i]->host, (int)actor->number, (size_t)held[i]->bytes); /* nobody else's */
        }
        for (unsigned i = 0; i < 5; i++) {
            check(((unsigned char *)held[i]->host)[held[i]->bytes - 1] == actor->number, "two have one buffer");
            svmx__staging_release(pool, held[i]);
        }
        if (round % 50 == 0) svmx__staging_trim(pool, 4096 * actor->number);
    }
    return NULL;
}

static void staging_pool_race(void) {
    struct svmx__staging_pool pool;
    const struct svmx__staging_source source = {NULL, pool_alloc, pool_release, NULL};
    svmx__staging_pool_init(&pool, &source, 300000);
    act(THREADS, use_pool, &pool);
    check(pool.idle_bytes <= 300000 && pool.idle_bytes == pool.held_bytes,
          "what is held is idle, and within the limit");
    check(pool.hits + pool.misses == THREADS * 400 * 5, "hits and misses add up");
    svmx__staging_pool_fini(&pool);
    check(pool.held_bytes == 0 && atomic_load(&pool_alive) == 0, "everything was freed");
}

int main(void) {
    pipeline_cache_race();
    layout_cache_race();
    staging_pool_race();
    return threads_end(0);
}
