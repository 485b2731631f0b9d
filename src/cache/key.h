/*
 * key.h: what a compiled pipeline is filed under.
 *
 * In memory: device, operation, bucket, options. The same hash, over more (driver, source, ABI), files it on disk.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CACHE_KEY_H
#define SVMX_CACHE_KEY_H

#include <stdbool.h>
#include <stdint.h>

/* No padding: the bytes are hashed and compared. */
struct svmx__key {
    uint32_t device, op; /* numbers inside one executor */
    uint64_t bucket;     /* units, a power of two */
    uint64_t options;    /* 0 = none */
};

uint64_t svmx__key_hash(const struct svmx__key *key);

static inline bool svmx__key_equal(const struct svmx__key *a, const struct svmx__key *b) {
    return a->device == b->device && a->op == b->op && a->bucket == b->bucket && a->options == b->options;
}

#endif
