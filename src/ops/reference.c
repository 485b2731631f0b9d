/*
 * reference.c: the reference backend: every operation of an executor, one task after another, in the calling thread.
 *
 * A plugin like any other, but linked in: what is left when no other backend is there, what answers when one fails, and
 * what all are compared with. A pipeline is the operation itself: nothing is made and nothing freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/operations.h"

#include <fenv.h>
#include <stdalign.h>
#include <string.h>
#include <svmx/svmx.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#define QUOTE(x)  #x
#define QUOTED(x) QUOTE(x)
#define VERSION   QUOTED(SVMX_VERSION_MAJOR) "." QUOTED(SVMX_VERSION_MINOR) "." QUOTED(SVMX_VERSION_PATCH)

/* ---- the floating-point environment ----------------------------------------------------------------------- */

/*
 * The caller may have another rounding mode, flush denormals, or trap. Results must not depend on it: what we need is
 * set where it differs, and put back. Exception flags that were raised before are no difference.
 */
#if defined(__SSE2__)
enum { FP_OURS = 0x1f80, FP_FLAGS = 0x3f };
static uint64_t fp_read(void) { return _mm_getcsr(); }
static void fp_write(uint64_t state) { _mm_setcsr((unsigned)state); }
#elif defined(__aarch64__)
enum { FP_OURS = 0, FP_FLAGS = 0 };
static uint64_t fp_read(void) {
    uint64_t state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state));
    return state;
}
static void fp_write(uint64_t state) { __asm__ volatile("msr fpcr, %0" ::"r"(state) : "memory"); }
#else
enum { FP_OURS = FE_TONEAREST, FP_FLAGS = 0 };
static uint64_t fp_read(void) { return (uint64_t)fegetround(); }
static void fp_write(uint64_t state) { fesetround((int)state); }
#endif

static uint64_t fp_enter(void) {
    const uint64_t state = fp_read();
    if ((state & ~(uint64_t)FP_FLAGS) != FP_OURS) fp_write(FP_OURS);
    return state;
}

static void fp_leave(uint64_t state) {
    if ((state & ~(uint64_t)FP_FLAGS) != FP_OURS) fp_write(state);
}

/* A function of a program may leave another rounding behind: neither the tasks after it nor the caller shall have it.
 * fegetround sees what fp_enter does not look at, the registers of long double. */
static void custom_run(const struct svmx__op *op, const struct svmx_slot *slots) {
    const int rounding = fegetround();
    svmx__custom_run(op, slots);
    if (fegetround() != rounding) (void)fesetround(rounding);
    (void)fp_enter();
}

/* One task in our environment, and it is ours afterwards. */
static void task_run(const struct svmx__op *op, const struct svmx_slot *slots) {
    if (op->reference)
        op->reference(slots);
    else
        custom_run(op, slots);
}

void svmx__reference_run(const struct svmx__op *op, const struct svmx_slot *slots) {
    const uint64_t state = fp_enter();
    task_run(op, slots);
    fp_leave(state);
}

/* ---- the backend ------------------------------------------------------------------------------------------ */

struct reference {
    const struct svmx_host *host;
    const struct svmx__operations *operations; /* NULL: the built-in ones */
};

static const struct svmx_host *host_of(void *self) { return ((struct reference *)self)->host; }

void svmx__reference_attach(void *self, const struct svmx__operations *operations) {
    ((struct reference *)self)->operations = operations;
}

static enum svmx_status refuse(void *self, enum svmx_status status, const char *text) {
    host_of(self)->log(host_of(self), SVMX_LOG_ERROR, text);
    return status;
}

static enum svmx_status device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    (void)self;
    if (index != 0) return SVMX_ERR_UNKNOWN;
    const struct svmx_device_info mine = {
        .size = info->size,
        .name = "reference code",
        .driver = "svmx-reference " VERSION,
        .kind = SVMX_DEVICE_CPU,
        .flags = SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_SHARES_CORES | SVMX_DEVICE_INLINE,
        .compute_engines = 1,
        .threads = 1,
        .alignment = 1,
    };
    memcpy(info, &mine, info->size < sizeof mine ? info->size : sizeof mine);
    return SVMX_OK;
}

