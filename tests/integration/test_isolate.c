/*
 * test_isolate.c: backends in processes of their own: the same bytes, and a process that dies, hangs or is killed at any call
 * costs a device and nothing else.
 *
 * With the check plugin, which looks at every rule of the ABI, and with PoCL where it is installed. Every test has a process
 * of its own, so that whoever is left of its children can be seen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "abandons.h"
#include "isolate_fixture.h"
#include "mix_op.h"

#include <signal.h>
#include <sys/prctl.h>

#define POCL_ICD "/etc/OpenCL/vendors/pocl.icd"

/* The process that a backend runs in. */
static pid_t process_of(svmx_executor_t *executor, const char *name) {
    const struct svmx_load_entry entry = entry_of(executor, name);
    long pid = 0;
    cr_assert_eq(sscanf(entry.reason, "ready, in process %ld", &pid), 1, "%s", entry.reason);
    cr_assert_eq(kill((pid_t)pid, 0), 0, "there is no process %ld", pid);
    return (pid_t)pid;
}

static void run_isolated(const char *script, unsigned failures) {
    run_script_in("check", script, failures);
    expect_no_children();
}

/* ---- the rules of the ABI hold on the other side --------------------------------------------------------------- */

Test(isolate, the_check_plugin_has_nothing_to_complain_of) { run_isolated("plain", 0); }
Test(isolate, several_devices) { run_isolated("two", 0); }
Test(isolate, slow_is_no_failure) { run_isolated("submit@3=slow;wait@5=slow", 0); }

Test(isolate, failures_are_what_they_are_at_home) {
    static const char *const scripts[] = {
        "submit@3=backend", "wait@3=system",       "dispatch@3=backend", "pipeline_build@2=system",
        "submit@4=lost",    "memory_alloc@7=lost", "dispatch@9=bitflip", "submit@4=lost,check:plain"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) run_isolated(scripts[i], PERHAPS);
}

/* ---- it dies ---------------------------------------------------------------------------------------------------- */

Test(isolate, a_process_that_dies_at_any_call_costs_no_answer) {
    static const char *const calls[] = {"memory_alloc@3", "pipeline_build@2", "submit@4", "wait@4", "dispatch@5"};
    static const char *const ends[] = {"abort", "kill"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
            char script[64];
            (void)snprintf(script, sizeof script, "%s=%s", calls[i], ends[k]);
            run_isolated(script, 1);
        }
}

/* Nobody waits for what it compiles: another device computes meanwhile. */
Test(isolate, a_compiler_that_dies_costs_the_device) {
    struct svmx_options options = options_of("+check:pipeline_build@1=abort,+simd,stop", "check");
    if (!has_plugin("simd.so")) cr_skip_test("this build has no simd.so");
    svmx_executor_t *executor = open_with(&options);
    (void)svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, TRIAL_ITEMS);
    const struct svmx_device device = device_at(executor, 0);
    cr_assert_eq(device.health, SVMX_LOST, "%s", device.health_reason);
    cr_assert_not_null(strstr(device.health_reason, "signal 6"), "%s", device.health_reason);
    const struct svmx_receipt receipt = run_trial(executor);
    cr_assert(receipt.device == 1 && receipt.redone == 0);
    svmx_close(executor);
    expect_no_children();
}

Test(isolate, a_process_that_does_not_answer_is_killed) {
    run_isolated("submit@4=stuck", 1);
    run_isolated("wait@4=stuck", 1);
}

/* A backend that does not get as far as its devices is refused, with what became of its process. */
static void expect_refused(const char *script, const char *reason) {
    char backends[128];
    (void)snprintf(backends, sizeof backends, "check:%s,stop", script);
    struct svmx_options options = options_of(backends, "check");
    options.timeout_ms = TIMEOUT_MS;
    svmx_executor_t *executor = open_with(&options);
    const struct svmx_load_entry entry = entry_of(executor, "check");
    cr_assert_eq(entry.verdict, SVMX_REFUSED, "%s", script);
    cr_assert_not_null(strstr(entry.reason, reason), "%s: %s", script, entry.reason);
    const struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.redone, 0);
    svmx_close(executor);
    expect_no_children();
}

