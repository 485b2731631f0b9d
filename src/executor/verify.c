/*
 * verify.c: whose launches are computed a second time and compared, whichever device has them.
 *
 *   SUPERVM_VERIFY := off | sample:P | full        P: the share of batches, from 0 to 1; which ones is drawn by lot
 *
 * By executor, and by batch (svmx_batch_set_verify). Called by executor.c at open, by batch.c, and by pipeline.c for every
 * run of a batch that wants it; compare.c does the work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "executor/executor.h"

#include <string.h>

enum { MAX_DIGITS = 9 }; /* behind the point */

/* "0.01" as a share of ALL, in any locale. false: it is none. */
static bool share_parse(const char *text, uint64_t *share) {
    const char *point = text + 1, *digits = text + 2;
    if (*text != '0' && *text != '1') return false;
    uint64_t value = (uint64_t)(*text - '0'), scale = 1;
    if (*point && (*point != '.' || !*digits || strlen(digits) > MAX_DIGITS)) return false;
    for (const char *at = digits; *point && *at; at++, scale *= 10) {
        if (*at < '0' || *at > '9') return false;
        value = value * 10 + (uint64_t)(*at - '0');
    }
    if (value > scale) return false;
    *share = (uint64_t)((double)value / (double)scale * (double)SVMX__VERIFY_ALL);
    return true;
}

bool svmx__verify_parse(const char *text, uint64_t *share) {
    static const char sample[] = "sample:";
    if (strcmp(text, "off") == 0)
        *share = 0;
    else if (strcmp(text, "full") == 0)
        *share = SVMX__VERIFY_ALL;
    else
        return strncmp(text, sample, sizeof sample - 1) == 0 && share_parse(text + sizeof sample - 1, share);
    return true;
}

enum svmx_status svmx__verify_read(struct svmx_executor *executor, struct svmx__text *why) {
    const struct svmx__config *config = &executor->config;
    const char *text = config->text[SVMX__VERIFY];
    /* from anywhere: nobody shall know which ones are looked at */
    atomic_init(&executor->lots, svmx__clock_ns() ^ (uintptr_t)executor);
    if (svmx__verify_parse(text, &executor->verify)) return SVMX_OK;
    return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s is '%.80s': give off, full, or sample:P with a share P from 0 to 1",
                      config->source[SVMX__VERIFY] == SVMX_FROM_OPTIONS ? "options.verify" : "SUPERVM_VERIFY", text);
}

/* One step of a sequence without a pattern: Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014. */
bool svmx__verify_draw(struct svmx_executor *executor, uint64_t share) {
    const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);
    if (share >= SVMX__VERIFY_ALL) return true;
    uint64_t lot = atomic_fetch_add_explicit(&executor->lots, step, memory_order_relaxed);
    lot = (lot ^ lot >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    lot = (lot ^ lot >> 27) * UINT64_C(0x94d049bb133111eb);
    return (lot ^ lot >> 31) >> 32 < share;
}
