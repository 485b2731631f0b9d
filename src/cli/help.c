/*
 * help.c: help, printed from the tables that the parser reads, and the commands `help` and `version`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "help.h"
#include "args.h"
#include "json.h"
#include <string.h>
#include <svmx/svmx.h>

void cli_help_overview(FILE *out) {
    fputs("svmx: runs data-parallel work in batches, on SIMD or on a GPU\n\n"
          "Usage: svmx COMMAND [options]\n\nCommands:\n",
          out);
    for (const struct cli_command *const *command = cli_commands; *command; command++)
        fprintf(out, "  %-14s %s\n", (*command)->name, (*command)->summary);
    fputs("\nEvery command takes --help and --json.\n"
          "Exit status: 0 done, 1 bad input data, log, file in the cache or profile, 2 usage,\n"
          "             3 the executor, the cache or the profile could not be opened,\n"
          "             4 an operation failed or its results could not be written,\n"
          "             130 interrupted (threshold-scan).\n"
          "Manual: svmx(1) the command, svmx(7) the environment (SUPERVM_*), svmx(3) the library.\n",
          out);
}

/* ---- one command ---- */

static void option_print(const struct cli_option *option) {
    char name[48], letter[5] = "    ";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(name, sizeof name, "%s--%s%s%s", letter, option->name, option->value ? " " : "",
             option->value ? option->value : "");
    printf("  %-22s", name);
    for (const char *line = option->help; line;) {
        const char *end = strchr(line, '\n');
        printf(" %.*s", end ? (int)(end - line) : (int)strlen(line), line);
        if (end) printf("\n  %-22s", "");
        line = end ? end + 1 : NULL;
    }
    if (option->standard) printf(" (default %s)", option->standard);
    putchar('\n');
}

void cli_help_command(const struct cli_command *command) {
    printf("svmx %s: %s\n\nUsage: svmx %s%s%s [options]\n\n", command->name, command->summary, command->name,
           *command->operands ? " " : "", command->operands);
    if (*command->details) printf("%s\n", command->details);
    puts("Options:");
    for (size_t i = 0; i < command->option_count; i++) option_print(&command->options[i]);
    for (size_t i = cli_common_count(command); i-- > 0;) option_print(&cli_common_options[i]);
}

/* ---- the command `help` ---- */

static void option_json(struct cli_json *json, const struct cli_option *option) {
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", option->name);
    cli_json_text(json, "value", option->value);
    cli_json_text(json, "default", option->standard);
    cli_json_text(json, "help", option->help);
    cli_json_close(json);
}

static void command_json(struct cli_json *json, const struct cli_command *command) {
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", command->name);
    cli_json_text(json, "operands", command->operands);
    cli_json_text(json, "summary", command->summary);
    cli_json_open(json, "options", '[');
    for (size_t i = 0; i < command->option_count; i++) option_json(json, &command->options[i]);
    for (size_t i = 0; i < cli_common_count(command); i++) option_json(json, &cli_common_options[i]);
    cli_json_close(json);
    cli_json_close(json);
}

/* All commands, or the one that is not NULL. */
static void commands_json(const struct cli_command *only) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "commands", '[');
    for (const struct cli_command *const *command = cli_commands; *command; command++)
        if (!only || *command == only) command_json(&json, *command);
    cli_json_close(&json);
    cli_json_close(&json);
}

static enum cli_exit help_run(const struct cli_args *args) {
    const struct cli_command *only = NULL;
    if (args->operand_count == 1) {
        only = cli_command_find(args->operands[0]);
        if (!only) return CLI_USAGE;
    }
    if (cli_args_json(args))
        commands_json(only);
    else if (only)
        cli_help_command(only);
    else
        cli_help_overview(stdout);
    return CLI_OK;
}

const struct cli_command cli_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "this overview, or all about one command",
    .details = "",
    .operand_max = 1,
    .run = help_run,
};

/* ---- the command `version` ---- */

static enum cli_exit version_run(const struct cli_args *args) {
    char own[32];
    snprintf(own, sizeof own, "%d.%d.%d", SVMX_VERSION_MAJOR, SVMX_VERSION_MINOR, SVMX_VERSION_PATCH);
    if (!cli_args_json(args)) {
        printf("svmx %s (library %s)\n", own, svmx_version());
        return CLI_OK;
    }
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "command", own);
    cli_json_text(&json, "library", svmx_version());
    cli_json_close(&json);
    return CLI_OK;
}

const struct cli_command cli_version = {
    .name = "version",
    .operands = "",
    .summary = "versions of the command and of the library",
    .details = "",
    .run = version_run,
};
