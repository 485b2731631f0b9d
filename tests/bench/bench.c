/*
 * bench.c: see bench.h. Measuring is here, writing of rows is in row.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Enough for a median that stays, short enough that most slices end before a scheduler takes the core away. */
enum { DEFAULT_ROUNDS = 201, DEFAULT_SLICE_US = 200, WARM_UP_ROUNDS = 5, MOST_LANES = 16 };

/* A case of slices of a tenth of a second and more: as many rounds as fit, and a median of few that are long. */
enum { LEAST_ROUNDS = 7, LEAST_QUICK_ROUNDS = 3 };
#define PATIENCE_NS       UINT64_C(6000000000)
#define QUICK_PATIENCE_NS UINT64_C(1000000000)
#define WARM_UP_NS        UINT64_C(100000000)

static uint64_t read_clock(clockid_t clock) {
    struct timespec now;
    (void)clock_gettime(clock, &now); /* cannot fail for the two below */
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t bench_now_ns(void) { return read_clock(CLOCK_MONOTONIC); }
uint64_t bench_cpu_ns(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

/* ---- settings ----------------------------------------------------------------------------------------------- */

/* A number from the environment. A malformed one ends the program: nobody wants figures of settings they did not ask for. */
static uint64_t setting(const char *name, uint64_t otherwise, uint64_t low, uint64_t high) {
    const char *text = getenv(name);
    if (!text || !*text) return otherwise;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno == 0 && *end == '\0' && text[0] != '-' && value >= low && value <= high) return value;
    fprintf(stderr, "%s=%s: a number from %llu to %llu is needed\n", name, text, (unsigned long long)low,
            (unsigned long long)high);
    exit(2);
}

/* All that the suite starts from here on stays on this CPU too, a peer's threads included, unless they move. */
static void pin(uint64_t cpu) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET((size_t)cpu, &mask);
    if (sched_setaffinity(0, sizeof mask, &mask) == 0) return;
    fprintf(stderr, "SVMX_BENCH_PIN=%llu: %s\n", (unsigned long long)cpu, strerror(errno));
    exit(2);
}

void bench_open(struct bench *bench, const char *suite) {
    *bench = (struct bench){.suite = suite,
                            .rounds = (uint32_t)setting("SVMX_BENCH_ROUNDS", DEFAULT_ROUNDS, 1, BENCH_MAX_ROUNDS),
                            .slice_ns = 1000 * setting("SVMX_BENCH_SLICE_US", DEFAULT_SLICE_US, 1, 1000000)};
    bench->quick = setting("SVMX_BENCH_QUICK", 0, 0, 1);
    bench->patience_ns = bench->quick ? QUICK_PATIENCE_NS : PATIENCE_NS;
    bench->least_rounds = bench->quick ? LEAST_QUICK_ROUNDS : LEAST_ROUNDS;
    const char *only = getenv("SVMX_BENCH_ONLY");
    if (only && *only) bench->only = only;
    const char *cpu = getenv("SVMX_BENCH_PIN");
    if (cpu && *cpu) pin(setting("SVMX_BENCH_PIN", 0, 0, CPU_SETSIZE - 1));
    const char *path = getenv("SVMX_BENCH_ROWS");
    if (!path || !*path) return;
    bench->rows = fopen(path, "a");
    if (bench->rows) return;
    fprintf(stderr, "SVMX_BENCH_ROWS=%s: %s\n", path, strerror(errno));
    exit(2);
}

uint32_t bench_rounds(const struct bench *bench, uint32_t most) {
    const uint32_t rounds = bench->rounds < most ? bench->rounds : most;
    return bench->quick && rounds > 3 ? 3 : rounds;
}

int bench_close(struct bench *bench) {
    bool failed = fflush(stdout) != 0;
    if (bench->rows && (ferror(bench->rows) || fclose(bench->rows) != 0)) failed = true;
    bench->rows = NULL;
    return failed ? 1 : 0;
}

/* ---- measuring ---------------------------------------------------------------------------------------------- */

