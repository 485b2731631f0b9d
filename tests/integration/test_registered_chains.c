/*
 * test_registered_chains.c: chains, recorded batches, buffers and loops have operations that a program registered as any other: on
 * SIMD, where links are one pass over memory, and on real drivers, where they are one submission.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "registered_fixture.h"

static const char *const ze_cpu_names[] = {"registered-chains", NULL};
#include "registered_drivers.h"

enum { LINKS = 4, CHAIN_ITEMS = 3000, PROBLEMS = 5, APART = 16, ROUNDS = 4 };

/* Whether a has reached k: with the parameters of the other one. */
static void reached_run(const struct svmx_operand *args, void *user) {
    (void)user;
    uint32_t k, a;
    memcpy(&k, args[3].data, sizeof k);
    for (uint64_t at = 0; at < args[0].bytes; at += 4) {
        memcpy(&a, (const char *)args[1].data + at, 4);
        memcpy((char *)args[0].data + at, &(uint32_t){a >= k}, 4);
    }
}

struct pair {
    uint32_t mix, reached;
};

static struct pair register_both(svmx_executor_t *executor, bool code, bool spirv, uint32_t flags) {
    struct svmx_op_def mix = def_of("mix_u32", code ? RIGHT("mix_u32") : NULL, code && spirv),
                       reached = def_of("reached_u32", code ? MIX_CODE("reached_u32", "a[i] >= k ? 1u : 0u") : NULL,
                                        code && spirv);
    mix.flags = reached.flags = flags;
    reached.run = reached_run;
    return (struct pair){register_code(executor, mix), register_code(executor, reached)};
}

static struct { uint32_t a[CHAIN_ITEMS], b[CHAIN_ITEMS], out[CHAIN_ITEMS]; } chain;

static uint32_t chain_of_one(uint32_t at) {
    uint32_t x = chain.a[at];
    for (uint32_t k = 0; k < LINKS; k++) x = mix_one(x, chain.b[at], k + 3);
    return x;
}

/* Links, of which the first reads a buffer and the last writes to one if there is one. */
static svmx_batch_t *chain_for(svmx_executor_t *executor, uint32_t op, svmx_buffer_t *from, svmx_buffer_t *to) {
    const uint32_t n = CHAIN_ITEMS;
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (uint32_t k = 0; k < LINKS; k++) {
        const struct svmx_arg args[] = {k + 1 < LINKS ? svmx_out_passing(SVMX_U32, n)
                                        : to          ? svmx_view(SVMX_U32, to, 0, n)
                                                      : svmx_out(SVMX_U32, chain.out, n),
                                        k      ? svmx_result_of(SVMX_U32, k - 1, 0)
                                        : from ? svmx_view(SVMX_U32, from, 0, n)
                                               : svmx_in(SVMX_U32, chain.a, n),
                                        svmx_in(SVMX_U32, chain.b, n), svmx_u32(k + 3)};
        cr_assert_eq(svmx_batch_add(batch, op, args, MIX_PARAMS), SVMX_OK, "%s", svmx_batch_error(batch));
    }
    return batch;
}

/* How many receipts of the last run have a flag. */
static uint32_t flagged(const svmx_batch_t *batch, uint32_t flag) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    uint32_t count = 0;
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++) count += (receipt.flags & flag) != 0;
    return count;
}

