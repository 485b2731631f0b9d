/*
 * devices.c: suite devices: work of a batch cut over several devices: equal ones on buses of their own and on a shared one,
 * unequal ones, one that is lost in mid-batch and comes back; and SIMD beside an OpenCL driver on the same cores.
 *
 * GPUs are modelled (plugins/sim), in real time, and so slow that two cores compute all that eight of them would: what is
 * measured is how the work is shared out, not how fast a GPU is. Each figure is the throughput of a stream of batches, two
 * of them under way; every result is compared with plain code, or with that of the reference code. The same without a clock is
 * devices_virtual.c. Streams on the drivers of this machine, all of which compute on its cores, show that several real devices
 * work side by side, not how fast.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../drivers/ze_cpu/use.h"
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>
#include <unistd.h>

enum { TASKS = 64, ITEMS = 4096, UNDER_WAY = 2, BATCHES = 6, MOST_ROUNDS = 5, WARM_UP = 8 };
static const double ALONE_MS = 524.288; /* what a batch computes on one device: TASKS x ITEMS at the rate below */

/* ---- a stream of batches ------------------------------------------------------------------------------------------- */

struct stream {
    svmx_executor_t *executor;
    svmx_batch_t *batch[UNDER_WAY];
    bool wrong;
};

static float a[TASKS * ITEMS], b[TASKS * ITEMS], out[UNDER_WAY][TASKS * ITEMS], sum[TASKS * ITEMS];

static void expect(enum svmx_status status, const char *what) {
    if (status == SVMX_OK) return;
    fprintf(stderr, "%s: %s\n", what, svmx_status_name(status));
    exit(1);
}

static void make_batch(struct stream *stream, int which) {
    expect(svmx_batch_create(stream->executor, &stream->batch[which]), "svmx_batch_create");
    for (size_t t = 0; t < TASKS; t++) {
        const size_t at = t * ITEMS;
        expect(svmx_vec_add_f32(stream->batch[which], out[which] + at, a + at, b + at, ITEMS), "svmx_vec_add_f32");
    }
}

static void submit(struct stream *stream, int which) {
    memset(out[which], 0, sizeof out[which]);
    expect(svmx_submit(stream->batch[which], 0), "svmx_submit");
}

static void take(struct stream *stream, int which) {
    expect(svmx_wait(stream->batch[which], UINT64_MAX), "svmx_wait");
    stream->wrong |= memcmp(out[which], sum, sizeof sum) != 0;
    expect(svmx_batch_rearm(stream->batch[which]), "svmx_batch_rearm");
}

/* Runs so many batches, and returns ms for one, from the first submission to the last result. */
static double run(struct stream *stream, uint32_t batches) {
    const uint64_t first_ns = bench_now_ns();
    for (uint32_t i = 0; i < batches + UNDER_WAY; i++) {
        if (i >= UNDER_WAY) take(stream, (int)(i % UNDER_WAY));
        if (i < batches) submit(stream, (int)(i % UNDER_WAY));
    }
    return (double)(bench_now_ns() - first_ns) / 1e6 / batches;
}

static int by_value(const void *x, const void *y) {
    const double p = *(const double *)x, q = *(const double *)y;
    return (p > q) - (p < q);
}

/* The median of some rounds; for a look one will do, since modelled times hardly differ. */
static double measure(const struct bench *bench, struct stream *stream) {
    double ms[MOST_ROUNDS];
    const uint32_t rounds = bench->quick ? 1 : bench_rounds(bench, MOST_ROUNDS);
    for (uint32_t i = 0; i < rounds; i++) ms[i] = run(stream, BATCHES);
    qsort(ms, rounds, sizeof *ms, by_value);
    return ms[rounds / 2];
}

/* ---- modelled devices ----------------------------------------------------------------------------------------------- */

static char model_path[] = "/tmp/svmx-bench-XXXXXX";

static void write_model(const char *name, const char *bus, const char *more) {
    FILE *file = fopen(model_path, "w");
    if (!file) exit(1);
    fprintf(file,
            "name %s\nmemory separate\ncreate 0 ns\ndispatch 20 us\nupload 10 us\nreadback 10 us\ncopy_engines 2\n"
            "op * rate 0.0005 work/ns\ncpu op * rate 1 work/ns\n%s%s",
            name, bus, more);
    if (fclose(file) != 0) exit(1);
}

