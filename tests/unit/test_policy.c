/*
 * test_policy.c: the grammar of SUPERVM_POLICY, and whom a policy allows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "executor/words.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

static struct svmx_executor *executor;

static void set_up(void) { executor = calloc(1, sizeof *executor); }
static void tear_down(void) { free(executor); }
TestSuite(policy, .init = set_up, .fini = tear_down);

/* Reads the settings as svmx_open does. */
static enum svmx_status read_policy(const char *policy, const char *learn, struct svmx__text *why) {
    const struct svmx_options options = {
        .size = sizeof options, .policy = policy, .learn = learn, .flags = SVMX_OPEN_NO_ENVIRONMENT};
    cr_assert_eq(svmx__config_read(&executor->config, &options, why), SVMX_OK);
    const enum svmx_status status = svmx__policies_read(executor, why);
    svmx__config_free(&executor->config);
    return status;
}

static void expect(const char *policy, uint32_t op, uint32_t kind, uint64_t low, uint64_t high) {
    struct svmx__text why = {""};
    cr_assert_eq(read_policy(policy, NULL, &why), SVMX_OK, "%s: %s", policy, why.line);
    cr_assert_eq(executor->policies[op].kind, kind, "%s", policy);
    cr_assert_eq(executor->policies[op].low, low, "%s", policy);
    cr_assert_eq(executor->policies[op].high, high, "%s", policy);
}

Test(policy, words) {
    const uint32_t op = SVMX_OP_SHA256;
    expect(NULL, op, SVMX_POLICY_AUTO, 0, UINT64_MAX);
    expect("auto", op, SVMX_POLICY_AUTO, 0, UINT64_MAX);
    expect("cpu", op, SVMX_POLICY_CPU, 0, UINT64_MAX);
    expect("gpu", op, SVMX_POLICY_GPU, 0, UINT64_MAX);
    expect("split", op, SVMX_POLICY_SPLIT, 0, UINT64_MAX);
    expect("order", op, SVMX_POLICY_ORDER, 0, UINT64_MAX);
    for (uint32_t kind = SVMX_POLICY_AUTO; kind <= SVMX_POLICY_ORDER; kind++)
        expect(svmx__policy_word(kind), op, kind, 0, UINT64_MAX);
    cr_assert_str_eq(svmx__policy_word(0), "none");
    cr_assert_str_eq(svmx__policy_word(77), "none");
}

Test(policy, bounds) {
    const uint32_t op = SVMX_OP_SHA256;
    expect("fixed:4096", op, SVMX_POLICY_AUTO, 4096, 4096);
    expect("fixed:0", op, SVMX_POLICY_AUTO, 0, 0);
    expect("auto:100..200", op, SVMX_POLICY_AUTO, 100, 200);
    expect("auto:100..", op, SVMX_POLICY_AUTO, 100, UINT64_MAX);
    expect("auto:..200", op, SVMX_POLICY_AUTO, 0, 200);
}

Test(policy, of_single_operations) {
    const char *text = "cpu,keccak256=fixed:4096,matmul_f32=gpu";
    expect(text, SVMX_OP_SHA256, SVMX_POLICY_CPU, 0, UINT64_MAX);
    expect(text, SVMX_OP_KECCAK256, SVMX_POLICY_AUTO, 4096, 4096);
    expect(text, SVMX_OP_MATMUL_F32, SVMX_POLICY_GPU, 0, UINT64_MAX);
    expect("keccak256=cpu", SVMX_OP_KECCAK256, SVMX_POLICY_CPU, 0, UINT64_MAX);
    expect("keccak256=cpu", SVMX_OP_SHA256, SVMX_POLICY_AUTO, 0, UINT64_MAX);
}

Test(policy, what_is_wrong_is_named) {
    static const char *const wrong[][2] = {
        {"fast", "'fast'"},
        {"none", "'none'"},
        {"", "''"},
        {"auto,", "''"},
        {"auto,cpu", "comes first"},
        {"fixed", "'fixed'"},
        {"fixed:", "'fixed:'"},
        {"fixed:-1", "'fixed:-1'"},
        {"fixed:12x", "'fixed:12x'"},
        {"auto:..", "'auto:..'"},
        {"auto:9..8", "'auto:9..8': LOW is more than HIGH"},
        {"cpu,sha256=gpu,keccak256=cpu,sha256=cpu", "'sha256=cpu': sha256 has a policy"},
        {"auto:5", "'auto:5'"},
        {"gpu:5", "'gpu:5'"},
        {"keccak256=", "'keccak256"},
        {"nothing=cpu", "no operation is called 'nothing'"},
        {"=cpu", "no operation"},
        {"fixed:99999999999999", "'fixed:99"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct svmx__text why = {""};
        cr_expect_eq(read_policy(wrong[i][0], NULL, &why), SVMX_ERR_ARGUMENT, "'%s'", wrong[i][0]);
        cr_expect_not_null(strstr(why.line, wrong[i][1]), "'%s': %s", wrong[i][0], why.line);
        cr_expect_not_null(strstr(why.line, "options.policy"), "%s", why.line);
    }
}

Test(policy, learning) {
    struct svmx__text why = {""};
    cr_assert_eq(read_policy(NULL, "on", &why), SVMX_OK);
    cr_assert(!executor->choices.frozen && executor->choices.probe_share > 0);
    cr_assert_eq(read_policy(NULL, "strict", &why), SVMX_OK);
    cr_assert(!executor->choices.frozen && executor->choices.probe_share <= 0);
    cr_assert_eq(read_policy(NULL, "frozen", &why), SVMX_OK);
    cr_assert(executor->choices.frozen && executor->choices.probe_share <= 0);
    cr_assert_eq(read_policy(NULL, "hard", &why), SVMX_ERR_ARGUMENT);
    cr_assert_not_null(strstr(why.line, "on, strict or frozen"));
}

/* Devices 0 and 1 are GPUs, 2 and 3 CPUs. */
Test(policy, whom_it_allows) {
    const struct svmx__policy bounds = {.kind = SVMX_POLICY_AUTO, .low = 10, .high = 20};
    const uint32_t all = 0xf, cpus = 0xc;
    cr_assert_eq(svmx__policy_allows(&bounds, SVMX_POLICY_CPU, all, cpus, 100), 0xc);
    cr_assert_eq(svmx__policy_allows(&bounds, SVMX_POLICY_GPU, all, cpus, 1), 0x3);
    cr_assert_eq(svmx__policy_allows(&bounds, SVMX_POLICY_GPU, cpus, cpus, 1), 0);
    cr_assert_eq(svmx__policy_allows(&bounds, SVMX_POLICY_ORDER, all, cpus, 1), 0xf);
    cr_assert_eq(svmx__policy_allows(&bounds, SVMX_POLICY_AUTO, all, cpus, 9), 0xc);
    cr_assert_eq(svmx__policy_allows(&bounds, SVMX_POLICY_AUTO, all, cpus, 10), 0xf);
    cr_assert_eq(svmx__policy_allows(&bounds, SVMX_POLICY_AUTO, all, cpus, 20), 0x3);
    cr_assert_eq(svmx__policy_allows(&bounds, SVMX_POLICY_AUTO, cpus, cpus, 20), 0xc, "there is no other");
    cr_assert_eq(svmx__policy_allows(&bounds, SVMX_POLICY_SPLIT, all, cpus, 9), 0xc);
}
