/*
 * test_sim_plugin.c: plugins/sim: a modelled device computes what the reference code does, is over no earlier than its
 * model says, and tells modelled times only where they were kept. First by hand, through the ABI; then by an executor.
 *
 * No test asks how soon something is over, since that is the machine's affair.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/sim/model.h"
#include "plugin_fixture.h"

#include <svmx/ops.h>
#include <svmx/svmx.h>

TestSuite(sim_plugin, .init = folder_make, .fini = folder_remove);
TestSuite(sim_executor, .init = folder_make, .fini = folder_remove);

extern const struct svmx_plugin svmx_plugin; /* linked in */

static const struct svmx_host *host;
static struct svmx_backend backend;
#define CALL(function, ...) backend.ops->function(backend.self, __VA_ARGS__)

enum { MS = 1000000, N = 100, TASKS = 3, BYTES = 8192, IN = 4096, ALIGN = 512 };

/* ---- models ----------------------------------------------------------------------------------------------- */

#define REST                                                                                                           \
    "op * rate 1000000 work/ns\n"                                                                                      \
    "cpu op * rate 1 work/ns\n"

/* So slow that computing for real is over long before, and without noise. */
static const char patient[] = "name patient\nmemory separate\ncreate 3 ms\nupload 40 ms\ndispatch 150 ms\n"
                              "readback 60 ms\nupload_rate 1 GB/s\nreadback_rate 2 GB/s\n" REST;
/* So fast that computing for real takes longer. */
static const char hasty[] = "name hasty\nmemory shared\ncreate 0 ns\ndispatch 0 ns\n" REST;

static void model_file(const char *text) {
    file_write(in_folder("mine.model"), text, strlen(text));
    cr_assert_eq(setenv("SUPERVM_SIM_MODEL", in_folder("mine.model"), 1), 0);
}

static enum svmx_status try_open(void) {
    host = host_make(NULL, "sim", NULL);
    return svmx_plugin.open(host, &backend);
}

static uint32_t device_named(const char *name) {
    struct svmx_device_info info = {.size = sizeof info};
    for (uint32_t i = 0; CALL(device_info, i, &info) == SVMX_OK; i++)
        if (strcmp(info.name, name) == 0) return i;
    cr_assert_fail("there is no device %s", name);
    return 0;
}

/* Opens an instance with that model and gives its device. */
static uint32_t open_with(const char *text, const char *name) {
    model_file(text);
    cr_assert_eq(try_open(), SVMX_OK, "%s", log_lines);
    return device_named(name);
}

static void close_all(void) {
    backend.ops->close(backend.self);
    cr_expect_eq(allocations_alive, 0, "%d allocations of the host are left", allocations_alive);
    host_unmake(NULL, host);
}

static bool said(const char *text) { return strstr(log_lines, text) != NULL; }

/* ---- a batch of vec_add_f32, as the core would stage it --------------------------------------------------- */

