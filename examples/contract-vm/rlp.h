/*
 * rlp.h: Ethereum's encoding of bytes and lists (yellow paper, appendix B), written only.
 *
 *   one byte below 0x80   itself           up to 55 bytes   0x80 + length, bytes           more   0xb7 + n, length, bytes
 *   a list                the same with 0xc0 and 0xf7, over the encodings of its items
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_RLP_H
#define CONTRACT_VM_RLP_H

#include "bytes.h"
#include "u256.h"

/* `small` is 0x80 or 0xc0. n counts the bytes of a length above 55. */
static inline void rlp_head(struct bytes *out, unsigned small, size_t length) {
    uint8_t head[9];
    unsigned n = 0;
    if (length > 55)
        for (size_t left = length; left; left >>= 8) n++;
    head[0] = (uint8_t)(n ? small + 55 + n : small + length);
    for (unsigned i = 0; i < n; i++) head[n - i] = (uint8_t)(length >> (8 * i));
    bytes_add(out, head, n + 1);
}

static inline void rlp_bytes(struct bytes *out, const uint8_t *data, size_t length) {
    if (length != 1 || data[0] >= 0x80) rlp_head(out, 0x80, length);
    bytes_add(out, data, length);
}

/* Without zeros in front; 0 is no bytes at all. */
static inline void rlp_number(struct bytes *out, struct u256 number) {
    uint8_t bytes[32];
    const unsigned length = u256_bytes(number);
    u256_to(number, bytes);
    rlp_bytes(out, bytes + 32 - length, length);
}

/* `items` are encoded already. */
static inline void rlp_list(struct bytes *out, const struct bytes *items) {
    rlp_head(out, 0xc0, items->length);
    bytes_add(out, items->data, items->length);
}

#endif
