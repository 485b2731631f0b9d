/*
 * embed.c: the whole of it in thirty lines: hash two messages and add two vectors in one batch.
 *
 *   cc embed.c $(pkg-config --cflags --libs svmx) -o embed && ./embed
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <svmx/ops.h>

int main(void) {
    svmx_executor_t *executor;
    svmx_batch_t *batch;
    struct svmx_error error;
    if (svmx_open(&executor, NULL, &error) != SVMX_OK) return fprintf(stderr, "%s\n", error.text), 1;
    if (svmx_batch_create(executor, &batch) != SVMX_OK) return fprintf(stderr, "no memory\n"), 1;

    const uint8_t messages[] = "abcdefg"; /* "abc" and "defg", end to end */
    const uint64_t offsets[] = {0, 3, 7};
    uint8_t digests[2][32];
    const float a[4] = {1, 2, 3, 4}, b[4] = {10, 20, 30, 40};
    float sums[4];

    if (svmx_keccak256(batch, digests[0], messages, offsets, 2) != SVMX_OK || /* each adds a task, or says why not */
        svmx_vec_add_f32(batch, sums, a, b, 4) != SVMX_OK || svmx_run(batch) != SVMX_OK)
        return fprintf(stderr, "%s\n", svmx_batch_error(batch)), 1;

    for (int i = 0; i < 4; i++) printf("%02x", digests[0][i]);
    printf("... %g %g %g %g\n", sums[0], sums[1], sums[2], sums[3]); /* 4e03657a... 11 22 33 44 */
    svmx_batch_destroy(batch);
    svmx_close(executor);
    return 0;
}
