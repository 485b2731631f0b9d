/*
 * words.c: see words.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/words.h"

#include "executor/model.h"

#include <string.h>
#include <svmx/svmx.h>

/* By number; they are numbered from 1 without a gap. */
static const char *const policies[] = {"none",
                                       [SVMX_POLICY_AUTO] = "auto",
                                       [SVMX_POLICY_CPU] = "cpu",
                                       [SVMX_POLICY_GPU] = "gpu",
                                       [SVMX_POLICY_SPLIT] = "split",
                                       [SVMX_POLICY_ORDER] = "order"};
static const char *const whys[] = {"none",
                                   [SVMX_WHY_ONLY] = "only",
                                   [SVMX_WHY_BEST] = "best",
                                   [SVMX_WHY_BACKLOG] = "backlog",
                                   [SVMX_WHY_PROBE] = "probe",
                                   [SVMX_WHY_ORDER] = "order",
                                   [SVMX_WHY_SPLIT] = "split"};
static const char *const verdicts[] = {"none",
                                       [SVMX_CHOSEN] = "chosen",
                                       [SVMX_SLOWER] = "slower",
                                       [SVMX_UNMEASURED] = "unmeasured",
                                       [SVMX_NOT_ALLOWED] = "not_allowed",
                                       [SVMX_NOT_READY] = "not_ready",
                                       [SVMX_NO_DEVICE] = "no_device",
                                       [SVMX_OVERLOADED] = "overloaded"};
static const char *const places[] = {"none", [SVMX__ON_HOST] = "host", [SVMX__ON_CORES] = "cores",
                                     [SVMX__ON_SHARED] = "shared", [SVMX__ON_DEVICE] = "device"};
#define COUNT(words) ((uint32_t)(sizeof(words) / sizeof *(words)))

static const char *word_of(const char *const *words, uint32_t count, uint32_t number) {
    return words[number < count ? number : 0];
}

static bool number_of(const char *const *words, uint32_t count, const char *word, uint32_t *number) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(words[i], word) != 0) continue;
        *number = i;
        return true;
    }
    return false;
}

const char *svmx__policy_word(uint32_t policy) { return word_of(policies, COUNT(policies), policy); }
const char *svmx__why_word(uint32_t why) { return word_of(whys, COUNT(whys), why); }
const char *svmx__verdict_word(uint32_t verdict) { return word_of(verdicts, COUNT(verdicts), verdict); }
const char *svmx__place_word(uint32_t place) { return word_of(places, COUNT(places), place); }

bool svmx__policy_number(const char *word, uint32_t *policy) {
    return number_of(policies, COUNT(policies), word, policy);
}
bool svmx__why_number(const char *word, uint32_t *why) { return number_of(whys, COUNT(whys), word, why); }
bool svmx__verdict_number(const char *word, uint32_t *verdict) {
    return number_of(verdicts, COUNT(verdicts), word, verdict);
}
bool svmx__place_number(const char *word, uint32_t *place) { return number_of(places, COUNT(places), word, place); }
