/*
 * scan_options.c: the options of `svmx threshold-scan`, and whether they go together. Called by cmd_scan.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"
#include <string.h>

const struct cli_option scan_options[SCAN_OPTION_COUNT] = {
    [SCAN_OP] = {.name = "op",
                 .value = "LIST",
                 .help = "operations, with commas, or all; default vec_add_f32, sigmoid_f32, matmul_f32,\n"
                         "sha256 and keccak256"},
    [SCAN_SIZES] = {.name = "sizes",
                    .value = "LIST",
                    .help = "sizes, with commas: 1024,4K, or from 1K to 4M times 4: 1K:4M:x4 or 1K:4M:2\n"
                            "(times 2^2); default 1K:4M:x4, of matmul_f32 100,500,1000"},
    [SCAN_SAMPLES] = {.name = "samples",
                      .value = "N",
                      .number = true,
                      .minimum = 1,
                      .maximum = 10000,
                      .standard = "5",
                      .help = "runs of each side that count"},
    [SCAN_MAX_SAMPLES] = {.name = "max-samples",
                          .value = "N",
                          .number = true,
                          .minimum = 1,
                          .maximum = 10000,
                          .help = "up to so many while the winner is not certain; default 25,\nor --samples if that is "
                                  "more, or 1"},
    [SCAN_WARMUP] = {.name = "warmup",
                     .value = "N",
                     .number = true,
                     .maximum = 10000,
                     .standard = "2",
                     .help = "runs before those, beside the first, which is checked"},
    [SCAN_CPU] = {.name = "cpu",
                  .value = "SIDE",
                  .standard = "all",
                  .help = "what GPUs are compared with: SIMD with all threads (all) or one, the\n"
                          "scalar reference code (scalar), or another device NAME:DEVICE"},
    [SCAN_LIMIT] = {.name = "limit",
                    .value = "S",
                    .number = true,
                    .maximum = 86400,
                    .standard = "10",
                    .help = "sizes whose row would take more than S seconds, by what the size before\n"
                            "took, are left out; 0: none is"},
    [SCAN_OUTPUT] = {.name = "output",
                     .value = "FILE",
                     .standard = "threshold-scan.csv",
                     .help = "where the CSV goes, written anew; - is standard output"},
    [SCAN_APPEND] = {.name = "append", .help = "add to FILE; its columns must be the same"},
    [SCAN_FORMAT] = {.name = "format",
                     .value = "F",
                     .standard = "csv",
                     .help = "csv; prototype: size,device,duration_ms,first,backend_mask_hint,\na line a device"},
    [SCAN_SEED] = {.name = "seed",
                   .value = "S",
                   .number = true,
                   .maximum = UINT64_MAX,
                   .standard = "1",
                   .help = "of the made-up data"},
    [SCAN_VERIFY] = {.name = "verify", .help = "compare with the reference code after every run, not only the first"},
    [SCAN_QUIET] = {.name = "quiet", .letter = 'q', .help = "say nothing but errors"},
};

static enum cli_exit samples_take(struct scan_settings *settings, const struct cli_args *args) {
    const struct cli_value *own = args->own;
    settings->samples = settings->max_samples = (uint32_t)own[SCAN_SAMPLES].number;
    if (settings->samples > 1 && settings->samples < 25) settings->max_samples = 25;
    if (own[SCAN_MAX_SAMPLES].given) settings->max_samples = (uint32_t)own[SCAN_MAX_SAMPLES].number;
    if (settings->max_samples < settings->samples)
        return cli_args_refuse(args->command, "--max-samples is less than --samples, which is %u", settings->samples);
    if (settings->samples == 1 && settings->max_samples > 1)
        return cli_args_refuse(args->command,
                               "--samples 1 means one, and a file without medians: give --samples 2 or more");
    return CLI_OK;
}

enum cli_exit scan_options_take(struct scan_settings *settings, const struct cli_args *args) {
    const struct cli_value *own = args->own;
    const struct cli_command *command = args->command;
    const char *policy = args->common[CLI_POLICY].text, *format = own[SCAN_FORMAT].text;
    settings->warmup = (uint32_t)own[SCAN_WARMUP].number;
    settings->verify = own[SCAN_VERIFY].given;
    settings->limit_ns = own[SCAN_LIMIT].number ? own[SCAN_LIMIT].number * 1000000000u : UINT64_MAX;
    if (strcmp(format, "csv") != 0 && strcmp(format, "prototype") != 0)
        return cli_args_refuse(command, "--format: '%s' is neither csv nor prototype", format);
    if (policy && strcmp(policy, "cpu") != 0 && strcmp(policy, "gpu") != 0)
        return cli_args_refuse(command, "--policy: a scan compares both sides (gpu) or measures the CPU alone (cpu)");
    if (cli_args_json(args) && own[SCAN_OUTPUT].given && strcmp(own[SCAN_OUTPUT].text, "-") == 0)
        return cli_args_refuse(command, "--json and --output - would mix: give a file");
    if (own[SCAN_APPEND].given && strcmp(own[SCAN_OUTPUT].text, "-") == 0)
        return cli_args_refuse(command, "--append needs a file: --output FILE");
    return samples_take(settings, args);
}

enum scan_format scan_format_of(const struct scan_settings *settings, const struct cli_args *args) {
    if (strcmp(args->own[SCAN_FORMAT].text, "prototype") == 0) return SCAN_PROTOTYPE;
    return settings->samples > 1 ? SCAN_LONG : SCAN_SHORT;
}
