/*
 * test_op_reference.c: the reference backend through the plugin ABI, as the core uses it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/op.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <stdio.h>
#include <string.h>
#include <svmx/ops.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

static char last_line[256];

static void keep_line(const struct svmx_host *host, enum svmx_log_level level, const char *text) {
    (void)host;
    cr_assert_eq(level, SVMX_LOG_ERROR);
    strncpy(last_line, text, sizeof last_line - 1);
}

static bool no_memory;

/* Of one instance: not all tests close it. */
static void *host_alloc(const struct svmx_host *at, size_t bytes, size_t alignment) {
    (void)at;
    static _Alignas(64) unsigned char instance[64];
    return no_memory || bytes > sizeof instance || alignment > 64 ? NULL : instance;
}

static void host_release(const struct svmx_host *at, void *memory) { (void)at, (void)memory; }

/* It needs nothing of the host but the log and memory: a call of anything else is a call of NULL. */
static const struct svmx_host host = {.size = sizeof(struct svmx_host),
                                      .abi_major = SVMX_ABI_MAJOR,
                                      .abi_minor = SVMX_ABI_MINOR,
                                      .log = keep_line,
                                      .alloc = host_alloc,
                                      .release = host_release};

static struct svmx_backend open_it(void) {
    struct svmx_backend backend = {NULL, NULL};
    cr_assert_eq(svmx__reference_plugin.open(&host, &backend), SVMX_OK);
    return backend;
}

static struct svmx_slot slot(const void *at, uint64_t bytes) {
    return (struct svmx_slot){(uint64_t)(uintptr_t)at, bytes};
}

static struct svmx_pipeline *build(const struct svmx_backend *backend, const struct svmx__op *op) {
    const struct svmx_op_desc desc = {.size = sizeof desc,
                                      .name = op->name,
                                      .params = op->params,
                                      .param_count = op->param_count,
                                      .scratch_bytes_per_unit = op->scratch_bytes_per_unit};
    const struct svmx_pipeline_desc pipeline_desc = {.size = sizeof pipeline_desc, .op = &desc, .bucket = 16384};
    struct svmx_pipeline *pipeline = NULL;
    cr_assert_eq(backend->ops->pipeline_build(backend->self, 0, &pipeline_desc, &pipeline), SVMX_OK);
    return pipeline;
}

static enum svmx_status submit(const struct svmx_backend *backend, const struct svmx_command_list *list) {
    const struct svmx_submission submission = {.size = sizeof submission, .list = list};
    uint64_t ticket = 99;
    enum svmx_status status = backend->ops->submit(backend->self, &submission, &ticket);
    cr_assert_eq(ticket, status == SVMX_OK ? 0u : 99u);
    return status;
}

/* Two additions as two tasks of one dispatch. */
static void add_two(const struct svmx_backend *backend, float out[2], const float a[2], const float b[2]) {
    const struct svmx_slot slots[] = {slot(&out[0], 4), slot(&a[0], 4), slot(&b[0], 4),
                                      slot(&out[1], 4), slot(&a[1], 4), slot(&b[1], 4)};
    const uint64_t first_unit[] = {0, 1, 2};
    const struct svmx_command command = {
        .kind = SVMX_COMMAND_DISPATCH,
        .as.dispatch = {.pipeline = build(backend, svmx__op_by_id(SVMX_OP_VEC_ADD_F32)),
                        .slots = slots,
                        .first_unit = first_unit,
                        .task_count = 2,
                        .slot_count = 3,
                        .work = 2}};
    const struct svmx_command_list list = {sizeof list, sizeof command, &command, 1};
    cr_assert_eq(submit(backend, &list), SVMX_OK);
}

Test(op_reference, it_is_a_plugin_of_this_abi_called_reference) {
    const struct svmx_plugin *plugin = &svmx__reference_plugin;
    cr_assert_eq(plugin->magic, SVMX_PLUGIN_MAGIC);
    cr_assert_eq(plugin->size, sizeof *plugin);
    cr_assert(plugin->abi_major == SVMX_ABI_MAJOR && plugin->abi_minor == SVMX_ABI_MINOR && plugin->flags == 0);
    cr_assert_str_eq(plugin->name, "reference");
    cr_assert_str_eq(plugin->licence, "Apache-2.0");
    struct svmx_backend backend = open_it();
    cr_assert(backend.ops->device_info && backend.ops->pipeline_build && backend.ops->pipeline_free);
    cr_assert(backend.ops->submit && backend.ops->wait && backend.ops->close);
    cr_assert(!backend.ops->list_record == !backend.ops->list_free);
    backend.ops->close(backend.self);
}

