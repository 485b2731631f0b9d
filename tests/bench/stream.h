/*
 * stream.h: a continuous stream of batches for suite overlap: a few batches of vector sums take turns, each is submitted again
 * as soon as it is done and its turn has come, so that the device never waits for the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_STREAM_H
#define SVMX_TESTS_BENCH_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <svmx/svmx.h>

enum { STREAM_BATCHES = 4 }; /* as many as a window has by default, and one that waits */

struct stream {
    svmx_executor_t *executor;
    svmx_batch_t *batches[STREAM_BATCHES];
    float *memory; /* a, b, then the sums of each batch */
    size_t total;  /* floats of one batch */
    uint64_t next; /* batch to be submitted, counted through */
};

/* An executor with these options, on whose first device everything is computed, and batches of `count` sums of these sizes.
 * Ends the program when anything fails but the opening: false then. */
bool stream_open(struct stream *stream, const struct svmx_options *options, const size_t *sizes, size_t count);
void stream_close(struct stream *stream);

/* Does so many batches; all are over when it returns. A lane: `user` is the stream. */
void stream_run(void *user, uint64_t batches);

/* Are all sums right, and of the first device? Runs each batch once more. */
bool stream_is_right(struct stream *stream);

#endif
