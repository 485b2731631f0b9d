/*
 * test_opening.c: a driver that hangs while an executor is opened: svmx_open returns, the backend is named as one that does not
 * answer, the others serve, and a call that comes back after all finds nothing that it could harm.
 *
 * What such a call holds stays allocated on purpose: a suite of its own, without the leak checker. A test that would wait for
 * the driver waits for ever, and the runner ends it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "faults_fixture.h"

#include <errno.h>

SVMX_EXPORT int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

enum { PATIENCE_MS = 100 };

static atomic_bool no_threads;
static atomic_uint lines;
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *), void *user);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *), void *user);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *), void *user) {
    return atomic_load(&no_threads) ? EAGAIN : __real_pthread_create(thread, attributes, main, user);
}

static void count_line(void *user, enum svmx_log_level level, const char *text) {
    (void)user, (void)level, (void)text;
    atomic_fetch_add(&lines, 1);
}

static struct svmx_options impatient(const char *backends) {
    struct svmx_options options = fake_options();
    options.backends = backends;
    options.patience_ms = PATIENCE_MS;
    options.log = count_line;
    options.log_level = SVMX_LOG_DEBUG;
    return options;
}

static struct svmx_load_entry entry_of(svmx_executor_t *executor, const char *name) {
    struct svmx_load_entry entry = {.size = sizeof entry};
    for (uint32_t i = 0; i < svmx_load_report_count(executor); i++) {
        cr_assert_eq(svmx_load_report_get(executor, i, &entry), SVMX_OK);
        if (strcmp(entry.name, name) == 0) return entry;
    }
    cr_assert_fail("no backend %s in the report", name);
    return entry;
}

/* The driver comes back when everything is over. Under the address sanitizer it must not touch what is gone; nor may it say
 * anything to a program that has closed its executor. */
static void come_back_late(void) {
    const struct timespec moment = {0, 50000000};
    const unsigned before = atomic_load(&lines);
    fake_stick(0);
    (void)nanosleep(&moment, NULL);
    cr_assert_eq(atomic_load(&lines), before, "a driver that was left alone wrote to the log");
}

static void open_with_stuck(unsigned stuck, const char *call) {
    fake_start();
    const struct svmx_options options = impatient("fake,stop");
    fake_stick(stuck);
    svmx_executor_t *executor = open_with(&options);
    const struct svmx_load_entry entry = entry_of(executor, "fake");
    cr_assert_eq(fake_count(&fake.stuck_calls), 1);
    cr_assert_eq(entry.verdict, SVMX_REFUSED);
    cr_assert_eq(entry.status, SVMX_TIMEOUT);
    cr_assert_not_null(strstr(entry.reason, "does not answer"), "'%s'", entry.reason);
    cr_assert_not_null(strstr(entry.reason, call), "'%s'", entry.reason);
    cr_assert_eq(svmx_device_count(executor), 1, "a device of it is used");
    cr_assert_eq(run_trial(executor).device, 0);
    svmx_close(executor);
    cr_assert_eq(fake_count(&fake.closes), 0, "an instance in a call was closed");
    come_back_late();
}

Test(opening, a_driver_that_hangs_in_open, .timeout = 60) { open_with_stuck(FAKE_STUCK_OPEN, "open "); }
Test(opening, a_driver_that_hangs_when_it_is_asked_for_a_device, .timeout = 60) {
    open_with_stuck(FAKE_STUCK_INFO, "device_info of device 0");
}
Test(opening, devices_that_it_told_of_before_are_not_used, .timeout = 60) {
    open_with_stuck(FAKE_STUCK_END, "device_info of device 1");
}

/* The next backend has a thread of its own. */
Test(opening, others_are_opened_as_ever, .timeout = 60) {
    fake_start();
    struct svmx_options options = impatient("fake,twin,stop");
    options.static_plugins = fake_and_twin;
    options.static_plugin_count = 2;
    fake_stick(FAKE_STUCK_OPEN);
    fake.stuck_once = true;
    svmx_executor_t *executor = open_with(&options);
    cr_assert_eq(entry_of(executor, "fake").verdict, SVMX_REFUSED);
    cr_assert_eq(entry_of(executor, "twin").verdict, SVMX_LOADED);
    cr_assert_eq(run_trial(executor).device, 0);
    cr_assert_str_eq(device_at(executor, 0).backend, "twin");
    svmx_close(executor);
    cr_assert_eq(fake_count(&fake.closes), 1);
    come_back_late();
}

static void expect_error(const struct svmx_options *options, enum svmx_status status, const char *text) {
    svmx_executor_t *executor = NULL;
    struct svmx_error error = {SVMX_OK, ""};
    cr_assert_eq(svmx_open(&executor, options, &error), status, "%s", error.text);
    cr_assert_null(executor);
    cr_assert_not_null(strstr(error.text, text), "%s", error.text);
}

Test(opening, one_that_is_demanded_is_an_error, .timeout = 60) {
    fake_start();
    const struct svmx_options options = impatient("+fake,stop");
    fake_stick(FAKE_STUCK_OPEN);
    expect_error(&options, SVMX_ERR_BACKEND, "does not answer");
    fake_stick(FAKE_STUCK_INFO);
    expect_error(&options, SVMX_ERR_BACKEND, "does not answer");
    come_back_late();
}

/* What was opened is closed again, and that hangs. */
Test(opening, an_error_and_a_driver_that_hangs_in_close, .timeout = 60) {
    fake_start();
    const struct svmx_options options = impatient("fake,+fake:gpu7,stop");
    fake_stick(FAKE_STUCK_CLOSE);
    expect_error(&options, SVMX_ERR_UNKNOWN, "demands");
    cr_assert_eq(fake_count(&fake.stuck_calls), 1);
    come_back_late();
}

/* Nobody can watch then: an error in the end, since a device needs threads, but no crash. */
Test(opening, without_threads_it_is_an_error) {
    fake_start();
    const struct svmx_options options = impatient("fake,stop");
    atomic_store(&no_threads, true);
    expect_error(&options, SVMX_ERR_SYSTEM, "thread");
    atomic_store(&no_threads, false);
    cr_assert_eq(fake.opens, fake.closes);
}

/* A driver that does answer: nothing is left of the thread that asked it. */
Test(opening, a_driver_that_answers_in_time_is_as_ever) {
    fake_start();
    const struct svmx_options options = impatient("fake,stop");
    svmx_executor_t *executor = open_with(&options);
    cr_assert_eq(entry_of(executor, "fake").verdict, SVMX_LOADED);
    cr_assert_str_eq(entry_of(executor, "fake").reason, "ready");
    cr_assert_eq(run_trial(executor).device, 0);
    svmx_close(executor);
    expect_all_returned();
}

/* A plugin that does not know its last device. */
Test(opening, devices_without_end, .timeout = 60) {
    fake_start();
    const struct svmx_options options = impatient("fake,stop");
    fake.endless = true;
    svmx_executor_t *executor = open_with(&options);
    cr_assert_eq(svmx_device_count(executor), 128 + 1);
    cr_assert_not_null(strstr(entry_of(executor, "fake").reason, "more than 128 devices"), "'%s'",
                       entry_of(executor, "fake").reason);
    (void)run_trial(executor);
    svmx_close(executor);
    expect_all_returned();
}
