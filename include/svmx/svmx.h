/*
 * svmx/svmx.h: what a program that embeds the executor calls.
 *
 * In three parts; most programs need the first and ops.h only:
 *
 *   SIMPLE    open an executor, fill a batch, run it, read the bytes
 *   CONTEXT   generic tasks, submit without waiting, poll, wait, cancel, completion by callback or eventfd
 *   ADVANCED  options, devices, load report, operations, your own operations, settings, counters, receipts, the cache
 *             on disk
 *
 *   svmx_executor_t *ex;  svmx_batch_t *batch;  struct svmx_error error;
 *   svmx_open(&ex, NULL, &error);
 *   svmx_batch_create(ex, &batch);
 *   svmx_vec_add_f32(batch, out, a, b, n);          // ops.h; any number of tasks of any operations
 *   svmx_run(batch);                                // out holds a + b
 *   svmx_batch_destroy(batch);  svmx_close(ex);
 *
 * RULES THAT HOLD FOR EVERY CALL
 *   status     Every call that can fail returns enum svmx_status. Outputs are set on success only; after an error
 *              nothing has changed, but for a batch that failed while it ran: see svmx_run. svmx_batch_error(), or a
 *              struct svmx_error, has the text, which names the argument.
 *   ownership  Who creates destroys. Memory that a task names stays the caller's: inputs must not change and outputs
 *              must not be touched from submit until completion; the library keeps no pointer to them after it.
 *              Offsets of messages are checked when a task is added and must not change after that.
 *   alignment  Memory of tasks may have any alignment. Aligned to 64 bytes is fastest.
 *   overlap    An output may not overlap any other memory named in the same batch. Inputs may overlap.
 *   zero       A task of no items is fine and its memory may be NULL; an empty batch completes at once.
 *   threads    An executor may be used by any number of threads. A batch belongs to one thread at a time; once
 *              submitted, any thread may poll, wait for and cancel it.
 *   NULL       A handle or an output that is NULL gives SVMX_ERR_ARGUMENT; destroy and close of NULL do nothing.
 *   size       A struct with a `size` has it set by the caller, to sizeof. One of an older version, which is smaller, gets
 *              the fields that it has; of a newer one, fields that the library does not know are left as they are.
 *              Smaller than in version 0.1.0 is SVMX_ERR_ARGUMENT.
 *   fork       An executor is of the process that opened it. In a child that was forked later every call on it, or on a
 *              batch of it, gives SVMX_ERR_CLOSED; svmx_close and svmx_batch_destroy do nothing. Open another one there.
 *   bits       Which device computed never changes a bit of a result.
 *
 * There is no global state: two executors in one process share nothing but code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SVMX_H
#define SVMX_SVMX_H

#include <stdbool.h>
#include <svmx/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SVMX_VERSION_MAJOR 0
#define SVMX_VERSION_MINOR 1
#define SVMX_VERSION_PATCH 0

typedef struct svmx_executor svmx_executor_t;
typedef struct svmx_batch svmx_batch_t;
typedef struct svmx_buffer svmx_buffer_t;
struct svmx_options; /* ADVANCED */

/* Why a call without a batch failed. */
struct svmx_error {
    enum svmx_status status;
    char text[508];
};

/* ==== SIMPLE ================================================================================================== */

/*
 * Opens an executor: loads backends, finds devices, starts threads. Blocks for as long as drivers take to answer; one that has
 * not within six times options.patience_ms, in any of these calls, costs its backend, and is left alone.
 * `options` may be NULL for the defaults and the environment (SUPERVM_*, see svmx.7); it is copied. `error` may be
 * NULL. A backend that cannot be loaded is no error unless SUPERVM_BACKENDS demands it (+name): svmx_load_report_get
 * tells. Errors: ARGUMENT (executor is NULL; options.size, flags or static_plugins breaks a rule; a setting is
 * malformed, or a backend cannot follow it), UNSUPPORTED (a goal that is reserved), UNKNOWN (no such backend, the text
 * lists the known ones; or it has no such device), BACKEND (a demanded backend failed), MEMORY, SYSTEM (no threads).
 */
SVMX_EXPORT SVMX_MUST_CHECK enum svmx_status svmx_open(svmx_executor_t **executor, const struct svmx_options *options,
                                                       struct svmx_error *error);

/*
 * Closes an executor. Batches that were submitted are completed first, and a kernel that a driver compiles just then is waited
 * for, so it may block, for seconds; not for ever: a driver that does not return is left behind with what it has
 * (docs/RELIABILITY.md), and such a batch is computed elsewhere. Once no batch is under way it returns within six times
 * options.patience_ms, whatever drivers do. Batches that still exist afterwards can be asked how they ended
 * (poll, wait) and destroyed; to the rest they answer SVMX_ERR_CLOSED. In a process that was forked after svmx_open it does
 * nothing. No other thread may be inside a call on the executor except in svmx_wait. NULL is fine.
 */
SVMX_EXPORT void svmx_close(svmx_executor_t *executor);

/*
 * The same without waiting for work: batches that were submitted and are not done end as SVMX_CANCELLED, also those that have
 * begun; their callbacks are called and their eventfds written as always, and their outputs have undefined contents. What a
 * device has is waited for until its deadline and no longer than options.patience_ms; what computes in the caller's memory
 * ends the launch that it is at. Then it returns within another patience_ms, whatever drivers do.
 */
SVMX_EXPORT void svmx_close_now(svmx_executor_t *executor);

/*
 * Makes an empty batch. It keeps its memory over svmx_batch_reset, so a program that makes one batch a thread and
 * reuses it allocates nothing in steady state. Errors: ARGUMENT (NULL), MEMORY, CLOSED.
 */
SVMX_EXPORT SVMX_MUST_CHECK enum svmx_status svmx_batch_create(svmx_executor_t *executor, svmx_batch_t **batch);

/* Frees a batch. One that is under way is cancelled if that is still possible and waited for otherwise. Memory that it has of a
 * device goes back in a thread of the library's, so that no driver keeps the caller. NULL is fine. */
SVMX_EXPORT void svmx_batch_destroy(svmx_batch_t *batch);

/* Empties a batch for new tasks; tag, callback and eventfd stay. Waits for no driver, as above. Errors: ARGUMENT (NULL), STATE
 * (it is under way), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_batch_reset(svmx_batch_t *batch);

/*
 * Runs a batch and waits for it, and before that for batches under way that write a buffer which it names, or that name one which
 * it writes. Small work for the CPU is computed in the calling thread. On SVMX_OK every output
 * is written. A failing device costs time, not the answer. Runs once: reset it for new tasks, or call
 * svmx_batch_rearm to run the same tasks again. Errors: ARGUMENT (NULL, overlap), STATE (it is under way or has run),
 * CLOSED, MEMORY; under the policy `gpu` also what a device answered (UNSUPPORTED, BACKEND, DEVICE_LOST ...): then outputs
 * hold anything.
 */
SVMX_EXPORT SVMX_MUST_CHECK enum svmx_status svmx_run(svmx_batch_t *batch);

/*
 * The text of the last error of this batch, "" if there was none since it was last submitted. Lives in the batch until its
 * next call. Never NULL, also for a NULL batch. A batch under way has no text of its own. svmx_cancel of one that is done,
 * which any thread may call, leaves the text of how it ended.
 */
SVMX_EXPORT const char *svmx_batch_error(const svmx_batch_t *batch);

/* "SVMX_ERR_ARGUMENT" and so on; "unknown status" for anything else. Static text. */
SVMX_EXPORT const char *svmx_status_name(enum svmx_status status);

/* Version of the library that is linked, "0.1.0". Static text. */
SVMX_EXPORT const char *svmx_version(void);

/* ==== CONTEXT ================================================================================================= */

/* Where an argument of a task comes from, or goes to. */
enum svmx_arg_kind {
    SVMX_ARG_HOST = 1,    /* memory of the caller */
    SVMX_ARG_SCALAR = 2,  /* a value */
    SVMX_ARG_RESULT = 3,  /* an output of an earlier task of the same batch, as input */
    SVMX_ARG_BUFFER = 4,  /* a view of a buffer that stays on devices */
    SVMX_ARG_LIBRARY = 5, /* an output in memory of the library: svmx_result tells where */
    SVMX_ARG_PASSING = 6  /* an output that only later tasks of the same batch read */
};

/* An argument. Made by the functions below; the fields are for them and for bindings to other languages. */
struct svmx_arg {
    uint32_t kind; /* enum svmx_arg_kind */
    uint32_t type; /* enum svmx_type; must be the parameter's */
    uint64_t bytes;
    union {
        const void *in;
        void *out;
        uint64_t bits; /* a scalar, in its low bytes */
        svmx_buffer_t *buffer;
        struct {
            uint32_t task, output;
        } result;
    } from;
    uint64_t offset; /* of a view, bytes from the start of its buffer; else 0 */
};

/* Size of one element of a type in bytes, 0 for an unknown type. */
static inline uint64_t svmx_type_bytes(enum svmx_type type) {
    switch (type) {
    case SVMX_U8: return 1;
    case SVMX_U32:
    case SVMX_F32: return 4;
    case SVMX_U64:
    case SVMX_F64: return 8;
    }
    return 0;
}

/* `count` elements of caller's memory to read. A count too large to be real is refused when the task is added. */
static inline struct svmx_arg svmx_in(enum svmx_type type, const void *data, uint64_t count) {
    uint64_t size = svmx_type_bytes(type);
    struct svmx_arg arg = {SVMX_ARG_HOST, (uint32_t)type, 0, {0}, 0};
    arg.bytes = count <= (UINT64_MAX >> 4) ? count * size : UINT64_MAX;
    arg.from.in = data;
    return arg;
}

/* `count` elements of caller's memory to write. */
static inline struct svmx_arg svmx_out(enum svmx_type type, void *data, uint64_t count) {
    return svmx_in(type, data, count);
}

