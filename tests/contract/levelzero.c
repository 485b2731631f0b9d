/*
 * levelzero.c: the contract on the Level Zero backend: the bytes of the reference code, on the test driver
 * (tests/drivers/ze_cpu), which runs the backend's own SPIR-V on the CPU, through the real loader and its validation layer.
 *
 *   pocl        every operation that there is device code for; device memory that the host cannot touch
 *   newer       the same with the driver's stand-in for a newer loader: lists in order, events that count
 *   oclgrind    an executor's way with small tasks, every access to memory checked, with a look for races. Of every operation but
 *               signatures and five more whose proof takes it minutes; with SVMX_TEST_LONG=1 those too. Every kernel by itself:
 *               tests/unit/test_levelzero_kernels.c
 *   shuffled    the same as on pocl with fewer tasks, ten seeds: commands run in any order that the specification allows; two more
 *               with the stand-in, where lists keep their order, but not among each other
 *   integrated  shared memory, in place; and a device without doubles
 *   three       devices at once, of different speed and memory
 *
 * What the driver reports (misuse, leaks) is told when the process of a test has ended, and fails the suite.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/kernels/catalog.h"
#include "compare.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>
#include <svmx/ops.h>

static const char *const ze_cpu_names[] = {"pocl",      "oclgrind",  "integrated", "three",     "shuffle-0",
                                           "shuffle-1", "shuffle-2", "shuffle-3",  "shuffle-4", "shuffle-5",
                                           "shuffle-6", "shuffle-7", "shuffle-8",  "shuffle-9", "newer",
                                           "newer-0",   "newer-1",   NULL};
#include "../drivers/ze_cpu/content.h"

/* ---- the driver ------------------------------------------------------------------------------------------------------ */

static void use(const char *name) {
    const char *missing = ze_cpu_missing();
    if (getenv("SVMX_TEST_NO_OPENCL_CONTRACT")) cr_skip_test("left out in this configuration (scripts/test.sh)");
    if (missing) cr_skip_test("%s", missing);
    if (strncmp(name, "newer", 5) != 0)
        ze_cpu_use(name);
    else
        cr_assert(ze_cpu_use_newer(name), "no loader: %s", dlerror());
    setenv("ZE_CPU_STRICT", "1", 1);
    setenv("SUPERVM_TIMEOUT_MS", "60000", 1); /* PoCL compiles at the first launch */
}

static bool has_device_code(const struct svmx_op *op) { return catalog_find(op->name) != NULL; }

static struct pair pair_of(const char *backends) {
    struct target target = {.threads = 0};
    struct svmx_device device = {.size = sizeof device};
    snprintf(target.backends, sizeof target.backends, "%s", backends);
    struct pair pair = pair_open(&target);
    cr_assert_eq(svmx_device_get(pair.tested, 0, &device), SVMX_OK);
    cr_assert_str_eq(device.backend, "levelzero");
    cr_assert(device.flags & SVMX_DEVICE_TEST, "a CPU that is not labelled");
    cr_assert_not_null(strstr(device.name, "CPU test driver"));
    for (uint32_t i = 0; i < op_count(&pair); i++) {
        const struct svmx_op op = op_at(&pair, i);
        pair.left_out[i] = !has_device_code(&op);
    }
    pair.strict = true;
    pair.size_cap = 20000;
    pair.batch = FEWER ? 40 : 150;
    pair.random_sizes = 8;
    return pair;
}

/* Signatures: thousands of products each, in code that takes long to compile. */
static bool is_dear(const struct svmx_op *op) {
    const struct catalog_entry *entry = catalog_find(op->name);
    return entry && entry->calls;
}

/* Interpreted they take long, and have the kernels of another operation with another function inside, or of another width. */
static bool takes_minutes(const char *name) {
    static const char *const slow[] = {"matmul_batch_f32", "mod_mul_u384", "mont_mul_u384", "merkle_tree_sha256",
                                       "merkle_tree_keccak256"};
    bool found = false;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) found |= strcmp(name, slow[i]) == 0;
    return found;
}

/* Both operations on secp256k1 have the same code but for some lines. */
static void leave_out_a_twin(struct pair *pair) {
    for (uint32_t i = 0; i < op_count(pair); i++) {
        const struct svmx_op op = op_at(pair, i);
        if (strcmp(op.name, "ecdsa_verify_secp256k1") == 0 && !getenv("SVMX_TEST_LONG")) pair->left_out[i] = true;
    }
}

static void each_kernel_once(struct pair *pair, uint64_t size) {
    const bool all = getenv("SVMX_TEST_LONG") != NULL;
    for (uint32_t i = 0; i < op_count(pair); i++) {
        const struct svmx_op op = op_at(pair, i);
        if (pair->left_out[i] || (!all && (is_dear(&op) || takes_minutes(op.name)))) continue;
        run_one(pair, &op, size, WILD, i + 1, 0);
        printf("oclgrind: %s\n", op.name);
        fflush(stdout);
    }
}

/* ---- tests ----------------------------------------------------------------------------------------------------------- */

static void all_of_it(const char *name) {
    use(name);
    struct pair pair = pair_of("+levelzero,stop");
    few_of(&pair, is_dear);
    random_sizes(&pair);
    many_tasks(&pair);
    mixed_operations(&pair);
    all_alignments(&pair);
    pair_close(&pair);
}

Test(contract_levelzero, pocl) { all_of_it("pocl"); }
Test(contract_levelzero, newer) { all_of_it("newer"); }

