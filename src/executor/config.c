/*
 * config.c: see config.h. The table below is the list of settings: name, variable, default, limits, help.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/config.h"

#include "base/log.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum kind { TEXT, NUMBER, POWER_OF_TWO, LEVEL };

struct setting {
    const char *name, *variable, *fallback, *help;
    enum kind kind;
    uint64_t low, high; /* of numbers */
    size_t field;       /* in struct svmx_options */
    size_t field_bytes;
};

#define FIELD(f) offsetof(struct svmx_options, f), sizeof(((struct svmx_options *)0)->f)

static const struct setting settings[SVMX__SETTING_COUNT] = {
    [SVMX__BACKENDS] = {"backends", "SUPERVM_BACKENDS", "", "which backends, in order of preference; empty = all", TEXT,
                        0, 0, FIELD(backends)},
    [SVMX__BACKEND_PATH] = {"backend_path", "SUPERVM_BACKEND_PATH", SVMX_BACKEND_DIR,
                            "folders of backend plugins, absolute, ':' between", TEXT, 0, 0, FIELD(backend_path)},
    [SVMX__VARIANT] = {"variant", "SUPERVM_VARIANT", "", "kernel variant of CPU backends; empty = the best", TEXT, 0, 0,
                       FIELD(variant)},
    [SVMX__THREADS] = {"threads", "SUPERVM_THREADS", "auto", "threads of a CPU backend; auto = all the process may use",
                       NUMBER, 1, 1024, FIELD(threads)},
    [SVMX__QUEUE_DEPTH] = {"queue_depth", "SUPERVM_QUEUE_DEPTH", "256", "batches under way before submit pushes back",
                           NUMBER, 1, 1 << 20, FIELD(queue_depth)},
    [SVMX__MIN_BUCKET] = {"min_bucket", "SUPERVM_MIN_BUCKET", "16384", "smallest bucket in units, a power of two",
                          POWER_OF_TWO, 1, UINT64_C(1) << 40, FIELD(min_bucket)},
    [SVMX__POOL_BYTES] = {"pool_bytes", "SUPERVM_POOL_BYTES", "268435456", "idle staging memory kept for each device",
                          NUMBER, 1, UINT64_C(1) << 46, FIELD(pool_bytes)},
    [SVMX__TIMEOUT_MS] = {"timeout_ms", "SUPERVM_TIMEOUT_MS", "1500", "a device that takes longer is given up", NUMBER,
                          1, 3600000, FIELD(timeout_ms)},
    [SVMX__LOG_LEVEL] = {"log_level", "SUPERVM_LOG", "warn", "off, error, warn, info or debug", LEVEL, 0, 0,
                         FIELD(log_level)},
};

/* The option's value as text in `buffer`, or NULL if the caller did not set it. */
static const char *option_text(const struct setting *setting, const struct svmx_options *options, char buffer[32]) {
    const unsigned char *field = (const unsigned char *)options + setting->field;
    if (setting->kind == TEXT) {
        const char *text;
        memcpy(&text, field, sizeof text);
        return text;
    }
    uint32_t narrow = 0;
    uint64_t number = 0;
    if (setting->field_bytes == sizeof narrow) {
        memcpy(&narrow, field, sizeof narrow);
        number = narrow;
    } else {
        memcpy(&number, field, sizeof number);
    }
    if (number == 0) return NULL;
    if (setting->kind == LEVEL && number <= SVMX_LOG_DEBUG) return svmx__log_level_name((enum svmx_log_level)number);
    (void)snprintf(buffer, 32, "%" PRIu64, number);
    return buffer;
}

static bool number_parse(const struct setting *setting, const char *text, uint64_t *number) {
    if (text[0] < '0' || text[0] > '9') return false; /* strtoull would take signs and blanks */
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end || value < setting->low || value > setting->high) return false;
    if (setting->kind == POWER_OF_TWO && (value & (value - 1))) return false;
    *number = value;
    return true;
}

/* Checks a value and turns it into a number. `origin` is how the user knows the setting. */
static enum svmx_status value_check(const struct setting *setting, const char *origin, const char *text,
                                    uint64_t *number, struct svmx__text *why) {
    if (setting->kind == TEXT) return SVMX_OK;
    if (setting->kind == LEVEL) {
        enum svmx_log_level level;
        if (!svmx__log_level_parse(text, &level))
            return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s is '%s': give off, error, warn, info or debug", origin, text);
        *number = level;
        return SVMX_OK;
    }
    if (strcmp(text, "auto") == 0 && strcmp(setting->fallback, "auto") == 0) return SVMX_OK;
    if (!number_parse(setting, text, number))
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s is '%s': give %s from %" PRIu64 " to %" PRIu64 "%s", origin, text,
                          setting->kind == POWER_OF_TWO ? "a power of two" : "a whole number", setting->low,
                          setting->high, strcmp(setting->fallback, "auto") == 0 ? ", or auto" : "");
    return SVMX_OK;
}

static enum svmx_status setting_read(struct svmx__config *config, uint32_t at, const struct svmx_options *options,
                                     bool environment, struct svmx__text *why) {
    const struct setting *setting = &settings[at];
    char buffer[32], origin[64];
    const char *text = option_text(setting, options, buffer);
    config->source[at] = SVMX_FROM_OPTIONS;
    (void)snprintf(origin, sizeof origin, "options.%s", setting->name);
    if (!text && environment && (text = getenv(setting->variable))) {
        config->source[at] = SVMX_FROM_ENVIRONMENT;
        (void)snprintf(origin, sizeof origin, "%s", setting->variable);
    }
    if (!text) {
        config->source[at] = SVMX_FROM_DEFAULT;
        text = setting->fallback;
    }
    enum svmx_status status = value_check(setting, origin, text, &config->number[at], why);
    if (status != SVMX_OK) return status;
    config->text[at] = strdup(text);
    return config->text[at] ? SVMX_OK : svmx__fail(why, SVMX_ERR_MEMORY, "no memory for settings");
}

enum svmx_status svmx__config_read(struct svmx__config *config, const struct svmx_options *options,
                                   struct svmx__text *why) {
    /* In a set-user-ID program the environment belongs to somebody else. */
    bool environment = !(options->flags & SVMX_OPEN_NO_ENVIRONMENT) && !getauxval(AT_SECURE);
    *config = (struct svmx__config){0};
    for (uint32_t i = 0; i < SVMX__SETTING_COUNT; i++) {
        enum svmx_status status = setting_read(config, i, options, environment, why);
        if (status == SVMX_OK) continue;
        svmx__config_free(config);
        return status;
    }
    return SVMX_OK;
}

void svmx__config_free(struct svmx__config *config) {
    for (uint32_t i = 0; i < SVMX__SETTING_COUNT; i++) free(config->text[i]);
    *config = (struct svmx__config){0};
}

void svmx__config_entry(const struct svmx__config *config, uint32_t setting, struct svmx_config_entry *entry) {
    entry->name = settings[setting].name;
    entry->variable = settings[setting].variable;
    entry->default_value = settings[setting].fallback;
    entry->help = settings[setting].help;
    entry->value = config->text[setting];
    entry->source = config->source[setting];
    entry->reserved = 0;
}
