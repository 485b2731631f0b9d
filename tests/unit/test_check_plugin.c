/*
 * test_check_plugin.c: the plugins that other suites lean on do what they promise: `check` notices every broken rule and
 * fails where it is told to, the plugin of the first ABI and the template compute. Driven by hand, without an executor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plugin/loader.h"
#include "plugin_fixture.h"

#include <pthread.h>

TestSuite(check_plugin, .init = folder_make, .fini = folder_remove);

static const struct svmx_host *host;
static struct svmx_backend backend;
#define CALL(function, ...) backend.ops->function(backend.self, __VA_ARGS__)

/* Loads a plugin and opens an instance. */
static enum svmx_status try_open(const char *name, const char *select) {
    struct svmx__findings findings;
    struct svmx__inspected inspected;
    const struct svmx_plugin *plugin;
    struct svmx__text why = {""};
    char file[64];
    (void)snprintf(file, sizeof file, "%s.so", name);
    if (access(in_folder(file), F_OK) != 0) module_copy(name, NULL); /* what is loaded must not be written again */
    cr_assert_eq(svmx__loader_scan(&findings, folder, &test_log, &why), SVMX_OK, "%s", why.line);
    cr_assert_eq(svmx__loader_inspect(&findings.files[0], &inspected, &why), SVMX_OK, "%s", why.line);
    cr_assert_eq(svmx__loader_load(&findings.files[0], &inspected, &plugin, &why), SVMX_OK, "%s", why.line);
    svmx__loader_findings_free(&findings);
    host = host_make(NULL, name, select);
    return plugin->open(host, &backend);
}

static void plugin_open(const char *name, const char *select) {
    cr_assert_eq(try_open(name, select), SVMX_OK, "%s", log_lines);
}

static void plugin_close(void) {
    backend.ops->close(backend.self);
    cr_expect_eq(allocations_alive, 0, "%d allocations of the host are left", allocations_alive);
    host_unmake(NULL, host);
}

static bool said(const char *text) { return strstr(log_lines, text) != NULL; }

/* ---- a batch of vec_add_f32, as the core would stage it ---- */

enum { N = 100, TASKS = 3, IN = 4096, OUT = 4096, ALIGN = 512 };

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
    struct svmx_command commands[8];
    size_t count;
};

static void *memory(uint32_t device, uint32_t kind, uint32_t usage, struct svmx_memory **made) {
    void *address = NULL;
    struct svmx_memory_desc desc = {sizeof desc, kind, usage, 8192, NULL};
    cr_assert_eq(CALL(memory_alloc, device, &desc, made, &address), SVMX_OK, "%s", log_lines);
    return address;
}

static enum svmx_status build(uint32_t device, const struct svmx_op_desc *op, struct svmx_pipeline **pipeline) {
    struct svmx_pipeline_desc desc = {.size = sizeof desc, .op = op, .bucket = 512};
    return CALL(pipeline_build, device, &desc, pipeline);
}

static struct svmx_command copy(uint32_t kind, struct svmx_memory *source, struct svmx_memory *target) {
    return (struct svmx_command){.kind = kind, .as.copy = {{source, 0, 8192}, {target, 0, 8192}}};
}

