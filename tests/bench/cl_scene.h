/*
 * cl_scene.h: what the programs of suite opencl share: an executor for every OpenCL device of the machine, the plain API
 * on the same device, vector sums in both kinds of memory.
 *
 *   own     out, a, b of every task in memory of the caller: ways (a) naive, (b) enqueued with copies, (c) svmx
 *   shared  the same in memory that host and device share: way (b) in place; svmx (d) has its own (svmx_batch_alloc)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_CL_SCENE_H
#define SVMX_TESTS_BENCH_CL_SCENE_H

#include "bench.h"
#include "peer_cl.h"

#include <svmx/ops.h>

struct cl_scene {
    struct bench bench;
    svmx_executor_t *executor; /* of one OpenCL device and the reference code */
    struct svmx_device device;
    struct peer_cl *peer;
    bool pocl; /* what is asked for is asked of PoCL; other devices are measured without an ask */
};

/* Calls `measure` for each OpenCL device that was not made for tests. Writes a row that says so when there is none. */
int cl_scene_each(const char *program, void (*measure)(struct cl_scene *scene));

/* Ends the program with a message unless the status is OK. */
void cl_scene_demand(enum svmx_status status, const svmx_batch_t *batch, const char *what);

/* Vector sums: `count` tasks of these sizes. */
struct cl_work {
    struct cl_scene *scene;
    size_t count;
    struct peer_cl_task *own, *shared; /* shared: NULL where the device does not share memory */
    svmx_batch_t *callers, *in_place;  /* ways (c) and (d) */
    float *memory;
};

/* Makes memory, tasks and batches, and builds pipelines ahead. `in_place` has its tasks already. */
void cl_work_open(struct cl_work *work, struct cl_scene *scene, const size_t *sizes, size_t count);
void cl_work_close(struct cl_work *work);

/* Lanes: user is the struct cl_work. */
void cl_run_naive(void *user, uint64_t repeats);
void cl_run_enqueued(void *user, uint64_t repeats);
void cl_run_shared(void *user, uint64_t repeats);
void cl_run_callers(void *user, uint64_t repeats);
void cl_run_in_place(void *user, uint64_t repeats);

/* What is to be said of the results of a row. */
struct cl_verdict {
    bool wrong; /* the row counts for nothing: wrong bytes, or not of the device; on PoCL also if not in one launch */
    char note[224]; /* what happened, with the reason that a receipt or the device gives; "": all went as it should */
};

/* Are the results of all ways right, and did the device answer in one launch? Runs each once. */
struct cl_verdict cl_work_check(struct cl_work *work);
/* Did the device itself answer a batch of one operation? The note says who did, and why: a quarantine, a deadline, memory. */
struct cl_verdict cl_scene_check(const struct cl_scene *scene, const svmx_batch_t *batch);

#endif
