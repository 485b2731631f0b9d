/*
 * threads.c: many threads on one executor, two executors, data that stays, operations registered while others run, devices that
 * fail meanwhile; on a made-up device, in the caller's thread, and on the pool of SIMD. How batches end is in threads_ends.c,
 * the caches have tsan_caches.c.
 *
 * A plain program because Criterion does not run under the thread sanitizer. Links the archive of the core, for the device.
 * Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "mix_op.h"
#include "threads_fixture.h"

#include <unistd.h>

/* What an abandoned device keeps is kept on purpose: not a leak for the leak checker. */
SVMX_EXPORT const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:fake_\nleak:make_new\nleak:candidates_collect\nleak:host_make\nleak:svmx__life_open\n";
}

/* ---- run and submit mixed --------------------------------------------------------------------------------------- */

/* Three tasks of two operations on two levels; answers that a hand can check. */
struct work {
    struct trial trial;
    float product[TRIAL_ITEMS], sum;
};

static bool work_fill(struct work *work, svmx_batch_t *batch, unsigned seed) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, &work->sum, 1), svmx_result_of(SVMX_F32, 0, 0)};
    trial_fill(&work->trial, seed);
    return svmx_batch_reset(batch) == SVMX_OK && trial_add(&work->trial, batch) == SVMX_OK &&
           svmx_vec_mul_f32(batch, work->product, work->trial.a, work->trial.b, TRIAL_ITEMS) == SVMX_OK &&
           svmx_batch_add(batch, SVMX_OP_SUM_F32, args, 2) == SVMX_OK;
}

static bool work_is_right(const struct work *work) {
    float sum = 0; /* whole numbers: exact in any order */
    for (int i = 0; i < TRIAL_ITEMS; i++) {
        sum += work->trial.a[i] + work->trial.b[i];
        if (work->product[i] != work->trial.a[i] * work->trial.b[i]) return false;
    }
    return trial_is_right(&work->trial) && work->sum == sum;
}

static void *mix(void *argument) {
    const struct actor *actor = argument;
    svmx_batch_t *batch = batch_or_die(actor->shared);
    struct work work;
    for (unsigned round = 0; round < 150; round++) {
        if (!check(work_fill(&work, batch, actor->number * 31 + round), "filling a batch")) break;
        enum svmx_status status = (round + actor->number) % 2 ? svmx_run(batch) : svmx_submit(batch, 0);
        if (status == SVMX_OK) status = svmx_wait(batch, UINT64_MAX);
        check(status == SVMX_OK && work_is_right(&work), "an answer among eight threads");
        struct svmx_stats stats = {.size = sizeof stats};
        struct svmx_device device = {.size = sizeof device};
        check(svmx_stats_get(actor->shared, &stats) == SVMX_OK, "counters while work goes on");
        check(svmx_device_get(actor->shared, 0, &device) == SVMX_OK, "a device while work goes on");
    }
    svmx_batch_destroy(batch);
    return NULL;
}

static void eight_threads(struct svmx_options options) {
    fake_start();
    svmx_executor_t *executor = open_or_die(options);
    act(THREADS, mix, executor);
    struct svmx_stats stats = {.size = sizeof stats};
    check(svmx_stats_get(executor, &stats) == SVMX_OK && stats.batches == THREADS * 150 &&
              stats.tasks == 3 * stats.batches,
          "every batch and task is counted once");
    svmx_close(executor);
    check(fake.memories == 0 && fake.pipelines == 0 && fake.closes == fake.opens, "everything is given back");
}

