/*
 * host.h: svmx-host, the program that runs one backend for a proxy in another process (proxy.h).
 *
 *   host.c         main: takes lanes from the control socket, a thread for each; answers calls
 *   host_open.c    loads the plugin and opens it; the upcalls that it gets
 *   host_calls.c   memory and pipelines
 *   host_submit.c  launches: submit and wait
 *
 * It trusts its proxy, which is its parent, and believes nothing of the plugin: whatever that does to this process is
 * what this process is for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_ISOLATE_HOST_H
#define SVMX_ISOLATE_HOST_H

#include "isolate/calls.h"
#include "isolate/wire.h"
#include "plugin/registry.h"
#include <pthread.h>
#include <stdatomic.h>

struct launch;

/* The plugin, and what is kept for it. */
struct hosted {
    struct svmx_host upcalls; /* first: the plugin gives this pointer back */
    struct svmx__backend backend;
    atomic_bool open;   /* by the lane that opened or closed it; others look */
    atomic_bool closed; /* CLOSE was answered: nothing of the plugin is under way; main looks */
    char *select, *threads, *variant, *sim_model; /* NULL = not set */
    uint32_t *device_flags;                       /* enum svmx_device_flags by device; written by open */
    uint32_t device_count;
    atomic_bool no_import;    /* it was asked to import memory, and does not */
    pthread_mutex_t lock;     /* guards all below */
    struct svmx__wire strays; /* lines of threads that answer no call: they go with the next answer */
    struct launch *launches;  /* that have a ticket */
};

/* Memory of a device, as the proxy knows it by its address. */
struct hosted_memory {
    struct svmx_memory *memory; /* the plugin's */
    unsigned char *host;        /* where the plugin has it for the host, and */
    unsigned char *shadow; /* where the host has it: the same, if the plugin imported it; both NULL: not for the host */
    uint64_t bytes;
};

/* Lines that the calling thread logs until it answers; NULL in threads of drivers. */
extern _Thread_local struct svmx__wire *svmx__host_lines;

/* Logs a line of our own, as the plugin would. */
SVMX_PRINTF(3, 4)
enum svmx_status svmx__host_fail(struct hosted *hosted, enum svmx_status status, const char *format, ...);

/* The calls. Arguments are read from `request`, outputs appended to `answer`, which counts on OK only. */
enum svmx_status svmx__host_open(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer);
enum svmx_status svmx__host_close(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer);
enum svmx_status svmx__host_alloc(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer);
enum svmx_status svmx__host_free(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer);
enum svmx_status svmx__host_build(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer);
enum svmx_status svmx__host_drop(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer);
enum svmx_status svmx__host_binary(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer);
/* Takes the request over if it answers a ticket: arrays of the dispatches lie in it. */
enum svmx_status svmx__host_submit(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer);
enum svmx_status svmx__host_wait(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer);

#endif
