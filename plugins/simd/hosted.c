/*
 * hosted.c: see hosted.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hosted.h"

#include "tasks.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

enum {
    NAME_BYTES = 64,
    MEASURED_NS = 5000, /* ranges expected to take this long are measured: two looks at the clock are 1 % of it */
    SAMPLE = 64         /* of shorter ones, one in so many */
};

struct simd_hosted {
    struct simd_kernel kernel; /* first, and run is NULL */
    const struct svmx_host *host;
    struct simd_hosted *next; /* in the set, by its lock */
    uint32_t users;           /* likewise */
    /* Rough cost of one work, ps; 0 until the first measurement. Any thread writes what it saw: all are right enough. */
    _Atomic uint64_t ps_per_work;
    _Atomic uint32_t unmeasured;
    char name[NAME_BYTES];
};

static struct simd_hosted *hosted_of(const struct simd_kernel *kernel) {
    return (struct simd_hosted *)(uintptr_t)kernel; /* made here: not constant as those of the tables are */
}

/* ---- pipelines -------------------------------------------------------------------------------------------- */

void simd_hosted_init(struct simd_hosted_set *set) {
    pthread_mutex_init(&set->lock, NULL); /* cannot fail with default attributes */
    set->first = NULL;
}

void simd_hosted_fini(struct simd_hosted_set *set) { pthread_mutex_destroy(&set->lock); }

static struct simd_hosted *hosted_make(const struct svmx_host *host, const char *name) {
    struct simd_hosted *made = host->alloc(host, sizeof *made, alignof(struct simd_hosted));
    if (made == NULL) return NULL;
    memset(made, 0, sizeof *made);
    made->host = host;
    memcpy(made->name, name, strlen(name));
    made->kernel.op = made->name;
    return made;
}

static enum svmx_status get_locked(struct simd_hosted_set *set, const struct svmx_host *host, const char *name,
                                   struct simd_hosted **hosted) {
    struct simd_hosted *at = set->first;
    while (at != NULL && strcmp(at->name, name) != 0) at = at->next;
    if (at == NULL) {
        at = hosted_make(host, name);
        if (at == NULL) return SVMX_ERR_MEMORY;
        at->next = set->first;
        set->first = at;
    }
    at->users++;
    *hosted = at;
    return SVMX_OK;
}

enum svmx_status simd_hosted_get(struct simd_hosted_set *set, const struct svmx_host *host,
                                 const struct svmx_op_desc *op, const struct simd_kernel **kernel) {
    if (strlen(op->name) >= NAME_BYTES || host->reference(host, op->name, NULL, op->param_count) != SVMX_OK)
        return SVMX_ERR_UNSUPPORTED;
    struct simd_hosted *hosted;
    pthread_mutex_lock(&set->lock);
    enum svmx_status status = get_locked(set, host, op->name, &hosted);
    pthread_mutex_unlock(&set->lock);
    if (status == SVMX_OK) *kernel = &hosted->kernel;
    return status;
}

void simd_hosted_put(struct simd_hosted_set *set, const struct simd_kernel *kernel) {
    struct simd_hosted *hosted = hosted_of(kernel), *last = NULL;
    pthread_mutex_lock(&set->lock);
    if (--hosted->users == 0) {
        struct simd_hosted **at = &set->first;
        while (*at != hosted) at = &(*at)->next;
        *at = hosted->next;
        last = hosted;
    }
    pthread_mutex_unlock(&set->lock);
    if (last != NULL) last->host->release(last->host, last);
}

/* ---- running ---------------------------------------------------------------------------------------------- */

struct job {
    struct simd_hosted *hosted;
    const struct svmx_dispatch *dispatch;
};

/* The share of a dispatch's work that a range of its tasks is taken to have: a task counts for its units and one. */
static uint64_t work_of(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    const double all = (double)d->first_unit[d->task_count] + d->task_count;
    const double part = (double)(d->first_unit[end] - d->first_unit[first]) + (double)(end - first);
    const double work = d->work > 0 ? (double)d->work : 1;
    return (uint64_t)(work * (part / all)) + 1;
}

/* Cost in ps, as far as it is known. */
static uint64_t cost_of(struct simd_hosted *hosted, uint64_t work) {
    uint64_t cost, each = atomic_load_explicit(&hosted->ps_per_work, memory_order_relaxed);
    return __builtin_mul_overflow(work, each, &cost) ? UINT64_MAX : cost;
}

static bool worth_measuring(struct simd_hosted *hosted, uint64_t cost_ps) {
    if (cost_ps == 0 || cost_ps >= UINT64_C(1000) * MEASURED_NS) return true;
    return atomic_fetch_add_explicit(&hosted->unmeasured, 1, memory_order_relaxed) % SAMPLE == 0;
}

/* One time too long, by an interruption, must not count for much: an eighth of it does. */
static void note_cost(struct simd_hosted *hosted, uint64_t ns, uint64_t work) {
    const uint64_t limit = UINT64_C(1) << 50; /* ten days */
    const uint64_t seen = (ns < limit ? ns : limit) * 1000 / work + 1;
    const uint64_t old = atomic_load_explicit(&hosted->ps_per_work, memory_order_relaxed);
    const uint64_t next = old == 0 ? seen : old - old / 8 + seen / 8;
    atomic_store_explicit(&hosted->ps_per_work, next > 0 ? next : 1, memory_order_relaxed);
}

/* The host's code computes in the default floating-point environment and leaves the one of this thread alone. */
static void run_tasks(const void *context, uint64_t first, uint64_t end) {
    const struct job *job = context;
    const struct svmx_dispatch *d = job->dispatch;
    struct simd_hosted *hosted = job->hosted;
    const struct svmx_host *host = hosted->host;
    const uint64_t work = work_of(d, first, end);
    const bool measured = worth_measuring(hosted, cost_of(hosted, work));
    const uint64_t start = measured ? host->now(host) : 0;
    for (uint64_t task = first; task < end; task++) /* known since the pipeline was built: it cannot fail */
        (void)host->reference(host, hosted->name, simd_row(d, (uint32_t)task), d->slot_count);
    if (measured) note_cost(hosted, host->now(host) - start, work);
}

void simd_hosted_run_task(const struct simd_kernel *kernel, const struct svmx_slot *slots, uint32_t slot_count) {
    const struct simd_hosted *hosted = hosted_of(kernel);
    (void)hosted->host->reference(hosted->host, hosted->name, slots, slot_count);
}

uint64_t simd_hosted_ps_per_work(const struct simd_kernel *kernel) {
    return atomic_load_explicit(&hosted_of(kernel)->ps_per_work, memory_order_relaxed);
}

void simd_hosted_run(const struct simd_kernel *kernel, struct simd_pool *pool, const struct svmx_dispatch *dispatch) {
    const struct job job = {hosted_of(kernel), dispatch};
    const uint64_t cost = cost_of(job.hosted, work_of(dispatch, 0, dispatch->task_count));
    simd_pool_run(pool, &(struct simd_job){run_tasks, &job, dispatch->task_count, 1, cost, 0});
}
