/*
 * binary_file.c: see binary_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/binary_file.h"

#include "cache/key.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[8] = "SVMXBIN";

enum { TEXTS_AT = 56, PAYLOAD_BYTES_AT = 48, TEXTS = 5 };
enum {
    SEAL_BYTES = sizeof(struct svmx__seal),
    SUM_BYTES = sizeof(struct svmx__hash128),
    END_BYTES = SUM_BYTES + SEAL_BYTES
};

/* ---- numbers and texts -------------------------------------------------------------------------------------- */

static void put32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> 8 * i);
}

static void put64(uint8_t *at, uint64_t value) {
    put32(at, (uint32_t)value);
    put32(at + 4, (uint32_t)(value >> 32));
}

static uint32_t get32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t get64(const uint8_t *at) { return get32(at) | (uint64_t)get32(at + 4) << 32; }

/* The texts of a key in the order of the file. */
static const char **text_of(struct svmx__binary_key *key, int i) {
    const char **const texts[TEXTS] = {&key->backend, &key->version, &key->device, &key->driver, &key->op};
    return texts[i];
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

/* The length of the header, or 0 if a text is too long. */
static size_t header_write(const struct svmx__binary_key *given, uint64_t payload_bytes,
                           uint8_t header[SVMX__BINARY_HEADER_BYTES]) {
    struct svmx__binary_key key = *given;
    size_t at = TEXTS_AT;
    for (int i = 0; i < TEXTS; i++) {
        const char *text = *text_of(&key, i);
        size_t bytes = strnlen(text, SVMX__BINARY_TEXT_BYTES) + 1;
        if (bytes > SVMX__BINARY_TEXT_BYTES) return 0;
        memcpy(header + at, text, bytes);
        at += bytes;
    }
    const uint32_t numbers[] = {SVMX__BINARY_FORMAT, key.kind | (key.labels & UINT8_MAX) << 8,
                                key.abi_major,       key.abi_minor,
                                key.variant,         (uint32_t)(at - TEXTS_AT)};
    memcpy(header, magic, sizeof magic);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) put32(header + 8 + 4 * i, numbers[i]);
    put64(header + 32, key.source);
    put64(header + 40, key.bucket);
    put64(header + PAYLOAD_BYTES_AT, payload_bytes);
    return at;
}

/* The name of a header, whose length of the payload does not count. */
static void header_name(const uint8_t *header, size_t bytes, char name[SVMX__BINARY_NAME_BYTES]) {
    uint8_t copy[SVMX__BINARY_HEADER_BYTES];
    memcpy(copy, header, bytes);
    put64(copy + PAYLOAD_BYTES_AT, 0);
    const struct svmx__hash128 hash = svmx__hash128(copy, bytes);
    for (size_t i = 0; i < sizeof hash.bytes; i++) (void)snprintf(name + 2 * i, 3, "%02x", hash.bytes[i]);
    (void)snprintf(name + 32, 5, ".bin");
}

bool svmx__binary_name(const struct svmx__binary_key *key, char name[SVMX__BINARY_NAME_BYTES]) {
    uint8_t header[SVMX__BINARY_HEADER_BYTES];
    size_t bytes = header_write(key, 0, header);
    if (bytes) header_name(header, bytes, name);
    return bytes > 0;
}

bool svmx__binary_name_ok(const char *name) {
    return strspn(name, "0123456789abcdef") == 32 && strcmp(name + 32, ".bin") == 0;
}

size_t svmx__binary_bytes(const struct svmx__binary_key *key, size_t payload_bytes) {
    uint8_t header[SVMX__BINARY_HEADER_BYTES];
    const size_t at = header_write(key, payload_bytes, header);
    if (!at || !payload_bytes || payload_bytes > SVMX__BINARY_MAX_BYTES - sizeof header - END_BYTES) return 0;
    return at + payload_bytes + END_BYTES;
}

