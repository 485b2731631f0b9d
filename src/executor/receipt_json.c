/*
 * receipt_json.c: a receipt as a line of JSON, for a log that is read in another process: svmx_replay, or a tool.
 *
 * Names instead of numbers, every field, always in the same order; docs/RECEIPTS.md has the table, log_read.c reads it. The
 * numbers of devices stand beside their names only to tell two of one name apart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/out.h"
#include "base/versioned.h"
#include "executor/executor.h"
#include "executor/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A line that grows. */
struct line {
    char *text;
    size_t bytes, used; /* used: also what did not fit */
};

static void put(struct line *line, char c) {
    if (line->used < line->bytes) line->text[line->used] = c;
    line->used++;
}

SVMX_PRINTF(2, 3) static void add(struct line *line, const char *format, ...) {
    const size_t left = line->used < line->bytes ? line->bytes - line->used : 0;
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(left ? line->text + line->used : NULL, left, format, args);
    va_end(args);
    line->used += length > 0 ? (size_t)length : 0;
}

/* Names and reasons come from drivers and may hold anything: what is no text becomes '?', so that a line stays short. */
static void add_text(struct line *line, const char *key, const char *text) {
    add(line, "\"%s\":\"", key);
    for (const char *at = text; *at;) {
        const size_t bytes = svmx__utf8_bytes(at);
        if (*at == '"' || *at == '\\') put(line, '\\');
        for (size_t i = 0; i < bytes; i++) put(line, at[i]);
        if (!bytes) put(line, '?');
        at += bytes ? bytes : 1;
    }
    add(line, "\",");
}

static void add_number(struct line *line, const char *key, uint64_t number) {
    add(line, "\"%s\":%" PRIu64 ",", key, number);
}

static void add_bool(struct line *line, const char *key, bool value) {
    add(line, "\"%s\":%s,", key, value ? "true" : "false");
}

/* ---- the parts of a line ---------------------------------------------------------------------------------------- */

static void add_device(struct line *line, const struct svmx__device *device) {
    add_number(line, "device", device->id);
    add_text(line, "backend", device->backend->name);
    add_text(line, "name", device->info.name);
    add_text(line, "place", svmx__place_word(svmx__device_place(&device->info)));
    add_bool(line, "modelled", device->info.kind == SVMX_DEVICE_MODEL);
    add_bool(line, "test", device->info.flags & SVMX_DEVICE_TEST);
}

static void add_choice(struct line *line, const struct svmx_executor *executor, const struct svmx_receipt *receipt) {
    const struct svmx__device *device = &executor->devices[receipt->device];
    add_text(line, "operation", svmx__operations_by_id(executor->operations, receipt->op)->name);
    add_device(line, device);
    add_text(line, "driver", device->info.driver);
    add_text(line, "policy", svmx__policy_word(receipt->policy));
    add_text(line, "why", svmx__why_word(receipt->why));
}

static void add_sizes(struct line *line, const struct svmx_receipt *receipt) {
    add_number(line, "tasks", receipt->tasks);
    add_number(line, "units", receipt->units);
    add_number(line, "work", receipt->work);
    add_number(line, "bucket", receipt->bucket);
    add_number(line, "bytes_in", receipt->bytes_in);
    add_number(line, "bytes_out", receipt->bytes_out);
    add_number(line, "copied_bytes", receipt->copied_bytes);
    add_number(line, "launches", receipt->launches);
    add_number(line, "gathered", receipt->gathered);
    add_number(line, "redone", receipt->redone);
    add_text(line, "reason", receipt->reason);
}

static void add_times(struct line *line, const struct svmx_receipt *receipt) {
    add_bool(line, "learned", receipt->learned);
    add_bool(line, "first_use", receipt->flags & SVMX_RECEIPT_FIRST_USE);
    add_bool(line, "contended", receipt->flags & SVMX_RECEIPT_CONTENDED);
    add_bool(line, "failed", receipt->flags & SVMX_RECEIPT_FAILED);
    add_bool(line, "fused", receipt->flags & SVMX_RECEIPT_FUSED);
    add_bool(line, "stretch", receipt->flags & SVMX_RECEIPT_STRETCH);
    add_bool(line, "compared", receipt->flags & SVMX_RECEIPT_COMPARED);
    add_number(line, "expected_ns", receipt->expected_ns);
    add_number(line, "expected_setup_ns", receipt->expected_setup_ns);
    add_number(line, "expected_transfer_ns", receipt->expected_transfer_ns);
    add_number(line, "expected_compute_ns", receipt->expected_compute_ns);
    add_number(line, "expected_wait_ns", receipt->expected_wait_ns);
    add_number(line, "setup_ns", receipt->setup_ns);
    add_number(line, "transfer_ns", receipt->transfer_ns);
    add_number(line, "compute_ns", receipt->compute_ns);
    add_number(line, "upload_ns", receipt->upload_ns);
    add_number(line, "device_ns", receipt->device_ns);
    add_number(line, "wait_ns", receipt->wait_ns);
    add_number(line, "stage_ns", receipt->stage_ns);
    add_number(line, "run_ns", receipt->run_ns);
    add_number(line, "collect_ns", receipt->collect_ns);
    add(line, "\"result_hash\":\"%016" PRIx64 "\",", receipt->result_hash);
}

