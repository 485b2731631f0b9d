/*
 * wants.h: does something else want the cores? What the kernel tells of it, as one word for each turn.
 *
 *   waits    how long tasks that could run had to wait for a core: /proc/pressure/cpu; where there is no such file
 *            /proc/schedstat, the sum over the cores; else /proc/self/schedstat, which is of the program's first thread only
 *   stolen   how much of the cores the host of this virtual machine gave to others: /proc/stat
 *
 *   contended  <=>  waits of more than a tenth of the time that passed, or more than a tenth of the cores' time stolen
 *
 * Called by contention.c. Knows no executor and no clock: a test has files of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_WANTS_H
#define SVMX_EXECUTOR_WANTS_H

#include <stdbool.h>
#include <stdint.h>

struct svmx__wants {
    int waits, stat;                        /* files; -1: there is none */
    bool (*read_waits)(char *, uint64_t *); /* ns, of the text of the first */
    uint64_t waited_ns, looked_ns;          /* at the last look */
    uint64_t stolen_ticks, ticks;           /* of all cores, when stealing was last judged */
    bool stolen_last;                       /* that verdict */
};

/* Opens what is there below `proc`, which is "/proc" but for tests. False: nothing is; then close is not needed. */
bool svmx__wants_open(struct svmx__wants *wants, const char *proc, uint64_t now_ns);
void svmx__wants_close(struct svmx__wants *wants);

/* What happened since the last look, at most some milliseconds ago. False: nothing can be read any more. */
bool svmx__wants_look(struct svmx__wants *wants, uint64_t now_ns, bool *contended);

#endif
