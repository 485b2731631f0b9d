/*
 * test_many_devices.c: parts that are cut for several modelled devices: the same bytes under every cut, when a device is
 * lost in mid-batch, and when memory is short; and one device that two backends show is used once.
 *
 * What devices take is told to the model here, so that nothing depends on the speed of a machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>
#include <unistd.h>

static const char *const ze_cpu_names[] = {"many_devices", NULL};
#include "../drivers/ze_cpu/content.h"

enum { DEVICES = 4, MOST_TASKS = 300 };

static svmx_executor_t *executor;
static svmx_batch_t *batch;
static char model_path[256];

/* ---- devices ---- */

static void write_model_of(const char *more, int devices) {
    FILE *file;
    const int fd = mkstemp(strcpy(model_path, "/tmp/svmx-test-XXXXXX"));
    cr_assert(fd >= 0 && (file = fdopen(fd, "w")));
    cr_assert(fprintf(file,
                      "name many\ncreate 0 ns\ndispatch 20 us\nupload 0 ns\nreadback 0 ns\n"
                      "upload_rate 100 GB/s\nreadback_rate 100 GB/s\ndevices %d\nop * rate 100 work/ns\n"
                      "cpu op * rate 1 work/ns\n%s",
                      devices, more) > 0);
    cr_assert_eq(fclose(file), 0);
}

static void write_model(const char *more) {
    write_model_of(more, DEVICES);
    cr_assert_eq(setenv("SUPERVM_SIM_MODEL", model_path, 1), 0);
}

static void open_with(const char *more) {
    struct svmx_error error;
    const char *path = getenv("SVMX_TEST_BACKEND_PATH");
    if (!path) cr_skip_test("SVMX_TEST_BACKEND_PATH does not say where backends are");
    write_model(more);
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "+sim:many,stop",
                                         .backend_path = path,
                                         .policy = "split",
                                         .profile = "off",
                                         .learn = "strict",
                                         .timeout_ms = 60000,
                                         .log_level = SVMX_LOG_ERROR};
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s", error.text);
    cr_assert_eq(svmx_device_count(executor), DEVICES + 1);
    executor->choices.frozen = true;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
}

static void tear_down(void) {
    svmx_batch_destroy(batch);
    svmx_close(executor);
    if (*model_path) (void)unlink(model_path);
}

TestSuite(many_devices, .fini = tear_down, .timeout = 300);

/* Tells what a device takes, ns for each unit, and has pipelines built for all sizes. */
static void knows(uint32_t op, const double ns_a_unit[DEVICES]) {
    for (uint64_t units = 1; units <= UINT64_C(1) << 24; units *= 2) {
        for (uint32_t d = 0; d + 1 < svmx_device_count(executor); d++) {
            const struct svmx__sample sample = {.compute_ns = 1 + (uint64_t)((double)units * ns_a_unit[d])};
            for (uint64_t depth = 1; depth <= 4096; depth *= 2) {
                const struct svmx__load load = {units, units * depth, units};
                cr_assert(svmx__model_learn(&executor->model, op, d, &load, &sample));
            }
        }
    }
    for (uint64_t units = 1; units <= UINT64_C(1) << 20; units *= 2)
        cr_assert_eq(svmx_prewarm(executor, op, units), SVMX_OK);
}
static const double alike[DEVICES] = {1e5, 1e5, 1e5, 1e5};

/* ---- batches ---- */

static struct svmx_example examples[MOST_TASKS];
static uint32_t example_count, ops_of[MOST_TASKS];

static void add(uint32_t op, uint64_t size) {
    struct svmx_example *example = &examples[example_count];
    cr_assert_eq(svmx_example_create(executor, op, size, example_count + 1, example), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, op, example->args, example->arg_count), SVMX_OK, "%s", svmx_batch_error(batch));
    ops_of[example_count++] = op;
}

static void clear(void) {
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    while (example_count) svmx_example_destroy(&examples[--example_count]);
}

/* All outputs one behind the other, cleared in the examples; free() takes it. */
static unsigned char *take_outputs(size_t *bytes) {
    unsigned char *all = NULL;
    *bytes = 0;
    for (uint32_t t = 0; t < example_count; t++)
        for (size_t i = 0; i < examples[t].arg_count; i++) {
            const struct svmx_arg *arg = &examples[t].args[i];
            if (svmx__op_by_id(ops_of[t])->params[i].direction != SVMX_OUT) continue;
            all = realloc(all, *bytes + arg->bytes + 1);
            cr_assert(all);
            if (arg->bytes) memcpy(all + *bytes, arg->from.out, arg->bytes), memset(arg->from.out, 0xa5, arg->bytes);
            *bytes += arg->bytes;
        }
    return all;
}

