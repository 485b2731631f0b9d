/*
 * key.c: see key.h. The only file that knows xxHash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/key.h"

#include <assert.h>
#include <xxhash.h>

static_assert(sizeof(struct svmx__key) == 24, "a padded key would hash bytes that nobody set");

uint64_t svmx__key_hash(const struct svmx__key *key) { return XXH3_64bits(key, sizeof *key); }
