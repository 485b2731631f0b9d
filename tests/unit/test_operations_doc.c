/*
 * test_operations_doc.c: docs/OPERATIONS.md says of every operation what the table says, of no other, and is complete. Errors
 * that it quotes are what the checks say, and its constants those of the recipe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *page;

static char *read_source(const char *name) {
    const char *folder = getenv("SVMX_TEST_SRCDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", name);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s cannot be read; set SVMX_TEST_SRCDIR to the top of the sources", path);
    char *text = calloc(1, 1 << 20);
    cr_assert_not_null(text);
    const size_t bytes = fread(text, 1, (1 << 20) - 1, file);
    cr_assert(bytes > 0 && bytes < (1 << 20) - 1, "%s is empty or too long for this test", path);
    fclose(file);
    return text;
}

static void read_page(void) { page = read_source("docs/OPERATIONS.md"); }

static void free_page(void) { free(page); }

TestSuite(operations_doc, .init = read_page, .fini = free_page);

static void append(char *line, size_t room, const char *text) {
    cr_assert_lt(strlen(line) + strlen(text), room);
    strcat(line, text);
}

/* "digests u8[32][]", "data u8 ragged", "offsets u64 cuts", "k f32" */
static void append_param(char *line, size_t room, const struct svmx_param *param) {
    static const char *const types[] = {
        [SVMX_U8] = "u8", [SVMX_U32] = "u32", [SVMX_U64] = "u64", [SVMX_F32] = "f32", [SVMX_F64] = "f64"};
    static const char *const shapes[] = {
        [SVMX_ARRAY] = "[]", [SVMX_SCALAR] = "", [SVMX_RAGGED] = " ragged", [SVMX_OFFSETS] = " cuts"};
    char record[16] = "", text[96];
    if (param->record > 1) snprintf(record, sizeof record, "[%u]", param->record);
    snprintf(text, sizeof text, "%s %s%s%s", param->name, types[param->type], record, shapes[param->shape]);
    append(line, room, text);
}

static void signature(const struct svmx__op *op, char *line, size_t room) {
    snprintf(line, room, "\n    %s: ", op->name);
    for (uint32_t i = 0; i < op->param_count; i++) {
        if (i > 0) append(line, room, op->params[i].direction == op->params[i - 1].direction ? ", " : " <- ");
        append_param(line, room, &op->params[i]);
    }
    append(line, room, "\n");
}

/* What stands between this operation's heading and the next. */
static char *section(const char *name) {
    char heading[64];
    snprintf(heading, sizeof heading, "\n### %s\n", name);
    char *begin = strstr(page, heading);
    cr_assert_not_null(begin, "OPERATIONS.md has no heading '### %s'", name);
    const char *end = strstr(begin + 1, "\n##");
    return strndup(begin, end ? (size_t)(end - begin) : strlen(begin));
}

Test(operations_doc, every_operation_has_its_signature_and_numbers) {
    for (uint32_t i = 0; i < svmx__op_count(); i++) {
        const struct svmx__op *op = svmx__op_at(i);
        char line[512], facts[256];
        char *text = section(op->name);
        signature(op, line, sizeof line);
        cr_assert(strstr(text, line), "the entry of %s lacks its signature:%s", op->name, line);
        snprintf(facts, sizeof facts, "\nNumber %u. Sized in %ss. Scratch: %u bytes a unit.\n", op->id, op->unit,
                 op->scratch_bytes_per_unit);
        cr_assert(strstr(text, facts), "the entry of %s lacks this line:%s", op->name, facts);
        free(text);
    }
}

/* An operation whose library was missing when this was built has an entry that names the library. */
static _Bool may_be_left_out(const char *name) {
    char *text = section(name);
    const _Bool needs_library = strstr(text, "Library: ") != NULL;
    free(text);
    return needs_library;
}

Test(operations_doc, every_entry_is_an_operation_and_is_in_the_contents) {
    unsigned entries = 0;
    for (const char *at = strstr(page, "\n### "); at; at = strstr(at + 1, "\n### ")) {
        char name[64], link[160];
        cr_assert_eq(sscanf(at, "\n### %63[^\n]", name), 1);
        const _Bool found = svmx__op_by_name(name) != NULL;
        cr_assert(found || may_be_left_out(name), "OPERATIONS.md has an entry '%s', the table has not", name);
        snprintf(link, sizeof link, "[%s](#%s)", name, name);
        cr_assert(strstr(page, link), "the contents lack %s", link);
        entries += found;
    }
    cr_assert_eq(entries, svmx__op_count());
}

/* The first @WORD@ in a text, or NULL: what somebody meant to fill in. */
static const char *placeholder(const char *text) {
    for (const char *at = strchr(text, '@'); at; at = strchr(at + 1, '@')) {
        const size_t length = strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        if (length > 0 && at[1 + length] == '@') return at;
    }
    return NULL;
}

