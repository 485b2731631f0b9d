/*
 * trace_events.c: launches as trace events, the JSON that scripts/trace-html and Perfetto (ui.perfetto.dev) read.
 *
 * A device is a process of the trace, a stage one of its threads. Two events of a lane must not overlap: what would goes to
 * a lane of its own behind the first ("device 2"), so a picture with more lanes is one with more under way at once.
 *
 * Of its engines a device tells how long they worked, not when: they are drawn as early as they can have worked, each engine
 * with one launch after another, in the order in which the launches were handed over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "text.h"
#include "trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const stage_names[TRACE_LANES] = {"waiting",    "placing inputs", "device",     "taking results",
                                                     "copying in", "computing",      "copying out"};

struct event {
    const struct trace_launch *launch;
    enum trace_stage stage;
    uint64_t start_ns, end_ns;
    size_t lane;
};

struct lane {
    const struct trace_launch *of; /* a launch of its device */
    enum trace_stage stage;
    size_t process;  /* of the trace: its device */
    unsigned number; /* of its stage, from 1 */
    uint64_t end_ns; /* of its last event */
};

/* ---- lanes ---- */

static bool same_slice(struct cli_slice a, struct cli_slice b) {
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

static bool same_device(const struct trace_launch *a, const struct trace_launch *b) {
    return a->device == b->device && same_slice(a->backend, b->backend) && same_slice(a->name, b->name);
}

static int by_start(const void *a, const void *b) {
    const struct event *one = a, *other = b;
    if (one->start_ns != other->start_ns) return one->start_ns < other->start_ns ? -1 : 1;
    return (one->end_ns > other->end_ns) - (one->end_ns < other->end_ns);
}

/* Stages that took no time are no events. */
static struct event *events_make(const struct trace *trace, size_t *count) {
    struct event *events = cli_grow(NULL, trace->count * TRACE_LANES + 1, sizeof *events);
    *count = 0;
    for (size_t i = 0; i < trace->count; i++) {
        uint64_t at = trace->launches[i].start_ns;
        for (enum trace_stage stage = TRACE_WAIT; stage < TRACE_STAGES; stage++) {
            const uint64_t end = at + trace->launches[i].stage_ns[stage];
            if (end > at) events[(*count)++] = (struct event){&trace->launches[i], stage, at, end, 0};
            at = end;
        }
    }
    qsort(events, *count, sizeof *events, by_start);
    return events;
}

/* When the engines of a device are free. */
struct engines {
    const struct trace_launch *of;
    uint64_t free_ns[TRACE_LANES];
};

static struct engines *engines_of(const struct trace_launch *launch, struct engines **all, size_t *count) {
    for (size_t i = 0; i < *count; i++)
        if (same_device((*all)[i].of, launch)) return &(*all)[i];
    *all = cli_grow(*all, *count + 1, sizeof **all);
    (*all)[*count] = (struct engines){.of = launch};
    return &(*all)[(*count)++];
}

/* Behind the events, which are in order and hold a TRACE_RUN for each launch that has engines: there is room. */
static void add_engines(struct event *events, size_t *count) {
    struct engines *all = NULL;
    size_t devices = 0;
    for (size_t i = 0, end = *count; i < end; i++) {
        if (events[i].stage != TRACE_RUN || !events[i].launch->stage_ns[TRACE_COMPUTE]) continue;
        struct engines *engines = engines_of(events[i].launch, &all, &devices);
        uint64_t at = events[i].start_ns;
        for (enum trace_stage stage = TRACE_COPY_IN; stage < TRACE_LANES; stage++) {
            if (at < engines->free_ns[stage]) at = engines->free_ns[stage];
            const uint64_t start = at;
            at += events[i].launch->stage_ns[stage];
            if (at > start) events[(*count)++] = (struct event){events[i].launch, stage, start, at, 0};
            engines->free_ns[stage] = at;
        }
    }
    free(all);
    qsort(events, *count, sizeof *events, by_start);
}

/* The first lane of its device and stage that is free by then, or a new one. */
static size_t lane_for(const struct event *event, struct lane **lanes, size_t *count) {
    size_t process = 0, processes = 0;
    unsigned number = 1;
    for (size_t i = 0; i < *count; i++) {
        const struct lane *lane = &(*lanes)[i];
        if (lane->process > processes) processes = lane->process;
        if (!same_device(lane->of, event->launch)) continue;
        process = lane->process;
        if (lane->stage != event->stage) continue;
        if (lane->end_ns <= event->start_ns) return i;
        number++;
    }
    *lanes = cli_grow(*lanes, *count + 1, sizeof **lanes);
    (*lanes)[*count] = (struct lane){event->launch, event->stage, process ? process : processes + 1, number, 0};
    return (*count)++;
}

/* ---- writing ---- */

/* Lanes stand in the order of stages. */
static unsigned thread_of(const struct lane *lane) { return 1000 * (1 + (unsigned)lane->stage) + lane->number; }

static void write_slice(FILE *out, struct cli_slice slice) { (void)fwrite(slice.at, 1, slice.length, out); }
static void write_inner(FILE *out, struct cli_slice text) { (void)fwrite(text.at + 1, 1, text.length - 2, out); }

/* Whether the line of a launch has a field with that value. */
static bool is_said(const struct trace_launch *launch, const char *field, const char *value) {
    const struct cli_slice found = cli_field(launch->line, field);
    return found.at && found.length == strlen(value) && memcmp(found.at, value, found.length) == 0;
}

static void write_lane(FILE *out, const struct lane *lane) {
    fprintf(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%zu,\"tid\":0,\"args\":{\"name\":\"%" PRIu64 " ",
            lane->process, lane->of->device);
    write_inner(out, lane->of->backend);
    fputs(": ", out);
    write_inner(out, lane->of->name);
    fprintf(out, "%s%s%s", is_said(lane->of, "place", "\"cores\"") ? " [CPU DEVICE]" : "",
            is_said(lane->of, "modelled", "true") ? " [MODELLED]" : "",
            is_said(lane->of, "test", "true") ? " [TEST DEVICE]" : "");
    fprintf(out, "\"}},\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%zu,\"tid\":%u,\"args\":{\"name\":\"%s",
            lane->process, thread_of(lane), stage_names[lane->stage]);
    if (lane->number > 1) fprintf(out, " %u", lane->number);
    fputs("\"}},\n", out);
}

/* What of the receipt is shown beside an event. */
static void write_arguments(FILE *out, struct cli_slice line) {
    static const char *const names[] = {"number", "tag",    "tasks",     "units",       "bytes_in",    "bytes_out",
                                        "policy", "why",    "launches",  "expected_ns", "transfer_ns", "compute_ns",
                                        "redone", "reason", "first_use", "contended",   "failed"};
    const char *between = "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct cli_slice value = cli_field(line, names[i]);
        if (!value.at) continue;
        fprintf(out, "%s\"%s\":", between, names[i]);
        write_slice(out, value);
        between = ",";
    }
}

