/*
 * levelzero.h: what the files of the Level Zero backend share.
 *
 *   plugin.c    the data symbol, open and close, the table of functions
 *   device.c    which devices there are; their context and lists
 *   describe.c  what a device is: its name, limits and flags
 *   memory.c    device memory, staging memory, imported memory
 *   program.c   SPIR-V or binary -> module, one for an operation and a variant
 *   pipeline.c  module and bucket -> kernels with their geometry
 *   queue.c     a list of commands -> an immediate list of the device
 *   event.c     events in bursts, used again and again
 *   ticket.c    waiting for it, and the time that it took
 *   error.c     ze_result_t -> enum svmx_status and a line of text
 *   newer.c     what loaders of today have and the headers of Debian 12 do not
 *
 * All state hangs on struct lz_backend: two instances share nothing.
 *
 *   engine 0      computes and copies: an immediate list of a queue group that computes
 *   engine 1      copies, where the device has a queue group for nothing else
 *   readbacks     a second list of that group: copies of a list for engine 0 go to these two, beside kernels of others
 *
 * TWO WAYS to keep commands in order. Where driver and loader have them: in-order lists, with events that count and are
 * never reset. Elsewhere: lists of any order, with barriers between, and events that are reset when their ticket is over.
 *
 * LOST. Once a call has said that the device is lost, nothing more is asked of it: every later call says so too. What it
 * holds is given back at close. A new instance begins with a new context.
 *
 * STUCK. Commands of a submission that failed have to end before their memory is the core's again. Where they do not in the time
 * that they have (patience_ns), the device is as good as lost; but it may be at them still, so that its memory, its code, its lists
 * and its context stay with it until the process ends.
 *
 * THREADS. Kernels are touched by the device's submitter only. The rest may be called from any thread: `lock` of a device
 * guards its lists and the tickets of its slots, `lock` of a program its building, `lock` of an engine its immediate list:
 * setting the arguments of a kernel and appending it is one step. The device's lock is taken while an engine's is held, never
 * the other way round; several engines' in the order of their numbers; no others are held together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_LEVELZERO_LEVELZERO_H
#define SVMX_LEVELZERO_LEVELZERO_H

#include "../kernels/binary.h"
#include "../kernels/name.h"
#include "../kernels/pause.h"
#include "../kernels/recipe.h"
#include "../kernels/sharing.h"
#include "newer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    LZ_SLOTS = 16,     /* submissions of a device that may be open at once */
    LZ_ALIGNMENT = 64, /* of slots in device memory: what kernels are promised (common.cl) */
    LZ_BURST = 64,     /* events that are made at once */
    LZ_READBACKS = 2,  /* in place of the number of an engine */
    LZ_ENGINES = 3
};

/* ---- what hangs together ---------------------------------------------------------------------------------- */

struct lz_backend {
    const struct svmx_host *host;
    struct lz_newer newer;
    struct lz_device *devices;
    uint32_t device_count;
};

/* An event of a burst: free, or of one command of a ticket. */
struct lz_event {
    struct lz_event *next; /* in the list of free ones */
    ze_event_handle_t handle;
    uint32_t kind; /* enum svmx_command_kind: to whose time it counts; BARRIER: to none */
};

struct lz_burst {
    struct lz_burst *next;
    ze_event_pool_handle_t pool;
    uint32_t count; /* events that were made */
    struct lz_event events[LZ_BURST];
};

/* A submission that is under way. Free if `ticket` is 0. */
struct lz_slot {
    uint64_t ticket;          /* guarded by the device's lock, as are the events while it is not 0 */
    struct lz_event **events; /* in the order of the list; when the last is over, all are */
    size_t event_count, event_capacity;
    uint64_t submitted_ns, expected_ns;
    uint64_t *learn_ns;      /* where the time of the whole is noted for the next one, */
    uint32_t dispatch_count; /* if there is one dispatch in it */
};

struct lz_engine {
    pthread_mutex_t lock;
    uint32_t ordinal;              /* of its queue group */
    ze_command_list_handle_t list; /* immediate; made at the first use */
};

