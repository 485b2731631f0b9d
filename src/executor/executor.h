/*
 * executor.h: the executor and its devices, as the files of this folder see them.
 *
 * LOCKS, in the order in which they may be taken: executor->admission, executor->publishing, device->queue.lock,
 * pool->lock, batch->lock.
 * None is held while a plugin runs. docs/ARCHITECTURE.md says the same, and names the locks of src/isolate, which are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_EXECUTOR_H
#define SVMX_EXECUTOR_EXECUTOR_H

#include "base/fork.h"
#include "base/log.h"
#include "base/queue.h"
#include "base/team.h"
#include "base/turns.h"
#include "cache/binary_store.h"
#include "cache/layout_cache.h"
#include "cache/pipeline_cache.h"
#include "cache/staging_pool.h"
#include "executor/batch.h"
#include "executor/buffer.h"
#include "executor/choice.h"
#include "executor/config.h"
#include "executor/health.h"
#include "executor/order.h"
#include "executor/post.h"
#include "executor/record.h"
#include "executor/sweep.h"
#include "executor/tally.h"
#include "executor/wants.h"
#include "executor/window.h"
#include "ops/operations.h"
#include "plugin/registry.h"
#include <stdatomic.h>
#include <svmx/svmx.h>

/* Builds the pipelines of a device in a thread of its own. builder.c */
struct svmx__build;
struct svmx__builder {
    pthread_mutex_t lock;       /* guards all below; held for a few instructions only */
    pthread_cond_t changed;     /* something is wanted, proved or settled */
    struct svmx__build *builds; /* wanted, oldest first; the first is under way */
    bool closing;
    bool started;            /* and not stopped yet: lock and changed are there */
    struct svmx__post *post; /* of its thread; NULL: none */
};

/* See contention.c. */
struct svmx__contention {
    atomic_bool now; /* the last look said so */
    struct svmx__turns turns;
    struct svmx__wants wants; /* of the thread */
};

/* See stats_folder.c. */
struct svmx__stats_folder {
    struct svmx__turns turns;
    unsigned number; /* of the executor in this process, from 1 */
    bool refused;    /* the log has that files cannot be written */
};

/* What is known of an operation on a device. */
enum svmx__fitness { SVMX__UNTRIED, SVMX__FIT, SVMX__UNFIT, SVMX__QUARANTINED };

/* Buckets are powers of two; larger ones share the last line of the table. */
enum { SVMX__BUCKETS = 48 };

/* One life of a device: an opened instance of its plugin, and the memory that came from it. A device that was given up
 * comes back with a new one, while work may still hold what is of the old: lives end with the executor. life.c */
struct svmx__life {
    struct svmx__device *device;
    struct svmx__backend *backend; /* in the first life the registry's, later `own` */
    struct svmx__backend own;
    struct svmx__staging_pool pool;
    struct svmx__heap heap; /* of buffers */
    uint32_t number;        /* from 0; in the keys of its pipelines */
    atomic_bool over;       /* the device was given up, or has another one: no more work */
    atomic_bool abandoned;  /* it holds memory of ours past a deadline: its backend is never closed */
    struct svmx__life *before;
};

/* The errand that rebuilds a device. recovery.c */
struct svmx__recall {
    struct svmx__work errand; /* first */
    struct svmx__device *device;
    atomic_bool under_way; /* from when it is wanted until the device is rebuilt, or is not: in a queue once at most */
};

/* An operation that a device does not get: it gave wrong bytes for it, or cannot build it. quarantine.c */
struct svmx__quarantined {
    struct svmx__quarantined *next;
    const struct svmx__op *op;
    enum svmx_status verdict;
    char reason[SVMX__REASON_BYTES];
};

