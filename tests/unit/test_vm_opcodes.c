/*
 * test_vm_opcodes.c: instructions of examples/contract-vm: values and gas as published with the EIPs that brought them and
 * in the yellow paper, or worked out from their formulas beside the case.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vm_fixture.h"

TestSuite(vm_opcodes, .init = vm_set_up, .fini = vm_tear_down);

#define ONES "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
#define TOP  "8000000000000000000000000000000000000000000000000000000000000000"
#define MOST "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
#define PUSH "7f" /* of 32 bytes */

Test(vm_opcodes, arithmetic) {
    expect_value("6001" PUSH ONES "01", "00");    /* -1 + 1 */
    expect_value("6001 5f 03", ONES);             /* 0 - 1 */
    expect_value(PUSH ONES PUSH ONES "02", "01"); /* -1 x -1 */
    expect_value("5f 6005 04", "00");             /* 5 / 0 */
    expect_value("5f 6005 06", "00");             /* 5 mod 0 */
    expect_value(PUSH ONES PUSH TOP "05", TOP);   /* -2^255 / -1: the one that does not fit */
    expect_value("6002" PUSH ONES "05", "00");    /* -1 / 2 rounds towards 0 */
    expect_value("6003 6008 5f 03 07",
                 "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe"); /* -8 smod 3 is -2 */
    expect_value("6003 5f 03 6008 07", "02");                                         /* 8 smod -3 has the sign of 8 */
    expect_value("600c" PUSH ONES PUSH ONES "08", "06");                              /* 2^256 - 1 = 3 mod 12 */
    expect_value("600c" PUSH ONES PUSH ONES "09", "09");
    expect_value("5f" PUSH ONES PUSH ONES "09", "00");
    expect_value("6003 5f 0a", "00");  /* 0^3 */
    expect_value("5f 5f 0a", "01");    /* 0^0 */
    expect_value("60ff 6002 0a", TOP); /* 2^255 */
}

/* A quotient whose first guess is one too large: ((2^64 - 1) 2^64 + 2^64 - 2) over its own upper half and a bit. */
Test(vm_opcodes, long_division) {
    /* a = q b + r with q = 0xfffffffe, b = 0x80000000ffffffff00000001, r = b - 1 */
    const struct u256 q = number("fffffffe"), b = number("80000000ffffffff00000001"), one = u256_of(1);
    const struct u256 a = u256_add(u256_mul(q, b), u256_sub(b, one));
    cr_expect(u256_equal(u256_div(a, b), q));
    cr_expect(u256_equal(u256_mod(a, b), u256_sub(b, one)));
    for (unsigned bits = 1; bits < 256; bits++) { /* (2^256 - 1) / 2^n by shifts */
        const struct u256 ones = number(ONES), power = u256_shl(u256_of(bits), one);
        cr_expect(u256_equal(u256_div(ones, power), u256_shr(u256_of(bits), ones)), "2^%u", bits);
        cr_expect(u256_equal(u256_mod(ones, power), u256_sub(power, one)), "2^%u", bits);
        const struct u256 odd = u256_add(power, one),
                          back = u256_add(u256_mul(u256_div(ones, odd), odd), u256_mod(ones, odd));
        cr_expect(u256_equal(back, ones) && u256_less(u256_mod(ones, odd), odd), "2^%u + 1", bits);
    }
}