static void write_event(FILE *out, const struct event *event, const struct lane *lane, uint64_t origin_ns) {
    const uint64_t at = event->start_ns - origin_ns, took = event->end_ns - event->start_ns;
    fputs("{\"ph\":\"X\",\"name\":", out);
    write_slice(out, cli_field_text(event->launch->line, "operation"));
    fprintf(out, ",\"cat\":\"%s\",\"pid\":%zu,\"tid\":%u,\"ts\":%" PRIu64 ".%03u,\"dur\":%" PRIu64 ".%03u,\"args\":{",
            stage_names[event->stage], lane->process, thread_of(lane), at / 1000, (unsigned)(at % 1000), took / 1000,
            (unsigned)(took % 1000));
    write_arguments(out, event->launch->line);
    fputs("}},\n", out);
}

size_t trace_write(const struct trace *trace, FILE *out) {
    struct lane *lanes = NULL;
    size_t lane_count = 0, count;
    struct event *events = events_make(trace, &count);
    add_engines(events, &count);
    for (size_t i = 0; i < count; i++) {
        events[i].lane = lane_for(&events[i], &lanes, &lane_count);
        lanes[events[i].lane].end_ns = events[i].end_ns;
    }
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
    for (size_t i = 0; i < lane_count; i++) write_lane(out, &lanes[i]);
    for (size_t i = 0; i < count; i++) write_event(out, &events[i], &lanes[events[i].lane], events[0].start_ns);
    /* an object that all readers pass over, so that no comma is too many */
    fputs("{\"ph\":\"M\",\"name\":\"trace_end\",\"pid\":0,\"tid\":0,\"args\":{}}\n]}\n", out);
    free(events);
    free(lanes);
    return lane_count;
}
