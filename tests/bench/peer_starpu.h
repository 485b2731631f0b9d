/*
 * peer_starpu.h: StarPU as the peer of suite overhead: the same vec_add_f32 tasks, through its submit.
 *
 * It is given its best: the scheduler that measures fastest here (eager), tasks that are not allocated anew, no data
 * handles and so no dependencies to look for. Its workers poll, so they are paused while another lane runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_PEER_STARPU_H
#define SVMX_TESTS_BENCH_PEER_STARPU_H

#include "plain.h"
#include <stdbool.h>
#include <stdint.h>

struct starpu_peer;

/* Starts StarPU for batches of up to `tasks` tasks. NULL: it is not there; `why` then says so, static text. One at a time:
 * StarPU is a global of the process. */
struct starpu_peer *starpu_peer_open(uint32_t tasks, const char **why);
void starpu_peer_close(struct starpu_peer *peer);

void starpu_peer_resume(struct starpu_peer *peer);
void starpu_peer_pause(struct starpu_peer *peer);

/* Submits one task for each row of the work, then waits for all. */
void starpu_peer_run(struct starpu_peer *peer, const struct plain_work *work);

#endif
