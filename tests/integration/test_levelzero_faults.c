/*
 * test_levelzero_faults.c: every function of Level Zero that the plugin calls fails once: at its first call and at a later
 * one, with an error and with the device lost. No batch is lost, the answer comes from SIMD, nothing crashes or leaks, and a
 * new executor is served by the device again.
 *
 * On the test driver (tests/drivers/ze_cpu), twice: through the real loader, where lists are of any order, and through the
 * driver's stand-in for the loader, where they are in order and events count. Which functions there are is not written
 * here: runs without a fault are counted, on a discrete device and on an integrated one, and at the end what was failed is
 * compared with what the sources of the plugin call.
 *
 *   parent   a child for each fault; looks at how it ended, whether the call was reached, and what the driver reports
 *   child    executor A: answers must be right; executor B: must be served by the device
 *
 * A plain program: each fault needs a process, since loader and driver read their environment once. It is forked, not
 * started: the parent has loaded PoCL, so that each child need not, which takes most of its time. For the second loader the
 * parent starts itself anew: the linker reads LD_LIBRARY_PATH once, too. Prints `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../drivers/ze_cpu/use.h"
#include "trial.h"

#include <dlfcn.h>
#include <glob.h>
#include <regex.h>
#include <sys/wait.h>

enum { MAX_CALLS = 128, ITEMS = 9000, NAMES = 8192, UNDER_WAY = 12, MANY_ITEMS = 40000 };

static unsigned passed, failed;

/* ---- the child ----------------------------------------------------------------------------------------------------- */

static void say_nothing(void *user, enum svmx_log_level level, const char *text) {
    (void)user;
    if (getenv("SVMX_TEST_VERBOSE")) fprintf(stderr, "%d %s\n", (int)level, text);
}

static int complain(const char *what) {
    fprintf(stderr, "    %s\n", what);
    return 1;
}

static svmx_executor_t *open_it(uint32_t timeout_ms) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "levelzero,simd,stop",
                                         .policy = "order",
                                         .timeout_ms = timeout_ms,
                                         .driver_probe = "off", /* it has a suite of its own, and takes a process */
                                         .log_level = SVMX_LOG_DEBUG,
                                         .log = say_nothing};
    struct svmx_error error = {SVMX_OK, ""};
    svmx_executor_t *executor = NULL;
    if (svmx_open(&executor, &options, &error) != SVMX_OK) (void)complain(error.text);
    return executor;
}

/* Else SIMD answers while the device compiles. */
static void prewarm(svmx_executor_t *executor, const char *name, uint64_t units) {
    uint32_t op = 0;
    struct svmx_error error;
    if (svmx_op_find(executor, name, &op, &error) == SVMX_OK) (void)svmx_prewarm(executor, op, units);
}

/* "levelzero" or "simd"; NULL: another. */
static const char *who_answered(svmx_executor_t *executor, const svmx_batch_t *batch, uint32_t index) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    struct svmx_device device = {.size = sizeof device};
    if (svmx_receipt_get(batch, index, &receipt) != SVMX_OK ||
        svmx_device_get(executor, receipt.device, &device) != SVMX_OK)
        return NULL;
    if (strcmp(device.backend, "simd") == 0) return "simd";
    if (strcmp(device.backend, "levelzero") == 0) return "levelzero";
    (void)complain(device.backend);
    return NULL;
}

/* A batch of two operations, one of them with two passes. Which backends answered: "levelzero", "simd", or NULL if that is
 * not so, or an answer is wrong. */
static const char *run_batch(svmx_executor_t *executor) {
    static float ones[ITEMS];
    struct trial trial;
    svmx_batch_t *batch;
    float sum = 0;
    const char *who = "levelzero";
    for (unsigned i = 0; i < ITEMS; i++) ones[i] = 1.0f;
    trial_fill(&trial, 5);
    prewarm(executor, "vec_add_f32", TRIAL_ITEMS);
    prewarm(executor, "sum_f32", 1);
    if (svmx_batch_create(executor, &batch) != SVMX_OK || trial_add(&trial, batch) != SVMX_OK ||
        svmx_sum_f32(batch, &sum, ones, ITEMS) != SVMX_OK || svmx_run(batch) != SVMX_OK) {
        (void)complain("a batch failed");
        return NULL;
    }
    if (!trial_is_right(&trial) || sum != (float)ITEMS) {
        (void)complain("an answer is wrong");
        who = NULL;
    }
    for (uint32_t i = 0; who && i < 2; i++) {
        const char *this = who_answered(executor, batch, i);
        if (!this || strcmp(this, "simd") == 0) who = this;
    }
    svmx_batch_destroy(batch);
    return who;
}

