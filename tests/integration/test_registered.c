/*
 * test_registered.c: operations that a program registered, on devices: the reference code, SIMD with several threads, a
 * made-up device that "compiles" their code, and real drivers: PoCL, Rusticl and oclgrind, which compile OpenCL C, the test
 * driver of Level Zero, which takes SPIR-V, and whatever else this machine has.
 *
 * Wrong device code is found by the comparison with `run` and is off on that device only; code that does not compile
 * likewise, with what the compiler said in the log; and no batch fails for it. Chains, recorded batches, buffers and loops have
 * such operations as any other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../sanitized.h"
#include "abandons.h"
#include "fake.h"
#include "mix_op.h"
#include "spirv_of.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fenv.h>
#include <stdio.h>
#include <unistd.h>

static const char *const ze_cpu_names[] = {"registered-right", "registered-wrong", "registered-broken",
                                           "registered-chains", NULL};
#include "../drivers/ze_cpu/content.h"

enum { TASKS = 60, MAX_ITEMS = 3000, MAX_TARGETS = 16, TRIES = 1500 };

/* ---- the log ------------------------------------------------------------------------------------------------- */

struct lines {
    pthread_mutex_t lock;
    char text[65536];
};

static struct lines lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void keep_line(void *user, enum svmx_log_level level, const char *text) {
    struct lines *kept = user;
    pthread_mutex_lock(&kept->lock);
    const size_t used = strlen(kept->text);
    (void)snprintf(kept->text + used, sizeof kept->text - used, "%d %s\n", (int)level, text);
    pthread_mutex_unlock(&kept->lock);
}

static bool was_logged(const char *word) {
    pthread_mutex_lock(&lines.lock);
    const bool found = strstr(lines.text, word) != NULL;
    pthread_mutex_unlock(&lines.lock);
    return found;
}

static svmx_executor_t *open_logged(struct svmx_options options) {
    svmx_executor_t *executor = NULL;
    struct svmx_error error = {SVMX_OK, ""};
    options.size = sizeof options;
    options.log = keep_line;
    options.log_user = &lines;
    options.log_level = SVMX_LOG_DEBUG;
    const enum svmx_status status = svmx_open(&executor, &options, &error);
    cr_assert_eq(status, SVMX_OK, "%s: %s", options.backends, error.text);
    return executor;
}

static uint32_t register_mix(svmx_executor_t *executor, const struct svmx_op_def *def) {
    uint32_t op = 0;
    struct svmx_error error = {SVMX_OK, ""};
    const enum svmx_status status = svmx_op_register(executor, def, &op, &error);
    cr_assert_eq(status, SVMX_OK, "%s", error.text);
    return op;
}

/* ---- one batch ----------------------------------------------------------------------------------------------- */

struct tasks {
    uint32_t out[TASKS][MAX_ITEMS], a[TASKS][MAX_ITEMS], b[TASKS][MAX_ITEMS];
    uint32_t count[TASKS];
};

static struct tasks tasks;

/* Some empty, many small, a few large; arguments at odd addresses too. */
static void fill(uint32_t seed) {
    for (uint32_t t = 0; t < TASKS; t++) {
        tasks.count[t] = t % 7 == 0 ? 0 : t % 11 == 0 ? MAX_ITEMS : (t * 37 + seed) % 90;
        for (uint32_t i = 0; i < tasks.count[t]; i++) {
            tasks.a[t][i] = (seed + i) * 2654435761u + t;
            tasks.b[t][i] = (seed ^ i) * 40503u - t;
            tasks.out[t][i] = 0xeeeeeeee;
        }
    }
}

