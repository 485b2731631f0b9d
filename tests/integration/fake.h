/*
 * fake.h: a device with memory of its own that does what a test tells it: a gate that holds tickets back, failures at a
 * chosen call, wrong bytes, work that is finished long after its deadline; and that counts every call.
 *
 * Linked in through options.static_plugins, so that a test sees inside. The plugin tests/drivers/plugins/check.c looks
 * at the rules of the ABI; this one is for what happens over time. Included by suites, one copy each: all is static.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FAKE_H
#define FAKE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>
#include <svmx/plugin.h>
#include <time.h>
#include <unistd.h>

enum fake_call { FAKE_ALLOC, FAKE_BUILD, FAKE_SUBMIT, FAKE_WAIT, FAKE_CALLS };
enum { FAKE_PARAMS = 8, FAKE_VARIANTS = 3, FAKE_ALL = 1 << 30 };

/* Calls that do not return while their bit is set. */
enum fake_stuck {
    FAKE_STUCK_ALLOC = 1,
    FAKE_STUCK_FREE = 2,
    FAKE_STUCK_BUILD = 4,
    FAKE_STUCK_DROP = 8, /* pipeline_free */
    FAKE_STUCK_SUBMIT = 16,
    FAKE_STUCK_WAIT = 32,
    FAKE_STUCK_OPEN = 64,
    FAKE_STUCK_CLOSE = 128,
    FAKE_STUCK_INFO = 256, /* device_info */
    FAKE_STUCK_END = 512   /* the same, when it is asked for one more than there are */
};

struct svmx_memory {
    unsigned char *data;
    uint64_t bytes;
};

struct svmx_pipeline {
    char op[32];
    struct svmx_param params[FAKE_PARAMS];
    uint32_t param_count;
    uint32_t variant;
};

/* A way of computing: what its launches of more than FAKE_SMALL units take. */
enum { FAKE_SMALL = 10000 };
struct fake_variant {
    uint64_t ns;       /* by the device's clock; 0: it does not tell */
    uint64_t sleep_ns; /* in earnest */
    unsigned slow_launch,
        slow_times;          /* that one of its launches, counted from 1, takes so many times as long; 0: none */
    enum svmx_status status; /* of such launches */
    unsigned launches;       /* of them so far; under the lock */
};

struct fake_ticket {
    struct fake_ticket *next;
    uint64_t id;
    size_t count;
    struct svmx_command commands[];
};

/* The test sets the wishes before svmx_open, or with fake_set later; the rest it only reads. */
static struct fake {
    uint32_t flags; /* enum svmx_device_flags */
    uint64_t max_alloc_bytes, memory_bytes;
    uint64_t capacity; /* bytes that it has in earnest; 0: no limit */
    uint32_t max_in_flight;
    bool gate_closed;          /* tickets do not finish while it is */
    unsigned stuck;            /* enum fake_stuck */
    bool stuck_once;           /* of these the first call only */
    bool forgets_gate;         /* wait says TIMEOUT at once instead of waiting for the gate */
    bool wrong_bytes;          /* one bit of each launch */
    const char *wrong_op;      /* the same of launches of that operation only; NULL: none */
    int stray;                 /* 1: a byte behind the outputs of each launch is written, -1: one before them */
    bool stray_input;          /* a byte behind the last input of each launch is written */
    unsigned stray_launch;     /* of the launch with that number only; 0: of all */
    uint64_t short_bytes;      /* so many bytes at the end of each copy to the host do not arrive */
    bool silent;               /* a failure is not explained in the log */
    bool one_pipeline;         /* every build answers with the pipeline of the first */
    bool endless;              /* it has a device for every number */
    bool no_address;           /* memory that the host is to see is given without its address */
    bool no_pipeline;          /* builds are OK, and give none */
    bool ticket_first;         /* an inline device answers a ticket and computes in wait */
    struct svmx_timing timing; /* what its clock says of every launch */
    bool honest_clock;         /* it says how long it computed */
    unsigned delay_ms;         /* each launch takes so long */
    unsigned binary_ms;        /* to give a binary takes so long; 0: it gives none */
    unsigned binaries;         /* how many it gave */
    const char *driver;        /* NULL: "fake 1" */
    struct fake_variant variants[FAKE_VARIANTS];
    unsigned variant_count; /* 0: there is one way, and nothing is to be said of it */
    unsigned builders;      /* a build goes on when so many were called */
    struct {
        unsigned from, count; /* calls with the numbers from .. from + count - 1 fail */
        enum svmx_status status;
    } fail[FAKE_CALLS];

