/*
 * drivers.c: see drivers.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "isolate/drivers.h"

#include "cache/key.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

static void add_text(uint64_t *print, const char *text) { *print = svmx__hash64(text, strlen(text) + 1, *print); }

/* true: it is there. */
static bool add_file(uint64_t *print, const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) return false;
    const int64_t what[] = {info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size};
    add_text(print, path);
    *print = svmx__hash64(what, sizeof what, *print);
    return true;
}

/* ---- libraries -------------------------------------------------------------------------------------------------- */

static void add_in(uint64_t *print, const char *folder, size_t length, const char *name) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, name) < (int)sizeof path)
        (void)add_file(print, path);
}

/* Each part of a list, by `each`. */
static void walk(uint64_t *print, const char *list, char separator, void (*each)(uint64_t *print, const char *part)) {
    const char separators[] = {separator, '\0'};
    while (list && *list) {
        char part[PATH_MAX];
        const size_t length = strcspn(list, separators);
        (void)snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part - 1), list);
        if (length) each(print, part);
        list += length + (list[length] != '\0');
    }
}

/* By its path, or by its name wherever the dynamic linker may find it. */
static void add_library(uint64_t *print, const char *name) {
    static const char *const folders[] = {
        "/usr/local/lib",
        "/usr/lib",
        "/usr/lib64",
#if defined(__x86_64__)
        "/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
        "/usr/lib/aarch64-linux-gnu",
#endif
    };
    add_text(print, name);
    if (strchr(name, '/')) {
        (void)add_file(print, name);
        return;
    }
    const char *list = secure_getenv("LD_LIBRARY_PATH");
    while (list && *list) {
        const size_t length = strcspn(list, ":");
        add_in(print, list, length, name);
        list += length + (list[length] != '\0');
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) add_in(print, folders[i], strlen(folders[i]), name);
}

/* ---- OpenCL ----------------------------------------------------------------------------------------------------- */

/* An ICD file is the name of a library. */
static void add_icd(uint64_t *print, const char *path) {
    char name[PATH_MAX];
    if (!add_file(print, path)) return;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t bytes = file >= 0 ? read(file, name, sizeof name - 1) : -1;
    if (file >= 0) (void)close(file);
    if (bytes <= 0) return;
    name[bytes] = '\0';
    name[strcspn(name, " \t\r\n")] = '\0';
    add_library(print, name);
}

static int is_icd(const struct dirent *entry) {
    const size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".icd") == 0;
}

static void add_opencl(uint64_t *print) {
    const char *given = secure_getenv("OCL_ICD_VENDORS"), *vendors = given ? given : "/etc/OpenCL/vendors";
    struct dirent **entries;
    add_library(print, "libOpenCL.so.1");
    const int count = scandir(vendors, &entries, is_icd, alphasort);
    if (count < 0) add_icd(print, vendors); /* one file; of a library nothing but itself is read */
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s/%s", vendors, entries[i]->d_name) < (int)sizeof path) add_icd(print, path);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    walk(print, secure_getenv("OPENCL_LAYERS"), ':', add_library);
    walk(print, secure_getenv("OCL_ICD_FILENAMES"), ':', add_library);
}

/* ---- Level Zero ------------------------------------------------------------------------------------------------- */

static void add_levelzero(uint64_t *print) {
    add_library(print, "libze_loader.so.1");
    add_library(print, "libze_intel_gpu.so.1");
    add_library(print, "libze_intel_vpu.so.1");
    walk(print, secure_getenv("ZE_ENABLE_ALT_DRIVERS"), ',', add_library);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* In whatever order they stand. */
static void add_variables(uint64_t *print) {
    static const char *const begins[] = {"OCL_",  "OPENCL_", "POCL_", "OCLGRIND_", "RUSTICL_", "LIBGL_",
                                         "MESA_", "LD_",     "ZE_",   "NEO",       "CUDA_",    "ROCR_",
                                         "HIP_",  "GPU_",    "HSA_",  "ZET_",      "ZES_",     "ONEAPI_"};
    uint64_t sum = 0;
    for (char **at = environ; at && *at; at++)
        for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
            if (strncmp(*at, begins[i], strlen(begins[i])) == 0) sum += svmx__hash64(*at, strlen(*at), 0);
    *print = svmx__hash64(&sum, sizeof sum, *print);
}

uint64_t svmx__drivers_print(const char *name, const char *path) {
    struct utsname system;
    uint64_t print = 0;
    (void)add_file(&print, path);
    (void)add_file(&print, "/etc/ld.so.cache");
    if (uname(&system) == 0) add_text(&print, system.release);
    add_variables(&print);
    if (strcmp(name, "opencl") == 0) add_opencl(&print);
    if (strcmp(name, "levelzero") == 0) add_levelzero(&print);
    return print;
}
