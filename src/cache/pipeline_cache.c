/*
 * pipeline_cache.c: see pipeline_cache.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/pipeline_cache.h"

#include <stdlib.h>

struct svmx__pipeline_table {
    struct svmx__pipeline_table *older;
    size_t mask; /* slots - 1 */
    _Atomic(struct svmx__pipeline *) slots[];
};

enum { FIRST_SLOTS = 64 };

static struct svmx__pipeline_table *table_create(size_t slots, struct svmx__pipeline_table *older) {
    struct svmx__pipeline_table *table = calloc(1, sizeof *table + slots * sizeof table->slots[0]);
    if (!table) return NULL;
    table->older = older;
    table->mask = slots - 1;
    return table;
}

/* Finds the key's slot or the empty one where it belongs. A table is never more than half full, so this ends. */
static size_t table_slot(const struct svmx__pipeline_table *table, const struct svmx__key *key) {
    size_t at = (size_t)svmx__key_hash(key) & table->mask;
    for (;; at = (at + 1) & table->mask) {
        /* acquire: pairs with the release in insert; the entry is whole when its pointer is seen */
        const struct svmx__pipeline *entry = atomic_load_explicit(&table->slots[at], memory_order_acquire);
        if (!entry || svmx__key_equal(&entry->key, key)) return at;
    }
}

enum svmx_status svmx__pipeline_cache_init(struct svmx__pipeline_cache *cache) {
    struct svmx__pipeline_table *table = table_create(FIRST_SLOTS, NULL);
    if (!table) return SVMX_ERR_MEMORY;
    cache->count = 0;
    atomic_init(&cache->hits, 0);
    atomic_init(&cache->misses, 0);
    atomic_init(&cache->table, table);
    pthread_mutex_init(&cache->lock, NULL); /* cannot fail with default attributes */
    return SVMX_OK;
}

void svmx__pipeline_cache_fini(struct svmx__pipeline_cache *cache,
                               void (*drop)(void *user, const struct svmx__pipeline *entry), void *user) {
    struct svmx__pipeline_table *table = atomic_load_explicit(&cache->table, memory_order_relaxed);
    for (size_t i = 0; i <= table->mask; i++) {
        struct svmx__pipeline *entry = atomic_load_explicit(&table->slots[i], memory_order_relaxed);
        if (!entry) continue;
        drop(user, entry);
        free(entry);
    }
    while (table) {
        struct svmx__pipeline_table *older = table->older;
        free(table);
        table = older;
    }
    pthread_mutex_destroy(&cache->lock);
}

const struct svmx__pipeline *svmx__pipeline_cache_find(struct svmx__pipeline_cache *cache,
                                                       const struct svmx__key *key) {
    struct svmx__pipeline_table *table = atomic_load_explicit(&cache->table, memory_order_acquire);
    const struct svmx__pipeline *entry =
        atomic_load_explicit(&table->slots[table_slot(table, key)], memory_order_acquire);
    atomic_fetch_add_explicit(entry ? &cache->hits : &cache->misses, 1, memory_order_relaxed);
    return entry;
}

/* Under the lock. Publishes a table of twice the size with the same entries. */
static bool table_double(struct svmx__pipeline_cache *cache, struct svmx__pipeline_table *old) {
    struct svmx__pipeline_table *table = table_create(2 * (old->mask + 1), old);
    if (!table) return false;
    for (size_t i = 0; i <= old->mask; i++) {
        struct svmx__pipeline *entry = atomic_load_explicit(&old->slots[i], memory_order_relaxed);
        if (entry) atomic_init(&table->slots[table_slot(table, &entry->key)], entry);
    }
    atomic_store_explicit(&cache->table, table, memory_order_release);
    return true;
}

/* Under the lock. */
static enum svmx_status insert_new(struct svmx__pipeline_cache *cache, const struct svmx__pipeline *value,
                                   const struct svmx__pipeline **entry) {
    struct svmx__pipeline_table *table = atomic_load_explicit(&cache->table, memory_order_relaxed);
    struct svmx__pipeline *first =
        atomic_load_explicit(&table->slots[table_slot(table, &value->key)], memory_order_relaxed);
    if (first) {
        *entry = first;
        return SVMX_OK;
    }
    if (2 * (cache->count + 1) > table->mask) {
        if (!table_double(cache, table)) return SVMX_ERR_MEMORY;
        table = atomic_load_explicit(&cache->table, memory_order_relaxed);
    }
    struct svmx__pipeline *filed = malloc(sizeof *filed);
    if (!filed) return SVMX_ERR_MEMORY;
    *filed = *value;
    atomic_store_explicit(&table->slots[table_slot(table, &filed->key)], filed, memory_order_release);
    cache->count++;
    *entry = filed;
    return SVMX_OK;
}

enum svmx_status svmx__pipeline_cache_insert(struct svmx__pipeline_cache *cache, const struct svmx__pipeline *value,
                                             const struct svmx__pipeline **entry) {
    pthread_mutex_lock(&cache->lock);
    enum svmx_status status = insert_new(cache, value, entry);
    pthread_mutex_unlock(&cache->lock);
    return status;
}

bool svmx__pipeline_cache_knows(struct svmx__pipeline_cache *cache, uint32_t device,
                                const struct svmx_pipeline *compiled) {
    struct svmx__pipeline_table *table = atomic_load_explicit(&cache->table, memory_order_acquire);
    for (size_t i = 0; i <= table->mask; i++) {
        const struct svmx__pipeline *entry = atomic_load_explicit(&table->slots[i], memory_order_acquire);
        if (entry && entry->compiled && entry->key.device == device && entry->compiled == compiled) return true;
    }
    return false;
}