/* Runs all of it in one batch and compares; the receipt. */
static struct svmx_receipt run_tasks(svmx_executor_t *executor, uint32_t op, uint32_t seed) {
    svmx_batch_t *batch;
    struct svmx_receipt receipt = {.size = sizeof receipt};
    fill(seed);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (uint32_t t = 0; t < TASKS; t++) {
        const uint32_t n = tasks.count[t];
        const struct svmx_arg args[] = {svmx_out(SVMX_U32, tasks.out[t], n), svmx_in(SVMX_U32, tasks.a[t], n),
                                        svmx_in(SVMX_U32, tasks.b[t], n), svmx_u32(t + 3)};
        cr_assert_eq(svmx_batch_add(batch, op, args, MIX_PARAMS), SVMX_OK, "%s", svmx_batch_error(batch));
    }
    enum svmx_status status = seed % 2 ? svmx_run(batch) : svmx_submit(batch, 0);
    if (status == SVMX_OK) status = svmx_wait(batch, UINT64_MAX);
    cr_assert_eq(status, SVMX_OK, "%s", svmx_batch_error(batch));
    for (uint32_t t = 0; t < TASKS; t++)
        for (uint32_t i = 0; i < tasks.count[t]; i++)
            cr_assert_eq(tasks.out[t][i], mix_one(tasks.a[t][i], tasks.b[t][i], t + 3), "task %u, element %u", t, i);
    cr_assert_eq(svmx_receipt_count(batch), 1u);
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.op, op);
    svmx_batch_destroy(batch);
    return receipt;
}

/* Runs until the device answers; it may be compiling at first, and another answers. False: it never did. */
static bool comes_to_serve(svmx_executor_t *executor, uint32_t op, uint32_t device) {
    for (uint32_t seed = 1; seed < TRIES; seed++) {
        const struct svmx_receipt receipt = run_tasks(executor, op, seed);
        if (receipt.device == device && !receipt.redone) return true;
        usleep(20000);
    }
    return false;
}

/* Runs until the log says that the operation is off there; all answers are right meanwhile. */
static void goes_off(svmx_executor_t *executor, uint32_t op, const char *name) {
    char off[64];
    (void)snprintf(off, sizeof off, "%s on ", name);
    for (uint32_t seed = 1; seed < TRIES && !was_logged(off); seed++) {
        (void)run_tasks(executor, op, seed);
        usleep(20000);
    }
    cr_assert(was_logged(off), "%s was not put off:\n%s", name, lines.text);
    const struct svmx_receipt receipt = run_tasks(executor, op, 5);
    cr_assert(receipt.device != 0 && receipt.redone == 0, "the device is still asked");
}

/* ---- the reference code and SIMD ----------------------------------------------------------------------------- */

static bool simd_is_there(void) {
    const char *folder = getenv("SVMX_TEST_BACKEND_PATH");
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/simd.so", folder ? folder : "");
    return folder && access(path, F_OK) == 0;
}

static svmx_executor_t *open_simd(uint32_t threads) {
    if (!simd_is_there()) cr_skip_test("this build has no simd.so");
    return open_logged((struct svmx_options){.backends = "+simd,stop", .threads = threads});
}

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

/* ---- real drivers --------------------------------------------------------------------------------------------- */

/* A backend on a driver of its own; "others": whatever else this machine has. */
struct driver {
    const char *name, *backends, *file, *package;
};

static const struct driver drivers[] = {
    {"pocl", "+opencl:0,stop", "/etc/OpenCL/vendors/pocl.icd", "pocl-opencl-icd"},
    {"rusticl", "+opencl:0,stop", "/etc/OpenCL/vendors/rusticl.icd", "mesa-opencl-icd"},
    {"oclgrind", "+opencl:0,stop", "/usr/lib/oclgrind/liboclgrind-rt-icd.so", "oclgrind"},
    {"ze_cpu", "+levelzero:0,stop", NULL, NULL},
    {"others", NULL, NULL, NULL}};
enum { DRIVERS = sizeof drivers / sizeof *drivers };

struct choice {
    unsigned driver;
};

static struct criterion_test_params each_driver(void) {
    static struct choice choices[DRIVERS];
    for (unsigned i = 0; i < DRIVERS; i++) choices[i].driver = i;
    return cr_make_param_array(struct choice, choices, DRIVERS);
}

