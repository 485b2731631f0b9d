/*
 * fuzz_selection.c: texts that are almost SUPERVM_BACKENDS. Whatever comes of it is refused with a word, or is a selection
 * whose answers are sound: a name is wanted or not, a rank is below the number of items, and a device is counted for one item
 * at most.
 *
 * A plain program: the same rounds every time, 100,000 or SVMX_FUZZ_ROUNDS. Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plugin/selection.h"

#include "fuzz.h"

static const char *const originals[] = {"",
                                        "none",
                                        "simd",
                                        "^opencl,sim",
                                        "opencl:gpu,simd,stop",
                                        "+opencl:03:00.0,-levelzero,simd",
                                        "levelzero:arc a770*2,opencl:*,reference",
                                        " opencl:0 , opencl:1 , +simd , stop "};
static const char *const words[] = {",",
                                    ":",
                                    "*",
                                    "^",
                                    "+",
                                    "-",
                                    " ",
                                    "none",
                                    "stop",
                                    "gpu",
                                    "cpu",
                                    "0",
                                    "*2",
                                    "*0",
                                    "::",
                                    "simd",
                                    "sim",
                                    "\t",
                                    "\n",
                                    "\xff",
                                    "SIMD",
                                    "_",
                                    "-sim",
                                    "reference",
                                    ",,",
                                    "03:00.0",
                                    "4294967296",
                                    "99999999999",
                                    "a name that is longer than any backend may have"};
FUZZ_WORDS(words)

static void replace_word(struct text *text) { replace_between(text, ",:*", some_word()); }

static void look_at(const struct svmx__selection *selection, struct tally *tally) {
    static const char *const names[] = {"simd", "opencl", "levelzero", "sim", "other", SVMX__REFERENCE_NAME};
    const struct svmx_device_info info = {.size = sizeof info, .name = "Arc A770", .pci = "0000:03:00.0"};
    uint32_t *taken = calloc(selection->item_count + 1, sizeof *taken);
    if (!taken) exit(2);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        uint32_t rank = 0, sum = 0;
        const enum svmx__wish wish = svmx__selection_backend(selection, names[n], below(2), &rank);
        expect(tally, wish <= SVMX__DEMANDED, "a wish is one of three", names[n]);
        expect(tally, wish == SVMX__UNWANTED || rank <= selection->item_count || rank == UINT32_MAX, "a rank",
               names[n]);
        if (wish == SVMX__UNWANTED) continue;
        for (uint32_t i = 0; i <= selection->item_count; i++) taken[i] = 0;
        for (uint32_t d = 0; d < 3; d++) (void)svmx__selection_device(selection, names[n], d, &info, taken, &rank);
        for (uint32_t i = 0; i < selection->item_count; i++) sum += taken[i];
        expect(tally, sum <= 3 && taken[selection->item_count] == 0, "a device is counted once", names[n]);
    }
    free(taken);
}

static void look_at_text(struct text *text, struct tally *tally) {
    struct svmx__selection selection = {0};
    struct svmx__text why = {""};
    if (text->length == FUZZ_ROOM) text->length--;
    splice(text, text->length, 0, "", 1); /* its end */
    char *exact = fuzz_exact(text->bytes, text->length);
    if (svmx__selection_parse(&selection, exact, "SUPERVM_BACKENDS", &why) == SVMX_OK) {
        tally->taken++;
        look_at(&selection, tally);
    } else {
        tally->refused++;
        expect(tally, strstr(why.line, "SUPERVM_BACKENDS") != NULL, "a refusal names the variable", why.line);
    }
    svmx__selection_free(&selection);
    free(exact);
}

static void round_of(struct tally *tally) {
    static void (*const changes[])(struct text *) = {change_byte,  insert_word, insert_word, replace_word,
                                                     repeat_piece, drop_some,   cut_short};
    static struct text text;
    const char *original = originals[below(sizeof originals / sizeof *originals)];
    text_set(&text, original, strlen(original));
    fuzz_change(&text, changes, sizeof changes / sizeof *changes, 3);
    look_at_text(&text, tally);
}

FUZZ_TEXT_ENTRY(look_at_text)

int main(void) {
    struct tally tally = {0, 0, 0};
    for (unsigned long i = fuzz_rounds(100000); i > 0; i--) round_of(&tally);
    return fuzz_end_of("selections", &tally);
}
