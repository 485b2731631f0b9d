/*
 * scan_stop.c: Ctrl-C. A scan that is stopped leaves a file of what was measured, so the signal is only remembered, and
 * looked at between two runs. Called by cmd_scan.c and scan_measure.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"
#include <signal.h>

static volatile sig_atomic_t asked;

static void remember(int number) {
    (void)number;
    asked = 1;
}

void scan_stop_watch(void) {
    struct sigaction action = {.sa_handler = remember, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool scan_stop_asked(void) { return asked != 0; }
