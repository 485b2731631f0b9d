/*
 * test_proxy.c: a process that answers what cannot be is ended, and no answer is taken from it.
 *
 * The other process is a child of the test that answers as it is told. Processes that answer as they should:
 * test_isolate.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "isolate/proxy_state.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

static char logged[256];

static void note_line(const struct svmx_host *host, enum svmx_log_level level, const char *text) {
    (void)host, (void)level;
    (void)strncpy(logged, text, sizeof logged - 1);
}

static const struct svmx_host host = {.size = sizeof host, .log = note_line};

/* In the child: one answer, whatever is asked, and then nothing, as if a launch were under way. */
static void answer_with(int socket, const uint64_t *words, size_t count) {
    struct svmx__wire request = {.file = -1}, answer = {.file = -1};
    if (svmx__wire_receive(socket, &request, UINT64_MAX) != SVMX__WIRE_DONE) _exit(1);
    for (size_t i = 0; i < count; i++) svmx__wire_put(&answer, words[i]);
    (void)svmx__wire_send(socket, &answer, UINT64_MAX);
    for (;;) pause();
}

/* A proxy of one device whose process gives this answer. */
static struct seat seat = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct svmx__lane lane = {.request = {.file = -1}, .answer = {.file = -1}};
static struct proxy proxy = {.host = &host, .limit_ns = 10 * SECOND_NS, .seats = &seat, .device_count = 1};

static void start(const uint64_t *words, size_t count) {
    int ends[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const pid_t child = fork();
    if (child == 0) answer_with(ends[1], words, count);
    (void)close(ends[1]);
    lane.socket = ends[0];
    seat.lane = &lane;
    proxy.channel = (struct svmx__channel){.lock = PTHREAD_MUTEX_INITIALIZER, .helper = {.pid = child, .control = -1}};
}

static void expect_ended(void) {
    cr_assert(svmx__channel_is_gone(&proxy.channel));
    cr_assert_not_null(strstr(logged, "it answered nonsense"), "%s", logged);
    cr_assert_eq(waitpid(proxy.channel.helper.pid, NULL, WNOHANG), -1, "it is still there");
}

static enum svmx_status submit(uint64_t *ticket) {
    const struct svmx_command_list list = {.size = sizeof list, .command_size = sizeof(struct svmx_command)};
    const struct svmx_submission submission = {.size = sizeof submission, .list = &list};
    return svmx__proxy_submit(&proxy, &submission, ticket);
}

static const uint64_t nothing[] = {SVMX_OK, 2}, no_status[] = {12345, 2}, no_lines[] = {SVMX_OK, 99},
                      half_a_line[] = {SVMX_OK, 3, 7, SVMX_LOG_ERROR}, good[] = {SVMX_OK, 3, 7};

Test(proxy, a_ticket_is_a_ticket) {
    uint64_t ticket = 1;
    start(good, 3);
    cr_assert_eq(submit(&ticket), SVMX_OK, "%s", logged);
    cr_assert_eq(ticket, 7);
    svmx__channel_kill(&proxy.channel, "the test is over");
}

/* Done at once is what no ticket would mean, and memory that nobody wrote would be the answer. */
Test(proxy, no_ticket_is_not_done_at_once) {
    uint64_t ticket = 1;
    start(nothing, 2);
    cr_assert_eq(submit(&ticket), SVMX_ERR_DEVICE_LOST);
    cr_assert_eq(ticket, 1, "outputs are set on success only");
    expect_ended();
}

Test(proxy, what_is_no_answer_ends_the_process) {
    static const struct {
        const uint64_t *words;
        size_t count;
    } answers[] = {{no_status, 2}, {no_lines, 2}, {half_a_line, 4}, {nothing, 1}, {nothing, 0}};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        uint64_t ticket = 1;
        start(answers[i].words, answers[i].count);
        cr_assert_eq(submit(&ticket), SVMX_ERR_DEVICE_LOST, "answer %zu", i);
        expect_ended();
        (void)close(lane.socket);
    }
}

Test(proxy, a_wait_without_its_times_ends_the_process) {
    struct svmx_timing timing = {.size = sizeof timing, .compute_ns = 5};
    start(good, 3);
    cr_assert_eq(svmx__proxy_wait(&proxy, 0, 7, SECOND_NS, &timing), SVMX_ERR_DEVICE_LOST);
    cr_assert_eq(timing.compute_ns, 5);
    expect_ended();
}
