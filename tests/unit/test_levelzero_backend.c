/*
 * test_levelzero_backend.c: plugins/levelzero by its own functions, on the test driver (tests/drivers/ze_cpu): engines,
 * tickets, memory and its limits, binaries, input that is wrong. What an executor does with it: tests/contract/levelzero.c.
 *
 * Two suites are made of it: through the real loader, and as test_levelzero_newer, whose linker finds the driver's stand-in for a
 * newer loader: lists in order, events that count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifdef LOADER_IS_NEWER
#define SUITE "newer"
#else
#define SUITE           "backend"
#define LOADER_IS_NEWER false
#endif
#include "levelzero_fixture.h"

static struct lz_device *device_zero(void) { return &((struct lz_backend *)backend.self)->devices[0]; }

/* ---- devices --------------------------------------------------------------------------------------------------- */

Test(levelzero_backend, a_device_says_what_it_is, .init = start, .fini = finish) {
    const struct svmx_device_info info = info_of(0);
    struct svmx_device_info none = {.size = sizeof none};
    cr_expect_not_null(strstr(info.name, "CPU test driver (not a GPU)"), "%s", info.name);
    cr_expect_eq(info.kind, SVMX_DEVICE_CPU);
    cr_expect_eq(info.flags, SVMX_DEVICE_TEST | SVMX_DEVICE_SHARES_CORES | SVMX_DEVICE_LINKS);
    cr_expect_eq(info.compute_engines, 1);
    cr_expect_eq(info.copy_engines, 1);
    cr_expect_eq(info.alignment, 64);
    cr_expect_eq(info.max_alloc_bytes, info.memory_bytes, "the driver has the relaxed limits");
    cr_expect_neq(info.uuid[0], 0);
    cr_expect_gt(info.max_group, 0);
    cr_expect_gt(info.timer_ns, 0);
    cr_expect(info.fp32 & SVMX_FP_FMA);
    cr_expect_eq(backend.ops->device_info(backend.self, 1, &none), SVMX_ERR_UNKNOWN);
}

Test(levelzero_backend, tiles_take_the_place_of_their_device, .init = use, .fini = finish) {
    setenv("ZE_CPU_TILES", "3", 1);
    open_backend();
    struct svmx_device_info none = {.size = sizeof none};
    cr_expect_str_neq(info_of(0).name, info_of(1).name);
    cr_expect_str_neq(info_of(1).name, info_of(2).name);
    cr_expect_eq(backend.ops->device_info(backend.self, 3, &none), SVMX_ERR_UNKNOWN);
}

Test(levelzero_backend, no_memory_for_the_instance_is_an_error, .init = use) {
    for (int left = 0; left < 2; left++) {
        atomic_store(&allocations_left, left);
        cr_expect_eq(svmx_plugin.open(&host, &backend), SVMX_ERR_MEMORY);
        cr_expect_eq(atomic_load(&live_allocations), 0);
    }
}

Test(levelzero_backend, another_abi_is_refused, .init = use) {
    struct svmx_host other = host;
    other.abi_major++;
    cr_expect_eq(svmx_plugin.open(&other, &backend), SVMX_ERR_ABI);
}