struct svmx__device {
    struct svmx_executor *executor;
    const struct svmx__backend *backend; /* of the first life: for its name and its plugin */
    uint32_t id;                         /* in the executor */
    uint32_t index;                      /* in the backend */
    struct svmx_device_info info;
    bool inline_; /* SVMX_DEVICE_INLINE: any thread may submit */
    bool host_memory;
    struct svmx__life first;
    _Atomic(struct svmx__life *) life; /* the present one: release when it begins, acquire where work starts */
    struct svmx__queue queue;          /* of parts */
    struct svmx__post *post; /* of the submitter, which pops the queue; the only one that submits, unless inline_ */
    bool has_submitter;
    struct svmx__window window;                         /* the submitter's */
    struct svmx__gather *gathers[SVMX__MAX_WINDOW + 1]; /* likewise */
    struct svmx__builder builder;                       /* unless inline_ */
    uint8_t chosen[SVMX__OP_LIMIT]; /* 1 + the variant that was fastest, by operation; 0: not known. The builder's. */

    struct svmx__health health;
    struct svmx__recall recall;
    struct svmx__sweep sweep;                        /* of memory that goes back */
    uint32_t life_count;                             /* lives that there were; the submitter's */
    struct svmx__life *left;                         /* lives that never served, and hold a ticket; the submitter's */
    _Atomic(struct svmx__quarantined *) quarantined; /* the last first */
    _Atomic(struct svmx__quarantined *) refused;     /* likewise; counts only while the operation is UNFIT */
    _Atomic uint8_t fitness[SVMX__OP_LIMIT];         /* enum svmx__fitness by operation */
    struct svmx__tally tallies[SVMX__OP_LIMIT];      /* what it did, by operation */
    _Atomic uint32_t clock;                          /* enum svmx_device_clock */
    _Atomic uint64_t launched[SVMX__OP_LIMIT];       /* bit n: a launch of about 2^n units was there before */
    _Atomic uint32_t pending; /* parts that wait for it or run there, but for those in a caller's thread */
};

/* Who may compute an operation, by its size. policy.c */
struct svmx__policy {
    uint32_t kind;      /* enum svmx_policy */
    bool anybody;       /* no bounds, and neither CPU nor GPU: whoever serves the operation may */
    uint64_t low, high; /* of AUTO and SPLIT: below low units the CPU, from high on another device */
};

/* Why a launch was redone. */
enum svmx__cause {
    SVMX__CAUSE_TIMEOUT,
    SVMX__CAUSE_LOST,
    SVMX__CAUSE_MEMORY,
    SVMX__CAUSE_WRONG,
    SVMX__CAUSE_ERROR,
    SVMX__CAUSES
};

struct svmx_executor {
    atomic_uint references; /* one of the caller, one of every batch */
    atomic_bool closed;
    unsigned forks; /* when it was opened: another number of them is another process */
    struct svmx__config config;
    struct svmx__log log;
    struct svmx__operations *operations;
    struct svmx__registry registry;
    struct svmx__device *devices; /* in order of preference, the reference last */
    uint32_t device_count;
    struct svmx__pipeline_cache pipelines;
    struct svmx__layout_cache layouts;
    struct svmx__team team;             /* helps with copies; has threads only if a device has memory of its own */
    struct svmx__binary_store binaries; /* compiled pipelines on disk */
    /* Parts that were seen, by operation and log2 of their units; counted in bucket.c. */
    atomic_uint_fast64_t sizes[SVMX__OP_LIMIT][SVMX_SIZE_LINES];
    uint8_t min_bucket_log2[SVMX__OP_LIMIT]; /* the smallest bucket by operation; min_bucket.c */
    /* What route reads; see route.c. Bit d: device d. */
    _Atomic uint32_t serving[SVMX__OP_LIMIT];              /* is there and has the operation */
    _Atomic uint32_t ready[SVMX__OP_LIMIT][SVMX__BUCKETS]; /* has a pipeline for that bucket (by its log2) */
    _Atomic uint64_t loaded;    /* devices at the warning level, and 32 bits up those at the critical one; pressure.c */
    uint32_t routed;            /* devices that take part: the first so many, never the reference */
    uint32_t cpus;              /* of these, those that compute in the calling thread */
    bool spreads;               /* some of these compute at the same time: a part may be cut for them */
    uint32_t owners;            /* of these, those with memory of their own and a queue */
    pthread_mutex_t publishing; /* of writers of serving and ready */
    struct svmx__policy policies[SVMX__OP_LIMIT];
    struct svmx__model model;
    bool profile_refused; /* the profile cannot be used here, and the log has it */
    struct svmx__choices choices;
    struct svmx__records records;
    struct svmx__records troubles; /* of the records, those with a reason */
    struct svmx__contention contention;
    struct svmx__stats_folder stats_folder;