Test(operations_doc, nothing_is_left_to_be_filled_in) {
    cr_assert_not_null(placeholder("a table: @ERRORS@\n"));
    cr_assert_null(placeholder("someone@example.org, A@B C@, @@"));
    const char *left = placeholder(page);
    cr_assert_null(left, "OPERATIONS.md still has %.30s", left ? left : "");
}

/* ---- errors ------------------------------------------------------------------------------------------------- */

static uint8_t room[4096];

static struct svmx_slot of(uint64_t bytes) { return slot(room, bytes); }
static struct svmx_slot word(uint64_t value) { return (struct svmx_slot){value, 8}; }

static struct svmx_slot number(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (struct svmx_slot){bits, 4};
}

/* Arguments that bring an error, and its text. */
struct quoted {
    const char *op, *text;
    struct svmx_slot slots[SVMX__MAX_PARAMS];
};

/* What a quotation in the entry of `op` is tried with; calls `visit` for each. */
static void each_quoted(void (*visit)(const struct quoted *quoted, void *user), void *user) {
    static const uint64_t even[4] = {2}, three[4] = {3}, none[4] = {0}, past[] = {0, 50, 101};
    uint64_t down[20];
    for (unsigned i = 0; i < 20; i++) down[i] = i == 17 ? 5 : 9;
    const uint64_t half = UINT64_C(1) << 32;
    const struct svmx_slot u32_0 = scalar_u32(0), m3 = slot(three, 32);
    const struct quoted all[] = {
        {"vec_add_f32", "b has 5 items but out has 4: give both the same length", {of(16), of(16), of(20)}},
        {"axpy_f32", "y has 5 items but out has 4: give both the same length", {of(16), of(16), of(20), number(1)}},
        {"clip_f32", "low = 2 is greater than high = -1: swap them", {of(8), of(8), number(2), number(-1)}},
        {"clip_f32",
         "low is not a number: give an infinity where there is no limit",
         {of(8), of(8), number(NAN), number(1)}},
        {"sum_f32", "out has 2 items but must have 1", {of(8), of(16)}},
        {"dot_f32", "out has 2 items but must have 1", {of(8), of(8), of(8)}},
        {"dot_f32", "b has 3 items but a has 2: give both the same length", {of(4), of(8), of(12)}},
        {"max_f32", "out has 2 items but must have 1", {of(8), of(16)}},
        {"max_abs_diff_f32", "out has 2 items but must have 1", {of(8), of(8), of(8)}},
        {"max_abs_diff_f32", "b has 3 items but a has 2: give both the same length", {of(4), of(8), of(12)}},
        {"softmax_f32", "width is 0: give the elements of a row, 1 or more", {of(96), of(96), word(0)}},
        {"softmax_f32", "a has 24 items, which are no whole rows of width 7", {of(96), of(96), word(7)}},
        {"softmax_f32", "a has 12 items but out has 24: give both the same length", {of(96), of(48), word(12)}},
        {"matmul_f32", "a has 5 items but must have 6", {of(32), of(20), of(48), word(2), word(3), word(4)}},
        {"matmul_f32",
         "b cannot have 1 x 4294967296 x 4294967296 items: make the matrices smaller",
         {of(4 * half), of(4 * half), of(0), word(1), word(half), word(half)}},
        {"mod_mul_u256",
         "modulus is even: it must be odd and greater than 1",
         {of(32), of(32), of(32), slot(even, 32)}},
        {"mod_mul_u256", "modulus has 2 items but must have 1", {of(32), of(32), of(32), of(64)}},
        {"mod_add_u256", "b has 5 items but out has 4: give both the same length", {of(128), of(128), of(160), m3}},
        {"goldilocks_add", "b has 5 items but out has 4: give both the same length", {of(32), of(32), of(40)}},
        {"sha256",
         "offsets has 3 entries but must have 4: one more than the 3 digests of 32 bytes",
         {of(96), of(0), slot(none, 24)}},
        {"sha256",
         "offsets[17] = 5 is less than offsets[16] = 9: they must not decrease",
         {of(32 * 19), of(100), slot(down, sizeof down)}},
        {"keccak256",
         "offsets[2] = 101 lies past the end of data, which has 100 bytes",
         {of(64), of(100), slot(past, sizeof past)}},
        {"merkle_root_sha256", "leaves is empty: a tree has one leaf at least", {of(32), of(0), u32_0}},
        {"merkle_root_sha256", "root has 2 items but must have 1", {of(64), of(32), u32_0}},
        {"merkle_tree_sha256", "nodes has 4 items but must have 6", {of(128), of(160), u32_0}},
        {"merkle_tree_sha256", "odd is 2 but must be 0 (duplicate) or 1 (promote)", {of(192), of(160), scalar_u32(2)}},
        {"ecrecover",
         "r has 2 items but address has 3: give both the same length",
         {of(60), of(3), of(96), of(96), of(64), of(96)}},
        {"ed25519_verify",
         "offsets has 2 entries but must have 3: one more than the 2 messages",
         {of(2), of(64), of(128), of(100), slot(none, 16)}},
        {"ed25519_verify",
         "offsets[2] = 101 lies past the end of message, which has 100 bytes",
         {of(2), of(64), of(128), of(100), slot(past, sizeof past)}},
        {"grid_transpose_u8",
         "a grid of 0 x 5 has no cell: height and width must be at least 1",
         {of(0), of(0), u32_0, scalar_u32(5)}},
        {"grid_transpose_u8",
         "grids has 901 bytes, which is no whole number of grids of 30 x 30 = 900",
         {of(901), of(901), scalar_u32(30), scalar_u32(30)}},
        {"grid_transpose_u8",
         "grids has 5 items but out has 4: give both the same length",
         {of(4), of(5), scalar_u32(1), scalar_u32(1)}},
        {"grid_rotate_u8",
         "quarter_turns is 4 but must be 1 to 3",
         {of(4), of(4), scalar_u32(2), scalar_u32(2), scalar_u32(4)}},
        {"grid_flip_u8", "axis is 2 but must be 0 to 1", {of(4), of(4), scalar_u32(2), scalar_u32(2), scalar_u32(2)}},
        {"eigh_f64", "order is 33 but must be 2 to 32", {of(0), of(0), of(0), scalar_u32(33)}},
        {"eigh_f64", "values has 7 items but must have 8", {of(56), of(256), of(256), scalar_u32(4)}},
        {"eigh_f64",
         "matrices has 10 elements, which is no whole number of matrices of order 3",
         {of(24), of(72), of(80), scalar_u32(3)}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) visit(&all[i], user);
}

static void try_quoted(const struct quoted *quoted, void *user) {
    char marked[160];
    const struct svmx__op *op = svmx__op_by_name(quoted->op);
    (void)user;
    snprintf(marked, sizeof marked, "`%s`", quoted->text);
    cr_assert(strstr(page, marked), "OPERATIONS.md does not quote %s", quoted->text);
    if (!op) return; /* its library was missing when this was built */
    struct svmx__size size;
    struct svmx__text why = {""};
    const enum svmx_status status = op->check(quoted->slots, &size, &why);
    cr_assert(status == SVMX_ERR_ARGUMENT || status == SVMX_ERR_OVERFLOW, "%s takes: %s", quoted->op, quoted->text);
    cr_assert_str_eq(why.line, quoted->text);
}

Test(operations_doc, errors_that_it_quotes_are_those_of_the_checks) { each_quoted(try_quoted, NULL); }

/* A quotation on the page, and whether it was found among those that are tried. */
struct looked_for {
    const char *text;
    _Bool found;
};

static void look_at(const struct quoted *quoted, void *user) {
    struct looked_for *looked_for = user;
    if (strcmp(quoted->text, looked_for->text) == 0) looked_for->found = 1;
}

static _Bool is_error(const char *text) {
    static const char *const words[] = {" must ",  ": give ",        " lies past ",   " no whole ",
                                        ": swap ", " is less than ", " cannot have ", " is empty"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i])) return 1;
    return 0;
}

