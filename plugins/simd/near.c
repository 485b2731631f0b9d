/*
 * near.c: see near.h. hwloc tells which CPUs share memory; nothing else is asked of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "near.h"

#include <stddef.h>

#ifdef SVMX_HAVE_HWLOC

#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* "0" alone: hwloc need not look, which takes it some ms. Who gives it a machine of his own wants it to. */
static bool has_one_node(void) {
    char text[16] = "";
    FILE *file = fopen("/sys/devices/system/node/online", "re");
    if (!file) return false;
    const bool read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    return read && strcmp(text, "0\n") == 0 && !getenv("HWLOC_SYNTHETIC") && !getenv("HWLOC_XMLFILE");
}

/* Nodes without a CPU for us are none: memory alone, or CPUs that others have. */
static void read_nodes(struct simd_near *near, hwloc_topology_t topology) {
    cpu_set_t allowed, node;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    for (hwloc_obj_t at = NULL;
         near->count < SIMD_NEAR_NODES && (at = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, at));) {
        if (hwloc_cpuset_to_glibc_sched_affinity(topology, at->cpuset, &node, sizeof node) != 0) continue;
        CPU_AND(&node, &node, &allowed);
        if (CPU_COUNT(&node) > 0) near->nodes[near->count++] = node;
    }
    if (near->count < 2) near->count = 0;
}

void simd_near_find(struct simd_near *near) {
    hwloc_topology_t topology;
    near->count = 0;
    /* hwloc reads its own variables, and may load plugins from where one of them says: not for a set-user-ID program, which
     * goes without places for its threads */
    if (getauxval(AT_SECURE)) return;
    if (has_one_node() || hwloc_topology_init(&topology) != 0) return;
    if (hwloc_topology_load(topology) == 0 && hwloc_topology_is_thissystem(topology)) read_nodes(near, topology);
    hwloc_topology_destroy(topology);
}

#else

void simd_near_find(struct simd_near *near) { near->count = 0; }

#endif

const cpu_set_t *simd_near_place(const struct simd_near *near, uint32_t number, uint32_t threads) {
    uint32_t cpus = 0, before = 0;
    for (uint32_t i = 0; i < near->count; i++) cpus += (uint32_t)CPU_COUNT(&near->nodes[i]);
    for (uint32_t i = 0; i < near->count; i++) {
        before += (uint32_t)CPU_COUNT(&near->nodes[i]);
        if ((uint64_t)number * cpus < (uint64_t)before * threads) return &near->nodes[i];
    }
    return NULL;
}