Test(levelzero_backend, the_loader_is_the_one_that_is_to_be_tested, .init = start, .fini = finish) {
    cr_expect_eq(device_zero()->in_order, LOADER_IS_NEWER);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

Test(levelzero_backend, memory_beyond_the_plain_limit_is_to_be_had_and_beyond_all_is_not, .init = start,
     .fini = finish) {
    const struct svmx_device_info info = info_of(0);
    struct svmx_memory *memory = NULL;
    void *none;
    release(device_memory(info.memory_bytes / 2 + 4096)); /* the driver's plain limit is half of it */
    cr_expect_eq(alloc(SVMX_MEMORY_DEVICE, 0, info.max_alloc_bytes + 1, &memory, &none), SVMX_ERR_MEMORY);
    cr_expect_not_null(strstr(last_error, "limit"), "%s", last_error);
    cr_expect_eq(alloc(SVMX_MEMORY_DEVICE, 0, 0, &memory, &none), SVMX_ERR_ARGUMENT);
    cr_expect_eq(alloc(SVMX_MEMORY_DEVICE, SVMX_USAGE_HOST_READ, 64, &memory, &none), SVMX_ERR_UNSUPPORTED);
    cr_expect_eq(alloc(SVMX_MEMORY_IMPORT, 0, 64, &memory, &none), SVMX_ERR_UNSUPPORTED);
    cr_expect_eq(alloc(77, 0, 64, &memory, &none), SVMX_ERR_UNSUPPORTED);
    cr_expect_null(memory);
}

Test(levelzero_backend, without_the_relaxed_limits_the_plain_one_holds, .init = use, .fini = finish) {
    setenv("ZE_CPU_FAIL", "zeDriverGetExtensionProperties@1=7ffffffe", 1); /* no extension is known */
    open_backend();
    const struct svmx_device_info info = info_of(0);
    struct svmx_memory *memory = NULL;
    void *none;
    cr_expect_lt(info.max_alloc_bytes, info.memory_bytes);
    release(device_memory(info.max_alloc_bytes));
    cr_expect_eq(alloc(SVMX_MEMORY_DEVICE, 0, info.max_alloc_bytes + 1, &memory, &none), SVMX_ERR_MEMORY);
    cr_expect_not_null(strstr(last_error, "limit"), "%s", last_error);
}

Test(levelzero_backend, memory_that_runs_out_says_so, .init = start, .fini = finish) {
    const struct svmx_device_info info = info_of(0);
    struct svmx_memory *half = device_memory(info.memory_bytes / 2), *more = NULL;
    void *none;
    cr_expect_eq(alloc(SVMX_MEMORY_DEVICE, 0, info.memory_bytes / 2 + 4096, &more, &none), SVMX_ERR_MEMORY);
    cr_expect_not_null(strstr(last_error, "OUT_OF_DEVICE_MEMORY"), "%s", last_error);
    release(half);
}

/* ---- engines and tickets ----------------------------------------------------------------------------------------- */

/* Fills device memory and reads it back, on an engine. */
static void go_there_and_back(uint32_t engine) {
    enum { BYTES = 100000 };
    void *at;
    uint64_t ticket;
    struct svmx_timing timing = {.size = sizeof timing};
    struct svmx_memory *mine = staging(BYTES, &at), *there = device_memory(BYTES);
    const struct svmx_command commands[] = {
        {.kind = SVMX_COMMAND_FILL, .as.fill = {{there, 0, BYTES}, 0x5a}},
        barrier,
        {.kind = SVMX_COMMAND_COPY_IN, .as.copy = {{mine, 0, 10}, {there, 50, 10}}},
        barrier,
        copy(SVMX_COMMAND_COPY_OUT, there, mine, BYTES),
    };
    memset(at, 0x11, BYTES);
    cr_assert_eq(submit(engine, commands, 5, NULL, &ticket), SVMX_OK, "%s", last_error);
    cr_assert_eq(wait_for(ticket, &timing), SVMX_OK);
    const unsigned char *bytes = at;
    for (size_t i = 0; i < BYTES; i++) cr_assert_eq(bytes[i], i >= 50 && i < 60 ? 0x11 : 0x5a, "byte %zu", i);
    cr_expect_lt(timing.copy_in_ns + timing.copy_out_ns, UINT64_C(1000000000), "a wrap was taken for time");
    cr_expect_eq(timing.compute_ns, 0);
    release(mine);
    release(there);
}

Test(levelzero_backend, both_engines_copy_and_fill, .init = start, .fini = finish) {
    go_there_and_back(0);
    go_there_and_back(1);
    go_there_and_back(1);
}

Test(levelzero_backend, timestamps_may_wrap, .init = use, .fini = finish) {
    setenv("ZE_CPU_TSWRAP", "1", 1);
    open_backend();
    for (int i = 0; i < 5; i++) go_there_and_back(0);
}

Test(levelzero_backend, a_ticket_waits_for_one_of_the_other_engine, .init = start, .fini = finish) {
    enum { BYTES = 1 << 20 };
    void *first_at, *second_at;
    uint64_t first, second;
    struct svmx_memory *one = staging(BYTES, &first_at), *two = staging(BYTES, &second_at);
    struct svmx_memory *there = device_memory(BYTES);
    const struct svmx_command in = copy(SVMX_COMMAND_COPY_IN, one, there, BYTES);
    const struct svmx_command out = copy(SVMX_COMMAND_COPY_OUT, there, two, BYTES);
    memset(first_at, 0x77, BYTES);
    cr_assert_eq(submit(1, &in, 1, NULL, &first), SVMX_OK);
    cr_assert_eq(submit(0, &out, 1, &first, &second), SVMX_OK);
    cr_assert_eq(wait_for(second, NULL), SVMX_OK);
    cr_expect_eq(memcmp(first_at, second_at, BYTES), 0);
    cr_assert_eq(wait_for(first, NULL), SVMX_OK);
    cr_expect_eq(wait_for(first, NULL), SVMX_ERR_UNKNOWN, "a ticket answers once");
    release(one);
    release(two);
    release(there);
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

enum { ADD_COUNT = 3000, ADD_BYTES = 12032, ADD_IN = 4096 + 2 * ADD_BYTES };

/* vec_add_f32 of one task, in place: the test driver's kernels reach host memory too. */
struct add {
    struct svmx_pipeline *pipeline;
    struct svmx_memory *in, *out;
    void *in_at, *out_at;
    uint64_t first_unit[2];
    struct svmx_command command;
};

static void add_open(struct add *add) {
    const uint64_t table[] = {0, ADD_COUNT * 4, 4096, ADD_COUNT * 4, 4096 + ADD_BYTES, ADD_COUNT * 4, 0, ADD_COUNT};
    cr_assert_eq(build("vec_add_f32", 0, NULL, 0, &add->pipeline), SVMX_OK, "%s", last_error);
    add->in = staging(ADD_IN, &add->in_at);
    add->out = staging(ADD_BYTES, &add->out_at);
    add->first_unit[0] = 0, add->first_unit[1] = ADD_COUNT;
    memcpy(add->in_at, table, sizeof table);
    float *a = (float *)(void *)((char *)add->in_at + 4096), *b = a + ADD_BYTES / 4;
    for (int i = 0; i < ADD_COUNT; i++) a[i] = (float)i, b[i] = 0.5f * (float)i;
    add->command = (struct svmx_command){.kind = SVMX_COMMAND_DISPATCH,
                                         .as.dispatch = {.pipeline = add->pipeline,
                                                         .first_unit = add->first_unit,
                                                         .task_count = 1,
                                                         .slot_count = 3,
                                                         .inputs = {add->in, 0, ADD_IN},
                                                         .outputs = {add->out, 0, ADD_BYTES},
                                                         .table = {add->in, 0, 64}}};
}

static void add_close(struct add *add) {
    backend.ops->pipeline_free(backend.self, add->pipeline);
    release(add->in);
    release(add->out);
}

static bool add_is_right(const struct add *add) {
    const float *sums = add->out_at;
    for (int i = 0; i < ADD_COUNT; i++)
        if (sums[i] != 1.5f * (float)i) return false;
    return true;
}

/* A GPU is not waited for as the CPU is: its driver would spin. Here the test driver is taken for one, and slow at times. */
Test(levelzero_backend, a_gpu_is_waited_for_in_pauses, .init = use, .fini = finish) {
    struct add add;
    setenv("ZE_CPU_HANG", "command@1=3,command@3=3,command@9=400,command@11=2", 1);
    open_backend();
    device_zero()->shares_cores = false;
    add_open(&add);
    for (int i = 0; i < 20; i++) {
        struct svmx_timing timing = {.size = sizeof timing};
        uint64_t ticket;
        memset(add.out_at, 0xee, ADD_BYTES);
        cr_assert_eq(submit(0, &add.command, 1, NULL, &ticket), SVMX_OK, "%s", last_error);
        if (i == 4)
            cr_expect_eq(backend.ops->wait(backend.self, 0, ticket, 0, &timing), SVMX_TIMEOUT, "the one of 400 ms");
        cr_assert_eq(wait_for(ticket, &timing), SVMX_OK);
        cr_expect(add_is_right(&add), "launch %d", i);
        cr_expect_gt(timing.compute_ns, 0);
        cr_expect_eq(timing.copy_in_ns + timing.copy_out_ns, 0);
    }
    add_close(&add);
}

Test(levelzero_backend, a_lost_device_stays_lost_and_a_new_instance_has_it_again, .init = use, .fini = finish) {
    struct add add;
    uint64_t ticket;
    void *at;
    struct svmx_memory *none;
    setenv("ZE_CPU_FAIL", "command@1=70000001", 1);
    open_backend();
    add_open(&add);
    enum svmx_status status = submit(0, &add.command, 1, NULL, &ticket);
    if (status == SVMX_OK) status = wait_for(ticket, NULL); /* else it failed before the list was at its end */
    cr_expect_eq(status, SVMX_ERR_DEVICE_LOST);
    cr_expect_eq(submit(0, &add.command, 1, NULL, &ticket), SVMX_ERR_DEVICE_LOST);
    cr_expect_eq(alloc(SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_READ, 64, &none, &at), SVMX_ERR_DEVICE_LOST);
    cr_expect_not_null(strstr(last_error, "was lost before"), "%s", last_error);
    add_close(&add);
    backend.ops->close(backend.self);
    open_backend();
    add_open(&add);
    cr_assert_eq(submit(0, &add.command, 1, NULL, &ticket), SVMX_OK, "%s", last_error);
    cr_expect_eq(wait_for(ticket, NULL), SVMX_OK);
    cr_expect(add_is_right(&add));
    add_close(&add);
}

/* Whether another ticket is over cannot be told: its own wait says what became of it, and nobody hangs. */
static void ask_in_vain(const char *fault, enum svmx_status expected) {
    struct add add;
    uint64_t first, second;
    setenv("ZE_CPU_FAIL", fault, 1);
    open_backend();
    add_open(&add);
    cr_assert_eq(submit(0, &add.command, 1, NULL, &first), SVMX_OK, "%s", last_error);
    cr_expect_eq(submit(0, &add.command, 1, &first, &second), expected, "%s: %s", fault, last_error);
    cr_expect_eq(wait_for(first, NULL), expected);
    if (expected == SVMX_OK) cr_expect_eq(wait_for(second, NULL), SVMX_OK);
    if (expected == SVMX_OK) cr_expect(add_is_right(&add));
    add_close(&add);
}

Test(levelzero_backend, another_ticket_that_cannot_be_asked_for_is_over, .init = use, .fini = finish) {
    ask_in_vain("zeEventQueryStatus@1=7ffffffe", SVMX_OK);
}
Test(levelzero_backend, another_ticket_that_cannot_be_asked_for_is_lost, .init = use, .fini = finish) {
    ask_in_vain("zeEventQueryStatus@1=70000001", SVMX_ERR_DEVICE_LOST);
}

/* Copies beside kernels of other tickets: each ticket is in order all the same. The driver runs lists beside each other and
 * reports what was used in two of them at once. */
Test(levelzero_backend, tickets_overlap_and_each_is_in_order, .init = start, .fini = finish) {
    enum { OPEN = 4 };
    struct add adds[OPEN];
    struct svmx_memory *in[OPEN], *out[OPEN];
    struct svmx_command commands[OPEN][5];
    uint64_t tickets[OPEN];
    for (int i = 0; i < OPEN; i++) {
        add_open(&adds[i]);
        in[i] = device_memory(ADD_IN), out[i] = device_memory(ADD_BYTES);
        commands[i][0] = copy(SVMX_COMMAND_COPY_IN, adds[i].in, in[i], ADD_IN);
        commands[i][1] = commands[i][3] = barrier;
        commands[i][2] = adds[i].command;
        commands[i][2].as.dispatch.inputs.memory = commands[i][2].as.dispatch.table.memory = in[i];
        commands[i][2].as.dispatch.outputs.memory = out[i];
        commands[i][4] = copy(SVMX_COMMAND_COPY_OUT, out[i], adds[i].out, ADD_BYTES);
    }
    for (int round = 0; round < 30; round++) {
        for (int i = 0; i < OPEN; i++) {
            memset(adds[i].out_at, 0xee, ADD_BYTES);
            cr_assert_eq(submit(0, commands[i], 5, NULL, &tickets[i]), SVMX_OK, "%s", last_error);
        }
        for (int i = 0; i < OPEN; i++) {
            struct svmx_timing timing = {.size = sizeof timing};
            cr_assert_eq(wait_for(tickets[round % 2 ? i : OPEN - 1 - i], &timing), SVMX_OK, "%s", last_error);
            cr_expect_gt(timing.compute_ns, 0);
        }
        for (int i = 0; i < OPEN; i++) cr_assert(add_is_right(&adds[i]), "round %d, ticket %d", round, i);
    }
    for (size_t i = 0; i < LZ_ENGINES; i++) cr_expect_not_null(device_zero()->engines[i].list, "engine %zu", i);
    for (int i = 0; i < OPEN; i++) {
        add_close(&adds[i]);
        release(in[i]);
        release(out[i]);
    }
}

/* ---- commands that do not end ----------------------------------------------------------------------------------- */

/* They fail on their way, and are then waited for in vain: whatever they may still use must stay with the device, or the driver
 * reports that it was freed in use. */
static void get_stuck(const char *hang, const char *fault) {
    struct add add;
    uint64_t ticket;
    struct svmx_memory *there;
    setenv("ZE_CPU_HANG", hang, 1);
    setenv("ZE_CPU_FAIL", fault, 1);
    open_backend();
    device_zero()->patience_ns = 20000000;
    add_open(&add);
    there = device_memory(ADD_BYTES);
    const struct svmx_command commands[] = {copy(SVMX_COMMAND_COPY_IN, add.out, there, ADD_BYTES), barrier, add.command,
                                            barrier, copy(SVMX_COMMAND_COPY_OUT, there, add.out, ADD_BYTES)};
    enum svmx_status status = submit(0, commands, 5, NULL, &ticket);
    if (status == SVMX_OK) status = wait_for(ticket, NULL);
    cr_expect_eq(status, SVMX_ERR_DEVICE_LOST, "%s: %s", fault, last_error);
    cr_expect_not_null(strstr(all_lines, "do not end"), "%s", all_lines);
    cr_expect_eq(submit(0, &add.command, 1, NULL, &ticket), SVMX_ERR_DEVICE_LOST);
    add_close(&add);
    release(there);
}

Test(levelzero_backend, what_a_wait_that_failed_leaves_under_way_keeps_its_memory, .init = use, .fini = finish) {
    get_stuck("command@1=1500", "zeEventHostSynchronize@1=7ffffffe");
}
Test(levelzero_backend, what_a_kernel_that_hangs_may_use_is_kept, .init = use, .fini = finish) {
    get_stuck("command@2=1500", "zeEventHostSynchronize@1=7ffffffe");
}
Test(levelzero_backend, what_a_submit_that_failed_leaves_under_way_keeps_its_memory, .init = use, .fini = finish) {
    get_stuck("command@1=1500", "zeCommandListAppendLaunchKernel@1=7ffffffe");
}

/* The same faults of commands that end: nothing stays behind, and the device serves on. */
static void fail_and_go_on(const char *fault) {
    struct add add;
    uint64_t ticket;
    setenv("ZE_CPU_FAIL", fault, 1);
    open_backend();
    add_open(&add);
    enum svmx_status status = submit(0, &add.command, 1, NULL, &ticket);
    if (status == SVMX_OK) status = wait_for(ticket, NULL);
    cr_expect_eq(status, SVMX_ERR_BACKEND, "%s: %s", fault, last_error);
    cr_assert_eq(submit(0, &add.command, 1, NULL, &ticket), SVMX_OK, "%s", last_error);
    cr_expect_eq(wait_for(ticket, NULL), SVMX_OK);
    cr_expect(add_is_right(&add));
    add_close(&add);
}

Test(levelzero_backend, a_wait_that_failed_and_ended_is_no_loss, .init = use, .fini = finish) {
    fail_and_go_on("zeEventHostSynchronize@1=7ffffffe");
}
Test(levelzero_backend, a_submit_that_failed_and_ended_is_no_loss, .init = use, .fini = finish) {
    fail_and_go_on("zeCommandListAppendLaunchKernel@1=7ffffffe");
}

/* ---- limits, and what is wrong ----------------------------------------------------------------------------------- */

Test(levelzero_backend, only_so_many_tickets_may_be_open, .init = start, .fini = finish) {
    uint64_t tickets[LZ_SLOTS], more;
    cr_assert_eq(info_of(0).max_in_flight, LZ_SLOTS);
    for (int i = 0; i < LZ_SLOTS; i++) cr_assert_eq(submit(0, &barrier, 1, NULL, &tickets[i]), SVMX_OK);
    cr_expect_eq(submit(0, &barrier, 1, NULL, &more), SVMX_BUSY);
    for (int i = 0; i < LZ_SLOTS; i++) cr_expect_eq(wait_for(tickets[i], NULL), SVMX_OK);
    for (int i = 0; i < 200; i++) { /* more than a burst of events */
        cr_assert_eq(submit(0, &barrier, 1, NULL, &more), SVMX_OK);
        cr_assert_eq(wait_for(more, NULL), SVMX_OK);
    }
    for (int i = 0; i < 50; i++) go_there_and_back(0);
    cr_assert_not_null(device_zero()->bursts);
    cr_expect_null(device_zero()->bursts->next, "events are used again: one burst is enough");
}

Test(levelzero_backend, what_is_wrong_is_refused_and_nothing_begins, .init = start, .fini = finish) {
    void *at;
    uint64_t ticket = 1;
    struct svmx_memory *mine = staging(100, &at), *there = device_memory(100);
    const struct svmx_command too_long = copy(SVMX_COMMAND_COPY_IN, mine, there, 101);
    const struct svmx_command uneven = {.kind = SVMX_COMMAND_COPY_IN, .as.copy = {{mine, 0, 10}, {there, 0, 11}}};
    const struct svmx_command unknown = {.kind = 99},
                              fill = {.kind = SVMX_COMMAND_FILL, .as.fill = {{there, 99, 2}, 0}};
    struct svmx_command dispatch = {.kind = SVMX_COMMAND_DISPATCH};
    cr_expect_eq(submit(0, &too_long, 1, NULL, &ticket), SVMX_ERR_ARGUMENT);
    cr_expect_eq(submit(0, &uneven, 1, NULL, &ticket), SVMX_ERR_ARGUMENT);
    cr_expect_eq(submit(0, &unknown, 1, NULL, &ticket), SVMX_ERR_ARGUMENT);
    cr_expect_eq(submit(0, &fill, 1, NULL, &ticket), SVMX_ERR_ARGUMENT);
    cr_expect_eq(submit(0, &dispatch, 1, NULL, &ticket), SVMX_ERR_ARGUMENT);
    cr_expect_eq(submit(1, &dispatch, 1, NULL, &ticket), SVMX_ERR_ARGUMENT);
    cr_expect_not_null(strstr(last_error, "engine for copies"), "%s", last_error);
    cr_expect_eq(submit(2, &barrier, 1, NULL, &ticket), SVMX_ERR_UNKNOWN);
    cr_expect_eq(ticket, 1);
    cr_expect_eq(wait_for(12345, NULL), SVMX_ERR_UNKNOWN);
    release(mine);
    release(there);
}

/* ---- pipelines --------------------------------------------------------------------------------------------------- */

Test(levelzero_backend, variants_end_and_operations_without_code_are_not_supported, .init = start, .fini = finish) {
    struct svmx_pipeline *first = NULL, *again = NULL;
    cr_assert_eq(build("vec_add_f32", 0, NULL, 0, &first), SVMX_OK, "%s", last_error);
    cr_assert_eq(build("vec_add_f32", 0, NULL, 0, &again), SVMX_OK);
    cr_expect_eq(first, again, "one kernel for what is the same");
    cr_expect_eq(build("vec_add_f32", 1, NULL, 0, &again), SVMX_ERR_UNKNOWN);
    cr_expect_eq(build("no_such_operation", 0, NULL, 0, &again), SVMX_ERR_UNSUPPORTED);
    backend.ops->pipeline_free(backend.self, first);
    backend.ops->pipeline_free(backend.self, again);
}

Test(levelzero_backend, a_binary_is_taken_and_a_damaged_one_is_not, .init = start, .fini = finish) {
    struct svmx_pipeline *pipeline = NULL;
    size_t bytes = 0;
    cr_assert_eq(build("vec_add_f32", 0, NULL, 0, &pipeline), SVMX_OK, "%s", last_error);
    cr_assert_eq(backend.ops->pipeline_binary(backend.self, pipeline, NULL, &bytes), SVMX_OK);
    unsigned char *binary = malloc(bytes);
    cr_assert_not_null(binary);
    cr_assert_eq(backend.ops->pipeline_binary(backend.self, pipeline, binary, &bytes), SVMX_OK);
    backend.ops->pipeline_free(backend.self, pipeline);
    cr_assert_eq(build("vec_add_f32", 0, binary, bytes, &pipeline), SVMX_OK);
    cr_expect_null(strstr(all_lines, "is not used"), "%s", all_lines);
    backend.ops->pipeline_free(backend.self, pipeline);
    binary[bytes - 1] ^= 1;
    cr_assert_eq(build("vec_add_f32", 0, binary, bytes, &pipeline), SVMX_ERR_BACKEND);
    cr_expect_not_null(strstr(all_lines, "a stored binary is not used: it is damaged"), "%s", all_lines);
    cr_assert_eq(build("vec_add_f32", 0, NULL, 0, &pipeline), SVMX_OK, "the SPIR-V is compiled instead");
    backend.ops->pipeline_free(backend.self, pipeline);
    free(binary);
}

Test(levelzero_backend, an_operation_of_a_programs_own_needs_spirv, .init = start, .fini = finish) {
    const struct catalog_module *module = catalog_module("vec_add_f32", "gpu");
    struct svmx_op_desc op = {.size = sizeof op, .name = "map_groups", .opencl_c = "...", .local = 64, .grain = 1};
    const struct svmx_pipeline_desc wish = {.size = sizeof wish, .op = &op, .bucket = 16384};
    struct svmx_pipeline *pipeline = NULL;
    cr_expect_eq(backend.ops->pipeline_build(backend.self, 0, &wish, &pipeline), SVMX_ERR_UNSUPPORTED);
    op.spirv = module->words;
    op.spirv_bytes = module->bytes;
    cr_assert_eq(backend.ops->pipeline_build(backend.self, 0, &wish, &pipeline), SVMX_OK, "%s", last_error);
    backend.ops->pipeline_free(backend.self, pipeline);
    op.grain = 3;
    cr_expect_eq(backend.ops->pipeline_build(backend.self, 0, &wish, &pipeline), SVMX_ERR_ARGUMENT);
    op.grain = 1, op.local = 1 << 20;
    cr_expect_eq(backend.ops->pipeline_build(backend.self, 0, &wish, &pipeline), SVMX_ERR_UNSUPPORTED);
    op.local = 64, op.name = "no_such_kernel";
    cr_expect_eq(backend.ops->pipeline_build(backend.self, 0, &wish, &pipeline), SVMX_ERR_BACKEND);
    cr_expect_not_null(strstr(last_error, "no kernel no_such_kernel"), "%s", last_error);
    op.spirv = "no SPIR-V at all";
    op.spirv_bytes = 16;
    cr_expect_eq(backend.ops->pipeline_build(backend.self, 0, &wish, &pipeline), SVMX_ERR_BACKEND);
}
