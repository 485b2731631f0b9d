/*
 * conform.h: the parts of `svmx conform`.
 *
 *   cmd_conform.c     options, the plugin, its devices one after another
 *   conform_op.c      one operation on one device: every byte compared with the reference code
 *   conform_report.c  verdicts as text and as JSON
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_CONFORM_H
#define SVMX_CLI_CONFORM_H

#include "session.h"
#include <pthread.h>

/* What became of an operation on a device. */
enum conform_verdict {
    CONFORM_EXACT,
    CONFORM_WRONG,       /* a byte differs from the reference code's */
    CONFORM_REFUSED,     /* the device offers it, and then failed its known answers or a batch */
    CONFORM_UNSUPPORTED, /* the device does not offer it: no fault */
    CONFORM_VERDICTS
};

struct conform_result {
    struct svmx_op op;
    enum conform_verdict verdict;
    uint32_t batches, tasks; /* that were compared */
    char reason[256];        /* of anything but EXACT */
};

/* Lines of the executor's log, which tell why a device refused. The log calls from any thread. */
struct conform_log {
    pthread_mutex_t lock;
    const char *op;   /* under test, or NULL */
    char reason[256]; /* why it was refused, or "" */
    char gone[256];   /* why the device was given up, or "" */
};

/* One device of a plugin, and the reference code. */
struct conform {
    const char *backend;
    struct cli_session tested, reference;
    struct svmx_device device;
    uint32_t device_id; /* in the tested executor */
    bool sized;         /* one size, the user's */
    uint64_t size;
    struct conform_log log;
    struct conform_result *results;
    uint32_t result_count;
};

/* Runs an operation and fills in its verdict. CLI_OK for any verdict; else something of our own failed. */
enum cli_exit conform_op(struct conform *conform, struct conform_result *result);

/* Nothing wrong or refused, and at least one exact. */
bool conform_good(const struct conform *conform);
/* The device offers nothing of what was asked for. */
bool conform_empty(const struct conform *conform);

/* Prints a device that is done; all of them as one document, `good` being the verdict of the plugin. */
void conform_text(const struct conform *conform);
void conform_json(const struct conform *devices, uint32_t count, const char *plugin, bool good);

#endif
