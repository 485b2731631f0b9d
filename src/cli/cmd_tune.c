/*
 * cmd_tune.c: `svmx tune`: smallest buckets by operation, proposed from the sizes that were seen.
 *
 *   lines OPERATION SIZE [COUNT], or what an executor counted in a short load (load.c)
 *      -> launches by operation and power of two -> the largest minimum that adds at most a tenth of padding
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json.h"
#include "lines.h"
#include "load.h"
#include "table.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_LOG2 = 8, MOST_LOG2 = 40, MAX_LINE = 256 };

/* Of the units that are launched, the part that a minimum may add; the least one adds what it adds. */
static const double MOST_ADDED = 0.1;

/* An operation, and how many launches had at most 2^i units. */
struct seen {
    struct svmx_op op;
    uint64_t counts[SVMX_SIZE_LINES], launches;
    unsigned minimum_log2;
    double added; /* of the units launched with that minimum, the part that it adds */
};

struct tune {
    const struct cli_args *args;
    struct cli_session session;
    struct seen *seen; /* of every operation, in the order of svmx ops */
    uint32_t op_count;
    const char *source; /* for messages */
};

/* ---- the rule --------------------------------------------------------------------------------------------------- */

/* Of the units that would be launched with a minimum, the part that the minimum adds to the powers of two. */
static double added_by(const struct seen *seen, unsigned minimum_log2) {
    double plain = 0, launched = 0;
    for (unsigned i = 0; i < SVMX_SIZE_LINES; i++) {
        const double count = (double)seen->counts[i];
        plain += count * (double)(UINT64_C(1) << i);
        launched += count * (double)(UINT64_C(1) << (i > minimum_log2 ? i : minimum_log2));
    }
    return launched > 0 ? (launched - plain) / launched : 0;
}

static void minimum_choose(struct seen *seen) {
    unsigned largest = LEAST_LOG2; /* a minimum above the largest size would only add */
    for (unsigned i = 0; i < SVMX_SIZE_LINES; i++)
        if (seen->counts[i] && i > largest) largest = i;
    if (largest > MOST_LOG2) largest = MOST_LOG2;
    seen->minimum_log2 = LEAST_LOG2;
    for (unsigned log2 = LEAST_LOG2; log2 <= largest; log2++)
        if (added_by(seen, log2) <= MOST_ADDED) seen->minimum_log2 = log2;
    seen->added = added_by(seen, seen->minimum_log2);
}

/* ---- where sizes come from -------------------------------------------------------------------------------------- */

static void seen_add(struct seen *seen, uint64_t size, uint64_t count) {
    unsigned line = size <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(size - 1);
    seen->counts[line < SVMX_SIZE_LINES ? line : SVMX_SIZE_LINES - 1] += count;
    seen->launches += count;
}

static struct seen *seen_find(struct tune *tune, const char *name) {
    for (uint32_t i = 0; i < tune->op_count; i++)
        if (strcmp(tune->seen[i].op.name, name) == 0) return &tune->seen[i];
    return NULL;
}

__attribute__((format(printf, 3, 4))) static enum cli_exit line_refuse(const struct tune *tune, uint64_t number,
                                                                       const char *format, ...) {
    char text[320];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    cli_error("%s, line %" PRIu64 ": %s", tune->source, number, text);
    return CLI_BAD_INPUT;
}

/* OPERATION SIZE [COUNT]; an empty line and one that starts with '#' say nothing. */
static enum cli_exit line_take(struct tune *tune, uint64_t number, char *line) {
    char *rest = NULL, *name = strtok_r(line, " \t", &rest);
    if (!name || *name == '#') return CLI_OK;
    const char *size_text = strtok_r(NULL, " \t", &rest), *count_text = strtok_r(NULL, " \t", &rest);
    uint64_t size, count = 1;
    struct seen *seen = seen_find(tune, name);
    if (!seen) return line_refuse(tune, number, "no operation is called '%.64s'; see svmx ops", name);
    if (!size_text) return line_refuse(tune, number, "the size is missing: OPERATION SIZE [COUNT]");
    if (!cli_number_parse(size_text, &size))
        return line_refuse(tune, number, "size '%.64s' is no number, or too large", size_text);
    if (count_text && !cli_number_parse(count_text, &count))
        return line_refuse(tune, number, "count '%.64s' is no number, or too large", count_text);
    if (strtok_r(NULL, " \t", &rest)) return line_refuse(tune, number, "more than OPERATION SIZE [COUNT]");
    if (count > UINT64_MAX - seen->launches) return line_refuse(tune, number, "the counts of %s are too large", name);
    seen_add(seen, size, count);
    return CLI_OK;
}

