/*
 * hex.h: bytes as hexadecimal digits, both ways.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_HEX_H
#define SVMX_CLI_HEX_H

#include <stddef.h>
#include <stdint.h>

/* Reads `digits` characters, of either case, into digits / 2 bytes. Returns the position of the first that is no digit, or
 * `digits` when all are; the last of an odd number is looked at, but gives no byte. */
size_t cli_hex_read(uint8_t *bytes, const char *text, size_t digits);

/* Writes 2 x count digits, lower case, no zero at the end. */
void cli_hex_write(char *text, const uint8_t *bytes, size_t count);

#endif