/* A 32-bit or 64-bit value. */
static inline struct svmx_arg svmx_u32(uint32_t value) {
    struct svmx_arg arg = {SVMX_ARG_SCALAR, SVMX_U32, 4, {0}, 0};
    arg.from.bits = value;
    return arg;
}
static inline struct svmx_arg svmx_u64(uint64_t value) {
    struct svmx_arg arg = {SVMX_ARG_SCALAR, SVMX_U64, 8, {0}, 0};
    arg.from.bits = value;
    return arg;
}
static inline struct svmx_arg svmx_f32(float value) {
    struct svmx_arg arg = {SVMX_ARG_SCALAR, SVMX_F32, 4, {0}, 0};
    union {
        float f;
        uint32_t u;
    } as;
    as.f = value;
    arg.from.bits = as.u;
    return arg;
}
static inline struct svmx_arg svmx_f64(double value) {
    struct svmx_arg arg = {SVMX_ARG_SCALAR, SVMX_F64, 8, {0}, 0};
    union {
        double f;
        uint64_t u;
    } as;
    as.f = value;
    arg.from.bits = as.u;
    return arg;
}

/* `count` elements of output in memory of the library: svmx_result tells where they are once the batch is done. */
static inline struct svmx_arg svmx_out_library(enum svmx_type type, uint64_t count) {
    struct svmx_arg arg = svmx_in(type, (const void *)0, count);
    arg.kind = SVMX_ARG_LIBRARY;
    return arg;
}

/* `count` elements of output that only later tasks of the batch take (svmx_result_of): nobody reads it after the batch. Where
 * tasks that follow one another are computed in one pass, it is never in memory as a whole. */
static inline struct svmx_arg svmx_out_passing(enum svmx_type type, uint64_t count) {
    struct svmx_arg arg = svmx_in(type, (const void *)0, count);
    arg.kind = SVMX_ARG_PASSING;
    return arg;
}

/* Output number `output` of the earlier task `task` (svmx_batch_task_count before it was added) as an input. */
static inline struct svmx_arg svmx_result_of(enum svmx_type type, uint32_t task, uint32_t output) {
    struct svmx_arg arg = {SVMX_ARG_RESULT, (uint32_t)type, 0, {0}, 0};
    arg.from.result.task = task;
    arg.from.result.output = output;
    return arg;
}

/* `count` elements of a buffer from number `first` on, to read or to write. Best where that is a multiple of 64 bytes. */
static inline struct svmx_arg svmx_view(enum svmx_type type, svmx_buffer_t *buffer, uint64_t first, uint64_t count) {
    uint64_t size = svmx_type_bytes(type);
    struct svmx_arg arg = svmx_in(type, (const void *)0, count);
    arg.kind = SVMX_ARG_BUFFER;
    arg.from.buffer = buffer;
    arg.offset = first <= (UINT64_MAX >> 4) ? first * size : UINT64_MAX;
    return arg;
}

/*
 * Adds a task: operation `op` (ops.h, or svmx_op_find) with its arguments in the order of its signature, outputs first.
 * Checks everything that can be checked without running. A refused task leaves the batch as it was, and svmx_batch_error
 * begins with its number ("task 3: ..."). Tasks of one
 * batch run in any order, except that a task runs after those whose results it takes. Errors: UNKNOWN (op), ARGUMENT
 * (NULL, count, type, lengths that disagree, a result that does not exist, what the operation refuses), OVERFLOW (a
 * size, a view that ends behind its buffer), UNSUPPORTED (a result where data is checked), STATE (submitted already),
 * MEMORY, CLOSED. Does not block.
 */
SVMX_EXPORT enum svmx_status svmx_batch_add(svmx_batch_t *batch, uint32_t op, const struct svmx_arg *args,
                                            size_t arg_count);

/*
 * Data that stays. A buffer is memory of the library that tasks name by views (svmx_view), as inputs and as outputs. Devices
 * with memory of their own keep a copy: what many batches read is uploaded once, what one batch wrote there the next reads
 * there, and what is there already counts when a device is chosen. The host's copy is whole whenever no batch that writes to
 * the buffer is under way, so a device that is lost takes nothing with it. Batches that name a buffer come in the order of their
 * submission where one of them writes to it, on whichever devices they run: one that reads what another writes is submitted
 * right behind it, and starts when that one is over, however it ended; svmx_run waits for that. Those that only read it run side
 * by side. For write and read the rules for memory hold: while a batch is under way nobody writes what it reads or touches what
 * it writes. Within a batch no output overlaps anything. Copies and order are of whole buffers: data that is used apart belongs
 * into buffers of its own.
 *
 * create: all bytes are 0. Errors: ARGUMENT (NULL), OVERFLOW (bytes), MEMORY, CLOSED.
 * write, read: `bytes` at `offset`, copied at once. Errors: ARGUMENT (NULL), OVERFLOW (behind its end). Also after svmx_close.
 * destroy: batches that name it keep it until they are reset or destroyed. NULL is fine.
 */
SVMX_EXPORT SVMX_MUST_CHECK enum svmx_status svmx_buffer_create(svmx_executor_t *executor, uint64_t bytes,
                                                                svmx_buffer_t **buffer);
SVMX_EXPORT enum svmx_status svmx_buffer_write(svmx_buffer_t *buffer, uint64_t offset, const void *data,
                                               uint64_t bytes);
SVMX_EXPORT enum svmx_status svmx_buffer_read(const svmx_buffer_t *buffer, uint64_t offset, void *data, uint64_t bytes);
SVMX_EXPORT void svmx_buffer_destroy(svmx_buffer_t *buffer);
/* Its size; 0 for NULL. */
SVMX_EXPORT uint64_t svmx_buffer_bytes(const svmx_buffer_t *buffer);

/*
 * Memory of the library to write inputs into, aligned to 64 bytes, so that a device need not copy them: the tasks of one
 * operation are taken in place if all their inputs lie in one piece, so ask once for all of a batch where you can; a batch that
 * is reset and asks piece by piece for as much again gets neighbours. Tasks name it like memory of their own. It is the caller's to write until submit and after completion, and goes with
 * svmx_batch_reset, svmx_batch_destroy or svmx_close; svmx_batch_rearm leaves it. Contents are whatever they were. For 0
 * bytes an address that must not be used. What earlier batches gave back is given out again without a call of a driver;
 * where there is none of that size the device's own thread asks its driver, and this waits for it, for little more than
 * options.patience_ms: then, as where the device has none left, it gives plain memory, whose contents are copied
 * (svmx_stats.allocs_late, allocs_refused). After warm-up, or where no device has memory of its own, it does not block. Errors: ARGUMENT (NULL), OVERFLOW (bytes), STATE
 * (submitted already), MEMORY, CLOSED.
 */
SVMX_EXPORT enum svmx_status svmx_batch_alloc(svmx_batch_t *batch, uint64_t bytes, void **memory);

/*
 * Where output number `output` of a task is, and its bytes (may be NULL), after the batch is done: for svmx_out_library
 * memory of the library, which goes with svmx_batch_reset, rearm, destroy or svmx_close; else what the task named. Errors:
 * ARGUMENT (batch or data is NULL), STATE (not done, or cancelled), UNKNOWN (no such task or output, or one that passed).
 */
SVMX_EXPORT enum svmx_status svmx_result(svmx_batch_t *batch, uint32_t task, uint32_t output, void **data,
                                         uint64_t *bytes);

/* How many tasks a batch has: also the number that the next one gets. 0 for NULL. */
SVMX_EXPORT uint32_t svmx_batch_task_count(const svmx_batch_t *batch);

/* A number of the caller's that goes into the batch's receipts. Errors: ARGUMENT (NULL), STATE (under way), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_batch_set_tag(svmx_batch_t *batch, uint64_t tag);

/*
 * Whose data this batch has: a number of the caller's, 0 for nobody in particular. Memory of the library and of devices that
 * goes from a batch of one tenant to that of another is cleared in between; so is what svmx_batch_alloc gives.
 * It stays over svmx_batch_reset. Errors: ARGUMENT (NULL), STATE (under way, or it has tasks or memory already), CLOSED.
 */
SVMX_EXPORT enum svmx_status svmx_batch_set_tenant(svmx_batch_t *batch, uint64_t tenant);

/* Who may compute. */
enum svmx_policy {
    SVMX_POLICY_AUTO = 1, /* who is expected to finish first, by measurement */
    SVMX_POLICY_CPU = 2,  /* devices that compute in the calling thread: SIMD, the reference code */
    SVMX_POLICY_GPU = 3,  /* the others, or an error, never SIMD instead; a CPU behind a driver (PoCL) is one of them */
    SVMX_POLICY_SPLIT = 4, /* as AUTO, but smaller parts are cut for several devices, too (docs/MULTI-DEVICE.md) */
    SVMX_POLICY_ORDER = 5  /* the first in the order of backends that serves the operation, measured or not */
};

/* Overrides the policy of the executor (options.policy) for this batch, until it is set again; 0: no more. Errors: ARGUMENT
 * (NULL, unknown policy), STATE (under way), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_batch_set_policy(svmx_batch_t *batch, uint32_t policy);

/* Thresholds of this batch in place of those of options.policy ("auto:LOW..HIGH"), under the policies AUTO and SPLIT: launches
 * of less than `low` units are the CPU's, those of `high` and more another device's, where one serves the operation; between
 * them measurement decides. The same number twice leaves nothing to it ("fixed:N"); 0 and UINT64_MAX leave all. They stay
 * until they are set again; 0 and 0: no more. Errors: ARGUMENT (NULL, low above high), STATE (under way), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_batch_set_bounds(svmx_batch_t *batch, uint64_t low, uint64_t high);

/* What the caller thinks that the batch takes on the CPU, ns: used where nothing was measured yet; 0: nothing. It stays
 * over svmx_batch_reset. Errors: ARGUMENT (NULL), STATE (under way), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_batch_set_hint(svmx_batch_t *batch, uint64_t cpu_ns);

/* How long a device may take for each launch of this batch, from hand-over to answer, ns, in place of what the executor has
 * for it (options.timeout_ms); 0: that again. One that takes longer is given up, and the launch is redone elsewhere. It
 * stays over svmx_batch_reset. Errors: ARGUMENT (NULL), STATE (under way), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_batch_set_timeout(svmx_batch_t *batch, uint64_t device_ns);

/* Which runs of this batch are computed twice and compared, as in options.verify: "off", "sample:P", "full"; NULL: what the
 * executor has. It stays over svmx_batch_reset. Errors: ARGUMENT (NULL batch, any other text), STATE (under way),
 * CLOSED. */