static const struct svmx_param vec_params[] = {{"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1},
                                               {"a", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},
                                               {"b", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1}};
static const struct svmx_op_desc vec_add = {
    .size = sizeof vec_add, .name = "vec_add_f32", .params = vec_params, .param_count = 3};

struct job {
    struct svmx_memory *staging_in, *staging_out, *inputs, *outputs;
    float *in_host, *out_host;
    struct svmx_pipeline *pipeline;
    struct svmx_slot slots[TASKS * 3];
    uint64_t first_unit[TASKS + 1];
    struct svmx_command commands[5];
};

static enum svmx_status try_memory(uint32_t device, uint32_t kind, uint32_t usage, uint64_t bytes,
                                   struct svmx_memory **made, void **address) {
    const struct svmx_memory_desc desc = {sizeof desc, kind, usage, bytes, NULL};
    *address = NULL;
    return CALL(memory_alloc, device, &desc, made, address);
}

static void *memory(uint32_t device, uint32_t kind, uint32_t usage, struct svmx_memory **made) {
    void *address;
    cr_assert_eq(try_memory(device, kind, usage, BYTES, made, &address), SVMX_OK, "%s", log_lines);
    return address;
}

static enum svmx_status build(uint32_t device, const struct svmx_op_desc *op, struct svmx_pipeline **pipeline) {
    const struct svmx_pipeline_desc desc = {.size = sizeof desc, .op = op, .bucket = 512};
    return CALL(pipeline_build, device, &desc, pipeline);
}

static struct svmx_command copy(uint32_t kind, struct svmx_memory *source, struct svmx_memory *target) {
    return (struct svmx_command){.kind = kind, .as.copy = {{source, 0, BYTES}, {target, 0, BYTES}}};
}

/* Inputs from IN on, a and b of a task ALIGN apart. */
static void job_fill(struct job *job) {
    for (uint32_t t = 0; t < TASKS; t++) {
        const uint64_t bytes = N * sizeof(float), a = IN + 2 * t * ALIGN, b = a + ALIGN;
        job->slots[3 * t] = (struct svmx_slot){(uint64_t)t * ALIGN, bytes};
        job->slots[3 * t + 1] = (struct svmx_slot){a, bytes};
        job->slots[3 * t + 2] = (struct svmx_slot){b, bytes};
        job->first_unit[t + 1] = job->first_unit[t] + N;
        for (uint32_t i = 0; i < N; i++) {
            job->in_host[a / 4 + i] = (float)(t * N + i);
            job->in_host[b / 4 + i] = 0.5f;
        }
    }
    memset(job->out_host, 0, BYTES);
}

static void job_make(struct job *job, uint32_t device) {
    *job = (struct job){0};
    job->in_host =
        memory(device, SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_WRITE | SVMX_USAGE_COPY_SOURCE, &job->staging_in);
    job->out_host =
        memory(device, SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_READ | SVMX_USAGE_COPY_TARGET, &job->staging_out);
    cr_assert_null(memory(device, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_READ | SVMX_USAGE_COPY_TARGET, &job->inputs));
    cr_assert_null(memory(device, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_WRITE | SVMX_USAGE_COPY_SOURCE, &job->outputs));
    cr_assert_eq(build(device, &vec_add, &job->pipeline), SVMX_OK, "%s", log_lines);
    job_fill(job);
    job->commands[0] = copy(SVMX_COMMAND_COPY_IN, job->staging_in, job->inputs);
    job->commands[1].kind = SVMX_COMMAND_BARRIER;
    job->commands[2] = (struct svmx_command){.kind = SVMX_COMMAND_DISPATCH,
                                             .as.dispatch = {.pipeline = job->pipeline,
                                                             .slots = job->slots,
                                                             .first_unit = job->first_unit,
                                                             .task_count = TASKS,
                                                             .slot_count = 3,
                                                             .work = TASKS * N,
                                                             .inputs = {job->inputs, 0, BYTES},
                                                             .outputs = {job->outputs, 0, BYTES},
                                                             .table = {job->inputs, 0, 512}}};
    job->commands[3].kind = SVMX_COMMAND_BARRIER;
    job->commands[4] = copy(SVMX_COMMAND_COPY_OUT, job->outputs, job->staging_out);
}

static void job_free(struct job *job) {
    backend.ops->memory_free(backend.self, job->staging_in);
    backend.ops->memory_free(backend.self, job->staging_out);
    backend.ops->memory_free(backend.self, job->inputs);
    backend.ops->memory_free(backend.self, job->outputs);
    backend.ops->pipeline_free(backend.self, job->pipeline);
}

/* The commands are gone when it returns. */
static enum svmx_status job_submit(const struct job *job, uint32_t device, const uint64_t *after, uint64_t *ticket) {
    struct svmx_command *commands = malloc(sizeof job->commands);
    cr_assert(commands);
    memcpy(commands, job->commands, sizeof job->commands);
    const struct svmx_command_list list = {sizeof list, sizeof *commands, commands, 5};
    const struct svmx_submission submission = {
        .size = sizeof submission, .device = device, .list = &list, .after = after, .after_count = after ? 1 : 0};
    const enum svmx_status status = CALL(submit, &submission, ticket);
    memset(commands, 0xee, sizeof job->commands);
    free(commands);
    return status;
}

static enum svmx_status ticket_wait(uint32_t device, uint64_t ticket, uint64_t timeout_ns, struct svmx_timing *timing) {
    *timing = (struct svmx_timing){.size = sizeof *timing};
    return CALL(wait, device, ticket, timeout_ns, timing);
}

static uint32_t wrong_results(const struct job *job) {
    uint32_t wrong = 0;
    for (uint32_t t = 0; t < TASKS; t++)
        for (uint32_t i = 0; i < N; i++) wrong += job->out_host[t * ALIGN / 4 + i] != (float)(t * N + i) + 0.5f;
    return wrong;
}

static const uint64_t long_ns = UINT64_C(60000) * MS;

/* ---- devices ---------------------------------------------------------------------------------------------- */

Test(sim_plugin, offers_every_shipped_model_labelled_as_modelled) {
    cr_assert_eq(svmx_plugin.flags, SVMX_PLUGIN_ON_REQUEST);
    cr_assert_eq(try_open(), SVMX_OK, "%s", log_lines);
    uint32_t count = 0;
    for (const char *name; (name = sim_model_builtin_name(count)); count++) {
        struct svmx_device_info info = {.size = sizeof info};
        cr_assert_eq(CALL(device_info, count, &info), SVMX_OK);
        cr_expect_str_eq(info.name, name);
        cr_expect_eq(info.kind, SVMX_DEVICE_MODEL);
        cr_expect(info.flags & SVMX_DEVICE_TEST);
        const bool shares = (info.flags & SVMX_DEVICE_SHARES_MEMORY) != 0;
        cr_expect_eq(shares, strcmp(name, "integrated") == 0);
    }
    struct svmx_device_info info = {.size = sizeof info};
    cr_expect_eq(CALL(device_info, count, &info), SVMX_ERR_UNKNOWN);
    close_all();
}

static void driver_of(uint32_t device, char driver[64]) {
    struct svmx_device_info info = {.size = sizeof info};
    cr_assert_eq(CALL(device_info, device, &info), SVMX_OK);
    memcpy(driver, info.driver, 64);
}

Test(sim_plugin, a_file_is_one_more_device_and_another_text_another_driver) {
    char before[64], after[64], text[1024];
    driver_of(open_with(hasty, "hasty"), before);
    close_all();
    (void)snprintf(text, sizeof text, "%stask 1 ns\n", hasty);
    driver_of(open_with(text, "hasty"), after);
    cr_expect_str_neq(before, after);
    close_all();
}

static void expect_refused(const char *reason) {
    cr_expect_eq(try_open(), SVMX_ERR_ARGUMENT);
    cr_expect(said(reason), "%s", log_lines);
    cr_expect_eq(allocations_alive, 0);
    host_unmake(NULL, host);
}

Test(sim_plugin, a_file_that_is_no_model_is_an_error_that_says_why) {
    model_file("name x\nmemory sometimes\n");
    expect_refused("line 2: memory is neither: write shared or separate");
    model_file("name integrated\nmemory shared\ncreate 0 ns\ndispatch 0 ns\n" REST);
    expect_refused("a model named integrated is shipped");
    cr_assert_eq(setenv("SUPERVM_SIM_MODEL", "mine.model", 1), 0);
    expect_refused("give an absolute path");
    static const char *const unreadable[] = {"nothing-here", "."};
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(setenv("SUPERVM_SIM_MODEL", in_folder(unreadable[i]), 1), 0);
        cr_expect_eq(try_open(), SVMX_ERR_SYSTEM);
        cr_expect(said("cannot be read"), "%s", log_lines);
        host_unmake(NULL, host);
    }
}

