/*
 * model.h: a modelled machine: what a launch costs on its GPU and on its CPU, in ns. docs/SIM.md has the text format.
 *
 *   text  --sim_model_parse-->  struct sim_model  --sim_model_cost(side, load, when)-->  struct sim_cost
 *
 * Pure: no clock, no thread, no file, no memory but the caller's, nothing of the plugin ABI. A cost depends on its
 * arguments alone, and noise on the state of a generator that the caller keeps: the same calls give the same numbers.
 * model.c computes costs, parse.c reads the text, models.c (made at build time) has the texts that are shipped.
 * Used by plugins/sim in real time, and by tests and benchmarks in virtual time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SIM_NAME_BYTES = 48, /* of names of models and operations, with the 0 */
    SIM_MAX_OPS = 64,    /* a side */
    SIM_MAX_POINTS = 16, /* a table */
    SIM_MAX_CHANGES = 16,
    SIM_MAX_TEXT = 65536 /* bytes of a model's text */
};

enum sim_side { SIM_GPU, SIM_CPU, SIM_SIDES };

/* ---- what a model says ------------------------------------------------------------------------------------ */

/* A place of a curve: work and ns, or submitters and ns. */
struct sim_point {
    double at, ns;
};

/* What computing an operation takes: points if there are any, else fixed + work / rate. */
struct sim_op {
    char name[SIM_NAME_BYTES]; /* "*" = every operation that has no line of its own */
    double fixed_ns, work_per_ns;
    double lanes; /* units that keep all of it busy: with fewer, speed goes down in proportion; 0 = does not matter */
    uint32_t point_count;
    struct sim_point points[SIM_MAX_POINTS]; /* by work, ascending */
};

/* From a moment or from a launch on, everything takes `slow` times as long as the model says, until the next change. */
struct sim_change {
    uint64_t from; /* ns since the start, or number of the launch */
    double slow;
};

struct sim_changes {
    uint32_t count;
    struct sim_change list[SIM_MAX_CHANGES]; /* ascending */
};

struct sim_device {
    double create_ns, upload_ns, dispatch_ns, readback_ns, task_ns;
    double upload_bytes_per_ns, readback_bytes_per_ns; /* 0 = copies cost no more than their latency */
    double jitter;                                     /* sigma, of the whole */
    double outlier_chance, outlier_factor;
    uint32_t contention_count, op_count;
    struct sim_point contention[SIM_MAX_POINTS]; /* by submitters, ascending */
    struct sim_op ops[SIM_MAX_OPS];
    struct sim_changes at_ns, at_launch;
};

struct sim_model {
    char name[SIM_NAME_BYTES];
    bool shares_memory;    /* the GPU computes in host memory: no copies */
    uint64_t copy_engines; /* 0: launches go one after another; 2: it copies both ways while it computes others */
    uint64_t seed;
    struct sim_device sides[SIM_SIDES];
};

/* Reads a model. `bytes` counts no final 0. False: `why` has a line that names the line and says what to write instead;
 * *model is as it was. */
bool sim_model_parse(struct sim_model *model, const char *text, size_t bytes, char *why, size_t why_bytes);

/* The text of a model that is shipped; NULL: no such name. */
const char *sim_model_builtin(const char *name);
/* Their names, in order; NULL past the last. */
const char *sim_model_builtin_name(uint32_t index);

/* ---- what a launch costs ---------------------------------------------------------------------------------- */

/* A generator of noise, splitmix64. Any state will do as a start; model->seed is the model's own. */
struct sim_random {
    uint64_t state;
};

uint64_t sim_random_next(struct sim_random *random);

/* One launch. Bytes of 0 mean that there is no copy, an operation of NULL that there is no dispatch. */
struct sim_load {
    const char *op;
    uint64_t units, work; /* in the operation's measure, as in struct svmx_dispatch */
    uint64_t bytes_in, bytes_out;
    uint32_t tasks;      /* in the launch */
    uint32_t submitters; /* at work on the device at this time, this one included; 0 counts as 1 */
};

/* Parts of the cost. create_ns is that of a first use: it is always told, and counts only then. */
struct sim_cost {
    uint64_t create_ns, upload_ns, dispatch_ns, compute_ns, readback_ns;
};

/* `now_ns` counts from the start of the device, `launch` from 0: scripted changes go by them. Without `random` (NULL)
 * there is no noise: what the model expects. */
void sim_model_cost(const struct sim_model *model, enum sim_side side, const struct sim_load *load, uint64_t now_ns,
                    uint64_t launch, struct sim_random *random, struct sim_cost *cost);

/* What the engines of a device are busy with: each is free from then on, ns. Zero at the start. */
struct sim_engines {
    uint64_t upload_ns, compute_ns, readback_ns;
};

/* Gives a launch that is handed over at `at_ns` its place behind those before it; returns when it is over. `create_ns` of the
 * cost does not count. */
uint64_t sim_engines_take(const struct sim_model *model, struct sim_engines *engines, const struct sim_cost *cost,
                          uint64_t at_ns);

/* The sum. No part is above 2^60, so it fits. */
uint64_t sim_cost_total(const struct sim_cost *cost, bool first_use);

#endif
