/*
 * status.c: names of statuses, and the version.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <svmx/svmx.h>

const char *svmx_status_name(enum svmx_status status) {
    switch (status) {
    case SVMX_OK: return "SVMX_OK";
    case SVMX_BUSY: return "SVMX_BUSY";
    case SVMX_TIMEOUT: return "SVMX_TIMEOUT";
    case SVMX_CANCELLED: return "SVMX_CANCELLED";
    case SVMX_ERR_ARGUMENT: return "SVMX_ERR_ARGUMENT";
    case SVMX_ERR_OVERFLOW: return "SVMX_ERR_OVERFLOW";
    case SVMX_ERR_STATE: return "SVMX_ERR_STATE";
    case SVMX_ERR_MEMORY: return "SVMX_ERR_MEMORY";
    case SVMX_ERR_UNKNOWN: return "SVMX_ERR_UNKNOWN";
    case SVMX_ERR_UNSUPPORTED: return "SVMX_ERR_UNSUPPORTED";
    case SVMX_ERR_BACKEND: return "SVMX_ERR_BACKEND";
    case SVMX_ERR_DEVICE_LOST: return "SVMX_ERR_DEVICE_LOST";
    case SVMX_ERR_WRONG_RESULT: return "SVMX_ERR_WRONG_RESULT";
    case SVMX_ERR_PERMISSION: return "SVMX_ERR_PERMISSION";
    case SVMX_ERR_ABI: return "SVMX_ERR_ABI";
    case SVMX_ERR_CLOSED: return "SVMX_ERR_CLOSED";
    case SVMX_ERR_SYSTEM: return "SVMX_ERR_SYSTEM";
    }
    return "unknown status";
}

const char *svmx_version(void) { return PACKAGE_VERSION; }
