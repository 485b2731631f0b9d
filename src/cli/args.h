/*
 * args.h: options and operands of a command, read from its table.
 *
 * Every option is `--name`, `--name VALUE` or `--name=VALUE`; `--` ends them; the last of a kind counts. Numbers are
 * decimal and may end in K, M or G (2^10, 2^20, 2^30).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_ARGS_H
#define SVMX_CLI_ARGS_H

#include "command.h"
#include <stdint.h>

enum { CLI_MAX_OPTIONS = 16, CLI_MAX_OPERANDS = 4 };

struct cli_option {
    const char *name;     /* without its dashes */
    const char *value;    /* what its value is called in the help; NULL for a flag */
    const char *help;     /* one line, or several with newlines between */
    const char *standard; /* the value that counts when it is not given, as text; NULL for none */
    uint64_t minimum, maximum;
    bool number; /* its value is a number from minimum to maximum */
    char letter; /* short form, or 0 */
};

struct cli_value {
    bool given;
    const char *text;
    uint64_t number;
};

/* Options that every command has, then those of commands that open an executor. */
enum cli_common { CLI_HELP, CLI_JSON, CLI_BACKEND, CLI_DEVICE, CLI_THREADS, CLI_VARIANT, CLI_POLICY, CLI_COMMON_COUNT };
extern const struct cli_option cli_common_options[CLI_COMMON_COUNT];

/* How many of them a command has: a prefix of the table. */
size_t cli_common_count(const struct cli_command *command);

struct cli_args {
    const struct cli_command *command;
    struct cli_value common[CLI_COMMON_COUNT];
    struct cli_value own[CLI_MAX_OPTIONS]; /* in the order of the command's table */
    const char *operands[CLI_MAX_OPERANDS];
    unsigned operand_count;
};

/* Reads what follows the command's name. False after a message on standard error: the caller exits with CLI_USAGE. When
 * --help is given nothing else is demanded. */
bool cli_args_parse(struct cli_args *args, const struct cli_command *command, int argc, char *const *argv);

static inline bool cli_args_json(const struct cli_args *args) { return args->common[CLI_JSON].given; }

/* Says what is wrong with the call and where help is; returns CLI_USAGE. */
__attribute__((format(printf, 2, 3))) enum cli_exit cli_args_refuse(const struct cli_command *command,
                                                                    const char *format, ...);

#endif
