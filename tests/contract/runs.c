/*
 * runs.c: see runs.h.
 *
 * Each chain has five tasks, one of them empty, on data with NaNs, infinities, denormals and both zeros. Results between the
 * links pass, or are in memory of the caller's, of the library's or in a buffer; links take them as their first argument, as
 * their second, or as both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runs.h"

#include <criterion/criterion.h>
#include <string.h>
#include <svmx/ops.h>
#include <time.h>

enum { TASKS = 5, MOST = 1500, MOST_LINKS = 14, TRIES = 600 };
static const uint64_t sizes[TASKS] = {17, MOST, 0, 1, 256};

enum takes { NOTHING, AS_A, AS_B, AS_BOTH };    /* of the link before */
enum gives { PASSING, CALLERS, LIBRARY, VIEW }; /* where its result goes */

struct link {
    uint32_t op;
    uint8_t takes, gives;
    float p, q;
    uint32_t from; /* counted back from the link; 0 is 1 */
};

static const struct chain {
    const char *name;
    uint32_t launches; /* of a device that serves all of them */
    struct link links[MOST_LINKS];
} chains[] = {
    {"add, mul, gelu, relu",
     1,
     {{SVMX_OP_VEC_ADD_F32, NOTHING, PASSING, 0, 0, 0},
      {SVMX_OP_VEC_MUL_F32, AS_A, PASSING, 0, 0, 0},
      {SVMX_OP_GELU_F32, AS_A, PASSING, 0, 0, 0},
      {SVMX_OP_RELU_F32, AS_A, CALLERS, 0, 0, 0}}},
    {"all",
     1,
     {{SVMX_OP_TANH_F32, NOTHING, CALLERS, 0, 0, 0},
      {SVMX_OP_AXPY_F32, AS_B, PASSING, 3.5f, 0, 0},
      {SVMX_OP_VEC_SUB_F32, AS_B, LIBRARY, 0, 0, 0},
      {SVMX_OP_CLIP_F32, AS_A, VIEW, -3, 7, 0},
      {SVMX_OP_VEC_MUL_F32, AS_BOTH, PASSING, 0, 0, 0},
      {SVMX_OP_LEAKY_RELU_F32, AS_A, PASSING, -0.3f, 0, 0},
      {SVMX_OP_SWISH_F32, AS_A, CALLERS, 0, 0, 0},
      {SVMX_OP_VEC_SUB_F32, AS_A, PASSING, 0, 0, 0},
      {SVMX_OP_ELU_F32, AS_A, PASSING, 1.5f, 0, 0},
      {SVMX_OP_GELU_F32, AS_A, LIBRARY, 0, 0, 0},
      {SVMX_OP_VEC_ADD_F32, AS_B, PASSING, 0, 0, 0},
      {SVMX_OP_SIGMOID_F32, AS_A, PASSING, 0, 0, 0},
      {SVMX_OP_EXP_F32, AS_A, PASSING, 0, 0, 0},
      {SVMX_OP_RELU_F32, AS_A, CALLERS, 0, 0, 0}}},
    {"a reduction of rows between",
     3,
     {{SVMX_OP_VEC_ADD_F32, NOTHING, PASSING, 0, 0, 0},
      {SVMX_OP_CLIP_F32, AS_A, PASSING, -30, 30, 0},
      {SVMX_OP_SOFTMAX_F32, AS_A, PASSING, 0, 0, 0},
      {SVMX_OP_VEC_MUL_F32, AS_A, PASSING, 0, 0, 0},
      {SVMX_OP_EXP_F32, AS_A, CALLERS, 0, 0, 0}}},
    {"two that take the same",
     2,
     {{SVMX_OP_VEC_ADD_F32, NOTHING, PASSING, 0, 0, 0},
      {SVMX_OP_RELU_F32, AS_A, CALLERS, 0, 0, 0},
      {SVMX_OP_TANH_F32, AS_A, CALLERS, 0, 0, 2}}},
};
enum { CHAINS = sizeof chains / sizeof *chains };

static float a[TASKS][MOST], b[TASKS][MOST];

/* What every link gave, zero where it passed. */
static float expected[TASKS][MOST_LINKS][MOST], actual[TASKS][MOST_LINKS][MOST];

static uint32_t link_count(const struct chain *chain) {
    uint32_t count = 0;
    while (count < MOST_LINKS && chain->links[count].op) count++;
    return count;
}

static void fill(void) {
    static const uint32_t special[] = {0x7fc12345, 0xff812345, 0x7f800000, 0xff800000, 0x00000001,
                                       0x807fffff, 0x80000000, 0x00000000, 0x7f7fffff, 0xc2aeac50};
    uint64_t state = 9;
    for (int t = 0; t < TASKS; t++)
        for (int i = 0; i < MOST; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const uint32_t dice = (uint32_t)(state >> 33);
            a[t][i] = (float)((int)(dice % 4001) - 2000) / 256;
            b[t][i] = (float)((int)(dice / 4001 % 4001) - 2000) / 512;
            if (dice % 11 == 0) memcpy(&a[t][i], &special[dice / 11 % 10], sizeof a[t][i]);
            if (dice % 13 == 0) memcpy(&b[t][i], &special[dice / 13 % 10], sizeof b[t][i]);
        }
}

/* ---- a chain ------------------------------------------------------------------------------------------------------- */

static struct svmx_arg out_of(const struct link *link, float *to, svmx_buffer_t *buffer, uint32_t task) {
    const uint64_t n = sizes[task];
    if (link->gives == CALLERS) return svmx_out(SVMX_F32, to, n);
    if (link->gives == LIBRARY) return svmx_out_library(SVMX_F32, n);
    if (link->gives == VIEW) return svmx_view(SVMX_F32, buffer, (uint64_t)task * 1536, n);
    return svmx_out_passing(SVMX_F32, n);
}

