/*
 * wire.h: messages between a proxy (proxy.c) and the process that runs its backend (host.c), over a stream socket.
 *
 *   [bytes of what follows] [word] [word] [length][bytes, filled up to a word] ...        a word is a uint64_t
 *
 * A message may carry a file descriptor. Both ends run on one machine and come from one build, so numbers are as the
 * machine has them. Byte strings begin at a word in memory, so that arrays in them can be used in place. What is read
 * is checked against the length of the message: the other side may have been hit by anything. Knows nothing of what
 * messages mean (calls.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_ISOLATE_WIRE_H
#define SVMX_ISOLATE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message. {.file = -1} is an empty one. */
struct svmx__wire {
    uint64_t *words;
    size_t count, capacity; /* in words */
    size_t at;              /* the next to be read */
    bool broken;            /* no memory while it was written, or read past its end */
    int file;               /* that goes or came with it; -1 = none */
    bool plain;             /* no file is taken when it is received: one that comes is closed */
};

enum svmx__wire_end { SVMX__WIRE_DONE, SVMX__WIRE_LATE, SVMX__WIRE_GONE };

void svmx__wire_free(struct svmx__wire *wire); /* closes a file that nobody took */
/* Empties it for another message; memory stays. */
void svmx__wire_reset(struct svmx__wire *wire);

void svmx__wire_put(struct svmx__wire *wire, uint64_t word);
void svmx__wire_put_bytes(struct svmx__wire *wire, const void *bytes, size_t count);
/* NULL goes over as NULL. */
void svmx__wire_put_text(struct svmx__wire *wire, const char *text);

/* 0, NULL or "" once it is broken. Bytes and text lie in the message. */
uint64_t svmx__wire_get(struct svmx__wire *wire);
const void *svmx__wire_get_bytes(struct svmx__wire *wire, size_t *count);
const char *svmx__wire_get_text(struct svmx__wire *wire);
/* The file that came with it, now the caller's; -1 = none. */
int svmx__wire_take_file(struct svmx__wire *wire);

/* Send and receive one whole message until `end_ns` of svmx__clock_ns. GONE: the other side is, or what came is no
 * message. A file that is sent stays the sender's to close. */
enum svmx__wire_end svmx__wire_send(int socket, const struct svmx__wire *wire, uint64_t end_ns);
enum svmx__wire_end svmx__wire_receive(int socket, struct svmx__wire *wire, uint64_t end_ns);

#endif
