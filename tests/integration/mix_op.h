/*
 * mix_op.h: an operation for suites to register, with device code that is right, wrong, or no code at all.
 *
 *   out[i] = a[i] * k + rotate(b[i], 5)        32-bit numbers; a unit is an element
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MIX_OP_H
#define MIX_OP_H

#include <string.h>
#include <svmx/svmx.h>

enum { MIX_PARAMS = 4 };

static const struct svmx_param mix_params[MIX_PARAMS] = {{"out", SVMX_OUT, SVMX_U32, SVMX_ARRAY, 0, 1},
                                                         {"a", SVMX_IN, SVMX_U32, SVMX_ARRAY, 0, 1},
                                                         {"b", SVMX_IN, SVMX_U32, SVMX_ARRAY, 0, 1},
                                                         {"k", SVMX_IN, SVMX_U32, SVMX_SCALAR, 0, 1}};

static inline uint32_t mix_one(uint32_t a, uint32_t b, uint32_t k) { return a * k + (b << 5 | b >> 27); }

static inline void mix_run(const struct svmx_operand *args, void *user) {
    (void)user;
    uint32_t k;
    memcpy(&k, args[3].data, sizeof k);
    for (uint64_t at = 0; at < args[0].bytes; at += 4) {
        uint32_t a, b, out;
        memcpy(&a, (const char *)args[1].data + at, 4);
        memcpy(&b, (const char *)args[2].data + at, 4);
        out = mix_one(a, b, k);
        memcpy((char *)args[0].data + at, &out, 4);
    }
}

/* Numbers by hand: 7 * 10 + 32, 1 * 10 + 0x80000000 turned round to 16. */
static const uint32_t mix_known_out[] = {102, 26}, mix_known_a[] = {7, 1}, mix_known_b[] = {1, 0x80000000u},
                      mix_known_k = 10;
static const struct svmx_known mix_known[MIX_PARAMS] = {
    {mix_known_out, 8}, {mix_known_a, 8}, {mix_known_b, 8}, {&mix_known_k, 4}};

/* A kernel called `name` that computes `expression`. It must not be called mix: OpenCL C has a function of that name. */
#define MIX_CODE(name, expression)                                                                                     \
    "SVMX_KERNEL(" name ", 16) {\n"                                                                                    \
    "    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 4);\n"                                    \
    "    struct svmx_walk walk = svmx_walk_start(&t, get_global_id(0), grain, units);\n"                               \
    "    struct svmx_piece piece;\n"                                                                                   \
    "    while (svmx_walk_next(&t, &walk, &piece)) {\n"                                                                \
    "        __global uint *to = (__global uint *)(out + svmx_at(&t, piece.task, 0));\n"                               \
    "        __global const uint *a = (__global const uint *)(in + svmx_at(&t, piece.task, 1));\n"                     \
    "        __global const uint *b = (__global const uint *)(in + svmx_at(&t, piece.task, 2));\n"                     \
    "        const uint k = (uint)svmx_at(&t, piece.task, 3);\n"                                                       \
    "        for (ulong i = piece.begin; i < piece.end; i++) to[i] = " expression ";\n"                                \
    "    }\n"                                                                                                          \
    "}\n"

/* `code`: device code, or NULL. */
static inline struct svmx_op_def mix_def(const char *name, const char *code) {
    return (struct svmx_op_def){.size = sizeof(struct svmx_op_def),
                                .name = name,
                                .unit = "element",
                                .params = mix_params,
                                .param_count = MIX_PARAMS,
                                .exactness = SVMX_EXACT,
                                .run = mix_run,
                                .opencl_c = code,
                                .local = 16,
                                .grain = 64};
}

#endif
