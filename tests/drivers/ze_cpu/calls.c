/*
 * calls.c: where every function of the driver begins: it is counted here, and fails or hangs here if the test wants it to
 * (ZE_CPU_FAIL, ZE_CPU_HANG, ZE_CPU_COUNT).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct call {
    const char *name;
    _Atomic uint64_t count; /* relaxed: a number by itself */
};

/* All functions that there are, in the order of strcmp: found by halving. */
static struct call calls[] = {
    {"command", 0},
    {"zeCommandListAppendBarrier", 0},
    {"zeCommandListAppendEventReset", 0},
    {"zeCommandListAppendLaunchCooperativeKernel", 0},
    {"zeCommandListAppendLaunchKernel", 0},
    {"zeCommandListAppendLaunchKernelIndirect", 0},
    {"zeCommandListAppendMemAdvise", 0},
    {"zeCommandListAppendMemoryCopy", 0},
    {"zeCommandListAppendMemoryCopyRegion", 0},
    {"zeCommandListAppendMemoryFill", 0},
    {"zeCommandListAppendMemoryPrefetch", 0},
    {"zeCommandListAppendMemoryRangesBarrier", 0},
    {"zeCommandListAppendQueryKernelTimestamps", 0},
    {"zeCommandListAppendSignalEvent", 0},
    {"zeCommandListAppendWaitOnEvents", 0},
    {"zeCommandListAppendWriteGlobalTimestamp", 0},
    {"zeCommandListClose", 0},
    {"zeCommandListCreate", 0},
    {"zeCommandListCreateImmediate", 0},
    {"zeCommandListDestroy", 0},
    {"zeCommandListHostSynchronize", 0},
    {"zeCommandListReset", 0},
    {"zeCommandQueueCreate", 0},
    {"zeCommandQueueDestroy", 0},
    {"zeCommandQueueExecuteCommandLists", 0},
    {"zeCommandQueueSynchronize", 0},
    {"zeContextCreate", 0},
    {"zeContextCreateEx", 0},
    {"zeContextDestroy", 0},
    {"zeContextEvictMemory", 0},
    {"zeContextGetStatus", 0},
    {"zeContextMakeMemoryResident", 0},
    {"zeContextSystemBarrier", 0},
    {"zeDeviceCanAccessPeer", 0},
    {"zeDeviceGet", 0},
    {"zeDeviceGetCacheProperties", 0},
    {"zeDeviceGetCommandQueueGroupProperties", 0},
    {"zeDeviceGetComputeProperties", 0},
    {"zeDeviceGetExternalMemoryProperties", 0},
    {"zeDeviceGetGlobalTimestamps", 0},
    {"zeDeviceGetImageProperties", 0},
    {"zeDeviceGetMemoryAccessProperties", 0},
    {"zeDeviceGetMemoryProperties", 0},
    {"zeDeviceGetModuleProperties", 0},
    {"zeDeviceGetP2PProperties", 0},
    {"zeDeviceGetProperties", 0},
    {"zeDeviceGetStatus", 0},
    {"zeDeviceGetSubDevices", 0},
    {"zeDevicePciGetPropertiesExt", 0},
    {"zeDriverGet", 0},
    {"zeDriverGetApiVersion", 0},
    {"zeDriverGetExtensionFunctionAddress", 0},
    {"zeDriverGetExtensionProperties", 0},
    {"zeDriverGetIpcProperties", 0},
    {"zeDriverGetProperties", 0},
    {"zeEventCreate", 0},
    {"zeEventDestroy", 0},
    {"zeEventHostReset", 0},
    {"zeEventHostSignal", 0},
    {"zeEventHostSynchronize", 0},
    {"zeEventPoolCreate", 0},
    {"zeEventPoolDestroy", 0},
    {"zeEventQueryKernelTimestamp", 0},
    {"zeEventQueryStatus", 0},
    {"zeFenceCreate", 0},
    {"zeFenceDestroy", 0},
    {"zeFenceHostSynchronize", 0},
    {"zeFenceQueryStatus", 0},
    {"zeFenceReset", 0},
    {"zeInit", 0},
    {"zeInitDrivers", 0},
    {"zeKernelCreate", 0},
    {"zeKernelDestroy", 0},
    {"zeKernelGetIndirectAccess", 0},
    {"zeKernelGetName", 0},
    {"zeKernelGetProperties", 0},
    {"zeKernelSetArgumentValue", 0},
    {"zeKernelSetCacheConfig", 0},
    {"zeKernelSetGlobalOffsetExp", 0},
    {"zeKernelSetGroupSize", 0},
    {"zeKernelSetIndirectAccess", 0},
    {"zeKernelSuggestGroupSize", 0},
    {"zeMemAllocDevice", 0},
    {"zeMemAllocHost", 0},
    {"zeMemAllocShared", 0},
    {"zeMemFree", 0},
    {"zeMemGetAddressRange", 0},
    {"zeMemGetAllocProperties", 0},
    {"zeModuleBuildLogDestroy", 0},
    {"zeModuleBuildLogGetString", 0},
    {"zeModuleCreate", 0},
    {"zeModuleDestroy", 0},
    {"zeModuleGetKernelNames", 0},
    {"zeModuleGetNativeBinary", 0},
    {"zeModuleGetProperties", 0},
};

