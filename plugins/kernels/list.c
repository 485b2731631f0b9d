/*
 * list.c: prints the catalog, a line a variant, for scripts: scripts/check-gpu-compile.sh builds and reads it, so that
 * there is no second list of device code.
 *
 *   operation, variant, devices (cpu, gpu, any), options, sources, kernels (name:local)     with tabs between, and
 *                                                                                           blanks inside a field
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "catalog.h"

#include <stdio.h>

static const char *devices_name(uint32_t devices) {
    return devices == CATALOG_CPU ? "cpu" : devices == CATALOG_GPU ? "gpu" : "any";
}

static void print_variant(const struct catalog_entry *entry, const struct catalog_variant *variant) {
    printf("%s\t%s\t%s\t%s%s\tcommon.cl", entry->op, variant->name, devices_name(variant->devices), variant->options,
           entry->f64 ? " -DSVMX_F64" : "");
    for (int i = 0; i < CATALOG_SOURCES && entry->sources[i]; i++) printf(" %s", entry->sources[i]);
    const char *between = "\t";
    for (int i = 0; i < CATALOG_PASSES && variant->passes[i].kernel; i++, between = " ")
        printf("%s%s:%u", between, variant->passes[i].kernel, (unsigned)variant->passes[i].local);
    putchar('\n');
}

int main(void) {
    const struct catalog_entry *entry;
    for (uint32_t i = 0; (entry = catalog_at(i)); i++)
        for (int v = 0; v < CATALOG_VARIANTS && entry->variants[v].name; v++) print_variant(entry, &entry->variants[v]);
    return ferror(stdout) != 0;
}
