/*
 * access.h: elements of a slot, at any alignment.
 *
 * Included by the operations of this folder. Slots of checked tasks hold host addresses; a pointer of the element type
 * must not be made of them, because they may be misaligned. Knows nothing of operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPS_ACCESS_H
#define SVMX_OPS_ACCESS_H

#include <assert.h>
#include <float.h>
#include <stdint.h>
#include <string.h>
#include <svmx/plugin.h>

/* Types are little-endian in memory (svmx/types.h) and are read here as the machine has them. */
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the reference code needs a little-endian machine");
/* Every + and * rounds to its own type once. x87 and some 32-bit targets do not. */
static_assert(FLT_EVAL_METHOD == 0, "the reference code needs float arithmetic without excess precision");

/* The one pattern that a NaN result has, whatever the NaNs that it came from. */
#define SVMX__NAN_F32 UINT32_C(0x7fc00000)
#define SVMX__NAN_F64 UINT64_C(0x7ff8000000000000)

static inline uint8_t *svmx__at(const struct svmx_slot *slot, uint64_t byte) {
    return (uint8_t *)(uintptr_t)(slot->at + byte); /* integers: NULL + 0 is no sum of pointers */
}

static inline float svmx__load_f32(const struct svmx_slot *slot, uint64_t index) {
    float value;
    memcpy(&value, svmx__at(slot, index * sizeof value), sizeof value);
    return value;
}

/* Results only: writes the one pattern for any NaN. */
static inline void svmx__store_f32(const struct svmx_slot *slot, uint64_t index, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value) bits = SVMX__NAN_F32;
    memcpy(svmx__at(slot, index * sizeof bits), &bits, sizeof bits);
}

static inline double svmx__load_f64(const struct svmx_slot *slot, uint64_t index) {
    double value;
    memcpy(&value, svmx__at(slot, index * sizeof value), sizeof value);
    return value;
}

/* Results only, as svmx__store_f32. */
static inline void svmx__store_f64(const struct svmx_slot *slot, uint64_t index, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value) bits = SVMX__NAN_F64;
    memcpy(svmx__at(slot, index * sizeof bits), &bits, sizeof bits);
}

/* Scalars are in the slot itself. */
static inline float svmx__scalar_f32(const struct svmx_slot *slot) {
    float value;
    memcpy(&value, &slot->at, sizeof value);
    return value;
}

static inline double svmx__scalar_f64(const struct svmx_slot *slot) {
    double value;
    memcpy(&value, &slot->at, sizeof value);
    return value;
}

static inline uint64_t svmx__load_u64(const struct svmx_slot *slot, uint64_t index) {
    uint64_t value;
    memcpy(&value, svmx__at(slot, index * sizeof value), sizeof value);
    return value;
}

#endif
