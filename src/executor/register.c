/*
 * register.c: svmx_op_register: an operation of the program's own.
 *
 *   definition -> looked at and copied (ops/custom.c) -> tried here -> numbered and seen by all (ops/operations.c)
 *
 * Tried means: known answers come out of `run`, examples pass `check`, and `run` writes the same bytes twice, all of
 * them, the second time in pieces if it is elementwise. What is wrong here would be wrong on every device and only show as "off"; so it is refused at once, with a
 * word. Devices prove themselves later, as for any operation (selftest.c). Any thread, at any time; no lock is held
 * while functions of the program run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/building.h"

#include "ops/custom.h"
#include "ops/items.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_output(const struct svmx__op *op, uint32_t i) { return op->params[i].direction == SVMX_OUT; }

static void *address(const struct svmx_slot *slot) { return (void *)(uintptr_t)slot->at; }

/* ---- known answers ------------------------------------------------------------------------------------------- */

/* Slots of a row; outputs get memory of their own, whose bytes are all wrong. free_outputs is right after an error. */
static enum svmx_status known_slots(const struct svmx__op *op, const struct svmx__known *known, struct svmx_slot *slots,
                                    struct svmx__text *why) {
    for (uint32_t i = 0; i < op->param_count; i++) {
        slots[i] = (struct svmx_slot){is_output(op, i) ? 0 : (uintptr_t)known[i].data, known[i].bytes};
        if (op->params[i].shape != SVMX_SCALAR) continue;
        slots[i].at = 0;
        memcpy(&slots[i].at, known[i].data, (size_t)known[i].bytes);
    }
    for (uint32_t i = 0; i < op->param_count && is_output(op, i); i++) {
        unsigned char *wrong = malloc(known[i].bytes ? (size_t)known[i].bytes : 1);
        if (!wrong) return svmx__fail(why, SVMX_ERR_MEMORY, "no memory to try %s", op->name);
        for (uint64_t b = 0; b < known[i].bytes; b++)
            wrong[b] = (unsigned char)~((const unsigned char *)known[i].data)[b];
        slots[i].at = (uintptr_t)wrong;
    }
    return SVMX_OK;
}

static void free_outputs(const struct svmx__op *op, const struct svmx_slot *slots) {
    for (uint32_t i = 0; i < op->param_count && is_output(op, i); i++) free(address(&slots[i]));
}

static enum svmx_status compare_known(const struct svmx__op *op, const struct svmx__known *known, uint32_t row,
                                      const struct svmx_slot *slots, struct svmx__text *why) {
    struct svmx__size size;
    struct svmx__text refused = {""};
    if (svmx__op_check(op, slots, &size, &refused) != SVMX_OK)
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "known: row %" PRIu32 " is refused by check: %.400s", row,
                          refused.line);
    svmx__reference_run(op, slots);
    for (uint32_t i = 0; i < op->param_count && is_output(op, i); i++)
        if (slots[i].bytes && memcmp(address(&slots[i]), known[i].data, (size_t)slots[i].bytes) != 0)
            return svmx__fail(why, SVMX_ERR_WRONG_RESULT, "run gives another '%s' than row %" PRIu32 " of known",
                              op->params[i].name, row);
    return SVMX_OK;
}

static enum svmx_status try_known(const struct svmx__op *op, struct svmx__text *why) {
    enum svmx_status status = SVMX_OK;
    for (uint32_t row = 0; row < op->known_count && status == SVMX_OK; row++) {
        const struct svmx__known *known = op->known + (size_t)row * op->param_count;
        struct svmx_slot slots[SVMX__MAX_PARAMS];
        status = known_slots(op, known, slots, why);
        if (status == SVMX_OK) status = compare_known(op, known, row, slots, why);
        free_outputs(op, slots);
    }
    return status;
}

/* ---- examples ------------------------------------------------------------------------------------------------ */

/* The example that devices will be compared by must be one. */
static enum svmx_status make_example(const struct svmx__op *op, uint64_t size, struct svmx_slot *slots, void **block,
                                     struct svmx__text *why) {
    struct svmx__size measured;
    struct svmx__text refused = {""};
    enum svmx_status status = svmx__example_make(op, size, 1, slots, block);
    if (status == SVMX_ERR_MEMORY) return svmx__fail(why, status, "no memory to try %s", op->name);
    if (status != SVMX_OK)
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "shape gives no example of %" PRIu64 " units: %s", size,
                          svmx_status_name(status));
    if (svmx__op_check(op, slots, &measured, &refused) == SVMX_OK) return SVMX_OK;
    free(*block);
    return svmx__fail(why, SVMX_ERR_ARGUMENT, "shape: its example of %" PRIu64 " units is refused by check: %.400s",
                      size, refused.line);
}

