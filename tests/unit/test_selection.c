/*
 * test_selection.c: the grammar of SUPERVM_BACKENDS (src/plugin/selection.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plugin/selection.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct svmx__selection parse(const char *text) {
    struct svmx__selection selection;
    struct svmx__text why = {""};
    enum svmx_status status = svmx__selection_parse(&selection, text, "SUPERVM_BACKENDS", &why);
    cr_assert_eq(status, SVMX_OK, "'%s': %s", text, why.line);
    return selection;
}

static struct svmx_device_info device(const char *name, uint32_t kind, const char *pci) {
    struct svmx_device_info info = {.size = sizeof info, .kind = kind};
    (void)snprintf(info.name, sizeof info.name, "%s", name);
    (void)snprintf(info.pci, sizeof info.pci, "%s", pci);
    return info;
}

/* ---- what is legal ---- */

Test(selection, empty_means_everything_but_on_request) {
    const char *const empty[] = {"", "  ", "\t\n"};
    for (size_t i = 0; i < 3; i++) {
        struct svmx__selection selection = parse(empty[i]);
        uint32_t rank = 77;
        cr_assert_eq(svmx__selection_backend(&selection, "simd", false, &rank), SVMX__WANTED);
        cr_assert_eq(rank, 0);
        cr_assert_eq(svmx__selection_backend(&selection, "sim", true, &rank), SVMX__UNWANTED);
        svmx__selection_free(&selection);
    }
}

Test(selection, none_is_the_reference_only) {
    struct svmx__selection selection = parse(" none ");
    uint32_t rank = 0;
    cr_assert(selection.none);
    cr_assert_eq(svmx__selection_backend(&selection, "simd", false, &rank), SVMX__UNWANTED);
    cr_assert_eq(svmx__selection_backend(&selection, "reference", false, &rank), SVMX__WANTED);
    cr_assert_eq(rank, UINT32_MAX);
    svmx__selection_free(&selection);
}

Test(selection, order_is_preference_and_the_unnamed_follow) {
    struct svmx__selection selection = parse("opencl, +levelzero:gpu ,-cuda");
    uint32_t rank;
    cr_assert_eq(selection.item_count, 3);
    cr_assert_eq(svmx__selection_backend(&selection, "opencl", true, &rank), SVMX__WANTED);
    cr_assert_eq(rank, 0);
    cr_assert_eq(svmx__selection_backend(&selection, "levelzero", false, &rank), SVMX__DEMANDED);
    cr_assert_eq(rank, 1);
    cr_assert_eq(svmx__selection_backend(&selection, "simd", false, &rank), SVMX__WANTED);
    cr_assert_eq(rank, 3);
    cr_assert_eq(svmx__selection_backend(&selection, "cuda", false, &rank), SVMX__UNWANTED);
    svmx__selection_free(&selection);
}

Test(selection, only_left_out_names_keep_the_rest) {
    struct svmx__selection selection = parse("-opencl");
    uint32_t rank;
    cr_assert_eq(svmx__selection_backend(&selection, "opencl", false, &rank), SVMX__UNWANTED);
    cr_assert_eq(svmx__selection_backend(&selection, "simd", false, &rank), SVMX__WANTED);
    svmx__selection_free(&selection);
}

Test(selection, stop_ends_the_list) {
    struct svmx__selection selection = parse("simd,stop");
    uint32_t rank;
    cr_assert(selection.stop);
    cr_assert_eq(svmx__selection_backend(&selection, "simd", false, &rank), SVMX__WANTED);
    cr_assert_eq(svmx__selection_backend(&selection, "opencl", false, &rank), SVMX__UNWANTED);
    cr_assert_eq(svmx__selection_backend(&selection, "reference", false, &rank), SVMX__WANTED);
    svmx__selection_free(&selection);
}

Test(selection, stop_alone_is_legal) {
    struct svmx__selection selection = parse(" stop ");
    cr_assert(selection.stop);
    cr_assert_eq(selection.item_count, 0);
    svmx__selection_free(&selection);
}

Test(selection, caret_is_all_but) {
    struct svmx__selection selection = parse(" ^ simd , opencl");
    uint32_t rank;
    cr_assert_eq(svmx__selection_backend(&selection, "simd", false, &rank), SVMX__UNWANTED);
    cr_assert_eq(svmx__selection_backend(&selection, "opencl", false, &rank), SVMX__UNWANTED);
    cr_assert_eq(svmx__selection_backend(&selection, "levelzero", false, &rank), SVMX__WANTED);
    cr_assert_eq(svmx__selection_backend(&selection, "sim", true, &rank), SVMX__UNWANTED);
    svmx__selection_free(&selection);
}

