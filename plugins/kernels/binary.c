/*
 * binary.c: see binary.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "binary.h"

#include <string.h>

#define HEAD_MAGIC UINT64_C(0x31304c43584d5653) /* "SVMXCL01" in memory */

uint64_t kernels_hash_start(void) { return UINT64_C(0xcbf29ce484222325); } /* FNV-1a */

uint64_t kernels_hash_bytes(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t kernels_hash_text(uint64_t hash, const char *text) { return kernels_hash_bytes(hash, text, strlen(text) + 1); }

void kernels_binary_seal(void *binary, size_t payload_bytes, uint64_t key) {
    const struct kernels_head head = {
        .magic = HEAD_MAGIC,
        .key = key,
        .bytes = payload_bytes,
        .sum = kernels_hash_bytes(kernels_hash_start(), (unsigned char *)binary + sizeof head, payload_bytes)};
    memcpy(binary, &head, sizeof head);
}

const char *kernels_binary_doubt(const void *binary, size_t bytes, uint64_t key) {
    struct kernels_head head;
    if (bytes <= sizeof head) return "it is too short";
    memcpy(&head, binary, sizeof head);
    const size_t payload_bytes = bytes - sizeof head;
    if (head.magic != HEAD_MAGIC) return "it is not ours";
    if (head.key != key) return "its source, options or driver are others";
    if (head.bytes != payload_bytes) return "it is cut off";
    const unsigned char *payload = (const unsigned char *)binary + sizeof head;
    return head.sum == kernels_hash_bytes(kernels_hash_start(), payload, payload_bytes) ? NULL : "it is damaged";
}
