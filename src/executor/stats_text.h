/*
 * stats_text.h: all counters of an executor as text. stats_text.c reads them, stats_json.c and stats_prometheus.c write.
 *
 * Counters are read through the calls that everybody has (svmx_stats_get and so on), so a text cannot say what they do not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_STATS_TEXT_H
#define SVMX_EXECUTOR_STATS_TEXT_H

#include "base/out.h"
#include "executor/executor.h"

enum { SVMX__STATS_DEVICES = 32 };

/* What is read once for a text. The rest, by operation and device, is read when it is written. */
struct svmx__stats_view {
    const struct svmx_executor *executor;
    struct svmx_stats stats;
    uint32_t device_count; /* the first ones: routing has fewer */
    struct svmx_device devices[SVMX__STATS_DEVICES];
    uint64_t start_ns;             /* when the executor was opened, since 1970 */
    uint32_t used[SVMX__OP_LIMIT]; /* bit d: the operation of that number was computed by device d, or failed there */
};

/* A device as SUPERVM_BACKENDS names it: "opencl:0". */
struct svmx__device_label {
    char line[48];
};
struct svmx__device_label svmx__device_label(const struct svmx_device *device);

/* "cpu", "gpu" and so on, and how far it is trusted. */
const char *svmx__device_kind_word(uint32_t kind);

/* The health of a device: the one place that knows. */
enum { SVMX__HEALTH_WORDS = 5 };
struct svmx__device_health {
    const char *state;  /* one of svmx__health_words */
    const char *reason; /* "" while it is healthy */
    uint32_t strikes, quarantined;
};
extern const char *const svmx__health_words[SVMX__HEALTH_WORDS];
struct svmx__device_health svmx__device_health(const struct svmx_device *device);

/* How much of what a device has is in use: words for enum svmx_load. */
enum { SVMX__LOAD_WORDS = 3 };
extern const char *const svmx__load_words[SVMX__LOAD_WORDS];
const char *svmx__load_word(uint32_t load);

void svmx__stats_json(const struct svmx__stats_view *view, struct svmx__out *out);
void svmx__stats_prometheus(const struct svmx__stats_view *view, struct svmx__out *out);

#endif
