/*
 * key.h: what a compiled pipeline is filed under.
 *
 * In memory: device, operation, bucket, life of the device. On disk it is filed under more (binary_file.h), by the wider hash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CACHE_KEY_H
#define SVMX_CACHE_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No padding: the bytes are hashed and compared. */
struct svmx__key {
    uint32_t device, op; /* numbers inside one executor */
    uint64_t bucket;     /* units, a power of two */
    uint64_t life;       /* of the device: a new one has pipelines of its own */
};

uint64_t svmx__key_hash(const struct svmx__key *key);

/* XXH3-128 of some bytes, in the byte order of its canonical form: the same on every machine. Finds accidents, not
 * attackers. */
struct svmx__hash128 {
    uint8_t bytes[16];
};
struct svmx__hash128 svmx__hash128(const void *bytes, size_t length);

/* XXH3-64 of some bytes, with what came before as its seed. */
uint64_t svmx__hash64(const void *bytes, size_t length, uint64_t before);

static inline bool svmx__key_equal(const struct svmx__key *a, const struct svmx__key *b) {
    return a->device == b->device && a->op == b->op && a->bucket == b->bucket && a->life == b->life;
}

#endif
