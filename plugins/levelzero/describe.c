/*
 * describe.c: what a device is: its name, limits and flags, as the core wants to know them.
 *
 * Questions to the driver only: nothing is made, so that all devices of a machine are described in milliseconds. What a
 * driver says is believed only where nothing hangs on it: an operation serves after its known answers, and a device
 * whose own words make no sense is not used. Called by device.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "levelzero.h"

#include <stdio.h>
#include <string.h>

enum { MAX_GROUPS = 16, MAX_EXTENSIONS = 128, MAX_MEMORIES = 8 };

#define FOUR_GIB ((uint64_t)4 << 30)
#define NS_PER_S UINT64_C(1000000000)

/* ---- names ------------------------------------------------------------------------------------------------ */

/* Of tests/drivers/ze_cpu: its devices say that they are GPUs, since that is what clients look for. */
static bool is_test_driver(const char *name) { return strstr(name, "CPU test driver") != NULL; }

static void find_names(struct lz_device *device, const ze_device_properties_t *properties) {
    ze_driver_properties_t driver = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    struct svmx_device_info *info = &device->info;
    char raw[ZE_MAX_DEVICE_NAME + 1] = "";
    memcpy(raw, properties->name, ZE_MAX_DEVICE_NAME);
    kernels_name_tidy(info->name, sizeof info->name, raw);
    memcpy(device->own_name, info->name, sizeof device->own_name);
    if (zeDriverGetProperties(device->driver, &driver) != ZE_RESULT_SUCCESS) driver.driverVersion = 0;
    (void)snprintf(info->driver, sizeof info->driver, "Level Zero%s %u.%u.%u",
                   is_test_driver(raw) ? " CPU test driver" : "", (unsigned)driver.driverVersion >> 24,
                   (unsigned)driver.driverVersion >> 16 & 0xff, (unsigned)driver.driverVersion & 0xffff);
    memcpy(info->uuid, properties->uuid.id, sizeof info->uuid);
}

static void find_pci(struct lz_device *device) {
    ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    if (zeDevicePciGetPropertiesExt(device->id, &pci) != ZE_RESULT_SUCCESS) return;
    (void)snprintf(device->info.pci, sizeof device->info.pci, "%04x:%02x:%02x.%x", pci.address.domain & 0xffff,
                   pci.address.bus & 0xff, pci.address.device & 0x1f, pci.address.function & 7);
}

/* ---- limits ----------------------------------------------------------------------------------------------- */

static bool has_extension(ze_driver_handle_t driver, const char *name) {
    ze_driver_extension_properties_t all[MAX_EXTENSIONS];
    uint32_t count = MAX_EXTENSIONS;
    if (zeDriverGetExtensionProperties(driver, &count, all) != ZE_RESULT_SUCCESS) return false;
    for (uint32_t i = 0; i < count && i < MAX_EXTENSIONS; i++)
        if (strncmp(all[i].name, name, sizeof all[i].name) == 0) return true;
    return false;
}

