/*
 * config.h: the settings of an executor: options struct, then environment, then default.
 *
 * Called by executor.c at open; read by everybody after. A new setting is one line in config.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_CONFIG_H
#define SVMX_EXECUTOR_CONFIG_H

#include "base/text.h"
#include <svmx/svmx.h>

enum svmx__setting {
    SVMX__BACKENDS,
    SVMX__BACKEND_PATH,
    SVMX__VARIANT,
    SVMX__THREADS,
    SVMX__QUEUE_DEPTH,
    SVMX__MIN_BUCKET,
    SVMX__POOL_BYTES,
    SVMX__MAX_PIPELINES,
    SVMX__TIMEOUT_MS,
    SVMX__TIMEOUT_MIN_MS,
    SVMX__LOG_LEVEL,
    SVMX__CACHE_DIR, /* its text is a path or "off", never the default as it is shown */
    SVMX__CACHE_BYTES,
    SVMX__POLICY,
    SVMX__LEARN,
    SVMX__PROBE_PERCENT,
    SVMX__RECEIPTS,
    SVMX__PROFILE, /* likewise */
    SVMX__DEBUG,
    SVMX__ISOLATE,
    SVMX__DRIVER_PROBE,
    SVMX__VERIFY,
    SVMX__LOAD_WARNING,
    SVMX__LOAD_CRITICAL,
    SVMX__STATS_DIR,
    SVMX__WINDOW,
    SVMX__PATIENCE_MS,
    SVMX__GATHER_US, /* as a number GATHER_OFF for "off" */
    SVMX__SIM_MODEL,
    SVMX__SETTING_COUNT
};

/* The most that the setting window may be. */
enum { SVMX__MAX_WINDOW = 16 };
#define SVMX__GATHER_OFF UINT64_MAX

struct svmx__config {
    /* As text, for showing and for text settings. Owned. */
    char *text[SVMX__SETTING_COUNT];
    uint32_t source[SVMX__SETTING_COUNT]; /* enum svmx_config_source */
    /* As numbers; 0 for text settings. */
    uint64_t number[SVMX__SETTING_COUNT];
};

/* Is this a set-user-ID program, whose environment belongs to somebody else? */
bool svmx__config_is_secure(void);

/* Reads and checks every setting. ARGUMENT names the field or the variable; MEMORY. On error nothing is left. */
enum svmx_status svmx__config_read(struct svmx__config *config, const struct svmx_options *options,
                                   struct svmx__text *why);
/* The setting cache_dir alone, for those who look after the cache without an executor: a path or "off", which free()
 * takes. `given` may be NULL. ARGUMENT, MEMORY. */
enum svmx_status svmx__config_cache_dir(const char *given, char **folder, struct svmx__text *why);
/* The setting profile alone, likewise. */
enum svmx_status svmx__config_profile(const char *given, char **path, struct svmx__text *why);
void svmx__config_free(struct svmx__config *config);

/* Describes a setting. */
void svmx__config_entry(const struct svmx__config *config, uint32_t setting, struct svmx_config_entry *entry);

#endif
