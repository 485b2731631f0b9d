/*
 * test_op_table.c: the table of operations, and what every operation in it owes to the core.
 *
 * Generic: a new operation is covered by being in the table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/op.h"

#include <criterion/criterion.h>
#include <string.h>
#include <svmx/ops.h>

/* One row of an operation's known answers as slots; outputs point at `out` with the bytes that are expected. */
static void slots_of(const struct svmx__op *op, uint32_t row, struct svmx_slot *slots, uint8_t *out[SVMX__MAX_PARAMS]) {
    for (uint32_t i = 0; i < op->param_count; i++) {
        const struct svmx__known *known = &op->known[row * op->param_count + i];
        const void *at = op->params[i].direction == SVMX_OUT ? out[i] : known->data;
        slots[i] = (struct svmx_slot){(uint64_t)(uintptr_t)at, known->bytes};
        if (op->params[i].shape == SVMX_SCALAR) memcpy(&slots[i].at, known->data, known->bytes);
    }
}

Test(op_table, the_six_operations_are_found_by_number_name_and_position) {
    static const char *const names[] = {"vec_add_f32", "vec_mul_f32", "sum_f32", "dot_f32", "sha256", "keccak256"};
    for (uint32_t i = 0; i < 6; i++) {
        const struct svmx__op *op = svmx__op_by_id(i + 1);
        cr_assert_not_null(op);
        cr_assert_str_eq(op->name, names[i]);
        cr_assert_eq(svmx__op_by_name(names[i]), op);
        cr_assert_eq(svmx__op_at(i), op);
    }
}

Test(op_table, what_is_not_there_is_null) {
    cr_assert_null(svmx__op_by_id(0));
    cr_assert_null(svmx__op_by_id(SVMX__OP_LIMIT - 1));
    cr_assert_null(svmx__op_by_id(SVMX__OP_LIMIT));
    cr_assert_null(svmx__op_by_id(UINT32_MAX));
    cr_assert_null(svmx__op_by_name(""));
    cr_assert_null(svmx__op_by_name("sha25"));
    cr_assert_null(svmx__op_at(svmx__op_count()));
    cr_assert_null(svmx__op_at(UINT32_MAX));
}

Test(op_table, every_operation_is_complete_and_legal) {
    cr_assert_geq(svmx__op_count(), 6);
    for (uint32_t i = 0; i < svmx__op_count(); i++) {
        const struct svmx__op *op = svmx__op_at(i);
        cr_assert_eq(svmx__op_by_id(op->id), op, "%s is not at its number", op->name);
        cr_assert_eq(svmx__op_by_name(op->name), op, "two operations are called %s", op->name);
        cr_assert_leq(strlen(op->name), 31);
        cr_assert_eq(strspn(op->name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(op->name));
        cr_assert(op->check && op->reference && op->shape, "%s misses a function", op->name);
        cr_assert(op->summary && *op->summary && op->unit && *op->unit);
        cr_assert(op->known && op->known_count > 0, "%s has no known answers", op->name);
    }
}

Test(op_table, every_signature_has_its_outputs_first_and_offsets_after_what_they_cut) {
    for (uint32_t i = 0; i < svmx__op_count(); i++) {
        const struct svmx__op *op = svmx__op_at(i);
        cr_assert(op->param_count >= 2 && op->param_count <= SVMX__MAX_PARAMS);
        cr_assert_eq(op->params[0].direction, SVMX_OUT);
        for (uint32_t p = 0; p < op->param_count; p++) {
            const struct svmx_param *param = &op->params[p];
            cr_assert(svmx_type_bytes((enum svmx_type)param->type) > 0, "%s: %s", op->name, param->name);
            cr_assert(param->record > 0 && param->reserved == 0);
            cr_assert(param->direction == SVMX_IN || param->shape == SVMX_ARRAY, "%s: %s", op->name, param->name);
            if (p > 0)
                cr_assert(param->direction >= op->params[p - 1].direction, "%s: an output after inputs", op->name);
            if (param->shape == SVMX_OFFSETS) {
                cr_assert_eq(op->params[p - 1].shape, SVMX_RAGGED);
                cr_assert_eq(param->type, SVMX_U64);
            }
        }
    }
}

Test(op_table, every_known_answer_is_accepted_and_given) {
    for (uint32_t i = 0; i < svmx__op_count(); i++) {
        const struct svmx__op *op = svmx__op_at(i);
        for (uint32_t row = 0; row < op->known_count; row++) {
            static uint8_t memory[SVMX__MAX_PARAMS][1 << 16];
            uint8_t *out[SVMX__MAX_PARAMS];
            struct svmx_slot slots[SVMX__MAX_PARAMS];
            struct svmx__size size = {UINT64_MAX, UINT64_MAX};
            struct svmx__text why = {""};
            for (uint32_t p = 0; p < SVMX__MAX_PARAMS; p++) out[p] = memset(memory[p], 0xee, sizeof memory[p]);
            slots_of(op, row, slots, out);
            cr_assert_eq(op->check(slots, &size, &why), SVMX_OK, "%s, row %u: %s", op->name, row, why.line);
            cr_assert(size.units != UINT64_MAX && size.work != UINT64_MAX);
            svmx__reference_run(op, slots);
            for (uint32_t p = 0; op->params[p].direction == SVMX_OUT; p++) {
                const struct svmx__known *known = &op->known[row * op->param_count + p];
                cr_assert_lt(known->bytes, sizeof memory[p]);
                cr_assert(known->bytes == 0 || memcmp(out[p], known->data, known->bytes) == 0, "%s, row %u: %s differs",
                          op->name, row, op->params[p].name);
                cr_assert_eq(out[p][known->bytes], 0xee, "%s, row %u: wrote past %s", op->name, row,
                             op->params[p].name);
            }
        }
    }
}
