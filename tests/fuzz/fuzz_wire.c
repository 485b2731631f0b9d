/*
 * fuzz_wire.c: messages of an isolated backend that something has hit: bytes changed, cut, repeated, on a real socket. What
 * comes is a message or none; whatever is then read of it lies in it, in any order of reading, and a message that was not
 * touched is read as it was written.
 *
 * A plain program: the same rounds every time, 40,000 or SVMX_FUZZ_ROUNDS. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "isolate/wire.h"

#include "fuzz.h"
#include <sys/socket.h>
#include <unistd.h>

enum { PARTS = 6, WAIT_NS = 1000000000 };

/* What a message has: a number, bytes, or a text, in turns. */
static const char bytes[] = "some bytes of a message, not a multiple of a word";

static void write_message(struct svmx__wire *wire) {
    svmx__wire_reset(wire);
    for (unsigned i = 0; i < PARTS; i++) {
        svmx__wire_put(wire, i);
        svmx__wire_put_bytes(wire, bytes, i * 7);
        svmx__wire_put_text(wire, i % 3 ? "a text" : NULL);
    }
}

static bool is_as_written(struct svmx__wire *wire) {
    for (unsigned i = 0; i < PARTS; i++) {
        size_t count = 0;
        if (svmx__wire_get(wire) != i) return false;
        const void *found = svmx__wire_get_bytes(wire, &count);
        if (count != (size_t)i * 7 || (count && memcmp(found, bytes, count) != 0)) return false;
        const char *text = svmx__wire_get_text(wire);
        if (i % 3 ? !text || strcmp(text, "a text") != 0 : text != NULL) return false;
    }
    return !wire->broken;
}

static bool lies_in(const struct svmx__wire *wire, const void *at, size_t count) {
    const char *first = (const char *)wire->words, *end = (const char *)(wire->words + wire->count);
    return (const char *)at >= first && (const char *)at <= end && count <= (size_t)(end - (const char *)at);
}

/* In any order: the other side may ask for anything. */
static void read_at_random(struct svmx__wire *wire, struct tally *tally) {
    for (unsigned i = 0; i < 3 * PARTS; i++) {
        size_t count = 0;
        switch (below(3)) {
        case 0: (void)svmx__wire_get(wire); break;
        case 1: {
            const void *found = svmx__wire_get_bytes(wire, &count);
            expect(tally, !count || lies_in(wire, found, count), "bytes lie in their message", "");
            break;
        }
        default: {
            const char *text = svmx__wire_get_text(wire);
            if (text && *text) expect(tally, lies_in(wire, text, strlen(text) + 1), "a text lies in its message", "");
        }
        }
    }
    expect(tally, wire->at <= wire->count, "nothing is read behind the end", "");
}

/* As it goes over a socket. */
static void take_stream(int from, struct text *text) {
    const ssize_t got = read(from, text->bytes, FUZZ_ROOM);
    text->length = got > 0 ? (size_t)got : 0;
}

/* Sends a text and looks at what comes of it; it came by `pair`, which is closed then. */
static void look_at_text(const struct text *text, bool untouched, int pair[2], struct svmx__wire *received,
                         struct tally *tally) {
    if (text->length && write(pair[0], text->bytes, text->length) != (ssize_t)text->length) exit(2);
    (void)shutdown(pair[0], SHUT_WR);
    svmx__wire_reset(received);
    const enum svmx__wire_end end = svmx__wire_receive(pair[1], received, svmx__clock_ns() + WAIT_NS);
    end == SVMX__WIRE_DONE ? tally->taken++ : tally->refused++;
    expect(tally, end != SVMX__WIRE_LATE, "what is there is not waited for", "");
    expect(tally, !untouched || (end == SVMX__WIRE_DONE && is_as_written(received)), "it is as it was written", "");
    if (end == SVMX__WIRE_DONE && !untouched) read_at_random(received, tally);
    (void)close(pair[0]);
    (void)close(pair[1]);
}

static void make_pair(int pair[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) exit(2);
}

static void round_of(struct svmx__wire *sent, struct svmx__wire *received, struct tally *tally) {
    static void (*const changes[])(struct text *) = {change_byte, change_bit, drop_some, repeat_piece, cut_short};
    static struct text text, original;
    int pair[2];
    make_pair(pair);
    write_message(sent);
    expect(tally, svmx__wire_send(pair[0], sent, svmx__clock_ns() + WAIT_NS) == SVMX__WIRE_DONE, "it is sent", "");
    take_stream(pair[1], &original);
    text = original;
    if (below(10)) fuzz_change(&text, changes, sizeof changes / sizeof *changes, 2);
    const bool untouched = text.length == original.length && memcmp(text.bytes, original.bytes, text.length) == 0;
    look_at_text(&text, untouched, pair, received, tally);
}

#ifdef SVMX_LIBFUZZER
FUZZ_ENTRY(false)
static void fuzz_input(const uint8_t *bytes, size_t length, struct tally *tally) {
    static struct text text;
    text_set(&text, bytes, length);
    static struct svmx__wire received = {.file = -1};
    int pair[2];
    make_pair(pair);
    look_at_text(&text, false, pair, &received, tally);
}
#endif

int main(void) {
    struct svmx__wire sent = {.file = -1}, received = {.file = -1};
    struct tally tally = {0, 0, 0};
    for (unsigned long i = fuzz_rounds(40000); i > 0; i--) round_of(&sent, &received, &tally);
    svmx__wire_free(&sent);
    svmx__wire_free(&received);
    return fuzz_end_of("messages", &tally);
}
