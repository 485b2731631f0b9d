/*
 * test_levelzero_backend.c: plugins/levelzero by its own functions, on the test driver (tests/drivers/ze_cpu): engines,
 * tickets, memory and its limits, binaries, input that is wrong. What an executor does with it: tests/contract/levelzero.c.
 *
 * Every test has its own process. What the driver has to say of misuse goes to a report that has to stay empty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/levelzero/levelzero.h"
#include "../drivers/ze_cpu/use.h"

#include <criterion/criterion.h>
#include <string.h>

extern const struct svmx_plugin svmx_plugin;

/* ---- a host, and an instance ------------------------------------------------------------------------------------- */

static atomic_int live_allocations, allocations_left = 1000000;
static char last_error[256], all_lines[16384];

static void host_log(const struct svmx_host *host, enum svmx_log_level level, const char *text) {
    (void)host;
    const size_t used = strlen(all_lines);
    if (level == SVMX_LOG_ERROR) (void)snprintf(last_error, sizeof last_error, "%s", text);
    if (level <= SVMX_LOG_INFO) (void)snprintf(all_lines + used, sizeof all_lines - used, "%s\n", text);
}

static void *host_alloc(const struct svmx_host *host, size_t bytes, size_t alignment) {
    void *memory = NULL;
    (void)host;
    if (atomic_fetch_sub(&allocations_left, 1) <= 0) return NULL;
    if (posix_memalign(&memory, alignment < sizeof memory ? sizeof memory : alignment, bytes)) return NULL;
    atomic_fetch_add(&live_allocations, 1);
    return memory;
}

static void host_release(const struct svmx_host *host, void *memory) {
    (void)host;
    if (memory) atomic_fetch_sub(&live_allocations, 1);
    free(memory);
}

static const char *host_option(const struct svmx_host *host, const char *key) {
    (void)host;
    (void)key;
    return NULL;
}

static uint64_t host_now(const struct svmx_host *host) {
    (void)host;
    return 0; /* a clock that stands still: waiting must not depend on it */
}

static const struct svmx_host host = {.size = sizeof host,
                                      .abi_major = SVMX_ABI_MAJOR,
                                      .abi_minor = SVMX_ABI_MINOR,
                                      .log = host_log,
                                      .alloc = host_alloc,
                                      .release = host_release,
                                      .option = host_option,
                                      .now = host_now};
static struct svmx_backend backend;
static char name[32]; /* of the driver's files */

static void use(void) {
    const char *missing = ze_cpu_missing();
    if (missing) cr_skip_test("%s", missing);
    (void)snprintf(name, sizeof name, "backend-%d", (int)getpid()); /* tests run side by side */
    ze_cpu_use(name);
    setenv("ZE_CPU_STRICT", "1", 1);
}

static void open_backend(void) { cr_assert_eq(svmx_plugin.open(&host, &backend), SVMX_OK, "%s", last_error); }

static void start(void) {
    use();
    open_backend();
}

/* Misuse is reported at once, leaks at the end of the process: those are looked for by the suites that have other ones. */
static void finish(void) {
    char path[ZE_CPU_PATH];
    backend.ops->close(backend.self);
    cr_expect_eq(atomic_load(&live_allocations), 0, "close leaves %d allocations", atomic_load(&live_allocations));
    ze_cpu_report_path(path, name);
    cr_expect_neq(access(path, R_OK), 0, "the driver reports misuse: %s", path);
}

static struct svmx_device_info info_of(uint32_t index) {
    struct svmx_device_info info = {.size = sizeof info};
    cr_assert_eq(backend.ops->device_info(backend.self, index, &info), SVMX_OK);
    return info;
}

static enum svmx_status alloc(uint32_t kind, uint32_t usage, uint64_t bytes, struct svmx_memory **memory, void **at) {
    const struct svmx_memory_desc desc = {.size = sizeof desc, .kind = kind, .usage = usage, .bytes = bytes};
    return backend.ops->memory_alloc(backend.self, 0, &desc, memory, at);
}

static struct svmx_memory *staging(uint64_t bytes, void **at) {
    struct svmx_memory *memory = NULL;
    const uint32_t usage = SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE | SVMX_USAGE_COPY_SOURCE;
    cr_assert_eq(alloc(SVMX_MEMORY_STAGING, usage, bytes, &memory, at), SVMX_OK, "%s", last_error);
    return memory;
}

static struct svmx_memory *device_memory(uint64_t bytes) {
    struct svmx_memory *memory = NULL;
    void *none;
    cr_assert_eq(alloc(SVMX_MEMORY_DEVICE, SVMX_USAGE_COPY_TARGET, bytes, &memory, &none), SVMX_OK, "%s", last_error);
    cr_assert_null(none);
    return memory;
}

static void release(struct svmx_memory *memory) { backend.ops->memory_free(backend.self, memory); }

static enum svmx_status submit(uint32_t engine, const struct svmx_command *commands, size_t count,
                               const uint64_t *after, uint64_t *ticket) {
    const struct svmx_command_list list = {sizeof list, sizeof *commands, commands, count};
    const struct svmx_submission submission = {
        .size = sizeof submission, .engine = engine, .list = &list, .after = after, .after_count = after ? 1 : 0};
    return backend.ops->submit(backend.self, &submission, ticket);
}

static enum svmx_status wait_for(uint64_t ticket, struct svmx_timing *timing) {
    struct svmx_timing unused = {.size = sizeof unused};
    return backend.ops->wait(backend.self, 0, ticket, UINT64_C(60000000000), timing ? timing : &unused);
}

static enum svmx_status build(const char *op, uint32_t variant, const void *binary, size_t bytes,
                              struct svmx_pipeline **pipeline) {
    const struct svmx_op_desc desc = {.size = sizeof desc, .name = op};
    const struct svmx_pipeline_desc wish = {
        .size = sizeof wish, .op = &desc, .bucket = 16384, .variant = variant, .binary = binary, .binary_bytes = bytes};
    return backend.ops->pipeline_build(backend.self, 0, &wish, pipeline);
}

static struct svmx_command copy(uint32_t kind, struct svmx_memory *from, struct svmx_memory *to, uint64_t bytes) {
    return (struct svmx_command){.kind = kind, .as.copy = {{from, 0, bytes}, {to, 0, bytes}}};
}

static const struct svmx_command barrier = {.kind = SVMX_COMMAND_BARRIER};

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
    ((struct lz_backend *)backend.self)->devices[0].shares_cores = false;
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

/* Copies beside kernels of other tickets, where the driver has in-order lists: each ticket is in order all the same. The driver
 * runs lists beside each other and reports what was used in two of them at once. */
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
    const struct lz_device *device = &((struct lz_backend *)backend.self)->devices[0];
    cr_expect_eq(device->engines[LZ_READBACKS].list != NULL, device->in_order);
    for (int i = 0; i < OPEN; i++) {
        add_close(&adds[i]);
        release(in[i]);
        release(out[i]);
    }
}

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
