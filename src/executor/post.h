/*
 * post.h: the threads that call drivers, and what becomes of one that does not come back.
 *
 * A submitter, a builder and whoever closes have a post each. It says since when a call of a plugin is under way, and what
 * the thread has in hand. One that is overdue is given up: by one compare-and-swap, whose other side is the return from the
 * call. Whoever loses it, the thread or the one that looked, leaves all alone:
 *
 *   the thread returns first    it goes on, and was late
 *   it is given up first        it never leaves its post: if the driver comes back the thread sleeps for ever. What the
 *                               driver was given stays as it is: its instance, its memory, the stack of the thread. Another
 *                               thread takes the queue, in which is what it had in hand, too, and has that redone elsewhere.
 *
 * Who looks: a thread of the executor's own, at a fraction of the patience, while a device has a driver; no call of the program
 * need do so, and none is held up by it. It computes nothing itself, unless the system has no other thread to give. Once that is stopped, whoever closes. Calls of devices that work in host memory are not
 * watched: these compute in the call, for as long as it takes. Calls while an executor is opened are made aside: registry.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_POST_H
#define SVMX_EXECUTOR_POST_H

#include "executor/batch.h"

struct svmx_executor;

/* Which one of the plugin's, and for which operation, for whoever tells that it did not return. Texts that stay. */
struct svmx__call {
    const char *name, *op; /* op: NULL if it has to do with none */
};

struct svmx__post {
    _Atomic uint64_t due_ns; /* 0: in no call; GONE: given up; else when a call is overdue. See above */
    struct svmx__life *life; /* whose instance the call is of; NULL: of one that no device has. Before due_ns */
    struct svmx__call call;  /* likewise */
    struct svmx__work *held; /* in hand, the last first */
    struct svmx_executor *executor;
    void *(*main)(void *user);
    void *user;
    char name[16];
    pthread_t thread;
};

/* Starts a thread at a post: main(user). 0, or the error number of pthread. */
int svmx__post_open(struct svmx_executor *executor, void *(*main)(void *user), void *user, const char *name,
                    struct svmx__post **post);
/* Waits for a while for the thread to end, and frees the post then. false: it has not. */
bool svmx__post_join(struct svmx__post *post);
/* Gives a post up if its call is overdue: it and its thread are nobody's from then on. */
bool svmx__post_leave(struct svmx__post *post);

/* That of the calling thread; NULL: it has none. */
const struct svmx__post *svmx__post_mine(void);
/* Of the calling thread, if it has a post; else they do nothing. Work is held from the moment at which the thread has it
 * until nothing but its end is left to be told. */
void svmx__post_hold(struct svmx__work *work);
void svmx__post_drop(struct svmx__work *work);
/* A call for a part, which measurements of copies are, too: without an operation. */
static inline struct svmx__call svmx__call_of(const struct svmx__part *part, const char *name) {
    return (struct svmx__call){name, part->op ? part->op->name : NULL};
}
/* Around a call of a plugin that may take `allowed_ns` by what it was asked for. End does not return to a thread that was
 * given up. */
void svmx__call_begin(struct svmx__life *life, struct svmx__call call, uint64_t allowed_ns);
void svmx__call_end(void);
/* What a call is allowed that compiles, or opens a driver: with the patience that all have six times that. */
uint64_t svmx__first_ns(const struct svmx_executor *executor);
/* The same for a launch: that which is the first of its size may compile; where the host's cores compute it is the scheduler
 * that decides when a call ends. Else 0. */
uint64_t svmx__launch_ns(const struct svmx__part *part);

/* Looks at all submitters and builders. Takes the time of a few loads, unless it finds one. One thread at a time: that which
 * watches, or whoever closes. */
void svmx__posts_look(struct svmx_executor *executor);
/* The thread that watches; there is none, and all is well, where no device has a driver. false: there is no thread to be had.
 * Stop is safe without a start. */
bool svmx__watch_start(struct svmx_executor *executor);
void svmx__watch_stop(struct svmx_executor *executor);
/* Runs `unmake`, which calls plugins, in a thread at a post. false: it was given up, and holds what is left. */
bool svmx__post_unmake(struct svmx_executor *executor, void (*unmake)(struct svmx_executor *executor));

#endif
