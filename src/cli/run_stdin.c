/*
 * run_stdin.c: `svmx run OPERATION --stdin`: lines of hex in, lines of hex out, in bounded memory.
 *
 *   line -> items.c, until there are 65,536, or 16 MiB, or the writer pauses -> one task -> results, in order
 *
 * A bad line ends it, after the results of the lines before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
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
};

/* ---- results ---- */

/* The output that says which items are valid: not printed itself, but in words. */
static bool is_valid_mark(const struct svmx_param *param) {
    return param->direction == SVMX_OUT && param->type == SVMX_U8 && param->record == 1 &&
           strcmp(param->name, "valid") == 0;
}

/* The outputs that are printed in digits. */
static bool is_result(const struct svmx_param *param) { return param->direction == SVMX_OUT && !is_valid_mark(param); }

static bool item_valid(const struct stream *stream, size_t item) {
    for (uint32_t i = 0; i < stream->run->op.param_count; i++)
        if (is_valid_mark(&stream->run->op.params[i])) return stream->items.columns[i].data[item] != 0;
    return true;
}

/* Room for all outputs of an item as text: digits, and a blank or a zero behind each; or a word. */
static size_t text_bytes(const struct svmx_op *op) {
    size_t bytes = sizeof "invalid\n";
    for (uint32_t i = 0; i < op->param_count; i++)
        if (op->params[i].direction == SVMX_OUT) bytes += 2 * (size_t)op->params[i].record + 1;
    return bytes;
}

/* The results, or `invalid`; `valid` where there are no other results. */
static void item_text(struct stream *stream, size_t item) {
    const bool valid = item_valid(stream, item);
    char *at = stream->text;
    for (uint32_t i = 0; valid && i < stream->run->op.param_count; i++) {
        if (!is_result(&stream->run->op.params[i])) continue;
        if (at > stream->text) *at++ = ' ';
        at += cli_items_hex(&stream->items, i, item, at);
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
        stream->text[cli_items_hex(&stream->items, i, item, stream->text)] = '\0';
        cli_json_text(&json, NULL, stream->text);
    }
    cli_json_close(&json);
    cli_json_close(&json);
}

static void results_print(struct stream *stream) {
    for (size_t i = 0; i < stream->items.count; i++) {
        if (stream->run->json)
            item_json(stream, i);
        else
            item_text(stream, i);
    }
    stream->printed += stream->items.count;
    cli_output_flush();
}

/* ---- chunks ---- */

static enum cli_exit chunk_failed(const struct stream *stream, enum svmx_status status) {
    cli_error("lines %llu to %llu: %s", (unsigned long long)stream->printed + 1,
              (unsigned long long)(stream->printed + stream->items.count), svmx_batch_error(stream->batch));
    return cli_session_failed(stream->run->op.name, status, "");
}

/* Runs the lines gathered so far and prints their results. */
static enum cli_exit chunk_run(struct stream *stream) {
    struct svmx_arg args[CLI_ITEMS_PARAMS];
    const struct svmx_op *op = &stream->run->op;
    const bool noted = *stream->answer.reason;
    if (stream->items.count == 0) return CLI_OK;
    cli_items_args(&stream->items, args);
    enum svmx_status status = svmx_batch_reset(stream->batch);
    if (status == SVMX_OK) status = svmx_batch_add(stream->batch, op->id, args, op->param_count);
    if (status == SVMX_OK) status = svmx_batch_set_tag(stream->batch, ++stream->chunks);
    if (status == SVMX_OK) status = svmx_run(stream->batch);
    if (status != SVMX_OK) return chunk_failed(stream, status);
    enum cli_exit code = run_answer_read(stream->run, stream->batch, &stream->answer);
    if (code != CLI_OK) return code;
    results_print(stream);
    if (*stream->answer.reason && !noted && !stream->run->quiet)
        cli_error("note: another device had to answer: %s", stream->answer.reason);
    cli_items_clear(&stream->items);
    return CLI_OK;
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
    struct stream stream = {.run = run, .items = {.op = &run->op}};
    struct cli_lines lines = {.fd = STDIN_FILENO};
    if (!cli_items_possible(&run->op, why))
        return cli_args_refuse(run->args->command, "--stdin is for operations on bytes, and %s is none: %s",
                               run->op.name, why);
    enum svmx_status status = svmx_batch_create(run->session.executor, &stream.batch);
    if (status != SVMX_OK) return cli_session_failed("svmx_batch_create", status, "");
    stream.text = cli_grow(NULL, text_bytes(&run->op), 1);
    enum cli_exit code = lines_run(&stream, &lines);
    svmx_batch_destroy(stream.batch);
    cli_items_free(&stream.items);
    cli_lines_free(&lines);
    free(stream.text);
    return code;
}
