/*
 * svmx/plugin.h: the plugin ABI. A backend needs this header and nothing else of ours.
 *
 *   core                                     plugin
 *   ----                                     ------
 *   reads svmx_plugin out of the file   ->   one data symbol, no code runs yet
 *   dlopen, open(host, &backend)        ->   a table of functions and a `self`
 *   device_info(0), (1), ...            ->   devices, until SVMX_ERR_UNKNOWN
 *   pipeline_build(op, bucket)          ->   a kernel that the core keeps in its cache
 *   memory_alloc(kind)                  ->   memory that the core keeps in its pools
 *   submit(list of commands)            ->   one ticket for the whole list
 *   wait(ticket)                        ->   final status, and ns by the device's own clock
 *   close()
 *
 * The core owns caches, pools, threads of submission and policy; a plugin owns its API calls. A plugin never
 * sees a single task: a batch arrives as one list of commands.
 *
 * THREADS. One submitter thread a device calls submit, wait, memory_alloc and memory_free; at the end, when it is gone,
 * whoever calls close may free memory too. device_info and pipeline_* may run in other threads beside it. A device
 * with SVMX_DEVICE_INLINE is different: any number of threads, also of the program, may call its submit, wait and
 * memory_* at once. No lock of the core is held while a plugin runs. A plugin calls nothing of the core but the upcalls
 * of struct svmx_host, which any thread may call at any time until close returns.
 *
 * ERRORS. A function returns a status and, when that is an error, says why in one line with
 * host->log(host, SVMX_LOG_ERROR, text): the core keeps the line with the failure. Outputs are set on success only.
 * A plugin must not exit, abort, raise signals, change the locale or the directory, or write to stdout or stderr.
 *
 * NULL. No pointer that the core passes is NULL unless the field says so. A plugin may leave an optional slot NULL.
 *
 * GROWTH. Append-only: structures gain fields at the end and say their size in their first field; a side reads
 * a field only if it lies inside the size that the other side gave. A change of SVMX_ABI_MAJOR breaks that
 * promise and is refused at load. Reserved fields are zero.
 *
 * There is no reset. A sick instance is abandoned and open() called again for a fresh one, so a plugin keeps its
 * state behind `self` and none in statics. It is never dlclosed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_PLUGIN_H
#define SVMX_PLUGIN_H

#include <svmx/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SVMX_ABI_MAJOR     1
#define SVMX_ABI_MINOR     3
#define SVMX_PLUGIN_MAGIC  UINT64_C(0x4e4947554c505653) /* "SVPLUGIN" in memory */
#define SVMX_PLUGIN_SYMBOL "svmx_plugin"

struct svmx_host;
struct svmx_backend;
struct svmx_slot;
struct svmx_memory;   /* the plugin's own; the core only carries the pointer */
struct svmx_pipeline; /* likewise */
struct svmx_list;     /* likewise */

/* ---- what the core offers --------------------------------------------------------------------------------- */

/*
 * Upcalls. The plugin passes the host pointer back as it got it. All are thread-safe; none blocks on a device.
 */
struct svmx_host {
    size_t size;
    uint16_t abi_major, abi_minor;

    /* One line of text, no newline; copied before return. */
    void (*log)(const struct svmx_host *host, enum svmx_log_level level, const char *text);

    /* The allocator of the core, whose failures its tests can order. No limit of the executor counts it: these are about
     * staging memory and buffers. `alignment` is a power of two. NULL when there is none. release(NULL) is fine. */
    void *(*alloc)(const struct svmx_host *host, size_t bytes, size_t alignment);
    void (*release)(const struct svmx_host *host, void *memory);

    /* The value of a setting, or NULL when the user left it alone. The string lives until close. Keys of the core:
     * "threads" (decimal), "variant" (a kernel variant that the user insists on), "select" (the device part of
     * SUPERVM_BACKENDS, as written), "again" (set where this instance stands in for one that was given up), "sim_model" (for the backend sim). */
    const char *(*option)(const struct svmx_host *host, const char *key);

    /* The executor's clock, ns. Monotonic; real or modelled. Use no other clock for what a ticket reports. */
    uint64_t (*now)(const struct svmx_host *host);

    /* Runs the reference code of an operation, built in or registered by the user, on one task in the calling thread:
     * `slots` hold host addresses. SVMX_ERR_UNKNOWN for an operation that the core does not know. Always gives the right
     * bytes. With slots NULL nothing is run: it only says whether the operation is known. */
    enum svmx_status (*reference)(const struct svmx_host *host, const char *op, const struct svmx_slot *slots,
                                  size_t slot_count);
};

