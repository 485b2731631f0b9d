/*
 * template.c: a backend to copy. One device with memory of its own that adds vectors; docs/PLUGIN-GUIDE.md goes through
 * it step by step.
 *
 *   cc -std=c17 -O2 -fPIC -shared -fvisibility=hidden $(pkg-config --cflags svmx) template.c -o template.so
 *   SUPERVM_BACKEND_PATH=$PWD SUPERVM_BACKENDS=template svmx devices
 *
 * Whatever says YOURS is where a real device's API calls go; here host memory plays the device. Everything that the
 * plugin knows hangs on `self`: open may be called again while this instance lives.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <svmx/plugin.h>

#include <string.h>

/* YOURS: a context, a queue. */
struct backend {
    const struct svmx_host *host;
    uint64_t last_ticket, open_ticket; /* only the device's submitter thread calls submit and wait: no lock */
    struct svmx_timing timing;         /* of open_ticket */
};

/* YOURS: a buffer handle. The core carries the pointer and never looks inside. */
struct svmx_memory {
    uint8_t *data;
};

/* YOURS: a compiled kernel. */
struct svmx_pipeline {
    void (*run)(const struct svmx_dispatch *dispatch, uint32_t task);
};

/* Every error has a line that says why; the core puts our name before it and shows it with the status. */
static enum svmx_status failed(const struct backend *backend, enum svmx_status status, const char *why) {
    backend->host->log(backend->host, SVMX_LOG_ERROR, why);
    return status;
}

/* ---- devices ---------------------------------------------------------------------------------------------- */

/* Fills no more than info->size bytes: an older core may know fewer fields. */
static enum svmx_status device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    (void)self;
    if (index != 0) return SVMX_ERR_UNKNOWN; /* past the last device: that is how the core counts them */
    const struct svmx_device_info mine = {
        .size = info->size,
        .name = "template device",
        .driver = "template 1.0", /* caches start anew when this changes: put the driver's version in it */
        .kind = SVMX_DEVICE_ACCELERATOR,
        .flags = SVMX_DEVICE_SHARES_CORES | SVMX_DEVICE_TEST, /* YOURS: 0 for a real GPU with memory of its own */
        .compute_engines = 1,
        .threads = 1,
        .alignment = 256,
        .memory_bytes = UINT64_C(1) << 30,
        .max_alloc_bytes = UINT64_C(1) << 28,
        .max_in_flight = 1,
    };
    memcpy(info, &mine, info->size < sizeof mine ? info->size : sizeof mine);
    return SVMX_OK;
}

/* ---- memory: may be called beside submit and wait, from any thread ------------------------------------------ */

static enum svmx_status memory_alloc(void *self, uint32_t device, const struct svmx_memory_desc *desc,
                                     struct svmx_memory **memory, void **host) {
    const struct backend *backend = self;
    const struct svmx_host *core = backend->host;
    (void)device;
    if (desc->kind == SVMX_MEMORY_IMPORT) return failed(backend, SVMX_ERR_UNSUPPORTED, "imports are not offered");
    struct svmx_memory *made = core->alloc(core, sizeof *made, 64);
    if (!made) return failed(backend, SVMX_ERR_MEMORY, "no memory for a buffer's handle");
    made->data = core->alloc(core, (size_t)desc->bytes, 4096); /* YOURS: device memory, or pinned for staging */
    if (!made->data) {
        core->release(core, made);
        return failed(backend, SVMX_ERR_MEMORY, "the device has no memory left");
    }
    *memory = made;
    *host = desc->usage & (SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE) ? made->data : NULL;
    return SVMX_OK;
}

static void memory_free(void *self, struct svmx_memory *memory) {
    const struct svmx_host *core = ((const struct backend *)self)->host;
    core->release(core, memory->data);
    core->release(core, memory);
}

/* ---- kernels ---------------------------------------------------------------------------------------------- */

static float load(const uint8_t *from) {
    float value;
    memcpy(&value, from, sizeof value);
    return value;
}

