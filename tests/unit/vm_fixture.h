/*
 * vm_fixture.h: code of examples/contract-vm in a test: one contract, one unsigned transaction, the reference code.
 *
 *   struct outcome outcome = run_code("6001 6002 01");        hex, blanks are left out
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VM_FIXTURE_H
#define VM_FIXTURE_H

#include "../../examples/contract-vm/block_file.h"
#include "../../examples/contract-vm/run.h"

#include <criterion/criterion.h>

static svmx_executor_t *executor;
static struct block block; /* as set_up leaves it, before code is added */

static const uint8_t sender_address[20] = {[19] = 0x51}, contract_address[20] = {[18] = 0xc0, [19] = 0xde};

static inline void hex_into(struct bytes *out, const char *hex) {
    unsigned value = 0, digits = 0;
    out->length = 0;
    (void)bytes_extend(out, 0);
    for (; *hex; hex++) {
        if (*hex == ' ') continue;
        value = value * 16 + (unsigned)(*hex <= '9' ? *hex - '0' : *hex - 'a' + 10);
        if (++digits % 2 == 0) {
            const uint8_t byte = (uint8_t)value;
            bytes_add(out, &byte, 1);
            value = 0;
        }
    }
    cr_assert_eq(digits % 2, 0, "half a byte");
}

static void vm_set_up(void) {
    const struct svmx_options reference = {.size = sizeof reference,
                                           .backends = "none",
                                           .backend_path = "/nonexistent",
                                           .flags = SVMX_OPEN_NO_ENVIRONMENT};
    cr_assert_eq(svmx_open(&executor, &reference, NULL), SVMX_OK);
    block = (struct block){.chain_id = 1, .number = 1000, .timestamp = 1234, .gas_limit = 30000000};
    struct account *sender = block_add_account(&block);
    memcpy(sender->address, sender_address, 20);
    sender->balance = u256_of(1000000);
    memcpy(block_add_account(&block)->address, contract_address, 20);
    struct transaction *tx = block_add_transaction(&block);
    tx->gas = 1000000;
    tx->has_to = true;
    memcpy(tx->to, contract_address, 20);
    memcpy(tx->from, sender_address, 20);
}

static void vm_tear_down(void) {
    block_free(&block);
    svmx_close(executor);
}

/* The contract of the block; the transaction. */
static inline struct account *contract(void) { return &block.accounts[1]; }
static inline struct transaction *transaction(void) { return &block.transactions[0]; }

static inline struct outcome run_mode(enum run_mode mode) {
    struct run_options options = run_defaults;
    struct svmx_error error;
    struct outcome outcome;
    options.mode = mode;
    cr_assert_eq(block_run(executor, &block, &options, &outcome, &error), SVMX_OK, "%s", error.text);
    return outcome;
}

/* Runs it as the code of the contract. */
static inline struct outcome run_code(const char *hex) {
    hex_into(&contract()->code, hex);
    return run_mode(RUN_SERIAL);
}

/* Gas beyond 21,000, for code that does not fail. */
static inline uint64_t gas_of(const char *hex) {
    struct outcome outcome = run_code(hex);
    cr_assert_eq(outcome.vms[0].status, VM_SUCCEEDED, "%s: %s", hex, outcome.vms[0].error);
    const uint64_t gas = outcome.gas_used - 21000;
    outcome_free(&outcome);
    return gas;
}

/* Runs code that leaves a number on the stack. */
static inline struct u256 value_of(const char *hex) {
    char code[8192];
    (void)snprintf(code, sizeof code, "%s 5f52 60205ff3", hex); /* PUSH0 MSTORE, 32 PUSH0 RETURN */
    struct outcome outcome = run_code(code);
    cr_assert_eq(outcome.vms[0].status, VM_SUCCEEDED, "%s: %s", hex, outcome.vms[0].error);
    const struct u256 value = u256_from(outcome.vms[0].output.data, outcome.vms[0].output.length);
    outcome_free(&outcome);
    return value;
}

static inline struct u256 number(const char *hex) {
    struct bytes bytes = {0};
    hex_into(&bytes, hex);
    const struct u256 value = u256_from(bytes.data, bytes.length);
    bytes_free(&bytes);
    return value;
}

static inline void expect_value(const char *code, const char *hex) {
    const struct u256 got = value_of(code), wanted = number(hex);
    cr_expect(u256_equal(got, wanted), "%s: %016llx%016llx%016llx%016llx instead of %s", code,
              (unsigned long long)got.w[3], (unsigned long long)got.w[2], (unsigned long long)got.w[1],
              (unsigned long long)got.w[0], hex);
}

static inline void expect_failure(const char *code, const char *text) {
    struct outcome outcome = run_code(code);
    cr_expect_eq(outcome.vms[0].status, VM_FAILED, "%s", code);
    cr_expect_not_null(strstr(outcome.vms[0].error, text), "%s: \"%s\" does not say \"%s\"", code, outcome.vms[0].error,
                       text);
    cr_expect_eq(outcome.gas_used, transaction()->gas, "all gas is gone");
    outcome_free(&outcome);
}

#endif
