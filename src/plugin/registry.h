/*
 * registry.h: the backends of one executor: found, checked, opened, in order of preference.
 *
 *   selection.c  reads SUPERVM_BACKENDS      -> who is wanted, in which order
 *   loader.c     finds and checks files      -> which of them are safe and speak our ABI, then dlopen
 *   registry.c   opens instances             -> backends, and a report of what became of every candidate
 *
 * Called by executor.c at open and close. Knows nothing of devices' work, caches or batches.
 *
 * ORDER. What SUPERVM_BACKENDS names comes first, as written. Of the rest: levelzero, opencl, simd, then others by
 * name, then the reference code. GPUs come before the CPU because they are what one installs a plugin for, Level Zero
 * before OpenCL because both may show the same device and it is the thinner layer; a stranger's plugin never displaces
 * ours unless the user names it. Of one name the first wins, linked in before files, also where it is then refused:
 * which file is used must not depend on which is broken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_PLUGIN_REGISTRY_H
#define SVMX_PLUGIN_REGISTRY_H

#include "base/aside.h"
#include "base/log.h"
#include "base/text.h"
#include "plugin/isolated.h"
#include "plugin/selection.h"
#include <stdbool.h>
#include <svmx/plugin.h>

/* One opened instance. */
struct svmx__backend {
    char name[32];
    const struct svmx__isolated *isolated; /* NULL: it runs here */
    const struct svmx_plugin *plugin;
    const struct svmx_host *host;       /* the registry's maker made it; given back through maker.release after close */
    struct svmx_backend instance;       /* instance.ops has been checked: every slot that is not optional is there */
    struct svmx_backend_ops *grown_ops; /* NULL, or instance.ops: the shorter table of an older ABI, with NULLs added */
    bool abandoned;                     /* a thread may still be in it: neither closed nor freed, nor its host */
};

/* What became of one candidate; owned by the registry. verdict: enum svmx_load_verdict of svmx.h (1, 2, 3). */
struct svmx__load_entry {
    char name[32], version[32], licence[32]; /* version and licence are "" where the file was not looked into */
    char *path;                              /* "" for one that is linked in */
    char *reason;                            /* one line, never NULL */
    uint32_t verdict;
    enum svmx_status status;
    bool noted; /* the reason says more than that it is ready */
};

/* Gives each backend a host of its own, so that its log lines and its options are its own. */
struct svmx__host_maker {
    void *user;
    /* `select`: the device part of the user's items for this backend, joined by ',', or NULL; copied. NULL = no
     * memory. */
    const struct svmx_host *(*make)(void *user, const char *backend, const char *select);
    void (*release)(void *user, const struct svmx_host *host);
    /* Last error line that the backend logged through this host, or "". */
    const char *(*last_error)(void *user, const struct svmx_host *host);
    /* What it warned of while it opened, or "": devices that it does not use, mostly. */
    const char *(*warnings)(void *user, const struct svmx_host *host);
    /* Nothing that the backend says through it is passed on any more. It is never released: a call of the backend that has
     * not returned may still use it. */
    void (*orphan)(void *user, const struct svmx_host *host);
};

/* Calls of plugins while an executor is opened, in whose caller's thread nobody watches them: each is made aside, and has
 * its time. One that is late is the end of its backend, which stays as it is. */
struct svmx__watched {
    struct svmx__aside *aside; /* NULL: calls are made in the calling thread, which is watched or may wait */
    uint64_t limit_ns;         /* that each has: it may open a driver */
};

struct svmx__registry_config {
    const char *backends;     /* text of SUPERVM_BACKENDS, "" for all */
    const char *origin;       /* what its user knows it by: that, or options.backends */
    const char *backend_path; /* absolute folders, ':' between */
    const struct svmx_plugin *const *static_plugins;
    size_t static_plugin_count;
    const char *isolate;                 /* backends that get a process of their own, ',' between; NULL = none */
    const char *isolate_origin;          /* as origin */
    uint64_t isolate_limit_ns;           /* see struct svmx__proxy_config */
    bool probe;                          /* try drivers in another process first */
    bool probe_always;                   /* see struct svmx__probe_config */
    const char *probe_folder;            /* likewise */
    bool named_only;                     /* of files only simd is loaded unasked: others have drivers behind them */
    const struct svmx_plugin *reference; /* always opened, always last; called SVMX__REFERENCE_NAME */
    struct svmx__host_maker maker;
    struct svmx__watched watched; /* of the registry from now on */
    const struct svmx__log *log;
};

struct svmx__registry {
    struct svmx__backend *backends; /* in order of preference, the reference last; does not move until close */
    uint32_t backend_count;
    struct svmx__load_entry *entries; /* in the same order, those of one name together */
    uint32_t entry_count;
    struct svmx__selection selection;
    struct svmx__isolated *isolated;
    struct svmx__host_maker maker;
    struct svmx__watched watched;
};

/* Finds, checks and opens. A candidate that fails, or whose open does not return, is an entry in the report, not an error,
 * unless the user demanded it (+name). On error nothing stays open. Errors: ARGUMENT (grammar, relative path), UNKNOWN (a name that is neither
 * linked in nor found as NAME.so, to be used or isolated; lists the known ones), BACKEND (a demanded backend did not
 * load), MEMORY. */
enum svmx_status svmx__registry_open(struct svmx__registry *registry, const struct svmx__registry_config *config,
                                     struct svmx__text *why);

/* The report has a backend that was loaded as refused after all, for a reason that is TIMEOUT. BACKEND: the user demanded it;
 * MEMORY. */
enum svmx_status svmx__backend_refuse(struct svmx__registry *registry, const struct svmx__backend *backend,
                                      const char *reason, struct svmx__text *why);

/* Opens another instance of the plugin of `like`, which is this registry's; `opened` is set on OK only. A plugin that
 * is sick may take long. What the plugin answered, or BACKEND, MEMORY. Any thread. */
enum svmx_status svmx__registry_reopen(const struct svmx__registry *registry, const struct svmx__backend *like,
                                       struct svmx__backend *opened, struct svmx__text *why);
/* Closes such an instance, and gives its host back. Before svmx__registry_close. */
void svmx__registry_end(const struct svmx__registry *registry, struct svmx__backend *opened);
/* Ends the process of an instance that has one of its own: nothing of it is under way afterwards. false: it has
 * none. */
bool svmx__backend_kill(const struct svmx__backend *backend, const char *how);
/* Marks an instance as abandoned, and ends its process, if it has one. No call of it is under way. */
void svmx__backend_abandon(struct svmx__backend *backend);

/* Checks the table of an instance that was opened, and makes it one that has every slot that the core knows. BACKEND,
 * MEMORY. */
enum svmx_status svmx__backend_check(struct svmx__backend *backend, struct svmx__text *reason);

/* Closes every instance that is not abandoned and frees the rest. Shared objects stay loaded: never dlclose. */
void svmx__registry_close(struct svmx__registry *registry);

#endif
