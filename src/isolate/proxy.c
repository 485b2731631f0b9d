/*
 * proxy.c: see proxy.h. Everything but submit and wait, which are proxy_submit.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "isolate/proxy_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BUILD_TIMES = 20 }; /* the limit of a call, for one that compiles */

static const uint32_t host_use = SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE;

/* ---- calls ------------------------------------------------------------------------------------------------------ */

enum svmx_status svmx__proxy_fail(const struct proxy *proxy, enum svmx_status status, const char *format, ...) {
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    proxy->host->log(proxy->host, SVMX_LOG_ERROR, line);
    return status;
}

/* Lines stand behind the outputs, and come first: an error's line is logged before the status is told. */
static void log_lines(const struct proxy *proxy, struct svmx__wire *answer, size_t from) {
    const size_t outputs = answer->at;
    if (from < outputs || from > answer->count) {
        answer->broken = true;
        return;
    }
    answer->at = from;
    while (answer->at < answer->count && !answer->broken) {
        const uint64_t level = svmx__wire_get(answer);
        const char *text = svmx__wire_get_text(answer);
        if (text && level >= SVMX_LOG_ERROR && level <= SVMX_LOG_DEBUG)
            proxy->host->log(proxy->host, (enum svmx_log_level)level, text);
    }
    answer->at = outputs;
    answer->count = from;
}

/* What it answered cannot be, and what it is at nobody knows. It is ended: a launch that ran on there would be one in
 * memory that is used again here. */
static enum svmx_status end_it(struct proxy *proxy) {
    svmx__channel_kill(&proxy->channel, "it answered nonsense");
    return svmx__proxy_fail(proxy, SVMX_ERR_DEVICE_LOST, "%s", proxy->channel.how);
}

static bool is_status(int64_t status) { return status >= SVMX_ERR_SYSTEM && status <= SVMX_CANCELLED; }

enum svmx_status svmx__proxy_ask(struct proxy *proxy, struct svmx__lane *lane, uint64_t limit_ns) {
    if (lane && lane->request.broken) return svmx__proxy_fail(proxy, SVMX_ERR_MEMORY, "no memory for a message");
    if (!lane && !svmx__channel_is_gone(&proxy->channel))
        return svmx__proxy_fail(proxy, SVMX_ERR_MEMORY, "no memory, or no socket, for a call");
    if (!lane || !svmx__lane_call(&proxy->channel, lane, limit_ns))
        return svmx__proxy_fail(proxy, SVMX_ERR_DEVICE_LOST, "%s", proxy->channel.how);
    struct svmx__wire *answer = &lane->answer;
    const int64_t status = (int64_t)svmx__wire_get(answer);
    log_lines(proxy, answer, (size_t)svmx__wire_get(answer));
    return answer->broken || !is_status(status) ? end_it(proxy) : (enum svmx_status)status;
}

enum svmx_status svmx__proxy_ask_for(struct proxy *proxy, struct svmx__lane *lane, uint64_t limit_ns, uint64_t *words,
                                     size_t count) {
    const enum svmx_status status = svmx__proxy_ask(proxy, lane, limit_ns);
    if (status != SVMX_OK) return status;
    struct svmx__wire *answer = &lane->answer;
    if (answer->count - answer->at < count) return end_it(proxy);
    for (size_t i = 0; i < count; i++) words[i] = svmx__wire_get(answer);
    return SVMX_OK;
}

/* A lane for one call. */
static struct svmx__lane *begin(struct proxy *proxy, enum svmx__call call) {
    struct svmx__lane *lane = svmx__lane_take(&proxy->channel);
    if (lane) svmx__wire_put(&lane->request, call);
    return lane;
}

/* A call with one argument and no answer but its end. */
static void tell(struct proxy *proxy, enum svmx__call call, uint64_t argument) {
    if (svmx__channel_is_gone(&proxy->channel)) return;
    struct svmx__lane *lane = begin(proxy, call);
    if (lane) svmx__wire_put(&lane->request, argument);
    (void)svmx__proxy_ask(proxy, lane, proxy->limit_ns);
    svmx__lane_give(&proxy->channel, lane);
}

