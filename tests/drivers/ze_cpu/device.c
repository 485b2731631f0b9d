/*
 * device.c: devices and what they say of themselves. Device 0 is discrete, with 1 GiB; each further one has half the memory
 * of the one before and is slower, and every second one is integrated, so that no two are alike. All of them are the CPU,
 * and their names say so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <stdio.h>
#include <string.h>

#define FIRST_MEMORY_BYTES ((uint64_t)1 << 30) /* any OpenCL driver has that much, and half of it in one piece */

static struct zecpu_device devices[ZECPU_MAX_DEVICES], tiles[ZECPU_MAX_DEVICES][ZECPU_MAX_TILES];

static void describe(struct zecpu_device *device, uint32_t index, struct zecpu_device *root) {
    zecpu_object_init(&device->object, ZECPU_DEVICE);
    device->object.device = device;
    device->index = index;
    device->root = root;
    device->memory_bytes = FIRST_MEMORY_BYTES >> root->index;
    device->largest_bytes = device->memory_bytes / 4;
    device->slowness = root->index + 1;
    device->integrated = zecpu_settings.integrated || root->index % 2 == 1;
    device->fp64 = !zecpu_settings.no_fp64;
}

void zecpu_devices_init(void) {
    for (uint32_t i = 0; i < zecpu_settings.devices; i++) {
        devices[i].index = i;
        describe(&devices[i], i, &devices[i]);
        devices[i].tiles = tiles[i];
        for (uint32_t j = 0; j < zecpu_settings.tiles; j++) describe(&tiles[i][j], j, &devices[i]);
    }
}

void zecpu_devices_lost(const struct zecpu_device *device, bool lost) {
    for (uint32_t i = 0; i < zecpu_settings.devices; i++)
        if (!device || device->root == &devices[i]) devices[i].lost = lost;
}

ze_result_t zeDeviceGet(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *out) {
    const ze_result_t result = zecpu_call(__func__, driver, ZECPU_DRIVER);
    if (result) return result;
    for (uint32_t i = 0; out && i < *count && i < zecpu_settings.devices; i++) out[i] = (ze_device_handle_t)&devices[i];
    if (!*count || *count > zecpu_settings.devices) *count = zecpu_settings.devices;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetSubDevices(ze_device_handle_t handle, uint32_t *count, ze_device_handle_t *out) {
    const struct zecpu_device *device = (const struct zecpu_device *)handle;
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_DEVICE);
    if (result) return result;
    const uint32_t all = device->tiles ? zecpu_settings.tiles : 0;
    for (uint32_t i = 0; out && i < *count && i < all; i++) out[i] = (ze_device_handle_t)&device->tiles[i];
    if (!*count || *count > all) *count = all;
    return ZE_RESULT_SUCCESS;
}

static void name_of(const struct zecpu_device *device, char *name, size_t room) {
    char tile[24] = "";
    if (device != device->root) (void)snprintf(tile, sizeof tile, " tile %u", (unsigned)device->index);
    (void)snprintf(name, room, "ze_cpu %u%s: CPU test driver (not a GPU) on %s", (unsigned)device->root->index, tile,
                   zecpu_engine_name());
}

ze_result_t zeDeviceGetProperties(ze_device_handle_t handle, ze_device_properties_t *out) {
    const struct zecpu_device *device = (const struct zecpu_device *)handle;
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_DEVICE);
    const bool per_second = !result && out->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    if (!result && !per_second) result = zecpu_stype(__func__, out->stype, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
    if (result) return result;
    *out = (ze_device_properties_t){.stype = out->stype,
                                    .pNext = out->pNext,
                                    .type = ZE_DEVICE_TYPE_GPU, /* what clients look for */
                                    .deviceId = device->root->index,
                                    .subdeviceId = device == device->root ? 0 : device->index,
                                    .coreClockRate = 1000 / device->slowness,
                                    .maxMemAllocSize = device->largest_bytes,
                                    .maxHardwareContexts = 64,
                                    .numThreadsPerEU = 8,
                                    .physicalEUSimdWidth = 8,
                                    .numEUsPerSubslice = 8,
                                    .numSubslicesPerSlice = 4,
                                    .numSlices = 1,
                                    .timerResolution = per_second ? 1000000000u / ZECPU_TICK_NS : ZECPU_TICK_NS,
                                    .timestampValidBits = 64,
                                    .kernelTimestampValidBits = zecpu_clock_bits()};
    if (device->integrated) out->flags |= ZE_DEVICE_PROPERTY_FLAG_INTEGRATED;
    if (device != device->root) out->flags |= ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE;
    memcpy(out->uuid.id, "ze_cpu device", 13);
    out->uuid.id[13] = (uint8_t)(device->root->index + 1);
    out->uuid.id[14] = (uint8_t)(device == device->root ? 0 : device->index + 1);
    name_of(device, out->name, sizeof out->name);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetComputeProperties(ze_device_handle_t handle, ze_device_compute_properties_t *out) {
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_DEVICE);
    if (!result) result = zecpu_stype(__func__, out->stype, ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES);
    if (result) return result;
    *out = (ze_device_compute_properties_t){.stype = out->stype,
                                            .pNext = out->pNext,
                                            .maxTotalGroupSize = ZECPU_GROUP_SIZE,
                                            .maxGroupSizeX = ZECPU_GROUP_SIZE,
                                            .maxGroupSizeY = ZECPU_GROUP_SIZE,
                                            .maxGroupSizeZ = ZECPU_GROUP_SIZE,
                                            .maxGroupCountX = UINT32_MAX,
                                            .maxGroupCountY = UINT32_MAX,
                                            .maxGroupCountZ = UINT32_MAX,
                                            .maxSharedLocalMemory = 65536,
                                            .numSubGroupSizes = 2,
                                            .subGroupSizes = {16, 32}};
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetModuleProperties(ze_device_handle_t handle, ze_device_module_properties_t *out) {
    const ze_device_fp_flags_t ieee = ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN |
                                      ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST | ZE_DEVICE_FP_FLAG_FMA |
                                      ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT;
    const struct zecpu_device *device = (const struct zecpu_device *)handle;
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_DEVICE);
    if (!result) result = zecpu_stype(__func__, out->stype, ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES);
    if (result) return result;
    *out = (ze_device_module_properties_t){.stype = out->stype,
                                           .pNext = out->pNext,
                                           .spirvVersionSupported = ZE_MAKE_VERSION(1, 2),
                                           .flags = ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS |
                                                    (device->fp64 ? ZE_DEVICE_MODULE_FLAG_FP64 : 0u),
                                           .fp32flags = ieee,
                                           .fp64flags = device->fp64 ? ieee : 0,
                                           .maxArgumentsSize = 2048};
    memcpy(out->nativeKernelSupported.id, "ze_cpu 1", 8);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t handle, uint32_t *count,
                                                   ze_command_queue_group_properties_t *out) {
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_DEVICE);
    for (uint32_t i = 0; !result && out && i < *count && i < ZECPU_GROUPS; i++) {
        result = zecpu_stype(__func__, out[i].stype, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES);
        out[i].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
        if (i == ZECPU_COMPUTE) out[i].flags |= ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
        out[i].maxMemoryFillPatternSize = i == ZECPU_COMPUTE ? ZECPU_VALUE_BYTES : 1;
        out[i].numQueues = i == ZECPU_COMPUTE ? 4 : 2;
    }
    if (!result && (!*count || *count > ZECPU_GROUPS)) *count = ZECPU_GROUPS;
    return result;
}

ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t handle, uint32_t *count,
                                        ze_device_memory_properties_t *out) {
    const struct zecpu_device *device = (const struct zecpu_device *)handle;
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_DEVICE);
    if (!result && *count && out) {
        result = zecpu_stype(__func__, out->stype, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES);
        out->flags = 0;
        out->maxClockRate = 1000;
        out->maxBusWidth = 64;
        out->totalSize = device->memory_bytes;
        (void)snprintf(out->name, sizeof out->name, "memory of the host");
    }
    if (!result) *count = 1;
    return result;
}

