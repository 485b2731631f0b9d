/*
 * faulty.h: a backend around a real one: every call goes through to the plugin, but for one that a test chooses, which goes
 * wrong. So each fault can be had on each backend, whatever its driver.
 *
 * Counts what is alive of the plugin behind it: memory, pipelines, tickets.
 *
 * Linked in through options.static_plugins as `faulty`; faulty.path is the file of the plugin behind it.
 *
 *   ALLOC BUILD SUBMIT WAIT   the call fails, for want of memory (ALLOC) or with SVMX_ERR_BACKEND
 *   LOST                      submit fails with SVMX_ERR_DEVICE_LOST, and so does all of that instance after it
 *   HANG                      wait never has the ticket
 *   STUCK                     submit does not return before faulty_arm is called again
 *   FLIP STALE SHORT LONG     the launch goes well, but: a bit of its results is wrong; they are what lay there before; the
 *                             end of what is read back does not arrive; a byte behind them is written
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FAULTY_H
#define FAULTY_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/plugin.h>
#include <time.h>

enum fault {
    FAULT_ALLOC,
    FAULT_BUILD,
    FAULT_SUBMIT,
    FAULT_WAIT,
    FAULT_LOST,
    FAULT_HANG,
    FAULT_STUCK,
    FAULT_FLIP,
    FAULT_STALE,
    FAULT_SHORT,
    FAULT_LONG,
    FAULTS,
    FAULT_NONE = FAULTS
};

/* Memory of the plugin that the host can see. */
struct faulty_memory {
    struct faulty_memory *next;
    struct svmx_memory *memory;
    unsigned char *host;
};

/* The results of a launch that are to be spoilt: where they will be, and what is there before. */
struct faulty_spoil {
    unsigned char *results, *before;
    uint64_t bytes; /* of results, from the first output to the last */
};

struct faulty_instance {
    struct svmx_backend real;
    bool lost;
};

static struct faulty {
    char path[4096]; /* of the plugin */
    pthread_mutex_t lock;
    enum fault fault;
    unsigned due; /* the call with that number from now on, 0: it was */
    unsigned injected;
    unsigned armed;                      /* how often */
    unsigned memory, pipelines, tickets; /* alive */
    uint64_t hung_ticket, spoilt_ticket;
    struct faulty_spoil spoil;
    struct faulty_memory *memories;
} faulty = {.lock = PTHREAD_MUTEX_INITIALIZER, .fault = FAULT_NONE};

static inline void faulty_arm(enum fault fault, unsigned number) {
    pthread_mutex_lock(&faulty.lock);
    faulty.fault = fault;
    faulty.due = number;
    faulty.injected = 0;
    faulty.armed++;
    faulty.hung_ticket = faulty.spoilt_ticket = 0;
    pthread_mutex_unlock(&faulty.lock);
}

/* How often it was that call since then. */
static inline unsigned faulty_injected(void) {
    pthread_mutex_lock(&faulty.lock);
    const unsigned injected = faulty.injected;
    pthread_mutex_unlock(&faulty.lock);
    return injected;
}

/* Under the lock. Is this the call? */
static inline bool faulty_is_due(enum fault fault) {
    if (faulty.fault != fault || faulty.due == 0 || --faulty.due) return false;
    faulty.injected++;
    return true;
}

/* Is this the call, one that fails? */
static inline bool faulty_fails(enum fault fault) {
    pthread_mutex_lock(&faulty.lock);
    const bool due = faulty_is_due(fault);
    pthread_mutex_unlock(&faulty.lock);
    return due;
}

/* Adds to one of the counts of what is alive. */
static inline void faulty_alive(unsigned *count, bool made, bool gone) {
    pthread_mutex_lock(&faulty.lock);
    *count += made;
    *count -= gone;
    pthread_mutex_unlock(&faulty.lock);
}

