/*
 * buffer.h: data that stays: svmx_buffer_t, its copies on devices, and the heap of a device that holds them.
 *
 *   buffer   host copy, always whole; version 7
 *   copies   device 0: in the heap of generation 3, version 7: good       device 1: version 5: to be uploaded again
 *   heap     [buffer][buffer] ... [memory of stretches under way, the oldest last]
 *
 * batch.c takes views as arguments, stretch.c places buffers and runs kernels on them, weigh.c counts what is there already.
 * docs/adr/0015 has the reasons.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_BUFFER_H
#define SVMX_EXECUTOR_BUFFER_H

#include "cache/staging_pool.h"
#include "executor/model.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <svmx/svmx.h>

struct svmx_batch;
struct svmx__part;
struct svmx__life;

/* The one memory of a device for buffers; in its life. The submitter's, but for `generation`, which others look at. */
struct svmx__heap {
    struct svmx__staging *memory;
    uint64_t top;                /* where the next buffer goes */
    uint32_t made;               /* how many memories there were */
    _Atomic uint64_t generation; /* changes with the memory, never used twice on the device; 0: there is none */
};

/* A buffer on a device. Written by the device's submitter; others look whether it is good. */
struct svmx__copy {
    _Atomic uint64_t generation; /* of the heap; 0: none */
    _Atomic uint64_t version;    /* that it has; 0: none that is good */
    uint64_t at;
};

struct svmx_buffer {
    struct svmx_executor *executor; /* holds a reference */
    atomic_uint references;         /* one of the caller, one of every batch that names it */
    unsigned char *host;
    uint64_t bytes;
    _Atomic uint64_t version; /* from 1 */
    struct svmx__copy copies[SVMX__ROUTED];
};

/* A buffer in a batch. */
struct svmx__use {
    struct svmx_buffer *buffer;
    uint64_t read_bytes;
    uint32_t writes;        /* arguments that are outputs */
    uint64_t offsets;       /* of all views, or'ed: how far they are aligned */
    uint64_t before, after; /* versions, of the run at hand; the same unless it is written */

    /* in the stretch at hand */
    bool resident; /* it is in the heap */
    bool upload;   /* it goes there now */
    uint32_t written;
    uint64_t written_bytes, read;
};

/* Of a batch that starts: what it writes has another version from now on. Nobody else writes meanwhile: order.h. */
void svmx__buffers_begin(struct svmx_batch *batch);
/* Of a batch that is reset or destroyed. */
void svmx__buffers_release(struct svmx_batch *batch);

/* Whether a buffer of a batch is on a device as the batch needs it. Any thread; an old answer does no harm but in stretch.c,
 * which is in the thread that writes it. */
bool svmx__use_is_good(const struct svmx__use *use, uint32_t device, uint64_t generation);

/* Places buffers that are `resident` in the heap of a part's life, with so many bytes behind them, and says which are to be
 * uploaded. *at: where those bytes begin. BUSY: there is no room beside the stretches under way. MEMORY. Nothing is resident
 * after an error. By the submitter. */
enum svmx_status svmx__heap_place(struct svmx__part *head, uint64_t behind_bytes, uint64_t *at);
/* Has the stretch at hand of a batch buffers in the heap, and its memory there with them? */
bool svmx__has_residents(const struct svmx_batch *batch);
/* A stretch failed: what it had in the heap is not to be relied on. */
void svmx__heap_forget(const struct svmx__part *head);
/* Gives the heap of a part's life back, for want of memory: what lies there is on the host, and is uploaded again when it is
 * named. false: there is none, or a launch under way computes in it. By the submitter, not for a part that computes there. */
bool svmx__heap_drop(struct svmx__part *part);
/* The same of a life that computes nothing any more. NULL memory is fine. */
void svmx__heap_end(struct svmx__life *life);

#endif
