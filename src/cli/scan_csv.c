/*
 * scan_csv.c: the file of a scan. A row is written whole and at once, so that a scan that is stopped leaves a file of what
 * was measured. Called by cmd_scan.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"
#include "text.h"
#include <errno.h>
#include <string.h>

static enum cli_exit failed(const struct scan_csv *csv) {
    cli_error("--output: cannot write to %s: %s", csv->path, strerror(errno));
    return CLI_FAILED;
}

static enum cli_exit line_write(const struct scan_csv *csv, const struct scan_cells *cells, bool names) {
    char line[SCAN_LINE_BYTES];
    scan_cells_line(cells, names, line);
    const size_t length = strlen(line);
    if (fwrite(line, 1, length, csv->out) == length && fflush(csv->out) == 0) return CLI_OK;
    return failed(csv);
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

/* A spreadsheet, or Windows, may have saved the file with its own ends of lines: the columns are the same. */
static void line_end_plain(char *line) {
    const size_t length = strlen(line);
    if (length < 2 || strcmp(line + length - 2, "\r\n") != 0) return;
    line[length - 2] = '\n';
    line[length - 1] = '\0';
}

/* Is what is there already a file of the same kind? An empty one, or none, has no header yet. */
static enum cli_exit file_check(const struct scan_csv *csv, const struct scan_cells *header, bool *has_header) {
    char want[SCAN_LINE_BYTES], have[SCAN_LINE_BYTES];
    FILE *file = fopen(csv->path, "re");
    *has_header = false;
    if (!file && errno == ENOENT) return CLI_OK;
    if (!file) return failed(csv);
    *has_header = fgets(have, sizeof have, file) != NULL;
    if (*has_header) line_end_plain(have);
    const bool ended = *has_header && fseek(file, -1, SEEK_END) == 0 && fgetc(file) == '\n';
    fclose(file);
    scan_cells_line(header, true, want);
    if (!*has_header) return CLI_OK;
    if (strcmp(want, have) != 0) {
        cli_error(
            "--append: %s has other columns: give another file, or the --samples (1, or more) and --format that it "
            "was written with",
            csv->path);
        return CLI_BAD_INPUT;
    }
    if (ended) return CLI_OK;
    cli_error("--append: the last line of %s is cut off: remove it first", csv->path);
    return CLI_BAD_INPUT;
}

enum cli_exit scan_csv_open(struct scan_csv *csv, const struct cli_args *args, enum scan_format format) {
    const bool append = args->own[SCAN_APPEND].given;
    const struct scan_row none = {.size = 0};
    struct scan_cells header;
    bool has_header = false;
    *csv = (struct scan_csv){.path = args->own[SCAN_OUTPUT].text, .format = format};
    scan_cells_of(&header, &none, format);
    if (strcmp(csv->path, "-") == 0) {
        csv->path = "standard output";
        csv->out = stdout;
    } else {
        enum cli_exit code = append ? file_check(csv, &header, &has_header) : CLI_OK;
        if (code != CLI_OK) return code;
        csv->out = fopen(csv->path, append ? "ae" : "we");
        if (!csv->out) return failed(csv);
    }
    return has_header ? CLI_OK : line_write(csv, &header, true);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* The CPU's line of the prototype's format comes once, before those of all GPUs. */
static enum cli_exit cpu_write(struct scan_csv *csv, const struct scan_row *row) {
    struct scan_cells cells;
    if (csv->op == row->op && csv->size == row->size) return CLI_OK;
    csv->op = row->op;
    csv->size = row->size;
    scan_cells_of_cpu(&cells, row);
    return line_write(csv, &cells, false);
}

enum cli_exit scan_csv_row(struct scan_csv *csv, const struct scan_row *row) {
    struct scan_cells cells;
    enum cli_exit code = csv->format == SCAN_PROTOTYPE ? cpu_write(csv, row) : CLI_OK;
    if (code != CLI_OK || (csv->format == SCAN_PROTOTYPE && !row->gpu)) return code;
    scan_cells_of(&cells, row, csv->format);
    return line_write(csv, &cells, false);
}

enum cli_exit scan_csv_close(struct scan_csv *csv, enum cli_exit so_far) {
    if (!csv->out || csv->out == stdout) return so_far; /* main.c looks after standard output */
    if (fclose(csv->out) == 0 || so_far != CLI_OK) return so_far;
    return failed(csv);
}
