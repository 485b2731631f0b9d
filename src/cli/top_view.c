/*
 * top_view.c: a picture of what happened between two texts: devices, operations, caches, choices. See top.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "table.h"
#include "text.h"
#include "top.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 48 };

/* What the functions below look at. */
struct view {
    FILE *out;
    const struct cli_samples *before, *now;
    double seconds;
};

/* How much a sum grew between the texts; each second, with RATE. */
#define GROWN(view, ...) (cli_samples_sum((view)->now, __VA_ARGS__) - cli_samples_sum((view)->before, __VA_ARGS__))
#define RATE(view, ...)  ((view)->seconds > 0 ? GROWN(view, __VA_ARGS__) / (view)->seconds : 0)

static struct cli_text figure(double value) {
    struct cli_text text;
    if (value >= 1e6)
        snprintf(text.line, sizeof text.line, "%.3g M", value / 1e6);
    else if (value >= 1e4)
        snprintf(text.line, sizeof text.line, "%.3g k", value / 1e3);
    else
        snprintf(text.line, sizeof text.line, value < 10 ? "%.1f" : "%.0f", value);
    return text;
}

static struct cli_text percent(double part, double whole) {
    struct cli_text text = {"-"};
    if (whole > 0) snprintf(text.line, sizeof text.line, "%.1f %%", 100 * part / whole);
    return text;
}

static struct cli_text bytes(double count) { return cli_bytes(count > 0 ? (uint64_t)count : 0); }

/* ---- latency ----------------------------------------------------------------------------------------------------- */

struct bucket {
    double limit, count; /* seconds; parts up to it */
};

/* Adds a sample to the bucket of its limit; `sign` -1 takes it out. */
static void count_bucket(struct bucket *buckets, size_t *used, const struct cli_sample *sample, double sign) {
    const struct cli_label le = cli_sample_label(sample, "le");
    const double limit = strcmp(le.text, "+Inf") == 0 ? INFINITY : strtod(le.text, NULL);
    size_t i = 0;
    while (i < *used && buckets[i].limit < limit) i++;
    if (i == LINES) return;
    if (i == *used) buckets[(*used)++] = (struct bucket){.limit = limit}; /* a text has them in order */
    if (buckets[i].limit <= limit) buckets[i].count += sign * sample->value;
}

static void count_buckets(struct bucket *buckets, size_t *used, const struct cli_samples *samples, const char *op,
                          double sign) {
    for (size_t i = 0; i < samples->count; i++)
        if (strcmp(samples->list[i].name, "svmx_latency_seconds_bucket") == 0 &&
            strcmp(cli_sample_label(&samples->list[i], "operation").text, op) == 0)
            count_bucket(buckets, used, &samples->list[i], sign);
}

/* Of the parts of an operation between the texts; within a bucket by a straight line. */
static struct cli_text quantile(const struct view *view, const char *op, double share) {
    struct bucket buckets[LINES];
    size_t used = 0;
    count_buckets(buckets, &used, view->now, op, 1);
    count_buckets(buckets, &used, view->before, op, -1);
    const double rank = used ? share * buckets[used - 1].count : 0;
    for (size_t i = 0; rank > 0 && i < used; i++) {
        if (buckets[i].count < rank) continue;
        const double low = i ? buckets[i - 1].limit : 0, below = i ? buckets[i - 1].count : 0;
        if (isinf(buckets[i].limit)) return cli_duration((uint64_t)(low * 1e9));
        const double part = (rank - below) / (buckets[i].count - below);
        return cli_duration((uint64_t)((low + part * (buckets[i].limit - low)) * 1e9));
    }
    return (struct cli_text){"-"};
}

/* ---- the parts of a picture -------------------------------------------------------------------------------------- */

static void head(const struct top_source *source, const struct view *view) {
    const double regret = cli_samples_sum(view->now, "svmx_regret_ratio", NULL);
    const double data = RATE(view, "svmx_input_bytes_total", NULL) + RATE(view, "svmx_output_bytes_total", NULL);
    fprintf(view->out, "svmx top: %s, the last %.1f s\n\n", source->address ? source->address : "a demonstration load",
            view->seconds);
    fprintf(view->out,
            "%s batches/s   %s tasks/s   %s/s\n%.0f of %.0f batches waiting   %.0f redone   %.0f failed   regret %.2f "
            "%%\n\n",
            figure(RATE(view, "svmx_batches_total", NULL)).line, figure(RATE(view, "svmx_tasks_total", NULL)).line,
            bytes(data).line, cli_samples_sum(view->now, "svmx_batches_under_way", NULL),
            cli_samples_sum(view->now, "svmx_batches_under_way_limit", NULL),
            cli_samples_sum(view->now, "svmx_fallbacks_total", NULL),
            cli_samples_sum(view->now, "svmx_batches_failed_total", NULL), 100 * regret);
}

/* The state that a device is in. */
static struct cli_label state_of(const struct view *view, const char *device) {
    for (size_t i = 0; i < view->now->count; i++) {
        const struct cli_sample *sample = &view->now->list[i];
        if (strcmp(sample->name, "svmx_device_health") == 0 && sample->value > 0 &&
            strcmp(cli_sample_label(sample, "device").text, device) == 0)
            return cli_sample_label(sample, "state");
    }
    return (struct cli_label){"unknown"};
}

