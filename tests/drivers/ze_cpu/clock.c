/*
 * clock.c: the time of the host, and the time of the devices: 12.5 MHz, of which kernel timestamps show 32 bits.
 *
 * With ZE_CPU_TSWRAP they show 24 bits, and just before the first command that is to be timed the clock leaps to a few ticks
 * before the wrap: so that this command's end is less than its start, which clients tend to get wrong. After that the wrap
 * comes every 1.3 s.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <stdatomic.h>
#include <time.h>

enum { BEFORE_WRAP = 2, FEW_BITS = 24, USUAL_BITS = 32 };

static _Atomic uint64_t leap; /* ticks added; set once. Relaxed: no other data hangs on it. */

uint64_t zecpu_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t zecpu_ticks(void) {
    return zecpu_now_ns() / ZECPU_TICK_NS + atomic_load_explicit(&leap, memory_order_relaxed);
}

uint32_t zecpu_clock_bits(void) { return zecpu_settings.wrap ? FEW_BITS : USUAL_BITS; }

uint64_t zecpu_clock_masked(uint64_t ticks) { return ticks & (((uint64_t)1 << zecpu_clock_bits()) - 1); }

uint64_t zecpu_clock_start(void) {
    const uint64_t now = zecpu_ticks(), wrap = (uint64_t)1 << zecpu_clock_bits();
    const uint64_t add = 2 * wrap - BEFORE_WRAP - zecpu_clock_masked(now);
    uint64_t none = 0;
    const bool leaps = zecpu_settings.wrap && atomic_compare_exchange_strong_explicit(
                                                  &leap, &none, add, memory_order_relaxed, memory_order_relaxed);
    return leaps ? now + add : now;
}