/* Table at 0, inputs from 4096 on, a and b of a task 512 apart. */
static void job_make(struct job *job, uint32_t device) {
    *job = (struct job){.count = 5};
    job->in_host =
        memory(device, SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_WRITE | SVMX_USAGE_COPY_SOURCE, &job->staging_in);
    job->out_host =
        memory(device, SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_READ | SVMX_USAGE_COPY_TARGET, &job->staging_out);
    cr_assert_null(memory(device, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_READ | SVMX_USAGE_COPY_TARGET, &job->inputs));
    cr_assert_null(memory(device, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_WRITE | SVMX_USAGE_COPY_SOURCE, &job->outputs));
    cr_assert_eq(build(device, &vec_add, &job->pipeline), SVMX_OK, "%s", log_lines);
    for (uint32_t t = 0; t < TASKS; t++) {
        uint64_t bytes = N * sizeof(float), a = IN + 2 * t * ALIGN, b = a + ALIGN;
        job->slots[3 * t] = (struct svmx_slot){(uint64_t)t * ALIGN, bytes};
        job->slots[3 * t + 1] = (struct svmx_slot){a, bytes};
        job->slots[3 * t + 2] = (struct svmx_slot){b, bytes};
        job->first_unit[t + 1] = job->first_unit[t] + N;
        for (uint32_t i = 0; i < N; i++) {
            job->in_host[a / 4 + i] = (float)(t * N + i);
            job->in_host[b / 4 + i] = 0.5f;
        }
    }
    memcpy(job->in_host, job->slots, sizeof job->slots);
    memcpy((char *)job->in_host + sizeof job->slots, job->first_unit, sizeof job->first_unit);
    uint64_t table = sizeof job->slots + sizeof job->first_unit;
    job->commands[0] = copy(SVMX_COMMAND_COPY_IN, job->staging_in, job->inputs);
    job->commands[1].kind = SVMX_COMMAND_BARRIER;
    job->commands[2] = (struct svmx_command){.kind = SVMX_COMMAND_DISPATCH,
                                             .as.dispatch = {.pipeline = job->pipeline,
                                                             .slots = job->slots,
                                                             .first_unit = job->first_unit,
                                                             .task_count = TASKS,
                                                             .slot_count = 3,
                                                             .work = TASKS * N,
                                                             .inputs = {job->inputs, 0, 8192},
                                                             .outputs = {job->outputs, 0, 8192},
                                                             .table = {job->inputs, 0, table}}};
    job->commands[3].kind = SVMX_COMMAND_BARRIER;
    job->commands[4] = copy(SVMX_COMMAND_COPY_OUT, job->outputs, job->staging_out);
    memset(job->out_host, 0, 8192);
}

static void job_free(struct job *job) {
    backend.ops->memory_free(backend.self, job->staging_in);
    backend.ops->memory_free(backend.self, job->staging_out);
    backend.ops->memory_free(backend.self, job->inputs);
    backend.ops->memory_free(backend.self, job->outputs);
    backend.ops->pipeline_free(backend.self, job->pipeline);
}

/* From a copy of the commands that is gone when it returns: the list may go, the arrays may not. */
static enum svmx_status job_submit(const struct job *job, uint32_t device, uint64_t *ticket) {
    struct svmx_command *commands = malloc(sizeof job->commands);
    cr_assert(commands);
    memcpy(commands, job->commands, sizeof job->commands);
    struct svmx_command_list list = {sizeof list, sizeof *commands, commands, job->count};
    struct svmx_submission submission = {.size = sizeof submission, .device = device, .list = &list};
    enum svmx_status status = CALL(submit, &submission, ticket);
    memset(commands, 0xee, sizeof job->commands);
    free(commands);
    return status;
}

static enum svmx_status ticket_wait(uint32_t device, uint64_t ticket, uint64_t timeout_ns) {
    struct svmx_timing timing = {.size = sizeof timing};
    return CALL(wait, device, ticket, timeout_ns, &timing);
}

static uint32_t wrong_results(const struct job *job) {
    uint32_t wrong = 0;
    for (uint32_t t = 0; t < TASKS; t++)
        for (uint32_t i = 0; i < N; i++) wrong += job->out_host[t * (ALIGN / 4) + i] != (float)(t * N + i) + 0.5f;
    return wrong;
}

static enum svmx_status job_run(const struct job *job, uint32_t device) {
    uint64_t ticket = 0;
    enum svmx_status status = job_submit(job, device, &ticket);
    if (status != SVMX_OK) return status;
    cr_assert_neq(ticket, 0);
    return ticket_wait(device, ticket, 2000000000);
}

