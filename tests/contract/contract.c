/*
 * contract.c: every operation on every backend and variant gives the bytes of the reference code.
 *
 * Public API only. What is expected of a task comes from an executor without backends, one task a batch; what is tested
 * runs many tasks a batch on one backend, variant and thread count. Inputs end where their memory ends, so that
 * sanitizers see a read too far; outputs lie between guard bytes. Data is made from signatures (svmx_op_get) and
 * examples (svmx_example_create): a new operation is covered by being in the table.
 *
 *   target   none | simd with a variant and 1, 2 or 5 threads | any other device of this machine
 *   plain    the example as it is
 *   wild     what is special in its type: NaNs, infinities, denormals, all bits; messages of 0 to 600 bytes
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/svmx.h>
#include <unistd.h>

enum { MAX_ARGS = 8, GUARD = 64, GUARD_BYTE = 0xa5, FIRST_OPS = 6 };

/* ---- random numbers --------------------------------------------------------------------------------------- */

/* One step of a 64-bit congruential generator; its upper half is good. */
static uint32_t random_u32(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

static uint32_t random_below(uint64_t *state, uint32_t limit) {
    return (uint32_t)((uint64_t)random_u32(state) * limit >> 32);
}

/* ---- memory ----------------------------------------------------------------------------------------------- */

/* Memory that starts `shift` bytes behind a 64-byte border, with guards around it if something writes there. */
struct block {
    uint8_t *base, *at;
    uint64_t bytes, guard;
};

static struct block block_make(uint64_t bytes, unsigned shift, uint64_t guard) {
    struct block block = {.bytes = bytes, .guard = guard};
    void *memory = NULL;
    cr_assert_eq(posix_memalign(&memory, 64, (size_t)(guard + shift + bytes + guard + !bytes)), 0, "no memory");
    block.base = memory;
    block.at = block.base + guard + shift;
    if (guard) memset(block.base, GUARD_BYTE, (size_t)(guard + shift + bytes + guard));
    return block;
}

static bool guards_stand(const struct block *block) {
    for (const uint8_t *at = block->base; at < block->at; at++)
        if (*at != GUARD_BYTE) return false;
    for (uint64_t i = 0; i < block->guard; i++)
        if (block->at[block->bytes + i] != GUARD_BYTE) return false;
    return true;
}

/* ---- data ------------------------------------------------------------------------------------------------- */

enum style { PLAIN, WILD };

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

/* One task and what is expected of it. The arguments are those of the run under test. */
struct task {
    struct svmx_op op;
    struct svmx_arg args[MAX_ARGS];
    struct block blocks[MAX_ARGS];   /* inputs, and outputs of the run under test */
    struct block expected[MAX_ARGS]; /* outputs of the reference code */
};

static bool in_memory(const struct task *task, uint32_t i) { return task->op.params[i].shape != SVMX_SCALAR; }
static bool is_output(const struct task *task, uint32_t i) { return task->op.params[i].direction == SVMX_OUT; }

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

static void task_free(struct task *task) {
    for (uint32_t i = 0; i < MAX_ARGS; i++) {
        free(task->blocks[i].base);
        free(task->expected[i].base);
    }
    *task = (struct task){.op = task->op};
}

/* ---- the executors ---------------------------------------------------------------------------------------- */

/* Fixed-size text: Criterion copies parameters into the process of the test. */
struct target {
    char backends[64], variant[16];
    uint32_t threads;
};

struct pair {
    svmx_executor_t *tested, *reference;
    svmx_batch_t *tested_batch, *reference_batch;
    bool strict; /* every operation must run on device 0, else this would compare the reference with itself */
};

static bool cpu_has(const char *variant) {
    if (strcmp(variant, "avx2") != 0 && strcmp(variant, "avx512") != 0) return true;
#if defined(__x86_64__)
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
    if (strcmp(variant, "avx2") == 0) return avx2;
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

/* A backend that was built and is not found is a fault, not a reason to skip. */
static bool simd_was_built(void) {
    const char *folder = getenv("SVMX_TEST_BACKEND_PATH");
    char path[4096];
    snprintf(path, sizeof path, "%s/simd.so", folder ? folder : "");
    return folder && access(path, F_OK) == 0;
}

static svmx_executor_t *open_one(const struct target *target) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = target->backends,
                                         .variant = *target->variant ? target->variant : NULL,
                                         .threads = target->threads,
                                         .log_level = SVMX_LOG_ERROR};
    struct svmx_error error = {SVMX_OK, ""};
    svmx_executor_t *executor = NULL;
    enum svmx_status status = svmx_open(&executor, &options, &error);
    if (status == SVMX_ERR_UNKNOWN && !simd_was_built()) cr_skip_test("this build has no such backend: %s", error.text);
    cr_assert_eq(status, SVMX_OK, "%s: %s", target->backends, error.text);
    return executor;
}

