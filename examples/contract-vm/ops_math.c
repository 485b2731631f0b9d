/*
 * ops_math.c: instructions that compute: numbers from the stack, a number to the stack.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opcodes.h"

/* Of two, the upper one first. */
typedef struct u256 two_fn(struct u256 a, struct u256 b);

static inline enum vm_status two(struct vm *vm, two_fn *compute) {
    const struct u256 a = vm_pop(vm);
    struct u256 *b = vm_top(vm, 0);
    *b = compute(a, *b);
    return VM_RUNNING;
}

static struct u256 less(struct u256 a, struct u256 b) { return u256_of(u256_less(a, b)); }
static struct u256 less_signed(struct u256 a, struct u256 b) { return u256_of(u256_less_signed(a, b)); }
static struct u256 more(struct u256 a, struct u256 b) { return u256_of(u256_less(b, a)); }
static struct u256 more_signed(struct u256 a, struct u256 b) { return u256_of(u256_less_signed(b, a)); }
static struct u256 equal(struct u256 a, struct u256 b) { return u256_of(u256_equal(a, b)); }

static struct u256 both(struct u256 a, struct u256 b) {
    return (struct u256){{a.w[0] & b.w[0], a.w[1] & b.w[1], a.w[2] & b.w[2], a.w[3] & b.w[3]}};
}
static struct u256 either(struct u256 a, struct u256 b) {
    return (struct u256){{a.w[0] | b.w[0], a.w[1] | b.w[1], a.w[2] | b.w[2], a.w[3] | b.w[3]}};
}
static struct u256 differ(struct u256 a, struct u256 b) {
    return (struct u256){{a.w[0] ^ b.w[0], a.w[1] ^ b.w[1], a.w[2] ^ b.w[2], a.w[3] ^ b.w[3]}};
}

enum vm_status op_add(struct vm *vm, unsigned op) { return (void)op, two(vm, u256_add); }
enum vm_status op_mul(struct vm *vm, unsigned op) { return (void)op, two(vm, u256_mul); }
enum vm_status op_sub(struct vm *vm, unsigned op) { return (void)op, two(vm, u256_sub); }
enum vm_status op_div(struct vm *vm, unsigned op) { return (void)op, two(vm, u256_div); }
enum vm_status op_sdiv(struct vm *vm, unsigned op) { return (void)op, two(vm, u256_div_signed); }
enum vm_status op_mod(struct vm *vm, unsigned op) { return (void)op, two(vm, u256_mod); }
enum vm_status op_smod(struct vm *vm, unsigned op) { return (void)op, two(vm, u256_mod_signed); }
enum vm_status op_signextend(struct vm *vm, unsigned op) { return (void)op, two(vm, u256_signextend); }
enum vm_status op_lt(struct vm *vm, unsigned op) { return (void)op, two(vm, less); }
enum vm_status op_gt(struct vm *vm, unsigned op) { return (void)op, two(vm, more); }
enum vm_status op_slt(struct vm *vm, unsigned op) { return (void)op, two(vm, less_signed); }
enum vm_status op_sgt(struct vm *vm, unsigned op) { return (void)op, two(vm, more_signed); }
enum vm_status op_eq(struct vm *vm, unsigned op) { return (void)op, two(vm, equal); }
enum vm_status op_and(struct vm *vm, unsigned op) { return (void)op, two(vm, both); }
enum vm_status op_or(struct vm *vm, unsigned op) { return (void)op, two(vm, either); }
enum vm_status op_xor(struct vm *vm, unsigned op) { return (void)op, two(vm, differ); }
enum vm_status op_byte(struct vm *vm, unsigned op) { return (void)op, two(vm, u256_byte); }
enum vm_status op_shl(struct vm *vm, unsigned op) { return (void)op, two(vm, u256_shl); }
enum vm_status op_shr(struct vm *vm, unsigned op) { return (void)op, two(vm, u256_shr); }
enum vm_status op_sar(struct vm *vm, unsigned op) { return (void)op, two(vm, u256_sar); }

enum vm_status op_iszero(struct vm *vm, unsigned op) {
    struct u256 *a = vm_top(vm, 0);
    *a = u256_of(u256_is_zero(*a));
    return (void)op, VM_RUNNING;
}

enum vm_status op_not(struct vm *vm, unsigned op) {
    struct u256 *a = vm_top(vm, 0);
    *a = u256_not(*a);
    return (void)op, VM_RUNNING;
}

enum vm_status op_addmod(struct vm *vm, unsigned op) {
    const struct u256 a = vm_pop(vm), b = vm_pop(vm);
    struct u256 *m = vm_top(vm, 0);
    *m = u256_addmod(a, b, *m);
    return (void)op, VM_RUNNING;
}

enum vm_status op_mulmod(struct vm *vm, unsigned op) {
    const struct u256 a = vm_pop(vm), b = vm_pop(vm);
    struct u256 *m = vm_top(vm, 0);
    *m = u256_mulmod(a, b, *m);
    return (void)op, VM_RUNNING;
}

/* 50 for every byte of the exponent (EIP-160). */
enum vm_status op_exp(struct vm *vm, unsigned op) {
    const struct u256 base = vm_pop(vm);
    struct u256 *exponent = vm_top(vm, 0);
    if (!vm_charge(vm, 50 * u256_bytes(*exponent))) return VM_FAILED;
    *exponent = u256_exp(base, *exponent);
    return (void)op, VM_RUNNING;
}
