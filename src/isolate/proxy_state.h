/*
 * proxy_state.h: what proxy.c and proxy_submit.c share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_ISOLATE_PROXY_STATE_H
#define SVMX_ISOLATE_PROXY_STATE_H

#include "isolate/calls.h"
#include "isolate/channel.h"
#include "isolate/proxy.h"

/* A device, with the lane of its submitter: a plugin may rely on one thread. */
struct seat {
    struct svmx_device_info info;
    pthread_mutex_t lock; /* held by who uses the lane: only an INLINE device has several that want it */
    struct svmx__lane *lane;
};

struct proxy {
    const struct svmx_host *host;
    struct svmx_backend_ops ops; /* the table that the core gets: some slots depend on the plugin */
    struct svmx__channel channel;
    uint64_t limit_ns;
    struct seat *seats;
    uint32_t device_count;
};

/* Memory, as the core has it. */
struct svmx_memory {
    uint64_t there;        /* its number in the other process */
    unsigned char *shadow; /* what the host reads and writes; NULL: not for the host */
    uint64_t bytes;
};

/* Logs a line at ERROR and gives back the status. */
SVMX_PRINTF(3, 4)
enum svmx_status svmx__proxy_fail(const struct proxy *proxy, enum svmx_status status, const char *format, ...);

/* Sends what is in the lane's request; the answer is at its outputs then. Lines that came with it are logged. `lane`
 * may be NULL: there was none to be had. */
enum svmx_status svmx__proxy_ask(struct proxy *proxy, struct svmx__lane *lane, uint64_t limit_ns);
/* The same, and takes the `count` words of the outputs; they are set on OK only. */
enum svmx_status svmx__proxy_ask_for(struct proxy *proxy, struct svmx__lane *lane, uint64_t limit_ns, uint64_t *words,
                                     size_t count);

/* ---- proxy_submit.c ---- */
enum svmx_status svmx__proxy_submit(void *self, const struct svmx_submission *submission, uint64_t *ticket);
enum svmx_status svmx__proxy_wait(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns,
                                  struct svmx_timing *timing);

#endif