static uint64_t slice(struct bench_lane *lane) {
    if (lane->enter) lane->enter(lane->user);
    uint64_t (*now)(void) = lane->cpu_time ? bench_cpu_ns : bench_now_ns;
    uint64_t start = now();
    lane->run(lane->user, lane->repeats);
    uint64_t end = now();
    if (lane->leave) lane->leave(lane->user);
    return end - start;
}

/* Finds how many repeats fill a slice. Doubles, so that a moment's disturbance costs one step at most. What is long by itself
 * is warm after that. */
static void calibrate(const struct bench *bench, struct bench_lane *lane) {
    uint64_t took_ns, spent_ns = 0;
    lane->repeats = 1;
    while ((took_ns = slice(lane)) < bench->slice_ns && lane->repeats < UINT64_C(1) << 40) lane->repeats *= 2;
    for (uint32_t i = 0; i < WARM_UP_ROUNDS && took_ns + spent_ns < WARM_UP_NS; i++) spent_ns += slice(lane);
}

static void put_in_order(size_t *order, size_t count) {
    for (size_t i = 0; i < count; i++) order[i] = i;
}

void bench_shuffle(uint32_t round, size_t *order, size_t count) {
    uint64_t dice = UINT64_C(0x9e3779b97f4a7c15) * (round + 1);
    put_in_order(order, count);
    for (size_t left = count; left > 1; left--) {
        dice ^= dice >> 33; /* xorshift, and its high bits */
        dice *= UINT64_C(0xff51afd7ed558ccd);
        const size_t at = (size_t)((dice >> 32) % left), moved = order[at];
        order[at] = order[left - 1];
        order[left - 1] = moved;
    }
}

void bench_measure(const struct bench *bench, struct bench_lane *const *lanes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (lanes[i]) calibrate(bench, lanes[i]);
    size_t order[MOST_LANES];
    assert(count <= MOST_LANES);
    put_in_order(order, count);
    const uint64_t start_ns = bench_now_ns();
    for (uint32_t round = 0; round < bench->rounds; round++) {
        const bool late = bench->patience_ns && bench_now_ns() - start_ns > bench->patience_ns;
        if (late && round >= bench->least_rounds) break;
        if (bench->shuffles) bench_shuffle(round, order, count);
        for (size_t i = 0; i < count; i++) {
            struct bench_lane *lane = lanes[order[i]];
            if (!lane) continue;
            uint64_t items = lane->items ? lane->items : 1;
            lane->ns[round] = (double)slice(lane) / (double)lane->repeats / (double)items;
            lane->rounds = round + 1;
        }
    }
}

/* ---- figures ------------------------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The value that `part` of all are not above. `values` is sorted on the way. */
static double quantile(double *values, uint32_t count, double part) {
    qsort(values, count, sizeof *values, by_value);
    return values[(uint32_t)((double)(count - 1) * part)];
}

/* Of a lane that was put together by hand all. */
static uint32_t rounds_of(const struct bench *bench, const struct bench_lane *lane) {
    return lane->rounds ? lane->rounds : bench->rounds;
}

double bench_median_over(const struct bench *bench, const struct bench_lane *lane, const struct bench_lane *floor) {
    double values[BENCH_MAX_ROUNDS];
    if (!lane) return NAN;
    const uint32_t rounds = rounds_of(bench, lane);
    for (uint32_t i = 0; i < rounds; i++) values[i] = lane->ns[i] - (floor ? floor->ns[i] : 0);
    return quantile(values, rounds, 0.5);
}

double bench_median(const struct bench *bench, const struct bench_lane *lane) {
    return bench_median_over(bench, lane, NULL);
}

double bench_noise(const struct bench *bench, const struct bench_lane *lane) {
    double values[BENCH_MAX_ROUNDS];
    const uint32_t rounds = rounds_of(bench, lane);
    memcpy(values, lane->ns, rounds * sizeof *values);
    double low = quantile(values, rounds, 0.1);
    return low > 0 ? bench_median(bench, lane) / low : 1;
}