Test(selection, a_demand_counts_at_any_item_of_a_name) {
    struct svmx__selection selection = parse("opencl:gpu,simd,+opencl:cpu");
    uint32_t rank;
    cr_assert_eq(svmx__selection_backend(&selection, "opencl", false, &rank), SVMX__DEMANDED);
    cr_assert_eq(rank, 0);
    svmx__selection_free(&selection);
}

/* ---- what is illegal: each names itself ---- */

struct wrong {
    const char *text;
    const char *item;   /* "item N at character M, 'text'" */
    const char *reason; /* part of it */
};

Test(selection, every_illegal_thing_names_itself) {
    static const struct wrong wrongs[] = {
        {"simd,,opencl", "item 2 at character 6, ''", "empty"},
        {",simd", "item 1 at character 1, ''", "empty"},
        {"simd,", "item 2 at character 6, ''", "empty"},
        {"simd, ,opencl", "item 2 at character 7, ''", "empty"},
        {"^", "item 1 at character 2, ''", "empty"},
        {"^simd,,opencl", "item 2 at character 7, ''", "empty"},
        {"simd,^opencl", "item 2 at character 6, '^opencl'", "'^' stands once"},
        {"^simd,^opencl", "item 2 at character 7, '^opencl'", "'^' stands once"},
        {"^^simd", "item 1 at character 2, '^simd'", "'^' stands once"},
        {"^-simd", "item 1 at character 2, '-simd'", "plain names"},
        {"^simd,+opencl", "item 2 at character 7, '+opencl'", "plain names"},
        {"^simd:gpu", "item 1 at character 2, 'simd:gpu'", "as a whole"},
        {"^simd,stop", "item 2 at character 7, 'stop'", "'stop'"},
        {"^none", "item 1 at character 2, 'none'", "'none' stands alone"},
        {"simd,-simd", "item 2 at character 6, '-simd'", "both wanted and left out"},
        {"-simd , simd:cpu", "item 2 at character 9, 'simd:cpu'", "both wanted and left out"},
        {"+simd,-simd", "item 2 at character 7, '-simd'", "both wanted and left out"},
        {"simd,simd", "item 2 at character 6, 'simd'", "stands before"},
        {"-simd,-simd", "item 2 at character 7, '-simd'", "stands before"},
        {"simd:0,simd:0", "item 2 at character 8, 'simd:0'", "stands before"},
        {"none,simd", "item 1 at character 1, 'none'", "'none' stands alone"},
        {"simd,none", "item 2 at character 6, 'none'", "'none' stands alone"},
        {"none,none", "item 1 at character 1, 'none'", "'none' stands alone"},
        {"stop,simd", "item 1 at character 1, 'stop'", "'stop' stands last"},
        {"simd,stop,stop", "item 2 at character 6, 'stop'", "'stop' stands last"},
        {"-stop", "item 1 at character 1, '-stop'", "'stop'"},
        {"stop:gpu", "item 1 at character 1, 'stop:gpu'", "'stop'"},
        {"SIMD", "item 1 at character 1, 'SIMD'", "lower-case"},
        {"simd,open cl", "item 2 at character 6, 'open cl'", "lower-case"},
        {"simd;opencl", "item 1 at character 1, 'simd;opencl'", "lower-case"},
        {"+ simd", "item 1 at character 1, '+ simd'", "lower-case"},
        {"--simd", "item 1 at character 1, '--simd'", "lower-case"},
        {"+", "item 1 at character 1, '+'", "name is missing"},
        {"-,simd", "item 1 at character 1, '-'", "name is missing"},
        {":gpu", "item 1 at character 1, ':gpu'", "name is missing"},
        {"abcdefghijklmnopqrstuvwxyz012345", "item 1 at character 1", "at most 31"},
        {"-simd:gpu", "item 1 at character 1, '-simd:gpu'", "as a whole"},
        {"opencl:", "item 1 at character 1, 'opencl:'", "device is missing"},
        {"opencl: ,simd", "item 1 at character 1, 'opencl:'", "device is missing"},
        {"opencl:a:b", "item 1 at character 1, 'opencl:a:b'", "PCI ids"},
        {"opencl:0000:03:00", "item 1 at character 1", "PCI ids"},
        {"opencl:03:00.0*2", "item 1 at character 1", "PCI ids"},
        {"opencl:arc*", "item 1 at character 1, 'opencl:arc*'", "how many"},
        {"opencl:arc*0", "item 1 at character 1, 'opencl:arc*0'", "how many"},
        {"opencl:arc*two", "item 1 at character 1, 'opencl:arc*two'", "how many"},
        {"opencl:arc*-1", "item 1 at character 1, 'opencl:arc*-1'", "how many"},
        {"opencl:arc*9999999999", "item 1 at character 1", "how many"},
        {"opencl:*2", "item 1 at character 1, 'opencl:*2'", "how many"},
        {"opencl:a\001b", "item 1 at character 1", "control characters"},
        {"opencl:0123456789012345678901234567890123456789012345678901234567890123", "item 1", "at most 63"},
        {"-reference", "item 1 at character 1, '-reference'", "cannot be left out"},
        {"^reference", "item 1 at character 2, 'reference'", "cannot be left out"},
        {"reference:gpu", "item 1 at character 1, 'reference:gpu'", "no devices"},
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct svmx__selection selection = {.item_count = 4711};
        struct svmx__text why = {""};
        enum svmx_status status = svmx__selection_parse(&selection, wrongs[i].text, "SUPERVM_BACKENDS", &why);
        cr_expect_eq(status, SVMX_ERR_ARGUMENT, "'%s' was taken", wrongs[i].text);
        cr_expect(strstr(why.line, "SUPERVM_BACKENDS: ") && strstr(why.line, wrongs[i].item) &&
                      strstr(why.line, wrongs[i].reason),
                  "'%s': expected \"%s\" and \"%s\" in: %s", wrongs[i].text, wrongs[i].item, wrongs[i].reason,
                  why.line);
        cr_expect_eq(selection.item_count, 4711, "outputs are set on success only");
    }
}