/* ---- devices ---------------------------------------------------------------------------------------------------- */

static enum svmx_status device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    const struct proxy *proxy = self;
    const size_t size = info->size;
    if (index >= proxy->device_count) return SVMX_ERR_UNKNOWN;
    memcpy(info, &proxy->seats[index].info, size < sizeof *info ? size : sizeof *info);
    info->size = size;
    return SVMX_OK;
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* A file in memory that can neither shrink nor grow: a process that runs wild cannot take the ground from under us. */
static int make_file(uint64_t bytes) {
    const int file = memfd_create("svmx-staging", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    if (ftruncate(file, (off_t)bytes) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return file;
    (void)close(file);
    return -1;
}

static bool make_shadow(struct svmx_memory *memory, struct svmx__wire *request) {
    request->file = make_file(memory->bytes);
    if (request->file < 0) return false;
    void *at = mmap(NULL, (size_t)memory->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, request->file, 0);
    if (at == MAP_FAILED) return false;
    memory->shadow = at;
    return true;
}

static void memory_drop(struct svmx_memory *memory) {
    if (memory->shadow) (void)munmap(memory->shadow, (size_t)memory->bytes);
    free(memory);
}

static enum svmx_status ask_for_memory(struct proxy *proxy, uint32_t device, const struct svmx_memory_desc *desc,
                                       struct svmx_memory *memory) {
    struct svmx__lane *lane = begin(proxy, SVMX__CALL_ALLOC);
    enum svmx_status status = SVMX_OK;
    if (lane) {
        const uint64_t words[] = {device, desc->kind, desc->usage, desc->bytes};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) svmx__wire_put(&lane->request, words[i]);
        if ((desc->usage & host_use) && !make_shadow(memory, &lane->request))
            status = svmx__proxy_fail(proxy, SVMX_ERR_MEMORY, "no shared memory of %llu bytes: %s",
                                      (unsigned long long)desc->bytes, strerror(errno));
    }
    if (status == SVMX_OK) status = svmx__proxy_ask_for(proxy, lane, proxy->limit_ns, &memory->there, 1);
    svmx__lane_give(&proxy->channel, lane);
    return status;
}

static enum svmx_status memory_alloc(void *self, uint32_t device, const struct svmx_memory_desc *desc,
                                     struct svmx_memory **memory, void **host) {
    struct proxy *proxy = self;
    if (desc->kind == SVMX_MEMORY_IMPORT)
        return svmx__proxy_fail(proxy, SVMX_ERR_UNSUPPORTED, "another process cannot use memory of this one");
    if (desc->bytes == 0) return svmx__proxy_fail(proxy, SVMX_ERR_ARGUMENT, "memory of no bytes");
    struct svmx_memory *made = calloc(1, sizeof *made);
    if (!made) return svmx__proxy_fail(proxy, SVMX_ERR_MEMORY, "no memory for a description of memory");
    made->bytes = desc->bytes;
    const enum svmx_status status = ask_for_memory(proxy, device, desc, made);
    if (status != SVMX_OK) {
        memory_drop(made);
        return status;
    }
    *memory = made;
    *host = made->shadow;
    return SVMX_OK;
}

static void memory_free(void *self, struct svmx_memory *memory) {
    if (!memory) return;
    tell(self, SVMX__CALL_FREE, memory->there);
    memory_drop(memory);
}

/* ---- pipelines -------------------------------------------------------------------------------------------------- */

static void put_op(struct svmx__wire *request, const struct svmx_op_desc *op) {
    svmx__wire_put_text(request, op->name);
    svmx__wire_put(request, op->scratch_bytes_per_unit);
    svmx__wire_put(request, op->param_count);
    for (uint32_t i = 0; i < op->param_count; i++) {
        const struct svmx_param *param = &op->params[i];
        svmx__wire_put_text(request, param->name);
        svmx__wire_put_bytes(request, param, sizeof *param); /* its pointer means nothing there: the name does */
    }
    svmx__wire_put_text(request, op->opencl_c);
    svmx__wire_put_bytes(request, op->spirv, op->spirv_bytes);
    svmx__wire_put(request, op->local);
    svmx__wire_put(request, op->grain);
}

static enum svmx_status pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                       struct svmx_pipeline **pipeline) {
    struct proxy *proxy = self;
    struct svmx__lane *lane = begin(proxy, SVMX__CALL_BUILD);
    if (lane) {
        svmx__wire_put(&lane->request, device);
        svmx__wire_put(&lane->request, desc->bucket);
        svmx__wire_put(&lane->request, desc->variant);
        svmx__wire_put_bytes(&lane->request, desc->binary, desc->binary ? desc->binary_bytes : 0);
        put_op(&lane->request, desc->op);
    }
    uint64_t there = 0;
    const enum svmx_status status = svmx__proxy_ask_for(proxy, lane, proxy->limit_ns * BUILD_TIMES, &there, 1);
    if (status == SVMX_OK) *pipeline = (struct svmx_pipeline *)(uintptr_t)there;
    svmx__lane_give(&proxy->channel, lane);
    return status;
}