/* oclgrind writes what it finds into a log: that has to be empty. */
Test(contract_levelzero, oclgrind) {
    char log[ZE_CPU_PATH];
    struct stat info;
    if (access("/usr/lib/oclgrind/liboclgrind-rt-icd.so", R_OK) != 0) cr_skip_test("there is no oclgrind");
    use("oclgrind");
    ze_cpu_path(log, "tests/run/%s", "ze_cpu-oclgrind.log");
    (void)unlink(log);
    setenv("OCLGRIND_LOG", log, 1);
    setenv("OCLGRIND_DATA_RACES", "1", 1);
    setenv("ZE_CPU_ENGINE", "oclgrind", 1);
    struct pair pair = pair_of("+levelzero,stop");
    each_kernel_once(&pair, 3);
    pair_close(&pair);
    if (stat(log, &info) == 0) cr_assert_eq(info.st_size, 0, "oclgrind found something: see %s", log);
}

/* Copies, kernels of one pass and of two, one after another and side by side. */
static void in_any_order(struct pair *pair, uint64_t seed) {
    static const char *const ops[] = {"vec_add_f32", "sum_f32", "softmax_f32", "sha256", "merkle_root_sha256"};
    for (uint32_t i = 0; i < op_count(pair); i++) {
        const struct svmx_op op = op_at(pair, i);
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
            if (strcmp(op.name, ops[o]) == 0)
                for (uint64_t size = 1; size < 20000; size = size * 7 + seed) run_one(pair, &op, size, PLAIN, size, 0);
    }
}

/* Tasks in a batch: an order is drawn for each launch, of all operations. */
enum { SHUFFLED = 20 };

struct seed {
    unsigned number;
    bool newer;
};

ParameterizedTestParameters(contract_levelzero, shuffled) {
    static struct seed seeds[] = {{0, false}, {1, false}, {2, false}, {3, false}, {4, false}, {5, false},
                                  {6, false}, {7, false}, {8, false}, {9, false}, {0, true},  {1, true}};
    return cr_make_param_array(struct seed, seeds, sizeof seeds / sizeof *seeds);
}
ParameterizedTest(struct seed *seed, contract_levelzero, shuffled) {
    char name[32], text[16];
    snprintf(name, sizeof name, "%s-%u", seed->newer ? "newer" : "shuffle", seed->number);
    snprintf(text, sizeof text, "%u", seed->number);
    use(name);
    setenv("ZE_CPU_SHUFFLE", text, 1);
    struct pair pair = pair_of("+levelzero,stop");
    pair.batch = SHUFFLED;
    in_any_order(&pair, seed->number);
    leave_out_a_twin(&pair);
    many_tasks(&pair);
    mixed_operations(&pair);
    pair_close(&pair);
}

Test(contract_levelzero, integrated_without_doubles) {
    use("integrated");
    setenv("ZE_CPU_INTEGRATED", "1", 1);
    setenv("ZE_CPU_NOFP64", "1", 1);
    setenv("ZE_CPU_TSWRAP", "1", 1);
    struct pair pair = pair_of("+levelzero,stop");
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_device_get(pair.tested, 0, &device), SVMX_OK);
    cr_assert(device.flags & SVMX_DEVICE_SHARES_MEMORY);
    cr_assert(device.flags & SVMX_DEVICE_NO_F64);
    in_any_order(&pair, 2);
    pair_close(&pair);
}

/* A batch under way on each of them at the same time. */
static void side_by_side(struct pair *pairs, size_t count) {
    enum { ITEMS = 20000 };
    static float ones[ITEMS];
    float sums[3] = {0};
    svmx_batch_t *batches[3];
    for (size_t i = 0; i < ITEMS; i++) ones[i] = 1.0f;
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(svmx_batch_create(pairs[i].tested, &batches[i]), SVMX_OK);
        cr_assert_eq(svmx_sum_f32(batches[i], &sums[i], ones, ITEMS), SVMX_OK);
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    }
    for (size_t i = 0; i < count; i++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        cr_expect_eq(sums[i], (float)ITEMS);
        cr_assert_eq(svmx_receipt_get(batches[i], 0, &receipt), SVMX_OK);
        cr_expect_eq(receipt.device, 0);
        cr_expect_eq(receipt.redone, 0);
        svmx_batch_destroy(batches[i]);
    }
}

Test(contract_levelzero, three_devices_at_once) {
    use("three");
    setenv("ZE_CPU_DEVICES", "3", 1);
    struct pair pairs[3] = {pair_of("+levelzero:0,stop"), pair_of("+levelzero:1,stop"), pair_of("+levelzero:2,stop")};
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < 3; i++) in_any_order(&pairs[i], round);
    for (unsigned round = 0; round < 20; round++) side_by_side(pairs, 3);
    for (unsigned i = 0; i < 3; i++) pair_close(&pairs[i]);
    struct pair all = pair_of("+levelzero,stop");
    struct svmx_device devices[3];
    for (uint32_t i = 0; i < 3; i++) {
        devices[i] = (struct svmx_device){.size = sizeof devices[i]};
        cr_assert_eq(svmx_device_get(all.tested, i, &devices[i]), SVMX_OK);
        cr_expect_str_eq(devices[i].backend, "levelzero");
        for (uint32_t j = 0; j < i; j++) cr_expect_str_neq(devices[i].name, devices[j].name);
    }
    cr_expect_gt(devices[0].memory_bytes, devices[1].memory_bytes);
    cr_expect_gt(devices[1].memory_bytes, devices[2].memory_bytes);
    in_any_order(&all, 5);
    pair_close(&all);
}
