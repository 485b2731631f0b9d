/*
 * parse.c: reads the text of a model (docs/SIM.md).
 *
 * A line is a key and what belongs to it; `cpu` before the key means the CPU. The table of keys below is the format. What
 * cannot be meant is refused, with its line and what to write instead; nothing is guessed and nothing skipped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model.h"
#include "scan.h"

#include <string.h>

/* The state of one parse. */
struct parser {
    struct sim_scan scan;
    struct sim_model model;
    enum sim_side side;       /* that the line is about */
    uint32_t seen[SIM_SIDES]; /* keys that stood, a bit each */
};

struct key {
    const char *word;
    bool (*read)(struct parser *parser, const struct key *key);
    size_t field;        /* in struct sim_device, of keys that are one number */
    const char *example; /* shown when the key is missing or not understood */
    bool cpu;            /* goes with `cpu` too */
    bool again;          /* may stand more than once */
    enum { OPTIONAL, NEEDED, NEEDED_TO_COPY } need;
};

static struct sim_device *side_of(struct parser *parser) { return &parser->model.sides[parser->side]; }

static double *field_of(struct parser *parser, const struct key *key) {
    return (double *)(void *)((char *)side_of(parser) + key->field);
}

/* ---- single values ---------------------------------------------------------------------------------------- */

static bool read_time(struct parser *parser, const struct key *key) {
    return sim_scan_time(&parser->scan, key->word, field_of(parser, key));
}

static bool read_rate(struct parser *parser, const struct key *key) {
    return sim_scan_rate(&parser->scan, key->word, field_of(parser, key));
}

/* Small letters, digits and "._-": what SUPERVM_BACKENDS takes for a device and no file name finds odd. */
static bool model_name_ok(const char *name) {
    return name[0] != '.' && name[0] != '-' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == strlen(name) &&
           strspn(name, "0123456789") != strlen(name); /* a bare number is a device's index */
}

static bool read_name(struct parser *parser, const struct key *key) {
    char *name = parser->model.name;
    (void)key;
    if (sim_scan_word(&parser->scan, name, SIM_NAME_BYTES) && model_name_ok(name)) return true;
    return sim_refuse(&parser->scan, "the name is not one: write up to %d small letters, digits, '.', '_' and '-'",
                      SIM_NAME_BYTES - 1);
}

static bool read_memory(struct parser *parser, const struct key *key) {
    parser->model.shares_memory = sim_scan_is(&parser->scan, "shared");
    if (parser->model.shares_memory || sim_scan_is(&parser->scan, "separate")) return true;
    return sim_refuse(&parser->scan, "%s is neither: write shared or separate", key->word);
}

static bool read_seed(struct parser *parser, const struct key *key) {
    return sim_scan_whole(&parser->scan, key->word, 0, UINT64_C(999999999999999), &parser->model.seed);
}

static bool read_copy_engines(struct parser *parser, const struct key *key) {
    uint64_t *engines = &parser->model.copy_engines;
    if (!sim_scan_whole(&parser->scan, key->word, 0, 2, engines)) return false;
    return *engines != 1 || sim_refuse(&parser->scan, "%s is 1: write 2, one for each way, or 0", key->word);
}

static bool read_jitter(struct parser *parser, const struct key *key) {
    double percent;
    if (!sim_scan_number(&parser->scan, key->word, 0, 100, &percent) || !sim_scan_unit(&parser->scan, key->word, "%"))
        return false;
    side_of(parser)->jitter = percent / 100;
    return true;
}

static bool read_factor(struct parser *parser, const char *what, double *factor) {
    return sim_scan_number(&parser->scan, what, 0.001, 1e6, factor) && sim_scan_unit(&parser->scan, what, "x");
}