/* Small batches of two tenants, some of which are taken back: those that wait are one launch. */
static void *submit_small(void *argument) {
    const struct actor *actor = argument;
    svmx_batch_t *batch = batch_or_die(actor->shared);
    for (unsigned round = 0; round < 100; round++) {
        struct trial trial;
        trial_fill(&trial, actor->number * 1000 + round);
        if (svmx_batch_reset(batch) != SVMX_OK || svmx_batch_set_tenant(batch, actor->number / 4) != SVMX_OK ||
            trial_add(&trial, batch) != SVMX_OK || svmx_submit(batch, 0) != SVMX_OK)
            break;
        if (round % 4 == 0) (void)svmx_cancel(batch);
        const enum svmx_status status = svmx_wait(batch, UINT64_MAX);
        check(status == SVMX_CANCELLED ? trial_is_untouched(&trial) : status == SVMX_OK && trial_is_right(&trial),
              "an answer among those that are gathered");
    }
    svmx_batch_destroy(batch);
    return NULL;
}

static void gathering(struct svmx_options options, enum fake_call call, enum svmx_status status) {
    fake_start();
    svmx_executor_t *executor = open_or_die(options);
    if (status != SVMX_OK) {
        fake.fail[call].from = 60;
        fake.fail[call].count = 2;
        fake.fail[call].status = status;
    }
    act(THREADS, submit_small, executor);
    struct svmx_stats stats = {.size = sizeof stats};
    check(svmx_stats_get(executor, &stats) == SVMX_OK && stats.batches + stats.cancelled == THREADS * 100,
          "every batch is counted once");
    svmx_close(executor);
    check(fake.memories == 0 && fake.pipelines == 0 && fake.closes == fake.opens, "everything is given back");
}

static void *two_at_once(void *argument) {
    const struct actor *actor = argument;
    svmx_executor_t *const *executors = actor->shared;
    struct actor mine = {actor->number, executors[actor->number % 2]};
    return mix(&mine);
}

static void two_executors(void) {
    fake_start();
    struct svmx_options other = plain_options();
    svmx_executor_t *executors[2] = {open_or_die(fake_options()), open_or_die(other)};
    act(4, two_at_once, executors);
    svmx_close(executors[1]);
    act(2, mix, executors[0]); /* the other's end is none of its business */
    svmx_close(executors[0]);
}

/* ---- chains, buffers and loops ----------------------------------------------------------------------------------- */

/* x, x + step, x + 2 step ... through a buffer of the thread's own, with `step` in one that all share; then as a loop. */
static bool stay(svmx_executor_t *executor, svmx_buffer_t *step, svmx_batch_t *batch, unsigned seed) {
    enum { LINKS = 4, TURNS = 3 };
    float x[TRIAL_ITEMS], ones[TRIAL_ITEMS], end = 0;
    svmx_buffer_t *state;
    for (int i = 0; i < TRIAL_ITEMS; i++) x[i] = (float)(i + (int)seed), ones[i] = 1;
    if (svmx_buffer_create(executor, sizeof x, &state) != SVMX_OK || svmx_batch_reset(batch) != SVMX_OK) return false;
    bool good = svmx_buffer_write(state, 0, x, sizeof x) == SVMX_OK;
    for (uint32_t t = 0; t < LINKS; t++) {
        const struct svmx_arg args[] = {svmx_out_passing(SVMX_F32, TRIAL_ITEMS),
                                        t ? svmx_result_of(SVMX_F32, t - 1, 0)
                                          : svmx_view(SVMX_F32, state, 0, TRIAL_ITEMS),
                                        svmx_view(SVMX_F32, step, 0, TRIAL_ITEMS)};
        good = good && svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3) == SVMX_OK;
    }
    const struct svmx_arg sum[] = {svmx_out(SVMX_F32, &end, 1), svmx_result_of(SVMX_F32, LINKS - 1, 0),
                                   svmx_in(SVMX_F32, ones, TRIAL_ITEMS)};
    good = good && svmx_batch_add(batch, SVMX_OP_MAX_ABS_DIFF_F32, sum, 3) == SVMX_OK;
    const struct svmx_carry carry = {LINKS - 1, 0, state, 0};
    const struct svmx_until until = {.task = LINKS, .kind = SVMX_UNTIL_BELOW, .limit = -1};
    const struct svmx_loop loop = {sizeof loop, &carry, &until, 1, 1, TURNS, 2};
    struct svmx_loop_end ends;
    good = good && svmx_loop_run(batch, &loop, &ends, NULL) == SVMX_OK && ends.iterations == TURNS;
    good = good && svmx_buffer_read(state, 0, x, sizeof x) == SVMX_OK;
    for (int i = 0; i < TRIAL_ITEMS; i++) good = good && x[i] == (float)(i + (int)seed + LINKS * TURNS * 2);
    svmx_buffer_destroy(state);
    return good;
}