    pthread_mutex_t lock; /* guards all below, and the wishes once the device is open */
    pthread_cond_t changed;
    const struct svmx_host *host;
    struct fake_ticket *open; /* given out and not retired; those past their deadline as well */
    uint64_t next_ticket;
    unsigned calls[FAKE_CALLS];
    unsigned opens, closes, memories, pipelines; /* the last two: alive */
    uint64_t bytes;                              /* of memories that are */
    unsigned copies_in, copies_out, fills, launches, tasks;
    uint64_t bytes_in, bytes_out;        /* of these copies */
    unsigned stuck_calls;                /* that were kept, and are, or came back late */
    unsigned frees, foreign_frees;       /* of memory; in other threads than those of submitters */
    uint32_t last_variant;               /* that was launched */
    struct svmx_pipeline first_pipeline; /* of one_pipeline */
} fake;

static inline void fake_start(void) {
    memset(&fake, 0, sizeof fake);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&fake.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&fake.lock, NULL);
    fake.next_ticket = 1;
}

static inline void fake_gate(bool closed) {
    pthread_mutex_lock(&fake.lock);
    fake.gate_closed = closed;
    pthread_cond_broadcast(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
}

/* Reads a counter under the lock. */
static inline unsigned fake_count(const unsigned *counter) {
    pthread_mutex_lock(&fake.lock);
    unsigned count = *counter;
    pthread_mutex_unlock(&fake.lock);
    return count;
}

/* Blocks until a counter has reached a value: for tests that must know where the other thread is. */
static inline void fake_await(const unsigned *counter, unsigned value) {
    pthread_mutex_lock(&fake.lock);
    while (*counter < value) pthread_cond_wait(&fake.changed, &fake.lock);
    pthread_mutex_unlock(&fake.lock);
}

static inline void fake_stick(unsigned calls) {
    pthread_mutex_lock(&fake.lock);
    fake.stuck = calls;
    pthread_cond_broadcast(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
}

/* Was it kept? */
static bool fake_stay(enum fake_stuck call) {
    pthread_mutex_lock(&fake.lock);
    const bool stays = fake.stuck & call && !(fake.stuck_once && fake.stuck_calls);
    if (stays) {
        fake.stuck_calls++;
        pthread_cond_broadcast(&fake.changed);
    }
    while (stays && fake.stuck & call) pthread_cond_wait(&fake.changed, &fake.lock);
    pthread_mutex_unlock(&fake.lock);
    return stays;
}

/* Counts a call; its status if it is told to fail. Under the lock. */
static enum svmx_status fake_fate(enum fake_call call) {
    unsigned number = ++fake.calls[call];
    pthread_cond_broadcast(&fake.changed);
    bool fails = number >= fake.fail[call].from && number - fake.fail[call].from < fake.fail[call].count;
    if (!fails) return SVMX_OK;
    static const char *const lines[FAKE_CALLS] = {"alloc told to fail", "build told to fail", "submit told to fail",
                                                  "wait told to fail"};
    if (!fake.silent) fake.host->log(fake.host, SVMX_LOG_ERROR, lines[call]);
    return fake.fail[call].status;
}

/* Takes so many bytes of what it has. */
static bool fake_has_room(uint64_t bytes) {
    pthread_mutex_lock(&fake.lock);
    const bool has_room = !fake.capacity || fake.bytes + bytes <= fake.capacity;
    if (has_room) fake.bytes += bytes;
    pthread_mutex_unlock(&fake.lock);
    return has_room;
}

/* Counts a call that makes something. */
static enum svmx_status fake_count_alive(enum fake_call call, unsigned *alive) {
    pthread_mutex_lock(&fake.lock);
    enum svmx_status status = fake_fate(call);
    *alive += status == SVMX_OK;
    pthread_mutex_unlock(&fake.lock);
    return status;
}

/* There was no memory to make it. */
static enum svmx_status fake_take_back(unsigned *alive) {
    pthread_mutex_lock(&fake.lock);
    *alive -= 1;
    pthread_mutex_unlock(&fake.lock);
    return SVMX_ERR_MEMORY;
}

/* ---- the eleven functions ----------------------------------------------------------------------------------- */

static enum svmx_status fake_device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    (void)self;
    (void)fake_stay(index ? FAKE_STUCK_END : FAKE_STUCK_INFO);
    if (index && !fake.endless) return SVMX_ERR_UNKNOWN;
    *info = (struct svmx_device_info){.size = info->size,
                                      .name = "fake",
                                      .driver = "fake 1",
                                      .kind = SVMX_DEVICE_MODEL,
                                      .flags = fake.flags | SVMX_DEVICE_TEST,
                                      .compute_engines = 1,
                                      .threads = 1,
                                      .alignment = 64,
                                      .memory_bytes = fake.memory_bytes,
                                      .max_alloc_bytes = fake.max_alloc_bytes,
                                      .max_in_flight = fake.max_in_flight,
                                      .max_group = 128,
                                      .timer_ns = 40,
                                      .fp32 = SVMX_FP_DENORMALS | SVMX_FP_FMA,
                                      .fp64 = SVMX_FP_INF_NAN,
                                      .local_bytes = 4096};
    if (fake.driver) strcpy(info->driver, fake.driver);
    return SVMX_OK;
}

static enum svmx_status fake_memory_alloc(void *self, uint32_t device, const struct svmx_memory_desc *desc,
                                          struct svmx_memory **memory, void **host) {
    (void)self, (void)device;
    (void)fake_stay(FAKE_STUCK_ALLOC);
    enum svmx_status status = fake_count_alive(FAKE_ALLOC, &fake.memories);
    if (status != SVMX_OK) return status;
    struct svmx_memory *made = calloc(1, sizeof *made);
    if (!fake_has_room(desc->bytes)) {
        free(made);
        return fake_take_back(&fake.memories);
    }
    if (!made || !(made->data = aligned_alloc(64, (size_t)desc->bytes))) {
        free(made);
        return fake_take_back(&fake.memories);
    }
    memset(made->data, 0xa5, (size_t)desc->bytes);
    made->bytes = desc->bytes;
    *memory = made;
    const bool seen = (desc->usage & (SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE)) != 0;
    *host = seen && !fake.no_address ? made->data : NULL;
    return SVMX_OK;
}

/* Is the calling thread a submitter, by its name? */
static bool fake_is_submitter(void) {
    char name[16] = "";
    (void)pthread_getname_np(pthread_self(), name, sizeof name);
    return strncmp(name, "svmx-dev-", 9) == 0;
}

static void fake_memory_free(void *self, struct svmx_memory *memory) {
    (void)self;
    (void)fake_stay(FAKE_STUCK_FREE);
    pthread_mutex_lock(&fake.lock);
    fake.frees++;
    fake.foreign_frees += !fake_is_submitter();
    pthread_cond_broadcast(&fake.changed);
    fake.memories--;
    fake.bytes -= memory->bytes;
    pthread_mutex_unlock(&fake.lock);
    free(memory->data);
    free(memory);
}

/* What a launch will need to know of the operation. One that has been told keeps to it. */
static void fake_pipeline_teach(struct svmx_pipeline *pipeline, const struct svmx_op_desc *op) {
    if (strlen(op->name) >= sizeof pipeline->op || op->param_count > FAKE_PARAMS) abort();
    pthread_mutex_lock(&fake.lock);
    if (!*pipeline->op) {
        strcpy(pipeline->op, op->name);
        pipeline->param_count = op->param_count;
        memcpy(pipeline->params, op->params, op->param_count * sizeof *pipeline->params);
    }
    pthread_mutex_unlock(&fake.lock);
}

static enum svmx_status fake_pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                            struct svmx_pipeline **pipeline) {
    (void)self, (void)device;
    (void)fake_stay(FAKE_STUCK_BUILD);
    if (desc->variant >= (fake.variant_count ? fake.variant_count : 1)) return SVMX_ERR_UNKNOWN;
    enum svmx_status status = fake_count_alive(FAKE_BUILD, &fake.pipelines);
    if (status != SVMX_OK) return status;
    fake_await(&fake.calls[FAKE_BUILD], fake.builders);
    if (fake.no_pipeline) return fake_take_back(&fake.pipelines) == SVMX_OK ? SVMX_ERR_STATE : SVMX_OK;
    struct svmx_pipeline *made = fake.one_pipeline ? &fake.first_pipeline : calloc(1, sizeof *made);
    if (!made) return fake_take_back(&fake.pipelines);
    fake_pipeline_teach(made, desc->op);
    made->variant = desc->variant;
    *pipeline = made;
    return SVMX_OK;
}

