/*
 * layout_cache.h: where the arguments of an operation go on a device: computed once, read by every batch.
 *
 * Called by stage.c. Knows parameters and alignments, not data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CACHE_LAYOUT_CACHE_H
#define SVMX_CACHE_LAYOUT_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <svmx/plugin.h>

enum { SVMX__LAYOUT_SLOTS = 8, SVMX__GUARD_BYTES = 64 };

enum svmx__place {
    SVMX__PLACE_VALUE,  /* a scalar: stays in the slot */
    SVMX__PLACE_INPUT,  /* an offset into the inputs */
    SVMX__PLACE_OUTPUT, /* an offset into the outputs */
    SVMX__PLACE_HOST    /* the caller's address, as it is */
};

struct svmx__layout {
    uint32_t slot_count;
    uint32_t alignment;                /* of every slot in device memory, a power of two */
    uint32_t guard_bytes;              /* before and behind the outputs; a multiple of the alignment */
    uint8_t place[SVMX__LAYOUT_SLOTS]; /* enum svmx__place */
    uint32_t usage_staging_in, usage_staging_out, usage_inputs, usage_outputs, usage_scratch; /* enum svmx_usage */
    uint32_t scratch_bytes_per_unit;
};

struct svmx__layout_cache {
    uint32_t device_count, op_count;
    _Atomic(struct svmx__layout *) *table; /* device x op; release on publish, acquire in get */
};

/* OK, MEMORY. */
enum svmx_status svmx__layout_cache_init(struct svmx__layout_cache *cache, uint32_t device_count, uint32_t op_count);
void svmx__layout_cache_fini(struct svmx__layout_cache *cache);

/* The layout of an operation on a device; `op` is its number. Any thread. find: NULL if nobody asked for it yet; get
 * computes it then. NULL from get: no memory. */
const struct svmx__layout *svmx__layout_cache_find(const struct svmx__layout_cache *cache, uint32_t device,
                                                   uint32_t op);
const struct svmx__layout *svmx__layout_cache_get(struct svmx__layout_cache *cache, uint32_t device, uint32_t op,
                                                  const struct svmx_op_desc *desc, const struct svmx_device_info *info);

#endif
