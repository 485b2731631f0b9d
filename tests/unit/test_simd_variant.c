/*
 * test_simd_variant.c: plugins/simd/variant.c (features, tables, choice) and the rest of plugin.c: settings, device,
 * refusals, and that no bit depends on the caller's floating-point environment. Links the plugin and its kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/simd/pool.h"
#include "../../plugins/simd/variant.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SIMD_PLUGIN_SYMBOL
#define SIMD_PLUGIN_SYMBOL svmx_plugin
#endif
extern const struct svmx_plugin SIMD_PLUGIN_SYMBOL;

static const char *const operations[] = {"vec_add_f32", "vec_mul_f32", "sum_f32", "dot_f32", "keccak256", "sha256"};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* ---- a host ----------------------------------------------------------------------------------------------- */

static const char *threads_option, *variant_option;
static char last_error[256];

static void host_log(const struct svmx_host *host, enum svmx_log_level level, const char *text) {
    (void)host;
    if (level == SVMX_LOG_ERROR) snprintf(last_error, sizeof last_error, "%s", text);
}

static void *host_alloc(const struct svmx_host *host, size_t bytes, size_t alignment) {
    (void)host;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void host_release(const struct svmx_host *host, void *memory) {
    (void)host;
    free(memory);
}

static const char *host_option(const struct svmx_host *host, const char *key) {
    (void)host;
    if (strcmp(key, "threads") == 0) return threads_option;
    return strcmp(key, "variant") == 0 ? variant_option : NULL;
}

/* Knows no operation: what the plugin has no kernel for is not supported. */
static enum svmx_status host_reference(const struct svmx_host *at, const char *op, const struct svmx_slot *slots,
                                       size_t slot_count) {
    (void)at, (void)op, (void)slots, (void)slot_count;
    return SVMX_ERR_UNKNOWN;
}

static const struct svmx_host host = {.size = sizeof host,
                                      .abi_major = SVMX_ABI_MAJOR,
                                      .log = host_log,
                                      .alloc = host_alloc,
                                      .release = host_release,
                                      .option = host_option,
                                      .reference = host_reference};

static uint32_t machine_features(void) {
    const struct simd_cpuid cpuid = simd_cpuid_read();
    return simd_features(&cpuid);
}

/* ---- features --------------------------------------------------------------------------------------------- */

/* A Zen 4 or Ice Lake under an operating system that keeps all registers. */
static const struct simd_cpuid full = {.leaf1_ecx = 1u << 9 | 1u << 12 | 1u << 19 | 1u << 27 | 1u << 28,
                                       .leaf7_ebx = 1u << 3 | 1u << 5 | 1u << 8 | 1u << 16 | 1u << 17 | 1u << 21 |
                                                    1u << 29 | 1u << 30 | 1u << 31,
                                       .leaf7_ecx = 1u << 6,
                                       .extended1_ecx = 1u << 5,
                                       .xcr0 = 0xe7};

enum { ALL = SIMD_FEATURE_AVX2 | SIMD_FEATURE_AVX512 | SIMD_FEATURE_SHANI | SIMD_FEATURE_IFMA };

Test(simd_variant, features_of_known_machines) {
    cr_expect_eq(simd_features(&full), ALL);
    struct simd_cpuid c = full;
    c.xcr0 = 0x07; /* AVX-512 in CPUID, but not in what the OS saves */
    cr_expect_eq(simd_features(&c), SIMD_FEATURE_AVX2 | SIMD_FEATURE_SHANI);
    c.xcr0 = 0x67; /* some of the three parts of the zmm state only */
    cr_expect_eq(simd_features(&c), SIMD_FEATURE_AVX2 | SIMD_FEATURE_SHANI);
    c.xcr0 = 0x03; /* no ymm either; xmm needs no XCR0 in 64-bit mode */
    cr_expect_eq(simd_features(&c), SIMD_FEATURE_SHANI);
    c = full;
    c.leaf1_ecx &= ~(1u << 27); /* no OSXSAVE */
    c.xcr0 = 0;
    cr_expect_eq(simd_features(&c), SIMD_FEATURE_SHANI);
    c = (struct simd_cpuid){0};
    cr_expect_eq(simd_features(&c), 0);
}

/* Each bit of a set is needed: take one away and the feature is gone. */
Test(simd_variant, every_bit_counts) {
    for (unsigned bit = 0; bit < 32; bit++) {
        struct simd_cpuid c = full;
        c.leaf7_ebx &= ~(1u << bit);
        uint32_t lost = ALL & ~simd_features(&c);
        if (bit == 29)
            cr_expect_eq(lost, SIMD_FEATURE_SHANI);
        else if (bit == 21)
            cr_expect_eq(lost, SIMD_FEATURE_IFMA);
        else if (bit == 16 || bit == 17 || bit == 30 || bit == 31)
            cr_expect_eq(lost, SIMD_FEATURE_AVX512 | SIMD_FEATURE_IFMA);
        else if (bit == 3 || bit == 5 || bit == 8)
            cr_expect_eq(lost, SIMD_FEATURE_AVX2 | SIMD_FEATURE_AVX512 | SIMD_FEATURE_IFMA);
        else
            cr_expect_eq(lost, 0);
        c = full;
        c.leaf7_ecx &= ~(1u << bit);
        cr_expect_eq(ALL & ~simd_features(&c), bit == 6 ? SIMD_FEATURE_IFMA : 0);
        c = full;
        c.leaf1_ecx &= ~(1u << bit);
        lost = ALL & ~simd_features(&c);
        if (bit == 12 || bit == 27 || bit == 28)
            cr_expect_eq(lost, SIMD_FEATURE_AVX2 | SIMD_FEATURE_AVX512 | SIMD_FEATURE_IFMA);
        else if (bit == 9 || bit == 19)
            cr_expect_eq(lost, SIMD_FEATURE_SHANI);
        else
            cr_expect_eq(lost, 0);
    }
}

Test(simd_variant, the_cpu_has_a_name) {
    char name[49], again[49];
    simd_cpu_name(name, sizeof name);
    simd_cpu_name(again, sizeof again);
    cr_expect_gt(strlen(name), 0);
    cr_expect_str_eq(name, again);
    cr_expect_null(strstr(name, "  "));
    cr_expect_neq(name[strlen(name) - 1], ' ');
}

/* ---- choice ----------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
Test(simd_variant, best_and_find_follow_the_features) {
    cr_expect_str_eq(simd_variant_best(ALL), "avx512");
    cr_expect_str_eq(simd_variant_best(SIMD_FEATURE_AVX2 | SIMD_FEATURE_AVX512), "avx512");
    cr_expect_str_eq(simd_variant_best(SIMD_FEATURE_AVX2), "avx2");
    cr_expect_str_eq(simd_variant_best(SIMD_FEATURE_SHANI), "scalar");
    cr_expect_str_eq(simd_variant_best(0), "scalar");
    cr_expect_str_eq(simd_variant_find(ALL, "avx2"), "avx2");
    cr_expect_str_eq(simd_variant_find(ALL, "scalar"), "scalar");
    cr_expect_null(simd_variant_find(SIMD_FEATURE_AVX2, "avx512"));
    cr_expect_null(simd_variant_find(0, "avx2"));
    cr_expect_null(simd_variant_find(ALL, "shani"));
    cr_expect_null(simd_variant_find(ALL, ""));
}

Test(simd_variant, sha256_takes_the_sha_instructions_where_there_are_some) {
    const uint32_t avx2 = SIMD_FEATURE_AVX2, shani = avx2 | SIMD_FEATURE_SHANI;
    cr_expect_neq(simd_kernel_find(avx2, "avx2", "sha256")->run, simd_kernel_find(shani, "avx2", "sha256")->run);
    cr_expect_neq(simd_kernel_find(ALL, "avx512", "sha256")->run,
                  simd_kernel_find(ALL & ~SIMD_FEATURE_SHANI, "avx512", "sha256")->run);
    cr_expect_eq(simd_kernel_find(0, "scalar", "sha256")->run, simd_kernel_find(ALL, "scalar", "sha256")->run,
                 "scalar means scalar");
}

Test(simd_variant, products_modulo_a_number_take_ifma_where_there_is_some) {
    static const char *const products[] = {"mod_mul_u256", "mont_mul_u256", "mod_mul_u384", "mont_mul_u384"};
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        const struct simd_kernel *with = simd_kernel_find(ALL, "avx512", products[i]);
        const struct simd_kernel *without = simd_kernel_find(ALL & ~SIMD_FEATURE_IFMA, "avx512", products[i]);
        cr_assert(with && without, "%s", products[i]);
        cr_expect_neq(with->run, without->run, "%s", products[i]);
        cr_expect_eq(without->run, simd_kernel_find(ALL, "avx2", products[i])->run, "%s", products[i]);
    }
    cr_expect_eq(simd_kernel_find(ALL, "avx512", "mod_add_u256")->run,
                 simd_kernel_find(ALL & ~SIMD_FEATURE_IFMA, "avx512", "mod_add_u256")->run, "sums need no IFMA");
}

Test(simd_variant, list_names_each_once_best_first) {
    char text[64], tight[8];
    simd_variant_list(ALL, text, sizeof text);
    cr_expect_str_eq(text, "avx512, avx2, scalar");
    simd_variant_list(SIMD_FEATURE_AVX2 | SIMD_FEATURE_SHANI, text, sizeof text);
    cr_expect_str_eq(text, "avx2, scalar");
    simd_variant_list(0, text, sizeof text);
    cr_expect_str_eq(text, "scalar");
    simd_variant_list(ALL, tight, sizeof tight);
    cr_expect_lt(strlen(tight), sizeof tight);
}
#endif

Test(simd_variant, every_variant_has_every_operation) {
    static const char *const variants[] = {"scalar", "avx2", "avx512"};
    for (size_t v = 0; v < 3; v++) {
        if (simd_variant_find(ALL, variants[v]) == NULL) continue; /* another architecture */
        for (size_t i = 0; i < OPERATIONS; i++) {
            const struct simd_kernel *kernel = simd_kernel_find(ALL, variants[v], operations[i]);
            cr_assert_not_null(kernel, "%s %s", variants[v], operations[i]);
            cr_expect_not_null(kernel->run);
            cr_expect_gt(kernel->units_per_grain, 0);
            cr_expect_gt(kernel->ps_per_work, 0);
            bool reduction = strncmp(operations[i], "sum", 3) == 0 || strncmp(operations[i], "dot", 3) == 0;
            cr_expect_eq(kernel->finish != NULL, reduction, "%s %s", variants[v], operations[i]);
        }
        cr_expect_null(simd_kernel_find(ALL, variants[v], "no_such_operation"));
    }
}

