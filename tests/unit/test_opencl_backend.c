/*
 * test_opencl_backend.c: plugins/opencl on a real driver: memory, pipelines, binaries, lists of commands and tickets.
 * What differs from driver to driver, and several devices, are in test_opencl_drivers.c.
 *
 * Drives the plugin as the core does, by its table of functions. Skipped where PoCL is not installed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opencl_fixture.h"

static void start(void) {
    use_pocl();
    open_backend();
}

/* ---- memory ---- */

Test(opencl_backend, staging_memory_is_visible_aligned_and_clear) {
    start();
    struct svmx_memory *memory;
    void *at;
    cr_assert_eq(alloc(0, SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_WRITE | SVMX_USAGE_KERNEL_READ, 100000, &memory, &at),
                 SVMX_OK);
    cr_expect_eq((uintptr_t)at % 64, 0);
    for (int i = 0; i < 100000; i++) cr_assert_eq(((char *)at)[i], 0);
    backend.ops->memory_free(backend.self, memory);
    close_backend();
}

/* Takes the bytes of a device buffer to the host. */
static void read_back(struct svmx_memory *from, void *bytes, uint64_t count) {
    struct svmx_memory *staging;
    void *at;
    uint64_t ticket;
    cr_assert_eq(alloc(0, SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_READ | SVMX_USAGE_COPY_TARGET, count, &staging, &at),
                 SVMX_OK);
    const struct svmx_command copy = {.kind = SVMX_COMMAND_COPY_OUT,
                                      .as.copy = {{from, 0, count}, {staging, 0, count}}};
    const struct svmx_command_list list = {sizeof list, sizeof copy, &copy, 1};
    const struct svmx_submission submission = {.size = sizeof submission, .list = &list};
    cr_assert_eq(backend.ops->submit(backend.self, &submission, &ticket), SVMX_OK, "%s", last_error);
    cr_assert_eq(wait_for(0, ticket, NULL), SVMX_OK);
    memcpy(bytes, at, count);
    backend.ops->memory_free(backend.self, staging);
}

Test(opencl_backend, device_memory_never_shows_its_last_owner) {
    enum { BYTES = 1 << 20, ROUNDS = 8 };
    static char bytes[BYTES];
    start();
    for (int round = 0; round < ROUNDS; round++) {
        struct svmx_memory *memory;
        void *at = &memory;
        uint64_t ticket;
        cr_assert_eq(alloc(0, SVMX_MEMORY_DEVICE, SVMX_USAGE_COPY_SOURCE | SVMX_USAGE_COPY_TARGET, BYTES, &memory, &at),
                     SVMX_OK);
        cr_expect_null(at);
        read_back(memory, bytes, BYTES);
        for (int i = 0; i < BYTES; i++) cr_assert_eq(bytes[i], 0, "round %d, byte %d", round, i);
        const struct svmx_command fill = {.kind = SVMX_COMMAND_FILL, .as.fill = {{memory, 0, BYTES}, 0xab}};
        const struct svmx_command_list list = {sizeof list, sizeof fill, &fill, 1};
        const struct svmx_submission submission = {.size = sizeof submission, .list = &list};
        cr_assert_eq(backend.ops->submit(backend.self, &submission, &ticket), SVMX_OK, "%s", last_error);
        cr_assert_eq(wait_for(0, ticket, NULL), SVMX_OK);
        read_back(memory, bytes, BYTES);
        cr_expect_eq((unsigned char)bytes[BYTES - 1], 0xab);
        backend.ops->memory_free(backend.self, memory);
    }
    close_backend();
}