SVMX_EXPORT enum svmx_status svmx_batch_set_verify(svmx_batch_t *batch, const char *verify);

/* Whether receipts of this batch shall have a hash of the results (XXH3, 64 bits, over the outputs of all tasks in order):
 * costs a reading of all outputs. It stays over svmx_batch_reset. Errors: ARGUMENT (NULL), STATE (under way), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_batch_set_hash(svmx_batch_t *batch, bool wanted);

/*
 * Called once for each submission that was taken, when the results are there, or it was cancelled: after svmx_submit
 * in a thread of the library, after svmx_run in whichever thread finished. The batch is still the library's while the
 * callback runs: it may call svmx_receipt_get and submit other batches (not blocking), but must not wait for, reset
 * or destroy this one. svmx_run of a batch that names a buffer which one under way writes is refused there with STATE. A NULL `done` takes it away. Errors: ARGUMENT (batch is NULL), STATE (under way), CLOSED.
 */
typedef void (*svmx_done_fn)(svmx_batch_t *batch, enum svmx_status status, void *user);
SVMX_EXPORT enum svmx_status svmx_batch_on_done(svmx_batch_t *batch, svmx_done_fn done, void *user);

/* 1 is added to this eventfd of the caller's when the batch is done; -1 for none. The caller keeps it open until the batch
 * is destroyed or has another one set; whether it is an eventfd is not checked. Errors: ARGUMENT (batch is NULL), STATE
 * (under way), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_batch_set_eventfd(svmx_batch_t *batch, int fd);

enum svmx_submit_flags {
    SVMX_SUBMIT_NONBLOCK = 1 << 0, /* a full queue answers SVMX_BUSY instead of blocking until there is room */
    /* It is done after every batch that was submitted with this flag before it, and before every later one. Without it a
     * batch is done as soon as its results are there: of several under way the last may be the first. */
    SVMX_SUBMIT_IN_ORDER = 1 << 1
};

/*
 * Hands a batch over and returns. On success the library has it until completion; on any other status it is still
 * the caller's, unchanged. Blocks while the queue is full, unless told not to: then BUSY.
 * Errors: as svmx_run; ARGUMENT also for unknown flags.
 */
SVMX_EXPORT SVMX_MUST_CHECK enum svmx_status svmx_submit(svmx_batch_t *batch, uint32_t flags);

/* Never blocks. OK: done, every output is written. BUSY: under way. CANCELLED. Errors: ARGUMENT (NULL), STATE (it was not
 * submitted). */
SVMX_EXPORT enum svmx_status svmx_poll(svmx_batch_t *batch);

/* Waits up to `timeout_ns` (UINT64_MAX: for ever) for completion. TIMEOUT: not yet, it goes on. Else as svmx_poll. */
SVMX_EXPORT enum svmx_status svmx_wait(svmx_batch_t *batch, uint64_t timeout_ns);

/*
 * Takes a batch back if nothing of it has started: then OK, no output is touched, and svmx_wait soon says CANCELLED (of one that
 * waits for others because of its buffers, when they are over). BUSY:
 * too late, it runs and will complete. Errors: ARGUMENT (NULL), STATE (not submitted, or done). Never blocks.
 */
SVMX_EXPORT enum svmx_status svmx_cancel(svmx_batch_t *batch);

/* Makes a batch that is done ready to be submitted again with the same tasks. Errors: ARGUMENT (NULL), STATE (under way, or
 * it has not run), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_batch_rearm(svmx_batch_t *batch);

/*
 * Recorded batches: the same tasks many times, with other data in the same memory or buffers. Record checks the batch as a
 * whole and closes it to new tasks, until svmx_batch_reset; what is found out about its tasks is kept. Replay runs it and
 * waits, as svmx_run does, any number of times without svmx_batch_rearm, and allocates nothing once it has run. A recorded
 * batch may as well be armed again and submitted. Offsets of messages must not change. Errors of record: ARGUMENT (NULL,
 * overlap), STATE (submitted already), MEMORY, CLOSED; of replay: as svmx_run, and STATE if it is not recorded.
 */
SVMX_EXPORT enum svmx_status svmx_batch_record(svmx_batch_t *batch);
SVMX_EXPORT SVMX_MUST_CHECK enum svmx_status svmx_batch_replay(svmx_batch_t *batch);

/* ---- loops ---- */

/* After each iteration the bytes at `offset` of `buffer` are those of output `output` of task `task` of the body. */
struct svmx_carry {
    uint32_t task, output;
    svmx_buffer_t *buffer;
    uint64_t offset;
};

enum svmx_until_kind {
    SVMX_UNTIL_BELOW = 1,   /* a float that is less than `limit`; a NaN is not */
    SVMX_UNTIL_NOT_ZERO = 2 /* a whole number that is not 0 */
};

/* When a problem is over: by an output of one element of the body. */
struct svmx_until {
    uint32_t task, output;
    uint32_t kind; /* enum svmx_until_kind */
    uint32_t reserved;
    double limit;
};

struct svmx_loop {
    size_t size; /* set by the caller */
    const struct svmx_carry *carries;
    const struct svmx_until *untils; /* one for each problem */
    uint32_t carry_count, until_count;
    uint32_t max_iterations;
    uint32_t check_every; /* iterations between looks at the conditions; 0: as the library likes. Changes no result */
};

enum svmx_loop_reason {
    SVMX_LOOP_CONDITION = 1, /* its condition held */
    SVMX_LOOP_LIMIT = 2      /* max_iterations were run without */
};

/* How a problem ended. */
struct svmx_loop_end {
    uint32_t iterations;
    uint32_t reason; /* enum svmx_loop_reason */
    double value;    /* of its condition, after the last of these iterations */
};

/* What it took. */
struct svmx_loop_counts {
    uint64_t windows; /* batches that were run: looks at the conditions, and large state that was computed again */
    uint64_t launches, readbacks;
};

/*
 * Repeats the tasks of a batch, the body, until conditions hold. Defined as: run the body; carry on; look at the condition;
 * again, unless it holds or max_iterations are done. A body may hold many problems: tasks belong together if they take results
 * of one another, or what is carried on from one another, and each such group has one condition. A problem ends by its own;
 * the others go on. When all are over, buffers that are carried on, and the outputs of the body that are memory or views, hold
 * what each problem's last iteration gave; ends[i] tells of the problem of untils[i].
 *
 * The body carries on by buffers: an input that is a view of all that a carry writes is what the iteration before gave, and
 * at first what the buffer holds. Nothing else of the body may touch these bytes. Outputs that only the body reads, the
 * condition and what is carried on included, are best left to svmx_out_passing. Not svmx_out_library.
 *
 * Runs several iterations as one batch where a device takes that in one submission, and looks at the conditions after: what
 * was computed behind the iteration that counts is dropped, so the results and counts are those of the definition.
 * `body` is not submitted, only read, and may be used again; its tenant, tag, policy, timeout, verify and hash hold, and its
 * hint for each iteration. `counts` may be NULL. Blocks.
 * Errors, with their text in the body: ARGUMENT (NULL, what the text names), STATE (the body was submitted), MEMORY, CLOSED;
 * and as svmx_run: then buffers hold what some iteration gave, each problem's at its own.
 */
SVMX_EXPORT SVMX_MUST_CHECK enum svmx_status svmx_loop_run(svmx_batch_t *body, const struct svmx_loop *loop,
                                                           struct svmx_loop_end *ends, struct svmx_loop_counts *counts);

/* ==== ADVANCED ================================================================================================ */

/* Gets each line of the log, without a newline. Called from any thread; must not call back into the executor. */
typedef void (*svmx_log_fn)(void *user, enum svmx_log_level level, const char *text);

struct svmx_plugin; /* plugin.h */

enum svmx_open_flags {
    SVMX_OPEN_NO_ENVIRONMENT = 1 << 0 /* ignore SUPERVM_* variables; always so in a set-user-ID program */
};

/* What a choice makes least. */
enum svmx_goal {
    SVMX_GOAL_TIME = 1,
    SVMX_GOAL_ENERGY = 2 /* reserved: SVMX_ERR_UNSUPPORTED in this version */
};

/* Settings. Start from {.size = sizeof(struct svmx_options)}: a field left zero or NULL is not set, and the environment
 * variable beside it counts, then the default. `svmx config` shows them all. SVMX_ZERO is for numbers of which 0 is a
 * value (log_level: off, probe_percent, debug, gather_us): 0, and set, so that it wins over the environment. */
