/*
 * demo.h: a load for those who want to see an executor at work (serve, top): batches of a few operations and many sizes, in a
 * thread of its own, which is busy for a part of the time and sleeps for the rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_DEMO_H
#define SVMX_CLI_DEMO_H

#include "session.h"
#include <pthread.h>
#include <stdatomic.h>

enum { DEMO_OPS = 5, DEMO_SIZES = 7 };

struct demo {
    svmx_executor_t *executor;
    svmx_batch_t *batch;
    struct svmx_example examples[DEMO_OPS][DEMO_SIZES];
    uint32_t ops[DEMO_OPS];
    uint32_t op_count;
    uint64_t percent;     /* of the time that the thread is busy; 0: there is no load */
    uint64_t limit;       /* batches; 0: until it is stopped */
    pthread_t thread;     /* unless percent is 0 */
    atomic_bool stopping; /* relaxed: nothing comes with it */
    enum cli_exit code;   /* how it went; of the thread until it is joined */
};

/* Starts it. CLI_OK, or another code after a message. Stop waits for the thread, and says how the load went. */
enum cli_exit demo_start(struct demo *demo, const struct cli_session *session, uint64_t percent, uint64_t limit);
enum cli_exit demo_stop(struct demo *demo);

#endif