static bool is_levelzero(const struct driver *driver) { return strcmp(driver->name, "ze_cpu") == 0; }

static void use_levelzero(const char *test) {
    char name[64];
    const char *missing = ze_cpu_missing();
    if (missing) cr_skip_test("%s", missing);
    if (spirv_missing()) cr_skip_test("%s", spirv_missing());
    (void)snprintf(name, sizeof name, "registered-%s", test);
    ze_cpu_use(name);
    cr_assert_eq(setenv("ZE_CPU_STRICT", "1", 1), 0);
}

static void use_opencl(const struct driver *driver) {
    const char *sanitizer = getenv("SVMX_TEST_SANITIZER"), *folder = getenv("SVMX_TEST_BACKEND_PATH");
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/opencl.so", folder ? folder : "");
    if (sanitizer && strstr(sanitizer, "thread")) cr_skip_test("the thread sanitizer does not know drivers' threads");
    if (access(path, F_OK) != 0) cr_skip_test("this build has no opencl.so");
    if (access(driver->file, R_OK) != 0) cr_skip_test("there is no %s (package %s)", driver->file, driver->package);
    cr_assert_eq(setenv("OCL_ICD_VENDORS", driver->file, 1), 0);
    cr_assert_eq(setenv("RUSTICL_ENABLE", "llvmpipe", 1), 0);
}

/* Looks for drivers as a program would that is not a test. */
static void use_machine(void) {
    const char *users = getenv("SVMX_TEST_OPENCL_VENDORS");
    if (users && *users)
        (void)setenv("OCL_ICD_VENDORS", users, 1);
    else
        (void)unsetenv("OCL_ICD_VENDORS");
}

/* ---- devices ---------------------------------------------------------------------------------------------------- */

struct target {
    char backends[64], name[64];
};

static bool is_known(const struct svmx_device *device) {
    static const char *const platforms[] = {"Portable Computing Language", "rusticl", "Oclgrind"};
    static const char *const backends[] = {"simd", "reference", "sim"};
    bool known = (device->flags & SVMX_DEVICE_TEST) != 0;
    for (size_t i = 0; i < 3; i++)
        known |= strncmp(device->driver, platforms[i], strlen(platforms[i])) == 0 ||
                 strcmp(device->backend, backends[i]) == 0;
    return known;
}

/* Devices that no other driver of the list has. */
static unsigned find_others(struct target *targets) {
    svmx_executor_t *executor = open_logged((struct svmx_options){.backends = ""});
    unsigned count = 0, index = 0;
    char last[32] = "";
    for (uint32_t i = 0; i < svmx_device_count(executor) && count < MAX_TARGETS; i++) {
        struct svmx_device device = {.size = sizeof device};
        cr_assert_eq(svmx_device_get(executor, i, &device), SVMX_OK);
        index = strcmp(last, device.backend) == 0 ? index + 1 : 0;
        (void)snprintf(last, sizeof last, "%s", device.backend);
        if (is_known(&device)) continue;
        (void)snprintf(targets[count].backends, sizeof targets->backends, "+%.32s:%u,stop", device.backend, index);
        (void)snprintf(targets[count++].name, sizeof targets->name, "%s", device.name);
    }
    svmx_close(executor);
    return count;
}

static unsigned find_targets(const struct driver *driver, const char *test, struct target *targets) {
    if (is_levelzero(driver)) {
        use_levelzero(test);
    } else if (driver->file) {
        use_opencl(driver);
    } else {
        use_machine();
        return find_others(targets);
    }
    (void)snprintf(targets[0].backends, sizeof targets->backends, "%s", driver->backends);
    (void)snprintf(targets[0].name, sizeof targets->name, "%s", driver->name);
    return 1;
}

typedef void (*test_fn)(svmx_executor_t *executor, const struct target *target, bool spirv);

