/*
 * fuzz_vm_block.c: texts that are almost blocks of examples/contract-vm: a good one with bytes and words changed, moved and
 * left out. Whatever comes of it is refused with a word and a line, or is a block that is the same when it is written and
 * read again. What else may go wrong is for the sanitizers to see: each text has memory of just its size.
 *
 * A plain program: the same rounds every time, 40,000 or SVMX_FUZZ_ROUNDS. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../examples/contract-vm/block_file.h"
#include "fuzz.h"

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

FUZZ_WORDS(words)

static void replace_some(struct text *text) {
    const char *word = some_word();
    splice(text, below(text->length + 1), below(4), word, strlen(word));
}

static void change(struct text *text) {
    static void (*const changes[])(struct text *) = {change_byte,  replace_some, drop_some,    repeat_piece,
                                                     change_digit, change_digit, change_digit, change_digit};
    fuzz_change(text, changes, sizeof changes / sizeof *changes, 4);
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
static void look_at(struct block *block, struct tally *tally) {
    struct block again;
    char error[256];
    size_t length, length_again;
    char *text = written(block, &length);
    if (block_parse(text, length, &again, error, sizeof error)) {
        char *text_again = written(&again, &length_again);
        expect(tally, length == length_again && memcmp(text, text_again, length) == 0,
               "a block differs when it is read again", "");
        free(text_again);
        block_free(&again);
    } else {
        expect(tally, false, error, "");
    }
    free(text);
}

static void look_at_text(const struct text *text, struct tally *tally) {
    struct block block;
    char error[256] = "";
    char *exact = fuzz_exact(text->bytes, text->length);
    if (block_parse(exact, text->length, &block, error, sizeof error)) {
        tally->taken++;
        look_at(&block, tally);
        block_free(&block);
    } else {
        tally->refused++;
        expect(tally, strncmp(error, "line ", 5) == 0 && strlen(error) > 12, "a refusal says nothing", "");
    }
    free(exact);
}

static void round_of(bool changed, struct tally *tally) {
    static struct text text;
    text_set(&text, good, sizeof good - 1);
    if (changed) change(&text);
    look_at_text(&text, tally);
}

FUZZ_TEXT_ENTRY(look_at_text)

int main(void) {
    const unsigned long rounds = fuzz_rounds(40000);
    struct tally tally = {0, 0, 0};
    round_of(false, &tally);
    expect(&tally, tally.taken == 1, "the good block is refused", "");
    for (unsigned long i = 0; i < rounds; i++) round_of(true, &tally);
    expect(&tally, tally.taken > rounds / 100 && tally.refused > rounds / 100, "one of both hardly happens", "");
    return fuzz_end_of("blocks", &tally);
}