/* Written whole, since it need not be among the candidates. */
static void add_shadow(struct line *line, const struct svmx_executor *executor, const struct svmx_receipt *receipt) {
    add(line, "\"shadow\":[");
    if (receipt->shadow_ns) {
        add(line, "{");
        add_device(line, &executor->devices[receipt->shadow_device]);
        add(line, "\"ns\":%" PRIu64 "}", receipt->shadow_ns);
    }
    add(line, "],");
}

static void add_candidates(struct line *line, const struct svmx_executor *executor,
                           const struct svmx_receipt *receipt) {
    add(line, "\"candidates\":[");
    for (uint32_t i = 0; i < receipt->candidate_count; i++) {
        add(line, "%s{", i ? "," : "");
        add_device(line, &executor->devices[receipt->candidates[i].device]);
        add_text(line, "verdict", svmx__verdict_word(receipt->candidates[i].verdict));
        add_number(line, "expected_ns", receipt->candidates[i].expected_ns);
        add_number(line, "backlog_ns", receipt->candidates[i].backlog_ns);
        line->used--; /* the comma behind it */
        add(line, "}");
    }
    add(line, "]}");
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* What the caller's structure has of a receipt, and nothing of what it does not have. */
static struct svmx_receipt known_part(const struct svmx_receipt *given) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    const size_t bytes = given->size < sizeof receipt ? given->size : sizeof receipt;
    memcpy((char *)&receipt + sizeof(size_t), (const char *)given + sizeof(size_t), bytes - sizeof(size_t));
    receipt.reason[sizeof receipt.reason - 1] = '\0';
    return receipt;
}

static bool is_of(const struct svmx_executor *executor, const struct svmx_receipt *receipt) {
    enum { CANDIDATES = sizeof receipt->candidates / sizeof *receipt->candidates };
    if (receipt->op >= SVMX__OP_LIMIT || !svmx__operations_by_id(executor->operations, receipt->op)) return false;
    if (receipt->device >= executor->device_count || receipt->candidate_count > CANDIDATES) return false;
    if (receipt->shadow_ns && receipt->shadow_device >= executor->device_count) return false;
    for (uint32_t i = 0; i < receipt->candidate_count; i++)
        if (receipt->candidates[i].device >= executor->device_count) return false;
    return true;
}

enum svmx_status svmx_receipt_json(const svmx_executor_t *executor, const struct svmx_receipt *given, char *text,
                                   size_t bytes, size_t *length) {
    if (!executor || !svmx__is_served(given, SVMX__FIRST_RECEIPT) || !text) return SVMX_ERR_ARGUMENT;
    if (svmx__is_closed(executor)) return SVMX_ERR_CLOSED;
    const struct svmx_receipt receipt = known_part(given);
    if (!is_of(executor, &receipt)) return SVMX_ERR_UNKNOWN;
    char whole[SVMX__RECEIPT_LINE]; /* the caller's is written on success only */
    struct line line = {.text = whole, .bytes = sizeof whole};
    add(&line, "{");
    add_number(&line, "number", receipt.number);
    add_number(&line, "time_ns", receipt.time_ns);
    add_number(&line, "tag", receipt.tag);
    add_choice(&line, executor, &receipt);
    add_sizes(&line, &receipt);
    add_times(&line, &receipt);
    add_shadow(&line, executor, &receipt);
    add_candidates(&line, executor, &receipt);
    if (line.used >= sizeof whole || line.used >= bytes) return SVMX_ERR_OVERFLOW;
    memcpy(text, whole, line.used);
    text[line.used] = '\0';
    if (length) *length = line.used;
    return SVMX_OK;
}
