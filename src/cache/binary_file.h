/*
 * binary_file.h: the bytes of one file of the binary store: what it is filed under, in clear, the payload, and what
 * it is told by: a checksum against damage, and a seal against others (seal.h). Called by binary_store.c and binary_list.c; works in memory and knows neither files nor folders.
 *
 *    0  "SVMXBIN\0"
 *    8  format  kind  ABI major  ABI minor  variant  bytes of the texts       6 x u32, little-endian; the second byte of the
 *                                                                             kind has labels of the device
 *   32  source  bucket  bytes of the payload                                  3 x u64
 *   56  backend\0 version\0 device\0 driver\0 operation\0
 *       payload
 *       XXH3-128 of everything before it
 *       SipHash-2-4-128 of everything before that, with the folder's secret
 *
 * A file's name is the hash of its header without the length of the payload: nothing in a header can change, and no file
 * can take the place of another, without the name showing it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CACHE_BINARY_FILE_H
#define SVMX_CACHE_BINARY_FILE_H

#include "cache/seal.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SVMX__BINARY_FORMAT = 3,                                      /* raised with every change of the drawing above */
    SVMX__BINARY_TEXT_BYTES = 256,                                /* the longest text of a key, with its end */
    SVMX__BINARY_HEADER_BYTES = 56 + 5 * SVMX__BINARY_TEXT_BYTES, /* the longest header */
    SVMX__BINARY_NAME_BYTES = 37,                                 /* 32 hex digits, ".bin", and the end */
    SVMX__BINARY_MAX_BYTES = 1 << 30                              /* no file is larger */
};

enum svmx__binary_kind {
    SVMX__BINARY_PIPELINE = 1, /* what a plugin's pipeline_binary gave */
    SVMX__BINARY_CHOICE = 2    /* which variant was measured to be the fastest; the caller's own few bytes */
};

/* What a record is filed under. A record of another version, driver or source is another record. No text is NULL. */
struct svmx__binary_key {
    uint32_t kind;   /* enum svmx__binary_kind */
    uint32_t labels; /* of enum svmx_device_flags, what the device is not to be mistaken without: a byte */
    uint32_t abi_major, abi_minor;
    uint32_t variant;              /* as struct svmx_pipeline_desc numbers them; 0 for a choice */
    uint64_t source;               /* a hash of the source it was made from; 0 = the version says it all */
    uint64_t bucket;               /* 0 = for all buckets */
    const char *backend, *version; /* of the plugin */
    const char *device, *driver;
    const char *op;
};

/* A file's name from its key: 32 hex digits and ".bin". False: a text is too long to be filed. */
bool svmx__binary_name(const struct svmx__binary_key *key, char name[SVMX__BINARY_NAME_BYTES]);

/* Has a file's name that form? */
bool svmx__binary_name_ok(const char *name);

/* The length of a file. 0: a text or the payload is too long, or the payload is empty. */
size_t svmx__binary_bytes(const struct svmx__binary_key *key, size_t payload_bytes);

/* The whole file; free() takes it. NULL: no memory, or such a payload. */
uint8_t *svmx__binary_pack(const struct svmx__binary_key *key, const struct svmx__secret *secret, const void *payload,
                           size_t payload_bytes, size_t *file_bytes);

/* What a file holds. Texts of the key point into the bytes that were parsed. */
struct svmx__binary_parsed {
    struct svmx__binary_key key;
    size_t header_bytes, payload_bytes;
};

/*
 * Reads the header of a file called `name` and of `file_bytes`, of which the first `have` are at hand: all of them, or at
 * least SVMX__BINARY_HEADER_BYTES. NULL: it is sound. Else what is wrong with it, static text, and nothing is set.
 */
const char *svmx__binary_parse(const uint8_t *bytes, size_t have, uint64_t file_bytes, const char *name,
                               struct svmx__binary_parsed *parsed);

/* The same for a file that is at hand whole, with its checksum and its seal. secret NULL: there is none, so none fits. */
const char *svmx__binary_check(const uint8_t *bytes, size_t file_bytes, const char *name,
                               const struct svmx__secret *secret, struct svmx__binary_parsed *parsed);

/* Are they the same in everything? */
bool svmx__binary_key_equal(const struct svmx__binary_key *a, const struct svmx__binary_key *b);

#endif
