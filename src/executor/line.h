/*
 * line.h: a line of the table of choices, for choice.c and route.c, which read it, and publish.c, which writes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_LINE_H
#define SVMX_EXECUTOR_LINE_H

#include "executor/choice.h"
#include <string.h>

/* How many times too high may be what is said of a device that was not measured there. */
#define SVMX__COULD_BE_OFF 4.0
/* Samples of a device in a cell that are news to other cells, and too few to call one of them an accident. */
enum { SVMX__FEW = 3 };

/* Of one cell of one operation. All are relaxed: each number stands for itself, and an old one is an answer of a moment
 * ago. */
struct svmx__line {
    _Atomic uint64_t price[SVMX__ROUTED]; /* a struct svmx__price; 0: not known */
    _Atomic uint32_t incumbent;
    _Atomic uint32_t probe;                 /* 1 + the device to try; 0: none */
    _Atomic uint32_t probe_loss;            /* what that may cost, ns, a float */
    _Atomic uint64_t probe_price;           /* what it is thought to take there, if only by a guess */
    _Atomic uint32_t turn;                  /* samples so far */
    _Atomic uint32_t look_at;               /* the turn in which to look at all devices again */
    _Atomic uint32_t news;                  /* those of the table when it did so last */
    _Atomic uint32_t heard;                 /* bit d: there was a sample of device d, believed or not */
    _Atomic uint32_t tried[SVMX__ROUTED];   /* the turn in which the device was last seen to have a new sample */
    _Atomic uint32_t learned[SVMX__ROUTED]; /* its samples then */
};

struct svmx__page {
    _Atomic(struct svmx__line *) lines[SVMX__CELLS];
};

static inline uint32_t svmx__bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float svmx__float_of(const _Atomic uint32_t *bits) {
    const uint32_t now = atomic_load_explicit(bits, memory_order_relaxed);
    float value;
    memcpy(&value, &now, sizeof value);
    return value;
}

static inline struct svmx__price svmx__price_at(const _Atomic uint64_t *word) {
    const uint64_t now = atomic_load_explicit(word, memory_order_relaxed);
    struct svmx__price price;
    _Static_assert(sizeof price == sizeof now, "a price is one word");
    memcpy(&price, &now, sizeof price);
    return price;
}

static inline void svmx__price_put(_Atomic uint64_t *word, struct svmx__price price) {
    uint64_t now;
    memcpy(&now, &price, sizeof now);
    atomic_store_explicit(word, now, memory_order_relaxed);
}

static inline uint32_t svmx__get(const _Atomic uint32_t *word) {
    return atomic_load_explicit(word, memory_order_relaxed);
}
static inline void svmx__set(_Atomic uint32_t *word, uint32_t value) {
    atomic_store_explicit(word, value, memory_order_relaxed);
}

/* NULL: there is none. acquire: with the exchanges of publish.c */
static inline struct svmx__line *svmx__line_find(const struct svmx__choices *choices, uint32_t op, uint32_t cell) {
    const struct svmx__page *page = atomic_load_explicit(&choices->pages[op], memory_order_acquire);
    return page ? atomic_load_explicit(&page->lines[cell], memory_order_acquire) : NULL;
}

/* The answer to most questions: the incumbent of the cell may have it and has nothing to do, others may, too, and nobody is to
 * be tried. The table has compared the costs already. false: it is none of these, and svmx__choose answers. Here, so that the
 * stage that is held to 10 ns makes no call. */
static inline bool svmx__choose_settled(const struct svmx__choices *choices, const struct svmx__question *question,
                                        struct svmx__answer *answer) {
    const struct svmx__line *line =
        svmx__line_find(choices, question->op, svmx__cell_of(question->load.units, question->load.work));
    if (__builtin_expect(!line, 0)) return false;
    const uint32_t incumbent = svmx__get(&line->incumbent), allowed = question->allowed;
    if (svmx__get(&line->probe) || !svmx__is_in(allowed, incumbent) || (allowed & (allowed - 1)) == 0) return false;
    if (atomic_load_explicit(&choices->backlog_ns[choices->queue[incumbent]], memory_order_relaxed)) return false;
    svmx__answer_set(answer, incumbent, SVMX__WHY_BEST, svmx__price_at(&line->price[incumbent]));
    return true;
}

/* Makes a line. NULL: no memory. */
struct svmx__line *svmx__line_make(struct svmx__choices *choices, const struct svmx__question *question, uint32_t cell);

/* A device has a new sample, or was tried without giving one. */
void svmx__line_told(struct svmx__choices *choices, const struct svmx__question *question, uint32_t device,
                     bool was_probe);

#endif
