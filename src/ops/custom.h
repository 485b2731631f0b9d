/*
 * custom.h: one operation that a program registered (svmx_op_register), made from its definition.
 *
 * Looks at every field, copies what it keeps, and stands between the core, which has slots, and the program's functions,
 * which have operands. Called by the executor's register.c; what the core does with the operation afterwards goes by
 * way of op.h. Knows no executor and no devices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPS_CUSTOM_H
#define SVMX_OPS_CUSTOM_H

#include "ops/op.h"
#include <svmx/svmx.h>

/* An operation without a number yet, to be destroyed by svmx__custom_destroy. ARGUMENT (the text names the field),
 * MEMORY. Calls nothing of the program's. */
enum svmx_status svmx__custom_create(const struct svmx_op_def *def, struct svmx__op **op, struct svmx__text *why);
void svmx__custom_destroy(struct svmx__op *op); /* NULL is fine */

#endif
