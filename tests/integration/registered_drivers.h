/*
 * registered_drivers.h: real drivers for suites of registered operations: PoCL, Rusticl and oclgrind, which compile OpenCL C, the
 * test driver of Level Zero, which takes SPIR-V, and whatever else this machine has. A suite has its tests called with an executor
 * of each: on_each. Included once, before it `ze_cpu_names`: "registered-" and what a test says to on_each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_REGISTERED_DRIVERS_H
#define TESTS_REGISTERED_DRIVERS_H

#include "../drivers/ze_cpu/content.h"
#include "abandons.h"
#include "registered_fixture.h"
#include "spirv_of.h"

#include <criterion/parameterized.h>

enum { MAX_TARGETS = 16 };

/* ---- real drivers --------------------------------------------------------------------------------------------- */

/* A backend on a driver of its own; "others": whatever else this machine has. */
struct driver {
    const char *name, *backends, *file, *package;
};

static const struct driver drivers[] = {
    {"pocl", "+opencl:0,stop", "/etc/OpenCL/vendors/pocl.icd", "pocl-opencl-icd"},
    {"rusticl", "+opencl:0,stop", "/etc/OpenCL/vendors/rusticl.icd", "mesa-opencl-icd"},
    {"oclgrind", "+opencl:0,stop", "/usr/lib/oclgrind/liboclgrind-rt-icd.so", "oclgrind"},
    {"ze_cpu", "+levelzero:0,stop", NULL, NULL},
    {"others", NULL, NULL, NULL}};
enum { DRIVERS = sizeof drivers / sizeof *drivers };

struct choice {
    unsigned driver;
};

static inline struct criterion_test_params each_driver(void) {
    static struct choice choices[DRIVERS];
    for (unsigned i = 0; i < DRIVERS; i++) choices[i].driver = i;
    return cr_make_param_array(struct choice, choices, DRIVERS);
}

static inline bool is_levelzero(const struct driver *driver) { return strcmp(driver->name, "ze_cpu") == 0; }

static inline void use_levelzero(const char *test) {
    char name[64];
    const char *missing = ze_cpu_missing();
    if (missing) cr_skip_test("%s", missing);
    if (spirv_missing()) cr_skip_test("%s", spirv_missing());
    (void)snprintf(name, sizeof name, "registered-%s", test);
    ze_cpu_use(name);
    cr_assert_eq(setenv("ZE_CPU_STRICT", "1", 1), 0);
}

static inline void use_opencl(const struct driver *driver) {
    const char *sanitizer = getenv("SVMX_TEST_SANITIZER"), *folder = getenv("SVMX_TEST_BACKEND_PATH");
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/opencl.so", folder ? folder : "");
    if (sanitizer && strstr(sanitizer, "thread")) cr_skip_test("the thread sanitizer does not know drivers' threads");
    if (access(path, F_OK) != 0) cr_skip_test("this build has no opencl.so");
    if (access(driver->file, R_OK) != 0) cr_skip_test("there is no %s (package %s)", driver->file, driver->package);
    cr_assert_eq(setenv("OCL_ICD_VENDORS", driver->file, 1), 0);
    cr_assert_eq(setenv("RUSTICL_ENABLE", "llvmpipe", 1), 0);
}

/* Looks for drivers as a program would that is not a test. */
static inline void use_machine(void) {
    const char *users = getenv("SVMX_TEST_OPENCL_VENDORS");
    if (users && *users)
        (void)setenv("OCL_ICD_VENDORS", users, 1);
    else
        (void)unsetenv("OCL_ICD_VENDORS");
}

/* ---- devices ---------------------------------------------------------------------------------------------------- */

struct target {
    char backends[64], name[64];
};

static inline bool is_known(const struct svmx_device *device) {
    static const char *const platforms[] = {"Portable Computing Language", "rusticl", "Oclgrind"};
    static const char *const backends[] = {"simd", "reference", "sim"};
    bool known = (device->flags & SVMX_DEVICE_TEST) != 0;
    for (size_t i = 0; i < 3; i++)
        known |= strncmp(device->driver, platforms[i], strlen(platforms[i])) == 0 ||
                 strcmp(device->backend, backends[i]) == 0;
    return known;
}

/* Devices that no other driver of the list has. */
static inline unsigned find_others(struct target *targets) {
    svmx_executor_t *executor = open_logged((struct svmx_options){.backends = ""});
    unsigned count = 0, index = 0;
    char last[32] = "";
    for (uint32_t i = 0; i < svmx_device_count(executor) && count < MAX_TARGETS; i++) {
        struct svmx_device device = {.size = sizeof device};
        cr_assert_eq(svmx_device_get(executor, i, &device), SVMX_OK);
        index = strcmp(last, device.backend) == 0 ? index + 1 : 0;
        (void)snprintf(last, sizeof last, "%s", device.backend);
        if (is_known(&device)) continue;
        (void)snprintf(targets[count].backends, sizeof targets->backends, "+%.32s:%u,stop", device.backend, index);
        (void)snprintf(targets[count++].name, sizeof targets->name, "%s", device.name);
    }
    svmx_close(executor);
    return count;
}

static inline unsigned find_targets(const struct driver *driver, const char *test, struct target *targets) {
    if (is_levelzero(driver)) {
        use_levelzero(test);
    } else if (driver->file) {
        use_opencl(driver);
    } else {
        use_machine();
        return find_others(targets);
    }
    (void)snprintf(targets[0].backends, sizeof targets->backends, "%s", driver->backends);
    (void)snprintf(targets[0].name, sizeof targets->name, "%s", driver->name);
    return 1;
}

typedef void (*test_fn)(svmx_executor_t *executor, const struct target *target, bool spirv);

/* Calls it with an executor of each device and the reference code. */
static inline void on_each(const struct choice *choice, const char *name, test_fn test) {
    struct target targets[MAX_TARGETS];
    const struct driver *driver = &drivers[choice->driver];
    const unsigned count = find_targets(driver, name, targets);
    abandons = true; /* drivers leave memory behind, and are gone when the leak sanitizer asks whose it is */
    if (!count) cr_skip_test("this machine has no device but the CPU itself");
    for (unsigned i = 0; i < count; i++) {
        lines.text[0] = '\0';
        svmx_executor_t *executor = open_logged(
            (struct svmx_options){.backends = targets[i].backends, .timeout_ms = 600000, .patience_ms = 3600000});
        test(executor, &targets[i], is_levelzero(driver));
        svmx_close(executor);
    }
}

/* ---- device code ------------------------------------------------------------------------------------------------- */

/* Right code for a kernel, as the text that it is or, where the driver has no compiler, compiled here. */
#define RIGHT(name) MIX_CODE(name, "a[i] * k + rotate(b[i], 5u)")

static inline struct svmx_op_def def_of(const char *name, const char *code, bool spirv) {
    struct svmx_op_def def = mix_def(name, spirv ? NULL : code);
    if (spirv) def.spirv = spirv_of(code, &def.spirv_bytes);
    return def;
}

/* What the executor took was copied: it is freed before it is used. */
static inline uint32_t register_code(svmx_executor_t *executor, struct svmx_op_def def) {
    const uint32_t op = register_mix(executor, &def);
    free((void *)(uintptr_t)def.spirv);
    return op;
}

#endif
