/*
 * key.c: see key.h. The only file that knows xxHash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/key.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

static_assert(sizeof(struct svmx__key) == 24, "a padded key would hash bytes that nobody set");

uint64_t svmx__key_hash(const struct svmx__key *key) { return XXH3_64bits(key, sizeof *key); }

struct svmx__hash128 svmx__hash128(const void *bytes, size_t length) {
    XXH128_canonical_t canonical;
    struct svmx__hash128 hash;
    static_assert(sizeof canonical == sizeof hash, "128 bits");
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, length));
    memcpy(&hash, &canonical, sizeof hash);
    return hash;
}

uint64_t svmx__hash64(const void *bytes, size_t length, uint64_t before) {
    return XXH3_64bits_withSeed(bytes, length, before);
}
