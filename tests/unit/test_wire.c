/*
 * test_wire.c: messages between a proxy and its process: what is put is what is got, and nothing that comes can harm.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "isolate/wire.h"

#include "base/clock.h"
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];

static void open_pair(void) { cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0); }

static uint64_t soon(void) { return svmx__clock_ns() + UINT64_C(5000000000); }

TestSuite(wire, .init = open_pair);

Test(wire, what_is_put_is_got) {
    struct svmx__wire out = {.file = -1}, in = {.file = -1};
    size_t bytes;
    svmx__wire_put(&out, 42);
    svmx__wire_put_text(&out, "a text");
    svmx__wire_put_text(&out, NULL);
    svmx__wire_put_bytes(&out, "12345678", 8);
    svmx__wire_put_bytes(&out, NULL, 0);
    svmx__wire_put(&out, UINT64_MAX);
    cr_assert_eq(svmx__wire_send(ends[0], &out, soon()), SVMX__WIRE_DONE);
    cr_assert_eq(svmx__wire_receive(ends[1], &in, soon()), SVMX__WIRE_DONE);
    cr_assert_eq(svmx__wire_get(&in), 42u);
    cr_assert_str_eq(svmx__wire_get_text(&in), "a text");
    cr_assert_null(svmx__wire_get_text(&in));
    const char *got = svmx__wire_get_bytes(&in, &bytes);
    cr_assert(bytes == 8 && memcmp(got, "12345678", 8) == 0 && (uintptr_t)got % 8 == 0);
    (void)svmx__wire_get_bytes(&in, &bytes);
    cr_assert(bytes == 0 && !in.broken);
    cr_assert_eq(svmx__wire_get(&in), UINT64_MAX);
    cr_assert_not(in.broken);
    cr_assert_eq(svmx__wire_get(&in), 0u);
    cr_assert(in.broken, "read past its end");
    svmx__wire_free(&out);
    svmx__wire_free(&in);
}

enum { LARGE = 3 << 20 };
static unsigned char large[LARGE];

static void *send_large(void *user) {
    struct svmx__wire out = {.file = -1};
    svmx__wire_put_bytes(&out, large, LARGE);
    *(enum svmx__wire_end *)user = svmx__wire_send(ends[0], &out, soon());
    svmx__wire_free(&out);
    return NULL;
}

/* Larger than what a socket holds. */
Test(wire, a_large_message) {
    struct svmx__wire in = {.file = -1};
    enum svmx__wire_end sent = SVMX__WIRE_GONE;
    pthread_t thread;
    size_t bytes;
    for (size_t i = 0; i < LARGE; i++) large[i] = (unsigned char)(i * 7);
    cr_assert_eq(pthread_create(&thread, NULL, send_large, &sent), 0);
    cr_assert_eq(svmx__wire_receive(ends[1], &in, soon()), SVMX__WIRE_DONE);
    const void *got = svmx__wire_get_bytes(&in, &bytes);
    cr_assert(bytes == LARGE && memcmp(got, large, LARGE) == 0);
    pthread_join(thread, NULL);
    cr_assert_eq(sent, SVMX__WIRE_DONE);
    svmx__wire_free(&in);
}

Test(wire, a_file_goes_along) {
    struct svmx__wire out = {.file = -1}, in = {.file = -1};
    int pipes[2];
    char byte = 0;
    cr_assert_eq(pipe(pipes), 0);
    svmx__wire_put(&out, 1);
    out.file = pipes[1];
    cr_assert_eq(svmx__wire_send(ends[0], &out, soon()), SVMX__WIRE_DONE);
    cr_assert_eq(svmx__wire_receive(ends[1], &in, soon()), SVMX__WIRE_DONE);
    const int file = svmx__wire_take_file(&in);
    cr_assert(file >= 0 && file != pipes[1]);
    cr_assert_eq(svmx__wire_take_file(&in), -1, "taken once");
    cr_assert_eq(write(file, "x", 1), 1);
    cr_assert(read(pipes[0], &byte, 1) == 1 && byte == 'x');
    svmx__wire_free(&out);
    svmx__wire_free(&in);
    cr_assert_eq(fcntl(pipes[1], F_GETFD), -1, "a file that nobody took is closed with its message");
}