    pthread_mutex_t admission;    /* guards under_way, and what is in order */
    pthread_cond_t room;          /* under_way went down */
    uint32_t under_way;           /* batches between svmx_submit and completion */
    struct svmx__turns watch;     /* looks at posts; post.c */
    uint64_t patience_ns;         /* a call of a driver that takes longer than it was allowed and this never returns */
    _Atomic uint64_t close_by_ns; /* when the last call of a driver is overdue; 0: nobody closes */
    atomic_bool gives_up;         /* svmx_close_now: nothing more is begun */
    uint64_t isolated_ns;         /* a call of one in another process has ended that process after this */
    void (*unmake)(struct svmx_executor *executor); /* of svmx__post_unmake */
    /* Those that are to be done in order, the oldest first; guarded by admission. */
    struct svmx_batch *first_in_order, *last_in_order;
    bool delivers;            /* a thread is at it: it goes on until the first is not over */
    struct svmx__order order; /* of those that name buffers */

    _Atomic uint64_t look_ns;    /* when the next device has rested; recovery.c */
    _Atomic uint64_t stopped_ns; /* 0, or what time it is for rests: tests let it pass */

    uint64_t verify;           /* share of batches whose launches are compared, of SVMX__VERIFY_ALL */
    _Atomic uint64_t lots;     /* which ones; verify.c */
    struct svmx__spin waiting; /* of callers for batches */
    atomic_uint_fast64_t batches, tasks, cancelled, fallbacks, failed, compared, differed, overloads;
    atomic_uint_fast64_t allocs_refused, allocs_late; /* svmx_batch_alloc gave plain memory; arena.c */
    atomic_uint_fast64_t causes[SVMX__CAUSES];        /* of fallbacks */
    uint64_t opened_ns;
};

/* Was it opened by a parent of this process? Then it has no threads, and whatever it locked stays so. */
static inline bool svmx__is_forked(const struct svmx_executor *executor) {
    return executor->forks != atomic_load_explicit(&svmx__forks, memory_order_relaxed);
}
/* Is what is under way to end without an answer? relaxed: who begins something a moment later ends it, too */
static inline bool svmx__gives_up(const struct svmx_executor *executor) {
    return atomic_load_explicit(&executor->gives_up, memory_order_relaxed);
}
/* Is it to be used no more? acquire: pairs with svmx_close. */
static inline bool svmx__is_closed(const struct svmx_executor *executor) {
    return atomic_load_explicit(&executor->closed, memory_order_acquire) || svmx__is_forked(executor);
}

/* The last device, the reference code: what is left when all else fails. Nothing is held against it. */
static inline struct svmx__device *svmx__reference_of(struct svmx_executor *executor) {
    return &executor->devices[executor->device_count - 1];
}
static inline bool svmx__is_reference(const struct svmx__device *device) {
    return device->id + 1 == device->executor->device_count;
}

/* ---- executor.c ---- */

/* Why an executor is to be used no more: a text for the user. */
const char *svmx__closed_text(const struct svmx_executor *executor);
void svmx__executor_retain(struct svmx_executor *executor);
void svmx__executor_release(struct svmx_executor *executor);

