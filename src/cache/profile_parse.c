/*
 * profile_parse.c: the text of a profile, read back; profile_file.h shows it. Nothing in it is believed: a file whose
 * lines are not what the writer writes is no profile as a whole, since what else is in it may be wrong as well.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/profile_file.h"

#include "cache/key.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *start, *at, *end;
    unsigned number;                     /* of the line, from 1 */
    char line[SVMX__PROFILE_LINE_BYTES]; /* without its end */
    const char *begin;                   /* of the line in the text */
    struct svmx__profile_records *records;
    struct svmx__text *why;
};

#define bad(reader, ...) bad_line((reader), svmx__fail((reader)->why, SVMX_ERR_ARGUMENT, __VA_ARGS__))

/* Puts the number of the line before what is wrong with it. */
static enum svmx_status bad_line(const struct reader *reader, enum svmx_status status) {
    struct svmx__text what = *reader->why;
    svmx__say(reader->why, "line %u: %.400s", reader->number, what.line);
    return status;
}

/* ---- lines and words -------------------------------------------------------------------------------------------- */

/* The next line that is no comment. The text ends with a line's end, and nothing is read after the line `end`. */
static enum svmx_status next_line(struct reader *reader) {
    do {
        const char *newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
        reader->number++;
        if (!newline) return bad(reader, "the last line is missing");
        const size_t length = (size_t)(newline - reader->at);
        if (length >= sizeof reader->line) return bad(reader, "it is too long");
        for (size_t i = 0; i < length; i++)
            if ((unsigned char)reader->at[i] < 0x20 || reader->at[i] == 0x7f)
                return bad(reader, "a byte 0x%02x is no text", (unsigned char)reader->at[i]);
        memcpy(reader->line, reader->at, length);
        reader->line[length] = '\0';
        reader->begin = reader->at;
        reader->at = newline + 1;
    } while (reader->line[0] == '#');
    return SVMX_OK;
}

/* What follows `key` on the line; NULL: it starts otherwise. */
static char *after(struct reader *reader, const char *key) {
    const size_t length = strlen(key);
    if (strncmp(reader->line, key, length) != 0) return NULL;
    if (reader->line[length] == '\0') return reader->line + length;
    return reader->line[length] == ' ' ? reader->line + length + 1 : NULL;
}

/* Cuts a word off; "" at the end of the line, which no reader of a word takes. */
static char *word(char **rest) {
    char *start = *rest, *space = strchr(start, ' ');
    *rest = space ? space + 1 : start + strlen(start);
    if (space) *space = '\0';
    return start;
}

/* Digits of a whole number, at most `limit`; moves past them. false: none, or too large. */
static bool digits(const char **text, uint64_t limit, uint64_t *number) {
    const char *at = *text;
    uint64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (value > (limit - digit) / 10) return false;
        value = value * 10 + digit;
    }
    if (at == *text) return false;
    *text = at;
    *number = value;
    return true;
}

static enum svmx_status whole(struct reader *reader, const char *text, uint64_t limit, uint64_t *number) {
    const char *at = text;
    if (digits(&at, limit, number) && *at == '\0') return SVMX_OK;
    return bad(reader, "'%.40s' is no whole number up to %" PRIu64, text, limit);
}

/* Neither sign nor exponent, NaN nor infinity can be written; strtod would take them all, and a locale's comma. */
static enum svmx_status decimal(struct reader *reader, const char *text, double limit, double *number) {
    const char *at = text;
    uint64_t before, behind = 0, scale = 1;
    bool good = digits(&at, (uint64_t)limit, &before);
    if (good && *at == '.') {
        const char *point = ++at;
        good = digits(&at, 999, &behind) && at - point <= 3;
        for (; good && point < at; point++) scale *= 10;
    }
    if (!good || *at != '\0') return bad(reader, "'%.40s' is no number from 0 to %.0f", text, limit);
    *number = (double)before + (double)behind / (double)scale;
    return SVMX_OK;
}

/* ---- devices ---------------------------------------------------------------------------------------------------- */