/* Batches under way at once, too large to be gathered: copies of one go beside kernels of another, on the engine for copies.
 * "simd": it answered some of them. */
static const char *run_several(svmx_executor_t *executor) {
    static float a[MANY_ITEMS], b[MANY_ITEMS], sums[UNDER_WAY][MANY_ITEMS];
    svmx_batch_t *batches[UNDER_WAY];
    const char *who = "levelzero";
    for (unsigned i = 0; i < MANY_ITEMS; i++) a[i] = (float)i, b[i] = 0.5f * (float)i;
    prewarm(executor, "vec_add_f32", MANY_ITEMS);
    for (unsigned n = 0; n < UNDER_WAY; n++)
        if (svmx_batch_create(executor, &batches[n]) != SVMX_OK ||
            svmx_vec_add_f32(batches[n], sums[n], a, b, MANY_ITEMS) != SVMX_OK || svmx_submit(batches[n], 0) != SVMX_OK)
            exit(complain("a batch of several is not taken"));
    for (unsigned n = 0; n < UNDER_WAY; n++) {
        const bool good = svmx_wait(batches[n], UINT64_MAX) == SVMX_OK;
        const char *this = good ? who_answered(executor, batches[n], 0) : NULL;
        for (unsigned i = 0; i < MANY_ITEMS && this; i++)
            if (sums[n][i] != a[i] + b[i]) this = NULL;
        if (!this || (who && strcmp(this, "simd") == 0)) who = this;
        svmx_batch_destroy(batches[n]);
    }
    if (!who) (void)complain("one of several batches is lost or wrong");
    return who;
}

/* A new executor: it is as if nothing had happened. */
static int serve_again(void) {
    svmx_executor_t *executor = open_it(60000);
    if (!executor) return complain("executor B does not open");
    const char *who = run_batch(executor);
    svmx_close(executor);
    return who && strcmp(who, "levelzero") == 0 ? 0 : complain("executor B is not served by Level Zero");
}

/* A: whatever happens, three batches are right. */
static int work(void) {
    svmx_executor_t *executor = open_it(60000);
    if (!executor) return complain("executor A does not open");
    for (unsigned i = 0; i < 3; i++)
        if (!run_batch(executor)) return complain("executor A: a batch is lost or wrong, or not by Level Zero or SIMD");
    svmx_close(executor);
    return serve_again();
}

/* The same of several at once. */
static int work_at_several(void) {
    svmx_executor_t *executor = open_it(60000);
    const char *who = executor ? run_several(executor) : NULL;
    svmx_close(executor);
    return who ? serve_again() : complain("executor A: several batches were not answered");
}

static int several_by_device(void) {
    svmx_executor_t *executor = open_it(60000);
    const char *who = executor ? run_several(executor) : NULL;
    svmx_close(executor);
    return who && strcmp(who, "levelzero") == 0 ? 0 : complain("several batches: not answered by the device");
}

/* Three batches on one executor; who answered the last. */
static const char *run_three(svmx_executor_t *executor) {
    const char *who = executor ? run_batch(executor) : NULL;
    for (unsigned i = 0; who && i < 2; i++) who = run_batch(executor);
    return who;
}

/* No fault, or no driver: who answers is known. */
static int answered_by(const char *expected) {
    svmx_executor_t *executor = open_it(60000);
    const char *who = run_three(executor);
    svmx_close(executor);
    return who && strcmp(who, expected) == 0 ? 0 : complain("not answered by the one who should");
}

static int answered_by_simd(void) { return answered_by("simd"); }
static int answered_by_device(void) { return answered_by("levelzero"); }

/* Shared memory, in place. */
static int answered_in_place(void) {
    setenv("ZE_CPU_INTEGRATED", "1", 1);
    return answered_by("levelzero");
}
static int work_in_place(void) {
    setenv("ZE_CPU_INTEGRATED", "1", 1);
    return work();
}