Test(opencl_backend, memory_that_cannot_be_is_refused_with_a_reason) {
    start();
    struct svmx_memory *memory = NULL;
    void *at;
    cr_expect_eq(alloc(0, SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_READ, 0, &memory, &at), SVMX_ERR_ARGUMENT);
    cr_expect_eq(alloc(0, SVMX_MEMORY_DEVICE, SVMX_USAGE_HOST_READ, 64, &memory, &at), SVMX_ERR_UNSUPPORTED);
    cr_expect_eq(alloc(0, 9, SVMX_USAGE_HOST_READ, 64, &memory, &at), SVMX_ERR_UNSUPPORTED);
    cr_expect_eq(alloc(7, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_READ, 64, &memory, &at), SVMX_ERR_UNKNOWN);
    cr_expect_eq(alloc(0, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_READ, UINT64_MAX, &memory, &at), SVMX_ERR_MEMORY);
    cr_expect_not_null(strstr(last_error, "limit"), "%s", last_error);
    cr_expect_null(memory, "outputs are set on success only");
    close_backend();
}

Test(opencl_backend, memory_of_the_library_is_imported_in_place) {
    enum { PAGE = 4096 };
    start();
    void *mine;
    cr_assert_eq(posix_memalign(&mine, PAGE, PAGE), 0);
    memset(mine, 5, PAGE);
    struct svmx_memory_desc desc = {.size = sizeof desc,
                                    .kind = SVMX_MEMORY_IMPORT,
                                    .usage = SVMX_USAGE_HOST_WRITE | SVMX_USAGE_COPY_SOURCE,
                                    .bytes = PAGE,
                                    .import = mine};
    struct svmx_memory *memory;
    void *at;
    char seen[PAGE];
    cr_assert_eq(backend.ops->memory_alloc(backend.self, 0, &desc, &memory, &at), SVMX_OK, "%s", last_error);
    cr_expect_eq(at, mine);
    memset(mine, 6, PAGE); /* after it was made: what a copy of it would not see */
    read_back(memory, seen, PAGE);
    cr_expect_eq(memcmp(seen, mine, PAGE), 0);
    backend.ops->memory_free(backend.self, memory);
    desc.import = (char *)mine + 64;
    cr_expect_eq(backend.ops->memory_alloc(backend.self, 0, &desc, &memory, &at), SVMX_ERR_UNSUPPORTED);
    free(mine);
    close_backend();
}

/* ---- pipelines ---- */

Test(opencl_backend, one_program_whatever_the_bucket_and_one_pipeline_for_the_same_geometry) {
    struct svmx_pipeline *small, *same, *large;
    start();
    cr_assert_eq(build("vec_add_f32", 16384, 0, &small), SVMX_OK, "%s", last_error);
    cr_assert_eq(build("vec_add_f32", 16384, 0, &same), SVMX_OK);
    cr_assert_eq(build("vec_add_f32", UINT64_C(1) << 30, 0, &large), SVMX_OK);
    cr_expect_eq(small, same);
    cr_expect_neq(small, large);
    cr_expect_eq(small->program, large->program);
    backend.ops->pipeline_free(backend.self, small);
    backend.ops->pipeline_free(backend.self, large);
    backend.ops->pipeline_free(backend.self, same); /* one free for each build */
    backend.ops->pipeline_free(backend.self, NULL);
    close_backend();
}

Test(opencl_backend, variants_end_with_unknown) {
    struct svmx_pipeline *cpu, *gpu, *none = NULL;
    start();
    cr_assert_eq(build("vec_add_f32", 16384, 0, &cpu), SVMX_OK);
    cr_assert_eq(build("vec_add_f32", 16384, 1, &gpu), SVMX_OK);
    cr_expect_neq(cpu->program, gpu->program);
    uint32_t past = 2;
    while (build("vec_add_f32", 16384, past, &none) == SVMX_OK) {
        backend.ops->pipeline_free(backend.self, none);
        cr_assert_leq(++past, CATALOG_VARIANTS);
    }
    none = NULL;
    cr_expect_eq(build("vec_add_f32", 16384, past, &none), SVMX_ERR_UNKNOWN);
    cr_expect_null(none);
    backend.ops->pipeline_free(backend.self, cpu);
    backend.ops->pipeline_free(backend.self, gpu);
    close_backend();
}

