/*
 * drivers.h: a number that changes when the drivers behind a backend do.
 *
 * Of OpenCL: the folder of ICD files, these files, the libraries that they name, and what OPENCL_LAYERS adds. Of Level
 * Zero: the loader and its drivers. Of any backend: its own file, the list of the system's libraries (ld.so.cache,
 * which is written anew whenever one is installed), the kernel, and the variables that drivers and loaders read. Files
 * count by path, size and time. A few stats, and nothing of a driver is loaded. Called by probe.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_ISOLATE_DRIVERS_H
#define SVMX_ISOLATE_DRIVERS_H

#include <stdint.h>

/* `name` and `path` of the plugin. Never fails: what is not there counts as such. */
uint64_t svmx__drivers_print(const char *name, const char *path);

#endif