static void pipeline_free(void *self, struct svmx_pipeline *pipeline) {
    if (pipeline) tell(self, SVMX__CALL_DROP, (uintptr_t)pipeline);
}

static enum svmx_status take_binary(struct proxy *proxy, struct svmx__wire *answer, void *buffer, size_t *bytes) {
    size_t got;
    const uint64_t length = svmx__wire_get(answer);
    const void *binary = svmx__wire_get_bytes(answer, &got);
    if (answer->broken) return end_it(proxy);
    if (buffer && (got != length || got > *bytes))
        return svmx__proxy_fail(proxy, SVMX_ERR_BACKEND, "its process answered a binary of another length");
    if (buffer) memcpy(buffer, binary, got);
    *bytes = (size_t)length;
    return SVMX_OK;
}

static enum svmx_status pipeline_binary(void *self, struct svmx_pipeline *pipeline, void *buffer, size_t *bytes) {
    struct proxy *proxy = self;
    struct svmx__lane *lane = begin(proxy, SVMX__CALL_BINARY);
    if (lane) {
        svmx__wire_put(&lane->request, (uintptr_t)pipeline);
        svmx__wire_put(&lane->request, buffer != NULL);
        svmx__wire_put(&lane->request, buffer ? *bytes : 0);
    }
    enum svmx_status status = svmx__proxy_ask(proxy, lane, proxy->limit_ns);
    if (status == SVMX_OK) status = take_binary(proxy, &lane->answer, buffer, bytes);
    svmx__lane_give(&proxy->channel, lane);
    return status;
}

/* ---- open and close --------------------------------------------------------------------------------------------- */

/* Gives back the lanes of the submitters, but for one that is in a call. */
static void leave_seats(struct proxy *proxy) {
    for (uint32_t i = 0; i < proxy->device_count; i++) {
        struct seat *seat = &proxy->seats[i];
        if (pthread_mutex_trylock(&seat->lock) != 0) continue;
        svmx__lane_give(&proxy->channel, seat->lane);
        seat->lane = NULL;
        pthread_mutex_unlock(&seat->lock);
    }
}

static void proxy_close(void *self) {
    struct proxy *proxy = self;
    tell(proxy, SVMX__CALL_CLOSE, 0);
    leave_seats(proxy);
    for (uint32_t i = 0; i < proxy->device_count; i++) pthread_mutex_destroy(&proxy->seats[i].lock);
    svmx__channel_close(&proxy->channel, proxy->limit_ns);
    free(proxy->seats);
    free(proxy);
}

