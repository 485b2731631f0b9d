/*
 * staging_pool.c: see staging_pool.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/staging_pool.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

void svmx__staging_pool_init(struct svmx__staging_pool *pool, const struct svmx__staging_source *source,
                             uint64_t idle_limit_bytes) {
    *pool = (struct svmx__staging_pool){.source = *source, .idle_limit_bytes = idle_limit_bytes};
    pthread_mutex_init(&pool->lock, NULL); /* cannot fail with default attributes */
}

static uint32_t class_of(uint64_t bytes) {
    uint32_t log2 = (uint32_t)__builtin_ctzll(svmx__pow2(bytes));
    return log2 < SVMX__STAGING_MIN_CLASS ? SVMX__STAGING_MIN_CLASS : log2;
}

/* Under the lock. Takes the first idle buffer of a class that serves, or NULL. */
static struct svmx__staging *take_idle(struct svmx__staging_pool *pool, uint32_t class, uint32_t kind, uint32_t usage) {
    for (struct svmx__staging **at = &pool->idle[class]; *at; at = &(*at)->next) {
        struct svmx__staging *found = *at;
        if (found->kind != kind || (found->usage & usage) != usage) continue;
        *at = found->next;
        pool->idle_bytes -= found->bytes;
        pool->idle_count--;
        return found;
    }
    return NULL;
}

static enum svmx_status make_new(struct svmx__staging_pool *pool, uint32_t kind, uint32_t usage, uint64_t bytes,
                                 struct svmx__staging **staging) {
    struct svmx__staging *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return SVMX_ERR_MEMORY;
    *fresh = (struct svmx__staging){.bytes = bytes, .kind = kind, .usage = usage};
    const struct svmx_memory_desc desc = {.size = sizeof desc, .kind = kind, .usage = usage, .bytes = bytes};
    enum svmx_status status = pool->source.alloc(pool->source.user, &desc, &fresh->memory, &fresh->host);
    if (status != SVMX_OK) {
        free(fresh);
        return status;
    }
    *staging = fresh;
    return SVMX_OK;
}

static void drop(struct svmx__staging_pool *pool, struct svmx__staging *staging) {
    pool->source.release(pool->source.user, staging->memory, staging->host);
    free(staging);
}

/* Nothing of another tenant is left in it. On an error it is gone, or the device still has it. */
static enum svmx_status clear_for(struct svmx__staging_pool *pool, uint64_t tenant, struct svmx__staging *staging) {
    enum svmx_status status = SVMX_OK;
    if (staging->tenant == tenant) return SVMX_OK;
    if (staging->host)
        memset(staging->host, 0, (size_t)staging->bytes);
    else if (pool->source.clear)
        status = pool->source.clear(pool->source.user, staging->memory, staging->bytes);
    staging->tenant = tenant;
    staging->guarded_bytes = 0;
    if (status == SVMX_OK || status == SVMX_TIMEOUT) return status;
    pthread_mutex_lock(&pool->lock);
    pool->held_bytes -= staging->bytes;
    pthread_mutex_unlock(&pool->lock);
    drop(pool, staging);
    return status;
}

enum svmx_status svmx__staging_acquire_for(struct svmx__staging_pool *pool, uint64_t tenant, enum svmx_memory_kind kind,
                                           uint32_t usage, uint64_t bytes, struct svmx__staging **staging) {
    if (bytes > UINT64_C(1) << (SVMX__STAGING_CLASSES - 1)) return SVMX_ERR_MEMORY;
    uint32_t class = class_of(bytes);
    pthread_mutex_lock(&pool->lock);
    struct svmx__staging *found = take_idle(pool, class, kind, usage);
    if (found)
        pool->hits++;
    else
        pool->misses++;
    bool idle = pool->idle_bytes > 0;
    pthread_mutex_unlock(&pool->lock);

    if (!found) {
        enum svmx_status status = make_new(pool, kind, usage, UINT64_C(1) << class, &found);
        if (status == SVMX_ERR_MEMORY && idle) { /* what lies idle in other classes may be what is missing */
            svmx__staging_trim(pool, 0);
            status = make_new(pool, kind, usage, UINT64_C(1) << class, &found);
        }
        pthread_mutex_lock(&pool->lock);
        pool->refusals += status == SVMX_ERR_MEMORY;
        if (status == SVMX_OK) pool->held_bytes += found->bytes;
        if (pool->held_bytes > pool->held_bytes_peak) pool->held_bytes_peak = pool->held_bytes;
        pthread_mutex_unlock(&pool->lock);
        if (status != SVMX_OK) return status;
    }
    const enum svmx_status cleared = clear_for(pool, tenant, found);
    if (cleared != SVMX_OK) return cleared;
    if (found->asked != usage) found->guarded_bytes = 0; /* it may hold anything */
    found->asked = usage;
    found->next = NULL;
    *staging = found;
    return SVMX_OK;
}

void svmx__staging_release(struct svmx__staging_pool *pool, struct svmx__staging *staging) {
    if (!staging) return;
    uint32_t class = class_of(staging->bytes);
    pthread_mutex_lock(&pool->lock);
    bool keep =
        pool->idle_bytes + staging->bytes <= pool->idle_limit_bytes && pool->idle_count < SVMX__STAGING_MAX_IDLE;
    if (keep) {
        staging->next = pool->idle[class];
        pool->idle[class] = staging;
        pool->idle_bytes += staging->bytes;
        pool->idle_count++;
    } else {
        pool->held_bytes -= staging->bytes;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!keep) drop(pool, staging);
}

void svmx__staging_trim(struct svmx__staging_pool *pool, uint64_t keep_bytes) {
    struct svmx__staging *doomed = NULL;
    pthread_mutex_lock(&pool->lock);
    for (uint32_t class = SVMX__STAGING_CLASSES; class -- > 0 && pool->idle_bytes > keep_bytes;) {
        while (pool->idle[class] && pool->idle_bytes > keep_bytes) {
            struct svmx__staging *staging = pool->idle[class];
            pool->idle[class] = staging->next;
            pool->idle_bytes -= staging->bytes;
            pool->idle_count--;
            pool->held_bytes -= staging->bytes;
            staging->next = doomed;
            doomed = staging;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    while (doomed) {
        struct svmx__staging *next = doomed->next;
        drop(pool, doomed);
        doomed = next;
    }
}

void svmx__staging_pool_fini(struct svmx__staging_pool *pool) {
    svmx__staging_trim(pool, 0);
    pthread_mutex_destroy(&pool->lock);
}
