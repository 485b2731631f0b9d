/*
 * near.c: see near.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/near.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first line of a file, "" where there is none. */
static void read_line(const char *path, char *line, int room) {
    FILE *file = fopen(path, "re");
    if (!file || !fgets(line, room, file)) line[0] = '\0';
    if (file) fclose(file);
}

/* Names of devices come from drivers: nothing but an address may become part of a path. */
static bool is_address(const char *pci) { return *pci && strspn(pci, "0123456789abcdefABCDEF:.") == strlen(pci); }

/* "0-3,8-11": false for anything else. */
static bool list_parse(const char *text, cpu_set_t *cpus) {
    CPU_ZERO(cpus);
    while (*text >= '0' && *text <= '9') {
        char *end;
        const unsigned long first = strtoul(text, &end, 10);
        const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        for (unsigned long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++) CPU_SET(cpu, cpus);
        text = *end == ',' ? end + 1 : end;
    }
    return (*text == '\n' || *text == '\0') && CPU_COUNT(cpus) > 0;
}

/* The node of a device; -1: it has none, or there is one only. */
static int node_of(const char *sysfs, const char *pci) {
    char path[256], line[64];
    (void)snprintf(path, sizeof path, "%s/devices/system/node/online", sysfs);
    read_line(path, line, sizeof line);
    if (!strpbrk(line, "-,") || !is_address(pci)) return -1;
    (void)snprintf(path, sizeof path, "%s/bus/pci/devices/%.32s/numa_node", sysfs, pci);
    read_line(path, line, sizeof line);
    return line[0] >= '0' && line[0] <= '9' ? atoi(line) : -1;
}

bool svmx__near_bind(pthread_t thread, const char *sysfs, const char *pci) {
    char path[256], line[1024];
    cpu_set_t node, allowed;
    const int number = node_of(sysfs, pci);
    if (number < 0) return false;
    (void)snprintf(path, sizeof path, "%s/devices/system/node/node%d/cpulist", sysfs, number);
    read_line(path, line, sizeof line);
    if (!list_parse(line, &node) || pthread_getaffinity_np(thread, sizeof allowed, &allowed) != 0) return false;
    CPU_AND(&node, &node, &allowed);
    return CPU_COUNT(&node) > 0 && pthread_setaffinity_np(thread, sizeof node, &node) == 0;
}
