/*
 * items.c: items written as lines of hex. items.h has the picture.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "items.h"
#include "hex.h"
#include "text.h"
#include <assert.h>
#include <inttypes.h>
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
    if (param->shape == SVMX_SCALAR) return param->direction == SVMX_IN;
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
        inputs = inputs || (op->params[i].direction == SVMX_IN && op->params[i].shape != SVMX_SCALAR);
    }
    return inputs || refuse(why, "it takes no bytes");
}

/* A scalar is one for a whole task: with scalars every line is a task of its own. */
static bool lines_are_tasks(const struct svmx_op *op) {
    for (uint32_t i = 0; i < op->param_count; i++)
        if (op->params[i].shape == SVMX_SCALAR) return true;
    return false;
}

void cli_items_init(struct cli_items *items, const svmx_executor_t *executor, const struct svmx_op *op) {
    *items = (struct cli_items){.op = op, .outputs = {.executor = executor, .op = op}};
}

/* ---- one argument ---- */

/* An argument as it stands on the line. */
struct word {
    const char *text;
    size_t length;
    unsigned number; /* from 1 */
    const struct svmx_param *param;
};

static void column_room(struct cli_column *column, size_t bytes) {
    if (column->data && column->capacity - column->bytes >= bytes) return;
    column->capacity = 2 * column->capacity + bytes;
    column->data = cli_grow(column->data, column->capacity, 1);
}

/* Takes 0x away, and the dash that stands for nothing. Returns the characters taken. */
static size_t word_trim(struct word *word) {
    if (word->length == 1 && *word->text == '-') word->length = 0;
    if (word->length < 2 || word->text[0] != '0' || (word->text[1] != 'x' && word->text[1] != 'X')) return 0;
    word->text += 2;
    word->length -= 2;
    return 2;
}

static bool digits_refuse(const struct word *word, size_t character, char *why) {
    return refuse(why, "argument %u (%s): character %zu is no hex digit", word->number, word->param->name, character);
}

/* The value in digits, the first of them the highest, as one writes a number; floats by their bits. */
static bool scalar_read(struct word word, struct cli_column *column, char *why) {
    const size_t most = 2 * (size_t)svmx_type_bytes((enum svmx_type)word.param->type);
    char digits[] = "0000000000000000";
    uint8_t bytes[8];
    uint64_t value = 0;
    const size_t prefix = word_trim(&word);
    if (word.length == 0) return refuse(why, "argument %u (%s) is empty: give a number", word.number, word.param->name);
    if (word.length > most)
        return refuse(why, "argument %u (%s) has %zu hex digits, may have %zu", word.number, word.param->name,
                      word.length, most);
    const size_t zeros = 16 - word.length;
    memcpy(digits + zeros, word.text, word.length);
    const size_t good = cli_hex_read(bytes, digits, 16);
    if (good < 16) return digits_refuse(&word, prefix + good - zeros + 1, why);
    for (size_t i = 0; i < sizeof bytes; i++) value = value << 8 | bytes[i];
    column_room(column, sizeof value);
    memcpy(column->data + column->bytes, &value, sizeof value);
    return true;
}

/* To the end of the column. */
static bool bytes_read(struct word word, struct cli_column *column, size_t *bytes, char *why) {
    const size_t prefix = word_trim(&word);
    column_room(column, word.length / 2);
    const size_t good = cli_hex_read(column->data + column->bytes, word.text, word.length);
    if (good < word.length) return digits_refuse(&word, prefix + good + 1, why);
    if (word.length & 1)
        return refuse(why, "argument %u (%s) has an odd number of hex digits, %zu", word.number, word.param->name,
                      word.length);
    *bytes = word.length / 2;
    return true;
}

/* Reads one argument to the end of its column, which is not moved on yet: the line may still be refused. */
static bool argument_read(struct cli_items *items, const struct word *word, size_t *bytes, char *why) {
    const struct svmx_param *param = word->param;
    struct cli_column *column = &items->columns[param - items->op->params];
    if (word->length == 0)
        return refuse(why, "argument %u (%s) is missing: one space between arguments, - for an empty one", word->number,
                      param->name);
    *bytes = sizeof(uint64_t);
    if (param->shape == SVMX_SCALAR) return scalar_read(*word, column, why);
    if (!bytes_read(*word, column, bytes, why)) return false;
    if (param->shape == SVMX_RAGGED || *bytes == param->record) return true;
    if (!lines_are_tasks(items->op))
        return refuse(why, "argument %u (%s) has %zu bytes, must have %" PRIu32, word->number, param->name, *bytes,
                      param->record);
    return *bytes % param->record == 0 ||
           refuse(why, "argument %u (%s) has %zu bytes, must have a multiple of %" PRIu32, word->number, param->name,
                  *bytes, param->record);
}

/* ---- one line ---- */

static bool is_argument(const struct svmx_param *param) {
    return param->direction == SVMX_IN && param->shape != SVMX_OFFSETS;
}

static unsigned argument_count(const struct svmx_op *op) {
    unsigned count = 0;
    for (uint32_t i = 0; i < op->param_count; i++) count += is_argument(&op->params[i]);
    return count;
}