#define SVMX_ZERO UINT32_MAX
struct svmx_options {
    size_t size;
    const char *backends; /* SUPERVM_BACKENDS: which backends, in which order; default "" = all that are found */
    const char
        *backend_path;    /* SUPERVM_BACKEND_PATH: folders of plugins, absolute, ':' between; default: as installed */
    const char *variant;  /* SUPERVM_VARIANT: kernel variant that CPU backends must use; default: the best */
    uint32_t threads;     /* SUPERVM_THREADS: of a CPU backend; default: as many as the process may use */
    uint32_t queue_depth; /* SUPERVM_QUEUE_DEPTH: batches under way before submit pushes back; default 256 */
    uint64_t min_bucket;  /* SUPERVM_MIN_BUCKET: smallest bucket, units, a power of two; default 16384 */
    uint64_t pool_bytes;  /* SUPERVM_POOL_BYTES: idle staging memory kept for each device; default 256 MiB */
    /* SUPERVM_TIMEOUT_MS: a device that takes longer is given up; where work that cannot be cut is expected to take more than
     * 100 ms, for each 100 ms. Default 1500. */
    uint32_t timeout_ms;
    uint32_t log_level; /* SUPERVM_LOG: enum svmx_log_level, or off, error, warn, info, debug; default warn */
    svmx_log_fn log;    /* default: standard error */
    void *log_user;
    uint32_t flags; /* enum svmx_open_flags */
    uint32_t reserved;
    /* Backends that are linked in, for programs that cannot dlopen. They come before plugins of the same name. The
     * array and what it points at live until svmx_close. */
    const struct svmx_plugin *const *static_plugins;
    size_t static_plugin_count;
    uint32_t max_pipelines; /* SUPERVM_MAX_PIPELINES: compiled pipelines kept, least recently used out; default 1024 */
    uint32_t goal;          /* enum svmx_goal; default: the least time */
    /* SUPERVM_CACHE_DIR: folder of compiled pipelines, absolute, made when it is needed; "off" for none; default
     * $XDG_CACHE_HOME/svmx, else $HOME/.cache/svmx, or off where the environment is not read. */
    const char *cache_dir;
    uint64_t cache_bytes; /* SUPERVM_CACHE_BYTES: above that the least recently used go; default 256 MiB */
    /* Smallest buckets of single operations, "keccak256=1024,sha256=1024", each a power of two; min_bucket is for the rest.
     * In the environment this is what follows the number of SUPERVM_MIN_BUCKET and a ','; `svmx tune` proposes it. */
    const char *min_bucket_ops;

    /* SUPERVM_POLICY: who may compute: auto, cpu, gpu, split, order; N units and more on a GPU (fixed:N); by measurement,
     * but below LOW units never and from HIGH on always on one (auto:LOW..HIGH, either may be left out). One for all, then
     * ,OPERATION=POLICY for some: "auto,keccak256=fixed:4096,matmul_f32=gpu". Default auto. */
    const char *policy;
    /* SUPERVM_LEARN: on; strict: measure, but try no device for the sake of learning; frozen: choose by what the profile
     * says, and learn nothing. Default on. */
    const char *learn;
    uint32_t probe_percent; /* SUPERVM_PROBE_PERCENT: of busy time that trying devices may cost; default 1 */
    uint32_t receipts;      /* SUPERVM_RECEIPTS: how many of the last are kept for svmx_receipts_read; default 1024 */
    /* SUPERVM_PROFILE: file that keeps what was measured, absolute; "off" for none; default "profile" in cache_dir. */
    const char *profile;

    /* SUPERVM_TIMEOUT_MIN_MS: once it is known what such launches take, a device has 8 times what 99 % of them took, at least
     * this and at most what timeout_ms gives; default 50. As large as timeout_ms: every launch has what that gives. */
    uint32_t timeout_min_ms;
    uint32_t debug; /* SUPERVM_DEBUG: 1: the log gets the way of every launch, whatever log_level is; default 0 */

    /* SUPERVM_ISOLATE: backends that run in a process of their own each, "opencl,levelzero": a driver that crashes there is a
     * device that is lost, not the end of this program. Costs some copies and system calls a launch. Default "" = none. */
    const char *isolate;
    /* SUPERVM_DRIVER_PROBE: before a plugin with drivers behind it is loaded, another process does so and lists its devices: a
     * driver that crashes or hangs there costs that backend only. auto: once for each set of drivers, where cache_dir can
     * keep the verdict; on: also without that, at each svmx_open; off. Default auto. */
    const char *driver_probe;
    /* SUPERVM_VERIFY: launches that are computed on a second backend too and compared byte by byte before their results are
     * given out: "off", "sample:P" (those of a share P of batches, 0 to 1, drawn by lot), "full". Where they differ the
     * reference code decides; who was wrong does not get the operation again. Default off. */
    const char *verify;
    /* SUPERVM_LOAD_WARNING, SUPERVM_LOAD_CRITICAL: percent of a device's own memory, or of queue_depth in its queue, from which
     * new work prefers other devices, and from which it is refused there; defaults 70 and 90. */
    uint32_t load_warning, load_critical;
    /* SUPERVM_STATS_DIR: folder in which the executor keeps its counters as a file of JSON (as svmx_stats_write has them),
     * written anew five times a second and when it is closed; an absolute path of a folder that is the user's own, made if it
     * is not there, or off. Default off. */
    const char *stats_dir;
    /* SUPERVM_WINDOW: launches that a device with memory of its own has at once, so that it copies for one while it computes
     * another; 1 to 16, never more than the device takes. 1: one after another. Default 3. docs/PIPELINING.md */
    uint32_t window;
    /* SUPERVM_PATIENCE_MS: a call of a driver that takes so much longer than its deadline allows never returns, and is left
     * behind; builds, first launches of a size, opening, and drivers that compute on the host's cores have six times as long;
     * 10 to 3600000. Default 5000. docs/RELIABILITY.md */
    uint32_t patience_ms;
    /* SUPERVM_GATHER_US: small launches of one operation, tenant and policy that wait for a device one behind the other, from
     * whichever threads, are one launch there; each batch has its own results, receipt and end. For so long, in microseconds,
     * up to 100000, the first waits for others; SVMX_GATHER_OFF ("off"): each has a launch of its own. Default 0: only those
     * that wait already. docs/PIPELINING.md */
    uint32_t gather_us;
    uint32_t reserved_2;
    /* SUPERVM_SIM_MODEL: file that describes one more device of the backend sim, an absolute path; docs/SIM.md. Default none. */
    const char *sim_model;
};
#define SVMX_GATHER_OFF (UINT32_MAX - 1) /* SVMX_ZERO is another */

/* ---- devices and the load report ---- */

/* A device of the executor. Text lives as long as the executor. */
struct svmx_device {
    size_t size; /* set by the caller */
    const char *backend, *name, *driver, *variant, *pci;
    uint32_t kind;  /* enum svmx_device_kind */
    uint32_t flags; /* enum svmx_device_flags */
    uint32_t threads;
    uint32_t usable; /* 1: it may have work; 0: it is resting or lost */
    uint64_t memory_bytes, max_alloc_bytes;
    /* What it did. */
    uint64_t tasks, launches, bytes_in, bytes_out;
    /* It had something to do: by its own clock where that can be believed, else from hand-over to completion. Launches that it
     * has at once count one after another, so it is never more than passed, unless it computes in calling threads. */
    uint64_t busy_ns;
    uint64_t failures;
    uint64_t
        device_ns; /* of computing and copying by the device's own clock; 0 where it has none that can be believed */
    uint64_t backlog_ns;     /* what it has still to do, as expected; devices on the host's cores have one backlog */
    uint32_t clock;          /* enum svmx_device_clock */
    uint32_t index;          /* its number within its backend: "NAME:INDEX" in SUPERVM_BACKENDS is this one */
    uint32_t health;         /* enum svmx_health */
    uint32_t strikes;        /* failures that are held against it, 0 to 3 */
    uint32_t quarantined;    /* operations that it does not get because it gave wrong bytes for them */
    char health_reason[128]; /* why it is not healthy, else "" */
    uint32_t load;           /* enum svmx_load */
    uint64_t memory_used;    /* by this executor, in use, of memory_bytes (0: the device tells of no limit) */
    uint64_t pending;        /* launches that wait for it or run there, of options.queue_depth */
    /* More of what it did and has; svmx_op_stats_get has it by operation. */
    uint64_t wait_ns, stage_ns, collect_ns, compute_ns;    /* computing is the useful part of setup, transfer and it */
    uint64_t queued;                                       /* parts that wait for it now */
    uint64_t pool_bytes, pool_bytes_peak, pool_idle_bytes; /* staging memory held, the most so far, and unused of it */
    uint64_t run_ns, setup_ns, transfer_ns;                /* as in svmx_op_stats */
    /* What its driver tells of it; 0: it does not. Nothing hangs on it but what is shown. */
    uint32_t max_group;   /* work-items of a work-group */
    uint32_t timer_ns;    /* a step of its own clock; whether that is believed is `clock` */
    uint32_t fp32, fp64;  /* enum svmx_fp; doubles that it does not have are SVMX_DEVICE_NO_F64 in `flags` */
    uint64_t local_bytes; /* memory of a work-group */
    uint8_t uuid[16];     /* all 0: unknown */
    /* Operations that it was found to compute, and those that it does not get, for whatever reason; the others were not tried
     * yet. svmx_device_op_get has them one by one. */
    uint32_t proved, refused;
};

/* How much of what a device has is in use. Always NORMAL of one that computes in the calling thread. */
enum svmx_load {
    SVMX_LOAD_NORMAL = 1,
    SVMX_LOAD_WARNING = 2, /* new work prefers other devices (options.load_warning) */
    SVMX_LOAD_CRITICAL = 3 /* it gets no new work, but under the policy gpu (options.load_critical) */
};

/* How far a device is trusted, by this executor alone. docs/RELIABILITY.md. */
enum svmx_health {
    SVMX_HEALTHY = 1,
    SVMX_SUSPECT =
        2, /* it failed lately, or has come back and is watched: each launch is compared with another device */
    SVMX_RESTING =
        3, /* three failures within 60 s: it has no work until it is rebuilt and tested; 1 s at first, then longer */
    SVMX_LOST = 4,       /* it kept work past its deadline, or said that it is lost; then as RESTING */
    SVMX_QUARANTINED = 5 /* healthy but for operations that it gave wrong bytes for: these it does not get */
};

