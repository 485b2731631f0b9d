/*
 * fault_sweep.c: every fault of faulty.h on every backend that is there: all answers right, none missing, none twice, and the
 * device serves again once the fault is over; where it does not hang, all that was made of a plugin or driver is given back.
 *
 * Most are injected between the core and the plugin (faulty.h); OpenCL has two columns more where the plugin is real and its
 * driver goes wrong (tests/drivers/cl_fault): in memory that is shared with the host, and as a card with memory of its own.
 *
 *   fault_sweep [--long] [BACKEND]
 *
 *   --long    200 batches over all operations, of which each one's call goes wrong
 *   BACKEND   only those whose name in the table has that in it
 *
 * A device is told to come back (svmx_device_reset), but for one row, where it is left alone and comes back after its rest.
 *
 * Prints a line for each fault and backend, "cell|FAULT|BACKEND|INJECTED|SURVIVED|REDONE", which scripts/fault-report.sh
 * makes a table of, and `N passed, N failed, N skipped`: a cell is passed if all that was injected was survived. Wrong bits
 * and stale results can only be seen by comparison, so these run under verify=full. A plain program: the backends are real.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../drivers/cl_fault/use.h"
#include "../drivers/ze_cpu/use.h"
#include "executor/executor.h"
#include "faulty.h"
#include "trial.h"

#include <stdatomic.h>
#include <stdio.h>

/* Instances that hang are abandoned on purpose. */
SVMX_EXPORT int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

enum { PATIENCE_MS = 60000, HANG_MS = 300, STUCK_MS = 1000, SIZE = 3000, LONG = 200 };

static unsigned passed, failed, skipped;
static bool is_long;

/* A row of the table. */
static const struct row {
    const char *name;
    enum fault fault;
    bool alone; /* nobody tells the device to come back */
} rows[] = {{"out of memory", FAULT_ALLOC, false},  {"build failure", FAULT_BUILD, false},
            {"launch fails", FAULT_SUBMIT, false},  {"wait fails", FAULT_WAIT, false},
            {"device lost", FAULT_LOST, false},     {"device lost, left alone", FAULT_LOST, true},
            {"hang in wait", FAULT_HANG, false},    {"hang in enqueue", FAULT_STUCK, false},
            {"flipped bit", FAULT_FLIP, false},     {"stale results", FAULT_STALE, false},
            {"short readback", FAULT_SHORT, false}, {"overlong write", FAULT_LONG, false}};
enum { ROWS = sizeof rows / sizeof *rows };

static bool hangs(enum fault fault) { return fault == FAULT_HANG || fault == FAULT_STUCK; }

/* Where faults come from. */
struct injector {
    const char *backend;                            /* how SUPERVM_BACKENDS has it */
    void (*arm)(enum fault fault, unsigned number); /* at its call with that number from now on; FAULT_NONE: no more */
    unsigned (*injected)(void);                     /* since then */
    void (*start)(void);                            /* before it is armed and an executor opened */
    bool (*is_clean)(void);                         /* after it was closed: was all given back? */
};

struct backend {
    const char *label, *plugin, *select; /* select: "" or ":DEVICE" */
    bool has_tickets, reads_back;
    const struct injector *injector;
};
static const struct injector between, in_driver, in_card;
static const struct backend backends[] = {{"opencl (PoCL)", "opencl", "", true, false, &between},
                                          {"opencl (driver)", "opencl", "", true, false, &in_driver},
                                          {"opencl (driver, card)", "opencl", "", true, true, &in_card},
                                          {"levelzero (ze_cpu)", "levelzero", "", true, true, &between},
                                          {"sim (separate)", "sim", ":rtx4090-wgpu", true, true, &between},
                                          {"sim (shared)", "sim", ":integrated", true, false, &between},
                                          {"simd", "simd", "", false, false, &between}};
enum { BACKENDS = sizeof backends / sizeof *backends };

/* ---- between the core and the plugin ------------------------------------------------------------------------------ */

static void between_start(void) { faulty.memory = faulty.pipelines = faulty.tickets = 0; }

