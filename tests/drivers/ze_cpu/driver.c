/*
 * driver.c: zeInit and the one driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <stdio.h>
#include <string.h>

bool zecpu_stand_in;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static ze_result_t first_result = ZE_RESULT_ERROR_UNINITIALIZED;
static struct zecpu_object driver;

static void start(void) {
    if (!zecpu_settings_read() || !zecpu_engine_open()) return;
    zecpu_object_init(&driver, ZECPU_DRIVER);
    zecpu_devices_init();
    first_result = ZE_RESULT_SUCCESS;
}

ze_result_t zecpu_driver_init(void) {
    pthread_once(&once, start);
    return first_result;
}

ze_result_t zeInit(ze_init_flags_t flags) {
    const bool not_us = flags && !(flags & ZE_INIT_FLAG_GPU_ONLY);
    const ze_result_t result = not_us ? ZE_RESULT_ERROR_UNINITIALIZED : zecpu_driver_init();
    return result ? result : zecpu_call(__func__, NULL, ZECPU_ANY);
}

ze_result_t zecpu_driver_handles(uint32_t *count, ze_driver_handle_t *drivers) {
    if (*count && drivers) drivers[0] = (ze_driver_handle_t)&driver;
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers) {
    const ze_result_t result = zecpu_call(__func__, NULL, ZECPU_ANY);
    return result ? result : zecpu_driver_handles(count, drivers);
}

ze_result_t zeDriverGetApiVersion(ze_driver_handle_t handle, ze_api_version_t *version) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_DRIVER);
    if (!result) *version = (ze_api_version_t)(zecpu_stand_in ? ZE_MAKE_VERSION(1, 10) : ZE_MAKE_VERSION(1, 4));
    return result;
}

ze_result_t zeDriverGetProperties(ze_driver_handle_t handle, ze_driver_properties_t *properties) {
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_DRIVER);
    if (!result) result = zecpu_stype(__func__, properties->stype, ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES);
    if (result) return result;
    memcpy(properties->uuid.id, "ze_cpu: no GPU!", sizeof properties->uuid.id);
    properties->driverVersion = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetIpcProperties(ze_driver_handle_t handle, ze_driver_ipc_properties_t *properties) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_DRIVER);
    if (!result) properties->flags = 0;
    return result;
}

ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t handle, uint32_t *count,
                                           ze_driver_extension_properties_t *properties) {
    static const char *const names[] = {ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME, ZE_GLOBAL_OFFSET_EXP_NAME,
                                        ZE_PCI_PROPERTIES_EXT_NAME, "ZE_experimental_event_pool_counter_based"};
    const uint32_t all = zecpu_stand_in ? 4 : 3;
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_DRIVER);
    if (result) return result;
    for (uint32_t i = 0; properties && i < *count && i < all; i++) {
        (void)snprintf(properties[i].name, sizeof properties[i].name, "%s", names[i]);
        properties[i].version = ZE_MAKE_VERSION(1, 0);
    }
    if (!*count || *count > all) *count = all;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetExtensionFunctionAddress(ze_driver_handle_t handle, const char *name, void **address) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_DRIVER);
    (void)name;
    *address = NULL;
    return result ? result : ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}
