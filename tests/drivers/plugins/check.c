/*
 * check.c: check-only plugin that trusts nobody: a device with memory of its own that looks at every rule of plugin.h
 * that a plugin may rely on, and that can be told to fail at any call (check_script.h).
 *
 * - submit looks at the whole list before it takes it: spans, usages, alignments, tables, and that nothing between two
 *   barriers reads or writes what something else there writes.
 * - Nothing is computed before wait, and between two barriers the last command comes first: a core that reads results
 *   early, forgets a barrier or lets arrays go gets wrong bytes.
 * - A device remembers the thread that submitted first and refuses any other.
 * - A poll (wait with 0) always answers "not yet" the first time.
 * - Memory has canaries on both sides and is never clean.
 * - What is still there at close is a line `check: leak ...` at level error.
 *
 * Results come from the reference code, so they are right unless the script says otherwise. Loaded on request only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "check_look.h"
#include "check_state.h"

/* ---- devices, memory, pipelines --------------------------------------------------------------------------- */

static enum svmx_status device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    struct backend *backend = self;
    if (index >= backend->device_count) return SVMX_ERR_UNKNOWN;
    struct device *device = &backend->devices[index];
    enum svmx_status status = fate(backend, device, CHECK_DEVICE_INFO, NULL, NULL);
    if (status != SVMX_OK) return status;
    struct svmx_device_info mine = {.size = info->size,
                                    .driver = "check 1",
                                    .variant = "reference",
                                    .kind = SVMX_DEVICE_MODEL,
                                    .flags = SVMX_DEVICE_TEST | SVMX_DEVICE_SHARES_CORES,
                                    .compute_engines = 1,
                                    .threads = 1,
                                    .alignment = ALIGNMENT,
                                    .memory_bytes = MEMORY_BYTES,
                                    .max_alloc_bytes = MAX_ALLOC_BYTES,
                                    .max_in_flight = MAX_IN_FLIGHT};
    memcpy(mine.name, device->name, sizeof mine.name);
    memcpy(info, &mine, info->size < sizeof mine ? info->size : sizeof mine);
    return SVMX_OK;
}

static bool memory_desc_ok(const struct backend *backend, const struct svmx_memory_desc *desc) {
    bool import = desc->kind == SVMX_MEMORY_IMPORT;
    if (desc->size < sizeof *desc) return complain(backend, "memory_alloc: a desc of %zu bytes", desc->size);
    if (desc->kind < SVMX_MEMORY_DEVICE || desc->kind > SVMX_MEMORY_IMPORT)
        return complain(backend, "memory_alloc: kind %u", (unsigned)desc->kind);
    if (desc->bytes == 0 || desc->usage == 0) return complain(backend, "memory_alloc: no bytes, or no usage");
    if (import != (desc->import != NULL)) return complain(backend, "memory_alloc: import memory for another kind");
    if (import && (uintptr_t)desc->import % 4096) return complain(backend, "memory_alloc: import is not page-aligned");
    return true;
}

static bool memory_fill(const struct backend *backend, const struct svmx_memory_desc *desc,
                        struct svmx_memory *memory) {
    if (desc->kind == SVMX_MEMORY_IMPORT) {
        memory->data = desc->import;
        return true;
    }
    memory->block = backend->host->alloc(backend->host, (size_t)desc->bytes + 2 * ALIGNMENT, ALIGNMENT);
    if (!memory->block) return complain(backend, "memory_alloc: the host has no memory");
    memory->data = memory->block + ALIGNMENT;
    memset(memory->block, CANARY, ALIGNMENT);
    memset(memory->data, DIRT, (size_t)desc->bytes);
    memset(memory->data + desc->bytes, CANARY, ALIGNMENT);
    return true;
}