/* Calls it with an executor of each device and the reference code. */
static void on_each(const struct choice *choice, const char *name, test_fn test) {
    struct target targets[MAX_TARGETS];
    const struct driver *driver = &drivers[choice->driver];
    const unsigned count = find_targets(driver, name, targets);
    abandons = true; /* drivers leave memory behind, and are gone when the leak sanitizer asks whose it is */
    if (!count) cr_skip_test("this machine has no device but the CPU itself");
    for (unsigned i = 0; i < count; i++) {
        lines.text[0] = '\0';
        svmx_executor_t *executor = open_logged(
            (struct svmx_options){.backends = targets[i].backends, .timeout_ms = 600000, .patience_ms = 3600000});
        test(executor, &targets[i], is_levelzero(driver));
        svmx_close(executor);
    }
}

/* ---- what they do ----------------------------------------------------------------------------------------------- */

/* Right code for a kernel, as the text that it is or, where the driver has no compiler, compiled here. */
#define RIGHT(name) MIX_CODE(name, "a[i] * k + rotate(b[i], 5u)")

static struct svmx_op_def def_of(const char *name, const char *code, bool spirv) {
    struct svmx_op_def def = mix_def(name, spirv ? NULL : code);
    if (spirv) def.spirv = spirv_of(code, &def.spirv_bytes);
    return def;
}

/* What the executor took was copied: it is freed before it is used. */
static uint32_t register_code(svmx_executor_t *executor, struct svmx_op_def def) {
    const uint32_t op = register_mix(executor, &def);
    free((void *)(uintptr_t)def.spirv);
    return op;
}

static void expect_right_code_to_serve(svmx_executor_t *executor, const struct target *target, bool spirv) {
    struct svmx_op_def def = def_of("mix_u32", RIGHT("mix_u32"), spirv);
    def.known = mix_known;
    def.known_count = 1;
    const uint32_t op = register_code(executor, def);
    cr_assert(comes_to_serve(executor, op, 0), "%s never answered:\n%s", target->name, lines.text);
    cr_assert(!was_logged(" is off"), "%s", lines.text);
}

static void expect_the_other_to_serve(svmx_executor_t *executor, const struct target *target, bool spirv) {
    const uint32_t good = register_code(executor, def_of("mix_u32", RIGHT("mix_u32"), spirv));
    cr_assert(comes_to_serve(executor, good, 0), "%s: right code is off as well:\n%s", target->name, lines.text);
}

static void expect_wrong_code_to_go_off(svmx_executor_t *executor, const struct target *target, bool spirv) {
    const char *code = MIX_CODE("wrong_mix", "a[i] * k + rotate(b[i], 6u)");
    const uint32_t bad = register_code(executor, def_of("wrong_mix", code, spirv));
    goes_off(executor, bad, "wrong_mix");
    cr_assert(was_logged("wrong_mix gives wrong bytes"), "%s", lines.text);
    expect_the_other_to_serve(executor, target, spirv);
}

/* Text that does not compile; a module that has another kernel. */
static void expect_broken_code_to_go_off(svmx_executor_t *executor, const struct target *target, bool spirv) {
    const char *code = spirv ? RIGHT("another") : MIX_CODE("broken_mix", "a[i] * undeclared_number");
    const uint32_t bad = register_code(executor, def_of("broken_mix", code, spirv));
    goes_off(executor, bad, "broken_mix");
    cr_assert(was_logged(spirv ? "no kernel broken_mix" : "undeclared_number"),
              "the compiler's words are not in the log:\n%s", lines.text);
    if (!spirv) cr_assert(was_logged("does not build: error: "), "the kept reason does not say why:\n%s", lines.text);
    expect_the_other_to_serve(executor, target, spirv);
}

