/*
 * profile_fixture.h: what the suites of the profile share: some records, and texts that are wrong in one place but for their
 * checksum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_PROFILE_FIXTURE_H
#define TESTS_UNIT_PROFILE_FIXTURE_H

#include "cache/key.h"
#include "cache/profile_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline struct svmx__profile_device some_device(const char *backend, uint64_t used_s) {
    struct svmx__profile_device device = {.version = "0.1.0+52f1",
                                          .name = "Some GPU",
                                          .driver = "driver 1.2",
                                          .pci = "0000:03:00.0",
                                          .abi_major = 1,
                                          .abi_minor = 1,
                                          .threads = 8,
                                          .kind = SVMX_DEVICE_GPU,
                                          .used_s = used_s};
    (void)snprintf(device.backend, sizeof device.backend, "%s", backend);
    return device;
}

static inline struct svmx__profile_cell some_cell(uint32_t device, const char *op, uint32_t lanes, double ns) {
    struct svmx__profile_cell cell = {.device = device,
                                      .lanes = lanes,
                                      .depth = 6,
                                      .samples = 31,
                                      .ns = ns,
                                      .low_ns = ns * 0.5,
                                      .high_ns = ns * 2,
                                      .setup_ns = 10,
                                      .transfer_ns = 20.25,
                                      .compute_ns = ns - 30.25,
                                      .first_use_ns = 1e9,
                                      .bytes = UINT64_C(96) << lanes};
    (void)snprintf(cell.op, sizeof cell.op, "%s", op);
    return cell;
}

/* Two devices with five cells, and an operation that one of them gets wrong; false: no memory. */
static inline bool some_records(struct svmx__profile_records *records) {
    struct svmx__profile_device gpu = some_device("opencl", 2000), cpu = some_device("simd", 1000);
    gpu.measured = true;
    gpu.latency_ns = 5200;
    gpu.bytes_per_ns = 11.25;
    (void)snprintf(cpu.variant, sizeof cpu.variant, "avx2");
    const struct svmx__profile_cell cells[] = {
        some_cell(0, "keccak256", 10, 90000), some_cell(0, "keccak256", 16, 400000), some_cell(0, "sha256", 3, 81234.5),
        some_cell(1, "keccak256", 10, 20000), some_cell(1, "keccak256", 16, 1280000)};
    bool good = svmx__profile_add_device(records, &gpu) && svmx__profile_add_device(records, &cpu);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) good = good && svmx__profile_add_cell(records, &cells[i]);
    const struct svmx__profile_wrong wrong = {0, "exp_f32", "wrong bytes, 100% of them"};
    return good && svmx__profile_add_wrong(records, &wrong);
}

/* Their text, ended like a string; free() takes it. NULL: no memory. */
static inline char *some_text(size_t *length) {
    struct svmx__profile_records records = {0};
    char *text = some_records(&records) ? svmx__profile_format(&records, length) : NULL;
    svmx__profile_records_free(&records);
    char *ended = text ? realloc(text, *length + 1) : NULL;
    if (ended) ended[*length] = '\0';
    return ended;
}

/* Makes the last line of a text right again, in place; there must be one. */
static inline void checksum_mend(char *text, size_t length) {
    static const char digits[] = "0123456789abcdef";
    size_t end = length - 1;
    while (end > 0 && text[end - 1] != '\n') end--;
    const struct svmx__hash128 hash = svmx__hash128(text, end);
    for (size_t i = 0; i < 32 && length >= end + 33; i++)
        text[length - 33 + i] = digits[hash.bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
}

/* A copy with the first `from` replaced, and the checksum right if `mend`; NULL if there is none. free() takes it. */
static inline char *replaced(const char *text, const char *from, const char *to, bool mend, size_t *length) {
    const char *at = strstr(text, from);
    char *copy = at ? malloc(strlen(text) + strlen(to) + 1) : NULL;
    if (!copy) return NULL;
    *length = (size_t)sprintf(copy, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    if (mend) checksum_mend(copy, *length);
    return copy;
}

#endif
