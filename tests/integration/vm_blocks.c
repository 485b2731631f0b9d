/*
 * vm_blocks.c: blocks run one transaction after another, in batches and by threads have one outcome: results, gas, logs,
 * output, changes and roots, to the bit; on the reference code, on SIMD, on a modelled GPU (sim), on OpenCL (PoCL) and on Level
 * Zero (the test driver, which computes on the CPU).
 *
 * Blocks of every kind, three of thousands of transactions, and 10,000 random ones of three transactions that disturb each
 * other (500 on the modelled GPU and on Level Zero, but in the long form); SVMX_VM_BLOCKS says another number, and under a sanitizer it is 1,000. What every block is
 * compared with is its serial run on the reference code.
 *
 * A plain program, so that it runs under the thread sanitizer as well. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../examples/contract-vm/generate.h"
#include "../../examples/contract-vm/run.h"
#include "../../examples/contract-vm/sign.h"
#include "../drivers/ze_cpu/use.h"

#include <svmx/ops.h>
#include <unistd.h>

enum { SHOWN = 5, KIND_COUNT = 40, RANDOM_COUNT = 3, FEWER = 20, PATIENCE_MS = 120000 };

static const char pocl[] = "/etc/OpenCL/vendors/pocl.icd";

static struct { unsigned passed, failed, skipped, shown; } tally;

static void check(bool good, const char *what, const char *where) {
    if (good) {
        tally.passed++;
        return;
    }
    tally.failed++;
    if (tally.shown++ < SHOWN) (void)fprintf(stderr, "failed: %s on %s\n", what, where);
}

/* ---- two outcomes ------------------------------------------------------------------------------------------------- */

static bool same_bytes(const struct bytes *a, const struct bytes *b) {
    return a->length == b->length && (a->length == 0 || memcmp(a->data, b->data, a->length) == 0);
}

static bool same_logs(const struct vm *a, const struct vm *b) {
    if (a->log_count != b->log_count || !same_bytes(&a->log_data, &b->log_data)) return false;
    for (size_t i = 0; i < a->log_count; i++) {
        const struct vm_log *x = &a->logs[i], *y = &b->logs[i];
        if (x->topic_count != y->topic_count || x->data_length != y->data_length) return false;
        for (uint32_t t = 0; t < x->topic_count; t++)
            if (!u256_equal(x->topics[t], y->topics[t])) return false;
    }
    return true;
}

static bool same_result(const struct vm *a, const struct vm *b) {
    return a->status == b->status && a->gas_used == b->gas_used && strcmp(a->error, b->error) == 0 &&
           memcmp(a->sender, b->sender, 20) == 0 && same_bytes(&a->output, &b->output) && same_logs(a, b);
}

static bool same_outcome(const struct outcome *a, const struct outcome *b) {
    if (a->count != b->count || a->change_count != b->change_count || a->gas_used != b->gas_used) return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_result(&a->vms[i], &b->vms[i]) || memcmp(a->prepared[i].hash, b->prepared[i].hash, 32) != 0)
            return false;
    for (size_t i = 0; i < a->change_count; i++)
        if (entry_compare(&a->changes[i], &b->changes[i]) != 0 || !u256_equal(a->changes[i].value, b->changes[i].value))
            return false;
    return memcmp(&a->roots, &b->roots, sizeof a->roots) == 0;
}

/* ---- one block ---------------------------------------------------------------------------------------------------- */

static svmx_executor_t *reference;

static bool run(svmx_executor_t *executor, const struct block *block, const struct run_options *options,
                struct outcome *outcome) {
    struct svmx_error error;
    if (block_run(executor, block, options, outcome, &error) == SVMX_OK) return true;
    if (tally.shown++ < SHOWN) (void)fprintf(stderr, "a block was not run: %s\n", error.text);
    return false;
}

/* Is it the outcome of the serial run? */
static bool agrees(svmx_executor_t *executor, const struct block *block, const struct run_options *options,
                   const struct outcome *wanted) {
    struct outcome outcome;
    if (!run(executor, block, options, &outcome)) return false;
    const bool same = same_outcome(&outcome, wanted);
    outcome_free(&outcome);
    return same;
}

static struct run_options in_mode(enum run_mode mode) {
    struct run_options options = run_defaults;
    options.mode = mode;
    return options;
}