Test(op_reference, no_memory_for_an_instance) {
    struct svmx_backend backend = {NULL, NULL};
    no_memory = true;
    cr_assert_eq(svmx__reference_plugin.open(&host, &backend), SVMX_ERR_MEMORY);
    no_memory = false;
    cr_assert_null(backend.self);
}

Test(op_reference, its_one_device_is_the_cpu_in_the_callers_thread) {
    struct svmx_backend backend = open_it();
    struct svmx_device_info info = {.size = sizeof info};
    cr_assert_eq(backend.ops->device_info(backend.self, 0, &info), SVMX_OK);
    cr_assert_eq(info.kind, SVMX_DEVICE_CPU);
    cr_assert_eq(info.flags, SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_SHARES_CORES | SVMX_DEVICE_INLINE);
    cr_assert(info.threads == 1 && info.compute_engines == 1 && info.copy_engines == 0 && info.alignment == 1);
    cr_assert_str_eq(info.variant, "");
    char driver[64];
    snprintf(driver, sizeof driver, "svmx-reference %d.%d.%d", SVMX_VERSION_MAJOR, SVMX_VERSION_MINOR,
             SVMX_VERSION_PATCH);
    cr_assert_str_eq(info.driver, driver);
    cr_assert_eq(backend.ops->device_info(backend.self, 1, &info), SVMX_ERR_UNKNOWN);
}

/* A core that knows fewer fields gets those and no byte more. */
Test(op_reference, device_info_stays_inside_the_size_that_it_was_given) {
    struct svmx_backend backend = open_it();
    struct svmx_device_info info;
    memset(&info, 0xee, sizeof info);
    info.size = offsetof(struct svmx_device_info, kind);
    cr_assert_eq(backend.ops->device_info(backend.self, 0, &info), SVMX_OK);
    cr_assert_str_eq(info.name, "reference code");
    cr_assert_eq(info.kind, 0xeeeeeeeeu);
    cr_assert_eq(info.size, offsetof(struct svmx_device_info, kind));
}

Test(op_reference, it_knows_every_operation_of_the_table_and_no_other) {
    struct svmx_backend backend = open_it();
    for (uint32_t i = 0; i < svmx__op_count(); i++) {
        struct svmx_pipeline *pipeline = build(&backend, svmx__op_at(i));
        cr_assert_not_null(pipeline);
        backend.ops->pipeline_free(backend.self, pipeline);
    }
    const struct svmx_op_desc stranger = {.size = sizeof stranger, .name = "no_such_operation"};
    const struct svmx_pipeline_desc desc = {.size = sizeof desc, .op = &stranger, .bucket = 16384};
    struct svmx_pipeline *pipeline = NULL;
    cr_assert_eq(backend.ops->pipeline_build(backend.self, 0, &desc, &pipeline), SVMX_ERR_UNSUPPORTED);
    cr_assert_eq(backend.ops->pipeline_build(backend.self, 1, &desc, &pipeline), SVMX_ERR_UNKNOWN);
    cr_assert_null(pipeline);
}

/* A later core has longer commands; a barrier between dispatches changes nothing. */
Test(op_reference, commands_run_in_order_at_the_stride_of_the_core) {
    struct svmx_backend backend = open_it();
    struct {
        struct svmx_command command;
        uint64_t grown[3];
    } commands[3];
    memset(commands, 0xee, sizeof commands);
    float x = 1, y = 2, sum = 0, result = 0;
    const struct svmx_slot first[] = {slot(&sum, 4), slot(&x, 4), slot(&y, 4)};
    const struct svmx_slot second[] = {slot(&result, 4), slot(&sum, 4), slot(&sum, 4)};
    const uint64_t first_unit[] = {0, 1};
    const struct svmx_dispatch dispatch = {.pipeline = build(&backend, svmx__op_by_id(SVMX_OP_VEC_ADD_F32)),
                                           .first_unit = first_unit,
                                           .task_count = 1,
                                           .slot_count = 3,
                                           .work = 1};
    for (unsigned i = 0; i < 3; i += 2) {
        commands[i].command = (struct svmx_command){.kind = SVMX_COMMAND_DISPATCH, .as.dispatch = dispatch};
        commands[i].command.as.dispatch.slots = i == 0 ? first : second;
    }
    commands[1].command = (struct svmx_command){.kind = SVMX_COMMAND_BARRIER};
    const struct svmx_command_list list = {sizeof list, sizeof commands[0], &commands[0].command, 3};
    cr_assert_eq(submit(&backend, &list), SVMX_OK);
    cr_assert_eq(result, 6);
    struct svmx_timing timing = {.size = sizeof timing, .compute_ns = 5};
    cr_assert_eq(backend.ops->wait(backend.self, 0, 0, 0, &timing), SVMX_OK);
    cr_assert_eq(timing.compute_ns, 0);
    cr_assert_eq(backend.ops->wait(backend.self, 0, 1, 0, &timing), SVMX_ERR_UNKNOWN);
}

