/*
 * soak.c: everything at once for a while: threads that run, submit, cancel and destroy batches under changing policies, on a
 * device that fails at random: calls that fail, want of memory, losses, hangs, calls that do not return, writes too far, readbacks
 * cut short, resets in the midst of it. No answer is wrong, none is missing, none comes twice, and in the end the device serves
 * again. Then another executor is closed at once with what it has.
 *
 * A plain program, for the thread sanitizer as well. SVMX_SOAK_SECONDS says how long: 5. Other dice with SVMX_SOAK_SEED.
 * What an instance that hangs holds stays with it on purpose: so leaks are not looked for. Ends with `N passed, N failed, N
 * skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "executor/executor.h"
#include "fake.h"

#include <stdio.h>
#include <unistd.h>

SVMX_EXPORT int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

enum { WORKERS = 4, ITEMS = 3000, SHOWN = 5, TRIES = 2000 };

static svmx_executor_t *executor;
static atomic_bool over;
static atomic_ulong batches, completions, cancelled, refused, wrong, lost, faults;
static atomic_ulong smears; /* odd while the device writes too far or cuts readbacks short */

static uint64_t next(uint64_t *dice) {
    *dice ^= *dice >> 12;
    *dice ^= *dice << 25;
    *dice ^= *dice >> 27;
    return (*dice * UINT64_C(2685821657736338717)) >> 16;
}
static uint64_t below(uint64_t *dice, uint64_t limit) { return next(dice) % limit; }

static void complain(atomic_ulong *counter, const char *what) {
    if (atomic_fetch_add(counter, 1) < SHOWN) fprintf(stderr, "failed: %s\n", what);
}

/* ---- work ----------------------------------------------------------------------------------------------------------- */

struct worker {
    pthread_t thread;
    uint64_t dice;
    float a[ITEMS], b[ITEMS], sum[ITEMS], product[ITEMS], total;
    atomic_uint done; /* completions of the present batch */
};

static void note_done(svmx_batch_t *batch, enum svmx_status status, void *user) {
    struct worker *worker = user;
    (void)batch, (void)status;
    atomic_fetch_add(&worker->done, 1);
    atomic_fetch_add(&completions, 1);
}

/* a + b, a * (a + b) by way of a result, and the sum of a. Small whole numbers: exact in any order. */
static enum svmx_status fill(struct worker *worker, svmx_batch_t *batch, uint64_t items) {
    for (uint64_t i = 0; i < items; i++) {
        worker->a[i] = (float)below(&worker->dice, 16);
        worker->b[i] = (float)below(&worker->dice, 16);
        worker->sum[i] = worker->product[i] = -1;
    }
    worker->total = -1;
    const struct svmx_arg product[] = {svmx_out(SVMX_F32, worker->product, items), svmx_in(SVMX_F32, worker->a, items),
                                       svmx_result_of(SVMX_F32, 0, 0)};
    enum svmx_status status = svmx_vec_add_f32(batch, worker->sum, worker->a, worker->b, items);
    if (status == SVMX_OK) status = svmx_batch_add(batch, SVMX_OP_VEC_MUL_F32, product, 3);
    if (status == SVMX_OK) status = svmx_sum_f32(batch, &worker->total, worker->a, items);
    return status;
}

static bool is_right(const struct worker *worker, uint64_t items) {
    float total = 0;
    for (uint64_t i = 0; i < items; i++) {
        const float sum = worker->a[i] + worker->b[i];
        if (worker->sum[i] != sum || worker->product[i] != worker->a[i] * sum) return false;
        total += worker->a[i];
    }
    return worker->total == total;
}

/* Wishes at random. true: an error is an answer as well. */
static bool wish(struct worker *worker, svmx_batch_t *batch) {
    static const uint32_t policies[] = {0, 0, 0, SVMX_POLICY_AUTO, SVMX_POLICY_CPU, SVMX_POLICY_GPU, SVMX_POLICY_ORDER};
    const uint32_t policy = policies[below(&worker->dice, sizeof policies / sizeof *policies)];
    if (policy && svmx_batch_set_policy(batch, policy) != SVMX_OK) complain(&lost, "a policy is refused");
    if (below(&worker->dice, 4) == 0 && svmx_batch_set_verify(batch, "full") != SVMX_OK)
        complain(&lost, "verify is refused");
    return policy == SVMX_POLICY_GPU;
}

/* Levels in one submission have no guard bytes: such a write into another output of theirs is not seen, nor promised to be.
 * `before`: smears when the batch was submitted. */
static bool is_excused(const svmx_batch_t *batch, unsigned long before) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    if (before % 2 == 0 && atomic_load(&smears) == before) return false;
    return svmx_receipt_get(batch, 0, &receipt) == SVMX_OK && (receipt.flags & SVMX_RECEIPT_STRETCH);
}

