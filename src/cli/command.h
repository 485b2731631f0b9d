/*
 * command.h: what a command of `svmx` is. A command is one file, cmd_NAME.c, and one line in main.c's table.
 *
 *   main.c  finds the command -> args.c reads its options from its table -> run() -> an exit code
 *                                help.c prints the same table, so that help cannot say what the parser does not do
 *
 * The whole folder uses the public API of the library (svmx/svmx.h, svmx/ops.h) and libc, nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_COMMAND_H
#define SVMX_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct cli_args;
struct cli_option;

/* What the process answers; part of the interface (svmx.1). */
enum cli_exit {
    CLI_OK = 0,
    CLI_BAD_INPUT = 1,    /* data on standard input, a log, a file of the cache or the profile, or a device that was
                          probed is bad; the text names it */
    CLI_USAGE = 2,        /* unknown command, option or operation, or a value that is out of range */
    CLI_NO_EXECUTOR = 3,  /* executor, cache or profile could not be opened, or the device asked for is not there */
    CLI_FAILED = 4,       /* an operation failed, or its results could not be written */
    CLI_INTERRUPTED = 130 /* Ctrl-C, where what was done so far is kept (threshold-scan) */
};

struct cli_command {
    const char *name;
    const char *operands; /* as shown in the usage line: "[NAME]"; "" for none */
    const char *summary;  /* one line */
    const char *details;  /* more lines for its own help, each ended by a newline */
    unsigned operand_min, operand_max;
    bool executor; /* takes the options that say how to open an executor (args.h) */
    const struct cli_option *options;
    size_t option_count;
    enum cli_exit (*run)(const struct cli_args *args);
};

/* The table of main.c, in the order of the help; ends with NULL. */
extern const struct cli_command *const cli_commands[];

extern const struct cli_command cli_devices, cli_ops, cli_run, cli_explain, cli_bandwidth, cli_replay, cli_trace,
    cli_stats, cli_serve, cli_top, cli_tune, cli_scan, cli_conform, cli_cache, cli_profile, cli_config, cli_version,
    cli_help;

/* By name. NULL for an unknown one, after a message with the nearest name. */
const struct cli_command *cli_command_find(const char *name);

#endif
