/*
 * example.c: made-up data for one task of an operation.
 *
 * The same bytes for the same operation, size and seed on every machine: benchmarks, trials and tests compare results
 * by them. Called by svmx_example_create, which owns the memory. Knows signatures, no operation by name: one whose
 * inputs cannot be arbitrary brings a fill of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/access.h"
#include "ops/op.h"

/* Number `i` of a stream: a counter through the finaliser of splitmix64, so that any element can be made alone. */
static uint64_t random_word(uint64_t stream, uint64_t i) {
    uint64_t z = stream + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* [-1, 1) in steps of 2^-23: every value is a float, nothing is rounded. */
static void fill_f32(const struct svmx_slot *slot, uint64_t stream) {
    for (uint64_t i = 0; i < slot->bytes / sizeof(float); i++) {
        const int32_t steps = (int32_t)(random_word(stream, i) >> 40) - (1 << 23);
        svmx__store_f32(slot, i, (float)steps * 0x1p-23f);
    }
}

/* [-1, 1) in steps of 2^-52. */
static void fill_f64(const struct svmx_slot *slot, uint64_t stream) {
    for (uint64_t i = 0; i < slot->bytes / sizeof(double); i++) {
        const int64_t steps = (int64_t)(random_word(stream, i) >> 11) - (INT64_C(1) << 52);
        const double value = (double)steps * 0x1p-52;
        memcpy(svmx__at(slot, i * sizeof value), &value, sizeof value);
    }
}

static void fill_bytes(const struct svmx_slot *slot, uint64_t stream) {
    for (uint64_t at = 0; at < slot->bytes; at += sizeof(uint64_t)) {
        const uint64_t word = random_word(stream, at / sizeof word), left = slot->bytes - at;
        memcpy(svmx__at(slot, at), &word, left < sizeof word ? left : sizeof word);
    }
}

/* Cuts `bytes` of the parameter before into parts of equal length; where that does not go, the first have one more. */
static void fill_offsets(const struct svmx_slot *slot, uint64_t bytes) {
    const uint64_t entries = slot->bytes / sizeof(uint64_t), items = entries > 1 ? entries - 1 : 1;
    const uint64_t length = bytes / items, longer = bytes % items;
    for (uint64_t i = 0; i < entries; i++) {
        const uint64_t offset = i * length + (i < longer ? i : longer);
        memcpy(svmx__at(slot, i * sizeof offset), &offset, sizeof offset);
    }
}

static void fill_input(const struct svmx_param *param, const struct svmx_slot *slot, uint64_t stream) {
    if (param->shape == SVMX_OFFSETS)
        fill_offsets(slot, slot[-1].bytes);
    else if (param->type == SVMX_F32)
        fill_f32(slot, stream);
    else if (param->type == SVMX_F64)
        fill_f64(slot, stream);
    else
        fill_bytes(slot, stream);
}

void svmx__example_fill(const struct svmx__op *op, const struct svmx_slot *slots, uint64_t seed) {
    if (op->fill) {
        op->fill(slots, seed);
        return;
    }
    for (uint32_t i = 0; i < op->param_count; i++)
        if (op->params[i].direction == SVMX_IN && op->params[i].shape != SVMX_SCALAR)
            fill_input(&op->params[i], &slots[i], random_word(seed, i));
}