/* ---- device.c: making devices from backends, their memory and their threads ---- */

/* Fills executor->devices from the registry. BACKEND, UNKNOWN (the user named a device that is not there), MEMORY. */
enum svmx_status svmx__devices_find(struct svmx_executor *executor, struct svmx__text *why);
/* Starts submitters. SYSTEM. */
enum svmx_status svmx__devices_start(struct svmx_executor *executor, struct svmx__text *why);
/* Ends submitters after their queues are empty, frees pools and devices. Safe after a partial start. */
void svmx__devices_stop(struct svmx_executor *executor);
/* Starts the submitter of a device, or another one after it was given up: device->post. 0, or the error number of
 * pthread. */
int svmx__submitter_open(struct svmx__device *device);
/* There is none, nor a thread for one: does what is in the queue of a device that was given up, elsewhere. */
void svmx__submitter_stand_in(struct svmx__device *device);
/* Is it the calling thread? */
bool svmx__is_submitter_of(const struct svmx__device *device);
void svmx__devices_free(struct svmx_executor *executor);

/* ---- life.c ---- */

static inline struct svmx__life *svmx__life_of(const struct svmx__device *device) {
    return atomic_load_explicit(&device->life, memory_order_acquire);
}
/* Does its instance keep a launch past its deadline? Then it is asked for nothing more: who calls it may wait for
 * ever. */
static inline bool svmx__life_is_abandoned(const struct svmx__life *life) {
    return atomic_load_explicit(&life->abandoned, memory_order_relaxed);
}
/* The first life of a device, in the instance that the registry opened. */
void svmx__life_begin(struct svmx__device *device, struct svmx__backend *backend);
/* Another one, in an instance of its own, that the device does not have yet. Only its submitter may. What the plugin
 * answered; UNKNOWN: the device is not there any more, or is another one now; MEMORY. */
enum svmx_status svmx__life_open(struct svmx__device *device, struct svmx__life **life, struct svmx__text *why);
/* The device has it from now on. The process of the one before is ended, if it had one to itself. */
void svmx__life_replace(struct svmx__life *life);
/* A call of its instance never returned. If no device has it, it is kept for the end. Not while the submitter runs. */
void svmx__life_strand(struct svmx__life *life);
/* It never served. NULL is fine. */
void svmx__life_discard(struct svmx__life *life);
/* Nothing of the device is under way any more: says of each life whether its instance may be closed. Then, once
 * pipelines are gone, gives back what the lives hold. */
void svmx__lives_settle(struct svmx__device *device);
/* Ends the process that a life has to itself; `how` is told as the reason. false: it has none, or other devices compute
 * there, too. */
bool svmx__life_kill(const struct svmx__life *life, const char *how);
void svmx__lives_end(struct svmx__device *device);

/* ---- recovery.c: giving devices up, and having them back ---- */

void svmx__recovery_init(struct svmx_executor *executor);
/* A launch failed, with part->status and part->reason; no lock is held. */
void svmx__device_failed(const struct svmx__part *part);
/* The device keeps a ticket past its deadline, or says that it is lost; for_good: it broke a rule, and stays away. */
void svmx__device_lost(const struct svmx__part *part, bool for_good);
/* Sees whether somebody has rested enough; only if look_ns is not NEVER. */
void svmx__recovery_look(struct svmx_executor *executor);

/* ---- quarantine.c ---- */

/* Takes an operation from a device for good, and keeps that on disk. No lock is held; blocks on the disk. */
void svmx__quarantine(struct svmx__device *device, const struct svmx__op *op, const char *reason);
/* The same of what the profile had. */
void svmx__quarantine_restore(struct svmx__device *device, const struct svmx__op *op, const char *reason);
/* Does the profile have it? */
bool svmx__quarantine_is_kept(const struct svmx__device *device, const struct svmx__op *op);
const struct svmx__quarantined *svmx__quarantine_of(const struct svmx__device *device);
/* Why a device that is UNFIT for an operation is: kept for those who ask. Before its fitness says so. */
void svmx__refusal_note(struct svmx__device *device, const struct svmx__op *op, enum svmx_status verdict,
                        const char *reason);
