/*
 * fuzz_profile.c: texts that are almost profiles: one that executors could have written, with bytes, words and lines
 * changed, moved and left out, mostly with a checksum that is right again, so that all of the parser is reached. Whatever
 * comes of it is refused with a word, or its records are sound, and are the same when they are written and read again. What
 * else may go wrong is for the sanitizers to see: each text has memory of just its size.
 *
 * A plain program: the same rounds every time, 200,000 or SVMX_FUZZ_ROUNDS. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../unit/profile_fixture.h"

enum { ROOM = 8192, SHOWN = 5 };

static struct { unsigned long taken, refused, bad; } tally;

static void expect(bool condition, const char *what, const char *detail) {
    if (condition) return;
    if (++tally.bad <= SHOWN) (void)fprintf(stderr, "failed: %s: %s\n", what, detail);
}

/* xorshift64*: the same numbers everywhere. */
static uint64_t dice = 20261117;

static uint64_t next(void) {
    dice ^= dice >> 12;
    dice ^= dice << 25;
    dice ^= dice >> 27;
    return dice * UINT64_C(2685821657736338717);
}

static size_t below(size_t limit) { return limit ? (size_t)((next() >> 16) % limit) : 0; }

/* ---- changes ---------------------------------------------------------------------------------------------------- */

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

static const char *some_word(void) { return words[below(sizeof words / sizeof *words)]; }

static void change_byte(struct text *text) {
    if (text->length) text->bytes[below(text->length)] = (char)next();
}

/* To another digit: the text stays one that could be a profile. */
static void change_digit(struct text *text) {
    for (int tries = 0; tries < 20 && text->length; tries++) {
        char *at = &text->bytes[below(text->length)];
        if (*at < '0' || *at > '9') continue;
        *at = (char)('0' + below(10));
        return;
    }
}

static void insert_word(struct text *text) {
    const char *word = some_word();
    splice(text, below(text->length + 1), 0, word, strlen(word));
}

static void replace_word(struct text *text) {
    const char *word = some_word();
    size_t at = below(text->length), cut = 0;
    while (at > 0 && !strchr(" \n", text->bytes[at - 1])) at--;
    while (at + cut < text->length && !strchr(" \n", text->bytes[at + cut])) cut++;
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
    char line[600];
    const size_t start = line_start(text, below(text->length)), length = line_length(text, start);
    if (length > sizeof line) return;
    memcpy(line, text->bytes + start, length);
    splice(text, line_start(text, below(text->length)), 0, line, length);
}

static void stretch_line(struct text *text) {
    char blanks[600];
    memset(blanks, 'x', sizeof blanks);
    splice(text, below(text->length + 1), 0, blanks, below(sizeof blanks));
}

static void change(struct text *text) {
    static void (*const changes[])(struct text *) = {change_byte,  change_digit, change_digit, insert_word,
                                                     replace_word, replace_word, drop_line,    repeat_line,
                                                     stretch_line, change_digit};
    const size_t count = 1 + below(3);
    for (size_t i = 0; i < count; i++) changes[below(sizeof changes / sizeof *changes)](text);
    if (below(50) == 0) text->length = below(text->length + 1);
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

static void round_of(const char *original, size_t original_length) {
    static struct text text;
    struct svmx__profile_records records = {0};
    struct svmx__text why = {""};
    text.length = original_length;
    memcpy(text.bytes, original, text.length);
    change(&text);
    if (below(8)) mend(&text);
    char *exact = malloc(text.length ? text.length : 1);
    if (!exact) exit(2);
    memcpy(exact, text.bytes, text.length);
    if (svmx__profile_parse(&records, exact, text.length, &why) == SVMX_OK) {
        tally.taken++;
        expect(is_sound(&records), "what was taken is sound", "");
        expect(comes_back(&records), "what was taken comes back as it is", "");
    } else {
        tally.refused++;
        expect(why.line[0] != '\0', "a refusal says why", "");
        expect(!records.devices && !records.cells, "a refusal leaves nothing", why.line);
    }
    svmx__profile_records_free(&records);
    free(exact);
}

/* Passes if nothing was wrong, and if some was taken and some refused: rounds that end alike show little. */
int main(void) {
    const char *wish = getenv("SVMX_FUZZ_ROUNDS");
    const unsigned long rounds = wish ? strtoul(wish, NULL, 10) : 200000;
    size_t length = 0;
    char *original = some_text(&length);
    if (!original || length > ROOM) return 2;
    for (unsigned long i = 0; i < rounds; i++) round_of(original, length);
    free(original);
    const bool good = tally.bad == 0 && tally.taken > 0 && tally.refused > 0;
    printf("%lu taken, %lu refused, %lu wrong\n", tally.taken, tally.refused, tally.bad);
    printf("%d passed, %d failed, 0 skipped\n", good, !good);
    return good ? 0 : 1;
}