/* ---- memory and pipelines --------------------------------------------------------------------------------- */

Test(sim_plugin, memory_is_separate_unless_the_model_shares_it) {
    const uint32_t separate = open_with(patient, "patient"), shared = device_named("integrated");
    struct svmx_memory *made = NULL;
    void *address;
    cr_expect_eq(try_memory(separate, SVMX_MEMORY_STAGING, SVMX_USAGE_KERNEL_READ, 64, &made, &address),
                 SVMX_ERR_UNSUPPORTED);
    cr_expect_eq(try_memory(separate, SVMX_MEMORY_DEVICE, SVMX_USAGE_HOST_READ, 64, &made, &address),
                 SVMX_ERR_UNSUPPORTED);
    cr_expect_eq(try_memory(separate, SVMX_MEMORY_IMPORT, SVMX_USAGE_COPY_SOURCE, 64, &made, &address),
                 SVMX_ERR_UNSUPPORTED);
    cr_expect_eq(try_memory(separate, 99, SVMX_USAGE_COPY_SOURCE, 64, &made, &address), SVMX_ERR_UNSUPPORTED);
    cr_expect_eq(try_memory(separate, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_READ, 0, &made, &address),
                 SVMX_ERR_ARGUMENT);
    cr_expect_eq(try_memory(separate, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_READ, UINT64_MAX, &made, &address),
                 SVMX_ERR_MEMORY);
    cr_expect_eq(try_memory(99, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_READ, 64, &made, &address), SVMX_ERR_UNKNOWN);
    cr_expect_null(made, "outputs are set on success only");
    cr_expect_eq(
        try_memory(shared, SVMX_MEMORY_STAGING, SVMX_USAGE_KERNEL_READ | SVMX_USAGE_HOST_WRITE, 64, &made, &address),
        SVMX_OK);
    cr_expect_not_null(address);
    backend.ops->memory_free(backend.self, made);
    close_all();
}

