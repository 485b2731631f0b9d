/*
 * scan_stop.c: Ctrl-C. A scan that is stopped leaves a file of what was measured, so the signal is only remembered, and
 * looked at between two runs. A run may be long: that it was heard is said at once. Called by cmd_scan.c and scan_measure.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"
#include <errno.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t asked;

static void remember(int number) {
    static const char heard[] = "\nsvmx: stopping after this step; once more ends it at once\n";
    const int before = errno;
    (void)number;
    asked = 1;
    const ssize_t written = write(STDERR_FILENO, heard, sizeof heard - 1);
    (void)written; /* without a reader it stops all the same */
    errno = before;
}

void scan_stop_watch(void) {
    struct sigaction action = {.sa_handler = remember, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool scan_stop_asked(void) { return asked != 0; }
