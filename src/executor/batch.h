/*
 * batch.h: the batch, the only thing that travels along the spine.
 *
 *   the caller adds tasks          bucket cuts them into parts             every part goes to one device
 *
 *   task 0: keccak256  \                                        stage     places its inputs
 *   task 1: vec_add     \    part 0: keccak256, tasks 0 and 2   dispatch  hands its commands over
 *   task 2: keccak256   /    part 1: vec_add,   task 1          collect   takes its results
 *                                                               learn     writes down how it went
 *
 * A part is the tasks of one operation at one level: a task that takes results of others is one level above them. A
 * batch has one owner at a time: the caller while it is BUILDING or DONE, the library in between; `state` hands it over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_BATCH_H
#define SVMX_EXECUTOR_BATCH_H

#include "base/queue.h"
#include "base/text.h"
#include "cache/layout_cache.h"
#include "cache/pipeline_cache.h"
#include "cache/staging_pool.h"
#include "executor/buffer.h"
#include "executor/choice.h"
#include "executor/record.h"
#include "ops/op.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <svmx/svmx.h>

struct svmx__device;
struct svmx__life;
struct svmx__block;
struct svmx__cut;
struct svmx__gather;

/* Something for a device's submitter to do. Its queue holds nothing else. */
struct svmx__work {
    struct svmx__link link; /* first */
    void (*run)(struct svmx__work *work);
    void (*forsake)(
        struct svmx__work *work); /* what to do with it if the thread that ran it never comes back: post.h */
    struct svmx__work *held;      /* the next that the thread has in hand */
};

enum svmx__batch_state {
    SVMX__BUILDING,   /* the caller's */
    SVMX__QUEUED,     /* the library's; cancel may still take it back */
    SVMX__RUNNING,    /* the library's */
    SVMX__CANCELLING, /* taken back; its parts are still in queues */
    SVMX__DONE        /* the caller's again, with a status */
};

struct svmx__task {
    uint32_t part;       /* which part it belongs to */
    uint32_t first_slot; /* its row in batch->slots */
    uint32_t row;        /* in its part */
    uint32_t results;    /* bit i: argument i is a result of an earlier task */
    uint32_t deferred;   /* bit i: one whose address is not known yet: the slot has its task (high half) and output */
    uint32_t library;    /* bit i: argument i is an output in the library's memory */
    uint32_t passing;    /* bit i: one of those that only later tasks read */
    uint32_t buffers;    /* bit i: argument i is a view of a buffer */
    uint32_t kept;       /* bit i: of those, one that is read behind the stretch that it is in */
    uint64_t units;
};

/* Room for the commands of one part: copy in twice, fill twice, barrier, dispatch, barrier, copy out. */
enum { SVMX__PART_COMMANDS = 8 };

/* Of outputs in the library's memory. */
enum { SVMX__RESULT_ALIGNMENT = 64 };

/* In place of the number of a part. */
enum { SVMX__NO_PART = INT32_MAX, SVMX__MANY_PARTS = INT32_MAX - 1 };

/* The tasks of one operation at one level, on their way to one device and back. */
struct svmx__part {
    struct svmx__work errand; /* first: a device's queue holds it by this */
    struct svmx_batch *batch; /* NULL in the self-test */
    uint64_t tenant;          /* of a part without a batch */
    const struct svmx__op *op;
    uint32_t level, task_count;
    uint32_t first_task, last_task; /* in the batch; between them may be tasks of others */
    uint64_t units, work, bytes_in, bytes_out;
    uint64_t callers_bytes_out, library_bytes; /* of outputs in the caller's memory, and in the library's */
    uint64_t taken_bytes, passing_bytes;       /* of inputs that are results, and of outputs that pass */

    /* What its tasks take of others, as they were added; see chain.c. */
    uint32_t feeder; /* the part that each takes results of its own row of; NO_PART or MANY_PARTS: no such part */
    uint32_t taken;  /* bit i: argument i is such a result, in every task */
    uint32_t taker;  /* the part whose tasks take its results; NO_PART or MANY_PARTS */
    bool passing;    /* the first output of every task passes */

    /* chain */
    uint32_t next;        /* link, or NO_PART */
    uint32_t links;       /* that run in its launch */
    uint32_t commands_at; /* of its launch, in batch->chain_commands */
    bool joined;          /* it runs in the launch of another */
    bool passes;          /* its results are in no memory */
    bool stretched;       /* it runs, or ran, in a stretch of the batch */
    uint64_t table_at;    /* in the memory of the stretch */

    /* In a stretch, of links that are one launch there: stretch_runs.c. */
    uint32_t run;                              /* the part that they begin with, or NO_PART */
    uint32_t run_number;                       /* of the link, from 0 on */
    uint32_t run_links;                        /* how many there are; of the first */
    const struct svmx__pipeline *run_pipeline; /* of the first */
    bool run_pinned;                           /* that is */

