/*
 * pool.c: the threads of the SIMD plugin. pool.h says what it promises; this is how.
 *
 * Below dispatch on the spine: plugin.c calls it, it calls job bodies. It knows no kernel and no command.
 *
 *   taken  .......11   slots that belong to a caller      open  ........1   slots with ranges left to claim
 *
 *   slot   users: [OPEN|WAITING|helpers inside]   plan: the job, on the caller's stack, and its cuts
 *          claimed: how much of both ends          caller >>>>>>>>>............<<<<<<< helpers
 *
 *   caller   take slot, set plan, users = OPEN, set bit in open, wake helpers, claim ranges until none is left,
 *            clear OPEN, wait for users to be 0, give slot back
 *   helper   pick a bit of open in turn, users + 1 if OPEN, claim a range, users - 1
 *
 * Two ends, so that two threads who do the same again find most of it in their own caches: whoever is faster moves the
 * border a little, nothing else changes sides. Each first claims of its own share, which makes few claims, all but
 * the first ones short; of a job that is short itself all of it.
 *
 * A helper looks at `job` only between users + 1 and users - 1, and the caller does not return while anyone is
 * inside: the job may live on its stack, and slots, which helpers touch at other times, live as long as the pool.
 *
 * Helpers are started by open, not by the first job: submit then allocates nothing and cannot fail for want of a
 * thread, and the affinity mask is plainly that of open.
 *
 * Costs that set the constants (two-core Zen 4, virtual, two threads; x = gain over one thread):
 *
 *   hand-over between threads     spinning 0.26 us, through a condition variable 4.4 us
 *   job, helper still spinning    20 us 1.8x   30 us 1.95x   100 us 1.8x   400 us 2.0x
 *   job, helper asleep            20 us 0.7x   30 us 0.9x    40 us 1.0x    50 us 1.2x    100 us 1.4x    400 us 1.7x
 *
 * The wake itself costs the caller 7 us, and the sleeper arrives 20 us later. Hence two thresholds: from
 * SIMD_POOL_ALONE_NS a job is offered to helpers that are awake, from WAKE_NS it wakes some. In between, what has been
 * seen decides: a job that finds all asleep wakes one if the last one woken took part in several jobs before it
 * slept again, as it does where such jobs follow each other closely. Where it did not pay, twice as many jobs pass until
 * the next trial, up to TRIAL_MAX: lonely jobs lose 7 us in 64 of them. No clock is read for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pool.h"

#include "near.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SLOTS = 32,         /* bits of `taken` and `open` */
    WAKE_NS = 45000,    /* jobs from here on wake sleepers */
    WORTH_NS = 5000,    /* one for each so much of the job at most */
    TRIAL_FIRST = 4,    /* below, one job in so many does, at first */
    TRIAL_MAX = 64,     /* and at the least */
    TRIAL_PAID = 4,     /* jobs that helpers took part in until all slept again: then the wake has paid */
    PIECE_NS = 1000,    /* nothing is cut shorter: a claim costs up to 0.3 us when two cores want the line */
    HALVES_NS = 24000,  /* jobs up to here: a thread claims all of its share at once, and mostly nothing else */
    SHORT_NS = 200000,  /* jobs up to here are claimed in few ranges, longer ones with an eye on uneven units */
    HELPER_SPINS = 250, /* pauses (25-45 ns) of a helper without work: 6-11 us, more than a range; then it sleeps */
    CALLER_SPINS = 400, /* pauses of a caller that waits for the last range: two ranges or more, then it sleeps */
    CACHE_LINE = 64
};

#define USERS_OPEN    (UINT32_C(1) << 31) /* helpers may enter */
#define USERS_WAITING (UINT32_C(1) << 30) /* the caller sleeps until the last helper leaves */

/* A job and how it is cut. */
struct plan {
    const struct simd_job *job;
    uint64_t piece;    /* shortest range to claim, a multiple of job->grain */
    uint32_t range;    /* pieces to claim at once where a share has as many; at least 1 */
    uint32_t pieces;   /* the last may be shorter */
    uint32_t threads;  /* that it is meant for */
    uint32_t quarters; /* of a thread's share that it claims at once: long ranges first, short ones last */
    uint32_t wake;     /* sleepers to wake for it */
};

