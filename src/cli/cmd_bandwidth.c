/*
 * cmd_bandwidth.c: `svmx bandwidth [DEVICE]`: what copies to and from devices cost, measured now.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json.h"
#include "session.h"
#include "table.h"
#include "text.h"
#include <stdio.h>
#include <string.h>

enum { BYTES, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [BYTES] = {.name = "bytes",
               .value = "N",
               .number = true,
               .minimum = 4096,
               .maximum = UINT64_C(1) << 40,
               .help = "of the largest copy, instead of 64M or what the device has room for"},
};

/* One device and what became of it. */
struct measured {
    uint32_t index;
    struct svmx_device device;
    struct svmx_bandwidth bandwidth;
    enum svmx_status status; /* UNSUPPORTED: there is nothing to copy */
    struct svmx_error error;
};

/* ---- which devices ---- */

/* A number, or the name of a backend; NULL: all. */
static bool is_meant(const struct measured *measured, const char *item) {
    uint64_t index;
    if (!item) return true;
    if (cli_number_parse(item, &index)) return index == measured->index;
    return strcmp(item, measured->device.backend) == 0;
}

static enum cli_exit item_check(const struct cli_session *session, const struct cli_args *args) {
    const char *item = args->operand_count ? args->operands[0] : NULL;
    struct measured measured = {.device.size = sizeof measured.device};
    for (; svmx_device_get(session->executor, measured.index, &measured.device) == SVMX_OK; measured.index++)
        if (is_meant(&measured, item)) return CLI_OK;
    cli_error("no device is '%s': give its number or its backend, see svmx devices", item);
    return CLI_NO_EXECUTOR;
}

/* ---- text ---- */

static struct cli_text rate(double bytes_per_ns) {
    return cli_byte_rate(bytes_per_ns > 0 ? (uint64_t)(bytes_per_ns * 1e9) : 0);
}

static struct cli_text latency(double ns) { return cli_duration(ns > 0 ? (uint64_t)(ns + 0.5) : 0); }

static void header_text(struct cli_table *table) {
    table->right = 0x7e;
    cli_table_row(table, (const char *[]){"#", "LATENCY IN", "OUT", "DEVICE IN", "OUT", "STAGING IN", "OUT", "DEVICE"});
}

static void device_text(struct cli_table *table, const struct measured *measured) {
    const struct svmx_bandwidth *bandwidth = &measured->bandwidth;
    const struct cli_device_label label = cli_device_label(&measured->device);
    const struct cli_text number = cli_count(measured->index);
    if (measured->status != SVMX_OK) {
        cli_table_row(table, (const char *[]){number.line, "-", "-", "-", "-", "-", "-", label.line});
        cli_table_note(table, 7,
                       measured->status == SVMX_ERR_UNSUPPORTED ? "computes in the caller's memory: nothing to copy"
                                                                : measured->error.text);
        return;
    }
    struct cli_text latency_in = latency(bandwidth->latency_in_ns), latency_out = latency(bandwidth->latency_out_ns);
    struct cli_text in = rate(bandwidth->in_bytes_per_ns), out = rate(bandwidth->out_bytes_per_ns);
    struct cli_text host_in = rate(bandwidth->host_in_bytes_per_ns), host_out = rate(bandwidth->host_out_bytes_per_ns);
    cli_table_row(table, (const char *[]){number.line, latency_in.line, latency_out.line, in.line, out.line,
                                          host_in.line, host_out.line, label.line});
    char note[192];
    snprintf(note, sizeof note, "copies of up to %s%s", cli_bytes(bandwidth->bytes).line,
             bandwidth->in_place ? "; kernels reach staging memory themselves, DEVICE is saved" : "");
    cli_table_note(table, 7, note);
}

/* ---- JSON ---- */

static uint64_t per_second(double bytes_per_ns) { return bytes_per_ns > 0 ? (uint64_t)(bytes_per_ns * 1e9) : 0; }

