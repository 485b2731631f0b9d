/*
 * trace.h: launches on a line of time: what `svmx trace` draws.
 *
 *   cmd_trace.c  lines of a log -> launches        trace_events.c  launches -> lanes -> trace events
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_TRACE_H
#define SVMX_CLI_TRACE_H

#include "log.h"
#include <stdio.h>

/* The stages of a launch, each a lane of its device, in the order of time; then what its engines did of the third. */
enum trace_stage {
    TRACE_WAIT,
    TRACE_STAGE,
    TRACE_RUN,
    TRACE_COLLECT,
    TRACE_STAGES,
    TRACE_COPY_IN = TRACE_STAGES,
    TRACE_COMPUTE,
    TRACE_COPY_OUT,
    TRACE_LANES
};

struct trace_launch {
    struct cli_slice line;          /* of the log */
    uint64_t start_ns;              /* since 1970 */
    uint64_t stage_ns[TRACE_LANES]; /* of engines 0 where the device has no clock that can be believed */
    uint64_t device;                /* its number, with what follows who it is */
    struct cli_slice backend, name; /* with quotes */
};

struct trace {
    struct trace_launch *launches;
    size_t count;
};

/* Writes all as one document; the lanes that it made. */
size_t trace_write(const struct trace *trace, FILE *out);

#endif
