/*
 * pipeline_cache.c: see pipeline_cache.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/pipeline_cache.h"

#include <stdlib.h>
#include <string.h>

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

/* acquire: pairs with the release of the insert that filled it again */
static bool is_empty(const struct svmx__pipeline *entry) {
    return atomic_load_explicit(&entry->users, memory_order_acquire) < 0;
}

enum svmx_status svmx__pipeline_cache_init(struct svmx__pipeline_cache *cache) {
    struct svmx__pipeline_table *table = table_create(FIRST_SLOTS, NULL);
    if (!table) return SVMX_ERR_MEMORY;
    cache->count = 0;
    atomic_init(&cache->evictions, 0);
    atomic_init(&cache->ticks, 0);
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
        if (!is_empty(entry)) drop(user, entry);
        free(entry);
    }
    while (table) {
        struct svmx__pipeline_table *older = table->older;
        free(table);
        table = older;
    }
    pthread_mutex_destroy(&cache->lock);
}

const struct svmx__pipeline *svmx__pipeline_cache_find(const struct svmx__pipeline_cache *cache,
                                                       const struct svmx__key *key) {
    struct svmx__pipeline_table *table = atomic_load_explicit(&cache->table, memory_order_acquire);
    const struct svmx__pipeline *entry =
        atomic_load_explicit(&table->slots[table_slot(table, key)], memory_order_acquire);
    return entry && !is_empty(entry) ? entry : NULL;
}

/* ---- pins ------------------------------------------------------------------------------------------------------ */

/* Entries are const to those who look them up; their counts are the cache's to change. */
static struct svmx__pipeline *ours(const struct svmx__pipeline *entry) {
    return (struct svmx__pipeline *)(uintptr_t)entry;
}

bool svmx__pipeline_pin(struct svmx__pipeline_cache *cache, const struct svmx__pipeline *entry) {
    int32_t users = atomic_load_explicit(&entry->users, memory_order_relaxed);
    do {
        if (users < 0) return false;
    } while (!atomic_compare_exchange_weak_explicit(&ours(entry)->users, &users, users + 1, memory_order_acquire,
                                                    memory_order_relaxed));
    /* two threads may take the same tick: about as old is good enough for who goes first */
    uint64_t tick = atomic_load_explicit(&cache->ticks, memory_order_relaxed) + 1;
    atomic_store_explicit(&cache->ticks, tick, memory_order_relaxed);
    atomic_store_explicit(&ours(entry)->last_used, tick, memory_order_relaxed);
    return true;
}

void svmx__pipeline_unpin(const struct svmx__pipeline *entry) {
    /* release: pairs with the acquire of whoever empties it */
    atomic_fetch_sub_explicit(&ours(entry)->users, 1, memory_order_release);
}

/* Under the lock. How many bounded entries hold something, and the one to go first, or NULL. */
static struct svmx__pipeline *oldest_idle(struct svmx__pipeline_cache *cache, size_t *holding) {
    struct svmx__pipeline_table *table = atomic_load_explicit(&cache->table, memory_order_relaxed);
    struct svmx__pipeline *oldest = NULL;
    *holding = 0;
    for (size_t i = 0; i <= table->mask; i++) {
        struct svmx__pipeline *entry = atomic_load_explicit(&table->slots[i], memory_order_relaxed);
        if (!entry || !entry->bounded || is_empty(entry) || !entry->compiled) continue;
        ++*holding;
        if (atomic_load_explicit(&entry->users, memory_order_relaxed) != 0) continue;
        if (!oldest || atomic_load_explicit(&entry->last_used, memory_order_relaxed) <
                           atomic_load_explicit(&oldest->last_used, memory_order_relaxed))
            oldest = entry;
    }
    return oldest;
}

