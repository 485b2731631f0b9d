/*
 * test_registered.c: operations that a program registered: on the reference code, on SIMD with several threads, and on a made-up
 * device that "compiles" their code. Real drivers are in test_registered_drivers.c, chains and loops in test_registered_chains.c.
 *
 * Wrong device code is found by the comparison with `run` and is off on that device only; code that does not compile
 * likewise, with what the compiler said in the log; and no batch fails for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../sanitized.h"
#include "fake.h"
#include "registered_fixture.h"

#include <fenv.h>

/* ---- the reference code and SIMD ----------------------------------------------------------------------------- */

Test(registered, on_the_reference_code) {
    svmx_executor_t *executor = open_logged((struct svmx_options){.backends = "none"});
    struct svmx_op_def def = mix_def("mix_u32", NULL);
    def.known = mix_known;
    def.known_count = 1;
    const uint32_t op = register_mix(executor, &def);
    for (uint32_t seed = 1; seed < 5; seed++) {
        const struct svmx_receipt receipt = run_tasks(executor, op, seed);
        cr_assert(receipt.device == 0 && receipt.redone == 0);
    }
    svmx_close(executor);
}

Test(registered, on_simd) {
    static const uint32_t threads[] = {1, 2, 5};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        svmx_executor_t *executor = open_simd(threads[i]);
        const struct svmx_op_def def = mix_def("mix_u32", NULL);
        const uint32_t op = register_mix(executor, &def);
        for (uint32_t seed = 1; seed < 20; seed++) {
            const struct svmx_receipt receipt = run_tasks(executor, op, seed);
            cr_assert(receipt.device == 0 && receipt.redone == 0, "%u: %s", receipt.device, receipt.reason);
        }
        struct svmx_device device = {.size = sizeof device};
        cr_assert_eq(svmx_device_get(executor, 0, &device), SVMX_OK);
        cr_assert_str_eq(device.backend, "simd");
        cr_assert_eq(device.tasks, 19u * TASKS);
        cr_assert(was_logged("variant host"));
        svmx_close(executor);
    }
}

/* Who computes. A task is so long that it is worth a second thread, and the first waits for company once told to. */
struct company {
    pthread_mutex_t lock;
    pthread_cond_t came;
    pthread_t first;
    bool started, wanted, is_there;
};

static struct company company = {.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};

static void look_for_company(struct company *c) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    pthread_mutex_lock(&c->lock);
    if (!c->started) c->first = pthread_self();
    c->started = true;
    if (!pthread_equal(c->first, pthread_self())) c->is_there = true;
    pthread_cond_broadcast(&c->came);
    int error = 0;
    while (c->wanted && !c->is_there && !error) error = pthread_cond_timedwait(&c->came, &c->lock, &end);
    pthread_mutex_unlock(&c->lock);
}

static void mix_slowly(const struct svmx_operand *args, void *user) {
    for (int i = 0; i < 2000; i++) mix_run(args, NULL);
    if (args[0].bytes == MAX_ITEMS * 4) fesetround(FE_UPWARD); /* against the rules */
    look_for_company(user);
}

Test(registered, on_several_threads_of_simd) {
    svmx_executor_t *executor = open_simd(3);
    struct svmx_op_def def = mix_def("slow_mix", NULL);
    def.run = mix_slowly;
    def.user = &company;
    def.trial_size = 50;
    const uint32_t op = register_mix(executor, &def);
    (void)run_tasks(executor, op, 1); /* what it costs is known from here on */
    company.started = company.is_there = false;
    company.wanted = true;
    const struct svmx_receipt receipt = run_tasks(executor, op, 1);
    cr_assert(company.is_there, "one thread did all of it");
    cr_assert(receipt.device == 0 && receipt.redone == 0);
    cr_assert_eq(fegetround(), FE_TONEAREST);
    /* no thread of the pool was left with another rounding */
    static float sums[200000], ones[200000], little[200000];
    for (int i = 0; i < 200000; i++) ones[i] = 1.0f, little[i] = 1e-10f;
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, sums, ones, little, 200000), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    for (int i = 0; i < 200000; i++) cr_assert_eq(sums[i], 1.0f);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

