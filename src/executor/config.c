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

enum kind { TEXT, NUMBER, DELAY, BUCKETS, LEVEL, CACHE_FOLDER, PROFILE_FILE, FOLDER };

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
    [SVMX__MIN_BUCKET] = {"min_bucket", "SUPERVM_MIN_BUCKET", "16384",
                          "smallest bucket in units, a power of two, then ,OPERATION=NUMBER for some", BUCKETS, 1,
                          UINT64_C(1) << 40, FIELD(min_bucket)},
    [SVMX__POOL_BYTES] = {"pool_bytes", "SUPERVM_POOL_BYTES", "268435456", "idle staging memory kept for each device",
                          NUMBER, 1, UINT64_C(1) << 46, FIELD(pool_bytes)},
    [SVMX__MAX_PIPELINES] = {"max_pipelines", "SUPERVM_MAX_PIPELINES", "1024",
                             "compiled pipelines kept; the least recently used go first", NUMBER, 1, 1 << 20,
                             FIELD(max_pipelines)},
    [SVMX__TIMEOUT_MS] = {"timeout_ms", "SUPERVM_TIMEOUT_MS", "1500", "a device that takes longer is given up", NUMBER,
                          1, 3600000, FIELD(timeout_ms)},
    [SVMX__TIMEOUT_MIN_MS] = {"timeout_min_ms", "SUPERVM_TIMEOUT_MIN_MS", "50",
                              "a device always has so long, whatever was learned; at most timeout_ms", NUMBER, 1,
                              3600000, FIELD(timeout_min_ms)},
    [SVMX__LOG_LEVEL] = {"log_level", "SUPERVM_LOG", "warn", "off, error, warn, info or debug", LEVEL, 0, 0,
                         FIELD(log_level)},
    [SVMX__CACHE_DIR] = {"cache_dir", "SUPERVM_CACHE_DIR", "$XDG_CACHE_HOME/svmx, else $HOME/.cache/svmx",
                         "folder of compiled pipelines, absolute; off = none", CACHE_FOLDER, 0, 0, FIELD(cache_dir)},
    [SVMX__CACHE_BYTES] = {"cache_bytes", "SUPERVM_CACHE_BYTES", "268435456",
                           "bytes in that folder before the least recently used go", NUMBER, 1, UINT64_C(1) << 46,
                           FIELD(cache_bytes)},
    [SVMX__POLICY] = {"policy", "SUPERVM_POLICY", "auto",
                      "auto, cpu, gpu, split, order, fixed:N, auto:LOW..HIGH; then ,OPERATION=POLICY for some", TEXT, 0,
                      0, FIELD(policy)},
    [SVMX__LEARN] = {"learn", "SUPERVM_LEARN", "on",
                     "on; strict = try no device to learn; frozen = choose by the profile alone", TEXT, 0, 0,
                     FIELD(learn)},
    [SVMX__PROBE_PERCENT] = {"probe_percent", "SUPERVM_PROBE_PERCENT", "1",
                             "share of busy time that trying devices may cost", NUMBER, 0, 50, FIELD(probe_percent)},
    [SVMX__RECEIPTS] = {"receipts", "SUPERVM_RECEIPTS", "1024", "receipts that are kept", NUMBER, 1, 1 << 20,
                        FIELD(receipts)},
    [SVMX__PROFILE] = {"profile", "SUPERVM_PROFILE", "profile in the folder cache_dir",
                       "file that keeps what was measured, absolute; off = none", PROFILE_FILE, 0, 0, FIELD(profile)},
    [SVMX__DEBUG] = {"debug", "SUPERVM_DEBUG", "0",
                     "1 = the log has a line of the way of every launch, at any log_level", NUMBER, 0, 1, FIELD(debug)},
    [SVMX__ISOLATE] = {"isolate", "SUPERVM_ISOLATE", "",
                       "backends that run in a process of their own, ',' between; a crash there is a lost device", TEXT,
                       0, 0, FIELD(isolate)},
    [SVMX__DRIVER_PROBE] =
        {"driver_probe", "SUPERVM_DRIVER_PROBE", "auto",
         "try drivers in another process before they are loaded here: auto = where cache_dir keeps the "
         "verdict; on; off",
         TEXT, 0, 0, FIELD(driver_probe)},
    [SVMX__VERIFY] = {"verify", "SUPERVM_VERIFY", "off",
                      "launches computed on two backends and compared: off, sample:P of a share P of batches, full",
                      TEXT, 0, 0, FIELD(verify)},
    [SVMX__LOAD_WARNING] = {"load_warning", "SUPERVM_LOAD_WARNING", "70",
                            "percent of a device's memory or queue from which new work prefers other devices", NUMBER,
                            1, 100, FIELD(load_warning)},
    [SVMX__LOAD_CRITICAL] = {"load_critical", "SUPERVM_LOAD_CRITICAL", "90",
                             "percent of a device's memory or queue from which it gets no new work", NUMBER, 1, 100,
                             FIELD(load_critical)},
    [SVMX__STATS_DIR] = {"stats_dir", "SUPERVM_STATS_DIR", "off",
                         "folder for a file of counters that is kept up to date, absolute; off = none", FOLDER, 0, 0,
                         FIELD(stats_dir)},
    [SVMX__WINDOW] = {"window", "SUPERVM_WINDOW", "3", "launches that a device with memory of its own has at once",
                      NUMBER, 1, SVMX__MAX_WINDOW, FIELD(window)},
    [SVMX__PATIENCE_MS] = {"patience_ms", "SUPERVM_PATIENCE_MS", "5000",
                           "a call of a driver that takes so much longer than it is allowed never returns", NUMBER, 10,
                           3600000, FIELD(patience_ms)},
    [SVMX__GATHER_US] = {"gather_us", "SUPERVM_GATHER_US", "0",
                         "us that a small launch waits for others to be launched with; 0 = only those that wait; off",
                         DELAY, 0, 100000, FIELD(gather_us)},
    [SVMX__SIM_MODEL] = {"sim_model", "SUPERVM_SIM_MODEL", "",
                         "file that describes one more device of the backend sim, absolute; empty = none", TEXT, 0, 0,
                         FIELD(sim_model)},
};

