/*
 * levelzero.c: suite levelzero: what the Level Zero plugin adds to plain use of Level Zero: a batch of vector sums as one
 * launch, by the plugin's own functions (submit, wait) and by an executor, beside the same written by hand (peer_ze.h).
 *
 * On a GPU where its driver is installed. Elsewhere on the test driver (tests/drivers/ze_cpu), which computes on the CPU:
 * ratios there are about the plugin, times are about nothing. Every row says which it was.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/kernels/catalog.h"
#include "bench.h"
#include "peer_ze.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>
#include <time.h>

enum { ALIGNED = 16 }; /* floats: slots begin at multiples of 64 bytes */

extern const struct svmx_plugin svmx_plugin; /* the plugin, linked in */

/* ---- the work --------------------------------------------------------------------------------------------------- */

struct work {
    struct fused fused;
    size_t count, total; /* tasks; floats of all */
    size_t *sizes;
    struct svmx_slot *slots; /* the table, at the beginning of the input */
    uint64_t *first_unit;
};

static size_t aligned(size_t floats) { return (floats + ALIGNED - 1) / ALIGNED * ALIGNED; }

static float value_of(size_t task, size_t i) { return (float)((task * 7 + i) % 1009); }

static void *grab(size_t bytes) {
    void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!memory) exit(1);
    return memset(memory, 0, bytes);
}

/* [slots][first_unit][inputs]: as the executor lays it out. */
static void work_fill(struct work *work) {
    const size_t table = aligned((work->count * 3 * sizeof *work->slots + (work->count + 1) * 8 + 3) / 4) * 4;
    size_t padded = 0, at = 0;
    for (size_t t = 0; t < work->count; t++) padded += aligned(work->sizes[t]) * 4;
    work->fused.in_bytes = table + 2 * padded;
    work->fused.out_bytes = padded;
    char *in = grab(work->fused.in_bytes);
    work->fused.in = in;
    work->slots = (struct svmx_slot *)(void *)in;
    work->first_unit = (uint64_t *)(void *)(work->slots + 3 * work->count);
    for (size_t t = 0; t < work->count; t++) {
        const size_t n = work->sizes[t];
        float *a = (float *)(void *)(in + table + at), *b = (float *)(void *)(in + table + padded + at);
        for (size_t i = 0; i < n; i++) a[i] = value_of(t, i), b[i] = 0.5f;
        work->slots[3 * t] = (struct svmx_slot){at, n * 4};
        work->slots[3 * t + 1] = (struct svmx_slot){table + at, n * 4};
        work->slots[3 * t + 2] = (struct svmx_slot){table + padded + at, n * 4};
        work->first_unit[t + 1] = work->first_unit[t] + n;
        at += aligned(n) * 4;
    }
}

static struct work work_make(size_t count, size_t from, size_t to) {
    struct work work = {.count = count, .sizes = malloc(count * sizeof(size_t))};
    uint64_t state = 1;
    if (!work.sizes) exit(1);
    for (size_t t = 0; t < count; t++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        work.sizes[t] = from + (size_t)(state >> 33) % (to - from + 1);
        work.total += work.sizes[t];
    }
    work_fill(&work);
    work.fused.tasks = (uint32_t)count;
    work.fused.units = work.total;
    return work;
}

static void work_free(struct work *work) {
    free((void *)(uintptr_t)work->fused.in);
    free(work->sizes);
}

static bool is_right(const struct work *work, const char *out) {
    for (size_t t = 0; t < work->count; t++) {
        const float *sums = (const float *)(const void *)(out + work->slots[3 * t].at);
        for (size_t i = 0; i < work->sizes[t]; i++)
            if (sums[i] != value_of(t, i) + 0.5f) return false;
    }
    return true;
}

static uint64_t bucket_of(uint64_t units) {
    uint64_t bucket = 16384;
    while (bucket < units) bucket *= 2;
    return bucket;
}

/* ---- by the plugin's functions ---------------------------------------------------------------------------------- */