static const char own_bus[] = "upload_rate 10 GB/s\nreadback_rate 10 GB/s\n";

/* false: there are no modelled devices here. */
static bool open_model(struct stream *stream, const char *name, const char *bus, const char *more) {
    char backends[64];
    struct svmx_error error;
    write_model(name, bus, more);
    (void)snprintf(backends, sizeof backends, "+sim:%s,stop", name);
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = backends,
                                         .policy = "auto",
                                         .profile = "off",
                                         .timeout_ms = 60000,
                                         .log_level = SVMX_LOG_ERROR};
    *stream = (struct stream){0};
    if (svmx_open(&stream->executor, &options, &error) != SVMX_OK) {
        fprintf(stderr, "%s\n", error.text);
        return false;
    }
    for (int i = 0; i < UNDER_WAY; i++) make_batch(stream, i);
    return true;
}

static void close_stream(struct stream *stream) {
    for (int i = 0; i < UNDER_WAY; i++) svmx_batch_destroy(stream->batch[i]);
    svmx_close(stream->executor);
}

/* What a batch takes on the devices of a model, ms; NAN: they are not here. */
static double ms_of(const struct bench *bench, const char *name, const char *bus, const char *more, bool *wrong) {
    struct stream stream;
    if (!open_model(&stream, name, bus, more)) return (double)NAN;
    (void)run(&stream, WARM_UP);
    const double ms = measure(bench, &stream);
    *wrong = stream.wrong;
    close_stream(&stream);
    return ms;
}

static void row(struct bench *bench, const char *name, double ours, const char *unit, double bound, bool wrong,
                const char *note) {
    bench_row(bench, &(struct bench_row){.name = name,
                                         .ours = ours,
                                         .peer = NAN,
                                         .unit = unit,
                                         .more_is_better = true,
                                         .ask = bound > 0 ? BENCH_OURS_AT_LEAST : BENCH_NO_ASK,
                                         .bound = bound,
                                         .wrong = wrong,
                                         .note = isnan(ours) ? "skipped: no modelled devices" : note});
}

/* ---- equal ones, and others ------------------------------------------------------------------------------------------ */

static void run_equal(struct bench *bench) {
    static const struct {
        const char *name, *model, *devices;
        double ask;
    } scenes[] = {{"1 modelled GPU beside its model", "alone", "", 0.9},
                  {"2 equal modelled GPUs, own buses", "two", "devices 2\n", 1.9},
                  {"4 equal modelled GPUs, own buses", "four", "devices 4\n", 3.7},
                  {"8 equal modelled GPUs, own buses", "eight", "devices 8\n", 7}};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        bool wrong = false;
        const double ms = ms_of(bench, scenes[i].model, own_bus, scenes[i].devices, &wrong);
        row(bench, scenes[i].name, ALONE_MS / ms, "x one", scenes[i].ask, wrong, NULL);
    }
}

/* 8 bytes of input for an item: the bus takes 200 ms for a batch, each of four devices computes for 131. */
static void run_shared(struct bench *bench) {
    bool wrong = false;
    const double ms = ms_of(bench, "crowded", "upload_rate 0.010486 GB/s\nreadback_rate 0.010486 GB/s\nbus shared\n",
                            "devices 4\n", &wrong);
    row(bench, "4 equal ones on one bus, of what it allows", 8e-6 * TASKS * ITEMS / 0.010486 / ms, "of bus", 0.9, wrong,
        NULL);
}

static void run_unequal(struct bench *bench) {
    bool wrong = false;
    const double ms = ms_of(bench, "unequal", own_bus, "devices 4\ndevice 2 slow 2 x\ndevice 3 slow 2 x\n", &wrong);
    row(bench, "2 fast and 2 of half the speed, of their sum", ALONE_MS / 3 / ms, "of sum", 0.9, wrong, NULL);
}

/* ---- one that is lost ------------------------------------------------------------------------------------------------ */

static bool has_health(const struct stream *stream, uint32_t index, bool healthy) {
    struct svmx_device device = {.size = sizeof device};
    expect(svmx_device_get(stream->executor, index, &device), "svmx_device_get");
    return (device.health == SVMX_HEALTHY) == healthy && (healthy || device.health > SVMX_SUSPECT);
}

