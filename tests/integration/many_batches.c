/*
 * many_batches.c: a day's worth of batches takes no more memory than its first tenth: what the program has allocated and what of
 * it is in RAM are the same, but for a little, after a tenth of them and after all.
 *
 * On SIMD and on a device with memory of its own, of which one launch in some tens fails; batches that are made anew and
 * reused, run, submitted and cancelled, refused under a policy that nobody serves, with tasks that are refused. Every answer is
 * looked at.
 *
 * 30,000 batches; a million with SVMX_TEST_LONG, or SVMX_BATCHES. A sanitizer and valgrind have their own memory: there only
 * answers are looked at, of fewer batches. A plain program. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../sanitized.h"
#include "fake.h"

#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

/* FAIL_EVERY: 16 launches that go well take a failure back, and a device that failed thrice rests; so it never does. */
enum { MOST = 300, FAIL_EVERY = 80, ALLOCATED_ROOM = 64 * 1024, RESIDENT_ROOM = 2 * 1024 * 1024 };

static struct { unsigned long batches, answered, redone, refused, cancelled, wrong, lost; } count;

static svmx_executor_t *executor;
static float a[MOST], b[MOST], sum[MOST], product[MOST], total;
static unsigned ends; /* of the present batch: whoever waited for it sees it */

static void note_done(svmx_batch_t *batch, enum svmx_status status, void *user) {
    (void)batch, (void)status, (void)user;
    ends++;
}

static void complain(unsigned long *counter, const char *what) {
    if ((*counter)++ < 5) fprintf(stderr, "failed at batch %lu: %s\n", count.batches, what);
}

/* ---- memory ------------------------------------------------------------------------------------------------------------ */

struct memory {
    size_t allocated, resident;
};

static struct memory memory_now(void) {
    struct memory now = {0, 0};
    unsigned long all = 0, resident = 0;
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 info = mallinfo2();
    now.allocated = info.uordblks + info.hblkhd;
#endif
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &all, &resident) != 2) resident = 0;
    if (file) (void)fclose(file);
    now.resident = resident * (size_t)sysconf(_SC_PAGESIZE);
    return now;
}

/* ---- batches ----------------------------------------------------------------------------------------------------------- */

static size_t items_of(unsigned long number) { return 1 + number * 7 % MOST; }

static enum svmx_status fill(svmx_batch_t *batch, size_t items) {
    for (size_t i = 0; i < items; i++) sum[i] = product[i] = -1;
    total = -1;
    const struct svmx_arg arguments[] = {svmx_out(SVMX_F32, product, items), svmx_in(SVMX_F32, a, items),
                                         svmx_result_of(SVMX_F32, 0, 0)};
    enum svmx_status status = svmx_vec_add_f32(batch, sum, a, b, items);
    if (status == SVMX_OK) status = svmx_batch_add(batch, SVMX_OP_VEC_MUL_F32, arguments, 3);
    if (status == SVMX_OK) status = svmx_sum_f32(batch, &total, a, items);
    if (status == SVMX_OK) status = svmx_batch_on_done(batch, note_done, NULL);
    return status;
}

static bool is_right(size_t items) {
    float all = 0;
    for (size_t i = 0; i < items; i++) {
        if (sum[i] != a[i] + b[i] || product[i] != a[i] * (a[i] + b[i])) return false;
        all += a[i];
    }
    return total == all;
}

/* The next submits or waits of the device fail. */
static void fail_next(enum fake_call call, unsigned times) {
    pthread_mutex_lock(&fake.lock);
    memset(fake.fail, 0, sizeof fake.fail);
    fake.fail[call].from = fake.calls[call] + 1;
    fake.fail[call].count = times;
    fake.fail[call].status = SVMX_ERR_BACKEND;
    pthread_mutex_unlock(&fake.lock);
}

static enum svmx_status run(svmx_batch_t *batch, unsigned long number) {
    if (number % 4) return svmx_run(batch);
    enum svmx_status status = svmx_submit(batch, 0);
    if (status == SVMX_OK && number % 24 == 0) (void)svmx_cancel(batch);
    return status == SVMX_OK ? svmx_wait(batch, UINT64_MAX) : status;
}

static void judge(const svmx_batch_t *batch, enum svmx_status status, size_t items, bool may_fail) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    if (status == SVMX_OK) {
        count.answered++;
        if (!is_right(items)) complain(&count.wrong, "a wrong answer");
        if (svmx_receipt_get(batch, 0, &receipt) == SVMX_OK) count.redone += receipt.redone;
    } else if (status == SVMX_CANCELLED) {
        count.cancelled++;
    } else {
        count.refused++;
        if (!may_fail) complain(&count.lost, svmx_batch_error(batch));
    }
    if (ends != 1) complain(&count.lost, "it is not over exactly once");
}

