/*
 * ddi.c: the tables by which Level Zero's loader finds the functions of a driver. The loader asks for every table that it
 * knows, and gives the driver up if one is refused; for a function that a table leaves empty it answers
 * UNSUPPORTED_FEATURE by itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <level_zero/zes_api.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_api.h>
#include <level_zero/zet_ddi.h>

static ze_result_t check(ze_api_version_t version, const void *table) {
    if (!table) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return ZE_MAJOR_VERSION(version) == 1 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
}

ze_result_t zeGetGlobalProcAddrTable(ze_api_version_t version, ze_global_dditable_t *table) {
    const ze_result_t result = check(version, table);
    if (result) return result;
    table->pfnInit = zeInit;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeGetDriverProcAddrTable(ze_api_version_t version, ze_driver_dditable_t *table) {
    const ze_result_t result = check(version, table);
    if (result) return result;
    table->pfnGet = zeDriverGet;
    table->pfnGetApiVersion = zeDriverGetApiVersion;
    table->pfnGetProperties = zeDriverGetProperties;
    table->pfnGetIpcProperties = zeDriverGetIpcProperties;
    table->pfnGetExtensionProperties = zeDriverGetExtensionProperties;
    table->pfnGetExtensionFunctionAddress = zeDriverGetExtensionFunctionAddress;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeGetDeviceProcAddrTable(ze_api_version_t version, ze_device_dditable_t *table) {
    const ze_result_t result = check(version, table);
    if (result) return result;
    table->pfnGet = zeDeviceGet;
    table->pfnGetSubDevices = zeDeviceGetSubDevices;
    table->pfnGetProperties = zeDeviceGetProperties;
    table->pfnGetComputeProperties = zeDeviceGetComputeProperties;
    table->pfnGetModuleProperties = zeDeviceGetModuleProperties;
    table->pfnGetCommandQueueGroupProperties = zeDeviceGetCommandQueueGroupProperties;
    table->pfnGetMemoryProperties = zeDeviceGetMemoryProperties;
    table->pfnGetMemoryAccessProperties = zeDeviceGetMemoryAccessProperties;
    table->pfnGetCacheProperties = zeDeviceGetCacheProperties;
    table->pfnGetImageProperties = zeDeviceGetImageProperties;
    table->pfnGetExternalMemoryProperties = zeDeviceGetExternalMemoryProperties;
    table->pfnGetP2PProperties = zeDeviceGetP2PProperties;
    table->pfnCanAccessPeer = zeDeviceCanAccessPeer;
    table->pfnGetStatus = zeDeviceGetStatus;
    table->pfnGetGlobalTimestamps = zeDeviceGetGlobalTimestamps;
    table->pfnPciGetPropertiesExt = zeDevicePciGetPropertiesExt;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeGetContextProcAddrTable(ze_api_version_t version, ze_context_dditable_t *table) {
    const ze_result_t result = check(version, table);
    if (result) return result;
    table->pfnCreate = zeContextCreate;
    table->pfnDestroy = zeContextDestroy;
    table->pfnGetStatus = zeContextGetStatus;
    table->pfnSystemBarrier = zeContextSystemBarrier;
    table->pfnMakeMemoryResident = zeContextMakeMemoryResident;
    table->pfnEvictMemory = zeContextEvictMemory;
    table->pfnCreateEx = zeContextCreateEx;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeGetCommandQueueProcAddrTable(ze_api_version_t version, ze_command_queue_dditable_t *table) {
    const ze_result_t result = check(version, table);
    if (result) return result;
    table->pfnCreate = zeCommandQueueCreate;
    table->pfnDestroy = zeCommandQueueDestroy;
    table->pfnExecuteCommandLists = zeCommandQueueExecuteCommandLists;
    table->pfnSynchronize = zeCommandQueueSynchronize;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeGetCommandListProcAddrTable(ze_api_version_t version, ze_command_list_dditable_t *table) {
    const ze_result_t result = check(version, table);
    if (result) return result;
    table->pfnCreate = zeCommandListCreate;
    table->pfnCreateImmediate = zeCommandListCreateImmediate;
    table->pfnDestroy = zeCommandListDestroy;
    table->pfnClose = zeCommandListClose;
    table->pfnReset = zeCommandListReset;
    table->pfnAppendWriteGlobalTimestamp = zeCommandListAppendWriteGlobalTimestamp;
    table->pfnAppendBarrier = zeCommandListAppendBarrier;
    table->pfnAppendMemoryRangesBarrier = zeCommandListAppendMemoryRangesBarrier;
    table->pfnAppendMemoryCopy = zeCommandListAppendMemoryCopy;
    table->pfnAppendMemoryFill = zeCommandListAppendMemoryFill;
    table->pfnAppendMemoryCopyRegion = zeCommandListAppendMemoryCopyRegion;
    table->pfnAppendMemoryPrefetch = zeCommandListAppendMemoryPrefetch;
    table->pfnAppendMemAdvise = zeCommandListAppendMemAdvise;
    table->pfnAppendSignalEvent = zeCommandListAppendSignalEvent;
    table->pfnAppendWaitOnEvents = zeCommandListAppendWaitOnEvents;
    table->pfnAppendEventReset = zeCommandListAppendEventReset;
    table->pfnAppendQueryKernelTimestamps = zeCommandListAppendQueryKernelTimestamps;
    table->pfnAppendLaunchKernel = zeCommandListAppendLaunchKernel;
    table->pfnAppendLaunchCooperativeKernel = zeCommandListAppendLaunchCooperativeKernel;
    table->pfnAppendLaunchKernelIndirect = zeCommandListAppendLaunchKernelIndirect;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeGetFenceProcAddrTable(ze_api_version_t version, ze_fence_dditable_t *table) {
    const ze_result_t result = check(version, table);
    if (result) return result;
    table->pfnCreate = zeFenceCreate;
    table->pfnDestroy = zeFenceDestroy;
    table->pfnHostSynchronize = zeFenceHostSynchronize;
    table->pfnQueryStatus = zeFenceQueryStatus;
    table->pfnReset = zeFenceReset;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeGetEventPoolProcAddrTable(ze_api_version_t version, ze_event_pool_dditable_t *table) {
    const ze_result_t result = check(version, table);
    if (result) return result;
    table->pfnCreate = zeEventPoolCreate;
    table->pfnDestroy = zeEventPoolDestroy;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeGetEventProcAddrTable(ze_api_version_t version, ze_event_dditable_t *table) {
    const ze_result_t result = check(version, table);
    if (result) return result;
    table->pfnCreate = zeEventCreate;
    table->pfnDestroy = zeEventDestroy;
    table->pfnHostSignal = zeEventHostSignal;
    table->pfnHostSynchronize = zeEventHostSynchronize;
    table->pfnQueryStatus = zeEventQueryStatus;
    table->pfnHostReset = zeEventHostReset;
    table->pfnQueryKernelTimestamp = zeEventQueryKernelTimestamp;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeGetModuleProcAddrTable(ze_api_version_t version, ze_module_dditable_t *table) {
    const ze_result_t result = check(version, table);
    if (result) return result;
    table->pfnCreate = zeModuleCreate;
    table->pfnDestroy = zeModuleDestroy;
    table->pfnGetNativeBinary = zeModuleGetNativeBinary;
    table->pfnGetKernelNames = zeModuleGetKernelNames;
    table->pfnGetProperties = zeModuleGetProperties;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeGetModuleBuildLogProcAddrTable(ze_api_version_t version, ze_module_build_log_dditable_t *table) {
    const ze_result_t result = check(version, table);
    if (result) return result;
    table->pfnDestroy = zeModuleBuildLogDestroy;
    table->pfnGetString = zeModuleBuildLogGetString;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeGetKernelProcAddrTable(ze_api_version_t version, ze_kernel_dditable_t *table) {
    const ze_result_t result = check(version, table);
    if (result) return result;
    table->pfnCreate = zeKernelCreate;
    table->pfnDestroy = zeKernelDestroy;
    table->pfnSetCacheConfig = zeKernelSetCacheConfig;
    table->pfnSetGroupSize = zeKernelSetGroupSize;
    table->pfnSuggestGroupSize = zeKernelSuggestGroupSize;
    table->pfnSetArgumentValue = zeKernelSetArgumentValue;
    table->pfnSetIndirectAccess = zeKernelSetIndirectAccess;
    table->pfnGetIndirectAccess = zeKernelGetIndirectAccess;
    table->pfnGetProperties = zeKernelGetProperties;
    table->pfnGetName = zeKernelGetName;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeGetKernelExpProcAddrTable(ze_api_version_t version, ze_kernel_exp_dditable_t *table) {
    const ze_result_t result = check(version, table);
    if (result) return result;
    table->pfnSetGlobalOffsetExp = zeKernelSetGlobalOffsetExp;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeGetMemProcAddrTable(ze_api_version_t version, ze_mem_dditable_t *table) {
    const ze_result_t result = check(version, table);
    if (result) return result;
    table->pfnAllocShared = zeMemAllocShared;
    table->pfnAllocDevice = zeMemAllocDevice;
    table->pfnAllocHost = zeMemAllocHost;
    table->pfnFree = zeMemFree;
    table->pfnGetAllocProperties = zeMemGetAllocProperties;
    table->pfnGetAddressRange = zeMemGetAddressRange;
    return ZE_RESULT_SUCCESS;
}

/* ---- nothing of these ----------------------------------------------------------------------------------------- */

