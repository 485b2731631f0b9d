/*
 * opencl.h: what the files of the OpenCL backend share.
 *
 *   plugin.c    the data symbol, open and close, the table of functions
 *   device.c    which devices there are; their context and queues
 *   describe.c  what a device is: its name, limits and flags
 *   memory.c    device buffers, staging memory, imported memory
 *   shared.c    memory that host and kernels use in place: SVM, or Intel's USM
 *   program.c   source or binary -> cl_program, one for an operation and a variant
 *   pipeline.c  program and bucket -> kernels with their geometry
 *   queue.c     a list of commands -> the device
 *   ticket.c    waiting for it, and the time that it took
 *   error.c     cl_int -> enum svmx_status and a line of text
 *
 * All state hangs on struct ocl_backend: two instances share nothing.
 *
 * THREADS. Kernels and the queues for work are touched by the device's submitter only. The rest may be called from any thread:
 * `lock` of a device guards its lists and the tickets of its slots, `lock` of a program its building. A driver rings
 * the bell from threads of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPENCL_OPENCL_H
#define SVMX_OPENCL_OPENCL_H

#define CL_TARGET_OPENCL_VERSION          300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue: drivers of 1.2 have no other */
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include "../kernels/binary.h"
#include "../kernels/name.h"
#include "../kernels/pause.h"
#include "../kernels/recipe.h"
#include "../kernels/sharing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    OCL_SLOTS = 16,    /* submissions of a device that may be open at once */
    OCL_ALIGNMENT = 64 /* of slots in device memory: what kernels are promised (common.cl) */
};

/* ---- what hangs together ---------------------------------------------------------------------------------- */

struct ocl_backend {
    const struct svmx_host *host;
    struct ocl_device *devices;
    uint32_t device_count;
    atomic_uint_fast64_t next_memory_id;
};

/* One command of a ticket. */
struct ocl_event {
    cl_event event;
    uint32_t kind; /* enum svmx_command_kind: to whose time it counts; BARRIER: to none */
};

/* A submission that is under way. Free if `ticket` is 0. */
struct ocl_slot {
    uint64_t ticket;          /* guarded by the device's lock, as are the events while it is not 0 */
    struct ocl_event *events; /* in the order of the queue */
    size_t event_count, event_capacity;
    uint64_t submitted_ns, expected_ns;
    uint64_t *learn_ns;      /* where the time of the whole is noted for the next one, */
    uint32_t dispatch_count; /* if there is one dispatch in it */
    cl_command_queue last;   /* where its last command is; the submitter's */
    bool spreads;            /* copies go to queues of their own: other tickets are open */
    bool rings;              /* the bell was asked for its last event */
};

/* Rung when the last command of a list is over, by a thread of the driver's. */
struct ocl_bell {
    _Atomic uint32_t rung; /* a futex: how often */
    atomic_uint awaited;   /* calls that the driver still owes */
};

enum ocl_shared { OCL_SHARED_NONE, OCL_SHARED_SVM, OCL_SHARED_USM };

/* Functions of cl_intel_unified_shared_memory; not in the loader. */
struct ocl_usm {
    clHostMemAllocINTEL_fn alloc;
    clMemFreeINTEL_fn free;
    clSetKernelArgMemPointerINTEL_fn argument;
    clEnqueueMemcpyINTEL_fn copy;
    clEnqueueMemFillINTEL_fn fill;
};

struct ocl_device {
    struct ocl_backend *backend;
    cl_platform_id platform;
    cl_device_id id;
    struct svmx_device_info info;
    uint32_t catalog_kind;  /* CATALOG_CPU or CATALOG_GPU */
    uint32_t compute_units; /* that work goes to: never more than there are cores, on a CPU */
    size_t max_group;       /* work-items of a work-group */
    enum ocl_shared shared; /* what staging memory is made of */
    struct ocl_usm usm;
    bool unified;      /* the device computes in the host's memory */
    bool inlines_all;  /* its compiler knows no calls */
    bool exact_divide; /* knows -cl-fp32-correctly-rounded-divide-sqrt */
    bool has_bell;     /* waiting is told by the driver, not asked for: polling would take a core from the device */

