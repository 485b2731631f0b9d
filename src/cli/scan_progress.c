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

/* Within 100 columns, whatever the operation and the device are called; how far the samples spread is in the file. */
void scan_progress_row(struct scan_progress *progress, const struct scan_row *row) {
    const struct cli_text size = cli_count(row->size), cpu = time_of(row->cpu_ns.median);
    if (!row->gpu) {
        scan_progress_say(progress, "%-21s %11s  cpu %7s", row->op->op.name, size.line, cpu.line);
        return;
    }
    const double gpu_ns = row->gpu_ns.median;
    scan_progress_say(progress, "%-21s %11s  cpu %7s  %s %7s  first %7s  %6.2f x  %s%s", row->op->op.name, size.line,
                      cpu.line, row->gpu->shown, time_of(gpu_ns).line, time_of((double)row->first_ns).line,
                      row->cpu_ns.median / gpu_ns, row->verified ? scan_winner(row) : "WRONG RESULT",
                      row->decided ? "" : "?");
}
