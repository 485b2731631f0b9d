/*
 * fuzz_binary.c: files that are almost those of the cache on disk: bytes changed, lengths, cuts; as they are, and with checksum
 * and seal made right again, as nobody without the secret could, so that all of the reader is reached. What is taken has the
 * key and the payload that its bytes say; whoever has no secret is never believed.
 *
 * A plain program: the same rounds every time, 40,000 or SVMX_FUZZ_ROUNDS. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/binary_file.h"
#include "cache/key.h"

#include "fuzz.h"

static const struct svmx__secret secret = {{1, 2, 3, 4}}, other = {{1, 2, 3, 5}};
static const struct svmx__binary_key key = {.kind = SVMX__BINARY_PIPELINE,
                                            .abi_major = 1,
                                            .abi_minor = 2,
                                            .variant = 3,
                                            .source = 77,
                                            .bucket = 16384,
                                            .backend = "opencl",
                                            .version = "0.1.0",
                                            .device = "A GPU",
                                            .driver = "A driver 1.2",
                                            .op = "sha256"};

enum { END_BYTES = 32 };

/* The end that who has the secret would write. */
static void mend(struct text *text) {
    if (text->length < END_BYTES) return;
    const size_t at = text->length - END_BYTES;
    const struct svmx__hash128 sum = svmx__hash128(text->bytes, at);
    memcpy(text->bytes + at, &sum, sizeof sum);
    const struct svmx__seal seal = svmx__seal(&secret, text->bytes, at + sizeof sum);
    memcpy(text->bytes + at + sizeof sum, &seal, sizeof seal);
}

/* A number of the header, of four bytes. */
static void change_number(struct text *text) {
    static const uint32_t edges[] = {0, 1, 2, 255, 256, 1280, UINT32_MAX, UINT32_MAX - 55, INT32_MAX};
    const uint32_t value = edges[below(sizeof edges / sizeof *edges)];
    const size_t at = 8 + 4 * below(12);
    if (at + sizeof value <= text->length) memcpy(text->bytes + at, &value, sizeof value);
}

static void name_of(const struct text *text, char name[SVMX__BINARY_NAME_BYTES]) {
    struct svmx__hash128 hash;
    struct text header = *text;
    uint32_t texts = 0;
    if (text->length >= 56) memcpy(&texts, text->bytes + 28, sizeof texts);
    if (text->length < 56 || texts > text->length - 56) texts = 0;
    if (text->length >= 56) memset(header.bytes + 48, 0, 8);
    hash = svmx__hash128(header.bytes, text->length < 56 ? text->length : 56 + (size_t)texts);
    for (size_t i = 0; i < sizeof hash.bytes; i++) (void)snprintf(name + 2 * i, 3, "%02x", hash.bytes[i]);
    (void)snprintf(name + 32, 5, ".bin");
}

/* may_be_good: it was sealed, or not touched. */
static void look_at_text(const struct text *text, bool may_be_good, struct tally *tally) {
    struct svmx__binary_parsed parsed;
    char name[SVMX__BINARY_NAME_BYTES];
    name_of(text, name);
    uint8_t *exact = fuzz_exact(text->bytes, text->length);
    const char *defect = svmx__binary_check(exact, text->length, name, &secret, &parsed);
    defect ? tally->refused++ : tally->taken++;
    expect(tally, defect || may_be_good, "what was changed and not sealed is refused", "");
    expect(tally, defect || parsed.header_bytes + parsed.payload_bytes + END_BYTES == text->length,
           "what is taken is all of it", "");
    expect(tally, defect || strlen(parsed.key.op) < SVMX__BINARY_TEXT_BYTES, "texts of a key end", "");
    expect(tally, svmx__binary_check(exact, text->length, name, &other, &parsed) != NULL, "another's is refused", "");
    expect(tally, svmx__binary_check(exact, text->length, name, NULL, &parsed) != NULL, "without a secret too", "");
    expect(tally, !defect || strlen(defect) > 10, "a refusal says why", defect ? defect : "");
    free(exact);
}

static void round_of(const uint8_t *original, size_t length, struct tally *tally) {
    static void (*const changes[])(struct text *) = {change_byte, change_bit,   change_bit, change_number,
                                                     drop_some,   repeat_piece, cut_short};
    static struct text text;
    text_set(&text, original, length);
    fuzz_change(&text, changes, sizeof changes / sizeof *changes, 2);
    const bool mended = below(4) != 0;
    if (mended) mend(&text);
    const bool as_it_was = text.length == length && memcmp(text.bytes, original, length) == 0;
    look_at_text(&text, mended || as_it_was, tally);
}

#ifdef SVMX_LIBFUZZER
FUZZ_ENTRY(false)
static void fuzz_input(const uint8_t *bytes, size_t length, struct tally *tally) {
    static struct text text;
    text_set(&text, bytes, length);
    mend(&text);
    look_at_text(&text, true, tally);
}
#endif

int main(void) {
    static const char payload[300] = "kernel code";
    struct tally tally = {0, 0, 0};
    size_t length = 0;
    uint8_t *original = svmx__binary_pack(&key, &secret, payload, sizeof payload, &length);
    if (!original) return 2;
    for (unsigned long i = fuzz_rounds(40000); i > 0; i--) round_of(original, length, &tally);
    free(original);
    return fuzz_end_of("files", &tally);
}