static bool read_outliers(struct parser *parser, const struct key *key) {
    struct sim_device *device = side_of(parser);
    double percent;
    (void)key;
    if (!sim_scan_number(&parser->scan, "the chance of an outlier", 0, 100, &percent) ||
        !sim_scan_unit(&parser->scan, "the chance of an outlier", "%"))
        return false;
    device->outlier_chance = percent / 100;
    return read_factor(parser, "the factor of outliers", &device->outlier_factor);
}

/* ---- curves ----------------------------------------------------------------------------------------------- */

/* NUMBER TIME {, NUMBER TIME}, ascending. */
static bool read_points(struct parser *parser, const char *what, double low, struct sim_point *points,
                        uint32_t *count) {
    struct sim_scan *scan = &parser->scan;
    *count = 0;
    do {
        struct sim_point point;
        if (*count == SIM_MAX_POINTS) return sim_refuse(scan, "more than %d points: leave some out", SIM_MAX_POINTS);
        if (!sim_scan_number(scan, what, low, 1e15, &point.at) ||
            !sim_scan_time(scan, "the time of a point", &point.ns))
            return false;
        if (*count && point.at <= points[*count - 1].at)
            return sim_refuse(scan, "%s is %.15g after %.15g: write points in ascending order", what, point.at,
                              points[*count - 1].at);
        points[(*count)++] = point;
    } while (sim_scan_comma(scan));
    return true;
}

static bool read_contention(struct parser *parser, const struct key *key) {
    struct sim_device *device = side_of(parser);
    (void)key;
    return read_points(parser, "the number of submitters", 2, device->contention, &device->contention_count);
}

static bool read_table(struct parser *parser, struct sim_op *op) {
    if (!read_points(parser, "the work of a point", 1, op->points, &op->point_count)) return false;
    for (uint32_t i = 0; i < op->point_count; i++)
        if (op->points[i].ns <= 0) return sim_refuse(&parser->scan, "a point takes no time: write 1 ns or more");
    return true;
}

static bool read_work_rate(struct parser *parser, struct sim_op *op) {
    struct sim_scan *scan = &parser->scan;
    return sim_scan_number(scan, "the rate", 1e-9, 1e9, &op->work_per_ns) && sim_scan_unit(scan, "the rate", "work/ns");
}

/* [fixed TIME] [lanes NUMBER] */
static bool read_op_rest(struct parser *parser, struct sim_op *op) {
    struct sim_scan *scan = &parser->scan;
    if (sim_scan_is(scan, "fixed") && !sim_scan_time(scan, "fixed", &op->fixed_ns)) return false;
    return !sim_scan_is(scan, "lanes") || sim_scan_number(scan, "lanes", 1, 1e9, &op->lanes);
}

static bool op_name_ok(const char *name) {
    return strcmp(name, "*") == 0 ||
           (name[0] >= 'a' && name[0] <= 'z' && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name));
}

static bool read_op(struct parser *parser, const struct key *key) {
    struct sim_scan *scan = &parser->scan;
    struct sim_device *device = side_of(parser);
    if (device->op_count == SIM_MAX_OPS)
        return sim_refuse(scan, "more than %d operations: leave some to 'op *'", SIM_MAX_OPS);
    struct sim_op *op = &device->ops[device->op_count];
    if (!sim_scan_word(scan, op->name, sizeof op->name) || !op_name_ok(op->name))
        return sim_refuse(scan, "no operation is named: write its name, or *, as in: %s", key->example);
    for (uint32_t i = 0; i < device->op_count; i++)
        if (strcmp(device->ops[i].name, op->name) == 0)
            return sim_refuse(scan, "op %s stands here a second time: leave one", op->name);
    device->op_count++;
    const bool rate = sim_scan_is(scan, "rate");
    if (!rate && !sim_scan_is(scan, "table"))
        return sim_refuse(scan, "op %s has neither rate nor table: write it like %s", op->name, key->example);
    return (rate ? read_work_rate(parser, op) : read_table(parser, op)) && read_op_rest(parser, op);
}

/* ---- changes ---------------------------------------------------------------------------------------------- */

