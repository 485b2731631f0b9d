/*
 * test_replay.c: logs run again: those that a router of the test's own wrote, and those that are written by hand, where it is
 * known what must come out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/choice.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/svmx.h>

/* ---- a log ------------------------------------------------------------------------------------------------------- */

static char *text;
static size_t used, room;

SVMX_PRINTF(1, 2) static void say(const char *format, ...) {
    va_list args;
    if (room - used < 4096) {
        room = 2 * room + 8192;
        text = realloc(text, room);
        cr_assert(text);
    }
    va_start(args, format);
    used += (size_t)vsnprintf(text + used, room - used, format, args);
    va_end(args);
}

/* Two devices: 0 computes in the caller's memory, 1 in its own. */
#define CPU "\"device\":0,\"backend\":\"simd\",\"name\":\"cpu\",\"place\":\"host\""
#define GPU "\"device\":1,\"backend\":\"opencl\",\"name\":\"gpu\",\"place\":\"device\""

/* One batch; a time of 0: the log has none of that device. The time of the other device is a shadow run. */
struct batch {
    uint64_t tag, units, cpu_ns, gpu_ns, backlog_ns[2];
    const char *policy, *why, *cpu, *gpu; /* the last two: verdicts */
    uint32_t device;
    bool unlearned, modelled; /* the latter: the GPU is */
};

static void write_batch(struct batch batch) {
    const uint64_t ns = batch.device ? batch.gpu_ns : batch.cpu_ns, other = batch.device ? batch.cpu_ns : batch.gpu_ns;
    say("{\"tag\":%" PRIu64
        ",\"operation\":\"keccak256\",%s,\"policy\":\"%s\",\"why\":\"%s\",\"tasks\":1,\"units\":%" PRIu64
        ",\"work\":%" PRIu64 ",\"bytes_in\":64,\"bytes_out\":32,\"learned\":%s,\"setup_ns\":0,\"transfer_ns\":0,"
        "\"compute_ns\":%" PRIu64 ",",
        batch.tag, batch.device ? GPU : CPU, batch.policy ? batch.policy : "auto", batch.why ? batch.why : "best",
        batch.units ? batch.units : 4096, batch.units ? batch.units : 4096, batch.unlearned ? "false" : "true", ns);
    if (other) say("\"shadow\":[{\"device\":%u,\"ns\":%" PRIu64 "}],", batch.device ? 0u : 1u, other);
    say("\"candidates\":[{" CPU ",\"verdict\":\"%s\",\"backlog_ns\":%" PRIu64 "},{" GPU
        ",\"modelled\":%s,\"verdict\":\"%s\",\"backlog_ns\":%" PRIu64 "}]}\n",
        batch.cpu      ? batch.cpu
        : batch.device ? "slower"
                       : "chosen",
        batch.backlog_ns[0], batch.modelled ? "true" : "false",
        batch.gpu      ? batch.gpu
        : batch.device ? "chosen"
                       : "slower",
        batch.backlog_ns[1]);
}

/* ---- what comes out ----------------------------------------------------------------------------------------------- */

static struct svmx_replay result;
static struct svmx_replay_device devices[4];
static size_t device_count;
static uint64_t bad_line;
static char bad_reason[512];

static void note_bad(void *user, uint64_t line, const char *reason) {
    (void)user;
    bad_line = line;
    (void)snprintf(bad_reason, sizeof bad_reason, "%s", reason);
}

static void run_with(const char *learn) {
    const struct svmx_replay_options options = {.size = sizeof options, .learn = learn, .bad = note_bad};
    result = (struct svmx_replay){.size = sizeof result};
    for (int i = 0; i < 4; i++) devices[i] = (struct svmx_replay_device){.size = sizeof devices[i]};
    char *exact = malloc(used ? used : 1); /* so that a sanitizer sees who reads behind the end */
    cr_assert(exact);
    if (used) memcpy(exact, text, used);
    cr_assert_eq(svmx_replay(exact, used, &options, &result, devices, 4, &device_count), SVMX_OK);
    free(exact);
}

static void run(void) { run_with("on"); }

