/*
 * test_staging_pool.c: memory that is used again: when, by whom, how much is kept. Races are in tests/integration/tsan_caches.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/staging_pool.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A device of a limited size that counts. */
struct device {
    uint64_t room, used;
    unsigned allocs, frees, clears;
    enum svmx_status clearing; /* what it says to that */
    enum svmx_status says;     /* unless OK */
};

struct svmx_memory {
    uint64_t bytes;
};

static enum svmx_status device_alloc(void *user, const struct svmx_memory_desc *desc, struct svmx_memory **memory,
                                     void **host) {
    struct device *device = user;
    if (device->says != SVMX_OK) return device->says;
    if (desc->bytes > device->room - device->used) return SVMX_ERR_MEMORY;
    *memory = malloc(sizeof **memory);
    (*memory)->bytes = desc->bytes;
    *host = NULL;
    device->used += desc->bytes;
    device->allocs++;
    return SVMX_OK;
}

static void device_release(void *user, struct svmx_memory *memory, void *host) {
    struct device *device = user;
    (void)host;
    device->used -= memory->bytes;
    device->frees++;
    free(memory);
}

static enum svmx_status device_clear(void *user, struct svmx_memory *memory, uint64_t bytes) {
    struct device *device = user;
    cr_assert_eq(bytes, memory->bytes, "not all of it");
    device->clears++;
    return device->clearing;
}

static struct svmx__staging_pool pool_of(struct device *device, uint64_t limit) {
    struct svmx__staging_pool pool;
    const struct svmx__staging_source source = {device, device_alloc, device_release, device_clear};
    svmx__staging_pool_init(&pool, &source, limit);
    return pool;
}

static struct svmx__staging *acquire(struct svmx__staging_pool *pool, uint32_t usage, uint64_t bytes) {
    struct svmx__staging *staging = NULL;
    cr_assert_eq(svmx__staging_acquire(pool, SVMX_MEMORY_DEVICE, usage, bytes, &staging), SVMX_OK);
    return staging;
}

#define ROOMY                                                                                                          \
    { .room = UINT64_C(1) << 50 }

Test(staging_pool, sizes_are_powers_of_two_from_a_page_on) {
    struct device device = ROOMY;
    struct svmx__staging_pool pool = pool_of(&device, 0);
    static const uint64_t sizes[][2] = {{0, 4096},
                                        {1, 4096},
                                        {4096, 4096},
                                        {4097, 8192},
                                        {8192, 8192},
                                        {1000000, 1 << 20},
                                        {(1 << 30) + 1, UINT64_C(1) << 31}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct svmx__staging *staging = acquire(&pool, 1, sizes[i][0]);
        cr_assert_eq(staging->bytes, sizes[i][1]);
        svmx__staging_release(&pool, staging);
    }
    svmx__staging_pool_fini(&pool);
    cr_assert_eq(device.allocs, device.frees);
}

Test(staging_pool, what_comes_back_is_used_again) {
    struct device device = ROOMY;
    struct svmx__staging_pool pool = pool_of(&device, 1 << 20);
    struct svmx__staging *first = acquire(&pool, 3, 5000);
    svmx__staging_release(&pool, first);
    cr_assert_eq(acquire(&pool, 3, 8000), first, "same class, same use");
    struct svmx__staging *second = acquire(&pool, 3, 8000);
    cr_assert_neq(second, first, "one owner at a time");
    cr_assert_eq(pool.hits, 1);
    cr_assert_eq(pool.misses, 2);
    svmx__staging_release(&pool, first);
    svmx__staging_release(&pool, second);
    svmx__staging_pool_fini(&pool);
    cr_assert_eq(device.frees, 2);
    cr_assert_eq(device.used, 0);
}