/* Runs the batch under a policy; its outputs. */
static unsigned char *run(uint32_t policy, size_t *bytes) {
    free(take_outputs(bytes));
    cr_assert_eq(svmx_batch_set_policy(batch, policy), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    return take_outputs(bytes);
}

/* Of all receipts of the last run. */
struct seen {
    uint32_t chunks, redone, devices; /* devices: bit d */
    uint64_t units;
};

static struct seen look(void) {
    struct seen seen = {0};
    for (uint32_t i = 0; i < svmx_receipt_count(batch); i++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        cr_assert_eq(svmx_receipt_get(batch, i, &receipt), SVMX_OK);
        seen.chunks += receipt.why == SVMX_WHY_SPLIT;
        seen.redone += receipt.redone;
        seen.devices |= 1u << receipt.device;
        seen.units += receipt.units;
    }
    return seen;
}

/* Runs what was added, cut and by the reference code, and compares; what was seen of the cut one. */
static struct seen compare(const char *what) {
    size_t bytes, reference_bytes;
    unsigned char *ours = run(SVMX_POLICY_SPLIT, &bytes);
    const struct seen seen = look();
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    unsigned char *reference = run(SVMX_POLICY_CPU, &reference_bytes);
    cr_assert_eq(look().chunks, 0);
    cr_assert_eq(look().units, seen.units);
    cr_assert_eq(bytes, reference_bytes);
    cr_assert(bytes == 0 || memcmp(ours, reference, bytes) == 0, "%s: other bytes", what);
    free(ours);
    free(reference);
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    return seen;
}

/* ---- the same bytes ---- */

/* A receipt has room for four devices, and the chosen one is always among them. The model is an option here: with the
 * environment switched off that does not count, in which there is no such file. */
Test(many_devices, a_receipt_has_the_chosen_one_among_its_candidates) {
    enum { MANY = 6, UNITS = 4096 };
    static float in[UNITS], out[UNITS];
    struct svmx_error error;
    const char *path = getenv("SVMX_TEST_BACKEND_PATH");
    if (!path) cr_skip_test("SVMX_TEST_BACKEND_PATH does not say where backends are");
    write_model_of("memory separate\n", MANY);
    cr_assert_eq(setenv("SUPERVM_SIM_MODEL", "/no/such/model", 1), 0);
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "+sim:many,stop",
                                         .backend_path = path,
                                         .profile = "off",
                                         .cache_dir = "off",
                                         .learn = "strict",
                                         .timeout_ms = 60000,
                                         .sim_model = model_path,
                                         .flags = SVMX_OPEN_NO_ENVIRONMENT};
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s", error.text);
    cr_assert_eq(svmx_device_count(executor), MANY + 1);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, UNITS), SVMX_OK);
    for (uint32_t d = 0; d < MANY; d++) {
        const struct svmx__load load = {UNITS, UNITS, 12 * UNITS};
        const struct svmx__sample sample = {.compute_ns = d == MANY - 1 ? 1000 : 1000000 + d};
        for (int i = 0; i < 5; i++)
            cr_assert(svmx__model_learn(&executor->model, SVMX_OP_VEC_ADD_F32, d, &load, &sample));
    }
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_vec_add_f32(batch, out, in, in, UNITS), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, MANY - 1);
    cr_assert_eq(receipt.candidate_count, 4);
    for (uint32_t i = 0; i < 3; i++) {
        cr_expect_eq(receipt.candidates[i].device, i);
        cr_expect_eq(receipt.candidates[i].verdict, SVMX_SLOWER);
    }
    cr_expect_eq(receipt.candidates[3].device, MANY - 1);
    cr_expect_eq(receipt.candidates[3].verdict, SVMX_CHOSEN);
    cr_expect_eq(receipt.candidates[3].expected_ns, 1000);
}