/* A device by the number that it has in the log: they come out in the order in which they appear there. */
static const struct svmx_replay_device *device(uint32_t number) {
    size_t at = 0;
    while (at < device_count && devices[at].number != number) at++;
    cr_assert_lt(at, device_count, "no line has device %u", number);
    return &devices[at];
}

static void forget(void) {
    free(text);
    text = NULL;
    used = room = 0;
}

TestSuite(replay, .fini = forget);

/* ---- logs that a router wrote -------------------------------------------------------------------------------------- */

/* Writes what a router does with `count` batches whose size goes up and down, on devices of these costs. */
static void let_a_router_write(uint32_t count, double gpu_ns_per_unit) {
    static struct svmx__model model;
    static struct svmx__choices choices;
    const struct svmx__model_device assumed[] = {
        {.on_host = true, .latency_ns = 50000, .bytes_per_ns = 6, .times_faster = 1},
        {.latency_ns = 50000, .bytes_per_ns = 6, .times_faster = 10}};
    static const char *const whys[] = {"", "only", "best", "backlog", "probe"};
    svmx__model_init(&model, assumed, 2);
    svmx__choices_init(&choices, &model, 0);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t units = UINT64_C(64) << i % 12;
        const struct svmx__question question = {.op = 3, .allowed = 3, .load = {units, units, 96}};
        struct svmx__answer answer;
        svmx__choose(&choices, &question, &answer);
        svmx__charge(&choices, &answer);
        struct batch batch = {.units = units, .device = answer.device, .why = whys[answer.why]};
        batch.cpu_ns = answer.device ? 0 : 300 + 20 * units;
        batch.gpu_ns = answer.device ? 200000 + (uint64_t)(gpu_ns_per_unit * (double)units) : 0;
        write_batch(batch);
        const struct svmx__sample sample = {.compute_ns = batch.cpu_ns + batch.gpu_ns};
        svmx__told(&choices, &question, &answer, sample.compute_ns, &sample);
    }
    svmx__choices_fini(&choices);
    svmx__model_fini(&model);
}

Test(replay, what_a_router_wrote_is_decided_the_same_way) {
    let_a_router_write(6000, 1);
    run();
    cr_assert_eq(result.lines, 6000);
    cr_assert_eq(result.bad_lines, 0, "line %" PRIu64 ": %s", bad_line, bad_reason);
    cr_assert_eq(result.same, 6000, "%" PRIu64 " are different", result.different);
    cr_assert_eq(result.unknown + result.forced + result.different, 0);
    cr_assert_gt(result.probes, 0);
    cr_assert_eq(device_count, 2);
    cr_assert_gt(device(1)->chosen, device(1)->probes, "large ones go to the faster device");
    for (uint32_t d = 0; d < 2; d++) {
        cr_assert_eq(device(d)->chosen, device(d)->recorded);
        cr_assert_eq(device(d)->chosen_ns, device(d)->recorded_ns);
    }
    cr_assert_eq(result.recorded_ns, device(0)->recorded_ns + device(1)->recorded_ns);
    cr_assert_eq(result.compared, 0, "there is no time of a second device");
}

Test(replay, the_same_log_gives_the_same_numbers) {
    let_a_router_write(2000, 3);
    run();
    const struct svmx_replay first = result;
    run();
    cr_assert_eq(memcmp(&first, &result, sizeof first), 0);
}

Test(replay, strict_tries_nothing) {
    let_a_router_write(3000, 1);
    run_with("strict");
    cr_assert_eq(result.probes, 0);
    cr_assert_gt(result.different, 0);
    cr_assert_eq(result.different, result.different_probes, "but what the router of the log tried is learned from");
}

/* ---- logs by hand -------------------------------------------------------------------------------------------------- */

Test(replay, nothing_gives_nothing) {
    say("\n  \r\n");
    run();
    cr_assert_eq(result.lines + result.batches + device_count, 0);
    result = (struct svmx_replay){.size = sizeof result};
    cr_assert_eq(svmx_replay(NULL, 0, NULL, &result, NULL, 0, NULL), SVMX_OK);
}