/* No kernel builds, and the plugin asks why. */
static int nothing_builds(void) {
    unsetenv("ZE_CPU_KEEP");
    setenv("ZE_CPU_TRANSLATOR", "/bin/false", 1);
    return answered_by("simd");
}

/* The device does not answer the last batch. What it may still use stays with it, while it is closed too: no other leaks are
 * looked for. */
static int hang(void) {
    svmx_executor_t *executor = open_it(400);
    const char *who = run_three(executor);
    svmx_close(executor);
    _exit(who && strcmp(who, "simd") == 0 ? 0 : complain("a device that hangs: SIMD did not answer"));
}

/* ---- the parent ------------------------------------------------------------------------------------------------------ */

/* In the child: driver, and what is kept on disk, of its own. */
static void prepare(const char *variable, const char *value) {
    char path[ZE_CPU_PATH];
    ze_cpu_use("faults");
    setenv("ZE_CPU_STRICT", "1", 1);
    if (variable) setenv(variable, value, 1);
    ze_cpu_path(path, "tests/run/%s", "ze_cpu-faults.cache");
    setenv("SUPERVM_CACHE_DIR", path, 1);
    ze_cpu_path(path, "tests/run/%s", "ze_cpu-faults.translated");
    setenv("SVMX_TEST_TRANSLATED", path, 1);
    (void)snprintf(path, sizeof path, "%s/tests/drivers/ze_cpu/translate-once", getenv("SVMX_TEST_SRCDIR"));
    setenv("ZE_CPU_TRANSLATOR", path, 1);
}

/* What PoCL brings along; nothing of it is called. Without it children are slower. */
static void load_ahead(void) {
    char name[256] = "";
    FILE *vendor = fopen("/etc/OpenCL/vendors/pocl.icd", "r");
    if (vendor && fscanf(vendor, "%255s", name) == 1) (void)dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (vendor) fclose(vendor);
}

/* Those that were failed, each with a space before and behind it; also of the process before this one. */
static char names[NAMES] = " ";

static bool was_failed(const char *name) {
    char word[80];
    (void)snprintf(word, sizeof word, " %.64s ", name);
    return strstr(names, word) != NULL;
}

static void note_failed(const char *name) {
    const size_t used = strlen(names);
    if (!was_failed(name)) (void)snprintf(names + used, sizeof names - used, "%s ", name);
}

/* Goes on as a new process whose linker finds the driver's own loader. */
static void start_anew(void) {
    char path[ZE_CPU_PATH], more[2 * ZE_CPU_PATH], sums[2][16];
    const char *old = getenv("LD_LIBRARY_PATH");
    ze_cpu_path(path, "tests/drivers/ze_cpu/%s", "loader");
    (void)snprintf(more, sizeof more, "%s%s%s", path, old ? ":" : "", old ? old : "");
    setenv("LD_LIBRARY_PATH", more, 1);
    (void)snprintf(sums[0], sizeof sums[0], "%u", passed);
    (void)snprintf(sums[1], sizeof sums[1], "%u", failed);
    setenv("SVMX_TEST_FAILED", names, 1);
    fflush(stdout);
    execl("/proc/self/exe", "test_levelzero_faults", sums[0], sums[1], (char *)NULL);
}

static void forget_cache(void) {
    char path[ZE_CPU_PATH], command[ZE_CPU_PATH + 16];
    ze_cpu_path(path, "tests/run/%s", "ze_cpu-faults.cache");
    (void)snprintf(command, sizeof command, "rm -rf '%s'", path);
    if (system(command) != 0) exit(99);
}

