/*
 * steady_state.c: a batch that is reused allocates nothing and makes no system call, on the SIMD path in the caller's
 * thread.
 *
 *   allocations    this program brings its own malloc, calloc, realloc, free and the rest, which count and pass on to
 *                  libc; the library, shared or not, and its plugins get them too
 *   system calls   a child process warms up, then forbids itself every call but write and exit (seccomp); the first one
 *                  that is made all the same is trapped and told to the parent by its number
 *
 * Both are shown to notice what they look for before anything else is believed. A plain program, because Criterion's
 * own processes allocate and talk. Needs the SIMD plugin (SUPERVM_BACKEND_PATH). Prints `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "count_allocations.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WARM_UP = 4, ROUNDS = 50 };

static unsigned passed, failed, skipped;

static void check(bool condition, const char *what, const char *detail) {
    if (condition)
        passed++;
    else
        failed++;
    printf("%s: %s%s%s\n", condition ? "ok" : "FAILED", what, *detail ? ": " : "", detail);
}

static void skip(const char *what, const char *why) {
    skipped++;
    printf("skipped: %s: %s\n", what, why);
}

/* ---- batches ------------------------------------------------------------------------------------------------ */

enum { VECTOR = 1024, LONG_VECTOR = 3 * 4096 + 7, MESSAGES = 64, MESSAGE = 100, TASKS = 1000, TINY = 16 };

/* All memory that the batches use, in one place that is never allocated. */
static struct {
    float a[LONG_VECTOR], b[LONG_VECTOR], out[VECTOR], product[VECTOR], sum, dot;
    uint8_t data[MESSAGES * MESSAGE], digests[32 * MESSAGES], digests2[32 * MESSAGES];
    uint64_t offsets[MESSAGES + 1];
    float rows_out[TASKS][TINY], rows_a[TASKS][TINY], rows_b[TASKS][TINY];
    struct {
        float a[TINY], out[TINY], b[TINY];
    } blocks[TASKS];
} memory;

static void fill_memory(void) {
    for (size_t i = 0; i < LONG_VECTOR; i++) memory.a[i] = (float)(i % 97), memory.b[i] = (float)(i % 89);
    for (size_t i = 0; i < sizeof memory.data; i++) memory.data[i] = (uint8_t)(i * 31);
    for (size_t i = 0; i <= MESSAGES; i++) memory.offsets[i] = i * MESSAGE;
    for (size_t i = 0; i < TASKS; i++)
        for (size_t j = 0; j < TINY; j++)
            memory.rows_a[i][j] = memory.blocks[i].a[j] = (float)i,
            memory.rows_b[i][j] = memory.blocks[i].b[j] = (float)j;
}

/* Each adds the tasks of one batch: 0 when all were taken. */
static int add_vector(svmx_batch_t *batch) { return svmx_vec_add_f32(batch, memory.out, memory.a, memory.b, VECTOR); }

static int add_sum_and_dot(svmx_batch_t *batch) { /* several blocks each: scratch from the pool */
    return svmx_sum_f32(batch, &memory.sum, memory.a, LONG_VECTOR) ||
           svmx_dot_f32(batch, &memory.dot, memory.a, memory.b, LONG_VECTOR);
}

static int add_keccak(svmx_batch_t *batch) {
    return svmx_keccak256(batch, memory.digests, memory.data, memory.offsets, MESSAGES);
}

static int add_mixed(svmx_batch_t *batch) { /* several parts, and a second level: the dot product of two results */
    uint32_t first = svmx_batch_task_count(batch);
    const struct svmx_arg dot[] = {svmx_out(SVMX_F32, &memory.dot, 1), svmx_result_of(SVMX_F32, first, 0),
                                   svmx_result_of(SVMX_F32, first + 1, 0)};
    return svmx_vec_add_f32(batch, memory.out, memory.a, memory.b, VECTOR) ||
           svmx_vec_mul_f32(batch, memory.product, memory.a, memory.b, VECTOR) ||
           svmx_sha256(batch, memory.digests2, memory.data, memory.offsets, MESSAGES) ||
           svmx_keccak256(batch, memory.digests, memory.data, memory.offsets, MESSAGES) ||
           svmx_sum_f32(batch, &memory.sum, memory.a, LONG_VECTOR) || svmx_batch_add(batch, SVMX_OP_DOT_F32, dot, 3);
}

static int add_rows(svmx_batch_t *batch) {
    int refused = 0;
    for (size_t i = 0; i < TASKS; i++)
        refused |= svmx_vec_add_f32(batch, memory.rows_out[i], memory.rows_a[i], memory.rows_b[i], TINY);
    return refused;
}

/* Backwards, outputs between inputs: only the exact check can tell that nothing overlaps. */
static int add_blocks(svmx_batch_t *batch) {
    int refused = 0;
    for (size_t i = TASKS; i-- > 0;)
        refused |= svmx_vec_add_f32(batch, memory.blocks[i].out, memory.blocks[i].a, memory.blocks[i].b, TINY);
    return refused;
}