/* Results only. Every backend writes the same NaN: the same bits everywhere. */
static void store(uint8_t *to, float value) {
    const uint32_t nan = UINT32_C(0x7fc00000);
    if (value == value)
        memcpy(to, &value, sizeof value);
    else
        memcpy(to, &nan, sizeof nan);
}

/* Slots in the order of the signature, outputs first: out, a, b. `at` is an offset into the binding's memory. */
static void vec_add_f32(const struct svmx_dispatch *dispatch, uint32_t task) {
    const struct svmx_slot *slots = dispatch->slots + (size_t)task * dispatch->slot_count;
    if (slots[0].bytes == 0) return; /* a task of no items; its memory may be NULL */
    uint8_t *out = dispatch->outputs.memory->data + slots[0].at;
    const uint8_t *a = dispatch->inputs.memory->data + slots[1].at;
    const uint8_t *b = dispatch->inputs.memory->data + slots[2].at;
    for (uint64_t i = 0; i < slots[0].bytes; i += sizeof(float)) store(out + i, load(a + i) + load(b + i));
}

/* YOURS: compile for desc->bucket. SVMX_ERR_UNSUPPORTED is no fault: the core asks about every operation. */
static enum svmx_status pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                       struct svmx_pipeline **pipeline) {
    const struct backend *backend = self;
    (void)device;
    if (strcmp(desc->op->name, "vec_add_f32") != 0) return SVMX_ERR_UNSUPPORTED;
    struct svmx_pipeline *made = backend->host->alloc(backend->host, sizeof *made, 64);
    if (!made) return failed(backend, SVMX_ERR_MEMORY, "no memory for a pipeline");
    made->run = vec_add_f32;
    *pipeline = made;
    return SVMX_OK;
}

static void pipeline_free(void *self, struct svmx_pipeline *pipeline) {
    const struct backend *backend = self;
    backend->host->release(backend->host, pipeline);
}

/* ---- submit and wait: the submitter thread of the device only ----------------------------------------------- */

/* Commands are as long as the core says: a later one may have longer ones. */
static const struct svmx_command *command_at(const struct svmx_command_list *list, size_t index) {
    return (const void *)((const uint8_t *)list->commands + index * list->command_size);
}

/* A failed submit has started nothing: look at everything first. */
static enum svmx_status submission_check(const struct backend *backend, const struct svmx_submission *submission) {
    if (backend->open_ticket) return failed(backend, SVMX_ERR_STATE, "one submission at a time (max_in_flight is 1)");
    if (!submission->list) return failed(backend, SVMX_ERR_UNSUPPORTED, "recorded lists are not offered");
    for (size_t i = 0; i < submission->list->count; i++) {
        uint32_t kind = command_at(submission->list, i)->kind;
        if (kind < SVMX_COMMAND_COPY_IN || kind > SVMX_COMMAND_BARRIER)
            return failed(backend, SVMX_ERR_UNSUPPORTED, "a command that this version does not know");
    }
    return SVMX_OK;
}

static uint8_t *address(const struct svmx_span *span) { return span->memory->data + span->offset; }

/* YOURS: enqueue, without waiting. What lies between two barriers may run in any order, or all at once. */
static void command_run(const struct svmx_command *command) {
    const struct svmx_dispatch *dispatch = &command->as.dispatch;
    const struct svmx_copy *copy = &command->as.copy;
    const struct svmx_fill *fill = &command->as.fill;
    switch (command->kind) {
    case SVMX_COMMAND_COPY_IN:
    case SVMX_COMMAND_COPY_OUT:
        if (copy->source.bytes) memcpy(address(&copy->target), address(&copy->source), (size_t)copy->source.bytes);
        break;
    case SVMX_COMMAND_FILL:
        if (fill->target.bytes) memset(address(&fill->target), fill->value, (size_t)fill->target.bytes);
        break;
    case SVMX_COMMAND_DISPATCH: /* one launch for all tasks; a GPU finds them in dispatch->table */
        for (uint32_t t = 0; t < dispatch->task_count; t++) dispatch->pipeline->run(dispatch, t);
        break;
    default: break; /* a barrier asks for nothing: what came before is done */
    }
}