ParameterizedTestParameters(registered, right_code_on_every_driver) { return each_driver(); }
ParameterizedTest(struct choice *choice, registered, right_code_on_every_driver) {
    on_each(choice, "right", expect_right_code_to_serve);
}
ParameterizedTestParameters(registered, wrong_code_on_every_driver) { return each_driver(); }
ParameterizedTest(struct choice *choice, registered, wrong_code_on_every_driver) {
    on_each(choice, "wrong", expect_wrong_code_to_go_off);
}
ParameterizedTestParameters(registered, broken_code_on_every_driver) { return each_driver(); }
ParameterizedTest(struct choice *choice, registered, broken_code_on_every_driver) {
    on_each(choice, "broken", expect_broken_code_to_go_off);
}

/* ---- chains, recorded batches, buffers and loops ------------------------------------------------------------------- */

enum { LINKS = 4, CHAIN_ITEMS = 3000, PROBLEMS = 5, APART = 16, ROUNDS = 4 };

/* Whether a has reached k: with the parameters of the other one. */
static void reached_run(const struct svmx_operand *args, void *user) {
    (void)user;
    uint32_t k, a;
    memcpy(&k, args[3].data, sizeof k);
    for (uint64_t at = 0; at < args[0].bytes; at += 4) {
        memcpy(&a, (const char *)args[1].data + at, 4);
        memcpy((char *)args[0].data + at, &(uint32_t){a >= k}, 4);
    }
}

struct pair {
    uint32_t mix, reached;
};

static struct pair register_both(svmx_executor_t *executor, bool code, bool spirv, uint32_t flags) {
    struct svmx_op_def mix = def_of("mix_u32", code ? RIGHT("mix_u32") : NULL, code && spirv),
                       reached = def_of("reached_u32", code ? MIX_CODE("reached_u32", "a[i] >= k ? 1u : 0u") : NULL,
                                        code && spirv);
    mix.flags = reached.flags = flags;
    reached.run = reached_run;
    return (struct pair){register_code(executor, mix), register_code(executor, reached)};
}

static struct { uint32_t a[CHAIN_ITEMS], b[CHAIN_ITEMS], out[CHAIN_ITEMS]; } chain;

static uint32_t chain_of_one(uint32_t at) {
    uint32_t x = chain.a[at];
    for (uint32_t k = 0; k < LINKS; k++) x = mix_one(x, chain.b[at], k + 3);
    return x;
}

/* Links, of which the first reads a buffer and the last writes to one if there is one. */
static svmx_batch_t *chain_for(svmx_executor_t *executor, uint32_t op, svmx_buffer_t *from, svmx_buffer_t *to) {
    const uint32_t n = CHAIN_ITEMS;
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (uint32_t k = 0; k < LINKS; k++) {
        const struct svmx_arg args[] = {k + 1 < LINKS ? svmx_out_passing(SVMX_U32, n)
                                        : to          ? svmx_view(SVMX_U32, to, 0, n)
                                                      : svmx_out(SVMX_U32, chain.out, n),
                                        k      ? svmx_result_of(SVMX_U32, k - 1, 0)
                                        : from ? svmx_view(SVMX_U32, from, 0, n)
                                               : svmx_in(SVMX_U32, chain.a, n),
                                        svmx_in(SVMX_U32, chain.b, n), svmx_u32(k + 3)};
        cr_assert_eq(svmx_batch_add(batch, op, args, MIX_PARAMS), SVMX_OK, "%s", svmx_batch_error(batch));
    }
    return batch;
}

/* How many receipts of the last run have a flag. */
static uint32_t flagged(const svmx_batch_t *batch, uint32_t flag) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    uint32_t count = 0;
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++) count += (receipt.flags & flag) != 0;
    return count;
}

