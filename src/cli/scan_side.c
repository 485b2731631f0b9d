/*
 * scan_side.c: a side of the comparison: an executor with one device in it, and nothing but the reference code behind it, so
 * that nobody else can answer in silence.
 *
 *   --cpu all, one  simd     scalar  the reference code     another word  an item of SUPERVM_BACKENDS
 *   GPUs            those of an executor opened as the options say -> an executor each, by NAME:INDEX; if there is only
 *                   one, as the options say
 *
 * Called by cmd_scan.c, run by scan_measure.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Compiling and computing may take long here, and giving a device up would end the scan. */
enum { PATIENCE_MS = 120000 };

uint64_t scan_now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

/* Whether a device is one that the policy `gpu` means. */
static bool is_gpu(const struct svmx_device *device) { return !(device->flags & SVMX_DEVICE_HOST_MEMORY); }

/* Plain words, so that nobody takes a figure for one of a GPU. */
static void label_make(struct scan_side *side) {
    const struct svmx_device *device = &side->device;
    const bool variant = *device->variant != '\0';
    snprintf(side->shown, sizeof side->shown, "%s", device->backend);
    snprintf(side->label, sizeof side->label, "%s%s%s%s%s", device->name, variant ? " (" : "", device->variant,
             variant ? ")" : "", cli_device_plain(device).line);
}

/* The first GPU of the executor, or its first device. */
static enum svmx_status device_find(struct scan_side *side, bool gpu) {
    enum svmx_status status = SVMX_OK;
    do {
        status = svmx_device_get(side->session.executor, side->number, &side->device);
    } while (status == SVMX_OK && gpu && !is_gpu(&side->device) && ++side->number);
    return status;
}

/* What was learned before has no say, and nothing is learned. */
static enum svmx_status side_open(struct scan_side *side, const char *backends, const struct cli_args *args,
                                  uint32_t threads, bool gpu, struct svmx_error *error) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = backends,
                                         .variant = args->common[CLI_VARIANT].text,
                                         .threads = threads,
                                         .timeout_ms = PATIENCE_MS,
                                         .policy = "auto",
                                         .profile = "off"};
    *side = (struct scan_side){.device.size = sizeof side->device};
    enum svmx_status status = svmx_open(&side->session.executor, &options, error);
    if (status == SVMX_OK) status = device_find(side, gpu);
    if (status == SVMX_OK) status = svmx_batch_create(side->session.executor, &side->batch);
    if (status != SVMX_OK) return status;
    side->policy = is_gpu(&side->device) ? SVMX_POLICY_GPU : SVMX_POLICY_CPU;
    label_make(side);
    return SVMX_OK;
}

bool scan_same_device(const struct scan_side *one, const struct scan_side *other) {
    return one->device.index == other->device.index && strcmp(one->device.backend, other->device.backend) == 0 &&
           strcmp(one->device.name, other->device.name) == 0;
}

void scan_side_close(struct scan_side *side) {
    svmx_batch_destroy(side->batch);
    side->batch = NULL;
    cli_session_close(&side->session);
}

static enum cli_exit open_failed(struct scan_side *side, const char *item, enum svmx_status status, const char *text) {
    scan_side_close(side);
    cli_error("cannot open %s: %s (%s)", item, text, svmx_status_name(status));
    return CLI_NO_EXECUTOR;
}

/* ---- the CPU ---------------------------------------------------------------------------------------------------- */

enum cli_exit scan_cpu_open(struct scan_side *side, const struct cli_args *args) {
    const char *item = args->own[SCAN_CPU].text;
    const bool all = strcmp(item, "all") == 0, one = strcmp(item, "one") == 0, scalar = strcmp(item, "scalar") == 0;
    struct svmx_error error = {SVMX_OK, ""};
    char backends[128];
    if (*item == '\0' || strpbrk(item, ",+^") || *item == '-' || strlen(item) + 8 > sizeof backends)
        return cli_args_refuse(args->command, "--cpu: '%s' is neither all, one, scalar nor NAME or NAME:DEVICE", item);
    snprintf(backends, sizeof backends, "+%s,stop", all || one ? "simd" : item);
    enum svmx_status status = side_open(side, scalar ? "none" : backends, args,
                                        one ? 1 : (uint32_t)args->common[CLI_THREADS].number, false, &error);
    if (status == SVMX_OK) return CLI_OK;
    if (!all && !one) return open_failed(side, item, status, error.text);
    cli_error("the SIMD backend cannot be opened, so the CPU's side is the reference code, which is slow: %s",
              error.text);
    scan_side_close(side);
    status = side_open(side, "none", args, 0, false, &error);
    return status == SVMX_OK ? CLI_OK : open_failed(side, "the reference code", status, error.text);
}