Test(opencl_backend, a_variant_that_the_user_insists_on_is_the_only_one) {
    struct svmx_pipeline *pipeline;
    start();
    variant_option = "gpu";
    cr_assert_eq(build("vec_add_f32", 16384, 0, &pipeline), SVMX_OK);
    cr_expect_eq(pipeline->passes[0].shape.by, CATALOG_GROUP);
    backend.ops->pipeline_free(backend.self, pipeline);
    cr_expect_eq(build("vec_add_f32", 16384, 1, &pipeline), SVMX_ERR_UNKNOWN);
    variant_option = "avx2"; /* another backend's */
    cr_assert_eq(build("vec_add_f32", 16384, 0, &pipeline), SVMX_OK);
    cr_expect_eq(pipeline->passes[0].shape.by, CATALOG_ITEM);
    backend.ops->pipeline_free(backend.self, pipeline);
    close_backend();
}

Test(opencl_backend, an_operation_without_device_code_is_not_supported) {
    struct svmx_pipeline *pipeline;
    start();
    cr_expect_eq(build("no_such_operation", 16384, 0, &pipeline), SVMX_ERR_UNSUPPORTED);
    cr_expect_str_empty(last_error, "that is no fault: %s", last_error);
    close_backend();
}

/* As Rusticl does: what is made of calls would compile there for minutes. */
Test(opencl_backend, a_compiler_that_inlines_everything_is_spared_what_is_made_of_calls) {
    struct svmx_pipeline *pipeline;
    start();
    ((struct ocl_backend *)backend.self)->devices[0].inlines_all = true;
    cr_expect_eq(build("ecdsa_verify_secp256k1", 16384, 0, &pipeline), SVMX_ERR_UNSUPPORTED);
    cr_expect_str_empty(last_error, "that is no fault: %s", last_error);
    cr_assert_eq(build("vec_add_f32", 16384, 0, &pipeline), SVMX_OK);
    backend.ops->pipeline_free(backend.self, pipeline);
    close_backend();
}

/* ---- registered operations ---- */

static enum svmx_status build_registered(const char *text, uint32_t local, uint32_t grain,
                                         struct svmx_pipeline **pipeline) {
    const struct svmx_op_desc op = {
        .size = sizeof op, .name = "triple", .opencl_c = text, .local = local, .grain = grain};
    const struct svmx_pipeline_desc wish = {.size = sizeof wish, .op = &op, .bucket = 16384};
    return backend.ops->pipeline_build(backend.self, 0, &wish, pipeline);
}

/* Slots out, a, b as those of vec_add_f32, so that its data serves. */
static const char triple[] =
    "SVMX_KERNEL(triple, 4) {\n"
    "    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 3);\n"
    "    struct svmx_walk walk = svmx_walk_start(&t, get_global_id(0), grain, units);\n"
    "    struct svmx_piece piece;\n"
    "    while (svmx_walk_next(&t, &walk, &piece)) {\n"
    "        __global const float *a = (__global const float *)(in + svmx_at(&t, piece.task, 1));\n"
    "        __global float *r = (__global float *)(out + svmx_at(&t, piece.task, 0));\n"
    "        for (ulong i = piece.begin; i < piece.end; i++) r[i] = 1.5f * a[i];\n"
    "    }\n"
    "}\n";

Test(opencl_backend, a_registered_operation_computes) {
    struct add add;
    struct svmx_pipeline *pipeline;
    uint64_t ticket;
    start();
    cr_assert_eq(build_registered(triple, 4, 8, &pipeline), SVMX_OK, "%s", all_lines);
    cr_assert_eq(add_make(&add, 0), SVMX_OK);
    add.commands[0].as.dispatch.pipeline = pipeline;
    cr_assert_eq(add_submit(&add, &ticket), SVMX_OK);
    cr_assert_eq(wait_for(0, ticket, NULL), SVMX_OK);
    cr_expect(add_is_right(&add));
    backend.ops->pipeline_free(backend.self, pipeline);
    add_free(&add);
    close_backend();
}