static void run_lost(struct bench *bench) {
    enum { LOST = 2, PATIENCE = 200 };
    struct stream stream;
    const bool here = open_model(&stream, "fragile", own_bus, "devices 4\nat launch 120 lost 2\n");
    double three_ms = NAN, four_ms = NAN;
    uint32_t batches = 0;
    while (here && !has_health(&stream, LOST, false) && batches++ < PATIENCE) (void)run(&stream, UNDER_WAY);
    if (here && batches < PATIENCE) {
        three_ms = run(&stream, BATCHES - 2); /* it rests for a second: these are over before */
        for (batches = 0; !has_health(&stream, LOST, true) && batches < PATIENCE; batches++)
            (void)run(&stream, UNDER_WAY);
        if (batches < PATIENCE) four_ms = measure(bench, &stream);
    }
    row(bench, "one of 4 lost: from the next batch, of three", ALONE_MS / 3 / three_ms, "of three", 0.9,
        here && stream.wrong, "lost in mid-batch; all results right");
    row(bench, "and back in, of four", ALONE_MS / 4 / four_ms, "of four", 0.9, here && stream.wrong, NULL);
    if (here) close_stream(&stream);
}

/* ---- SIMD and a driver on the same cores ------------------------------------------------------------------------------- */

enum { POLICIES = 4 };
struct cores {
    svmx_batch_t *batch;
    uint32_t policy;
};

static void run_policy(void *user, uint64_t repeats) {
    const struct cores *cores = user;
    expect(svmx_batch_set_policy(cores->batch, cores->policy), "svmx_batch_set_policy");
    while (repeats--) {
        expect(svmx_run(cores->batch), "svmx_run");
        expect(svmx_batch_rearm(cores->batch), "svmx_batch_rearm");
    }
}

/* Before each slice: OpenCL leaves copies of 48 MB in the caches, and whoever comes next would pay for that. What is left of
 * it each pays alike: any of them may be next. */
static void run_once_before(void *user) { run_policy(user, 1); }

/* The same inputs, computed by the reference code: the outputs that everybody must give. */
static struct svmx_example expected_of(uint32_t op, uint64_t units) {
    const struct svmx_options options = {.size = sizeof options, .backends = "none", .profile = "off"};
    struct svmx_example example;
    svmx_executor_t *reference;
    svmx_batch_t *batch;
    expect(svmx_open(&reference, &options, NULL), "svmx_open");
    expect(svmx_example_create(reference, op, units, 1, &example), "svmx_example_create");
    expect(svmx_batch_create(reference, &batch), "svmx_batch_create");
    expect(svmx_batch_add(batch, op, example.args, example.arg_count), "svmx_batch_add");
    expect(svmx_run(batch), "svmx_run");
    svmx_batch_destroy(batch);
    svmx_close(reference);
    return example;
}

/* Both operations here have one output, the first argument. */
static void spoil_output(const struct svmx_example *example) {
    memset(example->args[0].from.out, 0x5a, example->args[0].bytes);
}

static bool is_right(const struct svmx_example *example, const struct svmx_example *expected) {
    const struct svmx_arg *ours = &example->args[0], *theirs = &expected->args[0];
    return ours->bytes == theirs->bytes && memcmp(ours->from.out, theirs->from.out, ours->bytes) == 0;
}