/* Its exit status; more than 255: it was ended by a signal. */
static int run_child(int (*mode)(void), const char *variable, const char *value) {
    int status = 0;
    forget_cache();
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        prepare(variable, value);
        exit(mode());
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return 97;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

struct call {
    char name[64];
    unsigned count;
};

static unsigned read_counts(struct call *calls) {
    char path[ZE_CPU_PATH];
    unsigned count = 0;
    ze_cpu_count_path(path, "faults");
    FILE *file = fopen(path, "r");
    while (file && count < MAX_CALLS && fscanf(file, "%63s %u", calls[count].name, &calls[count].count) == 2) count++;
    if (file) fclose(file);
    return count;
}

static unsigned count_of(const char *name) {
    struct call calls[MAX_CALLS];
    for (unsigned i = read_counts(calls); i-- > 0;)
        if (strcmp(calls[i].name, name) == 0) return calls[i].count;
    return 0;
}

static void judge(bool good, bool newer, const char *what) {
    if (good)
        passed++;
    else
        failed++;
    if (!good) printf("FAILED (%s loader): %s\n", newer ? "stand-in" : "real", what);
}

/* `with`: another fault, without which the call would not be made; "" for none. */
static void fail_once(bool newer, int (*mode)(void), const char *with, const char *name, unsigned n, const char *code) {
    char value[192];
    (void)snprintf(value, sizeof value, "%s%s%s@%u=%s", with, *with ? "," : "", name, n, code);
    note_failed(name);
    const bool for_good = strcmp(name, "zeInit") == 0; /* the loader asks once and remembers */
    const int status = run_child(for_good ? answered_by_simd : mode, "ZE_CPU_FAIL", value);
    const bool reached = count_of(name) >= n, content = ze_cpu_is_content("faults");
    if (status) printf("%s: ended with %d\n", value, status);
    if (!reached) printf("%s: was never called so often\n", value);
    judge(status == 0 && reached && content, newer, value);
}

/* Functions in the order of their names; a run without a fault has to be clean. */
static unsigned count_calls(bool newer, int (*mode)(void), struct call *calls) {
    const int status = run_child(mode, NULL, NULL);
    const bool content = ze_cpu_is_content("faults");
    judge(status == 0 && content, newer, "a run without a fault");
    return status == 0 ? read_counts(calls) : 0;
}

/* What a device that hangs holds is a leak; anything else that is told is not to be. */
static bool was_misused(void) {
    char path[ZE_CPU_PATH], line[512];
    bool found = false;
    ze_cpu_report_path(path, "faults");
    FILE *report = fopen(path, "r");
    while (report && fgets(line, sizeof line, report)) {
        if (strncmp(line, "misuse", 6) != 0) continue;
        printf("%s", line);
        found = true;
    }
    if (report) fclose(report);
    return found;
}

/* A command of the last batch: those before it are known answers, which have more time. */
static void hang_once(bool newer, const struct call *calls, unsigned count) {
    char value[64];
    unsigned commands = 0;
    for (unsigned i = 0; i < count; i++)
        if (strcmp(calls[i].name, "command") == 0) commands = calls[i].count;
    (void)snprintf(value, sizeof value, "command@%u=5000", commands - 1);
    judge(run_child(hang, "ZE_CPU_HANG", value) == 0, newer, "a command that hangs");
    judge(!was_misused(), newer, "a command that hangs, and what it uses");
}

/* The copy engine beside the one that computes: three lists, and each of their calls fails once. */
static void fail_several(bool newer, bool all) {
    static const char *const calls[] = {"zeCommandListCreateImmediate", "zeCommandListAppendMemoryCopy",
                                        "zeCommandListAppendLaunchKernel", "zeCommandListAppendBarrier",
                                        "zeEventHostSynchronize"};
    struct call counted[MAX_CALLS];
    unsigned lists = 0;
    const unsigned count = count_calls(newer, several_by_device, counted);
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(counted[i].name, calls[0]) == 0) lists = counted[i].count;
        for (unsigned c = 0; c < sizeof calls / sizeof *calls; c++) {
            if (strcmp(counted[i].name, calls[c]) != 0) continue;
            fail_once(newer, work_at_several, "", calls[c], counted[i].count / 2 + 1, "7ffffffe");
            if (all) fail_once(newer, work_at_several, "", calls[c], counted[i].count / 2 + 1, "70000001");
        }
    }
    judge(lists == 3, newer, "several batches did not use the engine for copies");
}

/* What only an integrated device, only a kernel that does not build, or only a list that breaks off has called. */
static void fail_the_rest(bool newer) {
    struct call calls[MAX_CALLS];
    const unsigned count = count_calls(newer, answered_in_place, calls);
    for (unsigned i = 0; i < count; i++) {
        if (was_failed(calls[i].name)) continue;
        fail_once(newer, work_in_place, "", calls[i].name, 1, "70000001");
        fail_once(newer, work_in_place, "", calls[i].name, 1, "7ffffffe");
    }
    judge(was_failed("zeMemAllocShared"), newer, "an integrated device that shares no memory");
    for (unsigned n = 1; n <= 2; n++) fail_once(newer, nothing_builds, "", "zeModuleBuildLogGetString", n, "7ffffffe");
    fail_once(newer, nothing_builds, "", "zeModuleBuildLogGetString", 1, "70000001");
    if (!newer) return;
    fail_once(newer, work, "zeCommandListAppendLaunchKernel@1=7ffffffe", "zeCommandListHostSynchronize", 1, "70000001");
    fail_once(newer, work, "zeCommandListAppendLaunchKernel@1=7ffffffe", "zeCommandListHostSynchronize", 1, "7ffffffe");
}