struct lz_device {
    struct lz_backend *backend;
    ze_driver_handle_t driver;
    ze_device_handle_t id;
    struct svmx_device_info info;
    char own_name[64];         /* without a number */
    uint32_t compute_units;    /* execution units */
    uint32_t max_group;        /* work-items of a work-group */
    uint32_t max_group_count;  /* work-groups of a launch */
    uint64_t plain_bytes;      /* larger allocations need the relaxed limits */
    uint64_t timer_hz;         /* of timestamps; 0: unknown */
    uint64_t stamp_mask;       /* valid bits of timestamps */
    bool in_order;             /* the newer way */
    bool integrated;           /* the device computes in the host's memory */
    bool system_memory;        /* any memory of the process can be used in place */
    bool shares_cores;         /* a driver that computes on the CPU: waiting must not take its cores */
    const char *build_options; /* of modules */

    atomic_bool lost; /* relaxed: whoever does not see it yet hears it from the driver */
    atomic_bool
        stuck; /* relaxed: set by the submitter, which frees memory too, and read by others after it has ended */
    uint64_t patience_ns; /* how long commands of a submission that failed are waited for */

    pthread_mutex_t lock;        /* guards what follows, up to the slots */
    ze_context_handle_t context; /* made at the first use: it costs a GPU memory and time */
    struct lz_burst *bursts;
    struct lz_event *free_events;
    struct kernels_program *programs; /* struct lz_program */
    struct kernels_shared *pipelines; /* struct svmx_pipeline */

    struct lz_engine engines[LZ_ENGINES];
    struct lz_slot slots[LZ_SLOTS];
    uint64_t next_ticket; /* the submitter's */
};

struct svmx_memory {
    struct lz_device *device;
    uint64_t bytes;
    unsigned char *at; /* for commands; for the host too, unless it is device memory */
    bool imported;     /* not ours to free */
};

/* The compiled form of an operation and a variant. */
struct lz_program {
    struct kernels_program shared; /* first: a list of these is one of programs */
    struct lz_device *device;
    ze_module_handle_t module; /* guarded by its lock; NULL: not built */
};

struct lz_pass {
    struct catalog_pass shape;
    uint32_t grain;
    ze_kernel_handle_t kernel; /* the submitter's */
};

enum { LZ_SIZES = 65 }; /* classes of sizes: bits of a count */

struct svmx_pipeline {
    struct kernels_shared shared; /* first: a list of these is one of pipelines */
    struct lz_program *program;
    uint32_t pass_count;
    struct lz_pass passes[CATALOG_PASSES];
    uint64_t expected_ns[LZ_SIZES]; /* of launches by their size; the submitter's */
};

/* ---- error.c ---------------------------------------------------------------------------------------------- */

/* Logs a line at ERROR: "ZE_RESULT_... (0x70000001)" behind what was tried, and gives the status that it means. Notes that
 * the device is lost, if that is what it means. */
enum svmx_status lz_fail(struct lz_device *device, ze_result_t result, const char *format, ...) SVMX_PRINTF(3, 4);
/* Only notes that; for calls whose failure is no news otherwise. */
void lz_note(struct lz_device *device, ze_result_t result);
/* Notes that it is stuck, and so lost. */
void lz_note_stuck(struct lz_device *device);
/* Whether what the driver made for it must not be given back. */
bool lz_is_stuck(const struct lz_device *device);
/* The name of a result. */
const char *lz_result_name(ze_result_t result);
/* Logs a line. */
void lz_log(const struct lz_backend *backend, enum svmx_log_level level, const char *format, ...) SVMX_PRINTF(3, 4);
/* A mistake of the caller's, or something that is not done here: logs it and gives back `status`. */
enum svmx_status lz_refuse(const struct lz_backend *backend, enum svmx_status status, const char *format, ...)
    SVMX_PRINTF(3, 4);

/* ---- device.c --------------------------------------------------------------------------------------------- */