/* All modes; and batches that are full at once, late at once, or have few transactions in flight. */
static bool all_agree(svmx_executor_t *executor, const struct block *block, const struct outcome *wanted) {
    struct run_options options[] = {in_mode(RUN_BATCHED), in_mode(RUN_SERIAL), in_mode(RUN_THREADS),
                                    in_mode(RUN_BATCHED), in_mode(RUN_BATCHED)};
    options[2].threads = 3;
    options[3].limits.requests = 3;
    options[3].in_flight = 5;
    options[4].limits.deadline_ns = 0;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (!agrees(executor, block, &options[i], wanted)) return false;
    return true;
}

static bool generate(enum block_kind kind, size_t count, uint64_t seed, bool is_unsigned, struct block *block) {
    const struct generate_options options = {kind, count, seed, is_unsigned};
    struct svmx_error error;
    if (block_generate(reference, &options, block, &error) == SVMX_OK) return true;
    (void)fprintf(stderr, "no block was made: %s\n", error.text);
    return false;
}

/* ---- many --------------------------------------------------------------------------------------------------------- */

enum modes { ALL_MODES, BATCHES, BATCHES_AND_THREADS };

static bool kind_agrees(svmx_executor_t *executor, enum block_kind kind, size_t count, enum modes modes) {
    const struct run_options serial = in_mode(RUN_SERIAL), batched = in_mode(RUN_BATCHED),
                             threads = in_mode(RUN_THREADS);
    struct block block;
    struct outcome wanted;
    if (!generate(kind, count, 7, false, &block)) return false;
    bool good = run(reference, &block, &serial, &wanted);
    if (good) {
        good = modes == ALL_MODES ? all_agree(executor, &block, &wanted) : agrees(executor, &block, &batched, &wanted);
        if (modes == BATCHES_AND_THREADS) good = good && agrees(executor, &block, &threads, &wanted);
        outcome_free(&wanted);
    }
    block_free(&block);
    return good;
}

/* More than are in flight at a time, and batches that get full. By threads, each call is a launch: for the CPU. */
static void large_blocks(svmx_executor_t *executor, const char *backend) {
    const enum modes modes = executor == reference || strcmp(backend, "simd") == 0 ? BATCHES_AND_THREADS : BATCHES;
    static const struct {
        enum block_kind kind;
        size_t count;
    } large[] = {{BLOCK_TRANSFERS, 3000}, {BLOCK_CONFLICTS, 2500}, {BLOCK_RANDOM, 2000}};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        char what[48];
        (void)snprintf(what, sizeof what, "%zu %s", large[i].count, block_kind_names[large[i].kind]);
        check(kind_agrees(executor, large[i].kind, large[i].count, modes), what, backend);
    }
}

/* Mostly unsigned, to be quick. A quarter of them is run serially as well, and a sixteenth by threads. */
static bool random_agrees(svmx_executor_t *executor, uint64_t seed) {
    const struct run_options serial = in_mode(RUN_SERIAL), batched = in_mode(RUN_BATCHED),
                             threads = in_mode(RUN_THREADS);
    struct block block;
    struct outcome wanted;
    if (!generate(BLOCK_RANDOM, RANDOM_COUNT, seed, seed % 16 != 0, &block)) return false;
    bool good = run(reference, &block, &serial, &wanted);
    if (good) {
        good = agrees(executor, &block, &batched, &wanted) &&
               (seed % 4 != 1 || agrees(executor, &block, &serial, &wanted)) &&
               (seed % 16 != 2 || agrees(executor, &block, &threads, &wanted));
        outcome_free(&wanted);
    }
    block_free(&block);
    if (!good && tally.shown++ < SHOWN)
        (void)fprintf(stderr, "the random block of seed %llu\n", (unsigned long long)seed);
    return good;
}

static uint64_t rounds(void) {
    const char *wish = getenv("SVMX_VM_BLOCKS"), *sanitizer = getenv("SVMX_TEST_SANITIZER");
    if (wish) return strtoull(wish, NULL, 10);
    return sanitizer && *sanitizer ? 1000 : 10000;
}

/* Where a block takes many times as long: all of them in the long form only. */
static uint64_t fewer(void) { return getenv("SVMX_TEST_LONG") ? rounds() : rounds() / FEWER; }