/* Of a line of the sources: every function that is called, or looked up by its name. How many were never failed. */
static unsigned look_at_line(const regex_t *call, const char *line, unsigned *looked) {
    regmatch_t found[3];
    unsigned missed = 0;
    for (; regexec(call, line, 3, found, 0) == 0; line += found[2].rm_eo, ++*looked) {
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)(found[2].rm_eo - found[2].rm_so), line + found[2].rm_so);
        /* nobody waits for another's ticket by way of an executor: tests/unit/test_levelzero_backend fails it */
        if (was_failed(name) || strcmp(name, "zeEventQueryStatus") == 0) continue;
        printf("%s is called by the plugin and was never failed\n", name);
        missed++;
    }
    return missed;
}

/* All of the plugin's sources; a file that has no call of Level Zero's is fine, none that has one is not. */
static bool all_were_failed(void) {
    char pattern[ZE_CPU_PATH], line[512];
    glob_t files;
    regex_t call;
    unsigned missed = 0, looked = 0;
    (void)snprintf(pattern, sizeof pattern, "%s/plugins/levelzero/*.c", getenv("SVMX_TEST_SRCDIR"));
    if (glob(pattern, 0, NULL, &files) != 0) return false;
    if (regcomp(&call, "(^|[^A-Za-z_])(ze[A-Z][A-Za-z]*)[(\"]", REG_EXTENDED) != 0) return false;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        FILE *file = fopen(files.gl_pathv[i], "r");
        while (file && fgets(line, sizeof line, file)) missed += look_at_line(&call, line, &looked);
        if (file) fclose(file);
    }
    regfree(&call);
    globfree(&files);
    printf("%u calls in the sources of the plugin, %u of functions that were never failed\n", looked, missed);
    return looked > 40 && missed == 0;
}

/* In a configuration that is short of time, only what is worst. */
static void fail_all(bool newer, bool all) {
    struct call calls[MAX_CALLS];
    const unsigned count = count_calls(newer, answered_by_device, calls);
    for (unsigned i = 0; i < count; i++) {
        const unsigned later = calls[i].count / 2 + 1;
        fail_once(newer, work, "", calls[i].name, 1, "70000001");
        if (!all) continue;
        fail_once(newer, work, "", calls[i].name, 1, "7ffffffe");
        if (later == 1) continue;
        fail_once(newer, work, "", calls[i].name, later, "70000001");
        fail_once(newer, work, "", calls[i].name, later, "7ffffffe");
    }
    printf("%s loader: %u functions failed\n", newer ? "stand-in" : "real", count);
    judge(count > 20, newer, "hardly any function was counted");
    hang_once(newer, calls, count);
    fail_several(newer, all);
    fail_the_rest(newer);
}

int main(int argc, char **argv) {
    const bool newer = argc > 2, all = !getenv("SVMX_TEST_NO_OPENCL_CONTRACT");
    const char *missing = ze_cpu_missing();
    if (missing) {
        printf("skipped: %s\n0 passed, 0 failed, 1 skipped\n", missing);
        return 0;
    }
    load_ahead();
    if (newer) {
        passed = (unsigned)strtoul(argv[1], NULL, 10);
        failed = (unsigned)strtoul(argv[2], NULL, 10);
        if (getenv("SVMX_TEST_FAILED")) (void)snprintf(names, sizeof names, "%s", getenv("SVMX_TEST_FAILED"));
    } else {
        judge(run_child(answered_by_simd, "ZE_ENABLE_ALT_DRIVERS", "/no/such/driver.so") == 0, false,
              "no driver at all");
    }
    fail_all(newer, all);
    if (!newer) start_anew(); /* returns only if that cannot be */
    judge(newer, true, "the second loader was not tried");
    judge(all_were_failed(), newer, "what the plugin calls and what was failed differ");
    forget_cache();
    printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
