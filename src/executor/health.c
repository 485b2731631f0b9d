/*
 * health.c: see health.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/health.h"

#include <stdio.h>
#include <string.h>

void svmx__health_init(struct svmx__health *health) {
    *health = (struct svmx__health){.strikes = 0};
    pthread_mutex_init(&health->lock, NULL); /* cannot fail with default attributes */
    atomic_init(&health->state, SVMX_HEALTHY);
    atomic_init(&health->back_ns, SVMX__NEVER);
}

void svmx__health_fini(struct svmx__health *health) { pthread_mutex_destroy(&health->lock); }

/* ---- under the lock ----------------------------------------------------------------------------------------------- */

/* relaxed: each is a word on its own; who reads an old one gives work to a device that just went, which is then redone */
static void set_state(struct svmx__health *health, uint32_t state) {
    atomic_store_explicit(&health->state, state, memory_order_relaxed);
}

static void set_to_compare(struct svmx__health *health, uint32_t count) {
    atomic_store_explicit(&health->to_compare, count, memory_order_relaxed);
}

static void set_reason(struct svmx__health *health, const char *reason) {
    (void)snprintf(health->reason, sizeof health->reason, "%s", reason);
}

static void add_strike(struct svmx__health *health, uint64_t now_ns) {
    if (health->strikes == SVMX__STRIKES) {
        memmove(health->strike_ns, health->strike_ns + 1, sizeof health->strike_ns - sizeof *health->strike_ns);
        health->strikes--;
    }
    health->strike_ns[health->strikes++] = now_ns;
    health->good = 0;
}

/* The oldest one. */
static void take_strike_away(struct svmx__health *health) {
    health->strikes--;
    memmove(health->strike_ns, health->strike_ns + 1, health->strikes * sizeof *health->strike_ns);
}

static void forget_old_strikes(struct svmx__health *health, uint64_t now_ns) {
    while (health->strikes && now_ns > health->strike_ns[0] + SVMX__STRIKE_WINDOW_NS) take_strike_away(health);
}

/* Twice as long as the last time, unless that is long ago. */
static void rest(struct svmx__health *health, uint64_t now_ns, uint32_t state) {
    const bool was_well = health->returned_ns && now_ns >= health->returned_ns + SVMX__REST_MAX_NS;
    health->rest_ns = health->rest_ns && !was_well ? 2 * health->rest_ns : SVMX__REST_NS;
    if (health->rest_ns > SVMX__REST_MAX_NS) health->rest_ns = SVMX__REST_MAX_NS;
    set_to_compare(health, 0);
    set_state(health, state);
    atomic_store_explicit(&health->back_ns, now_ns + health->rest_ns, memory_order_relaxed);
}

/* ---- bad news ----------------------------------------------------------------------------------------------------- */

bool svmx__health_strike(struct svmx__health *health, uint64_t now_ns, const char *reason) {
    pthread_mutex_lock(&health->lock);
    bool rests = false;
    if (svmx__health_serves(health)) {
        const bool watched = svmx__health_is_watched(health);
        forget_old_strikes(health, now_ns);
        add_strike(health, now_ns);
        set_reason(health, reason);
        set_state(health, SVMX_SUSPECT);
        rests = watched || health->strikes == SVMX__STRIKES;
        if (rests) rest(health, now_ns, SVMX_RESTING);
    }
    pthread_mutex_unlock(&health->lock);
    return rests;
}

bool svmx__health_lose(struct svmx__health *health, uint64_t now_ns, bool for_good, const char *reason) {
    pthread_mutex_lock(&health->lock);
    const bool served = svmx__health_serves(health);
    if (served) {
        add_strike(health, now_ns);
        set_reason(health, reason);
        rest(health, now_ns, SVMX_LOST);
        if (for_good) atomic_store_explicit(&health->back_ns, SVMX__NEVER, memory_order_relaxed);
    }
    pthread_mutex_unlock(&health->lock);
    return served;
}

/* ---- good news ---------------------------------------------------------------------------------------------------- */

static void count_good(struct svmx__health *health) {
    if (++health->good < SVMX__GOOD || !health->strikes) return;
    take_strike_away(health);
    health->good = 0;
}

void svmx__health_count_good(struct svmx__health *health, bool compared) {
    pthread_mutex_lock(&health->lock);
    const uint32_t left = atomic_load_explicit(&health->to_compare, memory_order_relaxed);
    if (svmx__health_serves(health)) {
        if (compared && left) set_to_compare(health, left - 1);
        count_good(health);
        if (!health->strikes && !svmx__health_is_watched(health)) {
            set_state(health, SVMX_HEALTHY);
            set_reason(health, "");
        }
    }
    pthread_mutex_unlock(&health->lock);
}

/* ---- the way back ------------------------------------------------------------------------------------------------- */

bool svmx__health_claim(struct svmx__health *health, uint64_t now_ns) {
    uint64_t back_ns = atomic_load_explicit(&health->back_ns, memory_order_relaxed);
    return back_ns <= now_ns && atomic_compare_exchange_strong_explicit(&health->back_ns, &back_ns, SVMX__NEVER,
                                                                        memory_order_relaxed, memory_order_relaxed);
}

void svmx__health_return(struct svmx__health *health, uint64_t now_ns) {
    pthread_mutex_lock(&health->lock);
    health->strikes = health->good = 0;
    health->returned_ns = now_ns;
    set_to_compare(health, SVMX__COMPARED);
    set_state(health, SVMX_SUSPECT);
    atomic_store_explicit(&health->back_ns, SVMX__NEVER, memory_order_relaxed);
    pthread_mutex_unlock(&health->lock);
}

void svmx__health_relapse(struct svmx__health *health, uint64_t now_ns, const char *reason) {
    pthread_mutex_lock(&health->lock);
    set_reason(health, reason);
    health->returned_ns = 0; /* it did not */
    rest(health, now_ns, SVMX_RESTING);
    pthread_mutex_unlock(&health->lock);
}

void svmx__health_forgive(struct svmx__health *health) {
    pthread_mutex_lock(&health->lock);
    health->strikes = health->good = 0;
    health->rest_ns = 0;
    pthread_mutex_unlock(&health->lock);
}

void svmx__health_tell(struct svmx__health *health, struct svmx__health_word *word) {
    pthread_mutex_lock(&health->lock);
    word->state = atomic_load_explicit(&health->state, memory_order_relaxed);
    word->strikes = health->strikes;
    memcpy(word->reason, health->reason, sizeof word->reason);
    pthread_mutex_unlock(&health->lock);
}
