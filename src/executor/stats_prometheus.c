/*
 * stats_prometheus.c: all counters in the text format of Prometheus. docs/WATCHING.md lists them. See stats_text.h.
 *
 * A family (a name with its help and type) has all its samples in one place, so families are walked first and operations and
 * devices inside of each. Tables say which field of which snapshot a family shows. Units are seconds and bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/stats_text.h"
#include "executor/words.h"

#include <inttypes.h>

#define NS_PER_S  1e9
#define PPM       1e6
#define AS_COUNTS 0 /* in place of what to divide by */

/* Latencies of less and of more than these are in the first and in the last bucket: 2^9 ns is half a microsecond, 2^34 ns are
 * 17 s. */
enum { FIRST_BUCKET = 9, LAST_BUCKET = 34 };

struct family {
    const char *name, *type, *help;
    size_t field;      /* of the snapshot */
    double scale;      /* AS_COUNTS, or by how much it is divided */
    const char *label; /* another one, ready to be put in: cache="pool"; NULL for none */
};

static uint64_t field_of(const void *snapshot, const struct family *family) {
    return *(const uint64_t *)(const void *)((const char *)snapshot + family->field);
}

static void head(struct svmx__out *out, const char *name, const char *type, const char *help) {
    svmx__out_add(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Families that differ in a label only stand one after another and have one head. */
static void head_once(struct svmx__out *out, const struct family *all, size_t i) {
    if (i == 0 || all[i].name != all[i - 1].name) head(out, all[i].name, all[i].type, all[i].help);
}

static void value(struct svmx__out *out, uint64_t count, double scale) {
    if (scale == AS_COUNTS)
        svmx__out_add(out, " %" PRIu64 "\n", count);
    else
        svmx__out_add(out, " %.17g\n", (double)count / scale);
}

/* ---- the executor ------------------------------------------------------------------------------------------------ */

#define OF_EXECUTOR(name, type, help, field, scale, label)                                                             \
    { name, type, help, offsetof(struct svmx_stats, field), scale, label }
static const char hits[] = "svmx_cache_hits_total", misses[] = "svmx_cache_misses_total",
                  evictions[] = "svmx_cache_evictions_total", plain[] = "svmx_allocs_plain_total";
static const char fallbacks[] = "svmx_fallbacks_total",
                  fallbacks_help[] = "Parts that a device failed and another one redid, by reason.";
static const char hits_help[] = "Found in a cache: compiled pipelines, layouts, staging memory, files on disk.";
static const char misses_help[] = "Not found in a cache.", evictions_help[] = "Removed to make room for others.";
static const char plain_help[] = "How often svmx_batch_alloc gave plain memory instead of a device's.";

static const struct family of_executor[] = {
    OF_EXECUTOR("svmx_batches_total", "counter", "Batches that were run.", batches, AS_COUNTS, NULL),
    OF_EXECUTOR("svmx_batches_failed_total", "counter", "Batches that have no results.", failed, AS_COUNTS, NULL),
    OF_EXECUTOR("svmx_batches_cancelled_total", "counter", "Batches taken back before they ran.", cancelled, AS_COUNTS,
                NULL),
    OF_EXECUTOR("svmx_batches_under_way", "gauge", "Batches submitted and not yet done.", under_way, AS_COUNTS, NULL),
    OF_EXECUTOR("svmx_batches_under_way_limit", "gauge", "How many there may be before submit pushes back.",
                queue_depth, AS_COUNTS, NULL),
    OF_EXECUTOR(fallbacks, "counter", fallbacks_help, fallbacks_timeout, AS_COUNTS, "reason=\"timeout\""),
    OF_EXECUTOR(fallbacks, "counter", fallbacks_help, fallbacks_lost, AS_COUNTS, "reason=\"lost\""),
    OF_EXECUTOR(fallbacks, "counter", fallbacks_help, fallbacks_memory, AS_COUNTS, "reason=\"memory\""),
    OF_EXECUTOR(fallbacks, "counter", fallbacks_help, fallbacks_wrong, AS_COUNTS, "reason=\"wrong\""),
    OF_EXECUTOR(fallbacks, "counter", fallbacks_help, fallbacks_error, AS_COUNTS, "reason=\"error\""),
    OF_EXECUTOR("svmx_overloads_total", "counter",
                "Launches that went elsewhere because too much of a device was in use.", overloads, AS_COUNTS, NULL),
    OF_EXECUTOR("svmx_compared_total", "counter", "Launches that were computed twice and compared.", compared,
                AS_COUNTS, NULL),
    OF_EXECUTOR("svmx_differed_total", "counter", "Those of them where the results differed.", differed, AS_COUNTS,
                NULL),
    OF_EXECUTOR("svmx_receipts_total", "counter", "Receipts written.", receipts, AS_COUNTS, NULL),
    OF_EXECUTOR(hits, "counter", hits_help, pipeline_hits, AS_COUNTS, "cache=\"pipeline\""),
    OF_EXECUTOR(hits, "counter", hits_help, layout_hits, AS_COUNTS, "cache=\"layout\""),
    OF_EXECUTOR(hits, "counter", hits_help, pool_hits, AS_COUNTS, "cache=\"pool\""),
    OF_EXECUTOR(hits, "counter", hits_help, cache_hits, AS_COUNTS, "cache=\"disk\""),
    OF_EXECUTOR(misses, "counter", misses_help, pipeline_misses, AS_COUNTS, "cache=\"pipeline\""),
    OF_EXECUTOR(misses, "counter", misses_help, layout_misses, AS_COUNTS, "cache=\"layout\""),
    OF_EXECUTOR(misses, "counter", misses_help, pool_misses, AS_COUNTS, "cache=\"pool\""),
    OF_EXECUTOR(misses, "counter", misses_help, cache_misses, AS_COUNTS, "cache=\"disk\""),
    OF_EXECUTOR(evictions, "counter", evictions_help, pipeline_evictions, AS_COUNTS, "cache=\"pipeline\""),
    OF_EXECUTOR(evictions, "counter", evictions_help, pool_evictions, AS_COUNTS, "cache=\"pool\""),
    OF_EXECUTOR(evictions, "counter", evictions_help, cache_evicted, AS_COUNTS, "cache=\"disk\""),
    OF_EXECUTOR("svmx_disk_cache_stored_total", "counter", "Files written to the cache on disk.", cache_stored,
                AS_COUNTS, NULL),
    OF_EXECUTOR("svmx_disk_cache_removed_total", "counter", "Files of the cache on disk that were bad.", cache_removed,
                AS_COUNTS, NULL),
    OF_EXECUTOR("svmx_pool_refusals_total", "counter", "How often a device had no memory for its pool.", pool_refusals,
                AS_COUNTS, NULL),
    OF_EXECUTOR(plain, "counter", plain_help, allocs_refused, AS_COUNTS, "reason=\"refused\""),
    OF_EXECUTOR(plain, "counter", plain_help, allocs_late, AS_COUNTS, "reason=\"late\""),
    OF_EXECUTOR("svmx_route_probe_seconds_total", "counter", "Time lost by trying devices.", probe_ns, NS_PER_S, NULL),
    OF_EXECUTOR("svmx_route_drifts_total", "counter", "How often a device changed its speed for good.", drifts,
                AS_COUNTS, NULL),
    OF_EXECUTOR("svmx_regret_ratio", "gauge", "Share of their time that launches could have saved elsewhere.",
                regret_ppm, PPM, NULL),
    OF_EXECUTOR("svmx_regret_low_ratio", "gauge", "Lower end of its 95 % interval.", regret_low_ppm, PPM, NULL),
    OF_EXECUTOR("svmx_regret_high_ratio", "gauge", "Upper end of its 95 % interval.", regret_high_ppm, PPM, NULL),
};

static void executor_families(const struct svmx__stats_view *view, struct svmx__out *out) {
    head(out, "svmx_info", "gauge", "Version of the library.");
    svmx__out_add(out, "svmx_info{version=\"%s\"} 1\n", svmx_version());
    head(out, "svmx_start_time_seconds", "gauge", "When the executor was opened, since 1970.");
    svmx__out_add(out, "svmx_start_time_seconds %.3f\n", (double)view->start_ns / NS_PER_S);
    for (size_t i = 0; i < sizeof of_executor / sizeof *of_executor; i++) {
        const struct family *family = &of_executor[i];
        head_once(out, of_executor, i);
        svmx__out_add(out, family->label ? "%s{%s}" : "%s", family->name, family->label);
        value(out, field_of(&view->stats, family), family->scale);
    }
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

#define OF_DEVICE(name, type, help, field, scale)                                                                      \
    { name, type, help, offsetof(struct svmx_device, field), scale, NULL }
static const struct family of_device[] = {
    OF_DEVICE("svmx_device_queue_length", "gauge", "Parts that wait for the device.", queued, AS_COUNTS),
    OF_DEVICE("svmx_device_pending", "gauge", "Launches that wait for the device or run there.", pending, AS_COUNTS),
    OF_DEVICE("svmx_device_backlog_seconds", "gauge", "What it has still to do, as expected.", backlog_ns, NS_PER_S),
    OF_DEVICE("svmx_device_memory_bytes", "gauge", "Memory that the device has; 0: not known.", memory_bytes,
              AS_COUNTS),
    OF_DEVICE("svmx_device_memory_used_bytes", "gauge", "What of it this executor has in use.", memory_used, AS_COUNTS),
    OF_DEVICE("svmx_device_pool_bytes", "gauge", "Staging memory held, in use or idle.", pool_bytes, AS_COUNTS),
    OF_DEVICE("svmx_device_pool_peak_bytes", "gauge", "The most of it so far.", pool_bytes_peak, AS_COUNTS),
    OF_DEVICE("svmx_device_pool_idle_bytes", "gauge", "What of it is idle.", pool_idle_bytes, AS_COUNTS),
};

/* Calls `one` for each device. */
typedef void (*device_fn)(struct svmx__out *out, const struct svmx_device *device, const void *user);
static void each_device(const struct svmx__stats_view *view, struct svmx__out *out, device_fn one, const void *user) {
    for (uint32_t d = 0; d < view->device_count; d++) one(out, &view->devices[d], user);
}

static void info_of(struct svmx__out *out, const struct svmx_device *device, const void *user) {
    (void)user;
    const struct svmx_device_info flags = {.flags = device->flags};
    svmx__out_add(out, "svmx_device_info{device=\"%s\",kind=\"%s\",place=\"%s\",test=\"%s\",name=",
                  svmx__device_label(device).line, svmx__device_kind_word(device->kind),
                  svmx__place_word(svmx__device_place(&flags)), device->flags & SVMX_DEVICE_TEST ? "true" : "false");
    svmx__out_quoted(out, device->name);
    svmx__out_add(out, ",driver=");
    svmx__out_quoted(out, device->driver);
    svmx__out_add(out, ",variant=");
    svmx__out_quoted(out, device->variant);
    svmx__out_add(out, "} 1\n");
}

static void usable_of(struct svmx__out *out, const struct svmx_device *device, const void *user) {
    (void)user;
    svmx__out_add(out, "svmx_device_usable{device=\"%s\"} %u\n", svmx__device_label(device).line, device->usable);
}

static void state_of(struct svmx__out *out, const struct svmx_device *device, const void *user) {
    const struct svmx__device_health health = svmx__device_health(device);
    (void)user;
    for (uint32_t i = 0; i < SVMX__HEALTH_WORDS; i++)
        svmx__out_add(out, "svmx_device_health{device=\"%s\",state=\"%s\"} %d\n", svmx__device_label(device).line,
                      svmx__health_words[i], health.state == svmx__health_words[i]);
}

static void load_of(struct svmx__out *out, const struct svmx_device *device, const void *user) {
    (void)user;
    for (uint32_t i = 0; i < SVMX__LOAD_WORDS; i++)
        svmx__out_add(out, "svmx_device_load{device=\"%s\",state=\"%s\"} %d\n", svmx__device_label(device).line,
                      svmx__load_words[i], svmx__load_word(device->load) == svmx__load_words[i]);
}

static void strikes_of(struct svmx__out *out, const struct svmx_device *device, const void *user) {
    (void)user;
    svmx__out_add(out, "svmx_device_strikes{device=\"%s\"} %u\n", svmx__device_label(device).line,
                  svmx__device_health(device).strikes);
}

static void quarantined_of(struct svmx__out *out, const struct svmx_device *device, const void *user) {
    (void)user;
    svmx__out_add(out, "svmx_device_quarantined_operations{device=\"%s\"} %u\n", svmx__device_label(device).line,
                  svmx__device_health(device).quarantined);
}

static void field_of_device(struct svmx__out *out, const struct svmx_device *device, const void *user) {
    const struct family *family = user;
    svmx__out_add(out, "%s{device=\"%s\"}", family->name, svmx__device_label(device).line);
    value(out, field_of(device, family), family->scale);
}

static void device_families(const struct svmx__stats_view *view, struct svmx__out *out) {
    head(out, "svmx_device_info", "gauge", "Devices, in order of preference.");
    each_device(view, out, info_of, NULL);
    head(out, "svmx_device_usable", "gauge", "1: it may have work.");
    each_device(view, out, usable_of, NULL);
    head(out, "svmx_device_health", "gauge", "1 for the state that the device is in.");
    each_device(view, out, state_of, NULL);
    head(out, "svmx_device_load", "gauge", "1 for how much of its memory and its queue is in use.");
    each_device(view, out, load_of, NULL);
    head(out, "svmx_device_strikes", "gauge", "Failures that are held against the device.");
    each_device(view, out, strikes_of, NULL);
    head(out, "svmx_device_quarantined_operations", "gauge",
         "Operations that it gave wrong bytes for and does not get.");
    each_device(view, out, quarantined_of, NULL);
    for (size_t i = 0; i < sizeof of_device / sizeof *of_device; i++) {
        head_once(out, of_device, i);
        each_device(view, out, field_of_device, &of_device[i]);
    }
}

/* ---- operations on devices --------------------------------------------------------------------------------------- */

/* An operation on a device, and what to write of it. */
struct pair {
    const struct svmx__op *op;
    const char *device;
    struct svmx_op_stats stats;
    const struct family *family;
};

typedef void (*pair_fn)(struct svmx__out *out, const struct pair *pair);

static void each_pair(const struct svmx__stats_view *view, struct svmx__out *out, pair_fn one,
                      const struct family *family) {
    const struct svmx__operations *operations = view->executor->operations;
    for (uint32_t i = 0; i < SVMX__OP_LIMIT; i++) {
        const struct svmx__op *op = svmx__operations_by_id(operations, i);
        for (uint32_t d = 0; d < view->device_count; d++) {
            if (!(view->used[i] >> d & 1)) continue;
            const struct svmx__device_label label = svmx__device_label(&view->devices[d]);
            struct pair pair = {.op = op, .device = label.line, .stats = {.size = sizeof pair.stats}, .family = family};
            if (svmx_op_stats_get(view->executor, op->id, d, &pair.stats) == SVMX_OK) one(out, &pair);
        }
    }
}

#define OF_PAIR(name, help, field, scale, label)                                                                       \
    { name, "counter", help, offsetof(struct svmx_op_stats, field), scale, label }
static const char phases[] = "svmx_phase_seconds_total",
                  phases_help[] =
                      "Time of parts: in a queue or behind others, placing inputs, on the device, taking results.";
static const char
    costs[] = "svmx_cost_seconds_total",
    costs_help[] =
        "The same time without waiting, by purpose, and copies beside it; computing is what is useful of it.";
static const char op_hits[] = "svmx_operation_cache_hits_total",
                  op_hits_help[] = "Found in a cache for parts of an operation on a device.";
static const char op_misses[] = "svmx_operation_cache_misses_total",
                  op_misses_help[] = "Not found in a cache for parts of an operation on a device.";
static const struct family of_pair[] = {
    OF_PAIR("svmx_parts_total", "Parts answered: all tasks of an operation in one batch.", parts, AS_COUNTS, NULL),
    OF_PAIR("svmx_tasks_total", "Tasks answered.", tasks, AS_COUNTS, NULL),
    OF_PAIR("svmx_launches_total", "Launches that brought results.", launches, AS_COUNTS, NULL),
    OF_PAIR("svmx_input_bytes_total", "Bytes of inputs.", bytes_in, AS_COUNTS, NULL),
    OF_PAIR("svmx_output_bytes_total", "Bytes of outputs.", bytes_out, AS_COUNTS, NULL),
    OF_PAIR(phases, phases_help, wait_ns, NS_PER_S, "phase=\"wait\""),
    OF_PAIR(phases, phases_help, stage_ns, NS_PER_S, "phase=\"stage\""),
    OF_PAIR(phases, phases_help, run_ns, NS_PER_S, "phase=\"run\""),
    OF_PAIR(phases, phases_help, collect_ns, NS_PER_S, "phase=\"collect\""),
    OF_PAIR(costs, costs_help, setup_ns, NS_PER_S, "purpose=\"setup\""),
    OF_PAIR(costs, costs_help, transfer_ns, NS_PER_S, "purpose=\"transfer\""),
    OF_PAIR(costs, costs_help, compute_ns, NS_PER_S, "purpose=\"compute\""),
    OF_PAIR(op_hits, op_hits_help, pipeline_hits, AS_COUNTS, "cache=\"pipeline\""),
    OF_PAIR(op_hits, op_hits_help, layout_hits, AS_COUNTS, "cache=\"layout\""),
    OF_PAIR(op_misses, op_misses_help, pipeline_misses, AS_COUNTS, "cache=\"pipeline\""),
    OF_PAIR(op_misses, op_misses_help, layout_misses, AS_COUNTS, "cache=\"layout\""),
    OF_PAIR("svmx_busy_seconds_total", "The device had something to do, by its own clock where that can be believed.",
            busy_ns, NS_PER_S, NULL),
    OF_PAIR("svmx_device_clock_seconds_total", "Computing and copying by the device's own clock.", device_ns, NS_PER_S,
            NULL),
};

static void sample(struct svmx__out *out, const struct pair *pair, const char *name) {
    svmx__out_add(out, "%s{operation=\"%s\",device=\"%s\"", name, pair->op->name, pair->device);
}

static void field_of_pair(struct svmx__out *out, const struct pair *pair) {
    sample(out, pair, pair->family->name);
    svmx__out_add(out, pair->family->label ? ",%s}" : "}", pair->family->label);
    value(out, field_of(&pair->stats, pair->family), pair->family->scale);
}

static void decisions_of(struct svmx__out *out, const struct pair *pair) {
    for (uint32_t i = 1; i < SVMX_WHY_LINES; i++) {
        if (!pair->stats.decisions[i]) continue;
        sample(out, pair, "svmx_decisions_total");
        svmx__out_add(out, ",why=\"%s\"} %" PRIu64 "\n", svmx__why_word(i), pair->stats.decisions[i]);
    }
}

/* All reasons, also those that there were none of yet: a rate needs a start. */
static void failures_of(struct svmx__out *out, const struct pair *pair) {
    for (uint32_t i = 0; i < SVMX_FAILURE_LINES; i++) {
        sample(out, pair, "svmx_failures_total");
        svmx__out_add(out, ",reason=\"%s\"} %" PRIu64 "\n", svmx_failure_name(i), pair->stats.failures[i]);
    }
}

static void latency_of(struct svmx__out *out, const struct pair *pair) {
    const struct svmx_op_stats *stats = &pair->stats;
    uint64_t count = 0;
    for (uint32_t i = 0; i < SVMX_LATENCY_LINES; i++) {
        count += stats->latency[i];
        if (i < FIRST_BUCKET || i > LAST_BUCKET) continue;
        sample(out, pair, "svmx_latency_seconds_bucket");
        svmx__out_add(out, ",le=\"%.11g\"} %" PRIu64 "\n", (double)(UINT64_C(1) << i) / NS_PER_S, count);
    }
    sample(out, pair, "svmx_latency_seconds_bucket");
    svmx__out_add(out, ",le=\"+Inf\"} %" PRIu64 "\n", count);
    sample(out, pair, "svmx_latency_seconds_sum");
    svmx__out_add(out, "}");
    value(out, stats->wait_ns + stats->stage_ns + stats->run_ns + stats->collect_ns, NS_PER_S);
    sample(out, pair, "svmx_latency_seconds_count");
    svmx__out_add(out, "} %" PRIu64 "\n", count);
}

static void pair_families(const struct svmx__stats_view *view, struct svmx__out *out) {
    for (size_t i = 0; i < sizeof of_pair / sizeof *of_pair; i++) {
        head_once(out, of_pair, i);
        each_pair(view, out, field_of_pair, &of_pair[i]);
    }
    head(out, "svmx_decisions_total", "counter", "Parts answered, by the reason of the choice of their device.");
    each_pair(view, out, decisions_of, NULL);
    head(out, "svmx_failures_total", "counter", "Parts that a device failed, by reason.");
    each_pair(view, out, failures_of, NULL);
    head(out, "svmx_latency_seconds", "histogram", "How long parts took, with waiting.");
    each_pair(view, out, latency_of, NULL);
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

static const struct family of_op[] = {
    OF_PAIR("svmx_route_flips_total", "How often a size of the operation went to another device for good.", flips,
            AS_COUNTS, NULL),
    OF_PAIR("svmx_route_probes_total", "Launches that were sent to a device to learn.", probes, AS_COUNTS, NULL),
    {"svmx_operation_regret_ratio", "gauge", "Share of their time that launches could have saved elsewhere.",
     offsetof(struct svmx_op_stats, regret_ppm), PPM, NULL},
};

static void field_of_op(const struct svmx__stats_view *view, struct svmx__out *out, const struct svmx__op *op,
                        const struct family *family) {
    struct svmx_op_stats stats = {.size = sizeof stats};
    if (svmx_op_stats_get(view->executor, op->id, SVMX_ALL_DEVICES, &stats) != SVMX_OK) return;
    svmx__out_add(out, "%s{operation=\"%s\"}", family->name, op->name);
    value(out, field_of(&stats, family), family->scale);
}

static void buckets_of(const struct svmx__stats_view *view, struct svmx__out *out, const struct svmx__op *op) {
    uint64_t sizes[SVMX_SIZE_LINES];
    if (svmx_sizes_get(view->executor, op->id, sizes) != SVMX_OK) return;
    for (uint32_t i = 0; i < SVMX_SIZE_LINES; i++)
        if (sizes[i])
            svmx__out_add(out, "svmx_sizes_total{operation=\"%s\",units=\"%" PRIu64 "\"} %" PRIu64 "\n", op->name,
                          UINT64_C(1) << i, sizes[i]);
}

static void op_families(const struct svmx__stats_view *view, struct svmx__out *out) {
    const struct svmx__operations *operations = view->executor->operations;
    for (size_t family = 0; family < sizeof of_op / sizeof *of_op; family++) {
        head_once(out, of_op, family);
        for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++)
            if (view->used[op]) field_of_op(view, out, svmx__operations_by_id(operations, op), &of_op[family]);
    }
    head(out, "svmx_sizes_total", "counter", "Parts by the power of two that their units go up to.");
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++)
        if (view->used[op]) buckets_of(view, out, svmx__operations_by_id(operations, op));
}

void svmx__stats_prometheus(const struct svmx__stats_view *view, struct svmx__out *out) {
    executor_families(view, out);
    device_families(view, out);
    pair_families(view, out);
    op_families(view, out);
}