Test(isolate, a_process_that_dies_while_it_opens_costs_the_backend) {
    expect_refused("open@1=abort", "signal 6");
    expect_refused("device_info@1=kill", "signal 9");
    expect_refused("device_info@1=stuck", "did not answer in time");
}

Test(isolate, a_backend_that_must_load_says_why_it_did_not) {
    struct svmx_options options = options_of("+check:open@1=abort,stop", "check");
    svmx_executor_t *executor = NULL;
    struct svmx_error error = {SVMX_OK, ""};
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_ERR_BACKEND);
    cr_assert_not_null(strstr(error.text, "signal 6"), "%s", error.text);
    expect_no_children();
}

/* ---- it is killed, and comes back ------------------------------------------------------------------------------- */

enum { BATCHES = 200, KILL_AT = 60 };

/* The device computes: what it needs is built. */
static void expect_served(svmx_executor_t *executor) {
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, TRIAL_ITEMS), SVMX_OK);
    cr_assert_eq(run_trial(executor).device, 0, "%s", run_trial(executor).reason);
}

/* Many batches, all of them right, with a kill among them. */
static void run_batches_and_kill(svmx_executor_t *executor, pid_t process) {
    static struct trial trials[BATCHES];
    svmx_batch_t *batches[BATCHES];
    for (unsigned i = 0; i < BATCHES; i++) {
        trial_fill(&trials[i], i);
        cr_assert_eq(svmx_batch_create(executor, &batches[i]), SVMX_OK);
        cr_assert_eq(trial_add(&trials[i], batches[i]), SVMX_OK);
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
        if (i == KILL_AT) cr_assert_eq(kill(process, SIGKILL), 0);
    }
    for (unsigned i = 0; i < BATCHES; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK, "%s", svmx_batch_error(batches[i]));
        cr_assert(trial_is_right(&trials[i]), "batch %u has a wrong answer", i);
        svmx_batch_destroy(batches[i]);
    }
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_gt(stats.fallbacks, 0, "the kill came after all was done");
}

/* A new instance is a new process. The first work after its rest has it rebuilt. */
static void expect_return(svmx_executor_t *executor) {
    const struct timespec pause = {0, 20000000};
    cr_assert_eq(svmx_device_reset(executor, 0), SVMX_OK);
    struct svmx_receipt receipt = run_trial(executor);
    for (int i = 0; i < 500 && receipt.device != 0; i++) {
        nanosleep(&pause, NULL);
        receipt = run_trial(executor);
    }
    cr_assert_eq(receipt.device, 0, "it did not come back");
}

Test(isolate, kill_among_batches_and_a_new_process) {
    struct svmx_options options = options_of("+check:plain,stop", "check");
    svmx_executor_t *executor = open_with(&options);
    const pid_t process = process_of(executor, "check");
    expect_served(executor);
    run_batches_and_kill(executor, process);
    expect_return(executor);
    svmx_close(executor);
    expect_no_children();
}

/* Lives end with the executor, processes with their life. */
Test(isolate, a_device_that_comes_back_leaves_no_process_behind) {
    const struct timespec pause = {0, 20000000};
    struct svmx_options options = options_of("+check:plain,stop", "check");
    svmx_executor_t *executor = open_with(&options);
    const pid_t process = process_of(executor, "check");
    expect_served(executor);
    cr_assert_eq(svmx_device_reset(executor, 0), SVMX_OK);
    for (int i = 0; i < 500 && kill(process, 0) == 0; i++) nanosleep(&pause, NULL);
    cr_assert_eq(kill(process, 0), -1, "the process of its first life runs on");
    expect_served(executor);
    svmx_close(executor);
    expect_no_children();
}

/* The process ends with the launch, and what it had is used again. */
Test(isolate, a_launch_that_never_ends_costs_its_process) { run_isolated("wait@4=hang", 1); }

Test(isolate, a_process_of_several_devices_goes_on_without_the_one_that_hangs) {
    abandons = true;
    struct svmx_options options = options_of("+check:submit@all=hang,check:plain,stop", "check");
    options.timeout_ms = TIMEOUT_MS;
    svmx_executor_t *executor = open_with(&options);
    (void)svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, TRIAL_ITEMS);
    cr_assert_eq(run_trial(executor).device, 1, "%s", run_trial(executor).reason);
    svmx_close(executor);
    expect_no_children();
}