struct staying {
    svmx_executor_t *executor;
    svmx_buffer_t *step;
};

static void *stay_main(void *argument) {
    const struct actor *actor = argument;
    const struct staying *staying = actor->shared;
    svmx_batch_t *batch = batch_or_die(staying->executor);
    for (unsigned round = 0; round < 40; round++)
        check(stay(staying->executor, staying->step, batch, actor->number * 100 + round), "a loop among others");
    svmx_batch_destroy(batch);
    return NULL;
}

static void data_that_stays(struct svmx_options options, enum fake_call call, unsigned fails) {
    float twos[TRIAL_ITEMS];
    for (int i = 0; i < TRIAL_ITEMS; i++) twos[i] = 2;
    fake_start();
    fake.fail[call].from = 30;
    fake.fail[call].count = fails;
    fake.fail[call].status = call == FAKE_ALLOC ? SVMX_ERR_MEMORY : SVMX_ERR_BACKEND;
    struct staying staying = {.executor = open_or_die(options)};
    check(svmx_buffer_create(staying.executor, sizeof twos, &staying.step) == SVMX_OK &&
              svmx_buffer_write(staying.step, 0, twos, sizeof twos) == SVMX_OK,
          "a buffer");
    act(4, stay_main, &staying);
    svmx_close(staying.executor);
    svmx_buffer_destroy(staying.step);
    check(fake.memories == 0 && fake.pipelines == 0 && fake.closes == fake.opens, "what stayed is given back");
}

/* A device that fails now and then, in every way that is not for ever. */
static void failing_device(void) {
    for (int call = 0; call < FAKE_CALLS; call++) {
        if (call == FAKE_BUILD) continue; /* that is for ever */
        fake_start();
        fake.fail[call].from = 40;
        fake.fail[call].count = 60;
        fake.fail[call].status = call == FAKE_ALLOC ? SVMX_ERR_MEMORY : SVMX_ERR_BACKEND;
        svmx_executor_t *executor = open_or_die(fake_options());
        act(4, mix, executor);
        svmx_close(executor);
        check(fake.memories == 0 && fake.pipelines == 0 && fake.closes == fake.opens,
              "a failing device gets everything back");
    }
}

/* Lets the device fail, be lost, rest and come back, over and over; the time of its rests is over at once. */
struct trouble {
    svmx_executor_t *executor;
    atomic_bool over;
};

static void *trouble_main(void *argument) {
    struct trouble *trouble = argument;
    struct svmx_device device = {.size = sizeof device};
    for (unsigned turn = 0; !atomic_load(&trouble->over); turn++) {
        enum fake_call call = turn % 2 ? FAKE_SUBMIT : FAKE_WAIT;
        pthread_mutex_lock(&fake.lock);
        fake.fail[call].from = fake.calls[call] + 1;
        fake.fail[call].count = 1 + turn % 3;
        fake.fail[call].status = turn % 5 == 4 ? SVMX_ERR_DEVICE_LOST : SVMX_ERR_BACKEND;
        pthread_mutex_unlock(&fake.lock);
        atomic_fetch_add(&trouble->executor->stopped_ns, SVMX__REST_MAX_NS);
        if (turn % 7 == 6) check(svmx_device_reset(trouble->executor, 0) == SVMX_OK, "a reset");
        check(svmx_device_get(trouble->executor, 0, &device) == SVMX_OK && device.health >= SVMX_HEALTHY, "a health");
        usleep(1000);
    }
    return NULL;
}