/* Recorded once, and replayed with other numbers, in memory and in buffers. */
static void expect_chains(svmx_executor_t *executor, uint32_t op, uint32_t flag, uint32_t flags, bool in_buffers) {
    svmx_buffer_t *from = NULL, *to = NULL;
    if (in_buffers) cr_assert_eq(svmx_buffer_create(executor, sizeof chain.a, &from), SVMX_OK);
    if (in_buffers) cr_assert_eq(svmx_buffer_create(executor, sizeof chain.a, &to), SVMX_OK);
    svmx_batch_t *batch = chain_for(executor, op, from, to);
    cr_assert_eq(svmx_batch_record(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < CHAIN_ITEMS; i++)
            chain.a[i] = i * 2654435761u + round, chain.b[i] = i * 40503u ^ round, chain.out[i] = 0;
        if (from) cr_assert_eq(svmx_buffer_write(from, 0, chain.a, sizeof chain.a), SVMX_OK);
        cr_assert_eq(svmx_batch_replay(batch), SVMX_OK, "%s", svmx_batch_error(batch));
        if (to) cr_assert_eq(svmx_buffer_read(to, 0, chain.out, sizeof chain.out), SVMX_OK);
        for (uint32_t i = 0; i < CHAIN_ITEMS; i++) cr_assert_eq(chain.out[i], chain_of_one(i), "element %u", i);
    }
    cr_assert_eq(flagged(batch, flag), flags, "%u of %u", flagged(batch, flag), flags);
    svmx_batch_destroy(batch);
    svmx_buffer_destroy(from);
    svmx_buffer_destroy(to);
}

/* Problems that count up by one, each to a limit of its own. */
static void expect_loop(svmx_executor_t *executor, struct pair ops, uint32_t every) {
    static const uint32_t one = UINT32_C(1) << 27; /* which turned by five is 1 */
    uint32_t state[PROBLEMS * APART] = {0};
    struct svmx_carry carries[PROBLEMS];
    struct svmx_until untils[PROBLEMS];
    struct svmx_loop_end ends[PROBLEMS];
    svmx_buffer_t *buffer;
    svmx_batch_t *body;
    cr_assert_eq(svmx_buffer_create(executor, sizeof state, &buffer), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &body), SVMX_OK);
    for (uint32_t p = 0; p < PROBLEMS; p++) {
        const struct svmx_arg next[] = {svmx_out_passing(SVMX_U32, 1), svmx_view(SVMX_U32, buffer, p * APART, 1),
                                        svmx_in(SVMX_U32, &one, 1), svmx_u32(1)},
                              flag[] = {svmx_out_passing(SVMX_U32, 1), svmx_result_of(SVMX_U32, 2 * p, 0),
                                        svmx_in(SVMX_U32, &one, 1), svmx_u32(2 + 3 * p)};
        cr_assert_eq(svmx_batch_add(body, ops.mix, next, MIX_PARAMS), SVMX_OK, "%s", svmx_batch_error(body));
        cr_assert_eq(svmx_batch_add(body, ops.reached, flag, MIX_PARAMS), SVMX_OK, "%s", svmx_batch_error(body));
        carries[p] = (struct svmx_carry){2 * p, 0, buffer, p * APART * sizeof *state};
        untils[p] = (struct svmx_until){.task = 2 * p + 1, .kind = SVMX_UNTIL_NOT_ZERO};
    }
    const struct svmx_loop loop = {sizeof loop, carries, untils, PROBLEMS, PROBLEMS, 12, every};
    cr_assert_eq(svmx_loop_run(body, &loop, ends, NULL), SVMX_OK, "%s", svmx_batch_error(body));
    cr_assert_eq(svmx_buffer_read(buffer, 0, state, sizeof state), SVMX_OK);
    for (uint32_t p = 0; p < PROBLEMS; p++) {
        const uint32_t limit = 2 + 3 * p; /* the last is beyond 12 */
        cr_assert_eq(ends[p].iterations, limit < 12 ? limit : 12, "problem %u, every %u", p, every);
        cr_assert_eq(ends[p].reason, limit <= 12 ? SVMX_LOOP_CONDITION : SVMX_LOOP_LIMIT);
        cr_assert_eq(state[p * APART], ends[p].iterations);
    }
    svmx_batch_destroy(body);
    svmx_buffer_destroy(buffer);
}