/* ---- GPUs ------------------------------------------------------------------------------------------------------- */

/* NULL for `device`: the only one, as the options say. */
static enum cli_exit gpu_open(struct scan_side *side, const struct svmx_device *device, const struct cli_args *args) {
    const char *demanded = args->common[CLI_DEVICE].text, *backends = args->common[CLI_BACKEND].text;
    struct svmx_error error = {SVMX_OK, ""};
    char item[128];
    if (device)
        snprintf(item, sizeof item, "+%s:%u,stop", device->backend, device->index);
    else if (demanded)
        snprintf(item, sizeof item, "+%s,stop", demanded);
    enum svmx_status status = side_open(side, device || demanded ? item : backends, args,
                                        (uint32_t)args->common[CLI_THREADS].number, true, &error);
    if (status != SVMX_OK) return open_failed(side, "the GPU's side", status, error.text);
    if (device) snprintf(side->shown, sizeof side->shown, "%s:%u", device->backend, device->index);
    return CLI_OK;
}

static unsigned gpus_count(const struct cli_session *found) {
    struct svmx_device device = {.size = sizeof device};
    unsigned count = 0;
    for (uint32_t i = 0; svmx_device_get(found->executor, i, &device) == SVMX_OK; i++) count += is_gpu(&device);
    return count;
}

enum cli_exit scan_gpus_open(struct scan_side **sides, unsigned *count, const struct cli_args *args) {
    struct cli_session found;
    struct svmx_device device = {.size = sizeof device};
    *sides = NULL;
    *count = 0;
    enum cli_exit code = cli_session_open(&found, args, false);
    if (code != CLI_OK) return code;
    const unsigned there = gpus_count(&found);
    *sides = cli_grow(NULL, there, sizeof **sides);
    for (uint32_t i = 0; code == CLI_OK && svmx_device_get(found.executor, i, &device) == SVMX_OK; i++) {
        if (!is_gpu(&device)) continue;
        code = gpu_open(&(*sides)[*count], there > 1 ? &device : NULL, args);
        if (code == CLI_OK) ++*count;
    }
    cli_session_close(&found);
    return code;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

enum cli_exit scan_side_load(struct scan_side *side, const struct scan_task *task) {
    enum svmx_status status = svmx_batch_reset(side->batch);
    if (status == SVMX_OK) status = svmx_batch_set_policy(side->batch, side->policy);
    if (status == SVMX_OK) status = svmx_batch_add(side->batch, task->op->op.id, task->args, task->arg_count);
    return status == SVMX_OK ? CLI_OK : cli_session_failed(task->op->op.name, status, svmx_batch_error(side->batch));
}

/* Another device's answer would be right, but no measurement of this one. */
static enum svmx_status answer_check(const struct scan_side *side, struct svmx_receipt *receipt, char *why) {
    *receipt = (struct svmx_receipt){.size = sizeof *receipt};
    enum svmx_status status = svmx_receipt_get(side->batch, 0, receipt);
    if (status != SVMX_OK || (receipt->device == side->number && receipt->redone == 0)) return status;
    snprintf(why, SCAN_WHY_BYTES, "another device answered: %.100s",
             *receipt->reason ? receipt->reason : "it does not offer this operation");
    return SVMX_ERR_WRONG_RESULT;
}

enum svmx_status scan_side_run(struct scan_side *side, uint64_t *ns, struct svmx_receipt *receipt, char *why) {
    const bool again = svmx_receipt_count(side->batch) > 0;
    enum svmx_status status = again ? svmx_batch_rearm(side->batch) : SVMX_OK;
    const uint64_t start = scan_now_ns();
    if (status == SVMX_OK) status = svmx_run(side->batch);
    *ns = scan_now_ns() - start;
    if (status == SVMX_OK) return answer_check(side, receipt, why);
    snprintf(why, SCAN_WHY_BYTES, "%.120s", svmx_batch_error(side->batch));
    return status;
}