static enum svmx_status pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                       struct svmx_pipeline **pipeline) {
    if (device != 0) return refuse(self, SVMX_ERR_UNKNOWN, "reference: pipeline_build: there is only device 0");
    const struct svmx__operations *operations = ((struct reference *)self)->operations;
    const struct svmx__op *op =
        operations ? svmx__operations_by_name(operations, desc->op->name) : svmx__op_by_name(desc->op->name);
    if (!op) return SVMX_ERR_UNSUPPORTED;
    *pipeline = (struct svmx_pipeline *)(uintptr_t)op; /* the ABI's pointer is not const; nobody writes through it */
    return SVMX_OK;
}

static void pipeline_free(void *self, struct svmx_pipeline *pipeline) {
    (void)self;
    (void)pipeline;
}

static void dispatch_run(const struct svmx_dispatch *dispatch) {
    const struct svmx__op *op = (const void *)dispatch->pipeline;
    for (uint32_t task = 0; task < dispatch->task_count; task++)
        task_run(op, dispatch->slots + (size_t)task * dispatch->slot_count);
}

/* The stride is what the core says: a later minor version may have longer commands. */
static const struct svmx_command *command_at(const struct svmx_command_list *list, size_t index) {
    return (const void *)((const char *)list->commands + index * list->command_size);
}

/* A failed submit has started nothing: all is looked at before any is run. */
static enum svmx_status submission_check(void *self, const struct svmx_submission *submission) {
    if (submission->device != 0 || submission->engine != 0)
        return refuse(self, SVMX_ERR_UNKNOWN, "reference: submit: there is only device 0 with engine 0");
    if (!submission->list) return refuse(self, SVMX_ERR_UNSUPPORTED, "reference: submit: no recorded lists here");
    for (size_t i = 0; i < submission->list->count; i++) {
        const uint32_t kind = command_at(submission->list, i)->kind;
        if (kind != SVMX_COMMAND_DISPATCH && kind != SVMX_COMMAND_BARRIER)
            return refuse(self, SVMX_ERR_UNSUPPORTED, "reference: submit: only dispatches and barriers on host memory");
    }
    return SVMX_OK;
}

static enum svmx_status submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    enum svmx_status status = submission_check(self, submission);
    if (status != SVMX_OK) return status;
    const uint64_t state = fp_enter();
    for (size_t i = 0; i < submission->list->count; i++) {
        const struct svmx_command *command = command_at(submission->list, i);
        if (command->kind == SVMX_COMMAND_DISPATCH) dispatch_run(&command->as.dispatch);
    }
    fp_leave(state);
    *ticket = 0;
    return SVMX_OK;
}

/* Every ticket is 0 and done. The core takes the time by its own clock. */
static enum svmx_status wait_ticket(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns,
                                    struct svmx_timing *timing) {
    (void)timeout_ns;
    if (device != 0 || ticket != 0) return refuse(self, SVMX_ERR_UNKNOWN, "reference: wait: no such ticket");
    const struct svmx_timing none = {.size = timing->size};
    memcpy(timing, &none, timing->size < sizeof none ? timing->size : sizeof none);
    return SVMX_OK;
}

static void backend_close(void *self) { host_of(self)->release(host_of(self), self); }

static const struct svmx_backend_ops backend_ops = {
    .size = sizeof(struct svmx_backend_ops),
    .device_info = device_info,
    .pipeline_build = pipeline_build,
    .pipeline_free = pipeline_free,
    .submit = submit,
    .wait = wait_ticket,
    .close = backend_close,
};

static enum svmx_status backend_open(const struct svmx_host *host, struct svmx_backend *backend) {
    struct reference *reference = host->alloc(host, sizeof *reference, alignof(struct reference));
    if (!reference) {
        host->log(host, SVMX_LOG_ERROR, "no memory for the instance");
        return SVMX_ERR_MEMORY;
    }
    *reference = (struct reference){.host = host};
    *backend = (struct svmx_backend){.ops = &backend_ops, .self = reference};
    return SVMX_OK;
}

const struct svmx_plugin svmx__reference_plugin = {
    .magic = SVMX_PLUGIN_MAGIC,
    .size = sizeof(struct svmx_plugin),
    .abi_major = SVMX_ABI_MAJOR,
    .abi_minor = SVMX_ABI_MINOR,
    .name = "reference",
    .version = VERSION,
    .licence = "Apache-2.0",
    .open = backend_open,
};
