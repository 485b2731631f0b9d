/*
 * test_opencl_faults.c: plugins/opencl when its driver fails: every call of it once, memory that runs out, events that
 * fail or never end. A layer (tests/drivers/cl_fault) makes a real driver fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../cpu_share.h"
#include "opencl_fixture.h"

static void start(void) {
    use_layer();
    open_backend();
}

static void fail_no_more(void) { layer_fail(NULL, 0, 0); }

/* Fails the first, second, ... call of a function until all work goes by without it; after each, the same works. */
static void fail_each(const char *call, int error, enum svmx_status expected) {
    bool right;
    for (unsigned n = 1;; n++) {
        layer_fail(call, n, error);
        last_error[0] = '\0';
        open_backend();
        const enum svmx_status status = add_run(0, &right);
        const bool hit = layer_hits() > 0;
        fail_no_more();
        if (hit) {
            cr_expect_eq(status, expected, "%s, call %u: status %d, %s", call, n, (int)status, last_error);
            cr_expect_str_not_empty(last_error, "%s, call %u: no reason", call, n);
        }
        cr_expect_eq(add_run(0, &right), SVMX_OK, "after %s, call %u: %s", call, n, last_error);
        cr_expect(right, "after %s, call %u", call, n);
        close_backend();
        if (hit) continue;
        cr_assert_gt(n, 1, "%s is never called", call);
        return;
    }
}

static void in_place(void) { use_layer(); }

static void with_copies(void) {
    use_layer();
    setenv("SVMX_LAYER_ZERO", "0x1053", 1); /* no SVM */
}

/* Copies in queues of their own. */
static void as_card(void) {
    use_layer();
    setenv("SVMX_LAYER_CARD", "1", 1);
}

Test(opencl_faults, no_context, .init = in_place) { fail_each("clCreateContext", -2, SVMX_ERR_DEVICE_LOST); }
Test(opencl_faults, no_queue, .init = in_place) { fail_each("clCreateCommandQueue", -6, SVMX_ERR_MEMORY); }
Test(opencl_faults, no_shared_memory, .init = in_place) { fail_each("clSVMAlloc", -4, SVMX_ERR_MEMORY); }
Test(opencl_faults, no_program, .init = in_place) { fail_each("clCreateProgramWithSource", -6, SVMX_ERR_MEMORY); }
Test(opencl_faults, no_build, .init = in_place) { fail_each("clBuildProgram", -11, SVMX_ERR_BACKEND); }
Test(opencl_faults, no_kernel, .init = in_place) { fail_each("clCreateKernel", -46, SVMX_ERR_BACKEND); }
Test(opencl_faults, no_argument, .init = in_place) { fail_each("clSetKernelArg", -50, SVMX_ERR_BACKEND); }
Test(opencl_faults, no_pointer, .init = in_place) { fail_each("clSetKernelArgSVMPointer", -50, SVMX_ERR_BACKEND); }
Test(opencl_faults, no_launch, .init = in_place) { fail_each("clEnqueueNDRangeKernel", -5, SVMX_ERR_MEMORY); }
Test(opencl_faults, no_flush, .init = in_place) { fail_each("clFlush", -36, SVMX_ERR_BACKEND); }
Test(opencl_faults, illegal_access, .init = in_place) { fail_each("clGetEventInfo", -9999, SVMX_ERR_DEVICE_LOST); }
Test(opencl_faults, device_gone, .init = in_place) { fail_each("clEnqueueNDRangeKernel", -2, SVMX_ERR_DEVICE_LOST); }