Test(replay, the_oracle_of_a_steady_log) {
    for (uint32_t i = 0; i < 4000; i++) write_batch((struct batch){.cpu_ns = 1000000, .gpu_ns = 100000});
    run();
    cr_assert_eq(result.compared, 4000);
    cr_assert_eq(result.oracle_ns, UINT64_C(4000) * 100000);
    cr_assert_eq(result.compared_recorded_ns, UINT64_C(4000) * 1000000);
    cr_assert_eq(result.compared_ns, device(0)->chosen * 1000000 + device(1)->chosen * 100000);
    cr_assert_gt(device(1)->chosen, 3500, "it goes to the device that is ten times faster");
    cr_assert_eq(result.switches, 1);
    cr_assert_eq(result.different, device(1)->chosen);
    cr_assert_eq(result.unknown, 0);
}

Test(replay, the_oracle_has_the_same_margin) {
    write_batch((struct batch){.cpu_ns = 100, .gpu_ns = 95}); /* the first one: the best, 95 */
    write_batch((struct batch){.cpu_ns = 95, .gpu_ns = 100}); /* not better by a tenth: it stays, 100 */
    write_batch((struct batch){.cpu_ns = 89, .gpu_ns = 100}); /* better by more: 89 */
    write_batch((struct batch){.cpu_ns = 100, .gpu_ns = 91}); /* it stays, 100 */
    run_with("strict");
    cr_assert_eq(result.compared, 4);
    cr_assert_eq(result.oracle_ns, 95 + 100 + 89 + 100);
    cr_assert_eq(result.compared_ns, 100 + 95 + 89 + 100, "nothing is known of the other device: all stay");
}

Test(replay, a_device_that_slows_down_is_left) {
    for (uint32_t i = 0; i < 1000; i++) write_batch((struct batch){.cpu_ns = 1000000, .gpu_ns = 100000, .device = 1});
    run();
    const uint64_t before = device(1)->chosen;
    for (uint32_t i = 0; i < 1000; i++) write_batch((struct batch){.cpu_ns = 1000000, .gpu_ns = 9000000, .device = 1});
    run();
    cr_assert_geq(result.drifts, 1);
    cr_assert_leq(device(1)->chosen - device(1)->probes, before + 16, "left within 16 batches");
    cr_assert_eq(result.switches, 2, "there and back");
}

Test(replay, an_outlier_changes_nothing) {
    for (uint32_t i = 0; i < 1000; i++) write_batch((struct batch){.cpu_ns = 1000000, .gpu_ns = 100000, .device = 1});
    run();
    const uint64_t before = device(1)->chosen;
    write_batch((struct batch){.cpu_ns = 1000000, .gpu_ns = 100000000, .device = 1});
    for (uint32_t i = 0; i < 200; i++) write_batch((struct batch){.cpu_ns = 1000000, .gpu_ns = 100000, .device = 1});
    run();
    cr_assert_eq(result.drifts, 0);
    cr_assert_eq(result.switches, 1, "only the first one, away from the CPU");
    cr_assert_eq(device(1)->chosen - before, 201);
}

Test(replay, what_was_recorded_is_learned_even_if_another_device_is_chosen) {
    for (uint32_t i = 0; i < 100; i++) write_batch((struct batch){.cpu_ns = 1000000});
    run_with("strict");
    cr_assert_eq(device(1)->chosen, 0, "nothing is known of it");
    for (uint32_t i = 0; i < 100; i++) write_batch((struct batch){.gpu_ns = 100000, .device = 1});
    run_with("strict");
    cr_assert_gt(device(1)->chosen, 90);
    cr_assert_gt(result.unknown, 0, "of the first ones on the CPU there is no time");
    cr_assert_eq(result.compared, 0);
}

Test(replay, backlogs_are_those_of_the_log) {
    for (uint32_t i = 0; i < 1000; i++) write_batch((struct batch){.cpu_ns = 150000, .gpu_ns = 100000, .device = 1});
    run();
    const uint64_t before = device(0)->chosen;
    for (uint32_t i = 0; i < 10; i++)
        write_batch((struct batch){.cpu_ns = 150000, .gpu_ns = 100000, .why = "backlog", .backlog_ns = {0, 500000}});
    run();
    cr_assert_eq(device(0)->chosen, before + 10, "the GPU has too much to do");
}