/* ---- settings and the device ------------------------------------------------------------------------------ */

static struct svmx_backend opened(void) {
    struct svmx_backend backend = {0};
    cr_assert_eq(SIMD_PLUGIN_SYMBOL.open(&host, &backend), SVMX_OK, "%s", last_error);
    return backend;
}

static struct svmx_device_info info_of(const struct svmx_backend *backend) {
    struct svmx_device_info info = {.size = sizeof info};
    cr_assert_eq(backend->ops->device_info(backend->self, 0, &info), SVMX_OK);
    return info;
}

Test(simd_plugin, the_symbol_describes_itself) {
    cr_expect_eq(SIMD_PLUGIN_SYMBOL.magic, SVMX_PLUGIN_MAGIC);
    cr_expect_eq(SIMD_PLUGIN_SYMBOL.size, sizeof(struct svmx_plugin));
    cr_expect_eq(SIMD_PLUGIN_SYMBOL.abi_major, SVMX_ABI_MAJOR);
    cr_expect_str_eq(SIMD_PLUGIN_SYMBOL.name, "simd");
}

Test(simd_plugin, device_info_by_default) {
    struct svmx_backend backend = opened();
    struct svmx_device_info info = info_of(&backend);
    cpu_set_t mask;
    cr_assert_eq(sched_getaffinity(0, sizeof mask, &mask), 0);
    cr_expect_eq(info.kind, SVMX_DEVICE_CPU);
    cr_expect_eq(info.flags,
                 SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_SHARES_CORES | SVMX_DEVICE_INLINE | SVMX_DEVICE_CHAINS);
    cr_expect_eq(info.threads, (uint32_t)CPU_COUNT(&mask));
    cr_expect_str_eq(info.variant, simd_variant_best(machine_features()));
    cr_expect_eq(strncmp(info.driver, "svmx-simd ", 10), 0);
    cr_expect_gt(strlen(info.name), 0);
    cr_expect_eq(info.compute_engines, 1);
    cr_expect_eq(info.copy_engines, 0);
    cr_expect_eq(info.memory_bytes + info.max_alloc_bytes + info.max_in_flight, 0);
    cr_expect_eq(backend.ops->device_info(backend.self, 1, &info), SVMX_ERR_UNKNOWN);
    backend.ops->close(backend.self);
}

