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
    open(json, "work", '{');
    number(json, "batches", stats->batches);
    number(json, "failed", stats->failed);
    number(json, "cancelled", stats->cancelled);
    number(json, "tasks", stats->tasks);
    number(json, "launches", stats->launches);
    number(json, "fallbacks", stats->fallbacks);
    reasons_json(json, stats);
    number(json, "overloads", stats->overloads);
    number(json, "compared", stats->compared);
    number(json, "differed", stats->differed);
    number(json, "under_way", stats->under_way);
    number(json, "queue_depth", stats->queue_depth);
    number(json, "receipts", stats->receipts);
    close(json, '}');
}

static void cache_json(struct json *json, const char *name, uint64_t hits, uint64_t misses, uint64_t evictions) {
    open(json, name, '{');
    number(json, "hits", hits);
    number(json, "misses", misses);
    number(json, "evictions", evictions);
}

static void caches_json(struct json *json, const struct svmx_stats *stats) {
    open(json, "caches", '{');
    cache_json(json, "pipelines", stats->pipeline_hits, stats->pipeline_misses, stats->pipeline_evictions);
    close(json, '}');
    cache_json(json, "layouts", stats->layout_hits, stats->layout_misses, 0);
    close(json, '}');
    cache_json(json, "pools", stats->pool_hits, stats->pool_misses, stats->pool_evictions);
    number(json, "bytes", stats->pool_bytes);
    number(json, "bytes_peak", stats->pool_bytes_peak);
    number(json, "refusals", stats->pool_refusals);
    number(json, "allocs_refused", stats->allocs_refused);
    number(json, "allocs_late", stats->allocs_late);
    close(json, '}');
    cache_json(json, "disk", stats->cache_hits, stats->cache_misses, stats->cache_evicted);
    number(json, "stored", stats->cache_stored);
    number(json, "removed", stats->cache_removed);
    close(json, '}');
    close(json, '}');
}

static void router_json(struct json *json, const struct svmx_stats *stats) {
    open(json, "router", '{');
    number(json, "flips", stats->flips);
    number(json, "probes", stats->probes);
    number(json, "probe_ns", stats->probe_ns);
    number(json, "drifts", stats->drifts);
    number(json, "regret_ppm", stats->regret_ppm);
    number(json, "regret_low_ppm", stats->regret_low_ppm);
    number(json, "regret_high_ppm", stats->regret_high_ppm);
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

static void device_work(struct json *json, const struct svmx_device *device, uint64_t open_ns) {
    number(json, "tasks", device->tasks);
    number(json, "launches", device->launches);
    number(json, "bytes_in", device->bytes_in);
    number(json, "bytes_out", device->bytes_out);
    number(json, "wait_ns", device->wait_ns);
    number(json, "stage_ns", device->stage_ns);
    number(json, "run_ns", device->run_ns);
    number(json, "collect_ns", device->collect_ns);
    number(json, "setup_ns", device->setup_ns);
    number(json, "transfer_ns", device->transfer_ns);
    number(json, "compute_ns", device->compute_ns);
    number(json, "device_ns", device->device_ns);
    number(json, "busy_ns", device->busy_ns);
    share(json, "busy_share", device->busy_ns, open_ns);
    share(json, "useful_share", device->compute_ns, device->setup_ns + device->transfer_ns + device->compute_ns);
    number(json, "failures", device->failures);
    text(json, "load", svmx__load_word(device->load));
    number(json, "pending", device->pending);
    number(json, "queued", device->queued);
    number(json, "backlog_ns", device->backlog_ns);
    number(json, "memory_bytes", device->memory_bytes);
    number(json, "memory_used", device->memory_used);
    number(json, "pool_bytes", device->pool_bytes);
    number(json, "pool_bytes_peak", device->pool_bytes_peak);
    number(json, "pool_idle_bytes", device->pool_idle_bytes);
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

static void times_json(struct json *json, const struct svmx_op_stats *stats) {
    number(json, "wait_ns", stats->wait_ns);
    number(json, "stage_ns", stats->stage_ns);
    number(json, "run_ns", stats->run_ns);
    number(json, "collect_ns", stats->collect_ns);
    number(json, "setup_ns", stats->setup_ns);
    number(json, "transfer_ns", stats->transfer_ns);
    number(json, "compute_ns", stats->compute_ns);
    number(json, "device_ns", stats->device_ns);
    number(json, "busy_ns", stats->busy_ns);
}

static void looks_json(struct json *json, const char *name, uint64_t hits, uint64_t misses) {
    open(json, name, '{');
    number(json, "hits", hits);
    number(json, "misses", misses);
    close(json, '}');
}

/* An operation on a device. */
static void pair_json(struct json *json, uint32_t device, const struct svmx_op_stats *stats) {
    open(json, NULL, '{');
    number(json, "device", device);
    number(json, "parts", stats->parts);
    number(json, "tasks", stats->tasks);
    number(json, "launches", stats->launches);
    number(json, "bytes_in", stats->bytes_in);
    number(json, "bytes_out", stats->bytes_out);
    times_json(json, stats);
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