/* What is known of an operation on a device, with the reason if it does not get it; else NULL. */
uint32_t svmx__fitness_of(const struct svmx__device *device, const struct svmx__op *op,
                          const struct svmx__quarantined **why);
void svmx__quarantine_free(struct svmx__device *device);

/* Does a device serve an operation at all? */
static inline bool svmx__device_serves(const struct svmx__device *device, uint32_t op) {
    return svmx__health_serves(&device->health) &&
           atomic_load_explicit(&device->fitness[op], memory_order_relaxed) < SVMX__UNFIT;
}

/* ---- pressure.c ---- */

/* What of a device is in use, and how bad that is. */
struct svmx__pressure {
    uint64_t memory_used, pending;
    uint32_t level; /* enum svmx_load */
    bool squeezed;  /* a pool keeps less of it idle than it may */
};
struct svmx__pressure svmx__pressure_of(const struct svmx__device *device);
/* Publishes it anew. */
void svmx__pressure_look(const struct svmx__device *device);
/* Takes loaded devices from part->fitting; only if executor->loaded is not 0. */
void svmx__pressure_yield(struct svmx__part *part);

/* ---- verify.c ---- */

#define SVMX__VERIFY_ALL (UINT64_C(1) << 32)
/* "off", "sample:P", "full" as a share of ALL; false: it is none of them. */
bool svmx__verify_parse(const char *text, uint64_t *share);
/* From the settings. ARGUMENT names what is wrong. */
enum svmx_status svmx__verify_read(struct svmx_executor *executor, struct svmx__text *why);
/* Is the next one to be compared? */
bool svmx__verify_draw(struct svmx_executor *executor, uint64_t share);

/* ---- compare.c ---- */

/* Computes a part that a device answered once more elsewhere, and compares. WRONG_RESULT: the operation is
 * quarantined. */
enum svmx_status svmx__compare(struct svmx__part *part);

/* ---- pipeline.c ---- */

/* What a device's submitter does with a part that it popped. `work` is the part's errand. */
struct svmx__part;
struct svmx__work;
void svmx__pipeline_part(struct svmx__work *work);
/* Looks after the oldest part of a device's window, which is not empty: collects it, or gives up after a moment where the
 * window has room, so that what came meanwhile can be handed over. */
void svmx__pipeline_turn(struct svmx__device *device);
/* The first level of a batch that had to wait for others (order.h). It may be over and gone afterwards. */
void svmx__pipeline_begin(struct svmx_batch *batch);
/* Collects all of them. */
void svmx__pipeline_drain(struct svmx__device *device);

/* ---- completion.c ---- */

/* Ends a batch: counters, callback, eventfd, and last the hand-over to the caller. The batch may be gone afterwards. */
void svmx__complete(struct svmx_batch *batch, enum svmx_status status);
/* From now on those that join later are done after it. Before its first part starts. */
void svmx__join_order(struct svmx_batch *batch);

/* ---- bucket.c ---- */

/* The bucket of so many units: the next power of two, not less than the smallest of the operation. */
uint64_t svmx__bucket_of(const struct svmx_executor *executor, const struct svmx__op *op, uint64_t units);

/* ---- min_bucket.c ---- */

/* Fills min_bucket_log2 from the settings and from options.min_bucket_ops (may be NULL). ARGUMENT names what is wrong;
 * MEMORY. */
enum svmx_status svmx__min_buckets_read(struct svmx_executor *executor, const char *list, struct svmx__text *why);
/* The operation at [item, equals) of a setting with OPERATION=VALUE; NULL: there is none of that name, and `why` says so. */
const struct svmx__op *svmx__op_of_item(const char *origin, const char *item, const char *equals,
                                        struct svmx__text *why);

