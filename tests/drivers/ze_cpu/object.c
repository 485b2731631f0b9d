/*
 * object.c: handles, the lock, and what is left at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define LIVE 0x7a656370u
#define DEAD 0xdeadbeefu

static const char *const kind_names[ZECPU_KINDS] = {"object", "driver",     "device", "context", "queue",     "list",
                                                    "fence",  "event pool", "event",  "module",  "build log", "kernel"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static struct zecpu_object *all; /* newest first */

/* Timeouts are of the monotonic clock, which nobody sets. */
__attribute__((constructor)) static void make_condition(void) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void zecpu_lock(void) { pthread_mutex_lock(&lock); }
void zecpu_unlock(void) { pthread_mutex_unlock(&lock); }
void zecpu_changed(void) { pthread_cond_broadcast(&changed); }

uint64_t zecpu_deadline(uint64_t timeout_ns) {
    const uint64_t now = zecpu_now_ns();
    return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

bool zecpu_wait(uint64_t deadline_ns) {
    const struct timespec until = {(time_t)(deadline_ns / 1000000000u), (long)(deadline_ns % 1000000000u)};
    if (deadline_ns == UINT64_MAX) return pthread_cond_wait(&changed, &lock) == 0;
    return zecpu_now_ns() < deadline_ns && pthread_cond_timedwait(&changed, &lock, &until) != ETIMEDOUT;
}

void zecpu_object_init(struct zecpu_object *object, enum zecpu_kind kind) {
    object->magic = LIVE;
    object->kind = kind;
}

void *zecpu_object_make(enum zecpu_kind kind, size_t bytes, struct zecpu_context *context,
                        struct zecpu_device *device) {
    struct zecpu_object *object = calloc(1, bytes);
    if (!object) {
        fprintf(stderr, "ze_cpu: out of memory\n");
        abort();
    }
    zecpu_object_init(object, kind);
    object->context = context;
    object->device = device;
    zecpu_lock();
    object->next = all;
    all = object;
    zecpu_unlock();
    return object;
}

void zecpu_object_retire(void *object) {
    zecpu_lock();
    ((struct zecpu_object *)object)->magic = DEAD;
    zecpu_unlock();
}

bool zecpu_object_check(const void *handle, enum zecpu_kind kind, const char *function) {
    const struct zecpu_object *object = handle;
    if (!object) {
        zecpu_misuse("%s: no %s: the handle is NULL", function, kind_names[kind]);
        return false;
    }
    zecpu_lock();
    const bool dead = object->magic == DEAD, good = object->magic == LIVE && object->kind == kind;
    zecpu_unlock();
    if (!good) zecpu_misuse("%s: the %s was %s", function, kind_names[kind], dead ? "destroyed before" : "never made");
    return good;
}

unsigned zecpu_object_count(const struct zecpu_context *context) {
    unsigned count = 0;
    zecpu_lock();
    for (const struct zecpu_object *object = all; object; object = object->next)
        if (object->magic == LIVE && object->context == context && object->kind != ZECPU_CONTEXT) count++;
    count += zecpu_memory_count(context);
    zecpu_unlock();
    return count;
}

__attribute__((destructor)) static void at_end(void) {
    unsigned counts[ZECPU_KINDS] = {0};
    for (const struct zecpu_object *object = all; object; object = object->next)
        if (object->magic == LIVE) counts[object->kind]++;
    for (int kind = ZECPU_CONTEXT; kind < ZECPU_KINDS; kind++)
        if (counts[kind]) zecpu_leak("%u x %s not destroyed", counts[kind], kind_names[kind]);
    zecpu_memory_leaks();
    zecpu_calls_write();
}
