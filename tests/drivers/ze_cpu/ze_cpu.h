/*
 * ze_cpu.h: what the files of the test driver share: a Level Zero driver that runs real SPIR-V on the CPU, by way of an
 * OpenCL driver, and is stricter than a real one on purpose. README.md says what it is for and how it is set up.
 *
 * From a call to its effect, in reading order:
 *
 *     ddi.c        the tables by which the loader finds the functions; loader.c: the stand-in for the loader
 *     calls.c      every function begins here: counts, faults, hangs, is the handle good, is its device lost
 *     object.c     handles, and what is left of them at the end; report.c: where misuse and leaks are told
 *     driver.c device.c context.c memory.c event.c module.c (spirv.c, translate.c) kernel.c    objects
 *     list.c       lists; append.c: what is to be done becomes a command
 *     queue.c      queues, fences: commands go to a worker
 *     worker.c     a thread that runs commands in any legal order; hazard.c: what the client forgot to order
 *     run.c        one command
 *     engine.c     OpenCL
 *     settings.c clock.c
 *
 * Names: ze* are the functions of the specification, zecpu_* are shared between files. One lock guards everything that
 * changes (zecpu_lock), one condition tells of every change: this is a judge, not a racer. Functions that need the lock held
 * say so. A handle is a pointer to an object, and objects are never freed, so that a stale handle is always recognised.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_DRIVERS_ZE_CPU_ZE_CPU_H
#define TESTS_DRIVERS_ZE_CPU_ZE_CPU_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "newer.h"

enum {
    ZECPU_MAX_DEVICES = 8,
    ZECPU_MAX_TILES = 4,
    ZECPU_MAX_ARGUMENTS = 48,
    ZECPU_VALUE_BYTES = 128, /* largest argument by value; largest pattern of a fill */
    ZECPU_GROUP_SIZE = 1024,
    ZECPU_COMPUTE = 0, /* queue groups by their ordinal: computes and copies, */
    ZECPU_COPY = 1,    /* copies only */
    ZECPU_GROUPS = 2,
};

/* ---- settings.c: the environment ------------------------------------------------------------------------------ */

struct zecpu_settings {
    bool oclgrind, shuffle, strict, wrap, integrated, no_fp64;
    uint32_t devices, tiles;
    uint64_t seed;
    const char *report, *count; /* files; NULL: stderr, none */
    const char *hang_file;      /* its appearance ends a hang; NULL: time does */
    const char *translator;
    const char *keep; /* folder for what it made; NULL: none */
};

extern struct zecpu_settings zecpu_settings; /* written once, by zecpu_settings_read */

/* Reads all variables. False, with a word on stderr for each, if a value is bad or a name is unknown. */
bool zecpu_settings_read(void);

/* ---- report.c ------------------------------------------------------------------------------------------------- */

