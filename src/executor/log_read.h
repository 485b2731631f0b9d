/*
 * log_read.h: a log of receipts, line by line, as replay needs it: sizes, times, who might have computed and who did.
 *
 *   text -> a line of JSON (docs/RECEIPTS.md) -> struct svmx__recorded
 *                                                names become numbers of the log's own, in order of appearance
 *
 * A line that is not right is told with its number and left out. Called by replay.c. Opens no file, asks no device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_LOG_READ_H
#define SVMX_EXECUTOR_LOG_READ_H

#include "base/text.h"
#include "executor/model.h"
#include <svmx/svmx.h>

/* A device of the log: its number, backend and name together tell it apart. */
struct svmx__log_device {
    uint64_t number;
    char backend[32], name[64];
    uint32_t place; /* enum svmx__seat */
    bool modelled, test;
};

/* One line. */
struct svmx__recorded {
    uint64_t line; /* from 1 */
    uint64_t tag;
    uint32_t op, device; /* who answered */
    uint32_t chosen;     /* who was to; the same unless it was redone elsewhere */
    uint32_t policy, why;
    uint32_t allowed; /* bit d: device d might have computed it */
    uint32_t timed;   /* bit d: other_ns has what device d took for the same */
    bool learned, redone, failed;
    bool is_shadow; /* only another run of an earlier line; replay.c */
    uint64_t tasks, bytes_in, bytes_out;
    struct svmx__load load;
    struct svmx__sample sample;
    uint64_t ns; /* of the sample */
    uint64_t backlog_ns[SVMX__ROUTED], other_ns[SVMX__ROUTED];
};

struct svmx__log_text {
    const char *at, *end;
    uint64_t line; /* number of the last one */
    uint32_t op_count, device_count;
    char ops[SVMX__OP_LIMIT][32];
    struct svmx__log_device devices[SVMX__ROUTED];
};

/* The next line. OK; ARGUMENT: it is bad, `why` says what is wrong; BUSY: that was all. Empty lines, and launches that
 * failed, are passed over. */
enum svmx_status svmx__log_next(struct svmx__log_text *log, struct svmx__recorded *recorded, struct svmx__text *why);

#endif