/* The device under test must be what was asked for. */
static void check_device(const struct pair *pair, const struct target *target) {
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_device_get(pair->tested, 0, &device), SVMX_OK);
    if (!*target->variant) return;
    cr_assert_str_eq(device.backend, "simd");
    cr_assert_str_eq(device.variant, target->variant);
    cr_assert_eq(device.threads, target->threads);
}

static struct pair pair_open(const struct target *target) {
    if (!cpu_has(target->variant)) cr_skip_test("this machine has no %s", target->variant);
    const struct target none = {.backends = "none"};
    struct pair pair = {.tested = open_one(target), .reference = open_one(&none), .strict = *target->variant != '\0'};
    check_device(&pair, target);
    cr_assert_eq(svmx_batch_create(pair.tested, &pair.tested_batch), SVMX_OK);
    cr_assert_eq(svmx_batch_create(pair.reference, &pair.reference_batch), SVMX_OK);
    return pair;
}

static void pair_close(struct pair *pair) {
    svmx_batch_destroy(pair->tested_batch);
    svmx_batch_destroy(pair->reference_batch);
    svmx_close(pair->tested);
    svmx_close(pair->reference);
}

static uint32_t op_count(const struct pair *pair) {
    const uint32_t count = svmx_op_count(pair->reference);
    cr_assert_geq(count, FIRST_OPS);
    return count;
}

static struct svmx_op op_at(const struct pair *pair, uint32_t index) {
    struct svmx_op op = {.size = sizeof op};
    cr_assert_eq(svmx_op_get(pair->reference, index, &op), SVMX_OK);
    cr_assert_leq(op.param_count, MAX_ARGS);
    return op;
}

/* ---- run and compare -------------------------------------------------------------------------------------- */

static struct task task_make(const struct pair *pair, const struct svmx_op *op, uint64_t size, enum style style,
                             uint64_t seed, unsigned shift) {
    struct task task = {.op = *op};
    struct svmx_example example;
    cr_assert_eq(svmx_example_create(pair->reference, op->id, size, seed, &example), SVMX_OK);
    cr_assert_eq(example.arg_count, op->param_count);
    make_inputs(&task, &example, style, seed, shift);
    enum svmx_status status = make_expected(&task, pair->reference_batch);
    if (status == SVMX_ERR_ARGUMENT && style == WILD && op->id > FIRST_OPS) { /* one that cannot take any data */
        task_free(&task);
        make_inputs(&task, &example, PLAIN, seed, shift);
        status = make_expected(&task, pair->reference_batch);
    }
    cr_assert_eq(status, SVMX_OK, "%s of %" PRIu64 ": %s", op->name, size, svmx_batch_error(pair->reference_batch));
    svmx_example_destroy(&example);
    return task;
}

static void check_receipts(const struct pair *pair) {
    for (uint32_t part = 0; part < svmx_receipt_count(pair->tested_batch); part++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        cr_assert_eq(svmx_receipt_get(pair->tested_batch, part, &receipt), SVMX_OK);
        if (pair->strict)
            cr_assert(receipt.device == 0 && receipt.redone == 0, "operation %u was answered by device %u: %s",
                      receipt.op, receipt.device, receipt.reason);
    }
}

static void check_task(const struct task *task, size_t number) {
    for (uint32_t i = 0; i < task->op.param_count; i++) {
        if (!is_output(task, i)) continue;
        const struct block *got = &task->blocks[i], *want = &task->expected[i];
        cr_assert(guards_stand(got), "%s, task %zu: bytes around %s were written", task->op.name, number,
                  task->op.params[i].name);
        cr_assert(guards_stand(want), "%s, task %zu: the reference wrote around %s", task->op.name, number,
                  task->op.params[i].name);
        if (memcmp(got->at, want->at, (size_t)got->bytes) == 0) continue;
        uint64_t byte = 0;
        while (got->at[byte] == want->at[byte]) byte++;
        cr_assert_fail("%s, task %zu: %s differs from byte %" PRIu64 " of %" PRIu64, task->op.name, number,
                       task->op.params[i].name, byte, got->bytes);
    }
}