static enum cli_exit lines_take(struct tune *tune, struct cli_lines *lines) {
    for (;;) {
        char line[MAX_LINE];
        const char *text;
        size_t length;
        enum cli_lines_event event = cli_lines_next(lines, false, &text, &length);
        if (event == CLI_LINES_END) return CLI_OK;
        if (event != CLI_LINE) {
            cli_error("cannot read %s after line %" PRIu64 ": %s", tune->source, lines->number, strerror(errno));
            return CLI_BAD_INPUT;
        }
        if (length >= sizeof line || memchr(text, '\0', length))
            return line_refuse(tune, lines->number, "is longer than %d characters, or is no text", MAX_LINE - 1);
        memcpy(line, text, length);
        line[length] = '\0';
        enum cli_exit code = line_take(tune, lines->number, line);
        if (code != CLI_OK) return code;
    }
}

static enum cli_exit file_take(struct tune *tune, const char *path) {
    const bool standard = strcmp(path, "-") == 0;
    struct cli_lines lines = {.fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)};
    tune->source = standard ? "standard input" : path;
    if (lines.fd < 0) {
        cli_error("cannot open %s: %s", path, strerror(errno));
        return CLI_BAD_INPUT;
    }
    const int fd = lines.fd;
    enum cli_exit code = lines_take(tune, &lines);
    cli_lines_free(&lines);
    if (!standard) close(fd);
    return code;
}

static enum cli_exit load_take(struct tune *tune) {
    enum cli_exit code = load_run(&tune->session, tune->args);
    for (uint32_t i = 0; i < tune->op_count && code == CLI_OK; i++) {
        struct seen *seen = &tune->seen[i];
        enum svmx_status status = svmx_sizes_get(tune->session.executor, seen->op.id, seen->counts);
        if (status != SVMX_OK) return cli_session_failed("svmx_sizes_get", status, "");
        for (uint32_t line = 0; line < SVMX_SIZE_LINES; line++) seen->launches += seen->counts[line];
    }
    return code;
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

/* The minimum of all other operations: the setting as it is, without its list. */
static uint64_t minimum_of_the_rest(const struct tune *tune) {
    struct svmx_config_entry entry = {.size = sizeof entry};
    for (uint32_t i = 0; svmx_config_get(tune->session.executor, i, &entry) == SVMX_OK; i++)
        if (strcmp(entry.name, "min_bucket") == 0) return strtoull(entry.value, NULL, 10);
    return 1;
}

/* The value for SUPERVM_MIN_BUCKET; free() takes it. */
static char *setting_make(const struct tune *tune) {
    const uint64_t rest = minimum_of_the_rest(tune);
    const size_t bytes = 32 + (size_t)tune->op_count * 96;
    char *text = cli_grow(NULL, bytes, 1);
    size_t used = (size_t)snprintf(text, bytes, "%" PRIu64, rest);
    for (uint32_t i = 0; i < tune->op_count; i++) {
        const struct seen *seen = &tune->seen[i];
        if (!seen->launches || UINT64_C(1) << seen->minimum_log2 == rest) continue;
        used += (size_t)snprintf(text + used, bytes - used, ",%s=%" PRIu64, seen->op.name,
                                 UINT64_C(1) << seen->minimum_log2);
    }
    return text;
}

static void tune_text(const struct tune *tune, const char *setting) {
    struct cli_table table = cli_table_start(4);
    bool floored = false;
    table.right = 0xe;
    cli_table_row(&table, (const char *[]){"OPERATION", "LAUNCHES", "MINIMUM", "ADDED"});
    for (uint32_t i = 0; i < tune->op_count; i++) {
        const struct seen *seen = &tune->seen[i];
        if (!seen->launches) continue;
        char added[32];
        struct cli_text launches = cli_count(seen->launches), minimum = cli_count(UINT64_C(1) << seen->minimum_log2);
        const bool least = seen->added > MOST_ADDED; /* no minimum is proposed below it */
        snprintf(added, sizeof added, "%.1f %%%s", 100 * seen->added, least ? " *" : "");
        floored = floored || least;
        cli_table_row(&table, (const char *[]){seen->op.name, launches.line, minimum.line, added});
    }
    cli_table_print(&table);
    if (floored)
        printf("* more than %.0f %%, because no minimum below %u is proposed\n", 100 * MOST_ADDED, 1u << LEAST_LOG2);
    printf("\nSUPERVM_MIN_BUCKET=%s\n", setting);
}

static void tune_json(const struct tune *tune, const char *setting) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "operations", '[');
    for (uint32_t i = 0; i < tune->op_count; i++) {
        const struct seen *seen = &tune->seen[i];
        if (!seen->launches) continue;
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "name", seen->op.name);
        cli_json_number(&json, "launches", seen->launches);
        cli_json_number(&json, "min_bucket", UINT64_C(1) << seen->minimum_log2);
        cli_json_number(&json, "added_permille", (uint64_t)(1000 * seen->added + 0.5));
        cli_json_close(&json);
    }
    cli_json_close(&json);
    cli_json_text(&json, "setting", setting);
    cli_json_close(&json);
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