/* An older core knows a shorter struct: nothing is written past its end. */
Test(simd_plugin, device_info_writes_within_the_size_given) {
    struct svmx_backend backend = opened();
    struct svmx_device_info info;
    memset(&info, 0xee, sizeof info);
    info.size = offsetof(struct svmx_device_info, kind);
    cr_expect_eq(backend.ops->device_info(backend.self, 0, &info), SVMX_OK);
    cr_expect_eq(info.size, offsetof(struct svmx_device_info, kind));
    cr_expect_eq(info.kind, 0xeeeeeeee);
    backend.ops->close(backend.self);
}

Test(simd_plugin, threads_are_settable) {
    static const struct {
        const char *text;
        uint32_t threads;
    } good[] = {{"1", 1}, {"2", 2}, {"3", 3}, {"007", 7}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        threads_option = good[i].text;
        struct svmx_backend backend = opened();
        cr_expect_eq(info_of(&backend).threads, good[i].threads);
        backend.ops->close(backend.self);
    }
    static const char *const bad[] = {"",  "0",   "-1",   "+1",    " 1",         "1 ",
                                      "x", "0x2", "1025", "99999", "4294967297", "18446744073709551617"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct svmx_backend backend = {0};
        threads_option = bad[i];
        last_error[0] = '\0';
        cr_expect_eq(SIMD_PLUGIN_SYMBOL.open(&host, &backend), SVMX_ERR_ARGUMENT, "\"%s\"", bad[i]);
        cr_expect_not_null(strstr(last_error, "1024"), "%s", last_error);
        cr_expect_null(backend.ops);
    }
}