static enum svmx_status memory_alloc(void *self, uint32_t index, const struct svmx_memory_desc *desc,
                                     struct svmx_memory **memory, void **host) {
    struct backend *backend = self;
    struct device *device = device_at(backend, "memory_alloc", index);
    if (!device || !memory_desc_ok(backend, desc)) return SVMX_ERR_BACKEND;
    enum svmx_status status = fate(backend, device, CHECK_MEMORY_ALLOC, NULL, NULL);
    if (status != SVMX_OK) return status;
    if (desc->bytes > MAX_ALLOC_BYTES || desc->bytes > MEMORY_BYTES - atomic_load(&device->memory_bytes)) {
        (void)complain(backend, "memory_alloc: %llu bytes do not fit", (unsigned long long)desc->bytes);
        return SVMX_ERR_MEMORY;
    }
    struct svmx_memory *made = calloc(1, sizeof *made);
    if (!made) return SVMX_ERR_MEMORY;
    *made = (struct svmx_memory){
        .magic = MEMORY_MAGIC, .bytes = desc->bytes, .device = index, .usage = desc->usage, .kind = desc->kind};
    if (!memory_fill(backend, desc, made)) {
        free(made);
        return SVMX_ERR_MEMORY;
    }
    atomic_fetch_add(&device->memory_bytes, made->bytes);
    atomic_fetch_add(&device->memories, 1);
    *memory = made;
    *host = desc->usage & (SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE) ? made->data : NULL;
    return SVMX_OK;
}

static bool canary_ok(const uint8_t *canary) {
    for (int i = 0; i < ALIGNMENT; i++)
        if (canary[i] != CANARY) return false;
    return true;
}

static void memory_free(void *self, struct svmx_memory *memory) {
    struct backend *backend = self;
    if (memory->magic != MEMORY_MAGIC) {
        (void)complain(backend, "memory_free: not a memory, or freed already");
        return;
    }
    struct device *device = &backend->devices[memory->device];
    if (memory->block && (!canary_ok(memory->block) || !canary_ok(memory->data + memory->bytes)))
        (void)complain(backend, "canary of a memory of %llu bytes is dead: written outside",
                       (unsigned long long)memory->bytes);
    atomic_fetch_sub(&device->memory_bytes, memory->bytes);
    atomic_fetch_sub(&device->memories, 1);
    memory->magic = 0;
    backend->host->release(backend->host, memory->block);
    free(memory);
}

static enum svmx_status pipeline_build(void *self, uint32_t index, const struct svmx_pipeline_desc *desc,
                                       struct svmx_pipeline **pipeline) {
    struct backend *backend = self;
    const struct svmx_op_desc *op = desc->op;
    struct device *device = device_at(backend, "pipeline_build", index);
    if (!device) return SVMX_ERR_BACKEND;
    if (desc->variant > 0) return SVMX_ERR_UNKNOWN; /* there is one way only */
    enum svmx_status status = fate(backend, device, CHECK_PIPELINE_BUILD, NULL, NULL);
    if (status != SVMX_OK) return status;
    if (desc->bucket == 0 || (desc->bucket & (desc->bucket - 1))) {
        (void)complain(backend, "pipeline_build: bucket %llu is no power of two", (unsigned long long)desc->bucket);
        return SVMX_ERR_BACKEND;
    }
    if (desc->binary && (desc->binary_bytes != strlen(op->name) || memcmp(desc->binary, op->name, strlen(op->name)))) {
        (void)complain(backend, "pipeline_build: another binary than was given for %s", op->name);
        return SVMX_ERR_BACKEND;
    }
    if (op->param_count > MAX_PARAMS || strlen(op->name) >= sizeof(*pipeline)->op) return SVMX_ERR_UNSUPPORTED;
    /* Without slots the reference computes nothing: it says whether it knows the operation. */
    if (backend->host->reference(backend->host, op->name, NULL, op->param_count) == SVMX_ERR_UNKNOWN)
        return SVMX_ERR_UNSUPPORTED;
    struct svmx_pipeline *made = calloc(1, sizeof *made);
    if (!made) return SVMX_ERR_MEMORY;
    made->magic = PIPELINE_MAGIC;
    made->device = index;
    made->param_count = op->param_count;
    made->scratch_bytes_per_unit = op->scratch_bytes_per_unit;
    strcpy(made->op, op->name);
    for (uint32_t i = 0; i < op->param_count; i++) {
        made->scalar[i] = op->params[i].shape == SVMX_SCALAR;
        made->output[i] = op->params[i].direction == SVMX_OUT;
    }
    atomic_fetch_add(&device->pipelines, 1);
    *pipeline = made;
    return SVMX_OK;
}

static void pipeline_free(void *self, struct svmx_pipeline *pipeline) {
    struct backend *backend = self;
    if (pipeline->magic != PIPELINE_MAGIC) {
        (void)complain(backend, "pipeline_free: not a pipeline, or freed already");
        return;
    }
    atomic_fetch_sub(&backend->devices[pipeline->device].pipelines, 1);
    pipeline->magic = 0;
    free(pipeline);
}

