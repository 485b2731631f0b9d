/*
 * help.h: help, printed from the tables that the parser reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_HELP_H
#define SVMX_CLI_HELP_H

#include "command.h"
#include <stdio.h>

/* What there is: commands, exit codes, where to read on. */
void cli_help_overview(FILE *out);

/* One command: usage, details, options with their defaults. */
void cli_help_command(const struct cli_command *command);

#endif