static void recovering_device(uint32_t flags) {
    fake_start();
    fake.flags = flags;
    struct trouble trouble = {.executor = open_or_die(fake_options())};
    pthread_t thread;
    atomic_store(&trouble.executor->stopped_ns, 1);
    if (pthread_create(&thread, NULL, trouble_main, &trouble) != 0) exit(2);
    do act(4, mix, trouble.executor);
    while (fake_count(&fake.opens) < 4); /* a fast machine is through before there was trouble */
    atomic_store(&trouble.over, true);
    pthread_join(thread, NULL);
    svmx_close(trouble.executor);
    check(fake.memories == 0 && fake.pipelines == 0 && fake.closes == fake.opens, "all its lives give everything back");
}

static void hanging_device(void) {
    fake_start();
    struct svmx_options options = fake_options();
    options.timeout_ms = 20;
    svmx_executor_t *executor = open_or_die(options);
    fake_gate(true);
    act(4, mix, executor);
    svmx_close(executor);
    check(fake.closes == 0, "a device that hangs is not closed");
    fake_finish_late();
}

/* ---- operations registered while others run ---------------------------------------------------------------------- */

enum { OWN_OPS = 6, SHARED_OPS = 20 };

static atomic_uint shared_made;

static enum svmx_status run_mixed(svmx_batch_t *batch, uint32_t op, unsigned seed) {
    enum { ITEMS = 50 };
    uint32_t out[ITEMS], a[ITEMS], b[ITEMS];
    for (unsigned i = 0; i < ITEMS; i++) a[i] = seed + i, b[i] = seed * i, out[i] = 0;
    const struct svmx_arg args[] = {svmx_out(SVMX_U32, out, ITEMS), svmx_in(SVMX_U32, a, ITEMS),
                                    svmx_in(SVMX_U32, b, ITEMS), svmx_u32(seed)};
    enum svmx_status status = svmx_batch_reset(batch);
    if (status == SVMX_OK) status = svmx_batch_add(batch, op, args, MIX_PARAMS);
    if (status == SVMX_OK) status = seed % 2 ? svmx_run(batch) : svmx_submit(batch, 0);
    if (status == SVMX_OK) status = svmx_wait(batch, UINT64_MAX);
    for (unsigned i = 0; i < ITEMS && status == SVMX_OK; i++)
        if (out[i] != mix_one(a[i], b[i], seed)) status = SVMX_ERR_WRONG_RESULT;
    return status;
}

static void *register_and_run(void *argument) {
    const struct actor *actor = argument;
    svmx_executor_t *executor = actor->shared;
    svmx_batch_t *batch = batch_or_die(executor);
    for (unsigned i = 0; i < OWN_OPS + SHARED_OPS; i++) {
        char name[32];
        struct svmx_op_def def = mix_def(name, NULL);
        uint32_t op = 0, found = 0;
        def.trial_size = 8;
        if (i % 4 == 0 && i / 4 < OWN_OPS)
            (void)snprintf(name, sizeof name, "own_%u_%u", actor->number, i);
        else
            (void)snprintf(name, sizeof name, "shared_%u", i);
        const bool own = name[0] == 'o';
        enum svmx_status status = svmx_op_register(executor, &def, &op, NULL);
        if (!own && status == SVMX_OK) atomic_fetch_add(&shared_made, 1);
        check(own ? status == SVMX_OK : status == SVMX_OK || status == SVMX_ERR_STATE, "registering");
        check(svmx_op_find(executor, name, &found, NULL) == SVMX_OK, "what is registered is found");
        check(status != SVMX_OK || found == op, "two operations of one name");
        check(run_mixed(batch, found, actor->number + i) == SVMX_OK, "an answer of a new operation");
        struct svmx_op newest = {.size = sizeof newest}; /* anybody's, found by position */
        if (check(svmx_op_get(executor, svmx_op_count(executor) - 1, &newest) == SVMX_OK, "the newest"))
            check(run_mixed(batch, newest.id, i + 1) == SVMX_OK, "an answer of somebody's operation");
    }
    svmx_batch_destroy(batch);
    return NULL;
}

