/*
 * run_stdin.c: `svmx run OPERATION --stdin`: lines of hex in, lines of hex out, in bounded memory.
 *
 *   line -> items.c, until there are 65,536, or 16 MiB, or the writer pauses -> one batch -> results, in order
 *
 * A bad line ends it, after the results of the lines before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hex.h"
#include "items.h"
#include "json.h"
#include "lines.h"
#include "run.h"
#include "text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_ITEMS = 1 << 16, CHUNK_BYTES = 1 << 24 };

struct stream {
    const struct run *run;
    svmx_batch_t *batch;
    struct cli_items items;
    uint64_t printed; /* lines answered so far */
    uint64_t chunks;  /* run so far: the tag of the last one */
    struct run_answer answer;
    char *text; /* one line of results */
    size_t text_capacity;
};

/* ---- results ---- */

/* The output that says which items are valid: not printed itself, but in words. */
static bool is_valid_mark(const struct svmx_param *param) {
    return param->direction == SVMX_OUT && param->type == SVMX_U8 && param->record == 1 &&
           strcmp(param->name, "valid") == 0;
}

/* The outputs that are printed in digits. */
static bool is_result(const struct svmx_param *param) { return param->direction == SVMX_OUT && !is_valid_mark(param); }

/* Are all marks of the line set? */
static bool item_valid(const struct stream *stream, size_t item) {
    for (uint32_t i = 0; i < stream->run->op.param_count; i++) {
        size_t bytes;
        if (!is_valid_mark(&stream->run->op.params[i])) continue;
        const uint8_t *marks = cli_items_output(&stream->items, i, item, &bytes);
        if (memchr(marks, 0, bytes)) return false;
    }
    return true;
}

/* Room for all outputs of an item as text: digits, and a blank or a zero behind each; or a word. */
static void text_room(struct stream *stream, size_t item) {
    size_t room = sizeof "invalid\n";
    for (uint32_t i = 0; i < stream->run->op.param_count; i++) {
        size_t bytes;
        if (stream->run->op.params[i].direction != SVMX_OUT) continue;
        cli_items_output(&stream->items, i, item, &bytes);
        room += 2 * bytes + 2;
    }
    if (room <= stream->text_capacity) return;
    stream->text = cli_grow(stream->text, room, 1);
    stream->text_capacity = room;
}

/* An output in digits; returns where they end. */
static char *output_hex(const struct stream *stream, uint32_t param, size_t item, char *text) {
    size_t bytes;
    const uint8_t *output = cli_items_output(&stream->items, param, item, &bytes);
    cli_hex_write(text, output, bytes);
    return text + 2 * bytes;
}

/* The results, - for one that is empty, or `invalid`; `valid` where there are no other results. */
static void item_text(struct stream *stream, size_t item) {
    const bool valid = item_valid(stream, item);
    char *at = stream->text;
    for (uint32_t i = 0; valid && i < stream->run->op.param_count; i++) {
        if (!is_result(&stream->run->op.params[i])) continue;
        if (at > stream->text) *at++ = ' ';
        char *digits = at;
        at = output_hex(stream, i, item, digits);
        if (at == digits) *at++ = '-';
    }
    if (at == stream->text) at = stpcpy(at, valid ? "valid" : "invalid");
    *at++ = '\n';
    fwrite(stream->text, 1, (size_t)(at - stream->text), stdout);
}

static void item_json(struct stream *stream, size_t item) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_LINE);
    cli_json_open(&json, NULL, '{');
    cli_json_number(&json, "line", stream->printed + item + 1);
    const bool valid = item_valid(stream, item);
    cli_json_bool(&json, "valid", valid);
    cli_json_open(&json, "outputs", '[');
    for (uint32_t i = 0; valid && i < stream->run->op.param_count; i++) {
        if (!is_result(&stream->run->op.params[i])) continue;
        *output_hex(stream, i, item, stream->text) = '\0';
        cli_json_text(&json, NULL, stream->text);
    }
    cli_json_close(&json);
    cli_json_close(&json);
}

static void results_print(struct stream *stream, size_t count) {
    for (size_t i = 0; i < count; i++) {
        text_room(stream, i);
        if (stream->run->json)
            item_json(stream, i);
        else
            item_text(stream, i);
    }
    stream->printed += count;
    cli_output_flush();
}

/* ---- chunks ---- */

static enum cli_exit chunk_failed(const struct stream *stream, size_t lines, enum svmx_status status) {
    cli_error("lines %llu to %llu: %s", (unsigned long long)stream->printed + 1,
              (unsigned long long)(stream->printed + lines), svmx_batch_error(stream->batch));
    return cli_session_failed(stream->run->op.name, status, "");
}

