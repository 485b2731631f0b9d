/*
 * test_simd_pool.c: plugins/simd/pool.c, and what plugin.c does with it. Links pool.c, variant.c, plugin.c and kernels.
 *
 * A pipeline of this plugin is a struct simd_kernel, so the tests hand submit kernels of their own that count.
 * Threads are real; nothing here depends on how long anything takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/simd/kernel.h"
#include "../../plugins/simd/pool.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef SIMD_PLUGIN_SYMBOL
#define SIMD_PLUGIN_SYMBOL svmx_plugin
#endif
extern const struct svmx_plugin SIMD_PLUGIN_SYMBOL;

/* ---- a host ----------------------------------------------------------------------------------------------- */

static atomic_int live_allocations;
static int allocations_left = 1000; /* the next ones after these fail */
static const char *threads_option = "4";

static void host_log(const struct svmx_host *host, enum svmx_log_level level, const char *text) {
    (void)host, (void)level, (void)text;
}

static void *host_alloc(const struct svmx_host *host, size_t bytes, size_t alignment) {
    (void)host;
    if (allocations_left-- <= 0) return NULL;
    atomic_fetch_add(&live_allocations, 1);
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void host_release(const struct svmx_host *host, void *memory) {
    (void)host;
    if (memory != NULL) atomic_fetch_sub(&live_allocations, 1);
    free(memory);
}

static const char *host_option(const struct svmx_host *host, const char *key) {
    (void)host;
    return strcmp(key, "threads") == 0 ? threads_option : NULL;
}

static const struct svmx_host host = {.size = sizeof host,
                                      .abi_major = SVMX_ABI_MAJOR,
                                      .log = host_log,
                                      .alloc = host_alloc,
                                      .release = host_release,
                                      .option = host_option};

static struct simd_pool *pool_of(uint32_t threads) {
    struct simd_pool *pool = NULL;
    cr_assert_eq(simd_pool_open(&host, threads, &pool), SVMX_OK);
    cr_assert_eq(simd_pool_threads(pool), threads);
    return pool;
}

static void sleep_us(long us) { nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL); }

#define COSTLY UINT64_C(1000000000) /* ps: 1 ms, well worth a second thread */

/* ---- a job that counts ------------------------------------------------------------------------------------ */

enum { ALIVE = 0x5afe };

struct tally {
    atomic_int alive; /* ALIVE while its job runs */
    uint64_t count, grain;
    atomic_uint *seen;
    atomic_uint misaligned, late, ranges;
};

static void tally_range(const void *context, uint64_t first, uint64_t end) {
    struct tally *tally = (struct tally *)(uintptr_t)context;
    if (atomic_load(&tally->alive) != ALIVE) atomic_fetch_add(&tally->late, 1);
    if (first >= end || first % tally->grain != 0 || (end % tally->grain != 0 && end != tally->count))
        atomic_fetch_add(&tally->misaligned, 1);
    for (uint64_t i = first; i < end; i++) atomic_fetch_add_explicit(&tally->seen[i], 1, memory_order_relaxed);
    atomic_fetch_add(&tally->ranges, 1);
}

/* Runs one and returns how many numbers were not done exactly once, or otherwise wrong. */
static unsigned tally_run(struct simd_pool *pool, uint64_t count, uint64_t grain, uint64_t cost_ps, unsigned *ranges) {
    struct tally tally = {.alive = ALIVE, .count = count, .grain = grain};
    tally.seen = calloc(count + 1, sizeof *tally.seen);
    simd_pool_run(pool, &(struct simd_job){tally_range, &tally, count, grain, cost_ps, 0});
    atomic_store(&tally.alive, 0);
    unsigned wrong = atomic_load(&tally.misaligned) + atomic_load(&tally.late);
    for (uint64_t i = 0; i < count; i++) wrong += atomic_load(&tally.seen[i]) != 1;
    if (ranges != NULL) *ranges = atomic_load(&tally.ranges);
    free(tally.seen);
    return wrong;
}

