/*
 * loader.c: the driver as a stand-in for Level Zero's loader, libze_loader.so.1: programs that find it first
 * (LD_LIBRARY_PATH) call the driver directly, with no loader and no validation between. Debian's loader, 1.8, does not pass
 * newer entry points on, and this is the way to test a client's use of them. Linked into the stand-in only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <level_zero/loader/ze_loader.h>
#include <stdio.h>

__attribute__((constructor)) static void take_the_place(void) { zecpu_stand_in = true; }

ZE_APIEXPORT ze_result_t zeInitDrivers(uint32_t *count, ze_driver_handle_t *drivers,
                                       struct newer_init_driver_type_desc *desc);
ze_result_t zeInitDrivers(uint32_t *count, ze_driver_handle_t *drivers, struct newer_init_driver_type_desc *desc) {
    ze_result_t result = zecpu_driver_init();
    if (!result) result = zecpu_call(__func__, NULL, ZECPU_ANY);
    if (!result)
        result = zecpu_stype(__func__, desc->stype, (ze_structure_type_t)NEWER_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC);
    if (result) return result;
    if (!(desc->flags & NEWER_INIT_DRIVER_TYPE_FLAG_GPU)) {
        *count = 0;
        return ZE_RESULT_SUCCESS;
    }
    return zecpu_driver_handles(count, drivers);
}

/* So that a client that logs the version of its loader says which one it was. */
ze_result_t zelLoaderGetVersions(size_t *count, zel_component_version_t *versions) {
    if (versions && *count) {
        versions[0] = (zel_component_version_t){.component_lib_version = {1, 17, 0}};
        (void)snprintf(versions[0].component_name, sizeof versions[0].component_name, "ze_cpu stand-in");
    }
    *count = 1;
    return ZE_RESULT_SUCCESS;
}