Test(opencl_faults, no_queue_for_copies, .init = as_card) { fail_each("clCreateCommandQueue", -6, SVMX_ERR_MEMORY); }
Test(opencl_faults, no_upload_beside_kernels, .init = as_card) {
    fail_each("clEnqueueWriteBuffer", -5, SVMX_ERR_MEMORY);
}
Test(opencl_faults, no_launch_behind_an_upload, .init = as_card) {
    fail_each("clEnqueueNDRangeKernel", -5, SVMX_ERR_MEMORY);
}
Test(opencl_faults, no_readback_behind_a_launch, .init = as_card) {
    fail_each("clEnqueueReadBuffer", -5, SVMX_ERR_MEMORY);
}
Test(opencl_faults, no_flush_of_one_of_three_queues, .init = as_card) {
    struct add add;
    uint64_t ticket;
    open_backend();
    cr_assert_eq(add_make(&add, 0), SVMX_OK, "%s", last_error);
    for (unsigned n = 1; n <= 3; n++) {
        layer_fail("clFlush", n, -36);
        cr_expect_eq(add_submit(&add, &ticket), SVMX_ERR_BACKEND, "call %u", n);
        cr_expect_eq(layer_hits(), 1);
        fail_no_more();
        memset(add.host_out, 0, ADD_BYTES);
        cr_assert_eq(add_submit(&add, &ticket), SVMX_OK, "%s", last_error);
        cr_assert_eq(wait_for(0, ticket, NULL), SVMX_OK, "%s", last_error);
        cr_expect(add_is_right(&add), "after call %u", n);
    }
    add_free(&add);
    close_backend();
}

Test(opencl_faults, no_buffer, .init = with_copies) { fail_each("clCreateBuffer", -4, SVMX_ERR_MEMORY); }
Test(opencl_faults, no_mapping, .init = with_copies) { fail_each("clEnqueueMapBuffer", -12, SVMX_ERR_MEMORY); }
Test(opencl_faults, memory_that_is_not_there_when_it_is_cleared, .init = with_copies) {
    fail_each("clEnqueueFillBuffer", -4, SVMX_ERR_MEMORY);
}
Test(opencl_faults, no_copy_in, .init = with_copies) { fail_each("clEnqueueWriteBuffer", -5, SVMX_ERR_MEMORY); }
Test(opencl_faults, no_launch_after_the_copy, .init = with_copies) {
    fail_each("clEnqueueNDRangeKernel", -5, SVMX_ERR_MEMORY);
}
Test(opencl_faults, no_copy_out, .init = with_copies) { fail_each("clEnqueueReadBuffer", -5, SVMX_ERR_MEMORY); }
Test(opencl_faults, a_command_that_failed, .init = with_copies) { fail_each("clGetEventInfo", -5, SVMX_ERR_MEMORY); }

/* A bell that does not ring costs a pause, not the answer. */
Test(opencl_faults, no_bell) {
    bool right;
    start();
    layer_fail("clSetEventCallback", 0, -5);
    cr_expect_eq(add_run(0, &right), SVMX_OK, "%s", last_error);
    cr_expect(right);
    cr_expect_gt(layer_hits(), 0);
    close_backend();
}

/* The host has no memory for the n-th thing. */
Test(opencl_faults, no_memory_on_the_host) {
    bool right;
    use_layer();
    for (int n = 0;; n++) {
        enum svmx_status status = SVMX_OK;
        atomic_store(&allocations_left, n);
        last_error[0] = '\0';
        if (svmx_plugin.open(&host, &backend) == SVMX_OK) {
            status = add_run(0, &right);
            backend.ops->close(backend.self);
        } else
            status = SVMX_ERR_MEMORY;
        cr_expect_eq(atomic_load(&live_allocations), 0, "%d allocations", n);
        if (status == SVMX_OK) break;
        cr_expect_eq(status, SVMX_ERR_MEMORY, "%d allocations: %d %s", n, (int)status, last_error);
        cr_expect_str_not_empty(last_error);
        cr_assert_lt(n, 100);
    }
    cr_expect(right);
}

/* ---- hangs ---- */