struct who {
    pthread_t caller;
    atomic_uint elsewhere;
};

static void mix_and_note(const struct svmx_operand *args, void *user) {
    struct who *who = user;
    mix_run(args, NULL);
    if (!pthread_equal(who->caller, pthread_self())) atomic_fetch_add(&who->elsewhere, 1);
}

/* Measured costs are rough on a busy machine, so it is given some tries. */
Test(registered, small_work_stays_in_the_callers_thread) {
    struct who who = {.caller = pthread_self()};
    svmx_executor_t *executor = open_simd(4);
    struct svmx_op_def def = mix_def("mix_u32", NULL);
    def.run = mix_and_note;
    def.user = &who;
    const uint32_t op = register_mix(executor, &def);
    bool stayed = false;
    for (int i = 0; i < 1000 && !stayed; i++) {
        uint32_t out[8], a[8] = {0};
        svmx_batch_t *batch;
        atomic_store(&who.elsewhere, 0);
        cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
        for (uint32_t t = 0; t < 8; t++) {
            const struct svmx_arg args[] = {svmx_out(SVMX_U32, &out[t], 1), svmx_in(SVMX_U32, a, 1),
                                            svmx_in(SVMX_U32, a, 1), svmx_u32(1)};
            cr_assert_eq(svmx_batch_add(batch, op, args, MIX_PARAMS), SVMX_OK);
        }
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        stayed = i >= 10 && atomic_load(&who.elsewhere) == 0;
        svmx_batch_destroy(batch);
    }
    cr_assert(stayed, "eight numbers were handed to another thread, every time");
    svmx_close(executor);
}

/* ---- a device that compiles ---------------------------------------------------------------------------------- */

/*
 * The device of fake.h, with a compiler: what is registered needs code, code with "#error" does not build, and code with
 * "wrong" in it gives wrong bytes. One submitter thread calls submit and then wait: the switch is thrown between them.
 */
static enum svmx_status coder_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                    struct svmx_pipeline **pipeline) {
    const bool builtin = strcmp(desc->op->name, "vec_add_f32") == 0;
    if (!builtin && !desc->op->opencl_c) return SVMX_ERR_UNSUPPORTED;
    if (desc->op->opencl_c && strstr(desc->op->opencl_c, "#error")) {
        fake.host->log(fake.host, SVMX_LOG_ERROR, "1:1: error: expected a kernel");
        return SVMX_ERR_BACKEND;
    }
    cr_assert(!desc->op->opencl_c || (desc->op->local == 16 && desc->op->grain == 64));
    return fake_pipeline_build(self, device, desc, pipeline);
}

static enum svmx_status coder_submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    bool wrong = false;
    for (size_t i = 0; i < submission->list->count; i++)
        if (submission->list->commands[i].kind == SVMX_COMMAND_DISPATCH)
            wrong = strstr(submission->list->commands[i].as.dispatch.pipeline->op, "wrong") != NULL;
    pthread_mutex_lock(&fake.lock);
    fake.wrong_bytes = wrong;
    pthread_mutex_unlock(&fake.lock);
    return fake_submit(self, submission, ticket);
}

static struct svmx_backend_ops coder_ops;

static enum svmx_status coder_open(const struct svmx_host *host, struct svmx_backend *backend) {
    (void)fake_open(host, backend);
    coder_ops = fake_ops;
    coder_ops.pipeline_build = coder_build;
    coder_ops.submit = coder_submit;
    backend->ops = &coder_ops;
    return SVMX_OK;
}

static svmx_executor_t *open_coder(void) {
    static struct svmx_plugin coder;
    static const struct svmx_plugin *const plugins[] = {&coder};
    fake_start();
    coder = fake_plugin;
    coder.open = coder_open;
    struct svmx_options options = fake_options();
    options.static_plugins = plugins;
    return open_logged(options);
}