Test(simd_pool, every_number_exactly_once) {
    static const uint64_t counts[] = {0, 1, 2, 7, 8, 9, 63, 64, 65, 1000, 4096, 50001};
    static const uint64_t grains[] = {1, 3, 8, 1024};
    for (uint32_t threads = 1; threads <= 5; threads++) {
        struct simd_pool *pool = pool_of(threads);
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            for (size_t g = 0; g < sizeof grains / sizeof grains[0]; g++)
                for (uint64_t cost = 1; cost != 0 && cost <= COSTLY * 1000; cost *= 1000)
                    cr_expect_eq(tally_run(pool, counts[c], grains[g], cost, NULL), 0, "%u threads, %zu, %zu",
                                 (unsigned)threads, (size_t)counts[c], (size_t)grains[g]);
        simd_pool_close(pool);
    }
    cr_expect_eq(atomic_load(&live_allocations), 0);
}

Test(simd_pool, cost_beyond_all_bounds) {
    struct simd_pool *pool = pool_of(3);
    cr_expect_eq(tally_run(pool, 10000, 8, UINT64_MAX, NULL), 0);
    simd_pool_close(pool);
}

Test(simd_pool, small_jobs_and_single_threads_are_not_cut) {
    struct simd_pool *pool = pool_of(4);
    unsigned ranges = 0;
    cr_expect_eq(tally_run(pool, 4096, 1, SIMD_POOL_ALONE_NS * UINT64_C(1000) - 1, &ranges), 0);
    cr_expect_eq(ranges, 1);
    cr_expect_eq(tally_run(pool, 4096, 4096, COSTLY, &ranges), 0);
    cr_expect_eq(ranges, 1, "one grain");
    cr_expect_eq(tally_run(pool, 4096, 1, COSTLY, &ranges), 0);
    cr_expect_gt(ranges, 4, "cut into several");
    simd_pool_close(pool);

    pool = pool_of(1);
    cr_expect_eq(tally_run(pool, 4096, 1, COSTLY, &ranges), 0);
    cr_expect_eq(ranges, 1, "nobody to share with");
    simd_pool_close(pool);
}

/* ---- many callers ----------------------------------------------------------------------------------------- */

struct caller {
    struct simd_pool *pool;
    unsigned number, wrong;
};

static void *caller_main(void *argument) {
    struct caller *caller = argument;
    for (unsigned i = 0; i < 300; i++)
        caller->wrong +=
            tally_run(caller->pool, 100 + (i * 37 + caller->number) % 900, 1 + i % 8, i % 5 == 0 ? 1 : COSTLY, NULL);
    return NULL;
}

static void callers_race(uint32_t threads) {
    enum { CALLERS = 12 };
    struct simd_pool *pool = pool_of(threads);
    pthread_t thread[CALLERS];
    struct caller caller[CALLERS];
    for (unsigned i = 0; i < CALLERS; i++) {
        caller[i] = (struct caller){pool, i, 0};
        cr_assert_eq(pthread_create(&thread[i], NULL, caller_main, &caller[i]), 0);
    }
    for (unsigned i = 0; i < CALLERS; i++) {
        pthread_join(thread[i], NULL);
        cr_expect_eq(caller[i].wrong, 0, "caller %u with %u threads", i, (unsigned)threads);
    }
    simd_pool_close(pool);
}

Test(simd_pool, many_callers_on_one_thread) { callers_race(1); }

Test(simd_pool, many_callers_on_two_threads) { callers_race(2); }

Test(simd_pool, more_callers_than_slots) { callers_race(5); }

Test(simd_pool, open_and_close_over_and_over) {
    for (int i = 0; i < 200; i++) {
        struct simd_pool *pool = pool_of(1 + (uint32_t)i % 6);
        if (i % 3 == 0) cr_expect_eq(tally_run(pool, 512, 1, COSTLY, NULL), 0);
        simd_pool_close(pool);
    }
    simd_pool_close(NULL);
    cr_expect_eq(atomic_load(&live_allocations), 0);
}

/* ---- helpers ---------------------------------------------------------------------------------------------- */

/* Looks at the thread that it runs in. Sleeping ranges give every helper the time to come. */
struct witness {
    pthread_t caller;
    atomic_uint by_caller, by_helpers, bad_signals, bad_name, bad_fp;
};