Test(opencl_faults, an_event_that_never_ends_is_a_timeout_and_the_ticket_stays) {
    struct add add;
    struct svmx_timing timing = {.size = sizeof timing};
    uint64_t ticket;
    start();
    cr_assert_eq(add_make(&add, 0), SVMX_OK);
    cr_assert_eq(add_submit(&add, &ticket), SVMX_OK);
    layer_fail("clGetEventInfo", 0, CL_RUNNING);
    cr_expect_eq(backend.ops->wait(backend.self, 0, ticket, 0, &timing), SVMX_TIMEOUT);
    cr_expect_eq(backend.ops->wait(backend.self, 0, ticket, 50000000, &timing), SVMX_TIMEOUT);
    fail_no_more();
    cr_expect_eq(wait_for(0, ticket, &timing), SVMX_OK);
    cr_expect(add_is_right(&add));
    add_free(&add);
    close_backend();
}

/* ---- events that cannot be asked ---- */

static void *open_gate(void *gate) {
    usleep(100000);
    (void)clSetUserEventStatus(gate, CL_COMPLETE);
    return NULL;
}

/* An answer of wait is final: the core gives out what is in the memory, or the memory to others. So whatever it is, the commands
 * have ended. `n` as in layer_fail. */
static void ask_in_vain(unsigned n, enum svmx_status expected) {
    struct add add;
    struct svmx_timing timing = {.size = sizeof timing};
    uint64_t ticket;
    pthread_t opener;
    cl_int error;
    cl_event barrier;
    enum svmx_status status;
    start();
    cr_assert_eq(add_make(&add, 0), SVMX_OK);
    memset(add.host_out, 0, ADD_BYTES);
    const struct ocl_device *device = &((struct ocl_backend *)backend.self)->devices[0];
    cl_event gate = clCreateUserEvent(device->context, &error);
    cr_assert_eq(clEnqueueBarrierWithWaitList(device->queue, 1, &gate, &barrier), CL_SUCCESS);
    cr_assert_eq(add_submit(&add, &ticket), SVMX_OK);
    cr_assert_eq(pthread_create(&opener, NULL, open_gate, gate), 0);
    layer_fail("clGetEventInfo:call", n, -5);
    while ((status = backend.ops->wait(backend.self, 0, ticket, 1000000, &timing)) == SVMX_TIMEOUT) {
    }
    cr_expect_eq(status, expected, "%d: %s", (int)status, last_error);
    cr_expect(add_is_right(&add), "it was still at it");
    cr_expect_gt(layer_hits(), 0);
    fail_no_more();
    pthread_join(opener, NULL);
    clReleaseEvent(barrier);
    clReleaseEvent(gate);
    add_free(&add);
    close_backend();
}

Test(opencl_faults, an_event_that_cannot_be_asked_once) { ask_in_vain(1, SVMX_OK); }
Test(opencl_faults, an_event_that_cannot_be_asked_at_all) { ask_in_vain(0, SVMX_ERR_MEMORY); }

/* A device with cores of its own is asked, not listened to. */
Test(opencl_faults, asking_has_a_deadline_too) {
    struct add add;
    struct svmx_timing timing = {.size = sizeof timing};
    uint64_t ticket;
    start();
    ((struct ocl_backend *)backend.self)->devices[0].has_bell = false;
    cr_assert_eq(add_make(&add, 0), SVMX_OK);
    for (int round = 0; round < 5; round++) {
        memset(add.host_out, 0, ADD_BYTES);
        cr_assert_eq(add_submit(&add, &ticket), SVMX_OK);
        layer_fail("clGetEventInfo", 0, CL_RUNNING);
        cr_expect_eq(backend.ops->wait(backend.self, 0, ticket, 5000000, &timing), SVMX_TIMEOUT);
        fail_no_more();
        cr_expect_eq(wait_for(0, ticket, &timing), SVMX_OK);
        cr_expect(add_is_right(&add));
    }
    add_free(&add);
    close_backend();
}

/* A launch of 100 ms, as the driver tells it: the kernel itself is over long before, so that all that is computed is the
 * waiting. Later rounds expect a short one, as the first one was. */
