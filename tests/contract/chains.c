/*
 * chains.c: tasks that take one another's results, on every driver: the bytes of the reference code, and on devices with
 * memory of their own one submission for all levels.
 *
 *   a + b -> x b -> gelu -> softmax -> times a matrix -> the largest difference to the softmax's input
 *   keccak256 of messages -> the root of their digests           (several passes, memory between them)
 *
 * Two rows of each of different sizes. The matrix and what the softmax gives are buffers. SIMD, PoCL, Rusticl, oclgrind, and the Level Zero test driver in any order that the
 * specification allows. A driver that is not there is a test skipped; an operation that a device does not serve is computed
 * by the reference code, in the middle of the chain: the rest is still compared. What the test driver reports fails the suite.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runs.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>
#include <unistd.h>

static const char *const ze_cpu_names[] = {"chains", "chains-integrated", "chains-shuffle", NULL};
#include "../drivers/ze_cpu/content.h"

enum { ROWS = 2, WIDTH = 16, MOST = 64 * WIDTH, MESSAGES = 37, BYTES = 32, LEVELS = 6 };

static float a[ROWS][MOST], b[ROWS][MOST], matrix[WIDTH * WIDTH];
static uint8_t text[MESSAGES * BYTES];
static uint64_t cuts[MESSAGES + 1];

/* Of one of the executors. */
static svmx_buffer_t *factor, *softmaxes;

struct answers {
    float product[ROWS][MOST], softmax[ROWS][MOST], difference[ROWS];
    uint8_t root[32];
};

static void fill(void) {
    srand(4);
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < MOST; i++) {
            a[r][i] = (float)(rand() % 2001 - 1000) / 256;
            b[r][i] = (float)(rand() % 2001 - 1000) / 512;
        }
    for (int i = 0; i < WIDTH * WIDTH; i++) matrix[i] = (float)(rand() % 200 - 100) / 64;
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)rand();
    for (int i = 0; i < MESSAGES; i++) cuts[i + 1] = (uint64_t)(i + 1) * BYTES - (uint64_t)(i % 2);
}

static uint32_t add(svmx_batch_t *batch, uint32_t op, const struct svmx_arg *args, size_t count) {
    const uint32_t number = svmx_batch_task_count(batch);
    cr_assert_eq(svmx_batch_add(batch, op, args, count), SVMX_OK, "%s", svmx_batch_error(batch));
    return number;
}

static void add_row(svmx_batch_t *batch, struct answers *to, int r) {
    const uint64_t n = r ? MOST : 3 * WIDTH;
    const struct svmx_arg sum[] = {svmx_out_passing(SVMX_F32, n), svmx_in(SVMX_F32, a[r], n),
                                   svmx_in(SVMX_F32, b[r], n)};
    const uint32_t x = add(batch, SVMX_OP_VEC_ADD_F32, sum, 3);
    const struct svmx_arg product[] = {svmx_out_passing(SVMX_F32, n), svmx_result_of(SVMX_F32, x, 0),
                                       svmx_in(SVMX_F32, b[r], n)};
    const uint32_t y = add(batch, SVMX_OP_VEC_MUL_F32, product, 3);
    const struct svmx_arg gelu[] = {svmx_out_passing(SVMX_F32, n), svmx_result_of(SVMX_F32, y, 0)};
    const uint32_t z = add(batch, SVMX_OP_GELU_F32, gelu, 2);
    const struct svmx_arg softmax[] = {svmx_view(SVMX_F32, softmaxes, (uint64_t)r * MOST, n),
                                       svmx_result_of(SVMX_F32, z, 0), svmx_u64(WIDTH)};
    const uint32_t s = add(batch, SVMX_OP_SOFTMAX_F32, softmax, 3);
    const struct svmx_arg times[] = {svmx_out_library(SVMX_F32, n),
                                     svmx_result_of(SVMX_F32, s, 0),
                                     svmx_view(SVMX_F32, factor, 0, WIDTH * WIDTH),
                                     svmx_u64(n / WIDTH),
                                     svmx_u64(WIDTH),
                                     svmx_u64(WIDTH)};
    const uint32_t m = add(batch, SVMX_OP_MATMUL_F32, times, 6);
    const struct svmx_arg differ[] = {svmx_out(SVMX_F32, &to->difference[r], 1), svmx_result_of(SVMX_F32, m, 0),
                                      svmx_result_of(SVMX_F32, z, 0)};
    (void)add(batch, SVMX_OP_MAX_ABS_DIFF_F32, differ, 3);
}