Test(many_devices, the_same_bytes_under_every_cut) {
    static const struct {
        uint32_t op;
        bool divides; /* also a single task */
        uint64_t single, size;
    } ops[] = {{SVMX_OP_VEC_ADD_F32, true, 40961, 977},  {SVMX_OP_GOLDILOCKS_MUL, true, 40961, 977},
               {SVMX_OP_SUM_F32, false, 40961, 977},     {SVMX_OP_KECCAK256, false, 40961, 97},
               {SVMX_OP_SOFTMAX_F32, true, 300001, 999}, {SVMX_OP_GRID_FLIP_U8, true, 1001, 9},
               {SVMX_OP_EIGH_F64, true, 333, 2},         {SVMX_OP_ECDSA_VERIFY_SECP256K1, true, 200, 1}};
    static const uint32_t counts[] = {1, 2, 3, 7, 64, 300};
    open_with("memory separate\n");
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
        knows(ops[o].op, alike);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (uint32_t t = 0; t < counts[c]; t++) /* of many sizes, and some empty */
                add(ops[o].op, counts[c] == 1 ? ops[o].single : t % 5 == 4 ? 0 : 1 + ops[o].size * (t % 7));
            const struct seen seen = compare("sizes");
            if (counts[c] > 1 || ops[o].divides)
                cr_expect_geq(seen.chunks, 2, "operation %u, %u tasks: %u chunks", ops[o].op, counts[c], seen.chunks);
            else
                cr_expect_eq(seen.chunks, 0, "a single task is not cut");
            cr_expect_eq(seen.redone, 0);
            clear();
        }
    }
    for (uint32_t d = 0; d < DEVICES; d++) cr_expect_eq(atomic_load(&executor->choices.backlog_ns[d]), 0);
}

Test(many_devices, all_of_them_work) {
    open_with("memory separate\n");
    knows(SVMX_OP_VEC_ADD_F32, alike);
    for (int t = 0; t < 256; t++) add(SVMX_OP_VEC_ADD_F32, 4096);
    uint32_t devices = 0;
    for (int i = 0; i < 20 && devices != 15; i++) devices |= compare("all").devices;
    cr_expect_eq(devices, 15, "%x", devices);
    clear();
}

Test(many_devices, a_slow_one_gets_nothing) {
    open_with("memory separate\n");
    knows(SVMX_OP_VEC_ADD_F32, (const double[DEVICES]){1e4, 1e4, 1e8, 1e4});
    for (int t = 0; t < 256; t++) add(SVMX_OP_VEC_ADD_F32, 64);
    const struct seen seen = compare("slow");
    cr_expect_gt(seen.chunks, 2);
    cr_expect_eq(seen.devices & 4, 0);
    clear();
}

Test(many_devices, small_work_stays_whole_and_auto_cuts_large_work) {
    open_with("memory separate\n");
    size_t bytes;
    knows(SVMX_OP_VEC_ADD_F32, (const double[DEVICES]){10, 10, 10, 10});
    for (int t = 0; t < 16; t++) add(SVMX_OP_VEC_ADD_F32, 64);
    cr_expect_eq(compare("small").chunks, 0, "10 us are not cut");
    clear();
    for (int t = 0; t < 16; t++) add(SVMX_OP_VEC_ADD_F32, 4096);
    cr_expect_geq(compare("split").chunks, 2, "655 us are, where the user wants it");
    free(run(SVMX_POLICY_AUTO, &bytes));
    cr_expect_eq(look().chunks, 0, "but not by itself");
    clear();
    for (int t = 0; t < 64; t++) add(SVMX_OP_VEC_ADD_F32, 4096);
    free(run(SVMX_POLICY_AUTO, &bytes));
    cr_expect_geq(look().chunks, 2, "2.6 ms are");
    clear();
}

Test(many_devices, levels_and_several_operations) {
    open_with("memory separate\n");
    static float a[65536], b[65536], sum[65536], product[65536], both[65536];
    knows(SVMX_OP_VEC_ADD_F32, alike);
    knows(SVMX_OP_VEC_MUL_F32, alike);
    for (int i = 0; i < 65536; i++) a[i] = (float)i, b[i] = 0.5f;
    for (int round = 0; round < 3; round++) {
        cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
        cr_assert_eq(svmx_vec_add_f32(batch, sum, a, b, 65536), SVMX_OK);
        cr_assert_eq(svmx_vec_mul_f32(batch, product, a, b, 65536), SVMX_OK);
        const struct svmx_arg args[] = {svmx_out(SVMX_F32, both, 65536), svmx_result_of(SVMX_F32, 0, 0),
                                        svmx_result_of(SVMX_F32, 1, 0)};
        cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK, "%s", svmx_batch_error(batch));
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        for (int i = 0; i < 65536; i++) cr_assert_eq(both[i], (a[i] + b[i]) + a[i] * b[i]);
        cr_expect_eq(look().units, 3 * 65536);
    }
}

/* ---- memory ---- */

Test(many_devices, memory_of_each_is_respected) {
    open_with("memory separate 512 KiB\n");
    knows(SVMX_OP_VEC_ADD_F32, alike);
    for (int t = 0; t < 200; t++) add(SVMX_OP_VEC_ADD_F32, 4096); /* 9.4 MiB */
    const struct seen seen = compare("memory");
    cr_expect_geq(seen.chunks, 75, "each at most a quarter of 512 KiB: %u", seen.chunks);
    cr_expect_eq(seen.redone, 0);
    clear();
}