/* There is nothing compiled: the operation's name stands for it. */
static enum svmx_status pipeline_binary(void *self, struct svmx_pipeline *pipeline, void *buffer, size_t *bytes) {
    struct backend *backend = self;
    if (pipeline->magic != PIPELINE_MAGIC) {
        (void)complain(backend, "pipeline_binary: not a pipeline, or freed already");
        return SVMX_ERR_BACKEND;
    }
    const size_t length = strlen(pipeline->op);
    enum svmx_status status = fate(backend, &backend->devices[pipeline->device], CHECK_PIPELINE_BINARY, NULL, NULL);
    if (status == SVMX_OK && buffer && *bytes < length) status = SVMX_ERR_OVERFLOW;
    if (status != SVMX_OK) return status;
    if (buffer) memcpy(buffer, pipeline->op, length);
    *bytes = length;
    return SVMX_OK;
}

/* ---- submit ----------------------------------------------------------------------------------------------- */

static void ticket_free(struct ticket *ticket) {
    free(ticket->commands);
    free(ticket->after);
    free(ticket);
}

/* The list and `after` may go when submit returns: what is needed is copied. */
static struct ticket *ticket_make(const struct svmx_submission *submission) {
    const struct svmx_command_list *list = submission->list;
    struct ticket *ticket = calloc(1, sizeof *ticket);
    if (!ticket) return NULL;
    ticket->device = submission->device;
    ticket->count = list->count;
    ticket->after_count = submission->after_count;
    ticket->commands = calloc(list->count + 1, sizeof *ticket->commands);
    ticket->after = calloc(submission->after_count + 1, sizeof *ticket->after);
    if (!ticket->commands || !ticket->after) {
        ticket_free(ticket);
        return NULL;
    }
    for (size_t i = 0; i < list->count; i++)
        memcpy(&ticket->commands[i], (const uint8_t *)list->commands + i * list->command_size, sizeof *list->commands);
    for (size_t i = 0; i < submission->after_count; i++) ticket->after[i] = submission->after[i];
    return ticket;
}

static bool submission_ok(const struct backend *backend, const struct svmx_submission *submission) {
    if (submission->engine != 0) return complain(backend, "submit: engine %u", (unsigned)submission->engine);
    if (!submission->list || submission->recorded) return complain(backend, "submit: recorded lists are not offered");
    if (submission->list->command_size < sizeof(struct svmx_command))
        return complain(backend, "submit: commands of %zu bytes", submission->list->command_size);
    return true;
}

/* Puts a ticket at the end of the queue and gives it its id. */
static bool ticket_push(struct backend *backend, struct ticket *ticket) {
    uint32_t open = 0;
    bool known = true;
    pthread_mutex_lock(&backend->lock);
    struct ticket **end = &backend->tickets;
    for (; *end; end = &(*end)->next) open += (*end)->device == ticket->device;
    for (size_t i = 0; i < ticket->after_count; i++)
        known = known && ticket->after[i] != 0 && ticket->after[i] < backend->next_ticket;
    bool room = open < MAX_IN_FLIGHT;
    if (room && known) {
        ticket->id = backend->next_ticket++;
        *end = ticket;
    }
    pthread_mutex_unlock(&backend->lock);
    if (!known) return complain(backend, "submit: after a ticket that was never given");
    return room || complain(backend, "submit: more than %d submissions are open", MAX_IN_FLIGHT);
}

static enum svmx_status submit(void *self, const struct svmx_submission *submission, uint64_t *id) {
    struct backend *backend = self;
    const struct check_rule *rule, *later;
    uint64_t number;
    struct device *device = device_at(backend, "submit", submission->device);
    if (!device || !thread_ok(backend, device, "submit")) return SVMX_ERR_BACKEND;
    enum svmx_status status = fate(backend, device, CHECK_SUBMIT, &number, &rule);
    if (status != SVMX_OK) return status;
    if (!submission_ok(backend, submission)) return SVMX_ERR_BACKEND;
    struct ticket *ticket = ticket_make(submission);
    if (!ticket) return SVMX_ERR_MEMORY;
    later = rule_at(device, CHECK_WAIT, number);
    ticket->number = number;
    ticket->hangs = (rule && rule->effect == CHECK_HANG) || (later && later->effect == CHECK_HANG);
    if ((rule && rule->effect == CHECK_SLOW) || (later && later->effect == CHECK_SLOW))
        ticket->ready_ns = backend->host->now(backend->host) + CHECK_SLOW_NS;
    if (!commands_ok(backend, submission->device, ticket->commands, ticket->count) || !ticket_push(backend, ticket)) {
        ticket_free(ticket);
        return SVMX_ERR_BACKEND;
    }
    *id = ticket->id;
    return SVMX_OK;
}