Test(staging_pool, to_look_for_idle_memory_makes_none) {
    struct device device = ROOMY;
    struct svmx__staging_pool pool = pool_of(&device, UINT64_C(1) << 30);
    cr_assert_null(svmx__staging_reuse(&pool, 0, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_READ, 5000));
    cr_assert_eq(device.allocs + pool.misses + pool.hits, 0);
    struct svmx__staging *made = acquire(&pool, SVMX_USAGE_KERNEL_READ, 5000);
    svmx__staging_release(&pool, made);
    cr_assert_null(svmx__staging_reuse(&pool, 0, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_WRITE, 5000), "another use");
    cr_assert_null(svmx__staging_reuse(&pool, 0, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_READ, 50000), "another class");
    cr_assert_null(svmx__staging_reuse(&pool, 0, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_READ, UINT64_MAX));
    cr_assert_eq(svmx__staging_reuse(&pool, 0, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_READ, 6000), made);
    cr_assert_eq(pool.hits, 1);
    cr_assert_eq(device.allocs, 1);
    svmx__staging_release(&pool, made);
    svmx__staging_pool_fini(&pool);
}

Test(staging_pool, usage_flags_must_contain_what_is_asked_for) {
    struct device device = ROOMY;
    struct svmx__staging_pool pool = pool_of(&device, 1 << 20);
    struct svmx__staging *reader = acquire(&pool, SVMX_USAGE_KERNEL_READ, 4096);
    svmx__staging_release(&pool, reader);
    struct svmx__staging *both = acquire(&pool, SVMX_USAGE_KERNEL_READ | SVMX_USAGE_COPY_TARGET, 4096);
    cr_assert_neq(both, reader);
    svmx__staging_release(&pool, both);
    struct svmx__staging *target = acquire(&pool, SVMX_USAGE_COPY_TARGET, 4096);
    cr_assert_eq(target, both, "more than was asked for is fine, and it is found behind the other");
    svmx__staging_release(&pool, target);
    struct svmx__staging *other = NULL;
    cr_assert_eq(svmx__staging_acquire(&pool, SVMX_MEMORY_STAGING, SVMX_USAGE_COPY_TARGET, 4096, &other), SVMX_OK);
    cr_assert(other != both && other != reader, "another kind is another thing");
    svmx__staging_release(&pool, other);
    svmx__staging_pool_fini(&pool);
    cr_assert_eq(device.used, 0);
}

Test(staging_pool, idle_memory_is_bounded) {
    struct device device = ROOMY;
    struct svmx__staging_pool pool = pool_of(&device, 3 * 4096);
    struct svmx__staging *held[5];
    for (int i = 0; i < 5; i++) held[i] = acquire(&pool, 1, 4096);
    cr_assert_eq(pool.held_bytes, 5 * 4096);
    for (int i = 0; i < 5; i++) svmx__staging_release(&pool, held[i]);
    cr_assert_eq(pool.idle_bytes, 3 * 4096);
    cr_assert_eq(pool.held_bytes, 3 * 4096);
    cr_assert_eq(pool.held_bytes_peak, 5 * 4096);
    cr_assert_eq(device.used, 3 * 4096);
    svmx__staging_trim(&pool, 4096);
    cr_assert_eq(pool.idle_bytes, 4096);
    cr_assert_eq(device.used, 4096);
    svmx__staging_pool_fini(&pool);
    cr_assert_eq(device.used, 0);
}

