/*
 * test_json_read.c: the reader of one JSON text: what is right is read, what is wrong is refused with a word.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json_read.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct svmx__json json;

static void start(const char *text) { svmx__json_start(&json, text, strlen(text)); }

/* Is it a JSON text? The text is put into memory that ends with it, so that a sanitizer sees who reads on. */
static bool accepts(const char *text) {
    const size_t length = strlen(text);
    char *exact = malloc(length ? length : 1);
    cr_assert(exact);
    memcpy(exact, text, length);
    svmx__json_start(&json, exact, length);
    const bool read = svmx__json_skip(&json) && svmx__json_end(&json);
    cr_assert_eq(read, json.error == NULL);
    free(exact);
    return read;
}

Test(json_read, an_object_field_by_field) {
    char key[16], text[16];
    uint64_t number = 0;
    bool flag = false;
    start(" { \"n\" : 18446744073709551615 , \"t\":\"a\\n\\u00e9\", \"b\":true, \"o\":{\"x\":[1,{}]}, \"a\":[] } ");
    cr_assert(svmx__json_enter(&json, '{'));
    cr_assert(svmx__json_next(&json, key, sizeof key));
    cr_assert_str_eq(key, "n");
    cr_assert(svmx__json_u64(&json, &number));
    cr_assert_eq(number, UINT64_MAX);
    cr_assert(svmx__json_next(&json, key, sizeof key));
    cr_assert(svmx__json_text(&json, text, sizeof text));
    cr_assert_str_eq(text, "a\n\xc3\xa9");
    cr_assert(svmx__json_next(&json, key, sizeof key));
    cr_assert(svmx__json_bool(&json, &flag));
    cr_assert(flag);
    cr_assert(svmx__json_next(&json, key, sizeof key));
    cr_assert_str_eq(key, "o");
    cr_assert(svmx__json_skip(&json));
    cr_assert(svmx__json_next(&json, key, sizeof key));
    cr_assert_str_eq(key, "a");
    cr_assert(svmx__json_enter(&json, '['));
    cr_assert_not(svmx__json_next(&json, NULL, 0));
    cr_assert_not(svmx__json_next(&json, key, sizeof key));
    cr_assert(svmx__json_end(&json), "%s", json.error);
}

Test(json_read, what_is_json_is_accepted) {
    const char *const good[] = {"0",
                                "-0",
                                "12.5e-3",
                                "1E+9",
                                "true",
                                "false",
                                "null",
                                "\"\"",
                                "[]",
                                "{}",
                                "[[],[]]",
                                " [1 , 2]\r\n",
                                "{\"a\":{\"b\":[null]}}",
                                "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
                                "\"\\ud83d\\ude00\"",
                                "\"\xf0\x9f\x98\x80\"",
                                "[[[[[[[[]]]]]]]]"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) cr_expect(accepts(good[i]), "%s: %s", good[i], json.error);
}

Test(json_read, what_is_not_is_refused) {
    const char *const bad[] = {"",
                               " ",
                               "01",
                               "-",
                               "1.",
                               ".5",
                               "1e",
                               "+1",
                               "tru",
                               "nul",
                               "True",
                               "\"",
                               "\"a",
                               "\"\\x\"",
                               "\"\\u12\"",
                               "\"\\ud800\"",
                               "\"\\ud800\\u0041\"",
                               "\"\\udc00\"",
                               "\"\\u0000\"",
                               "\"\t\"",
                               "\"\xff\"",
                               "\"\xc0\x80\"",
                               "\"\xed\xa0\x80\"",
                               "\"\xe2\x82\"",
                               "\"\xf5\x80\x80\x80\"",
                               "[",
                               "[1",
                               "[1,",
                               "[1,]",
                               "[,]",
                               "[1 2]",
                               "]",
                               "{",
                               "{1:2}",
                               "{\"a\"}",
                               "{\"a\":}",
                               "{\"a\":1,}",
                               "{\"a\" 1}",
                               "{]",
                               "[}",
                               "1 2",
                               "{} x",
                               "[[[[[[[[[]]]]]]]]]",
                               "// x\n1",
                               "\"\\"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) cr_expect_not(accepts(bad[i]), "%s", bad[i]);
}

Test(json_read, a_value_of_another_kind_is_an_error_that_stays) {
    uint64_t number = 7;
    bool flag = true;
    char text[4] = "x";
    start("[1.5, 2]");
    cr_assert(svmx__json_enter(&json, '['));
    cr_assert(svmx__json_next(&json, NULL, 0));
    cr_assert_not(svmx__json_u64(&json, &number));
    cr_assert_str_eq(json.error, "a number is not whole");
    cr_assert_not(svmx__json_next(&json, NULL, 0));
    cr_assert_not(svmx__json_skip(&json));
    cr_assert_not(svmx__json_end(&json));
    cr_assert_eq(number, 7);
    start("18446744073709551616");
    cr_assert_not(svmx__json_u64(&json, &number));
    cr_assert_str_eq(json.error, "a number is too large");
    start("-1");
    cr_assert_not(svmx__json_u64(&json, &number));
    start("1");
    cr_assert_not(svmx__json_bool(&json, &flag));
    start("\"abc\"");
    cr_assert(svmx__json_text(&json, text, sizeof text));
    start("\"abcd\"");
    cr_assert_not(svmx__json_text(&json, text, sizeof text));
    cr_assert_str_eq(json.error, "a text is too long");
    start("{}");
    cr_assert_not(svmx__json_enter(&json, '['));
}

Test(json_read, every_beginning_of_a_text_is_refused) {
    const char whole[] = "{\"a\":[1,2.5e3,\"\\u20ac \xe2\x82\xac\",{\"b\":null}],\"c\":false}";
    cr_assert(accepts(whole));
    for (size_t length = 0; length + 1 < sizeof whole; length++) {
        char part[sizeof whole];
        memcpy(part, whole, length);
        part[length] = '\0';
        if (strlen(part) == length) cr_expect_not(accepts(part), "%s", part);
    }
}