ze_result_t zeDeviceGetMemoryAccessProperties(ze_device_handle_t handle, ze_device_memory_access_properties_t *out) {
    const ze_memory_access_cap_flags_t all = ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC;
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_DEVICE);
    if (!result) result = zecpu_stype(__func__, out->stype, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES);
    if (result) return result;
    out->hostAllocCapabilities = out->deviceAllocCapabilities = out->sharedSingleDeviceAllocCapabilities = all;
    out->sharedCrossDeviceAllocCapabilities = out->sharedSystemAllocCapabilities = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetCacheProperties(ze_device_handle_t handle, uint32_t *count, ze_device_cache_properties_t *out) {
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_DEVICE);
    if (!result && *count && out) {
        result = zecpu_stype(__func__, out->stype, ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES);
        out->flags = 0;
        out->cacheSize = 1 << 20;
    }
    if (!result) *count = 1;
    return result;
}

ze_result_t zeDeviceGetImageProperties(ze_device_handle_t handle, ze_device_image_properties_t *out) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_DEVICE);
    if (!result) *out = (ze_device_image_properties_t){.stype = out->stype, .pNext = out->pNext};
    return result;
}

ze_result_t zeDeviceGetExternalMemoryProperties(ze_device_handle_t handle,
                                                ze_device_external_memory_properties_t *out) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_DEVICE);
    if (!result) *out = (ze_device_external_memory_properties_t){.stype = out->stype, .pNext = out->pNext};
    return result;
}

ze_result_t zeDeviceGetP2PProperties(ze_device_handle_t handle, ze_device_handle_t peer,
                                     ze_device_p2p_properties_t *out) {
    (void)peer;
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_DEVICE);
    if (!result) out->flags = 0;
    return result;
}

ze_result_t zeDeviceCanAccessPeer(ze_device_handle_t handle, ze_device_handle_t peer, ze_bool_t *out) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_DEVICE);
    if (!result) *out = handle == peer;
    return result;
}

ze_result_t zeDeviceGetStatus(ze_device_handle_t handle) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_DEVICE);
    if (result) return result;
    zecpu_lock();
    const bool lost = ((const struct zecpu_device *)handle)->root->lost;
    zecpu_unlock();
    return lost ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetGlobalTimestamps(ze_device_handle_t handle, uint64_t *host, uint64_t *device) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_DEVICE);
    if (result) return result;
    *host = zecpu_now_ns();
    *device = zecpu_ticks();
    return ZE_RESULT_SUCCESS;
}

/* A place on a bus that no machine has: by it a client tells devices of the same name apart. */
ze_result_t zeDevicePciGetPropertiesExt(ze_device_handle_t handle, ze_pci_ext_properties_t *out) {
    const struct zecpu_device *device = (const struct zecpu_device *)handle;
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_DEVICE);
    if (!result) result = zecpu_stype(__func__, out->stype, ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES);
    if (result) return result;
    out->address = (ze_pci_address_ext_t){.domain = 0xffff, .bus = 0xfe, .device = device->root->index};
    out->maxSpeed = (ze_pci_speed_ext_t){.genVersion = -1, .width = -1, .maxBandwidth = -1};
    return ZE_RESULT_SUCCESS;
}
