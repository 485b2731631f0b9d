/*
 * cmd_config.c: `svmx config`: every setting with its variable, its value, where that came from, and its default.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json.h"
#include "session.h"
#include "table.h"
#include <stdio.h>

static const char *source_name(uint32_t source) {
    switch ((enum svmx_config_source)source) {
    case SVMX_FROM_DEFAULT: return "default";
    case SVMX_FROM_ENVIRONMENT: return "environment";
    case SVMX_FROM_OPTIONS: return "options";
    }
    return "unknown";
}

/* An empty value must be seen. */
static const char *shown(const char *value) { return *value ? value : "\"\""; }

/* Value and default stand last, because a path may be long. */
static void config_text(const svmx_executor_t *executor) {
    struct cli_table table = cli_table_start(4);
    cli_table_row(&table, (const char *[]){"SETTING", "VARIABLE", "FROM", "VALUE"});
    struct svmx_config_entry entry = {.size = sizeof entry};
    for (uint32_t i = 0; svmx_config_get(executor, i, &entry) == SVMX_OK; i++) {
        char line[600];
        cli_table_row(&table,
                      (const char *[]){entry.name, entry.variable, source_name(entry.source), shown(entry.value)});
        snprintf(line, sizeof line, "  %s", entry.help);
        cli_table_note(&table, 0, line);
        snprintf(line, sizeof line, "  default: %s", shown(entry.default_value));
        if (entry.source != SVMX_FROM_DEFAULT) cli_table_note(&table, 0, line);
    }
    cli_table_print(&table);
}

static void config_json(const svmx_executor_t *executor) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    struct svmx_config_entry entry = {.size = sizeof entry};
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "settings", '[');
    for (uint32_t i = 0; svmx_config_get(executor, i, &entry) == SVMX_OK; i++) {
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "name", entry.name);
        cli_json_text(&json, "variable", entry.variable);
        cli_json_text(&json, "value", entry.value);
        cli_json_text(&json, "source", source_name(entry.source));
        cli_json_text(&json, "default", entry.default_value);
        cli_json_text(&json, "help", entry.help);
        cli_json_close(&json);
    }
    cli_json_close(&json);
    cli_json_close(&json);
}

static enum cli_exit config_run(const struct cli_args *args) {
    struct cli_session session;
    enum cli_exit code = cli_session_open(&session, args, false);
    if (code != CLI_OK) return code;
    if (cli_args_json(args))
        config_json(session.executor);
    else
        config_text(session.executor);
    cli_session_close(&session);
    return CLI_OK;
}

const struct cli_command cli_config = {
    .name = "config",
    .operands = "",
    .summary = "every setting: its variable, value, source and default",
    .details = "An option wins over a variable of the environment, and that over the default.\n",
    .executor = true,
    .run = config_run,
};
