/*
 * alloc.h: memory of the core: growing arrays and aligned blocks, sizes checked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_ALLOC_H
#define SVMX_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sum and product; false if they do not fit. */
static inline bool svmx__add(uint64_t a, uint64_t b, uint64_t *sum) { return !__builtin_add_overflow(a, b, sum); }
static inline bool svmx__mul(uint64_t a, uint64_t b, uint64_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}

/* Smallest multiple of the power of two `alignment` that is not below `value`; the caller knows that it fits. */
static inline uint64_t svmx__align(uint64_t value, uint64_t alignment) {
    return (value + alignment - 1) & ~(alignment - 1);
}

/* Smallest power of two >= value; value <= 2^63. 1 for 0. */
static inline uint64_t svmx__pow2(uint64_t value) {
    return value <= 1 ? 1 : UINT64_C(1) << (64 - __builtin_clzll(value - 1));
}

/*
 * Makes room for `need` entries of `entry_bytes` in a growing array: *array may move, *capacity grows at least by half.
 * false: no memory, nothing changed. Entries are not cleared.
 */
bool svmx__grow_now(void **array, size_t *capacity, size_t need, size_t entry_bytes);
static inline bool svmx__grow(void **array, size_t *capacity, size_t need, size_t entry_bytes) {
    return need <= *capacity || svmx__grow_now(array, capacity, need, entry_bytes);
}

/* Memory aligned to a power of two, at least 64; freed with free(). NULL when there is none; never NULL for 0 bytes. */
void *svmx__aligned_alloc(size_t bytes, size_t alignment);

#endif