/* Takes what the oldest entry holds into `taken`; false: there is nothing to take. */
static bool empty_one(struct svmx__pipeline_cache *cache, size_t keep, struct svmx__pipeline *taken) {
    bool emptied = false;
    pthread_mutex_lock(&cache->lock);
    size_t holding;
    struct svmx__pipeline *entry = oldest_idle(cache, &holding);
    int32_t idle = 0;
    if (entry && holding > keep &&
        atomic_compare_exchange_strong_explicit(&entry->users, &idle, -1, memory_order_acquire, memory_order_relaxed)) {
        *taken = (struct svmx__pipeline){
            .key = entry->key, .life = entry->life, .verdict = entry->verdict, .compiled = entry->compiled};
        entry->compiled = NULL;
        emptied = true;
    }
    pthread_mutex_unlock(&cache->lock);
    return emptied;
}

void svmx__pipeline_cache_trim(struct svmx__pipeline_cache *cache, size_t keep,
                               void (*drop)(void *user, const struct svmx__pipeline *entry), void *user) {
    struct svmx__pipeline taken;
    while (empty_one(cache, keep, &taken)) {
        atomic_fetch_add_explicit(&cache->evictions, 1, memory_order_relaxed);
        drop(user, &taken);
    }
}

/* ---- filing ---------------------------------------------------------------------------------------------------- */

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

/* Under the lock. Nobody reads an empty entry. */
static void refill(struct svmx__pipeline *entry, const struct svmx__pipeline *value) {
    entry->verdict = value->verdict;
    entry->compiled = value->compiled;
    memcpy(entry->reason, value->reason, sizeof entry->reason);
    atomic_store_explicit(&entry->users, 0, memory_order_release);
}

/* Under the lock. */
static enum svmx_status insert_new(struct svmx__pipeline_cache *cache, const struct svmx__pipeline *value,
                                   const struct svmx__pipeline **entry, bool *filed) {
    struct svmx__pipeline_table *table = atomic_load_explicit(&cache->table, memory_order_relaxed);
    struct svmx__pipeline *first =
        atomic_load_explicit(&table->slots[table_slot(table, &value->key)], memory_order_relaxed);
    if (first) {
        *filed = is_empty(first);
        if (*filed) refill(first, value);
        *entry = first;
        return SVMX_OK;
    }
    if (2 * (cache->count + 1) > table->mask) {
        if (!table_double(cache, table)) return SVMX_ERR_MEMORY;
        table = atomic_load_explicit(&cache->table, memory_order_relaxed);
    }
    struct svmx__pipeline *made = malloc(sizeof *made);
    if (!made) return SVMX_ERR_MEMORY;
    *made = *value;
    atomic_init(&made->users, 0);
    atomic_init(&made->last_used, 0);
    atomic_store_explicit(&table->slots[table_slot(table, &made->key)], made, memory_order_release);
    cache->count++;
    *entry = made;
    *filed = true;
    return SVMX_OK;
}

enum svmx_status svmx__pipeline_cache_insert(struct svmx__pipeline_cache *cache, const struct svmx__pipeline *value,
                                             const struct svmx__pipeline **entry, bool *filed) {
    pthread_mutex_lock(&cache->lock);
    enum svmx_status status = insert_new(cache, value, entry, filed);
    pthread_mutex_unlock(&cache->lock);
    return status;
}

bool svmx__pipeline_cache_knows(struct svmx__pipeline_cache *cache, const struct svmx__key *key,
                                const struct svmx_pipeline *compiled) {
    bool known = false;
    pthread_mutex_lock(&cache->lock); /* what an entry holds may be on its way out */
    struct svmx__pipeline_table *table = atomic_load_explicit(&cache->table, memory_order_relaxed);
    for (size_t i = 0; i <= table->mask && !known; i++) {
        const struct svmx__pipeline *entry = atomic_load_explicit(&table->slots[i], memory_order_relaxed);
        known = entry && entry->compiled && entry->compiled == compiled && entry->key.device == key->device &&
                entry->key.op == key->op && entry->key.life == key->life;
    }
    pthread_mutex_unlock(&cache->lock);
    return known;
}