static void host_log(const struct svmx_host *host, enum svmx_log_level level, const char *text) {
    (void)host;
    if (level == SVMX_LOG_ERROR) fprintf(stderr, "levelzero: %s\n", text);
}

static void *host_alloc(const struct svmx_host *host, size_t bytes, size_t alignment) {
    void *memory = NULL;
    (void)host;
    return posix_memalign(&memory, alignment < sizeof memory ? sizeof memory : alignment, bytes) ? NULL : memory;
}

static void host_release(const struct svmx_host *host, void *memory) {
    (void)host;
    free(memory);
}

static const char *host_option(const struct svmx_host *host, const char *key) {
    (void)host;
    (void)key;
    return NULL;
}

static uint64_t host_now(const struct svmx_host *host) {
    (void)host;
    return bench_now_ns();
}

static const struct svmx_host host = {.size = sizeof host,
                                      .abi_major = SVMX_ABI_MAJOR,
                                      .abi_minor = SVMX_ABI_MINOR,
                                      .log = host_log,
                                      .alloc = host_alloc,
                                      .release = host_release,
                                      .option = host_option,
                                      .now = host_now};

struct ours {
    struct svmx_backend backend;
    struct svmx_pipeline *pipeline;
    struct svmx_memory *host_in, *host_out, *in, *out;
    void *at_in, *at_out;
    struct svmx_command commands[5];
};

static void demand(enum svmx_status status, const char *what) {
    if (status == SVMX_OK) return;
    fprintf(stderr, "%s: %s\n", what, svmx_status_name(status));
    exit(1);
}

static struct svmx_memory *memory_of(struct ours *ours, uint32_t kind, uint32_t usage, size_t bytes, void **at) {
    const struct svmx_memory_desc desc = {.size = sizeof desc, .kind = kind, .usage = usage, .bytes = bytes};
    struct svmx_memory *memory = NULL;
    demand(ours->backend.ops->memory_alloc(ours->backend.self, 0, &desc, &memory, at), "memory_alloc");
    return memory;
}

static void write_commands(struct ours *ours, const struct work *work) {
    const struct fused *fused = &work->fused;
    const struct svmx_span in = {ours->in, 0, fused->in_bytes}, out = {ours->out, 0, fused->out_bytes};
    const struct svmx_span from = {ours->host_in, 0, fused->in_bytes}, to = {ours->host_out, 0, fused->out_bytes};
    ours->commands[0] = (struct svmx_command){.kind = SVMX_COMMAND_COPY_IN, .as.copy = {from, in}};
    ours->commands[1] = ours->commands[3] = (struct svmx_command){.kind = SVMX_COMMAND_BARRIER};
    ours->commands[2] = (struct svmx_command){.kind = SVMX_COMMAND_DISPATCH,
                                              .as.dispatch = {.pipeline = ours->pipeline,
                                                              .slots = work->slots,
                                                              .first_unit = work->first_unit,
                                                              .task_count = fused->tasks,
                                                              .slot_count = 3,
                                                              .inputs = in,
                                                              .outputs = out,
                                                              .table = in}};
    ours->commands[4] = (struct svmx_command){.kind = SVMX_COMMAND_COPY_OUT, .as.copy = {out, to}};
}

static void ours_open(struct ours *ours, const struct work *work) {
    const struct svmx_op_desc op = {.size = sizeof op, .name = "vec_add_f32"};
    const struct svmx_pipeline_desc desc = {.size = sizeof desc, .op = &op, .bucket = bucket_of(work->fused.units)};
    void *none;
    demand(ours->backend.ops->pipeline_build(ours->backend.self, 0, &desc, &ours->pipeline), "pipeline_build");
    ours->host_in = memory_of(ours, SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_WRITE | SVMX_USAGE_COPY_SOURCE,
                              work->fused.in_bytes, &ours->at_in);
    ours->host_out = memory_of(ours, SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_READ | SVMX_USAGE_COPY_TARGET,
                               work->fused.out_bytes, &ours->at_out);
    ours->in = memory_of(ours, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_READ | SVMX_USAGE_COPY_TARGET,
                         work->fused.in_bytes, &none);
    ours->out = memory_of(ours, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_WRITE | SVMX_USAGE_COPY_SOURCE,
                          work->fused.out_bytes, &none);
    memcpy(ours->at_in, work->fused.in, work->fused.in_bytes);
    write_commands(ours, work);
}