/* Whether a device tells how long things took. */
enum svmx_device_clock {
    SVMX_CLOCK_NONE = 0, /* not yet, or never: host time counts */
    SVMX_CLOCK_USED = 1, /* what it tells fits host time */
    SVMX_CLOCK_REFUSED =
        2 /* what it tells cannot be: nothing, more than passed, or next to nothing; host time counts */
};

/* Devices are numbered from 0 in order of preference; the last is always the reference code. This and the other counts
 * below are 0 for an executor that is NULL or closed. */
SVMX_EXPORT uint32_t svmx_device_count(const svmx_executor_t *executor);

/* Describes a device and its counters at this moment. Errors: ARGUMENT (NULL, size), UNKNOWN (no such number), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_device_get(const svmx_executor_t *executor, uint32_t index,
                                             struct svmx_device *device);

/*
 * Forgets what is held against a device and has it rebuilt now: its plugin is opened again, all operations that it served are
 * tested, and then it serves, or rests. Not its quarantine: that goes with the driver, or with the profile. Returns at
 * once; svmx_device_get tells how it went. Errors: ARGUMENT (NULL), UNKNOWN (no such number), UNSUPPORTED (the reference code
 * has nothing to rebuild), CLOSED.
 */
SVMX_EXPORT enum svmx_status svmx_device_reset(svmx_executor_t *executor, uint32_t index);

/* What is known of an operation on a device: by its known answers and by comparison with the reference code there, never by
 * what a driver says of itself. */
enum svmx_fitness {
    SVMX_FITNESS_UNTRIED = 0,     /* it is tried before its first use; svmx_prewarm does it now */
    SVMX_FITNESS_PROVED = 1,      /* it gave the right bytes */
    SVMX_FITNESS_UNSUPPORTED = 2, /* the backend does not have it */
    SVMX_FITNESS_FAILED = 3,      /* it cannot be built or run there */
    SVMX_FITNESS_QUARANTINED = 4  /* it gave wrong bytes, in this process or in an earlier one */
};

struct svmx_device_op {
    size_t size;      /* set by the caller */
    uint32_t fitness; /* enum svmx_fitness */
    uint32_t reserved;
    char reason[256]; /* why the device does not get it, else "" */
};

/* What is known of an operation on a device now. Errors: ARGUMENT (NULL, size), UNKNOWN (no such device or operation),
 * CLOSED. */
SVMX_EXPORT enum svmx_status svmx_device_op_get(const svmx_executor_t *executor, uint32_t device, uint32_t op,
                                                struct svmx_device_op *device_op);

enum svmx_load_verdict {
    SVMX_LOADED = 1,
    SVMX_SKIPPED = 2, /* the user left it out, or it has nothing to serve on this machine */
    SVMX_REFUSED = 3  /* it is broken, unsafe or of another ABI */
};

/* What became of one candidate. Text lives as long as the executor; path is "" for one that is linked in. The reason of one that
 * was loaded also names the devices that are not used, and why. */
struct svmx_load_entry {
    size_t size; /* set by the caller */
    const char *name, *path, *version, *licence, *reason;
    uint32_t verdict; /* enum svmx_load_verdict */
    uint32_t status;  /* the svmx_status behind it, as a number without its sign */
    uint32_t noted;   /* 1: the reason says more than that it is ready, and is worth showing */
    uint32_t reserved;
};
SVMX_EXPORT uint32_t svmx_load_report_count(const svmx_executor_t *executor);
/* By position, 0 to svmx_load_report_count - 1. Errors: ARGUMENT (NULL, size), UNKNOWN (no such number), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_load_report_get(const svmx_executor_t *executor, uint32_t index,
                                                  struct svmx_load_entry *entry);

/* ---- operations ---- */

/* An operation. Text and parameters live as long as the executor. */
struct svmx_op {
    size_t size; /* set by the caller */
    uint32_t id;
    uint32_t param_count;
    const char *name, *summary;
    const char *unit; /* what its size counts: "element", "message" */
    const struct svmx_param *params;
};
SVMX_EXPORT uint32_t svmx_op_count(const svmx_executor_t *executor);
/* By position, 0 to svmx_op_count - 1. Errors: ARGUMENT (NULL, size), UNKNOWN (no such number), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_op_get(const svmx_executor_t *executor, uint32_t index, struct svmx_op *op);
/* Its number, for svmx_batch_add, by name. Errors, with their text in `error` (may be NULL): ARGUMENT (NULL), UNKNOWN
 * (`svmx ops` and svmx_op_get list the known ones), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_op_find(const svmx_executor_t *executor, const char *name, uint32_t *op,
                                          struct svmx_error *error);

/*
 * Made-up arguments for one task of an operation, the same for the same seed everywhere: for benchmarks, trials and
 * tests. `size` is in units (elements, messages). The memory is the example's, outputs included, until destroy.
 * Errors: ARGUMENT (NULL), UNKNOWN (op), OVERFLOW (size), MEMORY, CLOSED. Destroying NULL, or twice, does nothing.
 */
struct svmx_example {
    struct svmx_arg *args;
    size_t arg_count;
    void *owned; /* the library's */
};
SVMX_EXPORT enum svmx_status svmx_example_create(const svmx_executor_t *executor, uint32_t op, uint64_t size,
                                                 uint64_t seed, struct svmx_example *example);
SVMX_EXPORT void svmx_example_destroy(struct svmx_example *example);

/*
 * Builds ahead of use what a task of `units` of an operation needs, on every device, and waits until it is there or
 * refused. Without it the first batches of an operation are answered by the CPU while a device compiles. The size is
 * that of all tasks of the operation in a batch together; SVMX_PREWARM_PROFILED stands for every size of it that was
 * measured, by this executor or by those before it (SUPERVM_PROFILE). Blocks for as long as drivers take to compile.
 * Errors: ARGUMENT (NULL), UNKNOWN (op), OVERFLOW (units), CLOSED.
 */
#define SVMX_PREWARM_PROFILED UINT64_MAX
SVMX_EXPORT enum svmx_status svmx_prewarm(svmx_executor_t *executor, uint32_t op, uint64_t units);

/* ---- your own operations ---- */

/* One argument of a task as the functions of an operation see it. `data` has any alignment; of a scalar it is the address
 * of the value, aligned. Only outputs may be written. */
struct svmx_operand {
    void *data; /* may be NULL where bytes is 0; in a check, see there */
    uint64_t bytes;
};

/* One argument of a known answer: an input, or the output that is expected. Of a scalar, the address of the value. */
struct svmx_known {
    const void *data;
    uint64_t bytes;
};

/* How large a task is. */
struct svmx_op_size {
    uint64_t units; /* what device code is cut by, numbered from 0 in every task: elements, grids, messages */
    uint64_t work;  /* what time goes with, in any measure that is the same for all tasks of the operation */
};

/*
 * Computes one task that check accepted: writes every byte of every output, from the inputs alone. It is the definition of
 * the operation: all devices are compared with it, and it runs where no device does better. Several threads call it
 * at once, also threads of the library with a small stack, in the default floating-point environment. It must give the
 * same bytes every time, keep no state, not call the executor, and leave the floating-point environment as it was.
 */
typedef void (*svmx_op_run_fn)(const struct svmx_operand *args, void *user);

/*
 * Looks at the arguments of a task that is being added, after the library saw to types, whole items and offsets that
 * fit. Sets *size and returns SVMX_OK; or refuses with an error, and says why in error->text (in words for whoever
 * calls svmx_batch_add). It sees the bytes of all arguments, and the data of scalars, of offsets and of what check_reads
 * of the definition names; other data need not be there yet and is NULL. May be called from several threads at once.
 */
typedef enum svmx_status (*svmx_op_check_fn)(const struct svmx_operand *args, struct svmx_op_size *size,
                                             struct svmx_error *error, void *user);

/* Sets the bytes of every argument of an example of `size` units; of a scalar, its value as bits. SVMX_ERR_OVERFLOW if
 * they do not fit. */
typedef enum svmx_status (*svmx_op_shape_fn)(uint64_t size, uint64_t *bytes, void *user);

/* How near the results on all devices are to those of `run`. */
enum svmx_exactness {
    SVMX_EXACT = 1 /* the same bytes */
};

/* What is known of an operation that is registered. */
enum svmx_op_flags {
    /* It has one output, and element i of that is made of element i of every array and of the scalars, wherever in a task it is.
     * No `check` and no `shape`; arrays have elements of one size, an element is an item. So a task may be computed in pieces:
     * `run` is called with a part of each array, tasks of it that follow one another are one pass over memory where the CPU
     * computes them, and long tasks are cut for several devices. svmx_op_register tries pieces, and refuses what differs. */
    SVMX_OP_ELEMENTWISE = 1 << 0
};

enum {
    SVMX_OP_FIRST_REGISTERED = 128, /* operations that programs register have numbers from here on */
    SVMX_OP_MAX_PARAMS = 8,
    SVMX_OP_MAX_KNOWN = 64
};

/*
 * An operation of your own. Start from {.size = sizeof(struct svmx_op_def)}; a field left zero or NULL is not set.
 * docs/OPERATIONS.md, "Your own operation", has an example and the rules for device code.
 */
struct svmx_op_def {
    size_t size;
    const char *name;    /* a small letter, then small letters, digits and '_': at most 31; not yet in use */
    const char *summary; /* one line for `svmx ops`; may be NULL */
    const char *unit;    /* what its size counts, "grid"; NULL: "item" */

    /* Outputs first, at least one; all of them SVMX_ARRAY. An SVMX_RAGGED input is bytes and has its SVMX_OFFSETS
     * right behind it. A scalar is of 4 or 8 bytes. */
    const struct svmx_param *params;
    uint32_t param_count; /* at most SVMX_OP_MAX_PARAMS */
    uint32_t exactness;   /* SVMX_EXACT: there is no other in this version */

    svmx_op_run_fn run;
    /* NULL: every array has as many items as the first output has, every ragged input as well; that is the number of
     * units, and of work. */
    svmx_op_check_fn check;
    /* NULL: every array gets `size` items, ragged ones of 32 bytes, and every scalar is 1. */
    svmx_op_shape_fn shape;
    void *user; /* handed to the three functions as it is; lives until svmx_close */

