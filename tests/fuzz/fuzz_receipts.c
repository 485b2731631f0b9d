/*
 * fuzz_receipts.c: logs that are almost right: lines of receipts with bytes, words and lines changed, moved and left out. What
 * comes of it is a line that is refused with a word, or one that is run again; the sums must agree, and the same log must
 * give the same ones twice. What else may go wrong is for the sanitizers to see: each log has memory of just its size.
 *
 * A plain program: the same rounds every time, 12,000 or SVMX_FUZZ_ROUNDS. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <inttypes.h>
#include <svmx/svmx.h>

enum { LINES = 6 };

/* ---- a log -------------------------------------------------------------------------------------------------------- */

#define CPU "\"device\":0,\"backend\":\"simd\",\"name\":\"cpu\",\"place\":\"host\""
#define GPU "\"device\":1,\"backend\":\"opencl\",\"name\":\"a \\\"g\\u20acpu\\\"\",\"place\":\"device\""

static void write_log(struct text *text) {
    static const char *const ops[] = {"keccak256", "sum_f32"};
    text->length = 0;
    for (int i = 0; i < LINES; i++) {
        const bool gpu = below(2);
        const uint64_t units = UINT64_C(1) << below(20), ns = 1 + below(1000000);
        text->length += (size_t)snprintf(
            text->bytes + text->length, FUZZ_ROOM - text->length,
            "{\"number\":%d,\"tag\":%zu,\"operation\":\"%s\",%s,\"policy\":\"auto\",\"why\":\"%s\",\"tasks\":1,"
            "\"units\":%" PRIu64 ",\"work\":%" PRIu64
            ",\"bytes_in\":64,\"bytes_out\":32,\"redone\":0,\"reason\":\"\",\"learned\":true,"
            "\"first_use\":false,\"contended\":false,\"setup_ns\":1,\"transfer_ns\":2,\"compute_ns\":%" PRIu64 ",%s"
            "\"candidates\":[{" CPU ",\"verdict\":\"%s\",\"expected_ns\":5,\"backlog_ns\":0},{" GPU
            ",\"verdict\":\"%s\",\"expected_ns\":7,\"backlog_ns\":9}]}\n",
            i, below(3), ops[below(2)], gpu ? GPU : CPU, below(4) ? "best" : "probe", units, units, ns,
            gpu && below(2) ? "\"shadow\":[{\"device\":0,\"ns\":77}]," : "", gpu ? "slower" : "chosen",
            gpu ? "chosen" : "unmeasured");
    }
}

/* ---- changes ------------------------------------------------------------------------------------------------------ */

static const char *const words[] = {"nan",
                                    "-1",
                                    "0",
                                    "1e308",
                                    "1.5",
                                    "99999999999999999999",
                                    "18446744073709551615",
                                    "1125899906842623",
                                    ",",
                                    ":",
                                    "\"",
                                    "{",
                                    "}",
                                    "[",
                                    "]",
                                    "[[[[[[[[[[",
                                    "\\u0000",
                                    "\\ud800",
                                    "\\",
                                    "\n",
                                    "\r\n",
                                    "\t",
                                    " ",
                                    "\xff",
                                    "\xc3\xa9",
                                    "true",
                                    "false",
                                    "null",
                                    "\"auto\"",
                                    "\"gpu\"",
                                    "\"chosen\"",
                                    "\"not_ready\"",
                                    "\"host\"",
                                    "\"device\":3",
                                    "\"units\":0,",
                                    "\"shadow\":[{\"device\":1,\"ns\":18446744073709551615}],",
                                    "\"candidates\":[],",
                                    "{}\n",
                                    "a name that is longer than any device may have, by far"};

FUZZ_WORDS(words)

/* A value is what stands between ':' or ',' and the next of these. */
static void replace_value(struct text *text) {
    const char *word = some_word();
    size_t at = below(text->length), cut = 0;
    while (at > 0 && !strchr(":,", text->bytes[at - 1])) at--;
    while (at + cut < text->length && !strchr(",}]", text->bytes[at + cut])) cut++;
    splice(text, at, cut, word, strlen(word));
}

static const struct {
    const char *name;
    void (*make)(struct text *text);
} changes[] = {{"bytes changed", change_byte},
               {"words put in", insert_word},
               {"values replaced", replace_value},
               {"pieces left out", drop_some},
               {"cut short", cut_short}};
enum { CHANGES = sizeof changes / sizeof *changes };

/* ---- what has to hold --------------------------------------------------------------------------------------------- */

/* Lines that were told to be bad. */
struct told {
    uint64_t count, last;
    bool sound; /* in order, each with a reason */
};

static void note(void *user, uint64_t line, const char *reason) {
    struct told *told = user;
    told->count++;
    told->sound = told->sound && line > told->last && *reason && strlen(reason) < 500;
    told->last = line;
}

static struct svmx_replay run(const struct text *text, struct told *told, struct tally *tally) {
    const struct svmx_replay_options options = {.size = sizeof options, .bad = note, .user = told};
    struct svmx_replay sums = {.size = sizeof sums};
    char *exact = fuzz_exact(text->bytes, text->length);
    *told = (struct told){.sound = true};
    expect(tally, svmx_replay(exact, text->length, &options, &sums, NULL, 0, NULL) == SVMX_OK, "a log is run", "");
    free(exact);
    return sums;
}

static void look_at_text(const struct text *text, struct tally *tally) {
    struct told told, again;
    const struct svmx_replay sums = run(text, &told, tally), other = run(text, &again, tally);
    tally->taken += sums.lines - sums.bad_lines;
    tally->refused += sums.bad_lines;
    expect(tally, memcmp(&sums, &other, sizeof sums) == 0, "the same log gives the same sums", "");
    expect(tally, told.count == sums.bad_lines && told.sound, "bad lines are told in order, with a reason", "");
    expect(tally, sums.lines == sums.bad_lines + sums.batches + sums.shadows, "every line is counted once", "");
    expect(tally, sums.batches == sums.same + sums.different + sums.forced, "every batch is", "");
    expect(tally, sums.compared <= sums.batches && sums.unknown <= sums.batches && sums.probes <= sums.batches,
           "no part is more than the whole", "");
    expect(tally, sums.compared > 0 || sums.oracle_ns + sums.compared_ns == 0, "no time without a comparison", "");
}

static void round_of(void (*make)(struct text *text), struct tally *tally) {
    static struct text text;
    write_log(&text);
    for (size_t i = 1 + below(3); i > 0; i--) make(&text);
    look_at_text(&text, tally);
}

FUZZ_TEXT_ENTRY(look_at_text)

int main(void) {
    const unsigned long rounds = fuzz_rounds(12000);
    unsigned passed = 0;
    for (size_t c = 0; c < CHANGES; c++) {
        struct tally tally = {0, 0, 0};
        for (unsigned long i = 0; i < rounds / CHANGES; i++) round_of(changes[c].make, &tally);
        passed += fuzz_tell(changes[c].name, &tally);
    }
    return fuzz_end(passed, CHANGES - passed);
}