/* Recorded once, and replayed with other numbers, in memory and in buffers. */
static void expect_chains(svmx_executor_t *executor, uint32_t op, uint32_t flag, uint32_t flags, bool in_buffers) {
    svmx_buffer_t *from = NULL, *to = NULL;
    if (in_buffers) cr_assert_eq(svmx_buffer_create(executor, sizeof chain.a, &from), SVMX_OK);
    if (in_buffers) cr_assert_eq(svmx_buffer_create(executor, sizeof chain.a, &to), SVMX_OK);
    svmx_batch_t *batch = chain_for(executor, op, from, to);
    cr_assert_eq(svmx_batch_record(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < CHAIN_ITEMS; i++)
            chain.a[i] = i * 2654435761u + round, chain.b[i] = i * 40503u ^ round, chain.out[i] = 0;
        if (from) cr_assert_eq(svmx_buffer_write(from, 0, chain.a, sizeof chain.a), SVMX_OK);
        cr_assert_eq(svmx_batch_replay(batch), SVMX_OK, "%s", svmx_batch_error(batch));
        if (to) cr_assert_eq(svmx_buffer_read(to, 0, chain.out, sizeof chain.out), SVMX_OK);
        for (uint32_t i = 0; i < CHAIN_ITEMS; i++) cr_assert_eq(chain.out[i], chain_of_one(i), "element %u", i);
    }
    cr_assert_eq(flagged(batch, flag), flags, "%u of %u", flagged(batch, flag), flags);
    svmx_batch_destroy(batch);
    svmx_buffer_destroy(from);
    svmx_buffer_destroy(to);
}

/* Problems that count up by one, each to a limit of its own. */
static void expect_loop(svmx_executor_t *executor, struct pair ops, uint32_t every) {
    static const uint32_t one = UINT32_C(1) << 27; /* which turned by five is 1 */
    uint32_t state[PROBLEMS * APART] = {0};
    struct svmx_carry carries[PROBLEMS];
    struct svmx_until untils[PROBLEMS];
    struct svmx_loop_end ends[PROBLEMS];
    svmx_buffer_t *buffer;
    svmx_batch_t *body;
    cr_assert_eq(svmx_buffer_create(executor, sizeof state, &buffer), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &body), SVMX_OK);
    for (uint32_t p = 0; p < PROBLEMS; p++) {
        const struct svmx_arg next[] = {svmx_out_passing(SVMX_U32, 1), svmx_view(SVMX_U32, buffer, p * APART, 1),
                                        svmx_in(SVMX_U32, &one, 1), svmx_u32(1)},
                              flag[] = {svmx_out_passing(SVMX_U32, 1), svmx_result_of(SVMX_U32, 2 * p, 0),
                                        svmx_in(SVMX_U32, &one, 1), svmx_u32(2 + 3 * p)};
        cr_assert_eq(svmx_batch_add(body, ops.mix, next, MIX_PARAMS), SVMX_OK, "%s", svmx_batch_error(body));
        cr_assert_eq(svmx_batch_add(body, ops.reached, flag, MIX_PARAMS), SVMX_OK, "%s", svmx_batch_error(body));
        carries[p] = (struct svmx_carry){2 * p, 0, buffer, p * APART * sizeof *state};
        untils[p] = (struct svmx_until){.task = 2 * p + 1, .kind = SVMX_UNTIL_NOT_ZERO};
    }
    const struct svmx_loop loop = {sizeof loop, carries, untils, PROBLEMS, PROBLEMS, 12, every};
    cr_assert_eq(svmx_loop_run(body, &loop, ends, NULL), SVMX_OK, "%s", svmx_batch_error(body));
    cr_assert_eq(svmx_buffer_read(buffer, 0, state, sizeof state), SVMX_OK);
    for (uint32_t p = 0; p < PROBLEMS; p++) {
        const uint32_t limit = 2 + 3 * p; /* the last is beyond 12 */
        cr_assert_eq(ends[p].iterations, limit < 12 ? limit : 12, "problem %u, every %u", p, every);
        cr_assert_eq(ends[p].reason, limit <= 12 ? SVMX_LOOP_CONDITION : SVMX_LOOP_LIMIT);
        cr_assert_eq(state[p * APART], ends[p].iterations);
    }
    svmx_batch_destroy(body);
    svmx_buffer_destroy(buffer);
}

