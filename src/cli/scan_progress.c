/*
 * scan_progress.c: what a scan says while it goes on: a line a row, and on a terminal a bar with the time that is left.
 *
 * What is left is reckoned from the rows that are done; a row is taken to cost a fixed part and one in proportion to
 * its size. Called by cmd_scan.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"
#include "text.h"
#include <stdarg.h>
#include <unistd.h>

enum { BAR = 30 };

static double weight(const struct scan_op *op, uint64_t size) {
    return 1 + 8 * scan_work(op, size) / scan_work(op, op->sizes.size[op->sizes.count - 1]);
}

/* ---- the bar ---------------------------------------------------------------------------------------------------- */

static void bar_clear(struct scan_progress *progress) {
    if (progress->drawn) fputs("\r\033[K", progress->out);
    progress->drawn = false;
}

static void bar_draw(struct scan_progress *progress) {
    if (!progress->out || !progress->terminal) return;
    const double share = progress->done / progress->whole, spent = (double)(scan_now_ns() - progress->start_ns);
    bar_clear(progress);
    fputc('[', progress->out);
    for (int i = 0; i < BAR; i++) fputc(i < (int)(share * BAR) ? '#' : '.', progress->out);
    fprintf(progress->out, "] %3.0f %%", 100 * share);
    if (share > 0) fprintf(progress->out, ", about %.0f s left", spent / 1e9 * (1 - share) / share);
    fputc('\r', progress->out); /* a message goes over it */
    fflush(progress->out);
    progress->drawn = true;
}

void scan_progress_start(struct scan_progress *progress, FILE *out, const struct scan_plan *plan, unsigned devices) {
    *progress = (struct scan_progress){.out = out, .start_ns = scan_now_ns()};
    progress->terminal = out && isatty(fileno(out));
    for (unsigned i = 0; i < plan->count; i++)
        for (unsigned k = 0; k < plan->ops[i].sizes.count; k++)
            progress->whole += (devices ? devices : 1) * weight(&plan->ops[i], plan->ops[i].sizes.size[k]);
    bar_draw(progress);
}

void scan_progress_step(struct scan_progress *progress, const struct scan_op *op, uint64_t size) {
    if (scan_stop_asked()) return; /* what is left will not be done */
    progress->done += weight(op, size);
    bar_draw(progress);
}

void scan_progress_end(struct scan_progress *progress) {
    if (progress->out) bar_clear(progress);
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

void scan_progress_say(struct scan_progress *progress, const char *format, ...) {
    if (!progress->out) return;
    va_list list;
    bar_clear(progress);
    va_start(list, format);
    vfprintf(progress->out, format, list);
    va_end(list);
    fputc('\n', progress->out);
    fflush(progress->out);
}

static struct cli_text time_of(double ns) { return cli_duration((uint64_t)(ns + 0.5)); }

/* How far its samples spread about the median: "+-12 %"; of one sample nothing is known. */
static struct cli_text spread_of(const struct scan_row *row) {
    struct cli_text text = {""};
    const double percent = scan_spread_percent(&row->gpu_ns);
    if (row->samples > 1) snprintf(text.line, sizeof text.line, "+-%.0f %%", percent < 999 ? percent : 999);
    return text;
}

static struct cli_text verdict_of(const struct scan_row *row) {
    struct cli_text text = {"WRONG RESULT"};
    if (row->verified)
        snprintf(text.line, sizeof text.line, "%6.2f x %s%s", row->cpu_ns.median / row->gpu_ns.median, scan_winner(row),
                 row->decided ? "" : "?");
    return text;
}

/* Within 100 columns, whatever the operation and the device are called. */
void scan_progress_row(struct scan_progress *progress, const struct scan_row *row) {
    const struct cli_text size = cli_count(row->size), cpu = time_of(row->cpu_ns.median);
    if (!row->gpu)
        scan_progress_say(progress, "%-21.22s %10s cpu %7s", row->op->op.name, size.line, cpu.line);
    else
        scan_progress_say(progress, "%-21.22s %10s cpu %7s %.11s %7s %7s first %7s %s", row->op->op.name, size.line,
                          cpu.line, row->gpu->shown, time_of(row->gpu_ns.median).line, spread_of(row).line,
                          time_of((double)row->first_ns).line, verdict_of(row).line);
}
