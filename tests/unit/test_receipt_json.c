/*
 * test_receipt_json.c: a receipt as a line of JSON: every field, in order, whatever the text in it; log_read.c reads it back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/log_read.h"
#include "executor/words.h"
#include "executor_fixture.h"
#include <stdio.h>
#include <stdlib.h>

TestSuite(receipt_json, .init = set_up, .fini = tear_down);

/* All that can be said of the reference code. */
static struct svmx_receipt full(void) {
    return (struct svmx_receipt){
        .size = sizeof(struct svmx_receipt),
        .tag = UINT64_MAX,
        .op = SVMX_OP_VEC_ADD_F32,
        .tasks = 2,
        .units = 96,
        .bucket = 16384,
        .bytes_in = 768,
        .bytes_out = 384,
        .wait_ns = 1,
        .stage_ns = 2,
        .run_ns = 3,
        .collect_ns = 4,
        .copied_bytes = 5,
        .launches = 1,
        .why = SVMX_WHY_BEST,
        .number = 6,
        .time_ns = 7,
        .work = 97,
        .policy = SVMX_POLICY_AUTO,
        .learned = 1,
        .expected_ns = 8,
        .expected_setup_ns = 1,
        .expected_transfer_ns = 2,
        .expected_compute_ns = 5,
        .expected_wait_ns = 16,
        .shadow_ns = 17,
        .setup_ns = 9,
        .transfer_ns = 10,
        .compute_ns = 11,
        .upload_ns = 14,
        .device_ns = 15,
        .result_hash = 0xabc,
        .flags = SVMX_RECEIPT_CONTENDED,
        .candidate_count = 1,
        .candidates = {{.verdict = SVMX_CHOSEN, .expected_ns = 12, .backlog_ns = 13}},
    };
}

static char line[4096];

static size_t write_line(const struct svmx_receipt *receipt) {
    size_t length = 0;
    cr_assert_eq(svmx_receipt_json(executor, receipt, line, sizeof line, &length), SVMX_OK);
    cr_assert_eq(strlen(line), length);
    return length;
}

Test(receipt_json, every_field_in_its_place) {
    const struct svmx_receipt receipt = full();
    char expected[4096];
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_device_get(executor, 0, &device), SVMX_OK);
    (void)snprintf(
        expected, sizeof expected,
        "{\"number\":6,\"time_ns\":7,\"tag\":18446744073709551615,\"operation\":\"vec_add_f32\",\"device\":0,"
        "\"backend\":\"reference\",\"name\":\"%s\",\"place\":\"host\",\"modelled\":false,\"test\":false,\"driver\":\"%"
        "s\","
        "\"policy\":\"auto\",\"why\":\"best\",\"tasks\":2,\"units\":96,\"work\":97,\"bucket\":16384,\"bytes_in\":768,"
        "\"bytes_out\":384,\"copied_bytes\":5,\"launches\":1,\"gathered\":0,\"redone\":0,\"reason\":\"\",\"learned\":"
        "true,"
        "\"first_use\":false,\"contended\":true,\"failed\":false,\"fused\":false,\"stretch\":false,\"compared\":false,"
        "\"expected_ns\":8,\"expected_setup_ns\":1,\"expected_transfer_ns\":2,\"expected_compute_ns\":5,"
        "\"expected_wait_ns\":16,"
        "\"setup_ns\":9,"
        "\"transfer_ns\":10,"
        "\"compute_ns\":11,"
        "\"upload_ns\":14,\"device_ns\":15,"
        "\"wait_ns\":1,\"stage_ns\":2,\"run_ns\":3,\"collect_ns\":4,\"result_hash\":\"0000000000000abc\","
        "\"shadow\":[{\"device\":0,\"backend\":\"reference\",\"name\":\"%s\",\"place\":\"host\","
        "\"modelled\":false,\"test\":false,\"ns\":17}],"
        "\"candidates\":[{\"device\":0,\"backend\":\"reference\",\"name\":\"%s\",\"place\":\"host\","
        "\"modelled\":false,\"test\":false,\"verdict\":\"chosen\",\"expected_ns\":12,\"backlog_ns\":13}]}",
        device.name, device.driver, device.name, device.name);
    (void)write_line(&receipt);
    cr_assert_str_eq(line, expected);
}

Test(receipt_json, replay_reads_what_is_written) {
    struct svmx_receipt receipt = full();
    receipt.shadow_ns = 0; /* here there is no other device that it could be of */
    const size_t length = write_line(&receipt);
    struct svmx__log_text *log = calloc(1, sizeof *log);
    struct svmx__recorded recorded;
    struct svmx__text why = {""};
    cr_assert(log);
    log->at = line;
    log->end = line + length;
    cr_assert_eq(svmx__log_next(log, &recorded, &why), SVMX_OK, "%s", why.line);
    cr_assert_eq(recorded.line, 1);
    cr_assert_eq(recorded.tag, UINT64_MAX);
    cr_assert_eq(recorded.load.units, 96);
    cr_assert_eq(recorded.load.work, 97);
    cr_assert_eq(recorded.load.bytes, 1152);
    cr_assert_eq(recorded.ns, 30);
    cr_assert(recorded.learned && recorded.sample.contended && !recorded.sample.first_use && !recorded.redone);
    cr_assert_eq(recorded.policy, SVMX_POLICY_AUTO);
    cr_assert_eq(recorded.why, SVMX_WHY_BEST);
    cr_assert_eq(recorded.allowed, 1);
    cr_assert_eq(recorded.backlog_ns[0], 13);
    cr_assert_str_eq(log->devices[0].backend, "reference");
    cr_assert_eq(log->devices[0].place, SVMX__ON_HOST);
    cr_assert_eq(svmx__log_next(log, &recorded, &why), SVMX_BUSY);
    free(log);
}