static const struct scenario {
    const char *name;
    int (*add)(svmx_batch_t *batch);
    bool recorded;    /* once, and replayed */
    uint32_t threads; /* 1: nothing can be handed over, whatever its size; 0: as many as there are, the work is small */
} scenarios[] = {{"one vec_add_f32", add_vector, false, 0},
                 {"sum_f32 and dot_f32 with scratch", add_sum_and_dot, false, 0},
                 {"keccak256 of 64 messages", add_keccak, false, 1},
                 {"five operations and a chained one", add_mixed, false, 1},
                 {"five operations and a chained one, recorded", add_mixed, true, 1},
                 {"1,000 tasks", add_rows, false, 0},
                 {"1,000 tasks, recorded", add_rows, true, 0},
                 {"1,000 tasks, memory intermixed", add_blocks, false, 1}};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

/* ---- running them ------------------------------------------------------------------------------------------- */

struct session {
    svmx_executor_t *executor;
    svmx_batch_t *batch;
};

static bool open_session(struct session *session, uint32_t threads) {
    const struct svmx_options options = {.size = sizeof options, .backends = "+simd", .threads = threads};
    struct svmx_error error;
    if (svmx_open(&session->executor, &options, &error) != SVMX_OK) {
        printf("svmx_open: %s\n", error.text);
        return false;
    }
    return svmx_batch_create(session->executor, &session->batch) == SVMX_OK;
}

static void close_session(struct session *session) {
    svmx_batch_destroy(session->batch);
    svmx_close(session->executor);
}

/* Records at the first of all rounds. */
static bool replay_rounds(const struct session *session, const struct scenario *scenario, int rounds) {
    if (svmx_batch_task_count(session->batch) == 0 &&
        (scenario->add(session->batch) != 0 || svmx_batch_record(session->batch) != SVMX_OK))
        return false;
    for (int i = 0; i < rounds; i++)
        if (svmx_batch_replay(session->batch) != SVMX_OK) return false;
    return true;
}

static bool run_rounds(const struct session *session, const struct scenario *scenario, int rounds) {
    if (scenario->recorded) return replay_rounds(session, scenario, rounds);
    for (int i = 0; i < rounds; i++)
        if (svmx_batch_reset(session->batch) != SVMX_OK || scenario->add(session->batch) != 0 ||
            svmx_run(session->batch) != SVMX_OK)
            return false;
    return true;
}

/* Was it the SIMD backend, at the first attempt? Else steady state would be proved of something else. */
static bool ran_on_simd(const struct session *session) {
    uint32_t parts = svmx_receipt_count(session->batch);
    for (uint32_t i = 0; i < parts; i++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        struct svmx_device device = {.size = sizeof device};
        if (svmx_receipt_get(session->batch, i, &receipt) != SVMX_OK || receipt.redone != 0 ||
            svmx_device_get(session->executor, receipt.device, &device) != SVMX_OK ||
            strcmp(device.backend, "simd") != 0)
            return false;
    }
    return parts > 0;
}

static void test_allocations(const struct scenario *scenario) {
    struct session session;
    char what[128], detail[64] = "";
    (void)snprintf(what, sizeof what, "no allocation: %s", scenario->name);
    if (!open_session(&session, scenario->threads)) {
        check(false, what, "no session");
        return;
    }
    bool ran = run_rounds(&session, scenario, WARM_UP);
    count_from_here();
    ran = ran && run_rounds(&session, scenario, ROUNDS);
    unsigned count = counted();
    if (!ran)
        (void)snprintf(detail, sizeof detail, "a batch failed");
    else if (count)
        (void)snprintf(detail, sizeof detail, "%u calls in %d batches", count, ROUNDS);
    check(ran && count == 0 && ran_on_simd(&session), what, detail);
    close_session(&session);
}

/* ---- system calls ------------------------------------------------------------------------------------------- */

/* How a child ended, as its exit status. */
enum { CHILD_CLEAN = 0, CHILD_TRAPPED = 10, CHILD_NO_SECCOMP = 11, CHILD_BROKEN = 12 };

static int trap_fd; /* where the handler tells the number; set in a child before the filter */

/* May not return: that is a system call too. */
static void on_trap(int signal_number, siginfo_t *info, void *context) {
    (void)signal_number, (void)context;
    int number = info->si_syscall;
    ssize_t written = write(trap_fd, &number, sizeof number);
    _exit(written == (ssize_t)sizeof number ? CHILD_TRAPPED : CHILD_BROKEN);
}

/* From here on this thread may write and exit, and with `also` make that call; anything else ends in on_trap. The number
 * alone is looked at, not the architecture: only our own code runs here. */