/* `flag`: what so many links of a chain have in their receipts in the end. */
static void expect_part_in_all(svmx_executor_t *executor, struct pair ops, uint32_t flag, uint32_t flags) {
    static const uint32_t everies[] = {1, 3, 16, 0};
    expect_chains(executor, ops.mix, flag, flags, false);
    expect_chains(executor, ops.mix, flag, flags, true);
    for (size_t i = 0; i < sizeof everies / sizeof *everies; i++) expect_loop(executor, ops, everies[i]);
}

/* One pass over memory where the program says that elements are independent; links by themselves where it does not. */
Test(registered, take_part_in_chains_on_simd) {
    for (uint32_t threads = 1; threads <= 3; threads += 2)
        for (uint32_t flags = 0; flags <= SVMX_OP_ELEMENTWISE; flags++) {
            svmx_executor_t *executor = open_simd(threads);
            const struct pair ops = register_both(executor, false, false, flags);
            expect_part_in_all(executor, ops, SVMX_RECEIPT_FUSED, flags ? LINKS - 1 : 0);
            svmx_close(executor);
        }
}

static void negate_run(const struct svmx_operand *args, void *user) {
    (void)user;
    for (uint64_t i = 0; i < args[0].bytes / sizeof(float); i++)
        ((float *)args[0].data)[i] = -((const float *)args[1].data)[i];
}

/* Beside an operation of the library's, in one pass. */
Test(registered, fuse_with_operations_of_the_library) {
    enum { N = 5000 };
    static float a[N], out[N];
    static const struct svmx_param params[] = {{"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1},
                                               {"a", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1}};
    svmx_executor_t *executor = open_simd(2);
    const struct svmx_op_def def = {.size = sizeof def,
                                    .name = "negate",
                                    .params = params,
                                    .param_count = 2,
                                    .exactness = SVMX_EXACT,
                                    .run = negate_run,
                                    .flags = SVMX_OP_ELEMENTWISE};
    const uint32_t negate = register_mix(executor, &def);
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    const struct svmx_arg sum[] = {svmx_out_passing(SVMX_F32, N), svmx_in(SVMX_F32, a, N), svmx_in(SVMX_F32, a, N)},
                          other[] = {svmx_out_passing(SVMX_F32, N), svmx_result_of(SVMX_F32, 0, 0)},
                          last[] = {svmx_out(SVMX_F32, out, N), svmx_result_of(SVMX_F32, 1, 0),
                                    svmx_in(SVMX_F32, a, N)};
    for (int i = 0; i < N; i++) a[i] = (float)i;
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, sum, 3), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, negate, other, 2), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_MUL_F32, last, 3), SVMX_OK);
    for (int run = 0; run < 3; run++) {
        memset(out, 0, sizeof out);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        for (int i = 0; i < N; i++) cr_assert_eq(out[i], -2 * a[i] * a[i], "element %d", i);
        if (run == 2) cr_assert_eq(flagged(batch, SVMX_RECEIPT_FUSED), 2);
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    }
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

static void expect_chains_to_serve(svmx_executor_t *executor, const struct target *target, bool spirv) {
    const struct pair ops = register_both(executor, true, spirv, SVMX_OP_ELEMENTWISE);
    cr_assert(comes_to_serve(executor, ops.mix, 0), "%s never answered:\n%s", target->name, lines.text);
    for (uint32_t i = 0; i < 2; i++) /* pipelines of these sizes */
        cr_assert_eq(svmx_prewarm(executor, i ? ops.reached : ops.mix, CHAIN_ITEMS), SVMX_OK);
    expect_part_in_all(executor, ops, SVMX_RECEIPT_STRETCH, LINKS);
    cr_assert(!was_logged(" is off"), "%s", lines.text);
}

ParameterizedTestParameters(registered, chains_on_every_driver) { return each_driver(); }
ParameterizedTest(struct choice *choice, registered, chains_on_every_driver) {
    on_each(choice, "chains", expect_chains_to_serve);
}
