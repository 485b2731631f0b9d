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
    *pool = (struct svmx__staging_pool){
        .source = *source, .idle_limit_bytes = idle_limit_bytes, .idle_limit_now = idle_limit_bytes};
    pthread_mutex_init(&pool->lock, NULL); /* cannot fail with default attributes */
}

static uint32_t class_of(uint64_t bytes) {
    uint32_t log2 = (uint32_t)__builtin_ctzll(svmx__pow2(bytes));
    return log2 < SVMX__STAGING_MIN_CLASS ? SVMX__STAGING_MIN_CLASS : log2;
}

/* Under the lock: among those in use, and out of them. */
static void note_use(struct svmx__staging_pool *pool, struct svmx__staging *staging) {
    staging->newer = NULL;
    staging->next = pool->used;
    if (staging->next) staging->next->newer = staging;
    pool->used = staging;
}

static void end_use(struct svmx__staging_pool *pool, struct svmx__staging *staging) {
    *(staging->newer ? &staging->newer->next : &pool->used) = staging->next;
    if (staging->next) staging->next->newer = staging->newer;
}

/* Under the lock: into the list of its class, at the new end, and out of it. */
static void put_in(struct svmx__staging_pool *pool, struct svmx__staging *staging) {
    const uint32_t class = class_of(staging->bytes);
    staging->released = ++pool->released;
    staging->newer = NULL;
    staging->next = pool->idle[class];
    if (staging->next)
        staging->next->newer = staging;
    else
        pool->oldest[class] = staging;
    pool->idle[class] = staging;
    pool->idle_bytes += staging->bytes;
    pool->idle_count++;
}

static void take_out(struct svmx__staging_pool *pool, struct svmx__staging *staging) {
    const uint32_t class = class_of(staging->bytes);
    if (staging->newer)
        staging->newer->next = staging->next;
    else
        pool->idle[class] = staging->next;
    if (staging->next)
        staging->next->newer = staging->newer;
    else
        pool->oldest[class] = staging->newer;
    pool->idle_bytes -= staging->bytes;
    pool->idle_count--;
}

/* Under the lock. Takes the newest idle buffer of a class that serves into use, or NULL. */
static struct svmx__staging *take_idle(struct svmx__staging_pool *pool, uint32_t class, uint32_t kind, uint32_t usage) {
    struct svmx__staging *found = pool->idle[class];
    while (found && (found->kind != kind || (found->usage & usage) != usage)) found = found->next;
    if (!found) return NULL;
    take_out(pool, found);
    note_use(pool, found);
    return found;
}

/* Under the lock. Of all classes the one that was used least recently; NULL: nothing is idle. */
static struct svmx__staging *least_recent(const struct svmx__staging_pool *pool) {
    struct svmx__staging *least = NULL;
    for (uint32_t class = 0; class < SVMX__STAGING_CLASSES; class ++) {
        struct svmx__staging *oldest = pool->oldest[class];
        if (oldest && (!least || oldest->released < least->released)) least = oldest;
    }
    return least;
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

/* Under the lock: it is not the pool's any more; drop_all frees it when the lock is free. */
static void doom(struct svmx__staging_pool *pool, struct svmx__staging *staging, struct svmx__staging **doomed) {
    pool->held_bytes -= staging->bytes;
    pool->evictions++;
    staging->next = *doomed;
    *doomed = staging;
}

static void drop_all(struct svmx__staging_pool *pool, struct svmx__staging *doomed) {
    while (doomed) {
        struct svmx__staging *next = doomed->next;
        drop(pool, doomed);
        doomed = next;
    }
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
    end_use(pool, staging);
    pool->held_bytes -= staging->bytes;
    pthread_mutex_unlock(&pool->lock);
    drop(pool, staging);
    return status;
}

/* To whoever asked for it. Errors as clear_for. */
static enum svmx_status hand_out(struct svmx__staging_pool *pool, uint64_t tenant, uint32_t usage,
                                 struct svmx__staging *staging) {
    const enum svmx_status status = clear_for(pool, tenant, staging);
    if (status != SVMX_OK) return status;
    if (staging->asked != usage) staging->guarded_bytes = 0; /* it may hold anything */
    staging->asked = usage;
    return SVMX_OK;
}

struct svmx__staging *svmx__staging_reuse(struct svmx__staging_pool *pool, uint64_t tenant, enum svmx_memory_kind kind,
                                          uint32_t usage, uint64_t bytes) {
    if (bytes > UINT64_C(1) << (SVMX__STAGING_CLASSES - 1)) return NULL;
    pthread_mutex_lock(&pool->lock);
    struct svmx__staging *found = take_idle(pool, class_of(bytes), kind, usage);
    pool->hits += found != NULL;
    pthread_mutex_unlock(&pool->lock);
    if (!found || hand_out(pool, tenant, usage, found) != SVMX_OK) return NULL;
    return found;
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
        if (status == SVMX_OK) {
            pool->held_bytes += found->bytes;
            note_use(pool, found);
        }
        if (pool->held_bytes > pool->held_bytes_peak) pool->held_bytes_peak = pool->held_bytes;
        pthread_mutex_unlock(&pool->lock);
        if (status != SVMX_OK) return status;
    }
    const enum svmx_status status = hand_out(pool, tenant, usage, found);
    if (status == SVMX_OK) *staging = found;
    return status;
}

