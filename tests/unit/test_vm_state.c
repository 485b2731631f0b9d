/*
 * test_vm_state.c: instructions of examples/contract-vm that look around, read and write; precompiles; transactions: their
 * encoding and signature as published in EIP-155, fees, and what may not be in a block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../examples/contract-vm/contracts.h"
#include "../../examples/contract-vm/sign.h"
#include "vm_fixture.h"

#include <svmx/ops.h>

TestSuite(vm_state, .init = vm_set_up, .fini = vm_tear_down);

/* ---- storage ---------------------------------------------------------------------------------------------------- */

/* The table of EIP-3529, which counts a slot that was touched already: here it costs 2100 more. */
Test(vm_state, gas_of_sstore) {
    static const struct {
        const char *code;
        uint64_t used, refund, original;
    } cases[] = {{"60006000556000600055", 212, 0, 0},
                 {"60006000556001600055", 20112, 0, 0},
                 {"60016000556000600055", 20112, 19900, 0},
                 {"60016000556002600055", 20112, 0, 0},
                 {"60016000556001600055", 20112, 0, 0},
                 {"60006000556000600055", 3012, 4800, 1},
                 {"60006000556001600055", 3012, 2800, 1},
                 {"60006000556002600055", 3012, 0, 1},
                 {"60026000556000600055", 3012, 4800, 1},
                 {"60026000556003600055", 3012, 0, 1},
                 {"60026000556001600055", 3012, 2800, 1},
                 {"60026000556002600055", 3012, 0, 1},
                 {"60016000556000600055", 3012, 4800, 1},
                 {"60016000556002600055", 3012, 0, 1},
                 {"60016000556001600055", 212, 0, 1},
                 {"600160005560006000556001600055", 40118, 19900, 0},
                 {"600060005560016000556000600055", 5918, 7600, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t all = 21000 + 2100 + cases[i].used;
        const uint64_t back = cases[i].refund < all / 5 ? cases[i].refund : all / 5;
        contract()->storage_count = 0;
        account_add_slot(contract(), u256_of(0), u256_of(cases[i].original));
        cr_expect_eq(gas_of(cases[i].code), all - back - 21000, "line %zu of the table", i);
        free(contract()->storage);
        contract()->storage = NULL;
        contract()->storage_count = 0;
    }
}

Test(vm_state, storage) {
    account_add_slot(contract(), u256_of(5), u256_of(77));
    expect_value("6005 54", "4d");
    expect_value("6006 54", "00");
    expect_value("6009 6005 55 6005 54", "09");
    cr_expect_eq(gas_of("6005 54 50"), 3 + 2100 + 2);
    cr_expect_eq(gas_of("6005 54 6005 54 01 50"), 3 + 2100 + 3 + 100 + 3 + 2);
    transaction()->gas = 21000 + 6 + 2300;
    expect_failure("6001 5f 55 00", "out of gas");
    transaction()->gas = 21000 + 5 + 2300; /* EIP-2200: so little is left by a call that only sends */
    expect_failure("6001 5f 55", "2300");
}

/* EIP-1153: 100 each, seen by this transaction only, gone with a REVERT like all else. */
Test(vm_state, transient_storage) {
    expect_value("6007 6001 5d 6001 5c", "07");
    expect_value("6001 5c", "00");
    cr_expect_eq(gas_of("6007 6001 5d"), 3 + 3 + 100);
    cr_expect_eq(gas_of("6001 5c 50"), 3 + 100 + 2);
    struct transaction second = *transaction();
    second.nonce = 1;
    *block_add_transaction(&block) = second;
    struct outcome outcome = run_code("5f 5c 5f 55 6007 5f 5d"); /* slot 0 = what is there, then 7 */
    cr_expect_eq(outcome.vms[1].status, VM_SUCCEEDED);
    for (size_t i = 0; i < outcome.change_count; i++) cr_expect_neq(outcome.changes[i].place.kind, PLACE_STORAGE);
    outcome_free(&outcome);
}

/* Without data it writes 7 and reverts; with data it puts what is there into slot 0, and 9 behind it. */
Test(vm_state, transient_storage_of_one_that_reverts) {
    struct transaction second = *transaction();
    second.nonce = 1;
    second.data = (struct bytes){0};
    hex_into(&second.data, "01");
    *block_add_transaction(&block) = second;
    struct outcome outcome = run_code("36 600b 57 6007 5f 5d 5f 5f fd 5b 5f 5c 5f 55 6009 6001 55");
    cr_expect_eq(outcome.vms[0].status, VM_REVERTED);
    cr_expect_eq(outcome.vms[1].status, VM_SUCCEEDED);
    size_t slots = 0;
    for (size_t i = 0; i < outcome.change_count; i++)
        if (outcome.changes[i].place.kind == PLACE_STORAGE && slots++ == 0)
            cr_expect(u256_equal(outcome.changes[i].value, u256_of(9)), "slot 0 was written");
    cr_expect_eq(slots, 1);
    outcome_free(&outcome);
}

Test(vm_state, accounts) {
    contract()->balance = u256_of(300);
    transaction()->value = u256_of(5);
    expect_value("47", "0131"); /* SELFBALANCE: 300 and 5 */
    expect_value("34", "05");
    expect_value("30 31", "0131");
    expect_value("33 31", "0f423b"); /* what is left of 1,000,000: gas is free */
    expect_value("30", "c0de");
    expect_value("33", "51");
    expect_value("32", "51");
    expect_value("30 3b", "08"); /* the length of this */
    expect_value("6077 3b", "00");
    expect_value("6077 3f", "00"); /* nobody */
    expect_value("33 3f", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
    expect_value("6002 5f 5f 30 3c 5f 51", "6002000000000000000000000000000000000000000000000000000000000000");
    cr_expect_eq(gas_of("6077 31 50"), 3 + 2600 + 2);
    cr_expect_eq(gas_of("6077 31 6077 3b 01 50"), 3 + 2600 + 3 + 100 + 3 + 2);
    cr_expect_eq(gas_of("33 31 50"), 2 + 100 + 2);   /* the sender was touched already */
    cr_expect_eq(gas_of("41 31 50"), 2 + 100 + 2);   /* and so was the coinbase (EIP-3651) */
    cr_expect_eq(gas_of("6001 31 50"), 3 + 100 + 2); /* and the precompiles */
}

/* keccak256 of the code itself: 30 3f, and the four that return it. */
Test(vm_state, hash_of_code) {
    static const char *const code = "303f 5f52 60205ff3";
    struct outcome outcome = run_code(code);
    svmx_batch_t *batch;
    uint8_t hash[32];
    const uint64_t offsets[2] = {0, contract()->code.length};
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_keccak256(batch, hash, contract()->code.data, offsets, 1), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(outcome.vms[0].output.length, 32);
    cr_expect_arr_eq(outcome.vms[0].output.data, hash, 32);
    svmx_batch_destroy(batch);
    outcome_free(&outcome);
}

Test(vm_state, selfdestruct_moves_the_balance) {
    contract()->balance = u256_of(300);
    struct outcome outcome = run_code("6077 ff");
    cr_assert_eq(outcome.vms[0].status, VM_SUCCEEDED, "%s", outcome.vms[0].error);
    cr_expect_eq(outcome.gas_used, 21000 + 3 + 5000 + 2600 + 25000); /* cold, and it was not there */
    uint8_t address[20] = {[19] = 0x77};
    struct place place = place_of(address, PLACE_BALANCE, u256_of(0));
    cr_expect(u256_equal(state_read(&outcome.state, &place), u256_of(300)));
    place = place_of(contract_address, PLACE_BALANCE, u256_of(0));
    cr_expect(u256_is_zero(state_read(&outcome.state, &place)));
    outcome_free(&outcome);
    cr_expect_eq(gas_of("33 ff"), 2 + 5000);
}

Test(vm_state, environment) {
    block.base_fee = u256_of(0);
    block.blob_base_fee = u256_of(9);
    block.prev_randao = u256_of(0xabc);
    block.coinbase[19] = 0xcb;
    block.hashes = memory_resize(NULL, 2, sizeof *block.hashes);
    block.hashes[0] = u256_of(0x1111);
    block.hashes[1] = u256_of(0x2222);
    block.hash_count = 2;
    expect_value("41", "cb");
    expect_value("42", "04d2");
    expect_value("43", "03e8");
    expect_value("44", "0abc");
    expect_value("45", "01c9c380");
    expect_value("46", "01");
    expect_value("48", "00");
    expect_value("4a", "09"); /* EIP-7516 */
    expect_value("6103e7 40", "1111");
    expect_value("6103e6 40", "2222");
    expect_value("6103e5 40", "00"); /* not in the block */
    expect_value("6103e8 40", "00"); /* this one */
}

/* EIP-4844: 3 gas, 0 behind the last; a blob costs 131,072 times the fee. */
Test(vm_state, blobs) {
    transaction()->blob_hashes = memory_resize(NULL, 2, sizeof(struct u256));
    transaction()->blob_hashes[0] = u256_of(0x01aa);
    transaction()->blob_hashes[1] = u256_of(0x01bb);
    transaction()->blob_count = 2;
    expect_value("5f 49", "01aa");
    expect_value("6001 49", "01bb");
    expect_value("6002 49", "00");
    cr_expect_eq(gas_of("5f 49 50"), 2 + 3 + 2);
    block.blob_base_fee = u256_of(1);
    struct outcome outcome = run_code("00");
    const struct place place = place_of(sender_address, PLACE_BALANCE, u256_of(0));
    cr_expect(u256_equal(state_read(&outcome.state, &place), u256_of(1000000 - 2 * 131072)));
    outcome_free(&outcome);
}

/* ---- logs and ends ------------------------------------------------------------------------------------------------ */

Test(vm_state, logs) {
    struct outcome outcome = run_code("60ff 5f 53 6002 6001 6003 5f a2 5f 5f a0"); /* topics 1, 2; data ff 00 00 */
    const struct vm *vm = &outcome.vms[0];
    cr_assert_eq(vm->status, VM_SUCCEEDED, "%s", vm->error);
    cr_assert_eq(vm->log_count, 2);
    cr_expect_eq(vm->logs[0].topic_count, 2);
    cr_expect(u256_equal(vm->logs[0].topics[0], u256_of(1)) && u256_equal(vm->logs[0].topics[1], u256_of(2)));
    cr_expect_eq(vm->logs[0].data_length, 3);
    cr_expect_arr_eq(vm->log_data.data, ((const uint8_t[]){0xff, 0, 0}), 3);
    cr_expect_eq(vm->logs[1].topic_count, 0);
    /* 3 2 3 3, 3 3 3 2, 375 (1 + 2) + 8 x 3, 2 2 375 */
    cr_expect_eq(outcome.gas_used - 21000, 11 + 11 + 375 * 3 + 24 + 379);
    outcome_free(&outcome);
}

Test(vm_state, revert_undoes_and_gives_gas_back) {
    struct outcome outcome = run_code("6001 5f 55 5f 5f a0 60aa 5f 53 6001 5f fd");
    const struct vm *vm = &outcome.vms[0];
    cr_assert_eq(vm->status, VM_REVERTED);
    cr_expect_eq(vm->log_count, 0);
    cr_assert_eq(vm->output.length, 1);
    cr_expect_eq(vm->output.data[0], 0xaa);
    cr_expect_lt(outcome.gas_used, 21000 + 30000);
    cr_expect_eq(outcome.change_count, 1, "the nonce alone");
    cr_expect_eq(outcome.changes[0].place.kind, PLACE_NONCE);
    outcome_free(&outcome);
}

Test(vm_state, what_is_not_supported_says_so) {
    expect_failure("5f 5f 5f f0", "CREATE is not supported");
    expect_failure("5f 5f 5f 5f f5", "CREATE2 is not supported");
    expect_failure("5f 5f 5f 5f 5f 6077 5a f1", "CALL to 0x0000000000000000000000000000000000000077 is not supported");
    expect_failure("5f 5f 5f 5f 30 5a fa", "STATICCALL to 0x000000000000000000000000000000000000c0de is not supported");
    expect_failure("5f 5f 5f 5f 6005 5a f4", "DELEGATECALL to precompile 5 is not supported");
    expect_failure("5f 5f 5f 5f 6001 6004 5a f1", "CALL with a value is not supported");
    transaction()->has_to = false;
    expect_failure("00", "a transaction without `to` is not supported");
}

/* ---- precompiles -------------------------------------------------------------------------------------------------- */

Test(vm_state, sha256_and_identity) {
    expect_value("6020 5f 5f 5f 6002 5a fa 50 5f 51",
                 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect_value("62616263 60e8 1b 5f 52 6020 5f 6003 5f 5f 6002 5a f1 50 5f 51",
                 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect_value("62616263 60e8 1b 5f 52 6003 6020 6003 5f 6004 5a f4 50 6020 51",
                 "6162630000000000000000000000000000000000000000000000000000000000");
    expect_value("5f 5f 6003 5f 6004 5a fa 50 3d", "03");
    expect_value("5f 5f 6003 5f 6004 5a fa", "01");
    cr_expect_eq(gas_of("5f 5f 6020 5f 6002 5a fa 50"), 2 + 2 + 3 + 2 + 3 + 2 + 100 + 3 + 60 + 12 + 2);
    cr_expect_eq(gas_of("5f 5f 6020 5f 6004 5a fa 50"), 2 + 2 + 3 + 2 + 3 + 2 + 100 + 3 + 15 + 3 + 2);
    /* Too little gas goes with it: the call fails, and takes what it was given. */
    expect_value("5f 5f 5f 5f 6002 6005 fa", "00");
    cr_expect_eq(gas_of("5f 5f 5f 5f 6002 6005 fa 50"), 4 * 2 + 3 + 3 + 100 + 5 + 2);
}

/* A signature by 0x7156...8c8a that manuals of the precompile show. */
Test(vm_state, ecrecover) {
    static const char code[] = "7f 456e9aea5e197a1f1af7a3e85a3212fa4049a3ba34c2289b4c860fc0b0c64ef3 5f 52"
                               "601c 6020 52"
                               "7f 9242685bf161793cc25603c231bc2f568eb630ea16aa137d2664ac8038825608 6040 52"
                               "7f 4f8ae3bd7535248d0bd448298cc2e2071e56992d0774dc340c368ae950852ada 6060 52"
                               "6020 6080 6080 5f 6001 5a fa 50 %s";
    char text[sizeof code + 16];
    uint32_t op;
    if (svmx_op_find(executor, "ecrecover", &op, NULL) != SVMX_OK) cr_skip_test("this library has no ecrecover");
    (void)snprintf(text, sizeof text, code, "6080 51");
    expect_value(text, "7156526fbd7a3c72969b54f64e42c10fbb768c8a");
    (void)snprintf(text, sizeof text, code, "3d");
    expect_value(text, "20");
    expect_value("6020 6080 6080 5f 6001 5a fa", "01");       /* nobody's: it succeeds ... */
    expect_value("6020 6080 6080 5f 6001 5a fa 50 3d", "00"); /* ... with nothing to return */
    cr_expect_eq(gas_of("5f 5f 5f 5f 6001 5a fa 50"), 4 * 2 + 3 + 2 + 100 + 3000 + 2);
}

/* ---- transactions ------------------------------------------------------------------------------------------------- */

/* The example of EIP-155: key 0x46...46, nonce 9, 20 gwei, 21,000 gas, 1 ether to 0x35...35. */
Test(vm_state, signature_of_eip_155) {
    uint32_t op;
    struct transaction *tx = transaction();
    if (svmx_op_find(executor, "ecrecover", &op, NULL) != SVMX_OK) cr_skip_test("this library has no ecrecover");
    block.base_fee = u256_of(UINT64_C(20000000000));
    tx->nonce = 9;
    tx->gas = 21000;
    memset(tx->to, 0x35, 20);
    tx->value = u256_of(UINT64_C(1000000000000000000));
    tx->is_signed = true;
    tx->v = u256_of(37);
    tx->r = number("28ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276");
    tx->s = number("67cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83");
    struct bytes encoding = {0}, wanted = {0};
    transaction_encode(&block, tx, false, &encoding);
    hex_into(&wanted, "ec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080");
    cr_assert_eq(encoding.length, wanted.length);
    cr_expect_arr_eq(encoding.data, wanted.data, wanted.length);
    encoding.length = 0;
    transaction_encode(&block, tx, true, &encoding);
    hex_into(&wanted, "f86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080"
                      "25a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276"
                      "a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83");
    cr_assert_eq(encoding.length, wanted.length);
    cr_expect_arr_eq(encoding.data, wanted.data, wanted.length);
    struct outcome outcome = run_mode(RUN_BATCHED);
    hex_into(&wanted, "9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f");
    cr_expect_arr_eq(outcome.prepared[0].sender, wanted.data, 20);
    outcome_free(&outcome);
    bytes_free(&encoding);
    bytes_free(&wanted);
}

static void expect_invalid(const char *text) {
    struct outcome outcome = run_mode(RUN_BATCHED);
    cr_expect_eq(outcome.vms[0].status, VM_INVALID);
    cr_expect_not_null(strstr(outcome.vms[0].error, text), "\"%s\" does not say \"%s\"", outcome.vms[0].error, text);
    cr_expect_eq(outcome.gas_used, 0);
    cr_expect_eq(outcome.change_count, 0);
    outcome_free(&outcome);
}

Test(vm_state, what_may_not_be_in_a_block) {
    struct transaction *tx = transaction();
    tx->nonce = 4;
    expect_invalid("its nonce is 4, and the sender's is 0");
    tx->nonce = 0;
    tx->value = u256_of(1000001);
    expect_invalid("cannot pay");
    tx->value = u256_of(0);
    block.base_fee = u256_of(2);
    expect_invalid("cannot pay");
    block.base_fee = u256_of(0);
    tx->gas = 20999;
    expect_invalid("below");
    hex_into(&tx->data, "0001"); /* 4 and 16 */
    tx->gas = 21019;
    expect_invalid("below");
    tx->gas = UINT64_C(1000000001);
    expect_invalid("not supported");
    tx->gas = 21020;
    tx->is_signed = true;
    tx->v = u256_of(39);
    expect_invalid("v of the signature");
    tx->v = u256_of(37);
    tx->s = number("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a1");
    expect_invalid("upper half");
}

/* 2 wei a gas: what is used is gone, the rest comes back. */
Test(vm_state, fees) {
    block.base_fee = u256_of(2);
    block.accounts[0].balance = u256_of(3000000);
    struct outcome outcome = run_code("3a 5f 55"); /* slot 0 = the price */
    const struct place balance = place_of(sender_address, PLACE_BALANCE, u256_of(0));
    const struct place slot = place_of(contract_address, PLACE_STORAGE, u256_of(0));
    cr_expect_eq(outcome.gas_used, 21000 + 2 + 2 + 22100);
    cr_expect(u256_equal(state_read(&outcome.state, &balance), u256_of(3000000 - 2 * outcome.gas_used)));
    cr_expect(u256_equal(state_read(&outcome.state, &slot), u256_of(2)));
    outcome_free(&outcome);
}