ze_result_t zeGetImageProcAddrTable(ze_api_version_t version, ze_image_dditable_t *table) {
    return check(version, table);
}
ze_result_t zeGetPhysicalMemProcAddrTable(ze_api_version_t version, ze_physical_mem_dditable_t *table) {
    return check(version, table);
}
ze_result_t zeGetSamplerProcAddrTable(ze_api_version_t version, ze_sampler_dditable_t *table) {
    return check(version, table);
}
ze_result_t zeGetVirtualMemProcAddrTable(ze_api_version_t version, ze_virtual_mem_dditable_t *table) {
    return check(version, table);
}
ze_result_t zetGetDeviceProcAddrTable(ze_api_version_t version, zet_device_dditable_t *table) {
    return check(version, table);
}
ze_result_t zetGetContextProcAddrTable(ze_api_version_t version, zet_context_dditable_t *table) {
    return check(version, table);
}
ze_result_t zetGetCommandListProcAddrTable(ze_api_version_t version, zet_command_list_dditable_t *table) {
    return check(version, table);
}
ze_result_t zetGetKernelProcAddrTable(ze_api_version_t version, zet_kernel_dditable_t *table) {
    return check(version, table);
}
ze_result_t zetGetModuleProcAddrTable(ze_api_version_t version, zet_module_dditable_t *table) {
    return check(version, table);
}
ze_result_t zetGetDebugProcAddrTable(ze_api_version_t version, zet_debug_dditable_t *table) {
    return check(version, table);
}
ze_result_t zetGetMetricProcAddrTable(ze_api_version_t version, zet_metric_dditable_t *table) {
    return check(version, table);
}
ze_result_t zetGetMetricGroupProcAddrTable(ze_api_version_t version, zet_metric_group_dditable_t *table) {
    return check(version, table);
}
ze_result_t zetGetMetricQueryProcAddrTable(ze_api_version_t version, zet_metric_query_dditable_t *table) {
    return check(version, table);
}
ze_result_t zetGetMetricQueryPoolProcAddrTable(ze_api_version_t version, zet_metric_query_pool_dditable_t *table) {
    return check(version, table);
}
ze_result_t zetGetMetricStreamerProcAddrTable(ze_api_version_t version, zet_metric_streamer_dditable_t *table) {
    return check(version, table);
}
ze_result_t zetGetTracerExpProcAddrTable(ze_api_version_t version, zet_tracer_exp_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetDeviceProcAddrTable(ze_api_version_t version, zes_device_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetDriverProcAddrTable(ze_api_version_t version, zes_driver_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetDiagnosticsProcAddrTable(ze_api_version_t version, zes_diagnostics_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetEngineProcAddrTable(ze_api_version_t version, zes_engine_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetFabricPortProcAddrTable(ze_api_version_t version, zes_fabric_port_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetFanProcAddrTable(ze_api_version_t version, zes_fan_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetFirmwareProcAddrTable(ze_api_version_t version, zes_firmware_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetFrequencyProcAddrTable(ze_api_version_t version, zes_frequency_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetLedProcAddrTable(ze_api_version_t version, zes_led_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetMemoryProcAddrTable(ze_api_version_t version, zes_memory_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetPerformanceFactorProcAddrTable(ze_api_version_t version, zes_performance_factor_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetPowerProcAddrTable(ze_api_version_t version, zes_power_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetPsuProcAddrTable(ze_api_version_t version, zes_psu_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetRasProcAddrTable(ze_api_version_t version, zes_ras_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetSchedulerProcAddrTable(ze_api_version_t version, zes_scheduler_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetStandbyProcAddrTable(ze_api_version_t version, zes_standby_dditable_t *table) {
    return check(version, table);
}
ze_result_t zesGetTemperatureProcAddrTable(ze_api_version_t version, zes_temperature_dditable_t *table) {
    return check(version, table);
}