static bool read_from(struct parser *parser, bool launch, uint64_t *from) {
    double ns;
    if (launch) return sim_scan_whole(&parser->scan, "the launch", 0, UINT64_C(1000000000000), from);
    if (!sim_scan_time(&parser->scan, "the time of a change", &ns)) return false;
    *from = (uint64_t)ns;
    return true;
}

static bool read_change(struct parser *parser, const struct key *key) {
    struct sim_scan *scan = &parser->scan;
    struct sim_device *device = side_of(parser);
    const bool launch = sim_scan_is(scan, "launch");
    struct sim_changes *changes = launch ? &device->at_launch : &device->at_ns;
    struct sim_change change = {0, 1};
    if (changes->count == SIM_MAX_CHANGES)
        return sim_refuse(scan, "more than %d changes: leave some out", SIM_MAX_CHANGES);
    if (!read_from(parser, launch, &change.from)) return false;
    if (!sim_scan_is(scan, "slow")) return sim_refuse(scan, "what changes is missing: write it like %s", key->example);
    if (!read_factor(parser, "slow", &change.slow)) return false;
    if (changes->count && change.from <= changes->list[changes->count - 1].from)
        return sim_refuse(scan, "this change is not after the one before it: write changes in ascending order");
    changes->list[changes->count++] = change;
    return true;
}

/* ---- lines ------------------------------------------------------------------------------------------------ */

#define AT(field) offsetof(struct sim_device, field)

static const struct key keys[] = {
    {"name", read_name, 0, "name my-gpu", false, false, NEEDED},
    {"memory", read_memory, 0, "memory separate", false, false, NEEDED},
    {"seed", read_seed, 0, "seed 1", false, false, OPTIONAL},
    {"create", read_time, AT(create_ns), "create 0.5 ms", true, false, NEEDED},
    {"upload", read_time, AT(upload_ns), "upload 10 us", false, false, NEEDED_TO_COPY},
    {"dispatch", read_time, AT(dispatch_ns), "dispatch 10 us", true, false, NEEDED},
    {"readback", read_time, AT(readback_ns), "readback 10 us", false, false, NEEDED_TO_COPY},
    {"task", read_time, AT(task_ns), "task 5 ns", true, false, OPTIONAL},
    {"upload_rate", read_rate, AT(upload_bytes_per_ns), "upload_rate 24 GB/s", false, false, NEEDED_TO_COPY},
    {"readback_rate", read_rate, AT(readback_bytes_per_ns), "readback_rate 24 GB/s", false, false, NEEDED_TO_COPY},
    {"copy_engines", read_copy_engines, 0, "copy_engines 2", false, false, OPTIONAL},
    {"op", read_op, 0, "op * rate 2.5 work/ns, or: op * table 1000 2 us, 100000 50 us", true, true, NEEDED},
    {"contention", read_contention, 0, "contention 24 200 us", true, false, OPTIONAL},
    {"jitter", read_jitter, 0, "jitter 3 %", true, false, OPTIONAL},
    {"outliers", read_outliers, 0, "outliers 0.1 % 20 x", true, false, OPTIONAL},
    {"at", read_change, 0, "at 2.5 s slow 10 x, or: at launch 300 slow 10 x", true, true, OPTIONAL},
};
enum { KEYS = sizeof keys / sizeof *keys };
_Static_assert(KEYS <= 32, "a bit each");

static const struct key *key_find(const char *word) {
    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(keys[i].word, word) == 0) return &keys[i];
    return NULL;
}