Test(registered, on_a_device_with_memory_of_its_own) {
    svmx_executor_t *executor = open_coder();
    struct svmx_op_def def = mix_def("mix_u32", MIX_CODE("mix_u32", "a[i] * k + rotate(b[i], 5u)"));
    def.known = mix_known;
    def.known_count = 1;
    const uint32_t op = register_mix(executor, &def);
    cr_assert(comes_to_serve(executor, op, 0), "%s", lines.text);
    cr_assert(!was_logged(" is off"), "%s", lines.text);
    svmx_close(executor);
    cr_assert_eq(fake.pipelines, 0u);
    cr_assert_eq(fake.memories, 0u);
}

Test(registered, wrong_device_code_is_off_on_that_device_only) {
    svmx_executor_t *executor = open_coder();
    const struct svmx_op_def wrong = mix_def("wrong_mix", "wrong"), right = mix_def("mix_u32", "right");
    const uint32_t bad = register_mix(executor, &wrong), good = register_mix(executor, &right);
    goes_off(executor, bad, "wrong_mix");
    cr_assert(was_logged("wrong_mix gives wrong bytes for example"), "%s", lines.text);
    cr_assert(comes_to_serve(executor, good, 0), "another operation is off as well: %s", lines.text);
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_device_get(executor, 0, &device), SVMX_OK);
    cr_assert(device.usable);
    svmx_close(executor);
    cr_assert_eq(fake.pipelines, 0u);
}

Test(registered, code_that_does_not_compile_is_off_and_the_log_says_why) {
    svmx_executor_t *executor = open_coder();
    const struct svmx_op_def broken = mix_def("broken_mix", "#error"), right = mix_def("mix_u32", "right");
    const uint32_t bad = register_mix(executor, &broken), good = register_mix(executor, &right);
    goes_off(executor, bad, "broken_mix");
    cr_assert(was_logged("error: expected a kernel"), "%s", lines.text);
    cr_assert(comes_to_serve(executor, good, 0), "another operation is off as well: %s", lines.text);
    svmx_close(executor);
}

Test(registered, without_device_code_it_runs_on_the_cpu) {
    svmx_executor_t *executor = open_coder();
    const struct svmx_op_def def = mix_def("mix_u32", NULL);
    const uint32_t op = register_mix(executor, &def);
    for (uint32_t seed = 1; seed < 4; seed++) {
        const struct svmx_receipt receipt = run_tasks(executor, op, seed);
        cr_assert(receipt.device == 1 && receipt.redone == 0, "a device that has no code did not fail");
    }
    svmx_close(executor);
}

/* A driver that never came back may still ask; functions of the program are not called once its executor has gone. */
Test(registered, after_close_nobody_calls_it) {
    if (UNDER_ADDRESS_SANITIZER) cr_skip_test("an instance that is abandoned is a leak to the sanitizer");
    svmx_executor_t *executor = open_coder();
    const struct svmx_op_def def = mix_def("mix_u32", "right");
    const uint32_t op = register_mix(executor, &def);
    cr_assert(comes_to_serve(executor, op, 0));
    const struct svmx_host *host = fake.host;
    cr_assert_eq(host->reference(host, "mix_u32", NULL, MIX_PARAMS), SVMX_OK);
    cr_assert_eq(host->reference(host, "mix_u32", NULL, 3), SVMX_ERR_ARGUMENT);
    fake_gate(true);
    fake.forgets_gate = true;
    (void)run_tasks(executor, op, 1); /* past the deadline: the device is given up, and its instance abandoned */
    svmx_close(executor);
    cr_assert_eq(fake.closes, 0u);
    cr_assert_eq(host->reference(host, "mix_u32", NULL, MIX_PARAMS), SVMX_ERR_UNKNOWN);
    cr_assert_eq(host->reference(host, "sha256", NULL, 3), SVMX_OK);
}
