/*
 * fuzz_batch.c: batches made at random through the public API: any operation, arguments that fit and arguments that do not,
 * results of earlier tasks, outputs of the library, calls out of turn. The same is done on the reference code and on SIMD: both
 * must say the same to every call, and give the same bytes; a refusal has a text, and leaves the batch as it was.
 *
 * A plain program: the same rounds every time, 3,000 or SVMX_FUZZ_ROUNDS. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"
#include <svmx/svmx.h>

enum { SIDES = 2, TASKS = 6, PARAMS = 8, ITEMS = 64, BYTES = 8 * 64 * ITEMS, SMALL = 5 };

/* Memory for one argument, of each side: inputs are the same on both. */
static unsigned char memory[SIDES][TASKS][PARAMS][BYTES];
static svmx_executor_t *executors[SIDES];
static svmx_batch_t *batches[SIDES];

static size_t type_bytes(uint32_t type) {
    static const size_t bytes[] = {[SVMX_U8] = 1, [SVMX_U32] = 4, [SVMX_U64] = 8, [SVMX_F32] = 4, [SVMX_F64] = 8};
    return type < sizeof bytes / sizeof *bytes && bytes[type] ? bytes[type] : 8;
}

/* As many elements as there is memory for, mostly those that fit `items`. */
static uint64_t some_count(const struct svmx_param *param, uint64_t items) {
    uint64_t count = items * (param->record ? param->record : 1) + (param->shape == SVMX_OFFSETS);
    if (below(20) == 0) count += below(3);
    if (below(40) == 0) count = below(ITEMS);
    const uint64_t most = BYTES / type_bytes(param->type);
    return count < most ? count : most;
}

static void fill(unsigned char *bytes, const struct svmx_param *param, uint64_t count) {
    if (param->shape == SVMX_OFFSETS) {
        uint64_t at = 0;
        for (uint64_t i = 0; i < count; i++, at += below(10)) memcpy(bytes + 8 * i, &at, sizeof at);
    } else if (param->type == SVMX_F32) {
        for (uint64_t i = 0; i < count; i++) {
            const float value = (float)(int32_t)dice() / 1e9f;
            memcpy(bytes + 4 * i, &value, sizeof value);
        }
    } else {
        for (size_t i = 0; i < count * type_bytes(param->type); i++) bytes[i] = (unsigned char)dice();
    }
}

/* One argument, for both sides. */
static void make_arg(const struct svmx_param *param, unsigned task, unsigned at, uint64_t items,
                     struct svmx_arg args[SIDES][PARAMS]) {
    const uint32_t type = below(50) ? param->type : (uint32_t)below(7);
    const uint64_t count = some_count(param, items), chance = below(30);
    const uint32_t before = (uint32_t)below(task + 1), output = (uint32_t)below(2);
    memset(memory[0][task][at], 0, BYTES);
    if (param->direction == SVMX_IN) fill(memory[0][task][at], param, count);
    memcpy(memory[1][task][at], memory[0][task][at], BYTES);
    const uint32_t value = 1 + dice() % 4;
    for (int side = 0; side < SIDES; side++) {
        void *data = chance == 0 ? NULL : memory[side][task][at];
        struct svmx_arg *arg = &args[side][at];
        if (param->shape == SVMX_SCALAR && type == SVMX_U64)
            *arg = svmx_u64(value);
        else if (param->shape == SVMX_SCALAR)
            *arg = type == SVMX_F32 ? svmx_f32((float)value) : type == SVMX_F64 ? svmx_f64(value) : svmx_u32(value);
        else if (param->direction == SVMX_OUT && chance < 4)
            *arg = svmx_out_library(type, chance == 1 ? UINT64_MAX / 2 : count);
        else if (param->direction == SVMX_IN && chance < 8)
            *arg = svmx_result_of(type, before, output);
        else
            *arg = param->direction == SVMX_OUT ? svmx_out(type, data, count) : svmx_in(type, data, count);
    }
}

