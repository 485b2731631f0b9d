/*
 * device.c: the devices of an instance, one or several a model, and pipelines, which take as long to make as the model says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- models ----------------------------------------------------------------------------------------------- */

/* FNV-1a: tells texts apart, no more is asked of it. */
static uint32_t hash_of(const char *text, size_t bytes) {
    uint32_t hash = UINT32_C(2166136261);
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ (uint8_t)text[i]) * UINT32_C(16777619);
    return hash;
}

/* Memory of zeros that counts as the instance's. */
static void *make(const struct sim_instance *instance, size_t bytes) {
    void *made = instance->host->alloc(instance->host, bytes, 64);
    if (made) return memset(made, 0, bytes);
    (void)sim_fail(instance, SVMX_ERR_MEMORY, "no memory for a model");
    return NULL;
}

/* When a device will be lost, as far as the clock tells. An instance that stands in for one that was given up has it back. */
static uint64_t lost_ns(const struct sim_gpu *gpu) {
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < gpu->model.loss_count && !gpu->instance->again; i++) {
        const struct sim_loss *loss = &gpu->model.losses[i];
        if (loss->device != gpu->number || loss->at_launch || gpu->start_ns + loss->from >= first) continue;
        first = gpu->start_ns + loss->from;
    }
    return first;
}

/* Device `number` of a model. */
static enum svmx_status add_one(struct sim_instance *instance, const struct sim_gpu *like, uint32_t number) {
    struct sim_gpu *gpu = make(instance, sizeof *gpu);
    if (!gpu) return SVMX_ERR_MEMORY;
    *gpu = *like;
    gpu->number = number;
    gpu->model.own_slow = gpu->model.slow[number];
    gpu->engines.bus = gpu->bus;
    gpu->index = instance->device_count;
    gpu->random.state = gpu->model.seed + number;
    gpu->lost_ns = lost_ns(gpu);
    instance->devices[instance->device_count++] = gpu;
    return SVMX_OK;
}

static enum svmx_status add_all(struct sim_instance *instance, struct sim_gpu *like) {
    enum svmx_status status = SVMX_OK;
    if (instance->device_count + like->model.devices > SIM_MAX_DEVICES)
        return sim_fail(instance, SVMX_ERR_OVERFLOW, "more than %d devices", SIM_MAX_DEVICES);
    if (like->model.shares_bus &&
        !(like->bus = instance->buses[instance->bus_count++] = make(instance, sizeof *like->bus)))
        return SVMX_ERR_MEMORY;
    for (uint32_t i = 0; status == SVMX_OK && i < like->model.devices; i++) status = add_one(instance, like, i);
    return status;
}

/* `origin` is how the user knows the text. */
static enum svmx_status add(struct sim_instance *instance, const char *origin, const char *text, size_t bytes) {
    const struct svmx_host *host = instance->host;
    char why[400];
    struct sim_gpu *like = make(instance, sizeof *like); /* too large for a stack that is not ours */
    if (!like) return SVMX_ERR_MEMORY;
    like->instance = instance;
    like->model_hash = hash_of(text, bytes);
    like->start_ns = host->now(host);
    const enum svmx_status status = sim_model_parse(&like->model, text, bytes, why, sizeof why)
                                        ? add_all(instance, like)
                                        : sim_fail(instance, SVMX_ERR_ARGUMENT, "%s: %s", origin, why);
    host->release(host, like);
    return status;
}

/* Reads a file whole; -1 with errno set. Anything but a file would make us wait, or never end. */
static ssize_t file_read(const char *path, char *text, size_t bytes) {
    struct stat info;
    size_t used = 0;
    ssize_t got = -1;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return -1;
    if (fstat(fd, &info) == 0 && !S_ISREG(info.st_mode))
        errno = EINVAL;
    else
        while ((got = read(fd, text + used, bytes - used)) > 0) used += (size_t)got;
    const int error = errno;
    (void)close(fd);
    errno = error;
    return got < 0 ? -1 : (ssize_t)used;
}

static enum svmx_status add_file(struct sim_instance *instance, const char *path) {
    const struct svmx_host *host = instance->host;
    const size_t room = SIM_MAX_TEXT + 1; /* one more, so that what is too long is seen */
    if (*path != '/')
        return sim_fail(instance, SVMX_ERR_ARGUMENT, "SUPERVM_SIM_MODEL is '%.200s': give an absolute path", path);
    char *text = host->alloc(host, room, 64);
    if (!text) return sim_fail(instance, SVMX_ERR_MEMORY, "no memory for the model of %.200s", path);
    const ssize_t bytes = file_read(path, text, room);
    enum svmx_status status = bytes < 0
                                  ? sim_fail(instance, SVMX_ERR_SYSTEM, "SUPERVM_SIM_MODEL: %.200s cannot be read: %s",
                                             path, errno == EINVAL ? "it is no regular file" : strerror(errno))
                                  : add(instance, path, text, (size_t)bytes);
    host->release(host, text);
    if (status != SVMX_OK) return status;
    const char *name = instance->devices[instance->device_count - 1]->model.name;
    if (!sim_model_builtin(name)) return SVMX_OK;
    return sim_fail(instance, SVMX_ERR_ARGUMENT, "%.200s: a model named %s is shipped: give yours another name", path,
                    name);
}