Test(simd_plugin, variants_can_be_forced) {
    static const char *const variants[] = {"scalar", "avx2", "avx512", "neon", "", "AVX2", "shani"};
    threads_option = "1";
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        variant_option = variants[i];
        last_error[0] = '\0';
        struct svmx_backend backend = {0};
        enum svmx_status status = SIMD_PLUGIN_SYMBOL.open(&host, &backend);
        if (simd_variant_find(machine_features(), variants[i]) == NULL) {
            cr_expect_eq(status, SVMX_ERR_ARGUMENT, "\"%s\"", variants[i]);
            cr_expect_not_null(strstr(last_error, "scalar"), "lists those available: %s", last_error);
            continue;
        }
        cr_assert_eq(status, SVMX_OK);
        cr_expect_str_eq(info_of(&backend).variant, variants[i]);
        backend.ops->close(backend.self);
    }
}

Test(simd_plugin, another_abi_is_refused) {
    struct svmx_backend backend = {0};
    struct svmx_host other = host;
    other.abi_major = SVMX_ABI_MAJOR + 1;
    cr_expect_eq(SIMD_PLUGIN_SYMBOL.open(&other, &backend), SVMX_ERR_ABI);
    other = host;
    other.size = 16;
    cr_expect_eq(SIMD_PLUGIN_SYMBOL.open(&other, &backend), SVMX_ERR_ABI);
}

/* ---- pipelines and submissions ---------------------------------------------------------------------------- */

static enum svmx_status build(const struct svmx_backend *backend, uint32_t device, const char *op,
                              struct svmx_pipeline **pipeline) {
    struct svmx_op_desc op_desc = {.size = sizeof op_desc, .name = op};
    struct svmx_pipeline_desc desc = {.size = sizeof desc, .op = &op_desc, .bucket = 16384};
    return backend->ops->pipeline_build(backend->self, device, &desc, pipeline);
}

/* One task of elements: outputs first. */
struct vectors {
    struct svmx_slot slots[3];
    uint64_t first_unit[2];
    float *scratch;
    struct svmx_command command;
};

/* NOLINTNEXTLINE: out is written by kernels */
static void vectors_bind(struct vectors *v, const char *op, struct svmx_pipeline *pipeline, float *out, const float *a,
                         const float *b, uint64_t n) {
    bool reduction = strncmp(op, "vec", 3) != 0, two = strcmp(op, "sum_f32") != 0;
    uint64_t units = reduction ? (n + SIMD_REDUCE_BLOCK - 1) / SIMD_REDUCE_BLOCK : n;
    v->slots[0] = (struct svmx_slot){(uintptr_t)out, (reduction ? 1 : n) * sizeof *out};
    v->slots[1] = (struct svmx_slot){(uintptr_t)a, n * sizeof *a};
    v->slots[2] = (struct svmx_slot){(uintptr_t)b, n * sizeof *b};
    v->first_unit[0] = 0;
    v->first_unit[1] = units;
    v->scratch = aligned_alloc(64, (units * sizeof(float) + 64) / 64 * 64);
    v->command = (struct svmx_command){.kind = SVMX_COMMAND_DISPATCH};
    v->command.as.dispatch = (struct svmx_dispatch){.pipeline = pipeline,
                                                    .slots = v->slots,
                                                    .first_unit = v->first_unit,
                                                    .task_count = 1,
                                                    .slot_count = two ? 3 : 2,
                                                    .work = n,
                                                    .host_scratch = v->scratch};
}