/* true: both took the task. */
static bool add_task(unsigned task, struct tally *tally) {
    struct svmx_arg args[SIDES][PARAMS];
    struct svmx_op op = {.size = sizeof op};
    enum svmx_status status[SIDES];
    if (svmx_op_get(executors[0], (uint32_t)below(svmx_op_count(executors[0])), &op) != SVMX_OK) exit(2);
    const uint64_t items = below(10) ? 1 + below(SMALL) : below(ITEMS);
    if (op.param_count > PARAMS) return false;
    for (unsigned i = 0; i < op.param_count; i++) make_arg(&op.params[i], task, i, items, args);
    const size_t count = below(50) ? op.param_count : below(PARAMS);
    const uint32_t id = below(100) ? op.id : dice();
    for (unsigned i = op.param_count; i < PARAMS; i++) args[0][i] = args[1][i] = svmx_u32(0);
    for (int side = 0; side < SIDES; side++) {
        status[side] = svmx_batch_add(batches[side], id, args[side], count);
        if (status[side] != SVMX_OK)
            expect(tally, svmx_batch_error(batches[side])[0] != '\0', "a refusal has a text", op.name);
    }
    expect(tally, status[0] == status[1], "both sides say the same of a task", op.name);
    return status[0] == SVMX_OK && status[1] == SVMX_OK;
}

/* Calls that are out of turn say so, and change nothing. */
static void disturb(struct tally *tally) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    for (int side = 0; side < SIDES; side++) {
        expect(tally, svmx_poll(batches[side]) == SVMX_ERR_STATE, "nothing to poll for", "");
        expect(tally, svmx_cancel(batches[side]) == SVMX_ERR_STATE, "nothing to cancel", "");
        expect(tally, svmx_batch_rearm(batches[side]) == SVMX_ERR_STATE, "nothing to arm again", "");
        expect(tally, svmx_receipt_get(batches[side], 0, &receipt) != SVMX_OK, "no receipt", "");
        expect(tally, svmx_submit(batches[side], 0x40000000) == SVMX_ERR_ARGUMENT, "an unknown flag", "");
    }
}

static void round_of(struct tally *tally) {
    const unsigned tasks = 1 + (unsigned)below(TASKS);
    enum svmx_status status[SIDES];
    for (int side = 0; side < SIDES; side++)
        if (svmx_batch_reset(batches[side]) != SVMX_OK) exit(2);
    for (unsigned task = 0; task < tasks; task++) add_task(task, tally) ? tally->taken++ : tally->refused++;
    if (below(10) == 0) disturb(tally);
    for (int side = 0; side < SIDES; side++) status[side] = svmx_run(batches[side]);
    expect(tally, status[0] == status[1], "both sides say the same of a batch", svmx_batch_error(batches[1]));
    if (status[0] == SVMX_OK)
        expect(tally, memcmp(memory[0], memory[1], (size_t)tasks * sizeof memory[0][0]) == 0, "the same bytes", "");
}

static void open_sides(void) {
    static const char *const backends[SIDES] = {"none", "simd,stop"};
    for (int side = 0; side < SIDES; side++) {
        const struct svmx_options options = {.size = sizeof options,
                                             .backends = backends[side],
                                             .backend_path = getenv("SVMX_TEST_BACKEND_PATH"),
                                             .flags = SVMX_OPEN_NO_ENVIRONMENT,
                                             .log_level = SVMX_LOG_ERROR};
        if (svmx_open(&executors[side], &options, NULL) != SVMX_OK ||
            svmx_batch_create(executors[side], &batches[side]) != SVMX_OK)
            exit(2);
    }
}

#ifdef SVMX_LIBFUZZER
FUZZ_ENTRY(true)
static void fuzz_input(const uint8_t *bytes, size_t length, struct tally *tally) {
    (void)bytes, (void)length; /* the dice have them */
    if (!executors[0]) open_sides();
    round_of(tally);
}
#endif

int main(void) {
    struct tally tally = {0, 0, 0};
    open_sides();
    for (unsigned long i = fuzz_rounds(3000); i > 0; i--) round_of(&tally);
    for (int side = 0; side < SIDES; side++) {
        svmx_batch_destroy(batches[side]);
        svmx_close(executors[side]);
    }
    return fuzz_end_of("tasks", &tally);
}
