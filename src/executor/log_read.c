/*
 * log_read.c: see log_read.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/log_read.h"

#include "base/json_read.h"
#include "executor/words.h"
#include <string.h>

/* What a line must have. */
enum field {
    OPERATION,
    DEVICE,
    BACKEND,
    NAME,
    PLACE,
    POLICY,
    WHY,
    TASKS,
    UNITS,
    WORK,
    BYTES_IN,
    BYTES_OUT,
    LEARNED,
    SETUP_NS,
    TRANSFER_NS,
    COMPUTE_NS,
    CANDIDATES,
    DEMANDED,
    /* and what it may have */
    TAG = DEMANDED,
    REDONE,
    FIRST_USE,
    CONTENDED,
    FAILED,
    MODELLED,
    TEST,
    SHADOW,
    VERDICT, /* of candidates only, as what follows */
    BACKLOG_NS,
    NS,
    FIELDS
};

static const char *const names[FIELDS] = {[OPERATION] = "operation",
                                          [DEVICE] = "device",
                                          [BACKEND] = "backend",
                                          [NAME] = "name",
                                          [PLACE] = "place",
                                          [POLICY] = "policy",
                                          [WHY] = "why",
                                          [TASKS] = "tasks",
                                          [UNITS] = "units",
                                          [WORK] = "work",
                                          [BYTES_IN] = "bytes_in",
                                          [BYTES_OUT] = "bytes_out",
                                          [LEARNED] = "learned",
                                          [SETUP_NS] = "setup_ns",
                                          [TRANSFER_NS] = "transfer_ns",
                                          [COMPUTE_NS] = "compute_ns",
                                          [CANDIDATES] = "candidates",
                                          [TAG] = "tag",
                                          [REDONE] = "redone",
                                          [FIRST_USE] = "first_use",
                                          [CONTENDED] = "contended",
                                          [FAILED] = "failed",
                                          [MODELLED] = "modelled",
                                          [TEST] = "test",
                                          [SHADOW] = "shadow",
                                          [VERDICT] = "verdict",
                                          [BACKLOG_NS] = "backlog_ns",
                                          [NS] = "ns"};

/* A candidate, or the run of another device in its shadow, before it is known which device that is. */
struct other {
    struct svmx__log_device device;
    uint32_t verdict, seen; /* bit f: it has field f */
    uint64_t backlog_ns, ns;
};
enum { MOST = SVMX__ROUTED };

/* A line under way. */
struct line {
    struct svmx__json json;
    struct svmx__text *why;
    uint32_t seen; /* bit f: field f was */
    char operation[32];
    struct svmx__log_device device;
    uint64_t redone;
    struct other candidates[MOST], shadows[MOST];
    uint32_t candidate_count, shadow_count;
};

/* ---- one value ---------------------------------------------------------------------------------------------------- */

static enum field field_of(const char *key) {
    enum field field = OPERATION;
    while (field < FIELDS && strcmp(names[field], key) != 0) field++;
    return field;
}

/* A field that comes twice is an error: which one counts would be a guess. */
static bool note(struct line *line, uint32_t *seen, enum field field) {
    if (*seen >> field & 1) {
        svmx__say(line->why, "'%s' comes twice", names[field]);
        return false;
    }
    *seen |= UINT32_C(1) << field;
    return true;
}

static bool misses(struct line *line, uint32_t seen, uint32_t wanted) {
    if ((seen & wanted) == wanted) return false;
    svmx__say(line->why, "'%s' is missing", names[__builtin_ctz(wanted & ~seen)]);
    return true;
}

static bool read_word(struct line *line, enum field field, bool (*number_of)(const char *, uint32_t *),
                      uint32_t *number) {
    char word[32];
    if (!svmx__json_text(&line->json, word, sizeof word)) return false;
    if (number_of(word, number)) return true;
    svmx__say(line->why, "'%s' is '%s', which is none that is known", names[field], word);
    return false;
}

/* What a device and a candidate have in common. */
static bool read_device(struct line *line, enum field field, struct svmx__log_device *device) {
    switch (field) {
    case DEVICE: return svmx__json_u64(&line->json, &device->number);
    case BACKEND: return svmx__json_text(&line->json, device->backend, sizeof device->backend);
    case NAME: return svmx__json_text(&line->json, device->name, sizeof device->name);
    case PLACE: return read_word(line, field, svmx__place_number, &device->place);
    case MODELLED: return svmx__json_bool(&line->json, &device->modelled);
    case TEST: return svmx__json_bool(&line->json, &device->test);
    default: return svmx__json_skip(&line->json);
    }
}

/* ---- candidates and shadows ---------------------------------------------------------------------------------------- */

