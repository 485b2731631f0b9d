/*
 * cmd_cache.c: `svmx cache list|verify|clear`: what executors left on disk. Opens no executor and loads no driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "args.h"
#include "json.h"
#include "session.h"
#include "table.h"
#include "text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <svmx/svmx.h>
#include <time.h>

enum { DIR, OLDER_THAN, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [DIR] = {.name = "dir", .value = "PATH", .help = "the cache in this folder, absolute, not the one of the settings"},
    [OLDER_THAN] = {.name = "older-than",
                    .value = "DAYS",
                    .number = true,
                    .maximum = 36500,
                    .help = "list, clear: only what was not used in the last DAYS days"},
};

/* ---- entries ---- */

static bool entry_at(const svmx_cache_t *cache, uint32_t index, struct svmx_cache_entry *entry) {
    *entry = (struct svmx_cache_entry){.size = sizeof *entry};
    return svmx_cache_get(cache, index, entry) == SVMX_OK;
}

/* Does --older-than, where it is given, leave this entry in? */
static bool is_meant(const struct cli_args *args, const struct svmx_cache_entry *entry) {
    const struct cli_value *days = &args->own[OLDER_THAN];
    if (!days->given) return true;
    uint64_t now_s = (uint64_t)time(NULL), used_s = entry->used_ns / 1000000000;
    return used_s <= now_s && now_s - used_s >= days->number * 86400;
}

static const char *or_dash(const char *text) { return *text ? text : "-"; }

static const char *kind_name(uint32_t kind) {
    switch ((enum svmx_cache_kind)kind) {
    case SVMX_CACHE_PIPELINE: return "pipeline";
    case SVMX_CACHE_CHOICE: return "choice";
    }
    return "unknown";
}

/* "3 files, 1.2 MiB" */
static struct cli_text amount(uint64_t files, uint64_t bytes) {
    struct cli_text text, count = cli_counted(files, "file"), size = cli_bytes(bytes);
    snprintf(text.line, sizeof text.line, "%.30s, %.30s", count.line, size.line);
    return text;
}

/* True: there is no cache, and that was said. */
static bool is_off(const svmx_cache_t *cache) {
    if (*svmx_cache_folder(cache) != '\0') return false;
    puts("The cache is switched off (SUPERVM_CACHE_DIR).");
    return true;
}

/* ---- list ---- */

static struct cli_text local_time(uint64_t ns) {
    struct cli_text text = {"-"};
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;
    if (localtime_r(&seconds, &parts)) (void)strftime(text.line, sizeof text.line, "%Y-%m-%d %H:%M", &parts);
    return text;
}

static void entry_row(struct cli_table *table, const struct svmx_cache_entry *entry) {
    struct cli_text bytes = cli_bytes(entry->bytes), used = local_time(entry->used_ns), variant = {"-"};
    if (entry->kind == SVMX_CACHE_PIPELINE)
        snprintf(variant.line, sizeof variant.line, "%u", entry->variant);
    else if (entry->kind)
        snprintf(variant.line, sizeof variant.line, "%s", kind_name(entry->kind));
    char device[320];
    snprintf(device, sizeof device, "%s%s", or_dash(entry->device), cli_flags_label(entry->device_flags).line);
    cli_table_row(table, (const char *[]){or_dash(entry->op), variant.line, bytes.line, used.line,
                                          or_dash(entry->backend), device, or_dash(entry->driver)});
    if (!*entry->defect) return;
    char line[256];
    snprintf(line, sizeof line, "  BAD: %s: %s", entry->file, entry->defect);
    cli_table_note(table, 0, line);
}