static void wait_cheaply(bool has_bell) {
    struct add add;
    struct svmx_timing timing = {.size = sizeof timing};
    uint64_t ticket;
    start();
    ((struct ocl_backend *)backend.self)->devices[0].has_bell = has_bell;
    cr_assert_eq(add_make(&add, 0), SVMX_OK);
    for (int round = 0; round < 3; round++) {
        layer_fail("clGetEventInfo", 0, CL_RUNNING);
        cr_assert_eq(add_submit(&add, &ticket), SVMX_OK);
        cr_assert_eq(backend.ops->wait(backend.self, 0, ticket, 1000000, &timing), SVMX_TIMEOUT);
        const struct cpu_share before = cpu_share_start();
        cr_assert_eq(backend.ops->wait(backend.self, 0, ticket, 100000000, &timing), SVMX_TIMEOUT);
        const double share = cpu_share(&before);
        fail_no_more();
        cr_expect_leq(share, CPU_SHARE_LIMIT, "round %d: waiting takes %.1f %% of a core", round, 100 * share);
        cr_assert_eq(wait_for(0, ticket, &timing), SVMX_OK);
        cr_assert_eq(add_submit(&add, &ticket), SVMX_OK);
        cr_assert_eq(wait_for(0, ticket, &timing), SVMX_OK);
    }
    add_free(&add);
    close_backend();
}

Test(opencl_faults, listening_for_a_long_launch_takes_little_of_a_core) { wait_cheaply(true); }
Test(opencl_faults, asking_for_a_long_launch_takes_little_of_a_core) { wait_cheaply(false); }

/* ---- order between devices ---- */

static enum svmx_status submit_after(const struct add *add, uint64_t after, uint64_t *ticket) {
    const struct svmx_command_list list = {sizeof list, sizeof *add->commands, add->commands, add->command_count};
    const struct svmx_submission submission = {
        .size = sizeof submission, .device = add->device, .list = &list, .after = &after, .after_count = 1};
    return backend.ops->submit(backend.self, &submission, ticket);
}

/* Whatever fails in the hand-over between devices: an error, no hang, and the next one works. */
static void fail_order(const char *call) {
    struct add first, second;
    uint64_t before, ticket;
    use_layer();
    setenv("POCL_DEVICES", "pthread pthread", 1);
    open_backend();
    cr_assert_eq(add_make(&first, 0), SVMX_OK);
    cr_assert_eq(add_make(&second, 1), SVMX_OK);
    cr_assert_eq(add_submit(&first, &before), SVMX_OK);
    layer_fail(call, 1, -6);
    const enum svmx_status status = submit_after(&second, before, &ticket);
    cr_expect_gt(layer_hits(), 0);
    fail_no_more();
    cr_expect_eq(status, SVMX_ERR_MEMORY, "%d %s", (int)status, last_error);
    cr_expect_eq(submit_after(&second, before, &ticket), SVMX_OK, "%s", last_error);
    cr_expect_eq(wait_for(1, ticket, NULL), SVMX_OK);
    cr_expect_eq(wait_for(0, before, NULL), SVMX_OK);
    cr_expect(add_is_right(&second));
    add_free(&first);
    add_free(&second);
    close_backend();
}

Test(opencl_faults, no_event_to_wait_for_another_device) { fail_order("clCreateUserEvent"); }
Test(opencl_faults, no_word_from_another_device) { fail_order("clSetEventCallback"); }

/* ---- binaries ---- */

Test(opencl_faults, a_driver_that_gives_no_binary) {
    struct add add;
    size_t bytes = 0;
    start();
    cr_assert_eq(add_make(&add, 0), SVMX_OK);
    layer_fail("clGetProgramInfo", 1, -5);
    cr_expect_eq(backend.ops->pipeline_binary(backend.self, add.pipeline, NULL, &bytes), SVMX_ERR_MEMORY);
    fail_no_more();
    cr_expect_eq(backend.ops->pipeline_binary(backend.self, add.pipeline, NULL, &bytes), SVMX_OK);
    cr_expect_gt(bytes, sizeof(struct kernels_head));
    add_free(&add);
    close_backend();
}
