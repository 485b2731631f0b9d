/*
 * json.h: writes one JSON document, piece by piece, as correct JSON whatever the text in it.
 *
 *   struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
 *   cli_json_open(&json, NULL, '{');
 *   cli_json_text(&json, "name", "simd");
 *   cli_json_open(&json, "devices", '[');  ...  cli_json_close(&json);
 *   cli_json_close(&json);                        // the last close ends the line
 *
 * `key` is NULL inside an array and for the document itself. Bytes that are no UTF-8 become U+FFFD.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_JSON_H
#define SVMX_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { CLI_JSON_DEPTH = 8 };

enum cli_json_form { CLI_JSON_TALL, CLI_JSON_LINE };

struct cli_json {
    FILE *out;
    enum cli_json_form form;
    unsigned depth;
    bool used[CLI_JSON_DEPTH]; /* something stands before, at this depth */
    char end[CLI_JSON_DEPTH];
};

struct cli_json cli_json_start(FILE *out, enum cli_json_form form);

/* Opens an object '{' or an array '['. */
void cli_json_open(struct cli_json *json, const char *key, char kind);
void cli_json_close(struct cli_json *json);

void cli_json_text(struct cli_json *json, const char *key, const char *text); /* NULL gives null */
void cli_json_number(struct cli_json *json, const char *key, uint64_t number);
void cli_json_literal(struct cli_json *json, const char *key,
                      const char *text); /* a number with a point, or null, as it is */
void cli_json_bool(struct cli_json *json, const char *key, bool value);

#endif
