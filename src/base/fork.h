/*
 * fork.h: whether this process is a child of the one that something was made in.
 *
 * After fork() the child has memory but no threads: locks may be held by nobody, queues have no reader, and drivers do not
 * know it. What cannot work there is refused. The count is of the process, not of an executor, and only ever compared.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_FORK_H
#define SVMX_BASE_FORK_H

#include <stdatomic.h>

/* How many forks lie between the first process that watched and this one. relaxed: it changes while there is one thread. */
extern _Atomic unsigned svmx__forks;

/* Counts from now on. 0, or the error number of pthread. Any number of times, from any thread. */
int svmx__fork_watch(void);

#endif