uint8_t *svmx__binary_pack(const struct svmx__binary_key *key, const struct svmx__secret *secret, const void *payload,
                           size_t payload_bytes, size_t *file_bytes) {
    uint8_t header[SVMX__BINARY_HEADER_BYTES];
    const size_t bytes = svmx__binary_bytes(key, payload_bytes);
    uint8_t *file = bytes ? malloc(bytes) : NULL;
    if (!file) return NULL;
    size_t at = header_write(key, payload_bytes, header);
    memcpy(file, header, at);
    memcpy(file + at, payload, payload_bytes);
    at += payload_bytes;
    const struct svmx__hash128 sum = svmx__hash128(file, at);
    memcpy(file + at, &sum, sizeof sum);
    const struct svmx__seal seal = svmx__seal(secret, file, at + SUM_BYTES);
    memcpy(file + at + SUM_BYTES, &seal, sizeof seal);
    *file_bytes = bytes;
    return file;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

/* Points the key's texts at `bytes` bytes of them. False: they are not as many, or as long, as they must be. */
static bool texts_read(const char *at, size_t bytes, struct svmx__binary_key *key) {
    for (int i = 0; i < TEXTS; i++) {
        const char *end = memchr(at, 0, bytes);
        if (!end || end - at >= SVMX__BINARY_TEXT_BYTES) return false;
        *text_of(key, i) = at;
        bytes -= (size_t)(end + 1 - at);
        at = end + 1;
    }
    return bytes == 0;
}

const char *svmx__binary_parse(const uint8_t *bytes, size_t have, uint64_t file_bytes, const char *name,
                               struct svmx__binary_parsed *parsed) {
    char right_name[SVMX__BINARY_NAME_BYTES];
    if (have < TEXTS_AT) return "it is cut short";
    if (memcmp(bytes, magic, sizeof magic) != 0) return "it is no file of this cache";
    if (get32(bytes + 8) != SVMX__BINARY_FORMAT) return "it has the format of another version";
    const uint64_t text_bytes = get32(bytes + 28), payload_bytes = get64(bytes + PAYLOAD_BYTES_AT);
    if (text_bytes > SVMX__BINARY_HEADER_BYTES - TEXTS_AT) return "its header is malformed";
    const uint64_t around = TEXTS_AT + text_bytes + END_BYTES;
    if (file_bytes > SVMX__BINARY_MAX_BYTES || file_bytes <= around || payload_bytes != file_bytes - around)
        return "its length is not the one in its header";
    struct svmx__binary_key key = {.kind = get32(bytes + 12) & ~UINT32_C(0xff00),
                                   .labels = get32(bytes + 12) >> 8 & UINT8_MAX,
                                   .abi_major = get32(bytes + 16),
                                   .abi_minor = get32(bytes + 20),
                                   .variant = get32(bytes + 24),
                                   .source = get64(bytes + 32),
                                   .bucket = get64(bytes + 40)};
    if (have < TEXTS_AT + text_bytes || !texts_read((const char *)bytes + TEXTS_AT, (size_t)text_bytes, &key))
        return "its header is malformed";
    header_name(bytes, TEXTS_AT + (size_t)text_bytes, right_name);
    if (strcmp(name, right_name) != 0) return "its header is not the one that its name stands for";
    *parsed = (struct svmx__binary_parsed){key, TEXTS_AT + (size_t)text_bytes, (size_t)payload_bytes};
    return NULL;
}

const char *svmx__binary_check(const uint8_t *bytes, size_t file_bytes, const char *name,
                               const struct svmx__secret *secret, struct svmx__binary_parsed *parsed) {
    struct svmx__binary_parsed found;
    struct svmx__seal seal;
    const char *defect = svmx__binary_parse(bytes, file_bytes, file_bytes, name, &found);
    if (defect) return defect;
    const size_t sealed = file_bytes - SEAL_BYTES;
    const struct svmx__hash128 sum = svmx__hash128(bytes, sealed - SUM_BYTES);
    if (memcmp(&sum, bytes + sealed - SUM_BYTES, sizeof sum) != 0) return "its checksum is wrong";
    memcpy(&seal, bytes + sealed, sizeof seal);
    const struct svmx__seal right = secret ? svmx__seal(secret, bytes, sealed) : seal;
    if (!secret || !svmx__seal_equal(&seal, &right)) return "its seal is not of this folder: it was filed elsewhere";
    *parsed = found;
    return NULL;
}

bool svmx__binary_key_equal(const struct svmx__binary_key *a, const struct svmx__binary_key *b) {
    struct svmx__binary_key left = *a, right = *b;
    for (int i = 0; i < TEXTS; i++)
        if (strcmp(*text_of(&left, i), *text_of(&right, i)) != 0) return false;
    return a->kind == b->kind && a->labels == b->labels && a->abi_major == b->abi_major &&
           a->abi_minor == b->abi_minor && a->variant == b->variant && a->source == b->source && a->bucket == b->bucket;
}