Test(opencl_backend, a_kernel_that_does_not_build_is_told_with_its_log) {
    struct svmx_pipeline *pipeline = NULL;
    start();
    cr_expect_eq(build_registered("SVMX_KERNEL(triple, 4) { not_there(); }\n", 4, 8, &pipeline), SVMX_ERR_BACKEND);
    cr_expect_not_null(strstr(all_lines, "not_there"), "%s", all_lines);
    cr_expect_not_null(strstr(last_error, "triple"), "%s", last_error);
    cr_expect_eq(build_registered("SVMX_KERNEL(other, 4) {}\n", 4, 8, &pipeline), SVMX_ERR_BACKEND);
    cr_expect_eq(build_registered("__kernel void triple(int one) {}\n", 4, 8, &pipeline), SVMX_ERR_BACKEND);
    cr_expect_null(pipeline);
    close_backend();
}

Test(opencl_backend, a_registered_geometry_is_checked) {
    struct svmx_pipeline *pipeline;
    start();
    cr_expect_eq(build_registered(triple, 0, 8, &pipeline), SVMX_ERR_ARGUMENT);
    cr_expect_eq(build_registered(triple, 4, 0, &pipeline), SVMX_ERR_ARGUMENT);
    cr_expect_eq(build_registered(triple, 4, 12, &pipeline), SVMX_ERR_ARGUMENT);
    cr_expect_eq(build_registered(triple, 1 << 30, 8, &pipeline), SVMX_ERR_UNSUPPORTED);
    close_backend();
}

/* ---- binaries ---- */

/* The binary of a pipeline that has run; to be freed. */
static unsigned char *binary_of(const struct add *add, size_t *bytes) {
    size_t needed;
    cr_assert_eq(backend.ops->pipeline_binary(backend.self, add->pipeline, NULL, &needed), SVMX_OK, "%s", last_error);
    unsigned char *binary = malloc(needed);
    *bytes = needed - 1;
    cr_expect_eq(backend.ops->pipeline_binary(backend.self, add->pipeline, binary, bytes), SVMX_ERR_OVERFLOW);
    *bytes = needed;
    cr_assert_eq(backend.ops->pipeline_binary(backend.self, add->pipeline, binary, bytes), SVMX_OK, "%s", last_error);
    return binary;
}

static enum svmx_status build_from(const void *binary, size_t bytes, struct svmx_pipeline **pipeline) {
    const struct svmx_op_desc op = {.size = sizeof op, .name = "vec_add_f32"};
    const struct svmx_pipeline_desc wish = {
        .size = sizeof wish, .op = &op, .bucket = 16384, .binary = binary, .binary_bytes = bytes};
    return backend.ops->pipeline_build(backend.self, 0, &wish, pipeline);
}

static void run_with(struct add *add, struct svmx_pipeline *pipeline) {
    uint64_t ticket;
    for (size_t i = 0; i < add->command_count; i++)
        if (add->commands[i].kind == SVMX_COMMAND_DISPATCH) add->commands[i].as.dispatch.pipeline = pipeline;
    memset(add->host_out, 0, ADD_BYTES);
    cr_assert_eq(add_submit(add, &ticket), SVMX_OK, "%s", last_error);
    cr_assert_eq(wait_for(0, ticket, NULL), SVMX_OK);
    cr_assert(add_is_right(add));
}

Test(opencl_backend, a_binary_serves_the_next_and_a_bad_one_is_refused) {
    struct add add;
    size_t bytes;
    struct svmx_pipeline *pipeline;
    start();
    cr_assert_eq(add_make(&add, 0), SVMX_OK);
    run_with(&add, add.pipeline);
    unsigned char *binary = binary_of(&add, &bytes);
    backend.ops->pipeline_free(backend.self, add.pipeline);
    add.pipeline = NULL;

    all_lines[0] = '\0';
    cr_assert_eq(build_from(binary, bytes, &pipeline), SVMX_OK, "%s", all_lines);
    cr_expect_str_empty(all_lines, "it was to be used: %s", all_lines);
    run_with(&add, pipeline);
    backend.ops->pipeline_free(backend.self, pipeline);

    binary[bytes - 1] ^= 1;
    cr_assert_eq(build_from(binary, bytes, &pipeline), SVMX_ERR_BACKEND);
    cr_expect_not_null(strstr(all_lines, "a stored binary is not used: it is damaged"), "%s", all_lines);

    /* sound by its head, but nothing that the driver would take */
    memset(binary + sizeof(struct kernels_head), 0x5a, bytes - sizeof(struct kernels_head));
    struct kernels_head head;
    memcpy(&head, binary, sizeof head);
    kernels_binary_seal(binary, bytes - sizeof head, head.key);
    cr_assert_eq(build_from(binary, bytes, &pipeline), SVMX_ERR_BACKEND);
    cr_expect_not_null(strstr(all_lines, "the driver does not take it"), "%s", all_lines);
    cr_assert_eq(build_from(NULL, 0, &pipeline), SVMX_OK, "without it it is compiled: %s", all_lines);
    run_with(&add, pipeline);
    backend.ops->pipeline_free(backend.self, pipeline);
    free(binary);
    add_free(&add);
    close_backend();
}

