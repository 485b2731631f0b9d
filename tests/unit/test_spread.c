/*
 * test_spread.c: chunks are handed out so that all end together, and who takes them when one is early, slow or lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/spread.h"

#include "executor/cut.h"
#include "executor/executor.h"
#include <criterion/criterion.h>
#include <stdlib.h>

/* ---- handing out ---- */

Test(spread, equal_devices_get_the_same) {
    struct svmx__taker takers[4] = {{.chunk_ns = 10}, {.chunk_ns = 10}, {.chunk_ns = 10}, {.chunk_ns = 10}};
    cr_assert_eq(svmx__spread(takers, 4, 32), 80);
    for (int i = 0; i < 4; i++) cr_expect_eq(takers[i].chunks, 8);
}

Test(spread, speeds_and_what_is_before_count) {
    struct svmx__taker takers[3] = {{.chunk_ns = 10}, {.chunk_ns = 20}, {.chunk_ns = 10, .busy_ns = 40}};
    cr_assert_eq(svmx__spread(takers, 3, 16), 80);
    cr_expect_eq(takers[0].chunks, 8);
    cr_expect_eq(takers[1].chunks, 4);
    cr_expect_eq(takers[2].chunks, 4);
}

Test(spread, who_would_end_last_gets_none) {
    struct svmx__taker takers[2] = {{.chunk_ns = 1}, {.chunk_ns = 100}};
    cr_assert_eq(svmx__spread(takers, 2, 64), 64);
    cr_expect_eq(takers[1].chunks, 0);
}

Test(spread, who_takes_none_gets_none) {
    struct svmx__taker takers[2] = {{.chunk_ns = 0, .chunks = 7}, {.chunk_ns = 5}};
    cr_assert_eq(svmx__spread(takers, 2, 3), 15);
    cr_expect_eq(takers[0].chunks, 0);
    takers[1].chunk_ns = -1;
    cr_assert_lt(svmx__spread(takers, 2, 3), 0);
    cr_assert_lt(svmx__spread(takers, 2, 0), 0);
}

/* No other way to hand out chunks ends earlier: against all of them, for three devices. */
static double best_of_all(const struct svmx__taker *takers, uint32_t chunks) {
    double best = 1e30;
    for (uint32_t i = 0; i <= chunks; i++)
        for (uint32_t k = 0; i + k <= chunks; k++) {
            const uint32_t each[3] = {i, k, chunks - i - k};
            double end = 0;
            for (int d = 0; d < 3; d++) {
                const double of_d = each[d] ? takers[d].busy_ns + each[d] * takers[d].chunk_ns : 0;
                if (of_d > end) end = of_d;
            }
            if (end < best) best = end;
        }
    return best;
}

Test(spread, no_other_way_ends_earlier) {
    for (unsigned seed = 1; seed < 400; seed++) {
        struct svmx__taker takers[3] = {{0}};
        const uint32_t chunks = 1 + seed % 24;
        uint32_t sum = 0;
        for (unsigned d = 0; d < 3; d++) {
            takers[d].chunk_ns = 1 + seed * (d + 3) * 2654435761u % 97;
            takers[d].busy_ns = seed * (d + 7) * 40503u % 211;
        }
        const double finish = svmx__spread(takers, 3, chunks);
        for (int d = 0; d < 3; d++) sum += takers[d].chunks;
        cr_assert_eq(sum, chunks);
        cr_assert_float_eq(finish, best_of_all(takers, chunks), 1e-9, "seed %u", seed);
    }
}

/* ---- taking ---- */

static struct svmx__device *devices;
static struct svmx__cut cut;

/* A cut in which device d has so many chunks, and takes so long for each. */
static void cut_for(uint32_t count, const uint32_t *chunks, const double *chunk_ns) {
    uint32_t at = 0;
    devices = calloc(count, sizeof *devices);
    cr_assert(devices);
    pthread_mutex_init(&cut.lock, NULL);
    cut.share_count = cut.live = count;
    for (uint32_t d = 0; d < count; d++) {
        svmx__health_init(&devices[d].health);
        cut.shares[d] = (struct svmx__share){
            .cut = &cut, .device = &devices[d], .chunk_ns = chunk_ns[d], .next = at, .end = at + chunks[d]};
        at += chunks[d];
    }
}

static uint32_t take(uint32_t device) { return svmx__share_take(&cut.shares[device]); }
static void lose(uint32_t device) { (void)svmx__health_lose(&devices[device].health, 1, true, "gone"); }

Test(cut, its_own_first_and_then_the_last_of_who_has_most_to_do) {
    cut_for(3, (const uint32_t[]){1, 3, 2}, (const double[]){10, 10, 10});
    cr_expect_eq(take(0), 0);
    cr_expect_eq(take(0), 3, "device 1 has three left");
    cr_expect_eq(take(0), 2, "and still the most, being first of equals");
    cr_expect_eq(take(1), 1);
    cr_expect_eq(take(2), 4);
    cr_expect_eq(take(1), 5);
    for (uint32_t d = 0; d < 3; d++) cr_expect_eq(take(d), UINT32_MAX);
    cr_expect_eq(cut.live, 0);
}

Test(cut, who_would_take_longer_than_the_rest_does_not_help) {
    cut_for(2, (const uint32_t[]){0, 2}, (const double[]){100, 10});
    cr_expect_eq(take(0), UINT32_MAX);
    cr_expect_eq(take(1), 0);
    cr_expect_eq(take(1), 1);
}

Test(cut, what_a_lost_device_has_left_is_for_the_others_however_slow) {
    cut_for(2, (const uint32_t[]){1, 2}, (const double[]){100, 1});
    cr_expect_eq(take(1), 1);
    lose(1);
    cr_expect_eq(take(1), UINT32_MAX, "it takes no more");
    cr_expect_eq(take(0), 0);
    cr_expect_eq(take(0), 2);
    cr_expect_eq(take(0), UINT32_MAX);
}

Test(cut, the_last_one_does_all_lost_or_not) {
    cut_for(2, (const uint32_t[]){2, 2}, (const double[]){10, 10});
    lose(0);
    lose(1);
    cr_expect_eq(take(0), UINT32_MAX);
    uint32_t taken = 0;
    while (take(1) != UINT32_MAX) taken++;
    cr_expect_eq(taken, 4);
}

/* A device that was lost, left, and is back by the time the last share looks: it does not come back for its chunks. */
Test(cut, the_last_one_takes_what_was_left_behind_by_a_device_that_is_well_again) {
    cut_for(2, (const uint32_t[]){1, 2}, (const double[]){100, 1});
    cr_expect_eq(take(1), 1);
    lose(1);
    cr_expect_eq(take(1), UINT32_MAX, "it takes no more");
    svmx__health_return(&devices[1].health, 2);
    cr_expect_eq(take(0), 0);
    cr_expect_eq(take(0), 2, "however slow");
    cr_expect_eq(take(0), UINT32_MAX);
    cr_expect_eq(cut.live, 0);
}