static uint64_t *clock_of(struct svmx_timing *timing, uint32_t kind) {
    if (kind == SVMX_COMMAND_COPY_IN) return &timing->copy_in_ns;
    return kind == SVMX_COMMAND_COPY_OUT ? &timing->copy_out_ns : &timing->compute_ns;
}

static enum svmx_status submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    struct backend *backend = self;
    const struct svmx_host *core = backend->host;
    enum svmx_status status = submission_check(backend, submission);
    if (status != SVMX_OK) return status;
    backend->timing = (struct svmx_timing){0};
    for (size_t i = 0; i < submission->list->count; i++) {
        const struct svmx_command *command = command_at(submission->list, i);
        uint64_t start = core->now(core);
        command_run(command);
        *clock_of(&backend->timing, command->kind) += core->now(core) - start;
    }
    *ticket = backend->open_ticket = ++backend->last_ticket; /* never 0: that would mean "all done, do not wait" */
    return SVMX_OK;
}

/* YOURS: wait no longer than timeout_ns, and answer SVMX_TIMEOUT while the device is not done. */
static enum svmx_status wait_ticket(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns,
                                    struct svmx_timing *timing) {
    struct backend *backend = self;
    (void)device;
    (void)timeout_ns;
    if (ticket == 0 || ticket != backend->open_ticket) return failed(backend, SVMX_ERR_STATE, "no such ticket is open");
    backend->open_ticket = 0; /* a final answer retires the ticket */
    backend->timing.size = timing->size;
    memcpy(timing, &backend->timing, timing->size < sizeof *timing ? timing->size : sizeof *timing);
    return SVMX_OK;
}

/* ---- open and close --------------------------------------------------------------------------------------- */

/* The core has freed its memory and pipelines before. */
static void backend_close(void *self) {
    struct backend *backend = self;
    backend->host->release(backend->host, backend);
}

static const struct svmx_backend_ops ops = {
    .size = sizeof(struct svmx_backend_ops),
    .device_info = device_info,
    .memory_alloc = memory_alloc,
    .memory_free = memory_free,
    .pipeline_build = pipeline_build,
    .pipeline_free = pipeline_free,
    .pipeline_binary = NULL, /* optional: nothing is compiled */
    .list_record = NULL,     /* optional, both or none */
    .list_free = NULL,
    .submit = submit,
    .wait = wait_ticket,
    .close = backend_close,
};

/* YOURS: find the driver. Nothing to serve on this machine: say so in the log and answer SVMX_ERR_UNSUPPORTED. */
static enum svmx_status backend_open(const struct svmx_host *host, struct svmx_backend *opened) {
    if (host->abi_major != SVMX_ABI_MAJOR || host->size < sizeof *host) return SVMX_ERR_ABI;
    struct backend *backend = host->alloc(host, sizeof *backend, 64);
    if (!backend) return SVMX_ERR_MEMORY;
    *backend = (struct backend){.host = host};
    *opened = (struct svmx_backend){.ops = &ops, .self = backend};
    return SVMX_OK;
}

/* The only symbol that is looked up, and data: it is read out of the file before any code of the plugin runs. */
SVMX_EXPORT extern const struct svmx_plugin svmx_plugin;
const struct svmx_plugin svmx_plugin = {
    .magic = SVMX_PLUGIN_MAGIC,
    .size = sizeof(struct svmx_plugin),
    .abi_major = SVMX_ABI_MAJOR,
    .abi_minor = SVMX_ABI_MINOR,
    .flags = SVMX_PLUGIN_ON_REQUEST, /* YOURS: 0, unless users must ask for it */
    .name = "template",              /* YOURS: the file's name without .so */
    .version = "1.0",
    .licence = "Apache-2.0",
    .open = backend_open,
};
