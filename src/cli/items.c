/*
 * items.c: items written as lines of hex. items.h has the picture.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "items.h"
#include "hex.h"
#include "text.h"
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static bool refuse(char *why, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(why, CLI_WHY_BYTES, format, list);
    va_end(list);
    return false;
}

/* ---- which operations ---- */

static bool param_possible(const struct svmx_op *op, uint32_t i) {
    const struct svmx_param *param = &op->params[i];
    if (param->shape == SVMX_OFFSETS)
        return param->type == SVMX_U64 && param->direction == SVMX_IN && i > 0 &&
               op->params[i - 1].shape == SVMX_RAGGED;
    if (param->type != SVMX_U8) return false;
    if (param->shape == SVMX_ARRAY) return param->record > 0;
    return param->shape == SVMX_RAGGED && param->direction == SVMX_IN && i + 1 < op->param_count &&
           op->params[i + 1].shape == SVMX_OFFSETS;
}

bool cli_items_possible(const struct svmx_op *op, char *why) {
    bool inputs = false;
    if (op->param_count > CLI_ITEMS_PARAMS) return refuse(why, "it has more than %d parameters", CLI_ITEMS_PARAMS);
    for (uint32_t i = 0; i < op->param_count; i++) {
        if (!param_possible(op, i)) return refuse(why, "its parameter '%s' is not made of bytes", op->params[i].name);
        inputs = inputs || op->params[i].direction == SVMX_IN;
    }
    return inputs || refuse(why, "it takes no input");
}

/* ---- one line ---- */

static bool is_argument(const struct svmx_param *param) {
    return param->direction == SVMX_IN && param->shape != SVMX_OFFSETS;
}

static void column_room(struct cli_column *column, size_t bytes) {
    if (column->data && column->capacity - column->bytes >= bytes) return;
    column->capacity = 2 * column->capacity + bytes;
    column->data = cli_grow(column->data, column->capacity, 1);
}

/* Reads one argument to the end of its column, which is not moved on yet: the line may still be refused. */
static bool argument_read(struct cli_items *items, uint32_t param, unsigned number, const char *text, size_t length,
                          size_t *bytes, char *why) {
    const char *name = items->op->params[param].name;
    if (length == 0)
        return refuse(why, "argument %u (%s) is missing: one space between arguments, - for an empty one", number,
                      name);
    if (length == 1 && *text == '-') length = 0;
    size_t prefix = length >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 2 : 0;
    size_t digits = length - prefix;
    column_room(&items->columns[param], digits / 2);
    size_t good = cli_hex_read(items->columns[param].data + items->columns[param].bytes, text + prefix, digits);
    if (good < digits)
        return refuse(why, "argument %u (%s): character %zu is no hex digit", number, name, prefix + good + 1);
    if (digits & 1) return refuse(why, "argument %u (%s) has an odd number of hex digits, %zu", number, name, digits);
    uint32_t record = items->op->params[param].record;
    *bytes = digits / 2;
    if (items->op->params[param].shape == SVMX_RAGGED || *bytes == record) return true;
    return refuse(why, "argument %u (%s) has %zu bytes, must have %u", number, name, *bytes, (unsigned)record);
}

static void offset_add(struct cli_column *column, size_t count) {
    if (column->offset_capacity < count + 2) {
        column->offset_capacity = 2 * count + 1024;
        column->offsets = cli_grow(column->offsets, column->offset_capacity, sizeof *column->offsets);
    }
    column->offsets[0] = 0;
    column->offsets[count + 1] = column->bytes;
}

/* Takes the line's arguments into their columns, now that all are fine. */
static void line_keep(struct cli_items *items, const size_t *bytes) {
    for (uint32_t i = 0; i < items->op->param_count; i++) {
        if (!is_argument(&items->op->params[i])) continue;
        items->columns[i].bytes += bytes[i];
        items->input_bytes += bytes[i];
        if (items->op->params[i].shape == SVMX_RAGGED) offset_add(&items->columns[i], items->count);
    }
    items->count++;
}

static unsigned argument_count(const struct svmx_op *op) {
    unsigned count = 0;
    for (uint32_t i = 0; i < op->param_count; i++) count += is_argument(&op->params[i]);
    return count;
}

bool cli_items_add(struct cli_items *items, const char *line, size_t length, char *why) {
    size_t bytes[CLI_ITEMS_PARAMS] = {0};
    const char *end = line + length, *at = line;
    unsigned number = 0, wanted = argument_count(items->op);
    for (uint32_t i = 0; i < items->op->param_count; i++) {
        if (!is_argument(&items->op->params[i])) continue;
        if (number > 0 && at == end) return refuse(why, "it has %u of %u arguments", number, wanted);
        if (number > 0) at++; /* the space */
        const char *space = at < end ? memchr(at, ' ', (size_t)(end - at)) : NULL;
        size_t size = (size_t)((space ? space : end) - at);
        if (!argument_read(items, i, ++number, at, size, &bytes[i], why)) return false;
        at += size;
    }
    if (at < end) return refuse(why, "it has more than %u argument%s", wanted, wanted == 1 ? "" : "s");
    line_keep(items, bytes);
    return true;
}

/* ---- the task ---- */

void cli_items_args(struct cli_items *items, struct svmx_arg *args) {
    for (uint32_t i = 0; i < items->op->param_count; i++) {
        const struct svmx_param *param = &items->op->params[i];
        struct cli_column *column = &items->columns[i];
        if (param->shape == SVMX_OFFSETS) {
            args[i] = svmx_in(SVMX_U64, items->columns[i - 1].offsets, items->count + 1);
        } else if (param->direction == SVMX_OUT) {
            size_t bytes = items->count * param->record;
            column_room(column, bytes);
            args[i] = svmx_out(SVMX_U8, column->data, bytes);
        } else
            args[i] = svmx_in(SVMX_U8, column->data, column->bytes);
    }
}

size_t cli_items_hex(const struct cli_items *items, uint32_t param, size_t index, char *text) {
    size_t record = items->op->params[param].record;
    assert(items->op->params[param].direction == SVMX_OUT && index < items->count);
    cli_hex_write(text, items->columns[param].data + index * record, record);
    return 2 * record;
}

void cli_items_clear(struct cli_items *items) {
    for (uint32_t i = 0; i < items->op->param_count; i++) items->columns[i].bytes = 0;
    items->count = items->input_bytes = 0;
}

void cli_items_free(struct cli_items *items) {
    for (uint32_t i = 0; i < CLI_ITEMS_PARAMS; i++) {
        free(items->columns[i].data);
        free(items->columns[i].offsets);
    }
}
