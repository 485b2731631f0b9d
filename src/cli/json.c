/*
 * json.c: writes one JSON document. json.h shows how. Errors of the stream are for the caller of fflush to see.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json.h"
#include "text.h"
#include <assert.h>

static void quoted(FILE *out, const char *text) {
    fputc('"', out);
    while (*text != '\0') {
        const char *start = text;
        int32_t point = cli_utf8_next(&text);
        if (point < 0)
            fputs("\\ufffd", out);
        else if (point == '"' || point == '\\')
            fprintf(out, "\\%c", (char)point);
        else if (point < 0x20 || point == 0x7f)
            fprintf(out, "\\u%04x", (unsigned)point);
        else
            fwrite(start, 1, (size_t)(text - start), out);
    }
    fputc('"', out);
}

static void line_break(const struct cli_json *json) {
    if (json->form == CLI_JSON_TALL) fprintf(json->out, "\n%*s", (int)(2 * json->depth), "");
}

/* What comes before a value: comma, place and key. */
static void lead(struct cli_json *json, const char *key) {
    if (json->depth == 0) return;
    if (json->used[json->depth - 1]) fputc(',', json->out);
    json->used[json->depth - 1] = true;
    line_break(json);
    if (!key) return;
    quoted(json->out, key);
    fputs(json->form == CLI_JSON_TALL ? ": " : ":", json->out);
}

struct cli_json cli_json_start(FILE *out, enum cli_json_form form) {
    return (struct cli_json){.out = out, .form = form};
}

void cli_json_open(struct cli_json *json, const char *key, char kind) {
    assert(json->depth < CLI_JSON_DEPTH);
    lead(json, key);
    fputc(kind, json->out);
    json->used[json->depth] = false;
    json->end[json->depth] = kind == '{' ? '}' : ']';
    json->depth++;
}

void cli_json_close(struct cli_json *json) {
    assert(json->depth > 0);
    json->depth--;
    if (json->used[json->depth]) line_break(json);
    fputc(json->end[json->depth], json->out);
    if (json->depth == 0) fputc('\n', json->out);
}

void cli_json_text(struct cli_json *json, const char *key, const char *text) {
    lead(json, key);
    if (text)
        quoted(json->out, text);
    else
        fputs("null", json->out);
}

void cli_json_number(struct cli_json *json, const char *key, uint64_t number) {
    lead(json, key);
    fprintf(json->out, "%llu", (unsigned long long)number);
}

void cli_json_literal(struct cli_json *json, const char *key, const char *text) {
    lead(json, key);
    fputs(text, json->out);
}

void cli_json_bool(struct cli_json *json, const char *key, bool value) {
    lead(json, key);
    fputs(value ? "true" : "false", json->out);
}
