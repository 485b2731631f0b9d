/*
 * test_queue.c: a first-in first-out list between threads. Races are in tests/integration/threads.c and threads_ends.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/queue.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <time.h>

struct entry {
    struct svmx__link link;
    int number;
};

static int pop_number(struct svmx__queue *queue) {
    struct entry *entry = (struct entry *)(void *)svmx__queue_pop(queue);
    return entry ? entry->number : -1;
}

Test(queue, looking_does_not_wait) {
    struct svmx__queue queue;
    struct entry entry = {.number = 7};
    cr_assert_eq(svmx__queue_init(&queue), 0);
    cr_assert_null(svmx__queue_try(&queue));
    svmx__queue_push(&queue, &entry.link);
    cr_assert_eq(svmx__queue_try(&queue), &entry.link);
    cr_assert_null(svmx__queue_try(&queue));
    svmx__queue_push(&queue, &entry.link);
    svmx__queue_close(&queue);
    cr_assert_eq(svmx__queue_try(&queue), &entry.link, "what is left when it is closed");
    cr_assert_null(svmx__queue_try(&queue));
    svmx__queue_fini(&queue);
}

Test(queue, what_goes_in_first_comes_out_first) {
    struct svmx__queue queue;
    struct entry entries[10];
    cr_assert_eq(svmx__queue_init(&queue), 0);
    for (int round = 0; round < 3; round++) { /* empties in between */
        for (int i = 0; i < 10; i++) {
            entries[i].number = i;
            svmx__queue_push(&queue, &entries[i].link);
        }
        for (int i = 0; i < 10; i++) cr_assert_eq(pop_number(&queue), i);
    }
    svmx__queue_fini(&queue);
}

Test(queue, what_is_pushed_first_is_in_front) {
    struct svmx__queue queue;
    struct entry entries[] = {{.number = 0}, {.number = 1}, {.number = 2}, {.number = 3}};
    cr_assert_eq(svmx__queue_init(&queue), 0);
    svmx__queue_push_first(&queue, &entries[1].link); /* into an empty one */
    svmx__queue_push(&queue, &entries[2].link);
    svmx__queue_push_first(&queue, &entries[0].link);
    svmx__queue_push(&queue, &entries[3].link);
    for (int i = 0; i < 4; i++) cr_assert_eq(pop_number(&queue), i);
    cr_assert_null(svmx__queue_try(&queue));
    svmx__queue_fini(&queue);
}

Test(queue, a_closed_queue_gives_what_is_left_and_then_nothing) {
    struct svmx__queue queue;
    struct entry entry = {.number = 7};
    cr_assert_eq(svmx__queue_init(&queue), 0);
    svmx__queue_push(&queue, &entry.link);
    svmx__queue_close(&queue);
    cr_assert_eq(pop_number(&queue), 7);
    cr_assert_null(svmx__queue_pop(&queue));
    cr_assert_null(svmx__queue_pop(&queue));
    svmx__queue_fini(&queue);
}

struct popper {
    struct svmx__queue queue;
    atomic_int popped, ends;
};

static void *pop_all(void *user) {
    struct popper *popper = user;
    while (svmx__queue_pop(&popper->queue)) atomic_fetch_add(&popper->popped, 1);
    atomic_fetch_add(&popper->ends, 1);
    return NULL;
}

Test(queue, poppers_wait_for_pushes_and_close_wakes_them_all) {
    enum { POPPERS = 4, ENTRIES = 1000 };
    static struct entry entries[ENTRIES];
    struct popper popper = {0};
    pthread_t threads[POPPERS];
    cr_assert_eq(svmx__queue_init(&popper.queue), 0);
    for (int i = 0; i < POPPERS; i++) cr_assert_eq(pthread_create(&threads[i], NULL, pop_all, &popper), 0);
    const struct timespec moment = {0, 5000000};
    nanosleep(&moment, NULL);
    cr_assert_eq(atomic_load(&popper.ends), 0, "an empty queue is no closed one");
    for (int i = 0; i < ENTRIES; i++) svmx__queue_push(&popper.queue, &entries[i].link);
    svmx__queue_close(&popper.queue);
    for (int i = 0; i < POPPERS; i++) pthread_join(threads[i], NULL);
    cr_assert_eq(atomic_load(&popper.popped), ENTRIES);
    cr_assert_eq(atomic_load(&popper.ends), POPPERS);
    svmx__queue_fini(&popper.queue);
}

static bool is_even(const struct svmx__link *link, void *user) {
    (void)user;
    return ((const struct entry *)(const void *)link)->number % 2 == 0;
}

Test(queue, the_oldest_is_taken_if_it_fits) {
    struct svmx__queue queue;
    struct entry entries[3] = {{.number = 2}, {.number = 3}, {.number = 4}};
    cr_assert_eq(svmx__queue_init(&queue), 0);
    cr_assert(svmx__queue_looks_empty(&queue));
    cr_assert_null(svmx__queue_take_if(&queue, is_even, NULL, 0));
    cr_assert_null(svmx__queue_take_if(&queue, is_even, NULL, 1), "that time is over");
    for (int i = 0; i < 3; i++) svmx__queue_push(&queue, &entries[i].link);
    cr_assert(!svmx__queue_looks_empty(&queue));
    cr_assert_eq(svmx__queue_take_if(&queue, is_even, NULL, 0), &entries[0].link);
    cr_assert_null(svmx__queue_take_if(&queue, is_even, NULL, UINT64_MAX), "it stays, and is not waited behind");
    cr_assert_eq(pop_number(&queue), 3);
    svmx__queue_close(&queue);
    cr_assert_eq(svmx__queue_take_if(&queue, is_even, NULL, UINT64_MAX), &entries[2].link);
    cr_assert_null(svmx__queue_take_if(&queue, is_even, NULL, UINT64_MAX), "closed: nothing comes any more");
    cr_assert(!svmx__queue_looks_empty(&queue), "whoever pops is to see that it is closed");
    svmx__queue_fini(&queue);
}