/* All tasks as one batch on the tested executor; frees them. */
static void run_and_compare(struct pair *pair, struct task *tasks, size_t count) {
    svmx_batch_t *batch = pair->tested_batch;
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    for (size_t t = 0; t < count; t++)
        cr_assert_eq(svmx_batch_add(batch, tasks[t].op.id, tasks[t].args, tasks[t].op.param_count), SVMX_OK, "%s: %s",
                     tasks[t].op.name, svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    check_receipts(pair);
    for (size_t t = 0; t < count; t++) {
        check_task(&tasks[t], t);
        task_free(&tasks[t]);
    }
}

static void run_one(struct pair *pair, const struct svmx_op *op, uint64_t size, enum style style, uint64_t seed,
                    unsigned shift) {
    struct task task = task_make(pair, op, size, style, seed, shift);
    run_and_compare(pair, &task, 1);
}

/* Largest size that is compared: what one run of the reference code may cost. Any that is not named is cheap. */
static uint64_t size_limit(const struct svmx_op *op) {
    static const struct {
        const char *prefix;
        uint64_t limit;
    } dear[] = {{"ec", 40},        {"ed25519", 40},  {"eigh", 40},     {"grid", 2050},
                {"matmul", 20000}, {"merkle", 4100}, {"sha256", 8200}, {"keccak256", 8200}};
    for (size_t i = 0; i < sizeof dear / sizeof *dear; i++)
        if (strncmp(op->name, dear[i].prefix, strlen(dear[i].prefix)) == 0) return dear[i].limit;
    return 66 * 4096 + 1; /* more blocks than a reduction has lanes */
}

static uint64_t within_limit(const struct svmx_op *op, uint64_t size) {
    const uint64_t limit = size_limit(op);
    return size <= limit ? size : size % (limit + 1);
}

/* ---- what is compared ------------------------------------------------------------------------------------- */

static void powers_of_two(struct pair *pair) {
    for (uint32_t o = 0; o < op_count(pair); o++) {
        const struct svmx_op op = op_at(pair, o);
        run_one(pair, &op, 0, PLAIN, 2 * o, 0);
        run_one(pair, &op, 0, WILD, 2 * o + 1, 0);
        for (unsigned k = 0; k <= 16 && (UINT64_C(1) << k) < size_limit(&op); k++)
            for (uint64_t size = (UINT64_C(1) << k) - 1; size <= (UINT64_C(1) << k) + 1; size++) {
                run_one(pair, &op, size, PLAIN, size, 0);
                run_one(pair, &op, size, WILD, size + k, 0);
            }
    }
}

static void random_sizes(struct pair *pair) {
    uint64_t state = 11;
    for (uint32_t o = 0; o < op_count(pair); o++) {
        const struct svmx_op op = op_at(pair, o);
        for (unsigned i = 0; i < 60; i++) {
            const uint64_t size = random_u32(&state) >> (19 + random_below(&state, 13)); /* few large, many small */
            run_one(pair, &op, within_limit(&op, size), WILD, random_u32(&state), random_below(&state, 64));
        }
        run_one(pair, &op, size_limit(&op), WILD, 2, 4);
    }
}

static void all_alignments(struct pair *pair) {
    static const unsigned shifts[] = {0, 1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 28, 31, 32, 33, 48, 63};
    for (uint32_t o = 0; o < op_count(pair); o++) {
        const struct svmx_op op = op_at(pair, o);
        for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
            run_one(pair, &op, within_limit(&op, 100 + shifts[i]), WILD, i, shifts[i]);
            run_one(pair, &op, within_limit(&op, 5000), WILD, i + 1, shifts[i]);
        }
    }
}

/* Sizes of tasks in a batch: many of a few units, some empty, a few large. */
static uint64_t mixed_size(const struct svmx_op *op, uint64_t *state) {
    const uint32_t r = random_below(state, 100);
    if (r < 10) return 0;
    return within_limit(op, r < 90 ? random_below(state, 40) : random_below(state, 3000));
}

enum { BATCH = 700 };

static void many_tasks(struct pair *pair) {
    static struct task tasks[BATCH];
    uint64_t state = 5;
    for (uint32_t o = 0; o < op_count(pair); o++) {
        const struct svmx_op op = op_at(pair, o);
        for (size_t t = 0; t < BATCH; t++)
            tasks[t] =
                task_make(pair, &op, mixed_size(&op, &state), WILD, random_u32(&state), random_below(&state, 64));
        run_and_compare(pair, tasks, BATCH);
    }
}

static void mixed_operations(struct pair *pair) {
    static struct task tasks[BATCH];
    uint64_t state = 6;
    for (unsigned round = 0; round < 3; round++) {
        for (size_t t = 0; t < BATCH; t++) {
            const struct svmx_op op = op_at(pair, random_below(&state, op_count(pair)));
            tasks[t] = task_make(pair, &op, mixed_size(&op, &state), t % 3 ? WILD : PLAIN, random_u32(&state),
                                 random_below(&state, 64));
        }
        run_and_compare(pair, tasks, BATCH);
    }
}

/* A reduction is what has an output that does not grow. */
static bool is_reduction(const struct pair *pair, const struct svmx_op *op) {
    struct svmx_example small, large;
    cr_assert_eq(svmx_example_create(pair->reference, op->id, 1, 1, &small), SVMX_OK);
    cr_assert_eq(svmx_example_create(pair->reference, op->id, 5000, 1, &large), SVMX_OK);
    const bool grows = small.args[0].bytes < large.args[0].bytes;
    svmx_example_destroy(&small);
    svmx_example_destroy(&large);
    return !grows;
}