/* Sends a byte with two files at once, as no wire does. */
static void send_two_files(int socket, int file) {
    const int files[2] = {file, file};
    uint64_t head = 0;
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof files)] = {0};
    struct iovec part = {&head, sizeof head};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *control = CMSG_FIRSTHDR(&header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof files);
    memcpy(CMSG_DATA(control), files, sizeof files);
    cr_assert_eq(sendmsg(socket, &header, 0), (ssize_t)sizeof head);
}

/* Every copy of the pipe's end is closed: reading finds the end. */
Test(wire, files_that_nobody_asked_for_do_not_stay) {
    for (int plain = 0; plain < 2; plain++) {
        struct svmx__wire in = {.file = -1, .plain = plain};
        int pipes[2];
        char byte = 0;
        cr_assert_eq(pipe(pipes), 0);
        cr_assert_eq(fcntl(pipes[0], F_SETFL, O_NONBLOCK), 0);
        send_two_files(ends[0], pipes[1]);
        (void)close(pipes[1]);
        cr_assert_eq(svmx__wire_receive(ends[1], &in, soon()), SVMX__WIRE_DONE);
        cr_assert_eq(in.file >= 0, !plain);
        svmx__wire_free(&in);
        cr_assert_eq(read(pipes[0], &byte, 1), 0, "a file is left");
    }
}

Test(wire, nobody_answers_in_time) {
    struct svmx__wire in = {.file = -1};
    cr_assert_eq(svmx__wire_receive(ends[1], &in, svmx__clock_ns() + 1000000), SVMX__WIRE_LATE);
    cr_assert_eq(write(ends[0], "1234", 4), 4); /* half a head */
    cr_assert_eq(svmx__wire_receive(ends[1], &in, svmx__clock_ns() + 1000000), SVMX__WIRE_LATE);
    svmx__wire_free(&in);
}

Test(wire, nobody_reads_in_time) {
    struct svmx__wire out = {.file = -1};
    svmx__wire_put_bytes(&out, large, LARGE);
    cr_assert_eq(svmx__wire_send(ends[0], &out, svmx__clock_ns() + 1000000), SVMX__WIRE_LATE);
    svmx__wire_free(&out);
}

Test(wire, the_other_side_is_gone) {
    struct svmx__wire wire = {.file = -1};
    svmx__wire_put(&wire, 1);
    (void)close(ends[1]);
    cr_assert_eq(svmx__wire_send(ends[0], &wire, soon()), SVMX__WIRE_GONE);
    cr_assert_eq(svmx__wire_receive(ends[0], &wire, soon()), SVMX__WIRE_GONE);
    svmx__wire_free(&wire);
}

Test(wire, what_is_no_message_is_refused) {
    struct svmx__wire in = {.file = -1};
    const uint64_t odd = 7, huge = UINT64_MAX - 7;
    cr_assert_eq(write(ends[0], &odd, sizeof odd), (ssize_t)sizeof odd);
    cr_assert_eq(svmx__wire_receive(ends[1], &in, soon()), SVMX__WIRE_GONE);
    cr_assert_eq(write(ends[0], &huge, sizeof huge), (ssize_t)sizeof huge);
    cr_assert_eq(svmx__wire_receive(ends[1], &in, soon()), SVMX__WIRE_GONE);
    svmx__wire_free(&in);
}

Test(wire, lengths_that_lie_are_found) {
    struct svmx__wire wire = {.file = -1};
    size_t bytes = 9;
    svmx__wire_put(&wire, 9); /* a length, with nothing behind it */
    cr_assert_null(svmx__wire_get_bytes(&wire, &bytes));
    cr_assert(wire.broken && bytes == 0);
    svmx__wire_reset(&wire);
    svmx__wire_put_bytes(&wire, "no end", 6);
    cr_assert_str_eq(svmx__wire_get_text(&wire), "");
    cr_assert(wire.broken, "a text without its end");
    svmx__wire_free(&wire);
}