/* An absolute path or "off". */
static bool is_path(const struct setting *setting) {
    return setting->kind == CACHE_FOLDER || setting->kind == PROFILE_FILE || setting->kind == FOLDER;
}

static bool is_text(const struct setting *setting) { return setting->kind == TEXT || is_path(setting); }

/* The option's value as text in `buffer`, or NULL if the caller did not set it. */
static const char *option_text(const struct setting *setting, const struct svmx_options *options, char buffer[32]) {
    const unsigned char *field = (const unsigned char *)options + setting->field;
    if (is_text(setting)) {
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
    if (setting->kind == DELAY && number == SVMX_GATHER_OFF) return "off";
    if (number == SVMX_ZERO && setting->low == 0) number = 0; /* of a number that may be 0, and was set to it */
    if (setting->kind == LEVEL && number <= SVMX_LOG_DEBUG) return svmx__log_level_name((enum svmx_log_level)number);
    (void)snprintf(buffer, 32, "%" PRIu64, number);
    return buffer;
}

static bool number_parse(const struct setting *setting, const char *text, uint64_t *number) {
    if (text[0] < '0' || text[0] > '9') return false; /* strtoull would take signs and blanks */
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    bool ended = *end == '\0' || (*end == ',' && setting->kind == BUCKETS); /* min_bucket.c reads on */
    if (errno || !ended || value < setting->low || value > setting->high) return false;
    if (setting->kind == BUCKETS && (value & (value - 1))) return false;
    *number = value;
    return true;
}

/* Checks a value and turns it into a number. `origin` is how the user knows the setting. */
static enum svmx_status value_check(const struct setting *setting, const char *origin, const char *text,
                                    uint64_t *number, struct svmx__text *why) {
    if (setting->kind == TEXT) return SVMX_OK;
    if (is_path(setting)) {
        if (*text == '/' || strcmp(text, "off") == 0) return SVMX_OK;
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s is '%.200s': give an absolute path, or off", origin, text);
    }
    if (setting->kind == LEVEL) {
        enum svmx_log_level level;
        if (!svmx__log_level_parse(text, &level))
            return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s is '%s': give off, error, warn, info or debug", origin, text);
        *number = level;
        return SVMX_OK;
    }
    if (strcmp(text, "auto") == 0 && strcmp(setting->fallback, "auto") == 0) return SVMX_OK;
    if (setting->kind == DELAY && strcmp(text, "off") == 0) {
        *number = SVMX__GATHER_OFF;
        return SVMX_OK;
    }
    if (!number_parse(setting, text, number))
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s is '%s': give %s from %" PRIu64 " to %" PRIu64 "%s", origin, text,
                          setting->kind == BUCKETS ? "a power of two" : "a whole number", setting->low, setting->high,
                          strcmp(setting->fallback, "auto") == 0 ? ", or auto"
                          : setting->kind == DELAY               ? ", or off"
                                                                 : "");
    return SVMX_OK;
}