struct slot {
    alignas(CACHE_LINE) _Atomic uint32_t users;
    struct plan plan; /* guarded by users: written while nobody is inside, read by those inside */
    alignas(CACHE_LINE) _Atomic uint64_t claimed; /* pieces: from the front, and << 32 from the back */
};

struct helper {
    struct simd_pool *pool;
    pthread_t thread;
    uint32_t number;
};

struct simd_pool {
    alignas(CACHE_LINE) _Atomic uint32_t taken; /* slots of callers */
    alignas(CACHE_LINE) _Atomic uint32_t open;  /* slots worth a look; a hint, users decides */
    alignas(CACHE_LINE) _Atomic uint32_t epoch; /* counts jobs; helpers sleep on it */
    _Atomic uint32_t sleepers;
    atomic_bool stop;
    _Atomic uint32_t unshared; /* jobs below WAKE_NS that found all helpers asleep, since the last that woke one */
    _Atomic uint32_t trial;    /* so many of them until one is woken */
    _Atomic uint32_t helped;   /* jobs that helpers took part in since then, as of when they fell asleep */
    atomic_bool waking;        /* somebody has been woken and is on the way; a hint */
    alignas(CACHE_LINE) struct slot slots[SLOTS];

    /* Constant after open. */
    const struct svmx_host *host;
    uint32_t threads;   /* helpers + 1 */
    uint32_t slot_mask; /* one slot a thread: with more callers than threads, helpers would only be in the way */
    struct helper helpers[];
};

/* ---- waiting ---------------------------------------------------------------------------------------------- */

static void futex_wait(_Atomic uint32_t *word, uint32_t expected) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, uint32_t count) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static inline void spin_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory"); /* `yield` is a no-op on most cores */
#endif
}

/* ---- claiming --------------------------------------------------------------------------------------------- */

/* How many pieces to claim next: of a thread's own share first, then of what others have left; never 0. What does not divide
 * evenly is the caller's, who is there first. */
static uint32_t claim_size(const struct plan *plan, bool front, uint32_t ahead, uint32_t behind) {
    uint32_t home = plan->pieces / plan->threads + (plan->pieces % plan->threads != 0);
    uint32_t claimed = front ? ahead : behind, sharers = 1, left = plan->pieces - ahead - behind;
    if (!front) home = plan->pieces - home, sharers = plan->threads - 1;
    const bool at_home = claimed < home;
    uint64_t take =
        at_home ? UINT64_C(1) * (home - claimed) * plan->quarters / (4 * sharers) : left / (4 * plan->threads);
    uint32_t least = at_home && home / sharers < plan->range ? home / sharers : plan->range; /* no more than a share */
    if (take < least) take = least;
    return take == 0 ? 1 : take < left ? (uint32_t)take : left;
}

/* Takes a range of a job, at the caller's end or at the other; false when none is left. Relaxed: the numbers alone
 * travel here, what the job wrote and read is ordered by users. */
static bool range_claim(struct slot *slot, bool front, uint64_t *first, uint64_t *end) {
    const struct plan *plan = &slot->plan;
    uint64_t claimed = atomic_load_explicit(&slot->claimed, memory_order_relaxed);
    uint32_t ahead, behind, take;
    do {
        ahead = (uint32_t)claimed, behind = (uint32_t)(claimed >> 32);
        if (ahead + behind == plan->pieces) return false;
        take = claim_size(plan, front, ahead, behind);
    } while (!atomic_compare_exchange_weak_explicit(&slot->claimed, &claimed,
                                                    claimed + (front ? take : (uint64_t)take << 32),
                                                    memory_order_relaxed, memory_order_relaxed));
    uint64_t begin = front ? ahead : plan->pieces - behind - take;
    *first = begin * plan->piece;
    *end = begin + take == plan->pieces ? plan->job->count : (begin + take) * plan->piece;
    return true;
}

/* A body may store past the caches, and such stores pass by any release. They are waited for once a range: once a piece of a
 * chain, memory would be idle while its links compute. */