static bool forbid_system_calls(long also) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)SYS_write, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)SYS_exit_group, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)also, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* What a child does, before the filter and under it. `scenario` is NULL for the two trials. */
struct trial {
    const struct scenario *scenario;
    void (*act)(void); /* under the filter, in place of a scenario */
    long also;         /* a call that is allowed; -1 = none */
};

static void act_getpid(void) { (void)syscall(SYS_getpid); }

static void act_clock(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
}

/* Never returns, and closes nothing: that would take system calls. */
_Noreturn static void child_main(const struct trial *trial) {
    struct session session;
    if (trial->scenario &&
        (!open_session(&session, trial->scenario->threads) || !run_rounds(&session, trial->scenario, WARM_UP)))
        _exit(CHILD_BROKEN);
    if (!forbid_system_calls(trial->also)) _exit(CHILD_NO_SECCOMP);
    if (trial->act) trial->act();
    _exit(!trial->scenario || run_rounds(&session, trial->scenario, ROUNDS) ? CHILD_CLEAN : CHILD_BROKEN);
}

/* Runs a child and answers how it ended; *number is the call that it was trapped in. */
static int run_child(const struct trial *trial, int *number) {
    int ends[2], status = 0;
    if (pipe(ends) != 0) return CHILD_BROKEN;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        trap_fd = ends[1];
        child_main(trial);
    }
    close(ends[1]);
    bool told = child > 0 && read(ends[0], number, sizeof *number) == (ssize_t)sizeof *number;
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return CHILD_BROKEN;
    if (WEXITSTATUS(status) == CHILD_TRAPPED && !told) return CHILD_BROKEN;
    return WEXITSTATUS(status);
}

/* Where the clock is not to be had without a system call, that one is the machine's, not ours. */
static long allowed_for_the_clock(void) {
    int number = -1;
    const struct trial trial = {.act = act_clock, .also = -1};
    if (run_child(&trial, &number) != CHILD_TRAPPED) return -1;
    printf("the clock of this machine takes system call %d, which is allowed below\n", number);
    return number;
}

static void test_system_calls(const struct scenario *scenario, long also) {
    char what[128], detail[64] = "";
    int number = -1;
    (void)snprintf(what, sizeof what, "no system call: %s", scenario->name);
    const struct trial trial = {.scenario = scenario, .also = also};
    int ended = run_child(&trial, &number);
    if (ended == CHILD_NO_SECCOMP) {
        skip(what, "seccomp is not permitted here");
        return;
    }
    if (ended == CHILD_TRAPPED)
        (void)snprintf(detail, sizeof detail, "system call %d was made", number);
    else if (ended != CHILD_CLEAN)
        (void)snprintf(detail, sizeof detail, "the child broke off");
    check(ended == CHILD_CLEAN, what, detail);
}

/* ---- main --------------------------------------------------------------------------------------------------- */

/* Each way to allocate is noticed, once each. */
static void test_that_allocations_are_noticed(void) {
    const unsigned count = count_seven();
    char detail[64];
    (void)snprintf(detail, sizeof detail, "%u of 7", count);
    check(count == 7, "allocations are noticed", detail);
}

static void test_that_system_calls_are_noticed(void) {
    int number = -1;
    const struct trial trial = {.act = act_getpid, .also = -1};
    int ended = run_child(&trial, &number);
    if (ended == CHILD_NO_SECCOMP)
        skip("system calls are noticed", "seccomp is not permitted here");
    else
        check(ended == CHILD_TRAPPED && number == SYS_getpid, "system calls are noticed", "");
}

static void test_all_allocations(void) {
    if (!COUNTS_ALLOCATIONS) {
        skip("allocations", "they cannot be counted in this build (a sanitizer, or not glibc)");
        return;
    }
    test_that_allocations_are_noticed();
    for (size_t i = 0; i < SCENARIOS; i++) test_allocations(&scenarios[i]);
}

static void test_all_system_calls(void) {
    if (UNDER_SANITIZER) {
        skip("system calls", "a sanitizer makes its own");
        return;
    }
    test_that_system_calls_are_noticed();
    long also = allowed_for_the_clock();
    for (size_t i = 0; i < SCENARIOS; i++) test_system_calls(&scenarios[i], also);
}

/* A build without the SIMD plugin has nothing to prove here. One that is there and does not load is a failure. */
static bool has_what_it_proves(void) {
    const struct svmx_options options = {.size = sizeof options, .backends = "+simd"};
    struct svmx_error error;
    svmx_executor_t *executor;
    enum svmx_status status = svmx_open(&executor, &options, &error);
    if (status == SVMX_OK) svmx_close(executor);
    if (status == SVMX_ERR_UNKNOWN) skip("all", error.text);
    return status != SVMX_ERR_UNKNOWN;
}

int main(void) {
    fill_memory();
    if (!has_what_it_proves()) {
        printf("0 passed, 0 failed, %u skipped\n", skipped);
        return 0;
    }
    test_all_allocations();
    test_all_system_calls();
    printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
    return failed == 0 ? 0 : 1;
}