Test(receipt_json, text_of_drivers_cannot_break_a_line) {
    struct svmx_receipt receipt = full();
    receipt.redone = 1;
    (void)snprintf(receipt.reason, sizeof receipt.reason, "%s",
                   "a \"quoted\" \\ path\n\x7f\x01\xff\xc0\x80 \xe2\x82\xac");
    (void)write_line(&receipt);
    cr_assert(strstr(line, "\"reason\":\"a \\\"quoted\\\" \\\\ path?????? \xe2\x82\xac\","), "%s", line);
}

Test(receipt_json, the_longest_line_fits) {
    struct svmx_receipt receipt;
    memset(&receipt, 0xff, sizeof receipt);
    receipt.size = sizeof receipt;
    receipt.op = SVMX_OP_VEC_ADD_F32;
    receipt.device = receipt.shadow_device = 0;
    receipt.candidate_count = 4;
    for (int i = 0; i < 4; i++) receipt.candidates[i].device = 0;
    memset(receipt.reason, '"', sizeof receipt.reason);
    struct svmx__device *device = &executor->devices[0];
    memset(device->info.name, '\\', sizeof device->info.name - 1);
    memset(device->info.driver, '"', sizeof device->info.driver - 1);
    cr_assert_lt(write_line(&receipt), 4096);
    cr_assert(strstr(line, "\"policy\":\"none\",\"why\":\"none\","));
}

Test(receipt_json, too_little_room_leaves_the_text_alone) {
    const struct svmx_receipt receipt = full();
    const size_t length = write_line(&receipt);
    char text[4096];
    size_t given = 42;
    memset(text, 'x', sizeof text);
    cr_assert_eq(svmx_receipt_json(executor, &receipt, text, length, &given), SVMX_ERR_OVERFLOW);
    cr_assert_eq(given, 42);
    cr_assert_eq(text[0], 'x');
    cr_assert_eq(svmx_receipt_json(executor, &receipt, text, length + 1, NULL), SVMX_OK);
    cr_assert_str_eq(text, line);
}

Test(receipt_json, what_is_refused) {
    struct svmx_receipt receipt = full();
    cr_assert_eq(svmx_receipt_json(NULL, &receipt, line, sizeof line, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_receipt_json(executor, NULL, line, sizeof line, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_receipt_json(executor, &receipt, NULL, sizeof line, NULL), SVMX_ERR_ARGUMENT);
    receipt.size = 8;
    cr_assert_eq(svmx_receipt_json(executor, &receipt, line, sizeof line, NULL), SVMX_ERR_ARGUMENT);
    receipt = full();
    receipt.device = 1;
    cr_assert_eq(svmx_receipt_json(executor, &receipt, line, sizeof line, NULL), SVMX_ERR_UNKNOWN);
    receipt = full();
    receipt.shadow_device = 1;
    cr_assert_eq(svmx_receipt_json(executor, &receipt, line, sizeof line, NULL), SVMX_ERR_UNKNOWN);
    receipt = full();
    receipt.op = UINT32_MAX;
    cr_assert_eq(svmx_receipt_json(executor, &receipt, line, sizeof line, NULL), SVMX_ERR_UNKNOWN);
    receipt = full();
    receipt.candidates[0].device = 9;
    cr_assert_eq(svmx_receipt_json(executor, &receipt, line, sizeof line, NULL), SVMX_ERR_UNKNOWN);
    receipt = full();
    receipt.candidate_count = 5;
    cr_assert_eq(svmx_receipt_json(executor, &receipt, line, sizeof line, NULL), SVMX_ERR_UNKNOWN);
}

Test(receipt_json, a_receipt_of_the_first_version_has_no_more_than_that) {
    struct svmx_receipt receipt = full();
    receipt.size = offsetof(struct svmx_receipt, reason) + sizeof receipt.reason;
    (void)write_line(&receipt);
    cr_assert(strstr(line, "\"policy\":\"none\""), "%s", line);
    cr_assert(strstr(line, "\"candidates\":[]}"), "%s", line);
}

Test(receipt_json, words_and_numbers_agree) {
    uint32_t number;
    for (uint32_t i = 0; i < 8; i++) {
        cr_assert(svmx__policy_number(svmx__policy_word(i), &number));
        cr_assert_eq(number, i <= SVMX_POLICY_ORDER ? i : 0);
        cr_assert(svmx__why_number(svmx__why_word(i), &number));
        cr_assert_eq(number, i <= SVMX_WHY_SPLIT ? i : 0);
        cr_assert(svmx__verdict_number(svmx__verdict_word(i), &number));
        cr_assert_eq(number, i <= SVMX_OVERLOADED ? i : 0);
        cr_assert(svmx__place_number(svmx__place_word(i), &number));
        cr_assert_eq(number, i <= SVMX__ON_DEVICE ? i : 0);
    }
    cr_assert_not(svmx__policy_number("", &number));
    cr_assert_not(svmx__verdict_number("Chosen", &number));
}