/* ---- it computes ---- */

Test(check_plugin, computes_in_memory_of_its_own) {
    struct job job;
    struct svmx_device_info info = {.size = sizeof info};
    plugin_open("check", NULL);
    cr_assert_eq(CALL(device_info, 0, &info), SVMX_OK);
    cr_assert_eq(info.kind, SVMX_DEVICE_MODEL);
    cr_assert(info.flags & SVMX_DEVICE_TEST);
    cr_assert_not(info.flags & (SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_INLINE));
    cr_assert_eq(info.alignment, 256);
    cr_assert_eq(CALL(device_info, 1, &info), SVMX_ERR_UNKNOWN);
    job_make(&job, 0);
    for (int round = 0; round < 20; round++) {
        memset(job.out_host, 0, 8192);
        cr_assert_eq(job_run(&job, 0), SVMX_OK, "%s", log_lines);
        cr_assert_eq(wrong_results(&job), 0);
    }
    job_free(&job);
    plugin_close();
    cr_assert_str_eq(log_lines, "", "nothing to complain of");
}

Test(check_plugin, nothing_is_there_before_wait_and_the_first_poll_says_not_yet) {
    struct job job;
    uint64_t ticket;
    plugin_open("check", NULL);
    job_make(&job, 0);
    cr_assert_eq(job_submit(&job, 0, &ticket), SVMX_OK, "%s", log_lines);
    cr_assert_eq(wrong_results(&job), TASKS * N);
    cr_assert_eq(ticket_wait(0, ticket, 0), SVMX_TIMEOUT);
    cr_assert_eq(wrong_results(&job), TASKS * N);
    cr_assert_eq(ticket_wait(0, ticket, 0), SVMX_OK);
    cr_assert_eq(wrong_results(&job), 0);
    job_free(&job);
    plugin_close();
}

Test(check_plugin, operations_that_nobody_knows) {
    struct svmx_op_desc op = vec_add;
    struct svmx_pipeline *pipeline;
    op.name = "frobnicate";
    plugin_open("check", NULL);
    cr_assert_eq(build(0, &op, &pipeline), SVMX_ERR_UNSUPPORTED);
    plugin_close();
}

Test(check_plugin, fill_and_import) {
    struct svmx_memory *target;
    static _Alignas(4096) uint8_t page[4096];
    void *address;
    struct svmx_memory_desc desc = {sizeof desc, SVMX_MEMORY_IMPORT, SVMX_USAGE_HOST_READ | SVMX_USAGE_COPY_TARGET,
                                    sizeof page, page};
    struct job job = {.count = 1};
    plugin_open("check", NULL);
    cr_assert_eq(CALL(memory_alloc, 0, &desc, &target, &address), SVMX_OK, "%s", log_lines);
    cr_assert_eq(address, page);
    job.commands[0] = (struct svmx_command){.kind = SVMX_COMMAND_FILL, .as.fill = {{target, 16, 8}, 0x77}};
    cr_assert_eq(job_run(&job, 0), SVMX_OK, "%s", log_lines);
    cr_assert(page[15] == 0 && page[16] == 0x77 && page[23] == 0x77 && page[24] == 0);
    backend.ops->memory_free(backend.self, target);
    plugin_close();
}

/* ---- broken rules ---- */

