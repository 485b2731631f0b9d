/*
 * op.h: what an operation is to the core.
 *
 * One file an operation in this folder; table.c lists them. The reference code here is the definition: every other
 * backend must give the same bytes. An operation that a program registered is one of these as well, made by custom.c;
 * operations.h has those of an executor, of both kinds. Called by svmx_batch_add (check), the self-test (known answers),
 * the reference backend and example.c. Knows nothing of devices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPS_OP_H
#define SVMX_OPS_OP_H

#include "base/text.h"
#include <stdbool.h>
#include <svmx/plugin.h>

enum { SVMX__MAX_PARAMS = 8, SVMX__MAX_KNOWN = 64 };

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

/* How one task can be cut by rows: of these arrays each piece has the same rows, of the others all. A row of the outputs is
 * made of nothing else. */
struct svmx__rows {
    uint32_t arrays; /* bit i: parameter i is cut */
    uint32_t count;  /* the scalar that has their number */
    uint32_t grain;  /* so many go together; units are counted for each such group, and alike for all */
};

struct svmx__op {
    const char *name;                /* [a-z0-9_]+, at most 31 characters */
    const char *summary;             /* one line for `svmx ops` */
    const char *unit;                /* what svmx_example_create's size counts: "element", "message" */
    const struct svmx_param *params; /* outputs first */
    uint32_t id;                     /* enum svmx_op_id, or from SVMX_OP_FIRST_REGISTERED on */
    uint32_t param_count;
    uint32_t scratch_bytes_per_unit;
    bool elementwise; /* one output; unit i of it is made of unit i of every array and of scalars: a link of a chain */
    bool itemwise;    /* unit i of every output is made of unit i of every array, and of scalars: a task can be cut */
    const struct svmx__rows *rows; /* NULL: it cannot be cut by rows */

    /* check, reference and shape are NULL in registered operations: svmx__op_check and so on see to that.
     *
     * Lengths against one another, offsets, values. The slots hold addresses whose bytes are whole elements and items
     * of the parameter, never NULL unless empty; scalars are in `at`. Sets *size on success. */
    enum svmx_status (*check)(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why);

    /* Bit i: check reads the data of parameter i, which must be there when the task is added: no result of another. */
    uint32_t check_reads;

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
    uint32_t known_count;            /* at most SVMX__MAX_KNOWN */

    /* Device code of a registered operation, as struct svmx_op_desc has it. */
    const char *opencl_c;
    const void *spirv;
    size_t spirv_bytes;
    uint32_t local, grain;

    uint64_t min_bucket; /* of a registered operation, a power of two; 0: as the executor's settings say */
};

/* ---- what to do with one ------------------------------------------------------------------------------------- */

/* custom.c: the same three of a registered operation. */
enum svmx_status svmx__custom_check(const struct svmx__op *op, const struct svmx_slot *slots, struct svmx__size *size,
                                    struct svmx__text *why);
void svmx__custom_run(const struct svmx__op *op, const struct svmx_slot *slots);
enum svmx_status svmx__custom_shape(const struct svmx__op *op, uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]);

static inline enum svmx_status svmx__op_check(const struct svmx__op *op, const struct svmx_slot *slots,
                                              struct svmx__size *size, struct svmx__text *why) {
    return op->check ? op->check(slots, size, why) : svmx__custom_check(op, slots, size, why);
}

static inline enum svmx_status svmx__op_shape(const struct svmx__op *op, uint64_t size,
                                              uint64_t bytes[SVMX__MAX_PARAMS]) {
    return op->shape ? op->shape(size, bytes) : svmx__custom_shape(op, size, bytes);
}

/* Units of the examples that devices are compared by: a large one and a small one. */
static inline uint64_t svmx__op_trial_size(const struct svmx__op *op, bool large) {
    if (op->trial_size) return large ? op->trial_size : op->trial_size / 2;
    return large ? 5000 : 37;
}

/* ---- the built-in ones --------------------------------------------------------------------------------------- */

/* Operations by number (enum svmx_op_id); NULL for a number that none has. */
const struct svmx__op *svmx__op_by_id(uint32_t id);
/* By name; NULL if unknown. */
const struct svmx__op *svmx__op_by_name(const char *name);
/* By position, 0 to svmx__op_count() - 1; NULL past the end. */
const struct svmx__op *svmx__op_at(uint32_t index);
uint32_t svmx__op_count(void);

/* Ids are below it: the length of tables indexed by id. */
enum { SVMX__OP_LIMIT = 256 };

/* ---- the reference code -------------------------------------------------------------------------------------- */

/* The reference backend: every operation, in the calling thread. Linked in, always loaded, never fails. */
extern const struct svmx_plugin svmx__reference_plugin;

/* Gives an instance of it the operations of its executor; until then it knows the built-in ones. `self` is the
 * instance's, `operations` must outlive it. */
struct svmx__operations;
void svmx__reference_attach(void *self, const struct svmx__operations *operations);

/* One checked task by the reference code, whatever the caller's floating-point environment: op->reference alone trusts
 * it to round to nearest and to keep denormals. For the host's `reference` upcall and for comparisons. */
void svmx__reference_run(const struct svmx__op *op, const struct svmx_slot *slots);

/* Fills slots for an example whose memory the caller provides; see svmx_example_create. */
void svmx__example_fill(const struct svmx__op *op, const struct svmx_slot *slots, uint64_t seed);

#endif
