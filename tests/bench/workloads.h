/*
 * workloads.h: nine ways to keep a modelled machine busy, with sizes on both sides of its crossover points.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_WORKLOADS_H
#define SVMX_TESTS_WORKLOADS_H

#include "virtual.h"

enum workload_kind {
    WORKLOAD_STEADY,     /* one operation of one size */
    WORKLOAD_BURSTY,     /* sixteen batches at once, of three sizes, then a pause */
    WORKLOAD_MIXED,      /* five operations of four sizes each */
    WORKLOAD_WALK,       /* sizes that go up and down across the crossover, from 1/16 to 16 times of it */
    WORKLOAD_DRIFT,      /* the GPU, three times as fast, takes ten times as long for a quarter of the run */
    WORKLOAD_NOISY,      /* a quarter of jitter, and one launch in fifty takes twenty times as long, on both devices */
    WORKLOAD_COLD,       /* five operations of eight sizes each, some fifty batches of each in all */
    WORKLOAD_CONTENTION, /* 24 submitters */
    WORKLOAD_TASKS, /* the same units as one task and as tasks of one unit each, by turns: two operations, two sizes */
    WORKLOAD_KINDS
};

enum { WORKLOAD_BATCHES = 64 };

/* A workload and the machine that it runs on. workload.user points into it: it must stay where it is. */
struct workload {
    struct sim_model machine;
    struct virtual_workload workload;
    struct virtual_batch list[WORKLOAD_BATCHES];
    uint32_t count;
    uint32_t stay; /* 0: any of the list, at random; else one after the other and back, so many batches each */
};

/* `batches` in all; a cold start has a quarter of them, drift has four times as many. */
void workload_make(struct workload *workload, enum workload_kind kind, const struct sim_model *machine,
                   uint32_t batches);
const char *workload_name(enum workload_kind kind);

/* A batch of an operation: `size` elements, messages of 64 bytes, or the order of a square product. */
struct virtual_batch batch_of(uint32_t op, double size);

/* The smallest size at which the GPU takes less than 1/times of what the CPU takes; 0: there is none up to 2^24 elements,
 * 2^22 messages or order 4,096. */
double size_where_gpu_wins(const struct sim_model *machine, uint32_t op, double times);

#endif
