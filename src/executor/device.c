/*
 * device.c: the devices of an executor: found in the backends, given a pool, a queue and a submitter thread.
 *
 * Called by executor.c at open and close. The submitter is the only thread that submits to its device, unless the
 * device is inline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "base/near.h"
#include "executor/ask.h"
#include "executor/batch.h"
#include "executor/building.h"
#include "executor/cut.h"
#include "executor/gather.h"
#include "plugin/watched.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- finding ------------------------------------------------------------------------------------------------- */

/* A device that was found, before it is known how many there are. */
struct found {
    struct svmx__backend *backend;
    uint32_t index, rank;
    struct svmx_device_info info;
};

struct search {
    struct svmx_executor *executor;
    struct found *found;
    size_t count, capacity;
    uint32_t *taken; /* by item of the selection */
};

static bool info_is_sound(const struct svmx_device_info *info) {
    uint32_t alignment = info->alignment ? info->alignment : 1;
    return memchr(info->name, 0, sizeof info->name) && memchr(info->driver, 0, sizeof info->driver) &&
           memchr(info->variant, 0, sizeof info->variant) && memchr(info->pci, 0, sizeof info->pci) &&
           (alignment & (alignment - 1)) == 0;
}

static bool has_memory_slots(const struct svmx_backend_ops *ops) { return ops->memory_alloc && ops->memory_free; }

/* What is said of a device goes to the log, and to the line that the load report has for its backend. */
static void report(struct svmx_executor *executor, const struct svmx__backend *backend, enum svmx_log_level level,
                   const char *line) {
    svmx__log(&executor->log, level, "%s: %s", backend->name, line);
    for (uint32_t i = 0; i < executor->registry.entry_count; i++) {
        struct svmx__load_entry *entry = &executor->registry.entries[i];
        char *reason = NULL;
        if (entry->verdict != SVMX_LOADED || strcmp(entry->name, backend->name) != 0) continue;
        if (asprintf(&reason, "%s; %s", entry->reason, line) < 0) return; /* no memory: the log has it */
        free(entry->reason);
        entry->reason = reason;
        entry->noted = true;
        return;
    }
}

/* Appends a device if it is wanted and sound. */
static enum svmx_status consider(struct search *search, struct svmx__backend *backend, uint32_t index,
                                 const struct svmx_device_info *info) {
    struct svmx_executor *executor = search->executor;
    uint32_t rank = 0;
    bool host_memory = (info->flags & SVMX_DEVICE_HOST_MEMORY) != 0, done_at_once = info->flags & SVMX_DEVICE_INLINE;
    /* A device that works on the caller's memory in its own time could write there after a deadline. */
    if (!info_is_sound(info) || (host_memory ? !done_at_once : !has_memory_slots(backend->instance.ops))) {
        struct svmx__text line = {""};
        svmx__say(&line, "device %u describes itself against the rules: not used", index);
        report(executor, backend, SVMX_LOG_WARN, line.line);
        return SVMX_OK;
    }
    bool reference = backend == &executor->registry.backends[executor->registry.backend_count - 1];
    if (!reference &&
        !svmx__selection_device(&executor->registry.selection, backend->name, index, info, search->taken, &rank))
        return SVMX_OK;
    if (!svmx__grow((void **)&search->found, &search->capacity, search->count + 1, sizeof *search->found))
        return SVMX_ERR_MEMORY;
    search->found[search->count++] =
        (struct found){.backend = backend, .index = index, .rank = reference ? UINT32_MAX : rank, .info = *info};
    return SVMX_OK;
}

/* More of a kind are none, but a plugin that does not know its last one. */
enum { MOST_DEVICES = 128 };

