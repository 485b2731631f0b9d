/*
 * isolated.h: plugins that run in processes of their own, one for each instance: the list that the user writes, and
 * what is kept of such a plugin to start them (src/isolate does that).
 *
 * Called by registry.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_PLUGIN_ISOLATED_H
#define SVMX_PLUGIN_ISOLATED_H

#include <stdbool.h>
#include <svmx/plugin.h>

enum { SVMX__BACKEND_NAME = 32 };

/* What starts processes for a plugin. */
struct svmx__isolated {
    struct svmx__isolated *next;
    struct svmx_plugin plugin; /* what its file says of itself; `open` is not to be called: it is not loaded here */
    char *path, *backend_path;
    uint64_t limit_ns;
};

/* The next name of a list, ',' between, which goes on; cut where it is too long to be one. false: no more. NULL is an empty
 * list. */
bool svmx__isolated_next(const char **list, char name[SVMX__BACKEND_NAME]);
bool svmx__isolated_has(const char *list, const char *backend);

/* Puts one in front of `all`; texts are copied. NULL: no memory. */
const struct svmx__isolated *svmx__isolated_add(struct svmx__isolated **all, const struct svmx_plugin *data,
                                                const char *path, const char *backend_path, uint64_t limit_ns);
void svmx__isolated_free(struct svmx__isolated *all);

#endif
