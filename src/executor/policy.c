/*
 * policy.c: who may compute an operation, as a table that route.c reads.
 *
 *   SUPERVM_POLICY := policy{,OPERATION=policy}      the first one is for all operations that are not named
 *   policy         := auto | cpu | gpu | split | order | fixed:N | auto:[LOW]..[HIGH]
 *
 *   auto:LOW..HIGH   by measurement, but below LOW units the CPU, from HIGH on another device
 *   fixed:N          the same with LOW = HIGH = N: nothing is left to measurement
 *
 * Called by executor.c at open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "executor/words.h"

#include <string.h>

uint32_t svmx__policy_allows(const struct svmx__policy *policy, uint32_t kind, uint32_t serving, uint32_t cpus,
                             uint64_t units) {
    switch (kind) {
    case SVMX_POLICY_CPU: return serving & cpus;
    case SVMX_POLICY_GPU: return serving & ~cpus;
    case SVMX_POLICY_ORDER: return serving;
    default: break;
    }
    const uint32_t wanted = units < policy->low ? cpus : units >= policy->high ? ~cpus : UINT32_MAX;
    return serving & wanted ? serving & wanted : serving;
}

/* ---- parsing ----------------------------------------------------------------------------------------------------- */

/* Digits at [text, end) as a number of units; false for anything else. */
static bool units_parse(const char *text, const char *end, uint64_t *units) {
    uint64_t value = 0;
    if (text == end || end - text > 13) return false;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9') return false;
        value = value * 10 + (uint64_t)(*text - '0');
    }
    *units = value;
    return true;
}

static bool is_word(const char *text, const char *end, const char *word) {
    return (size_t)(end - text) == strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

/* What follows auto: or fixed: */
static bool bounds_parse(const char *text, const char *end, bool fixed, struct svmx__policy *policy) {
    if (fixed) {
        if (!units_parse(text, end, &policy->low)) return false;
        policy->high = policy->low;
        return true;
    }
    const char *dots = memmem(text, (size_t)(end - text), "..", 2);
    if (!dots || end - text == 2) return false;
    if (dots > text && !units_parse(text, dots, &policy->low)) return false;
    return dots + 2 == end || units_parse(dots + 2, end, &policy->high);
}

static bool policy_parse(const char *text, const char *end, struct svmx__policy *policy) {
    const char *colon = memchr(text, ':', (size_t)(end - text));
    *policy = (struct svmx__policy){.kind = SVMX_POLICY_AUTO, .high = UINT64_MAX};
    if (colon) {
        const bool fixed = is_word(text, colon, "fixed");
        return (fixed || is_word(text, colon, "auto")) && bounds_parse(colon + 1, end, fixed, policy);
    }
    char word[16] = "";
    if ((size_t)(end - text) < sizeof word) memcpy(word, text, (size_t)(end - text));
    if (!svmx__policy_number(word, &policy->kind) || policy->kind == 0) return false;
    policy->anybody = policy->kind == SVMX_POLICY_AUTO || policy->kind == SVMX_POLICY_SPLIT;
    return true;
}

/* ---- the settings ------------------------------------------------------------------------------------------------ */

static enum svmx_status refuse(const char *origin, const char *item, const char *end, struct svmx__text *why) {
    return svmx__fail(why, SVMX_ERR_ARGUMENT,
                      "%s: '%.*s': give auto, cpu, gpu, split, order, fixed:N or auto:LOW..HIGH, or OPERATION= and one "
                      "of them",
                      origin, (int)(end - item > 80 ? 80 : end - item), item);
}

/* One item at [item, end). `named`: the operations of the items before it. */
static enum svmx_status item_read(struct svmx_executor *executor, const char *origin, const char *item, const char *end,
                                  bool first, bool named[SVMX__OP_LIMIT], struct svmx__text *why) {
    const char *equals = memchr(item, '=', (size_t)(end - item));
    struct svmx__policy policy;
    if (!policy_parse(equals ? equals + 1 : item, end, &policy)) return refuse(origin, item, end, why);
    if (policy.low > policy.high)
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s: '%.*s': LOW is more than HIGH: give the smaller one first",
                          origin, (int)(end - item > 80 ? 80 : end - item), item);
    if (!equals) {
        if (!first)
            return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s: '%.*s': the policy for all comes first, and once", origin,
                              (int)(end - item), item);
        for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++) executor->policies[op] = policy;
        return SVMX_OK;
    }
    const struct svmx__op *op = svmx__op_of_item(origin, item, equals, why);
    if (!op) return SVMX_ERR_ARGUMENT;
    if (named[op->id])
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s: '%.*s': %s has a policy before already; drop one of the two",
                          origin, (int)(end - item > 80 ? 80 : end - item), item, op->name);
    named[op->id] = true;
    executor->policies[op->id] = policy;
    return SVMX_OK;
}

static const char *origin_of(const struct svmx__config *config, uint32_t setting, const char *option,
                             const char *variable) {
    return config->source[setting] == SVMX_FROM_OPTIONS ? option : variable;
}

static enum svmx_status learn_read(struct svmx_executor *executor, struct svmx__text *why) {
    const struct svmx__config *config = &executor->config;
    const char *text = config->text[SVMX__LEARN];
    const bool strict = strcmp(text, "strict") == 0, frozen = strcmp(text, "frozen") == 0;
    if (!strict && !frozen && strcmp(text, "on") != 0)
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s is '%.80s': give on, strict or frozen",
                          origin_of(config, SVMX__LEARN, "options.learn", "SUPERVM_LEARN"), text);
    executor->choices.frozen = frozen;
    executor->choices.probe_share = strict || frozen ? 0 : (double)config->number[SVMX__PROBE_PERCENT] / 100;
    return SVMX_OK;
}

enum svmx_status svmx__policies_read(struct svmx_executor *executor, struct svmx__text *why) {
    const struct svmx__config *config = &executor->config;
    const char *origin = origin_of(config, SVMX__POLICY, "options.policy", "SUPERVM_POLICY");
    const char *item = config->text[SVMX__POLICY];
    bool named[SVMX__OP_LIMIT] = {false};
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++)
        executor->policies[op] = (struct svmx__policy){.kind = SVMX_POLICY_AUTO, .anybody = true, .high = UINT64_MAX};
    for (bool first = true;; first = false) {
        const char *end = item + strcspn(item, ",");
        enum svmx_status status = item_read(executor, origin, item, end, first, named, why);
        if (status != SVMX_OK) return status;
        if (*end == '\0') break;
        item = end + 1;
    }
    return learn_read(executor, why);
}