static void ours_close(struct ours *ours) {
    struct svmx_memory *const memory[] = {ours->host_in, ours->host_out, ours->in, ours->out};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        ours->backend.ops->memory_free(ours->backend.self, memory[i]);
    ours->backend.ops->pipeline_free(ours->backend.self, ours->pipeline);
}

static void ours_run(void *user, uint64_t repeats) {
    struct ours *ours = user;
    const struct svmx_command_list list = {sizeof list, sizeof *ours->commands, ours->commands, 5};
    const struct svmx_submission submission = {.size = sizeof submission, .list = &list};
    while (repeats-- > 0) {
        struct svmx_timing timing = {.size = sizeof timing};
        uint64_t ticket = 0;
        demand(ours->backend.ops->submit(ours->backend.self, &submission, &ticket), "submit");
        demand(ours->backend.ops->wait(ours->backend.self, 0, ticket, UINT64_C(60000000000), &timing), "wait");
    }
}

/* ---- by an executor --------------------------------------------------------------------------------------------- */

static void batch_run(void *user, uint64_t repeats) {
    svmx_batch_t *batch = user;
    while (repeats-- > 0) {
        demand(svmx_batch_rearm(batch), "svmx_batch_rearm");
        demand(svmx_run(batch), "svmx_run");
    }
}

/* Inputs in memory of the library, outputs too: nothing is copied but by the device. */
static svmx_batch_t *batch_open(svmx_executor_t *executor, const struct work *work) {
    svmx_batch_t *batch;
    void *memory = NULL;
    demand(svmx_batch_create(executor, &batch), "svmx_batch_create");
    demand(svmx_batch_alloc(batch, 2 * work->total * sizeof(float), &memory), "svmx_batch_alloc");
    float *a = memory, *b = a + work->total;
    for (size_t t = 0; t < work->count; t++) {
        const size_t n = work->sizes[t];
        for (size_t i = 0; i < n; i++) a[i] = value_of(t, i), b[i] = 0.5f;
        const struct svmx_arg args[] = {svmx_out_library(SVMX_F32, n), svmx_in(SVMX_F32, a, n),
                                        svmx_in(SVMX_F32, b, n)};
        demand(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), "svmx_batch_add");
        a += n, b += n;
    }
    demand(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, work->total), "svmx_prewarm");
    demand(svmx_run(batch), "svmx_run");
    return batch;
}

static bool ran_on_device(svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    return svmx_receipt_get(batch, 0, &receipt) == SVMX_OK && receipt.device == 0 && receipt.launches == 1;
}

/* ---- side by side ----------------------------------------------------------------------------------------------- */

/* The launch that the plugin makes of it. */
static void describe_launch(struct fused *fused, uint32_t compute_units) {
    const struct catalog_entry *entry = catalog_find("vec_add_f32");
    const struct catalog_variant *variant = catalog_variant(entry, CATALOG_GPU, 0);
    const struct catalog_module *module = catalog_module(entry->op, variant->name);
    const struct catalog_pass *pass = &variant->passes[0];
    fused->spirv = module->words;
    fused->spirv_bytes = module->bytes;
    fused->kernel = pass->kernel;
    fused->local = pass->local;
    fused->grain = catalog_grain(pass, bucket_of(fused->units), compute_units);
    fused->groups = (uint32_t)(catalog_items(pass, fused->grain, fused->units, fused->tasks) / pass->local);
}

