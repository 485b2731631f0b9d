/*
 * test_health.c: how far a device is trusted, by the numbers of health.h alone: time is what the test says it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/health.h"

#include <criterion/criterion.h>

#define S UINT64_C(1000000000)

static struct svmx__health health;
static uint64_t now;

static void set_up(void) {
    svmx__health_init(&health);
    now = 1000 * S;
}
static void tear_down(void) { svmx__health_fini(&health); }
TestSuite(health, .init = set_up, .fini = tear_down);

static struct svmx__health_word word(void) {
    struct svmx__health_word told;
    svmx__health_tell(&health, &told);
    return told;
}

static void good(uint32_t count, bool compared) {
    for (uint32_t i = 0; i < count; i++) svmx__health_good(&health, compared);
}

static bool strike(void) { return svmx__health_strike(&health, now, "it failed"); }

/* Strikes until it rests. */
static void wear_out(void) {
    while (!strike()) {
    }
}

/* Its rest ends just then. */
static void expect_rest(uint64_t ns) {
    cr_assert_not(svmx__health_claim(&health, now + ns - 1), "it rests for less than %llu s", (unsigned long long)ns);
    cr_assert(svmx__health_claim(&health, now + ns), "it rests for longer");
    cr_assert_not(svmx__health_claim(&health, now + ns), "two have it rebuilt");
    now += ns;
}

Test(health, starts_healthy_without_a_reason) {
    cr_assert_eq(word().state, SVMX_HEALTHY);
    cr_assert_eq(word().strikes, 0);
    cr_assert_str_eq(word().reason, "");
    cr_assert_not(svmx__health_claim(&health, SVMX__NEVER - 1));
}

Test(health, the_third_strike_within_60_s_is_a_rest) {
    cr_assert_not(strike());
    cr_assert_eq(word().state, SVMX_SUSPECT);
    now += 30 * S;
    cr_assert_not(strike());
    now += 30 * S;
    cr_assert(svmx__health_serves(&health));
    cr_assert(strike());
    cr_assert_eq(word().state, SVMX_RESTING);
    cr_assert_eq(word().strikes, 3);
    cr_assert_str_eq(word().reason, "it failed");
    cr_assert_not(svmx__health_serves(&health));
    cr_assert_not(strike(), "it rests already");
}

Test(health, strikes_that_are_older_do_not_count) {
    for (int i = 0; i < 100; i++) {
        cr_assert_not(strike(), "strike %d", i);
        now += 31 * S;
    }
    cr_assert_eq(word().state, SVMX_SUSPECT);
}

/* Whoever calls took the time before it came to the lock: another may have come first. */
Test(health, a_strike_from_before_the_last_one_counts_too) {
    (void)strike();
    now -= 1;
    (void)strike();
    cr_assert_eq(word().strikes, 2);
    cr_assert(strike());
}

Test(health, good_launches_take_strikes_away) {
    (void)strike();
    (void)strike();
    good(SVMX__GOOD - 1, false);
    cr_assert_eq(word().strikes, 2);
    good(1, false);
    cr_assert_eq(word().strikes, 1);
    cr_assert_eq(word().state, SVMX_SUSPECT);
    good(SVMX__GOOD, false);
    cr_assert_eq(word().strikes, 0);
    cr_assert_eq(word().state, SVMX_HEALTHY);
    cr_assert_str_eq(word().reason, "");
}

Test(health, one_failure_in_eight_is_too_many) {
    int launches = 0;
    while (svmx__health_serves(&health) && ++launches < 1000) {
        if (launches % 8 == 0)
            (void)strike();
        else
            good(1, false);
    }
    cr_assert_eq(launches, 24, "%d launches", launches);
}

Test(health, a_lost_device_is_off_at_once_and_comes_back_like_any) {
    cr_assert(svmx__health_lose(&health, now, false, "no answer"));
    cr_assert_eq(word().state, SVMX_LOST);
    cr_assert_not(svmx__health_lose(&health, now, false, "again"));
    cr_assert_str_eq(word().reason, "no answer");
    expect_rest(1 * S);
}

Test(health, one_that_broke_a_rule_stays_away) {
    cr_assert(svmx__health_lose(&health, now, true, "a ticket"));
    cr_assert_not(svmx__health_claim(&health, SVMX__NEVER - 1));
}

Test(health, rests_double_up_to_5_min) {
    static const uint64_t seconds[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300};
    wear_out();
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        expect_rest(seconds[i] * S);
        svmx__health_relapse(&health, now, "still broken");
        cr_assert_eq(word().state, SVMX_RESTING);
    }
    cr_assert_str_eq(word().reason, "still broken");
}

Test(health, what_comes_back_is_watched_for_ten_launches) {
    wear_out();
    expect_rest(1 * S);
    svmx__health_return(&health, now);
    cr_assert_eq(word().state, SVMX_SUSPECT);
    cr_assert_eq(word().strikes, 0);
    for (uint32_t i = 0; i < SVMX__COMPARED; i++) {
        cr_assert(svmx__health_is_watched(&health), "launch %u", i);
        good(1, true);
    }
    cr_assert_not(svmx__health_is_watched(&health));
    cr_assert_eq(word().state, SVMX_HEALTHY);
}

Test(health, launches_that_could_not_be_compared_do_not_count) {
    wear_out();
    expect_rest(1 * S);
    svmx__health_return(&health, now);
    good(100, false);
    cr_assert(svmx__health_is_watched(&health));
    cr_assert_eq(word().state, SVMX_SUSPECT);
}

Test(health, one_failure_while_it_is_watched_is_enough) {
    wear_out();
    expect_rest(1 * S);
    svmx__health_return(&health, now);
    good(9, true);
    cr_assert(strike());
    expect_rest(2 * S);
}

Test(health, after_5_min_of_work_rests_are_short_again) {
    wear_out();
    expect_rest(1 * S);
    svmx__health_return(&health, now);
    good(SVMX__COMPARED, true);
    now += 299 * S;
    wear_out();
    expect_rest(2 * S);
    svmx__health_return(&health, now);
    good(SVMX__COMPARED, true);
    now += 300 * S;
    wear_out();
    expect_rest(1 * S);
}

Test(health, forgiven_it_starts_from_the_beginning) {
    wear_out();
    expect_rest(1 * S);
    svmx__health_relapse(&health, now, "still broken");
    svmx__health_forgive(&health);
    cr_assert_eq(word().strikes, 0);
    cr_assert(svmx__health_claim(&health, SVMX__NEVER - 1), "it may come back now");
    svmx__health_relapse(&health, now, "still broken");
    expect_rest(1 * S);
}
