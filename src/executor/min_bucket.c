/*
 * min_bucket.c: the smallest bucket of every operation, as a table that bucket.c reads.
 *
 *   SUPERVM_MIN_BUCKET=16384,keccak256=1024     -> 2^14 for all, 2^10 for keccak256
 *
 * The number before the first ',' is a setting like any other and was checked by config.c; this file takes what follows
 * it, because only here operations are known by name. Called by executor.c at open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LOG2 = 40 };

/* Digits of `text` up to `end` as the logarithm of a power of two; false for anything else. */
static bool log2_parse(const char *text, const char *end, uint8_t *log2) {
    uint64_t value = 0;
    if (text == end || end - text > 13) return false; /* 2^40 has 13 digits */
    for (; text < end; text++) {
        if (*text < '0' || *text > '9') return false;
        value = value * 10 + (uint64_t)(*text - '0');
    }
    if (value == 0 || (value & (value - 1)) || value > UINT64_C(1) << MAX_LOG2) return false;
    *log2 = (uint8_t)__builtin_ctzll(value);
    return true;
}

const struct svmx__op *svmx__op_of_item(const char *origin, const char *item, const char *equals,
                                        struct svmx__text *why) {
    char name[64] = "";
    if ((size_t)(equals - item) < sizeof name) memcpy(name, item, (size_t)(equals - item));
    const struct svmx__op *op = svmx__op_by_name(name);
    if (!op)
        (void)svmx__fail(why, SVMX_ERR_ARGUMENT, "%s: no operation is called '%.*s'; svmx ops lists them", origin,
                         (int)(equals - item > 80 ? 80 : equals - item), item);
    return op;
}

/* One item, OPERATION=NUMBER, at [item, end). */
static enum svmx_status item_read(struct svmx_executor *executor, const char *origin, const char *item, const char *end,
                                  struct svmx__text *why) {
    const char *equals = memchr(item, '=', (size_t)(end - item));
    const int shown = end - item > 80 ? 80 : (int)(end - item);
    uint8_t log2;
    if (!equals || equals == item || !log2_parse(equals + 1, end, &log2))
        return svmx__fail(why, SVMX_ERR_ARGUMENT,
                          "%s: '%.*s': give OPERATION=NUMBER, the number a power of two from 1 to %llu", origin, shown,
                          item, 1ULL << MAX_LOG2);
    const struct svmx__op *op = svmx__op_of_item(origin, item, equals, why);
    if (!op) return SVMX_ERR_ARGUMENT;
    executor->min_bucket_log2[op->id] = log2;
    return SVMX_OK;
}

static enum svmx_status list_read(struct svmx_executor *executor, const char *origin, const char *list,
                                  struct svmx__text *why) {
    for (;;) {
        const char *end = list + strcspn(list, ",");
        enum svmx_status status = item_read(executor, origin, list, end, why);
        if (status != SVMX_OK || *end == '\0') return status;
        list = end + 1;
    }
}

/* The setting as it is shown: the number that counts, and the list of the options. */
static enum svmx_status show_list(struct svmx__config *config, const char *list, struct svmx__text *why) {
    char *text;
    if (asprintf(&text, "%llu,%s", (unsigned long long)config->number[SVMX__MIN_BUCKET], list) < 0)
        return svmx__fail(why, SVMX_ERR_MEMORY, "no memory for settings");
    free(config->text[SVMX__MIN_BUCKET]);
    config->text[SVMX__MIN_BUCKET] = text;
    config->source[SVMX__MIN_BUCKET] = SVMX_FROM_OPTIONS;
    return SVMX_OK;
}

enum svmx_status svmx__min_buckets_read(struct svmx_executor *executor, const char *list, struct svmx__text *why) {
    struct svmx__config *config = &executor->config;
    const char *own = strchr(config->text[SVMX__MIN_BUCKET], ',');
    memset(executor->min_bucket_log2, __builtin_ctzll(config->number[SVMX__MIN_BUCKET]),
           sizeof executor->min_bucket_log2);
    if (!list) return own ? list_read(executor, "SUPERVM_MIN_BUCKET", own + 1, why) : SVMX_OK;
    if (*list == '\0') return SVMX_OK;
    enum svmx_status status = list_read(executor, "options.min_bucket_ops", list, why);
    return status == SVMX_OK ? show_list(config, list, why) : status;
}