/* ---- devices ---------------------------------------------------------------------------------------------- */

struct svmx_device_info {
    size_t size;
    char name[64];    /* stable over restarts; shown to users */
    char driver[64];  /* name and version of what drives it; a change makes caches and profiles start anew */
    char variant[32]; /* the kernel variant in use ("avx2"), or "" */
    char pci[16];     /* "0000:03:00.0", or "" */
    uint8_t uuid[16]; /* the same for one device seen through two backends; all zero = unknown */
    uint32_t kind;    /* enum svmx_device_kind */
    uint32_t flags;   /* enum svmx_device_flags */
    uint32_t compute_engines, copy_engines; /* how many `engine` numbers submit takes, at least 1 and 0 */
    uint32_t threads;                       /* cores or compute units in use */
    uint32_t alignment;                     /* of every slot in device memory, bytes, a power of two */
    uint64_t memory_bytes, max_alloc_bytes; /* 0 = no limit of its own (HOST_MEMORY devices) */
    uint32_t max_in_flight;                 /* submissions that may be open at once; 0 = no limit */
    uint32_t reserved;

    /* ABI 1.3. What its driver tells, shown to users and used for nothing; 0 = it does not tell. */
    uint32_t max_group;   /* work-items of a work-group */
    uint32_t timer_ns;    /* a step of the clock that tickets are timed by, rounded up */
    uint32_t fp32, fp64;  /* enum svmx_fp */
    uint64_t local_bytes; /* memory of a work-group */
};

/* ---- memory ----------------------------------------------------------------------------------------------- */

/* What memory will be used for. A pooled buffer is used again only where its flags contain those asked for. */
enum svmx_usage {
    SVMX_USAGE_COPY_SOURCE = 1 << 0,
    SVMX_USAGE_COPY_TARGET = 1 << 1,
    SVMX_USAGE_KERNEL_READ = 1 << 2,
    SVMX_USAGE_KERNEL_WRITE = 1 << 3,
    SVMX_USAGE_HOST_READ = 1 << 4, /* either host flag: memory_alloc must set `host` */
    SVMX_USAGE_HOST_WRITE = 1 << 5
};

enum svmx_memory_kind {
    SVMX_MEMORY_DEVICE = 1,  /* fast for kernels; need not be visible to the host */
    SVMX_MEMORY_STAGING = 2, /* visible to both, fast to copy from and to */
    SVMX_MEMORY_IMPORT = 3   /* memory of the library, made visible to the device in place */
};

struct svmx_memory_desc {
    size_t size;
    uint32_t kind;  /* enum svmx_memory_kind */
    uint32_t usage; /* enum svmx_usage */
    uint64_t bytes;
    void *import; /* SVMX_MEMORY_IMPORT: the library's memory, page-aligned; else NULL */
};

/* A part of one memory. */
struct svmx_span {
    struct svmx_memory *memory;
    uint64_t offset, bytes;
};

/* ---- operations and pipelines ----------------------------------------------------------------------------- */

/*
 * One argument of one task. On a HOST_MEMORY device `at` is an address of any alignment; elsewhere it is an offset
 * into the memory of its binding (from the start of that memory), aligned as the device asked. A scalar is its value,
 * in the low bytes of `at`.
 */
struct svmx_slot {
    uint64_t at, bytes;
};

/* What an operation is. The name decides which kernel to use: two operations never share one.
 *
 * One of them is the core's own, and built on devices with SVMX_DEVICE_LINKS only: a dispatch of chain_f32 has a row of slots
 * for each link of chains of elementwise operations (out, a, b, two floats, which operation it is; src/ops/chain_f32.h has
 * the numbers). Rows of a chain follow one another and belong together: a row may read what the one before it writes. They are
 * computed in order, each by itself (host->reference can), or at once, and then what is marked so need not be written. */
struct svmx_op_desc {
    size_t size;
    const char *name;
    const struct svmx_param *params; /* in the order of the slots: outputs first */
    uint32_t param_count;
    uint32_t scratch_bytes_per_unit; /* of scratch that every dispatch of it brings */

    /* ABI 1.1. Device code of an operation that a user registered; NULL and 0 for built-in ones, whose code is the
     * plugin's own. It follows the rules of docs/KERNELS.md, as ours does: one kernel, named like the operation. */
    const char *opencl_c; /* text, without the common part, which the plugin puts in front */
    const void *spirv;    /* a module */
    size_t spirv_bytes;
    uint32_t local; /* size of a work-group */
    uint32_t grain; /* units that a work-item takes, a power of two */
};