static bool read_line(struct parser *parser) {
    struct sim_scan *scan = &parser->scan;
    char word[SIM_NAME_BYTES];
    if (sim_scan_done(scan)) return true;
    parser->side = sim_scan_is(scan, "cpu") ? SIM_CPU : SIM_GPU;
    const struct key *key = sim_scan_word(scan, word, sizeof word) ? key_find(word) : NULL;
    if (!key)
        return sim_refuse(scan, "this line begins with no known word: write name, memory, seed, create, upload, "
                                "dispatch, readback, task, upload_rate, readback_rate, copy_engines, op, contention, "
                                "jitter, outliers or at; cpu before it, where it is about the CPU");
    if (parser->side == SIM_CPU && !key->cpu) return sim_refuse(scan, "the CPU has no '%s': leave it out", key->word);
    const uint32_t bit = UINT32_C(1) << (key - keys);
    if (!key->again && parser->seen[parser->side] & bit)
        return sim_refuse(scan, "'%s' stands here a second time: leave one", key->word);
    parser->seen[parser->side] |= bit;
    if (!key->read(parser, key)) return false;
    return sim_scan_done(scan) ||
           sim_refuse(scan, "something follows '%s' that does not belong: write it like %s", key->word, key->example);
}

/* ---- the whole -------------------------------------------------------------------------------------------- */

static bool has_default_op(const struct sim_device *device) {
    for (uint32_t i = 0; i < device->op_count; i++)
        if (strcmp(device->ops[i].name, "*") == 0) return true;
    return false;
}

static bool nothing_missing(struct parser *parser) {
    const struct sim_scan *scan = &parser->scan;
    const bool shared = parser->model.shares_memory;
    for (size_t i = 0; i < KEYS; i++) {
        const bool seen = parser->seen[SIM_GPU] >> i & 1, copies = keys[i].need == NEEDED_TO_COPY;
        if (!seen && (keys[i].need == NEEDED || (copies && !shared)))
            return sim_refuse(scan, "there is no line '%s': write one like %s", keys[i].word, keys[i].example);
        if (seen && copies && shared)
            return sim_refuse(scan, "'%s' in a model that shares memory: leave it out, or write memory separate",
                              keys[i].word);
    }
    for (int side = 0; side < SIM_SIDES; side++)
        if (!has_default_op(&parser->model.sides[side]))
            return sim_refuse(scan,
                              "there is no line '%sop *', for operations that have none of their own: write "
                              "one like %sop * rate 2.5 work/ns",
                              side == SIM_CPU ? "cpu " : "", side == SIM_CPU ? "cpu " : "");
    return true;
}

/* Sets the line up, without comment and line end. False: it holds what is no text. */
static bool line_cut(struct parser *parser, const char *text, size_t length) {
    const char *comment = memchr(text, '#', length);
    if (comment) length = (size_t)(comment - text);
    if (length && text[length - 1] == '\r') length--;
    parser->scan.line++;
    parser->scan.at = text;
    parser->scan.end = text + length;
    for (size_t i = 0; i < length; i++)
        if (text[i] != '\t' && (text[i] < ' ' || text[i] > '~'))
            return sim_refuse(&parser->scan, "a byte that is no plain text: only comments may have other than ASCII");
    return true;
}

bool sim_model_parse(struct sim_model *model, const char *text, size_t bytes, char *why, size_t why_bytes) {
    struct parser parser = {.scan = {.why = why, .why_bytes = why_bytes}};
    parser.model.seed = 1;
    if (bytes > SIM_MAX_TEXT) return sim_refuse(&parser.scan, "more than %d bytes: this is no model", SIM_MAX_TEXT);
    for (size_t at = 0; at < bytes;) {
        const char *newline = memchr(text + at, '\n', bytes - at);
        const size_t length = newline ? (size_t)(newline - (text + at)) : bytes - at;
        if (!line_cut(&parser, text + at, length) || !read_line(&parser)) return false;
        at += length + (newline != NULL);
    }
    parser.scan.line = 0;
    if (parser.model.shares_memory && parser.model.copy_engines)
        return sim_refuse(&parser.scan, "'copy_engines' in a model that shares memory: leave it out");
    if (!nothing_missing(&parser)) return false;
    *model = parser.model;
    return true;
}
