/*
 * main.c: the `svmx` command: a table of commands, and the way to them.
 *
 * A new command is one file, its name in command.h and one line here. Results go to standard output, messages to standard
 * error. Uses the public API of the library only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "args.h"
#include "help.h"
#include "text.h"
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

const struct cli_command *const cli_commands[] = {
    &cli_devices, &cli_ops,    &cli_run,     &cli_explain, &cli_bandwidth, &cli_replay,  &cli_trace,
    &cli_stats,   &cli_serve,  &cli_top,     &cli_tune,    &cli_scan,      &cli_conform, &cli_cache,
    &cli_profile, &cli_config, &cli_version, &cli_help,    NULL,
};

const struct cli_command *cli_command_find(const char *name) {
    struct cli_guess guess = cli_guess_start(name, strlen(name));
    for (const struct cli_command *const *command = cli_commands; *command; command++) {
        if (strcmp((*command)->name, name) == 0) return *command;
        cli_guess_try(&guess, (*command)->name);
    }
    if (guess.best)
        cli_error("unknown command '%s' (did you mean %s?); see svmx --help", name, guess.best);
    else
        cli_error("unknown command '%s'; see svmx --help", name);
    return NULL;
}

static enum cli_exit command_run(const struct cli_command *command, int argc, char *const *argv) {
    struct cli_args args;
    if (!cli_args_parse(&args, command, argc, argv)) return CLI_USAGE;
    if (!args.common[CLI_HELP].given) return command->run(&args);
    cli_help_command(command);
    return CLI_OK;
}

/* `svmx --help` and the like: options that stand for a command. */
static const char *command_name(const char *word) {
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return cli_help.name;
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) return cli_version.name;
    return word;
}

/* Standard streams that the parent closed stay closed to us: else the next file that is opened would be taken for one. */
static void reserve_streams(void) {
    int fd;
    while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO) {
        /* reading 0 for writing only, and the other way round, fails as a closed one does */
        const int wrong = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        close(fd);
        if (open("/dev/null", wrong) != fd) return;
    }
    if (fd >= 0) close(fd);
}

int main(int argc, char **argv) {
    reserve_streams();
    signal(SIGPIPE, SIG_DFL); /* a reader that leaves ends us quietly, also where the parent ignores the signal */
    if (argc < 2) {
        cli_help_overview(stderr);
        return CLI_USAGE;
    }
    const struct cli_command *command = cli_command_find(command_name(argv[1]));
    if (!command) return CLI_USAGE;
    enum cli_exit code = command_run(command, argc - 2, argv + 2);
    cli_output_flush();
    return (int)code;
}
