/*
 * cmd_conform.c: `svmx conform PLUGIN`: does a backend, ours or a stranger's, give the bytes of the reference code?
 *
 *   PLUGIN -> folder and name -> an executor a device, with nothing else in it -> conform_op.c for every operation
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conform.h"
#include "text.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONFORM_OP, CONFORM_SIZE, CONFORM_DEVICE, CONFORM_OPTION_COUNT };

static const struct cli_option conform_options[CONFORM_OPTION_COUNT] = {
    [CONFORM_OP] = {.name = "op", .value = "NAME", .help = "this operation only"},
    [CONFORM_SIZE] = {.name = "size",
                      .value = "N",
                      .number = true,
                      .maximum = UINT64_MAX,
                      .help = "tasks of N units only, instead of sizes from 0 on"},
    [CONFORM_DEVICE] = {.name = "device",
                        .value = "DEVICE",
                        .help = "this device only: its number in the backend, or its name;\nelse all, one by one"},
};

/* ---- which plugin ----------------------------------------------------------------------------------------------- */

struct target {
    const struct cli_args *args;
    char *path; /* as realpath gives it, cut after the folder; NULL: where plugins are by the settings */
    char name[64];
    char shown[4096]; /* the file, or the name */
};

static bool is_path(const char *text) {
    size_t length = strlen(text);
    return strchr(text, '/') || (length > 3 && strcmp(text + length - 3, ".so") == 0);
}

static enum cli_exit path_take(struct target *target, const char *text) {
    target->path = realpath(text, NULL);
    if (!target->path) {
        cli_error("cannot open the plugin '%s': %s", text, strerror(errno));
        return CLI_NO_EXECUTOR;
    }
    snprintf(target->shown, sizeof target->shown, "%s", target->path);
    char *base = strrchr(target->path, '/') + 1;
    size_t length = strlen(base);
    if (length <= 3 || strcmp(base + length - 3, ".so") != 0 || length - 3 >= sizeof target->name)
        return cli_args_refuse(target->args->command, "'%s' is not called NAME.so", text);
    memcpy(target->name, base, length - 3);
    target->name[length - 3] = '\0';
    base[base - 1 == target->path ? 0 : -1] = '\0';
    if (!strchr(target->path, ':')) return CLI_OK;
    return cli_args_refuse(target->args->command, "'%s': a folder of plugins has no ':' in its name", target->path);
}

static enum cli_exit target_find(struct target *target) {
    const char *text = target->args->operands[0];
    if (is_path(text)) return path_take(target, text);
    if (*text == '\0' || strlen(text) >= sizeof target->name || strpbrk(text, ",:+-^ "))
        return cli_args_refuse(target->args->command, "'%s' is neither a file NAME.so nor the name of a backend", text);
    snprintf(target->name, sizeof target->name, "%s", text);
    snprintf(target->shown, sizeof target->shown, "%s", text);
    return CLI_OK;
}

/* ---- a device --------------------------------------------------------------------------------------------------- */

/* Keeps what tells why the device is not used; errors are shown as they come. */
static void log_take(void *user, enum svmx_log_level level, const char *text) {
    struct conform_log *log = user;
    if (level <= SVMX_LOG_ERROR) cli_error("%s", text);
    pthread_mutex_lock(&log->lock);
    size_t length = log->op ? strlen(log->op) : 0;
    const char *off = strstr(text, " is off: "), *gone = strstr(text, " is given up: ");
    if (off && length && strncmp(text, log->op, length) == 0 && text[length] == ' ')
        snprintf(log->reason, sizeof log->reason, "%s", off + strlen(" is off: "));
    if (gone) snprintf(log->gone, sizeof log->gone, "the device was given up: %s", gone + strlen(" is given up: "));
    pthread_mutex_unlock(&log->lock);
}

/* Devices of the backend, and the first of them. */
static uint32_t devices_count(struct conform *conform) {
    struct svmx_device device = {.size = sizeof device};
    uint32_t count = 0;
    for (uint32_t i = 0; svmx_device_get(conform->tested.executor, i, &device) == SVMX_OK; i++) {
        if (strcmp(device.backend, conform->backend) != 0) continue;
        if (count++ > 0) continue;
        conform->device_id = i;
        conform->device = device;
    }
    return count;
}

/* An executor with this backend, or this device of it, and the reference code. Without the profile: an operation that gave
 * wrong bytes before is to give them again, and what is wrong today may be mended tomorrow under the same version. */
static enum cli_exit tested_open(struct conform *conform, const struct target *target, const char *device) {
    char backends[256];
    struct svmx_error error = {SVMX_OK, ""};
    snprintf(backends, sizeof backends, "+%s%s%s,stop", target->name, device ? ":" : "", device ? device : "");
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = backends,
                                         .backend_path = target->path,
                                         .profile = "off",
                                         .log_level = SVMX_LOG_WARN,
                                         .log = log_take,
                                         .log_user = &conform->log};
    if (svmx_open(&conform->tested.executor, &options, &error) == SVMX_OK) return CLI_OK;
    return cli_session_refused(&error, device ? "--device" : "PLUGIN");
}

static void conform_close(struct conform *conform) {
    cli_session_close(&conform->tested);
    cli_session_close(&conform->reference);
    pthread_mutex_destroy(&conform->log.lock);
    free(conform->results);
    *conform = (struct conform){.backend = conform->backend};
}

