/*
 * staging_pool.h: memory of one device, kept between batches.
 *
 * Power-of-two classes. A buffer is used again only if its kind is the same and its usage flags contain those asked
 * for: the prototype crashed until it compared them. Bounded in bytes and in number: above that the buffer that was used
 * least recently is freed, of whatever class. A device whose memory runs short keeps less. Memory that goes from one tenant
 * to another is cleared first. Called by stage.c and collect.c; knows a device only through its source.
 *
 *   class 12  4 KiB  -> [staging, host write] -> [device, kernel read]
 *   class 13  8 KiB
 *   class 14 16 KiB  -> [device, kernel read + copy target]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CACHE_STAGING_POOL_H
#define SVMX_CACHE_STAGING_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <svmx/plugin.h>

struct svmx__staging {
    /* Used before it, and after it: of its class while it lies in the pool, else of those in use. */
    struct svmx__staging *next, *newer;
    uint64_t released;          /* when it came back, counted in buffers that did */
    struct svmx_memory *memory; /* the plugin's; NULL on devices that use host memory */
    void *host;                 /* its address, where the usage has a host flag; else NULL */
    uint64_t bytes;             /* a power of two, at least what was asked for */
    uint32_t kind, usage;
    uint64_t tenant;        /* who had it last */
    uint32_t asked;         /* usage that it was last acquired for */
    uint64_t guarded_from;  /* where guards begin that are in it from its last use, and */
    bool orphaned;          /* it is in use, and its pool is no more: the struct is its user's to free */
    uint64_t guarded_bytes; /* how many bytes of outputs are between them; 0: there are none. guard.c's */
};

/* How memory is really made. Called with no lock held; alloc may take long. */
struct svmx__staging_source {
    void *user;
    enum svmx_status (*alloc)(void *user, const struct svmx_memory_desc *desc, struct svmx_memory **memory,
                              void **host);
    void (*release)(void *user, struct svmx_memory *memory, void *host);
    /* Clears memory that the host cannot see. TIMEOUT: the device still has it, and it is never used again. NULL: there is no
     * such memory. */
    enum svmx_status (*clear)(void *user, struct svmx_memory *memory, uint64_t bytes);
};

/* Idle buffers are bounded in number as well: every one is something to a driver, however small, and is walked past. */
enum { SVMX__STAGING_CLASSES = 48, SVMX__STAGING_MIN_CLASS = 12, SVMX__STAGING_MAX_IDLE = 4096 };

struct svmx__staging_pool {
    struct svmx__staging_source source;
    uint64_t idle_limit_bytes;
    pthread_mutex_t lock;                                /* guards all below; never held over source calls */
    struct svmx__staging *idle[SVMX__STAGING_CLASSES];   /* the newest of each class */
    struct svmx__staging *oldest[SVMX__STAGING_CLASSES]; /* its other end */
    struct svmx__staging *used;                          /* acquired, the newest first */
    uint64_t released;                                   /* buffers that came back so far */
    uint64_t idle_limit_now;                             /* at most idle_limit_bytes */
    uint64_t idle_bytes, held_bytes, held_bytes_peak;    /* held = idle + in use */
    uint64_t hits, misses, refusals;                     /* refusals: the device had no memory */
    uint64_t evictions;                                  /* freed because there was no room to keep them */
    uint32_t idle_count;
};

void svmx__staging_pool_init(struct svmx__staging_pool *pool, const struct svmx__staging_source *source,
                             uint64_t idle_limit_bytes);

/* Frees what is idle. What is still in use was orphaned before, or is set aside for ever. */
void svmx__staging_pool_fini(struct svmx__staging_pool *pool);

/* All that is in use is its user's from now on, who may not touch the memory and calls svmx__staging_free. `frees`: the source
 * has the memory back at once, but for that which is the host's. */
void svmx__staging_orphan(struct svmx__staging_pool *pool, bool frees);
/* Of one that is orphaned. */
void svmx__staging_free(struct svmx__staging *staging);

/* Gives at least `bytes` of a kind that may be used as asked. MEMORY (also when the device says so), or the source's
 * error. Contents are whatever the same tenant left there, else zero; 0 is nobody, who gets fresh memory as the source made it. */
enum svmx_status svmx__staging_acquire_for(struct svmx__staging_pool *pool, uint64_t tenant, enum svmx_memory_kind kind,
                                           uint32_t usage, uint64_t bytes, struct svmx__staging **staging);
static inline enum svmx_status svmx__staging_acquire(struct svmx__staging_pool *pool, enum svmx_memory_kind kind,
                                                     uint32_t usage, uint64_t bytes, struct svmx__staging **staging) {
    return svmx__staging_acquire_for(pool, 0, kind, usage, bytes, staging);
}

/* The same of what lies idle only, which calls no driver: NULL, and nothing is counted, if there is none that fits. For memory
 * that the host sees. */
struct svmx__staging *svmx__staging_reuse(struct svmx__staging_pool *pool, uint64_t tenant, enum svmx_memory_kind kind,
                                          uint32_t usage, uint64_t bytes);

/* Gives it back; where that is too much to keep, others go, those used least recently first. NULL is fine. */
void svmx__staging_release(struct svmx__staging_pool *pool, struct svmx__staging *staging);
/* The same in two steps, so that the thread that gives back calls no source: leave keeps it, whatever its size, for whoever
 * acquires next. true: that is too much, and a sweep is due. Sweep frees what is too much. */
bool svmx__staging_leave(struct svmx__staging_pool *pool, struct svmx__staging *staging);
void svmx__staging_sweep(struct svmx__staging_pool *pool);
/* Is a sweep due? */
bool svmx__staging_is_full(struct svmx__staging_pool *pool);

/* How short the device is of memory: 0 not, 1 keeps a quarter of the limit, 2 nothing. Frees nothing itself, so that any
 * thread may call it: what is too much goes when the next buffer comes back, or with the next sweep. */
void svmx__staging_squeeze(struct svmx__staging_pool *pool, uint32_t level);

/* Frees idle memory, the largest first, until at most `keep_bytes` of it are left. */
void svmx__staging_trim(struct svmx__staging_pool *pool, uint64_t keep_bytes);

#endif
