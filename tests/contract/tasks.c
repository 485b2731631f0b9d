/*
 * tasks.c: see tasks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tasks.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, GUARD_BYTE = 0xa5 };

/* ---- random numbers --------------------------------------------------------------------------------------- */

/* One step of a 64-bit congruential generator; its upper half is good. */
uint32_t random_u32(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

uint32_t random_below(uint64_t *state, uint32_t limit) { return (uint32_t)((uint64_t)random_u32(state) * limit >> 32); }

/* ---- memory ----------------------------------------------------------------------------------------------- */

static struct block block_make(uint64_t bytes, unsigned shift, uint64_t guard) {
    struct block block = {.bytes = bytes, .guard = guard};
    void *memory = NULL;
    cr_assert_eq(posix_memalign(&memory, 64, (size_t)(guard + shift + bytes + guard + !bytes)), 0, "no memory");
    block.base = memory;
    block.at = block.base + guard + shift;
    if (guard) memset(block.base, GUARD_BYTE, (size_t)(guard + shift + bytes + guard));
    return block;
}

bool guards_stand(const struct block *block) {
    for (const uint8_t *at = block->base; at < block->at; at++)
        if (*at != GUARD_BYTE) return false;
    for (uint64_t i = 0; i < block->guard; i++)
        if (block->at[block->bytes + i] != GUARD_BYTE) return false;
    return true;
}

/* ---- data ------------------------------------------------------------------------------------------------- */

/* Four kinds of floats: any bits; edges; all finite and of many magnitudes; harmless but for one NaN. */
static uint32_t wild_f32(uint64_t *state, unsigned kind) {
    static const uint32_t edges[] = {0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x00800001, 0x3f800000,
                                     0x34000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc12345, 0x7fffffff};
    const uint32_t r = random_u32(state), sign = r & 0x80000000u;
    if (kind == 0) return r;
    if (kind == 1) return edges[(r >> 8) % 12] | sign;
    return sign | ((kind == 2 ? 107 + (r >> 8) % 41 : 126) << 23) | (random_u32(state) & 0x007fffff);
}

static uint64_t wild_f64(uint64_t *state, unsigned kind) {
    static const uint64_t edges[] = {0,
                                     1,
                                     UINT64_C(0x000fffffffffffff),
                                     UINT64_C(0x0010000000000000),
                                     UINT64_C(0x3ff0000000000000),
                                     UINT64_C(0x7fefffffffffffff),
                                     UINT64_C(0x7ff0000000000000),
                                     UINT64_C(0x7ff0000000000001),
                                     UINT64_C(0x7ff8123456789abc)};
    const uint64_t r = (uint64_t)random_u32(state) << 32 | random_u32(state), sign = r & UINT64_C(1) << 63;
    if (kind == 0) return r;
    if (kind == 1) return edges[(r >> 8) % 9] | sign;
    return sign | (kind == 2 ? 1003 + (r >> 56) % 41 : 1022) << 52 | (r & UINT64_C(0x000fffffffffffff));
}

static void fill_wild(struct block *block, uint32_t type, uint64_t seed) {
    uint64_t state = seed;
    const unsigned kind = (unsigned)(seed % 4);
    const uint64_t size = svmx_type_bytes((enum svmx_type)type), count = block->bytes / size;
    const uint64_t odd_one = kind == 3 && count ? random_below(&state, (uint32_t)count) : UINT64_MAX;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = random_u32(&state);
        if (type == SVMX_F32) bits = i == odd_one ? 0xffc54321u : wild_f32(&state, kind);
        if (type == SVMX_F64) bits = i == odd_one ? UINT64_C(0xfff8123400000000) : wild_f64(&state, kind);
        if (type == SVMX_U64) bits |= (uint64_t)random_u32(&state) << 32;
        memcpy(block->at + i * size, &bits, (size_t)size);
    }
}