/* A self-test that fails turns an operation off; so all are over before anything fails. */
static void warm_up(void) {
    static const uint32_t ops[] = {SVMX_OP_VEC_ADD_F32, SVMX_OP_VEC_MUL_F32, SVMX_OP_SUM_F32};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (svmx_prewarm(executor, ops[i], MOST) != SVMX_OK || svmx_prewarm(executor, ops[i], 1) != SVMX_OK) exit(2);
}

/* One batch; every third is made anew. */
static void one(svmx_batch_t **kept, unsigned long number) {
    const size_t items = items_of(number);
    const bool on_cpu = number % 2, gpu_only = number % 50 == 10;
    svmx_batch_t *batch = *kept;
    if (number % 3 == 0 && svmx_batch_create(executor, &batch) != SVMX_OK) exit(2);
    if (batch == *kept && svmx_batch_reset(batch) != SVMX_OK) complain(&count.lost, "it cannot be used again");
    if (number % 10 == 1 && svmx_batch_add(batch, UINT32_MAX, NULL, 0) == SVMX_OK)
        complain(&count.wrong, "an operation that there is not is taken");
    if (svmx_batch_set_policy(batch, on_cpu     ? SVMX_POLICY_CPU
                                     : gpu_only ? SVMX_POLICY_GPU
                                                : SVMX_POLICY_ORDER) != SVMX_OK)
        complain(&count.lost, "a policy is refused");
    if (fill(batch, items) != SVMX_OK) complain(&count.lost, "a task is refused");
    if (number % FAIL_EVERY == 10) /* twice: all levels in one submission, and one of them by itself */
        fail_next(number % (2 * FAIL_EVERY) == 10 ? FAKE_SUBMIT : FAKE_WAIT, gpu_only ? 2 : 1);
    count.batches++;
    ends = 0;
    judge(batch, run(batch, number), items, gpu_only);
    if (batch != *kept) svmx_batch_destroy(batch);
}

/* ---- verdict ----------------------------------------------------------------------------------------------------------- */

static unsigned passed, failed;
static void check(bool good, const char *what) {
    good ? passed++ : failed++;
    if (!good) printf("FAILED: %s\n", what);
}

static void ignore(void *user, enum svmx_log_level level, const char *text) { (void)user, (void)level, (void)text; }

static unsigned long batches_wanted(void) {
    const char *wish = getenv("SVMX_BATCHES");
    if (wish) return strtoul(wish, NULL, 10);
    if (UNDER_SANITIZER) return 3000;
    return getenv("SVMX_TEST_LONG") ? 1000000 : 30000;
}

static bool is_constant(const char *what, size_t tenth, size_t all, size_t room) {
    printf("%s: %zu bytes after a tenth, %zu after all\n", what, tenth, all);
    return all <= tenth + room;
}

int main(void) {
    const unsigned long batches = batches_wanted();
    struct memory tenth = {0, 0};
    svmx_batch_t *kept = NULL;
    for (size_t i = 0; i < MOST; i++) a[i] = (float)(i % 13), b[i] = (float)(i % 11);
    fake_start();
    fake.silent = true;
    struct svmx_options options = fake_options();
    options.backends = "fake,simd,stop";
    options.backend_path = getenv("SUPERVM_BACKEND_PATH");
    options.log = ignore;
    if (svmx_open(&executor, &options, NULL) != SVMX_OK || svmx_batch_create(executor, &kept) != SVMX_OK) return 2;
    warm_up();
    for (unsigned long i = 1; i <= batches; i++) {
        one(&kept, i);
        if (i == batches / 10) tenth = memory_now();
    }
    const struct memory all = memory_now();
    svmx_batch_destroy(kept);
    svmx_close(executor);
    printf("%lu batches: %lu answered, %lu launches redone, %lu refused under the policy gpu, %lu cancelled, %u "
           "instances\n",
           count.batches, count.answered, count.redone, count.refused, count.cancelled, fake.opens);
    check(count.wrong == 0 && count.lost == 0, "answers were wrong, or batches lost");
    check(count.answered + count.refused + count.cancelled == batches, "a batch has one end");
    check(count.redone > 0 && count.refused > 0, "nothing failed: it shows nothing");
    check(fake.memories == 0 && fake.pipelines == 0 && fake.open == NULL, "memory, pipelines or tickets are left");
    if (UNDER_SANITIZER || !all.allocated) { /* valgrind's allocator tells nothing */
        printf("%u passed, %u failed, 2 skipped\n", passed, failed);
        return failed != 0;
    }
    check(is_constant("allocated", tenth.allocated, all.allocated, ALLOCATED_ROOM), "what is allocated grows");
    check(is_constant("in RAM", tenth.resident, all.resident, RESIDENT_ROOM), "what is in RAM grows");
    printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
