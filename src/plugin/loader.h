/*
 * loader.h: finds plugin files, judges them without running them, and loads them.
 *
 *   scan     *.so in the folders                       -> candidates, in the order of the folders, then by name
 *   inspect  owner, mode, the data symbol in the file  -> what it says of itself; no code of it has run
 *   load     dlopen, dlsym, the same checks again      -> its svmx_plugin
 *
 * Called by registry.c. Knows files and the data symbol, nothing of instances and of the user's wishes.
 *
 * WHO MAY WRITE. The file and its folder belong to root or to the user (the effective one) and nobody else may write
 * them; the file is a regular file and no link, so that its folder is the one that was looked at. Folders further up may
 * not be writable for everybody, except sticky ones such as /tmp: else anybody could put another folder in this one's
 * place.
 *
 * WHY dlopen GETS THE PATH. What was checked is an open file, and /proc/self/fd/N would load exactly that. But the
 * dynamic linker knows objects by name: the next plugin that gets the same N would be taken for the first. $ORIGIN,
 * debuggers and sanitizers would be lost too. With the rule above only root and the user can change what the path
 * means, and load compares once more which file is there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_PLUGIN_LOADER_H
#define SVMX_PLUGIN_LOADER_H

#include "base/log.h"
#include "base/text.h"
#include <svmx/plugin.h>
#include <sys/types.h>

/* A file that may be a plugin. */
struct svmx__found {
    char name[32]; /* of the file without ".so", cut off if longer; "*" for a folder that cannot be read */
    char *path;    /* absolute, links in the folder's path resolved */
};

struct svmx__findings {
    struct svmx__found *files;
    size_t count, capacity;
};

/* What a file says of itself, and which file it was. */
struct svmx__inspected {
    struct svmx_plugin data; /* `open` is not relocated yet: do not call it */
    dev_t device;
    ino_t inode;
};

/* Lists the candidates of `backend_path`: absolute folders, ':' between; empty parts do not count (and never mean the
 * current directory). A folder that is not there is noted in the log. ARGUMENT (relative), MEMORY. */
enum svmx_status svmx__loader_scan(struct svmx__findings *findings, const char *backend_path,
                                   const struct svmx__log *log, struct svmx__text *why);
void svmx__loader_findings_free(struct svmx__findings *findings);

/* Checks who may write the file and reads its data symbol. No code of it runs. PERMISSION, ABI, ARGUMENT (its name),
 * SYSTEM, MEMORY. */
enum svmx_status svmx__loader_inspect(const struct svmx__found *file, struct svmx__inspected *inspected,
                                      struct svmx__text *why);

/* Whether a program at an absolute path, links in its folder's resolved, may be run: the same rules. PERMISSION, SYSTEM,
 * MEMORY. */
enum svmx_status svmx__loader_check_program(const char *path, struct svmx__text *why);

/* Loads a file that passed. Its constructors run. It stays loaded, also after an error: never dlclose. UNSUPPORTED (a library
 * that it needs is not installed), SYSTEM (dlopen's reason), ABI (it is not what was inspected). */
enum svmx_status svmx__loader_load(const struct svmx__found *file, const struct svmx__inspected *inspected,
                                   const struct svmx_plugin **plugin, struct svmx__text *why);

/* Checks a data symbol, of a file or linked in: magic, size, version, name. ABI, ARGUMENT (name). `name` is what it must
 * be called, or NULL for any. */
enum svmx_status svmx__plugin_check(const struct svmx_plugin *data, const char *name, struct svmx__text *why);

#endif
