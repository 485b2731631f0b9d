/*
 * test_op_messages.c: what hashes of many messages accept and refuse, and how they count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/messages.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

static uint8_t digests[32 * 32], data[1024];

static struct svmx_slot slot(const void *at, uint64_t bytes) {
    return (struct svmx_slot){(uint64_t)(uintptr_t)at, bytes};
}

static enum svmx_status check(uint64_t n, uint64_t data_bytes, const uint64_t *offsets, uint64_t entries,
                              struct svmx__size *size, struct svmx__text *why) {
    const struct svmx_slot slots[] = {slot(digests, 32 * n), slot(data, data_bytes), slot(offsets, 8 * entries)};
    return svmx__messages_check(slots, size, why);
}

static void refused(uint64_t n, uint64_t data_bytes, const uint64_t *offsets, uint64_t entries, const char *text) {
    struct svmx__size size = {7, 8};
    struct svmx__text why = {""};
    cr_assert_eq(check(n, data_bytes, offsets, entries, &size, &why), SVMX_ERR_ARGUMENT, "accepted: %s", text);
    cr_assert_str_eq(why.line, text);
    cr_assert(size.units == 7 && size.work == 8, "an output was set by a failing check");
    cr_assert_eq(check(n, data_bytes, offsets, entries, &size, NULL), SVMX_ERR_ARGUMENT, "needs a text");
}

static void accepted(uint64_t n, uint64_t data_bytes, const uint64_t *offsets, uint64_t entries, uint64_t work) {
    struct svmx__size size = {7, 8};
    struct svmx__text why = {""};
    cr_assert_eq(check(n, data_bytes, offsets, entries, &size, &why), SVMX_OK, "%s", why.line);
    cr_assert_eq(size.units, n);
    cr_assert_eq(size.work, work);
}

Test(op_messages, units_are_messages_and_work_their_bytes_and_64_each) {
    const uint64_t offsets[] = {0, 10, 10, 100};
    accepted(3, 100, offsets, 4, 100 + 3 * 64);
    accepted(3, 1000, offsets, 4, 100 + 3 * 64); /* bytes behind the last message are nobody's */
    accepted(2, 1000, offsets + 1, 3, 90 + 2 * 64);
}

Test(op_messages, no_messages_need_no_offsets_and_may_have_one) {
    const uint64_t offsets[] = {5};
    accepted(0, 0, NULL, 0, 0);
    accepted(0, 5, offsets, 1, 0);
    refused(0, 4, offsets, 1, "offsets[0] = 5 lies past the end of data, which has 4 bytes");
}

Test(op_messages, wrong_counts_are_refused) {
    const uint64_t offsets[4] = {0};
    refused(3, 0, offsets, 3, "offsets has 3 entries but must have 4: one more than the 3 digests of 32 bytes");
    refused(2, 0, offsets, 4, "offsets has 4 entries but must have 3: one more than the 2 digests of 32 bytes");
    refused(1, 0, offsets, 0, "offsets has 0 entries but must have 2: one more than the 1 digests of 32 bytes");
    refused(1, 0, NULL, 0, "offsets is NULL but must have 2 entries: one more than the 1 digests of 32 bytes");
}

Test(op_messages, a_step_down_is_named_with_its_place) {
    uint64_t offsets[20];
    for (unsigned i = 0; i < 20; i++) offsets[i] = 9;
    offsets[17] = 5;
    refused(19, 100, offsets, 20, "offsets[17] = 5 is less than offsets[16] = 9: they must not decrease");
    offsets[17] = 9;
    offsets[19] = 8;
    refused(19, 100, offsets, 20, "offsets[19] = 8 is less than offsets[18] = 9: they must not decrease");
    offsets[19] = 9;
    offsets[0] = UINT64_MAX;
    refused(19, 100, offsets, 20,
            "offsets[1] = 9 is less than offsets[0] = 18446744073709551615: they must not decrease");
}

