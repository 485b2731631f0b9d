/*
 * choice.h: who computes what: the table that route reads and learn publishes.
 *
 *   question: operation, size, who may       line of the table      cost of each device that is known, ns
 *                    |                       (operation x cell):    who has it now (the incumbent)
 *                    v                                              whom to try next, and what that may cost
 *   answer: the device that is expected to finish first
 *
 *   finish = backlog of the device + cost.   Another device than the incumbent must be better by the margin (0.9), in the
 *   table and at the moment of choosing: so a crossover does not flap.
 *
 * A device of which only a first guess is known is never an answer for its own sake. It is tried: with real work, whose
 * result is as good as any, when what that may cost fits into the share of time set aside for trying.
 *
 * choice.c answers, publish.c writes the table. Pure, like model.h: no clock, no device. A choice takes some loads and no
 * lock; it allocates a line when a cell is first asked for. Any number of threads may ask and tell at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_CHOICE_H
#define SVMX_EXECUTOR_CHOICE_H

#include "executor/model.h"

struct svmx__line; /* line.h */
struct svmx__page;

struct svmx__choices {
    struct svmx__model *model;
    double margin;               /* another device must take less than this share of the incumbent's time; 0.9 */
    double probe_share;          /* of busy time that may be lost by trying devices; 0 = never try; 0.01 */
    bool frozen;                 /* the table stays as it is */
    uint32_t cores_mask;         /* devices that compute on the host's cores: what one of them does delays the others */
    uint8_t queue[SVMX__ROUTED]; /* of each device; those on the host's cores have one together */
    _Atomic uint64_t backlog_ns[SVMX__ROUTED]; /* what each queue has still to do, as expected */
    _Atomic uint64_t busy_ns, probe_ns;        /* spent in all; lost by trying */
    /* What trying showed: by which share of its time the answer could have been better, over all probes but first uses. In
     * millionths. */
    _Atomic uint64_t probes, regret_ppm, regret_ppm_squared;
    /* Of each operation: likewise, and how often a cell went from one device to another. */
    struct {
        _Atomic uint64_t flips, probes, regret_ppm;
    } of_op[SVMX__OP_LIMIT];
    _Atomic uint32_t news; /* how often something was learned that other lines want to know */
    _Atomic(struct svmx__page *) pages[SVMX__OP_LIMIT];
};

/* `cores_mask` as above. Cannot fail. The model must outlive it. */
void svmx__choices_init(struct svmx__choices *choices, struct svmx__model *model, uint32_t cores_mask);
void svmx__choices_fini(struct svmx__choices *choices);

struct svmx__question {
    uint32_t op;
    uint32_t allowed;  /* bit d: device d may; not 0 */
    uint32_t fallback; /* of those allowed, who answers while nothing is known */
    uint32_t serving;  /* bit d: device d may have others of that size, whatever this one's policy; 0: as allowed */
    uint32_t serving_fallback; /* likewise */
    struct svmx__load load;
    double hint_ns; /* what the caller says that it takes on the CPU; 0: nothing */
};

enum svmx__why {
    SVMX__WHY_ONLY = 1,    /* nobody else may, or is known */
    SVMX__WHY_BEST = 2,    /* the incumbent of its cell */
    SVMX__WHY_BACKLOG = 3, /* the incumbent has more to do than this one takes longer */
    SVMX__WHY_PROBE = 4    /* to learn what it takes there */
};

/* What a launch is expected to take, and how that is made up: small enough for one word of the table, so that the parts in a
 * receipt are those that were predicted when the choice was made. */
struct svmx__price {
    float ns;                 /* 0: nothing is known */
    uint16_t setup, transfer; /* their shares of ns, of SVMX__WHOLE; the rest is computing */
};
enum { SVMX__WHOLE = UINT16_MAX };

struct svmx__answer {
    uint32_t device;
    uint32_t why;                /* enum svmx__why */
    float expected_ns;           /* of the launch; 0: nothing is known */
    uint16_t setup, transfer;    /* of that, as in a price */
    float incumbent_ns;          /* what the incumbent would take; of a probe */
    float reserved_ns;           /* of the time for trying; of a probe */
    bool charged;                /* it is in the backlog of the device */
    uint32_t waiting;            /* bit d: device d had work before this, ... */
    float wait_ns[SVMX__ROUTED]; /* ... so much; set where the bit is */
};

static inline bool svmx__is_in(uint32_t mask, uint32_t device) { return mask >> device & 1; }

/* Who answers while nothing is known: of those allowed the first CPU, or else the first. 0 for nobody. */
static inline uint32_t svmx__fallback_of(uint32_t allowed, uint32_t cpus) {
    const uint32_t first = allowed & cpus ? allowed & cpus : allowed;
    return first ? (uint32_t)__builtin_ctz(first) : 0;
}

static inline void svmx__answer_expect(struct svmx__answer *answer, struct svmx__price price) {
    answer->expected_ns = price.ns;
    answer->setup = price.setup;
    answer->transfer = price.transfer;
}

/* An answer that nothing was asked for. */
static inline void svmx__answer_set(struct svmx__answer *answer, uint32_t device, uint32_t why,
                                    struct svmx__price price) {
    answer->device = device;
    answer->why = why;
    svmx__answer_expect(answer, price);
    answer->incumbent_ns = answer->reserved_ns = 0;
    answer->charged = false;
    answer->waiting = 0;
}

/* What a device does before it comes to new work, ns, as expected. Devices on the host's cores wait for one another. */
static inline float svmx__backlog_ns(const struct svmx__choices *choices, uint32_t device) {
    const uint64_t ns = atomic_load_explicit(&choices->backlog_ns[choices->queue[device]], memory_order_relaxed);
    return ns ? (float)(int64_t)ns : 0; /* mostly none: a branch is free, making a float takes 2 ns */
}

/* Answers. svmx__charge or svmx__unchoose must follow, once; the first may be left out of what is over at once. */
void svmx__choose(struct svmx__choices *choices, const struct svmx__question *question, struct svmx__answer *answer);

/* The answer is followed: adds what is expected to the backlog of the device. svmx__told must follow, once. */
void svmx__charge(struct svmx__choices *choices, struct svmx__answer *answer);

/* Takes an answer back that is not followed: instead of svmx__charge. */
void svmx__unchoose(struct svmx__choices *choices, const struct svmx__answer *answer);

/* A launch that was charged did not come about as it was chosen: cancelled, or done elsewhere after it failed, which cost
 * `lost_ns`: of a try that counts. Instead of svmx__told. */
void svmx__uncharge(struct svmx__choices *choices, const struct svmx__answer *answer, uint64_t lost_ns);

/* A launch that was chosen is over: takes it out of the backlog and, with a sample, learns from it and publishes its line
 * anew. `ns` is what it took; `sample` is NULL for one that is not learned from: it failed, or was left out. */
void svmx__told(struct svmx__choices *choices, const struct svmx__question *question, const struct svmx__answer *answer,
                uint64_t ns, const struct svmx__sample *sample);

/* A cost as a price. Medians of parts need not sum up to the median of the whole: their proportion counts. */
struct svmx__price svmx__price_of(double ns, double setup_ns, double transfer_ns, double compute_ns);

/* The costs of the first `count` devices in the line of a question: of those that are not known 0. Returns the incumbent;
 * UINT32_MAX: no line yet. */
uint32_t svmx__choices_look(const struct svmx__choices *choices, uint32_t op, const struct svmx__load *load,
                            uint32_t count, float *cost_ns);

#endif