static void add_tree(svmx_batch_t *batch, struct answers *to) {
    const struct svmx_arg digests[] = {svmx_out_passing(SVMX_U8, 32 * MESSAGES), svmx_in(SVMX_U8, text, cuts[MESSAGES]),
                                       svmx_in(SVMX_U64, cuts, MESSAGES + 1)};
    const uint32_t leaves = add(batch, SVMX_OP_KECCAK256, digests, 3);
    const struct svmx_arg root[] = {svmx_out(SVMX_U8, to->root, 32), svmx_result_of(SVMX_U8, leaves, 0),
                                    svmx_u32(SVMX_MERKLE_DUPLICATE)};
    (void)add(batch, SVMX_OP_MERKLE_ROOT_KECCAK256, root, 3);
}

static void make_buffers(svmx_executor_t *executor) {
    svmx_buffer_destroy(factor);
    svmx_buffer_destroy(softmaxes);
    cr_assert_eq(svmx_buffer_create(executor, sizeof matrix, &factor), SVMX_OK);
    cr_assert_eq(svmx_buffer_write(factor, 0, matrix, sizeof matrix), SVMX_OK);
    cr_assert_eq(svmx_buffer_create(executor, sizeof(float) * ROWS * MOST, &softmaxes), SVMX_OK);
}

static void compute(svmx_batch_t *batch, struct answers *to) {
    memset(to, 0x5a, sizeof *to);
    for (int r = 0; r < ROWS; r++) add_row(batch, to, r);
    add_tree(batch, to);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_buffer_read(softmaxes, 0, to->softmax, sizeof to->softmax), SVMX_OK);
    for (uint32_t r = 0; r < ROWS; r++) {
        void *data;
        uint64_t bytes;
        cr_assert_eq(svmx_result(batch, r * LEVELS + 4, 0, &data, &bytes), SVMX_OK);
        memcpy(to->product[r], data, bytes);
    }
}

/* ---- loops: x = x + rate (target - x), 5 problems of different rates ---------------------------------------------- */

enum { PROBLEMS = 5, SMALL = 48, MOST_ITERATIONS = 37 };

struct loop_answers {
    float state[PROBLEMS][SMALL];
    struct svmx_loop_end ends[PROBLEMS];
};

static void add_problem(svmx_batch_t *body, svmx_buffer_t *state, uint32_t p, struct svmx_carry *carry,
                        struct svmx_until *until) {
    const struct svmx_arg x = svmx_view(SVMX_F32, state, p * SMALL, SMALL);
    const struct svmx_arg minus[] = {svmx_out_passing(SVMX_F32, SMALL), svmx_in(SVMX_F32, b[1], SMALL), x};
    const uint32_t difference = add(body, SVMX_OP_VEC_SUB_F32, minus, 3);
    const struct svmx_arg mix[] = {svmx_out_passing(SVMX_F32, SMALL), svmx_result_of(SVMX_F32, difference, 0), x,
                                   svmx_f32(0.05f + 0.2f * (float)p)};
    const uint32_t next = add(body, SVMX_OP_AXPY_F32, mix, 4);
    const struct svmx_arg step[] = {svmx_out_passing(SVMX_F32, 1), svmx_result_of(SVMX_F32, next, 0), x};
    *carry = (struct svmx_carry){next, 0, state, p * SMALL * sizeof(float)};
    *until = (struct svmx_until){
        .task = add(body, SVMX_OP_MAX_ABS_DIFF_F32, step, 3), .kind = SVMX_UNTIL_BELOW, .limit = 1e-3};
}

static void run_loop(svmx_executor_t *executor, uint32_t every, struct loop_answers *to) {
    struct svmx_carry carries[PROBLEMS];
    struct svmx_until untils[PROBLEMS];
    const struct svmx_loop loop = {sizeof loop, carries, untils, PROBLEMS, PROBLEMS, MOST_ITERATIONS, every};
    svmx_buffer_t *state;
    svmx_batch_t *body;
    memset(to, 0, sizeof *to);
    cr_assert_eq(svmx_buffer_create(executor, sizeof to->state, &state), SVMX_OK);
    cr_assert_eq(svmx_buffer_write(state, 0, a[1], sizeof to->state), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &body), SVMX_OK);
    for (uint32_t p = 0; p < PROBLEMS; p++) add_problem(body, state, p, &carries[p], &untils[p]);
    cr_assert_eq(svmx_loop_run(body, &loop, to->ends, NULL), SVMX_OK, "%s", svmx_batch_error(body));
    cr_assert_eq(svmx_buffer_read(state, 0, to->state, sizeof to->state), SVMX_OK);
    svmx_batch_destroy(body);
    svmx_buffer_destroy(state);
}

