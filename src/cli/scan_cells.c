/*
 * scan_cells.c: a row as named cells: the columns of the CSV file and the fields of the JSON document, written down once.
 * docs/THRESHOLDS.md says what each means. Called by scan_csv.c and scan_json.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"
#include "text.h"
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static struct scan_cell *cell_add(struct scan_cells *cells, const char *name) {
    struct scan_cell *cell = &cells->cells[cells->count++];
    *cell = (struct scan_cell){.name = name};
    return cell;
}

/* Names come from drivers: what is no text becomes '?', line ends included. */
static void add_text(struct scan_cells *cells, const char *name, const char *text) {
    struct scan_cell *cell = cell_add(cells, name);
    size_t used = 0;
    while (*text != '\0') {
        const char *start = text;
        const int32_t point = cli_utf8_next(&text);
        const size_t length = (size_t)(text - start);
        if (used + length >= sizeof cell->text) break;
        if (point < 0x20 || point == 0x7f)
            cell->text[used++] = '?';
        else
            memcpy(cell->text + used, start, length), used += length;
    }
}

/* A number that the row has; else the cell stays empty. */
__attribute__((format(printf, 4, 5))) static void add_number(struct scan_cells *cells, const char *name, bool known,
                                                             const char *format, ...) {
    struct scan_cell *cell = cell_add(cells, name);
    va_list list;
    cell->number = true;
    if (!known) return;
    va_start(list, format);
    vsnprintf(cell->text, sizeof cell->text, format, list);
    va_end(list);
}

static void add_us(struct scan_cells *cells, const char *name, bool known, double ns) {
    add_number(cells, name, known, "%.3f", ns / 1000);
}

/* ---- the columns ------------------------------------------------------------------------------------------------ */

static void add_place(struct scan_cells *cells, const struct scan_row *row) {
    const struct scan_side *side = row->gpu ? row->gpu : row->cpu;
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
    add_text(cells, "host", host);
    add_text(cells, "cpu", row->cpu ? row->cpu->label : "");
    add_text(cells, "backend", side ? side->device.backend : "");
    add_text(cells, "device", side ? side->label : "");
    add_text(cells, "driver", side ? side->device.driver : "");
    add_text(cells, "op", row->op ? row->op->op.name : "");
    add_number(cells, "size", true, "%llu", (unsigned long long)row->size);
    add_number(cells, "bucket", true, "%llu", (unsigned long long)row->bucket);
}

static void add_spread(struct scan_cells *cells, const struct scan_row *row) {
    const struct scan_spread *cpu = &row->cpu_ns, *gpu = &row->gpu_ns;
    add_us(cells, "cpu_median_us", true, cpu->median);
    add_us(cells, "cpu_p90_us", true, cpu->p90);
    add_us(cells, "cpu_min_us", true, cpu->min);
    add_us(cells, "cpu_max_us", true, cpu->max);
    add_us(cells, "gpu_median_us", row->gpu, gpu->median);
    add_us(cells, "gpu_p90_us", row->gpu, gpu->p90);
    add_us(cells, "gpu_min_us", row->gpu, gpu->min);
    add_us(cells, "gpu_max_us", row->gpu, gpu->max);
}

static void add_times(struct scan_cells *cells, const struct scan_row *row, bool spread) {
    add_number(cells, "samples", true, "%u", row->samples);
    add_us(cells, "cpu_us", true, row->cpu_ns.mean);
    add_us(cells, "gpu_us", row->gpu, row->gpu_ns.mean);
    if (spread) add_spread(cells, row);
    add_us(cells, "first_us", row->gpu, (double)row->first_ns);
    add_us(cells, "setup_us", row->gpu, row->setup_ns);
    add_us(cells, "upload_us", row->gpu, row->upload_ns);
    add_us(cells, "compute_us", row->gpu, row->compute_ns);
    add_us(cells, "readback_us", row->gpu, row->readback_ns);
    add_number(cells, "device_ns", row->gpu, "%.0f", row->device_ns);
}

static void add_verdict(struct scan_cells *cells, const struct scan_row *row) {
    const double gpu_ns = row->gpu_ns.median;
    const bool known = row->gpu && gpu_ns > 0;
    add_number(cells, "speedup", known, "%.4f", known ? row->cpu_ns.median / gpu_ns : 0);
    add_number(cells, "throughput", known, "%.0f", known ? scan_work(row->op, row->size) * 1e9 / gpu_ns : 0);
    add_number(cells, "dispatches", row->gpu, "%u", row->dispatches);
    add_number(cells, "readbacks", row->gpu, "%u", row->readbacks);
    add_text(cells, "verified", row->verified ? "yes" : "no");
    add_text(cells, "winner", scan_winner(row));
}

static void add_prototype(struct scan_cells *cells, const struct scan_row *row, const struct scan_side *side,
                          double median_ns, double first_ns) {
    add_number(cells, "size", true, "%llu", (unsigned long long)row->size);
    add_text(cells, "device", side ? side->label : "");
    add_number(cells, "duration_ms", true, "%.6f", median_ns / 1e6);
    add_number(cells, "first", true, "%.6f", first_ns / 1e6);
    add_text(cells, "backend_mask_hint", side ? side->device.backend : "");
}

void scan_cells_of(struct scan_cells *cells, const struct scan_row *row, enum scan_format format) {
    cells->count = 0;
    if (format == SCAN_PROTOTYPE) {
        add_prototype(cells, row, row->gpu, row->gpu_ns.median, (double)row->first_ns);
        return;
    }
    add_place(cells, row);
    add_times(cells, row, format == SCAN_LONG);
    add_verdict(cells, row);
    if (format == SCAN_LONG) add_text(cells, "decided", row->decided ? "yes" : "no");
}

void scan_cells_of_cpu(struct scan_cells *cells, const struct scan_row *row) {
    cells->count = 0;
    add_prototype(cells, row, row->cpu, row->cpu_ns.median, (double)row->cpu_first_ns);
}

/* ---- a line ----------------------------------------------------------------------------------------------------- */

static void put(char line[SCAN_LINE_BYTES], size_t *used, char c) {
    if (*used + 1 < SCAN_LINE_BYTES) line[(*used)++] = c;
}

/* Quoted where RFC 4180 asks for it, with quotes doubled. */
static void field_put(char line[SCAN_LINE_BYTES], size_t *used, const char *text) {
    const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted) put(line, used, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"') put(line, used, '"');
        put(line, used, *text);
    }
    if (quoted) put(line, used, '"');
}

void scan_cells_line(const struct scan_cells *cells, bool names, char line[SCAN_LINE_BYTES]) {
    size_t used = 0;
    for (unsigned i = 0; i < cells->count; i++) {
        if (i > 0) put(line, &used, ',');
        field_put(line, &used, names ? cells->cells[i].name : cells->cells[i].text);
    }
    put(line, &used, '\n');
    line[used] = '\0';
}
