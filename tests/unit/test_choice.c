/*
 * test_choice.c: who is chosen, and why: margin, tries and their bound, backlog, hints, masks, a frozen table, no memory.
 * Whole workloads: test_routing_virtual.c; threads: tests/integration/tsan_model.c.
 *
 * Linked with -Wl,--wrap=calloc, so that allocations can fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/choice.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { CPU, GPU, PHI, OP = 7, BOTH = 3, ALL = 7 };

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
static int allocations_left = -1; /* below 0: any number */

void *__wrap_calloc(size_t count, size_t bytes) {
    if (allocations_left == 0) return NULL;
    if (allocations_left > 0) allocations_left--;
    return __real_calloc(count, bytes);
}

static struct svmx__model model;
static struct svmx__choices choices;
static double takes_ns[3]; /* what each device takes */
static const struct svmx__model_device devices[] = {
    [CPU] = {.on_host = true, .bytes_per_ns = 1, .times_faster = 1},
    [GPU] = {.latency_ns = 50000, .bytes_per_ns = 6, .times_faster = 10},
    [PHI] = {.latency_ns = 50000, .bytes_per_ns = 6, .times_faster = 1}};

static void set_up(void) {
    svmx__model_init(&model, devices, 3);
    svmx__choices_init(&choices, &model, 1u << CPU | 1u << PHI);
    allocations_left = -1;
}

static void tear_down(void) {
    svmx__choices_fini(&choices);
    svmx__model_fini(&model);
}
TestSuite(choice, .init = set_up, .fini = tear_down);

static struct svmx__question question_of(uint64_t n, uint32_t allowed) {
    return (struct svmx__question){.op = OP, .allowed = allowed, .fallback = CPU, .load = {n, n, 12 * n}};
}

static struct svmx__answer ask(const struct svmx__question *question) {
    struct svmx__answer answer;
    svmx__choose(&choices, question, &answer);
    svmx__charge(&choices, &answer);
    return answer;
}

static void tell(const struct svmx__question *question, const struct svmx__answer *answer, double ns) {
    svmx__told(&choices, question, answer, (uint64_t)ns, &(struct svmx__sample){.compute_ns = (uint64_t)ns});
}

/* One batch from question to end. */
static struct svmx__answer run(const struct svmx__question *question) {
    const struct svmx__answer answer = ask(question);
    tell(question, &answer, takes_ns[answer.device]);
    return answer;
}

/* Runs until the table has settled; the device that has the cell then. */
static uint32_t settle(const struct svmx__question *question, int batches) {
    float costs[SVMX__ROUTED];
    for (int i = 0; i < batches; i++) run(question);
    return svmx__choices_look(&choices, question->op, &question->load, SVMX__ROUTED, costs);
}

/* ---- at first ----------------------------------------------------------------------------------------------- */

Test(choice, the_fallback_answers_while_nothing_is_known) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    float costs[SVMX__ROUTED];
    cr_assert_eq(svmx__choices_look(&choices, OP, &question.load, SVMX__ROUTED, costs), UINT32_MAX);
    const struct svmx__answer answer = ask(&question);
    cr_assert_eq(answer.device, CPU);
    cr_assert_eq(answer.expected_ns, 0);
    cr_assert_eq(svmx__choices_look(&choices, OP, &question.load, SVMX__ROUTED, costs), CPU);
    cr_assert_eq(costs[CPU], 0);
}

/* The parts of an answer, in ns. */
static void expect_parts(const struct svmx__answer *answer, double setup_ns, double transfer_ns) {
    const double unit = (double)answer->expected_ns / SVMX__WHOLE;
    cr_assert_float_eq(unit * answer->setup, setup_ns, 2 * unit, "setup %g", unit * answer->setup);
    cr_assert_float_eq(unit * answer->transfer, transfer_ns, 2 * unit, "transfer %g", unit * answer->transfer);
}