static bool read_other(struct line *line, uint32_t wanted, struct other *other) {
    char key[32];
    uint32_t seen = 0;
    *other = (struct other){.verdict = 0};
    if (!svmx__json_enter(&line->json, '{')) return false;
    while (svmx__json_next(&line->json, key, sizeof key)) {
        const enum field field = field_of(key);
        bool read;
        if (field < FIELDS && !note(line, &seen, field)) return false;
        switch (field) {
        case VERDICT: read = read_word(line, field, svmx__verdict_number, &other->verdict); break;
        case BACKLOG_NS: read = svmx__json_u64(&line->json, &other->backlog_ns); break;
        case NS: read = svmx__json_u64(&line->json, &other->ns); break;
        default: read = read_device(line, field, &other->device);
        }
        if (!read) return false;
    }
    other->seen = seen;
    return !line->json.error && !misses(line, seen, wanted);
}

static bool read_others(struct line *line, uint32_t wanted, struct other *others, uint32_t *count) {
    if (!svmx__json_enter(&line->json, '[')) return false;
    while (svmx__json_next(&line->json, NULL, 0)) {
        if (*count == MOST) {
            svmx__say(line->why, "more than %d devices", MOST);
            return false;
        }
        if (!read_other(line, wanted, &others[(*count)++])) return false;
    }
    return !line->json.error;
}

#define BIT(field) (UINT32_C(1) << (field))

static bool read_field(struct line *line, enum field field, struct svmx__recorded *to) {
    struct svmx__json *json = &line->json;
    switch (field) {
    case OPERATION: return svmx__json_text(json, line->operation, sizeof line->operation);
    case POLICY: return read_word(line, field, svmx__policy_number, &to->policy);
    case WHY: return read_word(line, field, svmx__why_number, &to->why);
    case TASKS: return svmx__json_u64(json, &to->tasks);
    case UNITS: return svmx__json_u64(json, &to->load.units);
    case WORK: return svmx__json_u64(json, &to->load.work);
    case BYTES_IN: return svmx__json_u64(json, &to->bytes_in);
    case BYTES_OUT: return svmx__json_u64(json, &to->bytes_out);
    case LEARNED: return svmx__json_bool(json, &to->learned);
    case SETUP_NS: return svmx__json_u64(json, &to->sample.setup_ns);
    case TRANSFER_NS: return svmx__json_u64(json, &to->sample.transfer_ns);
    case COMPUTE_NS: return svmx__json_u64(json, &to->sample.compute_ns);
    case TAG: return svmx__json_u64(json, &to->tag);
    case REDONE: return svmx__json_u64(json, &line->redone);
    case FIRST_USE: return svmx__json_bool(json, &to->sample.first_use);
    case CONTENDED: return svmx__json_bool(json, &to->sample.contended);
    case FAILED: return svmx__json_bool(json, &to->failed);
    case CANDIDATES:
        return read_others(line, BIT(DEVICE) | BIT(BACKEND) | BIT(NAME) | BIT(PLACE) | BIT(VERDICT), line->candidates,
                           &line->candidate_count);
    case SHADOW: return read_others(line, BIT(DEVICE) | BIT(NS), line->shadows, &line->shadow_count);
    default: return read_device(line, field, &line->device);
    }
}

/* ---- numbers of the log's own --------------------------------------------------------------------------------------- */

static bool find_op(struct svmx__log_text *log, struct line *line, uint32_t *op) {
    for (*op = 0; *op < log->op_count; ++*op)
        if (strcmp(log->ops[*op], line->operation) == 0) return true;
    if (log->op_count == SVMX__OP_LIMIT) {
        svmx__say(line->why, "more than %d operations", SVMX__OP_LIMIT);
        return false;
    }
    memcpy(log->ops[log->op_count++], line->operation, sizeof line->operation);
    return true;
}

static bool is_same(const struct svmx__log_device *a, const struct svmx__log_device *b) {
    return a->number == b->number && strcmp(a->backend, b->backend) == 0 && strcmp(a->name, b->name) == 0;
}

static bool find_device(struct svmx__log_text *log, struct line *line, const struct svmx__log_device *device,
                        uint32_t *number) {
    for (*number = 0; *number < log->device_count; ++*number) {
        struct svmx__log_device *known = &log->devices[*number];
        if (!is_same(known, device)) continue;
        known->modelled = known->modelled || device->modelled;
        known->test = known->test || device->test;
        return true;
    }
    if (log->device_count == SVMX__ROUTED) {
        svmx__say(line->why, "more than %d devices in one log", SVMX__ROUTED);
        return false;
    }
    log->devices[log->device_count++] = *device;
    return true;
}

static bool might(uint32_t verdict) {
    return verdict == SVMX_CHOSEN || verdict == SVMX_SLOWER || verdict == SVMX_UNMEASURED;
}

/* What no launch takes, nor has: 2^50 ns are thirteen days. Sums of less always fit. */
static bool is_too_much(uint64_t number) { return number >> 50 != 0; }