static void list_text(const struct cli_args *args, const svmx_cache_t *cache) {
    struct cli_table table = cli_table_start(7);
    struct svmx_cache_entry entry;
    uint64_t files = 0, bytes = 0;
    if (is_off(cache)) return;
    table.right = 1u << 2;
    cli_table_row(&table, (const char *[]){"OPERATION", "VARIANT", "SIZE", "LAST USED", "BACKEND", "DEVICE", "DRIVER"});
    for (uint32_t i = 0; entry_at(cache, i, &entry); i++) {
        if (!is_meant(args, &entry)) continue;
        entry_row(&table, &entry);
        files++;
        bytes += entry.bytes;
    }
    cli_table_print(&table);
    printf("\n%s, in %s\n", amount(files, bytes).line, svmx_cache_folder(cache));
}

static void entry_json(struct cli_json *json, const struct svmx_cache_entry *entry) {
    char abi[32];
    snprintf(abi, sizeof abi, "%u.%u", entry->abi_major, entry->abi_minor);
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "file", entry->file);
    cli_json_text(json, "kind", kind_name(entry->kind));
    cli_json_text(json, "operation", entry->op);
    cli_json_number(json, "variant", entry->variant);
    cli_json_number(json, "bucket", entry->bucket);
    cli_json_text(json, "backend", entry->backend);
    cli_json_text(json, "version", entry->version);
    cli_json_text(json, "abi", abi);
    cli_json_text(json, "device", entry->device);
    cli_json_bool(json, "cpu_device", entry->device_flags & SVMX_DEVICE_SHARES_CORES);
    cli_json_bool(json, "test", entry->device_flags & SVMX_DEVICE_TEST);
    cli_json_text(json, "driver", entry->driver);
    cli_json_number(json, "bytes", entry->bytes);
    cli_json_number(json, "last_used", entry->used_ns / 1000000000);
    cli_json_text(json, "defect", entry->defect);
    cli_json_close(json);
}

static void list_json(const struct cli_args *args, const svmx_cache_t *cache) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    struct svmx_cache_entry entry;
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "folder", svmx_cache_folder(cache));
    cli_json_open(&json, "files", '[');
    for (uint32_t i = 0; entry_at(cache, i, &entry); i++)
        if (is_meant(args, &entry)) entry_json(&json, &entry);
    cli_json_close(&json);
    cli_json_close(&json);
}

static enum cli_exit list(const struct cli_args *args, svmx_cache_t *cache) {
    if (cli_args_json(args))
        list_json(args, cache);
    else
        list_text(args, cache);
    return CLI_OK;
}

/* ---- verify and clear ---- */

/* True: it is gone. A file that was written anew meanwhile stays, and is no failure. */
static bool entry_remove(svmx_cache_t *cache, uint32_t index, enum cli_exit *code) {
    struct svmx_error error = {SVMX_OK, ""};
    enum svmx_status status = svmx_cache_remove(cache, index, &error);
    if (status == SVMX_OK) return true;
    if (status != SVMX_BUSY) {
        cli_error("%s (%s)", error.text, svmx_status_name(status));
        *code = CLI_FAILED;
    }
    return false;
}

static void bad_print(struct cli_json *json, bool as_json, const struct svmx_cache_entry *entry, bool removed) {
    if (!as_json) {
        printf("bad: %s: %s; %s\n", entry->file, entry->defect, removed ? "removed" : "NOT removed");
        return;
    }
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "file", entry->file);
    cli_json_text(json, "defect", entry->defect);
    cli_json_bool(json, "removed", removed);
    cli_json_close(json);
}

static void verify_end(struct cli_json *json, bool as_json, const svmx_cache_t *cache, uint64_t bad) {
    struct cli_text files = cli_counted(svmx_cache_count(cache), "file");
    if (!as_json) {
        if (is_off(cache)) return;
        printf("%s checked in %s: %s%s\n", files.line, svmx_cache_folder(cache), bad ? cli_count(bad).line : "all",
               bad ? " bad" : " good");
        return;
    }
    cli_json_close(json);
    cli_json_text(json, "folder", svmx_cache_folder(cache));
    cli_json_number(json, "checked", svmx_cache_count(cache));
    cli_json_close(json);
}

