/*
 * pipeline_cache.h: compiled pipelines of one executor, by key.
 *
 * A hit is a hash and a few loads: no lock, no allocation, no driver call. Refusals are kept too, so that a device is
 * asked once. Called by prepare.c and builder.c; knows neither devices nor how pipelines are built.
 *
 *   table -> [ . ][ e ][ e ][ . ] ...   pointers, linear probing; entries never move or go while the cache lives
 *     older tables are kept until the end: a reader may still be in one
 *
 * Bounded: of the entries that were filed as such, those used least recently lose what they hold when there are too
 * many (svmx__pipeline_cache_trim). The entry itself stays, empty, and is filled again by the next insert. Who works
 * with such an entry holds a pin on it:
 *
 *   users   0 idle -> 1, 2, ... pinned -> 0 idle -> -1 empty -> (insert) 0
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CACHE_PIPELINE_CACHE_H
#define SVMX_CACHE_PIPELINE_CACHE_H

#include "cache/key.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <svmx/plugin.h>

struct svmx__life; /* executor.h; for those who drop it */

struct svmx__pipeline {
    struct svmx__key key;
    struct svmx__life *life;        /* that built it */
    enum svmx_status verdict;       /* OK; UNSUPPORTED, WRONG_RESULT, BACKEND...: not to be used */
    struct svmx_pipeline *compiled; /* the plugin's; NULL unless the verdict is OK */
    char reason[128];               /* of a refusal */
    bool bounded;                   /* counts towards the limit, and must be pinned to be used */
    _Atomic int32_t users;          /* pins; -1: empty. acquire when taken, release when given back */
    _Atomic uint64_t last_used;     /* by the cache's count of pins */
};

struct svmx__pipeline_table; /* pipeline_cache.c */

struct svmx__pipeline_cache {
    _Atomic(struct svmx__pipeline_table *) table; /* release on publish, acquire in find */
    pthread_mutex_t lock;                         /* writers only: guards count and replacing the table */
    size_t count;
    atomic_uint_fast64_t evictions;
    atomic_uint_fast64_t ticks; /* pins so far */
};

/* OK, MEMORY. */
enum svmx_status svmx__pipeline_cache_init(struct svmx__pipeline_cache *cache);

/* Calls drop for every entry, then frees all. No other call may be under way. */
void svmx__pipeline_cache_fini(struct svmx__pipeline_cache *cache,
                               void (*drop)(void *user, const struct svmx__pipeline *entry), void *user);

/* The entry of a key, or NULL if there is none or it is empty. It lives as long as the cache; a bounded one must be
 * pinned before it is used. Any thread. */
const struct svmx__pipeline *svmx__pipeline_cache_find(const struct svmx__pipeline_cache *cache,
                                                       const struct svmx__key *key);

/* Keeps a bounded entry from being emptied until it is unpinned. false: it is empty. Any thread. */
bool svmx__pipeline_pin(struct svmx__pipeline_cache *cache, const struct svmx__pipeline *entry);
void svmx__pipeline_unpin(const struct svmx__pipeline *entry);

/* Empties the least recently used of the bounded entries until at most `keep` hold something; pinned ones are left
 * alone. Calls drop, without a lock, with a copy of each as it was. */
void svmx__pipeline_cache_trim(struct svmx__pipeline_cache *cache, size_t keep,
                               void (*drop)(void *user, const struct svmx__pipeline *entry), void *user);

/* Files `value` and gives the entry that counts from now on: another thread's, if that came first. *filed says whether it
 * is this value; if not, the caller still owns value->compiled, also where both are one pointer. Sets both on OK. MEMORY:
 * nothing filed. */
enum svmx_status svmx__pipeline_cache_insert(struct svmx__pipeline_cache *cache, const struct svmx__pipeline *value,
                                             const struct svmx__pipeline **entry, bool *filed);

/* Has this compiled pipeline been filed as OK for the device, its life and the operation of `key`, whatever the bucket? */
bool svmx__pipeline_cache_knows(struct svmx__pipeline_cache *cache, const struct svmx__key *key,
                                const struct svmx_pipeline *compiled);

#endif