Test(sim_plugin, pipelines_are_made_of_known_operations_and_take_as_long_as_modelled) {
    const uint32_t device = open_with(patient, "patient");
    struct svmx_op_desc unknown = vec_add;
    struct svmx_pipeline *pipeline = NULL;
    unknown.name = "no_such_operation";
    cr_expect_eq(build(device, &unknown, &pipeline), SVMX_ERR_UNSUPPORTED);
    cr_expect_eq(build(99, &vec_add, &pipeline), SVMX_ERR_UNKNOWN);
    const struct svmx_pipeline_desc second = {.size = sizeof second, .op = &vec_add, .bucket = 512, .variant = 1};
    cr_expect_eq(CALL(pipeline_build, device, &second, &pipeline), SVMX_ERR_UNKNOWN);
    cr_expect_null(pipeline);
    const uint64_t start = host_now(host);
    cr_assert_eq(build(device, &vec_add, &pipeline), SVMX_OK);
    cr_expect_geq(host_now(host) - start, 3u * MS, "made before the model would have been done");
    backend.ops->pipeline_free(backend.self, pipeline);
    close_all();
}

/* ---- launches --------------------------------------------------------------------------------------------- */

Test(sim_plugin, a_launch_is_right_and_over_no_earlier_than_modelled) {
    const uint32_t device = open_with(patient, "patient");
    struct job job;
    struct svmx_timing timing;
    uint64_t ticket = 0;
    job_make(&job, device);
    const uint64_t start = host_now(host);
    cr_assert_eq(job_submit(&job, device, NULL, &ticket), SVMX_OK, "%s", log_lines);
    cr_assert_neq(ticket, 0);
    cr_expect_eq(ticket_wait(device, ticket, 0, &timing), SVMX_TIMEOUT);
    cr_expect_eq(ticket_wait(device, ticket, MS, &timing), SVMX_TIMEOUT);
    cr_assert_eq(ticket_wait(device, ticket, long_ns, &timing), SVMX_OK, "%s", log_lines);
    cr_expect_geq(host_now(host) - start, 250u * MS);
    cr_expect_eq(wrong_results(&job), 0);
    cr_expect_eq(timing.copy_in_ns, 40u * MS + BYTES, "%zu", (size_t)timing.copy_in_ns);
    cr_expect_eq(timing.compute_ns, 150u * MS, "%zu", (size_t)timing.compute_ns);
    cr_expect_eq(timing.copy_out_ns, 60u * MS + BYTES / 2, "%zu", (size_t)timing.copy_out_ns);
    cr_expect_eq(ticket_wait(device, ticket, 0, &timing), SVMX_ERR_UNKNOWN, "a ticket answers once");
    job_free(&job);
    close_all();
}

Test(sim_plugin, launches_of_one_device_follow_each_other) {
    const uint32_t device = open_with(patient, "patient");
    struct job jobs[2];
    struct svmx_timing timing;
    uint64_t tickets[2] = {0, 0};
    for (int i = 0; i < 2; i++) job_make(&jobs[i], device);
    const uint64_t start = host_now(host);
    for (int i = 0; i < 2; i++) cr_assert_eq(job_submit(&jobs[i], device, NULL, &tickets[i]), SVMX_OK);
    cr_expect_neq(tickets[0], tickets[1]);
    cr_expect_eq(ticket_wait(device, tickets[1], long_ns, &timing), SVMX_OK);
    cr_expect_geq(host_now(host) - start, 500u * MS, "two at a time on a device that does one");
    cr_expect_eq(ticket_wait(device, tickets[0], 0, &timing), SVMX_OK, "the earlier one was not over before");
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(wrong_results(&jobs[i]), 0);
        job_free(&jobs[i]);
    }
    close_all();
}

