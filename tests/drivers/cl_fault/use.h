/*
 * use.h: for suites that put the OpenCL layer of this folder between the loader and PoCL, and talk to it.
 *
 *   const char *missing = cl_fault_use();   before anything asks OpenCL; NULL: it is there, else why not
 *   cl_fault.harm(LAYER_FLIP, 1);
 *
 * The layer stays for the whole process; nothing is wrong with it until it is told.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CL_FAULT_USE_H
#define CL_FAULT_USE_H

#include "layer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    void (*fail)(const char *name, unsigned n, int error);
    void (*harm)(int harm, unsigned n);
    void (*card)(int is);
    unsigned (*hits)(void), (*harmed)(void);
    int (*alive)(void);
} cl_fault;

static inline const char *cl_fault_use(void) {
    static const char pocl[] = "/etc/OpenCL/vendors/pocl.icd";
    static const char *missing;
    static int tried;
    const char *build = getenv("SVMX_TEST_BUILDDIR"), *objdir = getenv("SVMX_TEST_OBJDIR");
    const char *sanitizer = getenv("SVMX_TEST_SANITIZER");
    char path[4096];
    if (tried++) return missing;
    if (sanitizer && strstr(sanitizer, "thread")) return missing = "the thread sanitizer does not know PoCL's threads";
    if (access(pocl, R_OK) != 0) return missing = "there is no PoCL (package pocl-opencl-icd)";
    (void)snprintf(path, sizeof path, "%s/tests/drivers/cl_fault/%s/layer.so", build ? build : ".",
                   objdir ? objdir : ".libs");
    void *layer = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* the loader of OpenCL will find it loaded */
    if (!layer) return missing = "this build does not have the OpenCL layer for tests";
    *(void **)&cl_fault.fail = dlsym(layer, "svmx_layer_fail");
    *(void **)&cl_fault.harm = dlsym(layer, "svmx_layer_harm");
    *(void **)&cl_fault.card = dlsym(layer, "svmx_layer_card");
    *(void **)&cl_fault.hits = dlsym(layer, "svmx_layer_hits");
    *(void **)&cl_fault.harmed = dlsym(layer, "svmx_layer_harmed");
    *(void **)&cl_fault.alive = dlsym(layer, "svmx_layer_alive");
    if (!cl_fault.fail || !cl_fault.harm || !cl_fault.card || !cl_fault.hits || !cl_fault.harmed || !cl_fault.alive)
        return missing = "the OpenCL layer is not the one of these tests";
    (void)setenv("OCL_ICD_VENDORS", pocl, 1);
    (void)setenv("OPENCL_LAYERS", path, 1);
    return NULL;
}

#endif
