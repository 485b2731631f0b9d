/*
 * proxy.h: a backend that runs in a process of its own: the plugin ABI here, the plugin there.
 *
 *   core  -->  proxy.c  ==socket==>  svmx-host  -->  plugin  -->  driver
 *
 * A crash of the driver, a kill, a call that never returns: all become SVMX_ERR_DEVICE_LOST, and what the core does
 * about that is what it does about any device that is lost. docs/ISOLATION.md says what it costs. Called by registry.c,
 * which opens a proxy in place of a plugin that the setting `isolate` names, and by probe.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_ISOLATE_PROXY_H
#define SVMX_ISOLATE_PROXY_H

#include "base/text.h"
#include <svmx/plugin.h>
#include <sys/types.h>

struct svmx__proxy_config {
    const char *name, *path;  /* of the plugin; the file was inspected */
    const char *backend_path; /* where to look for svmx-host, too */
    uint64_t limit_ns;        /* a call that takes longer is not going to return; builds have twenty times as long */
};

/*
 * Starts the process and has it open the plugin. `host` gets the lines that the plugin logs and, on failure, the
 * reason. What the plugin answered, or ARGUMENT: it has a device that works in the caller's memory, which another
 * process does not see; DEVICE_LOST: it died, did not answer in time, or answered nonsense; PERMISSION, SYSTEM: no
 * process; MEMORY. On OK the backend is the caller's, closed by its `close` as any other.
 */
enum svmx_status svmx__proxy_open(const struct svmx__proxy_config *config, const struct svmx_host *host,
                                  struct svmx_backend *backend);

/* The process of a backend that svmx__proxy_open gave. */
pid_t svmx__proxy_process(const struct svmx_backend *backend);

/* Ends its process now, whatever that is doing, and closes its sockets; `how` is told as the reason. For a launch that
 * never ends: once this has returned nobody over there writes into memory of ours. */
void svmx__proxy_kill(const struct svmx_backend *backend, const char *how);

#endif
