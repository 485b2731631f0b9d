/*
 * newer.c: see newer.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "newer.h"

#include <dlfcn.h>

/* The loader is among what this module was linked with, so the default order of search finds it. A pointer to an object
 * for one to a function: POSIX has it so. */
struct lz_newer lz_newer_find(void) {
    struct lz_newer newer = {0};
    *(void **)&newer.init_drivers = dlsym(RTLD_DEFAULT, "zeInitDrivers");
    *(void **)&newer.list_synchronize = dlsym(RTLD_DEFAULT, "zeCommandListHostSynchronize");
    return newer;
}
