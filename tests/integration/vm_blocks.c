/*
 * vm_blocks.c: blocks run one transaction after another, in batches and by threads have one outcome: results, gas, logs,
 * output, changes and roots, to the bit; on the reference code, on SIMD and on OpenCL (PoCL).
 *
 * Blocks of every kind, and 10,000 random ones of three transactions that disturb each other; SVMX_VM_BLOCKS says another
 * number, and under a sanitizer it is 1,000. What every block is compared with is its serial run on the reference code.
 *
 * A plain program, so that it runs under the thread sanitizer as well. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../examples/contract-vm/generate.h"
#include "../../examples/contract-vm/run.h"
#include "../../examples/contract-vm/sign.h"

#include <svmx/ops.h>
#include <unistd.h>

enum { SHOWN = 5, KIND_COUNT = 40, RANDOM_COUNT = 3 };

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

static bool kind_agrees(svmx_executor_t *executor, enum block_kind kind) {
    const struct run_options serial = in_mode(RUN_SERIAL);
    struct block block;
    struct outcome wanted;
    if (!generate(kind, KIND_COUNT, 7, false, &block)) return false;
    bool good = run(reference, &block, &serial, &wanted);
    if (good) {
        good = all_agree(executor, &block, &wanted);
        outcome_free(&wanted);
    }
    block_free(&block);
    return good;
}

/* Mostly unsigned, to be quick. A quarter of them is run in all modes. */
static bool random_agrees(svmx_executor_t *executor, uint64_t seed) {
    const struct run_options serial = in_mode(RUN_SERIAL), batched = in_mode(RUN_BATCHED);
    struct block block;
    struct outcome wanted;
    if (!generate(BLOCK_RANDOM, RANDOM_COUNT, seed, seed % 16 != 0, &block)) return false;
    bool good = run(reference, &block, &serial, &wanted);
    if (good) {
        good = agrees(executor, &block, &batched, &wanted) &&
               (seed % 4 != 1 || agrees(executor, &block, &serial, &wanted));
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

static void all_blocks(svmx_executor_t *executor, const char *backend) {
    unsigned long long bad = 0;
    for (int kind = 0; kind < BLOCK_KINDS; kind++)
        check(kind_agrees(executor, (enum block_kind)kind), block_kind_names[kind], backend);
    for (uint64_t seed = 0; seed < rounds(); seed++) bad += !random_agrees(executor, seed);
    check(bad == 0, "random blocks", backend);
    printf("%s: %llu random blocks, %llu differ\n", backend, (unsigned long long)rounds(), bad);
}

/* ---- backends ------------------------------------------------------------------------------------------------------ */

static void skip(const char *backend, const char *why) {
    tally.skipped++;
    printf("skipped: %s: %s\n", backend, why);
}

/* Its own device must have worked: an answer of the reference code proves nothing. */
static void on_backend(const char *backend) {
    char only[32];
    const struct svmx_options options = {.size = sizeof options, .backends = only, .policy = "order", .threads = 2};
    svmx_executor_t *executor;
    struct svmx_error error;
    struct svmx_device device = {.size = sizeof device};
    (void)snprintf(only, sizeof only, "%s,stop", backend);
    if (svmx_open(&executor, &options, &error) != SVMX_OK) {
        skip(backend, error.text);
        return;
    }
    if (svmx_device_get(executor, 0, &device) != SVMX_OK || strcmp(device.backend, backend) != 0) {
        skip(backend, "it has no device here");
    } else {
        (void)svmx_prewarm(executor, SVMX_OP_KECCAK256, 100);
        (void)svmx_prewarm(executor, SVMX_OP_SHA256, 100);
        (void)svmx_prewarm(executor, SVMX_OP_MERKLE_ROOT_KECCAK256, 100);
        all_blocks(executor, backend);
        check(svmx_device_get(executor, 0, &device) == SVMX_OK && device.tasks > rounds(), "its device worked",
              backend);
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
        on_backend("opencl");
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
    all_blocks(reference, "reference");
    on_backend("simd");
    on_pocl();
    svmx_close(reference);
    printf("%u passed, %u failed, %u skipped\n", tally.passed, tally.failed, tally.skipped);
    return tally.failed > 0;
}
