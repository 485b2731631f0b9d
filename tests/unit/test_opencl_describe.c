/*
 * test_opencl_describe.c: plugins/opencl/describe.c and device.c: names, and what drivers say of their devices. A layer
 * (tests/drivers/cl_fault) puts words into the mouth of a real driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opencl_fixture.h"

/* ---- names, without a driver ---- */

Test(opencl_describe, words_are_whole) {
    cr_expect(ocl_has_word("cl_khr_fp64 cl_khr_icd", "cl_khr_fp64"));
    cr_expect(ocl_has_word("cl_khr_fp64 cl_khr_icd", "cl_khr_icd"));
    cr_expect(ocl_has_word("cl_khr_icd", "cl_khr_icd"));
    cr_expect_not(ocl_has_word("cl_khr_fp64x xcl_khr_fp64", "cl_khr_fp64"));
    cr_expect(ocl_has_word("cl_khr_fp64x cl_khr_fp64", "cl_khr_fp64"));
    cr_expect_not(ocl_has_word("", "cl_khr_icd"));
}

static void check_tidy(const char *raw, const char *expected, size_t room) {
    char name[64];
    memset(name, 'x', sizeof name);
    kernels_name_tidy(name, room, raw);
    cr_expect_str_eq(name, expected);
}

Test(opencl_describe, names_are_tidied) {
    check_tidy("AMD EPYC", "AMD EPYC", 64);
    check_tidy("  Intel(R)   Xeon(R)\tCPU \n", "Intel(R) Xeon(R) CPU", 64);
    check_tidy("", "", 64);
    check_tidy("   ", "", 64);
    check_tidy("a\x01\x7f\xc3\xa4z", "a z", 64);
    check_tidy("abcdef", "abc", 4);
    check_tidy("abc def", "abc", 5); /* not with a blank at its end */
    check_tidy("abc def", "abc d", 6);
}

static void check_number(const char *name, unsigned n, const char *expected) {
    char text[12];
    (void)snprintf(text, sizeof text, "%s", name);
    kernels_name_number(text, sizeof text, n);
    cr_expect_str_eq(text, expected);
}

Test(opencl_describe, names_get_numbers_that_fit) {
    check_number("GPU", 2, "GPU #2");
    check_number("GPU", 10, "GPU #10");
    check_number("12345678901", 2, "12345678 #2");
    check_number("", 3, " #3");
}

/* ---- a real driver ---- */