/* ---- lists and tickets ---- */

Test(opencl_backend, work_is_done_and_timed_by_the_device) {
    struct add add;
    struct svmx_timing timing = {.size = sizeof timing};
    uint64_t ticket;
    start();
    cr_assert_eq(add_make(&add, 0), SVMX_OK);
    cr_assert_eq(add_submit(&add, &ticket), SVMX_OK);
    cr_expect_neq(ticket, 0);
    cr_assert_eq(wait_for(0, ticket, &timing), SVMX_OK);
    cr_expect(add_is_right(&add));
    cr_expect_gt(timing.compute_ns, 0);
    cr_expect_lt(timing.compute_ns, ten_seconds_ns);
    cr_expect_eq(timing.copy_in_ns + timing.copy_out_ns, 0);
    cr_expect_eq(wait_for(0, ticket, NULL), SVMX_ERR_UNKNOWN, "a ticket answers once");
    add_free(&add);
    close_backend();
}

Test(opencl_backend, arguments_follow_every_change_of_memory_and_size) {
    struct add one, two;
    uint64_t ticket;
    start();
    cr_assert_eq(add_make(&one, 0), SVMX_OK);
    for (int round = 0; round < 20; round++) {
        cr_assert_eq(add_make(&two, 0), SVMX_OK); /* memory at addresses that were used before */
        cr_assert_eq(one.pipeline, two.pipeline);
        two.first_unit[1] = round % 2 ? ADD_COUNT : 7;
        ((uint64_t *)two.host_in)[7] = two.first_unit[1];
        cr_assert_eq(add_submit(&two, &ticket), SVMX_OK);
        cr_assert_eq(wait_for(0, ticket, NULL), SVMX_OK);
        cr_expect_eq(add_is_right(&two), round % 2);
        cr_expect_eq(((float *)two.host_out)[6], 9.0f);
        cr_assert_eq(add_submit(&one, &ticket), SVMX_OK);
        cr_assert_eq(wait_for(0, ticket, NULL), SVMX_OK);
        cr_expect(add_is_right(&one));
        memset(one.host_out, 0, ADD_BYTES);
        add_free(&two);
    }
    add_free(&one);
    close_backend();
}

Test(opencl_backend, as_many_tickets_as_promised_and_no_more) {
    struct add add;
    uint64_t tickets[OCL_SLOTS], one_more;
    start();
    cr_assert_eq(add_make(&add, 0), SVMX_OK);
    const uint32_t limit = info_of(0).max_in_flight;
    cr_assert_eq(limit, OCL_SLOTS);
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < limit; i++) {
            cr_assert_eq(add_submit(&add, &tickets[i]), SVMX_OK);
            for (uint32_t j = 0; j < i; j++) cr_expect_neq(tickets[i], tickets[j]);
        }
        cr_expect_eq(add_submit(&add, &one_more), SVMX_BUSY);
        for (uint32_t i = limit; i-- > 0;) cr_assert_eq(wait_for(0, tickets[i], NULL), SVMX_OK); /* in any order */
    }
    cr_expect(add_is_right(&add));
    add_free(&add);
    close_backend();
}

