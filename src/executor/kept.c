/*
 * kept.c: what is kept of pipelines on disk: the compiled form of a variant, and which variant was the fastest.
 *
 * Between builder.c, which asks, and the store (src/cache/binary_store.h), which knows neither devices nor operations. All
 * that a compiled pipeline depends on is in the key: plugin and version, ABI, device, driver, operation and its code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/building.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const void *code, size_t bytes) {
    const struct svmx__hash128 hash = svmx__hash128(code, bytes);
    uint64_t first;
    memcpy(&first, hash.bytes, sizeof first);
    return first;
}

/* Which of the two forms of registered code a plugin compiles is its own business: both are in the key. */
static struct svmx__binary_key key_of(const struct svmx__device *device, const struct svmx__op *op, uint32_t kind,
                                      uint32_t variant) {
    const struct svmx_plugin *plugin = device->backend->plugin;
    const struct svmx_op_desc desc = svmx__op_desc(op);
    const uint64_t text = desc.opencl_c ? hash_of(desc.opencl_c, strlen(desc.opencl_c)) : 0;
    const uint64_t module = desc.spirv ? hash_of(desc.spirv, desc.spirv_bytes) : 0;
    const char *only = device->executor->config.text[SVMX__VARIANT]; /* numbers are of the variants that it leaves */
    const uint64_t forced = only && *only ? hash_of(only, strlen(only)) : 0;
    /* 0 for built-in ones: their code goes with the plugin's version */
    const uint64_t source = (text * 31 + module) * 31 + forced;
    return (struct svmx__binary_key){.kind = kind,
                                     .labels = device->info.flags &
                                               (SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_SHARES_CORES | SVMX_DEVICE_TEST),
                                     .abi_major = plugin->abi_major,
                                     .abi_minor = plugin->abi_minor,
                                     .variant = variant,
                                     .source = source,
                                     .backend = device->backend->name,
                                     .version = plugin->version,
                                     .device = device->info.name,
                                     .driver = device->info.driver,
                                     .op = op->name};
}

/* The same in all lives: one plugin, one table of functions. */
static bool gives_binaries(const struct svmx__device *device) {
    return device->backend->instance.ops->pipeline_binary != NULL;
}

void *svmx__kept_binary(struct svmx__device *device, const struct svmx__op *op, uint32_t variant, size_t *bytes) {
    if (!gives_binaries(device)) return NULL;
    const struct svmx__binary_key key = key_of(device, op, SVMX__BINARY_PIPELINE, variant);
    return svmx__binary_store_get(&device->executor->binaries, &key, bytes);
}

void svmx__unkeep_binary(struct svmx__device *device, const struct svmx__op *op, uint32_t variant) {
    const struct svmx__binary_key key = key_of(device, op, SVMX__BINARY_PIPELINE, variant);
    svmx__binary_store_drop(&device->executor->binaries, &key);
}

/* The compiled form; free() takes it. NULL: the plugin gives none. */
static void *ask_for_binary(struct svmx__life *life, const struct svmx__op *op, struct svmx_pipeline *compiled,
                            size_t *bytes) {
    const struct svmx_backend *instance = &life->backend->instance;
    if (!instance->ops->pipeline_binary) return NULL;
    size_t length = 0;
    void *binary = NULL;
    /* PoCL compiles here, not when it builds */
    svmx__call_begin(life, (struct svmx__call){"pipeline_binary", op->name}, svmx__first_ns(life->device->executor));
    if (instance->ops->pipeline_binary(instance->self, compiled, NULL, &length) == SVMX_OK && length)
        binary = malloc(length);
    const bool given = binary && instance->ops->pipeline_binary(instance->self, compiled, binary, &length) == SVMX_OK;
    svmx__call_end();
    if (given) {
        *bytes = length;
        return binary;
    }
    free(binary);
    return NULL;
}

void svmx__keep_binary(struct svmx__life *life, const struct svmx__op *op, uint32_t variant,
                       struct svmx_pipeline *compiled) {
    struct svmx__device *device = life->device;
    size_t bytes;
    if (!device->executor->binaries.folder) return; /* a driver may compile again to answer (PoCL does) */
    void *binary = ask_for_binary(life, op, compiled, &bytes);
    if (!binary) return;
    const struct svmx__binary_key key = key_of(device, op, SVMX__BINARY_PIPELINE, variant);
    const struct svmx__binary_key choice_key = key_of(device, op, SVMX__BINARY_CHOICE, 0);
    const uint8_t choice = (uint8_t)(variant + 1);
    if (svmx__binary_store_put(&device->executor->binaries, &key, binary, bytes))
        (void)svmx__binary_store_put(&device->executor->binaries, &choice_key, &choice, sizeof choice);
    free(binary);
}

uint8_t svmx__kept_choice(struct svmx__device *device, const struct svmx__op *op) {
    if (!gives_binaries(device)) return 0;
    const struct svmx__binary_key key = key_of(device, op, SVMX__BINARY_CHOICE, 0);
    size_t bytes = 0;
    uint8_t *payload = svmx__binary_store_get(&device->executor->binaries, &key, &bytes);
    uint8_t choice = payload && bytes == 1 ? *payload : 0;
    free(payload);
    return choice;
}
