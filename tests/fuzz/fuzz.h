/*
 * fuzz.h: what the fuzzers share: numbers that are the same every time, how many rounds there are, texts that are changed a
 * little, and the count of what went wrong. Included by each, one copy: all is static.
 *
 * Each has two forms. A plain program, with dice of its own and any compiler; and with libFuzzer (configure --enable-fuzzer, clang),
 * which looks for inputs that reach new code: its main() is not used then, and fuzz_input() is what it has to define: one
 * input, which is the text that is looked at, or what the dice say. What is wrong ends the program, and libFuzzer keeps the input.
 *
 * A fuzzer that changes texts has its list of words: FUZZ_WORDS(words), before it uses insert_word or replace_word.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "../sanitized.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SVMX_FUZZ_SEED, for processes that each try something else, or the seed of always. Never 0: the dice would stand still. */
static inline uint64_t fuzz_seed(void) {
    const char *wish = getenv("SVMX_FUZZ_SEED");
    const uint64_t seed = UINT64_C(20261117) + (wish ? strtoull(wish, NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) : 0);
    return seed ? seed : 1;
}

static uint64_t fuzz_state; /* of the dice; 0: not thrown yet */
static struct {
    const uint8_t *at;
    size_t left;
} fuzz_given; /* what libFuzzer wants them to say first */

/* The dice say what these bytes do, two for each throw, and go on from there: always the same for the same bytes. */
static inline void fuzz_give(const uint8_t *bytes, size_t length, bool to_dice) {
    fuzz_state = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < length; i++) fuzz_state = (fuzz_state ^ bytes[i]) * UINT64_C(1099511628211);
    fuzz_state |= 1;
    fuzz_given.at = bytes;
    fuzz_given.left = to_dice ? length : 0;
}

/* xorshift64*: the same numbers everywhere. */
static inline uint64_t dice64(void) {
    uint64_t state = fuzz_state ? fuzz_state : fuzz_seed();
    if (fuzz_given.left >= 2) {
        const uint64_t given = fuzz_given.at[0] | (uint64_t)fuzz_given.at[1] << 8;
        fuzz_given.at += 2;
        fuzz_given.left -= 2;
        return given * UINT64_C(0x0001000100010001);
    }
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    fuzz_state = state;
    return state * UINT64_C(2685821657736338717);
}

static inline uint32_t dice(void) { return (uint32_t)(dice64() >> 32); }
static inline size_t below(size_t limit) { return limit ? (size_t)((dice64() >> 16) % limit) : 0; }

/* SVMX_FUZZ_ROUNDS, or so many: what takes some seconds at most under a sanitizer. */
static inline unsigned long fuzz_rounds(unsigned long usual) {
    const char *wish = getenv("SVMX_FUZZ_ROUNDS");
    return wish ? strtoul(wish, NULL, 10) : usual;
}

/* For fuzzers that compute much: their usual number, and fewer under a sanitizer, which makes each round some ten times as long. */
static inline unsigned long fuzz_rounds_or_fewer(unsigned long usual, unsigned long sanitized) {
    return fuzz_rounds(UNDER_SANITIZER ? sanitized : usual);
}

/* A line after each half million, for whoever looks at a night's run, and for what is left of one that was ended. */
static inline void fuzz_progress(uint64_t before, uint64_t done, unsigned long wrong) {
    enum { EVERY = 500000 };
    if (before / EVERY == done / EVERY) return;
    printf("%llu rounds so far, %lu wrong\n", (unsigned long long)done, wrong);
    (void)fflush(stdout);
}

/* What came of the rounds, or of one kind of them. */
struct tally {
    unsigned long taken, refused, bad;
};

enum { FUZZ_SHOWN = 5 };

#ifdef SVMX_LIBFUZZER
/* One input. The first `bytes` are thrown by the dice if `with_dice`, which the fuzzer says of itself. */
static void fuzz_input(const uint8_t *bytes, size_t length, struct tally *tally);
#define FUZZ_ENTRY(with_dice)                                                                                          \
    int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);                                                   \
    int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {                                                  \
        struct tally found = {0, 0, 0};                                                                                \
        fuzz_give(bytes, length, with_dice);                                                                           \
        fuzz_input(bytes, length, &found);                                                                             \
        if (found.bad) abort();                                                                                        \
        return 0;                                                                                                      \
    }
#define main fuzz_plain_main /* libFuzzer brings its own */
int fuzz_plain_main(void);
#endif

static inline void expect(struct tally *tally, bool condition, const char *what, const char *detail) {
    if (condition) return;
    if (++tally->bad <= FUZZ_SHOWN) (void)fprintf(stderr, "failed: %s: %s\n", what, detail);
}

/* Passes if nothing was wrong, and if some was taken and some refused: rounds that end alike show little. */
static inline bool fuzz_tell(const char *name, const struct tally *tally) {
    printf("%s: %lu taken, %lu refused, %lu wrong\n", name, tally->taken, tally->refused, tally->bad);
    return tally->bad == 0 && tally->taken > 0 && tally->refused > 0;
}

static inline int fuzz_end(unsigned passed, unsigned failed) {
    printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed == 0 ? 0 : 1;
}