static const struct svmx_backend_ops proxy_ops = {.size = sizeof(struct svmx_backend_ops),
                                                  .device_info = device_info,
                                                  .memory_alloc = memory_alloc,
                                                  .memory_free = memory_free,
                                                  .pipeline_build = pipeline_build,
                                                  .pipeline_free = pipeline_free,
                                                  .pipeline_binary = pipeline_binary,
                                                  .submit = svmx__proxy_submit,
                                                  .wait = svmx__proxy_wait,
                                                  .close = proxy_close};

/* Takes what is there: what the plugin can, and its devices. */
static enum svmx_status take_devices(struct proxy *proxy, struct svmx__wire *answer) {
    const uint64_t flags = svmx__wire_get(answer), count = svmx__wire_get(answer);
    if (!(flags & SVMX__HOSTED_BINARIES)) proxy->ops.pipeline_binary = NULL;
    if (answer->broken || count > answer->count) return end_it(proxy);
    proxy->seats = calloc((size_t)count + 1, sizeof *proxy->seats);
    if (!proxy->seats) return svmx__proxy_fail(proxy, SVMX_ERR_MEMORY, "no memory for devices");
    for (uint32_t i = 0; i < count; i++) {
        size_t bytes;
        const void *info = svmx__wire_get_bytes(answer, &bytes);
        if (!info || bytes != sizeof(struct svmx_device_info))
            return svmx__proxy_fail(proxy, SVMX_ERR_BACKEND, "its process describes a device in another way");
        memcpy(&proxy->seats[i].info, info, bytes);
        pthread_mutex_init(&proxy->seats[i].lock, NULL); /* cannot fail with default attributes */
        proxy->device_count++;
    }
    return SVMX_OK;
}

static enum svmx_status open_there(struct proxy *proxy, const struct svmx__proxy_config *config) {
    static const char *const options[] = {"select", "threads", "variant", "sim_model"};
    struct svmx__lane *lane = begin(proxy, SVMX__CALL_OPEN);
    if (lane) {
        svmx__wire_put(&lane->request, SVMX__CALLS_VERSION);
        svmx__wire_put_text(&lane->request, config->name);
        svmx__wire_put_text(&lane->request, config->path);
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            svmx__wire_put_text(&lane->request, proxy->host->option(proxy->host, options[i]));
    }
    enum svmx_status status = svmx__proxy_ask(proxy, lane, proxy->limit_ns);
    if (status == SVMX_OK) status = take_devices(proxy, &lane->answer);
    svmx__lane_give(&proxy->channel, lane);
    return status;
}

enum svmx_status svmx__proxy_open(const struct svmx__proxy_config *config, const struct svmx_host *host,
                                  struct svmx_backend *backend) {
    struct svmx__text why = {""};
    struct proxy *proxy = calloc(1, sizeof *proxy);
    if (!proxy) return SVMX_ERR_MEMORY;
    proxy->host = host;
    proxy->ops = proxy_ops;
    proxy->limit_ns = config->limit_ns;
    enum svmx_status status =
        svmx__channel_open(&proxy->channel, config->path, config->backend_path, config->name, &why);
    if (status != SVMX_OK) {
        (void)svmx__proxy_fail(proxy, status, "%s", why.line);
        free(proxy);
        return status;
    }
    status = open_there(proxy, config);
    if (status == SVMX_OK)
        *backend = (struct svmx_backend){.ops = &proxy->ops, .self = proxy};
    else
        proxy_close(proxy);
    return status;
}

pid_t svmx__proxy_process(const struct svmx_backend *backend) {
    const struct proxy *proxy = backend->self;
    return proxy->channel.helper.pid;
}

void svmx__proxy_kill(const struct svmx_backend *backend, const char *how) {
    struct proxy *proxy = backend->self;
    svmx__channel_kill(&proxy->channel, how);
    leave_seats(proxy);
}