static void row(struct bench *bench, const char *name, double ours, double peer, bool asked, bool right,
                const char *note) {
    bench_row(bench, &(struct bench_row){.name = name,
                                         .ours = ours / 1e3,
                                         .peer = peer / 1e3,
                                         .peer_name = "by hand",
                                         .unit = "us",
                                         .ask = asked ? BENCH_RATIO_AT_LEAST : BENCH_NO_ASK,
                                         .bound = 1 / 1.2,
                                         .wrong = !right,
                                         .note = right ? note : "the results are wrong, or of another device"});
}

struct scene {
    struct bench bench;
    struct ours ours;
    svmx_executor_t *executor;
    struct svmx_device_info device;
    const char *note;
};

static void measure(struct scene *scene, struct work *work, const char *name) {
    static struct bench_lane plugin, batch, hand; /* too large for a stack */
    char executors[80];
    describe_launch(&work->fused, scene->device.threads);
    ours_open(&scene->ours, work);
    struct peer_ze *peer = peer_ze_open(&work->fused);
    svmx_batch_t *fused = batch_open(scene->executor, work);
    ours_run(&scene->ours, 1);
    peer_ze_run(peer, 1);
    const bool right = is_right(work, scene->ours.at_out) && is_right(work, peer_ze_out(peer));
    plugin = (struct bench_lane){.run = ours_run, .user = &scene->ours};
    batch = (struct bench_lane){.run = batch_run, .user = fused};
    hand = (struct bench_lane){.run = peer_ze_run, .user = peer};
    bench_measure(&scene->bench, (struct bench_lane *const[]){&plugin, &hand, &batch}, 3);
    const double by_hand = bench_median(&scene->bench, &hand);
    row(&scene->bench, name, bench_median(&scene->bench, &plugin), by_hand, true, right, scene->note);
    (void)snprintf(executors, sizeof executors, "%s, by svmx_run", name);
    row(&scene->bench, executors, bench_median(&scene->bench, &batch), by_hand, false, ran_on_device(fused),
        scene->note);
    svmx_batch_destroy(fused);
    peer_ze_close(peer);
    ours_close(&scene->ours);
}

/* The driver of Intel GPUs, or else ours. */
static void choose_driver(void) {
    const char *test = getenv("SVMX_BENCH_ZE_DRIVER");
    void *intel = dlopen("libze_intel_gpu.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (intel)
        (void)dlclose(intel);
    else if (test && *test)
        setenv("ZE_ENABLE_ALT_DRIVERS", test, 0);
}

static bool scene_open(struct scene *scene) {
    const struct svmx_options options = {
        .size = sizeof options, .backends = "+levelzero,stop", .policy = "order", .timeout_ms = 60000};
    choose_driver();
    if (svmx_plugin.open(&host, &scene->ours.backend) != SVMX_OK) return false;
    scene->device = (struct svmx_device_info){.size = sizeof scene->device};
    demand(scene->ours.backend.ops->device_info(scene->ours.backend.self, 0, &scene->device), "device_info");
    scene->note = scene->device.flags & SVMX_DEVICE_TEST ? "CPU test driver, not a GPU" : NULL;
    return svmx_open(&scene->executor, &options, NULL) == SVMX_OK;
}

int main(void) {
    static struct scene scene;
    bench_open(&scene.bench, "levelzero");
    if (!scene_open(&scene)) {
        bench_row(&scene.bench, &(struct bench_row){.name = "a fused batch",
                                                    .ours = NAN,
                                                    .peer = NAN,
                                                    .unit = "us",
                                                    .note = "skipped: no Level Zero driver"});
        return bench_close(&scene.bench);
    }
    printf("%-10s on %s (%s)\n", "levelzero", scene.device.name, scene.device.driver);
    struct work many = work_make(10000, 64, 1024), some = work_make(100, 64, 1024);
    measure(&scene, &many, "10,000 vec_add_f32 of 64 to 1,024 as one launch");
    measure(&scene, &some, "100 vec_add_f32 of 64 to 1,024 as one launch");
    work_free(&many);
    work_free(&some);
    svmx_close(scene.executor);
    scene.ours.backend.ops->close(scene.ours.backend.self);
    return bench_close(&scene.bench);
}
