/*
 * chain_f32.c: see chain_f32.h. The reference code runs that of the operation that a row names.
 *
 * Known answers are those of the operations, row by row, and a chain through all of them that their reference code makes:
 * each kernel that takes chains is proved by both before it serves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/chain_f32.h"

#include "ops/elements.h"

#include <pthread.h>
#include <string.h>
#include <svmx/svmx.h>

extern const struct svmx__op svmx__op_vec_add_f32, svmx__op_vec_sub_f32, svmx__op_vec_mul_f32, svmx__op_axpy_f32;
extern const struct svmx__op svmx__op_relu_f32, svmx__op_leaky_relu_f32, svmx__op_clip_f32, svmx__op_elu_f32;
extern const struct svmx__op svmx__op_exp_f32, svmx__op_sigmoid_f32, svmx__op_tanh_f32, svmx__op_swish_f32;
extern const struct svmx__op svmx__op_gelu_f32;

/* Numbers as chain.cl has them; those up to AXPY take two arrays. */
enum { ADD = 1, SUB, MUL, AXPY, RELU, LEAKY, CLIP, EXP, ELU, SIGMOID, TANH, SWISH, GELU, CODES };

static const struct svmx__op *const links[CODES] = {
    [ADD] = &svmx__op_vec_add_f32,     [SUB] = &svmx__op_vec_sub_f32, [MUL] = &svmx__op_vec_mul_f32,
    [AXPY] = &svmx__op_axpy_f32,       [RELU] = &svmx__op_relu_f32,   [LEAKY] = &svmx__op_leaky_relu_f32,
    [CLIP] = &svmx__op_clip_f32,       [EXP] = &svmx__op_exp_f32,     [ELU] = &svmx__op_elu_f32,
    [SIGMOID] = &svmx__op_sigmoid_f32, [TANH] = &svmx__op_tanh_f32,   [SWISH] = &svmx__op_swish_f32,
    [GELU] = &svmx__op_gelu_f32,
};