/* A call of it has not returned: what was found of it is not used, either. */
static enum svmx_status drop_backend(struct search *search, const struct svmx__backend *backend, uint32_t index,
                                     struct svmx__text *why) {
    struct svmx_executor *executor = search->executor;
    struct svmx__text line = {""};
    size_t kept = 0;
    for (size_t i = 0; i < search->count; i++)
        if (search->found[i].backend != backend) search->found[kept++] = search->found[i];
    search->count = kept;
    svmx__say(&line, "it does not answer: device_info of device %u has not returned within %.3g s, and is left alone",
              index, (double)executor->registry.watched.limit_ns / 1e9);
    svmx__log(&executor->log, SVMX_LOG_WARN, "%s: %s", backend->name, line.line);
    return svmx__backend_refuse(&executor->registry, backend, line.line, why);
}

static enum svmx_status search_backend(struct search *search, struct svmx__backend *backend, struct svmx__text *why) {
    for (uint32_t index = 0; index < MOST_DEVICES; index++) {
        struct svmx_device_info info = {.size = sizeof info};
        enum svmx_status status = svmx__watched_describe(&search->executor->registry, backend, index, &info);
        if (status == SVMX_ERR_UNKNOWN) return SVMX_OK;
        if (backend->abandoned) return drop_backend(search, backend, index, why);
        if (status != SVMX_OK) {
            struct svmx__text line = {""};
            svmx__say(&line, "device %u cannot be described: %s", index, svmx_status_name(status));
            report(search->executor, backend, SVMX_LOG_WARN, line.line);
            return SVMX_OK;
        }
        status = consider(search, backend, index, &info);
        if (status != SVMX_OK) return status;
    }
    struct svmx__text line = {""};
    svmx__say(&line, "it tells of more than %d devices: the others are not used", MOST_DEVICES);
    report(search->executor, backend, SVMX_LOG_WARN, line.line);
    return SVMX_OK;
}

/* Among devices that the user prefers alike: a driver that computes on the host's cores follows what does so without
 * one, and what is made for tests follows all. */
static uint32_t class_of(const struct svmx_device_info *info) {
    if (info->flags & SVMX_DEVICE_TEST) return 2;
    return (info->flags & SVMX_DEVICE_SHARES_CORES) && !(info->flags & SVMX_DEVICE_INLINE);
}

static bool follows(const struct found *found, const struct found *other) {
    if (found->rank != other->rank) return found->rank > other->rank;
    return class_of(&found->info) > class_of(&other->info);
}

/* Stable. There are few devices. */
static void sort_found(struct found *found, size_t count) {
    for (size_t i = 1; i < count; i++) {
        struct found moving = found[i];
        size_t at = i;
        for (; at > 0 && follows(&found[at - 1], &moving); at--) found[at] = found[at - 1];
        found[at] = moving;
    }
}

/* ---- one device, seen twice ------------------------------------------------------------------------------------ */

static bool is_known(const uint8_t uuid[16]) {
    for (int i = 0; i < 16; i++)
        if (uuid[i]) return true;
    return false;
}

/* The same piece of hardware by way of two backends, or of two drivers of one. What one driver shows twice is two: parts of
 * a device have its place on the bus. */
static bool is_same(const struct found *a, const struct found *b) {
    if (a->backend == b->backend && strcmp(a->info.driver, b->info.driver) == 0) return false;
    const bool same_place = *a->info.pci && strcasecmp(a->info.pci, b->info.pci) == 0;
    return same_place || (is_known(a->info.uuid) && memcmp(a->info.uuid, b->info.uuid, sizeof a->info.uuid) == 0);
}

/* Leaves out what is there already, earlier in the order of preference. */
static void use_once(struct search *search) {
    struct svmx_executor *executor = search->executor;
    size_t kept = 0;
    for (size_t i = 0; i < search->count; i++) {
        const struct found *found = &search->found[i], *twin = NULL;
        for (size_t k = 0; k < kept && !twin; k++)
            if (is_same(found, &search->found[k])) twin = &search->found[k];
        if (twin) {
            struct svmx__text line = {""};
            svmx__say(&line, "%s (device %u) is used by way of %s, which comes first", found->info.name, found->index,
                      twin->backend->name);
            report(executor, found->backend, SVMX_LOG_INFO, line.line);
        } else {
            search->found[kept++] = *found;
        }
    }
    search->count = kept;
}

