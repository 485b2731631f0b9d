/*
 * catalog.h: which device code serves which operation.
 *
 * Shared by the backends that run device code: OpenCL takes the sources as text, Level Zero takes them compiled to
 * SPIR-V at build time. catalog.c has the table: a new operation is a line there and a .cl file beside it. Knows no
 * driver and nothing of the core but svmx/plugin.h.
 *
 *   operation -> variants, best guess first -> passes, one after another -> a kernel and its geometry
 *
 * Every kernel has the same arguments (common.cl), so that whoever launches one needs to know nothing about it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_KERNELS_CATALOG_H
#define SVMX_KERNELS_CATALOG_H

#include <stdbool.h>
#include <svmx/plugin.h>

enum { CATALOG_SOURCES = 6, CATALOG_PASSES = 3, CATALOG_VARIANTS = 4 };

/* What a pass counts, and what a work-item or a work-group takes of it. */
enum catalog_over {
    CATALOG_UNITS = 1, /* [g * grain, (g + 1) * grain) of the units of the dispatch */
    CATALOG_TASKS = 2  /* the same of its tasks */
};
enum catalog_by {
    CATALOG_ITEM = 1, /* g is a work-item */
    CATALOG_GROUP = 2 /* g is a work-group of `local` work-items, which share what g takes */
};

/*
 * One launch. Grain is a power of two between two bounds: small enough to give every compute unit some work, large
 * enough that a work-item is worth its start (catalog_grain).
 */
struct catalog_pass {
    const char *kernel; /* NULL: no such pass */
    uint32_t over, by;  /* enum catalog_over, enum catalog_by */
    uint32_t local;     /* size of a work-group: the kernel is compiled for it and for no other */
    uint32_t grain_min, grain_max;
};

enum catalog_devices { CATALOG_CPU = 1, CATALOG_GPU = 2, CATALOG_ANY = 3 };

struct catalog_variant {
    const char *name;    /* NULL: no such variant; "cpu", "gpu", "lanes8" ... */
    uint32_t devices;    /* enum catalog_devices: never offered to others */
    const char *options; /* for the compiler: -DNAME=VALUE ..., or "" */
    struct catalog_pass passes[CATALOG_PASSES];
};

struct catalog_entry {
    const char *op;
    const char *sources[CATALOG_SOURCES]; /* files behind common.cl, in order; NULL ends them */
    bool f64;                             /* needs double precision: compiled with -DSVMX_F64 */
    bool calls;                           /* made of many calls: not for compilers that inline every one, for minutes */
    struct catalog_variant variants[CATALOG_VARIANTS];
};

/* The entry of an operation; NULL: it has no device form. */
const struct catalog_entry *catalog_find(const char *op);
/* By position, for tools; NULL past the end. */
const struct catalog_entry *catalog_at(uint32_t index);

/* The n-th variant for a kind of device (enum catalog_devices, one bit); NULL past the last. */
const struct catalog_variant *catalog_variant(const struct catalog_entry *entry, uint32_t devices, uint32_t n);

/* The n-th of those that also have work-groups of no more than `max_group` and, where `only` names one of the kind's, that
 * name; NULL past the last. */
const struct catalog_variant *catalog_pick(const struct catalog_entry *entry, uint32_t devices, size_t max_group,
                                           const char *only, uint32_t n);

/* The text of a source file ("common.cl", "map.cl"), compiled into the plugin; NULL if there is none of that name. */
const char *catalog_source(const char *file);

/* SPIR-V. */
struct catalog_module {
    const uint32_t *words;
    size_t bytes;
};

/* A variant compiled at build time, in plugins that link it (spirv.c); NULL: it is for CPUs only, or there is none. */
const struct catalog_module *catalog_module(const char *op, const char *variant);

/* The grain of a pass for launches of up to `bucket` units on a device with so many compute units. */
uint32_t catalog_grain(const struct catalog_pass *pass, uint64_t bucket, uint32_t compute_units);

/* Work-items of a launch: a multiple of pass->local, 0 if there is nothing to do. */
uint64_t catalog_items(const struct catalog_pass *pass, uint32_t grain, uint64_t units, uint32_t tasks);

#endif
