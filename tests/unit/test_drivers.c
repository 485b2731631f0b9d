/*
 * test_drivers.c: the number that stands for the drivers behind a backend changes when they do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "isolate/drivers.h"

#include "plugin_fixture.h"

static void set_up(void) {
    folder_make();
    (void)unsetenv("LD_LIBRARY_PATH");
    (void)unsetenv("OPENCL_LAYERS");
    (void)unsetenv("ZE_ENABLE_ALT_DRIVERS");
}

TestSuite(drivers, .init = set_up, .fini = folder_remove);

static void write_text(const char *name, const char *text) { file_write(in_folder(name), text, strlen(text)); }

static void age(const char *name, long seconds) {
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    cr_assert_eq(utimensat(AT_FDCWD, in_folder(name), times, 0), 0);
}

/* The number, if it is another than before. */
static uint64_t changed(const char *backend, uint64_t before, const char *what) {
    const uint64_t print = svmx__drivers_print(backend, in_folder("plugin.so"));
    cr_assert_neq(print, before, "%s changed and it is the same", what);
    cr_assert_eq(svmx__drivers_print(backend, in_folder("plugin.so")), print, "nothing changed and it is another");
    return print;
}

Test(drivers, of_any_backend) {
    uint64_t print = changed("mine", 0, "the start");
    write_text("plugin.so", "1");
    print = changed("mine", print, "its file");
    age("plugin.so", 1000000000);
    print = changed("mine", print, "the time of its file");
    setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    (void)changed("mine", print, "a variable that drivers read");
}

Test(drivers, of_opencl) {
    setenv("OCL_ICD_VENDORS", folder, 1);
    uint64_t print = changed("opencl", 0, "the start");
    write_text("one.icd", in_folder("libone.so"));
    print = changed("opencl", print, "the ICD files");
    write_text("libone.so", "driver");
    print = changed("opencl", print, "a library that an ICD file names");
    age("libone.so", 1000000000);
    print = changed("opencl", print, "the time of that library");
    write_text("two.icd", "libtwo.so\n");
    setenv("LD_LIBRARY_PATH", folder, 1);
    print = changed("opencl", print, "the path of libraries");
    write_text("libtwo.so", "driver");
    print = changed("opencl", print, "a library by its name in that path");
    setenv("OPENCL_LAYERS", in_folder("layer.so"), 1);
    print = changed("opencl", print, "layers");
    write_text("layer.so", "layer");
    print = changed("opencl", print, "a layer");
    setenv("OCL_ICD_VENDORS", in_folder("one.icd"), 1);
    (void)changed("opencl", print, "where ICD files are");
}

Test(drivers, of_level_zero) {
    uint64_t print = changed("levelzero", 0, "the start");
    setenv("ZE_ENABLE_ALT_DRIVERS", in_folder("ze.so"), 1);
    print = changed("levelzero", print, "which drivers");
    write_text("ze.so", "driver");
    (void)changed("levelzero", print, "a driver");
}