static enum cli_exit conform_open(struct conform *conform, const struct target *target, const char *device,
                                  uint32_t *count) {
    const struct cli_value *own = target->args->own;
    *conform =
        (struct conform){.backend = target->name, .sized = own[CONFORM_SIZE].given, .size = own[CONFORM_SIZE].number};
    pthread_mutex_init(&conform->log.lock, NULL); /* cannot fail with default attributes */
    enum cli_exit code = cli_session_open_bare(&conform->reference);
    if (code == CLI_OK) code = tested_open(conform, target, device);
    if (code == CLI_OK && (*count = devices_count(conform)) == 0) {
        cli_error("%s has no device here; see svmx devices", target->name);
        code = CLI_NO_EXECUTOR;
    }
    if (code != CLI_OK) conform_close(conform);
    return code;
}

/* Every operation, or the one that the user named. */
static enum cli_exit conform_run_ops(struct conform *conform, const char *only) {
    struct svmx_op op = {.size = sizeof op};
    enum cli_exit code = only ? cli_session_op(&conform->reference, only, &op) : CLI_OK;
    conform->results = cli_grow(NULL, svmx_op_count(conform->reference.executor), sizeof *conform->results);
    for (uint32_t i = 0; code == CLI_OK && svmx_op_get(conform->reference.executor, i, &op) == SVMX_OK; i++) {
        if (only && strcmp(op.name, only) != 0) continue;
        struct conform_result *result = &conform->results[conform->result_count++];
        *result = (struct conform_result){.op = op};
        code = conform_op(conform, result);
    }
    return code;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

/* How many devices are to be tried: one that the user named, or all of the backend. */
static enum cli_exit devices_find(const struct target *target, uint32_t *count) {
    struct conform conform;
    enum cli_exit code = conform_open(&conform, target, target->args->own[CONFORM_DEVICE].text, count);
    if (code != CLI_OK) return code;
    if (target->args->own[CONFORM_DEVICE].given) *count = 1;
    conform_close(&conform);
    return CLI_OK;
}

static enum cli_exit devices_try(const struct target *target, struct conform *devices, uint32_t count) {
    const char *given = target->args->own[CONFORM_DEVICE].text;
    for (uint32_t i = 0; i < count; i++) {
        char number[16];
        uint32_t found;
        snprintf(number, sizeof number, "%u", i);
        enum cli_exit code = conform_open(&devices[i], target, given ? given : count > 1 ? number : NULL, &found);
        if (code == CLI_OK) code = conform_run_ops(&devices[i], target->args->own[CONFORM_OP].text);
        if (code != CLI_OK) return code;
        if (!cli_args_json(target->args)) conform_text(&devices[i]);
    }
    return CLI_OK;
}

static enum cli_exit target_try(const struct target *target, uint32_t count) {
    struct conform *devices = cli_grow(NULL, count, sizeof *devices);
    memset(devices, 0, count * sizeof *devices);
    enum cli_exit code = devices_try(target, devices, count);
    bool good = code == CLI_OK, empty = code == CLI_OK;
    for (uint32_t i = 0; i < count; i++) {
        good = good && conform_good(&devices[i]);
        empty = empty && conform_empty(&devices[i]);
    }
    if (code == CLI_OK && cli_args_json(target->args)) conform_json(devices, count, target->shown, good);
    if (code == CLI_OK && !cli_args_json(target->args))
        printf("%s%s\n", target->shown,
               good    ? " conforms"
               : empty ? ": nothing to compare, it offers no operation that was asked for"
                       : " DOES NOT CONFORM");
    for (uint32_t i = 0; i < count; i++)
        if (devices[i].tested.executor) conform_close(&devices[i]);
    free(devices);
    return code == CLI_OK && !good ? CLI_FAILED : code;
}

static enum cli_exit conform_run(const struct cli_args *args) {
    struct target target = {.args = args};
    const char *device = args->own[CONFORM_DEVICE].text;
    uint32_t count = 0;
    if (device && (*device == '\0' || strchr(device, ',') || strlen(device) > 63))
        return cli_args_refuse(args->command, "--device: '%s' is not the number or the name of one device", device);
    enum cli_exit code = target_find(&target);
    if (code == CLI_OK) code = devices_find(&target, &count);
    if (code == CLI_OK) code = target_try(&target, count);
    free(target.path);
    return code;
}

const struct cli_command cli_conform = {
    .name = "conform",
    .operands = "PLUGIN",
    .summary = "compare a backend with the reference code, byte for byte",
    .details = "PLUGIN is a file NAME.so, or the name of a backend that svmx devices shows. It is loaded\n"
               "alone. Every operation runs in many sizes on harmless and on wild data (NaNs, infinities,\n"
               "denormals, any bits), alone and many tasks a batch; a verdict:\n"
               "  exact          every byte is that of the reference code, and the device computed it\n"
               "  WRONG          a byte differs: the first one is shown\n"
               "  refused        the device failed its known answers or a batch, with the reason\n"
               "  not supported  the plugin does not offer the operation, which is no fault\n"
               "Devices made for tests are slow and get smaller sizes. The exit status is 0 if nothing\n"
               "is wrong or refused and something is exact, else 4, also if there is nothing to compare.\n"
               "  svmx conform ./template.so --op vec_add_f32\n",
    .operand_min = 1,
    .operand_max = 1,
    .options = conform_options,
    .option_count = CONFORM_OPTION_COUNT,
    .run = conform_run,
};
