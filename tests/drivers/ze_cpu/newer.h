/*
 * newer.h: what clients use of Level Zero after spec 1.4, whose headers Debian 12 ships: in-order lists, waiting for a list,
 * counter-based events, and the start with zeInitDrivers. Values are those of the published specification. The test driver
 * and its tests include this; nothing here hides a declaration of newer headers, where the names are the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_DRIVERS_ZE_CPU_NEWER_H
#define TESTS_DRIVERS_ZE_CPU_NEWER_H

#include <level_zero/ze_api.h>

/* Commands of a list run one after another, as if there were a barrier between any two. */
#define NEWER_COMMAND_LIST_FLAG_IN_ORDER ZE_BIT(3)
#define NEWER_COMMAND_QUEUE_FLAG_IN_ORDER                                                                              \
    ZE_BIT(1) /* of an immediate list, which is made of a description of a queue */

/* Events that count: to be signalled by in-order lists only, never reset; a wait is for the signal appended last. */
#define NEWER_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC 0x00020014
#define NEWER_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE      ZE_BIT(0)
#define NEWER_EVENT_POOL_COUNTER_BASED_EXP_FLAG_NON_IMMEDIATE  ZE_BIT(1)

struct newer_event_pool_counter_based_exp_desc {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t flags; /* 0: IMMEDIATE */
};

#define NEWER_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC 0x00020021
#define NEWER_INIT_DRIVER_TYPE_FLAG_GPU            ZE_BIT(0)

struct newer_init_driver_type_desc {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
};

/* To be found by dlsym in a loader that has them; the stand-in loader does. */
typedef ze_result_t (*newer_command_list_host_synchronize_fn)(ze_command_list_handle_t list, uint64_t timeout_ns);
typedef ze_result_t (*newer_init_drivers_fn)(uint32_t *count, ze_driver_handle_t *drivers,
                                             struct newer_init_driver_type_desc *desc);

#endif