static void body_run(const struct simd_job *job, uint64_t first, uint64_t end) {
    job->body(job->context, first, end);
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

static bool range_run(struct slot *slot, bool front) {
    uint64_t first, end;
    if (!range_claim(slot, front, &first, &end)) return false;
    body_run(slot->plan.job, first, end);
    return true;
}

/* ---- helpers ---------------------------------------------------------------------------------------------- */

/* Acquire pairs with the release store in job_publish: whoever is inside sees the job. */
static bool slot_enter(struct slot *slot) {
    uint32_t users = atomic_load_explicit(&slot->users, memory_order_relaxed);
    do {
        if (!(users & USERS_OPEN)) return false;
    } while (!atomic_compare_exchange_weak_explicit(&slot->users, &users, users + 1, memory_order_acquire,
                                                    memory_order_relaxed));
    return true;
}

/* Release pairs with the acquire loads in slot_drain: the caller sees what the ranges wrote. The slot may belong to
 * another job when the wake is sent; waiters look again, so one too many does no harm. */
static void slot_leave(struct slot *slot) {
    uint32_t before = atomic_fetch_sub_explicit(&slot->users, 1, memory_order_release);
    if (before == (USERS_WAITING | 1)) futex_wake(&slot->users, 1);
}

/* Index of the first set bit at or after `turn`, round the corner. */
static uint32_t bit_in_turn(uint32_t bits, uint32_t turn) {
    uint32_t later = turn < SLOTS ? bits & (UINT32_MAX << turn) : 0;
    return (uint32_t)__builtin_ctz(later ? later : bits);
}

/* Works for one open job: until it is exhausted when it is the only one, else for one range, so that jobs share the
 * helpers evenly. False when no job is open. */
static bool help(struct simd_pool *pool, uint32_t *turn, uint32_t *helped) {
    uint32_t open = atomic_load_explicit(&pool->open, memory_order_acquire);
    if (open == 0) return false;
    uint32_t index = bit_in_turn(open, *turn);
    struct slot *slot = &pool->slots[index];
    *turn = index + 1;
    if (!slot_enter(slot)) return true;
    uint32_t bit = UINT32_C(1) << index;
    ++*helped;
    do {
        if (!range_run(slot, false)) {
            /* Still inside, so this is still the job whose bit it is. */
            atomic_fetch_and_explicit(&pool->open, ~bit, memory_order_relaxed);
            break;
        }
    } while ((atomic_load_explicit(&pool->open, memory_order_relaxed) & ~bit) == 0);
    slot_leave(slot);
    return true;
}

/* Spins a little, then sleeps until the epoch moves on from `seen`. seq_cst pairs with helpers_wake: either that sees
 * this sleeper, or the kernel sees the new epoch and does not sleep. */
static void rest(struct simd_pool *pool, uint32_t seen, uint32_t *helped) {
    for (int i = 0; i < HELPER_SPINS; i++) {
        if (atomic_load_explicit(&pool->epoch, memory_order_relaxed) != seen) return;
        spin_pause();
    }
    atomic_fetch_add_explicit(&pool->helped, *helped, memory_order_relaxed);
    *helped = 0;
    atomic_store_explicit(&pool->waking, false, memory_order_relaxed); /* too late a wake must not stay announced */
    atomic_fetch_add_explicit(&pool->sleepers, 1, memory_order_seq_cst);
    futex_wait(&pool->epoch, seen);
    atomic_fetch_sub_explicit(&pool->sleepers, 1, memory_order_relaxed);
    atomic_store_explicit(&pool->waking, false, memory_order_relaxed);
}

static void *helper_main(void *argument) {
    struct helper *helper = argument;
    struct simd_pool *pool = helper->pool;
    char name[16];
    snprintf(name, sizeof name, "svmx-simd-%u", (unsigned)helper->number);
    pthread_setname_np(pthread_self(), name);
    simd_fp_write(SIMD_FP_DEFAULT); /* a new thread inherits its creator's */

    uint32_t turn = helper->number, helped = 0;
    for (;;) {
        /* Acquire pairs with helpers_wake and simd_pool_close: the epoch is read before what it announces. */
        uint32_t seen = atomic_load_explicit(&pool->epoch, memory_order_acquire);
        if (atomic_load_explicit(&pool->stop, memory_order_relaxed)) return NULL;
        if (!help(pool, &turn, &helped)) rest(pool, seen, &helped);
    }
}

/* ---- callers ---------------------------------------------------------------------------------------------- */

/* Acquire pairs with the release in slot_return: the last caller is through with the slot. */
static struct slot *slot_take(struct simd_pool *pool) {
    uint32_t taken = atomic_load_explicit(&pool->taken, memory_order_relaxed);
    uint32_t index;
    do {
        uint32_t vacant = ~taken & pool->slot_mask;
        if (vacant == 0) return NULL;
        index = (uint32_t)__builtin_ctz(vacant);
    } while (!atomic_compare_exchange_weak_explicit(&pool->taken, &taken, taken | UINT32_C(1) << index,
                                                    memory_order_acquire, memory_order_relaxed));
    return &pool->slots[index];
}

static uint32_t slot_bit(const struct simd_pool *pool, const struct slot *slot) {
    return UINT32_C(1) << (slot - pool->slots);
}

static void slot_return(struct simd_pool *pool, struct slot *slot) {
    atomic_fetch_and_explicit(&pool->taken, ~slot_bit(pool, slot), memory_order_release);
}

static void helpers_wake(struct simd_pool *pool, uint32_t wanted) {
    atomic_fetch_add_explicit(&pool->epoch, 1, memory_order_seq_cst);
    uint32_t sleepers = atomic_load_explicit(&pool->sleepers, memory_order_seq_cst);
    if (sleepers == 0 || wanted == 0) return;
    atomic_store_explicit(&pool->waking, true, memory_order_relaxed);
    futex_wake(&pool->epoch, wanted < sleepers ? wanted : sleepers);
}

static void job_publish(struct simd_pool *pool, struct slot *slot, const struct plan *plan) {
    slot->plan = *plan;
    atomic_store_explicit(&slot->claimed, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->users, USERS_OPEN, memory_order_release);
    atomic_fetch_or_explicit(&pool->open, slot_bit(pool, slot), memory_order_release);
    helpers_wake(pool, plan->wake);
}

/* Lets nobody in any more and waits until the last helper has left. */
static void slot_drain(struct simd_pool *pool, struct slot *slot) {
    atomic_fetch_and_explicit(&pool->open, ~slot_bit(pool, slot), memory_order_relaxed);
    atomic_fetch_and_explicit(&slot->users, ~USERS_OPEN, memory_order_relaxed);
    for (int i = 0; i < CALLER_SPINS; i++) {
        if (atomic_load_explicit(&slot->users, memory_order_acquire) == 0) return;
        spin_pause();
    }
    uint32_t users = atomic_fetch_or_explicit(&slot->users, USERS_WAITING, memory_order_acquire) | USERS_WAITING;
    while (users != USERS_WAITING) {
        futex_wait(&slot->users, users);
        users = atomic_load_explicit(&slot->users, memory_order_acquire);
    }
}

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/* In a job of a few pieces the claims that would even out its end cost as much as the unevenness; and where its data lies in
 * the caches of two cores, every piece that changes sides has to come over from the other one. A share of a few ranges that
 * are better not cut shorter is such a job, however long it takes. */
static uint32_t quarters_of(const struct plan *plan) {
    if (plan->job->cost_ps <= UINT64_C(1000) * HALVES_NS) return 4;
    const bool few = plan->range > 1 && plan->pieces / plan->threads <= UINT64_C(4) * plan->range;
    return few || plan->job->cost_ps <= UINT64_C(1000) * SHORT_NS ? 3 : 1;
}

/* Pieces of PIECE_NS or of a grain, whichever is longer; false when that leaves one. */
static bool plan_cut(struct plan *plan, uint32_t threads) {
    const struct simd_job *job = plan->job;
    uint64_t pieces = job->cost_ps / (UINT64_C(1000) * PIECE_NS); /* not 0 from SIMD_POOL_ALONE_NS on */
    if (pieces > INT32_MAX) pieces = INT32_MAX;
    uint64_t grains = divide_up(divide_up(job->count, pieces), job->grain);
    if (__builtin_mul_overflow(grains, job->grain, &plan->piece) || plan->piece >= job->count) return false;
    plan->pieces = (uint32_t)divide_up(job->count, plan->piece);
    plan->threads = threads;
    const uint64_t range = job->range / plan->piece;
    plan->range = range == 0 ? 1 : range < plan->pieces ? (uint32_t)range : plan->pieces;
    plan->quarters = quarters_of(plan);
    return true;
}

/* For a job below WAKE_NS that found all helpers asleep: whether to wake one. */
static bool trial_due(struct simd_pool *pool) {
    uint32_t unshared = atomic_fetch_add_explicit(&pool->unshared, 1, memory_order_relaxed) + 1;
    uint32_t trial = atomic_load_explicit(&pool->trial, memory_order_relaxed);
    if (unshared < trial) return false;
    bool paid = atomic_exchange_explicit(&pool->helped, 0, memory_order_relaxed) >= TRIAL_PAID;
    atomic_store_explicit(&pool->unshared, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->trial, paid ? 1 : trial < TRIAL_MAX ? 2 * trial : TRIAL_MAX, memory_order_relaxed);
    return true;
}

/* Whether to share a job, in which pieces, and how many sleepers to wake for it. */
static bool share_plan(struct simd_pool *pool, struct plan *plan) {
    const struct simd_job *job = plan->job;
    if (pool->threads == 1 || job->cost_ps < UINT64_C(1000) * SIMD_POOL_ALONE_NS || job->count <= job->grain)
        return false;
    if (!plan_cut(plan, pool->threads)) return false;
    if (job->cost_ps >= UINT64_C(1000) * WAKE_NS) {
        uint64_t worth = job->cost_ps / (UINT64_C(1000) * WORTH_NS);
        plan->wake = (worth < plan->pieces ? (uint32_t)worth : plan->pieces) - 1;
        return true;
    }
    plan->wake = 0;
    if (atomic_load_explicit(&pool->sleepers, memory_order_relaxed) + 1 < pool->threads ||
        atomic_load_explicit(&pool->waking, memory_order_relaxed))
        return true; /* somebody is awake, or will be before the job is done */
    plan->wake = 1;
    return trial_due(pool);
}

void simd_pool_run(struct simd_pool *pool, const struct simd_job *job) {
    if (job->count == 0) return;
    struct plan plan = {.job = job};
    struct slot *slot = share_plan(pool, &plan) ? slot_take(pool) : NULL;
    if (slot == NULL) {
        body_run(job, 0, job->count);
        return;
    }
    job_publish(pool, slot, &plan);
    while (range_run(slot, true))
        ;
    slot_drain(pool, slot);
    slot_return(pool, slot);
}

/* ---- open and close --------------------------------------------------------------------------------------- */

/* Starts up to `wanted` helpers; returns how many live. Signals are blocked over the creation and so in the helpers:
 * none of the embedder's handlers ever runs on our stacks. */
static uint32_t helpers_start(struct simd_pool *pool, uint32_t wanted) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    struct simd_near near;
    simd_near_find(&near);
    uint32_t started = 0;
    int error = 0;
    while (started < wanted) {
        struct helper *helper = &pool->helpers[started];
        helper->pool = pool;
        helper->number = started + 1;
        error = pthread_create(&helper->thread, NULL, helper_main, helper);
        if (error != 0) break;
        started++;
        const cpu_set_t *place = simd_near_place(&near, helper->number, wanted + 1);
        if (place != NULL) (void)pthread_setaffinity_np(helper->thread, sizeof *place, place);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        char text[160];
        snprintf(text, sizeof text, "only %u of %u threads: pthread_create failed with error %d",
                 (unsigned)(started + 1), (unsigned)(wanted + 1), error);
        pool->host->log(pool->host, SVMX_LOG_WARN, text);
    }
    return started;
}

enum svmx_status simd_pool_open(const struct svmx_host *host, uint32_t threads, struct simd_pool **pool) {
    size_t bytes = sizeof **pool + (threads - 1) * sizeof(struct helper);
    struct simd_pool *made = host->alloc(host, bytes, alignof(struct simd_pool));
    if (made == NULL) {
        host->log(host, SVMX_LOG_ERROR, "no memory for the thread pool");
        return SVMX_ERR_MEMORY;
    }
    memset(made, 0, bytes);
    made->host = host;
    made->trial = TRIAL_FIRST;
    made->slot_mask = threads < SLOTS ? (UINT32_C(1) << threads) - 1 : UINT32_MAX;
    made->threads = helpers_start(made, threads - 1) + 1;
    *pool = made;
    return SVMX_OK;
}

void simd_pool_close(struct simd_pool *pool) {
    if (pool == NULL) return;
    atomic_store_explicit(&pool->stop, true, memory_order_relaxed);
    helpers_wake(pool, INT_MAX);
    for (uint32_t i = 0; i + 1 < pool->threads; i++) pthread_join(pool->helpers[i].thread, NULL);
    pool->host->release(pool->host, pool);
}

uint32_t simd_pool_threads(const struct simd_pool *pool) { return pool->threads; }