Test(isolate, the_process_ends_with_the_program) {
    int ends[2];
    long process = 0;
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    const pid_t program = fork();
    if (program == 0) {
        struct svmx_options options = options_of("+check:plain,stop", "check");
        svmx_executor_t *executor = open_with(&options);
        process = (long)process_of(executor, "check");
        if (write(ends[1], &process, sizeof process) != (ssize_t)sizeof process) _exit(1);
        _exit(0); /* no svmx_close: as if it had crashed */
    }
    cr_assert_eq(read(ends[0], &process, sizeof process), (ssize_t)sizeof process);
    cr_assert_eq(waitpid(program, NULL, 0), program);
    cr_assert_eq(waitpid((pid_t)process, NULL, 0), (pid_t)process); /* ours now; it would hang if it did not end */
}

/* ---- what cannot be isolated ------------------------------------------------------------------------------------ */

static void expect_no_executor(const struct svmx_options *options, enum svmx_status status, const char *words) {
    svmx_executor_t *executor = NULL;
    struct svmx_error error = {SVMX_OK, ""};
    cr_assert_eq(svmx_open(&executor, options, &error), status, "%s", error.text);
    cr_assert_not_null(strstr(error.text, words), "%s", error.text);
    expect_no_children();
}

Test(isolate, what_cannot_be_isolated_is_an_error) {
    struct svmx_options options = options_of("check:plain,stop", "chck");
    expect_no_executor(&options, SVMX_ERR_UNKNOWN, "options.isolate: item 1: no backend 'chck'");
    options.isolate = "check,reference";
    expect_no_executor(&options, SVMX_ERR_ARGUMENT, "part of this program");
    options.backends = "simd,stop";
    options.isolate = "simd";
    if (has_plugin("simd.so")) expect_no_executor(&options, SVMX_ERR_ARGUMENT, "the caller's memory");
}

/* ---- the program svmx-host -------------------------------------------------------------------------------------- */

Test(isolate, the_program_must_be_there_and_safe) {
    struct svmx_options options = options_of("+check:plain,stop", "check");
    make_folder();
    options.backend_path = folder;
    place("SVMX_TEST_DRIVER_PATH", "check.so", "755");
    if (access(SVMX_BACKEND_DIR "/svmx-host", F_OK) != 0)
        expect_no_executor(&options, SVMX_ERR_BACKEND, "no program svmx-host");
    place("SVMX_TEST_BACKEND_PATH", "svmx-host", "775");
    expect_no_executor(&options, SVMX_ERR_BACKEND, "others may write the file");
    place("SVMX_TEST_BACKEND_PATH", "svmx-host", "755");
    svmx_executor_t *executor = open_with(&options);
    expect_served(executor);
    svmx_close(executor);
    remove_folder();
}

/* ---- PoCL ------------------------------------------------------------------------------------------------------- */

static struct svmx_options pocl_options(void) {
    struct svmx_options options = options_of("+opencl,stop", "opencl");
    if (access(POCL_ICD, R_OK) != 0) cr_skip_test("there is no " POCL_ICD " (package pocl-opencl-icd)");
    if (!has_plugin("opencl.so")) cr_skip_test("this build has no opencl.so");
    setenv("OCL_ICD_VENDORS", POCL_ICD, 1);
    options.policy = "gpu"; /* no CPU in its place: an answer is the device's */
    return options;
}

static uint32_t op_index(svmx_executor_t *executor, const char *name) {
    struct svmx_op op = {.size = sizeof op};
    for (uint32_t i = 0; svmx_op_get(executor, i, &op) == SVMX_OK; i++)
        if (strcmp(op.name, name) == 0) return i;
    cr_assert_fail("no operation %s", name);
    return 0;
}

