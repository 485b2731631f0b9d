/*
 * svmx/svmx.h: what a program that embeds the executor calls.
 *
 * In three parts; most programs need the first and ops.h only:
 *
 *   SIMPLE    open an executor, fill a batch, run it, read the bytes
 *   CONTEXT   generic tasks, submit without waiting, poll, wait, cancel, completion by callback or eventfd
 *   ADVANCED  options, devices, load report, operations, settings, counters, receipts
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
 *              nothing has changed. svmx_batch_error(), or a struct svmx_error, has the text, which names the argument.
 *   ownership  Who creates destroys. Memory that a task names stays the caller's: inputs must not change and outputs
 *              must not be touched from submit until completion; the library keeps no pointer to them after it.
 *              Offsets of messages are checked when a task is added and must not change after that.
 *   alignment  Memory of tasks may have any alignment. Aligned to 64 bytes is fastest.
 *   overlap    An output may not overlap any other memory named in the same batch. Inputs may overlap.
 *   zero       A task of no items is fine and its memory may be NULL; an empty batch completes at once.
 *   threads    An executor may be used by any number of threads. A batch belongs to one thread at a time; once
 *              submitted, any thread may poll, wait for and cancel it.
 *   NULL       A handle that is NULL gives SVMX_ERR_ARGUMENT; destroy and close of NULL do nothing.
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
struct svmx_options; /* ADVANCED */

/* Why a call without a batch failed. */
struct svmx_error {
    enum svmx_status status;
    char text[508];
};

/* ==== SIMPLE ================================================================================================== */

/*
 * Opens an executor: loads backends, finds devices, starts threads. Blocks for as long as drivers take to answer.
 * `options` may be NULL for the defaults and the environment (SUPERVM_*, see svmx.7); it is copied. `error` may be
 * NULL. A backend that cannot be loaded is no error unless SUPERVM_BACKENDS demands it (+name): svmx_load_report_get
 * tells. Errors: ARGUMENT (a setting is malformed), UNKNOWN (no such backend; the text lists the known ones), BACKEND
 * (a demanded backend failed), MEMORY, SYSTEM.
 */
SVMX_EXPORT SVMX_MUST_CHECK enum svmx_status svmx_open(svmx_executor_t **executor, const struct svmx_options *options,
                                                       struct svmx_error *error);

/*
 * Closes an executor. Batches that were submitted are completed first, so it may block. Batches that still exist
 * afterwards can be asked how they ended (poll, wait) and destroyed; to the rest they answer SVMX_ERR_CLOSED. No other
 * thread may be inside a call on the executor except in svmx_wait. NULL is fine.
 */
SVMX_EXPORT void svmx_close(svmx_executor_t *executor);

/*
 * Makes an empty batch. It keeps its memory over svmx_batch_reset, so a program that makes one batch a thread and
 * reuses it allocates nothing in steady state. Errors: ARGUMENT, MEMORY, CLOSED.
 */
SVMX_EXPORT SVMX_MUST_CHECK enum svmx_status svmx_batch_create(svmx_executor_t *executor, svmx_batch_t **batch);

/* Frees a batch. One that is under way is cancelled if that is still possible and waited for otherwise. */
SVMX_EXPORT void svmx_batch_destroy(svmx_batch_t *batch);

/* Empties a batch for new tasks; tag, callback and eventfd stay. Errors: ARGUMENT, STATE (it is under way), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_batch_reset(svmx_batch_t *batch);

/*
 * Runs a batch and waits for it. Small work for the CPU is computed in the calling thread. On SVMX_OK every output
 * is written. A failing device costs time, not the answer. Runs once: reset it for new tasks, or call
 * svmx_batch_rearm to run the same tasks again. Errors: ARGUMENT (overlap), STATE, CLOSED, MEMORY.
 */
SVMX_EXPORT SVMX_MUST_CHECK enum svmx_status svmx_run(svmx_batch_t *batch);

/*
 * The text of the last error of this batch, "" if there was none. Lives in the batch until its next call. Never
 * NULL, also for a NULL batch. A batch under way has no text of its own.
 */
SVMX_EXPORT const char *svmx_batch_error(const svmx_batch_t *batch);

/* "SVMX_ERR_ARGUMENT" and so on; "unknown status" for anything else. Static text. */
SVMX_EXPORT const char *svmx_status_name(enum svmx_status status);

/* Version of the library that is linked, "0.1.0". Static text. */
SVMX_EXPORT const char *svmx_version(void);

/* ==== CONTEXT ================================================================================================= */