static void run_one(struct worker *worker) {
    const uint64_t items = 1 + below(&worker->dice, ITEMS), way = below(&worker->dice, 4);
    svmx_batch_t *batch;
    enum svmx_status status;
    atomic_store(&worker->done, 0);
    if (svmx_batch_create(executor, &batch) != SVMX_OK || fill(worker, batch, items) != SVMX_OK ||
        svmx_batch_on_done(batch, note_done, worker) != SVMX_OK) {
        complain(&lost, "no batch can be made");
        return;
    }
    const bool may_fail = wish(worker, batch);
    const unsigned long before = atomic_load(&smears);
    atomic_fetch_add(&batches, 1);
    if (way == 0) {
        status = svmx_run(batch);
    } else {
        status = svmx_submit(batch, 0);
        if (status == SVMX_OK && way == 1) (void)svmx_cancel(batch);
        if (status == SVMX_OK) status = svmx_wait(batch, UINT64_MAX);
    }
    if (status == SVMX_OK && !is_right(worker, items) && !is_excused(batch, before)) complain(&wrong, "a wrong answer");
    if (status == SVMX_CANCELLED) atomic_fetch_add(&cancelled, 1);
    if (status != SVMX_OK && status != SVMX_CANCELLED) {
        atomic_fetch_add(&refused, 1);
        if (!may_fail) complain(&lost, svmx_batch_error(batch));
    }
    svmx_batch_destroy(batch);
    if (atomic_load(&worker->done) != 1) complain(&lost, "a batch is not over exactly once");
}

static void *worker_main(void *user) {
    while (!atomic_load(&over)) run_one(user);
    return NULL;
}

/* ---- faults ---------------------------------------------------------------------------------------------------------- */

static void pause_ms(uint64_t ms) {
    const struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    (void)nanosleep(&time, NULL);
}