/* Other cuts: a start that is not 0, lengths from 0 to 600 (less where there are many), bytes left over. */
static uint64_t fill_cuts(struct block *offsets, uint64_t seed) {
    uint64_t state = seed;
    const uint64_t entries = offsets->bytes / 8;
    const uint32_t longest = entries <= 1000 ? 600 : 40;
    uint64_t at = random_below(&state, 9);
    for (uint64_t i = 0; i < entries; i++) {
        memcpy(offsets->at + 8 * i, &at, 8);
        if (i + 1 < entries) at += random_below(&state, longest + 1);
    }
    return at + random_below(&state, 9);
}

/* ---- tasks ------------------------------------------------------------------------------------------------ */

static bool in_memory(const struct task *task, uint32_t i) { return task->op.params[i].shape != SVMX_SCALAR; }
bool is_output(const struct task *task, uint32_t i) { return task->op.params[i].direction == SVMX_OUT; }

/* Inputs as `style` says, each argument at another shift. */
static void make_inputs(struct task *task, const struct svmx_example *example, enum style style, uint64_t seed,
                        unsigned shift) {
    for (uint32_t i = task->op.param_count; i-- > 0;) { /* from the last: cuts decide how long what they cut is */
        const struct svmx_param *param = &task->op.params[i];
        task->args[i] = example->args[i];
        if (!in_memory(task, i)) continue;
        const unsigned at = (shift + 7 * i) % 64;
        uint64_t bytes = example->args[i].bytes;
        if (style == WILD && param->shape == SVMX_RAGGED) bytes = fill_cuts(&task->blocks[i + 1], seed + i);
        struct block *block = &task->blocks[i];
        *block = block_make(bytes, at, is_output(task, i) ? GUARD : 0);
        if (is_output(task, i))
            memset(block->at, 0x5a, (size_t)bytes);
        else if (style == WILD && param->shape != SVMX_OFFSETS)
            fill_wild(block, param->type, seed + i);
        else if (bytes)
            memcpy(block->at, example->args[i].from.in, (size_t)bytes);
        task->args[i].bytes = bytes;
        task->args[i].from.in = bytes || seed % 2 ? block->at : NULL;
    }
}

/* The reference's answer: this task alone. The status of adding it. */
static enum svmx_status make_expected(struct task *task, svmx_batch_t *reference) {
    struct svmx_arg args[MAX_ARGS];
    memcpy(args, task->args, sizeof args);
    for (uint32_t i = 0; i < task->op.param_count; i++) {
        if (!is_output(task, i)) continue;
        task->expected[i] = block_make(task->blocks[i].bytes, 0, GUARD);
        memset(task->expected[i].at, 0xc3, (size_t)task->blocks[i].bytes);
        args[i].from.out = task->expected[i].at;
    }
    cr_assert_eq(svmx_batch_reset(reference), SVMX_OK);
    enum svmx_status status = svmx_batch_add(reference, task->op.id, args, task->op.param_count);
    if (status != SVMX_OK) return status;
    cr_assert_eq(svmx_run(reference), SVMX_OK, "%s", svmx_batch_error(reference));
    return SVMX_OK;
}

void task_free(struct task *task) {
    for (uint32_t i = 0; i < MAX_ARGS; i++) {
        free(task->blocks[i].base);
        free(task->expected[i].base);
    }
    *task = (struct task){.op = task->op};
}

struct task task_make(const svmx_executor_t *examples, svmx_batch_t *reference, const struct svmx_op *op, uint64_t size,
                      enum style style, uint64_t seed, unsigned shift) {
    struct task task = {.op = *op};
    struct svmx_example example;
    cr_assert_eq(svmx_example_create(examples, op->id, size, seed, &example), SVMX_OK);
    cr_assert_eq(example.arg_count, op->param_count);
    make_inputs(&task, &example, style, seed, shift);
    enum svmx_status status = make_expected(&task, reference);
    if (status == SVMX_ERR_ARGUMENT && style == WILD && op->id > FIRST_OPS) { /* one that cannot take any data */
        task_free(&task);
        make_inputs(&task, &example, PLAIN, seed, shift);
        status = make_expected(&task, reference);
    }
    cr_assert_eq(status, SVMX_OK, "%s of %" PRIu64 ": %s", op->name, size, svmx_batch_error(reference));
    svmx_example_destroy(&example);
    return task;
}