Test(choice, an_answer_says_what_its_prediction_is_made_up_of) {
    struct svmx__question question = question_of(1 << 20, BOTH);
    const struct svmx__sample sample = {.setup_ns = 1000000, .transfer_ns = 3000000, .compute_ns = 4000000};
    for (int i = 0; i < 8; i++) {
        question.allowed = 1u << GPU;
        const struct svmx__answer answer = ask(&question);
        question.allowed = BOTH;
        svmx__told(&choices, &question, &answer, 8000000, &sample);
        takes_ns[CPU] = 80e6;
        question.allowed = 1u << CPU;
        (void)run(&question);
    }
    question.allowed = 1u << GPU;
    struct svmx__answer answer = ask(&question);
    cr_assert_eq(answer.why, SVMX__WHY_ONLY);
    cr_assert_float_eq((double)answer.expected_ns, 8e6, 1);
    expect_parts(&answer, 1e6, 3e6);
    cr_assert_eq(answer.waiting, 0);
    const struct svmx__answer behind = ask(&question);
    cr_assert_eq(behind.waiting, 1u << GPU, "what the first has still to do is not told");
    cr_assert_float_eq((double)behind.wait_ns[GPU], 8e6, 1);
    svmx__uncharge(&choices, &behind, 0);
    svmx__uncharge(&choices, &answer, 0);
    question.allowed = BOTH;
    answer = ask(&question);
    cr_assert_eq(answer.why, SVMX__WHY_BEST);
    cr_assert_eq(answer.device, GPU);
    expect_parts(&answer, 1e6, 3e6);
}

/* 50 us to begin with, 12 bytes an item at 6 a ns, computing ten times as fast as the CPU. */
Test(choice, of_a_device_that_was_never_tried_the_parts_are_those_of_the_guess) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    takes_ns[CPU] = 80e6;
    cr_assert_eq(run(&question).device, CPU);
    const struct svmx__answer answer = ask(&question);
    cr_assert_eq(answer.why, SVMX__WHY_PROBE);
    const double guess = 50000 + 2.0 * (1 << 20) + 8e6, scale = (double)answer.expected_ns / guess;
    expect_parts(&answer, 50000 * scale, 2.0 * (1 << 20) * scale);
}

Test(choice, parts_are_in_proportion_whatever_their_sum_is) {
    struct svmx__price price = svmx__price_of(100, 50, 50, 100); /* medians of parts that are twice the whole's */
    cr_assert_eq(price.ns, 100);
    cr_assert_eq(price.setup, SVMX__WHOLE / 4);
    cr_assert_eq(price.transfer, SVMX__WHOLE / 4);
    price = svmx__price_of(100, 0, 0, 0);
    cr_assert(price.setup == 0 && price.transfer == 0);
    price = svmx__price_of(100, 1, 0, 0);
    cr_assert_eq(price.setup, SVMX__WHOLE);
}

Test(choice, a_device_that_may_be_faster_is_tried_as_soon_as_the_cpu_is_known) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    takes_ns[CPU] = 80e6;
    takes_ns[GPU] = 10e6;
    cr_assert_eq(run(&question).device, CPU);
    const struct svmx__answer second = run(&question);
    cr_assert_eq(second.device, GPU);
    cr_assert_eq(second.why, SVMX__WHY_PROBE);
    cr_assert_eq(run(&question).device, GPU);
    cr_assert_eq(run(&question).why, SVMX__WHY_BEST);
}

Test(choice, a_hint_stands_in_for_what_the_cpu_takes) {
    struct svmx__question question = question_of(1 << 10, BOTH);
    question.hint_ns = 50e6;
    const struct svmx__answer answer = ask(&question);
    cr_assert_eq(answer.device, GPU);
    cr_assert_eq(answer.why, SVMX__WHY_PROBE);
    cr_assert_eq(answer.incumbent_ns, 50e6f);
}

Test(choice, a_hint_that_it_is_short_keeps_it_on_the_cpu) {
    struct svmx__question question = question_of(1 << 20, BOTH);
    question.hint_ns = 1000;
    takes_ns[CPU] = 1000;
    for (int i = 0; i < 100; i++) cr_assert_eq(run(&question).device, CPU);
}