/* Where an argument of a task comes from, or goes to. */
enum svmx_arg_kind {
    SVMX_ARG_HOST = 1,   /* memory of the caller */
    SVMX_ARG_SCALAR = 2, /* a value */
    SVMX_ARG_RESULT = 3, /* an output of an earlier task of the same batch, as input */
    SVMX_ARG_BUFFER = 4  /* a buffer that stays on devices; reserved: SVMX_ERR_UNSUPPORTED in this version */
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
        struct {
            uint32_t task, output;
        } result;
    } from;
    uint64_t reserved; /* 0 */
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

/* Output number `output` of the earlier task `task` (svmx_batch_task_count before it was added) as an input. */
static inline struct svmx_arg svmx_result_of(enum svmx_type type, uint32_t task, uint32_t output) {
    struct svmx_arg arg = {SVMX_ARG_RESULT, (uint32_t)type, 0, {0}, 0};
    arg.from.result.task = task;
    arg.from.result.output = output;
    return arg;
}

/*
 * Adds a task: operation `op` (ops.h, or svmx_op_find) with its arguments in the order of its signature, outputs first.
 * Checks everything that can be checked without running. A refused task leaves the batch as it was. Tasks of one
 * batch run in any order, except that a task runs after those whose results it takes. Errors: UNKNOWN (op), ARGUMENT
 * (count, type, NULL, lengths that disagree, a result that does not exist), OVERFLOW, UNSUPPORTED (a buffer), STATE
 * (submitted already), MEMORY, CLOSED. Does not block.
 */
SVMX_EXPORT enum svmx_status svmx_batch_add(svmx_batch_t *batch, uint32_t op, const struct svmx_arg *args,
                                            size_t arg_count);

/* How many tasks a batch has: also the number that the next one gets. 0 for NULL. */
SVMX_EXPORT uint32_t svmx_batch_task_count(const svmx_batch_t *batch);

/* A number of the caller's that goes into the batch's receipts. Errors: ARGUMENT, STATE. */
SVMX_EXPORT enum svmx_status svmx_batch_set_tag(svmx_batch_t *batch, uint64_t tag);

/*
 * Called once for each submission that was taken, when the results are there, or it was cancelled: after svmx_submit
 * in a thread of the library, after svmx_run in whichever thread finished. The batch is still the library's while the
 * callback runs: it may call svmx_receipt_get and submit other batches (not blocking), but must not wait for, reset
 * or destroy this one.
 */
typedef void (*svmx_done_fn)(svmx_batch_t *batch, enum svmx_status status, void *user);
SVMX_EXPORT enum svmx_status svmx_batch_on_done(svmx_batch_t *batch, svmx_done_fn done, void *user);

/* 1 is added to this eventfd of the caller's when the batch is done; -1 for none. The caller keeps it open until the batch
 * is destroyed or has another one set. */
SVMX_EXPORT enum svmx_status svmx_batch_set_eventfd(svmx_batch_t *batch, int fd);

enum svmx_submit_flags {
    SVMX_SUBMIT_NONBLOCK = 1 << 0 /* a full queue answers SVMX_BUSY instead of blocking until there is room */
};

/*
 * Hands a batch over and returns. On success the library has it until completion; on any other status it is still
 * the caller's, unchanged. Blocks while the queue is full, unless told not to. Errors: as svmx_run; BUSY.
 */
SVMX_EXPORT SVMX_MUST_CHECK enum svmx_status svmx_submit(svmx_batch_t *batch, uint32_t flags);

/* Never blocks. OK: done. BUSY: under way. CANCELLED. An error: it failed. STATE: it was not submitted. */
SVMX_EXPORT enum svmx_status svmx_poll(svmx_batch_t *batch);

/* Waits up to `timeout_ns` (UINT64_MAX: for ever) for completion. TIMEOUT: not yet, it goes on. Else as svmx_poll. */
SVMX_EXPORT enum svmx_status svmx_wait(svmx_batch_t *batch, uint64_t timeout_ns);

/*
 * Takes a batch back if nothing of it has started: then OK, no output is touched, and svmx_wait soon says CANCELLED. BUSY:
 * too late, it runs and will complete. STATE: not submitted, or done. Never blocks.
 */
SVMX_EXPORT enum svmx_status svmx_cancel(svmx_batch_t *batch);

/* Makes a batch that is done ready to be submitted again with the same tasks. Errors: ARGUMENT, STATE. */
SVMX_EXPORT enum svmx_status svmx_batch_rearm(svmx_batch_t *batch);

/* ==== ADVANCED ================================================================================================ */

/* Gets each line of the log, without a newline. Called from any thread; must not call back into the executor. */
typedef void (*svmx_log_fn)(void *user, enum svmx_log_level level, const char *text);

struct svmx_plugin; /* plugin.h */

enum svmx_open_flags {
    SVMX_OPEN_NO_ENVIRONMENT = 1 << 0 /* ignore SUPERVM_* variables; always so in a set-user-ID program */
};