static enum svmx_status submit(const struct svmx_backend *backend, const struct svmx_command *commands, size_t count) {
    struct svmx_command_list list = {sizeof list, sizeof *commands, commands, count};
    struct svmx_submission submission = {.size = sizeof submission, .list = &list};
    uint64_t ticket = 7;
    enum svmx_status status = backend->ops->submit(backend->self, &submission, &ticket);
    cr_expect_eq(ticket, status == SVMX_OK ? 0 : 7);
    return status;
}

Test(simd_plugin, pipelines_by_name) {
    struct svmx_backend backend = opened();
    struct svmx_pipeline *pipeline = NULL, *again = NULL;
    for (size_t i = 0; i < OPERATIONS; i++) {
        cr_expect_eq(build(&backend, 0, operations[i], &pipeline), SVMX_OK);
        cr_expect_eq(build(&backend, 0, operations[i], &again), SVMX_OK);
        cr_expect_eq(pipeline, again);
        backend.ops->pipeline_free(backend.self, pipeline);
    }
    pipeline = NULL;
    cr_expect_eq(build(&backend, 0, "no_such_operation", &pipeline), SVMX_ERR_UNSUPPORTED);
    cr_expect_eq(build(&backend, 1, "sha256", &pipeline), SVMX_ERR_UNKNOWN);
    cr_expect_null(pipeline);
    backend.ops->close(backend.self);
}

Test(simd_plugin, a_refused_submit_has_started_nothing) {
    struct svmx_backend backend = opened();
    struct svmx_pipeline *pipeline;
    float out[4] = {9, 9, 9, 9}, a[4] = {1, 2, 3, 4};
    struct vectors v;
    cr_assert_eq(build(&backend, 0, "vec_add_f32", &pipeline), SVMX_OK);
    vectors_bind(&v, "vec_add_f32", pipeline, out, a, a, 4);
    static const uint32_t refused[] = {SVMX_COMMAND_COPY_IN, SVMX_COMMAND_COPY_OUT, SVMX_COMMAND_FILL, 0, 6, 1000};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct svmx_command commands[2] = {v.command, {.kind = refused[i]}};
        cr_expect_eq(submit(&backend, commands, 2), SVMX_ERR_UNSUPPORTED);
    }
    struct svmx_submission recorded = {.size = sizeof recorded, .recorded = (struct svmx_list *)(void *)&v};
    uint64_t ticket;
    cr_expect_eq(backend.ops->submit(backend.self, &recorded, &ticket), SVMX_ERR_UNSUPPORTED);
    struct svmx_command_list list = {sizeof list, sizeof v.command, &v.command, 1};
    struct svmx_submission elsewhere = {.size = sizeof elsewhere, .device = 1, .list = &list};
    cr_expect_eq(backend.ops->submit(backend.self, &elsewhere, &ticket), SVMX_ERR_UNKNOWN);
    cr_expect_eq(out[0], 9.0f);

    struct svmx_command barriers[3] = {{.kind = SVMX_COMMAND_BARRIER}, v.command, {.kind = SVMX_COMMAND_BARRIER}};
    cr_expect_eq(submit(&backend, barriers, 3), SVMX_OK);
    cr_expect_eq(out[3], 8.0f);
    cr_expect_eq(submit(&backend, barriers, 0), SVMX_OK, "an empty list is done");
    free(v.scratch);
    backend.ops->close(backend.self);
}

/* A later core has longer commands: the stride is its own. */
Test(simd_plugin, the_stride_of_commands_is_the_cores) {
    struct svmx_backend backend = opened();
    struct svmx_pipeline *pipeline;
    float out[2][4] = {{0}, {0}}, a[4] = {1, 2, 3, 4};
    struct vectors v[2];
    struct {
        struct svmx_command command;
        uint64_t later[5];
    } wide[2];
    memset(wide, 0xee, sizeof wide);
    cr_assert_eq(build(&backend, 0, "vec_add_f32", &pipeline), SVMX_OK);
    for (int i = 0; i < 2; i++) {
        vectors_bind(&v[i], "vec_add_f32", pipeline, out[i], a, a, 4);
        wide[i].command = v[i].command;
        free(v[i].scratch);
    }
    struct svmx_command_list list = {sizeof list, sizeof wide[0], &wide[0].command, 2};
    struct svmx_submission submission = {.size = sizeof submission, .list = &list};
    uint64_t ticket;
    cr_expect_eq(backend.ops->submit(backend.self, &submission, &ticket), SVMX_OK);
    cr_expect_eq(out[0][3], 8.0f);
    cr_expect_eq(out[1][3], 8.0f);
    backend.ops->close(backend.self);
}