    /* Arguments and the right outputs, known_count rows of param_count entries. Every device must give them before it
     * serves, beside the outputs of `run` for made-up inputs. May be none. */
    const struct svmx_known *known;
    uint32_t known_count; /* at most SVMX_OP_MAX_KNOWN */
    uint32_t trial_size;  /* units of the made-up inputs that devices are compared by; 0: 5,000 */

    /* Device code: one kernel, called as the operation is, which then must not be called as a function of OpenCL C
     * ("mix", "rotate"). Both, one, or none: then CPUs compute it. */
    const char *opencl_c; /* text; without what plugins/kernels/common.cl has, which is put in front */
    const void *spirv;    /* a module with the same kernel */
    size_t spirv_bytes;
    uint32_t local;                  /* size of a work-group, 1 to 1024; with device code only, as all below */
    uint32_t grain;                  /* units that a work-item takes, a power of two */
    uint32_t scratch_bytes_per_unit; /* of memory that the kernel gets beside its arguments */

    /* Bit i: check looks into argument i, an input. A task cannot take a result of an earlier one for it, as for
     * offsets: there is nothing to look at when it is added. */
    uint32_t check_reads;

    /* Smallest bucket of its launches in units, a power of two up to 2^40; 0: min_bucket of the executor. Lists of
     * operations in settings are read before it is there, and cannot name it. */
    uint64_t min_bucket;

    uint32_t flags; /* enum svmx_op_flags */
};

/*
 * Registers an operation with an executor: from now on *op is its number, and every call that takes an operation takes
 * it. All that `def` points at is copied, but for `user`. Calls `check`, `shape` and `run` to see that known answers
 * come out and that every byte of an output is written. At any time, from any thread, also while batches run; there is no
 * way to take it back but svmx_close. `error` may be NULL. Errors: ARGUMENT (the text names the field), STATE (the name
 * is in use), WRONG_RESULT (run disagrees with a known answer, or with itself), OVERFLOW (128 are registered), MEMORY,
 * CLOSED.
 */
SVMX_EXPORT SVMX_MUST_CHECK enum svmx_status svmx_op_register(svmx_executor_t *executor, const struct svmx_op_def *def,
                                                              uint32_t *op, struct svmx_error *error);

/* ---- settings ---- */

enum svmx_config_source { SVMX_FROM_DEFAULT = 1, SVMX_FROM_ENVIRONMENT = 2, SVMX_FROM_OPTIONS = 3 };

/* One setting. Text lives as long as the executor. */
struct svmx_config_entry {
    size_t size; /* set by the caller */
    const char *name, *variable, *value, *default_value, *help;
    uint32_t source; /* enum svmx_config_source */
    uint32_t reserved;
};
SVMX_EXPORT uint32_t svmx_config_count(const svmx_executor_t *executor);
/* By position, 0 to svmx_config_count - 1. Errors: ARGUMENT (NULL, size), UNKNOWN (no such number), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_config_get(const svmx_executor_t *executor, uint32_t index,
                                             struct svmx_config_entry *entry);

/* ---- counters and receipts ---- */

/* Counters of an executor since it was opened. */
struct svmx_stats {
    size_t size; /* set by the caller */
    uint64_t batches, tasks, launches, cancelled, fallbacks;
    uint64_t pipeline_hits, pipeline_misses;
    uint64_t layout_hits, layout_misses;
    uint64_t pool_hits, pool_misses;
    uint64_t pool_bytes, pool_bytes_peak; /* held by the pools, in use or idle */
    uint64_t pipeline_evictions;
    /* The cache on disk: files found and not found, written, removed because something was wrong with them, removed to
     * make room. */
    uint64_t cache_hits, cache_misses, cache_stored, cache_removed, cache_evicted;
    /* Choosing: launches that were sent to a device to learn what they take there, what that cost beside the best known
     * device, and how often a device was found to have changed its speed for good. */
    uint64_t probes, probe_ns, drifts;
    /* Regret: by which share of their time launches could have been faster elsewhere, estimated from the probes, in
     * millionths, and the interval that has it with 95 % confidence. All 0 without probes; of one probe there is no
     * interval: it is 0 to 1,000,000. */
    uint64_t regret_ppm, regret_low_ppm, regret_high_ppm;
    uint64_t receipts;               /* written since the executor was opened */
    uint64_t flips;                  /* how often an operation of some size went over to another device for good */
    uint64_t failed;                 /* of the batches: those without results */
    uint64_t under_way, queue_depth; /* batches between svmx_submit and completion now, and how many there may be */
    uint64_t open_ns;                /* since svmx_open */
    uint64_t pool_refusals;          /* how often a device had no memory for a pool */
    /* Launches that were computed twice and compared (options.verify, and devices that are watched), and those of them where
     * the results differed. */
    uint64_t compared, differed;
    uint64_t overloads; /* launches that went elsewhere because too much of a device was in use */
    /* Why launches were redone, or failed under the policy gpu; their sum is `fallbacks`: no answer in time; the device was
     * lost; no memory; wrong bytes; any other error. Receipts and the log have the reason of each. */
    uint64_t fallbacks_timeout, fallbacks_lost, fallbacks_memory, fallbacks_wrong, fallbacks_error;
    uint64_t
        pool_evictions; /* idle buffers that pools freed to stay within their limits, those used least recently first */
    /* How often svmx_batch_alloc gave plain memory, whose contents are copied to the device, instead of the device's: because it
     * had none, or because it did not answer in time: its driver hung, or a launch took longer than the patience. */
    uint64_t allocs_refused, allocs_late;
};
/* A snapshot; each number is exact, taken one after another. Errors: ARGUMENT (NULL, size), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_stats_get(const svmx_executor_t *executor, struct svmx_stats *stats);

/* How a device fails a part. */
enum svmx_failure {
    SVMX_FAILED_BACKEND = 0,      /* its plugin answered an error */
    SVMX_FAILED_TIMEOUT = 1,      /* no answer by the deadline */
    SVMX_FAILED_DEVICE_LOST = 2,  /* it is gone */
    SVMX_FAILED_WRONG_RESULT = 3, /* its bytes were compared, and are wrong */
    SVMX_FAILED_MEMORY = 4        /* it has no memory, not even for a part of the tasks */
};
/* "timeout" and so on; "unknown" for anything else. Static text. */
SVMX_EXPORT const char *svmx_failure_name(uint32_t failure);

enum { SVMX_WHY_LINES = 8, SVMX_LATENCY_LINES = 40, SVMX_FAILURE_LINES = 5 };
#define SVMX_ALL_DEVICES UINT32_MAX

/* What an operation did on a device since the executor was opened. A part is all tasks of an operation in one batch. */
struct svmx_op_stats {
    size_t size; /* set by the caller */
    uint64_t parts, tasks, launches, bytes_in, bytes_out;
    /* Times of parts that were answered, cut in two ways: waiting apart, both have the same sum, but for copies that ran
     * beside another launch (they took none of its time) and for comparing. Computing is what is useful of it. A launch that was
     * behind others on its device waited meanwhile: receipts have that in run_ns, here it is in wait_ns. */
    uint64_t wait_ns, stage_ns, run_ns, collect_ns;
    uint64_t setup_ns, transfer_ns, compute_ns;
    uint64_t device_ns;                    /* of computing and copying by the device's own clock */
    uint64_t decisions[SVMX_WHY_LINES];    /* parts, by enum svmx_why */
    uint64_t failures[SVMX_FAILURE_LINES]; /* parts that the device failed, by enum svmx_failure */
    uint64_t latency[SVMX_LATENCY_LINES];  /* parts that took more than 2^(i-1) and at most 2^i ns, with waiting */
    uint64_t flips, probes, regret_ppm; /* as in svmx_stats: of the operation on all devices, whichever is asked for */
    uint64_t pipeline_hits, pipeline_misses, layout_hits, layout_misses; /* found in caches, and not */
    uint64_t busy_ns; /* of run_ns: what the device's own clock confirms, where that can be believed, else all of it */
};
/* A snapshot, as svmx_stats_get. SVMX_ALL_DEVICES: the sum over all of them. Errors: ARGUMENT (NULL, size), UNKNOWN (op,
 * device), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_op_stats_get(const svmx_executor_t *executor, uint32_t op, uint32_t device,
                                               struct svmx_op_stats *stats);

enum svmx_stats_format {
    SVMX_STATS_JSON = 1,
    SVMX_STATS_PROMETHEUS = 2 /* text exposition format 0.0.4 */
};
/* Gets a text piece by piece; pieces are not terminated. */
typedef void (*svmx_write_fn)(void *user, const char *text, size_t length);
/*
 * All counters of an executor, its devices and operations as one text. docs/WATCHING.md lists what is in it. `write` is
 * called in this thread, and must not call the executor. Allocates nothing, stops nothing. Errors: ARGUMENT (NULL, format),
 * CLOSED.
 */
SVMX_EXPORT enum svmx_status svmx_stats_write(const svmx_executor_t *executor, uint32_t format, svmx_write_fn write,
                                              void *user);

/*
 * Which sizes an operation was asked for since the executor was opened, for choosing smallest buckets: counts[i] is how
 * many parts (all tasks of the operation in one batch) had more than 2^(i-1) and at most 2^i units; 0 units count as 1, and
 * the last line takes what is larger. A snapshot. Errors: ARGUMENT, UNKNOWN (op), CLOSED.
 */
enum { SVMX_SIZE_LINES = 48 };
SVMX_EXPORT enum svmx_status svmx_sizes_get(const svmx_executor_t *executor, uint32_t op,
                                            uint64_t counts[SVMX_SIZE_LINES]);