/* An item of the selection that names a device which is not there: an error if it is demanded, else a word. */
static enum svmx_status check_items(const struct search *search, struct svmx__text *why) {
    const struct svmx__selection *selection = &search->executor->registry.selection;
    for (uint32_t i = 0; i < selection->item_count; i++) {
        const struct svmx__selection_item *item = &selection->items[i];
        if (item->excluded || !item->device[0] || search->taken[i]) continue;
        if (item->required)
            return svmx__fail(why, SVMX_ERR_UNKNOWN, "%s demands %s:%s, but no device of %s is that", selection->origin,
                              item->name, item->device, item->name);
        svmx__log(&search->executor->log, SVMX_LOG_WARN, "%s: no device of %s is '%s'", selection->origin, item->name,
                  item->device);
    }
    return SVMX_OK;
}

/* ---- making -------------------------------------------------------------------------------------------------- */

static void device_init(struct svmx__device *device, struct svmx_executor *executor, uint32_t id,
                        const struct found *found) {
    device->executor = executor;
    device->id = id;
    device->index = found->index;
    device->info = found->info;
    device->inline_ = (found->info.flags & SVMX_DEVICE_INLINE) != 0;
    device->host_memory = (found->info.flags & SVMX_DEVICE_HOST_MEMORY) != 0;
    svmx__health_init(&device->health);
    svmx__life_begin(device, found->backend);
    svmx__window_init(device);
    svmx__sweep_init(device);
}

enum svmx_status svmx__devices_find(struct svmx_executor *executor, struct svmx__text *why) {
    struct search search = {.executor = executor};
    for (uint32_t i = 0; i < executor->registry.backend_count; i++) svmx__host_opened(&executor->registry.backends[i]);
    enum svmx_status status = SVMX_OK;
    search.taken = calloc(executor->registry.selection.item_count + 1, sizeof *search.taken);
    if (!search.taken) return svmx__fail(why, SVMX_ERR_MEMORY, "no memory for devices");
    for (uint32_t i = 0; i < executor->registry.backend_count; i++) {
        status = search_backend(&search, &executor->registry.backends[i], why);
        if (status != SVMX_OK) goto free_search;
    }
    status = check_items(&search, why);
    if (status != SVMX_OK) goto free_search;
    sort_found(search.found, search.count);
    use_once(&search);
    executor->devices = calloc(search.count, sizeof *executor->devices);
    if (!executor->devices) {
        status = SVMX_ERR_MEMORY;
        goto free_search;
    }
    executor->device_count = (uint32_t)search.count;
    for (uint32_t i = 0; i < executor->device_count; i++)
        device_init(&executor->devices[i], executor, i, &search.found[i]);

free_search:
    free(search.found);
    free(search.taken);
    return status;
}

/* ---- submitters ---------------------------------------------------------------------------------------------- */

/* What comes next. While launches are under way they are looked after, and what comes meanwhile follows them. */
static struct svmx__link *next_of(struct svmx__device *device) {
    const struct svmx__window *window = &device->window;
    while (window->count) {
        struct svmx__link *link = window->count < window->depth ? svmx__queue_try(&device->queue) : NULL;
        if (link) return link;
        svmx__pipeline_turn(device);
    }
    return svmx__queue_pop(&device->queue);
}

/* What is no part of a batch has the device to itself, but for who only asks for memory, or gives some back. */
static bool goes_beside_launches(const struct svmx__work *work) {
    return work->run == svmx__pipeline_part || work->run == svmx__share_run || work->run == svmx__ask_run ||
           work->run == svmx__sweep_run;
}

static void *submitter_main(void *user) {
    struct svmx__device *device = user;
    struct svmx__link *link;
    while ((link = next_of(device))) {
        struct svmx__work *work = (struct svmx__work *)(void *)link;
        svmx__post_hold(work);
        if (!goes_beside_launches(work)) svmx__pipeline_drain(device);
        work->run(work);
    }
    svmx__sweep_all(device);
    return NULL;
}