Test(staging_pool, what_was_used_least_recently_goes_first) {
    struct device device = ROOMY;
    struct svmx__staging_pool pool = pool_of(&device, 16384);
    struct svmx__staging *a = acquire(&pool, 1, 4096), *b = acquire(&pool, 1, 8192), *c = acquire(&pool, 1, 4096);
    struct svmx__staging *d = acquire(&pool, 1, 4096);
    svmx__staging_release(&pool, a);
    svmx__staging_release(&pool, b);
    svmx__staging_release(&pool, c); /* full: a b c */
    cr_assert_eq(pool.evictions, 0);
    cr_assert_eq(acquire(&pool, 1, 8192), b);
    svmx__staging_release(&pool, b); /* a c b */
    svmx__staging_release(&pool, d); /* c b d: what just came back stays */
    cr_assert_eq(pool.evictions, 1);
    cr_assert_eq(pool.idle_bytes, 16384);
    cr_assert_eq(acquire(&pool, 1, 4096), d);
    cr_assert_eq(acquire(&pool, 1, 4096), c, "a had to go, not c");
    cr_assert_eq(acquire(&pool, 1, 8192), b);
    svmx__staging_release(&pool, d);
    svmx__staging_release(&pool, b);
    svmx__staging_release(&pool, c); /* d b c */
    struct svmx__staging *large = acquire(&pool, 1, 16384);
    svmx__staging_release(&pool, large); /* takes the place of all three */
    cr_assert_eq(pool.evictions, 4);
    cr_assert_eq(pool.idle_count, 1u);
    large = acquire(&pool, 1, 32768);
    svmx__staging_release(&pool, large);
    cr_assert_eq(pool.evictions, 5, "larger than all that may be kept");
    cr_assert_eq(pool.idle_bytes, 16384, "and nobody went for it");
    svmx__staging_pool_fini(&pool);
    cr_assert_eq(device.used, 0);
    cr_assert_eq(device.allocs, device.frees);
}

Test(staging_pool, a_device_short_of_memory_keeps_less) {
    struct device device = ROOMY;
    struct svmx__staging_pool pool = pool_of(&device, 8 * 4096);
    struct svmx__staging *held[9];
    for (int i = 0; i < 9; i++) held[i] = acquire(&pool, 1, 4096);
    for (int i = 0; i < 8; i++) svmx__staging_release(&pool, held[i]);
    svmx__staging_squeeze(&pool, 1);
    cr_assert_eq(device.frees, 0, "any thread may say so, and waits for no driver");
    svmx__staging_release(&pool, held[8]);
    cr_assert_eq(pool.idle_bytes, 2 * 4096);
    cr_assert_eq(device.frees, 7);
    cr_assert_eq(acquire(&pool, 1, 4096), held[8], "the newest are those that stay");
    svmx__staging_squeeze(&pool, 2);
    svmx__staging_release(&pool, held[8]);
    cr_assert_eq(pool.held_bytes, 0);
    svmx__staging_squeeze(&pool, 0);
    svmx__staging_release(&pool, acquire(&pool, 1, 4096));
    cr_assert_eq(pool.idle_bytes, 4096, "and all is as it was");
    cr_assert_eq(pool.evictions, 9);
    svmx__staging_pool_fini(&pool);
    cr_assert_eq(device.used, 0);
}

Test(staging_pool, what_is_left_is_freed_by_a_sweep_only) {
    struct device device = ROOMY;
    struct svmx__staging_pool pool = pool_of(&device, 8 * 4096);
    struct svmx__staging *held[9], *large = acquire(&pool, 1, 16 * 4096);
    for (int i = 0; i < 9; i++) held[i] = acquire(&pool, 1, 4096);
    for (int i = 0; i < 8; i++) cr_assert(!svmx__staging_leave(&pool, held[i]));
    cr_assert(!svmx__staging_is_full(&pool));
    cr_assert(svmx__staging_leave(&pool, held[8]));
    cr_assert(svmx__staging_leave(&pool, large));
    cr_assert_eq(device.frees, 0, "a source was called");
    cr_assert_eq(acquire(&pool, 1, 16 * 4096), large, "until the sweep it serves");
    cr_assert(svmx__staging_leave(&pool, large));
    svmx__staging_sweep(&pool);
    cr_assert_eq(device.frees, 2, "what is larger than the limit, and the oldest");
    cr_assert_eq(pool.idle_bytes, 8 * 4096);
    svmx__staging_squeeze(&pool, 1);
    cr_assert(svmx__staging_is_full(&pool));
    svmx__staging_sweep(&pool);
    cr_assert_eq(pool.idle_bytes, 2 * 4096);
    cr_assert_eq(acquire(&pool, 1, 4096), held[8], "the newest are those that stay");
    svmx__staging_squeeze(&pool, 2);
    cr_assert(svmx__staging_leave(&pool, held[8]));
    svmx__staging_sweep(&pool);
    cr_assert_eq(pool.held_bytes, 0);
    cr_assert_eq(pool.evictions, 10);
    svmx__staging_sweep(&pool);
    svmx__staging_pool_fini(&pool);
    cr_assert_eq(device.used, 0);
}

