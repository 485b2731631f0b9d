/*
 * aside.c: see aside.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/aside.h"

#include "base/clock.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct svmx__aside_thread {
    pthread_t thread;
    pthread_mutex_t lock;    /* guards all below */
    pthread_cond_t changed;  /* any of it */
    void (*run)(void *user); /* NULL: nothing to do */
    void *user;
    bool ending, left; /* left: its caller has gone, and this is nobody's but the thread's */
};

/* Drivers may give the thread a signal stack of their own, as LLVM does. It ends without: who watches over stacks at its end, as
 * the address sanitizer does, finds what it left there. */
static void run_once(const struct svmx__aside_thread *thread) {
    stack_t before;
    const bool known = sigaltstack(NULL, &before) == 0;
    thread->run(thread->user);
    if (known) (void)sigaltstack(&before, NULL);
}

static void *stand_by(void *of) {
    struct svmx__aside_thread *thread = of;
    pthread_mutex_lock(&thread->lock);
    for (;;) {
        while (!thread->run && !thread->ending) pthread_cond_wait(&thread->changed, &thread->lock);
        if (thread->ending) break;
        pthread_mutex_unlock(&thread->lock);
        run_once(thread); /* run and user stay as they are until it is over */
        pthread_mutex_lock(&thread->lock);
        if (thread->left) break;
        thread->run = NULL;
        pthread_cond_signal(&thread->changed);
    }
    pthread_mutex_unlock(&thread->lock);
    while (thread->left) (void)pause(); /* not even its stack may go: the driver may know of it */
    return NULL;
}

/* Faults of its own are signals as well, and drivers may handle them. */
static sigset_t signals_of_others(void) {
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&set, own[i]);
    return set;
}

static void fini(struct svmx__aside_thread *thread) {
    pthread_cond_destroy(&thread->changed);
    pthread_mutex_destroy(&thread->lock);
    free(thread);
}

/* NULL: there is none to be had. */
static struct svmx__aside_thread *start(void) {
    const sigset_t others = signals_of_others();
    sigset_t before;
    struct svmx__aside_thread *thread = calloc(1, sizeof *thread);
    if (!thread) return NULL;
    pthread_mutex_init(&thread->lock, NULL); /* neither can fail with default attributes */
    pthread_cond_init(&thread->changed, NULL);
    pthread_sigmask(SIG_BLOCK, &others, &before);
    const int error = pthread_create(&thread->thread, NULL, stand_by, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error) {
        (void)pthread_setname_np(thread->thread, "svmx-aside");
        return thread;
    }
    fini(thread);
    return NULL;
}

/* Under the lock. false: the time is over. */
static bool await(struct svmx__aside_thread *thread, uint64_t limit_ns) {
    const struct timespec end = svmx__clock_deadline(limit_ns);
    int error = 0;
    while (thread->run && !error)
        error = pthread_cond_clockwait(&thread->changed, &thread->lock, CLOCK_MONOTONIC, &end);
    return !thread->run;
}

bool svmx__aside_call(struct svmx__aside *aside, void (*run)(void *user), void *user, uint64_t limit_ns) {
    if (!aside->thread) aside->thread = start();
    struct svmx__aside_thread *thread = aside->thread;
    if (!thread) {
        run(user);
        return true;
    }
    pthread_mutex_lock(&thread->lock);
    thread->run = run;
    thread->user = user;
    pthread_cond_signal(&thread->changed);
    const bool back = await(thread, limit_ns);
    thread->left = !back;
    pthread_mutex_unlock(&thread->lock);
    if (back) return true;
    (void)pthread_detach(thread->thread);
    aside->thread = NULL;
    return false;
}

void svmx__aside_end(struct svmx__aside *aside) {
    struct svmx__aside_thread *thread = aside->thread;
    if (!thread) return;
    pthread_mutex_lock(&thread->lock);
    thread->ending = true;
    pthread_cond_signal(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
    pthread_join(thread->thread, NULL);
    fini(thread);
    aside->thread = NULL;
}
