/*
 * fill_profile.c: `fill_profile FILE` writes a profile as executors with a CPU, a GPU, a modelled device and a CPU behind a driver would, with
 * made-up figures: of sha256 the GPU takes less from 2^14 units on, of vec_add_f32 nothing crosses. For profile.sh.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/profile_file.h"

#include <stdio.h>

enum { CPU, GPU, MODEL, DRIVER };

static struct svmx__profile_device device_of(const char *backend, const char *name, const char *driver,
                                             const char *variant, uint32_t threads, uint32_t kind) {
    struct svmx__profile_device device = {.abi_major = 1,
                                          .abi_minor = 1,
                                          .threads = threads,
                                          .kind = kind,
                                          .test = kind == SVMX_DEVICE_MODEL,
                                          .used_s = 1700000000};
    (void)snprintf(device.backend, sizeof device.backend, "%s", backend);
    (void)snprintf(device.version, sizeof device.version, "0.1.0");
    (void)snprintf(device.name, sizeof device.name, "%s", name);
    (void)snprintf(device.driver, sizeof device.driver, "%s", driver);
    (void)snprintf(device.variant, sizeof device.variant, "%s", variant);
    return device;
}

/* `fixed_ns` for a launch and `each_ns` for a unit; larger ones scatter more. */
static bool add(struct svmx__profile_records *records, uint32_t device, const char *op, uint32_t lanes, uint32_t depth,
                double fixed_ns, double each_ns) {
    const double compute_ns = each_ns * (double)(UINT64_C(1) << lanes), ns = fixed_ns + compute_ns;
    struct svmx__profile_cell cell = {.device = device,
                                      .lanes = lanes,
                                      .depth = depth,
                                      .samples = 8 + lanes,
                                      .ns = ns,
                                      .low_ns = ns * 0.9,
                                      .high_ns = ns * (device == CPU ? 1.2 : 1.9),
                                      .setup_ns = fixed_ns,
                                      .transfer_ns = device == CPU ? 0 : compute_ns / 2,
                                      .compute_ns = device == CPU ? compute_ns : compute_ns / 2,
                                      .bytes = UINT64_C(100) << lanes};
    (void)snprintf(cell.op, sizeof cell.op, "%s", op);
    return svmx__profile_add_cell(records, &cell);
}

static bool fill(struct svmx__profile_records *records) {
    const struct svmx__profile_device cpu = device_of("simd", "Some CPU", "svmx simd 0.1.0", "avx512", 16,
                                                      SVMX_DEVICE_CPU),
                                      gpu = device_of("opencl", "Some <GPU> & more", "driver 1.2.3", "", 80,
                                                      SVMX_DEVICE_GPU),
                                      model = device_of("sim", "some-model", "model 5", "", 1, SVMX_DEVICE_MODEL),
                                      driver = device_of("opencl", "Same CPU", "driver 7", "", 16, SVMX_DEVICE_CPU);
    bool good = svmx__profile_add_device(records, &cpu) && svmx__profile_add_device(records, &gpu) &&
                svmx__profile_add_device(records, &model) && svmx__profile_add_device(records, &driver);
    for (uint32_t lanes = 4; lanes <= 22; lanes += 2) {
        good = good && add(records, CPU, "sha256", lanes, 6, 250, 12) &&
               (lanes < 8 || add(records, GPU, "sha256", lanes, 6, 180000, 1.0137)) &&
               (lanes < 10 || add(records, MODEL, "sha256", lanes, 6, 60000, 20)) &&
               add(records, CPU, "vec_add_f32", lanes, 0, 200, 0.1);
    }
    return good && add(records, GPU, "vec_add_f32", 20, 0, 150000, 0.9) &&
           add(records, CPU, "sha256", 10, 9, 250, 90) && add(records, DRIVER, "sum_f32", 10, 0, 9000, 1);
}

int main(int argc, char **argv) {
    struct svmx__profile_records records = {0};
    struct svmx__text why = {"no memory"};
    if (argc != 2) return 2;
    const bool done = fill(&records) && svmx__profile_write(&records, argv[1], false, &why) == SVMX_OK;
    svmx__profile_records_free(&records);
    if (!done) (void)fprintf(stderr, "fill_profile: %s\n", why.line);
    return done ? 0 : 1;
}
