/*
 * test_stuck.c: calls of a driver that never return: each blocks its own thread and nothing else. Waiting ends, closing ends,
 * the answer is right, and a call that comes back after all finds nothing that it could harm.
 *
 * What is asked of memory is in test_stuck_memory.c, what comes of it without another thread in test_stuck_threads.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stuck_fixture.h"

#include <poll.h>
#include <sys/eventfd.h>

/* ---- while batches are waited for -------------------------------------------------------------------------------- */

static void run_with(unsigned stuck) {
    struct trial trial;
    fake_start();
    svmx_executor_t *executor = open_impatient();
    if (stuck != FAKE_STUCK_ALLOC) (void)run_trial(executor);
    svmx_batch_t *batch = batch_of(executor, &trial);
    fake_stick(stuck);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_gt(fake_count(&fake.stuck_calls), 0);
    if (stuck != FAKE_STUCK_ALLOC) expect_redone(batch, &trial);
    cr_assert(trial_is_right(&trial));
    cr_assert_eq(device_at(executor, 0).usable, 0);
    svmx_batch_destroy(batch);
    trial_fill(&trial, 99); /* the memory is the caller's again */
    cr_assert_eq(run_trial(executor).device, 1);
    svmx_close(executor);
    cr_assert_eq(fake_count(&fake.closes), 0, "an instance in a call was closed");
    come_back_late();
    cr_assert(trial_is_untouched(&trial), "a late driver wrote into the caller's memory");
}

Test(stuck, submit) { run_with(FAKE_STUCK_SUBMIT); }
Test(stuck, wait_that_forgets_its_timeout) { run_with(FAKE_STUCK_WAIT); }
Test(stuck, memory_alloc_in_the_self_test) { run_with(FAKE_STUCK_ALLOC); }

/* ---- more than one batch ------------------------------------------------------------------------------------------ */

Test(stuck, batches_behind_it_are_right_too) {
    enum { BATCHES = 12 };
    static struct trial trials[BATCHES];
    svmx_batch_t *batches[BATCHES];
    fake_start();
    svmx_executor_t *executor = open_impatient();
    (void)run_trial(executor);
    fake_stick(FAKE_STUCK_SUBMIT);
    for (int i = 0; i < BATCHES; i++) {
        batches[i] = batch_of(executor, &trials[i]);
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    }
    for (int i = 0; i < BATCHES; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        cr_assert(trial_is_right(&trials[i]));
        svmx_batch_destroy(batches[i]);
    }
    cr_assert_eq(fake_count(&fake.stuck_calls), 1, "a device that was given up got work");
    svmx_close(executor);
    come_back_late();
}

/* Launches that the device has are redone too, each once. */
Test(stuck, the_window_behind_it_is_redone) {
    enum { BATCHES = 6 };
    static struct trial trials[BATCHES];
    svmx_batch_t *batches[BATCHES];
    fake_start();
    svmx_executor_t *executor = open_impatient();
    (void)run_trial(executor);
    fake_stick(FAKE_STUCK_WAIT);
    for (int i = 0; i < BATCHES; i++) {
        batches[i] = batch_of(executor, &trials[i]);
        cr_assert_eq(svmx_submit(batches[i], SVMX_SUBMIT_IN_ORDER), SVMX_OK);
    }
    for (int i = 0; i < BATCHES; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        cr_assert(trial_is_right(&trials[i]));
        trial_fill(&trials[i], 99); /* the memory is the caller's again */
    }
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_eq(stats.batches, 1 + BATCHES);
    for (int i = 0; i < BATCHES; i++) svmx_batch_destroy(batches[i]);
    svmx_close(executor);
    come_back_late();
    for (int i = 0; i < BATCHES; i++) cr_assert(trial_is_untouched(&trials[i]), "a late driver wrote there");
}