/* ---- computing -------------------------------------------------------------------------------------------- */

static bool table_ok(const struct backend *backend, const struct svmx_dispatch *dispatch) {
    size_t slots_bytes = (size_t)dispatch->task_count * dispatch->slot_count * sizeof(struct svmx_slot);
    size_t units_bytes = ((size_t)dispatch->task_count + 1) * sizeof(uint64_t);
    const uint8_t *table = dispatch->table.memory->data + dispatch->table.offset;
    if (memcmp(table, dispatch->slots, slots_bytes) == 0 &&
        memcmp(table + slots_bytes, dispatch->first_unit, units_bytes) == 0)
        return true;
    return complain(backend, "wait: the table of a dispatch is not what its host arrays say");
}

/* One bit of the first output that has bytes. */
static void flip(const struct svmx_dispatch *dispatch) {
    size_t count = (size_t)dispatch->task_count * dispatch->slot_count;
    for (size_t i = 0; i < count; i++) {
        if (!dispatch->pipeline->output[i % dispatch->slot_count] || dispatch->slots[i].bytes == 0) continue;
        dispatch->outputs.memory->data[dispatch->slots[i].at] ^= 1;
        return;
    }
}

static enum svmx_status task_run(const struct backend *backend, const struct svmx_dispatch *dispatch, uint32_t task) {
    const struct svmx_pipeline *pipeline = dispatch->pipeline;
    struct svmx_slot slots[MAX_PARAMS];
    for (uint32_t p = 0; p < dispatch->slot_count; p++) {
        slots[p] = dispatch->slots[(size_t)task * dispatch->slot_count + p];
        const struct svmx_memory *memory = pipeline->output[p] ? dispatch->outputs.memory : dispatch->inputs.memory;
        if (!pipeline->scalar[p]) slots[p].at = slots[p].bytes ? (uintptr_t)memory->data + slots[p].at : 0;
    }
    return backend->host->reference(backend->host, pipeline->op, slots, dispatch->slot_count);
}

static enum svmx_status dispatch_run(struct backend *backend, struct device *device,
                                     const struct svmx_dispatch *dispatch) {
    const struct check_rule *rule;
    enum svmx_status status = fate(backend, device, CHECK_DISPATCH, NULL, &rule);
    if (status == SVMX_OK && !table_ok(backend, dispatch)) status = SVMX_ERR_BACKEND;
    for (uint32_t t = 0; status == SVMX_OK && t < dispatch->task_count; t++) status = task_run(backend, dispatch, t);
    if (status == SVMX_OK && rule && rule->effect == CHECK_BITFLIP) flip(dispatch);
    return status;
}

static enum svmx_status command_run(struct backend *backend, struct ticket *ticket,
                                    const struct svmx_command *command) {
    const struct svmx_host *host = backend->host;
    const struct svmx_copy *copy = &command->as.copy;
    const struct svmx_span *target = &command->as.fill.target;
    enum svmx_status status = SVMX_OK;
    uint64_t start = host->now(host), *spent = &ticket->timing.compute_ns;
    switch (command->kind) {
    case SVMX_COMMAND_DISPATCH:
        status = dispatch_run(backend, &backend->devices[ticket->device], &command->as.dispatch);
        break;
    case SVMX_COMMAND_FILL:
        if (target->bytes) memset(target->memory->data + target->offset, command->as.fill.value, (size_t)target->bytes);
        break;
    default:
        if (copy->source.bytes)
            memcpy(copy->target.memory->data + copy->target.offset, copy->source.memory->data + copy->source.offset,
                   (size_t)copy->source.bytes);
        spent = command->kind == SVMX_COMMAND_COPY_IN ? &ticket->timing.copy_in_ns : &ticket->timing.copy_out_ns;
    }
    *spent += host->now(host) - start;
    return status;
}

