/*
 * row.c: rows of results: a line of the table for people, a line of JSON for bench-results.json.
 *
 * Called by the suites through bench.h. run.sh prints the head of the table and joins the lines of JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include <math.h>

enum { FIGURE = 32 };

/* Above 1 = ours is better, whatever the unit. NAN where there is nothing to compare. */
static double ratio_of(const struct bench_row *row) {
    if (!(row->ours > 0) || !(row->peer > 0)) return NAN; /* NAN compares false */
    return row->more_is_better ? row->ours / row->peer : row->peer / row->ours;
}

enum verdict { MISSED, MET, SKIPPED, NOT_ASKED };

static enum verdict judge(const struct bench_row *row) {
    if (row->wrong) return MISSED;
    double figure = row->ask == BENCH_RATIO_AT_LEAST ? ratio_of(row) : row->ours;
    if (isnan(figure) || (row->unjudged && row->ask != BENCH_NO_ASK)) return SKIPPED;
    switch (row->ask) {
    case BENCH_OURS_AT_MOST: return figure <= row->bound ? MET : MISSED;
    case BENCH_OURS_AT_LEAST:
    case BENCH_RATIO_AT_LEAST: return figure >= row->bound ? MET : MISSED;
    case BENCH_NO_ASK: break;
    }
    return NOT_ASKED;
}

/* "ours <= 300", "ratio >= 1.5"; "" for nothing. */
static void ask_text(const struct bench_row *row, char *text, size_t bytes) {
    static const char *const words[] = {
        [BENCH_OURS_AT_MOST] = "ours <=", [BENCH_OURS_AT_LEAST] = "ours >=", [BENCH_RATIO_AT_LEAST] = "ratio >="};
    text[0] = '\0';
    if (row->ask != BENCH_NO_ASK) (void)snprintf(text, bytes, "%s %.4g", words[row->ask], row->bound);
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

static const char *figure(double value, char text[FIGURE]) {
    if (isnan(value)) return "-";
    (void)snprintf(text, FIGURE, fabs(value) < 10 ? "%.2f" : fabs(value) < 100 ? "%.1f" : "%.0f", value);
    return text;
}

static void print_row(const struct bench *bench, const struct bench_row *row, enum verdict verdict) {
    static const char *const words[] = {[MISSED] = "MISSED", [MET] = "met", [SKIPPED] = "skipped", [NOT_ASKED] = "-"};
    char ours[FIGURE], peer[FIGURE], ratio[FIGURE], ask[FIGURE];
    ask_text(row, ask, sizeof ask);
    printf("%-10s %-46s %9s %9s %-8s %-12s %7s  %-13s %s\n", bench->suite, row->name, figure(row->ours, ours),
           figure(row->peer, peer), row->peer_name ? row->peer_name : "-", row->unit, figure(ratio_of(row), ratio),
           ask[0] ? ask : "-", words[verdict]);
    if (row->note) printf("%-10s   %s\n", "", row->note);
    fflush(stdout);
}

/* ---- JSON --------------------------------------------------------------------------------------------------- */

static void put_text(FILE *file, const char *key, const char *text) {
    fprintf(file, ",\"%s\":", key);
    if (!text) {
        fputs("null", file);
        return;
    }
    fputc('"', file);
    for (const char *at = text; *at; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte == '"' || byte == '\\')
            fprintf(file, "\\%c", byte);
        else if (byte < ' ')
            fprintf(file, "\\u%04x", byte);
        else
            fputc(byte, file);
    }
    fputc('"', file);
}

static void put_number(FILE *file, const char *key, double value) {
    if (isfinite(value))
        fprintf(file, ",\"%s\":%.6g", key, value);
    else
        fprintf(file, ",\"%s\":null", key);
}

static void put_note(FILE *file, const char *place, const char *note) {
    char text[1024];
    if (!place && !note) return;
    (void)snprintf(text, sizeof text, "%s%s%s%s", place ? "on " : "", place ? place : "", place && note ? "; " : "",
                   note ? note : "");
    put_text(file, "note", text);
}

static void write_row(FILE *file, const struct bench *bench, const struct bench_row *row, enum verdict verdict) {
    static const char *const words[] = {[MISSED] = "false", [MET] = "true", [SKIPPED] = "null", [NOT_ASKED] = "null"};
    char ask[FIGURE];
    ask_text(row, ask, sizeof ask);
    fprintf(file, "{\"suite\":\"%s\"", bench->suite);
    put_text(file, "case", row->name);
    put_number(file, "ours", row->ours);
    put_number(file, "peer", row->peer);
    put_text(file, "peer_name", row->peer_name);
    put_text(file, "unit", row->unit);
    put_number(file, "ratio", ratio_of(row));
    put_text(file, "ask", ask[0] ? ask : NULL);
    fprintf(file, ",\"ok\":%s", words[verdict]);
    put_note(file, bench->place, row->note);
    fputs("}\n", file);
}

void bench_row(struct bench *bench, const struct bench_row *row) {
    enum verdict verdict = judge(row);
    print_row(bench, row, verdict);
    if (bench->rows) write_row(bench->rows, bench, row, verdict);
}