static void witness_range(const void *context, uint64_t first, uint64_t end) {
    struct witness *witness = (struct witness *)(uintptr_t)context;
    sleep_us(200 * (long)(end - first));
    if (pthread_equal(pthread_self(), witness->caller)) {
        atomic_fetch_add(&witness->by_caller, 1);
        return;
    }
    atomic_fetch_add(&witness->by_helpers, 1);
    sigset_t blocked;
    char name[16] = "";
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    pthread_getname_np(pthread_self(), name, sizeof name);
    if (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGUSR1) || !sigismember(&blocked, SIGPROF))
        atomic_fetch_add(&witness->bad_signals, 1);
    if (strncmp(name, "svmx-simd-", 10) != 0) atomic_fetch_add(&witness->bad_name, 1);
    if ((simd_fp_read() & SIMD_FP_COMPARED) != SIMD_FP_DEFAULT) atomic_fetch_add(&witness->bad_fp, 1);
}

Test(simd_pool, helpers_help_with_signals_blocked_and_the_default_fp_environment) {
    uint64_t before = simd_fp_read();
#if defined(__x86_64__)
    simd_fp_write(0xffc0); /* flush to zero, toward zero, subnormals are zero: what helpers must not inherit */
#endif
    struct simd_pool *pool = pool_of(4);
    simd_fp_write(before);
    struct witness witness = {.caller = pthread_self()};
    simd_pool_run(pool, &(struct simd_job){witness_range, &witness, 100, 1, COSTLY, 0});
    cr_expect_gt(atomic_load(&witness.by_caller), 0);
    cr_expect_gt(atomic_load(&witness.by_helpers), 0);
    cr_expect_eq(atomic_load(&witness.bad_signals), 0);
    cr_expect_eq(atomic_load(&witness.bad_name), 0);
    cr_expect_eq(atomic_load(&witness.bad_fp), 0);
    simd_pool_close(pool);

    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    cr_expect(!sigismember(&blocked, SIGUSR1), "the opener's own mask is as it was");
}

/* Of one job: where its caller and its helper began. The first range of each waits for the other's. */
struct ends {
    pthread_t caller;
    atomic_uint_fast64_t caller_first, helper_end;
};

enum { NOWHERE = 1 << 30, PATIENCE_MS = 20000 };

static void ends_range(const void *context, uint64_t first, uint64_t end) {
    struct ends *ends = (struct ends *)(uintptr_t)context;
    bool caller = pthread_equal(pthread_self(), ends->caller);
    atomic_uint_fast64_t *mine = caller ? &ends->caller_first : &ends->helper_end;
    atomic_uint_fast64_t *other = caller ? &ends->helper_end : &ends->caller_first;
    uint_fast64_t nowhere = NOWHERE;
    atomic_compare_exchange_strong(mine, &nowhere, caller ? first : end);
    for (int ms = 0; ms < PATIENCE_MS && atomic_load(other) == NOWHERE; ms++) sleep_us(1000);
}

Test(simd_pool, caller_and_helper_begin_at_two_ends) {
    struct simd_pool *pool = pool_of(2);
    struct ends ends = {pthread_self(), NOWHERE, NOWHERE};
    simd_pool_run(pool, &(struct simd_job){ends_range, &ends, 1001, 8, COSTLY, 0});
    cr_expect_eq(atomic_load(&ends.caller_first), 0);
    cr_expect_eq(atomic_load(&ends.helper_end), 1001);
    simd_pool_close(pool);
}

/* Of one job: its numbers, and how many of its ranges are shorter than asked for. */
struct lengths {
    uint64_t range;
    atomic_uint_fast64_t numbers;
    atomic_uint shorter;
};

static void lengths_range(const void *context, uint64_t first, uint64_t end) {
    struct lengths *lengths = (struct lengths *)(uintptr_t)context;
    atomic_fetch_add(&lengths->numbers, end - first);
    if (end - first < lengths->range) atomic_fetch_add(&lengths->shorter, 1);
}

