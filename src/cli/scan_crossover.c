/*
 * scan_crossover.c: from which size on a GPU wins, for each operation and GPU of a scan: the smallest from which its median
 * is below 0.9 of the CPU's at every larger size that was tested. Called by cmd_scan.c and scan_json.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"
#include "text.h"
#include <string.h>

const char *scan_winner(const struct scan_row *row) {
    return row->gpu && row->verified && scan_gpu_wins(&row->cpu_ns, &row->gpu_ns) ? "gpu" : "cpu";
}

/* ---- finding ---------------------------------------------------------------------------------------------------- */

static bool is_same(const struct scan_row *a, const struct scan_row *b) { return a->op == b->op && a->gpu == b->gpu; }

static bool came_before(const struct scan_rows *rows, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (is_same(&rows->rows[i], &rows->rows[at])) return true;
    return false;
}

/* Rows of one operation and GPU, in the order of their sizes as they were measured. */
static void crossing_make(const struct scan_rows *rows, size_t at, struct scan_crossing *crossing) {
    bool wins[SCAN_MAX_SIZES] = {false};
    uint64_t sizes[SCAN_MAX_SIZES] = {0};
    size_t count = 0;
    *crossing = (struct scan_crossing){.op = rows->rows[at].op, .gpu = rows->rows[at].gpu, .spread = -1};
    for (size_t i = at; i < rows->count && count < SCAN_MAX_SIZES; i++) {
        const struct scan_row *row = &rows->rows[i];
        if (!is_same(row, &rows->rows[at])) continue;
        const double times = row->cpu_ns.median / row->gpu_ns.median, spread = scan_spread_percent(&row->gpu_ns);
        wins[count] = strcmp(scan_winner(row), "gpu") == 0;
        sizes[count++] = row->size;
        crossing->undecided += !row->decided;
        if (row->samples > 1 && spread > crossing->spread) crossing->spread = spread;
        if (times > crossing->best) crossing->best = times;
        if ((double)row->first_ns * crossing->later_ns > crossing->first_ns * row->gpu_ns.median || count == 1) {
            crossing->first_ns = (double)row->first_ns;
            crossing->later_ns = row->gpu_ns.median;
        }
    }
    const size_t from = scan_crossover(wins, count);
    crossing->found = from < count;
    crossing->size = crossing->found ? sizes[from] : 0;
    crossing->largest = sizes[count - 1];
}

bool scan_crossing_next(const struct scan_rows *rows, size_t *at, struct scan_crossing *crossing) {
    while (*at < rows->count && (!rows->rows[*at].gpu || came_before(rows, *at))) ++*at;
    if (*at >= rows->count) return false;
    crossing_make(rows, (*at)++, crossing);
    return true;
}

/* ---- for people ------------------------------------------------------------------------------------------------- */

static const char *unit_of(const struct scan_op *op) {
    return op->measure == SCAN_BYTES ? "bytes" : op->measure == SCAN_SIDE ? "rows and columns" : op->op.unit;
}

static void crossing_text(const struct scan_crossing *crossing, FILE *out) {
    const struct cli_text size = cli_count(crossing->found ? crossing->size : crossing->largest);
    char from[96];
    if (crossing->found)
        snprintf(from, sizeof from, "wins from %s %s%s on", size.line, unit_of(crossing->op),
                 crossing->op->measure == SCAN_ELEMENTS && crossing->size != 1 ? "s" : "");
    else
        snprintf(from, sizeof from, "never up to %s", size.line);
    fprintf(out, "  %-18s %-10s %-32s at best %.2f x; cold %s, warm %s", crossing->op->op.name, crossing->gpu->shown,
            from, crossing->best, cli_duration((uint64_t)crossing->first_ns).line,
            cli_duration((uint64_t)crossing->later_ns).line);
    if (crossing->spread >= 0) fprintf(out, "; spread up to +-%.0f %%", crossing->spread);
    if (crossing->undecided) fprintf(out, "; TOO NOISY TO DECIDE at %s", cli_counted(crossing->undecided, "size").line);
    fputc('\n', out);
}

void scan_crossings_text(const struct scan_rows *rows, FILE *out) {
    struct scan_crossing crossing;
    unsigned undecided = 0;
    size_t at = 0;
    if (rows->count)
        fprintf(out, "\nCrossovers: where the median is below 0.9 of the CPU's, also at all larger sizes\n");
    while (scan_crossing_next(rows, &at, &crossing)) {
        crossing_text(&crossing, out);
        undecided += crossing.undecided;
    }
    if (rows->count && !rows->rows[0].gpu) fprintf(out, "  none: the CPU was measured alone\n");
    if (undecided)
        fprintf(out, "At %s the intervals of both medians overlap: give more --max-samples, or a quieter machine\n",
                cli_counted(undecided, "size").line);
    if (rows->too_large)
        fprintf(out, "%s left out: too large for the device or the operation\n",
                cli_counted(rows->too_large, "row").line);
    if (rows->left_out)
        fprintf(out, "%s left out, since they would take longer than --limit\n",
                cli_counted(rows->left_out, "row").line);
}