static void fill_outputs(const struct svmx__op *op, const struct svmx_slot *slots, int byte) {
    for (uint32_t i = 0; i < op->param_count && is_output(op, i); i++)
        if (slots[i].bytes) memset(address(&slots[i]), byte, (size_t)slots[i].bytes);
}

/* Runs an elementwise operation piece by piece; element `count` is behind the last. */
static void run_pieces(const struct svmx__op *op, const struct svmx_slot *slots, uint64_t count) {
    const uint64_t bytes = svmx__item_bytes(&op->params[0]);
    for (uint64_t at = 0, length = 1; at < count; at += length, length = length * 3 + 1) {
        struct svmx_slot piece[SVMX__MAX_PARAMS];
        if (length > count - at) length = count - at;
        for (uint32_t i = 0; i < op->param_count; i++) {
            piece[i] = slots[i];
            if (op->params[i].shape == SVMX_SCALAR) continue;
            piece[i] = (struct svmx_slot){slots[i].at + at * bytes, length * bytes};
        }
        svmx__reference_run(op, piece);
    }
}

/* Once more over other bytes; an elementwise operation in pieces. */
static void run_again(const struct svmx__op *op, const struct svmx_slot *slots) {
    if (op->elementwise)
        run_pieces(op, slots, slots[0].bytes / svmx__item_bytes(&op->params[0]));
    else
        svmx__reference_run(op, slots);
}

/* Runs twice over different bytes: what is not written, or not the same every time, shows. */
static enum svmx_status run_twice(const struct svmx__op *op, struct svmx_slot *slots, struct svmx__text *why) {
    enum svmx_status status = SVMX_OK;
    struct svmx_slot again[SVMX__MAX_PARAMS];
    memcpy(again, slots, sizeof again);
    for (uint32_t i = 0; i < op->param_count && is_output(op, i); i++) again[i].at = 0;
    for (uint32_t i = 0; i < op->param_count && is_output(op, i); i++) {
        void *memory = malloc(slots[i].bytes ? (size_t)slots[i].bytes : 1);
        if (!memory) status = svmx__fail(why, SVMX_ERR_MEMORY, "no memory to try %s", op->name);
        again[i].at = (uintptr_t)memory;
    }
    if (status == SVMX_OK) {
        fill_outputs(op, slots, 0x00);
        fill_outputs(op, again, 0xff);
        svmx__reference_run(op, slots);
        run_again(op, again);
        for (uint32_t i = 0; i < op->param_count && is_output(op, i) && status == SVMX_OK; i++)
            if (slots[i].bytes && memcmp(address(&slots[i]), address(&again[i]), (size_t)slots[i].bytes) != 0)
                status = svmx__fail(why, SVMX_ERR_WRONG_RESULT,
                                    "run does not write all of '%s', or not the same bytes every time%s",
                                    op->params[i].name, op->elementwise ? ", in pieces and as a whole" : "");
    }
    free_outputs(op, again);
    return status;
}

static enum svmx_status try_examples(const struct svmx__op *op, struct svmx__text *why) {
    for (int large = 0; large < 2; large++) {
        struct svmx_slot slots[SVMX__MAX_PARAMS] = {{0, 0}};
        void *block;
        enum svmx_status status = make_example(op, svmx__op_trial_size(op, large), slots, &block, why);
        if (status != SVMX_OK) return status;
        if (!large) status = run_twice(op, slots, why); /* the small one: this must not take long */
        free(block);
        if (status != SVMX_OK) return status;
    }
    return SVMX_OK;
}

/* ---- the call ------------------------------------------------------------------------------------------------ */

static enum svmx_status register_op(struct svmx_executor *executor, const struct svmx_op_def *def, uint32_t *id,
                                    struct svmx__text *why) {
    if (!executor || !def || !id) return svmx__fail(why, SVMX_ERR_ARGUMENT, "executor, def or op is NULL");
    if (svmx__is_closed(executor)) return svmx__fail(why, SVMX_ERR_CLOSED, "%s", svmx__closed_text(executor));
    struct svmx__op *op;
    enum svmx_status status = svmx__custom_create(def, &op, why);
    if (status != SVMX_OK) return status;
    status = try_known(op, why);
    if (status == SVMX_OK) status = try_examples(op, why);
    if (status == SVMX_OK) status = svmx__operations_add(executor->operations, op, why);
    if (status == SVMX_OK)
        *id = op->id;
    else
        svmx__custom_destroy(op);
    return status;
}

enum svmx_status svmx_op_register(svmx_executor_t *executor, const struct svmx_op_def *def, uint32_t *op,
                                  struct svmx_error *error) {
    struct svmx__text why = {""};
    enum svmx_status status = register_op(executor, def, op, &why);
    if (status == SVMX_OK || !error) return status;
    error->status = status;
    (void)snprintf(error->text, sizeof error->text, "%s", why.line);
    return status;
}