/* Copying in and out for one while the other computes: 40 + 150 + 150 + 60 ms. tests/unit/test_sim_model.c has how much less
 * that is than one after the other. */
Test(sim_plugin, copy_engines_keep_order_and_results) {
    char text[1024];
    (void)snprintf(text, sizeof text, "%scopy_engines 2\n", patient);
    const uint32_t device = open_with(text, "patient");
    struct job jobs[2];
    struct svmx_timing timing;
    uint64_t tickets[2] = {0, 0};
    for (int i = 0; i < 2; i++) job_make(&jobs[i], device);
    const uint64_t start = host_now(host);
    for (int i = 0; i < 2; i++) cr_assert_eq(job_submit(&jobs[i], device, NULL, &tickets[i]), SVMX_OK);
    cr_expect_eq(ticket_wait(device, tickets[1], long_ns, &timing), SVMX_OK);
    cr_expect_geq(host_now(host) - start, 400u * MS, "two computed at a time");
    cr_expect_eq(timing.compute_ns, 150u * MS);
    cr_expect_eq(ticket_wait(device, tickets[0], 0, &timing), SVMX_OK, "the earlier one was not over before");
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(wrong_results(&jobs[i]), 0);
        job_free(&jobs[i]);
    }
    close_all();
}

Test(sim_plugin, a_launch_waits_for_the_ticket_of_another_device) {
    const uint32_t slow = open_with(patient, "patient"), quick = device_named("pcie4-discrete");
    struct job first, second;
    struct svmx_timing timing;
    uint64_t ticket = 0, later = 0;
    job_make(&first, slow);
    job_make(&second, quick);
    cr_assert_eq(job_submit(&first, slow, NULL, &ticket), SVMX_OK);
    cr_assert_eq(job_submit(&second, quick, &ticket, &later), SVMX_OK);
    cr_expect_eq(ticket_wait(quick, ticket, 0, &timing), SVMX_ERR_UNKNOWN, "a ticket of another device");
    cr_expect_eq(ticket_wait(quick, later, long_ns, &timing), SVMX_OK);
    cr_expect_eq(ticket_wait(slow, ticket, 0, &timing), SVMX_OK, "what it waited for was not over");
    cr_expect_eq(wrong_results(&first) + wrong_results(&second), 0);
    job_free(&first);
    job_free(&second);
    close_all();
}

Test(sim_plugin, a_launch_that_takes_longer_than_modelled_reports_real_times) {
    const uint32_t device = open_with(hasty, "hasty");
    struct job job;
    struct svmx_timing timing;
    uint64_t ticket;
    job_make(&job, device);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(job_submit(&job, device, NULL, &ticket), SVMX_OK);
        cr_assert_eq(ticket_wait(device, ticket, long_ns, &timing), SVMX_OK);
        cr_expect_gt(timing.copy_in_ns + timing.compute_ns + timing.copy_out_ns, 0, "the model says 0");
    }
    const char *line = strstr(log_lines, "warn:hasty: a launch was computed");
    cr_expect(line, "%s", log_lines);
    cr_expect(line && !strstr(line + strlen("warn:hasty: a launch was computed"), "a launch was computed"),
              "said more than once");
    cr_expect_eq(wrong_results(&job), 0);
    job_free(&job);
    close_all();
}

