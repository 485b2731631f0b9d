/*
 * binary.h: the head in front of a driver's binary, which says whose it is and that every byte of it is there.
 *
 *   binary   [struct kernels_head][what the driver gave]
 *
 * Drivers believe what they are given, and some crash on a damaged binary. Used by the backends that run device code; knows
 * no driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_KERNELS_BINARY_H
#define SVMX_KERNELS_BINARY_H

#include <stddef.h>
#include <stdint.h>

struct kernels_head {
    uint64_t magic;
    uint64_t key;   /* of source, options and driver */
    uint64_t bytes; /* behind the head */
    uint64_t sum;   /* of these */
};

/* Folds bytes into a hash; of a text with its end, so that "ab" "c" and "a" "bc" differ. */
uint64_t kernels_hash_start(void);
uint64_t kernels_hash_bytes(uint64_t hash, const void *data, size_t bytes);
uint64_t kernels_hash_text(uint64_t hash, const char *text);

/* Writes the head in front of `payload_bytes` that are in place behind it. */
void kernels_binary_seal(void *binary, size_t payload_bytes, uint64_t key);
/* NULL: the binary is whole and of that key; else why it is not. */
const char *kernels_binary_doubt(const void *binary, size_t bytes, uint64_t key);

#endif