Test(choice, tiny_work_is_never_worth_a_try) {
    const struct svmx__question question = question_of(64, BOTH);
    takes_ns[CPU] = 300;
    for (int i = 0; i < 100000; i++) cr_assert_eq(run(&question).device, CPU);
}

/* ---- margin ------------------------------------------------------------------------------------------------- */

Test(choice, another_must_be_better_by_the_margin) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    takes_ns[CPU] = 1e6;
    takes_ns[GPU] = 0.92e6;
    cr_assert_eq(settle(&question, 2000), CPU);
    takes_ns[GPU] = 0.88e6;
    cr_assert_eq(settle(&question, 20000), GPU);
    takes_ns[GPU] = 1.05e6; /* back to a little worse: it keeps the cell */
    cr_assert_eq(settle(&question, 2000), GPU);
    takes_ns[GPU] = 1.2e6;
    cr_assert_eq(settle(&question, 2000), CPU);
}

Test(choice, one_sample_a_thousand_times_too_long_moves_nothing) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    takes_ns[CPU] = 8e6;
    takes_ns[GPU] = 1e6;
    cr_assert_eq(settle(&question, 50), GPU);
    for (int i = 0; i < 50; i++) {
        const struct svmx__answer answer = ask(&question);
        tell(&question, &answer, takes_ns[answer.device] * (i % 7 == 6 ? 1000 : 1));
        if (answer.why != SVMX__WHY_PROBE) cr_assert_eq(answer.device, GPU);
    }
}

Test(choice, nor_does_it_as_the_very_first) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    takes_ns[CPU] = 8e6;
    takes_ns[GPU] = 1000e6;
    run(&question);
    cr_assert_eq(run(&question).device, GPU);
    takes_ns[GPU] = 1e6;
    cr_assert_eq(settle(&question, 8), GPU);
}

Test(choice, a_first_use_counts_for_nothing) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    takes_ns[CPU] = 8e6;
    run(&question);
    const struct svmx__answer answer = ask(&question);
    cr_assert_eq(answer.device, GPU);
    svmx__told(&choices, &question, &answer, UINT64_C(5000000000),
               &(struct svmx__sample){.compute_ns = UINT64_C(5000000000), .first_use = true});
    cr_assert_eq(choices.probe_ns, 0);
    takes_ns[GPU] = 1e6;
    cr_assert_eq(settle(&question, 4), GPU);
}

/* ---- trying ------------------------------------------------------------------------------------------------- */

Test(choice, trying_stays_within_its_share) {
    static const double shares[] = {0.002, 0.01, 0.05};
    for (int k = 0; k < 3; k++) {
        double lost = 0, busy = 0;
        uint32_t tries = 0;
        choices.probe_share = shares[k];
        takes_ns[CPU] = 1e6;
        takes_ns[GPU] = 3e6;
        for (uint64_t i = 0; i < 20000; i++) {
            const struct svmx__question question = question_of(UINT64_C(1) << (10 + i % 10), BOTH);
            const struct svmx__answer answer = run(&question);
            busy += takes_ns[answer.device];
            if (answer.why != SVMX__WHY_PROBE) continue;
            lost += takes_ns[GPU] - takes_ns[CPU];
            tries++;
        }
        cr_assert_gt(tries, 0);
        cr_assert_leq(lost, shares[k] * busy + 10 * takes_ns[GPU]); /* a first surprise in each cell */
        tear_down();
        set_up();
    }
}

Test(choice, with_a_share_of_nothing_nothing_is_tried) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    choices.probe_share = 0;
    takes_ns[CPU] = 80e6;
    for (int i = 0; i < 2000; i++) cr_assert_eq(run(&question).device, CPU);
    cr_assert_eq(choices.probes, 0);
}

Test(choice, a_device_with_work_to_do_is_not_tried) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    takes_ns[CPU] = 80e6;
    run(&question);
    choices.backlog_ns[GPU] = 5;
    cr_assert_eq(ask(&question).device, CPU);
}

