/*
 * test_helper.c: the end of a process of ours: it hears of it, and takes with it whom it started.
 *
 * The process is a child of the test; svmx-host itself: test_isolate.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "isolate/helper.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_NS UINT64_C(60000000000)

static int ends[2];

/* A child in a group of its own, as svmx-host is, and our end of its control socket. */
static struct svmx__helper start(void (*child_main)(void)) {
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        (void)setpgid(0, 0);
        (void)close(ends[0]);
        child_main();
    }
    (void)setpgid(child, child); /* whoever comes first */
    (void)close(ends[1]);
    return (struct svmx__helper){.pid = child, .control = ends[0]};
}

static void end_when_told(void) {
    char byte;
    _exit(read(ends[1], &byte, 1) == 0 ? 7 : 1);
}

/* A child that the program forked has all its files, and may live long. */
Test(helper, it_is_told_though_another_process_has_the_socket) {
    struct svmx__helper helper = start(end_when_told);
    const pid_t other = fork();
    if (other == 0)
        for (;;) pause();
    svmx__helper_stop(&helper, false, LONG_NS);
    cr_assert_str_eq(helper.how, "it ended with status 7");
    (void)kill(other, SIGKILL);
    cr_assert_eq(waitpid(other, NULL, 0), other);
}

static int words[2];

static void start_another(void) {
    if (fork() != 0 && write(words[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
}

Test(helper, what_it_started_ends_with_it) {
    char byte = 0;
    cr_assert_eq(pipe(words), 0);
    struct svmx__helper helper = start(start_another);
    (void)close(words[1]);
    cr_assert(read(words[0], &byte, 1) == 1 && byte == 'x');
    svmx__helper_stop(&helper, true, LONG_NS);
    cr_assert_not_null(strstr(helper.how, "signal 9"), "%s", helper.how);
    cr_assert_eq(read(words[0], &byte, 1), 0, "an end that is still open"); /* it would hang if one were */
}