static bool between_is_clean(void) {
    const bool clean = faulty.memory + faulty.pipelines + faulty.tickets == 0;
    if (!clean)
        printf("    left: %u pieces of memory, %u pipelines, %u tickets\n", faulty.memory, faulty.pipelines,
               faulty.tickets);
    return clean;
}

static const struct injector between = {"faulty", faulty_arm, faulty_injected, between_start, between_is_clean};

/* ---- between the plugin and OpenCL's driver ------------------------------------------------------------------------ */

static const char *allocator = "clSVMAlloc";
static int alive_before;

static void driver_arm(enum fault fault, unsigned number) {
    static const enum layer_harm harms[] = {
        [FAULT_WAIT] = LAYER_BREAK,  [FAULT_LOST] = LAYER_LOSE, [FAULT_HANG] = LAYER_HANG,
        [FAULT_STUCK] = LAYER_STAY,  [FAULT_FLIP] = LAYER_FLIP, [FAULT_STALE] = LAYER_STALE,
        [FAULT_SHORT] = LAYER_SHORT, [FAULT_LONG] = LAYER_LONG};
    cl_fault.fail(NULL, 0, 0);
    cl_fault.harm(LAYER_NONE, 0);
    switch (fault) {
    case FAULT_NONE: break;
    case FAULT_ALLOC: cl_fault.fail(allocator, number, -4 /* CL_MEM_OBJECT_ALLOCATION_FAILURE */); break;
    case FAULT_BUILD: cl_fault.fail("clBuildProgram", number, -11 /* CL_BUILD_PROGRAM_FAILURE */); break;
    case FAULT_SUBMIT: cl_fault.fail("clEnqueueNDRangeKernel", number, -36 /* CL_INVALID_COMMAND_QUEUE */); break;
    default: cl_fault.harm((int)harms[fault], number); break;
    }
}

static unsigned driver_injected(void) { return cl_fault.hits() + cl_fault.harmed(); }

static void driver_start(void) {
    allocator = "clSVMAlloc";
    cl_fault.card(0);
    alive_before = cl_fault.alive();
}

static void card_start(void) {
    driver_start();
    allocator = "clCreateBuffer";
    cl_fault.card(1);
}

static bool driver_is_clean(void) {
    const int left = cl_fault.alive() - alive_before;
    if (left) printf("    left: %d objects of the driver\n", left);
    return left == 0;
}

static const struct injector in_driver = {"opencl", driver_arm, driver_injected, driver_start, driver_is_clean};
static const struct injector in_card = {"opencl", driver_arm, driver_injected, card_start, driver_is_clean};

/* ---- one run ------------------------------------------------------------------------------------------------------ */

static void be_silent(void *user, enum svmx_log_level level, const char *text) {
    (void)user, (void)level;
    if (getenv("SVMX_TEST_VERBOSE")) fprintf(stderr, "      %s\n", text);
}

static svmx_executor_t *open_with(const struct backend *backend, enum fault fault) {
    static const struct svmx_plugin *const plugins[] = {&faulty_plugin};
    char list[64];
    const bool beside_simd = strcmp(backend->plugin, "simd") != 0;
    (void)snprintf(list, sizeof list, "+%s%s%s,stop", backend->injector->backend, backend->select,
                   beside_simd ? ",simd" : "");
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = list,
                                         .policy = "order",
                                         .timeout_ms = hangs(fault) ? HANG_MS : PATIENCE_MS,
                                         .patience_ms = fault == FAULT_STUCK ? STUCK_MS : 0,
                                         .verify = fault == FAULT_FLIP || fault == FAULT_STALE ? "full" : "off",
                                         .static_plugins = plugins,
                                         .static_plugin_count = 1,
                                         .log = be_silent,
                                         .log_level = SVMX_LOG_WARN};
    svmx_executor_t *executor = NULL;
    struct svmx_error error = {SVMX_OK, ""};
    if (svmx_open(&executor, &options, &error) != SVMX_OK) printf("    %s: %s\n", backend->label, error.text);
    return executor;
}

