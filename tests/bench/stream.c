/*
 * stream.c: see stream.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

static void demand(enum svmx_status status, const svmx_batch_t *batch, const char *what) {
    if (status == SVMX_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, svmx_status_name(status), svmx_batch_error(batch));
    exit(1);
}

static float *sums_of(const struct stream *stream, size_t batch) {
    return stream->memory + (2 + batch) * stream->total;
}

static void batch_open(struct stream *stream, size_t number, const size_t *sizes, size_t count) {
    svmx_batch_t **batch = &stream->batches[number];
    demand(svmx_batch_create(stream->executor, batch), NULL, "svmx_batch_create");
    demand(svmx_batch_set_policy(*batch, SVMX_POLICY_GPU), *batch, "svmx_batch_set_policy");
    for (size_t i = 0, at = 0; i < count; at += sizes[i++])
        demand(svmx_vec_add_f32(*batch, sums_of(stream, number) + at, stream->memory + at,
                                stream->memory + stream->total + at, sizes[i]),
               *batch, "svmx_vec_add_f32");
    demand(svmx_run(*batch), *batch, "svmx_run");
}

bool stream_open(struct stream *stream, const struct svmx_options *options, const size_t *sizes, size_t count) {
    struct svmx_error error;
    *stream = (struct stream){0};
    if (svmx_open(&stream->executor, options, &error) != SVMX_OK) return false;
    for (size_t i = 0; i < count; i++) stream->total += sizes[i];
    stream->memory = malloc((2 + STREAM_BATCHES) * stream->total * sizeof(float));
    if (!stream->memory) exit(1);
    for (size_t i = 0; i < stream->total; i++) {
        stream->memory[i] = (float)(i % 1009);
        stream->memory[stream->total + i] = (float)(i % 13);
    }
    for (size_t i = 0; i < STREAM_BATCHES; i++) batch_open(stream, i, sizes, count);
    return true;
}

void stream_close(struct stream *stream) {
    for (size_t i = 0; i < STREAM_BATCHES; i++) svmx_batch_destroy(stream->batches[i]);
    free(stream->memory);
    svmx_close(stream->executor);
}

/* Waits for the batch whose turn it is, if it is under way. */
static svmx_batch_t *next_of(struct stream *stream) {
    svmx_batch_t *batch = stream->batches[stream->next++ % STREAM_BATCHES];
    demand(svmx_wait(batch, UINT64_MAX), batch, "svmx_wait");
    return batch;
}

void stream_run(void *user, uint64_t batches) {
    struct stream *stream = user;
    while (batches-- > 0) {
        svmx_batch_t *batch = next_of(stream);
        demand(svmx_batch_rearm(batch), batch, "svmx_batch_rearm");
        demand(svmx_submit(batch, 0), batch, "svmx_submit");
    }
    for (size_t i = 0; i < STREAM_BATCHES; i++) (void)next_of(stream);
}

bool stream_is_right(struct stream *stream) {
    bool right = true;
    memset(sums_of(stream, 0), 0xff, STREAM_BATCHES * stream->total * sizeof(float));
    stream_run(stream, STREAM_BATCHES);
    for (size_t number = 0; number < STREAM_BATCHES; number++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        const float *sums = sums_of(stream, number);
        demand(svmx_receipt_get(stream->batches[number], 0, &receipt), NULL, "svmx_receipt_get");
        right = right && receipt.device == 0 && receipt.launches == 1;
        for (size_t i = 0; right && i < stream->total; i++)
            right = sums[i] == stream->memory[i] + stream->memory[stream->total + i];
    }
    return right;
}