enum svmx_status sim_devices_add(struct sim_instance *instance, const char *path) {
    enum svmx_status status = SVMX_OK;
    const char *name;
    for (uint32_t i = 0; status == SVMX_OK && (name = sim_model_builtin_name(i)); i++) {
        const char *text = sim_model_builtin(name);
        status = add(instance, name, text, strlen(text));
    }
    return status == SVMX_OK && path ? add_file(instance, path) : status;
}

void sim_devices_free(struct sim_instance *instance) {
    const struct svmx_host *host = instance->host;
    for (uint32_t i = 0; i < instance->device_count; i++) host->release(host, instance->devices[i]);
    for (uint32_t i = 0; i < instance->bus_count; i++) host->release(host, instance->buses[i]);
}

struct sim_gpu *sim_device_at(const struct sim_instance *instance, uint32_t index) {
    if (index < instance->device_count) return instance->devices[index];
    (void)sim_fail(instance, SVMX_ERR_UNKNOWN, "there is no device %u", (unsigned)index);
    return NULL;
}

enum svmx_status sim_device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    const struct sim_instance *instance = self;
    if (index >= instance->device_count) return SVMX_ERR_UNKNOWN;
    const struct sim_gpu *gpu = instance->devices[index];
    struct svmx_device_info mine = {.size = info->size,
                                    .variant = "reference",
                                    .kind = SVMX_DEVICE_MODEL,
                                    .flags = SVMX_DEVICE_TEST | SVMX_DEVICE_LINKS,
                                    .compute_engines = 1,
                                    .threads = 1,
                                    .alignment = SIM_ALIGNMENT,
                                    .memory_bytes = SIM_MEMORY_BYTES,
                                    .max_alloc_bytes = SIM_MAX_ALLOC_BYTES,
                                    .max_in_flight = SIM_IN_FLIGHT};
    if (gpu->model.memory_bytes) mine.memory_bytes = gpu->model.memory_bytes;
    if (mine.max_alloc_bytes > mine.memory_bytes) mine.max_alloc_bytes = mine.memory_bytes;
    if (gpu->model.shares_memory) mine.flags |= SVMX_DEVICE_SHARES_MEMORY;
    /* several of a model are told apart by where they are: in a domain that no machine has */
    if (gpu->model.devices > 1)
        (void)snprintf(mine.pci, sizeof mine.pci, "ffff:%02x:%02x.0", index & 0xff, gpu->number & 0x1f);
    (void)snprintf(mine.name, sizeof mine.name, "%s", gpu->model.name);
    (void)snprintf(mine.driver, sizeof mine.driver, "model %08x", (unsigned)gpu->model_hash);
    memcpy(info, &mine, info->size < sizeof mine ? info->size : sizeof mine);
    return SVMX_OK;
}

/* ---- pipelines -------------------------------------------------------------------------------------------- */

/* The cost of a first use. */
static uint64_t create_ns(struct sim_gpu *gpu) {
    const struct sim_load nothing = {0};
    struct sim_cost cost;
    const uint64_t now = gpu->instance->host->now(gpu->instance->host);
    pthread_mutex_lock(&gpu->instance->lock);
    sim_model_cost(&gpu->model, SIM_GPU, &nothing, now - gpu->start_ns, gpu->launches, &gpu->random, &cost);
    pthread_mutex_unlock(&gpu->instance->lock);
    return cost.create_ns;
}

enum svmx_status sim_pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                    struct svmx_pipeline **pipeline) {
    const struct sim_instance *instance = self;
    const struct svmx_host *host = instance->host;
    const struct svmx_op_desc *op = desc->op;
    struct sim_gpu *gpu = sim_device_at(instance, device);
    if (!gpu) return SVMX_ERR_UNKNOWN;
    if (desc->variant > 0) return SVMX_ERR_UNKNOWN; /* there is one way only */
    const uint64_t start = host->now(host);
    if (op->param_count > SIM_MAX_PARAMS || strlen(op->name) >= SIM_NAME_BYTES ||
        host->reference(host, op->name, NULL, op->param_count) != SVMX_OK)
        return SVMX_ERR_UNSUPPORTED;
    struct svmx_pipeline *made = host->alloc(host, sizeof *made, 64);
    if (!made) return sim_fail(instance, SVMX_ERR_MEMORY, "no memory for a pipeline");
    *made = (struct svmx_pipeline){.gpu = gpu, .param_count = op->param_count};
    memcpy(made->op, op->name, strlen(op->name) + 1);
    for (uint32_t i = 0; i < op->param_count; i++) {
        made->scalar[i] = op->params[i].shape == SVMX_SCALAR;
        made->output[i] = op->params[i].direction == SVMX_OUT;
    }
    sim_sleep_until(host, start + create_ns(gpu));
    *pipeline = made;
    return SVMX_OK;
}

void sim_pipeline_free(void *self, struct svmx_pipeline *pipeline) {
    const struct sim_instance *instance = self;
    instance->host->release(instance->host, pipeline);
}
