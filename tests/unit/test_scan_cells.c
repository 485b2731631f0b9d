/*
 * test_scan_cells.c: a row of `svmx threshold-scan` as a line of CSV: the columns that others read, and what is quoted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/scan.h"
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#define PLACE  "host,cpu,backend,device,driver,op,size,bucket,samples,cpu_us,gpu_us,"
#define SPREAD "cpu_median_us,cpu_p90_us,cpu_min_us,cpu_max_us,gpu_median_us,gpu_p90_us,gpu_min_us,gpu_max_us,"
#define REST                                                                                                           \
    "first_us,setup_us,upload_us,compute_us,readback_us,device_ns,speedup,throughput,dispatches,readbacks,verified,"   \
    "winner"

/* A GPU that takes half of the CPU's time, with a name that is no plain text. */
static struct scan_side cpu = {.label = "Some CPU, 2 threads", .device.backend = "simd", .device.driver = "d"};
static struct scan_side gpu = {.label = "A \"GPU\"\n\xff", .device.backend = "opencl", .device.driver = "1.2"};
static struct scan_op op = {.op.name = "sha256", .measure = SCAN_BYTES};

static struct scan_row some_row(void) {
    return (struct scan_row){.op = &op,
                             .size = 4096,
                             .bucket = 16384,
                             .cpu = &cpu,
                             .gpu = &gpu,
                             .samples = 5,
                             .cpu_ns = {1000.5, 2000, 3000, 500, 3000, 500, 3000},
                             .gpu_ns = {1100, 1000, 1500, 900, 1500, 900, 1500},
                             .first_ns = 123456,
                             .setup_ns = 100,
                             .upload_ns = 200,
                             .compute_ns = 300,
                             .readback_ns = 400,
                             .device_ns = 900,
                             .dispatches = 1,
                             .readbacks = 2,
                             .verified = true,
                             .decided = true};
}

static void expect_line(const struct scan_row *row, enum scan_format format, const char *want) {
    struct scan_cells cells;
    char line[SCAN_LINE_BYTES], whole[SCAN_LINE_BYTES], host[256] = "";
    gethostname(host, sizeof host - 1);
    scan_cells_of(&cells, row, format);
    scan_cells_line(&cells, false, line);
    snprintf(whole, sizeof whole, "%s%s", format == SCAN_PROTOTYPE ? "" : host, want);
    cr_expect_str_eq(line, whole);
}

static void expect_header(enum scan_format format, const char *want) {
    const struct scan_row none = {.size = 0};
    struct scan_cells cells;
    char line[SCAN_LINE_BYTES];
    scan_cells_of(&cells, &none, format);
    scan_cells_line(&cells, true, line);
    cr_expect_str_eq(line, want);
}

Test(scan_cells, headers) {
    expect_header(SCAN_LONG, PLACE SPREAD REST ",decided\n");
    expect_header(SCAN_SHORT, PLACE REST "\n");
    expect_header(SCAN_PROTOTYPE, "size,device,duration_ms,first,backend_mask_hint\n");
}

/* 4096 bytes in 1 us are 4,096,000,000 a second. */
Test(scan_cells, a_row) {
    const struct scan_row row = some_row();
    expect_line(
        &row, SCAN_LONG,
        ",\"Some CPU, 2 threads\",opencl,\"A \"\"GPU\"\"??\",1.2,sha256,4096,16384,5,1.000,1.100,2.000,3.000,0.500,"
        "3.000,1.000,1.500,0.900,1.500,123.456,0.100,0.200,0.300,0.400,900,2.0000,4096000000,1,2,yes,gpu,yes\n");
    expect_line(&row, SCAN_SHORT,
                ",\"Some CPU, 2 threads\",opencl,\"A \"\"GPU\"\"??\",1.2,sha256,4096,16384,5,1.000,1.100,123.456,0.100,"
                "0.200,0.300,0.400,900,2.0000,4096000000,1,2,yes,gpu\n");
}

Test(scan_cells, without_a_gpu_its_columns_are_empty) {
    struct scan_row row = some_row();
    row.gpu = NULL;
    expect_line(
        &row, SCAN_SHORT,
        ",\"Some CPU, 2 threads\",simd,\"Some CPU, 2 threads\",d,sha256,4096,16384,5,1.000,,,,,,,,,,,,yes,cpu\n");
}

Test(scan_cells, a_wrong_result_wins_nothing) {
    struct scan_row row = some_row();
    row.verified = row.decided = false;
    expect_line(
        &row, SCAN_LONG,
        ",\"Some CPU, 2 threads\",opencl,\"A \"\"GPU\"\"??\",1.2,sha256,4096,16384,5,1.000,1.100,2.000,3.000,0.500,"
        "3.000,1.000,1.500,0.900,1.500,123.456,0.100,0.200,0.300,0.400,900,2.0000,4096000000,1,2,no,cpu,no\n");
    expect_line(&row, SCAN_SHORT,
                ",\"Some CPU, 2 threads\",opencl,\"A \"\"GPU\"\"??\",1.2,sha256,4096,16384,5,1.000,1.100,123.456,0.100,"
                "0.200,0.300,0.400,900,2.0000,4096000000,1,2,no,cpu\n");
}

Test(scan_cells, the_prototypes_columns_have_a_line_a_device) {
    struct scan_row row = some_row();
    struct scan_cells cells;
    char line[SCAN_LINE_BYTES];
    row.cpu_first_ns = 5000;
    expect_line(&row, SCAN_PROTOTYPE, "4096,\"A \"\"GPU\"\"??\",0.001000,0.123456,opencl\n");
    scan_cells_of_cpu(&cells, &row);
    scan_cells_line(&cells, false, line);
    cr_expect_str_eq(line, "4096,\"Some CPU, 2 threads\",0.002000,0.005000,simd\n");
}

Test(scan_cells, names_of_any_length_fit) {
    struct scan_row row = some_row();
    struct scan_side wide = gpu;
    memset(wide.label, '"', sizeof wide.label - 1);
    row.gpu = row.cpu = &wide;
    struct scan_cells cells;
    char line[SCAN_LINE_BYTES];
    scan_cells_of(&cells, &row, SCAN_LONG);
    scan_cells_line(&cells, false, line);
    cr_expect(strstr(line, ",yes,cpu,yes\n") || strstr(line, ",yes,gpu,yes\n"));
}