/* The same where all rounds are of one kind. */
static inline int fuzz_end_of(const char *name, const struct tally *tally) {
    const bool good = fuzz_tell(name, tally);
    return fuzz_end(good, !good);
}

/* The bytes in memory of just their size, so that a sanitizer sees one that is read behind them. free() takes it. */
static inline void *fuzz_exact(const void *bytes, size_t length) {
    void *exact = malloc(length ? length : 1);
    if (!exact) exit(2);
    if (length) memcpy(exact, bytes, length);
    return exact;
}

/* ---- texts -------------------------------------------------------------------------------------------------------- */

enum { FUZZ_ROOM = 32768 };

struct text {
    char bytes[FUZZ_ROOM];
    size_t length;
};

static inline void text_set(struct text *text, const void *bytes, size_t length) {
    text->length = length < FUZZ_ROOM ? length : FUZZ_ROOM;
    memcpy(text->bytes, bytes, text->length);
}

/* Puts `with` where `cut` bytes were. What does not fit is left as it is. */
static inline void splice(struct text *text, size_t at, size_t cut, const char *with, size_t length) {
    if (at + cut > text->length || text->length - cut + length > FUZZ_ROOM) return;
    memmove(text->bytes + at + length, text->bytes + at + cut, text->length - at - cut);
    memcpy(text->bytes + at, with, length);
    text->length += length - cut;
}

static inline void change_byte(struct text *text) {
    if (text->length) text->bytes[below(text->length)] = (char)dice();
}

static inline void change_bit(struct text *text) {
    if (text->length) text->bytes[below(text->length)] ^= (char)(1 << below(8));
}

/* To another digit: the text may well stay what it was. */
static inline void change_digit(struct text *text) {
    for (int tries = 0; tries < 20 && text->length; tries++) {
        char *at = &text->bytes[below(text->length)];
        if (*at < '0' || *at > '9') continue;
        *at = (char)('0' + below(10));
        return;
    }
}

static inline void drop_some(struct text *text) {
    const size_t at = below(text->length + 1), left = text->length - at;
    splice(text, at, below(left < 200 ? left + 1 : 200), "", 0);
}

static inline void cut_short(struct text *text) { text->length = below(text->length + 1); }

/* A line, from the one at a place. */
static inline size_t line_start(const struct text *text, size_t at) {
    while (at > 0 && text->bytes[at - 1] != '\n') at--;
    return at;
}

static inline size_t line_length(const struct text *text, size_t start) {
    size_t length = 0;
    while (start + length < text->length && text->bytes[start + length] != '\n') length++;
    return start + length < text->length ? length + 1 : length;
}

static inline void drop_line(struct text *text) {
    const size_t start = line_start(text, below(text->length));
    splice(text, start, line_length(text, start), "", 0);
}

static inline void repeat_line(struct text *text) {
    char line[600];
    const size_t start = line_start(text, below(text->length)), length = line_length(text, start);
    if (length > sizeof line) return;
    memcpy(line, text->bytes + start, length);
    splice(text, line_start(text, below(text->length)), 0, line, length);
}

/* A piece of the text once more, elsewhere. */
static inline void repeat_piece(struct text *text) {
    char piece[64];
    const size_t from = below(text->length + 1), left = text->length - from,
                 length = below((left < sizeof piece ? left : sizeof piece) + 1);
    memcpy(piece, text->bytes + from, length);
    splice(text, below(text->length + 1), 0, piece, length);
}

/* A word stands between two of the characters `around`. */
static inline void replace_between(struct text *text, const char *around, const char *word) {
    size_t at = below(text->length), cut = 0;
    while (at > 0 && !strchr(around, text->bytes[at - 1])) at--;
    while (at + cut < text->length && !strchr(around, text->bytes[at + cut])) cut++;
    splice(text, at, cut, word, strlen(word));
}

/* unused: clang says so of what a macro makes, inline or not */
#define FUZZ_WORDS(words)                                                                                              \
    static inline const char *some_word(void) { return words[below(sizeof words / sizeof *words)]; }                   \
    __attribute__((unused)) static inline void insert_word(struct text *text) {                                        \
        const char *word = some_word();                                                                                \
        splice(text, below(text->length + 1), 0, word, strlen(word));                                                  \
    }

/* For a fuzzer whose input is the text itself, as it is: look(&text, &tally). Nothing in a plain program. */
#ifdef SVMX_LIBFUZZER
#define FUZZ_TEXT_ENTRY(look)                                                                                          \
    FUZZ_ENTRY(false)                                                                                                  \
    static void fuzz_input(const uint8_t *bytes, size_t length, struct tally *tally) {                                 \
        static struct text text;                                                                                       \
        text_set(&text, bytes, length);                                                                                \
        look(&text, tally);                                                                                            \
    }
#else
#define FUZZ_TEXT_ENTRY(look)
#endif

/* As many as `most` of these changes. */
static inline void fuzz_change(struct text *text, void (*const changes[])(struct text *), size_t count, size_t most) {
    for (size_t i = 1 + below(most); i > 0; i--) changes[below(count)](text);
}

#endif