/* ---- batch.c ---- */

/* OK if the batch is the caller's, to be filled; else the status to answer with. */
enum svmx_status svmx__batch_must_be_building(struct svmx_batch *batch);

/* ---- results.c: outputs in the library's memory ---- */

/* Gives them memory of a life whose device works in host memory, unless they have some. */
enum svmx_status svmx__results_in_host_memory(struct svmx__part *part, struct svmx__life *life);
/* Keeps them where a device wrote them: the part's staging_out becomes theirs. */
void svmx__results_stay(struct svmx__part *part);
/* Tells the tasks of the batch's level where the results are that they take. */
void svmx__results_resolve(struct svmx_batch *batch);
/* Gives the memory back. */
void svmx__results_reset(struct svmx_batch *batch);

/* ---- copy.c ---- */

/* All inputs of a part to a staging buffer, from `offset` on; all outputs from one to the caller's memory. `bytes` is
 * how many lie in the buffer. */
void svmx__copy_in(const struct svmx__part *part, void *staging, uint64_t offset, uint64_t bytes);
void svmx__copy_out(const struct svmx__part *part, const void *staging, uint64_t bytes);
/* The same of one piece of memory. */
void svmx__copy_run(struct svmx_executor *executor, void *to, const void *from, uint64_t bytes);

/* ---- guard.c: bytes around the outputs of a launch ---- */

/* Before a launch of a part that was placed, or of a stretch, whose first part it is. May write up to SVMX__GUARD_COMMANDS
 * commands, which come before the barrier in front of its first dispatch; returns how many. */
enum { SVMX__GUARD_COMMANDS = 3 };
size_t svmx__guard_lay(struct svmx__part *part, struct svmx_command *commands);
/* After it. BACKEND: they are not what they were. */
enum svmx_status svmx__guard_check(struct svmx__part *part);
/* What is on the device is not known any more. */
void svmx__guard_forget(struct svmx__part *part);
/* What lies between them, in staging_out. */
static inline unsigned char *svmx__staged_outputs(const struct svmx__part *part) {
    return (unsigned char *)part->staging_out->host + part->layout->guard_bytes;
}

/* ---- slices.c: long work in several submissions ---- */

#define SVMX__SUBMISSION_NS 100e6 /* what one is expected to take, at most, where it can be cut */
/* In how many. */
uint32_t svmx__slice_count(const struct svmx__part *part);
/* Are tasks cut for so many? */
bool svmx__slices_within(const struct svmx__part *part, uint32_t count);
/* The first task of a piece, of so many, or its first unit if tasks are cut; the end for piece = count. Pieces are alike in
 * units, as far as tasks allow, and none is empty. */
uint64_t svmx__slice_at(const struct svmx__part *part, uint32_t piece, uint32_t count);

/* ---- deadline.c ---- */

/* How long a device may take for a launch, from hand-over on, and whose wish that is, for the receipt. */
struct svmx__deadline {
    uint64_t ns;
    const char *origin;
};
struct svmx__deadline svmx__deadline_of(const struct svmx__part *part);

/* ---- policy.c ---- */

/* Fills policies, and how choices learns, from the settings. ARGUMENT names what is wrong. */
enum svmx_status svmx__policies_read(struct svmx_executor *executor, struct svmx__text *why);
/* The devices of a mask that may compute so many units under a policy; 0: none. */
uint32_t svmx__policy_allows(const struct svmx__policy *policy, uint32_t kind, uint32_t serving, uint32_t cpus,
                             uint64_t units);

/* ---- contention.c ---- */

/* Whether something else wants the cores. Watched by a thread of its own, which sleeps while nothing is computed; where
 * the system does not tell there is none. Stop is safe without a start. */
void svmx__contention_start(struct svmx_executor *executor);
void svmx__contention_stop(struct svmx_executor *executor);