Test(stuck, under_the_policy_gpu_it_is_an_error) {
    struct trial trial;
    fake_start();
    svmx_executor_t *executor = open_impatient();
    (void)run_trial(executor);
    svmx_batch_t *batch = batch_of(executor, &trial);
    cr_assert_eq(svmx_batch_set_policy(batch, SVMX_POLICY_GPU), SVMX_OK);
    fake_stick(FAKE_STUCK_SUBMIT);
    cr_assert_eq(svmx_run(batch), SVMX_TIMEOUT);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "did not return"), "'%s'", svmx_batch_error(batch));
    svmx_batch_destroy(batch);
    svmx_close(executor);
    come_back_late();
}

Test(stuck, levels_in_one_submission_fall_apart) {
    enum { N = 5000 };
    static float a[N], out[N];
    svmx_batch_t *batch;
    fake_start();
    svmx_executor_t *executor = open_impatient();
    for (int i = 0; i < N; i++) a[i] = (float)i;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    const struct svmx_arg first[] = {svmx_out_library(SVMX_F32, N), svmx_in(SVMX_F32, a, N), svmx_in(SVMX_F32, a, N)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, first, 3), SVMX_OK);
    const struct svmx_arg second[] = {svmx_out(SVMX_F32, out, N), svmx_result_of(SVMX_F32, 0, 0),
                                      svmx_in(SVMX_F32, a, N)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_MUL_F32, second, 3), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    const unsigned submits = fake_count(&fake.calls[FAKE_SUBMIT]);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(fake_count(&fake.calls[FAKE_SUBMIT]) - submits, 1, "two levels are not one submission");
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    memset(out, 0, sizeof out);
    fake_stick(FAKE_STUCK_SUBMIT);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    for (int i = 0; i < N; i++) cr_assert_float_eq(out[i], 2.0f * a[i] * a[i], 0);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    come_back_late();
}

Test(stuck, the_device_comes_back_in_a_new_instance) {
    fake_start();
    svmx_executor_t *executor = open_impatient();
    stop_clock(executor);
    (void)run_trial(executor);
    fake_stick(FAKE_STUCK_SUBMIT);
    cr_assert_eq(run_trial(executor).redone, 1);
    cr_assert_eq(device_at(executor, 0).health, SVMX_LOST);
    fake_stick(0);
    pass_time(executor, SVMX__REST_NS);
    (void)run_trial(executor);
    await_health(executor, SVMX_SUSPECT);
    for (int i = 0; i < SVMX__COMPARED; i++) cr_assert_eq(run_trial(executor).device, 0);
    svmx_close(executor);
    cr_assert_eq(fake.opens, 2);
    cr_assert_eq(fake.closes, 1, "the one with the call is never closed");
}

/* The submitter is kept while it collects what the device still has, before it comes to rebuild it. */
Test(stuck, a_rebuild_that_could_not_begin_is_begun_again) {
    fake_start();
    svmx_executor_t *executor = open_impatient();
    stop_clock(executor);
    (void)run_trial(executor);
    struct trial trial;
    svmx_batch_t *batch = batch_of(executor, &trial);
    fake_stick(FAKE_STUCK_SUBMIT);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    fake_await(&fake.stuck_calls, 1);
    cr_assert_eq(svmx_device_reset(executor, 0), SVMX_OK); /* behind the launch, in the queue */
    fake_stick(FAKE_STUCK_WAIT);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
    expect_redone(batch, &trial);
    svmx_batch_destroy(batch);
    cr_assert_eq(device_at(executor, 0).usable, 0);
    fake_stick(0);
    await_rest(executor);
    pass_time(executor, SVMX__REST_MAX_NS);
    (void)run_trial(executor);
    await_rebuilt(executor, 1);
    await_health(executor, SVMX_SUSPECT);
    svmx_close(executor);
    cr_assert_eq(fake.opens, 2);
}

Test(stuck, a_plugin_that_does_not_open_again_rests_on) {
    fake_start();
    svmx_executor_t *executor = open_impatient();
    stop_clock(executor);
    (void)run_trial(executor);
    fake_stick(FAKE_STUCK_OPEN);
    cr_assert_eq(svmx_device_reset(executor, 0), SVMX_OK);
    fake_await(&fake.stuck_calls, 1);
    struct trial trial;
    svmx_batch_t *batch = batch_of(executor, &trial);
    cr_assert_eq(svmx_run(batch), SVMX_OK); /* it is behind the open in the queue */
    cr_assert(trial_is_right(&trial));
    svmx_batch_destroy(batch);
    await_rest(executor); /* whoever waits for a batch may take it back before the device is given up */
    cr_assert_eq(device_at(executor, 0).usable, 0);
    svmx_close(executor);
    come_back_late();
}