/* Adds tasks until all are there or one is refused. */
static enum svmx_status tasks_add(struct stream *stream, size_t *added) {
    struct svmx_arg args[CLI_ITEMS_PARAMS];
    const struct svmx_op *op = &stream->run->op;
    const size_t tasks = cli_items_tasks(&stream->items);
    enum svmx_status status = svmx_batch_reset(stream->batch);
    for (*added = 0; *added < tasks && status == SVMX_OK; *added += status == SVMX_OK) {
        cli_items_args(&stream->items, *added, args);
        status = svmx_batch_add(stream->batch, op->id, args, op->param_count);
    }
    return status;
}

/* Runs the batch, which has the first lines in it, and prints their results. */
static enum cli_exit batch_run(struct stream *stream, size_t lines) {
    const bool noted = *stream->answer.reason;
    enum svmx_status status = svmx_batch_set_tag(stream->batch, ++stream->chunks);
    if (status == SVMX_OK) status = svmx_run(stream->batch);
    if (status != SVMX_OK) return chunk_failed(stream, lines, status);
    enum cli_exit code = run_answer_read(stream->run, stream->batch, &stream->answer);
    if (code != CLI_OK) return code;
    results_print(stream, lines);
    if (*stream->answer.reason && !noted && !stream->run->quiet)
        cli_error("note: another device had to answer: %s", stream->answer.reason);
    return CLI_OK;
}

/* What the operation says against a line whose hex was fine, after the results of those before it. The text begins with the
 * number of the task, which is none of the user's: the line's is. */
static enum cli_exit task_refused(struct stream *stream, size_t line) {
    char why[CLI_WHY_BYTES];
    const char *text = svmx_batch_error(stream->batch), *from = strstr(text, stream->run->op.name);
    snprintf(why, sizeof why, "%s", from ? from : text);
    enum cli_exit code = line > 0 ? batch_run(stream, line) : CLI_OK;
    if (code != CLI_OK) return code;
    cli_error("line %llu: %s", (unsigned long long)stream->printed + 1, why);
    return CLI_BAD_INPUT;
}

/* Runs the lines gathered so far and prints their results. */
static enum cli_exit chunk_run(struct stream *stream) {
    const size_t lines = stream->items.count;
    size_t added;
    if (lines == 0) return CLI_OK;
    enum svmx_status status = tasks_add(stream, &added);
    const bool refused = status == SVMX_ERR_ARGUMENT || status == SVMX_ERR_OVERFLOW;
    if (refused && cli_items_tasks(&stream->items) == lines) return task_refused(stream, added);
    if (status != SVMX_OK) return chunk_failed(stream, lines, status);
    enum cli_exit code = batch_run(stream, lines);
    cli_items_clear(&stream->items);
    return code;
}

static bool chunk_full(const struct cli_items *items) {
    return items->count >= CHUNK_ITEMS || items->input_bytes >= CHUNK_BYTES;
}

/* Prints what came before a bad line, then what is wrong with it. */
static enum cli_exit line_refused(struct stream *stream, const struct cli_lines *lines, const char *why) {
    enum cli_exit code = chunk_run(stream);
    if (code != CLI_OK) return code;
    cli_error("line %llu: %s", (unsigned long long)lines->number, why);
    return CLI_BAD_INPUT;
}

static enum cli_exit read_failed(struct stream *stream, const struct cli_lines *lines, int error) {
    enum cli_exit code = chunk_run(stream);
    if (code != CLI_OK) return code;
    cli_error("cannot read standard input after line %llu: %s", (unsigned long long)lines->number, strerror(error));
    return CLI_BAD_INPUT;
}

static enum cli_exit lines_run(struct stream *stream, struct cli_lines *lines) {
    for (;;) {
        const char *line;
        size_t length;
        char why[CLI_WHY_BYTES];
        enum cli_exit code = CLI_OK;
        switch (cli_lines_next(lines, stream->items.count > 0, &line, &length)) {
        case CLI_LINE:
            if (!cli_items_add(&stream->items, line, length, why)) return line_refused(stream, lines, why);
            if (chunk_full(&stream->items)) code = chunk_run(stream);
            break;
        case CLI_PAUSE: code = chunk_run(stream); break;
        case CLI_LINES_END: return chunk_run(stream);
        case CLI_LINES_ERROR: return read_failed(stream, lines, errno);
        }
        if (code != CLI_OK) return code;
    }
}

enum cli_exit run_stdin(const struct run *run) {
    char why[CLI_WHY_BYTES];
    struct stream stream = {.run = run};
    struct cli_lines lines = {.fd = STDIN_FILENO};
    if (!cli_items_possible(&run->op, why))
        return cli_args_refuse(run->args->command, "--stdin is for operations on bytes, and %s is none: %s",
                               run->op.name, why);
    enum svmx_status status = svmx_batch_create(run->session.executor, &stream.batch);
    if (status != SVMX_OK) return cli_session_failed("svmx_batch_create", status, "");
    cli_items_init(&stream.items, run->session.executor, &run->op);
    enum cli_exit code = lines_run(&stream, &lines);
    svmx_batch_destroy(stream.batch);
    cli_items_free(&stream.items);
    cli_lines_free(&lines);
    free(stream.text);
    return code;
}
