/*
 * top_more.c: what counters do not say, under the picture: why devices are not healthy, who is the fastest from which size on,
 * and what was redone last. See top.h.
 *
 * Texts are those of /stats.json, /curves.json and /fallbacks. They may come from another process: what is not as expected is
 * left out, and nothing in them reaches the terminal but what can be seen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log.h"
#include "text.h"
#include "top.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEVICES = 32, SHOWN = 5, CROSSINGS = 4, NAME = 48 };

/* A text without its quotes. */
struct shown {
    char line[160];
};

static struct shown shown_of(struct cli_slice text) {
    struct shown shown = {""};
    size_t used = 0;
    for (size_t i = 1; text.at && i + 1 < text.length && used + 1 < sizeof shown.line; i++)
        shown.line[used++] = (char)((unsigned char)text.at[i] < ' ' || text.at[i] == 0x7f ? '?' : text.at[i]);
    return shown;
}

/* The object that begins with `start` behind `at`; at == NULL: none. */
static struct cli_slice object_at(const char *at, const char *start) {
    const char *found = at ? strstr(at, start) : NULL;
    return (struct cli_slice){found, found ? strlen(found) : 0};
}

#define EACH_OBJECT(object, text, start)                                                                               \
    for (struct cli_slice object = object_at(text, start); object.at; object = object_at(object.at + 1, start))

static const char device_start[] = "{\"index\":", op_start[] = "{\"name\":";

/* ---- health ------------------------------------------------------------------------------------------------------ */

static void health(FILE *out, const char *stats) {
    bool any = false;
    EACH_OBJECT(device, stats, device_start) {
        const struct shown reason = shown_of(cli_field_text(device, "health_reason"));
        if (!*reason.line) continue;
        fprintf(out, "%s is %s: %s\n", shown_of(cli_field_text(device, "id")).line,
                shown_of(cli_field_text(device, "health")).line, reason.line);
        any = true;
    }
    if (any) fputc('\n', out);
}

/* ---- who is the fastest ------------------------------------------------------------------------------------------ */

struct point {
    unsigned op, device;
    unsigned long long units;
    double ns;
};

/* The next of "[op,device,units,samples,ns,low,high]"; false: no more. */
static bool next_point(const char **at, struct point *point) {
    unsigned samples;
    while ((*at = strchr(*at, '['))) {
        ++*at;
        if (sscanf(*at, "%u,%u,%llu,%u,%lf", &point->op, &point->device, &point->units, &samples, &point->ns) == 5)
            return true;
    }
    return false;
}

/* The fastest at a size among those that were measured there, and how many these are. */
static unsigned best_at(const char *curves, unsigned op, unsigned long long units, unsigned *count) {
    struct point point;
    double best_ns = 0;
    unsigned best = DEVICES;
    *count = 0;
    for (const char *at = curves; next_point(&at, &point);) {
        if (point.op != op || point.units != units) continue;
        if (best == DEVICES || point.ns < best_ns) best = point.device, best_ns = point.ns;
        ++*count;
    }
    return best;
}

/* "simd:0, from 65,536 messages on opencl:0"; "": nothing was measured on two devices. */
static void fastest(const char *curves, unsigned op, const char *unit, char names[DEVICES][NAME], char *words,
                    size_t bytes) {
    unsigned last = DEVICES, crossings = 0;
    size_t used = 0;
    words[0] = '\0';
    for (unsigned size = 0; size < 63 && crossings <= CROSSINGS; size++) {
        unsigned count;
        const unsigned best = best_at(curves, op, 1ULL << size, &count);
        if (count < 2 || best >= DEVICES || best == last || used >= bytes) continue;
        used += last == DEVICES ? (size_t)snprintf(words, bytes, "%s", names[best])
                                : (size_t)snprintf(words + used, bytes - used, ", from %s on %s",
                                                   cli_counted(1ULL << size, unit).line, names[best]);
        last = best;
        crossings++;
    }
}

static void crossovers(FILE *out, const char *stats, const char *curves) {
    char names[DEVICES][NAME] = {{0}}, words[256];
    unsigned count = 0;
    bool any = false;
    EACH_OBJECT(device, stats, device_start)
    if (count < DEVICES) (void)snprintf(names[count++], NAME, "%.40s", shown_of(cli_field_text(device, "id")).line);
    EACH_OBJECT(op, stats ? strstr(stats, "\"operations\":") : NULL, op_start) {
        uint64_t number = 0;
        if (!cli_field_number(op, "op", &number)) continue;
        const struct shown unit = shown_of(cli_field_text(op, "unit"));
        fastest(curves, (unsigned)number, *unit.line ? unit.line : "unit", names, words, sizeof words);
        if (!*words) continue;
        if (!any) fputs("\nThe fastest, by what was measured:\n", out);
        fprintf(out, "  %s: %s\n", shown_of(cli_field_text(op, "name")).line, words);
        any = true;
    }
}

/* ---- what was redone --------------------------------------------------------------------------------------------- */

static void one_fallback(FILE *out, struct cli_slice line) {
    uint64_t time_ns = 0, units = 0;
    char when[16] = "";
    struct tm local;
    (void)cli_field_number(line, "time_ns", &time_ns);
    (void)cli_field_number(line, "units", &units);
    const time_t seconds = (time_t)(time_ns / 1000000000);
    if (localtime_r(&seconds, &local)) (void)strftime(when, sizeof when, "%H:%M:%S", &local);
    const struct cli_slice failed = cli_field(line, "failed");
    const bool nobody = failed.at && failed.length == 4 && strncmp(failed.at, "true", 4) == 0;
    fprintf(out, "  %s %s of %s, done by %s: %s\n", when, shown_of(cli_field_text(line, "operation")).line,
            cli_counted(units, "unit").line, nobody ? "nobody" : shown_of(cli_field_text(line, "backend")).line,
            shown_of(cli_field_text(line, "reason")).line);
}

/* The last ones, the latest first. */
static void fallbacks(FILE *out, const char *text) {
    struct cli_slice last[SHOWN], rest = {text, text ? strlen(text) : 0}, line;
    size_t count = 0;
    while (text && cli_log_line(&rest, &line))
        if (line.length) last[count++ % SHOWN] = line;
    if (count) fputs("\nRedone last:\n", out);
    for (size_t i = 0; i < count && i < SHOWN; i++) one_fallback(out, last[(count - 1 - i) % SHOWN]);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

bool top_texts_read(const struct top_source *source, struct top_texts *texts) {
    *texts = (struct top_texts){.stats = top_source_read(source, TOP_STATS)};
    if (texts->stats) texts->curves = top_source_read(source, TOP_CURVES);
    if (texts->curves) texts->fallbacks = top_source_read(source, TOP_FALLBACKS);
    if (texts->fallbacks) return true;
    top_texts_free(texts);
    return false;
}

void top_texts_free(struct top_texts *texts) {
    free(texts->stats);
    free(texts->curves);
    free(texts->fallbacks);
    *texts = (struct top_texts){NULL, NULL, NULL};
}

void top_health_print(FILE *out, const struct top_texts *texts) { health(out, texts->stats); }

void top_more_print(FILE *out, const struct top_texts *texts) {
    crossovers(out, texts->stats, texts->curves);
    fallbacks(out, texts->fallbacks);
}