/* A command changed: submit must refuse, and nothing have started. */
#define REFUSES(change, status, reason)                                                                                \
    do {                                                                                                               \
        struct job changed_ = job;                                                                                     \
        struct job *j = &changed_;                                                                                     \
        change;                                                                                                        \
        log_lines[0] = '\0';                                                                                           \
        cr_expect_eq(job_submit(j, device, NULL, &ticket), status, "%s", #change);                                     \
        cr_expect(said(reason), "%s: %s", #change, log_lines);                                                         \
        cr_expect_eq(ticket, 0);                                                                                       \
    } while (0)

Test(sim_plugin, a_list_that_breaks_a_rule_is_refused) {
    const uint32_t device = open_with(hasty, "hasty");
    struct job job;
    uint64_t ticket = 0;
    job_make(&job, device);
    REFUSES(j->commands[0].kind = 77, SVMX_ERR_ARGUMENT, "command 0: a command of a kind");
    REFUSES(j->commands[0].as.copy.source.bytes++, SVMX_ERR_ARGUMENT, "a copy outside of its memory");
    REFUSES(j->commands[0].as.copy.source.bytes--, SVMX_ERR_ARGUMENT, "a copy of two sizes");
    REFUSES(j->commands[4].as.copy.target.memory = NULL, SVMX_ERR_ARGUMENT, "command 4: a copy outside");
    REFUSES(j->commands[2].as.dispatch.pipeline = NULL, SVMX_ERR_ARGUMENT, "a pipeline of another device");
    REFUSES(j->commands[2].as.dispatch.slot_count = 2, SVMX_ERR_ARGUMENT, "slots of another operation");
    REFUSES(j->commands[2].as.dispatch.table.offset = BYTES, SVMX_ERR_ARGUMENT, "a table outside");
    REFUSES(j->commands[2].as.dispatch.outputs.offset = 1, SVMX_ERR_ARGUMENT, "a dispatch outside");
    struct svmx_slot slots[TASKS * 3];
    memcpy(slots, job.slots, sizeof slots);
    slots[4].at = UINT64_MAX;
    REFUSES(j->commands[2].as.dispatch.slots = slots, SVMX_ERR_ARGUMENT, "a slot outside");
    const struct svmx_submission recorded = {.size = sizeof recorded, .device = device};
    cr_expect_eq(CALL(submit, &recorded, &ticket), SVMX_ERR_UNSUPPORTED);
    const struct svmx_submission nowhere = {.size = sizeof nowhere, .device = 99};
    cr_expect_eq(CALL(submit, &nowhere, &ticket), SVMX_ERR_UNKNOWN);
    job_free(&job);
    close_all();
}

/* ---- several of a model ----------------------------------------------------------------------------------- */

static const char several[] = "name several\nmemory separate 20 KiB\ncreate 0 ns\nupload 0 ns\ndispatch 1 ms\n"
                              "readback 0 ns\nupload_rate 1 GB/s\nreadback_rate 2 GB/s\ndevices 3\nbus shared\n"
                              "at launch 2 lost 1\n" REST;

Test(sim_plugin, a_model_may_be_of_several_devices_each_at_its_place) {
    const uint32_t first = open_with(several, "several");
    char places[3][16];
    for (uint32_t i = 0; i < 3; i++) {
        struct svmx_device_info info = {.size = sizeof info};
        cr_assert_eq(CALL(device_info, first + i, &info), SVMX_OK);
        cr_expect_str_eq(info.name, "several");
        cr_expect_eq(info.memory_bytes, 20480);
        cr_expect_eq(info.max_alloc_bytes, 20480);
        memcpy(places[i], info.pci, sizeof places[i]);
        for (uint32_t k = 0; k < i; k++) cr_expect_str_neq(places[i], places[k]);
    }
    struct job job;
    uint64_t ticket;
    struct svmx_timing timing;
    job_make(&job, first + 2);
    cr_assert_eq(job_submit(&job, first + 2, NULL, &ticket), SVMX_OK, "%s", log_lines);
    cr_assert_eq(ticket_wait(first + 2, ticket, long_ns, &timing), SVMX_OK);
    cr_expect_eq(wrong_results(&job), 0);
    job_free(&job);
    close_all();
}

Test(sim_plugin, memory_has_the_limit_that_the_model_says) {
    const uint32_t first = open_with(several, "several");
    struct svmx_memory *a, *b, *c, *staged;
    void *address;
    const uint32_t use = SVMX_USAGE_KERNEL_READ | SVMX_USAGE_COPY_TARGET;
    cr_assert_eq(try_memory(first, SVMX_MEMORY_DEVICE, use, 12288, &a, &address), SVMX_OK);
    cr_expect_eq(try_memory(first, SVMX_MEMORY_DEVICE, use, 12288, &b, &address), SVMX_ERR_MEMORY);
    cr_assert_eq(try_memory(first + 1, SVMX_MEMORY_DEVICE, use, 12288, &b, &address), SVMX_OK, "another has its own");
    cr_assert_eq(try_memory(first, SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_WRITE | SVMX_USAGE_COPY_SOURCE, 1 << 20,
                            &staged, &address),
                 SVMX_OK, "that is the host's");
    backend.ops->memory_free(backend.self, a);
    cr_assert_eq(try_memory(first, SVMX_MEMORY_DEVICE, use, 20480, &c, &address), SVMX_OK, "it was given back");
    backend.ops->memory_free(backend.self, b);
    backend.ops->memory_free(backend.self, c);
    backend.ops->memory_free(backend.self, staged);
    close_all();
}

Test(sim_plugin, one_is_lost_when_the_model_says_so_with_what_is_under_way) {
    const uint32_t first = open_with(several, "several");
    struct job job, other;
    uint64_t tickets[3];
    struct svmx_timing timing;
    job_make(&job, first + 1);
    job_make(&other, first);
    cr_assert_eq(job_submit(&job, first + 1, NULL, &tickets[0]), SVMX_OK);
    cr_assert_eq(ticket_wait(first + 1, tickets[0], long_ns, &timing), SVMX_OK, "launch 0");
    cr_assert_eq(job_submit(&job, first + 1, NULL, &tickets[1]), SVMX_OK, "launch 1");
    cr_expect_eq(job_submit(&job, first + 1, NULL, &tickets[2]), SVMX_ERR_DEVICE_LOST, "launch 2");
    cr_expect_eq(ticket_wait(first + 1, tickets[1], long_ns, &timing), SVMX_ERR_DEVICE_LOST);
    cr_expect_eq(job_submit(&job, first + 1, NULL, &tickets[2]), SVMX_ERR_DEVICE_LOST);
    cr_assert_eq(job_submit(&other, first, NULL, &tickets[0]), SVMX_OK, "the others are not");
    cr_assert_eq(ticket_wait(first, tickets[0], long_ns, &timing), SVMX_OK);
    job_free(&job);
    job_free(&other);
    close_all();
}

/* ---- by an executor --------------------------------------------------------------------------------------- */

static svmx_executor_t *open_executor(const char *backends) {
    const char *path = getenv("SVMX_TEST_BACKEND_PATH");
    if (!path) cr_skip_test("SVMX_TEST_BACKEND_PATH does not say where backends are");
    const struct svmx_options options = {
        .size = sizeof options, .backends = backends, .backend_path = path, .log_level = SVMX_LOG_ERROR};
    struct svmx_error error = {SVMX_OK, ""};
    svmx_executor_t *executor = NULL;
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s: %s", backends, error.text);
    return executor;
}

/* One vector add; the receipt of it. */
static struct svmx_receipt run_add(svmx_executor_t *executor) {
    static float a[1000], b[1000], out[1000];
    struct svmx_receipt receipt = {.size = sizeof receipt};
    svmx_batch_t *batch;
    for (int i = 0; i < 1000; i++) a[i] = (float)i, b[i] = 0.25f, out[i] = -1;
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, 1000), svmx_in(SVMX_F32, a, 1000),
                                    svmx_in(SVMX_F32, b, 1000)};
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    for (int i = 0; i < 1000; i++) cr_assert_eq(out[i], (float)i + 0.25f);
    svmx_batch_destroy(batch);
    return receipt;
}