    /* bucket */
    struct svmx_slot *slots;    /* host addresses, row-major; outputs in the library's memory at 0 */
    const uint64_t *first_unit; /* task_count + 1 */
    uint64_t bucket;

    /* route */
    struct svmx__device *device;
    struct svmx__device *home; /* whose submitter popped it, and has it until it is over: it may be redone elsewhere */
    struct svmx__question question;
    struct svmx__answer answer;
    uint32_t policy;        /* enum svmx_policy that counts */
    uint32_t fitting;       /* devices that the policy allows and that serve it, but for: */
    uint32_t yielded;       /* those that have too much to do */
    bool chosen;            /* by choices, which is owed a word of how it went */
    bool refused;           /* the policy allows no device that could */
    uint32_t redone;        /* devices that failed it so far */
    bool chunk;             /* it is one of those that a part was cut into, and shares send it: cut.h */
    bool here;              /* it runs in the thread of svmx_run; what was sent may change its device at any time */
    bool cold;              /* the device has no pipeline for it yet: it waits in the device's builder */
    enum svmx_status built; /* what became of the build that it waited for; an error has its reason in `reason` */

    /* stage */
    struct svmx__life *life; /* of the device; set before stage by the self-test, else by stage */
    const struct svmx__layout *layout;
    const struct svmx__pipeline *pipeline; /* set before stage by the self-test, else by stage */
    bool pinned;                           /* the pipeline, by stage; collect unpins it */
    uint64_t timeout_ns;                   /* of the self-test; 0: deadline.c tells */
    struct svmx__staging *staging_in, *staging_out, *inputs, *outputs, *scratch;
    uint64_t outputs_bytes;    /* in staging_out, and on the device, between guards */
    uint64_t inputs_end;       /* in staging_in: behind it a guard, where the device computes in it */
    struct svmx__block *block; /* that holds the inputs, which then stay where they are; or NULL */
    uint32_t cuts;             /* it goes in so many submissions more than one: slices.c */
    uint32_t launches;         /* that brought results */
    uint32_t readbacks;        /* copies back to the host in these */
    uint64_t copied_bytes;     /* between the caller's memory and the library's */
    struct svmx_command commands[SVMX__PART_COMMANDS];
    uint32_t command_count;

    /* dispatch, collect */
    uint64_t ticket;
    struct svmx__gather *gather; /* of a launch that was gathered: its members; else NULL */
    uint32_t gathered;           /* of a member: how many others were in its launch */
    bool answered;               /* of a member: it has its results, and was learned from; it is only to be left */
    bool windowed, overlapped;   /* it was in the window, and not alone */
    bool retired;                /* the ticket is, with `outcome`, before collect came to it */
    enum svmx_status outcome;
    uint64_t ahead_ns; /* when the launch ahead of it in the window was over; 0: there was none */
    struct svmx_timing timing;
    uint64_t device_ns; /* what learn believes of it; 0: nothing */
    enum svmx_status status;
    bool compared;       /* with a run elsewhere, and found to be right */
    uint64_t compare_ns; /* what that took */
    uint64_t shadow_ns;  /* what the other one took, if it is a device that work is routed to, and right; else 0 */
    uint32_t shadow;     /* which that is */

    /* outputs in the library's memory, until the batch is reset or armed again */
    struct svmx__staging *library;
    struct svmx__life *library_life; /* whose memory it is */

    /* for the receipt */
    uint64_t queued_ns, start_ns, dispatch_ns, done_ns, end_ns;
    char reason[128];
    struct svmx__trail trail;
};

/* Levels [from, to) of the batch in one submission: stretch.h. */
struct svmx__stretch {
    uint32_t from, to;
    uint32_t look_at; /* the level from which on it is worth to weigh one again */
    bool barred;      /* one failed: this run of the batch goes part by part */
    bool apart;       /* it did just now: level `from` begins anew */
    uint32_t alignment;
    /* In its memory, whose first byte is number `base` of the device's; stretch_place.c has a drawing. */
    uint64_t base, inputs_at, passing_at, guard_at, results_at, arena_bytes;
    uint64_t results_bytes; /* of those that are read back, up to the end of the last; 0: there are none, nor guards */
    uint64_t upload_bytes;  /* of buffers */
    uint64_t checkpoint_bytes; /* of results in buffers, which are read back behind the others */
};

/* Where the arguments at one position lie, taken together. Enough to see that nothing overlaps in the usual cases. */
struct svmx__hull {
    uintptr_t low, high; /* [low, high); low == high: none */
    bool ascending;      /* each lay wholly above the ones before */
};

