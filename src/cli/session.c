/*
 * session.c: an executor for the length of a command. session.h says what each call gives.
 *
 * Called by the commands; the only file that turns options of the command line into struct svmx_options.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "session.h"
#include "json.h"
#include "text.h"
#include <stdio.h>
#include <string.h>

static const char reference_name[] = "none"; /* what SUPERVM_BACKENDS calls the reference code */

/* ---- opening ---- */

static void log_errors_only(void *user, enum svmx_log_level level, const char *text) {
    (void)user;
    if (level <= SVMX_LOG_ERROR) cli_error("%s", text);
}

/* Where the item of a text with a single one is pointed at, the reason alone. */
static const char *reason_of(const char *text) {
    const char *single = "options.backends: item 1", *rest = text + strlen(single);
    if (strncmp(text, single, strlen(single)) != 0) return NULL;
    const char *quoted = *rest == ':' ? rest : strstr(rest, "': ");
    return quoted ? strstr(quoted, ": ") + 2 : NULL;
}

struct named {
    char line[sizeof(((struct svmx_error *)0)->text) + 16];
};

/* The text with names of the command line. */
static struct named rename_options(const char *text, const char *backends) {
    const struct {
        const char *option, *name;
    } names[] = {{"options.backends", backends},
                 {"options.policy", "--policy"},
                 {"options.variant", "--variant"},
                 {"options.threads", "--threads"}};
    struct named named;
    snprintf(named.line, sizeof named.line, "%s", text);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at = strstr(text, names[i].option);
        if (!at) continue;
        snprintf(named.line, sizeof named.line, "%.*s%s%s", (int)(at - text), text, names[i].name,
                 at + strlen(names[i].option));
        break;
    }
    return named;
}

enum cli_exit cli_session_refused(const struct svmx_error *error, const char *backends) {
    const char *reason = strcmp(backends, "--backend") == 0 ? NULL : reason_of(error->text);
    struct named named = rename_options(error->text, backends);
    if (reason) snprintf(named.line, sizeof named.line, "%s: %s", backends, reason);
    cli_error("cannot open the executor: %s (%s)", named.line, svmx_status_name(error->status));
    return CLI_NO_EXECUTOR;
}

static enum cli_exit executor_open(struct cli_session *session, const struct svmx_options *options) {
    struct svmx_error error = {SVMX_OK, ""};
    if (svmx_open(&session->executor, options, &error) == SVMX_OK) return CLI_OK;
    return cli_session_refused(&error, session->demanded ? "--device" : "--backend");
}

/* --device ITEM as text of SUPERVM_BACKENDS: this one must load, and nothing follows it. */
static enum cli_exit demand_text(const struct cli_args *args, char *text, size_t text_bytes) {
    const char *item = args->common[CLI_DEVICE].text;
    if (args->common[CLI_BACKEND].given)
        return cli_args_refuse(args->command, "--device and --backend exclude each other");
    if (*item == '\0' || strchr("+-^", *item) || strchr(item, ',') || strlen(item) + 8 > text_bytes)
        return cli_args_refuse(args->command, "--device: '%s' is not NAME or NAME:DEVICE (--backend takes a list)",
                               item);
    if (strcmp(item, reference_name) == 0)
        snprintf(text, text_bytes, "%s", item);
    else
        snprintf(text, text_bytes, "+%s,stop", item);
    return CLI_OK;
}

bool cli_session_accepts(const struct cli_session *session, const char *backend) {
    if (!session->demanded || strcmp(session->demanded, reference_name) == 0) return true;
    size_t length = strcspn(session->demanded, ":");
    return strlen(backend) == length && memcmp(backend, session->demanded, length) == 0;
}

enum cli_exit cli_session_open(struct cli_session *session, const struct cli_args *args, bool quiet) {
    char demand[128];
    const struct cli_value *common = args->common;
    *session = (struct cli_session){.demanded = common[CLI_DEVICE].text};
    struct svmx_options options = {
        .size = sizeof options,
        .backends = common[CLI_BACKEND].text,
        .variant = common[CLI_VARIANT].text,
        .threads = (uint32_t)common[CLI_THREADS].number,
        .policy = common[CLI_POLICY].text,
        .log = quiet ? log_errors_only : NULL,
    };
    if (session->demanded) {
        enum cli_exit code = demand_text(args, demand, sizeof demand);
        if (code != CLI_OK) return code;
        options.backends = demand;
    }
    return executor_open(session, &options);
}

enum cli_exit cli_session_open_bare(struct cli_session *session) {
    struct svmx_options options = {
        .size = sizeof options, .backends = reference_name, .flags = SVMX_OPEN_NO_ENVIRONMENT};
    *session = (struct cli_session){.demanded = NULL};
    return executor_open(session, &options);
}

void cli_session_close(struct cli_session *session) {
    svmx_close(session->executor);
    session->executor = NULL;
}

/* ---- questions ---- */

