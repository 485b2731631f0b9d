/*
 * record.h: the last receipts of an executor, for whoever wants to prove later what was done.
 *
 * A ring that is always on. A writer takes the next number and copies its receipt into the slot of that number; a slot is
 * held for the copy only, and writers of different slots do not meet. Written by receipt.c, read by svmx_receipts_read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_RECORD_H
#define SVMX_EXECUTOR_RECORD_H

#include <stdatomic.h>
#include <svmx/svmx.h>

enum { SVMX__CANDIDATES = 4, SVMX__FALLBACKS = 64 };

/* What a receipt says, in as little as that takes: it is written for every launch. */
struct svmx__trail {
    uint64_t number, tag, time_ns;
    uint64_t units, work, bucket, bytes_in, bytes_out, copied_bytes;
    uint64_t wait_ns, stage_ns, run_ns, collect_ns, setup_ns, transfer_ns, compute_ns;
    uint64_t upload_ns, device_ns, shadow_ns;
    uint64_t result_hash;
    uint32_t op, device, tasks, redone, launches, readbacks, gathered;
    float expected_ns, expected_wait_ns;
    uint16_t expected_setup, expected_transfer;           /* shares of expected_ns, as in struct svmx__price */
    uint8_t why, policy, learned, flags, candidate_count; /* flags: enum svmx_receipt_flags */
    uint8_t verdict[SVMX__CANDIDATES];                    /* enum svmx_verdict, of the first devices, but for: */
    uint8_t shadow;                                       /* the device of shadow_ns */
    uint8_t last_candidate; /* the device that the last one is: the chosen one, if that is none of the first */
    float cost_ns[SVMX__CANDIDATES], backlog_ns[SVMX__CANDIDATES];
    bool has_reason;
};

struct svmx__record {
    atomic_flag held;
    bool filled;
    struct svmx__trail trail;
    char reason[128];
};

struct svmx__records {
    struct svmx__record *slots;
    uint64_t mask;             /* slots - 1 */
    uint64_t epoch_ns;         /* what the monotonic clock is short of the time since 1970 */
    atomic_uint_fast64_t next; /* number of the next receipt */
};

/* Room for `count` or a few more. MEMORY. */
enum svmx_status svmx__records_init(struct svmx__records *records, uint64_t count);
void svmx__records_fini(struct svmx__records *records);

/* Numbers a trail and keeps a copy of it, and of `reason` if it has one. */
void svmx__records_add(struct svmx__records *records, struct svmx__trail *trail, const char *reason);
/* The whole receipt. */
void svmx__trail_tell(const struct svmx__trail *trail, const char *reason, struct svmx_receipt *receipt);
/* The receipt of a number. OK; UNKNOWN: it was overwritten; BUSY: it is still being written. */
enum svmx_status svmx__records_get(struct svmx__records *records, uint64_t number, struct svmx_receipt *receipt);

/* What version 0.1.0 had of struct svmx_receipt. */
#define SVMX__FIRST_RECEIPT SVMX__THROUGH(struct svmx_receipt, reason)

#endif