/* ---- stats_folder.c ---- */

/* Counters as a file, now and then and at the end, where a setting asks for it. Stop waits for batches under way; it is safe
 * without a start. */
void svmx__stats_folder_start(struct svmx_executor *executor);
void svmx__stats_folder_stop(struct svmx_executor *executor);

/* ---- receipt.c ---- */

/* Writes part->trail, and puts it among the last ones. By learn, once a part is over. */
void svmx__receipt_write(struct svmx__part *part, bool learned, const struct svmx__sample *sample);
/* Tells the log of it (SUPERVM_DEBUG). */
void svmx__receipt_say(const struct svmx__part *part);

/* ---- route.c ---- */

/* Where a device computes, by what it says of itself. */
enum svmx__seat svmx__device_place(const struct svmx_device_info *info);
/* Makes the model and the table of choices for the devices that were found. */
void svmx__route_init(struct svmx_executor *executor);
void svmx__route_fini(struct svmx_executor *executor);

/* Sets what of a part is known before a device is: policy, fitting, question. Returns who serves its operation. */
uint32_t svmx__route_consider(struct svmx__part *part);
/* Whether a device has a pipeline for a bucket, or needs none. */
bool svmx__route_is_ready(const struct svmx_executor *executor, uint32_t op, uint64_t bucket, uint32_t device);
/* A device failed a launch, with part->status and part->reason: counted, told to the log, and held against the device. */
void svmx__count_failure(struct svmx__part *part);
/* Sends a part to a device that is ready, whatever the table says. */
void svmx__route_to(struct svmx__part *part, uint32_t device);
/* Publishes anew which devices serve an operation, and for which buckets they are ready. After devices were found or
 * lost, an operation was refused, or a pipeline is there. */
void svmx__route_publish(struct svmx_executor *executor, uint32_t op);
/* The same for all numbers, also those that no operation has yet. */
void svmx__route_publish_all(struct svmx_executor *executor);

/* ---- profile.c: the model on disk ---- */

/* Fills the model from the file, once devices are known and before the first batch. Cannot fail: a file that is not
 * there is no matter, and one that cannot be used is ignored with a word in the log. */
void svmx__profile_load(struct svmx_executor *executor);
/* Writes what was learned. OK also if there is nothing to keep: the profile is off, only one device beside the
 * reference takes part, or nothing is new. Blocks on the disk. PERMISSION, SYSTEM, MEMORY. */
enum svmx_status svmx__profile_save(const struct svmx_executor *executor, struct svmx__text *why);

/* ---- host.c: the upcalls that backends get ---- */
struct svmx__host_maker svmx__host_maker(struct svmx_executor *executor);
/* Takes the last error line that a backend logged: it is told once, with the failure that it belongs to. */
void svmx__host_take_error(const struct svmx__backend *backend, char *line, size_t bytes);
/* From listen on, what any backend said last in this thread, of whatever level, or "". */
void svmx__host_listen(void);
const char *svmx__host_heard(void);
/* From now on its error lines are errors: it is open. */
void svmx__host_opened(const struct svmx__backend *backend);
/* The executor goes, an abandoned instance stays: its upcalls keep working, its log lines go nowhere. */
void svmx__host_orphan(const struct svmx__backend *backend);

/* A description of an operation for plugins. */
static inline struct svmx_op_desc svmx__op_desc(const struct svmx__op *op) {
    return (struct svmx_op_desc){.size = sizeof(struct svmx_op_desc),
                                 .name = op->name,
                                 .params = op->params,
                                 .param_count = op->param_count,
                                 .scratch_bytes_per_unit = op->scratch_bytes_per_unit,
                                 .opencl_c = op->opencl_c,
                                 .spirv = op->spirv,
                                 .spirv_bytes = op->spirv_bytes,
                                 .local = op->local,
                                 .grain = op->grain};
}

#endif