Test(staging_pool, what_is_in_use_at_the_end_is_freed_and_its_users) {
    struct device device = ROOMY;
    struct svmx__staging_pool pool = pool_of(&device, 8 * 4096);
    struct svmx__staging *held[4];
    for (int i = 0; i < 4; i++) held[i] = acquire(&pool, 1, 4096);
    svmx__staging_release(&pool, held[1]);
    cr_assert_eq(acquire(&pool, 1, 4096), held[1]);
    svmx__staging_release(&pool, held[3]);
    svmx__staging_release(&pool, held[0]);
    svmx__staging_orphan(&pool, true);
    cr_assert_eq(device.frees, 2);
    cr_assert(held[1]->orphaned && held[2]->orphaned && !held[0]->orphaned && !held[3]->orphaned);
    svmx__staging_orphan(&pool, true);
    svmx__staging_pool_fini(&pool);
    cr_assert_eq(device.used, 0);
    svmx__staging_free(held[1]);
    svmx__staging_free(held[2]);
}

Test(staging_pool, idle_buffers_are_bounded_in_number) {
    enum { MORE = SVMX__STAGING_MAX_IDLE + 3 };
    static struct svmx__staging *held[MORE];
    struct device device = ROOMY;
    struct svmx__staging_pool pool = pool_of(&device, UINT64_MAX);
    for (int i = 0; i < MORE; i++) held[i] = acquire(&pool, 1, 4096);
    for (int i = 0; i < MORE; i++) svmx__staging_release(&pool, held[i]);
    cr_assert_eq(device.frees, 3u);
    cr_assert_eq(pool.idle_count, (uint32_t)SVMX__STAGING_MAX_IDLE);
    cr_assert_eq(pool.held_bytes, pool.idle_bytes);
    held[0] = acquire(&pool, 1, 4096); /* one is taken: there is room for it again */
    svmx__staging_release(&pool, held[0]);
    cr_assert_eq(device.frees, 3u);
    svmx__staging_trim(&pool, 4096);
    cr_assert_eq(pool.idle_count, 1u);
    svmx__staging_pool_fini(&pool);
    cr_assert_eq(pool.idle_count, 0u);
    cr_assert_eq(device.used, 0);
}

Test(staging_pool, trim_frees_the_largest_first) {
    struct device device = ROOMY;
    struct svmx__staging_pool pool = pool_of(&device, 1 << 30);
    struct svmx__staging *small = acquire(&pool, 1, 4096), *large = acquire(&pool, 1, 1 << 20);
    svmx__staging_release(&pool, small);
    svmx__staging_release(&pool, large);
    svmx__staging_trim(&pool, 8192);
    cr_assert_eq(pool.idle_bytes, 4096);
    cr_assert_eq(acquire(&pool, 1, 4096), small);
    svmx__staging_release(&pool, small);
    svmx__staging_pool_fini(&pool);
}

Test(staging_pool, failures_pass_and_leave_no_trace) {
    struct device device = ROOMY;
    struct svmx__staging_pool pool = pool_of(&device, 1 << 20);
    struct svmx__staging *kept = (struct svmx__staging *)&device, *staging = kept;
    cr_assert_eq(svmx__staging_acquire(&pool, SVMX_MEMORY_DEVICE, 1, (UINT64_C(1) << 47) + 1, &staging),
                 SVMX_ERR_MEMORY);
    cr_assert_eq(svmx__staging_acquire(&pool, SVMX_MEMORY_DEVICE, 1, UINT64_MAX, &staging), SVMX_ERR_MEMORY);
    device.says = SVMX_ERR_DEVICE_LOST;
    cr_assert_eq(svmx__staging_acquire(&pool, SVMX_MEMORY_DEVICE, 1, 4096, &staging), SVMX_ERR_DEVICE_LOST);
    cr_assert_eq(staging, kept, "set on success only");
    cr_assert_eq(pool.held_bytes, 0);
    cr_assert_eq(pool.idle_bytes, 0);
    svmx__staging_release(&pool, NULL);
    svmx__staging_pool_fini(&pool);
}

