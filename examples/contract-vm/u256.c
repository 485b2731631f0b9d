/*
 * u256.c: products, quotients, powers and shifts of 256-bit numbers.
 *
 * Division is the schoolbook's in digits of 32 bits (Knuth, volume 2, algorithm D): one function serves DIV, MOD, ADDMOD
 * and MULMOD, whose dividend has up to 512 bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "u256.h"

#include <string.h>

enum { DIGITS = 8, LONG_DIGITS = 2 * DIGITS };

static void to_digits(struct u256 a, uint32_t *digits) {
    for (int i = 0; i < DIGITS; i++) digits[i] = (uint32_t)(a.w[i / 2] >> (i % 2 * 32));
}

static struct u256 from_digits(const uint32_t *digits) {
    struct u256 a = {{0}};
    for (int i = 0; i < DIGITS; i++) a.w[i / 2] |= (uint64_t)digits[i] << (i % 2 * 32);
    return a;
}

/* ---- products ------------------------------------------------------------------------------------------------- */

/* The first `count` digits of a b. */
static void multiply(uint32_t *product, const uint32_t *a, const uint32_t *b, int count) {
    memset(product, 0, (size_t)count * sizeof *product);
    for (int i = 0; i < DIGITS; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < DIGITS && i + j < count; j++) {
            carry += (uint64_t)a[i] * b[j] + product[i + j];
            product[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        if (i + DIGITS < count) product[i + DIGITS] = (uint32_t)carry;
    }
}

struct u256 u256_mul(struct u256 a, struct u256 b) {
    uint32_t x[DIGITS], y[DIGITS], product[DIGITS];
    if (u256_is_small(a) && u256_is_small(b) && (a.w[0] | b.w[0]) >> 32 == 0) return u256_of(a.w[0] * b.w[0]);
    to_digits(a, x);
    to_digits(b, y);
    multiply(product, x, y, DIGITS);
    return from_digits(product);
}

struct u256 u256_exp(struct u256 base, struct u256 exponent) {
    struct u256 power = u256_of(1);
    for (unsigned bit = 8 * u256_bytes(exponent); bit-- > 0;) {
        power = u256_mul(power, power);
        if (exponent.w[bit / 64] >> (bit % 64) & 1) power = u256_mul(power, base);
    }
    return power;
}

/* ---- quotients ------------------------------------------------------------------------------------------------ */

static int length_of(const uint32_t *digits, int count) {
    while (count > 0 && digits[count - 1] == 0) count--;
    return count;
}

/* By one digit. */
static void divide_short(uint32_t *quotient, uint32_t *a, int length, uint32_t divisor) {
    uint64_t rest = 0;
    for (int i = length - 1; i >= 0; i--) {
        rest = rest << 32 | a[i];
        quotient[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
        a[i] = 0;
    }
    a[0] = (uint32_t)rest;
}

static void shift_left(uint32_t *digits, int length, int bits) {
    if (bits == 0) return;
    for (int i = length - 1; i > 0; i--) digits[i] = digits[i] << bits | digits[i - 1] >> (32 - bits);
    digits[0] <<= bits;
}

static void shift_right(uint32_t *digits, int length, int bits) {
    if (bits == 0) return;
    for (int i = 0; i + 1 < length; i++) digits[i] = digits[i] >> bits | digits[i + 1] << (32 - bits);
    digits[length - 1] >>= bits;
}

/* The digit of the quotient that the two highest digits of both suggest: right, or one too large. */
static uint64_t guess(const uint32_t *a, const uint32_t *b, int n) {
    const uint64_t top = (uint64_t)a[n] << 32 | a[n - 1];
    uint64_t digit = top / b[n - 1], rest = top % b[n - 1];
    while (digit >> 32 || digit * b[n - 2] > (rest << 32 | a[n - 2])) {
        digit--;
        rest += b[n - 1];
        if (rest >> 32) break;
    }
    return digit;
}

/* a[0..n] -= digit b; was it too much? */
static bool take_away(uint32_t *a, const uint32_t *b, int n, uint64_t digit) {
    uint64_t carry = 0;
    int64_t borrow = 0;
    for (int i = 0; i < n; i++) {
        carry += digit * b[i];
        borrow += (int64_t)a[i] - (int64_t)(uint32_t)carry;
        a[i] = (uint32_t)borrow;
        borrow >>= 32;
        carry >>= 32;
    }
    borrow += (int64_t)a[n] - (int64_t)carry;
    a[n] = (uint32_t)borrow;
    return borrow < 0;
}

static void put_back(uint32_t *a, const uint32_t *b, int n) {
    uint64_t carry = 0;
    for (int i = 0; i < n; i++) {
        carry += (uint64_t)a[i] + b[i];
        a[i] = (uint32_t)carry;
        carry >>= 32;
    }
    a[n] += (uint32_t)carry;
}

/* a becomes the remainder. a has LONG_DIGITS + 1 digits, the last of them 0; the divisor is not 0. */
static void divide(uint32_t *quotient, uint32_t *a, uint32_t *b) {
    const int m = length_of(a, LONG_DIGITS), n = length_of(b, DIGITS);
    memset(quotient, 0, LONG_DIGITS * sizeof *quotient);
    if (m < n) return;
    if (n == 1) {
        divide_short(quotient, a, m, b[0]);
        return;
    }
    const int bits = __builtin_clz(b[n - 1]);
    shift_left(a, m + 1, bits);
    shift_left(b, n, bits);
    for (int i = m - n; i >= 0; i--) {
        uint64_t digit = guess(a + i, b, n);
        if (take_away(a + i, b, n, digit)) {
            put_back(a + i, b, n);
            digit--;
        }
        quotient[i] = (uint32_t)digit;
    }
    shift_right(a, m + 1, bits);
}

static void divide_256(struct u256 a, struct u256 b, struct u256 *quotient, struct u256 *remainder) {
    uint32_t x[LONG_DIGITS + 1] = {0}, y[DIGITS], q[LONG_DIGITS];
    *quotient = *remainder = u256_of(0);
    if (u256_is_zero(b)) return;
    to_digits(a, x);
    to_digits(b, y);
    divide(q, x, y);
    *quotient = from_digits(q);
    *remainder = from_digits(x);
}

struct u256 u256_div(struct u256 a, struct u256 b) {
    struct u256 quotient, remainder;
    if (u256_is_small(a) && u256_is_small(b)) return u256_of(b.w[0] ? a.w[0] / b.w[0] : 0);
    divide_256(a, b, &quotient, &remainder);
    return quotient;
}

struct u256 u256_mod(struct u256 a, struct u256 b) {
    struct u256 quotient, remainder;
    if (u256_is_small(a) && u256_is_small(b)) return u256_of(b.w[0] ? a.w[0] % b.w[0] : 0);
    divide_256(a, b, &quotient, &remainder);
    return remainder;
}

static struct u256 absolute(struct u256 a) { return u256_is_negative(a) ? u256_negate(a) : a; }

/* -2^255 / -1 is 2^255, which is -2^255 again: as the machine wants it. */
struct u256 u256_div_signed(struct u256 a, struct u256 b) {
    const struct u256 quotient = u256_div(absolute(a), absolute(b));
    return u256_is_negative(a) != u256_is_negative(b) ? u256_negate(quotient) : quotient;
}

struct u256 u256_mod_signed(struct u256 a, struct u256 b) {
    const struct u256 remainder = u256_mod(absolute(a), absolute(b));
    return u256_is_negative(a) ? u256_negate(remainder) : remainder;
}

/* What is left of a dividend of LONG_DIGITS. */
static struct u256 reduce(uint32_t *digits, struct u256 m) {
    uint32_t y[DIGITS], q[LONG_DIGITS];
    if (u256_is_zero(m)) return u256_of(0);
    to_digits(m, y);
    digits[LONG_DIGITS] = 0;
    divide(q, digits, y);
    return from_digits(digits);
}

struct u256 u256_addmod(struct u256 a, struct u256 b, struct u256 m) {
    uint32_t x[LONG_DIGITS + 1] = {0};
    const struct u256 sum = u256_add(a, b);
    to_digits(sum, x);
    x[DIGITS] = u256_less(sum, a); /* the carry */
    return reduce(x, m);
}

struct u256 u256_mulmod(struct u256 a, struct u256 b, struct u256 m) {
    uint32_t x[DIGITS], y[DIGITS], product[LONG_DIGITS + 1];
    to_digits(a, x);
    to_digits(b, y);
    multiply(product, x, y, LONG_DIGITS);
    return reduce(product, m);
}

/* ---- shifts --------------------------------------------------------------------------------------------------- */

static bool is_out(struct u256 by) { return !u256_is_small(by) || by.w[0] > 255; }

struct u256 u256_shl(struct u256 by, struct u256 a) {
    struct u256 out = {{0}};
    if (is_out(by)) return out;
    const int words = (int)(by.w[0] / 64), bits = (int)(by.w[0] % 64);
    for (int i = 3; i >= words; i--) {
        out.w[i] = a.w[i - words] << bits;
        if (bits && i > words) out.w[i] |= a.w[i - words - 1] >> (64 - bits);
    }
    return out;
}

struct u256 u256_shr(struct u256 by, struct u256 a) {
    struct u256 out = {{0}};
    if (is_out(by)) return out;
    const int words = (int)(by.w[0] / 64), bits = (int)(by.w[0] % 64);
    for (int i = 0; i + words < 4; i++) {
        out.w[i] = a.w[i + words] >> bits;
        if (bits && i + words < 3) out.w[i] |= a.w[i + words + 1] << (64 - bits);
    }
    return out;
}

/* Of a negative number: the other bits shifted, turned back. */
struct u256 u256_sar(struct u256 by, struct u256 a) {
    return u256_is_negative(a) ? u256_not(u256_shr(by, u256_not(a))) : u256_shr(by, a);
}

struct u256 u256_signextend(struct u256 byte, struct u256 a) {
    if (!u256_is_small(byte) || byte.w[0] > 30) return a;
    const struct u256 by = u256_of(8 * (31 - byte.w[0]));
    return u256_sar(by, u256_shl(by, a));
}

/* ---- bytes ---------------------------------------------------------------------------------------------------- */

struct u256 u256_byte(struct u256 index, struct u256 a) {
    if (!u256_is_small(index) || index.w[0] > 31) return u256_of(0);
    const unsigned at = 31 - (unsigned)index.w[0];
    return u256_of(a.w[at / 8] >> (at % 8 * 8) & 0xff);
}

unsigned u256_bytes(struct u256 a) {
    for (unsigned i = 4; i-- > 0;)
        if (a.w[i]) return 8 * i + (71 - (unsigned)__builtin_clzll(a.w[i])) / 8;
    return 0;
}

/* Compilers make one instruction of this, and of its counterpart below. */
static uint64_t load_word(const uint8_t *at) {
    return (uint64_t)at[0] << 56 | (uint64_t)at[1] << 48 | (uint64_t)at[2] << 40 | (uint64_t)at[3] << 32 |
           (uint64_t)at[4] << 24 | (uint64_t)at[5] << 16 | (uint64_t)at[6] << 8 | (uint64_t)at[7];
}

static void store_word(uint64_t word, uint8_t *at) {
    at[0] = (uint8_t)(word >> 56);
    at[1] = (uint8_t)(word >> 48);
    at[2] = (uint8_t)(word >> 40);
    at[3] = (uint8_t)(word >> 32);
    at[4] = (uint8_t)(word >> 24);
    at[5] = (uint8_t)(word >> 16);
    at[6] = (uint8_t)(word >> 8);
    at[7] = (uint8_t)word;
}

struct u256 u256_from(const uint8_t *bytes, size_t count) {
    struct u256 a = {{0}};
    if (count == 32) {
        for (int i = 0; i < 4; i++) a.w[3 - i] = load_word(bytes + 8 * i);
        return a;
    }
    for (size_t i = 0; i < count && i < 32; i++) a.w[i / 8] |= (uint64_t)bytes[count - 1 - i] << (i % 8 * 8);
    return a;
}

void u256_to(struct u256 a, uint8_t bytes[32]) {
    for (int i = 0; i < 4; i++) store_word(a.w[3 - i], bytes + 8 * i);
}

void u256_to_address(struct u256 a, uint8_t address[20]) {
    uint8_t bytes[32];
    u256_to(a, bytes);
    memcpy(address, bytes + 12, 20);
}
