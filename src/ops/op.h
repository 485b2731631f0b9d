/*
 * op.h: what an operation is to the core.
 *
 * One file an operation in this folder; table.c lists them. The reference code here is the definition: every other
 * backend must give the same bytes. Called by the executor's submit stage (check), the self-test (known answers), the
 * reference backend and example.c. Knows nothing of devices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPS_OP_H
#define SVMX_OPS_OP_H

#include "base/text.h"
#include <svmx/plugin.h>

enum { SVMX__MAX_PARAMS = 8 };

/* How large a task is. */
struct svmx__size {
    uint64_t units; /* what kernels are cut by: elements, blocks, messages */
    uint64_t work;  /* what time goes with: elements, bytes hashed */
};

/* One parameter's bytes in a known answer: an input, or the output that is expected. A scalar points at its value. */
struct svmx__known {
    const void *data;
    uint64_t bytes;
};

struct svmx__op {
    const char *name;                /* [a-z0-9_]+, at most 31 characters */
    const char *summary;             /* one line for `svmx ops` */
    const char *unit;                /* what svmx_example_create's size counts: "element", "message" */
    const struct svmx_param *params; /* outputs first */
    uint32_t id;                     /* enum svmx_op_id */
    uint32_t param_count;
    uint32_t scratch_bytes_per_unit;

    /* Lengths against one another, offsets, values. The slots hold addresses whose bytes are whole elements and items
     * of the parameter, never NULL unless empty; scalars are in `at`. Sets *size on success. */
    enum svmx_status (*check)(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why);

    /* Computes one checked task. Cannot fail, allocates nothing, reads and writes at any alignment. Called in the
     * default floating-point environment: see svmx__reference_run. */
    void (*reference)(const struct svmx_slot *slots);

    /* Bytes of each parameter of an example of `size` units; a scalar's value goes to bytes[] instead. OVERFLOW if they
     * do not fit. */
    enum svmx_status (*shape)(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]);
    /* Fills an example's inputs; NULL: floats in [-1, 1), random bytes, offsets evenly spaced. */
    void (*fill)(const struct svmx_slot *slots, uint64_t seed);

    uint32_t trial_size; /* of the self-test's example, where 5,000 take too long or are not allowed; 0: 5,000 */
    const struct svmx__known *known; /* known_count rows of param_count entries */
    uint32_t known_count;
};

/* Operations by number (enum svmx_op_id); NULL for a number that none has. */
const struct svmx__op *svmx__op_by_id(uint32_t id);
/* By name; NULL if unknown. */
const struct svmx__op *svmx__op_by_name(const char *name);
/* By position, 0 to svmx__op_count() - 1; NULL past the end. */
const struct svmx__op *svmx__op_at(uint32_t index);
uint32_t svmx__op_count(void);

/* Largest id in use plus one: the length of tables indexed by id. */
enum { SVMX__OP_LIMIT = 256 };

/* The reference backend: every operation, in the calling thread. Linked in, always loaded, never fails. */
extern const struct svmx_plugin svmx__reference_plugin;

/* One checked task by the reference code, whatever the caller's floating-point environment: op->reference alone trusts
 * it to round to nearest and to keep denormals. For the host's `reference` upcall and for comparisons. */
void svmx__reference_run(const struct svmx__op *op, const struct svmx_slot *slots);

/* Fills slots for an example whose memory the caller provides; see svmx_example_create. */
void svmx__example_fill(const struct svmx__op *op, const struct svmx_slot *slots, uint64_t seed);

#endif
