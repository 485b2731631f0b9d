/*
 * fuzz_profile.c: texts that are almost profiles: one that executors could have written, with bytes, words and lines
 * changed, moved and left out, mostly with a checksum that is right again, so that all of the parser is reached. Whatever
 * comes of it is refused with a word, or its records are sound, and are the same when they are written and read again. What
 * else may go wrong is for the sanitizers to see: each text has memory of just its size.
 *
 * A plain program: the same rounds every time, 40,000 or SVMX_FUZZ_ROUNDS. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../unit/profile_fixture.h"
#include "fuzz.h"

static struct tally tally;

/* ---- changes ---------------------------------------------------------------------------------------------------- */

static const char *const words[] = {"nan",
                                    "inf",
                                    "-1",
                                    "0",
                                    "1",
                                    "7",
                                    "39",
                                    "40",
                                    "1e308",
                                    "0x1p3",
                                    "4294967295",
                                    "4294967296",
                                    "99999999999999999999",
                                    "0.001",
                                    "0.0001",
                                    "1000000000000000",
                                    "1000000000000000.001",
                                    "0.5",
                                    ".",
                                    ",",
                                    "#",
                                    "\n",
                                    "\r\n",
                                    "\t",
                                    " ",
                                    "%",
                                    "%41",
                                    "%0",
                                    "sha256",
                                    "keccak256",
                                    "a",
                                    "Z",
                                    "end",
                                    "cell",
                                    "device",
                                    "\ndevice\n",
                                    "link 1 1\n",
                                    "backend x\n",
                                    "# comment\n",
                                    "\nend 0 0\n",
                                    "svmx-profile 2",
                                    "cell sha256 4 6 31 81 40 99 10 20 51 0 768\n"};

FUZZ_WORDS(words)

static void replace_word(struct text *text) { replace_between(text, " \n", some_word()); }

static void stretch_line(struct text *text) {
    char blanks[600];
    memset(blanks, 'x', sizeof blanks);
    splice(text, below(text->length + 1), 0, blanks, below(sizeof blanks));
}

static void change(struct text *text) {
    static void (*const changes[])(struct text *) = {change_byte,  change_digit, change_digit, insert_word,
                                                     replace_word, replace_word, drop_line,    repeat_line,
                                                     stretch_line, change_digit};
    fuzz_change(text, changes, sizeof changes / sizeof *changes, 3);
    if (below(50) == 0) cut_short(text);
}

/* Makes number of cells and checksum fit, where the last line is still one. */
static void mend(struct text *text) {
    char end[64];
    size_t cells = 0, start = text->length;
    for (size_t at = 0; at < text->length; at += line_length(text, at)) {
        if (text->length - at > 5 && memcmp(text->bytes + at, "cell ", 5) == 0) cells++;
        start = at;
    }
    if (text->length - start < 4 || memcmp(text->bytes + start, "end ", 4) != 0) return;
    const int length = snprintf(end, sizeof end, "end %zu 00000000000000000000000000000000\n", cells);
    splice(text, start, text->length - start, end, (size_t)length);
    checksum_mend(text->bytes, text->length);
}

/* ---- what has to hold ------------------------------------------------------------------------------------------- */

static bool is_sound(const struct svmx__profile_records *records) {
    for (size_t i = 0; i < records->device_count; i++) {
        const struct svmx__profile_device *device = &records->devices[i];
        if (device->measured && !svmx__profile_link_ok(device->latency_ns, device->bytes_per_ns)) return false;
    }
    for (size_t i = 0; i < records->cell_count; i++)
        if (records->cells[i].device >= records->device_count || !svmx__profile_cell_ok(&records->cells[i]))
            return false;
    return records->device_count <= SVMX__PROFILE_DEVICES;
}

/* Written, read and written again it is the same text. */
static bool comes_back(struct svmx__profile_records *records) {
    struct svmx__profile_records back = {0};
    const size_t devices = records->device_count, cells = records->cell_count;
    size_t length = 0, again_length = 0;
    char *text = svmx__profile_format(records, &length), *again = NULL;
    bool good = text && svmx__profile_parse(&back, text, length, NULL) == SVMX_OK && back.device_count == devices &&
                back.cell_count == cells;
    if (good) again = svmx__profile_format(&back, &again_length);
    good = good && again && again_length == length && memcmp(text, again, length) == 0;
    free(text);
    free(again);
    svmx__profile_records_free(&back);
    return good;
}

static void look_at_text(const struct text *text) {
    struct svmx__profile_records records = {0};
    struct svmx__text why = {""};
    char *exact = fuzz_exact(text->bytes, text->length);
    if (svmx__profile_parse(&records, exact, text->length, &why) == SVMX_OK) {
        tally.taken++;
        expect(&tally, is_sound(&records), "what was taken is sound", "");
        expect(&tally, comes_back(&records), "what was taken comes back as it is", "");
    } else {
        tally.refused++;
        expect(&tally, why.line[0] != '\0', "a refusal says why", "");
        expect(&tally, !records.devices && !records.cells, "a refusal leaves nothing", why.line);
    }
    svmx__profile_records_free(&records);
    free(exact);
}

static void round_of(const char *original, size_t original_length) {
    static struct text text;
    text_set(&text, original, original_length);
    change(&text);
    if (below(8)) mend(&text);
    look_at_text(&text);
}

#ifdef SVMX_LIBFUZZER
FUZZ_ENTRY(false)
static void fuzz_input(const uint8_t *bytes, size_t length, struct tally *found) {
    static struct text text;
    text_set(&text, bytes, length);
    mend(&text);
    tally = (struct tally){0, 0, 0};
    look_at_text(&text);
    *found = tally;
}
#endif

int main(void) {
    const unsigned long rounds = fuzz_rounds(40000);
    size_t length = 0;
    char *original = some_text(&length);
    if (!original || length > FUZZ_ROOM) return 2;
    for (unsigned long i = 0; i < rounds; i++) round_of(original, length);
    free(original);
    return fuzz_end_of("profiles", &tally);
}