struct svmx_batch {
    struct svmx__work delivery;     /* first: while its callback runs, in hand of the thread that calls it */
    struct svmx_executor *executor; /* holds a reference */
    _Atomic uint32_t state;         /* enum svmx__batch_state; release when handed over, acquire when taken */
    enum svmx_status status;        /* of a DONE batch; under lock until then */
    struct svmx__text error;

    /* What the caller added. Grown, never shrunk. */
    struct svmx__task *tasks;
    struct svmx_slot *slots;
    uint64_t *first_unit; /* of all tasks numbered through: what a batch with a single part needs */
    struct svmx__part *parts;
    size_t task_capacity, slot_capacity, unit_capacity, part_capacity;
    uint32_t task_count, slot_count, part_count, level_count;
    struct svmx__hull out_hull[SVMX__MAX_PARAMS], in_hull[SVMX__MAX_PARAMS];
    uint32_t hull_count;  /* as many as an operation of the batch has arguments at most; those behind are empty */
    bool recorded;        /* no more tasks: it is run again and again */
    bool laid_out;        /* recorded, and its rows and levels are in order */
    bool overlap_checked; /* since the last task was added */
    bool has_library, has_deferred; /* any task has */
    struct svmx__block *blocks;     /* svmx_batch_alloc; the newest first */
    uint64_t alloc_bytes;           /* that it gave before the last reset: the first block has room for as much */

    /* Buffers that tasks name. */
    struct svmx__use *uses;
    size_t use_capacity;
    uint32_t use_count;

    /* Of a slot that takes a result: its task (high half) and output; of a view: the number of its use. */
    uint64_t *sources;
    size_t source_capacity;

    /* Numbers of parts in order of their levels, where a stretch may be (weigh.c); level l begins at level_start[l]. */
    uint32_t *by_level, *level_start;
    size_t by_level_capacity, level_start_capacity;
    struct svmx__stretch stretch;

    /* The chains of a level, each with its links. They are joined before any of them runs. */
    struct svmx_command *chain_commands;
    uint32_t chain_command_count;
    size_t chain_command_capacity;
    bool commands_left; /* a driver that never returned may still read them: they are left to it */

    /* Rows in order of parts, when there are several (bucket), and room to check overlaps (submit). */
    struct svmx_slot *sorted_slots;
    uint64_t *sorted_units;
    struct svmx_slot *spans;
    size_t sorted_slot_capacity, sorted_unit_capacity, span_capacity;

    /* Parts that were cut for several devices, the newest first, and what is left of earlier ones: cut.h. */
    struct svmx__cut *cuts, *spare_cuts;

    /* Wishes of the caller. */
    uint64_t tag;
    uint64_t tenant;     /* whose data it is; 0: nobody's in particular */
    uint32_t policy;     /* enum svmx_policy; 0: the executor's */
    bool decides;        /* it has a policy or bounds of its own */
    bool bounded;        /* low and high count, instead of the executor's */
    uint64_t low, high;  /* as in struct svmx__policy */
    uint64_t hint_ns;    /* what the caller thinks that it takes on the CPU; 0: nothing */
    uint64_t timeout_ns; /* of each launch; 0: the executor's */
    uint64_t verify;     /* share of its runs whose launches are compared, of SVMX__VERIFY_ALL */
    bool hash;           /* receipts have a hash of the results */
    svmx_done_fn done;
    void *done_user;
    int eventfd;

    /* Progress. */
    bool verified;                    /* this run's launches are compared, so that each is one of its own */
    bool counted;                     /* it holds a place in the queue (svmx_submit) */
    bool in_order;                    /* it is done after those before it, and before those behind it: */
    struct svmx_batch *next_in_order; /* under admission, as is: */
    bool is_over;                     /* it has its status, and waits for its turn */
    struct svmx_batch *next_in_list;  /* of those that name buffers (order.h), under whose lock is: */
    uint32_t waits_for;               /* so many of them, submitted before; */
    bool waits_here;                  /* in the thread that runs it */
    uint64_t named, written;          /* marks of its buffers, and of those that it writes */
    struct svmx_batch *next_to_start; /* whoever ended the last of these has it, and starts it */
    atomic_bool answered;             /* every part has its results: receipts may be read */
    atomic_bool failed;     /* a part has no results: no memory for those that are left to the library, or the policy */
    uint32_t level;         /* that is running */
    atomic_uint parts_left; /* of this level; who takes the last one goes on */

    pthread_mutex_t lock; /* guards the change to DONE */
    pthread_cond_t finished;
};

/* Whose data it is. */
static inline uint64_t svmx__tenant_of(const struct svmx__part *part) {
    return part->batch ? part->batch->tenant : part->tenant;
}

/* The row of a task's slots. */
static inline struct svmx_slot *svmx__task_slots(struct svmx_batch *batch, uint32_t task) {
    return batch->slots + batch->tasks[task].first_slot;
}

#endif
