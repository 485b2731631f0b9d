/*
 * stats_text.c: svmx_stats_write: what is read once for a text, and the words in it. See stats_text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/stats_text.h"

#include <stdio.h>

struct svmx__device_label svmx__device_label(const struct svmx_device *device) {
    struct svmx__device_label label;
    (void)snprintf(label.line, sizeof label.line, "%s:%u", device->backend, device->index);
    return label;
}

const char *svmx__device_kind_word(uint32_t kind) {
    switch ((enum svmx_device_kind)kind) {
    case SVMX_DEVICE_CPU: return "cpu";
    case SVMX_DEVICE_GPU: return "gpu";
    case SVMX_DEVICE_ACCELERATOR: return "accelerator";
    case SVMX_DEVICE_MODEL: return "modelled";
    }
    return "unknown";
}

const char *const svmx__health_words[SVMX__HEALTH_WORDS] = {"healthy", "suspect", "resting", "lost", "quarantined"};

struct svmx__device_health svmx__device_health(const struct svmx_device *device) {
    const uint32_t state =
        device->health >= SVMX_HEALTHY && device->health <= SVMX_QUARANTINED ? device->health : SVMX_LOST;
    return (struct svmx__device_health){.state = svmx__health_words[state - SVMX_HEALTHY],
                                        .reason = device->health_reason,
                                        .strikes = device->strikes,
                                        .quarantined = device->quarantined};
}

const char *const svmx__load_words[SVMX__LOAD_WORDS] = {"normal", "warning", "critical"};

const char *svmx__load_word(uint32_t load) {
    return svmx__load_words[load >= SVMX_LOAD_NORMAL && load <= SVMX_LOAD_CRITICAL ? load - SVMX_LOAD_NORMAL : 0];
}

static void find_used(struct svmx__stats_view *view) {
    const struct svmx_executor *executor = view->executor;
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++) {
        if (!svmx__operations_by_id(executor->operations, op)) continue;
        for (uint32_t d = 0; d < view->device_count; d++)
            if (svmx__tally_is_used(&executor->devices[d].tallies[op])) view->used[op] |= UINT32_C(1) << d;
    }
}

enum svmx_status svmx_stats_write(const svmx_executor_t *executor, uint32_t format, svmx_write_fn write, void *user) {
    if (!executor || !write || (format != SVMX_STATS_JSON && format != SVMX_STATS_PROMETHEUS)) return SVMX_ERR_ARGUMENT;
    struct svmx__stats_view view = {.executor = executor, .stats = {.size = sizeof view.stats}};
    const enum svmx_status status = svmx_stats_get(executor, &view.stats);
    if (status != SVMX_OK) return status;
    while (view.device_count < SVMX__STATS_DEVICES) {
        struct svmx_device *device = &view.devices[view.device_count];
        device->size = sizeof *device;
        if (svmx_device_get(executor, view.device_count, device) != SVMX_OK) break;
        view.device_count++;
    }
    view.start_ns = executor->opened_ns + executor->records.epoch_ns;
    find_used(&view);
    struct svmx__out out = {.write = write, .user = user};
    if (format == SVMX_STATS_JSON)
        svmx__stats_json(&view, &out);
    else
        svmx__stats_prometheus(&view, &out);
    svmx__out_end(&out);
    return SVMX_OK;
}
