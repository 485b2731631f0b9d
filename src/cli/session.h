/*
 * session.h: an executor for the length of a command, opened as the command's options say.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_SESSION_H
#define SVMX_CLI_SESSION_H

#include "args.h"
#include "text.h"
#include <svmx/svmx.h>

struct cli_session {
    svmx_executor_t *executor;
    const char *demanded; /* the item of --device: nothing else may answer; NULL for none */
};

/* Opens; CLI_OK, or another code after a message. `quiet`: of the log only errors are shown. */
enum cli_exit cli_session_open(struct cli_session *session, const struct cli_args *args, bool quiet);

/* Opens the reference code alone, whatever the environment says: for questions that need no device. */
enum cli_exit cli_session_open_bare(struct cli_session *session);

void cli_session_close(struct cli_session *session);

/* Says why an executor was not opened; returns CLI_NO_EXECUTOR. The library knows settings as options, whoever typed them
 * by the command line: options.backends by what `backends` says, "--device". */
enum cli_exit cli_session_refused(const struct svmx_error *error, const char *backends);

/* Finds an operation by name; CLI_USAGE after a message that lists the known ones. */
enum cli_exit cli_session_op(const struct cli_session *session, const char *name, struct svmx_op *op);

/* Is this the backend that --device names? Also true when none was demanded. */
bool cli_session_accepts(const struct cli_session *session, const char *backend);

/* Says which call failed and why; returns CLI_FAILED. `text` may be "". */
enum cli_exit cli_session_failed(const char *what, enum svmx_status status, const char *text);

/* "cpu", "gpu", "accelerator", "modelled". */
const char *cli_device_kind(const struct svmx_device *device);

/* Whether its own clock is believed: "none" (not yet, or it has none), "used", "refused". */
const char *cli_device_clock(const struct svmx_device *device);

/* "healthy", "suspect", "resting", "lost", "quarantined". */
const char *cli_device_health(const struct svmx_device *device);
/* "normal", "warning", "critical". */
const char *cli_device_load(const struct svmx_device *device);
/* What is to be said of a device that is not healthy, else "". */
struct cli_health_note {
    char line[192];
};
struct cli_health_note cli_health_note(const struct svmx_device *device);
/* Its fields in JSON: health and why, what it has done by its own clock, and what it has still to do. */
struct cli_json;
void cli_device_health_json(struct cli_json *json, const struct svmx_device *device);

/* A CPU that is used through a driver, with memory of its own: no GPU, although the policy `gpu` means it too. */
bool cli_device_behind_driver(const struct svmx_device *device);

/* " [CPU DEVICE]" (a CPU behind a driver), " [MODELLED]", " [TEST DEVICE]", as far as they are true; "" of most devices. */
struct cli_text cli_device_plain(const struct svmx_device *device);

/* The first and the last of these, of a device of which only its flags are known. */
struct cli_text cli_flags_label(uint32_t flags);

/* A device in one line: "simd: AMD EPYC, 2 threads (avx512)", with these labels. */
struct cli_device_label {
    char line[256];
};
struct cli_device_label cli_device_label(const struct svmx_device *device);

#endif