/*
 * Settings. Start from {.size = sizeof(struct svmx_options)}: a field left zero or NULL is not set, and the
 * environment variable beside it counts, then the default. `svmx config` shows them all.
 */
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
    uint32_t timeout_ms;  /* SUPERVM_TIMEOUT_MS: a device that takes longer is given up; default 1500 */
    uint32_t log_level;   /* SUPERVM_LOG: enum svmx_log_level, or off, error, warn, info, debug; default warn */
    svmx_log_fn log;      /* default: standard error */
    void *log_user;
    uint32_t flags; /* enum svmx_open_flags */
    uint32_t reserved;
    /* Backends that are linked in, for programs that cannot dlopen. They come before plugins of the same name. The
     * array and what it points at live until svmx_close. */
    const struct svmx_plugin *const *static_plugins;
    size_t static_plugin_count;
};

/* ---- devices and the load report ---- */

/* A device of the executor. Text lives as long as the executor. */
struct svmx_device {
    size_t size; /* set by the caller: sizeof(struct svmx_device) */
    const char *backend, *name, *driver, *variant, *pci;
    uint32_t kind;  /* enum svmx_device_kind */
    uint32_t flags; /* enum svmx_device_flags */
    uint32_t threads;
    uint32_t usable; /* 0 after it was given up */
    uint64_t memory_bytes, max_alloc_bytes;
    /* What it did. */
    uint64_t tasks, launches, bytes_in, bytes_out;
    uint64_t busy_ns; /* from hand-over to completion, summed over launches */
    uint64_t failures;
};

/* Devices are numbered from 0 in order of preference; the last is always the reference code. 0 for NULL. */
SVMX_EXPORT uint32_t svmx_device_count(const svmx_executor_t *executor);

/* Describes a device and its counters at this moment. Errors: ARGUMENT, UNKNOWN (no such number). */
SVMX_EXPORT enum svmx_status svmx_device_get(const svmx_executor_t *executor, uint32_t index,
                                             struct svmx_device *device);

enum svmx_load_verdict {
    SVMX_LOADED = 1,
    SVMX_SKIPPED = 2, /* the user left it out, or it has nothing to serve on this machine */
    SVMX_REFUSED = 3  /* it is broken, unsafe or of another ABI */
};

/* What became of one candidate. Text lives as long as the executor; path is "" for one that is linked in. */
struct svmx_load_entry {
    size_t size; /* set by the caller */
    const char *name, *path, *version, *licence, *reason;
    uint32_t verdict; /* enum svmx_load_verdict */
    uint32_t status;  /* the svmx_status behind it, as a number without its sign */
};
SVMX_EXPORT uint32_t svmx_load_report_count(const svmx_executor_t *executor);
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
/* By position, 0 to svmx_op_count - 1. Errors: ARGUMENT, UNKNOWN. */
SVMX_EXPORT enum svmx_status svmx_op_get(const svmx_executor_t *executor, uint32_t index, struct svmx_op *op);
/* By name. The text of UNKNOWN, in `error` (may be NULL), lists the known names. */
SVMX_EXPORT enum svmx_status svmx_op_find(const svmx_executor_t *executor, const char *name, uint32_t *op,
                                          struct svmx_error *error);

/*
 * Made-up arguments for one task of an operation, the same for the same seed everywhere: for benchmarks, trials and
 * tests. `size` is in units (elements, messages). The memory is the example's, outputs included, until destroy.
 * Errors: ARGUMENT, UNKNOWN, OVERFLOW, MEMORY.
 */
struct svmx_example {
    struct svmx_arg *args;
    size_t arg_count;
    void *owned; /* the library's */
};
SVMX_EXPORT enum svmx_status svmx_example_create(const svmx_executor_t *executor, uint32_t op, uint64_t size,
                                                 uint64_t seed, struct svmx_example *example);
SVMX_EXPORT void svmx_example_destroy(struct svmx_example *example);

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
};
/* A snapshot; each number is exact, taken one after another. Errors: ARGUMENT. */
SVMX_EXPORT enum svmx_status svmx_stats_get(const svmx_executor_t *executor, struct svmx_stats *stats);

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
};
/* Parts of a batch that has its results, also inside its callback. 0 for NULL or one that has not. */
SVMX_EXPORT uint32_t svmx_receipt_count(const svmx_batch_t *batch);
/* Errors: ARGUMENT, UNKNOWN (no such part), STATE (no results, or cancelled), CLOSED. */
SVMX_EXPORT enum svmx_status svmx_receipt_get(const svmx_batch_t *batch, uint32_t part, struct svmx_receipt *receipt);

#ifdef __cplusplus
}
#endif
#endif
