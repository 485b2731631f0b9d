/*
 * cmd_ops.c: `svmx ops`: the operations, or the signature of one.
 *
 * Opens the reference code only: what operations there are does not depend on backends, and drivers are slow to load.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "items.h"
#include "json.h"
#include "session.h"
#include "table.h"
#include "text.h"

static const char *type_name(uint8_t type) {
    switch ((enum svmx_type)type) {
    case SVMX_U8: return "u8";
    case SVMX_U32: return "u32";
    case SVMX_U64: return "u64";
    case SVMX_F32: return "f32";
    case SVMX_F64: return "f64";
    }
    return "unknown";
}

static const char *shape_name(uint8_t shape) {
    switch ((enum svmx_shape)shape) {
    case SVMX_ARRAY: return "array";
    case SVMX_SCALAR: return "scalar";
    case SVMX_RAGGED: return "ragged";
    case SVMX_OFFSETS: return "offsets";
    }
    return "unknown";
}

static const char *direction_name(uint8_t direction) { return direction == SVMX_OUT ? "out" : "in"; }

static bool takes_lines(const struct svmx_op *op) {
    char why[CLI_WHY_BYTES];
    return cli_items_possible(op, why);
}

/* ---- text ---- */

static void list_text(const svmx_executor_t *executor) {
    struct cli_table table = cli_table_start(3);
    cli_table_row(&table, (const char *[]){"OPERATION", "UNIT", "SUMMARY"});
    struct svmx_op op = {.size = sizeof op};
    for (uint32_t i = 0; svmx_op_get(executor, i, &op) == SVMX_OK; i++)
        cli_table_row(&table, (const char *[]){op.name, op.unit, op.summary});
    cli_table_print(&table);
}

/* How the bytes of a parameter are to be read, for people. */
static struct cli_text param_meaning(const struct svmx_param *param) {
    struct cli_text text;
    switch ((enum svmx_shape)param->shape) {
    case SVMX_RAGGED: snprintf(text.line, sizeof text.line, "items of any length, end to end"); break;
    case SVMX_OFFSETS: snprintf(text.line, sizeof text.line, "n + 1 offsets that cut the parameter above"); break;
    case SVMX_SCALAR: snprintf(text.line, sizeof text.line, "one value"); break;
    default: snprintf(text.line, sizeof text.line, "%u to an item", (unsigned)param->record);
    }
    return text;
}

static void op_text(const struct svmx_op *op) {
    printf("%s: %s\nsize counts %ss%s\n\n", op->name, op->summary, op->unit,
           takes_lines(op) ? "; works with svmx run --stdin" : "");
    struct cli_table table = cli_table_start(6);
    cli_table_row(&table, (const char *[]){"#", "PARAMETER", "WAY", "TYPE", "SHAPE", "MEANING"});
    for (uint32_t i = 0; i < op->param_count; i++) {
        const struct svmx_param *param = &op->params[i];
        struct cli_text number = cli_count(i), meaning = param_meaning(param);
        cli_table_row(&table, (const char *[]){number.line, param->name, direction_name(param->direction),
                                               type_name(param->type), shape_name(param->shape), meaning.line});
    }
    cli_table_print(&table);
}

/* ---- JSON ---- */

static void op_json(struct cli_json *json, const struct svmx_op *op) {
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", op->name);
    cli_json_number(json, "id", op->id);
    cli_json_text(json, "summary", op->summary);
    cli_json_text(json, "unit", op->unit);
    cli_json_bool(json, "stdin", takes_lines(op));
    cli_json_open(json, "params", '[');
    for (uint32_t i = 0; i < op->param_count; i++) {
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "name", op->params[i].name);
        cli_json_text(json, "direction", direction_name(op->params[i].direction));
        cli_json_text(json, "type", type_name(op->params[i].type));
        cli_json_text(json, "shape", shape_name(op->params[i].shape));
        cli_json_number(json, "record", op->params[i].record);
        cli_json_close(json);
    }
    cli_json_close(json);
    cli_json_close(json);
}

/* All operations, or `only` where it is not NULL. */
static void ops_json(const svmx_executor_t *executor, const struct svmx_op *only) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    struct svmx_op op = {.size = sizeof op};
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "operations", '[');
    if (only) op_json(&json, only);
    for (uint32_t i = 0; !only && svmx_op_get(executor, i, &op) == SVMX_OK; i++) op_json(&json, &op);
    cli_json_close(&json);
    cli_json_close(&json);
}

static enum cli_exit ops_run(const struct cli_args *args) {
    struct cli_session session;
    struct svmx_op op;
    const bool one = args->operand_count == 1;
    enum cli_exit code = cli_session_open_bare(&session);
    if (code != CLI_OK) return code;
    if (one) code = cli_session_op(&session, args->operands[0], &op);
    if (code == CLI_OK) {
        if (cli_args_json(args))
            ops_json(session.executor, one ? &op : NULL);
        else if (one)
            op_text(&op);
        else
            list_text(session.executor);
    }
    cli_session_close(&session);
    return code;
}

const struct cli_command cli_ops = {
    .name = "ops",
    .operands = "[NAME]",
    .summary = "operations, or the signature of one",
    .details = "",
    .operand_max = 1,
    .run = ops_run,
};
