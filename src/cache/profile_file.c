/*
 * profile_file.c: records of a profile, and the text that is made of them; profile_file.h shows it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/profile_file.h"

#include "base/alloc.h"
#include "cache/key.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { END_BYTES = 64 }; /* room for the last line */

/* ---- records ---------------------------------------------------------------------------------------------------- */

void svmx__profile_records_free(struct svmx__profile_records *records) {
    free(records->devices);
    free(records->cells);
    free(records->wrongs);
    *records = (struct svmx__profile_records){0};
}

bool svmx__profile_add_device(struct svmx__profile_records *records, const struct svmx__profile_device *device) {
    void *grown = records->devices;
    if (!svmx__grow(&grown, &records->device_capacity, records->device_count + 1, sizeof *device)) return false;
    records->devices = grown;
    records->devices[records->device_count++] = *device;
    return true;
}

bool svmx__profile_add_cell(struct svmx__profile_records *records, const struct svmx__profile_cell *cell) {
    void *grown = records->cells;
    if (!svmx__grow(&grown, &records->cell_capacity, records->cell_count + 1, sizeof *cell)) return false;
    records->cells = grown;
    records->cells[records->cell_count++] = *cell;
    return true;
}

bool svmx__profile_add_wrong(struct svmx__profile_records *records, const struct svmx__profile_wrong *wrong) {
    void *grown = records->wrongs;
    if (!svmx__grow(&grown, &records->wrong_capacity, records->wrong_count + 1, sizeof *wrong)) return false;
    records->wrongs = grown;
    records->wrongs[records->wrong_count++] = *wrong;
    return true;
}

bool svmx__profile_same(const struct svmx__profile_device *a, const struct svmx__profile_device *b) {
    return strcmp(a->backend, b->backend) == 0 && strcmp(a->version, b->version) == 0 &&
           strcmp(a->name, b->name) == 0 && strcmp(a->driver, b->driver) == 0 && strcmp(a->variant, b->variant) == 0 &&
           strcmp(a->pci, b->pci) == 0 && a->abi_major == b->abi_major && a->abi_minor == b->abi_minor &&
           a->threads == b->threads;
}

static int compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

int svmx__profile_order(const struct svmx__profile_cell *a, const struct svmx__profile_cell *b) {
    int order = compare(a->device, b->device);
    if (!order) order = strcmp(a->op, b->op);
    if (!order) order = compare(a->lanes, b->lanes);
    return order ? order : compare(a->depth, b->depth);
}

/* ---- what is sound ---------------------------------------------------------------------------------------------- */

/* Zero is no cost: half of the smallest that can be written would be. */
static const double LEAST = 0.001;

static bool is_ns(double ns) { return isfinite(ns) && ns >= 0 && ns <= SVMX__PROFILE_MAX_NS; }

const char *svmx__profile_kind(uint32_t kind) {
    static const char *const words[] = {"unknown", "cpu", "gpu", "accelerator", "modelled"};
    return kind < sizeof words / sizeof *words ? words[kind] : NULL;
}