static void registering(struct svmx_options options) {
    fake_start();
    atomic_store(&shared_made, 0);
    svmx_executor_t *executor = open_or_die(options);
    const uint32_t before = svmx_op_count(executor);
    act(THREADS, register_and_run, executor);
    check(atomic_load(&shared_made) == SHARED_OPS, "a name that all want is taken once");
    check(svmx_op_count(executor) == before + THREADS * OWN_OPS + SHARED_OPS, "all of them are there");
    svmx_close(executor);
}

/* ---- the pool of SIMD under several callers ------------------------------------------------------------------------ */

/* Large enough that the pool takes part in it. */
enum { POOLED = 1 << 17, POOLED_ROUNDS = 12 };

static bool pooled_is_right(const float *out, const float *a, bool untouched) {
    for (unsigned i = 0; i < POOLED; i++)
        if (out[i] != (untouched ? -1 : 2 * a[i])) return false;
    return true;
}

/* One runs, one submits, one submits and takes back. */
static void *use_simd(void *argument) {
    const struct actor *actor = argument;
    svmx_batch_t *batch = batch_or_die(actor->shared);
    float *out = malloc(2 * POOLED * sizeof *out), *a = out + POOLED;
    if (!out) exit(2);
    for (unsigned round = 0; round < POOLED_ROUNDS; round++) {
        const unsigned way = (round + actor->number) % 3;
        for (unsigned i = 0; i < POOLED; i++) a[i] = (float)(i % 1000 + actor->number + round), out[i] = -1;
        check(svmx_batch_reset(batch) == SVMX_OK && svmx_vec_add_f32(batch, out, a, a, POOLED) == SVMX_OK, "a sum");
        enum svmx_status status = way == 0 ? svmx_run(batch) : svmx_submit(batch, 0);
        check(status == SVMX_OK, "a sum is taken");
        const bool taken_back = way == 2 && svmx_cancel(batch) == SVMX_OK;
        status = svmx_wait(batch, UINT64_MAX);
        check(status == (taken_back ? SVMX_CANCELLED : SVMX_OK), "how a sum ends");
        check(pooled_is_right(out, a, taken_back), "an answer of a shared pool");
    }
    svmx_batch_destroy(batch);
    free(out);
    return NULL;
}

static void shared_pool(struct svmx_options options) {
    fake_start();
    svmx_executor_t *executor = open_or_die(options);
    act(THREADS, use_simd, executor);
    struct svmx_stats stats = {.size = sizeof stats};
    check(svmx_stats_get(executor, &stats) == SVMX_OK && stats.fallbacks == 0 &&
              stats.batches + stats.cancelled == THREADS * POOLED_ROUNDS,
          "every sum is counted once: done, or taken back");
    svmx_close(executor);
}

int main(void) {
    struct svmx_options inline_device = fake_options(), together = fake_options(), simd = simd_options();
    inline_device.backends = "none";
    together.gather_us = 0;
    gathering(together, FAKE_WAIT, SVMX_OK);
    gathering(together, FAKE_WAIT, SVMX_ERR_BACKEND);
    gathering(together, FAKE_SUBMIT, SVMX_ERR_DEVICE_LOST);
    together.gather_us = 200;
    together.window = 1;
    gathering(together, FAKE_ALLOC, SVMX_ERR_MEMORY);
    eight_threads(fake_options());
    eight_threads(inline_device);
    two_executors();
    registering(fake_options());
    registering(inline_device);
    data_that_stays(fake_options(), FAKE_WAIT, 0);
    data_that_stays(fake_options(), FAKE_WAIT, 20);
    data_that_stays(fake_options(), FAKE_ALLOC, 20);
    data_that_stays(inline_device, FAKE_WAIT, 0);
    failing_device();
    recovering_device(0);
    recovering_device(SVMX_DEVICE_INLINE | SVMX_DEVICE_HOST_MEMORY);
    const bool has_pool = simd_is_built();
    if (has_pool) {
        eight_threads(simd);
        shared_pool(simd);
    }
    hanging_device();
    return threads_end(has_pool ? 0 : 2);
}