struct svmx_pipeline_desc {
    size_t size;
    const struct svmx_op_desc *op;
    uint64_t bucket;    /* units that a launch of it is sized for, a power of two; launches may be smaller */
    const void *binary; /* what pipeline_binary gave an earlier process for this key, or NULL */
    size_t
        binary_bytes; /* a plugin that cannot use it says so in the log and answers BACKEND, without compiling: the core
                            removes it from its store, asks again without, and keeps what comes of that. One that builds
                            from source instead leaves what is of no use where it is. */

    /* ABI 1.1. Which way of computing it, 0 being the plugin's best guess: the core measures those that there are and
     * keeps the fastest. SVMX_ERR_UNKNOWN past the last. Always 0 on INLINE devices. */
    uint32_t variant;
    uint32_t reserved;
};

/* ---- commands --------------------------------------------------------------------------------------------- */

enum svmx_command_kind {
    SVMX_COMMAND_COPY_IN = 1, /* staging -> device */
    SVMX_COMMAND_DISPATCH = 2,
    SVMX_COMMAND_COPY_OUT = 3, /* device -> staging */
    SVMX_COMMAND_FILL = 4,     /* `target` with the byte `value` */
    SVMX_COMMAND_BARRIER = 5,  /* what follows sees all that went before; between barriers any order is legal */
    SVMX_COMMAND_CHAIN = 6 /* ABI 1.2. The dispatches that follow are links; to devices with SVMX_DEVICE_CHAINS only */
};

/*
 * One launch for any number of tasks of one operation. Work is counted in units: an element of a vector, a
 * message of a hash, a block of a reduction (docs/OPERATIONS.md says which). The units of all tasks are numbered
 * through: task t has the units [first_unit[t], first_unit[t + 1]).
 *
 *   slots:       task 0: [slot 0][slot 1]...   task 1: [slot 0][slot 1]...   row-major, slot_count to a row
 *   table:       the same slots and, after them, the same first_unit, in memory that kernels can read
 *
 * Host arrays live until the ticket retires. Inputs, outputs and table may be spans of one memory, as where launches of a
 * list take the results of launches before them: no slot of an output overlaps another slot of the dispatch, or a table.
 */
struct svmx_dispatch {
    struct svmx_pipeline *pipeline;
    const struct svmx_slot *slots;
    const uint64_t *first_unit; /* task_count + 1 entries, first_unit[0] = 0 */
    uint32_t task_count, slot_count;
    uint64_t work;                           /* of all tasks, in the operation's measure: elements, bytes hashed */
    struct svmx_span inputs, outputs, table; /* memory is NULL on HOST_MEMORY devices */
    struct svmx_span scratch;                /* units x scratch_bytes_per_unit; memory NULL on HOST_MEMORY devices */
    void *host_scratch;                      /* the same for HOST_MEMORY devices, 64-byte aligned, or NULL for none */

    /* ABI 1.2, of a link of a chain. Bit i of `arrays`: slot i is an array, with one element for each unit. Bit i of
     * `passing`: that array has no memory, since only the next link reads it; `at` is 0 or 1, the number of one of two
     * places that the plugin keeps for a piece of units. */
    uint32_t arrays, passing;
};

/*
 * The next `count` dispatches are links of a chain: they have the same tasks and first_unit, and unit u of a link needs
 * unit u of the links before it and nothing else of them. A plugin may take them through a piece of units after another.
 */
struct svmx_chain {
    uint32_t count;
};

struct svmx_copy {
    struct svmx_span source, target; /* bytes are equal */
};

struct svmx_fill {
    struct svmx_span target;
    uint8_t value;
};

struct svmx_command {
    uint32_t kind; /* enum svmx_command_kind */
    uint32_t reserved;
    union {
        struct svmx_dispatch dispatch;
        struct svmx_copy copy;
        struct svmx_fill fill;
        struct svmx_chain chain;
    } as;
};

struct svmx_command_list {
    size_t size;
    size_t command_size; /* stride of `commands`: sizeof(struct svmx_command) as the core knows it */
    const struct svmx_command *commands;
    size_t count;
};

/* What one submit does. Either `list` or `recorded` is set. */
struct svmx_submission {
    size_t size;
    uint32_t device, engine;
    const struct svmx_command_list *list;
    struct svmx_list *recorded;
    const uint64_t *after; /* tickets of this backend that must have finished first */
    size_t after_count;
};

/* ns of a finished ticket by the device's own clock; 0 where the device cannot tell. What cannot be (more than passed by the
 * host's clock, or next to nothing) counts as 0. */
struct svmx_timing {
    size_t size;
    uint64_t copy_in_ns, compute_ns, copy_out_ns;
};

