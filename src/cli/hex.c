/*
 * hex.c: bytes as hexadecimal digits, both ways. Tables, because a pipe of millions of lines passes through here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hex.h"
#include <stdbool.h>

/* Value of a digit plus one; 0 for what is none. */
static const uint8_t digit_plus_one[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

size_t cli_hex_read(uint8_t *bytes, const char *text, size_t digits) {
    for (size_t i = 0; i + 1 < digits; i += 2) {
        unsigned high = digit_plus_one[(uint8_t)text[i]], low = digit_plus_one[(uint8_t)text[i + 1]];
        if (!high || !low) return high ? i + 1 : i;
        bytes[i / 2] = (uint8_t)((high - 1) << 4 | (low - 1));
    }
    bool last = digits % 2 == 0 || digit_plus_one[(uint8_t)text[digits - 1]];
    return last ? digits : digits - 1;
}

void cli_hex_write(char *text, const uint8_t *bytes, size_t count) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
}