/* Runs the job after `change` was applied: refused, with a line that has `text`. */
#define EXPECT_REFUSED(change, text)                                                                                   \
    do {                                                                                                               \
        struct job job;                                                                                                \
        plugin_open("check", NULL);                                                                                    \
        job_make(&job, 0);                                                                                             \
        struct svmx_dispatch *dispatch = &job.commands[2].as.dispatch;                                                 \
        (void)dispatch;                                                                                                \
        log_lines[0] = '\0';                                                                                           \
        change;                                                                                                        \
        cr_expect_eq(job_run(&job, 0), SVMX_ERR_BACKEND, #change);                                                     \
        cr_expect(said(text), "%s: %s", #change, log_lines);                                                           \
        job_free(&job);                                                                                                \
        plugin_close();                                                                                                \
    } while (0)

static void commands_drop(struct job *job, size_t index) {
    job->count--;
    memmove(&job->commands[index], &job->commands[index + 1], (job->count - index) * sizeof job->commands[0]);
}

Test(check_plugin, missing_barriers) {
    EXPECT_REFUSED(commands_drop(&job, 1), "a barrier is missing");
    EXPECT_REFUSED(commands_drop(&job, 3), "a barrier is missing");
    EXPECT_REFUSED((commands_drop(&job, 3), commands_drop(&job, 1)), "a barrier is missing");
}

Test(check_plugin, outputs_that_overlap) { EXPECT_REFUSED(job.slots[3].at = 256, "written and touched by others"); }

Test(check_plugin, spans_outside_of_their_memory) {
    EXPECT_REFUSED(job.commands[0].as.copy.source.offset = 1, "copy source: [1, +8192) of 8192 bytes");
    EXPECT_REFUSED(job.commands[0].as.copy.target.offset = UINT64_MAX, "copy target");
    EXPECT_REFUSED(job.commands[4].as.copy.target.bytes = 8193, "copy target");
    EXPECT_REFUSED(job.commands[4].as.copy.target.bytes = 8191, "unequal lengths");
    EXPECT_REFUSED(dispatch->inputs.bytes = 8193, "inputs");
    EXPECT_REFUSED(dispatch->outputs.memory = NULL, "outputs: bytes without memory");
    EXPECT_REFUSED(dispatch->table.bytes = 8, "the table is too short");
}

Test(check_plugin, memory_used_for_what_it_was_not_made_for) {
    EXPECT_REFUSED(job.commands[0] = copy(SVMX_COMMAND_COPY_IN, job.staging_out, job.inputs), "usage");
    EXPECT_REFUSED(dispatch->inputs.memory = job.outputs, "inputs: usage");
    EXPECT_REFUSED(dispatch->outputs.memory = job.inputs, "outputs: usage");
    EXPECT_REFUSED(job.commands[0] = copy(SVMX_COMMAND_COPY_IN, job.outputs, job.inputs), "host side is device memory");
}

Test(check_plugin, slots_and_units) {
    EXPECT_REFUSED(job.slots[1].at += 4, "not aligned");
    EXPECT_REFUSED(job.slots[1].at = 8192 - 256, "outside of its binding");
    EXPECT_REFUSED(dispatch->inputs.offset = IN + ALIGN, "inputs"); /* beyond the end */
    EXPECT_REFUSED((dispatch->inputs.offset = IN + ALIGN, dispatch->inputs.bytes = ALIGN), "outside of its binding");
    EXPECT_REFUSED(dispatch->slot_count = 2, "2 slots for vec_add_f32");
    EXPECT_REFUSED(job.first_unit[0] = 1, "does not begin at 0");
    EXPECT_REFUSED(job.first_unit[2] = 1, "falls at task 1");
    EXPECT_REFUSED(dispatch->pipeline = NULL, "without a pipeline");
    EXPECT_REFUSED(job.commands[1].kind = 9, "a command of kind 9");
    EXPECT_REFUSED(job.in_host[0] = 1, "the table of a dispatch is not what its host arrays say");
}

Test(check_plugin, tickets_are_answered_once) {
    struct job job;
    uint64_t ticket;
    plugin_open("check", NULL);
    job_make(&job, 0);
    cr_assert_eq(job_submit(&job, 0, &ticket), SVMX_OK);
    cr_assert_eq(ticket_wait(0, ticket, UINT64_MAX), SVMX_OK);
    cr_assert_eq(ticket_wait(0, ticket, 0), SVMX_ERR_BACKEND);
    cr_assert(said("is not open"));
    job_free(&job);
    plugin_close();
}

static void *submit_beside(void *job) {
    uint64_t ticket;
    return job_submit(job, 0, &ticket) == SVMX_ERR_BACKEND ? job : NULL;
}

Test(check_plugin, one_submitter_thread_a_device) {
    struct job job;
    pthread_t thread;
    void *refused;
    plugin_open("check", NULL);
    job_make(&job, 0);
    cr_assert_eq(job_run(&job, 0), SVMX_OK);
    cr_assert_eq(pthread_create(&thread, NULL, submit_beside, &job), 0);
    cr_assert_eq(pthread_join(thread, &refused), 0);
    cr_assert_eq(refused, &job);
    cr_assert(said("submit from a second thread"), "%s", log_lines);
    job_free(&job);
    plugin_close();
}

Test(check_plugin, too_many_in_flight) {
    struct job job;
    uint64_t tickets[9];
    plugin_open("check", NULL);
    job_make(&job, 0);
    for (int i = 0; i < 8; i++) cr_assert_eq(job_submit(&job, 0, &tickets[i]), SVMX_OK);
    cr_assert_eq(job_submit(&job, 0, &tickets[8]), SVMX_ERR_BACKEND);
    for (int i = 7; i >= 0; i--) cr_assert_eq(ticket_wait(0, tickets[i], 1000000000), SVMX_OK, "in any order");
    job_free(&job);
    plugin_close();
}

Test(check_plugin, leaks_are_reported) {
    static struct job job; /* for the leak checker: what leaks here is meant to */
    uint64_t ticket;
    plugin_open("check", NULL);
    job_make(&job, 0);
    cr_assert_eq(job_submit(&job, 0, &ticket), SVMX_OK);
    backend.ops->close(backend.self);
    cr_assert(said("error:check: leak: check 0 plain: 4 memories"), "%s", log_lines);
    cr_assert(said("error:check: leak: check 0 plain: 1 pipelines"), "%s", log_lines);
    cr_assert(said("error:check: leak: check 0 plain: ticket 1"), "%s", log_lines);
    host_unmake(NULL, host);
}

Test(check_plugin, canaries) {
    struct job job;
    plugin_open("check", NULL);
    job_make(&job, 0);
    ((uint8_t *)job.in_host)[8192] ^= 1;
    job_free(&job);
    cr_assert(said("canary of a memory of 8192 bytes is dead"), "%s", log_lines);
    plugin_close();
}

Test(check_plugin, memory_is_limited) {
    struct svmx_memory *made;
    void *address;
    struct svmx_memory_desc desc = {sizeof desc, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_READ, (64 << 20) + 1, NULL};
    plugin_open("check", NULL);
    cr_assert_eq(CALL(memory_alloc, 0, &desc, &made, &address), SVMX_ERR_MEMORY);
    desc.bytes = 0;
    cr_assert_eq(CALL(memory_alloc, 0, &desc, &made, &address), SVMX_ERR_BACKEND);
    plugin_close();
}

/* ---- scripted faults ---- */

Test(check_plugin, fails_at_the_call_it_is_told_to) {
    struct job job;
    struct svmx_pipeline *pipeline;
    plugin_open("check", "submit@2=backend;wait@3=lost");
    job_make(&job, 0);
    cr_assert_eq(job_run(&job, 0), SVMX_OK);
    cr_assert_eq(job_run(&job, 0), SVMX_ERR_BACKEND);
    cr_assert_eq(job_run(&job, 0), SVMX_ERR_DEVICE_LOST);
    cr_assert_eq(job_run(&job, 0), SVMX_ERR_DEVICE_LOST, "lost for good");
    cr_assert_eq(build(0, &vec_add, &pipeline), SVMX_ERR_DEVICE_LOST);
    job_free(&job);
    plugin_close();
}

Test(check_plugin, memory_and_pipelines_fail_as_told) {
    struct svmx_memory *made;
    struct svmx_pipeline *pipeline;
    struct svmx_device_info info = {.size = sizeof info};
    void *address;
    struct svmx_memory_desc desc = {sizeof desc, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_READ, 64, NULL};
    plugin_open("check", "memory_alloc@1=memory;pipeline_build@all=backend");
    cr_assert_eq(CALL(memory_alloc, 0, &desc, &made, &address), SVMX_ERR_MEMORY);
    cr_assert_eq(CALL(memory_alloc, 0, &desc, &made, &address), SVMX_OK);
    backend.ops->memory_free(backend.self, made);
    cr_assert_eq(build(0, &vec_add, &pipeline), SVMX_ERR_BACKEND);
    cr_assert_eq(build(0, &vec_add, &pipeline), SVMX_ERR_BACKEND);
    cr_assert_eq(CALL(device_info, 0, &info), SVMX_OK);
    plugin_close();
}

Test(check_plugin, a_bit_flips) {
    struct job job;
    plugin_open("check", "dispatch@2=bitflip");
    job_make(&job, 0);
    cr_assert_eq(job_run(&job, 0), SVMX_OK);
    cr_assert_eq(wrong_results(&job), 0);
    cr_assert_eq(job_run(&job, 0), SVMX_OK);
    cr_assert_eq(wrong_results(&job), 1);
    cr_assert_eq(job_run(&job, 0), SVMX_OK);
    cr_assert_eq(wrong_results(&job), 0);
    job_free(&job);
    plugin_close();
}

Test(check_plugin, hangs_for_ever) {
    struct job job;
    uint64_t first, second;
    plugin_open("check", "wait@1=hang");
    job_make(&job, 0);
    cr_assert_eq(job_submit(&job, 0, &first), SVMX_OK);
    cr_assert_eq(job_submit(&job, 0, &second), SVMX_OK);
    for (int i = 0; i < 3; i++) cr_assert_eq(ticket_wait(0, first, 1000000), SVMX_TIMEOUT);
    cr_assert_eq(ticket_wait(0, second, 1000000), SVMX_TIMEOUT, "what comes after waits too");
    cr_assert_eq(wrong_results(&job), TASKS * N);
    job_free(&job);
    plugin_close();
    cr_assert(said("leak: check 0 wait@1=hang: ticket 1") && said("leak: check 0 wait@1=hang: ticket 2"));
}

Test(check_plugin, is_slow_and_then_right) {
    struct job job;
    uint64_t ticket;
    plugin_open("check", "submit@1=slow");
    job_make(&job, 0);
    cr_assert_eq(job_submit(&job, 0, &ticket), SVMX_OK);
    cr_assert_eq(ticket_wait(0, ticket, 1000), SVMX_TIMEOUT);
    cr_assert_eq(wrong_results(&job), TASKS * N);
    cr_assert_eq(ticket_wait(0, ticket, UINT64_MAX), SVMX_OK);
    cr_assert_eq(wrong_results(&job), 0);
    job_free(&job);
    plugin_close();
}

Test(check_plugin, open_fails_as_told) {
    cr_assert_eq(try_open("check", "open@1=unsupported"), SVMX_ERR_UNSUPPORTED);
    host_unmake(NULL, host);
    static const char *const nonsense[] = {"submit",        "submit@1", "submit@0=backend", "frob@1=backend",
                                           "submit@1=frob", "plain*0",  "plain*9",          "plain;submit@x=lost"};
    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        log_lines[0] = '\0';
        cr_expect_eq(try_open("check", nonsense[i]), SVMX_ERR_ARGUMENT, "%s", nonsense[i]);
        cr_expect(said("is not a script"), "%s: %s", nonsense[i], log_lines);
        host_unmake(NULL, host);
    }
}

/* Names contain the script, so that SUPERVM_BACKENDS finds the devices that it made. */
Test(check_plugin, several_devices) {
    static const char *const names[] = {"check 0 two", "check 1 two", "check 2 submit@1=backend", "check 3 plain",
                                        "check 4 plain"};
    struct svmx_device_info info = {.size = sizeof info};
    struct job job;
    plugin_open("check", "two,submit@1=backend,*,2,plain*2");
    for (uint32_t i = 0; i < 5; i++) {
        cr_assert_eq(CALL(device_info, i, &info), SVMX_OK);
        cr_assert_str_eq(info.name, names[i]);
        job_make(&job, i);
        cr_assert_eq(job_run(&job, i), i == 2 ? SVMX_ERR_BACKEND : SVMX_OK, "each has its own script");
        job_free(&job);
    }
    cr_assert_eq(CALL(device_info, 5, &info), SVMX_ERR_UNKNOWN);
    plugin_close();
}

/* ---- the others ---- */

Test(check_plugin, the_template_computes) {
    struct job job;
    plugin_open("template", NULL);
    job_make(&job, 0);
    for (int round = 0; round < 3; round++) {
        memset(job.out_host, 0, 8192);
        cr_assert_eq(job_run(&job, 0), SVMX_OK, "%s", log_lines);
        cr_assert_eq(wrong_results(&job), 0);
    }
    job_free(&job);
    plugin_close();
    cr_assert_str_eq(log_lines, "");
}

Test(check_plugin, the_template_says_why_it_refuses) {
    struct job job;
    uint64_t ticket, second;
    struct svmx_op_desc op = vec_add;
    struct svmx_pipeline *pipeline;
    plugin_open("template", NULL);
    job_make(&job, 0);
    op.name = "keccak256";
    cr_assert_eq(build(0, &op, &pipeline), SVMX_ERR_UNSUPPORTED);
    cr_assert_eq(job_submit(&job, 0, &ticket), SVMX_OK);
    cr_assert_eq(job_submit(&job, 0, &second), SVMX_ERR_STATE);
    cr_assert(said("one submission at a time"));
    cr_assert_eq(ticket_wait(0, ticket + 1, 0), SVMX_ERR_STATE);
    cr_assert_eq(ticket_wait(0, ticket, 0), SVMX_OK);
    cr_assert_eq(ticket_wait(0, ticket, 0), SVMX_ERR_STATE, "retired");
    job.commands[1].kind = 77;
    cr_assert_eq(job_submit(&job, 0, &ticket), SVMX_ERR_UNSUPPORTED);
    job_free(&job);
    plugin_close();
}

/* Built against the headers of 1.0: loads and computes today. */
Test(check_plugin, the_first_abi_computes) {
    float a[N], b[N], out[N];
    struct svmx_pipeline *pipeline;
    struct svmx_device_info info = {.size = sizeof info};
    plugin_open("first_abi", NULL);
    for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = 0.25f;
    struct svmx_slot slots[] = {{(uintptr_t)out, sizeof out}, {(uintptr_t)a, sizeof a}, {(uintptr_t)b, sizeof b}};
    uint64_t first_unit[] = {0, N}, ticket = 1;
    cr_assert_eq(CALL(device_info, 0, &info), SVMX_OK);
    cr_assert(info.flags & SVMX_DEVICE_HOST_MEMORY && info.flags & SVMX_DEVICE_INLINE);
    cr_assert_eq(build(0, &vec_add, &pipeline), SVMX_OK);
    struct job job = {.count = 1};
    job.commands[0] = (struct svmx_command){
        .kind = SVMX_COMMAND_DISPATCH,
        .as.dispatch = {
            .pipeline = pipeline, .slots = slots, .first_unit = first_unit, .task_count = 1, .slot_count = 3}};
    cr_assert_eq(job_submit(&job, 0, &ticket), SVMX_OK);
    cr_assert_eq(ticket, 0);
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], (float)i + 0.25f);
    backend.ops->pipeline_free(backend.self, pipeline);
    plugin_close();
}
