/*
 * check_state.h: what the check plugin knows of its instance, how it complains, and how scripted faults come about.
 *
 * Included by check.c, which is one object: all of it is static.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CHECK_STATE_H
#define CHECK_STATE_H

#include "check_script.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum {
    MAX_DEVICES = 8,
    MAX_PARAMS = 16,
    ALIGNMENT = 256, /* also the length of a canary, so that data stays aligned */
    CANARY = 0xc5,
    DIRT = 0xa5,
    MAX_IN_FLIGHT = 8
};
#define MEMORY_BYTES    (UINT64_C(256) << 20)
#define MAX_ALLOC_BYTES (UINT64_C(64) << 20)
#define MEMORY_MAGIC    UINT64_C(0x59524f4d454d4b43)
#define PIPELINE_MAGIC  UINT64_C(0x45504950454b4843)

struct svmx_memory {
    uint64_t magic, bytes;
    uint32_t device, usage, kind;
    uint8_t *block; /* canary, data, canary; NULL for an import */
    uint8_t *data;
};

struct svmx_pipeline {
    uint64_t magic;
    uint32_t device, param_count, scratch_bytes_per_unit;
    char op[64];
    bool scalar[MAX_PARAMS], output[MAX_PARAMS];
};

struct ticket {
    struct ticket *next; /* in the order of submission, of all devices */
    uint64_t id, number; /* number: of the device's submissions */
    uint32_t device;
    struct svmx_command *commands;
    size_t count;
    uint64_t *after;
    size_t after_count;
    uint64_t ready_ns;
    bool hangs, polled;
    bool done; /* under the backend's lock */
    enum svmx_status status;
    struct svmx_timing timing;
};

struct device {
    char name[64];
    struct check_script script;
    atomic_uint_fast64_t calls[CHECK_CALLS];
    atomic_bool lost;
    atomic_uint_fast64_t memory_bytes;
    atomic_int memories, pipelines;
    bool has_submitter; /* with `submitter`, under the backend's lock */
    pthread_t submitter;
};

struct backend {
    const struct svmx_host *host;
    struct device devices[MAX_DEVICES];
    uint32_t device_count;
    pthread_mutex_t lock; /* guards tickets, next_ticket and what is marked so */
    struct ticket *tickets;
    uint64_t next_ticket;
};

/* ---- complaints and scripted faults ----------------------------------------------------------------------- */

/* One line to the core; false, so that a check reads `return complain(...)`. */
SVMX_PRINTF(2, 3) static bool complain(const struct backend *backend, const char *format, ...) {
    char line[256] = "check: ";
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line + 7, sizeof line - 7, format, args);
    va_end(args);
    backend->host->log(backend->host, SVMX_LOG_ERROR, line);
    return false;
}

static void sleep_ns(uint64_t ns) {
    struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    while (nanosleep(&time, &time) != 0) continue;
}

static const struct check_rule *rule_at(const struct device *device, enum check_call call, uint64_t number) {
    for (uint32_t i = 0; i < device->script.rule_count; i++) {
        const struct check_rule *rule = &device->script.rules[i];
        if (rule->call == call && (rule->number == 0 || rule->number == number)) return rule;
    }
    return NULL;
}

static enum svmx_status rule_status(const struct backend *backend, struct device *device,
                                    const struct check_rule *rule) {
    if (!rule) return SVMX_OK;
    if (rule->effect == CHECK_BLOCK) sleep_ns(CHECK_BLOCK_NS);
    while (rule->effect == CHECK_STUCK) sleep_ns(CHECK_BLOCK_NS);
    if (rule->effect == CHECK_ABORT) abort();
    if (rule->effect == CHECK_KILL) (void)raise(SIGKILL);
    if (rule->effect != CHECK_FAIL) return SVMX_OK;
    if (rule->status == SVMX_ERR_DEVICE_LOST) atomic_store(&device->lost, true);
    if (rule->status < 0) (void)complain(backend, "%s: told to fail with status %d", device->name, (int)rule->status);
    return rule->status;
}

/* Counts a call and says what the script has for it. `number` and `rule` may be NULL. */
static enum svmx_status fate(const struct backend *backend, struct device *device, enum check_call call,
                             uint64_t *number, const struct check_rule **rule) {
    uint64_t counted = atomic_fetch_add(&device->calls[call], 1) + 1;
    const struct check_rule *found = rule_at(device, call, counted);
    if (number) *number = counted;
    if (rule) *rule = found;
    if (atomic_load(&device->lost)) {
        (void)complain(backend, "%s: the device is lost", device->name);
        return SVMX_ERR_DEVICE_LOST;
    }
    return rule_status(backend, device, found);
}

static struct device *device_at(struct backend *backend, const char *call, uint32_t device) {
    if (device < backend->device_count) return &backend->devices[device];
    (void)complain(backend, "%s: no device %u", call, (unsigned)device);
    return NULL;
}

/* One submitter thread a device. */
static bool thread_ok(struct backend *backend, struct device *device, const char *call) {
    pthread_mutex_lock(&backend->lock);
    if (!device->has_submitter) {
        device->has_submitter = true;
        device->submitter = pthread_self();
    }
    bool same = pthread_equal(device->submitter, pthread_self());
    pthread_mutex_unlock(&backend->lock);
    return same || complain(backend, "%s: %s from a second thread", device->name, call);
}

#endif
