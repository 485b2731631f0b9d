/*
 * host.c: main of svmx-host, see host.h: lanes and answers.
 *
 * The control socket brings the ends of lanes, one after another; each gets a thread, which answers its calls until it
 * is closed. When the control socket is closed, by the proxy or by the end of its process, this one ends as well,
 * whatever it is doing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "isolate/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef enum svmx_status (*call_fn)(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer);

static const call_fn calls[] = {[SVMX__CALL_OPEN] = svmx__host_open,     [SVMX__CALL_ALLOC] = svmx__host_alloc,
                                [SVMX__CALL_FREE] = svmx__host_free,     [SVMX__CALL_BUILD] = svmx__host_build,
                                [SVMX__CALL_DROP] = svmx__host_drop,     [SVMX__CALL_BINARY] = svmx__host_binary,
                                [SVMX__CALL_SUBMIT] = svmx__host_submit, [SVMX__CALL_WAIT] = svmx__host_wait,
                                [SVMX__CALL_CLOSE] = svmx__host_close};

static struct hosted hosted = {.lock = PTHREAD_MUTEX_INITIALIZER, .strays = {.file = -1}};

_Thread_local struct svmx__wire *svmx__host_lines;

/* acquire: pairs with host_open.c */
static bool is_open(void) { return atomic_load_explicit(&hosted.open, memory_order_acquire); }

/* ---- answers ---------------------------------------------------------------------------------------------------- */

/* All of them, or none where there is no memory. */
static void append(struct svmx__wire *answer, const struct svmx__wire *lines) {
    const size_t before = answer->count;
    for (size_t i = 0; i < lines->count; i++) svmx__wire_put(answer, lines->words[i]);
    if (answer->broken) answer->count = before;
    answer->broken = false;
}

/* [status][where lines begin] outputs, lines: see calls.h. A failure has no outputs. */
static void finish(struct svmx__wire *answer, enum svmx_status status, const struct svmx__wire *lines) {
    if (answer->broken) status = SVMX_ERR_MEMORY;
    answer->broken = false;
    if (status != SVMX_OK) answer->count = 2;
    answer->words[0] = (uint64_t)(int64_t)status;
    answer->words[1] = answer->count;
    append(answer, lines);
    pthread_mutex_lock(&hosted.lock);
    append(answer, &hosted.strays);
    svmx__wire_reset(&hosted.strays);
    pthread_mutex_unlock(&hosted.lock);
}

static void answer_call(struct svmx__wire *request, struct svmx__wire *answer, struct svmx__wire *lines) {
    const uint64_t call = svmx__wire_get(request);
    svmx__wire_reset(lines);
    svmx__wire_reset(answer);
    svmx__wire_put(answer, 0);
    svmx__wire_put(answer, 0);
    if (answer->broken) _exit(1); /* not even two words: the proxy will hear that we are gone */
    svmx__host_lines = lines;
    const bool known = call >= SVMX__CALL_OPEN && call < sizeof calls / sizeof *calls;
    const bool ready = known && (is_open() || call == SVMX__CALL_OPEN || call == SVMX__CALL_CLOSE);
    const enum svmx_status status = ready ? calls[call](&hosted, request, answer) : SVMX_ERR_STATE;
    svmx__host_lines = NULL;
    /* A proxy that does not hear of a ticket, or that it is still open, uses the launch's memory again. */
    if (answer->broken && (call == SVMX__CALL_SUBMIT || call == SVMX__CALL_WAIT)) _exit(1);
    finish(answer, status, lines);
}

static void *lane_main(void *user) {
    const int lane = (int)(intptr_t)user;
    struct svmx__wire request = {.file = -1}, answer = {.file = -1}, lines = {.file = -1};
    while (svmx__wire_receive(lane, &request, UINT64_MAX) == SVMX__WIRE_DONE) {
        answer_call(&request, &answer, &lines);
        if (svmx__wire_send(lane, &answer, UINT64_MAX) != SVMX__WIRE_DONE) break;
    }
    svmx__wire_free(&request);
    svmx__wire_free(&answer);
    svmx__wire_free(&lines);
    (void)close(lane);
    return NULL;
}

/* ---- lanes ------------------------------------------------------------------------------------------------------ */

static void start_lane(int lane) {
    pthread_t thread;
    if (lane < 0) return;
    if (pthread_create(&thread, NULL, lane_main, (void *)(intptr_t)lane) == 0)
        (void)pthread_detach(thread);
    else
        (void)close(lane); /* its end tells the proxy */
}

static bool is_socket(int file) {
    struct stat info;
    return fstat(file, &info) == 0 && S_ISSOCK(info.st_mode);
}

int main(void) {
    struct svmx__wire message = {.file = -1};
    if (!is_socket(SVMX__HOST_CONTROL)) {
        (void)fprintf(stderr, SVMX__HOST_PROGRAM
                      ": libsvmx runs this for the setting isolate (SUPERVM_ISOLATE); see svmx(7)\n");
        return 2;
    }
    (void)syscall(SYS_close_range, SVMX__HOST_CONTROL + 1, ~0U, 0); /* files of the program that it left open for us */
    while (svmx__wire_receive(SVMX__HOST_CONTROL, &message, UINT64_MAX) == SVMX__WIRE_DONE)
        start_lane(svmx__wire_take_file(&message));
    svmx__wire_free(&message);
    /* Else nobody is there to close it for, and what drivers do at exit could wait for work of theirs, or for the
     * loader, which one that hangs while it is loaded holds. acquire: pairs with host_open.c */
    if (!atomic_load_explicit(&hosted.closed, memory_order_acquire)) _exit(0);
    return 0;
}
