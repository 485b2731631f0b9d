/*
 * fuzz_vm_block.c: texts that are almost blocks of examples/contract-vm: a good one with bytes and words changed, moved and
 * left out. Whatever comes of it is refused with a word and a line, or is a block that is the same when it is written and
 * read again. What else may go wrong is for the sanitizers to see: each text has memory of just its size.
 *
 * A plain program: the same rounds every time, 100,000 or SVMX_FUZZ_ROUNDS. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../examples/contract-vm/block_file.h"
#include "../../examples/contract-vm/generate.h"

enum { ROOM = 2048, SHOWN = 5 };

static const char good[] =
    "{\"chainId\": 1, \"number\": 100, \"timestamp\": 17, \"gasLimit\": \"0x1c9c380\", \"baseFee\": \"0x7\", "
    "\"blobBaseFee\": 1, \"prevRandao\": \"0xabc\", \"coinbase\": \"0x00000000000000000000000000000000000000cb\", "
    "\"blockHashes\": [\"0x1\", 2], \"accounts\": [{\"address\": \"0x0000000000000000000000000000000000000051\", "
    "\"balance\": \"0x38d7ea4c68000\", \"nonce\": 3, \"code\": \"0x6001\", \"storage\": {\"0x0\": \"0x1\", \"0x2\": "
    "3}}, "
    "{}], \"transactions\": [{\"nonce\": 0, \"gas\": 21000, \"to\": \"0x0000000000000000000000000000000000000051\", "
    "\"value\": \"0x0\", \"data\": \"0x\", \"blobHashes\": [\"0x01\"], \"v\": \"0x25\", \"r\": \"0x1\", \"s\": "
    "\"0x2\"}, "
    "{\"from\": \"0x0000000000000000000000000000000000000051\"}]}\n";

static const char *const words[] = {"{",         "}",      "[",       "]",      ",",
                                    ":",         "\"",     "\\",      "\"0x",   "0x",
                                    "\"\"",      "-1",     "1e9",     "0.5",    "99999999999999999999",
                                    "null",      "\"v\":", "\"to\":", "\"a\":", "\"0xzz\"",
                                    "\"0x123\"", "\n",     "\x01",    "\xff"};

static struct { unsigned long taken, refused, bad; } tally;
static struct dice dice = {20261117};

static void expect(bool condition, const char *what) {
    if (!condition && ++tally.bad <= SHOWN) (void)fprintf(stderr, "failed: %s\n", what);
}

struct text {
    char bytes[ROOM];
    size_t length;
};

/* Puts `with` where `cut` bytes were. What does not fit is left as it is. */
static void splice(struct text *text, size_t at, size_t cut, const char *with, size_t length) {
    if (at + cut > text->length || text->length - cut + length > ROOM) return;
    memmove(text->bytes + at + length, text->bytes + at + cut, text->length - at - cut);
    memcpy(text->bytes + at, with, length);
    text->length += length - cut;
}

/* The next digit, which mostly leaves a block. */
static void change_digit(struct text *text, size_t at) {
    while (at < text->length && (text->bytes[at] < '0' || text->bytes[at] > '9')) at++;
    if (at < text->length) text->bytes[at] = "0123456789abcdef"[dice_below(&dice, 16)];
}

static void change(struct text *text) {
    char piece[64];
    const size_t at = dice_below(&dice, text->length + 1), from = dice_below(&dice, text->length + 1);
    const size_t left = text->length - from,
                 length = dice_below(&dice, (left < sizeof piece ? left : sizeof piece) + 1);
    const char *word = words[dice_below(&dice, sizeof words / sizeof *words)];
    const char byte = (char)dice_below(&dice, 256);
    memcpy(piece, text->bytes + from, length);
    switch (dice_below(&dice, 8)) {
    case 0: splice(text, at, 1, &byte, 1); break;
    case 1: splice(text, at, dice_below(&dice, 4), word, strlen(word)); break;
    case 2: splice(text, at, dice_below(&dice, 30), "", 0); break;
    case 3: splice(text, at, 0, piece, length); break;
    case 4: splice(text, from, length, "", 0), splice(text, at, 0, piece, length); break;
    default: change_digit(text, at); break;
    }
}

/* For free(). */
static char *written(const struct block *block, size_t *length) {
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (!out) exit(1);
    block_write(out, block);
    (void)fclose(out);
    return text;
}

/* Written, read and written again it is the same. */
static void look_at(struct block *block) {
    struct block again;
    char error[256];
    size_t length, length_again;
    char *text = written(block, &length);
    if (block_parse(text, length, &again, error, sizeof error)) {
        char *text_again = written(&again, &length_again);
        expect(length == length_again && memcmp(text, text_again, length) == 0,
               "a block differs when it is read again");
        free(text_again);
        block_free(&again);
    } else {
        expect(false, error);
    }
    free(text);
}

static void round_of(unsigned changes) {
    struct text text = {.length = sizeof good - 1};
    struct block block;
    char error[256] = "";
    memcpy(text.bytes, good, text.length);
    while (changes-- > 0) change(&text);
    char *exact = memory_resize(NULL, text.length, 1);
    memcpy(exact, text.bytes, text.length);
    if (block_parse(exact, text.length, &block, error, sizeof error)) {
        tally.taken++;
        look_at(&block);
        block_free(&block);
    } else {
        tally.refused++;
        expect(strncmp(error, "line ", 5) == 0 && strlen(error) > 12, "a refusal says nothing");
    }
    free(exact);
}

int main(void) {
    const char *wish = getenv("SVMX_FUZZ_ROUNDS");
    const unsigned long rounds = wish ? strtoul(wish, NULL, 10) : 100000;
    round_of(0);
    expect(tally.taken == 1, "the good block is refused");
    for (unsigned long i = 0; i < rounds; i++) round_of(1 + (unsigned)dice_below(&dice, 4));
    expect(tally.taken > rounds / 100 && tally.refused > rounds / 100, "one of both hardly happens");
    printf("%lu texts taken, %lu refused\n", tally.taken, tally.refused);
    printf("%d passed, %d failed, 0 skipped\n", tally.bad == 0, tally.bad != 0);
    return tally.bad != 0;
}
