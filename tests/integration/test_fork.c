/*
 * test_fork.c: fork() in the program that embeds an executor: the child is refused with a status and a text, never hangs and
 * may open an executor of its own; the parent notices nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../sanitized.h"
#include "faults_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

/* Which step of the child failed; 0: none. It may not use Criterion, which is the parent's. */
typedef int (*child_fn)(void *user);

static void in_child(child_fn run, void *user) {
    fflush(stdout);
    const pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        alarm(60); /* a call that hangs is a failure, and no more */
        _exit(run(user));
    }
    int status = 0;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status), "it was ended by signal %d", WTERMSIG(status));
    cr_assert_eq(WEXITSTATUS(status), 0, "step %d", WEXITSTATUS(status));
}

struct scene {
    svmx_executor_t *executor;
    svmx_batch_t *fresh, *under_way;
};

static int expect_refusals(void *user) {
    struct scene *scene = user;
    svmx_batch_t *batch = NULL;
    struct svmx_device device = {.size = sizeof device};
    struct svmx_stats stats = {.size = sizeof stats};
    if (svmx_batch_create(scene->executor, &batch) != SVMX_ERR_CLOSED) return 1;
    if (svmx_run(scene->fresh) != SVMX_ERR_CLOSED) return 2;
    if (!strstr(svmx_batch_error(scene->fresh), "forked")) return 3;
    if (svmx_submit(scene->fresh, 0) != SVMX_ERR_CLOSED) return 4;
    if (svmx_poll(scene->under_way) != SVMX_ERR_CLOSED) return 5;
    if (svmx_wait(scene->under_way, UINT64_MAX) != SVMX_ERR_CLOSED) return 6;
    if (svmx_cancel(scene->under_way) != SVMX_ERR_CLOSED) return 7;
    if (svmx_device_count(scene->executor) != 0) return 8;
    if (svmx_device_get(scene->executor, 0, &device) != SVMX_ERR_CLOSED) return 9;
    if (svmx_stats_get(scene->executor, &stats) != SVMX_ERR_CLOSED) return 10;
    if (svmx_prewarm(scene->executor, SVMX_OP_VEC_ADD_F32, 1) != SVMX_ERR_CLOSED) return 11;
    if (svmx_device_reset(scene->executor, 0) != SVMX_ERR_CLOSED) return 12;
    svmx_batch_destroy(scene->under_way);
    svmx_batch_destroy(scene->fresh);
    svmx_close(scene->executor);
    return 0;
}

Test(fork, the_child_is_refused_and_the_parent_goes_on) {
    static struct trial trials[2];
    struct svmx_receipt receipt = {.size = sizeof receipt};
    fake_start();
    struct svmx_options options = fake_options();
    options.timeout_ms = 60000; /* the gate is held by the test, not by a sick device */
    struct scene scene = {.executor = open_with(&options)};
    cr_assert_eq(svmx_prewarm(scene.executor, SVMX_OP_VEC_ADD_F32, TRIAL_ITEMS), SVMX_OK);
    scene.fresh = batch_of(scene.executor, &trials[0]);
    scene.under_way = batch_of(scene.executor, &trials[1]);
    fake_gate(true);
    cr_assert_eq(svmx_submit(scene.under_way, 0), SVMX_OK);
    in_child(expect_refusals, &scene);
    cr_assert_eq(svmx_poll(scene.under_way), SVMX_BUSY, "the child took the parent's batch");
    fake_gate(false);
    cr_assert_eq(svmx_wait(scene.under_way, UINT64_MAX), SVMX_OK);
    cr_assert_eq(svmx_run(scene.fresh), SVMX_OK);
    cr_assert_eq(svmx_receipt_get(scene.fresh, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, 0);
    for (int i = 0; i < 2; i++) cr_assert(trial_is_right(&trials[i]));
    svmx_batch_destroy(scene.fresh);
    svmx_batch_destroy(scene.under_way);
    svmx_close(scene.executor);
    expect_all_returned();
}

static int open_its_own(void *user) {
    (void)user;
    struct svmx_options options = plain_options();
    struct trial trial;
    svmx_executor_t *executor;
    svmx_batch_t *batch;
    trial_fill(&trial, 7);
    if (svmx_open(&executor, &options, NULL) != SVMX_OK) return 1;
    if (svmx_batch_create(executor, &batch) != SVMX_OK) return 2;
    if (trial_add(&trial, batch) != SVMX_OK || svmx_run(batch) != SVMX_OK) return 3;
    svmx_batch_destroy(batch);
    svmx_close(executor);
    return trial_is_right(&trial) ? 0 : 4;
}

Test(fork, a_child_may_open_an_executor_of_its_own) {
    if (UNDER_THREAD_SANITIZER) cr_skip_test("the thread sanitizer ends a child that starts threads");
    struct svmx_options options = plain_options();
    svmx_executor_t *executor = open_with(&options);
    in_child(open_its_own, NULL);
    (void)run_trial(executor);
    svmx_close(executor);
}