/* ---- loss ---- */

static uint32_t health_of(uint32_t index) {
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_device_get(executor, index, &device), SVMX_OK);
    return device.health;
}

Test(many_devices, one_is_lost_in_mid_batch_and_comes_back) {
    open_with("memory separate\nat launch 40 lost 2\n");
    knows(SVMX_OP_VEC_ADD_F32, alike);
    for (int t = 0; t < 256; t++) add(SVMX_OP_VEC_ADD_F32, 1024);
    struct seen seen = {0};
    for (int i = 0; i < 100 && health_of(2) != SVMX_LOST; i++) seen = compare("loss");
    cr_assert_eq(health_of(2), SVMX_LOST, "it was lost at its launch 40");
    cr_expect_geq(seen.redone, 1, "in a batch that ended right");
    atomic_store(&executor->stopped_ns, 1); /* it rests on, however long this takes */
    seen = compare("without it");
    cr_expect_gt(seen.chunks, 2);
    cr_expect_eq(seen.redone, 0);
    cr_expect_eq(seen.devices & 4, 0);
    cr_assert_eq(svmx_device_reset(executor, 2), SVMX_OK);
    for (int i = 0; i < 500 && !(seen.devices & 4); i++) {
        for (uint64_t units = 1; units <= UINT64_C(1) << 20; units *= 2)
            cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, units), SVMX_OK);
        seen = compare("back in");
    }
    cr_expect(seen.devices & 4, "it works again");
    cr_expect_eq(seen.redone, 0);
    clear();
}

/* ---- Level Zero ---- */

/* The test driver computes on the host's cores, so nothing is cut for it; here it is asked to pass for three GPUs. */
Test(many_devices, three_of_level_zero) {
    const char *missing = ze_cpu_missing(), *path = getenv("SVMX_TEST_BACKEND_PATH");
    struct svmx_error error;
    if (missing || !path)
        cr_skip_test("%s", missing ? missing : "SVMX_TEST_BACKEND_PATH does not say where backends are");
    ze_cpu_use("many_devices");
    cr_assert_eq(setenv("ZE_CPU_DEVICES", "3", 1), 0);
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "levelzero,stop",
                                         .backend_path = path,
                                         .policy = "split",
                                         .profile = "off",
                                         .learn = "strict",
                                         .timeout_ms = 60000,
                                         .log_level = SVMX_LOG_ERROR};
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s", error.text);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    if (svmx_device_count(executor) != 4) cr_skip_test("no Level Zero backend here");
    executor->choices.frozen = executor->spreads = true;
    executor->choices.cores_mask = 0;
    for (uint8_t d = 0; d < 3; d++) executor->choices.queue[d] = d;
    knows(SVMX_OP_VEC_ADD_F32, alike);
    for (int t = 0; t < 96; t++) add(SVMX_OP_VEC_ADD_F32, 1000 + 10 * (uint64_t)t);
    uint32_t devices = 0;
    for (int i = 0; i < 20 && devices != 7; i++) { /* who is quick may take what was another's */
        const struct seen seen = compare("Level Zero");
        cr_expect_geq(seen.chunks, 3);
        cr_expect_eq(seen.redone, 0);
        devices |= seen.devices;
    }
    cr_expect_eq(devices, 7, "all three work: %x", devices);
    clear();
}

/* ---- identity ---- */

/* A backend whose devices say what they are, and compute nothing. */
struct shown {
    const char *name, *pci;
    uint8_t uuid;
};

static enum svmx_status show(const struct shown *shown, uint32_t count, uint32_t index, struct svmx_device_info *info) {
    if (index >= count) return SVMX_ERR_UNKNOWN;
    (void)snprintf(info->name, sizeof info->name, "%s", shown[index].name);
    (void)snprintf(info->driver, sizeof info->driver, "driver");
    (void)snprintf(info->pci, sizeof info->pci, "%s", shown[index].pci);
    info->uuid[15] = shown[index].uuid;
    info->kind = SVMX_DEVICE_GPU;
    info->flags = SVMX_DEVICE_INLINE | SVMX_DEVICE_HOST_MEMORY;
    info->compute_engines = info->threads = info->alignment = 1;
    return SVMX_OK;
}

static enum svmx_status one_info(void *self, uint32_t index, struct svmx_device_info *info) {
    static const struct shown shown[] = {{"one a", "0000:03:00.0", 0}, {"one b", "", 7}, {"one c", "", 0}};
    (void)self;
    return show(shown, 3, index, info);
}