/* A device with memory of its own: copies are in queues beside that of kernels, and each ticket is in order all the same. */
Test(opencl_backend, a_card_copies_beside_its_kernels) {
    enum { OPEN = 4 };
    struct add adds[OPEN];
    uint64_t tickets[OPEN];
    use_layer();
    setenv("SVMX_LAYER_CARD", "1", 1);
    open_backend();
    for (int i = 0; i < OPEN; i++) cr_assert_eq(add_make(&adds[i], 0), SVMX_OK, "%s", last_error);
    const struct ocl_device *device = &((struct ocl_backend *)backend.self)->devices[0];
    cr_assert(!adds[0].shares && device->upload != device->queue && device->readback != device->queue &&
              device->upload != device->readback);
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < OPEN; i++) cr_assert_eq(add_submit(&adds[i], &tickets[i]), SVMX_OK, "%s", last_error);
        for (int i = 0; i < OPEN; i++) {
            struct svmx_timing timing = {.size = sizeof timing};
            cr_assert_eq(wait_for(0, tickets[round % 2 ? i : OPEN - 1 - i], &timing), SVMX_OK, "%s", last_error);
            cr_expect(timing.copy_in_ns && timing.compute_ns && timing.copy_out_ns);
        }
        for (int i = 0; i < OPEN; i++) {
            cr_assert(add_is_right(&adds[i]), "round %d, ticket %d", round, i);
            memset(adds[i].host_out, 0, ADD_BYTES);
        }
    }
    for (int i = 0; i < OPEN; i++) add_free(&adds[i]);
    close_backend();
}

/* The second ticket reads back what the first wrote, from a queue that does not know of it. */
Test(opencl_backend, a_card_waits_for_tickets_of_its_own) {
    struct add add;
    use_layer();
    setenv("SVMX_LAYER_CARD", "1", 1);
    open_backend();
    cr_assert_eq(add_make(&add, 0), SVMX_OK);
    const struct svmx_command_list first = {sizeof first, sizeof *add.commands, add.commands,
                                            3}, /* without the copy out */
        second = {sizeof second, sizeof *add.commands, add.commands + 4, 1};
    for (int round = 0; round < 50; round++) {
        uint64_t before, ticket;
        const struct svmx_submission compute = {.size = sizeof compute, .list = &first};
        cr_assert_eq(backend.ops->submit(backend.self, &compute, &before), SVMX_OK, "%s", last_error);
        const struct svmx_submission read = {.size = sizeof read, .list = &second, .after = &before, .after_count = 1};
        cr_assert_eq(backend.ops->submit(backend.self, &read, &ticket), SVMX_OK, "%s", last_error);
        cr_assert_eq(wait_for(0, ticket, NULL), SVMX_OK);
        cr_assert(add_is_right(&add), "round %d", round);
        cr_assert_eq(wait_for(0, before, NULL), SVMX_OK);
        memset(add.host_out, 0, ADD_BYTES);
    }
    add_free(&add);
    close_backend();
}

Test(opencl_backend, an_empty_list_and_a_dispatch_of_nothing_are_done_at_once) {
    struct add add;
    uint64_t ticket;
    start();
    cr_assert_eq(add_make(&add, 0), SVMX_OK);
    add.command_count = 0;
    cr_assert_eq(add_submit(&add, &ticket), SVMX_OK);
    cr_expect_eq(wait_for(0, ticket, NULL), SVMX_OK);
    add.command_count = 1;
    add.commands[0].as.dispatch.task_count = 0;
    cr_assert_eq(add_submit(&add, &ticket), SVMX_OK);
    cr_expect_eq(wait_for(0, ticket, NULL), SVMX_OK);
    add.commands[0].as.dispatch.task_count = 1;
    add.first_unit[1] = 0;
    cr_assert_eq(add_submit(&add, &ticket), SVMX_OK);
    cr_expect_eq(wait_for(0, ticket, NULL), SVMX_OK);
    cr_expect_eq(((unsigned char *)add.host_out)[0], 0xee, "nothing was to be written");
    add_free(&add);
    close_backend();
}

