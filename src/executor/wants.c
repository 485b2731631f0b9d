/*
 * wants.c: see wants.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/wants.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SHARE = 10,
    TEXT_BYTES = 16384, /* of /proc/schedstat: those cores count that are told of in so much */
    ENOUGH_TICKS = 40   /* a tick is mostly 10 ms: of fewer one alone would be more than the share */
};

/* ---- texts ------------------------------------------------------------------------------------------------------ */

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345", in us. */
static bool pressure_ns(char *text, uint64_t *ns) {
    const char *total = strncmp(text, "some ", 5) == 0 ? strstr(text, "total=") : NULL;
    if (total) *ns = strtoull(total + 6, NULL, 10) * 1000;
    return total;
}

/* The number in a column of a line, the first being 0; false: the line is shorter. */
static bool column(const char *line, unsigned at, uint64_t *number) {
    char *end = NULL;
    for (unsigned i = 0; i <= at; i++, line = end) {
        if (*line == '\n') return false;
        *number = strtoull(line, &end, 10);
        if (end == line) return false;
    }
    return true;
}

/* "cpu0 0 0 0 0 0 0 RAN WAITED SLICES", in ns, for each core, and lines of other things between. */
static bool schedstat_ns(char *text, uint64_t *ns) {
    bool any = false;
    *ns = 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        uint64_t waited;
        if (*line == '\n') line++;
        if (strncmp(line, "cpu", 3) != 0 || !strchr(line, '\n')) continue;
        if (!column(line + strcspn(line, " \n"), 7, &waited)) continue;
        *ns += waited;
        any = true;
    }
    return any;
}

/* "RAN WAITED SLICES", in ns. */
static bool self_ns(char *text, uint64_t *ns) { return column(text, 1, ns); }

/* "cpu  USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ...", in ticks, the sum of all cores. */
static bool stolen_of(char *text, uint64_t *stolen, uint64_t *all) {
    if (strncmp(text, "cpu ", 4) != 0) return false;
    *all = 0;
    for (unsigned i = 0; i <= 7; i++) {
        if (!column(text + 4, i, stolen)) return false;
        *all += *stolen;
    }
    return true;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static bool text_of(int file, char text[TEXT_BYTES]) {
    const ssize_t length = file < 0 ? -1 : pread(file, text, TEXT_BYTES - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static void drop(int *file) {
    if (*file >= 0) close(*file);
    *file = -1;
}

static int open_below(const char *proc, const char *name) {
    char path[512];
    const int length = snprintf(path, sizeof path, "%s/%s", proc, name);
    return length < (int)sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

/* The first file of those that tell of waits which can be read. */
static void open_waits(struct svmx__wants *wants, const char *proc) {
    static const struct {
        const char *name;
        bool (*read)(char *, uint64_t *);
    } sources[] = {{"pressure/cpu", pressure_ns}, {"schedstat", schedstat_ns}, {"self/schedstat", self_ns}};
    char text[TEXT_BYTES];
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        wants->waits = open_below(proc, sources[i].name);
        wants->read_waits = sources[i].read;
        if (text_of(wants->waits, text) && wants->read_waits(text, &wants->waited_ns)) return;
        drop(&wants->waits);
    }
}

bool svmx__wants_open(struct svmx__wants *wants, const char *proc, uint64_t now_ns) {
    char text[TEXT_BYTES];
    *wants = (struct svmx__wants){.waits = -1, .stat = open_below(proc, "stat"), .looked_ns = now_ns};
    open_waits(wants, proc);
    if (!text_of(wants->stat, text) || !stolen_of(text, &wants->stolen_ticks, &wants->ticks)) drop(&wants->stat);
    return wants->waits >= 0 || wants->stat >= 0;
}

void svmx__wants_close(struct svmx__wants *wants) {
    drop(&wants->waits);
    drop(&wants->stat);
}

/* ---- looking ---------------------------------------------------------------------------------------------------- */

static bool have_waited(struct svmx__wants *wants, char *text, uint64_t passed_ns) {
    uint64_t now;
    if (wants->waits < 0) return false;
    if (!text_of(wants->waits, text) || !wants->read_waits(text, &now)) {
        drop(&wants->waits);
        return false;
    }
    const uint64_t waited = now > wants->waited_ns ? now - wants->waited_ns : 0; /* a core may have gone away */
    wants->waited_ns = now;
    return waited > passed_ns / SHARE;
}

/* Judged anew when enough ticks have passed; until then the last verdict holds. */
static bool were_stolen(struct svmx__wants *wants, char *text) {
    uint64_t stolen, ticks;
    if (wants->stat < 0) return false;
    if (!text_of(wants->stat, text) || !stolen_of(text, &stolen, &ticks)) {
        drop(&wants->stat);
        return false;
    }
    if (ticks - wants->ticks < ENOUGH_TICKS) return wants->stolen_last;
    /* some kernels count back now and then */
    const uint64_t more = stolen > wants->stolen_ticks ? stolen - wants->stolen_ticks : 0;
    wants->stolen_last = more * SHARE > ticks - wants->ticks;
    wants->stolen_ticks = stolen;
    wants->ticks = ticks;
    return wants->stolen_last;
}

bool svmx__wants_look(struct svmx__wants *wants, uint64_t now_ns, bool *contended) {
    char text[TEXT_BYTES];
    const bool waited = have_waited(wants, text, now_ns - wants->looked_ns), stolen = were_stolen(wants, text);
    wants->looked_ns = now_ns;
    *contended = waited || stolen;
    return wants->waits >= 0 || wants->stat >= 0;
}