/* `flag`: what so many links of a chain have in their receipts in the end. */
static void expect_part_in_all(svmx_executor_t *executor, struct pair ops, uint32_t flag, uint32_t flags) {
    static const uint32_t everies[] = {1, 3, 16, 0};
    expect_chains(executor, ops.mix, flag, flags, false);
    expect_chains(executor, ops.mix, flag, flags, true);
    for (size_t i = 0; i < sizeof everies / sizeof *everies; i++) expect_loop(executor, ops, everies[i]);
}

/* One pass over memory where the program says that elements are independent; links by themselves where it does not. */
Test(registered, take_part_in_chains_on_simd) {
    for (uint32_t threads = 1; threads <= 3; threads += 2)
        for (uint32_t flags = 0; flags <= SVMX_OP_ELEMENTWISE; flags++) {
            svmx_executor_t *executor = open_simd(threads);
            const struct pair ops = register_both(executor, false, false, flags);
            expect_part_in_all(executor, ops, SVMX_RECEIPT_FUSED, flags ? LINKS - 1 : 0);
            svmx_close(executor);
        }
}

static void negate_run(const struct svmx_operand *args, void *user) {
    (void)user;
    for (uint64_t i = 0; i < args[0].bytes / sizeof(float); i++)
        ((float *)args[0].data)[i] = -((const float *)args[1].data)[i];
}

/* Beside an operation of the library's, in one pass. */
Test(registered, fuse_with_operations_of_the_library) {
    enum { N = 5000 };
    static float a[N], out[N];
    static const struct svmx_param params[] = {{"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1},
                                               {"a", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1}};
    svmx_executor_t *executor = open_simd(2);
    const struct svmx_op_def def = {.size = sizeof def,
                                    .name = "negate",
                                    .params = params,
                                    .param_count = 2,
                                    .exactness = SVMX_EXACT,
                                    .run = negate_run,
                                    .flags = SVMX_OP_ELEMENTWISE};
    const uint32_t negate = register_mix(executor, &def);
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    const struct svmx_arg sum[] = {svmx_out_passing(SVMX_F32, N), svmx_in(SVMX_F32, a, N), svmx_in(SVMX_F32, a, N)},
                          other[] = {svmx_out_passing(SVMX_F32, N), svmx_result_of(SVMX_F32, 0, 0)},
                          last[] = {svmx_out(SVMX_F32, out, N), svmx_result_of(SVMX_F32, 1, 0),
                                    svmx_in(SVMX_F32, a, N)};
    for (int i = 0; i < N; i++) a[i] = (float)i;
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, sum, 3), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, negate, other, 2), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_MUL_F32, last, 3), SVMX_OK);
    for (int run = 0; run < 3; run++) {
        memset(out, 0, sizeof out);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        for (int i = 0; i < N; i++) cr_assert_eq(out[i], -2 * a[i] * a[i], "element %d", i);
        if (run == 2) cr_assert_eq(flagged(batch, SVMX_RECEIPT_FUSED), 2);
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    }
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

static void expect_chains_to_serve(svmx_executor_t *executor, const struct target *target, bool spirv) {
    const struct pair ops = register_both(executor, true, spirv, SVMX_OP_ELEMENTWISE);
    cr_assert(comes_to_serve(executor, ops.mix, 0), "%s never answered:\n%s", target->name, lines.text);
    for (uint32_t i = 0; i < 2; i++) /* pipelines of these sizes */
        cr_assert_eq(svmx_prewarm(executor, i ? ops.reached : ops.mix, CHAIN_ITEMS), SVMX_OK);
    expect_part_in_all(executor, ops, SVMX_RECEIPT_STRETCH, LINKS);
    cr_assert(!was_logged(" is off"), "%s", lines.text);
}

ParameterizedTestParameters(registered, chains_on_every_driver) { return each_driver(); }
ParameterizedTest(struct choice *choice, registered, chains_on_every_driver) {
    on_each(choice, "chains", expect_chains_to_serve);
}
