/*
 * peer_starpu.c: see peer_starpu.h. Without HAVE_STARPU it only says that StarPU is missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer_starpu.h"

#ifdef HAVE_STARPU

/* Its headers are not written for our warnings. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <starpu.h>
#pragma GCC diagnostic pop
#include <stdio.h>
#include <stdlib.h>

struct starpu_peer {
    struct starpu_codelet codelet;
    struct starpu_task *tasks;
    struct plain_work *args; /* of one row each */
};

/* A codelet cannot carry a pointer to its peer beside its argument: it asks anew, which costs three loads. */
static void compute(void *buffers[], void *cl_arg) {
    (void)buffers;
    plain_vec_add_f32()(cl_arg);
}

static bool start(const char **why) {
    struct starpu_conf conf;
    if (starpu_conf_init(&conf) == 0) {
        conf.sched_policy_name = "eager";
        conf.ncuda = 0;
        conf.nopencl = 0;
        if (starpu_init(&conf) == 0) {
            starpu_pause();
            return true;
        }
    }
    *why = "StarPU does not start on this machine";
    return false;
}

struct starpu_peer *starpu_peer_open(uint32_t tasks, const char **why) {
    struct starpu_peer *peer = calloc(1, sizeof *peer);
    if (!peer) goto no_memory;
    peer->tasks = calloc(tasks, sizeof *peer->tasks);
    peer->args = calloc(tasks, sizeof *peer->args);
    if (!peer->tasks || !peer->args) goto no_memory;
    starpu_codelet_init(&peer->codelet);
    peer->codelet.cpu_funcs[0] = compute;
    peer->codelet.name = "vec_add_f32";
    if (start(why)) return peer;
    goto free_peer;

no_memory:
    *why = "no memory for tasks of StarPU";
free_peer:
    if (peer) {
        free(peer->tasks);
        free(peer->args);
    }
    free(peer);
    return NULL;
}

void starpu_peer_close(struct starpu_peer *peer) {
    if (!peer) return;
    starpu_resume();
    starpu_shutdown();
    free(peer->tasks);
    free(peer->args);
    free(peer);
}

/* A figure of tasks that did not run would be worse than none. */
static void demand(int status, const char *what) {
    if (status == 0) return;
    fprintf(stderr, "StarPU: %s answers %d\n", what, status);
    exit(1);
}

static void submit(struct starpu_peer *peer, size_t at, bool alone) {
    struct starpu_task *task = &peer->tasks[at];
    starpu_task_init(task);
    task->cl = &peer->codelet;
    task->cl_arg = &peer->args[at];
    task->cl_arg_size = sizeof peer->args[at];
    task->destroy = 0;
    task->synchronous = alone; /* submit then waits: its quickest way for one task */
    demand(starpu_task_submit(task), "starpu_task_submit");
}

void starpu_peer_run(struct starpu_peer *peer, const struct plain_work *work) {
    for (size_t i = 0; i < work->rows; i++) {
        size_t at = i * work->stride;
        peer->args[i] = (struct plain_work){work->out + at, work->a + at, work->b + at, work->n, 1, 0};
        submit(peer, i, work->rows == 1);
    }
    if (work->rows != 1) demand(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
    for (size_t i = 0; i < work->rows; i++) starpu_task_clean(&peer->tasks[i]);
}

/* The first task after a pause would pay for waking the workers. */
void starpu_peer_resume(struct starpu_peer *peer) {
    float out, in = 0;
    const struct plain_work one = {&out, &in, &in, 1, 1, 0};
    starpu_resume();
    for (int i = 0; i < 5; i++) starpu_peer_run(peer, &one);
}

void starpu_peer_pause(struct starpu_peer *peer) {
    (void)peer;
    starpu_pause();
}

#else

struct starpu_peer *starpu_peer_open(uint32_t tasks, const char **why) {
    (void)tasks;
    *why = "built without StarPU (libstarpu-dev)";
    return NULL;
}
void starpu_peer_close(struct starpu_peer *peer) { (void)peer; }
void starpu_peer_resume(struct starpu_peer *peer) { (void)peer; }
void starpu_peer_pause(struct starpu_peer *peer) { (void)peer; }
void starpu_peer_run(struct starpu_peer *peer, const struct plain_work *work) {
    (void)peer;
    (void)work;
}

#endif
