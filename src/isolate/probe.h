/*
 * probe.h: are the drivers of a backend safe to load here? Another process tries first.
 *
 *   svmx__drivers_print  -->  a verdict on disk for just these drivers?  -->  that
 *                             none: a process loads the plugin and lists its devices, with a limit  -->  verdict, kept
 *
 * A driver that crashes or hangs while its devices are listed then costs that process, and the backend is refused with
 * the reason. A verdict against a driver holds for an hour: it may have been the machine. Whatever else the plugin
 * answers there is no verdict: it will answer the same here. Called by registry.c before a plugin with drivers behind
 * it is loaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_ISOLATE_PROBE_H
#define SVMX_ISOLATE_PROBE_H

#include "base/log.h"
#include "isolate/proxy.h"
#include <stdbool.h>

struct svmx__probe_config {
    struct svmx__proxy_config proxy;
    const char *folder; /* where verdicts are kept; NULL: nowhere */
    bool always;        /* also where none can be kept: each call is a process then */
    const struct svmx__log *log;
};

/* OK: load it; also where no verdict can be kept or no process be had, with a word in the log. DEVICE_LOST: `why` says
 * what became of the process. `host` is asked for options only. Blocks for as long as the process may take. */
enum svmx_status svmx__probe(const struct svmx__probe_config *config, const struct svmx_host *host,
                             struct svmx__text *why);

#endif
