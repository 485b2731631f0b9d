/*
 * newer.h: what is used of Level Zero after spec 1.4, whose headers Debian 12 ships: the start with zeInitDrivers, in-order
 * lists, waiting for a list, counter-based events.
 *
 * Values are those of the published specification. Functions are looked up in the loader when an instance is opened: a
 * loader that does not have them is used as one of 1.4.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_LEVELZERO_NEWER_H
#define SVMX_LEVELZERO_NEWER_H

#include <level_zero/ze_api.h>

/* Of a driver that has counter-based events, and with them in-order lists. */
#define LZ_COUNTER_BASED_NAME "ZE_experimental_event_pool_counter_based"

enum {
    LZ_STRUCTURE_COUNTER_BASED = 0x00020014,
    LZ_STRUCTURE_INIT_DRIVER_TYPE = 0x00020021,
    LZ_QUEUE_IN_ORDER = 1 << 1,          /* of a description of a queue: for immediate lists */
    LZ_COUNTER_BASED_IMMEDIATE = 1 << 0, /* events are signalled by immediate lists */
    LZ_INIT_DRIVER_GPU = 1 << 0
};

struct lz_counter_based_desc {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
};

struct lz_init_driver_desc {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
};

/* NULL: not in this loader. */
struct lz_newer {
    ze_result_t (*init_drivers)(uint32_t *count, ze_driver_handle_t *drivers, struct lz_init_driver_desc *desc);
    ze_result_t (*list_synchronize)(ze_command_list_handle_t list, uint64_t timeout_ns);
};

struct lz_newer lz_newer_find(void);

#endif