/* Idle memory of other sizes must not keep a device from serving: it is there to be given back. */
Test(staging_pool, idle_memory_makes_room_when_the_device_is_full) {
    struct device device = {.room = 1 << 20};
    struct svmx__staging_pool pool = pool_of(&device, 1 << 30);
    struct svmx__staging *held[3];
    for (int i = 0; i < 3; i++) held[i] = acquire(&pool, 1, 1 << 18);
    for (int i = 0; i < 3; i++) svmx__staging_release(&pool, held[i]);
    struct svmx__staging *large = NULL;
    cr_assert_eq(svmx__staging_acquire(&pool, SVMX_MEMORY_DEVICE, 1, 1 << 19, &large), SVMX_OK,
                 "%llu of %llu bytes are idle in the pool, and it says that there is no memory",
                 (unsigned long long)pool.idle_bytes, (unsigned long long)device.room);
    svmx__staging_release(&pool, large);
    svmx__staging_pool_fini(&pool);
    cr_assert_eq(device.used, 0);
}

/* ---- tenants ------------------------------------------------------------------------------------------------------ */

enum { USAGE = SVMX_USAGE_KERNEL_WRITE, BYTES = 5000 };

static struct svmx__staging *acquire_for(struct svmx__staging_pool *pool, uint64_t tenant) {
    struct svmx__staging *staging = NULL;
    cr_assert_eq(svmx__staging_acquire_for(pool, tenant, SVMX_MEMORY_DEVICE, USAGE, BYTES, &staging), SVMX_OK);
    return staging;
}

Test(staging_pool, memory_of_a_device_is_cleared_between_tenants_and_not_within_one) {
    struct device device = ROOMY;
    struct svmx__staging_pool pool = pool_of(&device, 1 << 20);
    static const struct {
        uint64_t tenant;
        unsigned clears;
    } steps[] = {{0, 0}, {0, 0}, {7, 1}, {7, 1}, {8, 2}, {0, 3}, {0, 3}, {7, 4}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct svmx__staging *staging = acquire_for(&pool, steps[i].tenant);
        cr_assert_eq(device.clears, steps[i].clears, "step %zu: %u", i, device.clears);
        staging->guarded_bytes = 5;
        svmx__staging_release(&pool, staging);
    }
    cr_assert_eq(device.allocs, 1, "it is one buffer all the time");
    struct svmx__staging *staging = acquire_for(&pool, 9);
    cr_assert_eq(staging->guarded_bytes, 0, "the guards went with the rest");
    svmx__staging_release(&pool, staging);
    svmx__staging_pool_fini(&pool);
}

Test(staging_pool, memory_that_cannot_be_cleared_is_not_given_out) {
    struct device device = ROOMY;
    struct svmx__staging_pool pool = pool_of(&device, 1 << 20);
    struct svmx__staging *staging = acquire_for(&pool, 7), *none = NULL;
    svmx__staging_release(&pool, staging);
    device.clearing = SVMX_ERR_BACKEND;
    cr_assert_eq(svmx__staging_acquire_for(&pool, 8, SVMX_MEMORY_DEVICE, USAGE, BYTES, &none), SVMX_ERR_BACKEND);
    cr_assert_null(none);
    cr_assert_eq(device.frees, 1, "it was not given back");
    cr_assert_eq(pool.held_bytes, 0);
    device.clearing = SVMX_OK;
    staging = acquire_for(&pool, 8);
    device.clearing = SVMX_TIMEOUT;
    svmx__staging_release(&pool, staging);
    cr_assert_eq(svmx__staging_acquire_for(&pool, 9, SVMX_MEMORY_DEVICE, USAGE, BYTES, &none), SVMX_TIMEOUT);
    cr_assert_eq(device.frees, 1, "the device still has it");
    cr_assert_eq(pool.idle_bytes, 0, "and nobody else gets it");
    free(staging->memory);
    free(staging);
}