Test(opencl_describe, pocl_is_a_cpu_that_shares_cores_and_memory) {
    use_pocl();
    open_backend();
    const struct svmx_device_info info = info_of(0);
    cr_expect_eq(info.kind, SVMX_DEVICE_CPU);
    cr_expect_eq(info.flags, SVMX_DEVICE_SHARES_CORES | SVMX_DEVICE_SHARES_MEMORY | SVMX_DEVICE_LINKS);
    cr_expect_gt(info.threads, 0);
    cr_expect_leq(info.threads, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
    cr_expect_eq(info.alignment, 64);
    cr_expect_gt(info.memory_bytes, 0);
    cr_expect_gt(info.max_alloc_bytes, 0);
    cr_expect_leq(info.max_alloc_bytes, info.memory_bytes);
    cr_expect_gt(info.max_in_flight, 0);
    cr_expect_str_not_empty(info.name);
    cr_expect_not_null(strstr(info.driver, "Portable Computing Language "));
    cr_expect_str_empty(info.pci);
    cr_expect_gt(info.max_group, 0);
    cr_expect_gt(info.local_bytes, 0);
    cr_expect_gt(info.timer_ns, 0);
    cr_expect(info.fp32 & SVMX_FP_INF_NAN);
    cr_expect(info.fp64 & SVMX_FP_FMA);
    struct svmx_device_info more = {.size = sizeof more};
    cr_expect_eq(backend.ops->device_info(backend.self, 1, &more), SVMX_ERR_UNKNOWN);
    close_backend();
}

Test(opencl_describe, two_devices_of_one_name_are_told_apart) {
    use_pocl();
    setenv("POCL_DEVICES", "pthread pthread pthread", 1);
    open_backend();
    char name[64], expected[70];
    (void)snprintf(name, sizeof name, "%s", info_of(0).name);
    (void)snprintf(expected, sizeof expected, "%s #2", name);
    cr_expect_str_eq(info_of(1).name, expected);
    (void)snprintf(expected, sizeof expected, "%s #3", name);
    cr_expect_str_eq(info_of(2).name, expected);
    close_backend();
}

Test(opencl_describe, a_short_description_is_filled_as_far_as_it_goes) {
    use_pocl();
    open_backend();
    struct svmx_device_info info;
    memset(&info, 0x77, sizeof info);
    info.size = offsetof(struct svmx_device_info, kind);
    cr_expect_eq(backend.ops->device_info(backend.self, 0, &info), SVMX_OK);
    cr_expect_str_eq(info.name, info_of(0).name);
    cr_expect_eq(info.kind, 0x77777777);
    cr_expect_eq(info.size, offsetof(struct svmx_device_info, kind));
    close_backend();
}

/* ---- a driver that says other things ---- */

static void check_ids(const char *extension) {
    use_layer();
    setenv("SVMX_LAYER_IDS", extension, 1);
    open_backend();
    const struct svmx_device_info info = info_of(0);
    cr_expect_str_eq(info.pci, "0000:41:02.1");
    for (int i = 0; i < 16; i++) cr_expect_eq(info.uuid[i], i + 1);
    if (strcmp(extension, "amd") == 0) cr_expect_str_eq(info.name, "Made-up Board");
    close_backend();
}

Test(opencl_describe, place_on_the_bus_by_the_standard) { check_ids("khr"); }
Test(opencl_describe, place_on_the_bus_by_nvidia) { check_ids("nv"); }
Test(opencl_describe, place_on_the_bus_and_name_by_amd) { check_ids("amd"); }

Test(opencl_describe, memory_of_intels_extension_is_shared_as_well) {
    bool right;
    use_layer();
    setenv("SVMX_LAYER_USM", "1", 1);
    open_backend();
    cr_expect(info_of(0).flags & SVMX_DEVICE_SHARES_MEMORY);
    cr_expect_eq(add_run(0, &right), SVMX_OK, "%s", last_error);
    cr_expect(right);
    cr_expect_not_null(getenv("SVMX_LAYER_USM_USED"));
    close_backend();
}

Test(opencl_describe, without_shared_memory_copies_are_enqueued) {
    bool right;
    use_layer();
    setenv("SVMX_LAYER_ZERO", "0x1053", 1); /* CL_DEVICE_SVM_CAPABILITIES */
    open_backend();
    cr_expect_not(info_of(0).flags & SVMX_DEVICE_SHARES_MEMORY);
    cr_expect_eq(add_run(0, &right), SVMX_OK, "%s", last_error);
    cr_expect(right);
    close_backend();
}

Test(opencl_describe, without_doubles_it_says_so_and_refuses) {
    struct svmx_pipeline *pipeline;
    use_layer();
    setenv("SVMX_LAYER_ZERO", "0x1032", 1); /* CL_DEVICE_DOUBLE_FP_CONFIG */
    open_backend();
    cr_expect(info_of(0).flags & SVMX_DEVICE_NO_F64);
    cr_expect_eq(info_of(0).fp64, 0);
    for (uint32_t i = 0; catalog_at(i); i++)
        if (catalog_at(i)->f64) cr_expect_eq(build(catalog_at(i)->op, 16384, 0, &pipeline), SVMX_ERR_UNSUPPORTED);
    close_backend();
}

/* What makes no sense is skipped, with its reason in the log; there is no other device, so nothing opens. */
static void check_nonsense(const char *param, const char *reason) {
    use_layer();
    setenv("SVMX_LAYER_ZERO", param, 1);
    cr_expect_eq(svmx_plugin.open(&host, &backend), SVMX_ERR_UNSUPPORTED);
    cr_expect_not_null(strstr(all_lines, reason), "%s", all_lines);
    cr_expect_eq(atomic_load(&live_allocations), 0);
}

Test(opencl_describe, no_compute_units) { check_nonsense("0x1002", "no compute unit"); }
Test(opencl_describe, no_work_group) { check_nonsense("0x1004", "work-groups have no size"); }
Test(opencl_describe, no_memory) { check_nonsense("0x101F", "no memory"); }
Test(opencl_describe, no_allocation) { check_nonsense("0x1010", "no memory"); }
Test(opencl_describe, no_name) { check_nonsense("0x102B", "no name"); }
Test(opencl_describe, no_version) { check_nonsense("0x102F", "older than OpenCL 1.2"); }
Test(opencl_describe, no_compiler) { check_nonsense("0x1028", "no compiler"); }
Test(opencl_describe, not_available) { check_nonsense("0x1027", "not available"); }
Test(opencl_describe, not_little_endian) { check_nonsense("0x1026", "not little-endian"); }

/* ---- no driver at all ---- */

Test(opencl_describe, no_platform) {
    setenv("OCL_ICD_VENDORS", "/no/such/folder", 1);
    cr_expect_eq(svmx_plugin.open(&host, &backend), SVMX_ERR_UNSUPPORTED);
    cr_expect_not_null(strstr(last_error, "no OpenCL platform: install a driver"), "%s", last_error);
    cr_expect_eq(atomic_load(&live_allocations), 0);
}

static void check_no_device(const char *call, int error, const char *reason) {
    use_layer();
    layer_fail(call, 0, error);
    cr_expect_eq(svmx_plugin.open(&host, &backend), SVMX_ERR_UNSUPPORTED);
    cr_expect_not_null(strstr(all_lines, reason), "%s", all_lines);
    cr_expect_eq(atomic_load(&live_allocations), 0);
}

Test(opencl_describe, platforms_that_cannot_be_listed) {
    check_no_device("clGetPlatformIDs", -6, "no OpenCL platform: install a driver");
}
Test(opencl_describe, a_platform_without_devices) { check_no_device("clGetDeviceIDs", -1, "has a usable device"); }
Test(opencl_describe, a_platform_that_fails) { check_no_device("clGetDeviceIDs", -6, "cannot list its devices"); }

Test(opencl_describe, a_host_of_another_abi_is_refused) {
    struct svmx_host other = host;
    other.abi_major = SVMX_ABI_MAJOR + 1;
    cr_expect_eq(svmx_plugin.open(&other, &backend), SVMX_ERR_ABI);
}