/* Nobody is woken for what cannot happen. */
Test(stuck, there_is_a_watch_only_where_there_are_drivers) {
    fake_start();
    struct svmx_options options = plain_options();
    svmx_executor_t *plain = open_with(&options), *fake_too = open_impatient();
    cr_assert(!plain->watch.has_thread);
    cr_assert(fake_too->watch.has_thread);
    svmx_close(plain);
    svmx_close(fake_too);
}

/* ---- a device that any thread calls, with a driver of its own ----------------------------------------------------------- */

static enum svmx_status anybody_device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    const enum svmx_status status = fake_device_info(self, index, info);
    strcpy(info->name, "anybody");
    info->flags |= SVMX_DEVICE_INLINE;
    return status;
}

static enum svmx_status anybody_open(const struct svmx_host *host, struct svmx_backend *backend) {
    static struct svmx_backend_ops ops;
    const enum svmx_status status = fake_open(host, backend);
    ops = fake_ops;
    ops.device_info = anybody_device_info;
    backend->ops = &ops;
    return status;
}

/* By itself: svmx_run does not call it in the thread of the program. */
static void run_inline_with(unsigned stuck) {
    struct trial trial;
    fake_start();
    fake.flags = SVMX_DEVICE_INLINE;
    svmx_executor_t *executor = open_impatient();
    cr_assert_eq(run_trial(executor).device, 0);
    svmx_batch_t *batch = batch_of(executor, &trial);
    fake_stick(stuck);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(fake_count(&fake.stuck_calls), 1);
    expect_redone(batch, &trial);
    cr_assert_eq(device_at(executor, 0).usable, 0);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    come_back_late();
}

Test(stuck, an_inline_device_with_memory_of_its_own, .timeout = 60) { run_inline_with(FAKE_STUCK_SUBMIT); }

/* It is what a launch is redone on: the submitter of the first device never comes back from the second. */
Test(stuck, an_inline_device_that_a_launch_is_redone_on) {
    static const struct svmx_plugin anybody_plugin = {.magic = SVMX_PLUGIN_MAGIC,
                                                      .size = sizeof(struct svmx_plugin),
                                                      .abi_major = SVMX_ABI_MAJOR,
                                                      .abi_minor = SVMX_ABI_MINOR,
                                                      .name = "anybody",
                                                      .version = "1",
                                                      .licence = "Apache-2.0",
                                                      .open = anybody_open};
    static const struct svmx_plugin *const plugins[] = {&fake_plugin, &anybody_plugin};
    struct trial trial;
    fake_start();
    struct svmx_options options = impatient_options();
    options.backends = "fake,anybody,stop";
    options.static_plugins = plugins;
    options.static_plugin_count = 2;
    options.timeout_ms = 60000;
    svmx_executor_t *executor = open_with(&options);
    while (run_trial(executor).device != 0) usleep(1000); /* until it has its pipeline */
    svmx_batch_t *batch = batch_of(executor, &trial);
    fake_gate(true);
    const unsigned before = fake_count(&fake.calls[FAKE_SUBMIT]);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    fake_await(&fake.calls[FAKE_SUBMIT], before + 1);
    fake_stick(FAKE_STUCK_SUBMIT | FAKE_STUCK_ALLOC);
    fake_fail(FAKE_WAIT, 1, SVMX_ERR_BACKEND);
    fake_await(&fake.stuck_calls, 1);
    fake_gate(false);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
    cr_assert(trial_is_right(&trial));
    svmx_batch_destroy(batch);
    cr_assert_gt(fake_count(&fake.stuck_calls), 0);
    cr_assert_eq(device_at(executor, 0).pending, 0);
    cr_assert_eq(device_at(executor, 1).pending, 0);
    cr_assert_eq(device_at(executor, 1).usable, 0, "the one that kept the thread is not given up");
    cr_assert_eq(device_at(executor, 0).usable, 1, "%s", device_at(executor, 0).health_reason);
    fake_stick(0);
    cr_assert_eq(run_trial(executor).device, 0);
    svmx_close(executor);
}