/* Differences that wrap: what looks like a small step up modulo 2^64 is none. */
Test(op_messages, huge_offsets_do_not_slip_through) {
    const uint64_t up_and_over[] = {0, UINT64_C(1) << 63, 0}, down_far[] = {UINT64_C(1) << 63, 1};
    const uint64_t past[] = {0, UINT64_C(1) << 62}, all_huge[] = {UINT64_MAX - 2, UINT64_MAX - 1};
    refused(2, 100, up_and_over, 3,
            "offsets[2] = 0 is less than offsets[1] = 9223372036854775808: they must not decrease");
    refused(1, 100, down_far, 2,
            "offsets[1] = 1 is less than offsets[0] = 9223372036854775808: they must not decrease");
    refused(1, 100, past, 2, "offsets[1] = 4611686018427387904 lies past the end of data, which has 100 bytes");
    refused(1, 100, all_huge, 2, "offsets[1] = 18446744073709551614 lies past the end of data, which has 100 bytes");
}

Test(op_messages, the_end_of_data_is_the_last_legal_offset) {
    const uint64_t offsets[] = {0, 50, 101};
    accepted(2, 101, offsets, 3, 101 + 128);
    refused(2, 100, offsets, 3, "offsets[2] = 101 lies past the end of data, which has 100 bytes");
}

Test(op_messages, offsets_may_have_any_alignment) {
    const uint64_t offsets[] = {1, 2, 4};
    uint8_t shifted[sizeof offsets + 8];
    for (size_t shift = 1; shift < 8; shift++) {
        memcpy(shifted + shift, offsets, sizeof offsets);
        const struct svmx_slot slots[] = {slot(digests, 64), slot(data, 4), slot(shifted + shift, sizeof offsets)};
        struct svmx__size size;
        cr_assert_eq(svmx__messages_check(slots, &size, NULL), SVMX_OK);
        cr_assert_eq(size.work, 3 + 128);
    }
}

/* Each place of a long table, so that no part of the fast pass is blind. */
Test(op_messages, a_step_down_is_found_everywhere) {
    enum { N = 1000 };
    uint64_t offsets[N + 1];
    uint8_t *many = calloc(N, 32);
    cr_assert_not_null(many);
    const struct svmx_slot slots[] = {slot(many, 32 * N), slot(data, 1000), slot(offsets, sizeof offsets)};
    for (uint64_t i = 0; i <= N; i++) offsets[i] = i < 1000 ? i : 1000;
    struct svmx__size size;
    cr_assert_eq(svmx__messages_check(slots, &size, NULL), SVMX_OK);
    for (uint64_t i = 1; i <= N; i++) {
        const uint64_t kept = offsets[i];
        offsets[i] = offsets[i - 1] - (i > 1);
        const enum svmx_status want = i > 1 ? SVMX_ERR_ARGUMENT : SVMX_OK;
        cr_assert_eq(svmx__messages_check(slots, &size, NULL), want, "at %lu", (unsigned long)i);
        offsets[i] = kept;
    }
    free(many);
}

Test(op_messages, shape_is_32_bytes_a_message_and_refuses_what_does_not_fit) {
    uint64_t bytes[SVMX__MAX_PARAMS] = {0};
    cr_assert_eq(svmx__messages_shape(100, bytes), SVMX_OK);
    cr_assert(bytes[0] == 3200 && bytes[1] == 3200 && bytes[2] == 808);
    cr_assert_eq(svmx__messages_shape(0, bytes), SVMX_OK);
    cr_assert(bytes[0] == 0 && bytes[1] == 0 && bytes[2] == 8);
    cr_assert_eq(svmx__messages_shape(UINT64_MAX / 32, bytes), SVMX_ERR_OVERFLOW);
    cr_assert_eq(svmx__messages_shape(UINT64_MAX, bytes), SVMX_ERR_OVERFLOW);
}
