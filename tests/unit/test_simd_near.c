/*
 * test_simd_near.c: where helpers of the SIMD pool belong, on machines that hwloc makes up (HWLOC_SYNTHETIC) out of the CPUs
 * that there are; skipped where svmx was built without hwloc, but for the arithmetic.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/simd/near.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/auxv.h>

/* What near.c is told of the process: the linker has its calls come here. */
static bool is_secure;
unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type) {
    return type == AT_SECURE && is_secure ? 1 : __real_getauxval(type);
}

static void node_add(struct simd_near *near, size_t first, size_t count) {
    cpu_set_t *node = &near->nodes[near->count++];
    CPU_ZERO(node);
    for (size_t i = 0; i < count; i++) CPU_SET(first + i, node);
}

/* Which node each of `threads` threads but the first has, as digits. */
static const char *places(const struct simd_near *near, uint32_t threads) {
    static char text[64];
    for (uint32_t i = 1; i < threads; i++) {
        const cpu_set_t *place = simd_near_place(near, i, threads);
        text[i - 1] = place ? (char)('0' + (place - near->nodes)) : '-';
    }
    text[threads - 1] = '\0';
    return text;
}

Test(simd_near, helpers_are_shared_out_by_cpus) {
    static struct simd_near near;
    cr_assert_str_eq(places(&near, 4), "---");
    node_add(&near, 0, 4);
    node_add(&near, 4, 4);
    cr_assert_str_eq(places(&near, 8), "0001111");
    cr_assert_str_eq(places(&near, 4), "011");
    cr_assert_str_eq(places(&near, 2), "1");
    cr_assert_str_eq(places(&near, 16), "000000011111111");
    node_add(&near, 8, 8);
    cr_assert_str_eq(places(&near, 16), "000111122222222");
}

#ifdef SVMX_HAVE_HWLOC

/* What is found on a machine as hwloc describes it, taken for this one. */
static struct simd_near *found(const char *machine) {
    static struct simd_near near;
    setenv("HWLOC_SYNTHETIC", machine, 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    simd_near_find(&near);
    return &near;
}

static bool has_two_cpus(void) {
    cpu_set_t mask;
    return sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_ISSET(0, &mask) && CPU_ISSET(1, &mask);
}

Test(simd_near, one_node_is_nothing_to_choose_from) { cr_assert_eq(found("numa:1 pu:2")->count, 0); }

Test(simd_near, a_machine_that_is_not_this_one_is_not_taken_for_it) {
    static struct simd_near near;
    setenv("HWLOC_SYNTHETIC", "numa:2 pu:1", 1);
    unsetenv("HWLOC_THISSYSTEM");
    simd_near_find(&near);
    cr_assert_eq(near.count, 0);
}

Test(simd_near, nodes_have_their_cpus) {
    if (!has_two_cpus()) cr_skip("there are no CPUs 0 and 1");
    const struct simd_near *near = found("numa:2 pu:1");
    cr_assert_eq(near->count, 2);
    for (size_t i = 0; i < 2; i++) {
        cr_assert_eq(CPU_COUNT(&near->nodes[i]), 1);
        cr_assert(CPU_ISSET(i, &near->nodes[i]));
    }
}

Test(simd_near, a_set_user_id_program_does_not_ask_hwloc) {
    if (!has_two_cpus()) cr_skip("there are no CPUs 0 and 1");
    cr_assert_eq(found("numa:2 pu:1")->count, 2);
    is_secure = true;
    cr_assert_eq(found("numa:2 pu:1")->count, 0, "hwloc was asked, and reads the environment");
}

Test(simd_near, nodes_without_a_cpu_that_may_be_used_are_none) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) cr_skip("there is no CPU 0");
    cr_assert_eq(found("numa:4 pu:2")->count, 0);
}

#endif