static uint64_t bytes_per_unit(const struct pair *pair, const struct svmx_op *op) {
    struct svmx_example example;
    uint64_t bytes = 0;
    cr_assert_eq(svmx_example_create(pair->reference, op->id, 1000, 1, &example), SVMX_OK);
    for (size_t i = 0; i < example.arg_count; i++) bytes += example.args[i].bytes;
    svmx_example_destroy(&example);
    return bytes / 1000;
}

/* Reductions over more partials than one block holds; vectors that no cache holds. */
static void large(struct pair *pair) {
    unsigned reductions = 0;
    for (uint32_t o = 0; o < op_count(pair); o++) {
        const struct svmx_op op = op_at(pair, o);
        if (size_limit(&op) < 5000) continue;
        if (is_reduction(pair, &op)) {
            run_one(pair, &op, 4096 * 4096 + 4097, PLAIN, o, 0);
            reductions++;
        } else if (bytes_per_unit(pair, &op) <= 16) {
            /* streaming stores start at the first aligned address: every offset for the first, one for the rest */
            for (unsigned shift = op.id <= FIRST_OPS ? 0 : 4; shift <= 4; shift = 2 * shift + !shift)
                run_one(pair, &op, 3000001, WILD, o, shift);
        }
    }
    cr_assert_geq(reductions, 2, "sum_f32 and dot_f32 were not found");
}

/* ---- on which backends ------------------------------------------------------------------------------------ */

/* clang-format off */
static struct target targets[] = {
    {"none", "", 0},
    {"+simd,stop", "scalar", 1}, {"+simd,stop", "scalar", 2}, {"+simd,stop", "scalar", 5},
    {"+simd,stop", "avx2", 1},   {"+simd,stop", "avx2", 2},   {"+simd,stop", "avx2", 5},
    {"+simd,stop", "avx512", 1}, {"+simd,stop", "avx512", 2}, {"+simd,stop", "avx512", 5},
};
/* clang-format on */

static struct criterion_test_params all_targets(void) {
    return cr_make_param_array(struct target, targets, sizeof targets / sizeof *targets);
}

static void on_target(const struct target *target, void (*compare)(struct pair *)) {
    struct pair pair = pair_open(target);
    compare(&pair);
    pair_close(&pair);
}

ParameterizedTestParameters(contract, powers_of_two) { return all_targets(); }
ParameterizedTest(struct target *target, contract, powers_of_two) { on_target(target, powers_of_two); }

ParameterizedTestParameters(contract, random_sizes) { return all_targets(); }
ParameterizedTest(struct target *target, contract, random_sizes) { on_target(target, random_sizes); }

ParameterizedTestParameters(contract, all_alignments) { return all_targets(); }
ParameterizedTest(struct target *target, contract, all_alignments) { on_target(target, all_alignments); }

ParameterizedTestParameters(contract, many_tasks) { return all_targets(); }
ParameterizedTest(struct target *target, contract, many_tasks) { on_target(target, many_tasks); }

ParameterizedTestParameters(contract, mixed_operations) { return all_targets(); }
ParameterizedTest(struct target *target, contract, mixed_operations) { on_target(target, mixed_operations); }

/* 200 MB an instance: two threads only. */
Test(contract, large_scalar) { on_target(&targets[2], large); }
Test(contract, large_avx2) { on_target(&targets[5], large); }
Test(contract, large_avx512) { on_target(&targets[8], large); }

/* Whatever else this machine has. A device need not do every operation; what it does must be right. */
Test(contract, other_devices) {
    svmx_executor_t *all = open_one(&(struct target){.backends = ""});
    struct target others[16];
    unsigned count = 0, index_in_backend = 0;
    char last[32] = "";
    for (uint32_t i = 0; i + 1 < svmx_device_count(all) && count < 16; i++) {
        struct svmx_device device = {.size = sizeof device};
        cr_assert_eq(svmx_device_get(all, i, &device), SVMX_OK);
        if (strcmp(device.backend, "simd") == 0) continue; /* has its targets above */
        index_in_backend = strcmp(last, device.backend) == 0 ? index_in_backend + 1 : 0;
        snprintf(last, sizeof last, "%s", device.backend);
        snprintf(others[count].backends, sizeof others[count].backends, "+%s:%u,stop", last, index_in_backend);
        others[count].variant[0] = '\0';
        others[count++].threads = 0;
    }
    svmx_close(all);
    if (count == 0) cr_skip_test("there is no device but the CPU");
    for (unsigned i = 0; i < count; i++) {
        on_target(&others[i], many_tasks);
        on_target(&others[i], mixed_operations);
        on_target(&others[i], random_sizes);
    }
}
