/*
 * helper.h: a process of ours that runs the program svmx-host: found, started, asked how it ended.
 *
 * A child of the embedding program, so a few rules: it has a process group of its own (^C is for the program), default
 * signals, no file of the program's but standard error, and it ends by itself once its control socket is closed. The
 * program may wait for all its children, ours among them: then how it ended is not known, and nothing else is lost.
 * Called by channel.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_ISOLATE_HELPER_H
#define SVMX_ISOLATE_HELPER_H

#include "base/text.h"
#include <stdbool.h>
#include <sys/types.h>

struct svmx__helper {
    pid_t pid;
    int control; /* our end of its control socket */
    bool ended;  /* and `how` says how */
    char how[96];
};

/* Starts it; `title` is shown by ps. Looked for beside the plugin `path`, then in the folders of `backend_path`, then
 * where plugins are installed; its file must be as safe as a plugin's. SYSTEM (also: it is not there), PERMISSION,
 * MEMORY. */
enum svmx_status svmx__helper_start(struct svmx__helper *helper, const char *path, const char *backend_path,
                                    const char *title, struct svmx__text *why);

/* Has it end: at once by a signal, or by itself within `limit_ns`, else by a signal. Fills in `how`. */
void svmx__helper_stop(struct svmx__helper *helper, bool at_once, uint64_t limit_ns);

#endif
