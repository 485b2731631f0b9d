/*
 * test_levelzero_kernels.c: every kernel that a GPU of Level Zero may get, once over oclgrind, which checks every access to memory
 * and looks for races: each operation of the catalog, each of its variants, on the test driver (tests/drivers/ze_cpu).
 *
 * By the plugin's own functions: an executor proves a kernel by tens of launches before it serves, which takes an interpreter minutes
 * where a launch takes it seconds. Two small tasks a launch, of signatures one, in memory without a byte to spare; results are those
 * of the reference code. What an executor makes of oclgrind: tests/contract/levelzero.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/building.h"
#include "ops/chain_f32.h"

#define SUITE "kernels"
#include "levelzero_fixture.h"

#include <criterion/parameterized.h>
#include <sys/stat.h>

enum { TASKS = 2, SIZE = 3, BUCKET = 64, PARTS = 4, LINE = 64 };

/* ---- tasks, and where they lie ------------------------------------------------------------------------------------ */

struct launch {
    const struct svmx__op *op;
    uint32_t tasks;
    struct svmx_slot slots[TASKS * SVMX__MAX_PARAMS]; /* outputs are what is expected */
    uint64_t at[TASKS * SVMX__MAX_PARAMS];            /* in the memory of inputs, or of outputs */
    uint64_t first_unit[TASKS + 1];
    void *blocks[TASKS];
    uint64_t in_bytes, out_bytes;
};

static bool is_output(const struct launch *launch, uint32_t i) {
    return launch->op->params[i % launch->op->param_count].direction == SVMX_OUT;
}

static bool is_scalar(const struct launch *launch, uint32_t i) {
    return launch->op->params[i % launch->op->param_count].shape == SVMX_SCALAR;
}

static uint32_t slot_count(const struct launch *launch) { return launch->tasks * launch->op->param_count; }

static void add_task(struct launch *launch, uint64_t size) {
    const struct svmx__op *op = launch->op;
    struct svmx_slot *slots = launch->slots + slot_count(launch);
    struct svmx__size units;
    struct svmx__text why = {""};
    const uint32_t task = launch->tasks++;
    cr_assert_eq(svmx__example_make(op, size, task + 1, slots, &launch->blocks[task]), SVMX_OK, "%s", op->name);
    cr_assert_eq(svmx__op_check(op, slots, &units, &why), SVMX_OK, "%s: %s", op->name, why.line);
    svmx__reference_run(op, slots);
    launch->first_unit[task + 1] = launch->first_unit[task] + units.units;
}

/* The table first, then inputs; outputs are elsewhere. */
static void place(struct launch *launch) {
    launch->in_bytes = slot_count(launch) * sizeof(struct svmx_slot) + (launch->tasks + 1) * sizeof(uint64_t);
    for (uint32_t i = 0; i < slot_count(launch); i++) {
        uint64_t *end = is_output(launch, i) ? &launch->out_bytes : &launch->in_bytes;
        launch->at[i] = launch->slots[i].at;
        if (is_scalar(launch, i)) continue;
        launch->at[i] = (*end + LINE - 1) / LINE * LINE;
        *end = launch->at[i] + launch->slots[i].bytes;
    }
}

static void write_inputs(const struct launch *launch, unsigned char *to) {
    struct svmx_slot *table = (struct svmx_slot *)(void *)to;
    for (uint32_t i = 0; i < slot_count(launch); i++) {
        table[i] = (struct svmx_slot){launch->at[i], launch->slots[i].bytes};
        if (!is_output(launch, i) && !is_scalar(launch, i))
            memcpy(to + launch->at[i], (const void *)(uintptr_t)launch->slots[i].at, launch->slots[i].bytes);
    }
    memcpy(table + slot_count(launch), launch->first_unit, (launch->tasks + 1) * sizeof(uint64_t));
}

static void expect_outputs(const struct launch *launch, const char *variant, const unsigned char *from) {
    for (uint32_t i = 0; i < slot_count(launch); i++)
        if (is_output(launch, i))
            cr_expect_arr_eq(from + launch->at[i], (const void *)(uintptr_t)launch->slots[i].at, launch->slots[i].bytes,
                             "%s (%s), slot %u", launch->op->name, variant, i);
}

/* ---- one launch ----------------------------------------------------------------------------------------------------- */