static void count_done(svmx_batch_t *batch, enum svmx_status status, void *user) {
    (void)batch;
    if (status == SVMX_OK) atomic_fetch_add((atomic_uint *)user, 1);
}

/* Runs an example; its outputs, to be freed, if it ended once and well. */
static unsigned char *run_once(svmx_executor_t *executor, uint32_t id, uint64_t seed, uint64_t *bytes,
                               struct svmx_receipt *receipt) {
    struct svmx_op op = {.size = sizeof op};
    struct svmx_example example = {0};
    svmx_batch_t *batch = NULL;
    unsigned char *outputs = NULL;
    atomic_uint ends = 0;
    for (uint32_t i = 0; svmx_op_get(executor, i, &op) == SVMX_OK && op.id != id; i++) continue;
    if (svmx_example_create(executor, id, SIZE, seed, &example) == SVMX_OK &&
        svmx_batch_create(executor, &batch) == SVMX_OK && svmx_batch_on_done(batch, count_done, &ends) == SVMX_OK &&
        svmx_batch_add(batch, id, example.args, example.arg_count) == SVMX_OK && svmx_run(batch) == SVMX_OK &&
        svmx_receipt_get(batch, 0, receipt) == SVMX_OK && atomic_load(&ends) == 1) {
        *bytes = example_outputs(&op, &example, NULL);
        outputs = malloc((size_t)*bytes + 1);
        if (outputs) (void)example_outputs(&op, &example, outputs);
    }
    svmx_batch_destroy(batch);
    svmx_example_destroy(&example);
    return outputs;
}

/* Is the answer that of the reference code? */
static bool is_right(svmx_executor_t *executor, svmx_executor_t *reference, uint32_t op, uint64_t seed) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    uint64_t bytes = 0, expected_bytes = 0;
    unsigned char *outputs = run_once(executor, op, seed, &bytes, &receipt),
                  *expected = run_once(reference, op, seed, &expected_bytes, &receipt);
    const bool right = outputs && expected && bytes == expected_bytes && memcmp(outputs, expected, (size_t)bytes) == 0;
    if (!right) printf("    operation %u, seed %u: a wrong answer, or none\n", op, (unsigned)seed);
    free(outputs);
    free(expected);
    return right;
}

/* The operations of the workload; the first of all is kept for seeing whether the device is back. */
enum { PROBE = SVMX_OP_VEC_MUL_F32 };
static uint32_t operations(svmx_executor_t *executor, uint32_t *ids, uint32_t most) {
    static const uint32_t few[] = {SVMX_OP_VEC_ADD_F32, SVMX_OP_SUM_F32, SVMX_OP_SHA256};
    struct svmx_op op = {.size = sizeof op};
    uint32_t count = 0;
    for (uint32_t i = 0; count < most && svmx_op_get(executor, i, &op) == SVMX_OK; i++) {
        bool wanted = is_long && op.id != PROBE;
        for (size_t k = 0; k < sizeof few / sizeof *few; k++) wanted = wanted || op.id == few[k];
        if (wanted) ids[count++] = op.id;
    }
    return count;
}

/* Rebuilt, it serves; a rebuild takes its time, and so does a rest where it is left alone. */
static bool is_back(svmx_executor_t *executor, bool alone) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    if (!alone && svmx_device_reset(executor, 0) != SVMX_OK) return false;
    for (int i = 0; i < PATIENCE_MS / 10; i++) {
        uint64_t bytes;
        (void)svmx_prewarm(executor, PROBE, SIZE);
        unsigned char *outputs = run_once(executor, PROBE, 1, &bytes, &receipt);
        if (!outputs) return false;
        free(outputs);
        if (receipt.device == 0) return true;
        (void)nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    printf("    the device does not come back\n");
    return false;
}

struct cell {
    unsigned injected, survived;
    uint64_t redone;
};

enum { MOST = 64 }; /* operations */

static bool is_early(enum fault fault) { return fault == FAULT_ALLOC || fault == FAULT_BUILD; }