/* A call that does not return: until the next faulty_arm, when everybody has given it up. */
static inline void faulty_stay(void) {
    pthread_mutex_lock(&faulty.lock);
    const unsigned armed = faulty.armed;
    while (faulty.armed == armed) {
        pthread_mutex_unlock(&faulty.lock);
        (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
        pthread_mutex_lock(&faulty.lock);
    }
    pthread_mutex_unlock(&faulty.lock);
}

/* ---- results ------------------------------------------------------------------------------------------------------ */

static inline unsigned char *faulty_host(const struct svmx_memory *memory) {
    for (const struct faulty_memory *at = faulty.memories; at; at = at->next)
        if (at->memory == memory) return at->host;
    return NULL;
}

static inline const struct svmx_command *faulty_command(const struct svmx_command_list *list, uint32_t kind) {
    for (size_t i = 0; i < list->count; i++) {
        const struct svmx_command *command = (const void *)((const char *)list->commands + i * list->command_size);
        if (command->kind == kind) return command;
    }
    return NULL;
}

/* Where the host will find the results of the first launch of a list; NULL: it has none. The first slot is an output. */
static inline unsigned char *faulty_results(const struct svmx_command_list *list, uint64_t *bytes) {
    const struct svmx_command *launch = faulty_command(list, SVMX_COMMAND_DISPATCH),
                              *copy = faulty_command(list, SVMX_COMMAND_COPY_OUT);
    if (!launch || !launch->as.dispatch.task_count) return NULL;
    const struct svmx_dispatch *dispatch = &launch->as.dispatch;
    const struct svmx_slot *first = dispatch->slots,
                           *last = first + (size_t)(dispatch->task_count - 1) * dispatch->slot_count;
    if (!first->bytes || !last->bytes) return NULL;
    *bytes = dispatch->outputs.memory ? last->at + last->bytes - first->at : first->bytes;
    if (!dispatch->outputs.memory) return (unsigned char *)(uintptr_t)first->at; /* in the caller's memory */
    unsigned char *host = faulty_host(copy ? copy->as.copy.target.memory : dispatch->outputs.memory);
    if (!host) return NULL;
    return copy ? host + copy->as.copy.target.offset + (first->at - copy->as.copy.source.offset) : host + first->at;
}

/* Under the lock: notes what a launch is to be spoilt with, if it is the one. SHORT needs a readback. */
static inline bool faulty_is_to_spoil(const struct svmx_command_list *list) {
    uint64_t bytes = 0;
    if (faulty.fault < FAULT_FLIP || faulty.fault > FAULT_LONG || faulty.spoil.before) return false;
    if (faulty.fault == FAULT_SHORT && !faulty_command(list, SVMX_COMMAND_COPY_OUT)) return false;
    unsigned char *results = faulty_results(list, &bytes);
    if (!results || !faulty_is_due(faulty.fault)) return false;
    const bool is_ours = faulty_command(list, SVMX_COMMAND_DISPATCH)->as.dispatch.outputs.memory != NULL;
    unsigned char *before = malloc((size_t)bytes + 1);
    if (!before) abort();
    memcpy(before, results, (size_t)bytes + is_ours); /* and the first byte behind it, unless it is the caller's */
    faulty.spoil = (struct faulty_spoil){results, before, bytes};
    return true;
}

/* Under the lock: the launch went well. */
static inline void faulty_spoil_now(void) {
    const struct faulty_spoil *spoil = &faulty.spoil;
    switch (faulty.fault) {
    case FAULT_FLIP: spoil->results[spoil->bytes / 2] ^= 4; break;
    case FAULT_STALE: memcpy(spoil->results, spoil->before, (size_t)spoil->bytes); break;
    case FAULT_SHORT:
        memcpy(spoil->results + spoil->bytes / 2, spoil->before + spoil->bytes / 2,
               (size_t)(spoil->bytes - spoil->bytes / 2) + 1);
        break;
    default: spoil->results[spoil->bytes] ^= 0x40; break;
    }
    free(spoil->before);
    faulty.spoil = (struct faulty_spoil){NULL, NULL, 0};
    faulty.spoilt_ticket = 0;
}

/* ---- the functions ------------------------------------------------------------------------------------------------ */

static inline enum svmx_status faulty_device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    const struct faulty_instance *instance = self;
    return instance->real.ops->device_info(instance->real.self, index, info);
}

static inline enum svmx_status faulty_memory_alloc(void *self, uint32_t device, const struct svmx_memory_desc *desc,
                                                   struct svmx_memory **memory, void **host) {
    const struct faulty_instance *instance = self;
    if (instance->lost) return SVMX_ERR_DEVICE_LOST;
    if (faulty_fails(FAULT_ALLOC)) return SVMX_ERR_MEMORY;
    const enum svmx_status status = instance->real.ops->memory_alloc(instance->real.self, device, desc, memory, host);
    faulty_alive(&faulty.memory, status == SVMX_OK, false);
    struct faulty_memory *made = status == SVMX_OK && *host ? calloc(1, sizeof *made) : NULL;
    if (!made) return status;
    pthread_mutex_lock(&faulty.lock);
    *made = (struct faulty_memory){faulty.memories, *memory, *host};
    faulty.memories = made;
    pthread_mutex_unlock(&faulty.lock);
    return status;
}

static inline void faulty_memory_free(void *self, struct svmx_memory *memory) {
    const struct faulty_instance *instance = self;
    pthread_mutex_lock(&faulty.lock);
    for (struct faulty_memory **at = &faulty.memories; *at; at = &(*at)->next) {
        struct faulty_memory *found = *at;
        if (found->memory != memory) continue;
        *at = found->next;
        free(found);
        break;
    }
    pthread_mutex_unlock(&faulty.lock);
    faulty_alive(&faulty.memory, false, true);
    instance->real.ops->memory_free(instance->real.self, memory);
}