    pthread_mutex_t lock;              /* guards what follows, up to the slots */
    cl_context context;                /* made at the first use: it costs a GPU memory and time */
    cl_command_queue queue;            /* of kernels */
    cl_command_queue upload, readback; /* of copies; `queue` itself where the device has no memory of its own */
    cl_command_queue memory_queue;     /* clearing and mapping, from any thread */
    struct kernels_program *programs;  /* struct ocl_program */
    struct kernels_shared *pipelines;  /* struct svmx_pipeline */

    struct ocl_slot slots[OCL_SLOTS];
    uint64_t next_ticket; /* the submitter's */
    struct ocl_bell bell;
};

struct svmx_memory {
    struct ocl_device *device;
    uint64_t id; /* never used twice: the address of a cl_mem is */
    uint64_t bytes;
    cl_mem buffer; /* NULL: shared */
    void *host;    /* shared, mapped or imported; NULL: not visible */
    bool shared;   /* kernels take `host` itself */
    bool mapped;   /* copies go through `host` */
};

/* The compiled source of an operation and a variant. */
struct ocl_program {
    struct kernels_program shared; /* first: a list of these is one of programs */
    struct ocl_device *device;
    cl_program program; /* guarded by its lock; NULL: not built */
};

/* What a kernel was last launched with. */
struct ocl_arguments {
    uint64_t memory[4]; /* ids: in, out, scratch, table; 0 = NULL */
    uint64_t scratch_at, table_at, units;
    uint32_t tasks;
    bool set; /* false: with nothing yet */
};

struct ocl_pass {
    struct catalog_pass shape;
    uint32_t grain;
    cl_kernel kernel; /* the submitter's */
    struct ocl_arguments last;
};

enum { OCL_SIZES = 65 }; /* classes of sizes: bits of a count */

struct svmx_pipeline {
    struct kernels_shared shared; /* first: a list of these is one of pipelines */
    struct ocl_program *program;
    uint32_t pass_count;
    struct ocl_pass passes[CATALOG_PASSES];
    uint64_t expected_ns[OCL_SIZES]; /* of launches by their size; the submitter's */
};

/* ---- error.c ---------------------------------------------------------------------------------------------- */

/* Logs a line at ERROR: "CALL: CL_NAME (-5)" behind what was tried, and gives the status that it means. */
enum svmx_status ocl_fail(const struct ocl_backend *backend, cl_int error, const char *format, ...) SVMX_PRINTF(3, 4);
/* That status alone. */
enum svmx_status ocl_status(cl_int error);
/* Logs a line. */
void ocl_log(const struct ocl_backend *backend, enum svmx_log_level level, const char *format, ...) SVMX_PRINTF(3, 4);
/* A mistake of the caller's, or something that is not done here: logs it and gives back `status`. */
enum svmx_status ocl_refuse(const struct ocl_backend *backend, enum svmx_status status, const char *format, ...)
    SVMX_PRINTF(3, 4);

/* ---- device.c --------------------------------------------------------------------------------------------- */

/* Fills backend->devices. UNSUPPORTED: there is none; MEMORY. */
enum svmx_status ocl_devices_find(struct ocl_backend *backend);
void ocl_devices_free(struct ocl_backend *backend);
/* The device of that number, with its context and queues; NULL with `status` set. */
struct ocl_device *ocl_device_ready(struct ocl_backend *backend, uint32_t index, enum svmx_status *status);
enum svmx_status ocl_device_info(void *self, uint32_t index, struct svmx_device_info *info);

/* ---- describe.c ------------------------------------------------------------------------------------------- */

/* Fills in what a device is, from platform and id. NULL, or why it cannot be used. */
const char *ocl_describe(struct ocl_device *device);
/* Whether a list of words has that word. */
bool ocl_has_word(const char *list, const char *word);

/* ---- memory.c --------------------------------------------------------------------------------------------- */

enum svmx_status ocl_memory_alloc(void *self, uint32_t device, const struct svmx_memory_desc *desc,
                                  struct svmx_memory **memory, void **host);
void ocl_memory_free(void *self, struct svmx_memory *memory);

