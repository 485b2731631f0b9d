/*
 * load.h: a short mixed load of made-up tasks, for commands that show what an executor counted (stats, tune).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_LOAD_H
#define SVMX_CLI_LOAD_H

#include "session.h"

/* Options of such a command, in the order of the table. */
enum { LOAD_OP, LOAD_SIZE, LOAD_BATCHES, LOAD_SEED, LOAD_OPTION_COUNT };
extern const struct cli_option load_options[LOAD_OPTION_COUNT];

/* Runs it on the executor of the session. CLI_OK, or another code after a message. */
enum cli_exit load_run(const struct cli_session *session, const struct cli_args *args);

#endif