static inline enum svmx_status faulty_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                            struct svmx_pipeline **pipeline) {
    const struct faulty_instance *instance = self;
    if (instance->lost) return SVMX_ERR_DEVICE_LOST;
    if (faulty_fails(FAULT_BUILD)) return SVMX_ERR_BACKEND;
    const enum svmx_status status = instance->real.ops->pipeline_build(instance->real.self, device, desc, pipeline);
    faulty_alive(&faulty.pipelines, status == SVMX_OK, false);
    return status;
}

static inline void faulty_pipeline_free(void *self, struct svmx_pipeline *pipeline) {
    const struct faulty_instance *instance = self;
    faulty_alive(&faulty.pipelines, false, true);
    instance->real.ops->pipeline_free(instance->real.self, pipeline);
}

static inline enum svmx_status faulty_submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    struct faulty_instance *instance = self;
    pthread_mutex_lock(&faulty.lock);
    if (faulty_is_due(FAULT_LOST)) instance->lost = true;
    const bool lost = instance->lost, fails = !lost && faulty_is_due(FAULT_SUBMIT);
    const bool hangs = !lost && !fails && faulty_is_due(FAULT_HANG);
    const bool stays = !lost && !fails && faulty_is_due(FAULT_STUCK);
    const bool spoils = !lost && !fails && faulty_is_to_spoil(submission->list);
    pthread_mutex_unlock(&faulty.lock);
    if (stays) faulty_stay();
    if (stays) return SVMX_ERR_DEVICE_LOST;
    if (lost || fails) return lost ? SVMX_ERR_DEVICE_LOST : SVMX_ERR_BACKEND;
    const enum svmx_status status = instance->real.ops->submit(instance->real.self, submission, ticket);
    pthread_mutex_lock(&faulty.lock);
    faulty.tickets += status == SVMX_OK && *ticket;
    if (hangs) faulty.hung_ticket = *ticket;
    if (spoils && status == SVMX_OK && *ticket) faulty.spoilt_ticket = *ticket;
    if (spoils && status == SVMX_OK && !*ticket) faulty_spoil_now();
    pthread_mutex_unlock(&faulty.lock);
    return status;
}

static inline enum svmx_status faulty_wait(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns,
                                           struct svmx_timing *timing) {
    const struct faulty_instance *instance = self;
    pthread_mutex_lock(&faulty.lock);
    const bool hangs = faulty.hung_ticket == ticket && ticket;
    pthread_mutex_unlock(&faulty.lock);
    if (hangs) {
        const struct timespec time = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};
        (void)nanosleep(&time, NULL);
        return SVMX_TIMEOUT;
    }
    enum svmx_status status = instance->real.ops->wait(instance->real.self, device, ticket, timeout_ns, timing);
    faulty_alive(&faulty.tickets, false, status != SVMX_TIMEOUT);
    if (status != SVMX_OK) return status;
    pthread_mutex_lock(&faulty.lock);
    if (faulty.spoilt_ticket == ticket && faulty.spoil.before) faulty_spoil_now();
    if (faulty_is_due(FAULT_WAIT)) status = SVMX_ERR_BACKEND;
    pthread_mutex_unlock(&faulty.lock);
    return status;
}

static inline void faulty_close(void *self) {
    struct faulty_instance *instance = self;
    instance->real.ops->close(instance->real.self);
    free(instance);
}

static const struct svmx_backend_ops faulty_ops = {.size = sizeof(struct svmx_backend_ops),
                                                   .device_info = faulty_device_info,
                                                   .memory_alloc = faulty_memory_alloc,
                                                   .memory_free = faulty_memory_free,
                                                   .pipeline_build = faulty_build,
                                                   .pipeline_free = faulty_pipeline_free,
                                                   .submit = faulty_submit,
                                                   .wait = faulty_wait,
                                                   .close = faulty_close};

static inline enum svmx_status faulty_open(const struct svmx_host *host, struct svmx_backend *backend) {
    void *file = dlopen(faulty.path, RTLD_NOW | RTLD_LOCAL); /* never closed, as the core does it */
    const struct svmx_plugin *plugin = file ? dlsym(file, SVMX_PLUGIN_SYMBOL) : NULL;
    struct faulty_instance *made = plugin ? calloc(1, sizeof *made) : NULL;
    if (!made) return SVMX_ERR_UNSUPPORTED;
    const enum svmx_status status = plugin->open(host, &made->real);
    if (status != SVMX_OK) {
        free(made);
        return status;
    }
    *backend = (struct svmx_backend){.ops = &faulty_ops, .self = made};
    return SVMX_OK;
}

static const struct svmx_plugin faulty_plugin = {.magic = SVMX_PLUGIN_MAGIC,
                                                 .size = sizeof(struct svmx_plugin),
                                                 .abi_major = SVMX_ABI_MAJOR,
                                                 .abi_minor = SVMX_ABI_MINOR,
                                                 .name = "faulty",
                                                 .version = "1",
                                                 .licence = "Apache-2.0",
                                                 .open = faulty_open};

#endif