/* Shorter are shares that are shorter, and what is left of them and of all. */
Test(simd_pool, ranges_are_not_shorter_than_asked_for) {
    for (uint32_t threads = 2; threads <= 4; threads++) {
        struct simd_pool *pool = pool_of(threads);
        for (uint64_t count = 9; count <= 2000; count += 37) {
            struct lengths lengths = {.range = 64};
            simd_pool_run(pool, &(struct simd_job){lengths_range, &lengths, count, 8, COSTLY, lengths.range});
            cr_expect_eq(atomic_load(&lengths.numbers), count);
            cr_expect_leq(atomic_load(&lengths.shorter), threads + 2, "%u of %u", atomic_load(&lengths.shorter),
                          (unsigned)count);
        }
        simd_pool_close(pool);
    }
}

/* Two pieces are for two, the short one for the helper. */
Test(simd_pool, what_is_left_of_a_grain_is_for_the_other_thread) {
    struct simd_pool *pool = pool_of(2);
    struct ends ends = {pthread_self(), NOWHERE, NOWHERE};
    simd_pool_run(pool, &(struct simd_job){ends_range, &ends, 9, 8, COSTLY, 16});
    cr_expect_eq(atomic_load(&ends.caller_first), 0);
    cr_expect_eq(atomic_load(&ends.helper_end), 9);
    simd_pool_close(pool);
}

/* Too short to wake anybody for, each by itself. The bodies sleep, so that whoever is woken comes in time. */
Test(simd_pool, short_jobs_in_a_row_get_help) {
    enum { MOST = 1000 };
    struct simd_pool *pool = pool_of(2);
    struct witness witness = {.caller = pthread_self()};
    unsigned jobs = 0;
    while (jobs < MOST && atomic_load(&witness.by_helpers) == 0) {
        simd_pool_run(pool, &(struct simd_job){witness_range, &witness, 8, 1, SIMD_POOL_ALONE_NS * UINT64_C(1000), 0});
        jobs++;
    }
    cr_expect_gt(atomic_load(&witness.by_helpers), 0, "none in %u jobs", jobs);
    simd_pool_close(pool);
}

static struct simd_pool *shared_pool;
static pthread_barrier_t both_ready;

static void *sharing_main(void *argument) {
    struct witness *witness = argument;
    witness->caller = pthread_self();
    pthread_barrier_wait(&both_ready);
    simd_pool_run(shared_pool, &(struct simd_job){witness_range, witness, 200, 1, COSTLY, 0});
    return NULL;
}

Test(simd_pool, one_helper_serves_two_jobs_at_once) {
    struct witness witness[2] = {0};
    pthread_t thread[2];
    shared_pool = pool_of(2);
    pthread_barrier_init(&both_ready, NULL, 2);
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, sharing_main, &witness[i]);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    cr_expect_gt(atomic_load(&witness[0].by_helpers), 0);
    cr_expect_gt(atomic_load(&witness[1].by_helpers), 0);
    simd_pool_close(shared_pool);
}

Test(simd_pool, no_memory) {
    struct simd_pool *pool = NULL;
    allocations_left = 0;
    cr_expect_eq(simd_pool_open(&host, 4, &pool), SVMX_ERR_MEMORY);
    cr_expect_null(pool);
    for (int granted = 0; granted < 2; granted++) {
        struct svmx_backend backend = {0};
        allocations_left = granted;
        cr_expect_eq(SIMD_PLUGIN_SYMBOL.open(&host, &backend), SVMX_ERR_MEMORY);
        cr_expect_null(backend.ops);
        cr_expect_eq(atomic_load(&live_allocations), 0);
    }
}

/* ---- submit: units, then finish --------------------------------------------------------------------------- */

enum { TASKS = 500, UNITS_A_TASK = 16, UNITS = TASKS * UNITS_A_TASK };

static atomic_uint unit_seen[UNITS], finished[TASKS], early;

static void count_run(const struct svmx_dispatch *dispatch, uint64_t first, uint64_t end) {
    (void)dispatch;
    for (uint64_t i = first; i < end; i++) atomic_fetch_add_explicit(&unit_seen[i], 1, memory_order_relaxed);
}