/* a b mod m against the sum of a b 2^i by ADDMOD. */
Test(vm_opcodes, products_modulo) {
    const struct u256 a = number("f123456789abcdef0fedcba987654321ffffffffffffffff0000000000000001"),
                      m = number("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
    const struct u256 b = number("80000000000000000000000000000000ffffffff00000000deadbeefcafebabe");
    struct u256 sum = u256_of(0), power = u256_mod(a, m);
    for (unsigned bit = 0; bit < 256; bit++) {
        if (b.w[bit / 64] >> (bit % 64) & 1) sum = u256_addmod(sum, power, m);
        power = u256_addmod(power, power, m);
    }
    cr_expect(u256_equal(u256_mulmod(a, b, m), sum));
}

/* EIP-145 lists these. */
Test(vm_opcodes, shifts) {
    static const struct {
        const char *shift, *value, *shl, *shr, *sar;
    } cases[] = {{"00", "01", "01", "01", "01"},
                 {"01", TOP, "00", "4000000000000000000000000000000000000000000000000000000000000000",
                  "c000000000000000000000000000000000000000000000000000000000000000"},
                 {"ff", TOP, "00", "01", ONES},
                 {"ff", "01", TOP, "00", "00"},
                 {"fe", MOST, "c000000000000000000000000000000000000000000000000000000000000000", "01", "01"},
                 {"f8", MOST, "ff00000000000000000000000000000000000000000000000000000000000000", "7f", "7f"},
                 {"ff", MOST, TOP, "00", "00"},
                 {"0100", TOP, "00", "00", ONES},
                 {"0101", ONES, "00", "00", ONES},
                 {"0100", MOST, "00", "00", "00"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct u256 by = number(cases[i].shift), value = number(cases[i].value);
        cr_expect(u256_equal(u256_shl(by, value), number(cases[i].shl)), "SHL %zu", i);
        cr_expect(u256_equal(u256_shr(by, value), number(cases[i].shr)), "SHR %zu", i);
        cr_expect(u256_equal(u256_sar(by, value), number(cases[i].sar)), "SAR %zu", i);
    }
    expect_value("6002 60ff 1b", "00"); /* the shift is on top: 2 << 255 */
    expect_value("60ff 6004 1c", "0f"); /* 0xff >> 4 */
    expect_value(PUSH ONES "6001 1d", ONES);
}

Test(vm_opcodes, signs_and_bytes) {
    expect_value("60ff 5f 0b", ONES);
    expect_value("607f 5f 0b", "7f");
    expect_value("61ff7f 5f 0b", "7f"); /* what is above goes */
    expect_value("618000 6001 0b", "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff8000");
    expect_value("60ff 601f 0b", "ff"); /* byte 31 is the last */
    expect_value("60ff" PUSH ONES "0b", "ff");
    expect_value("61ff00 601e 1a", "ff");
    expect_value("61ff00 6020 1a", "00");
    expect_value("6000" PUSH ONES "12", "01"); /* -1 < 0 */
    expect_value("6000" PUSH ONES "10", "00");
    expect_value("6000" PUSH ONES "13", "00");
    expect_value("6000" PUSH ONES "11", "01");
    expect_value("5f 15", "01");
    expect_value("5f 19", ONES);
    expect_value("60f0 603c 16", "30");
    expect_value("60f0 603c 17", "fc");
    expect_value("60f0 603c 18", "cc");
}

/* EIP-160: 10, and 50 for a byte of the exponent. PUSH1 and PUSH2 are 3 each, POP 2. */
Test(vm_opcodes, gas_of_exp) {
    cr_expect_eq(gas_of("5f 6002 0a 50"), 2 + 3 + 10 + 2);
    cr_expect_eq(gas_of("60ff 6002 0a 50"), 3 + 3 + 10 + 50 + 2);
    cr_expect_eq(gas_of("610100 6002 0a 50"), 3 + 3 + 10 + 100 + 2);
    cr_expect_eq(gas_of(PUSH ONES "6002 0a 50"), 3 + 3 + 10 + 1600 + 2);
}

/* 3 words + words^2 / 512, and growing costs the difference. */
Test(vm_opcodes, gas_of_memory) {
    cr_expect_eq(gas_of("5f 5f 52"), 2 + 2 + 3 + 3);
    cr_expect_eq(gas_of("5f 6001 52"), 2 + 3 + 3 + 6);             /* 33 bytes are two words */
    cr_expect_eq(gas_of("5f 617fe0 52"), 2 + 3 + 3 + 3072 + 2048); /* 1024 words */
    cr_expect_eq(gas_of("5f 613fe0 52 5f 617fe0 52"), 2 * (2 + 3 + 3) + 3072 + 2048);
    cr_expect_eq(gas_of("5f 5f 53"), 2 + 2 + 3 + 3);
    cr_expect_eq(gas_of("617fe0 51 50"), 3 + 3 + 3072 + 2048 + 2);
    cr_expect_eq(gas_of("5f" PUSH ONES "5f 37"), 2 + 3 + 2 + 3); /* nothing copied, nothing reached */
    expect_failure("5f" PUSH ONES "52", "out of gas");
    expect_failure("67ffffffffffffffff 5f f3", "out of gas");
}

/* 30 and 6 for a word; hashes of "", of "abc" and of four 0xff. */
Test(vm_opcodes, keccak256) {
    expect_value("5f 5f 20", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
    expect_value("62616263 60e8 1b 5f 52 6003 5f 20",
                 "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45");
    expect_value("63ffffffff 60e0 1b 5f 52 6004 5f 20",
                 "29045a592007d0c246ef02c2223570da9522d0cf0f73282c79a1bc8f0bb2c238");
    cr_expect_eq(gas_of("6004 5f 20 50"), 3 + 2 + 30 + 6 + 3 + 2);
    cr_expect_eq(gas_of("6021 5f 20 50"), 3 + 2 + 30 + 12 + 6 + 2);
}

/* EIP-5656: copies as if by way of somewhere else. Memory holds 00 01 02 ... 1f. */
Test(vm_opcodes, mcopy) {
#define COUNT                                                                                                          \
    PUSH "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"                                            \
         "5f 52"
    expect_value(COUNT "6008 6001 5f 5e 5f 51", "010203040506070808090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
    expect_value(COUNT "6008 5f 6001 5e 5f 51", "000001020304050607090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
    expect_value(COUNT "6020 5f 6020 5e 6020 51", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
    cr_expect_eq(gas_of("6020 6020 5f 5e"), 3 + 3 + 2 + 3 + 3 + 6); /* one word copied; the source counts for memory */
    cr_expect_eq(gas_of("5f 6020 6020 5e"), 2 + 3 + 3 + 3);
    expect_failure("6001" PUSH ONES "5f 5e", "out of gas");
}

/* EIP-3855. */
Test(vm_opcodes, push0_and_the_stack) {
    char code[2 * 1025 + 1] = {0};
    expect_value("5f", "00");
    cr_expect_eq(gas_of("5f"), 2);
    for (int i = 0; i < 1024; i++) memcpy(code + 2 * i, "5f", 2);
    cr_expect_eq(gas_of(code), 2048);
    memcpy(code + 2 * 1024, "5f", 2);
    expect_failure(code, "the stack is full");
    expect_failure("01", "too little");
    expect_failure("8f", "too little");
    expect_value("6001 6002 6003 6004 6005 6006 6007 6008 6009 600a 600b 600c 600d 600e 600f 6010 8f", "01");
    expect_value("6001 6002 6003 6004 6005 6006 6007 6008 6009 600a 600b 600c 600d 600e 600f 6010 6011 9f", "01");
    expect_value("6001 6002 90", "01");
    expect_value("6001 80 01", "02");
    cr_expect_eq(gas_of("7f01"), 3); /* data that is not there is 0 */
}

Test(vm_opcodes, jumps) {
    expect_value("6005 6006 56 fe 5b", "05");
    expect_value("6001 6007 57 5f fe 5b 6009", "09");
    expect_value("5f 6007 57 6008 5b 80", "08");    /* not taken */
    expect_failure("6004 56 60 5b", "no JUMPDEST"); /* data of a PUSH */
    expect_failure(PUSH ONES "56", "no JUMPDEST");
    expect_failure("0c", "0x0c is no instruction");
    expect_failure("fe", "INVALID");
    cr_expect_eq(gas_of("6003 56 5b"), 3 + 8 + 1);
    cr_expect_eq(gas_of("5f 5f 57"), 2 + 2 + 10);
    expect_value("58 58 01", "01");
    expect_value("5a", "0ef036"); /* GAS: 1,000,000 - 21,000 - 2 */
}

Test(vm_opcodes, data) {
    hex_into(&transaction()->data, "000102030405");
    expect_value("6004 35", "0405000000000000000000000000000000000000000000000000000000000000");
    expect_value(PUSH ONES "35", "00");
    expect_value("36", "06");
    expect_value("6020 6005 5f 37 5f 51", "0500000000000000000000000000000000000000000000000000000000000000");
    expect_value("6002 5f 5f 39 5f 51", "6002000000000000000000000000000000000000000000000000000000000000");
    expect_value("38", "07"); /* this byte, and six that return the value */
    expect_value("59", "00");
    expect_value("6021 51 50 59", "60"); /* the word at 33 ends in the third */
    expect_failure("6001 5f 5f 3e", "behind the end of the return data");
}

/* IDENTITY of the word at 0, all of it; then what it gave. EIP-211. */
#define ANSWER COUNT "5f 5f 6020 5f 6004 5a fa 50"
Test(vm_opcodes, returndatacopy) {
    expect_value(ANSWER "3d", "20");
    expect_value(ANSWER "6004 6002 6040 3e 6040 51",
                 "0203040500000000000000000000000000000000000000000000000000000000");
    expect_value(ANSWER "3d 5f 6021 3e 6021 51", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
    expect_value(ANSWER "5f 6020 5f 3e 59", "20"); /* nothing, from the very end on, and no memory for it */
    expect_failure(ANSWER "6001 6020 5f 3e", "behind the end of the return data");
    expect_failure(ANSWER "5f 6021 5f 3e", "behind the end of the return data");
    expect_failure(ANSWER "6001" PUSH ONES "5f 3e", "behind the end of the return data");
    /* three words of memory, of which one is there: 3 and 3 a word copied, and 2 more words */
    cr_expect_eq(gas_of(ANSWER "6020 5f 6040 3e") - gas_of(ANSWER), 3 + 2 + 3 + 3 + 3 + 6);
    /* what a call answered is gone with the next one */
    expect_value(ANSWER "5f 5f 5f 5f 6004 5a fa 3d", "00");
}