static void all_blocks(svmx_executor_t *executor, const char *backend, uint64_t seeds) {
    unsigned long long bad = 0;
    for (int kind = 0; kind < BLOCK_KINDS; kind++)
        check(kind_agrees(executor, (enum block_kind)kind, KIND_COUNT, ALL_MODES), block_kind_names[kind], backend);
    large_blocks(executor, backend);
    for (uint64_t seed = 0; seed < seeds; seed++) bad += !random_agrees(executor, seed);
    check(bad == 0, "random blocks", backend);
    printf("%s: %llu random blocks, %llu differ\n", backend, (unsigned long long)seeds, bad);
    (void)fflush(stdout);
}

/* ---- backends ------------------------------------------------------------------------------------------------------ */

static void skip(const char *backend, const char *why) {
    tally.skipped++;
    printf("skipped: %s: %s\n", backend, why);
}

static const uint32_t used_ops[] = {SVMX_OP_KECCAK256, SVMX_OP_SHA256, SVMX_OP_ECRECOVER,
                                    SVMX_OP_MERKLE_ROOT_KECCAK256};
enum { USED_OPS = sizeof used_ops / sizeof *used_ops };

/* Each operation was computed by the backend's own device: an answer of the reference code proves nothing. */
static void check_parts(const svmx_executor_t *executor, const char *backend) {
    static const char *const names[USED_OPS] = {"its device hashed", "its device hashed by sha256",
                                                "its device recovered", "its device made roots"};
    for (int i = 0; i < USED_OPS; i++) {
        struct svmx_op_stats stats = {.size = sizeof stats};
        check(svmx_op_stats_get(executor, used_ops[i], 0, &stats) == SVMX_OK && stats.parts > 0, names[i], backend);
    }
}

/* `wish`: the backend, or one of its devices, as SUPERVM_BACKENDS names it. */
static void on_backend(const char *backend, const char *wish, uint64_t seeds) {
    char only[64];
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = only,
                                         .policy = "order",
                                         .threads = 2,
                                         .timeout_ms = PATIENCE_MS,
                                         .timeout_min_ms = PATIENCE_MS};
    svmx_executor_t *executor;
    struct svmx_error error;
    struct svmx_device device = {.size = sizeof device};
    (void)snprintf(only, sizeof only, "%s,stop", wish);
    if (svmx_open(&executor, &options, &error) != SVMX_OK) {
        skip(backend, error.text);
        return;
    }
    if (svmx_device_get(executor, 0, &device) != SVMX_OK || strcmp(device.backend, backend) != 0) {
        skip(backend, "it has no device here");
    } else {
        for (int i = 0; i < USED_OPS; i++) (void)svmx_prewarm(executor, used_ops[i], 100);
        all_blocks(executor, backend, seeds);
        check_parts(executor, backend);
    }
    svmx_close(executor);
}

static void on_pocl(void) {
    const char *sanitizer = getenv("SVMX_TEST_SANITIZER");
    if (sanitizer && strstr(sanitizer, "thread")) {
        skip("opencl", "the thread sanitizer knows nothing of the threads of PoCL");
    } else if (access(pocl, R_OK) != 0) {
        skip("opencl", "there is no PoCL (package pocl-opencl-icd)");
    } else {
        (void)setenv("OCL_ICD_VENDORS", pocl, 1);
        on_backend("opencl", "opencl", rounds());
    }
}

static void on_levelzero(void) {
    const char *why = ze_cpu_missing();
    if (why) {
        skip("levelzero", why);
    } else {
        ze_cpu_use("vm_blocks");
        on_backend("levelzero", "levelzero:0", fewer());
    }
}

int main(void) {
    const struct svmx_options none = {.size = sizeof none, .backends = "none"};
    struct svmx_error error;
    if (!sign_is_there()) {
        puts("skipped: contract-vm needs libsecp256k1 to look at signatures\n0 passed, 0 failed, 1 skipped");
        return 0;
    }
    if (svmx_open(&reference, &none, &error) != SVMX_OK) return (void)fprintf(stderr, "%s\n", error.text), 1;
    all_blocks(reference, "reference", rounds());
    on_backend("simd", "simd", rounds());
    on_backend("sim", "sim:integrated", fewer());
    on_pocl();
    on_levelzero();
    svmx_close(reference);
    printf("%u passed, %u failed, %u skipped\n", tally.passed, tally.failed, tally.skipped);
    return tally.failed > 0;
}