static bool is_binary(uint32_t op) {
    return op == SVMX_OP_VEC_ADD_F32 || op == SVMX_OP_VEC_SUB_F32 || op == SVMX_OP_VEC_MUL_F32 ||
           op == SVMX_OP_AXPY_F32;
}

static uint32_t scalars_of(const struct link *link, uint64_t n, struct svmx_arg *args) {
    if (link->op == SVMX_OP_SOFTMAX_F32)
        args[0] = svmx_u64(n ? n : 1);
    else
        args[0] = svmx_f32(link->p);
    args[1] = svmx_f32(link->q);
    if (link->op == SVMX_OP_CLIP_F32) return 2;
    return link->op == SVMX_OP_SOFTMAX_F32 || link->op == SVMX_OP_AXPY_F32 || link->op == SVMX_OP_ELU_F32 ||
           link->op == SVMX_OP_LEAKY_RELU_F32;
}

static void add_link(svmx_batch_t *batch, const struct link *link, float *to, svmx_buffer_t *buffer, uint32_t task) {
    const uint64_t n = sizes[task];
    const uint32_t number = svmx_batch_task_count(batch);
    const struct svmx_arg taken = link->takes ? svmx_result_of(SVMX_F32, number - (link->from ? link->from : 1), 0)
                                              : svmx_in(SVMX_F32, a[task], n);
    struct svmx_arg args[5] = {out_of(link, to, buffer, task)};
    uint32_t count = 1;
    args[count++] = link->takes == AS_B ? svmx_in(SVMX_F32, a[task], n) : taken;
    if (is_binary(link->op)) args[count++] = link->takes >= AS_B ? taken : svmx_in(SVMX_F32, b[task], n);
    count += scalars_of(link, n, args + count);
    cr_assert_eq(svmx_batch_add(batch, link->op, args, count), SVMX_OK, "%s", svmx_batch_error(batch));
}

/* What is not in memory of the caller's. */
static void collect(svmx_batch_t *batch, const struct chain *chain, svmx_buffer_t *buffer,
                    float to[TASKS][MOST_LINKS][MOST]) {
    const uint32_t count = link_count(chain);
    for (uint32_t t = 0; t < TASKS; t++)
        for (uint32_t l = 0; l < count; l++) {
            void *data;
            uint64_t bytes;
            if (chain->links[l].gives == VIEW && sizes[t])
                cr_assert_eq(
                    svmx_buffer_read(buffer, (uint64_t)t * 1536 * sizeof(float), to[t][l], sizes[t] * sizeof(float)),
                    SVMX_OK);
            if (chain->links[l].gives != LIBRARY) continue;
            cr_assert_eq(svmx_result(batch, t * count + l, 0, &data, &bytes), SVMX_OK);
            if (bytes) memcpy(to[t][l], data, bytes);
        }
}

static void run(svmx_executor_t *executor, svmx_batch_t *batch, const struct chain *chain,
                float to[TASKS][MOST_LINKS][MOST]) {
    svmx_buffer_t *buffer;
    memset(to, 0, sizeof expected);
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    cr_assert_eq(svmx_buffer_create(executor, TASKS * 1536 * sizeof(float), &buffer), SVMX_OK);
    for (uint32_t t = 0; t < TASKS; t++)
        for (uint32_t l = 0; l < link_count(chain); l++) add_link(batch, &chain->links[l], to[t][l], buffer, t);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s: %s", chain->name, svmx_batch_error(batch));
    collect(batch, chain, buffer, to);
    svmx_buffer_destroy(buffer);
}

/* ---- launches ------------------------------------------------------------------------------------------------------ */

/* Of the last run; `all`: every part was computed by device 0, in one submission. */
static uint32_t launches_of(const svmx_batch_t *batch, const struct chain *chain, bool *all) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    uint32_t launches = 0, parts = 0, fused = 0;
    for (; svmx_receipt_get(batch, parts, &receipt) == SVMX_OK; parts++) {
        launches += receipt.launches;
        fused += (receipt.flags & SVMX_RECEIPT_FUSED) != 0;
        *all = *all && receipt.device == 0 && receipt.flags & SVMX_RECEIPT_STRETCH;
    }
    cr_assert_eq(parts, link_count(chain));
    cr_assert_eq(launches + fused, parts, "a part is a launch, or in the launch of another");
    return launches;
}

/* The kernel is built beside the work: until it is there each link is a launch of its own. */
static void compare_run(const struct pair *pair, const struct chain *chain, bool takes_links) {
    uint32_t launches = 0, tries = 0;
    bool all = true;
    run(pair->reference, pair->reference_batch, chain, expected);
    do {
        if (tries) (void)nanosleep(&(struct timespec){0, 100000000}, NULL);
        all = true;
        run(pair->tested, pair->tested_batch, chain, actual);
        cr_assert_arr_eq(&actual, &expected, sizeof expected, "%s on %s, run %u", chain->name, pair->name, tries);
        launches = launches_of(pair->tested_batch, chain, &all);
    } while (takes_links && !(all && launches == chain->launches) && ++tries < TRIES);
    if (takes_links) cr_assert_eq(launches, chain->launches, "%s on %s", chain->name, pair->name);
}

void compare_runs(const struct pair *pair) {
    struct svmx_device device = {.size = sizeof device};
    fill();
    cr_assert_eq(svmx_device_get(pair->tested, 0, &device), SVMX_OK);
    for (uint32_t i = 0; i < CHAINS; i++) compare_run(pair, &chains[i], device.flags & SVMX_DEVICE_LINKS);
}