static uint64_t memory_bytes(const struct lz_device *device) {
    ze_device_memory_properties_t all[MAX_MEMORIES];
    uint32_t count = MAX_MEMORIES;
    uint64_t bytes = 0;
    for (size_t i = 0; i < MAX_MEMORIES; i++)
        all[i] = (ze_device_memory_properties_t){.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    if (zeDeviceGetMemoryProperties(device->id, &count, all) != ZE_RESULT_SUCCESS) return 0;
    for (uint32_t i = 0; i < count && i < MAX_MEMORIES; i++) bytes += all[i].totalSize;
    return bytes;
}

/* Larger allocations than the plain limit are to be had where the driver has the extension; kernels that meet buffers of
 * more than 4 GiB must be compiled for them. */
static void find_memory(struct lz_device *device, const ze_device_properties_t *properties) {
    struct svmx_device_info *info = &device->info;
    info->memory_bytes = memory_bytes(device);
    device->plain_bytes = properties->maxMemAllocSize;
    if (device->plain_bytes > info->memory_bytes) device->plain_bytes = info->memory_bytes;
    const bool relaxed = has_extension(device->driver, ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME);
    info->max_alloc_bytes = relaxed ? info->memory_bytes : device->plain_bytes;
    device->build_options = info->max_alloc_bytes > FOUR_GIB ? "-ze-opt-greater-than-4GB-buffer-required" : "";
}

static void find_timer(struct lz_device *device, const ze_device_properties_t *properties) {
    const uint32_t bits = properties->kernelTimestampValidBits;
    device->timer_hz = properties->timerResolution; /* cycles a second, as was asked for */
    if (device->timer_hz) device->info.timer_ns = (uint32_t)((NS_PER_S + device->timer_hz - 1) / device->timer_hz);
    device->stamp_mask = bits == 0 || bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* The first queue group that computes is engine 0, the first for copies only engine 1. */
static bool find_engines(struct lz_device *device) {
    ze_command_queue_group_properties_t groups[MAX_GROUPS];
    uint32_t count = MAX_GROUPS, compute = MAX_GROUPS, copy = MAX_GROUPS;
    for (size_t i = 0; i < MAX_GROUPS; i++)
        groups[i] = (ze_command_queue_group_properties_t){.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES};
    if (zeDeviceGetCommandQueueGroupProperties(device->id, &count, groups) != ZE_RESULT_SUCCESS) return false;
    for (uint32_t i = 0; i < count && i < MAX_GROUPS; i++) {
        const bool computes = groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
        const bool copies = groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
        if (computes && compute == MAX_GROUPS) compute = i;
        if (copies && !computes && copy == MAX_GROUPS) copy = i;
    }
    device->info.compute_engines = compute < MAX_GROUPS;
    device->info.copy_engines = copy < MAX_GROUPS;
    device->engines[0].ordinal = compute;
    device->engines[1].ordinal = device->engines[LZ_READBACKS].ordinal = copy;
    return compute < MAX_GROUPS;
}

static void find_limits(struct lz_device *device, const ze_device_properties_t *properties) {
    struct svmx_device_info *info = &device->info;
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    if (zeDeviceGetComputeProperties(device->id, &compute) == ZE_RESULT_SUCCESS) {
        device->max_group =
            compute.maxTotalGroupSize < compute.maxGroupSizeX ? compute.maxTotalGroupSize : compute.maxGroupSizeX;
        device->max_group_count = compute.maxGroupCountX;
        info->max_group = device->max_group;
        info->local_bytes = compute.maxSharedLocalMemory;
    }
    device->compute_units = properties->numSlices * properties->numSubslicesPerSlice * properties->numEUsPerSubslice;
    info->threads = device->compute_units;
    info->alignment = LZ_ALIGNMENT;
    info->max_in_flight = LZ_SLOTS;
    find_memory(device, properties);
    find_timer(device, properties);
}

/* ---- flags ------------------------------------------------------------------------------------------------ */

static uint32_t kind_of(ze_device_type_t type) {
    if (type == ZE_DEVICE_TYPE_CPU) return SVMX_DEVICE_CPU;
    return type == ZE_DEVICE_TYPE_GPU ? SVMX_DEVICE_GPU : SVMX_DEVICE_ACCELERATOR;
}

static void find_flags(struct lz_device *device, const ze_device_properties_t *properties) {
    struct svmx_device_info *info = &device->info;
    ze_device_memory_access_properties_t access = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
    const bool test = is_test_driver(properties->name);
    info->kind = test ? SVMX_DEVICE_CPU : kind_of(properties->type);
    device->shares_cores = info->kind == SVMX_DEVICE_CPU;
    device->integrated = properties->flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED;
    device->system_memory = zeDeviceGetMemoryAccessProperties(device->id, &access) == ZE_RESULT_SUCCESS &&
                            (access.sharedSystemAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW);
    device->in_order = device->backend->newer.list_synchronize && has_extension(device->driver, LZ_COUNTER_BASED_NAME);
    info->flags |= SVMX_DEVICE_LINKS;
    if (test) info->flags |= SVMX_DEVICE_TEST;
    if (device->shares_cores) info->flags |= SVMX_DEVICE_SHARES_CORES;
    if (device->integrated) info->flags |= SVMX_DEVICE_SHARES_MEMORY;
}

static uint32_t fp_of(ze_device_fp_flags_t said) {
    return (said & ZE_DEVICE_FP_FLAG_DENORM ? SVMX_FP_DENORMALS : 0u) |
           (said & ZE_DEVICE_FP_FLAG_INF_NAN ? SVMX_FP_INF_NAN : 0u) |
           (said & ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST ? SVMX_FP_ROUND_NEAREST : 0u) |
           (said & ZE_DEVICE_FP_FLAG_FMA ? SVMX_FP_FMA : 0u) |
           (said & ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT ? SVMX_FP_EXACT_DIVIDE : 0u) |
           (said & ZE_DEVICE_FP_FLAG_SOFT_FLOAT ? SVMX_FP_SOFT : 0u);
}

/* Doubles, and whether it takes our SPIR-V. */
static const char *find_code(struct lz_device *device) {
    ze_device_module_properties_t code = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    if (zeDeviceGetModuleProperties(device->id, &code) != ZE_RESULT_SUCCESS)
        return "its driver does not say what code it takes";
    device->info.fp32 = fp_of(code.fp32flags);
    device->info.fp64 = code.flags & ZE_DEVICE_MODULE_FLAG_FP64 ? fp_of(code.fp64flags) : 0;
    if (!(code.flags & ZE_DEVICE_MODULE_FLAG_FP64)) device->info.flags |= SVMX_DEVICE_NO_F64;
    return code.spirvVersionSupported < ZE_MAKE_VERSION(1, 2) ? "it takes no SPIR-V 1.2" : NULL;
}

const char *lz_describe(struct lz_device *device) {
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    if (zeDeviceGetProperties(device->id, &properties) != ZE_RESULT_SUCCESS)
        return "its driver does not say what it is";
    properties.name[sizeof properties.name - 1] = '\0';
    find_names(device, &properties);
    find_pci(device);
    find_limits(device, &properties);
    find_flags(device, &properties);
    const char *reason = find_code(device);
    if (reason) return reason;
    if (!find_engines(device)) return "it has no queue group that computes";
    if (!device->info.name[0]) return "it has no name";
    if (!device->compute_units) return "it has no execution unit";
    if (!device->max_group || !device->max_group_count) return "its work-groups have no size";
    if (!device->info.memory_bytes || !device->info.max_alloc_bytes) return "it has no memory";
    return NULL;
}