Test(isolate, pocl_gives_the_same_bytes) {
    static const char *const names[] = {"vec_add_f32", "sum_f32", "sha256", "merkle_root_sha256", "grid_transpose_u8"};
    static const uint64_t sizes[] = {1, 37, 5000, 70000};
    struct svmx_options options = pocl_options(), plain = plain_options();
    svmx_executor_t *executor = open_with(&options), *reference = open_with(&plain);
    (void)process_of(executor, "opencl");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const uint32_t op = op_index(executor, names[i]);
        for (uint32_t k = 0; k < 4; k++) {
            uint64_t expected_bytes = 0, bytes = 0;
            struct svmx_receipt receipt = {.size = sizeof receipt};
            const uint64_t size = strncmp(names[i], "grid", 4) == 0 ? k + 1 : sizes[k];
            unsigned char *expected = example_run(reference, op, size, k, &expected_bytes, NULL);
            unsigned char *outputs = example_run(executor, op, size, k, &bytes, &receipt);
            cr_assert(expected && outputs, "%s fails", names[i]);
            cr_assert_eq(receipt.device, 0);
            cr_assert(bytes == expected_bytes && memcmp(outputs, expected, bytes) == 0, "%s, size %u", names[i],
                      (unsigned)size);
            free(expected);
            free(outputs);
        }
    }
    svmx_close(executor);
    svmx_close(reference);
    expect_no_children();
}

Test(isolate, pocl_is_killed_among_batches) {
    struct svmx_options options = pocl_options();
    options.policy = "order";
    svmx_executor_t *executor = open_with(&options);
    const pid_t process = process_of(executor, "opencl");
    expect_served(executor);
    run_batches_and_kill(executor, process);
    expect_return(executor);
    svmx_close(executor);
    expect_no_children();
}

/* ---- levels in one submission, and data that stays ------------------------------------------------------------------ */

enum { N = 300, ROUNDS = 5 };

/* state = relu(state + step) * step, round after round, each a batch of three levels; the state goes from one buffer that stays to
 * another and back. In the midst of it a process may be killed. */
static void run_rounds(svmx_executor_t *executor, pid_t victim) {
    float step[N], expected[N], state[N];
    svmx_buffer_t *buffers[2];
    svmx_batch_t *batch;
    for (int i = 0; i < N; i++) {
        step[i] = (float)(i % 9 - 4) / 2;
        state[i] = expected[i] = (float)(i % 5);
    }
    for (int i = 0; i < 2; i++) cr_assert_eq(svmx_buffer_create(executor, sizeof state, &buffers[i]), SVMX_OK);
    cr_assert_eq(svmx_buffer_write(buffers[0], 0, state, sizeof state), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (int round = 0; round < ROUNDS; round++) {
        const struct svmx_arg sum[] = {svmx_out_passing(SVMX_F32, N), svmx_view(SVMX_F32, buffers[round % 2], 0, N),
                                       svmx_in(SVMX_F32, step, N)};
        const struct svmx_arg relu[] = {svmx_out_passing(SVMX_F32, N), svmx_result_of(SVMX_F32, 0, 0)};
        const struct svmx_arg product[] = {svmx_view(SVMX_F32, buffers[1 - round % 2], 0, N),
                                           svmx_result_of(SVMX_F32, 1, 0), svmx_in(SVMX_F32, step, N)};
        cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
        cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, sum, 3), SVMX_OK, "%s", svmx_batch_error(batch));
        cr_assert_eq(svmx_batch_add(batch, SVMX_OP_RELU_F32, relu, 2), SVMX_OK, "%s", svmx_batch_error(batch));
        cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_MUL_F32, product, 3), SVMX_OK, "%s", svmx_batch_error(batch));
        if (victim && round == ROUNDS / 2) cr_assert_eq(kill(victim, SIGKILL), 0);
        cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
        for (int i = 0; i < N; i++) {
            const float added = expected[i] + step[i];
            expected[i] = (added > 0 ? added : 0) * step[i];
        }
    }
    cr_assert_eq(svmx_buffer_read(buffers[ROUNDS % 2], 0, state, sizeof state), SVMX_OK);
    for (int i = 0; i < N; i++) cr_assert_eq(state[i], expected[i], "element %d", i);
    svmx_batch_destroy(batch);
    for (int i = 0; i < 2; i++) svmx_buffer_destroy(buffers[i]);
}

