/*
 * steady_device.c: a recorded batch that is replayed on a device with memory of its own allocates nothing, neither of the host
 * nor of the device: chains, links in one launch, buffers, many tasks, and staging memory in place.
 *
 * The device is that of fake.h. What a driver allocates is its own business: the fake's tickets are not counted, but the
 * memory that the library asks it for is. Prints `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "count_allocations.h"

#if COUNTS_ALLOCATIONS
#define calloc(count, bytes) __libc_calloc(count, bytes)
#define free(memory)         __libc_free(memory)
#endif
#include "fake.h"
#if COUNTS_ALLOCATIONS
#undef calloc
#undef free
#endif

#include <stdio.h>

enum { N = 256, LINKS = 6, TASKS = 100, WARM_UP = 4, MOST_WARM_UP = 5000, ROUNDS = 50 };

static float a[N], b[N], out[TASKS][N];
static svmx_buffer_t *state, *step;

/* Each adds the tasks of one batch: 0 when all were taken. */
static int add_chain(svmx_batch_t *batch) {
    int refused = 0;
    for (uint32_t t = 0; t < LINKS; t++) {
        const struct svmx_arg args[] = {t + 1 < LINKS ? svmx_out_passing(SVMX_F32, N) : svmx_out(SVMX_F32, out[0], N),
                                        t ? svmx_result_of(SVMX_F32, t - 1, 0) : svmx_in(SVMX_F32, a, N),
                                        svmx_in(SVMX_F32, b, N)};
        refused |= svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3);
    }
    return refused;
}

static int add_buffers(svmx_batch_t *batch) {
    const struct svmx_arg first[] = {svmx_out_passing(SVMX_F32, N), svmx_view(SVMX_F32, state, 0, N),
                                     svmx_view(SVMX_F32, step, 0, N)},
                          second[] = {svmx_view(SVMX_F32, state, N, N), svmx_result_of(SVMX_F32, 0, 0),
                                      svmx_view(SVMX_F32, step, 0, N)};
    return svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, first, 3) ||
           svmx_batch_add(batch, SVMX_OP_VEC_MUL_F32, second, 3);
}

static int add_many(svmx_batch_t *batch) {
    int refused = 0;
    for (uint32_t t = 0; t < TASKS; t++) refused |= svmx_vec_add_f32(batch, out[t], a, b, N);
    return refused;
}

static const struct scenario {
    const char *name;
    int (*add)(svmx_batch_t *batch);
    uint32_t flags;
    bool fuses; /* the launches are one in the end */
} scenarios[] = {{"a chain", add_chain, 0, false},
                 {"a chain whose links are one launch", add_chain, SVMX_DEVICE_LINKS, true},
                 {"a chain in staging memory", add_chain, SVMX_DEVICE_SHARES_MEMORY, false},
                 {"buffers", add_buffers, 0, false},
                 {"buffers in staging memory", add_buffers, SVMX_DEVICE_SHARES_MEMORY, false},
                 {"100 tasks", add_many, 0, false},
                 {"100 tasks in staging memory", add_many, SVMX_DEVICE_SHARES_MEMORY, false}};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

/* Whether all of the last run was on the device, and fused if it should be. */
static bool is_settled(const svmx_batch_t *batch, bool fuses) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    uint32_t i = 0, fused = 0;
    for (; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++) {
        if (receipt.device != 0 || receipt.redone) return false;
        fused += (receipt.flags & SVMX_RECEIPT_FUSED) != 0;
    }
    return i > 0 && (!fuses || fused + 1 == i);
}

static bool replay(svmx_batch_t *batch, int rounds) {
    for (int i = 0; i < rounds; i++)
        if (svmx_batch_replay(batch) != SVMX_OK) return false;
    return true;
}

/* Replays until pipelines are built, and then some more. */
static bool warm_up(svmx_batch_t *batch, bool fuses) {
    const struct timespec moment = {0, 1000000};
    for (int i = 0; i < MOST_WARM_UP; i++) {
        if (!replay(batch, 1)) return false;
        if (is_settled(batch, fuses)) return replay(batch, WARM_UP);
        (void)nanosleep(&moment, NULL);
    }
    return false;
}

static bool is_steady(svmx_executor_t *executor, const struct scenario *scenario, unsigned *calls) {
    svmx_batch_t *batch;
    if (svmx_batch_create(executor, &batch) != SVMX_OK) return false;
    bool ran = scenario->add(batch) == 0 && svmx_batch_record(batch) == SVMX_OK && warm_up(batch, scenario->fuses);
    const unsigned before = fake_count(&fake.calls[FAKE_ALLOC]);
    count_from_here();
    ran = ran && replay(batch, ROUNDS);
    *calls = counted() + fake_count(&fake.calls[FAKE_ALLOC]) - before;
    ran = ran && is_settled(batch, scenario->fuses);
    svmx_batch_destroy(batch);
    return ran;
}

static bool make_buffers(svmx_executor_t *executor) {
    return svmx_buffer_create(executor, 2 * sizeof a, &state) == SVMX_OK &&
           svmx_buffer_create(executor, sizeof a, &step) == SVMX_OK &&
           svmx_buffer_write(state, 0, a, sizeof a) == SVMX_OK && svmx_buffer_write(step, 0, b, sizeof b) == SVMX_OK;
}

/* true: nothing was allocated. */
static bool test(const struct scenario *scenario) {
    struct svmx_options options = fake_options();
    svmx_executor_t *executor;
    unsigned calls = 0;
    fake_start();
    fake.flags = scenario->flags;
    options.timeout_ms = 60000;
    if (svmx_open(&executor, &options, NULL) != SVMX_OK) return false;
    const bool ran = make_buffers(executor) && is_steady(executor, scenario, &calls);
    svmx_buffer_destroy(state);
    svmx_buffer_destroy(step);
    svmx_close(executor);
    printf("%s: %s: ", ran && !calls ? "ok" : "FAILED", scenario->name);
    if (ran)
        printf("%u calls in %d replays\n", calls, ROUNDS);
    else
        printf("it did not run as it should\n");
    return ran && !calls;
}

int main(void) {
    unsigned passed = 0;
    if (!COUNTS_ALLOCATIONS) {
        printf("allocations cannot be counted in this build (a sanitizer, or not glibc)\n");
        printf("0 passed, 0 failed, %d skipped\n", SCENARIOS + 1);
        return 0;
    }
    for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = (float)(i % 7);
    passed += count_seven() == 7;
    for (size_t i = 0; i < SCENARIOS; i++) passed += test(&scenarios[i]);
    printf("%u passed, %u failed, 0 skipped\n", passed, SCENARIOS + 1 - passed);
    return passed == SCENARIOS + 1 ? 0 : 1;
}