Test(choice, an_answer_can_be_taken_back) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    takes_ns[CPU] = 2e6;
    run(&question);
    for (int i = 0; i < 200; i++) {
        struct svmx__answer answer;
        svmx__choose(&choices, &question, &answer);
        svmx__unchoose(&choices, &answer);
        cr_assert_eq(choices.backlog_ns[answer.device], 0);
        cr_assert_eq(choices.probe_ns, 0);
    }
}

Test(choice, what_trying_showed_is_kept_for_the_estimate_of_regret) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    takes_ns[CPU] = 80e6;
    takes_ns[GPU] = 20e6;
    run(&question);
    run(&question);
    cr_assert_eq(choices.probes, 1);
    cr_assert_eq(choices.regret_ppm, 750000);
    cr_assert_eq(choices.regret_ppm_squared, UINT64_C(562500000000));
}

/* ---- drift -------------------------------------------------------------------------------------------------- */

Test(choice, a_device_that_slows_down_is_left_within_16_and_returned_to) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    int left = 0, back = 0;
    takes_ns[CPU] = 3e6;
    takes_ns[GPU] = 1e6;
    cr_assert_eq(settle(&question, 1000), GPU);
    takes_ns[GPU] = 10e6;
    while (settle(&question, 1) == GPU && left < 100) left++;
    cr_assert_lt(left, 16);
    cr_assert_eq(settle(&question, 3000), CPU);
    takes_ns[GPU] = 1e6;
    while (settle(&question, 1) == CPU && back < 1000) back++;
    cr_assert_lt(back, 300);
}

/* ---- backlog ------------------------------------------------------------------------------------------------ */

Test(choice, backlog_moves_work) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    takes_ns[CPU] = 3e6;
    takes_ns[GPU] = 1e6;
    choices.probe_share = 1;
    cr_assert_eq(settle(&question, 100), GPU);
    choices.probe_share = 0;
    struct svmx__answer answers[8];
    uint32_t on_cpu = 0;
    for (int i = 0; i < 8; i++) {
        answers[i] = ask(&question);
        on_cpu += answers[i].device == CPU;
        if (answers[i].device == CPU) cr_assert_eq(answers[i].why, SVMX__WHY_BACKLOG);
    }
    cr_assert_eq(on_cpu, 2); /* GPU 1, 2, 3; CPU 3; GPU 4, 5, 6; CPU 6 */
    for (int i = 0; i < 8; i++) tell(&question, &answers[i], takes_ns[answers[i].device]);
    cr_assert_eq(choices.backlog_ns[CPU], 0);
    cr_assert_eq(choices.backlog_ns[GPU], 0);
    cr_assert_eq(ask(&question).device, GPU);
}

Test(choice, devices_on_the_hosts_cores_wait_for_one_another) {
    const struct svmx__question question = question_of(1 << 20, ALL);
    for (uint32_t d = 0; d < 3; d++)
        for (int i = 0; i < 5; i++)
            svmx__model_learn(&model, OP, d, &question.load, &(struct svmx__sample){.compute_ns = 1000000 + 50000 * d});
    choices.probe_share = 0;
    svmx__charge(&choices, &(struct svmx__answer){.device = PHI, .expected_ns = 8e6f});
    const struct svmx__answer answer = ask(&question);
    cr_assert_eq(answer.device, GPU);
    cr_assert_eq(answer.why, SVMX__WHY_BACKLOG);
    cr_assert_eq(answer.waiting, 1u << CPU | 1u << PHI, "what was waited for is written down");
    cr_assert_eq(answer.wait_ns[CPU], 8e6f);
    cr_assert_eq(answer.wait_ns[PHI], 8e6f);
}

/* ---- who may ------------------------------------------------------------------------------------------------ */

