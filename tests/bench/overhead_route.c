/*
 * overhead_route.c: suite overhead: what it costs to choose the device of a part, with four devices to choose from.
 *
 * Calls stage 3 of the spine by itself, so it links the core as an archive. The devices are three that are made up here
 * and never get work, and the reference code. Uncontended: one thread asks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include "executor/executor.h"
#include "executor/stages.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>
#include <svmx/plugin.h>

enum { DEVICES = 4, PARTS = 3, ELEMENTS = 64 };

/* ---- a device that is only there to be chosen --------------------------------------------------------------- */

static enum svmx_status device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    (void)self;
    if (index != 0) return SVMX_ERR_UNKNOWN;
    strcpy(info->name, "made up");
    strcpy(info->driver, "none");
    info->kind = SVMX_DEVICE_MODEL;
    info->flags = SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_INLINE | SVMX_DEVICE_TEST;
    info->compute_engines = info->threads = info->alignment = 1;
    return SVMX_OK;
}

static enum svmx_status pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                       struct svmx_pipeline **pipeline) {
    (void)self, (void)device, (void)desc, (void)pipeline;
    return SVMX_ERR_UNSUPPORTED;
}

static void pipeline_free(void *self, struct svmx_pipeline *pipeline) { (void)self, (void)pipeline; }

static enum svmx_status submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    (void)self, (void)submission, (void)ticket;
    return SVMX_ERR_BACKEND;
}

static enum svmx_status wait_ticket(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns,
                                    struct svmx_timing *timing) {
    (void)self, (void)device, (void)ticket, (void)timeout_ns, (void)timing;
    return SVMX_ERR_BACKEND;
}

static void backend_close(void *self) { (void)self; }

static enum svmx_status backend_open(const struct svmx_host *host, struct svmx_backend *backend) {
    static const struct svmx_backend_ops ops = {.size = sizeof ops,
                                                .device_info = device_info,
                                                .pipeline_build = pipeline_build,
                                                .pipeline_free = pipeline_free,
                                                .submit = submit,
                                                .wait = wait_ticket,
                                                .close = backend_close};
    (void)host;
    *backend = (struct svmx_backend){&ops, NULL};
    return SVMX_OK;
}

static struct svmx_plugin plugin(const char *name) {
    struct svmx_plugin made = {.magic = SVMX_PLUGIN_MAGIC,
                               .size = sizeof made,
                               .abi_major = SVMX_ABI_MAJOR,
                               .abi_minor = SVMX_ABI_MINOR,
                               .version = "1",
                               .licence = "Apache-2.0",
                               .open = backend_open};
    (void)snprintf(made.name, sizeof made.name, "%s", name);
    return made;
}

/* ---- the case ----------------------------------------------------------------------------------------------- */

/* Parts of several operations in turn, so that the answer is not always to the same question. */
static void choose(void *user, uint64_t repeats) {
    struct svmx_batch *batch = user;
    for (uint64_t i = 0; i < repeats; i++)
        for (uint32_t part = 0; part < PARTS; part++) svmx__route(&batch->parts[part]);
}

/* Every device is known for every part, and nothing is tried: what a choice costs once it is settled. */
static void teach(const struct svmx_batch *batch) {
    struct svmx_executor *executor = batch->executor;
    executor->choices.probe_share = 0;
    for (uint32_t p = 0; p < PARTS; p++)
        for (uint32_t d = 0; d < executor->routed; d++)
            for (int i = 0; i < 10; i++) {
                const struct svmx__part *part = &batch->parts[p];
                const struct svmx__sample sample = {.compute_ns = 1000 * (d + 1)};
                const struct svmx__load load = {part->units, part->work, part->bytes_in + part->bytes_out};
                (void)svmx__model_learn(&executor->model, part->op->id, d, &load, &sample);
            }
}

static void add_parts(svmx_batch_t *batch, float *memory) {
    float *out = memory, *in = memory + 4 * ELEMENTS;
    if (svmx_vec_add_f32(batch, out, in, in, ELEMENTS) == SVMX_OK &&
        svmx_vec_mul_f32(batch, out + ELEMENTS, in, in, ELEMENTS) == SVMX_OK &&
        svmx_dot_f32(batch, out + 2 * ELEMENTS, in, in, ELEMENTS) == SVMX_OK && batch->part_count == PARTS)
        return;
    fprintf(stderr, "the parts cannot be added: %s\n", svmx_batch_error(batch));
    exit(1);
}

static bool all_chosen(const struct svmx_batch *batch) {
    for (uint32_t i = 0; i < PARTS; i++) {
        const struct svmx__device *device = batch->parts[i].device;
        if (device < batch->executor->devices || device >= batch->executor->devices + DEVICES) return false;
    }
    return true;
}

int main(void) {
    static struct bench_lane lane; /* too large for a stack */
    static float memory[8 * ELEMENTS];
    const struct svmx_plugin a = plugin("one"), b = plugin("two"), c = plugin("three");
    const struct svmx_plugin *const plugins[] = {&a, &b, &c};
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "one,two,three,stop",
                                         .static_plugins = plugins,
                                         .static_plugin_count = DEVICES - 1,
                                         .flags = SVMX_OPEN_NO_ENVIRONMENT};
    struct bench bench;
    bench_open(&bench, "overhead");
    svmx_executor_t *executor;
    svmx_batch_t *batch;
    struct svmx_error error;
    if (svmx_open(&executor, &options, &error) != SVMX_OK) {
        fprintf(stderr, "svmx_open: %s\n", error.text);
        return 1;
    }
    if (svmx_device_count(executor) != DEVICES || svmx_batch_create(executor, &batch) != SVMX_OK) return 1;
    add_parts(batch, memory);
    teach(batch);
    lane = (struct bench_lane){.run = choose, .user = batch, .items = PARTS};
    bench_measure(&bench, (struct bench_lane *const[]){&lane}, 1);
    bench_row(&bench, &(struct bench_row){.name = "choosing the route, four devices",
                                          .ours = bench_median(&bench, &lane),
                                          .peer = NAN,
                                          .unit = "ns",
                                          .ask = BENCH_OURS_AT_MOST,
                                          .bound = 10,
                                          .wrong = !all_chosen(batch)});
    svmx_batch_destroy(batch);
    svmx_close(executor);
    return bench_close(&bench);
}
