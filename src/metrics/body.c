/*
 * body.c: the texts behind the paths. Each is made when somebody asks, and stands for all who ask within the next moment:
 * so that no number of requests makes the executor's machine busy with writing texts. See server.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)
enum { RECEIPTS = 256, POINTS = 4096, LINE = 4096 };

/* ---- a text that grows ------------------------------------------------------------------------------------------- */

struct text {
    char *at;
    size_t bytes, room;
    bool failed; /* no memory: it is dropped as a whole */
};

static void append(void *user, const char *piece, size_t bytes) {
    struct text *text = user;
    if (text->failed || text->bytes + bytes > text->room) {
        const size_t room = 2 * (text->bytes + bytes);
        char *grown = text->failed ? NULL : realloc(text->at, room);
        text->failed = !grown;
        if (!grown) return;
        text->at = grown;
        text->room = room;
    }
    memcpy(text->at + text->bytes, piece, bytes);
    text->bytes += bytes;
}

SVMX_PRINTF(2, 3) static void add(struct text *text, const char *format, ...) {
    char line[512];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (length > 0) append(text, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* [operation, device, units, samples, median, tenth, ninetieth percentile in ns] */
static enum svmx_status curves(struct svmx_metrics *metrics, struct text *text) {
    struct svmx_curve_point *points = calloc(POINTS, sizeof *points);
    size_t count = 0;
    if (!points) return SVMX_ERR_MEMORY;
    points->size = sizeof *points;
    const enum svmx_status status = svmx_curves_read(metrics->executor, points, POINTS, &count);
    add(text, "{\"columns\":[\"op\",\"device\",\"units\",\"samples\",\"ns\",\"low_ns\",\"high_ns\"],\n\"points\":[");
    for (size_t i = 0; i < count && i < POINTS; i++)
        add(text, "%s[%u,%u,%llu,%u,%.0f,%.0f,%.0f]", i ? ",\n" : "", points[i].op, points[i].device,
            (unsigned long long)points[i].units, points[i].samples, points[i].ns, points[i].low_ns, points[i].high_ns);
    add(text, "]}\n");
    free(points);
    return status;
}

typedef enum svmx_status (*read_fn)(svmx_executor_t *executor, uint64_t *from, struct svmx_receipt *receipts,
                                    size_t capacity, size_t *count);

static enum svmx_status receipts(struct svmx_metrics *metrics, struct text *text, read_fn read, uint64_t from) {
    struct svmx_receipt *list = calloc(RECEIPTS, sizeof *list);
    size_t count = 0, length;
    char line[LINE];
    if (!list) return SVMX_ERR_MEMORY;
    list->size = sizeof *list;
    const enum svmx_status status = read(metrics->executor, &from, list, RECEIPTS, &count);
    for (size_t i = 0; i < count; i++) {
        if (svmx_receipt_json(metrics->executor, &list[i], line, sizeof line, &length) != SVMX_OK) continue;
        append(text, line, length);
        append(text, "\n", 1);
    }
    free(list);
    return status;
}

static enum svmx_status last_receipts(struct svmx_metrics *metrics, struct text *text) {
    struct svmx_stats stats = {.size = sizeof stats};
    const enum svmx_status status = svmx_stats_get(metrics->executor, &stats);
    if (status != SVMX_OK) return status;
    return receipts(metrics, text, svmx_receipts_read, stats.receipts > RECEIPTS ? stats.receipts - RECEIPTS : 0);
}

/* There is always somebody who computes: the reference code. So a device that may not is no reason to restart anything. */
static enum svmx_status health(struct svmx_metrics *metrics, struct text *text) {
    struct svmx_device device = {.size = sizeof device};
    enum svmx_status status;
    for (uint32_t i = 0; (status = svmx_device_get(metrics->executor, i, &device)) == SVMX_OK; i++)
        if (!device.usable)
            add(text, "degraded: %s:%u (%s) has no work: %s\n", device.backend, device.index, device.name,
                device.health_reason);
    if (!text->bytes) add(text, "ok\n");
    return status == SVMX_ERR_UNKNOWN ? SVMX_OK : status;
}

static enum svmx_status write_body(struct svmx_metrics *metrics, enum metrics_body body, struct text *text) {
    switch (body) {
    case METRICS_PROMETHEUS: return svmx_stats_write(metrics->executor, SVMX_STATS_PROMETHEUS, append, text);
    case METRICS_STATS: return svmx_stats_write(metrics->executor, SVMX_STATS_JSON, append, text);
    case METRICS_CURVES: return curves(metrics, text);
    case METRICS_RECEIPTS: return last_receipts(metrics, text);
    case METRICS_FALLBACKS: return receipts(metrics, text, svmx_fallbacks_read, 0);
    case METRICS_HEALTH: return health(metrics, text);
    case METRICS_BODIES: break;
    }
    return SVMX_ERR_ARGUMENT;
}

/* ---- kept for a moment ------------------------------------------------------------------------------------------- */

static const struct {
    const char *type;
    uint64_t good_ns;
} kinds[METRICS_BODIES] = {
    [METRICS_PROMETHEUS] = {"text/plain; version=0.0.4; charset=utf-8", 100 * NS_PER_MS},
    [METRICS_STATS] = {"application/json", 100 * NS_PER_MS},
    [METRICS_CURVES] = {"application/json", 1000 * NS_PER_MS},
    [METRICS_RECEIPTS] = {"application/x-ndjson", 250 * NS_PER_MS},
    [METRICS_FALLBACKS] = {"application/x-ndjson", 250 * NS_PER_MS},
    [METRICS_HEALTH] = {"text/plain; charset=utf-8", 100 * NS_PER_MS},
};

struct MHD_Response *metrics_body(struct svmx_metrics *metrics, enum metrics_body body) {
    struct metrics_cached *cached = &metrics->cached[body];
    const uint64_t now_ns = metrics_now_ns();
    if (cached->response && now_ns < cached->end_ns) return cached->response;
    struct text text = {0};
    struct MHD_Response *made = NULL;
    if (write_body(metrics, body, &text) == SVMX_OK && !text.failed)
        made = metrics_response(kinds[body].type, text.at, text.bytes, true);
    if (!made) free(text.at);
    if (cached->response) MHD_destroy_response(cached->response); /* those who are being sent it have it still */
    cached->response = made;
    cached->end_ns = now_ns + kinds[body].good_ns;
    return made;
}