/* ---- shared.c --------------------------------------------------------------------------------------------- */

/* Which kind a device has, as its driver says; sets device->shared. */
void ocl_shared_find(struct ocl_device *device, const char *extensions);
void *ocl_shared_alloc(const struct ocl_device *device, size_t bytes);
void ocl_shared_free(const struct ocl_device *device, void *memory);
cl_int ocl_shared_argument(const struct ocl_device *device, cl_kernel kernel, cl_uint at, const void *memory);
/* In the queue of kernels: such memory is that of devices without a memory of their own. */
cl_int ocl_shared_copy(const struct ocl_device *device, void *to, const void *from, size_t bytes, cl_event *event);
cl_int ocl_shared_fill(const struct ocl_device *device, void *to, cl_uchar value, size_t bytes, cl_event *event);

/* ---- program.c -------------------------------------------------------------------------------------------- */

/* What is compiled. */
struct ocl_source {
    const char *op;
    const char *files[1 + CATALOG_SOURCES]; /* of the catalog; NULL ends them */
    const char *text;                       /* behind the files, or NULL */
    const char *options;
    bool f64;
};

/* Finds or builds; `binary` may be NULL. Given back by ocl_program_release. */
enum svmx_status ocl_program_acquire(struct ocl_device *device, const struct ocl_source *source, const void *binary,
                                     size_t binary_bytes, struct ocl_program **program);
void ocl_program_release(struct ocl_program *program);
/* The compiled form with our head in front: see pipeline_binary in plugin.h. */
enum svmx_status ocl_program_binary(struct ocl_program *program, void *buffer, size_t *bytes);

/* ---- pipeline.c ------------------------------------------------------------------------------------------- */

enum svmx_status ocl_pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                    struct svmx_pipeline **pipeline);
void ocl_pipeline_free(void *self, struct svmx_pipeline *pipeline);
enum svmx_status ocl_pipeline_binary(void *self, struct svmx_pipeline *pipeline, void *buffer, size_t *bytes);

/* ---- queue.c ---------------------------------------------------------------------------------------------- */

enum svmx_status ocl_submit(void *self, const struct svmx_submission *submission, uint64_t *ticket);

/* Until all that was enqueued has ended. The driver's own wait, without a deadline: after a failure only. */
void ocl_finish(const struct ocl_device *device);

/* ---- ticket.c --------------------------------------------------------------------------------------------- */

/* A free slot; NULL: none. Only the submitter takes slots, so it stays free until a ticket is written into it. */
struct ocl_slot *ocl_slot_take(struct ocl_device *device);
/* Is any ticket of the device open? The submitter's to ask: it opens and retires them. */
bool ocl_slots_are_open(const struct ocl_device *device);
/* Room for one more event. */
bool ocl_slot_reserve(const struct ocl_device *device, struct ocl_slot *slot);
void ocl_slot_push(struct ocl_slot *slot, cl_event event, uint32_t kind);
/* Makes it free; the events go. */
void ocl_slot_clear(struct ocl_device *device, struct ocl_slot *slot);
/* Its number, never used twice in the backend: from now on it can be waited for. */
uint64_t ocl_slot_open(struct ocl_device *device, struct ocl_slot *slot);
/* The last event of a ticket of any device, retained; NULL: it is over. */
cl_event ocl_ticket_event(struct ocl_backend *backend, uint64_t ticket, const struct ocl_device **device);
/* Asks the driver to ring when an event is over. Before it is flushed: oclgrind is silent about what is over already. */
void ocl_bell_ask(struct ocl_device *device, cl_event event);
/* The same for the last event of a slot, unless it will be over so soon that looking on is better. */
void ocl_slot_order_bell(struct ocl_device *device, struct ocl_slot *slot);
/* Waits for an event that the bell was asked for; false: not over within the time. */
bool ocl_event_wait(struct ocl_device *device, cl_event event, uint64_t timeout_ns);

enum svmx_status ocl_wait(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns,
                          struct svmx_timing *timing);
/* Waits until the driver rings no more, then frees what the slots of a device hold. false: it still may ring. */
bool ocl_slots_free(struct ocl_device *device);

#endif