/* What happened to one part of a batch: the tasks of one operation, sent as one launch to one device. */
struct svmx_receipt {
    size_t size; /* set by the caller */
    uint64_t tag;
    uint32_t op, device; /* device that answered */
    uint32_t tasks;
    uint32_t redone; /* how many devices failed before */
    uint64_t units, bucket, bytes_in, bytes_out;
    uint64_t wait_ns, stage_ns, run_ns, collect_ns; /* in the queue; placing inputs; on the device; taking results */
    char reason[128];                               /* why it was redone, or "" */
    uint64_t copied_bytes; /* between the caller's memory and the library's; 0 where all was computed in place */
    uint32_t
        launches; /* 1; 0 in the launch of others (FUSED, gathered); more where memory was short or work was long */
    uint32_t why; /* enum svmx_why: of the choice */

    uint64_t number;      /* of receipts of this executor, from 0 */
    uint64_t time_ns;     /* when it was done, since 1970 */
    uint64_t work;        /* in the operation's own measure */
    uint32_t policy;      /* enum svmx_policy that it was chosen under */
    uint32_t learned;     /* 1: what it took was learned from */
    uint64_t expected_ns; /* what it was expected to take, without waiting; 0: nothing was known */
    uint64_t setup_ns, transfer_ns,
        compute_ns;       /* what it took: stage, run and collect, cut another way, but for comparing */
    uint64_t result_hash; /* svmx_batch_set_hash, else 0 */
    uint32_t candidate_count;
    uint32_t flags; /* enum svmx_receipt_flags */
    struct svmx_receipt_candidate {
        uint32_t device;
        uint32_t verdict;     /* enum svmx_verdict */
        uint64_t expected_ns; /* 0: not known */
        uint64_t backlog_ns;  /* what it had to do before this one when the choice was made */
    } candidates
        [4]; /* the first devices that might have computed it; the last is who was chosen, if none of these is */
    uint64_t upload_ns; /* what inputs took of transfer_ns; results took the rest */
    uint64_t device_ns; /* copying and computing by the device's clock; 0: it has none that can be believed */
    uint32_t readbacks; /* copies to the host; none where the device writes into the host's memory */
    /* Parts of other batches in the same launch (options.gather_us). The first of them has its times and is the one with
     * `launches` 1; of the others all the time is wait_ns. Nothing is learned of each by itself, but of the launch. */
    uint32_t gathered;
    /* What was predicted when it was chosen: their sum is expected_ns; and what the device had to do before, which is not in it. */
    uint64_t expected_setup_ns, expected_transfer_ns, expected_compute_ns, expected_wait_ns;
    /* A COMPARED one: what the other device took for the same tasks, and which one that was. 0: it was the reference code, to
     * which nothing is routed, or was wrong. */
    uint64_t shadow_ns;
    uint32_t shadow_device;
    uint32_t reserved;
};

enum svmx_receipt_flags {
    SVMX_RECEIPT_FIRST_USE = 1 << 0, /* it compiled or allocated what the next ones found */
    SVMX_RECEIPT_CONTENDED = 1 << 1, /* something else wanted the cores meanwhile */
    SVMX_RECEIPT_FAILED = 1 << 2,    /* it has no results, and its batch failed: nobody answered, `reason` says why */
    SVMX_RECEIPT_FUSED = 1 << 3, /* it was computed in the launch of tasks that it takes results of: its times are 0 */
    SVMX_RECEIPT_STRETCH =
        1
        << 4, /* it was computed in one submission with others of its batch: the first of these has the times of all */
    SVMX_RECEIPT_COMPARED = 1 << 5 /* it was computed on another backend too, and the results are the same, or these
                                      are those of the reference code */
};

/* Why a device was chosen. */
enum svmx_why {
    SVMX_WHY_ONLY = 1,    /* no other may, or is known */
    SVMX_WHY_BEST = 2,    /* measured to be the best for this size */
    SVMX_WHY_BACKLOG = 3, /* the best has too much to do */
    SVMX_WHY_PROBE = 4,   /* to learn what it takes there */
    SVMX_WHY_ORDER = 5,   /* the first in order */
    SVMX_WHY_SPLIT = 6    /* its share of a part that was cut */
};

/* What is said of a candidate. */
enum svmx_verdict {
    SVMX_CHOSEN = 1,
    SVMX_SLOWER = 2,      /* or not faster by the margin */
    SVMX_UNMEASURED = 3,  /* nothing is known of it yet but a guess */
    SVMX_NOT_ALLOWED = 4, /* by the policy */
    SVMX_NOT_READY = 5,   /* its pipeline is still to be built */
    SVMX_NO_DEVICE = 6,   /* given up, or it does not have the operation */
    SVMX_OVERLOADED = 7   /* too much of its memory or of its queue is in use */
};
/* Parts of a batch that has its results, also inside its callback. 0 for NULL or one that has not. */
SVMX_EXPORT uint32_t svmx_receipt_count(const svmx_batch_t *batch);
/* By position, 0 to svmx_receipt_count - 1. Errors: ARGUMENT (NULL, size), UNKNOWN (no such number), STATE (no results, or
 * cancelled), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_receipt_get(const svmx_batch_t *batch, uint32_t part, struct svmx_receipt *receipt);

/*
 * The last receipts of all batches (options.receipts), oldest first: those from number *from on, at most `capacity`, into an
 * array whose elements have `size` set. Sets *count, and *from to the number that comes next; receipts that were
 * overwritten before they were read are skipped. From any thread, at any time. Errors: ARGUMENT (NULL, size), CLOSED.
 */
SVMX_EXPORT enum svmx_status svmx_receipts_read(svmx_executor_t *executor, uint64_t *from,
                                                struct svmx_receipt *receipts, size_t capacity, size_t *count);

/* The same of the last parts that were redone or failed, which are kept longer than the others: 64 of them, numbered from 0 by
 * themselves. */
SVMX_EXPORT enum svmx_status svmx_fallbacks_read(svmx_executor_t *executor, uint64_t *from,
                                                 struct svmx_receipt *receipts, size_t capacity, size_t *count);

/*
 * A receipt as one line of JSON without its end of line, and its length (may be NULL), for a log that svmx_replay reads:
 * names instead of numbers, so that it says the same in another process. Errors: ARGUMENT (NULL, size), UNKNOWN (a device or
 * operation of another executor), OVERFLOW (`bytes` do not suffice; 4096 always do), CLOSED.
 */
SVMX_EXPORT enum svmx_status svmx_receipt_json(const svmx_executor_t *executor, const struct svmx_receipt *receipt,
                                               char *text, size_t bytes, size_t *length);

/* ---- a log of receipts, run again ---- */

/* How to run it. Start from {.size = sizeof(struct svmx_replay_options)}: a field left zero or NULL is not set. */
struct svmx_replay_options {
    size_t size;
    const char *learn;      /* "on"; "strict": no device is tried for the sake of learning; default on */
    uint32_t probe_percent; /* of busy time that trying devices may cost; default 1 */
    uint32_t reserved;
    /* Told of each line that is bad: its number, from 1, and what is wrong with it. May be NULL. */
    void (*bad)(void *user, uint64_t line, const char *reason);
    void *user;
};

/* What came out. A batch here is one line: one launch. */
struct svmx_replay {
    size_t size; /* set by the caller */
    uint64_t lines, bad_lines;
    uint64_t batches; /* lines that were run again */
    uint64_t shadows; /* lines that are another run of a batch, on another device */
    /* Batches that the router decided when the log was written, and would decide the same way or otherwise; of the latter,
     * those where only one of both tried a device to learn. */
    uint64_t same, different, different_probes;
    uint64_t forced;  /* the rest: one device could have them, the policy said which, or they are pieces of a cut */
    uint64_t unknown; /* batches sent to a device of which the log has no time for them */
    uint64_t probes;
    uint64_t
        switches; /* how often an operation of about the same size went to another device than the last one, probes apart */
    uint64_t drifts;      /* how often a device was found to have changed its speed for good */
    uint64_t recorded_ns; /* what all batches took when the log was written */
    /* Batches for which the log has the time of the device that was chosen now and of another one: what they took as chosen
     * now, as chosen then, and with the best of the known devices for each in hindsight, under the same margin. */
    uint64_t compared, compared_ns, compared_recorded_ns, oracle_ns;
};

/* A device of the log. */
struct svmx_replay_device {
    size_t size; /* set by the caller, in every element */
    char backend[32], name[64];
    uint32_t number; /* that it had in the executor that wrote the log */
    uint32_t modelled;
    uint64_t recorded, recorded_ns; /* batches that it had, and what they took */
    uint64_t chosen, chosen_ns;     /* that it was given now; the time of those that the log has one of */
    uint64_t unknown, probes;       /* of those given now: without a time; to learn */
    uint32_t
        flags; /* of enum svmx_device_flags: HOST_MEMORY, SHARES_CORES (a driver on the host's cores, no GPU) and TEST */
    uint32_t reserved;
};

/*
 * Runs the routing of a log again, lines of svmx_receipt_json in the order in which they come, with a model that knows
 * nothing yet: the same log gives the same numbers on every machine, and no device is needed. It takes the text and not
 * a path: a log may come from a pipe or from memory, and a library has no business in opening files by names that came
 * from elsewhere. Lines that are bad are told, counted and left out. docs/RECEIPTS.md says what a shadow run is.
 * `devices` gets at most `capacity` devices in the order of their appearance, *count (may be NULL) how many there are;
 * `options` may be NULL. Errors: ARGUMENT (NULL, size, learn), MEMORY. Any thread.
 */
SVMX_EXPORT enum svmx_status svmx_replay(const char *log, size_t length, const struct svmx_replay_options *options,
                                         struct svmx_replay *replay, struct svmx_replay_device *devices,
                                         size_t capacity, size_t *count);

/* ---- why would this go where? ---- */

/* How a cost is known. */
enum svmx_cost_kind {
    SVMX_COST_GUESSED = 1,  /* nothing of this operation was tried there */
    SVMX_COST_INFERRED = 2, /* from other sizes */
    SVMX_COST_MEASURED = 3
};