Test(selection, a_refusal_needs_no_place_for_its_text) {
    struct svmx__selection selection;
    cr_assert_eq(svmx__selection_parse(&selection, "a,,b", "SUPERVM_BACKENDS", NULL), SVMX_ERR_ARGUMENT);
}

Test(selection, very_long_items_are_cut_in_the_text) {
    char text[4000];
    struct svmx__selection selection;
    struct svmx__text why;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    cr_assert_eq(svmx__selection_parse(&selection, text, "SUPERVM_BACKENDS", &why), SVMX_ERR_ARGUMENT);
    cr_assert(strstr(why.line, "at most 31 characters"), "%s", why.line);
}

Test(selection, names_that_a_backend_may_have) {
    cr_assert(svmx__backend_name_ok("simd"));
    cr_assert(svmx__backend_name_ok("a_2"));
    cr_assert(svmx__backend_name_ok("abcdefghijklmnopqrstuvwxyz01234"));
    cr_assert_not(svmx__backend_name_ok("abcdefghijklmnopqrstuvwxyz012345"));
    cr_assert_not(svmx__backend_name_ok(""));
    cr_assert_not(svmx__backend_name_ok("none"));
    cr_assert_not(svmx__backend_name_ok("stop"));
    cr_assert_not(svmx__backend_name_ok("Simd"));
    cr_assert_not(svmx__backend_name_ok("simd-2"));
    cr_assert_not(svmx__backend_name_ok("../x"));
}

/* ---- devices ---- */

/* Does the only item of `text` take a device? */
static bool takes(const char *text, uint32_t index, const struct svmx_device_info *info) {
    struct svmx__selection selection = parse(text);
    uint32_t taken[4] = {0}, rank;
    bool wanted = svmx__selection_device(&selection, "opencl", index, info, taken, &rank);
    cr_assert_eq(taken[0], wanted ? 1 : 0);
    svmx__selection_free(&selection);
    return wanted;
}

Test(selection, devices_by_kind_number_and_name) {
    struct svmx_device_info arc = device("Intel(R) Arc(TM) A770 Graphics", SVMX_DEVICE_GPU, "0000:03:00.0");
    struct svmx_device_info cpu = device("pthread-Xeon", SVMX_DEVICE_CPU, "");
    cr_assert(takes("opencl", 0, &arc));
    cr_assert(takes("opencl:*", 5, &cpu));
    cr_assert(takes("opencl:gpu", 0, &arc));
    cr_assert_not(takes("opencl:gpu", 0, &cpu));
    cr_assert(takes("opencl:cpu", 0, &cpu));
    cr_assert_not(takes("opencl:cpu", 0, &arc));
    cr_assert(takes("opencl:2", 2, &arc));
    cr_assert_not(takes("opencl:2", 12, &arc));
    cr_assert(takes("opencl:arc(tm) a770", 0, &arc), "any case, blanks inside");
    cr_assert(takes("opencl: XEON ", 0, &cpu), "blanks around do not count");
    cr_assert_not(takes("opencl:b770", 0, &arc));
    cr_assert_not(takes("opencl:a name that is much longer than the one of the device", 0, &arc));
}

