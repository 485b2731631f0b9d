/*
 * regret.h: what the router does on modelled machines, in figures: the suite `routing` prints them, and
 * tests/unit/test_routing_virtual.c asserts them. docs/ROUTING.md says what they mean.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_REGRET_H
#define SVMX_TESTS_REGRET_H

#include "workloads.h"

enum { REGRET_BATCHES = 8192 };

/* The machine of a name that is shipped; ends the program if there is none. */
void regret_machine(struct sim_model *machine, const char *name);

/* One workload on one machine. Times over those of the oracle: after the first quarter of the batches, and of all. */
struct regret {
    double warm, all;
    double seer;  /* warm, over those of an oracle that foresees noise */
    double fixed; /* all, of the better of always CPU and always GPU */
    double tries; /* share of busy time lost by trying, as the router counts it */
    uint32_t batches, try_count;
};

struct regret regret_of(const struct sim_model *machine, enum workload_kind kind, uint32_t batches);

/* Batches that go to the GPU for good when an operation runs in the given sizes by turns: beside those that were tries. */
uint32_t regret_on_gpu(const struct sim_model *machine, uint32_t op, const double *sizes, uint32_t size_count,
                       uint32_t batches);

/* The smallest of the given sizes, ascending, from which on the last batch of each went to the GPU; 0: none. */
double regret_first_on_gpu(const struct sim_model *machine, uint32_t op, const double *sizes, uint32_t size_count,
                           uint32_t batches);

/* Switches in 200 batches of a size at which the GPU takes 1/times of what the CPU takes, which never changes. */
double regret_flaps(const struct sim_model *machine, double times, uint32_t batches);

/* The GPU, three times as fast, takes ten times as long from one batch on, and recovers `slow_batches` later. */
struct regret_drift {
    uint32_t until_left;     /* batches that it still got */
    uint32_t until_returned; /* batches, after it recovered, until it got the first of a row of four again */
};

struct regret_drift regret_of_drift(const struct sim_model *machine, uint32_t slow_batches);

#endif
