/*
 * probe.c: see probe.h.
 *
 * A verdict is one line in a file of the cache folder, "probed-BACKEND":  svmx-probe 1 PRINT ok|bad REASON
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "isolate/probe.h"

#include "cache/folder.h"
#include "cache/key.h"
#include "isolate/drivers.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAD_HOLDS_S = 3600 };

struct verdict {
    uint64_t print;
    bool bad;
    char reason[200];
};

/* ---- on disk ---------------------------------------------------------------------------------------------------- */

static void name_file(char name[48], const char *backend) { (void)snprintf(name, 48, "probed-%.31s", backend); }

static bool parse(const char *text, struct verdict *verdict) {
    char word[4];
    int end = 0;
    if (sscanf(text, "svmx-probe 1 %16" SCNx64 " %3s%n", &verdict->print, word, &end) != 2) return false;
    verdict->bad = strcmp(word, "bad") == 0;
    if (!verdict->bad && strcmp(word, "ok") != 0) return false;
    (void)snprintf(verdict->reason, sizeof verdict->reason, "%.*s", (int)strcspn(text + end, "\n"), text + end);
    return true;
}

/* One against a driver that is old says nothing any more; so does one from the future. */
static bool is_fresh(const struct stat *info) {
    const time_t now = time(NULL);
    return info->st_mtim.tv_sec <= now + 60 && now - info->st_mtim.tv_sec < BAD_HOLDS_S;
}

/* The folder of verdicts, if one can be kept there; -1: none. */
static int open_folder(const struct svmx__probe_config *config) {
    struct svmx__text why = {"it cannot be written"};
    int folder = -1;
    if (!config->folder) return -1;
    const enum svmx_status status = svmx__folder_open(config->folder, true, &folder, &why);
    if (status == SVMX_OK && faccessat(folder, ".", W_OK, AT_EACCESS) == 0) return folder;
    if (status == SVMX_OK) (void)close(folder);
    svmx__log(config->log, SVMX_LOG_INFO, "no verdicts on the drivers of %s are kept: %s", config->proxy.name,
              why.line);
    return -1;
}

/* false: there is none for these drivers. What is unsafe or broken is none. */
static bool recall(int folder, const char *backend, uint64_t print, struct verdict *verdict) {
    struct svmx__text why;
    struct svmx__folder_file file;
    char name[48], text[300] = "";
    name_file(name, backend);
    if (folder < 0 || svmx__folder_open_file(folder, name, &file, &why) != SVMX_OK) return false;
    text[svmx__folder_read(&file, text, sizeof text - 1)] = '\0';
    (void)close(file.fd);
    return parse(text, verdict) && verdict->print == print && (!verdict->bad || is_fresh(&file.info));
}

static void keep(const struct svmx__probe_config *config, int folder, const struct verdict *verdict) {
    struct svmx__text why = {""};
    char name[48], text[300];
    if (folder < 0) return;
    name_file(name, config->proxy.name);
    const int length = snprintf(text, sizeof text, "svmx-probe 1 %016" PRIx64 " %s%s\n", verdict->print,
                                verdict->bad ? "bad " : "ok", verdict->reason);
    if (svmx__folder_write(folder, name, text, (size_t)length, &why) != SVMX_OK)
        svmx__log(config->log, SVMX_LOG_INFO, "the verdict on the drivers of %s is not kept: %s", config->proxy.name,
                  why.line);
}

/* ---- trying ----------------------------------------------------------------------------------------------------- */

/* A host for a proxy, which has no use for the other upcalls: it passes options on and keeps the last error to itself,
 * since the plugin will log all that again when it is loaded. */
struct listener {
    struct svmx_host base; /* first: it is given back */
    const struct svmx_host *host;
    char line[200];
};

static struct listener *listener_of(const struct svmx_host *base) { return (struct listener *)(uintptr_t)base; }

static void listen_log(const struct svmx_host *base, enum svmx_log_level level, const char *text) {
    struct listener *listener = listener_of(base);
    if (level == SVMX_LOG_ERROR) (void)snprintf(listener->line, sizeof listener->line, "%s", text);
}

static const char *listen_option(const struct svmx_host *base, const char *key) {
    const struct svmx_host *host = listener_of(base)->host;
    return host->option(host, key);
}

/* false: no process could be had. */
static bool try_it(const struct svmx__probe_config *config, const struct svmx_host *host, struct verdict *verdict) {
    struct listener listener = {.base = {.size = sizeof listener.base, .log = listen_log, .option = listen_option},
                                .host = host};
    struct svmx_backend backend;
    const enum svmx_status status = svmx__proxy_open(&config->proxy, &listener.base, &backend);
    if (status == SVMX_OK) backend.ops->close(backend.self);
    verdict->bad = status == SVMX_ERR_DEVICE_LOST;
    (void)snprintf(verdict->reason, sizeof verdict->reason, "%s", verdict->bad ? listener.line : "");
    if (status != SVMX_ERR_SYSTEM && status != SVMX_ERR_PERMISSION && status != SVMX_ERR_MEMORY) return true;
    svmx__log(config->log, SVMX_LOG_INFO, "the drivers of %s are not tried in another process: %s", config->proxy.name,
              listener.line);
    return false;
}

/* A backend may look at its devices in another way when the user selects some. */
static uint64_t print_of(const struct svmx__probe_config *config, const struct svmx_host *host) {
    const uint64_t print = svmx__drivers_print(config->proxy.name, config->proxy.path);
    const char *select = host->option(host, "select");
    return select ? svmx__hash64(select, strlen(select), print) : print;
}

enum svmx_status svmx__probe(const struct svmx__probe_config *config, const struct svmx_host *host,
                             struct svmx__text *why) {
    struct verdict verdict;
    const int folder = open_folder(config);
    if (folder < 0 && !config->always) return SVMX_OK;
    const uint64_t print = folder >= 0 ? print_of(config, host) : 0;
    if (!recall(folder, config->proxy.name, print, &verdict)) {
        verdict.print = print;
        if (try_it(config, host, &verdict)) keep(config, folder, &verdict);
    }
    if (folder >= 0) (void)close(folder);
    if (!verdict.bad) return SVMX_OK;
    return svmx__fail(
        why, SVMX_ERR_DEVICE_LOST,
        "its drivers were tried in another process, and did not survive it: %s; tried again when a driver "
        "changes, in an hour, or with driver_probe=off",
        verdict.reason);
}