/* Closes it. What a driver holds that hangs stays; everything else is given back. */
static bool closes(svmx_executor_t *executor, const struct backend *backend, enum fault fault) {
    svmx_close(executor);
    return hangs(fault) || backend->injector->is_clean();
}

/* The fault at its n-th call. false: there is no such call, or no such backend. */
static bool inject(const struct backend *backend, const struct row *row, unsigned number, svmx_executor_t *reference,
                   struct cell *cell) {
    uint32_t ids[MOST];
    const enum fault fault = row->fault;
    const bool early = is_early(fault);
    backend->injector->start();
    if (early) backend->injector->arm(fault, number);
    svmx_executor_t *executor = open_with(backend, fault);
    if (!executor) return false;
    const uint32_t count = operations(executor, ids, MOST), batches = is_long ? LONG : 2 * count;
    for (uint32_t i = 0; i < count; i++) (void)svmx_prewarm(executor, ids[i], SIZE);
    if (!early) backend->injector->arm(fault, number);
    bool survived = true;
    for (uint32_t i = 0; i < batches; i++) survived = is_right(executor, reference, ids[i % count], i) && survived;
    struct svmx_stats stats = {.size = sizeof stats};
    (void)svmx_stats_get(executor, &stats);
    const unsigned injected = backend->injector->injected();
    backend->injector->arm(FAULT_NONE, 0);
    survived = survived && is_back(executor, row->alone);
    survived = closes(executor, backend, fault) && survived;
    cell->injected += injected;
    cell->survived += injected && survived;
    cell->redone += stats.fallbacks;
    if (!survived) printf("    %s, %s, call %u\n", row->name, backend->label, number);
    return injected > 0;
}

static bool is_usable(svmx_executor_t *executor) {
    struct svmx_device device = {.size = sizeof device};
    return svmx_device_get(executor, 0, &device) == SVMX_OK && device.usable;
}

/* 200 batches, and in each the first call that the fault can be had at goes wrong; a device that is out of it is told to come back
 * before the next. So every call of them does, as far as the device still has work. */
static void inject_all(const struct backend *backend, const struct row *row, svmx_executor_t *reference,
                       struct cell *cell) {
    uint32_t ids[MOST];
    backend->injector->start();
    svmx_executor_t *executor = open_with(backend, row->fault);
    if (!executor) return;
    const uint32_t count = operations(executor, ids, MOST);
    for (uint32_t i = 0; i < count; i++) (void)svmx_prewarm(executor, ids[i], SIZE);
    for (uint32_t i = 0; i < LONG; i++) {
        (void)svmx_prewarm(executor, ids[i % count], SIZE); /* so that it is the launch that fails, not a self-test */
        backend->injector->arm(row->fault, 1);
        const bool right = is_right(executor, reference, ids[i % count], i);
        const unsigned injected = backend->injector->injected();
        backend->injector->arm(FAULT_NONE, 0);
        const bool back = !injected || is_usable(executor) || is_back(executor, row->alone);
        cell->injected += injected ? injected : !right;
        cell->survived += right && back ? injected : 0;
        if (!right || !back) printf("    %s, %s, batch %u\n", row->name, backend->label, i);
    }
    struct svmx_stats stats = {.size = sizeof stats};
    (void)svmx_stats_get(executor, &stats);
    cell->redone += stats.fallbacks;
    if (!is_back(executor, row->alone) || !closes(executor, backend, row->fault)) cell->survived = 0;
}

/* ---- all of them -------------------------------------------------------------------------------------------------- */

static bool applies(const struct backend *backend, enum fault fault) {
    switch (fault) {
    case FAULT_ALLOC:
    case FAULT_WAIT:
    case FAULT_HANG:
    case FAULT_STUCK:
    case FAULT_LONG:
        return backend->has_tickets; /* in the caller's memory there is nothing to allocate, wait for, guard */
    case FAULT_SHORT: return backend->reads_back;
    default: return true;
    }
}

