/*
 * virtual.h: modelled machines in virtual time: a discrete-event simulation that drives the router as the executor does.
 *
 *   submitters -> batch -> who? -> queue of the CPU -> finished -> told -> the submitter goes on
 *                           |  `-> queue of the GPU -'
 *                  the router, or the oracle, or always the same device
 *
 * The GPU gets the pipeline of an operation and cell when somebody first wants it there: it is built beside the work, and
 * the CPU answers meanwhile. Oracle and router pay alike for it. A submitter hands over a burst of batches, waits for all of them, pauses and begins again. A device does one batch after
 * another. What a batch takes is what the model says (plugins/sim/model.h), noise included; the noise of a batch depends on
 * its number and on the device alone, so that two runs of a workload differ by who was chosen and by nothing else. No
 * thread, no clock: the same call gives the same numbers everywhere.
 *
 * Used by the suite `routing` and by tests/unit/test_routing_virtual.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_VIRTUAL_H
#define SVMX_TESTS_VIRTUAL_H

#include "../../plugins/sim/model.h"
#include "executor/choice.h"

/* Devices, as the router numbers them. */
enum { VIRTUAL_CPU, VIRTUAL_GPU, VIRTUAL_DEVICES };

/* One batch: an operation of ops.h, and its size. */
struct virtual_batch {
    uint32_t op;
    uint64_t units, work, bytes_in, bytes_out;
    uint32_t tasks;
};

struct virtual_workload {
    const char *name;
    uint32_t batches;
    uint32_t submitters;
    uint32_t burst;    /* batches that are handed over at once */
    uint64_t pause_ns; /* between two bursts */
    /* The batch of a number, the same at every call. Scripted changes of the model go by that number, as launches. */
    void (*batch)(const void *user, uint32_t number, struct virtual_batch *batch);
    const void *user;
};

enum virtual_policy {
    VIRTUAL_ROUTER,
    /* Who is best for each batch in hindsight, by the router's own rule with the true costs in place of the learned ones:
     * each operation and cell has an incumbent, at first the CPU; another takes it over if it costs less than 0.9 of it;
     * the batch goes to the incumbent, unless another finishes in less than 0.9 of its time, with what is queued counted
     * as long as it will truly take. It knows changes when they come, but not the throw of noise of a single batch. */
    VIRTUAL_ORACLE,
    VIRTUAL_SEER, /* an oracle that knows the noise as well: no router can be as good */
    VIRTUAL_ALWAYS_CPU,
    VIRTUAL_ALWAYS_GPU
};

/* What became of a batch. */
struct virtual_record {
    uint32_t device;
    uint32_t why; /* enum svmx__why; 0 where the router was not asked */
    uint32_t op, cell;
    uint64_t ns;        /* on the device */
    uint64_t waited_ns; /* from submit to the end: what the submitter sees */
};

/* A router that knows nothing yet and assumes of a GPU what the executor assumes (route.c), whatever the machine. */
struct virtual_router {
    struct svmx__model model;
    struct svmx__choices choices;
};

void virtual_router_init(struct virtual_router *router, const struct sim_model *machine);
void virtual_router_fini(struct virtual_router *router);

/* Runs a workload and writes a record for each batch, by number. `router` is asked and told under VIRTUAL_ROUTER, else it
 * may be NULL. false: no memory. */
bool virtual_run(const struct sim_model *machine, const struct virtual_workload *workload, enum virtual_policy policy,
                 struct virtual_router *router, struct virtual_record *records);

/* What a batch takes without noise, when nothing else is under way; first use not included. */
double virtual_expected_ns(const struct sim_model *machine, uint32_t device, const struct virtual_batch *batch);

/* What all submitters waited for batches `from` to `to` - 1. */
double virtual_total_ns(const struct virtual_record *records, uint32_t from, uint32_t to);

/* How often a cell went to another device than the time before, batches that were tries left out. */
uint32_t virtual_switches(const struct virtual_record *records, uint32_t count);

#endif
