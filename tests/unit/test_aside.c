/*
 * test_aside.c: calls in a thread aside: they run one after another in one thread, one that is late is left there with what it
 * has, and the thread takes no signals of the program's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/aside.h"

#include "base/clock.h"
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define LONG_NS (600 * SVMX__NS_PER_S)

struct call {
    atomic_bool held, began, ended;
    pthread_t thread;
    bool takes_term, takes_fpe;
    char name[16];
};

static void run(void *user) {
    struct call *call = user;
    sigset_t blocked;
    call->thread = pthread_self();
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    call->takes_term = !sigismember(&blocked, SIGTERM);
    call->takes_fpe = !sigismember(&blocked, SIGFPE);
    (void)pthread_getname_np(call->thread, call->name, sizeof call->name);
    atomic_store(&call->began, true);
    while (atomic_load(&call->held)) (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    atomic_store(&call->ended, true);
}

Test(aside, calls_run_one_after_another_in_one_thread) {
    struct svmx__aside aside = {NULL};
    struct call first = {.held = false}, second = {.held = false};
    cr_assert(svmx__aside_call(&aside, run, &first, LONG_NS));
    cr_assert(first.ended);
    cr_assert(svmx__aside_call(&aside, run, &second, LONG_NS));
    cr_assert(second.ended);
    cr_assert(pthread_equal(first.thread, second.thread));
    cr_assert_not(pthread_equal(first.thread, pthread_self()));
    cr_assert_not(first.takes_term, "signals are the program's");
    cr_assert(first.takes_fpe, "a driver may handle what it brings about itself");
    cr_assert_str_eq(first.name, "svmx-aside");
    svmx__aside_end(&aside);
    cr_assert_null(aside.thread);
}

/* Static: it is that thread's for ever. */
Test(aside, one_that_is_late_is_left_and_the_next_has_another_thread, .timeout = 60) {
    static struct call late = {.held = true};
    struct svmx__aside aside = {NULL};
    struct call next = {.held = false};
    cr_assert_not(svmx__aside_call(&aside, run, &late, SVMX__NS_PER_MS));
    cr_assert_null(aside.thread);
    cr_assert(svmx__aside_call(&aside, run, &next, LONG_NS));
    cr_assert(atomic_load(&late.began));
    cr_assert_not(atomic_load(&late.ended));
    cr_assert_not(pthread_equal(late.thread, next.thread));
    atomic_store(&late.held, false); /* it comes back, and harms nobody */
    while (!atomic_load(&late.ended)) (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    svmx__aside_end(&aside);
}

Test(aside, ends_without_a_call_and_begins_again) {
    struct svmx__aside aside = {NULL};
    svmx__aside_end(&aside);
    for (int i = 0; i < 3; i++) {
        struct call call = {.held = false};
        cr_assert(svmx__aside_call(&aside, run, &call, LONG_NS));
        svmx__aside_end(&aside);
    }
    svmx__aside_end(&aside);
}