static void device_json(struct cli_json *json, const struct measured *measured) {
    const struct svmx_bandwidth *bandwidth = &measured->bandwidth;
    cli_json_open(json, NULL, '{');
    cli_json_number(json, "device", measured->index);
    cli_json_text(json, "backend", measured->device.backend);
    cli_json_text(json, "name", measured->device.name);
    cli_json_bool(json, "test", measured->device.flags & SVMX_DEVICE_TEST);
    cli_json_bool(json, "modelled", measured->device.kind == SVMX_DEVICE_MODEL);
    cli_json_text(json, "status", svmx_status_name(measured->status));
    cli_json_text(json, "error", measured->status == SVMX_OK ? "" : measured->error.text);
    cli_json_number(json, "bytes", bandwidth->bytes);
    cli_json_number(json, "latency_in_ns", (uint64_t)bandwidth->latency_in_ns);
    cli_json_number(json, "latency_out_ns", (uint64_t)bandwidth->latency_out_ns);
    cli_json_number(json, "in_bytes_per_s", per_second(bandwidth->in_bytes_per_ns));
    cli_json_number(json, "out_bytes_per_s", per_second(bandwidth->out_bytes_per_ns));
    cli_json_number(json, "host_in_bytes_per_s", per_second(bandwidth->host_in_bytes_per_ns));
    cli_json_number(json, "host_out_bytes_per_s", per_second(bandwidth->host_out_bytes_per_ns));
    cli_json_bool(json, "in_place", bandwidth->in_place);
    cli_json_close(json);
}

/* ---- the command ---- */

/* Measures the devices that are meant, and shows each. */
static enum cli_exit devices_measure(const struct cli_session *session, const struct cli_args *args,
                                     struct cli_table *table, struct cli_json *json) {
    const char *item = args->operand_count ? args->operands[0] : NULL;
    enum cli_exit code = CLI_OK;
    for (uint32_t i = 0; i < svmx_device_count(session->executor); i++) {
        struct measured measured = {
            .index = i, .device.size = sizeof measured.device, .bandwidth.size = sizeof measured.bandwidth};
        if (svmx_device_get(session->executor, i, &measured.device) != SVMX_OK || !is_meant(&measured, item)) continue;
        measured.status =
            svmx_bandwidth_measure(session->executor, i, args->own[BYTES].number, &measured.bandwidth, &measured.error);
        if (measured.status != SVMX_OK && measured.status != SVMX_ERR_UNSUPPORTED)
            code = cli_session_failed(measured.device.name, measured.status, measured.error.text);
        if (json)
            device_json(json, &measured);
        else
            device_text(table, &measured);
    }
    return code;
}

static enum cli_exit measure_text(const struct cli_session *session, const struct cli_args *args) {
    struct cli_table table = cli_table_start(8);
    header_text(&table);
    enum cli_exit code = devices_measure(session, args, &table, NULL);
    cli_table_print(&table);
    return code;
}

static enum cli_exit measure_json(const struct cli_session *session, const struct cli_args *args) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "devices", '[');
    enum cli_exit code = devices_measure(session, args, NULL, &json);
    cli_json_close(&json);
    cli_json_close(&json);
    return code;
}

static enum cli_exit bandwidth_run(const struct cli_args *args) {
    struct cli_session session;
    enum cli_exit code = cli_session_open(&session, args, false);
    if (code != CLI_OK) return code;
    code = item_check(&session, args);
    if (code == CLI_OK) code = cli_args_json(args) ? measure_json(&session, args) : measure_text(&session, args);
    cli_session_close(&session);
    return code;
}

const struct cli_command cli_bandwidth = {
    .name = "bandwidth",
    .operands = "[DEVICE]",
    .summary = "measure latency and GB/s of copies to and from devices",
    .details = "DEVICE is its number in svmx devices, or its backend; all without it. LATENCY is that of the\n"
               "smallest copy; DEVICE the rate between staging memory and the memory of the device, STAGING\n"
               "that between memory of the caller and staging memory. Medians of several copies. A device\n"
               "that computes in the caller's memory has nothing to copy.\n",
    .operand_max = 1,
    .executor = true,
    .options = options,
    .option_count = OPTION_COUNT,
    .run = bandwidth_run,
};