/* As a driver does that compiles only now. */
static enum svmx_status fake_pipeline_binary(void *self, struct svmx_pipeline *pipeline, void *buffer, size_t *bytes) {
    static const char binary[] = "fake";
    (void)self, (void)pipeline;
    const bool gives = fake.binary_ms != 0;
    if (gives && !buffer) usleep(fake.binary_ms * 1000);
    *bytes = gives ? sizeof binary : 0;
    if (!gives || !buffer) return SVMX_OK;
    memcpy(buffer, binary, sizeof binary);
    pthread_mutex_lock(&fake.lock);
    fake.binaries++;
    pthread_cond_broadcast(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
    return SVMX_OK;
}

static void fake_pipeline_free(void *self, struct svmx_pipeline *pipeline) {
    (void)self;
    (void)fake_stay(FAKE_STUCK_DROP);
    pthread_mutex_lock(&fake.lock);
    fake.pipelines--;
    pthread_mutex_unlock(&fake.lock);
    if (pipeline != &fake.first_pipeline) free(pipeline);
}

/* What a chain at once does not write, nobody may read. */
static void fake_forget_silent(const struct svmx_dispatch *dispatch) {
    enum { OUT, WHAT = 4, SILENT = 1 << 10 };
    if (strcmp(dispatch->pipeline->op, "chain_f32") != 0) return;
    for (uint32_t t = 0; t < dispatch->task_count; t++) {
        const struct svmx_slot *row = dispatch->slots + (size_t)t * dispatch->slot_count;
        if (row[WHAT].at & SILENT && row[OUT].bytes)
            memset(dispatch->outputs.memory->data + row[OUT].at, 0xa5, row[OUT].bytes);
    }
}

static void fake_launch(const struct svmx_dispatch *dispatch) {
    const struct svmx_pipeline *pipeline = dispatch->pipeline;
    bool in_place = (fake.flags & SVMX_DEVICE_HOST_MEMORY) != 0;
    for (uint32_t t = 0; t < dispatch->task_count; t++) {
        struct svmx_slot slots[FAKE_PARAMS];
        for (uint32_t i = 0; i < dispatch->slot_count; i++) {
            slots[i] = dispatch->slots[(size_t)t * dispatch->slot_count + i];
            if (pipeline->params[i].shape == SVMX_SCALAR) continue;
            bool out = pipeline->params[i].direction == SVMX_OUT;
            const struct svmx_memory *memory = out ? dispatch->outputs.memory : dispatch->inputs.memory;
            if (!in_place) slots[i].at = slots[i].bytes ? (uintptr_t)memory->data + slots[i].at : 0;
            if (!out || t || !slots[i].bytes) continue;
            memset((void *)(uintptr_t)slots[i].at, 0xa5, slots[i].bytes);
        }
        (void)fake.host->reference(fake.host, pipeline->op, slots, dispatch->slot_count);
        const bool strays = fake.stray && (!fake.stray_launch || fake.stray_launch == fake.launches);
        if (strays && slots[0].bytes && t + 1 == dispatch->task_count)
            ((unsigned char *)(uintptr_t)slots[0].at)[fake.stray < 0 ? -1 : (int64_t)slots[0].bytes] ^= 1;
        const struct svmx_slot *last = &slots[dispatch->slot_count - 1];
        if (fake.stray_input && last->bytes && t + 1 == dispatch->task_count)
            ((unsigned char *)(uintptr_t)last->at)[last->bytes] ^= 1;
        const bool wrong = fake.wrong_bytes || (fake.wrong_op && strcmp(fake.wrong_op, pipeline->op) == 0);
        if (t == 0 && wrong && slots[0].bytes) *(unsigned char *)(uintptr_t)slots[0].at ^= 1;
    }
    fake_forget_silent(dispatch);
}

/* Under the lock. */
static void fake_compute(const struct fake_ticket *ticket) {
    for (size_t i = 0; i < ticket->count; i++) {
        const struct svmx_command *command = &ticket->commands[i];
        const struct svmx_copy *copy = &command->as.copy;
        fake.copies_in += command->kind == SVMX_COMMAND_COPY_IN;
        fake.copies_out += command->kind == SVMX_COMMAND_COPY_OUT;
        if (command->kind == SVMX_COMMAND_DISPATCH) {
            fake.launches++;
            fake.tasks += command->as.dispatch.task_count;
            fake_launch(&command->as.dispatch);
        } else if (command->kind == SVMX_COMMAND_FILL) {
            const struct svmx_fill *fill = &command->as.fill;
            fake.fills++;
            memset(fill->target.memory->data + fill->target.offset, fill->value, fill->target.bytes);
        } else if (command->kind != SVMX_COMMAND_BARRIER) {
            const bool out = command->kind == SVMX_COMMAND_COPY_OUT;
            *(out ? &fake.bytes_out : &fake.bytes_in) += copy->source.bytes;
            memcpy(copy->target.memory->data + copy->target.offset, copy->source.memory->data + copy->source.offset,
                   copy->source.bytes - (out ? fake.short_bytes : 0));
        }
    }
}

/* Under the lock. What the variant that a ticket launches is told to do with it, and take for it. */
static enum svmx_status fake_take_time(const struct fake_ticket *ticket, struct svmx_timing *timing) {
    for (size_t i = 0; fake.variant_count && i < ticket->count; i++) {
        const struct svmx_dispatch *dispatch = &ticket->commands[i].as.dispatch;
        if (ticket->commands[i].kind != SVMX_COMMAND_DISPATCH) continue;
        fake.last_variant = dispatch->pipeline->variant;
        if (dispatch->first_unit[dispatch->task_count] <= FAKE_SMALL) continue;
        struct fake_variant *variant = &fake.variants[dispatch->pipeline->variant];
        const uint64_t times = ++variant->launches == variant->slow_launch ? variant->slow_times : 1;
        const struct timespec pause = {0, (long)(variant->sleep_ns * times)};
        nanosleep(&pause, NULL);
        timing->compute_ns = variant->ns * times;
        return variant->status;
    }
    return SVMX_OK;
}

static enum svmx_status fake_submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    (void)self;
    (void)fake_stay(FAKE_STUCK_SUBMIT);
    const struct svmx_command_list *list = submission->list;
    struct fake_ticket *made = calloc(1, sizeof *made + list->count * sizeof *made->commands);
    if (!made) return SVMX_ERR_MEMORY;
    made->count = list->count;
    for (size_t i = 0; i < list->count; i++) made->commands[i] = list->commands[i];
    pthread_mutex_lock(&fake.lock);
    enum svmx_status status = fake_fate(FAKE_SUBMIT);
    bool now = (fake.flags & SVMX_DEVICE_INLINE) != 0 && !fake.ticket_first;
    if (status == SVMX_OK && now) {
        fake_compute(made);
        *ticket = 0;
    } else if (status == SVMX_OK) {
        *ticket = made->id = fake.next_ticket++;
        made->next = fake.open;
        fake.open = made;
    }
    pthread_mutex_unlock(&fake.lock);
    if (status != SVMX_OK || now) free(made);
    return status;
}