/* ---- while nobody waits for a batch ------------------------------------------------------------------------------ */

/* A batch whose launch is kept, submitted: nobody is inside a call of the library from here on. */
static svmx_batch_t *submit_stuck(svmx_executor_t *executor, struct trial *trial) {
    (void)run_trial(executor);
    svmx_batch_t *batch = batch_of(executor, trial);
    fake_stick(FAKE_STUCK_SUBMIT);
    return batch;
}

static void end_stuck(svmx_executor_t *executor, svmx_batch_t *batch, const struct trial *trial) {
    while (svmx_poll(batch) == SVMX_BUSY) usleep(1000); /* its place in the queue is free a moment before it is done */
    cr_assert_eq(svmx_poll(batch), SVMX_OK);
    expect_redone(batch, trial);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    come_back_late();
}

Test(stuck, an_eventfd_is_enough) {
    struct trial trial;
    fake_start();
    svmx_executor_t *executor = open_impatient();
    svmx_batch_t *batch = submit_stuck(executor, &trial);
    struct pollfd file = {.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN};
    cr_assert_eq(svmx_batch_set_eventfd(batch, file.fd), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    cr_assert_eq(poll(&file, 1, -1), 1);
    end_stuck(executor, batch, &trial);
    (void)close(file.fd);
}

struct told {
    pthread_t by;
    atomic_int status;
};

static void tell(svmx_batch_t *batch, enum svmx_status status, void *user) {
    struct told *told = user;
    (void)batch;
    told->by = pthread_self();
    atomic_store(&told->status, (int)status);
}

Test(stuck, a_callback_is_enough) {
    struct trial trial;
    struct told told = {.status = -1};
    fake_start();
    svmx_executor_t *executor = open_impatient();
    svmx_batch_t *batch = submit_stuck(executor, &trial);
    cr_assert_eq(svmx_batch_on_done(batch, tell, &told), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    while (atomic_load(&told.status) == -1) usleep(1000);
    cr_assert_eq(told.status, SVMX_OK);
    while (svmx_poll(batch) == SVMX_BUSY) usleep(1000);
    end_stuck(executor, batch, &trial);
}

/* Waits that end before it is over: the thread that waits has no part in what is redone, so it can keep to its time. */
Test(stuck, a_wait_with_a_timeout_redoes_nothing_itself) {
    struct trial trial;
    struct told told = {.status = -1};
    unsigned waits = 0;
    enum svmx_status status;
    fake_start();
    svmx_executor_t *executor = open_impatient();
    svmx_batch_t *batch = submit_stuck(executor, &trial);
    cr_assert_eq(svmx_batch_on_done(batch, tell, &told), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    while ((status = svmx_wait(batch, 1000000)) == SVMX_TIMEOUT) waits++;
    cr_assert_eq(status, SVMX_OK);
    cr_assert_gt(waits, 0);
    cr_assert(!pthread_equal(told.by, pthread_self()), "who waits redid the work of others");
    end_stuck(executor, batch, &trial);
}

Test(stuck, a_full_queue_has_room_again) {
    struct trial trial, second;
    fake_start();
    struct svmx_options options = impatient_options();
    options.queue_depth = 1;
    svmx_executor_t *executor = open_with(&options);
    svmx_batch_t *batch = submit_stuck(executor, &trial), *behind = batch_of(executor, &second);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    cr_assert_eq(svmx_submit(behind, SVMX_SUBMIT_NONBLOCK), SVMX_BUSY);
    cr_assert_eq(svmx_submit(behind, 0), SVMX_OK);
    cr_assert_eq(svmx_wait(behind, UINT64_MAX), SVMX_OK);
    cr_assert(trial_is_right(&second));
    svmx_batch_destroy(behind);
    end_stuck(executor, batch, &trial);
}

static void prewarm_with(unsigned stuck) {
    uint32_t op;
    fake_start();
    svmx_executor_t *executor = open_impatient();
    fake_stick(stuck);
    cr_assert_eq(svmx_op_find(executor, "vec_add_f32", &op, NULL), SVMX_OK);
    cr_assert_eq(svmx_prewarm(executor, op, 1000), SVMX_OK);
    cr_assert_eq(fake_count(&fake.stuck_calls), 1);
    cr_assert_eq(device_at(executor, 0).usable, 0);
    cr_assert_eq(run_trial(executor).device, 1);
    svmx_close(executor);
    come_back_late();
}

Test(stuck, prewarm_and_the_self_test) { prewarm_with(FAKE_STUCK_SUBMIT); }
Test(stuck, prewarm_and_the_compiler) { prewarm_with(FAKE_STUCK_BUILD); }

/* Where the measurement was on the stack. */
static __attribute__((noinline)) unsigned changes_below(void (*meanwhile)(void)) {
    volatile unsigned char stack[32768];
    unsigned changes = 0;
    for (size_t i = 0; i < sizeof stack; i++) stack[i] = 0x5a;
    meanwhile();
    for (size_t i = 0; i < sizeof stack; i++) changes += stack[i] != 0x5a;
    return changes;
}

static void bandwidth_with(unsigned stuck) {
    struct svmx_bandwidth bandwidth = {.size = sizeof bandwidth};
    struct svmx_error error = {0};
    fake_start();
    svmx_executor_t *executor = open_impatient();
    (void)run_trial(executor);
    fake_stick(stuck);
    cr_assert_eq(svmx_bandwidth_measure(executor, 0, 1 << 16, &bandwidth, &error), SVMX_TIMEOUT);
    cr_assert_not_null(strstr(error.text, "did not return"), "'%s'", error.text);
    cr_assert_eq(changes_below(come_back_late), 0, "a late driver wrote to the caller's stack");
    svmx_close(executor);
}

Test(stuck, bandwidth_and_memory) { bandwidth_with(FAKE_STUCK_ALLOC); }
Test(stuck, bandwidth_and_a_copy) { bandwidth_with(FAKE_STUCK_SUBMIT); }

/* ---- a compiler ---------------------------------------------------------------------------------------------------- */

static void build_with(uint32_t policy, enum svmx_status expected) {
    struct trial trial;
    fake_start();
    svmx_executor_t *executor = open_impatient();
    fake_stick(FAKE_STUCK_BUILD);
    svmx_batch_t *batch = batch_of(executor, &trial);
    if (policy) cr_assert_eq(svmx_batch_set_policy(batch, policy), SVMX_OK);
    cr_assert_eq(svmx_run(batch), expected);
    cr_assert_eq(fake_count(&fake.stuck_calls), 1);
    if (expected == SVMX_OK) cr_assert(trial_is_right(&trial));
    svmx_batch_destroy(batch);
    while (device_at(executor, 0).usable) usleep(1000); /* nobody need wait for a build that others do not need */
    trial_fill(&trial, 99);
    svmx_close(executor);
    come_back_late();
    cr_assert(trial_is_untouched(&trial), "a late driver wrote into the caller's memory");
}

Test(stuck, a_build) { build_with(0, SVMX_OK); }
Test(stuck, a_build_under_the_policy_gpu_is_an_error) { build_with(SVMX_POLICY_GPU, SVMX_TIMEOUT); }

/* PoCL compiles when it is asked for the binary, for far longer than any other call may take. */
Test(stuck, a_driver_that_compiles_for_its_binary_is_not_stuck) {
    char folder[] = "/tmp/svmx-test-XXXXXX", command[64];
    struct svmx_options options = impatient_options();
    cr_assert_not_null(mkdtemp(folder));
    options.cache_dir = folder;
    fake_start();
    fake.binary_ms = 2 * STUCK_LIMIT_MS;
    svmx_executor_t *executor = open_with(&options);
    (void)run_trial(executor);
    fake_await(&fake.binaries, 1);
    cr_assert_eq(device_at(executor, 0).usable, 1, "%s", device_at(executor, 0).health_reason);
    svmx_close(executor);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

/* ---- while the executor is closed -------------------------------------------------------------------------------- */

/* Calls of a batch that nobody waits for, and those of closing itself. */
static void close_with(unsigned stuck, bool before_first) {
    struct trial trial;
    fake_start();
    svmx_executor_t *executor = open_impatient();
    if (!before_first) (void)run_trial(executor);
    svmx_batch_t *batch = batch_of(executor, &trial);
    fake_stick(stuck);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    svmx_close(executor);
    cr_assert_eq(fake_count(&fake.stuck_calls), 1);
    cr_assert_eq(svmx_poll(batch), SVMX_OK);
    cr_assert(trial_is_right(&trial));
    svmx_batch_destroy(batch);
    trial_fill(&trial, 99);
    come_back_late();
    cr_assert(trial_is_untouched(&trial), "a late driver wrote into the caller's memory");
}

Test(stuck, close_during_submit) { close_with(FAKE_STUCK_SUBMIT, false); }
Test(stuck, close_during_wait) { close_with(FAKE_STUCK_WAIT, false); }
Test(stuck, close_during_a_build) { close_with(FAKE_STUCK_BUILD, true); }
Test(stuck, close_during_a_self_test) { close_with(FAKE_STUCK_SUBMIT, true); }
Test(stuck, close_and_memory_is_never_freed) { close_with(FAKE_STUCK_FREE, false); }
Test(stuck, close_and_a_pipeline_is_never_freed) { close_with(FAKE_STUCK_DROP, false); }
Test(stuck, close_and_the_instance_never_closes) { close_with(FAKE_STUCK_CLOSE, false); }

/* Counters are written first, and want all batches in them. */
Test(stuck, close_with_a_folder_of_counters) {
    struct trial trial;
    char folder[] = "/tmp/svmx-stuck-XXXXXX", path[sizeof folder + 8];
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/stats", folder);
    fake_start();
    struct svmx_options options = impatient_options();
    options.stats_dir = path;
    svmx_executor_t *executor = open_with(&options);
    svmx_batch_t *batch = submit_stuck(executor, &trial);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    svmx_close(executor);
    cr_assert_eq(svmx_poll(batch), SVMX_OK);
    cr_assert(trial_is_right(&trial));
    svmx_batch_destroy(batch);
    come_back_late();
    char command[2 * sizeof path];
    (void)snprintf(command, sizeof command, "rm -r '%s'", folder);
    cr_assert_eq(system(command), 0);
}

/* A program whose log function is gone once svmx_close is back. */
static bool log_is_gone;
static void fragile(void *user, enum svmx_log_level level, const char *text) {
    (void)user, (void)level;
    cr_assert(!log_is_gone, "after svmx_close: %s", text);
}

Test(stuck, upcalls_of_a_driver_that_does_not_close_reach_nobody) {
    fake_start();
    struct svmx_options options = impatient_options();
    options.log = fragile;
    svmx_executor_t *executor = open_with(&options);
    (void)run_trial(executor);
    fake_stick(FAKE_STUCK_CLOSE);
    svmx_close(executor);
    log_is_gone = true;
    fake.host->log(fake.host, SVMX_LOG_ERROR, "I am late");
    come_back_late();
}

/* A call that takes long, but comes back in time, is none of this. */
Test(stuck, a_call_that_is_slow_is_waited_for) {
    fake_start();
    fake.delay_ms = 2 * STUCK_LIMIT_MS;
    struct svmx_options options = impatient_options();
    options.timeout_ms = 60000;
    svmx_executor_t *executor = open_with(&options);
    struct trial trial;
    svmx_batch_t *batch = batch_of(executor, &trial);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, 0);
    cr_assert_eq(receipt.redone, 0);
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    svmx_close(executor);
    cr_assert_eq(svmx_poll(batch), SVMX_OK);
    svmx_batch_destroy(batch);
    cr_assert_eq(fake.closes, 1);
}