Test(choice, the_only_one_that_may_gets_it) {
    const struct svmx__question both = question_of(1 << 20, BOTH), gpu = question_of(1 << 20, 1u << GPU),
                                cpu = question_of(1 << 20, 1u << CPU);
    takes_ns[CPU] = 8e6;
    takes_ns[GPU] = 1e6;
    cr_assert_eq(settle(&both, 50), GPU);
    for (int i = 0; i < 50; i++) {
        const struct svmx__answer answer = run(&cpu);
        cr_assert_eq(answer.device, CPU);
        cr_assert_eq(answer.why, SVMX__WHY_ONLY);
        cr_assert_eq(run(&gpu).device, GPU);
    }
    cr_assert_eq(settle(&both, 1), GPU); /* others' policies do not move the cell */
}

Test(choice, while_the_incumbent_may_not_the_best_of_the_others_does) {
    const struct svmx__question all = question_of(1 << 20, ALL);
    struct svmx__question without = question_of(1 << 20, 1u << CPU | 1u << PHI);
    for (uint32_t d = 0; d < 3; d++)
        for (int i = 0; i < 5; i++)
            svmx__model_learn(&model, OP, d, &all.load,
                              &(struct svmx__sample){.compute_ns = d == GPU   ? 100000
                                                                   : d == PHI ? 200000
                                                                              : 900000});
    choices.probe_share = 0;
    cr_assert_eq(ask(&all).device, GPU);
    cr_assert_eq(ask(&without).device, PHI);
}

/* ---- frozen, and without memory ----------------------------------------------------------------------------- */

Test(choice, a_frozen_table_stays_as_it_is) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    takes_ns[CPU] = 3e6;
    takes_ns[GPU] = 1e6;
    cr_assert_eq(settle(&question, 100), GPU);
    choices.frozen = true;
    takes_ns[GPU] = 100e6;
    cr_assert_eq(settle(&question, 1000), GPU);
    struct svmx__cost cost;
    svmx__model_cost(&model, OP, GPU, &question.load, &cost);
    cr_assert_eq(cost.ns, 1e6);
    cr_assert_eq(run(&question).device, GPU);
    const struct svmx__question other = question_of(1 << 10, BOTH); /* of which nothing is known */
    cr_assert_eq(run(&other).device, CPU);
}

Test(choice, a_frozen_table_answers_by_what_the_model_knows_from_the_start) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    choices.frozen = true;
    for (int i = 0; i < 5; i++) {
        cr_assert(svmx__model_learn(&model, OP, CPU, &question.load, &(struct svmx__sample){.compute_ns = 3000000}));
        cr_assert(svmx__model_learn(&model, OP, GPU, &question.load, &(struct svmx__sample){.compute_ns = 1000000}));
    }
    cr_assert_eq(run(&question).device, GPU);
}

Test(choice, who_asks_first_does_not_decide_for_all) {
    struct svmx__question forced = question_of(1 << 20, 1 << GPU);
    forced.fallback = GPU;
    forced.serving = BOTH;
    forced.serving_fallback = CPU;
    cr_assert_eq(ask(&forced).device, GPU);
    const struct svmx__question free = question_of(1 << 20, BOTH);
    cr_assert_eq(ask(&free).device, CPU);
}

Test(choice, without_memory_the_fallback_answers) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    takes_ns[CPU] = 80e6;
    takes_ns[GPU] = 1e6;
    for (int n = 0; n < 5; n++) { /* page, line, curve, cell: none of them, one, ... */
        allocations_left = n;
        for (int i = 0; i < 3; i++) {
            const struct svmx__answer answer = run(&question);
            if (n < 2) {
                cr_assert_eq(answer.device, CPU);
                cr_assert_eq(answer.why, SVMX__WHY_ONLY);
            }
            cr_assert_eq(choices.backlog_ns[answer.device], 0);
        }
        allocations_left = -1;
        cr_assert_eq(settle(&question, 20), GPU, "memory came back after %d", n);
        tear_down();
        set_up();
    }
}

Test(choice, to_look_makes_no_line) {
    const struct svmx__question question = question_of(1 << 20, BOTH);
    float costs[SVMX__ROUTED];
    for (int i = 0; i < 2; i++)
        cr_assert_eq(svmx__choices_look(&choices, OP, &question.load, SVMX__ROUTED, costs), UINT32_MAX);
}
