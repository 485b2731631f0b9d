/*
 * pool.h: the threads of the SIMD plugin. Cuts a job into ranges and shares them between the caller and helpers.
 *
 *   plugin.c ── simd_pool_run(job) ──> caller claims ranges ─┐
 *                                      helper claims ranges ─┼─> all done, then it returns
 *                                      helper claims ranges ─┘
 *
 * The caller always takes part, so a job never waits for a helper to start: helpers that sleep, are busy or do not
 * exist cost time, never progress. Any number of threads may run jobs at once. The pool knows nothing of kernels,
 * devices or commands; a job is a function over numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_POOL_H
#define SVMX_SIMD_POOL_H

#include <stdint.h>
#include <svmx/plugin.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <fenv.h>
#endif

struct simd_pool;

/* Computes [first, end). Called by several threads at once with ranges that do not overlap, in any order. May store past the
 * caches without a fence. */
typedef void (*simd_body_fn)(const void *context, uint64_t first, uint64_t end);

/* What is to be done: each number of [0, count) exactly once. */
struct simd_job {
    simd_body_fn body;
    const void *context; /* handed to body as it is */
    uint64_t count;
    uint64_t grain;   /* ranges are cut at multiples of this only; at least 1 */
    uint64_t cost_ps; /* rough cost of all of it on one thread: decides whether to share, and how finely */
    uint64_t range;   /* shorter ranges cost more a number: claimed at once where there is as much; 0: they do not */
};

/* Jobs under this run in the caller alone; somewhat above it that depends on who is awake. Measured: see pool.c. */
enum { SIMD_POOL_ALONE_NS = 8000 };

/*
 * Opens a pool of `threads` threads (1..1024), the caller of a job counted in: it starts threads - 1 helpers, with
 * all signals blocked and the affinity mask of the calling thread, or of it the CPUs of one memory node (near.h). Where the system refuses some of them, the pool has
 * fewer and a warning is logged. `host` must live until close. SVMX_ERR_MEMORY: nothing is left behind.
 */
SVMX_MUST_CHECK enum svmx_status simd_pool_open(const struct svmx_host *host, uint32_t threads,
                                                struct simd_pool **pool);

/* Joins the helpers and frees the pool. No job may be under way. NULL is fine. */
void simd_pool_close(struct simd_pool *pool);

/* Threads in use, the caller's own counted in. */
uint32_t simd_pool_threads(const struct simd_pool *pool);

/*
 * Runs a job; when it returns, every range is done, visible to the caller, and no helper looks at `job` or its
 * context any more. Thread-safe. Allocates nothing and cannot fail. Helpers compute in the default floating-point
 * environment; the caller sees to its own (simd_fp_enter).
 */
void simd_pool_run(struct simd_pool *pool, const struct simd_job *job);

/* ---- floating-point environment --------------------------------------------------------------------------- */

/*
 * Results must not depend on how the caller's thread rounds or flushes subnormals. enter gives the thread the
 * default (nearest, no flushing, no traps) if it has another, leave puts back what enter returned.
 *
 *   MXCSR   15 FTZ | 14-13 rounding | 12-7 exception masks | 6 DAZ | 5-0 sticky flags: not compared
 *   FPCR    all zero is the default; the sticky flags live elsewhere
 */
#if defined(__x86_64__)
#define SIMD_FP_COMPARED UINT64_C(0xffc0)
#define SIMD_FP_DEFAULT  UINT64_C(0x1f80)
static inline uint64_t simd_fp_read(void) {
    uint32_t word;
    __asm__ volatile("stmxcsr %0" : "=m"(word) : : "memory");
    return word;
}
static inline void simd_fp_write(uint64_t state) {
    uint32_t word = (uint32_t)state;
    __asm__ volatile("ldmxcsr %0" : : "m"(word) : "memory");
}
#elif defined(__aarch64__)
#define SIMD_FP_COMPARED UINT64_MAX
#define SIMD_FP_DEFAULT  UINT64_C(0)
static inline uint64_t simd_fp_read(void) {
    uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word) : : "memory");
    return word;
}
static inline void simd_fp_write(uint64_t state) { __asm__ volatile("msr fpcr, %0" : : "r"(state) : "memory"); }
#else
#define SIMD_FP_COMPARED UINT64_MAX
#define SIMD_FP_DEFAULT  ((uint64_t)FE_TONEAREST)
static inline uint64_t simd_fp_read(void) { return (uint64_t)fegetround(); }
static inline void simd_fp_write(uint64_t state) { fesetround((int)state); }
#endif

static inline uint64_t simd_fp_enter(void) {
    uint64_t state = simd_fp_read();
    if ((state & SIMD_FP_COMPARED) != SIMD_FP_DEFAULT) simd_fp_write(SIMD_FP_DEFAULT);
    return state;
}

static inline void simd_fp_leave(uint64_t state) {
    if ((state & SIMD_FP_COMPARED) != SIMD_FP_DEFAULT) simd_fp_write(state);
}

#endif