static int hex(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/* A text as the writer writes it, into `to`. */
static enum svmx_status unwrap(struct reader *reader, const char *key, const char *from, char *to, size_t bytes) {
    size_t used = 0;
    while (*from && used + 1 < bytes) {
        int byte = (unsigned char)*from++;
        if (byte == '%') {
            const int high = hex(from[0]), low = high < 0 ? -1 : hex(from[1]);
            byte = high * 16 + low;
            if (low < 0 || byte == 0) return bad(reader, "'%%' starts no byte");
            from += 2;
        }
        to[used++] = (char)byte;
    }
    to[used] = '\0';
    return *from ? bad(reader, "'%s' is too long", key) : SVMX_OK;
}

/* The next line, which must be KEY and a text, into `to`. */
static enum svmx_status take_text(struct reader *reader, const char *key, char *to, size_t bytes) {
    enum svmx_status status = next_line(reader);
    if (status != SVMX_OK) return status;
    const char *from = after(reader, key);
    return from ? unwrap(reader, key, from, to, bytes) : bad(reader, "'%s' of a device is missing", key);
}

static enum svmx_status take_number(struct reader *reader, const char *key, uint64_t limit, uint64_t *number) {
    enum svmx_status status = next_line(reader);
    if (status != SVMX_OK) return status;
    const char *text = after(reader, key);
    return text ? whole(reader, text, limit, number) : bad(reader, "'%s' of a device is missing", key);
}

static enum svmx_status take_abi(struct reader *reader, struct svmx__profile_device *device) {
    uint64_t major = 0, minor = 0;
    enum svmx_status status = next_line(reader);
    if (status != SVMX_OK) return status;
    const char *at = after(reader, "abi");
    const bool good = at && digits(&at, UINT16_MAX, &major) && *at++ == '.' && digits(&at, UINT16_MAX, &minor) && !*at;
    if (!good) return bad(reader, "'abi' of a device is missing, or is no MAJOR.MINOR");
    device->abi_major = (uint32_t)major;
    device->abi_minor = (uint32_t)minor;
    return SVMX_OK;
}

static enum svmx_status take_kind(struct reader *reader, struct svmx__profile_device *device) {
    enum svmx_status status = next_line(reader);
    if (status != SVMX_OK) return status;
    char *rest = after(reader, "kind");
    if (!rest) return bad(reader, "'kind' of a device is missing");
    const char *kind = word(&rest), *known;
    device->test = strcmp(rest, "test") == 0;
    while ((known = svmx__profile_kind(device->kind)) && strcmp(known, kind) != 0) device->kind++;
    return known && (device->test || !*rest) ? SVMX_OK : bad(reader, "'%.40s' is no kind of device", kind);
}

static enum svmx_status take_key(struct reader *reader, struct svmx__profile_device *device) {
    uint64_t threads = 0;
    enum svmx_status status = take_text(reader, "backend", device->backend, sizeof device->backend);
    if (status == SVMX_OK) status = take_text(reader, "version", device->version, sizeof device->version);
    if (status == SVMX_OK) status = take_abi(reader, device);
    if (status == SVMX_OK) status = take_text(reader, "name", device->name, sizeof device->name);
    if (status == SVMX_OK) status = take_text(reader, "driver", device->driver, sizeof device->driver);
    if (status == SVMX_OK) status = take_text(reader, "variant", device->variant, sizeof device->variant);
    if (status == SVMX_OK) status = take_text(reader, "pci", device->pci, sizeof device->pci);
    if (status == SVMX_OK) status = take_number(reader, "threads", UINT32_MAX, &threads);
    if (status == SVMX_OK) status = take_kind(reader, device);
    if (status == SVMX_OK) status = take_number(reader, "used", UINT64_C(1) << 40, &device->used_s);
    device->threads = (uint32_t)threads;
    return status;
}

static enum svmx_status take_device(struct reader *reader) {
    struct svmx__profile_records *records = reader->records;
    struct svmx__profile_device device = {.threads = 0};
    enum svmx_status status = take_key(reader, &device);
    if (status != SVMX_OK) return status;
    if (records->device_count == SVMX__PROFILE_DEVICES)
        return bad(reader, "there are more than %d devices", SVMX__PROFILE_DEVICES);
    for (size_t i = 0; i < records->device_count; i++)
        if (svmx__profile_same(&records->devices[i], &device)) return bad(reader, "the device is there twice");
    return svmx__profile_add_device(records, &device) ? SVMX_OK : SVMX_ERR_MEMORY;
}

static enum svmx_status take_link(struct reader *reader, char *rest) {
    struct svmx__profile_records *records = reader->records;
    struct svmx__profile_device *device = records->device_count ? &records->devices[records->device_count - 1] : NULL;
    double latency_ns, bytes_per_ns;
    if (!device || device->measured) return bad(reader, "no device, or a second link of one");
    enum svmx_status status = decimal(reader, word(&rest), SVMX__PROFILE_MAX_NS, &latency_ns);
    if (status == SVMX_OK) status = decimal(reader, word(&rest), 1e6, &bytes_per_ns);
    if (status != SVMX_OK) return status;
    if (*rest || !svmx__profile_link_ok(latency_ns, bytes_per_ns)) return bad(reader, "a link cannot be like that");
    device->measured = true;
    device->latency_ns = latency_ns;
    device->bytes_per_ns = bytes_per_ns;
    return SVMX_OK;
}

static enum svmx_status take_wrong(struct reader *reader, char *rest) {
    struct svmx__profile_records *records = reader->records;
    struct svmx__profile_wrong wrong = {.device = (uint32_t)records->device_count - 1};
    if (!records->device_count) return bad(reader, "wrong bytes of no device");
    const char *op = word(&rest);
    if (strlen(op) >= sizeof wrong.op || !svmx__profile_op_ok(op))
        return bad(reader, "'%.40s' is no name of an operation", op);
    memcpy(wrong.op, op, strlen(op) + 1);
    enum svmx_status status = unwrap(reader, "wrong", rest, wrong.reason, sizeof wrong.reason);
    if (status != SVMX_OK) return status;
    const struct svmx__profile_wrong *before = records->wrong_count ? &records->wrongs[records->wrong_count - 1] : NULL;
    if (before && before->device == wrong.device && strcmp(before->op, wrong.op) >= 0)
        return bad(reader, "an operation is wrong twice, or out of order");
    return svmx__profile_add_wrong(records, &wrong) ? SVMX_OK : SVMX_ERR_MEMORY;
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

static enum svmx_status take_sizes(struct reader *reader, char **rest, struct svmx__profile_cell *cell) {
    uint64_t lanes = 0, depth = 0, samples = 0;
    enum svmx_status status = whole(reader, word(rest), SVMX__PROFILE_LANES - 1, &lanes);
    if (status == SVMX_OK) status = whole(reader, word(rest), SVMX__PROFILE_DEPTHS - 1, &depth);
    if (status == SVMX_OK) status = whole(reader, word(rest), UINT32_MAX, &samples);
    cell->lanes = (uint32_t)lanes;
    cell->depth = (uint32_t)depth;
    cell->samples = (uint32_t)samples;
    return status;
}

static enum svmx_status take_times(struct reader *reader, char **rest, struct svmx__profile_cell *cell) {
    double *const times[] = {&cell->ns,          &cell->low_ns,     &cell->high_ns,     &cell->setup_ns,
                             &cell->transfer_ns, &cell->compute_ns, &cell->first_use_ns};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        enum svmx_status status = decimal(reader, word(rest), SVMX__PROFILE_MAX_NS, times[i]);
        if (status != SVMX_OK) return status;
    }
    return SVMX_OK;
}

/* The previous cell of the same device, which must be before this one; NULL: it is the first. */
static const struct svmx__profile_cell *previous(const struct svmx__profile_records *records, uint32_t device) {
    const struct svmx__profile_cell *last = records->cell_count ? &records->cells[records->cell_count - 1] : NULL;
    return last && last->device == device ? last : NULL;
}

static enum svmx_status take_cell(struct reader *reader, char *rest) {
    struct svmx__profile_records *records = reader->records;
    struct svmx__profile_cell cell = {.device = (uint32_t)records->device_count - 1};
    if (!records->device_count) return bad(reader, "a cell of no device");
    const char *op = word(&rest);
    if (strlen(op) >= sizeof cell.op || !svmx__profile_op_ok(op))
        return bad(reader, "'%.40s' is no name of an operation", op);
    memcpy(cell.op, op, strlen(op) + 1);
    enum svmx_status status = take_sizes(reader, &rest, &cell);
    if (status == SVMX_OK) status = take_times(reader, &rest, &cell);
    if (status == SVMX_OK) status = whole(reader, word(&rest), UINT64_C(1) << 50, &cell.bytes);
    if (status != SVMX_OK) return status;
    if (*rest) return bad(reader, "a cell has twelve numbers and names, not more");
    if (!svmx__profile_cell_ok(&cell)) return bad(reader, "a cell cannot be like that");
    const struct svmx__profile_cell *before = previous(records, cell.device);
    if (before && svmx__profile_order(before, &cell) >= 0) return bad(reader, "a cell is there twice, or out of order");
    return svmx__profile_add_cell(records, &cell) ? SVMX_OK : SVMX_ERR_MEMORY;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static enum svmx_status take_end(struct reader *reader, char *rest) {
    const struct svmx__hash128 hash = svmx__hash128(reader->start, (size_t)(reader->begin - reader->start));
    char expected[2 * sizeof hash.bytes + 1];
    uint64_t cells;
    for (size_t i = 0; i < sizeof hash.bytes; i++) (void)snprintf(expected + 2 * i, 3, "%02x", hash.bytes[i]);
    enum svmx_status status = whole(reader, word(&rest), SVMX__PROFILE_MAX_BYTES, &cells);
    if (status != SVMX_OK) return status;
    if (cells != reader->records->cell_count) return bad(reader, "there were to be %" PRIu64 " cells", cells);
    if (strcmp(rest, expected) != 0) return bad(reader, "the checksum is another: somebody changed it");
    return reader->at == reader->end ? SVMX_OK : bad(reader, "there is more behind the end");
}

static enum svmx_status take_lines(struct reader *reader) {
    for (;;) {
        enum svmx_status status = next_line(reader);
        char *rest;
        if (status != SVMX_OK) return status;
        if ((rest = after(reader, "end"))) return take_end(reader, rest);
        if ((rest = after(reader, "cell")))
            status = take_cell(reader, rest);
        else if ((rest = after(reader, "link")))
            status = take_link(reader, rest);
        else if ((rest = after(reader, "wrong")))
            status = take_wrong(reader, rest);
        else if (strcmp(reader->line, "device") == 0)
            status = take_device(reader);
        else
            status = bad(reader, "'%.40s' is nothing that stands in a profile", reader->line);
        if (status != SVMX_OK) return status;
    }
}

/* Is the last line that of a profile? What a disk that was full or a copy that was broken off leaves is not. */
static bool has_end(const char *text, size_t length) {
    size_t start = length - 1;
    if (text[length - 1] != '\n') return false;
    while (start > 0 && text[start - 1] != '\n') start--;
    return length - start > 4 && memcmp(text + start, "end ", 4) == 0;
}

static enum svmx_status take_all(struct reader *reader, size_t length) {
    const size_t magic = strlen(SVMX__PROFILE_MAGIC);
    uint64_t format = 0;
    if (length == 0) return svmx__fail(reader->why, SVMX_ERR_ARGUMENT, "it is empty");
    if (length > SVMX__PROFILE_MAX_BYTES) return svmx__fail(reader->why, SVMX_ERR_ARGUMENT, "it is too large");
    if (length < magic || memcmp(reader->start, SVMX__PROFILE_MAGIC, magic) != 0)
        return svmx__fail(reader->why, SVMX_ERR_ARGUMENT,
                          "it is no profile of svmx: its first line says something else");
    if (!has_end(reader->start, length))
        return svmx__fail(reader->why, SVMX_ERR_ARGUMENT, "it is cut short: its last line is missing");
    enum svmx_status status = next_line(reader);
    if (status == SVMX_OK) status = whole(reader, reader->line + magic, UINT32_MAX, &format);
    if (status != SVMX_OK) return status;
    if (format != SVMX__PROFILE_FORMAT)
        return svmx__fail(reader->why, SVMX_ERR_ARGUMENT, "it is of format %" PRIu64 "; this version has format %d",
                          format, SVMX__PROFILE_FORMAT);
    return take_lines(reader);
}

enum svmx_status svmx__profile_parse(struct svmx__profile_records *records, const char *text, size_t length,
                                     struct svmx__text *why) {
    struct svmx__text unused;
    struct reader reader = {
        .start = text, .at = text, .end = text + length, .records = records, .why = why ? why : &unused};
    enum svmx_status status = take_all(&reader, length);
    if (status == SVMX_ERR_MEMORY) svmx__say(reader.why, "no memory to read a profile");
    if (status != SVMX_OK) svmx__profile_records_free(records);
    return status;
}