/* Fills backend->devices. UNSUPPORTED: there is none; MEMORY. */
enum svmx_status lz_devices_find(struct lz_backend *backend);
void lz_devices_free(struct lz_backend *backend);
/* The device of that number, with its context; NULL with `status` set. */
struct lz_device *lz_device_ready(struct lz_backend *backend, uint32_t index, enum svmx_status *status);
/* The immediate list of an engine, made if there is none yet. With the engine's lock. */
ze_result_t lz_engine_open(struct lz_device *device, struct lz_engine *engine);
enum svmx_status lz_device_info(void *self, uint32_t index, struct svmx_device_info *info);

/* ---- describe.c ------------------------------------------------------------------------------------------- */

/* Fills in what a device is, from driver and id. NULL, or why it cannot be used. */
const char *lz_describe(struct lz_device *device);

/* ---- memory.c --------------------------------------------------------------------------------------------- */

enum svmx_status lz_memory_alloc(void *self, uint32_t device, const struct svmx_memory_desc *desc,
                                 struct svmx_memory **memory, void **host);
void lz_memory_free(void *self, struct svmx_memory *memory);

/* ---- program.c -------------------------------------------------------------------------------------------- */

/* What is compiled. */
struct lz_source {
    const char *op;
    const void *spirv;
    size_t bytes;
};

/* Finds or builds; `binary` may be NULL. Given back by lz_program_release. */
enum svmx_status lz_program_acquire(struct lz_device *device, const struct lz_source *source, const void *binary,
                                    size_t binary_bytes, struct lz_program **program);
void lz_program_release(struct lz_program *program);
/* The compiled form with our head in front: see pipeline_binary in plugin.h. */
enum svmx_status lz_program_binary(struct lz_program *program, void *buffer, size_t *bytes);

/* ---- pipeline.c ------------------------------------------------------------------------------------------- */

enum svmx_status lz_pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                   struct svmx_pipeline **pipeline);
void lz_pipeline_free(void *self, struct svmx_pipeline *pipeline);
enum svmx_status lz_pipeline_binary(void *self, struct svmx_pipeline *pipeline, void *buffer, size_t *bytes);

/* ---- queue.c ---------------------------------------------------------------------------------------------- */

enum svmx_status lz_submit(void *self, const struct svmx_submission *submission, uint64_t *ticket);

/* ---- event.c ---------------------------------------------------------------------------------------------- */

/* An event that is not signalled. */
ze_result_t lz_event_take(struct lz_device *device, struct lz_event **event);
/* Of a command that is over, or was never appended: nobody waits for it any more. */
void lz_event_give(struct lz_device *device, struct lz_event *event);
void lz_events_free(struct lz_device *device);
/* How long its command took, by the device's clock; 0: it cannot tell. */
uint64_t lz_event_duration_ns(struct lz_device *device, const struct lz_event *event);

/* ---- ticket.c --------------------------------------------------------------------------------------------- */

/* A free slot; NULL: none. Only the submitter takes slots, so it stays free until a ticket is written into it. */
struct lz_slot *lz_slot_take(struct lz_device *device);
/* Is any ticket of the device open? The submitter's to ask: it opens and retires them. */
bool lz_slots_are_open(const struct lz_device *device);
/* An event at the end of a slot, for a command of that kind. */
ze_result_t lz_slot_event(struct lz_device *device, struct lz_slot *slot, uint32_t kind, struct lz_event **event);
/* Takes the last one back: its command was not appended. */
void lz_slot_drop(struct lz_device *device, struct lz_slot *slot);
/* Makes it free; events whose commands are over go back, others are not used again. */
void lz_slot_clear(struct lz_device *device, struct lz_slot *slot, bool over);
/* Waits for its commands, so that nothing of it is under way any more, and makes it free; what to say of it, which is `why`
 * unless they did not end. */
ze_result_t lz_slot_drain(struct lz_device *device, struct lz_slot *slot, ze_result_t why);
/* Its number, never used twice in the backend: from now on it can be waited for. */
uint64_t lz_slot_open(struct lz_device *device, struct lz_slot *slot);
/* Waits until a ticket of any device is over; false: it is not within the time. */
bool lz_ticket_await(struct lz_backend *backend, uint64_t ticket, uint64_t timeout_ns);

enum svmx_status lz_wait(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns, struct svmx_timing *timing);
/* Frees what the slots of a device hold. */
void lz_slots_free(struct lz_device *device);

#endif
