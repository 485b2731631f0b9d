/*
 * test_operations_doc.c: docs/OPERATIONS.md says of every operation what the table says, of no other, and is complete.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/op.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *page;

static void read_page(void) {
    const char *folder = getenv("SVMX_TEST_SRCDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/docs/OPERATIONS.md", folder ? folder : ".");
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s cannot be read; set SVMX_TEST_SRCDIR to the top of the sources", path);
    page = calloc(1, 1 << 20);
    cr_assert_not_null(page);
    const size_t bytes = fread(page, 1, (1 << 20) - 1, file);
    cr_assert(bytes > 0 && bytes < (1 << 20) - 1, "%s is empty or too long for this test", path);
    fclose(file);
}

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