Test(operations_doc, no_error_is_quoted_that_is_not_tried) {
    unsigned errors = 0;
    for (char *line = strtok(page, "\n"); line; line = strtok(NULL, "\n")) {
        for (char *at = strchr(line, '`'), *end; at && (end = strchr(at + 1, '`')); at = strchr(end + 1, '`')) {
            char text[256];
            snprintf(text, sizeof text, "%.*s", (int)(end - at - 1), at + 1);
            if (!is_error(text)) continue;
            struct looked_for looked_for = {text, 0};
            each_quoted(look_at, &looked_for);
            cr_assert(looked_for.found, "OPERATIONS.md quotes `%s`, and nobody tries it", text);
            errors++;
        }
    }
    cr_assert_geq(errors, 30);
}

/* ---- constants ---------------------------------------------------------------------------------------------- */

static const char *next_constant(const char *at) { return strstr(at, "0x1."); }

static _Bool has_constant(const char *text, double value) {
    for (const char *at = next_constant(text); at; at = next_constant(at + 1))
        if (strtod(at, NULL) == value) return 1;
    return 0;
}

/* Both ways: a recipe is its constants. */
Test(operations_doc, constants_of_the_exponential_are_those_of_the_code) {
    char *code = read_source("src/ops/recipe_f32.h");
    const char *const texts[2] = {page, code};
    for (unsigned i = 0; i < 2; i++)
        for (const char *at = next_constant(texts[i]); at; at = next_constant(at + 1))
            cr_assert(has_constant(texts[1 - i], strtod(at, NULL)), "%.16s is only %s", at,
                      i ? "in recipe_f32.h" : "in OPERATIONS.md");
    free(code);
}