/* Its name, and what it is not to be mistaken for. */
static struct cli_label name_of(const struct cli_sample *info) {
    struct cli_label name;
    snprintf(name.text, sizeof name.text, "%.63s%s%s%s", cli_sample_label(info, "name").text,
             strcmp(cli_sample_label(info, "place").text, "cores") == 0 ? " [CPU DEVICE]" : "",
             strcmp(cli_sample_label(info, "kind").text, "modelled") == 0 ? " [MODELLED]" : "",
             strcmp(cli_sample_label(info, "test").text, "true") == 0 ? " [TEST DEVICE]" : "");
    return name;
}

static void device_row(struct cli_table *table, const struct view *view, const struct cli_sample *info) {
    const struct cli_label device = cli_sample_label(info, "device");
    const struct cli_label name = name_of(info);
    const char *id = device.text;
    const double cost = GROWN(view, "svmx_cost_seconds_total", "device", id, NULL);
    const struct cli_label state = state_of(view, id);
    const struct cli_text parts = figure(RATE(view, "svmx_parts_total", "device", id, NULL));
    const struct cli_text busy = percent(GROWN(view, "svmx_busy_seconds_total", "device", id, NULL), view->seconds);
    const struct cli_text useful =
        percent(GROWN(view, "svmx_cost_seconds_total", "device", id, "purpose", "compute", NULL), cost);
    const struct cli_text queue =
        cli_count((uint64_t)cli_samples_sum(view->now, "svmx_device_queue_length", "device", id, NULL));
    const struct cli_text memory = bytes(cli_samples_sum(view->now, "svmx_device_pool_bytes", "device", id, NULL));
    cli_table_row(table, (const char *[]){id, state.text, parts.line, busy.line, useful.line, queue.line, memory.line,
                                          name.text});
}

static void devices(const struct view *view) {
    struct cli_table table = cli_table_start(8);
    table.right = 0x7c;
    table.out = view->out;
    cli_table_row(&table, (const char *[]){"DEVICE", "STATE", "PARTS/S", "BUSY", "USEFUL", "QUEUE", "MEMORY", "NAME"});
    for (size_t i = 0; i < view->now->count; i++)
        if (strcmp(view->now->list[i].name, "svmx_device_info") == 0) device_row(&table, view, &view->now->list[i]);
    cli_table_print(&table);
    fputc('\n', view->out);
}

/* "simd:0 98 %, opencl:0 2 %", of the parts between the texts. */
static struct cli_label where(const struct view *view, const char *op) {
    struct cli_label words = {""};
    const double all = GROWN(view, "svmx_parts_total", "operation", op, NULL);
    size_t used = 0;
    for (size_t i = 0; i < view->now->count && all > 0; i++) {
        if (strcmp(view->now->list[i].name, "svmx_device_info") != 0) continue;
        const struct cli_label device = cli_sample_label(&view->now->list[i], "device");
        const double parts = GROWN(view, "svmx_parts_total", "operation", op, "device", device.text, NULL);
        if (parts <= 0 || used + 40 > sizeof words.text) continue;
        used += (size_t)snprintf(words.text + used, sizeof words.text - used, "%s%.24s %s", used ? ", " : "",
                                 device.text, percent(parts, all).line);
    }
    return words;
}

static void operations(const struct view *view) {
    struct cli_table table = cli_table_start(6);
    table.right = 0x1e;
    table.out = view->out;
    cli_table_row(&table, (const char *[]){"OPERATION", "PARTS/S", "MEDIAN", "99 %", "FAILURES", "WHERE"});
    for (size_t i = 0; i < view->now->count; i++) {
        if (strcmp(view->now->list[i].name, "svmx_route_flips_total") != 0) continue; /* one for each operation */
        const struct cli_label op = cli_sample_label(&view->now->list[i], "operation"), who = where(view, op.text);
        const struct cli_text parts = figure(RATE(view, "svmx_parts_total", "operation", op.text, NULL));
        const struct cli_text median = quantile(view, op.text, 0.5), most = quantile(view, op.text, 0.99);
        const struct cli_text failures =
            cli_count((uint64_t)cli_samples_sum(view->now, "svmx_failures_total", "operation", op.text, NULL));
        cli_table_row(&table, (const char *[]){op.text, parts.line, median.line, most.line, failures.line, who.text});
    }
    cli_table_print(&table);
}

/* Shares of all since the executor was opened. */
static void shares(const struct view *view) {
    static const char *const caches[] = {"pipeline", "layout", "pool", "disk"};
    static const char *const whys[] = {"only", "best", "backlog", "probe", "order", "split"};
    const double all = cli_samples_sum(view->now, "svmx_decisions_total", NULL);
    fprintf(view->out, "Found in caches: ");
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        const double hits = cli_samples_sum(view->now, "svmx_cache_hits_total", "cache", caches[i], NULL);
        const double misses = cli_samples_sum(view->now, "svmx_cache_misses_total", "cache", caches[i], NULL);
        fprintf(view->out, "%s%s %s", i ? ", " : "", caches[i], percent(hits, hits + misses).line);
    }
    fprintf(view->out, "\nChosen because:  ");
    for (size_t i = 0, shown = 0; i < sizeof whys / sizeof *whys; i++) {
        const double count = cli_samples_sum(view->now, "svmx_decisions_total", "why", whys[i], NULL);
        if (count > 0) fprintf(view->out, "%s%s %s", shown++ ? ", " : "", whys[i], percent(count, all).line);
    }
    fputs("\n\n", view->out);
}

void top_view_print(FILE *out, const struct top_source *source, const struct cli_samples *before,
                    const struct cli_samples *now, const struct top_texts *texts, double seconds) {
    const struct view view = {.out = out, .before = before, .now = now, .seconds = seconds};
    head(source, &view);
    devices(&view);
    top_health_print(out, texts);
    shares(&view);
    operations(&view);
    top_more_print(out, texts);
}