static bool arguments_read(struct cli_items *items, const char *line, size_t length, size_t *bytes, char *why) {
    const char *end = line + length, *at = line;
    unsigned number = 0, wanted = argument_count(items->op);
    for (uint32_t i = 0; i < items->op->param_count; i++) {
        if (!is_argument(&items->op->params[i])) continue;
        if (number > 0 && at == end) return refuse(why, "it has %u of %u arguments", number, wanted);
        if (number > 0) at++; /* the space */
        const char *space = at < end ? memchr(at, ' ', (size_t)(end - at)) : NULL;
        const struct word word = {at, (size_t)((space ? space : end) - at), ++number, &items->op->params[i]};
        if (!argument_read(items, &word, &bytes[i], why)) return false;
        at += word.length;
    }
    return at == end || refuse(why, "it has more than %u argument%s", wanted, wanted == 1 ? "" : "s");
}

/* Bytes of each output of the line. */
static bool outputs_measure(struct cli_items *items, size_t *bytes, char *why) {
    const struct svmx_op *op = items->op;
    const uint32_t measure = cli_outputs_measure(op);
    const bool counted = lines_are_tasks(op) && op->params[measure].shape == SVMX_ARRAY;
    const uint64_t given = counted ? bytes[measure] / op->params[measure].record : 1;
    for (uint32_t i = 0; i < op->param_count; i++) {
        uint64_t count = 1;
        if (op->params[i].direction != SVMX_OUT) continue;
        enum svmx_status status = lines_are_tasks(op) ? cli_outputs_items(&items->outputs, i, given, &count) : SVMX_OK;
        if (status != SVMX_OK)
            return refuse(why, "no room for '%s' of %" PRIu64 " items: %s", op->params[i].name, given,
                          svmx_status_name(status));
        bytes[i] = (size_t)count * op->params[i].record;
    }
    return true;
}

static void offsets_room(struct cli_column *column, size_t count) {
    if (column->offset_capacity >= count) return;
    column->offset_capacity = 2 * count + 1024;
    column->offsets = cli_grow(column->offsets, column->offset_capacity, sizeof *column->offsets);
}

/* Takes the line's arguments into their columns, now that all are fine, and makes room for its outputs. */
static void line_keep(struct cli_items *items, const size_t *bytes) {
    for (uint32_t i = 0; i < items->op->param_count; i++) {
        struct cli_column *column = &items->columns[i];
        if (items->op->params[i].shape == SVMX_OFFSETS) {
            offsets_room(column, 2 * items->count + 2);
            column->offsets[2 * items->count] = 0;
            column->offsets[2 * items->count + 1] = bytes[i - 1];
            continue;
        }
        if (items->op->params[i].direction == SVMX_OUT) column_room(column, bytes[i]);
        offsets_room(column, items->count + 2);
        column->offsets[items->count] = column->bytes;
        column->bytes += bytes[i];
        column->offsets[items->count + 1] = column->bytes;
        if (items->op->params[i].direction == SVMX_IN) items->input_bytes += bytes[i];
    }
    items->count++;
}

bool cli_items_add(struct cli_items *items, const char *line, size_t length, char *why) {
    size_t bytes[CLI_ITEMS_PARAMS] = {0};
    if (!arguments_read(items, line, length, bytes, why) || !outputs_measure(items, bytes, why)) return false;
    line_keep(items, bytes);
    return true;
}

/* ---- tasks ---- */

size_t cli_items_tasks(const struct cli_items *items) {
    return lines_are_tasks(items->op) ? items->count : items->count > 0;
}

static struct svmx_arg scalar_arg(const struct svmx_param *param, const uint8_t *value) {
    struct svmx_arg arg = {.kind = SVMX_ARG_SCALAR, .type = param->type};
    arg.bytes = svmx_type_bytes((enum svmx_type)param->type);
    memcpy(&arg.from.bits, value, sizeof arg.from.bits);
    return arg;
}

void cli_items_args(const struct cli_items *items, size_t task, struct svmx_arg *args) {
    const bool own = lines_are_tasks(items->op);
    const size_t first = own ? task : 0, end = own ? task + 1 : items->count;
    assert(task < cli_items_tasks(items));
    for (uint32_t i = 0; i < items->op->param_count; i++) {
        const struct svmx_param *param = &items->op->params[i];
        const struct cli_column *column = &items->columns[i];
        if (param->shape == SVMX_OFFSETS) {
            args[i] = svmx_in(SVMX_U64, own ? column->offsets + 2 * task : column[-1].offsets, end - first + 1);
            continue;
        }
        uint8_t *data = column->data + column->offsets[first];
        const uint64_t bytes = column->offsets[end] - column->offsets[first];
        args[i] = param->shape == SVMX_SCALAR ? scalar_arg(param, data) : svmx_out(SVMX_U8, data, bytes);
    }
}

const uint8_t *cli_items_output(const struct cli_items *items, uint32_t param, size_t line, size_t *bytes) {
    const struct cli_column *column = &items->columns[param];
    assert(items->op->params[param].direction == SVMX_OUT && line < items->count);
    *bytes = (size_t)(column->offsets[line + 1] - column->offsets[line]);
    return column->data + column->offsets[line];
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
