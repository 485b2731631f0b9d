/*
 * layout_cache.c: see layout_cache.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/layout_cache.h"

#include <assert.h>
#include <stdlib.h>

enum svmx_status svmx__layout_cache_init(struct svmx__layout_cache *cache, uint32_t device_count, uint32_t op_count) {
    cache->table = calloc((size_t)device_count * op_count, sizeof *cache->table);
    if (!cache->table) return SVMX_ERR_MEMORY;
    cache->device_count = device_count;
    cache->op_count = op_count;
    return SVMX_OK;
}

void svmx__layout_cache_fini(struct svmx__layout_cache *cache) {
    for (size_t i = 0; i < (size_t)cache->device_count * cache->op_count; i++)
        free(atomic_load_explicit(&cache->table[i], memory_order_relaxed));
    free((void *)cache->table);
}

static uint8_t place_of(const struct svmx_param *param, bool host_memory) {
    if (param->shape == SVMX_SCALAR) return SVMX__PLACE_VALUE;
    if (host_memory) return SVMX__PLACE_HOST;
    return param->direction == SVMX_OUT ? SVMX__PLACE_OUTPUT : SVMX__PLACE_INPUT;
}

static struct svmx__layout *layout_create(const struct svmx_op_desc *desc, const struct svmx_device_info *info) {
    assert(desc->param_count <= SVMX__LAYOUT_SLOTS);
    struct svmx__layout *layout = calloc(1, sizeof *layout);
    if (!layout) return NULL;
    bool host_memory = (info->flags & SVMX_DEVICE_HOST_MEMORY) != 0;
    bool shares = (info->flags & SVMX_DEVICE_SHARES_MEMORY) != 0; /* kernels use staging memory itself */
    layout->slot_count = desc->param_count;
    layout->alignment = info->alignment ? info->alignment : 1;
    layout->guard_bytes = layout->alignment > SVMX__GUARD_BYTES ? layout->alignment : SVMX__GUARD_BYTES;
    for (uint32_t i = 0; i < desc->param_count; i++) layout->place[i] = place_of(&desc->params[i], host_memory);
    layout->usage_staging_in = SVMX_USAGE_HOST_WRITE | (shares ? SVMX_USAGE_KERNEL_READ : SVMX_USAGE_COPY_SOURCE);
    layout->usage_staging_out = SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE | /* of guards */
                                SVMX_USAGE_COPY_TARGET | (shares ? SVMX_USAGE_KERNEL_WRITE : 0);
    layout->usage_inputs = SVMX_USAGE_KERNEL_READ | SVMX_USAGE_COPY_TARGET;
    layout->usage_outputs = SVMX_USAGE_KERNEL_WRITE | SVMX_USAGE_COPY_SOURCE | SVMX_USAGE_COPY_TARGET; /* of guards */
    layout->usage_scratch = SVMX_USAGE_KERNEL_READ | SVMX_USAGE_KERNEL_WRITE;
    layout->usage_scratch |= host_memory ? SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE : SVMX_USAGE_COPY_TARGET;
    layout->scratch_bytes_per_unit = desc->scratch_bytes_per_unit;
    return layout;
}

static _Atomic(struct svmx__layout *) *slot_of(const struct svmx__layout_cache *cache, uint32_t device, uint32_t op) {
    assert(device < cache->device_count && op < cache->op_count);
    return &cache->table[(size_t)device * cache->op_count + op];
}

const struct svmx__layout *svmx__layout_cache_find(const struct svmx__layout_cache *cache, uint32_t device,
                                                   uint32_t op) {
    return atomic_load_explicit(slot_of(cache, device, op), memory_order_acquire);
}

const struct svmx__layout *svmx__layout_cache_get(struct svmx__layout_cache *cache, uint32_t device, uint32_t op,
                                                  const struct svmx_op_desc *desc,
                                                  const struct svmx_device_info *info) {
    const struct svmx__layout *found = svmx__layout_cache_find(cache, device, op);
    if (found) return found;
    struct svmx__layout *fresh = layout_create(desc, info), *before = NULL;
    if (!fresh) return NULL;
    /* Two threads may compute it at once; they get the same, and the second drops its own. */
    if (atomic_compare_exchange_strong_explicit(slot_of(cache, device, op), &before, fresh, memory_order_acq_rel,
                                                memory_order_acquire))
        return fresh;
    free(fresh);
    return before;
}
