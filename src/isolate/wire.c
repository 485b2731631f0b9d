/*
 * wire.c: see wire.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "isolate/wire.h"

#include "base/alloc.h"
#include "base/clock.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NO_TEXT UINT64_MAX

/* No message is longer: compiled kernels are the largest that there are. */
static const uint64_t most_words = UINT64_C(1) << 27;

static void drop_file(struct svmx__wire *wire) {
    if (wire->file >= 0) (void)close(wire->file);
    wire->file = -1;
}

void svmx__wire_free(struct svmx__wire *wire) {
    drop_file(wire);
    free(wire->words);
    *wire = (struct svmx__wire){.file = -1};
}

void svmx__wire_reset(struct svmx__wire *wire) {
    drop_file(wire);
    wire->count = wire->at = 0;
    wire->broken = false;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static bool make_room(struct svmx__wire *wire, size_t words) {
    void *array = wire->words;
    if (wire->broken || !svmx__grow(&array, &wire->capacity, wire->count + words, sizeof *wire->words))
        wire->broken = true;
    else
        wire->words = array;
    return !wire->broken;
}

void svmx__wire_put(struct svmx__wire *wire, uint64_t word) {
    if (make_room(wire, 1)) wire->words[wire->count++] = word;
}

void svmx__wire_put_bytes(struct svmx__wire *wire, const void *bytes, size_t count) {
    const size_t words = count / sizeof(uint64_t) + (count % sizeof(uint64_t) != 0);
    if (!make_room(wire, 1 + words)) return;
    wire->words[wire->count++] = count;
    if (!words) return;
    wire->words[wire->count + words - 1] = 0;
    memcpy(wire->words + wire->count, bytes, count);
    wire->count += words;
}

void svmx__wire_put_text(struct svmx__wire *wire, const char *text) {
    if (text)
        svmx__wire_put_bytes(wire, text, strlen(text) + 1);
    else
        svmx__wire_put(wire, NO_TEXT);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

uint64_t svmx__wire_get(struct svmx__wire *wire) {
    if (wire->at >= wire->count) wire->broken = true;
    return wire->broken ? 0 : wire->words[wire->at++];
}

const void *svmx__wire_get_bytes(struct svmx__wire *wire, size_t *count) {
    const uint64_t bytes = svmx__wire_get(wire);
    const uint64_t left = (wire->count - wire->at) * sizeof(uint64_t);
    *count = 0;
    if (bytes > left) wire->broken = true;
    if (wire->broken) return NULL;
    const void *found = wire->words + wire->at;
    wire->at += (size_t)(bytes / sizeof(uint64_t) + (bytes % sizeof(uint64_t) != 0));
    *count = (size_t)bytes;
    return found;
}

const char *svmx__wire_get_text(struct svmx__wire *wire) {
    size_t bytes;
    if (wire->at < wire->count && wire->words[wire->at] == NO_TEXT) {
        wire->at++;
        return NULL;
    }
    const char *text = svmx__wire_get_bytes(wire, &bytes);
    if (!wire->broken && bytes && text[bytes - 1] == '\0') return text;
    wire->broken = true;
    return "";
}

int svmx__wire_take_file(struct svmx__wire *wire) {
    const int file = wire->file;
    wire->file = -1;
    return file;
}

/* ---- sending and receiving -------------------------------------------------------------------------------------- */

/* Waits until a socket is ready; a moment past the end of poll's time is rounded up. */
static enum svmx__wire_end await(int socket, short events, uint64_t end_ns) {
    for (;;) {
        const uint64_t now = svmx__clock_ns();
        const uint64_t left_ms = now < end_ns ? (end_ns - now - 1) / 1000000 + 1 : 0;
        struct pollfd ready = {.fd = socket, .events = events};
        const int found = poll(&ready, 1, left_ms > 86400000 ? 86400000 : (int)left_ms);
        if (found > 0)
            return SVMX__WIRE_DONE; /* a socket whose other end is closed is ready, too: the call will tell */
        if (found < 0 && errno != EINTR) return SVMX__WIRE_GONE;
        if (found == 0 && left_ms == 0) return SVMX__WIRE_LATE;
    }
}

static bool may_try_again(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

static void attach(struct msghdr *header, void *room, size_t room_bytes, int file) {
    memset(room, 0, room_bytes);
    header->msg_control = room;
    header->msg_controllen = room_bytes;
    struct cmsghdr *control = CMSG_FIRSTHDR(header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(control), &file, sizeof file);
}

enum svmx__wire_end svmx__wire_send(int socket, const struct svmx__wire *wire, uint64_t end_ns) {
    uint64_t head = wire->count * sizeof(uint64_t);
    const size_t bytes = sizeof head + (size_t)head;
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))];
    for (size_t sent = 0; sent < bytes;) {
        const size_t of_head = sent < sizeof head ? sent : sizeof head, of_body = sent - of_head;
        struct iovec parts[2] = {{(char *)&head + of_head, sizeof head - of_head},
                                 {(char *)wire->words + of_body, (size_t)head - of_body}};
        struct msghdr header = {.msg_iov = parts, .msg_iovlen = 2};
        if (sent == 0 && wire->file >= 0) attach(&header, room, sizeof room, wire->file);
        const ssize_t now = sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (now >= 0) {
            sent += (size_t)now;
            continue;
        }
        if (!may_try_again()) return SVMX__WIRE_GONE;
        const enum svmx__wire_end end = await(socket, POLLOUT, end_ns);
        if (end != SVMX__WIRE_DONE) return end;
    }
    return SVMX__WIRE_DONE;
}