Test(selection, devices_by_pci_id) {
    struct svmx_device_info arc = device("Arc", SVMX_DEVICE_GPU, "0000:0a:00.0");
    struct svmx_device_info far = device("Arc", SVMX_DEVICE_GPU, "0001:0a:00.0");
    struct svmx_device_info none = device("Arc", SVMX_DEVICE_GPU, "");
    cr_assert(takes("opencl:0000:0a:00.0", 0, &arc));
    cr_assert(takes("opencl:0a:00.0", 0, &arc));
    cr_assert(takes("opencl:0A:00.0", 0, &arc));
    cr_assert_not(takes("opencl:0b:00.0", 0, &arc));
    cr_assert_not(takes("opencl:0a:00.0", 0, &far), "without a domain it is domain 0000");
    cr_assert(takes("opencl:0001:0a:00.0", 0, &far));
    cr_assert_not(takes("opencl:0a:00.0", 0, &none));
}

Test(selection, at_most_so_many) {
    struct svmx__selection selection = parse("opencl:4090*2,opencl:gpu*1");
    struct svmx_device_info rtx = device("RTX 4090", SVMX_DEVICE_GPU, "");
    uint32_t taken[2] = {0, 0}, rank;
    cr_assert(svmx__selection_device(&selection, "opencl", 7, &rtx, taken, &rank));
    cr_assert_eq(rank, 0, "a number with a count is part of a name");
    cr_assert(svmx__selection_device(&selection, "opencl", 8, &rtx, taken, &rank));
    cr_assert_eq(rank, 0);
    cr_assert(svmx__selection_device(&selection, "opencl", 9, &rtx, taken, &rank));
    cr_assert_eq(rank, 1, "the next item takes what the first leaves");
    cr_assert_not(svmx__selection_device(&selection, "opencl", 10, &rtx, taken, &rank));
    cr_assert_eq(taken[0], 2);
    cr_assert_eq(taken[1], 1);
    svmx__selection_free(&selection);
}

Test(selection, ranks_of_devices_follow_the_items) {
    struct svmx__selection selection = parse("opencl:1,simd,opencl:0");
    struct svmx_device_info info = device("x", SVMX_DEVICE_CPU, "");
    uint32_t taken[3] = {0}, rank;
    cr_assert(svmx__selection_device(&selection, "opencl", 0, &info, taken, &rank));
    cr_assert_eq(rank, 2);
    cr_assert(svmx__selection_device(&selection, "opencl", 1, &info, taken, &rank));
    cr_assert_eq(rank, 0);
    cr_assert_not(svmx__selection_device(&selection, "opencl", 2, &info, taken, &rank));
    cr_assert(svmx__selection_device(&selection, "simd", 0, &info, taken, &rank));
    cr_assert_eq(rank, 1);
    cr_assert(svmx__selection_device(&selection, "other", 0, &info, taken, &rank));
    cr_assert_eq(rank, 3);
    cr_assert(svmx__selection_device(&selection, "reference", 0, &info, taken, &rank));
    cr_assert_eq(rank, UINT32_MAX);
    svmx__selection_free(&selection);
}

/* The convention of simulators: the name of a device contains the text that made it. */
Test(selection, a_script_finds_the_device_that_it_made) {
    struct svmx__selection selection = parse("check:submit@2=backend;wait@1=lost*2");
    struct svmx_device_info info = device("check 0 submit@2=backend;wait@1=lost", SVMX_DEVICE_MODEL, "");
    uint32_t taken[1] = {0}, rank;
    cr_assert(svmx__selection_device(&selection, "check", 0, &info, taken, &rank));
    svmx__selection_free(&selection);
}

Test(selection, device_parts_of_a_name) {
    struct svmx__selection selection = parse("opencl:gpu,simd,opencl:03:00.0,-x");
    char text[32];
    cr_assert(svmx__selection_devices_text(&selection, "opencl", text, sizeof text));
    cr_assert_str_eq(text, "gpu,03:00.0");
    cr_assert_not(svmx__selection_devices_text(&selection, "simd", text, sizeof text));
    cr_assert_not(svmx__selection_devices_text(&selection, "absent", text, sizeof text));
    cr_assert_not(svmx__selection_devices_text(&selection, "opencl", text, 11), "one byte too few");
    cr_assert(svmx__selection_devices_text(&selection, "opencl", text, 13));
    svmx__selection_free(&selection);
}
