/*
 * samples.c: see samples.h. Reads what svmx_stats_write writes: no timestamps, no spaces between labels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "samples.h"
#include "text.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The end of the labels: a '}' outside of quotation marks. NULL: there is none. */
static char *labels_end(char *at) {
    bool quoted = false;
    for (; *at; at++) {
        if (quoted && *at == '\\' && at[1])
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (*at == '}' && !quoted)
            return at;
    }
    return NULL;
}

static bool sample_read(char *line, struct cli_sample *sample) {
    static const char none[] = "";
    char *end = line + strcspn(line, "{ "), *rest = end;
    *sample = (struct cli_sample){.name = line, .labels = none};
    if (end == line || !*end) return false;
    if (*end == '{') {
        sample->labels = end + 1;
        rest = labels_end(end + 1);
        if (!rest) return false;
        *rest++ = '\0';
    }
    *end = '\0';
    if (rest == end) rest++;
    char *behind;
    sample->value = strtod(rest, &behind);
    return behind != rest && *behind == '\0';
}

bool cli_samples_read(struct cli_samples *samples, char *text) {
    *samples = (struct cli_samples){.text = text};
    char *state = NULL;
    for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
        if (*line == '#') continue;
        if (samples->count % 256 == 0)
            samples->list = cli_grow(samples->list, samples->count + 256, sizeof *samples->list);
        if (!sample_read(line, &samples->list[samples->count++])) {
            cli_samples_free(samples);
            return false;
        }
    }
    return true;
}

void cli_samples_free(struct cli_samples *samples) {
    free(samples->list);
    free(samples->text);
    *samples = (struct cli_samples){.text = NULL};
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

struct cli_label cli_sample_label(const struct cli_sample *sample, const char *key) {
    struct cli_label label = {""};
    const size_t length = strlen(key);
    size_t used = 0;
    for (const char *at = sample->labels; *at;) {
        const bool found = strncmp(at, key, length) == 0 && at[length] == '=';
        at += strcspn(at, "\"");
        if (*at) at++;
        for (; *at && *at != '"'; at++) {
            if (*at == '\\' && at[1]) at++;
            if (found && used + 1 < sizeof label.text) label.text[used++] = *at;
        }
        if (found) break;
        if (*at) at++;
        if (*at == ',') at++;
    }
    label.text[used] = '\0';
    return label;
}

double cli_samples_sum(const struct cli_samples *samples, const char *name, ...) {
    double sum = 0;
    for (size_t i = 0; i < samples->count; i++) {
        const struct cli_sample *sample = &samples->list[i];
        if (strcmp(sample->name, name) != 0) continue;
        bool fits = true;
        va_list wanted;
        va_start(wanted, name);
        for (const char *key; fits && (key = va_arg(wanted, const char *));)
            fits = strcmp(cli_sample_label(sample, key).text, va_arg(wanted, const char *)) == 0;
        va_end(wanted);
        if (fits) sum += sample->value;
    }
    return sum;
}
