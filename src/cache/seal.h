/*
 * seal.h: a message authentication code: who does not have the secret cannot make a seal that fits, nor change what was
 * sealed. SipHash-2-4 with 128 bits of result (Aumasson and Bernstein, 2012).
 *
 * A hash such as XXH3, also with a seed, is none: it is made to be fast on honest input. Called by the binary store, whose
 * secret binary_secret.c keeps. Pure: any thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CACHE_SEAL_H
#define SVMX_CACHE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct svmx__secret {
    uint8_t bytes[16];
};
struct svmx__seal {
    uint8_t bytes[16];
};

struct svmx__seal svmx__seal(const struct svmx__secret *secret, const void *bytes, size_t length);

/* Takes as long for any two, so that nobody learns a seal byte by byte. */
bool svmx__seal_equal(const struct svmx__seal *a, const struct svmx__seal *b);

#endif
