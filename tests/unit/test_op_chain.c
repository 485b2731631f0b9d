/*
 * test_op_chain.c: links of chains as rows of an operation of the core's own: the reference code of each is that of the
 * operation that it names, and its known answers prove each of them and a chain through all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/chain_f32.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/svmx.h>

enum { MOST_BYTES = 4096 };

/* The slots of a known answer, its output in memory of ours. */
static void slots_of(const struct svmx__known *row, struct svmx_slot *slots, void *out) {
    for (uint32_t i = 0; i < SVMX__CHAIN_PARAMS; i++)
        slots[i] = (struct svmx_slot){(uintptr_t)row[i].data, row[i].bytes};
    slots[SVMX__CHAIN_OUT].at = (uintptr_t)out;
    for (uint32_t i = SVMX__CHAIN_NUMBERS; i < SVMX__CHAIN_PARAMS; i++) {
        slots[i].at = 0;
        memcpy(&slots[i].at, row[i].data, row[i].bytes);
    }
}

Test(op_chain, the_reference_gives_the_known_answers) {
    const struct svmx__op *op = svmx__op_chain_f32();
    cr_assert_leq(op->known_count, SVMX__MAX_KNOWN);
    for (uint32_t r = 0; r < op->known_count; r++) {
        const struct svmx__known *row = op->known + (size_t)r * SVMX__CHAIN_PARAMS;
        unsigned char out[MOST_BYTES];
        struct svmx_slot slots[SVMX__CHAIN_PARAMS];
        cr_assert_leq(row[SVMX__CHAIN_OUT].bytes, sizeof out);
        slots_of(row, slots, out);
        svmx__reference_run(op, slots);
        cr_assert_arr_eq(out, row[SVMX__CHAIN_OUT].data, row[SVMX__CHAIN_OUT].bytes, "row %u", r);
    }
}

/* Each operation stands at the head of a chain of one, and behind another. */
Test(op_chain, known_answers_are_of_every_operation) {
    const struct svmx__op *op = svmx__op_chain_f32();
    uint32_t alone = 0, behind = 0, silent = 0, codes = 0;
    for (uint32_t r = 0; r < op->known_count; r++) {
        uint32_t what;
        memcpy(&what, op->known[(size_t)r * SVMX__CHAIN_PARAMS + SVMX__CHAIN_WHAT].data, sizeof what);
        const uint32_t bit = UINT32_C(1) << (what & 0xff);
        if (what & (SVMX__CHAIN_FROM_A | SVMX__CHAIN_FROM_B))
            behind |= bit;
        else
            alone |= bit;
        silent += (what & SVMX__CHAIN_SILENT) != 0;
    }
    for (uint32_t i = 0; i < svmx__op_count(); i++)
        if (svmx__chain_code(svmx__op_at(i))) codes |= UINT32_C(1) << svmx__chain_code(svmx__op_at(i));
    cr_assert_eq(__builtin_popcount(codes), 13);
    cr_assert_eq(alone, codes);
    cr_assert_eq(behind | UINT32_C(1) << svmx__chain_code(svmx__op_by_name("tanh_f32")), codes);
    cr_assert_gt(silent, 0);
}

/* The links of a chain share the units of its first. */
Test(op_chain, only_the_first_row_of_a_chain_has_units) {
    const struct svmx__op *op = svmx__op_chain_f32();
    const uint32_t relu = svmx__chain_code(svmx__op_by_name("relu_f32"));
    float in[7] = {0}, out[7];
    struct svmx_slot slots[SVMX__CHAIN_PARAMS] = {
        {(uintptr_t)out, sizeof out}, {(uintptr_t)in, sizeof in}, {0, 0}, {0, 8}, {relu, 4}};
    struct svmx__size size;
    struct svmx__text why;
    cr_assert_eq(op->check(slots, &size, &why), SVMX_OK);
    cr_assert_eq(size.units, 7);
    slots[SVMX__CHAIN_WHAT].at |= SVMX__CHAIN_FROM_A;
    cr_assert_eq(op->check(slots, &size, &why), SVMX_OK);
    cr_assert_eq(size.units, 0);
    cr_assert_eq(size.work, 7);
    slots[SVMX__CHAIN_WHAT].at = 0;
    cr_assert_eq(op->check(slots, &size, &why), SVMX_ERR_ARGUMENT);
    slots[SVMX__CHAIN_WHAT].at = 255;
    cr_assert_eq(op->check(slots, &size, &why), SVMX_ERR_ARGUMENT);
}

/* Only what is elementwise on floats, and made of rows that name the same arguments, can be a link. */
Test(op_chain, operations_with_a_number_are_elementwise) {
    for (uint32_t i = 0; i < svmx__op_count(); i++) {
        const struct svmx__op *op = svmx__op_at(i);
        if (!svmx__chain_code(op)) continue;
        cr_assert(op->elementwise, "%s", op->name);
        cr_assert_eq(op->params[0].direction, SVMX_OUT);
        uint32_t arrays = 0, scalars = 0;
        for (uint32_t p = 0; p < op->param_count; p++) {
            cr_assert_eq(op->params[p].type, SVMX_F32);
            if (op->params[p].shape == SVMX_SCALAR)
                scalars++;
            else
                cr_assert_eq(p, arrays++, "arrays come first");
        }
        cr_assert_leq(arrays, 3);
        cr_assert_leq(scalars, 2);
    }
}