/* A wrong command behind a right one: the right one must not have started. */
static void check_refused_as(struct add *add, struct svmx_command wrong, enum svmx_status status) {
    struct svmx_command *at = &add->commands[add->command_count++];
    uint64_t ticket = 77;
    *at = wrong;
    last_error[0] = '\0';
    cr_expect_eq(add_submit(add, &ticket), status, "command of kind %u", wrong.kind);
    cr_expect_not_null(strstr(last_error, "submit: command 1:"), "%s", last_error);
    cr_expect_eq(ticket, 77);
    cr_expect_eq(((unsigned char *)add->host_out)[0], 0xee);
    add->command_count--;
}

static void check_refused(struct add *add, struct svmx_command wrong) {
    check_refused_as(add, wrong, SVMX_ERR_ARGUMENT);
}

Test(opencl_backend, a_list_with_a_wrong_command_starts_nothing) {
    struct add add;
    start();
    cr_assert_eq(add_make(&add, 0), SVMX_OK);
    const struct svmx_command right = add.commands[0];
    struct svmx_memory *in = add.staging_in, *out = add.staging_out;
    struct svmx_command wrong = right;
    wrong.as.dispatch.outputs.bytes = UINT64_MAX;
    check_refused(&add, wrong);
    wrong = right;
    wrong.as.dispatch.table.memory = NULL;
    check_refused(&add, wrong);
    wrong = right;
    wrong.as.dispatch.pipeline = NULL;
    check_refused(&add, wrong);
    wrong = right;
    wrong.as.dispatch.first_unit = (const uint64_t[]){0, UINT64_C(1) << 50};
    check_refused_as(&add, wrong, SVMX_ERR_MEMORY); /* it is to be cut: no fault of the device's */
    cr_expect_not_null(strstr(last_error, "32 bits"), "%s", last_error);
    check_refused(&add, (struct svmx_command){.kind = 99});
    check_refused(&add, (struct svmx_command){.kind = SVMX_COMMAND_COPY_IN, .as.copy = {{in, 0, 64}, {NULL, 0, 64}}});
    check_refused(&add, (struct svmx_command){.kind = SVMX_COMMAND_COPY_IN, .as.copy = {{in, 0, 64}, {out, 0, 65}}});
    check_refused(
        &add, (struct svmx_command){.kind = SVMX_COMMAND_COPY_OUT, .as.copy = {{in, 64, ADD_IN}, {out, 0, ADD_IN}}});
    check_refused(&add, (struct svmx_command){.kind = SVMX_COMMAND_FILL, .as.fill = {{out, ADD_BYTES + 1, 0}, 0}});
    add_free(&add);
    close_backend();
}

Test(opencl_backend, a_submission_that_is_not_offered_is_refused) {
    struct add add;
    uint64_t ticket;
    start();
    cr_assert_eq(add_make(&add, 0), SVMX_OK);
    const struct svmx_command_list list = {sizeof list, sizeof *add.commands, add.commands, add.command_count};
    struct svmx_submission submission = {.size = sizeof submission, .list = &list, .engine = 1};
    cr_expect_eq(backend.ops->submit(backend.self, &submission, &ticket), SVMX_ERR_UNKNOWN);
    submission = (struct svmx_submission){.size = sizeof submission};
    cr_expect_eq(backend.ops->submit(backend.self, &submission, &ticket), SVMX_ERR_UNSUPPORTED);
    submission = (struct svmx_submission){.size = sizeof submission, .list = &list, .device = 5};
    cr_expect_eq(backend.ops->submit(backend.self, &submission, &ticket), SVMX_ERR_UNKNOWN);
    struct svmx_timing timing = {.size = sizeof timing};
    cr_expect_eq(backend.ops->wait(backend.self, 5, 1, 0, &timing), SVMX_ERR_UNKNOWN);
    cr_expect_eq(backend.ops->wait(backend.self, 0, 0, 0, &timing), SVMX_ERR_UNKNOWN);
    add_free(&add);
    close_backend();
}