static void go(const struct launch *launch, struct svmx_pipeline *pipeline, const char *variant) {
    void *in_at, *out_at;
    uint64_t ticket = 0;
    const uint64_t units = launch->first_unit[launch->tasks],
                   scratch_bytes = units * launch->op->scratch_bytes_per_unit;
    struct svmx_memory *from = staging(launch->in_bytes, &in_at), *to = staging(launch->out_bytes, &out_at);
    struct svmx_memory *in = device_memory(launch->in_bytes), *out = device_memory(launch->out_bytes);
    struct svmx_memory *scratch = scratch_bytes ? device_memory(scratch_bytes) : NULL;
    const struct svmx_command commands[] = {
        copy(SVMX_COMMAND_COPY_IN, from, in, launch->in_bytes),
        barrier,
        {.kind = SVMX_COMMAND_DISPATCH,
         .as.dispatch = {.pipeline = pipeline,
                         .first_unit = launch->first_unit,
                         .task_count = launch->tasks,
                         .slot_count = launch->op->param_count,
                         .inputs = {in, 0, launch->in_bytes},
                         .outputs = {out, 0, launch->out_bytes},
                         .table = {in, 0, launch->in_bytes},
                         .scratch = {scratch, 0, scratch_bytes}}},
        barrier,
        copy(SVMX_COMMAND_COPY_OUT, out, to, launch->out_bytes),
    };
    struct svmx_timing timing = {.size = sizeof timing};
    enum svmx_status status;
    write_inputs(launch, in_at);
    cr_assert_eq(submit(0, commands, sizeof commands / sizeof *commands, NULL, &ticket), SVMX_OK, "%s", last_error);
    do status = wait_for(ticket, &timing);
    while (status == SVMX_TIMEOUT);
    cr_assert_eq(status, SVMX_OK, "%s", last_error);
    expect_outputs(launch, variant, out_at);
    printf("%s (%s): %.1f s\n", launch->op->name, variant, (double)timing.compute_ns * 1e-9);
    fflush(stdout);
    struct svmx_memory *const all[] = {from, to, in, out, scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) release(all[i]);
}

/* ---- all of them ---------------------------------------------------------------------------------------------------- */

static const struct svmx__op *op_of(const struct catalog_entry *entry) {
    const struct svmx__op *op = svmx__op_by_name(entry->op);
    if (!op && strcmp(entry->op, SVMX__CHAIN_NAME) == 0) op = svmx__op_chain_f32(); /* the core's own */
    cr_assert_not_null(op, "%s is no operation", entry->op);
    return op;
}

static void each_variant(const struct catalog_entry *entry, const struct svmx__op *op) {
    struct launch launch = {.op = op};
    add_task(&launch, entry->calls ? 1 : SIZE);
    if (!entry->calls) add_task(&launch, SIZE - 1);
    place(&launch);
    const struct catalog_variant *variant;
    for (uint32_t n = 0; (variant = catalog_variant(entry, CATALOG_GPU, n)); n++) {
        const struct svmx_op_desc desc = svmx__op_desc(op);
        const struct svmx_pipeline_desc wish = {.size = sizeof wish, .op = &desc, .bucket = BUCKET, .variant = n};
        struct svmx_pipeline *pipeline = NULL;
        cr_assert_eq(backend.ops->pipeline_build(backend.self, 0, &wish, &pipeline), SVMX_OK, "%s: %s", op->name,
                     last_error);
        go(&launch, pipeline, variant->name);
        backend.ops->pipeline_free(backend.self, pipeline);
    }
    for (uint32_t i = 0; i < launch.tasks; i++) free(launch.blocks[i]);
}

struct part {
    uint32_t number;
};

static void use_oclgrind(void) {
    if (getenv("SVMX_TEST_NO_OPENCL_CONTRACT")) cr_skip_test("left out in this configuration (scripts/test.sh)");
    if (access("/usr/lib/oclgrind/liboclgrind-rt-icd.so", R_OK) != 0) cr_skip_test("there is no oclgrind");
    use();
    setenv("ZE_CPU_ENGINE", "oclgrind", 1);
    setenv("OCLGRIND_DATA_RACES", "1", 1);
}

/* So that they run beside each other. */
ParameterizedTestParameters(levelzero_kernels, once_over_oclgrind) {
    static struct part parts[PARTS] = {{0}, {1}, {2}, {3}};
    return cr_make_param_array(struct part, parts, PARTS);
}
ParameterizedTest(struct part *part, levelzero_kernels, once_over_oclgrind, .init = use_oclgrind, .fini = finish) {
    char log[ZE_CPU_PATH];
    struct stat info;
    ze_cpu_path(log, "tests/run/ze_cpu-%s.log", name);
    (void)unlink(log);
    setenv("OCLGRIND_LOG", log, 1); /* what it finds */
    open_backend();
    const struct catalog_entry *entry;
    for (uint32_t i = 0; (entry = catalog_at(i)); i++) {
        if (i % PARTS == part->number) each_variant(entry, op_of(entry));
    }
    if (stat(log, &info) == 0) cr_assert_eq(info.st_size, 0, "oclgrind found something: see %s", log);
}
