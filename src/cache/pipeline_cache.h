/*
 * pipeline_cache.h: compiled pipelines of one executor, by key.
 *
 * A hit is a hash and a few loads: no lock, no allocation, no driver call. Refusals are kept too, so that a device is
 * asked once. Called by prepare.c; knows neither devices nor how pipelines are built.
 *
 *   table -> [ . ][ e ][ e ][ . ] ...   pointers, linear probing; entries never move or go while the cache lives
 *     older tables are kept until the end: a reader may still be in one
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CACHE_PIPELINE_CACHE_H
#define SVMX_CACHE_PIPELINE_CACHE_H

#include "cache/key.h"
#include <pthread.h>
#include <stdatomic.h>
#include <svmx/plugin.h>

struct svmx__pipeline {
    struct svmx__key key;
    enum svmx_status verdict;       /* OK; UNSUPPORTED, WRONG_RESULT, BACKEND...: not to be used */
    struct svmx_pipeline *compiled; /* the plugin's; NULL unless the verdict is OK */
};

struct svmx__pipeline_table; /* pipeline_cache.c */

struct svmx__pipeline_cache {
    _Atomic(struct svmx__pipeline_table *) table; /* release on publish, acquire in find */
    pthread_mutex_t lock;                         /* writers only: guards count and replacing the table */
    size_t count;
    atomic_uint_fast64_t hits, misses;
};

/* OK, MEMORY. */
enum svmx_status svmx__pipeline_cache_init(struct svmx__pipeline_cache *cache);

/* Calls drop for every entry, then frees all. No other call may be under way. */
void svmx__pipeline_cache_fini(struct svmx__pipeline_cache *cache,
                               void (*drop)(void *user, const struct svmx__pipeline *entry), void *user);

/* The entry of a key, or NULL. It lives as long as the cache. Any thread. */
const struct svmx__pipeline *svmx__pipeline_cache_find(struct svmx__pipeline_cache *cache, const struct svmx__key *key);

/* Files `value` and gives the entry that counts from now on: another thread's, if that came first; then the caller still
 * owns value->compiled. Sets *entry on OK. MEMORY: nothing filed. */
enum svmx_status svmx__pipeline_cache_insert(struct svmx__pipeline_cache *cache, const struct svmx__pipeline *value,
                                             const struct svmx__pipeline **entry);

/* Has this device's compiled pipeline been filed as OK under any key? */
bool svmx__pipeline_cache_knows(struct svmx__pipeline_cache *cache, uint32_t device,
                                const struct svmx_pipeline *compiled);

#endif
