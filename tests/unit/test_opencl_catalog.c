/*
 * test_opencl_catalog.c: plugins/kernels/catalog.c: the table of device code holds together. Needs no driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/kernels/catalog.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define EACH_ENTRY(entry)                                                                                              \
    const struct catalog_entry *entry;                                                                                 \
    for (uint32_t index_ = 0; (entry = catalog_at(index_)); index_++)

static bool is_power_of_two(uint32_t n) { return n && !(n & (n - 1)); }

Test(opencl_catalog, every_operation_is_found_by_its_name_once) {
    cr_assert_not_null(catalog_at(0), "the catalog is empty");
    EACH_ENTRY(entry) cr_expect_eq(catalog_find(entry->op), entry, "%s stands twice", entry->op);
    cr_expect_null(catalog_find("no_such_operation"));
    cr_expect_null(catalog_find(""));
}

Test(opencl_catalog, every_source_is_there) {
    cr_assert_not_null(catalog_source("common.cl"));
    cr_expect_not_null(strstr(catalog_source("common.cl"), "SVMX_KERNEL"));
    cr_expect_null(catalog_source("no_such.cl"));
    EACH_ENTRY(entry)
    for (uint32_t i = 0; i < CATALOG_SOURCES && entry->sources[i]; i++)
        cr_expect_not_null(catalog_source(entry->sources[i]), "%s: no source %s", entry->op, entry->sources[i]);
}

/* As it is written in a source, or made of macros: then its name stands in one of the options. */
static bool has_kernel(const struct catalog_entry *entry, const struct catalog_variant *variant, const char *kernel) {
    char head[96];
    (void)snprintf(head, sizeof head, "SVMX_KERNEL(%s,", kernel);
    for (uint32_t i = 0; i < CATALOG_SOURCES && entry->sources[i]; i++)
        if (strstr(catalog_source(entry->sources[i]), head)) return true;
    return strstr(variant->options, kernel) != NULL;
}

Test(opencl_catalog, every_pass_is_sound) {
    EACH_ENTRY(entry)
    for (uint32_t v = 0; v < CATALOG_VARIANTS && entry->variants[v].name; v++) {
        const struct catalog_variant *variant = &entry->variants[v];
        cr_expect_not_null(variant->passes[0].kernel, "%s %s does nothing", entry->op, variant->name);
        cr_expect(variant->devices && !(variant->devices & ~(uint32_t)CATALOG_ANY), "%s %s", entry->op, variant->name);
        for (uint32_t p = 0; p < CATALOG_PASSES && variant->passes[p].kernel; p++) {
            const struct catalog_pass *pass = &variant->passes[p];
            cr_expect(has_kernel(entry, variant, pass->kernel), "%s %s: no kernel %s", entry->op, variant->name,
                      pass->kernel);
            cr_expect(pass->over == CATALOG_UNITS || pass->over == CATALOG_TASKS, "%s: %s", entry->op, pass->kernel);
            cr_expect(pass->by == CATALOG_ITEM || pass->by == CATALOG_GROUP, "%s: %s", entry->op, pass->kernel);
            cr_expect(is_power_of_two(pass->local) && pass->local <= 1024, "%s: %s", entry->op, pass->kernel);
            cr_expect(is_power_of_two(pass->grain_min) && is_power_of_two(pass->grain_max) &&
                          pass->grain_min <= pass->grain_max,
                      "%s: %s", entry->op, pass->kernel);
        }
    }
}

Test(opencl_catalog, every_operation_has_a_form_for_every_kind_of_device) {
    EACH_ENTRY(entry) {
        cr_expect_not_null(catalog_variant(entry, CATALOG_CPU, 0), "%s on CPUs", entry->op);
        cr_expect_not_null(catalog_variant(entry, CATALOG_GPU, 0), "%s on GPUs", entry->op);
    }
}

Test(opencl_catalog, variants_are_counted_for_the_kind_of_device) {
    const struct catalog_entry entry = {
        .variants = {{"c", CATALOG_CPU, "", {{0}}}, {"g", CATALOG_GPU, "", {{0}}}, {"a", CATALOG_ANY, "", {{0}}}}};
    cr_expect_eq(catalog_variant(&entry, CATALOG_CPU, 0), &entry.variants[0]);
    cr_expect_eq(catalog_variant(&entry, CATALOG_CPU, 1), &entry.variants[2]);
    cr_expect_null(catalog_variant(&entry, CATALOG_CPU, 2));
    cr_expect_eq(catalog_variant(&entry, CATALOG_GPU, 0), &entry.variants[1]);
    cr_expect_eq(catalog_variant(&entry, CATALOG_GPU, 1), &entry.variants[2]);
    cr_expect_null(catalog_variant(&entry, CATALOG_GPU, 2));
}

Test(opencl_catalog, grain_stays_in_its_bounds_and_grows_with_the_bucket) {
    const struct catalog_pass pass = {"k", CATALOG_UNITS, CATALOG_ITEM, 1, 1024, 16384};
    cr_expect_eq(catalog_grain(&pass, 16384, 2), 2048); /* four pieces a unit */
    cr_expect_eq(catalog_grain(&pass, 1, 2), 1024);
    cr_expect_eq(catalog_grain(&pass, UINT64_C(1) << 40, 2), 16384);
    cr_expect_eq(catalog_grain(&pass, 16384, 0), catalog_grain(&pass, 16384, 1));
    for (uint64_t bucket = 1; bucket < UINT64_C(1) << 40; bucket *= 2)
        cr_expect_leq(catalog_grain(&pass, bucket, 8), catalog_grain(&pass, 2 * bucket, 8));
}

/* Work-items for a count: enough for all of it, in whole work-groups, none too many. */
static void check_items(const struct catalog_pass *pass, uint64_t units, uint32_t tasks) {
    const uint64_t count = pass->over == CATALOG_TASKS ? tasks : units, grain = 64;
    const uint64_t items = catalog_items(pass, (uint32_t)grain, units, tasks);
    const uint64_t takers = pass->by == CATALOG_GROUP ? items / pass->local : items;
    cr_expect_eq(items % pass->local, 0);
    cr_expect_geq(takers * grain, count);
    cr_expect(takers == 0 || (takers - (pass->by == CATALOG_GROUP ? 1 : pass->local)) * grain < count);
}

Test(opencl_catalog, launches_cover_all_units_or_tasks_and_no_more) {
    static const uint64_t counts[] = {0, 1, 63, 64, 65, 4095, 4096, 4097, 1000003};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint32_t over = CATALOG_UNITS; over <= CATALOG_TASKS; over++)
            for (uint32_t by = CATALOG_ITEM; by <= CATALOG_GROUP; by++)
                for (uint32_t local = 1; local <= 256; local *= 16) {
                    const struct catalog_pass pass = {"k", over, by, local, 64, 64};
                    check_items(&pass, counts[i], (uint32_t)counts[sizeof counts / sizeof *counts - 1 - i]);
                }
}
