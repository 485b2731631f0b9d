/*
 * stats_json.c: all counters as one JSON document. docs/WATCHING.md has its fields. See stats_text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/stats_text.h"
#include "executor/words.h"

#include <inttypes.h>

/* A value follows another one: every object and array starts with none. */
struct json {
    struct svmx__out *out;
    bool more;
};

static void key(struct json *json, const char *name) {
    svmx__out_add(json->out, "%s\"%s\":", json->more ? "," : "", name);
    json->more = true;
}

/* `name` is NULL inside an array. */
static void open(struct json *json, const char *name, char kind) {
    if (name)
        key(json, name);
    else
        svmx__out_add(json->out, "%s", json->more ? ",\n" : "");
    svmx__out_add(json->out, "%c", kind);
    json->more = false;
}

static void close(struct json *json, char kind) {
    svmx__out_add(json->out, "%c", kind);
    json->more = true;
}

static void number(struct json *json, const char *name, uint64_t value) {
    key(json, name);
    svmx__out_add(json->out, "%" PRIu64, value);
}

/* A counter of a snapshot (svmx_stats, svmx_device, svmx_op_stats), by the name of its field. All are 64 bits wide. */
struct counter {
    const char *name;
    size_t field;
};
#define COUNTER(snapshot, field)                                                                                       \
    { #field, offsetof(struct snapshot, field) }

static void numbers(struct json *json, const void *snapshot, const struct counter *counters, size_t count) {
    for (size_t i = 0; i < count; i++)
        number(json, counters[i].name, *(const uint64_t *)(const void *)((const char *)snapshot + counters[i].field));
}
#define NUMBERS(json, snapshot, counters) numbers(json, snapshot, counters, sizeof(counters) / sizeof *(counters))

static void text(struct json *json, const char *name, const char *value) {
    key(json, name);
    svmx__out_quoted(json->out, value);
}

static void share(struct json *json, const char *name, uint64_t of, uint64_t whole) {
    key(json, name);
    svmx__out_add(json->out, "%.6f", whole ? (double)of / (double)whole : 0.0);
}

/* [limit, count], where there are any: powers of two and how many were up to it. */
static void lines(struct json *json, const char *name, const uint64_t *counts, uint32_t count) {
    open(json, name, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (!counts[i]) continue;
        svmx__out_add(json->out, "%s[%" PRIu64 ",%" PRIu64 "]", json->more ? "," : "", UINT64_C(1) << i, counts[i]);
        json->more = true;
    }
    close(json, ']');
}

/* ---- the executor ------------------------------------------------------------------------------------------------ */

/* Their sum is `fallbacks`. */
static void reasons_json(struct json *json, const struct svmx_stats *stats) {
    open(json, "fallback_reasons", '{');
    number(json, "timeout", stats->fallbacks_timeout);
    number(json, "lost", stats->fallbacks_lost);
    number(json, "memory", stats->fallbacks_memory);
    number(json, "wrong", stats->fallbacks_wrong);
    number(json, "error", stats->fallbacks_error);
    close(json, '}');
}

static void work_json(struct json *json, const struct svmx_stats *stats) {
    static const struct counter done[] = {COUNTER(svmx_stats, batches),   COUNTER(svmx_stats, failed),
                                          COUNTER(svmx_stats, cancelled), COUNTER(svmx_stats, tasks),
                                          COUNTER(svmx_stats, launches),  COUNTER(svmx_stats, fallbacks)};
    static const struct counter beside[] = {COUNTER(svmx_stats, overloads),   COUNTER(svmx_stats, compared),
                                            COUNTER(svmx_stats, differed),    COUNTER(svmx_stats, under_way),
                                            COUNTER(svmx_stats, queue_depth), COUNTER(svmx_stats, receipts)};
    open(json, "work", '{');
    NUMBERS(json, stats, done);
    reasons_json(json, stats);
    NUMBERS(json, stats, beside);
    close(json, '}');
}

/* It stays open: some have more to say. */
static void cache_open(struct json *json, const char *name, uint64_t hits, uint64_t misses, uint64_t evictions) {
    open(json, name, '{');
    number(json, "hits", hits);
    number(json, "misses", misses);
    number(json, "evictions", evictions);
}

static void caches_json(struct json *json, const struct svmx_stats *stats) {
    open(json, "caches", '{');
    cache_open(json, "pipelines", stats->pipeline_hits, stats->pipeline_misses, stats->pipeline_evictions);
    close(json, '}');
    cache_open(json, "layouts", stats->layout_hits, stats->layout_misses, 0);
    close(json, '}');
    cache_open(json, "pools", stats->pool_hits, stats->pool_misses, stats->pool_evictions);
    number(json, "bytes", stats->pool_bytes);
    number(json, "bytes_peak", stats->pool_bytes_peak);
    number(json, "refusals", stats->pool_refusals);
    number(json, "allocs_refused", stats->allocs_refused);
    number(json, "allocs_late", stats->allocs_late);
    close(json, '}');
    cache_open(json, "disk", stats->cache_hits, stats->cache_misses, stats->cache_evicted);
    number(json, "stored", stats->cache_stored);
    number(json, "removed", stats->cache_removed);
    close(json, '}');
    close(json, '}');
}

static void router_json(struct json *json, const struct svmx_stats *stats) {
    static const struct counter choices[] = {COUNTER(svmx_stats, flips),          COUNTER(svmx_stats, probes),
                                             COUNTER(svmx_stats, probe_ns),       COUNTER(svmx_stats, drifts),
                                             COUNTER(svmx_stats, regret_ppm),     COUNTER(svmx_stats, regret_low_ppm),
                                             COUNTER(svmx_stats, regret_high_ppm)};
    open(json, "router", '{');
    NUMBERS(json, stats, choices);
    close(json, '}');
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static void device_names(struct json *json, const struct svmx_device *device) {
    text(json, "id", svmx__device_label(device).line);
    text(json, "backend", device->backend);
    text(json, "name", device->name);
    text(json, "driver", device->driver);
    text(json, "variant", device->variant);
    text(json, "kind", svmx__device_kind_word(device->kind));
    key(json, "test"); /* times of such a device say nothing */
    svmx__out_add(json->out, device->flags & SVMX_DEVICE_TEST ? "true" : "false");
    number(json, "threads", device->threads);
}

static void device_health(struct json *json, const struct svmx_device *device) {
    const struct svmx__device_health health = svmx__device_health(device);
    key(json, "usable");
    svmx__out_add(json->out, device->usable ? "true" : "false");
    text(json, "health", health.state);
    text(json, "health_reason", health.reason);
    number(json, "strikes", health.strikes);
    number(json, "quarantined", health.quarantined);
}

/* What a device did, and what an operation did on one: the same counters, of which the device's are the sums. */
#define WORK(snapshot)                                                                                                 \
    COUNTER(snapshot, tasks), COUNTER(snapshot, launches), COUNTER(snapshot, bytes_in), COUNTER(snapshot, bytes_out),  \
        COUNTER(snapshot, wait_ns), COUNTER(snapshot, stage_ns), COUNTER(snapshot, run_ns),                            \
        COUNTER(snapshot, collect_ns), COUNTER(snapshot, setup_ns), COUNTER(snapshot, transfer_ns),                    \
        COUNTER(snapshot, compute_ns), COUNTER(snapshot, device_ns), COUNTER(snapshot, busy_ns)

static void device_work(struct json *json, const struct svmx_device *device, uint64_t open_ns) {
    static const struct counter work[] = {WORK(svmx_device)};
    static const struct counter in_use[] = {
        COUNTER(svmx_device, pending),         COUNTER(svmx_device, queued),         COUNTER(svmx_device, backlog_ns),
        COUNTER(svmx_device, memory_bytes),    COUNTER(svmx_device, memory_used),    COUNTER(svmx_device, pool_bytes),
        COUNTER(svmx_device, pool_bytes_peak), COUNTER(svmx_device, pool_idle_bytes)};
    NUMBERS(json, device, work);
    share(json, "busy_share", device->busy_ns, open_ns);
    share(json, "useful_share", device->compute_ns, device->setup_ns + device->transfer_ns + device->compute_ns);
    number(json, "failures", device->failures);
    text(json, "load", svmx__load_word(device->load));
    NUMBERS(json, device, in_use);
}

static void devices_json(struct json *json, const struct svmx__stats_view *view) {
    open(json, "devices", '[');
    for (uint32_t d = 0; d < view->device_count; d++) {
        const struct svmx_device *device = &view->devices[d];
        open(json, NULL, '{');
        number(json, "index", d);
        device_names(json, device);
        device_health(json, device);
        device_work(json, device, view->stats.open_ns);
        close(json, '}');
    }
    close(json, ']');
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

static void looks_json(struct json *json, const char *name, uint64_t hits, uint64_t misses) {
    open(json, name, '{');
    number(json, "hits", hits);
    number(json, "misses", misses);
    close(json, '}');
}

/* An operation on a device. */
static void pair_json(struct json *json, uint32_t device, const struct svmx_op_stats *stats) {
    static const struct counter work[] = {COUNTER(svmx_op_stats, parts), WORK(svmx_op_stats)};
    open(json, NULL, '{');
    number(json, "device", device);
    NUMBERS(json, stats, work);
    open(json, "decisions", '{');
    for (uint32_t i = 1; i < SVMX_WHY_LINES; i++)
        if (stats->decisions[i]) number(json, svmx__why_word(i), stats->decisions[i]);
    close(json, '}');
    open(json, "failures", '{');
    for (uint32_t i = 0; i < SVMX_FAILURE_LINES; i++)
        if (stats->failures[i]) number(json, svmx_failure_name(i), stats->failures[i]);
    close(json, '}');
    lines(json, "latency_ns", stats->latency, SVMX_LATENCY_LINES);
    open(json, "caches", '{');
    looks_json(json, "pipelines", stats->pipeline_hits, stats->pipeline_misses);
    looks_json(json, "layouts", stats->layout_hits, stats->layout_misses);
    close(json, '}');
    close(json, '}');
}

static void operation_json(struct json *json, const struct svmx__stats_view *view, const struct svmx__op *op) {
    uint64_t sizes[SVMX_SIZE_LINES];
    struct svmx_op_stats stats = {.size = sizeof stats};
    if (svmx_sizes_get(view->executor, op->id, sizes) != SVMX_OK ||
        svmx_op_stats_get(view->executor, op->id, SVMX_ALL_DEVICES, &stats) != SVMX_OK)
        return;
    open(json, NULL, '{');
    text(json, "name", op->name);
    number(json, "op", op->id);
    text(json, "unit", op->unit);
    lines(json, "sizes", sizes, SVMX_SIZE_LINES);
    number(json, "flips", stats.flips);
    number(json, "probes", stats.probes);
    number(json, "regret_ppm", stats.regret_ppm);
    open(json, "devices", '[');
    for (uint32_t d = 0; d < view->device_count; d++)
        if (view->used[op->id] >> d & 1 && svmx_op_stats_get(view->executor, op->id, d, &stats) == SVMX_OK)
            pair_json(json, d, &stats);
    close(json, ']');
    close(json, '}');
}

void svmx__stats_json(const struct svmx__stats_view *view, struct svmx__out *out) {
    struct json json = {.out = out};
    const struct svmx__operations *operations = view->executor->operations;
    open(&json, NULL, '{');
    text(&json, "version", svmx_version());
    number(&json, "start_ns", view->start_ns);
    number(&json, "open_ns", view->stats.open_ns);
    work_json(&json, &view->stats);
    caches_json(&json, &view->stats);
    router_json(&json, &view->stats);
    devices_json(&json, view);
    open(&json, "operations", '[');
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++)
        if (view->used[op]) operation_json(&json, view, svmx__operations_by_id(operations, op));
    close(&json, ']');
    close(&json, '}');
    svmx__out_add(out, "\n");
}