/* A line "misuse: ..." to the report, at once. Any thread, with or without the lock. */
void zecpu_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line "leak: ..." likewise. */
void zecpu_leak(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- object.c ------------------------------------------------------------------------------------------------- */

enum zecpu_kind {
    ZECPU_ANY, /* no handle to look at */
    ZECPU_DRIVER,
    ZECPU_DEVICE,
    ZECPU_CONTEXT,
    ZECPU_QUEUE,
    ZECPU_LIST,
    ZECPU_FENCE,
    ZECPU_POOL,
    ZECPU_EVENT,
    ZECPU_MODULE,
    ZECPU_LOG,
    ZECPU_KERNEL,
    ZECPU_KINDS
};

struct zecpu_context;
struct zecpu_device;

/* The first member of everything that has a handle. */
struct zecpu_object {
    uint32_t magic;
    enum zecpu_kind kind;
    struct zecpu_context *context; /* it was made in; NULL: driver and devices */
    struct zecpu_device *device;   /* it belongs to; NULL: to all devices of the context */
    struct zecpu_object *next;     /* all that were ever made */
};

void zecpu_lock(void);
void zecpu_unlock(void);
void zecpu_changed(void); /* wakes all who wait; with the lock */

/* Waits for a change until `deadline_ns` of zecpu_now_ns; false: it has passed. With the lock. */
bool zecpu_wait(uint64_t deadline_ns);
uint64_t zecpu_deadline(uint64_t timeout_ns);

/* Zeroed memory of `bytes` that begins with a live object. The program ends when there is no memory. */
void *zecpu_object_make(enum zecpu_kind kind, size_t bytes, struct zecpu_context *context, struct zecpu_device *device);
void zecpu_object_init(struct zecpu_object *object,
                       enum zecpu_kind kind); /* one that is not counted: driver, devices */
void zecpu_object_retire(void *object);

/* Is this a live handle of that kind? If not, that is misuse, told in the name of `function`. */
bool zecpu_object_check(const void *handle, enum zecpu_kind kind, const char *function);

/* Live objects made in `context`, itself not counted. */
unsigned zecpu_object_count(const struct zecpu_context *context);

/* ---- calls.c: the first thing that every function does -------------------------------------------------------- */

/*
 * Counts the call; hangs if it shall; looks at the handle (kind ZECPU_ANY: there is none); answers DEVICE_LOST when its
 * device is lost; fails if it shall. Anything but ZE_RESULT_SUCCESS: the function answers that, and does nothing.
 */
ze_result_t zecpu_call(const char *function, const void *handle, enum zecpu_kind kind);

/* The same for functions of a context that make something for one of its devices. */
ze_result_t zecpu_call_device(const char *function, ze_context_handle_t context, ze_device_handle_t device);

/*
 * The same for functions that destroy: a lost device is no hindrance, and one that shall fail destroys all the same, so
 * that a fault is no leak of the client's. False: answer *result, do nothing. True: do it, then answer *result.
 */
bool zecpu_call_destroy(const char *function, const void *handle, enum zecpu_kind kind, ze_result_t *result);

/* "command" in place of a function: the n-th command that a worker runs. */
ze_result_t zecpu_call_command(void);

/* Misuse, told in the name of `function`, unless `stype` is the one that is wanted. */
ze_result_t zecpu_stype(const char *function, ze_structure_type_t stype, ze_structure_type_t wanted);

/* For settings.c: `function` shall fail or hang at its n-th call. False: there is no such function. */
bool zecpu_calls_fail(const char *function, uint64_t n, ze_result_t result);
bool zecpu_calls_hang(const char *function, uint64_t n, uint64_t milliseconds);
void zecpu_calls_write(void); /* the file ZE_CPU_COUNT */

/* ---- driver.c, device.c, context.c ---------------------------------------------------------------------------- */

extern bool zecpu_stand_in; /* this is the stand-in for the loader: says the newer version of the API */

struct zecpu_device {
    struct zecpu_object object;
    uint32_t index;
    struct zecpu_device *root; /* itself, unless it is a tile */
    struct zecpu_device *tiles;
    uint64_t memory_bytes, largest_bytes;
    uint64_t used_bytes; /* of a root; with the lock */
    uint32_t slowness;   /* a command takes so many times as long */
    bool integrated, fp64;
    bool lost; /* since the last context was made; of a root; with the lock */
};

struct zecpu_context {
    struct zecpu_object object;
    uint32_t lost; /* a bit for each root device; with the lock */
};

ze_result_t zecpu_driver_init(void); /* once; every later call answers what the first did */
ze_result_t zecpu_driver_handles(uint32_t *count, ze_driver_handle_t *drivers);
void zecpu_devices_init(void);
void zecpu_devices_lost(const struct zecpu_device *device, bool lost); /* NULL: all. With the lock. */

/* With the lock. device NULL: all of them. */
bool zecpu_context_is_lost(const struct zecpu_context *context, const struct zecpu_device *device);
void zecpu_context_lose(struct zecpu_context *context, const struct zecpu_device *device);

/*
 * Are there users of something of this context, so that it cannot be destroyed? A client that has lost a device cannot wait
 * for what is under way on it, and must be able to clean up: it is waited for here. With the lock.
 */
bool zecpu_context_in_use(const struct zecpu_context *context, const uint32_t *users);

/* ---- clock.c -------------------------------------------------------------------------------------------------- */

enum { ZECPU_TICK_NS = 80 }; /* 12.5 MHz */

uint64_t zecpu_now_ns(void);
uint64_t zecpu_ticks(void);
uint64_t zecpu_clock_start(void); /* the same, for a command that is timed: with ZE_CPU_TSWRAP the first leaps */
uint32_t zecpu_clock_bits(void);  /* valid bits of kernel timestamps */
uint64_t zecpu_clock_masked(uint64_t ticks);

/* ---- memory.c ------------------------------------------------------------------------------------------------- */

struct zecpu_memory {
    struct zecpu_memory *next;
    char *client; /* what the client sees; unreadable with ZE_CPU_STRICT */
    char *cpu;    /* the same bytes for us */
    void *base;   /* what the engine gave */
    cl_mem buffer;
    size_t bytes;
    ze_memory_type_t type;
    struct zecpu_context *context;
    struct zecpu_device *device; /* NULL: host memory */
    uint64_t id;
    uint32_t users; /* commands under way */
};

/* The live allocation that `pointer` is in; NULL: none. With the lock. */
struct zecpu_memory *zecpu_memory_find(const void *pointer);

/* The bytes behind a client's pointer; memory that is none of ours is left as it is. Takes the lock. */
void *zecpu_memory_cpu(const void *pointer);

/* Misuse, if the range begins in an allocation and does not end there. */
bool zecpu_memory_range(const char *function, const void *pointer, size_t bytes);
void zecpu_memory_leaks(void);
unsigned zecpu_memory_count(const struct zecpu_context *context); /* with the lock */

/* ---- spirv.c -------------------------------------------------------------------------------------------------- */

enum zecpu_argument_kind { ZECPU_VALUE, ZECPU_GLOBAL, ZECPU_LOCAL, ZECPU_UNSUPPORTED };

struct zecpu_argument {
    uint32_t kind, bytes;
    uint32_t reads_only; /* a pointer that is never written through */
};

/* Part of the native binary: plain numbers only. */
struct zecpu_kernel_info {
    char name[128];
    uint32_t argument_count, group_size[3], subgroup_size; /* 0: any */
    struct zecpu_argument arguments[ZECPU_MAX_ARGUMENTS];
};

struct zecpu_constant {
    uint32_t id, bytes;
    char letter; /* i, f */
};

struct zecpu_spirv {
    struct zecpu_kernel_info *kernels; /* the caller frees */
    uint32_t kernel_count;
    struct zecpu_constant constants[64];
    uint32_t constant_count;
    bool fp64;
};

/* OpenCL tells nothing of the arguments of a program made of SPIR-V: so they are read here. False: this is no SPIR-V. */
bool zecpu_spirv_read(const uint32_t *words, size_t count, struct zecpu_spirv *out);

/* ---- translate.c ---------------------------------------------------------------------------------------------- */

/*
 * SPIR-V to the LLVM bitcode that OpenCL drivers for the CPU take. *bitcode is NULL if that failed, and *log says why; the
 * caller frees both.
 */
void zecpu_translate(const void *spirv, size_t bytes, const ze_module_constants_t *values,
                     const struct zecpu_spirv *info, void **bitcode, size_t *bitcode_bytes, char **log);

/* ---- engine.c: the one file that calls OpenCL ----------------------------------------------------------------- */

bool zecpu_engine_open(void); /* false, with a word on stderr: there is none */
const char *zecpu_engine_name(void);

bool zecpu_engine_alloc(struct zecpu_memory *memory, size_t alignment); /* bytes is set; sets base, cpu, buffer */
void zecpu_engine_free(struct zecpu_memory *memory);

/* NULL: it does not build, and *log, which the caller frees, says why. */
cl_program zecpu_engine_build(const void *binary, size_t bytes, char **log);
void zecpu_engine_program_free(cl_program program);
size_t zecpu_engine_binary(cl_program program, void *to, size_t room); /* its length; copied if there is room */

cl_kernel zecpu_engine_kernel(cl_program program, const char *name); /* NULL: failed */
void zecpu_engine_kernel_free(cl_kernel kernel);
uint32_t zecpu_engine_local_bytes(cl_kernel kernel);

cl_command_queue zecpu_engine_queue(void); /* NULL: failed */
void zecpu_engine_queue_free(cl_command_queue queue);

struct zecpu_launch;
bool zecpu_engine_launch(cl_command_queue queue, const struct zecpu_launch *launch); /* until it is done */

/* ---- module.c, kernel.c --------------------------------------------------------------------------------------- */

struct zecpu_module {
    struct zecpu_object object;
    struct zecpu_kernel_info *kernels;
    uint32_t kernel_count;
    cl_program program;
    uint32_t users; /* kernels made of it; with the lock */
};

struct zecpu_value {
    bool set;
    size_t bytes;
    unsigned char data[ZECPU_VALUE_BYTES];
};

struct zecpu_kernel {
    struct zecpu_object object;
    struct zecpu_module *module;
    const struct zecpu_kernel_info *info;
    cl_kernel kernel;
    uint32_t group_size[3], offset[3];
    ze_kernel_indirect_access_flags_t indirect;
    struct zecpu_value values[ZECPU_MAX_ARGUMENTS];
    uint32_t users; /* commands under way; with the lock */
};

/* What a kernel and its arguments were when it was appended. */
struct zecpu_launch {
    struct zecpu_kernel *kernel;
    struct zecpu_value *values;
    uint32_t group_size[3], group_count[3], offset[3];
    const void *indirect_count; /* where group_count is read from when it runs; NULL: it is known */
};

/* ---- event.c -------------------------------------------------------------------------------------------------- */

struct zecpu_pool {
    struct zecpu_object object;
    uint32_t count, flags;
    uint32_t counts; /* counter-based events: flags of the lists that may signal them; 0: plain ones */
    unsigned char *used;
};

/*
 * A plain event is signalled when done >= 1. One that counts is at `target` signals appended, `done` of them over; a wait is
 * for the target that stood when it was appended, so it needs no reset.
 */
struct zecpu_event {
    struct zecpu_object object; /* device: the one that shall signal it */
    struct zecpu_pool *pool;
    uint32_t index;
    uint64_t target, done;
    uint64_t start, end; /* ticks */
    uint32_t users;      /* commands under way that wait for it or signal it */
};

uint64_t zecpu_event_wanted(const struct zecpu_event *event); /* what `done` must reach; with the lock */
void zecpu_event_signal(struct zecpu_event *event, uint64_t value, uint64_t start, uint64_t end); /* with the lock */
void zecpu_event_stamps(const struct zecpu_event *event, ze_kernel_timestamp_result_t *out);

/* ---- list.c, append.c, queue.c, worker.c, hazard.c, run.c ----------------------------------------------------- */

enum zecpu_op {
    ZECPU_OP_KERNEL,
    ZECPU_OP_COPY,
    ZECPU_OP_REGION,
    ZECPU_OP_FILL,
    ZECPU_OP_BARRIER,
    ZECPU_OP_SIGNAL,
    ZECPU_OP_WAIT,
    ZECPU_OP_RESET,
    ZECPU_OP_STAMP,  /* the time of the device */
    ZECPU_OP_STAMPS, /* of events */
    ZECPU_OP_LIST_END,
    ZECPU_OP_FENCE
};

struct zecpu_awaited {
    struct zecpu_event *event;
    uint64_t value;
};

struct zecpu_fence {
    struct zecpu_object object;
    bool signalled;
    uint32_t users;
};

struct zecpu_command {
    enum zecpu_op op;
    bool in_order;               /* nothing before it is still to be done, nothing after it begins */
    struct zecpu_list *borrowed; /* a copy, for one execution, of a command that this list keeps; NULL: it is not */
    struct zecpu_event *signal;
    uint64_t signal_value;
    struct zecpu_awaited *waits;
    uint32_t wait_count;
    struct zecpu_launch launch;
    void *to; /* copies, fills, stamps */
    const void *from;
    size_t bytes, pattern_bytes;
    unsigned char pattern[ZECPU_VALUE_BYTES];
    ze_copy_region_t to_region, from_region;
    uint32_t to_pitch, from_pitch, to_slice, from_slice;
    struct zecpu_event **events; /* whose stamps; or [0]: to be reset */
    uint32_t event_count;
    const size_t *offsets;
    struct zecpu_fence *fence;
};

struct zecpu_worker {
    pthread_t thread;
    struct zecpu_context *context;
    struct zecpu_device *device;
    cl_command_queue queue;
    bool immediate, stop;
    uint64_t random;
    struct zecpu_command **pending; /* with the lock, as all that follows */
    size_t count, room;
    struct zecpu_command *running;
};

struct zecpu_queue {
    struct zecpu_object object;
    struct zecpu_worker worker;
    uint32_t ordinal;
    bool synchronous;
};

struct zecpu_list {
    struct zecpu_object object;
    struct zecpu_worker *worker; /* immediate; NULL: regular */
    uint32_t ordinal;
    bool synchronous, in_order, closed;
    uint32_t under_way; /* commands of executions; with the lock */
    struct zecpu_command **commands;
    size_t count, room;
};

bool zecpu_command_is_wall(const struct zecpu_command *command); /* nothing passes it, in either direction */
void zecpu_command_free(struct zecpu_command *command);
void zecpu_command_push(struct zecpu_command ***array, size_t *count, size_t *room, struct zecpu_command *command);

bool zecpu_worker_start(struct zecpu_worker *worker, struct zecpu_context *context, struct zecpu_device *device,
                        bool immediate);
void zecpu_worker_stop(struct zecpu_worker *worker, const char *function); /* misuse, if something is under way */
void zecpu_worker_submit(struct zecpu_worker *worker, struct zecpu_command *command); /* with the lock; takes it over */
ze_result_t zecpu_worker_finish(struct zecpu_worker *worker, uint64_t timeout_ns);

/* Misuse, if `command` touches what another one touches that is still to be done and that nothing orders before it. With
 * the lock. */
void zecpu_hazard_check(const struct zecpu_worker *worker, const struct zecpu_command *command);

/* False: the device is lost. */
bool zecpu_run(struct zecpu_worker *worker, const struct zecpu_command *command);

#endif