/* Under the lock. */
static bool is_full(const struct svmx__staging_pool *pool) {
    return pool->idle_bytes > pool->idle_limit_now || pool->idle_count > SVMX__STAGING_MAX_IDLE;
}

/* Under the lock: what is too large for the limit by itself, since all others would have to go for it, then those that were
 * used least recently. */
static void doom_surplus(struct svmx__staging_pool *pool, struct svmx__staging **doomed) {
    struct svmx__staging *next;
    for (uint32_t class = SVMX__STAGING_CLASSES; class -- > 0 && is_full(pool);) {
        if (pool->idle_limit_now >> class) break;
        while ((next = pool->oldest[class])) take_out(pool, next), doom(pool, next, doomed);
    }
    while (is_full(pool)) {
        next = least_recent(pool);
        take_out(pool, next);
        doom(pool, next, doomed);
    }
}

void svmx__staging_release(struct svmx__staging_pool *pool, struct svmx__staging *staging) {
    if (!staging) return;
    if (svmx__staging_leave(pool, staging)) svmx__staging_sweep(pool);
}

bool svmx__staging_leave(struct svmx__staging_pool *pool, struct svmx__staging *staging) {
    pthread_mutex_lock(&pool->lock);
    end_use(pool, staging);
    put_in(pool, staging);
    const bool full = is_full(pool);
    pthread_mutex_unlock(&pool->lock);
    return full;
}

void svmx__staging_sweep(struct svmx__staging_pool *pool) {
    struct svmx__staging *doomed = NULL;
    pthread_mutex_lock(&pool->lock);
    doom_surplus(pool, &doomed);
    pthread_mutex_unlock(&pool->lock);
    drop_all(pool, doomed);
}

bool svmx__staging_is_full(struct svmx__staging_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    const bool full = is_full(pool);
    pthread_mutex_unlock(&pool->lock);
    return full;
}

void svmx__staging_squeeze(struct svmx__staging_pool *pool, uint32_t level) {
    pthread_mutex_lock(&pool->lock);
    pool->idle_limit_now = level == 0 ? pool->idle_limit_bytes : level == 1 ? pool->idle_limit_bytes / 4 : 0;
    pthread_mutex_unlock(&pool->lock);
}

void svmx__staging_trim(struct svmx__staging_pool *pool, uint64_t keep_bytes) {
    struct svmx__staging *doomed = NULL;
    pthread_mutex_lock(&pool->lock);
    for (uint32_t class = SVMX__STAGING_CLASSES; class -- > 0 && pool->idle_bytes > keep_bytes;) {
        while (pool->idle[class] && pool->idle_bytes > keep_bytes) {
            struct svmx__staging *staging = pool->oldest[class];
            take_out(pool, staging);
            pool->held_bytes -= staging->bytes;
            staging->next = doomed;
            doomed = staging;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    drop_all(pool, doomed);
}

void svmx__staging_orphan(struct svmx__staging_pool *pool, bool frees) {
    pthread_mutex_lock(&pool->lock);
    struct svmx__staging *orphan = pool->used;
    pool->used = NULL;
    /* all of them first: the source may never return */
    for (struct svmx__staging *each = orphan; each; each = each->next) each->orphaned = true;
    pthread_mutex_unlock(&pool->lock);
    for (; orphan && frees; orphan = orphan->next)
        if (orphan->memory) pool->source.release(pool->source.user, orphan->memory, orphan->host);
}

void svmx__staging_free(struct svmx__staging *staging) {
    if (!staging->memory) free(staging->host); /* a plugin's memory went with the plugin */
    free(staging);
}

void svmx__staging_pool_fini(struct svmx__staging_pool *pool) {
    svmx__staging_trim(pool, 0);
    pthread_mutex_destroy(&pool->lock);
}