static void op_unknown(const struct cli_session *session, const char *name) {
    struct cli_guess guess = cli_guess_start(name, strlen(name));
    struct svmx_op op = {.size = sizeof op};
    for (uint32_t i = 0; svmx_op_get(session->executor, i, &op) == SVMX_OK; i++) cli_guess_try(&guess, op.name);
    if (guess.best)
        cli_error("no operation is called '%s'; did you mean %s?", name, guess.best);
    else
        cli_error("no operation is called '%s'; see svmx ops", name);
}

enum cli_exit cli_session_op(const struct cli_session *session, const char *name, struct svmx_op *op) {
    *op = (struct svmx_op){.size = sizeof *op};
    for (uint32_t i = 0; svmx_op_get(session->executor, i, op) == SVMX_OK; i++)
        if (strcmp(op->name, name) == 0) return CLI_OK;
    op_unknown(session, name);
    return CLI_USAGE;
}

enum cli_exit cli_session_failed(const char *what, enum svmx_status status, const char *text) {
    cli_error("%s failed: %s%s%s", what, svmx_status_name(status), *text ? ": " : "", text);
    return CLI_FAILED;
}

/* ---- devices in words ---- */

const char *cli_device_kind(const struct svmx_device *device) {
    switch ((enum svmx_device_kind)device->kind) {
    case SVMX_DEVICE_CPU: return "cpu";
    case SVMX_DEVICE_GPU: return "gpu";
    case SVMX_DEVICE_ACCELERATOR: return "accelerator";
    case SVMX_DEVICE_MODEL: return "modelled";
    }
    return "unknown";
}

const char *cli_device_clock(const struct svmx_device *device) {
    switch ((enum svmx_device_clock)device->clock) {
    case SVMX_CLOCK_NONE: return "none";
    case SVMX_CLOCK_USED: return "used";
    case SVMX_CLOCK_REFUSED: return "refused";
    }
    return "unknown";
}

const char *cli_device_health(const struct svmx_device *device) {
    switch ((enum svmx_health)device->health) {
    case SVMX_HEALTHY: return "healthy";
    case SVMX_SUSPECT: return "suspect";
    case SVMX_RESTING: return "resting";
    case SVMX_LOST: return "lost";
    case SVMX_QUARANTINED: return "quarantined";
    }
    return "unknown";
}

const char *cli_device_load(const struct svmx_device *device) {
    switch ((enum svmx_load)device->load) {
    case SVMX_LOAD_NORMAL: return "normal";
    case SVMX_LOAD_WARNING: return "warning";
    case SVMX_LOAD_CRITICAL: return "critical";
    }
    return "unknown";
}

struct cli_health_note cli_health_note(const struct svmx_device *device) {
    struct cli_health_note note = {""};
    if (device->health == SVMX_HEALTHY) return note;
    const bool quarantined = device->health == SVMX_QUARANTINED;
    snprintf(note.line, sizeof note.line, "%s%s, %u %s: %.80s", device->usable ? "" : "GIVEN UP, ",
             cli_device_health(device), quarantined ? device->quarantined : device->strikes,
             quarantined            ? "of its operations"
             : device->strikes == 1 ? "strike"
                                    : "strikes",
             device->health_reason);
    return note;
}

void cli_device_health_json(struct cli_json *json, const struct svmx_device *device) {
    cli_json_text(json, "health", cli_device_health(device));
    cli_json_number(json, "strikes", device->strikes);
    cli_json_number(json, "quarantined", device->quarantined);
    cli_json_text(json, "health_reason", device->health_reason);
    cli_json_number(json, "device_ns", device->device_ns);
    cli_json_number(json, "backlog_ns", device->backlog_ns);
}

bool cli_device_behind_driver(const struct svmx_device *device) {
    return device->kind == SVMX_DEVICE_CPU && !(device->flags & SVMX_DEVICE_HOST_MEMORY);
}

struct cli_text cli_device_plain(const struct svmx_device *device) {
    struct cli_text words;
    snprintf(words.line, sizeof words.line, "%s%s%s", cli_device_behind_driver(device) ? " [CPU DEVICE]" : "",
             device->kind == SVMX_DEVICE_MODEL ? " [MODELLED]" : "",
             device->flags & SVMX_DEVICE_TEST ? " [TEST DEVICE]" : "");
    return words;
}

struct cli_text cli_flags_label(uint32_t flags) {
    struct cli_text words;
    const bool driver = flags & SVMX_DEVICE_SHARES_CORES && !(flags & SVMX_DEVICE_HOST_MEMORY);
    snprintf(words.line, sizeof words.line, "%s%s", driver ? " [CPU DEVICE]" : "",
             flags & SVMX_DEVICE_TEST ? " [TEST DEVICE]" : "");
    return words;
}

struct cli_device_label cli_device_label(const struct svmx_device *device) {
    struct cli_device_label label;
    bool variant = *device->variant != '\0';
    snprintf(label.line, sizeof label.line, "%s: %s%s%s%s%s", device->backend, device->name, variant ? " (" : "",
             device->variant, variant ? ")" : "", cli_device_plain(device).line);
    return label;
}
