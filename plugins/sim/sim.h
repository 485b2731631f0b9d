/*
 * sim.h: what the files of the sim backend share.
 *
 *   plugin.c   data symbol, open and close, the table of functions
 *   device.c   devices: one for each model that is shipped and one for SUPERVM_SIM_MODEL; pipelines
 *   memory.c   memory of a device, which is the host's
 *   queue.c    submit and wait: a list becomes a ticket, and a modelled time
 *   worker.c   a thread a device: computes with the reference code, and says when the model would be done
 *   model.h    the model itself, which knows nothing of all this
 *
 * Real time only: the clock is host->now. A launch is over when its modelled time has passed, or later, where computing it
 * takes longer; what a ticket reports is then the real time and not the modelled one, so that the two never mix.
 *
 * LOCKS. One an instance: it guards tickets, generators and counters, and is never held while a model computes or a thread
 * sleeps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "model.h"

#include <pthread.h>
#include <svmx/plugin.h>
#include <time.h>

enum { SIM_MAX_DEVICES = 32, SIM_MAX_PARAMS = 16, SIM_IN_FLIGHT = 64, SIM_ALIGNMENT = 256 };

/* What a modelled device says of its memory. It is the host's, which may have less. */
#define SIM_MEMORY_BYTES    (UINT64_C(16) << 30)
#define SIM_MAX_ALLOC_BYTES (UINT64_C(4) << 30)

struct sim_instance;

/* A device. */
struct sim_gpu {
    struct sim_instance *instance;
    uint32_t index;
    struct sim_model model; /* not written after open */
    uint32_t model_hash;    /* of its text: part of the driver's name, since a profile of another text says nothing */
    uint64_t start_ns;      /* scripted changes count from here */

    /* Guarded by the lock. */
    struct sim_random random;
    uint64_t launches;
    uint32_t open_tickets;
    bool working;     /* the thread was started */
    bool said_late;   /* said once that computing takes longer than modelled */
    pthread_t worker; /* of `working` */

    struct sim_engines engines; /* the worker's */
};

/* An instance: `self`. */
struct sim_instance {
    const struct svmx_host *host;
    uint32_t device_count;
    struct sim_gpu *devices[SIM_MAX_DEVICES];

    pthread_mutex_t lock;
    pthread_cond_t changed; /* a ticket came or is over, or `closing` was set; of CLOCK_MONOTONIC */
    /* Guarded by the lock. */
    struct sim_ticket *tickets; /* open ones of all devices, oldest first */
    uint64_t last_ticket;
    bool closing;
};

struct svmx_memory {
    struct sim_gpu *gpu;
    uint64_t bytes;
    uint8_t *data;
    bool imported; /* the core's: not ours to release */
};

struct svmx_pipeline {
    struct sim_gpu *gpu;
    char op[SIM_NAME_BYTES];
    uint32_t param_count;
    bool scalar[SIM_MAX_PARAMS], output[SIM_MAX_PARAMS];
};

struct sim_ticket {
    struct sim_ticket *next;
    struct sim_gpu *gpu;
    uint64_t id, submitted_ns;
    struct sim_cost modelled;
    /* Written by the worker before `computed` is, which the lock guards. */
    struct svmx_timing timing;
    enum svmx_status status;
    uint64_t over_ns; /* when the modelled device is done with it */
    bool taken, held_back, computed;
    uint64_t *after; /* behind the commands */
    size_t after_count, count;
    struct svmx_command commands[];
};

/* Logs a line at ERROR and gives back `status`. */
enum svmx_status sim_fail(const struct sim_instance *instance, enum svmx_status status, const char *format, ...)
    SVMX_PRINTF(3, 4);

/* ---- device.c ---- */

/* Adds the models that are shipped and that of `path`, which may be NULL. */
enum svmx_status sim_devices_add(struct sim_instance *instance, const char *path);
void sim_devices_free(struct sim_instance *instance);
/* The device of that number; NULL, and said why, if there is none. */
struct sim_gpu *sim_device_at(const struct sim_instance *instance, uint32_t index);
enum svmx_status sim_device_info(void *self, uint32_t index, struct svmx_device_info *info);
enum svmx_status sim_pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                    struct svmx_pipeline **pipeline);
void sim_pipeline_free(void *self, struct svmx_pipeline *pipeline);

/* ---- memory.c ---- */

enum svmx_status sim_memory_alloc(void *self, uint32_t device, const struct svmx_memory_desc *desc,
                                  struct svmx_memory **memory, void **host);
void sim_memory_free(void *self, struct svmx_memory *memory);

/* ---- queue.c ---- */

enum svmx_status sim_submit(void *self, const struct svmx_submission *submission, uint64_t *ticket);
enum svmx_status sim_wait(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns,
                          struct svmx_timing *timing);

/* ---- worker.c ---- */

/* Has the modelled device done it? Under the lock. */
bool sim_ticket_is_over(const struct sim_instance *instance, const struct sim_ticket *ticket);
/* A moment from now on, of CLOCK_MONOTONIC; at most a day. */
struct timespec sim_moment_in(uint64_t ns);
/* Sleeps until the host's clock has reached a time. */
void sim_sleep_until(const struct svmx_host *host, uint64_t until_ns);
/* Starts the thread of a device, once. Under the lock. */
enum svmx_status sim_worker_start(struct sim_gpu *gpu);
/* Ends all threads that were started. */
void sim_workers_end(struct sim_instance *instance);

#endif
