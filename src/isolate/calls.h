/*
 * calls.h: what a proxy asks of the process that runs its backend, and what that answers.
 *
 *   proxy.c, proxy_submit.c            svmx-host: host.c, host_open.c, host_calls.c, host_submit.c
 *   request: [call] [arguments]   ->   the plugin's function of the same name
 *   answer:  [status][n]          <-   n is the word at which lines begin
 *            [outputs]                 on OK only
 *            [level][text] ...         lines that it logged meanwhile
 *
 * What crosses, and what does not:
 *
 *   pipelines, tickets   numbers of the other process, carried as they are; the core never looks into them
 *   memory               a number for the commands; what the host may touch is also a file in memory (memfd) that both
 *                        have mapped. A plugin whose device computes in the host's memory may import it; any other
 *                        works in memory of its own, and host_submit.c copies what a launch reads before it and what
 *                        it wrote after it.
 *   slots, first_unit    a place in such memory, where they lie in one, else the arrays themselves
 *   upcalls              log comes with the next answer; option is told at open; now is the same clock; alloc is local;
 *                        reference knows the built-in operations only: functions of the program are in the program
 *
 * Included by both sides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_ISOLATE_CALLS_H
#define SVMX_ISOLATE_CALLS_H

/* Raised with every change of what messages hold: a library and an svmx-host that are not of one build refuse each
 * other. */
enum { SVMX__CALLS_VERSION = 2 };

enum svmx__call {
    /* version, name and path of the plugin, select, threads, variant, sim_model (texts) -> flags, count, infos (bytes) */
    SVMX__CALL_OPEN = 1,
    SVMX__CALL_ALLOC,  /* device, kind, usage, bytes; a file, if the host may touch it -> memory */
    SVMX__CALL_FREE,   /* memory */
    SVMX__CALL_BUILD,  /* device, bucket, variant, binary, the operation: see put_op in proxy.c -> pipeline */
    SVMX__CALL_DROP,   /* pipeline */
    SVMX__CALL_BINARY, /* pipeline, whether the bytes are wanted, room for them -> length, bytes */
    SVMX__CALL_SUBMIT, /* device, engine, tickets (bytes), count of commands, commands: see proxy_submit.c -> ticket */
    SVMX__CALL_WAIT,   /* device, ticket, timeout -> copy-in, compute and copy-out ns */
    SVMX__CALL_CLOSE   /* the last one */
};

/* Of the answer to OPEN. */
enum { SVMX__HOSTED_BINARIES = 1 << 0 }; /* the plugin has pipeline_binary */

/* The name of the program, beside the plugins, and where it finds the socket over which it is sent lanes. */
#define SVMX__HOST_PROGRAM "svmx-host"
enum { SVMX__HOST_CONTROL = 3 };

#endif