static void take_file(struct svmx__wire *wire, struct msghdr *header) {
    for (struct cmsghdr *control = CMSG_FIRSTHDR(header); control; control = CMSG_NXTHDR(header, control)) {
        if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
        drop_file(wire);
        memcpy(&wire->file, CMSG_DATA(control), sizeof wire->file);
    }
}

/* As many bytes as there are, up to `bytes`. What has come already costs one call. */
static enum svmx__wire_end receive_some(int socket, struct svmx__wire *wire, void *to, size_t bytes, uint64_t end_ns,
                                        size_t *got) {
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))];
    for (;;) {
        struct iovec part = {to, bytes};
        struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
        if (!wire->plain) {
            header.msg_control = room;
            header.msg_controllen =
                CMSG_LEN(sizeof(int)); /* not all of it: filled up, there is room for a second file */
        }
        const ssize_t now = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (now > 0) {
            take_file(wire, &header);
            *got = (size_t)now;
            return SVMX__WIRE_DONE;
        }
        if (now == 0 || !may_try_again()) return SVMX__WIRE_GONE;
        const enum svmx__wire_end end = await(socket, POLLIN, end_ns);
        if (end != SVMX__WIRE_DONE) return end;
    }
}

static enum svmx__wire_end receive_all(int socket, struct svmx__wire *wire, void *to, size_t bytes, uint64_t end_ns) {
    size_t got = 0;
    for (size_t done = 0; done < bytes; done += got) {
        const enum svmx__wire_end end = receive_some(socket, wire, (char *)to + done, bytes - done, end_ns, &got);
        if (end != SVMX__WIRE_DONE) return end;
    }
    return SVMX__WIRE_DONE;
}

enum svmx__wire_end svmx__wire_receive(int socket, struct svmx__wire *wire, uint64_t end_ns) {
    uint64_t head;
    svmx__wire_reset(wire);
    enum svmx__wire_end end = receive_all(socket, wire, &head, sizeof head, end_ns);
    if (end != SVMX__WIRE_DONE) return end;
    const uint64_t words = head / sizeof(uint64_t);
    if (head % sizeof(uint64_t) || words > most_words || !make_room(wire, (size_t)words)) return SVMX__WIRE_GONE;
    end = receive_all(socket, wire, wire->words, (size_t)head, end_ns);
    if (end == SVMX__WIRE_DONE) wire->count = (size_t)words;
    return end;
}