static enum cli_exit verify(const struct cli_args *args, svmx_cache_t *cache) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    const bool as_json = cli_args_json(args);
    struct svmx_cache_entry entry;
    enum cli_exit code = CLI_OK;
    uint64_t bad = 0;
    if (as_json) {
        cli_json_open(&json, NULL, '{');
        cli_json_open(&json, "bad", '[');
    }
    for (uint32_t i = 0; entry_at(cache, i, &entry); i++) {
        if (!*entry.defect) continue;
        bad++;
        bad_print(&json, as_json, &entry, entry_remove(cache, i, &code));
    }
    verify_end(&json, as_json, cache, bad);
    return bad && code == CLI_OK ? CLI_BAD_INPUT : code;
}

static void clear_print(const struct cli_args *args, const svmx_cache_t *cache, uint64_t files, uint64_t bytes) {
    uint64_t kept = svmx_cache_count(cache) - files;
    if (!cli_args_json(args)) {
        if (is_off(cache)) return;
        printf("removed %s, from %s", amount(files, bytes).line, svmx_cache_folder(cache));
        if (kept) printf("; kept %s", cli_counted(kept, "file").line);
        putchar('\n');
        return;
    }
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "folder", svmx_cache_folder(cache));
    cli_json_number(&json, "removed", files);
    cli_json_number(&json, "bytes", bytes);
    cli_json_number(&json, "kept", kept);
    cli_json_close(&json);
}

static enum cli_exit clear(const struct cli_args *args, svmx_cache_t *cache) {
    struct svmx_cache_entry entry;
    enum cli_exit code = CLI_OK;
    uint64_t files = 0, bytes = 0;
    for (uint32_t i = 0; entry_at(cache, i, &entry); i++) {
        if (!is_meant(args, &entry) || !entry_remove(cache, i, &code)) continue;
        files++;
        bytes += entry.bytes;
    }
    clear_print(args, cache, files, bytes);
    return code;
}

/* ---- the command ---- */

static const struct action {
    const char *name;
    uint32_t flags;
    enum cli_exit (*run)(const struct cli_args *args, svmx_cache_t *cache);
} actions[] = {{"list", 0, list}, {"verify", SVMX_CACHE_CHECK, verify}, {"clear", 0, clear}};

/* NULL after a message. */
static const struct action *action_find(const struct cli_args *args) {
    const struct action *found = NULL;
    const char *dir = args->own[DIR].text;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(args->operands[0], actions[i].name) == 0) found = &actions[i];
    if (!found)
        cli_args_refuse(args->command, "'%s' is not list, verify or clear", args->operands[0]);
    else if (found->run == verify && args->own[OLDER_THAN].given)
        cli_args_refuse(args->command, "--older-than does not go with verify, which checks every file");
    else if (dir && *dir != '/')
        cli_args_refuse(args->command, "--dir: '%s' is no absolute path", dir);
    else
        return found;
    return NULL;
}

static enum cli_exit cache_run(const struct cli_args *args) {
    struct svmx_error error = {SVMX_OK, ""};
    svmx_cache_t *cache;
    const struct action *action = action_find(args);
    if (!action) return CLI_USAGE;
    enum svmx_status status = svmx_cache_open(&cache, args->own[DIR].text, action->flags, &error);
    if (status != SVMX_OK) {
        cli_error("cannot open the cache: %s (%s)", error.text, svmx_status_name(status));
        return CLI_NO_EXECUTOR;
    }
    enum cli_exit code = action->run(args, cache);
    svmx_cache_close(cache);
    return code;
}

const struct cli_command cli_cache = {
    .name = "cache",
    .operands = "list|verify|clear",
    .summary = "compiled pipelines on disk: list, check or remove them",
    .details = "list    what was compiled, for which device and driver, how large, when last used\n"
               "verify  checks every file, removes those that are bad, and exits with 1 if there were any\n"
               "clear   removes them: the next process compiles anew\n"
               "Programs may use the cache meanwhile. svmx config shows where it is.\n",
    .operand_min = 1,
    .operand_max = 1,
    .options = options,
    .option_count = OPTION_COUNT,
    .run = cache_run,
};