static enum svmx_status two_info(void *self, uint32_t index, struct svmx_device_info *info) {
    static const struct shown shown[] = {
        {"two a", "0000:03:00.0", 0}, {"two b", "0000:04:00.0", 7}, {"two c", "", 0}, {"two d", "0000:05:00.0", 9}};
    (void)self;
    return show(shown, 4, index, info);
}

static enum svmx_status no_pipeline(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                    struct svmx_pipeline **pipeline) {
    (void)self, (void)device, (void)desc, (void)pipeline;
    return SVMX_ERR_UNSUPPORTED;
}
static void no_free(void *self, struct svmx_pipeline *pipeline) { (void)self, (void)pipeline; }
static enum svmx_status no_submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    (void)self, (void)submission, (void)ticket;
    return SVMX_ERR_UNSUPPORTED;
}
static enum svmx_status no_wait(void *self, uint32_t device, uint64_t ticket, uint64_t ns, struct svmx_timing *timing) {
    (void)self, (void)device, (void)ticket, (void)ns, (void)timing;
    return SVMX_ERR_UNKNOWN;
}
static void no_close(void *self) { (void)self; }

#define BACKEND(which)                                                                                                 \
    static const struct svmx_backend_ops which##_ops = {.size = sizeof which##_ops,                                    \
                                                        .device_info = which##_info,                                   \
                                                        .pipeline_build = no_pipeline,                                 \
                                                        .pipeline_free = no_free,                                      \
                                                        .submit = no_submit,                                           \
                                                        .wait = no_wait,                                               \
                                                        .close = no_close};                                            \
    static enum svmx_status which##_open(const struct svmx_host *host, struct svmx_backend *backend) {                 \
        (void)host;                                                                                                    \
        *backend = (struct svmx_backend){.ops = &which##_ops};                                                         \
        return SVMX_OK;                                                                                                \
    }                                                                                                                  \
    static const struct svmx_plugin which##_plugin = {.magic = SVMX_PLUGIN_MAGIC,                                      \
                                                      .size = sizeof(struct svmx_plugin),                              \
                                                      .abi_major = SVMX_ABI_MAJOR,                                     \
                                                      .abi_minor = SVMX_ABI_MINOR,                                     \
                                                      .name = #which,                                                  \
                                                      .version = "1",                                                  \
                                                      .licence = "Apache-2.0",                                         \
                                                      .open = which##_open}
BACKEND(one);
BACKEND(two);

static void open_shown(const char *backends) {
    static const struct svmx_plugin *const plugins[] = {&one_plugin, &two_plugin};
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = backends,
                                         .backend_path = "/nonexistent",
                                         .static_plugins = plugins,
                                         .static_plugin_count = 2,
                                         .log_level = SVMX_LOG_OFF};
    struct svmx_error error;
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s", error.text);
}

static void expect_devices(const char *names) {
    char found[256] = "";
    for (uint32_t i = 0; i + 1 < svmx_device_count(executor); i++) {
        struct svmx_device device = {.size = sizeof device};
        cr_assert_eq(svmx_device_get(executor, i, &device), SVMX_OK);
        (void)snprintf(found + strlen(found), sizeof found - strlen(found), "%s,", device.name);
    }
    cr_expect_str_eq(found, names);
}

static const char *reason_of(const char *backend) {
    static struct svmx_load_entry entry;
    for (uint32_t i = 0; i < svmx_load_report_count(executor); i++) {
        entry = (struct svmx_load_entry){.size = sizeof entry};
        cr_assert_eq(svmx_load_report_get(executor, i, &entry), SVMX_OK);
        if (strcmp(entry.name, backend) != 0) continue;
        cr_expect_eq(entry.noted, strcmp(entry.reason, "ready") != 0, "%s", entry.reason);
        return entry.reason;
    }
    return "";
}

Test(same_device, is_used_once_by_way_of_the_first) {
    open_shown("one,two,stop");
    expect_devices("one a,one b,one c,two c,two d,");
    cr_expect(strstr(reason_of("two"), "two a (device 0) is used by way of one"), "%s", reason_of("two"));
    cr_expect(strstr(reason_of("two"), "two b (device 1) is used by way of one"), "%s", reason_of("two"));
    cr_expect_str_eq(reason_of("one"), "ready");
    svmx_close(executor);
    open_shown("two,one,stop");
    expect_devices("two a,two b,two c,two d,one c,");
    svmx_close(executor);
}

Test(same_device, the_selection_decides_which_is_seen) {
    open_shown("one:1,two,stop");
    expect_devices("one b,two a,two c,two d,");
    svmx_close(executor);
}