static void compare_cores(struct bench *bench, svmx_executor_t *executor, uint32_t op, uint64_t units,
                          const char *name) {
    static const uint32_t policies[POLICIES] = {SVMX_POLICY_AUTO, SVMX_POLICY_SPLIT, SVMX_POLICY_CPU, SVMX_POLICY_GPU};
    static struct bench_lane lanes[POLICIES]; /* too large for a stack */
    struct bench_lane *list[POLICIES];
    struct cores cores[POLICIES] = {{0}};
    struct svmx_example example;
    svmx_batch_t *batch;
    double ms[POLICIES];
    expect(svmx_example_create(executor, op, units, 1, &example), "svmx_example_create");
    expect(svmx_batch_create(executor, &batch), "svmx_batch_create");
    expect(svmx_batch_add(batch, op, example.args, example.arg_count), "svmx_batch_add");
    expect(svmx_prewarm(executor, op, units), "svmx_prewarm");
    for (int i = 0; i < POLICIES; i++) {
        cores[i] = (struct cores){batch, policies[i]};
        lanes[i] = (struct bench_lane){.enter = run_once_before, .run = run_policy, .user = &cores[i]};
        list[i] = &lanes[i];
        for (int n = 0; n < WARM_UP; n++) run_policy(&cores[i], 1);
    }
    bench->shuffles = true;
    bench_measure(bench, list, POLICIES);
    bench->shuffles = false;
    for (int i = 0; i < POLICIES; i++) ms[i] = bench_median(bench, &lanes[i]) / 1e6;
    struct svmx_example expected = expected_of(op, units);
    bool wrong = false;
    for (int i = 0; i < POLICIES; i++) {
        spoil_output(&example);
        run_policy(&cores[i], 1);
        wrong |= !is_right(&example, &expected);
    }
    svmx_example_destroy(&expected);
    const double better = ms[2] < ms[3] ? ms[2] : ms[3], worse_of_ours = ms[0] > ms[1] ? ms[0] : ms[1];
    char note[128];
    (void)snprintf(note, sizeof note, "ms: auto %.3f, split %.3f, SIMD alone %.3f, OpenCL alone %.3f", ms[0], ms[1],
                   ms[2], ms[3]);
    row(bench, name, better / worse_of_ours, "of better", 0.95, wrong, note);
    svmx_batch_destroy(batch);
    svmx_example_destroy(&example);
}

static void run_cores(struct bench *bench) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "+simd,+opencl:cpu*1,stop",
                                         .policy = "auto",
                                         .profile = "off",
                                         .timeout_ms = 60000,
                                         .log_level = SVMX_LOG_ERROR};
    static const char *const names[] = {"SIMD and OpenCL on the same cores: vec_add_f32",
                                        "SIMD and OpenCL on the same cores: keccak256"};
    svmx_executor_t *executor;
    struct svmx_error error;
    if (svmx_open(&executor, &options, &error) != SVMX_OK) {
        for (int i = 0; i < 2; i++)
            bench_row(bench, &(struct bench_row){.name = names[i],
                                                 .ours = NAN,
                                                 .peer = NAN,
                                                 .unit = "of better",
                                                 .note = "skipped: no SIMD or no OpenCL device on the CPU"});
        return;
    }
    compare_cores(bench, executor, SVMX_OP_VEC_ADD_F32, 1 << 22, names[0]);
    compare_cores(bench, executor, SVMX_OP_KECCAK256, 1 << 16, names[1]);
    svmx_close(executor);
}

/* ---- several drivers at once ------------------------------------------------------------------------------------------ */

enum { REAL_UNDER_WAY = 4, REAL_BATCHES = 64, REAL_UNITS = 4096 };

/* "PoCL ...: 40 launches; ..." */
static void name_devices(const svmx_executor_t *executor, char *text, size_t bytes) {
    struct svmx_device device = {.size = sizeof device};
    size_t used = 0;
    for (uint32_t i = 0; i + 1 < svmx_device_count(executor) && used < bytes; i++) {
        expect(svmx_device_get(executor, i, &device), "svmx_device_get");
        used += (size_t)snprintf(text + used, bytes - used, "%s%s:%u %.20s %u", i ? "; " : "", device.backend,
                                 device.index, device.name, (unsigned)device.launches);
    }
    if (used < bytes) (void)snprintf(text + used, bytes - used, " launches");
}