/* As it is without any. */
static void mend(void) {
    pthread_mutex_lock(&fake.lock);
    if (fake.stray || fake.short_bytes) atomic_fetch_add(&smears, 1);
    memset(fake.fail, 0, sizeof fake.fail);
    fake.gate_closed = fake.forgets_gate = false;
    fake.stuck = 0;
    fake.stray = 0;
    fake.short_bytes = 0;
    fake.delay_ms = 0;
    pthread_cond_broadcast(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
}

static void break_something(uint64_t *dice) {
    static const enum svmx_status statuses[] = {SVMX_ERR_BACKEND, SVMX_ERR_DEVICE_LOST, SVMX_ERR_MEMORY};
    const uint64_t kind = below(dice, 12), call = below(dice, FAKE_CALLS);
    atomic_fetch_add(&faults, 1);
    pthread_mutex_lock(&fake.lock);
    switch (kind) {
    case 0: fake.gate_closed = true; break;
    case 1: fake.stray = below(dice, 2) ? 1 : -1; break;
    case 2: fake.short_bytes = 1 + below(dice, 8); break;
    case 3: fake.delay_ms = 1 + (unsigned)below(dice, 5); break;
    case 4: fake.stuck = below(dice, 4) ? 0 : FAKE_STUCK_SUBMIT; break; /* each costs a thread */
    default:
        fake.fail[call].from = fake.calls[call] + 1 + (unsigned)below(dice, 5);
        fake.fail[call].count = 1 + (unsigned)below(dice, 3);
        fake.fail[call].status = statuses[below(dice, 3)];
    }
    if (fake.stray || fake.short_bytes) atomic_fetch_add(&smears, 1);
    pthread_mutex_unlock(&fake.lock);
}

static void *chaos_main(void *user) {
    uint64_t dice = *(uint64_t *)user;
    struct svmx_stats stats = {.size = sizeof stats};
    while (!atomic_load(&over)) {
        break_something(&dice);
        pause_ms(1 + below(&dice, 60));
        mend();
        if (svmx_stats_get(executor, &stats) != SVMX_OK) complain(&lost, "no counters");
        if (below(&dice, 2) && svmx_device_reset(executor, 0) != SVMX_OK) complain(&lost, "no reset");
        pause_ms(below(&dice, 20));
    }
    return NULL;
}

/* ---- the end --------------------------------------------------------------------------------------------------------- */

/* Once nothing fails any more the device answers again; it may have to be rebuilt first. */
static bool serves_again(struct worker *worker) {
    for (int i = 0; i < TRIES; i++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        svmx_batch_t *batch;
        if (i % 20 == 0 && svmx_device_reset(executor, 0) != SVMX_OK) return false;
        if (svmx_batch_create(executor, &batch) != SVMX_OK || fill(worker, batch, 10) != SVMX_OK) return false;
        const bool good =
            svmx_run(batch) == SVMX_OK && is_right(worker, 10) && svmx_receipt_get(batch, 0, &receipt) == SVMX_OK;
        svmx_batch_destroy(batch);
        if (!good) return false;
        if (receipt.device == 0 && !receipt.redone) return true;
        pause_ms(5);
    }
    return false;
}

/* ---- closed in the midst of it ---------------------------------------------------------------------------------------- */

enum { LEFT = 24 }; /* batches of each worker */

struct left {
    svmx_batch_t *batch;
    float a[16], sum[16];
    atomic_uint ends;
};

static struct left left[WORKERS][LEFT];

static void note_end(svmx_batch_t *batch, enum svmx_status status, void *user) {
    struct left *one = user;
    (void)batch, (void)status;
    atomic_fetch_add(&one->ends, 1);
}

/* Submits and waits for none. */
static void *leave_main(void *user) {
    struct left *mine = user;
    for (int i = 0; i < LEFT; i++) {
        for (int k = 0; k < 16; k++) mine[i].a[k] = (float)(i + k);
        if (svmx_batch_create(executor, &mine[i].batch) != SVMX_OK ||
            svmx_vec_add_f32(mine[i].batch, mine[i].sum, mine[i].a, mine[i].a, 16) != SVMX_OK ||
            svmx_batch_on_done(mine[i].batch, note_end, &mine[i]) != SVMX_OK ||
            svmx_submit(mine[i].batch, 0) != SVMX_OK)
            complain(&lost, "no batch can be submitted");
    }
    return NULL;
}

/* Over once, as cancelled or with the right answer. */
static bool is_over(struct left *one, unsigned *ended) {
    const enum svmx_status status = svmx_poll(one->batch);
    bool good = atomic_load(&one->ends) == 1 && (status == SVMX_OK || status == SVMX_CANCELLED);
    for (int k = 0; k < 16 && status == SVMX_OK; k++) good = good && one->sum[k] == 2 * one->a[k];
    *ended += status == SVMX_CANCELLED;
    svmx_batch_destroy(one->batch);
    return good;
}

/* svmx_close_now while the device is slow. */
static bool ends_at_once(const struct svmx_options *options) {
    pthread_t threads[WORKERS];
    unsigned ended = 0;
    bool good = svmx_open(&executor, options, NULL) == SVMX_OK;
    for (int i = 0; i < WORKERS && good; i++) good = pthread_create(&threads[i], NULL, leave_main, left[i]) == 0;
    if (!good) return false;
    for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
    svmx_close_now(executor);
    for (int i = 0; i < WORKERS * LEFT; i++) good = is_over(&left[i / LEFT][i % LEFT], &ended) && good;
    return good && ended > 0;
}

static void ignore(void *user, enum svmx_log_level level, const char *text) { (void)user, (void)level, (void)text; }

static int judge(bool good, const char *what) {
    if (!good) printf("FAILED: %s\n", what);
    return good;
}

int main(void) {
    static struct worker workers[WORKERS];
    const char *wish_seconds = getenv("SVMX_SOAK_SECONDS"), *wish_seed = getenv("SVMX_SOAK_SEED");
    const unsigned long seconds = wish_seconds ? strtoul(wish_seconds, NULL, 10) : 5;
    uint64_t seed = wish_seed ? strtoull(wish_seed, NULL, 10) | 1 : 20261117;
    pthread_t chaos;
    struct svmx_stats stats = {.size = sizeof stats};
    fake_start();
    fake.silent = true;
    struct svmx_options options = fake_options();
    options.timeout_ms = 100;
    options.log = ignore;
    options.patience_ms = 1000;
    if (svmx_open(&executor, &options, NULL) != SVMX_OK) return 2;
    if (pthread_create(&chaos, NULL, chaos_main, &seed) != 0) return 2;
    for (int i = 0; i < WORKERS; i++) {
        workers[i].dice = seed * 7 + (uint64_t)i + 1;
        if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) != 0) return 2;
    }
    pause_ms(seconds * 1000);
    atomic_store(&over, true);
    pthread_join(chaos, NULL);
    mend();
    for (int i = 0; i < WORKERS; i++) pthread_join(workers[i].thread, NULL);
    const bool serves = serves_again(&workers[0]);
    (void)svmx_stats_get(executor, &stats);
    svmx_close(executor);
    fake.delay_ms = 20;
    const bool ended = ends_at_once(&options);
    printf("%lu s: %lu batches, %lu faults, %llu launches redone, %lu cancelled, %lu refused under the policy gpu, %u "
           "instances\n",
           seconds, atomic_load(&batches), atomic_load(&faults), (unsigned long long)stats.fallbacks,
           atomic_load(&cancelled), atomic_load(&refused), fake.opens);
    const int passed = judge(atomic_load(&wrong) == 0, "answers were wrong") +
                       judge(atomic_load(&lost) == 0, "batches were lost, or failed for no reason") +
                       judge(atomic_load(&completions) == atomic_load(&batches), "a batch is over once") +
                       judge(stats.fallbacks > 0 && fake.opens > 1, "hardly anything failed: it shows nothing") +
                       judge(serves, "the device does not serve again") +
                       judge(ended, "closing at once ends every batch once");
    printf("%d passed, %d failed, 0 skipped\n", passed, 6 - passed);
    return passed == 6 ? 0 : 1;
}