static struct fake_ticket **fake_find(uint64_t id) {
    struct fake_ticket **at = &fake.open;
    while (*at && (*at)->id != id) at = &(*at)->next;
    return at;
}

/* Under the lock. Waits for the gate. */
static bool fake_gate_opens(uint64_t timeout_ns) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)(timeout_ns / 1000000000);
    end.tv_nsec += (long)(timeout_ns % 1000000000);
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    int error = fake.forgets_gate && timeout_ns ? 1 : 0;
    while (fake.gate_closed && !error) error = pthread_cond_timedwait(&fake.changed, &fake.lock, &end);
    return !fake.gate_closed;
}

static enum svmx_status fake_wait(void *self, uint32_t device, uint64_t id, uint64_t timeout_ns,
                                  struct svmx_timing *timing) {
    (void)self, (void)device;
    (void)fake_stay(FAKE_STUCK_WAIT);
    pthread_mutex_lock(&fake.lock);
    timing->copy_in_ns = fake.timing.copy_in_ns;
    timing->compute_ns = fake.timing.compute_ns;
    timing->copy_out_ns = fake.timing.copy_out_ns;
    enum svmx_status status = fake_fate(FAKE_WAIT);
    if (status == SVMX_OK && !fake_gate_opens(timeout_ns)) status = SVMX_TIMEOUT;
    if (status != SVMX_TIMEOUT) {
        struct fake_ticket **at = fake_find(id), *ticket = *at;
        if (!ticket) abort(); /* waited for twice */
        *at = ticket->next;
        const uint64_t start = fake.host->now(fake.host);
        const struct timespec delay = {0, (long)fake.delay_ms * 1000000};
        if (fake.delay_ms) (void)nanosleep(&delay, NULL);
        if (status == SVMX_OK) fake_compute(ticket);
        if (status == SVMX_OK) status = fake_take_time(ticket, timing);
        if (fake.honest_clock) timing->compute_ns = fake.host->now(fake.host) - start;
        free(ticket);
    }
    pthread_mutex_unlock(&fake.lock);
    return status;
}