static enum cli_exit options_check(const struct cli_args *args) {
    for (unsigned i = 0; i < LOAD_OPTION_COUNT && args->operand_count; i++)
        if (args->own[i].given)
            return cli_args_refuse(args->command, "--%s is for a load of our own and does not go with a file",
                                   load_options[i].name);
    return CLI_OK;
}

static void ops_list(struct tune *tune) {
    tune->op_count = svmx_op_count(tune->session.executor);
    tune->seen = cli_grow(NULL, tune->op_count, sizeof *tune->seen);
    memset(tune->seen, 0, tune->op_count * sizeof *tune->seen);
    for (uint32_t i = 0; i < tune->op_count; i++) {
        tune->seen[i].op.size = sizeof tune->seen[i].op;
        (void)svmx_op_get(tune->session.executor, i, &tune->seen[i].op); /* i is in range */
    }
}

static enum cli_exit tune_run(const struct cli_args *args) {
    struct tune tune = {.args = args};
    enum cli_exit code = options_check(args);
    if (code == CLI_OK) code = cli_session_open(&tune.session, args, false);
    if (code != CLI_OK) return code;
    ops_list(&tune);
    code = args->operand_count ? file_take(&tune, args->operands[0]) : load_take(&tune);
    if (code == CLI_OK) {
        for (uint32_t i = 0; i < tune.op_count; i++) minimum_choose(&tune.seen[i]);
        char *setting = setting_make(&tune);
        if (cli_args_json(args))
            tune_json(&tune, setting);
        else
            tune_text(&tune, setting);
        free(setting);
    }
    free(tune.seen);
    cli_session_close(&tune.session);
    return code;
}

const struct cli_command cli_tune = {
    .name = "tune",
    .operands = "[FILE]",
    .summary = "propose smallest buckets from the sizes that were seen",
    .details = "FILE, or standard input for '-', has lines OPERATION SIZE [COUNT]: how many units all\n"
               "tasks of the operation in one batch had, and how often; # starts a comment. Units are as in\n"
               "receipts and svmx stats: a reduction counts blocks of elements, not elements. Without FILE\n"
               "a load as in svmx stats is run.\n"
               "\n"
               "A size is launched as the next power of two, and at least as the minimum. A large minimum\n"
               "saves pipelines and pads small launches. Proposed is the largest power of two that adds at\n"
               "most 10 % of the units that would be launched to what the powers of two launch anyway; at\n"
               "least 256, and not above the largest size. The last line can be put into the environment:\n"
               "  export \"$(svmx tune sizes.txt | tail -n 1)\"\n",
    .operand_max = 1,
    .executor = true,
    .options = load_options,
    .option_count = LOAD_OPTION_COUNT,
    .run = tune_run,
};