void svmx__submitter_stand_in(struct svmx__device *device) {
    const struct svmx__life *life = svmx__life_of(device);
    struct svmx__link *link;
    /* of one that may be called nothing is done here: who looks must not be kept */
    if (!atomic_load_explicit(&life->over, memory_order_relaxed)) return;
    while ((link = svmx__queue_try(&device->queue))) {
        struct svmx__work *work = (struct svmx__work *)(void *)link;
        work->run(work);
    }
}

bool svmx__is_submitter_of(const struct svmx__device *device) {
    const struct svmx__post *post = svmx__post_mine();
    return post && post->main == submitter_main && post->user == device;
}

int svmx__submitter_open(struct svmx__device *device) {
    char name[16];
    (void)snprintf(name, sizeof name, "svmx-dev-%u", device->id);
    const int error = svmx__post_open(device->executor, submitter_main, device, name, &device->post);
    if (!error) (void)svmx__near_bind(device->post->thread, "/sys", device->info.pci);
    return error;
}

static int start_submitter(struct svmx__device *device) {
    int error = svmx__queue_init(&device->queue);
    if (error) return error;
    error = svmx__submitter_open(device);
    if (error) {
        svmx__queue_fini(&device->queue);
        return error;
    }
    device->has_submitter = true;
    return device->inline_ ? 0 : svmx__builder_start(device);
}

/* Threads besides a submitter that may help with copies. */
static uint32_t helpers(void) {
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 0;
    return (uint32_t)CPU_COUNT(&mask) - 1;
}

enum svmx_status svmx__devices_start(struct svmx_executor *executor, struct svmx__text *why) {
    /* Signals are the embedding program's: none is delivered to a thread of ours. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = 0;
    bool copies = false;
    for (uint32_t i = 0; i < executor->device_count && !error; i++) {
        error = start_submitter(&executor->devices[i]);
        copies = copies || !executor->devices[i].host_memory;
    }
    if (copies && !error) svmx__team_start(&executor->team, helpers());
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error) return SVMX_OK;
    return svmx__fail(why, error == ENOMEM ? SVMX_ERR_MEMORY : SVMX_ERR_SYSTEM, "cannot start a thread: %s",
                      strerror(error));
}

/* Its submitter was given up, and there is no thread for another one, nor time to wait for one. What the device has stays with
 * its driver. */
static void end_alone(struct svmx__device *device) {
    for (struct svmx__life *life = svmx__life_of(device); life; life = life->before) {
        atomic_store_explicit(&life->over, true, memory_order_relaxed);
        atomic_store_explicit(&life->abandoned, true, memory_order_relaxed);
    }
    svmx__submitter_stand_in(device);
    svmx__sweep_all(device);
}

void svmx__devices_stop(struct svmx_executor *executor) {
    for (uint32_t i = 0; i < executor->device_count; i++) {
        struct svmx__device *device = &executor->devices[i];
        if (!device->has_submitter) continue;
        svmx__builder_stop(device); /* before its submitter, which it may be waiting for */
        svmx__queue_close(&device->queue);
        while (device->post && !svmx__post_join(device->post)) svmx__posts_look(executor);
        if (!device->post) end_alone(device);
        device->post = NULL;
        svmx__queue_fini(&device->queue);
        device->has_submitter = false;
        svmx__lives_settle(device);
    }
}

void svmx__devices_free(struct svmx_executor *executor) {
    for (uint32_t i = 0; i < executor->device_count; i++) {
        svmx__lives_end(&executor->devices[i]);
        svmx__gathers_free(&executor->devices[i]);
        svmx__quarantine_free(&executor->devices[i]);
        svmx__health_fini(&executor->devices[i].health);
    }
    free(executor->devices);
    executor->devices = NULL;
    executor->device_count = 0;
}
