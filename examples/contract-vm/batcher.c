/*
 * batcher.c: the place where the VM and the executor meet. All calls of svmx that a running transaction causes are here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "batcher.h"

#include <svmx/ops.h>
#include <time.h>

static uint64_t now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

enum svmx_status batcher_open(struct batcher *batcher, svmx_executor_t *executor, const struct batcher_limits *limits) {
    *batcher = (struct batcher){.limits = *limits};
    return svmx_batch_create(executor, &batcher->batch);
}

void batcher_close(struct batcher *batcher) {
    for (int i = 0; i < REQUEST_KINDS; i++) {
        struct batcher_lane *lane = &batcher->lanes[i];
        messages_free(&lane->inputs);
        for (int w = 0; w < 4; w++) bytes_free(&lane->words[w]);
        bytes_free(&lane->answers);
        bytes_free(&lane->valid);
        free(lane->waiting);
    }
    svmx_batch_destroy(batcher->batch);
    *batcher = (struct batcher){0};
}

/* ---- join ----------------------------------------------------------------------------------------------------- */

void batcher_join(struct batcher *batcher, struct vm *vm) {
    struct batcher_lane *lane = &batcher->lanes[vm->request.kind];
    size_t length;
    const uint8_t *input = vm_input(vm, &length);
    if (lane->count == lane->room) {
        lane->room = 2 * lane->room + 16;
        lane->waiting = memory_resize(lane->waiting, lane->room, sizeof(struct vm *));
    }
    lane->waiting[lane->count++] = vm;
    if (vm->request.kind == REQUEST_RECOVER)
        for (int w = 0; w < 4; w++) bytes_add(&lane->words[w], input + 32 * w, 32);
    else
        messages_add(&lane->inputs, input, length);
    if (batcher->count++ == 0) batcher->since_ns = now_ns();
}

bool batcher_ready(struct batcher *batcher) {
    const size_t bytes =
        batcher->lanes[REQUEST_KECCAK256].inputs.data.length + batcher->lanes[REQUEST_SHA256].inputs.data.length;
    if (batcher->count == 0) return false;
    if (batcher->count >= batcher->limits.requests || bytes >= batcher->limits.bytes)
        return batcher->counts.full++, true;
    if (now_ns() - batcher->since_ns >= batcher->limits.deadline_ns) return batcher->counts.late++, true;
    return false;
}

/* ---- run ------------------------------------------------------------------------------------------------------ */

static enum svmx_status add_hashes(svmx_batch_t *batch, uint32_t op, struct batcher_lane *lane) {
    if (lane->count == 0) return SVMX_OK;
    lane->answers.length = 0;
    uint8_t *digests = bytes_extend(&lane->answers, 32 * lane->count);
    return svmx_hash_messages(batch, op, digests, lane->inputs.data.data, lane->inputs.offsets, lane->count);
}

static enum svmx_status add_signatures(svmx_batch_t *batch, struct batcher_lane *lane) {
    if (lane->count == 0) return SVMX_OK;
    lane->answers.length = lane->valid.length = 0;
    uint8_t *addresses = bytes_extend(&lane->answers, 20 * lane->count),
            *valid = bytes_extend(&lane->valid, lane->count);
    return svmx_ecrecover(batch, addresses, valid, lane->words[0].data, lane->words[1].data, lane->words[2].data,
                          lane->words[3].data, lane->count);
}

static void answer_hashes(struct batcher_lane *lane) {
    for (size_t i = 0; i < lane->count; i++) vm_answer(lane->waiting[i], lane->answers.data + 32 * i);
}

/* An address is answered as a word. */
static void answer_signatures(struct batcher_lane *lane) {
    for (size_t i = 0; i < lane->count; i++) {
        uint8_t word[32] = {0};
        memcpy(word + 12, lane->answers.data + 20 * i, 20);
        vm_answer(lane->waiting[i], lane->valid.data[i] ? word : NULL);
    }
}

static void clear(struct batcher *batcher) {
    batcher->counts.batches++;
    batcher->counts.requests += batcher->count;
    if (batcher->count > batcher->counts.largest) batcher->counts.largest = batcher->count;
    batcher->count = 0;
    for (int i = 0; i < REQUEST_KINDS; i++) {
        struct batcher_lane *lane = &batcher->lanes[i];
        messages_clear(&lane->inputs);
        for (int w = 0; w < 4; w++) lane->words[w].length = 0;
        lane->count = 0;
    }
}

enum svmx_status batcher_run(struct batcher *batcher) {
    struct batcher_lane *keccak256 = &batcher->lanes[REQUEST_KECCAK256], *sha256 = &batcher->lanes[REQUEST_SHA256],
                        *recover = &batcher->lanes[REQUEST_RECOVER];
    svmx_batch_t *batch = batcher->batch;
    if (batcher->count == 0) return SVMX_OK;
    enum svmx_status status = svmx_batch_reset(batch);
    if (status == SVMX_OK) status = add_hashes(batch, SVMX_OP_KECCAK256, keccak256);
    if (status == SVMX_OK) status = add_hashes(batch, SVMX_OP_SHA256, sha256);
    if (status == SVMX_OK) status = add_signatures(batch, recover);
    if (status == SVMX_OK) status = svmx_run(batch);
    if (status != SVMX_OK) return status;
    answer_hashes(keccak256);
    answer_hashes(sha256);
    answer_signatures(recover);
    clear(batcher);
    return SVMX_OK;
}