Test(simd_plugin, wait_knows_ticket_zero_only) {
    struct svmx_backend backend = opened();
    struct svmx_timing timing = {.size = sizeof timing, .compute_ns = 5};
    cr_expect_eq(backend.ops->wait(backend.self, 0, 0, 0, &timing), SVMX_OK);
    cr_expect_eq(timing.compute_ns, 0);
    cr_expect_eq(timing.size, sizeof timing);
    cr_expect_eq(backend.ops->wait(backend.self, 0, 1, 0, &timing), SVMX_ERR_UNKNOWN);
    backend.ops->close(backend.self);
}

/* ---- the same bits, whatever the caller's floating-point environment ---------------------------------------- */

enum { N = 300000, RESULTS = 2 * N + 2 }; /* large enough to be shared with helpers */

/* Subnormals, products that underflow, and sums that round: each mode would show. */
static void inputs_fill(float *a, float *b) {
    uint32_t state = 12345;
    for (size_t i = 0; i < N; i++) {
        state = state * 1664525 + 1013904223;
        a[i] = ldexpf((float)(state >> 8) / 16777216.0f - 0.5f, i % 3 == 0 ? -130 : 3);
        state = state * 1664525 + 1013904223;
        b[i] = ldexpf((float)(state >> 8) / 16777216.0f - 0.5f, i % 5 == 0 ? -127 : -2);
    }
}

static void results_compute(const struct svmx_backend *backend, const float *a, const float *b, float *results) {
    float *out[4] = {results, results + N, results + 2 * N, results + 2 * N + 1};
    for (int i = 0; i < 4; i++) {
        struct svmx_pipeline *pipeline;
        struct vectors v;
        cr_assert_eq(build(backend, 0, operations[i], &pipeline), SVMX_OK);
        vectors_bind(&v, operations[i], pipeline, out[i], a, b, N);
        cr_assert_eq(submit(backend, &v.command, 1), SVMX_OK);
        free(v.scratch);
    }
}

#if defined(__x86_64__)
/* FTZ, DAZ, three rounding modes, all at once, sticky flags set, traps on. */
static const uint32_t states[] = {0x1f80, 0x9f80, 0x1fc0, 0x3f80, 0x5f80, 0x7f80, 0xffc0, 0x1fbf, 0x0000};
#elif defined(__aarch64__)
static const uint32_t states[] = {0, 1u << 22, 2u << 22, 3u << 22, 1u << 24};
#else
static const uint32_t states[] = {0};
#endif

Test(simd_plugin, bits_do_not_depend_on_the_callers_fp_environment) {
    static const char *const variants[] = {"scalar", "avx2", "avx512"};
    static const char *const threads[] = {"1", "3"};
    static float a[N], b[N], expected[RESULTS], results[RESULTS];
    inputs_fill(a, b);
    bool first = true;
    for (size_t v = 0; v < 3; v++) {
        if (simd_variant_find(machine_features(), variants[v]) == NULL) continue;
        for (size_t t = 0; t < 2; t++) {
            variant_option = variants[v];
            threads_option = threads[t];
            struct svmx_backend backend = opened();
            for (size_t s = 0; s < sizeof states / sizeof states[0]; s++) {
                memset(results, 0xee, sizeof results);
                uint64_t before = simd_fp_read();
                simd_fp_write(states[s]);
                results_compute(&backend, a, b, first ? expected : results);
                uint64_t after = simd_fp_read();
                simd_fp_write(before);
                cr_expect_eq(after & SIMD_FP_COMPARED, states[s] & SIMD_FP_COMPARED, "put back: %x", states[s]);
                if (!first)
                    cr_expect_eq(memcmp(expected, results, sizeof results), 0, "%s, %s threads, state %x", variants[v],
                                 threads[t], states[s]);
                first = false;
            }
            backend.ops->close(backend.self);
        }
    }
    size_t subnormal = 0;
    for (size_t i = 0; i < 2 * (size_t)N; i++) subnormal += fpclassify(expected[i]) == FP_SUBNORMAL;
    cr_expect_gt(subnormal, 1000, "the data would show a flush to zero");
}