/* Where a user keeps what can be made again, by the XDG base directory specification, which ignores relative paths. */
static char *default_cache_folder(bool environment) {
    const char *base = environment ? getenv("XDG_CACHE_HOME") : NULL, *home = environment ? getenv("HOME") : NULL;
    char *folder = NULL;
    int length = 0;
    if (base && *base == '/')
        length = asprintf(&folder, "%s/svmx", base);
    else if (home && *home == '/')
        length = asprintf(&folder, "%s/.cache/svmx", home);
    else
        folder = strdup("off");
    return length < 0 ? NULL : folder;
}

/* Beside what the cache keeps; off where that is. */
static char *default_profile(const struct svmx__config *config) {
    const char *folder = config->text[SVMX__CACHE_DIR];
    char *file = NULL;
    if (strcmp(folder, "off") == 0) return strdup("off");
    return asprintf(&file, "%s/profile", folder) < 0 ? NULL : file;
}

static char *default_path(const struct svmx__config *config, const struct setting *setting, bool environment) {
    return setting->kind == CACHE_FOLDER ? default_cache_folder(environment) : default_profile(config);
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
    /* a default that depends on the rest */
    bool own = is_path(setting) && setting->kind != FOLDER && config->source[at] == SVMX_FROM_DEFAULT;
    enum svmx_status status = own ? SVMX_OK : value_check(setting, origin, text, &config->number[at], why);
    if (status != SVMX_OK) return status;
    config->text[at] = own ? default_path(config, setting, environment) : strdup(text);
    return config->text[at] ? SVMX_OK : svmx__fail(why, SVMX_ERR_MEMORY, "no memory for settings");
}

bool svmx__config_is_secure(void) { return getauxval(AT_SECURE) != 0; }

static bool may_read_environment(const struct svmx_options *options) {
    return !(options->flags & SVMX_OPEN_NO_ENVIRONMENT) && !svmx__config_is_secure();
}

enum svmx_status svmx__config_read(struct svmx__config *config, const struct svmx_options *options,
                                   struct svmx__text *why) {
    bool environment = may_read_environment(options);
    *config = (struct svmx__config){0};
    for (uint32_t i = 0; i < SVMX__SETTING_COUNT; i++) {
        enum svmx_status status = setting_read(config, i, options, environment, why);
        if (status == SVMX_OK) continue;
        svmx__config_free(config);
        return status;
    }
    return SVMX_OK;
}

/* One path without the rest. The profile's default needs the folder, which is read first. */
static enum svmx_status path_read(const struct svmx_options *options, uint32_t at, char **path,
                                  struct svmx__text *why) {
    const bool environment = may_read_environment(options);
    struct svmx__config config = {0};
    enum svmx_status status = setting_read(&config, SVMX__CACHE_DIR, options, environment, why);
    if (status == SVMX_OK && at != SVMX__CACHE_DIR) status = setting_read(&config, at, options, environment, why);
    if (status == SVMX_OK) {
        *path = config.text[at];
        config.text[at] = NULL;
    }
    svmx__config_free(&config);
    return status;
}

enum svmx_status svmx__config_cache_dir(const char *given, char **folder, struct svmx__text *why) {
    const struct svmx_options options = {.size = sizeof options, .cache_dir = given};
    return path_read(&options, SVMX__CACHE_DIR, folder, why);
}

enum svmx_status svmx__config_profile(const char *given, char **path, struct svmx__text *why) {
    const struct svmx_options options = {.size = sizeof options, .profile = given};
    return path_read(&options, SVMX__PROFILE, path, why);
}

void svmx__config_free(struct svmx__config *config) {
    for (uint32_t i = 0; i < SVMX__SETTING_COUNT; i++) free(config->text[i]);
    *config = (struct svmx__config){0};
}

void svmx__config_entry(const struct svmx__config *config, uint32_t setting, struct svmx_config_entry *entry) {
    *entry = (struct svmx_config_entry){.size = sizeof *entry,
                                        .name = settings[setting].name,
                                        .variable = settings[setting].variable,
                                        .value = config->text[setting],
                                        .default_value = settings[setting].fallback,
                                        .help = settings[setting].help,
                                        .source = config->source[setting]};
}