/* Between barriers any order is legal: the least expected one. */
static enum svmx_status commands_run(struct backend *backend, struct ticket *ticket) {
    enum svmx_status status = SVMX_OK;
    for (size_t from = 0, to; from < ticket->count; from = to + 1) {
        for (to = from; to < ticket->count && ticket->commands[to].kind != SVMX_COMMAND_BARRIER;) to++;
        for (size_t i = to; status == SVMX_OK && i-- > from;)
            status = command_run(backend, ticket, &ticket->commands[i]);
    }
    return status;
}

static void ticket_run(struct backend *backend, struct ticket *ticket) {
    struct device *device = &backend->devices[ticket->device];
    enum svmx_status status = atomic_load(&device->lost) ? SVMX_ERR_DEVICE_LOST : SVMX_OK;
    if (status == SVMX_OK) status = rule_status(backend, device, rule_at(device, CHECK_WAIT, ticket->number));
    if (status == SVMX_OK) status = commands_run(backend, ticket);
    pthread_mutex_lock(&backend->lock);
    ticket->status = status;
    ticket->done = true;
    pthread_mutex_unlock(&backend->lock);
}

/* ---- wait ------------------------------------------------------------------------------------------------- */

/* The first ticket of a device that is not computed yet, if nothing holds it back. Under the lock. */
static struct ticket *next_ready(const struct backend *backend, uint32_t device, uint64_t now) {
    struct ticket *ticket = backend->tickets;
    while (ticket && (ticket->device != device || ticket->done)) ticket = ticket->next;
    if (!ticket || ticket->hangs || now < ticket->ready_ns) return NULL;
    for (size_t i = 0; i < ticket->after_count; i++)
        for (const struct ticket *other = backend->tickets; other; other = other->next)
            if (other->id == ticket->after[i] && !other->done) return NULL;
    return ticket;
}

/* Computes what is ready, in order. */
static void progress(struct backend *backend, uint32_t device) {
    struct ticket *ticket;
    do {
        uint64_t now = backend->host->now(backend->host);
        pthread_mutex_lock(&backend->lock);
        ticket = next_ready(backend, device, now);
        pthread_mutex_unlock(&backend->lock);
        if (ticket) ticket_run(backend, ticket);
    } while (ticket);
}

/* The place of an open ticket of a device in the queue; NULL if there is none. Under the lock. */
static struct ticket **ticket_place(struct backend *backend, uint32_t device, uint64_t id) {
    for (struct ticket **at = &backend->tickets; *at; at = &(*at)->next)
        if ((*at)->id == id && (*at)->device == device) return at;
    return NULL;
}

/* Takes a ticket out of the queue if it is done: then it is the caller's. NULL: not yet. */
static struct ticket *ticket_take(struct backend *backend, uint32_t device, uint64_t id) {
    struct ticket *taken = NULL;
    pthread_mutex_lock(&backend->lock);
    struct ticket **at = ticket_place(backend, device, id);
    if (at && (*at)->done) {
        taken = *at;
        *at = taken->next;
    }
    pthread_mutex_unlock(&backend->lock);
    return taken;
}

/* Is it open, and is it the first poll of it? */
static bool ticket_known(struct backend *backend, uint32_t device, uint64_t id, bool *first_poll) {
    pthread_mutex_lock(&backend->lock);
    struct ticket **at = ticket_place(backend, device, id);
    if (at) {
        *first_poll = !(*at)->polled;
        (*at)->polled = true;
    }
    pthread_mutex_unlock(&backend->lock);
    return at || complain(backend, "wait: ticket %llu is not open: never given, or waited for already",
                          (unsigned long long)id);
}

static enum svmx_status wait_ticket(void *self, uint32_t index, uint64_t id, uint64_t timeout_ns,
                                    struct svmx_timing *timing) {
    struct backend *backend = self;
    struct device *device = device_at(backend, "wait", index);
    bool first_poll = false;
    if (!device || !thread_ok(backend, device, "wait") || !ticket_known(backend, index, id, &first_poll))
        return SVMX_ERR_BACKEND;
    if (timeout_ns == 0 && first_poll) return SVMX_TIMEOUT;
    uint64_t start = backend->host->now(backend->host);
    struct ticket *ticket;
    for (;;) {
        progress(backend, index);
        ticket = ticket_take(backend, index, id);
        uint64_t waited = backend->host->now(backend->host) - start;
        if (ticket) break;
        if (waited >= timeout_ns) return SVMX_TIMEOUT;
        sleep_ns(timeout_ns - waited < 500000 ? timeout_ns - waited : 500000);
    }
    enum svmx_status status = ticket->status;
    ticket->timing.size = timing->size;
    const struct check_rule *rule = rule_at(device, CHECK_WAIT, ticket->number);
    if (rule && rule->effect == CHECK_TICK) ticket->timing.compute_ns = 1;
    if (status == SVMX_OK && !(rule && rule->effect == CHECK_MUTE))
        memcpy(timing, &ticket->timing, timing->size < sizeof *timing ? timing->size : sizeof *timing);
    ticket_free(ticket);
    return status;
}