/* A driver that wakes up late: what is still open is computed now, in whatever memory it was given. */
static inline unsigned fake_finish_late(void) {
    unsigned count = 0;
    pthread_mutex_lock(&fake.lock);
    while (fake.open) {
        struct fake_ticket *ticket = fake.open;
        fake.open = ticket->next;
        fake_compute(ticket);
        free(ticket);
        count++;
    }
    pthread_mutex_unlock(&fake.lock);
    return count;
}

static void fake_close(void *self) {
    (void)self;
    (void)fake_stay(FAKE_STUCK_CLOSE);
    pthread_mutex_lock(&fake.lock);
    fake.closes++;
    pthread_cond_broadcast(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
}

static const struct svmx_backend_ops fake_ops = {.size = sizeof(struct svmx_backend_ops),
                                                 .device_info = fake_device_info,
                                                 .memory_alloc = fake_memory_alloc,
                                                 .memory_free = fake_memory_free,
                                                 .pipeline_build = fake_pipeline_build,
                                                 .pipeline_free = fake_pipeline_free,
                                                 .pipeline_binary = fake_pipeline_binary,
                                                 .submit = fake_submit,
                                                 .wait = fake_wait,
                                                 .close = fake_close};

static enum svmx_status fake_open(const struct svmx_host *host, struct svmx_backend *backend) {
    if (fake_stay(FAKE_STUCK_OPEN)) host->log(host, SVMX_LOG_WARN, "awake again");
    pthread_mutex_lock(&fake.lock);
    fake.opens++;
    fake.host = host;
    pthread_mutex_unlock(&fake.lock);
    *backend = (struct svmx_backend){.ops = &fake_ops, .self = &fake};
    return SVMX_OK;
}

static const struct svmx_plugin fake_plugin = {.magic = SVMX_PLUGIN_MAGIC,
                                               .size = sizeof(struct svmx_plugin),
                                               .abi_major = SVMX_ABI_MAJOR,
                                               .abi_minor = SVMX_ABI_MINOR,
                                               .name = "fake",
                                               .version = "1",
                                               .licence = "Apache-2.0",
                                               .open = fake_open};
static const struct svmx_plugin *const fake_plugins[] = {&fake_plugin};

/* A second one of the same kind, where there has to be something to choose: "fake,twin,stop". */
static const struct svmx_plugin twin_plugin = {.magic = SVMX_PLUGIN_MAGIC,
                                               .size = sizeof(struct svmx_plugin),
                                               .abi_major = SVMX_ABI_MAJOR,
                                               .abi_minor = SVMX_ABI_MINOR,
                                               .name = "twin",
                                               .version = "1",
                                               .licence = "Apache-2.0",
                                               .open = fake_open};
static const struct svmx_plugin *const fake_and_twin[] = {&fake_plugin, &twin_plugin};

/* Options of an executor with this device and the reference code, quiet and without the environment. Each part has a launch of
 * its own, so that suites can count them: test_gather.c is about others. */
static inline struct svmx_options fake_options(void) {
    return (struct svmx_options){.size = sizeof(struct svmx_options),
                                 .backends = "fake,stop",
                                 .policy = "order",
                                 .backend_path = "/nonexistent",
                                 .flags = SVMX_OPEN_NO_ENVIRONMENT,
                                 .log_level = SVMX_LOG_ERROR,
                                 .gather_us = SVMX_GATHER_OFF,
                                 .static_plugins = fake_plugins,
                                 .static_plugin_count = 1};
}

/* Is there a CPU to choose beside it? For suites of choices; what the environment says of backends counts. */
static inline bool has_simd(void) {
    const struct svmx_options options = {.size = sizeof options, .backends = "simd", .log_level = SVMX_LOG_OFF};
    svmx_executor_t *executor = NULL;
    if (svmx_open(&executor, &options, NULL) != SVMX_OK) return false;
    svmx_close(executor);
    return true;
}

/* The same with the reference code only. */
static inline struct svmx_options plain_options(void) {
    struct svmx_options options = fake_options();
    options.backends = "none";
    return options;
}

#endif
