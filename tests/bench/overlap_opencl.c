/*
 * overlap_opencl.c: suite overlap on the OpenCL devices of the machine: a continuous stream of batches in the compositions that
 * batches have, with a window of 3 launches against one launch at a time.
 *
 * What is asked for is asked of PoCL; it computes on the host's cores, so there is nothing to win but the time between two
 * launches: it shows that the window costs nothing, not how fast a GPU is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"
#include "stream.h"

#include <math.h>
#include <string.h>

enum { MAX_TASKS = 8, AT_ONCE = 16 };
#define EQUAL 0.97 /* two lanes that do the same differ by as much */

static const struct composition {
    const char *name;
    size_t count;
    size_t pattern[4], pattern_length; /* repeated until there are `count` */
} compositions[] = {
    {"Uniform-32k x4", 4, {32768}, 1},
    {"Uniform-64k x4", 4, {65536}, 1},
    {"Mixed-Same-Bucket x4", 4, {20000, 25000, 30000, 28000}, 4},
    {"Mixed-Adjacent x4", 4, {20000, 40000}, 2},
    {"Mixed-Diverse x4", 4, {16000, 30000, 60000, 120000}, 4},
    {"Large-Uniform x8", 8, {500000}, 1},
    {"Large-Mixed x6", 6, {250000, 500000}, 2},
};

/* A lane: repeats of so many batches, so that a stream is one. */
static void run(void *user, uint64_t repeats) { stream_run(user, repeats * AT_ONCE); }

static void row(struct bench *bench, const char *name, const struct svmx_device *device, struct bench_lane *lanes[2],
                bool right) {
    char text[96];
    const bool pocl = strstr(device->driver, "Portable Computing Language") || strstr(device->driver, "PoCL");
    (void)snprintf(text, sizeof text, "%s, %.24s", name, pocl ? "PoCL" : device->name);
    bench_row(bench, &(struct bench_row){.name = text,
                                         .ours = bench_median(bench, lanes[0]) / 1e3,
                                         .peer = bench_median(bench, lanes[1]) / 1e3,
                                         .peer_name = "window 1",
                                         .unit = "us a batch",
                                         .ask = pocl ? BENCH_RATIO_AT_LEAST : BENCH_NO_ASK,
                                         .bound = EQUAL,
                                         .wrong = !right,
                                         .note = right ? NULL : "the results are wrong, or of another device"});
}

/* false: there is no device of that number. */
static bool measure(struct bench *bench, uint32_t index, const struct composition *composition, bool *is_test) {
    static struct bench_lane windowed, single; /* too large for a stack */
    struct bench_lane *lanes[2] = {&windowed, &single};
    struct stream streams[2];
    struct svmx_device device = {.size = sizeof device};
    size_t sizes[MAX_TASKS];
    char backends[64];
    (void)snprintf(backends, sizeof backends, "+opencl:%u,stop", index);
    for (size_t i = 0; i < composition->count; i++) sizes[i] = composition->pattern[i % composition->pattern_length];
    for (uint32_t i = 0; i < 2; i++) {
        const struct svmx_options options = {.size = sizeof options,
                                             .backends = backends,
                                             .timeout_ms = 60000,
                                             .window = i ? 1 : 3,
                                             .log_level = SVMX_LOG_ERROR};
        if (!stream_open(&streams[i], &options, sizes, composition->count)) return false;
        *lanes[i] = (struct bench_lane){.run = run, .user = &streams[i], .items = AT_ONCE};
    }
    const bool right = stream_is_right(&streams[0]) && stream_is_right(&streams[1]);
    *is_test = svmx_device_get(streams[0].executor, 0, &device) == SVMX_OK && (device.flags & SVMX_DEVICE_TEST);
    if (!*is_test) {
        bench_measure(bench, lanes, 2);
        row(bench, composition->name, &device, lanes, right);
    }
    for (int i = 0; i < 2; i++) stream_close(&streams[i]);
    return true;
}

int main(void) {
    struct bench bench;
    bool any = false, is_test = false;
    bench_open(&bench, "overlap");
    bench.rounds = bench_rounds(&bench, 41); /* a slice is a stream: ms each */
    bench.patience_ns = 0;
    for (uint32_t index = 0; index < 8; index++)
        for (size_t i = 0; i < sizeof compositions / sizeof *compositions; i++) {
            if (!measure(&bench, index, &compositions[i], &is_test) || is_test) break;
            any = true;
        }
    if (!any)
        bench_row(&bench, &(struct bench_row){.name = "stream on an OpenCL device",
                                              .ours = NAN,
                                              .peer = NAN,
                                              .unit = "us a batch",
                                              .note = "skipped: no OpenCL device"});
    return bench_close(&bench);
}
