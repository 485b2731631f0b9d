/*
 * bench.h: what the suites of `make bench` share: interleaved rounds, medians, rows of results.
 *
 * A suite is a program: bench_open, for each case bench_measure and bench_row, bench_close. tests/bench/run.sh runs it and
 * puts the rows of all suites together. docs/BENCHMARKS.md says how to run it and how to read what it prints.
 *
 *   lanes of a case     ours   peer   floor
 *   round 0             slice  slice  slice       Each slice is short, and the lanes take turns: what disturbs the machine
 *   round 1             slice  slice  slice       for a while disturbs all lanes alike, what disturbs it for a moment
 *   ...                                           spoils one slice, and the median does not see it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_H
#define SVMX_TESTS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { BENCH_MAX_ROUNDS = 2001 };

/* A suite under way. */
struct bench {
    const char *suite;
    FILE *rows;            /* where rows go as JSON, one a line, or NULL */
    uint32_t rounds;       /* SVMX_BENCH_ROUNDS */
    uint64_t slice_ns;     /* SVMX_BENCH_SLICE_US */
    const char *only;      /* SVMX_BENCH_ONLY: cases whose names have this in them; NULL = all */
    bool quick;            /* SVMX_BENCH_QUICK, of QUICK=1: for a look */
    const char *place;     /* the device that is measured, for notes in JSON; NULL = the machine */
    uint64_t patience_ns;  /* for the rounds of one case; 0 = as long as they take */
    uint32_t least_rounds; /* that are taken however long they take */
    bool shuffles;         /* lanes of a round in any order: where what one leaves behind is a price for the next */
};

/* One of the things that a case compares. */
struct bench_lane {
    /* Does the thing `repeats` times. Timed. */
    void (*run)(void *user, uint64_t repeats);
    /* Before and after a slice, not timed; may be NULL. For a peer whose threads would disturb the other lanes. */
    void (*enter)(void *user);
    void (*leave)(void *user);
    void *user;
    uint64_t items; /* that one repeat does; figures are for one item. 0 counts as 1 */
    bool cpu_time;  /* CPU time of the process instead of the wall clock: for lanes of one thread, which never wait */

    /* Set by bench_measure. */
    uint64_t repeats;            /* to a slice */
    uint32_t rounds;             /* fewer than were asked for where these take too long */
    double ns[BENCH_MAX_ROUNDS]; /* for one item, by round */
};

/* What was asked for, and of which figure. */
enum bench_ask { BENCH_NO_ASK, BENCH_OURS_AT_MOST, BENCH_OURS_AT_LEAST, BENCH_RATIO_AT_LEAST };

/* One line of the result. A figure that was not measured is NAN. */
struct bench_row {
    const char *name; /* of the case */
    double ours, peer;
    const char *peer_name; /* NULL: no peer */
    const char *unit;
    bool more_is_better; /* default: less is */
    enum bench_ask ask;
    double bound;
    bool wrong;       /* the results were not right: never ok, whatever the figures */
    bool unjudged;    /* the figures say nothing here: the row keeps its ask, and is skipped; the note says why */
    const char *note; /* a word on it; must be there when something was skipped; NULL = none */
};

/* Reads the settings (SVMX_BENCH_*) and opens the file of rows. Ends the program when a setting is malformed. */
void bench_open(struct bench *bench, const char *suite);

/* Rounds of a suite that takes `most` of its own: no more than were asked for, and 3 for a look. */
uint32_t bench_rounds(const struct bench *bench, uint32_t most);

/* Prints what is left. The status for main: 0, whatever was met or missed; 1 when the rows could not be written. */
int bench_close(struct bench *bench);

/* Runs the lanes in turn: warm-up, as many repeats as fill a slice, then rounds, until patience ends. NULL lanes are left
 * out. */
void bench_measure(const struct bench *bench, struct bench_lane *const *lanes, size_t count);

/* Puts the numbers below `count` in an order, the same of a round in every run. Over many rounds each follows each as often:
 * turning a row, forwards and backwards, does not do that. */
void bench_shuffle(uint32_t round, size_t *order, size_t count);

/* The median of a lane over its rounds, in ns for one item. NAN for NULL. */
double bench_median(const struct bench *bench, const struct bench_lane *lane);

/* The median of what a lane took over what another took in the same round, in ns for one item. NAN for NULL. */
double bench_median_over(const struct bench *bench, const struct bench_lane *lane, const struct bench_lane *floor);

/* How unquiet the machine was: median over 10th percentile of a lane. 1.0 = still; above 1.3 figures are doubtful. */
double bench_noise(const struct bench *bench, const struct bench_lane *lane);

/* Writes a row: a line of the table, and a line for bench-results.json. */
void bench_row(struct bench *bench, const struct bench_row *row);

/* Wall clock, ns, monotonic. */
uint64_t bench_now_ns(void);

/* CPU time of the process so far, all threads, ns. */
uint64_t bench_cpu_ns(void);

#endif