/* Why a backend cannot be had here; NULL: it can, and faulty.h has it. */
static const char *choose(const struct backend *backend) {
    const char *path = getenv("SVMX_TEST_BACKEND_PATH");
    const char *pocl = "/etc/OpenCL/vendors/pocl.icd", *sanitizer = getenv("SVMX_TEST_SANITIZER");
    if (!path) return "SVMX_TEST_BACKEND_PATH does not say where plugins are";
    (void)snprintf(faulty.path, sizeof faulty.path, "%s/%s.so", path, backend->plugin);
    if (access(faulty.path, R_OK) != 0) return "this build does not have it";
    if (cl_fault.card) cl_fault.card(0);
    if (backend->injector != &between && cl_fault_use()) return cl_fault_use();
    if (strcmp(backend->plugin, "opencl") == 0) {
        if (sanitizer && strstr(sanitizer, "thread")) return "the thread sanitizer does not know PoCL's threads";
        if (access(pocl, R_OK) != 0) return "there is no PoCL (package pocl-opencl-icd)";
        (void)setenv("OCL_ICD_VENDORS", pocl, 1);
    }
    if (strcmp(backend->plugin, "levelzero") == 0) {
        if (ze_cpu_missing()) return ze_cpu_missing();
        ze_cpu_use("sweep");
    }
    return NULL;
}

/* What is abandoned is a leak, on purpose; misuse is told at once, and is none of the faults. */
static void look_for_misuse(void) {
    char path[ZE_CPU_PATH], line[512];
    unsigned found = 0;
    ze_cpu_report_path(path, "sweep");
    FILE *report = fopen(path, "r");
    while (report && fgets(line, sizeof line, report))
        if (strncmp(line, "misuse", 6) == 0) found++, printf("    %s", line);
    if (report) fclose(report);
    if (found)
        failed++;
    else
        passed++;
}

static void sweep(const struct backend *backend, svmx_executor_t *reference) {
    static const unsigned few[] = {1, 2, 5};
    const char *missing = choose(backend);
    for (const struct row *row = rows; row < rows + ROWS; row++) {
        struct cell cell = {0, 0, 0};
        if (!applies(backend, row->fault)) continue;
        if (missing) {
            printf("skipped %s, %s: %s\n", row->name, backend->label, missing);
            skipped++;
            continue;
        }
        const unsigned calls = row->alone ? 1 : sizeof few / sizeof *few;
        const unsigned step = is_long ? LONG / 4 : row->fault == FAULT_STUCK ? 2 : 1; /* which takes its patience */
        if (is_long && !is_early(row->fault) && !row->alone)
            inject_all(backend, row, reference, &cell);
        else
            for (unsigned i = 0; i < (is_long ? LONG : calls); i += step)
                if (!inject(backend, row, is_long ? i + 1 : few[i], reference, &cell)) break;
        printf("cell|%s|%s|%u|%u|%llu\n", row->name, backend->label, cell.injected, cell.survived,
               (unsigned long long)cell.redone);
        const bool good = cell.injected && cell.injected == cell.survived;
        passed += good;
        failed += !good;
        (void)fflush(stdout);
    }
    if (!missing && strcmp(backend->plugin, "levelzero") == 0) look_for_misuse();
}

int main(int argc, char **argv) {
    const struct svmx_options plain = {.size = sizeof plain, .backends = "none", .log = be_silent};
    svmx_executor_t *reference = NULL;
    is_long = argc > 1 && strcmp(argv[1], "--long") == 0;
    const char *only = argc > 1 + is_long ? argv[1 + is_long] : "";
    if (svmx_open(&reference, &plain, NULL) != SVMX_OK) return 1;
    (void)cl_fault_use(); /* the loader of OpenCL looks for layers once */
    (void)setenv("SUPERVM_DRIVER_PROBE", "off", 1);
    for (size_t i = 0; i < BACKENDS; i++)
        if (strstr(backends[i].label, only)) sweep(&backends[i], reference);
    svmx_close(reference);
    printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
    return failed != 0;
}