Test(replay, a_modelled_device_is_one_also_where_it_is_only_a_candidate) {
    write_batch((struct batch){.cpu_ns = 1000, .modelled = true});
    run();
    cr_assert_eq(device(0)->modelled, 0);
    cr_assert_eq(device(1)->modelled, 1);
}

Test(replay, devices_that_could_not_have_it_do_not_get_it) {
    for (uint32_t i = 0; i < 100; i++) {
        write_batch((struct batch){.cpu_ns = 1000, .policy = "cpu", .why = "only", .gpu = "not_allowed"});
        write_batch((struct batch){.cpu_ns = 1000, .why = "only", .gpu = "not_ready"});
        write_batch((struct batch){.gpu_ns = 10, .device = 1, .policy = "order", .why = "order"});
    }
    run();
    cr_assert_eq(result.forced, 300);
    cr_assert_eq(result.same + result.different, 0);
    cr_assert_eq(result.batches, 300);
}

/* ---- shadow runs --------------------------------------------------------------------------------------------------- */

Test(replay, the_same_tag_and_size_on_another_device_is_a_shadow_run) {
    for (uint32_t i = 1; i <= 500; i++)
        write_batch((struct batch){.tag = i, .cpu_ns = 1000000, .policy = "cpu", .why = "only", .gpu = "not_allowed"});
    for (uint32_t i = 1; i <= 500; i++)
        write_batch((struct batch){
            .tag = i, .gpu_ns = 100000, .device = 1, .policy = "gpu", .why = "only", .cpu = "not_allowed"});
    run();
    cr_assert_eq(result.lines, 1000);
    cr_assert_eq(result.shadows, 500);
    cr_assert_eq(result.batches, 500);
    cr_assert_eq(result.forced, 500, "the policy said where, so there was no decision to compare with");
    cr_assert_eq(result.compared, 500);
    cr_assert_eq(result.oracle_ns, UINT64_C(500) * 100000);
    cr_assert_gt(device(1)->chosen, 400);
}

Test(replay, what_is_not_the_same_work_is_no_shadow_run) {
    write_batch((struct batch){.tag = 1, .cpu_ns = 1000});
    write_batch((struct batch){.tag = 2, .gpu_ns = 1000, .device = 1});               /* another tag */
    write_batch((struct batch){.tag = 1, .gpu_ns = 1000, .device = 1, .units = 100}); /* another size */
    write_batch((struct batch){.cpu_ns = 1000, .units = 7});                          /* no tag */
    write_batch((struct batch){.gpu_ns = 1000, .device = 1, .units = 7});
    for (int i = 0; i < 2; i++) { /* twice on one device: which is meant? */
        write_batch((struct batch){.tag = 9, .cpu_ns = 1000});
        write_batch((struct batch){.tag = 9, .gpu_ns = 1000, .device = 1});
    }
    run();
    cr_assert_eq(result.shadows, 0);
    cr_assert_eq(result.compared, 0);
    cr_assert_eq(result.batches, 9);
}

/* ---- bad lines ----------------------------------------------------------------------------------------------------- */