static const struct svmx_param params[SVMX__CHAIN_PARAMS] = {
    {"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1},  {"a", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"b", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},     {"numbers", SVMX_IN, SVMX_U64, SVMX_SCALAR, 0, 1},
    {"what", SVMX_IN, SVMX_U32, SVMX_SCALAR, 0, 1},
};

uint32_t svmx__chain_code(const struct svmx__op *op) {
    for (uint32_t i = 1; i < CODES; i++)
        if (links[i] == op) return i;
    return 0;
}

static const struct svmx__op *link_of(uint64_t what) {
    const uint32_t code = what & 0xff;
    return code < CODES ? links[code] : NULL;
}

uint64_t svmx__chain_numbers(const struct svmx__op *op, const struct svmx_slot *slots) {
    uint64_t numbers = 0;
    for (uint32_t i = 0, shift = 0; i < op->param_count; i++) {
        if (op->params[i].shape != SVMX_SCALAR) continue;
        numbers |= (slots[i].at & UINT32_MAX) << shift;
        shift = 32;
    }
    return numbers;
}

/* The arguments of the operation that a row names. */
static void slots_of(const struct svmx__op *op, const struct svmx_slot *row, struct svmx_slot *slots) {
    uint64_t numbers = row[SVMX__CHAIN_NUMBERS].at;
    for (uint32_t i = 0; i < op->param_count; i++) {
        slots[i] = row[svmx__chain_slot(op, i)];
        if (op->params[i].shape != SVMX_SCALAR) continue;
        slots[i] = (struct svmx_slot){numbers & UINT32_MAX, sizeof(float)};
        numbers >>= 32;
    }
}

static void run(const struct svmx_slot *row) {
    struct svmx_slot slots[SVMX__MAX_PARAMS];
    const struct svmx__op *op = link_of(row[SVMX__CHAIN_WHAT].at);
    if (!op) return;
    slots_of(op, row, slots);
    op->reference(slots);
}

/* A row behind another has no units: those of the chain are counted once. */
static enum svmx_status check(const struct svmx_slot *row, struct svmx__size *size, struct svmx__text *why) {
    const uint64_t what = row[SVMX__CHAIN_WHAT].at, n = row[SVMX__CHAIN_A].bytes / sizeof(float);
    if (!link_of(what)) return svmx__fail(why, SVMX_ERR_ARGUMENT, "what names no operation");
    *size = (struct svmx__size){.units = what & (SVMX__CHAIN_FROM_A | SVMX__CHAIN_FROM_B) ? 0 : n, .work = n};
    return SVMX_OK;
}

/* The example is what takes longest. */
static enum svmx_status shape(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    bytes[SVMX__CHAIN_NUMBERS] = 0;
    bytes[SVMX__CHAIN_WHAT] = GELU;
    return svmx__items_shape(params, SVMX__CHAIN_PARAMS, size, bytes);
}

/* ---- known answers ---------------------------------------------------------------------------------------- */

enum { SINGLES = 2, ROW_LIMIT = SVMX__MAX_KNOWN, N = 80 };

/* A chain through all of them: so often the result of the row before, in each place, and both. */
static const struct {
    uint32_t what;
    float p, q;
} through[] = {
    {TANH, 0, 0},
    {AXPY | SVMX__CHAIN_FROM_A, -0.7f, 0},
    {SUB | SVMX__CHAIN_FROM_B, 0, 0},
    {CLIP | SVMX__CHAIN_FROM_A, -30, 50},
    {ADD | SVMX__CHAIN_FROM_A | SVMX__CHAIN_FROM_B, 0, 0},
    {GELU | SVMX__CHAIN_FROM_A | SVMX__CHAIN_SILENT, 0, 0},
    {LEAKY | SVMX__CHAIN_FROM_A, 0.3f, 0},
    {MUL | SVMX__CHAIN_FROM_A, 0, 0},
    {SWISH | SVMX__CHAIN_FROM_A | SVMX__CHAIN_SILENT, 0, 0},
    {ELU | SVMX__CHAIN_FROM_A, 1.3f, 0},
    {SIGMOID | SVMX__CHAIN_FROM_A, 0, 0},
    {EXP | SVMX__CHAIN_FROM_A, 0, 0},
    {AXPY | SVMX__CHAIN_FROM_B | SVMX__CHAIN_SILENT, 1.5f, 0},
    {RELU | SVMX__CHAIN_FROM_A, 0, 0},
};
enum { THROUGH = sizeof through / sizeof *through };

/* Written once, by build(). */
static struct {
    struct svmx__known rows[ROW_LIMIT * SVMX__CHAIN_PARAMS];
    uint64_t numbers[ROW_LIMIT];
    uint32_t whats[ROW_LIMIT];
    uint32_t count;
    float steps[THROUGH][N];
} known;

static struct svmx__op chain = {
    .name = SVMX__CHAIN_NAME,
    .summary = "a link of a chain",
    .unit = "element",
    .params = params,
    .id = SVMX__CHAIN_ID,
    .param_count = SVMX__CHAIN_PARAMS,
    .check = check,
    .reference = run,
    .shape = shape,
    .known = known.rows,
};

static struct svmx__known *add_row(uint32_t what, uint64_t numbers) {
    struct svmx__known *row = known.rows + (size_t)known.count * SVMX__CHAIN_PARAMS;
    known.numbers[known.count] = numbers;
    known.whats[known.count] = what;
    row[SVMX__CHAIN_NUMBERS] = (struct svmx__known){&known.numbers[known.count], sizeof(uint64_t)};
    row[SVMX__CHAIN_WHAT] = (struct svmx__known){&known.whats[known.count], sizeof(uint32_t)};
    known.count++;
    return row;
}

/* A known answer of an operation: a chain of one. */
static void add_single(uint32_t code, const struct svmx__known *answer) {
    const struct svmx__op *op = links[code];
    uint64_t numbers = 0;
    uint32_t number, shift = 0;
    for (uint32_t i = 0; i < op->param_count; i++) {
        if (op->params[i].shape != SVMX_SCALAR) continue;
        memcpy(&number, answer[i].data, sizeof number);
        numbers |= (uint64_t)number << shift;
        shift = 32;
    }
    struct svmx__known *row = add_row(code, numbers);
    for (uint32_t i = 0; i < op->param_count; i++)
        if (op->params[i].shape != SVMX_SCALAR) row[i] = answer[i];
}

static uint64_t bits_of(float p, float q) {
    uint32_t low, high;
    memcpy(&low, &p, sizeof low);
    memcpy(&high, &q, sizeof high);
    return low | (uint64_t)high << 32;
}

/* Row i of the chain through all. `from` has its first input, and whatever is no result of the row before. */
static void add_step(uint32_t i, const float *from) {
    const uint32_t what = through[i].what | (i ? 0 : (THROUGH - 1) << SVMX__CHAIN_FOLLOW);
    struct svmx__known *row = add_row(what, bits_of(through[i].p, through[i].q));
    const bool is_binary = (what & 0xff) <= AXPY;
    row[SVMX__CHAIN_OUT] = (struct svmx__known){known.steps[i], sizeof known.steps[i]};
    row[SVMX__CHAIN_A] = (struct svmx__known){what & SVMX__CHAIN_FROM_A ? known.steps[i - 1] : from, N * sizeof *from};
    row[SVMX__CHAIN_B] =
        (struct svmx__known){what & SVMX__CHAIN_FROM_B ? known.steps[i - 1] : from, is_binary ? N * sizeof *from : 0};
    struct svmx_slot slots[SVMX__CHAIN_PARAMS];
    for (uint32_t p = 0; p < SVMX__CHAIN_NUMBERS; p++)
        slots[p] = (struct svmx_slot){(uintptr_t)row[p].data, row[p].bytes};
    slots[SVMX__CHAIN_NUMBERS] = (struct svmx_slot){known.numbers[known.count - 1], sizeof(uint64_t)};
    slots[SVMX__CHAIN_WHAT] = (struct svmx_slot){what, sizeof what};
    svmx__reference_run(&chain, slots);
    if (what & SVMX__CHAIN_SILENT) row[SVMX__CHAIN_OUT].bytes = 0; /* nothing is expected there */
}

static void build(void) {
    for (uint32_t code = 1; code < CODES; code++)
        for (uint32_t r = 0; r < SINGLES && r < links[code]->known_count; r++)
            add_single(code, links[code]->known + (size_t)r * links[code]->param_count);
    for (uint32_t i = 0; i < THROUGH; i++) add_step(i, svmx__op_exp_f32.known[1].data);
    chain.known_count = known.count;
}

const struct svmx__op *svmx__op_chain_f32(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, build);
    return &chain;
}