/* ---- what a backend offers -------------------------------------------------------------------------------- */

/*
 * The table of a backend. Eleven functions, three of them optional (NULL). `self` is what open() gave.
 */
struct svmx_backend_ops {
    size_t size;

    /* Describes device `index`; the caller has set info->size and cleared the rest. SVMX_ERR_UNKNOWN past the last
     * device. Cheap, and the same answer every time. */
    enum svmx_status (*device_info)(void *self, uint32_t index, struct svmx_device_info *info);

    /* Gives memory on a device, cleared or not as the plugin likes (the core clears what must be clear). `host` is
     * set to its address where usage has a host flag, else to NULL. The core owns the memory until memory_free.
     * SVMX_ERR_MEMORY when it does not fit. Not called on HOST_MEMORY devices: may be NULL if there are no others.
     * memory_free is called between launches, of memory that no open ticket uses, and before close of all that is left. */
    enum svmx_status (*memory_alloc)(void *self, uint32_t device, const struct svmx_memory_desc *desc,
                                     struct svmx_memory **memory, void **host);
    void (*memory_free)(void *self, struct svmx_memory *memory);

    /* Builds the kernel of an operation for a bucket; may take long. SVMX_ERR_UNSUPPORTED = this device does not do
     * this operation: no fault, the core asks once, and shows users the last line that was logged meanwhile. The core owns the pipeline until pipeline_free, and runs the
     * operation's known answers through it before any work. A plugin may answer with a pointer that it gave before
     * (one kernel for several buckets of an operation): it is not proved again, and each build is matched by one free. */
    enum svmx_status (*pipeline_build)(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                       struct svmx_pipeline **pipeline);
    void (*pipeline_free)(void *self, struct svmx_pipeline *pipeline);

    /* Optional. Copies the compiled form to `buffer` and its length to `bytes`; with a NULL buffer only the length.
     * Asked for after the first use of the pipeline. */
    enum svmx_status (*pipeline_binary)(void *self, struct svmx_pipeline *pipeline, void *buffer, size_t *bytes);

    /* Optional, both or none. Prepares a list for many submits. The plugin copies what it needs of `list`. */
    enum svmx_status (*list_record)(void *self, uint32_t device, const struct svmx_command_list *list,
                                    struct svmx_list **recorded);
    void (*list_free)(void *self, struct svmx_list *recorded);

    /* Hands a list to the device and returns a ticket. A failed submit has started nothing. The list may go as soon
     * as submit returns; the host arrays of its dispatches may not. Ticket 0 means that all of it is done already
     * (INLINE devices): the core then does not call wait and takes the time by its own clock. A HOST_MEMORY device
     * works in the caller's memory and answers no other: one that does is given up. */
    enum svmx_status (*submit)(void *self, const struct svmx_submission *submission, uint64_t *ticket);

    /* Waits up to timeout_ns for a ticket; 0 polls. SVMX_TIMEOUT: not finished, the ticket stays. Any other status is
     * final and retires the ticket: SVMX_OK with `timing` filled in, or an error. Never answers twice. */
    enum svmx_status (*wait)(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns,
                             struct svmx_timing *timing);

    /* Ends the instance and frees all of it. No ticket is open and no other call is under way, unless the instance
     * was abandoned: then close is never called. */
    void (*close)(void *self);
};

/* An instance. Filled in by open. */
struct svmx_backend {
    const struct svmx_backend_ops *ops;
    void *self;
};

/* ---- the data symbol -------------------------------------------------------------------------------------- */

enum svmx_plugin_flags {
    SVMX_PLUGIN_ON_REQUEST = 1 << 0 /* loaded only when SUPERVM_BACKENDS names it */
};

/*
 * The only symbol that the core looks up, called svmx_plugin. It is data, and the text is stored in place, so that
 * the core can read it out of the file before any code of the plugin runs. `name` is the file's name without
 * ".so", in lower-case letters, digits and '_'.
 */
struct svmx_plugin {
    uint64_t magic; /* SVMX_PLUGIN_MAGIC */
    uint32_t size;  /* sizeof(struct svmx_plugin) */
    uint16_t abi_major, abi_minor;
    uint32_t flags; /* enum svmx_plugin_flags */
    uint32_t reserved;
    char name[32], version[32], licence[32];

    /* Opens an instance. May be called again while earlier ones live. SVMX_ERR_UNSUPPORTED = nothing here to serve (no
     * driver, no device): skipped with a word. `host` lives until close returns. */
    enum svmx_status (*open)(const struct svmx_host *host, struct svmx_backend *backend);
};

#ifdef __cplusplus
}
#endif
#endif
