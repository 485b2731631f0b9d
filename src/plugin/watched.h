/*
 * watched.h: calls of plugins while an executor is opened, each with its time (struct svmx__watched of registry.h).
 *
 * A driver may hang in any of them, and svmx_open is a call in a thread of the program. One that has not returned in time is
 * left to the thread that is in it, and its backend is abandoned: it stays as it is, with its host. Called by registry.c and
 * device.c. Without `aside`, and of backends that have a process of their own or are our own code, calls are just made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_PLUGIN_WATCHED_H
#define SVMX_PLUGIN_WATCHED_H

#include "plugin/registry.h"

/* What the plugin answered. TIMEOUT, and backend->abandoned: it has not. MEMORY. */
enum svmx_status svmx__watched_open(const struct svmx__registry *registry, struct svmx__backend *backend);
enum svmx_status svmx__watched_describe(const struct svmx__registry *registry, struct svmx__backend *backend,
                                        uint32_t index, struct svmx_device_info *info);
/* Without memory to have it watched it is not. */
void svmx__watched_close(const struct svmx__registry *registry, struct svmx__backend *backend);

#endif
