/*
 * spread.c: see spread.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/spread.h"

#include <stddef.h>

static double end_of(const struct svmx__taker *taker, uint32_t chunks) {
    return taker->busy_ns + (double)chunks * taker->chunk_ns;
}

/* Who would be done first with one chunk more; NULL: nobody takes any. */
static struct svmx__taker *next_of(struct svmx__taker *takers, uint32_t count) {
    struct svmx__taker *first = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (takers[i].chunk_ns <= 0) continue;
        if (!first || end_of(&takers[i], takers[i].chunks + 1) < end_of(first, first->chunks + 1)) first = &takers[i];
    }
    return first;
}

double svmx__spread(struct svmx__taker *takers, uint32_t taker_count, uint32_t chunk_count) {
    double finish_ns = -1;
    for (uint32_t i = 0; i < taker_count; i++) takers[i].chunks = 0;
    for (uint32_t c = 0; c < chunk_count; c++) {
        struct svmx__taker *taker = next_of(takers, taker_count);
        if (!taker) return -1;
        const double end_ns = end_of(taker, ++taker->chunks);
        if (end_ns > finish_ns) finish_ns = end_ns;
    }
    return finish_ns;
}