static void prewarm_rounds(svmx_executor_t *executor) {
    static const uint32_t ops[] = {SVMX_OP_VEC_ADD_F32, SVMX_OP_RELU_F32, SVMX_OP_VEC_MUL_F32};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) (void)svmx_prewarm(executor, ops[i], N);
}

static void expect_rounds(const struct svmx_options *options, const char *backend, bool killed) {
    svmx_executor_t *executor = open_with(options);
    struct svmx_stats stats = {.size = sizeof stats};
    prewarm_rounds(executor);
    run_rounds(executor, killed ? process_of(executor, backend) : 0);
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert(killed ? stats.fallbacks > 0 : stats.fallbacks == 0, "%u fallbacks", (unsigned)stats.fallbacks);
    cr_assert_gt(device_at(executor, 0).launches, 0, "the device computed nothing");
    svmx_close(executor);
    expect_no_children();
}

Test(isolate, levels_and_buffers) {
    const struct svmx_options options = options_of("+check:plain,stop", "check");
    expect_rounds(&options, "check", false);
    expect_rounds(&options, "check", true);
}

Test(isolate, levels_and_buffers_on_pocl) {
    struct svmx_options options = pocl_options();
    expect_rounds(&options, "opencl", false);
    options.policy = "order";
    expect_rounds(&options, "opencl", true);
}

/* ---- a driver that ends its process --------------------------------------------------------------------------------- */

/* Some of the work-items of a group wait for all of them: PoCL ends the process. */
#define BARRIER_CODE                                                                                                   \
    "SVMX_KERNEL(divergent, 16) {\n"                                                                                   \
    "    __local uint sum[16];\n"                                                                                      \
    "    const uint me = (uint)get_local_id(0);\n"                                                                     \
    "    sum[me] = me;\n"                                                                                              \
    "    for (uint i = 0; i < me; i++) barrier(CLK_LOCAL_MEM_FENCE);\n"                                                \
    "    if (me & 1) barrier(CLK_LOCAL_MEM_FENCE);\n"                                                                  \
    "    ((__global uint *)out)[0] = sum[15 - me];\n"                                                                  \
    "}\n"

enum { ITEMS = 1000 };

/* One task by whoever computes; its answer is right. */
static void run_mix(svmx_executor_t *executor, uint32_t op) {
    static uint32_t out[ITEMS], a[ITEMS], b[ITEMS];
    svmx_batch_t *batch;
    for (uint32_t i = 0; i < ITEMS; i++) {
        a[i] = i * 2654435761u;
        b[i] = i * 40503u;
        out[i] = 0;
    }
    const struct svmx_arg args[] = {svmx_out(SVMX_U32, out, ITEMS), svmx_in(SVMX_U32, a, ITEMS),
                                    svmx_in(SVMX_U32, b, ITEMS), svmx_u32(3)};
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, op, args, MIX_PARAMS), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    for (uint32_t i = 0; i < ITEMS; i++) cr_assert_eq(out[i], mix_one(a[i], b[i], 3), "element %u", i);
    svmx_batch_destroy(batch);
}

Test(isolate, a_divergent_barrier_costs_the_device_and_not_the_program) {
    struct svmx_options options = pocl_options();
    const char *sanitizer = getenv("SVMX_TEST_SANITIZER");
    if (sanitizer && *sanitizer) cr_skip_test("a sanitizer reports the crash that is wanted here");
    options.policy = "order";
    svmx_executor_t *executor = open_with(&options);
    const struct svmx_op_def def = mix_def("divergent", BARRIER_CODE);
    struct svmx_error error = {SVMX_OK, ""};
    uint32_t op = 0;
    cr_assert_eq(svmx_op_register(executor, &def, &op, &error), SVMX_OK, "%s", error.text);
    (void)svmx_prewarm(executor, op, ITEMS);
    run_mix(executor, op);
    const struct svmx_device device = device_at(executor, 0);
    cr_assert_eq(device.health, SVMX_LOST, "%s", device.health_reason);
    cr_assert_not_null(strstr(device.health_reason, "is gone: signal"), "%s", device.health_reason);
    svmx_close(executor);
    expect_no_children();
}