enum { CALL_COUNT = sizeof calls / sizeof *calls, MAX_PLACES = 128 };

/* What shall happen at which call; written before the first one is looked up. */
struct place {
    const struct call *call;
    uint64_t n;
    ze_result_t result;
    uint64_t milliseconds;
};

static struct place failures[MAX_PLACES], hangs[MAX_PLACES];
static size_t failure_count, hang_count;

static int compare(const void *name, const void *call) { return strcmp(name, ((const struct call *)call)->name); }

static struct call *find(const char *function) { return bsearch(function, calls, CALL_COUNT, sizeof *calls, compare); }

bool zecpu_calls_fail(const char *function, uint64_t n, ze_result_t result) {
    const struct call *call = find(function);
    if (!call || failure_count == MAX_PLACES) return false;
    failures[failure_count++] = (struct place){.call = call, .n = n, .result = result};
    return true;
}

bool zecpu_calls_hang(const char *function, uint64_t n, uint64_t milliseconds) {
    const struct call *call = find(function);
    if (!call || hang_count == MAX_PLACES) return false;
    hangs[hang_count++] = (struct place){.call = call, .n = n, .milliseconds = milliseconds};
    return true;
}

static const struct place *place_of(const struct place *places, size_t count, const struct call *call, uint64_t n) {
    for (size_t i = 0; i < count; i++)
        if (places[i].call == call && places[i].n == n) return &places[i];
    return NULL;
}

/* Until the file is there, or the time is over. */
static void hang(uint64_t milliseconds) {
    const struct timespec moment = {0, 5000000};
    const uint64_t end = zecpu_now_ns() + milliseconds * 1000000u;
    while (zecpu_now_ns() < end && !(zecpu_settings.hang_file && access(zecpu_settings.hang_file, F_OK) == 0))
        nanosleep(&moment, NULL);
}

/* Counts and hangs; what it shall fail with. */
static ze_result_t begin(const char *function) {
    struct call *call = find(function);
    assert(call && "a function that is missing in the table above");
    const uint64_t n = atomic_fetch_add_explicit(&call->count, 1, memory_order_relaxed) + 1;
    const struct place *hanging = place_of(hangs, hang_count, call, n);
    if (hanging) hang(hanging->milliseconds);
    const struct place *failing = place_of(failures, failure_count, call, n);
    return failing ? failing->result : ZE_RESULT_SUCCESS;
}

/* What belongs to no context can be lost, but it does not stick: there is no new context to end it. */
static void lose(const struct zecpu_object *object) {
    zecpu_lock();
    if (object && object->context) zecpu_context_lose(object->context, object->device);
    zecpu_unlock();
}

static bool is_lost(const struct zecpu_object *object) {
    if (!object || !object->context) return false;
    zecpu_lock();
    const bool lost = zecpu_context_is_lost(object->context, object->device);
    zecpu_unlock();
    return lost;
}

ze_result_t zecpu_call(const char *function, const void *handle, enum zecpu_kind kind) {
    const ze_result_t failure = begin(function);
    if (kind != ZECPU_ANY && !zecpu_object_check(handle, kind, function)) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    const struct zecpu_object *object = kind == ZECPU_ANY ? NULL : handle;
    if (is_lost(object)) return ZE_RESULT_ERROR_DEVICE_LOST;
    if (failure == ZE_RESULT_ERROR_DEVICE_LOST) lose(object);
    return failure;
}

ze_result_t zecpu_call_device(const char *function, ze_context_handle_t context, ze_device_handle_t device) {
    const struct zecpu_object both = {.context = (struct zecpu_context *)context,
                                      .device = (struct zecpu_device *)device};
    const ze_result_t failure = begin(function);
    if (!zecpu_object_check(context, ZECPU_CONTEXT, function) || !zecpu_object_check(device, ZECPU_DEVICE, function))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (is_lost(&both)) return ZE_RESULT_ERROR_DEVICE_LOST;
    if (failure == ZE_RESULT_ERROR_DEVICE_LOST) lose(&both);
    return failure;
}

bool zecpu_call_destroy(const char *function, const void *handle, enum zecpu_kind kind, ze_result_t *result) {
    *result = begin(function);
    if (!zecpu_object_check(handle, kind, function)) {
        *result = ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
        return false;
    }
    if (*result == ZE_RESULT_ERROR_DEVICE_LOST) lose(handle);
    return true;
}

ze_result_t zecpu_call_command(void) { return begin("command"); }

ze_result_t zecpu_stype(const char *function, ze_structure_type_t stype, ze_structure_type_t wanted) {
    if (stype == wanted) return ZE_RESULT_SUCCESS;
    zecpu_misuse("%s: the structure says that its type is %#x, not %#x", function, (unsigned)stype, (unsigned)wanted);
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

void zecpu_calls_write(void) {
    FILE *file = zecpu_settings.count ? fopen(zecpu_settings.count, "w") : NULL;
    if (!file) return;
    for (size_t i = 0; i < CALL_COUNT; i++) {
        const uint64_t count = atomic_load_explicit(&calls[i].count, memory_order_relaxed);
        if (count) fprintf(file, "%s %llu\n", calls[i].name, (unsigned long long)count);
    }
    fclose(file);
}
