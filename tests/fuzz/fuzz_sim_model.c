/*
 * fuzz_sim_model.c: texts that are almost models: those that are shipped, with bytes, words and lines changed, moved and
 * left out. Whatever comes of it is refused with a line that says why, or is a model whose costs are sound. What else may
 * go wrong is for the sanitizers to see: each text has memory of just its size.
 *
 * A plain program: the same rounds every time, 200,000 or SVMX_FUZZ_ROUNDS. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/sim/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 16384, SHOWN = 5 };

/* What came of one of the originals. */
struct tally {
    unsigned long taken, refused, bad;
};

static struct sim_random dice = {20240607};

static void expect(struct tally *tally, bool condition, const char *what, const char *detail) {
    if (condition) return;
    if (++tally->bad <= SHOWN) fprintf(stderr, "failed: %s: %s\n", what, detail);
}

static size_t below(size_t limit) { return limit ? (size_t)(sim_random_next(&dice) % limit) : 0; }

/* ---- changes ---------------------------------------------------------------------------------------------- */

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

static const char *const words[] = {"nan",
                                    "inf",
                                    "-1",
                                    "0",
                                    "1e308",
                                    "0x1p3",
                                    "99999999999999999999",
                                    "0.0000000000000001",
                                    "1000000",
                                    ",",
                                    ".",
                                    "#",
                                    "\n",
                                    "\r\n",
                                    "\t",
                                    " ",
                                    "ns",
                                    "us",
                                    "ms",
                                    "s",
                                    "x",
                                    "%",
                                    "GB/s",
                                    "work/ns",
                                    "cpu ",
                                    "op ",
                                    "op * ",
                                    "at ",
                                    "launch ",
                                    "slow ",
                                    "table ",
                                    "rate ",
                                    "fixed ",
                                    "lanes ",
                                    "memory shared\n",
                                    "memory separate\n",
                                    "name a\n",
                                    "seed 7\n",
                                    "contention 2 1 s, 3 2 s\n",
                                    "jitter 100 %\n",
                                    "outliers 100 % 1000000 x\n",
                                    "at launch 0 slow 1000000 x\n",
                                    "cpu op x table 1 1 ns, 2 1000000 s\n",
                                    "op y rate 0.000000001 work/ns fixed 1000000 s lanes 1000000000\n"};

static void change_byte(struct text *text) {
    if (text->length) text->bytes[below(text->length)] = (char)sim_random_next(&dice);
}

static void insert_word(struct text *text) {
    const char *word = words[below(sizeof words / sizeof *words)];
    splice(text, below(text->length + 1), 0, word, strlen(word));
}

static void replace_word(struct text *text) {
    const char *word = words[below(sizeof words / sizeof *words)];
    size_t at = below(text->length), cut = 0;
    while (at + cut < text->length && !strchr(" ,\n", text->bytes[at + cut])) cut++;
    splice(text, at, cut, word, strlen(word));
}

/* A line, from the one at a place. */
static size_t line_start(const struct text *text, size_t at) {
    while (at > 0 && text->bytes[at - 1] != '\n') at--;
    return at;
}

static size_t line_length(const struct text *text, size_t start) {
    size_t length = 0;
    while (start + length < text->length && text->bytes[start + length] != '\n') length++;
    return start + length < text->length ? length + 1 : length;
}

static void drop_line(struct text *text) {
    const size_t start = line_start(text, below(text->length));
    splice(text, start, line_length(text, start), "", 0);
}

static void repeat_line(struct text *text) {
    char line[256];
    const size_t start = line_start(text, below(text->length)), length = line_length(text, start);
    if (length > sizeof line) return;
    memcpy(line, text->bytes + start, length);
    splice(text, line_start(text, below(text->length)), 0, line, length);
}

static void cut_short(struct text *text) { text->length = below(text->length + 1); }

static void change(struct text *text) {
    static void (*const changes[])(struct text *) = {change_byte, insert_word, replace_word, replace_word,
                                                     drop_line,   repeat_line, insert_word,  change_byte};
    const size_t count = 1 + below(4);
    for (size_t i = 0; i < count; i++) changes[below(sizeof changes / sizeof *changes)](text);
    if (below(50) == 0) cut_short(text);
}

/* ---- what has to hold ------------------------------------------------------------------------------------- */

static bool sound(const struct sim_model *model) {
    static const char *const ops[] = {"vec_add_f32", "keccak256", "x", "y", "", NULL};
    const uint64_t limit = UINT64_C(1) << 60;
    for (int i = 0; i < 8; i++) {
        const struct sim_load load = {.op = ops[below(6)],
                                      .units = sim_random_next(&dice) >> below(64),
                                      .work = sim_random_next(&dice) >> below(64),
                                      .bytes_in = sim_random_next(&dice) >> below(64),
                                      .bytes_out = sim_random_next(&dice) >> below(64),
                                      .tasks = (uint32_t)below(1u << 20),
                                      .submitters = (uint32_t)below(100)};
        const enum sim_side side = below(2) ? SIM_GPU : SIM_CPU;
        const uint64_t now = sim_random_next(&dice) >> below(64), launch = below(1000);
        struct sim_random one = {model->seed}, two = {model->seed};
        struct sim_cost cost, again;
        sim_model_cost(model, side, &load, now, launch, &one, &cost);
        sim_model_cost(model, side, &load, now, launch, &two, &again);
        if (memcmp(&cost, &again, sizeof cost) != 0) return false;
        if (cost.create_ns > limit || cost.upload_ns > limit || cost.dispatch_ns > limit || cost.compute_ns > limit ||
            cost.readback_ns > limit)
            return false;
    }
    return true;
}

static void round_of(const char *original, struct tally *tally) {
    static struct text text;
    static struct sim_model model;
    char why[400] = "";
    text.length = strlen(original);
    memcpy(text.bytes, original, text.length);
    change(&text);
    char *exact = malloc(text.length ? text.length : 1);
    if (!exact) exit(2);
    memcpy(exact, text.bytes, text.length);
    if (sim_model_parse(&model, exact, text.length, why, sizeof why)) {
        tally->taken++;
        expect(tally, model.name[0] && sound(&model), "a model that was taken is sound", model.name);
    } else {
        tally->refused++;
        expect(tally,
               strstr(why, "write") || strstr(why, "leave") || strstr(why, "round it") || strstr(why, "no model") ||
                   strstr(why, "only comments"),
               "a refusal says what to do", why);
    }
    free(exact);
}

/* An original passes if all that was made of it did, and if some was taken and some refused: rounds that end alike show
 * little. */
int main(void) {
    const char *wish = getenv("SVMX_FUZZ_ROUNDS"), *name;
    const unsigned long rounds = wish ? strtoul(wish, NULL, 10) : 200000;
    unsigned passed = 0, failed = 0, models = 0;
    while (sim_model_builtin_name(models)) models++;
    for (uint32_t m = 0; (name = sim_model_builtin_name(m)); m++) {
        struct tally tally = {0, 0, 0};
        for (unsigned long i = 0; i < rounds / models; i++) round_of(sim_model_builtin(name), &tally);
        const bool good = tally.bad == 0 && tally.taken > 0 && tally.refused > 0;
        good ? passed++ : failed++;
        printf("%s: %lu taken, %lu refused, %lu wrong\n", name, tally.taken, tally.refused, tally.bad);
    }
    printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
