/*
 * overhead_route.c: suite overhead: what it costs to choose the device of a part, with four devices to choose from, and what
 * it costs to write its receipt.
 *
 * Calls stage 3 of the spine and the writing of stage 7 by themselves, so it links the core as an archive. The devices are
 * made up here and never get work: three that compute in the calling thread, and one with a queue that has its pipelines.
 * That one is the best for one of the three parts, so that a choice that must look for a pipeline is among them.
 * Uncontended: one thread asks.
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

enum { QUEUED, ROUTED = 4, PARTS = 3, ELEMENTS = 64 }; /* QUEUED: the device with a queue */

/* ---- a device that is only there to be chosen --------------------------------------------------------------- */

/* `self` is not NULL for the one with a queue. */
static enum svmx_status device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    if (index != 0) return SVMX_ERR_UNKNOWN;
    strcpy(info->name, "made up");
    strcpy(info->driver, "none");
    info->kind = SVMX_DEVICE_MODEL;
    info->flags = SVMX_DEVICE_TEST | (self ? 0 : SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_INLINE);
    info->memory_bytes = info->max_alloc_bytes = UINT64_C(1) << 30;
    info->compute_engines = info->threads = info->alignment = 1;
    return SVMX_OK;
}

static enum svmx_status memory_alloc(void *self, uint32_t device, const struct svmx_memory_desc *desc,
                                     struct svmx_memory **memory, void **host) {
    (void)self, (void)device, (void)desc, (void)memory, (void)host;
    return SVMX_ERR_MEMORY;
}

static void memory_free(void *self, struct svmx_memory *memory) { (void)self, (void)memory; }

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

static uint32_t opened;

static enum svmx_status backend_open(const struct svmx_host *host, struct svmx_backend *backend) {
    static const struct svmx_backend_ops ops = {.size = sizeof ops,
                                                .device_info = device_info,
                                                .memory_alloc = memory_alloc,
                                                .memory_free = memory_free,
                                                .pipeline_build = pipeline_build,
                                                .pipeline_free = pipeline_free,
                                                .submit = submit,
                                                .wait = wait_ticket,
                                                .close = backend_close};
    static int queued;
    (void)host;
    *backend = (struct svmx_backend){&ops, opened++ == QUEUED ? &queued : NULL};
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

static void write_receipts(void *user, uint64_t repeats) {
    struct svmx_batch *batch = user;
    const struct svmx__sample sample = {.setup_ns = 1, .transfer_ns = 2, .compute_ns = 3};
    for (uint64_t i = 0; i < repeats; i++)
        for (uint32_t part = 0; part < PARTS; part++) svmx__receipt_write(&batch->parts[part], true, &sample);
}

/* Every device is known for every part, and nothing is tried: what a choice costs once it is settled. */
static void teach(const struct svmx_batch *batch) {
    struct svmx_executor *executor = batch->executor;
    executor->choices.probe_share = 0;
    for (uint32_t p = 0; p < PARTS; p++)
        for (uint32_t d = 0; d < executor->routed; d++)
            for (int i = 0; i < 10; i++) {
                const struct svmx__part *part = &batch->parts[p];
                const struct svmx__sample sample = {.compute_ns = 1000 * (d == QUEUED && p > 0 ? 9 : d + 1)};
                const struct svmx__load load = {part->units, part->work, part->bytes_in + part->bytes_out};
                (void)svmx__model_learn(&executor->model, part->op->id, d, &load, &sample);
            }
    for (uint32_t p = 0; p < PARTS; p++) /* as if it had been built */
        for (uint32_t line = 0; line < SVMX__BUCKETS; line++)
            atomic_fetch_or(&executor->ready[batch->parts[p].op->id][line], 1u << QUEUED);
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

/* The first part goes to the device with a queue, the others to the next best. */
static bool all_chosen(const struct svmx_batch *batch) {
    for (uint32_t i = 0; i < PARTS; i++)
        if (batch->parts[i].device != &batch->executor->devices[i ? 1 : QUEUED]) return false;
    return batch->executor->routed == ROUTED;
}

static void row(struct bench *bench, const char *name, const struct bench_lane *lane, double bound, bool wrong) {
    bench_row(bench, &(struct bench_row){.name = name,
                                         .ours = bench_median(bench, lane),
                                         .peer = NAN,
                                         .unit = "ns",
                                         .ask = BENCH_OURS_AT_MOST,
                                         .bound = bound,
                                         .wrong = wrong});
}

static bool is_written(const struct svmx_batch *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    svmx__trail_tell(&batch->parts[0].trail, "", &receipt);
    return receipt.device == QUEUED && receipt.candidate_count == ROUTED && receipt.compute_ns == 3 &&
           receipt.candidates[QUEUED].verdict == SVMX_CHOSEN && receipt.candidates[1].expected_ns == 2000;
}

int main(void) {
    static struct bench_lane lane; /* too large for a stack */
    static float memory[8 * ELEMENTS];
    const struct svmx_plugin a = plugin("one"), b = plugin("two"), c = plugin("three"), d = plugin("four");
    const struct svmx_plugin *const plugins[] = {&a, &b, &c, &d};
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "one,two,three,four,stop",
                                         .static_plugins = plugins,
                                         .static_plugin_count = ROUTED,
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
    if (svmx_device_count(executor) != ROUTED + 1 || svmx_batch_create(executor, &batch) != SVMX_OK) return 1;
    add_parts(batch, memory);
    teach(batch);
    lane = (struct bench_lane){.run = choose, .user = batch, .items = PARTS};
    bench_measure(&bench, (struct bench_lane *const[]){&lane}, 1);
    row(&bench, "choosing the route, four devices", &lane, 10, !all_chosen(batch));
    lane = (struct bench_lane){.run = write_receipts, .user = batch, .items = PARTS};
    bench_measure(&bench, (struct bench_lane *const[]){&lane}, 1);
    row(&bench, "a receipt", &lane, 100, !is_written(batch));
    svmx_batch_destroy(batch);
    svmx_close(executor);
    return bench_close(&bench);
}
