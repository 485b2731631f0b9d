/*
 * health.h: how far a device of an executor is trusted.
 *
 *   HEALTHY --a launch fails--> SUSPECT --the third within 60 s--> RESTING --its rest is over--> rebuilt and tested
 *      ^  ^                        |                                  ^                            |         |
 *      |  +----16 good launches----+        LOST <-- it keeps a ticket, or says so               passed    failed
 *      |       take a strike away             |                                                    |         |
 *      |                                      +---- its rest is over ----> as RESTING              |    rests for twice
 *      +----------- ten launches, each compared as a whole ----------------- SUSPECT <-------------+    as long
 *
 * A rest lasts 1 s, and twice as long each time, up to 5 min; one that was well for 5 min starts from 1 s again. While it is
 * watched (the ten launches) the first strike is enough. Wrong bytes are another matter: they put an operation of the device
 * into quarantine, quarantine.c.
 *
 * Numbers and words only: neither devices nor a clock, whoever calls says what time it is. Of one device of one executor;
 * there is no other state. recovery.c acts on it. Any thread may call anything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_HEALTH_H
#define SVMX_EXECUTOR_HEALTH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <svmx/svmx.h>

enum {
    SVMX__STRIKES = 3,   /* within the window */
    SVMX__GOOD = 16,     /* launches without a failure that take a strike away */
    SVMX__COMPARED = 10, /* launches before trust returns */
    SVMX__REASON_BYTES = 128
};
#define SVMX__STRIKE_WINDOW_NS UINT64_C(60000000000)
#define SVMX__REST_NS          UINT64_C(1000000000)
#define SVMX__REST_MAX_NS      UINT64_C(300000000000)
#define SVMX__NEVER            UINT64_MAX

struct svmx__health {
    _Atomic uint32_t state;            /* enum svmx_health but QUARANTINED; written under the lock */
    _Atomic uint32_t to_compare;       /* launches until trust returns */
    _Atomic uint64_t back_ns;          /* when its rest is over; NEVER: it does not rest, or is being rebuilt */
    pthread_mutex_t lock;              /* guards all below; nothing else is taken under it */
    uint64_t strike_ns[SVMX__STRIKES]; /* the last ones, oldest first */
    uint32_t strikes, good;
    uint64_t rest_ns;                /* of the last rest; 0: none so far */
    uint64_t returned_ns;            /* from the last rest */
    char reason[SVMX__REASON_BYTES]; /* of the last strike, or of its rest */
};

void svmx__health_init(struct svmx__health *health);
void svmx__health_fini(struct svmx__health *health);

/* May it have work? */
static inline bool svmx__health_serves(const struct svmx__health *health) {
    return atomic_load_explicit(&health->state, memory_order_relaxed) <= SVMX_SUSPECT;
}
/* Is each of its launches to be compared? */
static inline bool svmx__health_is_watched(const struct svmx__health *health) {
    return atomic_load_explicit(&health->state, memory_order_relaxed) == SVMX_SUSPECT &&
           atomic_load_explicit(&health->to_compare, memory_order_relaxed) > 0;
}

/* A launch failed. true: it served until now, and rests from now on. */
bool svmx__health_strike(struct svmx__health *health, uint64_t now_ns, const char *reason);
/* It is lost: it has our memory, or its instance is no more. true as above. `for_good`: it does not come back by itself. */
bool svmx__health_lose(struct svmx__health *health, uint64_t now_ns, bool for_good, const char *reason);

/* A launch went well; compared: and was seen to be right. Costs a load while the device is healthy. */
void svmx__health_count_good(struct svmx__health *health, bool compared);
static inline void svmx__health_good(struct svmx__health *health, bool compared) {
    if (atomic_load_explicit(&health->state, memory_order_relaxed) != SVMX_HEALTHY)
        svmx__health_count_good(health, compared);
}

/* Is its rest over? true for one caller, who has it rebuilt and says how that went. */
bool svmx__health_claim(struct svmx__health *health, uint64_t now_ns);
void svmx__health_return(struct svmx__health *health, uint64_t now_ns);
void svmx__health_relapse(struct svmx__health *health, uint64_t now_ns, const char *reason);
/* Its strikes are forgotten, and how often it rested. */
void svmx__health_forgive(struct svmx__health *health);

/* What there is to be told: state, strikes, and why ("" while it is healthy). */
struct svmx__health_word {
    uint32_t state, strikes;
    char reason[SVMX__REASON_BYTES];
};
void svmx__health_tell(struct svmx__health *health, struct svmx__health_word *word);

#endif