bool svmx__profile_op_ok(const char *name) {
    if (*name < 'a' || *name > 'z') return false;
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

bool svmx__profile_cell_ok(const struct svmx__profile_cell *cell) {
    return svmx__profile_op_ok(cell->op) && cell->lanes < SVMX__PROFILE_LANES && cell->depth < SVMX__PROFILE_DEPTHS &&
           cell->samples > 0 && is_ns(cell->ns) && cell->ns >= LEAST && is_ns(cell->low_ns) && is_ns(cell->high_ns) &&
           cell->low_ns <= cell->ns && cell->ns <= cell->high_ns && is_ns(cell->setup_ns) && is_ns(cell->transfer_ns) &&
           is_ns(cell->compute_ns) && is_ns(cell->first_use_ns);
}

bool svmx__profile_link_ok(double latency_ns, double bytes_per_ns) {
    return is_ns(latency_ns) && isfinite(bytes_per_ns) && bytes_per_ns >= LEAST && bytes_per_ns <= 1e6;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

struct writer {
    char *text;
    size_t length, capacity;
    bool full;     /* nothing more fits */
    bool starving; /* no memory */
};

static void append(struct writer *writer, const char *line, size_t length, size_t limit) {
    void *grown = writer->text;
    writer->full = writer->full || writer->length + length > limit;
    if (writer->full || writer->starving) return;
    if (!svmx__grow(&grown, &writer->capacity, writer->length + length, 1)) {
        writer->starving = true;
        return;
    }
    writer->text = grown;
    memcpy(writer->text + writer->length, line, length);
    writer->length += length;
}

SVMX_PRINTF(2, 3) static void put(struct writer *writer, const char *format, ...) {
    char line[SVMX__PROFILE_LINE_BYTES];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(line, sizeof line, format, list); /* no text of a line is long */
    va_end(list);
    append(writer, line, (size_t)length, SVMX__PROFILE_MAX_BYTES - END_BYTES);
}

/* A text of a device on a line of its own. */
static void put_text(struct writer *writer, const char *key, const char *text) {
    char line[3 * 64 + 1];
    size_t used = 0;
    for (; *text && used + 4 < sizeof line; text++) {
        const unsigned char byte = (unsigned char)*text;
        const bool plain = byte >= 0x20 && byte != 0x7f && byte != '%';
        used += (size_t)snprintf(line + used, sizeof line - used, plain ? "%c" : "%%%02X", byte);
    }
    line[used] = '\0';
    put(writer, "%s%s%s\n", key, used ? " " : "", line);
}

struct number {
    char text[32];
};

/* Without printf's floats, which write what the locale of the program says. */
static struct number number_of(double value) {
    struct number number;
    uint64_t whole = (uint64_t)value, thousandths = (uint64_t)((value - (double)whole) * 1000 + 0.5); /* exact so far */
    if (thousandths == 1000) whole++, thousandths = 0;
    int length = snprintf(number.text, sizeof number.text, "%" PRIu64 ".%03" PRIu64, whole, thousandths);
    while (number.text[length - 1] == '0') length--;
    if (number.text[length - 1] == '.') length--;
    number.text[length] = '\0';
    return number;
}

static void put_device(struct writer *writer, const struct svmx__profile_device *device) {
    put(writer, "device\n");
    put_text(writer, "backend", device->backend);
    put_text(writer, "version", device->version);
    put(writer, "abi %" PRIu32 ".%" PRIu32 "\n", device->abi_major, device->abi_minor);
    put_text(writer, "name", device->name);
    put_text(writer, "driver", device->driver);
    put_text(writer, "variant", device->variant);
    put_text(writer, "pci", device->pci);
    const char *kind = svmx__profile_kind(device->kind);
    put(writer, "threads %" PRIu32 "\nkind %s%s\nused %" PRIu64 "\n", device->threads,
        kind ? kind : svmx__profile_kind(0), device->test ? " test" : "", device->used_s);
    if (device->measured && svmx__profile_link_ok(device->latency_ns, device->bytes_per_ns))
        put(writer, "link %s %s\n", number_of(device->latency_ns).text, number_of(device->bytes_per_ns).text);
}

static void put_wrong(struct writer *writer, const struct svmx__profile_wrong *wrong) {
    char key[48];
    if (!svmx__profile_op_ok(wrong->op)) return;
    (void)snprintf(key, sizeof key, "wrong %s", wrong->op);
    put_text(writer, key, wrong->reason);
}

static void put_cell(struct writer *writer, const struct svmx__profile_cell *cell) {
    if (!svmx__profile_cell_ok(cell)) return;
    put(writer, "cell %s %" PRIu32 " %" PRIu32 " %" PRIu32 " %s %s %s %s %s %s %s %" PRIu64 "\n", cell->op, cell->lanes,
        cell->depth, cell->samples, number_of(cell->ns).text, number_of(cell->low_ns).text,
        number_of(cell->high_ns).text, number_of(cell->setup_ns).text, number_of(cell->transfer_ns).text,
        number_of(cell->compute_ns).text, number_of(cell->first_use_ns).text, cell->bytes);
}

/* ---- order ------------------------------------------------------------------------------------------------------ */

/* Where a device was in the records, so that its cells find it once it has moved. */
struct place {
    struct svmx__profile_device device;
    uint32_t was;
};

static int by_use(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    const int order = compare(b->device.used_s, a->device.used_s);
    return order ? order : compare(a->was, b->was);
}

static int by_order(const void *left, const void *right) { return svmx__profile_order(left, right); }

static int by_device(const void *left, const void *right) {
    const struct svmx__profile_wrong *a = left, *b = right;
    const int order = compare(a->device, b->device);
    return order ? order : strcmp(a->op, b->op);
}

/* false: no memory. */
static bool sort_records(struct svmx__profile_records *records) {
    const size_t count = records->device_count;
    struct place *places = malloc((count ? count : 1) * sizeof *places);
    uint32_t *now = malloc((count ? count : 1) * sizeof *now);
    if (places && now) {
        for (size_t i = 0; i < count; i++) places[i] = (struct place){records->devices[i], (uint32_t)i};
        qsort(places, count, sizeof *places, by_use);
        for (size_t i = 0; i < count; i++) {
            records->devices[i] = places[i].device;
            now[places[i].was] = (uint32_t)i;
        }
        for (size_t i = 0; i < records->cell_count; i++) records->cells[i].device = now[records->cells[i].device];
        for (size_t i = 0; i < records->wrong_count; i++) records->wrongs[i].device = now[records->wrongs[i].device];
        if (records->wrong_count) qsort(records->wrongs, records->wrong_count, sizeof *records->wrongs, by_device);
        if (records->cell_count) qsort(records->cells, records->cell_count, sizeof *records->cells, by_order);
    }
    const bool done = places && now;
    free(places);
    free(now);
    return done;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

/* How many cells were written. */
static size_t put_records(struct writer *writer, const struct svmx__profile_records *records) {
    size_t next = 0, wrong = 0, written = 0;
    for (uint32_t d = 0; d < records->device_count && d < SVMX__PROFILE_DEVICES && !writer->full; d++) {
        const size_t before = writer->length;
        put_device(writer, &records->devices[d]);
        for (; wrong < records->wrong_count && records->wrongs[wrong].device == d; wrong++)
            put_wrong(writer, &records->wrongs[wrong]);
        if (writer->full) writer->length = before; /* a block that is cut before its cells is left out */
        for (; next < records->cell_count && records->cells[next].device == d; next++) {
            const size_t length = writer->length;
            put_cell(writer, &records->cells[next]);
            written += writer->length > length;
        }
    }
    return written;
}

char *svmx__profile_format(struct svmx__profile_records *records, size_t *length) {
    struct writer writer = {0};
    char end[END_BYTES];
    if (!sort_records(records)) return NULL;
    put(&writer, SVMX__PROFILE_MAGIC "%d\n", SVMX__PROFILE_FORMAT);
    put(&writer, "# What svmx measured. `svmx profile show` prints it, `svmx profile clear` starts anew.\n"
                 "# cell: operation, log2 of units, log2 of work for each, samples, ns (median, low, high, setup,\n"
                 "# transfer, compute, first use), bytes\n"
                 "# wrong: an operation that the device gave wrong bytes for and does not get any more\n");
    const size_t cells = put_records(&writer, records);
    if (writer.starving) goto fail;
    const struct svmx__hash128 hash = svmx__hash128(writer.text, writer.length);
    int used = snprintf(end, sizeof end, "end %zu ", cells);
    for (size_t i = 0; i < sizeof hash.bytes; i++)
        used += snprintf(end + used, sizeof end - (size_t)used, "%02x", hash.bytes[i]);
    end[used++] = '\n';
    writer.full = false;
    append(&writer, end, (size_t)used, SVMX__PROFILE_MAX_BYTES);
    if (writer.starving) goto fail;
    *length = writer.length;
    return writer.text;

fail:
    free(writer.text);
    return NULL;
}