static void compare_loops(const struct pair *pair) {
    static struct loop_answers expected, actual;
    static const uint32_t everies[] = {1, 3, 16};
    run_loop(pair->reference, 1, &expected);
    cr_assert_neq(expected.ends[0].iterations, expected.ends[1].iterations, "or this shows little");
    for (size_t i = 0; i < sizeof everies / sizeof *everies; i++) {
        run_loop(pair->tested, everies[i], &actual);
        cr_assert_arr_eq(&actual, &expected, sizeof expected, "looked at every %u", everies[i]);
    }
}

/* How many submissions it took, and whether all levels went in one. */
static void look_at_receipts(const svmx_batch_t *batch, uint32_t *own, uint32_t *stretched) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++) {
        *own += receipt.device == 0;
        *stretched += (receipt.flags & SVMX_RECEIPT_STRETCH) != 0;
    }
}

static void compare_on(const char *backends) {
    static struct answers expected, actual;
    struct target target = {.threads = 0};
    struct svmx_device device = {.size = sizeof device};
    uint32_t own = 0, stretched = 0;
    fill();
    snprintf(target.backends, sizeof target.backends, "%s", backends);
    struct pair pair = pair_open(&target);
    make_buffers(pair.reference);
    compute(pair.reference_batch, &expected);
    make_buffers(pair.tested);
    for (int run = 0; run < 3; run++) { /* pipelines are built meanwhile */
        cr_assert_eq(svmx_batch_reset(pair.tested_batch), SVMX_OK);
        compute(pair.tested_batch, &actual);
        cr_assert_arr_eq(&actual, &expected, sizeof expected, "%s, run %d", backends, run);
    }
    compare_loops(&pair);
    look_at_receipts(pair.tested_batch, &own, &stretched);
    cr_assert_eq(svmx_device_get(pair.tested, 0, &device), SVMX_OK);
    printf("%s: %u of %u parts, %u in one submission\n", device.name, own, LEVELS + 2, stretched);
    fflush(stdout);
    cr_assert_gt(own, 0);
    if (own == LEVELS + 2 && !(device.flags & SVMX_DEVICE_HOST_MEMORY)) cr_assert_eq(stretched, own);
    compare_runs(&pair);
    svmx_buffer_destroy(factor);
    svmx_buffer_destroy(softmaxes);
    pair_close(&pair);
}

/* ---- on which drivers ----------------------------------------------------------------------------------------------- */

Test(contract_chains, simd) { compare_on("simd,stop"); }

static void on_opencl(const char *file, const char *package) {
    if (getenv("SVMX_TEST_NO_OPENCL_CONTRACT")) cr_skip_test("left out in this configuration (scripts/test.sh)");
    if (access(file, R_OK) != 0) cr_skip_test("there is no %s (package %s)", file, package);
    setenv("OCL_ICD_VENDORS", file, 1);
    setenv("SUPERVM_TIMEOUT_MS", "60000", 1); /* drivers compile at the first launch */
    compare_on("opencl,stop");
}

Test(contract_chains, pocl) { on_opencl("/etc/OpenCL/vendors/pocl.icd", "pocl-opencl-icd"); }
Test(contract_chains, oclgrind) { on_opencl("/usr/lib/oclgrind/liboclgrind-rt-icd.so", "oclgrind"); }
Test(contract_chains, rusticl) {
    setenv("RUSTICL_ENABLE", "llvmpipe", 1);
    on_opencl("/etc/OpenCL/vendors/rusticl.icd", "mesa-opencl-icd");
}

static void on_levelzero(const char *name, const char *variable, const char *value) {
    const char *missing = ze_cpu_missing();
    if (getenv("SVMX_TEST_NO_OPENCL_CONTRACT")) cr_skip_test("left out in this configuration (scripts/test.sh)");
    if (missing) cr_skip_test("%s", missing);
    ze_cpu_use(name);
    setenv("ZE_CPU_STRICT", "1", 1);
    setenv("SUPERVM_TIMEOUT_MS", "60000", 1);
    if (variable) setenv(variable, value, 1);
    compare_on("levelzero,stop");
}

Test(contract_chains, levelzero) { on_levelzero("chains", NULL, NULL); }
Test(contract_chains, levelzero_in_place) { on_levelzero("chains-integrated", "ZE_CPU_INTEGRATED", "1"); }
Test(contract_chains, levelzero_in_any_order) { on_levelzero("chains-shuffle", "ZE_CPU_SHUFFLE", "7"); }