/* A device as a candidate for a launch. */
struct svmx_candidate {
    size_t size; /* set by the caller, in every element */
    uint32_t device;
    uint32_t verdict;   /* enum svmx_verdict */
    uint32_t kind;      /* enum svmx_cost_kind */
    uint32_t samples;   /* that stand behind it */
    double expected_ns; /* of the launch: setup, transfer, compute */
    double setup_ns, transfer_ns, compute_ns;
    double p99_ns, first_use_ns, backlog_ns;
};

/*
 * What the router would do with one task of `units` of an operation now, and what it knows: nothing is run and nothing
 * changes. `candidates` gets at most `capacity` devices, the winner first, then by what they are expected to take.
 * *crossover is the smallest number of units for which a device that does not compute in the caller's memory would be
 * chosen, UINT64_MAX for none. `count` and `crossover` may be NULL. Errors: ARGUMENT (NULL, size), UNKNOWN (op), OVERFLOW
 * (units), MEMORY, CLOSED.
 */
SVMX_EXPORT enum svmx_status svmx_explain(svmx_executor_t *executor, uint32_t op, uint64_t units,
                                          struct svmx_candidate *candidates, size_t capacity, size_t *count,
                                          uint64_t *crossover);

/* What launches of an operation took on a device at one size. */
struct svmx_curve_point {
    size_t size; /* set by the caller, in every element */
    uint32_t op, device;
    uint64_t units, work, bytes; /* sizes up to these, powers of two; bytes of a launch of that size */
    uint32_t samples;            /* that stand behind it */
    uint32_t reserved;
    double ns, low_ns, high_ns; /* median, tenth and ninetieth percentile */
};

/*
 * The curves that the router chooses by, as far as they were measured or came from the profile, in order of operation, device
 * and size. `points` gets at most `capacity`; *count is how many there are. Where only one device beside the reference code
 * takes part nothing is measured. A snapshot; any thread. Errors: ARGUMENT (NULL, size), CLOSED.
 */
SVMX_EXPORT enum svmx_status svmx_curves_read(const svmx_executor_t *executor, struct svmx_curve_point *points,
                                              size_t capacity, size_t *count);

/* What a device and its bus do without a kernel. */
struct svmx_bandwidth {
    size_t size;                                        /* set by the caller */
    uint64_t bytes;                                     /* of the large copies */
    double latency_in_ns, latency_out_ns;               /* of the smallest copy, one way */
    double in_bytes_per_ns, out_bytes_per_ns;           /* GB/s, from and to staging memory */
    double host_in_bytes_per_ns, host_out_bytes_per_ns; /* between the caller's memory and staging memory */
    uint32_t in_place; /* 1: kernels reach staging memory themselves, so copies to the device are saved */
    uint32_t reserved;
};

/*
 * Measures it, with copies of up to `bytes` (0: 64 MiB, or less where the device has less), which takes some 100 ms, and
 * tells the router. Blocks; work that is under way on the device disturbs it. UNSUPPORTED for a device that computes in
 * the caller's memory: there is nothing to copy. Errors: ARGUMENT (NULL, size), UNKNOWN (device), UNSUPPORTED, MEMORY,
 * what the device answered, CLOSED; `error` may be NULL.
 */
SVMX_EXPORT enum svmx_status svmx_bandwidth_measure(svmx_executor_t *executor, uint32_t device, uint64_t bytes,
                                                    struct svmx_bandwidth *bandwidth, struct svmx_error *error);

/* ---- the profile: what was measured, from one process to the next ---- */

/* Writes the profile now; svmx_close does it too. OK also if it is switched off, or nothing was learned. Blocks on the disk.
 * Errors: ARGUMENT (NULL), PERMISSION, SYSTEM, MEMORY, CLOSED; `error` may be NULL. */
SVMX_EXPORT enum svmx_status svmx_profile_save(svmx_executor_t *executor, struct svmx_error *error);

/* A profile on disk, for those who look at it: needs no executor and loads nothing. A handle belongs to one thread. */
typedef struct svmx_profile svmx_profile_t;

/* What was measured of one operation, size and device. Text lives as long as the handle. */
struct svmx_profile_entry {
    size_t size;                                                          /* set by the caller */
    const char *op, *backend, *version, *device, *driver, *variant, *pci; /* version is that of the plugin */
    uint64_t units, work, bytes; /* sizes up to these, powers of two; bytes of a launch of that size */
    uint32_t samples;
    uint32_t threads;           /* cores or compute units that the device used */
    uint32_t kind;              /* enum svmx_device_kind; 0: unknown */
    uint32_t flags;             /* of enum svmx_device_flags only SVMX_DEVICE_TEST */
    double ns, low_ns, high_ns; /* median, tenth and ninetieth percentile */
    double setup_ns, transfer_ns, compute_ns, first_use_ns;
};

/*
 * Reads a profile; NULL: where executors would have it by the environment. One that is not there, or is switched off, is
 * empty; so is one that is damaged, with the reason in svmx_profile_defect. Errors, with their text in `error` (may be NULL):
 * ARGUMENT (profile is NULL, a relative path), PERMISSION (not the user's, or others may write to it), SYSTEM, MEMORY.
 */
SVMX_EXPORT SVMX_MUST_CHECK enum svmx_status svmx_profile_open(svmx_profile_t **profile, const char *path,
                                                               struct svmx_error *error);
/* Frees the handle. NULL is fine. */
SVMX_EXPORT void svmx_profile_close(svmx_profile_t *profile);
/* Its path; "" when it is switched off, or for NULL. What is wrong with the file, or "". Both live as long as the handle. */
SVMX_EXPORT const char *svmx_profile_path(const svmx_profile_t *profile);
SVMX_EXPORT const char *svmx_profile_defect(const svmx_profile_t *profile);
/* 0 for NULL. */
SVMX_EXPORT uint32_t svmx_profile_count(const svmx_profile_t *profile);
/* By position, 0 to svmx_profile_count - 1, in order of operation, device and size. Errors: ARGUMENT (NULL, size), UNKNOWN
 * (no such number). */
SVMX_EXPORT enum svmx_status svmx_profile_get(const svmx_profile_t *profile, uint32_t index,
                                              struct svmx_profile_entry *entry);
/* Removes the file. One that is gone already is fine. Executors that are open write theirs when they close. Errors: ARGUMENT
 * (NULL), PERMISSION, SYSTEM; `error` may be NULL. */
SVMX_EXPORT enum svmx_status svmx_profile_remove(svmx_profile_t *profile, struct svmx_error *error);

/* ---- the cache on disk ---- */

/*
 * What executors have left on disk, for those who look after it: a list, made by svmx_cache_open, of which files may be
 * removed. Needs no executor and loads nothing. Executors may use the cache meanwhile. A handle belongs to one thread.
 */
typedef struct svmx_cache svmx_cache_t;

enum svmx_cache_flags {
    SVMX_CACHE_CHECK = 1 << 0 /* read every file whole and compare its checksum; without it only the headers */
};

enum svmx_cache_kind {
    SVMX_CACHE_PIPELINE = 1, /* a compiled pipeline */
    SVMX_CACHE_CHOICE = 2    /* which variant of an operation was measured to be the fastest */
};

/* One file. Text lives as long as the handle; it is "", and numbers are 0, where a bad file does not tell. */
struct svmx_cache_entry {
    size_t size;                        /* set by the caller */
    const char *file;                   /* its name in the folder */
    const char *defect;                 /* "", or what is wrong with it: no executor would use it */
    const char *op, *backend, *version; /* of which plugin */
    const char *device, *driver;        /* for which device */
    uint32_t kind;                      /* enum svmx_cache_kind */
    uint32_t variant;                   /* of a pipeline */
    uint64_t bucket;                    /* 0: for all */
    uint32_t abi_major, abi_minor;      /* of plugins */
    uint64_t bytes;                     /* of the file */
    uint64_t used_ns;                   /* when it was last used, since 1970 */
    uint32_t device_flags; /* of enum svmx_device_flags: SHARES_CORES (a driver on the host's cores, no GPU) and TEST */
    uint32_t reserved;
};

/*
 * Lists the cache in a folder, last used first; NULL: where executors would have it by the environment. A folder that is
 * not there is an empty list; so is a cache that is switched off. Blocks on the disk. Errors, with their text in `error` (may
 * be NULL): ARGUMENT (cache is NULL, unknown flags, a relative path, also in the environment), PERMISSION (the folder
 * is not the user's, or others may write to it), SYSTEM, MEMORY.
 */
SVMX_EXPORT SVMX_MUST_CHECK enum svmx_status svmx_cache_open(svmx_cache_t **cache, const char *folder, uint32_t flags,
                                                             struct svmx_error *error);
/* Frees the list. NULL is fine. */
SVMX_EXPORT void svmx_cache_close(svmx_cache_t *cache);

/* The folder; "" when the cache is switched off, or for NULL. */
SVMX_EXPORT const char *svmx_cache_folder(const svmx_cache_t *cache);
/* 0 for NULL. */
SVMX_EXPORT uint32_t svmx_cache_count(const svmx_cache_t *cache);
/* By position, 0 to svmx_cache_count - 1. Errors: ARGUMENT (NULL, size), UNKNOWN (no such number). */
SVMX_EXPORT enum svmx_status svmx_cache_get(const svmx_cache_t *cache, uint32_t index, struct svmx_cache_entry *entry);

/* Removes a file from the disk, not from the list. One that is gone already is fine. BUSY: it was written anew after it was
 * listed, and stays. Errors: ARGUMENT (NULL), UNKNOWN (no such number), PERMISSION, SYSTEM; `error` may be NULL. */
SVMX_EXPORT enum svmx_status svmx_cache_remove(svmx_cache_t *cache, uint32_t index, struct svmx_error *error);

#ifdef __cplusplus
}
#endif
#endif