/* ---- open and close --------------------------------------------------------------------------------------- */

static void backend_close(void *self) {
    struct backend *backend = self;
    for (uint32_t i = 0; i < backend->device_count; i++) {
        struct device *device = &backend->devices[i];
        int memories = atomic_load(&device->memories), pipelines = atomic_load(&device->pipelines);
        if (memories) (void)complain(backend, "leak: %s: %d memories", device->name, memories);
        if (pipelines) (void)complain(backend, "leak: %s: %d pipelines", device->name, pipelines);
    }
    for (struct ticket *ticket = backend->tickets, *next; ticket; ticket = next) {
        (void)complain(backend, "leak: %s: ticket %llu", backend->devices[ticket->device].name,
                       (unsigned long long)ticket->id);
        next = ticket->next;
        ticket_free(ticket);
    }
    pthread_mutex_destroy(&backend->lock);
    free(backend);
}

/* Devices of one item of the selection; their names contain it, so that the core's filter finds them. */
static bool devices_add(struct backend *backend, const char *item, size_t length) {
    struct check_script script;
    if (!check_parse_script(item, length, &script))
        return complain(backend, "open: '%.*s' is not a script (see check_script.h)", (int)length, item);
    for (uint32_t i = 0; i < script.devices; i++) {
        if (backend->device_count == MAX_DEVICES) return complain(backend, "open: more than %d devices", MAX_DEVICES);
        struct device *device = &backend->devices[backend->device_count];
        device->script = script;
        (void)snprintf(device->name, sizeof device->name, "check %u %s", (unsigned)backend->device_count, script.text);
        backend->device_count++;
    }
    return true;
}

/* "*" and numbers only choose among devices. */
static bool is_script(const char *item, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (item[i] != '*' && (item[i] < '0' || item[i] > '9')) return true;
    return false;
}

static bool devices_make(struct backend *backend, const char *select) {
    for (const char *item = select; item;) {
        size_t length = strcspn(item, ",");
        if (is_script(item, length) && !devices_add(backend, item, length)) return false;
        item = item[length] ? item + length + 1 : NULL;
    }
    return backend->device_count > 0 || devices_add(backend, "plain", 5);
}

static const struct svmx_backend_ops ops = {
    .size = sizeof(struct svmx_backend_ops),
    .device_info = device_info,
    .memory_alloc = memory_alloc,
    .memory_free = memory_free,
    .pipeline_build = pipeline_build,
    .pipeline_free = pipeline_free,
    .pipeline_binary = pipeline_binary,
    .submit = submit,
    .wait = wait_ticket,
    .close = backend_close,
};

static enum svmx_status backend_open(const struct svmx_host *host, struct svmx_backend *opened) {
    struct backend *backend = calloc(1, sizeof *backend);
    if (!backend) return SVMX_ERR_MEMORY;
    backend->host = host;
    backend->next_ticket = 1;
    pthread_mutex_init(&backend->lock, NULL);
    enum svmx_status status = devices_make(backend, host->option(host, "select")) ? SVMX_OK : SVMX_ERR_ARGUMENT;
    if (status == SVMX_OK) status = fate(backend, &backend->devices[0], CHECK_OPEN, NULL, NULL);
    if (status == SVMX_OK)
        *opened = (struct svmx_backend){.ops = &ops, .self = backend};
    else
        backend_close(backend);
    return status;
}

SVMX_EXPORT extern const struct svmx_plugin svmx_plugin;
const struct svmx_plugin svmx_plugin = {
    .magic = SVMX_PLUGIN_MAGIC,
    .size = sizeof(struct svmx_plugin),
    .abi_major = SVMX_ABI_MAJOR,
    .abi_minor = SVMX_ABI_MINOR,
    .flags = SVMX_PLUGIN_ON_REQUEST,
    .name = "check",
    .version = "1",
    .licence = "Apache-2.0",
    .open = backend_open,
};