Test(sim_executor, every_shipped_model_serves_by_its_name) {
    const char *name;
    for (uint32_t i = 0; (name = sim_model_builtin_name(i)); i++) {
        char backends[80];
        struct svmx_device device = {.size = sizeof device};
        (void)snprintf(backends, sizeof backends, "+sim:%s,stop", name);
        svmx_executor_t *executor = open_executor(backends);
        cr_assert_eq(svmx_device_count(executor), 2, "%s and the reference code", name);
        cr_assert_eq(svmx_device_get(executor, 0, &device), SVMX_OK);
        cr_expect_str_eq(device.name, name);
        cr_expect_eq(device.kind, SVMX_DEVICE_MODEL);
        cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, 1000), SVMX_OK);
        const struct svmx_receipt receipt = run_add(executor);
        cr_expect_eq(receipt.device, 0, "%s did not answer: %s", name, receipt.reason);
        cr_expect_eq(receipt.redone, 0);
        svmx_close(executor);
    }
}

Test(sim_executor, a_model_of_a_file_keeps_its_time) {
    model_file(patient);
    svmx_executor_t *executor = open_executor("+sim:patient,stop");
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, 1000), SVMX_OK);
    const struct svmx_receipt receipt = run_add(executor);
    cr_expect_eq(receipt.device, 0, "%s", receipt.reason);
    cr_expect_geq(receipt.run_ns, 250u * MS, "%zu", (size_t)receipt.run_ns);
    svmx_close(executor);
}