/* A stream over them, each result compared; who gets how much of it the router decides. */
static double run_real_stream(svmx_executor_t *executor, bool *wrong) {
    struct svmx_example examples[REAL_UNDER_WAY], expected = expected_of(SVMX_OP_KECCAK256, REAL_UNITS);
    svmx_batch_t *batches[REAL_UNDER_WAY];
    expect(svmx_prewarm(executor, SVMX_OP_KECCAK256, REAL_UNITS), "svmx_prewarm");
    for (int i = 0; i < REAL_UNDER_WAY; i++) {
        expect(svmx_example_create(executor, SVMX_OP_KECCAK256, REAL_UNITS, 1, &examples[i]), "svmx_example_create");
        expect(svmx_batch_create(executor, &batches[i]), "svmx_batch_create");
        expect(svmx_batch_add(batches[i], SVMX_OP_KECCAK256, examples[i].args, examples[i].arg_count),
               "svmx_batch_add");
    }
    const uint64_t first_ns = bench_now_ns();
    for (uint32_t i = 0; i < REAL_BATCHES + REAL_UNDER_WAY; i++) {
        const uint32_t which = i % REAL_UNDER_WAY;
        if (i >= REAL_UNDER_WAY) {
            expect(svmx_wait(batches[which], UINT64_MAX), "svmx_wait");
            *wrong |= !is_right(&examples[which], &expected);
            expect(svmx_batch_rearm(batches[which]), "svmx_batch_rearm");
        }
        if (i >= REAL_BATCHES) continue;
        spoil_output(&examples[which]);
        expect(svmx_submit(batches[which], 0), "svmx_submit");
    }
    const double seconds = (double)(bench_now_ns() - first_ns) / 1e9;
    for (int i = 0; i < REAL_UNDER_WAY; i++) {
        svmx_batch_destroy(batches[i]);
        svmx_example_destroy(&examples[i]);
    }
    svmx_example_destroy(&expected);
    return REAL_BATCHES / seconds;
}

/* `least`: devices that must be there, the reference code not counted. */
static void run_real(struct bench *bench, const char *name, const char *backends, uint32_t least) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = backends,
                                         .policy = "auto",
                                         .profile = "off",
                                         .timeout_ms = 60000,
                                         .log_level = SVMX_LOG_ERROR};
    struct bench_row result = {.name = name, .ours = NAN, .peer = NAN, .unit = "batches/s", .more_is_better = true};
    svmx_executor_t *executor;
    struct svmx_error error;
    char note[256];
    result.note = note;
    if (svmx_open(&executor, &options, &error) != SVMX_OK) {
        (void)snprintf(note, sizeof note, "skipped: %.200s", error.text);
    } else if (svmx_device_count(executor) < least + 1) {
        (void)snprintf(note, sizeof note, "skipped: %u of %u devices are here", svmx_device_count(executor) - 1, least);
        svmx_close(executor);
    } else {
        result.ours = run_real_stream(executor, &result.wrong);
        name_devices(executor, note, sizeof note);
        svmx_close(executor);
    }
    bench_row(bench, &result);
}

static void run_drivers(struct bench *bench) {
    static const char name[] = "three devices of Level Zero (TEST DRIVER, no GPU)";
    const char *why = ze_cpu_missing();
    run_real(bench, "SIMD, PoCL and Rusticl, all on the cores", "+simd,+opencl:cpu,stop", 3);
    if (why) {
        char note[160];
        (void)snprintf(note, sizeof note, "skipped: %s", why);
        bench_row(bench,
                  &(struct bench_row){.name = name, .ours = NAN, .peer = NAN, .unit = "batches/s", .note = note});
        return;
    }
    ze_cpu_use("bench_devices");
    (void)setenv("ZE_CPU_DEVICES", "3", 1);
    run_real(bench, name, "+levelzero,stop", 3);
}

/* SVMX_BENCH_ONLY names a scene here: each is opened as a whole. */
static bool is_wanted(const struct bench *bench, const char *scene) {
    return !bench->only || strcmp(bench->only, scene) == 0;
}

int main(void) {
    static struct bench bench;
    const int fd = mkstemp(model_path);
    if (fd < 0 || close(fd) != 0 || setenv("SUPERVM_SIM_MODEL", model_path, 1) != 0) return 1;
    (void)setenv("RUSTICL_ENABLE", "llvmpipe", 0); /* before the first driver is loaded */
    for (size_t i = 0; i < TASKS * ITEMS; i++) {
        a[i] = (float)(i % 1000) / 500 - 1;
        b[i] = (float)(i % 77);
        sum[i] = a[i] + b[i];
    }
    bench_open(&bench, "devices");
    if (is_wanted(&bench, "equal")) run_equal(&bench);
    if (is_wanted(&bench, "shared")) run_shared(&bench);
    if (is_wanted(&bench, "unequal")) run_unequal(&bench);
    if (is_wanted(&bench, "lost")) run_lost(&bench);
    if (is_wanted(&bench, "cores")) run_cores(&bench);
    if (is_wanted(&bench, "drivers")) run_drivers(&bench);
    (void)unlink(model_path);
    return bench_close(&bench);
}