Test(replay, bad_lines_are_told_and_left_out) {
    static const char *const bad[][2] = {
        {"not json", "an object is missing, at character 1"},
        {"{}", "'operation' is missing"},
        {"{\"operation\":7}", "a text is missing, at character 14"},
        {"{\"policy\":\"fast\"}", "'policy' is 'fast', which is none that is known"},
        {"{\"units\":1,\"units\":1}", "'units' comes twice"},
        {"{\"tasks\":-1}", "a number is missing, at character 10"},
        {"{\"operation\":\"a-name-that-is-longer-than-any-operation-may-have\"}", "a text is too long"},
        {"{\"candidates\":[{}]}", "'device' is missing"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        forget();
        write_batch((struct batch){.cpu_ns = 1000});
        say("%s\n", bad[i][0]);
        write_batch((struct batch){.cpu_ns = 1000});
        run();
        cr_expect_eq(result.lines, 3);
        cr_expect_eq(result.bad_lines, 1);
        cr_expect_eq(result.batches, 2);
        cr_expect_eq(bad_line, 2);
        cr_expect(strstr(bad_reason, bad[i][1]), "%s: %s", bad[i][0], bad_reason);
    }
}

/* As svmx_receipt_json writes it: the whole device, which need not be among the candidates. */
Test(replay, a_shadow_run_of_a_device_that_is_no_candidate_counts) {
    for (uint64_t i = 0; i < 100; i++) write_batch((struct batch){.tag = i, .cpu_ns = 1000});
    const char *other = ",\"shadow\":[{\"device\":9,\"backend\":\"opencl\",\"name\":\"far\",\"place\":\"device\","
                        "\"modelled\":false,\"ns\":250}],";
    char *lines = text;
    text = NULL;
    used = room = 0;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        char *rest = strstr(line, ",\"candidates\"");
        *rest = '\0';
        say("%s%s%s\n", line, other, rest + 1);
    }
    free(lines);
    run();
    cr_assert_eq(result.bad_lines, 0, "%s", bad_reason);
    cr_assert_eq(device_count, 3); /* the GPU is a candidate without a time */
    cr_assert_gt(result.compared, 50);
    cr_assert_eq(result.oracle_ns, 250 * result.compared);
}

Test(replay, a_shadow_run_must_be_of_another_candidate) {
    write_batch((struct batch){.cpu_ns = 1000, .gpu_ns = 500});
    char *shadow = strstr(text, "\"shadow\":[{\"device\":1");
    cr_assert(shadow);
    shadow[20] = '0'; /* the device of the line itself */
    run();
    cr_assert_eq(result.bad_lines, 1);
    shadow[20] = '7'; /* none that the line names */
    run();
    cr_assert_eq(result.bad_lines, 1);
    cr_assert(strstr(bad_reason, "shadow run"), "%s", bad_reason);
}

Test(replay, every_cut_of_a_line_is_refused) {
    write_batch((struct batch){.cpu_ns = 1000, .gpu_ns = 500});
    for (size_t whole = used - 1; used > 1;) {
        used = --whole;
        run();
        cr_assert_eq(result.bad_lines, 1, "%zu characters", used);
    }
}

Test(replay, more_devices_or_sizes_than_can_be_are_refused) {
    for (uint32_t i = 0; i < 20; i++)
        say("{\"operation\":\"sum_f32\",\"device\":%u,\"backend\":\"x\",\"name\":\"y\",\"place\":\"device\",\"policy\":"
            "\"auto\","
            "\"why\":\"only\",\"tasks\":1,\"units\":%s,\"work\":1125899906842623,\"bytes_in\":0,"
            "\"bytes_out\":0,\"learned\":true,\"setup_ns\":1,\"transfer_ns\":1,\"compute_ns\":%s,\"candidates\":[]}\n",
            i, i == 4 ? "18446744073709551615" : "1", i == 3 ? "18446744073709551615" : "1");
    run();
    cr_assert_eq(result.bad_lines, 20 - 16);
    cr_assert_eq(device_count, 16);
    cr_assert_eq(result.forced, 16);
}

Test(replay, what_is_refused) {
    struct svmx_replay_options options = {.size = sizeof options, .learn = "frozen"};
    result = (struct svmx_replay){.size = sizeof result};
    cr_assert_eq(svmx_replay(NULL, 1, NULL, &result, NULL, 0, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_replay("", 0, NULL, NULL, NULL, 0, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_replay("", 0, NULL, &result, NULL, 1, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_replay("", 0, &options, &result, NULL, 0, NULL), SVMX_ERR_ARGUMENT);
    options = (struct svmx_replay_options){.size = sizeof options, .probe_percent = 51};
    cr_assert_eq(svmx_replay("", 0, &options, &result, NULL, 0, NULL), SVMX_ERR_ARGUMENT);
    options = (struct svmx_replay_options){.size = 8};
    cr_assert_eq(svmx_replay("", 0, &options, &result, NULL, 0, NULL), SVMX_ERR_ARGUMENT);
    result.size = 8;
    cr_assert_eq(svmx_replay("", 0, NULL, &result, NULL, 0, NULL), SVMX_ERR_ARGUMENT);
}
