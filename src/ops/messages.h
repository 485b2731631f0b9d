/*
 * messages.h: what hashes of many messages share.
 *
 *   digests  32 bytes a message
 *   data     the messages' bytes
 *   offsets  n + 1 numbers: message i is data[offsets[i] .. offsets[i + 1])
 *
 * A hash brings the function of one message; its signature, check, size, example and the messages of its known answers
 * are here. Called by the operations of this folder; knows none of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPS_MESSAGES_H
#define SVMX_OPS_MESSAGES_H

#include "ops/op.h"

enum { SVMX__MESSAGES_PARAMS = 3, SVMX__DIGEST_BYTES = 32 };

/* The signature: digests, data, offsets. */
extern const struct svmx_param svmx__messages_params[SVMX__MESSAGES_PARAMS];

/* One message to its digest. */
typedef void (*svmx__hash_fn)(uint8_t digest[SVMX__DIGEST_BYTES], const uint8_t *data, uint64_t bytes);

/* The hashes themselves, for trees and signatures. */
void svmx__sha256(uint8_t digest[SVMX__DIGEST_BYTES], const uint8_t *data, uint64_t bytes);
void svmx__keccak256(uint8_t digest[SVMX__DIGEST_BYTES], const uint8_t *data, uint64_t bytes);

/* Are there n + 1 of them? `items` are what there are n of, in the text. */
enum svmx_status svmx__offsets_count(const struct svmx_slot *offsets, uint64_t n, const char *items,
                                     struct svmx__text *why);

/* offsets[0 .. n] must not decrease, and the last must lie within the `data_bytes` of the parameter called `data`. */
enum svmx_status svmx__offsets_check(const struct svmx_slot *offsets, uint64_t n, const char *data, uint64_t data_bytes,
                                     struct svmx__text *why);

/* units = messages, work = their bytes + 64 each: an empty message is a block to hash as well. */
enum svmx_status svmx__messages_check(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why);
enum svmx_status svmx__messages_shape(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]);
void svmx__messages_hash(const struct svmx_slot *slots, svmx__hash_fn hash);

/*
 * Known answers: 20 messages of different lengths in one task, so that kernels of 4, 8 and 16 lanes have full groups,
 * a rest, and lanes that end at different blocks. Lengths around the block borders of both hashes. The first offset is
 * not 0 and bytes are left over behind the last.
 */
enum { SVMX__KNOWN_MESSAGES = 20, SVMX__KNOWN_WORDS = 182 };
extern const uint64_t svmx__known_data[SVMX__KNOWN_WORDS];
extern const uint64_t svmx__known_offsets[SVMX__KNOWN_MESSAGES + 1];

#endif