static void count_finish(const struct svmx_dispatch *dispatch, uint32_t first, uint32_t end) {
    for (uint32_t task = first; task < end; task++) {
        for (uint64_t i = dispatch->first_unit[task]; i < dispatch->first_unit[task + 1]; i++)
            if (atomic_load_explicit(&unit_seen[i], memory_order_relaxed) == 0) atomic_fetch_add(&early, 1);
        atomic_fetch_add(&finished[task], 1);
    }
}

static void submit_counting(const struct simd_kernel *kernel, uint32_t tasks, uint64_t work) {
    static uint64_t first_unit[TASKS + 1];
    for (uint32_t i = 0; i <= TASKS; i++) first_unit[i] = (uint64_t)i * UNITS_A_TASK;
    struct svmx_backend backend;
    cr_assert_eq(SIMD_PLUGIN_SYMBOL.open(&host, &backend), SVMX_OK);
    struct svmx_command command = {.kind = SVMX_COMMAND_DISPATCH};
    command.as.dispatch = (struct svmx_dispatch){.pipeline = (struct svmx_pipeline *)(uintptr_t)kernel,
                                                 .first_unit = first_unit,
                                                 .task_count = tasks,
                                                 .work = work};
    struct svmx_command_list list = {sizeof list, sizeof command, &command, 1};
    struct svmx_submission submission = {.size = sizeof submission, .list = &list};
    uint64_t ticket = 99;
    cr_assert_eq(backend.ops->submit(backend.self, &submission, &ticket), SVMX_OK);
    cr_expect_eq(ticket, 0);
    backend.ops->close(backend.self);
    for (uint32_t i = 0; i < TASKS; i++)
        cr_expect_eq(atomic_load(&finished[i]), i < tasks && kernel->finish != NULL ? 1 : 0, "task %u", (unsigned)i);
    for (uint32_t i = 0; i < UNITS; i++)
        cr_expect_eq(atomic_load(&unit_seen[i]), i < tasks * UNITS_A_TASK ? 1 : 0, "unit %u", (unsigned)i);
    cr_expect_eq(atomic_load(&early), 0);
}

static const struct simd_kernel counting = {"count", count_run, count_finish, 4, 1000, 0};
static const struct simd_kernel unfinished = {"count", count_run, NULL, 4, 1000, 0};

Test(simd_pool, finish_comes_after_all_units) { submit_counting(&counting, TASKS, 100000000); }

Test(simd_pool, finish_with_few_tasks) { submit_counting(&counting, 3, 100000000); }

Test(simd_pool, finish_of_a_small_dispatch) { submit_counting(&counting, 1, 16); }

Test(simd_pool, no_finish_and_absurd_work) { submit_counting(&unfinished, TASKS, UINT64_MAX); }

Test(simd_pool, no_tasks) { submit_counting(&counting, 0, 0); }

Test(simd_pool, one_thread_does_it_all) {
    threads_option = "1";
    submit_counting(&counting, TASKS, 100000000);
}

/* Tasks without units: nothing to run, but each has a result. */
Test(simd_pool, tasks_without_units_are_finished) {
    static const uint64_t first_unit[4] = {0, 0, 0, 0};
    struct svmx_backend backend;
    cr_assert_eq(SIMD_PLUGIN_SYMBOL.open(&host, &backend), SVMX_OK);
    struct svmx_command command = {.kind = SVMX_COMMAND_DISPATCH};
    command.as.dispatch = (struct svmx_dispatch){
        .pipeline = (struct svmx_pipeline *)(uintptr_t)&counting, .first_unit = first_unit, .task_count = 3};
    struct svmx_command_list list = {sizeof list, sizeof command, &command, 1};
    struct svmx_submission submission = {.size = sizeof submission, .list = &list};
    uint64_t ticket;
    cr_assert_eq(backend.ops->submit(backend.self, &submission, &ticket), SVMX_OK);
    cr_expect_eq(atomic_load(&finished[0]) + atomic_load(&finished[1]) + atomic_load(&finished[2]), 3);
    cr_expect_eq(atomic_load(&unit_seen[0]), 0);
    backend.ops->close(backend.self);
}
