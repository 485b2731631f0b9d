/*
 * test_near.c: a thread goes to the node of a device, on a made-up /sys; and stays where it was wherever that says nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/near.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char pci[] = "0000:65:00.0";
static char sysfs[64];
static cpu_set_t before;

static void set_up(void) {
    (void)snprintf(sysfs, sizeof sysfs, "/tmp/svmx-near-XXXXXX");
    cr_assert_not_null(mkdtemp(sysfs));
    cr_assert_eq(pthread_getaffinity_np(pthread_self(), sizeof before, &before), 0);
}

static void tear_down(void) {
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", sysfs);
    cr_assert_eq(system(command), 0);
}

TestSuite(near, .init = set_up, .fini = tear_down);

/* A file of the kernel's. */
static void put(const char *name, const char *text) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", sysfs, name);
    for (char *slash = path + strlen(sysfs) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

static size_t last_cpu(void) {
    size_t cpu = CPU_SETSIZE - 1;
    while (!CPU_ISSET(cpu, &before)) cpu--;
    return cpu;
}

static void two_nodes(const char *node_of_device, const char *cpus) {
    put("devices/system/node/online", "0-1\n");
    put("devices/system/node/node1/cpulist", cpus);
    put("bus/pci/devices/0000:65:00.0/numa_node", node_of_device);
}

static bool has_moved(void) {
    cpu_set_t now;
    cr_assert_eq(pthread_getaffinity_np(pthread_self(), sizeof now, &now), 0);
    return !CPU_EQUAL(&now, &before);
}

static void expect_stays(const char *device) {
    cr_assert_not(svmx__near_bind(pthread_self(), sysfs, device));
    cr_assert_not(has_moved());
}

Test(near, goes_to_the_node_of_the_device) {
    char cpus[64];
    cpu_set_t now;
    (void)snprintf(cpus, sizeof cpus, "%zu,900-1100\n", last_cpu()); /* those that there are not do no harm */
    two_nodes("1\n", cpus);
    cr_assert(svmx__near_bind(pthread_self(), sysfs, pci));
    cr_assert_eq(pthread_getaffinity_np(pthread_self(), sizeof now, &now), 0);
    cr_assert_eq(CPU_COUNT(&now), 1);
    cr_assert(CPU_ISSET(last_cpu(), &now));
}

Test(near, a_range_of_cpus) {
    two_nodes("1\n", "0-1023\n");
    cr_assert(svmx__near_bind(pthread_self(), sysfs, pci));
    cr_assert_not(has_moved(), "all that it may use are on the node");
}

Test(near, stays_where_nothing_is_known) {
    expect_stays(pci); /* no files at all */
    two_nodes("-1\n", "0\n");
    expect_stays(pci);
    two_nodes("1\n", "1019-1022\n"); /* none of ours, on any machine with fewer */
    expect_stays(pci);
    two_nodes("1\n", "all\n");
    expect_stays(pci);
    two_nodes("1\n", "");
    expect_stays(pci);
    two_nodes("7\n", "0\n");
    expect_stays(pci);
}

Test(near, one_node_is_nothing_to_choose_from) {
    two_nodes("1\n", "0\n");
    put("devices/system/node/online", "0\n");
    expect_stays(pci);
}

Test(near, what_is_no_address_is_no_path) {
    two_nodes("1\n", "0\n");
    expect_stays("");
    expect_stays("0000:65:00.0/../0000:65:00.0");
    expect_stays("GPU 0");
}
