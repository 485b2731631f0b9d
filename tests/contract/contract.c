/*
 * contract.c: every operation on every backend and variant gives the bytes of the reference code.
 *
 * Public API only. What is expected of a task comes from an executor without backends, one task a batch; what is tested
 * runs many tasks a batch on one backend, variant and thread count. Data is made from signatures (svmx_op_get) and
 * examples (svmx_example_create): a new operation is covered by being in the table.
 *
 *   target   none | simd with a variant and 1, 2 or 5 threads | any other device of this machine | two modelled ones
 *
 * tasks.c makes the data, compare.c compares; on_opencl.c does the same for the devices of OpenCL drivers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- on which backends ------------------------------------------------------------------------------------ */

/* clang-format off */
static struct target targets[] = {
    {"none", "", 0},
    {"+simd,stop", "scalar", 1}, {"+simd,stop", "scalar", 2}, {"+simd,stop", "scalar", 5},
    {"+simd,stop", "avx2", 1},   {"+simd,stop", "avx2", 2},   {"+simd,stop", "avx2", 5},
    {"+simd,stop", "avx512", 1}, {"+simd,stop", "avx512", 2}, {"+simd,stop", "avx512", 5},
};
/* Where time is short: every variant, every number of threads. */
static struct target some_targets[] = {
    {"+simd,stop", "scalar", 2}, {"+simd,stop", "avx2", 1}, {"+simd,stop", "avx512", 5},
};
/* clang-format on */

enum { MAX_TARGETS = sizeof targets / sizeof *targets };

static void on_target(const struct target *target, void (*compare)(struct pair *)) {
    struct pair pair = pair_open(target);
    compare(&pair);
    pair_close(&pair);
}

/* The same tasks on all targets but those of variants that the machine does not have: has_* below tells which. */
static void on_list(const struct target *list, size_t count, void (*compare)(struct pair *)) {
    struct pair pairs[MAX_TARGETS];
    size_t open = 0;
    for (size_t i = 0; i < count; i++) {
        if (!cpu_has(list[i].variant)) continue;
        pairs[open] = pair_open(&list[i]);
        pairs[open].also = open ? &pairs[open - 1] : NULL;
        open++;
    }
    compare(&pairs[open - 1]);
    for (size_t i = 0; i < open; i++) pair_close(&pairs[i]);
}

static void on_targets(void (*compare)(struct pair *)) {
    if (FEWER)
        on_list(some_targets, sizeof some_targets / sizeof *some_targets, compare);
    else
        on_list(targets, MAX_TARGETS, compare);
}

static void one_task(struct pair *pair) {
    const struct svmx_op op = op_at(pair, 0);
    run_one(pair, &op, 100, PLAIN, 1, 0);
}

Test(contract, powers_of_two) { on_targets(powers_of_two); }
Test(contract, random_sizes) { on_targets(random_sizes); }
Test(contract, all_alignments) { on_targets(all_alignments); }
Test(contract, many_tasks) { on_targets(many_tasks); }
Test(contract, mixed_operations) { on_targets(mixed_operations); }

/* 200 MB a task: one number of threads only. */
Test(contract, large) {
    const struct target of_two_threads[] = {targets[2], targets[5], targets[8]};
    on_list(of_two_threads, sizeof of_two_threads / sizeof *of_two_threads, large);
}

/* Skipped where the machine has no such variant: so that it is told what the tests above left out. */
Test(contract, has_avx2) { on_target(&targets[4], one_task); }
Test(contract, has_avx512) { on_target(&targets[7], one_task); }

/* Whatever else this machine has. A device need not do every operation; what it does must be right. */
Test(contract, other_devices) {
    svmx_executor_t *all = open_one(&(struct target){.backends = ""});
    struct target others[16];
    unsigned count = 0, index_in_backend = 0;
    char last[32] = "";
    for (uint32_t i = 0; i + 1 < svmx_device_count(all) && count < 16; i++) {
        struct svmx_device device = {.size = sizeof device};
        cr_assert_eq(svmx_device_get(all, i, &device), SVMX_OK);
        if (strcmp(device.backend, "simd") == 0 || strcmp(device.backend, "opencl") == 0)
            continue; /* has its targets above, or in on_opencl.c */
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

/* Modelled devices compute with the reference code, but everything passes through memory of their own, or of both. */
static void on_model(const char *backends) {
    const char *folder = getenv("SVMX_TEST_BACKEND_PATH");
    char path[4096];
    snprintf(path, sizeof path, "%s/sim.so", folder ? folder : "");
    if (!folder || access(path, F_OK) != 0) cr_skip_test("this build has no sim backend");
    struct target target = {.threads = 0};
    snprintf(target.backends, sizeof target.backends, "%s", backends);
    struct pair pair = pair_open(&target);
    pair.strict = true; /* an answer of any other device shows nothing */
    pair.batch = 150;   /* the arithmetic is the reference code's: what may go wrong is the way there and back */
    pair.random_sizes = 15;
    many_tasks(&pair);
    mixed_operations(&pair);
    random_sizes(&pair);
    pair_close(&pair);
}

Test(contract, modelled_with_memory_of_its_own) { on_model("+sim:pcie4-discrete,stop"); }
Test(contract, modelled_with_shared_memory) { on_model("+sim:integrated,stop"); }
