/*
 * scan_stats.c: what samples say: medians, intervals, and who wins by the 90 % rule. docs/SAMPLING.md has the reasons.
 *
 * Numbers only: no clock, no device. Called by scan_measure.c and scan_crossover.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"
#include <math.h>
#include <stdlib.h>

static const double margin = 0.9; /* as the router's: below that a win is no accident */

static int by_size(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double middle(const uint64_t *sorted, size_t count) {
    const double upper = (double)sorted[count / 2];
    return count % 2 ? upper : (upper + (double)sorted[count / 2 - 1]) / 2;
}

double scan_median(uint64_t *numbers, size_t count) {
    qsort(numbers, count, sizeof *numbers, by_size);
    return middle(numbers, count);
}

/* The true median is as likely above as below each sample: of n, n/2 - 0.98 sqrt(n) below it are too many in one of twenty
 * cases only. Of seven samples or less that leaves the smallest and the largest. */
static size_t rank_low(size_t count) {
    const double rank = floor(((double)count - 1.96 * sqrt((double)count)) / 2);
    return rank > 0 ? (size_t)rank : 0;
}

struct scan_spread scan_spread_of(uint64_t *times_ns, size_t count) {
    struct scan_spread spread = {.median = scan_median(times_ns, count)};
    for (size_t i = 0; i < count; i++) spread.mean += (double)times_ns[i];
    spread.mean /= (double)count;
    spread.min = (double)times_ns[0];
    spread.max = (double)times_ns[count - 1];
    spread.p90 = (double)times_ns[(9 * count + 9) / 10 - 1]; /* the smallest that nine tenths do not exceed */
    spread.low = (double)times_ns[rank_low(count)];
    spread.high = (double)times_ns[count - 1 - rank_low(count)];
    return spread;
}

double scan_spread_percent(const struct scan_spread *spread) {
    return spread->median > 0 ? 50 * (spread->high - spread->low) / spread->median : 0;
}

bool scan_gpu_wins(const struct scan_spread *cpu, const struct scan_spread *gpu) {
    return gpu->median < margin * cpu->median;
}

bool scan_is_decided(const struct scan_spread *cpu, const struct scan_spread *gpu) {
    return gpu->high < margin * cpu->low || gpu->low > margin * cpu->high;
}

size_t scan_crossover(const bool *wins, size_t count) {
    size_t first = count;
    while (first > 0 && wins[first - 1]) first--;
    return first;
}