Test(op_reference, what_it_cannot_do_is_refused_before_anything_runs) {
    struct svmx_backend backend = open_it();
    float x = 1, out = 0;
    const struct svmx_slot slots[] = {slot(&out, 4), slot(&x, 4), slot(&x, 4)};
    const uint64_t first_unit[] = {0, 1};
    const struct svmx_command commands[] = {
        {.kind = SVMX_COMMAND_DISPATCH,
         .as.dispatch = {.pipeline = build(&backend, svmx__op_by_id(SVMX_OP_VEC_ADD_F32)),
                         .slots = slots,
                         .first_unit = first_unit,
                         .task_count = 1,
                         .slot_count = 3}},
        {.kind = SVMX_COMMAND_FILL}};
    const struct svmx_command_list list = {sizeof list, sizeof commands[0], commands, 2};
    cr_assert_eq(submit(&backend, &list), SVMX_ERR_UNSUPPORTED);
    cr_assert_eq(out, 0, "a command ran before the list was refused");
    cr_assert(strstr(last_line, "only dispatches and barriers"), "%s", last_line);
    cr_assert_eq(submit(&backend, NULL), SVMX_ERR_UNSUPPORTED);
    const struct svmx_submission elsewhere = {.size = sizeof elsewhere, .device = 1, .list = &list};
    uint64_t ticket = 99;
    cr_assert_eq(backend.ops->submit(backend.self, &elsewhere, &ticket), SVMX_ERR_UNKNOWN);
    cr_assert(ticket == 99 && strstr(last_line, "only device 0"), "%s", last_line);
}

Test(op_reference, the_callers_rounding_mode_changes_nothing_and_stays) {
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    struct svmx_backend backend = open_it();
    const volatile float a[2] = {1, 1}, b[2] = {0x1p-30f, -0x1p-30f};
    for (unsigned i = 0; i < 4; i++) {
        float out[2], direct[2];
        cr_assert_eq(fesetround(modes[i]), 0);
        add_two(&backend, out, (const float *)a, (const float *)b);
        const struct svmx_slot slots[] = {slot(direct, 8), slot((const float *)a, 8), slot((const float *)b, 8)};
        svmx__reference_run(svmx__op_by_id(SVMX_OP_VEC_ADD_F32), slots);
        const int left = fegetround();
        fesetround(FE_TONEAREST);
        cr_assert(out[0] == 1 && out[1] == 1, "submit, mode %u: %a %a", i, out[0], out[1]);
        cr_assert(direct[0] == 1 && direct[1] == 1, "run, mode %u: %a %a", i, direct[0], direct[1]);
        cr_assert_eq(left, modes[i]);
    }
}

Test(op_reference, flushed_denormals_and_traps_of_the_caller_change_nothing_and_stay) {
#if defined(__SSE2__)
    struct svmx_backend backend = open_it();
    const volatile float a[2] = {0x1p-149f, 0x1p-126f}, b[2] = {0x1p-149f, -0x1p-149f};
    const unsigned states[] = {0x1f80, 0x1f80 | 0x8000, 0x1f80 | 0x0040, 0x1f80 | 0x8040, 0x0000, 0x1fbf};
    for (unsigned i = 0; i < 6; i++) {
        float out[2];
        _mm_setcsr(states[i]);
        add_two(&backend, out, (const float *)a, (const float *)b);
        const unsigned left = _mm_getcsr();
        _mm_setcsr(0x1f80);
        cr_assert(out[0] == 0x1p-148f && out[1] == 0x1.fffffcp-127f, "state %u: %a %a", i, out[0], out[1]);
        cr_assert_eq(left & ~0x3fu, states[i] & ~0x3fu);
    }
#else
    cr_skip_test("needs SSE");
#endif
}