static bool take_candidates(struct svmx__log_text *log, struct line *line, struct svmx__recorded *to) {
    for (uint32_t i = 0; i < line->candidate_count; i++) {
        const struct other *candidate = &line->candidates[i];
        uint32_t device;
        if (!find_device(log, line, &candidate->device, &device)) return false;
        if (is_too_much(candidate->backlog_ns)) {
            svmx__say(line->why, "a backlog is too large");
            return false;
        }
        if (might(candidate->verdict)) to->allowed |= UINT32_C(1) << device;
        if (candidate->verdict == SVMX_CHOSEN) to->chosen = device;
        to->backlog_ns[device] = candidate->backlog_ns;
    }
    return true;
}

/* Who it was: by all that tells a device apart, or a candidate of the line by its number there. NULL: nobody. */
static const struct svmx__log_device *shadow_of(const struct line *line, const struct other *shadow) {
    const uint32_t whole = BIT(BACKEND) | BIT(NAME) | BIT(PLACE);
    if ((shadow->seen & whole) == whole) return &shadow->device;
    for (uint32_t i = 0; i < line->candidate_count; i++)
        if (line->candidates[i].device.number == shadow->device.number) return &line->candidates[i].device;
    return NULL;
}

static bool take_shadow(struct svmx__log_text *log, struct line *line, const struct other *shadow,
                        struct svmx__recorded *to) {
    const struct svmx__log_device *found = shadow_of(line, shadow);
    uint32_t device;
    if (!found || !shadow->ns || is_too_much(shadow->ns) || is_same(found, &line->device)) {
        svmx__say(line->why, "a shadow run must be of another device, with a time");
        return false;
    }
    if (!find_device(log, line, found, &device)) return false;
    to->timed |= UINT32_C(1) << device;
    to->other_ns[device] = shadow->ns;
    return true;
}

static bool take_times(struct line *line, struct svmx__recorded *to) {
    const uint64_t numbers[] = {to->sample.setup_ns, to->sample.transfer_ns, to->sample.compute_ns, to->bytes_in,
                                to->bytes_out,       to->load.units,         to->load.work};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!is_too_much(numbers[i])) continue;
        svmx__say(line->why, "times, sizes or bytes are too large");
        return false;
    }
    to->load = svmx__load_of(to->load.units, to->load.work, to->bytes_in + to->bytes_out,
                             to->tasks < UINT32_MAX ? (uint32_t)to->tasks : UINT32_MAX);
    to->ns = to->sample.setup_ns + to->sample.transfer_ns + to->sample.compute_ns;
    to->redone = line->redone > 0;
    return true;
}

static bool take_all(struct svmx__log_text *log, struct line *line, struct svmx__recorded *to) {
    if (misses(line, line->seen, BIT(DEMANDED) - 1) || !take_times(line, to)) return false;
    if (to->failed) return true; /* nobody answered: it is passed over */
    if (!find_op(log, line, &to->op) || !find_device(log, line, &line->device, &to->device)) return false;
    to->chosen = to->device;
    if (!take_candidates(log, line, to)) return false;
    for (uint32_t i = 0; i < line->shadow_count; i++)
        if (!take_shadow(log, line, &line->shadows[i], to)) return false;
    if (!to->redone) to->allowed |= UINT32_C(1) << to->device;
    if (to->allowed) return true;
    svmx__say(line->why, "no candidate might have computed it");
    return false;
}

/* ---- lines ---------------------------------------------------------------------------------------------------------- */

static bool read_line(struct svmx__log_text *log, const char *text, size_t length, struct svmx__recorded *to,
                      struct svmx__text *why) {
    struct line line = {.why = why};
    char key[32];
    why->line[0] = '\0';
    svmx__json_start(&line.json, text, length);
    bool fine = svmx__json_enter(&line.json, '{');
    while (fine && svmx__json_next(&line.json, key, sizeof key)) {
        const enum field field = field_of(key);
        fine = (field >= FIELDS || note(&line, &line.seen, field)) && read_field(&line, field, to);
    }
    if (fine && svmx__json_end(&line.json)) return take_all(log, &line, to);
    if (line.json.error) svmx__say(why, "%s, at character %zu", line.json.error, (size_t)(line.json.at - text) + 1);
    return false;
}

enum svmx_status svmx__log_next(struct svmx__log_text *log, struct svmx__recorded *recorded, struct svmx__text *why) {
    while (log->at < log->end) {
        const char *start = log->at, *newline = memchr(start, '\n', (size_t)(log->end - start));
        const char *stop = newline ? newline : log->end;
        log->at = newline ? newline + 1 : log->end;
        log->line++;
        while (stop > start && (stop[-1] == '\r' || stop[-1] == ' ' || stop[-1] == '\t')) stop--;
        if (stop == start) continue;
        *recorded = (struct svmx__recorded){.line = log->line};
        if (!read_line(log, start, (size_t)(stop - start), recorded, why)) return SVMX_ERR_ARGUMENT;
        if (!recorded->failed) return SVMX_OK;
    }
    return SVMX_BUSY;
}
